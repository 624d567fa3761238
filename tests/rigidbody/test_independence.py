"""The room is an independent oracle: numpy, the errors and itself, no import cycles."""

import ast
from pathlib import Path

import lftgen.rigidbody

FOLDER = Path(lftgen.rigidbody.__file__).parent
ALLOWED = {"__future__", "collections", "contextlib", "dataclasses", "typing", "numpy"}


def imports(path):
    """Names of the modules that a file imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def test_only_numpy_and_the_errors():
    """Nothing of the LFT algebra or of the symbolic mechanics reaches the oracle."""
    for path in FOLDER.glob("*.py"):
        for name in imports(path):
            own = name == "lftgen.errors" or name.startswith("lftgen.rigidbody.")
            assert own or name.split(".")[0] in ALLOWED, f"{path.name} imports {name}"


def test_no_cycles():
    """Each module can be ordered after those that it imports."""
    arrows = {
        path.stem: {name.split(".")[2] for name in imports(path) if name.startswith("lftgen.rigidbody.")}
        for path in FOLDER.glob("*.py")
        if path.stem != "__init__"
    }
    while arrows:
        done = [name for name, needs in arrows.items() if not needs & arrows.keys()]
        assert done, f"cycle among {sorted(arrows)}"
        for name in done:
            del arrows[name]
