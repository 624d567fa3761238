"""Realisations by least squares: all entries of M at once, from random starts, until the values agree to rounding.

Words realise one order of the factors; an LFT of commuting parameters is more than that.  With Delta_i at point i,

    F_i = D + C Delta_i (I - A Delta_i)^-1 B,    dF_i = [L_i I] dM [R_i; I]

    L_i = C Delta_i (I - A Delta_i)^-1,    R_i = Delta_i (I - A Delta_i)^-1 B

so that the normal equations of Levenberg and Marquardt are sums of Kronecker products of small matrices.  Where the values
are met to rounding at more points than there are unknowns, and at fresh ones, the realisation is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lftgen.lft.realization.result import Realization
from lftgen.lft.realization.work import Work

MET = 3e-12
"""Largest deviation at fresh points, relative to the largest value of the row and column."""
LARGEST_ENTRY = 100.0
"""Larger entries of M would cost accuracy."""
_ITERATIONS = 500
_PATIENCE, _LONG_PATIENCE, _CLOSE = 30, 120, 1e-10
_SPREADS = (0.1, 0.2, 0.4)  # of random entries of M, where Delta is of size one
_INNER = 0.3  # of entries of M11 beside the others
_OVER = 1.5  # equations for each unknown
_FLOPS = 2e9


@dataclass(frozen=True)
class Samples:
    """Values (N, p, m) at points (N, letters), rows and columns scaled to size one.

    Points on the unit circle weigh all powers alike, which points in [-1, 1] do not; they count twice.
    """

    points: np.ndarray
    values: np.ndarray
    rows: np.ndarray
    columns: np.ndarray

    @staticmethod
    def of(points: np.ndarray, values: np.ndarray) -> Samples:
        """Scale."""
        rows = _sizes(np.sqrt((np.abs(values) ** 2).mean(axis=0)).max(axis=1))
        scaled = values / rows[:, None]
        columns = _sizes(np.sqrt((np.abs(scaled) ** 2).mean(axis=0)).max(axis=0))
        return Samples(points, scaled / columns, rows, columns)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of a value."""
        return len(self.rows), len(self.columns)

    def scaled(self, M: np.ndarray) -> np.ndarray:
        """Values, or M of a realisation of the given values, for the scaled rows and columns."""
        left, right = self._sides(M)
        return M / left[:, None] / right

    def unscaled(self, M: np.ndarray) -> np.ndarray:
        """The way back."""
        left, right = self._sides(M)
        return M * left[:, None] * right

    def _sides(self, M: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        order = M.shape[-2] - len(self.rows)
        return np.concatenate([np.ones(order), self.rows]), np.concatenate([np.ones(order), self.columns])


def _sizes(x: np.ndarray) -> np.ndarray:
    return np.where(x > 0, np.exp2(np.round(np.log2(np.where(x > 0, x, 1.0)))), 1.0)


def points_needed(order: int, shape: tuple[int, int]) -> int:
    """Complex points at which there are half as many equations again as entries of M, and some more."""
    p, m = shape
    return int(_OVER / 2 * (order + p) * (order + m) / (p * m)) + 6


def price(order: int, shape: tuple[int, int]) -> float:
    """Seconds of one iteration."""
    p, m = shape
    unknowns, points = (order + p) * (order + m), points_needed(order, shape)
    return 3e-4 + (4 * points * unknowns**2 + unknowns**3 + 60 * points * order**3) / (2 * _FLOPS)


def random_start(samples: Samples, order: int, rng: np.random.Generator) -> np.ndarray:
    """Small random entries, those of M11 smaller still, around the mean of the values."""
    p, m = samples.shape
    M: np.ndarray = rng.choice(_SPREADS) * rng.standard_normal((order + p, order + m))
    M[:order, :order] *= _INNER
    M[order:, order:] = samples.values.real.mean(axis=0)
    return M


def fit(
    samples: Samples, fresh: Samples, repetitions: Sequence[int], start: np.ndarray, work: Work
) -> Realization | None:
    """One run: the realisation where it is exact, or nothing.

    Parameters
    ----------
    samples, fresh : Samples
        What to meet, and other points to check at (scaled alike).
    repetitions : sequence of int
        Of each letter.
    start : array
        M to begin from, in the scaled rows and columns.
    work : Work
        Charged for each iteration; the run ends where it is exhausted.
    """
    letters = tuple(int(x) for x in np.repeat(np.arange(len(repetitions)), repetitions))
    n = len(letters)
    M = _descended(_Problem(samples, letters), start, work, price(n, samples.shape))
    if np.abs(M).max() > LARGEST_ENTRY or not _Problem(fresh, letters).error(M) <= MET:
        return None
    M = samples.unscaled(M)
    return Realization(M[:n, :n], M[:n, n:], M[n:, :n], M[n:, n:], letters)


@dataclass(frozen=True)
class _Step:
    """Residuals and factors of their derivatives at one M."""

    residuals: np.ndarray
    left: np.ndarray  # (N, p, n + p)
    right: np.ndarray  # (N, n + m, m)

    @property
    def cost(self) -> float:
        return float(np.sum(np.abs(self.residuals) ** 2))

    def normal_equations(self) -> tuple[np.ndarray, np.ndarray]:
        """Gauss-Newton matrix and gradient, for the entries of M row by row."""
        N, _, rows = self.left.shape
        columns = self.right.shape[1]
        left, right = self.left.conj(), self.right.conj()
        outer = (left.transpose(0, 2, 1) @ self.left).reshape(N, -1)
        inner = (right @ self.right.transpose(0, 2, 1)).reshape(N, -1)
        gram = (
            (np.vstack([outer.real, -outer.imag]).T @ np.vstack([inner.real, inner.imag]))
            .reshape(rows, rows, columns, columns)
            .transpose(0, 2, 1, 3)
        )
        gradient = (left.transpose(0, 2, 1) @ self.residuals @ right.transpose(0, 2, 1)).real.sum(axis=0)
        return gram.reshape(rows * columns, rows * columns), gradient.reshape(-1)


@dataclass(frozen=True)
class _Problem:
    """Residuals of M at samples."""

    samples: Samples
    letters: tuple[int, ...]

    def step(self, M: np.ndarray) -> _Step | None:
        """At one M; None where it is singular at a point."""
        n, N = len(self.letters), len(self.samples.points)
        p, m = self.samples.values.shape[1:]
        delta = self.samples.points[:, list(self.letters)]
        try:
            inverse = np.linalg.inv(np.eye(n) - M[:n, :n] * delta[:, None, :])
        except np.linalg.LinAlgError:
            return None
        right = delta[:, :, None] * (inverse @ M[:n, n:])
        left = (M[n:, :n] * delta[:, None, :]) @ inverse
        residuals = M[n:, n:] + M[n:, :n] @ right - self.samples.values
        if not np.isfinite(residuals).all():
            return None
        eyes = [np.broadcast_to(np.eye(k), (N, k, k)) for k in (p, m)]
        return _Step(residuals, np.concatenate([left, eyes[0]], 2), np.concatenate([right, eyes[1]], 1))

    def error(self, M: np.ndarray) -> float:
        """Largest residual."""
        step = self.step(M)
        return float("inf") if step is None else float(np.abs(step.residuals).max())


def _descended(problem: _Problem, M: np.ndarray, work: Work, each: float) -> np.ndarray:
    """Levenberg-Marquardt from M until nothing is gained, or too little."""
    here, damping = problem.step(M), 1e-2
    floor = (1e-15) ** 2 * problem.samples.values.size
    trace: list[float] = []
    for _ in range(_ITERATIONS):
        if here is None or here.cost <= floor or work.exhausted:
            break
        trace.append(here.cost / problem.samples.values.size)
        if _hopeless(trace):
            break
        work.charge(each)
        gram, gradient = here.normal_equations()
        moved = _improved(problem, M, here, (gram, gradient), damping)
        if moved is None:
            break
        M, here, damping = moved
    return M


def _hopeless(trace: list[float]) -> bool:
    """Whether the mean square error has hardly changed for long; close to zero more patience pays."""
    patience = _PATIENCE if trace[-1] > _CLOSE else _LONG_PATIENCE
    return len(trace) > patience and 0.3 * trace[-patience] < trace[-1] > 1e-20


def _improved(
    problem: _Problem, M: np.ndarray, here: _Step, normal: tuple[np.ndarray, np.ndarray], damping: float
) -> tuple[np.ndarray, _Step, float] | None:
    """A step that lowers the cost, with more and more damping; None where there is none."""
    gram, gradient = normal
    for _ in range(8):
        try:
            change = np.linalg.solve(gram + damping * np.eye(len(gram)), -gradient)
        except np.linalg.LinAlgError:
            damping = 4 * damping + 1e-14
            continue
        there = problem.step(M + change.reshape(M.shape))
        if there is not None and there.cost < here.cost:
            expected = -2 * float(gradient @ change) - float(change @ gram @ change)
            quality = (here.cost - there.cost) / max(expected, 1e-300)
            relief = 5.0 if quality > 0.75 else 1.0 if quality > 0.25 else 0.5
            return M + change.reshape(M.shape), there, max(damping / relief, 1e-14)
        damping *= 4
    return None
