"""More matrices of the kind that linearisation and identification give, written before anybody looked at their counts."""

import sympy as sp

import lftgen as lg


def _u(names, low=1.0, high=2.0):
    return [lg.uncertain(n, 0.47 * low + 0.53 * high, bounds=(low, high)) for n in names.split()]


a, b, c, d, e, g = _u("a b c d e g")
m, m1, m2, J, k, l1, l2, r = _u("m m1 m2 J k l1 l2 r", 0.8, 1.7)
V, h, rho, M, al = (
    lg.uncertain("V", 100, bounds=(70, 130)),
    *_u("h", 0.2, 0.9),
    *_u("rho", 0.5, 1.2),
    *_u("M", 0.3, 0.8),
    lg.uncertain("alpha", 0.1, bounds=(-0.2, 0.3)),
)
q1, q2, q3 = (lg.scheduled_angle(f"q{i}", (-1.1, 1.3)) for i in (1, 2, 3))
s1, co1, s2, co2 = sp.sin(q1), sp.cos(q1), sp.sin(q2), sp.cos(q2)
s12, c12 = sp.sin(q1 + q2), sp.cos(q1 + q2)


def _turn(axis, q):
    s, co = sp.sin(q), sp.cos(q)
    return {
        "x": sp.Matrix([[1, 0, 0], [0, co, -s], [0, s, co]]),
        "y": sp.Matrix([[co, 0, s], [0, 1, 0], [-s, 0, co]]),
        "z": sp.Matrix([[co, -s, 0], [s, co, 0], [0, 0, 1]]),
    }[axis]


def _robots():
    jacobian = sp.Matrix([[-l1 * s1 - l2 * s12, -l2 * s12], [l1 * co1 + l2 * c12, l2 * c12]])
    scara = sp.Matrix([l1 * co1 + l2 * c12, l1 * s1 + l2 * s12, h])
    spherical = sp.Matrix([(r + h) * co1 * co2, (r + h) * s1 * co2, (r + h) * s2])
    inertia = _turn("z", q1) * sp.diag(a, b, c) * _turn("z", q1).T
    wrist = _turn("z", q1) * _turn("y", q2) * _turn("z", q3)
    gravity = sp.Matrix([(m1 * l1 / 2 + m2 * l1) * co1 + m2 * l2 / 2 * c12, m2 * l2 / 2 * c12])
    coriolis = m2 * l1 * l2 * s2
    return {
        "jacobian of a plane arm": jacobian,
        "position of a selective arm": scara,
        "spherical robot": spherical,
        "jacobian of a spherical robot": sp.expand(spherical.jacobian([q1, q2, r])),
        "inertia turned in space": inertia.applyfunc(sp.expand),
        "wrist": wrist,
        "gravity torques": gravity,
        "gravity stiffness": sp.expand(gravity.jacobian([q1, q2])),
        "Coriolis terms": [[-2 * coriolis, -coriolis], [coriolis, 0]],
        "arm's inverse jacobian": sp.simplify(jacobian.inv()),
    }


def _vehicles():
    q = rho * V**2 / 2
    longitudinal = sp.Matrix(
        [
            [-q * (4 + 3 * M) / (m * V), 1 - q * h / (50 * m * V), -q * (1 + h) / (30 * m * V)],
            [-q * (2 - 3 * h) / (90 * J), -q * (5 + M) / (60 * J * V), -q * (2 + M * h) / (80 * J)],
        ]
    )
    missile = sp.Matrix(
        [
            [M * (3 * al**2 - 2 * sp.Rational(17, 10) * al + M / 3 - 2), 1, M * sp.Rational(-1, 5)],
            [M**2 * (4 * al**2 - 5 * al + 8 * M / 3 - 7), 0, -sp.Rational(206, 10) * M**2],
            [M**2 * (al**2 - al + M / 3 - 2), 0, -(M**2)],
        ]
    )
    bicycle = sp.Matrix(
        [
            [-(a + b) / (m * V), -1 - (a * l1 - b * l2) / (m * V**2), a / (m * V)],
            [-(a * l1 - b * l2) / J, -(a * l1**2 + b * l2**2) / (J * V), a * l1 / J],
        ]
    )
    quarter = [
        [-k / m1, -c / m1, k / m1, c / m1],
        [k / m2, c / m2, -(k + a) / m2, -(c + b) / m2],
    ]
    return {
        "longitudinal motion": longitudinal,
        "expanded missile": sp.expand(missile),
        "single-track vehicle": bicycle,
        "single-track vehicle, expanded": sp.expand(bicycle),
        "quarter car": quarter,
        "over one denominator": sp.together(sp.Matrix(quarter[1:])),
        "glider": [
            [sp.expand(rho * V * (1 + al) ** 2), sp.expand(rho * V**2 * (al + al**3))],
            [rho / V, al * V],
        ],
    }


def _algebra():
    e2 = a * b + a * c + a * d + b * c + b * d + c * d
    return {
        "second symmetric function": [[e2]],
        "product of three sums": [[sp.expand((a + b + c) * (c + d) * (1 + a * d))]],
        "squares": [[sp.expand((a * b + c * d) ** 2), sp.expand((a * b + c * d) * (a - d))]],
        "several denominators": [[a / (b + c) + b / (a + c), d / (b + c)]],
        "two poles": [[sp.expand((a + 2 * b) * (c - d)) / sp.expand((a + c) * (b + d))]],
        "one pole in a matrix": [
            [a * b / (1 + a * c), c / (1 + a * c)],
            [(a + d) / (1 + a * c), (b * d + c) / (1 + a * c)],
        ],
        "continued fraction": [[a + 1 / (b + 1 / (c + 1 / (d + 1 / e)))]],
        "the same, cancelled": [[sp.cancel(a + 1 / (b + 1 / (c + 1 / (d + 1 / e))))]],
        "adjugate": sp.Matrix([[a, b, 0], [b, c, d], [0, d, e]]).adjugate(),
        "inverse of a chain": sp.Matrix([[a + b, -b], [-b, b + c]]).inv().applyfunc(sp.cancel),
        "van der Monde": [[1, a, a**2, a**3], [1, b, b**2, b**3]],
        "lift and drag": [[a * (1 + b * c) + d * c**2, a * c], [a * b + d, d * c * (1 + e)]],
    }


MATRICES = {**_robots(), **_vehicles(), **_algebra()}

ABOVE = {"gravity torques": 9, "longitudinal motion": 12, "second symmetric function": 6, "two poles": 5}
"""Totals above the sum of the bounds; every other matrix meets its bounds."""
