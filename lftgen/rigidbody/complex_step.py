"""Derivatives of any dynamics function by complex step, and the tangent map of joint coordinates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lftgen.rigidbody.model import Model
from lftgen.rigidbody.spatial import Array, transpose
from lftgen.rigidbody.tangent import tangent_map

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
