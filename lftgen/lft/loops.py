"""A look at loops when they are closed: an algebraic loop that depends on parameters may be singular inside the box."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from lftgen.errors import ModelWarning
from lftgen.lft.data import LFTData
from lftgen.lft.wellposed import find_singular

RAYS = 60
WORK = 1e6
"""Rays times the cube of the matrix's size: the look is a short search for a counterexample; ``well_posed()`` proves."""


def looked_at(closed: LFTData, parts: Sequence[LFTData], what: str) -> LFTData:
    """The closed system, with a warning where the loop has made it singular at a point of the box.

    A loop whose direct terms do not depend on parameters is settled by its nominal value, which the wiring has checked.

    Warns
    -----
    ModelWarning
        With the singular point.
    """
    terms = [_direct_term(p) for p in parts]
    if "varies" not in terms or (len(parts) == 2 and "zero" in terms) or closed.field.symbols:
        return closed
    point, _ = find_singular(closed, rays=RAYS, work=WORK)
    if point is not None:
        where = ", ".join(f"{k} = {v:.6g}" for k, v in point.items())
        warnings.warn(
            f"{what}: the algebraic loop through {', '.join(closed.inputs[:4])} is singular at {where}; the closed system "
            "has no value there",
            ModelWarning,
            stacklevel=4,
        )
    return closed


def _direct_term(a: LFTData) -> str:
    """Whether inputs reach outputs without an integrator: never, by a constant, or through parameters."""
    _, m12, m21, m22 = a.split()
    n = a.n_states
    if np.any(m12[n:] != 0) and np.any(m21[:, n:] != 0):
        return "varies"
    return "constant" if np.any(m22 != 0) else "zero"
