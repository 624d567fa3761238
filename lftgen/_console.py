"""Tables, progress and messages of the command line, from the plain data of `lftgen._report`."""

from __future__ import annotations

import json
import math
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TextIO

from rich import box
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from lftgen.errors import LftgenWarning

Data = dict[str, Any]

PIPE_WIDTH = 120
"""Width of tables where the output is no terminal, in characters."""
ROUNDING = 1e-12
"""Poles below this, relative to the largest, are shown as zero."""
MAX_COLUMNS = 12
"""Widest matrix that is printed in full."""


def out() -> Console:
    """Return the console of results, on standard output."""
    console = Console(highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = PIPE_WIDTH
    return console


def show(*tables: Table) -> None:
    """Print tables on standard output, each under its title (which is not folded to the table's width)."""
    console = out()
    for table in tables:
        title, table.title = table.title, None
        console.print(title, style="bold")
        console.print(table)


def err() -> Console:
    """Return the console of progress and messages, on standard error."""
    return Console(stderr=True, highlight=False)


@contextmanager
def progress(text: str) -> Iterator[None]:
    """Show on a terminal what is being done; silent elsewhere."""
    console = err()
    if not console.is_terminal:
        yield
        return
    with console.status(text):
        yield


@contextmanager
def progress_bar(text: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar on a terminal; what is given is called with the steps done and the steps in all."""
    with Progress(console=err(), transient=True, disable=not err().is_terminal) as bar:
        task = bar.add_task(text)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def progress_of_search(text: str, seconds: float) -> Iterator[Callable[[int, float], None]]:
    """Show on a terminal what a search has found; what is given is called with the repetitions so far and the seconds."""
    console = err()
    if not console.is_terminal:
        yield lambda best, spent: None
        return
    with console.status(f"{text} ...") as status:
        yield lambda best, spent: status.update(
            f"{text}: {best} repetitions after {spent:.0f} of {seconds:.0f} s"
        )


def say(kind: str, text: object) -> None:
    """Write "error: ..." or "warning: ..." as plain text on standard error."""
    print(f"{kind}: {text}", file=sys.stderr)


def show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Show lftgen's warnings in one line and drop those of other packages."""
    if issubclass(category, LftgenWarning):
        say("warning", message)


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Show each of lftgen's warnings once, without the place in the source."""
    with warnings.catch_warnings():
        warnings.simplefilter("once", LftgenWarning)
        warnings.showwarning = show_warning
        yield


def print_json(data: Data) -> None:
    """Write data as JSON on standard output."""
    json.dump(data, sys.stdout, indent=2, allow_nan=False)
    sys.stdout.write("\n")


def number(value: float) -> str:
    """Return a number in six digits."""
    return f"{value:.6g}"


def point(values: Mapping[str, float], units: Mapping[str, str] | None = None) -> str:
    """Return values in one line, ``m1 = 4.5 kg, theta1 = 30 deg``."""
    parts = (f"{name} = {number(value)} {(units or {}).get(name, '')}" for name, value in values.items())
    return ", ".join(part.strip() for part in parts)


def _table(title: str, *columns: str, text: int = 1) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    for i, column in enumerate(columns):
        table.add_column(column, justify="left" if i < text else "right", overflow="fold")
    return table


def parameter_table(rows: list[Data]) -> Table:
    """Return the table of parameters with units and ranges."""
    table = _table(
        "Parameters", "name", "role", "unit", "nominal", "lower", "upper", "inside the model", text=3
    )
    for row in rows:
        inside = row["name"]
        if c := row.get("coordinate"):
            shifted = f"({row['name']} - {number(c['center'])})" if c["center"] else row["name"]
            low, high = number(c["lower"]), number(c["upper"])
            inside = f"t = tan({shifted}/{c['divisor']}) in [{low}, {high}]"
        values = (number(row[key]) for key in ("nominal", "lower", "upper"))
        table.add_row(row["name"], row["role"], row["unit"] or "-", *values, inside)
    return table


def repetition_table(data: Data) -> Table:
    """Return the table of repetitions; singular gaps where a rank is not clear, and what is known where bounds are not met."""
    unclear = any(row["singular_gap"] > _CLEAR for row in data["rows"])
    columns = (
        "parameter",
        "as built",
        "reduced",
        "bound",
        "minimal",
        *(("singular gap",) if unclear else ()),
    )
    table = _table("Repetitions of each parameter in Delta", *columns)
    for row in data["rows"]:
        table.add_row(row["parameter"], *_counts(row), *([f"{row['singular_gap']:.0e}"] if unclear else []))
    table.add_section()
    table.add_row("total", *_counts(data["total"]), *([""] if unclear else []))
    table.caption = _ATTAINABILITY[data["total"]["attainability"]]
    return table


_CLEAR = 1e-6
_ATTAINABILITY = {
    "met": None,
    "not attainable": "the sum of the bounds is not attainable (proven)",
    "unknown": "whether the sum of the bounds can be met is not known",
}


def _counts(row: Data) -> list[str]:
    return [str(row[key]) for key in ("as_built", "repetitions", "bound")] + [
        "yes" if row["minimal"] else "open"
    ]


def pole_table(title: str, poles: list[list[float]]) -> Table:
    """Return the table of poles with natural frequency and damping."""
    table = _table(title, "pole", "frequency (rad/s)", "damping", text=0)
    sizes = [math.hypot(*pole) for pole in poles]
    for (real, imaginary), size in zip(poles, sizes, strict=True):
        if size <= ROUNDING * max(sizes):
            table.add_row("0", "0", "-")
            continue
        text = number(real)
        if abs(imaginary) > ROUNDING * size:
            text += f" {'+' if imaginary > 0 else '-'} {number(abs(imaginary))}j"
        table.add_row(text, number(size), number(-real / size))
    return table


def check_table(data: Data) -> Table:
    """Return the table of errors by block."""
    verdict = "passed" if data["passed"] else "FAILED"
    title = f"Check against the numeric articulated-body model: {verdict} ({data['points']} points)"
    table = _table(title, "block", "largest relative error")
    for name, error in data["block_errors"].items():
        table.add_row(name, f"{error:.1e}")
    table.add_section()
    table.add_row(f"all (tolerance {data['tolerance']:.0e})", f"{data['max_relative_error']:.1e}")
    return table


def matrix_table(name: str, entries: list[list[float]], rows: list[str], columns: list[str]) -> Table:
    """Return a matrix with the names of its rows and columns; wide ones are cut."""
    shown = columns[:MAX_COLUMNS]
    more = ["..."] if len(columns) > len(shown) else []
    table = _table(name, "", *shown, *more)
    for label, row in zip(rows, entries, strict=True):
        table.add_row(label, *(number(value) for value in row[: len(shown)]), *more)
    return table


def body_table(rows: list[Data]) -> Table:
    """Return the table of bodies."""
    table = _table("Bodies", "name", "mass", "ports", text=3)
    for row in rows:
        table.add_row(row["name"], row["mass"], ", ".join(row["ports"]))
    return table


def joint_table(rows: list[Data]) -> Table:
    """Return the table of joints."""
    table = _table("Joints", "name", "type", "parent", "child", text=4)
    for row in rows:
        table.add_row(*(row[key] for key in ("name", "kind", "parent", "child")))
    return table


def signal_table(data: Data) -> Table:
    """Return the table of states, inputs and outputs."""
    table = _table("Signals", "kind", "names", text=2)
    for kind in ("states", "inputs", "outputs"):
        table.add_row(kind, ", ".join(data[kind]))
    return table


def dependence_table(rows: list[Data]) -> Table:
    """Return the table of entries that are not constant, columns of equal dependence together."""
    table = _table("Entries of [A B; C D] that depend on parameters", "row", "columns", "depend on", text=3)
    grouped: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        grouped.setdefault((row["row"], ", ".join(row["parameters"])), []).append(row["column"])
    for (name, parameters), columns in grouped.items():
        table.add_row(name, ", ".join(columns), parameters)
    return table


def holding_table(rows: list[Data]) -> Table:
    """Return the table of what holds each joint at its equilibrium."""
    table = _table("Equilibrium", "held by", "value", "unit")
    for row in rows:
        table.add_row(row["name"], number(row["value"]), row["unit"])
    return table


def system_tables(data: Data) -> list[Table]:
    """Return A, B, C, D and the poles of one point."""
    states, inputs, outputs = (data[key] for key in ("states", "inputs", "outputs"))
    tables = [holding_table(data["holding"])] if "holding" in data else []
    for name, rows, columns in (
        ("A", states, states),
        ("B", states, inputs),
        ("C", outputs, states),
        ("D", outputs, inputs),
    ):
        if rows and columns:
            tables.append(matrix_table(name, data[name], rows, columns))
    return [*tables, pole_table("Poles", data["poles"])]
