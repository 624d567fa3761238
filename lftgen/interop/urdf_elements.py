"""The elements of a URDF file, checked one by one, as the plain records of :mod:`lftgen.interop.urdf_parts`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from lftgen.interop.expressions import suggestion
from lftgen.interop.urdf_parts import JointPart, LinkPart, Mimic, RobotParts, rotation
from lftgen.interop.urdf_report import Note
from lftgen.interop.urdf_source import Node, read_xml

TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
SHORTEST_AXIS = 1e-9
"""An axis shorter than this has no direction."""
NO_INERTIA = 1e-16
"""An inertia below this times the mass, m2, is what rounding left of a point mass (10 nm of gyration)."""
_LINK_TAGS = ("inertial",)
_SILENT_LINK_TAGS = ("visual", "collision")
_JOINT_TAGS = ("origin", "parent", "child", "axis", "limit", "dynamics", "mimic")
_SILENT_JOINT_TAGS = ("safety_controller", "calibration")


class UrdfReader:
    """Turns the XML of one URDF file into records, and remembers what it leaves aside."""

    def __init__(self, path: str | Path, snap: float) -> None:
        self.root = read_xml(path, "robot")
        self.snap = snap
        self.notes: list[Note] = []

    def read(self) -> RobotParts:
        """All links and joints, in the order of the file.

        Raises
        ------
        ModelError
            Names file, line, element, what was expected and what came.
        """
        links = self._named("link", self._link)
        joints = self._named("joint", self._joint)
        if not links:
            raise self.root.error("expected at least one <link>, the file has none")
        self._check_ends(links, joints)
        joints = self._with_transmissions(joints)
        known = ("link", "joint", "transmission")
        self._ignored(self.root, (*known,), what="robot", silent=("material", "gazebo"))
        name = self.root.attributes.get("name", "").strip() or Path(self.root.label).stem
        return RobotParts(self.root.label, name, links, joints, tuple(self.notes))

    def _named(self, tag: str, make: Any) -> dict[str, Any]:
        found: dict[str, Any] = {}
        lines: dict[str, int] = {}
        for node in self.root.all(tag):
            name = node.needed("name", tag)
            if name in found:
                raise node.error(
                    f"{tag} {name!r} is defined twice, first in line {lines[name]}; names must be unique"
                )
            found[name], lines[name] = make(node, name), node.line
        return found

    def _link(self, node: Node, name: str) -> LinkPart:
        what = f"link {name!r}"
        self._ignored(node, _LINK_TAGS, what=what, silent=_SILENT_LINK_TAGS)
        place = f"{node.label}:{node.line}"
        inertial = node.one("inertial", what)
        if inertial is None:
            return LinkPart(name, place)
        mass_node = inertial.one("mass", what)
        if mass_node is None:
            raise inertial.error(f"{what}: expected <mass value=...> in <inertial>, it is missing")
        mass = mass_node.number("value", what)
        if mass < 0:
            raise mass_node.error(f"{what}: the mass must not be negative, came {mass:.6g} kg")
        xyz, rpy = self._origin(inertial, what)
        inertia = self._inertia(inertial.one("inertia", what), mass, what, f"{node.label}:{inertial.line}")
        place = f"{node.label}:{inertial.line}"
        return LinkPart(name, place, mass, np.array(xyz), inertia, rotation(rpy, self.snap))

    def _inertia(self, node: Node | None, mass: float, what: str, place: str) -> np.ndarray:
        """The tensor; what rounding left of a zero is zero."""
        if node is None:
            if mass:
                self._note("inertia", what, place, "no <inertia>: read as a point mass")
            return np.zeros((3, 3))
        given = {k: node.number(k, what, 0.0) for k in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")}
        xx, xy, xz, yy, yz, zz = given.values()
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        if tensor.any() and np.abs(tensor).max() < NO_INERTIA * mass:
            self._note(
                "inertia", what, place, f"entries below {NO_INERTIA:g} m2 times the mass are read as zero"
            )
            return np.zeros((3, 3))
        return tensor

    def _joint(self, node: Node, name: str) -> JointPart:
        what = f"joint {name!r}"
        kind = node.needed("type", what)
        if kind not in TYPES:
            raise node.error(
                f"{what}: expected a type, one of {', '.join(TYPES)}, came {kind!r}{suggestion(kind, TYPES)}"
            )
        self._ignored(node, _JOINT_TAGS, what=what, silent=_SILENT_JOINT_TAGS)
        parent, child = (self._end(node, tag, what) for tag in ("parent", "child"))
        if parent == child:
            raise node.error(f"{what}: parent and child are both {parent!r}; a joint connects two links")
        xyz, rpy = self._origin(node, what)
        part = JointPart(name, f"{node.label}:{node.line}", kind, parent, child, xyz, rpy)
        part = replace(part, axis=self._axis(node, kind, what), **self._losses(node, kind, what))
        return replace(part, **self._limits(node, kind, what), mimic=self._mimic(node, kind, what))

    def _end(self, node: Node, tag: str, what: str) -> str:
        end = node.one(tag, what)
        if end is None:
            raise node.error(f"{what}: expected <{tag} link=...>, it is missing")
        return end.needed("link", what)

    def _origin(self, node: Node, what: str) -> tuple[tuple[float, ...], tuple[float, ...]]:
        origin = node.one("origin", what)
        if origin is None:
            return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        return origin.numbers("xyz", what, (0.0, 0.0, 0.0)), origin.numbers("rpy", what, (0.0, 0.0, 0.0))

    def _axis(self, node: Node, kind: str, what: str) -> tuple[float, ...]:
        axis_node = node.one("axis", what)
        if axis_node is None or kind in ("fixed", "floating"):
            return (1.0, 0.0, 0.0)
        axis = axis_node.numbers("xyz", what, (1.0, 0.0, 0.0))
        length = float(np.linalg.norm(axis))
        if length < SHORTEST_AXIS:
            raise axis_node.error(
                f"{what}: the axis must be a direction, but its length is {length:.3g}; expected for example 0 0 1"
            )
        if abs(length - 1) > 1e-6:
            text = f"axis of length {length:.6g} read as a direction of length 1"
            self._note("axis", what, f"{node.label}:{axis_node.line}", text)
        return axis

    def _losses(self, node: Node, kind: str, what: str) -> dict[str, Any]:
        """Damping is linear; friction is not, and is left out with a note (the reader of the file is warned later)."""
        dynamics = node.one("dynamics", what)
        if dynamics is None:
            return {}
        values = {k: dynamics.number(k, what, 0.0) for k in ("damping", "friction")}
        for key, value in values.items():
            if value < 0:
                raise dynamics.error(f"{what}: the {key} must not be negative, came {value:.6g}")
        if kind in ("fixed", "floating", "planar") and any(values.values()):
            self._note("ignored", what, f"{node.label}:{dynamics.line}", f"damping of a {kind} joint")
            return {}
        return values

    def _limits(self, node: Node, kind: str, what: str) -> dict[str, Any]:
        limit = node.one("limit", what)
        if limit is None:
            if kind in ("revolute", "prismatic"):
                advice = "write it, or use type continuous" if kind == "revolute" else "write it"
                raise node.error(f"{what}: a {kind} joint needs a <limit>, it is missing; {advice}")
            return {}
        place = f"{node.label}:{limit.line}"
        for key in ("effort", "velocity"):
            limit.number(key, what, 0.0)
        lower, upper = (limit.number(k, what, 0.0) for k in ("lower", "upper"))
        given = "lower" in limit.attributes or "upper" in limit.attributes
        if kind == "continuous":
            if given and (lower, upper) != (0, 0):
                self._note("limits", what, place, f"limits [{lower:.6g}, {upper:.6g}] of a continuous joint")
            return {}
        if kind not in ("revolute", "prismatic"):
            return {}
        if lower > upper:
            raise limit.error(
                f"{what}: the limits are reversed, lower {lower:.6g} is above upper {upper:.6g}"
            )
        if lower == upper:
            text = f"limits [{lower:.6g}, {upper:.6g}] leave no range: not used as one"
            self._note("range", what, place, text)
            return {}
        return {"lower": lower, "upper": upper}

    def _mimic(self, node: Node, kind: str, what: str) -> Mimic | None:
        mimic = node.one("mimic", what)
        if mimic is None or kind == "fixed":
            return None
        driver = mimic.needed("joint", what)
        return Mimic(driver, mimic.number("multiplier", what, 1.0), mimic.number("offset", what, 0.0))

    def _with_transmissions(self, joints: dict[str, JointPart]) -> dict[str, JointPart]:
        """Gear ratio and rotor inertia, where a transmission gives them for one joint."""
        for node in self.root.all("transmission"):
            what = f"transmission {node.attributes.get('name', '')!r}"
            names = [j.attributes.get("name", "") for j in node.all("joint")]
            found = {
                k: v for part in (node, *node.all("actuator"), *node.all("joint")) for k, v in _drive(part)
            }
            if not found:
                continue
            if len(names) != 1 or names[0] not in joints:
                text = f"drives {', '.join(map(repr, names)) or 'no joint'}: gear and rotor are not used"
                self._note("ignored", what, f"{node.label}:{node.line}", text)
                continue
            values: dict[str, Any] = {k: n.number("value", what) if "value" in n.attributes else n._number(n.text, what)
                      for k, n in found.items()}  # fmt: skip
            if values.get("gear_ratio") == 0 or values.get("rotor_inertia", 0.0) < 0:
                raise node.error(f"{what}: the gear ratio must not be zero, nor the rotor inertia negative")
            joints[names[0]] = replace(joints[names[0]], **values)
        return joints

    def _check_ends(self, links: dict[str, LinkPart], joints: dict[str, JointPart]) -> None:
        for joint in joints.values():
            for end, link in (("parent", joint.parent), ("child", joint.child)):
                if link not in links:
                    raise joint.error(f"the {end} link {link!r} does not exist{suggestion(link, links)}")
            if joint.mimic and joint.mimic.driver not in joints:
                raise joint.error(
                    f"mimics joint {joint.mimic.driver!r}, which does not exist{suggestion(joint.mimic.driver, joints)}"
                )

    def _ignored(self, node: Node, known: Iterable[str], *, what: str, silent: Iterable[str]) -> None:
        """Note elements that have no meaning here; two kinds: of other tools, or perhaps misspelt."""
        count = Counter(c.tag for c in node.children if c.tag not in set(known))
        for tag, n in count.items():
            if tag in set(silent) and what != "robot":
                continue
            line = next(c.line for c in node.children if c.tag == tag)
            text = f"<{tag}> is not used" + (f" ({n} of them)" if n > 1 else "")
            self._note("ignored", what, f"{node.label}:{line}", text)

    def _note(self, kind: str, element: str, place: str, text: str) -> None:
        self.notes.append(Note(kind, element, place, text))


def _drive(node: Node) -> list[tuple[str, Node]]:
    """Gear ratio and rotor inertia in an element: the plain tag of ROS, or Drake's."""
    tags = {
        "mechanicalReduction": "gear_ratio",
        "drake:gear_ratio": "gear_ratio",
        "drake:rotor_inertia": "rotor_inertia",
    }
    return [(tags[c.tag], c) for c in node.children if c.tag in tags]
