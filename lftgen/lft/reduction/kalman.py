"""n-D order reduction of an LFT: exact, verified, states and full blocks untouched.

With float entries no fixed tolerance is safe.  The LFT is scaled and balanced, tolerances are tried from coarse to
fine, and the first result is taken whose error at random points of the box is within the model's own rounding noise
(the model against itself after random orthogonal changes of basis).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lftgen.arguments import number
from lftgen.errors import ReductionError
from lftgen.lft.data import LFTData
from lftgen.lft.field import ExactField
from lftgen.lft.reduction.balancing import (
    ScalarLFT,
    balanced,
    scaled_to_unit_range,
    unscaled,
    with_even_channels,
)
from lftgen.lft.reduction.exact import reduced_exactly
from lftgen.lft.reduction.staircase import reduced_once
from lftgen.lft.structure import Structure, slices_of
from lftgen.lft.threads import single_threaded

TOLERANCES = tuple(10.0**-k for k in range(4, 13))
"""Rank tolerances tried in turn, relative to the norm of a block's rows of the balanced M."""
NOISE_FACTOR = 100.0
"""A reduced model may differ from the given one by this multiple of the given one's rounding noise..."""
ERROR_FLOOR = 1e-12
"""...or by this, whichever is more; both relative to what Delta changes in each port."""
CLEAR_DECADES = 1e-4
"""Where an order stays the same while the tolerance falls by this factor, the ranks are clear..."""
CLEAR_ERROR = 1e-9
"""...and rounding up to this is accepted: the noise of the factors that went before may exceed the model's own."""
SMALL = 1e-3
"""Values smaller than this in the balanced model (whose ports have norm one) are results of cancellation; errors are then
relative to this size, or a signal that is truly zero would make any error look like rounding."""
_POINTS = 4


@dataclass(frozen=True)
class _Split:
    """Where the scalar channels and the ports stand in M."""

    d_rows: list[int]
    d_columns: list[int]
    p_rows: list[int]
    p_columns: list[int]


def _split(a: LFTData) -> _Split:
    s = a.structure
    d_rows = [
        i
        for b, r in zip(s.blocks, s.row_slices(), strict=True)
        if b.is_scalar
        for i in range(r.start, r.stop)
    ]
    d_columns = [
        i
        for b, r in zip(s.blocks, s.column_slices(), strict=True)
        if b.is_scalar
        for i in range(r.start, r.stop)
    ]
    rows, columns = set(d_rows), set(d_columns)
    p_rows = [i for i in range(a.M.shape[0]) if i not in rows]
    return _Split(d_rows, d_columns, p_rows, [j for j in range(a.M.shape[1]) if j not in columns])


def scalar_lft(a: LFTData) -> ScalarLFT:
    """The repeated scalars of an LFT against everything else."""
    k = _split(a)
    blocks = [b for b in a.structure.blocks if b.is_scalar]
    bounds = [b.delta_bounds() if b.parameter is not None else (-b.bound, b.bound) for b in blocks]
    dd, dp, pd, pp = (a.M[np.ix_(r, c)] for r in (k.d_rows, k.p_rows) for c in (k.d_columns, k.p_columns))
    groups = tuple(slices_of(b.repetitions for b in blocks))
    low, high = np.array(bounds, dtype=float).reshape(-1, 2).T
    return ScalarLFT(dd, dp, pd, pp, groups, low, high)


@single_threaded
def reduce(a: LFTData, tolerance: float | None = None, *, error_floor: float = ERROR_FLOOR) -> LFTData:
    """The same LFT with the fewest repetitions that the n-D Kalman decomposition reaches.

    Parameters
    ----------
    tolerance : float, optional
        A single rank tolerance instead of the search described above (float entries only).
    error_floor : float
        Deviation that is accepted even where the rounding noise is smaller, relative to each port's largest value.

    Returns
    -------
    LFTData
        The given object itself where nothing can be taken away.

    Raises
    ------
    ReductionError
        The given tolerance changes the model beyond its rounding noise.
    """
    if tolerance is not None:
        tolerance = number(tolerance, "reduce: tolerance", minimum=0.0)
    error_floor = number(error_floor, "reduce: error_floor", minimum=0.0)
    if not any(b.is_scalar and b.repetitions for b in a.structure.blocks):
        return a
    s = scalar_lft(a)
    if isinstance(a.field, ExactField):
        small = reduced_exactly(s, a.field)
    else:
        tolerances = TOLERANCES if tolerance is None else (tolerance,)
        small = _reduced_floats(s, tolerances, error_floor, strict=tolerance is not None)
    return a if small.order == s.order else assembled(a, small)


def _reduced_floats(
    s: ScalarLFT, tolerances: Sequence[float], error_floor: float, *, strict: bool
) -> ScalarLFT:
    unit, scale = scaled_to_unit_range(s)
    work, rows, columns = balanced(unit)
    judge = _Judge(work, error_floor)
    for tolerance in tolerances:
        small = reduced_once(work, tolerance)
        if small.order >= s.order and not strict:
            return s
        if small.order == s.order:
            continue
        error = judge.error(
            small
        )  # of an order that was refused too: coarse tolerances can spoil the right spaces
        if error <= judge.accepted or (error <= CLEAR_ERROR and _is_clear(work, small.order, tolerance)):
            back = replace(small, dp=small.dp / columns, pd=small.pd / rows[:, None], pp=s.pp)
            return with_even_channels(unscaled(back, scale))
        if strict:
            raise ReductionError(
                f"tolerance {tolerance:.1e} reduces the order from {s.order} to {small.order} but changes the model by {error:.1e} "
                f"(its rounding noise allows {judge.accepted:.1e}); choose a smaller tolerance, or none to have one found"
            )
    return s


def _is_clear(work: ScalarLFT, order: int, tolerance: float) -> bool:
    """Whether the order stays the same over the next decades of the tolerance: then the ranks are not in doubt."""
    return (
        tolerance * CLEAR_DECADES > TOLERANCES[-1]
        and reduced_once(work, tolerance * CLEAR_DECADES).order == order
    )


class _Judge:
    """Compares reduced models with the given one at random points, port by port."""

    def __init__(self, work: ScalarLFT, error_floor: float) -> None:
        rng = np.random.default_rng(20)
        self._points = work.low + (work.high - work.low) * rng.uniform(size=(_POINTS, len(work.groups)))
        with np.errstate(all="ignore"):
            self._truth = self._values(work)
        size = np.max(np.abs(self._truth), axis=0, initial=0.0)
        row, column = (size.max(axis=k, keepdims=True, initial=0.0) for k in (1, 0))
        self._scale = np.maximum(np.minimum(row, column), SMALL)
        turned = [np.linalg.qr(rng.standard_normal((g.stop - g.start,) * 2))[0] for g in work.groups]
        self.accepted = max(
            NOISE_FACTOR * self.error(work.projected([q.T for q in turned], turned)), error_floor
        )

    def _values(self, model: ScalarLFT) -> np.ndarray:
        try:
            return model.change(self._points)
        except np.linalg.LinAlgError:
            self._points = self._points * 0.5  # a singular point in the box: compare nearer to the nominal
            return model.change(self._points)

    def error(self, model: ScalarLFT) -> float:
        """Largest deviation, relative to what Delta does to the output and by the input concerned."""
        try:
            values = model.change(self._points)
        except np.linalg.LinAlgError:
            return float("inf")
        deviation = np.abs(values - self._truth) / self._scale
        return float(np.max(deviation, initial=0.0))


def assembled(a: LFTData, small: ScalarLFT) -> LFTData:
    """The reduced scalar channels and the old ports, each block in its old place."""
    k, s = _split(a), a.structure
    M = np.block([[small.dd, small.dp], [small.pd, a.M[np.ix_(k.p_rows, k.p_columns)]]])
    sizes = iter(small.groups)
    blocks, groups = [], {}
    for b in s.blocks:
        if b.is_scalar:
            groups[b.name] = next(sizes)
            b = b.with_repetitions(groups[b.name].stop - groups[b.name].start)
        blocks.append(b)
    n = small.order
    place_row = {i: n + j for j, i in enumerate(k.p_rows)}
    place_column = {i: n + j for j, i in enumerate(k.p_columns)}
    rows = _positions(a, groups, place_row, s.row_slices(), a.M.shape[0], s.n_rows)
    columns = _positions(a, groups, place_column, s.column_slices(), a.M.shape[1], s.n_columns)
    return replace(a, M=M[np.ix_(rows, columns)], structure=Structure(s.states, tuple(blocks)))


def _positions(
    a: LFTData, groups: dict[str, slice], place: dict[int, int], slices: list[slice], total: int, inner: int
) -> list[int]:
    out = [place[i] for i in range(a.n_states)]
    for block, where in zip(a.structure.blocks, slices, strict=True):
        if block.is_scalar:
            out += range(groups[block.name].start, groups[block.name].stop)
        else:
            out += [place[i] for i in range(where.start, where.stop)]
    return out + [place[i] for i in range(inner, total)]
