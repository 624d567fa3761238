"""An LFT against the numeric articulated-body model, at random points and at corners."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lftgen.arguments import instance, number, whole_number
from lftgen.errors import ModelError
from lftgen.lft.model import LFT
from lftgen.lft.report import html_table, text_table
from lftgen.lft.sampling import sample_points
from lftgen.lft.threads import single_threaded
from lftgen.mechanics.mechanism import Mechanism
from lftgen.oracle import numeric_model
from lftgen.parameters import Parameter

MAX_CORNERS = 256
TRUE_ZERO = 1e-14
"""A block whose true entries are below this, relative to the largest of ``[A B; C D]``, is zero up to the rounding of
the numeric model itself (sines of pi and the like), so that its own size is no scale."""
BLOCKS = ("kinematic", "A21", "A22", "B", "C", "D")
"""Blocks that errors are reported by: kinematic rows of A and B, then accelerations from positions, from rates, from
inputs, then outputs."""


@dataclass(frozen=True)
class CheckReport:
    """Result of a check.

    Attributes
    ----------
    passed : bool
        Whether the largest error is within the tolerance.
    max_relative_error : float
    worst_point : dict of str to float
        Where it was found, in user values.
    worst_block : str
    block_errors : dict of str to float
        Largest relative error of each block: relative to the block's largest true entry at the point; where the block
        is truly zero, to the largest entry of ``[A B; C D]``.
    points : int
        Points compared: the nominal, corners and random ones.
    tolerance : float
    """

    passed: bool
    max_relative_error: float
    worst_point: Mapping[str, float]
    worst_block: str
    block_errors: Mapping[str, float]
    points: int
    tolerance: float

    def __bool__(self) -> bool:
        return self.passed

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "passed": self.passed,
            "max_relative_error": self.max_relative_error,
            "worst_point": dict(self.worst_point),
            "worst_block": self.worst_block,
            "block_errors": dict(self.block_errors),
            "points": self.points,
            "tolerance": self.tolerance,
        }

    def _cells(self) -> list[tuple[str, ...]]:
        rows = [
            (k, f"{v:.1e}", "ok" if v <= self.tolerance else "WRONG") for k, v in self.block_errors.items()
        ]
        return [("block", "relative error", f"tolerance {self.tolerance:.0e}"), *rows]

    def __str__(self) -> str:
        verdict = "passed" if self.passed else "FAILED"
        where = ", ".join(f"{k} = {v:.6g}" for k, v in self.worst_point.items()) or "the nominal"
        head = f"check {verdict}: largest relative error {self.max_relative_error:.1e} in {self.worst_block} at {where} ({self.points} points)"
        return f"{head}\n{text_table(self._cells())}"

    def _repr_html_(self) -> str:
        return html_table(self._cells())


@single_threaded
def check(
    mechanism: Mechanism,
    plant: LFT,
    *,
    samples: int = 200,
    seed: int = 0,
    tolerance: float = 1e-8,
    progress: Callable[[int, int], None] | None = None,
) -> CheckReport:
    """Compare an LFT, as exported to python-control, with the numeric model of a mechanism.

    The numeric model is linearised by complex step on articulated-body dynamics that share no code with the LFT.

    Parameters
    ----------
    mechanism : Mechanism
        Where a trim solved for something, ``trim.mechanism``.
    samples : int
        Random points, uniform in what the user speaks (angles, masses); the nominal and corners (all, or 256) are added.
    progress : callable, optional
        Called with (points done, points in all).

    Returns
    -------
    CheckReport

    Raises
    ------
    ModelError
        A plant whose parameters, states or signals are not the mechanism's.

    Examples
    --------
    >>> import lftgen as lg
    >>> bob = lg.RigidBody("bob", mass=lg.uncertain("m", 3.0, percent=20), com=(0, 0, -2))
    >>> hinge = lg.RevoluteJoint("hinge", parent="ground", child="bob", axis=(1, 0, 0))
    >>> pendulum = lg.Mechanism("pendulum", bodies=[bob], joints=[hinge])
    >>> lg.check(pendulum, pendulum.linearize(), samples=20).passed
    True
    """
    instance(mechanism, Mechanism, "check: mechanism (the first argument)")
    instance(plant, LFT, "check: plant (the second argument)")
    samples, seed = whole_number(samples, "check: samples"), whole_number(seed, "check: seed")
    tolerance = number(tolerance, "check: tolerance", minimum=0.0)
    _check_same_model(mechanism, plant)
    points = check_points(mechanism.parameters, samples, seed)
    count = max((len(v) for v in points.values()), default=1)
    truth = numeric_model(mechanism, points, plant.inputs, plant.outputs).linearize()
    errors = np.zeros((count, len(BLOCKS)))
    for i in range(count):
        here: dict[str, Any] = {k: float(v[i]) for k, v in points.items()}
        ss = plant.at(**here)
        got = tuple(np.asarray(m) for m in (ss.A, ss.B, ss.C, ss.D))
        want = tuple(
            np.broadcast_to(m, (count, *m.shape[-2:]))[i] for m in (truth.A, truth.B, truth.C, truth.D)
        )
        errors[i] = block_errors(got, want)
        if progress is not None:
            progress(i + 1, count)
    i, k = (int(j) for j in np.unravel_index(int(np.argmax(errors)), errors.shape))
    worst = float(errors[i, k])
    return CheckReport(
        passed=bool(worst <= tolerance),
        max_relative_error=worst,
        worst_point={name: float(v[i]) for name, v in points.items()},
        worst_block=BLOCKS[k],
        block_errors=dict(zip(BLOCKS, (float(e) for e in errors.max(axis=0)), strict=True)),
        points=count,
        tolerance=tolerance,
    )


def check_points(parameters: tuple[Parameter, ...], samples: int, seed: int) -> dict[str, np.ndarray]:
    """The nominal, corners (all, or 256 at random) and uniform random points, by parameter name."""
    if not parameters:
        return {}
    parts = [
        {p.name: np.array([p.nominal]) for p in parameters},
        sample_points(parameters, MAX_CORNERS, method="corners", seed=seed),
    ]
    if samples:
        parts.append(sample_points(parameters, samples, seed=seed))
    return {p.name: np.concatenate([part[p.name] for part in parts]) for p in parameters}


def block_errors(got: tuple[np.ndarray, ...], want: tuple[np.ndarray, ...]) -> list[float]:
    """Relative error of each block of ``[A B; C D]`` (positions first, then as many rates)."""
    n = got[0].shape[0] // 2
    largest = max(float(np.max(np.abs(m), initial=0.0)) for m in want) or 1.0

    def error(g: np.ndarray, w: np.ndarray) -> float:
        size = float(np.max(np.abs(w), initial=0.0))
        return float(np.max(np.abs(g - w), initial=0.0)) / (size if size > TRUE_ZERO * largest else largest)

    (A, B, C, D), (a, b, c, d) = got, want
    kinematic = error(np.hstack([A[:n], B[:n]]), np.hstack([a[:n], b[:n]]))
    return [
        kinematic,
        error(A[n:, :n], a[n:, :n]),
        error(A[n:, n:], a[n:, n:]),
        error(B[n:], b[n:]),
        error(C, c),
        error(D, d),
    ]


def _check_same_model(mechanism: Mechanism, plant: LFT) -> None:
    states = tuple(n for j in mechanism.joints for n in j.names(j.positions))
    states += tuple(n for j in mechanism.joints for n in j.names(j.rates))
    if plant.states != states:
        raise ModelError(
            f"check: the plant's states {plant.states} are not those of {mechanism.name}, {states}"
        )
    mine = {p.name for p in mechanism.parameters}
    theirs = {p.name for p in plant.parameters if p.name in mine or plant.repetitions[p.name]}
    if mine != theirs:
        raise ModelError(
            f"check: parameters differ: only in {mechanism.name}: {sorted(mine - theirs) or 'none'}; only in the plant: "
            f"{sorted(theirs - mine) or 'none'}; check before fixing parameters with subs"
        )
