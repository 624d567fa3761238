"""One door for all formats that leave lftgen: ``export(model, path, to="matlab")``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from lftgen.errors import ModelError
from lftgen.interop.files import as_path, write_files
from lftgen.interop.julia import julia_files
from lftgen.interop.lft_file import lft_files
from lftgen.interop.lpvss import lpvss_files
from lftgen.interop.matlab import matlab_files
from lftgen.lft.model import LFT
from lftgen.mechanics.mechanism import Mechanism

Files = dict[Path, str | bytes]

FORMATS: dict[str, Callable[[Any, Any], Files]] = {
    "json": lft_files,
    "julia": julia_files,
    "lpvss": lpvss_files,
    "matlab": matlab_files,
}
"""Writers by the name of the format: from (model, path) to contents by file."""
_SUFFIXES = {".json": "json", ".jl": "julia", ".m": "matlab"}


def export(model: LFT | Mechanism, path: str | Path, *, to: str | None = None) -> tuple[Path, ...]:
    """Write a model for another program.

    Parameters
    ----------
    model : LFT or Mechanism
        An LFT for every format but ``"lpvss"``, which takes a mechanism (its equilibrium gives the offsets).
    path : str or Path
        The file, with or without its ending.
    to : {"json", "julia", "lpvss", "matlab"}, optional
        By default what the ending of the path says: ``.json``, ``.jl``, ``.m``.

    Returns
    -------
    tuple of Path
        The files, all of them written or none: see :func:`lftgen.save`, :func:`lftgen.to_julia`,
        :func:`lftgen.to_lpvss`, :func:`lftgen.to_matlab`.

    Raises
    ------
    ModelError
        Unknown formats, models of the wrong kind, targets that cannot be written.

    Examples
    --------
    >>> import lftgen as lg, tempfile
    >>> gain = lg.realize([[1 / lg.uncertain("m", 2.0, percent=10)]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [p.name for p in lg.export(gain, f"{folder}/gain", to="matlab")]
    ['gain.m', 'gain.mat']
    """
    files = contents(model, path, to)
    write_files(files)
    return tuple(files)


def contents(model: Any, path: Any, to: str | None) -> Files:
    """What :func:`export` writes: contents by file."""
    target = as_path(path)
    chosen = _SUFFIXES.get(target.suffix) if to is None else to
    if chosen is None:
        raise ModelError(
            f"export: the ending of {target.name} names no format ({', '.join(sorted(_SUFFIXES))}); "
            f"give one with to=: {', '.join(FORMATS)}"
        )
    if not isinstance(chosen, str) or chosen not in FORMATS:
        raise ModelError(f"export: unknown format {chosen!r}; expected one of {', '.join(FORMATS)}")
    if isinstance(model, Mechanism) and chosen != "lpvss":
        raise ModelError(
            f"export: {chosen} takes an LFT, got the mechanism {model.name}; linearize it first: {model.name}.linearize()"
        )
    if isinstance(model, LFT) and chosen == "lpvss":
        raise ModelError(
            "export: lpvss takes a Mechanism, whose equilibrium gives the offsets, got an LFT; "
            "to_lpvss(mechanism, path, plant=...) writes a given plant"
        )
    return FORMATS[chosen](model, target)
