"""LFT matrices put together from labelled blocks, most of them zero or constant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lftgen.lft.algebra import add, block_diag, constant, multiply
from lftgen.lft.data import LFTData
from lftgen.lft.field import Field
from lftgen.lft.structure import slices_of

Labels = Mapping[Any, int]
"""Label -> number of components, in order."""


def from_blocks(
    rows: Labels, columns: Labels, entries: Mapping[tuple[Any, Any], LFTData], field: Field
) -> LFTData:
    """The matrix with the given LFTs at (row label, column label) and zeros elsewhere."""
    row_at = dict(zip(rows, slices_of(rows.values()), strict=True))
    column_at = dict(zip(columns, slices_of(columns.values()), strict=True))
    height, width = sum(rows.values()), sum(columns.values())
    plain = field.zeros(height, width)
    parametric = []
    for (r, c), value in entries.items():
        value = value.with_field(field)
        if any(b.repetitions for b in value.structure.blocks):
            parametric.append((row_at[r], column_at[c], value))
        else:
            plain[row_at[r], column_at[c]] = plain[row_at[r], column_at[c]] + value.split()[3]
    out = constant(plain, field)
    if not parametric:
        return out
    core = block_diag([v for _, _, v in parametric])
    left = _selector([r for r, _, _ in parametric], height, field).T
    right = _selector([c for _, c, _ in parametric], width, field)
    return add(out, multiply(multiply(constant(left, field), core), constant(right, field)))


def _selector(parts: list[slice], n: int, field: Field) -> np.ndarray:
    picked = [i for s in parts for i in range(s.start, s.stop)]
    out = field.zeros(len(picked), n)
    out[range(len(picked)), picked] = field.element(1)
    return out


def identity(n: int, field: Field) -> LFTData:
    """The constant identity."""
    return constant(field.eye(n), field)
