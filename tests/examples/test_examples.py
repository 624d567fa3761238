"""Every example runs, and says what it promises."""

import importlib.util
import inspect
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SCRIPTS = sorted(EXAMPLES.glob("*.py"))


def test_examples_are_numbered() -> None:
    """The examples are numbered without a gap, and each model file belongs to one."""
    assert [int(path.name[:2]) for path in SCRIPTS] == list(range(1, len(SCRIPTS) + 1))
    texts = "".join(path.read_text(encoding="utf-8") for path in SCRIPTS)
    assert all(path.stem in texts for path in EXAMPLES.glob("*.yaml"))


LONG = ("lpv_controller", "fewer_repetitions")
"""Examples of minutes, or of many seconds."""
CASES = [pytest.param(p, id=p.stem, marks=[pytest.mark.heavy] if p.stem[3:] in LONG else []) for p in SCRIPTS]


@pytest.mark.parametrize("path", CASES)
def test_example(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An example runs from end to end; those that write files write them where they are told."""
    spec = importlib.util.spec_from_file_location(f"example_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    writes = bool(inspect.signature(module.main).parameters)
    figures = module.main(*([tmp_path] if writes else []))
    printed = capsys.readouterr().out
    assert printed.strip()
    assert "False" not in printed
    assert bool(list(tmp_path.iterdir())) == writes
    if (
        path.stem[3:] == "lpv_controller"
    ):  # guaranteed levels over the box, and the non-linear arm along its path
        assert max(figures["torque"], figures["error"]) < 1
        assert figures["degrees off"] < 1
