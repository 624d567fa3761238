"""Whether the mass matrix is positive definite in the box: at the nominal, at both ends of each range and at corners."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lftgen.errors import IllPosedError
from lftgen.lft.algebra import select
from lftgen.lft.data import LFTData
from lftgen.lft.evaluation import evaluate_ports

SINGULAR_MASS = 1e-12
"""A mass matrix counts as singular where its smallest eigenvalue is below this, relative to the largest seen."""


def check_mass_matrix(dynamics: LFTData, drives: Sequence[str], accelerations: Sequence[str]) -> None:
    """An IllPosedError that names the point where the mass matrix is not positive definite."""
    rows = [dynamics.outputs.index(n) for n in drives]
    columns = [dynamics.inputs.index(n) for n in accelerations]
    mass = select(dynamics, rows, columns)
    blocks = [b for b in mass.structure.blocks if b.parameter is not None and b.repetitions]
    if mass.field.symbols or not rows:
        return
    largest = 0.0  # at the nominal, which comes first
    for values, point in _test_points([b.parameter for b in blocks if b.parameter is not None]):
        try:
            H = evaluate_ports(mass, values)[0]
        except IllPosedError:
            continue
        eigenvalues = np.linalg.eigvalsh((H + H.T) / 2)
        largest = max(largest, float(eigenvalues[-1]))
        if eigenvalues[0] <= SINGULAR_MASS * largest:
            where = ", ".join(f"{k} = {v:.6g}" for k, v in point.items()) or "the nominal values"
            raise IllPosedError(
                f"the mass matrix is singular or not positive definite at {where} (eigenvalues {eigenvalues[0]:.3g} to "
                f"{eigenvalues[-1]:.3g}): no model exists there; change the range, or give the bodies beyond the joints a mass"
            )


def _test_points(parameters: list) -> list[tuple[dict[str, float], dict[str, float]]]:
    """Values, and the part of them to name in a message: nominal, single ends, some corners."""
    points: list[tuple[dict[str, float], dict[str, float]]] = [({}, {})]
    for p in parameters:
        points += [({p.name: v}, {p.name: v}) for v in p.bounds]
    rng = np.random.default_rng(3)
    for _ in range(min(16, 2 ** len(parameters))):
        corner = {p.name: p.bounds[int(rng.integers(2))] for p in parameters}
        points.append((corner, corner))
    return points
