"""Tensor grids: one parameter after the other, so that a grid costs far less than its points one by one.

Where the model (with some ports exchanged) is in layers without a core, the poles of each parameter are fixed numbers,
whatever the others are.  Its values at a few nodes of each axis therefore give those at all points of the grid exactly
(``axes``), by one constant matrix for each axis, and the exchange is undone at each point (``nodes``).  Other models are
evaluated point by point.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from lftgen.errors import IllPosedError, ParameterError
from lftgen.lft.data import LFTData
from lftgen.lft.evaluation.many import plan_for, through
from lftgen.lft.evaluation.nodes import Nodes
from lftgen.lft.evaluation.points import StateSpaceArrays, arrays_of, singular_message, solve_points
from lftgen.lft.evaluation.tensor import Grid, Part, grid_of, parts
from lftgen.lft.threads import single_threaded

CHUNK_POINTS = 100_000
"""Points of a chunk unless asked otherwise."""

Values = StateSpaceArrays | np.ndarray
"""A, B, C, D; one array where there are no states."""


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
    nodes = Nodes.of(a, grid)
    return _point_by_point(a, grid, grid.whole) if nodes is None else nodes.values_of(grid.whole)


def grid_chunks(
    a: LFTData, values: Mapping[str, Any], *, points: int = CHUNK_POINTS, extrapolate: bool = False
) -> Iterator[tuple[Part, Values]]:
    """The grid in pieces of at most about ``points`` points: (slices of the axes, values there), memory stays bounded."""
    if not isinstance(points, (int, np.integer)) or isinstance(points, bool) or points < 1:
        raise ParameterError(f"points: expected a positive whole number of points in a chunk, got {points!r}")
    return _chunks(a, grid_of(a, values, extrapolate=extrapolate), int(points))


def _chunks(a: LFTData, grid: Grid, points: int) -> Iterator[tuple[Part, Values]]:
    nodes = Nodes.of(a, grid)
    for part in parts(grid.shape, points):
        yield part, _point_by_point(a, grid, part) if nodes is None else nodes.values_of(part)


@single_threaded
def _point_by_point(a: LFTData, grid: Grid, part: Part) -> Values:
    values, delta, n = grid.points(part)
    plan = plan_for(a, delta, n)
    out, bad = solve_points(grid.a, delta, n) if plan is None else through(plan, grid.a, delta, n)
    if bad is not None:
        raise IllPosedError(singular_message(grid.a, values, bad))
    return arrays_of(grid.a, out.reshape(*grid.shape_of(part), *out.shape[1:]))
