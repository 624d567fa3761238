"""The search for controllers at the active points: from many starting points, coarse first, the best ones in full.

Every stop rule counts steps; the deadline is a net below them, so that what is found does not depend on the machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from lftgen.analysis.design.nonsmooth import Options, Target, minimise
from lftgen.analysis.design.problem import GainTarget, PoleTarget, Problem
from lftgen.analysis.design.starts import Starts

COARSE, COARSE_STEPS = 1e-3, 200
"""Relative accuracy and steps from each starting point."""
POLISHED, POLISHES = 4, 6
"""How many of the best go on, and how often each is taken up again with a fresh quadratic term."""
HOPELESS = 0.5
"""Polished once, a candidate this far above the best (in logarithms) is left as it is."""
STEPS = 400
RESTARTS = 10
"""Random points tried where the controller cannot be moved to stabilise a point that was added."""

Progress = Callable[[str, float], None]
Found = tuple[float, np.ndarray]
"""Merit (logarithm of the largest norm over its goal) and the free variables."""


@dataclass
class Search:
    """How controllers are searched.

    ``decay`` (1/s) and ``tolerance`` as in :func:`design`; ``deadline`` as ``time.monotonic`` tells it; ``interrupted``
    after Ctrl-C.
    """

    starts: Starts
    decay: float
    tolerance: float
    deadline: float
    progress: Progress | None = None
    interrupted: bool = False

    @property
    def over(self) -> bool:
        """Whether the time is over, or the user has had enough."""
        return self.interrupted or time.monotonic() > self.deadline

    def tell(self, text: str, merit: float) -> None:
        """Report the best value so far."""
        if self.progress is None:
            return
        try:
            self.progress(text, float(np.exp(merit)))
        except KeyboardInterrupt:
            self.interrupted = True

    def candidates(self, problem: Problem, guesses: list[np.ndarray]) -> list[Found]:
        """Minima from the starting points, the best first and only a few; none where none stabilises."""
        found: list[Found] = []
        for k, x0 in enumerate(guesses):
            if self.over and found:
                break
            coarse = self.improve(problem, x0, max(self.tolerance, COARSE), COARSE_STEPS)
            if coarse is not None:
                found.append(coarse)
                self.tell(f"start {k + 1}", min(f[0] for f in found))
        first = [self._polished(problem, f, 1) for f in sorted(found, key=lambda f: f[0])[:POLISHED]]
        best = min((f[0] for f in first), default=0.0)
        polished = [self._polished(problem, f) if f[0] < best + HOPELESS else f for f in first]
        return sorted(polished, key=lambda f: f[0])

    def refined(
        self, problem: Problem, x: np.ndarray, others: list[np.ndarray], refinements: int
    ) -> np.ndarray | None:
        """What other candidates or points around the best one lead to, where that is better; local minima are many."""
        best = begin = self.improve(problem, x)
        if best is None:
            return None
        for k, guess in enumerate([*others, *(None for _ in range(refinements))]):
            if self.over:
                break
            near = self._shaken(best[1], k) if guess is None else guess
            found = self.improve(problem, near, self.tolerance, COARSE_STEPS)
            if found is not None and found[0] < best[0] - self.tolerance:
                best = self._polished(problem, found)
                self.tell(f"refined {k + 1}", best[0])
        return best[1] if best is not begin else None

    @staticmethod
    def _shaken(x: np.ndarray, seed: int) -> np.ndarray:
        """A random point around another."""
        rng = np.random.default_rng(seed)
        step = 10.0 ** rng.uniform(-1.5, -0.3)
        size = np.maximum(np.abs(x), 0.1 * float(np.median(np.abs(x))))
        return x + step * size * rng.standard_normal(len(size))

    def _polished(self, problem: Problem, found: Found, times: int = POLISHES) -> Found:
        """Minimised again and again, each time with a fresh quadratic term, until that brings nothing."""
        for _ in range(times):
            again = self.improve(problem, found[1])
            if again is None or again[0] >= found[0]:
                break
            small = found[0] - again[0] < 10 * self.tolerance
            found = again
            if small or self.over:
                break
        return found

    def improve(
        self, problem: Problem, x0: np.ndarray, tolerance: float | None = None, steps: int = STEPS
    ) -> Found | None:
        """Stabilise, then minimise the gains; None where some loop stays unstable."""
        target = GainTarget(problem, self.decay)
        x = x0 if np.isfinite(target.evaluate(x0).soft) else self._stabilised(problem, x0)
        if x is None or not np.isfinite(target.evaluate(x).soft):
            return None
        found = self._minimised(target, x, Options(tolerance or self.tolerance, steps, self.deadline))
        violated = 10 * max(found.hard, 0.0) if np.isfinite(found.hard) else 0.0
        return float(found.soft + violated), found.x

    def _stabilised(self, problem: Problem, x: np.ndarray) -> np.ndarray | None:
        """Poles moved to the left, with some margin, or as far as it takes."""
        rate = self.starts.rate
        poles = PoleTarget(problem, rate)
        if not np.isfinite(poles.evaluate(x).soft):
            return None
        for tolerance, margin in ((1e-6, 1e-2), (1e-9, 1e-6)):
            enough = -self.decay / rate - margin
            found = self._minimised(poles, x, Options(tolerance, COARSE_STEPS, self.deadline, enough))
            x = found.x
            if found.soft < -self.decay / rate:
                break
        return x

    def _minimised(self, target: Target, x: np.ndarray, options: Options) -> Any:
        end = minimise(target, x, options)
        self.interrupted |= end.status == "interrupted"
        return end.trial

    def restarted(self, problem: Problem, seed: int) -> Found | None:
        """The first of some random points from which all active points can be stabilised."""
        rng = np.random.default_rng(seed)
        for k in range(RESTARTS):
            found = self.improve(problem, self.starts.guess(rng, observer=k % 2 == 1))
            if found is not None or self.over:
                return found
        return None
