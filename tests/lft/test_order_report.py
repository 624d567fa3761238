"""The certificate: what is minimal, how clear the ranks are, and whether all bounds can be met at once."""

import json

import numpy as np
import pytest
import sympy as sp

import lftgen as lg

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
