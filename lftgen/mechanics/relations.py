"""Blocks: named linear relations between signals, written in sympy and realised as LFTs from that same text.

A relation is ``output = sum of products of coefficient matrices times signals``.  Coefficients are sympy matrices, or
equilibrium values (:class:`Bound`) that stand for an LFT computed by the trim.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import sympy as sp

from lftgen.errors import ModelError
from lftgen.lft.algebra import block_diag, hstack, multiply, wire
from lftgen.lft.connect import renamed
from lftgen.lft.data import LFTData
from lftgen.lft.model import LFT
from lftgen.lft.reduction.kalman import reduce
from lftgen.mechanics.coefficients import realize_coefficient


@dataclass(frozen=True)
class Signal:
    """A vector signal: a name and the suffixes of its components."""

    name: str
    suffixes: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Component names, ``B1_com_force_x``."""
        return tuple(f"{self.name}_{s}" for s in self.suffixes)

    @property
    def symbols(self) -> sp.ImmutableMatrix:
        """Component symbols as a column."""
        return sp.ImmutableMatrix([sp.Symbol(n, real=True) for n in self.names])


@dataclass(frozen=True, eq=False)
class Bound:
    """An equilibrium value: symbols in the equations, an LFT in the model."""

    symbols: sp.ImmutableMatrix
    lft: LFTData


Factor: TypeAlias = sp.MatrixBase | Bound


@dataclass(frozen=True, eq=False)
class Term:
    """A product of coefficients times a signal."""

    signal: Signal
    factors: tuple[Factor, ...]

    @property
    def expression(self) -> sp.MatrixBase:
        """The product as a sympy column."""
        value: sp.MatrixBase = self.signal.symbols
        for f in reversed(self.factors):
            value = (f.symbols if isinstance(f, Bound) else f) * value
        return value

    def lft(self, *, exact: bool) -> LFTData:
        """The product of the coefficients as an LFT."""
        parts = [f.lft if isinstance(f, Bound) else realize_coefficient(f, exact=exact) for f in self.factors]
        out = parts[0]
        for part in parts[1:]:
            out = multiply(out, part)
        return out


@dataclass(frozen=True, eq=False)
class Relation:
    """``output = sum of terms``."""

    output: Signal
    terms: tuple[Term, ...]

    @property
    def equation(self) -> sp.Eq:
        """The relation as sympy, component by component."""
        total = sp.zeros(len(self.output.suffixes), 1)
        for t in self.terms:
            total += t.expression
        return sp.Eq(sp.Matrix(self.output.symbols), sp.Matrix(total), evaluate=False)


def relation(output: Signal, *terms: tuple[Signal, Factor] | tuple[Signal, Factor, Factor]) -> Relation:
    """A relation from (signal, coefficient, ...) tuples."""
    return Relation(output, tuple(Term(t[0], tuple(t[1:])) for t in terms))


@dataclass(frozen=True, eq=False)
class Block:
    """A body or joint: relations from input signals to output signals (and to signals between).

    Attributes
    ----------
    name : str
    inputs : tuple of Signal
        What comes from elsewhere.
    outputs : tuple of Signal
        What others may use; every relation's left side may.
    """

    name: str
    inputs: tuple[Signal, ...]
    outputs: tuple[Signal, ...]
    relations: tuple[Relation, ...]
    exact: bool = False

    def __post_init__(self) -> None:
        both = {n for s in self.inputs for n in s.names} & {n for r in self.relations for n in r.output.names}
        if both:
            raise ModelError(
                f"block {self.name}: {sorted(both)[0]} would be an input and a signal inside; rename the body or port"
            )

    def equations(self) -> dict[str, sp.Eq]:
        """The relations as sympy, by the name of their left side."""
        return {r.output.name: r.equation for r in self.relations}

    @cached_property
    def lft(self) -> LFT:
        """The LFT from all inputs to all outputs, realised from the relations."""
        return LFT(self.realize(self.outputs))

    def realize(self, outputs: Sequence[Signal]) -> LFTData:
        """The LFT from the inputs that matter to some outputs; relations that do not matter are left out."""
        needed = self._needed(outputs)
        made = {n: i for i, n in enumerate(n for r in needed for n in r.output.names)}
        consumed = [n for r in needed for t in r.terms for n in t.signal.names]
        inputs = [n for s in self.inputs for n in s.names if n in set(consumed) and n not in made]
        whole = block_diag([self._row(r, i) for i, r in enumerate(needed)])
        f, place = whole.field, {n: i for i, n in enumerate(inputs)}
        loop, feed = f.zeros(whole.shape[1], whole.shape[0]), f.zeros(whole.shape[1], len(inputs))
        for i, name in enumerate(consumed):
            target, where = (loop, made) if name in made else (feed, place)
            target[i, where[name]] = f.element(1)
        names = [n for s in outputs for n in s.names]
        read = f.zeros(len(names), whole.shape[0])
        read[range(len(names)), [made[n] for n in names]] = f.element(1)
        return reduce(wire(whole, loop, feed, read, f.zeros(len(names), len(inputs)), inputs, names))

    def _row(self, r: Relation, index: int) -> LFTData:
        row = (
            hstack([t.lft(exact=self.exact) for t in r.terms])
            if len(r.terms) > 1
            else r.terms[0].lft(exact=self.exact)
        )
        n_y, n_u = row.shape
        return renamed(
            row, inputs=[f"{index}.{k}" for k in range(n_u)], outputs=[f"{index}.{k}" for k in range(n_y)]
        )

    def _needed(self, outputs: Sequence[Signal]) -> list[Relation]:
        """Relations on which the outputs depend, in their order."""
        maker = {n: r for r in self.relations for n in r.output.names}
        external = {n for s in self.inputs for n in s.names}
        wanted: set[str] = set()
        todo = [n for s in outputs for n in s.names]
        while todo:
            name = todo.pop()
            if name in maker and maker[name].output.name not in wanted:
                wanted.add(maker[name].output.name)
                todo += [n for t in maker[name].terms for n in t.signal.names]
            elif name not in maker and name not in external:
                raise ModelError(
                    f"block {self.name} has no signal {name}; it makes {', '.join(r.output.name for r in self.relations)}"
                )
        return [r for r in self.relations if r.output.name in wanted]
