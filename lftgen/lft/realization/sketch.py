"""Random sketches of Hankel matrices: the cost of a choice of words, updated item by item.

Every left word a gets a random (p, s) matrix U_a, every right word b a random (m, s) matrix V_b. The sketch
``S_x = sum over f(a x b) of U_a^T f(a x b) V_b`` (s x s) has, with probability one, the rank of H_x as long
as that is at most s; and it is a sum over items, so that a new word for one item costs one subtraction and
one addition.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lftgen.lft.realization.polynomial import Exponents, Pairs, Terms, Word

RANK_TOLERANCE = 1e-9  # of the first pivot; true pivots exceed 1e-5
_CACHE_BYTES = 150_000_000

_MANY_ABSENT = 200
_COUNT, _COUNT_BLOCK, _COUNT_CUBE = 2.5e-5, 4e-6, 2e-9
"""Prices of rank decisions in seconds: of a call, of a matrix, of its size cubed."""
_WORD = 1e-5  # price of a letter of a word that is sketched anew

Place = tuple[Exponents, int, int]  # a monomial of one entry
Choice = tuple[tuple[Word, float], ...]  # the words of one item with their shares, which sum to its total


def pure(word: Word) -> Choice:
    """The whole of an item on one word."""
    return ((word, 1.0),)


def merged(parts: Sequence[tuple[Word, float]]) -> Choice:
    """Add up the shares of equal words, and drop those that vanish."""
    shares: dict[Word, float] = {}
    for word, share in parts:
        shares[word] = shares.get(word, 0.0) + share
    return tuple((word, share) for word, share in shares.items() if abs(share) > 1e-12)


@dataclass(frozen=True)
class Item:
    """A piece ``left @ right.T`` of the coefficient matrix of one monomial, to be given one word or several.

    ``total`` is 1; or 0 for a piece that the polynomial does not contain, whose words have to cancel.
    """

    exponents: Exponents
    left: np.ndarray  # (p, r)
    right: np.ndarray  # (m, r)
    total: int = 1

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
        return _crosses(matrix)
    p, m = matrix.shape
    return [(np.eye(p)[:, [i]], matrix[i, j] * np.eye(m)[:, [j]]) for i, j in np.argwhere(matrix)]


def _crosses(matrix: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Rank-one parts by elimination with full pivoting: unlike an SVD, it keeps zeros and simple numbers."""
    rest, floor, parts = matrix.copy(), 1e-13 * np.abs(matrix).max(), []
    while np.abs(rest).max() > floor:
        i, j = np.unravel_index(np.abs(rest).argmax(), rest.shape)
        column, row = rest[:, [j]].copy(), rest[[i]].T / rest[i, j]
        parts.append((column, row))
        rest = rest - column @ row.T
        rest[i], rest[:, j] = 0.0, 0.0
    return parts


def split_items(terms: Terms, granularity: str) -> list[Item]:
    """Items of a polynomial matrix: ``granularity`` is "entry", "rank1" or "matrix"."""
    return [Item(key, *piece) for key, matrix in terms.items() for piece in _pieces(matrix, granularity)]


def absent_items(terms: Terms, extra: Iterable[Place] = ()) -> list[Item]:
    """Entrywise items of total 0, for monomials that an entry does not contain.

    Their words cancel as the letters commute: ``(a-b)(b-c)(c-a)`` has abc - bca among its words. Tried are
    the monomials half-way between two of one entry, unless they are very many, and those of ``extra``.
    """
    p, m = next(iter(terms.values())).shape
    present = {(key, int(i), int(j)) for key, matrix in terms.items() for i, j in np.argwhere(matrix)}
    halves: set[Place] = set()
    for key, i, j in present:
        for other in (k for k in terms if (k, i, j) in present):
            total = [a + b for a, b in zip(key, other, strict=True)]
            if not any(e % 2 for e in total):
                halves.add((tuple(e // 2 for e in total), i, j))
        if len(halves) > len(present) + _MANY_ABSENT:
            halves.clear()
            break
    places = sorted((halves | set(extra)) - present)
    return [
        Item(k, np.eye(p)[:, [i]], np.eye(m)[:, [j]], 0) for k, i, j in places if sum(e > 0 for e in k) > 1
    ]


def capacity(items: Sequence[Item], n_letters: int, pairs: Pairs = ()) -> int:
    """No rank can be larger: for each letter the number of splits, times the rank of the piece.

    The splits of a pair of letters are those of both.
    """
    splits = [sum(item.exponents[x] * item.left.shape[1] for item in items) for x in range(n_letters)]
    for cosine, sine in pairs:
        splits[cosine] += splits[sine]
    return max(splits, default=1)


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
    pairs : sequence of (int, int)
        Letters that are cosine and sine of one angle: one sketch of ``H_c - i H_s``, of weight two, in the
        place of the cosine.
    """

    def __init__(
        self, items: Sequence[Item], n_letters: int, size: int, seed: int, pairs: Pairs = ()
    ) -> None:
        """Prepare empty tables of random vectors."""
        self.items = items
        self.n_letters = n_letters
        self.slot = list(range(n_letters))
        self.weights = np.ones(n_letters, dtype=int)
        for cosine, sine in pairs:
            self.slot[sine] = cosine
            self.weights[cosine] = 2
        self._factor = [1.0 if self.slot[x] == x else -1j for x in range(n_letters)]
        self._type = complex if pairs else float
        self.size = size
        self.saturates = capacity(items, n_letters, pairs) > size
        self.letters = [[x for x, power in enumerate(item.exponents) if power] for item in items]
        self.slots = [sorted({self.slot[x] for x in letters}) for letters in self.letters]
        self._place = [{x: k for k, x in enumerate(slots)} for slots in self.slots]
        self._seed = seed
        self._due = 0.0
        self._price = _COUNT_BLOCK + _COUNT_CUBE * size**3 * (4 if pairs else 1)
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

    def owe(self, price: float) -> None:
        """Book work on these sketches, seconds."""
        self._due += price

    def settled(self) -> float:
        """Price of what was worked out since it was asked last, seconds."""
        due, self._due = self._due, 0.0
        return due

    def contribution(self, k: int, choice: Choice) -> np.ndarray:
        """What item k adds with these words: (number of its slots, s, s), slots ascending."""
        if len(choice) == 1 and choice[0][1] == 1.0:
            return self.of_word(k, choice[0][0])
        out = np.zeros((len(self.slots[k]), self.size, self.size), dtype=self._type)
        for word, share in choice:
            out += share * self.of_word(k, word)
        return out

    def of_word(self, k: int, word: Word) -> np.ndarray:
        """Contribution of item k with all of it on one word."""
        known = self._cache.get((k, word))
        if known is not None:
            return known
        self._due += _WORD * len(word)
        place, s = self._place[k], self.size
        out = np.zeros((len(place), s, s), dtype=self._type)
        for x, left, right in self._factors(k, word):
            part = left.T @ right
            out[place[self.slot[x]]] += part if self.slot[x] == x else -1j * part
        if self._bytes > _CACHE_BYTES:
            self._cache.clear()
            self._bytes = 0
        self._cache[k, word] = out
        self._bytes += out.nbytes
        return out

    def _factors(self, k: int, word: Word) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """Each letter of the word with the sketched left and right parts of item k around it, (r, s) each."""
        item = self.items[k]
        for q, x in enumerate(word):
            left = self._vectors(self._left, word[:q], len(item.left))
            right = self._vectors(self._right, word[q + 1 :], len(item.right))
            yield x, item.left.T @ left, item.right.T @ right

    def _vectors(self, table: dict[Word, np.ndarray], word: Word, rows: int) -> np.ndarray:
        vectors = table.get(word)
        if vectors is None:
            vectors = table[word] = self._rng.standard_normal((rows, self.size))
        return vectors

    def total(self, choices: Sequence[Choice]) -> np.ndarray:
        """Sketches (n_letters, s, s) of the choices of all items; zero at a sine."""
        self._due += _WORD * sum(len(word) for choice in choices for word, _ in choice)
        lefts: list[list[np.ndarray]] = [[np.zeros((0, self.size))] for _ in range(self.n_letters)]
        rights: list[list[np.ndarray]] = [[np.zeros((0, self.size))] for _ in range(self.n_letters)]
        for k, choice in enumerate(choices):
            for word, share in choice:
                for x, left, right in self._factors(k, word):
                    lefts[self.slot[x]].append(share * self._factor[x] * left)
                    rights[self.slot[x]].append(right)
        parts = [np.vstack(a).T @ np.vstack(b) for a, b in zip(lefts, rights, strict=True)]
        return np.stack(parts).astype(self._type)

    def counts(self, blocks: np.ndarray) -> np.ndarray:
        """Ranks of sketches (..., s, s): pivots of an unpivoted QR, legitimate since the columns are generic.

        A saturated rank may hide any number, so it is charged half as much again.
        """
        self._due += _COUNT + self._price * math.prod(blocks.shape[:-2])
        pivots = np.abs(np.diagonal(np.linalg.qr(blocks, mode="r"), axis1=-2, axis2=-1))
        counts: np.ndarray = (pivots > RANK_TOLERANCE * pivots[..., :1]).sum(axis=-1)
        if self.saturates:
            counts = counts + (counts == self.size) * (self.size // 2)
        return counts

    def ranks(self, blocks: np.ndarray, slots: Sequence[int] | None = None) -> np.ndarray:
        """Ranks times weights of the sketches (..., s, s) of some slots (all of them by default)."""
        weights: np.ndarray = self.weights if slots is None else self.weights[list(slots)]
        return self.counts(blocks) * weights
