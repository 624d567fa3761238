"""Results of robust stability and worst-case gain: bounds, the worst point, and how the analysis ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

Progress = Callable[[float, float, float], None]
"""Called with (lower bound, upper bound, seconds) while the analysis runs."""


@dataclass(frozen=True)
class RobustStability:
    """How many times its parameter box a loop stays stable.

    The box of size 1 is the ranges as declared.  Size k scales every coordinate about the middle of its range (of
    ``t``, for an angle): ``|x - middle| <= k half-width``; full blocks may be k times their bound.

    Attributes
    ----------
    lower, upper : float
        Bounds of the margin: stability is guaranteed for every point of the box of size ``lower``, and lost at
        ``parameters``, a point of the box of size ``upper`` (inf: no such point was found).
    parameters : dict of str to float
        A destabilising point in the parameters' own units (outside of their ranges if ``upper`` > 1).
    frequency : float
        Where a pole lies on the imaginary axis there, in rad/s (inf: the loop becomes ill-posed; nan: none found).
    status : str
        ``"done"`` (the bounds agree to the tolerance), ``"unstable nominal"``, ``"unstable middle"`` (of the
        box), ``"ill-posed"`` (no loop exists at the nominal or the middle), ``"time limit"``, ``"interrupted"``, ``"bounds apart"`` (nothing left to try).
    tried : str
        What was done, for people.
    seconds : float
    uncertainties : dict of str to array
        Values of uncertain dynamics at that frequency that destabilise together with ``parameters``; of norm ``upper``
        times their bound at most.
    """

    lower: float
    upper: float
    parameters: Mapping[str, float] = field(default_factory=dict)
    frequency: float = float("nan")
    status: str = "done"
    tried: str = ""
    seconds: float = 0.0
    uncertainties: Mapping[str, np.ndarray] = field(default_factory=dict)

    def __str__(self) -> str:
        lines = [f"margin of stability between {self.lower:.6g} and {self.upper:.6g} ({self.status}): " + (
            "stable over the declared ranges" if self.robust else
            "not stable over the declared ranges" if self.upper < 1 else "stability over the declared ranges is not proven"
        )]  # fmt: skip
        if self.parameters or self.uncertainties:
            lines.append(_lost(self.frequency) + _point(self.parameters, self.uncertainties))
        return "\n".join(lines)

    @property
    def robust(self) -> bool:
        """Whether stability over the declared ranges is guaranteed."""
        return self.lower >= 1

    @property
    def mu(self) -> tuple[float, float]:
        """Lower and upper bound of mu, the inverse of the margin."""
        low = 0.0 if np.isinf(self.upper) else 1 / self.upper if self.upper else float("inf")
        return low, (1 / self.lower if self.lower else float("inf"))


@dataclass(frozen=True)
class WorstCaseGain:
    """Largest H-infinity norm of a loop over its parameter box.

    Attributes
    ----------
    lower : float
        The norm at ``parameters``, computed there by a Hamiltonian test; inf if the loop is unstable there.  With
        uncertain dynamics: the gain at ``parameters`` and ``frequency`` with the values ``uncertainties`` of the dynamics.
    upper : float
        No point of the box has a larger norm (inf if that is not proven).
    parameters : dict of str to float
        The worst point found, in the parameters' own units.
    frequency : float
        Where the gain peaks there, in rad/s.
    candidates : tuple of dict
        Distinct local worst points found on the way, the worst first.
    status : str
        ``"done"`` (the bounds agree to the tolerance), ``"unstable nominal"``, ``"unstable"`` (at ``parameters``),
        ``"ill-posed"``, ``"lower bound only"``, ``"time limit"``, ``"interrupted"``, ``"bounds apart"``.
    tried : str
    seconds : float
    uncertainties : dict of str to array
        Values of uncertain dynamics at that frequency, within their bounds, that belong to the worst point.
    """

    lower: float
    upper: float
    parameters: Mapping[str, float] = field(default_factory=dict)
    frequency: float = float("nan")
    candidates: tuple[Mapping[str, float], ...] = ()
    status: str = "done"
    tried: str = ""
    seconds: float = 0.0
    uncertainties: Mapping[str, np.ndarray] = field(default_factory=dict)

    def __str__(self) -> str:
        head = f"worst-case gain between {self.lower:.6g} and {self.upper:.6g} ({self.status})"
        if not self.parameters and not self.uncertainties:
            return head
        at = f"at {self.frequency:.6g} rad/s" if np.isfinite(self.frequency) else "at infinite frequency"
        return f"{head}\n{at}, with {_point(self.parameters, self.uncertainties)}"


def _lost(frequency: float) -> str:
    if np.isinf(frequency):
        return "ill-posed with "
    return (
        f"a pole at {frequency:.6g} rad/s on the imaginary axis with " if np.isfinite(frequency) else "with "
    )


def _point(parameters: Mapping[str, float], blocks: Mapping[str, np.ndarray]) -> str:
    """Values in words; of dynamics their norm."""
    parts = [f"{k} = {v:.6g}" for k, v in parameters.items()]
    parts += [f"|{k}| = {np.linalg.norm(v, 2):.6g}" for k, v in blocks.items()]
    return ", ".join(parts)
