"""From words in parameters and z's to the LFT with one channel for each unit of Hankel rank (non-commutative Ho-Kalman).

With complex Hankel matrices ``H_x = O_x C_x`` of full rank (see :mod:`lftgen.lft.realization.ho_kalman`); z and its conjugate
have conjugate factors, so that

    y = (a, conj(a)) -> sqrt(2) (Re a, Im a),    diag(z I, conj(z) I) -> [[cos, -sin], [sin, cos]] kron I

makes everything real, and the rotation matrix of the angle, in whatever chart, takes the place of z.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lftgen.lft.algebra import block_diag, select, wire
from lftgen.lft.connect import unnamed
from lftgen.lft.data import LFTData, default_names
from lftgen.lft.reduction.kalman import reduce
from lftgen.mechanics.commuting.letters import Letter
from lftgen.mechanics.commuting.turn_words import Word, conjugate_word

TOLERANCE = 1e-9
"""Singular values of a Hankel matrix below this, relative to the largest, count as zero."""

Words = Mapping[Word, np.ndarray]


@dataclass(frozen=True)
class _Factor:
    """Pseudo-inverses of the factors of one Hankel matrix, by the words that label its rows and columns."""

    left: dict[Word, np.ndarray]  # word -> (rank, outputs)
    right: dict[Word, np.ndarray]  # word -> (inputs, rank)

    @property
    def rank(self) -> int:
        return next(iter(self.left.values())).shape[0]


def realize_turn_words(words: Words, letters: tuple[Letter, ...]) -> LFTData:
    """The LFT of ``sum of f(w) w`` with unnamed signals."""
    turns = frozenset(k for k, x in enumerate(letters) if x.is_turn)
    factors: dict[int, _Factor] = {}
    for k in range(len(letters)):
        if any(2 * k in w for w in words):
            factor = _factor(words, 2 * k, turns)
            factors[2 * k] = factor
            if k in turns:
                factors[2 * k + 1] = _conjugate(factor, turns)
    N, ranks = _assembled(words, factors)
    N = _real(N, ranks, turns)
    return _closed(N, ranks, letters)


def _factor(words: Words, letter: int, turns: frozenset[int]) -> _Factor:
    """Balanced factorisation of a Hankel matrix; a real one for letters without conjugate."""
    rows: dict[Word, int] = {}
    columns: dict[Word, int] = {}
    parts = []
    for word, f in words.items():
        for q, x in enumerate(word):
            if x == letter:
                i, j = (t.setdefault(w, len(t)) for t, w in ((rows, word[:q]), (columns, word[q + 1 :])))
                parts.append((i, j, f))
    p, m = parts[0][2].shape
    hankel = np.zeros((len(rows), p, len(columns), m), dtype=complex)
    for i, j, f in parts:
        hankel[i, :, j, :] += f
    H = hankel.reshape(len(rows) * p, len(columns) * m)
    if letter // 2 in turns:
        o, c = _pseudo_inverses(H)
    else:
        a, b = np.kron(_pairing(rows, turns), np.eye(p)), np.kron(_pairing(columns, turns), np.eye(m))
        o, c = _pseudo_inverses(np.real(a @ H @ b.T))
        o, c = o @ a, b.T @ c
    left, right = o.reshape(len(o), len(rows), p), c.reshape(len(columns), m, -1)
    return _Factor({w: left[:, i] for w, i in rows.items()}, {w: right[i] for w, i in columns.items()})


def _pseudo_inverses(H: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    u, s, vh = np.linalg.svd(H, full_matrices=False)
    rank = int((s > TOLERANCE * s[0]).sum())
    root = np.sqrt(s[:rank])
    return (u[:, :rank] / root).conj().T, vh[:rank].conj().T / root


def _pairing(labels: Mapping[Word, int], turns: frozenset[int]) -> np.ndarray:
    """Unitary matrix that makes real what is conjugate on conjugate labels."""
    T, done, row = np.zeros((len(labels),) * 2, dtype=complex), set(), 0
    for word, i in labels.items():
        mirror = conjugate_word(word, turns)
        if word in done:
            continue
        done |= {word, mirror}
        j = labels[mirror]
        if i == j:
            T[row, i] = 1
        else:
            T[row, [i, j]] = 0.5**0.5
            T[row + 1, [i, j]] = -1j * 0.5**0.5, 1j * 0.5**0.5
        row += 1 + (i != j)
    return T


def _conjugate(factor: _Factor, turns: frozenset[int]) -> _Factor:
    left, right = (
        {conjugate_word(w, turns): v.conj() for w, v in side.items()} for side in (factor.left, factor.right)
    )
    return _Factor(left, right)


def _assembled(words: Words, factors: Mapping[int, _Factor]) -> tuple[np.ndarray, dict[int, int]]:
    """[A B; C D] around the letters: a sum over adjacent symbols of each word, its two ends being symbols too."""
    p, m = next(iter(words.values())).shape
    ranks = {x: f.rank for x, f in sorted(factors.items())}
    start = dict(zip(ranks, np.cumsum([0, *ranks.values()]), strict=False))
    n = sum(ranks.values())
    N = np.zeros((n + p, n + m), dtype=complex)
    for word, f in words.items():
        for q in range(len(word) + 1):
            rows, left, columns, right = slice(n, n + p), None, slice(n, n + m), None
            if q:
                x = word[q - 1]
                rows, left = slice(start[x], start[x] + ranks[x]), factors[x].left[word[: q - 1]]
            if q < len(word):
                x = word[q]
                columns, right = slice(start[x], start[x] + ranks[x]), factors[x].right[word[q + 1 :]]
            value = f if left is None else left @ f
            N[rows, columns] += value if right is None else value @ right
    return N, ranks


def _real(N: np.ndarray, ranks: Mapping[int, int], turns: frozenset[int]) -> np.ndarray:
    """Conjugate pairs of channels as real and imaginary parts."""
    n = sum(ranks.values())
    T, at = np.zeros((n, n), dtype=complex), 0
    for x, r in ranks.items():
        if x // 2 not in turns:
            T[at : at + r, at : at + r] = np.eye(r)
            at += r
        elif x % 2 == 0:
            one = np.eye(r) * 0.5**0.5
            T[at : at + 2 * r, at : at + 2 * r] = np.block([[one, one], [-1j * one, 1j * one]])
            at += 2 * r
    N = N.copy()
    N[:n] = T @ N[:n]
    N[:, :n] = N[:, :n] @ T.conj().T
    return np.ascontiguousarray(N.real)


def _closed(N: np.ndarray, ranks: Mapping[int, int], letters: tuple[Letter, ...]) -> LFTData:
    """The letters' LFTs in the loop around N."""
    parts, places, at = [], [], 0
    for x, r in ranks.items():
        if x % 2:
            continue
        letter = letters[x // 2]
        width = 2 if letter.is_turn else 1
        parts += [unnamed(letter.value)] * r
        places += [at + i + k * r for i in range(r) for k in range(width)]
        at += width * r
    order = [int(i) for i in np.argsort(places)]
    loop = unnamed(select(block_diag(parts), order, order))
    p, m = N.shape[0] - at, N.shape[1] - at
    names = default_names("u", m), default_names("y", p)
    return reduce(wire(loop, N[:at, :at], N[:at, at:], N[at:, :at], N[at:, at:], *names))
