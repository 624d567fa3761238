"""Closed loops: four-bar, slider-crank and a six-legged platform."""

import numpy as np
import pytest

from lftgen.rigidbody import (
    JointAcceleration,
    JointForce,
    JointPosition,
    JointRate,
    bias_force,
    closed_equilibrium,
    closed_forward_dynamics,
    closed_linearize,
    divide_and_conquer,
    kinematics,
    mass_matrix,
    rate_map,
    solve_posture,
)
from lftgen.rigidbody.posture import residual_and_jacobian
from lftgen.rigidbody.spatial import motion_transform
from lftgen.rigidbody.tangent import retract


@pytest.mark.parametrize("name", ["four_bar", "ball_bar", "slider_crank"])
def test_planar_mechanisms(name, error, mechanisms):
    """Articulated bodies with loop forces and divide-and-conquer against the mechanisms.augmented system."""
    closed = getattr(mechanisms, name)()
    rng = np.random.default_rng(0)
    for target in (0.4, 1.3, -0.8):
        start = mechanisms.OPEN if "D" in [j.name for j in closed.tree.joints] else [0.4, -0.5, 0.1]
        q = solve_posture(closed, start, {"A": target})
        v = rate_map(closed, q, ("A",))[:, 0] * 2.0
        tau = rng.normal(size=3)
        result = closed_forward_dynamics(closed, q, v, tau)
        assert error(result.qdd, mechanisms.augmented(closed, q, v, tau)) < 1e-8
        divided = divide_and_conquer(closed).forward_dynamics(q, v, tau)
        assert error(divided.qdd, result.qdd) < 1e-8


def test_four_bar_against_pinocchio(pinocchio, error, mechanisms):
    """Constrained dynamics of the four-bar."""
    pin, closed = pinocchio.pin, mechanisms.four_bar()
    peer = pinocchio.convert(closed.tree)
    q = solve_posture(closed, mechanisms.OPEN, {"A": 0.9})
    v = rate_map(closed, q, ("A",))[:, 0] * 1.5
    tau = np.array([0.7, -0.3, 0.4])
    ends = [(closed.tree.index(name), p) for name, p in (("coupler", 1.8), ("rocker", 1.3))]
    frames = [(peer.frames[i][0], pin.SE3(np.eye(3), np.array([p, 0, 0]))) for i, p in ends]
    (j1, M1), (j2, M2) = frames
    point = pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, peer.model, j1, M1, j2, M2)
    points, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    points.append(point)
    datas.append(point.createData())
    pin.initConstraintDynamics(peer.model, peer.data, points, datas)
    settings = pin.ProximalSettings(1e-14, 1e-10, 50)
    args = (peer.q(q), v[peer.order], tau[peer.order], points, datas, settings)
    want = pin.constraintDynamics(peer.model, peer.data, *args)
    assert error(closed_forward_dynamics(closed, q, v, tau).qdd[peer.order], want) < 1e-8
    assert error(divide_and_conquer(closed).forward_dynamics(q, v, tau).qdd[peer.order], want) < 1e-8


def test_redundant_constraints_are_reported(mechanisms):
    """A planar four-bar in 3-D: two bending moments and the force across the plane stay open."""
    closed = mechanisms.four_bar()
    q = solve_posture(closed, mechanisms.OPEN, {"A": 0.9})
    result = closed_forward_dynamics(closed, q)
    assert [u.components for u in result.undetermined] == [("C_tx", "C_ty", "C_fz")]
    divided = divide_and_conquer(closed).forward_dynamics(q)
    assert [len(u.components) for u in divided.undetermined] == [3]
    single = closed_forward_dynamics(mechanisms.ball_bar(), q).undetermined
    assert [u.components for u in single] == [("C_fz",)]


def test_spatial_platform(error, mechanisms):
    """Six legs: posture, velocities, divide-and-conquer, no redundant constraint."""
    closed = mechanisms.platform()
    q = solve_posture(closed, mechanisms.platform_start(closed), mechanisms.lengths(), step=0.02)
    assert np.abs(residual_and_jacobian(closed, q)[0]).max() < 1e-11
    G = rate_map(closed, q, tuple(mechanisms.lengths()))
    assert G.shape == (21, 6)
    rng = np.random.default_rng(0)
    v, tau = G @ rng.normal(size=6), rng.normal(size=21)
    result = closed_forward_dynamics(closed, q, v, tau)
    assert result.undetermined == ()
    divided = divide_and_conquer(closed).forward_dynamics(q, v, tau)
    assert error(divided.qdd, result.qdd) < 1e-8
    assert divided.undetermined == ()
    power = v @ (mass_matrix(closed.tree, q) @ result.qdd + bias_force(closed.tree, q, v) - tau)
    assert abs(power) < 1e-8  # loop forces do no work


def test_slider_crank_linear_model(mechanisms):
    """A21 = −V''(θ)/M(θ), B2 = 1/M(θ) with V and M from the geometry in closed form."""
    closed, theta = mechanisms.slider_crank(), 0.7
    q = solve_posture(closed, [0.4, -0.5, 0.1], {"A": theta})
    outputs = [f(name) for f in (JointPosition, JointRate, JointAcceleration) for name in "AB"]
    plant = closed_linearize(closed, q, ["A"], [JointForce("A")], outputs)

    def points(t):
        phi = -np.arcsin(0.4 * np.sin(t) / 1.1)  # the rod's angle from the guide
        crank, pin = np.array([0.2 * np.cos(t), 0.2 * np.sin(t)]), 0.4 * np.array([np.cos(t), np.sin(t)])
        rod = pin + 0.55 * np.array([np.cos(phi), np.sin(phi)])
        slide = np.array([pin[0] + 1.1 * np.cos(phi), 0 * t])
        return [(1.0, crank, 0.16 / 12, t), (1.5, rod, 1.5 * 1.21 / 12, phi), (2.0, slide, 0.1, 0 * t)]

    def slope(t):  # V'(θ) and M(θ) by complex step
        parts = [(m, p.imag / 1e-30, I, a.imag / 1e-30) for m, p, I, a in points(t + 1e-30j)]
        return sum(m * 9.81 * p[1] for m, p, _, _ in parts), sum(m * p @ p + I * a**2 for m, p, I, a in parts)

    h = 1e-4
    curvature = (slope(theta + h)[0] - slope(theta - h)[0]) / (2 * h)
    weight, inertia = slope(theta)
    np.testing.assert_allclose(closed_equilibrium(closed, q, ["A"]), [weight, 0, 0], atol=1e-10)
    np.testing.assert_allclose(plant.A, [[0, 1], [-curvature / inertia, 0]], rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(plant.B[1, 0], 1 / inertia, rtol=1e-10)
    ratio = rate_map(closed, q, ("A",))[1, 0]
    np.testing.assert_allclose(plant.C[:4], [[1, 0], [ratio, 0], [0, 1], [0, ratio]], atol=1e-12)
    np.testing.assert_allclose(plant.C[4], plant.A[1], atol=1e-12)
    # the rod accelerates by the ratio, and by its change times a velocity that is zero
    np.testing.assert_allclose(plant.C[5], ratio * plant.A[1], atol=1e-9)


@pytest.mark.parametrize("name", ["four_bar", "platform"])
def test_linear_model_against_finite_differences(name, error, mechanisms):
    """Redundant and spatial loops: complex step through the constraint forces against central differences."""
    closed = getattr(mechanisms, name)()
    names = ("A",) if name == "four_bar" else tuple(mechanisms.lengths())
    if name == "four_bar":
        q = solve_posture(closed, mechanisms.OPEN, {"A": 0.9})
    else:
        q = solve_posture(closed, mechanisms.platform_start(closed), mechanisms.lengths(), step=0.02)
    plant = closed_linearize(closed, q, names, [JointForce(name) for name in names])
    tau = closed_equilibrium(closed, q, names)
    columns = [closed.tree.links[closed.tree.joint_index(name)].dofs.start for name in names]
    G, h = rate_map(closed, q, names), 1e-4
    k = len(names)
    for j in range(k):
        values = []
        for sign in (1, -1):
            target = {
                n: q[c] + sign * h * (i == j) for i, (n, c) in enumerate(zip(names, columns, strict=True))
            }
            moved = solve_posture(closed, retract(closed.tree, q, sign * h * G[:, j]), target)
            values.append(closed_forward_dynamics(closed, moved, None, tau).qdd[columns])
        assert error((values[0] - values[1]) / (2 * h), plant.A[k:, j]) < 1e-5
    Y = np.linalg.inv(G.T @ mass_matrix(closed.tree, q) @ G)
    assert error(plant.B[k:], Y) < 1e-9


def test_batch_of_postures(error, mechanisms):
    """Postures, dynamics and linear models of many angles in one call."""
    closed = mechanisms.four_bar()
    angles = np.array([0.4, 0.9, 1.5])
    q = solve_posture(closed, mechanisms.OPEN, {"A": angles})
    plant = closed_linearize(closed, q, ["A"], [JointForce("A")])
    for k, angle in enumerate(angles):
        one = solve_posture(closed, mechanisms.OPEN, {"A": angle})
        assert error(one, q[k]) < 1e-9
        assert error(closed_linearize(closed, one, ["A"], [JointForce("A")]).A, plant.A[k]) < 1e-7
    qdd = closed_forward_dynamics(closed, q).qdd
    assert error(divide_and_conquer(closed).forward_dynamics(q).qdd, qdd) < 1e-8


@pytest.mark.heavy
def test_posture_keeps_its_branch(mechanisms):
    """A full turn of the crank returns to the start; the other branch stays the other branch."""
    closed = mechanisms.four_bar()
    q = solve_posture(closed, mechanisms.OPEN, {"A": 0.5})
    turn = solve_posture(closed, q, {"A": 0.5 + 2 * np.pi})
    np.testing.assert_allclose(turn - q, [2 * np.pi, -2 * np.pi, 0], atol=1e-9)
    for stride in (0.7, 1.5, 3.0):  # halved where the correction is large against the step
        for target in (2.5, -2.0, 4.0):
            want = solve_posture(closed, q, {"A": target}, step=0.02)
            np.testing.assert_allclose(solve_posture(closed, q, {"A": target}, step=stride), want, atol=1e-9)
    other = solve_posture(closed, [1.0, -2.0, -2.0], {"A": 0.5})
    assert abs(other[2] - q[2]) > 1


def test_stabilization_pulls_a_drifted_loop_back(mechanisms):
    """With a residual r and at rest the loop accelerates by −β² r."""
    closed = mechanisms.four_bar()
    q = solve_posture(closed, mechanisms.OPEN, {"A": 0.9}) + np.array([0, 1e-4, 0])
    r, K = residual_and_jacobian(closed, q)
    for solve in (
        lambda **more: closed_forward_dynamics(closed, q, **more),
        lambda **more: divide_and_conquer(closed).forward_dynamics(q, **more),
    ):
        drift = solve(stabilization=(5.0, 10.0)).qdd - solve().qdd
        np.testing.assert_allclose(K @ drift, -100 * r, atol=1e-9)
        v = np.array([0.3, -0.2, 0.5])  # a rate that opens the loop
        drift = solve(qd=v, stabilization=(5.0, 0.0)).qdd - solve(qd=v).qdd
        np.testing.assert_allclose(K @ drift, -10 * K @ v, atol=1e-9)


def test_undetermined_forces_do_not_move_anything(error, mechanisms):
    """Any multiple of the reported wrenches, on the rocker and back on the coupler, leaves the motion alone."""
    closed = mechanisms.four_bar()
    q = solve_posture(closed, mechanisms.OPEN, {"A": 0.9})
    plain = closed_forward_dynamics(closed, q)
    wrench = plain.undetermined[0].basis @ np.array([3.0, -2.0, 5.0])
    state = kinematics(closed.tree, q)
    turn = state.rotation["coupler"].T @ state.rotation["rocker"]
    to_rocker = motion_transform(np.eye(3), np.array([1.3, 0, 0]))
    to_coupler = motion_transform(turn, np.array([1.8, 0, 0]))
    pushes = {"rocker": to_rocker.T @ wrench, "coupler": -to_coupler.T @ wrench}
    assert error(closed_forward_dynamics(closed, q, wrenches=pushes).qdd, plain.qdd) < 1e-9
    assert error(divide_and_conquer(closed).forward_dynamics(q, wrenches=pushes).qdd, plain.qdd) < 1e-9
    along = {"rocker": to_rocker.T @ [0, 0, 0, 0, 5.0, 0]}  # a force that does
    assert error(closed_forward_dynamics(closed, q, wrenches=along).qdd, plain.qdd) > 0.1


@pytest.mark.parametrize("size", [1e-4, 1e-2, 1e3])
def test_size_does_not_decide_ranks(size, error, mechanisms):
    """A four-bar of a tenth of a millimetre or of kilometres: same redundancy, accelerations ~ 1/size."""
    reference = mechanisms.four_bar()
    q = solve_posture(reference, mechanisms.OPEN, {"A": 0.9})
    want = closed_forward_dynamics(reference, q).qdd
    closed = mechanisms.four_bar(size=size)
    q = solve_posture(closed, q, {"A": 0.9})
    result, divided = closed_forward_dynamics(closed, q), divide_and_conquer(closed).forward_dynamics(q)
    assert [len(u.components) for u in result.undetermined] == [3]
    assert [len(u.components) for u in divided.undetermined] == [3]
    assert error(result.qdd * size, want) < 1e-7
    assert error(divided.qdd * size, want) < 1e-7
