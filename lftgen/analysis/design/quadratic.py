"""A small dense quadratic program, solved by a primal-dual interior point method.

The subproblems of the non-smooth optimiser have some ten to a hundred variables and up to a few hundred linear
inequalities: each iteration costs one Cholesky factorisation in the number of variables.
Method: S. Mehrotra, SIAM J. Optimization 2 (1992) 575-601, as for quadratic programs in J. Nocedal, S. Wright,
*Numerical Optimization*, 2nd edition, algorithm 16.4.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

TOLERANCE = 1e-9
"""Relative complementarity and residuals at which the iteration stops."""
MAX_ITERATIONS = 60


def solve_qp(H: np.ndarray, c: np.ndarray, G: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Minimise ``z'Hz/2 + c'z`` subject to ``G z <= b``.

    Parameters
    ----------
    H : array (n, n)
        Positive semidefinite.
    c : array (n,)
    G : array (m, n)
    b : array (m,)

    Returns
    -------
    z : array (n,)
    multipliers : array (m,)
        Not negative.
    """
    n, m = len(c), len(b)
    size = max(1.0, float(np.max(np.abs(b), initial=0.0)), float(np.max(np.abs(c))))
    ridge = 1e-13 * max(1.0, float(np.max(np.abs(H))))
    z, s, y = np.zeros(n), np.maximum(b, 1.0), np.ones(m)
    best = (np.inf, z, y)
    for _ in range(MAX_ITERATIONS):
        r_d, r_p = H @ z + c + G.T @ y, G @ z + s - b
        mu = float(s @ y) / m
        error = max(float(np.max(np.abs(r_d))), float(np.max(np.abs(r_p))), mu)
        if error < best[0]:
            best = (error, z, y)
        if error < TOLERANCE * size:
            break
        K = H + (G.T * (y / s)) @ G
        K[range(n), range(n)] += ridge
        factor, failed = dpotrf(K, lower=1, overwrite_a=1)
        if failed:
            break

        def direction(
            r_c: np.ndarray,
            factor: np.ndarray = factor,
            r_d: np.ndarray = r_d,
            r_p: np.ndarray = r_p,
            s: np.ndarray = s,
            y: np.ndarray = y,
        ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            right = -r_d - G.T @ ((y * r_p - r_c) / s)
            dz = dpotrs(factor, right, lower=1)[0]
            ds = -r_p - G @ dz
            return dz, ds, (-r_c - y * ds) / s

        _, ds, dy = direction(s * y)
        step = min(_longest(s, ds), _longest(y, dy))
        sigma = (float((s + step * ds) @ (y + step * dy)) / m / mu) ** 3
        dz, ds, dy = direction(s * y + ds * dy - sigma * mu)
        step = 0.995 * min(_longest(s, ds), _longest(y, dy))
        z, s, y = z + step * dz, s + step * ds, y + step * dy
    return best[1], best[2]


def _longest(v: np.ndarray, dv: np.ndarray) -> float:
    """Longest step, at most 1/0.995, that keeps v positive."""
    down = dv < 0
    return float(min(1 / 0.995, np.min(-v[down] / dv[down], initial=np.inf)))
