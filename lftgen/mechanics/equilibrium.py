"""The walk over the tree that finds an equilibrium: outward for accelerations and positions, inward for wrenches.

Steps 1 and 2 of [K], section V.  With gravity as an acceleration -g of the base:

    a_0 = a_ref - g             a_i = R_i^T a_parent
    f_i = [c x; I] m a_i - loads + sum_j X_j^T f_j          tau_i = S_i^T f_i + preload

Where loads or accelerations are unknown, every value is a matrix that is applied to [1; unknowns].
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import sympy as sp

from lftgen.lft.algebra import add, block_diag, inverse, multiply, negate, transpose, vstack
from lftgen.lft.connect import renamed
from lftgen.lft.data import LFTData, declare
from lftgen.lft.model import LFT
from lftgen.lft.reduction.kalman import reduce
from lftgen.lft.structure import real_block
from lftgen.mechanics.coefficients import realize_coefficient
from lftgen.mechanics.joints import Joint
from lftgen.mechanics.loads import Action, Load, find_port
from lftgen.mechanics.names import GROUND
from lftgen.mechanics.spatial import blocks, moved_force, skew
from lftgen.mechanics.tree import Tree
from lftgen.parameters import Parameter

Data = dict[str, LFTData]


@dataclass
class EquilibriumSolver:
    """Walks the tree outward for accelerations and positions, inward for wrenches."""

    tree: Tree
    exact: bool
    parameters: tuple[Parameter, ...]
    unknowns: tuple[sp.Symbol, ...] = ()

    def coefficient(self, matrix: sp.MatrixBase) -> LFTData:
        return realize_coefficient(matrix, exact=self.exact)

    def affine(self, matrix: sp.MatrixBase) -> LFTData:
        """A column that is affine in the unknowns u, as the matrix that it is applied to [1; u]."""
        if not self.unknowns:
            return self.coefficient(matrix)
        at_zero = matrix.xreplace(dict.fromkeys(self.unknowns, sp.S.Zero))
        return self.coefficient(sp.Matrix.hstack(at_zero, *(matrix.diff(u) for u in self.unknowns)))

    def turn(self, joint: Joint) -> LFTData:
        """Rotation of a joint's child in its parent."""
        factors = [self.coefficient(f) for f in joint.rotation_factors()]
        out = factors[0]
        for f in factors[1:]:
            out = multiply(out, f)
        return out

    def outward(self, base: sp.MatrixBase) -> tuple[Data, Data, Data]:
        rotation = {GROUND: self.coefficient(sp.eye(3))}
        position = {GROUND: self.coefficient(sp.zeros(3, 1))}
        acceleration = {GROUND: self.affine(base)}
        for joint in self.tree.outward:
            turn, parent, child = self.turn(joint), joint.parent, joint.child
            rotation[child] = reduce(multiply(rotation[parent], turn))
            offset = multiply(rotation[parent], self.coefficient(joint.child_position))
            position[child] = reduce(add(position[parent], offset))
            acceleration[child] = reduce(multiply(transpose(turn), acceleration[parent]))
        return rotation, position, acceleration

    def port_position(self, body: str, port: str, rotation: Data, position: Data) -> LFTData:
        """Position of a port in reference axes."""
        lever = self.coefficient(self.tree.bodies[body].ports[port].point)
        return add(position[body], multiply(rotation[body], lever))

    def spans(self, rotation: Data, position: Data) -> Data:
        """Vector from the port of each spring to its other end, reference axes."""
        out = {}
        for s in self.tree.springs:
            ends = [self.port_position(*find_port(s.port, self.tree.bodies, s.name), rotation, position)]
            if s.other == GROUND:
                ends.append(self.coefficient(s.anchor))
            else:
                ends.append(
                    self.port_position(*find_port(s.other, self.tree.bodies, s.name), rotation, position)
                )
            out[s.name] = reduce(add(ends[1], negate(ends[0])))
        return out

    def loads(self, rotation: Data, span: Data) -> Data:
        """[torque; force] of each action at its port, body axes."""
        out = {}
        for a in self.tree.actions:
            if isinstance(a.load, Load):
                wrench = self.affine(a.load.wrench)
                turn = self.coefficient(self.tree.bodies[a.body].ports[a.port].rotation) if a.turns else None
            else:
                pull = multiply(span[a.load.name], self.affine(sp.Matrix([[a.sign * a.load.force_density]])))
                wrench, turn = vstack([self.coefficient(sp.zeros(3, pull.shape[1])), pull]), None
            turn = transpose(rotation[a.body]) if turn is None else turn
            out[a.key] = reduce(self._turned(turn, wrench, a))
        return out

    def _turned(self, turn: LFTData, wrench: LFTData, a: Action) -> LFTData:
        """blkdiag(turn, turn) wrench, at the cost of one turn where there is no torque."""
        if not isinstance(a.load, Load) or a.load.torque == sp.zeros(3, 1):
            force = multiply(
                turn, multiply(self.coefficient(sp.Matrix.hstack(sp.zeros(3), sp.eye(3))), wrench)
            )
            return vstack([self.coefficient(sp.zeros(3, force.shape[1])), force])
        return multiply(block_diag([turn, turn]), wrench)

    def springs(self, span: Data, solution: LFTData | None) -> tuple[Data, Data]:
        """Stiffness and damping of each spring, 3 x 3 in reference axes: along u, and across by the pull."""
        stiffness, damping = {}, {}
        for s in self.tree.springs:
            r = span[s.name]
            square = reduce(inverse(reduce(multiply(transpose(r), r))))

            def along(gain: sp.Expr, r: LFTData = r, square: LFTData = square) -> LFTData:
                scaled = multiply(self.coefficient(sp.Matrix([[gain]])), square)
                return reduce(multiply(multiply(r, scaled), transpose(r)))

            density = self.closed(self.affine(sp.Matrix([[s.force_density]])), solution)
            across = multiply(block_diag([density] * 3), self.coefficient(sp.eye(3)))
            lateral = multiply(multiply(r, multiply(negate(density), square)), transpose(r))
            stiffness[s.name] = reduce(add(add(along(s.stiffness), across), lateral))
            damping[s.name] = along(s.damping)
        return stiffness, damping

    def closed(self, value: LFTData, solution: LFTData | None) -> LFTData:
        """What was affine in the unknowns, with their values."""
        if solution is None:
            return value
        return reduce(multiply(value, vstack([self.coefficient(sp.eye(1)), solution])))

    def residual(self, wrench: Data) -> tuple[list[str], LFTData | None]:
        """Names of the equilibrium equations, and their residuals as a matrix applied to [1; u]."""
        joints = [j for j in self.tree.joints if j.dof and not j.actuated]
        rows = []
        for j in joints:
            preload = sp.Matrix.hstack(j.preload(), sp.zeros(j.dof, len(self.unknowns)))
            rows.append(
                add(multiply(self.coefficient(j.subspace().T), wrench[j.name]), self.coefficient(preload))
            )
        names = [n for j in joints for n in j.names(j.forces)]
        return names, reduce(vstack(rows)) if rows else None

    def inward(self, acceleration: Data, load: Data) -> tuple[Data, Data, dict[str, tuple[LFTData, ...]]]:
        """Wrenches in the child's and in the parent's axes, and the terms that add up to each."""
        wrench: Data = {}
        wrench_parent: Data = {}
        terms: dict[str, tuple[LFTData, ...]] = {}
        for joint in reversed(self.tree.outward):
            body = self.tree.bodies[joint.child]
            lever = blocks([[skew(body.com)], [sp.eye(3)]])
            force = multiply(self.coefficient(body.mass * sp.eye(3)), acceleration[body.name])
            parts = [multiply(self.coefficient(lever), force)]
            for a in self.tree.actions_on(body.name):
                parts.append(multiply(self.coefficient(-moved_force(body.ports[a.port].point)), load[a.key]))
            for child in self.tree.joints_on(body.name):
                parts.append(
                    multiply(self.coefficient(moved_force(child.child_position)), wrench_parent[child.name])
                )
            total = parts[0]
            for part in parts[1:]:
                total = add(total, part)
            terms[joint.name] = tuple(parts)
            wrench[joint.name] = reduce(total)
            turn = self.turn(joint)
            wrench_parent[joint.name] = reduce(multiply(block_diag([turn, turn]), wrench[joint.name]))
        return wrench, wrench_parent, terms

    def finished(self, data: LFTData, names: tuple[str, ...], columns: tuple[str, ...] | None = None) -> LFT:
        n = data.shape[1]
        declared = declare(data, [real_block(p, 0) for p in self.parameters])
        inputs = columns or tuple(f"u[{i}]" for i in range(n))
        return LFT(renamed(declared, inputs=inputs, outputs=names))

    def mapped(
        self, values: Data, name: str, suffixes: tuple[str, ...], columns: tuple[str, ...] | None = None
    ) -> Mapping[str, LFT]:
        """Each value with its outputs named, ``{}`` in ``name`` standing for its key."""
        named: Callable[..., LFT] = self.finished
        out = {}
        for k, v in values.items():
            inputs = columns and tuple(f"{k}_{c}" for c in columns)
            out[k] = named(v, tuple(f"{name.format(k)}_{s}" for s in suffixes), inputs)
        return MappingProxyType(out)
