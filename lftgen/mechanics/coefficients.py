"""Coefficient matrices of the blocks as LFTs: split into independent parts, each realised once."""

from __future__ import annotations

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
    entries = [(i, j) for i in range(matrix.rows) for j in range(matrix.cols) if matrix[i, j].free_symbols]
    plain = sp.Matrix(matrix)
    for i, j in entries:
        plain[i, j] = 0
    base = realize_matrix(plain, exact=exact)
    if not entries:
        return base
    parts = [_part(matrix, rows, columns, entries, exact) for rows, columns in _components(entries, matrix.shape)]
    whole = block_diag([p for p, _, _ in parts])
    rows = [i for _, r, _ in parts for i in r]
    columns = [j for _, _, c in parts for j in c]
    left, right = np.zeros((matrix.rows, len(rows))), np.zeros((len(columns), matrix.cols))
    left[rows, range(len(rows))] = 1
    right[range(len(columns)), columns] = 1
    field = whole.field
    spread = multiply(multiply(constant(_entries(left, field), field), whole), constant(_entries(right, field), field))
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
    matrix: sp.MatrixBase, rows: list[int], columns: list[int], entries: list[tuple[int, int]], exact: bool
) -> tuple[LFTData, list[int], list[int]]:
    chosen = set(entries)
    sub = sp.Matrix(len(rows), len(columns), lambda i, j: matrix[rows[i], columns[j]] if (rows[i], columns[j]) in chosen else 0)
    return realize_matrix(sub, exact=exact, thorough=False), rows, columns
