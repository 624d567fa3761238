"""Space for the values on a grid."""

from __future__ import annotations

import math

import numpy as np

from lftgen.lft.evaluation.plan import Plan
from lftgen.lft.evaluation.points import StateSpaceArrays


class Storage:
    """Each port one block of memory over the grid, last axis fastest; matrices that are constant are stored once.

    Entries that are always zero are never written: the system hands out zeroed memory that costs nothing before it is
    used, and writing fresh memory is most of the time of a grid.
    """

    def __init__(self, plan: Plan, n_states: int, shape: tuple[int, ...]) -> None:
        self.shape, self.n_states = shape, n_states
        rows = (slice(0, n_states), slice(n_states, None))
        cuts = {(i, j): (r, c) for i, r in enumerate(rows) for j, c in enumerate(rows)}
        changing = {k: plan.constant[cut] for k, cut in cuts.items() if plan.dependent[cut].any()}
        space = np.zeros((sum(c.size for c in changing.values()), math.prod(shape)))
        self.parts = {k: self._constant(plan.constant[cut]) for k, cut in cuts.items()}
        for k, constant in changing.items():
            self.parts[k], space = self._filled(constant, plan.dependent[cuts[k]], space)
        self.places = {
            (int(i), int(j)): self.parts[int(i >= n_states), int(j >= n_states)][
                i - n_states * (i >= n_states), j - n_states * (j >= n_states)
            ]
            for i, j in np.argwhere(plan.dependent)
        }

    def _constant(self, value: np.ndarray) -> np.ndarray:
        return np.broadcast_to(value[:, :, None], (*value.shape, math.prod(self.shape)))

    @staticmethod
    def _filled(value: np.ndarray, depends: np.ndarray, space: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A matrix in the first part of some zeroed space, and the rest of that."""
        out = space[: value.size].reshape(*value.shape, -1)
        for i, j in np.argwhere(~depends & (value != 0)):
            out[i, j] = value[i, j]
        return out, space[value.size :]

    def values(self) -> StateSpaceArrays | np.ndarray:
        """The arrays in the shape of the grid."""
        A, B, C, D = (
            np.moveaxis(self.parts[k].reshape(*self.parts[k].shape[:2], *self.shape), (0, 1), (-2, -1))
            for k in ((0, 0), (0, 1), (1, 0), (1, 1))
        )
        return StateSpaceArrays(A, B, C, D) if self.n_states else D
