"""Lower bound of the worst-case gain: the largest H-infinity norm found over the box, with its parameter point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from lftgen.analysis.mu.dynamics import has_dynamics, worst_blocks
from lftgen.analysis.mu.frequencies import Clock
from lftgen.analysis.mu.loop import Loop
from lftgen.analysis.mu.migration import directions
from lftgen.analysis.mu.singular import delta_matrix

TURNS = 4
"""How often complex blocks and the rest are improved by turns."""


DYNAMIC = 4
"""From how many of the worst points without dynamics a search with them begins."""


@dataclass(frozen=True)
class Peak:
    """A gain at a point and a frequency (rad/s); ``others`` the complex blocks by their number, where there are any."""

    gain: float
    reals: np.ndarray
    frequency: float
    others: Mapping[int, np.ndarray] = field(default_factory=dict)


def sample(loop: Loop, points: np.ndarray, frequencies: np.ndarray) -> np.ndarray:
    """Largest singular value at (points, frequencies)."""
    n, (ny, nu) = loop.n, loop.outer
    out = np.zeros((len(points), len(frequencies)))
    if not ny or not nu:
        return out
    ports = loop.ports(points)
    A, B, C, D = ports[:, :n, :n], ports[:, :n, n:], ports[:, n:, :n], ports[:, n:, n:]
    for k, w in enumerate(frequencies):
        still = np.isinf(w) or not n
        G = D if still else D + C @ np.linalg.solve(1j * w * np.eye(n) - A, B)
        out[:, k] = np.linalg.norm(G, 2, axis=(1, 2))
    return out


def interesting_frequencies(loop: Loop, points: np.ndarray, count: int = 40) -> np.ndarray:
    """Where gains may peak: resonances at the points, what lies between them, 0 and infinity."""
    poles = loop.poles(points).ravel() if loop.n else np.zeros(0)
    poles = poles[np.isfinite(poles) & (np.abs(poles) < 1e200)]
    if not len(poles):
        return np.array([0.0, np.inf])
    size = np.abs(poles)
    light = poles[np.abs(poles.real) < 0.5 * size]
    low, high = max(size.min() / 10, 1e-6 * size.max()), 10 * size.max()
    resonant = np.quantile(np.abs(light.imag), np.linspace(0, 1, 12)) if len(light) else np.zeros(0)
    return np.unique(np.concatenate([[0.0, np.inf], np.geomspace(low, high, count), resonant]))


def gain_and_slope(
    loop: Loop, reals: np.ndarray, w: float, others: Mapping[int, np.ndarray] | None = None
) -> tuple[float, np.ndarray, float]:
    """Largest singular value of G(jw) and its derivatives by the real scalars (n_real,) and by w; complex blocks fixed."""
    n = loop.n
    delta, M = loop.delta(reals), loop.M
    if others:
        blocks = enumerate(loop.structure.blocks)
        delta = delta + delta_matrix(
            loop.structure, tuple(others.get(i, np.zeros(b.shape)) for i, b in blocks)
        )
    # the inner channels together: states (1/s) and Delta
    top = n + loop.structure.n_z
    M11 = M[:top, : n + loop.structure.n_w]
    M12, M21, M22 = M[:top, loop.w.stop :], M[top:, : loop.w.stop], M[top:, loop.w.stop :]
    inner = np.zeros((n + loop.structure.n_w, top), dtype=complex)
    inner[range(n), range(n)] = 0.0 if np.isinf(w) else 1 / (1j * w)
    inner[n:, n:] = delta
    right = np.linalg.solve(np.eye(top) - M11 @ inner, M12)  # into the inner blocks
    G = M22 + M21 @ (inner @ right)
    left = np.linalg.solve((np.eye(top) - M11 @ inner).T, (M21 @ inner).T).T @ M11 + M21
    u, s, v = np.linalg.svd(G)
    a, b = u[:, 0].conj() @ left, right @ v[0].conj()
    slope = np.array(
        [np.sum(a[n:][loop.channels_of(k)[1]] * b[n:][loop.channels_of(k)[0]]).real for k in loop.real_blocks]
    )
    by_w = 0.0 if np.isinf(w) else float((a[:n] @ b[:n] * (1j / w**2)).real)
    return float(s[0]), slope, by_w


def climb(
    loop: Loop,
    reals: np.ndarray,
    w: float,
    low: np.ndarray,
    high: np.ndarray,
    others: Mapping[int, np.ndarray] | None = None,
    *,
    align: bool = False,
) -> Peak:
    """Local maximum of the gain over point and frequency together, from a start.

    Complex blocks stay as they are (zero), or with ``align`` follow as the best ones near to the last.
    """
    count, held = len(reals), dict(others or {})
    if w <= 0 or np.isinf(w):
        w = max(w, 1e-9) if not np.isinf(w) else np.inf

    def objective(x: np.ndarray) -> tuple[float, np.ndarray]:
        frequency = np.inf if np.isinf(w) else w * np.exp(x[-1])
        try:
            if align:
                held.update(worst_blocks(loop, x[:count], frequency, held, random=0).others)
            gain, slope, by_w = gain_and_slope(loop, x[:count], frequency, held)
        except np.linalg.LinAlgError:
            return 0.0, np.zeros(count + 1)
        by_log = 0.0 if np.isinf(w) else by_w * frequency
        return -np.log(max(gain, 1e-300)), -np.append(slope, by_log) / max(gain, 1e-300)

    bounds = [*zip(low, high, strict=True), (-3.0, 3.0)]
    from scipy import optimize  # a third of a second to import

    found = optimize.minimize(
        objective, np.append(reals, 0.0), jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 200}
    )
    x = found.x
    at = np.inf if np.isinf(w) else float(w * np.exp(x[-1]))
    return Peak(float(np.exp(-found.fun)), x[:count], at, held)


def search(
    loop: Loop,
    *,
    starts: int = 64,
    climbs: int = 10,
    seed: int = 0,
    also: Sequence[Peak] = (),
    clock: Clock | None = None,
) -> list[Peak]:
    """Distinct local worst points over the box [-1, 1], the worst first; ``also`` begins from further peaks."""
    clock = clock or Clock(np.inf)
    if not all(loop.outer):
        return []
    count, rng = len(loop.real_blocks), np.random.default_rng(seed)
    points = np.vstack(
        [np.zeros((1, count)), directions(count, starts, rng), rng.uniform(-1, 1, (starts, count))]
    )
    frequencies = interesting_frequencies(loop, points)
    values = sample(loop, points, frequencies)
    best = values.max(axis=1)
    low, high = -np.ones(count), np.ones(count)
    peaks: list[Peak] = []
    tried: list[int] = []
    for i in np.argsort(-best):
        if len(tried) == climbs or (tried and clock.over):
            break
        if any(np.abs(points[i] - points[j]).max(initial=0.0) < 0.25 for j in tried):
            continue
        tried.append(int(i))
        w = float(frequencies[values[i].argmax()])
        w = float(frequencies[1]) / 10 if w == 0 and len(frequencies) > 2 else w
        peaks.append(climb(loop, points[i], w, low, high))
        static = values[i, 0]
        if static > peaks[-1].gain:
            peaks[-1] = Peak(float(static), points[i], 0.0)
    if has_dynamics(loop):
        begin = [*also, *distinct(peaks)[:DYNAMIC], *_dynamic_peaks(loop, points[:1], starts)]
        peaks += [with_dynamics(loop, p) for p in begin if not clock.over]
    return distinct(peaks)


def _dynamic_peaks(loop: Loop, middle: np.ndarray, starts: int) -> list[Peak]:
    """The frequencies at which complex blocks raise the gain most, real scalars at the middle of the box (1, n_real)."""
    grid = interesting_frequencies(loop, middle, min(starts, 24))
    found = [worst_blocks(loop, middle[0], float(w)).gain for w in grid]
    padded = np.array([-1.0, *found, -1.0])
    tops = [i for i in range(len(grid)) if padded[i + 1] >= max(padded[i], padded[i + 2])]
    best = sorted(tops, key=lambda i: -found[i])[:3]
    return [Peak(found[i], middle[0], float(grid[i])) for i in best]


def with_dynamics(loop: Loop, peak: Peak) -> Peak:
    """Local maximum over complex blocks, real scalars and frequency, from a peak (and its blocks, where it has any).

    The gain with the best blocks has the slope by the rest that it has with those blocks held fixed.
    """
    one = np.ones(len(peak.reals))
    first = worst_blocks(loop, peak.reals, peak.frequency, dict(peak.others))
    best = Peak(first.gain, peak.reals, peak.frequency, first.others)
    for _ in range(TURNS):
        moved = climb(loop, best.reals, best.frequency, -one, one, best.others, align=True)
        blocks = worst_blocks(loop, moved.reals, moved.frequency, dict(moved.others))
        if blocks.gain <= best.gain * (1 + 1e-6):
            break
        best = Peak(blocks.gain, moved.reals, moved.frequency, blocks.others)
    return best


def distinct(peaks: list[Peak]) -> list[Peak]:
    """The worst first, without those that repeat another's point."""
    out: list[Peak] = []
    for p in sorted(peaks, key=lambda p: -p.gain):
        if all(np.abs(p.reals - q.reals).max(initial=0.0) > 1e-3 for q in out):
            out.append(p)
    return out
