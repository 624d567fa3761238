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
from lftgen.rigidbody.spatial import Array, apply

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
    n = model.nq
    jacobian = differentiate(point, inputs, outputs, np.eye(n), block)
    return state_space(jacobian[..., :n, :], jacobian[..., n:, :])


def state_space(acceleration: Array, output: Array) -> StateSpaceArrays:
    """Matrices from the derivatives of accelerations (..., k, 2 k + m) and outputs (..., ny, 2 k + m).

    Examples
    --------
    >>> state_space(np.array([[-4.0, -0.1, 1.0]]), np.zeros((0, 3))).A
    array([[ 0. ,  1. ],
           [-4. , -0.1]])
    """
    batch, k = acceleration.shape[:-2], acceleration.shape[-2]
    kinematic = np.zeros((*batch, k, acceleration.shape[-1]))
    kinematic[..., k : 2 * k] = np.eye(k)
    rows = np.concatenate([kinematic, acceleration], axis=-2)
    parts = (rows[..., : 2 * k], rows[..., 2 * k :], output[..., : 2 * k], output[..., 2 * k :])
    return StateSpaceArrays(*(part.copy() for part in parts))


def differentiate(
    point: OperatingPoint, inputs: Sequence[Input], outputs: Sequence[Output], lift: Array, block: int
) -> Array:
    """Derivatives of [q̈; y] by [independent positions; their rates; u], (..., nq + ny, 2 k + m).

    Parameters
    ----------
    lift : array (..., nq, k)
        Small motions and rates of all joints per independent one; the identity for a tree.
    block : int
        Points times columns worked on at once.
    """
    if any(np.iscomplexobj(a) for a in (point.q, point.torque, *(R for R, _ in point.world[-1:]))):
        raise ModelError("linearize: expected real data, got complex ones; complex steps do not nest.")
    batch = np.broadcast_shapes(point.model.batch_shape, point.q.shape[:-1])
    k = lift.shape[-1]
    step = max(1, block // max(1, int(np.prod(batch))))
    # positions apart from the rest: the rest leave the posture, and all matrices, alone
    parts = [(0, k), (k, 2 * k + len(inputs))]
    starts = [(i, min(i + step, stop)) for start, stop in parts for i in range(start, stop, step)]
    blocks = []
    for start, stop in starts:
        numbers = np.arange(start, stop)
        columns = _columns(point, inputs, outputs, lift, numbers, len(batch))
        blocks.append(np.broadcast_to(columns, (len(numbers), *batch, columns.shape[-1])))
    if not blocks:
        return np.zeros((*batch, point.model.nq + len(outputs), 0))
    return np.moveaxis(np.concatenate(blocks), 0, -1)


def _columns(
    point: OperatingPoint,
    inputs: Sequence[Input],
    outputs: Sequence[Output],
    lift: Array,
    numbers: Array,
    batch_ndim: int,
) -> Array:
    """Numbered columns of `differentiate`, on the first axis."""
    k = lift.shape[-1]
    seed = np.zeros((len(numbers), 2 * k + len(inputs)), complex)
    seed[np.arange(len(numbers)), numbers] = 1j * STEP
    z = seed.reshape(len(numbers), *(1,) * batch_ndim, seed.shape[-1])  # columns lead, so points broadcast
    rates = apply(lift, z[..., k : 2 * k])
    moved = (numbers < k).any()
    small = apply(lift, z[..., :k]) if moved else np.zeros((1,) * batch_ndim + (point.model.nq,))
    qdd, y = response(point, inputs, outputs, small, rates, z[..., 2 * k :])
    derivative: Array = np.concatenate([qdd, y], axis=-1).imag / STEP
    return derivative
