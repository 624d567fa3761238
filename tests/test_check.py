"""The check itself: it passes right models, fails wrong ones, and says where."""

import numpy as np
import pytest
import sympy as sp

import lftgen as lg
from lftgen.check import block_errors, check_points
from tests.strategies import pendulum, planar_arm

M1, M2 = lg.uncertain("m1", 2.0, percent=20), lg.uncertain("m2", 1.0, percent=20)
Q1, Q2 = lg.scheduled_angle("q1", (-60, 80), unit="deg"), lg.scheduled_angle("q2", (-1.5, 1.5))


def _arm(**kwargs):
    return planar_arm(**{"m1": M1, "m2": M2, "q1": Q1, "q2": Q2, "damping": 0.1} | kwargs)


OTHERS = {
    "gravity": {"gravity": 9.8},
    "gravity reversed": {"gravity": -9.81},
    "a length": {"l2": sp.Rational(51, 100)},
    "damping": {"damping": sp.Rational(11, 100)},
    "stiffness": {"stiffness": sp.Rational(1, 1000)},
    "centre of mass": {"com": sp.Rational(1001, 2000)},
    "angles swapped": {"q1": Q2, "q2": Q1},
    "masses swapped": {"m1": M2, "m2": M1},
    "an angle reversed": {"q2": -Q2},
    "armature": {"armature": sp.Rational(1, 10000)},
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_model_of_another_mechanism_fails(name):
    """Each small difference in the data is seen."""
    report = lg.check(_arm(**OTHERS[name]), _arm().linearize(), samples=10)
    assert not report.passed
    assert not report
    assert report.max_relative_error > 1e-6
    assert "FAILED" in str(report)


def test_a_right_model_passes():
    """The report counts its points, names the worst, and knows each block."""
    seen = []
    report = lg.check(_arm(), _arm().linearize(), samples=20, progress=lambda i, n: seen.append((i, n)))
    assert report.passed
    assert report
    assert report.points == 1 + 16 + 20
    assert seen[-1] == (37, 37)
    assert report.max_relative_error < 1e-12
    assert set(report.worst_point) == {"m1", "m2", "q1", "q2"}
    assert set(report.block_errors) == {"kinematic", "A21", "A22", "B", "C", "D"}
    assert report.max_relative_error == max(report.block_errors.values())
    assert "passed" in str(report)
    assert report.to_dict()["passed"] is True
    assert not lg.check(_arm(), _arm().linearize(), samples=2, tolerance=0.0).passed


def test_the_worst_point_is_named():
    """An error that grows with a mass is worst at that mass's end."""
    plant = _arm().linearize()
    wrong = plant + lg.ss(
        np.zeros((0, 0)), np.zeros((0, 2)), np.zeros((2, 0)), [[1e-3 * (M1 - 1.6), 0], [0, 0]]
    )
    report = lg.check(_arm(), wrong, samples=10)
    assert report.worst_block == "D"
    assert report.worst_point["m1"] == pytest.approx(2.4)


@pytest.mark.parametrize("block", ["A21", "A22", "B", "C", "D", "kinematic"])
def test_each_block_is_looked_at(block):
    """One entry of a block that is off by 1e-6 of the block shows in that block alone."""
    model = _arm().linearize().at()
    parts = {k: np.asarray(getattr(model, k)).copy() for k in "ABCD"}
    want = tuple(v.copy() for v in parts.values())
    name, index = {
        "A21": ("A", (2, 0)),
        "A22": ("A", (3, 3)),
        "B": ("B", (2, 1)),
        "C": ("C", (0, 0)),
        "D": ("D", (1, 1)),
        "kinematic": ("A", (0, 2)),
    }[block]
    parts[name][index] += 1e-6 * max(np.max(np.abs(parts[name])), 1)
    errors = dict(
        zip(
            ("kinematic", "A21", "A22", "B", "C", "D"), block_errors(tuple(parts.values()), want), strict=True
        )
    )
    assert [k for k, v in errors.items() if v > 1e-8] == [block]


def test_blocks_that_are_zero_up_to_rounding():
    """An output that vanishes is measured by the rest of the model, not by the numeric model's own rounding."""
    hinge = lg.RevoluteJoint("j", parent="ground", child="b", axis=(1, 2, 3), rpy=(0.1, 0.7, 0.2), angle=Q1)
    body = lg.RigidBody("b", mass=1, com=(0.1, 0.2, 0.5), inertia=(1, 1, 1))
    mech = lg.Mechanism("m", bodies=[body], joints=[hinge], acceleration=(0.1, 0.2, 0))
    plant = mech.linearize(outputs=["b_origin_acceleration"])
    assert lg.check(mech, plant, samples=5).max_relative_error < 1e-12


def test_nan_fails():
    """A model that gives no number does not pass."""
    right = tuple(np.asarray(getattr(_arm().linearize().at(), k)) for k in "ABCD")
    wrong = tuple(v * np.nan for v in right)
    assert not max(block_errors(wrong, right)) <= 1e-8


def test_points():
    """The nominal first, all corners, then random points inside, repeatable."""
    points = check_points((M1, Q1), 50, seed=3)
    assert points["m1"][0] == 2.0
    corners = {(a, b) for a, b in zip(points["m1"][1:5], points["q1"][1:5], strict=True)}
    assert corners == {(a, b) for a in M1.bounds for b in Q1.bounds}
    assert len(points["m1"]) == 55
    assert np.all((points["q1"] >= -60) & (points["q1"] <= 80))
    assert np.array_equal(points["m1"], check_points((M1, Q1), 50, seed=3)["m1"])
    many = tuple(lg.uncertain(f"p{i}", 1.0, percent=1) for i in range(12))
    assert len(check_points(many, 3, seed=0)["p0"]) == 1 + 256 + 3


def test_models_that_cannot_be_compared():
    """Another mechanism's states, fixed parameters and unknown outputs are errors, not results."""
    plant = _arm().linearize()
    with pytest.raises(lg.ModelError, match="states"):
        lg.check(pendulum(Q1), plant)
    with pytest.raises(lg.ModelError, match=r"parameters differ.*m1"):
        lg.check(_arm(), plant.subs(m1=2.0))
    with pytest.raises(lg.ModelError, match="J1_angel"):
        lg.check(_arm(), plant.rename(outputs={"J1_angle": "J1_angel"}))
    symbolic = pendulum(lg.scheduled_angle("q", (-1, 1)), mass=sp.Symbol("M"))
    with pytest.raises(lg.ModelError, match="free symbols M"):
        lg.check(symbolic, symbolic.linearize())
