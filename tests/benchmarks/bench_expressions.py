"""Repetitions of published matrices: the n-D reduction alone, the default budget, the bound, and what others reached.

The matrices and the counts are those of the manual and the tutorial of ONERA's LFR toolbox and of MathWorks' pages on
uncertain matrices.  ``--large`` adds the table of the tests, of which nothing is published.
"""

import time
from functools import reduce
from operator import add, matmul

import numpy as np
import sympy as sp

import lftgen as lg
from tests.lft.realization import expressions, more_expressions, textbook

COLUMNS = (
    "matrix",
    "size",
    "n-D reduction",
    "published",
    "order",
    "sum of bounds",
    "proven least",
    "seconds",
    "error",
)


def _letters(names, low=1.0, high=2.0):
    return [lg.uncertain(n, (low + high) / 2, bounds=(low, high)) for n in names.split()]


a, b, c, d, e, r = _letters("a b c d e r")
d1, d2, d3, d4, d5 = _letters("d1 d2 d3 d4 d5")
incidence, mach = lg.uncertain("alpha", 0.17, bounds=(0, 0.349)), lg.uncertain("mach", 3, bounds=(2, 4))


def missile():
    """A missile's lift and pitch linearised at incidence and Mach number, fin at its trim."""
    x, fin = sp.symbols("x fin")
    lift = 19.347 * x**3 - 31.0084 * x**2 - 9.7174 * (2 - mach / 3) * x - 1.9481 * fin
    pitch = 40.4847 * x**3 - 64.1657 * x**2 + 2.9221 * (-7 + 8 * mach / 3) * x - 11.8029 * fin
    forces = [0.0207 * mach * lift * (1 - x**2 / 2), 1.232 * mach**2 * pitch, 0.0116 * mach**2 * lift]
    jacobian = sp.Matrix(forces).jacobian([x, fin])
    return sp.expand(
        sp.nsimplify(jacobian.subs(fin, sp.solve(pitch, fin)[0]).subs(x, incidence), rational=True)
    )


PUBLISHED = {
    "products over abc": (
        lambda: [[a * c + a * d + b * c + b * d, 1 / (a * b * c)], [c + d, 1 / (a * b * c)]],
        7,
    ),
    "four letters": (
        lambda: [[b * a**2 * d**3, c**3 * a + d**2], [a * b**2 * d**3, a * b * c], [d**2, a * b]],
        16,
    ),
    "five letters": (lambda: [[4 * d1**2 * d3, 3 * d1, 0], [d3 * d5, 5 * d2**2 * d4, d2 * d4**2]], 8),
    "split powers": (lambda: [[2 * d1**3 * d2**2 * d3 + 3 * d1**2 * d2**3 + 4 * d1 * d3 + 5]], 7),
    "common denominator": (lambda: [[1 / (1 + d1 + d2)], [1 / (1 + d1 + d2)]], 2),
    "quotient": (lambda: [[3 + d + e, d / e], [7 + r, r + d * e]], 6),
    "missile": (missile, 9),
}


def measured(name, matrix, published):
    """One row."""
    matrix = sp.Matrix(matrix)
    plain = as_written(matrix)
    start = time.perf_counter()
    model = lg.realize(matrix)
    seconds = time.perf_counter() - start
    report = model.order_report()
    size = f"{matrix.shape[0]} x {matrix.shape[1]}"
    count = "" if published is None else str(published)
    bound = sum(model.order_bound().values())
    row = (name, size, str(plain), count, str(model.order), str(bound), str(report.least))
    return (*row, f"{seconds:.2f}", f"{deviation(matrix, model):.0e}")


def as_written(matrix):
    """Order after the n-D reduction of the expressions as they stand, operator by operator."""
    rows = [lg.hstack([_operators(x) for x in matrix.row(i)]) for i in range(matrix.shape[0])]
    return lg.vstack(rows).reduce().order


def _operators(x):
    if x.is_Add or x.is_Mul:
        return reduce(add if x.is_Add else matmul, (_operators(y) for y in x.args))
    if x.is_Pow and x.exp.is_Integer:
        base = _operators(x.base)
        return reduce(matmul, [base.inverse() if x.exp < 0 else base] * abs(int(x.exp)))
    return lg.realize([[x]], budget=0)


def deviation(matrix, model, n=200):
    """Largest relative error at random points."""
    used = sorted(matrix.free_symbols, key=str)
    function = sp.lambdify(used, matrix, "numpy")
    rng = np.random.default_rng(0)
    points = {p.name: rng.uniform(p.lower, p.upper, n) for p in used}
    value = model.evaluate(points)
    worst = 0.0
    for i, got in enumerate(value):
        want = np.array(function(*(v[i] for v in points.values())), dtype=float)
        worst = max(worst, float(np.abs(got - want).max() / np.abs(want).max()))
    return worst


def tables(large=False):
    """Title, columns and rows, measured as they are asked for."""
    rows = (measured(name, make(), count) for name, (make, count) in PUBLISHED.items())
    yield "repetitions of published matrices, default budget", COLUMNS, rows
    if large:
        for title, module in (
            ("expressions", expressions),
            ("more", more_expressions),
            ("textbook", textbook),
        ):
            others = (measured(name, matrix, None) for name, matrix in module.MATRICES.items())
            yield f"the tests' own matrices ({title}), default budget", COLUMNS, others
