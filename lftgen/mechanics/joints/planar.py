"""The planar joint: motion in a plane."""

from __future__ import annotations

from typing import Any

import sympy as sp

from lftgen.mechanics.joints.several import SeveralAxesJoint
from lftgen.mechanics.quantities import joint_angle, scalar, unit_axis
from lftgen.mechanics.spatial import axis_rotation, plane_directions


class PlanarJoint(SeveralAxesJoint):
    """Translation in the plane normal to ``axis`` and rotation about it.

    Parameters
    ----------
    axis : 3 numbers
        Normal of the plane in the joint's frame; normalised.  The plane's directions (x, y, axis) are right-handed;
        x is the joint frame's x (or y, where the normal is nearly x) projected into the plane.
    angle : number, scheduled angle, its negative, or either plus a constant
    x, y : quantity
        Equilibrium position in the plane, joint frame, m.
    damping, stiffness : quantity, or 3
        Of the rotation and of the two translations, on deviations from the equilibrium.
    actuated : bool

    Signals: states ``J_angle``, ``J_position_x``, ``J_position_y``, then ``J_rate``, ``J_velocity_x``,
    ``J_velocity_y``: the translations are small motions along the plane's directions turned with the child; inputs
    ``J_torque``, ``J_force_x``, ``J_force_y``; outputs ``J_angular_acceleration``, ``J_acceleration_x``,
    ``J_acceleration_y``.

    Examples
    --------
    >>> import lftgen as lg
    >>> lg.PlanarJoint("table", parent="ground", child="puck", axis=(0, 0, 1), x=1, y=2).child_position.T
    Matrix([[1, 2, 0]])
    """

    kind = "planar"
    positions = ("angle", "position_x", "position_y")
    rates = ("rate", "velocity_x", "velocity_y")
    accelerations = ("angular_acceleration", "acceleration_x", "acceleration_y")
    forces = ("torque", "force_x", "force_y")
    force_unit = "(N m, N)"
    axis: sp.ImmutableMatrix
    angle: sp.Expr
    x: sp.Expr
    y: sp.Expr

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
        x: Any = 0.0,
        y: Any = 0.0,
        damping: Any = 0.0,
        stiffness: Any = 0.0,
        actuated: bool = True,
    ) -> None:
        super().__init__(
            name, parent=parent, child=child, origin=origin, rpy=rpy, damping=damping, stiffness=stiffness,
            actuated=actuated, axis=unit_axis(axis, f"joint {name}: axis"),
            angle=joint_angle(angle, f"joint {name}: the angle"),
            x=scalar(x, f"joint {name}: x"), y=scalar(y, f"joint {name}: y"),
        )  # fmt: skip

    def subspace(self) -> sp.ImmutableMatrix:
        zero, (x, y) = sp.zeros(3, 1), plane_directions(self.axis)
        columns = [sp.Matrix.vstack(self.axis, zero), sp.Matrix.vstack(zero, x), sp.Matrix.vstack(zero, y)]
        return sp.ImmutableMatrix(sp.Matrix.hstack(*columns))

    def rotation(self) -> sp.ImmutableMatrix:
        return axis_rotation(self.axis, self.angle)

    def translation(self) -> sp.ImmutableMatrix:
        x, y = plane_directions(self.axis)
        return sp.ImmutableMatrix(self.x * x + self.y * y)

    def equilibrium(self) -> tuple[sp.Expr, ...]:
        return self.angle, self.x, self.y
