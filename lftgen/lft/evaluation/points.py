"""Points of an LFT one by one: the batch of I - M11 Delta is solved as it stands.  The truth for all quicker ways."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lftgen.errors import ParameterError
from lftgen.lft import responses
from lftgen.lft.data import LFTData
from lftgen.lft.field import FLOAT, SINGULAR_CONDITION
from lftgen.lft.maps import check_known
from lftgen.lft.structure import DeltaBlock

CHUNK_ENTRIES = 60_000
"""Entries of the batch of I - M11 Delta worked on at once, so that it stays in the processor's cache."""


@dataclass(frozen=True)
class StateSpaceArrays:
    """A, B, C, D at N points: arrays of shape (N, rows, columns)."""

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    D: np.ndarray

    def poles(self) -> np.ndarray:
        """Poles at each point, sorted by real and then by imaginary part: complex (N, states)."""
        return responses.poles(self.A)

    def frequency_response(self, omega: Any) -> np.ndarray:
        """Response at each point and frequency (rad/s): complex (N, outputs, inputs, frequencies)."""
        return responses.frequency_response(self.A, self.B, self.C, self.D, omega)

    def singular_values(self, omega: Any) -> np.ndarray:
        """Singular values of the response, largest first: (N, min(outputs, inputs), frequencies)."""
        return responses.singular_values(self.frequency_response(omega))


def arrays_of(a: LFTData, value: np.ndarray) -> StateSpaceArrays | np.ndarray:
    """``[A B; C D]`` (..., rows, columns) cut in four; as it is where there are no states."""
    n = a.n_states
    if not n:
        return value
    return StateSpaceArrays(value[..., :n, :n], value[..., :n, n:], value[..., n:, :n], value[..., n:, n:])


@dataclass(frozen=True)
class _Ports:
    """M split into Delta channels (d) and ports (p): states with inputs or outputs."""

    dd: np.ndarray
    dp: np.ndarray
    pd: np.ndarray
    pp: np.ndarray


def numeric(a: LFTData) -> LFTData:
    """The LFT with float entries; an error that names the free symbols that are left."""
    if a.field.symbols:
        raise ParameterError(
            f"free symbols {', '.join(map(str, a.field.symbols))} have no value yet; use subs first"
        )
    return a.with_field(FLOAT)


def ports(a: LFTData) -> _Ports:
    """Split M into Delta channels and ports."""
    n, s = a.n_states, a.structure
    d_rows, d_columns = slice(n, s.n_rows), slice(n, s.n_columns)
    p_rows = [*range(n), *range(s.n_rows, a.M.shape[0])]
    p_columns = [*range(n), *range(s.n_columns, a.M.shape[1])]
    M = a.M
    return _Ports(
        M[d_rows, d_columns], M[d_rows][:, p_columns], M[p_rows][:, d_columns], M[np.ix_(p_rows, p_columns)]
    )


def deltas(
    a: LFTData, values: Mapping[str, Any], *, extrapolate: bool = False
) -> tuple[int | None, list[np.ndarray]]:
    """Number of points (None where all values are single ones) and delta of each block; blocks not named are at 0."""
    check_known(values, [b.name for b in a.structure.blocks])
    out, count = [], None
    for block in a.structure.blocks:
        core = () if block.is_scalar else block.shape
        delta = (
            block.delta_of(values[block.name], extrapolate=extrapolate)
            if block.name in values
            else np.zeros(core)
        )
        points = delta.shape[: delta.ndim - len(core)]
        if len(points) > 1:
            raise ParameterError(
                f"{block.name}: expected a number or a one-dimensional array, got shape {points}"
            )
        if points:
            if count not in (None, points[0]) and count is not None:
                raise ParameterError(f"{block.name}: {points[0]} values where another parameter has {count}")
            count = points[0]
        out.append(delta)
    return count, out


def delta_matrices(blocks: tuple[DeltaBlock, ...], values: list[np.ndarray], count: int) -> np.ndarray:
    """Delta as full matrices (count, w, z); only needed where there are full blocks."""
    n_w, n_z = sum(b.n_w for b in blocks), sum(b.n_z for b in blocks)
    out = np.zeros((count, n_w, n_z), dtype=complex if any(np.iscomplexobj(v) for v in values) else float)
    i = j = 0
    for block, value in zip(blocks, values, strict=True):
        core = np.broadcast_to(value[..., None, None] if block.is_scalar else value, (count, *block.shape))
        for _ in range(block.repetitions):
            out[:, i : i + block.shape[0], j : j + block.shape[1]] = core
            i, j = i + block.shape[0], j + block.shape[1]
    return out


def solve_points(a: LFTData, delta: list[np.ndarray], n: int) -> tuple[np.ndarray, int | None]:
    """``[A B; C D]`` at n points (delta of each block: one value, or n), and the first singular point, if any."""
    p = ports(a)
    if not p.dd.size:
        return np.broadcast_to(p.pp, (n, *p.pp.shape)).copy(), None
    scalar = all(b.is_scalar for b in a.structure.blocks)
    complex_valued = any(np.iscomplexobj(d) for d in delta)
    out = np.empty((n, *p.pp.shape), dtype=complex if complex_valued else float)
    step = max(1, min(1000, CHUNK_ENTRIES // p.dd.size + 1))
    for start in range(0, n, step):
        part = slice(start, min(start + step, n))
        local = points_of(a.structure.blocks, delta, part)
        size = part.stop - part.start
        out[part], bad = _solve_scalar(p, a, local, size) if scalar else _solve_full(p, a, local, size)
        if bad is not None:
            return out, start + bad
    return out, None


def points_of(
    blocks: tuple[DeltaBlock, ...], delta: list[np.ndarray], part: slice | np.ndarray
) -> list[np.ndarray]:
    """Some of the points; what holds for all points stays as it is."""
    return [d[part] if d.ndim == 1 + 2 * (not b.is_scalar) else d for b, d in zip(blocks, delta, strict=True)]


def _solve_scalar(p: _Ports, a: LFTData, local: list[np.ndarray], n: int) -> tuple[np.ndarray, int | None]:
    blocks = a.structure.blocks
    d = np.concatenate(
        [
            np.broadcast_to(np.atleast_1d(v)[:, None], (n, b.repetitions))
            for b, v in zip(blocks, local, strict=True)
        ],
        axis=1,
    )
    system = p.dd * -d[:, None, :]
    system[:, range(p.dd.shape[0]), range(p.dd.shape[0])] += 1
    x, bad = _checked_solve(system, p.dp)
    return p.pp + (p.pd * d[:, None, :]) @ x, bad


def _solve_full(p: _Ports, a: LFTData, local: list[np.ndarray], n: int) -> tuple[np.ndarray, int | None]:
    delta = delta_matrices(a.structure.blocks, local, n)
    x, bad = _checked_solve(np.eye(p.dd.shape[0]) - p.dd @ delta, p.dp)
    return p.pp + p.pd @ (delta @ x), bad


def _checked_solve(system: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, int | None]:
    """Solution of a batch of systems and the first singular one, if any.

    ``|A| |X| / |B|`` bounds the condition number from below at no cost; only suspects get the exact one.
    """
    try:
        x = np.linalg.solve(system, np.broadcast_to(right, (system.shape[0], *right.shape)))
    except np.linalg.LinAlgError:
        x = np.full((system.shape[0], *right.shape), np.inf)
    with np.errstate(over="ignore", invalid="ignore"):
        growth = (
            np.max(np.abs(system), axis=(1, 2))
            * np.max(np.abs(x), axis=(1, 2), initial=0.0)
            / max(np.max(np.abs(right), initial=0.0), 1e-300)
        )
    for i in np.flatnonzero(~(growth < SINGULAR_CONDITION / 100)):
        if not np.linalg.cond(system[i]) < SINGULAR_CONDITION:
            return np.zeros_like(x), int(i)
    if not np.all(np.isfinite(x)):
        x = np.stack([np.linalg.solve(s, right) for s in system])
    return x, None


def singular_message(a: LFTData, values: Mapping[str, Any], index: int) -> str:
    """What to tell about a singular point."""
    point = []
    for b in a.structure.blocks:
        if b.repetitions:
            given = np.asarray(values.get(b.name, b.parameter.nominal if b.parameter else 0.0))
            value = given[index] if given.ndim else given
            point.append(
                f"{b.name} = {np.round(value, 9)} (delta = {np.round(b.delta_of(value, extrapolate=True), 4)})"
            )
    return f"the LFT is singular (I - M11 Delta has no inverse) at {', '.join(point)}; no model exists there: exclude the point from the range"
