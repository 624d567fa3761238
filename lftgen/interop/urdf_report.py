"""What became of a robot file: merged links, renamed things, what was ignored and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any


@dataclass(frozen=True)
class Note:
    """One remark.

    Attributes
    ----------
    kind : str
        ``merged``, ``locked``, ``renamed``, ``ignored``, ``range``, ``position``, ``axis``, ``angle``, ``inertia``,
        ``friction``, ``mimic``, ``ground``, ``limits``, ``frame``.
    element : str
        Link or joint, as the file names it (or a tag).
    place : str
        ``file:line``; the file alone where there is no line.
    text : str
    """

    kind: str
    element: str
    place: str
    text: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.element}: {self.text} ({self.place})"


@dataclass(frozen=True)
class ImportReport:
    """How a robot file became a mechanism.

    Attributes
    ----------
    source : str
        The file.
    names : mapping of str to str
        Name in the mechanism of each link, joint and port whose name in the file had to change; links as
        ``"link NAME"``, joints as ``"joint NAME"``.
    carried : mapping of str to str
        Body that each link became part of: itself, the link that it is welded to, or ``"ground"``.
    parameters : mapping of str to str
        Parameter of each scheduled joint and of each uncertain quantity, by the file's names.
    notes : tuple of Note
        Everything that a reader of the file might miss in the model.
    """

    source: str
    names: Mapping[str, str]
    carried: Mapping[str, str]
    parameters: Mapping[str, str]
    notes: tuple[Note, ...] = field(repr=False)

    def __post_init__(self) -> None:
        for name in ("names", "carried", "parameters"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def __reduce__(self) -> Any:
        return ImportReport, (
            self.source, dict(self.names), dict(self.carried), dict(self.parameters), self.notes,
        )  # fmt: skip

    def __str__(self) -> str:
        return "\n".join([f"{self.source}: {len(self.notes)} remarks", *(f"  {n}" for n in self.notes)])

    def of(self, kind: str) -> tuple[Note, ...]:
        """The remarks of one kind."""
        return tuple(n for n in self.notes if n.kind == kind)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "source": self.source,
            "names": dict(self.names),
            "carried": dict(self.carried),
            "parameters": dict(self.parameters),
            "notes": [vars(n) for n in self.notes],
        }
