"""Sums of bounds that cannot be met, by exact arithmetic; what can be met is the check of the method."""

import pytest
import sympy as sp

from tests.lft.realization.couplings import couplings

x, y = sp.symbols("x y")
SX, CX, SY, CY = 2 * x / (1 + x**2), (1 - x**2) / (1 + x**2), 2 * y / (1 + y**2), (1 - y**2) / (1 + y**2)


@pytest.mark.parametrize(
    ("row", "possible"),
    [
        ([SX * CY + CX * SY, CX * CY - SX * SY], True),
        ([SX * CY + CX * SY, SX * SY], False),
        ([SX * CY + CX * SY, CX * CY + SX * SY], False),
    ],
    ids=["sine and cosine of the sum", "expanded products of sines", "sums and differences of angles"],
)
def test_two_angles(row, possible):
    """A rotation by the sum has two of each; sines beside products of sines or the difference cannot."""
    assert (couplings(sp.Matrix([row]), x, y, (2, 2), 5) != [1]) == possible


@pytest.mark.parametrize("column", [[x + y, x * y], [x + y + x * y, y], [x, y + x * y], [x - y, x + x * y]])
def test_columns_with_one_of_each(column):
    """By hand: K_x x + K_y y + L x y needs [K_x, L] or [K_y, L] of rank one in a column."""
    kx, ky, both = (sp.Matrix([sp.Poly(e, x, y).coeff_monomial(t) for e in column]) for t in (x, y, x * y))
    by_hand = any(sp.Matrix.hstack(k, both).rank() == 1 for k in (kx, ky))
    assert (couplings(sp.Matrix(column), x, y, (1, 1), 3) != [1]) == by_hand


@pytest.mark.heavy
def test_gradient():
    """The gradient of a^2 b^3 c + a b c^2 at b = 1: two of a and two of c are impossible (so 8 at least in all)."""
    a, b, c = sp.symbols("a b c")
    P = a**2 * b**3 * c + a * b * c**2
    row = sp.Matrix([[sp.diff(P, v) for v in (a, b, c)]]).subs({a: 1 + x, b: 1, c: 1 + y}, simultaneous=True)
    assert couplings(row.applyfunc(sp.expand), x, y, (2, 2), 6) == [1]
