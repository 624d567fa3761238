"""Bring up to date what the documentation copies from the program: ``python docs/refresh.py``.

Writes docs/api.md from the public names, and into the README what its first command prints.
"""

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import lftgen as lg

ROOT = Path(__file__).resolve().parents[1]
OUTPUT = re.compile(r"(<!-- output of: lftgen (.*?) -->\n```console\n).*?^```$", re.MULTILINE | re.DOTALL)
HEAD = """\
# Public names

What `import lftgen as lg` offers, each with the first line of its documentation (`help(lg.LFT)` shows all of it).
Written by `python docs/refresh.py`.
"""


def summary(thing: object) -> str:
    """Return the first paragraph of a docstring in one line, safe in a table."""
    text = " ".join((inspect.getdoc(thing) or "").split("\n\n")[0].split())
    text = re.sub(r":\w+:`~?([^`]*)`", r"`\1`", text.replace("``", "`"))
    return text.replace("|", r"\|")


def members(name: str) -> list[str]:
    """Return table rows for the public methods and properties of a class."""
    cls = getattr(lg, name)
    rows = []
    own: dict[str, object] = {}
    for base in reversed([b for b in cls.__mro__ if b.__module__.startswith("lftgen.")]):
        own |= vars(base)
    for member, value in own.items():
        documented = isinstance(value, property) or inspect.isfunction(value) or hasattr(value, "func")
        if not member.startswith("_") and documented and inspect.getdoc(value):
            call = "()" if inspect.isfunction(value) else ""
            rows.append(f"| `.{member}{call}` | {summary(value)} |")
    return rows


def figures() -> str:
    """Return table rows for the functions that draw."""
    rows = [
        f"| `plotting.{name}()` | {summary(getattr(lg.plotting, name))} |" for name in lg.plotting.__all__
    ]
    return "## Figures\n\n| function | |\n|---|---|\n" + "\n".join(rows) + "\n"


def page() -> str:
    """Return the whole page."""
    things = {name: getattr(lg, name) for name in lg.__all__}
    classes = [n for n, t in things.items() if inspect.isclass(t) and not issubclass(t, BaseException)]
    functions = [n for n, t in things.items() if not inspect.isclass(t)]
    errors = [n for n, t in things.items() if inspect.isclass(t) and issubclass(t, BaseException)]
    parts = [HEAD]
    for title, names in (("Classes", classes), ("Functions", functions), ("Errors and warnings", errors)):
        rows = "\n".join(f"| `{name}` | {summary(things[name])} |" for name in names)
        parts.append(f"## {title}\n\n| name | |\n|---|---|\n{rows}\n")
    parts.append(figures())
    for name in classes:
        if rows := members(name):
            parts.append(f"## `{name}`\n\n| member | |\n|---|---|\n" + "\n".join(rows) + "\n")
    return "\n".join(parts)


def printed(arguments: list[str]) -> str:
    """Return what the command line prints in a terminal of 100 columns, without spaces at the ends of lines."""
    command = [sys.executable, "-m", "lftgen.cli", *arguments]
    environment = {**os.environ, "COLUMNS": "100"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT, env=environment)
    return "\n".join(line.rstrip() for line in done.stdout.rstrip().splitlines())


def main() -> None:
    """Write both pages."""
    (ROOT / "docs" / "api.md").write_text(page(), encoding="utf-8")
    readme = ROOT / "README.md"
    text = readme.read_text(encoding="utf-8")
    text = OUTPUT.sub(lambda match: f"{match[1]}{printed(match[2].split())}\n```", text)
    readme.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
