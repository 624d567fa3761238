"""Names of a robot file as names that signals can hold; what had to change is remembered."""

from __future__ import annotations

import re
from collections.abc import Collection

_RESERVED = ("ground", "self", "extrapolate")


class NameMap:
    """Gives each link, joint and port a valid name of its own.

    Attributes
    ----------
    changed : dict of str to str
        ``"link NAME"`` or ``"joint NAME"`` of the file, and its name here, where they differ.
    """

    def __init__(self) -> None:
        self.changed: dict[str, str] = {}
        self._taken: set[str] = set()

    def add(self, name: str, kind: str, taken: Collection[str] | None = None) -> str:
        """A valid name for a thing of the file; ``taken`` holds names to avoid (by default those given so far)."""
        used = self._taken if taken is None else set(taken)
        valid = valid_name(name, kind)
        if valid in used:
            valid = f"{valid}_{kind}"
        candidate, n = valid, 2
        while candidate in used:
            candidate, n = f"{valid}_{n}", n + 1
        if candidate != name:
            self.changed[f"{kind} {name}"] = candidate
        if taken is None:
            self._taken.add(candidate)
        return candidate


def valid_name(name: str, kind: str) -> str:
    """Letters, digits and underscores that begin with a letter: ``"arm-1.0"`` becomes ``"arm_1_0"``."""
    valid = re.sub(r"[^A-Za-z0-9_]", "_", name)
    if not re.match(r"[A-Za-z]", valid):
        valid = f"{kind}_{valid.lstrip('_') or 'x'}"
    return f"{valid}_{kind}" if valid in _RESERVED else valid
