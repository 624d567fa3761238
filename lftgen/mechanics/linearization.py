"""The linearised block of each body and joint, and of the sensors on a port (design equations in each docstring).

Small motions are those of each body in its own frame, ``dx = [dphi; dp]``: every gain is rational, attitudes included.
Notation: R and r place a joint's child in its parent, S is the motion subspace, an overbar marks equilibrium values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sympy as sp

from lftgen.lft.connect import renamed
from lftgen.lft.data import LFTData, default_names
from lftgen.lft.model import LFT
from lftgen.mechanics.body import Port, RigidBody
from lftgen.mechanics.joints import Joint
from lftgen.mechanics.relations import Block, Bound, Relation, Signal, relation
from lftgen.mechanics.spatial import (
    ANGULAR_LINEAR,
    TORQUE_FORCE,
    XYZ,
    force_cross,
    motion_cross,
    moved_force,
    moved_motion,
    skew,
    turned,
)
from lftgen.mechanics.trim import Trim

_I3, _Z3, _I6 = sp.eye(3), sp.zeros(3), sp.eye(6)


@dataclass(frozen=True)
class BodySignals:
    """Small-motion signals of a body's origin, body axes."""

    body: str

    @property
    def acceleration(self) -> Signal:
        """Change of the specific acceleration [angular; linear]."""
        return Signal(f"{self.body}_specific_acceleration", ANGULAR_LINEAR)

    @property
    def displacement(self) -> Signal:
        """[small rotation; small displacement]."""
        return Signal(f"{self.body}_displacement", ANGULAR_LINEAR)

    @property
    def twist(self) -> Signal:
        """[angular; linear] velocity."""
        return Signal(f"{self.body}_twist", ANGULAR_LINEAR)

    @property
    def base(self) -> Signal:
        """Acceleration of the reference frame in body axes."""
        return Signal(f"{self.body}_base_acceleration", XYZ)


@dataclass(frozen=True)
class JointSignals:
    """Signals of a joint."""

    joint: Joint

    @property
    def position(self) -> Signal:
        """Deviation of the coordinates."""
        return Signal(self.joint.name, self.joint.positions)

    @property
    def rate(self) -> Signal:
        """Rates of the coordinates."""
        return Signal(self.joint.name, self.joint.rates)

    @property
    def acceleration(self) -> Signal:
        """Accelerations of the coordinates."""
        return Signal(self.joint.name, self.joint.accelerations)

    @property
    def drive(self) -> Signal:
        """Change of the generalised forces that drive the joint."""
        return Signal(f"{self.joint.name}_drive", self.joint.forces)

    @property
    def wrench(self) -> Signal:
        """Change of the wrench on the child at the joint's origin, child's axes."""
        return Signal(f"{self.joint.name}_wrench", TORQUE_FORCE)

    @property
    def wrench_parent(self) -> Signal:
        """Change of the same wrench in the parent's axes."""
        return Signal(f"{self.joint.name}_wrench_parent", TORQUE_FORCE)

    @property
    def reaction(self) -> Signal:
        """Change of the same wrench about the parent's origin, parent's axes."""
        return Signal(f"{self.joint.name}_reaction", TORQUE_FORCE)


def bound(value: LFT, symbol: str, suffixes: Sequence[str], columns: Sequence[str] = ("",)) -> Bound:
    """An equilibrium value as symbols ``symbol_suffix`` and its LFT."""
    names = [[f"{symbol}_{s}{c}" for c in columns] for s in suffixes]
    data = value.data
    plain = renamed(data, inputs=default_names("u", data.shape[1]), outputs=default_names("y", data.shape[0]))
    return Bound(sp.ImmutableMatrix([[sp.Symbol(n, real=True) for n in row] for row in names]), plain)


def wrench_input(body: str, port: str, kind: str) -> Signal:
    """Force or torque input at a port, port axes."""
    return Signal(f"{body}_{port}_{kind}", XYZ)


def body_block(
    body: RigidBody, joint: Joint, children: Sequence[Joint], loads: Sequence[tuple[str, str]], *, exact: bool
) -> Block:
    """Newton and Euler about the centre of mass, moved to the body's origin ([K] (2), (4); Featherstone 2.70).

    ``com_force = m (a + alpha x c)``, ``com_torque = I_c alpha``, and the wrench through the body's joint
    ``f = [com_torque + c x com_force; com_force] + reactions of the children - loads``.

    ``loads`` are (port, "force" or "torque") inputs.
    """
    b, j = BodySignals(body.name), JointSignals(joint)
    point = Signal(f"{body.name}_com_acceleration", XYZ)
    force, torque = Signal(f"{body.name}_com_force", XYZ), Signal(f"{body.name}_com_torque", XYZ)
    inertia = body.inertia + joint.carried_inertia()
    reactions = [JointSignals(c).reaction for c in children]
    terms: list[tuple[Signal, sp.MatrixBase]] = [
        (force, sp.Matrix.vstack(skew(body.com), _I3)),
        (torque, sp.Matrix.vstack(_I3, _Z3)),
        *((r, _I6) for r in reactions),
    ]
    inputs = [b.acceleration, *reactions]
    for port, kind in loads:
        signal, place = wrench_input(body.name, port, kind), body.ports[port]
        inputs.append(signal)
        terms.append((signal, -_load_matrix(place, kind)))
    relations = (
        relation(point, (b.acceleration, sp.Matrix.hstack(-skew(body.com), _I3))),
        relation(force, (point, body.mass * _I3)),
        relation(torque, (b.acceleration, sp.Matrix.hstack(inertia, _Z3))),
        relation(j.wrench, *terms),
    )
    return Block(body.name, tuple(inputs), (j.wrench,), relations, exact)


def _load_matrix(port: Port, kind: str) -> sp.Matrix:
    """6x3: a force or torque in port axes as a wrench about the body's origin."""
    if kind == "torque":
        return sp.Matrix.vstack(port.rotation, _Z3)
    return sp.Matrix.vstack(skew(port.point) * port.rotation, port.rotation)


def joint_block(joint: Joint, trim: Trim, *, exact: bool) -> Block:
    """Motion from parent to child, wrench from child to parent ([K] (22), (23) with rotation vectors for Euler angles).

    ``da = X da_parent + S q'' + crm(a-bar) S q``, ``dx = X dx_parent + S q``, ``dv = X dv_parent + S q'``;
    in the parent's axes the wrench changes by ``R (df + crf(S) f-bar q)``; the drive is
    ``S^T df + k q + d q' + armature q''``.
    """
    j, parent, child = JointSignals(joint), BodySignals(joint.parent), BodySignals(joint.child)
    a_bar = bound(trim.acceleration[joint.child], f"{joint.child}_abar", ANGULAR_LINEAR)
    f_bar = bound(trim.wrench[joint.name], f"{joint.name}_fbar", TORQUE_FORCE)
    R, r, S = joint.child_rotation, joint.child_position, joint.subspace()
    into_child, out_of_child = turned(R.T), turned(R)
    relations: list[Relation] = []
    for signal, source, own in (
        (child.acceleration, parent.acceleration, j.acceleration),
        (child.displacement, parent.displacement, j.position),
        (child.twist, parent.twist, j.rate),
    ):
        terms: list[tuple] = [(source, into_child, moved_motion(r))]
        if joint.dof:
            terms.append((own, S))
        if signal == child.acceleration:
            terms += _each(j.position, [(-motion_cross(S[:, k]), a_bar) for k in range(joint.dof)])
        relations.append(relation(signal, *terms))
    relations.append(relation(child.base, (parent.base, R.T)))
    turned_terms: list[tuple] = [(j.wrench, out_of_child)]
    if joint.dof:
        turned_terms += _each(
            j.position, [(out_of_child * force_cross(S[:, k]), f_bar) for k in range(joint.dof)]
        )
    relations.append(relation(j.wrench_parent, *turned_terms))
    relations.append(relation(j.reaction, (j.wrench_parent, moved_force(r))))
    outputs = [child.acceleration, child.displacement, child.twist, child.base, j.wrench_parent, j.reaction]
    if joint.dof:
        relations.append(_drive(joint, j, S))
        outputs.append(j.drive)
    inputs = (
        parent.acceleration,
        parent.displacement,
        parent.twist,
        parent.base,
        j.position,
        j.rate,
        j.acceleration,
        j.wrench,
    )
    return Block(joint.name, inputs, tuple(outputs), tuple(relations), exact)


def _each(signal: Signal, factors: Sequence[tuple]) -> list[tuple]:
    """One term for each component of a signal."""
    return [(Signal(signal.name, (signal.suffixes[k],)), *f) for k, f in enumerate(factors)]


def _drive(joint: Joint, j: JointSignals, S: sp.MatrixBase) -> Relation:
    candidates = [
        (j.wrench, S.T),
        (j.position, joint.stiffness_matrix()),
        (j.rate, joint.damping_matrix()),
        (j.acceleration, joint.armature_matrix()),
    ]
    return relation(j.drive, *(c for c in candidates if not c[1].is_zero_matrix))


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


def port_signal(body: str, port: str, quantity: str, reference: bool) -> Signal:
    """Output of a sensor, in the port's axes or in reference axes."""
    return Signal(f"{body}_{port}_{quantity}" + ("_ref" if reference else ""), XYZ)


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
        if quantity == "acceleration":
            in_body += [
                (Signal(b.displacement.name, (s,)), half["linear"] * motion_cross(_I6[:, k]), a_bar)
                for k, s in enumerate(b.displacement.suffixes)
            ]
            if base_moves:
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


def ground_block(*, base_moves: bool) -> LFTData:
    """The base: at rest but for the acceleration of the reference frame, an input."""
    from lftgen.lft.algebra import constant
    from lftgen.lft.field import ExactField
    from lftgen.mechanics.names import GROUND

    g = BodySignals(GROUND)
    names = [n for s in (g.acceleration, g.displacement, g.twist, g.base) for n in s.names]
    field = ExactField()
    matrix = field.zeros(len(names), 3 if base_moves else 0)
    if base_moves:
        for k in range(3):
            matrix[3 + k, k] = matrix[18 + k, k] = field.element(1)
    return constant(matrix, field, [f"base_acceleration_{c}" for c in XYZ] if base_moves else [], names)
