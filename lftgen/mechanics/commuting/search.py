"""Going on: fewer repetitions by trying, within a budget.

Two searches, each for any tree.  *Words*: the dynamics is read as a polynomial in its parameters and the z's of its angles
(:mod:`letters`), in absolute angles where axes are parallel, and the order of the factors of each coefficient is annealed
(:mod:`turn_words`).  *Transposes*: which entries of the gravity stiffness above the diagonal are read from the tip to the base
(:mod:`transposes`).
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import sympy as sp

from lftgen.lft.algebra import constant, multiply
from lftgen.lft.connect import renamed
from lftgen.lft.data import LFTData
from lftgen.lft.field import Field
from lftgen.lft.reduction.bound import order_bound
from lftgen.mechanics.commuting.letters import TurnPolynomial, read_polynomial
from lftgen.mechanics.commuting.stiffness import Pairs, paths
from lftgen.mechanics.commuting.transposes import Reading, order, smallest, stiffness
from lftgen.mechanics.commuting.turn_realization import realize_turn_words
from lftgen.mechanics.commuting.turn_words import TurnSearch
from lftgen.mechanics.joints import Joint
from lftgen.mechanics.names import GROUND
from lftgen.mechanics.tree import Tree

Progress = Callable[[int, float], None]
"""Called with the fewest repetitions so far and the seconds spent."""
QUICK_MOVES, QUICK_WORK = 1500, 200_000
"""Moves of the search that is part of the default, and moves times coefficients: a second at most, the same result each
time."""
QUICK_GRID, QUICK_ENTRIES = 1_000, 2_000
"""Only polynomials up to this size (points of the grid, coefficients) are searched by default."""


@dataclass
class Clock:
    """What is left of a budget, and whom to tell."""

    seconds: float
    progress: Progress | None = None
    start: float = field(default_factory=time.perf_counter)

    @property
    def left(self) -> float:
        """Seconds."""
        return self.seconds - (time.perf_counter() - self.start)

    def tell(self, best: int) -> None:
        """Report the best so far."""
        if self.progress is not None:
            self.progress(best, time.perf_counter() - self.start)


def by_words(tree: Tree, dynamics: LFTData, clock: Clock | None) -> LFTData | None:
    """The dynamics from searched words where they take fewer repetitions than it has; None where not.

    Without a clock a short search, and only of what is small.
    """
    if dynamics.field.exact or any(not b.is_scalar for b in dynamics.structure.blocks):
        return None
    options = {"largest_grid": QUICK_GRID} if clock is None else {}
    plain = read_polynomial(dynamics, **options)
    if plain is None or (clock is None and plain.entries > QUICK_ENTRIES):
        return None
    polynomial, left, right = _sparser(tree, dynamics, plain)
    have, target = order(dynamics), sum(order_bound(dynamics).values())
    if target >= have:
        return None
    search = TurnSearch(polynomial, target)
    if clock is None:
        search.run(moves=min(QUICK_MOVES, QUICK_WORK // polynomial.entries))
    else:
        offset = clock.seconds - clock.left
        told = clock.progress
        search.run(
            seconds=clock.left,
            progress=None if told is None else (lambda best, s: told(min(best, have), offset + s)),
        )
    if search.best_cost >= have:
        return None
    found = realize_turn_words(search.words, search.letters)
    whole = multiply(multiply(constant(np.linalg.inv(left)), found), constant(np.linalg.inv(right)))
    return renamed(whole, inputs=dynamics.inputs, outputs=dynamics.outputs)


def _sparser(
    tree: Tree, dynamics: LFTData, plain: TurnPolynomial
) -> tuple[TurnPolynomial, np.ndarray, np.ndarray]:
    """The polynomial in absolute angles where that leaves fewer coefficients, and the changes of rows and columns."""
    p, m = dynamics.shape
    same = (plain, np.eye(p), np.eye(m))
    joints = [j for j in tree.joints if j.dof == 1]
    absolute = _absolute(tree, joints)
    if np.array_equal(absolute, np.eye(len(joints))):
        return same
    relative = np.round(np.linalg.inv(absolute))  # integers: the inverse of a unit triangular matrix of signs
    left, right = np.eye(p), np.eye(m)
    _put(left, [f"{j.name}_drive_{j.forces[0]}" for j in joints], dynamics.outputs, relative.T)
    _put(right, [j.names(j.positions)[0] for j in joints], dynamics.inputs, relative)
    _put(right, [j.names(j.accelerations)[0] for j in joints], dynamics.inputs, relative)
    changed = plain.transformed(left, right)
    return (changed, left, right) if changed.entries < plain.entries else same


def _put(matrix: np.ndarray, names: list[str], places: tuple[str, ...], block: np.ndarray) -> None:
    at = [places.index(n) for n in names]
    matrix[np.ix_(at, at)] = block


def _absolute(tree: Tree, joints: list[Joint]) -> np.ndarray:
    """Each joint's angle added to that of the joint before it where the axes are parallel."""
    place = {j.name: i for i, j in enumerate(joints)}
    out = np.zeros((len(joints), len(joints)))
    for joint in tree.outward:
        if joint.name not in place:
            continue
        i = place[joint.name]
        before, sign = _parallel_before(tree, joint)
        if before is not None and before.name in place:
            out[i] = sign * out[place[before.name]]
        out[i, i] = 1
    return out


def _parallel_before(tree: Tree, joint: Joint) -> tuple[Joint | None, int]:
    """The moving joint before a revolute one where their axes are parallel, and +1 or -1."""
    axis = joint.placement * joint.subspace()[:3, :]
    at = joint.parent
    while at != GROUND:
        before = tree.joint_to(at)
        if before.dof:
            both = sp.Matrix.hstack(axis, before.subspace()[:3, :]) if before.dof == 1 else None
            if both is None or both.free_symbols or joint.kind != "revolute" or before.kind != "revolute":
                return None, 0
            dot = float(both[:, 0].dot(both[:, 1]))
            return (before, 1 if dot > 0 else -1) if abs(abs(dot) - 1) < 1e-12 else (None, 0)
        axis = before.child_rotation * axis
        at = before.parent
    return None, 0


def by_transposes(tree: Tree, base: sp.MatrixBase, number: Field, clock: Clock, have: int) -> LFTData | None:
    """The gravity stiffness with some entries read as transposes, where that takes fewer repetitions; None where not.

    ``have`` is the order of the whole dynamics with the stiffness in one pass, for the reports.
    """

    start, first = smallest(tree, base, number)
    best = _Best(start.taken, first)
    clock.tell(have)
    for taken in _choices(tree, best):
        if clock.left <= 0:
            break
        K = stiffness(tree, base, number, Reading(taken))
        if order(K) < order(best.stiffness):
            best.taken, best.stiffness = taken, K
        clock.tell(have - order(first) + order(best.stiffness))
    return best.stiffness if order(best.stiffness) < order(first) else None


@dataclass
class _Best:
    """Entries read as transposes, and the stiffness that this gives."""

    taken: Pairs
    stiffness: LFTData


def _choices(tree: Tree, best: _Best) -> Iterator[Pairs]:
    """Boxes first (rows up to a joint, columns from a later joint on), then the best with one box or pair changed."""
    found = paths(tree)
    boxes: list[Pairs] = []
    for y, path in found.items():
        beyond = [b for b, p in found.items() if y in p]
        boxes += [frozenset((a, b) for a in found[x] for b in beyond) for x in path[:-1]]
    boxes.sort(key=lambda box: (-len(box), sorted(box)))
    yield from boxes
    upper = sorted({pair for box in boxes for pair in box})
    rng = random.Random(0)
    changes, tried = [*boxes, *(frozenset([pair]) for pair in upper)], {Pairs(), *boxes}
    while changes:
        before = best.taken
        rng.shuffle(changes)
        for change in changes:
            taken = best.taken ^ change
            if taken not in tried:
                tried.add(taken)
                yield taken
        if best.taken == before:
            return
