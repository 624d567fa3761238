"""Postures of closed loops: dependent coordinates by Newton's method, on a path that keeps the branch."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from lftgen.errors import IllPosedError, ModelError
from lftgen.rigidbody.kinematics import coordinates, placements, poses, transforms
from lftgen.rigidbody.loop_forces import loop_jacobian
from lftgen.rigidbody.loops import ClosedModel, loop_residual
from lftgen.rigidbody.spatial import Array, apply
from lftgen.rigidbody.tangent import ADDITIVE, retract


def independent_columns(closed: ClosedModel, independent: tuple[str, ...]) -> Array:
    """Coordinates of the named joints, in the order of the model's joints.

    Raises
    ------
    ModelError
        An unknown joint, or one whose coordinates do not add up.
    """
    tree = closed.tree
    picked = []
    for name in independent:
        link = tree.links[tree.joint_index(name)]
        if link.joint.kind not in ADDITIVE:
            raise ModelError(
                f"independent joint {name!r}: expected one of {', '.join(ADDITIVE)}, got {link.joint.kind!r}."
            )
        picked += list(range(link.dofs.start, link.dofs.stop))
    return np.array(sorted(set(picked)), dtype=int)


def choose_independent(closed: ClosedModel, q: ArrayLike, rank_tolerance: float = 1e-8) -> tuple[str, ...]:
    """Joints whose coordinates determine the motion best at one closed posture.

    The dependent coordinates are the pivots of K, largest first; the joints left over are independent.

    Raises
    ------
    ModelError
        The choice needs a joint whose coordinates do not add up, or only part of a joint.

    Examples
    --------
    >>> from lftgen.rigidbody import Body, Joint, LoopJoint, Model
    >>> bodies = [Body(name, 1.0, (0.5, 0, 0), np.eye(3)) for name in "ab"]
    >>> tree = Model(bodies, [Joint("A", "revolute", "ground", "a"), Joint("B", "revolute", "ground", "b")])
    >>> choose_independent(ClosedModel(tree, [LoopJoint("L", "fixed", "a", "b")]), np.zeros(2))
    ('B',)
    """
    _, K = residual_and_jacobian(closed, coordinates(closed.tree, q, "q"))
    left, pivots = K.copy(), []
    floor = rank_tolerance * np.sqrt((K**2).sum(axis=0)).max(initial=0)
    while (norms := np.sqrt((left**2).sum(axis=0))).max(initial=0) > floor:
        pivots.append(int(norms.argmax()))
        direction = left[:, pivots[-1]] / norms.max()
        left = left - np.outer(direction, direction @ left)
    names = []
    for joint, link in ((k.joint, k) for k in closed.tree.links):
        dependent = set(range(link.dofs.start, link.dofs.stop)) & set(pivots)
        if dependent and len(dependent) < joint.dof:
            raise ModelError(
                f"joint {joint.name!r} is dependent in part; name the independent joints yourself."
            )
        if joint.dof and not dependent:
            names.append(joint.name)
    independent_columns(closed, tuple(names))
    return tuple(joint.name for joint in closed.tree.joints if joint.name in names)


def residual_and_jacobian(closed: ClosedModel, q: Array) -> tuple[Array, Array]:
    """Loop residuals r (..., constraints) and K (..., constraints, nq), dr = K δ for small motions δ."""
    places = placements(closed.tree, q)
    world = poses(closed.tree, places)
    still = [np.zeros(6)] * len(closed.tree.links)
    K, _ = loop_jacobian(closed, transforms(places), world, still)
    parts = [loop_residual(closed, loop, world) for loop in closed.loops]
    shape = np.broadcast_shapes(*(part.shape[:-1] for part in parts))
    return np.concatenate([np.broadcast_to(p, (*shape, p.shape[-1])) for p in parts], axis=-1), K


def rate_map(
    closed: ClosedModel, q: ArrayLike, independent: tuple[str, ...], rank_tolerance: float = 1e-8
) -> Array:
    """G (..., nq, k) with q̇ = G ẏ for the independent rates ẏ, at a closed posture.

    Raises
    ------
    IllPosedError
        The independent coordinates do not determine the motion there (a singular posture, or too few), or
        are not independent (too many).

    Examples
    --------
    >>> from lftgen.rigidbody import Body, Joint, LoopJoint, Model
    >>> bodies = [Body(name, 1.0, (0.5, 0, 0), np.eye(3)) for name in "ab"]
    >>> tree = Model(bodies, [Joint("A", "revolute", "ground", "a"), Joint("B", "revolute", "ground", "b")])
    >>> rate_map(ClosedModel(tree, [LoopJoint("L", "fixed", "a", "b")]), np.zeros(2), ("A",)).round(12)
    array([[1.],
           [1.]])
    """
    columns = independent_columns(closed, tuple(independent))
    angles = coordinates(closed.tree, q, "q")
    _, K = residual_and_jacobian(closed, angles)
    rest = np.setdiff1d(np.arange(closed.tree.nq), columns)
    K_rest, K_free = K[..., rest], K[..., columns]
    if len(rest):
        values = np.linalg.svd(K_rest, compute_uv=False)
        rank = (values > rank_tolerance * values[..., :1]).sum(axis=-1) if values.size else np.zeros(1, int)
        if (rank < len(rest)).any():
            raise IllPosedError(
                f"independent joints {list(independent)}: the loops fix {int(rank.min())} of the other "
                f"{len(rest)} coordinates there. The posture is singular, or more joints must be independent."
            )
    G = np.zeros((*K.shape[:-2], closed.tree.nq, len(columns)))
    dependent = -np.matmul(np.linalg.pinv(K_rest, rcond=rank_tolerance), K_free)
    G[..., rest, :] = dependent
    G[..., columns, :] = np.eye(len(columns))
    miss = np.abs(np.matmul(K, G)).max(initial=0)
    if miss > 1e-7 * max(np.abs(K).max(initial=0), 1e-9):
        raise IllPosedError(
            f"independent joints {list(independent)}: the loops allow fewer motions than these "
            f"{len(columns)} coordinates. Name fewer joints."
        )
    return G


def solve_posture(
    closed: ClosedModel,
    start: ArrayLike,
    independent: Mapping[str, ArrayLike],
    *,
    step: float = 0.1,
    tolerance: float = 1e-12,
    max_steps: int = 20_000,
) -> Array:
    """Close the loops at given independent coordinates, following the branch of a starting posture.

    The independent coordinates move on a straight line from their starting values, at most `step` at a time;
    each time the tangent predicts the dependent ones and Newton's method corrects them. A step that does not
    converge, or that corrects more than it predicts, is halved.

    Parameters
    ----------
    closed : ClosedModel
    start : array (..., nq)
        A posture near the branch that is wanted; it is closed first.
    independent : mapping of joint name to target (...) or (..., DoF)
    step : float, rad or m
    tolerance : float
        Largest residual, rad and m; in mechanisms larger than 1 m, times their size.
    max_steps : int

    Returns
    -------
    array (..., nq)

    Raises
    ------
    ModelError
        The loops cannot be closed at the targets (or at the start); the message gives how far it went and
        which joint stays open.

    Examples
    --------
    >>> from lftgen.rigidbody import Body, Joint, LoopJoint, Model
    >>> bodies = [Body(name, 1.0, (0.5, 0, 0), np.eye(3)) for name in "ab"]
    >>> tree = Model(bodies, [Joint("A", "revolute", "ground", "a"), Joint("B", "revolute", "ground", "b")])
    >>> weld = ClosedModel(tree, [LoopJoint("L", "fixed", "a", "b")])
    >>> solve_posture(weld, [0.0, 0.0], {"A": 0.7}).round(12)
    array([0.7, 0.7])
    """
    columns = independent_columns(closed, tuple(independent))
    rest = np.setdiff1d(np.arange(closed.tree.nq), columns)
    q, goal = _endpoints(closed, start, independent)
    tolerance = tolerance * _size(closed)
    q, residual, _ = _newton(closed, q, rest, tolerance)
    if not residual.max(initial=0) <= tolerance:
        raise _cannot_close(closed, q, 0.0)
    path = goal - q[..., columns]
    longest = step / max(np.abs(path).max(initial=0), 1e-300)
    done, stride = 0.0, longest
    for _ in range(max_steps):
        if done >= 1:
            return q
        part = min(stride, 1 - done)
        move = _predict(closed, q, columns, rest, part * path)
        trial, residual, corrected = _newton(closed, retract(closed.tree, q, move), rest, tolerance)
        small = corrected <= max(0.5 * np.abs(move).max(initial=0), 1e-9)
        if residual.max(initial=0) <= tolerance and small:
            q, done, stride = trial, done + part, min(2 * stride, longest)
        elif part < 1e-9:
            break
        else:
            stride = part / 2
    raise _cannot_close(closed, q, done)


def _endpoints(
    closed: ClosedModel, start: ArrayLike, independent: Mapping[str, ArrayLike]
) -> tuple[Array, Array]:
    """Start (*batch, nq) and targets (*batch, k) with common batch axes."""
    tree, goals = closed.tree, []
    for joint in tree.joints:
        if joint.name in independent:
            value = np.asarray(independent[joint.name], float)
            goals.append(value[..., None] if joint.dof == 1 else value)
    q = np.array(coordinates(tree, start, "start"), float)
    batch = np.broadcast_shapes(q.shape[:-1], tree.batch_shape, *(g.shape[:-1] for g in goals))
    wide = [np.broadcast_to(g, (*batch, g.shape[-1])) for g in goals]
    return np.array(np.broadcast_to(q, (*batch, tree.nq))), np.concatenate(
        [*wide, np.zeros((*batch, 0))], axis=-1
    )


def _size(closed: ClosedModel) -> float:
    """Largest distance in the model's numbers, at least 1 m."""
    points = [joint.position for joint in closed.tree.joints]
    points += [p for loop in closed.loops for p in (loop.position_predecessor, loop.position_successor)]
    return max(1.0, *(float(np.abs(p).max()) for p in points))


def _predict(closed: ClosedModel, q: Array, columns: Array, rest: Array, ahead: Array) -> Array:
    """Small motions along the tangent for a step of the independent coordinates."""
    move = np.zeros_like(q)
    move[..., columns] = ahead
    _, K = residual_and_jacobian(closed, q)
    move[..., rest] = -apply(np.linalg.pinv(K[..., rest], rcond=1e-9), apply(K[..., columns], ahead))
    return move


def _newton(closed: ClosedModel, q: Array, rest: Array, tolerance: float) -> tuple[Array, Array, float]:
    """Close the loops by the dependent coordinates: posture, residuals, sum of the largest corrections."""
    total = 0.0
    r, K = residual_and_jacobian(closed, q)
    for _ in range(30):
        if np.abs(r).max(initial=0) <= tolerance:
            break
        delta = np.zeros_like(q)
        delta[..., rest] = -apply(np.linalg.pinv(K[..., rest], rcond=1e-9), r)
        largest = np.abs(delta).max(initial=0)
        total += float(largest)
        if not np.isfinite(largest) or largest > 10:
            break
        q = retract(closed.tree, q, delta)
        r, K = residual_and_jacobian(closed, q)
    return q, np.abs(r), total


def _cannot_close(closed: ClosedModel, q: Array, done: float) -> ModelError:
    r = np.abs(residual_and_jacobian(closed, q)[0]).reshape(-1, sum(closed.sizes)).max(axis=0)
    worst = int(r.argmax())
    edges = np.cumsum(closed.sizes)
    name = closed.loops[int(np.searchsorted(edges, worst, side="right"))].name
    where = "at the start" if done == 0 else f"after {100 * done:.1f} % of the way"
    return ModelError(
        f"posture: the loops cannot be closed {where}; loop joint {name!r} stays open by {r[worst]:.3g} "
        "(rad, m) or folds onto a singular posture. Check lengths, the target, and the starting branch."
    )
