"""Lower bound of mu for real parameters: the smallest box with a point that has a pole on the imaginary axis.

Power iterations are weak where all parameters are real.  Here poles are followed instead (Magni, Doll, *A new lower
bound of the real structured singular value*, 1997; Ferreres, Biannic, *Reliable computation of the robustness margin for
a flexible aircraft*, 2001): rays from the nominal find the first crossing in many directions at once, and from the
best ones ``min k`` with ``Re pole(delta) >= 0, |delta_i| <= k`` is solved with exact sensitivities of the poles.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from lftgen.analysis.mu.loop import Loop

RAY_POINTS = 48


@dataclass(frozen=True)
class Destabiliser:
    """A point of ``size`` times the box with a pole that is not stable, or where the loop is ill-posed.

    ``frequency`` is the pole's imaginary part (rad/s), inf where the loop is ill-posed; ``others`` the complex blocks by
    their number, where there are any.
    """

    size: float
    reals: np.ndarray
    frequency: float
    others: Mapping[int, np.ndarray] = field(default_factory=dict)


def directions(count: int, limit: int, rng: np.random.Generator) -> np.ndarray:
    """Directions of unit maximum norm: single parameters, corners (all, or a sample), faces."""
    if not count:
        return np.zeros((0, 0))
    single = np.vstack([np.eye(count), -np.eye(count)])
    if 2**count <= limit // 2:
        corners = np.array(list(itertools.product((-1.0, 1.0), repeat=count))).reshape(-1, count)
    else:
        corners = rng.choice([-1.0, 1.0], size=(limit // 2, count))
    faces = rng.uniform(-1, 1, size=(max(limit - len(corners) - len(single), 0), count))
    faces /= np.abs(faces).max(axis=1, keepdims=True)
    return np.vstack([single, corners, faces])


def first_crossings(loop: Loop, rays: np.ndarray, largest: float) -> np.ndarray:
    """For each ray the least multiple (up to ``largest``) at which the loop is unstable or ill-posed; inf if none."""
    steps = np.concatenate([[0.0], np.geomspace(1e-3, 1.0, RAY_POINTS)]) * largest
    poles = loop.poles(steps[None, :, None] * rays[:, None, :])
    unstable = poles.real.max(axis=2, initial=-np.inf) >= 0
    out = np.full(len(rays), np.inf)
    hit = unstable.any(axis=1)
    first = np.maximum(unstable.argmax(axis=1), 1)
    low, high = steps[first - 1], steps[first]
    for _ in range(40):
        if not hit.any():
            break
        middle = (low + high) / 2
        bad = loop.poles(middle[hit, None] * rays[hit]).real.max(axis=1) >= 0
        high[hit], low[hit] = np.where(bad, middle[hit], high[hit]), np.where(bad, low[hit], middle[hit])
    out[hit] = high[hit]
    return np.minimum(out, ill_posed(loop, rays, largest))


def ill_posed(loop: Loop, rays: np.ndarray, largest: float) -> np.ndarray:
    """For each ray the least multiple at which ``I - M Delta`` without states is singular; inf if none up to ``largest``."""
    m = loop.M[loop.z, loop.w]
    if not np.any(m):
        return np.full(len(rays), np.inf)
    values = np.linalg.eigvals(m @ loop.delta(rays))
    real = (np.abs(values.imag) <= 1e-9 * np.abs(values)) & (values.real > 1 / largest)
    top = np.where(real, values.real, 0.0).max(axis=1, initial=0.0)
    return np.divide(1.0, top, out=np.full(len(rays), np.inf), where=top > 0)


def critical_pole(loop: Loop, reals: np.ndarray) -> tuple[complex, np.ndarray]:
    """The pole of largest real part and its derivative by each real scalar."""
    n, delta = loop.n, loop.delta(reals)
    M, z, w = loop.M, loop.z, loop.w
    x = np.linalg.solve(np.eye(loop.structure.n_z) - M[z, w] @ delta, M[z, :n])
    y = np.linalg.solve(np.eye(loop.structure.n_w) - (delta @ M[z, w]).T, M[:n, w].T).T
    A = M[:n, :n] + M[:n, w] @ delta @ x
    values, right = np.linalg.eig(A)
    i = int(np.argmax(values.real))
    v = right[:, i]
    left = np.linalg.svd(A - values[i] * np.eye(n))[0][:, -1].conj()
    scale = left @ v
    if abs(scale) < 1e-12:
        scale = 1e-12
    into, out = left @ y, x @ v
    slope = np.array(
        [np.sum(into[loop.channels_of(b)[1]] * out[loop.channels_of(b)[0]]) / scale for b in loop.real_blocks]
    )
    return complex(values[i]), slope


def smallest_destabiliser(
    loop: Loop,
    *,
    largest: float = 100.0,
    rays: int = 256,
    starts: int = 8,
    seed: int = 0,
    extra: np.ndarray | None = None,
) -> Destabiliser | None:
    """The best destabilising point found within ``largest`` times the box, or None."""
    count = len(loop.real_blocks)
    if not count or not loop.n:
        return None
    rays_ = directions(count, rays, np.random.default_rng(seed))
    if extra is not None and len(extra):
        rays_ = np.vstack([extra / np.abs(extra).max(axis=1, keepdims=True), rays_])
    reach = first_crossings(loop, rays_, largest)
    best: Destabiliser | None = None
    for i in _spread(reach, rays_, starts):
        found = _polish(loop, reach[i] * rays_[i], largest)
        if found is not None and (best is None or found.size < best.size):
            best = found
    return best


def _spread(reach: np.ndarray, rays: np.ndarray, starts: int) -> list[int]:
    """The best rays that are not near to each other."""
    chosen: list[int] = []
    for i in np.argsort(reach):
        if not np.isfinite(reach[i]) or len(chosen) == starts:
            break
        if all(np.abs(rays[i] - rays[j]).max() > 0.3 for j in chosen):
            chosen.append(int(i))
    return chosen


def _polish(loop: Loop, point: np.ndarray, largest: float) -> Destabiliser | None:
    """Local minimum of the size from a crossing, verified along its ray."""
    size = float(np.abs(point).max())
    candidates = [point]
    with contextlib.suppress(np.linalg.LinAlgError, ValueError):
        candidates.append(_minimise_size(loop, point, size))
    best = None
    for candidate in candidates:
        found = verified(loop, candidate, largest)
        if found is not None and (best is None or found.size < best.size):
            best = found
    return best


def _minimise_size(loop: Loop, point: np.ndarray, size: float) -> np.ndarray:
    speed = 1 / max(float(np.abs(loop.poles(point)).max()), 1e-12)
    count = len(point)

    def pole(x: np.ndarray) -> float:
        return critical_pole(loop, size * x[:count])[0].real * speed

    def pole_slope(x: np.ndarray) -> np.ndarray:
        return np.append(critical_pole(loop, size * x[:count])[1].real * speed * size, 0.0)

    both = np.vstack(
        [np.hstack([-np.eye(count), np.ones((count, 1))]), np.hstack([np.eye(count), np.ones((count, 1))])]
    )
    from scipy import optimize  # a third of a second to import

    result = optimize.minimize(
        lambda x: x[-1],
        np.append(point / size, 1.0),
        jac=lambda x: np.append(np.zeros(count), 1.0),
        method="SLSQP",
        constraints=[
            {"type": "eq", "fun": pole, "jac": pole_slope},
            {"type": "ineq", "fun": lambda x: both @ x, "jac": lambda x: both},
        ],
        options={"maxiter": 100, "ftol": 1e-12},
    )
    return size * result.x[:count]


def verified(loop: Loop, point: np.ndarray, largest: float) -> Destabiliser | None:
    """The first point on the ray through (and a little beyond) a candidate with a pole that is not stable."""
    size = float(np.abs(point).max())
    if not np.isfinite(size) or size == 0:
        return None
    ray = point / size
    reach = float(first_crossings(loop, ray[None], min(1.02 * size, largest))[0])
    if not np.isfinite(reach):
        return None
    reals = reach * ray
    poles = loop.poles(reals)
    if not np.all(np.isfinite(poles)) or np.abs(poles).max() > 1e200 or _singular(loop, reals):
        return Destabiliser(reach, reals, float("inf"))
    worst = poles[np.argmax(poles.real)]
    return Destabiliser(reach, reals, float(abs(worst.imag)))


def _singular(loop: Loop, reals: np.ndarray) -> bool:
    m = loop.M[loop.z, loop.w]
    return bool(np.linalg.cond(np.eye(len(m)) - m @ loop.delta(reals)) > 1e9)
