"""`mu`: bounds of the structured singular value of a matrix, of a system over all frequencies, of an LFT."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from lftgen import arguments
from lftgen.analysis.mu import pieces
from lftgen.analysis.mu.box import Box
from lftgen.analysis.mu.frequencies import Clock
from lftgen.analysis.mu.loop import Loop
from lftgen.analysis.mu.lower import lower_bound
from lftgen.analysis.mu.margin import MarginSearch
from lftgen.analysis.mu.singular import Singular
from lftgen.analysis.mu.structure import MuStructure, parse_blocks
from lftgen.analysis.mu.upper import Problem, minimise
from lftgen.errors import IllPosedError, ModelError
from lftgen.lft.control_systems import from_control, is_control_system
from lftgen.lft.hinf_norm import hinf_norm
from lftgen.lft.model import LFT
from lftgen.lft.threads import single_threaded

NEARLY_ZERO = 1e-5
"""An upper bound below this share of the largest singular value ends the search: mu counts as 0."""
SYSTEM_ZERO = 1e-4
"""The same for a system, as a share of its largest gain: no larger Delta is looked at."""


@dataclass(frozen=True)
class MuBounds:
    """``lower <= mu <= upper``.

    Attributes
    ----------
    lower, upper : float
        ``lower`` belongs to ``deltas``, ``upper`` to D, G scalings (over all frequencies, for a system).
    deltas : dict of str to float, complex or array
        One value for each block, of norm at most 1/lower, with which I - M Delta is singular (``I - M(j frequency)
        Delta`` for a system).  Empty if none was found; then ``lower`` is 0.
    frequency : float
        rad/s; nan for a matrix.
    status : str
        As in `RobustStability`; ``"done"`` if the bounds agree to the tolerance.  A system that is not stable has
        ``lower = upper = inf``.
    tried : str
    seconds : float
    """

    lower: float
    upper: float
    deltas: Mapping[str, Any] = field(default_factory=dict)
    frequency: float = float("nan")
    status: str = "done"
    tried: str = ""
    seconds: float = 0.0

    def __str__(self) -> str:
        where = f" at {self.frequency:.6g} rad/s" if np.isfinite(self.frequency) else ""
        return f"mu between {self.lower:.6g} and {self.upper:.6g}{where} ({self.status})"


@single_threaded
def mu(
    M: Any,
    blocks: Sequence[Any] | None = None,
    *,
    tolerance: float = 0.005,
    time_limit: float = 60.0,
    seed: int = 0,
) -> MuBounds:
    """Structured singular value: the inverse of the smallest Delta that makes ``I - M Delta`` singular.

    Parameters
    ----------
    M : array (n_z, n_w), LFT, or control.StateSpace
        A real or complex matrix; an LFT, whose own blocks are taken, normalised (``normalized(recenter=True)``); or a
        stable system with the given blocks.  An LFT with states and a system are looked at over all frequencies.
    blocks : list
        In the order of M's channels: ``("real", r)`` and ``("complex", r)`` for scalars repeated r times,
        ``("full complex", (rows, columns))`` for a Delta_i of that shape (so M has ``columns`` rows and ``rows`` columns
        there), or blocks of an LFT's ``delta``.
    tolerance : float
        Relative gap between the bounds that is good enough.
    time_limit : float
        Seconds.
    seed : int
        Of the search directions of the lower bound.

    Returns
    -------
    MuBounds

    Raises
    ------
    ModelError
        Wrong shapes, kinds or types.

    Notes
    -----
    Upper bound: D, G scalings (Fan, Tits, Doyle, IEEE TAC 36, 1991).  A "full real" block is bounded as if it were
    complex, and where M is complex as well a Delta for it is often not found: the bounds then stay apart.
    mu of real scalars may be 0: ``[[0, 1], [-1, 0]]`` has no real eigenvalue.  An upper bound below 1e-5 (for a system
    1e-4) of the largest gain of M counts as 0 and ends the search.

    Examples
    --------
    >>> import lftgen as lg
    >>> result = lg.mu([[0, 1], [-1, 0]], [("real", 2)])
    >>> result.lower, result.upper
    (0.0, 0.0)
    >>> result = lg.mu([[1, 2], [3, 4]], [("full complex", (2, 2))])  # the largest singular value
    >>> round(result.lower, 4), round(result.upper, 4)
    (5.465, 5.465)
    """
    arguments.fraction(tolerance, "mu: tolerance")
    arguments.whole_number(seed, "mu: seed")
    clock = Clock(arguments.number(time_limit, "mu: time_limit", minimum=0))
    if isinstance(M, LFT):
        if blocks is not None:
            raise ModelError("mu: an LFT has its own blocks; leave blocks out")
        return _of_lft(M, tolerance, clock, seed)
    if blocks is None:
        raise ModelError(
            "mu: a matrix or a system needs blocks, such as [('real', 2), ('full complex', (1, 1))]"
        )
    structure = MuStructure(parse_blocks(blocks))
    if is_control_system(M):
        data = from_control(M)
        count = sum(b.kind == "real" and b.repetitions > 0 for b in structure.blocks)
        _check_shape(data.shape, structure)
        keep = MuStructure(tuple(b for b in structure.blocks if b.repetitions))
        loop = Loop(np.array(data.M), data.n_states, keep).balanced()
        return _of_loop(Box(loop, (), np.zeros(count)), tolerance, clock, seed)
    return _of_matrix(_matrix(M), structure, tolerance, clock, seed)


def _matrix(M: Any) -> np.ndarray:
    try:
        array = np.asarray(M, dtype=complex)
    except (TypeError, ValueError) as error:
        raise ModelError(f"mu: expected a matrix of numbers, got {M!r}") from error
    if array.ndim != 2 or not np.all(np.isfinite(array)):
        raise ModelError(f"mu: expected a matrix of finite numbers, got shape {array.shape}")
    return array if np.any(array.imag) else array.real


def _check_shape(shape: tuple[int, ...], structure: MuStructure) -> None:
    if shape != (structure.n_z, structure.n_w):
        raise ModelError(
            f"mu: the blocks need a matrix of {structure.n_z} rows and {structure.n_w} columns, got {shape[0]}x{shape[1]}"
        )


def _of_matrix(M: np.ndarray, structure: MuStructure, tolerance: float, clock: Clock, seed: int) -> MuBounds:
    _check_shape(M.shape, structure)
    keep = MuStructure(tuple(b for b in structure.blocks if b.repetitions))
    upper = minimise(keep.pad(M), Problem.whole(keep), tolerance=min(1e-3, 0.2 * tolerance)).level
    upper *= 1 + 1e-9  # rounding of the eigenvalue
    found = lower_bound(M, keep, seed=seed)
    tried = "D, G scalings; rays and local search"
    goal = (found.bound if found else 0.0) * (1 + tolerance)
    if upper > goal and np.isrealobj(M) and keep.real_only and found is not None:
        loop = Loop(M, 0, keep)
        proof = pieces.certify_stability(
            loop, found.size / (1 + 0.9 * tolerance), clock, (np.inf,), pieces.budget(loop)
        )
        tried += f"; {proof.pieces} pieces"
        upper = min(upper, found.bound * (1 + 0.9 * tolerance)) if proof.proven else upper
    lower = min(found.bound, upper) if found else 0.0
    zero = NEARLY_ZERO * float(np.linalg.norm(M, 2)) if M.size else 0.0
    status = "done" if upper <= goal or upper <= zero else "time limit" if clock.over else "bounds apart"
    return MuBounds(
        float(lower),
        float(upper),
        _named(keep, found),
        status=status,
        tried=tried,
        seconds=round(clock.spent, 4),
    )


def _named(structure: MuStructure, found: Singular | None) -> dict[str, Any]:
    if found is None:
        return {}
    out: dict[str, Any] = {}
    for i, (b, value) in enumerate(zip(structure.blocks, found.deltas, strict=True)):
        scalar = value.ndim == 0 or (value.size == 1 and b.shape == (1, 1))
        number = complex(np.ravel(value)[0]) if scalar else value
        out[b.name or f"block {i}"] = (
            number.real if b.kind == "real" and isinstance(number, complex) else number
        )
    return out


def _of_lft(plant: LFT, tolerance: float, clock: Clock, seed: int) -> MuBounds:
    try:
        box = Box.of(plant.data)
        box.check_well_posed()
    except IllPosedError as error:
        inf = float("inf")
        return MuBounds(inf, inf, status="ill-posed", tried=str(error), seconds=clock.spent)
    if plant.states:
        return _of_loop(box, tolerance, clock, seed)
    loop = box.loop
    return _of_matrix(loop.M[loop.z, loop.w], loop.structure, tolerance, clock, seed)


def _of_loop(box: Box, tolerance: float, clock: Clock, seed: int) -> MuBounds:
    """Bounds over all frequencies, in units of the largest gain of M(jw), which mu does not exceed."""
    n, M = box.loop.n, box.loop.M
    w, z = box.loop.w, box.loop.z
    gain, where = hinf_norm(M[:n, :n], M[:n, w], M[z, :n], M[z, w])
    if gain == 0:
        return MuBounds(0.0, 0.0, {}, where, "done", "M is zero", round(clock.spent, 4))
    unit = gain if np.isfinite(gain) else 1.0
    M = M.copy()
    M[:, w] /= unit
    scaled = replace(box, loop=replace(box.loop, M=M), nominal=box.nominal * unit)
    search = MarginSearch(scaled, tolerance, 1 / SYSTEM_ZERO, clock, seed, None)
    margin = search.run()
    low, high = (unit * bound for bound in margin.mu)
    deltas = {name: value / unit for name, value in search.deltas().items()}
    tried = f"margins in units of 1/{unit:.6g}: {margin.tried}" if margin.tried else ""
    return MuBounds(low, high, deltas, margin.frequency, margin.status, tried, round(clock.spent, 4))
