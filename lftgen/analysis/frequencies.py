"""Frequencies to draw a response at: even on a logarithmic axis, with points added where the models resonate."""

from __future__ import annotations

from typing import Any

import numpy as np

from lftgen.arguments import number, whole_number
from lftgen.errors import ModelError

MARGIN = 10.0
"""The axis reaches this factor below the slowest and above the fastest pole."""
AROUND = np.concatenate([[0.0], np.geomspace(0.05, 40, 24), -np.geomspace(0.05, 40, 24)])
"""Points about a resonance, in units of its half width."""
LIGHT = 0.5
"""Damping ratio below which a pole gets points of its own."""
MAX_RESONANCES = 2000


def frequencies(
    poles: Any, *, lower: float | None = None, upper: float | None = None, per_decade: int = 60
) -> np.ndarray:
    """Frequencies that show every resonance of the given poles.

    Parameters
    ----------
    poles : complex array, any shape
        Of one model or many (``plant.evaluate(points).poles()``).
    lower, upper : float, optional
        Ends of the axis, rad/s; by default a decade beyond the slowest and the fastest pole.
    per_decade : int

    Returns
    -------
    array (K,)
        Increasing, rad/s.  A pole with damping ratio z below 0.5 and modulus w has a point at its peak
        ``w sqrt(1 - 2 z^2)`` and, the first of each group of like ones, points within some half widths ``z w`` around it.

    Raises
    ------
    ModelError
        Ends that are no positive numbers in order, poles that are no finite numbers.

    Examples
    --------
    >>> import numpy as np
    >>> w = frequencies(np.array([-1e-4 + 1j, -1e-4 - 1j]))
    >>> bool(np.min(abs(w - np.sqrt(1 - 1e-8))) < 1e-8)
    True
    """
    try:
        all_poles = np.ravel(np.asarray(poles)).astype(complex)
    except (TypeError, ValueError) as problem:
        raise ModelError(f"frequencies: poles must be an array of numbers, got {poles!r:.60}") from problem
    if not np.all(np.isfinite(all_poles)):
        raise ModelError("frequencies: poles must be finite, got NaN or inf among them")
    moving = np.abs(all_poles)[np.abs(all_poles) > 1e-9 * np.max(np.abs(all_poles), initial=0.0)]
    low = (
        number(lower, "frequencies: lower", minimum=0.0)
        if lower is not None
        else np.min(moving, initial=1.0 if not moving.size else np.inf) / MARGIN
    )
    high = (
        number(upper, "frequencies: upper", minimum=0.0)
        if upper is not None
        else np.max(moving, initial=1.0 if not moving.size else 0.0) * MARGIN
    )
    if not 0 < low < high:
        raise ModelError(
            f"frequencies: the axis must go from a positive to a larger frequency, got {low:g} to {high:g}"
        )
    count = whole_number(per_decade, "frequencies: per_decade", minimum=1) * np.log10(high / low)
    even = np.geomspace(low, high, max(2, int(np.ceil(count)) + 1))
    extra = _resonances(all_poles)
    return np.unique(np.concatenate([even, extra[(extra > low) & (extra < high)]]))


def _resonances(poles: np.ndarray) -> np.ndarray:
    size = np.abs(poles)
    damping = np.abs(poles.real) / np.where(size > 0, size, 1.0)
    light = poles[(damping < LIGHT) & (damping > 0) & (poles.imag > 0)]
    if not light.size:
        return np.zeros(0)
    w, z = np.abs(light), np.abs(light.real) / np.abs(light)
    peaks = w * np.sqrt(1 - 2 * z**2)
    order = np.argsort(peaks)
    own = order[:: max(1, len(order) // MAX_RESONANCES)]
    detailed = order[:: max(1, len(order) // 12)]
    around = peaks[detailed, None] + (z * w)[detailed, None] * AROUND
    return np.concatenate([peaks[own], around.ravel()])
