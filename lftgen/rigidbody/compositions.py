"""Joints made of others, with massless bodies between."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from lftgen.rigidbody.elements import Body, Joint


def chain_of_joints(
    name: str,
    parent: str,
    child: str,
    kinds: Sequence[tuple[str, ArrayLike]],
    *,
    rotation: ArrayLike | None = None,
    position: ArrayLike = (0.0, 0.0, 0.0),
) -> tuple[list[Body], list[Joint]]:
    """Several joints at one point in series; the bodies between have no mass.

    A universal joint is ``[("revolute", x), ("revolute", y)]``. What the child carries must have inertia
    about every axis. Joints are named ``name_0``, ``name_1``, …

    Parameters
    ----------
    name, parent, child : str
    kinds : sequence of (kind, axis)
        From the parent to the child; axes in the joint's frame at zero coordinates.
    rotation : array (..., 3, 3), optional
        Orientation of the joint's frame in the parent.
    position : array (..., 3), m

    Returns
    -------
    bodies, joints : lists
        To be added to a model's.

    Examples
    --------
    >>> bodies, joints = chain_of_joints(
    ...     "U", "ground", "rod", [("revolute", (1, 0, 0)), ("revolute", (0, 1, 0))]
    ... )
    >>> [(joint.name, joint.parent, joint.child) for joint in joints]
    [('U_0', 'ground', 'U_after_0'), ('U_1', 'U_after_0', 'rod')]
    """
    between = [f"{name}_after_{k}" for k in range(len(kinds) - 1)]
    nothing = np.zeros((3, 3))
    bodies = [Body(body, np.array(0.0), np.zeros(3), nothing) for body in between]
    ends = [parent, *between, child]
    joints = []
    for k, (kind, axis) in enumerate(kinds):
        first = k == 0
        joints.append(
            Joint(
                f"{name}_{k}",
                kind,
                ends[k],
                ends[k + 1],
                rotation=np.asarray(rotation) if first and rotation is not None else np.eye(3),
                position=np.asarray(position) if first else np.zeros(3),
                axis=np.asarray(axis),
            )
        )
    return bodies, joints
