"""Lower bounds of mu of one matrix: a Delta, with its real scalars and complex blocks, for which I - M Delta is singular.

Real scalars alone: ``min k`` with an eigenvalue of M Delta at 1 and ``|delta_i| <= k``, from rays in many directions.
With complex blocks: their best value for given real scalars (aligned phases, as in the power iteration of Packard, Fan,
Doyle, CDC 1988) makes the condition ``k h(delta) >= 1`` smooth; the real scalars are optimised outside.
Every value returned is confirmed by the singular values of I - M Delta.
"""

from __future__ import annotations

import contextlib

import numpy as np

from lftgen.analysis.mu.aligned import aligned
from lftgen.analysis.mu.migration import directions
from lftgen.analysis.mu.singular import NEARLY_REAL, Parts, Singular, confirmed
from lftgen.analysis.mu.structure import MuStructure


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
