"""Elements of a numeric model: `Body`, `Joint`, `Load`; each validates itself and is read-only."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lftgen.errors import ModelError
from lftgen.rigidbody.joints import DOFS, NEEDS_AXIS, motion_subspace
from lftgen.rigidbody.spatial import Array, rigid_inertia, transpose


def frozen_array(owner: str, value: ArrayLike, tail: tuple[int, ...] = ()) -> Array:
    """Read-only float or complex copy of shape (..., *tail); a `ModelError` names the owner otherwise.

    Examples
    --------
    >>> frozen_array("mass of 'arm'", 2).dtype
    dtype('float64')
    """
    array = np.array(value)
    if array.dtype.kind not in "biufc":
        raise ModelError(f"{owner}: expected numbers, got {value!r}.")
    array = array.astype(complex if array.dtype.kind == "c" else float)
    if array.ndim < len(tail) or array.shape[array.ndim - len(tail) :] != tail:
        raise ModelError(f"{owner}: expected shape (..., {', '.join(map(str, tail))}), got {array.shape}.")
    if not np.isfinite(array).all():
        raise ModelError(f"{owner}: every entry must be finite, got NaN or infinity.")
    array.setflags(write=False)
    return array


def freeze(obj: Any, label: str, tails: dict[str, tuple[int, ...]]) -> None:
    for name, tail in tails.items():
        object.__setattr__(obj, name, frozen_array(f"{name} of {label}", getattr(obj, name), tail))


def _check_rotation(label: str, rotation: Array) -> None:
    error = np.abs(np.matmul(rotation, transpose(rotation)) - np.eye(3)).max(initial=0)
    if error > 1e-9 or (np.linalg.det(rotation.real) < 0).any():
        raise ModelError(
            f"rotation of {label}: expected a proper rotation matrix R (R Rᵀ = 1, det = +1), got one that "
            f"misses by {error:.3g}. Normalise it first."
        )


@dataclass(frozen=True, eq=False)
class Body:
    """Rigid body; its frame is the child frame of the joint that carries it.

    Parameters
    ----------
    name : str
    mass : array (...), kg
    com : array (..., 3), m
        Centre of mass in body axes, from the body's origin.
    inertia_com : array (..., 3, 3), kg m²
        Inertia about the centre of mass in body axes, tensor entries.
    momentum : array (..., 3), N m s
        On-board angular momentum (rotors), constant in body axes; the rotors' inertia is part of the body's.

    Raises
    ------
    ModelError
        A negative mass, an unsymmetric inertia or a wrong shape.

    Examples
    --------
    >>> Body("rod", mass=3.0, com=(1, 0, 0), inertia_com=np.diag([0, 1, 1])).inertia[2, 2]
    np.float64(4.0)
    """

    name: str
    mass: Array
    com: Array
    inertia_com: Array
    momentum: Array = field(default_factory=lambda: np.zeros(3))
    inertia: Array = field(init=False, repr=False)
    """Spatial inertia (..., 6, 6) about the body's origin."""

    def __post_init__(self) -> None:
        label = f"body {self.name!r}"
        freeze(self, label, {"mass": (), "com": (3,), "inertia_com": (3, 3), "momentum": (3,)})
        if (self.mass.real < 0).any():
            raise ModelError(f"mass of {label}: expected mass >= 0, got {self.mass.real.min():.6g} kg.")
        skewness = np.abs(self.inertia_com - transpose(self.inertia_com)).max(initial=0)
        if skewness > 1e-9 * np.abs(self.inertia_com).max(initial=0):
            raise ModelError(
                f"inertia_com of {label}: expected a symmetric tensor, got one unsymmetric by {skewness:.3g}."
            )
        object.__setattr__(self, "inertia", rigid_inertia(self.mass, self.com, self.inertia_com))


@dataclass(frozen=True, eq=False)
class Joint:
    """Joint that carries a child body on a parent.

    Parameters
    ----------
    name : str
    kind : str
        "fixed", "revolute", "prismatic", "helical", "cylindrical", "planar", "spherical" or "free".
    parent, child : str
        Body names; "ground" is the reference frame.
    rotation : array (..., 3, 3)
        Orientation R of the joint frame in the parent, v_parent = R v_child at q = 0.
    position : array (..., 3), m
        The joint's origin in the parent's frame.
    axis : array (..., 3)
        In the joint frame; normalised. Not used by fixed, spherical and free joints.
    damping, stiffness : array (...) or (..., DoF)
        N m s/rad and N m/rad (N s/m, N/m). For joints with several DoF the last axis counts the DoF, unless
        a scalar is given. The stiffness acts on deviations from the equilibrium, unless `rest` is given.
    rest : array (...), rad or m, optional
        Position where the spring is slack (one-DoF joints): it then also loads the equilibrium.
    armature : array (...) or (..., DoF), kg m²
        Added to the diagonal of the joint-space inertia (gear² × rotor inertia).
    hub_inertia : array (...), kg m²
        J a aᵀ about the joint axis, carried by the child.
    pitch : array (...), m/rad
        Advance of a helical joint.
    actuated : bool, optional
        False: nothing supplies a torque at the equilibrium. Default: False for free joints only.

    Examples
    --------
    >>> Joint("J", "revolute", "ground", "arm", axis=(0, 0, 2)).axis
    array([0., 0., 1.])
    """

    name: str
    kind: str
    parent: str
    child: str
    rotation: Array = field(default_factory=lambda: np.eye(3))
    position: Array = field(default_factory=lambda: np.zeros(3))
    axis: Array = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]))
    damping: Array = field(default_factory=lambda: np.array(0.0))
    stiffness: Array = field(default_factory=lambda: np.array(0.0))
    rest: Array | None = None
    armature: Array = field(default_factory=lambda: np.array(0.0))
    hub_inertia: Array = field(default_factory=lambda: np.array(0.0))
    pitch: Array = field(default_factory=lambda: np.array(0.0))
    actuated: bool | None = None
    subspace: Array = field(init=False, repr=False)
    """Motion subspace S (..., 6, DoF), child's axes."""
    passive: bool = field(init=False, repr=False)
    """True where a spring or damper acts."""

    def __post_init__(self) -> None:
        label = f"joint {self.name!r}"
        if self.kind not in DOFS:
            raise ModelError(f"kind of {label}: expected one of {', '.join(DOFS)}, got {self.kind!r}.")
        freeze(
            self, label, {"rotation": (3, 3), "position": (3,), "axis": (3,), "hub_inertia": (), "pitch": ()}
        )
        _check_rotation(label, self.rotation)
        for name in ("damping", "stiffness", "armature"):
            object.__setattr__(self, name, self._per_dof(f"{name} of {label}", getattr(self, name)))
        if self.rest is not None:
            if self.dof != 1:
                raise ModelError(
                    f"rest of {label}: expected a joint with one DoF, got {self.kind!r}. Leave it out."
                )
            object.__setattr__(self, "rest", self._per_dof(f"rest of {label}", self.rest))
        if self.actuated is None:
            object.__setattr__(self, "actuated", self.kind != "free")
        object.__setattr__(self, "passive", bool(self.dof and (self.damping.any() or self.stiffness.any())))
        self._normalise_axis(label)
        object.__setattr__(self, "subspace", motion_subspace(self.kind, self.axis, self.pitch))

    @property
    def dof(self) -> int:
        """Degrees of freedom."""
        return DOFS[self.kind]

    def _per_dof(self, owner: str, value: ArrayLike) -> Array:
        if np.ndim(value) == 0 or self.dof <= 1:
            return frozen_array(owner, value)[..., None]
        return frozen_array(owner, value, (self.dof,))

    def _normalise_axis(self, label: str) -> None:
        length = np.sqrt((self.axis * self.axis).sum(axis=-1))
        if (length.real < 1e-9).any():
            if self.kind in NEEDS_AXIS:
                raise ModelError(
                    f"axis of {label}: expected a non-zero vector, got length {length.real.min():.3g}."
                )
            return
        object.__setattr__(self, "axis", self.axis / length[..., None])


@dataclass(frozen=True, eq=False)
class Load:
    """Constant wrench at a point of a body.

    Parameters
    ----------
    name, body : str
    point : array (..., 3), m
        In body axes.
    rotation : array (..., 3, 3)
        Orientation R of the port in the body, v_body = R v_port.
    force, torque : array (..., 3), N and N m
    kind : str
        "dead": components constant in reference axes; "follower": constant in the port's axes.

    Examples
    --------
    >>> Load("thrust", "hull", force=(1, 0, 0), kind="follower").kind
    'follower'
    """

    name: str
    body: str
    point: Array = field(default_factory=lambda: np.zeros(3))
    rotation: Array = field(default_factory=lambda: np.eye(3))
    force: Array = field(default_factory=lambda: np.zeros(3))
    torque: Array = field(default_factory=lambda: np.zeros(3))
    kind: str = "dead"

    def __post_init__(self) -> None:
        label = f"load {self.name!r}"
        freeze(self, label, {"point": (3,), "rotation": (3, 3), "force": (3,), "torque": (3,)})
        _check_rotation(label, self.rotation)
        if self.kind not in ("dead", "follower"):
            raise ModelError(f"kind of {label}: expected 'dead' or 'follower', got {self.kind!r}.")
