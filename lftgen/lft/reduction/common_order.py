"""Parameters that cannot all have one repetition, because no common order of them has ranks of one.

Let F be of degree one and without poles in ``w_k = d_k/(1 - a_k d_k)`` for each k of a set, a_k constant, all else frozen.
(With one repetition of d_k there is one of w_k, and the other way round.)  In a realisation with one repetition of each,
``det(I - A W)`` depends on no w_k, as F has no pole: it is one, and all principal minors of A vanish.  A chordless cycle
in the pattern of A would be such a minor, hence there is none, and A is triangular in some order of the parameters.  Then
F is a sum of words in that order, and the Hankel matrix of each w_k (left parts of the words by right parts) has rank one.
Where each order has a larger rank, at least one of the parameters has a second repetition.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from lftgen.lft.reduction.balancing import ScalarLFT
from lftgen.lft.structure import slices_of

CLEAR = 2e-3
"""A second singular value must be above this beside the first, or it counts as zero.

Large, since a cycle of n small entries d gives coefficients of size d, and a pole of size d^n alone."""
LARGEST_SET = 4
MOST_SETS = 250
_EXACT = 3e-13
_NO_POLE = 1e-9
_NOISE = 1e-9  # of coefficients beside the largest
_NEAR = 1e-3  # to a pole
_CHECKS = 4
_FROZEN = 0.7  # others are frozen within this part of their ranges
_STEPS = 0.45, -0.8
Coefficients = dict[frozenset[int], np.ndarray]


def without_common_order(s: ScalarLFT, single: Sequence[int]) -> list[tuple[int, ...]]:
    """Smallest sets of the blocks ``single`` (of bound one) that cannot all have one repetition.

    Parameters
    ----------
    s : ScalarLFT
        With ranges of unit size.
    single : sequence of int
    """
    rng = np.random.default_rng(9)
    middle, half = (s.high + s.low) / 2, (s.high - s.low) / 2
    frozen = middle + half * rng.uniform(-_FROZEN, _FROZEN, len(middle))
    try:
        s = _with_others_frozen(s, single, frozen)
    except np.linalg.LinAlgError:
        return []
    names, single, frozen = list(single), range(len(single)), frozen[list(single)]
    found: list[tuple[int, ...]] = []
    sets = itertools.chain.from_iterable(itertools.combinations(single, n) for n in range(2, LARGEST_SET + 1))
    for some in itertools.islice(sets, MOST_SETS):
        if any(set(known) <= set(some) for known in found):
            continue
        try:
            coefficients = _coefficients(s, some, frozen, rng)
        except np.linalg.LinAlgError:
            continue
        if coefficients and not any(
            _ranks_of_one(coefficients, order) for order in itertools.permutations(some)
        ):
            found.append(some)
    return [tuple(names[k] for k in some) for some in found]


def _with_others_frozen(s: ScalarLFT, kept: Sequence[int], values: np.ndarray) -> ScalarLFT:
    """The LFT of some blocks, the others closed at their values."""
    own = np.concatenate([np.arange(s.order)[s.groups[k]] for k in kept] or [np.zeros(0, dtype=int)])
    rest = np.setdiff1d(np.arange(s.order), own)
    delta = np.repeat(values, [g.stop - g.start for g in s.groups])[rest]
    M = np.block([[s.dd, s.dp], [s.pd, s.pp]])
    ports = np.arange(s.order, M.shape[1]), np.arange(s.order, M.shape[0])
    columns, rows = np.concatenate([own, ports[0]]), np.concatenate([own, ports[1]])
    inner = np.linalg.solve(np.eye(len(rest)) - M[np.ix_(rest, rest)] * delta, M[np.ix_(rest, columns)])
    closed = M[np.ix_(rows, columns)] + (M[np.ix_(rows, rest)] * delta) @ inner
    n = len(own)
    groups = tuple(slices_of(s.groups[k].stop - s.groups[k].start for k in kept))
    parts = closed[:n, :n], closed[:n, n:], closed[n:, :n], closed[n:, n:]
    return ScalarLFT(*parts, groups, s.low[list(kept)], s.high[list(kept)])


def _coefficients(
    s: ScalarLFT, some: tuple[int, ...], frozen: np.ndarray, rng: np.random.Generator
) -> Coefficients:
    """Coefficients of the products of the w_k; nothing where F is no polynomial of degree one in each."""
    poles = np.array([_pole(s, k, frozen) for k in some])
    signs = np.array(list(itertools.product((-1.0, 1.0), repeat=len(some))))
    more = rng.uniform(-1, 1, (_CHECKS, len(some)))
    here = np.tile(frozen, (len(signs) + len(more), 1))
    middle, half = (s.high + s.low) / 2, (s.high - s.low) / 2
    at = list(some)
    here[:, at] = middle[at] + half[at] * 0.9 * np.vstack([signs, more])
    values = s.change(here) + s.pp
    bottom = 1 - poles * here[:, at]
    if np.min(np.abs(bottom)) < _NEAR:
        return {}
    w = here[:, at] / bottom
    w = w / np.max(np.abs(w), axis=0)
    subsets = [frozenset(c) for n in range(len(some) + 1) for c in itertools.combinations(some, n)]
    basis = np.stack(
        [np.prod([w[:, i] for i, k in enumerate(some) if k in t], axis=0) * np.ones(len(w)) for t in subsets],
        axis=1,
    )
    flat = values.reshape(len(values), -1)
    solved = np.linalg.lstsq(basis, flat, rcond=None)[0]
    if np.max(np.abs(basis @ solved - flat)) > _EXACT * np.max(np.abs(flat)):
        return {}
    return {t: c.reshape(values.shape[1:]) for t, c in zip(subsets, solved, strict=True)}


def _pole(s: ScalarLFT, k: int, frozen: np.ndarray) -> float:
    """The a of ``F = F_0 + G d/(1 - a d)`` in one parameter, from two of its values: ``h = (F - F_0)/d = G/(1 - a d)``."""
    points = np.tile(frozen, (3, 1))
    points[:, k] = 0, *_STEPS
    values = s.change(points)
    h1, h2 = ((values[i + 1] - values[0]) / step for i, step in enumerate(_STEPS))
    difference, weighted = h1 - h2, _STEPS[0] * h1 - _STEPS[1] * h2
    size = float(np.sum(weighted**2))
    pole = float(np.sum(difference * weighted)) / size if size > 0 else 0.0
    return pole if abs(pole) > _NO_POLE else 0.0


def _ranks_of_one(coefficients: Coefficients, order: tuple[int, ...]) -> bool:
    """Whether the Hankel matrix of every parameter may have rank one in this order."""
    sizes = {t: float(np.max(np.abs(c))) for t, c in coefficients.items()}
    floor = max(CLEAR * max(v for t, v in sizes.items() if t) / 10, _NOISE * max(sizes.values()))
    for place, k in enumerate(order):
        before, after = _subsets(order[:place]), _subsets(order[place + 1 :])
        hankel = np.block([[coefficients[left | {k} | right] for right in after] for left in before])
        values = np.linalg.svd(hankel, compute_uv=False)
        if len(values) > 1 and values[1] > max(CLEAR * values[0], floor):
            return False
    return True


def _subsets(some: Sequence[int]) -> list[frozenset[int]]:
    return [frozenset(c) for n in range(len(some) + 1) for c in itertools.combinations(some, n)]
