"""What a user of a robot file should know: remarks for the report, and warnings for what may not be meant."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lftgen.errors import ModelError, ModelWarning
from lftgen.interop.urdf_parts import JointPart, LinkPart, RobotParts
from lftgen.interop.urdf_report import Note
from lftgen.interop.urdf_tree import RobotTree, is_physical, nearest_physical


def merged_notes(tree: RobotTree, *, free: bool) -> list[Note]:
    """A remark for each link that became part of another body."""
    notes = []
    for joint in tree.welds:
        carrier = tree.poses[joint.child].carrier
        if carrier != tree.root or free:
            text = f"welded to {carrier!r} by joint {joint.name!r}; a port of that body"
            notes.append(Note("merged", f"link {joint.child!r}", joint.place, text))
    return notes


def repaired(parts: RobotParts, notes: list[Note]) -> RobotParts:
    """Links with the nearest inertia that a body can have, with a warning."""
    wrong = [link for link in parts.links.values() if not is_physical(link.inertia)]
    if not wrong:
        return parts
    notes += [_inertia_note(link, "; repaired") for link in wrong]
    _warn(str(notes[-1]), len(wrong))
    better = {link.name: replace(link, inertia=nearest_physical(link.inertia)) for link in wrong}
    return replace(parts, links={**parts.links, **better})


def check_physical(inertia: Any) -> None:
    """An error for a tensor of numbers that no body has."""
    if isinstance(inertia, np.ndarray) and not is_physical(inertia):
        raise ModelError(
            f"principal moments {np.linalg.eigvalsh(inertia)} kg m2 are those of no body (negative, or the largest exceeds the sum of "
            'the other two: the triangle rule); correct the file, or take the nearest possible with unphysical="repair"'
        )


def warn_of_losses(joints: Sequence[JointPart], notes: list[Note]) -> None:
    """Dry friction is left out; limits of continuous joints are not used."""
    rubbing = [j for j in joints if j.friction]
    for j in rubbing:
        text = f"friction {j.friction:.6g} is not linear and is left out"
        notes.append(Note("friction", f"joint {j.name!r}", j.place, text))
    if rubbing:
        names = ", ".join(repr(j.name) for j in rubbing[:4]) + (" ..." if len(rubbing) > 4 else "")
        _warn(
            f"{rubbing[0].place}: joints {names}: dry friction is not linear and is left out of the model", 1
        )
    limited = [n for n in notes if n.kind == "limits"]
    if limited:
        _warn(f"{limited[0].place}: {limited[0].element}: {limited[0].text} are not used", len(limited))


def warn_of_inertias(parts: RobotParts, tree: RobotTree, notes: list[Note], *, free: bool) -> None:
    """A welded link with an inertia that no body has: the sum may be one, but the file is wrong."""
    for name, pose in tree.poses.items():
        link = parts.links[name]
        if not is_physical(link.inertia):
            notes.append(_inertia_note(link, f"; welded to {pose.carrier!r} nevertheless"))
            if pose.carrier != tree.root or free:
                _warn(str(notes[-1]), 1)


def _inertia_note(link: LinkPart, end: str) -> Note:
    moments = np.linalg.eigvalsh(link.inertia)
    text = f"principal moments {moments} are those of no body (negative, or against the triangle rule){end}"
    return Note("inertia", f"link {link.name!r}", link.place, text)


def _warn(text: str, count: int) -> None:
    more = f" (and {count - 1} more, see the report)" if count > 1 else ""
    warnings.warn(text + more, ModelWarning, stacklevel=6)
