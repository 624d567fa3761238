"""The joints of a robot file as joints of a mechanism."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from lftgen.errors import LftgenError, ParameterError
from lftgen.interop.urdf_options import BASE, ImportOptions, position
from lftgen.interop.urdf_parts import JointPart, rotation, rpy_of, snapped
from lftgen.interop.urdf_report import Note
from lftgen.interop.urdf_schedule import Uncertainties, scheduling_parameter
from lftgen.interop.urdf_tree import RobotTree
from lftgen.mechanics import joints as mechanics_joints


@dataclass(frozen=True)
class JointMaker:
    """Makes joints; ``notes`` and ``parameters`` collect what happens on the way.

    Attributes
    ----------
    bodies, names : mapping of str to str
        Bodies of carrying links, and joints, by the file's names.
    asked : mapping
        Joints to be scheduled.
    """

    tree: RobotTree
    options: ImportOptions
    bodies: Mapping[str, str]
    names: Mapping[str, str]
    uncertain: Uncertainties
    asked: Mapping[str, Any]
    notes: list[Note]
    parameters: dict[str, str]

    def make(self, joint: JointPart) -> Any:
        """The joint of the mechanism; errors are placed."""
        with placed(joint.place, f"joint {joint.name!r}"):
            make = {"revolute": self._revolute, "continuous": self._revolute, "prismatic": self._prismatic,
                    "fixed": self._fixed, "floating": self._floating, "planar": self._planar,
                    "spherical": self._spherical}[joint.kind]  # fmt: skip
            return make(joint)

    def _common(self, joint: JointPart) -> dict[str, Any]:
        pose = self.tree.poses[joint.parent]
        R, p = pose.R @ rotation(joint.rpy, self.options.snap), pose.p + pose.R @ np.array(joint.xyz)
        moved = pose.carrier != joint.parent
        rpy = (
            rpy_snapped(R, self.options.snap)
            if moved
            else tuple(snapped(a, self.options.snap) for a in joint.rpy)
        )
        return {
            "parent": self.bodies[pose.carrier],
            "child": self.bodies[joint.child],
            "origin": p.tolist() if moved else joint.xyz,
            "rpy": rpy,
        }

    def _driven(self, joint: JointPart) -> dict[str, Any]:
        """What joints with one coordinate share."""
        name = self.names[joint.name]
        return self._common(joint) | {
            "axis": joint.axis,
            "damping": self.uncertain.of(joint.name, "damping", joint.damping, name),
            "armature": self.uncertain.of(joint.name, "armature", joint.armature, name),
            "stiffness": joint.stiffness,
            "gear_ratio": joint.gear_ratio,
            "rotor_inertia": joint.rotor_inertia,
            "actuated": joint.name not in self.options.passive,
        }

    def _coordinate(self, joint: JointPart) -> Any:
        if joint.name not in self.asked:
            return position(joint, self.options, self.notes)
        name = self.names[joint.name]
        parameter = scheduling_parameter(joint, name, self.asked[joint.name], self.options, self.notes)
        self.parameters[joint.name] = str(parameter)
        return parameter

    def _revolute(self, joint: JointPart) -> Any:
        return mechanics_joints.RevoluteJoint(
            self.names[joint.name],
            angle=self._coordinate(joint),
            rest_angle=joint.spring_rest,
            **self._driven(joint),
        )

    def _prismatic(self, joint: JointPart) -> Any:
        return mechanics_joints.PrismaticJoint(
            self.names[joint.name],
            position=self._coordinate(joint),
            rest_position=joint.spring_rest,
            **self._driven(joint),
        )

    def _fixed(self, joint: JointPart) -> Any:
        return mechanics_joints.FixedJoint(self.names[joint.name], **self._common(joint))

    def _planar(self, joint: JointPart) -> Any:
        angle, x, y = self._several(joint.name, 3, "angle, x, y")
        return mechanics_joints.PlanarJoint(
            self.names[joint.name], axis=joint.axis, angle=angle, x=x, y=y, damping=joint.damping,
            actuated=joint.name not in self.options.passive, **self._common(joint),
        )  # fmt: skip

    def _spherical(self, joint: JointPart) -> Any:
        return mechanics_joints.SphericalJoint(
            self.names[joint.name], attitude=self._several(joint.name, 3, "roll, pitch, yaw"),
            damping=joint.damping, stiffness=joint.stiffness,
            actuated=joint.name not in self.options.passive, **self._common(joint),
        )  # fmt: skip

    def _floating(self, joint: JointPart) -> Any:
        common = self._common(joint)
        pose = self._several(joint.name, 6, "x, y, z, roll, pitch, yaw")
        if any(v != 0 for v in pose):
            values = [float(v) for v in pose]
            R, p = rotation(common["rpy"], 0.0), np.array(common["origin"], dtype=float)
            common["origin"] = (p + R @ np.array(values[:3])).tolist()
            common["rpy"] = rpy_snapped(R @ rotation(tuple(values[3:]), self.options.snap), self.options.snap)
        return mechanics_joints.FreeJoint(self.names[joint.name], **common)

    def base(self, name: str, root: str) -> Any:
        """The free joint of a free base."""
        pose = self._several(BASE, 6, "x, y, z, roll, pitch, yaw")
        return mechanics_joints.FreeJoint(name, child=root, origin=pose[:3], rpy=pose[3:])

    def _several(self, name: str, count: int, what: str) -> tuple[Any, ...]:
        value = self.options.positions.get(name, (0.0,) * count)
        if isinstance(value, str) or not isinstance(value, (Sequence, np.ndarray)) or len(value) != count:
            raise ParameterError(f"positions: {name}: expected {count} values ({what}), got {value!r}")
        return tuple(float(v) if isinstance(v, (int, np.number)) else v for v in value)


def rpy_snapped(R: np.ndarray, snap: float) -> tuple[float, ...]:
    """Roll, pitch, yaw; quarter turns exact."""
    return tuple(snapped(a, snap) for a in rpy_of(R))


@contextmanager
def placed(place: str, what: str = "") -> Iterator[None]:
    """Put file, line and element in front of an error of the core that does not have them."""
    try:
        yield
    except LftgenError as error:
        text = str(error)
        if not text.startswith((place, place.rsplit(":", 1)[0])):
            error.args = (f"{place}: {what}: {text}" if what else f"{place}: {text}",)
        raise
