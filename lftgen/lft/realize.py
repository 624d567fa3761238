"""From a sympy matrix, rational in parameters, to an LFT: a portfolio of realisations, the smallest verified one wins."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

import numpy as np
import sympy as sp

from lftgen.errors import IllPosedError
from lftgen.lft.algebra import add, constant, exchange, hstack, inverse, multiply, select, transpose, vstack
from lftgen.lft.connect import renamed
from lftgen.lft.data import LFTData, declare, default_names
from lftgen.lft.field import Field
from lftgen.lft.maps import change_maps
from lftgen.lft.rational_matrix import RationalMatrix, Terms, rational_matrix
from lftgen.lft.reduction.kalman import reduce
from lftgen.lft.structure import DeltaBlock, DeltaMap, Structure, real_block
from lftgen.parameters import Parameter

MAX_ORDERS = 24
"""How many orders of the parameters nested (Horner) forms try."""


def realize_matrix(matrix: sp.MatrixBase, *, exact: bool = False, thorough: bool = True) -> LFTData:
    """The LFT of a sympy matrix, rational in parameters (and in sines and cosines of scheduled angles).

    Parameters
    ----------
    matrix : sympy matrix
        Entries are numbers, expressions in Parameters, sin, cos, tan of scheduled angles, and free symbols.
    exact : bool
        Exact entries even where there are no free symbols.
    thorough : bool
        Try the whole portfolio; otherwise the first form only (for small coefficient matrices).

    Raises
    ------
    NotRationalError, ParameterError
        What is not rational, and names that clash.
    IllPosedError
        A pole at the nominal values.
    """
    return _cached(sp.ImmutableMatrix(matrix), exact, thorough)


@lru_cache(maxsize=512)
def _cached(matrix: sp.ImmutableMatrix, exact: bool, thorough: bool) -> LFTData:
    r = rational_matrix(matrix, exact=exact)
    blocks = [real_block(p, 0) for p in r.declared]
    if not r.parameters or 0 in r.shape:
        terms = r.polynomial_terms()
        values = terms.get((0,) * len(r.parameters), r.field.zeros(*r.shape))
        return declare(constant(values, r.field), blocks)
    best, failure = None, None
    for candidate in _candidates(r, thorough):
        try:
            lft = reduce(candidate())
        except IllPosedError as error:
            failure = error
            continue
        if best is None or lft.structure.n_rows < best.structure.n_rows:
            best = lft
    if best is None:
        assert failure is not None
        raise IllPosedError(f"{_short(matrix)} has a pole at the nominal values of its parameters ({failure})") from failure
    return declare(best, blocks)


def _candidates(r: RationalMatrix, thorough: bool) -> Iterator[Callable[[], LFTData]]:
    orders = _orders(len(r.parameters)) if thorough else [tuple(range(len(r.parameters)))]
    if r.is_polynomial:
        terms = r.polynomial_terms()
        for order in orders:
            yield lambda order=order: nested(terms, r, order, r.shape)
            if thorough:
                yield lambda order=order: nested(terms, r, order, r.shape, from_inputs=True)
    else:
        for order in orders:
            yield lambda order=order: _from_right_fraction(r, order)
            if thorough:
                yield lambda order=order: _from_left_fraction(r, order)
    if thorough:
        yield lambda: _from_expressions(r)


def _orders(n: int) -> list[tuple[int, ...]]:
    if n <= 4:
        return list(itertools.permutations(range(n)))
    rng = np.random.default_rng(0)
    return [tuple(range(n)), *(tuple(int(i) for i in rng.permutation(n)) for _ in range(MAX_ORDERS - 1))]


def nested(terms: Terms, r: RationalMatrix, order: Sequence[int], shape: tuple[int, int], *, from_inputs: bool = False) -> LFTData:
    """Nested (Horner) form of a polynomial matrix: ``P0 + x (P1 + x (P2 + ...))``, parameters in the given order.

    The coordinate x stands at the outputs, or with ``from_inputs`` at the inputs.
    """
    raw = _nested(terms, r.field, [r.parameters[i] for i in order], list(order), shape, from_inputs)
    return change_maps(raw, {p.name: DeltaMap(p.coordinate_nominal) for p in r.parameters})


def _nested(terms: Terms, field: Field, parameters: Sequence[Parameter], order: Sequence[int], shape: tuple[int, int], from_inputs: bool) -> LFTData:
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
            x = _coordinate(parameters[0], shape[1] if from_inputs else shape[0], field)
            out = multiply(out, x) if from_inputs else multiply(x, out)
        if power in by_power or out is None:
            part = _nested(by_power.get(power, {}), field, parameters[1:], order[1:], shape, from_inputs)
            out = part if out is None else add(part, out)
            out = reduce(out) if len(order) > 1 else out
    assert out is not None
    return out


def _coordinate(p: Parameter, n: int, field: Field) -> LFTData:
    """``x I_n`` with delta = x (origin 0; the nominal is moved in afterwards)."""
    M = field.zeros(2 * n, 2 * n)
    M[range(n), range(n, 2 * n)] = field.element(1)
    M[range(n, 2 * n), range(n)] = field.element(1)
    block = DeltaBlock(p.name, "real", n, parameter=p, map=DeltaMap(0.0))
    return LFTData(M, Structure((), (block,)), default_names("u", n), default_names("y", n), field)


def _from_right_fraction(r: RationalMatrix, order: Sequence[int]) -> LFTData:
    """N D^-1 from one realisation of [N; D]: D's channel is turned round."""
    n, d = r.right_fraction()
    p, m = r.shape
    return turned(reduce(nested(_stacked(n, d, 0, r.field), r, order, (p + m, m))), p)


def turned(both: LFTData, n_outputs: int) -> LFTData:
    """From ``[N; D]`` (D square) the LFT of ``N D^-1``, with the same inner channels."""
    p, m = n_outputs, both.shape[1]
    named = renamed(both, inputs=[f"v{i}" for i in range(m)])
    turned_round = exchange(named, range(p, p + m), range(m), "the denominator at the nominal values")
    chosen = select(turned_round, range(p), range(m))
    return renamed(chosen, inputs=default_names("u", m), outputs=default_names("y", p))


def _from_left_fraction(r: RationalMatrix, order: Sequence[int]) -> LFTData:
    """D^-1 N from one realisation of [N, D], through the transpose."""
    n, d = r.left_fraction()
    p, m = r.shape
    stacked = _stacked({k: v.T for k, v in n.items()}, {k: v.T for k, v in d.items()}, 0, r.field)
    both = turned(reduce(nested(stacked, r, order, (p + m, p))), m)
    return transpose(both)


def _stacked(top: Terms, bottom: Terms, axis: int, field: Field) -> Terms:
    rows_top, rows_bottom = (next(iter(t.values())).shape if t else None for t in (top, bottom))
    assert rows_bottom is not None
    rows_top = rows_top or (0, rows_bottom[1])
    return {
        k: np.concatenate([top.get(k, field.zeros(*rows_top)), bottom.get(k, field.zeros(*rows_bottom))], axis=axis)
        for k in {**top, **bottom}
    }


def _from_expressions(r: RationalMatrix) -> LFTData:
    """Structure-preserving: every sum, product and power of the expressions as they stand, reduced on the way."""
    rows = []
    for i in range(r.shape[0]):
        entries = [_node(r.expressions[i, j], r) for j in range(r.shape[1])]
        row = entries[0]
        for k, e in enumerate(entries[1:], 1):
            row = _beside(row, e, k)
        rows.append(row)
    return vstack(rows)


def _beside(row: LFTData, entry: LFTData, k: int) -> LFTData:
    return reduce(hstack([row, entry])) if k % 4 == 0 else hstack([row, entry])


def _node(e: sp.Expr, r: RationalMatrix) -> LFTData:
    coordinates = {p.coordinate: p for p in r.parameters}
    if not e.free_symbols & set(coordinates):
        return constant(r.field.array([[e]]) if r.field.exact else r.field.array([[float(e)]]), r.field)
    if e in coordinates:
        p = coordinates[e]
        return change_maps(_coordinate(p, 1, r.field), {p.name: DeltaMap(p.coordinate_nominal)})
    if isinstance(e, sp.Pow):
        base = _node(e.base, r)
        base = inverse(base) if e.exp < 0 else base
        out = base
        for _ in range(abs(int(e.exp)) - 1):
            out = multiply(out, base)
        return reduce(out)
    parts = [_node(a, r) for a in e.args]
    combine = add if isinstance(e, sp.Add) else multiply
    out = parts[0]
    for part in parts[1:]:
        out = reduce(combine(out, part))
    return out


def _short(matrix: sp.MatrixBase) -> str:
    text = str(matrix.tolist())
    return text if len(text) < 120 else text[:117] + "..."

