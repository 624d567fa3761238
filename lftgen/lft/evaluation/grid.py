"""Tensor grids: one parameter after the other, so that a grid costs far less than its points one by one.

Where the model (with some ports exchanged) is in layers without a core, the poles of each parameter are fixed numbers,
whatever the others are.  Its values, as functions of one delta, lie in the space of ``polynomial of degree D / d(delta)``,
``d`` the product of ``(1 - lambda delta)`` over the parameter's layers.  Values at D + 1 nodes of each axis therefore give
those at all points of the grid exactly, by one constant matrix for each axis; the axis with the fewest nodes comes last.
The exchange is undone at each point.  Other models are evaluated point by point.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lftgen.errors import IllPosedError, ParameterError
from lftgen.lft.data import LFTData
from lftgen.lft.evaluation.many import MANY, through
from lftgen.lft.evaluation.plan import Plan, plan_of
from lftgen.lft.evaluation.points import deltas, numeric, singular_message, solve_points
from lftgen.lft.threads import single_threaded

CHUNK_POINTS = 100_000
"""Points of a chunk unless asked otherwise."""
NODE_SHARE = 0.3
"""Nodes are used where they are at most this share of the points."""


@dataclass(frozen=True)
class Grid:
    """Axes in the user's order, and the delta of every block along its axis (one number for those without an axis).

    Attributes
    ----------
    names : tuple of str
    shape : tuple of int
    values : dict of str to ndarray
        User values: one-dimensional for axes, single ones for what is fixed.
    """

    a: LFTData
    names: tuple[str, ...]
    shape: tuple[int, ...]
    values: dict[str, Any]
    delta: dict[str, np.ndarray]

    @property
    def size(self) -> int:
        """Number of points."""
        return math.prod(self.shape)

    def points(self, part: tuple[slice, ...]) -> tuple[dict[str, Any], list[np.ndarray], int]:
        """User values, delta of each block and number of the points of a part of the grid, last axis fastest."""
        shape = tuple(len(range(n)[p]) for n, p in zip(self.shape, part, strict=True))
        n, values = math.prod(shape), dict(self.values)
        delta = dict(self.delta)
        for k, name in enumerate(self.names):
            for source in (values, delta):
                along = np.asarray(source[name])[part[k]]
                along = along.reshape([-1 if i == k else 1 for i in range(len(shape))])
                source[name] = np.broadcast_to(along, shape).reshape(n)
        return values, [delta[b.name] for b in self.a.structure.blocks], n


def grid_of(a: LFTData, values: Mapping[str, Any], *, extrapolate: bool = False) -> Grid:
    """Check the values of a grid.

    Raises
    ------
    ParameterError
        Unknown names, values out of range, an axis that is not one-dimensional.
    """
    a = numeric(a)
    blocks = {b.name: b for b in a.structure.blocks}
    _, delta = deltas(
        a, {k: v for k, v in values.items() if not _is_axis(blocks.get(k), v)}, extrapolate=extrapolate
    )
    deltas_of = dict(zip(blocks, delta, strict=True))
    names = [k for k, v in values.items() if _is_axis(blocks.get(k), v)]
    for name in names:
        if np.ndim(values[name]) != 1:
            raise ParameterError(
                f"{name}: expected a number or a one-dimensional array for an axis of the grid, got shape {np.shape(values[name])}"
            )
        _, axis = deltas(a, {name: values[name]}, extrapolate=extrapolate)
        deltas_of[name] = axis[list(blocks).index(name)]
    shape = tuple(len(deltas_of[name]) for name in names)
    return Grid(a, tuple(names), shape, dict(values), deltas_of)


def _is_axis(block: Any, value: Any) -> bool:
    return block is not None and block.is_scalar and np.ndim(value) > 0


@single_threaded
def evaluate_grid(a: LFTData, values: Mapping[str, Any], *, extrapolate: bool = False) -> np.ndarray:
    """``[A B; C D]`` on the tensor grid of all axes, shape (n1, n2, ..., states + outputs, states + inputs).

    Raises
    ------
    ParameterError
        As :func:`grid_of`.
    IllPosedError
        A point where I - M11 Delta is singular; the message names the point.
    """
    grid = grid_of(a, values, extrapolate=extrapolate)
    out: np.ndarray | None = None
    for part, value in _chunks(a, grid, CHUNK_POINTS):
        if out is None:
            out = np.empty((*grid.shape, *value.shape[-2:]), dtype=value.dtype)
        out[part] = value
    if out is None:
        empty, _ = solve_points(grid.a, grid.points(tuple(slice(0, 0) for _ in grid.shape))[1], 0)
        out = empty.reshape(*grid.shape, *empty.shape[-2:])
    return out


def grid_chunks(
    a: LFTData, values: Mapping[str, Any], *, points: int = CHUNK_POINTS, extrapolate: bool = False
) -> Iterator[tuple[tuple[slice, ...], np.ndarray]]:
    """The grid in pieces of at most about ``points`` points: (slices of the axes, values there), memory stays bounded."""
    if not isinstance(points, (int, np.integer)) or isinstance(points, bool) or points < 1:
        raise ParameterError(f"points: expected a positive whole number of points in a chunk, got {points!r}")
    return _chunks(a, grid_of(a, values, extrapolate=extrapolate), int(points))


def parts(shape: tuple[int, ...], points: int) -> Iterator[tuple[slice, ...]]:
    """Boxes of at most ``points`` points that cover a grid, whole last axes first, in order."""
    steps: list[int] = []
    left = points
    for n in reversed(shape):
        step = max(1, min(n, left))
        steps.insert(0, step)
        left = left // step if step == n else 1
    cuts = ([slice(i, min(i + s, n)) for i in range(0, n, s)] for n, s in zip(shape, steps, strict=True))
    yield from itertools.product(*cuts)


def _chunks(a: LFTData, grid: Grid, points: int) -> Iterator[tuple[tuple[slice, ...], np.ndarray]]:
    plan = (
        plan_of(a) if grid.size >= MANY and not any(np.iscomplexobj(d) for d in grid.delta.values()) else None
    )
    nodes = None if plan is None else _Nodes.of(plan, grid)
    for part in parts(grid.shape, points):
        if nodes is not None and plan is not None:
            value, bad = nodes.part(part)
        else:
            value, bad = _one_by_one(plan, grid, part)
        if bad is not None:
            raise IllPosedError(singular_message(grid.a, grid.points(part)[0], bad))
        yield part, value


def _one_by_one(plan: Plan | None, grid: Grid, part: tuple[slice, ...]) -> tuple[np.ndarray, int | None]:
    _, delta, n = grid.points(part)
    value, bad = solve_points(grid.a, delta, n) if plan is None else through(plan, grid.a, delta, n)
    shape = tuple(len(range(k)[p]) for k, p in zip(grid.shape, part, strict=True))
    return value.reshape(*shape, *value.shape[1:]), bad


@dataclass(frozen=True)
class _Axis:
    """From the values at some nodes to those at all points of an axis: ``matrix`` (points, nodes)."""

    nodes: np.ndarray
    matrix: np.ndarray


class _Nodes:
    """The program's values at the nodes of all axes, and how they spread over the grid."""

    def __init__(self, plan: Plan, grid: Grid, axes: list[_Axis], values: np.ndarray) -> None:
        self.plan, self.grid, self.axes, self.values = plan, grid, axes, values
        used = [len(axis.nodes) / len(axis.matrix) for axis in axes]
        self.order = sorted(range(len(axes)), key=lambda k: (len(axes[k].nodes), -used[k]), reverse=True)

    @classmethod
    def of(cls, plan: Plan, grid: Grid) -> _Nodes | None:
        """None where nodes do not pay or cannot be had."""
        if plan.program.core_size:
            return None
        names = [b.name for b in grid.a.structure.blocks]
        axes = [_axis(plan, names.index(k), grid.delta[k]) for k in grid.names]
        count = math.prod(len(axis.nodes) for axis in axes)
        if count > NODE_SHARE * grid.size:
            return None
        shape = tuple(len(axis.nodes) for axis in axes)
        delta = np.empty((len(names), count))
        for row, name in zip(delta, names, strict=True):
            if name in grid.names:
                k = grid.names.index(name)
                along = axes[k].nodes.reshape([-1 if i == k else 1 for i in range(len(shape))])
                row[:] = np.broadcast_to(along, shape).reshape(count)
            else:
                row[:] = grid.delta[name]
        values, bad = [], False
        for start in range(0, count, plan.points):
            value, suspicious = plan.inner(delta[:, start : start + plan.points])
            values.append(value.reshape(-1, value.shape[2]))
            bad = bad or bool(suspicious.any())
        return None if bad else cls(plan, grid, axes, np.hstack(values).reshape(-1, *shape))

    def part(self, part: tuple[slice, ...]) -> tuple[np.ndarray, int | None]:
        """Values (points of the part..., rows, columns), and the number of the first singular point."""
        value = self.values
        for k in self.order:
            value = _spread(self.axes[k].matrix[part[k]], value, k + 1)
        shape = value.shape[1:]
        flat = value.reshape(len(value), -1)
        n, step = flat.shape[1], self.plan.points
        program = self.plan.program
        out = np.empty((n, *self.plan.ports.shape))
        space = self.plan.empty(min(n, step))
        suspects: list[np.ndarray] = []
        for start in range(0, n, step):
            inner = flat[:, start : start + step].reshape(len(program.columns), len(program.rows), -1)
            values = space[:, :, : inner.shape[2]]
            suspects.append(start + np.flatnonzero(self.plan.outer(inner, values)))
            out[start : start + step] = np.moveaxis(values, 2, 0)
        where = np.concatenate(suspects)
        if where.size:
            _, delta, _ = self.grid.points(part)
            local = [d[where] if d.ndim else d for d in delta]
            out[where], bad = solve_points(self.grid.a, local, len(where))
            if bad is not None:
                return out, int(where[bad])
        return out.reshape(*shape, *out.shape[1:]), None


def _spread(matrix: np.ndarray, value: np.ndarray, axis: int) -> np.ndarray:
    """Product with a matrix along one axis."""
    before, after = math.prod(value.shape[:axis]), math.prod(value.shape[axis + 1 :])
    shape = (*value.shape[:axis], len(matrix), *value.shape[axis + 1 :])
    if after == 1:
        return (value.reshape(before, -1) @ matrix.T).reshape(shape)
    return np.matmul(matrix, value.reshape(before, -1, after)).reshape(shape)


def _axis(plan: Plan, block: int, delta: np.ndarray) -> _Axis:
    """Nodes of one axis; the axis itself where it has no more points than that."""
    poles = plan.program.poles(block)
    degree = sum(1 + (p.imag != 0) for p in poles)
    x = delta / plan.scale[block]
    if degree + 1 >= len(x) or not len(x):
        return _Axis(delta, np.eye(len(x)))
    low, high = x.min(), x.max()
    angles = (2 * np.arange(degree + 1) + 1) * np.pi / (2 * degree + 2)
    nodes = (low + high) / 2 + (high - low) / 2 * np.cos(angles)
    matrix = np.ones((len(x), degree + 1))
    for i, node in enumerate(nodes):  # Lagrange's polynomials on Chebyshev nodes
        for j, other in enumerate(nodes):
            if i != j:
                matrix[:, i] *= (x - other) / (node - other)
    matrix *= _denominator(poles, nodes) / _denominator(poles, x)[:, None]
    return _Axis(nodes * plan.scale[block], matrix)


def _denominator(poles: list[complex], x: np.ndarray) -> np.ndarray:
    out = np.ones_like(x)
    for p in poles:
        out *= (1 - p.real * x) ** 2 + (p.imag * x) ** 2 if p.imag else 1 - p.real * x
    return out
