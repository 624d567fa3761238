"""What a design must achieve: weighted closed-loop H-infinity norms between named channels of the plant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lftgen.analysis.channels import apart, select
from lftgen.analysis.design.tunable import TunableBlock
from lftgen.arguments import instance, items, number, truth
from lftgen.errors import LftgenError, ModelError
from lftgen.lft.build import block_diag
from lftgen.lft.model import LFT


@dataclass(frozen=True, eq=False)
class Requirement:
    """``|| output_weight T input_weight ||_inf <= goal`` with T from inputs to outputs of the closed loop.

    Parameters
    ----------
    name : str
    inputs, outputs : str or sequence of str
        Channels of the plant.
    goal : float
        Level to reach.
    hard : bool
        A constraint (the level must be met) instead of an objective (the largest of all ``norm / goal`` is minimised).
    output_weight, input_weight : python-control system, LFT, matrix or number, optional
        As many outputs and inputs as there are channels; the plant may contain its weights as well.

    Examples
    --------
    >>> import lftgen as lg
    >>> lg.Requirement("tracking", inputs="r", outputs="e", goal=1.2).hard
    False
    """

    name: str
    inputs: str | Sequence[str]
    outputs: str | Sequence[str]
    goal: float = 1.0
    hard: bool = False
    output_weight: Any = None
    input_weight: Any = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ModelError(f"requirement: name must be a text, got {self.name!r}")
        for what in ("inputs", "outputs"):
            given = getattr(self, what)
            names = (
                (given,) if isinstance(given, str) else items(given, f"requirement {self.name}: {what}", str)
            )
            if not names:
                raise ModelError(f"requirement {self.name}: {what} is empty")
            object.__setattr__(self, what, names)
        goal = number(self.goal, f"requirement {self.name}: goal")
        if goal <= 0:
            raise ModelError(f"requirement {self.name}: goal must be positive, got {self.goal!r}")
        object.__setattr__(self, "goal", goal)
        truth(self.hard, f"requirement {self.name}: hard")


def weighted_plant(plant: LFT, requirements: Sequence[Requirement], blocks: Sequence[TunableBlock]) -> LFT:
    """The plant from (inputs of the requirements, controls) to (their outputs, measurements), weights included.

    Raises
    ------
    ModelError
        Signals that the plant does not have (close ones are listed), weights of another size.
    """
    instance(plant, LFT, "design: plant")
    y = [n for b in blocks for n in b.inputs]
    u = [n for b in blocks for n in b.outputs]
    outputs = [n for r in requirements for n in r.outputs]
    inputs = [n for r in requirements for n in r.inputs]
    chosen = select(plant, [*outputs, *y], [*inputs, *u])
    chosen = chosen.rename(inputs=apart([*inputs, *u]), outputs=apart([*outputs, *y]))
    left = _weights(
        [(r.output_weight, len(r.outputs), r.name) for r in requirements], len(y), "output_weight"
    )
    right = _weights([(r.input_weight, len(r.inputs), r.name) for r in requirements], len(u), "input_weight")
    chosen = chosen if left is None else left @ chosen
    return chosen if right is None else chosen @ right


def _weights(each: Sequence[tuple[Any, int, str]], rest: int, what: str) -> LFT | None:
    """All weights on the diagonal, with an identity for the other channels; None where there are none."""
    if all(weight is None for weight, _, _ in each):
        return None
    systems = [_weight(weight, size, name, what) for weight, size, name in each]
    apart = [s.rename(states=[f"{what}{k}_{n}" for n in s.states]) for k, s in enumerate(systems)]
    return block_diag([*apart, np.eye(rest)] if rest else apart)


def _weight(weight: Any, size: int, name: str, what: str) -> LFT:
    """The weight of one requirement as a square system."""
    if weight is None:
        weight = 1.0
    if np.isscalar(weight):
        weight = float(number(weight, f"requirement {name}: {what}")) * np.eye(size)
    try:
        system = block_diag([weight])
    except LftgenError as error:
        raise ModelError(f"requirement {name}: {what}: {error}") from error
    if system.shape == (1, 1) and size > 1:
        system = block_diag([system.rename(states=[f"{s}_{i}" for s in system.states]) for i in range(size)])
    if system.shape != (size, size):
        raise ModelError(
            f"requirement {name}: {what} must be {size}x{size} (or one system for all), got {system.shape}"
        )
    return system
