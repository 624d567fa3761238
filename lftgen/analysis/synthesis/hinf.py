"""H-infinity synthesis at one point through SLICOT, with a time limit; every controller is verified before it counts."""

from __future__ import annotations

import multiprocessing
import signal
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from lftgen.analysis.channels import Matrices, matrices_at
from lftgen.analysis.generalized_plant import plant_and_channels
from lftgen.analysis.plant_report import row_at
from lftgen.arguments import callback, number, whole_number
from lftgen.errors import ModelError
from lftgen.extras import require
from lftgen.lft.control_systems import from_control, is_control_system
from lftgen.lft.hinf_norm import balanced, hinf_norm
from lftgen.lft.model import LFT

NARROW = 1.0005
"""The level is narrowed until the smallest with a controller and the largest without are this close."""
MAX_LEVELS = 80

STOPS = {
    "time": (
        "time-out",
        "no controller in the time given",
        "the time was spent before the level was narrowed",
    ),
    "interrupt": ("interrupted", "no controller before Ctrl-C", "Ctrl-C came before the level was narrowed"),
}
"""What may end a search from outside: the status without a controller, and the reasons without and with one."""
Progress = Callable[[float, float], None]


@dataclass(frozen=True, eq=False)
class HinfController:
    """Result of :func:`hinfsyn` and of mixsyn.

    Attributes
    ----------
    status : {"found", "not solvable", "time-out", "interrupted", "unstable", "failed"}
        Only ``"found"`` comes with a controller: its closed loop was computed, is stable and below ``gamma``.
        ``"not solvable"``: the report of the plant says why.  ``"failed"``: no level has a controller, ``reason`` is the
        solver's last word.  ``"unstable"``: rounding in the units of the plant spoils the loop.
    controller : control.StateSpace or None
        From the measurements to the controls, named.
    gamma : float
        The smallest level that was met.
    norm : float
        The closed loop's H-infinity norm as computed afterwards, at most ``gamma`` (within 1e-6).
    poles : array
        Of the closed loop.
    reason : str
        What stands against a solution, in words; for one that was found, whether the time or Ctrl-C ended the search.
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
        early = f"; {self.reason}" if self.reason else ""
        return (
            f"H-infinity synthesis: norm {self.norm:.6g} (solver's level {self.gamma:.6g}), {self.controller.nstates} states"
            + early
        )

    __repr__ = __str__


def hinfsyn(
    plant: Any,
    nmeas: int | None = None,
    ncon: int | None = None,
    *,
    time_limit: float = 30.0,
    progress: Progress | None = None,
) -> HinfController:
    """An H-infinity controller of a generalised plant at one point, verified.

    Parameters
    ----------
    plant : GeneralizedPlant, control.StateSpace, or LFT
        With parameters: at their nominal values.
    nmeas, ncon : int
        Measurements (last outputs) and controls (last inputs); a GeneralizedPlant knows its own.
    time_limit : float
        Seconds; the solver runs in a process of its own, since it may not return.  The best controller found by then
        (or until Ctrl-C) is the result.
    progress : callable, optional
        Called with (smallest level with a controller so far, seconds).

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
    answer, ended = _solve(balanced(system), n_y, n_u, limit, callback(progress, "hinfsyn: progress"))
    if answer is None:
        status = STOPS[ended][0] if ended in STOPS else "not solvable" if problems else "failed"
        reason = "; ".join(problems) or (STOPS[ended][1] if ended in STOPS else ended)
        return HinfController(status, reason=reason)
    early = STOPS[ended][2] if ended in STOPS else ""
    return _verified(system, answer, n_y, n_u, names, early)


def _system(
    plant: Any, nmeas: int | None, ncon: int | None
) -> tuple[Matrices, int, int, tuple[list[str], list[str]]]:
    plant, nmeas, ncon = plant_and_channels(plant, nmeas, ncon, "hinfsyn")
    if isinstance(plant, LFT):
        matrices, names = matrices_at(plant, {}), (list(plant.outputs), list(plant.inputs))
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
    if not len(matrices[0]):
        raise ModelError("hinfsyn: the plant has no states")
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
    """In a process of its own: narrow the level, and send every controller that is better than the one before."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the caller's: it ends this process
    best, low, high, level, problem = np.inf, 0.0, np.inf, 1.0, "no level up to 1e12 has a controller"
    for _ in range(MAX_LEVELS):
        found = _at_level(system, n_y, n_u, level)
        if isinstance(found, str):
            low, problem = level, found if level >= 1e6 or np.isinf(high) else problem
        else:
            K, norm = found
            high = min(high, level, max(norm, level / 8))
            if norm < best:
                best = norm
                pipe.send((K, level))
        if high <= low * NARROW or low >= 1e12 or high <= 1e-12:
            break
        level = low * 8 if np.isinf(high) else high / 8 if low == 0.0 else np.sqrt(low * high)
    pipe.send(problem)


def _at_level(system: Matrices, n_y: int, n_u: int, level: float) -> tuple[Matrices, float] | str:
    """A controller whose loop was found to be stable and below the level, with the loop's norm; or why there is none.

    SLICOT's SB10FD (the formulas of Glover and Doyle, 1988).  SB10AD, which narrows the level itself and is what
    python-control calls, stops at a level where its controller often leaves the loop unstable, and may never return.
    """
    import slycot

    A, B, C, D = system
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answer = slycot.sb10fd(len(A), B.shape[1], C.shape[0], n_u, n_y, level, A, B, C, D)
    except Exception as problem:  # the solver's own errors are told, whatever they are
        return f"{type(problem).__name__}: {' '.join(str(problem).split())}"
    K: Matrices = answer[:4]
    loop = _closed(system, K, n_y, n_u) if all(np.all(np.isfinite(k)) for k in K) else None
    norm = np.inf if loop is None else hinf_norm(*loop)[0]
    if norm <= level * (1 + 1e-6):
        return K, norm
    return f"the solver's controller at the level {level:.4g} leaves the loop " + (
        f"at the norm {norm:.4g}" if np.isfinite(norm) else "unstable"
    )


def _solve(
    system: Matrices, n_y: int, n_u: int, limit: float, progress: Progress | None = None
) -> tuple[Any, str]:
    """The best controller with its level (None: there is none), and what stopped the search: a key of STOPS or a reason."""
    methods = multiprocessing.get_all_start_methods()
    context: Any = multiprocessing.get_context("fork" if "fork" in methods else "spawn")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(there, system, n_y, n_u), daemon=True)
    process.start()
    there.close()
    best, start = None, time.monotonic()
    try:
        while here.poll(max(start + limit - time.monotonic(), 0.0)):
            message = here.recv()
            if isinstance(message, str):
                return best, message
            best = message
            if progress is not None:
                progress(float(best[1]), time.monotonic() - start)
        return best, "time"
    except KeyboardInterrupt:
        return best, "interrupt"
    except EOFError:
        return best, "the solver's process died"
    finally:
        process.kill()
        process.join()


def _verified(system: Matrices, answer: tuple[Matrices, float], n_y: int, n_u: int,
              names: tuple[list[str], list[str]], early: str) -> HinfController:  # fmt: skip
    """The result, from a loop that is closed and judged once more around the plant as it was given."""
    import control

    K, gamma = answer
    loop = _closed(system, K, n_y, n_u)
    norm = np.inf if loop is None else hinf_norm(*loop)[0]
    poles = None if loop is None else np.linalg.eigvals(loop[0])
    if loop is None or poles is None or not np.isfinite(norm):
        worst = "singular" if poles is None else f"with a pole at {float(np.max(poles.real)):.4g} rad/s"
        reason = f"around the plant in its own units the loop (level {gamma:.6g}) is {worst}"
        return HinfController("unstable", gamma=gamma, poles=poles, reason=reason)
    controller = control.StateSpace(
        *K,
        0,
        inputs=names[0][len(names[0]) - n_y :],
        outputs=names[1][len(names[1]) - n_u :],
        remove_useless_states=False,
    )
    return HinfController("found", controller, gamma, norm, poles, early)


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
