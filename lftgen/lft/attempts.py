"""Words for one polynomial problem, and the LFT that follows from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import factorial, prod

import numpy as np

from lftgen.lft.data import LFTData
from lftgen.lft.forms import from_words
from lftgen.lft.letters import close
from lftgen.lft.problems import Problem
from lftgen.lft.rational_matrix import Terms
from lftgen.lft.realization import WordSearch, ho_kalman, search_words
from lftgen.lft.realization.factors import centred_words
from lftgen.lft.realization.work import Work

FIRST_LOOK = 0.15
"""Seconds for the common orders of the letters of one problem."""
_FEW_CHOICES = 200
_TERM = 1.5e-3  # price of a term, factors and bounds included, seconds


@dataclass(frozen=True)
class Attempt:
    """A problem and the best words so far."""

    problem: Problem
    numbers: Terms
    found: WordSearch
    seed: int = 0
    worked: float = 0.0

    @property
    def total(self) -> int:
        """Repetitions that the words need."""
        return self.found.total

    @property
    def exhausted(self) -> bool:
        """Whether every choice of words has surely been seen."""
        enough = _enough_moves(self.numbers)
        return enough is not None and self.found.moves >= enough

    def searched(self, seconds: float, target: int, progress: Callable[[int, float], None] | None) -> Attempt:
        """The same with better words, if they are found."""
        enough = _enough_moves(self.numbers)
        found = search_words(
            self.numbers,
            budget=seconds,
            moves=enough,
            seed=self.seed,
            target=target,
            starts=[self.found.words],
            pairs=self.problem.pairs,
            progress=progress,
        )
        better = found if found.total < self.total else replace(self.found, moves=found.moves)
        return replace(self, found=better, seed=self.seed + 1, worked=self.worked + found.work)

    def lft(self) -> LFTData:
        """The LFT of these words, in the ports of the given matrix."""
        problem, words = self.problem, self.found.words
        if problem.field.exact:
            own = _exact_words(words, problem)
            return problem.finish(from_words(own, problem.letters, problem.field, problem.shape))
        r = ho_kalman(words)
        letters = [problem.letters[i] for i in r.letters]
        return problem.finish(close(r.M11, r.M12, r.M21, r.M22, letters, problem.field))


def attempted(problem: Problem, work: Work) -> Attempt:
    """The best common order of the letters, or the words along the factors where they are better."""
    numbers = problem.numbers()
    centred = centred_words(numbers, problem.pairs)
    work.charge(centred.price)
    starts = [*problem.starts(), *centred.words]
    found = search_words(numbers, budget=FIRST_LOOK, restarts=0, target=0, starts=starts, pairs=problem.pairs)
    work.charge(found.work + _TERM * sum(int(np.count_nonzero(v)) for v in numbers.values()))
    return Attempt(problem, numbers, found)


def _exact_words(words: dict[tuple[int, ...], np.ndarray], problem: Problem) -> dict:
    """Each exact coefficient goes to the word that carries most of its entry."""
    out: dict[tuple[int, ...], np.ndarray] = {}
    for exponents, matrix in problem.terms.items():
        fitting = [w for w in words if all(w.count(i) == e for i, e in enumerate(exponents))]
        for i, j in zip(*np.nonzero(matrix), strict=True):
            word = max(fitting, key=lambda w: abs(words[w][i, j]))
            out.setdefault(word, problem.field.zeros(*problem.shape))[i, j] = matrix[i, j]
    return out


def _enough_moves(terms: Terms) -> int | None:
    """A number of moves that surely visits every choice of words, where there are few; None for no limit."""
    choices = 1
    for exponents, matrix in terms.items():
        words = factorial(sum(exponents)) // prod(factorial(e) for e in exponents)
        choices *= words ** int(np.count_nonzero(matrix))
        if choices > _FEW_CHOICES:
            return None
    return 500 + 50 * choices
