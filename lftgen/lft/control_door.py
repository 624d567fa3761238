"""Between LFTs and python-control: LFTs from systems with a Delta structure, and loops in which either may stand first."""

from __future__ import annotations

from typing import Any

from lftgen.errors import ModelError
from lftgen.lft.control_systems import from_control as plain_system
from lftgen.lft.control_systems import is_control_system
from lftgen.lft.delta_structure import DeltaStructure, close_structure
from lftgen.lft.model import LFT
from lftgen.lft.operators import as_data


def from_control(system: Any, structure: DeltaStructure | None = None) -> LFT:
    """An LFT from a python-control system and the structure of its Delta: undoes :meth:`LFT.to_control`.

    Parameters
    ----------
    system : control.StateSpace or control.TransferFunction
        Continuous time, from [w; inputs] to [z; outputs].  The channels of the structure are found by their names, in
        whatever order; those of a system without names are its first ones.
    structure : DeltaStructure, optional
        Without it the system becomes an LFT without parameters.

    Raises
    ------
    ModelError
        Channels that are missing, a discrete-time system, an improper transfer function, frequency data.

    Examples
    --------
    >>> import lftgen as lg
    >>> m = lg.uncertain("m", 2.0, percent=25)
    >>> plant = lg.ss([[-m]], [[1]], [[1]], [[0]], states=["v"], inputs=["f"], outputs=["y"])
    >>> again = lg.from_control(*plant.to_control())
    >>> bool((again.M == plant.M).all()), again.delta == plant.delta, again.states
    (True, True, ('v',))
    """
    if not is_control_system(system):
        raise ModelError(f"expected a python-control system, got {type(system).__name__}")
    return LFT(plain_system(system) if structure is None else close_structure(system, structure))


def feedback(forward: Any, backward: Any, sign: int = -1) -> LFT:
    """The loop ``u = r + sign backward(y)``, ``y = forward(u)``; either may be an LFT, a python-control system or a gain.

    python-control's own ``feedback`` does not know LFTs; this one closes a loop whichever of the two comes first.

    Raises
    ------
    ModelError, IllPosedError
        As :meth:`LFT.feedback`.

    Examples
    --------
    >>> import control, lftgen as lg
    >>> m = lg.uncertain("m", 2.0, percent=25)
    >>> plant = lg.ss([[0]], [[1 / m]], [[1]], [[0]], states=["v"], inputs=["f"], outputs=["y"])
    >>> loop = lg.feedback(control.tf([3], [1, 1], name="K", inputs="e", outputs="f"), plant)
    >>> loop.inputs, loop.outputs, loop.states, loop.repetitions
    (('e',), ('f',), ('K_x[0]', 'v'), {'m': 1})
    """
    return LFT(as_data(forward)).feedback(backward, sign)
