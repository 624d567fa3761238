"""Exact derivatives of an LFT by its parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from lftgen.errors import IllPosedError, ParameterError
from lftgen.lft.data import LFTData
from lftgen.lft.evaluation import delta_matrices, deltas, evaluate_ports, numeric, ports
from lftgen.lft.structure import DeltaBlock
from lftgen.lft.threads import single_threaded

EQUAL = 1e-9
"""Poles nearer than this, relative to the largest, count as one repeated pole."""
DEFECTIVE = 1e-7
"""Left and right eigenvectors whose product is smaller than this belong to a defective pole."""


@dataclass(frozen=True)
class Sensitivity:
    """Exact derivatives at one point, by parameter, per unit of the parameter's own unit.

    Attributes
    ----------
    A, B, C, D : dict of str to ndarray
        Derivative of each matrix by the parameter of that name (for a static LFT only D is not empty).
    pole_values : ndarray
        The poles at the point.
    """

    A: dict[str, np.ndarray]
    B: dict[str, np.ndarray]
    C: dict[str, np.ndarray]
    D: dict[str, np.ndarray]
    pole_values: np.ndarray
    _left: np.ndarray
    _right: np.ndarray

    @property
    def poles(self) -> dict[str, np.ndarray]:
        """Derivative of each pole: ``y^H A' x / y^H x`` with left and right eigenvectors.

        Where k poles are equal and have k eigenvectors, the derivatives are the eigenvalues of
        ``(Y^H X)^-1 Y^H A' X``, by increasing real part (each parameter splits them along its own directions).

        Raises
        ------
        IllPosedError
            A pole is defective (a repeated pole without enough eigenvectors), so it has no derivative.
        """
        out = {k: np.zeros(len(self.pole_values), dtype=complex) for k in self.A}
        for group in self._equal_poles():
            left, right = self._left[:, group].conj().T, self._right[:, group]
            scale = left @ right
            if np.linalg.svd(scale, compute_uv=False)[-1] < DEFECTIVE:
                raise IllPosedError(
                    f"the pole {self.pole_values[group[0]]:.6g} is defective (repeated without enough "
                    "eigenvectors): it has no derivative there"
                )
            for k, dA in self.A.items():
                rates = np.linalg.solve(scale, left @ dA @ right)
                out[k][group] = rates[0] if len(group) == 1 else np.sort_complex(np.linalg.eigvals(rates))
        return out

    def _equal_poles(self) -> list[list[int]]:
        """Positions of poles that are equal to rounding."""
        groups: list[list[int]] = []
        size = max(float(np.max(np.abs(self.pole_values), initial=0.0)), 1e-300)
        for i, pole in enumerate(self.pole_values):
            near = (g for g in groups if abs(self.pole_values[g[0]] - pole) <= EQUAL * size)
            group = next(near, None)
            if group is None:
                groups.append([i])
            else:
                group.append(i)
        return groups


@single_threaded
def sensitivity(a: LFTData, values: Mapping[str, Any], *, extrapolate: bool = False) -> Sensitivity:
    """Derivatives of A, B, C, D and of the poles by each parameter at one point.

    From the LFT itself: ``dF = M21 (I - Delta M11)^-1 dDelta (I - M11 Delta)^-1 M12``.
    """
    a = numeric(a)
    count, delta = deltas(a, values, extrapolate=extrapolate)
    if count is not None:
        raise ParameterError("sensitivity is taken at one point; give one number for each parameter")
    at = evaluate_ports(a, values, extrapolate=extrapolate)[0]
    p, s, n = ports(a), a.structure, a.n_states
    D = delta_matrices(s.blocks, delta, 1)[0]
    right = np.linalg.solve(np.eye(p.dd.shape[0]) - p.dd @ D, p.dp)
    left = np.linalg.solve((np.eye(p.dd.shape[1]) - D @ p.dd).T, p.pd.T).T
    derivative = {}
    for block, rows, columns in zip(s.blocks, s.row_slices(), s.column_slices(), strict=True):
        if block.parameter is not None:
            z, w = slice(rows.start - n, rows.stop - n), slice(columns.start - n, columns.stop - n)
            rate = _delta_rate(block, values.get(block.name, block.parameter.nominal))
            derivative[block.name] = left[:, w] @ right[z] * rate
    poles, left_vectors, right_vectors = (
        scipy.linalg.eig(at[:n, :n], left=True, right=True) if n else _NO_POLES
    )
    return Sensitivity(
        A={k: d[:n, :n] for k, d in derivative.items()},
        B={k: d[:n, n:] for k, d in derivative.items()},
        C={k: d[n:, :n] for k, d in derivative.items()},
        D={k: d[n:, n:] for k, d in derivative.items()},
        pole_values=poles,
        _left=left_vectors,
        _right=right_vectors,
    )


_NO_POLES = np.zeros(0), np.zeros((0, 0)), np.zeros((0, 0))


def _delta_rate(block: DeltaBlock, value: float) -> float:
    """d delta / d value in the parameter's own unit."""
    p = block.parameter
    assert p is not None
    x = float(p.to_coordinate(value))
    dx = (1 + x * x) / p.chart_divisor * float(p.to_radians(1.0)) if p.is_angle else 1.0
    m = block.map
    return dx * m.scale / (m.scale - m.skew * (x - m.origin)) ** 2
