"""A compiled MuJoCo model as the plain records of :mod:`lftgen.interop.urdf_parts`."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from lftgen.errors import ModelError
from lftgen.interop.urdf_parts import JointPart, LinkPart, Mimic, RobotParts, rpy_of
from lftgen.interop.urdf_report import Note
from lftgen.interop.urdf_source import Node

WORLD = "world"
_KINDS = ("floating", "spherical", "prismatic", "revolute")
"""By mjtJoint: free, ball, slide, hinge."""
_ANCHORED = (1, 3)
"""Joints that turn about a point, of those."""
_EQUALITY = ("connect", "weld", "joint", "tendon", "flex")


class ModelReader:
    """Turns an mjModel into links and joints.

    A link's frame has the axes of its MuJoCo body and stands at the anchor of the body's last joint.  A body with several
    joints becomes a chain of massless links.
    """

    def __init__(self, model: Any, root: Node) -> None:
        self.m, self.root = model, root
        self.label = root.label
        self.notes: list[Note] = []
        self.lines: dict[tuple[str, str], int] = {}
        self._find_lines(root)
        self.body_names = [WORLD] + [self._name("body", i) for i in range(1, model.nbody)]

    def read(self) -> RobotParts:
        """Links and joints in the order of MuJoCo's coordinates.

        Raises
        ------
        ModelError
            Something that a tree of rigid bodies cannot hold, by name.
        """
        self._refuse()
        links = {WORLD: LinkPart(WORLD, self.label)}
        joints: dict[str, JointPart] = {}
        for b in range(1, self.m.nbody):
            for joint, link in self._body(b):
                joints[joint.name], links[link.name] = joint, link
        for s in range(self.m.nsite):
            joint, link = self._site(s)
            joints[joint.name], links[link.name] = joint, link
        gravity: Any = tuple(float(g) for g in self.m.opt.gravity)
        name = self.root.attributes.get("model", "").strip() or "robot"
        joints = self._with_couplings(joints)
        return RobotParts(self.label, name, links, joints, tuple(self.notes), gravity)

    # --- bodies and joints ---------------------------------------------------------------------------------------

    def _joints_of(self, b: int) -> range:
        first = int(self.m.body_jntadr[b])
        return range(first, first + int(self.m.body_jntnum[b]))

    def _frame(self, b: int) -> np.ndarray:
        """Where the link's frame stands in the MuJoCo body: at the anchor of its last hinge or ball."""
        anchored = [j for j in self._joints_of(b) if int(self.m.jnt_type[j]) in _ANCHORED]
        return np.array(self.m.jnt_pos[anchored[-1]]) if anchored else np.zeros(3)

    def _body(self, b: int) -> list[tuple[JointPart, LinkPart]]:
        name, place = self.body_names[b], self._place("body", self.body_names[b])
        parent = int(self.m.body_parentid[b])
        at, R = self.m.body_pos[b] - self._frame(parent), _matrix(self.m.body_quat[b])
        link = LinkPart(
            name, place, float(self.m.body_mass[b]), self.m.body_ipos[b] - self._frame(b),
            np.diag(self.m.body_inertia[b]), _matrix(self.m.body_iquat[b]),
        )  # fmt: skip
        own = list(self._joints_of(b))
        if not own:
            joint = JointPart(
                f"{name}_weld", place, "fixed", self.body_names[parent], name, _three(at), rpy_of(R)
            )
            return [(joint, link)]
        if self._frame(b).any():
            text = "the frame stands at the joint's anchor, not at the origin of the MuJoCo body"
            self.notes.append(Note("frame", f"link {name!r}", place, text))
        out, upper = [], self.body_names[parent]
        done = np.zeros(3)
        for j in own:
            last = j == own[-1]
            lower = link if last else LinkPart(f"{name}_before_{self._name('joint', j + 1)}", place)
            anchor = np.array(self.m.jnt_pos[j]) if int(self.m.jnt_type[j]) in _ANCHORED else done
            out.append((self._joint(j, upper, lower.name, at + R @ (anchor - done), R), lower))
            upper, at, R, done = lower.name, np.zeros(3), np.eye(3), anchor
        return out

    def _joint(self, j: int, parent: str, child: str, at: np.ndarray, R: np.ndarray) -> JointPart:
        m, kind = self.m, _KINDS[int(self.m.jnt_type[j])]
        name = self._name("joint", j)
        place, d, q = self._place("joint", name), int(m.jnt_dofadr[j]), int(m.jnt_qposadr[j])
        axis, ref = np.array(m.jnt_axis[j]), float(m.qpos0[q])
        values: dict[str, Any] = {}
        if kind in ("prismatic", "revolute"):
            at, R = (at - R @ axis * ref, R) if kind == "prismatic" else (at, R @ _turn(axis, -ref))
            values = self._single(j, d, q, kind)
        else:
            self._check_several(name, place, kind, j, d)
            values = {"damping": float(m.dof_damping[d]), "stiffness": float(m.jnt_stiffness[j])}
        if kind == "revolute" and not m.jnt_limited[j]:
            kind = "continuous"
        return JointPart(
            name, place, kind, parent, child, _three(at), rpy_of(R), tuple(axis.tolist()), **values
        )

    def _single(self, j: int, d: int, q: int, kind: str) -> dict[str, Any]:
        m = self.m
        limited = bool(m.jnt_limited[j])
        low, high = (float(v) for v in m.jnt_range[j])
        stiffness = float(m.jnt_stiffness[j])
        return {
            "lower": low if limited and low < high else None,
            "upper": high if limited and low < high else None,
            "damping": float(m.dof_damping[d]),
            "friction": float(m.dof_frictionloss[d]),
            "armature": float(m.dof_armature[d]),
            "stiffness": stiffness,
            "spring_rest": float(m.qpos_spring[q]) if stiffness else None,
            "home": float(m.qpos0[q]),
        }

    def _check_several(self, name: str, place: str, kind: str, j: int, d: int) -> None:
        """Joints with several coordinates have damping alike in all, and no armature here."""
        m, n = self.m, 6 if kind == "floating" else 3
        part = JointPart(name, place, kind, "", "")
        lossy = kind == "floating" and (np.any(m.dof_damping[d : d + n]) or m.jnt_stiffness[j])
        if np.any(m.dof_armature[d : d + n]) or lossy:
            raise part.error(
                f"armature, or springs and dampers of a free joint, cannot be held by a {kind} joint"
            )
        if np.any(m.dof_frictionloss[d : d + n]):
            self.notes.append(
                Note("friction", f"joint {name!r}", place, "friction is not linear and is left out")
            )

    def _site(self, s: int) -> tuple[JointPart, LinkPart]:
        b = int(self.m.site_bodyid[s])
        name, place = self._name("site", s), self.label
        name = name if name not in self.body_names else f"{name}_site"
        at = self.m.site_pos[s] - self._frame(b)
        weld = JointPart(
            f"{name}_weld",
            place,
            "fixed",
            self.body_names[b],
            name,
            _three(at),
            rpy_of(_matrix(self.m.site_quat[s])),
        )
        return weld, LinkPart(name, place)

    # --- what a tree cannot hold ---------------------------------------------------------------------------------

    def _refuse(self) -> None:
        m = self.m
        for e in range(m.neq):
            kind = _EQUALITY[min(int(m.eq_type[e]), 4)]
            if m.eq_active0[e] and kind != "joint":
                raise ModelError(
                    f"{self.label}: equality {self._name('equality', e)!r}: a {kind} constraint closes a loop, which a tree cannot "
                    "hold; remove it, or set active='false'"
                )
        for b in range(m.nbody):
            if m.body_gravcomp[b]:
                raise ModelError(
                    f"{self.label}: body {self.body_names[b]!r}: gravity compensation (gravcomp) is not supported; remove it"
                )
        for t in range(m.ntendon):
            loaded = (
                m.tendon_stiffness[t]
                or m.tendon_damping[t]
                or getattr(m, "tendon_armature", np.zeros(m.ntendon))[t]
            )
            if loaded:
                raise ModelError(
                    f"{self.label}: tendon {self._name('tendon', t)!r}: springs, dampers and inertia of tendons are not supported"
                )
        for name in ("jnt_stiffnesspoly", "dof_dampingpoly"):
            if np.any(getattr(m, name, 0)):
                raise ModelError(f"{self.label}: {name}: springs and dampers must be linear")
        if getattr(m, "nflex", 0):
            raise ModelError(f"{self.label}: flexible bodies (flex) are not supported")
        counts = {
            "geom": m.ngeom,
            "actuator": m.nu,
            "tendon": m.ntendon,
            "sensor": m.nsensor,
            "keyframe": m.nkey,
        }
        for tag, n in counts.items():
            if n:
                text = f"not used ({n} of them)" + ("; contacts are left out" if tag == "geom" else "")
                self.notes.append(Note("ignored", f"<{tag}>", self.label, text))
        if m.opt.density or m.opt.viscosity:
            self.notes.append(Note("ignored", "<option>", self.label, "the fluid (density, viscosity)"))

    def _with_couplings(self, joints: dict[str, JointPart]) -> dict[str, JointPart]:
        """An equality between two joints makes the first follow the second, if linear."""
        for e in range(self.m.neq):
            if _EQUALITY[min(int(self.m.eq_type[e]), 4)] != "joint" or not self.m.eq_active0[e]:
                continue
            first, second = int(self.m.eq_obj1id[e]), int(self.m.eq_obj2id[e])
            name, c = self._name("joint", first), [float(v) for v in self.m.eq_data[e][:5]]
            if second < 0 or any(c[2:]):
                raise ModelError(
                    f"{self.label}: equality {self._name('equality', e)!r}: joint {name!r} must follow another linearly"
                )
            driver = self._name("joint", second)
            a, b = (float(self.m.qpos0[int(self.m.jnt_qposadr[i])]) for i in (first, second))
            joints[name] = replace(joints[name], mimic=Mimic(driver, c[1], a + c[0] - c[1] * b))
        return joints

    # --- names ---------------------------------------------------------------------------------------------------

    def _name(self, kind: str, i: int) -> str:
        access = {"body": self.m.body, "joint": self.m.joint, "site": self.m.site, "equality": self.m.equality,
                  "tendon": self.m.tendon}[kind]  # fmt: skip
        return access(i).name or f"{kind}_{i}"

    def _find_lines(self, node: Node) -> None:
        stack = [node]
        while stack:
            node = stack.pop()
            stack += node.children
            kind = "joint" if node.tag == "freejoint" else node.tag
            if kind in ("body", "joint") and "name" in node.attributes:
                self.lines[kind, node.attributes["name"]] = node.line

    def _place(self, kind: str, name: str) -> str:
        line = self.lines.get((kind, name))
        return self.label if line is None else f"{self.label}:{line}"


def _three(v: np.ndarray) -> tuple[float, ...]:
    return tuple(float(x) for x in v)


def _matrix(quaternion: np.ndarray) -> np.ndarray:
    """Rotation of a quaternion (w, x, y, z)."""
    w, x, y, z = np.array(quaternion) / np.linalg.norm(quaternion)
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip


def _turn(axis: np.ndarray, angle: float) -> np.ndarray:
    """Rotation about a unit axis (Rodrigues)."""
    K = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return np.eye(3) + math.sin(angle) * K + (1 - math.cos(angle)) * K @ K
