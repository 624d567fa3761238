"""Bars of how much each parameter matters."""

from __future__ import annotations

from typing import Any

import numpy as np

from lftgen.analysis.influence import MEASURES, Influence
from lftgen.arguments import instance
from lftgen.errors import ModelError
from lftgen.plotting._axes import axes_of

_LABELS = {
    "matrices": "relative change of A, B, C, D",
    "poles": "shift of a pole (rad/s)",
    "gain": "relative change of the gain",
}


def influence_bars(found: Any, measure: str = "matrices", *, ax: Any = None) -> Any:
    """Median and range, over the points, of what half of each parameter's range changes; the largest on top.

    Parameters
    ----------
    found : Influence
        Of :func:`lftgen.influence`.
    measure : {"matrices", "poles", "gain"}

    Returns
    -------
    matplotlib axes

    Raises
    ------
    ModelError
        A measure that is unknown or was not computed.

    Examples
    --------
    >>> import lftgen as lg
    >>> k = lg.uncertain("k", 4.0, percent=50)
    >>> found = lg.influence(lg.ss([[0, 1], [-k, -1]], [[0], [1]], [[1, 0]], [[0]]), samples=8)
    >>> lg.plotting.influence_bars(found, "gain").get_xlabel()
    'relative change of the gain'
    """
    data = instance(found, Influence, "influence_bars: found")
    values = getattr(data, measure, None) if measure in MEASURES else None
    if values is None:
        raise ModelError(
            f"influence_bars: measure must be one that was computed, of {', '.join(MEASURES)}; got {measure!r}"
        )
    finite = np.where(np.isfinite(values), values, np.nan)
    usable = ~np.all(np.isnan(finite), axis=0)
    tops = [np.nanmax(finite[:, i]) if usable[i] else np.inf for i in range(values.shape[1])]
    order = np.argsort(tops).tolist()
    ax = axes_of(ax)
    for y, i in enumerate(order):
        if usable[i]:
            low, middle, high = np.nanmin(finite[:, i]), np.nanmedian(finite[:, i]), np.nanmax(finite[:, i])
            ax.barh(y, high - low, left=low, color="tab:blue", alpha=0.35)
            ax.plot([middle, middle], [y - 0.4, y + 0.4], color="black", linewidth=1.4)
    ax.set_yticks(range(len(order)), [data.parameters[i] for i in order])
    ax.set(xlabel=_LABELS[measure], title=f"Half of each range, {len(values)} points")
    return ax
