"""How few repetitions are possible: a lower bound per parameter that no realisation of any kind can beat.

With all other parameters frozen at a generic point, an LFT is a realisation of a rational matrix in one parameter; the
McMillan degree of that matrix bounds the parameter's repetitions from below.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lftgen.errors import IllPosedError
from lftgen.lft.data import LFTData
from lftgen.lft.evaluation import numeric
from lftgen.lft.field import ExactField
from lftgen.lft.maps import freeze
from lftgen.lft.reduction.balancing import balanced, scaled_to_unit_range
from lftgen.lft.reduction.kalman import reduce, scalar_lft
from lftgen.lft.threads import single_threaded

POINTS = 3
"""Generic points at which the others are frozen; the median of the degrees counts."""
NOISE = 1e-8
"""What freezing the others may have added as rounding noise; too large a value only makes the bound smaller (still valid)."""


@dataclass(frozen=True)
class ParameterBound:
    """Least number of repetitions of one parameter, and how clear the ranks behind it are.

    Attributes
    ----------
    bound : int
        The median of ``ranks``.
    ranks : tuple of int
        McMillan degree with the others frozen, one for each generic point.
    singular_gap : float
        Largest over the points of (first dropped / last kept) singular value of a Loewner matrix; 0 without
        repetitions.  Far below one: the rank is not in doubt.
    """

    bound: int
    ranks: tuple[int, ...] = ()
    singular_gap: float = 0.0


def order_bound(a: LFTData, seed: int = 7) -> dict[str, int]:
    """Least number of repetitions of each real scalar parameter, in ``[A B; C D]`` in these states.

    The given LFT need not be reduced, but the smaller it is the faster and the more accurate this is.
    """
    return {name: b.bound for name, b in parameter_bounds(a, seed, gaps=False).items()}


@single_threaded
def parameter_bounds(a: LFTData, seed: int = 7, *, gaps: bool = True) -> dict[str, ParameterBound]:
    """Lower bounds with the ranks at each generic point, and their singular-value gaps where asked for."""
    rng = np.random.default_rng(seed)
    small = reduce(_numbers_for_symbols(a, rng))
    bounds: dict[str, ParameterBound] = {}
    for block in a.structure.blocks:
        if block.parameter is None:
            continue
        have = next(b for b in small.structure.blocks if b.name == block.name)
        if have.repetitions == 0:
            bounds[block.name] = ParameterBound(0)
            continue
        restricted = [_restricted(small, block.name, rng) for _ in range(POINTS)]
        reduced = [reduce(r, error_floor=NOISE).structure for r in restricted]
        ranks = tuple(next(b.repetitions for b in s.blocks if b.name == block.name) for s in reduced)
        pairs = zip(restricted, ranks, strict=True)
        gap = max(_singular_gap(r, rank, rng) for r, rank in pairs) if gaps else 0.0
        bounds[block.name] = ParameterBound(sorted(ranks)[POINTS // 2], ranks, gap)
    return bounds


def _singular_gap(a: LFTData, rank: int, rng: np.random.Generator) -> float:
    """First dropped over last kept singular value of a Loewner matrix at a rank.

    With F of one parameter, ``(F(d) - F(e))/(d - e) = M21 (I - d M11)^-1 (I - e M11)^-1 M12``: between random
    directions, at points on half and on three quarters of the unit circle (delta in units of its range), its rank is
    the McMillan degree (Mayo & Antoulas, Linear Algebra Appl. 2007).
    """
    if rank == 0:
        return 0.0
    s, _, _ = balanced(scaled_to_unit_range(scalar_lft(numeric(a)))[0])
    n, count = s.order, s.order + 4
    turns = np.exp(2j * np.pi * (np.arange(count) + 0.5) / count)
    rows, columns = [], []
    for z in turns:
        left, right = rng.standard_normal(s.pd.shape[0]), rng.standard_normal(s.dp.shape[1])
        rows.append(np.linalg.solve((np.eye(n) - 0.5 * z * s.dd).T, s.pd.T @ left))
        columns.append(np.linalg.solve(np.eye(n) - 0.75 * z * s.dd, s.dp @ right))
    values = np.linalg.svd(np.array(rows) @ np.array(columns).T, compute_uv=False)
    floor = np.finfo(float).eps * values[0]
    return float(min(1.0, max(values[rank], floor) / values[rank - 1])) if values[rank - 1] > 0 else 1.0


def _numbers_for_symbols(a: LFTData, rng: np.random.Generator) -> LFTData:
    """Generic rational numbers in place of free symbols: degrees do not rise, and almost surely do not fall."""
    if not a.field.symbols:
        return a
    from lftgen.lft.symbolic import substitute_symbols

    return substitute_symbols(a, {s.name: int(rng.integers(3, 1000)) / 64 for s in a.field.symbols})


def _restricted(a: LFTData, name: str, rng: np.random.Generator) -> LFTData:
    """All scalar blocks but one frozen at a random point of the inner half of the box; full blocks at zero."""
    for _ in range(5):
        try:
            return _frozen(a, name, rng)
        except IllPosedError:
            continue
    return _frozen(a, name, rng)


def _frozen(a: LFTData, name: str, rng: np.random.Generator) -> LFTData:
    deltas = {}
    for block in a.structure.blocks:
        if block.name != name and block.is_scalar:
            low, high = block.delta_bounds() if block.parameter is not None else (-block.bound, block.bound)
            value = (low + high) / 2 + (high - low) / 2 * rng.uniform(-0.7, 0.7)
            value = round(value * 64) / 64 + 1 / 128 if isinstance(a.field, ExactField) else value
            deltas[block.name] = a.field.array([[value]])
    return freeze(a, deltas)
