"""Closed loops: four-bar, slider-crank and a six-legged platform."""

import numpy as np
import pytest

from lftgen.errors import IllPosedError, ModelError, TrimError
from lftgen.rigidbody import (
    Body,
    ClosedModel,
    Joint,
    JointAcceleration,
    JointForce,
    JointPosition,
    JointRate,
    LoopJoint,
    Model,
    bias_force,
    closed_equilibrium,
    closed_forward_dynamics,
    closed_linearize,
    divide_and_conquer,
    mass_matrix,
    rate_map,
    solve_posture,
)
from lftgen.rigidbody.posture import residual_and_jacobian, retract
from lftgen.rigidbody.spatial import rotation_exponential

TILT = rotation_exponential(np.array([0.3, -0.5, 0.8]))
GRAVITY = TILT @ np.array([0, -9.81, 0])


def bar(name, mass, length):
    """Bar along its x with a little thickness."""
    return Body(name, mass, (length / 2, 0, 0), np.diag([0.01, 1, 1]) * mass * length**2 / 12)


def four_bar(loop="revolute", **hinge):
    """Planar four-bar in a tilted plane: ground 2 m, crank 0.7, coupler 1.8, rocker 1.3; closed at C."""
    joints = [
        Joint("A", "revolute", "ground", "crank", rotation=TILT, **hinge),
        Joint("B", "revolute", "crank", "coupler", position=(0.7, 0, 0)),
        Joint("D", "revolute", "ground", "rocker", rotation=TILT, position=TILT @ [2.0, 0, 0]),
    ]
    bodies = [bar("crank", 1.0, 0.7), bar("coupler", 1.5, 1.8), bar("rocker", 2.0, 1.3)]
    ends = {"position_predecessor": (1.8, 0, 0), "position_successor": (1.3, 0, 0)}
    closing = LoopJoint("C", loop, "coupler", "rocker", **ends)
    return ClosedModel(Model(bodies, joints, gravity=GRAVITY), [closing])


OPEN = np.array([1.0, -0.6, 2.0])
"""Near the upper branch of the four-bar."""


def slider_crank():
    """Crank 0.4, rod 1.1, slider along the plane's x; closed by the slider's prismatic guide."""
    joints = [
        Joint("A", "revolute", "ground", "crank", rotation=TILT),
        Joint("B", "revolute", "crank", "rod", position=(0.4, 0, 0)),
        Joint("C", "revolute", "rod", "slider", position=(1.1, 0, 0)),
    ]
    bodies = [bar("crank", 1.0, 0.4), bar("rod", 1.5, 1.1), Body("slider", 2.0, (0, 0, 0), np.eye(3) * 0.1)]
    guide = LoopJoint("guide", "prismatic", "ground", "slider", rotation_predecessor=TILT, axis=(1, 0, 0))
    return ClosedModel(Model(bodies, joints, gravity=GRAVITY), [guide])


def platform():
    """Six legs (two hinges, a slide, a ball) under a platform; the ball of leg 0 is in the tree."""
    bodies = [Body("top", 10.0, (0, 0, 0.1), np.diag([1.0, 1.2, 2.0]))]
    joints, loops = [], []
    for k in range(6):
        foot = 1.2 * np.array([np.cos(k * np.pi / 3), np.sin(k * np.pi / 3), 0])
        spread = np.pi / 3 * (k + (0.35 if k % 2 else -0.35))
        head = 0.7 * np.array([np.cos(spread), np.sin(spread), 0])
        bodies += [
            Body(f"cross{k}", 0.2, (0, 0, 0), np.eye(3) * 0.01),
            Body(f"lower{k}", 1.0, (0, 0, 0.3), np.diag([0.1, 0.1, 0.01])),
            Body(f"upper{k}", 0.6, (0, 0, -0.2), np.diag([0.08, 0.08, 0.01])),
        ]
        joints += [
            Joint(f"x{k}", "revolute", "ground", f"cross{k}", axis=(1, 0, 0), position=foot),
            Joint(f"y{k}", "revolute", f"cross{k}", f"lower{k}", axis=(0, 1, 0)),
            Joint(f"s{k}", "prismatic", f"lower{k}", f"upper{k}", axis=(0, 0, 1)),
        ]
        if k == 0:
            # the platform's frame is in its middle
            bodies.append(Body("ball", 0.1, (0, 0, 0), np.eye(3) * 0.01))
            joints += [
                Joint("ball", "spherical", "upper0", "ball"),
                Joint("mount", "fixed", "ball", "top", position=-head),
            ]
        else:
            loops.append(LoopJoint(f"ball{k}", "spherical", f"upper{k}", "top", position_successor=head))
    return ClosedModel(Model(bodies, joints), loops)


def platform_start(closed):
    """Legs that point straight up, 1.4 m long."""
    q = np.zeros(closed.tree.nq)
    for k in range(6):
        q[closed.tree.links[closed.tree.joint_index(f"s{k}")].dofs] = 1.4
    return q


def lengths(value=1.4):
    """Targets of all six legs."""
    return {f"s{k}": value + 0.03 * k for k in range(6)}


def augmented(closed, q, v, tau):
    """Reference: H q̈ − Kᵀ λ = τ − C, K q̈ = −K̇ q̇ as one least-squares system; K̇ by complex step."""
    tree = closed.tree
    _, K = residual_and_jacobian(closed, q)
    _, moved = residual_and_jacobian(closed, q + 1e-30j * v)  # right for joints with one axis
    H, C = mass_matrix(tree, q), bias_force(tree, q, v)
    m = len(K)
    big = np.block([[H, -K.T], [K, np.zeros((m, m))]])
    rhs = np.concatenate([tau - C, -(moved.imag / 1e-30) @ v])
    return np.linalg.lstsq(big, rhs, rcond=1e-11)[0][: tree.nq]


@pytest.mark.parametrize("build", [four_bar, lambda: four_bar("spherical"), slider_crank])
def test_planar_mechanisms(build, error):
    """Articulated bodies with loop forces and divide-and-conquer against the augmented system."""
    closed = build()
    rng = np.random.default_rng(0)
    for target in (0.4, 1.3, -0.8):
        start = OPEN if "D" in [j.name for j in closed.tree.joints] else [0.4, -0.5, 0.1]
        q = solve_posture(closed, start, {"A": target})
        v = rate_map(closed, q, ("A",))[:, 0] * 2.0
        tau = rng.normal(size=3)
        result = closed_forward_dynamics(closed, q, v, tau)
        assert error(result.qdd, augmented(closed, q, v, tau)) < 1e-8
        divided = divide_and_conquer(closed).forward_dynamics(q, v, tau)
        assert error(divided.qdd, result.qdd) < 1e-8


def test_four_bar_against_pinocchio(pinocchio, error):
    """Constrained dynamics of the four-bar."""
    pin, closed = pinocchio.pin, four_bar()
    peer = pinocchio.convert(closed.tree)
    q = solve_posture(closed, OPEN, {"A": 0.9})
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


def test_redundant_constraints_are_reported():
    """A planar four-bar in 3-D: two bending moments and the force across the plane stay open."""
    closed = four_bar()
    q = solve_posture(closed, OPEN, {"A": 0.9})
    result = closed_forward_dynamics(closed, q)
    assert [u.components for u in result.undetermined] == [("C_tx", "C_ty", "C_fz")]
    divided = divide_and_conquer(closed).forward_dynamics(q)
    assert [len(u.components) for u in divided.undetermined] == [3]
    single = closed_forward_dynamics(four_bar("spherical"), q).undetermined
    assert [u.components for u in single] == [("C_fz",)]


def test_spatial_platform(error):
    """Six legs: posture, velocities, divide-and-conquer, no redundant constraint."""
    closed = platform()
    q = solve_posture(closed, platform_start(closed), lengths(), step=0.02)
    assert np.abs(residual_and_jacobian(closed, q)[0]).max() < 1e-11
    G = rate_map(closed, q, tuple(lengths()))
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


def test_slider_crank_linear_model():
    """A21 = −V''(θ)/M(θ), B2 = 1/M(θ) with V and M from the geometry in closed form."""
    closed, theta = slider_crank(), 0.7
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


@pytest.mark.parametrize("build", [four_bar, platform])
def test_linear_model_against_finite_differences(build, error):
    """Redundant and spatial loops: complex step through the constraint forces against central differences."""
    closed = build()
    names = ("A",) if build is four_bar else tuple(lengths())
    if build is four_bar:
        q = solve_posture(closed, OPEN, {"A": 0.9})
    else:
        q = solve_posture(closed, platform_start(closed), lengths(), step=0.02)
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


def test_batch_of_postures(error):
    """Postures, dynamics and linear models of many angles in one call."""
    closed = four_bar()
    angles = np.array([0.4, 0.9, 1.5])
    q = solve_posture(closed, OPEN, {"A": angles})
    plant = closed_linearize(closed, q, ["A"], [JointForce("A")])
    for k, angle in enumerate(angles):
        one = solve_posture(closed, OPEN, {"A": angle})
        assert error(one, q[k]) < 1e-9
        assert error(closed_linearize(closed, one, ["A"], [JointForce("A")]).A, plant.A[k]) < 1e-7
    qdd = closed_forward_dynamics(closed, q).qdd
    assert error(divide_and_conquer(closed).forward_dynamics(q).qdd, qdd) < 1e-8


def test_posture_keeps_its_branch():
    """A full turn of the crank returns to the start; the other branch stays the other branch."""
    closed = four_bar()
    q = solve_posture(closed, OPEN, {"A": 0.5})
    turn = solve_posture(closed, q, {"A": 0.5 + 2 * np.pi})
    np.testing.assert_allclose(turn - q, [2 * np.pi, -2 * np.pi, 0], atol=1e-9)
    other = solve_posture(closed, [1.0, -2.0, -2.0], {"A": 0.5})
    assert abs(other[2] - q[2]) > 1


def test_stabilization_pulls_a_drifted_loop_back():
    """With a residual r and at rest the loop accelerates by −β² r."""
    closed = four_bar()
    q = solve_posture(closed, OPEN, {"A": 0.9}) + np.array([0, 1e-4, 0])
    r, K = residual_and_jacobian(closed, q)
    for solve in (
        lambda **more: closed_forward_dynamics(closed, q, **more),
        lambda **more: divide_and_conquer(closed).forward_dynamics(q, **more),
    ):
        drift = solve(stabilization=(5.0, 10.0)).qdd - solve().qdd
        np.testing.assert_allclose(K @ drift, -100 * r, atol=1e-9)


def test_bad_loops():
    """Postures that cannot close, wrong independent joints, contradicting motion, missing actuators."""
    closed = four_bar()
    q = solve_posture(closed, OPEN, {"A": 0.9})
    short = LoopJoint("C", "revolute", "coupler", "rocker", position_predecessor=(0.1, 0, 0))
    with pytest.raises(ModelError, match="cannot be closed at the start; loop joint 'C'"):
        solve_posture(ClosedModel(closed.tree, [short]), OPEN, {"A": 0.9})
    with pytest.raises(ModelError, match=r"cannot be closed after \d"):
        solve_posture(closed, q, {"D": 6.0})  # beyond the rocker's reach
    with pytest.raises(IllPosedError, match="fewer motions"):
        rate_map(closed, q, ("A", "B"))
    with pytest.raises(IllPosedError, match="more joints must be independent"):
        rate_map(closed, q, ())
    with pytest.raises(IllPosedError, match="inconsistent loop"):
        closed_forward_dynamics(skewed(), np.zeros(3), np.array([1.0, 2.0, -1.0]))
    with pytest.raises(IllPosedError, match="inconsistent loop"):
        divide_and_conquer(skewed()).forward_dynamics(np.zeros(3), np.array([1.0, 2.0, -1.0]))
    with pytest.raises(TrimError, match="unbalanced"):
        closed_equilibrium(closed, q, [])
    with pytest.raises(ModelError, match="open by"):
        closed_equilibrium(closed, OPEN, ["A"])
    with pytest.raises(ModelError, match="itself"):
        LoopJoint("C", "revolute", "rocker", "rocker")
    with pytest.raises(ModelError, match="used twice"):
        ClosedModel(closed.tree, [LoopJoint("A", "revolute", "crank", "rocker")])
    with pytest.raises(ModelError, match="'x' is not in the model"):
        ClosedModel(closed.tree, [LoopJoint("C", "revolute", "crank", "x")])


def skewed():
    """Parallel hinges and a welded loop: rates that differ contradict it."""
    joints = [
        Joint("A", "revolute", "ground", "crank"),
        Joint("B", "revolute", "crank", "coupler", position=(0.7, 0, 0)),
        Joint("D", "revolute", "ground", "rocker", position=(0.4, 0, 0)),
    ]
    bodies = [bar("crank", 1.0, 0.7), bar("coupler", 1.5, 1.8), bar("rocker", 2.0, 1.3)]
    ends = {"position_predecessor": (0.3, 0, 0), "position_successor": (0.6, 0, 0)}
    weld = LoopJoint("C", "fixed", "coupler", "rocker", **ends)
    return ClosedModel(Model(bodies, joints), [weld])
