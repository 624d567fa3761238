"""Which entries of A, B, C, D depend on which parameter."""

from __future__ import annotations

import numpy as np

from lftgen.errors import IllPosedError
from lftgen.lft.data import LFTData
from lftgen.lft.evaluation import evaluate_ports, numeric
from lftgen.lft.sensitivity import sensitivity

THRESHOLD = 1e-9
"""A derivative counts where the change it makes over the range exceeds this, relative to the entry's row."""


ZERO_ROW = 1e-9
"""A row whose entries are all below this, relative to the largest of all, is zero but for rounding."""


def dependence(a: LFTData, points: int = 3, seed: int = 1) -> dict[str, list[tuple[str, str]]]:
    """For each parameter the (row, column) pairs of ``[A B; C D]`` that it changes, by name.

    Rows are derivatives of states (named by the state) and outputs, columns states and inputs.  Decided by exact
    derivatives at random points of the box.
    """
    a = numeric(a)
    rng = np.random.default_rng(seed)
    parameters = [b.parameter for b in a.structure.blocks if b.parameter is not None]
    change: dict[str, np.ndarray] = {}
    scale = np.zeros((0, 0))
    for _ in range(points):
        point = {p.name: rng.uniform(p.lower, p.upper) for p in parameters}
        try:
            s, value = sensitivity(a, point), np.abs(evaluate_ports(a, point)[0])
        except IllPosedError:
            continue
        scale = value if not scale.size else np.maximum(scale, value)
        for p in parameters:
            d = np.abs(np.block([[s.A[p.name], s.B[p.name]], [s.C[p.name], s.D[p.name]]])) * (
                p.upper - p.lower
            )
            change[p.name] = np.maximum(change.get(p.name, 0.0), d)
    rows = [*a.structure.states, *a.outputs]
    columns = [*a.structure.states, *a.inputs]
    largest = float(scale.max(initial=0.0)) or 1.0
    reference = np.maximum(scale.max(axis=1, keepdims=True, initial=0.0), ZERO_ROW * largest)
    return {
        name: [(rows[i], columns[j]) for i, j in np.argwhere(d > THRESHOLD * reference)]
        for name, d in change.items()
    }
