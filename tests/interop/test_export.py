"""One door for all formats: which writer, what is refused, and the command."""

import json

import numpy as np
import pytest

import lftgen as lg
from lftgen import cli
from tests.strategies import MASS

ARM = "examples/pendulum.yaml"


def _pendulum():
    theta = lg.scheduled_angle("theta", (-60, 60), unit="deg")
    bob = lg.RigidBody("bob", mass=MASS, com=(0, 0, -1))
    hinge = lg.RevoluteJoint("hinge", parent="ground", child="bob", axis=(1, 0, 0), angle=theta)
    return lg.Mechanism("pendulum", bodies=[bob], joints=[hinge])


def _run(*arguments):
    with pytest.raises(SystemExit) as caught:
        cli.main([str(a) for a in arguments])
    return caught.value.code or 0


def test_formats_by_name_and_by_ending(tmp_path):
    """Each format writes its files; the ending of the path decides where nothing is said."""
    mech = _pendulum()
    plant = mech.linearize()
    for to, names in (("matlab", ["a.m", "a.mat"]), ("julia", ["a.jl"]), ("json", ["a.json"])):
        assert [p.name for p in lg.export(plant, tmp_path / "a", to=to)] == names
    assert [p.name for p in lg.export(mech, tmp_path / "b", to="lpvss")] == ["b.m"]
    for name, names in (("c.m", ["c.m", "c.mat"]), ("c.jl", ["c.jl"]), ("c.json", ["c.json"])):
        assert [p.name for p in lg.export(plant, tmp_path / name)] == names
    assert np.array_equal(lg.load(tmp_path / "c.json").M, plant.M)


def test_what_is_refused(tmp_path):
    """Unknown formats, endings and kinds of models."""
    mech = _pendulum()
    plant = mech.linearize()
    for model, path, to, words in (
        (plant, "a", "simulink", "unknown format 'simulink'; expected one of json, julia, lpvss, matlab"),
        (plant, "a", 3, "unknown format 3"),
        (plant, "a.txt", None, r"the ending of a\.txt names no format"),
        (mech, "a", "matlab", "takes an LFT, got the mechanism pendulum; linearize it first"),
        (plant, "a", "lpvss", "takes a Mechanism"),
        (None, "a", "matlab", "writes an LFT, got None"),
        (None, "a", "json", "writes an LFT, got None"),
        (None, "a", "lpvss", "writes a Mechanism, got None"),
    ):
        with pytest.raises(lg.ModelError, match=words):
            lg.export(model, tmp_path / path, to=to)
    with pytest.raises(lg.ModelError, match="expected the path of a file, got 3"):
        lg.export(plant, 3)
    assert not list(tmp_path.iterdir())


def test_lpvss_refuses_other_plants(tmp_path):
    """A plant of another mechanism, unknown signals, blocks that are no parameters, two ways at once."""
    mech = _pendulum()
    plant = mech.linearize()
    wrong = [
        ({"plant": plant.rename(states=["a", "b"])}, "states of mechanism pendulum"),
        ({"plant": plant.rename(inputs=["motor"])}, "no such input"),
        ({"plant": plant.rename(outputs=["sensor"])}, "no such output"),
        ({"plant": plant + lg.uncertain_dynamics("D", (1, 1))}, "D is no parameter"),
        ({"plant": plant, "inputs": ["hinge_torque"]}, "not both"),
        ({"plant": np.eye(2)}, "writes an LFT"),
        ({"trim": 3}, "trim must be what"),
        ({"outputs": ["hinge_angel"]}, "hinge_angle"),
    ]
    for options, words in wrong:
        with pytest.raises(lg.ModelError, match=words):
            lg.to_lpvss(mech, tmp_path / "a", **options)
    for path in ("1a", "end", "a-b"):
        with pytest.raises(lg.ModelError, match="MATLAB cannot call"):
            lg.to_lpvss(mech, tmp_path / path)
    assert not list(tmp_path.iterdir())


def test_command(tmp_path, capsys):
    """For MATLAB three files from a model file, two from an LFT file; JSON for machines; errors end with 2."""
    assert _run("export", ARM, "-o", tmp_path / "arm", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert [p.rsplit("/", 1)[1] for p in told["written"]] == ["arm.m", "arm.mat", "arm_lpv.m"]
    assert _run("export", ARM, "--to", "json", "-o", tmp_path / "arm") == 0
    assert _run("export", tmp_path / "arm.json", "-o", tmp_path / "again") == 0
    assert (tmp_path / "again.mat").read_bytes() == (tmp_path / "arm.mat").read_bytes()
    assert _run("export", tmp_path / "arm.json", "--to", "lpvss", "-o", tmp_path / "no") == 2
    assert "an LFT file has no mechanism" in capsys.readouterr().err
    assert _run("export", ARM, "-o", tmp_path / "no" / "arm") == 2
    assert _run("export", ARM, "-o", tmp_path / "two-links") == 2
    assert "two_links.m would do" in capsys.readouterr().err
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "again.m", "again.mat", "arm.json", "arm.m", "arm.mat", "arm_lpv.m",
    ]  # fmt: skip


def test_default_name_is_the_models(tmp_path, monkeypatch, capsys):
    """Without -o the files take the model's name, in the current folder."""
    from pathlib import Path

    model = Path(ARM).resolve()
    monkeypatch.chdir(tmp_path)
    assert _run("export", model, "--to", "julia") == 0
    assert capsys.readouterr().out == "saved pendulum.jl\n"


def test_schema_command(capsys):
    """The schema of LFT files is printed on request; that of model files otherwise."""
    assert _run("schema", "lft") == 0
    assert json.loads(capsys.readouterr().out)["properties"]["format"] == {"const": "lftgen-lft"}
    assert _run("schema") == 0
    assert "lftgen-lft" not in capsys.readouterr().out
