"""Pieces of the non-smooth functions of a design, each with its exact gradient by the controller's variables.

The H-infinity norm of a loop is the largest of infinitely many functions: one for every frequency and every pair of
unit vectors p, q: ``Re p* T(jw) q``.  At a peak with singular vectors u, v its subgradient is
``Re u* G12 dS G21 v`` (P. Apkarian, D. Noll, IEEE Trans. Automatic Control 51 (2006) 71-86, section III).  Where two
singular values are close, sums and differences of their vectors give further pieces, so that the model of the
function also knows how the two mix.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lftgen.analysis.design.loops import LoopStack, transfers

MIXING = 0.8
"""A second singular value above this fraction of the first gives pieces of its own and mixed ones."""
_MIXES = ((1, 0), (0, 1), (1, 1), (1, -1), (1, 1j), (1, -1j))


@dataclass(frozen=True, eq=False)
class Pieces:
    """Values (P,), their models and frequencies (P,), and sensitivities to S (P, r, c): dS adds ``sum(gamma * dS)``."""

    value: np.ndarray
    model: np.ndarray
    omega: np.ndarray
    gamma: np.ndarray

    def take(self, index: np.ndarray) -> Pieces:
        """Some of the pieces."""
        return Pieces(self.value[index], self.model[index], self.omega[index], self.gamma[index])


def gain_pieces(loop: LoopStack, model: np.ndarray, omega: np.ndarray, mixed: bool = True) -> Pieces:
    """Pieces of the norm at pairs (model, frequency): one for the largest singular value, more where the next is close."""
    T, G12, G21 = transfers(loop, model, omega)
    U, s, Vh = np.linalg.svd(T, full_matrices=False)
    V = np.conj(np.swapaxes(Vh, 1, 2))
    parts = [_piece(G12, G21, U[:, :, 0], V[:, :, 0], s[:, 0], model, omega)]
    if mixed and s.shape[1] > 1:
        close = np.flatnonzero(s[:, 1] > MIXING * s[:, 0])
        for a, b in _MIXES[1:] if len(close) else ():
            scale = np.sqrt(abs(a) ** 2 + abs(b) ** 2)
            p = (a * U[close, :, 0] + b * U[close, :, 1]) / scale
            q = (a * V[close, :, 0] + b * V[close, :, 1]) / scale
            value = (abs(a) ** 2 * s[close, 0] + abs(b) ** 2 * s[close, 1]) / scale**2
            parts.append(_piece(G12[close], G21[close], p, q, value, model[close], omega[close]))
    return Pieces(
        *(np.concatenate([getattr(x, k) for x in parts]) for k in ("value", "model", "omega", "gamma"))
    )


def _piece(
    G12: np.ndarray,
    G21: np.ndarray,
    p: np.ndarray,
    q: np.ndarray,
    value: np.ndarray,
    model: np.ndarray,
    omega: np.ndarray,
) -> Pieces:
    left = np.einsum("pi,pir->pr", np.conj(p), G12)
    right = np.einsum("pcj,pj->pc", G21, q)
    return Pieces(value, model, omega, np.real(left[:, :, None] * right[:, None, :]))


def pole_pieces(loop: LoopStack, model: np.ndarray, within: float, most: int = 6) -> Pieces:
    """Real parts of the rightmost poles of some loops, down to ``within`` below the rightmost of all."""
    values, right = np.linalg.eig(loop.A[model])
    left = np.linalg.inv(right)  # rows: left eigenvectors, scaled so that left right = I
    floor = np.max(values.real) - within
    rows, columns = np.nonzero((values.real >= floor) & (values.imag >= 0))
    order = np.argsort(-values.real[rows, columns], kind="stable")[: most * 8]
    i, k = rows[order], columns[order]
    p = np.einsum("pi,pir->pr", left[i, k, :], loop.B2[model[i]])
    q = np.einsum("pci,pi->pc", loop.C2[model[i]], right[i, :, k])
    return Pieces(
        values.real[i, k], model[i], np.abs(values.imag[i, k]), np.real(p[:, :, None] * q[:, None, :])
    )
