"""Simulated annealing over the words of a list of items."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from lftgen.lft.realization.polynomial import Word
from lftgen.lft.realization.sketch import Sketch

_REFRESH = 1000  # accepted moves between two fresh sums, against drift


@dataclass
class Budget:
    """What is left to spend: seconds on the wall clock, moves, or both."""

    seconds: float | None
    moves: int | None
    spent: int = 0
    start: float = field(default_factory=time.perf_counter)

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self.start

    @property
    def exhausted(self) -> bool:
        """True where nothing is left."""
        if self.moves is not None and self.spent >= self.moves:
            return True
        return self.seconds is not None and self.elapsed >= self.seconds


class Annealer:
    """Moves on the words of the items of one sketch.

    A move gives a new word to one item (shuffle, move one letter, share an end with another item's word), or
    re-sorts the words of a whole group (one entry, row, column or monomial, or all) by one random priority.

    Parameters
    ----------
    sketch : Sketch
    seed : int
        All moves follow from it.
    """

    def __init__(self, sketch: Sketch, seed: int) -> None:
        """Find out which items have a choice, and their groups."""
        self.sketch = sketch
        self.rng = random.Random(seed)
        items = sketch.items
        self.free = [k for k, letters in enumerate(sketch.letters) if len(letters) > 1]
        self.groups = self._groups()
        self._copies: list[list[tuple[int, int]]] = [
            [(x, copy) for x, power in enumerate(item.exponents) for copy in range(power)] for item in items
        ]

    def _groups(self) -> list[list[int]]:
        """Sets of two or more free items that share an entry, a row, a column or a monomial; and all."""
        members: dict[tuple, list[int]] = {}
        for k in self.free:
            item = self.sketch.items[k]
            rows, columns = np.flatnonzero(item.left.any(axis=1)), np.flatnonzero(item.right.any(axis=1))
            keys: list[tuple] = [("all",), ("monomial", item.exponents)]
            keys += [("row", i) for i in rows] + [("column", j) for j in columns]
            keys += [("entry", i, j) for i in rows for j in columns]
            for key in keys:
                members.setdefault(key, []).append(k)
        return [list(group) for group in sorted({tuple(g) for g in members.values() if len(g) > 1})]

    def random_words(self) -> list[Word]:
        """A random word for every item."""
        return [self._shuffled(tuple(x for x, _ in copies)) for copies in self._copies]

    def _shuffled(self, word: Word) -> Word:
        letters = list(word)
        self.rng.shuffle(letters)
        return tuple(letters)

    def _relocated(self, word: Word) -> Word:
        letters = list(word)
        letter = letters.pop(self.rng.randrange(len(letters)))
        letters.insert(self.rng.randrange(len(letters) + 1), letter)
        return tuple(letters)

    def _aligned(self, word: Word, other: Word) -> Word:
        """Share an end of random length with another word, as far as the letters allow."""
        at_end = self.rng.random() < 0.5
        rest = list(word) if not at_end else list(word)[::-1]
        shared: list[int] = []
        for letter in (other[::-1] if at_end else other)[: self.rng.randint(1, len(other))]:
            if letter not in rest:
                break
            rest.remove(letter)
            shared.append(letter)
        result = tuple(shared + rest)
        return result[::-1] if at_end else result

    def _single(self, words: Sequence[Word]) -> list[tuple[int, Word]]:
        k = self.rng.choice(self.free)
        draw = self.rng.random()
        if draw < 0.35:
            return [(k, self._shuffled(words[k]))]
        if draw < 0.6:
            return [(k, self._relocated(words[k]))]
        return [(k, self._aligned(words[k], words[self.rng.choice(self.free)]))]

    def _grouped(self, words: Sequence[Word]) -> list[tuple[int, Word]]:
        """Re-sort a group: by letters, by copies of letters (powers apart), or one letter to one end."""
        group, draw, rng = self.rng.choice(self.groups), self.rng.random(), self.rng
        n = self.sketch.n_letters
        if draw < 0.4:
            of_letter = [rng.random() for _ in range(n)]
            return [(k, tuple(sorted(words[k], key=of_letter.__getitem__))) for k in group]
        if draw < 0.7:
            of_copy: dict[tuple[int, int], float] = {}
            for k in group:
                for copy in self._copies[k]:
                    if copy not in of_copy:
                        of_copy[copy] = rng.random()
            return [(k, tuple(x for x, _ in sorted(self._copies[k], key=of_copy.__getitem__))) for k in group]
        letter, front = rng.choice(self.sketch.letters[rng.choice(group)]), rng.random() < 0.5
        return [(k, tuple(sorted(words[k], key=lambda x: (x == letter) != front))) for k in group]

    def propose(self, words: Sequence[Word]) -> list[tuple[int, Word]]:
        """Items to change with their new words; empty where the draw changes nothing."""
        grouped = bool(self.groups) and self.rng.random() < 0.4
        moves = self._grouped(words) if grouped else self._single(words)
        return [(k, word) for k, word in moves if word != words[k]]

    def run(
        self, words: list[Word], length: int, heat: float, budget: Budget, target: int
    ) -> tuple[list[Word], int]:
        """Anneal once: ``length`` moves, temperature from ``heat`` to 0; best words and their cost."""
        sketch, rng = self.sketch, self.rng
        words = list(words)
        total = sketch.total(words)
        ranks = sketch.ranks(total)
        cost = int(ranks.sum())
        best, best_cost, accepted = list(words), cost, 0
        for step in range(length):
            if best_cost <= target or budget.exhausted:
                break
            budget.spent += 1
            moves = self.propose(words)
            if not moves:
                continue
            letters = sorted({x for k, _ in moves for x in sketch.letters[k]})
            blocks = self._changed(total, words, moves, letters)
            new = sketch.ranks(blocks)
            rise = int(new.sum() - ranks[letters].sum())
            if rise > 0 and rng.random() >= math.exp(-rise / (heat * (1 - step / length) + 1e-3)):
                continue
            total[letters], ranks[letters], cost, accepted = blocks, new, cost + rise, accepted + 1
            for k, word in moves:
                words[k] = word
            if accepted % _REFRESH == 0:
                total = sketch.total(words)
            if cost < best_cost:
                best, best_cost = list(words), cost
        return best, best_cost

    def _changed(
        self, total: np.ndarray, words: Sequence[Word], moves: list[tuple[int, Word]], letters: list[int]
    ) -> np.ndarray:
        """Sketches of ``letters`` after the moves."""
        blocks: np.ndarray = total[letters]
        at = {x: k for k, x in enumerate(letters)}
        for k, word in moves:
            change = self.sketch.contribution(k, word) - self.sketch.contribution(k, words[k])
            blocks[[at[x] for x in self.sketch.letters[k]]] += change
        return blocks
