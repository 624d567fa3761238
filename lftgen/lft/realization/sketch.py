"""Random sketches of Hankel matrices: the cost of a choice of words, updated item by item.

Every left word a gets a random (p, s) matrix U_a, every right word b a random (m, s) matrix V_b. The sketch
``S_x = sum over f(a x b) of U_a^T f(a x b) V_b`` (s x s) has, with probability one, the rank of H_x as long
as that is at most s; and it is a sum over items, so that a new word for one item costs one subtraction and
one addition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lftgen.lft.realization.polynomial import Exponents, Terms, Word

RANK_TOLERANCE = 1e-9  # pivots of a balanced sketch: those that count are above 1e-5, rounding is near 1e-15
_CACHE_BYTES = 150_000_000


@dataclass(frozen=True)
class Item:
    """A piece ``left @ right.T`` of the coefficient matrix of one monomial; it gets one word."""

    exponents: Exponents
    left: np.ndarray  # (p, r)
    right: np.ndarray  # (m, r)

    @property
    def matrix(self) -> np.ndarray:
        """The piece itself, p x m."""
        product: np.ndarray = self.left @ self.right.T
        return product


def _pieces(matrix: np.ndarray, granularity: str) -> list[tuple[np.ndarray, np.ndarray]]:
    """Cut one coefficient matrix: by entries, by rank-one parts, or not at all."""
    if granularity == "matrix":
        rows = np.flatnonzero(matrix.any(axis=1))
        return [(np.eye(len(matrix))[:, rows], matrix[rows].T)]
    if granularity == "rank1" and np.count_nonzero(matrix) > 1:
        u, values, vt = np.linalg.svd(matrix, full_matrices=False)
        rank = int((values > 1e-13 * values[0]).sum())
        return [(u[:, [k]] * values[k], vt[[k]].T) for k in range(rank)]
    p, m = matrix.shape
    return [(np.eye(p)[:, [i]], matrix[i, j] * np.eye(m)[:, [j]]) for i, j in np.argwhere(matrix)]


def split_items(terms: Terms, granularity: str) -> list[Item]:
    """Items of a polynomial matrix: ``granularity`` is "entry", "rank1" or "matrix"."""
    return [Item(key, *piece) for key, matrix in terms.items() for piece in _pieces(matrix, granularity)]


def capacity(items: Sequence[Item], n_letters: int) -> int:
    """No rank can be larger: for each letter the number of splits, times the rank of the piece."""
    return max(
        (sum(item.exponents[x] * item.left.shape[1] for item in items) for x in range(n_letters)), default=1
    )


class Sketch:
    """Sketched Hankel matrices of one list of items.

    Parameters
    ----------
    items : sequence of Item
    n_letters : int
    size : int
        s above; ranks saturate there.
    seed : int
        Seed of the random vectors.
    """

    def __init__(self, items: Sequence[Item], n_letters: int, size: int, seed: int) -> None:
        """Prepare empty tables of random vectors."""
        self.items = items
        self.n_letters = n_letters
        self.size = size
        self.saturates = capacity(items, n_letters) > size
        self.letters = [[x for x, power in enumerate(item.exponents) if power] for item in items]
        self._place = [{x: k for k, x in enumerate(letters)} for letters in self.letters]
        self._seed = seed
        self.clear()

    def clear(self) -> None:
        """Forget all random vectors; sketches made before do not fit to those made after."""
        self._rng = np.random.default_rng(self._seed)
        self._left: dict[Word, np.ndarray] = {}
        self._right: dict[Word, np.ndarray] = {}
        self._cache: dict[tuple[int, Word], np.ndarray] = {}
        self._bytes = 0

    @property
    def crowded(self) -> bool:
        """True where `clear` is due, between two runs."""
        return (len(self._left) + len(self._right)) * self.size * 64 > _CACHE_BYTES

    def contribution(self, k: int, word: Word) -> np.ndarray:
        """What item k adds with this word: (number of its letters, s, s), letters ascending."""
        known = self._cache.get((k, word))
        if known is not None:
            return known
        item, place, s = self.items[k], self._place[k], self.size
        out = np.zeros((len(place), s, s))
        for q, x in enumerate(word):
            left = self._vectors(self._left, word[:q], len(item.left))
            right = self._vectors(self._right, word[q + 1 :], len(item.right))
            out[place[x]] += (item.left.T @ left).T @ (item.right.T @ right)
        if self._bytes > _CACHE_BYTES:
            self._cache.clear()
            self._bytes = 0
        self._cache[k, word] = out
        self._bytes += out.nbytes
        return out

    def _vectors(self, table: dict[Word, np.ndarray], word: Word, rows: int) -> np.ndarray:
        vectors = table.get(word)
        if vectors is None:
            vectors = table[word] = self._rng.standard_normal((rows, self.size))
        return vectors

    def total(self, words: Sequence[Word]) -> np.ndarray:
        """Sketches (n_letters, s, s) of a full choice of words."""
        total = np.zeros((self.n_letters, self.size, self.size))
        for k, word in enumerate(words):
            if word:
                total[self.letters[k]] += self.contribution(k, word)
        return total

    def ranks(self, blocks: np.ndarray) -> np.ndarray:
        """Ranks of sketches (..., s, s): pivots of an unpivoted QR, legitimate since the columns are generic.

        A saturated rank may hide any number, so it is charged half as much again.
        """
        pivots = np.abs(np.diagonal(np.linalg.qr(blocks, mode="r"), axis1=-2, axis2=-1))
        counts: np.ndarray = (pivots > RANK_TOLERANCE * pivots[..., :1]).sum(axis=-1)
        if self.saturates:
            counts = counts + (counts == self.size) * (self.size // 2)
        return counts
