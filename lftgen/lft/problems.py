"""Polynomial problems whose realisations give that of one rational matrix: what the word search works on.

A matrix that is polynomial in letters and inverses of letters is a problem itself.  Others become ``[N; D]`` with the
channel of D turned round, or its transpose; and before that, channels of the matrix may have been exchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import sympy as sp

from lftgen.errors import NotRationalError
from lftgen.lft.algebra import exchange, transpose
from lftgen.lft.connect import renamed
from lftgen.lft.data import LFTData, default_names
from lftgen.lft.field import ExactField, Field, to_sympy
from lftgen.lft.forms import stacked, turned
from lftgen.lft.letters import (
    VALUE,
    Letter,
    LetteredMatrix,
    inverse_letter,
    lettered,
    pairs_of,
    without_squares,
)
from lftgen.lft.pivots import simplest_exchange
from lftgen.lft.rational_matrix import Terms
from lftgen.lft.realization.trees import Word, words_of_expressions
from lftgen.lft.realization.work import Work

_MUCH = 0.3  # exchanged channels that leave so small a part of the coefficients come first
Finish = Callable[[LFTData], LFTData]


@dataclass(frozen=True)
class Problem:
    """A polynomial matrix in letters, and how its LFT becomes that of the given matrix.

    Attributes
    ----------
    name : str
    letters : tuple of Letter
    terms : Terms
        Exponents of the letters to coefficient matrix (field entries).
    shape : tuple of int
    field : Field
    finish : callable
        Port operations alone: the repetitions stay.
    given : sympy matrix, optional
        The polynomial matrix as it was written, where it was.
    is_fraction : bool
        Whether denominators are part of the terms.
    """

    name: str
    letters: tuple[Letter, ...]
    terms: Terms
    shape: tuple[int, int]
    field: Field
    finish: Finish
    given: sp.ImmutableMatrix | None = None
    is_fraction: bool = False

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """Positions of cosine and sine of each angle."""
        return pairs_of(self.letters)

    @property
    def size(self) -> int:
        """Number of coefficients."""
        return sum(int(np.count_nonzero(matrix)) for matrix in self.terms.values())

    def numbers(self) -> Terms:
        """Float coefficients for the search; free symbols get generic values."""
        if not isinstance(self.field, ExactField):
            return self.terms
        rng = np.random.default_rng(5)
        values = {s: sp.Rational(int(rng.integers(65, 127)), 64) for s in self.field.symbols}
        return {k: _floats(to_sympy(v, self.field), values) for k, v in self.terms.items()}

    def starts(self) -> list[dict[Word, np.ndarray]]:
        """Words along the factors of the expressions: as they were written, and as they factor."""
        if self.field.exact:
            return []
        symbols = [x.symbol for x in self.letters]
        found = []
        if self.given is not None:
            found.append(words_of_expressions(self.given, symbols))
        expressions = sp.zeros(*self.shape)
        for exponents, matrix in self.terms.items():
            monomial = sp.prod(s**e for s, e in zip(symbols, exponents, strict=True))
            for i, j in np.argwhere(matrix):
                expressions[i, j] += sp.Rational(float(matrix[i, j])) * monomial
        found.append(words_of_expressions(expressions.applyfunc(sp.factor), symbols))
        return [words for words in found if words]


def _floats(matrix: np.ndarray, values: dict[sp.Symbol, sp.Rational]) -> np.ndarray:
    return np.array([[float(v.xreplace(values)) for v in row] for row in matrix], dtype=float)


def problems_of(matrix: sp.MatrixBase, *, exact: bool, work: Work) -> Iterator[Problem]:
    """Problems of a sympy matrix, the plain ones first; none where it is not rational in letters."""
    try:
        m = lettered(matrix, exact=exact)
    except NotRationalError:
        return
    flat = without_squares(m)
    plain = [
        *_forms(m, "", _same, given=True),
        *(_forms(flat, "s^2 = 1 - c^2, ", _same) if flat is not m else ()),
    ]
    simple: list[Problem] = []
    for start in (m,) if flat is m else (m, flat):
        if not start.r.is_polynomial and not work.over():
            simple += _simplified(start, work)
    size = min(p.size for p in plain)
    much = [p for p in simple if p.size < _MUCH * size]
    yield from much
    yield from plain
    yield from (p for p in simple if p not in much)
    plain += simple
    for problem in plain:
        if problem.is_fraction:
            yield from (_compact(_inverted(problem, i)) for i in _invertible(problem))


def _simplified(m: LetteredMatrix, work: Work) -> list[Problem]:
    """The problems of the matrix with channels exchanged, where that makes it simpler."""
    exchanged = simplest_exchange(m, work)
    if exchanged is None:
        return []
    simple, rows, columns = exchanged
    back = partial(_exchange_back, rows=rows, columns=columns)
    return list(_forms(simple, f"channels {rows} {columns} exchanged, ", back))


def _same(lft: LFTData) -> LFTData:
    return lft


def _exchange_back(lft: LFTData, *, rows: Sequence[int], columns: Sequence[int]) -> LFTData:
    p, m = lft.shape
    named = renamed(lft, inputs=[f"v{i}" for i in range(m)])
    turned_round = exchange(named, rows, columns, "the exchanged matrix at the nominal values")
    return renamed(turned_round, inputs=default_names("u", m), outputs=default_names("y", p))


def _forms(m: LetteredMatrix, name: str, finish: Finish, *, given: bool = False) -> Iterator[Problem]:
    field = m.r.field
    monomials = _laurent(m)
    if monomials is not None:
        letters, terms = monomials
        written = m.r.expressions if given else None
        yield _compact(Problem(name + "polynomial", letters, terms, m.r.shape, field, finish, written))
        return
    p, q = m.r.shape
    n, d = m.r.right_fraction()
    top, last = stacked(n, d, field), partial(_right, then=finish, n=p)
    right = Problem(name + "N/D", m.letters, top, (p + q, q), field, last, is_fraction=True)
    n, d = ({k: v.T for k, v in t.items()} for t in m.r.left_fraction())
    top, last = stacked(n, d, field), partial(_left, then=finish, n=q)
    left = Problem(name + "D\\N", m.letters, top, (p + q, p), field, last, is_fraction=True)
    for problem in (right, left) if (p, q) != (1, 1) else (right,):
        yield _compact(problem)


def _right(lft: LFTData, *, then: Finish, n: int) -> LFTData:
    return then(turned(lft, n))


def _left(lft: LFTData, *, then: Finish, n: int) -> LFTData:
    return then(transpose(turned(lft, n)))


def _laurent(m: LetteredMatrix) -> tuple[tuple[Letter, ...], Terms] | None:
    """Letters and terms with inverse letters, where every denominator is a monomial in values."""
    n = len(m.letters)
    below: list[tuple[int, ...]] = []
    for row in m.r.denominators:
        for d in row:
            powers = {e[:n] for e in d.itermonoms()}
            if len(powers) != 1 or any(
                k and x.kind != VALUE for k, x in zip(next(iter(powers)), m.letters, strict=True)
            ):
                return None
            below.append(next(iter(powers)))
    inverted = [i for i in range(n) if any(e[i] for e in below)]
    if any(m.letters[i].nominal == 0 for i in inverted):
        return None
    letters = (*m.letters, *(inverse_letter(m.letters[i]) for i in inverted))
    terms: Terms = {}
    for i, (tops, bottoms) in enumerate(zip(m.r.numerators, m.r.denominators, strict=True)):
        for j, (top, bottom) in enumerate(zip(tops, bottoms, strict=True)):
            divisor = next(iter(bottom.itermonoms()))[:n]
            scale = next(iter(m.r.coefficients(bottom).values()))
            for exponents, value in m.r.coefficients(top).items():
                net = [a - b for a, b in zip(exponents, divisor, strict=True)]
                key = (*(max(e, 0) for e in net), *(max(-net[k], 0) for k in inverted))
                matrix = terms.setdefault(key, m.r.field.zeros(*m.r.shape))
                matrix[i, j] = value / scale
    return letters, terms


def _invertible(problem: Problem) -> Iterator[tuple[int, ...]]:
    """Sets of letters whose inverses may be simpler: single ones, and all."""
    places = [
        i
        for i, x in enumerate(problem.letters)
        if x.kind == VALUE and x.nominal != 0 and any(e[i] for e in problem.terms)
    ]
    yield from ((i,) for i in places)
    if len(places) > 1:
        yield tuple(places)


def _inverted(problem: Problem, places: Sequence[int]) -> Problem:
    """Each column of [N; D] multiplied by powers of inverses, the highest that it needs: 1/x in the place of x."""
    letters = [inverse_letter(x) if i in places else x for i, x in enumerate(problem.letters)]
    highest = {
        (i, j): max((e[i] for e, v in problem.terms.items() if v[:, j].any()), default=0)
        for i in places
        for j in range(problem.shape[1])
    }
    terms: Terms = {}
    for exponents, matrix in problem.terms.items():
        for j in map(int, np.flatnonzero(matrix.any(axis=0))):
            key = tuple(highest[i, j] - e if i in places else e for i, e in enumerate(exponents))
            column = terms.setdefault(key, problem.field.zeros(*problem.shape))
            column[:, j] = column[:, j] + matrix[:, j]
    names = ", ".join(str(letters[i].symbol) for i in places)
    return replace(problem, name=f"{problem.name} in {names}", letters=tuple(letters), terms=terms)


def _compact(problem: Problem) -> Problem:
    """Without letters that do not occur (a pair stays together)."""
    used = [any(e[i] for e in problem.terms) for i in range(len(problem.letters))]
    for c, s in problem.pairs:
        used[c] = used[s] = used[c] or used[s]
    keep = [i for i, u in enumerate(used) if u]
    terms = {tuple(e[i] for i in keep): v for e, v in problem.terms.items() if v.any()}
    return replace(problem, letters=tuple(problem.letters[i] for i in keep), terms=terms)
