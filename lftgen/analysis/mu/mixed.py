"""Lower bound of mu of a system with complex blocks: the frequency and the Delta that destabilise with the least size.

Frequencies come from the upper bound: its peaks, then a local search around each.
"""

from __future__ import annotations

import numpy as np

from lftgen.analysis.mu.frequencies import Channels, Clock
from lftgen.analysis.mu.gains import interesting_frequencies
from lftgen.analysis.mu.loop import Loop
from lftgen.analysis.mu.lower import local_bound, lower_bound
from lftgen.analysis.mu.migration import Destabiliser
from lftgen.analysis.mu.singular import Singular
from lftgen.analysis.mu.structure import MuStructure
from lftgen.analysis.mu.upper import Problem, minimise

COARSE = 0.05
PEAKS = 3


def mixed_destabiliser(loop: Loop, *, largest: float, clock: Clock, seed: int = 0) -> Destabiliser | None:
    """The smallest destabilising Delta found, its complex blocks as matrices at the frequency."""
    channels, structure = loop.channels()
    best: tuple[float, Singular] | None = None
    grid = interesting_frequencies(loop, np.zeros((1, len(loop.real_blocks))), 30)
    for w in upper_peaks(channels, structure, grid, clock):
        if clock.over:
            break
        found = lower_bound(matrix_at(channels, structure, w), structure, seed=seed)
        if found is None:
            continue
        w, found = _refined(channels, structure, w, found)
        if best is None or found.size < best[1].size:
            best = (w, found)
    if best is None or best[1].size > largest:
        return None
    w, found = best
    reals = np.array([float(found.deltas[i].real) for i in loop.real_blocks])
    others = {i: d for i, d in enumerate(found.deltas) if i not in loop.real_blocks}
    return Destabiliser(found.size, reals, w, others)


def matrix_at(channels: Channels, structure: MuStructure, w: float) -> np.ndarray:
    """M(jw) without its padding."""
    return channels.at(w)[np.ix_(structure.rows, structure.columns)]


def upper_peaks(
    channels: Channels, structure: MuStructure, frequencies: np.ndarray, clock: Clock
) -> list[float]:
    """The frequencies at which a coarse upper bound has its largest local maxima."""
    problem, warm, levels = Problem.whole(structure), None, []
    for w in frequencies:
        if clock.over:
            break
        warm = minimise(channels.at(w), problem, start=warm, tolerance=COARSE)
        levels.append(warm.level)
        warm = warm if np.isfinite(warm.level) else None
    padded = np.array([-1.0, *levels, -1.0])
    tops = [i for i in range(len(levels)) if padded[i + 1] >= max(padded[i], padded[i + 2])]
    return [float(frequencies[i]) for i in sorted(tops, key=lambda i: -levels[i])[:PEAKS]]


def _refined(channels: Channels, structure: MuStructure, w: float, found: Singular) -> tuple[float, Singular]:
    """A local search over the frequency."""
    if w == 0 or np.isinf(w):
        return w, found
    best, at = found, w

    def size(log: float) -> float:
        nonlocal best, at
        frequency = float(w * np.exp(log))
        near = local_bound(matrix_at(channels, structure, frequency), structure, best)
        if near is None:
            return 1e3 * found.size
        if near.size < best.size:
            best, at = near, frequency
        return near.size

    from scipy import optimize  # a third of a second to import

    optimize.minimize_scalar(
        size, bounds=(-0.4, 0.4), method="bounded", options={"xatol": 1e-4, "maxiter": 25}
    )
    return at, best
