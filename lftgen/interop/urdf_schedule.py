"""Joint limits as ranges of scheduling parameters, and uncertain quantities by name."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import sympy as sp

from lftgen import parameters as make
from lftgen.arguments import number, pair
from lftgen.errors import ParameterError
from lftgen.interop.expressions import suggestion
from lftgen.interop.urdf_options import ImportOptions
from lftgen.interop.urdf_parts import ONE_DOF, JointPart, RobotParts
from lftgen.interop.urdf_report import Note

LARGEST_T = 10.0
"""A half chart is chosen where its t stays below this, else a quarter chart."""
WIDEST = 2 * math.pi
"""A range wider than a turn adds nothing, for the model repeats: one turn around its middle is taken, rad."""
_SPEC = ("bounds", "nominal", "center", "chart", "unit", "rate", "name")
_UNITS = {"mass": "kg", "damping": "", "armature": ""}
LINK_QUANTITIES = ("mass", "com_x", "com_y", "com_z", "ixx", "ixy", "ixz", "iyy", "iyz", "izz")
JOINT_QUANTITIES = ("damping", "armature")


def scheduled_joints(parts: RobotParts, options: ImportOptions) -> dict[str, Any]:
    """What is asked of each joint that is to be scheduled: {} for the file's own limits.

    Raises
    ------
    ParameterError
        An unknown name, a joint that does not move or has several coordinates.
    """
    wanted = options.scheduled
    movable = [j.name for j in parts.joints.values() if j.kind in ONE_DOF]
    if wanted is None:
        return {}
    if wanted == "all":
        return {name: {} for name in movable}
    if isinstance(wanted, str) or not isinstance(wanted, (Mapping, Sequence)):
        raise ParameterError(f'scheduled must be "all", a list of joints or a mapping, got {wanted!r}')
    asked: dict[Any, Any] = dict(wanted) if isinstance(wanted, Mapping) else {key: {} for key in wanted}
    for name in asked:
        if name in movable:
            continue
        if name in parts.joints:
            joint = parts.joints[name]
            locked = " (it is locked)" if joint.name in options.locked or joint.mimic else ""
            raise ParameterError(
                f"scheduled: joint {name!r} ({joint.place}) is {joint.kind}{locked}; only revolute, continuous and prismatic "
                "joints can be scheduled"
            )
        raise ParameterError(f"scheduled: the file has no joint {name!r}{suggestion(name, movable)}")
    return asked


def scheduling_parameter(
    joint: JointPart, name: str, asked: Any, options: ImportOptions, notes: list[Note]
) -> Any:
    """The parameter of a scheduled joint.

    Raises
    ------
    ParameterError
        No range to be had, or one that no chart covers.
    """
    if isinstance(asked, sp.Expr):
        return asked
    spec = dict(asked) if isinstance(asked, Mapping) else {"bounds": asked}
    wrong = [k for k in spec if k not in _SPEC]
    if wrong:
        raise ParameterError(
            f"scheduled: joint {joint.name!r}: unknown field {wrong[0]!r}{suggestion(wrong[0], _SPEC)}; expected {', '.join(_SPEC)}"
        )
    name = spec.pop("name", name)
    if joint.kind == "prismatic":
        spec.pop("chart", None), spec.pop("center", None)
        bounds = spec.pop("bounds", None) or _bounds(joint, options)
        spec = {"unit": "m", **_nominal(joint, options, 1.0), **spec}
        return make.scheduled(name, bounds, **spec)
    unit = spec.setdefault("unit", options.angle_unit)
    if unit not in ("rad", "deg"):
        raise ParameterError(
            f'scheduled: joint {joint.name!r}: the unit must be "rad" or "deg", got {unit!r}'
        )
    scale = 1.0 if unit == "rad" else 180 / math.pi
    given = spec.pop("bounds", None)
    own = given is None and joint.name not in options.ranges
    bounds = (
        pair(given, name) if given is not None else tuple(_degrees(v, scale) for v in _bounds(joint, options))
    )
    if own and bounds[1] - bounds[0] > WIDEST * scale * (1 - 1e-3):
        bounds = _one_turn(joint, bounds, scale, notes)
    if "chart" not in spec:
        spec["chart"] = _chart(joint, bounds, scale, spec.get("center"), notes)
    return make.scheduled_angle(name, bounds, **{**_nominal(joint, options, scale), **spec})


def _degrees(value: float, scale: float) -> float:
    """A limit in the parameter's unit; 1.5707963 rad is 90 degrees."""
    scaled = value * scale
    return round(scaled, 9) if scale != 1.0 else scaled


def _nominal(joint: JointPart, options: ImportOptions, scale: float) -> dict[str, Any]:
    value = options.positions.get(joint.name)
    return {} if value is None else {"nominal": number(value, f"positions: {joint.name}") * scale}


def _bounds(joint: JointPart, options: ImportOptions) -> tuple[float, float]:
    if joint.name in options.ranges:
        low, high = pair(options.ranges[joint.name], f"ranges: {joint.name}")
        if low >= high:
            raise ParameterError(f"ranges: {joint.name}: expected lower < upper, got ({low:.6g}, {high:.6g})")
        return low, high
    if joint.lower is None or joint.upper is None:
        unit = "m" if joint.kind == "prismatic" else "rad"
        raise ParameterError(
            f"{joint.place}: joint {joint.name!r} is {joint.kind} and the file gives no range for it, so it cannot be scheduled as it "
            f"is; pass ranges={{{joint.name!r}: (lower, upper)}} in {unit}, or leave it out of scheduled"
        )
    return joint.lower, joint.upper


def _one_turn(
    joint: JointPart, bounds: tuple[float, ...], scale: float, notes: list[Note]
) -> tuple[float, float]:
    middle = (bounds[0] + bounds[1]) / 2
    half = math.pi * scale
    text = f"limits [{joint.lower:.6g}, {joint.upper:.6g}] rad span a turn or more; the model repeats: one turn is scheduled"
    notes.append(Note("range", f"joint {joint.name!r}", joint.place, text))
    return middle - half, middle + half


def _chart(
    joint: JointPart, bounds: tuple[float, ...], scale: float, center: float | None, notes: list[Note]
) -> str:
    middle = (bounds[0] + bounds[1]) / 2 if center is None else center
    reach = max(abs(b - middle) for b in bounds) / scale
    if reach < math.pi and math.tan(reach / 2) <= LARGEST_T:
        return "half"
    text = f"a range of {2 * reach:.6g} rad is wide: quarter chart, t = tan(angle/4)"
    notes.append(Note("range", f"joint {joint.name!r}", joint.place, text))
    return "quarter"


class Uncertainties:
    """Quantities by ``"link.mass"``: a percentage, a range, a Parameter, an expression or another number.

    Raises
    ------
    ParameterError
        A key that names no quantity of the file.
    """

    def __init__(self, wanted: Mapping[str, Any], parts: RobotParts) -> None:
        self.wanted = dict(wanted)
        self.links: set[str] = set()
        self.made: dict[str, Any] = {}
        for key in self.wanted:
            owner, quantity = self._split(key)
            known, tables = (
                (parts.joints, JOINT_QUANTITIES)
                if quantity in JOINT_QUANTITIES
                else (parts.links, LINK_QUANTITIES)
            )
            if quantity not in tables:
                names = (*LINK_QUANTITIES, *JOINT_QUANTITIES)
                raise ParameterError(
                    f"uncertain: {key!r}: unknown quantity {quantity!r}{suggestion(quantity, names)}; expected {', '.join(names)}"
                )
            if owner not in known:
                kind = "joint" if quantity in JOINT_QUANTITIES else "link"
                raise ParameterError(
                    f"uncertain: {key!r}: the file has no {kind} {owner!r}{suggestion(owner, known)}"
                )
            if quantity in LINK_QUANTITIES:
                self.links.add(owner)

    @staticmethod
    def _split(key: Any) -> tuple[str, str]:
        owner, dot, quantity = key.rpartition(".") if isinstance(key, str) else ("", "", "")
        if not dot or not owner:
            raise ParameterError(f'uncertain: expected a key such as "link5.mass", got {key!r}')
        return owner, quantity

    def of(self, owner: str, quantity: str, nominal: float, name: str) -> Any:
        """The quantity of a link or joint: the file's number where nothing is uncertain."""
        key = f"{owner}.{quantity}"
        if key not in self.wanted:
            return nominal
        unit = _UNITS.get(quantity, "m" if quantity.startswith("com") else "kg m2")
        self.made[key] = quantity_of(self.wanted[key], f"{name}_{quantity}", nominal, unit, key)
        return self.made[key]


def quantity_of(wanted: Any, name: str, nominal: float | None, unit: str, what: str) -> Any:
    """A number, parameter or expression from what a user wrote: ``"20%"``, ``(lower, upper)``, or itself."""
    if isinstance(wanted, sp.Expr):
        return wanted
    if isinstance(wanted, str):
        match = re.fullmatch(r"\s*(\d+\.?\d*|\.\d+)\s*%\s*", wanted)
        if match is None or nominal is None:
            raise ParameterError(
                f'{what}: expected "20%", (lower, upper), a Parameter or a number, got {wanted!r}'
            )
        return make.uncertain(name, nominal, percent=float(match[1]), unit=unit)
    if isinstance(wanted, Sequence):
        low, high = pair(wanted, what)
        middle = (low + high) / 2 if nominal is None else nominal
        return make.uncertain(name, middle, bounds=(low, high), unit=unit)
    return number(wanted, what, error=ParameterError)
