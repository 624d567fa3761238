"""Identities of forward and inverse dynamics on random trees, and the vector form against a loop."""

import numpy as np
import pytest

from lftgen.rigidbody import (
    Body,
    Joint,
    Load,
    Model,
    bias_force,
    equilibrium,
    forward_dynamics,
    inverse_dynamics,
    jacobian,
    kinematics,
    linearize,
    mass_matrix,
)

SEEDS = range(6)


@pytest.mark.parametrize("seed", SEEDS)
def test_inverse_of_forward_dynamics(seed, tree, error):
    """ID(FD(τ)) = τ with loads, rotors, springs, dampers, prescribed joint motion and a moving base."""
    rng = np.random.default_rng(seed)
    model = tree(rng, 5 * seed + 1, loads=4, momentum=True, armature=True, dampers=True)
    q, v, tau = rng.normal(size=(3, model.nq))
    more = {
        "wrenches": {"b0": rng.normal(size=6)},
        "base_acceleration": rng.normal(size=3),
        "prescribed": {"j0": (rng.normal(size=6), rng.normal(size=6))},
        "reference": rng.normal(size=model.nq),
    }
    qdd = forward_dynamics(model, q, v, tau, **more)
    assert error(inverse_dynamics(model, q, v, qdd, **more), tau) < 1e-9
    H, C = mass_matrix(model, q), bias_force(model, q, v, **more)
    assert error(np.linalg.solve(H, tau - C), qdd) < 1e-9


@pytest.mark.parametrize("seed", SEEDS)
def test_energy_balance(seed, tree):
    """d/dt (kinetic energy) = power of joint forces, gravity and loads."""
    rng = np.random.default_rng(seed)
    model = tree(rng, 7, loads=2, momentum=True)
    q, v, tau = rng.normal(size=(3, model.nq))
    qdd = forward_dynamics(model, q, v, tau)
    state = kinematics(model, q, v, qdd)
    rate, power = 0.0, tau @ v
    for body in model.bodies:
        vi, ai, R = state.velocity[body.name], state.acceleration[body.name], state.rotation[body.name]
        rate += vi @ body.inertia @ ai
        com_speed = vi[3:] + np.cross(vi[:3], body.com)
        power += body.mass * (R @ com_speed) @ model.gravity
    for load in model.loads:
        vi, R = state.velocity[load.body], state.rotation[load.body]
        axes = load.rotation if load.kind == "follower" else R.T
        speed = vi[3:] + np.cross(vi[:3], load.point)
        power += (axes @ load.force) @ speed + (axes @ load.torque) @ vi[:3]
    np.testing.assert_allclose(rate, power, rtol=1e-9)


def test_massless_bodies_between_joints_are_fine(tree):
    """A massless body inside a chain, and a spherical joint made of three hinges."""
    rod = Body("rod", 3.0, (0.4, 0.1, -1), np.diag([1, 1.2, 0.7]))
    none = [Body(name, 0.0, (0, 0, 0), np.zeros((3, 3))) for name in ("u", "v")]
    axes = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}
    chain = [("ground", "u", "x"), ("u", "v", "y"), ("v", "rod", "z")]
    three = Model([rod, *none], [Joint(f"J{a}", "revolute", p, c, axis=axes[a]) for p, c, a in chain])
    one = Model([rod], [Joint("B", "spherical", "ground", "rod")])
    tau = np.array([0.3, -0.2, 0.5])
    np.testing.assert_allclose(
        forward_dynamics(three, np.zeros(3), None, tau), forward_dynamics(one, np.zeros(3), None, tau)
    )


def test_vectorised_equals_loop(tree, error):
    """Masses, geometry, loads and configurations with batch axes against one point at a time."""
    N = 4
    rng = np.random.default_rng(3)
    many = tree(rng, 5, kinds=("revolute", "spherical", "fixed", "prismatic", "free"), batch=(N,), loads=3)
    q, v, tau = rng.normal(size=(3, N, many.nq))
    qdd, H = forward_dynamics(many, q, v, tau), mass_matrix(many, q)
    back, hold, plant = inverse_dynamics(many, q, v, qdd), equilibrium(many, q), linearize(many, q)
    for k in range(N):
        one = at_point(many, k)
        assert error(forward_dynamics(one, q[k], v[k], tau[k]), qdd[k]) < 1e-12
        assert error(mass_matrix(one, q[k]), H[k]) < 1e-12
        assert error(inverse_dynamics(one, q[k], v[k], qdd[k]), back[k]) < 1e-11
        assert error(equilibrium(one, q[k]).torque, hold.torque[k]) < 1e-12
        assert error(linearize(one, q[k]).A, plant.A[k]) < 1e-11
        assert error(jacobian(one, q[k], "b4"), jacobian(many, q, "b4")[k]) < 1e-12


def at_point(model, k):
    """The k-th mechanism of a batch."""
    bodies = [Body(b.name, b.mass[k], b.com[k], b.inertia_com[k]) for b in model.bodies]
    joints = [
        Joint(j.name, j.kind, j.parent, j.child, j.rotation[k], j.position[k], j.axis[k], actuated=True)
        for j in model.joints
    ]
    loads = [
        Load(x.name, x.body, x.point[k], x.rotation[k], x.force[k], x.torque[k], x.kind) for x in model.loads
    ]
    return Model(bodies, joints, gravity=model.gravity, loads=loads)


def test_block_size_changes_nothing(tree):
    """The memory bound of linearize cuts the columns, not the result."""
    rng = np.random.default_rng(5)
    model = tree(rng, 4, kinds=("revolute",), batch=(3,))
    q = rng.normal(size=(3, 4))
    whole, cut = linearize(model, q), linearize(model, q, block=4)
    np.testing.assert_array_equal(whole.A, cut.A)


@pytest.mark.parametrize("seed", SEEDS)
def test_jacobian_and_velocity(seed, tree, error):
    """J q̇ is the velocity that the recursion gives, for every body."""
    rng = np.random.default_rng(seed)
    model = tree(rng, 6)
    q, v = rng.normal(size=(2, model.nq))
    state = kinematics(model, q, v)
    for body in model.bodies:
        assert error(jacobian(model, q, body.name) @ v, state.velocity[body.name]) < 1e-12
