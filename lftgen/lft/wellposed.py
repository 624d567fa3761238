"""Is ``I - M11 Delta`` invertible over the whole box?  Proven, a counterexample, or undecided."""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lftgen.arguments import number
from lftgen.lft.data import LFTData
from lftgen.lft.evaluation import numeric, ports
from lftgen.lft.structure import slices_of
from lftgen.lft.threads import single_threaded

SINGULAR = 1e-9
"""A point counts as singular where the smallest singular value of I - M11 Delta is below this, relative to the largest."""
WORK, FEWEST, MOST = 2e7, 50, 4000
"""Pieces of the box that are looked at: their number times the cube of I - M11 Delta's size, and its limits."""


@dataclass(frozen=True)
class WellPosedness:
    """Answer about a whole box.

    Attributes
    ----------
    answer : {"proven", "counterexample", "undecided"}
    how : str
        What proves it, what is singular, or what was tried.
    point : dict of str to float
        The counterexample in user values.
    """

    answer: str
    how: str
    point: Mapping[str, float] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return self.answer == "proven"


@dataclass(frozen=True)
class _Box:
    """M11 of the real parameter channels and the box of their deltas."""

    m11: np.ndarray
    names: tuple[str, ...]
    sizes: tuple[int, ...]
    low: np.ndarray
    high: np.ndarray
    blocks: tuple[Any, ...]

    def spread(self, delta: np.ndarray) -> np.ndarray:
        return np.repeat(delta, self.sizes)

    def values(self, delta: np.ndarray) -> dict[str, float]:
        out = {}
        for b, d in zip(self.blocks, delta, strict=True):
            value = float(b.parameter.from_coordinate(b.map.coordinate(d)))
            out[b.name] = min(max(value, b.parameter.lower), b.parameter.upper)
        return out


def _box(a: LFTData) -> _Box:
    keep = [i for i, b in enumerate(a.structure.blocks) if b.parameter is not None and b.repetitions]
    blocks = tuple(a.structure.blocks[i] for i in keep)
    n = a.n_states
    rows = [r - n for i in keep for r in range(*a.structure.row_slices()[i].indices(10**9))]
    columns = [c - n for i in keep for c in range(*a.structure.column_slices()[i].indices(10**9))]
    bounds = np.array([b.delta_bounds() for b in blocks], dtype=float).reshape(-1, 2)
    m11 = ports(a).dd[np.ix_(rows, columns)]
    return _Box(
        m11,
        tuple(b.name for b in blocks),
        tuple(b.repetitions for b in blocks),
        bounds[:, 0],
        bounds[:, 1],
        blocks,
    )


def find_singular(
    a: LFTData, rays: int = 200, seed: int = 0, budget: float = float("inf"), work: float = float("inf")
) -> tuple[dict[str, float] | None, int]:
    """A singular point of the box, searched along rays from the nominal, or None; and how many rays were searched.

    Along a ray ``delta = s d`` the matrix is singular exactly where 1/s is an eigenvalue of M11 diag(d).  ``work`` limits
    the number of rays times the cube of the matrix's size (8 rays at least), ``budget`` the seconds.
    """
    box = _box(numeric(a))
    if not box.names:
        return None, 0
    most = max(work / len(box.m11) ** 3, 8)
    rng, end = np.random.default_rng(seed), time.monotonic() + budget
    for count, d in enumerate(_directions(box, rays, rng), 1):
        eigenvalues = np.linalg.eigvals(box.m11 * box.spread(d))
        real = eigenvalues.real[
            (np.abs(eigenvalues.imag) < 1e-6 * np.abs(eigenvalues)) & (eigenvalues.real > 1 - 1e-9)
        ]
        for value in sorted(real):
            delta = d / value
            singular = np.linalg.svd(np.eye(len(box.m11)) - box.m11 * box.spread(delta), compute_uv=False)
            if singular[-1] < SINGULAR * max(singular[0], 1.0):
                return box.values(delta), count
        if count >= most or time.monotonic() > end:
            break
    return None, count


def _directions(box: _Box, rays: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Ends of single parameters, corners (all, or a sample), random points of the faces."""
    k = len(box.names)
    ends = [np.where(np.arange(k) == i, edge, 0.0) for i in range(k) for edge in (box.low, box.high)]
    if 2**k <= rays:
        corners = [np.where(c, box.high, box.low) for c in itertools.product((False, True), repeat=k)]
    else:
        corners = [np.where(rng.uniform(size=k) < 0.5, box.high, box.low) for _ in range(rays)]
    faces = []
    for _ in range(rays // 2):
        point = rng.uniform(box.low, box.high)
        i = rng.integers(k)
        point[i] = (box.low if rng.uniform() < 0.5 else box.high)[i]
        faces.append(point)
    return ends + corners + faces


@single_threaded
def well_posed(a: LFTData, *, budget: float = 30.0, seed: int = 0) -> WellPosedness:
    """Whether the LFT has a value at every point of its box (uncertain dynamics at zero).

    A singular point is searched along rays; if there is none, the box is cut into pieces, and each piece is proven by
    a scaled small-gain bound around its middle, until all are or a number of pieces that depends on the size of the
    matrix has been looked at (the answer does not depend on the machine); ``budget`` (seconds) is a safety net.
    """
    budget = number(budget, "well_posed: budget", minimum=0.0)
    a = numeric(a)
    start = time.monotonic()
    point, rays = find_singular(a, seed=seed, budget=budget / 2)
    if point is not None:
        where = ", ".join(f"{k} = {v:.6g}" for k, v in point.items())
        return WellPosedness("counterexample", f"I - M11 Delta is singular at {where}", point)
    box = _box(a)
    if not box.names:
        return WellPosedness("proven", "no parameter occurs")
    pieces, done, end = [(box.low, box.high)], 0, start + budget
    looked, most = 0, int(np.clip(WORK / len(box.m11) ** 3, FEWEST, MOST))
    while pieces:
        if looked >= most or time.monotonic() > end:
            why = f"{most} pieces" if looked >= most else f"{budget:g} s"
            return WellPosedness(
                "undecided",
                f"no singular point on {rays} rays; {done} pieces proven, {len(pieces)} left after {why}",
            )
        looked += 1
        low, high = pieces.pop()
        gains = _scaled_gain(box, (low + high) / 2, (high - low) / 2)
        if gains is not None and gains[0] < 1:
            done += 1
            continue
        widest = int(np.argmax((high - low) if gains is None else gains[1] * (high > low)))
        middle = (low + high) / 2
        pieces += [
            (low, np.where(np.arange(len(low)) == widest, middle, high)),
            (np.where(np.arange(len(low)) == widest, middle, low), high),
        ]
    return WellPosedness("proven", f"scaled small gain below 1 on each of {done} pieces that cover the box")


def _scaled_gain(box: _Box, centre: np.ndarray, radius: np.ndarray) -> tuple[float, np.ndarray] | None:
    """Upper bound of the gain of M11 around a centre, after a diagonal scaling, and each parameter's share."""
    c, r = box.spread(centre), np.sqrt(box.spread(radius))
    system = np.eye(len(c)) - box.m11 * c
    if not np.linalg.cond(system) < 1e13:
        return None
    local = np.linalg.solve(system, box.m11) * r * r[:, None]
    d = np.ones(len(c))
    for _ in range(8):  # Osborne: equal row and column norms
        m = np.abs(local * d[:, None] / d)
        rows, columns = np.linalg.norm(m, axis=1), np.linalg.norm(m, axis=0)
        d *= np.sqrt(np.maximum(columns, 1e-12) / np.maximum(rows, 1e-12))
    m = local * d[:, None] / d
    u, s, v = np.linalg.svd(m)
    weight = u[:, 0] ** 2 + v[0] ** 2
    share = np.array([weight[s].sum() for s in slices_of(box.sizes)])
    return float(s[0]), share
