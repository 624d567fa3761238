"""From the records of a robot file to a Mechanism: one body for each group of welded links, one joint for each that moves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import sympy as sp

from lftgen.errors import ModelError, ParameterError
from lftgen.interop.urdf_joints import JointMaker, placed, rpy_snapped
from lftgen.interop.urdf_names import NameMap
from lftgen.interop.urdf_options import BASE, ImportOptions, with_locked
from lftgen.interop.urdf_parts import JointPart, LinkPart, RobotParts
from lftgen.interop.urdf_remarks import (
    check_physical,
    merged_notes,
    repaired,
    warn_of_inertias,
    warn_of_losses,
)
from lftgen.interop.urdf_report import ImportReport, Note
from lftgen.interop.urdf_schedule import (
    Uncertainties,
    quantity_of,
    scheduled_joints,
)
from lftgen.interop.urdf_tree import RobotTree, apart_links, build_robot_tree, merged_inertia
from lftgen.mechanics import joints as mechanics_joints
from lftgen.mechanics.body import RigidBody
from lftgen.mechanics.mechanism import Mechanism
from lftgen.mechanics.names import GROUND

_PORTS = ("origin", "com")


class ImportedMechanism(Mechanism):
    """A mechanism from a robot file, with the report of what became of the file.

    Attributes
    ----------
    report : ImportReport
        Merged links, changed names, ranges, and all that was left aside.
    """

    report: ImportReport

    def __init__(self, name: str, *, report: ImportReport, **parts: Any) -> None:
        super().__init__(name, **parts)
        self.__dict__["report"] = report


class MechanismBuilder:
    """Builds the mechanism of one robot file; ``build`` is all that others call."""

    def __init__(self, parts: RobotParts, options: ImportOptions) -> None:
        options.check_names(parts)
        self.notes: list[Note] = list(parts.notes)
        self.options = options
        checked = repaired(parts, self.notes) if options.unphysical == "repair" else parts
        self.parts = with_locked(checked, options, self.notes)
        self.uncertain = Uncertainties(options.uncertain, self.parts)
        self.asked = scheduled_joints(self.parts, options)
        self.tree: RobotTree = build_robot_tree(
            self.parts, apart_links(self.parts, self.uncertain.links, options.snap), options.snap
        )
        self.names = NameMap()
        self.parameters: dict[str, str] = {}
        self.free = options.base == "free"

    def build(self) -> ImportedMechanism:
        """The mechanism.

        Raises
        ------
        ModelError, ParameterError
            By file, line and element.
        """
        self._check_ground()
        self._check_masses()
        joint_names = {j.name: self.names.add(j.name, "joint") for j in self.tree.joints}
        self.joint_names = joint_names | ({BASE: self.names.add(BASE, "joint")} if self.free else {})
        carriers = [c for c in self.parts.links if self.tree.poses[c].carrier == c]
        self.body_names = {c: self.names.add(c, "link") for c in carriers}
        if not self.free:
            self.body_names[self.tree.root] = GROUND
        bodies = [self._body(c) for c in carriers if self.body_names[c] != GROUND]
        joints = self._joints()
        for link, payload in self.options.payloads.items():
            body, joint = self._payload(link, payload)
            bodies.append(body)
            joints.append(joint)
        warn_of_losses(self.tree.joints, self.notes)
        warn_of_inertias(self.parts, self.tree, self.notes, free=self.free)
        return self._mechanism(bodies, joints)

    def _mechanism(self, bodies: list[RigidBody], joints: list[Any]) -> ImportedMechanism:
        gravity = self.parts.gravity if self.options.gravity is None else self.options.gravity
        self.notes += merged_notes(self.tree, free=self.free)
        for key, changed in self.names.changed.items():
            self.notes.append(Note("renamed", key, self.parts.label, f"is {changed} in the mechanism"))
        made = self.uncertain.made | self.parameters
        report = ImportReport(
            self.parts.label,
            self.names.changed,
            {link: self.body_names[pose.carrier] for link, pose in self.tree.poses.items()},
            {key: str(value) for key, value in made.items()},
            tuple(self.notes),
        )
        name = NameMap().add(self.options.name or self.parts.name, "robot")
        with placed(self.parts.label):
            return ImportedMechanism(
                name, report=report, bodies=bodies, joints=joints, gravity=gravity,
                acceleration=self.options.acceleration, loads=self.options.loads,
            )  # fmt: skip

    def _joints(self) -> list[Any]:
        maker = JointMaker(
            self.tree, self.options, self.body_names, self.joint_names, self.uncertain, self.asked, self.notes,
            self.parameters,
        )  # fmt: skip
        base = [maker.base(self.joint_names[BASE], self.body_names[self.tree.root])] if self.free else []
        return base + [maker.make(j) for j in self.tree.joints]

    # --- bodies --------------------------------------------------------------------------------------------------

    def _body(self, carrier: str) -> RigidBody:
        links = [(self.parts.links[n], self.tree.poses[n]) for n in self.tree.carried_by(carrier)]
        own = self.parts.links[carrier]
        if carrier in self.uncertain.links:
            mass, com, inertia = self._uncertain_inertia(own)
        else:
            mass, com, inertia = merged_inertia(links)
        with placed(
            own.place,
            f"link {own.name!r}" if len(links) == 1 else f"link {own.name!r} and links welded to it",
        ):
            check_physical(inertia)
            return RigidBody(
                self.body_names[carrier], mass=mass, com=com, inertia=inertia, ports=self._ports(carrier)
            )

    def _uncertain_inertia(self, own: LinkPart) -> tuple[Any, Any, Any]:
        """Mass, centre and tensor as expressions."""
        name = self.body_names[own.name]
        ask = self.uncertain.of
        mass = ask(own.name, "mass", own.mass, name)
        com = [ask(own.name, f"com_{x}", float(own.com[i]), name) for i, x in enumerate("xyz")]
        entries = {k: ask(own.name, k, float(own.inertia[i, j]), name) for k, i, j in _ENTRIES}
        if any(isinstance(v, sp.Expr) for v in entries.values()):
            turn, tensor = _exact(own.turn), sp.zeros(3)
            for k, i, j in _ENTRIES:
                tensor[i, j] = tensor[j, i] = entries[k]
            inertia: Any = (turn * tensor * turn.T).applyfunc(sp.expand)
        else:
            inertia = own.tensor
        return mass, com, inertia

    def _ports(self, carrier: str) -> dict[str, Any]:
        """Welded links are named points of the body that carries them."""
        ports: dict[str, Any] = {}
        for link in self.tree.carried_by(carrier)[1:]:
            pose = self.tree.poses[link]
            name = self.names.add(link, "link", (*_PORTS, *ports))
            ports[name] = (pose.p.tolist(), rpy_snapped(pose.R, self.options.snap))
        return ports

    def _payload(self, link: str, payload: Any) -> tuple[RigidBody, Any]:
        pose, what = self.tree.poses[link], f"payloads: link {link!r}"
        if self.body_names[pose.carrier] == GROUND:
            raise ParameterError(
                f"{what} does not move: it is fixed to the ground; attach the payload to a moving link"
            )
        single = len(self.options.payloads) == 1
        name = "payload" if single else f"{self.names.add(link, 'link', ())}_payload"
        if isinstance(payload, RigidBody):
            body = payload
        else:
            where: Any = (0, 0, 0)
            if (
                isinstance(payload, Sequence)
                and len(payload) == 2
                and isinstance(payload[1], (Sequence, np.ndarray))
            ):
                payload, where = payload
            mass = quantity_of(payload, name, None, "kg", what)
            self.parameters[f"{link}.payload"] = str(mass)
            body = RigidBody(self.names.add(name, "link"), mass=mass, com=where)
        mount = self.names.add(f"{body.name}_mount", "joint")
        joint = mechanics_joints.FixedJoint(
            mount,
            parent=self.body_names[pose.carrier],
            child=body.name,
            origin=pose.p.tolist(),
            rpy=rpy_snapped(pose.R, self.options.snap),
        )
        return body, joint

    # --- checks and remarks --------------------------------------------------------------------------------------

    def _check_ground(self) -> None:
        root, poses = self.tree.root, self.tree.poses
        if self.free:
            return
        if not any(pose.carrier != root for pose in poses.values()):
            raise ModelError(
                f'{self.parts.label}: nothing moves: every link is fixed to the root {root!r}; pass base="free", or unlock a joint'
            )
        for link in self.uncertain.links:
            if link == root or all(j.kind == "fixed" for j in self._up(link)):
                raise ParameterError(
                    f'uncertain: link {link!r} is fixed to the ground and does not move; its inertia has no effect (pass base="free" '
                    "to let the robot float)"
                )
        for link, pose in poses.items():
            part = self.parts.links[link]
            if pose.carrier == root and part.has_inertia:
                self.notes.append(
                    Note(
                        "ground",
                        f"link {link!r}",
                        part.place,
                        "fixed to the ground: its inertia has no effect",
                    )
                )

    def _up(self, link: str) -> list[JointPart]:
        to = {j.child: j for j in self.parts.joints.values()}
        out = []
        while link in to:
            out.append(to[link])
            link = to[link].parent
        return out

    def _check_masses(self) -> None:
        """A moving joint with nothing heavy beyond it is named with its line."""
        heavy = {self.tree.poses[n].carrier for n, k in self.parts.links.items() if k.has_inertia}
        heavy |= self.uncertain.links | {self.tree.poses[n].carrier for n in self.options.payloads}
        bearing = {j.name for link in heavy for j in self._up(link)}
        for joint in self.tree.joints:
            inertia = (
                joint.armature or joint.rotor_inertia or f"{joint.name}.armature" in self.uncertain.wanted
            )
            if joint.moves and joint.name not in bearing and not inertia:
                raise joint.error(
                    f"link {joint.child!r} and all beyond it have no mass, so the joint's acceleration is undefined; give the link an "
                    f"<inertial>, or hold the joint with locked=[{joint.name!r}]"
                )


_ENTRIES = (("ixx", 0, 0), ("ixy", 0, 1), ("ixz", 0, 2), ("iyy", 1, 1), ("iyz", 1, 2), ("izz", 2, 2))


def _exact(matrix: np.ndarray) -> sp.Matrix:
    """Rational entries, as the shortest decimals that name them."""
    return sp.Matrix(3, 3, [sp.Rational(repr(float(v))) for v in matrix.flat])
