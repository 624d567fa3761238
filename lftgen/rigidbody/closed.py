"""Mechanisms with closed loops: forward dynamics, equilibrium and linear model in independent coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lftgen.errors import ModelError, TrimError
from lftgen.rigidbody.channels import Input, Output
from lftgen.rigidbody.forward import articulated_body, total_joint_forces
from lftgen.rigidbody.group_assembly import Undetermined
from lftgen.rigidbody.handles import RANK_TOLERANCE
from lftgen.rigidbody.inverse import Prescribed, inverse_dynamics
from lftgen.rigidbody.kinematics import base_motion, coordinates, placements, poses, transforms, velocities
from lftgen.rigidbody.linearization import StateSpaceArrays, differentiate, state_space
from lftgen.rigidbody.loads import Wrenches, external_wrenches
from lftgen.rigidbody.loop_forces import add_wrenches, loop_forces
from lftgen.rigidbody.loops import ClosedModel
from lftgen.rigidbody.posture import independent_columns, rate_map, residual_and_jacobian
from lftgen.rigidbody.response import OperatingPoint, check_channels
from lftgen.rigidbody.spatial import Array, apply, transpose


@dataclass(frozen=True, eq=False)
class ClosedResult:
    """Forward dynamics of a mechanism with loops.

    Attributes
    ----------
    qdd : array (..., nq)
        Accelerations of the tree's joints.
    wrench : dict of array (..., 6)
        By loop joint: [torque; force] on the successor, in the joint's frame.
    undetermined : tuple of Undetermined
        Constraint forces that redundant constraints leave open; `wrench` holds the smallest choice.
    """

    qdd: Array
    wrench: dict[str, Array]
    undetermined: tuple[Undetermined, ...]


def closed_forward_dynamics(
    closed: ClosedModel,
    q: ArrayLike,
    qd: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    *,
    wrenches: Wrenches | None = None,
    base_acceleration: ArrayLike | None = None,
    prescribed: Prescribed | None = None,
    stabilization: tuple[float, float] = (0.0, 0.0),
    tolerance: float = RANK_TOLERANCE,
) -> ClosedResult:
    """Accelerations and loop forces, by the articulated-body algorithm and K H⁻¹ Kᵀ (RBDA 8.2).

    Parameters
    ----------
    closed : ClosedModel
    q, qd, tau : array (..., nq)
        Of all the tree's joints; q and qd must satisfy the loops (`solve_posture`, `rate_map`).
    wrenches, base_acceleration, prescribed
        As in `forward_dynamics`.
    stabilization : (alpha, beta), 1/s
        Pulls a drifted loop back.
    tolerance : float
        Rank decision on K H⁻¹ Kᵀ, balanced.

    Returns
    -------
    ClosedResult

    Raises
    ------
    IllPosedError
        Redundant constraints that contradict each other.

    Examples
    --------
    >>> from lftgen.rigidbody import Body, Joint, LoopJoint, Model
    >>> bodies = [Body(name, 1.0, (0.5, 0, 0), np.eye(3)) for name in "ab"]
    >>> tree = Model(bodies, [Joint("A", "revolute", "ground", "a"), Joint("B", "revolute", "ground", "b")])
    >>> weld = ClosedModel(tree, [LoopJoint("L", "fixed", "a", "b")])
    >>> result = closed_forward_dynamics(weld, [0, 0], None, [2.5, 0.0])
    >>> result.qdd.round(9), result.undetermined[0].components
    (array([1., 1.]), ('L_tx', 'L_ty', 'L_fx', 'L_fy', 'L_fz'))
    """
    model = closed.tree
    angles, rates = coordinates(model, q, "q"), coordinates(model, qd, "qd")
    places = placements(model, angles)
    X, world = transforms(places), poses(model, places)
    external = external_wrenches(model, world, wrenches)
    force = total_joint_forces(model, angles, rates, coordinates(model, tau, "tau"), None)
    base = base_motion(model, base_acceleration)
    free = articulated_body(model, X, rates, force, external, base, prescribed)
    if not closed.loops:
        return ClosedResult(free.qdd, {}, ())
    v, _ = velocities(model, X, rates, prescribed)
    loops = loop_forces(closed, X, world, v, free, base, stabilization=stabilization, tolerance=tolerance)
    both = add_wrenches(external, loops.on_bodies)
    qdd = articulated_body(model, X, rates, force, both, base, prescribed).qdd
    return ClosedResult(qdd, loops.wrench, loops.undetermined)


def closed_equilibrium(
    closed: ClosedModel, q: ArrayLike, actuated: Sequence[str], *, tolerance: float = 1e-8
) -> Array:
    """Torques (..., nq) of the actuated joints that hold a closed posture; zero at the others.

    Parameters
    ----------
    closed : ClosedModel
    q : array (..., nq)
    actuated : sequence of str
        Joints that are driven. With more of them than needed, the least torques (and loop forces).
    tolerance : float
        Largest force that may stay unbalanced, relative to the largest that must be held.

    Raises
    ------
    TrimError
        The actuated joints cannot hold the posture.
    ModelError
        The loops are not closed at q.

    Examples
    --------
    >>> from lftgen.rigidbody import Body, Joint, LoopJoint, Model
    >>> bodies = [Body(name, 1.0, (0.5, 0, 0), np.eye(3)) for name in "ab"]
    >>> hinge = {"axis": (0, 1, 0)}
    >>> tree = Model(bodies, [Joint(x.upper(), "revolute", "ground", x, **hinge) for x in "ab"])
    >>> weld = ClosedModel(tree, [LoopJoint("L", "fixed", "a", "b")])
    >>> closed_equilibrium(weld, [0, 0], ["A"]).round(9)       # carries both bars
    array([-9.81,  0.  ])
    """
    angles = coordinates(closed.tree, q, "q")
    r, K = residual_and_jacobian(closed, angles)
    if np.abs(r).max(initial=0) > 1e-8:
        raise ModelError(
            f"closed_equilibrium: the loops are open by {np.abs(r).max():.3g} at q; use solve_posture."
        )
    hold = inverse_dynamics(closed.tree, angles)
    driven = np.zeros(closed.tree.nq)
    for name in actuated:
        driven[closed.tree.links[closed.tree.joint_index(name)].dofs] = 1
    columns = np.flatnonzero(driven)
    selection = np.broadcast_to(
        np.eye(closed.tree.nq)[:, columns], (*K.shape[:-2], closed.tree.nq, len(columns))
    )
    both = np.concatenate([selection, transpose(K)], axis=-1)
    solution = apply(np.linalg.pinv(both, rcond=1e-10), hold)
    miss = np.abs(hold - apply(both, solution)).max(axis=-1, initial=0)
    if (miss > tolerance * np.maximum(np.abs(hold).max(axis=-1, initial=0), 1e-12)).any():
        raise TrimError(
            f"closed_equilibrium: joints {list(actuated)} leave {miss.max():.3g} (N m, N) unbalanced. "
            "Drive more joints, or choose another posture."
        )
    torque = np.zeros((*solution.shape[:-1], closed.tree.nq))
    torque[..., columns] = solution[..., : len(columns)]
    return torque


def closed_linearize(
    closed: ClosedModel,
    q: ArrayLike,
    independent: Sequence[str],
    inputs: Sequence[Input] = (),
    outputs: Sequence[Output] = (),
    *,
    actuated: Sequence[str] | None = None,
    tolerance: float = 1e-8,
    block: int = 20_000,
) -> StateSpaceArrays:
    """Linearise a mechanism with loops about an equilibrium, in independent coordinates.

    States: deviations of the independent joints (in the model's order), then their rates. The dependent
    joints follow by q̇ = G ẏ; the change of the loop forces with the posture is part of the non-linear
    dynamics that the complex step differentiates.

    Parameters
    ----------
    closed : ClosedModel
    q : array (..., nq)
        Closed posture.
    independent : sequence of str
        As many coordinates as the mechanism has degrees of freedom.
    inputs, outputs
        As in `linearize`; joint channels may name any joint of the tree.
    actuated : sequence of str, optional
        Joints that hold the equilibrium; by default the independent ones.
    tolerance, block
        As in `closed_equilibrium` and `linearize`.

    Returns
    -------
    StateSpaceArrays

    Raises
    ------
    TrimError
        The actuated joints cannot hold the posture.
    IllPosedError
        The independent coordinates do not determine the motion.

    Examples
    --------
    >>> from lftgen.rigidbody import Body, Joint, JointForce, LoopJoint, Model
    >>> bodies = [Body(name, 1.0, (0.5, 0, 0), np.eye(3)) for name in "ab"]
    >>> hinge = {"axis": (0, 1, 0)}
    >>> tree = Model(bodies, [Joint(x.upper(), "revolute", "ground", x, **hinge) for x in "ab"])
    >>> weld = ClosedModel(tree, [LoopJoint("L", "fixed", "a", "b")])
    >>> closed_linearize(weld, [0, 0], ["A"], [JointForce("A")]).B.round(9)
    array([[0. ],
           [0.4]])
    """
    model = closed.tree
    check_channels(model, inputs, outputs)
    angles = coordinates(model, q, "q")
    held = closed_equilibrium(
        closed, angles, independent if actuated is None else actuated, tolerance=tolerance
    )
    lift = rate_map(closed, angles, tuple(independent))
    places = placements(model, angles)
    point = OperatingPoint(model, angles, held, places, poses(model, places), closed)
    jacobian = differentiate(point, inputs, outputs, lift, block)
    columns = independent_columns(closed, tuple(independent))
    return state_space(jacobian[..., columns, :], jacobian[..., model.nq :, :])
