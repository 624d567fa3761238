"""Fixed-structure H-infinity design over a parameter box: the public function."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lftgen.analysis.design.requirements import Requirement
from lftgen.analysis.design.results import DesignResult
from lftgen.analysis.design.search import Progress
from lftgen.analysis.design.tunable import TunableBlock
from lftgen.analysis.design.work import Work
from lftgen.arguments import number, truth, whole_number
from lftgen.errors import ModelError
from lftgen.lft.model import LFT
from lftgen.lft.threads import single_threaded


@single_threaded
def design(
    plant: LFT,
    blocks: TunableBlock | Sequence[TunableBlock],
    requirements: Requirement | Sequence[Requirement],
    *,
    starts: int = 5,
    start: Any = None,
    refinements: int = 10,
    points: Mapping[str, Any] | None = None,
    decay: float = 0.0,
    tolerance: float = 1e-5,
    certify: bool = True,
    time_limit: float = 300.0,
    seed: int = 0,
    progress: Progress | None = None,
) -> DesignResult:
    """Tune controllers of a fixed structure for weighted closed-loop norms, over the whole parameter box.

    Non-smooth optimisation with exact subgradients of all peaks (Apkarian and Noll 2006) at a set of active parameter
    points; the worst points that :func:`lftgen.worst_case_gain` finds for the result join the set until none violates; its
    guaranteed upper bound is the certificate.

    Parameters
    ----------
    plant : LFT
        With the channels that blocks and requirements name.
    blocks : tunable block or sequence of them
        :class:`TunableGain`, :class:`TunablePID`, :class:`TunableStateSpace`, :class:`TunableSurface`; each reads outputs of
        the plant and drives inputs of it (positive feedback: signs belong into the plant).
    requirements : Requirement or sequence of them
    starts : int
        Starting points: observers with random weights for state-space blocks, and random controllers, by turns.
    start : array, optional
        A starting point of one's own, ``result.x`` of an earlier design; it replaces the random ones.
    refinements : int
        Points around the best controller from which it is searched once more; with a few, local minima are left behind.
    points : mapping of name to array, optional
        Parameter points to begin with, besides the nominal.  By default the corners of the box of what surfaces are
        scheduled with: one point says nothing about their slopes.
    decay : float
        All closed-loop poles shall be left of -decay, 1/s.
    tolerance : float
        Relative accuracy of the optimisation.
    certify : bool
        Compute the guaranteed worst case of each requirement.  Controllers are then handed over only where every worst
        case, and so stability over the whole box, is guaranteed; ``certify=False`` hands over what was found.
    time_limit : float
        Seconds for optimisation and search, a net: all else that ends the search counts steps.  Certificates get as much again.
    progress : callable, optional
        Called with a text and the best value so far.

    Raises
    ------
    ModelError
        Unknown signals, blocks that share a signal, weights of another size.

    Examples
    --------
    >>> import lftgen as lg
    >>> m = lg.uncertain("m", 1.0, percent=20)
    >>> plant = lg.ss([[0, 1], [0, 0]], [[0, 0], [1 / m, 1 / m]], [[1, 0], [0, 0], [-1, 0], [0, -1]],
    ...               [[0, 0], [0, 1], [0, 0], [0, 0]], inputs=["d", "u"], outputs=["x", "effort", "e", "de"])
    >>> K = lg.TunableGain("K", inputs=["e", "de"], outputs=["u"])
    >>> result = lg.design(plant, K, lg.Requirement("all", inputs="d", outputs=["x", "effort"], goal=2.0), starts=2)
    >>> result.status, result.controllers["K"].shape
    ('met', (1, 2))
    """
    begin = time.monotonic()
    limit = number(time_limit, "design: time_limit", minimum=0.0)
    truth(certify, "design: certify")
    work = Work.of(
        plant,
        blocks,
        requirements,
        decay=decay,
        tolerance=tolerance,
        deadline=begin + limit,
        progress=progress,
    )
    work.begin(points)
    found = work.run(
        _guesses(work, start, starts, seed), whole_number(refinements, "design: refinements", minimum=0)
    )
    if found is None:
        return work.nothing(round(time.monotonic() - begin, 3))
    x, verdicts = found
    if certify and not work.search.interrupted:
        verdicts = work.certified(x, verdicts, limit)
    return work.result(x, verdicts, round(time.monotonic() - begin, 3), certify)


def _guesses(work: Work, start: Any, starts: Any, seed: Any) -> list[np.ndarray]:
    """The starting point given, or random ones, every other one with observers."""
    rng = np.random.default_rng(whole_number(seed, "design: seed"))
    count = whole_number(starts, "design: starts", minimum=1)
    if start is None:
        return [work.search.starts.guess(rng, observer=k % 2 == 0) for k in range(count)]
    try:
        given = np.asarray(start, dtype=float)
    except (TypeError, ValueError):
        given = np.array(np.nan)
    if given.shape != (work.problem.size,) or not np.all(np.isfinite(given)):
        raise ModelError(
            f"design: start must have {work.problem.size} finite numbers (result.x of the same blocks), got {start!r:.60}"
        )
    return [given]
