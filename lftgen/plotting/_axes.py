"""What all figures share: axes that are given or made, points of the box, labels with units."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lftgen.arguments import instance, whole_number
from lftgen.errors import ModelError, ParameterError
from lftgen.extras import require
from lftgen.lft.model import LFT
from lftgen.parameters import Parameter

NOMINAL = {"color": "black", "linewidth": 1.4}
"""Line of the nominal model in every figure."""


def axes_of(ax: Any, **options: Any) -> Any:
    """The given matplotlib axes, or new ones in a figure of their own."""
    pyplot = require("matplotlib.pyplot", "plot", "a figure")
    if ax is not None:
        if not hasattr(ax, "plot"):
            raise ModelError(f"ax must be matplotlib axes, got {ax!r:.60}")
        return ax
    return pyplot.subplots(layout="constrained", **options)[1]


def plant_of(plant: Any, what: str, *, states: bool = True) -> LFT:
    """The model, or an error: not an LFT, or one without states where they are needed."""
    model = instance(plant, LFT, f"{what}: plant")
    if states and not model.states:
        raise ModelError(f"{what}: the model has no states, so it has no poles and no frequency response")
    return model


def points_of(plant: LFT, points: Mapping[str, Any] | int, seed: int) -> dict[str, np.ndarray]:
    """Points as they are given, or so many of a Sobol sequence."""
    if isinstance(points, Mapping):
        return {k: np.atleast_1d(np.asarray(v)) for k, v in points.items()}
    count = whole_number(points, "points", minimum=1)
    return plant.sample(count, method="sobol", seed=seed) if plant.parameters else {}


def parameter_of(plant: LFT, name: str, what: str) -> Parameter:
    """The parameter of a name."""
    known = {b.name: b.parameter for b in plant.delta if b.parameter is not None}
    if name not in known:
        raise ParameterError(
            f"{what}: unknown parameter {name!r}; the model has {', '.join(known) or 'none'}"
        )
    return known[name]


def label_of(parameter: Parameter) -> str:
    """Name and unit."""
    return f"{parameter.name} ({parameter.unit})" if parameter.unit else parameter.name
