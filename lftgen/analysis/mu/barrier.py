"""Analytic centre of the D, G scalings that certify ``mu < 1``, by Newton's method.

``mu(M) < 1`` follows from D > 0 and G, Hermitian and commuting with the structure (G only for real scalars), with
``D - M* D M - j (G M - M* G) > 0`` (Fan, Tits, Doyle, IEEE TAC 36, 1991).  With ``T = D - j G``, ``U = I - M`` and
``V = I + M`` the left-hand side is

    S(T) = (U* T V + V* T* U) / 2

so that one matrix T holds both scalings, and the Hessian of ``log det S`` has entries that are products of two entries
of three matrices: it is assembled without a loop over the unknowns.  The centre minimises
``-log det S(T) - log det D + |T|^2``; the last term fixes the scale, S being homogeneous in T.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from lftgen.analysis.mu.structure import ScalingBasis

CENTRED = 0.3
"""Newton decrement at which a point counts as central: deep inside is what is wanted, not the centre itself."""
MAX_NEWTON = 60


def hermitian(T: np.ndarray) -> np.ndarray:
    """The Hermitian part."""
    return (T + T.conj().T) / 2


def lmi(T: np.ndarray, U: np.ndarray, V: np.ndarray) -> np.ndarray:
    """``S(T)``: positive definite where T certifies mu < 1."""
    return hermitian(U.conj().T @ T @ V)


@dataclass
class _Point:
    """Value of the barrier at T, with the factors that its derivatives need."""

    T: np.ndarray
    S: np.ndarray
    D: np.ndarray
    chol_s: np.ndarray
    chol_d: np.ndarray


def _point(T: np.ndarray, U: np.ndarray, V: np.ndarray) -> _Point | None:
    S, D = lmi(T, U, V), hermitian(T)
    try:
        return _Point(T, S, D, np.linalg.cholesky(S), np.linalg.cholesky(D))
    except np.linalg.LinAlgError:
        return None


def _solve(hessian: np.ndarray, right: np.ndarray) -> np.ndarray:
    try:
        return linalg.cho_solve(linalg.cho_factor(hessian, check_finite=False), right, check_finite=False)
    except (np.linalg.LinAlgError, ValueError):
        return np.linalg.lstsq(hessian, right, rcond=None)[0]


def _inverse(chol: np.ndarray) -> np.ndarray:
    half = linalg.solve_triangular(chol, np.eye(len(chol)), lower=True, check_finite=False)
    return half.conj().T @ half


class Centring:
    """Newton steps towards the analytic centre for one M (scaled so that mu < 1 is asked)."""

    def __init__(self, M: np.ndarray, basis: ScalingBasis) -> None:
        eye = np.eye(len(M))
        self.U, self.V, self.basis = eye - M, eye + M, basis
        self.norms = basis.norms

    def feasible(self, T: np.ndarray) -> bool:
        """Whether T certifies mu < 1."""
        return _point(T, self.U, self.V) is not None

    def centre(self, T: np.ndarray, steps: int = MAX_NEWTON) -> np.ndarray:
        """A nearly central T from a feasible one.

        Raises
        ------
        ValueError
            T is not feasible.
        """
        T = T * np.sqrt(len(T) / max(np.vdot(T, T).real, 1e-300))
        now = _point(T, self.U, self.V)
        if now is None:
            raise ValueError("the starting scaling is not feasible")
        for _ in range(steps):
            direction, decrement = self._direction(now)
            if not np.isfinite(decrement) or decrement < CENTRED:
                break
            then = self._step(now, direction, decrement)
            if then is None:
                break
            now = then
        return now.T

    def tangent(self, T: np.ndarray, other: Centring, change: float) -> np.ndarray:
        """How the centre moves, per unit, when the problem changes to another one by a small amount."""
        here, there = _point(T, self.U, self.V), _point(T, other.U, other.V)
        if here is None or there is None:
            return np.zeros_like(T)
        gradient, hessian = self._derivatives(here)
        drift = other._gradient(there) - gradient
        return self.basis.scaling(_solve(hessian, -drift / change))

    def _direction(self, p: _Point) -> tuple[np.ndarray, float]:
        gradient, hessian = self._derivatives(p)
        x = _solve(hessian, -gradient)
        return self.basis.scaling(x), float(np.sqrt(max(-gradient @ x, 0.0)))

    def _gradient(self, p: _Point) -> np.ndarray:
        b = self.basis
        a1 = self.V @ _inverse(p.chol_s) @ self.U.conj().T + _inverse(p.chol_d)
        return np.real(b.transposed @ -a1[b.columns, b.rows]) + 2 * self.norms * b.coordinates(p.T)

    def _derivatives(self, p: _Point) -> tuple[np.ndarray, np.ndarray]:
        b = self.basis
        W, Y = _inverse(p.chol_s), _inverse(p.chol_d)
        WU, WV = W @ self.U.conj().T, W @ self.V.conj().T
        a1, a2, a3 = self.V @ WU, self.U @ WU, self.V @ WV
        i, j = b.rows, b.columns
        linear = -(a1 + Y)[j, i]
        ji, jj, ii, yji = np.ix_(j, i), np.ix_(j, j), np.ix_(i, i), Y[np.ix_(j, i)]
        k1 = a1[ji] * a1[ji].T + yji * yji.T
        k2 = a3[jj] * a2[ii].T + Y[jj] * Y[ii].T
        gradient = np.real(b.transposed @ linear) + 2 * self.norms * b.coordinates(p.T)
        hessian = np.real(b.transposed @ (b.transposed @ k1.T).T + b.transposed @ (b.adjoint @ k2.T).T) / 2
        hessian[np.diag_indices_from(hessian)] += 2 * self.norms
        return gradient, hessian

    def _step(self, p: _Point, direction: np.ndarray, decrement: float) -> _Point | None:
        """Exact line search: along a line the barrier is a sum of logarithms."""
        ds, dd = lmi(direction, self.U, self.V), hermitian(direction)
        mu = np.concatenate([_pencil(p.chol_s, ds), _pencil(p.chol_d, dd)])
        square, cross = np.vdot(direction, direction).real, np.vdot(p.T, direction).real
        a = 1 / (1 + decrement)
        for _ in range(8):
            q = mu / (1 + a * mu)
            slope, curve = -q.sum() + 2 * (cross + a * square), (q * q).sum() + 2 * square
            limit = -1 / mu.min() if mu.min() < 0 else np.inf
            new = a - slope / curve
            new = min(max(new, a / 4), (a + 9 * limit) / 10 if np.isfinite(limit) else 4 * a)
            if abs(new - a) < 0.02 * a:
                break
            a = new
        for _ in range(20):
            then = _point(p.T + a * direction, self.U, self.V)
            if then is not None:
                return then
            a /= 2
        return None


def _pencil(chol: np.ndarray, X: np.ndarray) -> np.ndarray:
    half = linalg.solve_triangular(chol, X, lower=True, check_finite=False)
    return np.linalg.eigvalsh(linalg.solve_triangular(chol, half.conj().T, lower=True, check_finite=False))
