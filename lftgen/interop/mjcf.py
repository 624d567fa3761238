"""MJCF robot files as mechanisms, through the model that the ``mujoco`` package compiles."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lftgen.errors import ModelError, ParameterError
from lftgen.extras import require
from lftgen.interop.mjcf_elements import ModelReader
from lftgen.interop.urdf_mechanism import ImportedMechanism, MechanismBuilder
from lftgen.interop.urdf_options import ImportOptions
from lftgen.interop.urdf_source import read_xml


def is_mjcf(path: str | Path) -> bool:
    """Whether an XML file is MJCF rather than URDF (a file that cannot be read is neither)."""
    try:
        with Path(path).open("rb") as stream:
            head = stream.read(20_000)
    except (OSError, ValueError):
        return False
    return b"<mujoco" in head and b"<robot" not in head


def read_mjcf(path: str | Path, options: ImportOptions) -> ImportedMechanism:
    """The mechanism of an MJCF file; :func:`lftgen.read_mjcf` says what the options mean."""
    if options.base == "free":
        raise ParameterError(
            f'{path}: in MJCF a <freejoint/> in the file makes the base free; base="free" is for URDF'
        )
    root = read_xml(path, "mujoco")  # before MuJoCo sees it: size, entities, well-formedness
    mujoco = require("mujoco", extra="mujoco", purpose="reading MJCF files")
    return MechanismBuilder(ModelReader(_compiled(mujoco, path), root).read(), options).build()


def _compiled(mujoco: Any, path: str | Path) -> Any:
    try:
        return mujoco.MjModel.from_xml_path(str(path))
    except (ValueError, RuntimeError) as error:
        text = " ".join(str(error).split())
        raise ModelError(f"{path}: MuJoCo does not compile the file: {text[:500]}") from error
