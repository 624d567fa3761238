"""Runs scripts in Octave, with the stand-ins for MATLAB's uncertain objects on its path."""

import shutil
import subprocess
from pathlib import Path

import pytest

STAND_INS = Path(__file__).parent / "octave"


def run(code: str, folder: Path) -> str:
    """What a script prints; it must reach its last line (Octave's exit code and its last words mean little)."""
    octave = shutil.which("octave-cli")
    if octave is None:
        pytest.skip("Octave is not installed")
    script = folder / "run_it.m"
    script.write_text(
        f"pkg load control\naddpath('{STAND_INS}');\naddpath('{folder}');\n{code}\ndisp('ALL DONE');\n"
    )
    got = subprocess.run(
        [octave, "--norc", "--quiet", "--no-gui", str(script)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert "ALL DONE" in got.stdout, got.stdout + got.stderr
    return got.stdout
