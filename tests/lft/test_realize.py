"""From sympy to an LFT: values, repetitions, and what is not rational."""

import mpmath
import numpy as np
import pytest
import sympy as sp

import lftgen as lg
from tests.strategies import error

m, L = lg.uncertain("m", 3.0, bounds=(2, 4)), lg.uncertain("l", 1.0, bounds=(0.5, 1.5))
a, b = lg.scheduled_angle("a", (-90, 60), unit="deg"), lg.scheduled_angle("b", (1.0, 3.5))
q4 = lg.scheduled_angle("q4", (-4, 4), chart="quarter", nominal=1)
ALL = (m, L, a, b, q4)
QUICK = {"budget": 0}

EXPRESSIONS = {
    "polynomial": (m**2 * L + 3 * m - 1, {"m": 2, "l": 1}),
    "inverse": (1 / m, {"m": 1}),
    "quotient": ((m + L) / (m * L), None),
    "sine": (sp.sin(a), {"a": 2}),
    "cosine off centre": (sp.cos(b), {"b": 2}),
    "tangent": (sp.tan(a / 2), {"a": 1}),
    "tangent of the angle": (sp.tan(b - sp.Rational(9, 4)), {"b": 2}),
    "cotangent": (sp.cot(b), {"b": 2}),
    "secant": (m * sp.sec(a + 15 * sp.pi / 180), None),
    "double angle": (sp.sin(2 * a), {"a": 4}),
    "sum of angles": (sp.cos(a + b), None),
    "difference and constant": (sp.sin(a - b + 1), {"a": 2, "b": 2}),
    "negative": (sp.sin(-a), {"a": 2}),
    "quarter": (sp.sin(q4), {"q4": 4}),
    "half of a quarter chart": (sp.cos(q4 / 2), {"q4": 2}),
    "irrational constants": (sp.sqrt(2) * m + sp.pi * sp.sin(sp.pi / 7 + a), None),
    "float constants": (0.1 * m + 0.30000000000000004, {"m": 1}),
    "cancelling": ((m**2 - L**2) / (m - L) - L, {"m": 1}),
    "constant": (sp.Integer(7), {}),
    "pythagoras": (sp.sin(a) ** 2 + sp.cos(a) ** 2 + m, {"a": 0, "m": 1}),
}  # fmt: skip


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_values(name):
    """The LFT has the expression's value at corners and random points, and no more repetitions than it needs."""
    expression, repetitions = EXPRESSIONS[name]
    model = lg.realize([[expression]], **QUICK)
    if repetitions is not None:
        assert {k: v for k, v in model.repetitions.items() if v} == {
            k: v for k, v in repetitions.items() if v
        }
    used = sorted(expression.free_symbols, key=str)
    function = sp.lambdify(used, expression, "numpy")
    rng = np.random.default_rng(1)
    for i in range(14):
        point = {
            p.name: (p.bounds[(i >> k) % 2] if i < 4 else rng.uniform(*p.bounds)) for k, p in enumerate(used)
        }
        if name == "cotangent" and abs(np.sin(point["b"])) < 0.2:
            continue
        want = function(*(np.radians(v) if k == "a" else v for k, v in point.items()))
        assert model.at(**point).item() == pytest.approx(float(want), rel=1e-12, abs=1e-12)


def test_mass_and_lever_arm():
    """[[m, m l], [m l, m l^2]]: m once and l twice, equal to direct evaluation to 1e-12 at corners and random points."""
    model = lg.realize([[m, m * L], [m * L, m * L**2]])
    assert model.repetitions == {"m": 1, "l": 2}
    assert model.reduce() is model
    rng = np.random.default_rng(0)
    points = [(x, y) for x in m.bounds for y in L.bounds] + [
        (rng.uniform(*m.bounds), rng.uniform(*L.bounds)) for _ in range(10)
    ]
    for x, y in points:
        assert error(model.at(m=x, l=y), [[x, x * y], [x * y, x * y * y]]) < 1e-12


def test_mass_and_lever_arm_built_from_pieces():
    """Added up entry by entry it has more, and the reduction brings it to the bound."""
    M, arm = lg.realize([[m]]), lg.realize([[1, L]])
    built = arm.T @ M @ arm
    piecewise = lg.vstack(
        [lg.hstack([M, M @ lg.realize([[L]])]), lg.hstack([M @ lg.realize([[L]]), M @ lg.realize([[L**2]])])]
    )
    assert piecewise.order > 4
    assert built.repetitions == {"m": 1, "l": 2}
    assert piecewise.reduce().repetitions["m"] >= built.order_bound()["m"] == 1
    assert built.order_bound() == {"m": 1, "l": 2}
    assert built.order_report().minimal
    point = {"m": 2.3, "l": 1.4}
    assert error(piecewise.reduce().at(**point), built.at(**point)) < 1e-13


@pytest.mark.parametrize("axis", [(0, 0, 1), (sp.Rational(1, 3), sp.Rational(2, 3), sp.Rational(2, 3))])
def test_rotation(axis):
    """A rotation about any axis holds t twice; t = 1 is 90 degrees, t = sqrt(2) - 1 is 45; R R^T = I to 1e-14."""
    q = lg.scheduled_angle("q", (-90, 90), unit="deg")
    r = sp.Matrix(axis)
    K = sp.Matrix([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])
    model = lg.realize(sp.eye(3) + sp.sin(q) * K + (1 - sp.cos(q)) * K**2)
    assert model.repetitions == {"q": 2}
    assert model.order_report().minimal
    Kn = np.array(K.tolist(), dtype=float)
    assert error(model.at(q=90), np.eye(3) + Kn + Kn @ Kn) < 1e-15
    assert error(model.at(q=45), np.eye(3) + np.sqrt(0.5) * Kn + (1 - np.sqrt(0.5)) * Kn @ Kn) < 1e-15
    R = model.evaluate({"q": np.linspace(-90, 90, 20)})
    assert error(R @ np.swapaxes(R, 1, 2), np.broadcast_to(np.eye(3), (20, 3, 3))) < 1e-14


def test_factorable_and_commuting():
    """(p + 2q)(r - 3s) holds each parameter once; a b - b a is nothing from the symbols and 0 from two LFTs."""
    p, q, r, s = (
        lg.uncertain(k, v, bounds=(0.5, 5)) for k, v in zip("pqrs", (1.0, 2.0, 3.0, 4.0), strict=True)
    )
    f = lg.realize([[sp.expand((p + 2 * q) * (r - 3 * s))]])
    assert f.repetitions == {"p": 1, "q": 1, "r": 1, "s": 1}
    assert f.at(p=1, q=2, r=3, s=4).item() == pytest.approx(-45, rel=1e-14)
    assert lg.realize([[p * q - q * p]]).order == 0
    x, y = lg.realize([[p]]), lg.realize([[q]])
    h = x @ y - y @ x
    rng = np.random.default_rng(0)
    assert np.max(np.abs(h.evaluate({"p": rng.uniform(0.5, 5, 20), "q": rng.uniform(0.5, 5, 20)}))) < 1e-12


def test_one_minus_cosine_does_not_cancel():
    """1 - cos(theta) at 1e-6 keeps twelve digits: it is 2 t^2 / (1 + t^2)."""
    q = lg.scheduled_angle("q", (-1, 1), center=0)
    mpmath.mp.dps = 40
    want = float(1 - mpmath.cos(mpmath.mpf(1e-6)))
    assert want == pytest.approx(4.99999999999958e-13, rel=1e-12)
    assert lg.realize([[1 - sp.cos(q)]]).at(q=1e-6).item() == pytest.approx(want, rel=1e-12, abs=0)


@pytest.mark.parametrize(
    "function",
    [
        lambda: sp.sqrt(m),
        lambda: sp.exp(m),
        lambda: sp.sin(m),
        lambda: sp.sin(a / 2) * m,
        lambda: sp.cos(q4 / 3),
        lambda: a + 1,
        lambda: m**L,
        lambda: 2**m,
        lambda: sp.Abs(m - 3),
        lambda: sp.sin(a * b),
        lambda: sp.sin(a + m),
        lambda: sp.sin(a + sp.Symbol("c")),
        lambda: sp.atan(m),
        lambda: sp.Function("f")(m),
        lambda: m + sp.I,
        lambda: m * sp.nan,
        lambda: sp.oo + 0 * m,
        lambda: sp.zoo * m,
        lambda: sp.Piecewise((m, m > 3), (0, True)),
        lambda: float("nan"),
        lambda: float("inf"),
    ],
)
def test_not_rational(function):
    """What is not rational in the coordinates is a NotRationalError that shows the expression."""
    with pytest.raises(lg.NotRationalError):
        lg.realize([[function()]])


def test_division_by_nothing():
    """A pole at the nominal, and a denominator that is identically zero."""
    centred = lg.uncertain("p", 0.0, plus_minus=1)
    with pytest.raises(lg.IllPosedError, match="pole at the nominal"):
        lg.realize([[1 / centred]])
    plain = lg.scheduled_angle("q", (-1, 1))
    zero = sp.sin(plain) ** 2 + sp.cos(plain) ** 2 - 1
    with pytest.raises(lg.NotRationalError, match="divides by zero"):
        lg.realize([[1 / zero]])


def test_exact_entries():
    """Exact entries keep rational numbers, refuse irrational ones, and give the same values."""
    q = lg.scheduled_angle("q", (-40, 80), unit="deg", center=0, nominal=0)
    expression = sp.Matrix([[m / 3 + sp.Rational(1, 7), sp.sin(q)], [L / (m + 1), sp.cos(q)]])
    model, floats = lg.realize(expression, exact=True, **QUICK), lg.realize(expression, **QUICK)
    assert model.is_exact
    assert all(v.is_Rational for v in model.M.flat)
    point = {"m": 2.7, "l": 0.9, "q": 33.0}
    assert error(model.at(**point), floats.at(**point)) < 1e-14
    for bad in (sp.sqrt(2) * m, sp.pi * m, sp.cos(b), sp.sin(q + 1)):
        with pytest.raises(lg.NotRationalError, match=r"rational"):
            lg.realize([[bad]], exact=True)
    assert lg.realize([[sp.sin(sp.pi / 6) * m]], exact=True).is_exact
    assert lg.realize(np.eye(2), exact=True).is_exact


def test_to_sympy_gives_the_expression_back():
    """Exact entries come back as the expression, in sines and cosines or in t."""
    c = sp.Symbol("c", positive=True)
    matrix = sp.Matrix([[c * m * sp.sin(a), c / L], [sp.sin(2 * a), m]])
    angle = lg.scheduled_angle("a", (-60, 60), unit="deg")
    matrix = matrix.xreplace({a: angle})
    model = lg.realize(matrix, **QUICK)
    got = model.to_sympy()
    assert sp.simplify(got - matrix) == sp.zeros(2)
    t = angle.coordinate
    half = model.to_sympy("t").subs(t, sp.tan(angle / 2))
    for values in ({m: 2.5, L: 0.7, c: 1.3, angle: 0.4}, {m: 3.9, L: 1.1, c: 0.2, angle: -0.9}):
        want = np.array(matrix.evalf(subs=values).tolist(), dtype=float)
        for form in (got, half):
            assert error(np.array(form.evalf(subs=values).tolist(), dtype=float), want) < 1e-14
    with pytest.raises(lg.ParameterError, match='"trig" or "t"'):
        model.to_sympy("degrees")


def test_off_centre_angles_in_sympy():
    """A chart with a centre of its own, and a quarter chart, come back right as well."""
    tilted = lg.scheduled_angle("w", (0, 80), unit="deg", center=30)
    quarter = lg.scheduled_angle("v", (-3, 3), chart="quarter")
    for p, expression in ((tilted, sp.sin(tilted) + 2 * sp.cos(tilted)), (quarter, sp.sin(quarter) * 3)):
        got = lg.realize([[expression]], exact=p is quarter).to_sympy()[0]
        for value in (0.1, 0.7, 1.2):
            assert float(got.subs(p, value)) == pytest.approx(float(expression.subs(p, value)), rel=1e-12)


def test_uncertain_dynamics_are_not_an_expression():
    """to_sympy of a model with uncertain dynamics says what to do."""
    with pytest.raises(lg.ModelError, match=r"Delta0 .*fix it with subs"):
        lg.uncertain_dynamics("Delta0", (1, 1)).to_sympy()


def test_entries_of_every_kind_in_one_matrix():
    """Numbers, expressions and LFTs mix in a nested list."""
    block = lg.realize([[m]])
    model = lg.realize([[1, block], [L * m, 2.5]])
    assert error(model.at(m=2.5, l=0.6), [[1, 2.5], [1.5, 2.5]]) < 1e-14


def test_state_space_of_expressions():
    """ss takes expressions, numbers and LFTs, shares factors among A, B, C and D, and names everything."""
    A, B, C, D = [[0, 1], [-m, -L]], [[0], [1 / m]], [[m, 0]], [[L]]
    plant = lg.ss(A, B, C, D, states=["x", "v"], inputs=["f"], outputs=["y"])
    mixed = lg.ss(lg.realize(A), B, lg.realize(C), D, states=["x", "v"], inputs=["f"], outputs=["y"])
    for model in (plant, mixed):
        ss = model.at(m=2.5, l=0.6)
        assert error(ss.A, [[0, 1], [-2.5, -0.6]]) < 1e-14
        assert error(ss.B, [[0], [0.4]]) < 1e-14
        assert error(ss.C, [[2.5, 0]]) < 1e-14
        assert error(ss.D, [[0.6]]) < 1e-14
        assert (ss.state_labels, ss.input_labels, ss.output_labels, ss.dt) == (["x", "v"], ["f"], ["y"], 0)
    with pytest.raises(lg.ModelError, match="without states"):
        lg.ss(plant, np.zeros((1, 1)), np.zeros((1, 1)), [[0]])
