"""What every joint has, and the verbs that each joint type defines."""

from __future__ import annotations

from typing import Any, ClassVar

import sympy as sp

from lftgen.errors import ModelError
from lftgen.mechanics.frozen import Frozen
from lftgen.mechanics.names import GROUND, check_name
from lftgen.mechanics.quantities import parameters_of, rotation_rpy, vector
from lftgen.parameters import Parameter


class Joint(Frozen):
    """A joint between a parent body (or ``"ground"``) and a child body, whose frame it carries.

    The joint's frame stands at ``origin`` in the parent's frame, turned by ``rpy``; the child's frame coincides with it
    where the joint's coordinates are zero.  Subclasses set ``positions`` and the like and define the verbs below.

    Attributes
    ----------
    positions, rates, accelerations, forces : tuple of str
        Suffixes of the signals of each degree of freedom: ``J_angle``, ``J_rate``, ``J_acceleration``, ``J_torque``.
    """

    kind: ClassVar[str]
    positions: ClassVar[tuple[str, ...]] = ()
    rates: ClassVar[tuple[str, ...]] = ()
    accelerations: ClassVar[tuple[str, ...]] = ()
    forces: ClassVar[tuple[str, ...]] = ()
    motor_force: ClassVar[str | None] = None
    force_unit: ClassVar[str] = ""

    name: str
    parent: str
    child: str
    origin: sp.ImmutableMatrix
    placement: sp.ImmutableMatrix
    actuated: bool = False

    def __init__(self, name: str, *, parent: str, child: str, origin: Any, rpy: Any, **own: Any) -> None:
        check_name(name, "joint")
        if parent != GROUND:
            check_name(parent, f"parent of joint {name}")
        check_name(child, f"child of joint {name}")
        if parent == child:
            raise ModelError(f"joint {name}: parent and child are both {parent}; a joint connects two bodies")
        fixed = {
            "name": name,
            "parent": parent,
            "child": child,
            "origin": vector(origin, f"joint {name}: origin"),
            "placement": rotation_rpy(rpy, f"joint {name}: rpy"),
        }
        self._freeze(**fixed, **own)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, parent={self.parent!r}, child={self.child!r})"

    # --- verbs ---------------------------------------------------------------------------------------------------

    @property
    def dof(self) -> int:
        """Degrees of freedom."""
        return len(self.positions)

    def subspace(self) -> sp.ImmutableMatrix:
        """Motion subspace S, 6 x dof, in the child's axes at its origin."""
        return sp.ImmutableMatrix(6, 0, [])

    def rotation(self) -> sp.ImmutableMatrix:
        """Equilibrium rotation of the child in the joint's frame: v_joint = R v_child."""
        return sp.ImmutableMatrix(sp.eye(3))

    def translation(self) -> sp.ImmutableMatrix:
        """Equilibrium position of the child's origin in the joint's frame, m."""
        return sp.ImmutableMatrix(sp.zeros(3, 1))

    def rotation_factors(self) -> tuple[sp.ImmutableMatrix, ...]:
        """Factors of ``child_rotation``, each of few parameters, in the order of the product."""
        return (self.child_rotation,)

    def equilibrium(self) -> tuple[sp.Expr, ...]:
        """Equilibrium value of each coordinate."""
        return ()

    def subspace_change(self, k: int) -> sp.ImmutableMatrix:
        """6 x dof: derivative of S by coordinate k, where S is not constant in the child's axes."""
        return sp.ImmutableMatrix(sp.zeros(6, self.dof))

    def stiffness_matrix(self) -> sp.ImmutableMatrix:
        """dof x dof: generalised force against a deviation from the equilibrium."""
        return sp.ImmutableMatrix(sp.zeros(self.dof))

    def damping_matrix(self) -> sp.ImmutableMatrix:
        """dof x dof: generalised force against a rate."""
        return sp.ImmutableMatrix(sp.zeros(self.dof))

    def armature_matrix(self) -> sp.ImmutableMatrix:
        """dof x dof: inertia that moves with the joint's coordinate only."""
        return sp.ImmutableMatrix(sp.zeros(self.dof))

    def carried_inertia(self) -> sp.ImmutableMatrix:
        """3x3 rotational inertia that the joint adds to its child."""
        return sp.ImmutableMatrix(sp.zeros(3))

    def preload(self) -> sp.ImmutableMatrix:
        """dof x 1: what springs exert at the equilibrium against the coordinate; the actuator supplies it as well."""
        return sp.ImmutableMatrix(sp.zeros(self.dof, 1))

    def force_inputs(self) -> dict[str, list[sp.Expr]]:
        """Input names of the joint and the generalised force (dof entries) that each unit of them makes."""
        gains: dict[str, list[sp.Expr]] = {}
        for i, suffix in enumerate(self.forces):
            gains[f"{self.name}_{suffix}"] = [sp.Integer(int(i == k)) for k in range(self.dof)]
        return gains

    # --- derived -------------------------------------------------------------------------------------------------

    @property
    def child_rotation(self) -> sp.ImmutableMatrix:
        """Rotation of the child in the parent at the equilibrium: v_parent = R v_child."""
        return sp.ImmutableMatrix(self.placement * self.rotation())

    @property
    def child_position(self) -> sp.ImmutableMatrix:
        """Position of the child's origin in the parent's frame at the equilibrium."""
        return sp.ImmutableMatrix(self.origin + self.placement * self.translation())

    def names(self, suffixes: tuple[str, ...]) -> tuple[str, ...]:
        """Signal names of this joint."""
        return tuple(f"{self.name}_{s}" for s in suffixes)

    @property
    def expressions(self) -> tuple[sp.Basic, ...]:
        """Everything that may hold parameters."""
        return (
            self.origin, self.placement, self.rotation(), self.translation(), self.stiffness_matrix(), self.damping_matrix(),
            self.armature_matrix(), self.carried_inertia(), self.preload(), sp.Tuple(*self.equilibrium()),
            sp.Tuple(*(g for gains in self.force_inputs().values() for g in gains)),
        )  # fmt: skip

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Parameters that occur, by name."""
        return tuple(parameters_of(self.expressions))
