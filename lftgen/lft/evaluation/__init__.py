"""Evaluating an LFT: one point, many points at once, tensor grids.  States stay as ports.

Many points of a large model are not solved one by one: ``layers`` finds, once for each model, a basis in which M11 is
block triangular with one parameter in each diagonal block, ``exchange`` the ports that must change sides for that, and
``program`` carries all points through it with matrix products whose matrices are constant.
"""

from lftgen.lft.evaluation.grid import CHUNK_POINTS, evaluate_grid, grid_chunks
from lftgen.lft.evaluation.many import evaluate_ports
from lftgen.lft.evaluation.points import (
    StateSpaceArrays,
    arrays_of,
    delta_matrices,
    deltas,
    numeric,
    ports,
    singular_message,
)

__all__ = [
    "CHUNK_POINTS",
    "StateSpaceArrays",
    "arrays_of",
    "delta_matrices",
    "deltas",
    "evaluate_grid",
    "evaluate_ports",
    "grid_chunks",
    "numeric",
    "ports",
    "singular_message",
]
