"""A tensor grid: its axes, checked, and the delta of every block along them; parts of it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lftgen.errors import ParameterError
from lftgen.lft.data import LFTData
from lftgen.lft.evaluation.points import deltas, numeric

Part = tuple[slice, ...]
"""A box of a grid: first and last point along each axis."""


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

    @property
    def whole(self) -> Part:
        """All of it."""
        return tuple(slice(0, n) for n in self.shape)

    def points(
        self, part: Part, where: np.ndarray | None = None
    ) -> tuple[dict[str, Any], list[np.ndarray], int]:
        """User values, delta of each block and number of the points of a part, last axis fastest; or of some of them."""
        shape = self.shape_of(part)
        numbers = np.arange(math.prod(shape)) if where is None else where
        places = np.unravel_index(numbers, shape) if shape else ()
        values, delta = dict(self.values), dict(self.delta)
        for name, inside, place in zip(self.names, part, places, strict=True):
            for source in (values, delta):
                source[name] = np.asarray(source[name])[inside][place]
        return values, [delta[b.name] for b in self.a.structure.blocks], len(numbers)

    def shape_of(self, part: Part) -> tuple[int, ...]:
        """Numbers of points of a part along the axes."""
        return tuple(len(range(n)[p]) for n, p in zip(self.shape, part, strict=True))


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


def parts(shape: tuple[int, ...], points: int) -> Iterator[Part]:
    """Boxes of at most ``points`` points that cover a grid, whole last axes first, in order."""
    steps: list[int] = []
    left = points
    for n in reversed(shape):
        step = max(1, min(n, left))
        steps.insert(0, step)
        left = left // step if step == n else 1
    cuts = ([slice(i, min(i + s, n)) for i in range(0, n, s)] for n, s in zip(shape, steps, strict=True))
    yield from itertools.product(*cuts)
