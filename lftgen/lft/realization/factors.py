"""Words with one letter in the middle of its products: each coefficient of a letter factored as a polynomial matrix.

Where a letter x is of degree one, ``P = P_0 + x E``, the rank of E bounds the repetitions of x, and ``E = L R`` with L and R
polynomial and that many columns meets it: x stands between the factors, as a mass does in ``J' m J``.  (A tree
decomposition in the sense of J. C. Cockburn and B. G. Morton, Automatica 33 (1997), on matrices.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
import sympy as sp

from lftgen.lft.realization.ho_kalman import hankel_orders
from lftgen.lft.realization.horner import letter_orders, sorted_word
from lftgen.lft.realization.polynomial import Pairs, Terms, Word, shape_of

MOST_TERMS = 150
"""Polynomial matrices with more terms are left alone."""
_ORDERS = 24
_CENTRES = 4
_PRICE = 2e-3  # of one choice of orders, seconds


class Centred(NamedTuple):
    """Words for each set of letters that may stand in the middle, and the price of finding them in seconds."""

    words: list[dict[Word, np.ndarray]]
    price: float


def centred_words(terms: Terms, pairs: Pairs = (), seed: int = 0) -> Centred:
    """The best words with letters of degree one in the middle of their products.

    Parameters
    ----------
    terms : mapping of tuple of int to (p, m) array
        Exponents, one for each letter, to coefficient matrix.
    pairs : sequence of (int, int)
        Letters that are cosine and sine of one angle.
    seed : int
        Seed of the sample of orders of the other letters, where they are many.

    Examples
    --------
    >>> import numpy as np
    >>> sorted(centred_words({(2, 1): np.eye(1)}).words[0])
    [(0, 1, 0)]
    """
    if sum(int(np.count_nonzero(matrix)) for matrix in terms.values()) > MOST_TERMS:
        return Centred([], 0.0)
    found, tried = [], 0
    for centre in _centres(terms, pairs):
        parts = _parts(terms, centre)
        lifts = [_lift(parts, *orders, shape_of(terms)) for orders in _orders(terms, centre, pairs, seed)]
        tried += len(lifts)
        totals = [sum(hankel_orders(words, pairs=pairs).values()) for words in lifts]
        found.append(lifts[int(np.argmin(totals))])
    return Centred(found, _PRICE * tried)


def _centres(terms: Terms, pairs: Pairs) -> list[tuple[int, ...]]:
    """Sets of letters of degree one no two of which meet in a monomial, grown from each such letter."""
    paired = {x for pair in pairs for x in pair}
    n = len(next(iter(terms)))
    single = [
        x
        for x in range(n)
        if x not in paired and max(e[x] for e in terms) == 1 and any(sum(e) > 1 for e in terms if e[x])
    ]
    found: dict[tuple[int, ...], None] = {}
    for first in single:
        chosen = [first]
        for x in single:
            if x not in chosen and not any(e[x] and any(e[y] for y in chosen) for e in terms):
                chosen.append(x)
        found[tuple(sorted(chosen))] = None
    return list(found)[:_CENTRES]


def _orders(
    terms: Terms, centre: Sequence[int], pairs: Pairs, seed: int
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]]:
    """Orders of the other letters left and right of the centre and where it is absent."""
    sine_of = dict(pairs)
    heads = [x for x in range(len(next(iter(terms)))) if x not in centre and x not in sine_of.values()]
    for some in letter_orders(heads, _ORDERS, seed):
        order = tuple(y for x in some for y in ((x, sine_of[x]) if x in sine_of else (x,)))
        for right in dict.fromkeys((order, order[::-1])):
            yield from ((order, right, rest) for rest in dict.fromkeys((order, right)))


Polynomial = dict[tuple[int, ...], float]
Factors = list[tuple[list[Any], list[Any]]]


class _Part(NamedTuple):
    """``x`` between a column and a row of polynomials; without x the plain rest, entry by entry."""

    letter: int | None
    left: dict[int, Polynomial]
    right: dict[int, Polynomial]


def _parts(terms: Terms, centre: Sequence[int]) -> list[_Part]:
    """The matrix as a sum of columns times a letter times rows, and a rest."""
    n, shape = len(next(iter(terms))), shape_of(terms)
    ring = sp.ring([f"x{i}" for i in range(n)], sp.QQ)[0]
    parts: list[_Part] = []
    rest = dict(terms)
    for x in centre:
        own = {e: matrix for e, matrix in terms.items() if e[x]}
        rest = {e: matrix for e, matrix in rest.items() if e not in own}
        entries = [[ring.zero] * shape[1] for _ in range(shape[0])]
        for e, matrix in own.items():
            for i, j in np.argwhere(matrix):
                entries[i][j] += ring.term_new(
                    (*e[:x], 0, *e[x + 1 :]), sp.QQ.convert(sp.Rational(float(matrix[i, j])))
                )
        parts += [_Part(x, _plain(left), _plain(right)) for left, right in _factored(entries)]
    one: Polynomial = {(0,) * n: 1.0}
    for e, matrix in rest.items():
        parts += [
            _Part(None, {int(i): one}, {int(j): {e: float(matrix[i, j])}}) for i, j in np.argwhere(matrix)
        ]
    return parts


def _plain(polynomials: Sequence[Any]) -> dict[int, Polynomial]:
    return {
        k: {tuple(map(int, e)): float(c.numerator) / float(c.denominator) for e, c in p.iterterms()}
        for k, p in enumerate(polynomials)
        if p
    }


def _factored(entries: list[list[Any]]) -> Factors:
    """Columns and rows whose products add up to the entries: few of them, as many as the rank where that can be seen."""
    parts: Factors = []
    while True:
        pivot = _constant(entries)
        if pivot is None:
            return parts + _last(entries)
        i, j = pivot
        column = [row[j] for row in entries]
        row = [e / entries[i][j] for e in entries[i]]
        parts.append((column, row))
        entries = [
            [e - a * b for e, b in zip(es, row, strict=True)] for es, a in zip(entries, column, strict=True)
        ]


def _constant(entries: list[list[Any]]) -> tuple[int, int] | None:
    """The constant entry, not zero, with the fewest terms beside it."""
    places = [
        (sum(len(e) for e in entries[i]) + sum(len(row[j]) for row in entries), i, j)
        for i, row in enumerate(entries)
        for j, e in enumerate(row)
        if e and e.is_ground
    ]
    return min(places)[1:] if places else None


def _last(entries: list[list[Any]]) -> Factors:
    """What has no constant entry: one product where the rank is one, else row by row or column by column."""
    rows = [i for i, row in enumerate(entries) if any(row)]
    columns = [j for j in range(len(entries[0])) if any(row[j] for row in entries)]
    if not rows:
        return []
    ring = entries[0][0].ring
    if (len(rows) > 1 and len(columns) > 1) or len(rows) == len(columns) == 1:
        column = [row[columns[0]] for row in entries]
        common = reduce(_gcd, (e for e in column if e))
        column = [e.exquo(common) if e else e for e in column]
        i = next(k for k in rows if column[k])
        if all(not e.rem(column[i]) for e in entries[i]):
            row = [e.exquo(column[i]) if e else e for e in entries[i]]
            if all(entries[a][b] == column[a] * row[b] for a in rows for b in columns):
                return [_shared_out(column, row)]
    one, zero = ring.one, ring.zero
    if len(rows) <= len(columns):
        return [([one if k == i else zero for k in range(len(entries))], entries[i]) for i in rows]
    return [
        ([row[j] for row in entries], [one if k == j else zero for k in range(len(entries[0]))])
        for j in columns
    ]


def _gcd(a: Any, b: Any) -> Any:
    return a.gcd(b)


def _shared_out(column: list[Any], row: list[Any]) -> tuple[list[Any], list[Any]]:
    """Half of the common factors of the row to the column."""
    common = reduce(_gcd, (e for e in row if e))
    half = common.ring.one
    for factor, power in common.factor_list()[1]:
        half *= factor ** (power // 2)
    return [e * half for e in column], [e.exquo(half) if e else e for e in row]


def _lift(
    parts: Sequence[_Part],
    left: Sequence[int],
    right: Sequence[int],
    rest: Sequence[int],
    shape: tuple[int, int],
) -> dict[Word, np.ndarray]:
    """Words of the parts, with the letters in these orders."""
    words: dict[Word, np.ndarray] = {}
    for part in parts:
        middle = () if part.letter is None else (part.letter,)
        after = rest if part.letter is None else right
        for i, first in part.left.items():
            for j, second in part.right.items():
                for e, a in first.items():
                    for g, b in second.items():
                        word = (*sorted_word(e, left), *middle, *sorted_word(g, after))
                        words.setdefault(word, np.zeros(shape))[i, j] += a * b
    return {word: matrix for word, matrix in words.items() if matrix.any()} or {(): np.zeros(shape)}
