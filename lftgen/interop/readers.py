"""Readers of models, loaded where they are used so that ``import lftgen`` stays quick."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lftgen.interop.model_file import ModelFile


def read_model(path: str | Path) -> ModelFile:
    """Read a YAML model file: see :func:`lftgen.interop.model_file.read_model` and ``docs/model_file.md``.

    Raises
    ------
    ModelError, ParameterError
        With file, line and field.
    """
    from lftgen.interop.model_file import read_model as read

    return read(path)
