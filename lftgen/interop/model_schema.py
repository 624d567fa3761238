"""Fields of a model file as pydantic models: what may stand where, before any name is looked up.

The fields of joints and loads are read from the signatures of their classes, so that the file follows the
Python API: ``RevoluteJoint(..., damping=0.0)`` is ``type: revolute`` with a field ``damping``.
"""

from __future__ import annotations

import functools
import inspect
import operator
from types import GenericAlias
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    StringConstraints,
    WithJsonSchema,
    create_model,
)

from lftgen.interop import components
from lftgen.interop.expressions import LARGEST

FORMAT_VERSION = 1
"""Version of the file format that this release reads."""


class Fields(BaseModel):
    """Base of every mapping in a model file: unknown fields are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def shown(value: object) -> str:
    """Return a short text of what came, for a message."""
    if isinstance(value, dict):
        return "a mapping" if value else "an empty mapping"
    if value is None:
        return "nothing"
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


def _quantity(value: Any) -> Any:
    if isinstance(value, str) and value.strip():
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"expected a number or an expression, came {shown(value)}")
    if not abs(value) <= LARGEST:
        raise ValueError(f"expected a finite number up to {LARGEST:g}, came {shown(value)}")
    return value


def _row(value: Any, length: int, what: str) -> tuple[Any, ...]:
    if not isinstance(value, list) or len(value) != length:
        raise ValueError(f"expected {what}, came {shown(value)}")
    return tuple(_quantity(item) for item in value)


def _vector(value: Any) -> Any:
    return _row(value, 3, "a list of three numbers or expressions")


def _inertia(value: Any) -> Any:
    what = "three principal inertias or a 3x3 matrix of tensor entries"
    if isinstance(value, list) and any(isinstance(item, list) for item in value):
        return tuple(_row(row, 3, what) for row in value) if len(value) == 3 else _row(value, 3, what)
    return _row(value, 3, what)


def _pair(value: Any) -> Any:
    return _row(value, 2, "a pair [lower, upper]")


def _deviation(value: Any) -> Any:
    return _pair(value) if isinstance(value, list) else _quantity(value)


def _each(value: Any) -> Any:
    return tuple(_quantity(item) for item in value) if isinstance(value, list) and value else _quantity(value)


def _port(value: Any) -> Any:
    if isinstance(value, dict):
        if not {"point"} <= set(value) <= {"point", "rpy"}:
            raise ValueError(
                f"expected the fields point and rpy, came {', '.join(map(str, value)) or 'none'}"
            )
        return tuple(_vector(value[key]) for key in ("point", "rpy") if key in value)
    return _row(value, 3, "a point [x, y, z] or a mapping with point and rpy")


_QUANTITY_SCHEMA: dict[str, Any] = {"anyOf": [{"type": "number"}, {"type": "string", "minLength": 1}]}


def _list_schema(item: dict[str, Any], length: int) -> dict[str, Any]:
    return {"type": "array", "items": item, "minItems": length, "maxItems": length}


_VECTOR_SCHEMA = _list_schema(_QUANTITY_SCHEMA, 3)
_PORT_SCHEMA = {
    "type": "object",
    "properties": {"point": _VECTOR_SCHEMA, "rpy": _VECTOR_SCHEMA},
    "required": ["point"],
    "additionalProperties": False,
}

Quantity = Annotated[Any, PlainValidator(_quantity), WithJsonSchema(_QUANTITY_SCHEMA)]
Vector = Annotated[Any, PlainValidator(_vector), WithJsonSchema(_VECTOR_SCHEMA)]
Inertia = Annotated[
    Any,
    PlainValidator(_inertia),
    WithJsonSchema({"anyOf": [_VECTOR_SCHEMA, _list_schema(_VECTOR_SCHEMA, 3)]}),
]
Pair = Annotated[Any, PlainValidator(_pair), WithJsonSchema(_list_schema(_QUANTITY_SCHEMA, 2))]
Deviation = Annotated[
    Any,
    PlainValidator(_deviation),
    WithJsonSchema({"anyOf": [*_QUANTITY_SCHEMA["anyOf"], _list_schema(_QUANTITY_SCHEMA, 2)]}),
]
Each = Annotated[
    Any,
    PlainValidator(_each),
    WithJsonSchema(
        {"anyOf": [*_QUANTITY_SCHEMA["anyOf"], {"type": "array", "items": _QUANTITY_SCHEMA, "minItems": 1}]}
    ),
]
Port = Annotated[Any, PlainValidator(_port), WithJsonSchema({"anyOf": [_VECTOR_SCHEMA, _PORT_SCHEMA]})]
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_]*$")]


class UncertainFields(Fields):
    """``type: uncertain``."""

    type: Literal["uncertain"]
    nominal: Quantity
    bounds: Pair | None = None
    percent: Deviation | None = None
    plus_minus: Deviation | None = None
    unit: str = ""


class ScheduledFields(Fields):
    """``type: scheduled``."""

    type: Literal["scheduled"]
    bounds: Pair
    nominal: Quantity | None = None
    unit: str = ""
    rate: Deviation | None = None


class ScheduledAngleFields(Fields):
    """``type: scheduled_angle``; numbers in its ``unit``."""

    type: Literal["scheduled_angle"]
    bounds: Pair
    nominal: Quantity | None = None
    center: Quantity | None = None
    chart: Literal["half", "quarter"] = "half"
    unit: Literal["rad", "deg"] = "rad"
    rate: Deviation | None = None


class RotorFields(Fields):
    """A rotor on board of a body; the fields of `lftgen.Rotor`."""

    axis: Vector
    momentum: Quantity = 0


class BodyFields(Fields):
    """One rigid body; the fields of `lftgen.RigidBody`."""

    mass: Quantity
    com: Vector = (0, 0, 0)
    inertia: Inertia = (0, 0, 0)
    inertia_about: Literal["com", "origin"] = "com"
    inertia_rpy: Vector = (0, 0, 0)
    ports: dict[Name, Port] = Field(default_factory=dict)
    rotors: dict[Name, RotorFields] = Field(default_factory=dict)


PARAMETER_FIELDS: dict[str, type[Fields]] = {
    "uncertain": UncertainFields,
    "scheduled": ScheduledFields,
    "scheduled_angle": ScheduledAngleFields,
}


def _fields_of(component: Any) -> type[Fields]:
    """Build the pydantic model of a joint or load from the signature of its class."""
    fields: dict[str, Any] = {"type": (Literal[component.kind], ...)}
    for name, argument in inspect.signature(component).parameters.items():
        if name == "name":
            continue
        required = argument.default is inspect.Parameter.empty
        default = None if required else argument.default
        fields[name] = (_kind(name, default), ... if required else default)
    doc = f"``type: {component.kind}``; the fields of `lftgen.{component.__name__}`."
    return create_model(f"{component.__name__}Fields", __base__=Fields, __doc__=doc, **fields)


_KINDS: dict[str, Any] = {
    **dict.fromkeys(("parent", "child", "port", "other"), str),
    **dict.fromkeys(("damping", "stiffness"), Each),
    **dict.fromkeys(("axis", "origin", "rpy", "anchor", "force", "torque"), Vector),
}


def _kind(name: str, default: object) -> Any:
    """Return the kind of field by its name, or else by the default of the argument."""
    if name in _KINDS:
        return _KINDS[name]
    if isinstance(default, bool):
        return bool
    if isinstance(default, tuple) and len(default) == 3:
        return Vector
    if isinstance(default, str):
        return str
    return Quantity | None if default is None else Quantity


@functools.cache
def joint_fields() -> dict[str, type[Fields]]:
    """Return the pydantic model of each joint type."""
    return {joint.kind: _fields_of(joint) for joint in components.joint_classes()}


@functools.cache
def load_fields() -> dict[str, type[Fields]]:
    """Return the pydantic model of each load type."""
    return {load.kind: _fields_of(load) for load in components.load_classes()}


def _named(fields: dict[str, type[Fields]]) -> Any:
    """Return the type of a mapping of names to fields of any of several ``type``s."""
    one_of = functools.reduce(operator.or_, fields.values())
    return GenericAlias(dict, (Name, Annotated[one_of, Field(discriminator="type")]))


@functools.cache
def document_fields() -> type[Fields]:
    """Return the pydantic model of a whole file."""
    fields: dict[str, Any] = {
        "lftgen": (Literal[FORMAT_VERSION], Field(description="version of the file format")),
        "name": (Name, ...),
        "description": (str, ""),
        "parameters": (_named(PARAMETER_FIELDS), Field(default_factory=dict)),
        "constants": (dict[Name, Quantity], Field(default_factory=dict)),
        "bodies": (dict[Name, BodyFields], Field(min_length=1)),
        "joints": (_named(joint_fields()), Field(min_length=1)),
        "gravity": (Vector, (0, 0, -9.81)),
        "acceleration": (Vector, (0, 0, 0)),
        "loads": (_named(load_fields()), Field(default_factory=dict)),
        "inputs": (list[str] | None, None),
        "outputs": (list[str] | None, None),
    }
    doc = "A mechanism with uncertain and scheduling parameters, for lftgen."
    return create_model("ModelFile", __base__=Fields, __doc__=doc, **fields)


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a model file, for editors."""
    schema = document_fields().model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
