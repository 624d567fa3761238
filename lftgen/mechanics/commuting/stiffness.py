"""The gravity stiffness in one pass from the base to the tips.

A joint with one coordinate has an axis w (zero for a prismatic joint) and a direction d (zero for a revolute one).  With
a the specific acceleration of the base, the potential energy m a . x of a body with centre of mass x gives

    K_ab = m (a x w_a) . u_b,    u_b = w_b x (x - o_b) + d_b,    a nearer to the base than b,

and K is symmetric.  The recursion over blocks reads these products once outward (accelerations) and once inward
(wrenches).  Parameters commute, so everything can be read outward instead: vectors carried to the tip in body axes, the
masses at the rows.  In a chain with arbitrary axes this takes fewer repetitions.

Carried for the joint b still to come and the joints a already passed: ``G_b = a q_b``, ``V = sum (a x w_a) q_a``,
``P_ab = (a x w_a) q_b``; and ``y_a, z_a`` with ``K_a. q = m (z_a + c . y_a)``.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from lftgen.lft.algebra import block_diag, multiply, vstack
from lftgen.lft.blocks import Labels, from_blocks, identity
from lftgen.lft.connect import unnamed
from lftgen.lft.data import LFTData
from lftgen.lft.field import Field
from lftgen.lft.reduction.kalman import reduce
from lftgen.mechanics.coefficients import realize_coefficient
from lftgen.mechanics.joints import Joint
from lftgen.mechanics.names import GROUND
from lftgen.mechanics.spatial import skew
from lftgen.mechanics.tree import Tree

Mask = frozenset[tuple[str, str]]
"""(row joint, column joint) pairs to leave out."""


class StiffnessPass:
    """Gravity stiffness of a tree whose joints have at most one coordinate each."""

    def __init__(self, tree: Tree, base: sp.MatrixBase, field: Field, *, without: Mask = frozenset()) -> None:
        self.tree, self.base, self.field, self.without = tree, base, field, without
        self.moving = [j.name for j in tree.joints if j.dof]

    def coefficient(self, matrix: sp.MatrixBase) -> LFTData:
        return realize_coefficient(matrix, exact=self.field.exact).with_field(self.field)

    def matrix(self) -> LFTData:
        """K (joints x joints, in their order): holding forces against small coordinates."""
        columns = dict.fromkeys(self.moving, 1)
        parts, places = [], []
        for root in self.tree.joints_on(GROUND):
            rows, f = self._beyond(root, ())
            start = self._labels((), [root])
            a = self.coefficient(self.base)
            entries = {(label, label[1]): a for label in start if label[0] == "G"}
            parts.append(reduce(unnamed(multiply(f, from_blocks(start, columns, entries, self.field)))))
            places += rows
        rows_of = {(i, *place): 1 for i, place in enumerate(places)}
        gathered = {(a, (i, k, a)): identity(1, self.field) for i, (k, a) in enumerate(places)}
        masses = self._masses(places)
        collect = from_blocks(columns, rows_of, gathered, self.field)
        return reduce(unnamed(multiply(multiply(collect, masses), vstack(parts))))

    def _masses(self, places: list[tuple[str, str]]) -> LFTData:
        return block_diag(
            [unnamed(self.coefficient(sp.Matrix([[self.tree.bodies[k].mass]]))) for k, _ in places]
        )

    def _labels(self, passed: tuple[str, ...], ahead: list[Joint]) -> Labels:
        """What is carried in a body whose joints towards the base are ``passed``, before the joints ``ahead``."""
        coming = [j.name for a in ahead for j in _with_descendants(self.tree, a) if j.dof]
        labels: dict[Any, int] = {("V",): 3}
        labels |= {("G", b): 3 for b in coming}
        labels |= {("P", a, b): 3 for a in passed for b in coming if self._wanted(a, b)}
        labels |= {("y", a): 3 for a in passed}
        return labels | {("z", a): 1 for a in passed}

    def _wanted(self, row: str, column: str) -> bool:
        return (row, column) not in self.without

    def _beyond(self, joint: Joint, passed: tuple[str, ...]) -> tuple[list[tuple[str, str]], LFTData]:
        """From the vectors in the parent to the rows (body, joint) of every mass that moves with the joint."""
        now = (*passed, joint.name) if joint.dof else passed
        children = self.tree.joints_on(joint.child)
        before = self._labels(passed, [joint])
        after = self._labels(now, list(children))
        rows: list[tuple[str, str]] = []
        parts: list[LFTData] = []
        body = self.tree.bodies[joint.child]
        if body.mass != 0:
            rows += [(body.name, a) for a in now]
            parts.append(self._own_rows(body.com, now, after))
        for child in children:
            below, f = self._beyond(child, now)
            rows += below
            sub = self._labels(now, [child])
            pick = {(label, label): identity(n, self.field) for label, n in sub.items()}
            parts.append(unnamed(multiply(f, from_blocks(sub, after, pick, self.field))))
        if not parts:
            return [], from_blocks({}, before, {}, self.field)
        update = multiply(self._swing(joint, before, after, passed), self._turn(joint, before))
        step = multiply(update, self._shift(joint, before, passed))
        return rows, reduce(unnamed(multiply(vstack(parts), step)))

    def _own_rows(self, com: sp.MatrixBase, now: tuple[str, ...], labels: Labels) -> LFTData:
        lever = self.coefficient(com.T)
        entries = {(a, ("z", a)): identity(1, self.field) for a in now}
        return unnamed(
            from_blocks(
                dict.fromkeys(now, 1), labels, entries | {(a, ("y", a)): lever for a in now}, self.field
            )
        )

    def _shift(self, joint: Joint, labels: Labels, passed: tuple[str, ...]) -> LFTData:
        """z_a += r . y_a on the way to the child's origin."""
        entries = {(label, label): identity(n, self.field) for label, n in labels.items()}
        offset = self.coefficient(joint.child_position.T)
        return from_blocks(
            labels, labels, entries | {(("z", a), ("y", a)): offset for a in passed}, self.field
        )

    def _turn(self, joint: Joint, labels: Labels) -> LFTData:
        """Vectors from the parent's axes into the child's."""
        rotation = self.coefficient(joint.child_rotation.T)
        entries = {
            (label, label): rotation if n == 3 else identity(1, self.field) for label, n in labels.items()
        }
        return from_blocks(labels, labels, entries, self.field)

    def _swing(self, joint: Joint, before: Labels, after: Labels, passed: tuple[str, ...]) -> LFTData:
        """What the joint itself adds, in the child's axes."""
        kept = [label for label in before if label in after]
        entries = {(label, label): identity(before[label], self.field) for label in kept}
        if not joint.dof:
            return from_blocks(after, before, entries, self.field)
        S, j = joint.subspace(), joint.name
        axis, direction = S[:3, :], S[3:, :]
        cross = self.coefficient(-skew(axis))  # v -> v x axis
        twice, along = self.coefficient(skew(axis) * skew(axis)), self.coefficient(direction.T)
        entries[("V",), ("G", j)] = cross
        entries[("y", j), ("V",)] = cross
        entries[("z", j), ("V",)] = along
        if self._wanted(j, j):
            entries[("y", j), ("G", j)] = twice
            entries[("z", j), ("G", j)] = self.coefficient(direction.T * -skew(axis))
        for a in passed:
            if self._wanted(a, j):
                entries[("y", a), ("P", a, j)] = cross
                entries[("z", a), ("P", a, j)] = along
        for label in after:
            if label[:2] == ("P", j):
                entries[label, ("G", label[2])] = cross
        return from_blocks(after, before, entries, self.field)


def _with_descendants(tree: Tree, joint: Joint) -> list[Joint]:
    out = [joint]
    for j in out:
        out += tree.joints_on(j.child)
    return out
