"""Saving and loading: exact to the last bit, and damaged files refused."""

import json

import numpy as np
import pytest
import sympy as sp

import lftgen as lg
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
    with pytest.raises(lg.ModelError, match="save writes an LFT, got int"):
        lg.save(3, tmp_path / "model.json")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["binary", "cut", "deep"]
