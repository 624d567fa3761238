"""Small motions of joints against their coordinates: retraction, tangent map, rotation vector."""

from __future__ import annotations

import numpy as np

from lftgen.rigidbody.model import Model
from lftgen.rigidbody.spatial import Array, apply, rotation_exponential, skew, transpose

ADDITIVE = ("revolute", "prismatic", "helical", "cylindrical")
"""Joint kinds whose coordinates add up; only these can be independent coordinates."""


def retract(model: Model, q: Array, small: Array) -> Array:
    """Coordinates of the posture X(small) X(q): a motion on the child's side of each joint.

    Examples
    --------
    >>> from lftgen.rigidbody import Body, Joint
    >>> model = Model([Body("b", 1.0, (0, 0, 0), np.eye(3))], [Joint("F", "free", "ground", "b")])
    >>> retract(model, np.array([0, 0, np.pi / 2, 0, 0, 0]), np.array([0, 0, 0, 1.0, 0, 0])).round(12)[3:]
    array([0., 1., 0.])
    """
    shape = np.broadcast_shapes(q.shape[:-1], small.shape[:-1])
    result = np.array(np.broadcast_to(q + small, (*shape, model.nq)))
    for link in model.links:
        kind, dofs = link.joint.kind, link.dofs
        if kind in ADDITIVE or not link.joint.dof:
            continue
        S, old, step = link.subspace, q[..., dofs], small[..., dofs]
        here, move = apply(S, old), apply(S, step)
        R = rotation_exponential(here[..., :3])
        phi = here[..., :3] + move[..., :3]  # right for planar joints: one axis
        if kind != "planar":
            phi = rotation_vector(np.matmul(R, rotation_exponential(move[..., :3])))
        placement = np.concatenate([phi, here[..., 3:] + apply(R, move[..., 3:])], axis=-1)
        result[..., dofs] = apply(transpose(S), placement)  # the columns of S are orthonormal
    return result


def rotation_vector(R: Array) -> Array:
    """Rotation vector of any rotation up to half a turn (real), by its quaternion.

    Examples
    --------
    >>> rotation_vector(np.diag([-1.0, -1.0, 1.0])).round(12)
    array([0.        , 0.        , 3.14159265])
    """
    K = np.empty((*R.shape[:-2], 4, 4))
    trace = np.einsum("...ii->...", R)[..., None, None]
    w = np.stack(
        [R[..., 2, 1] - R[..., 1, 2], R[..., 0, 2] - R[..., 2, 0], R[..., 1, 0] - R[..., 0, 1]], axis=-1
    )
    K[..., :1, :1], K[..., 0, 1:], K[..., 1:, 0] = trace, w, w
    K[..., 1:, 1:] = R + transpose(R) - trace * np.eye(3)
    quaternion = np.linalg.eigh(K)[1][..., -1]  # largest eigenvalue
    quaternion = quaternion * np.where(quaternion[..., :1] < 0, -1, 1)
    length = np.sqrt((quaternion[..., 1:] ** 2).sum(axis=-1, keepdims=True))
    angle = 2 * np.arctan2(length, quaternion[..., :1])
    ratio = np.where(length > 1e-12, angle / np.where(length > 1e-12, length, 1), 2.0)
    return quaternion[..., 1:] * ratio


def tangent_map(model: Model, q: Array) -> Array:
    """Q (..., nq, nq): coordinates change by Q δ for small motions δ on the child's side of each joint.

    Examples
    --------
    >>> from lftgen.rigidbody import Body, Joint, Model
    >>> model = Model([Body("b", 1.0, (0, 0, 0), np.eye(3))], [Joint("B", "spherical", "ground", "b")])
    >>> tangent_map(model, np.array([0.0, 0.0, 0.2])).round(4)[:2, :2]
    array([[ 0.9967, -0.1   ],
           [ 0.1   ,  0.9967]])
    """
    batch = np.broadcast_shapes(q.shape[:-1], model.batch_shape)
    Q = np.array(np.broadcast_to(np.eye(model.nq), (*batch, model.nq, model.nq)))
    for link in model.links:
        if link.joint.dof and link.joint.kind not in ADDITIVE:
            S = link.subspace
            phi = apply(S, q[..., link.dofs])[..., :3]
            lifted = np.concatenate(
                [
                    np.matmul(_inverse_right_jacobian(phi), S[..., :3, :]),
                    np.matmul(rotation_exponential(phi), S[..., 3:, :]),
                ],
                axis=-2,
            )
            Q[..., link.dofs, link.dofs] = np.matmul(transpose(S), lifted)
    return Q


def _inverse_right_jacobian(phi: Array) -> Array:
    """J_r⁻¹(φ): log(exp φ exp δ) = φ + J_r⁻¹ δ to first order."""
    x = (phi * phi).sum(axis=-1)
    small = x < 1e-4
    safe = np.where(small, 1, x)
    theta = np.sqrt(safe)
    far = 1 / safe - (1 + np.cos(theta)) / (2 * theta * np.sin(theta))
    near = 1 / 12 + x / 720 + x**2 / 30240
    K = skew(phi)
    result: Array = np.eye(3) + K / 2 + np.where(small, near, far)[..., None, None] * np.matmul(K, K)
    return result
