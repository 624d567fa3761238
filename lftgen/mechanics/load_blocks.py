"""Linearised loads, rotors and springs: terms of a body's block, and a block for each spring."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sympy as sp

from lftgen.lft.model import LFT
from lftgen.mechanics.body import Port, RigidBody
from lftgen.mechanics.loads import Action, SpringDamper, find_port
from lftgen.mechanics.names import GROUND
from lftgen.mechanics.relations import Block, Signal, relation
from lftgen.mechanics.signals import (
    BodySignals,
    bound,
    load_input,
    load_output,
    port_signal,
    pull_signal,
    rotor_input,
)
from lftgen.mechanics.spatial import TORQUE_FORCE, XYZ, moved_force, skew, turned
from lftgen.mechanics.trim import Trim

_I3, _Z3 = sp.eye(3), sp.zeros(3)


@dataclass(frozen=True)
class BodyInputs:
    """What acts on a body from outside in one model.

    ``ports``: (port, "force" or "torque"); ``loads``: (load, "force" or "torque"); ``rotors``: names.
    """

    ports: tuple[tuple[str, str], ...] = ()
    loads: tuple[tuple[str, str], ...] = ()
    rotors: tuple[str, ...] = ()


def load_matrix(port: Port, kind: str) -> sp.Matrix:
    """6x3: a force or torque in port axes as a wrench about the body's origin."""
    if kind == "torque":
        return sp.Matrix.vstack(port.rotation, _Z3)
    return sp.Matrix.vstack(skew(port.point) * port.rotation, port.rotation)


def rotor_terms(body: RigidBody, driven: Sequence[str]) -> list[tuple]:
    """``omega x h = -[h]x omega``, and the reaction of each driven rotor's motor torque."""
    terms: list[tuple] = []
    if not body.momentum.is_zero_matrix:
        twist = BodySignals(body.name).twist
        terms.append((Signal(twist.name, twist.suffixes[:3]), sp.Matrix.vstack(-skew(body.momentum), _Z3)))
    for rotor in body.rotors:
        if rotor.name in driven:
            terms.append((rotor_input(body.name, rotor.name), sp.Matrix.vstack(rotor.axis, sp.zeros(3, 1))))
    return terms


def load_terms(
    body: RigidBody, actions: Sequence[Action], inputs: Sequence[tuple[str, str]], trim: Trim
) -> list[tuple]:
    """Loads of a body: their turning back where they keep reference components, their inputs, the pull of springs."""
    displacement = BodySignals(body.name).displacement
    terms: list[tuple] = []
    for a in actions:
        place, turn = (
            body.ports[a.port],
            bound(trim.rotation[body.name].T, f"{body.name}_rotation_t", XYZ, XYZ),
        )
        to_origin = moved_force(place.point)
        if not a.turns and not _is_zero(trim.load[a.key]):
            wrench = bound(trim.load[a.key], f"{a.key}_bar", TORQUE_FORCE)
            for k in range(3):
                cross = turned(skew(_I3[:, k]))
                terms.append(
                    (Signal(displacement.name, (displacement.suffixes[k],)), to_origin * cross, wrench)
                )
        if a.load.kind == "spring":
            terms.append((pull_signal(a.load.name), -a.sign * to_origin[:, 3:], turn))
        for load, kind in inputs:
            if load == a.load.name:
                columns = to_origin[:, 3:] if kind == "force" else to_origin[:, :3]
                terms.append((load_input(load, kind), -columns, place.rotation if a.turns else turn))
    return terms


def load_sensor_block(
    body: RigidBody, a: Action, inputs: Sequence[tuple[str, str]], trim: Trim, *, exact: bool
) -> Block:
    """What a load applies, in the axes of its port: a load that keeps its reference components turns against them."""
    displacement, place = BodySignals(body.name).displacement, body.ports[a.port]
    turn = bound(trim.rotation[body.name].T, f"{body.name}_rotation_t", XYZ, XYZ)
    wrench = bound(trim.load[a.key], f"{a.key}_bar", TORQUE_FORCE)
    relations = []
    for kind, half in (("torque", sp.Matrix.hstack(_I3, _Z3)), ("force", sp.Matrix.hstack(_Z3, _I3))):
        terms: list[tuple] = [(Signal(displacement.name, displacement.suffixes[:3]), sp.zeros(3, 3))]
        if not a.turns:
            for k in range(3):
                component = Signal(displacement.name, (displacement.suffixes[k],))
                terms.append((component, -place.rotation.T * skew(_I3[:, k]) * half, wrench))
        if (a.load.name, kind) in inputs:
            terms.append((load_input(a.load.name, kind), *((_I3,) if a.turns else (place.rotation.T, turn))))
        relations.append(relation(load_output(a.load.name, kind), *terms))
    sources = (displacement, *(load_input(a.load.name, k) for n, k in inputs if n == a.load.name))
    return Block(
        f"{a.load.name}_sensor", sources, tuple(r.output for r in relations), tuple(relations), exact
    )


def _is_zero(value: LFT) -> bool:
    return not value.order and not any(v != 0 for v in value.M.flat)


def spring_block(spring: SpringDamper, bodies: Mapping[str, RigidBody], trim: Trim, *, exact: bool) -> Block:
    """``pull = K (dp_other - dp_port) + D (dv_other - dv_port)`` in reference axes."""
    K = bound(trim.spring_stiffness[spring.name], f"{spring.name}_K", XYZ, XYZ)
    D = bound(trim.spring_damping[spring.name], f"{spring.name}_D", XYZ, XYZ)
    terms: list[tuple] = []
    for sign, end in ((-1, spring.port), (1, spring.other)):
        if end == GROUND:
            continue
        body, port = find_port(end, bodies, f"spring {spring.name}")
        terms.append((port_signal(body, port, "position", True), K, sign * _I3))
        if spring.damping != 0:
            terms.append((port_signal(body, port, "velocity", True), D, sign * _I3))
    pull = pull_signal(spring.name)
    return Block(spring.name, tuple(t[0] for t in terms), (pull,), (relation(pull, *terms),), exact)
