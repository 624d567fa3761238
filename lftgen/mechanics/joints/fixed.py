"""The fixed joint: no motion."""

from __future__ import annotations

from typing import Any

from lftgen.mechanics.joints.base import Joint


class FixedJoint(Joint):
    """Holds the child in the parent at ``origin``, turned by ``rpy``.  It has wrenches and no torque.

    Examples
    --------
    >>> import lftgen as lg
    >>> lg.FixedJoint("tip", parent="link", child="load", origin=(0, 0, 0.8)).dof
    0
    """

    kind = "fixed"

    def __init__(
        self, name: str, *, parent: str, child: str, origin: Any = (0, 0, 0), rpy: Any = (0, 0, 0)
    ) -> None:
        super().__init__(name, parent=parent, child=child, origin=origin, rpy=rpy)
