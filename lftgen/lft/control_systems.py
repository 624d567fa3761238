"""python-control on both sides: state-space models out of an LFT at a point, and into the algebra."""

from __future__ import annotations

from typing import Any

import numpy as np

from lftgen.errors import ModelError
from lftgen.lft.data import LFTData
from lftgen.lft.field import FLOAT
from lftgen.lft.structure import Structure


def to_state_space(a: LFTData, ports: np.ndarray) -> Any:
    """``[A B; C D]`` as a continuous, named control.StateSpace."""
    import control

    n = a.n_states
    B, D = ports[:n, n:], ports[n:, n:]
    autonomous = not a.inputs  # python-control takes a 1 x 0 matrix for an empty 0 x 0 one
    system = control.StateSpace(
        ports[:n, :n],
        np.zeros((n, 1)) if autonomous else B,
        ports[n:, :n],
        np.zeros((len(a.outputs), 1)) if autonomous else D,
        0,
        states=list(a.structure.states),
        inputs=["unused"] if autonomous else list(a.inputs),
        outputs=list(a.outputs),
        remove_useless_states=False,
    )
    if autonomous:
        system.set_inputs([])
        system.B, system.D = B, D
    return system


def is_control_system(value: object) -> bool:
    """Whether a value comes from python-control (without importing it)."""
    return (type(value).__module__ or "").split(".")[0] == "control"


def from_control(system: Any) -> LFTData:
    """A python-control state-space model (or transfer function) as an LFT without parameters.

    Signal names are kept.  States that were never named (``x[0]``) get the system's name in front.

    Raises
    ------
    ModelError
        A discrete-time or nonlinear system.
    """
    import control

    if isinstance(system, control.TransferFunction):
        system = control.ss(
            system, inputs=system.input_labels, outputs=system.output_labels, name=system.name
        )
    if not isinstance(system, control.StateSpace):
        raise ModelError(f"expected a linear python-control system, got {type(system).__name__}")
    if system.dt not in (0, None):
        raise ModelError(f"{system.name}: expected a continuous-time system, got dt = {system.dt}")
    unnamed = list(system.state_labels) == [f"x[{i}]" for i in range(system.nstates)]
    states = [f"{system.name}_{s}" if unnamed else s for s in system.state_labels]
    M = np.block([[system.A, system.B], [system.C, system.D]])
    structure = Structure(tuple(states))
    return LFTData(
        np.array(M, dtype=float), structure, tuple(system.input_labels), tuple(system.output_labels), FLOAT
    )
