"""The documentation: its code runs and prints what it says, its lists are complete, its links lead."""

import contextlib
import io
import re
import runpy
from pathlib import Path

import pytest

import lftgen as lg
from lftgen import cli

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


LONG = ("robustness",)
"""Pages whose blocks take many seconds."""
RUN = [pytest.param(p, id=p.stem, marks=[pytest.mark.heavy] if p.stem in LONG else []) for p in PAGES]


@pytest.mark.parametrize("page", RUN)
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


def test_api_page_lists_every_public_name() -> None:
    """The API page lists exactly the public names; `python docs/refresh.py` brings it up to date."""
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\w+)`", text, re.MULTILINE)
    assert sorted(listed) == sorted(lg.__all__), "run python docs/refresh.py"
    assert all(getattr(lg, name).__doc__ for name in listed)


def test_api_page_generator_runs() -> None:
    """The generator of the API page names every class, function and error."""
    page = runpy.run_path(str(ROOT / "docs" / "refresh.py"))["page"]()
    assert all(f"| `{name}` |" in page for name in lg.__all__)


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


def test_readme_shows_real_output(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the README says the first command prints is what it prints, but for times and rounding errors."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "100")
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    found = re.search(
        r"<!-- output of: lftgen (.*?) -->\n```console\n(.*?)^```$", text, re.MULTILINE | re.DOTALL
    )
    assert found is not None
    with pytest.raises(SystemExit) as caught:
        cli.main(found[1].split())
    assert not caught.value.code
    assert _steady(found[2]) == _steady(capsys.readouterr().out), "run python docs/refresh.py"


def _steady(output: str) -> list[list[str]]:
    """Return the words of each line that are the same on every machine."""
    lines = [
        line
        for line in output.splitlines()
        if line.strip() and not line.startswith(("worst point", "reading"))
    ]
    return [re.sub(r"\d\.\de[-+]\d+", "#", line).split() for line in lines]
