"""Rigid bodies: mass, centre of mass, inertia and ports, each a number or an expression."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import sympy as sp

from lftgen.arguments import items
from lftgen.errors import ModelError
from lftgen.lft.maps import normalized_map
from lftgen.lft.structure import real_block
from lftgen.mechanics.names import check_name
from lftgen.mechanics.quantities import (
    corner_points,
    inertia_matrix,
    numeric,
    parameters_of,
    rotation_rpy,
    scalar,
    vector,
)
from lftgen.mechanics.rotor import Rotor
from lftgen.mechanics.spatial import skew
from lftgen.parameters import Parameter

_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Port:
    """A point of a body with axes of its own: ``point`` in body axes, ``rotation`` with v_body = R v_port."""

    point: sp.ImmutableMatrix
    rotation: sp.ImmutableMatrix


class RigidBody:
    """A rigid body.

    Parameters
    ----------
    name : str
    mass : quantity
        kg; zero is allowed (a massless link, as long as a mass follows beyond the next moving joint).
    com : 3 quantities
        Centre of mass in the body's frame, m.
    inertia : 3 quantities or 3x3
        Principal moments, or the tensor (its entries, not products of inertia: ``Ixy = -integral x y dm``), kg m2.
    inertia_about : {"com", "origin"}
        Point that the inertia is about; axes are the body's, turned by ``inertia_rpy``.
    inertia_rpy : 3 angles
        Attitude of the inertia's axes in the body (URDF's inertial rpy), I_body = R I R^T.
    ports : mapping of name to point or (point, rpy)
        Named points where loads act and motion is read; ``origin`` and ``com`` always exist.
    rotors : sequence of Rotor
        Spinning rotors on board.

    A quantity is a number, a Parameter, a sympy expression rational in Parameters, or holds free symbols.

    Raises
    ------
    ModelError
        Negative mass, an inertia that no body has (not symmetric, negative, or against the triangle rule) at the
        nominal or at a corner of the parameters' box.

    Examples
    --------
    >>> import lftgen as lg
    >>> m = lg.uncertain("m", 3.0, percent=20, unit="kg")
    >>> lg.RigidBody("rod", mass=m, com=(0, 0, 1), inertia=(m / 3, m / 3, 0)).parameters
    (m,)
    """

    __slots__ = ("_key", "com", "inertia", "mass", "name", "ports", "rotors")

    def __init__(
        self,
        name: str,
        *,
        mass: Any,
        com: Any = (0, 0, 0),
        inertia: Any = (0, 0, 0),
        inertia_about: str = "com",
        inertia_rpy: Any = (0, 0, 0),
        ports: Mapping[str, Any] | None = None,
        rotors: Sequence[Rotor] = (),
    ) -> None:
        check_name(name, "body")
        m, c = scalar(mass, f"body {name}: mass"), vector(com, f"body {name}: com")
        tensor = inertia_matrix(inertia, f"body {name}: inertia")
        turn = rotation_rpy(inertia_rpy, f"body {name}: inertia_rpy")
        if turn != sp.eye(3):
            tensor = sp.ImmutableMatrix(turn * tensor * turn.T)
        if inertia_about == "origin":
            tensor = sp.ImmutableMatrix(tensor + m * skew(c) * skew(c))  # parallel axes
        elif inertia_about != "com":
            raise ModelError(f'body {name}: inertia_about must be "com" or "origin", got {inertia_about!r}')
        checked = {
            "origin": Port(vector((0, 0, 0), ""), sp.ImmutableMatrix(sp.eye(3))),
            "com": Port(c, sp.ImmutableMatrix(sp.eye(3))),
        }
        if ports is not None and not isinstance(ports, Mapping):
            raise ModelError(f'body {name}: ports must be given as {{"tip": (1, 0, 0)}}, got {ports!r}')
        for port, where in (ports or {}).items():
            if port in checked:
                raise ModelError(f"body {name}: port {port!r} always exists and cannot be defined")
            checked[port] = _port(where, name, port)
        carried = _checked_rotors(rotors, name, checked)
        values = {
            "name": name,
            "mass": m,
            "com": c,
            "inertia": tensor,
            "ports": MappingProxyType(checked),
            "rotors": carried,
        }
        for key, value in values.items():
            object.__setattr__(self, key, value)
        object.__setattr__(
            self,
            "_key",
            (name, m, c, tensor, tuple((k, p.point, p.rotation) for k, p in checked.items()), carried),
        )
        _check_mass(self)
        _check_inertia(self)

    name: str
    mass: sp.Expr
    com: sp.ImmutableMatrix
    inertia: sp.ImmutableMatrix
    ports: Mapping[str, Port]
    rotors: tuple[Rotor, ...]
    _key: tuple[Any, ...]

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a RigidBody is immutable; make a new one")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RigidBody) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        return f"RigidBody({self.name!r}, mass={self.mass}, com={tuple(self.com)})"

    def __reduce__(self) -> Any:
        return restored, (self.name, self.mass, self.com, self.inertia, tuple(self._key[4]), self.rotors)

    @property
    def expressions(self) -> tuple[sp.Basic, ...]:
        """Everything that may hold parameters."""
        return (
            self.mass,
            self.com,
            self.inertia,
            *(e for p in self.ports.values() for e in (p.point, p.rotation)),
            *(r.momentum for r in self.rotors),
        )

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Parameters that occur, by name."""
        return tuple(parameters_of(self.expressions))

    @property
    def momentum(self) -> sp.ImmutableMatrix:
        """Angular momentum of the rotors in body axes, N m s."""
        return sp.ImmutableMatrix(sum((r.vector for r in self.rotors), sp.zeros(3, 1)))

    @property
    def is_massless(self) -> bool:
        """Whether mass and inertia are zero."""
        return self.mass == 0 and self.inertia == sp.zeros(3)


def restored(name: str, mass: Any, com: Any, inertia: Any, ports: Any, rotors: Any) -> RigidBody:
    """A body from what :class:`RigidBody` holds: ports as (name, point, rotation)."""
    body = RigidBody(name, mass=mass, com=com, inertia=inertia, rotors=rotors)
    checked = {k: Port(p, r) for k, p, r in ports}
    object.__setattr__(body, "ports", MappingProxyType(checked))
    object.__setattr__(body, "_key", (*body._key[:4], tuple(ports), body.rotors))
    return body


def _port(where: Any, body: str, port: str) -> Port:
    check_name(port, f"port of body {body}")
    what = f"body {body}: port {port}"
    items = list(where) if isinstance(where, (list, tuple, np.ndarray, sp.MatrixBase)) else [where]
    if len(items) == 2:
        return Port(vector(items[0], f"{what} point"), rotation_rpy(items[1], f"{what} rpy"))
    return Port(vector(where, what), sp.ImmutableMatrix(sp.eye(3)))


def _checked_rotors(rotors: Sequence[Rotor], body: str, ports: Mapping[str, Port]) -> tuple[Rotor, ...]:
    rotors = items(rotors, f"body {body}: rotors", Rotor)
    for rotor in rotors:
        if rotor.name in ports or [r.name for r in rotors].count(rotor.name) > 1:
            raise ModelError(
                f"body {body}: the name {rotor.name} occurs twice among its ports and rotors; rename one"
            )
    return rotors


def _check_mass(body: RigidBody) -> None:
    corners = [(point, numeric(body.mass, point)) for point in corner_points(parameters_of([body.mass]))]
    largest = max((abs(v) for _, v in corners if v is not None), default=0.0)
    for point, value in corners:
        if value is not None and value < -_TOLERANCE * largest * bool(point):  # sums of parameters round
            raise ModelError(
                f"body {body.name}: the mass must not be negative, got {value:.6g} kg{_where(body.mass, point)}"
            )


def _where(expression: sp.Expr, point: dict[Parameter, float]) -> str:
    if not point:
        return ""
    text = " at " + ", ".join(f"{p.name} = {v:.6g}" for p, v in point.items())
    if isinstance(expression, Parameter):
        d = float(normalized_map(real_block(expression, 0), recenter=True).delta(0.0))
        text += f"; {expression.name} ranges over {expression.range_text()} and vanishes at {expression.name} = 0 (delta = {d:.4f})"
    return text


def _check_inertia(body: RigidBody) -> None:
    for point in corner_points(parameters_of([body.inertia])):
        tensor = numeric(body.inertia, point)
        if tensor is None:
            return
        moments = np.linalg.eigvalsh((tensor + tensor.T) / 2)
        slack = _TOLERANCE * max(abs(moments).max(), 1e-300)
        where = " at " + ", ".join(f"{p.name} = {v:.6g}" for p, v in point.items()) if point else ""
        if moments[0] < -slack:
            raise ModelError(
                f"body {body.name}: the inertia about the centre of mass has a negative principal moment, {moments}{where}"
            )
        if moments[2] > moments[0] + moments[1] + slack:
            raise ModelError(
                f"body {body.name}: principal moments {np.round(moments, 9)} break the triangle rule (the largest may not exceed the "
                f"sum of the other two){where}; is the inertia about the centre of mass, and in kg m2?"
            )
