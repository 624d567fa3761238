"""Derivatives of any dynamics function by complex step, and the tangent map of joint coordinates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lftgen.rigidbody.model import Model
from lftgen.rigidbody.posture import ADDITIVE
from lftgen.rigidbody.spatial import Array, apply, rotation_exponential, skew, transpose

STEP = 1e-30


@dataclass(frozen=True, eq=False)
class DynamicsDerivatives:
    """Jacobians (..., nq, nq) of a dynamics function by position, rate and third argument.

    Attributes
    ----------
    q, qd : array
        By small motions and by rates.
    u : array
        By q̈ (inverse dynamics: H) or by τ (forward dynamics: H⁻¹).
    """

    q: Array
    qd: Array
    u: Array


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


def complex_step_derivatives(
    model: Model, dynamics: Callable[[Array, Array, Array], Array], q: Array, qd: Array, u: Array
) -> DynamicsDerivatives:
    """Derivatives of any dynamics function of this room by complex step, exact to rounding.

    Parameters
    ----------
    model : Model
    dynamics : callable
        (q, qd, u) → (..., rows), for instance ``lambda *x: forward_dynamics_by("mobility", model, *x)``.
    q, qd, u : array (nq,)

    Returns
    -------
    DynamicsDerivatives

    Examples
    --------
    >>> from lftgen.rigidbody import Body, Joint, Model, forward_dynamics
    >>> rod = Body("rod", 3.0, (0, 0, -1), np.eye(3))
    >>> model = Model([rod], [Joint("J", "revolute", "ground", "rod", axis=(1, 0, 0))])
    >>> zero = np.zeros(1)
    >>> complex_step_derivatives(model, lambda *x: forward_dynamics(model, *x), zero, zero, zero).q.round(6)
    array([[-7.3575]])
    """
    n = model.nq
    seeds = np.zeros((3 * n, 3 * n), complex)
    seeds[:n, :n] = transpose(tangent_map(model, np.asarray(q, float)))
    seeds[n:, n:] = np.eye(2 * n)
    z = np.concatenate([q, qd, u]) + 1j * STEP * seeds
    values = dynamics(z[:, :n], z[:, n : 2 * n], z[:, 2 * n :])
    J = transpose(values.imag / STEP)
    return DynamicsDerivatives(J[:, :n], J[:, n : 2 * n], J[:, 2 * n :])
