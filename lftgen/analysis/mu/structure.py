"""Block structures of mu: which uncertainty sits where, and the scalings that commute with it.

Every block is ``kron(I_r, D)``, a repeated scalar where D is 1x1.  The scalings that commute with it are
``kron(X, I)`` with X a full r x r matrix: Hermitian for the D scaling, and for real scalars a second, Hermitian one
for the G scaling.  Both are held in one complex matrix ``T = D + j G'``.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from lftgen.errors import ModelError
from lftgen.lft.structure import KINDS, DeltaBlock


@dataclass(frozen=True)
class MuBlock:
    """One block: ``kron(I_repetitions, D)``, D of ``shape`` (rows, columns)."""

    kind: str
    repetitions: int
    shape: tuple[int, int] = (1, 1)
    name: str = ""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ModelError(f"{self.name or 'mu block'}: kind must be one of {KINDS}, got {self.kind!r}")
        if self.repetitions < 0 or len(self.shape) != 2 or min(self.shape) < 1:
            raise ModelError(
                f"{self.name or 'mu block'}: expected repetitions >= 0 and a shape (rows, columns) of positive numbers, "
                f"got {self.repetitions} and {self.shape}"
            )
        if self.kind in ("real", "complex") and tuple(self.shape) != (1, 1):
            raise ModelError(
                f"{self.name or 'mu block'}: a {self.kind} scalar has shape (1, 1), got {self.shape}"
            )

    @property
    def side(self) -> int:
        """Side of D padded to a square by zeros."""
        return max(self.shape)


def parse_blocks(blocks: Sequence[Any]) -> tuple[MuBlock, ...]:
    """Blocks from what users write: DeltaBlock, MuBlock, ``("real", 3)``, ``("complex", 2)``, ``("full complex", (2, 3))``.

    Raises
    ------
    ModelError
        Anything else.
    """
    if isinstance(blocks, (str, DeltaBlock, MuBlock)) or not isinstance(blocks, Sequence):
        raise ModelError(f"blocks: expected a list of blocks such as ('real', 3), got {blocks!r}")
    return tuple(_parse(b, f"block {i}") for i, b in enumerate(blocks))


def _parse(block: Any, name: str) -> MuBlock:
    if isinstance(block, MuBlock):
        return block
    if isinstance(block, DeltaBlock):
        return MuBlock(block.kind, block.repetitions, block.shape, block.name)
    try:
        kind, size = block
    except (TypeError, ValueError):
        raise ModelError(
            f"{name}: expected a pair such as ('real', 3) or ('full complex', (2, 3)), got {block!r}"
        ) from None
    if kind not in KINDS:
        raise ModelError(f"{name}: kind must be one of {KINDS}, got {kind!r}")
    if kind in ("real", "complex"):
        if isinstance(size, (int, np.integer)) and not isinstance(size, bool) and size >= 0:
            return MuBlock(kind, int(size), (1, 1), name)
        raise ModelError(f"{name}: expected the number of repetitions of a {kind} scalar, got {size!r}")
    try:
        rows, columns = (operator.index(v) for v in size)
    except (TypeError, ValueError):
        raise ModelError(
            f"{name}: expected the shape (rows, columns) of a {kind} block, got {size!r}"
        ) from None
    return MuBlock(kind, 1, (rows, columns), name)


@dataclass(frozen=True)
class MuStructure:
    """Blocks in order, with the index bookkeeping of scalings and of the padding to square blocks."""

    blocks: tuple[MuBlock, ...]

    @cached_property
    def n_z(self) -> int:
        """Rows of M."""
        return sum(b.repetitions * b.shape[1] for b in self.blocks)

    @cached_property
    def n_w(self) -> int:
        """Columns of M."""
        return sum(b.repetitions * b.shape[0] for b in self.blocks)

    @cached_property
    def size(self) -> int:
        """Side of M padded to a square."""
        return sum(b.repetitions * b.side for b in self.blocks)

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """First padded channel of each block."""
        return tuple(np.cumsum([0, *(b.repetitions * b.side for b in self.blocks)])[:-1].tolist())

    @cached_property
    def rows(self) -> np.ndarray:
        """Padded channel of each row of M."""
        return self._channels(1)

    @cached_property
    def columns(self) -> np.ndarray:
        """Padded channel of each column of M."""
        return self._channels(0)

    def _channels(self, side: int) -> np.ndarray:
        parts = [
            start + copy * b.side + np.arange(b.shape[side])
            for start, b in zip(self.starts, self.blocks, strict=True)
            for copy in range(b.repetitions)
        ]
        return np.concatenate(parts).astype(int) if parts else np.zeros(0, dtype=int)

    def pad(self, M: np.ndarray) -> np.ndarray:
        """M with zero rows and columns that make every block square; mu does not change."""
        if self.size == self.n_z == self.n_w:
            return M
        out = np.zeros((*M.shape[:-2], self.size, self.size), dtype=M.dtype)
        out[..., self.rows[:, None], self.columns] = M
        return out

    @cached_property
    def real_only(self) -> bool:
        """Whether every block is a real scalar."""
        return all(b.kind == "real" for b in self.blocks if b.repetitions)

    @cached_property
    def mask(self) -> np.ndarray:
        """True where a scaling may have an entry."""
        out = np.zeros((self.size, self.size), dtype=bool)
        out[self._entries[0], self._entries[1]] = True
        return out

    @cached_property
    def _entries(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Row, column and number of the free matrix entry of each position of a scaling."""
        rows, columns, number, count = [], [], [], 0
        for start, b in zip(self.starts, self.blocks, strict=True):
            i, j = np.meshgrid(np.arange(b.repetitions), np.arange(b.repetitions), indexing="ij")
            for s in range(b.side):
                rows.append(start + i.ravel() * b.side + s)
                columns.append(start + j.ravel() * b.side + s)
                number.append(count + np.arange(b.repetitions**2))
            count += b.repetitions**2
        flat = [np.concatenate(x).astype(int) if x else np.zeros(0, int) for x in (rows, columns, number)]
        return flat[0], flat[1], flat[2]

    def basis(self, real: bool) -> ScalingBasis:
        """Real coordinates of T; with ``real`` only real T, which loses nothing where M is real."""
        return self._real_basis if real else self._complex_basis

    @cached_property
    def _real_basis(self) -> ScalingBasis:
        return ScalingBasis.make(self, True)

    @cached_property
    def _complex_basis(self) -> ScalingBasis:
        return ScalingBasis.make(self, False)


@dataclass(frozen=True)
class ScalingBasis:
    """``T[rows, columns] = matrix @ x``: T = D + j G' from its real coordinates x.

    T is any complex matrix within a real scalar's block, Hermitian in the others.
    """

    size: int
    rows: np.ndarray
    columns: np.ndarray
    matrix: Any

    @classmethod
    def make(cls, structure: MuStructure, real: bool) -> ScalingBasis:
        """Basis for a structure."""
        free: list[tuple[int, int, complex]] = []  # free entry, coordinate, factor
        first = count = 0
        for b in structure.blocks:
            r = b.repetitions
            for i in range(r):
                for j in range(r):
                    here, there = first + i * r + j, first + j * r + i
                    if b.kind == "real":
                        free.append((here, count, 1.0))
                        count += 1
                        if not real:
                            free.append((here, count, 1j))
                            count += 1
                    elif i <= j:
                        free += [(here, count, 1.0)] + ([(there, count, 1.0)] if i < j else [])
                        count += 1
                        if i < j and not real:
                            free += [(here, count, 1j), (there, count, -1j)]
                            count += 1
            first += r * r
        entry, coordinate, factor = zip(*free, strict=True) if free else ((), (), ())
        values = np.array(factor, dtype=complex)
        values = values.real if real else values
        small = sparse.csr_matrix((values, (entry, coordinate)), shape=(first, count))
        rows, columns, number = structure._entries
        return cls(structure.size, rows, columns, small[number])

    def scaling(self, x: np.ndarray) -> np.ndarray:
        """T of coordinates x."""
        values = self.matrix @ x
        T = np.zeros((self.size, self.size), dtype=values.dtype)
        T[self.rows, self.columns] = values
        return T

    def coordinates(self, T: np.ndarray) -> np.ndarray:
        """Coordinates of a T that lies in the span (the basis is orthogonal)."""
        return np.real(self.adjoint @ T[self.rows, self.columns]) / self.norms

    @cached_property
    def transposed(self) -> Any:
        """Transpose of the matrix."""
        return self.matrix.T.tocsr()

    @cached_property
    def adjoint(self) -> Any:
        """Conjugate transpose of the matrix."""
        return self.matrix.conj().T.tocsr()

    @cached_property
    def norms(self) -> np.ndarray:
        """Squared norm of each column."""
        return np.asarray(abs(self.matrix).power(2).sum(axis=0)).ravel()
