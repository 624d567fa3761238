"""The command line: output, exit codes, and errors without a traceback."""

import json
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

import lftgen as lg
from lftgen import cli

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
ARM = str(EXAMPLES / "two_link_arm.yaml")
PENDULUM = str(EXAMPLES / "pendulum.yaml")


class Result:
    """Exit code and what was written."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]):
    """Run the command line in this process."""

    def run_(*arguments: str) -> Result:
        with pytest.raises(SystemExit) as caught:
            cli.main(arguments)
        captured = capsys.readouterr()
        return Result(int(caught.value.code or 0), captured.out, captured.err)

    return run_


def test_build_prints_the_tables(run) -> None:
    """`build` shows parameters with units, repetitions, poles and the check."""
    result = run("build", ARM, "--check", "--samples", "20")
    assert result.code == 0
    for text in ("two_link_arm", "kg", "[-1, 1]", "as built", "bound", "total", "frequency", "passed", "A21"):
        assert text in result.out
    assert result.err == ""


def test_build_json_is_the_model(run) -> None:
    """`build --json` writes one object with what the Python API gives."""
    result = run("build", ARM, "--json", "--check", "--samples", "20")
    data = json.loads(result.out)
    reduced = lg.read_model(ARM).linearize().reduce()
    rows = {row["parameter"]: row["repetitions"] for row in data["repetitions"]["rows"]}
    assert rows == dict(reduced.repetitions)
    assert data["repetitions"]["total"]["repetitions"] == reduced.order <= 17
    assert data["check"]["passed"] is True
    assert data["check"]["max_relative_error"] < 1e-10
    assert [row["unit"] for row in data["parameters"]] == ["kg", "kg", "kg", "deg", "deg"]
    assert len(data["poles"]) == 4


def test_build_without_reduction(run) -> None:
    """`--no-reduce` keeps the model as built."""
    data = json.loads(run("build", ARM, "--json", "--no-reduce").out)
    assert data["repetitions"]["total"]["repetitions"] == data["repetitions"]["total"]["as_built"]


def test_build_saves_the_lft(run, tmp_path: Path) -> None:
    """`-o` writes a file that `load` reads, in a new folder, without leftovers."""
    folder = tmp_path / "new" / "folder"
    result = run("build", PENDULUM, "-o", str(folder), "--json")
    (path,) = folder.iterdir()
    assert str(path) == json.loads(result.out)["saved"]
    assert lg.load(path).repetitions == {"m": 1}


def test_check_command(run) -> None:
    """`check` gives 0 where the model agrees, and 1 where the tolerance is out of reach."""
    good = run("check", PENDULUM, "--samples", "5", "--json")
    bad = run("check", ARM, "--samples", "5", "--tolerance", "1e-300")
    assert (good.code, bad.code) == (0, 1)
    assert json.loads(good.out)["check"]["passed"] is True
    assert "FAILED" in bad.out
    assert "worst point" in bad.out


def test_eval_command(run) -> None:
    """`eval` gives the matrices at values in each parameter's own unit, or with a unit of angles."""
    expected = lg.read_model(ARM).linearize().at(theta1=30, m1=4.5)
    for text in ("theta1=30", "theta1=30deg", "theta1=0.5235987755982988rad", "theta1=60/2"):
        data = json.loads(run("eval", ARM, text, "m1=4.5kg", "--json").out)
        assert np.allclose(data["A"], expected.A, rtol=1e-12)
        assert data["point"]["m2"] == 3.0
    torque = -(4.5 * 0.5 + 3 * 1.4 + 2 * 1.8) * 9.81 * 0.5
    assert data["holding"][0] == {"name": "J1_torque", "value": pytest.approx(torque), "unit": "N m"}
    table = run("eval", ARM, "theta1=30", "m1=4.5").out
    assert "J1_rate" in table
    assert f"{expected.A[2, 0]:.6g}" in table


def test_info_command(run) -> None:
    """`info` shows bodies, joints, signals and what each entry depends on."""
    result = run("info", PENDULUM)
    for text in ("bob", "hinge", "revolute", "ground", "hinge_rate", "depend on"):
        assert text in result.out
    data = json.loads(run("info", PENDULUM, "--json").out)
    entries = {(row["row"], row["column"]): row["parameters"] for row in data["dependence"]}
    assert entries[("hinge_rate", "hinge_angle")] == ["m"]
    assert ("hinge_angle", "hinge_rate") not in entries


def test_lft_files_are_read_too(run, tmp_path: Path) -> None:
    """`info` and `eval` also take the file that `build -o` wrote; `check` needs the mechanism."""
    run("build", PENDULUM, "-o", str(tmp_path))
    path = str(tmp_path / "pendulum.lft.json")
    from_file = json.loads(run("eval", path, "m=2.7", "--json").out)
    assert from_file["A"] == json.loads(run("eval", PENDULUM, "m=2.7", "--json").out)["A"]
    assert "hinge_rate" in run("info", path).out
    refused = run("check", path)
    assert refused.code == 2
    assert "model file" in refused.err


def test_singular_model_fails_the_check(run, tmp_path: Path) -> None:
    """A box in which the model does not exist everywhere is refused or fails the check."""
    text = Path(PENDULUM).read_text(encoding="utf-8")
    path = tmp_path / "singular.yaml"
    path.write_text(text.replace("percent: 20", "bounds: [0, 5]"), encoding="utf-8")
    result = run("build", str(path), "--check")
    assert result.code in (1, 2)
    assert "m" in (result.out + result.err)
    assert "Traceback" not in result.err


@pytest.mark.filterwarnings("default::lftgen.LftgenWarning")
def test_unused_parameter_is_a_warning(run, tmp_path: Path) -> None:
    """A parameter that occurs nowhere stays declared, is warned of, and does not hinder the check."""
    text = Path(PENDULUM).read_text(encoding="utf-8")
    path = tmp_path / "unused.yaml"
    path.write_text(
        text.replace("constants:", "  spare: {type: scheduled, bounds: [0, 1]}\nconstants:"), encoding="utf-8"
    )
    result = run("build", str(path), "--check", "--json")
    rows = json.loads(result.out)["repetitions"]["rows"]
    assert result.code == 0
    assert {row["parameter"]: row["repetitions"] for row in rows} == {"m": 1, "spare": 0}
    assert result.err == f"warning: {path}:9: parameters.spare: the parameter is declared but not used\n"


def test_schema_command(run, tmp_path: Path) -> None:
    """`schema` writes a JSON Schema that accepts the examples and refuses a wrong field."""
    jsonschema = pytest.importorskip("jsonschema")
    from lftgen.interop.yaml_source import read_source

    path = tmp_path / "schema.json"
    run("schema", "-o", str(path))
    schema = json.loads(path.read_text(encoding="utf-8"))
    assert schema == json.loads(run("schema").out)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    for example in EXAMPLES.glob("*.yaml"):
        data = read_source(example).data
        validator.validate(data)
        assert not validator.is_valid({**data, "gravty": 1})


WRONG = [
    (["build", "none.yaml"], "none.yaml"),
    (["build", "."], "folder"),
    (["build", "broken.yaml"], "broken.yaml:2: not readable as YAML"),
    (["build", "field.yaml"], "field.yaml:13: bodies.bob.mas: unknown field"),
    (["build", "code.yaml"], "code.yaml:13: bodies.bob.mass: expression"),
    (["eval", PENDULUM, "M=3"], "did you mean 'm'"),
    (["eval", PENDULUM, "m"], "NAME=VALUE"),
    (["eval", PENDULUM, "m=30deg"], "expected m in kg"),
    (["eval", PENDULUM, "m=3", "m=3"], "twice"),
    (["eval", PENDULUM, "m=99"], "outside"),
    (["eval", PENDULUM, "m=__import__('os')"], "expected"),
    (["build", PENDULUM, "-o", "broken.yaml"], "broken.yaml"),
    (["build"], "MODEL"),
    (["bild", PENDULUM], "bild"),
    (["build", PENDULUM, "--samples", "0"], "samples"),
]


@pytest.fixture
def wrong_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files with one mistake each, in the working folder."""
    monkeypatch.chdir(tmp_path)
    good = Path(PENDULUM).read_text(encoding="utf-8")
    assert good.splitlines()[13].strip() == "mass: m"
    good = good.split("\n", 1)[1]
    texts = {
        "broken.yaml": "a: [1,\nb: 2",
        "field.yaml": good.replace("mass: m", "mas: m"),
        "code.yaml": good.replace("mass: m", "mass: __import__('os').system('touch pwned')"),
    }
    for name, text in texts.items():
        Path(name).write_text(text, encoding="utf-8")


@pytest.mark.usefixtures("wrong_files")
@pytest.mark.parametrize(("arguments", "part"), WRONG)
def test_wrong_input_is_one_clear_message(run, arguments: list[str], part: str) -> None:
    """Wrong input gives exit code 2, a message on standard error, nothing on standard output, at once."""
    start = time.process_time()
    result = run(*arguments)
    assert time.process_time() - start < 1.0
    assert result.code == 2
    assert result.out == ""
    assert part in result.err
    assert "Traceback" not in result.err
    assert not Path("pwned").exists()


def test_no_traceback_from_the_shell(tmp_path: Path) -> None:
    """The installed command ends with code 2 and one line."""
    path = tmp_path / "bad.yaml"
    path.write_text("a: &a [*a]", encoding="utf-8")
    command = [sys.executable, "-m", "lftgen.cli", "build", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("error: ")


def test_help_is_quick() -> None:
    """`--help` and `--version` do not load the heavy packages."""
    code = (
        "import sys; from lftgen import cli\n"
        "try: cli.main(['--help'])\n"
        "except SystemExit: pass\n"
        "assert not {'control', 'matplotlib', 'scipy.signal'} & set(sys.modules)\n"
        "try: cli.main(['--version'])\n"
        "except SystemExit: pass\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "Exit codes" in done.stdout
    assert f"lftgen {version('lftgen')}" in done.stdout


def test_build_goes_on_searching(run) -> None:
    """`--search SECONDS` passes a budget on, is listed, and is refused where nothing is reduced."""
    plain, searched = (
        json.loads(run("build", ARM, "--json", *more).out)["repetitions"]["total"]["repetitions"]
        for more in ((), ("--search", "0.5"))
    )
    assert searched <= plain
    assert "--search" in run("build", "--help").out
    refused = run("build", ARM, "--search", "1", "--no-reduce")
    assert refused.code == 2
    assert "--no-reduce" in refused.err


def test_search_reaches_the_model(run, monkeypatch: pytest.MonkeyPatch) -> None:
    """What follows `--search` is the `search` of `linearize`, with reports on its way."""
    given, true = {}, lg.Mechanism.linearize

    def linearize(mechanism, *arguments, **options):
        given.setdefault("search", options.get("search"))
        given.setdefault("progress", options.get("progress"))
        return true(mechanism, *arguments, **options)

    monkeypatch.setattr(lg.Mechanism, "linearize", linearize)
    assert run("build", ARM, "--search", "0.25").code == 0
    assert given["search"] == 0.25
    assert callable(given["progress"])
