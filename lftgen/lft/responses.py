"""Poles and frequency responses of many state-space models at once."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

from lftgen.errors import IllPosedError, ModelError
from lftgen.lft.threads import single_threaded

CHUNK_ENTRIES = 400_000
"""Entries of the batch of ``j w I - A`` worked on at once."""
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
