"""From a sympy matrix, rational in parameters, to an LFT: a portfolio of realisations, the smallest verified one wins."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
import sympy as sp

from lftgen.errors import IllPosedError, NotRationalError, ReductionError
from lftgen.lft.algebra import constant
from lftgen.lft.attempts import Attempt, attempted
from lftgen.lft.contest import Contest, OutOfTimeError
from lftgen.lft.data import LFTData, declare
from lftgen.lft.evaluation import evaluate_ports
from lftgen.lft.fits import Fits
from lftgen.lft.forms import (
    Check,
    from_expressions,
    left_fraction,
    nested,
    nothing,
    operations,
    right_fraction,
)
from lftgen.lft.problems import problems_of
from lftgen.lft.rational_matrix import RationalMatrix, Terms, rational_matrix
from lftgen.lft.realization.work import Work
from lftgen.lft.reduction.bound import order_bound
from lftgen.lft.structure import real_block
from lftgen.lft.threads import single_threaded

MAX_ORDERS = 6
"""How many orders of the parameters nested (Horner) forms try."""
DEFAULT_BUDGET = 3.0
"""Seconds for the whole portfolio, counted as work at fixed prices (the clock is only a safety net, five times as far)."""
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

    The expressions as they stand come first.  Then the matrix is written in letters (:mod:`lftgen.lft.letters`), as it
    is or with channels exchanged (:mod:`lftgen.lft.pivots`), as a polynomial or as numerators over denominators, in
    parameters or their inverses (:mod:`lftgen.lft.problems`); the cheapest are realised, and where none reaches the
    order bound their words are searched (:mod:`lftgen.lft.realization`).

    Parameters
    ----------
    matrix : sympy matrix
        Entries are numbers, expressions in Parameters, sin, cos, tan of scheduled angles, and free symbols.
    exact : bool
        Exact entries even where there are no free symbols.
    thorough : bool
        Try the whole portfolio; otherwise the first form only (for small coefficient matrices).
    budget : float
        Seconds of a quiet core for the whole of it, counted as work, so that the result is the same on a busy machine;
        0 takes the expressions as they stand and one more form.
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
    work = Work(budget)
    r = rational_matrix(matrix, exact=exact)
    blocks = [real_block(p, 0) for p in r.declared]
    if not r.parameters or 0 in r.shape:
        terms = r.polynomial_terms()
        values = terms.get((0,) * len(r.parameters), r.field.zeros(*r.shape))
        return declare(constant(values, r.field), blocks)
    contest = Contest(matrix)
    if thorough:
        _portfolio(r, contest, work, progress)
    else:
        contest.offer(next(_nested_forms(r, [tuple(range(len(r.parameters)))])))
    best = contest.winner()
    if thorough and not best.field.symbols:
        _verify(best, r)
    return declare(best, blocks)


def _portfolio(r: RationalMatrix, contest: Contest, work: Work, progress: Progress | None) -> None:
    """Forms from cheap to dear, until the bound is met or the budget is spent."""
    contest.offer(partial(from_expressions, r))
    work.charge(_OPERATION * operations(r))
    work.allow(_FORMS)
    attempts = _attempts(contest, r, work)
    for k, attempt in enumerate(attempts):
        if (k < _REALISED or contest.best is None) and attempt.total < contest.order:
            contest.offer(attempt.lft)
            work.charge(_REPETITION * attempt.total)
    if contest.best is None or not attempts:
        for candidate in _nested_forms(r, _orders(len(r.parameters)), partial(_stage, work)):
            contest.offer(candidate)
            if contest.minimal or (work.over() and contest.best is not None):
                break
    contest.sharpen()
    _search(attempts, contest, work, progress)


def _stage(work: Work) -> None:
    """Books one stage of a nested form, or gives it up where the share of the budget is spent."""
    work.charge(_STAGE)
    if work.over():
        raise OutOfTimeError


def _attempts(contest: Contest, r: RationalMatrix, work: Work) -> list[Attempt]:
    """Words of each problem in one common order of the letters, or along its factors; the fewest first."""
    attempts: list[Attempt] = []
    if contest.minimal:
        return attempts
    for problem in problems_of(contest.matrix, exact=r.field.exact, work=work):
        attempts.append(attempted(problem, work))
        if work.over() or attempts[-1].total <= (contest.bound or 0):
            break
    return sorted(attempts, key=lambda a: a.total)


def _search(attempts: list[Attempt], contest: Contest, work: Work, progress: Progress | None) -> None:
    """Words of the most promising problems and fits by least squares, in rounds of growing length."""
    length = max(0.3, work.left / 8)
    seed = 0
    while contest.best is not None and work.left > _LEAST and not contest.minimal:
        _search_words(attempts, contest, work, length, progress)
        fitting = seed < _FITTED and _fit(contest, work, _LONGER * length, seed)
        if contest.minimal or not (fitting or _unfinished(attempts)):
            return
        attempts.sort(key=lambda a: a.total)
        length, seed = 2 * length, seed + 1


def _search_words(
    attempts: list[Attempt], contest: Contest, work: Work, length: float, progress: Progress | None
) -> None:
    """One round, the most promising problem longest."""
    for k, attempt in enumerate(attempts[:_SEARCHED]):
        seconds = min(length / (1 + k), work.left)
        if seconds < _LEAST or contest.minimal:
            return
        if attempt.exhausted or attempt.total > _FAR * attempts[0].total:
            continue
        better = attempt.searched(seconds, contest.bound or 0, progress)
        work.charge(better.worked - attempt.worked)
        attempts[k] = better
        if better.total < contest.order:
            contest.offer(better.lft)


def _unfinished(attempts: list[Attempt]) -> bool:
    return any(not a.exhausted for a in attempts[:_SEARCHED])


def _fit(contest: Contest, work: Work, length: float, seed: int) -> bool:
    """One round of fits, again and again where one succeeds; whether there is any point in them."""
    share = Work(min(length, work.left))
    while not contest.minimal and share.left > _LEAST:
        if contest.best is None or contest.best.field.exact:
            return False
        fits = Fits(contest.best, order_bound(contest.best), seed)
        if not fits.possible:
            return False
        before = share.worked
        found = fits.smaller(share)
        work.charge(share.worked - before)
        if found is None or not contest.offer(partial(_same, found)):
            break
    return True


def _same(lft: LFTData) -> LFTData:
    return lft


_FORMS = 0.5  # share of the budget for all that is no search
_LEAST = 0.02  # seconds that are worth a search
_OPERATION = 3e-3  # prices in seconds: an operation of the expressions,
_STAGE = 2e-3  # a stage of a nested form,
_REPETITION = 2e-3  # a repetition of a realisation
_SEARCHED = 3
_FITTED = 4  # rounds of fits...
_LONGER = 1.5  # ...so many times as long as those of words
_FAR = 1.6  # problems with so many times the repetitions of the best are not searched
_REALISED = 2


def _nested_forms(
    r: RationalMatrix, orders: list[tuple[int, ...]], check: Check = nothing
) -> Iterator[Callable[[], LFTData]]:
    for order, from_inputs in itertools.product(orders, (False, True) if len(orders) > 1 else (False,)):
        polynomial = _Nested(r, order, from_inputs, check)
        if r.is_polynomial:
            yield partial(polynomial, r.polynomial_terms(), r.shape)
        else:
            yield partial(right_fraction, r, polynomial)
            yield partial(left_fraction, r, polynomial)


@dataclass(frozen=True)
class _Nested:
    """Realises polynomial matrices in nested form."""

    r: RationalMatrix
    order: tuple[int, ...]
    from_inputs: bool
    check: Check

    def __call__(self, terms: Terms, shape: tuple[int, int]) -> LFTData:
        return nested(terms, self.r, self.order, shape, from_inputs=self.from_inputs, check=self.check)


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
