"""The equilibrium as LFTs: positions, rotations, accelerations, wrenches and holding torques.

Steps 1 and 2 of [K], section V.  With gravity as an acceleration -g of the base:

    a_0 = a_ref - g             a_i = R_i^T a_parent
    f_i = [c x; I] m a_i + sum_j X_j^T f_j          tau_i = S_i^T f_i + preload
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import sympy as sp

from lftgen.lft.algebra import add, block_diag, multiply, transpose, vstack
from lftgen.lft.connect import renamed
from lftgen.lft.data import LFTData, declare
from lftgen.lft.model import LFT
from lftgen.lft.reduction.kalman import reduce
from lftgen.lft.structure import real_block
from lftgen.mechanics.coefficients import realize_coefficient
from lftgen.mechanics.joints import Joint
from lftgen.mechanics.names import GROUND
from lftgen.mechanics.spatial import ANGULAR_LINEAR, TORQUE_FORCE, XYZ, blocks, moved_force, skew
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
    """

    torque: Mapping[str, LFT]
    wrench: Mapping[str, LFT]
    wrench_parent: Mapping[str, LFT]
    acceleration: Mapping[str, LFT]
    position: Mapping[str, LFT]
    rotation: Mapping[str, LFT]
    exact: bool
    mechanism: Any

    def __repr__(self) -> str:
        kind = "exact" if self.exact else "float"
        rows = [f"  {k}: order {v.order}" for k, v in self.wrench.items()]
        return "\n".join(
            [
                f"Trim of {getattr(self.mechanism, 'name', '?')} ({kind} entries); wrench through each joint:",
                *rows,
            ]
        )


@dataclass
class _Solver:
    """Walks the tree outward for accelerations and positions, inward for wrenches."""

    tree: Tree
    exact: bool
    parameters: tuple[Parameter, ...]

    def coefficient(self, matrix: sp.MatrixBase) -> LFTData:
        return realize_coefficient(matrix, exact=self.exact)

    def outward(
        self, base: sp.MatrixBase
    ) -> tuple[dict[str, LFTData], dict[str, LFTData], dict[str, LFTData]]:
        rotation = {GROUND: self.coefficient(sp.eye(3))}
        position = {GROUND: self.coefficient(sp.zeros(3, 1))}
        acceleration = {GROUND: self.coefficient(base)}
        for joint in self.tree.outward:
            turn, parent, child = self.coefficient(joint.child_rotation), joint.parent, joint.child
            rotation[child] = reduce(multiply(rotation[parent], turn))
            offset = multiply(rotation[parent], self.coefficient(joint.child_position))
            position[child] = reduce(add(position[parent], offset))
            acceleration[child] = reduce(multiply(transpose(turn), acceleration[parent]))
        return rotation, position, acceleration

    def inward(self, acceleration: Mapping[str, LFTData]) -> tuple[dict[str, LFTData], dict[str, LFTData]]:
        wrench: dict[str, LFTData] = {}
        wrench_parent: dict[str, LFTData] = {}
        for joint in reversed(self.tree.outward):
            body = self.tree.bodies[joint.child]
            lever = blocks([[skew(body.com)], [sp.eye(3)]])
            force = multiply(self.coefficient(body.mass * sp.eye(3)), acceleration[body.name])
            total = multiply(self.coefficient(lever), force)
            for child in self.tree.joints_on(body.name):
                moved = multiply(
                    self.coefficient(moved_force(child.child_position)), wrench_parent[child.name]
                )
                total = add(total, moved)
            wrench[joint.name] = reduce(total)
            turn = self.coefficient(joint.child_rotation)
            wrench_parent[joint.name] = reduce(multiply(block_diag([turn, turn]), wrench[joint.name]))
        return wrench, wrench_parent

    def finished(self, data: LFTData, names: tuple[str, ...], columns: tuple[str, ...] | None = None) -> LFT:
        n = data.shape[1]
        declared = declare(data, [real_block(p, 0) for p in self.parameters])
        inputs = columns or tuple(f"u[{i}]" for i in range(n))
        return LFT(renamed(declared, inputs=inputs, outputs=names))


def solve_trim(
    tree: Tree, base: sp.MatrixBase, parameters: tuple[Parameter, ...], *, exact: bool, mechanism: Any
) -> Trim:
    """Equilibrium of a grounded tree under the specific acceleration ``base`` (a_ref - g) of the reference frame."""
    s = _Solver(tree, exact, parameters)
    rotation, position, acceleration = s.outward(base)
    wrench, wrench_parent = s.inward(acceleration)
    zero = s.coefficient(sp.zeros(3, 1))
    named: Callable[..., LFT] = s.finished
    return Trim(
        torque=_proxy(
            {j.name: named(_torque(j, wrench[j.name], s), j.names(j.forces)) for j in tree.joints if j.dof}
        ),
        wrench=_proxy(
            {
                j.name: named(wrench[j.name], tuple(f"{j.name}_wrench_{c}" for c in TORQUE_FORCE))
                for j in tree.joints
            }
        ),
        wrench_parent=_proxy(
            {
                j.name: named(
                    wrench_parent[j.name], tuple(f"{j.name}_wrench_parent_{c}" for c in TORQUE_FORCE)
                )
                for j in tree.joints
            }
        ),
        acceleration=_proxy(
            {
                b: named(
                    vstack([zero, acceleration[b]]),
                    tuple(f"{b}_specific_acceleration_{c}" for c in ANGULAR_LINEAR),
                )
                for b in tree.bodies
            }
        ),
        position=_proxy(
            {b: named(position[b], tuple(f"{b}_position_{c}" for c in XYZ)) for b in tree.bodies}
        ),
        rotation=_proxy(
            {
                b: named(rotation[b], tuple(f"reference_{c}" for c in XYZ), tuple(f"{b}_{c}" for c in XYZ))
                for b in tree.bodies
            }
        ),
        exact=exact,
        mechanism=mechanism,
    )


def _proxy(values: dict[str, LFT]) -> Mapping[str, LFT]:
    return MappingProxyType(values)


def _torque(joint: Joint, wrench: LFTData, s: _Solver) -> LFTData:
    held = multiply(s.coefficient(joint.subspace().T), wrench)
    return reduce(add(held, s.coefficient(joint.preload())))
