"""Is there a model everywhere in the box: proven, a counterexample, or undecided."""

import numpy as np
import pytest
import sympy as sp

import lftgen as lg
from tests.strategies import planar_arm


def test_counterexample_inside():
    """1/m over a range that holds 0 (delta = -0.6667 when normalised about 1)."""
    m = lg.uncertain("m", 1.0, bounds=(-0.5, 2.5))
    model = lg.realize([[1 / m]])
    for form in (model, model.normalized()):
        answer = form.well_posed()
        assert answer.answer == "counterexample"
        assert not answer
        assert answer.point["m"] == pytest.approx(0, abs=1e-9)
        assert "m" in answer.how
    assert float(model.normalized().delta[0].delta_of(0.0)) == pytest.approx(-2 / 3)


def test_counterexample_on_the_edge():
    """The same where the singular value is the end of the range."""
    m = lg.uncertain("m", 1.0, bounds=(0, 2))
    answer = lg.realize([[1 / m]]).well_posed()
    assert answer.answer == "counterexample"
    assert answer.point["m"] == pytest.approx(0, abs=1e-9)


def test_never_singular():
    """A payload at a rod's tip is fine down to nothing: 1/J = 0.25, 0.125, 0.08333 at 0, 1, 2 kg."""
    m = lg.uncertain("m", 1.0, bounds=(0, 2))
    model = lg.realize([[1 / (4 + m * 4)]])
    assert model.well_posed().answer == "proven"
    assert model.evaluate({"m": [0, 1, 2]}).ravel() == pytest.approx([1 / 4, 1 / 8, 1 / 12], rel=1e-14)


def test_two_parameters_together():
    """Neither parameter alone makes 1/(p + q - 1) singular; together they do."""
    p, q = lg.uncertain("p", 1.0, bounds=(0.4, 2)), lg.uncertain("q", 1.0, bounds=(0.4, 2))
    answer = lg.realize([[1 / (p + q - 1)]]).well_posed()
    assert answer.answer == "counterexample"
    assert answer.point["p"] + answer.point["q"] == pytest.approx(1, abs=1e-8)
    narrow_p, narrow_q = lg.uncertain("p", 1.0, bounds=(0.6, 2)), lg.uncertain("q", 1.0, bounds=(0.6, 2))
    proven = lg.realize([[1 / (narrow_p + narrow_q - 1)]]).well_posed()
    assert proven.answer == "proven"
    assert "pieces" in proven.how


def test_a_hidden_curve():
    """A determinant that vanishes on a small circle inside the box only."""
    p, q = lg.uncertain("p", 0.0, plus_minus=1), lg.uncertain("q", 0.0, plus_minus=1)
    model = lg.realize(
        [[1 / ((p - sp.Rational(3, 5)) ** 2 + (q - sp.Rational(2, 5)) ** 2 - sp.Rational(1, 400))]]
    )
    answer = model.well_posed()
    assert answer.answer != "proven"
    if answer.answer == "counterexample":
        radius = np.hypot(answer.point["p"] - 0.6, answer.point["q"] - 0.4)
        assert radius == pytest.approx(0.05, abs=1e-6)


def test_undecided_within_the_budget():
    """Without time, and with no singular ray, the answer says what was tried."""
    q1, q2 = lg.scheduled_angle("q1", (-1.5, 1.5)), lg.scheduled_angle("q2", (-2.5, 2.5))
    m = lg.uncertain("m", 1.0, percent=50)
    plant = planar_arm(2, m, q1=q1, q2=q2).linearize()
    answer = plant.well_posed(budget=0.0)
    assert answer.answer in ("undecided", "proven")
    if answer.answer == "undecided":
        assert "rays" in answer.how
    assert plant.well_posed(budget=5.0).answer == "proven"


def test_nothing_to_ask():
    """Models without parameters, and polynomials, are proven."""
    m = lg.uncertain("m", 1.0, percent=50)
    assert lg.realize([[2.0]]).well_posed()
    assert lg.realize([[m**3 + m]]).well_posed()
    assert lg.uncertain_dynamics("D", (2, 2)).well_posed()


def test_a_slow_machine_gives_the_same_answers(monkeypatch):
    """Searches count rays and pieces: with a clock a hundred times faster a loop singular at p = 1 is still told."""
    from lftgen.lft import wellposed

    real = wellposed.time.monotonic
    monkeypatch.setattr(wellposed.time, "monotonic", lambda: 100 * real())
    p = lg.uncertain("p", 0.5, bounds=(0, 1.8))
    with pytest.warns(lg.ModelWarning, match="singular at p = 1"):
        lg.realize([[p]]).feedback(1.0, sign=1)
    q = lg.uncertain("q", 0.5, bounds=(0, 1))
    assert lg.realize([[1 / (q**2 - q + 0.3)]]).well_posed().answer == "proven"
