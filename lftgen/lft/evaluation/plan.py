"""How an LFT is evaluated at many points: found once for each model, compared with M itself, and kept with it."""

from __future__ import annotations

import weakref
from dataclasses import dataclass, replace

import numpy as np

from lftgen.lft.data import LFTData
from lftgen.lft.evaluation.exchange import Exchange, Target, candidates
from lftgen.lft.evaluation.layers import known_eigenvalues, layered
from lftgen.lft.evaluation.points import numeric, solve_points
from lftgen.lft.evaluation.program import Program, compiled
from lftgen.lft.reduction.balancing import ScalarLFT, scaled_to_unit_range, with_even_channels
from lftgen.lft.structure import slices_of

CHECKED_POINTS = 8
AGREEMENT = 1e-12
"""A program may differ from the direct solution by this, relative to the size of an entry's row and column..."""
NOISE_FACTOR = 20.0
"""...or by this multiple of the direct solution's own rounding, whichever is more."""
BATCH = 200_000
"""Numbers worked on at once, so that they stay in the processor's cache."""
MOST_POINTS = 8000


@dataclass(frozen=True)
class Plan:
    """A program for the model, or for the model with some ports exchanged, or with rows and columns exchanged.

    Attributes
    ----------
    scale : ndarray
        The program's deltas are the model's divided by this.
    ports : ndarray
        Ports at the nominal (of the exchanged model); those that depend on Delta are the program's.
    place : ndarray of int
        For each port (of the exchanged model) its place among the program's values, -1 where it does not depend on Delta.
    dependent : ndarray of bool
        Ports of the model that may depend on Delta.
    constant : ndarray
        The others' values.
    """

    program: Program
    scale: np.ndarray
    exchange: Exchange | None
    transposed: bool
    ports: np.ndarray
    place: np.ndarray
    dependent: np.ndarray
    constant: np.ndarray

    @property
    def points(self) -> int:
        """Points that are worked on at once."""
        return int(np.clip(BATCH // (self.program.order * len(self.program.rows) + 1), 16, MOST_POINTS))

    def inner(self, delta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Values (columns, rows, N) of what the program gives, at delta (blocks, N), and suspicious points."""
        return self.program.run(delta / self.scale[:, None])

    def outer(self, values: np.ndarray, target: Target) -> np.ndarray:
        """Write the ports of the model that depend on Delta into ``target``; returns suspicious points.

        ``values``: what the program gives, (values, N).
        """
        n = values.shape[1]
        if self.exchange is None:
            for port, out in target.items():
                out[:] = values[self.place[port]]
            return np.zeros(n, dtype=bool)

        def entry(i: int, j: int) -> np.ndarray | float:
            k = self.place[i, j]
            return values[k] if k >= 0 else float(self.ports[i, j])

        corner = self.ports[np.ix_(self.exchange.rows, self.exchange.columns)]
        return self.exchange.of_values(entry, target, n, nominal=float(np.abs(corner).max()))

    def space(self, n: int) -> np.ndarray:
        """Space for all ports (rows, columns, n) that already holds those that never change."""
        values = np.empty((*self.ports.shape, n))
        values[...] = self.constant[:, :, None]
        return values

    def target(self, space: np.ndarray) -> dict[tuple[int, int], np.ndarray]:
        """The places in such a space that :meth:`outer` writes."""
        return {(int(i), int(j)): space[i, j] for i, j in np.argwhere(self.dependent)}

    def at(self, delta: np.ndarray, target: Target) -> np.ndarray:
        """Write the ports that depend on Delta, at delta (blocks, N); returns suspicious points."""
        inner, bad = self.inner(delta)
        return bad | self.outer(inner.reshape(-1, inner.shape[2]), target)


_PLANS: weakref.WeakKeyDictionary[LFTData, Plan | None] = weakref.WeakKeyDictionary()


def plan_of(a: LFTData) -> Plan | None:
    """The plan of an LFT whose blocks are all real scalars; None where direct solution is all there is."""
    if a not in _PLANS:
        _PLANS[a] = _made(numeric(a))
    return _PLANS[a]


def _made(a: LFTData) -> Plan | None:
    if not all(b.kind == "real" for b in a.structure.blocks) or a.structure.n_rows == a.n_states:
        return None
    judge = _Judge(a)
    best: Plan | None = None
    plain = _planned(a, None)
    options: list[Exchange | None] = [None]
    if plain is not None and plain.program.core_size:
        rows = np.flatnonzero(np.any(_split(a)[2] != 0, axis=1))
        options += candidates(_split(a)[3], rows, a.n_states)
    for option in options:
        plan = plain if option is None else _planned(a, option)
        if (
            plan is None
            or plan.program.core_size == plan.program.order
            or (best is not None and plan.program.multiplications >= best.program.multiplications)
        ):
            continue
        if judge.accepts(plan):
            best = plan
    return best


def _split(a: LFTData) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """dd, dp, pd, pp of M with Delta channels and ports apart."""
    n, k = a.n_states, a.structure.n_rows
    d = range(n, k)
    rows = [*range(n), *range(k, a.M.shape[0])]
    columns = [*range(n), *range(k, a.M.shape[1])]
    return a.M[np.ix_(d, d)], a.M[np.ix_(d, columns)], a.M[np.ix_(rows, d)], a.M[np.ix_(rows, columns)]


def _planned(a: LFTData, exchange: Exchange | None) -> Plan | None:
    dd, dp, pd, pp = _split(a)
    k = len(dd)
    if exchange is not None:
        M = exchange.of_matrix(np.block([[dd, dp], [pd, pp]]), k, k)
        dd, dp, pd, pp = M[:k, :k], M[:k, k:], M[k:, :k], M[k:, k:]
    blocks = a.structure.blocks
    low, high = np.array([b.delta_bounds() for b in blocks], dtype=float).reshape(-1, 2).T
    s = ScalarLFT(dd, dp, pd, pp, tuple(slices_of(b.repetitions for b in blocks)), low, high)
    transposed = _ports_used(pd.T) > _ports_used(dp)
    s, scale = scaled_to_unit_range(s.transposed() if transposed else s)
    s = with_even_channels(s)
    eigenvalues = [known_eigenvalues(b, x) for b, x in zip(blocks, scale, strict=True)]
    owner = np.repeat(np.arange(len(blocks)), [b.repetitions for b in blocks])
    try:
        program = compiled(s, layered(s.dd, owner, eigenvalues))
    except np.linalg.LinAlgError:
        return None
    place = np.full(s.pp.shape, -1)
    r, c = program.rows, program.columns
    place[np.ix_(r, c)] = np.arange(len(c) * len(r)).reshape(len(c), len(r)).T
    place = place.T if transposed else place
    depends = place >= 0 if exchange is None else exchange.dependent(place >= 0, pp)
    return Plan(program, scale, exchange, transposed, pp, place, depends, _split(a)[3])


def _ports_used(ports: np.ndarray) -> int:
    return int(np.sum(np.any(ports != 0, axis=0)))


class _Judge:
    """Compares plans with the direct solution at random points of the box."""

    def __init__(self, a: LFTData) -> None:
        rng = np.random.default_rng(31)
        low, high = np.array([b.delta_bounds() for b in a.structure.blocks], dtype=float).reshape(-1, 2).T
        self.delta = low[:, None] + (high - low)[:, None] * rng.uniform(size=(len(low), CHECKED_POINTS))
        self.truth = self._direct(a)
        if self.truth is None:
            return
        size = np.abs(self.truth).max(axis=0, initial=0.0)
        row, column = (size.max(axis=k, keepdims=True, initial=0.0) for k in (1, 0))
        self.scale = np.maximum(np.minimum(row, column), 1e-300)
        other = self._direct(_turned(a, rng))
        noise = np.inf if other is None else np.max(np.abs(other - self.truth) / self.scale, initial=0.0)
        self.accepted = max(AGREEMENT, NOISE_FACTOR * min(float(noise), 1e-9))

    def _direct(self, a: LFTData) -> np.ndarray | None:
        values, bad = solve_points(a, list(self.delta), CHECKED_POINTS)
        return values if bad is None else None

    def accepts(self, plan: Plan) -> bool:
        """Whether all values agree."""
        if self.truth is None:
            return False
        values = plan.space(CHECKED_POINTS)
        bad = plan.at(self.delta, plan.target(values))
        with np.errstate(all="ignore"):
            error = np.max(np.abs(np.moveaxis(values, 2, 0) - self.truth) / self.scale, initial=0.0)
        return not bad.any() and bool(error <= self.accepted)


def _turned(a: LFTData, rng: np.random.Generator) -> LFTData:
    """The same LFT after random orthogonal changes of basis inside each block: another rounding."""
    n = a.M.shape
    left, right = np.eye(n[0]), np.eye(n[1])
    slices = zip(a.structure.row_slices(), a.structure.column_slices(), strict=True)
    for rows, columns in slices:
        q = np.linalg.qr(rng.standard_normal((rows.stop - rows.start,) * 2))[0]
        left[rows, rows], right[columns, columns] = q.T, q
    return replace(a, M=left @ a.M @ right)
