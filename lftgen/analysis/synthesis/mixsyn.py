"""Mixed sensitivity at one point: weights on S, KS and T, each brought to the plant's sizes and checked."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from lftgen.analysis.channels import matrices_at
from lftgen.analysis.synthesis.hinf import HinfController, Progress, hinfsyn
from lftgen.arguments import number
from lftgen.errors import ModelError
from lftgen.extras import require
from lftgen.lft.control_systems import is_control_system
from lftgen.lft.model import LFT
from lftgen.lft.operators import as_data


def mixsyn(
    plant: Any,
    w1: Any = None,
    w2: Any = None,
    w3: Any = None,
    *,
    time_limit: float = 30.0,
    progress: Progress | None = None,
) -> HinfController:
    """Mixed sensitivity: weights on S, KS and T of a plant at its nominal point (python-control's ``augw``), verified.

    Parameters
    ----------
    plant : LFT, control.StateSpace or control.TransferFunction
        Continuous time, (p, m).
    w1, w2, w3 : number, python-control system, LFT or matrix, optional
        Weights on S (p inputs), KS (m inputs) and T (p inputs); a number or a system of one input and output weighs each
        channel alike.  An LFT counts at its nominal.
    time_limit, progress
        As for :func:`hinfsyn`.

    Raises
    ------
    ModelError
        No plant, no weight at all, a weight of other sizes, in discrete time, improper or not finite.
    MissingDependencyError
        slycot is not installed.

    Examples
    --------
    >>> import control, lftgen as lg
    >>> found = lg.mixsyn(control.tf([1], [1, 1]), control.tf([1], [1, 0.01]), 0.1)  # doctest: +SKIP
    >>> found.norm < 1.5  # doctest: +SKIP
    True
    """
    import control

    require("slycot", "slycot", "H-infinity synthesis")
    if not isinstance(plant, LFT) and not is_control_system(plant):
        raise ModelError(f"mixsyn: plant must be an LFT or a python-control system, got {plant!r:.60}")
    if w1 is None and w2 is None and w3 is None:
        raise ModelError("mixsyn: give at least one of the weights w1 (on S), w2 (on KS), w3 (on T)")
    g = _nominal(plant, "plant")
    if not g.nstates and all(np.isscalar(w) or w is None for w in (w1, w2, w3)):
        raise ModelError("mixsyn: neither the plant nor a weight has states: there is nothing to stabilise")
    sizes = (g.noutputs, g.ninputs, g.noutputs)
    weights = [_weight(w, k, f"w{i + 1}") for i, (w, k) in enumerate(zip((w1, w2, w3), sizes, strict=True))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # augw uses a function that python-control will rename
        whole = control.augw(g, *weights)
    return hinfsyn(whole, g.noutputs, g.ninputs, time_limit=time_limit, progress=progress)


def _nominal(value: Any, what: str) -> Any:
    """An LFT at its nominal, a python-control system, or a matrix as a control.StateSpace in continuous time."""
    import control

    try:
        lft = LFT(as_data(value))
    except ModelError as problem:
        raise ModelError(f"mixsyn: {what}: {problem}") from problem
    return control.StateSpace(*matrices_at(lft, {}), 0, remove_useless_states=False)


def _weight(value: Any, size: int, what: str) -> Any:
    """A weight with ``size`` inputs as a control.StateSpace (None: no weight)."""
    import control

    if value is None:
        return None
    if np.isscalar(value):
        value = number(value, f"mixsyn: {what}") * np.eye(size)
    system = _nominal(value, what)
    if (system.ninputs, system.noutputs) == (1, 1) and size > 1:
        system = control.append(*[system] * size)
    if system.ninputs != size:
        raise ModelError(f"mixsyn: the weight {what} must have {size} inputs, got {system.ninputs}")
    return system
