"""Channels of large matrices exchanged: an inverse written out over its determinant becomes the matrix again."""

import numpy as np
import pytest
import sympy as sp

import lftgen as lg
from lftgen.lft.letters import lettered
from lftgen.lft.pivot_choice import pivots_by_degree
from lftgen.lft.pivots import _nominal_values, simplest_exchange
from lftgen.lft.realization.work import Work

a, b, c, x, y = (lg.uncertain(n, 1.6, bounds=(1, 2)) for n in ("a", "b", "c", "x", "y"))
q1, q2 = (lg.scheduled_angle(n, (-0.9, 1.1)) for n in ("q1", "q2"))
c1, c2, c12, s2 = sp.cos(q1), sp.cos(q2), sp.cos(q1 + q2), sp.sin(q2)
MASS = sp.Matrix([[a + b + 2 * c * c1, c * c12, c2], [c * c12, b + c + 3, c * s2], [c2, c * s2, a + 2]])
STIFFNESS = sp.Matrix([[a + x, b, c, 1], [b, b + 2 + y, a, c], [c, a, 4 + c, x], [1, c, x, 5 + y]])


@pytest.mark.parametrize(
    "given", [MASS, pytest.param(STIFFNESS, marks=pytest.mark.heavy)], ids=["mass", "stiffness"]
)
def test_all_channels_are_exchanged(given):
    """Degrees in one letter at a time tell that all channels go, and what is left has no denominator."""
    inverse = lettered(given.adjugate() / given.det(), exact=False)
    places = pivots_by_degree(inverse, _nominal_values(inverse))
    assert sorted(i for i, _ in places) == sorted(j for _, j in places) == list(range(given.rows))
    simple, rows, columns = simplest_exchange(inverse, Work())
    assert list(zip(rows, columns, strict=True)) == places
    assert simple.r.is_polynomial
    entries = sum(len(e) for row in simple.r.numerators for e in row)
    assert entries <= sum(len(sp.Add.make_args(sp.expand(e, trig=True))) for e in given)


@pytest.mark.heavy
def test_inverse_mass_matrix_needs_what_the_mass_matrix_needs():
    """17 repetitions, the bound; 110 without the exchange."""
    model = lg.realize(MASS.adjugate() / MASS.det())
    assert model.order == 17
    assert model.order_report().minimal
    rng = np.random.default_rng(0)
    for _ in range(20):
        point = {p: rng.uniform(*p.bounds) for p in (a, b, c, q1, q2)}
        want = np.linalg.inv(np.array(MASS.xreplace(point), dtype=float))
        got = model.at(**{p.name: v for p, v in point.items()})
        assert np.max(np.abs(got - want)) <= 1e-9 * np.max(np.abs(want))
