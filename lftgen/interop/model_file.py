"""Model files: a mechanism with its parameters, inputs and outputs, written in YAML.

The file is data. Its structure is checked by pydantic (`lftgen.interop.model_schema`), its expressions are
read by `lftgen.interop.expressions`; every error gives file, line and field. ``docs/model_file.md`` describes
the format.
"""

from __future__ import annotations

import keyword
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from lftgen.errors import ModelError, ModelWarning
from lftgen.interop import components, model_schema
from lftgen.interop.expressions import RESERVED, as_quantity, exact_number, parse_expression
from lftgen.interop.model_messages import placed, schema_error
from lftgen.interop.yaml_source import FieldPath, Source, parse_source, read_source
from lftgen.mechanics.body import RigidBody
from lftgen.mechanics.mechanism import Mechanism
from lftgen.mechanics.rotor import Rotor
from lftgen.parameters import scheduled, scheduled_angle, uncertain


@dataclass(frozen=True)
class ModelFile:
    """What a model file describes.

    Attributes
    ----------
    name, description : str
        As given in the file.
    mechanism : Mechanism
        The tree of bodies and joints.
    inputs, outputs : tuple of str, or None
        Signal names; None where the file leaves the choice to `Mechanism.linearize`.
    parameters : dict of str to Parameter
        Every parameter that the file declares, used or not.
    """

    name: str
    description: str
    mechanism: Any
    inputs: tuple[str, ...] | None
    outputs: tuple[str, ...] | None
    parameters: Mapping[str, Any]
    source: Source = field(repr=False)

    def trim(self, *, exact: bool = False) -> Any:
        """Return the equilibrium of the mechanism, as `Mechanism.trim`; an error names the joint's line."""
        with placed(self.source, ("joints",), self._joint_places()):
            return self.mechanism.trim(exact=exact)

    def linearize(
        self,
        trim: Any = None,
        *,
        exact: bool = False,
        reduce: bool = True,
        search: float = 0.0,
        progress: Callable[[int, float], None] | None = None,
    ) -> Any:
        """Linearise the mechanism with the inputs and outputs of the file.

        Parameters
        ----------
        trim : Trim, optional
            The equilibrium, where it is already known.
        exact : bool
            Entries as exact numbers instead of floats.
        reduce : bool
            Reduce while assembling; False keeps every block as built.
        search : float
            Seconds to go on looking for fewer repetitions.
        progress : callable, optional
            Called with (fewest repetitions so far, seconds) during that search.

        Returns
        -------
        LFT

        Raises
        ------
        ModelError, TrimError, NotRationalError
            As `Mechanism.linearize`; an unknown signal is reported with its line.
        """
        places = self._joint_places()
        for section, names in (("inputs", self.inputs), ("outputs", self.outputs)):
            _check_signals(self.source, section, names)
            places |= {name: (section, i) for i, name in enumerate(names or ())}
        with placed(self.source, (), places):
            plant = self.mechanism.linearize(
                trim,
                inputs=self.inputs,
                outputs=self.outputs,
                exact=exact,
                reduce=reduce,
                search=search,
                progress=progress,
            )
            return plant.declare(*self.parameters.values())

    def _joint_places(self) -> dict[str, FieldPath]:
        return {joint.name: ("joints", joint.name) for joint in self.mechanism.joints}


def read_model(path: str | Path) -> ModelFile:
    """Read a model file.

    Parameters
    ----------
    path : str or Path
        A YAML file.

    Returns
    -------
    ModelFile
        With ``.mechanism``, ``.inputs``, ``.outputs`` and ``.linearize()``.

    Raises
    ------
    ModelError, ParameterError
        The file is not readable, or it does not describe a valid model. The message begins with file, line
        and field and says what was expected and what came.
    """
    return _build(read_source(path))


def parse_model(text: str, label: str = "<text>") -> ModelFile:
    """Read a model from YAML text; see `read_model`."""
    return _build(parse_source(text, label))


def _build(source: Source) -> ModelFile:
    if not isinstance(source.data, dict):
        raise source.error((), f"expected a mapping of fields, came {model_schema.shown(source.data)}")
    try:
        document: Any = model_schema.document_fields().model_validate(source.data)
    except ValidationError as error:
        raise schema_error(error, source) from None
    return _Builder(source, document).build()


class _Builder:
    """Turns the checked fields of one file into objects, parameters first."""

    def __init__(self, source: Source, document: Any) -> None:
        self.source = source
        self.document = document
        self.names: dict[str, Any] = {}

    def build(self) -> ModelFile:
        document = self.document
        parameters = {name: self._parameter(name, fields) for name, fields in document.parameters.items()}
        for name, value in document.constants.items():
            self._declare(name, self._exact(value, ("constants", name)), "constants")
        mechanism = self._mechanism()
        used = {parameter.name for parameter in mechanism.parameters}
        for name in parameters.keys() - used:
            place = self.source.where(("parameters", name))
            warnings.warn(f"{place}: the parameter is declared but not used", ModelWarning, stacklevel=5)
        return ModelFile(
            name=document.name,
            description=document.description,
            mechanism=mechanism,
            inputs=None if document.inputs is None else tuple(document.inputs),
            outputs=None if document.outputs is None else tuple(document.outputs),
            parameters=parameters,
            source=self.source,
        )

    def _mechanism(self) -> Any:
        document = self.document
        bodies = [self._body(name, fields) for name, fields in document.bodies.items()]
        joints = [self._typed("joints", name, fields) for name, fields in document.joints.items()]
        loads = [self._typed("loads", name, fields) for name, fields in document.loads.items()]
        frame = {key: self._values(getattr(document, key), (key,)) for key in ("gravity", "acceleration")}
        with placed(self.source, (), self._places()):
            return Mechanism(document.name, bodies=bodies, joints=joints, loads=loads, **frame)

    def _parameter(self, name: str, fields: Any) -> Any:
        make: Any = {
            "uncertain": uncertain,
            "scheduled": scheduled,
            "scheduled_angle": scheduled_angle,
        }[fields.type]
        path = ("parameters", name)
        given = fields.model_dump(exclude={"type"}, exclude_unset=True, exclude_none=True)
        texts = {"unit", "chart"}
        arguments = {
            k: v if k in texts else self._values(v, (*path, k), parameters=False) for k, v in given.items()
        }
        with placed(self.source, path, {word: (*path, word) for word in given}):
            parameter = make(name, **arguments)
        self._declare(name, parameter, "parameters")
        return parameter

    def _declare(self, name: str, value: Any, section: str) -> None:
        if name in RESERVED or keyword.iskeyword(name):
            raise self.source.error(
                (section, name), f"the name {name!r} has a meaning of its own in expressions"
            )
        if name in self.names:
            raise self.source.error((section, name), f"duplicate name, {name!r} is already a parameter")
        self.names[name] = value

    def _body(self, name: str, fields: Any) -> Any:
        path: FieldPath = ("bodies", name)
        given = fields.model_dump(exclude_unset=True)
        ports = {k: self._values(v, (*path, "ports", k)) for k, v in given.pop("ports", {}).items()}
        rotors = [
            self._rotor(rotor, v, (*path, "rotors", rotor)) for rotor, v in given.pop("rotors", {}).items()
        ]
        texts = {"inertia_about"}
        arguments = {k: v if k in texts else self._values(v, (*path, k)) for k, v in given.items()}
        with placed(self.source, path, {word: (*path, word) for word in given}):
            return RigidBody(name, ports=ports, rotors=rotors, **arguments)

    def _rotor(self, name: str, given: dict[str, Any], path: FieldPath) -> Rotor:
        arguments = {k: self._values(v, (*path, k)) for k, v in given.items()}
        with placed(self.source, path, {word: (*path, word) for word in given}):
            return Rotor(name, **arguments)

    def _typed(self, section: str, name: str, fields: Any) -> Any:
        """Make a joint or a load from its fields."""
        classes = components.joint_classes() if section == "joints" else components.load_classes()
        component: Any = {c.kind: c for c in classes}[fields.type]
        path = (section, name)
        given = fields.model_dump(exclude={"type"}, exclude_unset=True)
        plain = {"parent", "child", "port", "other"}
        arguments = {k: v if k in plain else self._values(v, (*path, k)) for k, v in given.items()}
        with placed(self.source, path, {word: (*path, word) for word in given}):
            return component(name, **arguments)

    def _values(self, value: Any, path: FieldPath, parameters: bool = True) -> Any:
        """Resolve a quantity, or lists of quantities."""
        if isinstance(value, tuple):
            return tuple(self._values(item, (*path, i), parameters) for i, item in enumerate(value))
        if not isinstance(value, str):
            return value
        return as_quantity(self._exact(value, path, parameters))

    def _exact(self, value: Any, path: FieldPath, parameters: bool = True) -> Any:
        if not isinstance(value, str):
            return exact_number(value)
        with placed(self.source, path):
            return parse_expression(value, self.names if parameters else {})

    def _places(self) -> dict[str, FieldPath]:
        """Return where the things stand that an error about the whole mechanism speaks of."""
        places: dict[str, FieldPath] = {"gravity": ("gravity",), "acceleration": ("acceleration",)}
        for section in ("parameters", "bodies", "joints", "loads"):
            places |= {name: (section, name) for name in getattr(self.document, section)}
        return places


def _check_signals(source: Source, section: str, names: tuple[str, ...] | None) -> None:
    seen: set[str] = set()
    for i, name in enumerate(names or ()):
        if name in seen:
            raise ModelError(f"{source.where((section, i))}: duplicate name {name!r}")
        seen.add(name)
