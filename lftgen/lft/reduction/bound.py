"""How few repetitions are possible: a lower bound per parameter that no realisation of any kind can beat.

With all other parameters frozen at a generic point, an LFT is a realisation of a rational matrix in one parameter; the
McMillan degree of that matrix bounds the parameter's repetitions from below.
"""

from __future__ import annotations

import numpy as np

from lftgen.errors import IllPosedError
from lftgen.lft.data import LFTData
from lftgen.lft.field import ExactField
from lftgen.lft.maps import freeze
from lftgen.lft.reduction.kalman import reduce
from lftgen.lft.threads import single_threaded

POINTS = 3
"""Generic points at which the others are frozen; the median of the degrees counts."""
NOISE = 1e-8
"""What freezing the others may have added as rounding noise; too large a value only makes the bound smaller (still valid)."""


@single_threaded
def order_bound(a: LFTData, seed: int = 7) -> dict[str, int]:
    """Least number of repetitions of each real scalar parameter, in ``[A B; C D]`` in these states.

    The given LFT need not be reduced, but the smaller it is the faster and the more accurate this is.
    """
    rng = np.random.default_rng(seed)
    small = reduce(_numbers_for_symbols(a, rng))
    bounds = {}
    for block in a.structure.blocks:
        if block.parameter is None:
            continue
        have = next(b for b in small.structure.blocks if b.name == block.name)
        if have.repetitions == 0:
            bounds[block.name] = 0
            continue
        degrees = [
            reduce(_restricted(small, block.name, rng), error_floor=NOISE).structure for _ in range(POINTS)
        ]
        counts = sorted(next(b.repetitions for b in s.blocks if b.name == block.name) for s in degrees)
        bounds[block.name] = counts[len(counts) // 2]
    return bounds


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
