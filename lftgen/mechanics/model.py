"""What the parts of this room need of a mechanism (the class itself comes last, in ``mechanism.py``)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import sympy as sp

from lftgen.mechanics.body import RigidBody
from lftgen.mechanics.joints import Joint
from lftgen.mechanics.loads import Load, SpringDamper
from lftgen.mechanics.substitution import Change
from lftgen.mechanics.tree import Tree
from lftgen.parameters import Parameter


class MechanismModel(Protocol):
    """Bodies, joints and loads in a tree, under a gravity and an acceleration of the reference frame."""

    name: str
    bodies: tuple[RigidBody, ...]
    joints: tuple[Joint, ...]
    loads: tuple[Load | SpringDamper, ...]
    gravity: sp.ImmutableMatrix
    acceleration: sp.ImmutableMatrix
    tree: Tree
    parameters: tuple[Parameter, ...]

    @property
    def symbols(self) -> tuple[sp.Symbol, ...]:
        """Free symbols."""
        ...

    def changed(
        self,
        change: Change,
        *,
        joints: Callable[[Joint], dict[str, Any]] = ...,
        loads: Callable[[Any], dict[str, Any]] = ...,
        acceleration: Any = ...,
    ) -> Any:
        """The mechanism with its quantities changed."""
        ...
