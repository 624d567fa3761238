"""One axis of a grid: the program's values at all of its points from those at some nodes.

As functions of one delta the values lie in the space of ``polynomial of degree D / d(delta)``, ``d`` the product of
``(1 - lambda delta)`` over the parameter's layers: D + 1 nodes give all of them exactly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from lftgen.lft.evaluation.plan import Plan
from lftgen.lft.evaluation.program import POLE


@dataclass(frozen=True)
class Axis:
    """From the values at some nodes to those at all points of an axis: ``matrix`` (points, nodes)."""

    nodes: np.ndarray
    matrix: np.ndarray


def axis_of(plan: Plan, block: int, delta: np.ndarray) -> Axis:
    """Nodes of one axis; the axis itself where it has no more points than that."""
    poles = plan.program.poles(block)
    degree = sum(1 + (p.imag != 0) for p in poles)
    x = delta / plan.scale[block]
    if degree + 1 >= len(x) or not len(x):
        return Axis(delta, np.eye(len(x)))
    low, high = x.min(), x.max()
    angles = (2 * np.arange(degree + 1) + 1) * np.pi / (2 * degree + 2)
    nodes = (low + high) / 2 + (high - low) / 2 * np.cos(angles)
    matrix = np.ones((len(x), degree + 1))
    for i, node in enumerate(nodes):  # Lagrange's polynomials on Chebyshev nodes
        for j, other in enumerate(nodes):
            if i != j:
                matrix[:, i] *= (x - other) / (node - other)
    matrix *= _denominator(poles, nodes) / _denominator(poles, x)[:, None]
    return Axis(nodes * plan.scale[block], matrix)


def meets_pole(plan: Plan, block: int, delta: np.ndarray) -> bool:
    """Whether a point of an axis is so near a pole that the value may not exist there."""
    x = delta / plan.scale[block]
    return any(bool(np.any(np.abs(1 - p * x) < POLE)) for p in plan.program.poles(block))


def _denominator(poles: list[complex], x: np.ndarray) -> np.ndarray:
    out = np.ones_like(x)
    for p in poles:
        out *= (1 - p.real * x) ** 2 + (p.imag * x) ** 2 if p.imag else 1 - p.real * x
    return out


def spread(matrix: np.ndarray, value: np.ndarray, axis: int, out: np.ndarray | None = None) -> np.ndarray:
    """Product with a matrix (points, nodes) along one axis, into C-contiguous ``out`` where it is given."""
    before, after = math.prod(value.shape[:axis]), math.prod(value.shape[axis + 1 :])
    shape = (*value.shape[:axis], len(matrix), *value.shape[axis + 1 :])
    if after == 1:
        flat = None if out is None else out.reshape(before, -1)
        return np.matmul(value.reshape(before, -1), matrix.T, out=flat).reshape(shape)
    cube = None if out is None else out.reshape(before, -1, after)
    return np.matmul(matrix, value.reshape(before, -1, after), out=cube).reshape(shape)
