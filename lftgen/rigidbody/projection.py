"""Projection method: articulated-body equations from the joint-space equations of motion (RBDA 7.2.1)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from lftgen.errors import ModelError
from lftgen.rigidbody.composite import bias_force, mass_matrix
from lftgen.rigidbody.handles import ArticulatedMobility
from lftgen.rigidbody.kinematics import (
    accelerations,
    base_motion,
    body_jacobian,
    coordinates,
    placements,
    transforms,
    velocities,
)
from lftgen.rigidbody.loads import Wrenches
from lftgen.rigidbody.model import Model
from lftgen.rigidbody.spatial import Array, apply, transpose


def project(
    model: Model,
    bodies: Sequence[str],
    q: ArrayLike,
    qd: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    *,
    wrenches: Wrenches | None = None,
    base_acceleration: ArrayLike | None = None,
) -> ArticulatedMobility:
    """Equations a = Φ^A f + b^A of the named handles of a tree (7.8)-(7.10).

    Accelerations are spatial, in body axes, and include the base's a_0 = −gravity, as in the
    articulated-body algorithm.

    Parameters
    ----------
    model : Model
    bodies : sequence of str
        Handles, in the order of the blocks of the result.
    q, qd, tau : array (..., nq)
        Rates and actuator forces are zero where left out.
    wrenches, base_acceleration
        As in `forward_dynamics`; they count in the bias.

    Returns
    -------
    ArticulatedMobility
        With 6 h rows for h handles. `ArticulatedMobility.inertia` gives I^A and p^A where they exist.

    Raises
    ------
    ModelError
        No handle, or an unknown body.

    Examples
    --------
    >>> from lftgen.rigidbody import Body, Joint, Model
    >>> arm = Body("arm", 2.0, (1, 0, 0), np.eye(3))
    >>> model = Model([arm], [Joint("J", "revolute", "ground", "arm", axis=(0, 0, 1))])
    >>> project(model, ["arm"], [0.3]).mobility[2, 2].round(6)     # 1 / (1 + 2 · 1²)
    np.float64(0.333333)
    """
    if not bodies:
        raise ModelError("project: expected at least one handle; name a body.")
    angles, rates = coordinates(model, q, "q"), coordinates(model, qd, "qd")
    X = transforms(placements(model, angles))
    numbers = [model.index(name) for name in bodies]
    J = stack_rows([body_jacobian(model, X, i) for i in numbers])
    _, c = velocities(model, X, rates)
    a = accelerations(model, X, c, np.zeros(model.nq), base_motion(model, base_acceleration))
    drift = stack_rows([a[i][..., None] for i in numbers])[..., 0]  # J̇ q̇, and a_0
    H = mass_matrix(model, angles)
    C = bias_force(model, angles, rates, wrenches=wrenches, base_acceleration=base_acceleration)
    gain = np.linalg.solve(H, transpose(J))  # H⁻¹ Jᵀ
    drive = coordinates(model, tau, "tau") - C
    phi = np.matmul(J, gain)  # (7.9)
    return ArticulatedMobility(phi, drift + apply(transpose(gain), drive))  # (7.10)


def stack_rows(blocks: Sequence[Array]) -> Array:
    """Stack matrices (..., r, c) by rows; leading axes broadcast."""
    shape = np.broadcast_shapes(*(block.shape[:-2] for block in blocks))
    return np.concatenate([np.broadcast_to(b, (*shape, *b.shape[-2:])) for b in blocks], axis=-2)
