"""Derivatives: recursion against complex steps of every method, and against pinocchio."""

import numpy as np
import pytest

from lftgen.rigidbody import (
    ClosedModel,
    Joint,
    LoopJoint,
    Model,
    closed_forward_dynamics,
    complex_step_derivatives,
    divide_and_conquer,
    forward_dynamics,
    forward_dynamics_by,
    forward_dynamics_derivatives,
    inverse_dynamics,
    inverse_dynamics_derivatives,
)
from lftgen.rigidbody.tangent import retract, tangent_map


def compare(error, got, want, bound=1e-9):
    """All three Jacobians."""
    for name in ("q", "qd", "u"):
        assert error(getattr(got, name), getattr(want, name)) < bound, name


@pytest.mark.parametrize("seed", range(5))
def test_recursion_against_complex_step(seed, tree, error):
    """Inverse and forward dynamics, all joint kinds, loads, rotors, springs, dampers, armatures."""
    rng = np.random.default_rng(seed)
    model = tree(rng, 1 + 2 * seed, loads=3, momentum=True, armature=True, dampers=True)
    q, v, u = rng.normal(size=(3, model.nq))
    more = {"wrenches": {"b0": rng.normal(size=6)}, "base_acceleration": rng.normal(size=3)}
    more["reference"] = rng.normal(size=model.nq)
    want = complex_step_derivatives(model, lambda *x: inverse_dynamics(model, *x, **more), q, v, u)
    compare(error, inverse_dynamics_derivatives(model, q, v, u, **more), want)
    want = complex_step_derivatives(model, lambda *x: forward_dynamics(model, *x, **more), q, v, u)
    compare(error, forward_dynamics_derivatives(model, q, v, u, **more), want)


@pytest.mark.parametrize("method", ["standard", "mobility", "implicit", "divide"])
def test_every_method_has_the_same_derivatives(method, tree, error):
    """Complex steps pass through each assembly formula and divide-and-conquer."""
    rng = np.random.default_rng(3)
    model = tree(rng, 8, loads=2, momentum=True)
    q, v, u = rng.normal(size=(3, model.nq))
    plan = divide_and_conquer(model)
    if method == "divide":
        got = complex_step_derivatives(model, lambda *x: plan.forward_dynamics(*x).qdd, q, v, u)
    else:
        got = complex_step_derivatives(model, lambda *x: forward_dynamics_by(method, model, *x), q, v, u)
    compare(error, got, forward_dynamics_derivatives(model, q, v, u))


@pytest.mark.parametrize("seed", range(4))
def test_against_pinocchio(seed, tree, pinocchio, error):
    """computeRNEADerivatives and computeABADerivatives at rates and accelerations that do not vanish."""
    rng = np.random.default_rng(50 + seed)
    model = tree(rng, 2 + 2 * seed, armature=True)
    peer, pin = pinocchio.convert(model), pinocchio.pin
    q, v, u = rng.normal(size=(3, model.nq))
    args = (peer.model, peer.data, peer.q(q), v[peer.order], u[peer.order])
    pick = np.ix_(peer.order, peer.order)
    got = inverse_dynamics_derivatives(model, q, v, u)
    pin.computeRNEADerivatives(*args)
    assert error(got.q[pick], peer.data.dtau_dq) < 1e-9
    assert error(got.qd[pick], peer.data.dtau_dv) < 1e-9
    got = forward_dynamics_derivatives(model, q, v, u)
    pin.computeABADerivatives(*args)
    assert error(got.q[pick], peer.data.ddq_dq) < 1e-9
    assert error(got.qd[pick], peer.data.ddq_dv) < 1e-9


def test_batches(tree, error):
    """Batch axes of model and state."""
    rng = np.random.default_rng(0)
    model = tree(rng, 4, batch=(3,), loads=2)
    q, v, u = rng.normal(size=(3, 3, model.nq))
    many = forward_dynamics_derivatives(model, q, v, u)
    assert many.q.shape == (3, model.nq, model.nq)
    still = tree(np.random.default_rng(1), 4, loads=2)
    q, v, u = rng.normal(size=(3, 3, still.nq))
    many = forward_dynamics_derivatives(still, q, v, u)
    for k in range(3):
        one = forward_dynamics_derivatives(still, q[k], v[k], u[k])
        assert error(one.q, many.q[k]) < 1e-12
        assert error(one.qd, many.qd[k]) < 1e-12


def test_tangent_map_is_the_derivative_of_retract(tree, error):
    """Coordinates of rotated joints change by Q δ."""
    rng = np.random.default_rng(2)
    model = tree(rng, 6, kinds=("spherical", "free", "planar", "cylindrical"))
    q, h = rng.normal(size=model.nq) * 0.7, 1e-6
    steps = h * np.eye(model.nq)
    numeric = (retract(model, q, steps) - retract(model, q, -steps)).T / (2 * h)
    assert error(tangent_map(model, q), numeric) < 1e-8


def test_closed_loop_derivatives(tree, error):
    """Divide-and-conquer and loop forces agree in their derivatives by rates and torques."""
    rng = np.random.default_rng(4)
    bodies = tree(rng, 3, kinds=("revolute",)).bodies
    names = ["ground", "b0", "b1"]
    joints = [Joint(f"j{i}", "spherical", names[i], f"b{i}", position=rng.normal(size=3)) for i in range(3)]
    model = Model(bodies, joints)
    # the loop's points coincide at q = 0
    places = sum(joint.position for joint in joints)
    ends = {"position_predecessor": places + np.array([0.3, 0.2, 0.1]), "position_successor": (0.3, 0.2, 0.1)}
    closed = ClosedModel(model, [LoopJoint("L", "spherical", "ground", "b2", **ends)])
    q, u = np.zeros(9), rng.normal(size=9)
    plan = divide_and_conquer(closed)
    one = complex_step_derivatives(model, lambda *x: plan.forward_dynamics(*x).qdd, q, q, u)
    two = complex_step_derivatives(model, lambda *x: closed_forward_dynamics(closed, *x).qdd, q, q, u)
    compare(error, one, two)
