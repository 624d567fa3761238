"""Turning channels of a symbolic matrix round until its entries are simple.

An LFT with some outputs and inputs exchanged has the same repetitions.  ``H^-1`` becomes H, ``H^-1 [K, I]`` becomes
``[H, K]`` up to signs, ``k1 k2/(k1 + k2)`` becomes ``1/k1 + 1/k2``: what was solved for and expanded is put back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lftgen.lft.cancelled import cancelled
from lftgen.lft.letters import LetteredMatrix
from lftgen.lft.pivot_choice import Entries, exchanged, pivots_by_degree
from lftgen.lft.realization.work import Work

LARGEST = 36
"""Matrices of more entries are left alone..."""
MOST_TERMS = 3000
"""...and so are those with more terms."""
_MANY = 3000  # terms times entries
_LARGE_TERM = 1e-3  # and where there are many
_TERM = 1e-4  # price of a term of an exchanged matrix, seconds,
_TERM_OF_ANGLES = 1e-3  # the same where cosines and sines are cancelled,


def simplest_exchange(m: LetteredMatrix, work: Work) -> tuple[LetteredMatrix, list[int], list[int]] | None:
    """The matrix with rows and columns exchanged that has the fewest terms, and which they are (in pairs).

    Greedy: the exchange that leaves the fewest terms, again and again; where there are many terms, the one that leaves
    the lowest degrees.  None where none of them simplifies.
    """
    p, q = m.r.shape
    current = m.fractions()
    best, fewest = None, _terms(current)
    if p * q > LARGEST or fewest > MOST_TERMS:
        return None
    if p * q * fewest > _MANY:
        return _exchanged_at(m, pivots_by_degree(m, _nominal_values(m)), fewest, work)
    nominal = _nominal(m)
    rows: list[int] = []
    columns: list[int] = []
    for _ in range(min(p, q)):
        places = [(i, j) for i in range(p) for j in range(q) if i not in rows and j not in columns]
        tried = []
        for i, j in places:
            if work.over():
                return best
            if nominal(current[i][j]):
                turned = _in_short(exchanged(current, i, j), m)
                work.charge((_TERM_OF_ANGLES if m.pairs else _TERM) * _terms(turned))
                tried.append((_terms(turned), i, j, turned))
        if not tried:
            break
        terms, i, j, current = min(tried, key=lambda t: t[:3])
        rows, columns = [*rows, i], [*columns, j]
        if terms < fewest:
            best, fewest = (m.with_entries(current), rows, columns), terms
    return best


def _exchanged_at(
    m: LetteredMatrix, places: list[tuple[int, int]], fewest: int, work: Work
) -> tuple[LetteredMatrix, list[int], list[int]] | None:
    """The exchanges at these places, where that leaves fewer terms."""
    current = m.fractions()
    for i, j in places:
        if work.over():
            return None
        before = _terms(current)
        current = _in_short(exchanged(current, i, j), m)
        work.charge(_LARGE_TERM * max(before, _terms(current)))
    if _terms(current) >= fewest:
        return None
    return m.with_entries(current), [i for i, _ in places], [j for _, j in places]


def _terms(entries: Entries) -> int:
    """Terms of all numerators and denominators; a denominator weighs double."""
    return sum(
        len(e.numer) + 2 * (len(e.denom) - 1 + bool(e.denom.degree() > 0)) for row in entries for e in row
    )


def _in_short(entries: Entries, m: LetteredMatrix) -> Entries:
    """With common factors cancelled that only ``c^2 + s^2 = 1`` shows, where that leaves fewer terms."""
    if not m.pairs:
        return entries
    return [
        [min(e, cancelled(m, e), key=lambda x: _terms([[x]])) if e else e for e in row] for row in entries
    ]


def _nominal(m: LetteredMatrix) -> Callable[[Any], bool]:
    """Whether an entry is clearly not zero at the nominal values (free symbols at generic ones)."""
    values = [x.nominal for x in m.letters]
    free = [0.37 + 0.61 * k for k in range(len(m.r.ring.gens) - len(values))]

    def nonzero(entry: Any) -> bool:
        if not entry:
            return False
        top, size = _value(entry.numer, values + free)
        return abs(top) > 1e-6 * size

    return nonzero


def _nominal_values(m: LetteredMatrix) -> np.ndarray:
    """Values of all entries at the nominal (free symbols at generic ones)."""
    values = [x.nominal for x in m.letters]
    values += [0.37 + 0.61 * k for k in range(len(m.r.ring.gens) - len(values))]
    tops, bottoms = (
        np.array([[_value(p, values)[0] for p in row] for row in part])
        for part in (m.r.numerators, m.r.denominators)
    )
    quotient: np.ndarray = tops / bottoms
    return quotient


def _value(poly: Any, values: list[float]) -> tuple[float, float]:
    """Value of a polynomial, and the sum of the absolute values of its terms."""
    total = size = 0.0
    for exponents, coefficient in poly.iterterms():
        term = float(coefficient)
        for x, k in zip(values, exponents, strict=True):
            term *= x**k
        total, size = total + term, size + abs(term)
    return total, size
