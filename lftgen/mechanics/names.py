"""Names of bodies, joints and ports."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence

from lftgen.errors import ModelError

GROUND = "ground"
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def check_name(name: object, what: str) -> None:
    """Letters, digits and underscores; ``ground`` is reserved."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ModelError(
            f"the name of a {what} must be letters, digits and underscores, starting with a letter; got {name!r}"
        )
    if name == GROUND:
        raise ModelError(f"the name {GROUND!r} is reserved for the base; a {what} needs another")


def unknown(name: str, known: Iterable[str], what: str) -> ModelError:
    """An error that lists close names."""
    names: Sequence[str] = list(known)
    close = difflib.get_close_matches(name, names, n=3)
    hint = f"did you mean {' or '.join(close)}?" if close else f"known: {', '.join(names) or 'none'}"
    return ModelError(f"unknown {what} {name!r}: {hint}")
