"""Grid files: what is written is what is read, and an interrupted run ends with the same bits."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import lftgen as lg

M = lg.uncertain("m", 2.0, bounds=(1, 4), unit="kg")
K = lg.uncertain("k", 9.0, bounds=(4, 16))
PLANT = lg.ss(
    [[0, 1], [-K / M, -0.2 / M]], [[0], [1 / M]], [[1, 0]], [[0]], states=["x", "v"], inputs=["f"], outputs=["y"]
)  # fmt: skip
AXES = {"k": np.linspace(4, 16, 9), "m": np.linspace(1, 4, 5)}


@pytest.mark.parametrize("suffix", [".nc", ".zarr"])
def test_written_grid_is_the_grid(tmp_path, suffix):
    """NetCDF and Zarr hold the values, names and units of LFT.grid; nothing else is left in the folder."""
    xarray = pytest.importorskip("xarray")
    target = lg.write_grid(PLANT, tmp_path / f"g{suffix}", AXES, chunks={"k": 4})
    found, want = lg.read_grid(target), PLANT.grid(AXES)
    assert [p.name for p in tmp_path.iterdir()] == [f"g{suffix}"]
    for name in want.data_vars:
        assert found[name].dims == want[name].dims
        assert np.array_equal(found[name].values, want[name].values)
    for name in want.coords:
        xarray.testing.assert_equal(found[name].variable, want[name].variable)
    assert found.m.units == "kg"
    assert lg.read_grid(target, chunks={}).A.chunks is not None


def test_interrupted_run_goes_on(tmp_path):
    """Finished chunks are not computed again, and the result has the same bits as that of one run."""
    steps: list[tuple[int, int]] = []

    def stop(done: int, total: int) -> None:
        steps.append((done, total))
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lg.write_grid(PLANT, tmp_path / "g.zarr", AXES, chunks={"k": 2}, progress=stop)
    assert not (tmp_path / "g.zarr").exists()
    with open(tmp_path / "g.zarr.partial" / "finished_chunks.txt", "a") as ledger:
        ledger.write("4")  # the line was cut off while it was written
    more: list[tuple[int, int]] = []
    lg.write_grid(PLANT, tmp_path / "g.zarr", AXES, chunks={"k": 2}, progress=lambda *s: more.append(s))
    assert more == [(3, 5), (4, 5), (5, 5)]
    lg.write_grid(PLANT, tmp_path / "whole.zarr", AXES, chunks={"k": 2})
    files = sorted(
        p.relative_to(tmp_path / "g.zarr") for p in (tmp_path / "g.zarr").rglob("*") if p.is_file()
    )
    assert len(files) > 20
    for name in files:
        assert (tmp_path / "g.zarr" / name).read_bytes() == (tmp_path / "whole.zarr" / name).read_bytes()


def test_chunks_of_another_job_are_not_taken(tmp_path):
    """Another model or other axes: an error, until restart=True."""

    def stop(done: int, total: int) -> None:
        if done == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lg.write_grid(PLANT, tmp_path / "g.zarr", AXES, chunks={"k": 2}, progress=stop)
    other = AXES | {"m": [1.0, 2.0]}
    with pytest.raises(lg.ModelError, match="holds chunks of another grid"):
        lg.write_grid(PLANT, tmp_path / "g.zarr", other, chunks={"k": 2})
    lg.write_grid(PLANT, tmp_path / "g.zarr", other, chunks={"k": 2}, restart=True)
    assert lg.read_grid(tmp_path / "g.zarr").A.shape[:2] == (9, 2)


def test_wrong_targets_are_named(tmp_path):
    """Suffix, folder, an existing file, a file of another kind."""
    (tmp_path / "there.nc").write_text("text")
    for path, message in (
        ("g.csv", "written to a .nc"),
        ("no/g.nc", "does not exist"),
        ("there.nc", "exists; give another name"),
    ):
        with pytest.raises(lg.ModelError, match=message):
            lg.write_grid(PLANT, tmp_path / path, AXES)
    with pytest.raises(lg.ModelError, match="expected the path"):
        lg.write_grid(PLANT, None, AXES)
    with pytest.raises(lg.ModelError, match="cannot be read as a grid"):
        lg.read_grid(tmp_path / "there.nc")
    with pytest.raises(lg.ModelError, match="is not a grid"):
        lg.read_grid(tmp_path / "missing.nc")


def test_command_writes_the_grid(tmp_path):
    """`lftgen grid` with ranges, lists, units and single values."""
    from lftgen import cli

    arm = Path(__file__).parents[2] / "examples" / "two_link_arm.yaml"
    with pytest.raises(SystemExit) as end:
        cli.main(
            [
                "grid",
                str(arm),
                "theta1=::5",
                "theta2=-0.5rad:30:3",
                "m1=4,5",
                "m2=3",
                "-o",
                str(tmp_path / "g.nc"),
            ]
        )
    assert not end.value.code
    grid = lg.read_grid(tmp_path / "g.nc")
    assert dict(grid.A.sizes) == {"theta1": 5, "theta2": 3, "m1": 2, "state": 4, "state_from": 4}
    assert grid.theta2.values == pytest.approx(np.linspace(-np.degrees(0.5), 30, 3))
    for wrong in ("theta1=1:2", "theta1=0:90:1", "theta1", "theta9=1", "theta1=a"):
        with pytest.raises(SystemExit) as end:
            cli.main(["grid", str(arm), wrong, "-o", str(tmp_path / "h.nc")])
        assert end.value.code == 2


@pytest.mark.heavy
@pytest.mark.parametrize("suffix", [".nc", ".zarr"])
def test_killed_process_loses_no_finished_chunk(tmp_path, suffix):
    """SIGKILL in the middle, twice; the third run ends with the bits of an undisturbed one."""
    arm = Path(__file__).parents[2] / "examples" / "two_link_arm.yaml"
    target = tmp_path / f"g{suffix}"
    command = [
        sys.executable,
        "-m",
        "lftgen.cli",
        "grid",
        str(arm),
        "theta1=::60",
        "theta2=::60",
        "m1=::20",
        "--chunk",
        "theta1=1",
    ]
    ledger = tmp_path / f"{target.name}.partial" / "finished_chunks.txt"
    for chunks in (5, 20):
        with subprocess.Popen([*command, "-o", str(target)]) as process:
            while not (ledger.exists() and len(ledger.read_text().split()) >= chunks):
                assert process.poll() is None
                time.sleep(0.01)
            os.kill(process.pid, signal.SIGKILL)
        assert not target.exists()
    subprocess.run([*command, "-o", str(target)], check=True)
    subprocess.run([*command, "-o", str(tmp_path / f"whole{suffix}")], check=True)
    found, want = lg.read_grid(target), lg.read_grid(tmp_path / f"whole{suffix}")
    for name in want.data_vars:
        assert np.array_equal(found[name].values, want[name].values)
