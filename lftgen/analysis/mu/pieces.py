"""Branch and bound over the box of real parameters, where D, G scalings of the whole box leave a gap.

A piece of the box is a loop of its own (its middle is the new nominal), whose scalings are less conservative.  A piece
that resists is halved along the parameter whose halves have the lower bound at the frequency that resisted.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from lftgen.analysis.mu.frequencies import Clock, Cover, cover
from lftgen.analysis.mu.loop import Loop
from lftgen.analysis.mu.upper import Problem, minimise

COARSE = 0.05
"""Relative tolerance of the bounds that only choose where to cut."""
GIVE_UP = 0.97
"""A piece whose bound comes this near to that of the piece it was cut from is cut again at once."""
MIN_WIDTH = 1e-6
ZERO = 1e-9
"""A gain below this, in units of the loop's, counts as zero."""
WORK, FEWEST, MOST = 8e6, 60, 1000
"""Pieces of a box that are looked at: their number times the cube of a loop's size, and its limits."""


def budget(loop: Loop) -> int:
    """How many pieces a search may cost; counted, so that a result does not depend on the load of the machine."""
    return int(np.clip(WORK / (loop.n + loop.structure.size + 1) ** 3, FEWEST, MOST))


@dataclass(order=True)
class Piece:
    """A piece of the box with an upper bound over it (``key`` is its negative, for the heap)."""

    key: float
    number: int
    low: np.ndarray = field(compare=False)
    high: np.ndarray = field(compare=False)
    peak: float = field(compare=False, default=0.0)


def bound_piece(
    loop: Loop, piece: tuple[np.ndarray, np.ndarray], *, size: float, gain: bool, level: float, limit: float, clock: Clock,
    first: tuple[float, ...], margin: float,
) -> tuple[Cover, bool]:  # fmt: skip
    """Certified level over a piece (see `cover`), and whether its middle is stable."""
    try:
        local = loop.piece(*piece, size)
    except np.linalg.LinAlgError:
        return Cover(np.inf, np.inf, failed=True), False
    channels, structure = local.channels(gain)
    if not channels.stable:
        return Cover(np.inf, 0.0, failed=True), False
    problem = Problem.skewed(structure) if gain else Problem.whole(structure)
    return cover(channels, problem, level, limit=limit, first=first, clock=clock, margin=margin), True


def halves(low: np.ndarray, high: np.ndarray, i: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """The two halves along parameter i."""
    middle = low.copy()
    middle[i] = (low[i] + high[i]) / 2
    top = high.copy()
    top[i] = middle[i]
    return [(low, top), (middle, high)]


def best_cut(
    loop: Loop, low: np.ndarray, high: np.ndarray, peak: float, *, size: float, gain: bool, target: float
) -> int:
    """The parameter whose halves have the lowest bounds at a frequency."""
    widths = high - low
    if not np.any(widths > 0):
        return 0
    scores = []
    for i in range(len(low)):
        if widths[i] < 0.02 * widths.max():
            scores.append((np.inf, np.inf))
            continue
        values = [_level_at(loop, h, peak, size, gain, target) for h in halves(low, high, i)]
        scores.append(max(values))
    order = sorted(range(len(low)), key=lambda i: (*scores[i], -widths[i]))
    return order[0]


def _level_at(
    loop: Loop, piece: tuple[np.ndarray, np.ndarray], peak: float, size: float, gain: bool, target: float
) -> tuple[float, float]:
    """Bound at one frequency; where a gain has none, the bound of mu tells how far from stability one is."""
    try:
        local = loop.piece(*piece, size)
    except np.linalg.LinAlgError:
        return np.inf, np.inf
    channels, structure = local.channels(gain)
    if not channels.stable:
        return np.inf, np.inf
    problem = Problem.skewed(structure) if gain else Problem.whole(structure)
    level = minimise(channels.at(peak), problem, tolerance=COARSE, target=0.0).level
    if np.isfinite(level) or not gain:
        return level, 0.0
    channels, structure = local.channels(False)
    return np.inf, minimise(channels.at(peak), Problem.whole(structure), tolerance=COARSE).level


@dataclass
class Proof:
    """Outcome of `certify_stability`: ``pieces`` looked at, an ``unstable`` point, whether the pieces or the time ran out."""

    proven: bool
    pieces: int
    unstable: np.ndarray | None = None
    exhausted: bool = False


def certify_stability(loop: Loop, size: float, clock: Clock, first: tuple[float, ...], limit: int) -> Proof:
    """Whether every point of ``size`` times the box is stable and well-posed, by ``limit`` pieces at most, depth first."""
    count = len(loop.real_blocks)
    stack = [(-size * np.ones(count), size * np.ones(count), first)]
    done = 0
    while stack:
        if clock.over or done >= limit:
            return Proof(False, done, exhausted=True)
        done += 1
        low, high, begin = stack.pop()
        result, stable = bound_piece(
            loop,
            (low, high),
            size=size,
            gain=False,
            level=1.0,
            limit=1.0,
            clock=clock,
            first=begin,
            margin=0.0,
        )
        if result.complete:
            continue
        if not stable:
            return Proof(False, done, (low + high) / 2)
        if not count or (high - low).max() < MIN_WIDTH * size:
            return Proof(False, done)
        if not result.failed:
            return Proof(False, done)
        cut = best_cut(loop, low, high, result.peak, size=size, gain=False, target=1.0)
        stack += [(*h, (result.peak,)) for h in halves(low, high, cut)]
    return Proof(True, done)


@dataclass
class GainSearch:
    """State of the branch and bound of a worst-case gain; readable at any time."""

    loop: Loop
    lower: float
    tolerance: float
    clock: Clock
    improve: Callable[[np.ndarray], float]
    report: Callable[[float, float], None]
    first: tuple[float, ...] = ()
    upper: float = np.inf
    pieces: int = 0
    unstable: np.ndarray | None = None
    heap: list[Piece] = field(default_factory=list)
    closed: float = 0.0
    finished: bool = False

    @property
    def goal(self) -> float:
        """An upper bound that is good enough."""
        return max(self.lower * (1 + self.tolerance), ZERO)

    def _target(self) -> float:
        """The level that pieces are asked for: a little less."""
        return max(self.lower * (1 + 0.9 * self.tolerance), 0.5 * ZERO)

    def run(self) -> None:
        """Refine until the bounds meet, a point turns out unstable, or the pieces or the time run out."""
        count, numbers = len(self.loop.real_blocks), itertools.count()
        one = np.ones(count)
        self._add(next(numbers), -one, one, np.inf, self.first)
        self._note()
        most = budget(self.loop)
        while self.heap and not self.clock.over and self.unstable is None and self.pieces < most:
            worst = heapq.heappop(self.heap)
            if -worst.key <= self.goal or (worst.high - worst.low).max(initial=0) < MIN_WIDTH:
                heapq.heappush(self.heap, worst)
                self.finished = True
                break
            target = self._target()
            cut = best_cut(self.loop, worst.low, worst.high, worst.peak, size=1.0, gain=True, target=target)
            parts = halves(worst.low, worst.high, cut)
            for k, (low, high) in enumerate(parts):
                try:
                    self._add(next(numbers), low, high, -worst.key, (worst.peak,))
                except KeyboardInterrupt:
                    for rest in parts[k:]:
                        heapq.heappush(self.heap, Piece(worst.key, next(numbers), *rest, worst.peak))
                    raise
            self._note()

    def _add(
        self, number: int, low: np.ndarray, high: np.ndarray, bound: float, first: tuple[float, ...]
    ) -> None:
        """Bound a piece (no worse than what it was cut from) and keep it."""
        target = self._target()
        limit = bound * GIVE_UP if np.isfinite(bound) else np.inf
        result, stable = bound_piece(
            self.loop, (low, high), size=1.0, gain=True, level=target, limit=max(limit, target), clock=self.clock,
            first=first, margin=2e-3,
        )  # fmt: skip
        self.pieces += 1
        if not stable:
            self.unstable = (low + high) / 2
        level = min(result.level, bound) if result.complete else bound
        heapq.heappush(self.heap, Piece(-level, number, low, high, result.peak))
        if level > target:
            self.lower = max(self.lower, self.improve((low + high) / 2))

    def _note(self) -> None:
        self.upper = min(self.upper, max((-p.key for p in self.heap), default=np.inf))
        self.upper = max(self.upper, self.lower)
        self.report(self.lower, self.upper)
