"""The linearised block of each body and joint, and of the sensors on a port (design equations in each docstring).

Small motions are those of each body in its own frame, ``dx = [dphi; dp]``: every gain is rational, attitudes included.
Notation: R and r place a joint's child in its parent, S is the motion subspace, an overbar marks equilibrium values.
"""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp

from lftgen.lft.algebra import constant
from lftgen.lft.data import LFTData
from lftgen.lft.field import ExactField
from lftgen.mechanics.body import RigidBody
from lftgen.mechanics.joints import FreeJoint, Joint
from lftgen.mechanics.load_blocks import BodyInputs, load_matrix, load_terms, rotor_terms, spring_block
from lftgen.mechanics.loads import Action
from lftgen.mechanics.model import MechanismModel
from lftgen.mechanics.names import GROUND
from lftgen.mechanics.relations import Block, Bound, Relation, Signal, relation
from lftgen.mechanics.signals import BodySignals, JointSignals, bound, wrench_input
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


def body_block(
    body: RigidBody, joint: Joint, children: Sequence[Joint], inputs: BodyInputs, trim: Trim,
    actions: Sequence[Action] = (), *, exact: bool,
) -> Block:  # fmt: skip
    """Newton and Euler about the centre of mass, moved to the body's origin ([K] (2), (4); Featherstone 2.70).

    ``com_force = m (a + alpha x c)``, ``com_torque = I_c alpha``, and the wrench through the body's joint
    ``f = [com_torque + c x com_force; com_force] + [omega x h; 0] + reactions of the children - loads``; a load that
    keeps its reference components changes by ``-[dphi x T; dphi x F]`` in the body.
    """
    b, j = BodySignals(body.name), JointSignals(joint)
    point = Signal(f"{body.name}__com_acceleration", XYZ)
    force, torque = Signal(f"{body.name}__com_force", XYZ), Signal(f"{body.name}__com_torque", XYZ)
    inertia = body.inertia + joint.carried_inertia()
    reactions = [JointSignals(c).reaction for c in children]
    terms: list[tuple] = [
        (force, sp.Matrix.vstack(skew(body.com), _I3)),
        (torque, sp.Matrix.vstack(_I3, _Z3)),
        *((r, _I6) for r in reactions),
        *rotor_terms(body, inputs.rotors),
        *load_terms(body, actions, inputs.loads, trim),
    ]
    for port, kind in inputs.ports:
        terms.append((wrench_input(body.name, port, kind), -load_matrix(body.ports[port], kind)))
    relations = (
        relation(point, (b.acceleration, sp.Matrix.hstack(-skew(body.com), _I3))),
        relation(force, (point, body.mass * _I3)),
        relation(torque, (b.acceleration, sp.Matrix.hstack(inertia, _Z3))),
        relation(j.wrench, *terms),
    )
    outside = dict.fromkeys(t[0] for t in terms if t[0] not in (force, torque))
    return Block(body.name, (b.acceleration, *outside), (j.wrench,), relations, exact)


def joint_block(
    joint: Joint, trim: Trim, *, exact: bool, euler: bool = False, equilibrium: bool = True
) -> Block:
    """Motion from parent to child, wrench from child to parent ([K] (22), (23) with rotation vectors for Euler angles).

    ``da = X da_parent + S q'' + crm(a-bar) S q``, ``dx = X dx_parent + S q``, ``dv = X dv_parent + S q'``;
    in the parent's axes the wrench changes by ``R (df + crf(S) f-bar q)``; the drive is
    ``S^T df + dS^T f-bar + k q + d q' + armature q''``.  With ``euler`` a free joint also gives its Euler angles;
    without ``equilibrium`` the terms with ``a-bar`` and ``f-bar`` are left out.
    """
    j, parent, child = JointSignals(joint), BodySignals(joint.parent), BodySignals(joint.child)
    a_bar = bound(trim.acceleration[joint.child], f"{joint.child}_abar", ANGULAR_LINEAR)
    f_bar = bound(trim.wrench[joint.name], f"{joint.name}_fbar", TORQUE_FORCE)
    r, S, factors = joint.child_position, joint.subspace(), joint.rotation_factors()
    into_child = [turned(f.T) for f in reversed(factors)]
    out_of_child = [turned(f) for f in factors]
    relations: list[Relation] = []
    for signal, source, own in (
        (child.acceleration, parent.acceleration, j.acceleration),
        (child.displacement, parent.displacement, j.position),
        (child.twist, parent.twist, j.rate),
    ):
        terms: list[tuple] = [(source, *into_child, moved_motion(r))]
        if joint.dof:
            terms.append((own, S))
        if signal == child.acceleration and equilibrium:
            terms += _each(j.position, [(-motion_cross(S[:, k]), a_bar) for k in range(joint.dof)])
        relations.append(relation(signal, *terms))
    relations.append(relation(child.base, (parent.base, *(f.T for f in reversed(factors)))))
    turned_terms: list[tuple] = [(j.wrench, *out_of_child)]
    if joint.dof and equilibrium:
        last = out_of_child[-1]
        turns = [(*out_of_child[:-1], last * force_cross(S[:, k]), f_bar) for k in range(joint.dof)]
        turned_terms += _each(j.position, turns)
    relations.append(relation(j.wrench_parent, *turned_terms))
    relations.append(relation(j.reaction, (j.wrench_parent, moved_force(r))))
    outputs = [child.acceleration, child.displacement, child.twist, child.base, j.wrench_parent, j.reaction]
    if joint.dof:
        relations.append(_drive(joint, j, S, f_bar if equilibrium else None))
        outputs.append(j.drive)
    if euler and isinstance(joint, FreeJoint):
        attitude = Signal(joint.name, joint.positions[:3])
        relations.append(relation(j.euler, (attitude, joint.euler_factor())))
        outputs.append(j.euler)
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


def _drive(joint: Joint, j: JointSignals, S: sp.MatrixBase, f_bar: Bound | None) -> Relation:
    changes = [(joint.subspace_change(k).T, f_bar) for k in range(joint.dof)] if f_bar is not None else []
    candidates: list[tuple] = [
        (j.wrench, S.T),
        *_each(j.position, changes),
        (j.position, joint.stiffness_matrix()),
        (j.rate, joint.damping_matrix()),
        (j.acceleration, joint.armature_matrix()),
    ]
    return relation(j.drive, *(c for c in candidates if not c[1].is_zero_matrix))


def ground_block(*, base_moves: bool) -> LFTData:
    """The base: at rest but for the acceleration of the reference frame, an input."""
    g = BodySignals(GROUND)
    names = [n for s in (g.acceleration, g.displacement, g.twist, g.base) for n in s.names]
    field = ExactField()
    matrix = field.zeros(len(names), 3 if base_moves else 0)
    if base_moves:
        for k in range(3):
            matrix[3 + k, k] = matrix[18 + k, k] = field.element(1)
    return constant(matrix, field, [f"base_acceleration_{c}" for c in XYZ] if base_moves else [], names)


def all_blocks(mechanism: MechanismModel, trim: Trim) -> dict[str, Block]:
    """The block of each body with all its inputs, of each joint and of each spring, by name."""
    out: dict[str, Block] = {}
    for body in mechanism.bodies:
        joint, actions = mechanism.tree.joint_to(body.name), mechanism.tree.actions_on(body.name)
        inputs = BodyInputs(
            tuple((p, k) for p in body.ports for k in ("force", "torque")),
            tuple((a.load.name, k) for a in actions if a.load.kind != "spring" for k in ("force", "torque")),
            tuple(r.name for r in body.rotors),
        )
        children = mechanism.tree.joints_on(body.name)
        out[body.name] = body_block(body, joint, children, inputs, trim, actions, exact=trim.exact)
    for joint in mechanism.joints:
        out[joint.name] = joint_block(joint, trim, exact=trim.exact)
    for spring in mechanism.tree.springs:
        out[spring.name] = spring_block(spring, mechanism.tree.bodies, trim, exact=trim.exact)
    return out
