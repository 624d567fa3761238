"""YAML text: a safe subset, with the line of every field."""

import math
import time
from pathlib import Path

import pytest

from lftgen.errors import ModelError
from lftgen.interop.yaml_source import MAX_BYTES, parse_source, read_source

BAD = [
    ("a: 1\nb: 2\na: 3", "f.yaml:3: a: duplicate name, first given in line 1"),
    ("a: {b: 1,\n  b: 2}", "f.yaml:2: a.b: duplicate name"),
    ("a: &x [1]\nb: *x", "f.yaml:1: .*anchors"),
    ("a: 1\nb: *x", "f.yaml:2: .*aliases"),
    ("a: !!python/object/apply:os.system [x]", "f.yaml:1: .*tags"),
    ("a: !!float 3", "f.yaml:1: .*tags"),
    ("a: [1, 2", "f.yaml:1: not readable as YAML"),
    ("a: 1\n\tb: 2", "f.yaml:2: not readable as YAML"),
    ("a: 'x", "f.yaml:1: not readable as YAML"),
    ("a: b: c", "f.yaml:1: not readable as YAML"),
    ("---\na: 1\n---\nb: 2", "f.yaml:3: .*single document"),
    ("[[[[" * 5000, "f.yaml:1: .*nested deeper"),
    ("? [1]\n: 2", "f.yaml:1: expected a name"),
    ("a: \x07", "f.yaml: not readable as YAML"),
    ("", "f.yaml: expected a model, the file is empty"),
]

BOMB = "\n".join(
    ["a0: &a0 [x, x]"] + [f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}, *a{i - 1}, *a{i - 1}]" for i in range(1, 40)]
)


@pytest.mark.parametrize(("text", "message"), [*BAD, (BOMB, "f.yaml:1: .*anchors")])
def test_outside_the_subset(text: str, message: str) -> None:
    """Malformed or hostile text is a ModelError with file and line, at once."""
    start = time.process_time()
    with pytest.raises(ModelError, match=message):
        parse_source(text, "f.yaml")
    assert time.process_time() - start < 1.0


def test_scalars() -> None:
    """Decimal numbers are numbers, true and false are booleans, all else stays text."""
    text = "{a: 1e5, b: 010, c: 1:30, d: .nan, e: yes, f: 'x', g: -2.5, h: , i: true, j: '1', l: 2020-01-01}"
    data = parse_source(text).data
    assert math.isnan(data.pop("d"))
    expected = {"a": 1e5, "b": "010", "c": "1:30", "e": "yes", "f": "x", "g": -2.5, "h": None, "i": True}
    assert data == {**expected, "j": "1", "l": "2020-01-01"}
    assert type(data["a"]) is float


def test_lines_of_fields() -> None:
    """A field is found at its own line, an absent one at the line of what surrounds it."""
    source = parse_source("a:\n  b:\n    c: 1\n  d: [1,\n   2]\n", "f.yaml")
    assert source.where(("a", "b", "c")) == "f.yaml:3: a.b.c"
    assert source.where(("a", "d", 1)) == "f.yaml:5: a.d[1]"
    assert source.where(("a", "b", "missing")) == "f.yaml:2: a.b.missing"


def test_files(tmp_path: Path) -> None:
    """A missing, oversized or binary file and a folder are ModelErrors that name the file."""
    large, binary = tmp_path / "large.yaml", tmp_path / "binary.yaml"
    large.write_bytes(b"a: 1\n" * MAX_BYTES)
    binary.write_bytes(b"\xff\xfe\x00\x01")
    missing = tmp_path / "none.yaml"
    cases = [(large, "KiB"), (binary, "UTF-8"), (tmp_path, "folder"), (missing, "no such file")]
    for path, message in cases:
        with pytest.raises(ModelError, match=message) as caught:
            read_source(path)
        assert path.name in str(caught.value)
