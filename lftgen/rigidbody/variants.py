"""The articulated-body algorithm with each assembly formula of RBDA table 7.2 in its second pass."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import ArrayLike

from lftgen.errors import IllPosedError, ModelError
from lftgen.rigidbody.assembly import (
    assemble_implicit,
    assemble_mobilities,
    implicit_child_acceleration,
    joint_acceleration,
    propagate,
)
from lftgen.rigidbody.forward import total_joint_forces
from lftgen.rigidbody.handles import ArticulatedInertia, ArticulatedMobility
from lftgen.rigidbody.inverse import Prescribed, velocity_force
from lftgen.rigidbody.kinematics import (
    base_motion,
    coordinates,
    gather,
    placements,
    poses,
    transforms,
    velocities,
)
from lftgen.rigidbody.loads import Wrenches, external_wrenches
from lftgen.rigidbody.model import Model
from lftgen.rigidbody.spatial import Array, apply

FORMULAE = ("standard", "mobility", "implicit")
"""The standard formula, variant 1 (inverse inertias) and variant 2 (implicit joint constraints)."""


def forward_dynamics_by(
    formula: str,
    model: Model,
    q: ArrayLike,
    qd: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    *,
    wrenches: Wrenches | None = None,
    base_acceleration: ArrayLike | None = None,
    prescribed: Prescribed | None = None,
) -> Array:
    """Joint accelerations with a chosen assembly formula; all agree where they exist.

    Parameters
    ----------
    formula : str
        "standard" (7.23, 7.24), "mobility" (variant 1: every body's inertia must be invertible) or "implicit"
        (variant 2: so must be every subtree's).
    model, q, qd, tau, wrenches, base_acceleration, prescribed
        As in `forward_dynamics`.

    Returns
    -------
    array (..., nq)

    Raises
    ------
    ModelError
        An unknown formula, or an armature (these formulae have no place for one).
    IllPosedError
        An inertia or mobility that the formula needs does not exist; the message names the joint.

    Examples
    --------
    >>> from lftgen.rigidbody import Body, Joint, Model
    >>> arm = Body("arm", 3.0, (0, 0, -1), np.eye(3))
    >>> model = Model([arm], [Joint("J", "revolute", "ground", "arm", axis=(1, 0, 0))])
    >>> [forward_dynamics_by(name, model, [np.pi / 2]).round(6).item() for name in FORMULAE]
    [-7.3575, -7.3575, -7.3575]
    """
    if formula not in FORMULAE:
        raise ModelError(f"formula: expected one of {', '.join(FORMULAE)}, got {formula!r}.")
    for joint in model.joints:
        if joint.dof and joint.armature.any():
            raise ModelError(
                f"joint {joint.name!r} has an armature, which the assembly formulae leave out; use "
                "forward_dynamics or divide_and_conquer, or model the rotor as a body."
            )
    angles, rates = coordinates(model, q, "q"), coordinates(model, qd, "qd")
    places = placements(model, angles)
    X = transforms(places)
    force = total_joint_forces(model, angles, rates, coordinates(model, tau, "tau"), None)
    v, c = velocities(model, X, rates, prescribed)
    external = external_wrenches(model, poses(model, places), wrenches)
    bodies = []
    for link, vi, fx in zip(model.links, v, external, strict=True):
        p = velocity_force(link.inertia, link.body.momentum, vi)
        bodies.append(ArticulatedInertia(link.inertia, p if fx is None else p - fx))
    sweep = _Sweep(model, X, c, force, base_motion(model, base_acceleration))
    return sweep.mobilities(bodies) if formula == "mobility" else sweep.inertias(bodies, formula)


class _Sweep:
    """Second and third pass over a tree whose first pass is done."""

    def __init__(self, model: Model, X: list[Array], c: list[Array], tau: Array, base: Array) -> None:
        self.model, self.X, self.c, self.base = model, X, c, base
        self.joint = [(k.subspace, ci, tau[..., k.dofs]) for k, ci in zip(model.links, c, strict=True)]

    def inertias(self, handle: list[ArticulatedInertia], formula: str) -> Array:
        """Standard formula or variant 2, then q̈ (7.18) or T_aᵀ(a2 − a1 − c)."""
        for i in range(len(handle) - 1, -1, -1):
            parent = self.model.links[i].parent
            if parent >= 0:
                with _naming(self.model, i):
                    if formula == "standard":
                        across = propagate(handle[i], *self.joint[i])
                    else:  # joined to a first body without mass, so that the rest can be welded on
                        none = ArticulatedInertia(np.zeros((6, 6)), np.zeros(6))
                        across = assemble_implicit(none, handle[i], *self.joint[i])
                handle[parent] = handle[parent] + across.seen_from(self.X[i])
        if formula == "implicit":
            return self._implicit_pass([h.mobility() for h in handle])
        a: list[Array] = []
        qdd: list[Array] = []
        for i, link in enumerate(self.model.links):
            a1 = apply(self.X[i], self.base if link.parent < 0 else a[link.parent])
            with _naming(self.model, i):
                qdd.append(joint_acceleration(handle[i], *self.joint[i], a1))
            a.append(a1 + self.c[i] + apply(link.subspace, qdd[i]))
        return gather(self.model, qdd)

    def mobilities(self, bodies: list[ArticulatedInertia]) -> Array:
        """Variant 1: only inverse inertias are carried."""
        handle: list[ArticulatedMobility] = []
        for i, body in enumerate(bodies):
            with _naming(self.model, i):
                handle.append(body.mobility())
        for i in range(len(handle) - 1, -1, -1):
            parent = self.model.links[i].parent
            if parent >= 0:
                with _naming(self.model, i):
                    first = handle[parent].seen_by(self.X[i])
                    joined = assemble_mobilities(first, handle[i], *self.joint[i])
                handle[parent] = joined.seen_by(np.linalg.inv(self.X[i]))
        return self._implicit_pass(handle)

    def _implicit_pass(self, handle: list[ArticulatedMobility]) -> Array:
        a: list[Array] = []
        qdd: list[Array] = []
        for i, link in enumerate(self.model.links):
            a1 = apply(self.X[i], self.base if link.parent < 0 else a[link.parent])
            with _naming(self.model, i):
                a2, step = implicit_child_acceleration(handle[i], *self.joint[i], a1)
            a.append(a2)
            qdd.append(step)
        return gather(self.model, qdd)


@contextmanager
def _naming(model: Model, i: int) -> Iterator[None]:
    """Add the names of joint and body to an `IllPosedError`."""
    try:
        yield
    except IllPosedError as error:
        link = model.links[i]
        raise IllPosedError(f"body {link.body.name!r} on joint {link.joint.name!r}: {error}") from None
