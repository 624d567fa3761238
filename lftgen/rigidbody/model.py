"""Numeric description of a tree of rigid bodies.

Every quantity is a number or an array with leading batch axes (points) that broadcast with those of all the
others: masses (N,), lever arms (N, 3), angles (N, nq) make N mechanisms at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from lftgen.errors import ModelError
from lftgen.rigidbody.elements import Body, Joint, Load, freeze
from lftgen.rigidbody.spatial import Array
from lftgen.rigidbody.topology import topological_order

GROUND = "ground"


@dataclass(frozen=True, eq=False)
class Link:
    """One body with the joint that carries it, as the recursions walk over them.

    Examples
    --------
    >>> joint = Joint("J", "revolute", "ground", "arm")
    >>> model = Model([Body("arm", 1.0, (1, 0, 0), np.eye(3))], [joint])
    >>> model.links[0].parent, model.links[0].dofs
    (-1, slice(0, 1, None))
    """

    body: Body
    joint: Joint
    parent: int
    dofs: slice
    inertia: Array = field(init=False, repr=False)

    def __post_init__(self) -> None:
        hub = self.joint.hub_inertia[..., None, None] * (
            self.joint.axis[..., :, None] * self.joint.axis[..., None, :]
        )
        extra = np.zeros((*hub.shape[:-2], 6, 6), hub.dtype)
        extra[..., :3, :3] = hub
        object.__setattr__(self, "inertia", self.body.inertia + extra)

    @property
    def subspace(self) -> Array:
        """Motion subspace S (..., 6, DoF) of the joint, child's axes."""
        return self.joint.subspace


@dataclass(frozen=True, eq=False)
class Model:
    """Tree of rigid bodies on the ground.

    Parameters
    ----------
    bodies, joints : sequences
        Joints in any order; coordinates follow the order in which the joints are given.
    gravity, acceleration : array (..., 3), m/s²
        Gravity, and a uniform acceleration of the reference frame, in reference axes.
    loads : sequence of Load

    Raises
    ------
    ModelError
        Unknown or repeated names, a loop, a body with two parents or none, a chain that misses the ground.

    Examples
    --------
    >>> arm = Body("arm", 1.0, (1, 0, 0), np.eye(3))
    >>> Model([arm], [Joint("J", "revolute", "ground", "arm")]).nq
    1
    """

    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]
    gravity: Array = field(default_factory=lambda: np.array([0.0, 0.0, -9.81]))
    acceleration: Array = field(default_factory=lambda: np.zeros(3))
    loads: tuple[Load, ...] = ()
    links: tuple[Link, ...] = field(init=False, repr=False)
    """Bodies with their joints, parents first."""
    nq: int = field(init=False)
    """Number of coordinates, and of rates."""
    batch_shape: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        for name in ("bodies", "joints", "loads"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        freeze(self, "the model", {"gravity": (3,), "acceleration": (3,)})
        order = topological_order([b.name for b in self.bodies], self.joints, [x.body for x in self.loads])
        starts = np.cumsum([0] + [j.dof for j in self.joints])
        bodies, rank = {b.name: b for b in self.bodies}, {GROUND: -1}
        links = []
        for number, k in enumerate(order):
            joint = self.joints[k]
            links.append(
                Link(
                    bodies[joint.child], joint, rank[joint.parent], slice(int(starts[k]), int(starts[k + 1]))
                )
            )
            rank[joint.child] = number
        object.__setattr__(self, "links", tuple(links))
        object.__setattr__(self, "nq", int(starts[-1]))
        object.__setattr__(self, "batch_shape", self._common_batch())

    def index(self, body: str) -> int:
        """Position of a body in `links`; a `ModelError` lists the names otherwise."""
        for i, link in enumerate(self.links):
            if link.body.name == body:
                return i
        raise ModelError(
            f"body {body!r} is not in the model; its bodies are {[b.name for b in self.bodies]}."
        )

    def joint_index(self, joint: str) -> int:
        """Position in `links` of the body that a joint carries."""
        for i, link in enumerate(self.links):
            if link.joint.name == joint:
                return i
        raise ModelError(
            f"joint {joint!r} is not in the model; its joints are {[j.name for j in self.joints]}."
        )

    def _common_batch(self) -> tuple[int, ...]:
        shapes = [("gravity", self.gravity.shape[:-1]), ("acceleration", self.acceleration.shape[:-1])]
        for link in self.links:
            joint = link.joint
            shapes += [(f"body {link.body.name!r}", link.inertia.shape[:-2])]
            shapes += [(f"body {link.body.name!r}", link.body.momentum.shape[:-1])]
            shapes += [(f"joint {joint.name!r}", a.shape[:-2]) for a in (joint.rotation, joint.subspace)]
            vectors = (joint.position, joint.damping, joint.stiffness, joint.armature)
            shapes += [(f"joint {joint.name!r}", a.shape[:-1]) for a in vectors]
            if joint.rest is not None:
                shapes += [(f"joint {joint.name!r}", joint.rest.shape[:-1])]
        for load in self.loads:
            shapes += [(f"load {load.name!r}", load.rotation.shape[:-2])]
            shapes += [(f"load {load.name!r}", a.shape[:-1]) for a in (load.point, load.force, load.torque)]
        batch: tuple[int, ...] = ()
        for owner, shape in shapes:
            try:
                batch = np.broadcast_shapes(batch, shape)
            except ValueError:
                raise ModelError(f"batch axes of {owner}: {shape} does not broadcast with {batch}.") from None
        return batch
