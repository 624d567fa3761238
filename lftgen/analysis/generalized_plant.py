"""Generalised plants: performance and control channels sorted and weighted, and a report of what synthesis will meet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from lftgen.arguments import instance, items, whole_number
from lftgen.errors import ModelError
from lftgen.lft.build import block_diag
from lftgen.lft.hinf_norm import balanced
from lftgen.lft.model import LFT
from lftgen.lft.report import html_table, text_table

RANK = 1e-8
"""A singular value below this, relative to the largest, counts as zero."""
NEAR = 1e-6
"""Poles closer than this, relative to the largest entry of A, are one mode."""
ON_AXIS = 1e-7
"""A pole counts as on the imaginary axis where its real part is below this, relative to the fastest pole's modulus."""


@dataclass(frozen=True, eq=False)
class GeneralizedPlant:
    """A plant from [w; u] to [z; y].

    Attributes
    ----------
    lft : LFT
        Outputs z then y, inputs w then u.
    w, u, z, y : tuple of str
        Exogenous inputs, controls, performance outputs, measurements.
    """

    lft: LFT
    w: tuple[str, ...]
    u: tuple[str, ...]
    z: tuple[str, ...]
    y: tuple[str, ...]

    @property
    def nmeas(self) -> int:
        """Number of measurements."""
        return len(self.y)

    @property
    def ncon(self) -> int:
        """Number of controls."""
        return len(self.u)

    def at(self, **values: Any) -> Any:
        """The plant at one point, a named control.StateSpace."""
        return self.lft.at(**values)

    def close(self, controller: Any) -> LFT:
        """The loop under a controller from y to u (an LFT, a python-control system, a matrix)."""
        return self.lft.star(controller)

    def report(self, *, samples: int = 20, seed: int = 0) -> PlantReport:
        """What a synthesis will meet at the nominal and at samples of the box: ranks, hidden modes, rigid modes."""
        count = whole_number(samples, "report: samples")
        points: list[dict[str, float]] = [{}]
        if count and self.lft.parameters:
            table = self.lft.sample(count, method="sobol", seed=seed)
            points += [{k: float(v[i]) for k, v in table.items()} for i in range(count)]
        rows = [_row(self, p) for p in points]
        return PlantReport(tuple(rows))


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


def generalized_plant(
    plant: LFT,
    *,
    controls: Sequence[str],
    measurements: Sequence[str],
    inputs: Sequence[str],
    outputs: Sequence[str],
    weights: Mapping[str, Any] | None = None,
    references: Mapping[str, str] | None = None,
) -> GeneralizedPlant:
    """Sort and weigh the channels of a plant for synthesis.

    Parameters
    ----------
    plant : LFT
    controls, measurements : sequence of str
        Inputs of the plant that the controller drives, outputs that it reads.
    inputs, outputs : sequence of str
        Exogenous inputs and performance outputs.  A signal may be both a control and a performance output (its effort), or
        both a performance output and a measurement; references (below) may be named among the inputs.
    weights : mapping of signal to weight, optional
        For inputs and outputs of the performance channel: a number, a python-control system, or an LFT, one input and output.
    references : mapping of reference to output, optional
        ``{"r1": "J1_angle"}`` adds an input r1 and replaces that measurement or performance output by the error
        ``r1 - J1_angle``, everywhere, under the name ``J1_angle_error``.

    Returns
    -------
    GeneralizedPlant

    Raises
    ------
    ModelError
        Unknown signals (close ones are listed), weights of another shape or for signals that are not in the channel.

    Examples
    --------
    >>> import control, lftgen as lg
    >>> m = lg.uncertain("m", 1.0, percent=20)
    >>> body = lg.ss([[0, 1], [0, 0]], [[0], [1 / m]], [[1, 0]], [[0]], states=["x", "v"], inputs=["f"], outputs=["x"])
    >>> P = lg.generalized_plant(
    ...     body, controls=["f"], measurements=["x_error"], inputs=["r"], outputs=["x_error", "f"],
    ...     references={"r": "x"}, weights={"x_error": control.tf([1, 1], [2, 0.02]), "f": 0.1},
    ... )
    >>> P.w, P.z, P.y, P.report(samples=0).rows[0].rigid[0][1]  # the mass is free to move
    (('r',), ('x_error', 'f'), ('x_error',), ('x', 'v'))
    """
    instance(plant, LFT, "generalized_plant: plant")
    groups = {
        name: items(value, f"generalized_plant: {name}", str)
        for name, value in (
            ("controls", controls),
            ("measurements", measurements),
            ("inputs", inputs),
            ("outputs", outputs),
        )
    }
    for name, members in groups.items():
        if not members:
            raise ModelError(f"generalized_plant: {name} is empty")
    wide = _with_references(plant, dict(references or {}))
    wide = _with_efforts(wide, groups["controls"], groups["outputs"])
    chosen = _select(
        wide, [*groups["outputs"], *groups["measurements"]], [*groups["inputs"], *groups["controls"]]
    )
    given = dict(weights or {})
    known = {*groups["inputs"], *groups["outputs"]}
    stray = sorted(set(given) - known)
    if stray:
        raise ModelError(
            f"generalized_plant: weights for {', '.join(stray)}, which are no inputs or outputs of the performance channel; "
            f"those are {', '.join(sorted(known))}"
        )
    left = _weights(given, groups["outputs"], len(groups["measurements"]))
    right = _weights(given, groups["inputs"], len(groups["controls"]))
    lft = left @ chosen @ right
    lft = lft.rename(
        outputs=_apart([*groups["outputs"], *groups["measurements"]]),
        inputs=_apart([*groups["inputs"], *groups["controls"]]),
    )
    return GeneralizedPlant(
        lft, groups["inputs"], groups["controls"], groups["outputs"], groups["measurements"]
    )


def _with_references(plant: LFT, references: dict[str, str]) -> LFT:
    """The plant with a further input for each reference and a further output for each error."""
    if not references:
        return plant
    missing = [y for y in references.values() if y not in plant.outputs]
    if missing:
        plant[missing, :]  # names the close ones
    taken = sorted(set(references) & set(plant.inputs))
    if taken:
        raise ModelError(
            f"generalized_plant: references {', '.join(taken)} are inputs of the plant already; name them otherwise"
        )
    (p, m), k = plant.shape, len(references)
    rows = np.zeros((k, p))
    for i, y in enumerate(references.values()):
        rows[i, plant.outputs.index(y)] = -1.0
    grown = np.vstack([np.eye(p), rows]) @ plant @ np.hstack([np.zeros((m, k)), np.eye(m)])
    direct = np.vstack([np.zeros((p, k + m)), np.hstack([np.eye(k), np.zeros((k, m))])])
    return (grown + direct).rename(
        inputs=[*references, *plant.inputs],
        outputs=[*plant.outputs, *(f"{y}_error" for y in references.values())],
    )


def _with_efforts(plant: LFT, controls: Sequence[str], outputs: Sequence[str]) -> LFT:
    """The plant with an output for each control that is a performance output as well."""
    wanted = [n for n in outputs if n in controls and n not in plant.outputs and n in plant.inputs]
    if not wanted:
        return plant
    p, m = plant.shape
    direct = np.zeros((p + len(wanted), m))
    for i, name in enumerate(wanted):
        direct[p + i, plant.inputs.index(name)] = 1.0
    grown = np.vstack([np.eye(p), np.zeros((len(wanted), p))]) @ plant + direct
    return grown.rename(inputs=list(plant.inputs), outputs=[*plant.outputs, *wanted])


def _select(plant: LFT, outputs: Sequence[str], inputs: Sequence[str]) -> LFT:
    plant[list(dict.fromkeys(outputs)), list(dict.fromkeys(inputs))]  # unknown names are an error here
    rows, columns = np.zeros((len(outputs), plant.shape[0])), np.zeros((plant.shape[1], len(inputs)))
    rows[range(len(outputs)), [plant.outputs.index(n) for n in outputs]] = 1.0
    columns[[plant.inputs.index(n) for n in inputs], range(len(inputs))] = 1.0
    return rows @ plant @ columns


def _apart(names: Sequence[str]) -> list[str]:
    out: list[str] = []
    for name in names:
        while name in out:
            name += "_again"
        out.append(name)
    return out


def _weights(given: Mapping[str, Any], signals: Sequence[str], rest: int) -> LFT:
    parts: list[Any] = []
    for name in signals:
        weight = given.get(name, 1.0)
        system = block_diag([np.array([[weight]], dtype=float) if np.isscalar(weight) else weight])
        if system.shape != (1, 1):
            raise ModelError(
                f"generalized_plant: the weight of {name} must have one input and one output, got {system.shape}"
            )
        parts.append(system.rename(states=[f"{name}_weight_{i + 1}" for i in range(len(system.states))]))
    return block_diag([*parts, np.eye(rest)] if rest else parts)


def _row(g: GeneralizedPlant, point: dict[str, float]) -> PlantRow:
    at = g.lft.evaluate(dict(point))
    n_z, n_w = len(g.z), len(g.w)
    A, B, C, D = balanced((at.A[0], at.B[0], at.C[0], at.D[0]))
    B2, C2, D12, D21 = B[:, n_w:], C[n_z:], D[:n_z, n_w:], D[n_z:, :n_w]
    values = np.linalg.eigvals(A) if len(A) else np.zeros(0)
    fast = max(float(np.max(np.abs(values), initial=0.0)), 1e-300)
    right = [i for i, v in enumerate(values) if v.real >= -ON_AXIS * fast and v.imag >= 0]
    names = g.lft.states

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
        (_rank(D12), len(g.u)),
        (_rank(D21), len(g.y)),
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
