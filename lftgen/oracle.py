"""A mechanism at many points as a numeric model of raw numbers for :mod:`lftgen.rigidbody`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sympy as sp

from lftgen import rigidbody as rb
from lftgen.errors import ModelError
from lftgen.mechanics.channels import Channel
from lftgen.mechanics.joints import Joint
from lftgen.mechanics.mechanism import Mechanism
from lftgen.mechanics.names import unknown

Values = Mapping[str, np.ndarray]
"""User values by parameter name, each of shape (N,)."""


@dataclass
class _Numbers:
    """Collects expressions, evaluates them all at once, hands the numbers out."""

    mechanism: Mechanism
    expressions: list[sp.Expr] = field(default_factory=list)
    values: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))

    def ask(self, matrix: Any) -> slice:
        entries = list(matrix) if isinstance(matrix, (sp.MatrixBase, tuple, list)) else [matrix]
        start = len(self.expressions)
        self.expressions += [sp.sympify(e) for e in entries]
        return slice(start, start + len(entries))

    def evaluate(self, values: Values, count: int) -> None:
        parameters = self.mechanism.parameters
        function = sp.lambdify(list(parameters), self.expressions, "numpy", cse=True)
        arguments = [p.to_radians(np.asarray(values.get(p.name, p.nominal), dtype=float)) for p in parameters]
        columns = [np.broadcast_to(np.asarray(v, dtype=float), (count,)) for v in function(*arguments)]
        self.values = np.stack(columns, axis=1) if columns else np.zeros((count, 0))

    def get(self, where: slice, *shape: int) -> np.ndarray:
        return self.values[:, where].reshape(len(self.values), *shape)


@dataclass(frozen=True)
class NumericModel:
    """A numeric model at N points, its equilibrium coordinates (N, nq), and the channels it is asked for."""

    model: rb.Model
    q: np.ndarray
    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]

    def linearize(self) -> rb.StateSpaceArrays:
        """A, B, C, D at every point by complex step on the non-linear dynamics."""
        return rb.linearize(self.model, self.q, self.inputs, self.outputs)


def numeric_model(
    mechanism: Mechanism, values: Values, inputs: Sequence[str] = (), outputs: Sequence[str] = ()
) -> NumericModel:
    """The mechanism's raw numbers at points.

    Parameters
    ----------
    values : mapping of parameter name to array (N,)
        In the parameters' own units; left out: nominal.
    inputs, outputs : sequence of str
        Signal names.

    Raises
    ------
    ModelError
        Free symbols without a value, unknown signal names.
    """
    if mechanism.symbols:
        raise ModelError(
            f"{mechanism.name}: free symbols {', '.join(map(str, mechanism.symbols))} have no value, so there is no numeric model"
        )
    count = max((np.size(v) for v in values.values()), default=1)
    n = _Numbers(mechanism)
    bodies = {b.name: (n.ask(b.mass), n.ask(b.com), n.ask(b.inertia)) for b in mechanism.bodies}
    ports = {
        (b.name, k): (n.ask(p.point), n.ask(p.rotation)) for b in mechanism.bodies for k, p in b.ports.items()
    }
    joints = {j.name: _ask_joint(j, n) for j in mechanism.joints}
    gravity, acceleration = n.ask(mechanism.gravity), n.ask(mechanism.acceleration)
    gains = {c.name: n.ask(c.gains) for c in mechanism.input_channels.values()}
    n.evaluate(values, count)
    model = rb.Model(
        tuple(rb.Body(k, n.get(m), n.get(c, 3), n.get(i, 3, 3)) for k, (m, c, i) in bodies.items()),
        tuple(_joint(j, joints[j.name], n) for j in mechanism.joints),
        gravity=n.get(gravity, 3),
        acceleration=n.get(acceleration, 3),
    )
    where = {k: (n.get(p, 3), n.get(r, 3, 3)) for k, (p, r) in ports.items()}
    q = np.concatenate([n.get(joints[j.name]["q"], j.dof) for j in mechanism.joints], axis=1)
    return NumericModel(
        model,
        q,
        tuple(_input(_channel(c, mechanism.input_channels, "input"), where, n, gains) for c in inputs),
        tuple(_output(_channel(c, mechanism.output_channels, "output"), where) for c in outputs),
    )


def _channel(name: str, channels: Mapping[str, Channel], what: str) -> Channel:
    if name not in channels:
        raise unknown(name, channels, what)
    return channels[name]


def _ask_joint(j: Joint, n: _Numbers) -> dict[str, slice]:
    asked = {"rotation": n.ask(j.placement), "position": n.ask(j.origin), "q": n.ask(j.equilibrium())}
    for key, attribute in _OWN.items():
        value = getattr(j, attribute, None)
        if value is not None:
            asked[key] = n.ask(value)
    return asked


_OWN = {
    "axis": "axis",
    "damping": "damping",
    "stiffness": "stiffness",
    "rest": "rest",
    "armature": "armature",
    "hub_inertia": "hub_inertia",
}
"""Numeric joint's field -> attribute of the symbolic one."""
_SHAPES = {"rotation": (3, 3), "position": (3,), "axis": (3,)}


def _joint(j: Joint, asked: dict[str, slice], n: _Numbers) -> rb.Joint:
    fields: dict[str, Any] = {k: n.get(s, *_SHAPES.get(k, ())) for k, s in asked.items() if k != "q"}
    return rb.Joint(j.name, j.kind, j.parent, j.child, actuated=j.actuated or not j.dof, **fields)


def _input(
    c: Channel,
    where: Mapping[tuple[str, str], tuple[np.ndarray, np.ndarray]],
    n: _Numbers,
    gains: Mapping[str, slice],
) -> Any:
    if c.kind == "base acceleration":
        return rb.BaseAcceleration(c.component)
    if c.kind == "joint force":
        values = n.get(gains[c.name], len(c.gains))
        component = int(np.argmax(np.abs(values[0])))
        return rb.JointForce(c.owner, component, values[:, component])
    point, rotation = where[c.owner, c.port]
    return rb.PortForce(c.owner, point, rotation, c.kind.removeprefix("port "), c.component)


def _output(c: Channel, where: Mapping[tuple[str, str], tuple[np.ndarray, np.ndarray]]) -> Any:
    plain = {
        "joint position": rb.JointPosition,
        "joint rate": rb.JointRate,
        "joint acceleration": rb.JointAcceleration,
    }
    if c.kind in plain:
        return plain[c.kind](c.owner, c.component)
    if c.kind.startswith("joint wrench"):
        return rb.JointWrench(c.owner, c.component, frame="parent" if c.kind.endswith("parent") else "child")
    point, rotation = where[c.owner, c.port]
    return rb.PortOutput(
        c.owner, point, rotation, c.quantity, c.component, frame="reference" if c.reference else "port"
    )
