"""Trims that solve: closed forms, exact zero residuals, and every way to ask for too much or too little."""

import numpy as np
import pytest
import sympy as sp

import lftgen as lg
from lftgen.check import check_points
from lftgen.lft.evaluation import evaluate_ports
from lftgen.mechanics.trim import solve_trim

G = 9.81


def masses(names):
    return {n: lg.uncertain(n, 2.0 + k, percent=20, unit="kg") for k, n in enumerate(names)}


def rocket(*, gravity=(0, 0, -G), tilt=0):
    """A stage under a follower thrust T, with a payload on top."""
    m, T = masses(["m", "p"]), lg.uncertain("T", 100.0, percent=10, unit="N")
    stage = lg.RigidBody("stage", mass=m["m"], inertia=(1, 1, 0.2), ports={"nozzle": (0, 0, -1)})
    top = lg.RigidBody("top", mass=m["p"], inertia=(0.1, 0.1, 0.1))
    joints = [
        lg.FreeJoint("base", child="stage", rpy=(0, tilt, 0)),
        lg.FixedJoint("flange", parent="stage", child="top", origin=(0, 0, 1)),
    ]
    engine = lg.FollowerLoad("engine", port="stage_nozzle", force=(0, 0, T))
    return lg.Mechanism("rocket", bodies=[stage, top], joints=joints, gravity=gravity, loads=[engine])


def hanging(*, port="end", side=None, actuated=False, **joint):
    """A pendulum whose angle is scheduled, with a side force that holds it there."""
    theta = lg.scheduled_angle("theta", (-60, 60), unit="deg")
    m = masses(["m"])["m"]
    rod = lg.RigidBody("rod", mass=m, com=(0, 0, -1), ports={"end": (0, 0, -2)})
    hinge = lg.RevoluteJoint(
        "hinge",
        parent="ground",
        child="rod",
        axis=(1, 0, 0),
        angle=joint.pop("angle", theta),
        actuated=actuated,
        **joint,
    )
    loads = [lg.DeadLoad("side", port=f"rod_{port}", force=side or (0, 0, 0))]
    return lg.Mechanism("hanging", bodies=[rod], joints=[hinge], loads=loads)


def test_acceleration_of_a_launcher():
    """a = T / m - g, each parameter once; exact to rounding in the box."""
    trim = rocket().trim(solve=["acceleration"])
    a = trim.solution["acceleration_z"]
    assert a.repetitions == {"m": 1, "p": 1, "T": 1}
    for m, p, T in ((1.6, 3.6, 90), (2.4, 2.4, 110), (2.0, 3.0, 100)):
        assert a.at(m=m, p=p, T=T)[0, 0] == pytest.approx(T / (m + p) - G, rel=1e-14)
    assert trim.solution["acceleration_x"].order == 0
    assert np.array_equal(trim.wrench["base"].at(), np.zeros((6, 1)))


def test_tilted_launcher():
    """With a scheduled pitch the acceleration turns along; checked against the numeric model."""
    mechanism = rocket(tilt=lg.scheduled_angle("pitch", (-30, 60), unit="deg"))
    trim = mechanism.trim(solve=["acceleration"])
    a = [trim.solution[f"acceleration_{c}"].at(pitch=50, T=95)[0, 0] for c in "xyz"]
    s, c = np.sin(np.deg2rad(50)), np.cos(np.deg2rad(50))
    assert a == pytest.approx([19 * s, 0, 19 * c - G], rel=1e-13, abs=1e-13)
    plant = mechanism.linearize(
        trim, inputs=["engine_force"], outputs=["top_com_specific_force", "base_attitude"]
    )
    assert lg.check(trim.mechanism, plant, samples=60, tolerance=1e-10).passed


def test_buoyancy_carries_the_weight():
    """F = g sum(m), the masses once each; the trim's mechanism is in equilibrium without solving."""
    m = masses(["a", "b"])
    top = lg.RigidBody("top", mass=m["a"], inertia=(1, 1, 1))
    joints = [
        lg.FreeJoint("base", child="top"),
        lg.SphericalJoint("rope", parent="top", child="bottom", origin=(0, 0, -2), actuated=False),
    ]
    bodies = [top, lg.RigidBody("bottom", mass=m["b"], com=(0, 0, -1), inertia=(0.1, 0.1, 0.1))]
    mechanism = lg.Mechanism(
        "balloon", bodies=bodies, joints=joints, loads=[lg.DeadLoad("lift", port="top_com")]
    )
    trim = mechanism.trim(solve=["lift_force_z"])
    assert trim.solution["lift_force_z"].repetitions == {"a": 1, "b": 1}
    assert trim.solution["lift_force_z"].at(a=2.2, b=2.6)[0, 0] == pytest.approx(4.8 * G, rel=1e-14)
    assert trim.mechanism.trim().wrench["base"].order == 0
    with pytest.raises(
        lg.TrimError, match=r"body top \(free joint base\) is not in equilibrium.*base_force_z = 49.05"
    ):
        mechanism.trim()


def test_side_force_that_holds_an_angle():
    """The force follows from the scheduled angle: F = m g tan(theta) / 2 at twice the lever."""
    trim = hanging().trim(solve=["side_force_y"])
    for theta in (-55.0, 10.0, 60.0):
        expected = 2.2 * G * np.tan(np.deg2rad(theta)) / 2
        assert trim.solution["side_force_y"].at(theta=theta, m=2.2)[0, 0] == pytest.approx(
            expected, rel=1e-12, abs=1e-13
        )
    mechanism = hanging()
    plant = mechanism.linearize(mechanism.trim(solve=["side_force_y"]), inputs=["side_force_y"])
    report = lg.check(mechanism.trim(solve=["side_force_y"]).mechanism, plant, samples=60, tolerance=1e-10)
    assert report.passed, str(report)


def test_angle_is_not_rational():
    """Asked for the angle itself: refused, with the equation and the choice that is rational."""
    with pytest.raises(
        lg.NotRationalError, match=r"not rational in the angle theta .*hinge_torque.*side_force"
    ):
        hanging(side=(0, 5, 0)).trim(solve=["theta"])


def test_mass_that_balances():
    """A counterweight: m = M b / a, rational in the lengths; the result takes the parameter's place."""
    M, a = lg.uncertain("M", 3.0, percent=10), lg.uncertain("a", 0.5, percent=10)
    weight = sp.Symbol("weight", positive=True)
    beam = lg.RigidBody("beam", mass=0, inertia=(0.2, 0.2, 0.2))
    left, right = lg.RigidBody("left", mass=M), lg.RigidBody("right", mass=weight)
    joints = [
        lg.RevoluteJoint("pivot", parent="ground", child="beam", axis=(1, 0, 0), actuated=False),
        lg.FixedJoint("l", parent="beam", child="left", origin=(0, -1.2, 0)),
        lg.FixedJoint("r", parent="beam", child="right", origin=(0, a, 0)),
    ]
    mechanism = lg.Mechanism("balance", bodies=[beam, left, right], joints=joints)
    trim = mechanism.trim(solve=["weight"])
    assert trim.solution["weight"].at(M=3.1, a=0.45)[0, 0] == pytest.approx(3.1 * 1.2 / 0.45, rel=1e-14)
    assert sp.simplify(trim.mechanism.bodies[2].mass - M * sp.Rational(6, 5) / a) == 0
    plant = mechanism.linearize(trim, inputs=["pivot_torque"])
    assert lg.check(trim.mechanism, plant, samples=40, tolerance=1e-10).passed
    length = mechanism.changed(
        lambda e: e.xreplace({weight: sp.Integer(4)}) if isinstance(e, sp.Basic) else e
    )
    arm = length.trim(solve=["a"])
    assert arm.solution["a"].at(M=3.1)[0, 0] == pytest.approx(3.1 * 1.2 / 4, rel=1e-14)


def test_rest_angle_of_a_spring():
    """k (theta - rest) carries the weight: rest = theta + m g sin(theta) / k, for a number as the angle."""
    k = lg.uncertain("k", 80.0, percent=20)
    mechanism = hanging(angle=0.4, stiffness=k, rest_angle=0.0, actuated=False)
    trim = mechanism.trim(solve=["hinge_rest_angle"])
    expected = 0.4 + 2.2 * G * np.sin(0.4) / 90
    assert trim.solution["hinge_rest_angle"].at(m=2.2, k=90)[0, 0] == pytest.approx(expected, rel=1e-12)
    ss = mechanism.linearize(trim, inputs=["hinge_torque"]).at(m=2.2, k=90)
    assert ss.A[1, 0] == pytest.approx(-(2.2 * G * np.cos(0.4) + 90) / 2.2, rel=1e-12)
    slide = lg.PrismaticJoint(
        "slide", parent="ground", child="rod", axis=(0, 0, 1), position=lg.scheduled("z", (0, 1)), stiffness=50,
        rest_position=0, actuated=False,
    )  # fmt: skip
    hung = lg.Mechanism("hung", bodies=[lg.RigidBody("rod", mass=k / 40)], joints=[slide])
    rest = hung.trim(solve=["slide_rest_position"]).solution["slide_rest_position"]
    assert rest.at(z=0.3, k=88)[0, 0] == pytest.approx(0.3 + 88 / 40 * G / 50, rel=1e-13)


def test_torque_of_a_joint_without_actuator():
    """Naming a joint's force gives it an actuator for this trim; that of a free joint is refused."""
    mechanism = hanging()
    trim = mechanism.trim(solve=["hinge_torque"])
    assert trim.torque["hinge"].at(theta=30, m=2)[0, 0] == pytest.approx(2 * G * np.sin(np.pi / 6), rel=1e-13)
    assert mechanism.linearize(trim).inputs == ("hinge_torque",)
    with pytest.raises(lg.ModelError, match="force of the free joint base, which nothing holds"):
        rocket().trim(solve=["base_force_z"])


def test_force_density_of_a_cable():
    """Two stays hold a mast that leans: the tension by length follows, and its stiffness with it."""
    theta = lg.scheduled_angle("theta", (5, 40), unit="deg")
    mast = lg.RigidBody("mast", mass=3, com=(0, 0, 2), inertia=(1, 1, 0.1), ports={"top": (0, 0, 4)})
    hinge = lg.RevoluteJoint(
        "foot", parent="ground", child="mast", axis=(1, 0, 0), angle=theta, actuated=False
    )
    stay = lg.SpringDamper("stay", port="mast_top", anchor=(0, 3, 0), stiffness=500, damping=2)
    mechanism = lg.Mechanism("mast", bodies=[mast], joints=[hinge], loads=[stay])
    trim = mechanism.trim(solve=["stay_force_density"])
    t = np.deg2rad(25)
    lever = 4 * np.cos(t) * 3  # about x: top x (anchor - top) with top = 4 (0, -sin, cos), anchor = (0, 3, 0)
    assert trim.solution["stay_force_density"].at(theta=25)[0, 0] == pytest.approx(
        3 * G * 2 * np.sin(t) / lever, rel=1e-9
    )
    plant = mechanism.linearize(trim, inputs=["mast_top_force"], outputs=["stay_pull", "foot_angle"])
    report = lg.check(trim.mechanism, plant, samples=60, tolerance=1e-10)
    assert report.passed, str(report)


@pytest.mark.parametrize(
    "names", [["acceleration"], ["acceleration_z"], ["engine_force_z", "acceleration_x"]]
)
def test_residual_vanishes(names):
    """After solving, the trim of the mechanism leaves 1e-12 of the forces at random points."""
    trim = rocket().trim(solve=names)
    m = trim.mechanism
    raw = solve_trim(
        m.tree, m.acceleration - m.gravity, m.parameters, exact=False, mechanism=m, unknowns=m.unknowns
    )
    points = check_points(m.parameters, 30, 3)
    value = evaluate_ports(raw.wrench["base"].data, points)
    assert np.abs(value).max() <= 1e-12 * 150


def bad(message, mechanism, names, error=lg.TrimError):
    return pytest.param(mechanism, names, error, message, id=message[:40])


@pytest.mark.parametrize(
    ("mechanism", "names", "error", "message"),
    [
        bad(
            "acceleration_x, acceleration_y undecided|engine_force_z undecided",
            rocket,
            ["acceleration", "engine_force_z"],
        ),
        bad("over-determined: .*equation base_force_z", rocket, ["acceleration_x"]),
        bad("side_force_x does not enter", hanging, ["side_force_x"]),
        bad("every joint has its actuator", lambda: hanging(actuated=True), ["side_force_y"]),
        bad("did you mean side_force", hanging, ["side_forse_y"], lg.ModelError),
        bad("side_force_y is asked for twice", hanging, ["side_force_y", "side_force"], lg.ModelError),
        bad("m does not enter", lambda: hanging(angle=0), ["m"]),
        bad("under-determined", lambda: hanging(side=(0, 3, 0), angle=0.3), ["m", "side_force_y"]),
    ],
)
def test_bad_requests(mechanism, names, error, message):
    """Too many, too few, none that enters, unknown names: errors that name what is wrong."""
    with pytest.raises(error, match=message):
        mechanism().trim(solve=names)


def test_exact_solution():
    """With exact entries the residual is exactly zero, and the solution a fraction."""
    trim = rocket().trim(solve=["acceleration"], exact=True)
    assert trim.solution["acceleration_z"].is_exact
    assert trim.wrench["base"].order == 0


def test_trim_of_another_mechanism():
    """A trim is bound to the mechanism that it was solved from."""
    with pytest.raises(lg.ModelError, match="belongs to another mechanism"):
        rocket().linearize(hanging().trim(solve=["side_force_y"]))
