"""Approximation with an error that is proven over the whole box."""

import numpy as np
import pytest
import sympy as sp

import lftgen as lg
from lftgen.lft.reduction.guarantee import _bound
from lftgen.lft.reduction.kalman import scalar_lft
from lftgen.lft.reduction.truncation import weighed

m = lg.uncertain("m", 2.0, bounds=(1.6, 2.4))
k = lg.uncertain("k", 30.0, percent=20)
q = lg.scheduled_angle("q", (-0.5, 0.7))
A = [[0, 1], [-k / m - sp.Rational(1, 20) * m**2 * sp.sin(q), -0.1 * m * sp.cos(q)]]
PARTS = [lg.realize(part, budget=0) for part in (A, [[0], [1 / m]], [[1, 0.02 * sp.cos(q)]])]
PLANT = lg.ss(*PARTS, [[0.0]], states=["x", "v"]).reduce()


def matrices(plant, points, **fixed):
    """[A B; C D] at points, (N, rows, columns)."""
    e = plant.evaluate({**points, **fixed})
    return np.block([[e.A, e.B], [e.C, e.D]])


def random_points(n, seed=0):
    rng = np.random.default_rng(seed)
    return {p.name: rng.uniform(*p.bounds, n) for p in (m, k, q)}


@pytest.mark.parametrize("tolerance", [pytest.param(0.005, marks=pytest.mark.heavy), 0.02])
def test_error_holds_everywhere(tolerance):
    """Fewer repetitions, and no point of many where the difference exceeds the proven error or the tolerance."""
    small = PLANT.approximate(tolerance, budget=3)
    assert small.order < PLANT.order
    assert small.lft.states == PLANT.states
    points = random_points(4000)
    gap = np.linalg.norm(matrices(PLANT, points) - matrices(small.lft, points), 2, axis=(1, 2))
    assert np.max(gap) <= small.error <= tolerance * small.scale * (1 + 1e-12)
    assert np.max(gap) > 1e-9
    assert small.sampled_error <= small.error
    size = np.linalg.norm(matrices(PLANT, {"m": [2.0], "k": [30.0], "q": [q.nominal]})[0], 2)
    assert small.scale == pytest.approx(size, rel=1e-10)
    assert small.relative_error == pytest.approx(small.error / size, rel=1e-10)


def test_block_contains_the_exact_model():
    """Some admissible value of the error block gives the exact model at each of many points."""
    small = PLANT.approximate(0.02, error="block", budget=3)
    block = small.lft.delta[-1]
    assert (block.name, block.kind, block.bound) == ("approximation_error", "full real", small.error)
    points = random_points(50, seed=3)
    rows, columns = [1, 2], [0, 1, 2]  # the kinematic row is exact
    assert block.shape == (2, 3)
    for i in range(50):
        point = {name: float(v[i]) for name, v in points.items()}
        exact, near = (matrices(p, {n: [v] for n, v in point.items()})[0] for p in (PLANT, small.lft))
        delta = (exact - near)[np.ix_(rows, columns)]
        assert np.linalg.norm(delta, 2) <= block.bound
        contained = small.lft.at(**point, approximation_error=delta)
        got = np.block([[contained.A, contained.B], [contained.C, contained.D]])
        assert np.max(np.abs(got - exact)) < 1e-12 * np.max(np.abs(exact))


def test_dropping_nothing_is_a_result():
    """A tolerance below what any channel carries leaves the model as it is, with error 0 and no block."""
    same = PLANT.approximate(1e-9, error="block")
    assert (same.order, same.error, same.relative_error) == (PLANT.order, 0.0, 0.0)
    assert len(same.lft.delta) == len(PLANT.delta)


def test_absolute_tolerance_of_a_matrix_without_states():
    """m + m^3/100 over (1.6, 2.4): linear to 1e-2, and the error is in the model's own units."""
    cubic = lg.realize([[m + m**3 / 100]])
    small = cubic.approximate(0.05, measure="absolute")
    assert (cubic.order, small.order) == (3, 1)
    grid = np.linspace(1.6, 2.4, 500)
    gap = np.abs(small.lft.evaluate({"m": grid})[:, 0, 0] - (grid + grid**3 / 100))
    assert np.max(gap) <= small.error <= 0.05


def test_without_a_proof_there_is_an_error():
    """Samples allow fewer repetitions, no time is left to prove it: the message tells what was reached."""
    hard = lg.realize(
        [[sp.prod([1 / (2 + p) for p in (m, k)]) * sp.sin(q) ** 3 / (1 + m * k / 40)]], budget=0
    )
    with pytest.raises(lg.ReductionError, match=r"order \d+ has an error of .* proven in \d+ parts"):
        hard.approximate(0.02, budget=0)


def test_bound_of_a_part_is_above_samples():
    """The norm bound of random parts of the box is never below the error at random points of the part."""
    balanced = weighed(scalar_lft(PLANT.normalized(recenter=True).data))
    t = balanced.split(3)
    g, small = t.opened(), t.reduced()
    rng = np.random.default_rng(5)
    for _ in range(30):
        half = rng.uniform(0.02, 0.4, 3)
        center = rng.uniform(-1 + half, 1 - half)
        bound, _ = _bound(g, 3, center, half)
        points = center + half * rng.uniform(-1, 1, (40, 3))
        gap = np.linalg.norm(balanced.lft.change(points) - small.change(points), 2, axis=(1, 2))
        assert np.max(gap) <= bound


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"tolerance": -1}, lg.ParameterError),
        ({"tolerance": "small"}, lg.ParameterError),
        ({"tolerance": 0.1, "error": "none"}, lg.ParameterError),
        ({"tolerance": 0.1, "measure": "decibel"}, lg.ParameterError),
    ],
)
def test_wrong_arguments(options, error):
    """Each is an error that names what was expected."""
    with pytest.raises(error):
        PLANT.approximate(**options)


def test_uncertain_dynamics_are_refused():
    """Blocks that are no parameters: say so, by name."""
    with pytest.raises(lg.ModelError, match="flexible"):
        (PLANT @ (1 + lg.uncertain_dynamics("flexible", (1, 1), 0.1))).approximate(0.1)
