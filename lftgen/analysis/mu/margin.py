"""Margin of stability: a destabilising point from above, certified boxes from below, until the two meet."""

from __future__ import annotations

from typing import Any

import numpy as np

from lftgen.analysis.mu import migration, pieces
from lftgen.analysis.mu.box import Box
from lftgen.analysis.mu.frequencies import Clock, cover
from lftgen.analysis.mu.mixed import mixed_destabiliser
from lftgen.analysis.mu.upper import Problem
from lftgen.analysis.robust_results import Progress, RobustStability


class MarginSearch:
    """Bounds of the margin as they stand; readable at any time."""

    def __init__(
        self, box: Box, tolerance: float, largest: float, clock: Clock, seed: int, progress: Progress | None
    ) -> None:
        self.box, self.loop, self.tolerance, self.largest = box, box.loop, tolerance, largest
        self.clock, self.seed, self.progress = clock, seed, progress
        self.lower, self.upper = 0.0, float("inf")
        self.worst: migration.Destabiliser | None = None
        self.peak = 0.0
        self.tried: list[str] = []
        clock.tick = self._note

    def run(self) -> RobustStability:
        if not self.loop.structure.blocks and self.loop.poles(self.box.nominal).real.max() < 0:
            return RobustStability(self.largest, self.upper, tried="no parameter occurs")
        unstable = self._unstable()
        if unstable is not None:
            return unstable
        status = ""
        try:
            self._search()
            self._certify()
            self._cut()
        except KeyboardInterrupt:
            status = "interrupted"
        if not status:
            close = self.lower >= self._goal()
            status = "done" if close else "time limit" if self.clock.over else "bounds apart"
        point = self.box.values(self.worst.reals) if self.worst else {}
        frequency = self.worst.frequency if self.worst else float("nan")
        blocks = self.box.dynamics(self.worst.others) if self.worst else {}
        return RobustStability(
            float(self.lower),
            float(self.upper),
            point,
            frequency,
            status,
            "; ".join(self.tried),
            uncertainties=blocks,
        )

    def _unstable(self) -> RobustStability | None:
        """The result for a loop that is not stable where it must be."""
        for reals, name in (
            (self.box.nominal, "unstable nominal"),
            (0 * self.box.nominal, "unstable middle"),
        ):
            poles = self.loop.poles(reals)
            if poles.real.max() >= 0:
                pole = poles[np.argmax(poles.real)]
                where, frequency = self.box.values(reals), float(abs(pole.imag))
                text = f"a pole at {pole:.6g} at the {name.split()[1]} of the box"
                return RobustStability(0.0, 0.0, where, frequency, name, text)
        return None

    def _goal(self) -> float:
        return min(self.upper * (1 - self.tolerance), self.largest)

    def _found(self, found: migration.Destabiliser | None) -> None:
        if found is not None and found.size < self.upper:
            self.worst, self.upper = found, float(found.size)
            self.lower = min(self.lower, self.upper)
            self._note()

    def _note(self) -> None:
        if self.progress is not None:
            self.progress(self.lower, self.upper, self.clock.spent)

    def _search(self) -> None:
        self._found(migration.smallest_destabiliser(self.loop, largest=self.largest, seed=self.seed))
        self.tried.append(f"poles followed along rays: {self._where()}")
        if len(self.loop.real_blocks) < len(self.loop.structure.blocks):
            self._found(mixed_destabiliser(self.loop, largest=self.largest, clock=self.clock, seed=self.seed))
            self.tried.append(f"complex blocks aligned at peaks of mu: {self._where()}")

    def _where(self) -> str:
        return f"crossing at {self.upper:.6g}" if self.worst else "no crossing"

    def deltas(self) -> dict[str, Any]:
        """The destabilising value of each block, by name, normalised."""
        if self.worst is None:
            return {}
        reals = dict(zip(self.loop.real_blocks, self.worst.reals.tolist(), strict=True))
        out: dict[str, Any] = {}
        for i, b in enumerate(self.loop.structure.blocks):
            out[b.name or f"block {i}"] = reals.get(i, self.worst.others.get(i, np.zeros(b.shape)))
        return out

    def _certify(self) -> None:
        channels, structure = self.loop.channels()
        first = (self.worst.frequency,) if self.worst else ()
        result = cover(
            channels,
            Problem.whole(structure),
            (1 + 0.6 * self.tolerance) / self.upper if self.worst else 1 / self.largest,
            first=first,
            clock=self.clock,
            margin=0.2 * self.tolerance,
            tolerance=min(1e-3, 0.2 * self.tolerance),
        )
        self.peak = result.peak
        if result.complete and np.isfinite(result.level):
            self.lower = min(1 / result.level, min(self.upper, self.largest))
        self.tried.append(f"D, G scalings on {len(result.intervals)} frequency intervals: {self.lower:.6g}")
        self._note()

    def _cut(self) -> None:
        """Prove larger boxes piece by piece: first the goal, then, where that takes too many pieces, half the way."""
        left = pieces.budget(self.loop)
        share, failed = max(left // 4, 1), float("inf")
        while self.lower < self._goal() * (1 - 1e-9) and not self.clock.over and self.loop.real_blocks:
            goal = self._goal()
            if np.isinf(self.upper):
                goal = min(goal, max(2 * self.lower, 1e-3 * self.largest))
            if goal >= failed:
                goal = float(np.sqrt(max(self.lower, 1e-3 * failed) * failed))
            if left <= 0 or goal < self.lower * (1 + 0.1 * self.tolerance):
                break
            proof = pieces.certify_stability(self.loop, goal, self.clock, (self.peak,), min(share, left))
            left -= proof.pieces
            if proof.unstable is not None:
                before = self.upper
                self._found(migration.verified(self.loop, proof.unstable, 1.05 * goal))
                if self.upper == before:
                    break
            elif proof.proven:
                self.lower = max(self.lower, goal)
                self.tried.append(f"{proof.pieces} pieces of the box of size {goal:.6g} certified")
                self._note()
            else:
                failed = goal
                self.tried.append(f"{proof.pieces} pieces did not prove the box of size {goal:.6g}")
