"""The functions of a design: closed-loop gains and poles of every requirement at every active parameter point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lftgen.analysis.design.loops import LoopStack, PlantStack, close
from lftgen.analysis.design.nonsmooth import Cuts
from lftgen.analysis.design.peaks import Peaks, peaks
from lftgen.analysis.design.subgradients import Pieces, gain_pieces, pole_pieces
from lftgen.analysis.design.tunable import TunableBlock

LEVEL = 0.7
"""Peaks above this fraction of the largest become pieces of the model."""
GRID = 24
"""Frequencies of a grid over each loop's poles that become pieces where the gain is above the level."""
MOST_PIECES = 240
LARGEST = 1e9
"""No variable grows beyond this: where more gain is always better, the design ends there."""


@dataclass(frozen=True, eq=False)
class Problem:
    """Plants of each requirement at N points, the blocks that close the loop, and their scheduling coordinates.

    ``goal`` and ``is_hard`` say for each requirement what its gain is divided by, and whether it is a constraint.
    """

    blocks: tuple[TunableBlock, ...]
    plants: tuple[PlantStack, ...]
    coordinates: tuple[np.ndarray, ...]
    goal: tuple[float, ...]
    is_hard: tuple[bool, ...]

    @property
    def size(self) -> int:
        """Number of free variables."""
        return sum(b.size for b in self.blocks)

    def split(self, x: np.ndarray) -> list[np.ndarray]:
        """The variables of each block."""
        return np.split(x, np.cumsum([b.size for b in self.blocks])[:-1])

    def controller(self, x: np.ndarray) -> np.ndarray:
        """S of all blocks side by side at each point: states of all, then signals of all."""
        n_k = sum(b.n_states for b in self.blocks)
        rows, columns = (n_k + sum(len(getattr(b, s)) for b in self.blocks) for s in ("outputs", "inputs"))
        S = np.zeros((len(self.plants[0]), rows, columns))
        parts = zip(self.blocks, self.split(x), self.coordinates, self._places(), strict=True)
        for block, part, t, (r, c) in parts:
            S[:, r[:, None], c] = block.matrix(part, t)
        return S

    def gradient(self, x: np.ndarray, pieces: Pieces) -> np.ndarray:
        """Gradients (P, size) of pieces by all variables."""
        out = []
        parts = zip(self.blocks, self.split(x), self.coordinates, self._places(), strict=True)
        for block, part, t, (r, c) in parts:
            out.append(block.pullback(part, t[pieces.model], pieces.gamma[:, r[:, None], c]))
        return np.concatenate(out, axis=1)

    def _places(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Rows and columns of S of each block."""
        n = sum(b.n_states for b in self.blocks)
        places, state, row, column = [], 0, n, n
        for b in self.blocks:
            states = np.arange(state, state + b.n_states)
            r = np.concatenate([states, np.arange(row, row + len(b.outputs))])
            c = np.concatenate([states, np.arange(column, column + len(b.inputs))])
            places.append((r.astype(int), c.astype(int)))
            state, row, column = state + b.n_states, row + len(b.outputs), column + len(b.inputs)
        return places

    def with_points(self, plants: Sequence[PlantStack], coordinates: Sequence[np.ndarray]) -> Problem:
        """The same problem with further points."""
        return replace(
            self,
            plants=tuple(a.append(b) for a, b in zip(self.plants, plants, strict=True)),
            coordinates=tuple(
                np.concatenate([a, b]) for a, b in zip(self.coordinates, coordinates, strict=True)
            ),
        )

    def loops(self, x: np.ndarray) -> list[LoopStack] | None:
        """Closed loops of each requirement; None where one does not exist."""
        S = self.controller(x)
        loops = [close(p, S) for p in self.plants]
        found = [loop for loop in loops if loop is not None and np.all(np.isfinite(loop.A))]
        return found if len(found) == len(loops) else None


@dataclass(frozen=True, eq=False)
class GainTrial:
    """Gains at a point: logarithms of the largest soft and hard ones (over their goals)."""

    x: np.ndarray
    soft: float
    hard: float
    loops: list[LoopStack] | None = None
    poles: tuple[np.ndarray, ...] = ()
    peaks: tuple[Peaks, ...] = ()


@dataclass(frozen=True, eq=False)
class GainTarget:
    """Minimise the largest soft gain, in logarithms, while no hard one exceeds its goal.

    Where every requirement is hard they are the objective as well: margins come free.
    """

    problem: Problem
    decay: float = 0.0

    @property
    def _constraints(self) -> tuple[bool, ...]:
        hard = self.problem.is_hard
        return hard if not all(hard) else tuple(False for _ in hard)

    def evaluate(self, x: np.ndarray) -> GainTrial:
        """Gains at a point; inf where a loop is unstable or ill-posed."""
        loops = self.problem.loops(x) if np.all(np.abs(x) < LARGEST) else None
        if loops is None:
            return GainTrial(x, np.inf, np.inf)
        poles = tuple(np.linalg.eigvals(loop.A) for loop in loops)
        if max(float(np.max(p.real, initial=-np.inf)) for p in poles) >= -self.decay:
            return GainTrial(x, np.inf, np.inf, loops, poles)
        found = tuple(peaks(loop, p) for loop, p in zip(loops, poles, strict=True))
        worst = [
            float(np.log(max(np.max(k.norm), 1e-300) / goal))
            for k, goal in zip(found, self.problem.goal, strict=True)
        ]
        split = [
            max((w for w, h in zip(worst, self._constraints, strict=True) if h == kind), default=-np.inf)
            for kind in (False, True)
        ]
        return GainTrial(x, split[0], split[1], loops, poles, found)

    def cuts(self, trial: GainTrial, others: list[GainTrial]) -> Cuts:
        """Pieces at a point: local peaks of all loops and a grid between them, and the peaks of rejected points."""
        value, slope, keys = [], [], []
        for r, goal in enumerate(self.problem.goal):
            model, omega = self._frequencies(r, trial, others)
            p = gain_pieces(_loops(trial)[r], model, omega)
            top = trial.hard if self._constraints[r] else trial.soft
            worth = np.flatnonzero(np.log(np.maximum(p.value, 1e-300) / goal) > top + 2 * np.log(LEVEL))
            worth = worth[np.argsort(-p.value[worth], kind="stable")[:MOST_PIECES]]
            p = p.take(worth)
            value.append(np.log(p.value / goal))
            slope.append(self.problem.gradient(trial.x, p) / p.value[:, None])
            keys.append(np.stack([np.full(len(worth), r), p.model, p.omega], axis=1))
        hard = np.concatenate([np.full(len(v), h) for v, h in zip(value, self._constraints, strict=True)])
        hard = hard.astype(bool)
        v, g, k = np.concatenate(value), np.concatenate(slope), np.concatenate(keys)
        bound, bound_slope = self._near_instability(trial, others)
        return Cuts(
            v[~hard], g[~hard], v[hard], g[hard], np.concatenate([k[~hard], k[hard]]), bound, bound_slope
        )

    def _frequencies(
        self, r: int, trial: GainTrial, others: list[GainTrial]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Pairs (model, frequency) worth a piece."""
        found, poles = trial.peaks[r], trial.poles[r]
        top = float(np.max(found.norm))
        active = np.flatnonzero(found.norm >= LEVEL * top)
        size = np.abs(poles[active])
        low, high = np.maximum(size.min(axis=1), 1e-4) / 5, np.maximum(size.max(axis=1), 1e-3) * 5
        steps = np.linspace(0, 1, GRID)
        grid = np.exp(np.log(low)[:, None] * (1 - steps) + np.log(high)[:, None] * steps)
        model, omega = [np.repeat(active, GRID)], [grid.ravel()]
        keep = (found.gain >= LEVEL * top) & np.isin(found.model, active)
        model.append(found.model[keep])
        omega.append(found.omega[keep])
        for other in (o for o in others if o.peaks):
            p = other.peaks[r]
            where = np.flatnonzero(p.norm >= 0.9 * np.max(p.norm))
            model.append(where)
            omega.append(p.frequency[where])
        return _distinct(np.concatenate(model), np.concatenate(omega))

    def _near_instability(self, trial: GainTrial, others: list[GainTrial]) -> tuple[np.ndarray, np.ndarray]:
        """Where a rejected point was unstable: its loops' poles may go nine tenths of the way to the axis."""
        unstable = sorted(
            {
                int(i)
                for o in others
                if not np.isfinite(o.soft)
                for p in o.poles[:1]
                for i in np.flatnonzero(np.max(p.real, axis=1) >= -self.decay)
            }
        )
        if not unstable:
            return np.zeros(0), np.zeros((0, len(trial.x)))
        loop = _loops(trial)[0]
        reach = float(np.median(np.abs(trial.poles[0].real)))
        p = pole_pieces(loop, np.array(unstable), reach)
        return 0.9 * (p.value + self.decay), self.problem.gradient(trial.x, p)

    def slopes(self, trial: GainTrial, keys: np.ndarray, index: np.ndarray) -> np.ndarray:
        """Gradients at a point of the pieces of some keys (requirement, model, frequency)."""
        out = np.zeros((len(index), len(trial.x)))
        chosen = keys[index]
        for r in range(len(self.problem.goal)):
            mine = np.flatnonzero(chosen[:, 0] == r)
            if len(mine):
                loop = _loops(trial)[r]
                p = gain_pieces(loop, chosen[mine, 1].astype(int), chosen[mine, 2], mixed=False)
                out[mine] = self.problem.gradient(trial.x, p) / np.maximum(p.value, 1e-300)[:, None]
        return out


def _loops(trial: GainTrial) -> list[LoopStack]:
    if trial.loops is None:
        raise RuntimeError("a point without closed loops has no pieces")
    return trial.loops


def _distinct(model: np.ndarray, omega: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pairs that differ by more than a millionth in frequency."""
    rounded = np.where(np.isfinite(omega), np.round(np.log(np.maximum(omega, 1e-12)) * 1e5), 1e9)
    _, index = np.unique(np.stack([model, rounded]), axis=1, return_index=True)
    return model[index], omega[index]


@dataclass(frozen=True, eq=False)
class PoleTrial:
    """Largest real part of all poles at a point."""

    x: np.ndarray
    soft: float
    hard: float
    loops: list[LoopStack] | None = None


@dataclass(frozen=True, eq=False)
class PoleTarget:
    """Minimise the spectral abscissa of all loops."""

    problem: Problem
    rate: float = 1.0

    def evaluate(self, x: np.ndarray) -> PoleTrial:
        """Abscissa at a point, over a typical rate of the loop."""
        loops = self.problem.loops(x) if np.all(np.isfinite(x)) else None
        if loops is None:
            return PoleTrial(x, np.inf, -np.inf)
        poles = np.linalg.eigvals(loops[0].A)
        return PoleTrial(x, float(np.max(poles.real)) / self.rate, -np.inf, loops)

    def cuts(self, trial: PoleTrial, others: list[PoleTrial]) -> Cuts:
        """Real parts of the rightmost poles."""
        loops = trial.loops or []
        p = pole_pieces(loops[0], np.arange(len(loops[0].A)), 0.5 * self.rate + abs(trial.soft) * self.rate)
        slope = self.problem.gradient(trial.x, p) / self.rate
        none = np.zeros(0), np.zeros((0, len(trial.x)))
        return Cuts(p.value / self.rate, slope, *none, None)

    def slopes(self, trial: PoleTrial, keys: object, index: np.ndarray) -> np.ndarray:
        """Poles are not tracked from point to point: no curvature is learnt (the slope of the rightmost stands for all)."""
        cuts = self.cuts(trial, [])
        return np.repeat(cuts.soft_slope[:1], len(index), axis=0)
