"""What a MATLAB file says about an LFT: its uncertain elements, their names, and how a user's value becomes theirs."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from lftgen.errors import LftgenError, ModelError, ModelWarning
from lftgen.interop.identifiers import matlab_name, unique_names
from lftgen.interop.matlab_text import number, row, string
from lftgen.lft.model import LFT
from lftgen.lft.structure import DeltaBlock
from lftgen.parameters import Parameter


@dataclass(frozen=True)
class Element:
    """One block of Delta as MATLAB's uncertain element ``name``.

    Attributes
    ----------
    block : DeltaBlock
    name : str
        Of the element: the parameter's name, with ``_t`` behind it for an angle, as MATLAB can hold it.
    entries : tuple of str
        Names of the entries of a full real block, row by row.
    """

    block: DeltaBlock
    name: str
    entries: tuple[str, ...] = ()

    @property
    def parameter(self) -> Parameter | None:
        """The parameter, for real scalars."""
        return self.block.parameter

    @property
    def bounds(self) -> tuple[float, float]:
        """Range of the element: of the parameter, or of the t of an angle."""
        p = self.parameter
        return p.coordinate_bounds if p is not None else (-self.block.bound, self.block.bound)

    @property
    def nominal(self) -> float:
        """Value at which Delta is zero as built: the parameter's nominal, or its t."""
        return self.parameter.coordinate_nominal if self.parameter is not None else 0.0

    @property
    def is_constant(self) -> bool:
        """Whether the range is one point, which MATLAB does not take for an uncertainty."""
        low, high = self.bounds
        return self.parameter is not None and not low < high

    @property
    def at_edge(self) -> bool:
        """Whether the nominal is an end of the range; MATLAB wants it inside."""
        low, high = self.bounds
        return not self.is_constant and not low < self.nominal < high

    def definition(self, *, dynamic: bool) -> str:
        """The right side of ``e.<name> = ...``; full complex blocks are dynamic, or constant matrices."""
        b, name = self.block, string(self.name)
        if not b.is_scalar:
            return self._full(dynamic)
        if b.kind == "complex":
            return f"ucomplex({name}, 0, 'Radius', {number(b.bound)})"
        if self.is_constant:
            return number(self.bounds[0])
        low, high = self.bounds
        centre = low + (high - low) / 2 if self.at_edge else self.nominal
        return f"ureal({name}, {number(centre)}, 'Range', {row((low, high))})"

    def delta(self) -> str:
        """What Delta repeats, of the element ``e.<name>``."""
        e, m = f"e.{self.name}", self.block.map
        if self.block.kind != "real":
            return e
        if self.is_constant:
            return number(float(m.delta(self.bounds[0])))
        deviation = f"{e} - {number(m.origin)}" if m.origin > 0 else f"{e} + {number(-m.origin)}"
        deviation = deviation if m.origin else e
        if m.skew:
            # d / (scale - skew d) in one occurrence of d
            return f"lft({deviation}, [{number(m.skew / m.scale)} 1; {number(1 / m.scale)} 0])"
        return deviation if m.scale == 1 else f"({deviation})/{number(m.scale)}"

    def _full(self, dynamic: bool) -> str:
        (r, c), b, name = self.block.shape, self.block.bound, string(self.name)
        if self.block.kind == "full real":
            if (r, c) == (1, 1):
                return f"ureal({name}, 0, 'Range', {row((-b, b))})"
            entries = [f"ureal({string(n)}, 0, 'Range', {row((-b, b))})" for n in self.entries]
            lines = [", ...\n   ".join(entries[k : k + c]) for k in range(0, r * c, c)]
            return "[ ...\n  " + "; ...\n  ".join(lines) + "]"
        if dynamic:
            return f"ultidyn({name}, [{r} {c}], 'Bound', {number(b)})"
        left = f"{number(b)}*eye({r})"
        return f"ucomplexm({name}, zeros({r}, {c}), 'WL', {left}, 'WR', eye({c}))"

    def to_coordinate(self, variable: str) -> str:
        """MATLAB text: the element's value of a user's value."""
        p = self.parameter
        if p is None or not p.is_angle:
            return variable
        shifted = f"{variable} - {number(p.center)}" if p.center else variable
        factor = "*(pi/180)" if p.unit == "deg" else ""
        return f"tan(({shifted}){factor}/{p.chart_divisor})"

    def from_coordinate(self, variable: str) -> str:
        """MATLAB text: the user's value of the element's value."""
        p = self.parameter
        if p is None or not p.is_angle:
            return variable
        factor = "*(180/pi)" if p.unit == "deg" else ""
        return f"{number(p.center)} + {p.chart_divisor}*atan({variable}){factor}"


def float_plant(plant: Any, writer: str) -> LFT:
    """An LFT with float entries for a writer.

    Raises
    ------
    ModelError
        No LFT, entries that overflow, free symbols that have no value; the message names the writer and the object.
    """
    if not isinstance(plant, LFT):
        raise ModelError(f"{writer} writes an LFT, got {plant!r:.60} ({type(plant).__name__})")
    if plant.symbols:
        names = ", ".join(map(str, plant.symbols))
        raise ModelError(
            f"{writer}: the entries of M hold free symbols ({names}), which the file cannot; "
            f"give them values first: plant.subs({plant.symbols[0]}=...)"
        )
    try:
        return plant.to_float()
    except (OverflowError, LftgenError) as error:
        raise ModelError(
            f"{writer}: an exact entry of M is too large for a floating-point number ({error})"
        ) from error


def elements_of(plant: LFT) -> list[Element]:
    """The elements in the order of the blocks, with unique names.

    Warns
    -----
    ModelWarning
        A full real block of several entries: MATLAB has no such element, so its entries become independent.
    """
    wished = {
        b.name: b.name + ("_t" if b.parameter is not None and b.parameter.is_angle else "")
        for b in plant.delta
    }
    unique = unique_names(list(wished), lambda n: matlab_name(wished[n]))
    taken = set(unique.values())
    out = []
    for b in plant.delta:
        entries = unique_names(_entry_names(b, unique[b.name]), matlab_name, taken=taken)
        taken |= set(entries.values())
        out.append(Element(b, unique[b.name], tuple(entries.values())))
    for e in out:
        if e.block.kind == "full real" and e.block.shape != (1, 1):
            warnings.warn(
                f"{e.block.name}: MATLAB has no full real uncertainty; its {e.block.shape[0]}x{e.block.shape[1]} entries are "
                f"written as independent ureal of at most {e.block.bound:.6g}, which is a larger set than a norm of that size",
                ModelWarning,
                stacklevel=3,
            )
    return out


def _entry_names(block: DeltaBlock, name: str) -> list[str]:
    """Names of the entries of a full real block, which become elements of their own."""
    if block.kind != "full real" or block.shape == (1, 1):
        return []
    return [f"{name[:50]}_{i + 1}_{j + 1}" for i, j in np.ndindex(*block.shape)]


def partition(plant: LFT) -> dict[str, int]:
    """Sizes of M's parts: states, z, w, outputs, inputs."""
    s = plant.data.structure
    return {
        "n": s.n_states,
        "nz": s.n_rows - s.n_states,
        "nw": s.n_columns - s.n_states,
        "ny": len(plant.outputs),
        "nu": len(plant.inputs),
    }


def checked_finite(values: np.ndarray, what: str) -> np.ndarray:
    """The array, or a ModelError that names it."""
    if not np.all(np.isfinite(values)):
        raise ModelError(f"{what} holds NaN or infinite numbers")
    return values
