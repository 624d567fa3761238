"""Modes of a state-space model as clusters of poles, the states that take part in them, and ranks free of units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg

EPS = float(np.finfo(float).eps)
SLACK = 100.0
"""How many units in the last place an entry of A may be off."""
RANK = 1e-8
"""A singular value below this, relative to the largest of the equilibrated matrix, counts as zero."""
NOISE = 1e-13
"""Rows and columns smaller than this, relative to the largest entry, are rounding: they are not scaled up."""


@dataclass(frozen=True)
class Mode:
    """Poles that rounding cannot tell apart.

    Attributes
    ----------
    pole : complex
        Their mean, imaginary part not negative; on the imaginary axis exactly where rounding allows it.
    count : int
        How many poles.
    states : tuple of str
        Those that take part most.
    """

    pole: complex
    count: int
    states: tuple[str, ...]


def right_modes(system: tuple[np.ndarray, ...], names: Sequence[str]) -> list[Mode]:
    """Modes of (A, B, C, D) in the closed right half plane (conjugates told once)."""
    A = system[0]
    if not len(A):
        return []
    poles, left, right = scipy.linalg.eig(A, left=True)
    width = _uncertainty(system, left, right)
    modes, rest = [], list(range(len(poles)))
    while rest:
        first = max(rest, key=lambda i: width[i])
        cluster = [i for i in rest if abs(poles[i] - poles[first]) <= width[i] + width[first]]
        rest = [i for i in rest if i not in cluster]
        mean, near = complex(np.mean(poles[cluster])), float(np.max(width[cluster]))
        mean = complex(*(0.0 if abs(x) <= near else x for x in (mean.real, mean.imag)))
        if mean.real >= 0 and mean.imag >= 0:
            reach = near + float(np.max(np.abs(poles[cluster] - mean)))
            modes.append(Mode(mean, len(cluster), _states(A, mean, reach, names)))
    return sorted(modes, key=lambda m: (abs(m.pole.imag), m.pole.real))


def _uncertainty(system: tuple[np.ndarray, ...], left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """How far rounding may have moved each pole: ``|w| E |v| / |w^H v|``, E the errors of the entries of A.

    An entry, a zero that was left over by a cancellation included, is as uncertain as its row and its column (those of B
    and C with them) are large, so one fast state does not blur the slow ones.  Where the condition is infinite, a double
    pole, the first-order bound gives way to the square root of the perturbation.  The two poles of such a pair then fall into
    one cluster, whose mean is accurate again.
    """
    A, B, C = system[:3]
    rows = np.max(np.abs(np.hstack([A, B])), axis=1)
    columns = np.max(np.abs(np.vstack([A, C])), axis=0)
    errors = np.maximum(np.abs(A), np.minimum(rows[:, None], columns))
    size = np.einsum("ik,ij,jk->k", np.abs(left), errors, np.abs(right))
    overlap = np.abs(np.sum(left.conj() * right, axis=0))
    return SLACK * EPS * size / np.maximum(overlap, np.sqrt(SLACK * EPS))


def _states(A: np.ndarray, pole: complex, reach: float, names: Sequence[str]) -> tuple[str, ...]:
    """The states that take part in a mode: a third of the largest diagonal entry of its spectral projector, or more."""

    def basis(matrix: np.ndarray, at: complex) -> np.ndarray:
        near = 2 * reach + 1e-12 * abs(at)
        _, q, n = scipy.linalg.schur(
            matrix.astype(complex), output="complex", sort=lambda x: bool(abs(x - at) <= near)
        )
        return np.asarray(q[:, :n])

    right, left = basis(A, pole), basis(A.conj().T, np.conj(pole))
    k = min(right.shape[1], left.shape[1])
    if not k:
        return ()
    right, left = right[:, :k], left[:, :k]
    size = np.abs(np.sum((right @ np.linalg.pinv(left.conj().T @ right)) * left.conj(), axis=1))
    return tuple(names[int(i)] for i in np.flatnonzero(size >= size.max() / 3))


def rank(matrix: np.ndarray) -> int:
    """Rank after rows and columns are brought to like size: neither units nor one fast state decide it."""
    m = matrix.astype(complex)
    if not m.size or not np.any(m):
        return 0
    floor = NOISE * np.max(np.abs(m))
    m[np.abs(m) <= floor] = 0.0
    for _ in range(4):
        for axis in (1, 0):
            size = np.linalg.norm(m, axis=axis, keepdims=True)
            m = np.divide(m, size, out=m, where=size > 0)
    values = np.linalg.svd(m, compute_uv=False)
    return int(np.sum(values > RANK * values[0]))
