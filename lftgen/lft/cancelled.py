"""Fractions in cosines and sines without the common factors that only ``c^2 + s^2 = 1`` shows.

Cosine and sine are no independent variables, so that a gcd of polynomials in both misses factors: ``s^2/(1 - c)`` is
``1 + c``.  In ``t = tan(phi/2)`` it misses none.  What is left goes back by half angles,

    t^j cos(phi/2)^2k = ((1 - c)/2)^(j/2) ((1 + c)/2)^(k - j/2)                         j even
                      = (s/2) ((1 - c)/2)^((j - 1)/2) ((1 + c)/2)^(k - (j + 1)/2)       j odd
"""

from __future__ import annotations

from typing import Any

from lftgen.lft.letters import LetteredMatrix


def cancelled(m: LetteredMatrix, entry: Any) -> Any:
    """An entry (element of the ring's field of fractions) in lowest terms, with sines of degree one.

    All angles at once: ``(sin^2 a - sin^2 b)/sin(a + b)`` has no common factor in one tangent alone.
    """
    ring, field = m.r.ring, m.r.ring.to_field()
    top, bottom = entry.numer, entry.denom
    angles = [(c, s) for c, s in m.pairs if any(p.degree(ring.gens[s]) > 0 for p in (top, bottom))]
    for cosine, sine in angles:
        degree = max(e[cosine] + e[sine] for p in (top, bottom) for e in p.itermonoms())
        top, bottom = (in_tangent(p, cosine, sine, degree) for p in (top, bottom))
    if not angles:
        return entry
    lowest = field(top) / field(bottom)
    top, bottom = lowest.numer, lowest.denom
    for cosine, sine in angles:
        half = -(-max(p.degree(ring.gens[sine]) for p in (top, bottom)) // 2)
        top, bottom = (_back(p, cosine, sine, half) for p in (top, bottom))
    return field(top) / field(bottom)


def in_tangent(poly: Any, cosine: int, sine: int, degree: int) -> Any:
    """``(1 + t^2)^degree`` times the polynomial: c = (1 - t^2)/(1 + t^2), s = 2 t/(1 + t^2)."""
    t = poly.ring.gens[sine]
    return _replaced(
        poly,
        (cosine, sine),
        lambda c, s: (1 - t**2) ** c * (2 * t) ** s * (1 + t**2) ** (degree - c - s),
    )


def _back(poly: Any, cosine: int, sine: int, half: int) -> Any:
    """``(2 cos(phi/2)^2)^half`` times the polynomial in t."""
    c, s = poly.ring.gens[cosine], poly.ring.gens[sine]

    def power(_: int, j: int) -> Any:
        odd = j % 2
        return s**odd * (1 - c) ** (j // 2) * (1 + c) ** (half - j // 2 - odd)

    return _replaced(poly, (cosine, sine), power)


def _replaced(poly: Any, places: tuple[int, int], power: Any) -> Any:
    """The polynomial with the powers of two generators replaced."""
    ring = poly.ring
    of_powers: dict[tuple[int, int], Any] = {}
    for exponents, coefficient in poly.iterterms():
        key = exponents[places[0]], exponents[places[1]]
        rest = tuple(0 if k in places else e for k, e in enumerate(exponents))
        of_powers[key] = of_powers.get(key, ring.zero) + ring.term_new(rest, coefficient)
    out = ring.zero
    for key, rest in of_powers.items():
        out = out + rest * power(*key)
    return out
