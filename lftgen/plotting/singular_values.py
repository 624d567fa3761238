"""Singular values over frequency, with their envelope over the box."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lftgen.analysis.frequencies import frequencies
from lftgen.lft.evaluation import StateSpaceArrays
from lftgen.plotting._axes import NOMINAL, axes_of, plant_of, points_of

SMALLEST = 1e-300


def singular_values(
    plant: Any,
    points: Mapping[str, Any] | int = 200,
    *,
    omega: Any = None,
    decibels: bool = False,
    seed: int = 0,
    ax: Any = None,
) -> Any:
    """Largest and smallest singular value of the response: the nominal, and the envelope of many points of the box.

    Parameters
    ----------
    plant : LFT
        With states.
    points : mapping of name to array (N,), or int
    omega : sequence of float, optional
        Frequencies, rad/s; by default an even logarithmic axis with points at the resonances of every model drawn, so
        that a lightly damped peak is as high as it is.
    decibels : bool
        20 log10 instead of a logarithmic axis.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    IllPosedError
        A pole on the imaginary axis at one of the frequencies given.

    Examples
    --------
    >>> import lftgen as lg
    >>> k = lg.uncertain("k", 4.0, percent=50)
    >>> ax = lg.plotting.singular_values(lg.ss([[0, 1], [-k, -1]], [[0], [1]], [[1, 0]], [[0]]), 20)
    >>> ax.get_xscale()
    'log'
    """
    model = plant_of(plant, "singular_values")
    table = points_of(model, points, seed)
    many, nominal = model.evaluate(table), model.evaluate({})
    w = np.asarray(omega, dtype=float) if omega is not None else _axis(many, nominal)
    spread, line = many.singular_values(w), nominal.singular_values(w)[0]
    ax = axes_of(ax)
    shown = (
        (lambda v: 20 * np.log10(np.maximum(v, SMALLEST)))
        if decibels
        else (lambda v: np.maximum(v, SMALLEST))
    )
    last = line.shape[0] - 1
    for i, name in {0: "largest", last: "smallest"}.items():
        colour = "tab:blue" if i == 0 else "tab:orange"
        if table:
            low, high = spread[:, i].min(axis=0), spread[:, i].max(axis=0)
            ax.fill_between(
                w,
                shown(low),
                shown(high),
                color=colour,
                alpha=0.3,
                linewidth=0,
                label=f"{name}, {len(many.A)} points",
            )
        ax.plot(w, shown(line[i]), **NOMINAL | ({"linestyle": "--"} if i else {}), label=f"{name}, nominal")
    ax.set_xscale("log")
    if not decibels:
        ax.set_yscale("log")
    ax.set(
        xlabel="frequency (rad/s)", ylabel=f"singular values{' (dB)' if decibels else ''}", xlim=(w[0], w[-1])
    )
    ax.grid(True, which="both", alpha=0.3)
    ax.legend(loc="best")
    return ax


def _axis(many: StateSpaceArrays, nominal: StateSpaceArrays) -> np.ndarray:
    """Frequencies for all models, none of them on a pole of the imaginary axis."""
    poles = np.concatenate([many.poles().ravel(), nominal.poles().ravel()])
    w = frequencies(poles)
    on_axis = np.abs(poles.imag[np.abs(poles.real) <= 1e-9 * np.abs(poles)])
    if on_axis.size:
        w = w[np.min(np.abs(w[:, None] - on_axis), axis=1) > 1e-6 * w]
    return w
