"""Gain-scheduled output feedback with a guarantee: the public function and its result."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from lftgen.analysis.generalized_plant import plant_and_channels
from lftgen.analysis.lpv.problem import Problem, problem_of
from lftgen.analysis.lpv.search import Found, Search
from lftgen.arguments import callback, number, truth
from lftgen.lft.data import LFTData
from lftgen.lft.field import FLOAT
from lftgen.lft.hinf_norm import hinf_norm
from lftgen.lft.maps import change_maps
from lftgen.lft.model import LFT
from lftgen.lft.sampling import sample_points
from lftgen.lft.structure import Structure
from lftgen.lft.threads import single_threaded

SAMPLES = 40
INF = float("inf")


@dataclass(frozen=True, eq=False)
class LPVController:
    """Result of :func:`lpv_synthesis`.

    Attributes
    ----------
    status : {"found", "infeasible", "time-out", "interrupted"}
        Only ``"found"`` comes with a controller.
    controller : LFT or None
        In the plant's scheduling parameters; its inputs are the measurements, its outputs the controls.
    gamma : float
        Certified: the induced L2 gain of the closed loop is below it for every trajectory of the parameters in the box,
        however fast; ``inf`` without a controller.
    closed_loop : LFT or None
    frozen_gain : float
        Largest H-infinity norm of the closed loop at frozen corners and samples of the box: below ``gamma``.
    scaling : {"D", "DG"}
        Scalings of the certificate.
    eigenvalue : float
        Largest eigenvalue of the closed loop's bounded-real inequality, its rows evened: negative.
    reason : str
        What was tried, where there is no controller; for one that was found, whether the search was ended early.
    """

    status: str
    controller: LFT | None
    gamma: float
    closed_loop: LFT | None
    frozen_gain: float
    scaling: str
    eigenvalue: float
    reason: str

    def __str__(self) -> str:
        if self.controller is None:
            return f"LPV synthesis: {self.status} ({self.reason})"
        c = self.controller
        return (
            f"LPV synthesis: gain certified below {self.gamma:.6g} for any trajectory in the box ({self.scaling} scalings); "
            f"at frozen points at most {self.frozen_gain:.6g}\n{c!r}"
        )

    __repr__ = __str__


@single_threaded
def lpv_synthesis(
    plant: Any,
    nmeas: int | None = None,
    ncon: int | None = None,
    *,
    skew_scalings: bool = True,
    time_limit: float = 600.0,
    progress: Callable[[str, float], None] | None = None,
) -> LPVController:
    """A controller that is an LFT in the plant's scheduling parameters, with a certified closed-loop gain.

    Minimises the level of scaled bounded-real inequalities (Packard 1994; Apkarian and Gahinet 1995; with G scalings
    Scorletti and El Ghaoui 1998), which hold for parameters that vary at any rate inside their box.

    Parameters
    ----------
    plant : LFT or GeneralizedPlant
        Generalised plant with states; its last ``ncon`` inputs are the controls, its last ``nmeas`` outputs the
        measurements (as in python-control's ``hinfsyn``), the others the performance channel.  Its only parameters are
        scheduling parameters: fix uncertain ones with ``subs`` and look at ``worst_case_gain`` afterwards.
    nmeas, ncon : int
        Measurements and controls; a GeneralizedPlant knows its own.
    skew_scalings : bool
        Use G scalings as well as D where a parameter is repeated.
    time_limit : float
        Seconds, a safety net: the best controller so far is returned then, and on Ctrl-C.  The search itself ends after
        a fixed number of problems.
    progress : callable, optional
        Called with ("step", best level so far, inf if none) before each problem and ("level", level) for each better one.

    Returns
    -------
    LPVController
        A controller is only returned with a certificate whose eigenvalues were computed, and after its closed loop was
        found stable with a gain below the level at the corners and at random points of the box.

    Raises
    ------
    ModelError
        A plant without states or performance channel, other blocks than scheduling parameters.
    MissingDependencyError
        cvxpy and Clarabel are not installed (extra ``lmi``).

    Examples
    --------
    >>> import lftgen as lg
    >>> p = lg.scheduled("p", (-1, 1))
    >>> plant = lg.ss([[p]], [[1, 0, 1]], [[1], [0], [1]], [[0, 0, 0], [0, 0, 1], [0, 1, 0]],
    ...               inputs=["d", "n", "u"], outputs=["z", "zu", "y"])
    >>> result = lg.lpv_synthesis(plant, 1, 1)
    >>> result.status, 2.4 < result.gamma < 3.7
    ('found', True)
    """
    plant, nmeas, ncon = plant_and_channels(plant, nmeas, ncon, "lpv_synthesis")
    p = problem_of(plant, nmeas, ncon)
    skew = truth(skew_scalings, "lpv_synthesis: skew_scalings")
    limit = number(time_limit, "lpv_synthesis: time_limit", minimum=0.0)
    search = Search(skew, time.monotonic() + limit, callback(progress, "lpv_synthesis: progress"))
    with contextlib.suppress(KeyboardInterrupt):
        search.run(p)
    if search.best is None:
        return LPVController(search.status, None, INF, None, INF, "", float("nan"), _why_none(search))
    return _verified(plant, p, search.best, search.status)


def _why_none(search: Search) -> str:
    """Why there is no controller, in words."""
    if search.tried:
        return f"{search.tried} certificates tried, none could be turned into a controller"
    if search.status != "infeasible":
        return "no solution of the inequalities was found before the search was ended; nothing is known about the plant"
    return (
        "no solution of the inequalities was found at any level: the plant may not be stabilisable or detectable at some "
        "point of the box, or not by one quadratic Lyapunov function"
    )


def _verified(plant: LFT, p: Problem, found: Found, ended: str) -> LPVController:
    gamma = found.certificate.gamma
    controller = controller_of(p, found, plant)
    closed = plant.star(controller)
    frozen = _frozen_gain(closed)
    if not frozen <= gamma * (1 + 1e-6):
        why = f"the closed loop has a gain of {frozen:.6g} at a frozen point, above the level {gamma:.6g}: rounding spoilt it"
        return LPVController("infeasible", None, INF, None, frozen, "", float("nan"), why)
    scaling = "DG" if found.skew else "D"
    early = {"time-out": "the time was spent", "interrupted": "Ctrl-C ended the search"}.get(ended, "")
    why = early and f"{early} before all problems were solved"
    return LPVController("found", controller, gamma, closed, frozen, scaling, found.eigenvalue, why)


def controller_of(p: Problem, found: Found, plant: LFT) -> LFT:
    """The controller matrix as an LFT with the plant's parameters, the plant's direct term taken back."""
    n, K = p.n, found.K
    names = tuple(f"controller_{i + 1}" for i in range(n))
    inputs, outputs = plant.outputs[plant.shape[0] - p.n_y :], plant.inputs[plant.shape[1] - p.n_u :]
    blocks = p.blocks
    # rows of K: [x_K'; z_K; u], the order of an LFT's M
    normal = LFTData(K, Structure(names, blocks), tuple(inputs), tuple(outputs), FLOAT)
    raw = LFT(change_maps(normal, {b.name: b.map for b in plant.delta if b.repetitions}))
    if not np.any(p.D_yu):
        return raw
    back = LFT(LFTData(p.D_yu, Structure((), ()), tuple(outputs), tuple(inputs), FLOAT))
    return raw.feedback(back, sign=-1)


def _frozen_gain(closed: LFT) -> float:
    parameters = closed.parameters
    points = [sample_points(parameters, SAMPLES, method=m, seed=0) for m in ("corners", "sobol")]
    values = {q.name: np.concatenate([x[q.name] for x in points]) for q in parameters}
    at = closed.evaluate(values)
    return max(hinf_norm(*m)[0] for m in zip(at.A, at.B, at.C, at.D, strict=True))
