"""Words for the monomials of a polynomial in parameters and z's: which order of the factors takes the fewest repetitions.

As in :mod:`lftgen.lft.realization`: the order of letter x in the best realisation of a choice of words is the rank of its
Hankel matrix, sketched by random vectors so that one changed word costs a few outer products.  What is new is the conjugate:
the word of a conjugate monomial is the conjugate word, and only z's are counted, two repetitions for one rank.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from lftgen.mechanics.commuting.letters import Letter, Monomial, TurnPolynomial

Word = tuple[int, ...]
"""Letters from the output side: 2 k for letter k, 2 k + 1 for its conjugate."""
Progress = Callable[[int, float], None]
RANK_TOLERANCE = 1e-9
"""Pivots of a sketch below this, relative to the first, count as zero."""
MARGIN = 6
"""Room of a sketch above the largest rank of the start."""
HEATS = (1.0, 0.7, 1.0, 0.4)
"""First temperatures of the runs, in repetitions, in turn; they cool down to zero."""
_REFRESH = 500


def conjugate_word(word: Word, turns: frozenset[int]) -> Word:
    """Every z for its conjugate and the reverse."""
    return tuple(x ^ 1 if x // 2 in turns else x for x in word)


@dataclass(frozen=True)
class Item:
    """One coefficient of one entry, to be given a word; its conjugate gets the conjugate word."""

    monomial: Monomial
    row: int
    column: int
    coefficient: complex

    @property
    def letters(self) -> Word:
        """A word of the monomial, letters ascending."""
        return tuple(2 * k + (e < 0) for k, e in enumerate(self.monomial) for _ in range(abs(e)))


def items_of(polynomial: TurnPolynomial) -> list[Item]:
    """Coefficients of all monomials but the constant one, one of each conjugate pair."""
    out = []
    for e, c in polynomial.terms.items():
        if any(e) and e >= polynomial.conjugate(e):
            out += [Item(e, int(i), int(j), complex(c[i, j])) for i, j in np.argwhere(c)]
    return out


@dataclass
class _State:
    words: list[Word]
    total: np.ndarray
    ranks: np.ndarray
    cost: int


@dataclass
class TurnSearch:
    """Annealing over the words of a polynomial.

    Parameters
    ----------
    polynomial : TurnPolynomial
    target : int
        Repetitions at which to stop.
    seed : int
        Everything random follows from it.
    """

    polynomial: TurnPolynomial
    target: int = 0
    seed: int = 0
    moves: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.items = items_of(self.polynomial)
        self.letters: tuple[Letter, ...] = self.polynomial.letters
        self.turns = frozenset(k for k, x in enumerate(self.letters) if x.is_turn)
        self.weight = np.array([x.cost for x in self.letters])
        self.rng = random.Random(self.seed)
        self._normal = np.random.default_rng(self.seed)
        self.free = [k for k, item in enumerate(self.items) if len(set(item.letters)) > 1]
        self.groups = self._groups()
        self._resize(max(8, *self.polynomial.shape))
        self.best = self._start()

    @property
    def best_cost(self) -> int:
        """Fewest repetitions so far."""
        return self.best[1]

    @property
    def words(self) -> dict[Word, np.ndarray]:
        """The best choice, conjugates and the constant included: word -> complex coefficient matrix."""
        constant = self.polynomial.terms.get((0,) * len(self.letters), np.zeros(self.polynomial.shape))
        out: dict[Word, np.ndarray] = {(): np.array(constant, dtype=complex)}
        for item, word in zip(self.items, self.best[0], strict=True):
            for w, c in self._both(item, word):
                out.setdefault(w, np.zeros(self.polynomial.shape, dtype=complex))[item.row, item.column] += c
        return out

    def run(
        self, *, seconds: float | None = None, moves: int | None = None, progress: Progress | None = None
    ) -> None:
        """Anneal for some seconds, or a number of moves, in runs that start alternately at random and at the best."""
        start, first, cycle = time.perf_counter(), self.moves, 0
        if not self.free or (seconds is not None and seconds <= 0):
            return

        def spent() -> float:
            by_time = (time.perf_counter() - start) / seconds if seconds else 0.0
            return max(by_time, (self.moves - first) / moves if moves else 0.0)

        runs = 1 if moves is not None else max(1, min(len(HEATS), round((seconds or 0.0) / 4)))
        while spent() < 1 and self.best_cost > self.target:
            begin, end = spent(), max((cycle % runs + 1) / runs, spent() + 0.05)
            afresh = cycle % 2 == 0 and runs > 1
            words = [self._shuffled(x.letters) for x in self.items] if afresh else list(self.best[0])
            self._anneal(words, HEATS[cycle % len(HEATS)], spent, begin, min(end, 1.0))
            cycle += 1
            if progress is not None:
                progress(self.best_cost, time.perf_counter() - start)

    # --- sketches ------------------------------------------------------------------------------------------------

    def _resize(self, size: int) -> None:
        self.size = size
        self._left: dict[Word, np.ndarray] = {}
        self._right: dict[Word, np.ndarray] = {}
        self._known: dict[tuple[int, Word], tuple[list[int], np.ndarray]] = {}

    def _both(self, item: Item, word: Word) -> list[tuple[Word, complex]]:
        mirror = conjugate_word(word, self.turns)
        pair = [(word, item.coefficient), (mirror, item.coefficient.conjugate())]
        return pair if any(x // 2 in self.turns for x in word) else pair[:1]

    def _vector(self, table: dict[Word, np.ndarray], word: Word, n: int) -> np.ndarray:
        if word not in table:
            table[word] = self._normal.standard_normal((n, self.size))
        return table[word]

    def _contribution(self, k: int, word: Word) -> tuple[list[int], np.ndarray]:
        """Letters of an item and what it adds to their sketches."""
        known = self._known.get((k, word))
        if known is not None:
            return known
        item, (p, m) = self.items[k], self.polynomial.shape
        letters = sorted({x // 2 for x in word})
        place = {x: i for i, x in enumerate(letters)}
        out = np.zeros((len(letters), self.size, self.size), dtype=complex)
        for w, c in self._both(item, word):
            for q, x in enumerate(w):
                if x % 2 == 0:  # conjugate letters have the conjugate Hankel matrix
                    left = self._vector(self._left, w[:q], p)[item.row]
                    right = self._vector(self._right, w[q + 1 :], m)[item.column]
                    out[place[x // 2]] += np.outer(c * left, right)
        if len(self._known) * out.nbytes > 100_000_000:
            self._known.clear()
        self._known[k, word] = letters, out
        return letters, out

    def _state(self, words: list[Word]) -> _State:
        total = np.zeros((len(self.letters), self.size, self.size), dtype=complex)
        for k, word in enumerate(words):
            letters, change = self._contribution(k, word)
            total[letters] += change
        ranks = self._ranks(total)
        if ranks.max(initial=0) >= self.size and self.size < 400:
            self._resize(2 * self.size)
            return self._state(words)
        return _State(words, total, ranks, int(ranks @ self.weight))

    def _ranks(self, blocks: np.ndarray) -> np.ndarray:
        pivots = np.abs(np.diagonal(np.linalg.qr(blocks, mode="r"), axis1=-2, axis2=-1))
        return np.asarray((pivots > RANK_TOLERANCE * np.maximum(pivots[..., :1], 1e-300)).sum(axis=-1))

    # --- starts and moves ----------------------------------------------------------------------------------------

    def _start(self) -> tuple[list[Word], int]:
        """The best of some common orders of the letters; sketches get the size that it needs."""
        best: tuple[list[Word], int] | None = None
        largest = 0
        for trial in range(8):
            order = {k: self.rng.random() for k in range(len(self.letters))}
            if trial < 2:
                order = {k: (k if trial else -k) for k in order}
            state = self._state([self._sorted(x.letters, order) for x in self.items])
            if best is None or state.cost < best[1]:
                best, largest = (state.words, state.cost), int(state.ranks.max(initial=0))
        assert best is not None
        self._resize(largest + MARGIN)
        return best

    def _sorted(self, word: Word, order: dict[int, float]) -> Word:
        return tuple(sorted(word, key=lambda x: order[x // 2]))

    def _shuffled(self, word: Word) -> Word:
        letters = list(word)
        self.rng.shuffle(letters)
        return tuple(letters)

    def _groups(self) -> list[list[int]]:
        """Items of one entry, row, column or set of plain letters: what is re-sorted together."""
        members: dict[tuple, list[int]] = {}
        for k in self.free:
            item = self.items[k]
            plain = tuple(e for i, e in enumerate(item.monomial) if i not in self.turns)
            turned = tuple(abs(e) for i, e in enumerate(item.monomial) if i in self.turns)
            for key in (
                ("entry", item.row, item.column), ("row", item.row), ("column", item.column), ("plain", plain),
                ("plain", plain, "row", item.row), ("plain", plain, "column", item.column), ("turned", turned),
            ):  # fmt: skip
                members.setdefault(key, []).append(k)
        return [list(g) for g in sorted({tuple(g) for g in members.values() if len(g) > 1})]

    def _proposed(self, words: Sequence[Word]) -> list[tuple[int, Word]]:
        rng = self.rng
        if self.groups and rng.random() < 0.5:
            order = {k: rng.random() for k in range(len(self.letters))}
            if rng.random() < 0.6:  # all plain letters at one place among the z's
                place = rng.random()
                order = {k: v if k in self.turns else place + 1e-6 * v for k, v in order.items()}
            new = [(k, self._sorted(words[k], order)) for k in rng.choice(self.groups)]
        else:
            k = rng.choice(self.free)
            new = [(k, self._shuffled(words[k]) if rng.random() < 0.6 else self._moved(words[k]))]
        return [(k, w) for k, w in new if w != words[k]]

    def _moved(self, word: Word) -> Word:
        letters = list(word)
        x = letters.pop(self.rng.randrange(len(letters)))
        letters.insert(self.rng.randrange(len(letters) + 1), x)
        return tuple(letters)

    def _anneal(
        self, words: list[Word], heat: float, spent: Callable[[], float], begin: float, end: float
    ) -> None:
        state, accepted = self._state(words), 0
        while (now := spent()) < end and self.best_cost > self.target:
            self.moves += 1
            moves = self._proposed(state.words)
            if not moves or not self._accepted(state, moves, heat * (end - now) / (end - begin) + 1e-3):
                continue
            accepted += 1
            if accepted % _REFRESH == 0:
                state = self._state(state.words)
            if state.cost < self.best_cost:
                self.best = list(state.words), state.cost

    def _accepted(self, state: _State, moves: list[tuple[int, Word]], temperature: float) -> bool:
        """Metropolis' rule; changes the state where it accepts."""
        letters = sorted({x // 2 for k, _ in moves for x in self.items[k].letters})
        at = {x: i for i, x in enumerate(letters)}
        blocks = state.total[letters]
        for k, word in moves:
            for w, sign in ((word, 1), (state.words[k], -1)):
                own, change = self._contribution(k, w)
                blocks[[at[x] for x in own]] += sign * change
        ranks = self._ranks(blocks)
        rise = int((ranks - state.ranks[letters]) @ self.weight[letters])
        if rise > 0 and self.rng.random() >= math.exp(-rise / temperature):
            return False
        state.total[letters], state.ranks[letters] = blocks, ranks
        state.cost += rise
        for k, word in moves:
            state.words[k] = word
        return True
