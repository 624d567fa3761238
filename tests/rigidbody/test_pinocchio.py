"""The room against pinocchio, from raw numbers."""

import numpy as np
import pytest

from lftgen.rigidbody import (
    Body,
    Joint,
    JointForce,
    Model,
    chain_of_joints,
    forward_dynamics,
    inverse_dynamics,
    linearize,
    mass_matrix,
)

SEEDS = range(8)


def _state(rng, model):
    return rng.normal(size=(3, model.nq))


@pytest.mark.parametrize("seed", SEEDS)
def test_rnea_crba_aba(seed, tree, pinocchio, error):
    """Inverse dynamics, inertia matrix and forward dynamics of trees of all joint kinds."""
    rng = np.random.default_rng(seed)
    model = tree(rng, 1 + 2 * seed, armature=True)
    peer, pin = pinocchio.convert(model), pinocchio.pin
    q, v, x = _state(rng, model)
    args = (peer.model, peer.data, peer.q(q), v[peer.order])
    assert error(inverse_dynamics(model, q, v, x)[peer.order], pin.rnea(*args, x[peer.order])) < 1e-9
    assert error(forward_dynamics(model, q, v, x)[peer.order], pin.aba(*args, x[peer.order])) < 1e-9
    H = np.triu(pin.crba(peer.model, peer.data, peer.q(q)))
    H = H + np.triu(H, 1).T
    assert error(mass_matrix(model, q)[np.ix_(peer.order, peer.order)], H) < 1e-9


@pytest.mark.parametrize("seed", SEEDS)
def test_external_wrenches(seed, tree, pinocchio, error):
    """A wrench on each body reaches the accelerations."""
    rng = np.random.default_rng(seed)
    model = tree(rng, 6, kinds=("revolute", "prismatic", "spherical", "free"))
    peer, pin = pinocchio.convert(model), pinocchio.pin
    q, v, tau = _state(rng, model)
    wrenches = {f"b{i}": rng.normal(size=6) for i in range(6)}
    fext = [pin.Force.Zero() for _ in range(peer.model.njoints)]
    for i, link in enumerate(model.links):
        w = wrenches[link.body.name]
        fext[peer.frames[i][0]] = pin.Force(w[3:], w[:3])
    want = pin.aba(peer.model, peer.data, peer.q(q), v[peer.order], tau[peer.order], fext)
    assert error(forward_dynamics(model, q, v, tau, wrenches=wrenches)[peer.order], want) < 1e-9


@pytest.mark.parametrize("seed", SEEDS)
def test_linearization(seed, tree, pinocchio, error):
    """The linearised dynamics about an equilibrium, all joint kinds."""
    rng = np.random.default_rng(100 + seed)
    model = tree(rng, 1 + seed, armature=True)
    peer, pin = pinocchio.convert(model), pinocchio.pin
    q, n = rng.normal(size=model.nq), model.nq
    inputs = [JointForce(j.name, k) for j in model.joints for k in range(j.dof)]
    plant = linearize(model, q, inputs)
    tau = inverse_dynamics(model, q)
    pin.computeABADerivatives(peer.model, peer.data, peer.q(q), np.zeros(n), tau[peer.order])
    pick = np.ix_(peer.order, peer.order)
    Minv = np.triu(peer.data.Minv)
    Minv = Minv + np.triu(Minv, 1).T
    assert error(plant.A[n:, :n][pick], peer.data.ddq_dq) < 1e-9
    assert error(plant.A[n:, n:][pick], peer.data.ddq_dv) < 1e-9
    assert error(plant.B[n:][pick], Minv) < 1e-9
    np.testing.assert_array_equal(plant.A[:n], np.eye(2 * n)[n:])
    np.testing.assert_array_equal(plant.B[:n], 0)


def test_universal_joint(pinocchio, error):
    """Two hinges with a massless body between against pinocchio's universal joint."""
    pin = pinocchio.pin
    rng = np.random.default_rng(0)
    x, y = np.array([1.0, 0, 0]), np.array([0, 0.6, 0.8])
    body = Body("b", 1.3, rng.normal(size=3), np.diag([1.0, 1.2, 0.7]))
    R, p = pin.exp3(rng.normal(size=3)), rng.normal(size=3)
    pair = [("revolute", x), ("revolute", y)]
    between, joints = chain_of_joints("U", "ground", "b", pair, rotation=R, position=p)
    tip = Body("tip", 0.7, (0, 0.2, 0), np.eye(3))
    joints.append(Joint("W", "fixed", "b", "tip", position=p))
    model = Model([body, tip, *between], joints)
    peer = pin.Model()
    peer.addJoint(0, pin.JointModelUniversal(x, y), pin.SE3(R, p), "U")
    peer.appendBodyToJoint(1, pin.Inertia(1.3, body.com, body.inertia_com), pin.SE3.Identity())
    peer.appendBodyToJoint(1, pin.Inertia(0.7, tip.com, tip.inertia_com), pin.SE3(np.eye(3), p))
    q, v, tau = rng.normal(size=(3, 2))
    want = pin.aba(peer, peer.createData(), q, v, tau)
    assert error(forward_dynamics(model, q, v, tau), want) < 1e-9
