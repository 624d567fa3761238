"""Mechanisms that move in one plane: mass matrix and gravity stiffness in absolute angles.

With all joint axes parallel to n, link b (a revolute joint's child and what is welded to it) turns by the absolute angle
phi_b, and the centre of mass of body k is ``x_k = sum_b R_b rho_kb`` over the links b on its path.  Its share of the
inertial and gravity forces against phi_b is

    tau_b = m_k rho_kb . (x_b + y_kb),
    x_b = R_b^T w q_b + sum_{a < b} R_b^T R_a rho_ba q''_a     (one chain from the base for each row)
    y_kb = sum_{a >= b} R_b^T R_a rho_ka q''_a                 (one chain from the tip for each mass)

with vectors projected on the plane, q_b and q''_a absolute, and ``w = (a x n) x n``.  In x_b gravity and acceleration
share one chain, since K is diagonal in absolute angles; no general construction finds this by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from lftgen.lft.algebra import add, constant, multiply, transpose
from lftgen.lft.blocks import from_blocks
from lftgen.lft.connect import unnamed
from lftgen.lft.data import LFTData
from lftgen.lft.field import Field
from lftgen.lft.reduction.kalman import reduce
from lftgen.mechanics.coefficients import realize_coefficient
from lftgen.mechanics.joints import Joint
from lftgen.mechanics.names import GROUND
from lftgen.mechanics.spatial import skew
from lftgen.mechanics.tree import Tree


@dataclass(frozen=True)
class Link:
    """A revolute joint's child with all that is welded to it.

    Attributes
    ----------
    sign : int
        +1 where the joint's axis is n, -1 where it is -n.
    normal : sympy 3x1
        n in the link's axes (the joint's axis, which the rotation leaves alone).
    rotation : sympy 3x3
        R with v_parent_link = R v_link.
    offset : sympy 3x1
        Position of the joint in the parent link's frame.
    """

    joint: Joint
    parent: str | None
    sign: int
    rotation: sp.ImmutableMatrix
    offset: sp.ImmutableMatrix
    normal: sp.ImmutableMatrix


@dataclass(frozen=True)
class Planar:
    """The common normal in reference axes, the links (parents first), and for each body its link and centre of mass there."""

    normal: sp.ImmutableMatrix
    links: dict[str, Link]
    bodies: dict[str, tuple[str, sp.ImmutableMatrix]]

    def path(self, link: str) -> list[str]:
        """Links from the base to a link."""
        out: list[str] = []
        at: str | None = link
        while at is not None:
            out.insert(0, at)
            at = self.links[at].parent
        return out


def find_planar(tree: Tree) -> Planar | None:
    """The links where all moving joints are revolute with parallel axes, else None."""
    links: dict[str, Link] = {}
    bodies: dict[str, tuple[str, sp.ImmutableMatrix]] = {}
    place: dict[str, tuple[str | None, sp.Matrix, sp.Matrix]] = {GROUND: (None, sp.eye(3), sp.zeros(3, 1))}
    normal: sp.MatrixBase | None = None
    for joint in tree.outward:
        link, turn, point = place[joint.parent]
        placement, offset = turn * joint.placement, point + turn * joint.origin
        if joint.dof == 0:
            place[joint.child] = (link, turn * joint.child_rotation, point + turn * joint.child_position)
        elif joint.kind == "revolute":
            across = placement * joint.subspace()[:3, :]
            if any(e.free_symbols for e in across):
                return None
            normal = across if normal is None else normal
            reference = normal if link is None else links[link].normal
            sign = _parallel(across, reference)
            if sign is None:
                return None
            own = sp.ImmutableMatrix(sign * joint.subspace()[:3, :])
            rotation = sp.ImmutableMatrix(placement * joint.rotation())
            links[joint.name] = Link(joint, link, sign, rotation, sp.ImmutableMatrix(offset), own)
            place[joint.child] = (joint.name, sp.eye(3), sp.zeros(3, 1))
        else:
            return None
        at, turn, point = place[joint.child]
        if at is not None:
            bodies[joint.child] = (at, sp.ImmutableMatrix(point + turn * tree.bodies[joint.child].com))
    return None if normal is None else Planar(sp.ImmutableMatrix(normal), links, bodies)


def _parallel(a: sp.MatrixBase, b: sp.MatrixBase) -> int | None:
    """+1 or -1 where two unit vectors are parallel or opposite."""
    dot = float(sum(x * y for x, y in zip(a, b, strict=True)))
    return None if abs(abs(dot) - 1) > 1e-12 else (1 if dot > 0 else -1)


class PlanarDynamics:
    """Generalised forces of a planar tree from coordinates and accelerations, bodies and gravity only."""

    def __init__(self, tree: Tree, planar: Planar, base: sp.MatrixBase, field: Field) -> None:
        self.tree, self.planar, self.base, self.field = tree, planar, base, field
        self.names = [j.name for j in tree.joints if j.dof]
        self.inputs: dict[Any, int] = {("q", n): 1 for n in self.names} | {("a", n): 1 for n in self.names}

    def coefficient(self, matrix: sp.MatrixBase) -> LFTData:
        return unnamed(realize_coefficient(matrix, exact=self.field.exact).with_field(self.field))

    def matrix(self) -> LFTData:
        """[K, H] (joints x [coordinates; accelerations], in the joints' order)."""
        total = self._rotational_inertia()
        down = {b: self._from_base(b) for b in self.names}
        for body, (link, com) in self.planar.bodies.items():
            if self.tree.bodies[body].mass == 0:
                continue
            rows = self._rows(link, com, down)
            mass = self.coefficient(self.tree.bodies[body].mass * sp.eye(len(rows)))
            labels: dict[Any, int] = dict.fromkeys(rows, 1)
            stacked = from_blocks(
                labels, {"in": len(self.inputs)}, {(b, "in"): v for b, v in rows.items()}, self.field
            )
            place = from_blocks(
                dict.fromkeys(self.names, 1), labels, {(b, b): self._one() for b in rows}, self.field
            )
            total = reduce(unnamed(add(total, multiply(multiply(place, mass), reduce(unnamed(stacked))))))
        to_absolute = constant(self.field.array(self._absolute()), self.field)
        labels2 = {"q": len(self.names), "a": len(self.names)}
        both = from_blocks(labels2, labels2, {("q", "q"): to_absolute, ("a", "a"): to_absolute}, self.field)
        return reduce(unnamed(multiply(multiply(transpose(to_absolute), total), both)))

    def stiffness(self) -> LFTData:
        """K alone (joints x joints, in the joints' order): in absolute angles ``K_bb = (sum_k m_k rho_kb) . R_b^T w``.

        The entries share nothing, so each is reduced by itself: the cost grows as the order does.
        """
        levers: dict[str, sp.MatrixBase] = {name: sp.zeros(3, 1) for name in self.names}
        for body, (link, com) in self.planar.bodies.items():
            lever = com
            for b in reversed(self.planar.path(link)):
                levers[b] += self.tree.bodies[body].mass * self._in_plane(b, lever)
                lever = self.planar.links[b].offset
        normal, entries = skew(self.planar.normal), {}
        for b in self.names:
            x = self.coefficient(normal * normal * self.base)
            for name in self.planar.path(b):
                x = unnamed(multiply(self.coefficient(self.planar.links[name].rotation.T), x))
            entries[b, b] = reduce(unnamed(multiply(self.coefficient(levers[b].T), x)))
        labels: dict[Any, int] = dict.fromkeys(self.names, 1)
        K = from_blocks(labels, labels, entries, self.field)
        to_absolute = constant(self.field.array(self._absolute()), self.field)
        return unnamed(multiply(multiply(transpose(to_absolute), K), to_absolute))

    def _one(self) -> LFTData:
        return constant(self.field.eye(1), self.field)

    def _absolute(self) -> list[list[int]]:
        """Absolute angles from relative ones (about n)."""
        signs = {n: self.planar.links[n].sign for n in self.names}
        return [[signs[a] if a in self.planar.path(b) else 0 for a in self.names] for b in self.names]

    def _vector(self, label: tuple[str, str], column: sp.MatrixBase) -> LFTData:
        """A 3-vector times one input."""
        return from_blocks({"v": 3}, self.inputs, {("v", label): self.coefficient(column)}, self.field)

    def _in_plane(self, link: str, vector: sp.MatrixBase) -> sp.Matrix:
        n = self.planar.links[link].normal
        return -skew(n) * skew(n) * vector

    def _from_base(self, b: str) -> LFTData:
        """x_b as a function of all inputs, in link b's axes."""
        path = self.planar.path(b)
        normal = skew(self.planar.normal)
        x = self._vector(("q", b), normal * normal * self.base)
        for i, name in enumerate(path):
            link = self.planar.links[name]
            if i:
                x = add(x, self._vector(("a", path[i - 1]), self._in_plane(path[i - 1], link.offset)))
            x = unnamed(multiply(self.coefficient(link.rotation.T), x))
        return reduce(x)

    def _rows(self, link: str, com: sp.MatrixBase, down: dict[str, LFTData]) -> dict[str, LFTData]:
        """rho_kb . (x_b + y_kb) for every link b on the path of one mass."""
        rows: dict[str, LFTData] = {}
        path = self.planar.path(link)
        y, lever = self._vector(("a", link), self._in_plane(link, com)), com
        for i in range(len(path) - 1, -1, -1):
            b = path[i]
            flat = self._in_plane(b, lever)
            rows[b] = unnamed(multiply(self.coefficient(flat.T), add(down[b], y)))
            if i:
                step = self.planar.links[b]
                y = unnamed(multiply(self.coefficient(step.rotation), y))
                y = add(y, self._vector(("a", path[i - 1]), self._in_plane(path[i - 1], step.offset)))
                lever = step.offset
        return rows

    def _rotational_inertia(self) -> LFTData:
        """Each body's inertia about n, against its link's absolute acceleration."""
        entries = {}
        for name in self.names:
            inertia: sp.Expr = sp.S.Zero
            for body, (link, _) in self.planar.bodies.items():
                if link == name:
                    inertia += self._about_normal(body, name)
            entries[name, ("a", name)] = self.coefficient(sp.Matrix([[inertia]]))
        return from_blocks(dict.fromkeys(self.names, 1), self.inputs, entries, self.field)

    def _about_normal(self, body: str, link: str) -> sp.Expr:
        n, welds = self.planar.links[link].normal, []
        joint = self.tree.joint_to(body)
        while joint.name != link:
            welds.append(joint)
            joint = self.tree.joint_to(joint.parent)
        for weld in reversed(welds):  # the normal in the welded body's axes
            n = weld.child_rotation.T * n
        tensor = self.tree.bodies[body].inertia + self.tree.joint_to(body).carried_inertia()
        return (n.T * tensor * n)[0, 0]
