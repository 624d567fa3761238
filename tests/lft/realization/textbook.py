"""Matrices of textbook models, with the repetitions that the default budget reaches.

Written before anybody looked at their counts.  The structure is that of the models named; the numbers are made up, of a
plausible size.
"""

import sympy as sp

import lftgen as lg


def _u(names, low=1.0, high=2.0):
    return [lg.uncertain(n, 0.47 * low + 0.53 * high, bounds=(low, high)) for n in names.split()]


a, b, c, d, e = _u("a b c d e")
m, M, J, l, r, k, g1, g2 = _u("m M J l r k g1 g2", 0.7, 1.6)
m1, m2, k1, k2, c1, c2 = _u("m1 m2 k1 k2 c1 c2", 0.8, 1.9)
Ix, Iy, Iz, Ixz, Ixy = (*_u("Ix Iy Iz", 2.0, 3.0), *_u("Ixz Ixy", 0.1, 0.6))
R, L, C, D = (*_u("R L C", 0.8, 1.4), *_u("D", 0.3, 0.7))
V, mu = lg.uncertain("V", 20, bounds=(10, 30)), _u("mu", 0.5, 1.0)[0]
al, be, ma, de = (
    lg.uncertain("alpha", 0.1, bounds=(-0.1, 0.4)),
    lg.uncertain("beta", 0.02, bounds=(-0.2, 0.3)),
    lg.uncertain("mach", 0.6, bounds=(0.3, 0.85)),
    lg.uncertain("de", -0.05, bounds=(-0.3, 0.2)),
)
x, y, z = (lg.uncertain(n, v, plus_minus=0.5) for n, v in (("x", 0.1), ("y", -0.2), ("z", 0.15)))
th, ph, ps = (lg.scheduled_angle(n, (-0.9, 1.1)) for n in ("theta", "phi", "psi"))
st, ct, sf, cf = sp.sin(th), sp.cos(th), sp.sin(ph), sp.cos(ph)
G = sp.Rational(981, 100)


def _sum(numbers, terms):
    return sum(sp.Rational(str(n)) * t for n, t in zip(numbers, terms, strict=True))


def _turn(axis, q):
    s, co = sp.sin(q), sp.cos(q)
    return {
        "x": sp.Matrix([[1, 0, 0], [0, co, -s], [0, s, co]]),
        "y": sp.Matrix([[co, 0, s], [0, 1, 0], [-s, 0, co]]),
        "z": sp.Matrix([[co, -s, 0], [s, co, 0], [0, 0, 1]]),
    }[axis]


def _flight():
    fighter = sp.Matrix(  # global polynomials for axial force, lift and moment
        [
            _sum((-0.0194, 0.2136, 0.2904, -0.4803, 0.0698), (1, al, de**2, al * de, al**2)),
            _sum((-0.138, -4.211, 4.776, -1.026), (1, al, al**2, al**3)) * (1 - be**2)
            - sp.Rational(4, 10) * de,
            _sum(
                (-0.0203, 0.0466, -0.6012, -0.0806, 0.0832, 0.1618),
                (1, al, de, al * de, de**2, al**2 * de),
            ),
        ]
    )
    rcam = sp.Matrix(  # lift and moment in dynamic pressure
        [
            [V**2 * (a + 5 * al), V**2 * (a - 2 * de) * x],
            [V * (a + 5 * al) * (x - y), V**2 * z * (1 + al)],
            [V**2 * (x - y) * de, V * z**2],
        ]
    )
    missile = sp.Matrix(  # cubic in the angle of attack, linear in Mach, quadratic dynamic pressure
        [
            [ma * (sp.Rational(103, 1000000) * 3 * al**2 - sp.Rational(945, 100000) * 2 * al
                   - sp.Rational(17, 100) * (2 - ma / 3)) * (1 - al**2 / 2), 1, ma * sp.Rational(-34, 1000) * (1 - al**2 / 2)],
            [ma**2 * (sp.Rational(215, 1000000) * 3 * al**2 - sp.Rational(195, 10000) * 2 * al
                      + sp.Rational(51, 1000) * (-7 + 8 * ma / 3)), 0, -ma**2 * sp.Rational(206, 1000)],
        ]
    )  # fmt: skip
    wing = sp.Matrix(  # typical section with aerodynamic stiffness
        [[m, m * x * b], [m * x * b, J + m * x**2 * b**2]]
    ).inv().applyfunc(sp.cancel) * sp.Matrix([[k1, V**2 * 3], [0, k2 - V**2 * (y + 1) * b]])  # fmt: skip
    return {
        "fighter's coefficients": fighter.applyfunc(sp.expand),
        "wing and tail": rcam.applyfunc(sp.expand),
        "autopilot missile": missile.applyfunc(sp.expand),
        "pitch and plunge": wing.applyfunc(sp.cancel),
    }


def _vehicles():
    steer = sp.Matrix(  # single track with friction
        [
            [-mu * (c1 + c2) / (m * V), -1 + mu * (c2 * l - c1 * r) / (m * V**2)],
            [mu * (c2 * l - c1 * r) / J, -mu * (c2 * l**2 + c1 * r**2) / (J * V)],
        ]
    )
    side = steer.row_join(sp.Matrix([mu * c1 / (m * V), mu * c1 * r / J]))
    crane = sp.Matrix([[0, m * G / M, 0, 1 / M], [0, -(m + M) * G / (M * l), 0, -1 / (M * l)]])
    double = sp.Matrix([[M + m1 + m2, (m1 + m2) * l, m2 * r], [(m1 + m2) * l, (m1 + m2) * l**2, m2 * l * r],
                        [m2 * r, m2 * l * r, m2 * r**2]])  # fmt: skip
    rotor = [
        [0, 0, 1 / m, 0],
        [-k / m, -e * d / m, -c / m, -g1 * d / m],
        [e * d / m, -k / m, g1 * d / m, -c / m],
    ]
    return {
        "vehicle with friction": side.applyfunc(sp.expand),
        "gantry crane": crane.applyfunc(sp.expand),
        "double pendulum on a cart": double,
        "the same, inverted": double.inv().applyfunc(sp.cancel),
        "active quarter car": [[-k1 / m1, -c1 / m1, c1 / m1, 1 / m1],
                               [k1 / m2, c1 / m2, -(c1 + c2) / m2, -1 / m2],
                               [k1 * c1 / m1**2, (c1**2 / m1 - k1) / m1, 0, c1 / m1**2]],
        "whirling rotor": rotor,
    }  # fmt: skip


def _processes():
    inertia = sp.Matrix([[Ix, -Ixy, -Ixz], [-Ixy, Iy, 0], [-Ixz, 0, Iz]])
    buck = sp.Matrix([[-R / L, -(1 - D) / L], [(1 - D) / C, -1 / (C * r)]])
    boost = sp.Matrix([[-(R + (1 - D) * r * k / (r + k)) / L, -(1 - D) * k / (L * (r + k))],
                       [(1 - D) * k / (C * (r + k)), -1 / (C * (r + k))]])  # fmt: skip
    tank = sp.Matrix(  # stirred reactor with a jacket
        [[-a / V - k, -k * c * e], [d * k, -a / V + d * k * c * e - b / V], [0, b / V]]
    )
    return {
        "satellite's inverse inertia": inertia.inv().applyfunc(sp.cancel),
        "principal inertia": [[(Iy - Iz) / Ix * c, (Iy - Iz) / Ix * b], [(Iz - Ix) / Iy * c, (Iz - Ix) / Iy * a],
                              [(Ix - Iy) / Iz * b, (Ix - Iy) / Iz * a]],
        "buck-boost converter": buck.applyfunc(sp.expand),
        "boost converter with losses": boost.applyfunc(sp.cancel),
        "stirred reactor": tank.applyfunc(sp.expand),
        "matrix of a two-port": [[sp.cancel(R + k * r / (k + r)), sp.cancel(k / (k + r))],
                                 [sp.cancel(1 / (k + r)), sp.cancel(1 / L + 1 / (k + r))]],
    }  # fmt: skip


def _turned():
    dcm = _turn("x", ph) * _turn("y", th) * _turn("z", ps)
    euler = sp.Matrix([[1, sf * st / ct, cf * st / ct], [0, cf, -sf], [0, sf / ct, cf / ct]])
    body = _turn("y", th) * sp.diag(Ix, Iy, Iz) * _turn("y", th).T
    quad = sp.Matrix([-(cf * st * k) / m, sf * k / m, G - cf * ct * k / m])
    return {
        "direction cosines, expanded": dcm.applyfunc(sp.expand),
        "Euler rates": euler,
        "tilting rotor's inertia": body.applyfunc(sp.expand),
        "thrust of a quadrotor": quad.jacobian([th, ph, k]),
        "wind axes": [[ct * sp.cos(ps), -ct * sp.sin(ps), -st], [sp.sin(ps), sp.cos(ps), 0]],
        "sums and differences of angles": [[sp.sin(th + ph), sp.cos(th - ph)]],
    }


def _functions():
    p = sp.expand((x + 2 * y) * (y - z) * (1 + x * z))
    mobius = sp.cancel(((x - 1) / (x + 2) + y) / (1 + y * (x - 1) / (x + 2)))
    chain = sp.cancel(x + 1 / (3 + y / (2 + z / (2 + x))))
    pade = sp.Matrix([[(12 - 6 * a * x + a**2 * x**2) / (12 + 6 * a * x + a**2 * x**2)]])
    full = sp.Matrix([[x + 2, y, z], [y, z + 2, x], [z, x, y + 2]])
    return {
        "expanded in three": [[p, sp.expand((x + 2 * y) * z)]],
        "Moebius of Moebius": [[mobius]],
        "continued fraction with a repetition": [[chain]],
        "Pade of a delay": pade,
        "circulant determinant": [[sp.expand(full.det())]],
        "adjugate of a symmetric matrix": full[:2, :2].adjugate().row_join(sp.Matrix([z * x, z * y])),
        "Cramer": (full.adjugate()[0, :] / full.det()).applyfunc(sp.cancel),
    }


MATRICES = {**_flight(), **_vehicles(), **_processes(), **_turned(), **_functions()}

ABOVE = {"fighter's coefficients": 8, "wing and tail": 16, "sums and differences of angles": 6}
"""Totals above the sum of the bounds; every other matrix meets its bounds."""
