"""The universal (Hooke, Cardan) joint: two rotations, the second axis carried by the first."""

from __future__ import annotations

from typing import Any

import sympy as sp

from lftgen.mechanics.joints.several import SeveralAxesJoint
from lftgen.mechanics.quantities import joint_angle, unit_axis
from lftgen.mechanics.spatial import axis_rotation, blocks, skew


class UniversalJoint(SeveralAxesJoint):
    """Rotation by ``angle_1`` about ``axis_1``, then by ``angle_2`` about ``axis_2`` as turned by the first.

    Parameters
    ----------
    axis_1, axis_2 : 3 numbers
        In the joint's frame at zero angles; normalised.  The first stays fixed in the parent, the second in the child.
    angle_1, angle_2 : number, scheduled angle, its negative, or either plus a constant
    damping, stiffness : quantity, or 2
        About each axis, on deviations from the equilibrium.
    actuated : bool

    Signals: states ``J_angle_1``, ``J_angle_2``, then ``J_rate_1``, ``J_rate_2``; inputs ``J_torque_1``,
    ``J_torque_2``; outputs ``J_acceleration_1``, ``J_acceleration_2``.

    Examples
    --------
    >>> import lftgen as lg
    >>> lg.UniversalJoint("cardan", parent="ground", child="shaft").dof
    2
    """

    kind = "universal"
    positions = ("angle_1", "angle_2")
    rates = ("rate_1", "rate_2")
    accelerations = ("acceleration_1", "acceleration_2")
    forces = ("torque_1", "torque_2")
    force_unit = "N m"
    axis_1: sp.ImmutableMatrix
    axis_2: sp.ImmutableMatrix
    angle_1: sp.Expr
    angle_2: sp.Expr

    def __init__(
        self,
        name: str,
        *,
        parent: str,
        child: str,
        axis_1: Any = (1, 0, 0),
        axis_2: Any = (0, 1, 0),
        origin: Any = (0, 0, 0),
        rpy: Any = (0, 0, 0),
        angle_1: Any = 0.0,
        angle_2: Any = 0.0,
        damping: Any = 0.0,
        stiffness: Any = 0.0,
        actuated: bool = True,
    ) -> None:
        axes = {f"axis_{k}": unit_axis(a, f"joint {name}: axis_{k}") for k, a in ((1, axis_1), (2, axis_2))}
        angles = {
            f"angle_{k}": joint_angle(a, f"joint {name}: angle_{k}") for k, a in ((1, angle_1), (2, angle_2))
        }
        super().__init__(
            name, parent=parent, child=child, origin=origin, rpy=rpy, damping=damping, stiffness=stiffness,
            actuated=actuated, **axes, **angles,
        )  # fmt: skip

    def subspace(self) -> sp.ImmutableMatrix:
        first = axis_rotation(self.axis_2, self.angle_2).T * self.axis_1
        return blocks([[first, self.axis_2], [sp.zeros(3, 1), sp.zeros(3, 1)]])

    def subspace_change(self, k: int) -> sp.ImmutableMatrix:
        """The first axis turns backwards in the child as the second coordinate grows."""
        if k == 0:
            return super().subspace_change(k)
        change = -skew(self.axis_2) * self.subspace()[:3, 0]
        return blocks([[sp.ImmutableMatrix(change), sp.zeros(3, 1)], [sp.zeros(3, 1), sp.zeros(3, 1)]])

    def rotation(self) -> sp.ImmutableMatrix:
        turns = axis_rotation(self.axis_1, self.angle_1) * axis_rotation(self.axis_2, self.angle_2)
        return sp.ImmutableMatrix(turns)

    def rotation_factors(self) -> tuple[sp.ImmutableMatrix, ...]:
        if not (self.angle_1.free_symbols and self.angle_2.free_symbols):
            return (self.child_rotation,)
        first = sp.ImmutableMatrix(self.placement * axis_rotation(self.axis_1, self.angle_1))
        return first, axis_rotation(self.axis_2, self.angle_2)

    def equilibrium(self) -> tuple[sp.Expr, ...]:
        return self.angle_1, self.angle_2
