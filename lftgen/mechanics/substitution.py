"""The same mechanism with some quantities replaced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import sympy as sp

from lftgen.mechanics.body import RigidBody, restored
from lftgen.mechanics.frozen import Frozen
from lftgen.mechanics.rotor import Rotor

Change = Callable[[Any], Any]
F = TypeVar("F", bound=Frozen)


def replacing(mapping: dict[sp.Basic, sp.Expr]) -> Change:
    """A function that replaces symbols in expressions and matrices, and leaves everything else alone."""

    def change(value: Any) -> Any:
        if isinstance(value, sp.MatrixBase):
            return sp.ImmutableMatrix(value.xreplace(mapping))
        if isinstance(value, sp.Basic):
            return value.xreplace(mapping)
        if isinstance(value, tuple):
            return tuple(change(v) for v in value)
        return value

    return change


def changed_body(body: RigidBody, change: Change) -> RigidBody:
    """A body with its quantities changed."""
    ports = tuple((k, change(p.point), change(p.rotation)) for k, p in body.ports.items())
    rotors = tuple(Rotor(r.name, axis=r.axis, momentum=change(r.momentum)) for r in body.rotors)
    return restored(body.name, change(body.mass), change(body.com), change(body.inertia), ports, rotors)


def changed_element(element: F, change: Change, **own: Any) -> F:
    """A joint or load with its quantities changed, and some attributes set."""
    new: F = object.__new__(type(element))
    new._freeze(**{**{k: change(v) for k, v in vars(element).items()}, **own})
    return new
