"""Lower bounds of mu of one matrix: a Delta, with its real scalars and complex blocks, for which I - M Delta is singular.

Real scalars alone: ``min k`` with an eigenvalue of M Delta at 1 and ``|delta_i| <= k``, from rays in many directions.
With complex blocks: their best value for given real scalars (aligned phases, as in the power iteration of Packard, Fan,
Doyle, CDC 1988) makes the condition ``k h(delta) >= 1`` smooth; the real scalars are optimised outside.
Every value returned is confirmed by the singular values of I - M Delta.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

import numpy as np

from lftgen.analysis.mu.migration import directions
from lftgen.analysis.mu.structure import MuStructure

CONFIRMED = 1e-8
"""The smallest singular value of I - M Delta, relative to its norm (or 1), that counts as zero."""
NEARLY_REAL = 1e-4
"""Eigenvalues whose imaginary part is below this, relatively, are looked at: a defective one splits by the root of eps."""


@dataclass(frozen=True)
class Singular:
    """``I - M Delta`` is singular at this Delta of norm ``size``: one value (scalar or matrix) for each block."""

    size: float
    deltas: tuple[np.ndarray, ...]

    @property
    def bound(self) -> float:
        """The lower bound of mu."""
        return 1 / self.size


def delta_matrix(structure: MuStructure, deltas: tuple[np.ndarray, ...]) -> np.ndarray:
    """Delta (columns of M x rows of M) of one value for each block."""
    out = np.zeros((structure.n_w, structure.n_z), dtype=complex)
    row = column = 0
    for b, value in zip(structure.blocks, deltas, strict=True):
        for _ in range(b.repetitions):
            out[row : row + b.shape[0], column : column + b.shape[1]] = value
            row, column = row + b.shape[0], column + b.shape[1]
    return out


def confirmed(M: np.ndarray, structure: MuStructure, deltas: tuple[np.ndarray, ...]) -> Singular | None:
    """The Delta scaled so that I - M Delta is singular, which its singular values show, or None where no scale does it."""
    product = M @ delta_matrix(structure, deltas)
    values = np.linalg.eigvals(product)
    real = values[(np.abs(values.imag) < NEARLY_REAL * np.abs(values)) & (values.real > 0)].real
    for value in np.sort(real)[::-1]:
        singular = np.linalg.svd(np.eye(len(product)) - product / value, compute_uv=False)
        if singular[-1] > CONFIRMED * max(1.0, singular[0]):
            continue
        size = max((float(np.linalg.norm(np.atleast_2d(d), 2)) for d in deltas), default=0.0) / value
        return Singular(size, tuple(d / value for d in deltas)) if size > 0 else None
    return None


def lower_bound(
    M: np.ndarray, structure: MuStructure, *, rays: int = 256, starts: int = 8, seed: int = 0
) -> Singular | None:
    """The smallest Delta found that makes I - M Delta singular, or None."""
    if not M.size or not np.any(M):
        return None
    rng = np.random.default_rng(seed)
    if structure.real_only:
        return _real(M, structure, rays, starts, rng)
    return _mixed(M, structure, min(rays, 12), min(starts, 4))


class Parts:
    """M split into channels of real scalars (with selectors) and of complex blocks."""

    def __init__(self, M: np.ndarray, structure: MuStructure) -> None:
        self.M, self.structure = M, structure
        self.real = [i for i, b in enumerate(structure.blocks) if b.kind == "real" and b.repetitions]
        self.rest = [i for i, b in enumerate(structure.blocks) if b.kind != "real" and b.repetitions]
        row = column = 0
        self.z: list[np.ndarray] = []
        self.w: list[np.ndarray] = []
        for b in structure.blocks:
            self.z.append(np.arange(row, row + b.repetitions * b.shape[1]))
            self.w.append(np.arange(column, column + b.repetitions * b.shape[0]))
            row, column = row + b.repetitions * b.shape[1], column + b.repetitions * b.shape[0]

    def real_delta(self, reals: np.ndarray) -> np.ndarray:
        out = np.zeros((*reals.shape[:-1], self.structure.n_w, self.structure.n_z))
        for k, i in enumerate(self.real):
            out[..., self.w[i], self.z[i]] = reals[..., k, None]
        return out

    def all_deltas(self, reals: np.ndarray, others: dict[int, np.ndarray]) -> tuple[np.ndarray, ...]:
        blocks = self.structure.blocks
        values = {**dict(zip(self.real, (np.asarray(r) for r in reals), strict=True)), **others}
        return tuple(values.get(i, np.zeros(b.shape)) for i, b in enumerate(blocks))


# --- real scalars alone ------------------------------------------------------------------------------------------


def _real(
    M: np.ndarray, structure: MuStructure, rays: int, starts: int, rng: np.random.Generator
) -> Singular | None:
    parts = Parts(M, structure)
    ray = directions(len(parts.real), rays, rng)
    values = np.linalg.eigvals(M @ parts.real_delta(ray))
    ahead = values.real > np.abs(values.imag) * (1 if np.iscomplexobj(M) else 1 / NEARLY_REAL)
    top = np.where(ahead, values.real, 0.0).max(axis=1)
    best: Singular | None = None
    for i in np.argsort(-top)[: 4 * starts : 4] if np.iscomplexobj(M) else np.argsort(-top)[:starts]:
        if top[i] <= 0:
            break
        start = ray[i] / top[i]
        for reals in (start, _polished(parts, start)):
            found = confirmed(M, structure, parts.all_deltas(reals, {}))
            if found is not None and (best is None or found.size < best.size):
                best = found
    return best


def _polished(parts: Parts, start: np.ndarray) -> np.ndarray:
    size, count, whole = float(np.abs(start).max()), len(start), np.iscomplexobj(parts.M)

    def eigenvalue(x: np.ndarray) -> tuple[complex, np.ndarray]:
        product = parts.M @ parts.real_delta(size * x[:count])
        values, right = np.linalg.eig(product)
        i = int(np.argmin(np.abs(values - 1)))
        left = np.linalg.svd(product - values[i] * np.eye(len(product)))[0][:, -1].conj()
        into, scale = left @ parts.M, left @ right[:, i]
        scale = scale if abs(scale) > 1e-12 else 1e-12
        slope = [np.sum(into[parts.w[k]] * right[parts.z[k], i]) / scale for k in parts.real]
        return complex(values[i]), size * np.array(slope)

    def residual(x: np.ndarray) -> np.ndarray:
        value = eigenvalue(x)[0] - 1
        return np.array([value.real, value.imag]) if whole else np.array([value.real])

    def slope(x: np.ndarray) -> np.ndarray:
        g = np.append(eigenvalue(x)[1], 0.0)
        return np.vstack([g.real, g.imag]) if whole else g.real[None]

    with contextlib.suppress(np.linalg.LinAlgError, ValueError):
        x = _smallest_box(np.append(start / size, 1.0), count, {"type": "eq", "fun": residual, "jac": slope})
        return size * x[:count]
    return start


def _smallest_box(start: np.ndarray, count: int, *conditions: dict) -> np.ndarray:
    """min x[count] subject to the conditions and ``|x_i| <= x[count]`` for the first ``count`` unknowns."""
    both = np.zeros((2 * count, len(start)))
    both[range(count), range(count)], both[range(count, 2 * count), range(count)] = -1, 1
    both[:, count] = 1
    gradient = (np.arange(len(start)) == count).astype(float)
    inside = {"type": "ineq", "fun": lambda x: both @ x, "jac": lambda x: both}
    from scipy import optimize  # a third of a second to import

    result = optimize.minimize(
        lambda x: x[count], start, jac=lambda x: gradient, method="SLSQP",
        constraints=[*conditions, inside] if count else list(conditions), options={"maxiter": 100, "ftol": 1e-12},
    )  # fmt: skip
    return result.x


# --- with complex blocks -----------------------------------------------------------------------------------------


def _mixed(M: np.ndarray, structure: MuStructure, rays: int, starts: int) -> Singular | None:
    parts, rng = Parts(M, structure), np.random.default_rng(0)
    count = len(parts.real)
    h0 = aligned(parts, np.zeros(count))[0]
    origin = np.zeros((1, count))
    ray = np.vstack([origin, directions(count, rays, rng)]) if count else origin
    scale = 1 / h0 if h0 > 0 else 1 / max(float(np.linalg.norm(M, 2)), 1e-300)
    candidates = []
    for d in ray:
        k = _first_size(parts, d, scale)
        if np.isfinite(k):
            candidates.append((k, d))
    best: Singular | None = None
    for k, d in sorted(candidates, key=lambda c: c[0])[:starts]:
        for reals in (k * d, _outer(parts, k, k * d)):
            found = _balanced(parts, reals, aligned(parts, reals)[1])
            if found is not None and (best is None or found.size < best.size):
                best = found
    return best


def local_bound(M: np.ndarray, structure: MuStructure, start: Singular) -> Singular | None:
    """The smallest Delta near to one of a neighbouring matrix (mixed structures)."""
    parts = Parts(M, structure)
    reals = np.array([float(start.deltas[i].real) for i in parts.real])
    reals = _outer(parts, start.size, reals)
    return _balanced(parts, reals, aligned(parts, reals)[1])


def _first_size(parts: Parts, d: np.ndarray, scale: float) -> float:
    """The least k with ``k h(k d) >= 1`` on a coarse grid, refined by bisection."""
    low, grid = 0.0, scale * np.geomspace(0.1, 4.0, 8)
    for k in grid:
        if k * aligned(parts, k * d, None, 8)[0] >= 1:
            high = float(k)
            for _ in range(12):
                middle = (low + high) / 2
                if middle * aligned(parts, middle * d, None, 8)[0] >= 1:
                    high = middle
                else:
                    low = middle
            return high
        low = float(k)
    return float("inf")


def _outer(parts: Parts, k: float, reals: np.ndarray) -> np.ndarray:
    """Local minimum of the size over the real scalars."""
    count = len(reals)
    if not count:
        return reals

    def condition(x: np.ndarray) -> float:
        return x[count] * aligned(parts, k * x[:count])[0] * k - 1

    def slope(x: np.ndarray) -> np.ndarray:
        h, _, g = aligned(parts, k * x[:count])
        return np.append(x[count] * k * k * g, h * k)

    with contextlib.suppress(np.linalg.LinAlgError, ValueError):
        x = _smallest_box(np.append(reals / k, 1.0), count, {"type": "ineq", "fun": condition, "jac": slope})
        return k * x[:count]
    return reals


def _balanced(parts: Parts, reals: np.ndarray, others: dict[int, np.ndarray]) -> Singular | None:
    """Complex blocks of the size that makes the eigenvalue 1 with these real scalars."""
    h = aligned(parts, reals, others)[0]
    if not h > 0:
        return None
    deltas = parts.all_deltas(reals, {i: q / h for i, q in others.items()})
    return confirmed(parts.M, parts.structure, deltas)


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
