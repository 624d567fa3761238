"""Shares of a coefficient between two words at which a Hankel rank drops."""

from __future__ import annotations

import numpy as np

from lftgen.lft.realization.polynomial import simple_fraction
from lftgen.lft.realization.sketch import Sketch

LARGEST_SHARE = 50.0  # larger ones would cost accuracy
_LARGEST_COUNT = 8
_REAL = 1e-6  # relative: accuracy asked of an eigenvalue, real and the same in two minors
_SIMPLE = 1e-8  # a share so close to a fraction with a small denominator is that fraction


def candidate_shares(sketch: Sketch, blocks: np.ndarray, change: np.ndarray, generic: float) -> list[float]:
    """Shares t at which ``blocks + t * change`` has less than its generic rank, for at least one letter.

    With A the sketch at a generic share g, of rank r, and A_r, E_r leading minors of size r of A and of the
    change: ``det(A_r + (t - g) E_r) = 0`` where ``t = g - 1 / mu``, mu an eigenvalue of ``A_r^-1 E_r``. The
    sketches are random mixtures on both sides, so the rank of the whole drops where every minor is singular;
    a second minor tells these from the accidents of the first.

    Parameters
    ----------
    sketch : Sketch
    blocks : (k, s, s) array
        Sketches of the letters concerned at share 0.
    change : (k, s, s) array
        Their change as share 1 goes from one word to another.
    generic : float
        The share g.

    Returns
    -------
    list of float
        Real, not zero, at most eight; simple fractions where they are close.
    """
    at = blocks + generic * change
    found: dict[float, float] = {}
    for whole, part, rank in zip(at, change, sketch.counts(at), strict=True):
        if not 0 < rank < sketch.size:
            continue
        first, second = (_pencil(whole, part, cut) for cut in (slice(None, rank), slice(-rank, None)))
        for value in first[np.abs(first) > _REAL]:
            near = np.abs(second - value).min(initial=np.inf) < _REAL * abs(value)
            if near and abs(value.imag) < _REAL * abs(value):
                share = _simple(float(generic - 1.0 / value.real))
                found.setdefault(round(share, 9), share)
    shares = [share for share in found.values() if 1e-9 < abs(share) < LARGEST_SHARE]
    return sorted(shares, key=lambda share: (abs(share - 0.5), share))[:_LARGEST_COUNT]


def _pencil(whole: np.ndarray, part: np.ndarray, cut: slice) -> np.ndarray:
    """Eigenvalues mu of one pair of minors; none where the generic share was not generic."""
    try:
        return np.linalg.eigvals(np.linalg.solve(whole[cut, cut], part[cut, cut]))
    except np.linalg.LinAlgError:
        return np.zeros(0)


def _simple(share: float) -> float:
    fraction = simple_fraction(share)
    return fraction if abs(fraction - share) < _SIMPLE * max(1.0, abs(share)) else share
