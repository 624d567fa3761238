"""The two-link arm: every quantity a parameter, against the Lagrangian in numbers and in symbols."""

import itertools

import numpy as np
import pytest
import sympy as sp

import lftgen as lg
from lftgen.oracle import numeric_model
from tests.strategies import error, planar_arm, state_rows

PARAMETERS = {
    "m1": lg.uncertain("m1", 2.0, percent=20, unit="kg"),
    "m2": lg.uncertain("m2", 1.0, percent=(-20, 40), unit="kg"),
    "l1": lg.uncertain("l1", 1.0, percent=20, unit="m"),
    "l2": lg.uncertain("l2", 0.5, percent=20, unit="m"),
    "c1": lg.uncertain("c1", 0.5, plus_minus=0.1),
    "c2": lg.uncertain("c2", 0.4, plus_minus=(-0.1, 0.2)),
    "d1": lg.uncertain("d1", 0.3, percent=50),
    "d2": lg.uncertain("d2", 0.2, percent=50),
    "k1": lg.uncertain("k1", 4.0, percent=50),
    "k2": lg.uncertain("k2", 2.0, percent=50),
    "q1": lg.scheduled_angle("q1", (-100, 90), unit="deg"),
    "q2": lg.scheduled_angle("q2", (150, 210), unit="deg"),
}
GRAVITY = 9.81


def _arm():
    p = PARAMETERS
    bodies = [
        lg.RigidBody(
            f"B{i}",
            mass=p[f"m{i}"],
            com=(p[f"c{i}"] * p[f"l{i}"], 0, 0),
            inertia=(0, p[f"m{i}"] * p[f"l{i}"] ** 2 / 12, p[f"m{i}"] * p[f"l{i}"] ** 2 / 12),
        )
        for i in (1, 2)
    ]
    joints = [
        lg.RevoluteJoint(
            f"J{i}",
            parent="ground" if i == 1 else "B1",
            child=f"B{i}",
            axis=(0, 0, 1),
            origin=(0, 0, 0) if i == 1 else (p["l1"], 0, 0),
            angle=p[f"q{i}"],
            damping=p[f"d{i}"],
            stiffness=p[f"k{i}"],
        )
        for i in (1, 2)
    ]
    return lg.Mechanism("arm", bodies=bodies, joints=joints, gravity=(0, -GRAVITY, 0))


@pytest.fixture(scope="module")
def arm():
    """The arm with twelve parameters."""
    return _arm()


@pytest.fixture(scope="module")
def plant(arm):
    """Its model."""
    return arm.linearize()


def closed_form(m1, m2, l1, l2, c1, c2, d1, d2, k1, k2, q1, q2):
    """A and B from the Lagrangian; complex numbers welcome, angles in degrees."""
    q1, q2 = q1 * np.pi / 180, q2 * np.pi / 180
    a1, a2 = c1 * l1, c2 * l2
    i1, i2 = m1 * l1**2 / 12 + m1 * a1**2, m2 * l2**2 / 12 + m2 * a2**2
    h = m2 * l1 * a2 * np.cos(q2)
    H = np.array([[i1 + m2 * l1**2 + i2 + 2 * h, i2 + h], [i2 + h, i2]])
    first = -GRAVITY * (m1 * a1 + m2 * l1) * np.sin(q1)
    second = -GRAVITY * m2 * a2 * np.sin(q1 + q2)
    K = np.array([[first + second + k1, second], [second, second + k2]])
    A = np.zeros((4, 4), dtype=complex)
    A[:2, 2:] = np.eye(2)
    A[2:, :2], A[2:, 2:] = -np.linalg.solve(H, K), -np.linalg.solve(H, np.diag([d1, d2]))
    return A, np.vstack([np.zeros((2, 2)), np.linalg.inv(H)])


def _points(n, seed=0):
    rng = np.random.default_rng(seed)
    bounds = [p.bounds for p in PARAMETERS.values()]
    corners = itertools.islice(itertools.product(*bounds), 0, 2 ** len(bounds), 97)
    for values in itertools.chain(corners, (rng.uniform(*np.transpose(bounds)) for _ in range(n))):
        yield dict(zip(PARAMETERS, (float(v) for v in values), strict=True))


def test_against_the_lagrangian(plant):
    """A and B at corners and 200 random points to 1e-10."""
    worst = 0.0
    for point in _points(200):
        A, B = closed_form(**point)
        model = plant.at(**point)
        worst = max(worst, error(model.A, A.real), error(model.B, B.real))
    assert worst < 1e-11


def test_check(arm, plant):
    """The same against the numeric model: 1e-10, by block, on the exported systems."""
    report = lg.check(arm, plant, samples=200, tolerance=1e-10)
    assert report.passed, str(report)


@pytest.mark.parametrize("seed", range(3))
def test_effect_of_each_parameter(plant, seed):
    """dA and dB by each of the twelve parameters against a complex step in the Lagrangian; 1e-11, none is zero."""
    (point,) = list(_points(1, seed))[-1:]
    got = plant.sensitivity(**point)
    assert set(got.A) == set(PARAMETERS)
    for name in PARAMETERS:
        A, B = closed_form(**{**point, name: point[name] + 1e-30j})
        assert error(got.A[name], A.imag / 1e-30) < 1e-11
        assert error(got.B[name], B.imag / 1e-30) < 1e-11
        assert np.max(np.abs(got.A[name])) > 1e-3


def test_effect_of_each_parameter_on_the_numeric_model(arm, plant):
    """The same against differences of the numeric model (1e-6, the differences' own accuracy)."""
    (point,) = list(_points(1, 5))[-1:]
    got = plant.sensitivity(**point)
    for p in arm.parameters:
        h = 1e-5 * (p.upper - p.lower)
        values = {k: np.array([v + s * h * (k == p.name) for s in (-1, 1)]) for k, v in point.items()}
        A = numeric_model(arm, values, plant.inputs, plant.outputs).linearize().A
        assert error(got.A[p.name], (A[1] - A[0]) / (2 * h)) < 1e-6


def test_dependence(plant):
    """Stiffness changes A21 alone, damping A22 alone, the angle of the first joint only the gravity terms."""
    found = plant.dependence()
    columns = {k: {c for _, c in v} for k, v in found.items()}
    assert columns["k1"] == {"J1_angle"}
    assert columns["d2"] == {"J2_rate"}
    assert columns["q1"] == {"J1_angle", "J2_angle"}
    assert columns["q2"] == {"J1_angle", "J2_angle", "J1_rate", "J2_rate", "J1_torque", "J2_torque"}
    rows = {r for v in found.values() for r, _ in v}
    assert rows == {"J1_rate", "J2_rate"}


def test_names_of_the_exported_system(plant):
    """python-control gets the names of states, inputs and outputs, and continuous time."""
    model = plant.at()
    assert model.state_labels == ["J1_angle", "J2_angle", "J1_rate", "J2_rate"]
    assert (model.input_labels, model.output_labels) == (["J1_torque", "J2_torque"], ["J1_angle", "J2_angle"])
    assert model.dt == 0


@pytest.mark.parametrize("q1", [0, 90, -90])
@pytest.mark.parametrize("q2", [180, 150, 210])
def test_right_angles(plant, q1, q2):
    """At 0 and 90 degrees, and through 180, nothing is lost."""
    point = {k: p.nominal for k, p in PARAMETERS.items()} | {"q1": float(q1), "q2": float(q2)}
    A, B = closed_form(**point)
    model = plant.at(**point)
    assert error(model.A, A.real) < 1e-13
    assert error(model.B, B.real) < 1e-13


def test_repetitions_after_reduction():
    """Two links and a tip mass with damping and stiffness: at most 17, exact against the numeric model."""
    mass = [lg.uncertain(f"m{i}", m, percent=20) for i, m in enumerate((5.0, 3.0, 2.0), 1)]
    angle = [lg.scheduled_angle(f"theta{i}", (-np.pi / 2, np.pi / 2)) for i in (1, 2)]
    bodies = [
        lg.RigidBody("B1", mass=mass[0], com=(0, 0, 0.5), inertia=(0.4, 0.4, 0.01)),
        lg.RigidBody("B2", mass=mass[1], com=(0, 0, 0.4), inertia=(0.2, 0.2, 0.01)),
        lg.RigidBody("B3", mass=mass[2]),
    ]
    spring = {"axis": (1, 0, 0), "damping": 0.1, "stiffness": 0.1}
    joints = [
        lg.RevoluteJoint("J1", parent="ground", child="B1", angle=angle[0], **spring),
        lg.RevoluteJoint("J2", parent="B1", child="B2", origin=(0, 0, 1), angle=angle[1], **spring),
        lg.FixedJoint("tip", parent="B2", child="B3", origin=(0, 0, 0.8)),
    ]
    mechanism = lg.Mechanism("two_link", bodies=bodies, joints=joints)
    plant = mechanism.linearize().reduce()
    assert plant.order <= 17
    assert sum(plant.order_bound().values()) == 13
    assert lg.check(mechanism, plant, samples=30, tolerance=1e-10).passed


# --- in symbols ------------------------------------------------------------------------------------------------------


def _lagrangian(m1, m2, q1, q2):
    """A21 and B2 of the symbolic arm at rest from its kinetic and potential energy, links of 1 and 1/2 m."""
    a, b, u, v = sp.symbols("a b u v")  # angles and their rates
    g = sp.Rational("9.81")
    x1 = sp.Matrix([sp.cos(a), sp.sin(a)]) / 2
    x2 = sp.Matrix([sp.cos(a), sp.sin(a)]) + sp.Matrix([sp.cos(a + b), sp.sin(a + b)]) / 4
    v1, v2 = (x.jacobian([a, b]) * sp.Matrix([u, v]) for x in (x1, x2))
    kinetic = (m1 * v1.dot(v1) + m2 * v2.dot(v2) + m1 / 12 * u**2 + m2 / 48 * (u + v) ** 2) / 2
    H = sp.hessian(sp.expand(kinetic), (u, v)).applyfunc(lambda e: sp.trigsimp(sp.expand(e)))
    K = sp.hessian(g * (m1 * x1[1] + m2 * x2[1]), (a, b))
    at = {a: q1, b: q2}
    return (-H.inv() * K).xreplace(at), H.inv().xreplace(at)


def _are_equal(left, right, angles):
    """Whether two quotients of trigonometric polynomials are identical: cross-multiplied, with cos^2 = 1 - sin^2."""
    plain = {}
    for k, q in enumerate(angles):
        plain |= {sp.sin(q): sp.Symbol(f"s{k}"), sp.cos(q): sp.Symbol(f"c{k}")}
    (a, b), (c, d) = (sp.fraction(sp.together(sp.expand_trig(e).xreplace(plain))) for e in (left, right))
    difference = sp.expand(a * d - b * c)
    for k in range(len(angles)):
        s, c = sp.symbols(f"s{k} c{k}")
        difference = sp.rem(difference, c**2 + s**2 - 1, c)
    return sp.expand(difference) == 0


def test_symbolic_model_is_the_lagrangian():
    """With the masses as free symbols, A and B as expressions are the Lagrangian's, and both forms evaluate alike."""
    m1, m2 = sp.symbols("M1 M2", positive=True)
    q1, q2 = lg.scheduled_angle("q1", (-1, 1)), lg.scheduled_angle("q2", (-1, 1))
    plant = planar_arm(m1, m2, q1=q1, q2=q2).linearize()
    assert plant.is_exact
    assert plant.symbols == (m1, m2)
    A, B, C, D = plant.to_sympy()
    A21, B2 = _lagrangian(m1, m2, q1, q2)
    for got, want in ((A[2:, :2], A21), (B[2:, :], B2)):
        assert all(_are_equal(g, w, (q1, q2)) for g, w in zip(got, want, strict=True))
        assert not _are_equal(got[0], 2 * want[0], (q1, q2))
    assert A[:2, :] == sp.Matrix([[0, 0, 1, 0], [0, 0, 0, 1]])
    assert A[2:, 2:] == sp.zeros(2)
    assert sp.eye(4)[:2, :] == C
    assert sp.zeros(2) == D
    in_t = plant.to_sympy("t")
    assert not {q1, q2} & in_t[0].free_symbols
    numbers = {m1: sp.Rational(7, 3), m2: sp.Rational(4, 5), q1: sp.Rational(1, 3), q2: sp.Rational(-2, 3)}
    tangents = {q.coordinate: sp.tan(numbers[q] / 2) for q in (q1, q2)}
    for trig, t in zip((A, B), in_t[:2], strict=True):
        left = np.array(trig.subs(numbers).evalf(20).tolist(), dtype=float)
        right = np.array(t.subs({**numbers, **tangents}).evalf(20).tolist(), dtype=float)
        assert error(left, right) < 1e-14
    fixed = plant.subs(M1=2, M2=1)
    A21, _, B2 = state_rows(fixed.at(q1=np.pi / 6, q2=np.pi / 4), ["J1", "J2"])
    want = planar_arm(q1=sp.pi / 6, q2=sp.pi / 4).linearize().at()
    assert error(A21, want.A[2:, :2]) < 1e-13
    assert error(B2, want.B[2:]) < 1e-13


def test_exact_model_is_reduced_exactly():
    """Exact entries reduce to the order of the float model, without a tolerance."""
    q1, q2 = lg.scheduled_angle("q1", (-1, 1)), lg.scheduled_angle("q2", (-1, 1))
    m1 = lg.uncertain("m1", 2.0, percent=20)
    mechanism = planar_arm(m1, q1=q1, q2=q2, damping=0.1)
    exact, floats = mechanism.linearize(exact=True), mechanism.linearize()
    assert exact.is_exact
    assert exact.order <= floats.reduce().order
    assert lg.check(mechanism, exact, samples=5, tolerance=1e-12).passed
    assert lg.check(mechanism, exact.normalized(), samples=5, tolerance=1e-12).passed
