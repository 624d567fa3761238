"""The certificate: what is minimal, how clear the ranks are, and whether all bounds can be met at once."""

import json

import numpy as np
import pytest
import sympy as sp

import lftgen as lg
from lftgen.lft.reduction.attainable import Obstruction, excess
from lftgen.lft.reduction.balancing import ScalarLFT
from lftgen.lft.reduction.common_order import without_common_order

x, y, z = (lg.uncertain(n, c, bounds=(-0.5, 0.5)) for n, c in (("x", 0), ("y", 0.1), ("z", -0.1)))


def report(expression):
    return lg.realize([[expression]], budget=0.5).order_report()


def test_sum_of_tangents_needs_three():
    """tan(a + b): bounds 1 and 1, order 3, and the report proves that two cannot be."""
    told = report((x + y) / (1 - x * y))
    assert (told.order, told.bound, told.minimal) == (3, 2, False)
    assert told.attainability == "not attainable"
    assert "of x and y" in told.obstruction
    assert "not attainable" in str(told)


def test_obstruction_in_one_entry_and_beside_other_parameters():
    """The same function hidden: in one entry of a matrix, with a third parameter, off its nominal."""
    for hidden in ([[z, (x - y) / (1 + x * y)], [z, 1]], [[(x - y) / (1 + x * y) / (1 + z) + z]]):
        assert lg.realize(hidden, budget=0.5).order_report().attainability == "not attainable"


@pytest.mark.parametrize("expression", [(x + y) / (1 + x * y), x * y + x + y, (1 + x) / (1 + y), (x + y) * z])
def test_nothing_is_claimed_without_proof(expression):
    """Sums of hyperbolic tangents and products can be met by real matrices: no obstruction is told."""
    told = report(expression)
    assert told.attainability in ("met", "unknown")
    assert told.obstruction == ""


def test_principal_minors_of_random_real_matrices():
    """Whatever a real 3 x 3 matrix makes is never called unattainable."""
    from lftgen.lft.reduction.attainable import _of_function

    rng = np.random.default_rng(0)
    points = rng.uniform(-0.4, 0.4, (24, 2))
    for _ in range(50):
        M = rng.standard_normal((3, 3)) / 2
        f = []
        for d in points:
            D = np.diag(d)
            f.append(M[2, 2] + M[2, :2] @ D @ np.linalg.solve(np.eye(2) - M[:2, :2] @ D, M[:2, 2]))
        assert _of_function(np.array(f), *points.T) > -1e-6


def test_symmetric_functions_cannot_meet_their_bounds():
    """(a + c)(b + d) beside the third symmetric function: any two of the four need three repetitions, so all need 7.

    By hand: with a and c frozen, ``K (b + d) + L b d``, K and L independent columns, has [K, L] of rank two for the letter
    at the outputs.  Of the second symmetric function it is any three: 4 + 2.
    """
    a, b, c, d = (lg.uncertain(n, 1.5, bounds=(1, 2)) for n in "abcd")
    third = a * b * c + b * c * d + c * d * a + d * a * b
    told = lg.realize([[sp.expand((a + c) * (b + d))], [third]]).order_report()
    assert (told.order, told.bound, told.least) == (7, 4, 7)
    assert "No realisation has a smaller total" in str(told)
    told = lg.realize([[a * b + a * c + a * d + b * c + b * d + c * d]]).order_report()
    assert (told.order, told.bound, told.least) == (6, 4, 6)
    assert told.to_dict()["least"] == 6


def test_linear_functions_are_no_obstruction():
    """Products of opposite entries that are rounding errors prove nothing (gravity torques of a plane arm)."""
    m1, m2, l1, l2 = (lg.uncertain(n, 1.2, bounds=(0.8, 1.7)) for n in ("m1", "m2", "l1", "l2"))
    q1, q2 = (lg.scheduled_angle(n, (-1.1, 1.3)) for n in ("q1", "q2"))
    end = m2 * l2 / 2 * sp.cos(q1 + q2)
    told = lg.realize([[(m1 * l1 / 2 + m2 * l1) * sp.cos(q1) + end], [end]], budget=0.5).order_report()
    assert (told.obstruction, told.least) == ("", 8)


@pytest.mark.parametrize("pattern", ["dense", "sparse", "triangular", "feedforward"])
def test_what_a_matrix_realises_is_no_obstruction(pattern):
    """Whatever has one repetition of each parameter is never called impossible: random matrices M as oracle."""
    rng = np.random.default_rng(2)
    for _ in range(60):
        n, (p, m) = int(rng.integers(2, 6)), rng.integers(1, 4, 2)
        A, turn = rng.standard_normal((n, n)) * rng.choice([0.1, 0.4, 1.0]), rng.permutation(n)
        A = A * (rng.random((n, n)) < 0.5) if pattern == "sparse" else A
        A = np.triu(A, 1 if pattern == "feedforward" else 0) if pattern[0] in "tf" else A
        B, C = rng.standard_normal((n, m)), rng.standard_normal((p, n))
        each = tuple(slice(k, k + 1) for k in range(n))
        s = ScalarLFT(A[turn][:, turn], B, C, np.ones((p, m)), each, -np.ones(n), np.ones(n))
        assert without_common_order(s, range(n)) == []


def test_excess_is_a_smallest_cover():
    """Fewest parameters that meet every obstruction: a triangle needs two, a star one."""
    pairs = {"triangle": ["ab", "bc", "ca"], "star": ["ab", "ac", "ad"], "apart": ["ab", "cd"], "none": []}
    found = {k: excess([Obstruction(tuple(x), "") for x in v]) for k, v in pairs.items()}
    assert found == {"triangle": 2, "star": 1, "apart": 2, "none": 0}


def test_ranks_and_gaps():
    """Every bound shows its ranks at several points and a clear singular gap; JSON holds all of it."""
    model = lg.realize(sp.Matrix([[x**3 + y, x * y**2], [z, x * z]]), budget=0.5)
    told = model.order_report()
    for row in told.rows:
        assert len(row.ranks) >= 3
        assert set(row.ranks) == {row.bound}
        assert 0 < row.singular_gap < 1e-6
    data = json.loads(json.dumps(told.to_dict()))
    assert data["attainability"] == told.attainability
    assert data["rows"][0]["ranks"] == list(told.rows[0].ranks)
    assert "singular gap" in str(told)
    assert "singular gap" in told._repr_html_()


def test_parameter_without_repetitions():
    """A declared parameter that does not occur: bound 0, nothing to be unclear about."""
    model = lg.realize([[x + 0 * y]]).declare(y)
    row = next(r for r in model.order_report().rows if r.parameter == "y")
    assert (row.repetitions, row.bound, row.singular_gap, row.minimal) == (0, 0, 0.0, True)
