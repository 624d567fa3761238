"""H-infinity norms of many loops at once, with the frequencies of their peaks.

Level-set method on the Hamiltonian matrix: S. Boyd, V. Balakrishnan, P. Kabamba, Math. Control Signals Systems 2
(1989) 207-219; N. A. Bruinsma, M. Steinbuch, Systems & Control Letters 14 (1990) 287-293.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lftgen.analysis.design.loops import LoopStack, gains_at
from lftgen.lft.hinf_norm import pencil_eigenvalues

TOLERANCE = 1e-7
"""Relative accuracy of the norms."""
ON_AXIS = 1e-5
"""A Hamiltonian eigenvalue this close to the imaginary axis, relative to its modulus, counts as a crossing."""
MAX_LEVELS = 30
FAR = 0.8
"""Loops whose norm is below this fraction of the largest need not know it better than that."""
FEEDTHROUGH = 1e-3
"""Levels this close to the gain at infinite frequency go by a pencil: the Hamiltonian inverts level^2 - D'D."""


@dataclass(frozen=True, eq=False)
class Peaks:
    """Norms of N loops (inf: unstable), where they peak, and all frequencies looked at (for models, omegas, gains)."""

    norm: np.ndarray
    frequency: np.ndarray
    model: np.ndarray
    omega: np.ndarray
    gain: np.ndarray


def peaks(loop: LoopStack, poles: np.ndarray) -> Peaks:
    """H-infinity norms of stable loops from their poles (N, n)."""
    N = len(poles)
    candidates = np.concatenate(
        [np.zeros((N, 1)), np.full((N, 1), np.inf), np.abs(poles), np.abs(poles.imag)], axis=1
    )
    model = np.repeat(np.arange(N), candidates.shape[1])
    omega = candidates.ravel()
    gain = largest(gains_at(loop, model, omega))
    shaped = gain.reshape(N, -1)
    where = np.argmax(shaped, axis=1)
    norm, frequency = shaped[range(N), where], candidates[range(N), where]
    seen = [(model, omega, gain)]
    open_ = np.arange(N)
    for _ in range(MAX_LEVELS):
        level = np.maximum(norm[open_], FAR * np.max(norm))
        new_model, new_omega = _between_crossings(loop, open_, level * (1 + TOLERANCE))
        if not len(new_model):
            break
        new_gain = largest(gains_at(loop, new_model, new_omega))
        seen.append((new_model, new_omega, new_gain))
        before = norm.copy()
        np.maximum.at(norm, new_model, new_gain)
        better = new_gain >= norm[new_model]
        frequency[new_model[better]] = np.where(
            norm[new_model[better]] > before[new_model[better]],
            new_omega[better],
            frequency[new_model[better]],
        )
        open_ = np.flatnonzero(norm > before * (1 + TOLERANCE))
        if not len(open_):
            break
    return Peaks(norm, frequency, *(np.concatenate([s[k] for s in seen]) for k in range(3)))


def largest(T: np.ndarray) -> np.ndarray:
    """Largest singular value of each matrix of a stack."""
    if min(T.shape[1:]) == 1:
        return np.linalg.norm(T, axis=(1, 2))
    return np.linalg.svd(T, compute_uv=False)[:, 0]


def _between_crossings(
    loop: LoopStack, models: np.ndarray, level: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Middles of the frequency intervals that the level cuts out, for each model (numbers, frequencies)."""
    positive = level > 0
    models, level = models[positive], level[positive]
    if not len(models):
        return np.zeros(0, dtype=int), np.zeros(0)
    values: list[np.ndarray] = [np.zeros(0)] * len(models)
    near = level < (1 + FEEDTHROUGH) * largest(loop.D11[models])
    if not np.all(near):
        far = np.flatnonzero(~near)
        for i, v in zip(far, np.linalg.eigvals(hamiltonian(loop, models[far], level[far])), strict=True):
            values[i] = v
    for i in np.flatnonzero(near):
        k = models[i]
        values[i] = pencil_eigenvalues((loop.A[k], loop.B1[k], loop.C1[k], loop.D11[k]), float(level[i]))[0]
    numbers, middles = [], []
    for i, v in zip(models, values, strict=True):
        crossing = np.sort(np.abs(v.imag[(np.abs(v.real) <= ON_AXIS * np.abs(v)) & (v.imag >= 0)]))
        if len(crossing):
            edges = np.concatenate([[0.0], crossing]) if crossing[0] > 0 else crossing
            middle = (edges[1:] + edges[:-1]) / 2 if len(edges) > 1 else edges
            middles.append(np.concatenate([middle, crossing]))
            numbers.append(np.full(len(middles[-1]), i))
    if not middles:
        return np.zeros(0, dtype=int), np.zeros(0)
    return np.concatenate(numbers), np.concatenate(middles)


def hamiltonian(loop: LoopStack, models: np.ndarray, level: np.ndarray) -> np.ndarray:
    """Hamiltonian matrices whose imaginary eigenvalues are where a singular value crosses the level."""
    A, B, C, D = loop.A[models], loop.B1[models], loop.C1[models], loop.D11[models]
    Bt, Ct, Dt = (np.swapaxes(x, 1, 2) for x in (B, C, D))
    R = level[:, None, None] ** 2 * np.eye(D.shape[2]) - Dt @ D
    RB, RDC = np.linalg.solve(R, Bt), np.linalg.solve(R, Dt @ C)
    left = A + B @ RDC
    low = -Ct @ (C + D @ RDC)
    return np.concatenate(
        [np.concatenate([left, B @ RB], axis=2), np.concatenate([low, -np.swapaxes(left, 1, 2)], axis=2)],
        axis=1,
    )
