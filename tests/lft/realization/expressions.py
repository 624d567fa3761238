"""Parameter-dependent matrices of the kind that linearisation and identification give, with the repetitions to reach.

Each entry: expressions and the total that the default budget of ``lg.realize`` must not exceed.  Written for these tests
from textbook formulas; where no source is named the expression is an expanded product of simple factors.
"""

import sympy as sp

import lftgen as lg


def _u(names, low=1.0, high=2.0):
    return [lg.uncertain(n, 0.47 * low + 0.53 * high, bounds=(low, high)) for n in names.split()]


a, b, c, d, e, f = _u("a b c d e f")
m, M, l, J, k1, k2, c1, c2, m1, m2 = _u("m M l J k1 k2 c1 c2 m1 m2")
V, rho, X, Z = lg.uncertain("V", 80, bounds=(60, 100)), *_u("rho", 0.6, 1.2), *_u("X Z", 0.1, 0.4)
al, ma = lg.uncertain("alpha", 0.1, bounds=(-0.1, 0.35)), lg.uncertain("mach", 3, bounds=(2, 4))
t1, t2, t3 = (lg.scheduled_angle(f"t{i}", (-1.2, 1.2)) for i in (1, 2, 3))
cx, cy, cz = _u("cx cy cz", 0.1, 0.5)
G = sp.Rational(981, 100)


def _rot(axis, q):
    s, co = sp.sin(q), sp.cos(q)
    return {
        "x": sp.Matrix([[1, 0, 0], [0, co, -s], [0, s, co]]),
        "y": sp.Matrix([[co, 0, s], [0, 1, 0], [-s, 0, co]]),
        "z": sp.Matrix([[co, -s, 0], [s, co, 0], [0, 0, 1]]),
    }[axis]


def _skew(r):
    return sp.Matrix([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])


def _spatial_inertia():
    C, one = _skew((cx, cy, cz)), sp.eye(3)
    return sp.expand(
        sp.Matrix(sp.BlockMatrix([[sp.diag(2, 3, 4) + m * C * C.T, m * C], [m * C.T, m * one]]).as_explicit())
    )


def _two_link_mass():
    h11 = m1 + m2 * (1 + l**2 + 2 * l * sp.cos(t2))
    h12 = m2 * (l**2 + l * sp.cos(t2))
    return sp.Matrix([[h11, h12], [h12, m2 * l**2 + J]])


def _polynomials():
    return {
        "two factors": [[sp.expand((a + 2 * b) * (c - 3 * d))]],
        "three factors": [[sp.expand((a + b) * (c + d) * (e - 2 * f))]],
        "three factors sharing": [[sp.expand((a + b) * (c + d) * (a - 2 * c))]],
        "nested factors": [[sp.expand((1 + a * b) * (c + d * (e + f)))]],
        "sum of two products": [[sp.expand((a + b) * (c + d) + (a - b) * (e + f))]],
        "shared factor in a column": [
            [sp.expand((a + b) * c)],
            [sp.expand((a + b) * (d + c**2))],
            [sp.expand((a + b) ** 2)],
        ],
        "outer product": sp.expand(sp.Matrix([a + b, c * d, e]) * sp.Matrix([[f, a + 1, b * c]])),
        "square of a sum": [[sp.expand((a + b + c) ** 3)]],
        "symmetric functions": [
            [a * b + b * c + c * d + d * a],
            [a * b * c + b * c * d + c * d * a + d * a * b],
        ],
        "determinant": [[a * d - b * c]],
        "powers": [[a**4 * b**3 + 2 * a**3 * b**2 - a**2 * b + a]],
        "powers of three": [[sp.expand((a**2 + b) * (b**2 + c) * (c**2 + a))]],
        "gradient": [[sp.expand(sp.diff(a**2 * b**3 * c + a * b * c**2, x)) for x in (a, b, c)]],
        "six letters": [[a * b * c + d * e * f + a * e + b * f, c * d], [a * f, b * e * c + d]],
    }


def _aircraft():
    q = rho * V**2 / 2
    dynamic = sp.Matrix(
        [
            [-q * (2 + 3 * al) / V, q * (5 - al) / 50, -G],
            [-q * (1 + 2 * al**2) / (50 * V), -q * (4 + al) / V, V],
            [0, -q * (3 + 20 * X) / 100, -q * (6 - 2 * X) / V],
        ]
    )
    poly = sp.Matrix(
        [
            [ma * (3 * al**2 - 2 * al + 1), ma**2 * (al + 4)],
            [ma**2 * (5 * al**3 + al - 2) + al, ma * al**2 - ma**3],
        ]
    )
    lateral = [[V, V * X, V * Z], [V**2 * rho * X, V * rho * (X**2 + Z**2), V * rho * X * Z]]
    return {
        "dynamic pressure": sp.expand(dynamic),
        "missile-like polynomials": sp.expand(poly),
        "lateral derivatives": sp.Matrix(lateral),
        "mass and centre": [[1 / m, X / m, X**2 / m + Z / V], [V / m, V * X / m, 1 / (m * V)]],
        "transport aircraft": [[sp.expand((3 + 2 * m + m * X - X * Z * m**2) / V**2) + (1 + Z / m) / V]],
    }


def _mechanics():
    spring = [
        [-(k1 + k2) / m1, k2 / m1, -(c1 + c2) / m1, c2 / m1, 1 / m1],
        [k2 / m2, -k2 / m2, c2 / m2, -c2 / m2, 0],
    ]
    cart = [[-m * G / M, -c1 / M, 1 / M], [(M + m) * G / (M * l), c1 / (M * l), -1 / (M * l)]]
    mass = sp.Matrix([[m1 + m2, m2 * l], [m2 * l, m2 * l**2 + J]])
    return {
        "pendulum": [[G / l, 1 / (m * l**2)]],
        "mass, springs, dampers": spring,
        "the same over one denominator": sp.together(sp.Matrix(spring)),
        "cart and pendulum": sp.expand(sp.Matrix(cart)),
        "direct-current motor": [[-c1 / J, k1 / J, 0], [-k1 / l, -c2 / l, 1 / l]],
        "mass matrix": mass,
        "its inverse": sp.simplify(mass.inv()),
        "spatial inertia": _spatial_inertia(),
        "two-link mass matrix": sp.expand(_two_link_mass()),
        "its cancelled inverse": sp.cancel(_two_link_mass().inv()),
        "beam": [[12 * J / (m * l**4), 6 * J / (m * l**3)], [6 * J / (m * l**3), 4 * J / (m * l**2)]],
        "parallel and series": [[k1 * k2 / (k1 + k2)], [1 / (1 / c1 + 1 / c2)]],
        "quadratic over quadratic": [[(a**2 + b) / (1 + a * b + b**2)]],
        "common denominator": [
            [a / (1 + a * b + c), b / (1 + a * b + c)],
            [c / (1 + a * b + c), 1 / (1 + a * b + c)],
        ],
        "expanded fraction": [[sp.expand((a + b) * (c + d)) / sp.expand((1 + a * c) * (2 + d))]],
    }


def _rotations():
    return {
        "cosine of a sum": [[sp.cos(t1 + t2)]],
        "cosine and sine of a sum": [[sp.cos(t1 + t2), sp.sin(t1 + t2)]],
        "sum of three": [[sp.cos(t1 + t2 + t3)]],
        "plane arm": [[sp.cos(t1) + l * sp.cos(t1 + t2)], [sp.sin(t1) + l * sp.sin(t1 + t2)]],
        "plane arm's Jacobian": [
            [-sp.sin(t1) - sp.sin(t1 + t2), -sp.sin(t1 + t2)],
            [sp.cos(t1) + sp.cos(t1 + t2), sp.cos(t1 + t2)],
        ],
        "rotation by a sum": _rot("z", t1 + t2),
        "roll, pitch, yaw": _rot("z", t1) * _rot("y", t2) * _rot("x", t3),
        "expanded products of sines": [
            [sp.sin(t1) * sp.cos(t2) + sp.cos(t1) * sp.sin(t2), sp.sin(t1) * sp.sin(t2)]
        ],
        "double angle": [[sp.sin(2 * t1), sp.cos(2 * t1)]],
        "turned inertia": _rot("z", t1)[:2, :2] * sp.diag(a, b) * _rot("z", t1)[:2, :2].T,
        "trigonometric fraction": [[1 / (2 + a * sp.cos(t1 - t2))]],
    }


MATRICES = {**_polynomials(), **_aircraft(), **_mechanics(), **_rotations()}

ABOVE = {
    "symmetric functions": 7,
    "gradient": 9,
    "six letters": 12,
    "missile-like polynomials": 9,
    "expanded products of sines": 6,
}
"""Totals above the sum of the bounds; every other matrix meets its bounds."""
