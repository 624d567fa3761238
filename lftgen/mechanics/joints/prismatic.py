"""The prismatic joint: translation along an axis fixed in parent and child."""

from __future__ import annotations

from typing import Any

import sympy as sp

from lftgen.mechanics.joints.single import SingleAxisJoint
from lftgen.mechanics.quantities import scalar


class PrismaticJoint(SingleAxisJoint):
    """Translation by ``position`` along ``axis``.

    Parameters
    ----------
    parent, child : str
        Bodies; the parent may be ``"ground"``.
    axis : 3 numbers
        In the joint's frame; normalised (a length below 1e-9 is an error).
    origin, rpy
        Placement of the joint's frame in the parent's, m and rad (as in URDF).
    position : quantity
        Equilibrium position, m; a number, a parameter (uncertain or scheduled) or an expression.
    damping, stiffness : quantity
        N s/m, N/m.  The stiffness acts on deviations from the equilibrium unless ``rest_position`` is given; then the
        spring also loads the trim (rationally, whatever the position).
    armature : quantity
        Mass that feels the joint's motion only; ``gear_ratio**2 * rotor_inertia`` is added to it, kg.
    gear_ratio : quantity
        Rotation of the motor per travel, rad/m.
    actuated : bool
        Whether a motor can hold the joint at its equilibrium.  Without one the holding force must vanish.

    Signals: states ``J_position``, ``J_velocity``; inputs ``J_force`` (joint side), ``J_motor_torque`` (before the
    gear); output ``J_acceleration``.

    Examples
    --------
    >>> import lftgen as lg
    >>> z = lg.scheduled("z", (0, 2), unit="m")
    >>> lift = lg.PrismaticJoint("lift", parent="ground", child="cage", axis=(0, 0, 1), position=z)
    >>> lift.child_position.T
    Matrix([[0, 0, z]])
    """

    kind = "prismatic"
    positions = ("position",)
    rates = ("velocity",)
    accelerations = ("acceleration",)
    forces = ("force",)
    motor_force = "motor_torque"
    force_unit = "N"

    def __init__(
        self,
        name: str,
        *,
        parent: str,
        child: str,
        axis: Any,
        origin: Any = (0, 0, 0),
        rpy: Any = (0, 0, 0),
        position: Any = 0.0,
        damping: Any = 0.0,
        stiffness: Any = 0.0,
        rest_position: Any = None,
        armature: Any = 0.0,
        rotor_inertia: Any = 0.0,
        gear_ratio: Any = 1.0,
        actuated: bool = True,
    ) -> None:
        rest = None if rest_position is None else scalar(rest_position, f"joint {name}: rest_position")
        super().__init__(
            name, parent=parent, child=child, origin=origin, rpy=rpy, axis=axis, rest=rest, damping=damping,
            coordinate=scalar(position, f"joint {name}: position"), stiffness=stiffness, armature=armature,
            rotor_inertia=rotor_inertia, gear_ratio=gear_ratio, actuated=actuated,
        )  # fmt: skip

    def subspace(self) -> sp.ImmutableMatrix:
        return sp.ImmutableMatrix([0, 0, 0, *self.axis])

    def translation(self) -> sp.ImmutableMatrix:
        return sp.ImmutableMatrix(self.coordinate * self.axis)
