"""Non-linear simulation of a mechanism, and its LPV model along a scheduling trajectory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lftgen import rigidbody as rb
from lftgen.arguments import instance, number
from lftgen.errors import ModelError
from lftgen.lft.model import LFT
from lftgen.mechanics.mechanism import Mechanism
from lftgen.mechanics.names import unknown
from lftgen.mechanics.signals import JointSignals
from lftgen.oracle import NumericModel, numeric_model
from lftgen.oracle_springs import NumericSpring
from lftgen.rigidbody.kinematics import placements, poses, transforms, velocities
from lftgen.rigidbody.response import operating_point, response
from lftgen.rigidbody.spatial import apply, cross, rotation_exponential, skew

Signals = Mapping[str, float | Callable[[float], float]]
"""Inputs by name: constants or functions of time (s)."""


@dataclass(frozen=True, eq=False)
class Simulation:
    """Result of a simulation: deviations from the equilibrium.

    Attributes
    ----------
    time : array (T,)
    states : dict of str to array (T,)
        Joint coordinates (deviations) and rates, by state name.
    outputs : dict of str to array (T,)
    """

    time: np.ndarray
    states: Mapping[str, np.ndarray]
    outputs: Mapping[str, np.ndarray]

    def __getitem__(self, name: str) -> np.ndarray:
        if name in self.states:
            return self.states[name]
        if name in self.outputs:
            return self.outputs[name]
        raise unknown(name, [*self.states, *self.outputs], "signal")


def simulate(
    mechanism: Mechanism,
    time: Any,
    *,
    values: Mapping[str, float] | None = None,
    initial: Mapping[str, float] | None = None,
    inputs: Signals | None = None,
    outputs: Sequence[str] = (),
    rtol: float = 1e-9,
    atol: float = 1e-12,
) -> Simulation:
    """Integrate the full equations of motion of a mechanism from near an equilibrium.

    Nothing is linearised: what a linear model leaves out shows in the difference.  Actuators hold their equilibrium
    forces, and inputs add to them.

    Parameters
    ----------
    mechanism : Mechanism
        In equilibrium; where a trim solved for something, ``trim.mechanism``.
    time : sequence of float
        Instants at which to answer, increasing, s.
    values : mapping of parameter to value
        In the parameters' own units; left out: nominal.
    initial : mapping of state to value
        Deviations from the equilibrium at the first instant: states of the linear model; left out: zero.
    inputs : mapping of input to number or function of time
    outputs : sequence of str
        Output names, as for :meth:`lftgen.Mechanism.linearize`.
    rtol, atol : float
        Tolerances of the integrator (``scipy.integrate.solve_ivp``, DOP853).

    Raises
    ------
    ModelError
        Unknown names, instants that do not increase, an integration that fails.

    Examples
    --------
    >>> import lftgen as lg, numpy as np
    >>> bob = lg.RigidBody("bob", mass=1.0, com=(0, 0, -1))
    >>> hinge = lg.RevoluteJoint("hinge", parent="ground", child="bob", axis=(1, 0, 0))
    >>> pendulum = lg.Mechanism("pendulum", bodies=[bob], joints=[hinge])
    >>> run = lg.simulate(pendulum, np.linspace(0, 1, 5), initial={"hinge_angle": 0.1})
    >>> bool(abs(run["hinge_angle"][-1] + 0.0999) < 2e-4)
    True
    """
    from scipy.integrate import solve_ivp

    instance(mechanism, Mechanism, "simulate: mechanism")
    instants = _instants(time)
    stepper = _Stepper(mechanism, dict(values or {}), dict(inputs or {}), tuple(outputs))
    start = stepper.initial(dict(initial or {}))
    run = solve_ivp(
        stepper.derivative,
        (instants[0], instants[-1]),
        start,
        method="DOP853",
        t_eval=instants,
        rtol=rtol,
        atol=atol,
    )
    if not run.success:
        raise ModelError(f"simulate: the integration failed at t = {run.t[-1]:.6g} s: {run.message}")
    read = stepper.read(run.t, run.y)
    states = {name: run.y[i] for i, name in enumerate(stepper.names)}
    return Simulation(run.t, states, dict(zip(outputs, read, strict=True)))


def _instants(time: Any) -> np.ndarray:
    try:
        instants = np.asarray(time, dtype=float)
    except (TypeError, ValueError):
        instants = np.zeros(0)
    if (
        instants.ndim != 1
        or len(instants) < 2
        or not np.all(np.isfinite(instants))
        or np.any(np.diff(instants) <= 0)
    ):
        raise ModelError(f"simulate: time must be at least two increasing instants, got {time!r}")
    return instants


class _Stepper:
    """State equations of the non-linear model: small motions from the equilibrium on the child's side, and rates."""

    def __init__(
        self, mechanism: Mechanism, values: dict[str, float], inputs: dict[str, Any], outputs: tuple[str, ...]
    ) -> None:
        known = {p.name: p for p in mechanism.parameters}
        for name, value in values.items():
            if name not in known:
                raise unknown(name, known, "parameter")
            known[name].check_values(value)
        _check_outputs(mechanism, outputs)
        arrays = {k: np.array([float(v)]) for k, v in values.items()}
        self.numeric: NumericModel = numeric_model(mechanism, arrays, tuple(inputs), outputs)
        self.point = operating_point(self.numeric.model, self.numeric.q)
        self.signals = dict(inputs)
        self.plain = self.numeric.inputs[: len(inputs)]
        self.read_channels = self.numeric.outputs[: len(outputs)]
        self.dead = [i for i, n in enumerate(inputs) if _is_dead(mechanism, n)]
        signals = [JointSignals(j) for j in mechanism.joints]
        positions = [n for s in signals for n in s.position.names]
        self.names = positions + [n for s in signals for n in s.rate.names]

    def initial(self, values: dict[str, float]) -> np.ndarray:
        for name in values:
            if name not in self.names:
                raise unknown(name, self.names, "state")
        return np.array([number(values.get(n, 0.0), f"simulate: initial {n}") for n in self.names])

    def derivative(self, t: float, x: np.ndarray) -> np.ndarray:
        n = len(x) // 2
        acceleration, _ = self._response(t, x[:n], x[n:], ())
        return np.concatenate([position_rates(self.point.model, x[:n], x[n:]), acceleration])

    def read(self, t: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Outputs (outputs, T), changes from their equilibrium values."""
        n = len(x) // 2
        rows = [
            self._response(ti, xi[:n], xi[n:], self.read_channels)[1] for ti, xi in zip(t, x.T, strict=True)
        ]
        rest = response(
            self.point, (), self.read_channels, np.zeros((1, n)), np.zeros((1, n)), np.zeros((1, 0))
        )[1][0]
        return np.array(rows).reshape(len(t), -1).T - rest[:, None]

    def _response(
        self, t: float, small: np.ndarray, rates: np.ndarray, outputs: Any
    ) -> tuple[np.ndarray, np.ndarray]:
        u = [
            number(s(t) if callable(s) else s, f"simulate: input {n} at t = {t:.6g} s")
            for n, s in self.signals.items()
        ]
        inputs = list(self.plain)
        if self.dead or self.numeric.springs:
            world, velocity = self._motion(small, rates)
            for i in self.dead:
                turned = np.swapaxes(world[inputs[i].body][0], -1, -2)
                inputs[i] = replace(inputs[i], rotation=turned)
            for spring in self.numeric.springs:
                channels, forces = _spring_forces(spring, world, velocity)
                inputs, u = inputs + channels, u + forces
        qdd, y = response(self.point, inputs, outputs, small[None], rates[None], np.array([u]).reshape(1, -1))
        return qdd[0], y[0]

    def _motion(self, small: np.ndarray, rates: np.ndarray) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Placement of each body, and its spatial velocity in body axes."""
        model = self.point.model
        places = placements(model, self.point.q, small[None])
        v, _ = velocities(model, transforms(places), rates[None])
        names = [link.body.name for link in model.links]
        return dict(zip(names, poses(model, places), strict=True)), dict(zip(names, v, strict=True))


def _spring_forces(
    spring: NumericSpring, world: Mapping[str, Any], velocity: Mapping[str, np.ndarray]
) -> tuple[list[Any], list[float]]:
    """What a spring adds to its pull at the equilibrium (which the model carries as loads): channels and values."""
    ends = []
    for body, r, _, _ in spring.ends:
        R, p = world[body]
        v = velocity[body]
        ends.append(
            (p + apply(R, r), apply(R, v[..., 3:] + cross(v[..., :3], r)), body, r, np.swapaxes(R, -1, -2))
        )
    far = ends[1][:2] if len(ends) > 1 else (spring.anchor, np.zeros((1, 3)))
    change = spring.force(far[0] - ends[0][0], far[1] - ends[0][1]) - spring.pull()
    channels, values = [], []
    for sign, (_, _, body, r, turn) in zip((1.0, -1.0), ends, strict=False):
        channels += [rb.PortForce(body, r, turn, "force", k) for k in range(3)]
        values += [float(sign * f) for f in np.broadcast_to(change, (1, 3))[0]]
    return channels, values


def position_rates(model: rb.Model, small: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """Derivative of the small motions: rates are twists in the child's axes, small motions exp([phi]x) and a shift."""
    out = np.zeros_like(rates)
    for link in model.links:
        S = np.asarray(link.subspace).reshape(-1, *np.asarray(link.subspace).shape[-2:])[0]
        d = link.dofs
        twist, here = S @ rates[d], S @ small[d]
        phi_rate = _inverse_jacobian(here[:3]) @ twist[:3]
        shift_rate = rotation_exponential(here[:3]) @ twist[3:]
        out[d] = S.T @ np.concatenate([phi_rate, shift_rate])
    return out


def _inverse_jacobian(phi: np.ndarray) -> np.ndarray:
    """Of the rotation vector's rate by the angular velocity in the turned axes."""
    angle = float(np.linalg.norm(phi))
    K = skew(phi)
    near = 1 / 12 + angle**2 / 720
    b = near if angle < 1e-3 else 1 / angle**2 - (1 + np.cos(angle)) / (2 * angle * np.sin(angle))
    return np.eye(3) + K / 2 + b * (K @ K)


def _is_dead(mechanism: Mechanism, name: str) -> bool:
    channel = mechanism.input_channels[name]
    loads = {load.name: load for load in mechanism.loads}
    return channel.kind.startswith("load ") and loads[channel.owner].kind == "dead"


def _check_outputs(mechanism: Mechanism, outputs: Sequence[str]) -> None:
    for name in outputs:
        channel = mechanism.output_channels.get(name)
        if channel is None:
            raise unknown(name, mechanism.output_channels, "output")
        if channel.kind in ("joint euler", "spring pull", "load force", "load torque"):
            raise ModelError(
                f"simulate: {name} is an output of the linear model only; read attitudes and port positions instead"
            )


def lpv_system(plant: LFT, *, name: str = "lpv") -> Any:
    """The LPV model as a python-control ``NonlinearIOSystem`` with the scheduling parameters as further inputs.

    Parameters
    ----------
    plant : LFT
        With states; its scheduling parameters become inputs (in their own units), uncertain ones stay nominal (fix them
        with ``plant.subs`` to have others).

    Returns
    -------
    control.NonlinearIOSystem
        Inputs: those of the plant, then the scheduling parameters.  The model holds for deviations from the equilibrium
        that belongs to the momentary value of the scheduling parameters, which must move slowly.

    Raises
    ------
    ModelError
        No states, or no scheduling parameter.
    ParameterError
        While it runs: a scheduling parameter outside its range.

    Examples
    --------
    >>> import lftgen as lg
    >>> theta = lg.scheduled_angle("theta", (-60, 60), unit="deg")
    >>> bob = lg.RigidBody("bob", mass=1.0, com=(0, 0, -1))
    >>> hinge = lg.RevoluteJoint("hinge", parent="ground", child="bob", axis=(1, 0, 0), angle=theta)
    >>> arm = lg.Mechanism("arm", bodies=[bob], joints=[hinge])
    >>> lg.lpv_system(arm.linearize()).input_labels
    ['hinge_torque', 'theta']
    """
    import control

    instance(plant, LFT, "lpv_system: plant")
    scheduling = [p for p in plant.parameters if p.role == "scheduling"]
    if not plant.states or not scheduling:
        raise ModelError(
            "lpv_system: the plant needs states and at least one scheduling parameter; use at() for one point"
        )
    n_u = len(plant.inputs)

    def matrices(u: np.ndarray) -> Any:
        values = {p.name: v for p, v in zip(scheduling, u[n_u:], strict=True)}
        return plant.evaluate({k: np.atleast_1d(v) for k, v in values.items()})

    def update(t: float, x: np.ndarray, u: np.ndarray, params: Any) -> np.ndarray:
        m = matrices(u)
        return m.A[0] @ x + m.B[0] @ u[:n_u]

    def output(t: float, x: np.ndarray, u: np.ndarray, params: Any) -> np.ndarray:
        m = matrices(u)
        return m.C[0] @ x + m.D[0] @ u[:n_u]

    return control.NonlinearIOSystem(
        update,
        output,
        name=name,
        states=list(plant.states),
        inputs=[*plant.inputs, *(p.name for p in scheduling)],
        outputs=list(plant.outputs),
    )
