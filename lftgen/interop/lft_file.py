"""Saving and loading an LFT: a JSON file, exact in both directions, plain data only.

Format ``lftgen-lft``, version 1.  ``M`` is a list of rows.  Float entries are JSON numbers in shortest round-trip form;
exact entries are ``[numerator, denominator]``, each a list of ``[coefficient, exponents]`` with the coefficient as text
``"p/q"`` and one exponent for each of the ``symbols``.  See ``docs/lft_file.md``.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import sympy as sp

from lftgen.errors import LftgenError, ModelError
from lftgen.interop.files import read_text, write_text
from lftgen.lft.data import LFTData
from lftgen.lft.field import FLOAT, ExactField, Field
from lftgen.lft.model import LFT
from lftgen.lft.structure import DeltaBlock, DeltaMap, Structure
from lftgen.parameters import Parameter, scheduled, scheduled_angle, uncertain

FORMAT, VERSION = "lftgen-lft", 1
MAX_BYTES = 200_000_000


def save(plant: LFT, path: str | Path) -> None:
    """Write an LFT to a JSON file (first to a temporary one, which is then renamed).

    Examples
    --------
    >>> import lftgen as lg, tempfile, os
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = os.path.join(folder, "gain.json")
    ...     lg.save(lg.realize([[1 / lg.uncertain("m", 2.0, percent=10)]]), file)
    ...     lg.load(file).repetitions
    {'m': 1}
    """
    if not isinstance(plant, LFT):
        raise ModelError(f"save writes an LFT, got {type(plant).__name__}")
    write_text(path, json.dumps(to_dict(plant)) + "\n")


def load(path: str | Path) -> LFT:
    """Read an LFT that :func:`save` wrote.

    Raises
    ------
    ModelError
        What is no such file, or a damaged one.
    """
    text = read_text(path, limit=MAX_BYTES)
    try:
        content = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise ModelError(f"{path} is not JSON: {error}") from error
    try:
        return from_dict(content)
    except LftgenError as error:
        raise ModelError(f"{path}: {error}") from error
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, ZeroDivisionError) as error:
        raise ModelError(f"{path} is not a valid {FORMAT} file: {type(error).__name__} {error}") from error


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
    if content.get("version") != VERSION:
        raise ModelError(
            f"expected version {VERSION}, got {content.get('version')!r}; a newer lftgen wrote it"
        )
    exact = content["entries"] == "exact"
    field: Field = ExactField(tuple(_symbol_from_json(s) for s in content["symbols"])) if exact else FLOAT
    rows, columns = (int(n) for n in content["shape"])
    if len(content["M"]) != rows or any(len(r) != columns for r in content["M"]):
        raise ModelError(f"M must be {rows}x{columns}")
    M = field.zeros(rows, columns)
    for i, row in enumerate(content["M"]):
        for j, value in enumerate(row):
            M[i, j] = _entry_from_json(value, field)
    states, inputs, outputs = (_names(content[k], k) for k in ("states", "inputs", "outputs"))
    structure = Structure(states, tuple(_block_from_dict(b) for b in content["blocks"]))
    return LFT(LFTData(M, structure, inputs, outputs, field))


def _names(values: Any, what: str) -> tuple[str, ...]:
    if not isinstance(values, list) or not all(isinstance(v, str) for v in values):
        raise ModelError(f"{what} must be a list of names, got {values!r}")
    return tuple(values)


def _symbol_to_json(s: sp.Symbol) -> Any:
    """The name, or [name, assumptions] where sympy was told more than that (``positive=True``)."""
    plain = sp.Symbol(s.name)
    more = {k: v for k, v in sorted(s.assumptions0.items()) if plain.assumptions0.get(k) != v}
    return [s.name, more] if more else s.name


def _symbol_from_json(value: Any) -> sp.Symbol:
    if isinstance(value, str):
        return sp.Symbol(value)
    name, more = value
    if not isinstance(name, str) or any(not isinstance(v, bool) for v in more.values()):
        raise ModelError(f"a symbol must be a name, or a name with assumptions, got {value!r}")
    try:
        return sp.Symbol(name, **more)
    except sp.core.assumptions.InconsistentAssumptions as error:
        raise ModelError(f"symbol {name}: {error}") from error


def _entry_to_json(value: Any, field: Field) -> Any:
    if not isinstance(field, ExactField):
        return float(value)
    if not field.symbols:
        return [[[str(Fraction(int(value.numerator), int(value.denominator))), []]], [["1", []]]]
    return [
        [[str(Fraction(int(c.numerator), int(c.denominator))), list(m)] for m, c in p.iterterms()]
        for p in (value.numer, value.denom)
    ]


def _entry_from_json(value: Any, field: Field) -> Any:
    if not isinstance(field, ExactField):
        return float(value)
    top, bottom = (_polynomial(terms, field) for terms in value)
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
        out["parameter"] = asdict(b.parameter.spec)
        out["map"] = asdict(b.map)
    return out


def _block_from_dict(content: dict[str, Any]) -> DeltaBlock:
    parameter = _parameter(content["name"], content["parameter"]) if "parameter" in content else None
    mapping = (
        DeltaMap(**{k: float(v) for k, v in content["map"].items()})
        if parameter is not None
        else DeltaMap(0.0)
    )
    shape = tuple(int(n) for n in content["shape"])
    return DeltaBlock(
        str(content["name"]),
        content["kind"],
        int(content["repetitions"]),
        (shape[0], shape[1]),
        parameter,
        mapping,
        float(content["bound"]),
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
