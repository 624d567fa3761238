"""Word search: known counts, exactness, determinism, scales, wrong input."""

import numpy as np
import pytest
import sympy as sp

from lftgen.errors import ModelError, ReductionError
from lftgen.lft.realization import best_order, ho_kalman, realize_words, search_words, words_of
from lftgen.lft.realization.polynomial import commute, evaluate_terms
from lftgen.lft.realization.result import Realization
from lftgen.lft.realization.shares import candidate_shares
from lftgen.lft.realization.sketch import Item, Sketch

a, b, c, d, m, l, x, y = sp.symbols("a b c d m l x y")
d1, d2, d3, d4, d5 = sp.symbols("d1:6")


def to_terms(expression):
    matrix = sp.Matrix([[expression]]) if isinstance(expression, sp.Expr) else sp.Matrix(expression)
    symbols = sorted(matrix.free_symbols, key=str) or [a]
    terms = {(0,) * len(symbols): np.zeros(matrix.shape)}
    for (i, j), entry in np.ndenumerate(np.array(matrix)):
        for powers, value in sp.Poly(sp.expand(entry), *symbols).terms():
            terms.setdefault(powers, np.zeros(matrix.shape))[i, j] += float(value)
    return terms


def missile():
    """Jacobian of a missile's lift and pitch polynomials with the trim deflection put in."""
    lift = 19.347 * x**3 - 31.0084 * x**2 - 9.7174 * (2 - y / 3) * x - 1.9481 * d
    pitch = 40.4847 * x**3 - 64.1657 * x**2 + 2.9221 * (-7 + 8 * y / 3) * x - 11.8029 * d
    f = sp.Matrix([0.0207 * y * lift * (1 - x**2 / 2), 1.232 * y**2 * pitch, 0.0116 * y**2 * lift])
    return f.jacobian([x, d]).subs(d, sp.solve(pitch, d)[0])


CASES = {
    "four letters": (
        [[b * a**2 * d**3, c**3 * a + d**2], [a * b**2 * d**3, a * b * c], [d**2, a * b]],
        (3, 3, 3, 5),
    ),
    "five letters": ([[4 * d1**2 * d3, 3 * d1, 0], [d3 * d5, 5 * d2**2 * d4, d2 * d4**2]], (2, 2, 1, 2, 1)),
    "split powers": (2 * d1**3 * d2**2 * d3 + 3 * d1**2 * d2**3 + 4 * d1 * d3 + 5, (3, 3, 1)),
    "missile": (missile(), (4, 5)),
    "factors": ((a + 2 * b) * (c - 3 * d), (1, 1, 1, 1)),
    "mass and length": ([[m, m * l], [m * l, m * l**2]], (2, 1)),
    "dependent rows": ([[a * b, a], [2 * a * b, 2 * a], [a * b / 3, a / 3]], (1, 1)),
    "power of a factor": ((a * b + c) ** 2 * (a + c), (3, 2, 3)),
    "coincidence": ((a + b) ** 2 * (a - b), (3, 3)),
    "differences": ((a - b) * (b - c) * (c - a), (2, 2, 2)),
    "constant": ([[1, 2]], (0,)),
    "zero": (a * b - b * a, (0,)),
}


@pytest.mark.parametrize("name", CASES)
def test_known_counts_are_met(name):
    """Each letter at its bound, and the realisation equal to the polynomial."""
    terms = to_terms(CASES[name][0])
    found = search_words(terms, moves=40_000)
    assert found.orders == found.bounds.orders == CASES[name][1]
    assert found.minimal
    r = ho_kalman(found.words)
    assert r.order == found.total <= found.start
    points = np.random.default_rng(1).uniform(-1, 1, (20, len(found.orders)))
    expected = evaluate_terms(terms, points)
    np.testing.assert_allclose(r.evaluate(points), expected, atol=1e-11 * max(1.0, abs(expected).max()))


def chain_terms(n, seed):
    """[H, g] of an n-link chain with half-angle-like letters: products of neighbours with random weights."""
    rng = np.random.default_rng(seed)
    terms: dict = {}
    for i in range(n):
        for j in range(n + 1):
            powers = [0] * (2 * n)
            for k in range(min(i, j), max(i, j)):
                powers[k] = 1
            powers[n + min(n - 1, max(i, j))] = 1
            terms.setdefault(tuple(powers), np.zeros((n, n + 1)))[i, j] = rng.uniform(0.5, 2)
    return terms


@pytest.mark.parametrize("n", [2, 3])
def test_chains(n):
    """Never above the best common order, below no bound, exact."""
    terms = chain_terms(n, n)
    found = search_words(terms, moves=3000)
    assert found.bounds.total <= found.total <= best_order(terms, limit=720)[1]
    points = np.random.default_rng(0).uniform(-1, 1, (10, 2 * n))
    values = ho_kalman(found.words).evaluate(points)
    np.testing.assert_allclose(values, evaluate_terms(terms, points), atol=1e-10)


@pytest.mark.parametrize("seed", range(4))
def test_bad_scales(seed):
    """Coefficients over eight decades and more: the same counts, relative accuracy in every entry."""
    terms = to_terms(CASES["four letters"][0])
    rng = np.random.default_rng(seed)
    units, rows, columns = (10.0 ** rng.uniform(-4, 4, n) for n in (4, 3, 2))
    scaled = {k: f * np.prod(units ** np.array(k)) * rows[:, None] * columns for k, f in terms.items()}
    r = realize_words(scaled, moves=20_000, seed=seed)
    assert r.order == 14
    points = rng.uniform(1, 2, (5, 4)) / units
    np.testing.assert_allclose(r.evaluate(points), evaluate_terms(scaled, points), rtol=1e-9)


def test_deterministic_by_moves():
    """Equal seeds and moves give equal words; the seed matters on the way, not for validity."""
    terms = chain_terms(3, 0)
    first, second = (search_words(terms, moves=1500, seed=5) for _ in range(2))
    assert first.orders == second.orders
    assert first.moves == second.moves <= 1500
    assert first.words.keys() == second.words.keys()
    assert all(np.array_equal(first.words[w], second.words[w]) for w in first.words)


def test_budget_target_restarts_progress():
    """The limits stop the search, and progress is told."""
    terms = chain_terms(3, 1)
    seen = []
    found = search_words(terms, budget=0.3, progress=lambda total, seconds: seen.append(total))
    assert found.seconds < 2.0
    assert seen == sorted(seen, reverse=True)
    assert search_words(terms, restarts=2, target=0).restarts == 2
    assert search_words(terms, target=10_000).restarts == 0
    assert search_words(terms, moves=0).total >= found.bounds.total
    assert search_words(terms, moves=200, granularities=("matrix",)).total >= found.bounds.total


def test_shared_coefficient_is_found():
    """(a - b)(b - c)(c - a) needs words of abc that cancel: the polynomial does not contain that monomial."""
    found = search_words(to_terms((a - b) * (b - c) * (c - a)), moves=40_000)
    assert found.total == 6
    abc = [f[0, 0] for word, f in found.words.items() if sorted(word) == [0, 1, 2]]
    assert len(abc) == 2
    assert abs(sum(abc)) < 1e-12


def multiply(left, right):
    product: dict = {}
    for v, f in left.items():
        for w, g in right.items():
            product[v + w] = product.get(v + w, 0.0) + f @ g
    return product


def gram_words(n, seed):
    """Words of sum_k v_k^T m_k v_k, v_k = (I + x_k J)^T v_(k-1) + e_k: some cancel, some coincide."""
    rng = np.random.default_rng(seed)
    skew = np.array([[0.0, -1.0], [1.0, 0.0]])
    total: dict = {}
    v = {(): np.zeros((2, n))}
    for k in range(n):
        v = multiply({(): np.eye(2), (k,): skew.T}, v)
        v[()] = v.get((), 0.0) + np.outer([0.0, rng.uniform(0.5, 2)], np.eye(n)[k])
        transposed = {word[::-1]: f.T for word, f in v.items()}
        for word, f in multiply(transposed, multiply({(n + k,): np.eye(2)}, v)).items():
            total[word] = total.get(word, 0.0) + f
    return total


@pytest.mark.parametrize("n", [3, 4])
def test_start_from_another_construction(n):
    """Words along the structure, cancelling and shared ones too, are taken over and never made worse."""
    structured = ho_kalman(gram_words(n, n))
    start = words_of(structured)
    terms = commute(start, 2 * n)
    found = search_words(terms, moves=200, starts=[start])
    assert found.total <= structured.order < found.start
    points = np.random.default_rng(0).uniform(-1, 1, (10, 2 * n))
    values = ho_kalman(found.words).evaluate(points)
    np.testing.assert_allclose(values, structured.evaluate(points), atol=1e-10)


def test_wrong_starts():
    """Words of another polynomial, or of more letters, are refused."""
    terms = {(1, 1): [[1.0]]}
    with pytest.raises(ModelError, match="not a lift of terms"):
        search_words(terms, starts=[{(0, 1): [[2.0]]}])
    with pytest.raises(ModelError, match="must have 2 letters"):
        search_words(terms, starts=[{(0, 2): [[1.0]]}])


def test_words_of_a_realisation():
    """Expansion is the inverse of realisation; what is not polynomial, or too long, is refused."""
    words = {(): [[1.0, 0.0]], (0, 1, 0): [[2.0, 3.0]], (1, 0): [[0.0, -1.0]]}
    expanded = words_of(ho_kalman(words))
    assert expanded.keys() == words.keys()
    for word, f in words.items():
        np.testing.assert_allclose(expanded[word], f, atol=1e-12)
    with pytest.raises(ReductionError, match="nilpotent"):
        words_of(Realization(np.eye(1), np.eye(1), np.eye(1), np.eye(1), (0,)))
    with pytest.raises(ModelError, match="more than 1 words"):
        words_of(ho_kalman(words), limit=1)


def test_ratio_of_a_share_is_computed():
    """The drop of a rank is found at a share that no list of simple numbers holds."""
    items = [Item((1, 1), np.ones((1, 1)), np.ones((1, 1)))]
    sketch = Sketch(items, 2, 6, 0)
    rng = np.random.default_rng(0)
    u, v = rng.standard_normal((2, 6, 3)), rng.standard_normal((2, 3, 6))
    change = u @ np.diag([0.0, 0.0, 1.0]) @ v
    blocks = u @ np.diag([1.0, 2.0, -np.sqrt(2)]) @ v
    assert candidate_shares(sketch, blocks, change, 0.4) == pytest.approx([np.sqrt(2)], rel=1e-10)
    assert candidate_shares(sketch, u @ np.diag([1.0, 2.0, 0.2]) @ v, change, 0.4) == [-0.2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget": -1.0}, "budget must be >= 0"),
        ({"moves": -1}, "moves must be >= 0"),
        ({"budget": float("nan")}, "budget must be >= 0"),
        ({"granularities": ("row",)}, "granularities must be some of"),
        ({"granularities": ()}, "granularities must be some of"),
    ],
)
def test_wrong_options(options, message):
    """Each wrong option is named."""
    with pytest.raises(ModelError, match=message):
        search_words({(1, 1): [[1.0]]}, **options)


def test_wrong_terms():
    """A negative power is no polynomial."""
    with pytest.raises(ModelError, match="polynomial form"):
        search_words({(-1, 1): [[1.0]]})
