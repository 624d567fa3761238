"""Articulated-body LFTs: inverse inertia, bias, inverted channels, and assembly of two against the whole."""

import numpy as np
import pytest

import lftgen as lg
from lftgen import rigidbody as rb
from lftgen.oracle import numeric_model

INERTIA = ((2, 0.1, 0.2), (0.1, 3, 0.3), (0.2, 0.3, 2.5))
M = lg.uncertain("m", 2.0, percent=20, unit="kg")
N = lg.uncertain("n", 1.5, percent=20, unit="kg")
A, B, C = (lg.scheduled_angle(k, (-60, 50), unit="deg") for k in "abc")
PLACE = {"origin": (0.1, 0, 0.1), "rpy": (0.1, 0.2, 0.3)}


def left(gravity=(0, 0, 0)):
    """A free body with an arm."""
    bodies = [
        lg.RigidBody("A1", mass=M, com=(0.1, 0.05, -0.2), inertia=INERTIA),
        lg.RigidBody(
            "A2",
            mass=1.2,
            com=(0.1, 0.1, 0.2),
            inertia=(0.1, 0.2, 0.25),
            ports={"P": ((0, 0.1, 1), (0.1, 0.2, 0.3))},
        ),
    ]
    joints = [
        lg.FreeJoint("FA", child="A1"),
        lg.RevoluteJoint("JA", parent="A1", child="A2", axis=(1, 2, 2), origin=(0.1, 0.2, 0.3), angle=A),
    ]
    return lg.Mechanism("left", bodies=bodies, joints=joints, gravity=gravity)


def right(gravity=(0, 0, 0)):
    bodies = [
        lg.RigidBody("B1", mass=N, com=(0.1, 0.05, -0.2), inertia=INERTIA),
        lg.RigidBody(
            "B2", mass=0.7, com=(0.1, 0.1, 0.2), inertia=(0.1, 0.2, 0.25), ports={"tip": (0.3, 0, 0)}
        ),
    ]
    joints = [
        lg.FreeJoint("FB", child="B1"),
        lg.RevoluteJoint("JB", parent="B1", child="B2", axis=(1, 0, 0), origin=(0.1, 0.2, 0.3), angle=B),
    ]
    return lg.Mechanism("right", bodies=bodies, joints=joints, gravity=gravity)


def whole(joint):
    a, b = left(), right()
    frame = lg.RigidBody("frame", mass=0)
    weld = lg.FixedJoint("weld", parent="A2", child="frame", origin=(0, 0.1, 1), rpy=(0.1, 0.2, 0.3))
    return lg.Mechanism(
        "whole",
        bodies=[*a.bodies, frame, *b.bodies],
        joints=[*a.joints, weld, joint, b.joints[1]],
        gravity=(0, 0, 0),
    )


def random_values(mechanism, count, seed=0):
    rng = np.random.default_rng(seed)
    return [{p.name: rng.uniform(p.lower, p.upper) for p in mechanism.parameters} for _ in range(count)]


JOINTS = {
    "revolute": lg.RevoluteJoint("K", parent="frame", child="B1", axis=(0, 0.6, 0.8), angle=C, **PLACE),
    "prismatic": lg.PrismaticJoint(
        "K", parent="frame", child="B1", axis=(0, 0.6, 0.8), position=0.4, **PLACE
    ),
    "spherical": lg.SphericalJoint("K", parent="frame", child="B1", attitude=(C, 0.1, 0.2), **PLACE),
    "fixed": lg.FixedJoint("K", parent="frame", child="B1", **PLACE),
}


@pytest.mark.parametrize("kind", JOINTS)
def test_two_make_the_whole(kind):
    """(7.63): joined at a joint, two articulated bodies equal the mechanism built as one; 1e-10."""
    joint = JOINTS[kind]
    joined = (
        left()
        .articulated(["A1_com", "A2_P"])
        .join("A2_P", right().articulated(["B1_origin", "B2_tip"]), "B1_origin", joint)
    )
    one = whole(joint)
    built = one.articulated(["A1_com", "A2_P", "B1_origin", "B2_tip"])
    assert joined.ports == built.ports
    rows = [n for n in built.affine.outputs if n in joined.affine.outputs]
    columns = [n for n in built.affine.inputs if n in joined.affine.inputs]
    assert len(rows) == 24 + 6 + 2 + joint.dof
    assert len(columns) == 1 + 24 + 6 + 2 + joint.dof
    for values in random_values(one, 5):
        have, want = joined.affine[rows, columns].at(**values), built.affine[rows, columns].at(**values)
        assert have == pytest.approx(want, rel=1e-10, abs=1e-10 * np.abs(want).max())


def test_inverse_inertia():
    """Symmetric, positive semi-definite, of the rank of the handles' degrees of freedom, at random points."""
    one = whole(JOINTS["revolute"])
    for ports, rank in ((["A1_com"], 6), (["A1_com", "A2_P"], 7), (["A1_com", "A2_P", "B2_tip"], 9)):
        phi = one.articulated(ports).inverse_inertia
        for values in random_values(one, 10):
            P = phi.at(**values)
            assert np.abs(P - P.T).max() <= 1e-12 * np.abs(P).max()
            eigenvalues = np.linalg.eigvalsh((P + P.T) / 2)
            assert eigenvalues[0] >= -1e-12 * eigenvalues[-1]
            assert (eigenvalues > 1e-9 * eigenvalues[-1]).sum() == rank


def test_against_the_numeric_model():
    """Accelerations of the handles and joints by wrenches and joint forces, against the articulated-body algorithm."""
    one = left(gravity=(0.3, -0.2, -9.0))
    body = one.articulated(["A2_origin"])
    rng = np.random.default_rng(1)
    for values in random_values(one, 5):
        wrench, tau = rng.normal(size=6), rng.normal(size=7)
        numeric = numeric_model(one, {k: np.array([v]) for k, v in values.items()})
        qdd = rb.forward_dynamics(numeric.model, numeric.q, np.zeros(7), tau, wrenches={"A2": wrench})[0]
        motion = rb.kinematics(numeric.model, numeric.q, np.zeros(7), qdd)
        R = motion.rotation["A2"][0]
        handle = motion.acceleration["A2"][0] + np.concatenate([np.zeros(3), R.T @ [-0.3, 0.2, 9.0]])
        got = body.affine.at(**values) @ np.concatenate([[1], wrench, tau])
        assert got[:6] == pytest.approx(handle, rel=1e-10, abs=1e-10)
        assert got[6:] == pytest.approx(qdd, rel=1e-10, abs=1e-10)


def test_grounded_arm_has_a_singular_inverse_inertia():
    """A handle with one degree of freedom: rank one, closed form 1 / I, and no inverse channel."""
    rod = lg.RigidBody("rod", mass=M, com=(0, 0, -1), ports={"end": (0, 0, -2)})
    hinge = lg.RevoluteJoint("h", parent="ground", child="rod", axis=(1, 0, 0))
    body = lg.Mechanism("pendulum", bodies=[rod], joints=[hinge]).articulated(["rod_end"])
    P = body.inverse_inertia.at(m=2.2)
    assert np.linalg.matrix_rank(P, tol=1e-12) == 1
    assert P[0, 0] == pytest.approx(1 / 2.2, rel=1e-13)
    assert P[4, 4] == pytest.approx(4 / 2.2, rel=1e-13)
    assert body.bias.at()[:, 0] == pytest.approx([0, 0, 0, 0, 0, 9.81], abs=1e-12)
    with pytest.raises(lg.IllPosedError, match="inverse inertia at rod_end"):
        body.inverted("rod_end")


def test_bias_is_free_fall():
    """A free body that nothing holds falls: its specific acceleration vanishes."""
    body = left(gravity=(0, 0, -9.81)).articulated(["A2_P"])
    for values in random_values(left(), 3):
        assert np.abs(body.bias.at(**values)).max() <= 1e-12


def test_channels_turn_round():
    """A driven handle: wrench from acceleration is the inverse, and no repetition is added."""
    body = left().articulated(["A1_com", "A2_P"])
    driven = body.inverted("A2_P")
    assert driven.order == body.affine.order
    assert driven.inputs[7:13] == tuple(
        f"A2_P_{k}_{c}" for k in ("angular_acceleration", "acceleration") for c in "xyz"
    )
    values = {"m": 2.1, "a": 20}
    direct = body.inverse_inertia.at(**values)[6:, 6:]
    inverse = driven.at(**values)[6:12, 7:13]
    assert inverse @ direct == pytest.approx(np.eye(6), abs=1e-11)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: left().articulated("A2_P"), "ports must be a list"),
        (lambda: left().articulated([]), "ports must be a list"),
        (lambda: left().articulated(["A2_P", "A2_P"]), "different port names"),
        (lambda: left().articulated(["A2_Q"]), "unknown port"),
        (lambda: left().articulated(["A2_P"]).inverted("A1_com"), "unknown handle 'A1_com'"),
        (lambda: left().articulated(["A2_P"]).join("A2_P", right().articulated(["B2_tip"]), "B1", JOINTS["fixed"]), "unknown handle"),
    ],
)  # fmt: skip
def test_bad_input(make, message):
    """Ports that do not exist or are no handles."""
    with pytest.raises(lg.ModelError, match=message):
        make()
