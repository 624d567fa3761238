"""Equilibrium equations that are affine in loads and accelerations, solved as LFTs by an exchange of channels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lftgen.errors import TrimError
from lftgen.lft.algebra import exchange, select
from lftgen.lft.connect import renamed
from lftgen.lft.data import LFTData, default_names
from lftgen.lft.evaluation import evaluate_ports
from lftgen.lft.reduction.kalman import reduce

NOISE = 1e-11
"""Equations below this, relative to the largest, are rounding errors of what vanishes (the balance is checked again)."""
TOLERANCE = 1e-9
"""Singular values below this, relative to the largest of the scaled equations, count as zero."""


def solve_affine(names: Sequence[str], residual: LFTData | None, unknowns: Sequence[str]) -> LFTData:
    """u as an LFT from ``residual [1; u] = 0``.

    As many independent equations are taken as there are unknowns; that the others hold too is seen at random points.
    Equations and unknowns change places as channels do, so the repetitions do not grow.

    Raises
    ------
    TrimError
        Over-determined (with the equation that contradicts), under-determined, or an unknown that does not enter.
    """
    if residual is None:
        raise TrimError(
            f"solve: every joint has its actuator, so {', '.join(unknowns)} may be anything; leave solve out"
        )
    values = _samples(residual)
    scale = np.abs(values).max(axis=(0, 2))
    rows = [i for i, s in enumerate(scale) if s > NOISE * scale.max()]
    values = values[:, rows] / scale[rows, None]
    known, gain = values[:, :, 0], values[:, :, 1:]
    _check_entering(gain, unknowns, [names[i] for i in rows])
    size = np.abs(gain).max(axis=(0, 1))
    gain = gain / size
    _check_determined(gain, unknowns, [names[i] for i in rows])
    _check_consistent(known, gain, unknowns, [names[i] for i in rows])
    chosen = [rows[i] for i in _independent(gain, len(unknowns))]
    square = reduce(select(residual, chosen, range(residual.shape[1])))
    plain = renamed(square, inputs=["1", *unknowns], outputs=[f"r.{i}" for i in range(len(chosen))])
    turned = exchange(
        plain,
        range(len(chosen)),
        range(1, len(unknowns) + 1),
        "the equilibrium equations at the nominal values",
    )
    u = reduce(select(turned, range(len(unknowns)), [0]))
    return renamed(u, inputs=default_names("u", 1), outputs=default_names("y", len(unknowns)))


def _samples(residual: LFTData) -> np.ndarray:
    """Values at the nominal first, then at random points of the box."""
    if residual.field.symbols:
        from lftgen.lft.symbolic import substitute_symbols

        rng = np.random.default_rng(6)
        residual = substitute_symbols(
            residual,
            {s.name: float(v) for s, v in zip(residual.field.symbols, rng.uniform(0.5, 2, 99), strict=False)},
        )
    rng = np.random.default_rng(5)
    points = {
        b.name: np.concatenate([[b.parameter.nominal], rng.uniform(b.parameter.lower, b.parameter.upper, 7)])
        for b in residual.structure.blocks
        if b.parameter is not None
    }
    return evaluate_ports(residual, points)


def _check_entering(gain: np.ndarray, unknowns: Sequence[str], equations: Sequence[str]) -> None:
    largest = np.abs(gain).max(axis=(0, 1), initial=0.0) if gain.size else np.zeros(len(unknowns))
    for name, value in zip(unknowns, largest, strict=True):
        if value <= 1e-13:
            among = f" ({', '.join(equations)})" if equations else ""
            raise TrimError(
                f"solve: {name} does not enter the equilibrium equations{among}; solve for something that does"
            )


def _check_determined(gain: np.ndarray, unknowns: Sequence[str], equations: Sequence[str]) -> None:
    stacked = np.linalg.svd(gain[-1])
    values = np.zeros(len(unknowns))
    values[: len(stacked.S)] = stacked.S
    if values[-1] > TOLERANCE * values[0]:
        return
    loose = np.abs(stacked.Vh[values <= TOLERANCE * values[0]]).max(axis=0)
    names = [n for n, v in zip(unknowns, loose, strict=True) if v > 1e-6]
    raise TrimError(
        f"solve: under-determined: the equilibrium equations ({', '.join(equations)}) fix {int((values > TOLERANCE * values[0]).sum())} "
        f"of {len(unknowns)} unknowns and leave {', '.join(names)} undecided; leave some of them out"
    )


def _check_consistent(
    known: np.ndarray, gain: np.ndarray, unknowns: Sequence[str], equations: Sequence[str]
) -> None:
    for r, G in zip(known, gain, strict=True):
        u = np.linalg.lstsq(G, -r, rcond=None)[0]
        left = r + G @ u
        size = np.abs(r) + np.abs(G) @ np.abs(u)
        if np.any(np.abs(left) > 1e-8 * size.max()):
            empty = [
                i
                for i in range(len(r))
                if np.abs(gain[:, i]).max() <= 1e-13 and abs(left[i]) > 1e-8 * size.max()
            ]
            k = empty[0] if empty else int(np.argmax(np.abs(left)))
            why = "holds none of the unknowns and does not vanish" if empty else "contradicts the others"
            raise TrimError(
                f"solve: over-determined: {len(equations)} equations ({', '.join(equations)}) for {len(unknowns)} unknowns "
                f"({', '.join(unknowns)}); equation {equations[k]} {why}. Add an unknown that enters it, or change the loads"
            )


def _independent(gain: np.ndarray, count: int) -> list[int]:
    """Equations that decide the unknowns best at the nominal: pivots of a QR decomposition of the transpose."""
    from scipy.linalg import qr

    _, _, pivots = qr(gain[0].T, pivoting=True)
    return sorted(int(i) for i in pivots[:count])
