"""The command ``lftgen export``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from lftgen import _console as console


class Format(StrEnum):
    """Formats that the command writes."""

    matlab = "matlab"
    lpvss = "lpvss"
    julia = "julia"
    json = "json"


class SchemaOf(StrEnum):
    """Files that have a schema."""

    model = "model"
    lft = "lft"


def export(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Model file, robot file (.urdf), or LFT file (.json).")
    ],
    to: Annotated[Format, typer.Option("--to", help="Program to write for.")] = Format.matlab,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="NAME", help="File to write; by default the model's name, here."
        ),
    ] = None,
    reduce: Annotated[
        bool, typer.Option("--reduce/--no-reduce", help="Reduce the repetitions of the parameters.")
    ] = True,
    robot: Annotated[
        list[str] | None,
        typer.Option("--robot", metavar="KEY=VALUE", help="For robot files, as in lftgen build; repeatable."),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Write one JSON object to standard output, and nothing else.")
    ] = False,
) -> None:
    """Write a model for MATLAB, Julia or as an LFT file; for MATLAB with an lpvss data function where there is a mechanism."""
    from lftgen._work import Work

    work: Any = Work(file, reduce, robot)
    written = work.step("writing", _write, work, to.value, output)
    if json:
        console.print_json(
            {"file": work.data["file"], "format": to.value, "written": written, "seconds": work.seconds}
        )
        return
    for path in written:
        print(f"saved {path}")


def _write(work: Any, to: str, output: Path | None) -> list[str]:
    """Write all files of a format, or none."""
    from lftgen.errors import ModelError
    from lftgen.interop.export import contents
    from lftgen.interop.files import write_files
    from lftgen.interop.identifiers import matlab_name
    from lftgen.interop.lpvss import lpvss_files

    name = work.data["model"]
    target = output if output is not None else Path(matlab_name(name) if to in ("matlab", "lpvss") else name)
    if to == "lpvss":
        if not work.model:
            raise ModelError(f"{work.data['file']}: an LFT file has no mechanism; lpvss needs a model file")
        files = lpvss_files(work.model.mechanism, target, plant=work.plant, trim=work.trim)
    else:
        files = contents(work.plant, target, to)
    if to == "matlab" and work.model:
        program = next(iter(files))
        beside = program.with_name(f"{program.stem}_lpv.m")
        files |= lpvss_files(work.model.mechanism, beside, plant=work.plant, trim=work.trim)
    write_files(files)
    return [str(p) for p in files]
