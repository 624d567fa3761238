"""Letters: the factors whose order a search may choose, and a sympy matrix as polynomials in them.

A letter is a parameter's value, its inverse, or cosine or sine of a scheduled angle.  Cosine and sine of one angle are
a pair: with ``z = c + i s`` and ``t = tan(phi/2)``, ``z = (1 + i t)/(1 - i t)`` times a constant (phi is the angle from the
chart's centre), so that what is of degree one in z costs two repetitions of t, however many cosines and sines it was
written with.  The centre is in no coefficient: what cancels by ``c^2 + s^2 = 1`` cancels exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sympy as sp

from lftgen.errors import NotRationalError
from lftgen.lft.algebra import block_diag, constant, inverse, wire
from lftgen.lft.data import LFTData, default_names
from lftgen.lft.field import Field
from lftgen.lft.maps import change_maps
from lftgen.lft.rational_matrix import RationalMatrix, matrix_in
from lftgen.lft.reduction.kalman import reduce
from lftgen.lft.structure import DeltaBlock, DeltaMap, Structure
from lftgen.lft.trigonometry import cosine_and_sine, in_cosines, of_center
from lftgen.parameters import Parameter

VALUE, INVERSE, COSINE, SINE = "value", "inverse", "cosine", "sine"


@dataclass(frozen=True)
class Letter:
    """One letter: what of which parameter, and the symbol that stands for it."""

    parameter: Parameter
    kind: str
    symbol: sp.Symbol

    @property
    def nominal(self) -> float:
        """The letter's value at the parameter's nominal."""
        x = self.parameter.coordinate_nominal
        if self.kind in (VALUE, INVERSE):
            return x if self.kind == VALUE else 1 / x
        c, s = (float(v) for v in of_center(self.parameter))
        cosine, sine = (1 - x * x) / (1 + x * x), 2 * x / (1 + x * x)
        return c * cosine - s * sine if self.kind == COSINE else s * cosine + c * sine

    def lft(self, n: int, field: Field) -> LFTData:
        """The letter times the identity of size n."""
        p = self.parameter
        if self.kind in (VALUE, INVERSE):
            value = change_maps(scalar(p, n, field), {p.name: DeltaMap(p.coordinate_nominal)})
            return value if self.kind == VALUE else inverse(value)
        return _cosine(p, n, field, sine=self.kind == SINE)


def scalar(p: Parameter, n: int, field: Field) -> LFTData:
    """``x I_n`` with delta = x, the coordinate (origin 0; the nominal is moved in afterwards)."""
    M = field.zeros(2 * n, 2 * n)
    M[range(n), range(n, 2 * n)] = field.element(1)
    M[range(n, 2 * n), range(n)] = field.element(1)
    block = DeltaBlock(p.name, "real", n, parameter=p, map=DeltaMap(0.0))
    return LFTData(M, Structure((), (block,)), default_names("u", n), default_names("y", n), field)


def _cosine(p: Parameter, n: int, field: Field, *, sine: bool) -> LFTData:
    """cos or sin of ``phi + c``, c the chart's centre, times the identity of size n: two repetitions of t each.

    With v1 = t (u - v2), v2 = t v1:  sin phi = 2 t/(1 + t^2) is 2 v1, and cos phi = 1 - 2 t^2/(1 + t^2) is u - 2 v2.
    """
    one, two = field.element(1), field.element(2)
    c, s = (field.element(v if v.is_Rational else float(v)) for v in of_center(p))
    direct, through = (s, c) if sine else (c, -s)
    M = field.zeros(3 * n, 3 * n)
    i = np.arange(n)
    M[i, n + i], M[i, 2 * n + i], M[n + i, i] = -one, one, one
    M[2 * n + i, i], M[2 * n + i, n + i], M[2 * n + i, 2 * n + i] = two * through, -two * direct, direct
    block = DeltaBlock(p.name, "real", 2 * n, parameter=p, map=DeltaMap(0.0))
    raw = LFTData(M, Structure((), (block,)), default_names("u", n), default_names("y", n), field)
    return change_maps(raw, {p.name: DeltaMap(p.coordinate_nominal)})


def letters_of(p: Parameter) -> tuple[Letter, ...]:
    """The letter of a parameter; of an angle cosine and sine."""
    if not p.is_angle:
        return (Letter(p, VALUE, p),)
    c, s = cosine_and_sine(p)
    return Letter(p, COSINE, c), Letter(p, SINE, s)


def inverse_letter(letter: Letter) -> Letter:
    """The letter of the inverse of a value."""
    return Letter(letter.parameter, INVERSE, sp.Symbol(f"1/{letter.parameter.name}"))


def pairs_of(letters: Sequence[Letter]) -> tuple[tuple[int, int], ...]:
    """Positions of cosine and sine of each angle."""
    cosines = {x.parameter.name: i for i, x in enumerate(letters) if x.kind == COSINE}
    return tuple((cosines[x.parameter.name], i) for i, x in enumerate(letters) if x.kind == SINE)


@dataclass(frozen=True)
class LetteredMatrix:
    """A matrix rational in letters; ``r.parameters`` holds the parameter of each letter."""

    letters: tuple[Letter, ...]
    r: RationalMatrix

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """Positions of cosine and sine of each angle."""
        return pairs_of(self.letters)

    def with_entries(self, entries: Sequence[Sequence[Any]]) -> LetteredMatrix:
        """Another matrix of fractions (elements of the ring's field) in the same letters."""
        tops = tuple(tuple(e.numer for e in row) for row in entries)
        bottoms = tuple(tuple(e.denom for e in row) for row in entries)
        return replace(self, r=replace(self.r, numerators=tops, denominators=bottoms))

    def fractions(self) -> list[list[Any]]:
        """Entries as elements of the ring's field of fractions."""
        field = self.r.ring.to_field()
        pairs = zip(self.r.numerators, self.r.denominators, strict=True)
        return [[field(n) / field(d) for n, d in zip(ns, ds, strict=True)] for ns, ds in pairs]


def lettered(matrix: sp.MatrixBase, *, exact: bool) -> LetteredMatrix:
    """A sympy matrix in letters.

    Raises
    ------
    NotRationalError
        Where it is not rational in them (a tangent of half an angle is rational in t alone); in exact mode also
        where cosine and sine of a chart's centre are not.
    """
    r = matrix_in(matrix, lambda p: tuple(x.symbol for x in letters_of(p)), in_cosines, exact=exact)
    parameters = tuple(dict.fromkeys(r.parameters))
    if exact and not all(v.is_Rational for p in parameters if p.is_angle for v in of_center(p)):
        raise NotRationalError("exact cosines need charts whose centres have rational cosines")
    return LetteredMatrix(tuple(x for p in parameters for x in letters_of(p)), r)


def without_squares(m: LetteredMatrix) -> LetteredMatrix:
    """The same with ``s^2 = 1 - c^2`` put in; itself where there is no square of a sine."""
    at = [m.r.ring.gens[i] for _, i in m.pairs]
    rules = [m.r.ring.gens[j] ** 2 + m.r.ring.gens[i] ** 2 - 1 for j, i in m.pairs]
    everything = [p for part in (m.r.numerators, m.r.denominators) for row in part for p in row]
    if not any(p.degree(s) > 1 for p in everything for s in at):
        return m
    field = m.r.ring.to_field()

    def squared(poly: Any) -> Any:
        for s, rule in zip(at, rules, strict=True):
            poly = _remainder(poly, s, s**2 - rule)
        return poly

    entries = [
        [field(squared(n)) / field(squared(d)) for n, d in zip(ns, ds, strict=True)]
        for ns, ds in zip(m.r.numerators, m.r.denominators, strict=True)
    ]
    return m.with_entries(entries)


def _remainder(poly: Any, generator: Any, square: Any) -> Any:
    """The polynomial with ``generator^2`` replaced by ``square``."""
    ring, k = poly.ring, poly.ring.gens.index(generator)
    out = ring.zero
    for exponents, coefficient in poly.iterterms():
        rest = ring.term_new((*exponents[:k], exponents[k] % 2, *exponents[k + 1 :]), coefficient)
        out = out + rest * square ** (exponents[k] // 2)
    return out


def close(
    m11: np.ndarray,
    m12: np.ndarray,
    m21: np.ndarray,
    m22: np.ndarray,
    letters: Sequence[Letter],
    field: Field,
) -> LFTData:
    """``M22 + M21 D (I - M11 D)^-1 M12`` with D the letters, one after another (equal ones adjacent)."""
    inputs, outputs = default_names("u", m22.shape[1]), default_names("y", m22.shape[0])
    counts = {x: letters.count(x) for x in dict.fromkeys(letters)}
    if not counts:
        return constant(np.array(m22), field)
    core = block_diag([x.lft(n, field) for x, n in counts.items()])
    return reduce(wire(core, m11, m12, m21, m22, inputs, outputs))
