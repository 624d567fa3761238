"""What a fixed-structure design ends with: controllers, and a verdict for each requirement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lftgen.lft.model import LFT


@dataclass(frozen=True)
class Verdict:
    """What became of one requirement.

    Attributes
    ----------
    name : str
    goal : float
    active : float
        Largest norm over the parameter points that the design worked with.
    lower, upper : float
        Of the worst case over the whole box: found at ``parameters``, and guaranteed (inf where it was not certified).
    parameters : dict of str to float
        The worst point found.
    """

    name: str
    goal: float
    active: float
    lower: float
    upper: float
    parameters: Mapping[str, float]

    @property
    def met(self) -> bool:
        """Whether the goal is guaranteed over the box."""
        return self.upper <= self.goal


@dataclass(frozen=True, eq=False)
class DesignResult:
    """Result of :func:`design`.

    Attributes
    ----------
    status : {"met", "not met", "not certified", "unstable", "time limit", "interrupted"}
        Whether all goals are guaranteed over the box; ``"not met"``: a goal is exceeded at a point found;
        ``"not certified"``: no violation was found, and none is excluded; ``"unstable"``: no controller was found that
        stabilises every point looked at (``requirements`` name one it leaves unstable); ``"time limit"``: none in time;
        ``"interrupted"``: by Ctrl-C, with the best ``x`` so far, which can be the ``start`` of another design.
    controllers : dict of str to control.StateSpace or LFT
        By block name; LFTs where a block follows parameters.  Empty for ``"unstable"`` and ``"time limit"``, and where a
        certificate was asked for and some worst case has no finite guaranteed bound.
    closed_loop : LFT or None
        The plant with the controllers, from all inputs to all outputs of the requirements; None without controllers.
    value : float
        Largest ``norm / goal`` over the active points.
    requirements : tuple of Verdict
    points : dict of str to array
        Active parameter points, the nominal first.
    seconds : float
    x : array
        The free variables, a ``start`` for another design of the same blocks.
    reason : str
        Why no controller was found: modes that the blocks cannot move or see, by the states that take part.
    """

    status: str
    controllers: Mapping[str, Any] = field(default_factory=dict)
    closed_loop: LFT | None = None
    value: float = float("inf")
    requirements: tuple[Verdict, ...] = ()
    points: Mapping[str, np.ndarray] = field(default_factory=dict)
    seconds: float = 0.0
    x: np.ndarray = field(default_factory=lambda: np.zeros(0))
    reason: str = ""

    def __str__(self) -> str:
        if not len(self.x):
            why = f": {self.reason}" if self.reason else ""
            return f"design: {self.status}, no controller after {self.seconds:.1f} s{why}"
        head = f"design: {self.status}, largest norm/goal {self.value:.5g} at {count_of(self.points)} points, {self.seconds:.1f} s"
        rows = [
            f"  {v.name}: goal {v.goal:.5g}, active points {v.active:.5g}, worst found {v.lower:.5g}, guaranteed {v.upper:.5g}"
            for v in self.requirements
        ]
        return "\n".join([head, *rows])


def count_of(points: Mapping[str, np.ndarray]) -> int:
    """Number of points."""
    return max((len(v) for v in points.values()), default=1)


def status_of(verdicts: Sequence[Verdict]) -> str:
    """The status of a design by its verdicts."""
    if any(not np.isfinite(max(v.lower, v.active)) for v in verdicts):
        return "unstable"
    if all(v.met for v in verdicts):
        return "met"
    return "not met" if any(v.lower > v.goal for v in verdicts) else "not certified"
