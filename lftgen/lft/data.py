"""The frozen partitioned matrix M of an upper LFT, with its Delta structure and signal names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lftgen.arguments import items
from lftgen.errors import ModelError, ParameterError
from lftgen.lft.field import FLOAT, Field, convert
from lftgen.lft.structure import DeltaBlock, Structure


@dataclass(frozen=True, eq=False)
class LFTData:
    """``F_u(M, Delta) = M22 + M21 Delta (I - M11 Delta)^-1 M12``, Delta = blkdiag(I_n/s, blocks).

    Rows of M are [states; z of each block; outputs], its columns [states; w of each block; inputs]: the *inner*
    channels are states and blocks, the *outer* ones inputs and outputs.
    """

    M: np.ndarray
    structure: Structure
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    field: Field = FLOAT

    def __post_init__(self) -> None:
        s = self.structure
        expected = (s.n_rows + len(self.outputs), s.n_columns + len(self.inputs))
        if self.M.shape != expected:
            raise ModelError(
                f"M must be {expected[0]}x{expected[1]} ({len(s.states)} states, blocks "
                f"{[(b.name, b.n_z, b.n_w) for b in s.blocks]}, {len(self.outputs)} outputs, {len(self.inputs)} inputs), "
                f"got {'x'.join(map(str, self.M.shape))}"
            )
        if not self.field.exact and not np.all(np.isfinite(self.M)):
            raise ModelError("M holds NaN or infinite entries")
        self.M.flags.writeable = False
        _check_names("input", self.inputs)
        _check_names("output", self.outputs)
        clash = {b.name for b in s.blocks} & {f.name for f in self.field.symbols}
        if clash:
            raise ParameterError(
                f"{', '.join(sorted(clash))}: a plain symbol and a parameter share a name in one model; "
                "use the parameter itself in every expression"
            )

    @property
    def n_states(self) -> int:
        """Number of states."""
        return self.structure.n_states

    @property
    def shape(self) -> tuple[int, int]:
        """Outputs and inputs."""
        return len(self.outputs), len(self.inputs)

    def split(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """M11 (inner from inner), M12 (inner from inputs), M21 (outputs from inner), M22."""
        r, c = self.structure.n_rows, self.structure.n_columns
        return self.M[:r, :c], self.M[:r, c:], self.M[r:, :c], self.M[r:, c:]

    def with_field(self, field: Field) -> LFTData:
        """The same LFT with entries of another field."""
        return (
            self if field == self.field else replace(self, M=convert(self.M, self.field, field), field=field)
        )


def _check_names(kind: str, names: Sequence[str]) -> None:
    seen: set[str] = set()
    for name in items(names, f"{kind}s", str):
        if name in seen:
            raise ModelError(f"{kind} {name} occurs twice; rename one of the two")
        seen.add(name)


def default_names(prefix: str, n: int) -> tuple[str, ...]:
    """python-control's names of unnamed signals, ``u[0], u[1], ...``."""
    return tuple(f"{prefix}[{i}]" for i in range(n))


def is_default(prefix: str, names: Sequence[str]) -> bool:
    """Whether the signals were never named."""
    return tuple(names) == default_names(prefix, len(names))


def declare(data: LFTData, blocks: Sequence[DeltaBlock]) -> LFTData:
    """The same LFT that also declares blocks of zero repetitions (those it has already are left alone)."""
    have = {b.name for b in data.structure.blocks}
    new = tuple(b.with_repetitions(0) for b in blocks if b.name not in have)
    structure = replace(data.structure, blocks=data.structure.blocks + new)
    return replace(data, structure=structure) if new else data
