"""Lower bounds of the repetitions."""

import numpy as np
import pytest

from lftgen.errors import ModelError
from lftgen.lft.realization import best_order, layered, order_bounds, ordered_words
from lftgen.lft.realization.polynomial import evaluate_terms


def random_terms(seed, letters=3, shape=(2, 2), count=6, degree=3):
    rng = np.random.default_rng(seed)
    terms = {}
    for _ in range(count):
        matrix = rng.integers(1, 5, shape) * (rng.random(shape) < 0.4).astype(float)
        terms[tuple(int(e) for e in rng.integers(0, degree, letters))] = matrix
    return terms


@pytest.mark.parametrize(
    ("terms", "orders"),
    [
        ({(0,): [[1.0]]}, (0,)),
        ({(3,): [[2.0]]}, (3,)),
        ({(1, 1): [[1.0]]}, (1, 1)),
        ({(1, 0): np.eye(3), (0, 1): np.ones((3, 3))}, (3, 1)),
        ({(1, 0): [[1, 0], [0, 0]], (1, 1): [[0, 1], [1, 0]], (1, 2): [[0, 0], [0, 1]]}, (1, 2)),
    ],
)
def test_known_bounds(terms, orders):
    """Degrees that can be counted by hand; the last is the mass-length block m [1 l; l l^2]."""
    assert order_bounds(terms).orders == orders


@pytest.mark.parametrize("seed", range(12))
def test_layered_is_exact_and_never_below(seed):
    """No layered realisation is below a bound, and each equals the polynomial."""
    terms = random_terms(seed)
    order, size = best_order(terms)
    r = layered(terms, order)
    assert r.order == size
    for letter, bound in enumerate(order_bounds(terms).orders):
        assert r.repetitions.get(letter, 0) >= bound
    points = np.random.default_rng(seed).standard_normal((6, 3))
    np.testing.assert_allclose(r.evaluate(points), evaluate_terms(terms, points), atol=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_scales_do_not_matter(seed):
    """Units of letters, rows and columns over eight decades leave the bounds."""
    terms = random_terms(seed)
    rng = np.random.default_rng(seed)
    units, rows, columns = (10.0 ** rng.uniform(-4, 4, n) for n in (3, 2, 2))
    scaled = {k: f * np.prod(units ** np.array(k)) * rows[:, None] * columns for k, f in terms.items()}
    assert order_bounds(scaled).orders == order_bounds(terms).orders


def test_points_of_a_box_and_gap():
    """Given points are used; a special point may give less, generic ones decide; the gap is small."""
    terms = {(1, 1): [[1.0, 0.0], [0.0, 1.0]], (1, 0): [[-1.0, 0.0], [0.0, 1.0]]}
    assert order_bounds(terms).orders == (2, 2)
    assert order_bounds(terms, points=[[0.0, 1.0]]).orders[0] == 1
    assert order_bounds(terms, points=[[0.0, 1.0], [0.3, 0.4]]).orders == (2, 2)
    bounds = order_bounds(terms, points=np.random.default_rng(0).uniform(1, 2, (5, 2)))
    assert bounds.orders == (2, 2)
    assert bounds.total == 4
    assert max(bounds.gaps) < 1e-12


def test_wrong_input():
    """Wrong points, exponents and orders are named."""
    with pytest.raises(ModelError, match=r"\(N, 2\)"):
        order_bounds({(1, 1): [[1.0]]}, points=[[1.0]])
    with pytest.raises(ModelError, match="one exponent for each letter"):
        order_bounds({(1, 1): [[1.0]], (1,): [[1.0]]})
    with pytest.raises(ModelError, match="permutation"):
        ordered_words({(1, 1): [[1.0]]}, (0, 0))


def test_many_letters_are_sampled():
    """Beyond five letters a sample of orders is tried, the natural one among them."""
    terms = {tuple(int(k == i) + int(k == i + 1) for k in range(8)): [[1.0]] for i in range(7)}
    order, size = best_order(terms, limit=10)
    assert sorted(order) == list(range(8))
    assert size <= best_order(terms, limit=2)[1]
