"""Positions, velocities and accelerations of the bodies of a tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lftgen.errors import ModelError
from lftgen.rigidbody.joints import displacement
from lftgen.rigidbody.model import Link, Model
from lftgen.rigidbody.spatial import Array, apply, cross_motion, join, motion_transform, transpose

Placement = tuple[Array, Array]
"""Rotation R (..., 3, 3) and position p (..., 3) of a child in its parent: x_parent = R x_child + p."""


@dataclass(frozen=True, eq=False)
class Kinematics:
    """State of motion of every body, by name.

    Attributes
    ----------
    rotation : dict of array (..., 3, 3)
        R with v_reference = R v_body.
    position : dict of array (..., 3), m
        Origin of the body from the reference origin, reference axes.
    velocity, acceleration : dict of array (..., 6)
        Spatial velocity and spatial acceleration at the body's origin, body axes, relative to the reference
        frame (gravity and the frame's own acceleration not included).
    """

    rotation: dict[str, Array]
    position: dict[str, Array]
    velocity: dict[str, Array]
    acceleration: dict[str, Array]


def coordinates(model: Model, values: ArrayLike | None, what: str) -> Array:
    """Check an array (..., nq); None stands for zeros.

    Raises
    ------
    ModelError
        The last axis is not nq, the batch axes do not fit the model's, or an entry is not finite.
    """
    if values is None:
        return np.zeros(model.nq)
    array = np.asarray(values)
    array = array if array.dtype.kind == "c" else array.astype(float)
    if array.ndim == 0 or array.shape[-1] != model.nq:
        names = [f"{j.name}:{j.dof}" for j in model.joints]
        raise ModelError(f"{what}: expected shape (..., {model.nq}) for joints {names}, got {array.shape}.")
    if not np.isfinite(array).all():
        raise ModelError(f"{what}: every entry must be finite, got NaN or infinity.")
    try:
        np.broadcast_shapes(array.shape[:-1], model.batch_shape)
    except ValueError:
        raise ModelError(
            f"{what}: batch axes {array.shape[:-1]} do not broadcast with the model's {model.batch_shape}."
        ) from None
    return array


def gather(model: Model, pieces: Sequence[Array]) -> Array:
    """Joint vector (..., nq) in the model's joint order from one piece (..., DoF) per link."""
    moving = [
        (link.dofs.start, piece) for link, piece in zip(model.links, pieces, strict=True) if link.joint.dof
    ]
    if not moving:
        return np.zeros(0)
    moving.sort(key=lambda pair: pair[0])
    shape = np.broadcast_shapes(*(piece.shape[:-1] for _, piece in moving))
    return np.concatenate([np.broadcast_to(piece, (*shape, piece.shape[-1])) for _, piece in moving], axis=-1)


def placements(model: Model, q: Array, small: Array | None = None) -> list[Placement]:
    """Placement of each link in its parent.

    Parameters
    ----------
    q : array (..., nq)
        Joint coordinates; for joints with rotations a rotation vector (`lftgen.rigidbody.joints`).
    small : array (..., nq), optional
        A further motion from there, in the child's axes: X(q, small) = X(small) X(q).

    Returns
    -------
    list of (rotation, position), in the order of ``model.links``
    """
    result = []
    for link in model.links:
        joint = link.joint
        R, p = joint.rotation, joint.position
        for step in (q,) if small is None else (q, small):
            if joint.dof:
                turn, shift = displacement(joint.subspace, step[..., link.dofs])
                p = p + apply(R, shift)
                R = np.matmul(R, turn)
        result.append((R, p))
    return result


def transforms(places: list[Placement]) -> list[Array]:
    """Motion transforms parent → child (..., 6, 6) of each link."""
    return [motion_transform(R, p) for R, p in places]


def poses(model: Model, places: list[Placement]) -> list[Placement]:
    """Placement of each link in the reference frame."""
    result: list[Placement] = []
    for link, (R, p) in zip(model.links, places, strict=True):
        if link.parent >= 0:
            R0, p0 = result[link.parent]
            R, p = np.matmul(R0, R), p0 + apply(R0, p)
        result.append((R, p))
    return result


def base_motion(model: Model, acceleration: ArrayLike | None = None) -> Array:
    """Acceleration [0; a_ref − g] that the reference frame hands on, reference axes (7.42)."""
    a = model.acceleration - model.gravity
    if acceleration is not None:
        a = a + np.asarray(acceleration)
    return join(np.zeros(3), a)


def joint_motion(
    link: Link, rates: Array, prescribed: Mapping[str, tuple[ArrayLike, ArrayLike]] | None
) -> tuple[Array, Array]:
    """v_J = S q̇ + σ and c_J = S° q̇ + σ° of a joint (7.32, 7.33); S° = 0 for every kind here."""
    v = apply(link.subspace, rates[..., link.dofs])
    c = np.zeros(6)
    if prescribed and link.joint.name in prescribed:
        sigma, sigma_dot = prescribed[link.joint.name]
        v, c = v + np.asarray(sigma), c + np.asarray(sigma_dot)
    return v, c


def velocities(
    model: Model,
    X: list[Array],
    rates: Array,
    prescribed: Mapping[str, tuple[ArrayLike, ArrayLike]] | None = None,
) -> tuple[list[Array], list[Array]]:
    """Spatial velocities v_i and velocity-product accelerations c_i of each link, body axes."""
    v: list[Array] = []
    c: list[Array] = []
    for link, Xi in zip(model.links, X, strict=True):
        vJ, cJ = joint_motion(link, rates, prescribed)  # (7.32), (7.33)
        vi = vJ if link.parent < 0 else apply(Xi, v[link.parent]) + vJ  # (7.34)
        v.append(vi)
        c.append(cJ + cross_motion(vi, vJ))  # (7.35)
    return v, c


def accelerations(model: Model, X: list[Array], c: list[Array], qdd: Array, base: Array) -> list[Array]:
    """Spatial accelerations of each link from the joints' (7.42), body axes."""
    a: list[Array] = []
    for link, Xi, ci in zip(model.links, X, c, strict=True):
        above = base if link.parent < 0 else a[link.parent]
        a.append(apply(Xi, above) + ci + apply(link.subspace, qdd[..., link.dofs]))
    return a


def kinematics(
    model: Model, q: ArrayLike, qd: ArrayLike | None = None, qdd: ArrayLike | None = None
) -> Kinematics:
    """Positions, attitudes, velocities and accelerations of every body.

    Parameters
    ----------
    model : Model
    q, qd, qdd : array (..., nq)
        Joint coordinates, rates and accelerations; zero where left out.

    Returns
    -------
    Kinematics

    Raises
    ------
    ModelError
        A wrong shape.

    Examples
    --------
    >>> from lftgen.rigidbody import Body, Joint, Model
    >>> arm = Body("arm", 1.0, (1, 0, 0), np.eye(3))
    >>> model = Model([arm], [Joint("J", "revolute", "ground", "arm", axis=(0, 0, 1))])
    >>> kinematics(model, [np.pi / 2]).rotation["arm"].round(12)[:, 0]
    array([0., 1., 0.])
    """
    angles, rates = coordinates(model, q, "q"), coordinates(model, qd, "qd")
    places = placements(model, angles)
    X = transforms(places)
    v, c = velocities(model, X, rates)
    a = accelerations(model, X, c, coordinates(model, qdd, "qdd"), np.zeros(6))
    world = poses(model, places)
    names = [link.body.name for link in model.links]
    return Kinematics(
        rotation={n: R for n, (R, _) in zip(names, world, strict=True)},
        position={n: p for n, (_, p) in zip(names, world, strict=True)},
        velocity=dict(zip(names, v, strict=True)),
        acceleration=dict(zip(names, a, strict=True)),
    )


def jacobian(model: Model, q: ArrayLike, body: str) -> Array:
    """Jacobian J (..., 6, nq) of a body: its spatial velocity is J q̇, body axes (RBDA 3.22).

    Examples
    --------
    >>> from lftgen.rigidbody import Body, Joint, Model
    >>> arm = Body("arm", 1.0, (1, 0, 0), np.eye(3))
    >>> model = Model([arm], [Joint("J", "revolute", "ground", "arm", axis=(0, 0, 1))])
    >>> jacobian(model, [0.3], "arm")[:, 0]
    array([0., 0., 1., 0., 0., 0.])
    """
    X = transforms(placements(model, coordinates(model, q, "q")))
    return body_jacobian(model, X, model.index(body))


def body_jacobian(model: Model, X: list[Array], i: int) -> Array:
    """Jacobian of link i from the transforms of the tree."""
    columns: dict[int, Array] = {}
    carry: Array = np.eye(6)
    while i >= 0:
        link = model.links[i]
        if link.joint.dof:
            block = np.matmul(carry, link.subspace)
            for k in range(link.joint.dof):
                columns[link.dofs.start + k] = block[..., k]
        carry = np.matmul(carry, X[i])
        i = link.parent
    shape, dtype = carry.shape[:-2], carry.dtype
    zero = np.zeros((*shape, 6), dtype)
    full = [np.broadcast_to(columns.get(k, zero), (*shape, 6)) for k in range(model.nq)]
    return transpose(np.stack(full, axis=-2)) if full else np.zeros((*shape, 6, 0))
