"""The order of the rooms, what may not be used, and that every docstring example runs."""

import ast
import doctest
import importlib
import inspect
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import lftgen as lg

ROOT = Path(lg.__file__).parent
MAX_LINES = 400

ALLOWED = {
    "errors": set(),
    "arguments": {"errors"},
    "extras": {"errors"},
    "parameters": {"errors", "arguments"},
    "lft": {"errors", "arguments", "extras", "parameters"},
    "mechanics": {"errors", "arguments", "parameters", "lft"},
    "rigidbody": {"errors"},
    "oracle": {"errors", "arguments", "parameters", "lft", "mechanics", "rigidbody"},
    "check": {"errors", "arguments", "parameters", "lft", "mechanics", "rigidbody", "oracle"},
    "simulation": {"errors", "arguments", "parameters", "lft", "mechanics", "rigidbody", "oracle"},
}
"""What each room may import.  The rooms below import everything above them and nothing below."""
BELOW = ["interop", "analysis", "plotting", "report", "cli"]
for _i, _room in enumerate(BELOW):
    ALLOWED[_room] = {*(r for r in ALLOWED if r not in BELOW), *BELOW[:_i]}
HEAVY = (
    "control",
    "matplotlib",
    "pandas",
    "pinocchio",
    "mujoco",
    "xarray",
    "typer",
    "rich",
    "pydantic",
    "yaml",
    "cvxpy",
    "clarabel",
    "dask",
    "zarr",
    "h5netcdf",
    "jinja2",
    "slycot",
    "scipy.optimize",
    "scipy.stats",
    "scipy.signal",
)


def _module_name(path):
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {_module_name(p): p for p in sorted(ROOT.rglob("*.py"))}
TREES = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in FILES.items()}


def _room(module):
    """The room of ``lftgen.room.file``; a single helper file such as ``oracle_springs`` or ``_console`` belongs to whom it serves."""
    name = module.split(".")[1] if "." in module else ""
    if name.startswith("_"):
        return "cli"
    return next((r for r in ALLOWED if name == r or name.startswith(f"{r}_")), name)


def _imports(tree):
    """Full names of the modules of lftgen that a file imports, wherever the statement stands."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative import"
            whole = {a.name: f"{node.module}.{a.name}" for a in node.names}
            found |= {w if w in FILES else node.module for w in whole.values()}
    return {f for f in found if f.split(".")[0] == "lftgen"}


INNER = [name for name in FILES if name != "lftgen"]


@pytest.mark.parametrize("module", INNER)
def test_rooms(module):
    """No arrow runs against the order of the rooms."""
    room = _room(module)
    assert room in ALLOWED, f"{module}: unknown room {room!r}; add it to the order of the rooms"
    for target in _imports(TREES[module]):
        if target == "lftgen":
            assert room in BELOW, f"{module} imports the package from inside"
            continue
        other = _room(target)
        assert other == room or other in ALLOWED[room], f"{module} ({room}) imports {target} ({other})"


def test_no_cycles():
    """No file imports itself, however long the way round (imports inside of functions count)."""
    graph = {m: {t for t in _imports(TREES[m]) if t in FILES and t not in ("lftgen", m)} for m in INNER}
    graph = {m: {t for t in ts if not (t in m and m.startswith(f"{t}."))} for m, ts in graph.items()}
    done, path = set(), []

    def walk(module):
        assert module not in path, f"cycle: {' -> '.join([*path[path.index(module) :], module])}"
        if module in done:
            return
        path.append(module)
        for target in sorted(graph.get(module, ())):
            walk(target)
        done.add(path.pop())

    for module in INNER:
        walk(module)


def test_the_numeric_room_stands_alone():
    """The independent truth imports numpy, scipy, the standard library and the errors, nothing else."""
    for module in INNER:
        if _room(module) != "rigidbody":
            continue
        for node in ast.walk(TREES[module]):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                top = name.split(".")[0]
                assert top in {"numpy", "scipy", "lftgen"} or top in sys.stdlib_module_names, (
                    f"{module}: {name}"
                )


def test_only_plotting_draws():
    """matplotlib is imported in its room only."""
    for module, tree in TREES.items():
        names = [a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names]
        names += [n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]
        if any(n.split(".")[0] == "matplotlib" for n in names):
            assert _room(module) == "plotting", module


@pytest.mark.parametrize("module", FILES)
def test_file_length(module):
    """A file is at most 400 lines."""
    assert len(FILES[module].read_text(encoding="utf-8").splitlines()) <= MAX_LINES


@pytest.mark.parametrize("module", FILES)
def test_text_is_data(module):
    """No eval, exec or unpickling, no expression parsed by sympy from text, no bare assert on what a user gave."""
    for node in ast.walk(TREES[module]):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names = [a.name for a in node.names] + ([node.module] if isinstance(node, ast.ImportFrom) else [])
            assert not {n.split(".")[0] for n in names} & {
                "pickle",
                "marshal",
                "shelve",
                "dill",
                "cloudpickle",
            }
            assert not any("sympy_parser" in n or n == "parse_expr" for n in names)
        if isinstance(node, ast.Call):
            called = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            on = getattr(getattr(node.func, "value", None), "id", "")
            plain = isinstance(node.func, ast.Name)
            assert not (plain and called in ("eval", "exec", "compile", "__import__")), (
                f"{module}:{node.lineno}"
            )
            assert called != "parse_expr", f"{module}:{node.lineno}"
            if called in ("sympify", "S") and on in ("sp", "sympy", ""):
                text = [a for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
                assert not text, f"{module}:{node.lineno}"


def test_docstrings():
    """Every file, and every public name with its public methods and properties, says what it is."""
    for module, tree in TREES.items():
        text = FILES[module].read_text(encoding="utf-8").strip()
        assert not text or ast.get_docstring(tree), module
    assert len(set(lg.__all__)) == len(lg.__all__)
    for name in lg.__all__:
        thing = getattr(lg, name)
        assert inspect.getdoc(thing), name
        if not inspect.isclass(thing) or issubclass(thing, (Exception, lg.Parameter)):
            continue
        for key, member in vars(thing).items():
            if not key.startswith("_") and (inspect.isfunction(member) or isinstance(member, property)):
                own = member.__doc__ or getattr(getattr(thing.__mro__[1], key, None), "__doc__", None)
                assert own, f"{name}.{key}"


def test_public_classes_explain_their_arguments_with_an_example():
    """What a user calls has an example that runs (below)."""
    for name in lg.__all__:
        thing = getattr(lg, name)
        if inspect.isfunction(thing) and name not in _WITHOUT_EXAMPLE:
            assert ">>>" in inspect.getdoc(thing), name


_WITHOUT_EXAMPLE = {
    "hstack",
    "vstack",
    "block_diag",
    "complex_scalar",
    "full_block",
    "load",
    "connect",
    "read_model",
}


def _importable():
    for info in pkgutil.walk_packages([str(ROOT)], "lftgen."):
        if not info.name.endswith("__main__"):
            yield info.name


@pytest.mark.parametrize("name", ["lftgen", *_importable()])
def test_docstring_examples(name):
    """Every example in a docstring gives what it says."""
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        pytest.skip(f"{name} needs a package that is not installed: {error}")
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    failed, _ = doctest.testmod(module, optionflags=flags)
    assert failed == 0


def test_import_is_light():
    """`import lftgen` loads no control, plotting, table, file or engine package."""
    code = f"import sys, lftgen; print([m for m in {HEAVY!r} if m in sys.modules])"
    got = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT.parent,
    )
    assert got.stdout.strip() == "[]"
