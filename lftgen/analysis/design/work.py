"""A design under way: plants of the requirements, the active points, the search for better variables and worse points."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from lftgen.analysis.design.controllers import controller_of, for_user, side_by_side
from lftgen.analysis.design.loops import PlantStack, plant_stack
from lftgen.analysis.design.nonsmooth import Options, minimise
from lftgen.analysis.design.problem import GainTarget, PoleTarget, Problem
from lftgen.analysis.design.requirements import Requirement, select, weighted_plant
from lftgen.analysis.design.results import DesignResult, Verdict, count_of, status_of
from lftgen.analysis.design.tunable import TunableBlock, scaled_coordinates
from lftgen.analysis.robust_results import WorstCaseGain
from lftgen.analysis.robustness import worst_case_gain
from lftgen.arguments import instance, items, number
from lftgen.errors import ModelError
from lftgen.lft.hinf_norm import hinf_norm
from lftgen.lft.model import LFT

ROUNDS = 12
"""Worst points are searched and added at most so often."""
CLOSE = 0.02
"""Relative gap between the bounds of a worst case where the goal does not tell how sharp it must be."""
COARSE_STEPS, POLISHED, POLISHES = 200, 4, 6
"""Steps from each starting point; how many of the best go on, and how often each is taken up again."""
RESTARTS = 10
"""Random points tried where the controller cannot be moved to stabilise a point that was added."""
VIOLATED = 1.003
"""A point is added where the gain exceeds that of the active points by this factor."""

Progress = Callable[[str, float], None]


@dataclass
class Work:
    """A design under way: plants of the requirements, the active points, and the problem made from them."""

    plant: LFT
    blocks: tuple[TunableBlock, ...]
    requirements: tuple[Requirement, ...]
    plants: tuple[LFT, ...]
    decay: float
    tolerance: float
    deadline: float = np.inf
    progress: Progress | None = None
    points: dict[str, np.ndarray] = field(default_factory=dict)
    problem: Problem = None  # type: ignore[assignment]
    rate: float = 1.0

    @classmethod
    def of(cls, plant: Any, blocks: Any, requirements: Any, decay: Any, tolerance: Any) -> Work:
        model = instance(plant, LFT, "design: plant")
        if not model.states:
            raise ModelError("design: the plant has no states")
        some = (
            (blocks,) if isinstance(blocks, TunableBlock) else items(blocks, "design: blocks", TunableBlock)
        )
        wanted = (
            (requirements,)
            if isinstance(requirements, Requirement)
            else items(requirements, "design: requirements", Requirement)
        )
        if not some or not wanted:
            raise ModelError("design: at least one tunable block and one requirement are needed")
        driven = [n for b in some for n in b.outputs]
        names = [b.name for b in some]
        for what, given in (
            ("input of the plant", driven),
            ("name of a block", names),
            ("name of a requirement", [r.name for r in wanted]),
        ):
            twice = sorted({n for n in given if given.count(n) > 1})
            if twice:
                raise ModelError(f"design: {', '.join(twice)} is the {what} of two")
        plants = tuple(weighted_plant(model, r, some).to_float() for r in wanted)
        return cls(model, tuple(some), tuple(wanted), plants, number(decay, "design: decay", minimum=0.0),
                   number(tolerance, "design: tolerance", minimum=1e-9))  # fmt: skip

    def begin(self, points: Mapping[str, Any] | None) -> None:
        """The nominal and the points given as active ones."""
        nominal = {p.name: np.array([p.nominal]) for p in self.plant.parameters}
        given = {k: np.atleast_1d(np.asarray(v, dtype=float)) for k, v in (points or {}).items()}
        unknown = sorted(set(given) - set(nominal))
        if unknown:
            raise ModelError(f"design: points name {', '.join(unknown)}, which the plant does not have")
        count = max((len(v) for v in given.values()), default=0)
        self.points = {
            k: np.concatenate([v, np.broadcast_to(given.get(k, v), (count,))]) if count else v
            for k, v in nominal.items()
        }
        stacks = self._stacks(self.points)
        self.problem = Problem(
            self.blocks, tuple(stacks), self._coordinates(self.points),
            tuple(r.goal for r in self.requirements), tuple(r.hard for r in self.requirements),
        )  # fmt: skip
        self._scales()

    def _stacks(self, points: Mapping[str, np.ndarray]) -> list[PlantStack]:
        n_k = sum(b.n_states for b in self.blocks)
        return [
            plant_stack(p.evaluate(dict(points)), len(r.inputs), len(r.outputs), n_k)
            for p, r in zip(self.plants, self.requirements, strict=True)
        ]

    def _coordinates(self, points: Mapping[str, np.ndarray]) -> tuple[np.ndarray, ...]:
        n = count_of(points)
        return tuple(scaled_coordinates(b.parameters, dict(points), n) for b in self.blocks)

    def _scales(self) -> None:
        """A typical rate of the plant."""
        size = np.abs(np.linalg.eigvals(self.plants[0].evaluate({}).A[0]))
        self.rate = float(np.median(size[size > 1e-6 * size.max()])) if size.max() > 0 else 1.0

    def guess(self, rng: np.random.Generator) -> np.ndarray:
        """A random starting point of all blocks: gains that close the loop about a random frequency."""
        rate = self.rate * 10.0 ** rng.uniform(-0.3, 1.2)
        at = self.plants[0].evaluate({})
        n_w, n_z = len(self.requirements[0].inputs), len(self.requirements[0].outputs)
        unit = 1j * rate * np.eye(len(at.A[0])) - at.A[0]
        reach = (
            at.C[0][n_z:] @ np.linalg.lstsq(unit, at.B[0][:, n_w:].astype(complex), rcond=None)[0]
            + at.D[0][n_z:, n_w:]
        )
        scale = 10.0 ** rng.uniform(-0.7, 0.5) / max(float(np.linalg.norm(reach, 2)), 1e-12)
        return np.concatenate([b.start(rng, rate, scale) for b in self.blocks])

    def best_of(self, guesses: list[np.ndarray]) -> np.ndarray | None:
        """The best minimum over the starting points, coarse first, then the best few in full; None where none stabilises."""
        found: list[tuple[float, np.ndarray]] = []
        half = time.monotonic() + 0.5 * max(0.0, self.deadline - time.monotonic())
        for k, x0 in enumerate(guesses):
            if time.monotonic() > half and found:
                break
            coarse = self.improve(x0, self.deadline, max(self.tolerance, 1e-3), COARSE_STEPS)
            if coarse is not None:
                found.append(coarse)
                self._tell(f"start {k + 1}", np.exp(min(f[0] for f in found)))
        polished = [self._polished(f) for f in sorted(found, key=lambda f: f[0])[:POLISHED]]
        if not polished:
            return None
        best = min(polished, key=lambda f: f[0])
        return self._shaken(best, len(guesses))[1]

    def _shaken(self, best: tuple[float, np.ndarray], count: int) -> tuple[float, np.ndarray]:
        """Minimised again from points around the best one: local minima are many and near each other."""
        rng = np.random.default_rng(count)
        end = time.monotonic() + 0.5 * max(0.0, self.deadline - time.monotonic())
        for _ in range(2 * count if count > 1 else 0):
            if time.monotonic() > end:
                break
            step = 10.0 ** rng.uniform(-1.5, -0.3)
            size = np.maximum(np.abs(best[1]), 0.1 * float(np.median(np.abs(best[1]))))
            near = self.improve(
                best[1] + step * size * rng.standard_normal(len(size)), end, steps=COARSE_STEPS
            )
            if near is not None and near[0] < best[0] - self.tolerance:
                best = self._polished(near)
        return best

    def _polished(self, found: tuple[float, np.ndarray]) -> tuple[float, np.ndarray]:
        """Minimised again and again, each time with a fresh quadratic term, until that brings nothing."""
        for _ in range(POLISHES):
            again = self.improve(found[1], self.deadline)
            if again is None or again[0] >= found[0]:
                break
            small = found[0] - again[0] < 10 * self.tolerance
            found = again
            if small or time.monotonic() > self.deadline:
                break
        return found

    def improve(
        self, x0: np.ndarray, deadline: float, tolerance: float | None = None, steps: int = 400
    ) -> tuple[float, np.ndarray] | None:
        """Stabilise, then minimise the gains: merit (logarithm) and point."""
        target = GainTarget(self.problem, self.decay)
        x = x0
        if not np.isfinite(target.evaluate(x).soft):
            poles = PoleTarget(self.problem, self.rate)
            if not np.isfinite(poles.evaluate(x).soft):
                return None
            enough = -(self.decay / self.rate) - 1e-2
            x = minimise(poles, x, Options(1e-6, 200, deadline, enough)).trial.x
            if not np.isfinite(target.evaluate(x).soft):
                x = minimise(poles, x, Options(1e-9, 200, deadline, -self.decay / self.rate - 1e-6)).trial.x
        if not np.isfinite(target.evaluate(x).soft):
            return None
        found = minimise(target, x, Options(tolerance or self.tolerance, steps, deadline)).trial
        return float(
            found.soft + 10 * max(found.hard, 0.0) if np.isfinite(found.hard) else found.soft
        ), found.x

    def controllers(self, x: np.ndarray) -> list[LFT]:
        """One LFT for each block."""
        return [controller_of(b, part) for b, part in zip(self.blocks, self.problem.split(x), strict=True)]

    def loops(self, x: np.ndarray) -> list[LFT]:
        """Closed loop of each requirement over all parameters."""
        whole = side_by_side(self.controllers(x))
        return [p.star(whole) for p in self.plants]

    def active(self, x: np.ndarray) -> list[float]:
        """Largest norm of each requirement over the active points."""
        out = []
        for loop in self.loops(x):
            at = loop.evaluate(dict(self.points))
            out.append(max(hinf_norm(*m)[0] for m in zip(at.A, at.B, at.C, at.D, strict=True)))
        return out

    def grow(self, x: np.ndarray) -> tuple[np.ndarray, list[WorstCaseGain]]:
        """Add worst points and minimise again, until none is worse than the active ones."""
        for k in range(ROUNDS + 1):
            now = self.active(x)
            found = [
                worst_case_gain(
                    loop,
                    certify=False,
                    starts=32,
                    seed=k,
                    time_limit=max(1.0, self.deadline - time.monotonic()),
                )
                for loop in self.loops(x)
            ]
            new = self._violating(found, now)
            if not new or k == ROUNDS or time.monotonic() > self.deadline:
                break
            more = {name: np.array([p[name] for p in new]) for name in self.points}
            self.points = {name: np.concatenate([v, more[name]]) for name, v in self.points.items()}
            self.problem = self.problem.with_points(self._stacks(more), self._coordinates(more))
            better = self.improve(x, self.deadline) or self._restarted(k)
            if better is None:  # no point tried stabilises all the plants: x stays, and the verdict says so
                break
            x = better[1]
            self._tell(f"{count_of(self.points)} points", np.exp(better[0]))
        return x, found

    def _restarted(self, seed: int) -> tuple[float, np.ndarray] | None:
        """The first of some random points from which all active points can be stabilised."""
        rng = np.random.default_rng(seed)
        for _ in range(RESTARTS):
            found = self.improve(self.guess(rng), self.deadline)
            if found is not None or time.monotonic() > self.deadline:
                return found
        return None

    def _violating(self, found: list[WorstCaseGain], now: list[float]) -> list[dict[str, float]]:
        ratio = max(a / r.goal for a, r in zip(now, self.requirements, strict=True))
        new: list[dict[str, float]] = []
        for worst, r in zip(found, self.requirements, strict=True):
            level = (
                ratio if not r.hard else max(1.0, ratio if all(q.hard for q in self.requirements) else 1.0)
            )
            if worst.lower / r.goal > VIOLATED * level:
                new.append(self._full(worst.parameters))
                new += [self._full(c) for c in worst.candidates[1:3]]
        return [p for i, p in enumerate(new) if not self._known(p) and p not in new[:i]]

    def _full(self, point: Mapping[str, float]) -> dict[str, float]:
        return {p.name: float(point.get(p.name, p.nominal)) for p in self.plant.parameters}

    def _known(self, point: Mapping[str, float]) -> bool:
        width = {p.name: p.upper - p.lower for p in self.plant.parameters}
        near = [np.abs(v - point[k]) <= 1e-6 * width[k] for k, v in self.points.items()]
        return bool(np.any(np.all(near, axis=0))) if near else True

    def certified(self, x: np.ndarray, found: list[WorstCaseGain], limit: float) -> list[WorstCaseGain]:
        """Guaranteed worst cases: as sharp as it takes to decide whether the goal is met."""
        end, out = time.monotonic() + max(limit, 5.0), []
        for k, (loop, worst, r) in enumerate(zip(self.loops(x), found, self.requirements, strict=True)):
            room = r.goal / worst.lower - 1 if worst.lower > 0 else np.inf
            share = (end - time.monotonic()) / (len(found) - k)
            sharp = min(0.9 * room, 1.0) if room > CLOSE else CLOSE
            out.append(worst_case_gain(loop, time_limit=max(share, 1.0), tolerance=sharp))
        return out

    def _tell(self, text: str, value: float) -> None:
        if self.progress is not None:
            self.progress(text, float(value))

    def result(
        self, x: np.ndarray, found: list[WorstCaseGain], seconds: float, certify: bool
    ) -> DesignResult:
        """Verdicts; controllers only where no unstable point was found and (``certify``) none can exist."""
        now = self.active(x)
        verdicts = tuple(
            Verdict(
                r.name,
                r.goal,
                a,
                max(w.lower, a),
                w.upper if w.status != "lower bound only" else float("inf"),
                w.parameters,
            )
            for r, a, w in zip(self.requirements, now, found, strict=True)
        )
        value = max(a / r.goal for a, r in zip(now, self.requirements, strict=True))
        plain = DesignResult(
            status_of(verdicts), value=value, requirements=verdicts, points=self.points, seconds=seconds, x=x
        )
        if plain.status == "unstable" or (certify and any(not np.isfinite(v.upper) for v in verdicts)):
            return plain
        inputs = list(dict.fromkeys(n for r in self.requirements for n in r.inputs))
        outputs = list(dict.fromkeys(n for r in self.requirements for n in r.outputs))
        y, u = [n for b in self.blocks for n in b.inputs], [n for b in self.blocks for n in b.outputs]
        parts = self.controllers(x)
        closed = select(self.plant, [*outputs, *y], [*inputs, *u]).star(side_by_side(parts))
        controllers = {b.name: for_user(c) for b, c in zip(self.blocks, parts, strict=True)}
        return replace(plain, controllers=controllers, closed_loop=closed)
