"""LFTs that are polynomials in parameters and in ``z = exp(i theta)`` of angles, read off from their values.

Masses, lengths and inertias enter an inverse dynamics as polynomials, angles through sines and cosines, that is as Laurent
polynomials in z.  The coefficients are found by interpolation on a tensor grid, one parameter after the other, so nothing
needs to be known of how the LFT was built; that it is such a polynomial is seen at random points.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import sympy as sp

from lftgen.errors import LftgenError
from lftgen.lft.data import LFTData
from lftgen.lft.evaluation import evaluate_ports
from lftgen.mechanics.coefficients import realize_coefficient
from lftgen.parameters import Parameter

HIGHEST = 4
"""Largest power of a parameter, or of z, that is looked for."""
LARGEST_GRID = 20_000
"""Points of the tensor grid beyond which an LFT is not read."""
DROPPED = 1e-10
"""Coefficients below this, relative to the largest of their row or column, are rounding errors."""
VERIFIED = 1e-9
"""Largest deviation of the polynomial from the LFT at random points, relative to the largest entry."""

Monomial = tuple[int, ...]
"""Powers of the letters; those of an angle's z may be negative."""


@dataclass(frozen=True)
class Letter:
    """One parameter as a letter: its value x, or ``z = exp(i theta)`` of an angle."""

    parameter: Parameter
    degree: int

    @property
    def is_turn(self) -> bool:
        """Whether the letter is a z, which comes with its conjugate."""
        return self.parameter.is_angle

    @cached_property
    def value(self) -> LFTData:
        """The letter as an LFT: x, or the rotation matrix of the angle."""
        p = self.parameter
        plain = sp.Matrix([[p]])
        turn = sp.Matrix([[sp.cos(p), -sp.sin(p)], [sp.sin(p), sp.cos(p)]])
        return realize_coefficient(turn if self.is_turn else plain, exact=False)

    @property
    def cost(self) -> int:
        """Repetitions of one channel of the letter (of one pair of channels of a z)."""
        return sum(b.repetitions for b in self.value.structure.blocks)

    @cached_property
    def samples(self) -> np.ndarray:
        """Values, in the parameter's unit, at which the LFT is read; never half a turn from the chart's centre."""
        if self.is_turn:
            n = 2 * self.degree + 1
            return self.parameter.center + (np.arange(n) - self.degree) * self._full_turn / n
        size = max(abs(b) for b in self.parameter.bounds) or 1.0
        return size * np.cos(np.pi * (np.arange(self.degree + 1) + 0.5) / (self.degree + 1))

    @property
    def powers(self) -> range:
        """The powers that may occur."""
        return range(-self.degree if self.is_turn else 0, self.degree + 1)

    def monomials(self, values: np.ndarray) -> np.ndarray:
        """(values, powers) of the letter."""
        base = np.exp(1j * self.parameter.to_radians(values)) if self.is_turn else values.astype(complex)
        return base[:, None] ** np.array(self.powers)

    @property
    def _full_turn(self) -> float:
        return 360.0 if self.parameter.unit == "deg" else 2 * np.pi


@dataclass(frozen=True, eq=False)
class TurnPolynomial:
    """``sum of C_e x^e`` with complex C_e; the real value asks for ``C_(conjugate e) = conj(C_e)``."""

    letters: tuple[Letter, ...]
    terms: Mapping[Monomial, np.ndarray] = field(repr=False)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        p, m = next(iter(self.terms.values())).shape
        return p, m

    def conjugate(self, e: Monomial) -> Monomial:
        """The monomial with every z replaced by its conjugate."""
        return tuple(-k if letter.is_turn else k for k, letter in zip(e, self.letters, strict=True))

    def transformed(self, left: np.ndarray, right: np.ndarray) -> TurnPolynomial:
        """``left P right`` for constant matrices."""
        return TurnPolynomial(self.letters, _cleaned({e: left @ c @ right for e, c in self.terms.items()}))

    @property
    def entries(self) -> int:
        """Number of non-zero coefficients: how much a search has to place."""
        return sum(int(np.count_nonzero(c)) for c in self.terms.values())

    def evaluate(self, values: Mapping[str, np.ndarray]) -> np.ndarray:
        """Values at points, (N, rows, columns)."""
        tables = [x.monomials(np.asarray(values[x.parameter.name], dtype=float)) for x in self.letters]
        total = 0.0
        for e, c in self.terms.items():
            factors = [t[:, list(x.powers).index(k)] for t, x, k in zip(tables, self.letters, e, strict=True)]
            total = total + np.multiply.outer(np.prod(factors, axis=0), c)
        return np.real(np.asarray(total))


def read_polynomial(a: LFTData, *, largest_grid: int = LARGEST_GRID) -> TurnPolynomial | None:
    """The LFT as a polynomial; None where it is none, or where the grid would be larger than ``largest_grid``.

    Parameters
    ----------
    a : LFTData
        Without states, float entries, real scalar blocks only.
    """
    used = [b.parameter for b in a.structure.blocks if b.parameter is not None and b.repetitions]
    if a.field.exact or a.n_states or not used or any(not b.is_scalar for b in a.structure.blocks):
        return None
    if np.prod([3.0 if p.is_angle else 2.0 for p in used]) > largest_grid:
        return None
    try:
        letters = _letters(a, used)
        if letters is None or np.prod([float(len(x.samples)) for x in letters]) > largest_grid:
            return None
        polynomial = TurnPolynomial(letters, _cleaned(_interpolated(a, letters)))
        return polynomial if _verified(polynomial, a) else None
    except LftgenError:  # a pole on the grid: not a polynomial
        return None


def _letters(a: LFTData, used: list[Parameter]) -> tuple[Letter, ...] | None:
    """Each parameter with its degree, all others at random values; None where one is no polynomial."""
    out = []
    rng = np.random.default_rng(31)
    for p in used:
        others = {q.name: rng.uniform(q.lower, q.upper) for q in used if q is not p}
        probe = Letter(p, HIGHEST)
        values = evaluate_ports(a, {p.name: probe.samples, **others}, extrapolate=True)
        found = np.linalg.solve(
            probe.monomials(probe.samples), values.reshape(len(values), -1).astype(complex)
        )
        size = np.abs(found).max(axis=1)
        powers = [abs(k) for k, s in zip(probe.powers, size, strict=True) if s > DROPPED * size.max()]
        out.append(Letter(p, max(powers)))
        if out[-1].degree == HIGHEST:
            return None
    return tuple(out)


def _interpolated(a: LFTData, letters: tuple[Letter, ...]) -> dict[Monomial, np.ndarray]:
    grid = np.meshgrid(*(x.samples for x in letters), indexing="ij")
    values = evaluate_ports(
        a, {x.parameter.name: g.ravel() for x, g in zip(letters, grid, strict=True)}, extrapolate=True
    )
    tensor = values.reshape(*(len(x.samples) for x in letters), *values.shape[1:]).astype(complex)
    for axis, x in enumerate(letters):
        back = np.linalg.inv(x.monomials(x.samples))
        tensor = np.moveaxis(np.tensordot(back, tensor, (1, axis)), 0, axis)
    return {
        tuple(x.powers[i] for x, i in zip(letters, index, strict=True)): tensor[index]
        for index in itertools.product(*(range(n) for n in tensor.shape[:-2]))
    }


def _cleaned(terms: Mapping[Monomial, np.ndarray]) -> dict[Monomial, np.ndarray]:
    """Without rounding errors in place of zeros."""
    stack = np.abs(np.stack(list(terms.values())))
    row, column = stack.max(axis=(0, 2), initial=0.0), stack.max(axis=(0, 1), initial=0.0)
    floor = DROPPED * np.minimum(row[:, None], column)
    kept = {e: _rounded(np.where(np.abs(c) > floor, c, 0.0)) for e, c in terms.items()}
    out = {e: c for e, c in kept.items() if c.any()}
    return out or dict(itertools.islice(kept.items(), 1))


def _rounded(c: np.ndarray) -> np.ndarray:
    """Real and imaginary parts that are rounding beside the other one set to zero."""
    size = DROPPED * np.abs(c)
    real, imaginary = np.real(c), np.imag(c)
    return np.where(np.abs(real) > size, real, 0.0) + 1j * np.where(np.abs(imaginary) > size, imaginary, 0.0)


def _verified(polynomial: TurnPolynomial, a: LFTData) -> bool:
    rng = np.random.default_rng(32)
    used = [x.parameter for x in polynomial.letters]
    values = {p.name: rng.uniform(p.lower, p.upper, 6) for p in used}
    want = evaluate_ports(a, values)
    return bool(np.abs(polynomial.evaluate(values) - want).max() <= VERIFIED * np.abs(want).max())
