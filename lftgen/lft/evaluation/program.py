"""Substitution through the layers of an LFT, all points side by side.

With rows ``y = pd Delta (I - M11 Delta)^-1`` the value at a point is ``pp + y dp``.  In a layered basis each part of y
follows from those before it: a product with a constant matrix, then a scalar (or a rotation and a scalar, for a pair of
complex eigenvalues) for each point.  Points are the last axis of every array.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from lftgen.lft.evaluation.layers import Layer, Layered
from lftgen.lft.reduction.balancing import ScalarLFT

POLE = 1e-6
"""A point at which 1 - lambda delta is smaller than this is suspicious: the value may not exist there."""
CORE_GROWTH = 1e8
"""So is one at which the solution of the core is larger than this beside its right-hand side."""


ROUNDING = 1e-15
"""Rows of a constant matrix whose entries are all smaller, relative to the largest of M11, are left out at the ends."""


@dataclass(frozen=True)
class _Step:
    """Channels whose inflow comes from earlier ones (rows ``inflow``) through one constant matrix."""

    part: slice
    inflow: slice
    matrix: np.ndarray
    layers: tuple[Layer, ...]
    core: np.ndarray | None = None


@dataclass(frozen=True)
class Program:
    """What is done at the points; ``rows`` and ``columns`` are the ports that depend on Delta.

    Attributes
    ----------
    pd, dp, pp : ndarray
        pd (channels, rows) and dp (columns, channels) in the layered basis, pp (columns, rows): all transposed, as
        points come last.
    owner : ndarray of int
        Delta block of each channel.
    """

    rows: np.ndarray
    columns: np.ndarray
    pd: np.ndarray
    dp: np.ndarray
    pp: np.ndarray
    owner: np.ndarray
    steps: tuple[_Step, ...] = field(repr=False)

    @property
    def order(self) -> int:
        """Number of channels."""
        return len(self.owner)

    @property
    def core_size(self) -> int:
        """Channels that are solved densely."""
        return sum(len(s.core) for s in self.steps if s.core is not None)

    @property
    def multiplications(self) -> float:
        """Rough cost of a point; a multiplication inside of a large matrix product counts one."""
        products = sum(s.matrix.size for s in self.steps) + self.dp.size
        return (products + 8 * self.order) * len(self.rows) + 4.0 * self.core_size**3

    def poles(self, block: int) -> list[complex]:
        """Eigenvalues of one block's layers; with multiplicity, the number of layers that can follow each other."""
        layers = [{e.eigenvalue for e in s.layers if e.block == block} for s in self.steps]
        return [value for stage in layers for value in stage]

    def run(self, delta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Values (columns, rows, N) at delta (blocks, N), and which points are suspicious."""
        n, r = delta.shape[1], len(self.rows)
        y = np.empty((self.order, r * n))
        bad = np.zeros(n, dtype=bool)
        with np.errstate(all="ignore"):
            for step in self.steps:
                z = y[step.part]
                if step.matrix.size:
                    np.matmul(step.matrix, y[step.inflow], out=z)
                else:
                    z[...] = 0.0
                cube = z.reshape(-1, r, n)
                cube += self.pd[step.part, :, None]
                for layer in step.layers:
                    inside = slice(layer.part.start - step.part.start, layer.part.stop - step.part.start)
                    bad |= _close(cube[inside], layer, delta[layer.block])
                if step.core is not None:
                    bad |= _solve_core(cube, step.core, delta[self.owner[step.part]])
            values = (self.dp @ y).reshape(len(self.columns), r, n)
        values += self.pp[:, :, None]
        return values, bad


def _close(z: np.ndarray, layer: Layer, delta: np.ndarray) -> np.ndarray:
    """``z delta (I - delta D)^-1`` in place, D the layer's multiple of the identity; points near its pole."""
    a, b = layer.eigenvalue.real, layer.eigenvalue.imag
    if not layer.is_pair:
        if a == 0:
            z *= delta
            return np.zeros(1, dtype=bool)
        pivot = 1 - a * delta
        z *= delta / pivot
        return np.abs(pivot) < POLE
    real, imaginary = 1 - a * delta, b * delta
    size = real * real + imaginary * imaginary
    p, q = delta * real / size, delta * imaginary / size
    half = len(z) // 2
    u, v = z[:half], z[half:]
    old = u.copy()
    u *= p
    u -= v * q
    v *= p
    v += np.multiply(old, q, out=old)
    return size < POLE**2


def _solve_core(z: np.ndarray, core: np.ndarray, delta: np.ndarray) -> np.ndarray:
    """``z delta (I - core delta)^-1`` in place for channels without structure, point by point; badly solved points."""
    d = delta.T
    system = core.T[None] * -d[:, :, None]
    system[:, range(len(core)), range(len(core))] += 1.0
    right = np.ascontiguousarray(np.moveaxis(z, 2, 0)) * d[:, :, None]
    try:
        solution = np.linalg.solve(system, right)
    except np.linalg.LinAlgError:
        solution = np.full_like(right, np.inf)
    growth = np.abs(system).max(axis=(1, 2)) * np.abs(solution).max(axis=(1, 2))
    z[...] = np.moveaxis(solution, 0, 2)
    return ~(growth < CORE_GROWTH * np.maximum(np.abs(right).max(axis=(1, 2)), 1e-300))


def compiled(s: ScalarLFT, basis: Layered) -> Program:
    """The program of an LFT (balanced, delta scaled to unit range) in its layered basis."""
    dd = np.linalg.solve(basis.basis, s.dd @ basis.basis)
    dp, pd = np.linalg.solve(basis.basis, s.dp), s.pd @ basis.basis
    rows = np.flatnonzero(np.any(s.pd != 0, axis=1))
    columns = np.flatnonzero(np.any(s.dp != 0, axis=0))
    steps = [_step(dd, stage) for stage in basis.stages]
    if basis.core.stop > basis.core.start:
        core = dd[basis.core, basis.core]
        steps.insert(basis.before_core, _with_inflow(dd, basis.core, (), np.ascontiguousarray(core)))
    return Program(
        rows,
        columns,
        np.ascontiguousarray(pd[rows].T),
        np.ascontiguousarray(dp[:, columns].T),
        np.ascontiguousarray(s.pp[np.ix_(rows, columns)].T),
        basis.owner,
        tuple(steps),
    )


def _step(dd: np.ndarray, stage: tuple[Layer, ...]) -> _Step:
    return _with_inflow(dd, slice(stage[0].part.start, stage[-1].part.stop), stage)


def _with_inflow(
    dd: np.ndarray, part: slice, layers: tuple[Layer, ...], core: np.ndarray | None = None
) -> _Step:
    """Entries that the layers say are zero are left out with their rounding; zero rows at the ends save work."""
    inflow = dd[: part.start, part]
    used = np.flatnonzero(np.abs(inflow).max(axis=1, initial=0.0) > ROUNDING * np.abs(dd).max(initial=0.0))
    span = slice(int(used[0]), int(used[-1]) + 1) if used.size else slice(0, 0)
    return _Step(part, span, np.ascontiguousarray(inflow[span].T), layers, core)
