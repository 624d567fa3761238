"""Mechanisms that cannot be: each a clear error of the right class that names the object, in under a second."""

import math
import time

import numpy as np
import pytest
import sympy as sp

import lftgen as lg

M = lg.uncertain("m", 1.0, percent=20)
THETA = lg.scheduled_angle("theta", (-1, 1))


def body(name="b", **kwargs):
    return lg.RigidBody(name, **{"mass": 1, "com": (0, 0, 1)} | kwargs)


def hinge(name="j", parent="ground", child="b", **kwargs):
    return lg.RevoluteJoint(name, parent=parent, child=child, **{"axis": (1, 0, 0)} | kwargs)


def mechanism(bodies, joints, **kwargs):
    return lg.Mechanism("mech", bodies=bodies, joints=joints, **kwargs)


MODEL = {
    # topology and names
    "unknown parent": (lambda: mechanism([body("link")], [hinge(parent="lnk", child="link")]), "unknown body.*joint j.*'lnk'.*link"),
    "unknown child": (lambda: mechanism([body()], [hinge(child="c")]), "'c'"),
    "duplicate body": (lambda: mechanism([body(), body()], [hinge()]), "body name b occurs twice"),
    "duplicate joint": (lambda: mechanism([body(), body("c")], [hinge(), hinge(child="c")]), "joint name j occurs twice"),
    "body and joint of one name": (lambda: mechanism([body()], [hinge("b")]), "b names a body and a joint"),
    "two parents": (
        lambda: mechanism([body(), body("c")], [hinge(), hinge("k", child="c"), hinge("l", "b", "c")]),
        "body c has two parents.*k.*l",
    ),
    "loop": (
        lambda: mechanism(
            [body(), body("c"), body("d")], [hinge(), hinge("k", "d", "c"), hinge("l", "c", "d")]
        ),
        "k, l form a loop",
    ),
    "parent is child": (lambda: hinge(parent="b"), "j: parent and child are both b"),
    "no ground": (lambda: mechanism([body(), body("c")], [hinge(parent="c")]), 'no joint has parent "ground"'),
    "loose body": (lambda: mechanism([body(), body("c")], [hinge()]), "body c hangs on no joint"),
    "reserved name": (lambda: body("ground"), "'ground' is reserved"),
    "name with a dot": (lambda: body("a.b"), "letters, digits and underscores"),
    "empty name": (lambda: hinge(""), "letters, digits and underscores"),
    "no bodies": (lambda: mechanism([], []), "no joint|at least"),
    "not a body": (lambda: mechanism([1], [hinge()]), "bodies must be"),
    "not a joint": (lambda: mechanism([body()], ["j"]), "joints must be"),
    "massless end": (lambda: mechanism([body(mass=0)], [hinge()]), "beyond the moving joint j there is no mass.*b"),
    # numbers
    "nan mass": (lambda: body(mass=math.nan), "body b: mass must be a finite"),
    "infinite com": (lambda: body(com=(0, math.inf, 0)), r"body b: com\[1\] must be a finite"),
    "text mass": (lambda: body(mass="2"), "body b: mass must be a number"),
    "no mass": (lambda: body(mass=None), "body b: mass must be a number"),
    "complex mass": (lambda: body(mass=1 + 1j), "body b: mass must be"),
    "complex expression": (lambda: body(mass=sp.I), "body b: mass must be"),
    "negative mass": (lambda: body(mass=-1), "body b: the mass must not be negative"),
    "mass negative in the range": (
        lambda: body(mass=lg.uncertain("m", 1.0, bounds=(-0.5, 2.5))),
        r"body b: the mass must not be negative.*m = -0\.5.*vanishes at m = 0 \(delta = -0\.6667\)",
    ),
    "two coordinates": (lambda: body(com=(0, 1)), "body b: com must be 3 values, got 2"),
    "negative inertia": (lambda: body(inertia=(-1, 1, 1)), "body b: .*negative principal"),
    "triangle rule": (lambda: body(inertia=(0.1, 0.1, 0.25)), "body b: .*triangle rule"),
    "triangle rule in the range": (
        lambda: body(inertia=(0.1, 0.1, lg.uncertain("i", 0.15, bounds=(0.1, 0.25)))),
        "body b: .*triangle rule.*i = 0.25",
    ),
    "unsymmetric inertia": (lambda: body(inertia=((1, 0.1, 0), (0, 1, 0), (0, 0, 1))), r"must be symmetric.*\[0\]\[1\]"),
    "inertia about": (lambda: body(inertia_about="centre"), 'inertia_about must be "com" or "origin"'),
    "point below its own inertia": (
        lambda: body(inertia=(0.5, 0.5, 0), inertia_about="origin"),
        "body b: .*negative principal",
    ),
    "port of two numbers": (lambda: body(ports={"tip": (0, 1)}), "port tip"),
    "port called com": (lambda: body(ports={"com": (0, 0, 1)}), "'com' always exists"),
    "zero axis": (lambda: hinge(axis=(0, 0, 0)), "joint j: axis must be a direction.*length is 0"),
    "tiny axis": (lambda: hinge(axis=(0, 0, 1e-16)), "joint j: axis must be a direction"),
    "nan axis": (lambda: hinge(axis=(0, 0, math.nan)), r"joint j: axis\[2\] must be a finite"),
    "axis of a parameter": (lambda: hinge(axis=(0, M, 1)), "joint j: axis must be numbers"),
    "negative damping": (lambda: hinge(damping=-0.1), "joint j: damping must not be negative"),
    "negative armature": (lambda: hinge(armature=-0.1), "joint j: armature must not be negative"),
    "no gear": (lambda: hinge(gear_ratio=0), "joint j: gear_ratio must not be zero"),
    "nan gravity": (lambda: mechanism([body()], [hinge()], gravity=(0, 0, math.nan)), r"gravity\[2\] must be a finite"),
    "parameter and plain symbol": (
        lambda: mechanism([body(mass=M), body("c", mass=sp.Symbol("m"))], [hinge(), hinge("k", "b", "c")]),
        r"\bm\b.*parameter",
    ),
}  # fmt: skip


def quickly(call, kind, message):
    """The error, and that it came in under a second (of this process)."""
    start = time.process_time()
    with pytest.raises(kind, match=message):
        call()
    assert time.process_time() - start < 1.0


@pytest.mark.parametrize("name", MODEL)
def test_models(name):
    """Wrong structure and numbers are ModelErrors."""
    call, message = MODEL[name]
    quickly(call, lg.ModelError, message)


def test_parameters_of_one_name():
    """Two different parameters of one name in one mechanism."""
    other = lg.uncertain("m", 1.0, percent=30)
    quickly(
        lambda: mechanism([body(mass=M), body("c", mass=other)], [hinge(), hinge("k", "b", "c")]),
        lg.ParameterError,
        "two different parameters are named m",
    )


ANGLES = {
    "uncertain": lambda: hinge(angle=M),
    "free symbol": lambda: hinge(angle=sp.Symbol("a")),
    "double": lambda: hinge(angle=2 * THETA),
    "sum": lambda: hinge(angle=THETA + lg.scheduled_angle("phi", (-1, 1))),
    "sine": lambda: hinge(angle=sp.sin(THETA)),
    "length": lambda: hinge(angle=lg.scheduled("x", (0, 1))),
}


@pytest.mark.parametrize("name", ANGLES)
def test_angles(name):
    """An angle that is no scheduled angle, its negative or either plus a constant is not rational."""
    quickly(ANGLES[name], lg.NotRationalError, "joint j")


def test_irrational_placements_in_exact_mode():
    """Exact entries need rational sines; without exact the same mechanism works."""
    mech = mechanism([body(mass=M)], [hinge(rpy=(0.3, 0, 0), angle=THETA)])
    quickly(lambda: mech.linearize(exact=True), lg.NotRationalError, "rational")
    assert mech.linearize().order > 0


def test_singular_in_the_box():
    """A point mass whose range reaches zero leaves the joint without inertia there: the error names mass and value."""
    mass = lg.uncertain("m", 1.0, bounds=(0, 2))
    mech = mechanism([body(mass=mass)], [hinge()])
    quickly(mech.linearize, lg.IllPosedError, r"m = 0\b")
    beyond = mechanism(
        [body(mass=3, inertia=(1, 1, 0)), body("c", mass=mass, com=(0, 0, 0))], [hinge(), _weld()]
    )
    gains = [1 / beyond.linearize().at(m=v).B[1, 0] for v in (0.0, 1.0, 2.0)]
    assert gains == pytest.approx([4, 8, 12], rel=1e-13)


def _weld():
    return lg.FixedJoint("f", parent="b", child="c", origin=(0, 0, 2))


def test_trim_of_another_mechanism():
    """A trim belongs to its mechanism."""
    one, two = (mechanism([body(mass=v)], [hinge()]) for v in (1, 2))
    quickly(lambda: one.linearize(two.trim()), lg.ModelError, "trim belongs to another mechanism")


def test_what_is_fine():
    """Point masses, flat plates, massless links between joints, normalised axes, joints in any order."""
    assert np.allclose([float(v) for v in hinge(axis=(0, 0, 2)).axis], [0, 0, 1])
    body(inertia=(0.1, 0.15, 0.25))
    body(inertia=(0, 0, 0))
    links = [body(), body("c", mass=0), body("d")]
    joints = [hinge("l", "c", "d", origin=(0, 0, 1)), hinge("k", "b", "c", axis=(0, 1, 0)), hinge()]
    mech = mechanism(links, joints)
    plant = mech.linearize()
    assert plant.states == ("l_angle", "k_angle", "j_angle", "l_rate", "k_rate", "j_rate")
    assert lg.check(mech, plant, samples=1).max_relative_error < 1e-12


def test_frozen():
    """Bodies, joints and mechanisms cannot be changed, and equal ones are equal."""
    mech = mechanism([body()], [hinge()])
    for thing, name in ((mech, "gravity"), (mech.bodies[0], "mass"), (mech.joints[0], "axis")):
        with pytest.raises(AttributeError, match="immutable"):
            setattr(thing, name, 1)
    assert body() == body()
    assert body() != body(mass=2)
    assert hinge() == hinge()
    assert hinge() != hinge(angle=0.1)
    assert len({body(), body(), hinge(), hinge()}) == 2


@pytest.mark.parametrize(("option", "value"), [("actuated", "no"), ("hub_inertia", -0.5)])
def test_options_of_a_revolute_joint(option, value):
    """A word for a truth value and a negative inertia are refused by name."""
    with pytest.raises(lg.ModelError, match=f"joint j: {option}"):
        lg.RevoluteJoint("j", parent="ground", child="b", axis=(0, 0, 1), **{option: value})


@pytest.mark.parametrize("bound", [-1.0, 0.0, float("nan"), float("inf")])
def test_bound_of_uncertain_dynamics(bound):
    """A bound is a positive number."""
    with pytest.raises(lg.ModelError, match="bound"):
        lg.uncertain_dynamics("d", (1, 1), bound=bound)
