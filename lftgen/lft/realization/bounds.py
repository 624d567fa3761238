"""Lower bounds on the repetitions of each letter, valid for every realisation whatsoever."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lftgen.errors import ModelError
from lftgen.lft.realization.polynomial import Exponents, Terms, balance, check_terms, evaluate_terms, shape_of


class OrderBounds(NamedTuple):
    """Lower bound of each letter, and the ratio of dropped to kept singular values behind it (0: none)."""

    orders: tuple[int, ...]
    gaps: tuple[float, ...]

    @property
    def total(self) -> int:
        """Sum of the bounds: no realisation is smaller (and it cannot always be met)."""
        return sum(self.orders)


def order_bounds(
    terms: Terms, *, points: np.ndarray | None = None, tolerance: float = 1e-9, seed: int = 0
) -> OrderBounds:
    """Lower bound on the repetitions of each letter: McMillan degree with the other letters frozen.

    With ``P = C_0 + C_1 x + ... + C_d x^d`` at frozen values of the other letters, the degree in x is the
    rank of the block Hankel matrix ``[C_(i+j+1)]``, i, j = 0..d-1, with C_k = 0 beyond d.

    Parameters
    ----------
    terms : mapping of tuple of int to (p, m) array
        Exponents, one for each letter, to coefficient matrix.
    points : (N, n_letters) array, optional
        Where to freeze the other letters, for instance in a box. Default: four generic points, of the size at
        which all coefficients weigh alike. The largest rank over the points counts.
    tolerance : float
        A singular value below ``tolerance`` times the largest counts as zero.
    seed : int
        Seed of the generic points.

    Returns
    -------
    OrderBounds
        ``orders`` and ``gaps``, one for each letter.

    Raises
    ------
    ModelError
        ``terms`` or ``points`` are not valid.

    Examples
    --------
    >>> order_bounds({(2, 0): [[1.0]], (1, 1): [[3.0]]}).orders
    (2, 1)
    """
    checked = check_terms(terms)
    n = len(next(iter(checked)))
    scaling = balance(checked.items(), n)
    scaled = {key: scaling.apply(matrix, key) for key, matrix in checked.items()}
    frozen = _generic(n, seed) if points is None else _given(points, n) / scaling.letters
    pairs = [_degree(scaled, letter, frozen, tolerance) for letter in range(n)]
    return OrderBounds(tuple(rank for rank, _ in pairs), tuple(gap for _, gap in pairs))


def _generic(n: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.uniform(0.6, 1.4, (4, n)) * rng.choice([-1.0, 1.0], (4, n))


def _given(points: np.ndarray, n: int) -> np.ndarray:
    array = np.atleast_2d(np.asarray(points, dtype=float))
    if array.ndim != 2 or array.shape[1] != n or not np.isfinite(array).all():
        raise ModelError(
            f"order_bounds: points must be finite, (N, {n}) for {n} letters, got shape {array.shape}; "
            "give one column for each letter"
        )
    return array


def _degree(
    terms: dict[Exponents, np.ndarray], letter: int, frozen: np.ndarray, tolerance: float
) -> tuple[int, float]:
    """Largest rank over the points, and the clearest gap at that rank."""
    degree = max(key[letter] for key in terms)
    if degree == 0:
        return 0, 0.0
    p, m = shape_of(terms)
    markov = np.zeros((len(frozen), 2 * degree, p, m))
    for power in range(1, degree + 1):
        part = {(*k[:letter], 0, *k[letter + 1 :]): c for k, c in terms.items() if k[letter] == power}
        if part:
            markov[:, power] = evaluate_terms(part, frozen)
    index = np.arange(1, degree + 1)[:, None] + np.arange(degree)
    hankel = markov[:, index].transpose(0, 1, 3, 2, 4).reshape(len(frozen), degree * p, degree * m)
    values = np.linalg.svd(hankel, compute_uv=False)
    ranks = (values > tolerance * values[:, :1]).sum(axis=1)
    rank = int(ranks.max())
    best = values[ranks == rank]
    return rank, float((best[:, rank] / best[:, rank - 1]).min()) if 0 < rank < values.shape[1] else 0.0
