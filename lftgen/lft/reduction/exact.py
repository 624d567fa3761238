"""The n-D reduction in exact arithmetic: ranks are ranks, no tolerance.

With a column-reduced basis T the rows at its pivots are the identity, so the left inverse of T just picks rows.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lftgen.lft.field import ExactField
from lftgen.lft.reduction.balancing import ScalarLFT
from lftgen.lft.structure import slices_of


def reduced_exactly(a: ScalarLFT, field: ExactField) -> ScalarLFT:
    """Reachable, then observable part, repeated until neither takes anything away."""
    while a.order:
        before = a.order
        for _ in range(2):
            a = _reachable_part(a, field).transposed()
        if a.order == before:
            break
    return a


def _reachable_part(a: ScalarLFT, field: ExactField) -> ScalarLFT:
    bases = [field.column_basis(a.dp[g]) for g in a.groups]
    while True:
        mapped = [field.matmul(a.dd[:, g], t) for g, (t, _) in zip(a.groups, bases, strict=True)]
        grown = []
        for g, (t, pivots) in zip(a.groups, bases, strict=True):
            full = len(pivots) == g.stop - g.start
            columns = np.hstack([t, *(m[g] for m in mapped)])
            grown.append((t, pivots) if full else field.column_basis(columns))
        if [len(p) for _, p in grown] == [len(p) for _, p in bases]:
            break
        bases = grown
    if sum(len(p) for _, p in bases) == a.order:
        return a
    picks = [field.eye(g.stop - g.start)[list(p)] for g, (_, p) in zip(a.groups, bases, strict=True)]
    return _projected(a, picks, [t for t, _ in bases], field)


def _projected(a: ScalarLFT, left: list[np.ndarray], right: list[np.ndarray], field: ExactField) -> ScalarLFT:
    groups = tuple(slices_of(r.shape[1] for r in right))
    n = groups[-1].stop
    L, R = field.zeros(n, a.order), field.zeros(a.order, n)
    for new, old, lk, rk in zip(groups, a.groups, left, right, strict=True):
        L[new, old], R[old, new] = lk, rk
    dd = field.matmul(field.matmul(L, a.dd), R)
    return replace(a, dd=dd, dp=field.matmul(L, a.dp), pd=field.matmul(a.pd, R), groups=groups)
