"""Evaluation at points and grids, and exact derivatives."""

import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

import lftgen as lg
from tests.strategies import (
    ANGLE,
    COMPLEX,
    FULL,
    FULL_REAL,
    LENGTH,
    MASS,
    QUARTER,
    error,
    lfts,
    planar_arm,
    ports,
    random_lft,
    random_point,
)

SEED = st.integers(0, 10**6)


@given(a=lfts((2, 2)), seed=SEED)
def test_many_points_equal_single_ones(a, seed):
    """One call for many points gives what one call for each gives, for every kind of block."""
    points = random_point(np.random.default_rng(seed), a, n=7)
    value = a.evaluate(points)
    count = 7 if a.delta else 1
    whole = np.block([[value.A, value.B], [value.C, value.D]]) if a.states else value
    assert whole.shape == (count, len(a.states) + 2, len(a.states) + 2)
    for i in range(count):
        assert error(whole[i], ports(a, {k: v[i] for k, v in points.items()})) < 1e-13


@given(a=lfts((2, 2)), seed=SEED)
def test_definition(a, seed):
    """The value is M22 + M21 Delta (I - M11 Delta)^-1 M12 with Delta spelt out."""
    point = random_point(np.random.default_rng(seed), a)
    M = np.array(a.M.tolist(), dtype=float)
    n, n_z, n_w = len(a.states), sum(b.n_z for b in a.delta), sum(b.n_w for b in a.delta)
    delta = np.zeros((n_w, n_z), dtype=complex)
    i = j = 0
    for b in a.delta:
        p = b.parameter
        value = point[b.name]
        if p is not None:
            x = (
                np.tan(np.radians(value - 10) / 2)
                if p is ANGLE
                else np.tan((value - 0.5) / 4)
                if p is QUARTER
                else value
            )
            nominal = np.tan(np.radians(20 - 10) / 2) if p is ANGLE else 0.0 if p is QUARTER else p.nominal
            value = x - nominal
        for _ in range(b.repetitions):
            delta[i : i + b.shape[0], j : j + b.shape[1]] = value
            i, j = i + b.shape[0], j + b.shape[1]
    z, w = [*range(n, n + n_z)], [*range(n, n + n_w)]
    rows = [*range(n), *range(n + n_z, M.shape[0])]
    columns = [*range(n), *range(n + n_w, M.shape[1])]
    loop = np.linalg.solve(np.eye(n_z) - M[np.ix_(z, w)] @ delta, M[np.ix_(z, columns)])
    want = M[np.ix_(rows, columns)] + M[np.ix_(rows, w)] @ delta @ loop
    assert error(ports(a, point), want) < 1e-13


def test_a_hundred_thousand_points():
    """The two-link arm at 1e5 points in one call equals 50 single evaluations to 1e-12."""
    m1, m2 = lg.uncertain("m1", 2.0, percent=20), lg.uncertain("m2", 1.0, percent=20)
    q1, q2 = lg.scheduled_angle("q1", (-1.5, 1.5)), lg.scheduled_angle("q2", (-1.5, 1.5))
    plant = planar_arm(m1, m2, q1=q1, q2=q2, damping=0.1).linearize()
    rng = np.random.default_rng(0)
    points = {p.name: rng.uniform(p.lower, p.upper, size=100_000) for p in plant.parameters}
    many = plant.evaluate(points)
    assert many.A.shape == (100_000, 4, 4)
    for i in rng.integers(100_000, size=50):
        one = plant.at(**{k: float(v[i]) for k, v in points.items()})
        for name in "ABCD":
            assert error(getattr(many, name)[i], np.asarray(getattr(one, name))) < 1e-12


def test_left_out_and_broadcast():
    """A parameter left out takes its nominal; single values spread over the points."""
    a = random_lft(np.random.default_rng(0), parameters=[(MASS, 2), (LENGTH, 1)])
    some = a.evaluate({"m": [1.0, 2.0, 3.0], "L": 0.7})
    assert error(some[2], a.at(m=3.0, L=0.7)) < 1e-14
    assert error(a.evaluate({"m": [1.0, 2.0]})[1], a.at()) < 1e-14
    assert a.evaluate({}).shape == (1, 2, 2)
    assert a.evaluate({"m": []}).shape == (0, 2, 2)


BAD_VALUES = {
    "unknown": (lambda a: a.at(mm=1.0), lg.ParameterError, "unknown parameter 'mm': did you mean m"),
    "outside": (lambda a: a.at(m=4.5), lg.ParameterError, r"m = 4.5 kg is outside its range \[1, 4\] kg"),
    "one of many outside": (
        lambda a: a.evaluate({"m": [1, 2, 0.5]}),
        lg.ParameterError,
        "m = 0.5 kg is outside",
    ),
    "nan": (lambda a: a.at(m=np.nan), lg.ParameterError, "m: expected finite"),
    "lengths": (
        lambda a: a.evaluate({"m": [1, 2], "L": [1, 1, 1]}),
        lg.ParameterError,
        "3 values where another",
    ),
    "two-dimensional": (lambda a: a.evaluate({"m": [[1, 2]]}), lg.ParameterError, "one-dimensional"),
    "complex": (lambda a: a.evaluate({"m": [1, 2 + 1j]}), lg.ParameterError, "m: expected real"),
    "array in at": (lambda a: a.at(m=[1.0, 2.0]), lg.ModelError, "use evaluate"),
    "array of one in at": (lambda a: a.at(m=[1.0]), lg.ModelError, "use evaluate"),
    "array in subs": (lambda a: a.subs(m=[1.0, 2.0]), lg.ParameterError, "m: expected a single value"),
    "array in sensitivity": (lambda a: a.sensitivity(m=[1.0, 2.0]), lg.ParameterError, "one number"),
    "unknown in subs": (lambda a: a.subs(mass=1.0), lg.ParameterError, "unknown parameter 'mass'"),
    "outside in subs": (lambda a: a.subs(m=9), lg.ParameterError, "m = 9 kg is outside"),
    "wrong shape": (lambda a: a.at(Full=np.zeros((2, 2))), lg.ParameterError, "Full: expected a 1x2 matrix"),
    "gain": (
        lambda a: a.at(Full=np.array([[0.6, 0.0]])),
        lg.ParameterError,
        "Full: gain 0.6 is above its bound 0.5",
    ),
    "complex as real": (
        lambda a: a.at(Real=1j * np.ones((2, 1))),
        lg.ParameterError,
        "Real: expected full real",
    ),
    "complex subs": (lambda a: a.subs(gamma=0.1j), lg.ModelError, "gamma: only real values"),
}


@pytest.mark.parametrize("name", BAD_VALUES)
def test_bad_values(name):
    """Each names the parameter, the value and what was expected."""
    call, kind, message = BAD_VALUES[name]
    a = random_lft(
        np.random.default_rng(0), parameters=[(MASS, 2), (LENGTH, 1)], others=[FULL, FULL_REAL, COMPLEX]
    )
    with pytest.raises(kind, match=message):
        call(a)


def test_extrapolation_is_asked_for():
    """extrapolate=True lifts the range, and only then."""
    a = lg.realize([[MASS**2]])
    assert a.at(m=7.0, extrapolate=True).item() == pytest.approx(49)
    assert a.evaluate({"m": [7.0]}, extrapolate=True).item() == pytest.approx(49)
    assert a.subs(m=7.0, extrapolate=True).at().item() == pytest.approx(49)
    assert a.sensitivity(m=7.0, extrapolate=True).D["m"].item() == pytest.approx(14)


def test_singular_points_are_named():
    """Where I - M11 Delta is singular, single and vectorised evaluation name the point."""
    p = lg.uncertain("p", 1.0, bounds=(-1, 2))
    a = lg.realize([[1 / p, LENGTH]])
    with pytest.raises(lg.IllPosedError, match=r"p = 0.0 \(delta = -1.0\)"):
        a.at(p=0.0)
    with pytest.raises(lg.IllPosedError, match=r"p = 0.0 "):
        a.evaluate({"p": np.linspace(-1, 1, 2001)})
    with pytest.raises(lg.IllPosedError, match="singular"):
        a.subs(p=0.0)
    with pytest.raises(lg.IllPosedError, match=r"p = 0.0 "):
        a.sensitivity(p=0.0)
    assert a.at(p=1e-9)[0, 0] == pytest.approx(1e9)


def test_free_symbols_have_no_value():
    """Evaluation names the free symbols that are left; subs fills them in, exactly."""
    c = sp.Symbol("c")
    a = lg.realize([[MASS * c, 1 / c]])
    assert a.symbols == (c,)
    for call in (lambda: a.at(), lambda: a.evaluate({}), lambda: a.sensitivity(), lambda: a.well_posed()):
        with pytest.raises(lg.ParameterError, match="free symbols c have no value"):
            call()
    fixed = a.subs(c=0.1)
    assert fixed.is_exact
    assert fixed.at(m=3.0).tolist() == [[pytest.approx(0.3), 10.0]]
    assert a.subs(c=2, m=3.0).at().tolist() == [[6.0, 0.5]]
    with pytest.raises(lg.IllPosedError, match="pole at"):
        a.subs(c=0)


# --- derivatives -----------------------------------------------------------------------------------------------------

a_, b_ = lg.uncertain("a", 2.0, bounds=(1, 4)), lg.scheduled("b", (0.5, 1.5))
q_ = lg.scheduled_angle("q", (-60, 80), unit="deg", center=10)
r_ = lg.scheduled_angle("r", (-3, 2), chart="quarter", nominal=1.0)
ENTRIES = [[a_ * sp.sin(q_), b_**2 / (1 + a_)], [sp.cos(r_), a_ * b_]]


@pytest.mark.parametrize("form", ["built", "normalised", "reduced"])
def test_sensitivity_of_a_matrix(form):
    """Derivatives per unit of the parameter's own unit, against a complex step in the formulas, 1e-12."""
    model = lg.realize(ENTRIES, budget=0)
    model = {"built": model, "normalised": model.normalized(), "reduced": model.reduce()}[form]
    function = sp.lambdify([a_, b_, q_, r_], sp.Matrix(ENTRIES), "numpy")
    rng = np.random.default_rng(2)
    for _ in range(5):
        point = {p.name: rng.uniform(p.lower, p.upper) for p in (a_, b_, q_, r_)}
        radians = [point["a"], point["b"], np.radians(point["q"]), point["r"]]
        got = model.sensitivity(**point)
        for i, name in enumerate("abqr"):
            step = [v + (1e-30j if i == k else 0) for k, v in enumerate(radians)]
            want = function(*step).imag / 1e-30 * (np.pi / 180 if name == "q" else 1)
            assert error(got.D[name], want) < 1e-12
        assert got.A["a"].shape == (0, 0)
        assert got.poles["a"].shape == (0,)


@given(a=lfts((2, 2), exact=False), seed=SEED)
def test_sensitivity_of_random_models(a, seed):
    """Derivatives of A, B, C, D match a fourth-order difference, full blocks at a value included."""
    point = random_point(np.random.default_rng(seed), a)
    got = a.sensitivity(**point)
    n = len(a.states)
    for p in a.parameters:
        h = 1e-3 * (p.upper - p.lower)
        values = [
            a.evaluate({**point, p.name: point[p.name] + k * h}, extrapolate=True) for k in (-2, -1, 1, 2)
        ]
        values = [np.block([[v.A, v.B], [v.C, v.D]])[0] if n else v[0] for v in values]
        want = (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * h)
        whole = np.block([[got.A[p.name], got.B[p.name]], [got.C[p.name], got.D[p.name]]])
        assert error(whole, want) < 1e-7  # the difference's own accuracy


def test_sensitivity_of_poles():
    """A damped oscillator's poles move as the formula says; at the double pole there is no derivative."""
    k, d = lg.uncertain("k", 4.0, bounds=(0.5, 9)), lg.uncertain("d", 1.0, bounds=(0, 5))
    plant = lg.ss([[0, 1], [-k, -d]], [[0], [1]], [[1, 0]], [[0]], states=["x", "v"])
    s = plant.sensitivity(k=4.0, d=1.0)
    assert s.A["k"].tolist() == [[0, 0], [-1, 0]]
    for pole, by_k, by_d in zip(s.pole_values, s.poles["k"], s.poles["d"], strict=True):
        assert pole**2 + pole + 4 == pytest.approx(0, abs=1e-12)
        assert by_k == pytest.approx(-1 / (2 * pole + 1), abs=1e-12)  # s^2 + d s + k = 0
        assert by_d == pytest.approx(-pole / (2 * pole + 1), abs=1e-12)
    with pytest.raises(lg.IllPosedError, match="defective"):
        plant.sensitivity(k=4.0, d=4.0).poles["k"]
    assert plant.sensitivity(k=4.0, d=4.0).A["k"].tolist() == [[0, 0], [-1, 0]]


def test_sensitivity_of_repeated_but_regular_poles():
    """Two equal poles with two eigenvectors have derivatives: they are those of the reduced eigenproblem."""
    p = lg.uncertain("p", 0.0, plus_minus=1)
    plant = lg.ss([[-1 + p, 0.0], [0.0, -1 - p]], np.zeros((2, 1)), np.zeros((1, 2)), [[0]])
    assert sorted(plant.sensitivity().poles["p"].real) == pytest.approx([-1, 1])


def test_sensitivity_of_coupled_equal_poles():
    """Equal poles that split along directions which the eigenvectors at the point do not show."""
    p = lg.uncertain("p", 0.0, plus_minus=1)
    plant = lg.ss([[-1, p], [p, -1]], np.zeros((2, 1)), np.zeros((1, 2)), [[0]])
    assert sorted(plant.sensitivity().poles["p"].real) == pytest.approx([-1, 1])


def test_dependence():
    """Which entries depend on what, by name."""
    k, d = lg.uncertain("k", 4.0, percent=10), lg.uncertain("d", 1.0, percent=10)
    plant = lg.ss(
        [[0, 1], [-k, -d]], [[0], [1]], [[1, 0]], [[k * 0]], states=["x", "v"], inputs=["f"], outputs=["y"]
    )
    assert plant.dependence() == {"d": [("v", "v")], "k": [("v", "x")]}
    assert lg.realize([[k, 1], [0, 2]]).declare(d).dependence() == {"k": [("y[0]", "u[0]")], "d": []}
