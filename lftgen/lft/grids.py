"""A model over a grid of its parameters as a labelled ``xarray.Dataset``, computed at once or chunk by chunk with Dask."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lftgen.arguments import items
from lftgen.errors import ModelError, ParameterError
from lftgen.extras import require
from lftgen.lft.data import LFTData
from lftgen.lft.evaluation import StateSpaceArrays, evaluate_grid
from lftgen.lft.hinf_norm import hinf_norm
from lftgen.lft.maps import check_known
from lftgen.lft.responses import poles
from lftgen.lft.structure import DeltaBlock, slices_of

MATRICES = ("A", "B", "C", "D")
QUANTITIES = (*MATRICES, "poles", "peak_gain")
DIMENSIONS = ("state", "state_from", "input", "output", "pole")
"""Names of the dimensions besides the parameters'."""


@dataclass(frozen=True)
class GridPlan:
    """What a grid holds: its axes and the quantities at each of its points.

    Attributes
    ----------
    axes : dict of parameter name to array
        In the order of the dimensions; values in the parameter's own unit.
    fixed : dict of parameter name to number
        Parameters that are not axes.
    quantities : tuple of str
        Of a model with states any of :data:`QUANTITIES`, of one without just ``("value",)``.
    """

    data: LFTData
    axes: Mapping[str, np.ndarray]
    fixed: Mapping[str, float]
    quantities: tuple[str, ...]
    extrapolate: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        """Points along each axis."""
        return tuple(len(v) for v in self.axes.values())

    @property
    def points(self) -> int:
        """Points in all."""
        return math.prod(self.shape)

    def arrays(self) -> dict[str, tuple[tuple[str, ...], tuple[int, ...], Any]]:
        """Names, dimensions after the axes, their sizes and the type of every variable."""
        n, n_y, n_u = len(self.data.structure.states), *self.data.shape
        table: dict[str, tuple[tuple[str, ...], tuple[int, ...], Any]] = {
            "value": (("output", "input"), (n_y, n_u), float),
            "A": (("state", "state_from"), (n, n), float),
            "B": (("state", "input"), (n, n_u), float),
            "C": (("output", "state_from"), (n_y, n), float),
            "D": (("output", "input"), (n_y, n_u), float),
            "poles": (("pole",), (n,), complex),
            "peak_gain": ((), (), float),
            "peak_frequency": ((), (), float),
        }
        names = [q for q in table if q in self.quantities]
        if "peak_gain" in names:
            names.append("peak_frequency")
        return {k: table[k] for k in names}


def plan_grid(
    data: LFTData, axes: Mapping[str, Any], quantities: Sequence[str] | None, *, extrapolate: bool = False
) -> GridPlan:
    """Check what is asked for; a number in place of an array fixes a parameter.

    Raises
    ------
    ParameterError
        Unknown names, values that are not increasing or decreasing, or out of range.
    ModelError
        Unknown quantities.
    """
    blocks = {b.name: b for b in data.structure.blocks if b.parameter is not None}
    check_known(axes, list(blocks))
    values = {k: blocks[k].parameter.check_values(v, extrapolate=extrapolate) for k, v in axes.items()}  # type: ignore[union-attr]
    for name, v in values.items():
        steps = np.diff(v) if v.ndim == 1 else np.array([])
        if v.ndim > 1 or (v.ndim and not v.size) or not (np.all(steps > 0) or np.all(steps < 0)):
            raise ParameterError(
                f"{name}: an axis of a grid is a list of increasing or decreasing values, or one number, got {axes[name]!r}"
            )
    fixed = {k: float(values[k]) if k in values else float(b.parameter.nominal) for k, b in blocks.items()  # type: ignore[union-attr]
             if k not in values or not values[k].ndim}  # fmt: skip
    grid = {k: v for k, v in values.items() if v.ndim}
    return GridPlan(data, grid, fixed, _quantities(data, quantities), extrapolate)


def _quantities(data: LFTData, asked: Sequence[str] | None) -> tuple[str, ...]:
    if not data.structure.states:
        if asked is not None:
            raise ModelError("a model without states has one quantity, its value; leave quantities out")
        return ("value",)
    names = (*MATRICES, "poles") if asked is None else items(asked, "grid: quantities", str)
    for name in names:
        if name not in QUANTITIES:
            raise ModelError(f"grid: unknown quantity {name!r}; known: {', '.join(QUANTITIES)}")
    if not names:
        raise ModelError(f"grid: quantities is empty; choose from {', '.join(QUANTITIES)}")
    return tuple(names)


def evaluate_block(plan: GridPlan, part: Sequence[slice]) -> dict[str, np.ndarray]:
    """All quantities on a part of the grid, one slice an axis; arrays of shape (axes..., dimensions...)."""
    axes = [v[s] for v, s in zip(plan.axes.values(), part, strict=True)]
    shape = tuple(len(v) for v in axes)
    values = dict(zip(plan.axes, axes, strict=True)) | dict(plan.fixed)
    table = evaluate_grid(plan.data, values, extrapolate=plan.extrapolate)
    found: dict[str, np.ndarray]
    if isinstance(table, np.ndarray):
        found = {"value": table}
    else:
        found = {"A": table.A, "B": table.B, "C": table.C, "D": table.D}
        if "poles" in plan.quantities:
            found["poles"] = poles(table.A)
        if "peak_gain" in plan.quantities:
            found["peak_gain"], found["peak_frequency"] = _peaks(table)
    return {k: found[k].reshape(*shape, *sizes) for k, (_, sizes, _) in plan.arrays().items()}


def _peaks(table: StateSpaceArrays) -> tuple[np.ndarray, np.ndarray]:
    models = zip(*(m.reshape(-1, *m.shape[-2:]) for m in (table.A, table.B, table.C, table.D)), strict=True)
    pairs = np.array([hinf_norm(*model) for model in models], dtype=float).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def chunk_slices(plan: GridPlan, chunks: Mapping[str, int] | int) -> list[list[slice]]:
    """Slices of every axis for chunks of at most so many values; an axis not named is not cut.

    Raises
    ------
    ParameterError
        Unknown axes, sizes below one.
    """
    given = dict.fromkeys(plan.axes, chunks) if isinstance(chunks, int) else dict(chunks)
    check_known(given, list(plan.axes))
    out = []
    for name, values in plan.axes.items():
        size = given.get(name, len(values))
        if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 1:
            raise ParameterError(f"grid: chunks of {name} must be a whole number of at least 1, got {size!r}")
        out.append(slices_of([min(size, len(values) - i) for i in range(0, len(values), int(size))]))
    return out


def to_dataset(plan: GridPlan, chunks: Mapping[str, int] | int | None = None) -> Any:
    """The grid as an ``xarray.Dataset``; with ``chunks`` its variables are Dask arrays that are computed when asked."""
    xr = require("xarray", "grid", "a grid")
    if chunks is None:
        arrays: Mapping[str, Any] = evaluate_block(plan, [slice(None)] * len(plan.axes))
    else:
        arrays = _lazy(plan, chunk_slices(plan, chunks))
    names = axis_names(plan)
    variables = {
        k: ((*names.values(), *dims), arrays[k], _attributes(k)) for k, (dims, _, _) in plan.arrays().items()
    }
    return xr.Dataset(variables, coords=coordinates(plan), attrs={"title": "lftgen grid"})


def axis_names(plan: GridPlan) -> dict[str, str]:
    """Dimension of each axis: the parameter's name, or with a suffix where that name is taken by a variable."""
    taken = {*DIMENSIONS, *QUANTITIES, "value", "peak_frequency"}
    return {k: f"{k}_parameter" if k in taken else k for k in plan.axes}


def coordinates(plan: GridPlan) -> dict[str, Any]:
    """Coordinates: axes and fixed parameters with their units, names of signals."""
    blocks = {b.name: b for b in plan.data.structure.blocks}
    names = axis_names(plan)
    taken = {*DIMENSIONS, *QUANTITIES, "value", "peak_frequency"}
    out: dict[str, Any] = {
        names[k]: (names[k], v, _parameter_attributes(blocks[k])) for k, v in plan.axes.items()
    }
    for k, value in plan.fixed.items():
        out[f"{k}_parameter" if k in taken else k] = ((), value, _parameter_attributes(blocks[k]))
    labels = {
        "state": plan.data.structure.states,
        "state_from": plan.data.structure.states,
        "output": plan.data.outputs,
        "input": plan.data.inputs,
    }
    used = {d for dims, _, _ in plan.arrays().values() for d in dims}
    return out | {k: (k, np.array(v, dtype=str)) for k, v in labels.items() if k in used}


def _parameter_attributes(block: DeltaBlock) -> dict[str, Any]:
    p = block.parameter
    if p is None:
        return {}
    return {"units": p.unit or "1", "parameter": p.name, "role": p.role, "long_name": p.name}


def _attributes(name: str) -> dict[str, str]:
    units = {"poles": "rad/s", "peak_frequency": "rad/s"}
    words = {
        "poles": "poles, sorted by real and then by imaginary part",
        "peak_gain": "largest singular value over all frequencies",
        "peak_frequency": "where the peak gain is reached",
        "value": "value of the parameter-dependent matrix",
    }
    found = {"long_name": words.get(name, f"{name} of x' = A x + B u, y = C x + D u")}
    return found | ({"units": units[name]} if name in units else {})


def _lazy(plan: GridPlan, cuts: list[list[slice]]) -> dict[str, Any]:
    """Dask arrays by variable: one task a chunk evaluates all quantities, so that none is computed twice."""
    dask = require("dask", "grid", "a grid in chunks")
    da = require("dask.array", "grid", "a grid in chunks")
    shared = dask.delayed(plan, traverse=False)
    task = dask.delayed(evaluate_block, pure=False)
    parts = np.empty(tuple(len(c) for c in cuts), dtype=object)
    for index in itertools.product(*(range(len(c)) for c in cuts)):
        parts[index] = task(shared, [c[i] for c, i in zip(cuts, index, strict=True)])
    return {
        name: _joined(da, parts, cuts, name, sizes, kind) for name, (_, sizes, kind) in plan.arrays().items()
    }


def _joined(
    da: Any, parts: np.ndarray, cuts: list[list[slice]], name: str, sizes: tuple[int, ...], kind: Any
) -> Any:
    blocks = np.empty(parts.shape, dtype=object)
    for index in np.ndindex(*parts.shape):
        lengths = tuple(c[i].stop - c[i].start for c, i in zip(cuts, index, strict=True))
        blocks[index] = da.from_delayed(parts[index][name], shape=(*lengths, *sizes), dtype=kind)
    return _concatenated(da, blocks, 0) if parts.ndim else blocks[()]


def _concatenated(da: Any, blocks: np.ndarray, axis: int) -> Any:
    if blocks.ndim == 1:
        return da.concatenate(list(blocks), axis=axis)
    return da.concatenate([_concatenated(da, b, axis + 1) for b in blocks], axis=axis)
