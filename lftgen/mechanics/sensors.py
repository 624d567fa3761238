"""Sensors on a port: small motion, velocity, acceleration, what an accelerometer reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sympy as sp

from lftgen.mechanics.body import RigidBody
from lftgen.mechanics.relations import Block, Signal, relation
from lftgen.mechanics.signals import BodySignals, bound, port_signal
from lftgen.mechanics.spatial import ANGULAR_LINEAR, XYZ, motion_cross, moved_motion
from lftgen.mechanics.trim import Trim

_I3, _Z3, _I6 = sp.eye(3), sp.zeros(3), sp.eye(6)


@dataclass(frozen=True)
class PortQuantity:
    """What can be read at a port: the body signal it comes from, and which half of the moved vector."""

    source: str
    half: str


PORT_QUANTITIES = {
    "position": PortQuantity("displacement", "linear"),
    "attitude": PortQuantity("displacement", "angular"),
    "velocity": PortQuantity("twist", "linear"),
    "rate": PortQuantity("twist", "angular"),
    "acceleration": PortQuantity("acceleration", "linear"),
    "angular_acceleration": PortQuantity("acceleration", "angular"),
    "specific_force": PortQuantity("acceleration", "linear"),
}
"""Quantities by name; ``acceleration`` is kinematic, ``specific_force`` what an accelerometer reads."""


def sensor_block(
    body: RigidBody,
    port: str,
    wanted: Sequence[tuple[str, bool]],
    trim: Trim,
    *,
    base_moves: bool,
    exact: bool,
) -> Block:
    """Motion of a port: ``X_P`` applied to the body's small motion; a kinematic acceleration leaves gravity out.

    ``X_P (da - crm(a-bar) dx)`` less the base's own acceleration is the acceleration relative to the reference frame.
    The specific force in reference axes is the change of that vector: as its components in the port's axes change, so do
    the axes, and gravity drops out.
    """
    b, place = BodySignals(body.name), body.ports[port]
    a_bar = bound(trim.acceleration[body.name], f"{body.name}_abar", ANGULAR_LINEAR)
    turn = bound(trim.rotation[body.name], f"{body.name}_rotation", XYZ, XYZ)
    half = {"linear": moved_motion(place.point)[3:, :], "angular": sp.Matrix.hstack(_I3, _Z3)}
    relations, outputs = [], []
    for quantity, reference in wanted:
        kind = PORT_QUANTITIES[quantity]
        source = getattr(b, kind.source)
        in_body: list[tuple] = [(source, half[kind.half])]
        if quantity == "acceleration" or (quantity == "specific_force" and reference):
            in_body += [
                (Signal(b.displacement.name, (s,)), half["linear"] * motion_cross(_I6[:, k]), a_bar)
                for k, s in enumerate(b.displacement.suffixes)
            ]
            if base_moves and quantity == "acceleration":
                in_body.append((b.base, -_I3))
        output = port_signal(body.name, port, quantity, reference)
        unturned = Signal(f"{output.name}_in_body_axes", XYZ)
        relations += [
            relation(unturned, *in_body),
            relation(output, (unturned, turn if reference else place.rotation.T)),
        ]
        outputs.append(output)
    return Block(
        f"{body.name}_{port}",
        (b.acceleration, b.displacement, b.twist, b.base),
        tuple(outputs),
        tuple(relations),
        exact,
    )
