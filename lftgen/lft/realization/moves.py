"""Proposals for the words of a list of items: one item, a group, or a share of a coefficient."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np

from lftgen.lft.realization.polynomial import Word
from lftgen.lft.realization.sketch import Choice, Sketch, merged, pure

Move = tuple[int, Choice]  # an item and its new choice
Transfer = tuple[int, Word, Word]  # an item, the word that gives a share, the word that takes it

_LARGEST_CHOICE = 3  # words among which one coefficient may be shared out


class Proposer:
    """Random proposals; all of them follow from the seed.

    A move gives a new word to one item (shuffle, move one letter, share an end with another item's word), or
    re-sorts the words of a whole group (one entry, row, column or monomial, or all) by one random priority.
    A transfer names two words of one item between which a share of the coefficient may go.
    """

    def __init__(self, sketch: Sketch, rng: random.Random) -> None:
        """Find out which items have a choice, and their groups."""
        self.sketch = sketch
        self.rng = rng
        self._copies: list[list[tuple[int, int]]] = [
            [(x, copy) for x, power in enumerate(item.exponents) for copy in range(power)]
            for item in sketch.items
        ]
        self.several = [k for k, letters in enumerate(sketch.letters) if len(letters) > 1]
        self.free = [k for k in self.several if sketch.items[k].total]
        self.groups = self._groups()

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

    def random_choices(self) -> list[Choice]:
        """A random word for every item, none where the coefficient is zero."""
        words = [self._shuffled(tuple(x for x, _ in copies)) for copies in self._copies]
        return [pure(word) if item.total else () for item, word in zip(self.sketch.items, words, strict=True)]

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

    def _changed(self, word: Word, choices: Sequence[Choice]) -> Word:
        draw = self.rng.random()
        if draw < 0.35:
            return self._shuffled(word)
        if draw < 0.6:
            return self._relocated(word)
        other = choices[self.rng.choice(self.free)]
        return self._aligned(word, self.rng.choice(other)[0])

    def _single(self, choices: Sequence[Choice]) -> list[Move]:
        """A new word for one item; for one of its words where it has several."""
        k = self.rng.choice(self.free)
        parts = list(choices[k])
        at = self.rng.randrange(len(parts))
        word = self._changed(parts[at][0], choices)
        if len(parts) > 1 and self.rng.random() < 0.3:
            return [(k, pure(word))]
        parts[at] = (word, parts[at][1])
        return [(k, merged(parts))]

    def _grouped(self, choices: Sequence[Choice]) -> list[Move]:
        """Re-sort a group: by letters, by copies of letters (powers apart), one letter to one end or both."""
        group, draw, rng = self.rng.choice(self.groups), self.rng.random(), self.rng
        if draw < 0.4:
            of_slot = [rng.random() for _ in range(self.sketch.n_letters)]
            of_letter = [of_slot[slot] for slot in self.sketch.slot]
            return [(k, pure(tuple(sorted(choices[k][0][0], key=of_letter.__getitem__)))) for k in group]
        if draw < 0.7:
            of_copy: dict[tuple[int, int], float] = {}
            for k in group:
                for copy in self._copies[k]:
                    if copy not in of_copy:
                        of_copy[copy] = rng.random()
            orders = [sorted(self._copies[k], key=of_copy.__getitem__) for k in group]
            return [(k, pure(tuple(x for x, _ in order))) for k, order in zip(group, orders, strict=True)]
        if draw < 0.8:
            return self._congruence(group, choices)
        slot, front = rng.choice(self.sketch.slots[rng.choice(group)]), rng.random() < 0.5

        def last(x: int) -> bool:
            return (self.sketch.slot[x] == slot) != front

        return [(k, merged([(tuple(sorted(w, key=last)), c) for w, c in choices[k]])) for k in group]

    def _congruence(self, group: list[int], choices: Sequence[Choice]) -> list[Move]:
        """One letter of a slot to the front (of each row its own), the others of the slot to the end: T' X T."""
        slot = self.rng.choice(self.sketch.slots[self.rng.choice(group)])
        own = [x for x, place in enumerate(self.sketch.slot) if place == slot]
        of_row: dict[int, int] = {}
        moves = []
        for k in group:
            word = choices[k][0][0]
            row = int(np.flatnonzero(self.sketch.items[k].left.any(axis=1))[0])
            first = of_row.setdefault(row, self.rng.choice(own))
            ends = sorted((x for x in word if x in own), key=lambda x: x != first)
            moves.append((k, pure((*ends[:1], *(x for x in word if x not in own), *ends[1:]))))
        return moves

    def move(self, choices: Sequence[Choice]) -> list[Move]:
        """Items to change with their new words; empty where the draw changes nothing."""
        grouped = bool(self.groups) and self.rng.random() < 0.4
        moves = self._grouped(choices) if grouped else self._single(choices)
        return [(k, choice) for k, choice in moves if choice != choices[k]]

    def transfer(self, choices: Sequence[Choice]) -> Transfer | None:
        """Two different words of one item, the first one in use (unless the coefficient is zero)."""
        k = self.rng.choice(self.several)
        parts = choices[k]
        any_word = tuple(x for x, _ in self._copies[k])
        giving = self.rng.choice(parts)[0] if parts else self._shuffled(any_word)
        if len(parts) >= _LARGEST_CHOICE:
            taking = self.rng.choice(parts)[0]
        else:
            taking = self._changed(giving, choices)
        return (k, giving, taking) if giving != taking else None
