"""YAML text -> plain data, with the line of every field kept for the error messages.

A subset of YAML is enough for a model and leaves no room for surprises: mappings, lists and scalars. Anchors,
aliases, tags, repeated keys, several documents, deep nesting and large files are errors. ``true`` and
``false`` are the only booleans; a scalar is a number only where it is a decimal number.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from lftgen.errors import ModelError

MAX_BYTES = 256 * 1024
"""Largest file read."""
MAX_NESTING = 20
"""Deepest nesting of mappings and lists."""

FieldPath = tuple[str | int, ...]

_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?([0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))([eE][-+]?[0-9]+)?")
_SPECIAL = {".nan": "nan", ".inf": "inf", "+.inf": "inf", "-.inf": "-inf"}


@dataclass(frozen=True)
class Source:
    """A YAML document: plain data and the line at which each field stands.

    Attributes
    ----------
    label : str
        Name of the file as it is shown in messages.
    data : object
        Dictionaries, lists, strings, numbers, booleans and None.
    lines : dict
        Line (from 1) of every field, by its path: ``("bodies", "B1", "mass")``.
    """

    label: str
    data: Any
    lines: dict[FieldPath, int] = field(repr=False)

    def where(self, path: FieldPath) -> str:
        """Return "file:line: field" of a field, or of the nearest field around it that is in the file."""
        known = tuple(path)
        while known and known not in self.lines:
            known = known[:-1]
        line = self.lines.get(known, 1)
        name = field_name(path)
        return f"{self.label}:{line}: {name}" if name else f"{self.label}:{line}"

    def error(self, path: FieldPath, message: str) -> ModelError:
        """Return a ModelError that begins with the place of a field."""
        return ModelError(f"{self.where(path)}: {message}")


def field_name(path: FieldPath) -> str:
    """Return a path as it is written in messages.

    Examples
    --------
    >>> field_name(("bodies", "B1", "com", 2))
    'bodies.B1.com[2]'
    """
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.removeprefix(".")


def read_source(path: str | Path) -> Source:
    """Read a YAML file.

    Raises
    ------
    ModelError
        The file is missing, too large, not UTF-8 or not YAML of the subset; the message names file and line.
    """
    path = Path(path)
    label = str(path)
    try:
        if not path.is_file():
            raise ModelError(
                f"{label}: expected a YAML file, found {'a folder' if path.is_dir() else 'no such file'}"
            )
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise ModelError(f"{label}: expected at most {MAX_BYTES // 1024} KiB, came {size // 1024} KiB")
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ModelError(
            f"{label}: expected UTF-8 text, came byte {error.object[error.start]:#04x}"
        ) from None
    except (OSError, ValueError) as error:
        raise ModelError(f"{label}: cannot be read ({error})") from None
    return parse_source(text, label)


def parse_source(text: str, label: str = "<text>") -> Source:
    """Read YAML text; see `read_source`.

    Examples
    --------
    >>> parse_source("a: {b: 1e-3}").data
    {'a': {'b': 0.001}}
    """
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f"{mark.line + 1}" if mark else "1"
        problem = " ".join(str(part) for part in (error.context, error.problem) if part)
        raise ModelError(f"{label}:{line}: not readable as YAML: {problem}") from None
    except yaml.YAMLError as error:
        raise ModelError(f"{label}: not readable as YAML: {' '.join(str(error).split())}") from None
    if node is None:
        raise ModelError(f"{label}: expected a model, the file is empty")
    lines: dict[FieldPath, int] = {}
    return Source(label, _construct(node, (), lines, label), lines)


class _Loader(yaml.SafeLoader):
    """PyYAML's safe composer that refuses aliases, tags and deep nesting before it follows them."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.nesting = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        event = self.peek_event()
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise yaml.MarkedYAMLError(
                problem="anchors and aliases (& and *) are not supported; write a constant",
                problem_mark=event.start_mark,
            )
        if getattr(event, "tag", None) is not None:
            raise yaml.MarkedYAMLError(
                problem=f"tags are not supported, came {event.tag}", problem_mark=event.start_mark
            )
        if self.nesting >= MAX_NESTING:
            raise yaml.MarkedYAMLError(
                problem=f"nested deeper than {MAX_NESTING}", problem_mark=event.start_mark
            )
        self.nesting += 1
        node = super().compose_node(parent, index)
        self.nesting -= 1
        return node


def _construct(node: yaml.Node, path: FieldPath, lines: dict[FieldPath, int], label: str) -> Any:
    """Turn a composed node into plain data and record its lines."""
    lines.setdefault(path, node.start_mark.line + 1)
    if isinstance(node, yaml.ScalarNode):
        return _scalar(node)
    if isinstance(node, yaml.SequenceNode):
        return [_construct(item, (*path, i), lines, label) for i, item in enumerate(node.value)]
    result: dict[str, Any] = {}
    for key, value in node.value:
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode):
            raise ModelError(f"{label}:{line}: expected a name before ':', came a list or a mapping")
        name = str(key.value)
        if name in result:
            first = lines[(*path, name)]
            raise ModelError(
                f"{label}:{line}: {field_name((*path, name))}: duplicate name, first given in line {first}"
            )
        lines[(*path, name)] = line
        result[name] = _construct(value, (*path, name), lines, label)
    return result


def _scalar(node: yaml.ScalarNode) -> str | int | float | bool | None:
    text = str(node.value)
    if node.style is not None:
        return text
    if text in ("true", "false"):
        return text == "true"
    if text in ("", "~", "null"):
        return None
    if text in _SPECIAL:
        return float(_SPECIAL[text])
    if _INTEGER.fullmatch(text) and len(text) < 300:
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text
