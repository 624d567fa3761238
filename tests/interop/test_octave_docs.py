"""The MATLAB page: what it does on the other side runs in Octave and prints what is written."""

import contextlib
import io
import re
from pathlib import Path

import pytest

from tests.interop.octave_runner import run

pytestmark = pytest.mark.heavy
PAGE = Path(__file__).resolve().parents[2] / "docs" / "matlab.md"


def test_the_octave_block_prints_what_is_written():
    """The Python block writes the files, the Octave block reads them."""
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    names = {}
    for language, code in blocks:
        if language == "python":
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(code, "matlab.md", "exec"), names)
    (code,) = [c for language, c in blocks if language == "octave"]
    (printed,) = [c for language, c in blocks if language == "console"]
    assert run(code, names["folder"]).split() == [*printed.split(), "ALL", "DONE"]
