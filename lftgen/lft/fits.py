"""Fewer repetitions than words give, by least squares on the entries of M."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from lftgen.lft.data import LFTData
from lftgen.lft.evaluation import numeric
from lftgen.lft.field import FLOAT
from lftgen.lft.maps import change_maps
from lftgen.lft.realization.fitting import Samples, fit, points_needed, price, random_start
from lftgen.lft.realization.result import Realization
from lftgen.lft.realization.work import Work
from lftgen.lft.reduction.kalman import scalar_lft
from lftgen.lft.structure import DeltaMap

LARGEST_PRICE = 0.03
"""Seconds of an iteration above which nothing is tried."""
_FRESH = 40
_STARTS = 4
_NOISES = (0.02, 0.1, 0.3)
_GRAMIAN_POINTS = 100
Counts = tuple[int, ...]


@dataclass
class Fits:
    """Attempts to realise the values of one LFT with given repetitions.

    Parameters
    ----------
    lft : LFTData
        A realisation without states and full blocks, in float entries.
    bounds : mapping of str to int
        Least repetitions of each parameter.
    seed : int
    """

    lft: LFTData
    bounds: Mapping[str, int]
    seed: int = 0

    def __post_init__(self) -> None:
        """Parameters in units of their ranges."""
        self.rng = np.random.default_rng(self.seed)
        blocks = tuple(b for b in self.lft.structure.blocks if b.repetitions)
        self.lft = replace(self.lft, structure=replace(self.lft.structure, blocks=blocks))
        self.names = [b.name for b in blocks]
        self.maps = {b.name: _unit_map(b.parameter.coordinate_bounds) for b in blocks if b.parameter}
        self.least: Counts = tuple(self.bounds[name] for name in self.names)
        self.have: Counts = tuple(b.repetitions for b in blocks)
        self.scalar = scalar_lft(numeric(change_maps(self.lft, self.maps)))

    @property
    def possible(self) -> bool:
        """Whether the size allows it."""
        return price(sum(self.have) - 1, self.lft.shape) <= LARGEST_PRICE

    def smaller(self, work: Work) -> LFTData | None:
        """A realisation with fewer repetitions; None where none is found before the work is used up."""
        for counts in self._targets():
            for k in range(_STARTS if counts != self.least else 2 * _STARTS):
                if work.exhausted:
                    return None
                found = self._run(counts, work, near=bool(k % 2))
                if found is not None:
                    return self._lft(found)
        return None

    def _targets(self) -> list[Counts]:
        """The bounds, one repetition more than these, one less than there are."""
        every = range(len(self.least))
        more = [tuple(n + (i == k) for i, n in enumerate(self.least)) for k in every]
        less = [
            tuple(n - (i == k) for i, n in enumerate(self.have))
            for k in every
            if self.have[k] > self.least[k]
        ]
        some = dict.fromkeys([self.least, *more, *less])
        return [counts for counts in some if sum(counts) < sum(self.have)]

    def _run(self, counts: Counts, work: Work, *, near: bool) -> Realization | None:
        """From a random start, or from one near the given realisation."""
        needed = points_needed(sum(counts), self.lft.shape)
        circle = np.exp(1j * self.rng.uniform(-np.pi, np.pi, (needed, len(counts))))
        box = self.rng.uniform(-1, 1, (_FRESH, len(counts)))
        samples = Samples.of(circle, self._values(circle))
        fresh = replace(samples, points=box, values=samples.scaled(self._values(box)))
        if near and all(n <= have for n, have in zip(counts, self.have, strict=True)):
            start = samples.scaled(self._truncated(counts))
            start = start + self.rng.choice(_NOISES) * self.rng.standard_normal(start.shape)
        else:
            start = random_start(samples, sum(counts), self.rng)
        return fit(samples, fresh, counts, start, work)

    @cached_property
    def _balanced(self) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Left and right bases of each block, the directions of least effect last (from Gramians over the box)."""
        a, points = self.scalar, self.rng.uniform(-1, 1, (_GRAMIAN_POINTS, len(self.have)))
        delta = np.repeat(points, self.have, axis=1)
        reached = np.linalg.solve(np.eye(a.order) - a.dd * delta[:, None, :], a.dp[None])
        seen = np.linalg.solve(np.eye(a.order) - a.dd.T * delta[:, None, :], a.pd.T[None])
        left, right = [], []
        for g in a.groups:
            x, y = (_factor(v[:, g]) for v in (reached, seen))
            u, s, vt = np.linalg.svd(y.T @ x)
            left.append((u / np.sqrt(s)).T @ y.T)
            right.append(x @ vt.T / np.sqrt(s))
        return left, right

    def _truncated(self, counts: Counts) -> np.ndarray:
        """M of the given realisation without the directions of least effect."""
        left, right = self._balanced
        a = self.scalar.projected(
            [x[:n] for x, n in zip(left, counts, strict=True)],
            [x[:, :n] for x, n in zip(right, counts, strict=True)],
        )
        return np.block([[a.dd, a.dp], [a.pd, a.pp]])

    def _values(self, points: np.ndarray) -> np.ndarray:
        """The given LFT at points (N, parameters) in units of the ranges."""
        a = self.scalar
        delta = np.repeat(points, self.have, axis=1)
        inner = np.linalg.solve(
            np.eye(a.order) - a.dd * delta[:, None, :], np.broadcast_to(a.dp, (len(points), *a.dp.shape))
        )
        values: np.ndarray = a.pp + (a.pd * delta[:, None, :]) @ inner
        return values

    def _lft(self, r: Realization) -> LFTData:
        """With the names and maps of the given one."""
        counts = [r.letters.count(k) for k in range(len(self.names))]
        blocks = [
            replace(b, repetitions=n, map=self.maps[b.name])
            for b, n in zip(self.lft.structure.blocks, counts, strict=True)
        ]
        structure = replace(self.lft.structure, blocks=tuple(blocks))
        M = np.block([[r.M11, r.M12], [r.M21, r.M22]])
        raw = LFTData(M, structure, self.lft.inputs, self.lft.outputs, FLOAT)
        return change_maps(raw, {b.name: b.map for b in self.lft.structure.blocks})


def _unit_map(bounds: tuple[float, float]) -> DeltaMap:
    low, high = bounds
    return DeltaMap((low + high) / 2, (high - low) / 2)


def _factor(vectors: np.ndarray) -> np.ndarray:
    """A square root of the Gramian of vectors (N, n, ports)."""
    gram = np.einsum("nai,nbi->ab", vectors, vectors) / len(vectors)
    return np.linalg.cholesky(gram + 1e-13 * max(float(np.trace(gram)), 1e-300) * np.eye(len(gram)))
