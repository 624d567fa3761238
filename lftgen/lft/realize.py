"""From a sympy matrix, rational in parameters, to an LFT: a portfolio of realisations, the smallest verified one wins."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from math import factorial, prod

import numpy as np
import sympy as sp

from lftgen.errors import IllPosedError, NotRationalError, ReductionError
from lftgen.lft.algebra import constant
from lftgen.lft.data import LFTData, declare
from lftgen.lft.evaluation import evaluate_ports
from lftgen.lft.field import ExactField, to_sympy
from lftgen.lft.forms import (
    from_expressions,
    from_realization,
    from_words,
    left_fraction,
    nested,
    right_fraction,
)
from lftgen.lft.rational_matrix import RationalMatrix, Terms, rational_matrix
from lftgen.lft.realization import ho_kalman, search_words
from lftgen.lft.reduction.bound import order_bound
from lftgen.lft.reduction.kalman import reduce
from lftgen.lft.structure import real_block
from lftgen.lft.threads import single_threaded

MAX_ORDERS = 6
"""How many orders of the parameters nested (Horner) forms try."""
DEFAULT_BUDGET = 3.0
"""Seconds for the search over words."""
VERIFIED = 1e-9
"""Largest deviation of a realisation from its expressions, relative to the largest entry."""
Progress = Callable[[int, float], None]


@single_threaded
def realize_matrix(
    matrix: sp.MatrixBase,
    *,
    exact: bool = False,
    thorough: bool = True,
    budget: float = DEFAULT_BUDGET,
    progress: Progress | None = None,
) -> LFTData:
    """The LFT of a sympy matrix, rational in parameters (and in sines and cosines of scheduled angles).

    Nested forms in several orders, numerators over denominators from either side and the expressions as they stand
    come first; where none reaches the order bound, words are searched (:mod:`lftgen.lft.realization`).

    Parameters
    ----------
    matrix : sympy matrix
        Entries are numbers, expressions in Parameters, sin, cos, tan of scheduled angles, and free symbols.
    exact : bool
        Exact entries even where there are no free symbols.
    thorough : bool
        Try the whole portfolio; otherwise the first form only (for small coefficient matrices).
    budget : float
        Seconds for the word search; 0 leaves it out.
    progress : callable, optional
        Called with (order, seconds) while words are searched.

    Raises
    ------
    NotRationalError, ParameterError
        What is not rational, and names that clash.
    IllPosedError
        A pole at the nominal values.
    """
    if progress is not None:
        return _realized(sp.ImmutableMatrix(matrix), exact, thorough, budget, progress)
    return _cached(sp.ImmutableMatrix(matrix), exact, thorough, budget)


@lru_cache(maxsize=512)
def _cached(matrix: sp.ImmutableMatrix, exact: bool, thorough: bool, budget: float) -> LFTData:
    return _realized(matrix, exact, thorough, budget, None)


def _realized(
    matrix: sp.ImmutableMatrix, exact: bool, thorough: bool, budget: float, progress: Progress | None
) -> LFTData:
    r = rational_matrix(matrix, exact=exact)
    blocks = [real_block(p, 0) for p in r.declared]
    if not r.parameters or 0 in r.shape:
        terms = r.polynomial_terms()
        values = terms.get((0,) * len(r.parameters), r.field.zeros(*r.shape))
        return declare(constant(values, r.field), blocks)
    contest = _Contest(matrix)
    for candidate in _quick_forms(r, thorough):
        if contest.offer(candidate) and contest.minimal and thorough:
            break
    if thorough and budget > 0 and not contest.minimal:
        for candidate in _searched_forms(r, contest, budget, progress):
            if contest.offer(candidate) and contest.minimal:
                break
    best = contest.winner()
    if thorough and not best.field.symbols:
        _verify(best, r)
    return declare(best, blocks)


@dataclass
class _Contest:
    """Keeps the smallest realisation and knows whether it is minimal."""

    matrix: sp.ImmutableMatrix
    best: LFTData | None = None
    failure: IllPosedError | None = None
    bound: int | None = None

    def offer(self, candidate: Callable[[], LFTData]) -> bool:
        """Whether a candidate is the new best."""
        try:
            lft = reduce(candidate())
        except IllPosedError as error:
            self.failure = error
            return False
        if self.best is not None and lft.structure.n_rows >= self.best.structure.n_rows:
            return False
        self.best = lft
        return True

    @property
    def minimal(self) -> bool:
        """Whether the best is at the sum of the order bounds (which do not depend on the realisation)."""
        if self.best is None:
            return False
        if self.bound is None:
            self.bound = sum(order_bound(self.best).values())
        return self.best.structure.n_rows <= self.bound

    def winner(self) -> LFTData:
        """The best, or the reason why there is none."""
        if self.best is None:
            text = str(self.matrix.tolist())
            short = text if len(text) < 120 else text[:117] + "..."
            raise IllPosedError(
                f"{short} has a pole at the nominal values of its parameters ({self.failure})"
            ) from self.failure
        return self.best


def _quick_forms(r: RationalMatrix, thorough: bool) -> Iterator[Callable[[], LFTData]]:
    if thorough:
        yield partial(from_expressions, r)
    orders = _orders(len(r.parameters)) if thorough else [tuple(range(len(r.parameters)))]
    terms = r.polynomial_terms() if r.is_polynomial else {}
    for order, from_inputs in itertools.product(orders, (False, True) if thorough else (False,)):
        polynomial = _Nested(r, order, from_inputs)
        if r.is_polynomial:
            yield partial(polynomial, terms, r.shape)
        else:
            yield partial(right_fraction, r, polynomial)
            if thorough:
                yield partial(left_fraction, r, polynomial)


@dataclass(frozen=True)
class _Nested:
    """Realises polynomial matrices in nested form."""

    r: RationalMatrix
    order: tuple[int, ...]
    from_inputs: bool

    def __call__(self, terms: Terms, shape: tuple[int, int]) -> LFTData:
        return nested(terms, self.r, self.order, shape, from_inputs=self.from_inputs)


def _orders(n: int) -> list[tuple[int, ...]]:
    if n <= 3:
        return list(itertools.permutations(range(n)))
    rng = np.random.default_rng(0)
    identity = tuple(range(n))
    some = [
        identity,
        identity[::-1],
        *(tuple(int(i) for i in rng.permutation(n)) for _ in range(MAX_ORDERS - 2)),
    ]
    return list(dict.fromkeys(some))


def _searched_forms(
    r: RationalMatrix, contest: _Contest, budget: float, progress: Progress | None
) -> Iterator[Callable[[], LFTData]]:
    search = _WordForm(r, contest.bound, budget if r.is_polynomial else budget / 2, progress)
    if r.is_polynomial:
        yield partial(search, r.polynomial_terms(), r.shape)
    else:
        yield partial(right_fraction, r, search)
        yield partial(left_fraction, r, search)


@dataclass
class _WordForm:
    """Realises polynomial matrices by word search."""

    r: RationalMatrix
    target: int | None
    budget: float
    progress: Progress | None

    def __call__(self, terms: Terms, shape: tuple[int, int]) -> LFTData:
        numbers = {k: self._numbers(v) for k, v in terms.items()}
        found = search_words(
            numbers,
            budget=self.budget,
            moves=_enough_moves(numbers),
            target=self.target,
            progress=self.progress,
        )
        if not self.r.field.exact:
            return from_realization(ho_kalman(found.words), self.r.parameters)
        return from_words(self._exact_words(found.words, terms, shape), self.r, shape)

    def _numbers(self, matrix: np.ndarray) -> np.ndarray:
        """Floats for the search; free symbols get generic values."""
        field = self.r.field
        if not isinstance(field, ExactField):
            return matrix
        rng = np.random.default_rng(5)
        values = {s: sp.Rational(int(rng.integers(65, 127)), 64) for s in field.symbols}
        return np.array(
            [[float(v.xreplace(values)) for v in row] for row in to_sympy(matrix, field)], dtype=float
        )

    def _exact_words(
        self, words: dict[tuple[int, ...], np.ndarray], terms: Terms, shape: tuple[int, int]
    ) -> dict[tuple[int, ...], np.ndarray]:
        """Each exact coefficient goes to the word that carries most of its entry."""
        out: dict[tuple[int, ...], np.ndarray] = {}
        for exponents, matrix in terms.items():
            fitting = [w for w in words if all(w.count(i) == e for i, e in enumerate(exponents))]
            for i, j in zip(*np.nonzero(matrix), strict=True):
                word = max(fitting, key=lambda w: abs(words[w][i, j]))
                out.setdefault(word, self.r.field.zeros(*shape))[i, j] = matrix[i, j]
        return out


def _enough_moves(terms: Terms) -> int | None:
    """A number of moves that surely visits every choice of words, where there are few; None for no limit."""
    choices = 1
    for exponents, matrix in terms.items():
        words = factorial(sum(exponents)) // prod(factorial(e) for e in exponents)
        choices *= words ** int(np.count_nonzero(matrix))
        if choices > _FEW_CHOICES:
            return None
    return 500 + 50 * choices


_FEW_CHOICES = 200


def _verify(lft: LFTData, r: RationalMatrix) -> None:
    """The LFT against its expressions at random points of the box."""
    rng = np.random.default_rng(11)
    values = {p.name: rng.uniform(p.lower, p.upper, 5) for p in r.parameters}
    coordinates = [p.coordinate for p in r.parameters]
    function = sp.lambdify(coordinates, list(r.expressions), "numpy")
    try:
        got = evaluate_ports(lft, {b.name: values[b.name] for b in lft.structure.blocks if b.name in values})
        entries = function(*(p.to_coordinate(values[p.name]) for p in r.parameters))
    except (IllPosedError, ZeroDivisionError):
        return
    want = np.stack([np.broadcast_to(np.asarray(e, dtype=float), (5,)) for e in entries], axis=1).reshape(
        5, *r.shape
    )
    if not np.all(np.isfinite(want)):
        raise NotRationalError(
            f"{r.expressions.tolist()} is not finite inside the range of its parameters: does it divide by zero?"
        )
    error = np.max(np.abs(got - want)) / max(float(np.max(np.abs(want))), 1e-300)
    if not error <= VERIFIED:
        raise ReductionError(
            f"the realisation differs from its expressions by {error:.1e}; scale the parameters to similar sizes"
        )
