"""Many points at once: the quick way where the model has one and it pays, point by point otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lftgen.errors import IllPosedError
from lftgen.lft.data import LFTData
from lftgen.lft.evaluation.points import deltas, numeric, singular_message, solve_points
from lftgen.lft.threads import single_threaded


@single_threaded
def evaluate_ports(a: LFTData, values: Mapping[str, Any], *, extrapolate: bool = False) -> np.ndarray:
    """``[A B; C D]`` at each point, shape (N, states + outputs, states + inputs); N = 1 for single values.

    Raises
    ------
    ParameterError
        Unknown names, values out of range.
    IllPosedError
        A point where I - M11 Delta is singular; the message names the point.
    """
    a = numeric(a)
    count, delta = deltas(a, values, extrapolate=extrapolate)
    out, bad = solve_points(a, delta, 1 if count is None else count)
    if bad is not None:
        raise IllPosedError(singular_message(a, values, bad))
    return out
