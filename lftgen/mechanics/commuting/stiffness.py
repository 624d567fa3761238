"""The gravity stiffness in one pass from the base to the tips.

A joint with one coordinate has an axis w (zero for a prismatic joint) and a direction d (zero for a revolute one).  With
a the specific acceleration of the base, the potential energy m a . x of a body with centre of mass x gives

    K_ab = m (a x w_a) . u_b,    u_b = w_b x (x - o_b) + d_b,    a nearer to the base than b,

and K is symmetric.  The recursion over blocks reads these products once outward (accelerations) and once inward
(wrenches).  Parameters commute, so everything can be read outward instead: vectors carried to the tip in body axes, the
masses at the rows.  In a chain with arbitrary axes this takes fewer repetitions.

Carried for the joint b still to come and the joints a already passed: ``G_b = a q_b``, ``V = sum (a x w_a) q_a``,
``P_ab = (a x w_a) q_b``; and ``y_a, z_a`` with ``K_a. q = m (z_a + c . y_a)``.

Since K is symmetric, some entries above the diagonal may be read as the transposes of those below, ``K = K(pairs) +
K(others)^T``; rows that leave out different columns then have a V each.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp

from lftgen.lft.algebra import block_diag, multiply, vstack
from lftgen.lft.blocks import Labels, from_blocks, identity
from lftgen.lft.connect import unnamed
from lftgen.lft.data import LFTData
from lftgen.lft.field import Field
from lftgen.lft.reduction.kalman import reduce as reduce_order
from lftgen.mechanics.coefficients import realize_coefficient
from lftgen.mechanics.joints import Joint
from lftgen.mechanics.names import GROUND
from lftgen.mechanics.spatial import skew
from lftgen.mechanics.tree import Tree

Pairs = frozenset[tuple[str, str]]
"""(row joint, column joint) of entries."""


def paths(tree: Tree) -> dict[str, tuple[str, ...]]:
    """Moving joints from the base to each moving joint, itself included."""
    out: dict[str, tuple[str, ...]] = {}
    of_body: dict[str, tuple[str, ...]] = {GROUND: ()}
    for joint in tree.outward:
        passed = of_body[joint.parent]
        of_body[joint.child] = (*passed, joint.name) if joint.dof else passed
        if joint.dof:
            out[joint.name] = of_body[joint.child]
    return out


def all_pairs(tree: Tree) -> Pairs:
    """Entries that may differ from zero: two joints on one path from the base."""
    found = paths(tree)
    return frozenset(pair for b, path in found.items() for a in path for pair in ((a, b), (b, a)))


class StiffnessPass:
    """Gravity stiffness of a tree whose joints have at most one coordinate each.

    Parameters
    ----------
    pairs : frozenset of (row joint, column joint), optional
        The entries to take; all by default.
    reduce : bool
        Reduce in every body.
    """

    def __init__(
        self,
        tree: Tree,
        base: sp.MatrixBase,
        field: Field,
        *,
        pairs: Pairs | None = None,
        reduce: bool = True,
    ) -> None:
        self._reduce: Callable[[LFTData], LFTData] = reduce_order if reduce else (lambda a: a)
        self.tree, self.base, self.field = tree, base, field
        self.moving = [j.name for j in tree.joints if j.dof]
        self.pairs = all_pairs(tree) if pairs is None else pairs
        self.rows, self.columns = {a for a, _ in self.pairs}, {b for _, b in self.pairs}

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
            parts.append(self._reduce(unnamed(multiply(f, from_blocks(start, columns, entries, self.field)))))
            places += rows
        rows_of = {(i, *place): 1 for i, place in enumerate(places)}
        gathered = {(a, (i, k, a)): identity(1, self.field) for i, (k, a) in enumerate(places)}
        masses = self._masses(places)
        collect = from_blocks(columns, rows_of, gathered, self.field)
        return self._reduce(unnamed(multiply(multiply(collect, masses), vstack(parts))))

    def _masses(self, places: list[tuple[str, str]]) -> LFTData:
        return block_diag(
            [unnamed(self.coefficient(sp.Matrix([[self.tree.bodies[k].mass]]))) for k, _ in places]
        )

    def _labels(self, passed: tuple[str, ...], ahead: list[Joint]) -> Labels:
        """What is carried in a body whose joints towards the base are ``passed``, before the joints ``ahead``."""
        coming = [j.name for a in ahead for j in with_descendants(self.tree, a) if j.dof]
        labels: dict[Any, int] = {("V", seen): 3 for b in coming if (seen := self._seen(b, passed))}
        labels |= {("G", b): 3 for b in coming if b in self.columns}
        labels |= {("P", a, b): 3 for a in passed for b in coming if self._wanted(a, b)}
        labels |= {("y", a): 3 for a in passed if a in self.rows}
        return labels | {("z", a): 1 for a in passed if a in self.rows}

    def _wanted(self, row: str, column: str) -> bool:
        return (row, column) in self.pairs

    def _seen(self, row: str, passed: tuple[str, ...]) -> frozenset[str]:
        """Columns among the joints passed that a row still to come takes."""
        return frozenset(a for a in passed if self._wanted(row, a))

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
            own = tuple(a for a in now if a in self.rows)
            rows += [(body.name, a) for a in own]
            parts.append(self._own_rows(body.com, own, after))
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
        return rows, self._reduce(unnamed(multiply(vstack(parts), step)))

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
        entries |= {(("z", a), ("y", a)): offset for a in passed if a in self.rows}
        return from_blocks(labels, labels, entries, self.field)

    def _turn(self, joint: Joint, labels: Labels) -> LFTData:
        """Vectors from the parent's axes into the child's."""
        rotation = self.coefficient(joint.child_rotation.T)
        entries = {
            (label, label): rotation if n == 3 else identity(1, self.field) for label, n in labels.items()
        }
        return from_blocks(labels, labels, entries, self.field)

    def _swing(self, joint: Joint, before: Labels, after: Labels, passed: tuple[str, ...]) -> LFTData:
        """What the joint itself adds, in the child's axes."""
        entries = {
            (label, label): identity(before[label], self.field)
            for label in before
            if label in after and label[0] != "V"
        }
        if not joint.dof:
            entries |= {(label, label): identity(3, self.field) for label in after if label[0] == "V"}
            return from_blocks(after, before, entries, self.field)
        S, j = joint.subspace(), joint.name
        axis, direction = S[:3, :], S[3:, :]
        cross, along = self.coefficient(-skew(axis)), self.coefficient(direction.T)  # v -> v x axis
        for label in after:
            if label[0] == "V":
                older = ("V", label[1] - {j})
                if older in before:
                    entries[label, older] = identity(3, self.field)
                if j in label[1]:
                    entries[label, ("G", j)] = cross
            if label[:2] == ("P", j):
                entries[label, ("G", label[2])] = cross
        if seen := self._seen(j, passed):
            entries[("y", j), ("V", seen)] = cross
            entries[("z", j), ("V", seen)] = along
        if self._wanted(j, j):
            entries[("y", j), ("G", j)] = self.coefficient(skew(axis) * skew(axis))
            entries[("z", j), ("G", j)] = self.coefficient(direction.T * -skew(axis))
        for a in passed:
            if self._wanted(a, j):
                entries[("y", a), ("P", a, j)] = cross
                entries[("z", a), ("P", a, j)] = along
        return from_blocks(after, before, entries, self.field)


def with_descendants(tree: Tree, joint: Joint) -> list[Joint]:
    """A joint and all beyond it."""
    out = [joint]
    for j in out:
        out += tree.joints_on(j.child)
    return out
