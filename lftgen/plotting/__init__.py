"""Figures of a model: each function takes ``ax`` (or makes a figure) and returns the axes, as python-control's do."""

from lftgen.plotting.diagram import block_diagram
from lftgen.plotting.influence import influence_bars
from lftgen.plotting.maps import parameter_map
from lftgen.plotting.poles import pole_map
from lftgen.plotting.singular_values import singular_values
from lftgen.plotting.structure import delta_structure

__all__ = [
    "block_diagram",
    "delta_structure",
    "influence_bars",
    "parameter_map",
    "pole_map",
    "singular_values",
]
