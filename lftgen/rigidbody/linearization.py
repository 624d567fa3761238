"""Linear model about an equilibrium by complex step on the non-linear dynamics and output maps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lftgen.errors import ModelError
from lftgen.rigidbody.channels import Input, Output
from lftgen.rigidbody.model import Model
from lftgen.rigidbody.response import OperatingPoint, check_channels, operating_point, response
from lftgen.rigidbody.spatial import Array

STEP = 1e-30
"""Complex step: its square vanishes against 1, so the derivative is exact to rounding."""


@dataclass(frozen=True, eq=False)
class StateSpaceArrays:
    """Matrices of ẋ = A x + B u, y = C x + D u, with leading batch axes.

    Attributes
    ----------
    A, B, C, D : array (..., rows, columns)
    """

    A: Array
    B: Array
    C: Array
    D: Array


def linearize(
    model: Model,
    q: ArrayLike,
    inputs: Sequence[Input] = (),
    outputs: Sequence[Output] = (),
    *,
    tolerance: float = 1e-8,
    block: int = 20_000,
) -> StateSpaceArrays:
    """Linearise a model about the equilibrium at q.

    States are the positions of all joints, in the model's order, then all rates. Positions are small motions
    on the child's side of the equilibrium (a free joint: [δφ; δp] in body axes), rates are twists in the
    child's axes, so the kinematic rows are exactly [0 1]. Actuators hold their equilibrium torque, springs
    act on deviations, dead loads keep their reference components, follower loads turn with their ports.

    Parameters
    ----------
    model : Model
        Real; may carry batch axes.
    q : array (..., nq)
        Equilibrium; batch axes broadcast with the model's.
    inputs, outputs : sequences of channels
        `JointForce`, `PortForce`, `BaseAcceleration`; `JointPosition`, `JointRate`, `JointAcceleration`,
        `PortOutput`, `JointWrench`. Outputs are changes from their equilibrium values.
    tolerance : float, default 1e-8
        For joints that are not actuated, see `equilibrium`.
    block : int, default 20000
        Points times columns that are worked on at once; bounds the memory, changes no result.

    Returns
    -------
    StateSpaceArrays

    Raises
    ------
    ModelError
        Unknown names, wrong shapes, or complex data (complex steps do not nest).
    TrimError
        The configuration is not an equilibrium.

    Examples
    --------
    >>> from lftgen.rigidbody import Body, Joint, JointForce, Model
    >>> rod = Body("rod", 3.0, (0, 0, -1), np.eye(3))
    >>> model = Model([rod], [Joint("J", "revolute", "ground", "rod", axis=(1, 0, 0))])
    >>> linearize(model, [0.0], [JointForce("J")]).A.round(6)
    array([[ 0.    ,  1.    ],
           [-7.3575,  0.    ]])
    """
    check_channels(model, inputs, outputs)
    point = operating_point(model, q, tolerance)
    if any(
        np.iscomplexobj(a) for a in (point.q, point.torque, point.world[-1][0] if point.world else point.q)
    ):
        raise ModelError("linearize: expected real data, got complex ones; complex steps do not nest.")
    n, m = model.nq, len(inputs)
    batch = np.broadcast_shapes(model.batch_shape, point.q.shape[:-1])
    total = 2 * n + m
    step = max(1, block // max(1, int(np.prod(batch))))
    rows = [
        _columns(point, inputs, outputs, np.arange(k, min(k + step, total)), len(batch))
        for k in range(0, total, step)
    ]
    blocks = [np.broadcast_to(r, (r.shape[0], *batch, r.shape[-1])) for r in rows]
    jacobian = (
        np.moveaxis(np.concatenate(blocks), 0, -1) if blocks else np.zeros((*batch, n + len(outputs), total))
    )
    A, B = np.zeros((*batch, 2 * n, 2 * n)), np.zeros((*batch, 2 * n, m))
    A[..., :n, n:] = np.eye(n)
    A[..., n:, :], B[..., n:, :] = jacobian[..., :n, : 2 * n], jacobian[..., :n, 2 * n :]
    return StateSpaceArrays(A, B, jacobian[..., n:, : 2 * n].copy(), jacobian[..., n:, 2 * n :].copy())


def _columns(
    point: OperatingPoint, inputs: Sequence[Input], outputs: Sequence[Output], numbers: Array, batch_ndim: int
) -> Array:
    """Derivatives of [q̈; y] by the numbered entries of [small; rates; u], shape (columns, ..., nq + ny)."""
    n, total = point.model.nq, 2 * point.model.nq + len(inputs)
    seed = np.zeros((len(numbers), total), complex)
    seed[np.arange(len(numbers)), numbers] = 1j * STEP
    z = seed.reshape(len(numbers), *(1,) * batch_ndim, total)  # columns lead, so that points broadcast
    qdd, y = response(point, inputs, outputs, z[..., :n], z[..., n : 2 * n], z[..., 2 * n :])
    derivative: Array = np.concatenate([qdd, y], axis=-1).imag / STEP
    return derivative
