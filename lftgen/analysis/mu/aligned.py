"""Complex blocks of norm 1 that raise an eigenvalue of M Delta most, real scalars given (aligned phases).

The fixed point of the power iteration of A. Packard, M. Fan, J. Doyle, "A power method for the structured singular value",
Proc. 27th IEEE CDC, 1988.
"""

from __future__ import annotations

import numpy as np

from lftgen.analysis.mu.singular import Parts, delta_matrix


def aligned(
    parts: Parts, reals: np.ndarray, fixed: dict[int, np.ndarray] | None = None, steps: int = 40
) -> tuple[float, dict[int, np.ndarray], np.ndarray]:
    """The largest real eigenvalue that complex blocks of norm 1 reach, those blocks, and the slope by the reals.

    With ``fixed`` blocks only their eigenvalue is computed.
    """
    M, delta = parts.M, parts.real_delta(reals)
    z = np.concatenate([parts.z[i] for i in parts.rest])
    w = np.concatenate([parts.w[i] for i in parts.rest])
    try:
        inner = np.linalg.solve(np.eye(len(M)) - M @ delta, M)
    except np.linalg.LinAlgError:
        return 1e12, {i: np.ones(parts.structure.blocks[i].shape) for i in parts.rest}, np.zeros(len(reals))
    F = inner[np.ix_(z, w)]
    Q = _start_blocks(parts, F) if fixed is None else fixed
    best = (-1.0, Q, np.zeros(0), np.zeros(0))
    for _ in range(steps if fixed is None else 1):
        full = np.zeros((parts.structure.n_w, parts.structure.n_z), dtype=complex)
        full[np.ix_(w, z)] = delta_matrix(parts.structure, parts.all_deltas(0 * reals, Q))[np.ix_(w, z)]
        product = F @ full[np.ix_(w, z)]
        values, right = np.linalg.eig(product)
        i = int(np.argmax(np.abs(values))) if fixed is None else int(np.argmax(values.real))
        x, phase = right[:, i], values[i] / max(abs(values[i]), 1e-300)
        left = np.linalg.svd(product - values[i] * np.eye(len(product)))[0][:, -1].conj()
        gain = float(abs(values[i])) if fixed is None else float(values[i].real)
        better = gain > best[0] * (1 + 1e-7)
        if gain > best[0]:
            turned = Q if fixed is not None else _turned(parts, Q, phase)
            best = (gain, turned, x, left)
        if not better:
            break
        scale = left @ x
        weight = np.outer(x, left @ F) / ((scale if abs(scale) > 1e-12 else 1e-12) * phase)
        Q = aligned_blocks(parts, weight)
    return best[0], best[1], _slope(parts, reals, best, F, z, w, inner)


def _slope(
    parts: Parts,
    reals: np.ndarray,
    best: tuple,
    F: np.ndarray,
    z: np.ndarray,
    w: np.ndarray,
    inner: np.ndarray,
) -> np.ndarray:
    """d h / d delta by the eigenvectors; dF = inner[z, real] d(delta) (I - M Delta)^-1 ... on both sides."""
    gain, Q, x, left = best
    if not len(reals) or gain <= 0 or not len(x):
        return np.zeros(len(reals))
    q = delta_matrix(parts.structure, parts.all_deltas(0 * reals, Q))[np.ix_(w, z)]
    out = q @ x
    scale = left @ x
    scale = scale if abs(scale) > 1e-12 else 1e-12
    into, through = left @ inner[z], inner[:, w] @ out
    return np.array([(np.sum(into[parts.w[k]] * through[parts.z[k]]) / scale).real for k in parts.real])


def _turned(parts: Parts, Q: dict[int, np.ndarray], phase: complex) -> dict[int, np.ndarray]:
    """Blocks turned by a phase; a real one can only change its sign."""
    sign = -1.0 if phase.real < 0 else 1.0
    return {
        k: np.real(q) * sign if parts.structure.blocks[k].kind == "full real" else q / phase
        for k, q in Q.items()
    }


def _start_blocks(parts: Parts, F: np.ndarray) -> dict[int, np.ndarray]:
    u, _, v = np.linalg.svd(F)
    return aligned_blocks(parts, np.outer(u[:, 0], v[0]))


def aligned_blocks(parts: Parts, weight: np.ndarray) -> dict[int, np.ndarray]:
    """Blocks of norm 1 that maximise ``Re tr(weight Q)``."""
    out, row, column = {}, 0, 0
    for i in parts.rest:
        b = parts.structure.blocks[i]
        total = np.zeros((b.shape[1], b.shape[0]), dtype=complex)
        for _ in range(b.repetitions):
            total += weight[row : row + b.shape[1], column : column + b.shape[0]]
            row, column = row + b.shape[1], column + b.shape[0]
        total = total.real if b.kind == "full real" else total
        u, _, v = np.linalg.svd(total, full_matrices=False)
        out[i] = (u @ v).conj().T
    return out
