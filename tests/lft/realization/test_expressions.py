"""Counts and values of matrices that nobody tuned the portfolio for one by one."""

import time

import numpy as np
import pytest
import sympy as sp

import lftgen as lg
from tests.lft.realization import expressions, more_expressions, textbook

MATRICES = expressions.MATRICES
TABLES = {"expressions": expressions, "more": more_expressions, "textbook": textbook}
EVERY = [(table, name) for table, module in TABLES.items() for name in module.MATRICES]

SOME = ("two factors", "three factors sharing", "mass and centre", "mass, springs, dampers", "its inverse",
        "parallel and series", "common denominator", "rotation by a sum", "roll, pitch, yaw", "plane arm",
        "trigonometric fraction")  # fmt: skip


def assert_values(matrix, model):
    """Against sympy's own evaluation at random points of the box."""
    matrix = sp.Matrix(matrix)
    used = sorted(matrix.free_symbols, key=str)
    function = sp.lambdify(used, matrix, "numpy")
    rng = np.random.default_rng(3)
    for _ in range(20):
        point = {p.name: rng.uniform(*p.bounds) for p in used}
        want = np.array(function(*point.values()), dtype=float)
        assert np.max(np.abs(model.at(**point) - want)) <= 1e-10 * np.max(np.abs(want))


@pytest.mark.parametrize("name", SOME)
def test_at_the_bound(name):
    """The count meets the bound in every parameter, within the budget, and the values are those of the expressions."""
    model = lg.realize(sp.Matrix(MATRICES[name]))
    assert model.order_report().minimal
    assert_values(MATRICES[name], model)


@pytest.mark.heavy
@pytest.mark.parametrize(("table", "name"), EVERY, ids=[f"{table}: {name}" for table, name in EVERY])
def test_table(table, name):
    """Every row of the tables: at the bound in every parameter, or not above the total that was reached."""
    matrix, above = TABLES[table].MATRICES[name], TABLES[table].ABOVE
    model = lg.realize(sp.Matrix(matrix))
    report = model.order_report()
    if name in above:
        assert report.least <= model.order <= above[name]
    else:
        assert report.minimal
    assert_values(matrix, model)


def test_budget_is_kept():
    """The whole portfolio takes its budget and little more; without one the quick forms are right as well."""
    matrix, seconds = sp.Matrix(MATRICES["gradient"]) * 1.0000001, []
    for budget in (0, 0.5):
        start = time.process_time()
        model = lg.realize(matrix, budget=budget)
        seconds.append(time.process_time() - start)
        assert_values(matrix, model)
    # the budget is counted for a quiet machine; the search of all of it would take eight seconds there
    assert seconds[1] < 3 * seconds[0] + 2.0


def test_exact_entries_are_realised_the_same_way():
    """Free symbols and exact numbers: as few repetitions, and equal to the expressions as rational functions."""
    t1, t2 = (lg.scheduled_angle(f"t{i}", (-1, 1)) for i in (1, 2))
    free = sp.Symbol("L", positive=True)
    model = lg.realize([[free * sp.cos(t1 + t2), sp.sin(t1 + t2)]])
    assert model.is_exact
    assert model.repetitions == {"t1": 2, "t2": 2}
    want = sp.Matrix([[free * sp.cos(t1 + t2), sp.sin(t1 + t2)]])
    assert sp.simplify(sp.expand_trig(model.to_sympy() - want)) == sp.zeros(1, 2)
