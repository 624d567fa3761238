"""The revolute joint: rotation about an axis fixed in parent and child."""

from __future__ import annotations

from typing import Any

import sympy as sp

from lftgen.errors import NotRationalError
from lftgen.mechanics.joints.single import SingleAxisJoint
from lftgen.mechanics.quantities import angle as angle_quantity
from lftgen.mechanics.quantities import joint_angle, not_negative
from lftgen.mechanics.spatial import axis_rotation


class RevoluteJoint(SingleAxisJoint):
    """Rotation by ``angle`` (right-handed) about ``axis``.

    Parameters
    ----------
    parent, child : str
        Bodies; the parent may be ``"ground"``.
    axis : 3 numbers
        In the joint's frame; normalised (a length below 1e-9 is an error).
    origin, rpy
        Placement of the joint's frame in the parent's, m and rad (as in URDF).
    angle : number, scheduled angle, its negative, or either plus a constant
        Equilibrium angle, rad (a scheduled angle may be declared in degrees).
    damping, stiffness : quantity
        N m s/rad, N m/rad.  The stiffness acts on deviations from the equilibrium unless ``rest_angle`` is given; then
        the spring also loads the trim, and the angle must be a number.
    hub_inertia : quantity
        Rotational inertia about the axis that the child carries ([K]'s ``J r r^T``: it feels absolute rotation), kg m2.
    armature : quantity
        Inertia that feels the joint's rotation only; ``gear_ratio**2 * rotor_inertia`` is added to it, kg m2.
    actuated : bool
        Whether a motor can hold the joint at its equilibrium.  Without one the holding torque must vanish.

    Signals: states ``J_angle``, ``J_rate``; inputs ``J_torque`` (joint side), ``J_motor_torque`` (before the gear);
    output ``J_acceleration``.

    Examples
    --------
    >>> import lftgen as lg
    >>> theta = lg.scheduled_angle("theta", (-90, 90), unit="deg")
    >>> lg.RevoluteJoint("J1", parent="ground", child="link", axis=(0, 0, 2), angle=theta).axis.T
    Matrix([[0, 0, 1]])
    """

    kind = "revolute"
    positions = ("angle",)
    rates = ("rate",)
    accelerations = ("acceleration",)
    forces = ("torque",)
    motor_force = "motor_torque"
    force_unit = "N m"
    hub_inertia: sp.Expr

    def __init__(
        self,
        name: str,
        *,
        parent: str,
        child: str,
        axis: Any,
        origin: Any = (0, 0, 0),
        rpy: Any = (0, 0, 0),
        angle: Any = 0.0,
        damping: Any = 0.0,
        stiffness: Any = 0.0,
        rest_angle: Any = None,
        hub_inertia: Any = 0.0,
        armature: Any = 0.0,
        rotor_inertia: Any = 0.0,
        gear_ratio: Any = 1.0,
        actuated: bool = True,
    ) -> None:
        theta = joint_angle(angle, f"joint {name}: the angle")
        rest = None if rest_angle is None else angle_quantity(rest_angle, f"joint {name}: rest_angle")
        if rest is not None and not theta.is_number:
            raise NotRationalError(
                f"joint {name}: a rest_angle makes the spring's torque {stiffness}*({theta} - {rest}), which is not rational in the "
                "angle's coordinate; give a number as angle, or leave rest_angle out (the stiffness then acts on deviations)"
            )
        super().__init__(
            name, parent=parent, child=child, origin=origin, rpy=rpy, axis=axis, coordinate=theta, rest=rest, damping=damping,
            stiffness=stiffness, armature=armature, rotor_inertia=rotor_inertia, gear_ratio=gear_ratio, actuated=actuated,
            hub_inertia=not_negative(hub_inertia, f"joint {name}: hub_inertia"),
        )  # fmt: skip

    def subspace(self) -> sp.ImmutableMatrix:
        return sp.ImmutableMatrix([*self.axis, 0, 0, 0])

    def rotation(self) -> sp.ImmutableMatrix:
        return axis_rotation(self.axis, self.coordinate)

    def carried_inertia(self) -> sp.ImmutableMatrix:
        return sp.ImmutableMatrix(self.hub_inertia * self.axis * self.axis.T)
