"""URDF robot files as mechanisms, and what the command line needs of a robot file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lftgen.interop.urdf_elements import UrdfReader
from lftgen.interop.urdf_mechanism import ImportedMechanism, MechanismBuilder
from lftgen.interop.urdf_options import ImportOptions

SUFFIXES = (".urdf", ".xml")
"""Files that are robot files: URDF, and MJCF (or URDF) as XML."""


def read_urdf(path: str | Path, options: ImportOptions) -> ImportedMechanism:
    """The mechanism of a URDF file; :func:`lftgen.read_urdf` says what the options mean."""
    return MechanismBuilder(UrdfReader(path, options.snap).read(), options).build()


@dataclass(frozen=True)
class RobotFile:
    """A robot file as the command line sees it, with the same face as a model file.

    Attributes
    ----------
    name, description : str
    mechanism : ImportedMechanism
    parameters : mapping of str to Parameter
    inputs, outputs : None
        All actuated joints and all joint coordinates.
    """

    name: str
    description: str
    mechanism: ImportedMechanism
    parameters: Mapping[str, Any]
    inputs: None = None
    outputs: None = None

    def trim(self, *, exact: bool = False) -> Any:
        """The equilibrium."""
        return self.mechanism.trim(exact=exact)

    def linearize(
        self,
        trim: Any = None,
        *,
        exact: bool = False,
        reduce: bool = True,
        search: float = 0.0,
        progress: Callable[[int, float], None] | None = None,
    ) -> Any:
        """The LFT around the equilibrium; arguments as those of :meth:`lftgen.Mechanism.linearize`."""
        return self.mechanism.linearize(trim, exact=exact, reduce=reduce, search=search, progress=progress)


def read_robot_file(path: str | Path, settings: Sequence[str] = ()) -> RobotFile:
    """Read a URDF or MJCF file with settings written as texts.

    Parameters
    ----------
    path : str or Path
    settings : sequence of str
        ``KEY=VALUE``, see :func:`lftgen.interop.urdf_settings.read_settings`.

    Raises
    ------
    ModelError, ParameterError
        As :func:`lftgen.read_urdf`.
    """
    from lftgen.interop.mjcf import is_mjcf, read_mjcf
    from lftgen.interop.urdf_settings import read_settings

    options = read_settings(settings)
    mechanism = read_mjcf(path, options) if is_mjcf(path) else read_urdf(path, options)
    text = f"from {Path(path).name}, {len(mechanism.report.notes)} remarks"
    return RobotFile(mechanism.name, text, mechanism, {p.name: p for p in mechanism.parameters})
