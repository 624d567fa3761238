"""Letters of angles, and fractions in them: values at points, and what c^2 + s^2 = 1 cancels."""

import numpy as np
import pytest
import sympy as sp

import lftgen as lg
from lftgen.lft.cancelled import cancelled
from lftgen.lft.field import FLOAT, ExactField
from lftgen.lft.letters import lettered, letters_of
from lftgen.lft.model import LFT

ANGLES = [
    lg.scheduled_angle("q", (-1.0, 1.4)),
    lg.scheduled_angle("q", (20, 120), unit="deg", nominal=50),
    lg.scheduled_angle("q", (-3.0, 4.0), chart="quarter"),
    lg.scheduled_angle("q", (0, 60), unit="deg", center=0),
]


@pytest.mark.parametrize("q", ANGLES, ids=str)
@pytest.mark.parametrize("kind", [0, 1])
def test_letters_are_cosine_and_sine_of_the_angle(q, kind):
    """Of the angle itself, or of its half in a quarter chart, wherever the centre is: against numpy."""
    model = LFT(letters_of(q)[kind].lft(1, FLOAT))
    radians = np.pi / 180 if q.unit == "deg" else 1.0
    for value in np.linspace(*q.bounds, 7):
        angle = value * radians / (2 if q.chart == "quarter" else 1)
        want = np.cos(angle) if kind == 0 else np.sin(angle)
        assert abs(model.at(q=value)[0, 0] - want) < 1e-14
    nominal = q.nominal * radians / (2 if q.chart == "quarter" else 1)
    assert abs(letters_of(q)[kind].nominal - (np.cos(nominal) if kind == 0 else np.sin(nominal))) < 1e-14


def test_exact_letters_about_a_right_angle():
    """A centre with rational cosines keeps exact entries; another is refused, and the nested form serves."""
    q = lg.scheduled_angle("q", (45, 135), unit="deg")
    model = LFT(letters_of(q)[1].lft(1, ExactField(())))
    assert abs(model.at(q=70)[0, 0] - np.sin(np.deg2rad(70))) < 1e-15
    odd = lg.scheduled_angle("q", (0, 60), unit="deg")
    with pytest.raises(lg.NotRationalError, match="rational cosines"):
        lettered(sp.Matrix([[sp.cos(odd)]]), exact=True)


q1, q2 = lg.scheduled_angle("q1", (0.2, 1.4)), lg.scheduled_angle("q2", (-0.5, 1.1))
a = lg.uncertain("a", 1.5, bounds=(1, 2))
s1, c1, s2, c2 = sp.sin(q1), sp.cos(q1), sp.sin(q2), sp.cos(q2)


@pytest.mark.parametrize(
    ("expression", "terms"),
    [
        (s1**2 / (1 - c1), 2),
        ((1 - c1) / s1, 3),
        ((a * s1**2 + a * c1**2) / (1 + a), 3),
        ((a**2 - a**2 * c1**2) / (a * s1), 1),
        ((s1**2 - s2**2) / sp.expand(sp.sin(q1 + q2), trig=True), 2),
        ((c1 + a) / (s1 + 2), 4),
    ],
)
def test_common_factors_on_the_circle(expression, terms):
    """Known identities leave so many terms; values are the same at points of the box."""
    m = lettered(sp.Matrix([[expression]]), exact=False)
    short = cancelled(m, m.fractions()[0][0])
    bottom = 0 if short.denom == 1 else len(short.denom)
    assert len(short.numer) + bottom <= terms
    values = {str(x.symbol): x for x in m.letters}
    rng = np.random.default_rng(1)
    for _ in range(5):
        point = {p: rng.uniform(*p.bounds) for p in (q1, q2, a)}
        given = {
            sp.Symbol(n, real=True) if x.parameter.is_angle else x.parameter: (
                point[x.parameter]
                if not x.parameter.is_angle
                else np.cos(point[x.parameter])
                if n.startswith("cos")
                else np.sin(point[x.parameter])
            )
            for n, x in values.items()
        }
        assert abs(float(short.as_expr().xreplace(given)) - float(expression.evalf(subs=point))) < 1e-12


def test_inverse_jacobian_of_an_arm_is_the_jacobian():
    """The inverse of a plane arm's Jacobian, simplified, needs what the Jacobian needs (charts off zero)."""
    l1, l2 = (lg.uncertain(n, 1, bounds=(0.7, 1.5)) for n in ("l1", "l2"))
    elbow = lg.scheduled_angle("q2", (0.4, 1.5))
    s12, c12 = sp.sin(q1 + elbow), sp.cos(q1 + elbow)
    jacobian = sp.Matrix([[-l1 * s1 - l2 * s12, -l2 * s12], [l1 * c1 + l2 * c12, l2 * c12]])
    model = lg.realize(sp.simplify(jacobian.inv()))
    assert model.order == lg.realize(jacobian).order == 6
    assert model.order_report().minimal
    point = {"l1": 0.9, "l2": 1.3, "q1": 0.5, "q2": 0.7}
    values = jacobian.evalf(subs={l1: 0.9, l2: 1.3, q1: 0.5, elbow: 0.7})
    np.testing.assert_allclose(model.at(**point), np.linalg.inv(np.array(values, dtype=float)), rtol=1e-10)
