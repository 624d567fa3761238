"""Starting points for state-space blocks: observers with state feedback, balanced and cut to the order of the block.

Linear-quadratic Gaussian controllers (H. Kwakernaak, R. Sivan, Linear Optimal Control Systems, Wiley, 1972, chapters 3-5)
of the weighted plant at one point.  Random weights on control and measurement, and random noise at both, make many of
them; truncation of balanced states (B. C. Moore, IEEE Trans. Automatic Control 26 (1981) 17-32) brings them to the order
wanted.  What comes out need not stabilise where states were cut; the design stabilises it then.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, solve_continuous_are, solve_continuous_lyapunov, svd

from lftgen.lft.evaluation import StateSpaceArrays

TINY = 1e-12
Matrices = tuple[np.ndarray, np.ndarray, np.ndarray]


def observer_controller(
    model: StateSpaceArrays, n_w: int, n_z: int, order: int, scale: float, rng: np.random.Generator
) -> np.ndarray | None:
    """``S = [A_K B_K; C_K 0]`` of some observer-based controller ``u = K y`` of a given order.

    Parameters
    ----------
    model : StateSpaceArrays
        The plant at one point, from (w, u) to (z, y).
    n_w, n_z : int
        Numbers of performance inputs and outputs.
    order : int
    scale : float
        A typical gain of a controller, size of u over size of y.
    rng : Generator
        Draws the weights.

    Returns
    -------
    array (order + n_u, order + n_y), or None where the Riccati equations have no stabilising solution
    """
    A, B1, B2 = model.A[0], model.B[0][:, :n_w], model.B[0][:, n_w:]
    C1, C2 = model.C[0][:n_z], model.C[0][n_z:]
    D12, D21, D22 = model.D[0][:n_z, n_w:], model.D[0][n_z:, :n_w], model.D[0][n_z:, n_w:]
    a, b, c, d = 10.0 ** rng.uniform(-2.0, 0.5, 4)
    noise, effort = _size(D21), _size(D12)
    try:
        F = _gain(A, B2, np.vstack([C1, a * effort / scale * C2]), D12, b * effort)
        L = _gain(A.T, C2.T, np.vstack([B1.T, c * noise * scale * B2.T]), D21.T, d * noise).T
    except (LinAlgError, ValueError):
        return None
    K = A - B2 @ F - L @ C2 + L @ D22 @ F, L, -F
    if not all(np.all(np.isfinite(k)) for k in K):
        return None
    return _padded(*_cut(*K, order), order, rng)


def _size(D: np.ndarray) -> float:
    size = float(np.linalg.norm(D, 2)) if D.size else 0.0
    return size if size > TINY else 1.0


def _gain(A: np.ndarray, B: np.ndarray, C: np.ndarray, D: np.ndarray, least: float) -> np.ndarray:
    """State feedback u = -F x that minimises the integral of ``|C x + [D; 0] u|^2 + least^2 |u|^2``."""
    D = np.vstack([D, np.zeros((len(C) - len(D), D.shape[1]))])
    R = D.T @ D + least**2 * np.eye(D.shape[1])
    X = solve_continuous_are(A, B, C.T @ C + TINY * np.eye(len(A)), R, s=C.T @ D)
    return np.linalg.solve(R, B.T @ X + D.T @ C)


def _cut(A: np.ndarray, B: np.ndarray, C: np.ndarray, order: int) -> Matrices:
    """Balanced states, the largest ``order`` of them; an unstable controller is balanced with its axis shifted."""
    n = len(A)
    poles = np.linalg.eigvals(A)
    shift = max(0.0, 1.1 * float(np.max(poles.real))) + 1e-6 * float(np.max(np.abs(poles)))
    stable = A - shift * np.eye(n)
    P, Q = (
        solve_continuous_lyapunov(stable, -B @ B.T),
        solve_continuous_lyapunov(stable.T, -C.T @ C),
    )
    left, right = _root(P), _root(Q)
    u, s, vt = svd(right.T @ left)
    k = min(order, int(np.sum(s > 1e-9 * s[0]))) if s.size and s[0] > 0 else 0
    T = left @ vt[:k].T / np.sqrt(s[:k])
    inverse = (right @ u[:, :k] / np.sqrt(s[:k])).T
    return inverse @ A @ T, inverse @ B, C @ T


def _root(P: np.ndarray) -> np.ndarray:
    w, v = np.linalg.eigh((P + P.T) / 2)
    return v * np.sqrt(np.maximum(w, 0.0))


def _padded(A: np.ndarray, B: np.ndarray, C: np.ndarray, order: int, rng: np.random.Generator) -> np.ndarray:
    """S with further states, weakly coupled, where the block has more than the controller."""
    k = len(A)
    rate = float(np.median(np.abs(np.linalg.eigvals(A)))) if k else 1.0
    S = np.zeros((order + len(C), order + B.shape[1]))
    more = np.arange(k, order)
    S[more, more] = -rate * np.exp(rng.uniform(-1, 1, len(more)))
    S[k:order, order:] = 0.1 * np.sqrt(rate) * rng.standard_normal((len(more), B.shape[1]))
    S[order:, k:order] = 0.01 * np.sqrt(rate) * rng.standard_normal((len(C), len(more)))
    S[:k, :k], S[:k, order:], S[order:, :k] = A, B, C
    return S
