"""How the entries of the gravity stiffness are read: which by the outward pass, which as transposes, which as far pairs.

Above the diagonal (row a nearer to the base than column b) the outward pass carries a vector ``(g x w_a) q_b`` for every
pair between joint a and joint b: as many as the cube of the number of joints.  Two readings as transposes avoid that:

- a box, rows a up to a depth and columns b from another depth on, by the pass (:mod:`stiffness`): no vector for the pair,
  but a chain from the base for every row and one to the tips for every column;
- between segments of the mechanism, rows in one and columns beyond it, by motion and wrench (:mod:`far_pairs`): a chain
  from the base for every row, and one chain through all that is beyond for each segment.

The choice is made on counts that take no realisation: two repetitions of an angle for each vector that it turns, one of
a mass for each row that it drives.  Vectors that vanish or lie along the joint's axis are found at one random point.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import sympy as sp

from lftgen.lft.algebra import add, transpose
from lftgen.lft.connect import unnamed
from lftgen.lft.data import LFTData
from lftgen.lft.field import Field
from lftgen.lft.reduction.kalman import reduce as reduce_order
from lftgen.mechanics.commuting.far_pairs import FarPairs
from lftgen.mechanics.commuting.stiffness import Pairs, StiffnessPass, all_pairs, paths
from lftgen.mechanics.joints import Joint
from lftgen.mechanics.names import GROUND
from lftgen.mechanics.tree import Tree

SMALL = 1e-9
"""Vectors shorter than this beside the base's acceleration are zero."""
TRIES = 4
"""Readings that are built for a small mechanism, where counts are a tenth off."""

_Vectors = dict[str, np.ndarray]
_Levers = dict[tuple[str, str], np.ndarray]


@dataclass(frozen=True)
class Reading:
    """Entries above the diagonal that the outward pass leaves out.

    Attributes
    ----------
    taken : frozenset of pairs
        Read as transposes of the pass below the diagonal.
    splits : tuple of int
        Depths (joints from the base) at which segments end: pairs of different segments are read as far pairs.
    """

    taken: Pairs = frozenset()
    splits: tuple[int, ...] = ()


def stiffness(
    tree: Tree, base: sp.MatrixBase, field: Field, reading: Reading, *, reduce: bool = True
) -> LFTData:
    """Gravity stiffness (joints x joints) in one reading."""
    segments = _segments(tree, reading.splits)
    left_out = reading.taken | {pair for _, _, pairs in segments for pair in pairs}
    turned = frozenset((b, a) for a, b in reading.taken)
    K = StiffnessPass(tree, base, field, pairs=all_pairs(tree) - left_out, reduce=reduce).matrix()
    below = [StiffnessPass(tree, base, field, pairs=turned, reduce=reduce).matrix()] if turned else []
    below += [FarPairs(tree, base, field, near, beyond).matrix() for near, beyond, _ in segments]
    for part in below:
        K = unnamed(add(K, transpose(part)))
    return reduce_order(K) if reduce and below else K


def _segments(tree: Tree, splits: tuple[int, ...]) -> list[tuple[frozenset[str], frozenset[str], Pairs]]:
    """Joints of each segment but the last, those beyond it, and the pairs of the two."""
    depth, upper = _upper(tree)
    out = []
    for low, high in itertools.pairwise((0, *splits)):
        near = frozenset(j for j, d in depth.items() if low < d <= high)
        beyond = frozenset(j for j, d in depth.items() if d > high)
        out.append((near, beyond, frozenset((a, b) for a, b in upper if a in near and b in beyond)))
    return out


def likely_readings(tree: Tree, base: sp.MatrixBase) -> list[Reading]:
    """Readings, the fewest counted repetitions first; that by the pass alone is one of them."""
    count = PassCount(tree, base)
    ranked = [(count.of(reading), i, reading) for i, reading in enumerate(_boxes(tree))]
    splits = _best_splits(tree, count)
    if splits.splits:
        ranked.append((count.of(splits), -1, splits))
    return [reading for _, _, reading in sorted(ranked, key=lambda r: r[:2])]


def _best_splits(tree: Tree, count: PassCount) -> Reading:
    """Even segments, their ends moved one by one while the count falls; one segment more while that helps."""
    deepest = max(_upper(tree)[0].values(), default=0)
    best = Reading()
    for segments in range(2, deepest):
        even = tuple(deepest * k // segments for k in range(1, segments))
        found = _with_ends_moved(Reading(splits=even), deepest, count)
        if count.of(found) >= count.of(best):
            break
        best = found
    return best


def _with_ends_moved(best: Reading, deepest: int, count: PassCount) -> Reading:
    while True:
        have = set(best.splits)
        moved = [have - {d} | {e} for d in have for e in (d - 1, d + 1) if 0 < e < deepest and e not in have]
        found = min((Reading(splits=tuple(sorted(s))) for s in moved), key=count.of, default=best)
        if count.of(found) >= count.of(best):
            return best
        best = found


def smallest(tree: Tree, base: sp.MatrixBase, field: Field, tries: int = TRIES) -> tuple[Reading, LFTData]:
    """The smallest stiffness among the pass alone and the readings that count as the best, and its reading."""
    sets = dict.fromkeys([Reading(), *likely_readings(tree, base)[:tries]])
    built = [(reading, stiffness(tree, base, field, reading)) for reading in sets]
    return min(built, key=lambda found: order(found[1]))


def _upper(tree: Tree) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """Depth of each moving joint, and the pairs above the diagonal."""
    found = paths(tree)
    depth = {name: len(path) for name, path in found.items()}
    return depth, [(a, b) for b, path in found.items() for a in path[:-1]]


def _boxes(tree: Tree) -> Iterator[Reading]:
    """No entry, then rows up to one depth with columns from a depth beyond it."""
    depth, upper = _upper(tree)
    yield Reading()
    levels = sorted(set(depth.values()))
    for x in levels[:-1]:
        for y in levels[x:]:
            yield Reading(frozenset((a, b) for a, b in upper if depth[a] <= x and depth[b] >= y))


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

    def of(self, reading: Reading) -> int:
        """Repetitions of the whole stiffness in one reading."""
        segments = _segments(self._tree, reading.splits)
        left_out = reading.taken | {pair for _, _, pairs in segments for pair in pairs}
        turned = frozenset((b, a) for a, b in reading.taken)
        far = sum(self._far(near, beyond) for near, beyond, _ in segments)
        return self.order(all_pairs(self._tree) - left_out) + self.order(turned) + far

    def _far(self, columns: frozenset[str], rows: frozenset[str]) -> int:
        """Repetitions of far pairs: gravity to each column, one vector outward, a wrench (two vectors) inward."""
        total = 0
        for t in self._steps:
            gravity = sum(b in columns for b in t.coming) if t.gravity else 0
            outward = bool(columns & t.swung)
            inward = 2 * bool(rows.intersection(t.passed))
            total += t.turns * (gravity + outward + inward) + t.slides * inward
        return total + sum(3 for passed, _ in self._masses if rows.intersection(passed))

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
