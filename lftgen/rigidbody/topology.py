"""Order of a tree: parents before children, with errors that name what is wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Protocol

from lftgen.errors import ModelError


class Arrow(Protocol):
    """What the order needs to know of a joint."""

    @property
    def name(self) -> str:
        """Name of the joint."""

    @property
    def parent(self) -> str:
        """Name of the parent body, or "ground"."""

    @property
    def child(self) -> str:
        """Name of the child body."""


def topological_order(
    bodies: Sequence[str], joints: Sequence[Arrow], loaded: Sequence[str] = ()
) -> list[int]:
    """Numbers of the joints, parents first; the order given is kept where it can be.

    Parameters
    ----------
    bodies : sequence of str
    joints : sequence
        Objects with `name`, `parent` and `child`.
    loaded : sequence of str
        Bodies that loads refer to.

    Raises
    ------
    ModelError
        Names the joint or body at fault.

    Examples
    --------
    >>> from types import SimpleNamespace as J
    >>> inner, outer = J(name="j1", parent="ground", child="a"), J(name="j2", parent="a", child="b")
    >>> topological_order(["a", "b"], [outer, inner])
    [1, 0]
    """
    _check_names(bodies, joints, loaded)
    carried = {joint.child for joint in joints}
    missing = [name for name in bodies if name not in carried]
    if missing:
        raise ModelError(
            f"body {missing[0]!r} is carried by no joint; attach it (a free joint if it floats)."
        )
    order: list[int] = []
    placed, waiting = {"ground"}, list(range(len(joints)))
    while waiting:
        postponed = []
        for k in waiting:
            if joints[k].parent in placed:
                order.append(k)
                placed.add(joints[k].child)
            else:
                postponed.append(k)
        if len(postponed) == len(waiting):
            names = ", ".join(repr(joints[k].name) for k in waiting)
            raise ModelError(f"joints {names} form a loop and never reach 'ground'.")
        waiting = postponed
    return order


def _check_names(bodies: Sequence[str], joints: Sequence[Arrow], loaded: Sequence[str]) -> None:
    for what, names in (("body", list(bodies)), ("joint", [joint.name for joint in joints])):
        for name, times in Counter(names).items():
            if times > 1:
                raise ModelError(f"{what} name {name!r} is used {times} times; names must be unique.")
    known = set(bodies)
    if "ground" in known:
        raise ModelError("body name 'ground' is reserved for the reference frame; choose another.")
    parent_of: dict[str, str] = {}
    for joint in joints:
        for role, name in (("parent", joint.parent), ("child", joint.child)):
            if name not in known and not (role == "parent" and name == "ground"):
                raise ModelError(
                    f"{role} of joint {joint.name!r}: unknown body {name!r}; known: {sorted(known)}."
                )
        if joint.child in parent_of:
            raise ModelError(
                f"body {joint.child!r} has two parents, by joints {parent_of[joint.child]!r} and "
                f"{joint.name!r}; a tree allows one. Close loops with loop constraints instead."
            )
        parent_of[joint.child] = joint.name
    for name in loaded:
        if name not in known:
            raise ModelError(f"load on unknown body {name!r}; known: {sorted(known)}.")
