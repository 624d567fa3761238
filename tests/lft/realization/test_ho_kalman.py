"""Ho-Kalman realisation of words: equal to the polynomial, minimal, robust against scales."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lftgen.errors import IllPosedError, ModelError, ReductionError
from lftgen.lft.realization import Realization, hankel_orders, ho_kalman, layered


def value_of_words(words, point):
    return sum(np.prod(point[list(word)]) * np.asarray(f, dtype=float) for word, f in words.items())


def value_in_matrices(words, letters):
    """Substitute square matrices, which do not commute, for the letters."""
    size = len(letters[0])
    total = 0.0
    for word, f in words.items():
        product = np.eye(size)
        for letter in word:
            product = product @ letters[letter]
        total = total + np.kron(f, product)
    return total


def realization_in_matrices(r, letters):
    eye = np.eye(len(letters[0]))
    n, size = r.order, len(eye)
    delta = np.zeros((n * size, n * size))
    for k, letter in enumerate(r.letters):
        delta[k * size : (k + 1) * size, k * size : (k + 1) * size] = letters[letter]
    inner = np.linalg.solve(np.eye(n * size) - np.kron(r.M11, eye) @ delta, np.kron(r.M12, eye))
    return np.kron(r.M22, eye) + np.kron(r.M21, eye) @ delta @ inner


@st.composite
def random_words(draw):
    p, m = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    words = st.lists(st.integers(0, 3), max_size=4).map(tuple)
    keys = draw(st.lists(words, min_size=1, max_size=6, unique=True))
    rng = np.random.default_rng(draw(st.integers(0, 2**20)))
    return {key: rng.integers(-3, 4, (p, m)).astype(float) for key in keys}


@settings(max_examples=60, deadline=None)
@given(random_words(), st.integers(0, 1000))
def test_equals_the_polynomial_also_where_letters_do_not_commute(words, seed):
    """The realisation reproduces the words for numbers and for random 2 x 2 matrices."""
    r = ho_kalman(words)
    rng = np.random.default_rng(seed)
    point = rng.standard_normal(4)
    np.testing.assert_allclose(r.evaluate(point), value_of_words(words, point), atol=1e-10)
    letters = 0.5 * rng.standard_normal((4, 2, 2))
    expected = value_in_matrices(words, letters)
    np.testing.assert_allclose(realization_in_matrices(r, letters), expected, atol=1e-10)


@settings(max_examples=30, deadline=None)
@given(random_words())
def test_order_is_the_sum_of_hankel_ranks(words):
    """Channels of each letter are as many as the rank that is reported without realising."""
    expected = {letter: rank for letter, rank in hankel_orders(words).items() if rank}
    assert ho_kalman(words).repetitions == expected


@pytest.mark.parametrize(
    ("words", "repetitions"),
    [
        ({(): [[2.0]]}, {}),
        ({(0, 0, 0): [[1.0]]}, {0: 3}),
        ({(0, 1): [[1.0]], (1, 0): [[-1.0]]}, {0: 2, 1: 2}),
        ({(0, 2): [[1.0]], (0, 3): [[-3.0]], (1, 2): [[2.0]], (1, 3): [[-6.0]]}, {0: 1, 1: 1, 2: 1, 3: 1}),
        ({(0,): [[1.0, 2.0], [2.0, 4.0]]}, {0: 1}),
        ({(0,): np.eye(3)}, {0: 3}),
    ],
)
def test_known_orders(words, repetitions):
    """Orders that can be counted by hand."""
    assert ho_kalman(words).repetitions == repetitions


def test_similar_realisation_of_random_structure_is_recovered():
    """The words of a random nilpotent realisation come back with its order."""
    rng = np.random.default_rng(3)
    n, letters = 6, (0, 0, 1, 1, 2, 2)
    a = np.triu(rng.standard_normal((n, n)), 1)
    b, c = rng.standard_normal((n, 6)), rng.standard_normal((6, n))
    words: dict = {}

    def walk(word, row):
        for k in range(n):
            new = (*word, letters[k])
            if abs(row[:, k]).max() > 0:
                f = np.outer(row[:, k], b[k])
                words[new] = words[new] + f if new in words else f
                walk(new, np.outer(row[:, k], a[k]))

    walk((), c)
    assert ho_kalman(words).letters == letters


@pytest.mark.parametrize("scale", [1e-4, 1e4])
def test_bad_scales_change_nothing(scale):
    """Letters in other units have the same ranks, and every entry keeps its relative accuracy."""
    words = {(0, 1): [[1.0, 2.0]], (1,): [[0.0, 3.0]], (0, 0, 1): [[0.5, 1.0]]}
    scaled = {w: np.array(f) * scale ** len(w) * [1.0, scale**2] for w, f in words.items()}
    r = ho_kalman(scaled)
    assert hankel_orders(scaled) == hankel_orders(words)
    point = np.array([0.3, -0.7]) / scale
    np.testing.assert_allclose(r.evaluate(point), value_of_words(scaled, point), rtol=1e-12)


def test_rank_gap_is_reported():
    """A dependence that is only approximate shows in the gap, or in the order."""
    words = {(0,): np.array([[1.0, 1.0], [1.0, 1.0 + 1e-6]])}
    assert ho_kalman(words).order == 2
    assert ho_kalman({(0,): np.array([[1.0, 1.0], [1.0, 1.0 + 1e-13]])}).gap < 1e-12


def test_too_large_tolerance_is_refused():
    """A rank decision that changes the polynomial does not pass."""
    with pytest.raises(ReductionError, match="smaller tolerance"):
        ho_kalman({(0,): np.array([[1.0, 1.0], [1.0, 1.1]])}, tolerance=0.5)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({}, "an empty one"),
        ([((0,), [[1.0]])], "got list"),
        ({0: [[1.0]]}, "tuples of non-negative ints"),
        ({(-1,): [[1.0]]}, "tuples of non-negative ints"),
        ({(0,): [1.0]}, "2-D"),
        ({(0,): [[np.nan]]}, "finite"),
        ({(0,): [[1j]]}, "complex"),
        ({(0,): [[1.0]], (1,): [[1.0, 2.0]]}, "one shape"),
    ],
)
def test_wrong_words(words, message):
    """Each wrong input is named."""
    with pytest.raises(ModelError, match=message):
        ho_kalman(words)


def test_realization_is_frozen_and_checked():
    """Arrays are read-only copies; wrong shapes, letters and points are named."""
    r = layered({(1, 1): [[1.0]]}, (0, 1))
    with pytest.raises(ValueError, match="read-only"):
        r.M11[0, 0] = 1.0
    with pytest.raises(ModelError, match="k >= 2"):
        r.evaluate([1.0])
    with pytest.raises(ModelError, match="M11 must be 1 x 1"):
        Realization(np.eye(2), np.ones((1, 1)), np.ones((1, 1)), np.ones((1, 1)), (0,))
    with pytest.raises(ModelError, match="must ascend"):
        Realization(np.eye(2), np.ones((2, 1)), np.ones((1, 2)), np.ones((1, 1)), (1, 0))
    with pytest.raises(IllPosedError, match="singular"):
        Realization(np.eye(1), np.eye(1), np.eye(1), np.eye(1), (0,)).evaluate([1.0])


def test_many_points_at_once():
    """A stack of points gives the stack of single values."""
    r = ho_kalman({(0, 1): [[1.0, 2.0]], (1,): [[3.0, 0.0]]})
    points = np.random.default_rng(0).standard_normal((5, 2))
    np.testing.assert_allclose(r.evaluate(points), np.stack([r.evaluate(x) for x in points]))
