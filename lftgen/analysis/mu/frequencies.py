"""Certificates over whole frequency intervals, so that a bound over all frequencies needs no grid.

Scalings found at one frequency stay valid up to the nearest frequency where the certificate's matrix

    Phi(w) = M(jw)* D M(jw) + j (G M(jw) - M(jw)* G) - L^2 D

becomes singular, which is an imaginary eigenvalue of a Hamiltonian matrix (Ferreres, Magni, Biannic, *Robustness
analysis of flexible structures: practical algorithms*, Int. J. Robust Nonlinear Control 13, 2003; for the constant
multiplier: Boyd, Balakrishnan, Kabamba, Math. Control Signals Systems 2, 1989).  Intervals are added until they cover
[0, inf].
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from lftgen.analysis.mu.upper import Problem, Scaling, minimise

AXIS = 1e-6
"""An eigenvalue counts as imaginary if its real part is below this, relative to it: errs towards short intervals."""
SHRINK = 1e-7
"""Intervals are shortened by this, relative."""
NARROW = 1e-6
"""Intervals narrower than this, relative, are not worth having: the level is raised instead."""
MAX_INTERVALS = 3000
BETWEEN = 0.5
"""Seconds between two reports at least."""
LEAST_RAISE, NARROW_RAISE = 1e-6, 1e-3
"""A level that does not hold is raised by this at least, relative; the second where it holds at one frequency only."""


@dataclass(frozen=True)
class Channels:
    """``M(s) = D + C (s I - A)^-1 B``, padded to the structure's square blocks."""

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    D: np.ndarray

    def at(self, frequency: float) -> np.ndarray:
        """M(j frequency); real at 0 and at infinity."""
        n = len(self.A)
        if not n or not np.isfinite(frequency):
            return self.D
        if frequency == 0:
            return self.D - self.C @ np.linalg.solve(self.A, self.B)
        return self.D + self.C @ np.linalg.solve(1j * frequency * np.eye(n) - self.A, self.B)

    @property
    def stable(self) -> bool:
        """Whether every eigenvalue of A has a negative real part."""
        return not len(self.A) or bool(np.linalg.eigvals(self.A).real.max() < 0)


@dataclass
class Cover:
    """What is certified: the level, and where it is tight.

    Attributes
    ----------
    level : float
        Bound over all frequencies, if ``complete``; inf where scalings of any level were not found.
    peak : float
        Frequency whose bound is the largest found.
    complete : bool
    failed : bool
        Some frequency is not certified at the limit that was set.
    """

    level: float
    peak: float = 0.0
    complete: bool = False
    failed: bool = False
    intervals: list[tuple[float, float, Scaling]] = field(default_factory=list)


class Clock:
    """A time limit that many functions share; ``tick`` is called now and then when they look at it (progress)."""

    def __init__(self, seconds: float, tick: Callable[[], None] | None = None) -> None:
        self.start, self.seconds, self.tick = time.monotonic(), seconds, tick
        self.told = 0.0

    @property
    def spent(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.start

    @property
    def over(self) -> bool:
        """Whether the limit is reached."""
        spent = self.spent
        if self.tick is not None and spent > self.told + BETWEEN:
            self.told = spent
            self.tick()
        return spent > self.seconds


def crossings(system: Channels, problem: Problem, scaling: Scaling, level: float) -> np.ndarray:
    """Frequencies >= 0, sorted, where Phi may become singular."""
    D, G = scaling.D, scaling.G
    A, B, C, F = system.A, system.B, system.C, system.D
    n = len(A)
    if not n:
        return np.zeros(0)
    right = D * problem.levels(level) ** 2
    p11 = C.conj().T @ D @ C
    p12 = C.conj().T @ (D @ F - 1j * G)
    p22 = problem.form(F, scaling) - (right + right.conj().T) / 2
    left, top = np.vstack([B, -p12]), np.hstack([p12.conj().T, B.conj().T])
    base = np.block([[A, np.zeros((n, n))], [-p11, -A.conj().T]])
    values = np.linalg.eigvals(base - left @ np.linalg.solve(p22, top))
    scale = np.abs(values) + 1e-9 * np.abs(A).max()
    on_axis = np.abs(values.real) < AXIS * scale
    return np.sort(values.imag[on_axis & (values.imag > -AXIS * scale)].clip(0.0))


def valid_interval(
    system: Channels, problem: Problem, scaling: Scaling, level: float, frequency: float
) -> tuple[float, float]:
    """The interval around a frequency, within [0, inf], on which the scalings certify the level."""
    try:
        w = crossings(system, problem, scaling, level)
    except np.linalg.LinAlgError:  # no distance to the level at infinite frequency: nothing is certified
        return frequency, frequency
    below, above = w[w <= frequency], w[w > frequency]
    low = below[-1] * (1 + SHRINK) if len(below) else 0.0
    high = above[0] * (1 - SHRINK) if len(above) else np.inf
    if frequency == 0 and len(below):  # a crossing at 0 itself is not certified
        low = high = 0.0
    return low, high


def cover(
    system: Channels,
    problem: Problem,
    level: float,
    *,
    limit: float = np.inf,
    first: tuple[float, ...] = (),
    margin: float = 2e-3,
    tolerance: float = 1e-3,
    clock: Clock | None = None,
    warm: Scaling | None = None,
    on_raise: Callable[[float], None] | None = None,
) -> Cover:
    """Certify a level over all frequencies; where it is too low it is raised, up to ``limit``.

    Parameters
    ----------
    system, problem
        M(s), padded and stable, and its structure.
    level : float
        The level to certify.
    limit : float
        Beyond this level the cover gives up and says ``failed``.
    first : tuple of float
        Frequencies to begin with: where the bound is expected to be tight.
    margin : float
        Relative distance between the least level at a frequency and the level that is certified around it.
    """
    out, clock = Cover(level), clock or Clock(np.inf)
    gaps, queue, seed = [(0.0, np.inf)], [*first, np.inf, 0.0], warm
    scale = max(float(np.abs(np.linalg.eigvals(system.A)).max(initial=0.0)), 1e-6)
    while gaps and len(out.intervals) < MAX_INTERVALS and not clock.over:
        w = _next(gaps, queue, scale)
        M, near = system.at(w), _near(out, w) or seed
        scaling = minimise(M, problem, target=out.level, start=near, tolerance=tolerance)
        while True:
            if not scaling.level < out.level:
                raised = max(scaling.level, out.level) * (1 + max(margin, LEAST_RAISE))
                out.peak = w
                if not raised <= limit or np.isinf(raised):
                    out.failed, out.level = True, raised
                    return out
                out.level = raised
                if on_raise is not None:
                    on_raise(raised)
                scaling = minimise(M, problem, target=raised, start=scaling, tolerance=tolerance)
            low, high = valid_interval(system, problem, scaling, out.level, w)
            low, high = _checked(system, problem, scaling, out.level, (low, w, high))
            if low <= w <= high and (low < high or not len(system.A)):
                break
            # valid at w alone, or not even there: a higher level
            scaling = Scaling(scaling.D, scaling.G, out.level * (1 + NARROW_RAISE))
        out.intervals.append((low, high, scaling))
        gaps = _without(gaps, low, high)
    out.complete = not gaps
    return out


def _next(gaps: list[tuple[float, float]], queue: list[float], scale: float) -> float:
    """A frequency that is not covered yet: of the queue if there is one, else inside of the widest gap."""
    while queue:
        w = queue.pop(0)
        if any(a <= w <= b for a, b in gaps):
            return w
    a, b = max(gaps, key=lambda g: np.log(min(g[1], 1e4 * scale) / max(g[0], 1e-4 * scale)))
    if a == 0:
        return scale if np.isinf(b) else b / 2
    return max(2 * a, scale) if np.isinf(b) else float(np.sqrt(a * b))


def _near(out: Cover, w: float) -> Scaling | None:
    """The scalings of the interval nearest to a frequency."""

    def distance(i: tuple[float, float, Scaling]) -> float:
        if np.isinf(w):
            return 0.0 if np.isinf(i[1]) else 1 / (1 + i[1])
        return max(i[0] - w, w - i[1], 0.0)

    return min(out.intervals, key=distance)[2] if out.intervals else None


def _checked(
    system: Channels, problem: Problem, scaling: Scaling, level: float, interval: tuple[float, float, float]
) -> tuple[float, float]:
    """The interval cut where a sample contradicts the eigenvalue test (it does not, but for rounding)."""
    low, w, high = interval

    def holds(f: float) -> bool:
        return problem.least_level(system.at(f), scaling) <= level

    if not np.isinf(w):
        while high > w and not all(holds(f) for f in ((w + high) / 2, high) if np.isfinite(f)):
            high = w + (high - w) / 2 if np.isfinite(high) else 2 * w + 1
            if high - w < NARROW * high:
                high = w
    while low < w and not all(holds(f) for f in (low, (low + w) / 2 if np.isfinite(w) else 2 * low + 1)):
        low = w - (w - low) / 2 if np.isfinite(w) else 2 * low + 1
        if low > 1e12 or (np.isfinite(w) and w - low < NARROW * w):
            low = w
    return low, high


def _without(gaps: list[tuple[float, float]], low: float, high: float) -> list[tuple[float, float]]:
    """The gaps that an interval leaves."""
    out = []
    for a, b in gaps:
        if high < a or low > b:
            out.append((a, b))
            continue
        out += [(a, low)] if a < low else []
        out += [(high, b)] if high < b else []
    return out
