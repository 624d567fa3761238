"""External and passive forces: the model's loads, wrenches given at a call, springs and dampers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from lftgen.errors import ModelError
from lftgen.rigidbody.kinematics import Placement
from lftgen.rigidbody.model import Link, Model
from lftgen.rigidbody.spatial import Array, apply, transpose, wrench_at_origin

Wrenches = Mapping[str, ArrayLike]
"""Wrench [torque; force] (..., 6) on a body by name: about the body's origin, body axes, N m and N."""


def external_wrenches(
    model: Model, world: list[Placement], wrenches: Wrenches | None = None
) -> list[Array | None]:
    """Sum of the loads and of the given wrenches on each link, body axes at the body's origin.

    Parameters
    ----------
    world : list of (rotation, position)
        Placement of each link in the reference frame (dead loads turn with it).
    wrenches : mapping of body name to array (..., 6), optional

    Raises
    ------
    ModelError
        An unknown body, or a wrench whose last axis is not 6.
    """
    total: list[Array | None] = [None] * len(model.links)

    def add(i: int, wrench: Array) -> None:
        known = total[i]
        total[i] = wrench if known is None else known + wrench

    for load in model.loads:
        i = model.index(load.body)
        # a follower load turns with its port, a dead one keeps its components in reference axes
        R = load.rotation if load.kind == "follower" else transpose(world[i][0])
        add(i, wrench_at_origin(load.point, apply(R, load.torque), apply(R, load.force)))
    for name, value in (wrenches or {}).items():
        wrench = np.asarray(value)
        if wrench.ndim == 0 or wrench.shape[-1] != 6:
            raise ModelError(f"wrench on body {name!r}: expected shape (..., 6), got {wrench.shape}.")
        if not np.isfinite(wrench).all():
            raise ModelError(f"wrench on body {name!r}: every entry must be finite, got NaN or infinity.")
        add(model.index(name), wrench)
    return total


def passive_force(link: Link, q: Array, rates: Array, reference: Array | None) -> Array | float:
    """Spring and damper of a joint, −k (q − rest) − d q̇ (..., DoF).

    A spring without `rest` pulls towards `reference`; it is slack when there is none.
    """
    joint = link.joint
    force: Array | float = 0.0
    if joint.damping.any():
        force = force - joint.damping * rates[..., link.dofs]
    if joint.stiffness.any():
        slack = (
            joint.rest if joint.rest is not None else None if reference is None else reference[..., link.dofs]
        )
        if slack is not None:
            force = force - joint.stiffness * (q[..., link.dofs] - cast(Array, slack))
    return force
