"""Upper bound of mu of one matrix: the smallest level at which D, G scalings certify.

The level is lowered by the method of centres (Boyd, El Ghaoui, *Method of centers for minimizing generalized
eigenvalues*, Linear Algebra Appl. 188, 1993): centre, compute the least level of these scalings (an eigenvalue), go on
a little above it.  Every level returned belongs to given scalings, so it is a bound whatever the search does.

A *skewed* bound leaves some blocks at their size and lowers the level of the others; with one full block that joins
inputs and outputs, its level is a bound of the gain over all values of the fixed blocks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg

from lftgen.analysis.mu.barrier import Centring, hermitian
from lftgen.analysis.mu.structure import MuStructure

MAX_CENTRES = 60
THETA = 0.2
"""How far above the least level of the present scalings the next centre lies, as a share of the last gap."""
HEADROOM = 1.5
"""The first centre lies this much above the first level."""


@dataclass(frozen=True)
class Scaling:
    """Hermitian D > 0 and G, padded; M with its free columns divided by ``level`` has mu <= 1 by them."""

    D: np.ndarray
    G: np.ndarray
    level: float


@dataclass(frozen=True)
class Problem:
    """A structure and the padded columns that the level divides (all of them, but for skewed bounds)."""

    structure: MuStructure
    free: np.ndarray

    @classmethod
    def whole(cls, structure: MuStructure) -> Problem:
        """Every block grows with the level: mu itself."""
        return cls(structure, np.ones(structure.size, dtype=bool))

    @classmethod
    def skewed(cls, structure: MuStructure, free_blocks: int = 1) -> Problem:
        """Only the last blocks grow with the level."""
        free = np.zeros(structure.size, dtype=bool)
        if free_blocks:
            free[structure.starts[-free_blocks] :] = True
        return cls(structure, free)

    def divide(self, M: np.ndarray, level: float) -> np.ndarray:
        """M with its free columns divided by the level."""
        return M / self.levels(level)

    def levels(self, level: float) -> np.ndarray:
        """The level of each column."""
        return np.where(self.free, level, 1.0)

    def form(self, M: np.ndarray, scaling: Scaling) -> np.ndarray:
        """``M* D M + j (G M - M* G)``."""
        return hermitian(M.conj().T @ scaling.D @ M + 2j * (scaling.G @ M))

    def least_level(self, M: np.ndarray, scaling: Scaling) -> float:
        """The least level that these scalings certify; inf if none."""
        N, D, f = self.form(M, scaling), scaling.D, self.free
        if f.all():
            return float(np.sqrt(max(_top(N, D), 0.0)))
        fixed = ~f
        S = (D - N)[np.ix_(fixed, fixed)]
        try:
            chol = linalg.cho_factor(S, check_finite=False)
        except np.linalg.LinAlgError:
            return float("inf")
        cross = N[np.ix_(fixed, f)]
        rest = N[np.ix_(f, f)] + cross.conj().T @ linalg.cho_solve(chol, cross, check_finite=False)
        return float(np.sqrt(max(_top(hermitian(rest), D[np.ix_(f, f)]), 0.0)))


def _top(N: np.ndarray, D: np.ndarray) -> float:
    """Largest lambda of N v = lambda D v."""
    k = len(D) - 1
    try:
        return float(linalg.eigh(N, D, eigvals_only=True, subset_by_index=[k, k], check_finite=False)[0])
    except np.linalg.LinAlgError:
        return float("inf")


def osborne(M: np.ndarray, structure: MuStructure, sweeps: int = 12) -> np.ndarray:
    """Positive diagonal scaling d, constant over the inner channels of full blocks, that balances |d M / d|."""
    group = _groups(structure)
    k = int(group.max()) + 1 if len(group) else 0
    power = np.zeros((k, k))
    np.add.at(power, (group[:, None], group[None, :]), np.abs(M) ** 2)
    np.fill_diagonal(power, 0.0)
    floor = 1e-12 * max(power.max(initial=0.0), 1e-300)
    d = np.ones(k)  # squared scaling
    for _ in range(sweeps):
        for i in range(k):
            row, column = d[i] * (power[i] / d).sum(), (power[:, i] * d).sum() / d[i]
            d[i] *= np.sqrt((column + floor) / (row + floor))
    return np.sqrt(d)[group]


def _groups(structure: MuStructure) -> np.ndarray:
    """Number of the scalar scaling of each padded channel."""
    parts, count = [], 0
    for b in structure.blocks:
        parts.append(count + np.repeat(np.arange(b.repetitions), b.side))
        count += b.repetitions
    return np.concatenate(parts).astype(int) if parts else np.zeros(0, dtype=int)


def minimise(
    M: np.ndarray,
    problem: Problem,
    *,
    target: float = 0.0,
    start: Scaling | None = None,
    tolerance: float = 1e-3,
    absolute: float = 1e-6,
) -> Scaling:
    """Scalings of (nearly) least level for a padded M; stops as soon as a level below ``target`` is reached.

    A target that is reached is followed by a centring at the target, so that the scalings hold in a neighbourhood.
    ``absolute`` is relative to the first bound: mu may be 0.
    """
    size = problem.structure.size
    if not size or not np.any(M):
        return Scaling(np.eye(size), np.zeros((size, size)), 0.0)
    M = M if np.any(np.imag(M)) else M.real
    balance = osborne(problem.divide(M, _guess(M, problem, target)), problem.structure)
    local = M * balance[:, None] / balance
    now = _start(local, balance, problem, start, tolerance)
    if np.isfinite(now.level):
        now = _descend(local, problem, now, target, tolerance, max(absolute * now.level, target))
    if target > 0 and now.level < target:
        now = replace(centred(local, problem, now, target), level=now.level)
    return _unbalanced(now, balance)


def _guess(M: np.ndarray, problem: Problem, target: float) -> float:
    """A level of the right size, to balance M at."""
    if problem.free.all():
        return 1.0
    return target or float(np.linalg.norm(M[:, problem.free][problem.free], 2)) or 1.0


def _descend(
    M: np.ndarray, problem: Problem, now: Scaling, target: float, tolerance: float, floor: float
) -> Scaling:
    work = HEADROOM * now.level
    for _ in range(MAX_CENTRES):
        if now.level < floor or now.level == 0:
            break
        before = now.level
        new = _predicted(M, problem, centred(M, problem, now, work), work)
        now = min(now, new, key=lambda s: s.level)
        if before - now.level < 0.2 * tolerance * now.level and work - now.level < tolerance * now.level:
            break
        work = np.sqrt(now.level**2 + THETA * (work**2 - now.level**2))
    return now


def centred(M: np.ndarray, problem: Problem, now: Scaling, level: float) -> Scaling:
    """The analytic centre at a level that the present scalings certify, with the least level of the result."""
    real = np.isrealobj(M)
    T = _join(now, problem.levels(level))
    T = T.real if real else T
    newton = Centring(problem.divide(M, level), problem.structure.basis(real))
    if not newton.feasible(T):
        return now
    out = _split(newton.centre(T), problem.levels(level))
    return replace(out, level=problem.least_level(M, out))


def _predicted(M: np.ndarray, problem: Problem, centre: Scaling, level: float) -> Scaling:
    """The best point on the tangent to the path of centres: the path is nearly straight towards its end."""
    if not centre.level < level:
        return centre
    basis = problem.structure.basis(np.isrealobj(M))
    T = _join(centre, problem.levels(level))
    T = T.real if np.isrealobj(M) else T
    newton, small = Centring(problem.divide(M, level), basis), 1e-4 * (1 - centre.level / level)
    tangent = newton.tangent(T, Centring(problem.divide(M, level * (1 - small)), basis), small)
    best, step = centre, 0.5 * (1 - centre.level / level)
    for _ in range(12):
        trial = _split(T + step * tangent, problem.levels(level * (1 - min(step, 0.9))))
        trial = replace(trial, level=problem.least_level(M, trial))
        if not trial.level < best.level or not _definite(trial.D):
            break
        best, step = trial, 1.6 * step
    return best


def _definite(D: np.ndarray) -> bool:
    try:
        np.linalg.cholesky(D)
    except np.linalg.LinAlgError:
        return False
    return True


def _start(
    local: np.ndarray, balance: np.ndarray, problem: Problem, start: Scaling | None, tolerance: float
) -> Scaling:
    """The better of the scalings given and none; for skewed bounds the fixed blocks are certified first."""
    eye = np.eye(len(local))
    candidates = [Scaling(eye, 0 * eye, 0.0)]
    if start is not None:
        D, G = (X / balance[:, None] / balance for X in (start.D, start.G))
        candidates.append(Scaling(D.real, 1j * G.imag, 0.0) if np.isrealobj(local) else Scaling(D, G, 0.0))
    candidates = [replace(s, level=problem.least_level(local, s)) for s in candidates]
    best = min(candidates, key=lambda s: s.level)
    if np.isfinite(best.level) or problem.free.all():
        return best
    return _from_fixed_blocks(local, problem, start and candidates[-1], tolerance)


def _from_fixed_blocks(M: np.ndarray, problem: Problem, warm: Scaling | None, tolerance: float) -> Scaling:
    """A first skewed scaling: certify the fixed blocks alone, then give the free ones a small enough weight."""
    fixed, size = ~problem.free, len(M)
    blocks = [
        b
        for b, s in zip(problem.structure.blocks, problem.structure.starts, strict=True)
        if s < size and fixed[min(s, size - 1)]
    ]
    small = Problem.whole(MuStructure(tuple(blocks)))
    part = np.ix_(fixed, fixed)
    first = None if warm is None else Scaling(warm.D[part], warm.G[part], 0.0)
    inner = minimise(M[part], small, target=1.0, start=first, tolerance=tolerance)
    eye = np.eye(size, dtype=np.result_type(inner.D, inner.G))
    if not inner.level < 1:
        return Scaling(eye, 0 * eye, float("inf"))
    D, G = eye.copy(), 0 * eye
    D[part], G[part] = inner.D, inner.G
    S = inner.D - small.form(M[part], inner)
    down = M[np.ix_(problem.free, fixed)]
    weight = 0.5 / max(_top(hermitian(down.conj().T @ down), S), 1e-12 * 1.0)
    D[np.ix_(problem.free, problem.free)] *= weight
    out = Scaling(D if np.iscomplexobj(M) else D.real, G, 0.0)
    return replace(out, level=problem.least_level(M, out))


def _unbalanced(s: Scaling, balance: np.ndarray) -> Scaling:
    return Scaling(s.D * balance[:, None] * balance, s.G * balance[:, None] * balance, s.level)


def _join(s: Scaling, levels: np.ndarray) -> np.ndarray:
    return s.D - 1j * s.G / levels[:, None]


def _split(T: np.ndarray, levels: np.ndarray) -> Scaling:
    """D and G of T; for real T the G scaling is imaginary and skew."""
    return Scaling(hermitian(T), 0.5j * levels[:, None] * (T - T.conj().T), float("inf"))
