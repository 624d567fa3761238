"""Many points at once: through the model's program where it has one and it pays, point by point otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lftgen.errors import IllPosedError
from lftgen.lft.data import LFTData
from lftgen.lft.evaluation.plan import Plan, plan_of
from lftgen.lft.evaluation.points import deltas, numeric, points_of, singular_message, solve_points
from lftgen.lft.threads import single_threaded

MANY = 500
"""From this number of points on a program is looked for, which takes the time of some hundred points."""


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
    given, a = a, numeric(a)
    count, delta = deltas(a, values, extrapolate=extrapolate)
    n = 1 if count is None else count
    plan = plan_for(given, delta, n)
    if plan is None:
        out, bad = solve_points(a, delta, n)
    else:
        out, bad = through(plan, a, delta, n)
    if bad is not None:
        raise IllPosedError(singular_message(a, values, bad))
    return out


def plan_for(a: LFTData, delta: list[np.ndarray], n: int) -> Plan | None:
    """The plan for n points, where there is one and it pays."""
    return plan_of(a) if n >= MANY and not any(np.iscomplexobj(d) for d in delta) else None


def through(plan: Plan, a: LFTData, delta: list[np.ndarray], n: int) -> tuple[np.ndarray, int | None]:
    """Values by the plan; suspicious points are solved directly, and the first singular one is named."""
    out = np.empty((n, *plan.ports.shape))
    space = plan.space(min(n, plan.points))
    for start in range(0, n, plan.points):
        part = slice(start, min(start + plan.points, n))
        local = np.empty((len(delta), part.stop - start))
        for row, d in zip(local, points_of(a.structure.blocks, delta, part), strict=True):
            row[:] = d
        values = space[:, :, : part.stop - start]
        suspicious = plan.at(local, plan.target(values))
        out[part] = np.moveaxis(values, 2, 0)
        if suspicious.any():
            where = start + np.flatnonzero(suspicious)
            out[where], bad = solve_points(a, points_of(a.structure.blocks, delta, where), len(where))
            if bad is not None:
                return out, int(where[bad])
    return out, None
