"""Gravity stiffness between joints near the base and joints beyond them, by motion and wrench.

For columns a among joints near the base and rows b among joints beyond all of those on their path,

    K_ba = sum_k w_b . ((x_k - o_b) x m_k v_a) + d_b . m_k v_a,    v_a = g x w_a,

has no condition left that ties a row to a column: one vector ``V = sum_a v_a q_a`` is carried to every mass, and one
wrench back.  Their repetitions grow with the number of joints, not with its square; only ``g q_a`` on its way to joint a
is there once for every column.  The transpose gives the entries above the diagonal.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from lftgen.lft.algebra import add, multiply
from lftgen.lft.blocks import Labels, from_blocks, identity
from lftgen.lft.connect import unnamed
from lftgen.lft.data import LFTData
from lftgen.lft.field import Field
from lftgen.mechanics.coefficients import realize_coefficient
from lftgen.mechanics.commuting.stiffness import with_descendants
from lftgen.mechanics.joints import Joint
from lftgen.mechanics.names import GROUND
from lftgen.mechanics.spatial import skew
from lftgen.mechanics.tree import Tree

_WRENCH: Labels = {"torque": 3, "force": 3}


class FarPairs:
    """Entries of the gravity stiffness with rows beyond the columns, not reduced.

    Parameters
    ----------
    columns, rows : set of str
        Joints; no row may be on the path from the base to a column.
    """

    def __init__(
        self, tree: Tree, base: sp.MatrixBase, field: Field, columns: frozenset[str], rows: frozenset[str]
    ) -> None:
        self._tree, self._base, self._field = tree, base, field
        self._columns, self._rows = columns, rows
        self._moving = [j.name for j in tree.joints if j.dof]

    def matrix(self) -> LFTData:
        """The stiffness (joints x joints, in their order) with these entries and zeros elsewhere."""
        everything: Labels = dict.fromkeys(self._moving, 1)
        total = from_blocks(everything, everything, {}, self._field)
        gravity = self._coefficient(self._base)
        for root in self._tree.joints_on(GROUND):
            found = self._subtree(root, frozenset())
            if found is not None:
                carried, outputs, forces = found
                start = {(label, label[1]): gravity for label in carried}
                part = multiply(forces, from_blocks(carried, everything, start, self._field))
                total = add(total, multiply(self._placed(everything, outputs), part))
        return unnamed(total)

    def _subtree(self, joint: Joint, passed: frozenset[str]) -> tuple[Labels, Labels, LFTData] | None:
        """From the vectors in the parent to the rows at and beyond a joint, and the wrench on the parent where one is needed.

        None where there are no rows to feel it or no columns to act.
        """
        own = frozenset([joint.name] * bool(joint.dof))
        beyond = frozenset(j.name for j in with_descendants(self._tree, joint) if j.dof) - own
        if not (passed | own | beyond) & self._rows or not (passed | own | beyond) & self._columns:
            return None
        before, after = self._carried(passed, own | beyond), self._carried(passed | own, beyond)
        inside: dict[Any, int] = {b: 1 for b in self._moving if b in beyond & self._rows} | dict(_WRENCH)
        total = self._of_body(joint, after, inside)
        for child in self._tree.joints_on(joint.child):
            found = self._subtree(child, passed | own)
            if found is not None:
                labels, outputs, forces = found
                part = multiply(forces, self._placed(labels, after))
                total = unnamed(add(total, multiply(self._placed(inside, outputs), part)))
        outside: dict[Any, int] = {b: 1 for b in self._moving if b in (own | beyond) & self._rows}
        if passed & self._rows:
            outside |= dict(_WRENCH)
        out = multiply(self._inward(joint, outside, inside), total)
        return before, outside, unnamed(multiply(out, self._outward(joint, before, after)))

    def _carried(self, passed: frozenset[str], beyond: frozenset[str]) -> dict[Any, int]:
        """V once there are columns behind, ``g q_a`` of the columns to come."""
        labels: dict[Any, int] = {"V": 3} if passed & self._columns else {}
        return labels | {("G", a): 3 for a in self._moving if a in beyond & self._columns}

    def _of_body(self, joint: Joint, after: Labels, inside: Labels) -> LFTData:
        """Force m V at the centre of mass, as a wrench at the body's origin."""
        body = self._tree.bodies[joint.child]
        if "V" not in after or body.mass == 0:
            return from_blocks(inside, after, {}, self._field)
        force: Labels = {"f": 3}
        wrench = {
            ("torque", "f"): self._coefficient(skew(body.com)),
            ("force", "f"): identity(3, self._field),
        }
        felt = from_blocks(force, after, {("f", "V"): identity(3, self._field)}, self._field)
        pushed = multiply(self._coefficient(body.mass * sp.eye(3)), felt)
        return unnamed(multiply(from_blocks(inside, force, wrench, self._field), pushed))

    def _outward(self, joint: Joint, before: Labels, after: Labels) -> LFTData:
        """Vectors into the child's axes, and ``V += g q_a x w_a`` at a column."""
        rotation = self._coefficient(joint.child_rotation.T)
        turn = from_blocks(before, before, {(n, n): rotation for n in before}, self._field)
        swing = {(n, n): identity(3, self._field) for n in after if n in before}
        if ("G", joint.name) in before:
            swing["V", ("G", joint.name)] = self._coefficient(-skew(joint.subspace()[:3, :]))
        return unnamed(multiply(from_blocks(after, before, swing, self._field), turn))

    def _inward(self, joint: Joint, outside: Labels, inside: Labels) -> LFTData:
        """The row of the joint itself, and the wrench at the parent's origin in the parent's axes."""
        entries = {(b, b): identity(1, self._field) for b in outside if b in inside and b not in _WRENCH}
        if joint.name in outside:
            S = joint.subspace()
            entries[joint.name, "torque"] = self._coefficient(S[:3, :].T)
            entries[joint.name, "force"] = self._coefficient(S[3:, :].T)
        rows = from_blocks(outside, inside, entries, self._field)
        if "torque" not in outside:
            return unnamed(rows)
        rotation, moved = (
            self._coefficient(joint.child_rotation),
            self._coefficient(skew(joint.child_position)),
        )
        shift = {(n, n): identity(3, self._field) for n in _WRENCH} | {("torque", "force"): moved}
        turn = from_blocks(_WRENCH, inside, {(n, n): rotation for n in _WRENCH}, self._field)
        return unnamed(add(rows, multiply(from_blocks(outside, _WRENCH, shift, self._field), turn)))

    def _coefficient(self, matrix: sp.MatrixBase) -> LFTData:
        return unnamed(realize_coefficient(matrix, exact=self._field.exact).with_field(self._field))

    def _placed(self, rows: Labels, columns: Labels) -> LFTData:
        """Ones where a label is in both."""
        entries = {(n, n): identity(size, self._field) for n, size in columns.items() if n in rows}
        return from_blocks(rows, columns, entries, self._field)
