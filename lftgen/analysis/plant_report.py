"""What stands against a synthesis: ranks of the direct terms, modes that cannot be moved or seen, rigid modes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lftgen.analysis.channels import matrices_at
from lftgen.analysis.plant_modes import RANK, rank, right_modes
from lftgen.lft.hinf_norm import balanced
from lftgen.lft.model import LFT
from lftgen.lft.report import html_table, text_table


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
    rigid_counts: tuple[int, ...] = ()

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
        return out + self.hidden + list(self.axis_zeros)

    @property
    def hidden(self) -> list[str]:
        """Modes that no controller can stabilise, in words."""
        out = []
        for modes, what, fix in (
            (self.not_stabilisable, "cannot be stabilised by u", "add a control, or make the weight stable"),
            (self.not_detectable, "cannot be seen in y", "add a measurement, or make the weight stable"),
        ):
            out += [f"the mode {_pole(p)} ({', '.join(names)}) {what}: {fix}" for p, names in modes]
        return out


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
                    "rigid_modes": [
                        {"pole": _pole(p), "count": k, "states": list(n)}
                        for (p, n), k in zip(r.rigid, r.rigid_counts, strict=True)
                    ],
                }
                for r in self.rows
            ],
        }

    def _cells(self) -> list[tuple[str, ...]]:
        seen: dict[str, int] = {}
        for row in self.rows:
            for text in row.problems:
                seen[text] = seen.get(text, 0) + 1
            for (pole, names), count in zip(row.rigid, row.rigid_counts, strict=True):
                times = f"{count} poles" if count > 1 else "a pole"
                text = f"{times} on the imaginary axis: {_pole(pole)} ({', '.join(names)})"
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
    n_z, n_w = lft.shape[0] - n_y, lft.shape[1] - n_u
    A, B, C, D = balanced(matrices_at(lft, point))
    modes = right_modes((A, B, C, D), lft.states)

    def hidden(matrix: np.ndarray, along: int) -> tuple[tuple[complex, tuple[str, ...]], ...]:
        """Modes that fail the test of Popov, Belevitch and Hautus."""
        tests = [(m, np.concatenate([A - m.pole * np.eye(len(A)), matrix], axis=along)) for m in modes]
        return tuple((m.pole, m.states) for m, test in tests if rank(test) < len(A))

    rigid = [m for m in modes if m.pole.real == 0]
    return PlantRow(
        dict(point),
        (_direct_rank(D[:n_z, n_w:]), n_u),
        (_direct_rank(D[n_z:, :n_w]), n_y),
        hidden(B[:, n_w:], 1),
        hidden(C[n_z:], 0),
        tuple((m.pole, m.states) for m in rigid),
        _axis_zeros((A, B, C, D), n_z, n_w, sorted({m.pole.imag for m in rigid})),
        tuple(m.count for m in rigid),
    )


def _axis_zeros(
    system: tuple[np.ndarray, ...], n_z: int, n_w: int, frequencies: list[float]
) -> tuple[str, ...]:
    """Zeros of the two control channels at the frequencies of the poles on the axis, where rigid modes are easily lost."""
    A, B, C, D = system
    out = []
    for w in frequencies:
        s = 1j * w * np.eye(len(A))
        effort = np.block([[A - s, B[:, n_w:]], [C[:n_z], D[:n_z, n_w:]]])
        noise = np.block([[A - s, B[:, :n_w]], [C[n_z:], D[n_z:, :n_w]]])
        if rank(effort) < effort.shape[1]:
            out.append(
                f"the channel u to z has a zero at {w:g} rad/s: let the performance outputs see the mode there"
            )
        if rank(noise) < noise.shape[0]:
            out.append(
                f"the channel w to y has a zero at {w:g} rad/s: let a disturbance drive the mode there"
            )
    return tuple(out)


def _direct_rank(matrix: np.ndarray) -> int:
    """Rank of a direct term in the units of the weights, as SLICOT judges it."""
    values = np.linalg.svd(matrix, compute_uv=False) if matrix.size else np.zeros(0)
    return int(np.sum(values > RANK * values[0])) if len(values) and values[0] > 0 else 0


def _pole(value: complex) -> str:
    if abs(value.imag) <= 1e-9 * max(abs(value), 1e-300) or abs(value) < 1e-9:
        return f"{0.0 if abs(value.real) < 1e-9 else value.real:.4g} rad/s"
    return f"{value.real:.4g} +- {abs(value.imag):.4g}j rad/s"
