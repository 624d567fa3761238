"""Equilibria against closed forms and against sums over bodies written with plain rotations."""

import numpy as np
import pytest
import sympy as sp

import lftgen as lg
from tests.strategies import error, pendulum, planar_arm, random_mechanism

M1, M2 = lg.uncertain("m1", 2.0, percent=30), lg.uncertain("m2", 1.0, percent=30)
L1, L2 = lg.uncertain("l1", 1.0, percent=20), lg.uncertain("l2", 0.5, percent=20)
Q1, Q2 = lg.scheduled_angle("q1", (-90, 90), unit="deg"), lg.scheduled_angle("q2", (120, 240), unit="deg")


def _points(parameters, n=6, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(n):
        yield {p.name: float(rng.uniform(p.lower, p.upper)) for p in parameters}


def test_arm_in_closed_form():
    """Torques, wrenches, positions and rotations of the arm with masses, lengths and angles all parameters; 1e-13."""
    arm = planar_arm(M1, M2, L1, L2, q1=Q1, q2=Q2)
    trim = arm.trim()
    for p in _points(arm.parameters):
        a, b = np.radians(p["q1"]), np.radians(p["q2"])
        c1, c12, s1, s12, g = np.cos(a), np.cos(a + b), np.sin(a), np.sin(a + b), 9.81
        tau2 = g * p["m2"] * p["l2"] / 2 * c12
        tau1 = g * (p["m1"] * p["l1"] / 2 + p["m2"] * p["l1"]) * c1 + tau2
        assert error(trim.torque["J1"].at(**p), [[tau1]]) < 1e-13
        assert error(trim.torque["J2"].at(**p), [[tau2]]) < 1e-13
        R12 = np.array([[c12, -s12, 0], [s12, c12, 0], [0, 0, 1]])
        weight = np.array([0, p["m2"] * g, 0])
        assert error(trim.wrench["J2"].at(**p)[3:, 0], R12.T @ weight) < 1e-13
        assert error(trim.position["B2"].at(**p)[:, 0], p["l1"] * np.array([c1, s1, 0])) < 1e-13
        assert error(trim.rotation["B2"].at(**p), R12) < 1e-13
        assert error(trim.acceleration["B2"].at(**p)[:, 0], [0, 0, 0, *(R12.T @ [0, g, 0])]) < 1e-13


def test_every_trim_declares_every_parameter():
    """Shapes are as documented and each LFT accepts every parameter of the mechanism."""
    arm = planar_arm(M1, M2, L1, L2, q1=Q1, q2=Q2)
    trim = arm.trim()
    for values in (
        trim.torque,
        trim.wrench,
        trim.wrench_parent,
        trim.acceleration,
        trim.position,
        trim.rotation,
    ):
        for lft in values.values():
            assert set(lft.repetitions) == {p.name for p in arm.parameters}
    shapes = [trim.torque["J1"], trim.wrench["J1"], trim.wrench_parent["J1"]]
    shapes += [trim.acceleration["B1"], trim.position["B1"], trim.rotation["B1"]]
    assert [x.shape for x in shapes] == [(1, 1), (6, 1), (6, 1), (6, 1), (3, 1), (3, 3)]
    assert all(not x.states for x in shapes)


@pytest.mark.parametrize("seed", range(4))
def test_random_trees(seed):
    """Wrenches of a random tree are the sums over the bodies beyond, in the frames that the trim itself reports."""
    theta = lg.scheduled_angle("theta", (-100, 40), unit="deg")
    phi = lg.scheduled_angle("phi", (-1.0, 2.5), chart="quarter")
    mech = random_mechanism(np.random.default_rng(seed), 5, angles=[theta, phi - 0.4, -theta], masses=True)
    trim = mech.trim()
    specific = np.array([float(v) for v in mech.acceleration - mech.gravity])
    for point in _points(mech.parameters, n=3, seed=seed):
        R = {b.name: trim.rotation[b.name].at(**point) for b in mech.bodies}
        r = {b.name: trim.position[b.name].at(**point)[:, 0] for b in mech.bodies}
        for joint in mech.joints:
            force, torque = np.zeros(3), np.zeros(3)
            for name in mech.tree.beyond(joint):
                body = mech.tree.bodies[name]
                mass = float(body.mass.xreplace({p: sp.Float(point[p.name]) for p in body.parameters}))
                com = r[name] + R[name] @ np.array([float(v) for v in body.com])
                force += mass * specific
                torque += np.cross(com - r[joint.child], mass * specific)
            turn = R[joint.child]
            want = np.concatenate([turn.T @ torque, turn.T @ force])
            assert error(trim.wrench[joint.name].at(**point)[:, 0], want) < 1e-12
            parent = np.eye(3) if joint.parent == "ground" else R[joint.parent]
            want = np.concatenate([parent.T @ torque, parent.T @ force])
            assert error(trim.wrench_parent[joint.name].at(**point)[:, 0], want) < 1e-12
            if joint.dof:
                axis = np.array([float(v) for v in joint.axis])
                assert error(trim.torque[joint.name].at(**point)[0, 0], axis @ turn.T @ torque) < 1e-12
            assert (
                error(trim.acceleration[joint.child].at(**point)[:, 0], [0, 0, 0, *(turn.T @ specific)])
                < 1e-12
            )
            assert error(turn @ turn.T, np.eye(3)) < 1e-13


def test_placements():
    """A chain of placements by rpy and points agrees with elementary rotations multiplied by hand."""

    def rotation(axis, angle):
        c, s = np.cos(angle), np.sin(angle)
        return {
            "x": np.array([[1, 0, 0], [0, c, -s], [0, s, c]]),
            "y": np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]]),
            "z": np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]),
        }[axis]

    roll, pitch, yaw = 0.3, -0.8, 1.9
    theta = lg.scheduled_angle("theta", (-2, 1))
    bodies = [lg.RigidBody(n, mass=1) for n in ("a", "b")]
    joints = [
        lg.RevoluteJoint(
            "j",
            parent="ground",
            child="a",
            axis=(0, 3, 0),
            origin=(1, 2, 3),
            rpy=(roll, pitch, yaw),
            angle=theta,
        ),
        lg.FixedJoint("f", parent="a", child="b", origin=(0, 0, 2), rpy=(0, 0, np.pi / 2)),
    ]
    trim = lg.Mechanism("m", bodies=bodies, joints=joints).trim()
    Ra = rotation("z", yaw) @ rotation("y", pitch) @ rotation("x", roll) @ rotation("y", -1.3)
    assert error(trim.rotation["b"].at(theta=-1.3), Ra @ rotation("z", np.pi / 2)) < 1e-14
    assert error(trim.position["b"].at(theta=-1.3)[:, 0], [1, 2, 3] + Ra @ [0, 0, 2]) < 1e-14


def test_two_joints_may_share_an_angle():
    """A parallelogram's arm: the second link keeps its attitude at every angle."""
    theta = lg.scheduled_angle("theta", (-80, 80), unit="deg")
    trim = planar_arm(q1=theta, q2=-theta).trim()
    assert trim.rotation["B2"].order == 0
    assert trim.torque["J2"].at(theta=33).item() == pytest.approx(9.81 / 4, rel=1e-14)
    constant = planar_arm(q1=theta, q2=sp.pi / 2 - theta).trim()
    assert abs(constant.torque["J2"].at(theta=33).item()) < 1e-14


@pytest.mark.parametrize("degrees", [0, 90, -90, 180, 60])
def test_right_angles_are_exact(degrees):
    """At simple angles exact trims exist, and floats have no noise at multiples of 90 degrees."""
    body = pendulum(np.radians(degrees), mass=2, length=1)
    torque = body.trim().torque["hinge"].at().item()
    assert torque == pytest.approx(19.62 * np.sin(np.radians(degrees)), abs=1e-14)
    if degrees in (0, 180):
        assert torque == 0


def test_spring_with_a_rest_angle_loads_the_trim():
    """The actuator holds gravity and the spring; a spring that balances the weight needs no actuator."""
    k = 10.0
    held = pendulum(sp.pi / 6, stiffness=k, rest_angle=0)
    assert held.trim().torque["hinge"].at().item() == pytest.approx(4.905 + k * np.pi / 6, rel=1e-14)
    assert held.linearize().at().A[1, 0] == pytest.approx(-9.81 * np.cos(np.pi / 6) - k, rel=1e-14)
    rest = sp.pi / 6 + sp.Rational("4.905") / 10
    assert pendulum(sp.pi / 6, stiffness=k, rest_angle=rest, actuated=False).linearize().at().A[1, 0] < 0
    with pytest.raises(lg.NotRationalError, match=r"hinge.*rest_angle"):
        pendulum(lg.scheduled_angle("q", (-1, 1)), stiffness=k, rest_angle=0)


def test_loads_that_vanish_everywhere():
    """A joint without actuator needs a torque that vanishes for all parameter values, not only at the nominal."""
    mass = lg.uncertain("m", 1.0, percent=50)
    bob = lg.RigidBody("bob", mass=mass, com=(0, 0, -1))
    arm = lg.RigidBody("arm", mass=1.0, com=(0, 1, 0))
    theta = lg.scheduled_angle("theta", (-1, 1))
    hinge = {"parent": "ground", "axis": (1, 0, 0), "actuated": False}
    lg.Mechanism("hanging", bodies=[bob], joints=[lg.RevoluteJoint("h", child="bob", **hinge)]).linearize()
    balanced_at_nominal = lg.Mechanism(
        "seesaw",
        bodies=[arm, lg.RigidBody("other", mass=mass, com=(0, -1, 0))],
        joints=[lg.RevoluteJoint("h", child="arm", **hinge), lg.FixedJoint("f", parent="arm", child="other")],
    )
    with pytest.raises(lg.TrimError, match="h has no actuator"):
        balanced_at_nominal.trim()
    with pytest.raises(lg.TrimError, match="h has no actuator"):
        lg.Mechanism(
            "t", bodies=[bob], joints=[lg.RevoluteJoint("h", child="bob", angle=theta, **hinge)]
        ).trim()
    vertical = {"parent": "ground", "axis": (0, 0, 1), "actuated": False}
    turntable = lg.Mechanism(
        "u", bodies=[arm], joints=[lg.RevoluteJoint("h", child="arm", angle=theta, **vertical)]
    )
    assert turntable.trim().torque["h"].order == 0


def test_accelerating_frame():
    """A pendulum on an accelerating frame is in equilibrium along the apparent gravity."""
    bob = lg.RigidBody("bob", mass=1, com=(0, 0, -1))
    hinge = lg.RevoluteJoint(
        "h", parent="ground", child="bob", axis=(1, 0, 0), angle=-sp.pi / 4, actuated=False
    )
    mech = lg.Mechanism("m", bodies=[bob], joints=[hinge], acceleration=(0, 9.81, 0))
    model = mech.linearize().at()
    assert model.A[1, 0] == pytest.approx(-9.81 * np.sqrt(2), rel=1e-14)


def test_gravity_as_a_parameter():
    """Gravity may be uncertain: the holding torque is proportional to it."""
    g = lg.uncertain("g", 9.81, percent=10)
    bob = lg.RigidBody("bob", mass=2, com=(0, 1, 0))
    hinge = lg.RevoluteJoint("h", parent="ground", child="bob", axis=(1, 0, 0))
    mech = lg.Mechanism("m", bodies=[bob], joints=[hinge], gravity=(0, 0, -g))
    assert mech.trim().torque["h"].at(g=9.0).item() == pytest.approx(18)
    assert lg.check(mech, mech.linearize(), samples=5).max_relative_error < 1e-13


def test_exact_trims():
    """Exact trims hold rational numbers, equal the float ones, and give expressions back."""
    q1, q2 = lg.scheduled_angle("q1", (-1, 1)), lg.scheduled_angle("q2", (-1, 1))
    arm = planar_arm(M1, M2, q1=q1, q2=q2)
    exact, floats = arm.trim(exact=True), arm.trim()
    assert exact.exact
    assert exact.torque["J1"].is_exact
    point = {"q1": 0.3, "q2": -0.8, "m1": 2.2, "m2": 0.9}
    for kind in ("torque", "wrench"):
        got, want = getattr(exact, kind)["J1"].at(**point), getattr(floats, kind)["J1"].at(**point)
        assert error(got, want) < 1e-14
    want = sp.Rational("9.81") * ((M1 / 2 + M2) * sp.cos(q1) + M2 / 4 * sp.cos(q1 + q2))
    assert sp.simplify(sp.expand_trig(exact.torque["J1"].to_sympy()[0] - want)) == 0
