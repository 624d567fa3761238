"""Forward dynamics: the articulated-body algorithm (Featherstone, RBDA, section 7.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lftgen.errors import IllPosedError
from lftgen.rigidbody.inverse import Prescribed, velocity_force
from lftgen.rigidbody.kinematics import (
    base_motion,
    coordinates,
    gather,
    placements,
    poses,
    transforms,
    velocities,
)
from lftgen.rigidbody.loads import Wrenches, external_wrenches, passive_force
from lftgen.rigidbody.model import Link, Model
from lftgen.rigidbody.spatial import Array, apply, transpose


@dataclass(frozen=True, eq=False)
class ArticulatedPass:
    """Result of the three passes, one entry per link.

    Attributes
    ----------
    inertia, bias : list of array (..., 6, 6) and (..., 6)
        I^A and p^A of each subtree with its root as handle, body axes.
    acceleration : list of array (..., 6)
        Spatial acceleration of each body, the base's included.
    qdd : array (..., nq)
    """

    inertia: list[Array]
    bias: list[Array]
    acceleration: list[Array]
    qdd: Array


def articulated_body(
    model: Model,
    X: list[Array],
    rates: Array,
    tau: Array,
    external: Sequence[Array | None],
    base: Array,
    prescribed: Prescribed | None = None,
) -> ArticulatedPass:
    """The three passes of the articulated-body algorithm.

    Parameters
    ----------
    X : list of array (..., 6, 6)
        Motion transforms parent → child.
    rates, tau : array (..., nq)
        Joint rates, and total joint forces (actuators, springs, dampers).
    external : list of array (..., 6) or None
        f^x_i, body axes.
    base : array (..., 6)
        a_0 = [0; a_ref − g].

    Raises
    ------
    IllPosedError
        The inertia that a joint moves is singular; the message names the joint.
    """
    links = model.links
    v, c = velocities(model, X, rates, prescribed)  # pass 1: (7.32)-(7.35)
    IA: list[Array] = [link.inertia for link in links]
    pA: list[Array] = []
    for link, vi, fx in zip(links, v, external, strict=True):
        p = velocity_force(link.inertia, link.body.momentum, vi)
        pA.append(p if fx is None else p - fx)  # (7.36)
    U: list[Array] = [np.zeros(0)] * len(links)
    Dinv: list[Array] = [np.zeros(0)] * len(links)
    u: list[Array] = [np.zeros(0)] * len(links)
    for i in range(len(links) - 1, -1, -1):  # pass 2
        link, S = links[i], links[i].subspace
        Ia, pa = IA[i], pA[i]
        if link.joint.dof:
            U[i] = np.matmul(IA[i], S)
            Dinv[i] = inverse_joint_inertia(link, np.matmul(transpose(S), U[i]), IA[i])
            u[i] = tau[..., link.dofs] - apply(transpose(S), pA[i])
            gain = np.matmul(U[i], Dinv[i])
            Ia = Ia - np.matmul(gain, transpose(U[i]))  # (7.39)
            pa = pa + apply(gain, u[i])
        if link.parent >= 0:
            pa = pa + apply(Ia, c[i])  # (7.40)
            XT = transpose(X[i])
            IA[link.parent] = IA[link.parent] + np.matmul(np.matmul(XT, Ia), X[i])  # (7.37)
            pA[link.parent] = pA[link.parent] + apply(XT, pa)  # (7.38)
    a: list[Array] = []
    qdd: list[Array] = [np.zeros(0)] * len(links)
    for i, link in enumerate(links):  # pass 3
        ai = apply(X[i], base if link.parent < 0 else a[link.parent]) + c[i]
        if link.joint.dof:
            qdd[i] = apply(Dinv[i], u[i] - apply(transpose(U[i]), ai))  # (7.41)
            ai = ai + apply(link.subspace, qdd[i])  # (7.42)
        a.append(ai)
    return ArticulatedPass(IA, pA, a, gather(model, qdd))


def inverse_joint_inertia(link: Link, D: Array, IA: Array) -> Array:
    """(Sᵀ I^A S + armature)⁻¹ (..., DoF, DoF), or an error that names the joint."""
    armature = link.joint.armature
    if armature.any():
        D = D + armature[..., None] * np.eye(link.joint.dof)
    scale = np.abs(IA).max(axis=(-1, -2))
    if link.joint.dof == 1:
        singular = np.abs(D[..., 0, 0]) <= 1e-15 * scale
    else:
        singular = np.abs(np.linalg.eigvalsh(0.5 * (D + transpose(D)).real)[..., 0]) <= 1e-15 * scale
    if singular.any():
        raise IllPosedError(
            f"joint {link.joint.name!r}: the inertia that it moves is singular (expected Sᵀ I^A S > 0). Give "
            f"body {link.body.name!r}, or what it carries, mass or inertia along this joint, or an armature."
        )
    return 1 / D if link.joint.dof == 1 else np.linalg.inv(D)


def forward_dynamics(
    model: Model,
    q: ArrayLike,
    qd: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    *,
    wrenches: Wrenches | None = None,
    base_acceleration: ArrayLike | None = None,
    prescribed: Prescribed | None = None,
    reference: ArrayLike | None = None,
) -> Array:
    """Joint accelerations under given actuator forces (articulated-body algorithm, O(N)).

    Parameters
    ----------
    model : Model
        Its loads, dampers, springs and armatures take part.
    q, qd, tau : array (..., nq)
        Joint coordinates, rates and actuator forces (N m, N); rates and forces are zero where left out.
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
    array (..., nq), rad/s² or m/s²

    Raises
    ------
    ModelError
        A wrong shape or name.
    IllPosedError
        A joint that moves no inertia.

    Examples
    --------
    >>> from lftgen.rigidbody import Body, Joint, Model
    >>> rod = Body("rod", 3.0, (0, 0, -1), np.eye(3))
    >>> model = Model([rod], [Joint("J", "revolute", "ground", "rod", axis=(1, 0, 0))])
    >>> forward_dynamics(model, [np.pi / 2]).round(6)
    array([-7.3575])
    """
    angles, rates = coordinates(model, q, "q"), coordinates(model, qd, "qd")
    places = placements(model, angles)
    external = external_wrenches(model, poses(model, places) if model.loads else [], wrenches)
    slack = None if reference is None else coordinates(model, reference, "reference")
    total = total_joint_forces(model, angles, rates, coordinates(model, tau, "tau"), slack)
    base = base_motion(model, base_acceleration)
    return articulated_body(model, transforms(places), rates, total, external, base, prescribed).qdd


def total_joint_forces(model: Model, q: Array, rates: Array, tau: Array, reference: Array | None) -> Array:
    """Actuator forces plus those of springs and dampers (..., nq)."""
    total = tau
    for link in model.links:
        if link.joint.passive:
            force = np.asarray(passive_force(link, q, rates, reference))
            shape = np.broadcast_shapes(total.shape[:-1], force.shape[:-1])
            wide = np.array(np.broadcast_to(total, (*shape, model.nq)), np.result_type(total, force))
            wide[..., link.dofs] += force
            total = wide
    return total
