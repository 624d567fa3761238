"""The result of ``LFT.approximate``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lftgen.lft.operators import LFTOperators


@dataclass(frozen=True)
class Approximation:
    """A model with fewer repetitions and a proven error.

    Attributes
    ----------
    lft : LFT
        The smaller model; with ``error="block"`` it has one more block, `approximation_error`, a full real matrix
        of gain up to ``error`` that is added to ``[A B; C D]`` (to the rows and columns that depend on parameters).
    error : float
        Absolute: the largest singular value of the difference of the two matrices ``[A B; C D]`` is nowhere in the box
        above this.  Proven, up to rounding; 0 where nothing was dropped.
    scale : float
        The largest singular value of the exact ``[A B; C D]`` at the nominal values.
    sampled_error : float
        The largest error at random points and corners: a lower bound, which tells how tight ``error`` is.
    order_before : int
        Repetitions of the exact model.
    parts : int
        Parts of the box in which the error was bounded.
    """

    lft: LFTOperators
    error: float
    scale: float
    sampled_error: float
    order_before: int
    parts: int

    @property
    def relative_error(self) -> float:
        """``error / scale``: relative to the matrix at the nominal values, not entry by entry."""
        return self.error / self.scale if self.scale else 0.0

    @property
    def order(self) -> int:
        """Repetitions of the approximation."""
        return self.lft.order

    def __str__(self) -> str:
        return (
            f"order {self.order_before} -> {self.order}; error of [A B; C D] over the whole box at most {self.error:.3g} "
            f"({self.relative_error:.2g} of its size {self.scale:.3g} at the nominal values), proven in {self.parts} parts; "
            f"{self.sampled_error:.3g} at random points"
        )
