"""python-control on both sides: state-space models out of an LFT at a point, and into the algebra."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lftgen.errors import ModelError
from lftgen.lft.data import LFTData
from lftgen.lft.field import FLOAT
from lftgen.lft.structure import Structure
from lftgen.lft.transfer_functions import realize_transfer_function


def to_state_space(a: LFTData, ports: np.ndarray) -> Any:
    """``[A B; C D]`` as a continuous, named control.StateSpace."""
    return named_state_space(ports, a.structure.states, a.inputs, a.outputs)


def evaluated_systems(a: LFTData, arrays: Any) -> list[Any]:
    """One named control.StateSpace for each point of StateSpaceArrays; ones without states where there are none."""
    if isinstance(arrays, np.ndarray):
        return [to_state_space(a, D) for D in arrays]
    parts = zip(arrays.A, arrays.B, arrays.C, arrays.D, strict=True)
    return [to_state_space(a, np.block([[A, B], [C, D]])) for A, B, C, D in parts]


def named_state_space(
    matrix: np.ndarray, states: Sequence[str], inputs: Sequence[str], outputs: Sequence[str]
) -> Any:
    """``[A B; C D]`` with names as a continuous control.StateSpace, whatever its sizes (zero included).

    Raises
    ------
    ModelError
        Names that python-control does not take.
    """
    import control

    n = len(states)
    refused = [name for name in (*states, *inputs, *outputs) if "." in name]
    if refused:
        raise ModelError(
            f"python-control refuses names with a dot ({', '.join(refused)}); rename() them, or use to_control(), "
            "which renames them and keeps a map"
        )
    B, D = matrix[:n, n:], matrix[n:, n:]
    autonomous = not inputs  # python-control takes a 1 x 0 matrix for an empty 0 x 0 one
    system = control.StateSpace(
        matrix[:n, :n],
        np.zeros((n, 1)) if autonomous else B,
        matrix[n:, :n],
        np.zeros((len(outputs), 1)) if autonomous else D,
        0,
        states=list(states),
        inputs=["unused"] if autonomous else list(inputs),
        outputs=list(outputs),
        remove_useless_states=False,
    )
    if autonomous:
        system.set_inputs([])
        system.B, system.D = B, D
    return system


def is_control_system(value: object) -> bool:
    """Whether a value comes from python-control, or from a class derived from its own (without importing it)."""
    return any((c.__module__ or "").split(".")[0] == "control" for c in type(value).__mro__)


def from_control(system: Any) -> LFTData:
    """A python-control state-space model (or transfer function) as an LFT without parameters.

    Signal names are kept.  States that were never named (``x[0]``) get the system's name in front.

    Raises
    ------
    ModelError
        A discrete-time or nonlinear system, frequency data, or an improper transfer function.
    """
    import control

    if not isinstance(system, (control.StateSpace, control.TransferFunction)):
        raise ModelError(
            f"expected a linear python-control system (StateSpace or TransferFunction), got {type(system).__name__}"
        )
    if system.dt not in (0, None):
        raise ModelError(
            f"{system.name}: expected a continuous-time system, got dt = {system.dt}; convert it first"
        )
    if isinstance(system, control.TransferFunction):
        A, B, C, D = realize_transfer_function(system)
        labels = [f"x[{i}]" for i in range(len(A))]
    else:
        A, B, C, D = system.A, system.B, system.C, system.D
        labels = list(system.state_labels)
    unnamed = labels == [f"x[{i}]" for i in range(len(A))]
    states = tuple(f"{system.name}_{s}" if unnamed else s for s in labels)
    M = np.array(np.block([[A, B], [C, D]]), dtype=float)
    return LFTData(M, Structure(states), tuple(system.input_labels), tuple(system.output_labels), FLOAT)
