"""From a problem to the certificate with the smallest level that can be turned into a controller."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from lftgen.analysis.lpv.problem import Problem, needs, regularised, transformed, with_even_states
from lftgen.analysis.lpv.scalings import Certificate, controller_matrix, inequalities, solver

GENEROUS = 10.0
"""First level tried, doubled until there is a solution."""
DOUBLINGS = 24
WEIGHTS = tuple(10.0 ** -np.arange(1.5, 4.6, 0.5))
"""Price of the size of R, S and the scalings against the level: the smaller, the nearer to the optimum."""
SKEW_WEIGHTS = WEIGHTS[1:]
MARGINS = (1e-3, 1e-2)
NOISE = (3e-2, 2e-2, 1.5e-2, 1e-2, 3e-3)
ROUNDING = 1e-13
"""The largest eigenvalue must lie this far below zero, times the size of the controller's entries."""


@dataclass(frozen=True)
class Found:
    """A certificate that was turned into a controller matrix, in the coordinates of ``problem``."""

    problem: Problem
    certificate: Certificate
    K: np.ndarray
    eigenvalue: float
    skew: bool


@dataclass
class Search:
    """State of the search: what is best so far, and when to stop."""

    skew: bool
    end: float
    progress: Callable[[str, float], None] | None
    best: Found | None = None
    tried: int = 0
    status: str = "interrupted"

    def run(self, p: Problem) -> None:
        """All variants of a problem, until the time is over; ``status`` tells how it ended (Ctrl-C: as it began)."""
        even = with_even_states(p)
        noisy, cheap = needs(p)
        size = max(float(np.max(np.abs(p.part("y", "w")), initial=0.0)), 1e-300)
        effort = max(float(np.max(np.abs(p.part("z", "u")), initial=0.0)), 1e-300)
        variants = [(e * size * noisy, e * effort * cheap) for e in NOISE] if noisy or cheap else [(0.0, 0.0)]
        for noise, weight in variants:
            for margin in MARGINS:
                self._path(regularised(even, noise, weight), margin)
                if time.monotonic() > self.end:
                    self.status = "time-out"
                    return
        self.status = "infeasible" if self.best is None else "found"

    def _path(self, p: Problem, margin: float) -> None:
        start = self._first(p)
        if start is None:
            return
        stages = [(False, w) for w in WEIGHTS] + [
            (True, w) for w in SKEW_WEIGHTS if self.skew and _repeated(p)
        ]
        for skew, weight in stages:
            if time.monotonic() > self.end:
                return
            self._tell("step", self.best.certificate.gamma if self.best else np.inf)
            p, here = _evened(p, start)
            new = _solve(p, margin, weight * here.gamma / _size(here), None, skew)
            if new is None:
                start = here
                continue
            start = new
            self._take(p, new, skew)

    def _first(self, p: Problem) -> Certificate | None:
        gamma = GENEROUS
        for _ in range(DOUBLINGS):
            self._tell("step", self.best.certificate.gamma if self.best else np.inf)
            found = _solve(p, 1e-3, 1.0, gamma, False)
            if found is not None or time.monotonic() > self.end:
                return found
            gamma *= 4
        return None

    def _take(self, p: Problem, c: Certificate, skew: bool) -> None:
        self.tried += 1
        if self.best is not None and c.gamma >= self.best.certificate.gamma * (1 - 1e-4):
            return
        K, top = controller_matrix(p, c)
        if np.all(np.isfinite(K)) and top < -ROUNDING * max(1.0, float(np.max(np.abs(K)))) ** 0.5:
            self.best = Found(p, c, K, top, skew)
            self._tell("level", c.gamma)

    def _tell(self, what: str, level: float) -> None:
        if self.progress is not None:
            self.progress(what, float(level))


def _repeated(p: Problem) -> bool:
    """Whether a G scaling can be anything but zero."""
    return any(b.repetitions > 1 for b in p.blocks)


def _solve(p: Problem, margin: float, weight: float, gamma: float | None, skew: bool) -> Certificate | None:
    cp = solver()
    level: Any = cp.Variable(nonneg=True) if gamma is None else gamma
    system = inequalities(p, cp, level, margin, skew=skew)
    price = weight * system.size(cp)
    task = cp.Problem(cp.Minimize(price if gamma is not None else level + price), system.constraints)
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", UserWarning
            )  # inaccurate solutions are judged by their eigenvalues
            task.solve(solver="CLARABEL")
    except cp.error.SolverError:
        return None
    if task.status not in ("optimal", "optimal_inaccurate"):
        return None
    return system.solution(float(level.value) if gamma is None else gamma)


def _size(c: Certificate) -> float:
    """The least price of a certificate over all coordinates."""
    return _geometric(c.R, c.S) + _geometric(_symmetric(c.H), _symmetric(c.H_dual))


def _geometric(a: np.ndarray, b: np.ndarray) -> float:
    return 2 * float(np.sum(np.sqrt(np.abs(np.linalg.eigvals(a @ b))))) if len(a) else 0.0


def _symmetric(a: np.ndarray) -> np.ndarray:
    return (a + a.T) / 2


def _evened(p: Problem, c: Certificate) -> tuple[Problem, Certificate]:
    """Coordinates in which R and S, and the scalings of plant and dual, are equal and diagonal."""
    T = _balancing(c.R, c.S)
    blocks, start = [], 0
    for b in p.blocks:
        part = slice(start, start + b.repetitions)
        blocks.append(_balancing(_symmetric(c.H_dual[part, part]), _symmetric(c.H[part, part])))
        start += b.repetitions
    return transformed(p, T, scipy.linalg.block_diag(*blocks) if blocks else np.zeros((0, 0))), c


def _balancing(R: np.ndarray, S: np.ndarray) -> np.ndarray:
    """T with ``T R T^T = T^-T S T^-1`` diagonal."""
    root = np.linalg.cholesky(_symmetric(R) + 1e-14 * np.trace(R) * np.eye(len(R)))
    u, s, _ = np.linalg.svd(root.T @ S @ root)
    return np.diag(np.maximum(s, 1e-300) ** 0.25) @ u.T @ np.linalg.inv(root)
