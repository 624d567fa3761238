"""Write docs/api.md from the public names of lftgen: ``python docs/make_api.py``."""

import inspect
import re
from pathlib import Path

import lftgen as lg

PAGE = Path(__file__).with_name("api.md")
HEAD = """\
# Public names

What `import lftgen as lg` offers, each with the first line of its documentation (`help(lg.LFT)` shows all of it).
Written by `python docs/make_api.py`.
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
    for member, value in vars(cls).items():
        documented = isinstance(value, property) or inspect.isfunction(value) or hasattr(value, "func")
        if not member.startswith("_") and documented and inspect.getdoc(value):
            call = "()" if inspect.isfunction(value) else ""
            rows.append(f"| `.{member}{call}` | {summary(value)} |")
    return rows


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
    for name in classes:
        if rows := members(name):
            parts.append(f"## `{name}`\n\n| member | |\n|---|---|\n" + "\n".join(rows) + "\n")
    return "\n".join(parts)


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
