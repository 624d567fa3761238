"""Gain scheduling of LFT plants: bounded-real inequalities with D and G scalings of the repeated real parameters.

For ``w = Theta z`` with Theta = blkdiag(theta_i I), |theta_i| <= 1, and D > 0 symmetric, G skew, both commuting with
Theta, ``z^T D z - w^T D w + 2 z^T G w >= 0``.  A controller that follows copies of Theta exists with level gamma if
symmetric R, S and scalings (D, G) for the plant, (D~, G~) for its dual solve three linear inequalities.  A. Packard,
"Gain scheduling via linear fractional transformations", Systems & Control Letters 22, 1994; P. Apkarian, P. Gahinet, "A
convex characterization of gain-scheduled H-infinity controllers", IEEE Transactions on Automatic Control 40, 1995; with G:
G. Scorletti, L. El Ghaoui, "Improved LMI conditions for gain scheduling and related control problems", International
Journal of Robust and Nonlinear Control 8, 1998.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from lftgen.analysis.lpv.construction import solve_inequality, square_root
from lftgen.analysis.lpv.problem import Problem
from lftgen.extras import require

COUPLING = 1.003
"""R S stays this far from the identity (not needed for existence: for a controller of moderate gains)."""
SCALING_COUPLING, SKEW = 0.9, 1.0
"""The same for the scalings, and the largest G relative to D."""


@dataclass(frozen=True)
class Certificate:
    """Solution of the synthesis inequalities; ``H = D - G`` of the plant, ``H_dual`` of its dual."""

    gamma: float
    R: np.ndarray
    S: np.ndarray
    H: np.ndarray
    H_dual: np.ndarray
    size: float


def solver() -> Any:
    """cvxpy, or the error that names the extra."""
    require("clarabel", "lmi", "LPV synthesis")
    return require("cvxpy", "lmi", "LPV synthesis")


@dataclass(frozen=True)
class Inequalities:
    """The constraints of one problem as cvxpy expressions."""

    constraints: list[Any]
    R: Any
    S: Any
    scalings: tuple[Any, Any, Any, Any]
    gamma: Any

    def solution(self, gamma: float) -> Certificate:
        """Values after a solve."""
        D, G, D_dual, G_dual = (np.asarray(x.value if hasattr(x, "value") else x) for x in self.scalings)
        size = float(np.trace(self.R.value) + np.trace(self.S.value) + np.trace(D) + np.trace(D_dual))
        return Certificate(gamma, self.R.value, self.S.value, D - G, D_dual - G_dual, size)

    def size(self, cp: Any) -> Any:
        """What keeps the solution bounded."""
        total = cp.trace(self.R) + cp.trace(self.S)
        return (
            total + cp.trace(self.scalings[0]) + cp.trace(self.scalings[2])
            if self.scalings[0].shape[0]
            else total
        )


def inequalities(p: Problem, cp: Any, gamma: Any, margin: float, *, skew: bool = False) -> Inequalities:
    """What R, S and the scalings must fulfil, with a relative margin; ``gamma`` is a variable or a number.

    Without ``skew`` G = 0.
    """
    n, k = p.n, p.k
    R, S = (cp.Variable((n, n), symmetric=True) for _ in range(2))
    D, G = _scaling(cp, p, skew)
    D_dual, G_dual = _scaling(cp, p, skew)
    A = p.part("x", "x")
    speed = 1 + np.linalg.norm(A, axis=1) / 2 + np.linalg.norm(A, axis=0) / 2
    primal = _one_side(cp, p.part("x", "xtw"), p.part("t", "xtw"), p.part("z", "xtw"), S, D, G, gamma, margin)
    dual = _one_side(
        cp, p.part("xtz", "x").T, p.part("xtz", "t").T, p.part("xtz", "w").T, R, D_dual, G_dual, gamma, margin
    )
    outer_s = _outer(p.part("y", "xtw"), k + p.n_z, speed)
    outer_r = _outer(p.part("xtz", "u").T, k + p.n_w, speed)
    constraints = [_negative(primal, outer_s), _negative(dual, outer_r)]
    constraints.append(_coupled(cp, R, S, COUPLING))
    if k:
        constraints.append(_coupled(cp, D, D_dual, COUPLING if not skew else SCALING_COUPLING))
    if k and skew:
        constraints += [cp.bmat([[SKEW * d, g], [g.T, SKEW * d]]) >> 0 for d, g in ((D, G), (D_dual, G_dual))]
    return Inequalities(constraints, R, S, (D, G, D_dual, G_dual), gamma)


def _coupled(cp: Any, first: Any, second: Any, share: float) -> Any:
    unit = share * np.eye(first.shape[0])
    return cp.bmat([[first, unit], [unit, second]]) >> 0


def _scaling(cp: Any, p: Problem, skew: bool) -> tuple[Any, Any]:
    """D symmetric and G skew, one full block for each parameter."""
    if not p.k:
        return np.zeros((0, 0)), np.zeros((0, 0))
    D = [cp.Variable((b.repetitions, b.repetitions), symmetric=True) for b in p.blocks]
    if not skew:
        return _block_diagonal(cp, D), np.zeros((p.k, p.k))
    free = [cp.Variable((b.repetitions, b.repetitions)) for b in p.blocks]
    return _block_diagonal(cp, D), _block_diagonal(cp, [x - x.T for x in free])


def _block_diagonal(cp: Any, blocks: list[Any]) -> Any:
    return cp.bmat(
        [
            [b if i == j else np.zeros((b.shape[0], c.shape[0])) for j, c in enumerate(blocks)]
            for i, b in enumerate(blocks)
        ]
    )


def _one_side(cp: Any, rate: np.ndarray, inner: np.ndarray, outer: np.ndarray, X: Any, D: Any, G: Any, gamma: Any,
              margin: float) -> Any:  # fmt: skip
    """The bounded-real matrix of ``x' = rate v, z = inner v, e = outer v`` with ``v = [x; w_theta; d]``."""
    n, k, total = rate.shape[0], inner.shape[0], rate.shape[1]
    m = total - n - k
    at_x = np.eye(n, total)
    at_t, at_d = np.eye(k, total, n), np.eye(m, total, n + k)
    half = at_x.T @ X @ rate
    matrix = half + half.T + margin * at_x.T @ X @ at_x - (1 - margin) * gamma * at_d.T @ at_d
    below = outer
    corner = -(1 - margin) * gamma * np.eye(outer.shape[0])
    if k:  # z^T D z by a Schur complement: better conditioned than the product itself
        cross = inner.T @ G @ at_t
        matrix = matrix - (1 - margin) * at_t.T @ D @ at_t + cross + cross.T
        below = cp.vstack([D @ inner, outer])
        corner = _block_diagonal(cp, [-(1 - margin) * D, corner])
    return cp.bmat([[matrix, below.T], [below, corner]])


def _outer(seen: np.ndarray, extra: int, speed: np.ndarray) -> np.ndarray:
    """Basis of what the controller cannot change, in which fast states weigh as much as slow ones."""
    basis = scipy.linalg.block_diag(scipy.linalg.null_space(seen), np.eye(extra))
    weight = np.concatenate([speed, np.ones(len(basis) - len(speed))])
    return basis @ np.linalg.inv(square_root(basis.T @ (weight[:, None] * basis)))


def _negative(matrix: Any, outer: np.ndarray) -> Any:
    inside = outer.T @ matrix @ outer
    return (inside + inside.T) / 2 << 0


def extended_lyapunov(S: np.ndarray, R: np.ndarray) -> np.ndarray:
    """``[S, Z; Z, Z]`` with ``Z = S - R^-1``: its inverse begins with R."""
    Z = S - np.linalg.inv(R)
    Z = (Z + Z.T) / 2
    return np.block([[S, Z], [Z, Z]])


def extended_scaling(H: np.ndarray, H_dual: np.ndarray) -> np.ndarray:
    """``[H, E; Y E^-1 Z, Y]`` with positive definite symmetric part, whose inverse begins with ``H_dual``.

    ``Z = H - H_dual^-1``; with ``Y^-1 = E^-1 (H + H_dual^-T)^T E^-T`` the symmetric part is congruent to
    ``blkdiag(H + H^T, H_dual^-1 + H_dual^-T)``, so no coupling between the two scalings is needed.
    """
    back = np.linalg.inv(H_dual)
    Z = (H - back + (H - back).T) / 2
    if not np.any(H - H.T) and not np.any(H_dual - H_dual.T) and np.linalg.eigvalsh(Z)[0] > 0:
        return np.block([[H, Z], [Z, Z]])
    E = square_root((H + H.T) / 2)
    Y = E.T @ np.linalg.inv(H + back.T).T @ E
    return np.block([[H, E], [Y @ np.linalg.solve(E, H - back), Y]])


def controller_matrix(p: Problem, c: Certificate) -> tuple[np.ndarray, float]:
    """``[A_K B_K; C_K D_K]`` with channels [states; Theta; signals], and the largest eigenvalue of what must be negative.

    The eigenvalue is that of the closed loop's bounded-real matrix after a congruence that makes its rows alike in size.
    """
    n, k = p.n, p.k
    X = extended_lyapunov(c.S, c.R)
    H = extended_scaling(c.H, c.H_dual) if k else np.zeros((0, 0))
    D, G = (H + H.T) / 2, (H.T - H) / 2
    s = open_loop(p)
    x, d = square_root(X), square_root(D)
    x_inv, d_inv, root = np.linalg.inv(x), np.linalg.inv(d), np.sqrt(c.gamma)
    into, out = [x_inv, d_inv, np.eye(p.n_w) / root], [x, d, np.eye(p.n_z) / root]
    columns, rows = scipy.linalg.block_diag(*into), scipy.linalg.block_diag(*out)
    M = rows @ s["M"] @ columns
    left, right = rows @ s["left"], s["right"] @ columns
    skew = d_inv @ G @ d_inv
    a, t = slice(0, 2 * n), slice(2 * n, 2 * n + 2 * k)
    total, signals = M.shape[1], M.shape[0] - 2 * n
    lift = np.zeros((total, M.shape[0]))  # which rows of M enter linearly: X x' and G z_theta
    lift[a, a] = np.eye(2 * n)
    lift[t, t] = skew.T
    corner = (
        lift @ M + (lift @ M).T - scipy.linalg.block_diag(np.zeros((2 * n, 2 * n)), np.eye(total - 2 * n))
    )
    Q = np.block([[corner, M[2 * n :].T], [M[2 * n :], -np.eye(signals)]])
    U = np.vstack([lift @ left, left[2 * n :]])
    V = np.hstack([right, np.zeros((right.shape[0], signals))])
    even = 1 / np.sqrt(1 + np.linalg.norm(Q, axis=0))
    return solve_inequality(even[:, None] * Q * even, even[:, None] * U, V * even)


def open_loop(p: Problem) -> dict[str, np.ndarray]:
    """Plant beside the controller's states and copies of Theta: ``M + left K right`` is the closed loop.

    Rows [x, x_K; z_theta, z_K; z], columns [x, x_K; w_theta, w_K; w]; K maps [x_K; w_K; y] to [x_K'; z_K; u].
    """
    n, k = p.n, p.k

    def spread(rows: str, columns: str, row_gap: list[int], column_gap: list[int]) -> np.ndarray:
        return np.block([
            [np.pad(p.part(r, c), ((0, rg), (0, cg))) for c, cg in zip(columns, column_gap, strict=True)]
            for r, rg in zip(rows, row_gap, strict=True)
        ])  # fmt: skip

    M = spread("xtz", "xtw", [n, k, 0], [n, k, 0])
    left = np.zeros((M.shape[0], n + k + p.n_u))
    right = np.zeros((n + k + p.n_y, M.shape[1]))
    left[n : 2 * n, :n], left[2 * n + k : 2 * n + 2 * k, n : n + k] = np.eye(n), np.eye(k)
    right[:n, n : 2 * n], right[n : n + k, 2 * n + k : 2 * n + 2 * k] = np.eye(n), np.eye(k)
    left[:, n + k :] = spread("xtz", "u", [n, k, 0], [0])
    right[n + k :] = spread("y", "xtw", [0], [n, k, 0])
    return {"M": M, "left": left, "right": right}
