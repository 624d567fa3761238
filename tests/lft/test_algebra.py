"""Every operator commutes with evaluation, for random LFTs of every kind."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lftgen as lg
from tests.strategies import ANGLE, LENGTH, MASS, error, gain, lfts, ports, random_lft, random_point

TOLERANCE = 1e-11
SEED = st.integers(0, 10**6)


def _same_uncertainties(whole, *parts):
    names = {b.name for part in parts for b in part.delta}
    assert {b.name for b in whole.delta} == names
    assert sorted(whole.states) == sorted(s for part in parts for s in part.states)


BINARY = {
    "add": ((2, 3), (2, 3), lambda a, b: a + b, lambda x, y: x + y),
    "subtract": ((2, 3), (2, 3), lambda a, b: a - b, lambda x, y: x - y),
    "matmul": ((2, 3), (3, 1), lambda a, b: a @ b, lambda x, y: x @ y),
    "times": ((2, 3), (3, 1), lambda a, b: a * b, lambda x, y: x @ y),
    "hstack": ((2, 3), (2, 1), lambda a, b: lg.hstack([a, b]), lambda x, y: np.hstack([x, y])),
    "vstack": ((2, 3), (1, 3), lambda a, b: lg.vstack([a, b]), lambda x, y: np.vstack([x, y])),
    "block_diag": (
        (2, 3),
        (1, 2),
        lambda a, b: lg.block_diag([a, b]),
        lambda x, y: np.block([[x, np.zeros((2, 2))], [np.zeros((1, 3)), y]]),
    ),
    "feedback": (
        (2, 3),
        (3, 2),
        lambda a, b: a.feedback(b / 16),
        lambda x, y: np.linalg.solve(np.eye(2) + x @ y / 16, x),
    ),
    "positive feedback": (
        (2, 3),
        (3, 2),
        lambda a, b: a.feedback(b / 16, sign=+1),
        lambda x, y: np.linalg.solve(np.eye(2) - x @ y / 16, x),
    ),
    "lower star": (
        (4, 4),
        (2, 1),
        lambda a, b: a.star(b / 16),
        lambda x, y: (
            x[:3, :2] + x[:3, 2:] @ (y / 16) @ np.linalg.solve(np.eye(1) - x[3:, 2:] @ y / 16, x[3:, :2])
        ),
    ),
}


@pytest.mark.parametrize("name", BINARY)
@given(data=st.data(), seed=SEED)
def test_binary_operators(name, data, seed):
    """The value of the result is the result of the values, at a random point and frequency."""
    left, right, combine, expected = BINARY[name]
    a, b = data.draw(lfts(left, prefix="a")), data.draw(lfts(right, prefix="b"))
    whole = combine(a, b)
    point = random_point(np.random.default_rng(seed), whole)
    assert error(gain(whole, point), expected(gain(a, point), gain(b, point))) < TOLERANCE
    _same_uncertainties(whole, a, b)
    assert whole.is_exact == (a.is_exact and b.is_exact)


UNARY = {
    "negative": (lambda a: -a, lambda x: -x),
    "inverse": (lambda a: a.inverse(), np.linalg.inv),
    "power -1": (lambda a: a**-1, np.linalg.inv),
    "reciprocal": (lambda a: 1 / a, np.linalg.inv),
    "scaled": (lambda a: 3 * a, lambda x: 3 * x),
    "scaled on the right": (lambda a: a * 0.25, lambda x: x / 4),
    "divided": (lambda a: a / 2, lambda x: x / 2),
    "rows": (lambda a: a[1], lambda x: x[1:2]),
    "columns": (lambda a: a[:, [1, 0]], lambda x: x[:, [1, 0]]),
    "one entry": (lambda a: a["y[1]", "u[0]"], lambda x: x[1:2, :1]),
    "reduced": (lambda a: a.reduce(), lambda x: x),
    "normalised": (lambda a: a.normalized(), lambda x: x),
    "renamed": (lambda a: a.rename(inputs=["p", "q"], outputs={"y[0]": "z"}), lambda x: x),
    "declared": (lambda a: a.declare(lg.uncertain("extra", 1.0, percent=5)), lambda x: x),
    "float": (lambda a: a.to_float(), lambda x: x),
}


@pytest.mark.parametrize("name", UNARY)
@given(data=st.data(), seed=SEED)
def test_unary_operators(name, data, seed):
    """The value of the result is the result of the value."""
    change, expected = UNARY[name]
    a = data.draw(lfts((2, 2), square_safe=True))
    whole = change(a)
    point = random_point(np.random.default_rng(seed), a)
    if (
        name == "normalised"
    ):  # bounds of other blocks are 1 afterwards: their deltas are given relative to them
        point |= {b.name: point[b.name] / b.bound for b in a.delta if b.parameter is None}
    assert (
        error(gain(whole, point), expected(gain(a, {**point, **_unnormalised(name, a, point)}))) < TOLERANCE
    )
    assert whole.states == a.states
    assert {b.name for b in a.delta} <= {b.name for b in whole.delta}
    assert set(a.parameters) <= set(whole.parameters)


def _unnormalised(name, a, point):
    if name != "normalised":
        return {}
    return {b.name: point[b.name] * b.bound for b in a.delta if b.parameter is None}


@given(a=lfts((2, 2), states=0), seed=SEED)
def test_powers(a, seed):
    """A power is the product with itself."""
    point = random_point(np.random.default_rng(seed), a)
    assert error(gain((a / 4) ** 3, point), np.linalg.matrix_power(gain(a, point) / 4, 3)) < TOLERANCE


@given(a=lfts((2, 3), others=False), seed=SEED)
def test_transpose(a, seed):
    """The transpose, and its own transpose; states become those of the dual system under the same names."""
    point = random_point(np.random.default_rng(seed), a)
    assert error(gain(a.T, point), gain(a, point).T) < TOLERANCE
    assert error(ports(a.T.T, point), ports(a, point)) < TOLERANCE
    assert a.T.states == a.states


@given(data=st.data(), seed=SEED)
def test_star_products(data, seed):
    """The general star product against its formula, two signals shared each way."""
    a, b = data.draw(lfts((3, 4), prefix="a")), data.draw(lfts((4, 3), prefix="b"))
    small = b / 16
    whole = a.star(small, n_y=2, n_u=2)
    point = random_point(np.random.default_rng(seed), whole)
    x, y = gain(a, point), gain(small, point)
    # a: [z; y] = x [w; u], u = first outputs of b; b: [u; z2] = y [y; w2]
    x11, x12, x21, x22 = x[:1, :2], x[:1, 2:], x[1:, :2], x[1:, 2:]
    y11, y12, y21, y22 = y[:2, :2], y[:2, 2:], y[2:, :2], y[2:, 2:]
    inv = np.linalg.inv(np.eye(2) - x22 @ y11)  # y = inv (x21 w + x22 y12 w2)
    want = np.block(
        [
            [x11 + x12 @ y11 @ inv @ x21, x12 @ (y12 + y11 @ inv @ x22 @ y12)],
            [y21 @ inv @ x21, y22 + y21 @ inv @ x22 @ y12],
        ]
    )
    assert error(gain(whole, point), want) < TOLERANCE


@given(data=st.data(), seed=SEED)
def test_connect(data, seed):
    """Connection by name: a series with a signed return, several connections to one input add up."""
    a = data.draw(lfts((1, 2), prefix="a")).rename(inputs=["r", "back"], outputs=["mid"])
    b = (data.draw(lfts((2, 1), prefix="b")) / 16).rename(inputs=["drive"], outputs=["y", "z"])
    whole = lg.connect(
        [a, b],
        [("drive", "mid"), ("drive", "-z"), ("back", "y"), ("back", "-z")],
        inputs=["r"],
        outputs=["y", "mid"],
    )
    point = random_point(np.random.default_rng(seed), whole)
    x, y = gain(a, point), gain(b, point)
    # mid = x0 r + x1 (y - z);  [y; z] = Y (mid - z)
    system = np.array([[1, -x[0, 1], x[0, 1]], [-y[0, 0], 1, y[0, 0]], [-y[1, 0], 0, 1 + y[1, 0]]])
    mid, first, _ = np.linalg.solve(system, np.array([x[0, 0], 0, 0]))
    assert error(gain(whole, point), [[first], [mid]]) < TOLERANCE
    _same_uncertainties(whole, a, b)
    assert whole.inputs == ("r",)
    assert whole.outputs == ("y", "mid")


@given(a=lfts((2, 2), exact=False), seed=SEED)
def test_subs_and_evaluation(a, seed):
    """Fixing some parameters and evaluating the rest gives the value at the whole point."""
    point = random_point(np.random.default_rng(seed), a)
    real = {b.name: point[b.name] for b in a.delta if b.kind in ("real", "full real")}
    part = dict(list(real.items())[:2])
    fixed = a.subs(**part)
    assert error(ports(fixed, point), ports(a, point)) < TOLERANCE
    assert not {b.name for b in fixed.delta} & set(part)
    assert fixed.states == a.states
    assert error(ports(a.subs(**real), point), ports(a, point)) < TOLERANCE


@given(a=lfts((2, 2)))
def test_zero_delta_is_the_nominal(a):
    """M22 with the states' part is the model at the nominal values, before and after normalisation."""
    nominal = ports(a, {})
    keep = [*range(len(a.states)), *range(a.M.shape[0] - 2, a.M.shape[0])]
    columns = [*range(len(a.states)), *range(a.M.shape[1] - 2, a.M.shape[1])]
    assert np.array_equal(np.array(a.M[np.ix_(keep, columns)].tolist(), dtype=float), nominal)
    given_values = {p.name: p.nominal for p in a.parameters}
    assert error(ports(a, given_values), nominal) < 1e-14
    assert error(ports(a.normalized(), {}), nominal) < 1e-12


@given(a=lfts((2, 2)), seed=SEED)
def test_normalised_deltas(a, seed):
    """Each normalised real delta is -1, 0, 1 at the lower end, the nominal and the upper end; the kind of entries stays."""
    n = a.normalized()
    for b in n.delta:
        if b.parameter is not None:
            p = b.parameter
            got = [float(b.delta_of(v)) for v in (p.lower, p.nominal, p.upper)]
            assert got == pytest.approx([-1, 0, 1], abs=1e-12)
        else:
            assert b.bound == 1
    assert n.is_exact == a.is_exact
    middle = a.normalized(recenter=True)
    point = random_point(np.random.default_rng(seed), middle)
    plain = {b.name: point[b.name] * b.bound for b in a.delta if b.parameter is None}
    assert error(ports(middle, point), ports(a, {**point, **plain})) < TOLERANCE
    for b in middle.delta:
        if b.parameter is not None:
            assert b.map.skew == 0
            assert [float(b.delta_of(v)) for v in b.parameter.bounds] == pytest.approx([-1, 1], abs=1e-12)


@given(a=lfts((2, 3), prefix="s", others=False), seed=SEED)
def test_reduction_keeps_the_model(a, seed):
    """A redundant copy is found again; states, names, other blocks and values stay."""
    big = a if a.states else lg.hstack([a, a @ np.array([[1.0], [2.0], [-1.0]])])
    small = big.reduce()
    assert small.order <= a.order
    assert small.states == big.states
    assert small.inputs == big.inputs
    assert small.outputs == big.outputs
    assert set(small.parameters) == set(big.parameters)
    point = random_point(np.random.default_rng(seed), big)
    assert error(ports(small, point), ports(big, point)) < 1e-10
    assert small.reduce() is small


def test_reduction_never_touches_states():
    """An unreachable state survives the reduction, with its name and its derivative."""
    k = lg.uncertain("k", 2.0, percent=50)
    plant = lg.ss([[-k, 0], [0, -3]], [[1], [0]], [[1, 0]], [[0]], states=["seen", "lost"]).reduce()
    assert plant.states == ("seen", "lost")
    assert np.array_equal(plant.at(k=1.5).A, [[-1.5, 0], [0, -3]])


@pytest.mark.parametrize("exact", [False, True])
def test_reduction_of_a_redundant_sum(exact):
    """A model added to itself reduces to the order of one copy, in floats and exactly."""
    rng = np.random.default_rng(4)
    a = random_lft(rng, (2, 2), parameters=[(MASS, 2), (ANGLE, 1)], exact=exact)
    double = a + a
    assert double.order == 6
    assert double.reduce().order == 3
    assert (a - a).reduce().order == 0


def test_full_blocks_multiply_and_keep_their_place():
    """Products of systems with a non-square full block repeat the block; reduction leaves it alone."""
    a = lg.uncertain_dynamics("D", (1, 2), bound=0.5)
    b = lg.realize([[1.0, 2.0], [0.5, 1.0]])
    both = lg.vstack([a, a @ b])
    (block,) = both.delta
    assert (block.repetitions, block.shape, both.order) == (2, (1, 2), 0)
    value = np.array([[0.1 + 0.2j, -0.3]])
    assert error(gain(both.reduce(), {"D": value}), np.vstack([value, value @ b.at()])) < 1e-15


def test_other_kinds_of_blocks_must_agree():
    """A name that means two different uncertainties is an error that names it."""
    a, b = lg.uncertain_dynamics("D", (1, 1)), lg.uncertain_dynamics("D", (1, 1), bound=2.0)
    with pytest.raises(lg.ModelError, match="D but differ"):
        a + b
    m = lg.realize([[MASS]])
    with pytest.raises(lg.ModelError, match="normalise both or neither"):
        m + m.normalized()


def test_a_model_less_itself_is_nothing():
    """After a cancellation only rounding is left, which counts as no direction."""
    a = lg.realize([[MASS * LENGTH, 3.7 * MASS]])
    assert (a - a).order > 0
    assert (a - a).reduce().order == 0
    assert (a - 1.0 * a @ np.eye(2)).reduce().order == 0
