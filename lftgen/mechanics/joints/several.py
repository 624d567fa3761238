"""What joints with several degrees of freedom share: springs and dampers of each coordinate."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp

from lftgen.mechanics.joints.base import Joint
from lftgen.mechanics.quantities import not_negative, scalar, vector


class SeveralAxesJoint(Joint):
    """A joint with several coordinates; each may have a spring and a damper.

    Where the joint turns about more than one axis, its coordinates are the small rotation (and displacement) of the
    child from its equilibrium in the child's axes, and its rates are the twist in the child's axes.
    """

    damping: sp.ImmutableMatrix
    stiffness: sp.ImmutableMatrix

    def __init__(self, name: str, *, damping: Any, stiffness: Any, actuated: bool, **common: Any) -> None:
        what = f"joint {name}"
        super().__init__(
            name,
            damping=sp.ImmutableMatrix(
                [not_negative(d, f"{what}: damping") for d in self._each(damping, f"{what}: damping")]
            ),
            stiffness=self._each(stiffness, f"{what}: stiffness"),
            actuated=bool(actuated),
            **common,
        )

    def _each(self, value: Any, what: str) -> sp.ImmutableMatrix:
        """One value for all coordinates, or one for each."""
        if isinstance(value, (list, tuple, sp.MatrixBase, np.ndarray)):
            return vector(value, what, len(self.positions))
        return sp.ImmutableMatrix([scalar(value, what)] * len(self.positions))

    def stiffness_matrix(self) -> sp.ImmutableMatrix:
        return sp.ImmutableMatrix(sp.diag(*self.stiffness))

    def damping_matrix(self) -> sp.ImmutableMatrix:
        return sp.ImmutableMatrix(sp.diag(*self.damping))
