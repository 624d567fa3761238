"""A sympy matrix as polynomials over polynomials in the coordinates of its parameters.

Everything here is exact arithmetic in QQ[coordinates, free symbols]; entries become floats only at the very end, so
``1 - cos(theta)`` is ``2 t^2 / (1 + t^2)`` and not a difference of nearly equal numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

import numpy as np
import sympy as sp

from lftgen.errors import NotRationalError, ParameterError
from lftgen.lft.field import FLOAT, ExactField, Field, exact_number
from lftgen.lft.trigonometry import fixed_angle, rationalise
from lftgen.parameters import Parameter, check_same_names

Terms = dict[tuple[int, ...], np.ndarray]
"""A polynomial matrix: exponents of the coordinates -> matrix of field entries."""


@dataclass(frozen=True)
class RationalMatrix:
    """Entries ``numerators / denominators`` (elements of a sympy polynomial ring) in the coordinates of ``parameters``.

    Attributes
    ----------
    parameters : tuple of Parameter
        Those that occur, in the order of the ring's first generators.
    declared : tuple of Parameter
        All that the expressions mention, constants and cancelled ones included.
    field : Field
        Of the LFT's entries: floats, or exact where asked for or where free symbols are left.
    """

    expressions: sp.ImmutableMatrix
    parameters: tuple[Parameter, ...]
    declared: tuple[Parameter, ...]
    field: Field
    ring: Any
    numerators: tuple[tuple[Any, ...], ...]
    denominators: tuple[tuple[Any, ...], ...]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.expressions.shape

    @property
    def is_polynomial(self) -> bool:
        """Whether no denominator holds a parameter."""
        return all(self._is_free(d) for row in self.denominators for d in row)

    def _is_free(self, poly: Any) -> bool:
        n = len(self.parameters)
        return all(not any(exponents[:n]) for exponents in poly.itermonoms())

    def polynomial_terms(self) -> Terms:
        """Terms of a polynomial matrix."""
        return self._terms(self.numerators, self.denominators)

    def right_fraction(self) -> tuple[Terms, Terms]:
        """Terms of N and of the diagonal D with ``N D^-1`` the matrix: D holds each column's common denominator."""
        common = [self._common(column) for column in zip(*self.denominators, strict=True)]
        top = tuple(
            tuple(n * c.exquo(d) for n, d, c in zip(ns, ds, common, strict=True))
            for ns, ds in zip(self.numerators, self.denominators, strict=True)
        )
        return self._terms(top, None), self._terms(self._diagonal(common), None)

    def left_fraction(self) -> tuple[Terms, Terms]:
        """Terms of N and of the diagonal D with ``D^-1 N`` the matrix: D holds each row's common denominator."""
        common = [self._common(row) for row in self.denominators]
        top = tuple(
            tuple(n * c.exquo(d) for n, d in zip(ns, ds, strict=True))
            for ns, ds, c in zip(self.numerators, self.denominators, common, strict=True)
        )
        return self._terms(top, None), self._terms(self._diagonal(common), None)

    def _common(self, polys: Sequence[Any]) -> Any:
        return reduce(lambda a, b: a.lcm(b), polys, self.ring.one)

    def _diagonal(self, entries: Sequence[Any]) -> tuple[tuple[Any, ...], ...]:
        zero = self.ring.zero
        return tuple(tuple(e if i == j else zero for j in range(len(entries))) for i, e in enumerate(entries))

    def _terms(self, tops: Sequence[Sequence[Any]], bottoms: Sequence[Sequence[Any]] | None) -> Terms:
        shape = len(tops), len(tops[0]) if tops else 0
        out: Terms = {}
        for i, row in enumerate(tops):
            for j, top in enumerate(row):
                scale = self._coefficient(bottoms[i][j]) if bottoms is not None else None
                for exponents, coefficient in self.coefficients(top).items():
                    matrix = out.setdefault(exponents, self.field.zeros(*shape))
                    matrix[i, j] = coefficient if scale is None else coefficient / scale
        return out

    def coefficients(self, poly: Any) -> dict[tuple[int, ...], Any]:
        """Coefficients (field entries) by exponents of the coordinates."""
        n = len(self.parameters)
        if not isinstance(self.field, ExactField):
            return {m[:n]: float(c.numerator) / float(c.denominator) for m, c in poly.iterterms()}
        out: dict[tuple[int, ...], Any] = {}
        for m, c in poly.iterterms():
            term = self.field.domain.convert_from(c, sp.QQ) if self.field.symbols else c
            for generator, power in zip(
                self._free_generators, m[n:], strict=False
            ):  # a placeholder may follow
                term = term * generator**power
            out[m[:n]] = out.get(m[:n], self.field.domain.zero) + term
        return out

    @cached_property
    def _free_generators(self) -> tuple[Any, ...]:
        if not self.field.symbols:
            return ()
        assert isinstance(self.field, ExactField)
        return tuple(self.field.domain.from_sympy(s) for s in self.field.symbols)

    def _coefficient(self, poly: Any) -> Any:
        return self.coefficients(poly).get((0,) * len(self.parameters), 1)


def rational_matrix(matrix: sp.MatrixBase, *, exact: bool = False) -> RationalMatrix:
    """Bring a sympy matrix into rational form in the coordinates of its parameters (see `matrix_in`)."""
    return matrix_in(matrix, lambda p: (p.coordinate,), rationalise, exact=exact)


def matrix_in(
    matrix: sp.MatrixBase,
    symbols_of: Callable[[Parameter], tuple[sp.Symbol, ...]],
    rational: Callable[[sp.Expr], sp.Expr],
    *,
    exact: bool,
) -> RationalMatrix:
    """Bring a sympy matrix into rational form in the symbols of each parameter, after ``rational`` of its entries.

    ``parameters`` of the result holds one parameter for each symbol.

    Raises
    ------
    NotRationalError
        A function, root or power that is not rational; in exact mode also an irrational number.
    ParameterError
        Two parameters of one name, or a plain symbol with a parameter's name.
    """
    declared = check_same_names(
        sorted((p for p in matrix.free_symbols if isinstance(p, Parameter)), key=lambda p: p.name)
    )
    constants = {
        p: fixed_angle(p) if p.is_angle else exact_number(p.nominal) for p in declared if p.is_constant
    }
    cleaned = [_cleaned(e.xreplace(constants), rational, exact=exact) for e in matrix]
    own = {p: symbols_of(p) for p in declared}
    symbols = set().union(*(e.free_symbols for e in cleaned)) if cleaned else set()
    frees = sorted(symbols - {s for group in own.values() for s in group}, key=str)
    _check_plain(frees, declared)
    field: Field = ExactField(tuple(frees)) if frees or exact else FLOAT
    used = {s: p for p, group in own.items() if symbols.intersection(group) for s in group}
    numerators, denominators, ring = _fractions(cleaned, [*used, *frees])
    rows, columns = matrix.shape
    return RationalMatrix(
        sp.ImmutableMatrix(rows, columns, cleaned),
        tuple(used.values()),
        declared,
        field,
        ring,
        tuple(tuple(numerators[i * columns : (i + 1) * columns]) for i in range(rows)),
        tuple(tuple(denominators[i * columns : (i + 1) * columns]) for i in range(rows)),
    )


def _fractions(
    expressions: Sequence[sp.Expr], generators: Sequence[sp.Symbol]
) -> tuple[list[Any], list[Any], Any]:
    placeholder = [] if generators else [sp.Dummy("unused")]
    field = sp.QQ.frac_field(*generators, *placeholder)
    ring = field.field.ring
    tops, bottoms = [], []
    for e in expressions:
        if e.is_Rational:
            tops.append(ring.domain_new(e) * ring.one)
            bottoms.append(ring.one)
            continue
        try:
            element = field.from_sympy(e)
        except (sp.polys.polyerrors.CoercionFailed, ValueError, TypeError) as error:
            raise NotRationalError(f"{e} is not rational in {list(map(str, generators))}") from error
        except ZeroDivisionError as error:
            raise NotRationalError(f"{e} divides by zero for all values of its parameters") from error
        tops.append(element.numer)
        bottoms.append(element.denom)
    return tops, bottoms, ring


def _cleaned(expression: sp.Expr, rational: Callable[[sp.Expr], sp.Expr], *, exact: bool) -> sp.Expr:
    """Rational in the symbols of the parameters, with all numbers rational."""
    if expression.is_Rational:
        return expression
    e = rational(sp.sympify(expression, rational=False, strict=True))
    if e.has(sp.nan, sp.oo, sp.zoo):
        raise NotRationalError(f"{expression} is not finite")
    e = e.xreplace({f: exact_number(f) for f in e.atoms(sp.Float)})
    odd = e.atoms(sp.NumberSymbol, sp.Pow, sp.Function, sp.core.numbers.ImaginaryUnit)
    if not any(a.is_number for a in odd):
        return e
    if e.has(sp.I):
        raise NotRationalError(f"{expression} is complex")

    def irrational(x: sp.Expr) -> bool:
        return bool(x.is_number) and not x.is_Rational and not x.is_Float

    if not exact:
        return e.replace(irrational, lambda x: exact_number(x.evalf(17)))
    e = e.replace(irrational, lambda x: sp.nsimplify(x) if x.is_rational else x)
    if any(irrational(a) for a in e.atoms(sp.NumberSymbol, sp.Pow, sp.Function)):
        raise NotRationalError(
            f"{expression}: exact entries need rational numbers; choose a rational value (for an angle's chart center=0 or another multiple of a right angle), or do without exact=True"
        )
    return e


def _check_plain(frees: Sequence[sp.Symbol], declared: Sequence[Parameter]) -> None:
    names = {p.name for p in declared}
    for s in frees:
        if s.name in names:
            raise ParameterError(
                f"the plain symbol {s.name} has the name of a parameter in the same expression; use the parameter itself"
            )
