"""Derivatives of inverse and forward dynamics of trees: the analytical recursion.

Derivatives by position are by small motions on the child's side of each joint (X(δ) X(q)), as the states of
`linearize`; for joints with one axis that is the derivative by the coordinate.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from lftgen.rigidbody.complex_step import DynamicsDerivatives
from lftgen.rigidbody.composite import composite_body
from lftgen.rigidbody.forward import forward_dynamics
from lftgen.rigidbody.inverse import newton_euler
from lftgen.rigidbody.kinematics import (
    accelerations,
    base_motion,
    coordinates,
    placements,
    poses,
    transforms,
    velocities,
)
from lftgen.rigidbody.loads import Wrenches, external_wrenches
from lftgen.rigidbody.model import Model
from lftgen.rigidbody.spatial import (
    Array,
    apply,
    cross,
    cross_force,
    cross_motion,
    join,
    transpose,
)
from lftgen.rigidbody.tangent import tangent_map


def inverse_dynamics_derivatives(
    model: Model,
    q: ArrayLike,
    qd: ArrayLike | None = None,
    qdd: ArrayLike | None = None,
    *,
    wrenches: Wrenches | None = None,
    base_acceleration: ArrayLike | None = None,
    reference: ArrayLike | None = None,
) -> DynamicsDerivatives:
    """Derivatives of `inverse_dynamics` by the differentiated Newton-Euler recursion.

    Columns of all coordinates go down and up the tree together. A motion vector m of the parent, seen from
    the child, changes by (X m) × S δq; a force f of the child, seen from the parent, by Xᵀ (S δq ×* f).

    Parameters
    ----------
    model, q, qd, qdd, wrenches, base_acceleration, reference
        As in `inverse_dynamics`; wrenches turn with their bodies.

    Returns
    -------
    DynamicsDerivatives

    Examples
    --------
    >>> from lftgen.rigidbody import Body, Joint, Model
    >>> rod = Body("rod", 3.0, (0, 0, -1), np.eye(3))
    >>> model = Model([rod], [Joint("J", "revolute", "ground", "rod", axis=(1, 0, 0))])
    >>> inverse_dynamics_derivatives(model, [0.0]).q.round(6)        # m g l
    array([[29.43]])
    """
    angles, rates = coordinates(model, q, "q"), coordinates(model, qd, "qd")
    acc = coordinates(model, qdd, "qdd")
    places = placements(model, angles)
    X, world = transforms(places), poses(model, places)
    base = base_motion(model, base_acceleration)
    v, c = velocities(model, X, rates)
    a = accelerations(model, X, c, acc, base)
    f = newton_euler(model, X, v, a, external_wrenches(model, world, wrenches))
    sweep = _Sweep(model, X, v, a, base, rates)
    dx, dv, da = sweep.down()
    df = [sweep.body_force(i, dv[i], da[i]) for i in range(len(model.links))]
    for i, change in _turning_loads(model, world, dx):
        df[i] = df[i] - _pad(change, sweep.width)
    rows = _up(model, X, f, df)
    _add_passive(model, rows, angles, reference is not None)
    n = model.nq
    return DynamicsDerivatives(rows[..., :n], rows[..., n:], composite_body(model, X))


def _up(model: Model, X: list[Array], f: list[Array], df: list[Array]) -> Array:
    """Sᵀ δf of every joint (..., nq, columns), forces carried to the parents."""
    n = model.nq
    shape = np.broadcast_shapes(*(x.shape[:-2] for x in df)) if df else ()
    rows = np.zeros((*shape, n, 2 * n), np.result_type(float, *df))
    for i in range(len(model.links) - 1, -1, -1):
        link, S = model.links[i], model.links[i].subspace
        rows[..., link.dofs, :] = np.matmul(transpose(S), df[i])
        if link.parent >= 0:
            lifted = df[i].copy()
            for k in range(link.joint.dof):
                column = link.dofs.start + k
                lifted[..., column] = lifted[..., column] + cross_force(S[..., k], f[i])
            df[link.parent] = df[link.parent] + np.matmul(transpose(X[i]), lifted)
    return rows


class _Sweep:
    """Derivatives of motion and body forces by [small motions, rates], 2 nq columns."""

    def __init__(
        self, model: Model, X: list[Array], v: list[Array], a: list[Array], base: Array, rates: Array
    ) -> None:
        self.model, self.X, self.v, self.a, self.base, self.rates = model, X, v, a, base, rates
        self.width = 2 * model.nq

    def down(self) -> tuple[list[Array], list[Array], list[Array]]:
        """δx (by position only), δv and δa of every body, (..., 6, columns)."""
        n = self.model.nq
        dx: list[Array] = []
        dv: list[Array] = []
        da: list[Array] = []
        for i, link in enumerate(self.model.links):
            S, k, X = link.subspace, link.parent, self.X[i]
            vJ = apply(S, self.rates[..., link.dofs])
            above_v = np.zeros(6) if k < 0 else self.v[k]
            above_a = self.base if k < 0 else self.a[k]
            moved_v, moved_a = apply(X, above_v), apply(X, above_a)
            shape = np.broadcast_shapes(X.shape[:-2], self.a[i].shape[:-1])
            dtype = np.result_type(X, self.a[i])
            x = np.zeros((*shape, 6, n), dtype) if k < 0 else np.matmul(X, dx[k])
            dvi, dai = np.zeros((2, *shape, 6, 2 * n), dtype)
            if k >= 0:
                dvi, dai = dvi + np.matmul(X, dv[k]), dai + np.matmul(X, da[k])
                x = x + np.zeros((*shape, 1, 1))
            for j in range(link.joint.dof):
                s, column = S[..., j], link.dofs.start + j
                x[..., column] += s
                dvi[..., column] += cross_motion(moved_v, s)
                dvi[..., n + column] += s
                dai[..., column] += cross_motion(moved_a, s)
                dai[..., n + column] += cross_motion(self.v[i], s)
            dai = dai + transpose(cross_motion(transpose(dvi), vJ[..., None, :]))
            dx.append(x)
            dv.append(dvi)
            da.append(dai)
        return dx, dv, da

    def body_force(self, i: int, dv: Array, da: Array) -> Array:
        """I δa + δv ×* (I v + h) + v ×* I δv."""
        link = self.model.links[i]
        total = apply(link.inertia, self.v[i]) + join(link.body.momentum, np.zeros(3))
        gyroscopic = cross_force(transpose(dv), total[..., None, :])
        product = cross_force(self.v[i][..., None, :], transpose(np.matmul(link.inertia, dv)))
        return np.matmul(link.inertia, da) + transpose(gyroscopic + product)


def _turning_loads(
    model: Model, world: list[tuple[Array, Array]], dx: list[Array]
) -> list[tuple[int, Array]]:
    """Change of dead loads in body axes, −[δφ × T + r × (δφ × F); δφ × F], by position."""
    changes = []
    for load in model.loads:
        if load.kind == "dead":
            i = model.index(load.body)
            back = transpose(world[i][0])
            force, torque = apply(back, load.force)[..., None, :], apply(back, load.torque)[..., None, :]
            phi = transpose(dx[i])[..., :3]
            turned = cross(phi, force)
            moment = cross(phi, torque) + cross(load.point[..., None, :], turned)
            changes.append((i, -transpose(join(moment, turned))))
    return changes


def _pad(by_position: Array, width: int) -> Array:
    missing = width - by_position.shape[-1]
    return np.concatenate([by_position, np.zeros((*by_position.shape[:-1], missing))], axis=-1)


def _add_passive(model: Model, rows: Array, q: Array, has_reference: bool) -> None:
    """Springs and dampers, k Q δ + d δq̇ (Q: `tangent_map`)."""
    n = model.nq
    if not any(joint.passive for joint in model.joints):
        return
    Q = tangent_map(model, q)
    for link in model.links:
        joint, dofs = link.joint, link.dofs
        if joint.passive:
            rate_columns = slice(n + dofs.start, n + dofs.stop)
            rows[..., dofs, rate_columns] += joint.damping[..., :, None] * np.eye(joint.dof)
            if joint.rest is not None or has_reference:
                rows[..., dofs, dofs] += joint.stiffness[..., :, None] * Q[..., dofs, dofs]


def forward_dynamics_derivatives(
    model: Model,
    q: ArrayLike,
    qd: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    *,
    wrenches: Wrenches | None = None,
    base_acceleration: ArrayLike | None = None,
    reference: ArrayLike | None = None,
) -> DynamicsDerivatives:
    """Derivatives of `forward_dynamics`: −H⁻¹ ∂ID at the accelerations that τ gives, and H⁻¹.

    Parameters
    ----------
    model, q, qd, tau, wrenches, base_acceleration, reference
        As in `forward_dynamics`.

    Returns
    -------
    DynamicsDerivatives

    Examples
    --------
    >>> from lftgen.rigidbody import Body, Joint, Model
    >>> rod = Body("rod", 3.0, (0, 0, -1), np.eye(3))
    >>> model = Model([rod], [Joint("J", "revolute", "ground", "rod", axis=(1, 0, 0))])
    >>> forward_dynamics_derivatives(model, [0.0]).q.round(6)
    array([[-7.3575]])
    """
    more = {"wrenches": wrenches, "base_acceleration": base_acceleration, "reference": reference}
    qdd = forward_dynamics(model, q, qd, tau, **more)  # type: ignore[arg-type]
    inverse = inverse_dynamics_derivatives(model, q, qd, qdd, **more)  # type: ignore[arg-type]
    H = np.broadcast_to(inverse.u, (*inverse.q.shape[:-2], *inverse.u.shape[-2:]))
    solved = np.linalg.solve(H, np.concatenate([inverse.q, inverse.qd], axis=-1))
    n = model.nq
    return DynamicsDerivatives(-solved[..., :n], -solved[..., n:], np.linalg.inv(inverse.u))
