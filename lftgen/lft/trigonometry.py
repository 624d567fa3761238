"""Sines and cosines of scheduled angles as rational functions of the chart coordinate t, and back."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import sympy as sp

from lftgen.errors import NotRationalError
from lftgen.lft.field import exact_number
from lftgen.parameters import Parameter


def rationalise(expression: sp.Expr) -> sp.Expr:
    """The expression with every trigonometric function of a scheduled angle written in its coordinate.

    Raises
    ------
    NotRationalError
        An angle outside of sin, cos, tan, a function of something else, a multiple of an angle that its chart does
        not make rational, or a parameter under a root or in an exponent.
    """
    return _replaced(expression, _rational_function)


def in_cosines(expression: sp.Expr) -> sp.Expr:
    """The expression with every trigonometric function as a polynomial in the symbols of `cosine_and_sine`.

    Raises
    ------
    NotRationalError
        As `rationalise`; and for the tangent of an odd multiple of what the chart halves.
    """
    return _replaced(expression, _in_cosines)


def cosine_and_sine(p: Parameter) -> tuple[sp.Symbol, sp.Symbol]:
    """Symbols of cosine and sine of what the chart halves: of the angle itself, or of its half in a quarter chart."""
    return sp.Symbol(f"cos_{p.name}", real=True), sp.Symbol(f"sin_{p.name}", real=True)


def of_center(p: Parameter) -> tuple[sp.Expr, sp.Expr]:
    """Cosine and sine of the chart's centre (of its half in a quarter chart)."""
    center = sp.S.Zero if p.center == 0 else 2 * _exact_radians(p) / p.chart_divisor
    return sp.cos(center), sp.sin(center)


def _replaced(expression: sp.Expr, function: Callable[[sp.Function], sp.Expr]) -> sp.Expr:
    replaced = {f: function(f) for f in expression.atoms(sp.Function) if f.free_symbols}
    result = expression.xreplace(replaced) if replaced else expression
    for power in result.atoms(sp.Pow):
        if power.free_symbols and not (power.exp.is_Integer):
            raise NotRationalError(f"{power} is not rational in the parameters (exponents must be integers)")
    for p in result.free_symbols:
        if isinstance(p, Parameter) and p.is_angle:
            raise NotRationalError(
                f"the angle {p.name} stands outside of sin, cos and tan in {expression}; only those are rational in "
                f"{p.coordinate}. Use a scheduled(...) parameter for a quantity that enters as it is"
            )
    return result


def _rational_function(f: sp.Function) -> sp.Expr:
    if not isinstance(f, (sp.sin, sp.cos, sp.tan, sp.cot, sp.sec, sp.csc)):
        raise NotRationalError(
            f"{f} is not rational in the parameters; only sin, cos and tan of scheduled angles are"
        )
    if isinstance(f, (sp.tan, sp.cot)):
        tangent = _tangent(f.args[0])
        return tangent if isinstance(f, sp.tan) else 1 / tangent
    cosine, sine = cos_sin(f.args[0])
    return {sp.sin: sine, sp.cos: cosine, sp.sec: 1 / cosine, sp.csc: 1 / sine}[type(f)]


def _in_cosines(f: sp.Function) -> sp.Expr:
    _rational_function(f)  # the same refusals
    cosine, sine = _sum_of_angles(f.args[0], _power)
    forms = {
        sp.sin: sine,
        sp.cos: cosine,
        sp.tan: sine / cosine,
        sp.cot: cosine / sine,
        sp.sec: 1 / cosine,
        sp.csc: 1 / sine,
    }
    return forms[type(f)]


def _tangent(argument: sp.Expr) -> sp.Expr:
    """tan of a sum of multiples of atan(t): the quotient of imaginary and real part of a product of (1 + i t)."""
    terms, constant = _linear(argument)
    product = sp.S.One
    for p, multiple in terms:
        k = _multiple_of_arctangent(p, multiple)
        product *= (1 + sp.sign(k) * sp.I * p.coordinate) ** abs(k)
        constant += multiple * (_exact_radians(p) if p.center else 0)
    real, imaginary = sp.expand(product).as_real_imag()
    c, s = sp.cos(constant), sp.sin(constant)
    return (c * imaginary + s * real) / (c * real - s * imaginary)


@lru_cache(maxsize=4096)
def cos_sin(argument: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """cos and sin of a sum of multiples of scheduled angles and a constant, rational in the coordinates."""
    return _sum_of_angles(argument, _of_multiple)


def _sum_of_angles(
    argument: sp.Expr, of_multiple: Callable[[Parameter, sp.Rational], tuple[sp.Expr, sp.Expr]]
) -> tuple[sp.Expr, sp.Expr]:
    terms, constant = _linear(argument)
    cosine, sine = sp.cos(constant), sp.sin(constant)
    for p, multiple in terms:
        cosine_p, sine_p = of_multiple(p, multiple)
        cosine, sine = cosine * cosine_p - sine * sine_p, sine * cosine_p + cosine * sine_p
    return cosine, sine


def _linear(argument: sp.Expr) -> tuple[list[tuple[Parameter, sp.Rational]], sp.Expr]:
    terms, constant = [], sp.S.Zero
    for term in sp.Add.make_args(sp.expand(argument)):
        if not term.free_symbols:
            constant += term
            continue
        multiple, p = term.as_coeff_Mul()
        multiple = exact_number(multiple) if multiple.is_Float else multiple
        if not (isinstance(p, Parameter) and p.is_angle and multiple.is_Rational):
            raise NotRationalError(
                f"sin or cos of {argument}: expected a sum of integer multiples of scheduled angles and constants; declare "
                "the angle with scheduled_angle(...)"
            )
        terms.append((p, multiple))
    return terms, constant


def _of_multiple(p: Parameter, multiple: sp.Rational) -> tuple[sp.Expr, sp.Expr]:
    """cos and sin of ``multiple * p``: with phi = p - center = divisor * atan(t), a multiple of atan(t)."""
    k, t = _multiple_of_arctangent(p, multiple), p.coordinate
    if k % 2:
        raise NotRationalError(
            f"sin or cos of {multiple}*{p.name} is not rational in its coordinate {t} (only tan of it is)"
        )
    # exp(i phi) = ((1 + i t)^2 / (1 + t^2)) ** (k / 2)
    power = sp.Poly(sp.expand((1 + sp.I * t) ** abs(k)), t).as_expr()
    real, imaginary = power.as_real_imag()
    base = (1 + t**2) ** (abs(k) // 2)
    # 1 - cos = 2 t^2 / (1 + t^2) without cancellation: the numerator is exact, so cancelling is too
    cosine, sine = sp.expand(real) / base, sp.sign(k) * sp.expand(imaginary) / base
    center = sp.S.Zero if p.center == 0 else multiple * _exact_radians(p)
    c, s = sp.cos(center), sp.sin(center)
    return c * cosine - s * sine, s * cosine + c * sine


def _power(p: Parameter, multiple: sp.Rational) -> tuple[sp.Expr, sp.Expr]:
    """cos and sin of ``multiple * p`` as real and imaginary part of a power of the letters' ``c + i s``."""
    k = _multiple_of_arctangent(p, multiple)
    if k % 2:
        raise NotRationalError(f"{multiple}*{p.name} is no multiple of the angle that its chart halves")
    c, s = cosine_and_sine(p)
    real, imaginary = sp.expand((c + sp.I * s) ** (abs(k) // 2)).as_real_imag()
    return sp.expand(real), sp.sign(k) * sp.expand(imaginary)


def _multiple_of_arctangent(p: Parameter, multiple: sp.Rational) -> int:
    k = multiple * p.chart_divisor
    if not k.is_Integer:
        raise NotRationalError(
            f"{multiple}*{p.name}: the {p.chart} chart makes only multiples of {p.name}/{p.chart_divisor} rational"
        )
    return int(k)


def _exact_radians(p: Parameter) -> sp.Expr:
    """The chart's centre in radians."""
    if p.unit == "deg":
        return exact_number(p.center) * sp.pi / 180
    return exact_angle(p.center)


def exact_angle(radians: float) -> sp.Expr:
    """A float as the multiple of pi with a small denominator that it rounds, or as its shortest decimal."""
    turns = Fraction(radians / math.pi).limit_denominator(360)
    if abs(float(turns) * math.pi - radians) <= 4e-16 * abs(radians):
        return sp.Rational(turns.numerator, turns.denominator) * sp.pi
    return exact_number(radians)


def fixed_angle(p: Parameter) -> sp.Expr:
    """The nominal of an angle whose range is a single value, in radians."""
    if p.unit == "deg":
        return exact_number(p.nominal) * sp.pi / 180
    return exact_angle(p.nominal)


def in_multiples_of_angle(expression: sp.Expr, p: Parameter) -> sp.Expr:
    """A rational function of the coordinate of p, as a quotient of trigonometric polynomials in the angle."""
    t = p.coordinate
    if t not in expression.free_symbols:
        return expression
    top, bottom = sp.fraction(sp.cancel(expression))
    a, b = sp.Poly(top, t), sp.Poly(bottom, t)
    k = -(-max(a.degree(), b.degree()) // 2)
    angle = 2 * (p - (_exact_radians(p) if p.center else 0)) / p.chart_divisor
    return sp.factor_terms(_trigonometric(a, k, angle) / _trigonometric(b, k, angle))


def _trigonometric(poly: sp.Poly, k: int, angle: sp.Expr) -> sp.Expr:
    """``poly(t) / (1 + t^2)^k`` with t = tan(angle / 2), as a sum of cos(j angle) and sin(j angle)."""
    z = sp.Symbol("z")  # z = exp(i angle); t = -i (z - 1)/(z + 1); 1 + t^2 = 4 z / (z + 1)^2
    total = sp.S.Zero
    for (j,), c in poly.terms():
        total += c * (-sp.I) ** j * sp.expand((z - 1) ** j * (z + 1) ** (2 * k - j)) / 4**k
    coefficients = sp.Poly(sp.expand(total), z) if total != 0 else sp.Poly(0, z)
    out = coefficients.coeff_monomial(z**k)
    for j in range(1, k + 1):
        plus, minus = coefficients.coeff_monomial(z ** (k + j)), coefficients.coeff_monomial(z ** (k - j))
        out += sp.expand(plus + minus) * sp.cos(j * angle) + sp.expand(sp.I * (plus - minus)) * sp.sin(
            j * angle
        )
    return sp.expand(out)
