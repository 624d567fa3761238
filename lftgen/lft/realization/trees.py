"""Words along an expression tree: each product in the order in which it is written."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import sympy as sp

from lftgen.lft.realization.polynomial import Word

LIMIT = 3000
Sum = dict[Word, float]


def words_of_expressions(matrix: sp.MatrixBase, symbols: Sequence[sp.Symbol]) -> dict[Word, np.ndarray]:
    """Words of a matrix of expressions, polynomial in the letters ``symbols`` (or their inverses, named "1/x").

    Empty where an expression is not polynomial in them, or has too many words.
    """
    place = {s: i for i, s in enumerate(symbols)}
    inverse = {s: place[i] for s in symbols for i in symbols if i.name == f"1/{s.name}"}
    words: dict[Word, np.ndarray] = {}
    try:
        for i in range(matrix.rows):
            for j in range(matrix.cols):
                for word, value in _expanded(matrix[i, j], place, inverse).items():
                    words.setdefault(word, np.zeros(matrix.shape))[i, j] = value
    except _NotPolynomialError:
        return {}
    return words


class _NotPolynomialError(Exception):
    pass


def _expanded(e: sp.Expr, place: dict[sp.Symbol, int], inverse: dict[sp.Symbol, int]) -> Sum:
    if e in place:
        return {(place[e],): 1.0}
    if e.is_number:
        return {(): float(e)} if e else {}
    if isinstance(e, sp.Pow) and e.exp.is_Integer:
        if e.exp < 0 and e.base not in inverse:
            raise _NotPolynomialError
        base: Sum = _expanded(e.base, place, inverse) if e.exp > 0 else {(inverse[e.base],): 1.0}
        out: Sum = {(): 1.0}
        for _ in range(abs(int(e.exp))):
            out = _product(out, base)
        return out
    if isinstance(e, sp.Add):
        out = {}
        for a in e.args:
            for word, value in _expanded(a, place, inverse).items():
                out[word] = out.get(word, 0.0) + value
        return out
    if isinstance(e, sp.Mul):
        out = {(): 1.0}
        for a in e.args:
            out = _product(out, _expanded(a, place, inverse))
        return out
    raise _NotPolynomialError


def _product(a: Sum, b: Sum) -> Sum:
    if len(a) * len(b) > LIMIT:
        raise _NotPolynomialError
    out: Sum = {}
    for left, x in a.items():
        for right, y in b.items():
            out[left + right] = out.get(left + right, 0.0) + x * y
    return out
