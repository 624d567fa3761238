"""A Delta that makes I - M Delta singular: its values by block, its size, and the test that confirms it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lftgen.analysis.mu.structure import MuStructure

CONFIRMED = 1e-8
"""The smallest singular value of I - M Delta, relative to its norm (or 1), that counts as zero."""
NEARLY_REAL = 1e-4
"""Eigenvalues whose imaginary part is below this, relatively, are looked at: a defective one splits by the root of eps."""


@dataclass(frozen=True)
class Singular:
    """``I - M Delta`` is singular at this Delta of norm ``size``: one value (scalar or matrix) for each block."""

    size: float
    deltas: tuple[np.ndarray, ...]

    @property
    def bound(self) -> float:
        """The lower bound of mu."""
        return 1 / self.size


def delta_matrix(structure: MuStructure, deltas: tuple[np.ndarray, ...]) -> np.ndarray:
    """Delta (columns of M x rows of M) of one value for each block."""
    out = np.zeros((structure.n_w, structure.n_z), dtype=complex)
    row = column = 0
    for b, value in zip(structure.blocks, deltas, strict=True):
        for _ in range(b.repetitions):
            out[row : row + b.shape[0], column : column + b.shape[1]] = value
            row, column = row + b.shape[0], column + b.shape[1]
    return out


def confirmed(M: np.ndarray, structure: MuStructure, deltas: tuple[np.ndarray, ...]) -> Singular | None:
    """The Delta scaled so that I - M Delta is singular, which its singular values show, or None where no scale does it."""
    product = M @ delta_matrix(structure, deltas)
    values = np.linalg.eigvals(product)
    real = values[(np.abs(values.imag) < NEARLY_REAL * np.abs(values)) & (values.real > 0)].real
    for value in np.sort(real)[::-1]:
        singular = np.linalg.svd(np.eye(len(product)) - product / value, compute_uv=False)
        if singular[-1] > CONFIRMED * max(1.0, singular[0]):
            continue
        size = max((float(np.linalg.norm(np.atleast_2d(d), 2)) for d in deltas), default=0.0) / value
        return Singular(size, tuple(d / value for d in deltas)) if size > 0 else None
    return None


class Parts:
    """M split into channels of real scalars (with selectors) and of complex blocks."""

    def __init__(self, M: np.ndarray, structure: MuStructure) -> None:
        self.M, self.structure = M, structure
        self.real = [i for i, b in enumerate(structure.blocks) if b.kind == "real" and b.repetitions]
        self.rest = [i for i, b in enumerate(structure.blocks) if b.kind != "real" and b.repetitions]
        row = column = 0
        self.z: list[np.ndarray] = []
        self.w: list[np.ndarray] = []
        for b in structure.blocks:
            self.z.append(np.arange(row, row + b.repetitions * b.shape[1]))
            self.w.append(np.arange(column, column + b.repetitions * b.shape[0]))
            row, column = row + b.repetitions * b.shape[1], column + b.repetitions * b.shape[0]

    def real_delta(self, reals: np.ndarray) -> np.ndarray:
        out = np.zeros((*reals.shape[:-1], self.structure.n_w, self.structure.n_z))
        for k, i in enumerate(self.real):
            out[..., self.w[i], self.z[i]] = reals[..., k, None]
        return out

    def all_deltas(self, reals: np.ndarray, others: dict[int, np.ndarray]) -> tuple[np.ndarray, ...]:
        blocks = self.structure.blocks
        values = {**dict(zip(self.real, (np.asarray(r) for r in reals), strict=True)), **others}
        return tuple(values.get(i, np.zeros(b.shape)) for i, b in enumerate(blocks))
