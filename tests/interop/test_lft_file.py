"""Saving and loading: exact to the last bit, and damaged files refused."""

import json
import os
import time

import numpy as np
import pytest
import sympy as sp
from jsonschema import Draft202012Validator

import lftgen as lg
from lftgen.interop import json_data
from lftgen.interop.lft_file import lft_schema, to_dict
from tests.strategies import ANGLE, COMPLEX, FULL, FULL_REAL, LENGTH, MASS, QUARTER, random_lft


def _everything(exact=False):
    blocks = [(MASS, 2), (LENGTH, 1), (ANGLE, 1), (QUARTER, 0)]
    model = random_lft(
        np.random.default_rng(8),
        (2, 3),
        states=2,
        parameters=blocks,
        others=[FULL, COMPLEX, FULL_REAL],
        exact=exact,
    )
    return model.rename(inputs=["a", "b_x", "c"], outputs=["y", "z"], states=["p", "v"])


c, d = sp.Symbol("c"), sp.Symbol("d", positive=True)
MODELS = {
    "float": _everything,
    "exact": lambda: _everything(exact=True),
    "normalised": lambda: _everything().normalized(),
    "recentred": lambda: _everything().normalized(recenter=True),
    "skewed": lambda: lg.realize([[1 / lg.uncertain("m", 0.1 + 0.2, bounds=(0.1, 1 / 3))]]).normalized(),
    "free symbols": lambda: lg.realize([[c * MASS / (c + d), d**2 - c / 3]]),
    "tiny and huge": lambda: lg.realize(np.array([[1e-310, -0.0, 1.7e308, 0.1, np.nextafter(1, 2)]])),
    "no inputs": lambda: random_lft(np.random.default_rng(0), (2, 0), parameters=[(MASS, 1)]),
    "no outputs": lambda: random_lft(np.random.default_rng(0), (0, 2), states=1),
    "nothing": lambda: random_lft(np.random.default_rng(0), (0, 0)),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_round_trip(name, tmp_path):
    """Entries bit for bit, blocks with their maps, parameters, names; the file itself is repeatable."""
    model = MODELS[name]()
    lg.save(model, tmp_path / "model.json")
    again = lg.load(tmp_path / "model.json")
    assert again.M.shape == model.M.shape
    if model.is_exact:
        assert all(x == y for x, y in zip(again.M.flat, model.M.flat, strict=True))
    else:
        assert again.M.tobytes() == np.ascontiguousarray(model.M).tobytes()
    assert again.delta == model.delta
    assert again.parameters == model.parameters
    assert (again.states, again.inputs, again.outputs) == (model.states, model.inputs, model.outputs)
    assert (again.is_exact, again.symbols) == (model.is_exact, model.symbols)
    lg.save(again, tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "model.json").read_bytes()


def test_loaded_models_work_with_the_originals(tmp_path):
    """A loaded model adds to the model it came from: its parameters are the same ones."""
    model = lg.realize([[MASS * LENGTH, sp.sin(ANGLE)]])
    lg.save(model, tmp_path / "model.json")
    both = model - lg.load(tmp_path / "model.json")
    assert both.reduce().order == 0
    assert np.array_equal(lg.load(tmp_path / "model.json").at(m=1.1, theta=33), model.at(m=1.1, theta=33))


DAMAGES = {
    "another format": lambda f: f | {"format": "other"},
    "a newer version": lambda f: f | {"version": 2},
    "no matrix": lambda f: {k: v for k, v in f.items() if k != "M"},
    "a row missing": lambda f: f | {"M": f["M"][1:]},
    "a short row": lambda f: f | {"M": [f["M"][0][1:], *f["M"][1:]]},
    "a nan": lambda f: f | {"M": [[float("nan")] * len(f["M"][0]), *f["M"][1:]]},
    "text for a number": lambda f: f | {"M": [["__import__('os')"] * len(f["M"][0]), *f["M"][1:]]},
    "null": lambda f: f | {"M": None},
    "too many repetitions": lambda f: f | {"blocks": [f["blocks"][0] | {"repetitions": 10**9}]},
    "negative repetitions": lambda f: f | {"blocks": [f["blocks"][0] | {"repetitions": -1}]},
    "unknown kind": lambda f: f | {"blocks": [f["blocks"][0] | {"kind": "imaginary"}]},
    "reversed range": lambda f: f | {"blocks": [f["blocks"][0] | {"parameter": f["blocks"][0]["parameter"] | {"lower": 9}}]},
    "one name twice": lambda f: f | {"outputs": ["y", "y"]},
    "a list": lambda f: [f],
    "no such field": lambda f: f | {"comment": "x"},
    "an older version": lambda f: f | {"version": 0},
    "a version as truth": lambda f: f | {"version": True},
    "exact entries in a float file": lambda f: f | {"M": [[[[["1", []]], [["1", []]]]] * len(f["M"][0]), *f["M"][1:]]},
    "float entries in an exact file": lambda f: f | {"entries": "exact"},
    "a truth value for a number": lambda f: f | {"M": [[True] * len(f["M"][0]), *f["M"][1:]]},
    "a number too large": lambda f: f | {"M": [[10**400] * len(f["M"][0]), *f["M"][1:]]},
    "repetitions as a float": lambda f: f | {"blocks": [f["blocks"][0] | {"repetitions": 1.5}]},
    "shape of another model": lambda f: f | {"shape": [9, 9]},
    "no map": lambda f: f | {"blocks": [{k: v for k, v in f["blocks"][0].items() if k != "map"}]},
    "a map that folds": lambda f: f | {"blocks": [f["blocks"][0] | {"map": {"origin": 2.0, "scale": 0.0, "skew": 0.0}}]},
    "a parameter for a complex block": lambda f: f | {"blocks": [f["blocks"][0] | {"kind": "complex"}]},
    "a field missing in a block": lambda f: f | {"blocks": [{k: v for k, v in f["blocks"][0].items() if k != "bound"}]},
    "names that are numbers": lambda f: f | {"inputs": [1, 2]},
    "a name that is text": lambda f: f | {"inputs": "ab"},
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGES)
def test_damaged_files(name, tmp_path):
    """Every damage is a ModelError that names the file."""
    model = lg.realize([[MASS, 1], [MASS**2, 2]], inputs=["a", "b"], outputs=["y", "z"])
    path = tmp_path / "model.json"
    lg.save(model, path)
    path.write_text(json.dumps(DAMAGES[name](json.loads(path.read_text()))))
    with pytest.raises(lg.ModelError, match=r"model\.json"):
        lg.load(path)


def test_the_schema_and_the_reader_agree(tmp_path):
    """What save writes is valid for the published schema; the damages that a schema can see are not, by either."""
    validator = Draft202012Validator(lft_schema())
    Draft202012Validator.check_schema(lft_schema())
    for make in MODELS.values():
        content = to_dict(make())
        validator.validate(content)
        json_data.check(content, lft_schema(), lft_schema())
    base = to_dict(lg.realize([[MASS, 1], [MASS**2, 2]], inputs=["a", "b"], outputs=["y", "z"]))
    seen = 0
    for name, damage in DAMAGES.items():
        content = json.loads(json.dumps(damage(json.loads(json.dumps(base)))).replace("NaN", "0"))
        theirs = validator.is_valid(content)
        try:
            json_data.check(content, lft_schema(), lft_schema())
            ours = True
        except lg.ModelError:
            ours = False
        seen += not ours
        assert ours == theirs or name == "a number too large", name  # which JSON Schema knows no limit for
    assert seen >= 15


MESSAGES = {
    "unknown kind": r"blocks\[0\]\.kind: expected one of \"real\".* came \"imaginary\"",
    "an older version": "expected version 1 of lftgen-lft, got 0",
    "no such field": 'unknown field "comment"',
    "no matrix": 'the field "M" is missing',
    "names that are numbers": r"inputs\[0\]: expected a text, came 1",
    "too many repetitions": r"blocks\[0\]\.repetitions: expected a number from 0 to 100000, came 1000000000",
    "shape of another model": r"shape: expected \[.*\] from the states, blocks, inputs and outputs, came \[9, 9\]",
    "a nan": "NaN is no number of JSON",
}


@pytest.mark.parametrize("name", MESSAGES)
def test_messages_name_field_and_value(name, tmp_path):
    """The place, what was expected, what came."""
    model = lg.realize([[MASS, 1], [MASS**2, 2]], inputs=["a", "b"], outputs=["y", "z"])
    path = tmp_path / "model.json"
    path.write_text(json.dumps(DAMAGES[name](to_dict(model))))
    with pytest.raises(lg.ModelError, match=MESSAGES[name]):
        lg.load(path)


def _hostile_exact(**changes):
    text = {"coefficient": "1", "exponent": 0} | changes
    entry = [[[text["coefficient"], [text["exponent"]]]], [[text.get("bottom", "1"), [0]]]]
    return json.dumps(to_dict(lg.realize([[c]])) | {"M": [[entry]]})


HOSTILE = {
    "a coefficient with an exponent": lambda: _hostile_exact(coefficient="1e999999999"),
    "a coefficient without end": lambda: _hostile_exact(coefficient="9" * 5_000_000),
    "a power without end": lambda: _hostile_exact(exponent=10**9),
    "a division by zero": lambda: _hostile_exact(bottom="0"),
    "a fraction by zero": lambda: _hostile_exact(coefficient="1/0"),
    "an integer without end": lambda: '{"format": "lftgen-lft", "version": ' + "9" * 10_000_000 + "}",
    "lists without end": lambda: "[" * 15_000_000,
    "many lists": lambda: "[" + "[]," * 5_000_000 + "0]",
    "many objects": lambda: "[" + '{"a":0},' * 1_900_000 + "0]",
    "a long text": lambda: '{"format": "' + "x" * 15_000_000 + '"}',
    "a field twice": lambda: '{"format": "lftgen-lft", "format": "lftgen-lft"}',
    "cut off": lambda: json.dumps(to_dict(_everything()))[:-40],
    "too large": lambda: " " * 16_000_001,
    "more numbers": lambda: "[" + "0," * 7_900_000 + "0]",
    "many numbers": lambda: '{"format": "lftgen-lft", "version": 1, "M": [[' + "0," * 1_400_000 + "0]]}",
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_refused_at_once(name, tmp_path):
    """Named errors, in under a second of this process's time."""
    path = tmp_path / "hostile.json"
    path.write_text(HOSTILE[name]())
    start = time.process_time()
    with pytest.raises(lg.ModelError, match=r"hostile\.json"):
        lg.load(path)
    assert time.process_time() - start < 1.0


def test_paths_that_are_none(tmp_path):
    """A number, nothing, a folder, a pipe: each a ModelError, in either direction; nothing is left behind."""
    model = lg.realize([[MASS]])
    for path in (3333, None, "", b"model.json", ["model.json"]):
        with pytest.raises(lg.ModelError, match="expected the path of a file, got"):
            lg.load(path)
        with pytest.raises(lg.ModelError, match="expected the path of a file, got"):
            lg.save(model, path)
    with pytest.raises(lg.ModelError, match="it is a folder"):
        lg.load(tmp_path)
    with pytest.raises(lg.ModelError, match="it is a folder"):
        lg.save(model, tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(lg.ModelError, match="no ordinary file"):
        lg.load(tmp_path / "pipe")
    with pytest.raises(lg.ModelError, match="no ordinary file"):
        lg.save(model, tmp_path / "pipe")
    assert [p.name for p in tmp_path.iterdir()] == ["pipe"]


def test_a_full_disk_leaves_the_old_file(tmp_path):
    """A file system without room: a named error; what was there stays."""
    with pytest.raises(lg.ModelError, match=r"cannot write /dev/full|cannot write /proc/nothing"):
        lg.save(lg.realize([[MASS]]), "/proc/nothing/model.json")
    with pytest.raises(lg.ModelError, match="no ordinary file"):
        lg.save(lg.realize([[MASS]]), "/dev/full")


def test_models_beyond_the_limit_are_not_saved(tmp_path, monkeypatch):
    """What could not be read back is refused when it is written."""
    monkeypatch.setattr("lftgen.interop.lft_file.MAX_BYTES", 100)
    with pytest.raises(lg.ModelError, match=r"save: the file would have .* more than 100"):
        lg.save(lg.realize([[MASS]]), tmp_path / "model.json")
    assert not list(tmp_path.iterdir())


def test_no_such_file_and_no_json(tmp_path):
    """A missing, cut-off, binary or foreign file is a ModelError with its name; saving what is no LFT as well."""
    with pytest.raises(lg.ModelError, match=r"cannot read .*absent\.json"):
        lg.load(tmp_path / "absent.json")
    for name, content in (("cut", b'{"format": "lft'), ("binary", b"\x80\x04\xff"), ("deep", b"[" * 100_000)):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(lg.ModelError, match=name):
            lg.load(tmp_path / name)
    with pytest.raises(lg.ModelError, match="cannot write"):
        lg.save(lg.realize([[MASS]]), tmp_path / "absent" / "model.json")
    with pytest.raises(lg.ModelError, match=r"save writes an LFT, got 3 \(int\)"):
        lg.save(3, tmp_path / "model.json")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["binary", "cut", "deep"]
