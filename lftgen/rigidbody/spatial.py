"""Spatial vectors [angular; linear] in numpy: cross products, transforms, rotations, inertia.

Every function accepts leading batch axes that broadcast, and complex entries: nothing conjugates, so a
derivative by complex step passes through. Conventions are Featherstone's (RBDA, chapter 2).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def transpose(matrix: Array) -> Array:
    """Swap the last two axes, without conjugation.

    Examples
    --------
    >>> transpose(np.ones((4, 6, 2))).shape
    (4, 2, 6)
    """
    return np.swapaxes(matrix, -1, -2)


def apply(matrix: Array, vector: Array) -> Array:
    """Multiply a matrix (..., r, c) by a vector (..., c); leading axes broadcast.

    Examples
    --------
    >>> apply(np.eye(3), np.array([1.0, 2.0, 3.0]))
    array([1., 2., 3.])
    """
    result: Array = np.matmul(matrix, vector[..., None])[..., 0]
    return result


def skew(vector: Array) -> Array:
    """Cross-product matrix: ``skew(a) @ b`` is a × b.

    Parameters
    ----------
    vector : array (..., 3)

    Returns
    -------
    array (..., 3, 3)

    Examples
    --------
    >>> skew(np.array([0.0, 0.0, 1.0])) @ np.array([1.0, 0.0, 0.0])
    array([0., 1., 0.])
    """
    matrix = np.zeros((*vector.shape[:-1], 3, 3), vector.dtype)
    matrix[..., 0, 1], matrix[..., 0, 2], matrix[..., 1, 2] = -vector[..., 2], vector[..., 1], -vector[..., 0]
    matrix[..., 1, 0], matrix[..., 2, 0], matrix[..., 2, 1] = vector[..., 2], -vector[..., 1], vector[..., 0]
    return matrix


def cross(a: Array, b: Array) -> Array:
    """Vector product of (..., 3) arrays, faster than ``numpy.cross`` on small arrays.

    Examples
    --------
    >>> cross(np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]))
    array([0., 0., 1.])
    """
    a0, a1, a2 = a[..., 0], a[..., 1], a[..., 2]
    b0, b1, b2 = b[..., 0], b[..., 1], b[..., 2]
    return np.stack([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0], axis=-1)


def join(top: Array, bottom: Array) -> Array:
    """Stack two (..., 3) arrays into a spatial vector (..., 6) [top; bottom], broadcasting them.

    Examples
    --------
    >>> join(np.zeros((5, 3)), np.ones(3)).shape
    (5, 6)
    """
    return np.concatenate(np.broadcast_arrays(top, bottom), axis=-1)


def cross_motion(v: Array, m: Array) -> Array:
    """Spatial cross product of motion vectors, v × m (RBDA 2.31).

    Examples
    --------
    >>> cross_motion(np.eye(6)[2], np.eye(6)[3])
    array([0., 0., 0., 0., 1., 0.])
    """
    w, m_angular = v[..., :3], m[..., :3]
    return join(cross(w, m_angular), cross(w, m[..., 3:]) + cross(v[..., 3:], m_angular))


def cross_force(v: Array, f: Array) -> Array:
    """Spatial cross product of a motion with a force vector, v ×* f (RBDA 2.32).

    Examples
    --------
    >>> cross_force(np.eye(6)[3], np.eye(6)[4])
    array([0., 0., 1., 0., 0., 0.])
    """
    w, f_linear = v[..., :3], f[..., 3:]
    return join(cross(w, f[..., :3]) + cross(v[..., 3:], f_linear), cross(w, f_linear))


def motion_transform(rotation: Array, position: Array) -> Array:
    """Motion transform X from a frame P to a frame C, ``v_C = X v_P`` (RBDA 2.24); forces go back by Xᵀ.

    Parameters
    ----------
    rotation : array (..., 3, 3)
        R with v_P = R v_C.
    position : array (..., 3)
        Origin of C from the origin of P, in P's axes, m.

    Returns
    -------
    array (..., 6, 6)

    Examples
    --------
    >>> X = motion_transform(np.eye(3), np.array([1.0, 0.0, 0.0]))
    >>> X @ np.array([0, 0, 1.0, 0, 0, 0])          # a spin about z moves a point at x = 1 along y
    array([0., 0., 1., 0., 1., 0.])
    """
    E = transpose(rotation)
    lower = -np.matmul(E, skew(position))
    shape = lower.shape[:-2]
    X = np.zeros((*shape, 6, 6), lower.dtype)
    X[..., :3, :3] = E
    X[..., 3:, 3:] = E
    X[..., 3:, :3] = lower
    return X


def rotation_exponential(phi: Array) -> Array:
    """Rotation matrix exp([φ]×) of a rotation vector, accurate and complex-safe at any angle, zero included.

    Parameters
    ----------
    phi : array (..., 3)
        Axis times angle, rad.

    Returns
    -------
    array (..., 3, 3)

    Examples
    --------
    >>> rotation_exponential(np.array([0.0, 0.0, np.pi / 2])).round(12)[:, 0]
    array([0., 1., 0.])
    """
    x = (phi * phi).sum(axis=-1)
    small = np.abs(x) < 1e-2
    near = np.where(small, x, 0)
    half = 0.5 * np.sqrt(np.where(small, 1, x))
    sinc_half = np.sin(half) / half
    a = np.where(small, _sinc_series(near), sinc_half * np.cos(half))  # sin θ / θ
    b = 0.5 * np.where(small, _sinc_series(near / 4), sinc_half) ** 2  # (1 − cos θ) / θ²
    K = skew(phi)
    return np.eye(3) + a[..., None, None] * K + b[..., None, None] * np.matmul(K, K)


def _sinc_series(x: Array) -> Array:
    """sin(√x)/√x for |x| < 0.01, to rounding."""
    return 1 - x / 6 * (1 - x / 20 * (1 - x / 42 * (1 - x / 72 * (1 - x / 110))))


def rotation_logarithm(rotation: Array) -> Array:
    """Rotation vector of a rotation by less than a quarter turn; complex-safe at the identity.

    Examples
    --------
    >>> rotation_logarithm(rotation_exponential(np.array([0.1, -0.2, 0.3]))).round(12)
    array([ 0.1, -0.2,  0.3])
    """
    R = rotation
    w = 0.5 * np.stack(
        [R[..., 2, 1] - R[..., 1, 2], R[..., 0, 2] - R[..., 2, 0], R[..., 1, 0] - R[..., 0, 1]], axis=-1
    )
    x = (w * w).sum(axis=-1)  # sin² θ
    small = np.abs(x) < 1e-4
    s = np.sqrt(np.where(small, 0.25, x))
    near = np.where(small, x, 0)
    series = 1 + near / 6 * (1 + near * 9 / 20 * (1 + near * 25 / 42 * (1 + near * 49 / 72)))
    return w * np.where(small, series, np.arcsin(s) / s)[..., None]


def rigid_inertia(mass: Array, com: Array, inertia_com: Array) -> Array:
    """Spatial inertia about the origin of the frame (RBDA 2.63).

    Parameters
    ----------
    mass : array (...), kg
    com : array (..., 3), m
        Centre of mass from the origin.
    inertia_com : array (..., 3, 3), kg m²
        Rotational inertia about the centre of mass (tensor entries).

    Returns
    -------
    array (..., 6, 6)

    Examples
    --------
    >>> I = rigid_inertia(np.array(3.0), np.array([1.0, 0, 0]), np.eye(3))
    >>> float(I[2, 2]), float(I[5, 5])
    (4.0, 3.0)
    """
    mc = mass[..., None, None] * skew(com)
    upper = inertia_com - np.matmul(mc, skew(com))
    shape = np.broadcast_shapes(upper.shape, mc.shape)[:-2]
    I = np.zeros((*shape, 6, 6), np.result_type(upper, mc))
    I[..., :3, :3] = upper
    I[..., :3, 3:] = mc
    I[..., 3:, :3] = -mc
    I[..., 3:, 3:] = mass[..., None, None] * np.eye(3)
    return I


def wrench_at_origin(point: Array, torque: Array, force: Array) -> Array:
    """Wrench [torque; force] about the origin of a wrench applied at a point, all in one set of axes.

    Examples
    --------
    >>> wrench_at_origin(np.array([1.0, 0, 0]), np.zeros(3), np.array([0, 2.0, 0]))
    array([0., 0., 2., 0., 2., 0.])
    """
    return join(torque + cross(point, force), force)
