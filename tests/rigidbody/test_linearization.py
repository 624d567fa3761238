"""Every input and output against a world-frame model written here, without spatial algebra."""

import numpy as np
import pytest

from lftgen.rigidbody import (
    BaseAcceleration,
    JointForce,
    JointWrench,
    PortForce,
    PortOutput,
    linearize,
)

H = 1e-30
PORT, TURN = np.array([0.3, -0.4, 0.2]), np.linalg.qr(np.arange(9).reshape(3, 3) ** 1.5 + np.eye(3))[0]
TURN = TURN * np.linalg.det(TURN)
QUANTITIES = (
    "position",
    "attitude",
    "velocity",
    "rate",
    "acceleration",
    "angular_acceleration",
    "specific_force",
)


def turn(axis, angle):
    """Rotation about a unit axis."""
    x, y, z = axis
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * (K @ K)


class WorldModel:
    """Tree of revolute, prismatic and fixed joints: H(q) q̈ = Q(q) at rest, all in reference axes."""

    def __init__(self, model):
        self.model = model

    def frames(self, q):
        """Rotation, origin and world axis of each link."""
        out = []
        for link in self.model.links:
            R, p = out[link.parent][:2] if link.parent >= 0 else (np.eye(3), np.zeros(3))
            j = link.joint
            p, R = p + R @ j.position, R @ j.rotation
            axis = R @ j.axis
            if j.kind == "revolute":
                R = R @ turn(j.axis, q[link.dofs.start])
            if j.kind == "prismatic":
                p = p + axis * q[link.dofs.start]
            out.append((R, p, axis))
        return out

    def jacobians(self, frames, i, x):
        """Linear and angular Jacobians of a world point x fixed in link i."""
        Jv, Jw = np.zeros((2, 3, self.model.nq), complex)
        while i >= 0:
            link, (_, p, axis) = self.model.links[i], frames[i]
            if link.joint.kind == "revolute":
                Jv[:, link.dofs.start], Jw[:, link.dofs.start] = np.cross(axis, x - p), axis
            if link.joint.kind == "prismatic":
                Jv[:, link.dofs.start] = axis
            i = link.parent
        return Jv, Jw

    def accelerate(self, q, tau, wrench, base):
        """Accelerations at rest; wrench = (body, force, torque) at PORT in TURN axes."""
        frames, model = self.frames(q), self.model
        M = np.zeros((model.nq, model.nq), complex)
        Q = tau.astype(complex)
        for i, link in enumerate(model.links):
            R, p, _ = frames[i]
            body = link.body
            Jv, Jw = self.jacobians(frames, i, p + R @ body.com)
            M += body.mass * Jv.T @ Jv + Jw.T @ (R @ body.inertia_com @ R.T) @ Jw
            Q += body.mass * Jv.T @ (model.gravity - model.acceleration - base)
        pushes = [(x.body, x.point, x.rotation, x.force, x.torque, x.kind) for x in model.loads]
        pushes.append((wrench[0], PORT, TURN, wrench[1], wrench[2], "follower"))
        for name, point, rotation, force, torque, kind in pushes:
            i = model.index(name)
            R, p, _ = frames[i]
            axes = R @ rotation if kind == "follower" else np.eye(3)
            Jv, Jw = self.jacobians(frames, i, p + R @ point)
            Q += Jv.T @ (axes @ force) + Jw.T @ (axes @ torque)
        return np.linalg.solve(M, Q)


def world_linearization(model, q, measure, body):
    """[q̈; y] derivatives by (q, u) with u = joint forces, port force, port torque, base acceleration."""
    world, n = WorldModel(model), model.nq
    none = (body, np.zeros(3), np.zeros(3))
    bias = -_generalised_force(world, q)
    columns = []
    for k in range(2 * n + 9):
        z = np.zeros(2 * n + 9, complex)
        z[k] = 1j * H
        dq, tau, F, T, base = np.split(z, [n, 2 * n, 2 * n + 3, 2 * n + 6])
        wrench = (none[0], F, T)
        qdd = world.accelerate(q + dq, bias + tau, wrench, base)
        columns.append(np.concatenate([qdd, measure(world, q + dq, qdd, base)]).imag / H)
    return np.array(columns).T


def _generalised_force(world, q):
    """Loads and weight in joint coordinates, from two solutions with unit torques."""
    n, none = len(q), (world.model.bodies[0].name, np.zeros(3), np.zeros(3))
    a0 = world.accelerate(q, np.zeros(n), none, np.zeros(3)).real
    inverse = np.array([world.accelerate(q, e, none, np.zeros(3)).real - a0 for e in np.eye(n)]).T
    return np.linalg.solve(inverse, a0)


def port_measures(body, frame):
    """Position, attitude, velocity-like parts from the world model, in port or reference axes."""

    def measure(world, q, qdd, base):
        i = world.model.index(body)
        R, p, _ = world.frames(q)[i]
        R0, p0, _ = world.frames(q.real)[i]
        x, x0 = p + R @ PORT, p0 + R0 @ PORT
        Jv, Jw = world.jacobians(world.frames(q), i, x)
        W = R @ R0.T  # finite turn in reference axes
        phi = np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]]) / 2
        a, alpha = Jv @ qdd, Jw @ qdd
        proper = a + world.model.acceleration + base - world.model.gravity
        fixed = [x - x0, phi]
        moving = [0 * a, 0 * a, a, alpha, proper]
        if frame == "port":
            fixed = [(R0 @ TURN).T @ f for f in fixed]
            moving = [(R @ TURN).T @ m for m in moving]
        return np.concatenate(fixed + moving)

    return measure


def channels(model, body):
    """Inputs in the order of the world model."""
    inputs = [JointForce(j.name, k) for j in model.joints for k in range(j.dof)]
    inputs += [PortForce(body, PORT, TURN, kind, c) for kind in ("force", "torque") for c in range(3)]
    return inputs + [BaseAcceleration(c) for c in range(3)]


def grounded(tree, seed):
    """Tree of one-DoF joints under dead and follower loads, with a moving reference frame."""
    rng = np.random.default_rng(seed)
    model = tree(rng, 5, kinds=("revolute", "prismatic", "revolute", "fixed"), loads=4)
    object.__setattr__(model, "acceleration", rng.normal(size=3))
    return model, rng.normal(size=model.nq), f"b{rng.integers(5)}"


def split(plant, n):
    """[q̈; y] rows over (q, u) columns."""
    return np.vstack([np.hstack([plant.A[n:, :n], plant.B[n:]]), np.hstack([plant.C[:, :n], plant.D])])


@pytest.mark.parametrize("frame", ["port", "reference"])
@pytest.mark.parametrize("seed", range(5))
def test_ports_and_inputs(seed, frame, tree, error):
    """Joint forces, port wrenches, base acceleration, dead and follower loads; all port outputs."""
    model, q, body = grounded(tree, seed)
    outputs = [PortOutput(body, PORT, TURN, x, c, frame) for x in QUANTITIES for c in range(3)]
    plant = linearize(model, q, channels(model, body), outputs)
    want = world_linearization(model, q, port_measures(body, frame), body)
    n = model.nq
    assert error(split(plant, n), want) < 1e-10
    rates = np.zeros((len(outputs), n))  # velocities and rates read the rate states only
    world = WorldModel(model)
    i = model.index(body)
    frames = world.frames(q)
    R, p, _ = frames[i]
    Jv, Jw = world.jacobians(frames, i, p + R @ PORT)
    axes = (R @ TURN).T if frame == "port" else np.eye(3)
    rates[6:9], rates[9:12] = (axes @ Jv).real, (axes @ Jw).real
    assert error(plant.C[:, n:], rates) < 1e-12
    assert error(plant.A[n:, n:], np.zeros((n, n))) < 1e-12


def joint_wrench(model, joint, frame):
    """Wrench on the child from the momentum of all that it carries, in reference axes, then turned."""
    i = model.joint_index(joint)

    def carried(k):
        while k > i:
            k = model.links[k].parent
        return k == i

    def measure(world, q, qdd, base):
        frames, model = world.frames(q), world.model
        origin = frames[i][1] if frame == "child" else world.frames(q.real)[i][1]
        if frame == "parent":  # the point is fixed in the parent, which moves
            k = model.links[i].parent
            (R, p, _), (R0, p0, _) = (
                (frames[k], world.frames(q.real)[k]) if k >= 0 else 2 * [(np.eye(3), 0, 0)]
            )
            origin = p + R @ R0.T @ (origin - p0)
        force, torque = np.zeros((2, 3), complex)
        for k, link in enumerate(model.links):
            if not carried(k):
                continue
            R, p, _ = frames[k]
            c = p + R @ link.body.com
            Jv, Jw = world.jacobians(frames, k, c)
            f = link.body.mass * (Jv @ qdd + base + model.acceleration - model.gravity)
            force, torque = force + f, torque + np.cross(c - origin, f)
            torque = torque + R @ link.body.inertia_com @ R.T @ (Jw @ qdd)
        for load in model.loads:
            k = model.index(load.body)
            if carried(k):
                R, p, _ = frames[k]
                axes = R @ load.rotation if load.kind == "follower" else np.eye(3)
                force = force - axes @ load.force
                torque = (
                    torque - axes @ load.torque - np.cross(p + R @ load.point - origin, axes @ load.force)
                )
        k = i if frame == "child" else model.links[i].parent
        axes = frames[k][0].T if k >= 0 else np.eye(3)
        return np.concatenate([axes @ torque, axes @ force])

    return measure


@pytest.mark.parametrize("frame", ["child", "parent"])
@pytest.mark.parametrize("seed", range(5))
def test_joint_wrenches(seed, frame, tree, error):
    """Change of the wrench through each joint, in the child's and in the parent's axes."""
    model, q, _ = grounded(tree, seed)
    n = model.nq
    for link in model.links:
        outputs = [JointWrench(link.joint.name, c, frame) for c in range(6)]
        root = model.links[0].body.name
        inputs = [c for c in channels(model, root) if not isinstance(c, PortForce)]
        plant = linearize(model, q, inputs, outputs)
        want = world_linearization(model, q, joint_wrench(model, link.joint.name, frame), root)
        want = np.delete(want, slice(2 * n, 2 * n + 6), axis=1)  # port wrenches are left out here
        assert error(split(plant, n), want) < 1e-10
