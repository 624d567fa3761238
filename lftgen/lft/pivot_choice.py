"""Which channels of a large matrix to exchange, decided on its degrees in one letter at a time.

An exchange of a matrix with hundreds of terms costs seconds, and most are tried in vain.  With all letters but one at
rational numbers the entries are fractions of one variable, cheap to exchange; their degrees, added up over the letters,
tell where a matrix becomes simple.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp

from lftgen.lft.cancelled import in_tangent
from lftgen.lft.letters import LetteredMatrix

Entries = list[list[Any]]
_LARGEST_NUMBER = 30


def pivots_by_degree(m: LetteredMatrix, nominal: np.ndarray) -> list[tuple[int, int]]:
    """Row and column of each exchange, up to where the degrees add up to the least.

    Parameters
    ----------
    m : LetteredMatrix
    nominal : (p, q) array
        Its values at the nominal, where no pivot may vanish.
    """
    p, q = m.r.shape
    views = _one_letter_each(m)
    places: list[tuple[int, int]] = []
    least, fewest = 0, sum(_degrees(v) for v in views)
    for _ in range(min(p, q)):
        tried = []
        for i in range(p):
            for j in range(q):
                fresh = all(i != a and j != b for a, b in places)
                if (
                    fresh
                    and abs(nominal[i, j]) > 1e-6 * np.max(np.abs(nominal))
                    and all(v[i][j] for v in views)
                ):
                    turned = [exchanged(v, i, j) for v in views]
                    tried.append((sum(_degrees(v) for v in turned), i, j, turned))
        if not tried:
            break
        degrees, i, j, views = min(tried, key=lambda t: t[:3])
        nominal = np.array(exchanged(nominal.tolist(), i, j), dtype=float)
        places.append((i, j))
        if degrees < fewest:
            least, fewest = len(places), degrees
    return places[:least]


def exchanged(entries: Entries, i: int, j: int) -> Entries:
    """The principal pivot transform at one entry."""
    pivot = entries[i][j]
    column = [row[j] / pivot for row in entries]
    out = [
        [e - column[k] * entries[i][n] if entries[i][n] else e for n, e in enumerate(row)]
        for k, row in enumerate(entries)
    ]
    out[i] = [-e / pivot for e in entries[i]]
    for k, row in enumerate(out):
        row[j] = column[k]
    out[i][j] = 1 / pivot
    return out


def _degrees(entries: Entries) -> int:
    """Degrees of all numerators and denominators; a denominator weighs double."""
    return sum(int(e.numer.degree()) + 2 * int(e.denom.degree()) for row in entries for e in row if e)


def _one_letter_each(m: LetteredMatrix) -> list[Entries]:
    """The entries as fractions of one letter, or of the tangent of one angle, for each in turn."""
    rng = np.random.default_rng(3)
    gens, fractions = m.r.ring.gens, m.fractions()
    sine_of = dict(m.pairs)
    heads = [k for k in range(len(gens)) if k not in sine_of.values()]
    numbers = {
        k: sp.QQ(int(rng.integers(2, _LARGEST_NUMBER)), int(rng.integers(2, _LARGEST_NUMBER))) for k in heads
    }
    values = dict(numbers)
    for c, s in m.pairs:
        t = numbers[c]
        values[c], values[s] = (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)
    views = []
    for kept in heads[: len(m.letters)]:
        own = (kept, sine_of[kept]) if kept in sine_of else (kept,)
        given = [(g, values[k]) for k, g in enumerate(gens) if k not in own]
        views.append([[_view(e, given, len(own) == 2) for e in row] for row in fractions])
    return views


def _view(entry: Any, given: list[tuple[Any, Any]], is_angle: bool) -> Any:
    top, bottom = (p.evaluate(given) if given else p for p in (entry.numer, entry.denom))
    if is_angle:
        degree = max((sum(e) for p in (top, bottom) for e in p.itermonoms()), default=0)
        # the ring of both letters, t in the place of the sine
        top, bottom = (
            in_tangent(p, 0, 1, degree).evaluate([(p.ring.gens[0], sp.QQ(0))]) for p in (top, bottom)
        )
    field = top.ring.to_field()
    return field(top) / field(bottom)
