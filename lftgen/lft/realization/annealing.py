"""Simulated annealing over the words of a list of items."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

import numpy as np

from lftgen.lft.realization.moves import Move, Proposer, Transfer
from lftgen.lft.realization.shares import LARGEST_SHARE, candidate_shares
from lftgen.lft.realization.sketch import Choice, Sketch, merged
from lftgen.lft.realization.work import Work

_REFRESH = 1000  # accepted moves between two fresh sums, against drift
_MOVE = 4e-5  # price of a proposal, seconds
_SHARES = 8e-5  # price of the shares of one letter


@dataclass
class _State:
    """Choices of all items, their sketches, the ranks and the sum of the ranks."""

    choices: list[Choice]
    total: np.ndarray
    ranks: np.ndarray
    cost: int


class Annealer:
    """Annealing runs on one sketch.

    Parameters
    ----------
    sketch : Sketch
    seed : int
        All moves follow from it.
    """

    def __init__(self, sketch: Sketch, seed: int) -> None:
        """Prepare the proposals."""
        self.sketch = sketch
        self.rng = random.Random(seed)
        self.proposer = Proposer(sketch, self.rng)

    def run(
        self, choices: list[Choice], length: int, heat: float, sharing: float, budget: Work, target: int
    ) -> tuple[list[Choice], int]:
        """Anneal once: ``length`` moves, temperature from ``heat`` to 0; best choices and their cost.

        ``sharing`` is the probability of a move that shares a coefficient out among several words.
        """
        state = self._state(choices)
        best, best_cost, accepted = list(state.choices), state.cost, 0
        for step in range(length):
            if best_cost <= target or budget.exhausted:
                break
            moves = self._propose(state, sharing)
            taken = bool(moves) and self._accept(state, moves, heat * (1 - step / length) + 1e-3)
            budget.charge(_MOVE + self.sketch.settled(), moves=1)
            if not taken:
                continue
            accepted += 1
            if accepted % _REFRESH == 0:
                state = self._state(state.choices)
            if state.cost < best_cost:
                best, best_cost = list(state.choices), state.cost
        return best, best_cost

    def _state(self, choices: list[Choice]) -> _State:
        total = self.sketch.total(choices)
        ranks = self.sketch.ranks(total)
        return _State(list(choices), total, ranks, int(ranks.sum()))

    def _propose(self, state: _State, sharing: float) -> list[Move]:
        if sharing and self.rng.random() < sharing:
            transfer = self.proposer.transfer(state.choices)
            return self._shared(state, transfer) if transfer is not None else []
        return self.proposer.move(state.choices) if self.proposer.free else []

    def _shared(self, state: _State, transfer: Transfer) -> list[Move]:
        """The transfer with the share that gives the smallest ranks."""
        k, giving, taking = transfer
        letters = self.sketch.slots[k]
        change = self.sketch.of_word(k, taking) - self.sketch.of_word(k, giving)
        blocks = state.total[letters]
        self.sketch.owe(_SHARES * len(letters))
        shares = candidate_shares(self.sketch, blocks, change, self.rng.uniform(0.2, 0.8))
        shares += [share for word, share in state.choices[k] if word == giving]
        if not shares:
            return []
        trials = blocks + np.array(shares)[:, None, None, None] * change
        share = shares[int(self.sketch.ranks(trials, letters).sum(axis=1).argmin())]
        choice = merged([*state.choices[k], (giving, -share), (taking, share)])
        return [(k, choice)] if all(abs(part) < LARGEST_SHARE for _, part in choice) else []

    def _accept(self, state: _State, moves: list[Move], temperature: float) -> bool:
        """Metropolis' rule; changes the state where it accepts."""
        sketch = self.sketch
        letters = sorted({x for k, _ in moves for x in sketch.slots[k]})
        at = {x: i for i, x in enumerate(letters)}
        blocks = state.total[letters]
        for k, choice in moves:
            change = sketch.contribution(k, choice) - sketch.contribution(k, state.choices[k])
            blocks[[at[x] for x in sketch.slots[k]]] += change
        ranks = sketch.ranks(blocks, letters)
        rise = int(ranks.sum() - state.ranks[letters].sum())
        if rise > 0 and self.rng.random() >= math.exp(-rise / temperature):
            return False
        state.total[letters], state.ranks[letters] = blocks, ranks
        state.cost += rise
        for k, choice in moves:
            state.choices[k] = choice
        return True
