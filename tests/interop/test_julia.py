"""The Julia writer, by the form of its text: brackets, sizes, numbers; what it says is evaluated by a reader of our own."""

import math
import re

import numpy as np
import pytest
import sympy as sp

import lftgen as lg
from lftgen.interop.identifiers import JULIA_RESERVED
from lftgen.interop.julia import number
from tests.strategies import (
    ANGLE,
    COMPLEX,
    FULL,
    FULL_REAL,
    LENGTH,
    MASS,
    QUARTER,
    error,
    ports,
    random_lft,
    random_point,
)  # fmt: skip

CONSTANT = lg.uncertain("fixed", 3.0, bounds=(3.0, 3.0))
EDGE = lg.uncertain("edge", 1.0, bounds=(1.0, 2.0))
ODD = [
    lg.uncertain(n, 1.0, percent=20)
    for n in ("end", "_x", "a-b", "a.b", "a_b", "M", "ss", "tan", "local", "θ")
]
ALL = [(MASS, 2), (LENGTH, 1), (ANGLE, 2), (QUARTER, 1)]


def _random(seed, shape, **options):
    return random_lft(np.random.default_rng(seed), shape, **options)


MODELS = {
    "everything": lambda: _random(1, (2, 3), states=3, parameters=[*ALL, (CONSTANT, 1), (EDGE, 2)]),
    "normalised": lambda: _random(2, (2, 2), states=2, parameters=ALL).normalized(),
    "blocks": lambda: _random(3, (2, 2), states=2, parameters=[(MASS, 1)], others=[FULL, COMPLEX]),
    "odd_names": lambda: _random(5, (2, 1), states=1, parameters=[(p, 1) for p in ODD]).rename(
        inputs=['a"$(exit())'], outputs=["a\\", "two\nlines"], states=["x[0]"]
    ),
    "no_repetitions": lambda: _random(6, (2, 2), states=2, parameters=[(MASS, 0), (ANGLE, 0)]),
    "no_parameters": lambda: _random(7, (2, 2), states=2),
    "number": lambda: lg.realize([[2.5]]),
    "one_by_one": lambda: lg.realize([[1 / MASS]]),
    "no_outputs": lambda: _random(8, (0, 3), parameters=[(MASS, 2)]),
    "no_inputs": lambda: _random(9, (3, 0), parameters=[(MASS, 2)]),
    "nothing": lambda: _random(9, (0, 0)),
    "exact": lambda: _random(12, (2, 2), states=2, parameters=ALL, exact=True),
}  # fmt: skip


class Reader:
    """What a Julia file of ours says."""

    def __init__(self, text):
        self.text = text
        self.bare = re.sub(r'"(?:[^"\\]|\\.)*"', '""', text)
        self.code = "\n".join(line.split("#")[0].rstrip() for line in self.bare.splitlines())
        self.full = "\n".join(line for line in text.splitlines() if not line.startswith("#"))

    def matrix(self):
        """M, by Julia's rules for matrix literals."""
        empty = re.search(r"^const M = zeros\((\d+), (\d+)\)$", self.code, re.M)
        if empty:
            return np.zeros((int(empty[1]), int(empty[2])))
        single = re.search(r"^const M = reshape\(Float64\[(.*)\], 1, (\d+)\)$", self.code, re.M)
        if single:
            return np.array([float(v) for v in single[1].split(", ")]).reshape(1, int(single[2]))
        body = re.search(r"^const M = Float64\[\n(.*?)\]$", self.code, re.M | re.S)[1]
        rows = [row.split() for row in body.split(";\n")]
        assert all(re.fullmatch(r"-?\d+\.\d+(e-?\d+)?", v) for row in rows for v in row)
        return np.array([[float(v) for v in row] for row in rows])

    def elements(self):
        """Constructor and arguments by name."""
        found = re.findall(r"^const (\w+) = (δr|δc|δDyn)\((.*)\)$", self.code, re.M)
        return {name: (kind, [a.strip() for a in re.split("[,;]", rest)]) for name, kind, rest in found}

    def deltas(self):
        """(name, repetitions) in order."""
        body = re.search(r"^const deltas = Any\[(.*)\]$", self.code, re.M)[1]
        return [(n, int(r)) for n, r in re.findall(r"fill\((\w+), (\d+)\)", body)]

    def parts(self):
        """The nine parts of the extended state space, as slices of M."""
        call = re.search(r"UncertainSS\(ss\((.*?)\), deltas\)", self.code, re.S)[1]
        found = re.findall(r"M\[(\d+):(\d+), (\d+):(\d+)\]", call)
        assert len(found) == 9
        return [(slice(int(a) - 1, int(b)), slice(int(c) - 1, int(d))) for a, b, c, d in found]

    def normalize(self):
        """Functions from values to delta; arithmetic means the same in Python."""
        lines = re.findall(r"^    :(\w+) => value -> (.*),$", self.code, re.M)
        assert all(re.fullmatch(r"[\d.e()*/+\- ]*", re.sub(r"value|tan|pi", "", text)) for _, text in lines)
        scope = {"tan": math.tan, "pi": math.pi}
        return {name: eval(f"lambda value: {text}", scope) for name, text in lines}

    def names(self):
        """Names in lftgen by names in Julia."""
        body = re.search(r"^const names = Dict\{String, Symbol\}\((.*)\)$", self.full, re.M)[1]
        return {there: here for here, there in re.findall(r'"((?:[^"\\]|\\.)*)" => :(\w+)', body)}


@pytest.mark.parametrize("name", MODELS)
def test_form(name, tmp_path):
    """Brackets balance, blocks close, strings end, names are Julia's, sizes fit."""
    text = lg.to_julia(MODELS[name](), tmp_path / name).read_text()
    got = Reader(text)
    for a, b in ("()", "[]", "{}"):
        assert got.code.count(a) == got.code.count(b)
    assert got.code.count('"') % 2 == 0
    assert len(re.findall(r"^module \w+$", got.code, re.M)) == len(re.findall(r"^end$", got.code, re.M)) == 1
    assert not any(line.strip().startswith(("exit", "lines")) for line in got.code.splitlines())
    assert "$(" not in re.sub(r"\\\$", "", text)
    names = got.elements()
    assert all(re.fullmatch(r"[A-Za-z_]\w*", n) and n not in JULIA_RESERVED for n in names)
    sizes = [(r.stop - r.start, c.stop - c.start) for r, c in got.parts()]
    a, b1, b2, c1, c2, d11, d12, d21, d22 = sizes
    assert a[0] == a[1] == b1[0] == b2[0] == c1[1] == c2[1]
    assert d11 == (c1[0], b1[1])
    assert d12 == (c1[0], b2[1])
    assert d21 == (c2[0], b1[1])
    assert d22 == (c2[0], b2[1])
    assert got.matrix().shape == (a[0] + c1[0] + c2[0], a[0] + b1[1] + b2[1])


@pytest.mark.parametrize("name", MODELS)
def test_values(name, tmp_path):
    """M to the last bit of what was normalised; F_u with the file's own normalisation is the model at twenty points."""
    model = MODELS[name]()
    got = Reader(lg.to_julia(model, tmp_path / name).read_text())
    M, elements, normalize, back = got.matrix(), got.elements(), got.normalize(), got.names()
    A, B1, B2, C1, C2, D11, D12, D21, D22 = (M[p] for p in got.parts())
    rng = np.random.default_rng(8)
    bounds = {b.name: b.bound for b in model.delta}
    for _ in range(20):
        point = random_point(rng, model)
        blocks = []
        for element, repetitions in got.deltas():
            value = point[back[element]]
            if element in normalize:
                value = normalize[element](value)
                assert abs(value) <= 1 + 1e-12
            else:
                value = np.asarray(value) / bounds[back[element]]
            blocks += [np.atleast_2d(value)] * repetitions
            kind, arguments = elements[element]
            if kind == "δDyn":
                assert [int(v) for v in arguments[:2]] == list(np.atleast_2d(value).shape)
        w, z = B1.shape[1], C1.shape[0]
        delta, i, j = np.zeros((w, z), dtype=complex), 0, 0
        for b in blocks:
            delta[i : i + b.shape[0], j : j + b.shape[1]] = b
            i, j = i + b.shape[0], j + b.shape[1]
        assert (i, j) == (w, z)
        inner = delta @ np.linalg.inv(np.eye(z) - D11 @ delta) if z else delta
        value = np.block([[A, B2], [C2, D22]]) + np.vstack([B1, D21]) @ inner @ np.hstack([C1, D12])
        assert error(value, ports(model, point)) < 1e-10


def test_numbers_and_normalised_matrix():
    """Literals read back; a model that is normalised already goes over bit for bit."""
    rng = np.random.default_rng(5)
    bits = rng.integers(0, 2**63, size=2000, dtype=np.int64).view(np.float64)
    assert all(float(number(v)).hex() == float(v).hex() for v in bits[np.isfinite(bits)])


def test_matrix_is_that_of_normalized(tmp_path):
    """M is plant.normalized().M where no nominal lies on an edge."""
    model = MODELS["normalised"]()
    assert np.array_equal(Reader(lg.to_julia(model, tmp_path / "a").read_text()).matrix(), model.M)


def test_what_is_refused(tmp_path):
    """Full real blocks, free symbols, wrong types and targets, by name."""
    c = sp.Symbol("c")
    with pytest.raises(lg.ModelError, match="to_julia: Real is a full real block"):
        lg.to_julia(_random(1, (1, 1), others=[FULL_REAL]), tmp_path / "x")
    with pytest.raises(lg.ModelError, match=r"to_julia: .*free symbols \(c\)"):
        lg.to_julia(lg.realize([[c * MASS]]), tmp_path / "x")
    with pytest.raises(lg.ModelError, match="to_julia writes an LFT, got None"):
        lg.to_julia(None, tmp_path / "x")
    with pytest.raises(lg.ModelError, match="cannot write"):
        lg.to_julia(lg.realize([[MASS]]), tmp_path / "absent" / "x")
    assert not list(tmp_path.iterdir())
