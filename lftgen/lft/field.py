"""Entries of an LFT: float64, or exact elements of QQ or QQ(free symbols).

One algebra serves both kinds.  Whatever depends on the kind of number is here: conversion, product, linear solve and
rank-revealing column bases (exact only; with floats a rank is a numerical decision and lives in ``reduction``).
Exact entries are elements of a sympy domain, never expressions: expressions are for the surface alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp
from sympy.polys.matrices import DomainMatrix

from lftgen.errors import IllPosedError, NotRationalError

SINGULAR_CONDITION = 1e14
"""A float matrix with a larger condition number counts as singular."""


def exact_number(value: Any) -> sp.Rational:
    """A number as the rational that its shortest decimal text names (0.1 becomes 1/10)."""
    if isinstance(value, sp.Rational):
        return value
    if isinstance(value, (int, np.integer)):
        return sp.Integer(int(value))
    if isinstance(value, Fraction):
        return sp.Rational(value.numerator, value.denominator)
    fraction = Fraction(repr(float(value)))
    return sp.Rational(fraction.numerator, fraction.denominator)


@dataclass(frozen=True)
class FloatField:
    """float64 entries."""

    symbols: tuple[sp.Symbol, ...] = ()
    exact: bool = False

    def array(self, values: Any) -> np.ndarray:
        """Numbers as a two-dimensional float array."""
        return np.array(values, dtype=float, ndmin=2)

    def zeros(self, *shape: int) -> np.ndarray:
        """Array of zeros."""
        return np.zeros(shape)

    def eye(self, n: int) -> np.ndarray:
        """Identity matrix."""
        return np.eye(n)

    def matmul(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Matrix product."""
        return a @ b

    def solve(self, a: np.ndarray, b: np.ndarray, what: str) -> np.ndarray:
        """``a^-1 b``; an IllPosedError that names ``what`` where a is singular."""
        if not a.size:
            return np.zeros((a.shape[0], b.shape[1]))
        condition = np.linalg.cond(a)
        if condition < SINGULAR_CONDITION:
            return np.linalg.solve(a, b)
        rows, columns = _equilibration(a)
        scaled = rows[:, None] * a * columns
        condition = np.linalg.cond(scaled)
        if not condition < SINGULAR_CONDITION:
            raise IllPosedError(f"{what} is singular (condition number {condition:.1e})")
        return columns[:, None] * np.linalg.solve(scaled, rows[:, None] * b)

    def element(self, value: Any) -> float:
        """One number as an entry."""
        return float(value)


def _equilibration(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Powers of two for rows and columns that bring the largest entry of each near one (Ruiz); units drop out."""
    rows, columns = np.ones(a.shape[0]), np.ones(a.shape[1])
    for _ in range(30):
        size = np.abs(rows[:, None] * a * columns)
        r, c = size.max(axis=1), size.max(axis=0)
        if not (np.all(np.isfinite(size)) and np.all(r > 0) and np.all(c > 0)):
            break
        rows, columns = rows / np.sqrt(r), columns / np.sqrt(c)
    return 2.0 ** np.round(np.log2(rows)), 2.0 ** np.round(np.log2(columns))


FLOAT = FloatField()


@dataclass(frozen=True)
class ExactField:
    """Exact entries: elements of QQ, or of QQ(symbols) where there are free symbols (sorted by name)."""

    symbols: tuple[sp.Symbol, ...] = ()
    exact: bool = True

    @cached_property
    def domain(self) -> Any:
        """The sympy domain of the entries."""
        return sp.QQ.frac_field(*self.symbols) if self.symbols else sp.QQ

    def element(self, value: Any) -> Any:
        """One number, sympy expression or domain element as an entry."""
        if isinstance(value, type(self.domain.zero)) and not self.symbols:
            return value
        if isinstance(value, (int, float, np.number, Fraction)):
            return self.domain.from_sympy(exact_number(value))
        if isinstance(value, sp.Expr):
            value = value.xreplace({f: exact_number(f) for f in value.atoms(sp.Float)})
            try:
                return self.domain.from_sympy(value)
            except (sp.polys.polyerrors.CoercionFailed, ValueError) as error:
                raise NotRationalError(
                    f"exact entries must be rational in the free symbols {list(self.symbols)}; got {value}"
                ) from error
        return self.domain.convert(value)

    def array(self, values: Any) -> np.ndarray:
        """Numbers, expressions or elements as a two-dimensional object array of domain elements."""
        source = np.array(values, dtype=object, ndmin=2)
        out = np.empty(source.shape, dtype=object)
        for index, value in np.ndenumerate(source):
            out[index] = self.element(value)
        return out

    def zeros(self, *shape: int) -> np.ndarray:
        """Array of zero elements."""
        out = np.empty(shape, dtype=object)
        out[...] = self.domain.zero
        return out

    def eye(self, n: int) -> np.ndarray:
        """Identity matrix."""
        out = self.zeros(n, n)
        out[range(n), range(n)] = self.domain.one
        return out

    def matmul(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Matrix product; most entries of an LFT are zero and are skipped."""
        out = self.zeros(a.shape[0], b.shape[1])
        rows = [[(j, v) for j, v in enumerate(row) if v] for row in b]
        for i, row in enumerate(a):
            target = out[i]
            for k, v in enumerate(row):
                if v:
                    for j, w in rows[k]:
                        target[j] = target[j] + v * w
        return out

    def solve(self, a: np.ndarray, b: np.ndarray, what: str) -> np.ndarray:
        """``a^-1 b`` by exact elimination; an IllPosedError that names ``what`` where a is singular."""
        n = a.shape[0]
        reduced, pivots = self.rref(np.hstack([a, b]))
        if pivots[:n] != tuple(range(n)):
            raise IllPosedError(f"{what} is singular")
        return reduced[:n, n:]

    def rref(self, a: np.ndarray) -> tuple[np.ndarray, tuple[int, ...]]:
        """Reduced row echelon form (all rows) and the pivot columns."""
        if not a.size:
            return a, ()
        matrix, pivots = DomainMatrix(a.tolist(), a.shape, self.domain).to_sparse().rref()
        out = np.empty(a.shape, dtype=object)
        for i, row in enumerate(matrix.to_list()):
            out[i] = row
        return out, tuple(pivots)

    def column_basis(self, a: np.ndarray) -> tuple[np.ndarray, tuple[int, ...]]:
        """Basis T of the column space and the rows in which T is the identity (so T's left inverse picks rows)."""
        reduced, pivots = self.rref(a.T)
        return reduced[: len(pivots)].T.copy(), pivots


Field = FloatField | ExactField


def common_field(a: Field, b: Field) -> Field:
    """The field in which entries of both live: floats win over plain rationals, free symbols make all exact."""
    if a == b:
        return a
    symbols = tuple(sorted(set(a.symbols) | set(b.symbols), key=str))
    if symbols or (a.exact and b.exact):
        return ExactField(symbols)
    return FLOAT


def convert(values: np.ndarray, source: Field, target: Field) -> np.ndarray:
    """Entries of one field as entries of another (floats become exact as their shortest decimal)."""
    if source == target:
        return values
    if isinstance(target, FloatField):
        return np.array([[float(v) for v in row] for row in values], dtype=float).reshape(values.shape)
    if source.exact and source.symbols:
        return target.array(to_sympy(values, source))
    if isinstance(source, ExactField):
        out = np.empty(values.shape, dtype=object)
        for index, v in np.ndenumerate(values):
            out[index] = target.domain.convert_from(v, source.domain)
        return out
    return target.array(values)


def to_sympy(values: np.ndarray, field: Field) -> np.ndarray:
    """Entries as an object array of sympy numbers and expressions."""
    out = np.empty(values.shape, dtype=object)
    for index, v in np.ndenumerate(values):
        out[index] = field.domain.to_sympy(v) if isinstance(field, ExactField) else sp.Float(v)
    return out
