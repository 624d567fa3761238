"""Search over the order of the letters in every monomial, for the fewest repetitions in total.

The structured reduction of a realisation is complete once each monomial is read as a *word*, letters in one
fixed order; the only freedom that commuting letters leave is the choice of the words. This module looks for
words whose Hankel ranks (see `ho_kalman`) sum up to as little as possible: cheap starts, then annealing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from lftgen.errors import ModelError, ReductionError
from lftgen.lft.realization.bounds import OrderBounds, order_bounds
from lftgen.lft.realization.core import Core
from lftgen.lft.realization.ho_kalman import hankel_orders, ho_kalman
from lftgen.lft.realization.polynomial import (
    Exponents,
    Pairs,
    Terms,
    Word,
    Words,
    check_terms,
    check_words,
    commute,
    shape_of,
)
from lftgen.lft.realization.restarts import Search
from lftgen.lft.realization.result import Realization
from lftgen.lft.realization.work import Work

GRANULARITIES = ("entry", "rank1", "matrix")
DEFAULT_SECONDS = 2.0


@dataclass(frozen=True, eq=False)
class WordSearch:
    """Outcome of `search_words`.

    Parameters
    ----------
    words : dict of tuple of int to (p, m) array
        The choice: their commutative image is the given polynomial matrix. Input of `ho_kalman`.
    orders : tuple of int
        Repetitions of each letter that these words need.
    bounds : OrderBounds
        Lower bounds of any realisation.
    start : int
        Total of the best common order of letters, the best Horner scheme so to speak.
    moves : int
        Moves tried, starts included.
    restarts : int
        Annealing runs.
    seconds : float
        Time taken.
    work : float
        Work counted, in seconds of a quiet core at fixed prices.
    """

    words: dict[Word, np.ndarray]
    orders: tuple[int, ...]
    bounds: OrderBounds
    start: int
    moves: int
    restarts: int
    seconds: float
    work: float

    @property
    def total(self) -> int:
        """Sum of the repetitions."""
        return sum(self.orders)

    @property
    def minimal(self) -> bool:
        """True where every letter is at its bound, so that no realisation of any kind is smaller."""
        return self.orders == self.bounds.orders


def search_words(
    terms: Terms,
    *,
    budget: float | None = None,
    moves: int | None = None,
    seed: int = 0,
    target: int | None = None,
    restarts: int | None = None,
    granularities: tuple[str, ...] = GRANULARITIES,
    starts: Sequence[Words] = (),
    pairs: Pairs = (),
    progress: Callable[[int, float], None] | None = None,
) -> WordSearch:
    """Choose a word for every monomial (or part of it) so that few repetitions are needed.

    Minimises ``sum over letters x of rank H_x``, H_x the Hankel matrix of `ho_kalman`.

    Parameters
    ----------
    terms : mapping of tuple of int to (p, m) array
        Exponents, one for each letter, to coefficient matrix.
    budget : float, optional
        Seconds; 2 where neither ``budget`` nor ``moves`` is given. They are counted as work at fixed prices, so
        that the result depends on the arguments only.
    moves : int, optional
        Number of moves instead of (or besides) seconds.
    seed : int
        Seed of everything random.
    target : int, optional
        Stop at this total. Default: the sum of the lower bounds.
    restarts : int, optional
        Largest number of annealing runs. Default: as many as the budget allows.
    granularities : tuple of str
        What gets a word of its own, tried in turn: "entry" (one entry of one coefficient matrix), "rank1"
        (one rank-one part of it), "matrix" (all of it).
    starts : sequence of mappings of tuple of int to (p, m) array
        Words that make up the same polynomial, from another construction (see `words_of`), to improve on.
    pairs : sequence of (int, int)
        Letters that are cosine and sine of one angle, whose rank is counted as in `hankel_orders`; their
        bounds are 0.
    progress : callable, optional
        Called after each run with the best total and the seconds so far.

    Returns
    -------
    WordSearch

    Raises
    ------
    ModelError
        The input is not valid.
    ReductionError
        The words found do not add up to the given polynomial (never seen).

    Notes
    -----
    Letters, rows and columns are scaled by powers of two, dependent rows and columns are set aside first.

    Examples
    --------
    >>> found = search_words({(1, 1): [[1.0, 0.0]], (0, 1): [[0.0, 1.0]]}, moves=100)
    >>> sorted(found.words), found.orders, found.minimal
    ([(1,), (1, 0)], (1, 1), True)
    """
    checked = check_terms(terms)
    _check_options(budget, moves, restarts, granularities)
    spend = Work(DEFAULT_SECONDS if budget is None and moves is None else budget, moves)
    core = Core.of(checked, pairs)
    bounds = _without_pairs(order_bounds(checked), pairs)
    given = [core.restrict(_checked_start(start, checked)) for start in starts]
    goal = bounds.total if target is None else target
    search = Search(core.terms, granularities, seed, goal, spend, given, pairs)
    search.run(restarts, progress)
    words = core.expand(search.best_words())
    _check_sum(words, checked)
    ranks = hankel_orders(words, pairs=pairs)
    orders = tuple(ranks.get(x, 0) for x in range(core.n_letters))
    if any(order < bound for order, bound in zip(orders, bounds.orders, strict=True)):
        raise ReductionError(
            f"search_words: repetitions {orders} below their lower bounds {bounds.orders} cannot be: the "
            f"ranks are not clear (gaps of the bounds {bounds.gaps}); scale the letters, or remove "
            "coefficients that are rounding errors"
        )
    return WordSearch(
        words, orders, bounds, search.start_cost, spend.spent, search.runs, spend.elapsed, spend.worked
    )


def _without_pairs(bounds: OrderBounds, pairs: Pairs) -> OrderBounds:
    """A bound for the cosine alone says nothing about the pair."""
    paired = {x for pair in pairs for x in pair}
    orders = tuple(0 if x in paired else n for x, n in enumerate(bounds.orders))
    return OrderBounds(orders, bounds.gaps)


def realize_words(
    terms: Terms,
    *,
    budget: float | None = None,
    moves: int | None = None,
    seed: int = 0,
    target: int | None = None,
    tolerance: float = 1e-10,
) -> Realization:
    """Realise a polynomial matrix by `search_words` and `ho_kalman`, with their arguments.

    Examples
    --------
    >>> realize_words({(1, 1): [[1.0]], (2, 0): [[1.0]]}, moves=100).repetitions
    {0: 2, 1: 1}
    """
    found = search_words(terms, budget=budget, moves=moves, seed=seed, target=target)
    return ho_kalman(found.words, tolerance=tolerance, seed=seed)


def _check_options(
    budget: float | None, moves: int | None, restarts: int | None, granularities: tuple[str, ...]
) -> None:
    for name, value in (("budget", budget), ("moves", moves), ("restarts", restarts)):
        if value is not None and not value >= 0:
            raise ModelError(f"search_words: {name} must be >= 0, got {value}; leave it out for the default")
    unknown = [g for g in granularities if g not in GRANULARITIES]
    if unknown or not granularities:
        raise ModelError(
            f"search_words: granularities must be some of {GRANULARITIES}, got {granularities}; "
            "leave it out for all"
        )


def _checked_start(start: Words, terms: dict[Exponents, np.ndarray]) -> dict[Word, np.ndarray]:
    """Validate words given to start from."""
    words, n = check_words(start), len(next(iter(terms)))
    if shape_of(words) != shape_of(terms) or any(letter >= n for word in words for letter in word):
        raise ModelError(
            f"search_words: a start must have {n} letters and {shape_of(terms)} matrices like terms, "
            f"got letters {sorted({x for w in words for x in w})} and shape {shape_of(words)}; use the same"
        )
    try:
        _check_sum(words, terms, floor=1e-3)
    except ReductionError as error:
        raise ModelError(f"search_words: a start is not a lift of terms: {error}") from error
    return words


def _check_sum(words: dict[Word, np.ndarray], terms: dict[Exponents, np.ndarray], floor: float = 0.0) -> None:
    """Compare the commutative image with the polynomial, entries down to ``floor`` times the largest."""
    n = len(next(iter(terms)))
    image, sizes = commute(words, n), commute({word: np.abs(f) for word, f in words.items()}, n)
    for key in terms.keys() | image.keys():
        given = terms.get(key, np.zeros(shape_of(terms)))
        size = sizes.get(key, 0.0) + np.abs(given)
        size = np.maximum(size, max(1e-300, floor * float(np.max(size))))
        error = float((np.abs(image.get(key, 0.0) - given) / size).max())
        if error > 1e-10:
            raise ReductionError(
                f"search_words: the words of exponents {key} should add up to the given matrix, relative "
                f"error {error:.1e}; remove rows or columns that nearly depend on others"
            )
