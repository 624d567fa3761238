"""The steps behind each command: file -> LFT -> results as plain data, through the public API alone."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lftgen import _console as console
from lftgen.errors import ModelError, ParameterError
from lftgen.report import rows as report


class Work:
    """One model on its way from file to LFT; times and results by name.

    Parameters
    ----------
    path : Path
        A model file, a robot file (``.urdf``, ``.xml``), or an LFT file (``.json``) that `lftgen.save` wrote.
    reduce : bool
        Reduce the repetitions of the parameters while building.
    robot : sequence of str
        Settings of a robot file, ``KEY=VALUE``.
    search : float
        Seconds to go on looking for fewer repetitions.
    """

    def __init__(
        self, path: Path, reduce: bool = True, robot: Sequence[str] | None = None, *, search: float = 0.0
    ) -> None:
        import lftgen as lg

        self.data: dict[str, Any] = {"file": str(path)}
        self.seconds: dict[str, float] = {}
        self.model: Any = None
        self.trim: Any = None
        if path.suffix == ".json":
            self.plant: Any = self.step("reading", lg.load, path)
            self.parameters = {p.name: p for p in self.plant.parameters}
            self.data |= {"model": path.name.split(".")[0], "description": ""}
        else:
            self.model = self.step("reading", _read, path, robot or ())
            self.trim = self.step("trim", self.model.trim)
            self.plant = self._linearized(reduce, search)
            self.parameters = dict(self.model.parameters)
            self.data |= {"model": self.model.name, "description": self.model.description}
        self.data |= report.signals(self.plant)

    def _linearized(self, reduce: bool, search: float) -> Any:
        """The plant, with what a search has found so far on a terminal."""
        if not search:
            return self.step("linearizing", self.model.linearize, self.trim, reduce=reduce)
        if not reduce:
            raise ModelError("--search looks for fewer repetitions: leave out --no-reduce")
        start, text = time.perf_counter(), f"{self.data['file']}: searching"
        with console.progress_of_search(text, search) as progress:
            plant = self.model.linearize(self.trim, search=search, progress=progress)
        self.seconds["linearizing"] = round(time.perf_counter() - start, 4)
        return plant

    def step(self, name: str, function: Any, *arguments: Any, **options: Any) -> Any:
        """Call a function with progress and note its time."""
        start = time.perf_counter()
        with console.progress(f"{self.data['file']}: {name} ..."):
            result = function(*arguments, **options)
        self.seconds[name] = round(time.perf_counter() - start, 4)
        return result

    def describe(self) -> None:
        """Collect parameters, repetitions and nominal poles."""
        self.data["parameters"] = report.parameter_rows(self.parameters.values())
        raw = (
            self.step("counting", self.model.linearize, self.trim, reduce=False) if self.model else self.plant
        )
        self.data["repetitions"] = self.step("bounding", report.repetition_rows, raw, self.plant)
        self.data["poles"] = report.poles(self.plant.at())

    def inspect(self) -> None:
        """Collect bodies, joints, and the entries that depend on parameters."""
        if self.model:
            self.data["bodies"] = report.body_rows(self.model.mechanism)
            self.data["joints"] = report.joint_rows(self.model.mechanism)
        self.data["dependence"] = self.step("entries", report.dependence, self.plant)

    def evaluate(self, point: dict[str, float]) -> None:
        """Collect holding torques, matrices and poles at a point; what is left out is nominal."""
        system = self.step("evaluating", self.plant.at, **point)
        self.data["point"] = {**{name: p.nominal for name, p in self.parameters.items()}, **point}
        if self.trim:
            known = {p.name for p in self.model.mechanism.parameters}
            values = {name: value for name, value in point.items() if name in known}
            self.data["holding"] = report.holding(self.model.mechanism, self.trim, values)
        self.data |= {**report.matrices(system), "poles": report.poles(system)}

    def check(self, samples: int, seed: int, tolerance: float) -> None:
        """Check the plant against the numeric model, and whether it exists in the whole box."""
        import lftgen as lg

        if not self.model:
            raise ModelError(
                f"{self.data['file']}: expected a model file, an LFT file has no mechanism to check with"
            )
        known = {p.name for p in self.model.mechanism.parameters}
        unused = {name: p.nominal for name, p in self.parameters.items() if name not in known}
        plant = self.plant.subs(**unused) if unused else self.plant
        options: dict[str, Any] = {"samples": samples, "seed": seed, "tolerance": tolerance}
        start = time.perf_counter()
        with console.progress_bar(f"{self.data['file']}: checking") as progress:
            result = lg.check(self.model.mechanism, plant, progress=progress, **options)
        self.seconds["checking"] = round(time.perf_counter() - start, 4)
        self.data["check"] = result.to_dict()
        box = self.step("box", self.plant.well_posed)
        self.data["well_posed"] = {"answer": box.answer, "how": box.how, "point": dict(box.point)}


def _read(path: Path, robot: Sequence[str]) -> Any:
    """A model file, or a robot file with its settings; both offer ``trim`` and ``linearize``."""
    import lftgen as lg
    from lftgen.interop.urdf import SUFFIXES, read_robot_file

    if path.suffix.lower() in SUFFIXES:
        return read_robot_file(path, robot)
    if robot:
        raise ModelError(
            f"{path}: --robot is for robot files ({', '.join(SUFFIXES)}), a model file says it all"
        )
    return lg.read_model(path)


def read_point(texts: Sequence[str], parameters: Any) -> dict[str, float]:
    """Read ``name=value`` texts into values in each parameter's own unit.

    Parameters
    ----------
    texts : sequence of str
        ``m1=4.5``, ``theta1=30`` (own unit), ``theta1=30deg``, ``theta1=0.5rad``, ``theta1=pi/6``.
    parameters : mapping of str to Parameter
        The parameters of the model.

    Raises
    ------
    ParameterError
        A text is not of this form, or names an unknown parameter or a foreign unit.
    """
    from lftgen.interop.expressions import parse_expression, suggestion

    point: dict[str, float] = {}
    for text in texts:
        name, separator, value = (part.strip() for part in text.partition("="))
        if not separator or not value:
            raise ParameterError(f"{text!r}: expected NAME=VALUE, such as m1=4.5 or theta1=30deg")
        if name not in parameters:
            raise ParameterError(f"{text!r}: unknown parameter {name!r}{suggestion(name, parameters)}")
        if name in point:
            raise ParameterError(f"{text!r}: {name} is given twice")
        value, factor = _without_unit(value, parameters[name], text)
        point[name] = float(parse_expression(value, {})) * factor
    return point


def _without_unit(value: str, parameter: Any, text: str) -> tuple[str, float]:
    """Split a unit off a value; the factor turns the value into the parameter's own unit."""
    in_radians = {"deg": math.pi / 180, "rad": 1.0}
    unit = next((u for u in (parameter.unit, *in_radians) if u and value.endswith(u)), "")
    if not unit:
        return value, 1.0
    if unit == parameter.unit:
        return value.removesuffix(unit), 1.0
    if not parameter.is_angle:
        raise ParameterError(
            f"{text!r}: expected {parameter.name} in {parameter.unit or 'its own unit'}, came {unit}"
        )
    return value.removesuffix(unit), in_radians[unit] / in_radians[parameter.unit]


def save_plant(plant: Any, folder: Path, name: str) -> Path:
    """Write the LFT file of a plant into a folder."""
    import lftgen as lg

    target = folder / f"{name}.lft.json"
    lg.save(plant, target)
    return target
