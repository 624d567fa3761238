"""Closed loops: joints that tie two bodies of a tree together, their residual and constraint rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from lftgen.errors import ModelError
from lftgen.rigidbody.elements import Joint, freeze
from lftgen.rigidbody.joints import constraint_subspace
from lftgen.rigidbody.kinematics import Placement
from lftgen.rigidbody.model import GROUND, Model
from lftgen.rigidbody.spatial import (
    Array,
    apply,
    cross_motion,
    motion_transform,
    rotation_exponential,
    rotation_logarithm,
    transpose,
)
from lftgen.rigidbody.tangent import rotation_vector


@dataclass(frozen=True, eq=False)
class LoopJoint:
    """Passive joint that closes a loop between two bodies of a tree.

    Parameters
    ----------
    name : str
    kind : str
        As in `Joint`.
    predecessor, successor : str
        Body names; the predecessor may be "ground".
    rotation_predecessor, rotation_successor : array (..., 3, 3)
        Orientation of the joint's frame in either body, v_body = R v_frame. The two frames coincide at the
        joint's zero position.
    position_predecessor, position_successor : array (..., 3), m
        Origin of the joint's frame in either body.
    axis : array (..., 3)
        In the joint's frames.
    pitch : array (...), m/rad

    Raises
    ------
    ModelError
        A wrong kind, axis, shape or rotation.

    Examples
    --------
    >>> LoopJoint("L", "revolute", "coupler", "ground", position_successor=(1, 0, 0)).subspace.shape
    Traceback (most recent call last):
    lftgen.errors.ModelError: successor of loop joint 'L': 'ground' can only be the predecessor; swap the two.
    >>> LoopJoint("L", "revolute", "ground", "coupler", position_predecessor=(1, 0, 0)).subspace.shape
    (6, 1)
    """

    name: str
    kind: str
    predecessor: str
    successor: str
    rotation_predecessor: Array = field(default_factory=lambda: np.eye(3))
    position_predecessor: Array = field(default_factory=lambda: np.zeros(3))
    rotation_successor: Array = field(default_factory=lambda: np.eye(3))
    position_successor: Array = field(default_factory=lambda: np.zeros(3))
    axis: Array = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]))
    pitch: Array = field(default_factory=lambda: np.array(0.0))
    subspace: Array = field(init=False, repr=False)
    """Motion subspace S (..., 6, DoF) in the successor's joint frame."""
    constraint: Array = field(init=False, repr=False)
    """Constraint-force subspace T (..., 6, 6 − DoF) in the successor's joint frame."""

    def __post_init__(self) -> None:
        label = f"loop joint {self.name!r}"
        if self.successor == GROUND:
            raise ModelError(f"successor of {label}: 'ground' can only be the predecessor; swap the two.")
        if self.kind == "helical" and not np.asarray(self.pitch).all():
            raise ModelError(
                f"pitch of {label}: expected a non-zero pitch, got {self.pitch}; use 'revolute'."
            )
        if self.successor == self.predecessor:
            raise ModelError(f"{label} ties body {self.successor!r} to itself; expected two bodies.")
        freeze(self, label, {"position_predecessor": (3,), "position_successor": (3,)})
        twins = [
            Joint(
                self.name,
                self.kind,
                self.predecessor,
                self.successor,
                rotation=R,
                axis=self.axis,
                pitch=self.pitch,
            )
            for R in (self.rotation_predecessor, self.rotation_successor)
        ]  # checks kind, axis and both rotations
        object.__setattr__(self, "rotation_predecessor", twins[0].rotation)
        object.__setattr__(self, "rotation_successor", twins[1].rotation)
        object.__setattr__(self, "axis", twins[0].axis)
        object.__setattr__(self, "pitch", twins[0].pitch)
        object.__setattr__(self, "subspace", twins[0].subspace)
        object.__setattr__(self, "constraint", constraint_subspace(twins[0].subspace))


@dataclass(frozen=True, eq=False)
class ClosedModel:
    """Tree with loop joints.

    Parameters
    ----------
    tree : Model
        The spanning tree; its joints are the coordinates.
    loops : sequence of LoopJoint

    Raises
    ------
    ModelError
        Unknown bodies or a repeated name.

    Examples
    --------
    >>> from lftgen.rigidbody import Body
    >>> bodies = [Body(name, 1.0, (0.5, 0, 0), np.eye(3)) for name in "ab"]
    >>> tree = Model(bodies, [Joint("A", "revolute", "ground", "a"), Joint("B", "revolute", "ground", "b")])
    >>> ClosedModel(tree, [LoopJoint("L", "revolute", "a", "b")]).sizes
    (5,)
    """

    tree: Model
    loops: tuple[LoopJoint, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "loops", tuple(self.loops))
        taken = {joint.name for joint in self.tree.joints}
        for loop in self.loops:
            if loop.name in taken:
                raise ModelError(f"joint name {loop.name!r} is used twice; names must be unique.")
            taken.add(loop.name)
            self.ends(loop)

    def ends(self, loop: LoopJoint) -> tuple[int, int]:
        """Positions of predecessor (−1: ground) and successor in ``tree.links``."""
        before = -1 if loop.predecessor == GROUND else self.tree.index(loop.predecessor)
        return before, self.tree.index(loop.successor)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of constraints of each loop joint."""
        return tuple(loop.constraint.shape[-1] for loop in self.loops)


def loop_placement(closed: ClosedModel, loop: LoopJoint, world: Sequence[Placement]) -> Placement:
    """Placement of the successor's joint frame in the predecessor's."""
    before, after = closed.ends(loop)
    R1, p1 = world[before] if before >= 0 else (np.eye(3), np.zeros(3))
    R2, p2 = world[after]
    F1, o1 = np.matmul(R1, loop.rotation_predecessor), p1 + apply(R1, loop.position_predecessor)
    F2, o2 = np.matmul(R2, loop.rotation_successor), p2 + apply(R2, loop.position_successor)
    return np.matmul(transpose(F1), F2), apply(transpose(F1), o2 - o1)


def loop_residual(closed: ClosedModel, loop: LoopJoint, world: Sequence[Placement]) -> Array:
    """Constraint violation (..., 6 − DoF): Tᵀ [φ; d] of the motion that no joint displacement removes.

    Its derivative by a small motion δ of the successor (in its joint frame) is Tᵀ δ where it vanishes.
    """
    R, d = loop_placement(closed, loop, world)
    turn, shift = _nearest(loop, R, d)
    back = transpose(turn)
    rest = np.concatenate([_logarithm(np.matmul(back, R)), apply(back, d - shift)], axis=-1)
    return apply(transpose(loop.constraint), rest)


def _nearest(loop: LoopJoint, R: Array, d: Array) -> Placement:
    """Displacement of the joint that comes close to a placement; slides along S are left to Tᵀ."""
    if loop.kind in ("spherical", "free"):
        return R, np.zeros(3)
    if loop.kind in ("fixed", "prismatic"):
        return np.eye(3), np.zeros(3)
    angle, shift = _angle_about(loop.axis, R), np.zeros(3)
    if loop.kind == "helical":  # whole turns from the slide, the rest from the angle
        along = (loop.axis * d).sum(axis=-1)
        turns = np.round((along / loop.pitch - angle).real / (2 * np.pi))
        shift = (loop.pitch * (angle + 2 * np.pi * turns))[..., None] * loop.axis
    return rotation_exponential(angle[..., None] * loop.axis), shift


def _angle_about(axis: Array, R: Array) -> Array:
    """Angle of the turn about an axis that comes closest to R; complex-safe."""
    w = np.stack(
        [R[..., 2, 1] - R[..., 1, 2], R[..., 0, 2] - R[..., 2, 0], R[..., 1, 0] - R[..., 0, 1]], axis=-1
    )
    trace = R[..., 0, 0] + R[..., 1, 1] + R[..., 2, 2]
    s, c = (w * axis).sum(axis=-1), trace - (axis * apply(R, axis)).sum(axis=-1)
    start = np.arctan2(s.real, c.real)
    # one exact step from the real angle carries an infinitesimal imaginary part
    length = s * np.sin(start) + c * np.cos(start)
    flipped = np.abs(length) < 1e-12  # the axis is turned over: any angle comes as close
    fix = (s * np.cos(start) - c * np.sin(start)) / np.where(flipped, 1, length)
    angle: Array = np.where(flipped, 0, start + fix)
    return angle


def _logarithm(R: Array) -> Array:
    """Rotation vector up to half a turn; beyond a quarter turn (far from a closed loop) its real part."""
    near = np.einsum("...ii->...", R).real > 1.05
    if near.all():
        return rotation_logarithm(R)
    safe = np.where(near[..., None, None], R, np.eye(3))
    return np.where(near[..., None], rotation_logarithm(safe), rotation_vector(R.real))


def loop_rows(
    closed: ClosedModel, loop: LoopJoint, world: Sequence[Placement], v: Sequence[Array]
) -> tuple[Array, Array, Array, Array]:
    """Constraint rows of a loop joint: P2 a_successor + P1 a_predecessor = γ (7.60).

    Parameters
    ----------
    world : sequence of placements of the bodies in the reference frame
    v : sequence of array (..., 6)
        Spatial velocities, body axes.

    Returns
    -------
    P1, P2 : array (..., 6 − DoF, 6)
        −Tᵀ and Tᵀ, taken to the axes of predecessor and successor.
    gamma : array (..., 6 − DoF)
        Tᵀ c, c = v × v_J.
    rate : array (..., 6 − DoF)
        Tᵀ v_J: the velocity's violation of the constraint.
    """
    before, after = closed.ends(loop)
    R, d = loop_placement(closed, loop, world)
    to_first = motion_transform(loop.rotation_predecessor, loop.position_predecessor)
    X1 = np.matmul(motion_transform(R, d), to_first)
    X2 = motion_transform(loop.rotation_successor, loop.position_successor)
    v2 = apply(X2, v[after])
    vJ = v2 if before < 0 else v2 - apply(X1, v[before])
    TT = transpose(loop.constraint)
    return -np.matmul(TT, X1), np.matmul(TT, X2), apply(TT, cross_motion(v2, vJ)), apply(TT, vJ)
