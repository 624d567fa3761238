"""The documentation: its code runs and prints what it says, its lists are complete, its links lead."""

import contextlib
import io
import re
from pathlib import Path

import pytest

import lftgen as lg

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_python_blocks_run_and_print_what_is_written(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Python blocks of a page run in order; a text block after one is what it prints."""
    monkeypatch.chdir(ROOT)
    names: dict[str, object] = {"__name__": page.stem}
    printed = ""
    for language, code in BLOCK.findall(page.read_text(encoding="utf-8")):
        if language == "python":
            target = io.StringIO()
            with contextlib.redirect_stdout(target):
                exec(compile(code, f"{page.name}", "exec"), names)
            printed = target.getvalue()
        elif language == "text":
            assert printed.split() == code.split()


def test_every_public_name_is_in_the_api_page() -> None:
    """The API page lists exactly the public names."""
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\w+)", text, re.MULTILINE)
    assert len(listed) == len(set(listed))
    assert set(listed) == set(lg.__all__)


def test_model_file_page_is_a_valid_model() -> None:
    """The example on the page of the file format is a model."""
    text = (ROOT / "docs" / "model_file.md").read_text(encoding="utf-8")
    example = next(code for language, code in BLOCK.findall(text) if language == "yaml")
    from lftgen.interop.model_file import parse_model

    plant = parse_model(example).linearize()
    assert list(plant.inputs) == ["hinge_torque"]
    assert len(plant.outputs) == 4


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page: Path) -> None:
    """Relative links of a page point at files."""
    targets = re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8"))
    assert all((page.parent / target).exists() for target in targets)


def test_ci_runs_the_test_command_of_the_readme() -> None:
    """The continuous integration runs the very test command of the README."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    command = re.search(r"python (-m pytest.*)$", readme, re.MULTILINE)
    assert command is not None
    assert f"python {command[1]}\n" in script
