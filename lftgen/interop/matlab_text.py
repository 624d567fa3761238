"""Pieces of MATLAB text: numbers that read back to the last bit, strings, matrices, comments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

WIDTH = 100


def number(value: float) -> str:
    """A number that reads back to the last bit: 15 digits where they are enough, 17 where not.

    Examples
    --------
    >>> number(0.1), number(0.1 + 0.2), number(-0.0)
    ('0.1', '0.30000000000000004', '-0')
    """
    short = f"{float(value):.15g}"
    return short if float(short) == value else f"{float(value):.17g}"


def string(text: str) -> str:
    """A character array; quotes are doubled, and control characters given by their codes.

    Examples
    --------
    >>> string("it's"), string("a\\nb")
    ("'it''s'", "['a' char(10) 'b']")
    """
    parts = [p for p in re.split(r"([\x00-\x1f\x7f])", text) if p]
    pieces = [
        f"char({ord(p)})" if ord(p[0]) < 32 or p == "\x7f" else "'" + p.replace("'", "''") + "'"
        for p in parts
    ]
    return (
        pieces[0] if len(pieces) == 1 and pieces[0][0] == "'" else f"[{' '.join(pieces)}]" if pieces else "''"
    )


def strings(texts: Iterable[str]) -> str:
    """A cell row of character arrays, wrapped."""
    items = [string(t) for t in texts]
    return "{" + _wrapped([f"{t}," for t in items[:-1]] + items[-1:], "    ") + "}" if items else "cell(1, 0)"


def matrix(values: Any) -> str:
    """A matrix literal, one row a line and long rows wrapped; ``zeros(m, n)`` where there is nothing in it.

    Examples
    --------
    >>> print(matrix([[1, 0.5], [0, -2]]))
    [ ...
      1 0.5; ...
      0 -2]
    """
    array = np.atleast_2d(np.asarray(values, dtype=float))
    if not array.size:
        return f"zeros({array.shape[0]}, {array.shape[1]})"
    if array.size == 1:
        return number(array[0, 0])
    rows = ["  " + _wrapped([number(v) for v in row], "    ") for row in array]
    return "[ ...\n" + "; ...\n".join(rows) + "]"


def row(values: Sequence[float]) -> str:
    """A short row of numbers."""
    return f"[{' '.join(number(v) for v in values)}]"


def comment(text: str) -> str:
    """Lines of comment; what could end a comment line early becomes a space."""
    lines = [re.sub(r"[\x00-\x1f\x7f\x85\u2028\u2029]", " ", line).rstrip() for line in text.split("\n")]
    return "\n".join(f"% {line}".rstrip() for line in lines)


def plain(text: str) -> str:
    """A user's text within a comment: on one line."""
    return re.sub(r"[\x00-\x1f\x7f\x85\u2028\u2029]", " ", text)


def _wrapped(parts: Sequence[str], indent: str) -> str:
    lines, current = [], ""
    for part in parts:
        if current and len(current) + len(part) + 1 > WIDTH:
            lines.append(current)
            current = part
        else:
            current = f"{current} {part}" if current else part
    return f" ...\n{indent}".join([*lines, current])
