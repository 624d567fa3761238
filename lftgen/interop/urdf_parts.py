"""What a robot file says, as plain records: links, joints, and what was left aside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from lftgen.errors import ModelError
from lftgen.interop.urdf_report import Note

ONE_DOF = ("revolute", "continuous", "prismatic")
"""Joint types with one coordinate, which may be scheduled."""
KINDS = (*ONE_DOF, "fixed", "floating", "planar", "spherical")


@dataclass(frozen=True)
class LinkPart:
    """A link: inertia about its centre of mass, in axes turned by ``turn`` against the link's.

    Attributes
    ----------
    mass : float
        kg; zero where the file gives no inertia.
    com : (3,) float
        Link axes, m.
    inertia : (3, 3) float
        kg m2, in the axes of the inertial frame.
    turn : (3, 3) float
        Rotation of the inertial frame, v_link = turn v_inertial.
    """

    name: str
    place: str
    mass: float = 0.0
    com: np.ndarray = field(default_factory=lambda: np.zeros(3))
    inertia: np.ndarray = field(default_factory=lambda: np.zeros((3, 3)))
    turn: np.ndarray = field(default_factory=lambda: np.eye(3))

    @property
    def tensor(self) -> np.ndarray:
        """Inertia about the centre of mass in link axes."""
        return self.turn @ self.inertia @ self.turn.T

    @property
    def has_inertia(self) -> bool:
        """Whether it has any mass or inertia."""
        return bool(self.mass or self.inertia.any())

    def error(self, message: str) -> ModelError:
        """An error about this link."""
        return ModelError(f"{self.place}: link {self.name!r}: {message}")


@dataclass(frozen=True)
class Mimic:
    """A joint that follows another: ``position = multiplier * position of driver + offset``."""

    driver: str
    multiplier: float
    offset: float


@dataclass(frozen=True)
class JointPart:
    """A joint: placement in the parent link, type, axis in its own frame, limits and losses.

    ``lower`` and ``upper`` are None where the file gives no usable range; ``home`` is where the joint stands unless told
    otherwise, ``spring_rest`` where its spring is relaxed (None: at the equilibrium).
    """

    name: str
    place: str
    kind: str
    parent: str
    child: str
    xyz: tuple[float, ...] = (0.0, 0.0, 0.0)
    rpy: tuple[float, ...] = (0.0, 0.0, 0.0)
    axis: tuple[float, ...] = (1.0, 0.0, 0.0)
    lower: float | None = None
    upper: float | None = None
    damping: float = 0.0
    stiffness: float = 0.0
    friction: float = 0.0
    armature: float = 0.0
    gear_ratio: float = 1.0
    rotor_inertia: float = 0.0
    spring_rest: float | None = None
    home: float = 0.0
    mimic: Mimic | None = None

    @property
    def moves(self) -> bool:
        """Whether it has a degree of freedom."""
        return self.kind != "fixed"

    def error(self, message: str) -> ModelError:
        """An error about this joint."""
        return ModelError(f"{self.place}: joint {self.name!r}: {message}")


@dataclass(frozen=True)
class RobotParts:
    """All that a robot file says.

    Attributes
    ----------
    label : str
        The file.
    notes : tuple of Note
        What was left aside while reading.
    """

    label: str
    name: str
    links: Mapping[str, LinkPart]
    joints: Mapping[str, JointPart]
    notes: tuple[Note, ...] = ()
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)


def rotation(rpy: tuple[float, ...], snap: float) -> np.ndarray:
    """``Rz(yaw) Ry(pitch) Rx(roll)``; quarter turns are exact, also those missed by less than ``snap`` rad."""
    (cr, sr), (cp, sp), (cy, sy) = (_cosine_sine(a, snap) for a in rpy)
    x = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    y = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    z = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
    return np.asarray(z @ y @ x, dtype=float)


def snapped(angle: float, snap: float) -> float:
    """The multiple of a quarter turn that an angle misses by less than ``snap``, else the angle."""
    turns = round(angle / (np.pi / 2))
    near = turns * (np.pi / 2)
    return float(near) if abs(angle - near) <= max(snap, 4e-16 * abs(angle)) else angle


def _cosine_sine(angle: float, snap: float) -> tuple[float, float]:
    near = snapped(angle, snap)
    turns = near / (np.pi / 2)
    if turns == round(turns):
        return ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))[round(turns) % 4]
    return float(np.cos(angle)), float(np.sin(angle))


def rpy_of(R: np.ndarray) -> tuple[float, float, float]:
    """Roll, pitch, yaw of a rotation; entries of a quarter turn come out exact."""
    pitch = np.arctan2(-R[2, 0], np.hypot(R[0, 0], R[1, 0]))
    if np.hypot(R[0, 0], R[1, 0]) < 1e-9:  # yaw and roll are one rotation: all of it is roll
        roll, yaw = np.arctan2(-R[1, 2] * 1.0, R[1, 1]), 0.0
    else:
        roll, yaw = np.arctan2(R[2, 1], R[2, 2]), np.arctan2(R[1, 0], R[0, 0])
    return float(roll), float(pitch), float(yaw)
