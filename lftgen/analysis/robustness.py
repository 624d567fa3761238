"""Robust stability and worst-case gain of an LFT over its parameter box, with guaranteed bounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from lftgen import arguments
from lftgen.analysis.channels import matrices_at
from lftgen.analysis.mu.box import Box
from lftgen.analysis.mu.frequencies import Clock
from lftgen.analysis.mu.margin import MarginSearch
from lftgen.analysis.mu.worst_gain import WorstGainSearch
from lftgen.analysis.robust_results import Progress, RobustStability, WorstCaseGain
from lftgen.errors import IllPosedError, ModelError
from lftgen.lft.hinf_norm import hinf_norm
from lftgen.lft.model import LFT
from lftgen.lft.threads import single_threaded

__all__ = ["RobustStability", "WorstCaseGain", "robust_stability", "worst_case_gain"]


@single_threaded
def robust_stability(
    plant: LFT,
    *,
    tolerance: float = 0.005,
    max_margin: float = 100.0,
    recenter: bool = True,
    time_limit: float = 300.0,
    seed: int = 0,
    progress: Progress | None = None,
) -> RobustStability:
    """Margin of stability of an LFT with states over its parameter box (close the loop first).

    The upper bound comes from poles that are driven to the imaginary axis, and is verified there.  The lower bound
    comes from D, G scalings, each of which certifies a frequency interval; the intervals cover [0, inf], so no
    frequency is missed.  Where the two stay apart, the box is cut into pieces.

    Parameters
    ----------
    plant : LFT
    tolerance : float
        Relative gap between the bounds that is good enough.
    max_margin : float
        No larger box is looked at.
    recenter : bool
        Scale the box about the middle of the ranges; with False about the nominal, by the fractional map of
        ``plant.normalized()``, which reaches only as far as its pole.  Size 1 is the same box either way.
    time_limit : float
        Seconds, a safety net: what is proven by then is returned.  The search itself ends after a number of pieces of the
        box that depends on the size of the model alone, so that its result does not depend on the load of the machine.
    seed : int
        Of the random search directions.
    progress : callable, optional
        Called with (lower bound, upper bound, seconds).

    Raises
    ------
    ModelError
        Not an LFT, or one without states.
    ParameterError
        Free symbols.

    Examples
    --------
    >>> import lftgen as lg
    >>> k = lg.uncertain("k", 2.0, plus_minus=1)
    >>> loop = lg.ss([[0, 1], [-k, -1]], [[0], [1]], [[1, 0]], [[0]])
    >>> result = lg.robust_stability(loop)  # stable for k > 0, which is 2 half-widths away from the middle
    >>> round(result.upper, 3), result.lower > 1.98, round(abs(result.parameters["k"]), 3)
    (2.0, True, 0.0)
    """
    plant = arguments.instance(plant, LFT, "robust_stability: the plant")
    if not plant.states:
        raise ModelError(
            "robust_stability: the model has no states; use well_posed() or mu() for a static one"
        )
    arguments.fraction(tolerance, "robust_stability: tolerance")
    _common("robust_stability", time_limit, seed, progress)
    if not arguments.number(max_margin, "robust_stability: max_margin") > 0:
        raise ModelError(f"robust_stability: max_margin must be positive, got {max_margin!r}")
    clock = Clock(time_limit)
    try:
        box = Box.of(plant.data, recenter=arguments.truth(recenter, "robust_stability: recenter"))
        box.check_well_posed()
    except IllPosedError as error:
        return RobustStability(0.0, 0.0, status="ill-posed", tried=str(error), seconds=clock.spent)
    search = MarginSearch(box, tolerance, min(max_margin, 0.999 * box.reach), clock, seed, progress)
    return replace(search.run(), seconds=round(clock.spent, 4))


@single_threaded
def worst_case_gain(
    plant: LFT,
    *,
    inputs: str | Sequence[str] | None = None,
    outputs: str | Sequence[str] | None = None,
    tolerance: float = 0.03,
    certify: bool = True,
    time_limit: float = 300.0,
    starts: int = 64,
    seed: int = 0,
    progress: Progress | None = None,
) -> WorstCaseGain:
    """Largest H-infinity norm from inputs to outputs over the parameter box.

    The lower bound is the norm at the worst point that a search over points and frequencies together finds.  The upper
    bound holds for every point of the box and every frequency: skewed mu by D, G scalings over frequency intervals,
    with the box cut into pieces until the bounds meet.

    Parameters
    ----------
    plant : LFT
        With or without states; a closed loop, usually.
    inputs, outputs : str or list of str, optional
        Names or group names; all by default.
    tolerance : float
        Relative gap between the bounds that is good enough.
    certify : bool
        With False only the lower bound and its points are searched, which is quick.
    time_limit : float
        Seconds, a safety net: what is proven by then is returned.  The search itself ends after a number of pieces of the
        box that depends on the size of the model alone, so that its result does not depend on the load of the machine.
    starts : int
        Random points that begin the search, beside corners and faces.
    seed : int
    progress : callable, optional
        Called with (lower bound, upper bound, seconds).

    Raises
    ------
    ModelError
        Not an LFT, unknown signals.
    ParameterError
        Free symbols.

    Examples
    --------
    >>> import lftgen as lg
    >>> k = lg.uncertain("k", 2.0, plus_minus=1)
    >>> loop = lg.ss([[0, 1], [-k, -1]], [[0], [1]], [[1, 0]], [[0]], inputs=["f"], outputs=["y"])
    >>> result = lg.worst_case_gain(loop)  # at k = 1, a peak of 1 / (d sqrt(k - d^2/4)) with d = 1
    >>> result.status, round(result.lower, 4), result.upper < 1.03 * result.lower, round(result.parameters["k"], 3)
    ('done', 1.1547, True, 1.0)
    """
    plant = arguments.instance(plant, LFT, "worst_case_gain: the plant")
    arguments.number(tolerance, "worst_case_gain: tolerance", minimum=0)
    _common("worst_case_gain", time_limit, seed, progress)
    arguments.whole_number(starts, "worst_case_gain: starts", minimum=1)
    arguments.truth(certify, "worst_case_gain: certify")
    every = slice(None)
    plant = plant[every if outputs is None else outputs, every if inputs is None else inputs]
    if not all(plant.shape):
        raise ModelError(
            f"worst_case_gain: expected inputs and outputs, got {plant.shape[1]} and {plant.shape[0]}; for a loop without "
            "any use robust_stability()"
        )
    clock = Clock(time_limit)
    if not any(b.repetitions for b in plant.delta):
        return _without_box(plant, clock)
    try:
        box = Box.of(plant.data)
        box.check_well_posed()
    except IllPosedError as error:
        inf = float("inf")
        return WorstCaseGain(inf, inf, status="ill-posed", tried=str(error), seconds=clock.spent)
    search = WorstGainSearch(box, tolerance, clock, progress)
    return replace(search.run(certify, starts, seed), seconds=round(clock.spent, 4))


def _common(who: str, time_limit: float, seed: int, progress: Progress | None) -> None:
    """Checks of the arguments that both functions have."""
    arguments.number(time_limit, f"{who}: time_limit", minimum=0)
    arguments.whole_number(seed, f"{who}: seed")
    arguments.callback(progress, f"{who}: progress")


def _without_box(plant: LFT, clock: Clock) -> WorstCaseGain:
    """The norm of a model that depends on nothing."""
    norm, frequency = hinf_norm(*matrices_at(plant, {}))
    status = "done" if math.isfinite(norm) else "unstable nominal"
    return WorstCaseGain(
        norm, norm * (1 + 1e-9), {}, frequency, (), status, "no parameter occurs", round(clock.spent, 4)
    )
