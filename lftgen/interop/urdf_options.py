"""What a user asks of a robot file beside the file itself, checked against the names in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import sympy as sp

from lftgen.arguments import number
from lftgen.errors import ModelError, ParameterError
from lftgen.interop.expressions import suggestion
from lftgen.interop.urdf_parts import ONE_DOF, JointPart, RobotParts, rotation, rpy_of
from lftgen.interop.urdf_report import Note

BASE = "floating_base"
"""Name of the free joint of a free base."""
_CHOICES = {
    "mimic": ("refuse", "lock", "independent"),
    "base": ("fixed", "free"),
    "angle_unit": ("rad", "deg"),
    "unphysical": ("refuse", "repair"),
}
SNAP = 5e-10
"""Angles that miss a multiple of 90 degrees by less than this are read as that multiple, rad."""


@dataclass(frozen=True)
class ImportOptions:
    """The keyword arguments of :func:`lftgen.read_urdf`."""

    uncertain: Mapping[str, Any] = field(default_factory=dict)
    scheduled: Any = None
    ranges: Mapping[str, Any] = field(default_factory=dict)
    positions: Mapping[str, Any] = field(default_factory=dict)
    locked: Mapping[str, float | None] = field(default_factory=dict)
    mimic: str = "refuse"
    base: str = "fixed"
    payloads: Mapping[str, Any] = field(default_factory=dict)
    passive: tuple[str, ...] = ()
    gravity: Any = None
    acceleration: Any = (0, 0, 0)
    loads: Sequence[Any] = ()
    angle_unit: str = "rad"
    snap: float = SNAP
    unphysical: str = "refuse"
    name: str | None = None

    def __post_init__(self) -> None:
        for key in ("uncertain", "ranges", "positions", "payloads"):
            value = getattr(self, key)
            if value is None:
                object.__setattr__(self, key, {})
            elif not isinstance(value, Mapping):
                raise ParameterError(f"{key} must be a mapping of names to values, got {value!r}")
        object.__setattr__(self, "locked", _locked(self.locked))
        object.__setattr__(self, "passive", _names(self.passive, "passive"))
        for key, known in _CHOICES.items():
            if getattr(self, key) not in known:
                raise ParameterError(f"{key} must be one of {', '.join(known)}, got {getattr(self, key)!r}")
        number(self.snap, "snap", minimum=0.0, error=ParameterError)

    def check_names(self, parts: RobotParts) -> None:
        """Every joint and link that is named must be in the file.

        Raises
        ------
        ParameterError
            An unknown name, with close ones.
        """
        joints = [*parts.joints, *([BASE] if self.base == "free" else [])]
        for key in ("ranges", "positions", "locked", "passive"):
            for name in getattr(self, key):
                _known(name, joints, "joint", key)
        for name in self.payloads:
            _known(name, parts.links, "link", "payloads")


def _known(name: object, known: Iterable[str], kind: str, where: str) -> None:
    names = list(known)
    if name not in names:
        raise ParameterError(
            f"{where}: the file has no {kind} {name!r}{suggestion(name, names) or '; known: ' + ', '.join(names[:12])}"
        )


def _locked(value: Any) -> dict[str, float | None]:
    if isinstance(value, Mapping):
        return {
            k: None if v is None else number(v, f"locked: {k}", error=ParameterError)
            for k, v in value.items()
        }
    return dict.fromkeys(_names(value or (), "locked"))


def _names(value: Any, what: str) -> tuple[str, ...]:
    if isinstance(value, str):
        value = (value,)
    if not isinstance(value, Iterable):
        raise ParameterError(f"{what} must be a list of joint names, got {value!r}")
    names = tuple(value)
    if not all(isinstance(n, str) for n in names):
        raise ParameterError(f"{what} must be a list of joint names, got {value!r}")
    return names


def position(joint: JointPart, options: ImportOptions, notes: list[Note]) -> Any:
    """Where a joint with one coordinate stands that is not scheduled: as told, else zero, else the middle of its range.

    Raises
    ------
    ParameterError
        A number outside the joint's limits.
    """
    if joint.name in options.positions:
        value = options.positions[joint.name]
        if isinstance(value, sp.Expr) and not value.is_number:
            return value
        q = number(value, f"positions: {joint.name}", error=ParameterError)
        low, high = (
            (-np.inf if joint.lower is None else joint.lower),
            (np.inf if joint.upper is None else joint.upper),
        )
        if joint.name not in options.ranges and not low - 1e-9 <= q <= high + 1e-9:
            raise ParameterError(
                f"positions: joint {joint.name!r} at {q:.6g} is outside its limits [{low:.6g}, {high:.6g}] ({joint.place}); "
                "give ranges={...} to widen them"
            )
        return q
    rest = joint.home
    if joint.lower is not None and joint.upper is not None and not joint.lower <= rest <= joint.upper:
        middle = (joint.lower + joint.upper) / 2
        text = f"{rest:.6g} is outside the limits [{joint.lower:.6g}, {joint.upper:.6g}]: at their middle, {middle:.6g}"
        notes.append(Note("position", f"joint {joint.name!r}", joint.place, text))
        return middle
    return rest


def with_locked(parts: RobotParts, options: ImportOptions, notes: list[Note]) -> RobotParts:
    """Locked joints, and mimic joints that are to be locked, as fixed ones.

    Raises
    ------
    ModelError
        A mimic joint where ``mimic="refuse"``.
    """
    joints = dict(parts.joints)
    for joint in parts.joints.values():
        at = _lock_position(joint, parts, options, notes)
        if at is not None:
            joints[joint.name] = _fixed_at(joint, at, options.snap)
            notes.append(Note("locked", f"joint {joint.name!r}", joint.place, f"held at {at:.6g}"))
    return replace(parts, joints=joints)


def _lock_position(
    joint: JointPart, parts: RobotParts, options: ImportOptions, notes: list[Note]
) -> float | None:
    """Position of a joint that is locked, None for one that is not."""
    if joint.name in options.locked and joint.moves:
        given = options.locked[joint.name]
        if given is not None:
            return given
        if joint.mimic is None or joint.name in options.positions:
            return _number_at(joint, options, notes)
    if joint.mimic is None or not joint.moves:
        return None
    follower, driver = joint.mimic, parts.joints.get(joint.mimic.driver)
    if options.mimic == "independent" and joint.name not in options.locked:
        text = f"follows joint {follower.driver!r}: has a coordinate of its own here"
        notes.append(Note("mimic", f"joint {joint.name!r}", joint.place, text))
        return None
    if driver is None:
        raise joint.error(
            f"mimics joint {follower.driver!r}, which does not exist{suggestion(follower.driver, parts.joints)}"
        )
    if options.mimic == "refuse" and driver.name not in options.locked and joint.name not in options.locked:
        raise joint.error(
            f"follows joint {driver.name!r} ({follower.multiplier:g} times, plus {follower.offset:g}): two joints with one coordinate "
            f'are not supported; lock it (mimic="lock", or locked=[{driver.name!r}] for both), or give it a coordinate of its '
            'own (mimic="independent")'
        )
    q = options.locked.get(driver.name)
    q = _number_at(driver, options, []) if q is None else q
    return follower.multiplier * q + follower.offset


def _number_at(joint: JointPart, options: ImportOptions, notes: list[Note]) -> float:
    if joint.kind not in ONE_DOF:
        raise ModelError(f"{joint.place}: joint {joint.name!r}: a {joint.kind} joint cannot be locked")
    q = position(joint, options, notes)
    return number(q, f"position of the locked joint {joint.name!r}", error=ParameterError)


def _fixed_at(joint: JointPart, q: float, snap: float) -> JointPart:
    R, axis = rotation(joint.rpy, snap), np.array(joint.axis) / np.linalg.norm(joint.axis)
    xyz, rpy = np.array(joint.xyz), joint.rpy
    if joint.kind == "prismatic":
        xyz = xyz + R @ (q * axis)
    elif q:
        K = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
        rpy = rpy_of(R @ (np.eye(3) + np.sin(q) * K + (1 - np.cos(q)) * K @ K))
    return replace(joint, kind="fixed", xyz=tuple(xyz.tolist()), rpy=rpy, mimic=None)
