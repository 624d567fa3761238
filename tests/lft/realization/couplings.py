"""Can two parameters both meet their bounds?  An exact answer by a Groebner basis, for tests and for docs/orders.md.

With both bounds met, an LFT of F(x, y) is minimal in x at y = 0 and in y at x = 0.  These two realisations are known up to a
change of basis, so that only the couplings A_xy and A_yx are unknown.  They obey polynomial equations: the Taylor
coefficients of F are sums over words in x and y, and ``det(I - A Delta)`` is the common denominator of F.  Where the
equations have no solution (their ideal is all polynomials), complex or real, the bounds cannot both be met.
"""

import itertools

import sympy as sp
from sympy.polys.groebnertools import groebner


def couplings(F, x, y, bounds, degree):
    """Groebner basis of the equations; ``[1]`` where there is no solution.

    F is a sympy matrix with rational coefficients, without pole at the origin; Taylor coefficients up to ``degree`` count.
    """
    nx, ny = bounds
    taylor = _taylor(F, x, y, max(degree, 2 * max(bounds) + 3))
    ax, bx, cx = _minimal({i: taylor[i, 0] for i in range(1, 2 * nx + 4)}, nx)
    ay, by, cy = _minimal({i: taylor[0, i] for i in range(1, 2 * ny + 4)}, ny)
    ring = sp.ring([f"u{i}" for i in range(2 * nx * ny)], sp.QQ, sp.grevlex)[0]
    domain = ring.to_domain()
    symbols = [sp.Symbol(str(g)) for g in ring.gens]
    axy, ayx = sp.Matrix(nx, ny, symbols[: nx * ny]), sp.Matrix(ny, nx, symbols[nx * ny :])
    equations = []
    gx, gy = {(1, 0): bx}, {(0, 1): by}
    for total, i in itertools.product(range(2, degree + 1), range(degree + 1)):
        j = total - i
        if j < 0:
            continue
        before, below = (i - 1, j), (i, j - 1)
        gx[i, j] = ax * gx.get(before, bx * 0) + axy * gy.get(before, by * 0) if i else bx * 0
        gy[i, j] = ay * gy.get(below, by * 0) + ayx * gx.get(below, bx * 0) if j else by * 0
        gx[i, j], gy[i, j] = gx[i, j].applyfunc(sp.expand), gy[i, j].applyfunc(sp.expand)
        equations += list(cx * gx[i, j] + cy * gy[i, j] - taylor[i, j]) if i and j else []
    A = sp.Matrix(sp.BlockMatrix([[ax, axy], [ayx, ay]]).as_explicit())
    delta = sp.diag(*[x] * nx, *[y] * ny)
    determinant = (sp.eye(nx + ny) - A * delta).det(method="berkowitz")
    bottom = sp.lcm_list([sp.fraction(sp.cancel(e))[1] for e in F])
    equations += sp.Poly(sp.expand(determinant - bottom / bottom.subs({x: 0, y: 0})), x, y).coeffs()
    found = [domain.from_sympy(sp.expand(e)) for e in equations]
    return groebner([e for e in found if e], ring)


def _taylor(F, x, y, degree):
    """Coefficients of x^i y^j, i + j up to ``degree``, by long division."""
    out = {}
    for i, j in itertools.product(range(degree + 1), repeat=2):
        out[i, j] = sp.zeros(*F.shape)
    for place in itertools.product(range(F.rows), range(F.cols)):
        top, bottom = (sp.Poly(e, x, y) for e in sp.fraction(sp.cancel(F[place])))
        terms = dict(bottom.terms())
        for i, j in sorted(out):
            rest = top.coeff_monomial(x**i * y**j)
            rest -= sum(
                c * out[i - p, j - q][place] for (p, q), c in terms.items() if p + q > 0 and p <= i and q <= j
            )
            out[i, j][place] = rest / terms[0, 0]
    return out


def _minimal(markov, n):
    """A, B, C of degree n with ``C A^(k-1) B`` the given coefficients (Ho and Kalman, exact)."""
    size = range(n + 1)
    first, second = (
        sp.Matrix(sp.BlockMatrix([[markov[i + j + k] for j in size] for i in size]).as_explicit())
        for k in (1, 2)
    )
    rows, columns = list(first.T.rref()[1]), list(first.rref()[1])
    if len(rows) != n:
        raise ValueError(f"degree {len(rows)} at the origin, not {n}: choose another origin")
    p, m = markov[1].shape
    inverse = first.extract(rows, columns).inv()
    b, c = inverse * first.extract(rows, list(range(m))), first.extract(list(range(p)), columns)
    return inverse * second.extract(rows, columns), b, c
