"""Robust stability and worst-case gain of an LFT over its parameter box, with guaranteed bounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lftgen.lft.model import LFT

Progress = Callable[[float, float, float], None]
"""Called with (lower bound, upper bound, seconds) while the analysis runs."""


@dataclass(frozen=True)
class RobustStability:
    """How many times its parameter box a loop stays stable.

    Attributes
    ----------
    lower, upper : float
        Bounds of the margin: stability is guaranteed for every parameter point within ``lower`` times the box, and
        lost at ``parameters``, a point of ``upper`` times the box.  1.0 is the box as declared.
    parameters : dict of str to float
        A destabilising point in the parameters' own units (may lie outside of their ranges); empty if none was found.
    frequency : float
        Where a pole reaches the imaginary axis there, in rad/s (inf: the loop becomes ill-posed).
    status : {"done", "unstable nominal", "ill-posed", "time limit", "interrupted"}
    tried : str
        What was done, for people.
    seconds : float
    """

    lower: float
    upper: float
    parameters: Mapping[str, float] = field(default_factory=dict)
    frequency: float = float("nan")
    status: str = "done"
    tried: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class WorstCaseGain:
    """Largest H-infinity norm of a loop over its parameter box.

    Attributes
    ----------
    lower : float
        The norm at ``parameters``, verified there by a Hamiltonian test; inf if the loop is unstable there.
    upper : float
        No point of the box has a larger norm (inf if that is not proven).
    parameters : dict of str to float
        The worst point found, in the parameters' own units.
    frequency : float
        Where the gain peaks there, in rad/s.
    candidates : tuple of dict
        Distinct local worst points found on the way, the worst first.
    status : {"done", "unstable nominal", "unstable", "ill-posed", "time limit", "interrupted", "lower bound only"}
    tried : str
    seconds : float
    """

    lower: float
    upper: float
    parameters: Mapping[str, float] = field(default_factory=dict)
    frequency: float = float("nan")
    candidates: tuple[Mapping[str, float], ...] = ()
    status: str = "done"
    tried: str = ""
    seconds: float = 0.0


def robust_stability(
    plant: LFT,
    *,
    tolerance: float = 0.005,
    max_margin: float = 100.0,
    recenter: bool = True,
    time_limit: float = 60.0,
    seed: int = 0,
    progress: Progress | None = None,
) -> RobustStability:
    """Margin of stability of an LFT with states over its parameter box (closed loops: close them first)."""
    raise NotImplementedError


def worst_case_gain(
    plant: LFT,
    *,
    inputs: str | Sequence[str] | None = None,
    outputs: str | Sequence[str] | None = None,
    tolerance: float = 0.03,
    certify: bool = True,
    time_limit: float = 60.0,
    starts: int = 64,
    seed: int = 0,
    progress: Progress | None = None,
) -> WorstCaseGain:
    """Largest H-infinity norm from inputs to outputs over the parameter box.

    With ``certify=False`` only the lower bound and its points are searched (``upper`` is inf), which is quick.
    """
    raise NotImplementedError


_ = Any
