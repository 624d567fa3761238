"""The blocks of Delta: which parameter or uncertainty, how often, and how a user's value becomes delta."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lftgen.errors import ModelError, ParameterError
from lftgen.parameters import Parameter

KINDS = ("real", "complex", "full complex", "full real")


@dataclass(frozen=True)
class DeltaMap:
    """From a coordinate x to delta: ``x = origin + scale delta / (1 + skew delta)``.

    As built, scale is 1 and skew 0: delta is the deviation from the nominal.  Normalised, delta = -1, 0, 1 are the
    lower end, the nominal and the upper end of the range.
    """

    origin: float
    scale: float = 1.0
    skew: float = 0.0

    def delta(self, x: Any) -> Any:
        """delta of a coordinate (array in, array out)."""
        d = np.asarray(x) - self.origin
        return d / (self.scale - self.skew * d)

    def coordinate(self, delta: Any) -> Any:
        """Coordinate of a delta (array in, array out)."""
        d = np.asarray(delta)
        return self.origin + self.scale * d / (1 + self.skew * d)


@dataclass(frozen=True)
class DeltaBlock:
    """One block of Delta: ``kron(I_repetitions, D)`` with D of ``shape``.

    Attributes
    ----------
    name : str
        The parameter's name, or the uncertainty's.
    kind : {"real", "complex", "full complex", "full real"}
        A repeated real scalar (a parameter), a repeated complex scalar, or a full matrix.
    repetitions : int
    shape : (int, int)
        Rows and columns of D, (1, 1) for scalars.
    parameter : Parameter or None
        For kind "real".
    map : DeltaMap
        From the parameter's coordinate to delta (kind "real" only).
    bound : float
        Largest singular value that D may have (other kinds).
    """

    name: str
    kind: str
    repetitions: int
    shape: tuple[int, int] = (1, 1)
    parameter: Parameter | None = None
    map: DeltaMap = DeltaMap(0.0)
    bound: float = 1.0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ModelError(f"Delta block {self.name}: kind must be one of {KINDS}, got {self.kind!r}")
        if self.repetitions < 0 or min(self.shape) < 1:
            raise ModelError(
                f"Delta block {self.name}: {self.repetitions} repetitions of a {self.shape} block"
            )
        if not 0 < self.bound < float("inf"):
            raise ModelError(
                f"Delta block {self.name}: the bound must be positive and finite, got {self.bound}"
            )
        if self.is_scalar and self.shape != (1, 1):
            raise ModelError(
                f"Delta block {self.name}: a {self.kind} scalar has shape (1, 1), got {self.shape}"
            )
        if (self.kind == "real") != (self.parameter is not None):
            raise ModelError(f"Delta block {self.name}: exactly the blocks of kind 'real' have a parameter")

    @property
    def is_scalar(self) -> bool:
        """Whether the block is a scalar times the identity (and so may be reduced)."""
        return self.kind in ("real", "complex")

    @property
    def n_z(self) -> int:
        """Signals that enter the block: rows of M."""
        return self.repetitions * self.shape[1]

    @property
    def n_w(self) -> int:
        """Signals that leave the block: columns of M."""
        return self.repetitions * self.shape[0]

    def with_repetitions(self, repetitions: int) -> DeltaBlock:
        """The same block with another number of repetitions."""
        return replace(self, repetitions=repetitions)

    def delta_bounds(self) -> tuple[float, float]:
        """Range of delta of a real scalar block."""
        assert self.parameter is not None
        low, high = (float(self.map.delta(x)) for x in self.parameter.coordinate_bounds)
        return low, high

    def delta_of(self, value: Any, *, extrapolate: bool = False) -> np.ndarray:
        """delta for user values: (...,) for scalars, (..., rows, columns) for full blocks.

        Raises
        ------
        ParameterError
            Out of range, not finite, wrong shape, or a singular value above ``bound``.
        """
        if self.parameter is not None:
            return self.map.delta(
                self.parameter.to_coordinate(self.parameter.check_values(value, extrapolate=extrapolate))
            )
        try:
            array = np.asarray(value, dtype=complex)
            if self.kind == "full real":
                if np.any(array.imag):
                    raise ValueError("complex")
                array = array.real
        except (TypeError, ValueError) as error:
            raise ParameterError(f"{self.name}: expected {self.kind} numbers, got {value!r}") from error
        if not self.is_scalar and array.shape[-2:] != self.shape:
            raise ParameterError(
                f"{self.name}: expected a {self.shape[0]}x{self.shape[1]} matrix, got shape {array.shape}"
            )
        if not np.all(np.isfinite(array)):
            raise ParameterError(f"{self.name}: expected finite numbers, got {value!r}")
        gain = np.abs(array) if self.is_scalar else np.linalg.norm(array, 2, axis=(-2, -1))
        if not extrapolate and np.any(gain > self.bound * (1 + 1e-9)):
            raise ParameterError(f"{self.name}: gain {np.max(gain):.6g} is above its bound {self.bound:.6g}")
        return array


def real_block(parameter: Parameter, repetitions: int) -> DeltaBlock:
    """The block of a parameter as built: delta = coordinate minus nominal coordinate."""
    return DeltaBlock(
        parameter.name, "real", repetitions, parameter=parameter, map=DeltaMap(parameter.coordinate_nominal)
    )


@dataclass(frozen=True)
class Structure:
    """States first (integrators 1/s), then the Delta blocks in order; the inner channels of M."""

    states: tuple[str, ...] = ()
    blocks: tuple[DeltaBlock, ...] = ()

    def __post_init__(self) -> None:
        twice = sorted({s for s in self.states if self.states.count(s) > 1})
        if twice:
            raise ModelError(
                f"state names occur twice: {', '.join(twice)}; rename the states of one of the systems"
            )

    @property
    def n_states(self) -> int:
        """Number of states."""
        return len(self.states)

    @property
    def n_rows(self) -> int:
        """Inner rows of M: states and all z."""
        return len(self.states) + sum(b.n_z for b in self.blocks)

    @property
    def n_columns(self) -> int:
        """Inner columns of M: states and all w."""
        return len(self.states) + sum(b.n_w for b in self.blocks)

    def row_slices(self) -> list[slice]:
        """Rows of M of each block's z."""
        return slices_of((b.n_z for b in self.blocks), len(self.states))

    def column_slices(self) -> list[slice]:
        """Columns of M of each block's w."""
        return slices_of((b.n_w for b in self.blocks), len(self.states))


def slices_of(sizes: Iterable[int], start: int = 0) -> list[slice]:
    """Consecutive slices of the given sizes."""
    return [slice(a, b) for a, b in itertools.pairwise(itertools.accumulate(sizes, initial=start))]


def merge(structures: Sequence[Structure]) -> tuple[Structure, np.ndarray, np.ndarray]:
    """One structure for inner channels placed side by side, with the row and column order that brings them there.

    States come first, in order; each parameter or uncertainty becomes one block, in order of first appearance.

    Raises
    ------
    ModelError
        Two states of one name, or two blocks of one name that are not the same uncertainty.
    ParameterError
        Two different parameters of one name.
    """
    states = tuple(s for structure in structures for s in structure.states)
    merged: dict[str, DeltaBlock] = {}
    for structure in structures:
        for block in structure.blocks:
            have = merged.get(block.name)
            merged[block.name] = block if have is None else _joined(have, block)
    rows = _order(
        structures, list(merged), [s.row_slices() for s in structures], [s.n_rows for s in structures]
    )
    columns = _order(
        structures, list(merged), [s.column_slices() for s in structures], [s.n_columns for s in structures]
    )
    return Structure(states, tuple(merged.values())), rows, columns


def _joined(have: DeltaBlock, block: DeltaBlock) -> DeltaBlock:
    if have.parameter != block.parameter and have.parameter is not None and block.parameter is not None:
        raise ParameterError(
            f"two different parameters are named {have.name}: ({have.parameter.describe()}) and ({block.parameter.describe()})"
        )
    if replace(have, repetitions=0) != replace(block, repetitions=0):
        raise ModelError(
            f"two Delta blocks are named {have.name} but differ ({have.kind} {have.shape} {have.map} and "
            f"{block.kind} {block.shape} {block.map}); normalise both or neither, or rename one"
        )
    return have.with_repetitions(have.repetitions + block.repetitions)


def _order(
    structures: Sequence[Structure],
    names: Sequence[str],
    slices: Sequence[Sequence[slice]],
    totals: Sequence[int],
) -> np.ndarray:
    offsets = np.cumsum([0, *totals])
    order = [off + i for off, s in zip(offsets, structures, strict=False) for i in range(s.n_states)]
    for name in names:
        for off, structure, where in zip(offsets, structures, slices, strict=False):
            for block, part in zip(structure.blocks, where, strict=True):
                if block.name == name:
                    order += range(off + part.start, off + part.stop)
    return np.array(order, dtype=int)
