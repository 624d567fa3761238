"""Parameters: ranges, charts, units, identity, and what sympy does with them."""

import copy
import math
import pickle
import warnings

import numpy as np
import pytest
import sympy as sp

import lftgen as lg

# --- ranges and nominal values ---------------------------------------------------------------------------------------

RANGES = {
    "bounds": ({"bounds": (1, 5)}, (1.0, 5.0)),
    "percent": ({"percent": 20}, (2.4, 3.6)),
    "skewed percent": ({"percent": (-10, 50)}, (2.7, 4.5)),
    "plus_minus": ({"plus_minus": 0.5}, (2.5, 3.5)),
    "skewed plus_minus": ({"plus_minus": (-1, 2)}, (2.0, 5.0)),
}


@pytest.mark.parametrize("name", RANGES)
def test_ranges(name):
    """Each way to give a range; the nominal is what was given."""
    kwargs, bounds = RANGES[name]
    p = lg.uncertain("p", 3.0, **kwargs)
    assert p.bounds == pytest.approx(bounds, rel=1e-15)
    assert (p.nominal, p.role, p.unit, p.rate) == (3.0, "uncertain", "", None)


def test_percent_of_a_negative_nominal():
    """The range of a negative nominal is not reversed."""
    assert lg.uncertain("p", -2.0, percent=50).bounds == (-3.0, -1.0)


BAD = {
    "nominal outside": (lambda: lg.uncertain("mass", 6, bounds=(1, 5)), "mass: the nominal 6 is outside"),
    "reversed": (lambda: lg.uncertain("mass", 2, bounds=(5, 1)), "mass: bounds are reversed"),
    "nan nominal": (lambda: lg.uncertain("mass", math.nan, bounds=(1, 5)), "mass: nominal must be a finite"),
    "infinite bound": (lambda: lg.uncertain("mass", 2, bounds=(1, math.inf)), "mass: bounds must be a finite"),
    "no range": (lambda: lg.uncertain("mass", 2), "mass: give exactly one of"),
    "two ranges": (lambda: lg.uncertain("mass", 2, percent=1, bounds=(1, 5)), "mass: give exactly one of"),
    "not a pair": (lambda: lg.uncertain("mass", 2, bounds=3), "mass: bounds must be a pair"),
    "text": (lambda: lg.uncertain("mass", "two", bounds=(1, 5)), "mass: nominal must be a number"),
    "negative percent": (lambda: lg.uncertain("mass", 2, percent=-5), "mass: percent must not be negative"),
    "percent of zero": (lambda: lg.uncertain("mass", 0, percent=5), "mass: percent of a nominal 0"),
    "one-sided pair": (lambda: lg.uncertain("mass", 2, plus_minus=(1, 2)), "mass: plus_minus must be a pair"),
    "name": (lambda: lg.uncertain("a mass", 2, percent=5), "name must be letters"),
    "no name": (lambda: lg.uncertain("", 2, percent=5), "name must be letters"),
    "rate": (lambda: lg.scheduled("L", (0, 1), rate=math.nan), "L: rate must be a finite"),
    "negative rate": (lambda: lg.scheduled("L", (0, 1), rate=-1), "L: rate must not be negative"),
    "chart": (lambda: lg.scheduled_angle("q", (0, 1), chart="third"), 'q: chart must be "half" or "quarter"'),
    "unit": (lambda: lg.scheduled_angle("q", (0, 1), unit="grad"), 'q: the unit of an angle must be "rad" or "deg"'),
    "whole turn": (lambda: lg.scheduled_angle("q", (-180, 180), unit="deg"), "use chart=\"quarter\""),
    "degrees without unit": (lambda: lg.scheduled_angle("q", (0, 90)), "14.3 turns: was unit=\"deg\" meant"),
    "off-centre": (lambda: lg.scheduled_angle("q", (150, 210), unit="deg", center=0), "another center"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    """Each is a ParameterError that names the parameter."""
    call, message = BAD[name]
    with pytest.raises(lg.ParameterError, match=message):
        call()


@pytest.mark.parametrize(
    ("nominal", "bounds", "formula", "pole"),
    [
        (2.0, (1, 5), lambda d: (2 + 0.5 * d) / (1 - 0.5 * d), 2.0),
        (1.2, (1, 5), lambda d: (1.2 - 0.7 * d) / (1 - 0.9 * d), 1 / 0.9),
        (3.0, (1, 5), lambda d: 3 + 2 * d, None),
    ],
)
def test_skewed_nominal(nominal, bounds, formula, pole):
    """Normalised, delta = -1, 0, 1 are the lower end, the nominal and the upper end: one occurrence, a fractional map."""
    p = lg.uncertain("p", nominal, bounds=bounds)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = lg.realize([[p]]).normalized()
    near = pole is not None and pole < 1.25
    assert [w.category for w in caught] == [lg.ParameterWarning] * near
    assert not near or ("p: " in str(caught[0].message) and "1.1111" in str(caught[0].message))
    (block,) = model.delta
    assert model.order == 1
    for d in (-1.0, -0.3, 0.0, 0.6, 1.0):
        value = formula(d)
        assert block.map.coordinate(d) == pytest.approx(value, rel=1e-14)
        assert block.delta_of(value) == pytest.approx(d, abs=1e-14)
        assert model.at(p=value).item() == pytest.approx(value, rel=1e-14)
    # the value read off M directly: M22 + M21 d (1 - M11 d)^-1 M12
    (m11, m12), (m21, m22) = model.M
    assert m22 + m21 * 0.6 / (1 - m11 * 0.6) * m12 == pytest.approx(formula(0.6), rel=1e-14)
    assert pole is None or -1 / block.map.skew == pytest.approx(pole, rel=1e-12)
    middle = lg.realize([[p]]).normalized(recenter=True)
    assert middle.at(p=3.0).item() == pytest.approx(3.0)
    assert (middle.M[1, 1], middle.delta[0].map.skew) == (3.0, 0.0)


def test_nominal_on_the_edge():
    """Allowed, and evaluated; normalising it needs the midpoint, and says so."""
    p = lg.uncertain("p", 1.0, bounds=(1, 5))
    model = lg.realize([[1 / p]])
    assert model.at(p=4.0).item() == pytest.approx(0.25)
    with pytest.raises(lg.ParameterError, match=r"p: .*edge.*recenter=True"):
        model.normalized()
    assert model.normalized(recenter=True).at(p=4.0).item() == pytest.approx(0.25)


def test_a_range_of_one_value_is_a_constant():
    """No Delta entry; the parameter stays declared and takes its value."""
    p, q = lg.uncertain("p", 3, bounds=(3, 3)), lg.scheduled_angle("q", (30, 30), unit="deg")
    model = lg.realize([[p, sp.sin(q)]])
    assert model.repetitions == {"p": 0, "q": 0}
    assert model.at(p=3.0, q=30.0).tolist() == [[3.0, 0.5]]
    with pytest.raises(lg.ParameterError, match="outside its range"):
        model.at(p=3.1)


# --- angles ----------------------------------------------------------------------------------------------------------


def test_range_through_the_half_turn():
    """The chart is centred on the range: t runs from -0.268 to 0.268 and R at its centre is exactly -I."""
    q = lg.scheduled_angle("q", (150, 210), unit="deg")
    assert q.center == 180
    assert q.coordinate_bounds == pytest.approx((-0.2679491924311227, 0.2679491924311227), rel=1e-12)
    R = lg.realize([[sp.cos(q), -sp.sin(q)], [sp.sin(q), sp.cos(q)]])
    assert R.repetitions == {"q": 2}
    assert np.array_equal(R.at(q=180), -np.eye(2))
    exact = lg.realize([[sp.cos(q), -sp.sin(q)], [sp.sin(q), sp.cos(q)]], exact=True)
    assert np.array_equal(exact.at(), -np.eye(2))


def test_wide_ranges():
    """Nearly a whole turn is allowed with a note on the size of t; a quarter chart covers it with a small one."""
    with pytest.warns(lg.ParameterWarning, match=r"q: .*11\.430052"):
        q = lg.scheduled_angle("q", (-170, 170), unit="deg")
    assert q.coordinate_bounds[1] == pytest.approx(11.430052302761343, rel=1e-12)
    wide = lg.scheduled_angle("q", (-180, 180), unit="deg", chart="quarter")
    assert wide.coordinate_bounds == pytest.approx((-1, 1))


@pytest.mark.parametrize("chart", ["half", "quarter"])
@pytest.mark.parametrize(
    ("unit", "bounds", "center"), [("rad", (-1, 2), None), ("deg", (20, 170), 30), ("deg", (-90, 0), 0)]
)
def test_charts(chart, unit, bounds, center):
    """Coordinates and values are each other's inverse; the coordinate is the tangent of a half or a quarter."""
    q = lg.scheduled_angle("q", bounds, unit=unit, center=center, chart=chart)
    values = np.linspace(*bounds, 7)
    per = math.pi / 180 if unit == "deg" else 1.0
    want = np.tan((values - q.center) * per / (2 if chart == "half" else 4))
    assert np.allclose(q.to_coordinate(values), want, rtol=1e-14)
    assert np.allclose(q.from_coordinate(want), values, rtol=1e-13, atol=1e-13)
    assert q.center == (sum(bounds) / 2 if center is None else center)


def test_degrees():
    """Values are spoken in the declared unit everywhere; with center 0 the range 0 to 90 degrees has t in [0, 1]."""
    q = lg.scheduled_angle("q", (0, 90), unit="deg", center=0)
    assert q.coordinate_bounds == pytest.approx((0, 1), abs=1e-15)
    assert lg.realize([[sp.tan(q)]]).at(q=45 - 1e-9).item() == pytest.approx(1.0)
    assert "[0, 90] deg" in q.describe()
    assert "t = tan((q)/2) in [0, 1]" in q.describe()
    assert "[0, 90] deg" in repr(lg.realize([[sp.sin(q)]]))


def test_a_length_is_not_an_angle():
    """A plain scheduled parameter keeps its range whatever its size: no conversion, no warning."""
    x = lg.scheduled("x", (0, 90), unit="mm", rate=5)
    assert (x.bounds, x.coordinate_bounds, x.nominal, x.rate) == ((0, 90), (0, 90), 45, (-5, 5))
    assert x.coordinate is x


@pytest.mark.parametrize(("rate", "want"), [(None, None), (2, (-2, 2)), ((-1, 3), (-1, 3)), (0, (0, 0))])
def test_rates(rate, want):
    """A rate is a symmetric bound or a pair, and part of the parameter's identity."""
    q = lg.scheduled_angle("q", (0, 1), rate=rate)
    assert q.rate == want
    assert rate is None or q != lg.scheduled_angle("q", (0, 1))


# --- values ----------------------------------------------------------------------------------------------------------


def test_values_are_checked():
    """Rounding at the ends is forgiven (1e-9 of the width), more is an error with the value, unit and range."""
    p = lg.uncertain("p", 2.0, bounds=(1, 3), unit="kg")
    assert p.check_values(3 + 1e-9) == pytest.approx(3)
    with pytest.raises(lg.ParameterError, match=r"p = 3.1 kg is outside its range \[1, 3\] kg"):
        p.check_values([2, 3.1])
    assert p.check_values(30.0, extrapolate=True) == 30
    for bad in (math.nan, [1, math.inf], "x", None, 1j):
        with pytest.raises(lg.ParameterError, match="p: expected"):
            p.check_values(bad)


# --- identity and sympy ----------------------------------------------------------------------------------------------


def test_identity():
    """Equal name and data: equal and interchangeable; any difference: another parameter."""
    m = lg.uncertain("m", 2.0, bounds=(1, 3), unit="kg")
    same = lg.uncertain("m", 2.0, bounds=(1, 3), unit="kg")
    assert m == same
    assert hash(m) == hash(same)
    assert m - same == 0
    for other in (
        lg.uncertain("m", 2.0, bounds=(1, 4), unit="kg"),
        lg.uncertain("m", 2.5, bounds=(1, 3), unit="kg"),
        lg.uncertain("m", 2.0, bounds=(1, 3), unit="g"),
        lg.scheduled("m", (1, 3), unit="kg"),
        sp.Symbol("m"),
        sp.Symbol("m", real=True),
    ):
        assert m != other
        assert m - other != 0
        assert len({m, other}) == 2
    assert (m.lower, m.upper) == (1, 3)  # sympy's cache did not swap them


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickle(protocol):
    """Pickled in an expression and back, it is the same parameter."""
    q = lg.scheduled_angle("q", (-90, 60), unit="deg", rate=(-1, 2), chart="quarter")
    expression = sp.sin(q) ** 2 + 3 * q
    again = pickle.loads(pickle.dumps(expression, protocol))
    assert again == expression
    (found,) = again.free_symbols
    assert isinstance(found, lg.Parameter)
    assert found.spec == q.spec
    assert copy.deepcopy(q) == q


def test_frozen():
    """Nothing of a parameter can be changed."""
    m = lg.uncertain("m", 2.0, bounds=(1, 3))
    for name in ("spec", "name", "nominal", "lower"):
        with pytest.raises(AttributeError):
            setattr(m, name, 5)
    with pytest.raises(AttributeError):
        m.spec.lower = 5


SYMPY = {
    "subs": lambda m, x: (m * x + m).subs(x, 2),
    "xreplace": lambda m, x: (m * x + m).xreplace({x: sp.Integer(2)}),
    "cancel": lambda m, x: sp.cancel((m**2 - x**2) / (m - x)) + 2 * m - x,
    "expand": lambda m, x: sp.expand(m * (3 + x) - m * x),
    "diff": lambda m, x: sp.diff(3 * m * x, x),
    "together": lambda m, x: sp.together(m / x + 2 * m) * x - 2 * m * x + 2 * m,
    "matrix": lambda m, x: (sp.Matrix([[m, x]]) * sp.Matrix([3, 0]))[0],
    "solve": lambda m, x: sp.solve(x - 3 * m, x)[0],
    "poly": lambda m, x: sp.Poly(3 * m + x, m, x).as_expr() - x,
    "cse": lambda m, x: sp.cse([m * x * 3 / x])[1][0],
}  # fmt: skip


@pytest.mark.parametrize("name", SYMPY)
def test_sympy_operations_keep_the_class(name):
    """After each operation the same parameter is found in the result, 3 m."""
    m, x = lg.uncertain("m", 2.0, bounds=(1, 3)), sp.Symbol("x")
    result = SYMPY[name](m, x)
    assert sp.expand(result - 3 * m) == 0
    assert m in sp.sympify(result).free_symbols


def test_lambdify_and_order():
    """Two parameters that share a name stay apart in numeric code, and the order of terms is repeatable."""
    a, b = lg.uncertain("m", 2.0, bounds=(1, 3)), lg.uncertain("m", 2.0, bounds=(1, 4))
    assert sp.lambdify([a, b], a - 2 * b, dummify=True)(5.0, 1.0) == 3.0
    assert (a + b).args == (b + a).args


def test_clashes_in_one_model():
    """Two parameters of one name, and a plain symbol with a parameter's name, are errors that name it."""
    m = lg.uncertain("m", 2.0, bounds=(1, 3))
    other = lg.uncertain("m", 2.0, bounds=(1, 4))
    calls = [
        lambda: lg.realize([[m, other]]),
        lambda: lg.realize([[m]]) + lg.realize([[other]]),
        lambda: lg.realize([[m + sp.Symbol("m")]]),
        lambda: lg.realize([[m]]) + lg.realize([[sp.Symbol("m")]]),
        lambda: lg.realize(
            [[lg.scheduled_angle("m", (0, 1)) * 0 + sp.sin(lg.scheduled_angle("m", (0, 1))), m]]
        ),
    ]
    for call in calls:
        with pytest.raises(lg.ParameterError, match=r"\bm\b"):
            call()
