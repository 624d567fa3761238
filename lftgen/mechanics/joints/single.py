"""What joints with one degree of freedom along or about an axis share: spring, damper, inertia, gear."""

from __future__ import annotations

from typing import Any

import sympy as sp

from lftgen.errors import ModelError
from lftgen.mechanics.joints.base import Joint
from lftgen.mechanics.quantities import not_negative, scalar, unit_axis


class SingleAxisJoint(Joint):
    """A joint with one coordinate; ``axis`` is a unit vector in the joint's frame (and so in the child's)."""

    axis: sp.ImmutableMatrix
    coordinate: sp.Expr
    damping: sp.Expr
    stiffness: sp.Expr
    rest: sp.Expr | None
    armature: sp.Expr
    gear_ratio: sp.Expr

    def __init__(
        self,
        name: str,
        *,
        axis: Any,
        coordinate: sp.Expr,
        rest: sp.Expr | None,
        damping: Any,
        stiffness: Any,
        armature: Any,
        rotor_inertia: Any,
        gear_ratio: Any,
        actuated: bool,
        **common: Any,
    ) -> None:
        what = f"joint {name}"
        gear = scalar(gear_ratio, f"{what}: gear_ratio")
        rotor = scalar(rotor_inertia, f"{what}: rotor_inertia")
        super().__init__(
            name,
            axis=unit_axis(axis, f"{what}: axis"),
            coordinate=coordinate,
            rest=rest,
            damping=not_negative(damping, f"{what}: damping"),
            stiffness=scalar(stiffness, f"{what}: stiffness"),
            armature=not_negative(
                scalar(armature, f"{what}: armature") + gear**2 * rotor, f"{what}: armature"
            ),
            gear_ratio=gear,
            actuated=actuated,
            **common,
        )
        if not isinstance(actuated, bool):
            raise ModelError(f"{what}: actuated must be True or False, got {actuated!r}")
        if gear.is_zero:
            raise ModelError(f"{what}: gear_ratio must not be zero")

    def equilibrium(self) -> tuple[sp.Expr, ...]:
        return (self.coordinate,)

    def stiffness_matrix(self) -> sp.ImmutableMatrix:
        return sp.ImmutableMatrix([[self.stiffness]])

    def damping_matrix(self) -> sp.ImmutableMatrix:
        return sp.ImmutableMatrix([[self.damping]])

    def armature_matrix(self) -> sp.ImmutableMatrix:
        return sp.ImmutableMatrix([[self.armature]])

    def preload(self) -> sp.ImmutableMatrix:
        return sp.ImmutableMatrix(
            [[0 if self.rest is None else self.stiffness * (self.coordinate - self.rest)]]
        )

    def force_inputs(self) -> dict[str, list[sp.Expr]]:
        return {**super().force_inputs(), f"{self.name}_{self.motor_force}": [self.gear_ratio]}
