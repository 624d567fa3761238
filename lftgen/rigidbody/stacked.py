"""A tree as arrays over its bodies; velocities of all bodies by pointer jumping, O(log depth) steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lftgen.rigidbody.inverse import Prescribed, velocity_force
from lftgen.rigidbody.joints import displacement
from lftgen.rigidbody.kinematics import Placement
from lftgen.rigidbody.model import Model
from lftgen.rigidbody.spatial import Array, apply, cross_motion, motion_transform, transpose


@dataclass(frozen=True, eq=False)
class StackedModel:
    """Constants of a tree with the bodies on the first axis, (N, *batch, ...).

    Attributes
    ----------
    parent : array (N,)
        Position of each body's parent, −1 for the ground.
    columns : array (N, 6)
        Coordinates of each joint; nq (a column of zeros) beyond its degrees of freedom.
    rotation, position, subspace, inertia, momentum : array (N, *batch, ...)
        Joint placement, motion subspace padded with zeros to six columns, inertia and rotor of the body.
    """

    model: Model
    parent: Array
    columns: Array
    rotation: Array
    position: Array
    subspace: Array
    inertia: Array
    momentum: Array

    @property
    def batch_ndim(self) -> int:
        """Number of batch axes of the model."""
        return len(self.model.batch_shape)


def stack_model(model: Model) -> StackedModel:
    """Stack the constants of a model.

    Examples
    --------
    >>> from lftgen.rigidbody import Body, Joint
    >>> arm = Body("arm", 1.0, (1, 0, 0), np.eye(3))
    >>> stack_model(Model([arm], [Joint("J", "revolute", "ground", "arm")])).subspace.shape
    (1, 6, 6)
    """
    links = model.links
    columns = np.full((len(links), 6), model.nq)
    padded = []
    for i, link in enumerate(links):
        S = link.subspace
        columns[i, : S.shape[-1]] = np.arange(link.dofs.start, link.dofs.stop)
        padded.append(np.concatenate([S, np.zeros((*S.shape[:-1], 6 - S.shape[-1]))], axis=-1))
    return StackedModel(
        model=model,
        parent=np.array([link.parent for link in links]),
        columns=columns,
        rotation=stack([link.joint.rotation for link in links], model.batch_shape, 2),
        position=stack([link.joint.position for link in links], model.batch_shape, 1),
        subspace=stack(padded, model.batch_shape, 2),
        inertia=stack([link.inertia for link in links], model.batch_shape, 2),
        momentum=stack([link.body.momentum for link in links], model.batch_shape, 1),
    )


def stack(arrays: Sequence[Array], batch: tuple[int, ...], tail: int) -> Array:
    """Stack arrays (..., tail axes) on a new first axis, batch axes broadcast."""
    return np.stack([np.broadcast_to(a, (*batch, *a.shape[a.ndim - tail :])) for a in arrays])


def widen(array: Array, batch_ndim: int, tail: int) -> Array:
    """Insert batch axes after the first, so that (N, *batch, tail) meets wider batches."""
    missing = batch_ndim - (array.ndim - 1 - tail)
    return array.reshape(array.shape[0], *(1,) * missing, *array.shape[1:]) if missing > 0 else array


def spread(stacked: StackedModel, values: Array) -> Array:
    """Joint vector (*batch, nq) as (N, *batch, 6), zero beyond each joint's degrees of freedom."""
    extended = np.concatenate([values, np.zeros((*values.shape[:-1], 1))], axis=-1)
    return np.moveaxis(extended[..., stacked.columns], -2, 0)


@dataclass(frozen=True, eq=False)
class StackedMotion:
    """First pass over all bodies at once: (N, *batch, ...) in body axes.

    Attributes
    ----------
    X : array (N, *batch, 6, 6)
        Motion transform parent → child.
    X_ground : array (N, *batch, 6, 6)
        Motion transform ground → body.
    v, c, p : array (N, *batch, 6)
        Velocity, velocity-product acceleration, bias force v ×* (I v + h).
    steps : int
        Sequential steps of the scan, ⌈log2 depth⌉.
    """

    X: Array
    X_ground: Array
    v: Array
    c: Array
    p: Array
    steps: int


def move(
    stacked: StackedModel, q: Array, rates: Array, prescribed: Prescribed | None = None
) -> StackedMotion:
    """Transforms and velocities of all bodies (7.32)-(7.36).

    Parameters
    ----------
    q, rates : array (*batch, nq)
    prescribed : mapping of joint name to (σ, σ°), optional
        Explicit time dependence v_J = S q̇ + σ.
    """
    ndim = max(stacked.batch_ndim, q.ndim - 1, rates.ndim - 1)
    S = widen(stacked.subspace, ndim, 2)
    turn, shift = displacement(S, spread_wide(stacked, q, ndim))
    R0, p0 = widen(stacked.rotation, ndim, 2), widen(stacked.position, ndim, 1)
    X = motion_transform(np.matmul(R0, turn), p0 + apply(R0, shift))
    vJ = apply(S, spread_wide(stacked, rates, ndim))  # (7.32)
    shape = np.broadcast_shapes(X.shape[1:-2], vJ.shape[1:-1])
    X, vJ = np.broadcast_to(X, (len(X), *shape, 6, 6)), np.broadcast_to(vJ, (len(X), *shape, 6))
    cJ = np.zeros(6)
    if prescribed:
        sigma, cJ = (_by_body(stacked, prescribed, k, shape) for k in (0, 1))
        vJ = vJ + sigma  # (7.33)
    X_ground, v, steps = scan(stacked.parent, X, vJ)  # (7.34)
    c = cJ + cross_motion(v, vJ)  # (7.35)
    p = velocity_force(widen(stacked.inertia, ndim, 2), widen(stacked.momentum, ndim, 1), v)  # (7.36)
    return StackedMotion(X, X_ground, v, c, p, steps)


def _by_body(stacked: StackedModel, prescribed: Prescribed, k: int, shape: tuple[int, ...]) -> Array:
    """σ (k = 0) or σ° (k = 1) of every joint."""
    still = np.zeros(6)
    values = [np.asarray(prescribed.get(link.joint.name, (still, still))[k]) for link in stacked.model.links]
    return stack(values, shape, 1)


def spread_wide(stacked: StackedModel, values: Array, ndim: int) -> Array:
    """`spread` with batch axes inserted up to ndim."""
    return widen(spread(stacked, values), ndim, 1)


def scan(parent: Array, X: Array, w: Array) -> tuple[Array, Array, int]:
    """Compose the affine maps v_i = X_i v_parent + w_i down a tree by pointer jumping.

    Parameters
    ----------
    parent : array (N,)
    X : array (N, ..., 6, 6)
    w : array (N, ..., 6)

    Returns
    -------
    X_ground, v : arrays like X and w
        Product of the X along the path from the ground, and v with v_ground = 0.
    steps : int
    """
    up, steps = parent.copy(), 0
    X, v = X.copy(), w.astype(np.result_type(X, w))
    while True:
        moving = np.flatnonzero(up >= 0)
        if not len(moving):
            return X, v, steps
        above = up[moving]
        v[moving] = apply(X[moving], v[above]) + v[moving]
        X[moving] = np.matmul(X[moving], X[above])
        up[moving] = up[above]
        steps += 1


def world_placements(X_ground: Array) -> list[Placement]:
    """Rotation and position of each body in the reference frame, from its motion transform."""
    R = transpose(X_ground[..., :3, :3])
    cross = -np.matmul(R, X_ground[..., 3:, :3])  # [p]×
    p = np.stack([cross[..., 2, 1], cross[..., 0, 2], cross[..., 1, 0]], axis=-1)
    return list(zip(R, p, strict=True))
