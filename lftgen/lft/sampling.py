"""Points in the box of a model's parameters: uniform, corners, low-discrepancy sequences."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from lftgen.arguments import whole_number
from lftgen.errors import ModelError
from lftgen.parameters import Parameter

METHODS = ("uniform", "sobol", "latin", "corners")
MAX_BITS = 62
"""Corners of more parameters than this are drawn one by one and may repeat (they hardly do)."""


def sample_points(
    parameters: Sequence[Parameter], n: int, *, method: str = "uniform", seed: int = 0
) -> dict[str, np.ndarray]:
    """Points in the box, in what the user speaks (angles, masses), by parameter name.

    Parameters
    ----------
    n : int
        Number of points; for ``"corners"`` the most there can be.
    method : {"uniform", "sobol", "latin", "corners"}
        Independent and uniform; a scrambled Sobol sequence (evenest where n is a power of 2); a Latin hypercube; or
        corners of the box: all of them in lexicographic order where there are no more than n, else n of them at random.
    seed : int

    Returns
    -------
    dict of str to array (points,)

    Raises
    ------
    ModelError
        Unknown method, n or seed no whole number.

    Examples
    --------
    >>> import lftgen as lg
    >>> m, k = lg.uncertain("m", 2.0, percent=10), lg.uncertain("k", 5.0, bounds=(4, 8))
    >>> points = sample_points([m, k], 10, method="corners")
    >>> points["m"].tolist(), points["k"].tolist()
    ([1.8, 1.8, 2.2, 2.2], [4.0, 8.0, 4.0, 8.0])
    """
    n, seed = whole_number(n, "sample: n", minimum=1), whole_number(seed, "sample: seed")
    if method not in METHODS:
        raise ModelError(f"sample: method must be one of {', '.join(METHODS)}, got {method!r}")
    if not parameters:
        return {}
    low, high = (np.array([getattr(p, end) for p in parameters]) for end in ("lower", "upper"))
    unit = _unit_points(len(parameters), n, method, seed)
    table = np.where(
        unit >= 1.0, high, low + (high - low) * unit
    )  # a corner is the bound itself, not its rounding
    return {p.name: table[:, i] for i, p in enumerate(parameters)}


def _unit_points(k: int, n: int, method: str, seed: int) -> np.ndarray:
    """Points in the unit cube (n, k)."""
    if method == "uniform":
        return np.random.default_rng(seed).uniform(size=(n, k))
    if method == "corners":
        return _corners(k, n, seed)
    from scipy.stats import qmc  # a quarter of a second to import

    if method == "latin":
        return np.asarray(qmc.LatinHypercube(k, rng=seed).random(n))
    return np.asarray(qmc.Sobol(k, rng=seed).random_base2((n - 1).bit_length())[:n])


def _corners(k: int, n: int, seed: int) -> np.ndarray:
    if k <= MAX_BITS and 2**k <= n:
        return np.array(list(itertools.product((0.0, 1.0), repeat=k)))
    rng = np.random.default_rng(seed)
    if k > MAX_BITS:
        return rng.integers(0, 2, size=(n, k)).astype(float)
    chosen: dict[int, None] = {}
    while len(chosen) < n:
        chosen.update(dict.fromkeys(rng.integers(0, 2**k, size=n).tolist()))
    codes = np.array(list(chosen)[:n], dtype=np.int64)
    return ((codes[:, None] >> np.arange(k - 1, -1, -1)) & 1).astype(float)
