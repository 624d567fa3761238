"""The spherical joint: free rotation about a point."""

from __future__ import annotations

from typing import Any

import sympy as sp

from lftgen.mechanics.joints.several import SeveralAxesJoint
from lftgen.mechanics.quantities import elementary, rpy_angles, rpy_factors


class SphericalJoint(SeveralAxesJoint):
    """Rotation about the joint's origin in any direction.

    Parameters
    ----------
    origin, rpy
        Placement of the joint's frame in the parent's, m and rad.
    attitude : 3 angles
        Equilibrium attitude of the child in the joint's frame, as roll, pitch, yaw; numbers or scheduled angles.
    damping, stiffness : quantity, or 3
        About each of the child's axes, on deviations from the equilibrium, N m s/rad and N m/rad.
    actuated : bool
        Whether motors hold the joint at its equilibrium.

    Signals: states ``J_attitude_x..z`` (small rotation, child's axes), ``J_rate_x..z``; inputs ``J_torque_x..z``;
    outputs ``J_angular_acceleration_x..z``.

    Examples
    --------
    >>> import lftgen as lg
    >>> lg.SphericalJoint("ball", parent="ground", child="bob", actuated=False).dof
    3
    """

    kind = "spherical"
    positions = ("attitude_x", "attitude_y", "attitude_z")
    rates = ("rate_x", "rate_y", "rate_z")
    accelerations = ("angular_acceleration_x", "angular_acceleration_y", "angular_acceleration_z")
    forces = ("torque_x", "torque_y", "torque_z")
    force_unit = "N m"
    angles: tuple[sp.Expr, ...]

    def __init__(
        self,
        name: str,
        *,
        parent: str,
        child: str,
        origin: Any = (0, 0, 0),
        rpy: Any = (0, 0, 0),
        attitude: Any = (0, 0, 0),
        damping: Any = 0.0,
        stiffness: Any = 0.0,
        actuated: bool = True,
    ) -> None:
        super().__init__(
            name, parent=parent, child=child, origin=origin, rpy=rpy, damping=damping, stiffness=stiffness,
            actuated=actuated, angles=rpy_angles(attitude, f"joint {name}: attitude"),
        )  # fmt: skip

    def subspace(self) -> sp.ImmutableMatrix:
        return sp.ImmutableMatrix(sp.eye(6)[:, :3])

    def rotation(self) -> sp.ImmutableMatrix:
        roll, pitch, yaw = self.angles
        return sp.ImmutableMatrix(elementary(2, yaw) * elementary(1, pitch) * elementary(0, roll))

    def rotation_factors(self) -> tuple[sp.ImmutableMatrix, ...]:
        factors = rpy_factors(self.angles)
        return sp.ImmutableMatrix(self.placement * factors[0]), *factors[1:]

    def equilibrium(self) -> tuple[sp.Expr, ...]:
        return (sp.S.Zero,) * 3
