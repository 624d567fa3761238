"""The tree of a robot file: its root, which links move together, and their inertia as one body."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from lftgen.errors import ModelError
from lftgen.interop.urdf_parts import JointPart, LinkPart, RobotParts, rotation


@dataclass(frozen=True)
class Pose:
    """Where a link stands in the link that carries it: v_carrier = R v_link, p from carrier to link."""

    carrier: str
    R: np.ndarray
    p: np.ndarray


@dataclass(frozen=True)
class RobotTree:
    """Links by the body that carries them.

    Attributes
    ----------
    root : str
    poses : dict of str to Pose
        Of every link; a carrier stands in itself.
    joints : tuple of JointPart
        Those that stay joints, in the order of the file.
    welds : tuple of JointPart
        Fixed joints that vanish.
    """

    root: str
    poses: dict[str, Pose]
    joints: tuple[JointPart, ...]
    welds: tuple[JointPart, ...]

    def carried_by(self, carrier: str) -> list[str]:
        """Links of one body, the carrier first."""
        return [link for link, pose in self.poses.items() if pose.carrier == carrier]


def build_robot_tree(parts: RobotParts, apart: Collection[str], snap: float) -> RobotTree:
    """Find the root and weld links together.

    Parameters
    ----------
    apart : names of links
        That stay bodies of their own although a fixed joint carries them.

    Raises
    ------
    ModelError
        Two parents, two roots, a loop; each by name.
    """
    to = _joint_to(parts)
    root = _root(parts, to)
    below: dict[str, list[JointPart]] = {link: [] for link in parts.links}
    for joint in parts.joints.values():
        below[joint.parent].append(joint)
    poses = {root: Pose(root, np.eye(3), np.zeros(3))}
    welds: list[JointPart] = []
    order = [root]
    for link in order:
        for joint in below[link]:
            order.append(joint.child)
            if joint.moves or joint.child in apart:
                poses[joint.child] = Pose(joint.child, np.eye(3), np.zeros(3))
                continue
            at = poses[link]
            poses[joint.child] = Pose(
                at.carrier, at.R @ rotation(joint.rpy, snap), at.p + at.R @ np.array(joint.xyz)
            )
            welds.append(joint)
    _check_reached(parts, poses, to)
    stay = tuple(j for j in parts.joints.values() if j not in welds)
    return RobotTree(root, poses, stay, tuple(welds))


def apart_links(parts: RobotParts, uncertain: Collection[str], snap: float) -> set[str]:
    """Links that stay bodies of their own: the uncertain ones, and the first heavy ones welded to them.

    Masses are then never added to a parameter, and a centre of mass never divided by one.
    """
    apart = set(uncertain)
    while apart:
        tree = build_robot_tree(parts, apart, snap)
        up = {j.child: j.parent for j in tree.welds}
        mixed = [
            link
            for carrier in uncertain
            for link in tree.carried_by(carrier)[1:]
            if parts.links[link].has_inertia and not _heavy_between(parts, up, link, carrier)
        ]
        if not mixed:
            break
        apart |= set(mixed)
    return apart


def _heavy_between(parts: RobotParts, up: dict[str, str], link: str, carrier: str) -> bool:
    while (link := up[link]) != carrier:
        if parts.links[link].has_inertia:
            return True
    return False


def _joint_to(parts: RobotParts) -> dict[str, JointPart]:
    to: dict[str, JointPart] = {}
    for joint in parts.joints.values():
        if joint.child in to:
            other = to[joint.child]
            raise joint.error(
                f"link {joint.child!r} has two parents, through joints {other.name!r} ({other.place}) and {joint.name!r}; "
                "expected a tree (closed chains cannot be written in URDF)"
            )
        to[joint.child] = joint
    return to


def _root(parts: RobotParts, to: dict[str, JointPart]) -> str:
    roots = [link for link in parts.links if link not in to]
    if len(roots) == 1:
        return roots[0]
    if not roots:
        joint = next(iter(parts.joints.values()))
        raise ModelError(
            f"{joint.place}: every link is the child of a joint, so there is no root: the joints form a loop "
            f"through {_loop(joint, to)}"
        )
    shown = ", ".join(repr(r) for r in roots[:6]) + (" ..." if len(roots) > 6 else "")
    raise ModelError(
        f"{parts.links[roots[1]].place}: expected one root link, came {len(roots)}: {shown}; connect them with joints"
    )


def _check_reached(parts: RobotParts, poses: dict[str, Pose], to: dict[str, JointPart]) -> None:
    lost = next((link for link in parts.links if link not in poses), None)
    if lost is not None:
        raise to[lost].error(
            f"never reached from the root: the joints form a loop through {_loop(to[lost], to)}"
        )


def _loop(joint: JointPart, to: dict[str, JointPart]) -> str:
    """Names along a loop, starting somewhere on the way up from a joint."""
    seen: list[str] = []
    while joint.name not in seen:
        seen.append(joint.name)
        joint = to[joint.parent]
    loop = seen[seen.index(joint.name) :]
    return " <- ".join(loop[:8] + (["..."] if len(loop) > 8 else []))


def is_physical(inertia: np.ndarray) -> bool:
    """Whether a body has such an inertia about its centre of mass: no negative moment, and the triangle rule."""
    moments = np.linalg.eigvalsh(inertia)
    slack = 1e-9 * max(float(np.abs(moments).max()), 1e-300)
    return bool(moments[0] >= -slack and moments[2] <= moments[0] + moments[1] + slack)


def nearest_physical(inertia: np.ndarray) -> np.ndarray:
    """The inertia whose second moments of mass are those of this one, the negative ones set to zero.

    ``S = tr(I)/2 - I`` is the integral of ``x x^T`` over the mass, positive semi-definite for every body, and
    ``I = tr(S) - S``; see P. Wensing, S. Kim, J.-J. Slotine, *Linear matrix inequalities for physically consistent inertial
    parameter identification*, 2018.
    """
    values, axes = np.linalg.eigh(np.trace(inertia) / 2 * np.eye(3) - inertia)
    moments = axes @ np.diag(np.maximum(values, 0.0)) @ axes.T
    repaired = np.trace(moments) * np.eye(3) - moments
    return np.asarray((repaired + repaired.T) / 2)


def merged_inertia(links: list[tuple[LinkPart, Pose]]) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centre of mass and inertia about it of links that move as one (parallel axes)."""
    mass = sum(link.mass for link, _ in links)
    centres = [pose.p + pose.R @ link.com for link, pose in links]
    if mass:
        com = sum((link.mass * c for (link, _), c in zip(links, centres, strict=True)), np.zeros(3)) / mass
    else:
        com = np.zeros(3)
    tensor = np.zeros((3, 3))
    for (link, pose), centre in zip(links, centres, strict=True):
        d = centre - com
        own = pose.R @ link.tensor @ pose.R.T
        tensor += own + link.mass * (d @ d * np.eye(3) - np.outer(d, d))
    return mass, com, (tensor + tensor.T) / 2
