"""A quantity of the model over two of its parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lftgen.arguments import whole_number
from lftgen.errors import ModelError
from lftgen.lft.evaluation import StateSpaceArrays
from lftgen.lft.hinf_norm import hinf_norm
from lftgen.lft.model import LFT
from lftgen.plotting._axes import axes_of, label_of, parameter_of, plant_of

Quantity = str | tuple[str, str, str] | Callable[[StateSpaceArrays], np.ndarray]


def parameter_map(
    plant: Any,
    x: str,
    y: str,
    quantity: Quantity = "growth",
    *,
    points: int = 61,
    ax: Any = None,
    **fixed: float,
) -> Any:
    """A map of one quantity over two parameters, the others nominal or fixed.

    Parameters
    ----------
    x, y : str
        Parameters along the axes, over their ranges.
    quantity : str, tuple or callable
        ``"growth"`` (largest real part of a pole), ``"damping"`` (smallest damping ratio), ``"peak_gain"``; an entry such as
        ``("A", "J1_rate", "J1_angle")``, rows and columns by the names of states, inputs and outputs; or a function of
        the A, B, C, D at N points that returns N numbers.
    points : int
        Points along each axis.
    **fixed
        Values of other parameters.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    ModelError, ParameterError
        Unknown names or quantities, values out of range.

    Examples
    --------
    >>> import lftgen as lg
    >>> k, d = lg.uncertain("k", 4.0, percent=50), lg.uncertain("d", 1.0, percent=50)
    >>> plant = lg.ss([[0, 1], [-k, -d]], [[0], [1]], [[1, 0]], [[0]], states=["x", "v"])
    >>> lg.plotting.parameter_map(plant, "k", "d", ("A", "v", "x"), points=5).get_xlabel()
    'k'
    """
    model = plant_of(plant, "parameter_map")
    horizontal, vertical = (parameter_of(model, name, "parameter_map") for name in (x, y))
    if x == y:
        raise ModelError(f"parameter_map: x and y are both {x}; choose two parameters")
    n = whole_number(points, "parameter_map: points", minimum=2)
    axes = {p.name: np.linspace(p.lower, p.upper, n) for p in (horizontal, vertical)}
    table = model.evaluate_grid({**axes, **fixed})
    flat = StateSpaceArrays(*(m.reshape(-1, *m.shape[-2:]) for m in (table.A, table.B, table.C, table.D)))
    values, label = _values(model, flat, quantity)
    ax = axes_of(ax)
    image = ax.pcolormesh(
        axes[x],
        axes[y],
        values.reshape(n, n).T,
        shading="gouraud" if np.all(np.isfinite(values)) else "nearest",
    )
    ax.figure.colorbar(image, ax=ax, label=label)
    ax.set(xlabel=label_of(horizontal), ylabel=label_of(vertical), title=f"{label} over {x} and {y}")
    return ax


def _values(model: LFT, at: StateSpaceArrays, quantity: Quantity) -> tuple[np.ndarray, str]:
    if callable(quantity):
        values = np.asarray(quantity(at), dtype=float)
        if values.shape != (len(at.A),):
            raise ModelError(
                f"parameter_map: quantity must return {len(at.A)} numbers, got shape {values.shape}"
            )
        return values, getattr(quantity, "__name__", "quantity").replace("<lambda>", "quantity")
    if isinstance(quantity, tuple):
        return _entry(model, at, quantity)
    if quantity == "growth":
        return at.poles().real.max(axis=1), "largest real part (rad/s)"
    if quantity == "damping":
        poles = at.poles()
        size = np.abs(poles)
        ratio = np.where(size > 0, -poles.real / np.where(size > 0, size, 1.0), 0.0)
        return ratio.min(axis=1), "smallest damping ratio"
    if quantity == "peak_gain":
        peaks = [hinf_norm(*model_)[0] for model_ in zip(at.A, at.B, at.C, at.D, strict=True)]
        return np.where(np.isfinite(peaks), peaks, np.nan), "peak gain (empty where not stable)"
    raise ModelError(
        f"parameter_map: unknown quantity {quantity!r}; use 'growth', 'damping', 'peak_gain', an entry such as "
        "('A', row, column), or a function of the arrays"
    )


def _entry(model: LFT, at: StateSpaceArrays, entry: tuple[Any, ...]) -> tuple[np.ndarray, str]:
    rows = {"A": model.states, "B": model.states, "C": model.outputs, "D": model.outputs}
    columns = {"A": model.states, "B": model.inputs, "C": model.states, "D": model.inputs}
    if len(entry) != 3 or entry[0] not in rows:
        raise ModelError(f"parameter_map: an entry is given as ('A', row, column), got {entry!r}")
    matrix, row, column = entry
    for name, known in ((row, rows[matrix]), (column, columns[matrix])):
        if name not in known:
            raise ModelError(f"parameter_map: {matrix} has no {name!r}; known: {', '.join(known)}")
    i, j = rows[matrix].index(row), columns[matrix].index(column)
    return getattr(at, matrix)[:, i, j], f"{matrix}[{row}, {column}]"
