"""What the equilibrium adds to the deviations of a linear model: offsets of states, inputs and outputs.

Each is a number, an angle (plus a constant), or an LFT in the parameters.  A signal without an absolute value of its own
(a small rotation, a displacement in moving axes, a force that is a change of something) has the offset zero.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sympy as sp

from lftgen.errors import ModelError
from lftgen.lft.build import realize
from lftgen.lft.model import LFT
from lftgen.mechanics.channels import Channel
from lftgen.mechanics.joints import Joint
from lftgen.mechanics.mechanism import Mechanism
from lftgen.mechanics.names import unknown
from lftgen.mechanics.trim import Trim
from lftgen.parameters import Parameter

_ADDITIVE = {"revolute": 1, "prismatic": 1, "cylindrical": 2, "universal": 2, "planar": 1}
"""How many of a joint's first coordinates are plain angles and lengths, so that value = equilibrium + deviation."""
_RATES = ("joint rate", "joint acceleration")
_MOTION = ("velocity", "rate", "acceleration", "angular_acceleration")


@dataclass(frozen=True)
class Offset:
    """``constant + sum of factor times angle (rad) + value``; ``deviation`` marks a signal without absolute value."""

    constant: float = 0.0
    angles: Mapping[Parameter, float] = field(default_factory=dict)
    value: LFT | None = None
    deviation: bool = False


@dataclass(frozen=True)
class Offsets:
    """Offsets of states, inputs and outputs in the order of the plant."""

    states: tuple[Offset, ...]
    inputs: tuple[Offset, ...]
    outputs: tuple[Offset, ...]


def offsets(mechanism: Mechanism, trim: Trim, plant: LFT) -> Offsets:
    """The offsets of a plant of a mechanism in its equilibrium.

    Raises
    ------
    ModelError
        States or signals that are not those of the mechanism.
    """
    finder = _Finder(mechanism, trim, plant)
    return Offsets(
        finder.states(),
        tuple(finder.input(n) for n in plant.inputs),
        tuple(finder.output(n) for n in plant.outputs),
    )


class _Finder:
    """Equilibrium values by channel."""

    def __init__(self, mechanism: Mechanism, trim: Trim, plant: LFT) -> None:
        self.mechanism, self.trim, self.plant = mechanism, trim, plant
        self.joints = {j.name: j for j in mechanism.joints}
        self.driven: set[tuple[str, int]] = set()

    def states(self) -> tuple[Offset, ...]:
        """Coordinates first, then rates, which are zero."""
        positions = [(j, k) for j in self.mechanism.joints for k in range(j.dof)]
        names = [n for j in self.mechanism.joints for n in j.names(j.positions)]
        names += [n for j in self.mechanism.joints for n in j.names(j.rates)]
        if list(self.plant.states) != names:
            raise ModelError(
                f"to_lpvss: expected a plant with the states of mechanism {self.mechanism.name}, {names}, "
                f"got {list(self.plant.states)}; close loops and add weights in MATLAB"
            )
        return tuple([self.coordinate(j, k) for j, k in positions] + [Offset()] * len(positions))

    def coordinate(self, joint: Joint, k: int) -> Offset:
        """Equilibrium value of a joint's coordinate."""
        if k >= _ADDITIVE.get(joint.kind, 0):
            return Offset(deviation=True)
        expression = sp.sympify(joint.equilibrium()[k])
        angles = {
            s: float(expression.coeff(s)) for s in expression.free_symbols if getattr(s, "is_angle", False)
        }
        rest = sp.expand(expression - sum(c * a for a, c in angles.items()))
        if rest.is_number:
            return Offset(float(rest), angles)
        return Offset(0.0, angles, self.value(rest))

    def value(self, expression: sp.Expr) -> LFT:
        """An expression as an LFT; what the trim solved for enters by its solution."""
        solved = [u for u in expression.free_symbols if u.name in self.trim.solution]
        rest = expression.xreplace(dict.fromkeys(solved, sp.S.Zero))
        total = realize([[rest]])
        for u in solved:
            gain = sp.simplify(sp.diff(expression, u))
            total = total + realize([[gain]]) @ self.trim.solution[u.name]
        return total

    def channel(self, name: str, channels: Mapping[str, Channel], what: str) -> Channel:
        """The meaning of a signal's name."""
        if name not in channels:
            raise unknown(name, channels, f"to_lpvss: mechanism {self.mechanism.name} has no such {what}:")
        return channels[name]

    def input(self, name: str) -> Offset:
        """Equilibrium value of an input."""
        c = self.channel(name, self.mechanism.input_channels, "input")
        if c.kind == "joint force":
            return self.force(c)
        if c.kind in ("load force", "load torque"):
            load = next(x for x in self.mechanism.loads if x.name == c.owner)
            return _of(self.value(getattr(load, c.kind.split()[1])[c.component]))
        if c.kind == "base acceleration":
            return _of(self.value(self.mechanism.acceleration[c.component]))
        return Offset()

    def force(self, c: Channel) -> Offset:
        """Holding force of a joint, before its gear where the input is there; the first of two inputs carries it."""
        k = next(i for i, g in enumerate(c.gains) if g != 0)
        if (c.owner, k) in self.driven:
            return Offset()
        self.driven.add((c.owner, k))
        held = _entry(self.trim.torque[c.owner], k)
        return _of(held if c.gains[k] == 1 else held @ realize([[1 / c.gains[k]]]))

    def output(self, name: str) -> Offset:
        """Equilibrium value of an output."""
        c = self.channel(name, self.mechanism.output_channels, "output")
        if c.kind == "joint position":
            return self.coordinate(self.joints[c.owner], c.component)
        if c.kind in ("joint wrench", "joint wrench parent"):
            wrench = self.trim.wrench if c.kind == "joint wrench" else self.trim.wrench_parent
            return _of(_entry(wrench[c.owner], c.component))
        if c.kind in ("load force", "load torque"):
            action = next(a for a in self.mechanism.tree.actions if a.key == c.owner)
            half = (0, 3) if c.kind == "load torque" else (3, 6)
            turn = self.mechanism.tree.bodies[action.body].ports[action.port].rotation.T
            return _of(_entry(_rows(turn, c.component) @ _part(self.trim.load[c.owner], *half), 0))
        if c.kind == "port":
            return self.port(c)
        return Offset(deviation=c.kind not in _RATES)

    def port(self, c: Channel) -> Offset:
        """What is read at a port: positions in reference axes and specific forces have absolute values."""
        place = self.mechanism.tree.bodies[c.owner].ports[c.port]
        if c.quantity == "position" and c.reference:
            at = self.trim.position[c.owner] + self.trim.rotation[c.owner] @ sp.Matrix(place.point)
            return _of(_entry(at, c.component))
        if c.quantity == "specific_force":
            felt = _part(self.trim.acceleration[c.owner], 3, 6)
            if c.reference:
                return _of(_entry(self.trim.rotation[c.owner] @ felt, c.component))
            return _of(_entry(_rows(place.rotation.T, c.component) @ felt, 0))
        return Offset(deviation=c.quantity not in _MOTION)


def _rows(matrix: sp.MatrixBase, k: int) -> sp.Matrix:
    return sp.Matrix(matrix[k, :])


def _entry(value: LFT, k: int) -> LFT:
    return value[[k], [0]].rename(inputs=["one"], outputs=["value"]).reduce()


def _part(value: LFT, start: int, stop: int) -> LFT:
    return value[list(range(start, stop)), [0]]


def _of(value: LFT) -> Offset:
    """An LFT, or the number that it is."""
    value = value.to_float()
    return Offset(value=value) if value.order else Offset(float(np.asarray(value.at())[0, 0]))


def stacked(rows: Sequence[Offset]) -> list[Any]:
    """The LFTs among some offsets, in order."""
    return [o.value for o in rows if o.value is not None]
