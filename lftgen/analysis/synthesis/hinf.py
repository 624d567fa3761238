"""H-infinity synthesis at one point through python-control and SLICOT, with a time limit and a verified result."""

from __future__ import annotations

import multiprocessing
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from lftgen.analysis.generalized_plant import GeneralizedPlant
from lftgen.analysis.plant_report import row_at
from lftgen.arguments import number, whole_number
from lftgen.errors import ModelError
from lftgen.extras import require
from lftgen.lft.control_systems import from_control, is_control_system
from lftgen.lft.hinf_norm import balanced, hinf_norm
from lftgen.lft.model import LFT

Matrices = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False)
class HinfController:
    """Result of :func:`hinfsyn` and :func:`mixsyn`.

    Attributes
    ----------
    status : {"found", "not solvable", "time-out", "unstable", "failed"}
        Only ``"found"`` comes with a controller: its closed loop was computed and is stable.  ``"unstable"``: the solver
        returned a controller whose loop is not.
    controller : control.StateSpace or None
        From the measurements to the controls, named.
    gamma : float
        The solver's level.
    norm : float
        The closed loop's H-infinity norm as computed afterwards; it may differ from ``gamma``.
    poles : array
        Of the closed loop.
    reason : str
        What stands against a solution, in words.
    """

    status: str
    controller: Any = None
    gamma: float = float("inf")
    norm: float = float("inf")
    poles: np.ndarray | None = None
    reason: str = ""

    def __str__(self) -> str:
        if self.status != "found":
            return f"H-infinity synthesis: {self.status} ({self.reason})"
        return f"H-infinity synthesis: norm {self.norm:.6g} (solver's level {self.gamma:.6g}), {self.controller.nstates} states"


def hinfsyn(
    plant: Any, nmeas: int | None = None, ncon: int | None = None, *, time_limit: float = 30.0
) -> HinfController:
    """An H-infinity controller of a generalised plant at one point, verified.

    Parameters
    ----------
    plant : GeneralizedPlant, control.StateSpace, or LFT
        With parameters: at their nominal values.
    nmeas, ncon : int
        Measurements (last outputs) and controls (last inputs); a GeneralizedPlant knows its own.
    time_limit : float
        Seconds; the solver runs in a process of its own, since it may not return.

    Returns
    -------
    HinfController

    Raises
    ------
    ModelError
        No plant, or channels that do not fit.
    MissingDependencyError
        slycot is not installed (extra ``slycot``).

    Examples
    --------
    >>> import lftgen as lg
    >>> plant = lg.ss([[1]], [[1, 0, 1]], [[1], [0], [1]], [[0, 0, 0], [0, 0, 1], [0, 1, 0]])
    >>> found = lg.hinfsyn(plant, 1, 1)  # doctest: +SKIP
    >>> found.status  # doctest: +SKIP
    'found'
    """
    require("slycot", "slycot", "H-infinity synthesis")
    system, n_y, n_u, names = _system(plant, nmeas, ncon)
    limit = number(time_limit, "hinfsyn: time_limit", minimum=0.0)
    problems = _problems(system, n_y, n_u)
    answer = _solve(balanced(system), n_y, n_u, limit)
    if isinstance(answer, str):
        status = "time-out" if answer == "time" else "not solvable" if problems else "failed"
        reason = "; ".join(problems) or ("the solver did not return in time" if answer == "time" else answer)
        return HinfController(status, reason=reason)
    return _verified(system, answer, n_y, n_u, names, problems)


def mixsyn(
    plant: Any, w1: Any = None, w2: Any = None, w3: Any = None, *, time_limit: float = 30.0
) -> HinfController:
    """Mixed sensitivity: weights on S, KS and T of a plant at its nominal point (python-control's ``augw``), verified.

    Raises
    ------
    ModelError
        No plant, or no weight at all.
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
    g = plant.at() if isinstance(plant, LFT) else plant
    if not is_control_system(g):
        raise ModelError(f"mixsyn: plant must be an LFT or a python-control system, got {plant!r:.60}")
    if w1 is None and w2 is None and w3 is None:
        raise ModelError("mixsyn: give at least one of the weights w1 (on S), w2 (on KS), w3 (on T)")
    proper = [
        None if w is None else control.ss([], [], [], np.atleast_2d(w)) if np.isscalar(w) else control.ss(w)
        for w in (w1, w2, w3)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # augw uses a function that python-control will rename
        whole = control.augw(control.ss(g), *proper)
    return hinfsyn(whole, g.noutputs, g.ninputs, time_limit=time_limit)


def _system(
    plant: Any, nmeas: int | None, ncon: int | None
) -> tuple[Matrices, int, int, tuple[list[str], list[str]]]:
    if isinstance(plant, GeneralizedPlant):
        nmeas, ncon, plant = plant.nmeas, plant.ncon, plant.lft
    if isinstance(plant, LFT):
        if not plant.states:
            raise ModelError("hinfsyn: the plant has no states")
        at = plant.evaluate({})
        matrices, names = (at.A[0], at.B[0], at.C[0], at.D[0]), (list(plant.outputs), list(plant.inputs))
    elif is_control_system(plant):
        data = from_control(plant)
        n = data.n_states
        M = np.array(data.M)
        matrices, names = (
            (M[:n, :n], M[:n, n:], M[n:, :n], M[n:, n:]),
            (list(data.outputs), list(data.inputs)),
        )
    else:
        raise ModelError(
            f"hinfsyn: plant must be a GeneralizedPlant, an LFT or a python-control system, got {plant!r:.60}"
        )
    n_y, n_u = (
        whole_number(nmeas, "hinfsyn: nmeas", minimum=1),
        whole_number(ncon, "hinfsyn: ncon", minimum=1),
    )
    p, m = matrices[3].shape
    if p <= n_y or m <= n_u:
        raise ModelError(
            f"hinfsyn: {n_y} measurements and {n_u} controls leave no performance channel of {p} outputs and {m} inputs"
        )
    return matrices, n_y, n_u, names


def _problems(system: Matrices, n_y: int, n_u: int) -> list[str]:
    """Findings of the report at this point."""
    from lftgen.lft.build import ss

    return row_at(ss(*system), n_y, n_u, {}).problems


def _work(pipe: Any, system: Matrices, n_y: int, n_u: int) -> None:
    try:
        import control

        K, _, gamma, _ = control.hinfsyn(control.StateSpace(*system, remove_useless_states=False), n_y, n_u)
        pipe.send((np.asarray(K.A), np.asarray(K.B), np.asarray(K.C), np.asarray(K.D), float(gamma)))
    except Exception as problem:  # the solver's own errors are told, whatever they are
        pipe.send(f"{type(problem).__name__}: {problem}")


def _solve(system: Matrices, n_y: int, n_u: int, limit: float) -> Any:
    """The controller's matrices and the level, or why there are none; ``"time"`` where the limit was reached."""
    methods = multiprocessing.get_all_start_methods()
    context: Any = multiprocessing.get_context("fork" if "fork" in methods else "spawn")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(there, system, n_y, n_u), daemon=True)
    process.start()
    there.close()
    try:
        return here.recv() if here.poll(limit) else "time"
    except EOFError:
        return "the solver's process died"
    finally:
        process.kill()
        process.join()


def _verified(system: Matrices, answer: Any, n_y: int, n_u: int, names: tuple[list[str], list[str]],
              problems: list[str]) -> HinfController:  # fmt: skip
    import control

    K: Matrices = answer[:4]
    gamma = float(answer[4])
    if not all(np.all(np.isfinite(k)) for k in K):
        return HinfController("failed", gamma=gamma, reason="the solver returned numbers that are not finite")
    loop = _closed(system, K, n_y, n_u)
    if loop is None:
        return HinfController(
            "unstable", gamma=gamma, reason="the algebraic loop with the solver's controller is singular"
        )
    poles = np.linalg.eigvals(loop[0])
    norm, _ = hinf_norm(*loop)
    if not np.isfinite(norm):
        worst = float(np.max(poles.real))
        why = f"the solver's controller (level {gamma:.6g}) leaves a pole at {worst:.4g} rad/s" + "".join(
            f"; {p}" for p in problems
        )
        return HinfController("unstable", gamma=gamma, poles=poles, reason=why)
    controller = control.StateSpace(
        *K,
        0,
        inputs=names[0][len(names[0]) - n_y :],
        outputs=names[1][len(names[1]) - n_u :],
        remove_useless_states=False,
    )
    return HinfController("found", controller, gamma, norm, poles)


def _closed(system: Matrices, K: Matrices, n_y: int, n_u: int) -> Matrices | None:
    """The lower LFT of plant and controller."""
    A, B, C, D = system
    p, m = D.shape
    B1, B2, C1, C2 = B[:, : m - n_u], B[:, m - n_u :], C[: p - n_y], C[p - n_y :]
    D11, D12, D21, D22 = (
        D[: p - n_y, : m - n_u],
        D[: p - n_y, m - n_u :],
        D[p - n_y :, : m - n_u],
        D[p - n_y :, m - n_u :],
    )
    AK, BK, CK, DK = K
    well = np.eye(n_u) - DK @ D22
    if np.linalg.cond(well) > 1e12:
        return None
    # u = DK y + CK xk, y = C2 x + D21 w + D22 u
    inner = np.linalg.solve(well, np.hstack([DK @ C2, CK, DK @ D21]))
    n, k = len(A), len(AK)
    ux, uk, uw = inner[:, :n], inner[:, n : n + k], inner[:, n + k :]
    yx, yk, yw = C2 + D22 @ ux, D22 @ uk, D21 + D22 @ uw
    return (
        np.block([[A + B2 @ ux, B2 @ uk], [BK @ yx, AK + BK @ yk]]),
        np.vstack([B1 + B2 @ uw, BK @ yw]),
        np.hstack([C1 + D12 @ ux, D12 @ uk]),
        D11 + D12 @ uw,
    )
