"""Can all order bounds be met at once?  Exact obstructions for parameters of bound one; here a real one for two.

With one repetition of x and one of y, a scalar LFT is fixed by the principal minors of its 3 x 3 matrix M:

    det(I - M11 Delta) = 1 - m1 x - m2 y + m12 x y,      numerator = m3 - m13 x - m23 y + m123 x y

Products of opposite entries follow, ``p12 = m1 m2 - m12`` and so on, and with them the sum S and the product
``P = p12 p13 p23`` of the two 3-cycles of M.  These are real exactly where ``S^2 >= 4 P``.  The matrix of a model with
both bounds met would give such an M for each of its entries, the other parameters frozen.

The other obstruction, of two parameters or more, is in :mod:`lftgen.lft.reduction.common_order`.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lftgen.lft.data import LFTData
from lftgen.lft.evaluation import numeric
from lftgen.lft.reduction.balancing import ScalarLFT, scaled_to_unit_range
from lftgen.lft.reduction.common_order import without_common_order
from lftgen.lft.reduction.kalman import scalar_lft

CLEAR = 1e-6
"""S^2 must be below 4 P by this, relative to their size, or nothing is claimed."""
_POINTS = 24
_MIXTURES = 4


@dataclass(frozen=True)
class Obstruction:
    """Parameters of bound one that cannot all have one repetition, and why."""

    names: tuple[str, ...]
    reason: str


def obstructions(a: LFTData, bounds: Mapping[str, int]) -> list[Obstruction]:
    """What proves that the sum of the bounds cannot be met; empty where nothing does."""
    if a.field.symbols:
        return []
    s, _ = scaled_to_unit_range(scalar_lft(numeric(a)))
    names = [b.name for b in a.structure.blocks if b.is_scalar]
    single = [k for k, name in enumerate(names) if bounds.get(name) == 1 and s.low[k] < s.high[k]]
    found = {}
    for some in without_common_order(s, single):
        told = ", ".join(names[k] for k in some[:-1])
        reason = f"one repetition each of {told} and {names[some[-1]]} would need a common order of them with ranks of one"
        found[some] = Obstruction(tuple(names[k] for k in some), reason)
    for i, j in itertools.combinations(single, 2):
        margin = _margin(s, i, j) if (i, j) not in found else 0.0
        if margin < -CLEAR:
            found[i, j] = Obstruction(
                (names[i], names[j]),
                f"one repetition each of {names[i]} and {names[j]} would need a matrix with complex entries "
                f"(principal minors: S^2 - 4P = {margin:.2g} of their size, must not be negative)",
            )
    return list(found.values())


def excess(found: Sequence[Obstruction]) -> int:
    """Fewest parameters above their bounds that leave no obstruction: one of each must be."""
    names = sorted({name for o in found for name in o.names})
    for count in range(len(names) + 1):
        for some in itertools.combinations(names, count):
            if all(set(o.names) & set(some) for o in found):
                return count
    return 0


def _margin(s: ScalarLFT, i: int, j: int) -> float:
    """The smallest ``(S^2 - 4 P)/(S^2 + 4 |P|)`` over the entries and some mixtures of them; 0 where none is decided."""
    rng = np.random.default_rng(4)
    points = np.zeros((_POINTS, len(s.groups)))
    for k in (i, j):
        points[:, k] = rng.uniform(s.low[k], s.high[k], _POINTS) * 0.9
    try:
        values = s.change(points) + s.pp
    except np.linalg.LinAlgError:
        return 0.0
    x, y = points[:, i], points[:, j]
    functions = [values[:, r, c] for r in range(values.shape[1]) for c in range(values.shape[2])]
    for _ in range(_MIXTURES):
        left, right = rng.standard_normal(values.shape[1]), rng.standard_normal(values.shape[2])
        functions.append(np.einsum("nrc,r,c->n", values, left, right))
    return min((_of_function(f, x, y) for f in functions), default=0.0)


def _of_function(f: np.ndarray, x: np.ndarray, y: np.ndarray) -> float:
    basis = np.stack([np.ones_like(x), x, y, x * y], axis=1)
    size = float(np.max(np.abs(f)))
    if size == 0.0:
        return 0.0
    f = f / size
    _, values, vt = np.linalg.svd(np.hstack([basis, -f[:, None] * basis]))
    if values[-1] > 1e-10 * values[0] or values[-2] < 1e-6 * values[0]:
        return 0.0  # not bilinear over bilinear, or of lower degree
    n, d = vt[-1, :4], vt[-1, 4:]
    if abs(d[0]) < 1e-6 * np.max(np.abs(d)):
        return 0.0
    n, d = n / d[0], d / d[0]
    m1, m2, m12, m3, m13, m23, m123 = -d[1], -d[2], d[3], n[0], -n[1], -n[2], n[3]
    p12, p13, p23 = m1 * m2 - m12, m1 * m3 - m13, m2 * m3 - m23
    S, P = m123 - m1 * m2 * m3 + m1 * p23 + m2 * p13 + m3 * p12, p12 * p13 * p23
    size = max(1.0, float(np.max(np.abs([*n, *d]))))
    if min(abs(p12), abs(p13), abs(p23)) < CLEAR * size**2:
        return (
            0.0  # a product of opposite entries is zero or lost in rounding: no 3-cycles, nothing to obstruct
        )
    return float((S * S - 4 * P) / (S * S + 4 * abs(P)))
