"""From a realisation back to words: how another construction enters the word search."""

from __future__ import annotations

import numpy as np

from lftgen.errors import ModelError, ReductionError
from lftgen.lft.realization.polynomial import Word
from lftgen.lft.realization.result import Realization

Pair = tuple[np.ndarray, np.ndarray]  # p x n, and the same product of absolute values


def words_of(
    realization: Realization, *, tolerance: float = 1e-12, limit: int = 20_000
) -> dict[Word, np.ndarray]:
    """Non-commutative polynomial of a realisation with nilpotent ``M11``.

    ``f(x y ... z) = M21_x M11_xy ... M12_z``, letter by letter from the outputs.

    Parameters
    ----------
    realization : Realization
        Of a polynomial matrix, for instance by arithmetic along the given expression.
    tolerance : float
        A coefficient below ``tolerance`` times the product of the absolute values it is made of is zero; so
        is an entry of M below ``tolerance`` times the mean of the largest in its row and in its column.
    limit : int
        Largest number of words.

    Raises
    ------
    ReductionError
        The realisation is not polynomial: its words do not end.
    ModelError
        There are more words than ``limit``.

    Examples
    --------
    >>> from lftgen.lft.realization import ho_kalman
    >>> sorted(words_of(ho_kalman({(0, 1): [[2.0]], (1,): [[1.0]]})))
    [(), (0, 1), (1,)]
    """
    n, letters = realization.order, np.array(realization.letters, dtype=int)
    whole = _cleaned(realization, tolerance)
    inner, entering, leaving = whole[:n, :n], whole[:n, n:], whole[n:, :n]
    words: dict[Word, np.ndarray] = {(): np.array(realization.M22)}
    front = _extended({(): (leaving, np.abs(leaving))}, letters)
    for _ in range(n):
        for word, pair in front.items():
            matrix = _product(pair, entering, tolerance)[0]
            if matrix.any():
                words[word] = matrix
        if len(words) > limit or len(front) > limit:
            raise ModelError(
                f"words_of: more than {limit} words, the limit; raise it, or search from the terms without it"
            )
        front = _extended({word: _product(pair, inner, tolerance) for word, pair in front.items()}, letters)
    if front:
        raise ReductionError(
            f"words_of: M11 of order {n} should be nilpotent, but words of more letters do not vanish; "
            "give a realisation of a polynomial matrix"
        )
    return words


def _cleaned(realization: Realization, tolerance: float) -> np.ndarray:
    """M without entries that are rounding errors beside the largest ones of their row and column."""
    r = realization
    whole = np.block([[r.M11, r.M12], [r.M21, r.M22]])
    size = np.abs(whole)
    floor = np.sqrt(size.max(axis=1, keepdims=True) * size.max(axis=0))
    return np.where(size <= tolerance * floor, 0.0, whole)


def _product(pair: Pair, right: np.ndarray, tolerance: float) -> Pair:
    product, size = pair[0] @ right, pair[1] @ np.abs(right)
    return np.where(np.abs(product) <= tolerance * size, 0.0, product), size


def _extended(rows: dict[Word, Pair], letters: np.ndarray) -> dict[Word, Pair]:
    """Append each letter to each word where its channels are reached."""
    front = {}
    for word, (row, size) in rows.items():
        for letter in np.unique(letters[row.any(axis=0)]):
            own = letters == letter
            front[(*word, int(letter))] = (np.where(own, row, 0.0), np.where(own, size, 0.0))
    return front
