"""Inverse dynamics: the recursive Newton–Euler algorithm, and the wrenches of an equilibrium."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lftgen.errors import TrimError
from lftgen.rigidbody.kinematics import (
    accelerations,
    base_motion,
    coordinates,
    gather,
    placements,
    poses,
    transforms,
    velocities,
)
from lftgen.rigidbody.loads import Wrenches, external_wrenches, passive_force
from lftgen.rigidbody.model import Model
from lftgen.rigidbody.spatial import Array, apply, cross_force, join, transpose

Prescribed = Mapping[str, tuple[ArrayLike, ArrayLike]]
"""Explicit time dependence of joints: name → (σ, σ°), each (..., 6) in the child's axes (RBDA 3.5)."""


def newton_euler(
    model: Model,
    X: list[Array],
    v: list[Array],
    a: list[Array],
    external: Sequence[Array | None],
) -> list[Array]:
    """Wrench f_i that each joint puts on its child, body axes at the body's origin (RBDA table 5.1)."""
    f: list[Array] = []
    for link, vi, ai, fx in zip(model.links, v, a, external, strict=True):
        fi = apply(link.inertia, ai) + velocity_force(link.inertia, link.body.momentum, vi)
        f.append(fi if fx is None else fi - fx)
    for i in range(len(f) - 1, -1, -1):
        k = model.links[i].parent
        if k >= 0:
            f[k] = f[k] + apply(transpose(X[i]), f[i])
    return f


def velocity_force(inertia: Array, momentum: Array, v: Array) -> Array:
    """Bias force v ×* (I v + [h; 0]) of a body with on-board momentum h (7.36)."""
    total = apply(inertia, v)
    if momentum.any():
        total = total + join(momentum, np.zeros(3))
    return cross_force(v, total)


def inverse_dynamics(
    model: Model,
    q: ArrayLike,
    qd: ArrayLike | None = None,
    qdd: ArrayLike | None = None,
    *,
    wrenches: Wrenches | None = None,
    base_acceleration: ArrayLike | None = None,
    prescribed: Prescribed | None = None,
    reference: ArrayLike | None = None,
) -> Array:
    """Actuator forces τ (..., nq) that produce given accelerations (recursive Newton–Euler).

    Parameters
    ----------
    model : Model
        Its loads, dampers, springs and armatures take part.
    q, qd, qdd : array (..., nq)
        Joint coordinates, rates and accelerations; rates and accelerations are zero where left out.
    wrenches : mapping of body name to array (..., 6), optional
        Further wrenches [torque; force], body axes at the body's origin.
    base_acceleration : array (..., 3), m/s², optional
        Added to the model's acceleration of the reference frame, reference axes.
    prescribed : mapping of joint name to (σ, σ°), optional
        Explicit time dependence v_J = S q̇ + σ.
    reference : array (..., nq), optional
        Where springs without `rest` are slack; without it they do not act.

    Returns
    -------
    array (..., nq), N m or N

    Raises
    ------
    ModelError
        A wrong shape or name.

    Examples
    --------
    >>> from lftgen.rigidbody import Body, Joint, Model
    >>> rod = Body("rod", 3.0, (0, 0, -1), np.eye(3))
    >>> model = Model([rod], [Joint("J", "revolute", "ground", "rod", axis=(1, 0, 0))])
    >>> inverse_dynamics(model, [np.pi / 2]).round(6)
    array([29.43])
    """
    angles, rates = coordinates(model, q, "q"), coordinates(model, qd, "qd")
    acc = coordinates(model, qdd, "qdd")
    places = placements(model, angles)
    X = transforms(places)
    v, c = velocities(model, X, rates, prescribed)
    a = accelerations(model, X, c, acc, base_motion(model, base_acceleration))
    f = newton_euler(model, X, v, a, external_wrenches(model, poses(model, places), wrenches))
    slack = None if reference is None else coordinates(model, reference, "reference")
    pieces = []
    for link, fi in zip(model.links, f, strict=True):
        tau = apply(transpose(link.subspace), fi)
        if link.joint.dof:
            tau = tau - passive_force(link, angles, rates, slack) + link.joint.armature * acc[..., link.dofs]
        pieces.append(tau)
    return gather(model, pieces)


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """Static equilibrium of a model at a configuration.

    Attributes
    ----------
    torque : array (..., nq), N m or N
        What the actuators supply: Sᵀ f plus the preload of springs with a `rest`.
    wrench : dict of array (..., 6)
        By joint: [torque; force] of the parent on the child, at the child's origin, child's axes.
    wrench_parent : dict of array (..., 6)
        The same wrench about the same point, in the parent's axes.
    acceleration : dict of array (..., 6)
        By body: specific acceleration (gravity as −g) of the body's origin, body axes.
    rotation, position : dict of array
        By body: R with v_reference = R v_body, and the origin in reference axes.
    """

    torque: Array
    wrench: dict[str, Array]
    wrench_parent: dict[str, Array]
    acceleration: dict[str, Array]
    rotation: dict[str, Array]
    position: dict[str, Array]


def equilibrium(
    model: Model, q: ArrayLike, *, base_acceleration: ArrayLike | None = None, tolerance: float = 1e-8
) -> Equilibrium:
    """Wrenches and torques that hold a model at rest.

    Parameters
    ----------
    model : Model
    q : array (..., nq)
    base_acceleration : array (..., 3), m/s², optional
    tolerance : float, default 1e-8
        Largest torque of a joint that is not actuated, relative to the wrench scale of its subtree.

    Returns
    -------
    Equilibrium

    Raises
    ------
    TrimError
        A joint that is not actuated would need a torque; the message gives it.

    Examples
    --------
    >>> from lftgen.rigidbody import Body, Joint, Model
    >>> rod = Body("rod", 3.0, (0, 0, -1), np.eye(3))
    >>> model = Model([rod], [Joint("J", "revolute", "ground", "rod", axis=(1, 0, 0))])
    >>> equilibrium(model, [0.0]).wrench["J"].round(6)[5]
    np.float64(29.43)
    """
    angles = coordinates(model, q, "q")
    places = placements(model, angles)
    X, world = transforms(places), poses(model, places)
    v = c = [np.zeros(6)] * len(model.links)
    zero = np.zeros(model.nq)
    a = accelerations(model, X, c, zero, base_motion(model, base_acceleration))
    external = external_wrenches(model, world)
    f = newton_euler(model, X, v, a, external)
    pieces, parent_axes = [], {}
    for link, fi, (R, _) in zip(model.links, f, places, strict=True):
        name = link.joint.name
        parent_axes[name] = join(apply(R, fi[..., :3]), apply(R, fi[..., 3:]))
        tau = apply(transpose(link.subspace), fi)
        pieces.append(tau - passive_force(link, angles, zero, None) if link.joint.dof else tau)
    _check_unactuated(model, X, a, external, pieces, tolerance)
    bodies, joints = [k.body.name for k in model.links], [k.joint.name for k in model.links]
    return Equilibrium(
        torque=gather(model, pieces),
        wrench=dict(zip(joints, f, strict=True)),
        wrench_parent=parent_axes,
        acceleration=dict(zip(bodies, a, strict=True)),
        rotation={n: R for n, (R, _) in zip(bodies, world, strict=True)},
        position={n: p for n, (_, p) in zip(bodies, world, strict=True)},
    )


def _check_unactuated(
    model: Model,
    X: list[Array],
    a: list[Array],
    external: Sequence[Array | None],
    pieces: list[Array],
    tolerance: float,
) -> None:
    """Raise where a joint that nothing drives would need a torque."""
    scale: list[Array] = []  # size of the wrenches that must cancel, magnitudes added up the tree
    for link, ai, fx in zip(model.links, a, external, strict=True):
        size = np.matmul(np.abs(link.inertia), np.abs(ai)[..., None])[..., 0]
        scale.append(size if fx is None else size + np.abs(fx))
    for i in range(len(scale) - 1, -1, -1):
        k = model.links[i].parent
        if k >= 0:
            scale[k] = scale[k] + np.matmul(np.abs(transpose(X[i])), scale[i][..., None])[..., 0]
    for link, size, missing in zip(model.links, scale, pieces, strict=True):
        if link.joint.actuated or not link.joint.dof:
            continue
        if (np.abs(missing).max(axis=-1) > tolerance * size.max(axis=-1)).any():
            worst = missing.real.reshape(-1, missing.shape[-1])[np.abs(missing).max(axis=-1).argmax()]
            raise TrimError(
                f"joint {link.joint.name!r} is not actuated, but equilibrium needs {worst} (N m, N) there. "
                "Change the configuration or the loads, or actuate the joint."
            )
