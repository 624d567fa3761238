"""A design under way: plants of the requirements, the active points and the problem made from them, worse points, verdicts."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np

from lftgen.analysis.channels import apart, select
from lftgen.analysis.design.controllers import controller_of, for_user, side_by_side
from lftgen.analysis.design.loops import PlantStack, plant_stack
from lftgen.analysis.design.problem import Problem
from lftgen.analysis.design.requirements import Requirement, weighted_plant
from lftgen.analysis.design.results import DesignResult, Verdict, count_of, status_of
from lftgen.analysis.design.search import Progress, Search
from lftgen.analysis.design.starts import Starts
from lftgen.analysis.design.tunable import TunableBlock, scaled_coordinates
from lftgen.analysis.plant_report import row_at
from lftgen.analysis.robust_results import WorstCaseGain
from lftgen.analysis.robustness import worst_case_gain
from lftgen.arguments import callback, instance, items, number
from lftgen.errors import ModelError
from lftgen.lft.hinf_norm import hinf_norm
from lftgen.lft.maps import check_known
from lftgen.lft.model import LFT

ROUNDS = 12
"""Worst points are searched and added at most so often."""
CLOSE = 0.02
"""Relative gap between the bounds of a worst case where the goal does not tell how sharp it must be."""
VIOLATED = 1.003
"""A point is added where the gain exceeds that of the active points by this factor."""
CORNERS = 4
"""Up to so many scheduling parameters a design begins at all corners of their box."""


@dataclass
class Work:
    """A design under way: plants of the requirements, the active points, and the problem made from them."""

    plant: LFT
    blocks: tuple[TunableBlock, ...]
    requirements: tuple[Requirement, ...]
    plants: tuple[LFT, ...]
    search: Search
    points: dict[str, np.ndarray] = field(default_factory=dict)
    problem: Problem = None  # type: ignore[assignment]

    @classmethod
    def of(
        cls,
        plant: Any,
        blocks: Any,
        requirements: Any,
        *,
        decay: Any,
        tolerance: Any,
        deadline: float,
        progress: Progress | None,
    ) -> Work:
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
        some, wanted = tuple(some), tuple(wanted)
        plants = tuple(weighted_plant(model, [r], some).to_float() for r in wanted)
        search = Search(
            Starts.of(model, some, wanted),
            number(decay, "design: decay", minimum=0.0),
            number(tolerance, "design: tolerance", minimum=1e-9),
            deadline,
            callback(progress, "design: progress"),
        )
        return cls(model, some, wanted, plants, search)

    def begin(self, points: Mapping[str, Any] | None) -> None:
        """The nominal and the points given as active ones; by default those that decide the slopes of surfaces."""
        nominal = {p.name: np.array([p.nominal]) for p in self.plant.parameters}
        given = self._corners() if points is None else self._checked(points)
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

    def _checked(self, points: Any) -> dict[str, np.ndarray]:
        """Points given by the user: known parameters, in range, as many values of each (or one for all)."""
        if not isinstance(points, Mapping):
            raise ModelError(
                f'design: points must be arrays by parameter name, such as {{"m": [1, 2]}}, got {points!r:.60}'
            )
        known = {p.name: p for p in self.plant.parameters}
        check_known(points, list(known))
        given = {k: np.atleast_1d(known[k].check_values(v)) for k, v in points.items()}
        sizes = {k: v.size for k, v in given.items() if v.size != 1 or v.ndim > 1}
        if len(set(sizes.values())) > 1 or any(v.ndim > 1 for v in given.values()):
            raise ModelError(
                "design: points must have one-dimensional arrays of one length, got "
                + ", ".join(f"{given[k].shape} of {k}" for k in sizes)
            )
        return given

    def _corners(self) -> dict[str, np.ndarray]:
        """Corners of the box of what the blocks are scheduled with (the nominal says nothing about slopes); with many
        parameters the ends of each alone."""
        known = {p.name for p in self.plant.parameters}
        moved = {p.name: p for b in self.blocks for p in b.parameters if p.name in known}
        if not moved:
            return {}
        ends = list(product((0, 1), repeat=len(moved))) if len(moved) <= CORNERS else _one_by_one(len(moved))
        at = np.array(ends, dtype=float)
        return {
            name: np.where(np.isnan(x), p.nominal, np.where(x > 0.5, p.upper, p.lower))
            for (name, p), x in zip(moved.items(), at.T, strict=True)
        }

    def _stacks(self, points: Mapping[str, np.ndarray]) -> list[PlantStack]:
        n_k = sum(b.n_states for b in self.blocks)
        return [
            plant_stack(p.evaluate(dict(points)), len(r.inputs), len(r.outputs), n_k)
            for p, r in zip(self.plants, self.requirements, strict=True)
        ]

    def _coordinates(self, points: Mapping[str, np.ndarray]) -> tuple[np.ndarray, ...]:
        n = count_of(points)
        return tuple(scaled_coordinates(b.parameters, dict(points), n) for b in self.blocks)

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

    def run(
        self, guesses: list[np.ndarray], refinements: int
    ) -> tuple[np.ndarray, list[WorstCaseGain]] | None:
        """The best controller that the search finds, and the worst cases found for it; None where none stabilises."""
        found = self.search.candidates(self.problem, guesses)
        if not found:
            return None
        begun = count_of(self.points)
        x, worst = self.grow(found[0][1])
        others = [f[1] for f in found[1:]] if count_of(self.points) > begun else []
        better = self.search.refined(self.problem, x, others, refinements)
        return (x, worst) if better is None else self.grow(better)

    def obstacles(self) -> list[str]:
        """Modes of the weighted plants, at the nominal, that no controller between these signals can stabilise."""
        n_y, n_u = (sum(len(getattr(b, side)) for b in self.blocks) for side in ("inputs", "outputs"))
        found = {
            f"{text} (requirement {r.name})": None
            for p, r in zip(self.plants, self.requirements, strict=True)
            for text in row_at(p, n_y, n_u, {}).hidden
        }
        return list(found)

    def grow(self, x: np.ndarray) -> tuple[np.ndarray, list[WorstCaseGain]]:
        """Add worst points and minimise again, until none is worse than the active ones."""
        for k in range(ROUNDS + 1):
            now = self.active(x)
            found = self._worst(x, now, seed=k)
            new = self._violating(found, now)
            if not new or k == ROUNDS or self.search.over:
                break
            more = {name: np.array([p[name] for p in new]) for name in self.points}
            self.points = {name: np.concatenate([v, more[name]]) for name, v in self.points.items()}
            self.problem = self.problem.with_points(self._stacks(more), self._coordinates(more))
            better = self.search.improve(self.problem, x) or self.search.restarted(self.problem, k)
            if better is None:  # no point tried stabilises all the plants: x stays, and the verdict says so
                break
            x = better[1]
            self.search.tell(f"{count_of(self.points)} points", better[0])
        return x, found

    def _worst(self, x: np.ndarray, now: list[float], seed: int) -> list[WorstCaseGain]:
        """The worst point of each requirement that a search finds; after an interruption what is known already."""
        found: list[WorstCaseGain] = []
        for loop, gain in zip(self.loops(x), now, strict=True):
            if self.search.interrupted:
                found.append(WorstCaseGain(gain, float("inf"), {}, status="interrupted"))
                continue
            left = max(1.0, self.search.deadline - time.monotonic())
            found.append(worst_case_gain(loop, certify=False, starts=64, seed=seed, time_limit=left))
            self.search.interrupted |= found[-1].status == "interrupted"
        return found

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
            sharp = min(0.9 * room, 0.9) if room > CLOSE else CLOSE
            out.append(worst_case_gain(loop, time_limit=max(share, 1.0), tolerance=sharp))
        return out

    def nothing(self, seconds: float) -> DesignResult:
        """The result where no controller was found, and why."""
        if self.search.over:
            status = "interrupted" if self.search.interrupted else "time limit"
            return DesignResult(status, seconds=seconds, points=self.points)
        reasons = self.obstacles() or [
            "no starting point led to a stable loop; try more starts or other blocks"
        ]
        return DesignResult("unstable", seconds=seconds, points=self.points, reason="; ".join(reasons))

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
                w.upper if w.status not in ("lower bound only", "interrupted") else float("inf"),
                w.parameters,
            )
            for r, a, w in zip(self.requirements, now, found, strict=True)
        )
        value = max(a / r.goal for a, r in zip(now, self.requirements, strict=True))
        status = "interrupted" if self.search.interrupted else status_of(verdicts)
        plain = DesignResult(
            status, value=value, requirements=verdicts, points=self.points, seconds=seconds, x=x
        )
        if plain.status == "unstable" or (certify and any(not np.isfinite(v.upper) for v in verdicts)):
            return plain
        inputs = list(dict.fromkeys(n for r in self.requirements for n in r.inputs))
        outputs = list(dict.fromkeys(n for r in self.requirements for n in r.outputs))
        y, u = [n for b in self.blocks for n in b.inputs], [n for b in self.blocks for n in b.outputs]
        parts = self.controllers(x)
        chosen = select(self.plant, [*outputs, *y], [*inputs, *u])
        named = chosen.rename(inputs=apart([*inputs, *u]), outputs=apart([*outputs, *y]))
        closed = named.star(side_by_side(parts))
        controllers = {b.name: for_user(c) for b, c in zip(self.blocks, parts, strict=True)}
        return replace(plain, controllers=controllers, closed_loop=closed)


def _one_by_one(n: int) -> list[list[float]]:
    """Low and high end (0, 1) of each of n parameters with the others at their nominal (nan)."""
    return [[end if i == k else np.nan for i in range(n)] for k in range(n) for end in (0.0, 1.0)]
