"""Scaling an LFT before ranks are decided: ranges to unit size, then a diagonal balance by powers of two."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lftgen.lft.structure import slices_of

ROUNDING = 1e-13
_SWEEPS = 12
ROUNDING = 1e-13
"""A port whose dependence on Delta is smaller than this beside that of the others does not depend on it: that is rounding."""


@dataclass(frozen=True)
class ScalarLFT:
    """Delta channels (d) of repeated scalars against ports (p: states, full blocks, inputs and outputs).

    Attributes
    ----------
    dd, dp, pd, pp : ndarray
        The four parts of M.
    groups : tuple of slice
        The channels of each scalar block.
    low, high : ndarray
        Range of each block's delta.
    """

    dd: np.ndarray
    dp: np.ndarray
    pd: np.ndarray
    pp: np.ndarray
    groups: tuple[slice, ...]
    low: np.ndarray
    high: np.ndarray

    @property
    def order(self) -> int:
        """Number of Delta channels."""
        return self.dd.shape[0]

    def transposed(self) -> ScalarLFT:
        """Rows and columns exchanged."""
        return replace(self, dd=self.dd.T, dp=self.pd.T, pd=self.dp.T, pp=self.pp.T)

    def change(self, delta: np.ndarray) -> np.ndarray:
        """Values less the constant part pp, at points: delta (N, blocks) -> (N, port rows, port columns)."""
        sizes = [g.stop - g.start for g in self.groups]
        d = np.repeat(delta, sizes, axis=1)
        out = np.zeros((len(delta), *self.pp.shape))
        if not self.order:
            return out
        for i, di in enumerate(d):  # large orders: one factorisation at a time stays in cache
            out[i] = (self.pd * di) @ np.linalg.solve(np.eye(self.order) - self.dd * di, self.dp)
        return out

    def projected(self, left: list[np.ndarray], right: list[np.ndarray]) -> ScalarLFT:
        """``L dd R, L dp, pd R`` with block-diagonal L and R given block by block."""
        groups = tuple(slices_of(r.shape[1] for r in right))
        L = np.zeros((groups[-1].stop, self.order), dtype=self.dd.dtype)
        R = np.zeros((self.order, groups[-1].stop), dtype=self.dd.dtype)
        for new, old, lk, rk in zip(groups, self.groups, left, right, strict=True):
            L[new, old], R[old, new] = lk, rk
        return replace(self, dd=L @ self.dd @ R, dp=L @ self.dp, pd=self.pd @ R, groups=groups)


def scaled_to_unit_range(a: ScalarLFT) -> tuple[ScalarLFT, np.ndarray]:
    """The LFT in ``delta / s`` with s the largest \\|delta\\| of each block, and s."""
    s = np.maximum(np.abs(a.low), np.abs(a.high))
    s = np.where(s > 0, s, 1.0)
    d = np.repeat(s, [g.stop - g.start for g in a.groups])
    return replace(a, dd=a.dd * d, pd=a.pd * d, low=a.low / s, high=a.high / s), s


def unscaled(a: ScalarLFT, s: np.ndarray) -> ScalarLFT:
    """Undo :func:`scaled_to_unit_range`."""
    d = np.repeat(s, [g.stop - g.start for g in a.groups])
    return replace(a, dd=a.dd / d, pd=a.pd / d, low=a.low * s, high=a.high * s)


def with_even_channels(a: ScalarLFT) -> ScalarLFT:
    """Delta channels scaled by powers of two so that each has a row and a column of like norms; ports as they are."""
    n = a.order
    M = np.abs(np.block([[a.dd, a.dp], [a.pd, np.zeros_like(a.pp)]]))
    channel = np.ones(n)
    for _ in range(_SWEEPS):
        step = _power_of_two(np.sqrt(_norms(M[:, :n], axis=0) / _norms(M[:n], axis=1)))
        M[:n] *= step[:, None]
        M[:, :n] /= step
        channel *= step
        if np.all(step == 1):
            break
    scaled = a.dd * channel[:, None] / channel
    return replace(a, dd=scaled, dp=a.dp * channel[:, None], pd=a.pd / channel)


def balanced(a: ScalarLFT) -> tuple[ScalarLFT, np.ndarray, np.ndarray]:
    """Scale every Delta channel and every port so that its row and column of M have like norms.

    Returns the scaled LFT and the scales of port rows and port columns (multiply the ports of the result's dp by
    ``1 / columns`` and pd by ``1 / rows`` to undo them).  All scales are powers of two, so nothing is rounded.
    """
    n = a.order
    a = _without_rounding(a)
    M = np.abs(np.block([[a.dd, a.dp], [a.pd, np.zeros_like(a.pp)]]))
    channel = np.ones(n)
    rows, columns = np.ones(M.shape[0] - n), np.ones(M.shape[1] - n)
    for _ in range(_SWEEPS):
        rows_now = _power_of_two(1 / _norms(M[n:], axis=1))
        M[n:] *= rows_now[:, None]
        columns_now = _power_of_two(1 / _norms(M[:, n:], axis=0))
        M[:, n:] *= columns_now
        r, c = _norms(M[:n], axis=1), _norms(M[:, :n], axis=0)
        step = _power_of_two(np.sqrt(c / r))
        M[:n] *= step[:, None]
        M[:, :n] /= step
        channel, rows, columns = channel * step, rows * rows_now, columns * columns_now
        if np.all(step == 1) and np.all(rows_now == 1) and np.all(columns_now == 1):
            break
    scaled = replace(
        a,
        dd=a.dd * channel[:, None] / channel,
        dp=a.dp * channel[:, None] * columns,
        pd=a.pd / channel * rows[:, None],
        pp=a.pp * rows[:, None] * columns,
    )
    return scaled, rows, columns


def _without_rounding(a: ScalarLFT) -> ScalarLFT:
    """Ports whose dependence on Delta is nothing but rounding set to zero: it must not be scaled up to norm one."""
    rows, columns = _insignificant(np.abs(a.pd.T)), _insignificant(np.abs(a.dp))
    if not (rows.any() or columns.any()):
        return a
    return replace(a, pd=np.where(rows[:, None], 0.0, a.pd), dp=np.where(columns, 0.0, a.dp))


def _insignificant(ports: np.ndarray) -> np.ndarray:
    """Which columns are rounding errors throughout: nowhere more than 1e-13 of the largest entry of their row."""
    if not ports.size:
        return np.zeros(ports.shape[1], dtype=bool)
    largest = ports.max(axis=1, keepdims=True)
    relative = np.divide(ports, largest, out=np.zeros_like(ports), where=largest > 0)
    return relative.max(axis=0) < ROUNDING


def _norms(M: np.ndarray, axis: int) -> np.ndarray:
    norms = np.linalg.norm(M, axis=axis)
    return np.where(norms > 0, norms, 1.0)


def _power_of_two(x: np.ndarray) -> np.ndarray:
    return np.exp2(np.round(np.log2(x)))
