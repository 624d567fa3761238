"""Many points and tensor grids: the quick ways give what the direct solution gives."""

from functools import cache

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import lftgen as lg
from lftgen.lft.evaluation.many import MANY
from lftgen.lft.evaluation.plan import plan_of
from lftgen.lft.evaluation.points import deltas, numeric, solve_points
from tests.strategies import ANGLE, LENGTH, MASS, QUARTER, lfts, planar_arm, random_lft, random_point

Q1, Q2 = lg.scheduled_angle("q1", (-1.5, 1.5)), lg.scheduled_angle("q2", (-1.5, 1.5))
POLYNOMIAL = [[MASS**2 * sp.sin(ANGLE), LENGTH / MASS], [sp.cos(ANGLE) ** 2 * sp.cos(QUARTER), LENGTH**3]]


def arm(**joint):
    """Two links, two masses, two angles."""
    m1, m2 = lg.uncertain("m1", 2.0, percent=20), lg.uncertain("m2", 1.0, percent=20)
    return planar_arm(m1, m2, q1=Q1, q2=Q2, damping=0.1, **joint).linearize()


@cache
def polynomial():
    """Realised once."""
    return lg.realize(POLYNOMIAL, budget=0)


def whole(value):
    """``[A B; C D]`` at all points."""
    return value if isinstance(value, np.ndarray) else np.block([[value.A, value.B], [value.C, value.D]])


def deviation(model, points):
    """Largest difference to the direct solution, relative to the largest entry."""
    n = len(next(iter(points.values())))
    a = numeric(model.data)
    want, bad = solve_points(a, deltas(a, points)[1], n)
    assert bad is None
    return np.abs(whole(model.evaluate(points)) - want).max() / np.abs(want).max()


MODELS = {
    "polynomial": lambda: polynomial(),
    "normalised": lambda: polynomial().normalized(),
    "recentred": lambda: polynomial().normalized(recenter=True),
    "transposed": lambda: lg.realize([[MASS * sp.sin(ANGLE)], [LENGTH], [MASS**2]], budget=0),
    "arm": arm,
}


@pytest.mark.parametrize("name", MODELS)
def test_layers_take_up_everything(name):
    """Polynomials in parameters, sines and cosines need no dense solution, and lose no accuracy."""
    model = MODELS[name]()
    plan = plan_of(model.data)
    assert plan is not None
    assert plan.program.core_size == 0
    assert deviation(model, random_point(np.random.default_rng(0), model, n=MANY + 37)) < 1e-12


def test_torques_and_accelerations_change_sides():
    """The inverse of the mass matrix is taken at each point: the program itself is that of [H, K]."""
    plan = plan_of(arm().data)
    assert plan.exchange is not None
    assert plan.exchange.rows == (2, 3)


@settings(max_examples=25)
@given(a=lfts((2, 2), exact=False, others=False), seed=st.integers(0, 10**6))
def test_random_models(a, seed):
    """M without any structure."""
    if a.delta:
        assert deviation(a, random_point(np.random.default_rng(seed), a, n=MANY)) < 1e-11


def test_core_beside_layers():
    """Structure that is only partly there: the rest is solved densely in the middle of the layers."""
    core = random_lft(np.random.default_rng(1), parameters=[(MASS, 3), (LENGTH, 3)])
    model = (
        lg.realize([[MASS, sp.sin(ANGLE)], [LENGTH**2, 1]])
        @ core
        @ lg.realize([[sp.cos(ANGLE), MASS], [0, 1]])
    )
    plan = plan_of(model.data)
    assert plan is None or 0 < plan.program.core_size < plan.program.order
    assert deviation(model, random_point(np.random.default_rng(0), model, n=MANY)) < 1e-12


def test_singular_point_among_many():
    """Named, in points and in grids, beside an exchange and a pole."""
    p = lg.uncertain("p", 1.0, bounds=(-1, 2))
    plant = lg.ss([[0, 1], [-MASS / p, -1]], [[0], [1 / p]], [[1, 0]], [[0]])
    values = {"p": np.linspace(-1, 1, 1001), "m": 2.0}
    with pytest.raises(lg.IllPosedError, match=r"p = 0.0 "):
        plant.evaluate(values)
    with pytest.raises(lg.IllPosedError, match=r"p = 0.0 "):
        plant.evaluate_grid(values | {"m": [1.5, 2.0]})
    near = plant.evaluate({"p": np.full(MANY, 1e-7)}).A
    assert np.abs(near[:, 1, 0] * 1e-7 / -2 - 1).max() < 1e-7


# --- grids -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["polynomial", "normalised", "transposed", "arm"])
def test_grid_equals_points(name):
    """Each point of a grid is what evaluate gives there; axes in the order asked, numbers without an axis."""
    model = MODELS[name]()
    rng = np.random.default_rng(3)
    first, second, *others = model.parameters
    axes = {
        second.name: np.linspace(second.lower, second.upper, 41),
        first.name: rng.uniform(first.lower, first.upper, 30),
    }
    fixed = {p.name: p.lower for p in others[:1]}
    got = whole(model.evaluate_grid(axes | fixed))
    x, y = (g.ravel() for g in np.meshgrid(*axes.values(), indexing="ij"))
    want = whole(model.evaluate({second.name: x, first.name: y} | fixed))
    assert got.shape[:2] == (41, 30)
    assert np.abs(got.reshape(want.shape) - want).max() < 1e-12 * np.abs(want).max()


def test_chunks_cover_the_grid():
    """Pieces are disjoint, small, and together the whole."""
    model = arm()
    axes = {"q1": np.linspace(-1, 1, 23), "q2": np.linspace(-1, 1, 31), "m1": [1.8, 2.2]}
    want = whole(model.evaluate_grid(axes))
    got = np.full(want.shape, np.nan)
    for part, value in model.grid_chunks(axes, points=100):
        assert np.isnan(got[part]).all()
        got[part] = whole(value)
        assert got[part][..., 0, 0].size <= 100
    assert not np.isnan(got).any()
    assert np.abs(got - want).max() < 1e-12 * np.abs(want).max()


def test_small_and_empty_grids():
    """A grid without axes is one point; an empty axis gives no points."""
    model = arm()
    assert model.evaluate_grid({"q1": 0.3}).A.shape == (4, 4)
    assert model.evaluate_grid({"q1": [], "m1": [2.0, 2.1]}).B.shape == (0, 2, 4, 2)


BAD = {
    "two-dimensional": ({"q1": [[0.0, 1.0]]}, "q1: expected a number or a one-dimensional array"),
    "unknown": ({"q3": [0.0]}, "unknown parameter 'q3'"),
    "outside": ({"q1": [0.0, 9.0]}, "q1 = 9 .*outside"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_axes(name):
    """Named, with what was expected."""
    values, message = BAD[name]
    with pytest.raises(lg.ParameterError, match=message):
        arm().evaluate_grid(values)
    with pytest.raises(lg.ParameterError, match="points: expected a positive"):
        arm().grid_chunks({"q1": [0.0]}, points=0)
