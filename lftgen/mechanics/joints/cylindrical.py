"""The cylindrical joint: rotation about and translation along one axis."""

from __future__ import annotations

from typing import Any

import sympy as sp

from lftgen.mechanics.joints.several import SeveralAxesJoint
from lftgen.mechanics.quantities import joint_angle, scalar, unit_axis
from lftgen.mechanics.spatial import axis_rotation


class CylindricalJoint(SeveralAxesJoint):
    """Rotation by ``angle`` about ``axis`` and translation by ``position`` along it.

    Parameters
    ----------
    axis : 3 numbers
        In the joint's frame; normalised.
    angle : number, scheduled angle, its negative, or either plus a constant
    position : quantity
        m.
    damping, stiffness : quantity, or 2
        Of the rotation and of the translation, on deviations from the equilibrium.
    actuated : bool

    Signals: states ``J_angle``, ``J_position``, then ``J_rate``, ``J_velocity``; inputs ``J_torque``, ``J_force``;
    outputs ``J_angular_acceleration``, ``J_acceleration``.

    Examples
    --------
    >>> import lftgen as lg
    >>> lg.CylindricalJoint("sleeve", parent="ground", child="ring", axis=(0, 0, 1), position=0.3).child_position.T
    Matrix([[0, 0, 3/10]])
    """

    kind = "cylindrical"
    positions = ("angle", "position")
    rates = ("rate", "velocity")
    accelerations = ("angular_acceleration", "acceleration")
    forces = ("torque", "force")
    force_unit = "(N m, N)"
    axis: sp.ImmutableMatrix
    angle: sp.Expr
    position: sp.Expr

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
        position: Any = 0.0,
        damping: Any = 0.0,
        stiffness: Any = 0.0,
        actuated: bool = True,
    ) -> None:
        super().__init__(
            name, parent=parent, child=child, origin=origin, rpy=rpy, damping=damping, stiffness=stiffness,
            actuated=actuated, axis=unit_axis(axis, f"joint {name}: axis"),
            angle=joint_angle(angle, f"joint {name}: the angle"), position=scalar(position, f"joint {name}: position"),
        )  # fmt: skip

    def subspace(self) -> sp.ImmutableMatrix:
        zero = sp.zeros(3, 1)
        return sp.ImmutableMatrix(
            sp.Matrix.vstack(sp.Matrix.hstack(self.axis, zero), sp.Matrix.hstack(zero, self.axis))
        )

    def rotation(self) -> sp.ImmutableMatrix:
        return axis_rotation(self.axis, self.angle)

    def translation(self) -> sp.ImmutableMatrix:
        return sp.ImmutableMatrix(self.position * self.axis)

    def equilibrium(self) -> tuple[sp.Expr, ...]:
        return self.angle, self.position
