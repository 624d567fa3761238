"""What a trim can solve for: names, and the mechanism with a symbol in the place of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from lftgen.errors import ModelError
from lftgen.mechanics.joints import Joint
from lftgen.mechanics.loads import Load, SpringDamper
from lftgen.mechanics.model import MechanismModel
from lftgen.mechanics.names import unknown
from lftgen.mechanics.spatial import XYZ
from lftgen.mechanics.substitution import replacing


class UnknownSymbol(sp.Symbol):
    """Stands for a load or an acceleration that the equilibrium decides."""

    __slots__ = ()


@dataclass
class Unknowns:
    """Symbols in the place of what is solved for.

    Attributes
    ----------
    symbols : dict of name to Symbol
    replaced : dict of Symbol or Parameter to Symbol
        Parameters and free symbols that are solved for.
    loads : dict of (load, attribute, component) to Symbol
    acceleration : dict of component to Symbol
    rests : dict of joint to Symbol
    held : set of str
        Joints that get an actuator.
    """

    symbols: dict[str, sp.Symbol] = field(default_factory=dict)
    replaced: dict[sp.Basic, sp.Expr] = field(default_factory=dict)
    loads: dict[tuple[str, str, int], sp.Symbol] = field(default_factory=dict)
    acceleration: dict[int, sp.Symbol] = field(default_factory=dict)
    rests: dict[str, sp.Symbol] = field(default_factory=dict)
    held: set[str] = field(default_factory=set)

    def new(self, name: str) -> sp.Symbol:
        """The symbol of an unknown."""
        self.symbols[name] = UnknownSymbol(name, real=True)
        return self.symbols[name]

    @property
    def are_forces(self) -> bool:
        """Whether all are loads and accelerations, in which every equilibrium is affine."""
        return not (self.replaced or self.rests)

    def load(self, load: Any) -> dict[str, Any]:
        """Attributes of a load with unknowns in place."""
        own: dict[str, Any] = {}
        for (name, attribute, k), symbol in self.loads.items():
            if name == load.name:
                value = own.get(attribute, getattr(load, attribute))
                own[attribute] = _with_entry(value, k, symbol) if isinstance(value, sp.MatrixBase) else symbol
        return own


def _with_entry(column: sp.MatrixBase, k: int, value: sp.Expr) -> sp.ImmutableMatrix:
    return sp.ImmutableMatrix([value if i == k else e for i, e in enumerate(column)])


def find_unknowns(mechanism: MechanismModel, names: Sequence[str]) -> Unknowns:
    """What each name of ``trim(solve=...)`` stands for.

    Raises
    ------
    ModelError
        Unknown names (close ones are listed), one name twice, or a joint force of a free joint.
    """
    if isinstance(names, str):
        raise ModelError(f"solve must be a list of names, got the string {names!r}; write [{names!r}]")
    offered = _offered(mechanism)
    out = Unknowns()
    for name in names:
        if name not in offered:
            raise unknown(str(name), offered, "name to solve for")
        for kind, full, where in offered[name]:
            if full in out.symbols:
                raise ModelError(f"solve: {full} is asked for twice")
            _enter(out, kind, full, where)
    return out


def _enter(out: Unknowns, kind: str, name: str, where: Any) -> None:
    if kind == "held":
        if where.kind == "free":
            raise ModelError(
                f"solve: {name} is the force of the free joint {where.name}, which nothing holds; solve for a load, an "
                "acceleration, a mass or a length instead"
            )
        out.held.add(where.name)
    elif kind == "load":
        out.loads[where] = out.new(name)
    elif kind == "acceleration":
        out.acceleration[where] = out.new(name)
    elif kind == "rest":
        out.rests[where] = out.new(name)
    else:
        out.replaced[where] = out.new(name)


_Offer = tuple[str, str, Any]


def _offered(mechanism: MechanismModel) -> dict[str, list[_Offer]]:
    out: dict[str, list[_Offer]] = {"acceleration": []}
    for k, c in enumerate(XYZ):
        out[f"acceleration_{c}"] = [("acceleration", f"acceleration_{c}", k)]
        out["acceleration"] += out[f"acceleration_{c}"]
    for load in mechanism.loads:
        if isinstance(load, SpringDamper):
            name = f"{load.name}_force_density"
            out[name] = [("load", name, (load.name, "force_density", 0))]
        elif isinstance(load, Load):
            for attribute in ("force", "torque"):
                group = out.setdefault(f"{load.name}_{attribute}", [])
                for k, c in enumerate(XYZ):
                    name = f"{load.name}_{attribute}_{c}"
                    out[name] = [("load", name, (load.name, attribute, k))]
                    group += out[name]
    for joint in mechanism.joints:
        for name in joint.names(joint.forces):
            out[name] = [("held", name, joint)]
        if getattr(joint, "rest", None) is not None:
            name = f"{joint.name}_rest_{joint.positions[0]}"
            out[name] = [("rest", name, joint.name)]
    for symbol in (*mechanism.parameters, *mechanism.symbols):
        out.setdefault(symbol.name, [("symbol", symbol.name, symbol)])
    return out


def with_unknowns(mechanism: MechanismModel, u: Unknowns) -> Any:
    """The mechanism with symbols for what is unknown."""
    change = replacing(u.replaced)

    def own(joint: Joint) -> dict[str, Any]:
        held: dict[str, Any] = {"actuated": True} if joint.name in u.held else {}
        return {**held, "rest": u.rests[joint.name], "actuated": False} if joint.name in u.rests else held

    acceleration = change(mechanism.acceleration)
    for k, symbol in u.acceleration.items():
        acceleration = _with_entry(acceleration, k, symbol)
    return mechanism.changed(change, joints=own, loads=u.load, acceleration=acceleration)
