"""The polynomial that a search works on: scaled, without dependent rows and columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lftgen.lft.realization.polynomial import (
    Exponents,
    Pairs,
    Word,
    balance,
    exponents_of,
    independent_rows,
    simple_fraction,
)

_DEPENDENT = 1e-12  # relative: rows closer than this to a combination of others are dependent


@dataclass(frozen=True, eq=False)
class Core:
    """Scaled polynomial without dependent rows and columns: given = unscale(left @ core @ right).

    ``expand`` takes words of the core to words of the given matrix, ``restrict`` the other way
    (and drops what looks like rounding).
    """

    terms: dict[Exponents, np.ndarray]
    n_letters: int
    expand: Callable[[dict[Word, np.ndarray]], dict[Word, np.ndarray]]
    restrict: Callable[[dict[Word, np.ndarray]], dict[Word, np.ndarray]]

    @staticmethod
    def of(terms: dict[Exponents, np.ndarray], pairs: Pairs = ()) -> Core:
        """Scale and compress."""
        n = len(next(iter(terms)))
        scaling = balance(terms.items(), n, [x for pair in pairs for x in pair])
        stack = np.stack([scaling.apply(matrix, key) for key, matrix in terms.items()])
        rows, left = _dependence(np.hstack(list(stack)))
        columns, right = _dependence(np.hstack(list(stack.transpose(0, 2, 1))))
        core = {key: matrix[np.ix_(rows, columns)] for key, matrix in zip(terms, stack, strict=True)}

        def expand(words: dict[Word, np.ndarray]) -> dict[Word, np.ndarray]:
            if not words:
                return {(): np.zeros((len(left), len(right)))}
            return {w: scaling.undo(_product(left, f, right.T), exponents_of(w, n)) for w, f in words.items()}

        def restrict(words: dict[Word, np.ndarray]) -> dict[Word, np.ndarray]:
            scaled = {w: scaling.apply(f, exponents_of(w, n)) for w, f in words.items()}
            cut = {w: f[np.ix_(rows, columns)] for w, f in scaled.items()}
            return {w: np.where(np.abs(f) < 1e-13 * np.abs(f).max(), 0.0, f) for w, f in cut.items()}

        return Core(core, n, expand, restrict)


def _product(left: np.ndarray, middle: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Product with rounding errors in place of zeros removed: they would count as coefficients."""
    product = left @ middle @ right
    size = np.abs(left) @ np.abs(middle) @ np.abs(right)
    return np.where(np.abs(product) < 1e-14 * size, 0.0, product)


def _dependence(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Independent rows and T with ``matrix = T @ matrix[rows]``; all rows where that is not sharp."""
    rows = independent_rows(matrix, _DEPENDENT)
    if len(rows) in (0, len(matrix)):
        return np.arange(len(matrix)), np.eye(len(matrix))
    combination = np.linalg.lstsq(matrix[rows].T, matrix.T, rcond=None)[0].T
    simple = np.vectorize(simple_fraction, otypes=[float])(combination)
    combination = np.where(np.abs(simple - combination) < _DEPENDENT, simple, combination)
    combination[rows] = np.eye(len(rows))
    if np.abs(combination @ matrix[rows] - matrix).max() > _DEPENDENT * np.abs(matrix).max():
        return np.arange(len(matrix)), np.eye(len(matrix))
    return rows, combination
