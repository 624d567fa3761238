"""The command ``lftgen report``: one HTML page about a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lftgen import _console as console


def report(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Model file, robot file, or LFT file (.json).")
    ],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="The page, report.html.")],
    samples: Annotated[int, typer.Option(min=1, help="Random points of the check and the figures.")] = 200,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random points.")] = 0,
    json: Annotated[bool, typer.Option("--json", help="Write one JSON object to standard output.")] = False,
) -> None:
    """Write a self-contained HTML page: mechanism, parameters, order with bounds, check, figures."""
    import lftgen as lg
    from lftgen._work import Work

    work = Work(file)
    source = work.model or work.plant
    with console.progress_bar(f"{file}: report") as progress:
        target = lg.write_report(
            source, output, plant=work.plant, samples=samples, seed=seed, progress=progress
        )
    if json:
        console.print_json({"saved": str(target), "seconds": work.seconds})
    else:
        print(f"saved {target} ({target.stat().st_size / 1e3:.0f} kB)")
