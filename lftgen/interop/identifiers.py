"""Names that another language can hold: a map from lftgen's names, one to one, and as close as may be."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Sequence

MATLAB_RESERVED = frozenset((
    "break", "case", "catch", "classdef", "continue", "else", "elseif", "end", "for", "function", "global",
    "if", "otherwise", "parfor", "persistent", "return", "spmd", "switch", "try", "while",
))  # fmt: skip
"""What ``iskeyword`` lists in MATLAB."""
OCTAVE_RESERVED = frozenset((
    "__FILE__", "__LINE__", "do", "end_try_catch", "end_unwind_protect", "endfor", "endfunction", "endif",
    "endparfor", "endswitch", "endwhile", "until", "unwind_protect", "unwind_protect_cleanup",
))  # fmt: skip
JULIA_RESERVED = frozenset((
    "baremodule", "begin", "break", "catch", "const", "continue", "do", "else", "elseif", "end", "export",
    "false", "finally", "for", "function", "global", "if", "import", "let", "local", "macro", "module",
    "quote", "return", "struct", "true", "try", "using", "while",
))  # fmt: skip
MATLAB_LENGTH = 63
"""``namelengthmax`` in MATLAB."""


def matlab_name(name: str) -> str:
    """The closest name that MATLAB and Octave take for a variable: ASCII letters, digits, underscores; a letter first.

    Examples
    --------
    >>> matlab_name("link-1.mass"), matlab_name("_x"), matlab_name("end"), matlab_name("2a")
    ('link_1_mass', 'x_x', 'x_end', 'x2a')
    """
    text = re.sub(r"[^A-Za-z0-9_]", "_", _ascii(name))
    if text in MATLAB_RESERVED | OCTAVE_RESERVED:
        text = f"x_{text}"
    elif not re.match(r"[A-Za-z]", text):
        text = f"x{text}"
    return text[:MATLAB_LENGTH]


def julia_name(name: str) -> str:
    """The closest name that Julia takes for a variable, of ASCII letters.

    Examples
    --------
    >>> julia_name("θ1"), julia_name("end"), julia_name("1a")
    ('theta1', 'x_end', 'x1a')
    """
    text = re.sub(r"[^A-Za-z0-9_]", "_", _ascii(name))
    if text in JULIA_RESERVED or not text.strip("_"):
        text = f"x_{text}"
    return text if re.match(r"[A-Za-z_]", text) else f"x{text}"


def is_matlab_name(name: str) -> bool:
    """Whether MATLAB takes a name as it is."""
    return bool(name) and matlab_name(name) == name


def unique_names(
    names: Sequence[str],
    mapped: Callable[[str], str],
    *,
    taken: Collection[str] = (),
    limit: int = MATLAB_LENGTH,
) -> dict[str, str]:
    """Map names one to one; those that keep their spelling come first, the others get a number where they would meet.

    Examples
    --------
    >>> unique_names(["a-b", "a_b", "a.b"], matlab_name)
    {'a-b': 'a_b_2', 'a_b': 'a_b', 'a.b': 'a_b_3'}
    """
    used = set(taken)
    out: dict[str, str] = {}
    for name in sorted(names, key=lambda n: mapped(n) != n):
        text, k = mapped(name), 2
        while text in used:
            ending = f"_{k}"
            text, k = f"{mapped(name)[: limit - len(ending)]}{ending}", k + 1
        out[name] = text
        used.add(text)
    return {name: out[name] for name in names}


def _ascii(name: str) -> str:
    """Greek letters by name, accents dropped, anything else by its code point."""
    out = []
    for c in unicodedata.normalize("NFKD", name):
        if c.isascii():
            out.append(c)
        elif not unicodedata.combining(c):
            words = unicodedata.name(c, "").split()
            greek = words[:1] == ["GREEK"] and "LETTER" in words
            letter = words[words.index("LETTER") + 1] if greek else ""
            out.append((letter if c.isupper() else letter.lower()) or f"u{ord(c):04x}")
    return "".join(out)
