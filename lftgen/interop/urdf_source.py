"""XML of robot files as plain nodes with lines; no entities, no document types, nothing fetched, bounded size."""

from __future__ import annotations

import io
import math
import re
import xml.sax.handler
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.sax import SAXException

from lftgen.errors import ModelError

MAX_BYTES = 8_000_000
"""Largest file that is read; a robot of a hundred joints has a quarter of a megabyte."""
MAX_NODES = 60_000
"""Most elements of a file."""
MAX_DEPTH = 40
"""Deepest nesting of elements."""
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


@dataclass(frozen=True)
class Node:
    """An element: its tag, attributes, children and line."""

    label: str
    tag: str
    attributes: dict[str, str]
    line: int
    children: list[Node] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text between the tags."""
        return "".join(self.texts).strip()

    def error(self, message: str) -> ModelError:
        """An error that begins with file and line."""
        return ModelError(f"{self.label}:{self.line}: {message}")

    def all(self, tag: str) -> Iterator[Node]:
        """Children of one tag."""
        return (c for c in self.children if c.tag == tag)

    def one(self, tag: str, what: str) -> Node | None:
        """The only child of a tag, or None; two are an error."""
        found = list(self.all(tag))
        if len(found) > 1:
            raise found[1].error(
                f"{what}: expected one <{tag}>, came {len(found)} (the first in line {found[0].line})"
            )
        return found[0] if found else None

    def needed(self, attribute: str, what: str) -> str:
        """A text attribute that must be there and not be empty."""
        value = self.attributes.get(attribute, "").strip()
        if not value:
            raise self.error(f"{what}: expected <{self.tag} {attribute}=...>, it is missing or empty")
        return value

    def number(self, attribute: str, what: str, default: float | None = None) -> float:
        """A finite number; without default it must be there."""
        if attribute not in self.attributes and default is not None:
            return default
        return self._number(self.needed(attribute, what), f"{what}: <{self.tag} {attribute}>")

    def numbers(self, attribute: str, what: str, default: Sequence[float]) -> tuple[float, ...]:
        """As many finite numbers as the default has."""
        text = self.attributes.get(attribute)
        if text is None:
            return tuple(default)
        parts = text.split()
        if len(parts) != len(default):
            raise self.error(
                f"{what}: <{self.tag} {attribute}>: expected {len(default)} numbers, came {_short(text)}"
            )
        return tuple(self._number(p, f"{what}: <{self.tag} {attribute}>") for p in parts)

    def _number(self, text: str, what: str) -> float:
        value = float(text) if _NUMBER.fullmatch(text) else math.nan
        if math.isfinite(value):
            return value
        advice = "; expand the file with xacro first" if "${" in text or "$(" in text else ""
        raise self.error(f"{what}: expected a finite number, came {_short(text)}{advice}")


def read_xml(path: str | Path, root: str) -> Node:
    """The root element of an XML file.

    Parameters
    ----------
    path : str or Path
    root : str
        Tag that the root element must have.

    Raises
    ------
    ModelError
        Not a readable, regular file; too large; not well-formed; a document type or entity; another root.
    """
    label, data = str(path), _bytes(Path(path))
    handler = _Handler(label)
    _parse(data, handler, label)
    node = handler.root
    if node is None:
        raise ModelError(f"{label}: expected XML with the element <{root}>, the file has no element")
    if node.tag != root:
        other = {
            "mujoco": "; read it with read_mjcf",
            "sdf": "; SDF is not supported, convert it to URDF",
            "robot": "; read it with read_urdf",
        }
        raise node.error(f"expected the element <{root}>, came <{node.tag}>{other.get(node.tag, '')}")
    return node


def _bytes(path: Path) -> bytes:
    try:
        if path.exists() and not path.is_file():
            raise ModelError(f"{path}: expected a file, came a folder or a device")
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise ModelError(f"cannot read {path}: {error.strerror or error}") from error
    except ValueError as error:  # a null byte in the path
        raise ModelError(f"cannot read {str(path)!r}: {error}") from error
    if len(data) > MAX_BYTES:
        raise ModelError(f"{path}: the file is larger than {MAX_BYTES} bytes; files that large are not read")
    return data


def _parse(data: bytes, handler: _Handler, label: str) -> None:
    from defusedxml import DefusedXmlException
    from defusedxml.sax import parse

    try:
        parse(io.BytesIO(data), handler, forbid_dtd=True)
    except DefusedXmlException as error:
        raise ModelError(
            f"{label}:{handler.line}: document types and entities are refused ({type(error).__name__}); "
            "remove <!DOCTYPE ...> from the file"
        ) from error
    except SAXException as error:
        line = getattr(error, "getLineNumber", lambda: handler.line)()
        message = str(error.getMessage())
        raise ModelError(
            f"{label}:{line}: not well-formed XML ({message}{handler.open_element()}); is the file cut off?"
        ) from error
    except (UnicodeError, LookupError, ValueError) as error:
        raise ModelError(f"{label}:{handler.line}: not readable as XML ({error})") from error


class _Handler(xml.sax.handler.ContentHandler):
    """Builds nodes while the parser runs."""

    def __init__(self, label: str) -> None:
        super().__init__()
        self.label, self.root, self.stack, self.count = label, None, [], 0  # type: Any, Any, list[Node], int
        self._locator: Any = None

    def setDocumentLocator(self, locator: Any) -> None:
        self._locator = locator

    @property
    def line(self) -> int:
        """Where the parser stands."""
        return (self._locator.getLineNumber() if self._locator else None) or 1

    def open_element(self) -> str:
        """What is still open, for the message about a file that ends too early."""
        if not self.stack:
            return ""
        node = self.stack[-1]
        name = f" name={node.attributes['name']!r}" if "name" in node.attributes else ""
        return f"; <{node.tag}{name}> of line {node.line} is open"

    def startElement(self, name: str, attrs: Any) -> None:
        node = Node(self.label, name, {k: attrs[k] for k in attrs.getNames()}, self.line)
        self.count += 1
        if self.count > MAX_NODES:
            raise node.error(f"the file has more than {MAX_NODES} elements; files that large are not read")
        if len(self.stack) >= MAX_DEPTH:
            raise node.error(f"elements are nested more than {MAX_DEPTH} deep")
        if self.stack:
            self.stack[-1].children.append(node)
        else:
            self.root = node
        self.stack.append(node)

    def endElement(self, name: str) -> None:
        self.stack.pop()

    def characters(self, content: str) -> None:
        if self.stack:
            self.stack[-1].texts.append(content)


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else f"{text[:37]}...")
