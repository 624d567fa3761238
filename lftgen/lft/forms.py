"""Forms of a realisation: nested (Horner), numerator over denominator, words, and the expressions as they stand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import sympy as sp

from lftgen.lft.algebra import add, constant, exchange, hstack, inverse, multiply, select, transpose, vstack
from lftgen.lft.connect import renamed
from lftgen.lft.data import LFTData, default_names
from lftgen.lft.field import Field
from lftgen.lft.letters import Letter, scalar
from lftgen.lft.maps import change_maps
from lftgen.lft.rational_matrix import RationalMatrix, Terms
from lftgen.lft.reduction.kalman import reduce
from lftgen.lft.structure import DeltaMap
from lftgen.parameters import Parameter

Polynomial = Callable[[Terms, tuple[int, int]], LFTData]
"""Realises a polynomial matrix of a shape, in the coordinates of one RationalMatrix."""

Check = Callable[[], None]
"""Called on the way; raises where the time is over."""


def nothing() -> None:
    """No check."""


def nested(
    terms: Terms,
    r: RationalMatrix,
    order: Sequence[int],
    shape: tuple[int, int],
    *,
    from_inputs: bool = False,
    check: Check = nothing,
) -> LFTData:
    """Nested (Horner) form of a polynomial matrix: ``P0 + x (P1 + x (P2 + ...))``, parameters in the given order.

    The coordinate x stands at the outputs, or with ``from_inputs`` at the inputs.
    """
    raw = _nested(terms, r.field, [r.parameters[i] for i in order], list(order), shape, from_inputs, check)
    return change_maps(raw, {p.name: DeltaMap(p.coordinate_nominal) for p in r.parameters})


def _nested(
    terms: Terms,
    field: Field,
    parameters: Sequence[Parameter],
    order: Sequence[int],
    shape: tuple[int, int],
    from_inputs: bool,
    check: Check,
) -> LFTData:
    check()
    if not order:
        total = field.zeros(*shape)
        for matrix in terms.values():
            total = total + matrix
        return constant(total, field)
    by_power: dict[int, Terms] = {}
    for exponents, matrix in terms.items():
        by_power.setdefault(exponents[order[0]], {})[exponents] = matrix
    out: LFTData | None = None
    for power in range(max(by_power, default=0), -1, -1):
        if out is not None:
            x = scalar(parameters[0], shape[1] if from_inputs else shape[0], field)
            out = multiply(out, x) if from_inputs else multiply(x, out)
        if power in by_power or out is None:
            part = _nested(
                by_power.get(power, {}), field, parameters[1:], order[1:], shape, from_inputs, check
            )
            out = part if out is None else add(part, out)
            out = reduce(out) if len(order) > 1 else out
    assert out is not None
    return out


def right_fraction(r: RationalMatrix, polynomial: Polynomial) -> LFTData:
    """N D^-1 from one realisation of [N; D]: D's channel is turned round."""
    n, d = r.right_fraction()
    p, m = r.shape
    return turned(reduce(polynomial(stacked(n, d, r.field), (p + m, m))), p)


def left_fraction(r: RationalMatrix, polynomial: Polynomial) -> LFTData:
    """D^-1 N from one realisation of [N, D], through the transpose."""
    n, d = ({k: v.T for k, v in t.items()} for t in r.left_fraction())
    p, m = r.shape
    return transpose(turned(reduce(polynomial(stacked(n, d, r.field), (m + p, p))), m))


def turned(both: LFTData, n_outputs: int) -> LFTData:
    """From ``[N; D]`` (D square) the LFT of ``N D^-1``, with the same inner channels."""
    p, m = n_outputs, both.shape[1]
    named = renamed(both, inputs=[f"v{i}" for i in range(m)])
    turned_round = exchange(named, range(p, p + m), range(m), "the denominator at the nominal values")
    chosen = select(turned_round, range(p), range(m))
    return renamed(chosen, inputs=default_names("u", m), outputs=default_names("y", p))


def stacked(top: Terms, bottom: Terms, field: Field) -> Terms:
    """Terms of ``[top; bottom]`` (bottom must not be empty)."""
    width = next(iter(bottom.values())).shape
    height = next(iter(top.values())).shape[0] if top else 0
    zeros = field.zeros(height, width[1]), field.zeros(*width)
    return {k: np.concatenate([top.get(k, zeros[0]), bottom.get(k, zeros[1])]) for k in {**top, **bottom}}


def from_words(
    words: Mapping[tuple[int, ...], np.ndarray],
    letters: Sequence[Letter],
    field: Field,
    shape: tuple[int, int],
    check: Check = nothing,
) -> LFTData:
    """An LFT whose factors stand in the order of the words; what is shared is left to the reduction."""
    total = constant(field.zeros(*shape), field)
    by_first: dict[int, dict[tuple[int, ...], np.ndarray]] = {}
    for word, matrix in words.items():
        if word:
            by_first.setdefault(word[0], {})[word[1:]] = matrix
        else:
            total = add(total, constant(matrix, field))
    for first, rest in by_first.items():
        check()
        inner = from_words(rest, letters, field, shape, check)
        total = reduce(add(total, multiply(letters[first].lft(shape[0], field), inner)))
    return total


def from_expressions(r: RationalMatrix) -> LFTData:
    """Structure-preserving: every sum, product and power of the expressions as they stand, reduced on the way."""
    rows = []
    known: dict[sp.Expr, LFTData] = {}
    for i in range(r.shape[0]):
        entries = [node(r.expressions[i, j], r, known) for j in range(r.shape[1])]
        row = entries[0]
        for k, e in enumerate(entries[1:], 1):
            row = _beside(row, e, k)
        rows.append(row)
    return vstack(rows)


def operations(r: RationalMatrix) -> int:
    """Operations of the expressions, what occurs again counted once."""
    different = set().union(*(e.atoms(sp.Add, sp.Mul, sp.Pow) for e in r.expressions))
    return sum(
        abs(int(e.exp)) if isinstance(e, sp.Pow) else len(e.args) - 1 for e in different if e.free_symbols
    )


def _beside(row: LFTData, entry: LFTData, k: int) -> LFTData:
    return reduce(hstack([row, entry])) if k % 4 == 0 else hstack([row, entry])


def node(e: sp.Expr, r: RationalMatrix, known: dict[sp.Expr, LFTData]) -> LFTData:
    """One expression; what occurs again (a determinant in every entry) is worked out once."""
    if e not in known:
        known[e] = _node(e, r, known)
    return known[e]


def _node(e: sp.Expr, r: RationalMatrix, known: dict[sp.Expr, LFTData]) -> LFTData:
    coordinates = {p.coordinate: p for p in r.parameters}
    if not e.free_symbols & set(coordinates):
        return constant(r.field.array([[e]]) if r.field.exact else r.field.array([[float(e)]]), r.field)
    if e in coordinates:
        p = coordinates[e]
        return change_maps(scalar(p, 1, r.field), {p.name: DeltaMap(p.coordinate_nominal)})
    if isinstance(e, sp.Pow):
        base = node(e.base, r, known)
        base = inverse(base) if e.exp < 0 else base
        out = base
        for _ in range(abs(int(e.exp)) - 1):
            out = multiply(out, base)
        return reduce(out)
    parts = [node(a, r, known) for a in e.args]
    combine = add if isinstance(e, sp.Add) else multiply
    out = parts[0]
    for part in parts[1:]:
        out = reduce(combine(out, part))
    return out
