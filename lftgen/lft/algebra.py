"""The algebra of upper LFTs, as functions on :class:`LFTData`.

Every function works on float and exact entries alike, keeps each parameter in one block and never transforms states.
Formulas: Zhou, Doyle, Glover, *Robust and Optimal Control*, chapter 10.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lftgen.errors import ModelError
from lftgen.lft.data import LFTData, default_names, is_default
from lftgen.lft.field import FLOAT, Field, common_field
from lftgen.lft.structure import Structure, merge

Names = Sequence[str] | None


def build(
    structures: Sequence[Structure],
    parts: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    field: Field,
    inputs: Sequence[str],
    outputs: Sequence[str],
) -> LFTData:
    """LFT from M11, M12, M21, M22 whose inner channels are those of the structures side by side."""
    structure, rows, columns = merge(structures)
    m11, m12, m21, m22 = parts
    M = np.block([[m11[np.ix_(rows, columns)], m12[rows]], [m21[:, columns], m22]])
    return LFTData(M, structure, tuple(inputs), tuple(outputs), field)


def constant(
    matrix: np.ndarray, field: Field = FLOAT, inputs: Names = None, outputs: Names = None
) -> LFTData:
    """A matrix of field entries as an LFT without inner channels."""
    outputs, inputs = (
        names_or_default(outputs, "y", matrix.shape[0]),
        names_or_default(inputs, "u", matrix.shape[1]),
    )
    return LFTData(matrix, Structure(), inputs, outputs, field)


def names_or_default(names: Names, prefix: str, n: int) -> tuple[str, ...]:
    """Given names (checked for their number) or python-control's default ones."""
    if names is None:
        return default_names(prefix, n)
    if isinstance(names, str) or len(names) != n:
        raise ModelError(f"expected {n} names, got {names!r}")
    return tuple(names)


def to_common_field(systems: Sequence[LFTData]) -> tuple[list[LFTData], Field]:
    """All systems with entries of one field."""
    if not systems:
        raise ModelError("expected at least one system, got none")
    field = systems[0].field
    for s in systems[1:]:
        field = common_field(field, s.field)
    return [s.with_field(field) for s in systems], field


def block_diagonal(blocks: Sequence[np.ndarray], field: Field) -> np.ndarray:
    """Block-diagonal matrix of field entries (blocks may be empty)."""
    out = field.zeros(sum(b.shape[0] for b in blocks), sum(b.shape[1] for b in blocks))
    i = j = 0
    for b in blocks:
        out[i : i + b.shape[0], j : j + b.shape[1]] = b
        i, j = i + b.shape[0], j + b.shape[1]
    return out


def add(a: LFTData, b: LFTData) -> LFTData:
    """``a + b``; where both name a signal, the names of ``a`` stay."""
    if a.shape != b.shape:
        raise ModelError(f"sum of a {a.shape[0]}x{a.shape[1]} and a {b.shape[0]}x{b.shape[1]} LFT")
    (a, b), field = to_common_field([a, b])
    (a11, a12, a21, a22), (b11, b12, b21, b22) = a.split(), b.split()
    parts = block_diagonal([a11, b11], field), np.vstack([a12, b12]), np.hstack([a21, b21]), a22 + b22
    outputs, inputs = _chosen("y", [a.outputs, b.outputs]), _chosen("u", [a.inputs, b.inputs])
    return build([a.structure, b.structure], parts, field, inputs, outputs)


def negate(a: LFTData) -> LFTData:
    """``-a``."""
    r = a.structure.n_rows
    return replace(a, M=np.vstack([a.M[:r], -a.M[r:]]))


def multiply(a: LFTData, b: LFTData) -> LFTData:
    """``a b``: the outputs of b feed the inputs of a, in order."""
    if a.shape[1] != b.shape[0]:
        raise ModelError(f"product of a {a.shape[0]}x{a.shape[1]} and a {b.shape[0]}x{b.shape[1]} LFT")
    (a, b), field = to_common_field([a, b])
    (a11, a12, a21, a22), (b11, b12, b21, b22) = a.split(), b.split()
    m11 = block_diagonal([a11, b11], field)
    m11[: a11.shape[0], a11.shape[1] :] = field.matmul(a12, b21)
    m12 = np.vstack([field.matmul(a12, b22), b12])
    m21 = np.hstack([a21, field.matmul(a22, b21)])
    return build(
        [a.structure, b.structure], (m11, m12, m21, field.matmul(a22, b22)), field, b.inputs, a.outputs
    )


def inverse(a: LFTData) -> LFTData:
    """``a^-1``; inputs and outputs change places with their names.

    Raises
    ------
    IllPosedError
        Where the nominal matrix (Delta = 0) is singular.
    """
    if a.shape[0] != a.shape[1]:
        raise ModelError(f"inverse of a {a.shape[0]}x{a.shape[1]} LFT; only a square one has an inverse")
    f = a.field
    m11, m12, m21, m22 = a.split()
    inv = f.solve(
        m22, f.eye(a.shape[0]), f"the nominal value of the LFT {list(a.outputs)} <- {list(a.inputs)}"
    )
    right = f.matmul(m12, inv)
    parts = (m11 - f.matmul(right, m21), right, -f.matmul(inv, m21), inv)
    return build([a.structure], parts, f, *_exchanged(a))


def transpose(a: LFTData) -> LFTData:
    """Matrix transpose; inputs and outputs change places with their names (a full block must be 1x1)."""
    for b in a.structure.blocks:
        if b.shape != (1, 1):
            raise ModelError(
                f"transpose: the full block {b.name} would become its own transpose, another uncertainty"
            )
    return LFTData(a.M.T.copy(), a.structure, *_exchanged(a), a.field)


def hstack(systems: Sequence[LFTData]) -> LFTData:
    """Side by side: inputs of all, one set of outputs."""
    systems, field = to_common_field(systems)
    if len({s.shape[0] for s in systems}) != 1:
        raise ModelError(f"hstack needs equal numbers of outputs, got {[s.shape[0] for s in systems]}")
    parts = [s.split() for s in systems]
    m11, m12 = (block_diagonal([p[i] for p in parts], field) for i in (0, 1))
    m21, m22 = np.hstack([p[2] for p in parts]), np.hstack([p[3] for p in parts])
    inputs = _concatenated("u", [s.inputs for s in systems])
    return build(
        [s.structure for s in systems],
        (m11, m12, m21, m22),
        field,
        inputs,
        _chosen("y", [s.outputs for s in systems]),
    )


def vstack(systems: Sequence[LFTData]) -> LFTData:
    """One above the other: outputs of all, one set of inputs."""
    systems, field = to_common_field(systems)
    if len({s.shape[1] for s in systems}) != 1:
        raise ModelError(f"vstack needs equal numbers of inputs, got {[s.shape[1] for s in systems]}")
    parts = [s.split() for s in systems]
    m11, m21 = (block_diagonal([p[i] for p in parts], field) for i in (0, 2))
    m12, m22 = np.vstack([p[1] for p in parts]), np.vstack([p[3] for p in parts])
    outputs = _concatenated("y", [s.outputs for s in systems])
    return build(
        [s.structure for s in systems],
        (m11, m12, m21, m22),
        field,
        _chosen("u", [s.inputs for s in systems]),
        outputs,
    )


def block_diag(systems: Sequence[LFTData]) -> LFTData:
    """Block-diagonal: inputs and outputs of all."""
    systems, field = to_common_field(systems)
    parts = [s.split() for s in systems]
    m11, m12, m21, m22 = (block_diagonal([p[i] for p in parts], field) for i in range(4))
    inputs = _concatenated("u", [s.inputs for s in systems])
    outputs = _concatenated("y", [s.outputs for s in systems])
    return build([s.structure for s in systems], (m11, m12, m21, m22), field, inputs, outputs)


def select(a: LFTData, rows: Sequence[int], columns: Sequence[int]) -> LFTData:
    """Some outputs and inputs, in the given order."""
    r, c = a.structure.n_rows, a.structure.n_columns
    keep_rows = [*range(r), *(r + i for i in rows)]
    keep_columns = [*range(c), *(c + j for j in columns)]
    names = tuple(a.inputs[j] for j in columns), tuple(a.outputs[i] for i in rows)
    return LFTData(a.M[np.ix_(keep_rows, keep_columns)], a.structure, *names, a.field)


def exchange(a: LFTData, rows: Sequence[int], columns: Sequence[int], what: str) -> LFTData:
    """Turn some channels round: outputs ``rows`` become inputs and inputs ``columns`` outputs, in the same places.

    The principal pivot transform of M; repetitions do not change.

    Raises
    ------
    IllPosedError
        Where the nominal matrix from these inputs to these outputs is singular; the message starts with ``what``.
    """
    f, s = a.field, a.structure
    r, c = [s.n_rows + i for i in rows], [s.n_columns + j for j in columns]
    others_r = [i for i in range(a.M.shape[0]) if i not in set(r)]
    others_c = [j for j in range(a.M.shape[1]) if j not in set(c)]
    pivot = a.M[np.ix_(r, c)]
    solved = f.solve(pivot, np.hstack([f.eye(len(r)), a.M[np.ix_(r, others_c)]]), what)
    inv, q = solved[:, : len(r)], solved[:, len(r) :]
    below = a.M[np.ix_(others_r, c)]
    M = np.empty_like(a.M)
    M[np.ix_(r, c)], M[np.ix_(r, others_c)] = inv, -q
    M[np.ix_(others_r, c)] = f.matmul(below, inv)
    M[np.ix_(others_r, others_c)] = a.M[np.ix_(others_r, others_c)] - f.matmul(below, q)
    inputs, outputs = list(a.inputs), list(a.outputs)
    for i, j in zip(rows, columns, strict=True):
        inputs[j], outputs[i] = a.outputs[i], a.inputs[j]
    return LFTData(M, s, tuple(inputs), tuple(outputs), f)


def wire(
    a: LFTData,
    loop: np.ndarray,
    feed: np.ndarray,
    read: np.ndarray,
    direct: np.ndarray,
    inputs: Sequence[str],
    outputs: Sequence[str],
) -> LFTData:
    """Close loops around a system: with ``u = loop y + feed r`` and ``v = read y + direct r``, the LFT from r to v.

    The matrices hold entries of the system's field.

    Raises
    ------
    IllPosedError
        Where the algebraic loop ``I - loop M22`` is singular.
    """
    f = a.field
    m11, m12, m21, m22 = a.split()
    n = loop.shape[0]
    right = np.hstack([f.matmul(loop, m21), feed])
    u = (
        f.solve(f.eye(n) - f.matmul(loop, m22), right, f"the algebraic loop through {list(a.inputs)}")
        if n
        else right
    )
    u_w, u_r = u[:, : m21.shape[1]], u[:, m21.shape[1] :]
    y_w, y_r = m21 + f.matmul(m22, u_w), f.matmul(m22, u_r)
    parts = (
        m11 + f.matmul(m12, u_w),
        f.matmul(m12, u_r),
        f.matmul(read, y_w),
        f.matmul(read, y_r) + direct,
    )
    return build([a.structure], parts, f, inputs, outputs)


def _exchanged(a: LFTData) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Inputs and outputs after they change places; unnamed signals stay unnamed."""
    inputs = default_names("u", a.shape[0]) if is_default("y", a.outputs) else a.outputs
    outputs = default_names("y", a.shape[1]) if is_default("u", a.inputs) else a.inputs
    return inputs, outputs


def _chosen(prefix: str, candidates: Sequence[Sequence[str]]) -> Sequence[str]:
    return next((names for names in candidates if not is_default(prefix, names)), candidates[0])


def _concatenated(prefix: str, groups: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Names of all groups; unnamed groups are numbered by their place in the whole."""
    names: list[str] = []
    for group in groups:
        unnamed = is_default(prefix, group)
        names += [f"{prefix}[{len(names) + i}]" for i in range(len(group))] if unnamed else group
    return tuple(names)
