"""MAT-files of version 5: an LFT as plain variables, for whoever reads numbers and not programs."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from lftgen.interop.matlab_model import Element, partition
from lftgen.lft.model import LFT

FORMAT, VERSION = "lftgen-matlab", 1
_HEADER = 116
"""Bytes of free text at the head of a MAT-file of version 5."""


def mat_content(plant: LFT, elements: list[Element]) -> dict[str, Any]:
    """The variables of the MAT-file: M, its partition, names, and one struct for each block."""
    size = partition(plant)
    return {
        "format": FORMAT,
        "version": float(VERSION),
        "M": np.array(plant.M, dtype=float),
        "sizes": {k: float(v) for k, v in size.items()},
        "states": _cell(plant.states),
        "inputs": _cell(plant.inputs),
        "outputs": _cell(plant.outputs),
        "blocks": _cell([_block(e) for e in elements]),
    }


def _block(e: Element) -> dict[str, Any]:
    b, p = e.block, e.parameter
    out: dict[str, Any] = {
        "name": b.name,
        "matlab_name": e.name,
        "kind": b.kind,
        "repetitions": float(b.repetitions),
        "shape": np.array(b.shape, dtype=float),
        "bound": float(b.bound),
    }
    if p is not None:
        out |= {
            "role": p.role,
            "unit": p.unit,
            "nominal": p.nominal,
            "range": np.array(p.bounds),
            "coordinate_nominal": e.nominal,
            "coordinate_range": np.array(e.bounds),
            "chart": p.chart or "",
            "center": float(p.center),
            "rate": np.array(p.rate) if p.rate is not None else np.zeros((0, 0)),
            "origin": b.map.origin,
            "scale": b.map.scale,
            "skew": b.map.skew,
        }
    return out


def _cell(values: Any) -> np.ndarray:
    """A cell row."""
    out = np.empty((1, len(values)), dtype=object)
    for k, v in enumerate(values):
        out[0, k] = v
    return out


def mat_bytes(content: dict[str, Any]) -> bytes:
    """A MAT-file, version 5; the same bytes each time (no date in its header)."""
    from scipy.io import savemat

    stream = io.BytesIO()
    savemat(stream, content, format="5", long_field_names=True, do_compression=True, oned_as="row")
    header = f"MATLAB 5.0 MAT-file, written by lftgen ({FORMAT} {VERSION})".encode().ljust(_HEADER)
    return header + stream.getvalue()[_HEADER:]
