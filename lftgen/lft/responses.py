"""Poles and frequency responses of many state-space models at once."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import scipy.linalg

from lftgen.errors import IllPosedError, ModelError
from lftgen.lft.threads import single_threaded

CHUNK_ENTRIES = 400_000
"""Entries of the batch of ``j w I - A`` worked on at once."""
RANK = 1e-9
"""A generalised eigenvalue alpha/beta counts as infinite where beta is below this, relative to alpha."""
ON_AXIS = 1e-13
"""A pole counts as lying on a frequency asked for where the solution grows by more than the inverse of this."""


@single_threaded
def poles(A: np.ndarray) -> np.ndarray:
    """Eigenvalues of ``A`` (..., n, n), sorted by real and then by imaginary part: complex (..., n)."""
    values = np.linalg.eigvals(A) if A.shape[-1] else np.zeros(A.shape[:-1])
    return np.sort(values.astype(complex), axis=-1)


@single_threaded
def frequency_response(A: np.ndarray, B: np.ndarray, C: np.ndarray, D: np.ndarray, omega: Any) -> np.ndarray:
    """``C (j w I - A)^-1 B + D`` of N models at K frequencies.

    Parameters
    ----------
    A, B, C, D : array (N, rows, columns)
    omega : sequence of K frequencies
        rad/s, finite, not negative.

    Returns
    -------
    complex array (N, outputs, inputs, K)
        Axes as in python-control's ``FrequencyResponseData``, after the points.

    Raises
    ------
    ModelError
        Frequencies that are no such numbers.
    IllPosedError
        A pole on the imaginary axis at one of the frequencies; the message names the point's number.
    """
    w = _frequencies(omega)
    n_points, n = A.shape[0], A.shape[-1]
    out = np.empty((n_points, D.shape[1], D.shape[2], len(w)), dtype=complex)
    step = max(1, CHUNK_ENTRIES // max(1, n * n * len(w)))
    for start in range(0, n_points, step):
        part = slice(start, start + step)
        system = 1j * w[:, None, None] * np.eye(n) - A[part, None]
        x = _solved(system, B[part, None], start, w)
        out[part] = np.moveaxis(C[part, None] @ x, 1, -1) + D[part, :, :, None]
    return out


def _frequencies(omega: Any) -> np.ndarray:
    try:
        w = np.atleast_1d(np.asarray(omega, dtype=float))
    except (TypeError, ValueError) as problem:
        raise ModelError(f"frequencies must be numbers in rad/s, got {omega!r}") from problem
    if w.ndim != 1 or not np.all(np.isfinite(w)) or np.any(w < 0):
        raise ModelError("frequencies must be a list of finite numbers in rad/s that are not negative")
    return w


def _solved(system: np.ndarray, right: np.ndarray, start: int, w: np.ndarray) -> np.ndarray:
    right = np.broadcast_to(right, (*system.shape[:2], *right.shape[-2:]))
    try:
        x = np.linalg.solve(system, right)
    except np.linalg.LinAlgError:
        x = np.full(right.shape, np.inf, dtype=complex)
        for index in np.ndindex(*system.shape[:2]):
            with contextlib.suppress(np.linalg.LinAlgError):  # the singular ones stay infinite
                x[index] = np.linalg.solve(system[index], right[index])
    size = np.max(np.abs(system), axis=(2, 3), initial=0.0) * np.max(np.abs(x), axis=(2, 3), initial=0.0)
    force = np.max(np.abs(right), axis=(2, 3), initial=0.0)
    bad = ~(size * ON_AXIS <= force)
    if np.any(bad):
        point, k = (int(i) for i in np.argwhere(bad)[0])
        raise IllPosedError(
            f"point {start + point} has a pole on the imaginary axis at {w[k]:.9g} rad/s: its response there is infinite; "
            "leave that frequency out, or add damping"
        )
    return x


@single_threaded
def singular_values(response: np.ndarray) -> np.ndarray:
    """Singular values of a frequency response (..., outputs, inputs, K), largest first: (..., min(outputs, inputs), K)."""
    values = np.linalg.svd(np.moveaxis(response, -1, -3), compute_uv=False)
    return np.moveaxis(values, -1, -2)


def zeros(A: np.ndarray, B: np.ndarray, C: np.ndarray, D: np.ndarray) -> list[np.ndarray]:
    """Invariant zeros of N models with as many inputs as outputs: where ``[A - s I, B; C, D]`` is singular.

    Returns
    -------
    list of N complex arrays
        Finite zeros, sorted by real and then by imaginary part; models may have different numbers of them.

    Raises
    ------
    ModelError
        Inputs and outputs that differ in number, or a model whose transfer matrix is singular at every s.
    """
    n, (n_y, n_u) = A.shape[-1], D.shape[-2:]
    if n_y != n_u:
        raise ModelError(
            f"zeros need as many inputs as outputs, got {n_u} inputs and {n_y} outputs; choose channels first"
        )
    mass = np.zeros((n + n_y, n + n_y))
    mass[:n, :n] = np.eye(n)
    found = []
    for a, b, c, d in zip(A, B, C, D, strict=True):
        pencil = np.block([[a, b], [c, d]])
        # balancing inputs and outputs against the states changes no zero and keeps infinite ones apart from large ones
        scale = max(np.abs(a).max(initial=0.0), 1e-300)
        pencil[:n, n:] *= scale / max(np.abs(b).max(initial=0.0), 1e-300)
        pencil[n:, :n] *= scale / max(np.abs(c).max(initial=0.0), 1e-300)
        pencil[n:, n:] *= scale * scale / max(np.abs(b).max(initial=0.0) * np.abs(c).max(initial=0.0), 1e-300)
        top, bottom = scipy.linalg.eig(pencil, mass, right=False, homogeneous_eigvals=True)
        if np.any((np.abs(top) <= RANK * scale) & (np.abs(bottom) <= RANK)):
            raise ModelError(
                "the transfer matrix is singular at every frequency, so it has no isolated zeros"
            )
        finite = np.abs(bottom) * scale > RANK * np.abs(top)
        found.append(np.sort_complex(top[finite] / bottom[finite]))
    return found
