"""Errors of pydantic and of the core, said again with file, line and field."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pydantic import ValidationError

from lftgen.errors import LftgenError, ModelError
from lftgen.interop import model_schema
from lftgen.interop.expressions import suggestion
from lftgen.interop.yaml_source import FieldPath, Source

MAX_REPORTED = 10
"""Most problems of one file that a message lists."""


def schema_error(error: ValidationError, source: Source) -> ModelError:
    """Return one ModelError with a line for each problem that pydantic found."""
    problems = [_problem(detail, source) for detail in error.errors(include_url=False)]
    problems.sort(key=lambda problem: problem[0])
    shown = [text for _, text in problems[:MAX_REPORTED]]
    if len(problems) > MAX_REPORTED:
        shown.append(f"and {len(problems) - MAX_REPORTED} more")
    return ModelError("\n".join(shown))


@contextmanager
def placed(source: Source, path: FieldPath, inside: Mapping[str, FieldPath] | None = None) -> Iterator[None]:
    """Put file, line and field in front of an error of the core; its class stays.

    ``inside`` gives the paths of words that the message may speak of; the first one in it is the place.
    """
    try:
        yield
    except LftgenError as error:
        text = str(error)
        found = {word: re.search(rf"\b{re.escape(word)}\b", text) for word in inside or ()}
        starts = {word: match.start() for word, match in found.items() if match}
        first = min(starts, key=lambda word: starts[word], default=None)
        where = source.where(inside[first] if inside and first else path)
        error.args = (f"{where}: {text}",)
        raise


def _problem(detail: Any, source: Source) -> tuple[int, str]:
    """Return the line and the message of one problem."""
    path = _file_path(detail["loc"], source.data)
    message = _message(detail, path, source.data)
    where = source.where(path)
    return int(where.removeprefix(source.label + ":").split(":")[0]), f"{where}: {message}"


def _file_path(location: tuple[str | int, ...], data: Any) -> FieldPath:
    """Drop what pydantic adds to a location: the tags of unions and "[key]"."""
    path: list[str | int] = []
    for i, part in enumerate(location):
        inside = isinstance(data, Mapping) and part in data
        listed = isinstance(data, list) and isinstance(part, int) and part < len(data)
        if inside or listed:
            path.append(part)
            data = data[part]
        elif part != "[key]" and i == len(location) - 1:
            path.append(part)
    return tuple(path)


def _message(detail: Any, path: FieldPath, data: Any) -> str:
    kind, context = detail["type"], detail.get("ctx", {})
    came = model_schema.shown(detail.get("input"))
    if kind == "extra_forbidden":
        return f"unknown field {path[-1]!r}{suggestion(path[-1], _known_fields(path, data))}"
    if kind == "missing":
        return "expected this field, it is missing"
    if kind == "value_error":
        return str(context["error"])
    if kind == "union_tag_not_found":
        return _types(path, "none")
    if kind == "union_tag_invalid":
        return _types(path, repr(context["tag"]))
    if kind == "string_pattern_mismatch":
        return f"expected a name of letters, digits and underscores that begins with a letter, came {came}"
    if kind == "literal_error" and path == ("lftgen",):
        return f"expected the file format version {model_schema.FORMAT_VERSION}, came {came}"
    expected = {
        "dict_type": "a mapping of names to fields",
        "model_type": "a mapping of fields",
        "model_attributes_type": "a mapping of fields",
        "list_type": "a list of names",
        "string_type": "a text",
        "bool_parsing": "true or false",
        "bool_type": "true or false",
        "too_short": "at least one entry",
        "literal_error": context.get("expected", ""),
    }.get(kind)
    return f"expected {expected}, came {came}" if expected else f"{detail['msg']}, came {came}"


def _types(path: FieldPath, came: str) -> str:
    return f"expected a field 'type', one of {', '.join(_tables()[str(path[0])])}; came {came}"


def _tables() -> dict[str, Mapping[str, Any]]:
    """Return the models by ``type`` of each section that has types."""
    return {
        "parameters": model_schema.PARAMETER_FIELDS,
        "joints": model_schema.joint_fields(),
        "loads": model_schema.load_fields(),
    }


def _known_fields(path: FieldPath, data: Any) -> Iterable[str]:
    """Return the fields that the mapping around an unknown field knows."""
    if len(path) == 1:
        return model_schema.document_fields().model_fields
    section, name = str(path[0]), path[1]
    if section == "bodies":
        return (model_schema.RotorFields if "rotors" in path else model_schema.BodyFields).model_fields
    table = _tables().get(section, {})
    tag = data[section][name].get("type")
    return table[tag].model_fields if tag in table else ()
