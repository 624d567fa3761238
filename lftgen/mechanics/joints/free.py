"""The free joint: a body that nothing holds, the base of a balloon, a launcher, a satellite, a walking robot."""

from __future__ import annotations

from typing import Any

import sympy as sp

from lftgen.errors import ModelError
from lftgen.mechanics.joints.base import Joint
from lftgen.mechanics.quantities import corner_points, numeric, parameters_of, rpy_angles, rpy_factors


class FreeJoint(Joint):
    """All six degrees of freedom, S = I ([K] Fig. 1b: the 12th-order forward dynamics of the base).

    Parameters
    ----------
    parent : str
        What the motion is counted from; ``"ground"`` as a rule.
    child : str
        The base body.
    origin, rpy
        The equilibrium position and attitude of the child, m and rad; each angle of ``rpy`` a number or a scheduled
        angle.  ``R = Rz(yaw) Ry(pitch) Rx(roll)``.

    Nothing holds a free body: the wrench through the joint must vanish for all parameter values, by the loads, by the
    acceleration of the reference frame, or by what :meth:`lftgen.Mechanism.trim` is told to solve for.

    Signals: states ``J_attitude_x..z``, ``J_position_x..z``, then ``J_rate_x..z``, ``J_velocity_x..z``, small motions
    in the child's axes with ``d[attitude; position]/dt = [rate; velocity]``; inputs ``J_torque_x..z``,
    ``J_force_x..z`` (a wrench at the child's origin, child's axes); outputs ``J_angular_acceleration_x..z``,
    ``J_acceleration_x..z``, and the change of the Euler angles ``J_roll``, ``J_pitch``, ``J_yaw`` (not at a pitch of
    90 degrees, where they do not exist).

    Examples
    --------
    >>> import lftgen as lg
    >>> base = lg.FreeJoint("base", child="hull", rpy=(0, lg.scheduled_angle("pitch", (-1, 1)), 0))
    >>> base.dof, base.actuated
    (6, False)
    """

    kind = "free"
    positions = ("attitude_x", "attitude_y", "attitude_z", "position_x", "position_y", "position_z")
    rates = ("rate_x", "rate_y", "rate_z", "velocity_x", "velocity_y", "velocity_z")
    accelerations = (
        "angular_acceleration_x", "angular_acceleration_y", "angular_acceleration_z",
        "acceleration_x", "acceleration_y", "acceleration_z",
    )  # fmt: skip
    forces = ("torque_x", "torque_y", "torque_z", "force_x", "force_y", "force_z")
    force_unit = "(N m, N)"
    angles: tuple[sp.Expr, ...]

    def __init__(
        self, name: str, *, child: str, parent: str = "ground", origin: Any = (0, 0, 0), rpy: Any = (0, 0, 0)
    ) -> None:
        angles = rpy_angles(rpy, f"joint {name}: rpy")
        super().__init__(name, parent=parent, child=child, origin=origin, rpy=rpy, angles=angles)

    def subspace(self) -> sp.ImmutableMatrix:
        return sp.ImmutableMatrix(sp.eye(6))

    def rotation_factors(self) -> tuple[sp.ImmutableMatrix, ...]:
        return rpy_factors(self.angles)

    def equilibrium(self) -> tuple[sp.Expr, ...]:
        return (sp.S.Zero,) * 6

    def euler_factor(self) -> sp.ImmutableMatrix:
        """3x3: change of (roll, pitch, yaw) per small rotation in the child's axes.

        Raises
        ------
        ModelError
            A pitch of 90 degrees within the range.
        """
        roll, pitch, _ = self.angles
        for point in corner_points(parameters_of([pitch])):
            value = numeric(pitch, point)
            if value is not None and abs(abs(value) - float(sp.pi / 2)) < 1e-6:
                raise ModelError(
                    f"joint {self.name}: Euler angles do not exist at a pitch of 90 degrees; use {self.name}_attitude_x..z"
                )
        s, c, t = sp.sin(roll), sp.cos(roll), sp.tan(pitch)
        return sp.ImmutableMatrix([[1, s * t, c * t], [0, c, -s], [0, s / sp.cos(pitch), c / sp.cos(pitch)]])
