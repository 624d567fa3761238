"""Spinning rotors that a body carries: reaction wheels, momentum wheels, gyroscopes."""

from __future__ import annotations

from typing import Any

import sympy as sp

from lftgen.errors import ModelError
from lftgen.mechanics.frozen import Frozen
from lftgen.mechanics.names import check_name
from lftgen.mechanics.quantities import parameters_of, scalar, unit_axis
from lftgen.parameters import Parameter


class Rotor(Frozen):
    """A rotor on board of a body: its angular momentum about an axis fixed in the body.

    Parameters
    ----------
    name : str
    axis : 3 numbers
        Direction of the momentum in the body's axes; normalised.
    momentum : quantity
        Angular momentum at the equilibrium, N m s; a number, an uncertain or a scheduled parameter.

    Signal: input ``B_R_torque``, what the motor exerts on rotor R about its axis (and, reversed, on body B).

    Notes
    -----
    The rotor's mass is part of the body's, and so is its inertia, but for the inertia about its axis: what turns about
    the axis is the momentum.  ``d(momentum)/dt`` is the motor's torque.  A body at rest feels no momentum; where it turns
    with w the gyroscopic torque is ``w x h``.

    Raises
    ------
    ModelError
        A momentum without axis, or an axis of no length.

    Examples
    --------
    >>> import lftgen as lg
    >>> lg.Rotor("wheel", axis=(0, 0, 2), momentum=4).vector.T
    Matrix([[0, 0, 4]])
    """

    name: str
    axis: sp.ImmutableMatrix
    momentum: sp.Expr

    def __init__(self, name: str, *, axis: Any = None, momentum: Any = 0.0) -> None:
        check_name(name, "rotor")
        if axis is None:
            raise ModelError(
                f"rotor {name}: a momentum needs an axis in the body's frame; give axis=(x, y, z)"
            )
        what = f"rotor {name}"
        self._freeze(
            name=name, axis=unit_axis(axis, f"{what}: axis"), momentum=scalar(momentum, f"{what}: momentum")
        )

    def __repr__(self) -> str:
        return f"Rotor({self.name!r}, axis={tuple(self.axis)}, momentum={self.momentum})"

    @property
    def vector(self) -> sp.ImmutableMatrix:
        """Angular momentum in the body's axes."""
        return sp.ImmutableMatrix(self.momentum * self.axis)

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Parameters that occur, by name."""
        return tuple(parameters_of([self.momentum]))
