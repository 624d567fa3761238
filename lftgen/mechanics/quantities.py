"""Physical quantities as sympy: numbers, Parameters, expressions and free symbols, checked where they come in."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import sympy as sp

from lftgen.errors import ModelError, ModelWarning, NotRationalError
from lftgen.lft.field import exact_number
from lftgen.lft.trigonometry import exact_angle
from lftgen.parameters import Parameter

MAX_CORNERS = 64


def scalar(value: Any, what: str) -> sp.Expr:
    """A number (as an exact rational) or an expression.

    Raises
    ------
    ModelError
        NaN, infinite, complex, or not a quantity at all.
    """
    if isinstance(value, sp.Expr):
        if value.is_number and (value.is_finite is False or value.is_real is False or value.has(sp.nan)):
            raise ModelError(f"{what} must be a finite real number, got {value}")
        return value
    if isinstance(value, (bool, str)) or not isinstance(value, (int, float, np.number)):
        kind = type(value).__name__
        raise ModelError(
            f"{what} must be a number, a Parameter or a sympy expression, got {value!r} ({kind})"
        )
    if isinstance(value, (complex, np.complexfloating)) or not math.isfinite(float(value)):
        raise ModelError(f"{what} must be a finite real number, got {value!r}")
    return exact_number(value)


def vector(values: Any, what: str, n: int = 3) -> sp.ImmutableMatrix:
    """``n`` scalars as a column.

    Raises
    ------
    ModelError
        Not ``n`` of them, or one that is no quantity.
    """
    items = _items(values, what, n)
    return sp.ImmutableMatrix([scalar(v, f"{what}[{i}]") for i, v in enumerate(items)])


def _items(values: Any, what: str, n: int) -> list[Any]:
    try:
        items = list(values)
    except TypeError as error:
        raise ModelError(f"{what} must be {n} values, got {values!r}") from error
    if len(items) != n:
        raise ModelError(f"{what} must be {n} values, got {len(items)}: {values!r}")
    return items


def inertia_matrix(value: Any, what: str) -> sp.ImmutableMatrix:
    """Three principal moments, or a symmetric 3x3 tensor (off-diagonal entries are tensor entries)."""
    if isinstance(value, sp.MatrixBase):
        value = value.tolist() if value.cols > 1 else list(value)
    items = _items(value, what, 3)
    if all(isinstance(i, (Sequence, np.ndarray, sp.MatrixBase)) for i in items) or isinstance(
        value, sp.MatrixBase
    ):
        rows = (
            value.tolist()
            if isinstance(value, sp.MatrixBase)
            else [_items(r, f"{what}[{i}]", 3) for i, r in enumerate(items)]
        )
        matrix = sp.ImmutableMatrix(
            3, 3, [scalar(v, f"{what}[{i}][{j}]") for i, r in enumerate(rows) for j, v in enumerate(r)]
        )
        for i, j in ((0, 1), (0, 2), (1, 2)):
            gap = sp.expand(matrix[i, j] - matrix[j, i])
            size = sum(abs(float(v)) for v in (matrix[i, j], matrix[j, i]) if v.is_number)
            if not (gap == 0 or (gap.is_number and abs(float(gap)) <= 1e-12 * size)):
                raise ModelError(
                    f"{what} must be symmetric; entry [{i}][{j}] is {matrix[i, j]}, [{j}][{i}] is {matrix[j, i]}"
                )
        return matrix
    return sp.ImmutableMatrix(sp.diag(*(scalar(v, f"{what}[{i}]") for i, v in enumerate(items))))


def angle(value: Any, what: str) -> sp.Expr:
    """An angle in radians; a float that rounds a simple multiple of pi becomes that multiple."""
    _warn_of_degrees(value, what)
    if (
        isinstance(value, (int, float, np.number))
        and not isinstance(value, bool)
        and math.isfinite(float(value))
    ):
        return exact_angle(float(value)) if value else sp.S.Zero
    return scalar(value, what)


def _warn_of_degrees(value: Any, what: str) -> None:
    constant = value.as_coeff_Add()[0] if isinstance(value, sp.Expr) else value
    if isinstance(constant, (bool, str)) or not isinstance(constant, (int, float, np.number, sp.Number)):
        return
    turns = abs(float(constant)) / (2 * math.pi)
    if 1 < turns < math.inf:
        warnings.warn(
            f"{what} has a constant of {float(constant):.6g} rad, {turns:.3g} turns; if degrees were meant, write "
            f"math.radians({float(constant):.6g})",
            ModelWarning,
            stacklevel=5,
        )


def joint_angle(value: Any, what: str) -> sp.Expr:
    """An equilibrium angle: a number, a scheduled angle, its negative, or either plus a constant.

    Raises
    ------
    NotRationalError
        Anything else.
    """
    theta = angle(value, what)
    terms = [t for t in sp.Add.make_args(sp.expand(theta)) if t.free_symbols]
    if not terms:
        return theta
    factor, symbol = terms[0].as_coeff_Mul()
    if len(terms) > 1 or abs(factor) != 1 or not (isinstance(symbol, Parameter) and symbol.is_angle):
        raise NotRationalError(
            f"{what} must be a number, a scheduled angle, its negative, or either plus a constant; got {value}. "
            "Declare it with scheduled_angle(...)"
        )
    return theta


def not_negative(value: Any, what: str) -> sp.Expr:
    """A quantity that is nowhere negative, neither at the nominal nor at a corner of its parameters' box.

    Raises
    ------
    ModelError
        A negative value.
    """
    expression = scalar(value, what)
    for point in corner_points(parameters_of([expression])):
        number = numeric(expression, point)
        if number is not None and number < 0:
            raise ModelError(f"{what} must not be negative, got {number:.6g}")
    return expression


def rotation_rpy(rpy: Any, what: str) -> sp.ImmutableMatrix:
    """``Rz(yaw) Ry(pitch) Rx(roll)``, as in URDF."""
    roll, pitch, yaw = (angle(v, f"{what}[{i}]") for i, v in enumerate(_items(rpy, what, 3)))
    return sp.ImmutableMatrix(elementary(2, yaw) * elementary(1, pitch) * elementary(0, roll))


def rpy_angles(rpy: Any, what: str) -> tuple[sp.Expr, ...]:
    """Roll, pitch and yaw as quantities."""
    return tuple(angle(v, f"{what}[{i}]") for i, v in enumerate(_items(rpy, what, 3)))


def rpy_factors(angles: Sequence[sp.Expr]) -> tuple[sp.ImmutableMatrix, ...]:
    """``Rz(yaw)``, ``Ry(pitch)``, ``Rx(roll)`` where two of them hold parameters, else their product."""
    turns = [sp.ImmutableMatrix(elementary(i, angles[i])) for i in (2, 1, 0)]
    if sum(bool(t.free_symbols) for t in turns) < 2:
        return (sp.ImmutableMatrix(turns[0] * turns[1] * turns[2]),)
    return tuple(turns)


def elementary(axis: int, theta: sp.Expr) -> sp.Matrix:
    """Rotation by ``theta`` about coordinate axis 0, 1 or 2."""
    c, s = sp.cos(theta), sp.sin(theta)
    i, j = [(1, 2), (2, 0), (0, 1)][axis]
    R = sp.eye(3)
    R[i, i], R[j, j], R[i, j], R[j, i] = c, c, -s, s
    return R


def unit_axis(axis: Any, what: str) -> sp.ImmutableMatrix:
    """A direction of length one; numbers only.

    Raises
    ------
    ModelError
        A length below 1e-9, or an axis that depends on a parameter.
    """
    a = vector(axis, what)
    if any(not v.is_number for v in a):
        raise ModelError(f"{what} must be numbers, got {tuple(axis)}; turn the joint with rpy instead")
    length = math.sqrt(sum(float(v) ** 2 for v in a))
    if length < 1e-9:
        raise ModelError(
            f"{what} must be a direction, but its length is {length:.3g}; use for example (0, 0, 1)"
        )
    squared = sum(exact_number(v) ** 2 for v in a)
    exact = sp.sqrt(squared)
    return (
        sp.ImmutableMatrix([v / exact for v in a])
        if exact.is_Rational
        else sp.ImmutableMatrix([exact_number(float(v) / length) for v in a])
    )


def parameters_of(expressions: Iterable[Any]) -> list[Parameter]:
    """Parameters in the expressions, sorted by name for a deterministic order."""
    symbols: set[sp.Symbol] = set()
    for e in expressions:
        symbols |= e.free_symbols
    return sorted((s for s in symbols if isinstance(s, Parameter)), key=lambda p: p.sort_key())


def corner_points(parameters: Sequence[Parameter]) -> list[dict[Parameter, float]]:
    """The nominal, then corners of the box (all of them, or 64)."""
    out = [{p: p.nominal for p in parameters}]
    for c in itertools.islice(itertools.product(*(p.bounds for p in parameters)), MAX_CORNERS):
        out.append(dict(zip(parameters, c, strict=True)))
    return out


def numeric(expression: Any, point: dict[Parameter, float]) -> Any:
    """Value of an expression or matrix at a point (angles converted to radians), floats; None where symbols are left."""
    radians = {p: sp.Float(float(p.to_radians(v)), 17) for p, v in point.items()}
    value = expression.xreplace(radians)
    if value.free_symbols:
        return None
    try:
        if isinstance(value, sp.MatrixBase):
            return np.array(value.evalf(17).tolist(), dtype=float)
        return float(value)
    except TypeError as error:
        where = ", ".join(f"{p.name} = {v:.6g}" for p, v in point.items())
        raise ModelError(
            f"{expression} has no finite real value at {where}; change the expression or the range"
        ) from error
