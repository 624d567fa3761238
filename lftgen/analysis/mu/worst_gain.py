"""Worst-case gain: the worst point found from below, certified pieces of the box from above, until the two meet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from lftgen.analysis.mu import gains, migration, pieces
from lftgen.analysis.mu.box import Box
from lftgen.analysis.mu.dynamics import gain_at, has_dynamics
from lftgen.analysis.mu.frequencies import Clock
from lftgen.analysis.mu.mixed import mixed_destabiliser
from lftgen.analysis.robust_results import Progress, WorstCaseGain
from lftgen.lft.hinf_norm import hinf_norm

FAR = 10.0
"""Destabilising dynamics this much larger than allowed are still a start for a search for the worst gain."""


class WorstGainSearch:
    """Bounds of the worst-case gain as they stand."""

    def __init__(self, box: Box, tolerance: float, clock: Clock, progress: Progress | None) -> None:
        self.box, self.loop, self.tolerance, self.clock, self.progress = (
            box,
            box.loop,
            tolerance,
            clock,
            progress,
        )
        self.lower, self.upper = 0.0, float("inf")
        self.points: list[gains.Peak] = []
        self.near: tuple[gains.Peak, ...] = ()
        self.search: pieces.GainSearch | None = None
        clock.tick = self._note

    def run(self, certify: bool, starts: int, seed: int) -> WorstCaseGain:
        status = "lower bound only"
        try:
            unstable = self._unstable(seed)
            if unstable is not None:
                return unstable
            for peak in gains.search(self.loop, starts=starts, seed=seed, also=self.near, clock=self.clock):
                self._add(peak)
            if certify:
                status = self._certify()
        except KeyboardInterrupt:
            status = "interrupted"
        if self.search is not None and self.search.unstable is not None:
            return self._at_unstable(self.search.unstable)
        tried = f"{len(self.points)} local worst points"
        if self.search is not None:
            self.upper = max(self.search.upper * self.scale, self.lower)
            tried += f"; {self.search.pieces} pieces of the box"
        best = self.points[0] if self.points else gains.Peak(0.0, self.box.nominal, 0.0)
        candidates = tuple(self.box.values(p.reals) for p in self.points)
        return WorstCaseGain(
            self.lower,
            self.upper,
            self.box.values(best.reals),
            best.frequency,
            candidates,
            status,
            tried,
            uncertainties=self.box.dynamics(best.others),
        )

    def _note(self) -> None:
        if self.progress is not None:
            self.progress(self.lower, max(self.lower, self.upper), self.clock.spent)

    def _unstable(self, seed: int) -> WorstCaseGain | None:
        if self.loop.n and self.loop.poles(self.box.nominal).real.max() >= 0:
            inf = float("inf")
            return WorstCaseGain(
                inf,
                inf,
                self.box.values(self.box.nominal),
                status="unstable nominal",
                tried="poles at the nominal",
            )
        if self.loop.n and self.loop.poles(0 * self.box.nominal).real.max() >= 0:
            return self._at_unstable(0 * self.box.nominal)
        found = migration.smallest_destabiliser(self.loop, largest=1.0, seed=seed)
        if found is None and has_dynamics(self.loop):
            found = self._dynamic_destabiliser(seed)
        return None if found is None else self._at_unstable(found.reals, found.frequency, found.others)

    def _dynamic_destabiliser(self, seed: int) -> migration.Destabiliser | None:
        """The smallest Delta found if it lies in the box; else, shrunk to the box, where a search for the gain begins."""
        found = mixed_destabiliser(self.loop, largest=FAR, clock=self.clock, seed=seed)
        if found is None or found.size <= 1:
            return found
        others = {i: np.atleast_2d(d) / found.size for i, d in found.others.items()}
        self.near = (gains.Peak(0.0, found.reals / found.size, found.frequency, others),)
        return None

    def _at_unstable(
        self,
        reals: np.ndarray,
        frequency: float | None = None,
        others: Mapping[int, np.ndarray] | None = None,
    ) -> WorstCaseGain:
        inf, where = float("inf"), self.box.values(reals)
        if frequency is None:
            poles = self.loop.poles(reals)
            frequency = float(abs(poles[np.argmax(poles.real)].imag)) if len(poles) else inf
        return WorstCaseGain(
            inf,
            inf,
            where,
            frequency,
            (where,),
            "ill-posed" if np.isinf(frequency) else "unstable",
            "poles followed along rays and at pieces",
            uncertainties=self.box.dynamics(others or {}),
        )

    def _add(self, peak: gains.Peak) -> float:
        """Verify a point by its H-infinity norm (with complex blocks: its gain) and keep it; the best so far."""
        n, ports = self.loop.n, self.loop.ports(peak.reals)
        norm, frequency = hinf_norm(ports[:n, :n], ports[:n, n:], ports[n:, :n], ports[n:, n:])
        new = [gains.Peak(norm, peak.reals, frequency)]
        if peak.others:
            gain = gain_at(self.loop, peak.reals, peak.frequency, dict(peak.others))
            new.append(gains.Peak(gain, peak.reals, peak.frequency, peak.others))
        self.points = gains.distinct([*self.points, *new])
        self.lower = self.points[0].gain
        return self.lower

    def _certify(self) -> str:
        M = self.loop.M.copy()
        self.scale = self.lower or float(np.linalg.norm(M, 2)) or 1.0
        M[self.loop.z.stop :] /= self.scale

        def improve(reals: np.ndarray) -> float:
            one = np.ones(len(reals))
            start = self.points[0].frequency if self.points else 1.0
            peak = gains.climb(self.loop, reals, start, -one, one)
            peak = gains.with_dynamics(self.loop, peak) if has_dynamics(self.loop) else peak
            return self._add(peak) / self.scale

        def report(lower: float, upper: float) -> None:
            self.upper = upper * self.scale
            self._note()

        first = tuple(dict.fromkeys(p.frequency for p in self.points[:3]))
        self.search = pieces.GainSearch(
            replace(self.loop, M=M),
            self.lower / self.scale,
            self.tolerance,
            self.clock,
            improve,
            report,
            first,
        )
        self.search.run()
        close = self.search.upper <= self.search.goal * (1 + 1e-9)
        return "done" if close else "time limit" if self.clock.over else "bounds apart"
