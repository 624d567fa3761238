"""Wrong types and values of every public function: an error of the library that says what was expected and what came."""

import math

import control
import numpy as np
import pytest

import lftgen as lg
from lftgen import arguments

MASS = lg.uncertain("m", 2.0, bounds=(1, 4))
THETA = lg.scheduled_angle("theta", (-60, 60), unit="deg")
ROD = lg.RigidBody("rod", mass=MASS, com=(0.5, 0, 0), inertia=(0, 0.1, 0.1), ports={"tip": (1, 0, 0)})
HINGE = lg.RevoluteJoint("J", parent="ground", child="rod", axis=(0, 0, 1), angle=THETA)
MECHANISM = lg.Mechanism("pendulum", bodies=[ROD], joints=[HINGE], gravity=(0, -9.81, 0))
PLANT = MECHANISM.linearize()


def hinge(**changes):
    return lg.RevoluteJoint(
        "J", **{"parent": "ground", "child": "rod", "axis": (0, 0, 1), "angle": THETA} | changes
    )


def loop():
    bodies = [lg.RigidBody(n, mass=1, com=(1, 0, 0)) for n in "ab"]
    joints = [hinge(parent="a", child="b"), lg.FixedJoint("K", parent="b", child="a")]
    return lg.Mechanism("x", bodies=bodies, joints=joints)


WRONG = {
    "trim by position": (lambda: MECHANISM.linearize(["J_torque"]), "trim must be.*by keyword"),
    "text for a truth": (lambda: MECHANISM.linearize(exact="yes"), "exact must be True or False"),
    "inputs not a list": (lambda: MECHANISM.linearize(inputs=3), "inputs must be a list of names"),
    "outputs not names": (lambda: MECHANISM.linearize(outputs=[3]), "outputs must be a list of names"),
    "nothing connected": (lambda: lg.connect([], inputs=[], outputs=[]), "at least one system"),
    "one system connected": (lambda: lg.connect(PLANT, inputs=[], outputs=[]), "takes a list of systems"),
    "connect names": (
        lambda: lg.connect([PLANT], inputs=[3], outputs=["J_angle"]),
        "inputs must be a list of names",
    ),
    "nothing stacked": (lambda: lg.hstack([]), "hstack needs at least one"),
    "check swapped": (lambda: lg.check(PLANT, MECHANISM), "first argument.*must be a Mechanism"),
    "check samples": (lambda: lg.check(MECHANISM, PLANT, samples=-1), "samples must be a whole number"),
    "check tolerance": (lambda: lg.check(MECHANISM, PLANT, tolerance=-1), "tolerance must be at least 0"),
    "declared name": (lambda: PLANT.declare("m"), "Parameter objects, got 'm'"),
    "parameter as block": (lambda: lg.upper_lft([[1]], [MASS]), "list of DeltaBlock"),
    "renamed by numbers": (lambda: PLANT.rename(inputs=[3]), "inputs must be a list of names"),
    "shape of one number": (lambda: lg.full_block("D", (2,)), "D: shape must be"),
    "no repetitions": (lambda: lg.complex_scalar("d", 0), "repetitions must be a whole number"),
    "evaluate nothing": (lambda: PLANT.evaluate(None), "expected values by parameter name"),
    "evaluate by object": (lambda: PLANT.evaluate({MASS: [1.0]}), "given by their names"),
    "evaluate texts": (lambda: PLANT.evaluate({"m": ["2", "3"]}), "m: expected real numbers"),
    "text value": (lambda: PLANT.at(m="2"), "m: expected real numbers"),
    "truth value": (lambda: PLANT.at(m=True), "m: expected real numbers"),
    "text tolerance": (lambda: PLANT.reduce("x"), "tolerance must be a number"),
    "negative tolerance": (lambda: PLANT.reduce(-1e-9), "tolerance must be at least 0"),
    "text budget": (lambda: PLANT.well_posed(budget="x"), "budget must be a number"),
    "mechanism for a plant": (lambda: lg.lpv_system(MECHANISM), "plant must be a LFT"),
    "list of ports": (lambda: lg.RigidBody("r", mass=1, ports=["tip"]), "body r: ports must be given as"),
    "number of rotors": (lambda: lg.RigidBody("r", mass=1, rotors=3), "body r: rotors must be a list"),
    "no bodies": (lambda: lg.Mechanism("x", bodies=[], joints=[]), "bodies is empty"),
    "bodies None": (lambda: lg.Mechanism("x", bodies=None, joints=[]), "bodies must be a list"),
    "loads number": (lambda: lg.Mechanism("x", bodies=[ROD], joints=[HINGE], loads=3), "loads must be"),
    "loop off the ground": (loop, "no joint has parent.*joints J, K form a loop|joints K, J form a loop"),
    "misspelt ground": (
        lambda: lg.Mechanism("x", bodies=[ROD], joints=[hinge(parent="groud")]),
        "'groud': did you mean.*ground",
    ),
    "text nominal": (lambda: lg.uncertain("q", "2", percent=20), "q: nominal must be a number"),
    "truth nominal": (lambda: lg.uncertain("q", True, percent=20), "q: nominal must be a number"),
    "text bounds": (lambda: lg.uncertain("q", 1.5, bounds="12"), "q: bounds must be a pair"),
    "text percent": (lambda: lg.uncertain("q", 1.0, percent="20"), "q: percent must be a number"),
    "overflow": (lambda: lg.uncertain("q", 1e308, percent=200), "q: .*finite|beyond what numbers hold"),
    "chart list": (lambda: lg.scheduled_angle("a", (0, 1), chart=["half"]), "a: chart must be"),
    "initial NaN": (
        lambda: lg.simulate(MECHANISM, [0, 1], initial={"J_angle": math.nan}),
        "initial J_angle must be a finite",
    ),
    "input text": (
        lambda: lg.simulate(MECHANISM, [0, 1], inputs={"J_torque": "a"}),
        "input J_torque.*must be a number",
    ),
    "time text": (lambda: lg.simulate(MECHANISM, "soon"), "time must be at least two increasing"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_arguments_are_named(case):
    """Each is an lftgen error whose message names the argument."""
    call, message = WRONG[case]
    with pytest.raises(lg.LftgenError, match=message):
        call()


@pytest.mark.parametrize("angle", [45, THETA + 30], ids=["45", "theta + 30"])
def test_degrees_taken_for_radians_are_told(angle):
    """More than a turn of constant angle is legal, and probably degrees."""
    with pytest.warns(lg.ModelWarning, match="if degrees were meant"):
        hinge(angle=angle)


def test_numbers_of_other_libraries_are_numbers():
    """numpy's and sympy's scalars are accepted, their truth values are not."""
    import sympy as sp

    for value in (np.float32(2), np.int64(2), sp.Integer(2), np.array(2.0)):
        assert arguments.number(value, "x") == 2.0
    for value in (np.bool_(True), sp.true, None, np.array([2.0]), 2j, math.inf):
        with pytest.raises(lg.ModelError, match="x must be"):
            arguments.number(value, "x")


def test_rounding_of_a_mass_is_not_a_negative_mass():
    """A difference of parameters that vanishes at a corner may come out as -1e-16."""
    total, part = lg.uncertain("total", 0.3, bounds=(0.3, 0.4)), lg.uncertain("part", 0.1, bounds=(0, 0.1))
    rest = total - part - 0.2
    assert lg.RigidBody("rest", mass=rest, com=(0, 0, 1)).mass == rest


def test_lpv_system_outside_its_range_is_an_error():
    """A scheduling value beyond the range is not clipped in silence."""
    system = lg.lpv_system(PLANT)
    with pytest.raises(lg.ParameterError, match=r"theta = 90 deg is outside its range"):
        system.dynamics(0.0, [0.1, 0.0], [0.0, 90.0], {})
    assert isinstance(system, control.NonlinearIOSystem)
