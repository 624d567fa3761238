"""Polynomial matrices as mappings from exponents, or from words, to coefficient matrices.

A *word* is a tuple of letters (ints), the leftmost nearest to the output rows: the non-commutative monomial
``x_a x_b x_c`` is ``(a, b, c)``. Its commutative image is the tuple of exponents, one for each letter.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from lftgen.errors import ModelError

Word = tuple[int, ...]
Exponents = tuple[int, ...]
Terms = Mapping[Exponents, np.ndarray]
Words = Mapping[Word, np.ndarray]
Pairs = Sequence[tuple[int, int]]
"""Letters that are cosine and sine of one angle: they are realised together."""

_LARGEST_SHIFT = 300.0  # scales stay within 2^+-300: far from overflow even when three of them meet
_REWEIGHTINGS = 8
_LARGEST_DENOMINATOR = 100


def _check_matrices(
    mapping: Mapping[tuple[int, ...], np.ndarray], what: str
) -> dict[tuple[int, ...], np.ndarray]:
    """Check keys and values; return float matrices of one shape, zero ones included."""
    if not isinstance(mapping, Mapping) or not mapping:
        raise ModelError(
            f"{what}: expected a non-empty mapping from tuples of ints to 2-D arrays, got "
            f"{'an empty one' if isinstance(mapping, Mapping) else type(mapping).__name__}; a zero matrix is "
            "one zero coefficient matrix"
        )
    checked: dict[tuple[int, ...], np.ndarray] = {}
    for key, value in mapping.items():
        if not isinstance(key, tuple) or any(not isinstance(k, int | np.integer) or k < 0 for k in key):
            raise ModelError(
                f"{what}: expected keys that are tuples of non-negative ints, got {key!r}; a rational matrix "
                "has to be brought to polynomial form first"
            )
        if np.iscomplexobj(value):
            raise ModelError(f"{what}: the matrix of {key} is complex; split it into its real parts")
        matrix = np.array(value, dtype=float)
        if matrix.ndim != 2 or matrix.size == 0 or not np.isfinite(matrix).all():
            raise ModelError(
                f"{what}: the matrix of {key} must be 2-D, not empty and finite, got shape {matrix.shape}; "
                "look for NaN, infinity or a flat list"
            )
        checked[tuple(int(k) for k in key)] = matrix
    shapes = {matrix.shape for matrix in checked.values()}
    if len(shapes) > 1:
        raise ModelError(f"{what}: all matrices must have one shape, got {sorted(shapes)}; pad with zeros")
    return checked


def _without_zeros(checked: dict[tuple[int, ...], np.ndarray], constant: tuple[int, ...]) -> dict:
    """Drop zero matrices; keep the constant term so that the shape is never lost."""
    kept = {key: matrix for key, matrix in checked.items() if matrix.any()}
    return kept or {constant: np.zeros(next(iter(checked.values())).shape)}


def check_terms(terms: Terms) -> dict[Exponents, np.ndarray]:
    """Validate ``terms`` (exponents -> p x m matrix); return float copies without zero matrices.

    Raises
    ------
    ModelError
        Wrong keys (negative, of different lengths), or matrices that are not real, finite and of one shape.
    """
    checked = _check_matrices(terms, "terms")
    lengths = {len(key) for key in checked}
    if len(lengths) > 1:
        raise ModelError(
            f"terms: every key needs one exponent for each letter, got keys of lengths {sorted(lengths)}; "
            "fill up with zeros"
        )
    return _without_zeros(checked, (0,) * lengths.pop())


def check_words(words: Words) -> dict[Word, np.ndarray]:
    """Validate ``words`` (word -> p x m matrix); return float copies without zero matrices."""
    return _without_zeros(_check_matrices(words, "words"), ())


def shape_of(mapping: Mapping[tuple[int, ...], np.ndarray]) -> tuple[int, int]:
    """Shape (p, m) of the coefficient matrices of a checked mapping."""
    p, m = next(iter(mapping.values())).shape
    return p, m


def exponents_of(word: Word, n_letters: int) -> Exponents:
    """Commutative image of a word."""
    return tuple(word.count(letter) for letter in range(n_letters))


def commute(words: Words, n_letters: int) -> dict[Exponents, np.ndarray]:
    """Let the letters commute: add up the words of equal exponents."""
    terms: dict[Exponents, np.ndarray] = {}
    for word, matrix in words.items():
        key = exponents_of(word, n_letters)
        terms[key] = terms[key] + matrix if key in terms else matrix
    return terms


def evaluate_terms(terms: Terms, points: np.ndarray) -> np.ndarray:
    """Values (N, p, m) of the polynomial matrix at ``points`` (N, n_letters), term by term.

    Examples
    --------
    >>> import numpy as np
    >>> evaluate_terms({(2, 1): np.array([[3.0]])}, np.array([[2.0, 5.0]])).tolist()
    [[[60.0]]]
    """
    exponents = np.array(list(terms), dtype=float).reshape(len(terms), -1)
    monomials = np.prod(points[:, None, :] ** exponents[None], axis=2)
    return np.einsum("nt,tpm->npm", monomials, np.stack(list(terms.values())))


@dataclass(frozen=True)
class Scaling:
    """Powers of two: ``scaled(e) = coefficient * prod(letters**e) * rows[:, None] * columns``.

    With ``x = letters * y`` the scaled polynomial in y is ``diag(rows) P(x) diag(columns)``; powers of two
    make both directions free of rounding.
    """

    letters: np.ndarray
    rows: np.ndarray
    columns: np.ndarray

    def apply(self, matrix: np.ndarray, exponents: Sequence[int]) -> np.ndarray:
        """Scale the coefficient matrix of one monomial."""
        return matrix * self._monomial(exponents) * self.rows[:, None] * self.columns

    def undo(self, matrix: np.ndarray, exponents: Sequence[int]) -> np.ndarray:
        """Return from the scaled coefficient matrix to the given one."""
        return matrix / self._monomial(exponents) / self.rows[:, None] / self.columns

    def _monomial(self, exponents: Sequence[int]) -> float:
        return float(np.prod(self.letters ** np.array(exponents)))


def balance(
    pairs: Iterable[tuple[Exponents, np.ndarray]], n_letters: int, unscaled: Sequence[int] = ()
) -> Scaling:
    """Scales of letters, rows and columns that bring all non-zero coefficients near one.

    Least absolute sum (reweighted least squares of minimum norm) of ``log2|c| + e . letters + row + column``,
    so that a few rounding errors among the coefficients do not weigh; rounded to powers of two. The letters
    ``unscaled`` keep the scale one.
    """
    rows, targets = [], []
    p = m = 0
    for exponents, matrix in pairs:
        p, m = matrix.shape
        for i, j in np.argwhere(matrix):
            line = np.zeros(n_letters + p + m)
            line[:n_letters] = exponents
            line[list(unscaled)] = 0.0
            line[n_letters + i] = line[n_letters + p + j] = 1.0
            rows.append(line)
            targets.append(-np.log2(abs(matrix[i, j])))
    if not rows:
        return Scaling(np.ones(n_letters), np.ones(p), np.ones(m))
    matrix, target, weights = np.array(rows), np.array(targets), np.ones(len(rows))
    for _ in range(_REWEIGHTINGS):
        shifts = np.linalg.lstsq(matrix * weights[:, None], target * weights, rcond=None)[0]
        weights = 1.0 / np.sqrt(np.maximum(np.abs(matrix @ shifts - target), 1.0))
    scales = np.exp2(np.clip(np.round(shifts), -_LARGEST_SHIFT, _LARGEST_SHIFT))
    return Scaling(scales[:n_letters], scales[n_letters : n_letters + p], scales[n_letters + p :])


def simple_fraction(value: float) -> float:
    """The nearest fraction with a denominator up to 100."""
    return float(Fraction(value).limit_denominator(_LARGEST_DENOMINATOR))


def independent_rows(matrix: np.ndarray, tolerance: float) -> np.ndarray:
    """Indices of rows that span the row space, sparse rows first (greedy Gram-Schmidt)."""
    order = sorted(range(len(matrix)), key=lambda i: (np.count_nonzero(matrix[i]), i))
    basis = np.zeros((0, matrix.shape[1]))
    chosen = []
    for i in order:
        row = matrix[i] / max(float(np.linalg.norm(matrix[i])), np.finfo(float).tiny)
        rest = row - basis.T @ (basis @ row)
        rest = rest - basis.T @ (basis @ rest)
        if np.linalg.norm(rest) > tolerance:
            chosen.append(i)
            basis = np.vstack([basis, rest / np.linalg.norm(rest)])
    return np.array(sorted(chosen), dtype=int)
