"""A user's LFT as a normalised loop, and the way back from deltas to the parameters' own values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from lftgen.analysis.mu.loop import Loop
from lftgen.errors import IllPosedError
from lftgen.lft import maps
from lftgen.lft.data import LFTData
from lftgen.lft.evaluation import numeric
from lftgen.lft.structure import DeltaBlock


@dataclass(frozen=True)
class Box:
    """The loop over the box [-1, 1] of its real scalars, which are ``blocks`` in this order (none: they have no names)."""

    loop: Loop
    blocks: tuple[DeltaBlock, ...]
    nominal: np.ndarray
    reach: float = float("inf")
    bounds: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, data: LFTData, *, recenter: bool = True) -> Box:
        """Normalise; constants and parameters that do not occur are left out.

        ``reach`` is how many times the box the maps are regular (fractional maps have a pole outside of it).

        Raises
        ------
        ParameterError
            Free symbols, or a nominal on the edge that is not to be recentred.
        IllPosedError
            The loop is singular at the nominal or at the middle of the box.
        """
        data = numeric(data)
        bounds = {b.name: b.bound for b in data.structure.blocks if b.parameter is None}
        constants = {
            b.name: b.parameter.nominal
            for b in data.structure.blocks
            if b.parameter is not None and b.parameter.is_constant
        }
        data = maps.normalized(maps.fix(data, constants) if constants else data, recenter=recenter)
        blocks = tuple(b for b in data.structure.blocks if b.parameter is not None and b.repetitions)
        nominal = np.array(
            [float(b.map.delta(b.parameter.coordinate_nominal)) for b in blocks if b.parameter]
        )
        skew = max((abs(b.map.skew) for b in blocks), default=0.0)
        return cls(Loop.of(data), blocks, nominal, 1 / skew if skew else float("inf"), bounds)

    def values(self, reals: np.ndarray) -> dict[str, float]:
        """Parameters in their own units; a point of the box stays inside of the declared ranges."""
        out: dict[str, float] = {}
        for b, d in zip(self.blocks, reals if self.blocks else (), strict=True):
            p = b.parameter
            if p is None:
                continue
            value = float(p.from_coordinate(b.map.coordinate(d)))
            out[b.name] = min(max(value, p.lower), p.upper) if abs(d) <= 1 + 1e-9 else value
        return out

    def dynamics(self, others: Mapping[int, np.ndarray]) -> dict[str, np.ndarray]:
        """Complex blocks by their names, as matrices in the user's own size (normalised ones times their bound)."""
        out = {}
        for i, value in others.items():
            name = self.loop.structure.blocks[i].name or f"block {i}"
            out[name] = np.atleast_2d(np.asarray(value)) * self.bounds.get(name, 1.0)
        return out

    def check_well_posed(self) -> None:
        """An IllPosedError where the loop does not exist at the middle of the box."""
        if not np.all(np.isfinite(self.loop.ports(np.zeros(len(self.blocks))))):
            raise IllPosedError("the loop is ill-posed at the middle of the parameter box")
