"""Cheap lifts: every monomial's letters in one common order (Horner schemes, layered realisations)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np

from lftgen.errors import ModelError
from lftgen.lft.realization.ho_kalman import hankel_orders, ho_kalman
from lftgen.lft.realization.polynomial import Exponents, Terms, Word, check_terms
from lftgen.lft.realization.result import Realization


def letter_orders(letters: Sequence[int], limit: int, seed: int) -> Iterator[tuple[int, ...]]:
    """All orders of the letters where there are at most ``limit``, else a sample of that size."""
    if math.factorial(len(letters)) <= limit:
        yield from itertools.permutations(letters)
        return
    rng = np.random.default_rng(seed)
    yield tuple(letters)
    yield tuple(reversed(letters))
    for _ in range(limit - 2):
        yield tuple(int(x) for x in rng.permutation(letters))


def sorted_word(exponents: Exponents, order: Sequence[int]) -> Word:
    """Word of one monomial with its letters, powers together, in the given order."""
    return tuple(letter for letter in order for _ in range(exponents[letter]))


def ordered_words(terms: Terms, order: Sequence[int]) -> dict[Word, np.ndarray]:
    """Words of all monomials in one order of the letters, the first nearest to the output rows.

    Raises
    ------
    ModelError
        ``order`` is not a permutation of the letters, or ``terms`` are not valid.

    Examples
    --------
    >>> list(ordered_words({(2, 1): [[1.0]]}, (1, 0)))
    [(1, 0, 0)]
    """
    checked = check_terms(terms)
    n = len(next(iter(checked)))
    if sorted(order) != list(range(n)):
        raise ModelError(
            f"ordered_words: order must be a permutation of the letters 0..{n - 1}, got {tuple(order)}; "
            "name every letter once"
        )
    return {sorted_word(key, order): matrix for key, matrix in checked.items()}


def layered(terms: Terms, order: Sequence[int], *, tolerance: float = 1e-10) -> Realization:
    """Layered (tensor-train) realisation for a fixed order of the letters, from the outputs to the inputs.

    The letters act one after another, ``P = L_1(x_1) L_2(x_2) ... L_k(x_k)`` with the ranks of the unfoldings
    between the layers; realised as the minimal realisation of the words sorted in that order.

    Parameters
    ----------
    terms : mapping of tuple of int to (p, m) array
        Exponents to coefficient matrix.
    order : sequence of int
        Permutation of the letters, the first nearest to the output rows.
    tolerance : float
        Relative tolerance of the rank decisions, see `hankel_orders`.

    Examples
    --------
    >>> layered({(1, 1): [[1.0]], (0, 1): [[1.0]]}, (1, 0)).repetitions
    {0: 1, 1: 1}
    """
    return ho_kalman(ordered_words(terms, order), tolerance=tolerance)


def best_order(
    terms: Terms, *, limit: int = 120, seed: int = 0, tolerance: float = 1e-10
) -> tuple[tuple[int, ...], int]:
    """Order of the letters whose layered realisation is smallest, and its size.

    A reversed order belongs to the transposed matrix, so the transposes are among the candidates.

    Parameters
    ----------
    terms : mapping of tuple of int to (p, m) array
        Exponents to coefficient matrix.
    limit : int
        All orders where there are at most so many (120 = five letters), else a random sample of this size.
    seed : int
        Seed of the sample.
    tolerance : float
        Relative tolerance of the rank decisions.

    Examples
    --------
    >>> best_order({(1, 1): [[1.0], [0.0]], (1, 0): [[0.0], [1.0]]})
    ((1, 0), 2)
    """
    checked = check_terms(terms)
    n = len(next(iter(checked)))
    sizes = {
        order: sum(hankel_orders(ordered_words(checked, order), tolerance=tolerance).values())
        for order in letter_orders(range(n), max(limit, 2), seed)
    }
    best = min(sizes, key=lambda order: sizes[order])
    return best, sizes[best]
