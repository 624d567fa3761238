"""Fewer repetitions than exact ones need, with an error that is proven over the whole box."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from lftgen.arguments import number
from lftgen.errors import IllPosedError, ModelError, ParameterError, ReductionError
from lftgen.lft.data import LFTData
from lftgen.lft.evaluation import numeric
from lftgen.lft.maps import change_maps, normalized
from lftgen.lft.reduction.balancing import ScalarLFT
from lftgen.lft.reduction.guarantee import Proof
from lftgen.lft.reduction.kalman import assembled, reduce, scalar_lft
from lftgen.lft.reduction.truncation import Truncation, sample_points, weighed
from lftgen.lft.structure import DeltaBlock, Structure
from lftgen.lft.threads import single_threaded

BLOCK_NAME = "approximation_error"
ERRORS = ("report", "block")
MEASURES = ("relative", "absolute")
ROUNDING = 1e-9
"""The balanced model must equal the given one to this, relative to its size."""
Progress = Callable[[int, float], None]


@dataclass(frozen=True)
class ApproximationData:
    """An approximation and what is proven about it; see :class:`lftgen.lft.approximate.Approximation`."""

    lft: LFTData
    error: float
    scale: float
    sampled_error: float
    parts: int


@single_threaded
def approximation(
    a: LFTData,
    tolerance: float,
    *,
    error: str = "report",
    measure: str = "relative",
    budget: float = 10.0,
    progress: Progress | None = None,
) -> ApproximationData:
    """Drop the lightest channels of Delta as long as the error is proven to stay within a tolerance."""
    _check(a, error, measure)
    tolerance = number(tolerance, "tolerance", minimum=0, error=ParameterError)
    work = _Work(number(budget, "budget", minimum=0, error=ParameterError))
    exact = reduce(numeric(a))
    unit = normalized(exact, recenter=True)
    s = scalar_lft(unit)
    balanced = weighed(s)
    points = sample_points(len(s.groups), seed=2)
    try:
        truth = s.change(points) + s.pp
    except np.linalg.LinAlgError as problem:
        raise IllPosedError(
            "approximate: I - M11 Delta is singular at a point of the box; plant.well_posed() tells where"
        ) from problem
    scale = float(np.linalg.norm(s.change(_nominal(unit))[0] + s.pp, 2))
    allowed = tolerance * scale if measure == "relative" else tolerance
    noise = _largest(balanced.lft.change(points) + s.pp - truth)
    if not noise <= ROUNDING * max(scale, 1e-300):
        return ApproximationData(exact, 0.0, scale, 0.0, 0)
    limit = allowed - noise
    candidates = _candidates(balanced.split, truth, points, limit, s.order)
    best = _proven(balanced.split, candidates, limit, work, progress)
    if best is None:
        return ApproximationData(exact, 0.0, scale, 0.0, 0)
    if not best.proof.error <= limit:
        raise ReductionError(_failure(best, s.order, allowed))
    work.run(best.proof, _SHARP * best.sampled, max(_SHARPEN, work.spent / 2))
    small = _returned(assembled(unit, balanced.split(best.dropped).reduced()), exact)
    whole = best.proof.error + noise
    small = _with_error_block(small, s, whole) if error == "block" else small
    return ApproximationData(small, whole, scale, best.sampled, best.proof.parts)


_SHARPEN = 0.5  # seconds' worth of parts, at least, that make a bound within the tolerance sharper
_SHARP = 1.2  # ... not below this multiple of the sampled error


class _Work:
    """A budget in seconds' worth of parts: what is proven does not depend on the load of the machine."""

    def __init__(self, budget: float) -> None:
        self.budget, self.spent, self._until = budget, 0.0, time.perf_counter() + _NET * budget

    @property
    def left(self) -> float:
        return max(0.0, self.budget - self.spent)

    def run(self, proof: Proof, target: float, seconds: float) -> bool:
        """Go on with a proof for as many seconds' worth of parts, at most those that are left."""
        before, each = proof.parts, proof.seconds_per_part
        done = proof.run(target, before + min(seconds, self.left) / each, self._until)
        self.spent += (proof.parts - before + 1) * each
        return done


_NET = 5.0  # budgets of real time after which a proof ends in any case


@dataclass(frozen=True)
class _Attempt:
    """What was tried: channels dropped, their error at sample points, and the proof."""

    dropped: int
    sampled: float
    proof: Proof


def _proven(
    split: Callable[[int], Truncation],
    candidates: list[tuple[int, float]],
    limit: float,
    work: _Work,
    progress: Progress | None,
) -> _Attempt | None:
    """The largest number of channels that is proven to be within the limit, easy proofs first; else the first attempt."""
    best: _Attempt | None = None
    for dropped, sampled in candidates:
        attempt = _Attempt(dropped, sampled, Proof(split(dropped)))
        done = work.run(attempt.proof, limit, work.left / (1 if best is None else 2))
        if progress is not None:
            progress(dropped, attempt.proof.error)
        if not done:
            return best or attempt
        best = attempt
    return best


def _check(a: LFTData, error: str, measure: str) -> None:
    if error not in ERRORS:
        raise ParameterError(f"error must be one of {ERRORS}, got {error!r}")
    if measure not in MEASURES:
        raise ParameterError(f"measure must be one of {MEASURES}, got {measure!r}")
    others = [b.name for b in a.structure.blocks if b.kind != "real" and b.repetitions]
    if others:
        raise ModelError(
            f"approximate: {', '.join(others)} is no real parameter; the error is proven over a box of parameters alone. "
            "Approximate the model before the uncertainty is attached"
        )
    if any(b.name == BLOCK_NAME for b in a.structure.blocks):
        raise ModelError(
            f"approximate: the model has a block {BLOCK_NAME} already; approximate the exact one"
        )


def _nominal(unit: LFTData) -> np.ndarray:
    """The nominal point in the recentred deltas."""
    scalars = [b for b in unit.structure.blocks if b.parameter is not None]
    return np.array([[float(b.map.delta(b.parameter.coordinate_nominal)) for b in scalars if b.parameter]])


def _candidates(
    split: Callable[[int], Truncation], truth: np.ndarray, points: np.ndarray, allowed: float, order: int
) -> list[tuple[int, float]]:
    """Numbers of channels to drop, fewest first, with the errors at sample points: those that samples do not refute.

    Of numbers whose errors are alike only the largest.
    """
    out: list[tuple[int, float]] = []
    for dropped in range(order, 0, -1):
        small = split(dropped).reduced()
        try:
            sampled = _largest(small.change(points) + small.pp - truth)
        except np.linalg.LinAlgError:
            continue
        if sampled <= allowed and (not out or sampled <= 0.5 * out[-1][1]):
            out.append((dropped, sampled))
    return out[::-1]


def _largest(errors: np.ndarray) -> float:
    return float(np.max(np.linalg.norm(errors, 2, axis=(1, 2)), initial=0.0)) if errors.size else 0.0


def _failure(attempt: _Attempt, order: int, allowed: float) -> str:
    proven = attempt.proof.error
    reached = "no bound at all" if np.isinf(proven) else f"a bound of {proven:.3g}"
    return (
        f"order {order - attempt.dropped} has an error of {attempt.sampled:.3g} at random points, within the {allowed:.3g} "
        f"allowed, but over the whole box {reached} was proven in {attempt.proof.parts} parts, and for no other order below "
        f"the exact {order} either; give a larger budget, a larger tolerance or smaller ranges"
    )


def _returned(small: LFTData, exact: LFTData) -> LFTData:
    """Back to the maps that the given model has."""
    maps = {b.name: b.map for b in exact.structure.blocks if b.parameter is not None}
    return change_maps(small, maps)


def _with_error_block(a: LFTData, s: ScalarLFT, error: float) -> LFTData:
    """``[A B; C D] + Delta_e``, a full real block over the rows and columns that depend on parameters at all."""
    if error == 0.0:
        return a
    rows, columns = np.flatnonzero(s.pd.any(axis=1)), np.flatnonzero(s.dp.any(axis=0))
    block = DeltaBlock(BLOCK_NAME, "full real", 1, shape=(len(rows), len(columns)), bound=error)
    r, c, n = a.structure.n_rows, a.structure.n_columns, a.n_states
    M = np.zeros((a.M.shape[0] + len(columns), a.M.shape[1] + len(rows)))
    old_rows = [*range(r), *range(r + len(columns), M.shape[0])]
    old_columns = [*range(c), *range(c + len(rows), M.shape[1])]
    M[np.ix_(old_rows, old_columns)] = a.M
    for k, i in enumerate(rows):
        M[i if i < n else old_rows[r + i - n], c + k] = 1.0
    for k, j in enumerate(columns):
        M[r + k, j if j < n else old_columns[c + j - n]] = 1.0
    return replace(a, M=M, structure=Structure(a.structure.states, (*a.structure.blocks, block)))
