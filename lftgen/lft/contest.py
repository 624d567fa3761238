"""The contest among realisations of one matrix: the smallest wins, within a budget of work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import sympy as sp

from lftgen.errors import IllPosedError
from lftgen.lft.data import LFTData
from lftgen.lft.reduction.attainable import excess, obstructions
from lftgen.lft.reduction.bound import order_bound
from lftgen.lft.reduction.kalman import reduce


class OutOfTimeError(Exception):
    """Internal: a form was given up because its share of the budget is spent."""


@dataclass
class Contest:
    """Keeps the smallest realisation and knows whether it is minimal."""

    matrix: sp.ImmutableMatrix
    best: LFTData | None = None
    failure: IllPosedError | None = None
    bound: int | None = None

    def offer(self, candidate: Callable[[], LFTData]) -> bool:
        """Whether a candidate is the new best."""
        try:
            lft = reduce(candidate())
        except IllPosedError as error:
            self.failure = error
            return False
        except OutOfTimeError:
            return False
        if lft.structure.n_rows >= self.order:
            return False
        self.best = lft
        return True

    @property
    def order(self) -> float:
        """Repetitions of the best so far."""
        return float("inf") if self.best is None else self.best.structure.n_rows

    @property
    def minimal(self) -> bool:
        """Whether the best is at the sum of the order bounds (which do not depend on the realisation), or at what
        is proven to be the least total.
        """
        if self.best is None:
            return False
        if self.bound is None:
            self.bound = sum(order_bound(self.best).values())
        return self.order <= self.bound

    def sharpen(self) -> None:
        """Raise the bound by what is proven not to be attainable."""
        if self.best is not None and not self.minimal:
            bounds = order_bound(self.best)
            self.bound = sum(bounds.values()) + excess(obstructions(self.best, bounds))

    def winner(self) -> LFTData:
        """The best, or the reason why there is none."""
        if self.best is None:
            text = str(self.matrix.tolist())
            short = text if len(text) < 120 else text[:117] + "..."
            raise IllPosedError(
                f"{short} has a pole at the nominal values of its parameters ({self.failure})"
            ) from self.failure
        return self.best
