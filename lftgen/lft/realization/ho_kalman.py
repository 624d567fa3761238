"""Ho-Kalman realisation of a polynomial in letters that do not commute.

With f(w) the p x m matrix of the word w, letter x has the Hankel matrix ``H_x = [f(a x b)]`` over all left
words a and right words b. A factorisation ``H_x = O_x C_x`` of full rank r_x gives

    A_xy = O_x^+ [f(a x y b)] C_y^+    B_x = O_x^+ [f(a x)]    C_x = [f(x b)] C_x^+    D = f(empty word)

and no realisation of the same non-commutative polynomial has fewer than r_x channels of letter x.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from lftgen.errors import ReductionError
from lftgen.lft.realization.polynomial import (
    Pairs,
    Scaling,
    Word,
    Words,
    balance,
    check_words,
    commute,
    evaluate_terms,
    exponents_of,
    shape_of,
)
from lftgen.lft.realization.result import Realization

Support = tuple[np.ndarray, np.ndarray, np.ndarray]  # non-zero rows, non-zero columns, the matrix there


@dataclass(frozen=True)
class _Factor:
    """Pseudo-inverses of the two factors of one Hankel matrix, and where each word's rows and columns are."""

    rows: dict[tuple[Word, int], int]
    columns: dict[tuple[Word, int], int]
    left: np.ndarray  # (r, rows): O^+
    right: np.ndarray  # (columns, r): C^+
    gap: float


def _supports(words: Words) -> dict[Word, Support]:
    """Cut every coefficient matrix down to its non-zero rows and columns."""
    supports = {}
    for word, matrix in words.items():
        rows, columns = np.flatnonzero(matrix.any(axis=1)), np.flatnonzero(matrix.any(axis=0))
        supports[word] = (rows, columns, matrix[np.ix_(rows, columns)])
    return supports


def _hankel(
    supports: dict[Word, Support], letter: int, sine: int | None = None
) -> tuple[dict[tuple[Word, int], int], dict[tuple[Word, int], int], np.ndarray]:
    """Hankel matrix of one letter, without its zero rows and columns; of ``cosine - i sine`` for a pair."""
    rows: dict[tuple[Word, int], int] = {}
    columns: dict[tuple[Word, int], int] = {}
    blocks = []
    for word, (outputs, inputs, matrix) in supports.items():
        for q, x in enumerate(word):
            if x not in (letter, sine):
                continue
            at = [rows.setdefault((word[:q], int(i)), len(rows)) for i in outputs]
            to = [columns.setdefault((word[q + 1 :], int(j)), len(columns)) for j in inputs]
            blocks.append((at, to, matrix if x == letter else -1j * matrix))
    hankel = np.zeros((len(rows), len(columns)), dtype=float if sine is None else complex)
    for at, to, matrix in blocks:
        hankel[np.ix_(at, to)] += matrix
    return rows, columns, hankel


def _rank(values: np.ndarray, tolerance: float) -> tuple[int, float]:
    """Rank by a relative tolerance on descending singular values, and dropped over kept at the cut."""
    rank = int((values > tolerance * values[0]).sum()) if len(values) else 0
    return rank, float(values[rank] / values[rank - 1]) if 0 < rank < len(values) else 0.0


def _factor(supports: dict[Word, Support], letter: int, tolerance: float) -> _Factor:
    """Balanced full-rank factorisation of one letter's Hankel matrix."""
    rows, columns, hankel = _hankel(supports, letter)
    u, values, vt = np.linalg.svd(hankel, full_matrices=False)
    rank, gap = _rank(values, tolerance)
    root = np.sqrt(values[:rank])
    return _Factor(rows, columns, (u[:, :rank] / root).T, vt[:rank].T / root, gap)


def _scaled(words: dict[Word, np.ndarray], pairs: Pairs = ()) -> tuple[dict[Word, np.ndarray], Scaling]:
    """Words with coefficients near one, and the scales that return."""
    n = max((max(word) for word in words if word), default=-1) + 1
    together = [x for pair in pairs for x in pair if x < n]
    scaling = balance(((exponents_of(w, n), f) for w, f in words.items()), n, together)
    return {w: scaling.apply(f, exponents_of(w, n)) for w, f in words.items()}, scaling


def _letters(words: Iterable[Word]) -> list[int]:
    return sorted({letter for word in words for letter in word})


def hankel_orders(words: Words, *, tolerance: float = 1e-10, pairs: Pairs = ()) -> dict[int, int]:
    """Rank of each letter's Hankel matrix: the repetitions that `ho_kalman` would give.

    Parameters
    ----------
    words : mapping of tuple of int to (p, m) array
        Word, leftmost letter nearest to the output rows, to its coefficient matrix.
    tolerance : float
        A singular value below ``tolerance`` times the largest counts as zero. Coefficients are scaled near
        one first, so that 1e-10 lies well between their spread and rounding.
    pairs : sequence of (int, int)
        Letters that are cosine and sine of one angle. With ``z = c + i s`` either is a sum of z and its
        conjugate; the angle needs twice the rank of ``H_c - i H_s``, told at the cosine, with 0 at the sine.

    Examples
    --------
    >>> hankel_orders({(0, 1): [[1.0]], (1, 0): [[1.0]]})
    {0: 2, 1: 2}
    """
    supports = _supports(_scaled(check_words(words), pairs)[0])
    letters, sines = _letters(supports), {s for _, s in pairs}

    def rank(letter: int, sine: int | None = None) -> int:
        return _rank(np.linalg.svd(_hankel(supports, letter, sine)[2], compute_uv=False), tolerance)[0]

    ranks = {x: 0 if x in sines else rank(x) for x in letters}
    return ranks | {c: 2 * rank(c, s) for c, s in pairs if c in letters or s in letters}


def _assemble(
    supports: dict[Word, Support],
    factors: dict[int, _Factor],
    starts: dict[int, int],
    n: int,
    shape: tuple[int, int],
) -> np.ndarray:
    """M = [M11 M12; M21 M22]: a sum over adjacent symbols of each word, its two ends being symbols too."""
    p, m = shape
    whole = np.zeros((n + p, n + m))
    for word, (outputs, inputs, matrix) in supports.items():
        for q in range(len(word) + 1):
            if q == 0:
                rows, left = n + outputs, np.eye(len(outputs))
            else:
                factor = factors[word[q - 1]]
                left = factor.left[:, [factor.rows[word[: q - 1], int(i)] for i in outputs]]
                rows = starts[word[q - 1]] + np.arange(len(left))
            if q == len(word):
                columns, right = n + inputs, np.eye(len(inputs))
            else:
                factor = factors[word[q]]
                right = factor.right[[factor.columns[word[q + 1 :], int(j)] for j in inputs]]
                columns = starts[word[q]] + np.arange(right.shape[1])
            whole[np.ix_(rows, columns)] += left @ matrix @ right
    return whole


def ho_kalman(
    words: Words, *, tolerance: float = 1e-10, check_tolerance: float = 1e-9, seed: int = 0
) -> Realization:
    """Minimal realisation of a non-commutative polynomial matrix.

    ``sum_w f(w) x_w = M22 + M21 D (I - M11 D)^-1 M12`` with the letters not commuting, so for numbers too.

    Parameters
    ----------
    words : mapping of tuple of int to (p, m) array
        Word, leftmost letter nearest to the output rows, to its coefficient matrix f(w).
    tolerance : float
        Relative tolerance of the rank decisions, see `hankel_orders`; the result's ``gap`` tells how clear
        they were.
    check_tolerance : float
        Largest accepted error of an entry at random points, relative to its sum of absolute coefficients in
        scaled letters, rows and columns (at least a thousandth of the largest such sum).
    seed : int
        Seed of those points.

    Returns
    -------
    Realization
        With as many channels of each letter as the rank of its Hankel matrix.

    Raises
    ------
    ModelError
        The words are not valid.
    ReductionError
        The realisation does not reproduce the polynomial: the tolerance was too large.

    References
    ----------
    J. A. Ball, G. Groenewald, T. Malakorn, *Structured noncommutative multidimensional linear systems*,
    SIAM J. Control Optim. 44 (2005); for one letter, B. L. Ho and R. E. Kalman (1966).

    Examples
    --------
    >>> ho_kalman({(0, 1): [[1.0]], (0, 2): [[1.0]]}).letters
    (0, 1, 2)
    """
    scaled, scaling = _scaled(check_words(words))
    supports = _supports(scaled)
    factors = {letter: _factor(supports, letter, tolerance) for letter in _letters(scaled)}
    letters = tuple(x for x, factor in factors.items() for _ in range(len(factor.left)))
    starts = {x: letters.index(x) for x in factors}
    n, gap = len(letters), max((factor.gap for factor in factors.values()), default=0.0)
    whole = _assemble(supports, factors, starts, n, shape_of(scaled))
    _verify(_split(whole, letters, gap), scaled, check_tolerance, seed)
    root = np.sqrt(scaling.letters[list(letters)])
    whole = whole / np.concatenate([root, scaling.rows])[:, None] / np.concatenate([root, scaling.columns])
    return _split(whole, letters, gap)


def _split(whole: np.ndarray, letters: tuple[int, ...], gap: float) -> Realization:
    n = len(letters)
    return Realization(whole[:n, :n], whole[:n, n:], whole[n:, :n], whole[n:, n:], letters, gap)


def _verify(realization: Realization, scaled: dict[Word, np.ndarray], tolerance: float, seed: int) -> None:
    """Compare with the sum over words at random points of the scaled letters."""
    n = max((max(word) for word in scaled if word), default=-1) + 1
    rng = np.random.default_rng(seed)
    points = rng.uniform(0.5, 1.0, (8, n)) * rng.choice([-1.0, 1.0], (8, n))
    terms = commute(scaled, n)
    size = np.abs(np.stack(list(scaled.values()))).sum(axis=0)
    size = np.maximum(size, max(1e-3 * size.max(), 1e-300))
    error = (np.abs(realization.evaluate(points) - evaluate_terms(terms, points)) / size).max()
    if not error <= tolerance:
        raise ReductionError(
            f"ho_kalman: the realisation of order {realization.order} should equal the polynomial to "
            f"{tolerance:.1e} (relative), got {error:.1e} at random points (rank gap {realization.gap:.1e}); "
            "give a smaller tolerance"
        )
