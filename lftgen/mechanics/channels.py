"""Names of inputs and outputs: which there are, and what each means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sympy as sp

from lftgen.arguments import items
from lftgen.errors import ModelError
from lftgen.mechanics.joints import FreeJoint
from lftgen.mechanics.loads import Load
from lftgen.mechanics.names import unknown
from lftgen.mechanics.relations import Signal
from lftgen.mechanics.sensors import PORT_QUANTITIES
from lftgen.mechanics.signals import (
    JointSignals,
    load_input,
    load_output,
    port_signal,
    pull_signal,
    rotor_input,
    wrench_input,
)
from lftgen.mechanics.spatial import XYZ
from lftgen.mechanics.tree import Tree


@dataclass(frozen=True)
class Channel:
    """One scalar input or output.

    Attributes
    ----------
    kind : str
        Inputs: ``joint force``, ``port force``, ``port torque``, ``load force``, ``load torque``, ``rotor torque``,
        ``base acceleration``.  Outputs: ``joint position``, ``joint rate``, ``joint acceleration``, ``joint euler``,
        ``joint wrench``, ``joint wrench parent``, ``load force``, ``load torque``, ``spring pull``, ``port``.
    owner, port : str
        Joint, load or body, and the body's port (or rotor).
    component : int
        Position in the vector.
    quantity : str
        Of a port: ``position``, ``attitude``, ...
    reference : bool
        Of a port: in reference axes.
    gains : tuple
        Of a joint force: the generalised force that one unit makes.
    """

    name: str
    kind: str
    owner: str = ""
    port: str = ""
    component: int = 0
    quantity: str = ""
    reference: bool = False
    gains: tuple[sp.Expr, ...] = ()


def input_channels(tree: Tree) -> dict[str, Channel]:
    """Every input that a mechanism offers, by name."""
    out: dict[str, Channel] = {}
    for joint in tree.joints:
        for name, gains in joint.force_inputs().items():
            out[name] = Channel(name, "joint force", joint.name, gains=tuple(gains))
    for body in tree.bodies.values():
        for port in body.ports:
            for kind in ("force", "torque"):
                _add(out, wrench_input(body.name, port, kind), f"port {kind}", body.name, port=port)
        for rotor in body.rotors:
            _add(out, rotor_input(body.name, rotor.name), "rotor torque", body.name, port=rotor.name)
    for action in tree.actions:
        if isinstance(action.load, Load):
            for kind in ("force", "torque"):
                _add(out, load_input(action.load.name, kind), f"load {kind}", action.load.name)
    _add(out, Signal("base_acceleration", XYZ), "base acceleration")
    return out


def output_channels(tree: Tree) -> dict[str, Channel]:
    """Every output that a mechanism offers, by name."""
    out: dict[str, Channel] = {}
    for joint in tree.joints:
        j = JointSignals(joint)
        for kind, signal in (
            ("joint position", j.position),
            ("joint rate", j.rate),
            ("joint acceleration", j.acceleration),
            ("joint wrench", j.wrench),
            ("joint wrench parent", j.wrench_parent),
        ):
            _add(out, signal, kind, joint.name)
        if isinstance(joint, FreeJoint):
            _add(out, j.euler, "joint euler", joint.name)
    for action in tree.actions:
        if isinstance(action.load, Load):
            for kind in ("force", "torque"):
                _add(out, load_output(action.load.name, kind), f"load {kind}", action.load.name)
    for spring in tree.springs:
        _add(out, pull_signal(spring.name), "spring pull", spring.name)
    for body in tree.bodies.values():
        for port in body.ports:
            for quantity in PORT_QUANTITIES:
                for reference in (False, True):
                    signal = port_signal(body.name, port, quantity, reference)
                    _add(out, signal, "port", body.name, port=port, quantity=quantity, reference=reference)
    return out


def _add(
    out: dict[str, Channel],
    signal: Signal,
    kind: str,
    owner: str = "",
    *,
    port: str = "",
    quantity: str = "",
    reference: bool = False,
) -> None:
    for k, name in enumerate(signal.names):
        if name in out:
            raise ModelError(
                f"the signal name {name} would mean two things ({out[name].owner} and {owner}); rename a port, body or joint"
            )
        out[name] = Channel(name, kind, owner, port=port, component=k, quantity=quantity, reference=reference)


def resolve(names: Sequence[str], channels: Mapping[str, Channel], what: str) -> list[Channel]:
    """Channels of a list of names; a group name stands for its components.

    Raises
    ------
    ModelError
        Unknown names (close ones are listed), a name twice.
    """
    if isinstance(names, str):
        raise ModelError(f"{what}s must be a list of names, got the string {names!r}; write [{names!r}]")
    out: list[Channel] = []
    for name in items(names, f"{what}s", str):
        if name in channels:
            out.append(channels[name])
            continue
        group = [channels[f"{name}_{s}"] for s in _SUFFIXES if f"{name}_{s}" in channels]
        if not group:
            groups = {n.rsplit("_", 1)[0] for n in channels if n.rsplit("_", 1)[1] in _SUFFIXES}
            raise unknown(str(name), [*channels, *sorted(groups)], what)
        out += group
    seen: set[str] = set()
    for c in out:
        if c.name in seen:
            raise ModelError(f"{what} {c.name} is asked for twice")
        seen.add(c.name)
    return out


_SUFFIXES = ("tx", "ty", "tz", "fx", "fy", "fz", "x", "y", "z")
