"""Changes of Delta: fixing parameters, normalising them, changing from one map of a parameter to another."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lftgen.errors import ModelError, ParameterError, ParameterWarning
from lftgen.lft.data import LFTData
from lftgen.lft.structure import DeltaBlock, DeltaMap, Structure

POLE_WARNING = 1.25
"""A normalised parameter whose map has its pole nearer than this multiple of the range gets a warning."""


def reparametrise(
    a: LFTData, static: np.ndarray, gain: np.ndarray, back: np.ndarray, structure: Structure
) -> LFTData:
    """Replace Delta by ``static + gain Delta' (I + back Delta')^-1``.

    ``static`` (inner columns x inner rows), ``gain`` (diagonal, one entry per inner column) and ``back`` (diagonal,
    one per inner row; zero where a block is not square) hold field entries; the inner channels keep their number.

    Raises
    ------
    IllPosedError
        Where ``I - M11 static`` is singular.
    """
    f = a.field
    m11, m12, m21, m22 = a.split()
    right = np.hstack([m11 * gain, m12])
    z = f.solve(f.eye(m11.shape[0]) - f.matmul(m11, static), right, "I - M11 Delta at the new centre")
    w = f.matmul(static, z)
    n = m11.shape[1]
    new11 = z[:, :n].copy()
    for i in np.flatnonzero(back != 0):
        new11[i, i] = new11[i, i] - back[i]
    parts = [[new11, z[:, n:]], [f.matmul(m21, w[:, :n]) + m21 * gain, f.matmul(m21, w[:, n:]) + m22]]
    return replace(a, M=np.block(parts), structure=structure)


def change_maps(a: LFTData, maps: Mapping[str, DeltaMap]) -> LFTData:
    """The same LFT with other maps from coordinate to delta for some of its parameters (one occurrence stays one)."""
    f, s = a.field, a.structure
    static, gain, back = _neutral(a)
    blocks = list(s.blocks)
    slices = zip(s.row_slices(), s.column_slices(), strict=True)
    for i, (block, (rows, columns)) in enumerate(zip(s.blocks, slices, strict=True)):
        if block.name not in maps or maps[block.name] == block.map:
            continue
        p, q, r = _mobius(block.map, maps[block.name], f)
        blocks[i] = replace(block, map=maps[block.name])
        static[range(columns.start, columns.stop), range(rows.start, rows.stop)] = q
        gain[columns], back[rows] = p - q * r, r
    return reparametrise(a, static, gain, back, replace(s, blocks=tuple(blocks)))


def _mobius(old: DeltaMap, new: DeltaMap, f: Any) -> tuple[Any, Any, Any]:
    """p, q, r with old delta = (p d + q) / (r d + 1), d the new delta."""
    o1, s1, b1, o2, s2, b2 = (
        f.element(v) for v in (old.origin, old.scale, old.skew, new.origin, new.scale, new.skew)
    )
    # x - o1 = (o2 - o1) + s2 d / (1 + b2 d);   old delta = (x - o1) / (s1 - b1 (x - o1))
    shift = o2 - o1
    bottom = s1 - b1 * shift
    if not bottom:
        raise ParameterError("the new centre of a parameter lies on the pole of its old map")
    slope = shift * b2 + s2
    return slope / bottom, shift / bottom, (s1 * b2 - b1 * slope) / bottom


def _neutral(a: LFTData) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    f, s = a.field, a.structure
    static = f.zeros(s.n_columns, s.n_rows)
    gain, back = f.zeros(s.n_columns), f.zeros(s.n_rows)
    gain[:] = f.element(1)
    return static, gain, back


def normalized_map(block: DeltaBlock, *, recenter: bool) -> DeltaMap:
    """The map under which delta = -1, 0, 1 are lower end, nominal and upper end of a parameter's range.

    With ``recenter`` the map is affine and delta = 0 the middle of the coordinate's range.
    """
    p = block.parameter
    assert p is not None
    low, high = p.coordinate_bounds
    if low == high:
        return block.map
    if recenter:
        return DeltaMap((low + high) / 2, (high - low) / 2)
    nominal = p.coordinate_nominal
    skew = (2 * nominal - high - low) / (high - low)
    if abs(skew) < 1e-14:
        return DeltaMap(nominal, (high - low) / 2)
    if abs(skew) >= 1 - 1e-9:
        raise ParameterError(
            f"{p.name}: the nominal {p.nominal:.6g} lies on the edge of the range {p.range_text()}, so no map has it at "
            "delta = 0; move the nominal inside, or pass recenter=True (delta = 0 is then the middle of the range)"
        )
    if abs(1 / skew) < POLE_WARNING:
        warnings.warn(
            f"{p.name}: the nominal {p.nominal:.6g} is close to the edge of {p.range_text()}; its normalised map has a pole at "
            f"delta = {-1 / skew:.5g}, near the box: values beyond the range mean nothing. recenter=True avoids it",
            ParameterWarning,
            stacklevel=4,
        )
    return DeltaMap(nominal, (high - nominal) * (1 + skew), skew)


def normalized(a: LFTData, *, recenter: bool = False) -> LFTData:
    """All parameters with delta in [-1, 1], all other blocks with bound 1."""
    blocks = a.structure.blocks
    maps = {b.name: normalized_map(b, recenter=recenter) for b in blocks if b.parameter is not None}
    a = change_maps(a, maps)
    static, gain, back = _neutral(a)
    new = []
    for block, columns in zip(a.structure.blocks, a.structure.column_slices(), strict=True):
        if block.kind != "real":
            gain[columns] = a.field.element(block.bound)
            block = replace(block, bound=1.0)
        new.append(block)
    return reparametrise(a, static, gain, back, replace(a.structure, blocks=tuple(new)))


def fix(a: LFTData, values: Mapping[str, Any], *, extrapolate: bool = False) -> LFTData:
    """The LFT at given values of some parameters, which it no longer declares.

    Raises
    ------
    ParameterError
        Unknown names and values out of range.
    IllPosedError
        Where the LFT is singular at that point whatever the other parameters are.
    """
    known = {b.name: b for b in a.structure.blocks}
    check_known(values, list(known))
    for name, value in values.items():
        if np.ndim(value) != (0 if known[name].is_scalar else 2):
            raise ParameterError(f"{name}: expected a single value to fix it at, got {value!r}")
    deltas = {k: np.atleast_2d(known[k].delta_of(v, extrapolate=extrapolate)) for k, v in values.items()}
    for name, delta in deltas.items():
        if np.any(delta.imag):
            raise ModelError(
                f"{name}: only real values can be fixed in a model with real entries, got {values[name]!r}"
            )
    return freeze(a, {k: a.field.array(d.real) for k, d in deltas.items()})


def freeze(a: LFTData, deltas: Mapping[str, np.ndarray]) -> LFTData:
    """The LFT with the Delta of some blocks fixed (one copy's matrix of field entries), which it no longer declares."""
    f, s = a.field, a.structure
    static, gain, back = _neutral(a)
    keep, rows, columns = [], list(range(a.n_states)), list(range(a.n_states))
    for block, row, column in zip(s.blocks, s.row_slices(), s.column_slices(), strict=True):
        if block.name not in deltas:
            keep.append(block)
            rows += range(row.start, row.stop)
            columns += range(column.start, column.stop)
        elif block.repetitions:
            static[column, row] = np.kron(f.eye(block.repetitions), deltas[block.name])
    whole = reparametrise(a, static, gain, back, s)
    rows += range(s.n_rows, a.M.shape[0])
    columns += range(s.n_columns, a.M.shape[1])
    return replace(a, M=whole.M[np.ix_(rows, columns)], structure=Structure(s.states, tuple(keep)))


def check_known(names: Mapping[str, Any] | Sequence[str], known: Sequence[str]) -> None:
    """A ParameterError that lists close names where one is unknown."""
    import difflib

    if not isinstance(names, (Mapping, Sequence)) or isinstance(names, str):
        raise ParameterError(f'expected values by parameter name, such as {{"m": 2.0}}, got {names!r}')
    for name in names:
        if not isinstance(name, str):
            raise ParameterError(f"parameters are given by their names, got {name!r}; write {str(name)!r}")
        if name not in known:
            close = difflib.get_close_matches(str(name), known, n=3)
            hint = (
                f"did you mean {' or '.join(close)}?"
                if close
                else f"the model has {', '.join(known) or 'no parameters'}"
            )
            raise ParameterError(f"unknown parameter {name!r}: {hint}")
