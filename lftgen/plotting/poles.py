"""Poles and zeros of a model over the box of its parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lftgen.lft import responses
from lftgen.plotting._axes import axes_of, label_of, parameter_of, plant_of, points_of


def pole_map(
    plant: Any,
    points: Mapping[str, Any] | int = 500,
    *,
    color_by: str | None = None,
    zeros: bool = False,
    seed: int = 0,
    ax: Any = None,
) -> Any:
    """Poles (and zeros) in the complex plane at many points of the box, the nominal ones in black.

    Parameters
    ----------
    plant : LFT
        With states.
    points : mapping of name to array (N,), or int
        Points, or how many of a Sobol sequence.
    color_by : str, optional
        Parameter whose value colours the poles.
    zeros : bool
        Draw invariant zeros as well (as many inputs as outputs).
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes

    Raises
    ------
    ModelError, ParameterError
        A model without states, unknown names, values out of range.

    Examples
    --------
    >>> import lftgen as lg
    >>> k = lg.uncertain("k", 4.0, percent=50)
    >>> ax = lg.plotting.pole_map(lg.ss([[0, 1], [-k, -1]], [[0], [1]], [[1, 0]], [[0]]), 50, color_by="k")
    >>> ax.get_xlabel()
    'real part (rad/s)'
    """
    model = plant_of(plant, "pole_map")
    table = points_of(model, points, seed)
    many, nominal = model.evaluate(table), model.evaluate({})
    ax = axes_of(ax)
    colour: dict[str, Any] = {"color": "tab:blue"}
    if color_by is not None:
        parameter = parameter_of(model, color_by, "pole_map")
        values = np.broadcast_to(table.get(color_by, np.array([parameter.nominal])), len(many.A))
        colour = {"c": np.repeat(values, many.A.shape[-1]), "cmap": "viridis"}
    found = many.poles().ravel()
    marks = ax.scatter(found.real, found.imag, marker="x", s=14, linewidths=0.8, zorder=2, **colour)
    if color_by is not None:
        ax.figure.colorbar(marks, ax=ax, label=label_of(parameter))
    if zeros:
        _draw_zeros(ax, many, nominal)
    centre = nominal.poles().ravel()
    ax.scatter(
        centre.real,
        centre.imag,
        marker="x",
        s=60,
        linewidths=1.8,
        color="black",
        zorder=3,
        label="nominal poles",
    )
    ax.axvline(0.0, color="0.6", linewidth=0.8, zorder=1)
    ax.axhline(0.0, color="0.6", linewidth=0.8, zorder=1)
    ax.set(
        xlabel="real part (rad/s)", ylabel="imaginary part (rad/s)", title=f"Poles at {len(many.A)} points"
    )
    ax.legend(loc="best")
    return ax


def _draw_zeros(ax: Any, many: Any, nominal: Any) -> None:
    found = np.concatenate([np.zeros(0, complex), *responses.zeros(many.A, many.B, many.C, many.D)])
    centre = responses.zeros(nominal.A, nominal.B, nominal.C, nominal.D)[0]
    ring = {"marker": "o", "facecolors": "none"}
    ax.scatter(
        found.real, found.imag, s=14, edgecolors="tab:orange", linewidths=0.8, zorder=2, label="zeros", **ring
    )
    ax.scatter(centre.real, centre.imag, s=60, edgecolors="black", linewidths=1.8, zorder=3, **ring)
