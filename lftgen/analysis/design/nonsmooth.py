"""Minimising the largest of many functions under constraints of the same kind: sequential quadratic programming.

Each step minimises the cutting-plane model of all pieces known at a point, plus a quadratic term learnt by damped BFGS
updates of the Lagrangian, inside a trust region; pieces that were active at a rejected trial point are added to the
model.  The scheme is that of the non-smooth techniques of P. Apkarian, D. Noll, IEEE Trans. Automatic Control 51 (2006)
71-86, with the second-order term of V. Bompart, D. Noll, P. Apkarian, Numer. Math. 107 (2007) 433-454.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from lftgen.analysis.design.quadratic import solve_qp


@dataclass(frozen=True, eq=False)
class Cuts:
    """Linear pieces at a point: values and gradients of the objective's (soft), the constraints' (hard, <= 0) and bounds'.

    ``keys`` tells the target how to find each piece again at another point, soft ones first, then hard ones.
    """

    soft: np.ndarray
    soft_slope: np.ndarray
    hard: np.ndarray
    hard_slope: np.ndarray
    keys: Any
    bound: np.ndarray = field(default_factory=lambda: np.zeros(0))
    bound_slope: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))


class Trial(Protocol):
    """A point that was evaluated."""

    x: np.ndarray
    soft: float
    hard: float


class Target(Protocol):
    """What is minimised: ``max soft`` subject to ``max hard <= 0``."""

    def evaluate(self, x: np.ndarray) -> Any:
        """Evaluate a point (soft = inf where the functions do not exist)."""

    def cuts(self, trial: Any, others: list[Any]) -> Cuts:
        """Linear pieces at a point, those included that are active at the ``others``."""

    def slopes(self, trial: Any, keys: Any, index: np.ndarray) -> np.ndarray:
        """Gradients at a point of pieces found at another one."""


@dataclass(frozen=True, eq=False)
class Minimum:
    """Where the search ended: the trial, why, after how many steps."""

    trial: Any
    status: str
    steps: int


@dataclass(frozen=True)
class Options:
    """Stop rules: accuracy in the objective (its natural logarithm, for gains), steps, and a deadline (``time.monotonic``)."""

    tolerance: float = 1e-5
    max_steps: int = 300
    deadline: float = np.inf
    enough: float = -np.inf
    radius: float = 0.3


PENALTY = 10.0
MAX_PENALTY = 1e6
MEMORY = 4
"""Rejected trial points whose active pieces are kept."""
SLOW = 20
"""Steps over which the merit must improve by more than ten tolerances, or the search ends."""


def minimise(
    target: Target, x0: np.ndarray, options: Options, watch: Callable[[Any], None] | None = None
) -> Minimum:
    """Minimise from a point where the target exists.

    Returns
    -------
    Minimum
        status: "converged", "slow", "enough" (the objective fell to ``options.enough`` with no constraint violated),
        "steps", "time limit", "interrupted" (Ctrl-C; the best point so far).
    """
    state = _State(target, target.evaluate(np.asarray(x0, dtype=float)), options.radius)
    history: list[float] = []
    for step in range(options.max_steps):
        best = state.here
        if watch:
            watch(best)
        if best.soft <= options.enough and best.hard <= 0:
            return Minimum(best, "enough", step)
        if time.monotonic() > options.deadline:
            return Minimum(best, "time limit", step)
        try:
            predicted = state.advance()
        except KeyboardInterrupt:
            return Minimum(best, "interrupted", step)
        if state.here is not best or predicted <= options.tolerance:
            history.append(state.merit(state.here))
        small = predicted <= options.tolerance or state.radius < 1e-8
        if small and not state.raise_penalty():
            return Minimum(state.here, "converged", step + 1)
        if len(history) > SLOW and history[-1 - SLOW] - history[-1] < 10 * options.tolerance:
            return Minimum(state.here, "slow", step + 1)
    return Minimum(state.here, "steps", options.max_steps)


class _State:
    """The current point, its cuts, the quadratic term and the trust region."""

    def __init__(self, target: Target, here: Any, radius: float) -> None:
        self.target, self.here, self.radius = target, here, radius
        self.penalty = PENALTY
        self.rejected: list[Any] = []
        self.weights = self._scale()
        self.H = np.diag(0.1 / self.weights**2)
        self.cuts: Cuts | None = None

    def merit(self, trial: Any) -> float:
        return float(trial.soft + self.penalty * max(trial.hard, 0.0))

    def _scale(self) -> np.ndarray:
        size = np.abs(self.here.x)
        return np.maximum(size, max(0.1 * float(np.median(size)), 1e-3 * float(np.max(size)), 1e-8))

    def raise_penalty(self) -> bool:
        """Whether a violated constraint asks for a higher price, and there is one."""
        if self.here.hard <= 1e-6 or self.penalty >= MAX_PENALTY:
            return False
        self.penalty *= 10
        self.radius = max(self.radius, 1e-2)
        return True

    def advance(self) -> float:
        """One trial step; returns the decrease that the model predicted."""
        if self.cuts is None:
            self.cuts = self.target.cuts(self.here, self.rejected)
        d, multipliers, model = self._subproblem(self.cuts)
        predicted = self.merit(self.here) - model
        if predicted <= 0:
            self.radius *= 0.25
            return 0.0
        trial = self.target.evaluate(self.here.x + d)
        actual = self.merit(self.here) - self.merit(trial)
        ratio = actual / predicted if np.isfinite(actual) else -np.inf
        length = float(np.max(np.abs(d) / self.weights))
        if ratio < 0.25:
            self.radius = 0.4 * min(length, self.radius)
        elif ratio > 0.7 and length > 0.8 * self.radius:
            self.radius = min(2.5 * self.radius, 10.0)
        if np.isfinite(trial.soft):
            self._learn(trial, d, multipliers)
        if ratio > 0.05:
            self.here, self.rejected = trial, []
            self.weights = self._scale()
        else:
            self.rejected = [trial, *self.rejected][:MEMORY]
        self.cuts = None
        return predicted

    def _subproblem(self, cuts: Cuts) -> tuple[np.ndarray, np.ndarray, float]:
        """Step, multipliers of soft and hard pieces, and the model's merit there; variables (d / weights, t, s)."""
        w, n = self.weights, len(self.weights)
        n_s, n_h, n_b = len(cuts.soft), len(cuts.hard), len(cuts.bound)
        shift = float(self.here.soft)
        rows = [
            np.hstack([cuts.soft_slope * w, -np.ones((n_s, 1)), np.zeros((n_s, 1))]),
            np.hstack([cuts.hard_slope.reshape(n_h, n) * w, np.zeros((n_h, 1)), -np.ones((n_h, 1))]),
            np.hstack([cuts.bound_slope.reshape(n_b, n) * w, np.zeros((n_b, 2))]),
            np.hstack([np.zeros((1, n + 1)), -np.ones((1, 1))]),
            np.hstack([np.eye(n), np.zeros((n, 2))]),
            np.hstack([-np.eye(n), np.zeros((n, 2))]),
        ]
        right = np.concatenate(
            [shift - cuts.soft, -cuts.hard, -cuts.bound, [0.0], np.full(2 * n, self.radius)]
        )
        H = np.zeros((n + 2, n + 2))
        H[:n, :n] = self.H * w[:, None] * w
        c = np.concatenate([np.zeros(n), [1.0, self.penalty]])
        z, y = solve_qp(H, c, np.vstack(rows), right)
        d = z[:n]
        t = float(np.max(cuts.soft - shift + cuts.soft_slope @ (w * d)))
        s = float(np.max(cuts.hard + cuts.hard_slope.reshape(n_h, n) @ (w * d), initial=0.0))
        model = shift + t + self.penalty * s + 0.5 * float(d @ H[:n, :n] @ d)
        return w * d, y[: n_s + n_h], model

    def _learn(self, trial: Any, d: np.ndarray, multipliers: np.ndarray) -> None:
        """Damped BFGS update with the gradients of the active pieces at both ends (M. J. D. Powell, 1978)."""
        cuts = self.cuts
        assert cuts is not None
        index = np.flatnonzero(multipliers > 1e-4 * max(float(np.max(multipliers, initial=0.0)), 1e-12))
        if not len(index):
            return
        old = np.vstack([cuts.soft_slope, cuts.hard_slope.reshape(-1, len(d))])[index]
        y = multipliers[index] @ (self.target.slopes(trial, cuts.keys, index) - old)
        Hd = self.H @ d
        curvature = float(d @ Hd)
        if not curvature > 0:
            return
        have = float(d @ y)
        theta = 1.0 if have >= 0.2 * curvature else 0.8 * curvature / (curvature - have)
        r = theta * y + (1 - theta) * Hd
        self.H = self.H - np.outer(Hd, Hd) / curvature + np.outer(r, r) / float(d @ r)
