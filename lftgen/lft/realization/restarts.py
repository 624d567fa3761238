"""Cheap starts and annealing runs over several granularities."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from lftgen.lft.realization.annealing import Annealer
from lftgen.lft.realization.ho_kalman import hankel_orders
from lftgen.lft.realization.horner import letter_orders, sorted_word
from lftgen.lft.realization.polynomial import Exponents, Pairs, Word, exponents_of
from lftgen.lft.realization.sketch import (
    Choice,
    Item,
    Place,
    Sketch,
    absent_items,
    capacity,
    merged,
    pure,
    split_items,
)
from lftgen.lft.realization.work import Work

_ORDERS = 120  # letter orders tried at the start: all of them up to five letters
_START_SKETCH = 32
_MARGIN = 6  # room above the largest rank of the best start before a sketch saturates
_SCHEDULE = (  # by cycle, all but the first again and again: first temperature, random start, sharing
    (0.1, False, 0.0),
    (1.2, True, 0.0),
    (0.7, False, 0.0),
    (0.6, True, 0.6),
    (0.3, False, 0.0),
    (0.6, False, 0.6),
    (0.6, True, 0.0),
)


class Search:
    """Starts and annealing runs over several granularities, until target or budget."""

    def __init__(
        self,
        terms: dict[Exponents, np.ndarray],
        granularities: tuple[str, ...],
        seed: int,
        target: int,
        budget: Work,
        starts: Sequence[dict[Word, np.ndarray]] = (),
        pairs: Pairs = (),
    ) -> None:
        """Find the best common order of letters, and start every granularity from it."""
        self.pairs = pairs
        self.n = len(next(iter(terms)))
        self.target, self.budget, self.seed, self.runs = target, budget, seed, 0
        order, ranks = self._best_order(split_items(terms, "matrix"))
        self.start_cost = int(ranks.sum())
        own = [max(hankel_orders(words, pairs=pairs).values(), default=0) for words in starts]
        size = max([int(ranks.max(initial=0)), *own]) + _MARGIN
        extra = {
            (exponents_of(word, self.n), int(i), int(j))
            for words in starts
            for word, matrix in words.items()
            for i, j in np.argwhere(matrix)
        }
        self.annealers = [
            Annealer(Sketch(items, self.n, min(size, capacity(items, self.n, pairs)), seed, pairs), seed + k)
            for k, items in enumerate(_distinct_splits(terms, granularities, extra))
        ]
        self.best = [
            (_sorted_choices(annealer.sketch.items, order), self.start_cost) for annealer in self.annealers
        ]

        if granularities[0] == "entry":
            self._enter(starts)

    def _enter(self, starts: Sequence[dict[Word, np.ndarray]]) -> None:
        """Begin the entrywise runs from given words where they are better."""
        sketch = self.annealers[0].sketch
        for words in starts:
            choices = _given_choices(sketch.items, words, self.n)
            cost = int(sketch.ranks(sketch.total(choices)).sum())
            if cost < self.best[0][1]:
                self.best[0] = (choices, cost)

    def _best_order(self, items: list[Item]) -> tuple[tuple[int, ...], np.ndarray]:
        """Cheapest common order of the letters, and the ranks it gives."""
        sketch = self._wide_enough(items)
        sine_of = dict(self.pairs)
        sines = set(sine_of.values())
        present = [x for x in range(self.n) if any(item.exponents[x] for item in items)]
        used = [x for x in range(self.n) if x not in sines and {x, sine_of.get(x, x)} & set(present)]
        unused = tuple(x for x in range(self.n) if x not in (*used, *sines))
        best: tuple[tuple[int, ...], np.ndarray] | None = None
        for heads in letter_orders(used, _ORDERS, self.seed):
            order = tuple(y for x in (*heads, *unused) for y in ((x, sine_of[x]) if x in sine_of else (x,)))
            ranks = sketch.ranks(sketch.total(_sorted_choices(items, order)))
            if best is None or ranks.sum() < best[1].sum():
                best = (order, ranks)
            self.budget.charge(sketch.settled(), moves=1)
            if self.budget.exhausted or best[1].sum() <= self.target:
                break
        return best if best is not None else (tuple(range(self.n)), np.zeros(self.n, dtype=int))

    def _wide_enough(self, items: list[Item]) -> Sketch:
        """A sketch in which the natural order of the letters does not saturate."""
        largest, natural = capacity(items, self.n, self.pairs), _sorted_choices(items, range(self.n))
        size = min(_START_SKETCH, largest)
        while True:
            sketch = Sketch(items, self.n, size, self.seed, self.pairs)
            if size == largest or sketch.ranks(sketch.total(natural)).max() < size:
                return sketch
            size = min(2 * size, largest)

    @property
    def best_cost(self) -> int:
        """Smallest total so far."""
        return min(cost for _, cost in self.best)

    def best_words(self) -> dict[Word, np.ndarray]:
        """The best choice as word -> matrix."""
        k = min(range(len(self.best)), key=lambda i: self.best[i][1])
        words: dict[Word, np.ndarray] = {}
        for item, choice in zip(self.annealers[k].sketch.items, self.best[k][0], strict=True):
            for word, share in choice:
                words[word] = words.get(word, 0.0) + share * item.matrix
        return words

    def run(self, restarts: int | None, progress: Callable[[int, float], None] | None) -> None:
        """Anneal with each granularity in turn, over and over."""
        if not any(annealer.proposer.several for annealer in self.annealers):
            return
        while self.best_cost > self.target and not self.budget.exhausted:
            if restarts is not None and self.runs >= restarts:
                break
            k, cycle = self.runs % len(self.annealers), self.runs // len(self.annealers)
            self._anneal(k, cycle)
            self.runs += 1
            if progress is not None:
                progress(self.best_cost, self.budget.elapsed)

    def _anneal(self, k: int, cycle: int) -> None:
        """One run of granularity k: the first is short and cold, the others follow the schedule."""
        annealer = self.annealers[k]
        if not annealer.proposer.several:
            return
        if annealer.sketch.crowded:
            annealer.sketch.clear()
        choices, cost = self.best[k]
        heat, afresh, sharing = _SCHEDULE[1 + (cycle - 1) % (len(_SCHEDULE) - 1) if cycle else 0]
        if afresh:
            choices = annealer.proposer.random_choices()
        length = self._length(len(annealer.proposer.free), cycle)
        found, reached = annealer.run(choices, length, heat, sharing, self.budget, self.target)
        if reached < cost:
            self.best[k] = (found, reached)

    def _length(self, free: int, cycle: int) -> int:
        """Moves of a run: growing with the cycles, and such that it cools down within the budget."""
        length = 200 if cycle == 0 else int((300 + 60 * free) * 1.3**cycle)
        if self.budget.moves is not None:
            length = min(length, self.budget.moves - self.budget.spent)
        if self.budget.seconds is not None and cycle > 0:
            rate = self.budget.spent / max(self.budget.worked, 1e-6)
            length = min(length, int(rate * (self.budget.seconds - self.budget.worked)))
        return max(length, 1)


def _sorted_choices(items: Sequence[Item], order: Sequence[int]) -> list[Choice]:
    return [pure(sorted_word(item.exponents, order)) if item.total else () for item in items]


def _given_choices(items: Sequence[Item], words: dict[Word, np.ndarray], n: int) -> list[Choice]:
    """Shares of entrywise items that reproduce given words; what rounding leaves goes to the first word."""
    of_monomial: dict[Exponents, list[Word]] = {}
    for word in words:
        of_monomial.setdefault(exponents_of(word, n), []).append(word)
    choices = []
    for item in items:
        i, j = np.argwhere(item.matrix)[0]
        own = of_monomial.get(item.exponents, [])
        choice = merged([(word, float(words[word][i, j] / item.matrix[i, j])) for word in own])
        if choice:
            choice = merged([(choice[0][0], item.total - sum(share for _, share in choice)), *choice])
        choices.append(choice or (pure(sorted_word(item.exponents, range(n))) if item.total else ()))
    return choices


def _distinct_splits(
    terms: dict[Exponents, np.ndarray], granularities: tuple[str, ...], extra: set[Place]
) -> list[list[Item]]:
    """Items of each granularity, without those that cut in the same way as an earlier one."""
    seen: dict[frozenset, list[Item]] = {}
    for granularity in granularities:
        items = split_items(terms, granularity)
        if granularity == "entry":
            items += absent_items(terms, extra)
        key = frozenset((item.exponents, np.round(item.matrix, 12).tobytes()) for item in items)
        seen.setdefault(key, items)
    return list(seen.values())
