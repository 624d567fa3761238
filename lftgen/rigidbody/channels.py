"""Inputs and outputs of a linearised model: which force or motion, where, in which axes."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from lftgen.errors import ModelError
from lftgen.rigidbody.elements import frozen_array
from lftgen.rigidbody.spatial import Array

QUANTITIES = (
    "position",
    "attitude",
    "velocity",
    "rate",
    "acceleration",
    "angular_acceleration",
    "specific_force",
)
"""What a `PortOutput` can measure."""


def _check_component(label: str, component: int, size: int) -> None:
    if component not in range(size):
        raise ModelError(f"component of {label}: expected 0 to {size - 1}, got {component!r}.")


def _check_choice(label: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ModelError(f"{label}: expected one of {', '.join(choices)}, got {value!r}.")


@dataclass(frozen=True, eq=False)
class JointForce:
    """Input: actuator force of a joint, on top of its equilibrium value, times a gain (a gear ratio).

    Examples
    --------
    >>> JointForce("J1", gain=50.0).gain
    50.0
    """

    joint: str
    component: int = 0
    gain: Array | float = 1.0


@dataclass(frozen=True, eq=False)
class PortForce:
    """Input: one component of a further wrench at a port, in the port's axes (it turns with the body).

    Parameters
    ----------
    body : str
    point : array (..., 3), m
        Body axes.
    rotation : array (..., 3, 3)
        v_body = R v_port.
    kind : str
        "force" or "torque".
    component : int

    Examples
    --------
    >>> PortForce("arm", point=(1, 0, 0), kind="force", component=1).kind
    'force'
    """

    body: str
    point: Array = field(default_factory=lambda: np.zeros(3))
    rotation: Array = field(default_factory=lambda: np.eye(3))
    kind: str = "force"
    component: int = 0

    def __post_init__(self) -> None:
        label = f"port input on {self.body!r}"
        _check_choice(f"kind of {label}", self.kind, ("force", "torque"))
        _check_component(label, self.component, 3)
        object.__setattr__(self, "point", frozen_array(f"point of {label}", self.point, (3,)))
        object.__setattr__(self, "rotation", frozen_array(f"rotation of {label}", self.rotation, (3, 3)))


@dataclass(frozen=True)
class BaseAcceleration:
    """Input: one component of a further acceleration of the reference frame, reference axes, m/s².

    Examples
    --------
    >>> BaseAcceleration(2).component
    2
    """

    component: int = 0

    def __post_init__(self) -> None:
        _check_component("base acceleration", self.component, 3)


@dataclass(frozen=True)
class JointPosition:
    """Output: deviation of a joint's coordinate from the equilibrium.

    Examples
    --------
    >>> JointPosition("J1").component
    0
    """

    joint: str
    component: int = 0


@dataclass(frozen=True)
class JointRate:
    """Output: rate of a joint.

    Examples
    --------
    >>> JointRate("J1").joint
    'J1'
    """

    joint: str
    component: int = 0


@dataclass(frozen=True)
class JointAcceleration:
    """Output: acceleration of a joint.

    Examples
    --------
    >>> JointAcceleration("J1").joint
    'J1'
    """

    joint: str
    component: int = 0


@dataclass(frozen=True, eq=False)
class PortOutput:
    """Output: motion of a port.

    Parameters
    ----------
    body : str
    point : array (..., 3), m
        Body axes.
    rotation : array (..., 3, 3)
        v_body = R v_port.
    quantity : str
        "position": displacement of the point; "attitude": rotation vector log(R̄ᵀ R); "velocity"; "rate";
        "acceleration": of the point relative to the reference frame; "angular_acceleration";
        "specific_force": inertial acceleration minus gravity, what an accelerometer reads.
    component : int
    frame : str
        "port": components in the port's axes (at the equilibrium for position and attitude, moving for the
        others); "reference": components of the same vector in the axes of the reference frame.

    Examples
    --------
    >>> PortOutput("arm", point=(1, 0, 0), quantity="specific_force", component=2).frame
    'port'
    """

    body: str
    point: Array = field(default_factory=lambda: np.zeros(3))
    rotation: Array = field(default_factory=lambda: np.eye(3))
    quantity: str = "position"
    component: int = 0
    frame: str = "port"

    def __post_init__(self) -> None:
        label = f"port output on {self.body!r}"
        _check_choice(f"quantity of {label}", self.quantity, QUANTITIES)
        _check_choice(f"frame of {label}", self.frame, ("port", "reference"))
        _check_component(label, self.component, 3)
        object.__setattr__(self, "point", frozen_array(f"point of {label}", self.point, (3,)))
        object.__setattr__(self, "rotation", frozen_array(f"rotation of {label}", self.rotation, (3, 3)))


@dataclass(frozen=True)
class JointWrench:
    """Output: change of the wrench [torque; force] that the parent puts on the child through a joint.

    Parameters
    ----------
    joint : str
    component : int
        0 to 5: tx, ty, tz, fx, fy, fz.
    frame : str
        "child": about the child's origin, in the child's (moving) axes; "parent": about the point of the
        parent where the child's origin is at equilibrium, in the parent's axes.

    Examples
    --------
    >>> JointWrench("J1", 4, frame="parent").component
    4
    """

    joint: str
    component: int = 0
    frame: str = "child"

    def __post_init__(self) -> None:
        _check_choice(f"frame of the wrench of joint {self.joint!r}", self.frame, ("child", "parent"))
        _check_component(f"the wrench of joint {self.joint!r}", self.component, 6)


Input = JointForce | PortForce | BaseAcceleration
Output = JointPosition | JointRate | JointAcceleration | PortOutput | JointWrench
