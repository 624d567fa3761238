"""The MATLAB writer: what stands in the files, and what it refuses."""

import os
import re

import numpy as np
import pytest
import scipy.io
import sympy as sp

import lftgen as lg
from lftgen.interop import matlab_text
from lftgen.interop.identifiers import is_matlab_name, matlab_name, unique_names
from lftgen.interop.matlab_model import elements_of
from tests.strategies import ANGLE, FULL_REAL, LENGTH, MASS, QUARTER, random_lft

RNG = np.random.default_rng(5)


def _model(**options):
    return random_lft(
        np.random.default_rng(1),
        (2, 2),
        states=2,
        parameters=[(MASS, 2), (LENGTH, 1), (ANGLE, 1), (QUARTER, 0)],
        **options,
    )


def _numbers(text):
    """Entries of the literal of M as MATLAB reads them: continuation dots join lines, semicolons end rows."""
    body = re.search(r"^M = \[ \.\.\.\n(.*?)\];$", text, re.DOTALL | re.MULTILINE)[1].replace("...\n", " ")
    return np.array([[float(v) for v in row.split()] for row in body.split(";")])


def test_numbers_read_back_to_the_last_bit(tmp_path):
    """Random bit patterns of doubles, written and read, are the same bits; so is the whole M."""
    bits = RNG.integers(0, 2**63, size=4000, dtype=np.int64).view(np.float64)
    values = bits[np.isfinite(bits)]
    assert all(float(matlab_text.number(v)).hex() == float(v).hex() for v in values)
    model = lg.realize(values[:300].reshape(3, 100) * 1e-200)
    text = lg.to_matlab(model, tmp_path / "wide")[0].read_text()
    assert np.array_equal(_numbers(text), model.M)
    assert max(map(len, text.splitlines())) < 160


def test_mat_file_holds_everything_and_is_repeatable(tmp_path):
    """M, names (Greek ones as well), blocks with maps; two writes give the same bytes."""
    model = _model().rename(inputs=["θ", "it's"])
    first = [p.read_bytes() for p in lg.to_matlab(model, tmp_path / "model")]
    assert [p.read_bytes() for p in lg.to_matlab(model, tmp_path / "model.m")] == first
    got = scipy.io.loadmat(tmp_path / "model.mat", simplify_cells=True)
    assert np.array_equal(got["M"], model.M)
    assert list(got["inputs"]) == ["θ", "it's"]
    assert [b["matlab_name"] for b in got["blocks"]] == ["m", "L", "theta_t", "phi_t"]
    angle = got["blocks"][2]
    assert (angle["unit"], angle["chart"], angle["center"]) == ("deg", "half", ANGLE.center)
    assert list(got["blocks"][1]["rate"]) == list(LENGTH.rate)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["model.m", "model.mat"]


def test_text_is_explained(tmp_path):
    """The file tells about angles, skewed nominals, nominals on an edge and constants, only where there are any."""
    edge = lg.uncertain("edge", 1.0, bounds=(1.0, 2.0))
    fixed = lg.uncertain("fixed", 3.0, bounds=(3.0, 3.0))
    text = lg.to_matlab(lg.realize([[edge * fixed * sp.sin(ANGLE), MASS]]), tmp_path / "all_kinds")[
        0
    ].read_text()
    for words in (
        "theta_t = tan((theta - 10)*(pi/180)/2)",
        "not the middle",
        "nominal of edge",
        "range of fixed",
    ):
        assert words in text
    plain = lg.to_matlab(lg.realize([[lg.uncertain("k", 1.0, percent=5)]]), tmp_path / "plain")[0].read_text()
    assert not re.search("angle|middle|one point", plain)


HOSTILE = "m');system('touch x');('"


def test_names_cannot_leave_their_strings(tmp_path):
    """Quotes are doubled, line ends become codes, comments stay on their line."""
    model = lg.realize([[MASS, 1]], inputs=["a\nsystem('ls')", HOSTILE], outputs=["b\r\x00\u2028"])
    unit = lg.realize([[lg.uncertain("k", 1.0, percent=5, unit="kg\nexit")]])
    text = lg.to_matlab(model, tmp_path / "names")[0].read_text()
    assert "'a' char(10) 'system(''ls'')'" in text
    assert "'m'');system(''touch x'');('''" in text
    lines = lg.to_matlab(unit, tmp_path / "unit")[0].read_text().splitlines()
    assert not any(line.lstrip().startswith("exit") for line in lines)


def test_names_of_elements():
    """Reserved words, leading digits and underscores, long and clashing names: legal, distinct, close to the old ones."""
    names = ["for", "parfor", "_a", "1a", "a-b", "a_b", "a" * 80, "a" * 81, "ä", "a", "µ", "变"]
    got = unique_names(names, matlab_name)
    assert len(set(got.values())) == len(names)
    assert all(is_matlab_name(v) for v in got.values())
    assert got["a_b"] == "a_b"
    assert got["a"] == "a"
    clash = lg.realize([[sp.sin(ANGLE) * lg.uncertain("theta_t", 1.0, percent=5)]])
    assert [e.name for e in elements_of(clash)] in (["theta_t_2", "theta_t"], ["theta_t", "theta_t_2"])


def test_full_real_blocks_warn(tmp_path):
    """MATLAB has no full real block: the larger set is announced; a single entry is a ureal and needs no warning."""
    with pytest.warns(lg.ModelWarning, match="Real: MATLAB has no full real uncertainty"):
        lg.to_matlab(random_lft(RNG, (1, 1), others=[FULL_REAL]), tmp_path / "real")
    lg.to_matlab(
        random_lft(RNG, (1, 1), others=[lg.full_block("R", (1, 1), complex=False)]), tmp_path / "single"
    )


def test_what_is_refused(tmp_path):
    """Wrong types, free symbols, overflowing entries, wrong names, folders and unwritable targets, each by name."""
    model, c = lg.realize([[MASS]]), sp.Symbol("c")
    for wrong in (None, 3, np.eye(2), "model"):
        with pytest.raises(lg.ModelError, match="to_matlab writes an LFT, got"):
            lg.to_matlab(wrong, tmp_path / "x")
    with pytest.raises(lg.ModelError, match=r"free symbols \(c\).*subs"):
        lg.to_matlab(lg.realize([[c * MASS]]), tmp_path / "x")
    with pytest.raises(lg.ModelError, match="too large"):
        lg.to_matlab(lg.realize(sp.Matrix([[sp.Integer(10) ** 400]]), exact=True), tmp_path / "x")
    for name in ("two-link", "1st", "end", "a" * 64, "_a", "a.b"):
        with pytest.raises(lg.ModelError, match="MATLAB cannot call"):
            lg.to_matlab(model, tmp_path / name)
    for path in (None, 3333, "", b"x", "a\0b"):
        with pytest.raises(lg.ModelError, match="expected the path of a file"):
            lg.to_matlab(model, path)
    with pytest.raises(lg.ModelError, match=r"cannot write .*absent"):
        lg.to_matlab(model, tmp_path / "absent" / "x")
    assert not list(tmp_path.iterdir())


def test_both_files_or_none(tmp_path):
    """Where the second file cannot be written, the first one is not there either, or is what it was."""
    model = lg.realize([[MASS]])
    (tmp_path / "x.mat").mkdir()
    with pytest.raises(lg.ModelError, match=r"x\.mat: it is a folder"):
        lg.to_matlab(model, tmp_path / "x")
    (tmp_path / "x.m").write_text("old")
    with pytest.raises(lg.ModelError, match=r"x\.mat: it is a folder"):
        lg.to_matlab(model, tmp_path / "x")
    assert (tmp_path / "x.m").read_text() == "old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["x.m", "x.mat"]


def test_a_rename_that_fails_is_taken_back(tmp_path, monkeypatch):
    """The last rename fails: new files vanish, old ones return, no temporary file stays."""
    model, real = lg.realize([[MASS]]), os.replace

    def failing(source, target):
        if str(target).endswith(".mat"):
            raise PermissionError(13, "Permission denied", str(source), None, str(target))
        real(source, target)

    monkeypatch.setattr(os, "replace", failing)
    for before in ([], ["y.m"]):
        for name in before:
            (tmp_path / name).write_text("old")
        with pytest.raises(lg.ModelError, match=r"cannot write .*y\.mat: Permission denied"):
            lg.to_matlab(model, tmp_path / "y")
        assert sorted(p.name for p in tmp_path.iterdir()) == before
        assert all((tmp_path / name).read_text() == "old" for name in before)
