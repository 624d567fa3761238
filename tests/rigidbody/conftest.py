"""Random trees, and the same trees handed to pinocchio from raw numbers."""

from types import SimpleNamespace

import numpy as np
import pytest

from lftgen.rigidbody import Body, Joint, Load, Model

ALL_KINDS = ("revolute", "prismatic", "fixed", "spherical", "free", "helical", "planar", "cylindrical")


def random_rotation(rng, batch=()):
    """Proper rotation matrices (*batch, 3, 3)."""
    Q = np.linalg.qr(rng.normal(size=(*batch, 3, 3)))[0]
    return Q * np.linalg.det(Q)[..., None, None]


def random_inertia(rng, batch=()):
    """Inertia tensors that obey the triangle rule."""
    R, second = random_rotation(rng, batch), rng.uniform(0.1, 1.0, size=(*batch, 3))
    principal = second.sum(axis=-1, keepdims=True) - second
    return R @ (principal[..., None] * np.swapaxes(R, -1, -2))


def random_tree(
    rng, n, *, kinds=ALL_KINDS, batch=(), loads=0, momentum=False, armature=False, dampers=False, serial=False
):
    """Random tree of n bodies; joints are given in a random order."""
    bodies, joints = [], []
    for i in range(n):
        h = rng.normal(size=(*batch, 3)) if momentum else np.zeros(3)
        bodies.append(
            Body(
                f"b{i}",
                rng.uniform(0.5, 2, batch),
                rng.normal(size=(*batch, 3)) / 2,
                random_inertia(rng, batch),
                h,
            )
        )
        parent = "ground" if i == 0 else f"b{i - 1 if serial else rng.integers(i)}"
        joints.append(
            Joint(
                f"j{i}",
                str(rng.choice(kinds)),
                parent,
                f"b{i}",
                rotation=random_rotation(rng, batch),
                position=rng.normal(size=(*batch, 3)),
                axis=rng.normal(size=(*batch, 3)),
                pitch=0.3,
                armature=rng.uniform(0, 1) if armature else 0.0,
                damping=rng.uniform(0, 1) if dampers else 0.0,
                stiffness=rng.uniform(0, 1) if dampers else 0.0,
                actuated=True,
            )
        )
    pushes = [
        Load(
            f"l{k}",
            f"b{rng.integers(n)}",
            rng.normal(size=(*batch, 3)),
            random_rotation(rng, batch),
            rng.normal(size=(*batch, 3)),
            rng.normal(size=(*batch, 3)),
            kind=("dead", "follower")[k % 2],
        )
        for k in range(loads)
    ]
    order = rng.permutation(n)
    gravity = rng.normal(size=3) * 5
    return Model(bodies, [joints[k] for k in order], gravity=gravity, loads=pushes)


@pytest.fixture
def tree():
    """The factory of random trees."""
    return random_tree


def relative(got, want):
    """Largest error relative to the largest entry wanted."""
    return np.abs(got - want).max(initial=0) / max(np.abs(want).max(initial=0), 1e-3)


@pytest.fixture
def error():
    """The relative error of two arrays."""
    return relative


def _depth_first(model):
    """Joints must be added depth-first: another order gives wrong results without a warning."""
    children = {i: [] for i in range(-1, len(model.links))}
    for i, link in enumerate(model.links):
        children[link.parent].append(i)
    stack, order = children[-1][::-1], []
    while stack:
        i = stack.pop()
        order.append(i)
        stack += children[i][::-1]
    return order


def _pinocchio_joint(pin, joint):
    """Joint model, frame turn C, map of coordinates, order of rates (ours, as pinocchio lists them)."""
    a, C = joint.axis, np.eye(3)
    quaternion = lambda phi: pin.Quaternion(pin.exp3(phi)).coeffs()  # noqa: E731
    if joint.kind == "revolute":
        return pin.JointModelRevoluteUnaligned(a), C, lambda q: q, [0]
    if joint.kind == "prismatic":
        return pin.JointModelPrismaticUnaligned(a), C, lambda q: q, [0]
    if joint.kind == "helical":
        return pin.JointModelHelicalUnaligned(a, float(joint.pitch)), C, lambda q: q, [0]
    if joint.kind == "cylindrical":
        both = pin.JointModelComposite(2)
        both.addJoint(pin.JointModelRevoluteUnaligned(a))
        both.addJoint(pin.JointModelPrismaticUnaligned(a))
        return both, C, lambda q: q, [0, 1]
    if joint.kind == "planar":
        S = joint.subspace
        C = np.column_stack([S[3:, 1], S[3:, 2], a])
        return pin.JointModelPlanar(), C, lambda q: np.r_[q[1:], np.cos(q[0]), np.sin(q[0])], [1, 2, 0]
    if joint.kind == "spherical":
        return pin.JointModelSpherical(), C, quaternion, [0, 1, 2]
    return pin.JointModelFreeFlyer(), C, lambda q: np.r_[q[3:], quaternion(q[:3])], [3, 4, 5, 0, 1, 2]


def to_pinocchio(pin, model):
    """The same tree in pinocchio: model, data, map of q, and order of rates (pin_v = v[order])."""
    pm = pin.Model()
    pm.gravity.linear = model.gravity - model.acceleration
    frames, turns, order, armature = {-1: (0, pin.SE3.Identity())}, [], [], []
    for i in _depth_first(model):
        link, joint = model.links[i], model.links[i].joint
        pid, offset = frames[link.parent]
        place = offset * pin.SE3(joint.rotation, joint.position)
        if joint.dof == 0:
            frames[i] = (pid, place)
        else:
            jm, C, to_q, rates = _pinocchio_joint(pin, joint)
            jid = pm.addJoint(pid, jm, place * pin.SE3(C, np.zeros(3)), joint.name)
            frames[i] = (jid, pin.SE3(C.T, np.zeros(3)))
            turns.append((link.dofs, to_q))
            order += [link.dofs.start + k for k in rates]
            armature += list(np.broadcast_to(joint.armature, (joint.dof,)))
        inertia = pin.Inertia(float(link.body.mass), link.body.com, link.body.inertia_com)
        pm.appendBodyToJoint(frames[i][0], inertia, frames[i][1])
    pm.armature = np.array(armature)
    return SimpleNamespace(
        model=pm,
        data=pm.createData(),
        order=np.array(order),
        frames=frames,
        q=lambda q: np.concatenate([to_q(q[dofs]) for dofs, to_q in turns]),
    )


@pytest.fixture
def pinocchio():
    """The module pinocchio and the bridge to it."""
    pin = pytest.importorskip("pinocchio")
    return SimpleNamespace(pin=pin, convert=lambda model: to_pinocchio(pin, model))
