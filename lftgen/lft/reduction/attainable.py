"""Can all order bounds be met at once?  An exact real obstruction for two parameters of bound one.

With one repetition of x and one of y, a scalar LFT is fixed by the principal minors of its 3 x 3 matrix M:

    det(I - M11 Delta) = 1 - m1 x - m2 y + m12 x y,      numerator = m3 - m13 x - m23 y + m123 x y

Products of opposite entries follow, ``p12 = m1 m2 - m12`` and so on, and with them the sum S and the product
``P = p12 p13 p23`` of the two 3-cycles of M.  These are real exactly where ``S^2 >= 4 P``.  The matrix of a model with
both bounds met would give such an M for each of its entries, the other parameters frozen.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np

from lftgen.lft.data import LFTData
from lftgen.lft.evaluation import numeric
from lftgen.lft.reduction.balancing import ScalarLFT, scaled_to_unit_range
from lftgen.lft.reduction.kalman import scalar_lft

CLEAR = 1e-6
"""S^2 must be below 4 P by this, relative to their size, or nothing is claimed."""
_POINTS = 24
_MIXTURES = 4


def obstruction(a: LFTData, bounds: Mapping[str, int]) -> str:
    """A proof in words that the sum of the bounds cannot be met, or nothing."""
    if a.field.symbols:
        return ""
    s, _ = scaled_to_unit_range(scalar_lft(numeric(a)))
    names = [b.name for b in a.structure.blocks if b.is_scalar]
    single = [k for k, name in enumerate(names) if bounds.get(name) == 1 and s.low[k] < s.high[k]]
    for i, j in itertools.combinations(single, 2):
        margin = _margin(s, i, j)
        if margin < -CLEAR:
            return (
                f"one repetition each of {names[i]} and {names[j]} would need a matrix with complex entries "
                f"(principal minors: S^2 - 4P = {margin:.2g} of their size, must not be negative)"
            )
    return ""


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
    terms = np.abs([m123, m1 * m2 * m3, m1 * p23, m2 * p13, m3 * p12])
    if abs(P) < 1e-9 * float(np.max(terms)) ** 2:
        return 0.0
    return float((S * S - 4 * P) / (S * S + 4 * abs(P)))
