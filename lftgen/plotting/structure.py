"""The structure of an LFT as a picture: M by its blocks, and how often each parameter is repeated."""

from __future__ import annotations

from typing import Any

import numpy as np

from lftgen.plotting._axes import axes_of, plant_of

DECADES = 9
"""Entries this many decades below the largest are drawn like those of size zero, though not white."""


def delta_structure(plant: Any, *, ax: Any = None) -> Any:
    """M as a picture: dark where entries are large, white where zero, lines between states, Delta blocks and channels.

    Rows are [states; Delta; outputs], columns [states; Delta; inputs]; a block's label tells its repetitions.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import lftgen as lg
    >>> k = lg.uncertain("k", 4.0, percent=50)
    >>> ax = lg.plotting.delta_structure(lg.ss([[0, 1], [-k, -1]], [[0], [1]], [[1, 0]], [[0]]))
    >>> [t.get_text() for t in ax.get_yticklabels()]
    ['states (2)', 'k (1)', 'outputs (1)']
    """
    model = plant_of(plant, "delta_structure", states=False).to_float()
    s, M = model.data.structure, np.asarray(model.M)
    shown = [
        (b, r, c)
        for b, r, c in zip(s.blocks, s.row_slices(), s.column_slices(), strict=True)
        if b.repetitions
    ]
    n, (n_y, n_u) = len(model.states), model.shape
    rows = [
        ("states", slice(0, n)),
        *((b.name, r) for b, r, _ in shown),
        ("outputs", slice(s.n_rows, s.n_rows + n_y)),
    ]
    columns = [
        ("states", slice(0, n)),
        *((b.name, c) for b, _, c in shown),
        ("inputs", slice(s.n_columns, s.n_columns + n_u)),
    ]
    ax = axes_of(ax)
    size = np.abs(M)
    picture = np.full(M.shape, np.nan)
    with np.errstate(divide="ignore"):
        picture[size > 0] = np.log10(size[size > 0])
    top = float(np.nanmax(picture)) if np.any(size > 0) else 0.0
    image = ax.imshow(
        picture, cmap="Blues", interpolation="nearest", aspect="auto", vmin=top - DECADES, vmax=top
    )
    if np.any(size > 0):
        ax.figure.colorbar(image, ax=ax, label="log10 of the modulus")
    for parts, ticks, labels, line in (
        (rows, ax.set_yticks, ax.set_yticklabels, ax.axhline),
        (columns, ax.set_xticks, ax.set_xticklabels, ax.axvline),
    ):
        used = [(name, part) for name, part in parts if part.stop > part.start]
        ticks([(p.start + p.stop - 1) / 2 for _, p in used])
        labels(
            [f"{name} ({p.stop - p.start})" for name, p in used],
            **({"rotation": 90} if parts is columns else {}),
        )
        for _, part in used[1:]:
            line(part.start - 0.5, color="0.4", linewidth=0.8)
    ax.tick_params(length=0)
    ax.set(title=f"M: {len(model.states)} states, order {model.order}")
    return ax
