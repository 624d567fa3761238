"""Channels of a plant chosen by name, names kept apart, and the plant's matrices at a point: shared by the analyses."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from lftgen.lft.model import LFT

Matrices = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def select(plant: LFT, outputs: Sequence[str], inputs: Sequence[str]) -> LFT:
    """The plant's channels in this order; one may stand twice, as performance and as measurement.

    Raises
    ------
    ModelError
        Names that the plant does not have (close ones are listed).
    """
    plant[list(dict.fromkeys(outputs)), list(dict.fromkeys(inputs))]  # unknown names are an error here
    rows, columns = np.zeros((len(outputs), plant.shape[0])), np.zeros((plant.shape[1], len(inputs)))
    rows[range(len(outputs)), [plant.outputs.index(n) for n in outputs]] = 1.0
    columns[[plant.inputs.index(n) for n in inputs], range(len(inputs))] = 1.0
    return rows @ plant @ columns


def apart(names: Sequence[str], taken: Collection[str] = (), suffix: str = "again") -> tuple[str, ...]:
    """The names; one that is taken, or stood before, gets the suffix.

    Examples
    --------
    >>> apart(["e", "u", "e"], taken=["u"])
    ('e', 'u_again', 'e_again')
    """
    out: list[str] = []
    for name in names:
        new = f"{name}_{suffix}" if name in taken or name in out else name
        while new in out or new in taken:
            new += "_"
        out.append(new)
    return tuple(out)


def matrices_at(plant: LFT, values: Mapping[str, Any]) -> Matrices:
    """A, B, C, D at one point (parameters left out at their nominals); with no states where the plant has none."""
    at = plant.evaluate(dict(values))
    if isinstance(at, np.ndarray):
        n_y, n_u = at.shape[1:]
        return np.zeros((0, 0)), np.zeros((0, n_u)), np.zeros((n_y, 0)), at[0]
    return at.A[0], at.B[0], at.C[0], at.D[0]
