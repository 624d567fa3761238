"""The classes that a model file can name, found in the rooms that define them."""

from __future__ import annotations

from typing import Any

from lftgen.mechanics import joints, loads


def joint_classes() -> tuple[type[joints.Joint], ...]:
    """Return the joint types."""
    public = (getattr(joints, name) for name in joints.__all__)
    return tuple(c for c in public if issubclass(c, joints.Joint) and c is not joints.Joint)


def load_classes() -> tuple[Any, ...]:
    """Return the load types: the classes of their room that have a kind."""
    found = (thing for thing in vars(loads).values() if isinstance(thing, type))
    return tuple(
        c for c in found if c.__module__ == loads.__name__ and isinstance(getattr(c, "kind", None), str)
    )
