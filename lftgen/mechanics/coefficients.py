"""Coefficient matrices of the blocks as LFTs: split into independent parts, each realised once."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import sympy as sp
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from lftgen.lft.algebra import add, block_diag, constant, multiply
from lftgen.lft.data import LFTData
from lftgen.lft.field import FLOAT, ExactField
from lftgen.lft.realize import realize_matrix


def realize_coefficient(matrix: sp.MatrixBase, *, exact: bool) -> LFTData:
    """The LFT of a matrix whose parametric entries mostly fall into independent blocks.

    Rows and columns that no parametric entry connects are realised apart, so that ``blkdiag(R, R)`` costs what R does.
    """
    return _realized(sp.ImmutableMatrix(matrix), exact)


@lru_cache(maxsize=1024)
def _realized(matrix: sp.ImmutableMatrix, exact: bool) -> LFTData:
    rows_of = matrix.tolist()
    entries = {(i, j): e for i, row in enumerate(rows_of) for j, e in enumerate(row) if e.free_symbols}
    if not entries:
        return realize_matrix(matrix, exact=exact)
    plain = sp.ImmutableMatrix([[0 if e.free_symbols else e for e in row] for row in rows_of])
    base = realize_matrix(plain, exact=exact)
    parts = [
        _part(entries, rows, columns, exact) for rows, columns in _components(list(entries), matrix.shape)
    ]
    whole = block_diag([p for p, _, _ in parts])
    rows = [i for _, r, _ in parts for i in r]
    columns = [j for _, _, c in parts for j in c]
    left, right = np.zeros((matrix.rows, len(rows))), np.zeros((len(columns), matrix.cols))
    left[rows, range(len(rows))] = 1
    right[range(len(columns)), columns] = 1
    field = whole.field
    spread = multiply(
        multiply(constant(_entries(left, field), field), whole), constant(_entries(right, field), field)
    )
    return add(spread, base)


def _entries(values: np.ndarray, field: object) -> np.ndarray:
    return field.array(values) if isinstance(field, ExactField) else FLOAT.array(values)


def _components(entries: list[tuple[int, int]], shape: tuple[int, int]) -> list[tuple[list[int], list[int]]]:
    rows, columns = zip(*entries, strict=True)
    n = shape[0] + shape[1]
    graph = coo_array((np.ones(len(entries)), (rows, [shape[0] + j for j in columns])), shape=(n, n))
    _, label = connected_components(graph, directed=False)
    out = []
    for k in dict.fromkeys(label[list(rows)]):
        members = [int(i) for i in np.flatnonzero(label == k)]
        out.append(([i for i in members if i < shape[0]], [i - shape[0] for i in members if i >= shape[0]]))
    return out


def _part(
    entries: dict[tuple[int, int], sp.Expr], rows: list[int], columns: list[int], exact: bool
) -> tuple[LFTData, list[int], list[int]]:
    sub = sp.ImmutableMatrix([[entries.get((i, j), 0) for j in columns] for i in rows])
    return realize_matrix(sub, exact=exact, thorough=False), rows, columns
