"""A controller matrix from a certificate: ``Q + U K V + (U K V)^T < 0`` solved in closed form.

With ``W = (rho U U^T - Q)^-1 > 0`` for a rho large enough, ``K = -rho U^T W V^T (V W V^T)^-1`` solves the inequality
whenever it has a solution (T. Iwasaki, R. Skelton, "All controllers for the general H-infinity control problem: LMI
existence conditions and state space formulas", Automatica 30, 1994).
"""

from __future__ import annotations

import numpy as np

RANK = 1e-12
RHOS = np.geomspace(1e-1, 1e12, 53)


def solve_inequality(Q: np.ndarray, U: np.ndarray, V: np.ndarray) -> tuple[np.ndarray, float]:
    """K and the largest eigenvalue that is left; of all rho of a geometric row the one that leaves the least is taken.

    U and V go through their singular value decompositions, so that only directions that matter are used.
    """
    left, right = _Directions(U), _Directions(V.T)
    best: tuple[np.ndarray, float] = (np.zeros((U.shape[1], V.shape[0])), np.inf)
    for rho in RHOS * float(np.linalg.norm(Q, 2)):
        inner = rho * left.basis @ left.basis.T - Q
        values, vectors = np.linalg.eigh((inner + inner.T) / 2)
        if values[0] <= 0:
            continue
        root = (vectors / np.sqrt(values)).T  # W = root^T root
        K = -rho * (root @ left.basis).T @ np.linalg.pinv((root @ right.basis).T)
        rest = Q + left.basis @ K @ right.basis.T
        rest = rest + (left.basis @ K @ right.basis.T).T
        top = float(np.linalg.eigvalsh((rest + rest.T) / 2)[-1])
        if top < best[1]:
            best = (left.back @ K @ right.back.T, top)
    return best


class _Directions:
    """Orthonormal basis of a matrix's range, and what leads from its coordinates back to the matrix's columns."""

    def __init__(self, matrix: np.ndarray) -> None:
        u, s, vt = np.linalg.svd(matrix, full_matrices=False)
        keep = s > RANK * s[0]
        self.basis, self.back = u[:, keep], vt[keep].T / s[keep]


def square_root(P: np.ndarray) -> np.ndarray:
    """Symmetric square root of a positive definite matrix."""
    values, vectors = np.linalg.eigh((P + P.T) / 2)
    return (vectors * np.sqrt(np.maximum(values, 1e-300))) @ vectors.T
