"""The command ``lftgen grid``: a model over a grid of its parameters, into a NetCDF file or a Zarr store."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from lftgen import _console as console
from lftgen.errors import ParameterError


def grid(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Model file, robot file, or LFT file (.json).")
    ],
    axes: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME=VALUES...",
            help="First:last:count (0:90:91; ::91 for the whole range), a list (2,2.5,3), or one value.",
        ),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="A .nc or .zarr file.")],
    quantity: Annotated[
        list[str] | None,
        typer.Option("--quantity", help="A, B, C, D, poles or peak_gain; by default the first five."),
    ] = None,
    chunk: Annotated[
        list[str] | None, typer.Option("--chunk", metavar="NAME=SIZE", help="Values of an axis in one chunk.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the output file.")] = False,
    restart: Annotated[bool, typer.Option("--restart", help="Do not go on with an interrupted run.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Write one JSON object to standard output.")] = False,
) -> None:
    """Compute a model over a grid of its parameters; an interrupted run is continued by the same command."""
    import lftgen as lg
    from lftgen._work import Work

    work = Work(file)
    values = read_axes(axes, work.parameters)
    start = time.perf_counter()
    with console.progress_bar(f"{file}: grid") as progress:
        target = lg.write_grid(
            work.plant, output, values, quantities=quantity, chunks=_sizes(chunk) or None,
            overwrite=overwrite, restart=restart, progress=progress,
        )  # fmt: skip
    work.seconds["grid"] = round(time.perf_counter() - start, 3)
    shape = {k: len(v) for k, v in values.items() if np.ndim(v)}
    points = int(np.prod(list(shape.values()), dtype=np.int64))
    if json:
        console.print_json({"saved": str(target), "shape": shape, "points": points, "seconds": work.seconds})
    else:
        sizes = " x ".join(f"{n} {k}" for k, n in shape.items()) or "one point"
        print(f"saved {target}: {points} points ({sizes}) in {work.seconds['grid']:.1f} s")


def read_axes(texts: Sequence[str], parameters: Any) -> dict[str, Any]:
    """Axes of a grid from texts such as ``theta1=0:90:91``, in each parameter's own unit.

    Raises
    ------
    ParameterError
        A text of another form, an unknown name, a count below two.
    """
    from lftgen._work import read_point
    from lftgen.lft.maps import check_known

    out: dict[str, Any] = {}
    for text in texts:
        name, separator, value = (part.strip() for part in text.partition("="))
        if not separator or not value:
            raise ParameterError(f"{text!r}: expected NAME=VALUES, such as theta1=0:90:91 or m1=2,2.5,3")
        check_known([name], list(parameters))
        if name in out:
            raise ParameterError(f"{text!r}: {name} is given twice")

        def one(part: str, name: str = name) -> float:
            return read_point([f"{name}={part}"], parameters)[name]

        if ":" in value:
            out[name] = _span(text, value, parameters[name], one)
        else:
            parts = [one(part) for part in value.split(",") if part.strip()]
            out[name] = parts if "," in value else parts[0]
    return out


def _span(text: str, value: str, parameter: Any, one: Any) -> np.ndarray:
    parts = [part.strip() for part in value.split(":")]
    if len(parts) != 3 or not parts[2].isdecimal() or int(parts[2]) < 2:
        raise ParameterError(
            f"{text!r}: expected FIRST:LAST:COUNT with a count of at least 2, such as 0:90:91"
        )
    first = one(parts[0]) if parts[0] else parameter.lower
    last = one(parts[1]) if parts[1] else parameter.upper
    return np.linspace(first, last, int(parts[2]))


def _sizes(texts: Sequence[str] | None) -> dict[str, int]:
    out = {}
    for text in texts or ():
        name, _, size = (part.strip() for part in text.partition("="))
        if not size.isdecimal():
            raise ParameterError(f"--chunk {text!r}: expected NAME=SIZE, such as theta1=50")
        out[name] = int(size)
    return out
