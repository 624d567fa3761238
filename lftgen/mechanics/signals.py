"""Names of the small-motion signals that the blocks of bodies, joints, loads and sensors exchange."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sympy as sp

from lftgen.lft.connect import renamed
from lftgen.lft.data import default_names
from lftgen.lft.model import LFT
from lftgen.mechanics.joints import Joint
from lftgen.mechanics.relations import Bound, Signal
from lftgen.mechanics.spatial import ANGULAR_LINEAR, TORQUE_FORCE, XYZ


@dataclass(frozen=True)
class BodySignals:
    """Small-motion signals of a body's origin, body axes."""

    body: str

    @property
    def acceleration(self) -> Signal:
        """Change of the specific acceleration [angular; linear]."""
        return Signal(f"{self.body}_specific_acceleration", ANGULAR_LINEAR)

    @property
    def displacement(self) -> Signal:
        """[small rotation; small displacement]."""
        return Signal(f"{self.body}_displacement", ANGULAR_LINEAR)

    @property
    def twist(self) -> Signal:
        """[angular; linear] velocity."""
        return Signal(f"{self.body}_twist", ANGULAR_LINEAR)

    @property
    def base(self) -> Signal:
        """Acceleration of the reference frame in body axes."""
        return Signal(f"{self.body}_base_acceleration", XYZ)


@dataclass(frozen=True)
class JointSignals:
    """Signals of a joint."""

    joint: Joint

    @property
    def position(self) -> Signal:
        """Deviation of the coordinates."""
        return Signal(self.joint.name, self.joint.positions)

    @property
    def rate(self) -> Signal:
        """Rates of the coordinates."""
        return Signal(self.joint.name, self.joint.rates)

    @property
    def acceleration(self) -> Signal:
        """Accelerations of the coordinates."""
        return Signal(self.joint.name, self.joint.accelerations)

    @property
    def drive(self) -> Signal:
        """Change of the generalised forces that drive the joint."""
        return Signal(f"{self.joint.name}_drive", self.joint.forces)

    @property
    def wrench(self) -> Signal:
        """Change of the wrench on the child at the joint's origin, child's axes."""
        return Signal(f"{self.joint.name}_wrench", TORQUE_FORCE)

    @property
    def wrench_parent(self) -> Signal:
        """Change of the same wrench in the parent's axes."""
        return Signal(f"{self.joint.name}_wrench_parent", TORQUE_FORCE)

    @property
    def euler(self) -> Signal:
        """Change of the Euler angles of a free joint."""
        return Signal(self.joint.name, ("roll", "pitch", "yaw"))

    @property
    def reaction(self) -> Signal:
        """Change of the same wrench about the parent's origin, parent's axes."""
        return Signal(f"{self.joint.name}_reaction", TORQUE_FORCE)


def wrench_input(body: str, port: str, kind: str) -> Signal:
    """Force or torque input at a port, port axes."""
    return Signal(f"{body}_{port}_{kind}", XYZ)


def load_input(load: str, kind: str) -> Signal:
    """Change of a load's force or torque, in the load's own axes (reference axes for a dead load, else the port's)."""
    return Signal(f"{load}_{kind}", XYZ)


def load_output(load: str, kind: str) -> Signal:
    """Change of the force or torque that a load applies, in the axes of its port."""
    return Signal(f"{load}_applied_{kind}", XYZ)


def rotor_input(body: str, rotor: str) -> Signal:
    """Torque of the motor on a rotor."""
    return Signal(f"{body}_{rotor}", ("torque",))


def pull_signal(spring: str) -> Signal:
    """Change of a spring's pull on its port, reference axes."""
    return Signal(f"{spring}_pull", XYZ)


def port_signal(body: str, port: str, quantity: str, reference: bool) -> Signal:
    """Output of a sensor, in the port's axes or in reference axes."""
    return Signal(f"{body}_{port}_{quantity}" + ("_ref" if reference else ""), XYZ)


def bound(value: LFT, symbol: str, suffixes: Sequence[str], columns: Sequence[str] = ("",)) -> Bound:
    """An equilibrium value as symbols ``symbol_suffix`` and its LFT."""
    names = [[f"{symbol}_{s}{c}" for c in columns] for s in suffixes]
    data = value.data
    plain = renamed(data, inputs=default_names("u", data.shape[1]), outputs=default_names("y", data.shape[0]))
    return Bound(sp.ImmutableMatrix([[sp.Symbol(n, real=True) for n in row] for row in names]), plain)
