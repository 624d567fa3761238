"""Saving and loading an LFT: a JSON file, exact in both directions, plain data only.

Format ``lftgen-lft``, version 1, described in ``docs/lft_file.md`` and by the JSON Schema ``lft_schema.json`` beside this
file, against which the reader checks.  ``M`` is a list of rows.  Float entries are JSON numbers in shortest round-trip
form; exact entries are ``[numerator, denominator]``, each a list of ``[coefficient, exponents]`` with the coefficient as
text ``"p/q"`` and one exponent for each of the ``symbols``.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from fractions import Fraction
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import sympy as sp

from lftgen.errors import LftgenError, ModelError
from lftgen.interop import json_data
from lftgen.interop.files import as_path, read_text, write_files
from lftgen.lft.data import LFTData
from lftgen.lft.field import FLOAT, ExactField, Field
from lftgen.lft.model import LFT
from lftgen.lft.structure import DeltaBlock, DeltaMap, Structure
from lftgen.parameters import Parameter, scheduled, scheduled_angle, uncertain

FORMAT, VERSION = "lftgen-lft", 1
MAX_BYTES = 16_000_000


def save(plant: LFT, path: str | Path) -> None:
    """Write an LFT to a JSON file (first to a temporary one, which is then renamed).

    Raises
    ------
    ModelError
        No LFT, a target that cannot be written, a model beyond the limits of the format (16 MB).

    Examples
    --------
    >>> import lftgen as lg, tempfile, os
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = os.path.join(folder, "gain.json")
    ...     lg.save(lg.realize([[1 / lg.uncertain("m", 2.0, percent=10)]]), file)
    ...     lg.load(file).repetitions
    {'m': 1}
    """
    write_files({as_path(path): _text(plant, "save")})


def lft_files(plant: LFT, path: str | Path) -> dict[Path, str | bytes]:
    """What an export writes: contents by file; the ending ``.json`` is added where there is none."""
    target = as_path(path)
    target = target if target.suffix == ".json" else target.with_name(f"{target.name}.json")
    return {target: _text(plant, "export")}


def _text(plant: Any, writer: str) -> str:
    if not isinstance(plant, LFT):
        raise ModelError(f"{writer} writes an LFT, got {plant!r:.60} ({type(plant).__name__})")
    try:
        text = json.dumps(to_dict(plant)) + "\n"
    except ValueError as error:  # an integer of more digits than Python writes
        raise ModelError(f"{writer}: an exact entry of M is too large for the file ({error})") from error
    try:
        if len(text) > MAX_BYTES:
            raise ModelError(f"{len(text)} bytes; more than {MAX_BYTES} are not read")
        json_data.check_size(text)
    except ModelError as error:
        raise ModelError(
            f"{writer}: the file would have {error}. Reduce the model, or take float entries: plant.to_float()"
        ) from error
    return text


def load(path: str | Path) -> LFT:
    """Read an LFT that :func:`save` wrote.

    Raises
    ------
    ModelError
        What is no such file, or a damaged one, or one of another version; the message names file, field, what was
        expected and what came.
    """
    text = read_text(path, limit=MAX_BYTES)
    try:
        return from_dict(json_data.parse(text))
    except LftgenError as error:
        raise ModelError(f"{path}: {error}") from error
    except (TypeError, ValueError, ArithmeticError) as error:
        raise ModelError(f"{path} is not a valid {FORMAT} file: {type(error).__name__} {error}") from error


@cache
def lft_schema() -> dict[str, Any]:
    """The JSON Schema of LFT files, as shipped with the package.

    Examples
    --------
    >>> lft_schema()["properties"]["version"]
    {'const': 1}
    """
    text = resources.files("lftgen.interop").joinpath("lft_schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def to_dict(plant: LFT) -> dict[str, Any]:
    """An LFT as plain JSON data."""
    data = plant.data
    return {
        "format": FORMAT,
        "version": VERSION,
        "states": list(plant.states),
        "inputs": list(plant.inputs),
        "outputs": list(plant.outputs),
        "blocks": [_block_to_dict(b) for b in plant.delta],
        "entries": "exact" if data.field.exact else "float",
        "symbols": [_symbol_to_json(s) for s in data.field.symbols],
        "M": [[_entry_to_json(v, data.field) for v in row] for row in data.M],
        "shape": list(data.M.shape),
    }


def from_dict(content: Any) -> LFT:
    """An LFT from what :func:`to_dict` gives."""
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ModelError(f'expected a file with "format": "{FORMAT}"')
    version = content.get("version")
    if version != VERSION or isinstance(version, bool):
        raise ModelError(
            f"expected version {VERSION} of {FORMAT}, got {json_data.shown(version)}; another lftgen wrote it"
        )
    _check_schema(content)
    exact = content["entries"] == "exact"
    field: Field = ExactField(tuple(_symbol_from_json(s) for s in content["symbols"])) if exact else FLOAT
    structure = Structure(tuple(content["states"]), tuple(_block_from_dict(b) for b in content["blocks"]))
    inputs, outputs = tuple(content["inputs"]), tuple(content["outputs"])
    rows, columns = content["shape"]
    wanted = [structure.n_rows + len(outputs), structure.n_columns + len(inputs)]
    if [rows, columns] != wanted:
        raise ModelError(
            f"shape: expected {wanted} from the states, blocks, inputs and outputs, came {[rows, columns]}"
        )
    return LFT(LFTData(_matrix(content["M"], rows, columns, field), structure, inputs, outputs, field))


def _check_schema(content: dict[str, Any]) -> None:
    """Everything against the schema; the entries of M only where they are not plain numbers."""
    schema = lft_schema()
    entries = content.get("M")
    plain = isinstance(entries, list) and all(
        isinstance(r, list) and all(type(v) in (int, float) for v in r) for r in entries
    )
    json_data.check({**content, "M": []} if plain else content, schema, schema)
    if content["entries"] == "exact" and plain and any(entries or ()):
        raise ModelError("M: expected exact entries [numerator, denominator], came numbers")
    if content["entries"] == "float" and not plain:
        raise ModelError("M: expected numbers, came exact entries")


def _matrix(rows: list[list[Any]], n: int, m: int, field: Field) -> np.ndarray:
    if len(rows) != n or any(len(r) != m for r in rows):
        raise ModelError(
            f"M must be {n}x{m}, came {len(rows)} rows of {sorted({len(r) for r in rows})} entries"
        )
    if not isinstance(field, ExactField):
        return np.array(rows, dtype=float).reshape(n, m)
    M = field.zeros(n, m)
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            M[i, j] = _entry_from_json(value, field)
    return M


def _symbol_to_json(s: sp.Symbol) -> Any:
    """The name, or [name, assumptions] where sympy was told more than that (``positive=True``)."""
    plain = sp.Symbol(s.name)
    more = {k: v for k, v in sorted(s.assumptions0.items()) if plain.assumptions0.get(k) != v}
    return [s.name, more] if more else s.name


def _symbol_from_json(value: Any) -> sp.Symbol:
    if isinstance(value, str):
        return sp.Symbol(value)
    name, more = value
    try:
        return sp.Symbol(name, **more)
    except (sp.core.assumptions.InconsistentAssumptions, TypeError, ValueError) as error:
        raise ModelError(f"symbol {json_data.shown(name)}: {error}") from error


def _entry_to_json(value: Any, field: Field) -> Any:
    if not isinstance(field, ExactField):
        return float(value)
    if not field.symbols:
        return [[[str(Fraction(int(value.numerator), int(value.denominator))), []]], [["1", []]]]
    return [
        [[str(Fraction(int(c.numerator), int(c.denominator))), list(m)] for m, c in p.iterterms()]
        for p in (value.numer, value.denom)
    ]


def _entry_from_json(value: Any, field: ExactField) -> Any:
    top, bottom = (_polynomial(terms, field) for terms in value)
    if not bottom:
        raise ModelError("M: an exact entry has the denominator zero")
    return top / bottom


def _polynomial(terms: Any, field: ExactField) -> Any:
    generators = [field.domain.from_sympy(s) for s in field.symbols]
    total = field.domain.zero
    for text, exponents in terms:
        number = Fraction(text)
        term = field.element(sp.Rational(number.numerator, number.denominator))
        for g, e in zip(generators, exponents, strict=True):
            term = term * g ** int(e)
        total = total + term
    return total


def _block_to_dict(b: DeltaBlock) -> dict[str, Any]:
    out: dict[str, Any] = {
        "name": b.name,
        "kind": b.kind,
        "repetitions": b.repetitions,
        "shape": list(b.shape),
        "bound": b.bound,
    }
    if b.parameter is not None:
        rate = b.parameter.rate
        out["parameter"] = asdict(b.parameter.spec) | {"rate": list(rate) if rate is not None else None}
        out["map"] = asdict(b.map)
    return out


def _block_from_dict(content: dict[str, Any]) -> DeltaBlock:
    name: str = content["name"]
    rows, columns = content["shape"]
    parameter = _parameter(name, content["parameter"]) if "parameter" in content else None
    mapping = DeltaMap(**{k: float(v) for k, v in content.get("map", {"origin": 0.0}).items()})
    bound = float(content["bound"])
    return DeltaBlock(
        name, content["kind"], content["repetitions"], (rows, columns), parameter, mapping, bound
    )


def _parameter(name: str, spec: dict[str, Any]) -> Parameter:
    """Through the public constructors, so that a damaged range is an error by name."""
    bounds = (spec["lower"], spec["upper"])
    rate = tuple(spec["rate"]) if spec["rate"] is not None else None
    if spec["role"] == "uncertain":
        return uncertain(name, spec["nominal"], bounds=bounds, unit=spec["unit"])
    if spec["chart"] is None:
        return scheduled(name, bounds, nominal=spec["nominal"], unit=spec["unit"], rate=rate)
    return scheduled_angle(
        name,
        bounds,
        nominal=spec["nominal"],
        center=spec["center"],
        chart=spec["chart"],
        unit=spec["unit"],
        rate=rate,
    )
