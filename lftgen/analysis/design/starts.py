"""Where a design begins: random controllers of each block, half of the state-space ones made of observers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lftgen.analysis.design.observers import observer_controller
from lftgen.analysis.design.requirements import Requirement, weighted_plant
from lftgen.analysis.design.tunable import TunableBlock, TunableStateSpace
from lftgen.lft.evaluation import StateSpaceArrays
from lftgen.lft.model import LFT


@dataclass(frozen=True, eq=False)
class Starts:
    """The nominal plant with all requirements' channels (n_w inputs, n_z outputs) before those of the blocks, and a
    typical rate of it in 1/s."""

    blocks: tuple[TunableBlock, ...]
    model: StateSpaceArrays
    n_w: int
    n_z: int
    rate: float

    @classmethod
    def of(cls, plant: LFT, blocks: tuple[TunableBlock, ...], requirements: Sequence[Requirement]) -> Starts:
        """Channels of all requirements, each over its goal."""
        model = weighted_plant(plant, requirements, blocks).to_float().evaluate({})
        n_w, n_z = (sum(len(getattr(r, side)) for r in requirements) for side in ("inputs", "outputs"))
        over = np.concatenate([np.full(len(r.outputs), 1 / r.goal) for r in requirements])
        over = np.concatenate([over, np.ones(model.C.shape[1] - n_z)])[:, None]
        model = StateSpaceArrays(model.A, model.B, over * model.C, over * model.D)
        size = np.abs(np.linalg.eigvals(model.A[0]))
        rate = float(np.median(size[size > 1e-6 * size.max()])) if size.max() > 0 else 1.0
        return cls(blocks, model, n_w, n_z, rate)

    def guess(self, rng: np.random.Generator, *, observer: bool) -> np.ndarray:
        """A starting point of all blocks: gains that close the loop about a random frequency, or observers."""
        rate = self.rate * 10.0 ** rng.uniform(-0.3, 1.2)
        scale = 10.0 ** rng.uniform(-0.7, 0.5) / max(self._reach(rate), 1e-12)
        return np.concatenate([self._start(k, rng, rate, scale, observer) for k in range(len(self.blocks))])

    def _start(
        self, k: int, rng: np.random.Generator, rate: float, scale: float, observer: bool
    ) -> np.ndarray:
        block = self.blocks[k]
        if observer and isinstance(block, TunableStateSpace) and block.order:
            S = observer_controller(self._seen_by(k), self.n_w, self.n_z, block.order, scale, rng)
            if S is not None:
                return block.embedded(S)
        return block.start(rng, rate, scale)

    def _reach(self, rate: float) -> float:
        """Gain from the controls to the measurements at a frequency."""
        A, B, C, D = (m[0] for m in (self.model.A, self.model.B, self.model.C, self.model.D))
        unit = 1j * rate * np.eye(len(A)) - A
        states = np.linalg.lstsq(unit, B[:, self.n_w :].astype(complex), rcond=None)[0]
        return float(np.linalg.norm(C[self.n_z :] @ states + D[self.n_z :, self.n_w :], 2))

    def _seen_by(self, k: int) -> StateSpaceArrays:
        """The plant with the channels of one block only."""
        before_u, before_y = (
            sum(len(getattr(b, side)) for b in self.blocks[:k]) for side in ("outputs", "inputs")
        )
        block = self.blocks[k]
        columns = np.r_[: self.n_w, self.n_w + before_u + np.arange(len(block.outputs))]
        rows = np.r_[: self.n_z, self.n_z + before_y + np.arange(len(block.inputs))]
        m = self.model
        return StateSpaceArrays(m.A, m.B[:, :, columns], m.C[:, rows], m.D[:, rows[:, None], columns])
