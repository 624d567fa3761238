"""Worst values of complex blocks (uncertain dynamics) for the gain at one frequency, real scalars given.

With the real scalars closed the gain is that of ``N22 + N21 Q (I - N11 Q)^-1 N12``, Q the complex blocks.  Its largest
singular value has the derivative ``Re tr(W dQ)`` with ``W = (I - N11 Q)^-1 N12 v u* N21 (I - Q N11)^-1``, and the blocks of
norm 1 that maximise ``Re tr(W Q)`` come from the singular vectors of W's blocks (aligned phases, as in the power iteration
of Packard, Fan, Doyle, CDC 1988).  Steps that do not raise the gain are shortened.

A frozen value at one frequency is taken there by stable dynamics of the same norm, so where the loop is stable for all
dynamics the gain found is one that it has; where it is not, the worst gain is infinite anyway.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lftgen.analysis.mu.aligned import aligned_blocks
from lftgen.analysis.mu.loop import Loop
from lftgen.analysis.mu.singular import Parts, delta_matrix

STEPS = 60
STARTS = 3
HALVINGS = 6


@dataclass(frozen=True)
class WorstBlocks:
    """Complex blocks of norm 1 at most, by their number, and the gain that they reach."""

    gain: float
    others: dict[int, np.ndarray]


def has_dynamics(loop: Loop) -> bool:
    """Whether some block is no real scalar."""
    return len(loop.real_blocks) < len(loop.structure.blocks)


def response(loop: Loop, w: float) -> np.ndarray:
    """[z; y] over [w; u] at a frequency, (n_z + n_y, n_w + n_u), complex."""
    n, M = loop.n, loop.M
    if not n or np.isinf(w):
        return M[n:, n:].astype(complex)
    return np.asarray(M[n:, n:] + M[n:, :n] @ np.linalg.solve(1j * w * np.eye(n) - M[:n, :n], M[:n, n:]))


def gain_at(loop: Loop, reals: np.ndarray, w: float, others: dict[int, np.ndarray]) -> float:
    """The gain at a frequency with real scalars (n_real,) and complex blocks by their number; inf on a pole."""
    try:
        G = response(loop, w)
        n_z, n_w = loop.structure.n_z, loop.structure.n_w
        delta = delta_matrix(loop.structure, Parts(G[:n_z, :n_w], loop.structure).all_deltas(reals, others))
        inner = np.linalg.solve(np.eye(n_z) - G[:n_z, :n_w] @ delta, G[:n_z, n_w:])
        value = G[n_z:, n_w:] + G[n_z:, :n_w] @ delta @ inner
    except np.linalg.LinAlgError:
        return float("inf")
    return float(np.linalg.norm(value, 2)) if value.size else 0.0


def worst_blocks(
    loop: Loop,
    reals: np.ndarray,
    w: float,
    begin: dict[int, np.ndarray] | None = None,
    *,
    random: int = STARTS,
) -> WorstBlocks:
    """Local maximum of the gain over the complex blocks, from given ones, from zero and from a few random ones."""
    parts = Parts(loop.M[loop.z, loop.w], loop.structure)
    rng = np.random.default_rng(0)
    zero = {i: np.zeros(parts.structure.blocks[i].shape, dtype=complex) for i in parts.rest}
    try:
        N, n_z, n_w = _closed(loop, parts, reals, w)
    except np.linalg.LinAlgError:
        return WorstBlocks(0.0, zero)
    starts = [begin] if begin and not random else [zero, *([begin] if begin else [])]
    for _ in range(random):
        weight = rng.normal(size=(n_z, n_w)) + 1j * rng.normal(size=(n_z, n_w))
        starts.append(aligned_blocks(parts, weight))
    return max((_ascent(parts, N, n_z, n_w, q) for q in starts), key=lambda x: x.gain)


def _closed(loop: Loop, parts: Parts, reals: np.ndarray, w: float) -> tuple[np.ndarray, int, int]:
    """The response with the real scalars closed: rows [z of complex blocks; y], columns [w of complex blocks; u]."""
    G = response(loop, w)
    n_z, n_w = loop.structure.n_z, loop.structure.n_w
    delta = parts.real_delta(reals)
    inner = np.linalg.solve(np.eye(n_z) - G[:n_z, :n_w] @ delta, G[:n_z])
    whole = np.vstack([inner, G[n_z:] + G[n_z:, :n_w] @ (delta @ inner)])
    z = np.concatenate([parts.z[i] for i in parts.rest])
    columns = np.concatenate([parts.w[i] for i in parts.rest])
    rows = np.concatenate([z, np.arange(n_z, len(G))]).astype(int)
    return whole[np.ix_(rows, [*columns, *range(n_w, G.shape[1])])], len(z), len(columns)


def _ascent(parts: Parts, N: np.ndarray, n_z: int, n_w: int, q: dict[int, np.ndarray]) -> WorstBlocks:
    z = np.concatenate([parts.z[i] for i in parts.rest])
    w = np.concatenate([parts.w[i] for i in parts.rest])
    no_reals = np.zeros(len(parts.real))

    def value(blocks: dict[int, np.ndarray]) -> tuple[float, np.ndarray]:
        Q = delta_matrix(parts.structure, parts.all_deltas(no_reals, blocks))[np.ix_(w, z)]
        try:
            into = np.linalg.solve(np.eye(n_z) - N[:n_z, :n_w] @ Q, N[:n_z, n_w:])
            out = np.linalg.solve((np.eye(n_w) - Q @ N[:n_z, :n_w]).T, N[n_z:, :n_w].T).T
        except np.linalg.LinAlgError:
            return -1.0, np.zeros((n_z, n_w))
        u, s, v = np.linalg.svd(N[n_z:, n_w:] + N[n_z:, :n_w] @ Q @ into)
        return float(s[0]), np.outer(into @ v[0].conj(), u[:, 0].conj() @ out)

    gain, weight = value(q)
    for _ in range(STEPS):
        goal, step, before = aligned_blocks(parts, weight), 1.0, gain
        for _ in range(HALVINGS):
            new = {i: q[i] + step * (goal[i] - q[i]) for i in parts.rest}
            there, slope = value(new)
            if there > gain:
                q, gain, weight = new, there, slope
                break
            step /= 2
        if gain <= before * (1 + 1e-9):
            break
    return WorstBlocks(gain, q)
