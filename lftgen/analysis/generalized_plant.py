"""Generalised plants: performance and control channels sorted and weighted, and a report of what synthesis will meet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lftgen.analysis.channels import apart, select
from lftgen.analysis.plant_report import PlantReport, row_at
from lftgen.arguments import instance, items, number, whole_number
from lftgen.errors import ModelError
from lftgen.lft.build import block_diag
from lftgen.lft.model import LFT


@dataclass(frozen=True, eq=False)
class GeneralizedPlant:
    """A plant from [w; u] to [z; y].

    Attributes
    ----------
    lft : LFT
        Outputs z then y, inputs w then u.
    w, u, z, y : tuple of str
        Exogenous inputs, controls, performance outputs, measurements, as the LFT names them.  A signal in two roles keeps its
        name as control or measurement, and is ``<name>_disturbance`` or ``<name>_performance`` beside it.
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
        """The loop under a controller from y to u (an LFT, a python-control system, a matrix or a number).

        A controller whose inputs and outputs have the names of y and u may have them in any order.

        Raises
        ------
        ModelError
            A controller of other sizes.
        """
        k = block_diag([controller])
        if k.shape != (self.ncon, self.nmeas):
            raise ModelError(
                f"close: the controller must have {self.nmeas} inputs ({', '.join(self.y)}) and {self.ncon} outputs "
                f"({', '.join(self.u)}), got {k.shape[1]} and {k.shape[0]}"
            )
        rows = list(self.u) if set(self.u) == set(k.outputs) else slice(None)
        columns = list(self.y) if set(self.y) == set(k.inputs) else slice(None)
        return self.lft.star(k[rows, columns])

    def __repr__(self) -> str:
        roles = (("w", self.w), ("u", self.u), ("z", self.z), ("y", self.y))
        head = "; ".join(f"{name}: {', '.join(signals)}" for name, signals in roles)
        return f"generalised plant, {head}\n{self.lft!r}"

    def report(self, *, samples: int = 20, seed: int = 0) -> PlantReport:
        """What a synthesis will meet at the nominal and at samples of the box: ranks, hidden modes, rigid modes."""
        count = whole_number(samples, "report: samples")
        points: list[dict[str, float]] = [{}]
        if count and self.lft.parameters:
            table = self.lft.sample(count, method="sobol", seed=seed)
            points += [{k: float(v[i]) for k, v in table.items()} for i in range(count)]
        rows = [row_at(self.lft, self.nmeas, self.ncon, p) for p in points]
        return PlantReport(tuple(rows))


def plant_and_channels(
    plant: Any, nmeas: int | None, ncon: int | None, who: str
) -> tuple[Any, int | None, int | None]:
    """The LFT of a GeneralizedPlant with its own numbers of channels; any other plant as it came.

    Raises
    ------
    ModelError
        Numbers that are not those of the GeneralizedPlant.
    """
    if not isinstance(plant, GeneralizedPlant):
        return plant, nmeas, ncon
    for given, own, what in ((nmeas, plant.nmeas, "nmeas"), (ncon, plant.ncon, "ncon")):
        if given is not None and given != own:
            raise ModelError(f"{who}: the generalised plant has {what} = {own}, got {given!r}; leave it out")
    return plant.lft, plant.nmeas, plant.ncon


def generalized_plant(
    plant: LFT,
    *,
    controls: Sequence[str],
    measurements: Sequence[str],
    inputs: Sequence[str],
    outputs: Sequence[str],
    weights: Mapping[str, Any] | None = None,
    references: Mapping[str, str] | None = None,
    noise: Mapping[str, str] | None = None,
    input_weights: Mapping[str, Any] | None = None,
) -> GeneralizedPlant:
    """Sort and weigh the channels of a plant for synthesis.

    Parameters
    ----------
    plant : LFT
    controls, measurements : sequence of str
        Inputs of the plant that the controller drives, outputs that it reads.
    inputs, outputs : sequence of str
        Exogenous inputs and performance outputs.  A signal may be both a control and a performance output (its effort), or
        both a performance output and a measurement, an input both a disturbance and a control; references and noise (below)
        may be named among the inputs, to order them, and are added at the end otherwise.
    weights : mapping of signal to weight, optional
        For inputs and outputs of the performance channel: a number, a python-control system, or an LFT, one input and output.
    references : mapping of reference to output, optional
        ``{"r1": "J1_angle"}`` adds an input r1, and the error ``r1 - J1_angle`` as a signal ``J1_angle_error`` that outputs
        or measurements (or both) must name.
    input_weights : mapping of signal to weight, optional
        For a signal that is both an input and an output of the performance channel (a disturbance on a control whose effort
        counts): its weight as an input, when ``weights`` holds the one as an output.
    noise : mapping of noise to measurement, optional
        ``{"n1": "J1_angle"}`` adds an input n1 and adds it to that measurement (not to a performance output of that name).

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
    (('r',), ('x_error_performance', 'f'), ('x_error',), ('x', 'v'))
    """
    instance(plant, LFT, "generalized_plant: plant")
    w, u = _group(inputs, "inputs"), _group(controls, "controls")
    z, y = _group(outputs, "outputs"), _group(measurements, "measurements")
    references, noise = _names(references, "references"), _names(noise, "noise")
    w = (*w, *(n for n in [*references, *noise] if n not in w))
    wide = _with_references(plant, references, {*z, *y})
    direct = np.zeros((len(z) + len(y), len(w) + len(u)))
    efforts = [n for n in z if n in u and n not in wide.outputs]
    for name in efforts:  # what the controller asks for, without a disturbance on the same input
        direct[z.index(name), len(w) + u.index(name)] = 1.0
    for name, measurement in _checked_noise(wide, noise, y).items():
        direct[len(z) + y.index(measurement), [j for j, n in enumerate(w) if n == name]] = 1.0
    (p, m), silent = wide.shape, list(noise)
    names = [*wide.outputs, *efforts], [*wide.inputs, *silent]
    wide = np.eye(p + len(efforts), p) @ wide @ np.eye(m, m + len(silent))
    wide = wide.rename(outputs=names[0], inputs=names[1])
    chosen = select(wide, [*z, *y], [*w, *u]) + direct
    left, right = _sides(_mapping(weights, "weights"), _mapping(input_weights, "input_weights"), w, z)
    z_names = apart(z, y, "performance")
    w_names = apart(w, u, "disturbance")
    lft = block_diag([left, np.eye(len(y))]) @ chosen @ block_diag([right, np.eye(len(u))])
    lft = lft.rename(outputs=[*z_names, *y], inputs=[*w_names, *u])
    return GeneralizedPlant(lft, w_names, u, z_names, y)


def _group(given: Any, what: str) -> tuple[str, ...]:
    """Names, at least one, each once, or a ModelError."""
    members = items(given, f"generalized_plant: {what}", str)
    if not members:
        raise ModelError(f"generalized_plant: {what} is empty")
    if len(set(members)) < len(members):
        raise ModelError(f"generalized_plant: {what} has a name twice: {', '.join(members)}")
    return members


def _mapping(given: Any, what: str) -> dict[str, Any]:
    """A dict from names, or a ModelError."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ModelError(f"generalized_plant: {what} must be a dict from names, got {given!r:.60}")
    members = dict(given)
    items(members, f"generalized_plant: {what}", str)
    return members


def _names(given: Any, what: str) -> dict[str, str]:
    """A dict from names to names, or a ModelError."""
    members = _mapping(given, what)
    items(list(members.values()), f"generalized_plant: the signals of {what}", str)
    return members


def _with_references(plant: LFT, references: dict[str, str], used: set[str]) -> LFT:
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
    for name, y in references.items():
        if f"{y}_error" not in used or list(references.values()).count(y) > 1:
            raise ModelError(
                f"generalized_plant: the reference {name} makes the error {y}_error, which "
                + (
                    "another reference makes as well"
                    if f"{y}_error" in used
                    else "is in neither outputs nor measurements"
                )
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


def _checked_noise(plant: LFT, noise: dict[str, str], measurements: Sequence[str]) -> dict[str, str]:
    for name, measurement in noise.items():
        if measurement not in measurements:
            raise ModelError(
                f"generalized_plant: the noise {name} is on {measurement!r}, which is no measurement; those are "
                f"{', '.join(measurements)}"
            )
        if name in plant.inputs:
            raise ModelError(f"generalized_plant: the noise {name} is an input already; name it otherwise")
    return noise


def _sides(
    weights: dict[str, Any], input_weights: dict[str, Any], w: tuple[str, ...], z: tuple[str, ...]
) -> tuple[LFT, LFT]:
    """Weights of the outputs and of the inputs; a name that is both must say which is meant."""
    for given, known, where in (
        (weights, {*w, *z}, "inputs or outputs"),
        (input_weights, {*w}, "inputs"),
    ):
        stray = sorted(set(given) - known)
        if stray:
            raise ModelError(
                f"generalized_plant: weights for {', '.join(stray)}, which are no {where} of the performance channel; "
                f"those are {', '.join(sorted(known))}"
            )
    both = sorted((set(weights) & set(w) & set(z)) - set(input_weights))
    if both:
        raise ModelError(
            f"generalized_plant: {', '.join(both)} is an input and an output of the performance channel, and weights does not "
            f"tell which; give input_weights={{{both[0]!r}: ...}} as well (1.0 for none), then weights is for the output"
        )
    twice = sorted(set(input_weights) & set(weights) - set(z))
    if twice:
        raise ModelError(f"generalized_plant: the input {', '.join(twice)} has two weights")
    at_inputs = {k: v for k, v in weights.items() if k not in z} | input_weights
    return _weights({k: v for k, v in weights.items() if k in z}, z, "weight"), _weights(
        at_inputs, w, "shape"
    )


def _weights(given: Mapping[str, Any], signals: Sequence[str], word: str) -> LFT:
    parts: list[LFT] = []
    for name in signals:
        weight = given.get(name, 1.0)
        if np.isscalar(weight):
            weight = np.array([[number(weight, f"generalized_plant: the weight of {name}")]])
        system = block_diag([weight])
        if system.shape != (1, 1):
            raise ModelError(
                f"generalized_plant: the weight of {name} must have one input and one output, got {system.shape}"
            )
        parts.append(system.rename(states=[f"{name}_{word}_{i + 1}" for i in range(len(system.states))]))
    return block_diag(parts)
