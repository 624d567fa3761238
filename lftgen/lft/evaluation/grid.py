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
from lftgen.lft.evaluation.many import plan_for, through
from lftgen.lft.evaluation.plan import BATCH, MOST_POINTS, Plan
from lftgen.lft.evaluation.points import (
    StateSpaceArrays,
    arrays_of,
    deltas,
    numeric,
    singular_message,
    solve_points,
)
from lftgen.lft.evaluation.program import POLE
from lftgen.lft.threads import single_threaded

CHUNK_POINTS = 100_000
"""Points of a chunk unless asked otherwise."""
WORKED_ON = 65_536
"""Points whose exchanged values are held beside those that are returned."""
NODE_SHARE = 0.3
"""Nodes are used where they are at most this share of the points."""


Values = StateSpaceArrays | np.ndarray
"""A, B, C, D; one array where there are no states."""


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
        shape = self.shape_of(part)
        n, values = math.prod(shape), dict(self.values)
        delta = dict(self.delta)
        for k, name in enumerate(self.names):
            for source in (values, delta):
                source[name] = _along(np.asarray(source[name])[part[k]], k, shape)
        return values, [delta[b.name] for b in self.a.structure.blocks], n

    def shape_of(self, part: tuple[slice, ...]) -> tuple[int, ...]:
        """Numbers of points of a part along the axes."""
        return tuple(len(range(n)[p]) for n, p in zip(self.shape, part, strict=True))

    def number_of(self, part: tuple[slice, ...]) -> int:
        """Number of a part's first point, counted with the last axis fastest."""
        first = tuple(p.start for p in part)
        return int(np.ravel_multi_index(first, self.shape)) if first else 0


def _along(values: np.ndarray, axis: int, shape: tuple[int, ...]) -> np.ndarray:
    """One axis' values at all points of a grid, last axis fastest."""
    return np.broadcast_to(
        values.reshape([-1 if i == axis else 1 for i in range(len(shape))]), shape
    ).reshape(-1)


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
def evaluate_grid(a: LFTData, values: Mapping[str, Any], *, extrapolate: bool = False) -> Values:
    """Values on the tensor grid of all axes, shapes (n1, n2, ..., rows, columns).

    Raises
    ------
    ParameterError
        As :func:`grid_of`.
    IllPosedError
        A point where I - M11 Delta is singular; the message names the point.
    """
    grid = grid_of(a, values, extrapolate=extrapolate)
    nodes = _Nodes.of(a, grid)
    if nodes is None:
        return _point_by_point(a, grid, _whole(grid))
    store = nodes.storage(grid.shape)
    for part in parts(grid.shape, WORKED_ON):
        nodes.write(part, store)
    return store.values()


def grid_chunks(
    a: LFTData, values: Mapping[str, Any], *, points: int = CHUNK_POINTS, extrapolate: bool = False
) -> Iterator[tuple[tuple[slice, ...], Values]]:
    """The grid in pieces of at most about ``points`` points: (slices of the axes, values there), memory stays bounded."""
    if not isinstance(points, (int, np.integer)) or isinstance(points, bool) or points < 1:
        raise ParameterError(f"points: expected a positive whole number of points in a chunk, got {points!r}")
    return _chunks(a, grid_of(a, values, extrapolate=extrapolate), int(points))


def _chunks(a: LFTData, grid: Grid, points: int) -> Iterator[tuple[tuple[slice, ...], Values]]:
    nodes = _Nodes.of(a, grid)
    for part in parts(grid.shape, points):
        if nodes is None:
            yield part, _point_by_point(a, grid, part)
        else:
            yield part, nodes.values_of(part)


def _whole(grid: Grid) -> tuple[slice, ...]:
    return tuple(slice(0, n) for n in grid.shape)


@single_threaded
def _point_by_point(a: LFTData, grid: Grid, part: tuple[slice, ...]) -> Values:
    values, delta, n = grid.points(part)
    plan = plan_for(a, delta, n)
    out, bad = solve_points(grid.a, delta, n) if plan is None else through(plan, grid.a, delta, n)
    if bad is not None:
        raise IllPosedError(singular_message(grid.a, values, bad))
    return arrays_of(grid.a, out.reshape(*grid.shape_of(part), *out.shape[1:]))


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


@dataclass(frozen=True)
class _Axis:
    """From the values at some nodes to those at all points of an axis: ``matrix`` (points, nodes)."""

    nodes: np.ndarray
    matrix: np.ndarray


class _Storage:
    """Space for the values on a grid: each port one block of memory over the grid, constant matrices stored once."""

    def __init__(self, plan: Plan, n_states: int, shape: tuple[int, ...]) -> None:
        self.shape, self.n_states = shape, n_states
        rows = (slice(0, n_states), slice(n_states, None))
        self.parts = {
            (i, j): self._matrix(plan, r, c) for i, r in enumerate(rows) for j, c in enumerate(rows)
        }
        self.places = {
            (int(i), int(j)): self.parts[int(i >= n_states), int(j >= n_states)][
                i - n_states * (i >= n_states), j - n_states * (j >= n_states)
            ]
            for i, j in np.argwhere(plan.dependent)
        }

    def _matrix(self, plan: Plan, rows: slice, columns: slice) -> np.ndarray:
        constant, depends = plan.constant[rows, columns], plan.dependent[rows, columns]
        n = math.prod(self.shape)
        if not depends.any():
            return np.broadcast_to(constant[:, :, None], (*constant.shape, n))
        out = np.empty((*constant.shape, n))
        for i, j in np.argwhere(~depends):
            out[i, j] = constant[i, j]
        return out

    def values(self) -> Values:
        """The arrays in the shape of the grid."""
        A, B, C, D = (
            np.moveaxis(self.parts[k].reshape(*self.parts[k].shape[:2], *self.shape), (0, 1), (-2, -1))
            for k in ((0, 0), (0, 1), (1, 0), (1, 1))
        )
        return StateSpaceArrays(A, B, C, D) if self.n_states else D


class _Nodes:
    """The program's values at the nodes of all axes, and how they spread over the grid."""

    def __init__(self, plan: Plan, grid: Grid, axes: list[_Axis], values: np.ndarray) -> None:
        self.plan, self.grid, self.axes, self.nodal = plan, grid, axes, values
        self.order = sorted(range(len(axes)), key=lambda k: len(axes[k].nodes), reverse=True)

    @classmethod
    def of(cls, a: LFTData, grid: Grid) -> _Nodes | None:
        """None where nodes do not pay or cannot be had."""
        plan = plan_for(a, list(grid.delta.values()), grid.size)
        if plan is None or plan.program.core_size:
            return None
        names = [b.name for b in grid.a.structure.blocks]
        if any(_meets_pole(plan, names.index(k), grid.delta[k]) for k in grid.names):
            return None
        axes = [_axis(plan, names.index(k), grid.delta[k]) for k in grid.names]
        count = math.prod(len(axis.nodes) for axis in axes)
        if count > NODE_SHARE * grid.size:
            return None
        shape = tuple(len(axis.nodes) for axis in axes)
        delta = np.empty((len(names), count))
        for row, name in zip(delta, names, strict=True):
            k = grid.names.index(name) if name in grid.names else None
            row[:] = grid.delta[name] if k is None else _along(axes[k].nodes, k, shape)
        values, bad = [], False
        for start in range(0, count, plan.points):
            value, suspicious = plan.inner(delta[:, start : start + plan.points])
            values.append(value.reshape(-1, value.shape[2]))
            bad = bad or bool(suspicious.any())
        return None if bad else cls(plan, grid, axes, np.hstack(values).reshape(-1, *shape))

    def storage(self, shape: tuple[int, ...]) -> _Storage:
        """Space for a grid or a part of it."""
        return _Storage(self.plan, self.grid.a.n_states, shape)

    @single_threaded
    def values_of(self, part: tuple[slice, ...]) -> Values:
        """Values at a part of the grid."""
        store = self.storage(self.grid.shape_of(part))
        self.write(part, store, start=0)
        return store.values()

    def write(self, part: tuple[slice, ...], store: _Storage, start: int | None = None) -> None:
        """Write a part whose points follow each other in the grid, from its first one (or from ``start``) on."""
        value, plan = self.nodal, self.plan
        for k in self.order:
            value = _spread(self.axes[k].matrix[part[k]], value, k + 1)
        flat = value.reshape(len(value), -1)
        first = start if start is not None else self.grid.number_of(part)
        shape = (len(plan.program.columns), len(plan.program.rows))
        step = int(np.clip(BATCH // (len(flat) + len(store.places)), 16, MOST_POINTS))
        for i in range(0, flat.shape[1], step):
            inner = flat[:, i : i + step].reshape(*shape, -1)
            n = inner.shape[2]
            bad = plan.outer(inner, {k: v[first + i : first + i + n] for k, v in store.places.items()})
            if bad.any():
                self._again(part, i + np.flatnonzero(bad), store, first)

    def _again(self, part: tuple[slice, ...], where: np.ndarray, store: _Storage, first: int) -> None:
        """Suspicious points are solved directly."""
        values, delta, _ = self.grid.points(part)
        out, bad = solve_points(self.grid.a, [d[where] if d.ndim else d for d in delta], len(where))
        if bad is not None:
            raise IllPosedError(singular_message(self.grid.a, values, int(where[bad])))
        for (i, j), place in store.places.items():
            place[first + where] = out[:, i, j]


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


def _meets_pole(plan: Plan, block: int, delta: np.ndarray) -> bool:
    """Whether a point of an axis is so near a pole that the value may not exist there."""
    x = delta / plan.scale[block]
    return any(bool(np.any(np.abs(1 - p * x) < POLE)) for p in plan.program.poles(block))


def _denominator(poles: list[complex], x: np.ndarray) -> np.ndarray:
    out = np.ones_like(x)
    for p in poles:
        out *= (1 - p.real * x) ** 2 + (p.imag * x) ** 2 if p.imag else 1 - p.real * x
    return out
