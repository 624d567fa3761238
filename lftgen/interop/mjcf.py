"""MJCF robot files as mechanisms, through the model that the ``mujoco`` package compiles."""

from __future__ import annotations

from pathlib import Path

from lftgen.interop.urdf_mechanism import ImportedMechanism
from lftgen.interop.urdf_options import ImportOptions


def is_mjcf(path: str | Path) -> bool:
    """Whether the root element of an XML file is ``<mujoco>``."""
    try:
        with Path(path).open("rb") as stream:
            head = stream.read(20_000)
    except OSError:
        return False
    return b"<mujoco" in head and b"<robot" not in head


def read_mjcf(path: str | Path, options: ImportOptions) -> ImportedMechanism:
    raise NotImplementedError
