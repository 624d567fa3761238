"""The H-infinity norm of a state-space system, with the frequency of its peak.

Level sets: the gain exceeds gamma exactly between the imaginary eigenvalues of a Hamiltonian matrix (Boyd, Balakrishnan,
Kabamba, 1989); the middles of those intervals give the next gamma (Bruinsma, Steinbuch, 1990).  The gains at the
system's own resonances start the search, and a gain is only ever believed after it has been evaluated: the norm returned
is the gain at the frequency returned.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from lftgen.arguments import fraction
from lftgen.errors import ModelError

RTOL = 1e-10
"""Relative distance between the gain returned and a level that no frequency reaches."""
ON_AXIS = 1e-14
"""A pole counts as on the imaginary axis where its real part is below this, relative to the balanced A's norm."""
MAX_LEVELS = 60
NEAR_FEEDTHROUGH = 1e-2
"""Levels closer to the gain at infinite frequency, relatively, are tested by a pencil: the Hamiltonian inverts level^2 - D'D."""

Matrices = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def hinf_norm(A: Any, B: Any, C: Any, D: Any, *, rtol: float = RTOL) -> tuple[float, float]:
    """Largest gain of ``C (sI - A)^-1 B + D`` over the closed right half plane, and the frequency where it is reached.

    Parameters
    ----------
    A, B, C, D : array_like
        (n, n), (n, m), (p, n), (p, m), continuous time; n, m or p may be zero.
    rtol : float
        The norm is within this of the supremum, relatively.

    Returns
    -------
    (float, float)
        Norm and peak frequency (rad/s, not negative).  The frequency is ``inf`` where the gain is only approached there.
        A system that is not stable has the norm ``inf``, at the imaginary part of its rightmost pole.

    Raises
    ------
    ModelError
        Shapes that do not fit, or entries that are not finite.

    Examples
    --------
    A resonance at 3.3 rad/s with a damping ratio of 1e-4 peaks at 1/(2 zeta):

    >>> w, z = 3.3, 1e-4
    >>> norm, frequency = hinf_norm([[0, 1], [-w * w, -2 * z * w]], [[0], [w * w]], [[1, 0]], [[0]])
    >>> round(norm, 3), round(frequency, 6)
    (5000.0, 3.3)
    """
    rtol = fraction(rtol, "hinf_norm: rtol")
    system = balanced(checked(A, B, C, D))
    poles = np.linalg.eigvals(system[0])
    if poles.size:
        worst = poles[np.argmax(poles.real)]
        if worst.real >= -ON_AXIS * np.linalg.norm(system[0], 2):
            return float("inf"), abs(float(worst.imag))
    return _peak(system, poles, rtol)


def linf_norm(A: Any, B: Any, C: Any, D: Any, *, rtol: float = RTOL) -> tuple[float, float]:
    """Largest gain on the imaginary axis, stable or not, and its frequency; ``inf`` at a pole on the axis.

    Parameters and errors as for :func:`hinf_norm`.

    Examples
    --------
    >>> linf_norm([[1.0]], [[1.0]], [[3.0]], [[0.0]])
    (3.0, 0.0)
    """
    rtol = fraction(rtol, "linf_norm: rtol")
    system = balanced(checked(A, B, C, D))
    poles = np.linalg.eigvals(system[0])
    if poles.size:
        nearest = poles[np.argmin(np.abs(poles.real))]
        if abs(nearest.real) <= ON_AXIS * np.linalg.norm(system[0], 2):
            return float("inf"), abs(float(nearest.imag))
    return _peak(system, poles, rtol)


def gains(A: Any, B: Any, C: Any, D: Any, frequencies: Any) -> np.ndarray:
    """Largest singular value at each frequency (rad/s; ``inf`` allowed): shape (N,); inf at a pole on the axis.

    Raises
    ------
    ModelError
        Shapes that do not fit, entries or frequencies that are no numbers.

    Examples
    --------
    >>> gains([[-1.0]], [[1.0]], [[1.0]], [[0.0]], [0.0, 1.0]).round(4)
    array([1.    , 0.7071])
    """
    w = np.atleast_1d(real_array(frequencies, "gains: frequencies"))
    if w.ndim != 1 or np.any(np.isnan(w)):
        raise ModelError(f"gains: frequencies must be a list of numbers, got {frequencies!r:.60}")
    return _gains(checked(A, B, C, D), np.abs(w))


def real_array(value: Any, what: str) -> np.ndarray:
    """An array of real numbers, or a ModelError."""
    try:
        array = np.asarray(value)
        if np.iscomplexobj(array) and np.any(array.imag):
            raise TypeError("complex entries")
        return np.asarray(array.real if np.iscomplexobj(array) else array, dtype=float)
    except (TypeError, ValueError) as problem:
        raise ModelError(f"{what} must hold real numbers, got {value!r:.60}") from problem


def checked(A: Any, B: Any, C: Any, D: Any) -> Matrices:
    """The four matrices as finite float arrays whose shapes fit."""
    a, b, c, d = (real_array(x, name) for x, name in zip((A, B, C, D), "ABCD", strict=True))
    shapes = [x.shape for x in (a, b, c, d)]
    if any(x.ndim != 2 for x in (a, b, c, d)):
        raise ModelError(f"A, B, C, D must be matrices, got shapes {shapes}")
    n, (p, m) = a.shape[0], d.shape
    if shapes != [(n, n), (n, m), (p, n), (p, m)]:
        raise ModelError(f"A, B, C, D of shapes {shapes} do not fit together")
    if not all(np.all(np.isfinite(x)) for x in (a, b, c, d)):
        raise ModelError("A, B, C, D hold NaN or infinite entries")
    return a, b, c, d


def balanced(system: Matrices) -> Matrices:
    """The same system in scaled states (powers of two: no rounding) with rows and columns of [A B; C 0] of like size."""
    a, b, c, d = (x.copy() for x in system)
    if not (a.size and b.size and c.size):
        return a, b, c, d
    for _ in range(12):
        rows = np.linalg.norm(np.hstack([a - np.diag(np.diag(a)), b]), axis=1)
        columns = np.linalg.norm(np.vstack([a - np.diag(np.diag(a)), c]), axis=0)
        used = (rows > 0) & (columns > 0)
        ratio = np.divide(columns, rows, out=np.ones_like(rows), where=used)
        t = 2.0 ** np.clip(np.round(np.log2(ratio) / 2), -40, 40)
        if np.all(t == 1):
            break
        a, b, c = a * t[:, None] / t, b * t[:, None], c / t
    return a, b, c, d


def _gains(system: Matrices, frequencies: np.ndarray) -> np.ndarray:
    a, b, c, d = system
    out = np.zeros(len(frequencies))
    if not d.size:
        return out
    at_infinity = np.isinf(frequencies)
    out[at_infinity] = np.linalg.norm(d, 2)
    for chunk in np.array_split(np.flatnonzero(~at_infinity), max(1, len(frequencies) // 200)):
        s = 1j * frequencies[chunk, None, None]
        try:
            response = c @ np.linalg.solve(s * np.eye(len(a)) - a, b.astype(complex)) + d
        except np.linalg.LinAlgError:  # a frequency exactly on a pole: the others of the chunk one by one
            one_by_one = [_gains(system, frequencies[[i]])[0] if len(chunk) > 1 else np.inf for i in chunk]
            out[chunk] = one_by_one
            continue
        out[chunk] = np.linalg.svd(response, compute_uv=False)[:, 0]
    return out


def _peak(system: Matrices, poles: np.ndarray, rtol: float) -> tuple[float, float]:
    """Supremum of the gain on the axis of a system without poles there."""
    a, d = system[0], system[3]
    if not d.size or not a.size:
        return (float(np.linalg.norm(d, 2)) if d.size else 0.0), 0.0
    resonant = np.sqrt(np.maximum(poles.imag**2 - poles.real**2, 0.0))
    starts = np.unique(np.concatenate([[0.0, np.inf], np.abs(poles), np.abs(poles.imag), resonant]))
    best, where = _best(system, starts)
    for _ in range(MAX_LEVELS):
        if best == 0:
            best, where = _best(system, np.geomspace(1e-3, 1e3, 7) * max(np.abs(poles).max(), 1e-300))
            if best == 0:
                return 0.0, 0.0
        crossings = _crossings(system, best * (1 + rtol))
        if not crossings.size:
            break
        edges = np.unique(np.concatenate([[0.0], crossings]))
        middles = np.concatenate([(edges[1:] + edges[:-1]) / 2, np.sqrt(edges[1:] * edges[:-1]), crossings])
        level, at = _best(system, middles)
        if level <= best * (1 + rtol):
            if level > best:
                best, where = level, at
            break
        best, where = level, at
    return best, where


def _best(system: Matrices, frequencies: np.ndarray) -> tuple[float, float]:
    values = _gains(system, frequencies)
    i = int(np.argmax(values))
    return float(values[i]), float(frequencies[i])


def _crossings(system: Matrices, level: float) -> np.ndarray:
    """Frequencies where a singular value may equal the level: eigenvalues of the Hamiltonian close to the axis.

    A double eigenvalue on the axis moves by the square root of the rounding errors, hence the wide band; an eigenvalue
    too many costs an evaluation, one too few would cost the answer.
    """
    a, b, c, d = system
    if level < (1 + NEAR_FEEDTHROUGH) * np.linalg.norm(d, 2):
        return _near_axis(*pencil_eigenvalues(system, level))
    p, m = d.shape
    r, s = level**2 * np.eye(m) - d.T @ d, level**2 * np.eye(p) - d @ d.T
    rb, sc = np.linalg.solve(r, np.hstack([b.T, d.T @ c])), np.linalg.solve(s, c)
    n = len(a)
    drift = a + b @ rb[:, n:]
    ratio = np.linalg.norm(c) / np.linalg.norm(b)
    top, bottom = level * ratio * (b @ rb[:, :n]), -level / ratio * (c.T @ sc)
    H = np.block([[drift, top], [bottom, -drift.T]])
    return _near_axis(np.linalg.eigvals(H), float(np.linalg.norm(H, 1)))


def _near_axis(eigenvalues: np.ndarray, size: float) -> np.ndarray:
    """Frequencies of the eigenvalues that may be on the imaginary axis."""
    band = 1e-4 * np.abs(eigenvalues) + 1e-12 * size
    near = np.abs(eigenvalues.real) <= band
    return np.unique(np.abs(eigenvalues.imag[near]))


def pencil_eigenvalues(system: Matrices, level: float) -> tuple[np.ndarray, float]:
    """Finite eigenvalues of the even pencil of T u = level v, T* v = level u, which inverts nothing, and its size.

    P. Benner, R. Byers, V. Mehrmann, H. Xu, SIAM J. Matrix Analysis 24 (2002) 165-190.
    """
    a, b, c, d = system
    n, (p, m) = len(a), d.shape
    size, in_size, out_size = (max(float(np.linalg.norm(x)), 1e-300) for x in (a, b, c))
    b, c = b * (size / in_size), c * (size / out_size)
    d, level = d * (size * size / in_size / out_size), level * (size * size / in_size / out_size)
    zero = np.zeros
    pencil = np.block(
        [
            [a, zero((n, n)), b, zero((n, p))],
            [zero((n, n)), -a.T, zero((n, m)), -c.T],
            [c, zero((p, n)), d, -level * np.eye(p)],
            [zero((m, n)), b.T, -level * np.eye(m), d.T],
        ]
    )
    mass = np.diag(np.concatenate([np.ones(2 * n), np.zeros(p + m)]))
    top, bottom = scipy.linalg.eig(pencil, mass, right=False, homogeneous_eigvals=True)
    finite = np.abs(bottom) * size > 1e-13 * np.abs(top)
    return top[finite] / bottom[finite], size
