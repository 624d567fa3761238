"""An LFT as sympy expressions, and numbers in place of free symbols."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import sympy as sp
from sympy.polys.matrices import DomainMatrix

from lftgen.errors import IllPosedError, ModelError, ParameterError
from lftgen.lft.data import LFTData
from lftgen.lft.field import ExactField, to_sympy
from lftgen.lft.trigonometry import in_multiples_of_angle


def substitute_symbols(a: LFTData, values: Mapping[str, Any]) -> LFTData:
    """Numbers in place of free symbols; the entries stay exact.

    Raises
    ------
    IllPosedError
        A value at which an entry has a pole.
    """
    named = {s.name: s for s in a.field.symbols}
    field = ExactField(tuple(s for s in a.field.symbols if s.name not in values))
    elements = {named[k]: ExactField().element(v) for k, v in values.items()}
    M = np.empty(a.M.shape, dtype=object)
    for index, v in np.ndenumerate(to_sympy(a.M, a.field)):
        value = v.xreplace(
            {k: sp.Rational(int(e.numerator), int(e.denominator)) for k, e in elements.items()}
        )
        if value.has(sp.zoo, sp.nan, sp.oo):
            raise IllPosedError(f"an entry of M has a pole at {dict(values)}")
        M[index] = field.element(value)
    return replace(a, M=M, field=field)


def evaluate_symbolically(a: LFTData) -> sp.Matrix:
    """``[A B; C D]`` (ports: states and outputs against states and inputs), rational in the coordinates.

    The elimination is fraction-free over the polynomial ring of all coordinates and free symbols.
    """
    n, s = a.n_states, a.structure
    for block in s.blocks:
        if block.parameter is None and block.repetitions:
            raise ModelError(
                f"to_sympy: the uncertainty {block.name} ({block.kind}) is not a parameter; fix it with subs first"
            )
    exact = a if a.field.exact else a.with_field(ExactField())
    entries = to_sympy(exact.M, exact.field)
    d_rows, p_rows = list(range(n, s.n_rows)), [*range(n), *range(s.n_rows, a.M.shape[0])]
    d_columns, p_columns = list(range(n, s.n_columns)), [*range(n), *range(s.n_columns, a.M.shape[1])]
    pp = sp.Matrix(entries[np.ix_(p_rows, p_columns)].tolist()).reshape(len(p_rows), len(p_columns))
    if not d_rows:
        return pp
    delta = [d for b in s.blocks for d in [_delta_expression(b)] * b.repetitions]
    dd = entries[np.ix_(d_rows, d_columns)]
    system = np.hstack(
        [
            np.array(sp.eye(len(d_rows)).tolist(), dtype=object) - dd * np.array(delta),
            entries[np.ix_(d_rows, p_columns)],
        ]
    )
    x = _solved(system, len(d_rows))
    pd = entries[np.ix_(p_rows, d_columns)] * np.array(delta)
    field = sp.QQ.frac_field(*sorted(_symbols(delta, exact), key=str))
    product = DomainMatrix.from_list_sympy(len(p_rows), len(d_rows), pd.tolist()).convert_to(
        field
    ) * x.convert_to(field)
    total = product + DomainMatrix.from_Matrix(pp).convert_to(field)
    return total.to_Matrix()


def _symbols(delta: list[sp.Expr], a: LFTData) -> set[sp.Symbol]:
    return set().union(*(d.free_symbols for d in delta)) | set(a.field.symbols)


def _delta_expression(block: Any) -> sp.Expr:
    from lftgen.lft.field import exact_number

    m = block.map
    x = block.parameter.coordinate - exact_number(m.origin)
    return x if (m.scale, m.skew) == (1.0, 0.0) else x / (exact_number(m.scale) - exact_number(m.skew) * x)


def _solved(system: np.ndarray, n: int) -> DomainMatrix:
    """``system[:, :n]^-1 system[:, n:]`` by fraction-free elimination on rows cleared of denominators."""
    rows = []
    for row in system:
        together = [sp.together(v) for v in row]
        common = sp.lcm_list([sp.denom(v) for v in together])
        rows.append([sp.expand(sp.cancel(v * common)) for v in together])
    matrix = DomainMatrix.from_list_sympy(n, system.shape[1], rows)
    ring = matrix.domain.get_ring() if matrix.domain.is_Field else matrix.domain
    reduced, den, pivots = matrix.convert_to(ring).to_sparse().rref_den()
    if pivots[:n] != tuple(range(n)):
        raise IllPosedError("I - M11 Delta is singular for all values of the parameters")
    field = ring.get_field()
    solution = reduced.to_dense().convert_to(field)[:n, n:]
    return solution * (field.one / field.convert_from(den, ring))


def to_expressions(a: LFTData, angles: str = "trig") -> sp.Matrix:
    """``[A B; C D]`` with angles as sines and cosines (``"trig"``) or in their coordinate (``"t"``).

    From float entries come float coefficients, and terms that rounding left; exact entries give the clean expressions.
    """
    if angles not in ("trig", "t"):
        raise ParameterError(f'angles must be "trig" or "t", got {angles!r}')
    matrix = evaluate_symbolically(a)
    if angles == "trig":
        for block in a.structure.blocks:
            if block.parameter is not None and block.parameter.is_angle:
                matrix = matrix.applyfunc(lambda e, p=block.parameter: in_multiples_of_angle(e, p))
    return matrix if a.field.exact else matrix.applyfunc(_with_floats)


ROUNDING = 1e-12
"""Coefficients below this, relative to the largest of their polynomial, are left out of expressions from float entries."""


def _with_floats(expression: sp.Expr) -> sp.Expr:
    """The quotient with the denominator's largest coefficient brought to one and floats for coefficients."""
    top, bottom = (sp.expand(e) for e in sp.fraction(sp.together(expression)))
    sizes = [
        max(abs(c) for c in e.as_coefficients_dict().values()) if e != 0 else sp.S.One for e in (top, bottom)
    ]
    return _rounded(top, sizes[0], sizes[1]) / _rounded(bottom, sizes[1], sizes[1])


def _rounded(expression: sp.Expr, largest: sp.Expr, scale: sp.Expr) -> sp.Expr:
    terms = expression.as_coefficients_dict().items()
    return sp.Add(*(sp.Float(c / scale, 15) * t for t, c in terms if abs(c) > ROUNDING * largest))
