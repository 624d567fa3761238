"""Smallest invariant structured subspaces, in floating point: the reachable part of an n-D system.

The n-D Kalman decomposition (Cockburn & Morton, Automatica 1997; D'Andrea & Khatri, ACC 1997): per block,
``S_i <- span[B_i, A_i1 S_1, ..., A_ik S_k]`` until nothing is added; then the dual.  Only new directions are mapped
again, they are projected twice, and kept where they exceed ``tolerance`` times the norm of the block's rows of M.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from lftgen.lft.reduction.balancing import ScalarLFT

ROUNDING = 1e-14
"""Directions smaller than this, relative to the block's norm before anything was taken away, are rounding: after a
cancellation they may be all that a block has left."""


def _block_norms(a: ScalarLFT) -> np.ndarray:
    """Norm of the rows ``[M11 M12]`` of each block."""
    return np.array([np.linalg.norm(np.hstack([a.dd[g], a.dp[g]])) for g in a.groups])


def reachable_bases(a: ScalarLFT, tolerance: float, rounding: np.ndarray | float = 0.0) -> list[np.ndarray]:
    """Orthonormal basis (channels of the block x dimension) of the reachable subspace of each block.

    ``rounding`` is, per block, the size below which nothing counts whatever the tolerance.
    """
    groups = a.groups
    floor = np.maximum(tolerance * _block_norms(a), rounding)
    bases = [np.zeros((g.stop - g.start, 0)) for g in groups]
    candidates = [a.dp[g] for g in groups]
    while True:
        new = [_new_directions(c, b, f) for c, b, f in zip(candidates, bases, floor, strict=True)]
        bases = [np.hstack([b, d]) for b, d in zip(bases, new, strict=True)]
        active = [(g, d) for g, d in zip(groups, new, strict=True) if d.shape[1]]
        if not active:
            return bases
        columns = np.hstack([a.dd[:, g] @ d for g, d in active])
        candidates = [columns[g] for g in groups]


def _new_directions(candidates: np.ndarray, basis: np.ndarray, floor: float) -> np.ndarray:
    n, have = basis.shape
    if have == n or not candidates.size:
        return np.zeros((n, 0))
    rest = candidates
    for _ in range(2 if have else 0):
        rest = rest - basis @ (basis.T @ rest)
    norms = np.linalg.norm(rest, axis=0)
    rest = rest[:, norms > 0]
    if not rest.size:
        return np.zeros((n, 0))
    u, s = _left_singular(rest)
    u = u[:, s > max(floor, 1e-300)][:, : n - have]
    if have and u.size:
        u = u - basis @ (basis.T @ u)
        u, _ = np.linalg.qr(u)
    return u


def _left_singular(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Left singular vectors and singular values; by the slower driver where the fast one does not converge."""
    try:
        u, s, _ = np.linalg.svd(a, full_matrices=False)
    except np.linalg.LinAlgError:
        u, s, _ = scipy.linalg.svd(a, full_matrices=False, lapack_driver="gesvd")
    return u, s


def reduced_once(a: ScalarLFT, tolerance: float) -> ScalarLFT:
    """Reachable, then observable part, repeated until neither takes anything away."""
    rounding = ROUNDING * _block_norms(a), ROUNDING * _block_norms(a.transposed())
    while a.order:
        before = a.order
        for smallest in rounding:
            bases = reachable_bases(a, tolerance, smallest)
            if sum(b.shape[1] for b in bases) < a.order:
                a = a.projected([b.T for b in bases], bases)
            a = a.transposed()
        if a.order == before:
            break
    return a
