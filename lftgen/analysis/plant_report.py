"""What stands against a synthesis: ranks of the direct terms, modes that cannot be moved or seen, rigid modes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from lftgen.lft.hinf_norm import balanced
from lftgen.lft.model import LFT
from lftgen.lft.report import html_table, text_table

RANK = 1e-8
"""A singular value below this, relative to the largest, counts as zero."""
NEAR = 1e-6
"""Poles closer than this, relative to the largest entry of A, are one mode."""
ON_AXIS = 1e-7
"""A pole counts as on the imaginary axis where its real part is below this, relative to the fastest pole's modulus."""


@dataclass(frozen=True)
class PlantRow:
    """What holds at one point (empty: the nominal).

    ``rank_D12`` and ``rank_D21`` are (rank, wanted); modes are given as (pole, names of the states that take part most).
    """

    point: Mapping[str, float]
    rank_D12: tuple[int, int]
    rank_D21: tuple[int, int]
    not_stabilisable: tuple[tuple[complex, tuple[str, ...]], ...]
    not_detectable: tuple[tuple[complex, tuple[str, ...]], ...]
    rigid: tuple[tuple[complex, tuple[str, ...]], ...]
    axis_zeros: tuple[str, ...]

    @property
    def problems(self) -> list[str]:
        """What keeps ``hinfsyn`` from working, in words."""
        out = []
        if self.rank_D12[0] < self.rank_D12[1]:
            out.append(f"D12 has rank {self.rank_D12[0]} of {self.rank_D12[1]}: weigh every control in z")
        if self.rank_D21[0] < self.rank_D21[1]:
            out.append(
                f"D21 has rank {self.rank_D21[0]} of {self.rank_D21[1]}: put noise on every measurement into w"
            )
        for modes, what, fix in (
            (self.not_stabilisable, "cannot be stabilised by u", "add a control, or make the weight stable"),
            (self.not_detectable, "cannot be seen in y", "add a measurement, or make the weight stable"),
        ):
            out += [f"the mode {_pole(p)} ({', '.join(names)}) {what}: {fix}" for p, names in modes]
        return out + list(self.axis_zeros)


@dataclass(frozen=True)
class PlantReport:
    """Rows for the nominal and for samples."""

    rows: tuple[PlantRow, ...]

    @property
    def ready(self) -> bool:
        """Whether nothing stands against an H-infinity synthesis at any of the points."""
        return not any(r.problems for r in self.rows)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "ready": self.ready,
            "points": [
                {
                    "point": dict(r.point),
                    "problems": r.problems,
                    "rigid_modes": [[_pole(p), list(n)] for p, n in r.rigid],
                }
                for r in self.rows
            ],
        }

    def _cells(self) -> list[tuple[str, ...]]:
        seen: dict[str, int] = {}
        for row in self.rows:
            for text in row.problems:
                seen[text] = seen.get(text, 0) + 1
            for pole, names in row.rigid:
                text = f"mode on the imaginary axis: {_pole(pole)} ({', '.join(names)})"
                seen[text] = seen.get(text, 0) + 1
        rows = [(text, f"{n} of {len(self.rows)}") for text, n in seen.items()]
        return [
            ("finding", "points"),
            *(rows or [("nothing stands against a synthesis", f"{len(self.rows)}")]),
        ]

    def __str__(self) -> str:
        return text_table(self._cells())

    def _repr_html_(self) -> str:
        return html_table(self._cells())


def row_at(lft: LFT, n_y: int, n_u: int, point: dict[str, float]) -> PlantRow:
    """What holds at one point of a plant whose last outputs are measurements and last inputs controls."""
    at = lft.evaluate(dict(point))
    n_z, n_w = lft.shape[0] - n_y, lft.shape[1] - n_u
    A, B, C, D = balanced((at.A[0], at.B[0], at.C[0], at.D[0]))
    B2, C2, D12, D21 = B[:, n_w:], C[n_z:], D[:n_z, n_w:], D[n_z:, :n_w]
    values = np.linalg.eigvals(A) if len(A) else np.zeros(0)
    fast = max(float(np.max(np.abs(values), initial=0.0)), 1e-300)
    right = [i for i, v in enumerate(values) if v.real >= -ON_AXIS * fast and v.imag >= 0]
    names = lft.states

    def hidden(matrix: np.ndarray, along: int) -> tuple[tuple[complex, tuple[str, ...]], ...]:
        found = []
        for i in right:
            test = np.concatenate([A - values[i] * np.eye(len(A)), matrix], axis=along)
            if _rank(test) < len(A):
                found.append((complex(values[i]), _states(A, values[i], names)))
        return tuple(found)

    rigid = tuple(
        (complex(values[i]), _states(A, values[i], names))
        for i in right
        if abs(values[i].real) <= ON_AXIS * fast
    )
    zeros = _axis_zeros(
        A, B, C, D, n_z, n_w, [values[i] for i in right if abs(values[i].real) <= ON_AXIS * fast]
    )
    return PlantRow(
        dict(point),
        (_rank(D12), n_u),
        (_rank(D21), n_y),
        hidden(B2, 1),
        hidden(C2, 0),
        _merged(rigid),
        zeros,
    )


def _axis_zeros(
    A: np.ndarray, B: np.ndarray, C: np.ndarray, D: np.ndarray, n_z: int, n_w: int, poles: list[complex]
) -> tuple[str, ...]:
    """Zeros of the two control channels at the frequencies of the poles on the axis, where rigid modes are easily lost."""
    out = []
    for w in sorted({round(abs(p.imag), 9) for p in poles}):
        s = 1j * w * np.eye(len(A))
        effort = np.block([[A - s, B[:, n_w:]], [C[:n_z], D[:n_z, n_w:]]])
        noise = np.block([[A - s, B[:, :n_w]], [C[n_z:], D[n_z:, :n_w]]])
        if _rank(effort) < effort.shape[1]:
            out.append(
                f"the channel u to z has a zero at {w:g} rad/s: let the performance outputs see the mode there"
            )
        if _rank(noise) < noise.shape[0]:
            out.append(
                f"the channel w to y has a zero at {w:g} rad/s: let a disturbance drive the mode there"
            )
    return tuple(out)


def _rank(matrix: np.ndarray) -> int:
    values = np.linalg.svd(matrix, compute_uv=False) if matrix.size else np.zeros(0)
    return int(np.sum(values > RANK * values[0])) if len(values) and values[0] > 0 else 0


def _states(A: np.ndarray, pole: complex, names: Any) -> tuple[str, ...]:
    """The states that take part in a mode: a third of the largest diagonal entry of its spectral projector, or more."""
    near = NEAR * max(float(np.max(np.abs(A))), abs(pole))

    def basis(matrix: np.ndarray, at: complex) -> np.ndarray:
        _, q, n = scipy.linalg.schur(
            matrix.astype(complex), output="complex", sort=lambda x: abs(x - at) <= near
        )
        return q[:, :n]

    right, left = basis(A, pole), basis(A.conj().T, np.conj(pole))
    k = min(right.shape[1], left.shape[1])
    if not k:
        return ()
    right, left = right[:, :k], left[:, :k]
    size = np.abs(np.sum((right @ np.linalg.pinv(left.conj().T @ right)) * left.conj(), axis=1))
    return tuple(names[i] for i in np.flatnonzero(size >= size.max() / 3))


def _merged(
    modes: tuple[tuple[complex, tuple[str, ...]], ...],
) -> tuple[tuple[complex, tuple[str, ...]], ...]:
    """Equal poles as one, with the states of all of them."""
    out: list[tuple[complex, tuple[str, ...]]] = []
    for pole, names in modes:
        place = next((i for i, (p, _) in enumerate(out) if abs(p - pole) <= 1e-6 * max(1.0, abs(pole))), None)
        if place is None:
            out.append((pole, names))
        else:
            out[place] = (out[place][0], tuple(dict.fromkeys([*out[place][1], *names])))
    return tuple(out)


def _pole(value: complex) -> str:
    if abs(value.imag) <= 1e-9 * max(abs(value), 1e-300) or abs(value) < 1e-9:
        return f"{0.0 if abs(value.real) < 1e-9 else value.real:.4g} rad/s"
    return f"{value.real:.4g} +- {abs(value.imag):.4g}j rad/s"
