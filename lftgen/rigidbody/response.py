"""Non-linear response about an operating point: forward dynamics and output maps.

Nothing here is linearised by hand: each quantity comes from finite motions, so that a derivative of
`response` is an independent check of any linear formula.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lftgen.errors import ModelError
from lftgen.rigidbody.channels import (
    BaseAcceleration,
    Input,
    JointAcceleration,
    JointForce,
    JointPosition,
    JointRate,
    JointWrench,
    Output,
    PortForce,
    PortOutput,
)
from lftgen.rigidbody.forward import articulated_body, total_joint_forces
from lftgen.rigidbody.inverse import equilibrium, newton_euler
from lftgen.rigidbody.kinematics import (
    Placement,
    base_motion,
    coordinates,
    gather,
    placements,
    poses,
    transforms,
    velocities,
)
from lftgen.rigidbody.loads import external_wrenches
from lftgen.rigidbody.loop_forces import add_wrenches, loop_forces
from lftgen.rigidbody.loops import ClosedModel
from lftgen.rigidbody.model import Model
from lftgen.rigidbody.spatial import (
    Array,
    apply,
    cross,
    join,
    rotation_logarithm,
    transpose,
    wrench_at_origin,
)


@dataclass(frozen=True, eq=False)
class OperatingPoint:
    """An equilibrium: the configuration, the torques that actuators hold, and where everything is.

    With `closed` the loops of that mechanism, whose tree is `model`, stay closed.
    """

    model: Model
    q: Array
    torque: Array
    places: list[Placement]
    world: list[Placement]
    closed: ClosedModel | None = None


def operating_point(model: Model, q: ArrayLike, tolerance: float = 1e-8) -> OperatingPoint:
    """Equilibrium of a model at q; joints that are not actuated hold no torque.

    Raises
    ------
    TrimError
        A joint that is not actuated would need one (`lftgen.rigidbody.inverse.equilibrium`).
    """
    angles = coordinates(model, q, "q")
    torque = equilibrium(model, angles, tolerance=tolerance).torque
    held = gather(model, [torque[..., k.dofs] * float(bool(k.joint.actuated)) for k in model.links])
    places = placements(model, angles)
    return OperatingPoint(model, angles, held, places, poses(model, places))


def check_channels(model: Model, inputs: Sequence[Input], outputs: Sequence[Output]) -> None:
    """Raise a `ModelError` for a channel whose body, joint or component does not exist."""
    for channel in (*inputs, *outputs):
        if isinstance(channel, (PortForce, PortOutput)):
            model.index(channel.body)
        elif not isinstance(channel, BaseAcceleration):
            joint = model.links[model.joint_index(channel.joint)].joint
            if not isinstance(channel, JointWrench) and channel.component not in range(joint.dof):
                raise ModelError(
                    f"component of a channel of joint {joint.name!r}: expected 0 to {joint.dof - 1} "
                    f"({joint.kind}), got {channel.component}."
                )


def response(
    point: OperatingPoint,
    inputs: Sequence[Input],
    outputs: Sequence[Output],
    small: Array,
    rates: Array,
    u: Array,
) -> tuple[Array, Array]:
    """Joint accelerations and outputs away from an operating point.

    Parameters
    ----------
    small : array (..., nq)
        Motion of each joint from the equilibrium, on the child's side: X(small) X(q̄).
    rates : array (..., nq)
    u : array (..., number of inputs)

    Returns
    -------
    qdd : array (..., nq)
    y : array (..., number of outputs)
    """
    model = point.model
    places = placements(model, point.q, small)
    X, world = transforms(places), poses(model, places)
    drive, wrenches, push = _apply_inputs(point, inputs, u)
    external = external_wrenches(model, world, wrenches)
    tau = total_joint_forces(model, point.q + small, rates, drive, point.q)
    base = base_motion(model, push)
    result = articulated_body(model, X, rates, tau, external, base)
    v, _ = velocities(model, X, rates)
    if point.closed is not None and point.closed.loops:
        loops = loop_forces(point.closed, X, world, v, result, base)
        external = add_wrenches(external, loops.on_bodies)
        result = articulated_body(model, X, rates, tau, external, base)
    f = None
    if any(isinstance(channel, JointWrench) for channel in outputs):
        f = newton_euler(model, X, v, result.acceleration, external)
    reader = _Reader(point, places, world, small, rates, base, v, result.acceleration, result.qdd, f, {})
    values = [reader.read(channel) for channel in outputs]
    sources = [x.shape[:-1] for x in (small, rates, u, result.qdd)]
    shape = np.broadcast_shapes(*sources, *(value.shape for value in values))
    y = [np.broadcast_to(value, shape) for value in values]
    qdd = np.broadcast_to(result.qdd, (*shape, model.nq))
    return qdd, np.stack(y, axis=-1) if y else np.zeros((*shape, 0))


def _apply_inputs(
    point: OperatingPoint, inputs: Sequence[Input], u: Array
) -> tuple[Array, dict[str, Array], Array]:
    """Joint forces, wrenches by body and base acceleration that the inputs make."""
    model, base = point.model, np.zeros(3)
    drive = [point.torque[..., k.dofs] for k in model.links]
    wrenches: dict[str, Array] = {}
    for k, channel in enumerate(inputs):
        value = u[..., k]
        if isinstance(channel, JointForce):
            i = model.joint_index(channel.joint)
            unit = np.eye(model.links[i].joint.dof)[channel.component]
            drive[i] = drive[i] + (np.asarray(channel.gain) * value)[..., None] * unit
        elif isinstance(channel, BaseAcceleration):
            base = base + value[..., None] * np.eye(3)[channel.component]
        else:
            direction = channel.rotation[..., :, channel.component] * value[..., None]
            none = np.zeros(3)
            force, torque = (direction, none) if channel.kind == "force" else (none, direction)
            wrench = wrench_at_origin(channel.point, torque, force)
            wrenches[channel.body] = wrenches[channel.body] + wrench if channel.body in wrenches else wrench
    return gather(model, drive), wrenches, base


@dataclass(frozen=True, eq=False)
class _Reader:
    """Output maps at one state of motion."""

    point: OperatingPoint
    places: list[Placement]
    world: list[Placement]
    small: Array
    rates: Array
    base: Array
    v: list[Array]
    a: list[Array]
    qdd: Array
    f: list[Array] | None
    known: dict[tuple[object, ...], Array]

    def read(self, channel: Output) -> Array:
        """Value (...) of one output channel."""
        if isinstance(channel, PortOutput):
            r, R = channel.point, channel.rotation
            where = (r.shape, r.tobytes(), R.shape, R.tobytes())
            key = (channel.body, channel.quantity, channel.frame, where)
            if key not in self.known:
                self.known[key] = self._port(channel)
            return self.known[key][..., channel.component]
        i = self.point.model.joint_index(channel.joint)
        if isinstance(channel, JointWrench):
            return self._wrench(i, channel.frame)[..., channel.component]
        source = {JointPosition: self.small, JointRate: self.rates, JointAcceleration: self.qdd}[
            type(channel)
        ]
        return source[..., self.point.model.links[i].dofs][..., channel.component]

    def _wrench(self, i: int, frame: str) -> Array:
        if self.f is None:
            raise ValueError("wrenches were not computed")
        if frame == "child":
            return self.f[i]
        (R, p), (_, p_bar) = self.places[i], self.point.places[i]
        torque, force = apply(R, self.f[i][..., :3]), apply(R, self.f[i][..., 3:])
        return join(torque + cross(p - p_bar, force), force)

    def _port(self, port: PortOutput) -> Array:
        i = self.point.model.index(port.body)
        (R, p), (R_bar, p_bar) = self.world[i], self.point.world[i]
        r, quantity = port.point, port.quantity
        in_reference = port.frame == "reference"
        if quantity == "position":
            shift = p + apply(R, r) - p_bar - apply(R_bar, r)
            return shift if in_reference else apply(transpose(np.matmul(R_bar, port.rotation)), shift)
        if quantity == "attitude":
            phi = apply(transpose(port.rotation), rotation_logarithm(np.matmul(transpose(R_bar), R)))
            return apply(np.matmul(R_bar, port.rotation), phi) if in_reference else phi
        vector = self._body_vector(i, r, quantity)
        return apply(R, vector) if in_reference else apply(transpose(port.rotation), vector)

    def _body_vector(self, i: int, r: Array, quantity: str) -> Array:
        """Velocity- or acceleration-like vector of a point, in body axes."""
        w, alpha = self.v[i][..., :3], self.a[i][..., :3]
        if quantity == "rate":
            return w
        if quantity == "angular_acceleration":
            return alpha
        speed = self.v[i][..., 3:] + cross(w, r)
        if quantity == "velocity":
            return speed
        proper = self.a[i][..., 3:] + cross(alpha, r) + cross(w, speed)  # p̈ + a_ref − g, body axes
        if quantity == "specific_force":
            return proper
        return proper - apply(transpose(self.world[i][0]), self.base[..., 3:])
