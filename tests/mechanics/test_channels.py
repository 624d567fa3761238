"""Every input and output that a mechanism offers, against the numeric articulated-body model, on random trees."""

import numpy as np
import pytest

import lftgen as lg
from tests.strategies import random_mechanism

TOLERANCE = 1e-10
VECTOR = ("x", "y", "z", "tx", "ty", "tz", "fx", "fy", "fz")

THETA = lg.scheduled_angle("theta", (-80, 100), unit="deg")
TURNED = lg.scheduled_angle("phi", (150, 220), unit="deg", nominal=170)
QUARTER = lg.scheduled_angle("psi", (-3.0, 2.0), chart="quarter")
OFF_CENTRE = lg.scheduled_angle("chi", (0.2, 1.0), center=0)


def groups(names):
    """Group names of vector channels, and the others as they are, in order."""
    parts = (n.rsplit("_", 1) for n in names)
    return list(dict.fromkeys(head if tail in VECTOR else f"{head}_{tail}" for head, tail in parts))


TREES = {
    "chain of three, one scheduled angle": lambda rng: random_mechanism(rng, 3, angles=[THETA], fixed=0),
    "tree with masses": lambda rng: random_mechanism(rng, 4, angles=[THETA, TURNED], masses=True),
    "an angle and its negative": lambda rng: random_mechanism(rng, 3, angles=[THETA, -THETA + 0.3], fixed=0),
    "a quarter chart": lambda rng: random_mechanism(rng, 3, angles=[QUARTER + 1], masses=True),
    "centre outside the range": lambda rng: random_mechanism(rng, 4, angles=[OFF_CENTRE, THETA - 2]),
    "no parameters": lambda rng: random_mechanism(rng, 4),
}


LONG = ("an angle and its negative", "a quarter chart", "centre outside the range")
CASES = [pytest.param(n, marks=[pytest.mark.heavy] if n in LONG else []) for n in TREES]


@pytest.mark.parametrize("name", CASES)
def test_every_channel(name):
    """A random quarter of all outputs from a random half of all inputs of each tree, so that every kind is met often; 1e-10."""
    rng = np.random.default_rng(len(name))
    mechanism = TREES[name](rng)
    outputs = [str(n) for n in rng.permutation(groups(mechanism.output_channels))]
    inputs = [str(n) for n in rng.permutation(groups(mechanism.input_channels))]
    plant = mechanism.linearize(inputs=inputs[::2], outputs=outputs[::4])
    report = lg.check(mechanism, plant, samples=8, tolerance=TOLERANCE)
    assert report.passed, str(report)
    assert set(plant.repetitions) == {p.name for p in mechanism.parameters}


QUANTITIES = (
    "position",
    "attitude",
    "velocity",
    "rate",
    "acceleration",
    "angular_acceleration",
    "specific_force",
)


@pytest.mark.parametrize("reference", ["", "_ref"])
def test_every_quantity_of_a_port(reference):
    """Each quantity of a turned port, in its axes and in reference axes, under gravity and base motion; 1e-11."""
    mechanism = random_mechanism(np.random.default_rng(3), 2, angles=[THETA], fixed=0)
    outputs = [f"B1_P_{q}{reference}" for q in QUANTITIES]
    plant = mechanism.linearize(inputs=["J1_torque", "B1_P_torque", "base_acceleration"], outputs=outputs)
    for q in outputs:  # one at a time: each is measured by its own size
        report = lg.check(mechanism, plant[q], samples=4, tolerance=1e-11)
        assert report.passed, f"{q}: {report}"


PORTS_NAMED_LIKE_INNER_SIGNALS = ("com", "origin", "base", "specific", "inertial")


@pytest.mark.parametrize("port", PORTS_NAMED_LIKE_INNER_SIGNALS)
def test_no_port_meets_an_inner_signal(port):
    """Loads and sensors at any port, however it is called, are what their names say, or refused."""
    mechanism = random_mechanism(np.random.default_rng(3), 2, fixed=0)
    bodies = [
        lg.RigidBody(
            b.name,
            mass=b.mass,
            com=b.com,
            inertia=(0.3, 0.4, 0.5),
            ports={} if port in b.ports else {port: (0.1, 0.2, 0.3)},
        )
        for b in mechanism.bodies
    ]
    mechanism = lg.Mechanism("m", bodies=bodies, joints=mechanism.joints, gravity=(1, 2, 3))
    inputs = [f"B0_{port}_force", f"B1_{port}_torque", "base_acceleration"]
    outputs = [f"B{i}_{port}_{q}" for i in (0, 1) for q in ("acceleration", "specific_force", "position")]
    if port in ("base", "specific"):
        with pytest.raises(lg.ModelError, match="rename the body or port"):
            mechanism.linearize(inputs=inputs, outputs=outputs)
        return
    plant = mechanism.linearize(inputs=inputs, outputs=outputs)
    assert lg.check(mechanism, plant, samples=1, tolerance=TOLERANCE).passed


@pytest.mark.parametrize("reduce_while_building", [True, False])
def test_before_and_after_reduction(reduce_while_building):
    """The model as built, reduced while building, and reduced afterwards are the same; names and parameters stay."""
    mechanism = random_mechanism(np.random.default_rng(9), 3, angles=[THETA, TURNED], masses=True, fixed=0.5)
    outputs = ["J0_angle", "B2_P_position", "B2_P_attitude_ref", "J1_wrench", "J0_acceleration"]
    built = mechanism.linearize(outputs=outputs, reduce=reduce_while_building)
    small = built.reduce()
    assert small.order <= built.order
    assert small.states == built.states
    assert small.outputs == built.outputs
    assert set(small.repetitions) == {p.name for p in mechanism.parameters}
    for plant in (built, small, small.normalized(), small.normalized(recenter=True)):
        report = lg.check(mechanism, plant, samples=10, tolerance=TOLERANCE)
        assert report.passed, str(report)
    for name, bound in small.order_bound().items():
        assert bound <= small.repetitions[name]


def test_kinematic_rows_are_ones_and_zeros():
    """Angles' derivatives are the rates, exactly, at every point."""
    mechanism = random_mechanism(np.random.default_rng(2), 3, angles=[THETA, TURNED], masses=True, fixed=0)
    plant = mechanism.linearize()
    model = plant.evaluate({"theta": np.linspace(-80, 100, 5)})
    assert np.array_equal(model.A[:, :3], np.broadcast_to(np.eye(6)[3:], (5, 3, 6)))
    assert not np.any(model.B[:, :3])
    assert np.array_equal(model.C, np.broadcast_to(np.eye(6)[:3], (5, 3, 6)))
    states = [f"{j.name}_{k}" for k in ("angle", "rate") for j in mechanism.joints]
    assert list(plant.states) == states


def test_group_names_and_their_order():
    """A group name stands for its components; rows and columns come in the order asked for."""
    mechanism = random_mechanism(np.random.default_rng(2), 2, fixed=0)
    plant = mechanism.linearize(inputs=["B1_P_force", "J0_torque"], outputs=["J1_wrench", "B0_P_rate_y"])
    assert plant.inputs == ("B1_P_force_x", "B1_P_force_y", "B1_P_force_z", "J0_torque")
    assert plant.outputs == (*(f"J1_wrench_{c}" for c in ("tx", "ty", "tz", "fx", "fy", "fz")), "B0_P_rate_y")
    one = mechanism.linearize(inputs=["J0_torque"], outputs=["B0_P_rate_y"])
    assert np.allclose(one.at().A, plant.at().A, rtol=1e-13, atol=1e-13)
    assert np.allclose(one.at().C, plant["B0_P_rate_y", "J0_torque"].at().C, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"inputs": ["J0_torqe"]}, "unknown input 'J0_torqe': did you mean .*J0_torque"),
        ({"outputs": ["B1_Q_position"]}, "unknown output 'B1_Q_position': did you mean"),
        ({"outputs": ["J0_angle", "J0_angle"]}, "output J0_angle is asked for twice"),
        ({"outputs": ["B1_P_rate", "B1_P_rate_x"]}, "output B1_P_rate_x is asked for twice"),
        ({"inputs": "J0_torque"}, "must be a list of names"),
    ],
)
def test_wrong_names(kwargs, message):
    """A wrong channel name is an error that lists close ones."""
    mechanism = random_mechanism(np.random.default_rng(2), 2, fixed=0)
    with pytest.raises(lg.ModelError, match=message):
        mechanism.linearize(**kwargs)


def test_no_channels_at_all():
    """A model without inputs and outputs still has its A; one of fixed joints alone has no states."""
    mechanism = random_mechanism(np.random.default_rng(2), 2, angles=[THETA], fixed=0)
    bare = mechanism.linearize(inputs=[], outputs=[])
    assert bare.shape == (0, 0)
    assert np.allclose(bare.at().A, mechanism.linearize().at().A)
    assert lg.check(mechanism, bare, samples=5).passed
    body = lg.RigidBody("b", mass=2, com=(0, 0, 1), ports={"tip": (0, 0, 2)})
    welded = lg.Mechanism(
        "w", bodies=[body], joints=[lg.FixedJoint("f", parent="ground", child="b", origin=(1, 0, 0))]
    )
    static = welded.linearize(
        inputs=["b_tip_force", "base_acceleration"], outputs=["f_wrench", "b_tip_specific_force"]
    )
    assert static.states == ()
    D = static.at()
    assert np.array_equal(D[3:6], np.hstack([-np.eye(3), 2 * np.eye(3)]))  # the joint carries m a - F
    assert np.array_equal(
        D[0:3, 1:2], [[2.0], [0.0], [0.0]]
    )  # and the torque against F_y at the tip, -(z x F)
    assert np.array_equal(D[6:], np.hstack([np.zeros((3, 3)), np.eye(3)]))
