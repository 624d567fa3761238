"""A grid from the program's values at the nodes of all axes.

Undoing an exchange of ports is linear in all values but those of the corner and of what multiplies its inverse.  Axes on
which these do not depend (the mass matrix of an arm does not know the angle of its first joint) come last: the exchange
is undone at their nodes alone, and one product spreads the result.  Along the other axes values are spread block by block
in the processor's cache and go through the exchange at once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lftgen.errors import IllPosedError
from lftgen.lft.data import LFTData
from lftgen.lft.evaluation.axes import Axis, axis_of, meets_pole, spread
from lftgen.lft.evaluation.exchange import Target
from lftgen.lft.evaluation.many import plan_for
from lftgen.lft.evaluation.plan import BATCH, MOST_POINTS, Plan
from lftgen.lft.evaluation.points import StateSpaceArrays, singular_message, solve_points
from lftgen.lft.evaluation.storage import Storage
from lftgen.lft.evaluation.tensor import Grid, Part
from lftgen.lft.threads import single_threaded

NODE_SHARE = 0.3
"""Nodes are used where they are at most this share of the points."""
CONSTANT = 1e-14
"""A value that changes by less than this along an axis, relative to its size, does not depend on it: rounding makes
1e-15 of a constant, and what depends on a parameter changes by 1e-4 or more."""
LINEAR_SHARE = 0.25
"""An axis comes last where its nodes are at most this share of its points: what is held beside the result is so small."""


@dataclass(frozen=True)
class Nodes:
    """The program's values at the nodes of all axes, and how they spread over the grid.

    Attributes
    ----------
    nodal : ndarray (values, nodes of each axis)
    last : ndarray of bool (axes,)
        Axes along which the model's own ports are spread.
    """

    plan: Plan
    grid: Grid
    axes: tuple[Axis, ...]
    nodal: np.ndarray
    last: np.ndarray

    @classmethod
    def of(cls, a: LFTData, grid: Grid) -> Nodes | None:
        """None where nodes do not pay or cannot be had."""
        plan = plan_for(a, list(grid.delta.values()), grid.size)
        if plan is None or plan.program.core_size:
            return None
        names = [b.name for b in grid.a.structure.blocks]
        if any(meets_pole(plan, names.index(k), grid.delta[k]) for k in grid.names):
            return None
        axes = tuple(axis_of(plan, names.index(k), grid.delta[k]) for k in grid.names)
        if math.prod(len(axis.nodes) for axis in axes) > NODE_SHARE * grid.size:
            return None
        nodal = _at_nodes(plan, grid, axes)
        return None if nodal is None else cls(plan, grid, axes, nodal, _last(plan, axes, nodal))

    @single_threaded
    def values_of(self, part: Part) -> StateSpaceArrays | np.ndarray:
        """Values at a part of the grid."""
        shape = self.grid.shape_of(part)
        store = Storage(self.plan, self.grid.a.n_states, shape)
        matrices = [axis.matrix[p] for axis, p in zip(self.axes, part, strict=True)]
        if not self.last.any():
            bad = self._outer(matrices, store.places)
        else:
            some = tuple(m.shape[last] for m, last in zip(matrices, self.last.astype(int), strict=True))
            inner = np.empty((len(store.places), *some))
            kept = [None if last else m for m, last in zip(matrices, self.last, strict=True)]
            bad = self._outer(kept, {k: v.reshape(-1) for k, v in zip(store.places, inner, strict=True)})
            for place, value in zip(store.places.values(), inner, strict=True):
                self._spread_last(matrices, value, place)
        if bad is not None:
            there = bad.any(axis=tuple(np.flatnonzero(self.last)), keepdims=True)
            self._again(part, np.flatnonzero(np.broadcast_to(there, shape)), store.places)
        return store.values()

    def _outer(self, matrices: Sequence[np.ndarray | None], target: Target) -> np.ndarray | None:
        """The model's ports at all points along the axes that have a matrix, at the nodes of the others.

        Returns which points are suspicious (points of each axis), None where none is.
        """
        shape = tuple(self.nodal.shape[1 + k] if m is None else len(m) for k, m in enumerate(matrices))
        if self.plan.exchange is None and all(m is None for m in matrices):
            for port, out in target.items():
                out[:] = self.nodal[self.plan.place[port]].reshape(-1)
            return None
        bad = np.zeros(math.prod(shape), dtype=bool)
        step = int(np.clip(BATCH // (len(self.nodal) + len(target)), 16, MOST_POINTS))
        split = next(k for k in range(len(shape)) if math.prod(shape[k + 1 :]) <= step)
        rest = math.prod(shape[split + 1 :])
        rows = matrices[split]
        first, count = 0, max(1, step // rest)
        for lead in np.ndindex(*shape[:split]):
            stage = self._stage(matrices, split, lead)
            for i in range(0, shape[split], count):
                some = slice(i, min(i + count, shape[split]))
                inner = stage[:, some] if rows is None else spread(rows[some], stage, 1)
                there = slice(first, first + (some.stop - some.start) * rest)
                local = {k: v[there] for k, v in target.items()}
                bad[there] = self.plan.outer(inner.reshape(len(inner), -1), local)
                first = there.stop
        return bad.reshape(shape) if bad.any() else None

    def _stage(self, matrices: Sequence[np.ndarray | None], split: int, lead: tuple[int, ...]) -> np.ndarray:
        """Values at one point along the axes before ``split`` and all points of those after it; most nodes first."""
        value = self.nodal
        for k, i in enumerate(lead):
            rows = matrices[k]
            one = slice(i, i + 1)
            value = value.take([i], axis=k + 1) if rows is None else spread(rows[one], value, k + 1)
        for k in sorted(range(split + 1, len(matrices)), key=lambda k: -self.nodal.shape[1 + k]):
            rows = matrices[k]
            value = value if rows is None else spread(rows, value, k + 1)
        return value.reshape(len(value), self.nodal.shape[1 + split], -1)

    def _spread_last(self, matrices: list[np.ndarray], value: np.ndarray, place: np.ndarray) -> None:
        """One port from the nodes of the axes that come last to all points; the axis with most points a node at the end."""
        order = sorted(np.flatnonzero(self.last), key=lambda k: len(matrices[k]) / value.shape[k])
        for k in order:
            rows, first = matrices[k], value.take([0], axis=k)
            if np.all(value == first):
                rows, value = np.ones((len(rows), 1)), first
            value = spread(rows, value, int(k), place if k == order[-1] else None)

    def _again(self, part: Part, where: np.ndarray, target: Target) -> None:
        """Suspicious points are solved directly."""
        values, delta, n = self.grid.points(part, where)
        out, bad = solve_points(self.grid.a, delta, n)
        if bad is not None:
            raise IllPosedError(singular_message(self.grid.a, values, bad))
        for (i, j), place in target.items():
            place[where] = out[:, i, j]


def _at_nodes(plan: Plan, grid: Grid, axes: tuple[Axis, ...]) -> np.ndarray | None:
    """The program's values at all nodes, (values, nodes of each axis); None where one of them is suspicious."""
    blocks = grid.a.structure.blocks
    shape = tuple(len(axis.nodes) for axis in axes)
    delta = np.empty((len(blocks), *shape))
    for row, block in zip(delta, blocks, strict=True):
        k = grid.names.index(block.name) if block.name in grid.names else None
        along = [-1 if i == k else 1 for i in range(len(shape))]
        row[:] = grid.delta[block.name] if k is None else axes[k].nodes.reshape(along)
    flat, values = delta.reshape(len(blocks), -1), []
    for start in range(0, flat.shape[1], plan.points):
        value, suspicious = plan.inner(flat[:, start : start + plan.points])
        if suspicious.any():
            return None
        values.append(value.reshape(-1, value.shape[2]))
    return np.hstack(values).reshape(-1, *shape)


def _last(plan: Plan, axes: tuple[Axis, ...], nodal: np.ndarray) -> np.ndarray:
    """Axes that can and should come last."""
    if plan.exchange is None:
        return np.ones(len(axes), dtype=bool)
    rows = np.flatnonzero(plan.dependent.any(axis=1))
    used = plan.place[np.ix_(rows, np.array(plan.exchange.columns))]
    values = nodal[np.unique(used[used >= 0])]
    size = np.abs(values).max(axis=tuple(range(1, nodal.ndim)), keepdims=True)
    small = [len(axis.nodes) <= LINEAR_SHARE * len(axis.matrix) for axis in axes]
    changes = [np.abs(values - values.take([0], axis=k + 1)) > CONSTANT * size for k in range(len(axes))]
    return np.array([s and not c.any() for s, c in zip(small, changes, strict=True)])
