"""Joint kinds: the motion subspace of each, and the placement that coordinates give.

Each kind is a subgroup of rigid motions, so that its motion subspace S (6 × DoF) is constant in the
child's axes at the child's origin: S° = 0, c_J = 0 (RBDA table 4.1). One rule serves all: with [φ; d] = S q,
the child is turned by exp([φ]×) and moved by d (in the joint frame's axes). For joints with several rotations
q is therefore a rotation vector, and the rates are the twist in the child's axes, not dq/dt.
"""

from __future__ import annotations

import numpy as np

from lftgen.errors import ModelError
from lftgen.rigidbody.spatial import Array, apply, rotation_exponential, transpose

DOFS = {
    "fixed": 0,
    "revolute": 1,
    "prismatic": 1,
    "helical": 1,
    "cylindrical": 2,
    "planar": 3,
    "spherical": 3,
    "free": 6,
}
"""Degrees of freedom of each joint kind."""

NEEDS_AXIS = frozenset({"revolute", "prismatic", "helical", "cylindrical", "planar"})


def motion_subspace(kind: str, axis: Array, pitch: Array) -> Array:
    """Motion subspace S of a joint in the child's axes, [angular; linear].

    Parameters
    ----------
    kind : str
        A key of `DOFS`.
    axis : array (..., 3)
        Unit axis in the joint frame. Planar: the normal of the plane.
    pitch : array (...), m/rad
        Advance per radian of a helical joint.

    Returns
    -------
    array (..., 6, DoF)

    Examples
    --------
    >>> motion_subspace("revolute", np.array([0.0, 0, 1]), np.array(0.0))[:, 0]
    array([0., 0., 1., 0., 0., 0.])
    """
    if kind == "free":
        return np.eye(6)
    if kind == "spherical":
        return np.eye(6)[:, :3]
    shape = np.broadcast_shapes(axis.shape[:-1], pitch.shape)
    S = np.zeros((*shape, 6, DOFS[kind]), np.result_type(axis, pitch))
    if kind in ("revolute", "helical", "cylindrical", "planar"):
        S[..., :3, 0] = axis
    if kind in ("prismatic", "cylindrical"):
        S[..., 3:, -1] = axis
    if kind == "helical":
        S[..., 3:, 0] = pitch[..., None] * axis
    if kind == "planar":
        S[..., 3:, 1], S[..., 3:, 2] = plane_directions(axis)
    return S


def plane_directions(axis: Array) -> tuple[Array, Array]:
    """Two unit vectors that complete a unit axis to a right-handed frame (x, y, axis).

    For the axis +z they are +x and +y.

    Examples
    --------
    >>> [v.tolist() for v in plane_directions(np.array([0.0, 0.0, 1.0]))]
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    """
    steep = np.abs(axis[..., 0].real) > 0.8
    seed = np.where(steep[..., None], np.array([0.0, 1.0, 0.0]), np.array([1.0, 0.0, 0.0]))
    x = seed - axis * (axis * seed).sum(axis=-1)[..., None]
    x = x / np.sqrt((x * x).sum(axis=-1))[..., None]
    return x, np.stack(
        [
            axis[..., 1] * x[..., 2] - axis[..., 2] * x[..., 1],
            axis[..., 2] * x[..., 0] - axis[..., 0] * x[..., 2],
            axis[..., 0] * x[..., 1] - axis[..., 1] * x[..., 0],
        ],
        axis=-1,
    )


def constraint_subspace(S: Array) -> Array:
    """Orthonormal basis T of the constraint forces, Tᵀ S = 0 (RBDA 3.36); real S.

    Parameters
    ----------
    S : array (..., 6, DoF)

    Returns
    -------
    array (..., 6, 6 − DoF)

    Raises
    ------
    ModelError
        S lacks full column rank.

    Examples
    --------
    >>> constraint_subspace(np.eye(6)[:, 2:3]).shape
    (6, 5)
    """
    dof = S.shape[-1]
    if dof == 0:
        return np.broadcast_to(np.eye(6), (*S.shape[:-2], 6, 6))
    left, values, _ = np.linalg.svd(S)
    if dof and (values[..., -1] <= 1e-12 * values[..., 0]).any():
        raise ModelError(
            f"motion subspace: expected a 6 x {dof} matrix of full column rank, got singular values "
            f"{values.reshape(-1, dof)[0]}. Choose independent joint axes."
        )
    return left[..., dof:]


def active_subspace(S: Array) -> Array:
    """T_a = S (SᵀS)⁻¹, so that T_aᵀ S = 1: the wrench T_a τ does the work τ q̇ (RBDA 3.36).

    Examples
    --------
    >>> active_subspace(2 * np.eye(6)[:, :1])[0, 0]
    np.float64(0.5)
    """
    gram = np.matmul(transpose(S), S)
    return np.matmul(S, np.linalg.inv(gram))


def displacement(S: Array, q: Array) -> tuple[Array, Array]:
    """Turn and shift (exp([φ]×), d) of a joint, [φ; d] = S q, in the joint frame's axes.

    Parameters
    ----------
    S : array (..., 6, DoF)
    q : array (..., DoF)

    Returns
    -------
    rotation : array (..., 3, 3)
    position : array (..., 3)

    Examples
    --------
    >>> displacement(np.eye(6)[:, 3:4], np.array([2.0]))[1]
    array([2., 0., 0.])
    """
    twist = apply(S, q)
    return rotation_exponential(twist[..., :3]), twist[..., 3:]
