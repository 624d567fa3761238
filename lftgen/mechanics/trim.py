"""The equilibrium as LFTs: positions, rotations, accelerations, loads, wrenches and holding torques.

Steps 1 and 2 of [K], section V.  With gravity as an acceleration -g of the base:

    a_0 = a_ref - g             a_i = R_i^T a_parent
    f_i = [c x; I] m a_i - loads + sum_j X_j^T f_j          tau_i = S_i^T f_i + preload
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import sympy as sp

from lftgen.lft.algebra import add, multiply, select, vstack
from lftgen.lft.data import LFTData
from lftgen.lft.model import LFT
from lftgen.lft.reduction.kalman import reduce
from lftgen.mechanics.equilibrium import EquilibriumSolver
from lftgen.mechanics.joints import Joint
from lftgen.mechanics.model import MechanismModel
from lftgen.mechanics.names import GROUND
from lftgen.mechanics.solve_affine import solve_affine
from lftgen.mechanics.spatial import ANGULAR_LINEAR, TORQUE_FORCE, XYZ
from lftgen.mechanics.tree import Tree
from lftgen.parameters import Parameter


@dataclass(frozen=True, eq=False)
class Trim:
    """An equilibrium, each value an LFT in the mechanism's parameters.

    Attributes
    ----------
    torque : mapping of joint to LFT (dof x 1)
        What the actuator supplies: ``S^T f`` and a spring's preload, N m or N.
    wrench, wrench_parent : mapping of joint to LFT (6 x 1)
        [torque; force] applied by the parent through the joint on the child, at the joint's origin; in the child's
        axes, and in the parent's.
    acceleration : mapping of body to LFT (6 x 1)
        Specific acceleration (gravity as -g) of the body's origin, body axes, [angular; linear].
    position : mapping of body to LFT (3 x 1)
        Origin of the body from the reference origin, reference axes, m.
    rotation : mapping of body to LFT (3 x 3)
        R with ``v_reference = R v_body``.
    load : mapping of load to LFT (6 x 1)
        [torque; force] of the load at its port, body axes; the far end of spring S is ``S_other``.
    spring_stiffness, spring_damping : mapping of spring to LFT (3 x 3)
        Change of the pull per change of the vector from the port to the other end (and per its rate), reference axes.
    mechanism : Mechanism
        The mechanism that is in equilibrium: with whatever was solved for in its place.
    solution : mapping of name to LFT (1 x 1)
        What was solved for.
    """

    torque: Mapping[str, LFT]
    wrench: Mapping[str, LFT]
    wrench_parent: Mapping[str, LFT]
    acceleration: Mapping[str, LFT]
    position: Mapping[str, LFT]
    rotation: Mapping[str, LFT]
    exact: bool
    mechanism: MechanismModel
    load: Mapping[str, LFT] = field(default_factory=dict)
    spring_stiffness: Mapping[str, LFT] = field(default_factory=dict)
    spring_damping: Mapping[str, LFT] = field(default_factory=dict)
    solution: Mapping[str, LFT] = field(default_factory=dict)
    terms: Mapping[str, tuple[LFTData, ...]] = field(default_factory=dict, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        """Plain dictionaries for the read-only mappings, which cannot be pickled."""
        return {k: dict(v) if isinstance(v, MappingProxyType) else v for k, v in self.__dict__.items()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({k: MappingProxyType(v) if isinstance(v, dict) else v for k, v in state.items()})

    def __repr__(self) -> str:
        kind = "exact" if self.exact else "float"
        rows = [f"  {k}: order {v.order}" for k, v in self.wrench.items()]
        solved = [f"  solved: {k}, order {v.order}" for k, v in self.solution.items()]
        head = f"Trim of {self.mechanism.name} ({kind} entries); wrench through each joint:"
        return "\n".join([head, *rows, *solved])


def solve_trim(
    tree: Tree,
    base: sp.MatrixBase,
    parameters: tuple[Parameter, ...],
    *,
    exact: bool,
    mechanism: MechanismModel,
    unknowns: tuple[sp.Symbol, ...] = (),
) -> Trim:
    """Equilibrium of a tree under the specific acceleration ``base`` (a_ref - g) of the reference frame.

    ``unknowns`` are symbols in the loads and in ``base`` that the equations of the joints without actuator decide.
    """
    s = EquilibriumSolver(tree, exact, parameters, unknowns)
    rotation, position, acceleration = s.outward(base)
    span = s.spans(rotation, position)
    load = s.loads(rotation, span)
    wrench, wrench_parent, terms = s.inward(acceleration, load)
    solution = None
    if unknowns:
        solution = solve_affine(*s.residual(wrench), [u.name for u in unknowns])
        acceleration = {k: s.closed(v, solution) for k, v in acceleration.items()}
        load = {k: s.closed(v, solution) for k, v in load.items()}
        wrench, wrench_parent, terms = s.inward(acceleration, load)
    stiffness, damping = s.springs(span, solution)
    zero = s.coefficient(sp.zeros(3, 1))
    for values in (rotation, position, acceleration):
        del values[GROUND]
    return Trim(
        torque=MappingProxyType(
            {
                j.name: s.finished(_torque(j, wrench[j.name], s), j.names(j.forces))
                for j in tree.joints
                if j.dof
            }
        ),
        wrench=s.mapped({j.name: wrench[j.name] for j in tree.joints}, "{}_wrench", TORQUE_FORCE),
        wrench_parent=s.mapped(
            {j.name: wrench_parent[j.name] for j in tree.joints}, "{}_wrench_parent", TORQUE_FORCE
        ),
        acceleration=s.mapped(
            {b: vstack([zero, acceleration[b]]) for b in tree.bodies},
            "{}_specific_acceleration",
            ANGULAR_LINEAR,
        ),
        position=s.mapped({b: position[b] for b in tree.bodies}, "{}_position", XYZ),
        rotation=s.mapped({b: rotation[b] for b in tree.bodies}, "reference", XYZ, XYZ),
        load=s.mapped(load, "{}", TORQUE_FORCE),
        spring_stiffness=s.mapped(stiffness, "{}_pull", XYZ),
        spring_damping=s.mapped(damping, "{}_pull", XYZ),
        exact=exact,
        mechanism=mechanism,
        solution=s.mapped(
            {u.name: _row(solution, k) for k, u in enumerate(unknowns) if solution is not None},
            "{}",
            ("value",),
        ),
        terms=MappingProxyType(terms),
    )


def _row(value: LFTData, k: int) -> LFTData:
    return reduce(select(value, [k], [0]))


def _torque(joint: Joint, wrench: LFTData, s: EquilibriumSolver) -> LFTData:
    held = multiply(s.coefficient(joint.subspace().T), wrench)
    return reduce(add(held, s.coefficient(joint.preload())))
