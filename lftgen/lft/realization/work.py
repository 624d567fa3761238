"""Counted work: what searches spend, so that what they find does not depend on how busy the machine is."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

SAFETY = 6.0
"""A clock stops what takes so many times the seconds that its work was counted for..."""
AT_LEAST = 5.0
"""...and so many seconds more."""


@dataclass
class Work:
    """A budget of work, told in seconds of a quiet core at fixed prices.

    Whoever works charges its price: that of a move, of a rank, of an order tried.  Prices are rounded measurements;
    only that they are the same each time matters.  The clock is no more than a safety net, far above.

    Parameters
    ----------
    seconds : float, optional
        Work allowed; None for any amount.
    moves : int, optional
        Moves allowed besides.
    """

    seconds: float | None = None
    moves: int | None = None
    spent: int = 0
    worked: float = 0.0
    until: float = float("inf")
    start: float = field(default_factory=time.perf_counter)

    def charge(self, seconds: float, moves: int = 0) -> None:
        """Book work, and moves."""
        self.worked += seconds
        self.spent += moves

    def allow(self, share: float) -> None:
        """Let what asks `over` go on until this share of the budget is spent."""
        self.until = float("inf") if self.seconds is None else share * self.seconds

    @property
    def elapsed(self) -> float:
        """Seconds on the clock since the start."""
        return time.perf_counter() - self.start

    @property
    def late(self) -> bool:
        """Whether the safety net holds."""
        return self.seconds is not None and self.elapsed > SAFETY * self.seconds + AT_LEAST

    @property
    def left(self) -> float:
        """Seconds of work left, not below zero."""
        if self.seconds is None:
            return float("inf")
        return 0.0 if self.late else max(0.0, self.seconds - self.worked)

    @property
    def exhausted(self) -> bool:
        """Whether work or moves are used up."""
        return (self.moves is not None and self.spent >= self.moves) or self.left <= 0

    def over(self) -> bool:
        """Whether the share allowed is spent."""
        return self.worked >= self.until or self.late
