"""Which parameter matters where: exact sensitivities of matrices, poles and gains over the box."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lftgen.analysis.channels import Matrices, matrices_at
from lftgen.arguments import callback, instance, number, whole_number
from lftgen.errors import IllPosedError, ModelError
from lftgen.lft.hinf_norm import hinf_norm, real_array
from lftgen.lft.model import LFT
from lftgen.lft.report import html_table, text_table
from lftgen.lft.sensitivity import Sensitivity
from lftgen.lft.threads import single_threaded

MEASURES = ("matrices", "poles", "gain")


@dataclass(frozen=True, eq=False)
class Influence:
    """What half of each parameter's range changes, to first order, at N points.

    Attributes
    ----------
    parameters : tuple of str
    points : dict of str to array (N,)
    matrices : array (N, parameters)
        Frobenius norm of the change of ``[A B; C D]`` relative to its norm.
    poles : array (N, parameters)
        Largest shift of a pole, rad/s; ``inf`` where a pole is defective (there it moves with infinite speed).
    gain : array (N, parameters) or None
        Relative change of the largest singular value at ``omega`` (of the peak gain where ``omega`` is None and the
        model is stable); None where neither applies.
    omega : float or None
        Frequency of the gain, rad/s.
    """

    parameters: tuple[str, ...]
    points: Mapping[str, np.ndarray]
    matrices: np.ndarray
    poles: np.ndarray
    gain: np.ndarray | None
    omega: float | None

    def worst_point(self, parameter: str, measure: str = "matrices") -> dict[str, float]:
        """Where a parameter matters most.

        Raises
        ------
        ModelError
            Unknown parameter or measure, or one that was not computed.
        """
        if measure not in MEASURES or getattr(self, measure) is None:
            raise ModelError(
                f"influence: measure must be one of {', '.join(self._measures)}, got {measure!r}"
            )
        if parameter not in self.parameters:
            raise ModelError(
                f"influence: unknown parameter {parameter!r}; known: {', '.join(self.parameters)}"
            )
        i = int(np.argmax(getattr(self, measure)[:, self.parameters.index(parameter)]))
        return {k: float(v[i]) for k, v in self.points.items()}

    @property
    def _measures(self) -> list[str]:
        return [m for m in MEASURES if getattr(self, m) is not None]

    def rows(self) -> list[dict[str, Any]]:
        """For each parameter, most important first: median and largest value of each measure, and where it is largest."""
        out = []
        for i, name in enumerate(self.parameters):
            row: dict[str, Any] = {"parameter": name}
            for m in self._measures:
                values = getattr(self, m)[:, i]
                row[m] = {
                    "median": float(np.median(values)),
                    "largest": float(values.max()),
                    "where": self.worst_point(name, m),
                }
            out.append(row)
        return sorted(out, key=lambda row: -row["matrices"]["largest"])

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {"parameters": self.rows(), "points": len(self.matrices), "omega": self.omega}

    def _cells(self) -> list[tuple[str, ...]]:
        units = {"matrices": "A B C D (%)", "poles": "poles (rad/s)", "gain": "gain (%)"}
        head = ["parameter"]
        for m in self._measures:
            head += [f"{units[m]}: median", "largest"]
        table = [tuple(head)]
        for row in self.rows():
            cells = [row["parameter"]]
            for m in self._measures:
                factor = 1.0 if m == "poles" else 100.0
                cells += [f"{factor * row[m][k]:.3g}" for k in ("median", "largest")]
            table.append(tuple(cells))
        return table

    def __str__(self) -> str:
        head = f"change by half of each parameter's range, to first order, over {len(self.matrices)} points"
        return f"{head}\n{text_table(self._cells())}"

    def _repr_html_(self) -> str:
        return html_table(self._cells())


@single_threaded
def influence(
    plant: LFT,
    points: Mapping[str, Any] | None = None,
    *,
    samples: int = 64,
    seed: int = 0,
    omega: float | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Influence:
    """Exact sensitivities, scaled by half of each parameter's range, at points of the box.

    Parameters
    ----------
    plant : LFT
        With at least one parameter.
    points : mapping of name to array (N,), optional
        By default ``samples`` points of a Sobol sequence.
    omega : float, optional
        Frequency of the gain, rad/s; by default each point's own peak.
    progress : callable, optional
        Called with (points done, points in all).

    Returns
    -------
    Influence

    Raises
    ------
    ModelError
        Not an LFT, no parameter, a wrong frequency.
    ParameterError
        Points outside the range.

    Examples
    --------
    >>> import lftgen as lg
    >>> k, m = lg.uncertain("k", 9.0, percent=50), lg.uncertain("m", 1.0, percent=1)
    >>> plant = lg.ss([[0, 1], [-k / m, -0.4]], [[0], [1 / m]], [[1, 0]], [[0]])
    >>> lg.influence(plant, samples=16).rows()[0]["parameter"]
    'k'
    """
    instance(plant, LFT, "influence: plant")
    callback(progress, "influence: progress")
    parameters = [b.parameter for b in plant.delta if b.parameter is not None]
    if not parameters:
        raise ModelError("influence: the model has no parameter")
    w = None if omega is None else number(omega, "influence: omega", minimum=0.0)
    if points is None:
        points = plant.sample(
            whole_number(samples, "influence: samples", minimum=1), method="sobol", seed=seed
        )
    table = _table(points)
    count = max((len(v) for v in table.values()), default=1)
    half = np.array([(p.upper - p.lower) / 2 for p in parameters])
    names = tuple(p.name for p in parameters)
    matrices, poles, gain = (np.zeros((count, len(names))) for _ in range(3))
    for i in range(count):
        here: dict[str, Any] = {k: float(np.broadcast_to(v, count)[i]) for k, v in table.items()}
        s = plant.sensitivity(**here)
        value = matrices_at(plant, here)
        matrices[i] = [_size(s, k) / max(_norm(value), 1e-300) for k in names]
        poles[i] = _pole_shifts(s, names)
        gain[i] = _gain_changes(value, s, names, w)
        if progress is not None:
            progress(i + 1, count)
    usable = bool(np.all(np.isfinite(gain)))
    return Influence(names, table, matrices * half, poles * half, gain * half if usable else None, w)


def _table(points: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Values by name as arrays (N,) or (1,)."""
    if not isinstance(points, Mapping):
        raise ModelError(f"influence: points must be a dict of arrays by parameter, got {points!r:.60}")
    table = {k: np.atleast_1d(real_array(v, f"influence: the values of {k}")) for k, v in points.items()}
    shapes = {v.shape for v in table.values()} - {(1,)}
    if len(shapes) > 1 or any(len(s) > 1 or not s[0] for s in shapes):
        sizes = ", ".join(f"{k} {v.shape}" for k, v in table.items())
        raise ModelError(f"influence: points must be arrays (N,) of one length N > 0, got {sizes}")
    return table


def gain_sensitivity(plant: LFT, omega: float, **values: Any) -> dict[str, float]:
    """Exact derivative of the largest singular value of the response at ``omega`` (rad/s) by each parameter.

    ``d sigma = Re(u^H dG v)`` with the singular vectors u, v of G; per unit of the parameter's own unit.

    Raises
    ------
    IllPosedError
        A pole on the imaginary axis at that frequency.

    Examples
    --------
    >>> import lftgen as lg
    >>> k = lg.uncertain("k", 4.0, percent=50)
    >>> lg.gain_sensitivity(lg.ss([[-k]], [[1]], [[1]], [[0]]), 0.0, k=2.0)["k"]  # d(1/k)/dk
    -0.25
    """
    instance(plant, LFT, "gain_sensitivity: plant")
    w = number(omega, "gain_sensitivity: omega", minimum=0.0)
    s = plant.sensitivity(**values)
    matrices = matrices_at(plant, values)
    if not matrices[3].size:
        raise ModelError(
            f"gain_sensitivity: expected inputs and outputs, got {plant.shape[1]} and {plant.shape[0]}"
        )
    _, rates = _gain_rates(matrices, s, tuple(s.D), w)
    return dict(zip(s.D, rates.tolist(), strict=True))


def _norm(matrices: Matrices) -> float:
    return float(np.sqrt(sum(np.sum(m**2) for m in matrices)))


def _size(s: Sensitivity, name: str) -> float:
    return _norm((s.A[name], s.B[name], s.C[name], s.D[name]))


def _pole_shifts(s: Sensitivity, names: tuple[str, ...]) -> np.ndarray:
    try:
        return np.array([np.max(np.abs(s.poles[k]), initial=0.0) for k in names])
    except IllPosedError:
        return np.array([np.inf if np.any(s.A[k]) else 0.0 for k in names])


def _gain_changes(value: Matrices, s: Sensitivity, names: tuple[str, ...], w: float | None) -> np.ndarray:
    """Relative derivative of the gain at a frequency, or of the peak gain; inf where there is none."""
    peak, where = hinf_norm(*value) if w is None else (0.0, w)
    if not np.isfinite(peak) or not value[3].size:
        return np.full(len(names), np.inf)
    size, rates = _gain_rates(value, s, names, where)
    return np.abs(rates) / max(size, 1e-300)


def _gain_rates(
    value: Matrices, s: Sensitivity, names: tuple[str, ...], w: float
) -> tuple[float, np.ndarray]:
    A, B, C, D = value
    n = len(A)
    try:
        at_infinity = np.isinf(w)
        right = np.zeros((n, B.shape[1])) if at_infinity else np.linalg.solve(1j * w * np.eye(n) - A, B)
        left = (
            np.zeros((C.shape[0], n)) if at_infinity else np.linalg.solve((1j * w * np.eye(n) - A).T, C.T).T
        )
    except np.linalg.LinAlgError as problem:
        raise IllPosedError(
            f"a pole lies on the imaginary axis at {w:.6g} rad/s: the gain is infinite there"
        ) from problem
    u, sigma, v = np.linalg.svd(C @ right + D)
    rates = [
        (
            u[:, 0].conj() @ (left @ s.A[k] @ right + left @ s.B[k] + s.C[k] @ right + s.D[k]) @ v[0].conj()
        ).real
        for k in names
    ]
    return float(sigma[0]), np.array(rates)
