"""The Delta of an LFT as seen from outside: named channels, kinds, sizes and maps, and its value at a point."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from lftgen.errors import ModelError
from lftgen.lft.control_systems import from_control, named_state_space
from lftgen.lft.data import LFTData, is_default
from lftgen.lft.evaluation import delta_matrices, deltas, numeric
from lftgen.lft.field import FLOAT
from lftgen.lft.structure import DeltaBlock, Structure


@dataclass(frozen=True)
class DeltaStructure:
    """The blocks that close a system ``M`` from its first outputs ``z`` to its first inputs ``w``.

    Attributes
    ----------
    blocks : tuple of DeltaBlock
        In order: name, kind, repetitions, shape, parameter, map from the parameter's coordinate to delta, bound.
    w, z : tuple of str
        Names of the channels that leave and that enter Delta, ``w_<name>_<i>`` and ``z_<name>_<i>``.
    renamed : mapping of str to str
        From names in the system to names in the LFT, where they differ (a name that python-control refuses).

    Examples
    --------
    >>> import lftgen as lg
    >>> m = lg.uncertain("m", 2.0, percent=25)
    >>> plant = lg.ss([[-m]], [[1]], [[1]], [[0]], states=["v"], inputs=["f"], outputs=["y"])
    >>> system, structure = plant.to_control()
    >>> list(system.input_labels), structure.delta(m=2.5).tolist()
    (['w_m_0', 'f'], [[0.5]])
    """

    blocks: tuple[DeltaBlock, ...]
    w: tuple[str, ...]
    z: tuple[str, ...]
    renamed: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "blocks", tuple(self.blocks))
        object.__setattr__(self, "renamed", MappingProxyType(dict(self.renamed)))
        sizes = sum(b.n_w for b in self.blocks), sum(b.n_z for b in self.blocks)
        if (len(self.w), len(self.z)) != sizes:
            raise ModelError(
                f"Delta structure: the blocks have {sizes[0]} w and {sizes[1]} z, but {len(self.w)} and {len(self.z)} are named"
            )

    def __reduce__(self) -> Any:
        return DeltaStructure, (self.blocks, self.w, self.z, dict(self.renamed))

    @property
    def size(self) -> tuple[int, int]:
        """Rows (w) and columns (z) of Delta."""
        return len(self.w), len(self.z)

    def delta(self, *, extrapolate: bool = False, **values: Any) -> np.ndarray:
        """Delta (w x z) at one point, values in the parameters' own units; what is left out is at delta = 0.

        Raises
        ------
        ParameterError
            Unknown names, values out of range.
        """
        whole = LFTData(np.zeros(self.size[::-1]), Structure((), self.blocks), (), (), FLOAT)
        count, found = deltas(whole, values, extrapolate=extrapolate)
        if count is not None:
            raise ModelError(
                "delta() takes one value for each parameter; use plant.evaluate() for many points"
            )
        return delta_matrices(self.blocks, found, 1)[0]

    def to_dict(self) -> dict[str, Any]:
        """Everything as numbers and texts, ready for JSON."""
        return {
            "w": list(self.w),
            "z": list(self.z),
            "renamed": dict(self.renamed),
            "blocks": [_described(b) for b in self.blocks],
        }

    def to_json(self) -> str:
        """The same as text."""
        return json.dumps(self.to_dict(), indent=2)


def _described(b: DeltaBlock) -> dict[str, Any]:
    out: dict[str, Any] = {
        "name": b.name,
        "kind": b.kind,
        "repetitions": b.repetitions,
        "shape": list(b.shape),
    }
    if b.parameter is None:
        return {**out, "bound": b.bound}
    p = b.parameter
    return {
        **out,
        "role": p.role,
        "unit": p.unit,
        "nominal": p.nominal,
        "lower": p.lower,
        "upper": p.upper,
        "delta_range": list(b.delta_bounds()),
        "map": {"origin": b.map.origin, "scale": b.map.scale, "skew": b.map.skew},
    }


def to_control(a: LFTData) -> tuple[Any, DeltaStructure]:
    """``M`` as a control.StateSpace from [w; inputs] to [z; outputs], and the structure that closes it."""
    a = numeric(a)
    taken: dict[str, str] = {}
    states = [_safe(n, taken) for n in a.structure.states]
    inputs = [_safe(n, taken) for n in a.inputs]
    outputs = [_safe(n, taken) for n in a.outputs]
    w = _channels("w", [(b.name, b.n_w) for b in a.structure.blocks], inputs)
    z = _channels("z", [(b.name, b.n_z) for b in a.structure.blocks], outputs)
    system = named_state_space(a.M, states, (*w, *inputs), (*z, *outputs))
    return system, DeltaStructure(a.structure.blocks, w, z, taken)


def _safe(name: str, taken: dict[str, str]) -> str:
    """A name without dots; what was changed is noted."""
    if "." not in name:
        return name
    new = name.replace(".", "_")
    while new in taken:
        new += "_"
    taken[new] = name
    return new


def _channels(letter: str, sizes: Sequence[tuple[str, int]], others: Sequence[str]) -> tuple[str, ...]:
    """``w_<name>_<i>``, with further underscores where that name is a signal of the model already."""
    used, names = set(others), []
    for name, n in sizes:
        for i in range(n):
            channel = f"{letter}_{name.replace('.', '_')}_{i}"
            while channel in used:
                channel += "_"
            used.add(channel)
            names.append(channel)
    return tuple(names)


def close_structure(system: Any, structure: DeltaStructure) -> LFTData:
    """The LFT whose M is a python-control system and whose Delta has the given structure; undoes :func:`to_control`.

    Raises
    ------
    ModelError
        The channels of the structure are not among the system's signals; a discrete-time system.
    """
    raw = from_control(system)
    if not isinstance(structure, DeltaStructure):
        raise ModelError(
            f"structure must be the DeltaStructure of to_control(), got {type(structure).__name__}"
        )
    w = _found(structure.w, raw.inputs, "input", system.name)
    z = _found(structure.z, raw.outputs, "output", system.name)
    u = [j for j in range(raw.shape[1]) if j not in set(w)]
    y = [i for i in range(raw.shape[0]) if i not in set(z)]
    n, old = raw.n_states, structure.renamed
    rows, columns = [*range(n), *(n + i for i in (*z, *y))], [*range(n), *(n + j for j in (*w, *u))]
    labels = list(getattr(system, "state_labels", raw.structure.states))
    states = labels if len(labels) == n else raw.structure.states
    return LFTData(
        raw.M[np.ix_(rows, columns)],
        Structure(tuple(old.get(s, s) for s in states), structure.blocks),
        tuple(old.get(raw.inputs[j], raw.inputs[j]) for j in u),
        tuple(old.get(raw.outputs[i], raw.outputs[i]) for i in y),
        FLOAT,
    )


def _found(channels: Sequence[str], signals: Sequence[str], kind: str, name: str) -> list[int]:
    """Where the channels are: by name wherever they stand, or the first signals of a system that never had names."""
    places = {s: i for i, s in enumerate(signals)}
    if all(c in places for c in channels):
        return [places[c] for c in channels]
    if len(signals) >= len(channels) and is_default({"input": "u", "output": "y"}[kind], signals):
        return list(range(len(channels)))
    missing = [c for c in channels if c not in places]
    raise ModelError(
        f"{name}: the {kind}s {', '.join(missing)} of the Delta structure are missing; the system has {', '.join(signals)}"
    )
