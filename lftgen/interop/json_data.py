"""Reading JSON that strangers wrote: limits, no surprises of the format, and a schema that names what is wrong.

The schema is read by a small interpreter of what the shipped schemas use of JSON Schema (2020-12), so that the published
file and the reader cannot disagree.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from lftgen.errors import ModelError

MAX_BRACKETS = 1_000_000
"""Lists and objects in one file; more are not parsed."""
MAX_VALUES = 1_500_000
"""Values in one file, counted by their commas; more are not parsed."""
_TYPES: dict[str, Callable[[Any], bool]] = {
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "boolean": lambda v: isinstance(v, bool),
    "null": lambda v: v is None,
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool) and abs(v) < math.inf,
}


def parse(text: str) -> Any:
    """JSON text as plain data.

    Raises
    ------
    ModelError
        No JSON, cut off, nested too deeply, too many brackets, a name given twice, NaN or an infinity.

    Examples
    --------
    >>> parse('{"a": [1, 2.5]}')
    {'a': [1, 2.5]}
    """
    check_size(text)
    try:
        return json.loads(text, object_pairs_hook=_without_doubles, parse_constant=_refused)
    except json.JSONDecodeError as error:
        raise ModelError(f"line {error.lineno}, column {error.colno}: not JSON: {error.msg}") from error
    except RecursionError as error:
        raise ModelError("not JSON that can be read: nested too deeply") from error
    except ValueError as error:  # an integer of more digits than Python reads
        raise ModelError(f"not JSON that can be read: {error}") from error


def check_size(text: str) -> None:
    """Refuse a text that would take long to parse, by counting its brackets and commas.

    Raises
    ------
    ModelError
    """
    for what, count, limit in (
        ("lists and objects", text.count("[") + text.count("{"), MAX_BRACKETS),
        ("values", text.count(","), MAX_VALUES),
    ):
        if count > limit:
            raise ModelError(f"{count} {what}; more than {limit} are not read")


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) < len(pairs):
        names = [name for name, _ in pairs]
        double = next(n for n in names if names.count(n) > 1)
        raise ModelError(f"the field {shown(double)} is given twice in one object")
    return out


def _refused(text: str) -> Any:
    raise ModelError(f"{text} is no number of JSON; expected finite numbers")


def check(value: Any, schema: Any, root: Mapping[str, Any], where: str = "") -> None:
    """Check plain data against a schema.

    Raises
    ------
    ModelError
        With the place (``blocks[0].kind``), what was expected and what came.
    """
    problem = _problem(value, schema, root, where)
    if problem:
        raise ModelError(problem)


def _problem(value: Any, schema: Any, root: Mapping[str, Any], where: str) -> str:
    """The first thing wrong, or an empty text."""
    if schema is False:
        return f"{_at(where)}not allowed here"
    if "$ref" in schema:
        return _problem(value, root["$defs"][schema["$ref"].rsplit("/", 1)[1]], root, where)
    for rule in (_scalar_problem, _array_problem, _object_problem, _choice_problem):
        problem = rule(value, schema, root, where)
        if problem:
            return problem
    return ""


def _scalar_problem(value: Any, s: Any, root: Any, where: str) -> str:
    if "type" in s and not _TYPES[s["type"]](value):
        return f"{_at(where)}expected {_article(s['type'])}, came {shown(value)}"
    if "const" in s and (value != s["const"] or isinstance(value, bool)):
        return f"{_at(where)}expected {shown(s['const'])}, came {shown(value)}"
    if "enum" in s and not any(value == v and type(value) is type(v) for v in s["enum"]):
        return f"{_at(where)}expected one of {', '.join(map(shown, s['enum']))}, came {shown(value)}"
    low, high = s.get("minimum", -math.inf), s.get("maximum", math.inf)
    if ("minimum" in s or "maximum" in s) and not low <= value <= high:
        return f"{_at(where)}expected a number from {low} to {high}, came {shown(value)}"
    if "exclusiveMinimum" in s and not value > s["exclusiveMinimum"]:
        return f"{_at(where)}expected a number above {s['exclusiveMinimum']}, came {shown(value)}"
    if "maxLength" in s and len(value) > s["maxLength"]:
        return f"{_at(where)}expected a text of at most {s['maxLength']} characters, came {shown(value)}"
    if "pattern" in s and not re.search(s["pattern"].replace("$", r"\Z"), value):
        return f"{_at(where)}expected a text of the form {s['pattern']}, came {shown(value)}"
    return ""


def _array_problem(value: Any, s: Any, root: Any, where: str) -> str:
    if not isinstance(value, list):
        return ""
    low, high = s.get("minItems", 0), s.get("maxItems", math.inf)
    if not low <= len(value) <= high:
        wanted = f"{low}" if low == high else f"at most {high}" if not low else f"{low} to {high}"
        return f"{_at(where)}expected {wanted} members, came {len(value)}"
    first = s.get("prefixItems", [])
    for k, member in enumerate(value):
        rule = first[k] if k < len(first) else s.get("items", {})
        problem = _problem(member, rule, root, f"{where}[{k}]") if rule else ""
        if problem:
            return problem
    return ""


def _object_problem(value: Any, s: Any, root: Any, where: str) -> str:
    if not isinstance(value, dict):
        return ""
    missing = [k for k in s.get("required", ()) if k not in value]
    if missing:
        return f"{_at(where)}the field {shown(missing[0])} is missing"
    fields = s.get("properties", {})
    for key, member in value.items():
        rule = fields.get(key, s.get("additionalProperties", {}))
        if rule is False and key not in fields:
            return f"{_at(where)}unknown field {shown(key)}"
        problem = _problem(member, rule, root, f"{where}.{key}" if where else key)
        if problem:
            return problem
    return ""


def _choice_problem(value: Any, s: Any, root: Any, where: str) -> str:
    if "anyOf" not in s:
        return ""
    problems = [_problem(value, choice, root, where) for choice in s["anyOf"]]
    if not all(problems):
        return ""
    return min(dict.fromkeys(problems), key=lambda p: ("expected" in p.split(",")[0], len(p)))


def shown(value: Any) -> str:
    """A value as it stands in JSON, cut short."""
    text = json.dumps(value)[:61] if not isinstance(value, (list, dict)) else ""
    if text:
        return text if len(text) <= 60 else f"{text[:57]}..."
    return f"{'a list' if isinstance(value, list) else 'an object'} of {len(value)}"


def _at(where: str) -> str:
    return f"{where}: " if where else ""


def _article(kind: str) -> str:
    return {"array": "a list", "integer": "a whole number", "object": "an object", "null": "null"}.get(
        kind, {"string": "a text", "boolean": "true or false"}.get(kind, f"a {kind}")
    )
