"""Which entries of the gravity stiffness are read from the tip to the base: rows a up to x, columns b from y on.

Above the diagonal (row a nearer to the base than column b) the outward pass carries a vector ``(g x w_a) q_b`` for every
pair between joint a and joint b: as many as the cube of the number of joints.  Read as the transpose of the entry below
the diagonal, the pair costs nothing of its own, but its row needs a chain from the base and its column one to the tip.
So the transposes pay for pairs far apart, and the pass for rows near the tips and columns near the base.

The choice is made on counts that take no realisation: two repetitions of an angle for each vector that it turns, one of
a mass for each row that it drives.  Vectors that vanish or lie along the joint's axis are found at one random point.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import sympy as sp

from lftgen.lft.algebra import add, transpose
from lftgen.lft.connect import unnamed
from lftgen.lft.data import LFTData
from lftgen.lft.field import Field
from lftgen.lft.reduction.kalman import reduce as reduce_order
from lftgen.mechanics.commuting.stiffness import Pairs, StiffnessPass, all_pairs, paths
from lftgen.mechanics.joints import Joint
from lftgen.mechanics.names import GROUND
from lftgen.mechanics.tree import Tree

SMALL = 1e-9
"""Vectors shorter than this beside the base's acceleration are zero."""
TRIES = 4
"""Sets of transposes that are built for a small mechanism, where counts are a tenth off."""

_Vectors = dict[str, np.ndarray]
_Levers = dict[tuple[str, str], np.ndarray]


def stiffness(tree: Tree, base: sp.MatrixBase, field: Field, taken: Pairs, *, reduce: bool = True) -> LFTData:
    """Gravity stiffness (joints x joints), the entries ``taken`` (above the diagonal) read as transposes."""
    turned = frozenset((b, a) for a, b in taken)
    K = StiffnessPass(tree, base, field, pairs=all_pairs(tree) - taken, reduce=reduce).matrix()
    if not taken:
        return K
    below = StiffnessPass(tree, base, field, pairs=turned, reduce=reduce).matrix()
    whole = unnamed(add(K, transpose(below)))
    return reduce_order(whole) if reduce else whole


def likely_transposes(tree: Tree, base: sp.MatrixBase) -> list[Pairs]:
    """Sets of entries to read as transposes, the fewest counted repetitions first; the empty set is one of them."""
    everything, count = all_pairs(tree), PassCount(tree, base)

    def cost(taken: Pairs) -> int:
        turned = frozenset((b, a) for a, b in taken)
        return count.order(everything - taken) + count.order(turned)

    return sorted(_boxes(tree), key=cost)


def smallest(tree: Tree, base: sp.MatrixBase, field: Field, tries: int = TRIES) -> tuple[Pairs, LFTData]:
    """The smallest stiffness without transposes and with those that count as the best, and the entries it transposes."""
    likely = likely_transposes(tree, base)
    sets = dict.fromkeys([Pairs(), *likely[:tries]])
    built = [(taken, stiffness(tree, base, field, taken)) for taken in sets]
    return min(built, key=lambda found: order(found[1]))


def _boxes(tree: Tree) -> Iterator[Pairs]:
    """No entry, then rows up to one depth with columns from a depth beyond it."""
    found = paths(tree)
    depth = {name: len(path) for name, path in found.items()}
    upper = [(a, b) for b, path in found.items() for a in path[:-1]]
    yield Pairs()
    levels = sorted(set(depth.values()))
    for x in levels[:-1]:
        for y in levels[x:]:
            yield frozenset((a, b) for a, b in upper if depth[a] <= x and depth[b] >= y)


def order(a: LFTData) -> int:
    """Repetitions of all scalar blocks."""
    return sum(b.repetitions for b in a.structure.blocks if b.is_scalar)


@dataclass(frozen=True)
class _Step:
    """A joint: parameters in its rotation (two repetitions a vector) and offset, and which of the vectors feel a turn."""

    turns: int
    slides: int
    passed: tuple[str, ...]
    coming: tuple[str, ...]
    gravity: bool
    swung: frozenset[str]
    levers: frozenset[tuple[str, str]]


class PassCount:
    """Repetitions of one outward pass, counted from the labels of :class:`StiffnessPass` that do not vanish."""

    def __init__(self, tree: Tree, base: sp.MatrixBase) -> None:
        self._tree, self._random, self._values = tree, np.random.default_rng(3), dict[sp.Symbol, float]()
        self._steps: list[_Step] = []
        self._paths = paths(tree)
        self._masses: list[tuple[tuple[str, ...], frozenset[tuple[str, str]]]] = []
        gravity = self._number(base)[:, 0]
        self._small = SMALL * float(np.linalg.norm(gravity))
        for root in tree.joints_on(GROUND):
            self._walk(root, (), gravity, {}, {})

    def order(self, pairs: Pairs) -> int:
        """Repetitions of the entries in ``pairs``; an estimate that errs to the large side by about a tenth."""
        rows, columns = {a for a, _ in pairs}, {b for _, b in pairs}
        total = 0
        for t in self._steps:
            seen = {frozenset(a for a in t.passed if (b, a) in pairs) for b in t.coming}
            pushed = len({a for a, c in t.levers if a in rows and (a, c) in pairs})
            vectors = sum(b in columns for b in t.coming) if t.gravity else 0
            vectors += sum(not s.isdisjoint(t.swung) for s in seen)
            vectors += sum((a, b) in pairs for a in t.swung for b in t.coming)
            total += t.turns * (vectors + pushed) + t.slides * pushed
        masses = sum(len({a for a, c in levers if (a, c) in pairs}) for _, levers in self._masses)
        return total + masses

    def _number(self, matrix: sp.MatrixBase) -> np.ndarray:
        """Values of a matrix at one random point, the same in all matrices."""
        for symbol in sorted(matrix.free_symbols - self._values.keys(), key=str):
            low, high = getattr(symbol, "lower", 0.5), getattr(symbol, "upper", 1.5)
            self._values[symbol] = float(low + (high - low) * self._random.uniform(0.2, 0.8))
        return np.array(sp.Matrix(matrix).subs(self._values).evalf().tolist(), dtype=float)

    def _felt(self, vector: np.ndarray, axis: np.ndarray) -> bool:
        return bool(np.linalg.norm(np.cross(vector, axis)) > self._small)

    def _walk(
        self, joint: Joint, passed: tuple[str, ...], gravity: np.ndarray, swung: _Vectors, levers: _Levers
    ) -> None:
        """Gravity, ``g x w_a`` and ``y_a`` per unit of each coordinate, carried through a joint and beyond."""
        R = self._number(joint.child_rotation).T
        gravity = R @ gravity
        swung, levers = {a: R @ v for a, v in swung.items()}, {k: R @ v for k, v in levers.items()}
        axis = self._number(joint.subspace())[:3, 0] if joint.dof else np.zeros(3)
        self._note(joint, passed, axis, gravity, swung, levers)
        if joint.dof:
            passed = (*passed, joint.name)
            swung[joint.name] = np.cross(gravity, axis)
            for a in passed:
                levers[joint.name, a] = np.cross(swung[a], axis)
                levers[a, joint.name] = levers[joint.name, a]
        body = self._tree.bodies[joint.child]
        if sp.sympify(body.mass).free_symbols:
            nonzero = frozenset(k for k, v in levers.items() if np.linalg.norm(v) > self._small)
            self._masses.append((passed, nonzero))
        for child in self._tree.joints_on(joint.child):
            self._walk(child, passed, gravity, swung, levers)

    def _note(
        self,
        joint: Joint,
        passed: tuple[str, ...],
        axis: np.ndarray,
        gravity: np.ndarray,
        swung: _Vectors,
        levers: _Levers,
    ) -> None:
        turns, slides = len(joint.child_rotation.free_symbols), len(joint.child_position.free_symbols)
        if not turns and not slides:
            return
        coming = [b for b, path in self._paths.items() if set(path) >= {*passed, *([joint.name] * joint.dof)}]
        every = joint.kind != "revolute"  # the axis of other rotations is not at hand: all vectors feel them
        self._steps.append(
            _Step(
                2 * turns,
                slides,
                passed,
                tuple(coming),
                every or self._felt(gravity, axis),
                frozenset(a for a, v in swung.items() if every or self._felt(v, axis)),
                frozenset(k for k, v in levers.items() if every or self._felt(v, axis)),
            )
        )
