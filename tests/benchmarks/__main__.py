"""``python -m tests.benchmarks [expressions] [orders] [evaluation] [core] [rigidbody] [--large] [--search] [--write]``.

Without names: all of them.  ``--write`` keeps what was printed, with the date and the kind of machine, in
docs/benchmarks.md; sections that were not measured stay as they are there.
"""

import argparse
import contextlib
import importlib
import io
import os
import platform
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: one core throughout

from rich.console import Console
from rich.table import Table

NAMES = ("expressions", "orders", "evaluation", "core", "rigidbody")
PAGE = Path(__file__).parents[2] / "docs" / "benchmarks.md"
PACKAGES = ("lftgen", "numpy", "scipy", "sympy", "control", "pin", "gmpy2")
HEAD = """# Benchmarks

Measured by `python -m tests.benchmarks`, peers in the same run, on two shared x86 cores that had other work at the time:
times vary by a factor of three with it, ratios much less, orders and errors not at all.

"""


def machine():
    """What the figures depend on; nothing that names the machine."""
    found = []
    for package in PACKAGES:
        with contextlib.suppress(PackageNotFoundError):
            found.append(f"{package} {version(package)}")
    cores = f"{os.cpu_count()} cores ({platform.machine()})"
    return f"{time.strftime('%Y-%m-%d')}, {cores}, Python {platform.python_version()}, {', '.join(found)}"


def run(name, options, console):
    """Print one benchmark as it is measured; returns its text."""
    module = importlib.import_module(f"tests.benchmarks.bench_{name}")
    if not hasattr(module, "tables"):
        text = io.StringIO()
        with contextlib.redirect_stdout(_Both(sys.stdout, text)):
            module.main()
        return text.getvalue()
    out = []
    found = module.tables(options.large, options.search) if name == "orders" else module.tables(options.large)
    for title, columns, rows in found:
        table = Table(*columns, title=title)
        for row in rows:
            console.print("  ".join(row), style="dim", highlight=False)
            table.add_row(*row)
        console.print(table)
        plain = io.StringIO()
        Console(file=plain, width=140).print(table)
        out.append(plain.getvalue())
    return "\n".join(out)


class _Both(io.TextIOBase):
    """Writes to two places."""

    def __init__(self, *targets):
        self._targets = targets

    def write(self, text):
        for target in self._targets:
            target.write(text)
            target.flush()
        return len(text)


def main():
    """Run what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="name", help=f"any of {', '.join(NAMES)}")
    parser.add_argument("--large", action="store_true", help="the largest sizes too")
    parser.add_argument("--search", action="store_true", help="the orders of chains after a search")
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks.md")
    options = parser.parse_args()
    unknown = [n for n in options.names if n not in NAMES]
    if unknown:
        parser.error(f"unknown benchmark {unknown[0]!r}; there are {', '.join(NAMES)}")
    console = Console()
    console.print(machine(), highlight=False)
    for name in options.names or NAMES:
        text = f"## {name}\n\n{machine()}\n\n```console\n{run(name, options, console).rstrip()}\n```\n"
        if options.write:
            _write({name: text})


def _write(new):
    """Sections that were not measured now stay as they are."""
    old = PAGE.read_text(encoding="utf-8").split("\n## ")[1:] if PAGE.exists() else []
    sections = {part.split("\n", 1)[0]: f"## {part.rstrip()}\n" for part in old} | new
    PAGE.write_text(HEAD + "\n".join(sections[n] for n in NAMES if n in sections), encoding="utf-8")


if __name__ == "__main__":
    main()
