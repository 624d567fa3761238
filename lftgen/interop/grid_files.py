"""Grids too large for memory: computed chunk by chunk into a file, and taken up again after an interruption.

The chunks go into a Zarr store in a folder beside the target (``NAME.partial``), with a list of those that are
finished; when all are, the store is renamed to the target, or copied to NetCDF.  A store of another job is never continued.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lftgen.errors import ModelError
from lftgen.extras import require
from lftgen.interop.files import as_path
from lftgen.interop.lft_file import to_dict
from lftgen.lft.grids import GridPlan, axis_names, chunk_slices, coordinates, evaluate_block, plan_grid
from lftgen.lft.model import LFT

CHUNK_BYTES = 16_000_000
"""Size of the chunks where the user gives none."""
FINISHED = "finished_chunks.txt"
STORE = "store.zarr"
ZARR_FORMAT = 2
"""Version 3 has no settled type for text yet; every Zarr library reads version 2."""
VERSION = 1
SUFFIXES = (".nc", ".zarr")
COMPLEX = ("poles",)
"""Variables that are stored as real and imaginary parts, ``poles_real`` and ``poles_imag``: NetCDF knows no complex numbers."""


def write_grid(
    plant: LFT,
    path: str | Path,
    axes: Mapping[str, Any],
    *,
    quantities: Sequence[str] | None = None,
    chunks: Mapping[str, int] | int | None = None,
    overwrite: bool = False,
    restart: bool = False,
    extrapolate: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Compute a grid into a NetCDF file or a Zarr store, in little memory; an interrupted run is continued.

    Parameters
    ----------
    path : path ending in ``.nc`` or ``.zarr``
    axes : parameter name to list of values, or to one number
    quantities, extrapolate
        As for :meth:`lftgen.LFT.grid`.
    chunks : mapping of axis to size, or int, optional
        By default chunks of about 16 MB.
    overwrite : bool
        Replace what stands at ``path``.
    restart : bool
        Throw away the finished chunks of an interrupted run instead of going on with them.
    progress : callable, optional
        Called with (chunks done, chunks in all).

    Returns
    -------
    Path
        The file; open it with :func:`read_grid` (or any program that reads the format).

    Raises
    ------
    ModelError
        Another suffix, a target that exists or cannot be written, finished chunks that belong to another grid.
    ParameterError
        Unknown names, values out of range.

    Notes
    -----
    Each chunk depends on its points alone, so a run that was continued ends with the same bits as one that was not.

    Examples
    --------
    >>> import lftgen as lg, tempfile, pathlib
    >>> k = lg.uncertain("k", 2.0, percent=50)
    >>> plant = lg.ss([[-k]], [[1]], [[1]], [[0]])
    >>> lg.write_grid(plant, pathlib.Path(tempfile.mkdtemp()) / "k.zarr", {"k": [1, 2, 3]}).name
    'k.zarr'
    """
    target = _target(path, overwrite)
    plan = plan_grid(plant.data, axes, quantities, extrapolate=extrapolate)
    cuts = chunk_slices(plan, _default_chunks(plan) if chunks is None else chunks)
    job = _Job(target.with_name(target.name + ".partial"), plan, cuts, _digest(plant, plan, cuts))
    try:
        job.open(restart)
        for done, total in job.run():
            if progress is not None:
                progress(done, total)
        _deliver(job.folder, target)
    except OSError as error:
        raise ModelError(f"cannot write {target}: {error.strerror or error}") from error
    return target


def read_grid(path: str | Path, *, chunks: Any = None) -> Any:
    """A grid that :func:`write_grid` wrote, as an ``xarray.Dataset`` with complex poles.

    Parameters
    ----------
    chunks : optional
        As xarray's: with ``{}`` the variables are Dask arrays in the file's own chunks.

    Raises
    ------
    ModelError
        No such file, or none of this kind.

    Examples
    --------
    >>> import lftgen as lg, tempfile, pathlib
    >>> k = lg.uncertain("k", 2.0, percent=50)
    >>> plant = lg.ss([[-k]], [[1]], [[1]], [[0]])
    >>> path = lg.write_grid(plant, pathlib.Path(tempfile.mkdtemp()) / "k.nc", {"k": [1, 2, 3]})
    >>> lg.read_grid(path).poles.real.values.ravel().tolist()
    [-1.0, -2.0, -3.0]
    """
    xr = require("xarray", "grid", "a grid")
    source = as_path(path)
    if source.suffix not in SUFFIXES or not source.exists():
        raise ModelError(f"{source} is not a grid: expected an existing .nc file or .zarr folder")
    try:
        opened = _open(xr, source, chunks)
    except (OSError, ValueError, KeyError) as error:
        raise ModelError(f"{source} cannot be read as a grid: {error}") from error
    if "lftgen_grid" not in opened.attrs:
        raise ModelError(f"{source} was not written by write_grid")
    for name in COMPLEX:
        if f"{name}_real" in opened:
            parts = opened[f"{name}_real"], opened[f"{name}_imag"]
            opened[name] = (parts[0] + 1j * parts[1]).assign_attrs(parts[0].attrs)
            opened = opened.drop_vars([p.name for p in parts])
    return opened if chunks is not None else opened.load()


def _open(xr: Any, source: Path, chunks: Any) -> Any:
    if source.suffix == ".zarr":
        return xr.open_zarr(source, chunks=chunks, consolidated=True)
    require("h5netcdf", "grid", "a NetCDF file")
    return xr.open_dataset(source, engine="h5netcdf", chunks=chunks)


def _target(path: str | Path, overwrite: bool) -> Path:
    target = as_path(path)
    if target.suffix not in SUFFIXES:
        raise ModelError(f"a grid is written to a .nc (NetCDF) or .zarr (Zarr) file, got {target.name!r}")
    if not target.parent.is_dir():
        raise ModelError(f"cannot write {target}: the folder {target.parent} does not exist")
    if target.exists() and not overwrite:
        raise ModelError(f"{target} exists; give another name, or overwrite=True")
    if not os.access(target.parent, os.W_OK):
        raise ModelError(f"cannot write {target}: the folder {target.parent} is not writable")
    return target


def _default_chunks(plan: GridPlan) -> dict[str, int]:
    """Whole trailing axes, as many as fit into one chunk; the axis before them cut, the first ones one by one."""
    entries = sum(math.prod(sizes) * (2 if k in COMPLEX else 1) for k, (_, sizes, _) in plan.arrays().items())
    left = max(1, CHUNK_BYTES // (8 * max(1, entries)))
    out = {}
    for name, values in reversed(list(plan.axes.items())):
        out[name] = min(len(values), left)
        left = max(1, left // len(values))
    return out


def _digest(plant: LFT, plan: GridPlan, cuts: list[list[slice]]) -> str:
    """What decides every bit of the result, as one short text."""
    content = {
        "version": VERSION,
        "plant": to_dict(plant),
        "axes": {k: [x.hex() for x in v.tolist()] for k, v in plan.axes.items()},
        "fixed": {k: v.hex() for k, v in plan.fixed.items()},
        "quantities": plan.quantities,
        "cuts": [[s.stop for s in c] for c in cuts],
    }
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class _Job:
    """One grid on its way into the folder of finished chunks."""

    folder: Path
    plan: GridPlan
    cuts: list[list[slice]]
    digest: str

    def open(self, restart: bool) -> None:
        """Take up the folder of an interrupted run, or make a new one."""
        if restart and self.folder.exists():
            shutil.rmtree(self.folder)
        if not self.folder.exists():
            fresh = self.folder.with_name(self.folder.name + ".new")
            shutil.rmtree(fresh, ignore_errors=True)
            fresh.mkdir()
            self._create(fresh / STORE)
            fresh.rename(self.folder)
        found = self._store("r").attrs.get("lftgen_grid")
        if found != self.digest:
            raise ModelError(
                f"{self.folder} holds chunks of another grid (another model, axes, quantities or chunks): finish that one, "
                "delete the folder, or pass restart=True"
            )

    def run(self) -> Iterator[tuple[int, int]]:
        """Compute what is missing; yields (chunks done, chunks in all)."""
        store = self._store("r+")
        parts = list(itertools.product(*self.cuts))
        done = self._finished()
        yield len(done), len(parts)
        with open(self.folder / FINISHED, "a", encoding="ascii") as ledger:
            for k, part in enumerate(parts):
                if k in done:
                    continue
                for name, values in _stored(evaluate_block(self.plan, part)).items():
                    store[name][part] = values
                ledger.write(f"{k}\n")  # only now: what is on the list is complete
                ledger.flush()
                os.fsync(ledger.fileno())
                done.add(k)
                yield len(done), len(parts)

    def _finished(self) -> set[int]:
        ledger = self.folder / FINISHED
        lines = ledger.read_text(encoding="ascii").splitlines(keepends=True) if ledger.exists() else []
        whole = [line for line in lines if line.endswith("\n")]
        if whole != lines:  # the last line was cut off: begin a new one
            ledger.write_text("".join(whole), encoding="ascii")
        return {int(line) for line in whole}

    def _store(self, mode: str) -> Any:
        return require("zarr", "grid", "a grid file").open_group(str(self.folder / STORE), mode=mode)

    def _create(self, folder: Path) -> None:
        xr = require("xarray", "grid", "a grid file")
        zarr = require("zarr", "grid", "a grid file")
        attributes = {"title": "lftgen grid", "lftgen_grid": self.digest}
        xr.Dataset(coords=coordinates(self.plan), attrs=attributes).to_zarr(
            folder, mode="w", consolidated=False, zarr_format=ZARR_FORMAT
        )
        store = zarr.open_group(str(folder), mode="r+")
        chunk = tuple(max(s.stop - s.start for s in c) for c in self.cuts)
        names = tuple(axis_names(self.plan).values())
        for name, (dims, sizes, _) in self.plan.arrays().items():
            for stored in [f"{name}_real", f"{name}_imag"] if name in COMPLEX else [name]:
                store.create_array(
                    stored,
                    shape=(*self.plan.shape, *sizes),
                    chunks=(*chunk, *(max(1, s) for s in sizes)),
                    dtype="float64",
                    attributes={"_ARRAY_DIMENSIONS": [*names, *dims]},
                    fill_value=float("nan"),
                )


def _stored(values: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    out = {}
    for name, v in values.items():
        out.update({f"{name}_real": v.real, f"{name}_imag": v.imag} if name in COMPLEX else {name: v})
    return out


def _deliver(folder: Path, target: Path) -> None:
    """The finished store under its final name."""
    if target.suffix == ".zarr":
        require("zarr", "grid", "a grid file").consolidate_metadata(
            str(folder / STORE), zarr_format=ZARR_FORMAT
        )
        if target.exists():
            shutil.rmtree(target)
        (folder / STORE).rename(target)
        shutil.rmtree(folder)
        return
    xr = require("xarray", "grid", "a grid file")
    require("h5netcdf", "grid", "a NetCDF file")
    dask = require("dask", "grid", "a grid file")  # one chunk after another: always the same file
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with (
            dask.config.set(scheduler="synchronous"),
            xr.open_zarr(folder / STORE, chunks={}, consolidated=False) as store,
        ):
            clean = store.drop_encoding()
            clean.to_netcdf(temporary, engine="h5netcdf")
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)
    shutil.rmtree(folder)
