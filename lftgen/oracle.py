"""A mechanism at many points as a numeric model of raw numbers for :mod:`lftgen.rigidbody`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import sympy as sp

from lftgen import rigidbody as rb
from lftgen.errors import ModelError
from lftgen.mechanics.channels import Channel
from lftgen.mechanics.joints import FreeJoint, Joint
from lftgen.mechanics.loads import Action, Load, find_port
from lftgen.mechanics.mechanism import Mechanism
from lftgen.mechanics.names import GROUND, unknown
from lftgen.oracle_springs import NumericSpring, euler_gain, turning_gain

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

    def evaluate(self, values: Values, count: int, unknowns: np.ndarray) -> None:
        parameters = self.mechanism.parameters
        function = sp.lambdify([*parameters, *self.mechanism.unknowns], self.expressions, "numpy", cse=True)
        arguments = [p.to_radians(np.asarray(values.get(p.name, p.nominal), dtype=float)) for p in parameters]
        arguments += list(unknowns.T)
        columns = [np.broadcast_to(np.asarray(v, dtype=float), (count,)) for v in function(*arguments)]
        self.values = np.stack(columns, axis=1) if columns else np.zeros((count, 0))

    def get(self, where: slice, *shape: int) -> np.ndarray:
        return self.values[:, where].reshape(len(self.values), *shape)


class _Asked:
    """Where the numbers of each element stand."""

    def __init__(self, mechanism: Mechanism, n: _Numbers) -> None:
        self.bodies = {
            b.name: (n.ask(b.mass), n.ask(b.com), n.ask(b.inertia), n.ask(b.momentum))
            for b in mechanism.bodies
        }
        self.rotors = {(b.name, r.name): n.ask(r.axis) for b in mechanism.bodies for r in b.rotors}
        self.ports = {
            (b.name, k): (n.ask(p.point), n.ask(p.rotation))
            for b in mechanism.bodies
            for k, p in b.ports.items()
        }
        self.joints = {j.name: _ask_joint(j, n) for j in mechanism.joints}
        self.gravity, self.acceleration = n.ask(mechanism.gravity), n.ask(mechanism.acceleration)
        self.gains = {c.name: n.ask(c.gains) for c in mechanism.input_channels.values()}
        self.loads = {
            load.name: (n.ask(load.force), n.ask(load.torque))
            for load in mechanism.loads
            if isinstance(load, Load)
        }
        self.springs = {
            s.name: (n.ask(s.stiffness), n.ask(s.damping), n.ask(s.force_density), n.ask(s.anchor))
            for s in mechanism.tree.springs
        }
        self.euler = {j.name: n.ask(j.angles) for j in mechanism.joints if isinstance(j, FreeJoint)}


@dataclass(frozen=True)
class _Row:
    """How a requested output is made from those of the numeric model: rows, a gain (N, rows), what inputs add (N, inputs)."""

    rows: tuple[int, ...]
    gain: np.ndarray | None = None
    direct: np.ndarray | None = None


@dataclass(frozen=True)
class NumericModel:
    """A numeric model at N points, its equilibrium coordinates (N, nq), and the channels it is asked for.

    Springs between ports are closed around the numeric model of the rest; ``inputs`` and ``outputs`` are the channels of
    that rest, those of the springs last.
    """

    model: rb.Model
    q: np.ndarray
    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]
    rows: tuple[_Row, ...]
    springs: tuple[NumericSpring, ...] = ()

    def linearize(self) -> rb.StateSpaceArrays:
        """A, B, C, D at every point by complex step on the non-linear dynamics."""
        ss = rb.linearize(self.model, self.q, self.inputs, self.outputs)
        m, p = len(self.inputs) - 3 * self._ends, len(self.outputs) - 6 * self._ends
        A, B, C, D = ss.A, ss.B[..., :m], ss.C, ss.D[..., :m]
        if self.springs:
            K = self._law()
            A = A + ss.B[..., m:] @ K @ ss.C[..., p:, :]
            C = C + ss.D[..., m:] @ K @ ss.C[..., p:, :]
            pulls = K @ ss.C[..., p:, :]
            C = np.concatenate([C[..., :p, :], pulls], axis=-2)
            D = np.concatenate([D[..., :p, :], np.zeros((*pulls.shape[:-1], m))], axis=-2)
        C = np.concatenate([self._mixed(r, C) for r in self.rows], axis=-2) if self.rows else C[..., :0, :]
        rows = [self._mixed(r, D) + (0.0 if r.direct is None else r.direct[..., None, :]) for r in self.rows]
        D = np.concatenate(rows, axis=-2) if rows else D[..., :0, :]
        return rb.StateSpaceArrays(A, B, C, D)

    @property
    def _ends(self) -> int:
        return sum(len(s.ends) for s in self.springs)

    def _law(self) -> np.ndarray:
        """Forces at all ends of springs from positions and velocities of all ends."""
        blocks = [s.law() for s in self.springs]
        count = max(len(b) for b in blocks)
        out = np.zeros((count, 3 * self._ends, 6 * self._ends))
        i = 0
        for b in blocks:
            k = b.shape[1]
            out[:, i : i + k, 2 * i : 2 * i + 2 * k] = b
            i += k
        return out

    def _mixed(self, row: _Row, M: np.ndarray) -> np.ndarray:
        part = M[..., list(row.rows), :]
        return part if row.gain is None else np.matmul(row.gain[..., None, :], part)


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
        names = ", ".join(map(str, mechanism.symbols))
        raise ModelError(
            f"{mechanism.name}: free symbols {names} have no value, so there is no numeric model"
        )
    count = max((np.size(v) for v in values.values()), default=1)
    n = _Numbers(mechanism)
    asked = _Asked(mechanism, n)
    n.evaluate(values, count, _solved(mechanism, n, asked, values, count))
    return _Maker(mechanism, n, asked).numeric_model(inputs, outputs)


def _solved(mechanism: Mechanism, n: _Numbers, asked: _Asked, values: Values, count: int) -> np.ndarray:
    """Loads and accelerations (N, unknowns) that make the equilibrium, by least squares on inverse dynamics."""
    k = len(mechanism.unknowns)
    columns = []
    for u in np.vstack([np.zeros(k), np.eye(k)]) if k else ():
        n.evaluate(values, count, np.broadcast_to(u, (count, k)))
        numeric = _Maker(mechanism, n, asked).numeric_model((), ())
        idle = [
            d
            for link in numeric.model.links
            if not link.joint.actuated
            for d in range(numeric.model.nq)[link.dofs]
        ]
        force = rb.inverse_dynamics(numeric.model, numeric.q)
        columns.append(np.broadcast_to(force, (count, force.shape[-1]))[:, idle])
    if not k:
        return np.zeros((count, 0))
    gain = np.stack([c - columns[0] for c in columns[1:]], axis=-1)
    return np.stack([np.linalg.lstsq(g, -r, rcond=None)[0] for g, r in zip(gain, columns[0], strict=True)])


class _Maker:
    """Builds the numeric model from the numbers."""

    def __init__(self, mechanism: Mechanism, n: _Numbers, asked: _Asked) -> None:
        self.mechanism, self.n, self.asked = mechanism, n, asked
        self.places = {k: (n.get(p, 3), n.get(r, 3, 3)) for k, (p, r) in asked.ports.items()}
        joints = [(j, numeric) for j in mechanism.joints for numeric in _joints(j, asked.joints[j.name], n)]
        crosses = [
            rb.Body(j.name, np.zeros(()), np.zeros(3), np.zeros((3, 3)))
            for j in mechanism.joints
            if j.kind == "universal"
        ]
        bodies = [
            rb.Body(k, n.get(m), n.get(c, 3), n.get(i, 3, 3), n.get(h, 3))
            for k, (m, c, i, h) in asked.bodies.items()
        ]
        self.bare = rb.Model(
            tuple(bodies + crosses),
            tuple(j for _, j in joints),
            gravity=n.get(asked.gravity, 3),
            acceleration=n.get(asked.acceleration, 3),
        )
        self.q = np.concatenate([n.get(asked.joints[j.name]["q"], j.dof) for j in mechanism.joints], axis=1)
        self.at = rb.kinematics(self.bare, self.q)
        self.springs = tuple(self._spring(s) for s in mechanism.tree.springs)

    def numeric_model(self, inputs: Sequence[str], outputs: Sequence[str]) -> NumericModel:
        ins = [self._input(_channel(c, self.mechanism.input_channels, "input")) for c in inputs]
        outs: list[Any] = []
        channels = [_channel(c, self.mechanism.output_channels, "output") for c in outputs]
        driven = [_channel(c, self.mechanism.input_channels, "input") for c in inputs]
        rows = [
            self._load_row(c, outs, driven) if c.kind.startswith("load ") else self._plain_row(c, outs)
            for c in channels
        ]
        start = len(outs)
        for k, c in enumerate(channels):
            if c.kind == "spring pull":
                before = sum(3 * len(s.ends) for s in self.springs[: self._spring_index(c.owner)])
                rows[k] = _Row((start + before + c.component,))
        for s in self.springs:
            ins += s.inputs
            outs += s.outputs
        loads = [x for a in self.mechanism.tree.actions for x in self._loads(a)]
        model = replace(self.bare, loads=tuple(loads))
        return NumericModel(model, self.q, tuple(ins), tuple(outs), tuple(r for r in rows if r), self.springs)

    def _plain_row(self, c: Channel, outs: list[Any]) -> _Row:
        if c.kind == "spring pull":
            return _Row(())
        if c.kind == "joint euler":
            outs += [rb.JointPosition(c.owner, k) for k in range(3)]
            gain = euler_gain(self.n.get(self.asked.euler[c.owner], 3))[:, c.component]
            return _Row(tuple(range(len(outs) - 3, len(outs))), gain)
        outs.append(self._output(c))
        return _Row((len(outs) - 1,))

    def _load_row(self, c: Channel, outs: list[Any], driven: Sequence[Channel]) -> _Row:
        """A load as its port sees it: turned back by the port's attitude where it keeps its reference components."""
        a = next(a for a in self.mechanism.tree.actions if a.load.name == c.owner)
        point, rotation = self.places[a.body, a.port]
        outs += [rb.PortOutput(a.body, point, rotation, "attitude", k) for k in range(3)]
        force, torque = (self.n.get(s, 3) for s in self.asked.loads[c.owner])
        value = force if c.kind == "load force" else torque
        own = np.matmul(self.at.rotation[a.body], rotation)  # v_reference = own v_port
        gain = np.zeros((len(value), 3)) if a.turns else turning_gain(own, value)[:, c.component]
        direct = np.zeros((len(value), len(driven)))
        for k, d in enumerate(driven):
            if (d.kind, d.owner) == (c.kind, c.owner):
                direct[:, k] = (
                    float(d.component == c.component) if a.turns else own[..., d.component, c.component]
                )
        return _Row(tuple(range(len(outs) - 3, len(outs))), gain, direct)

    def _spring_index(self, name: str) -> int:
        return next(k for k, s in enumerate(self.springs) if s.name == name)

    def _spring(self, spring: Any) -> NumericSpring:
        k, d, density, anchor = (
            self.n.get(s, *((3,) if i == 3 else ())) for i, s in enumerate(self.asked.springs[spring.name])
        )
        ends = [
            find_port(e, self.mechanism.tree.bodies, spring.name)
            for e in (spring.port, spring.other)
            if e != GROUND
        ]
        placed = [(b, self.places[b, p][0], self.at.rotation[b], self.at.position[b]) for b, p in ends]
        return NumericSpring(spring.name, tuple(placed), anchor, k, d, density)

    def _loads(self, a: Action) -> list[rb.Load]:
        point, rotation = self.places[a.body, a.port]
        if isinstance(a.load, Load):
            force, torque = (self.n.get(s, 3) for s in self.asked.loads[a.load.name])
            return [rb.Load(a.key, a.body, point, rotation, force, torque, a.load.kind)]
        pull = a.sign * self.springs[self._spring_index(a.load.name)].pull()
        return [rb.Load(a.key, a.body, point, force=pull, kind="dead")]

    def _input(self, c: Channel) -> Any:
        if c.kind == "base acceleration":
            return rb.BaseAcceleration(c.component)
        if c.kind == "joint force":
            values = self.n.get(self.asked.gains[c.name], len(c.gains))
            component = int(np.argmax(np.abs(values[0])))
            joint, component_ = self._coordinate(c.owner, component)
            return rb.JointForce(joint, component_, values[:, component])
        if c.kind == "rotor torque":
            axis = -self.n.get(self.asked.rotors[c.owner, c.port], 3)  # the body feels the reaction
            return rb.PortForce(c.owner, np.zeros(3), _frame_along(axis), "torque", 0)
        if c.kind.startswith("load "):
            a = next(a for a in self.mechanism.tree.actions if a.load.name == c.owner)
            point, rotation = self.places[a.body, a.port]
            own = rotation if a.turns else np.swapaxes(self.at.rotation[a.body], -1, -2)
            return rb.PortForce(a.body, point, own, c.kind.removeprefix("load "), c.component)
        point, rotation = self.places[c.owner, c.port]
        return rb.PortForce(c.owner, point, rotation, c.kind.removeprefix("port "), c.component)

    def _coordinate(self, joint: str, component: int) -> tuple[str, int]:
        """Numeric joint and component of a coordinate: a universal joint is two hinges."""
        kind = next(j.kind for j in self.mechanism.joints if j.name == joint)
        return (f"{joint}_{component + 1}", 0) if kind == "universal" else (joint, component)

    def _output(self, c: Channel) -> Any:
        plain = {
            "joint position": rb.JointPosition,
            "joint rate": rb.JointRate,
            "joint acceleration": rb.JointAcceleration,
        }
        if c.kind in plain:
            return plain[c.kind](*self._coordinate(c.owner, c.component))
        if c.kind.startswith("joint wrench"):
            parent = c.kind.endswith("parent")
            joint, _ = self._coordinate(c.owner, 0 if parent else 1)
            joint = joint if joint.startswith(f"{c.owner}_") else c.owner
            return rb.JointWrench(joint, c.component, frame="parent" if parent else "child")
        point, rotation = self.places[c.owner, c.port]
        frame = "reference" if c.reference else "port"
        return rb.PortOutput(c.owner, point, rotation, c.quantity, c.component, frame=frame)


def _frame_along(axis: np.ndarray) -> np.ndarray:
    """Rotations (N, 3, 3) whose first column is the axis."""
    seed = np.where(np.abs(axis[:, :1]) > 0.8, [0.0, 1.0, 0.0], [1.0, 0.0, 0.0])
    z = np.cross(axis, seed)
    z /= np.linalg.norm(z, axis=-1, keepdims=True)
    return np.stack([axis, np.cross(z, axis), z], axis=-1)


def _channel(name: str, channels: Mapping[str, Channel], what: str) -> Channel:
    if name not in channels:
        raise unknown(name, channels, what)
    return channels[name]


_OWN = ("axis", "axis_1", "axis_2", "damping", "stiffness", "rest", "armature", "hub_inertia")
_SHAPES = {"rotation": (3, 3), "position": (3,), "axis": (3,), "axis_1": (3,), "axis_2": (3,)}


def _ask_joint(j: Joint, n: _Numbers) -> dict[str, slice]:
    asked = {"rotation": n.ask(_fixed_rotation(j)), "position": n.ask(j.origin), "q": n.ask(j.equilibrium())}
    for key in _OWN:
        value = getattr(j, key, None)
        if value is not None:
            asked[key] = n.ask(value)
    return asked


def _fixed_rotation(j: Joint) -> sp.MatrixBase:
    """Rotation of the numeric joint's frame: a spherical joint's attitude belongs to it, its coordinates start from zero."""
    return j.child_rotation if j.kind == "spherical" else j.placement


def _joints(j: Joint, asked: dict[str, slice], n: _Numbers) -> list[rb.Joint]:
    """The numeric joint, or the two hinges of a universal one with a massless cross between them."""
    shapes = {**_SHAPES, **({"damping": (j.dof,), "stiffness": (j.dof,)} if j.dof > 1 else {})}
    fields: dict[str, Any] = {k: n.get(s, *shapes.get(k, ())) for k, s in asked.items() if k != "q"}
    actuated = j.actuated or not j.dof
    if j.kind == "universal":
        d, k = fields["damping"], fields["stiffness"]
        first = {"rotation": fields["rotation"], "position": fields["position"], "axis": fields["axis_1"]}
        second = {"axis": fields["axis_2"]}
        ends = ((j.parent, j.name, first), (j.name, j.child, second))
        return [
            rb.Joint(
                f"{j.name}_{i + 1}",
                "revolute",
                a,
                b,
                damping=d[:, i],
                stiffness=k[:, i],
                actuated=actuated,
                **own,
            )
            for i, (a, b, own) in enumerate(ends)
        ]
    return [rb.Joint(j.name, j.kind, j.parent, j.child, actuated=actuated, **fields)]
