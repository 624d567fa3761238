"""Loads on ports: constant in reference axes, constant in the port's axes, springs and dampers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import sympy as sp

from lftgen.errors import ModelError
from lftgen.mechanics.body import RigidBody
from lftgen.mechanics.frozen import Frozen
from lftgen.mechanics.names import GROUND, check_name, unknown
from lftgen.mechanics.quantities import not_negative, parameters_of, scalar, vector
from lftgen.parameters import Parameter


class Load(Frozen):
    """A wrench on a port, named ``"B_P"``: port P of body B."""

    kind: ClassVar[str]
    name: str
    port: str
    force: sp.ImmutableMatrix
    torque: sp.ImmutableMatrix

    def __init__(self, name: str, *, port: str, force: Any = (0, 0, 0), torque: Any = (0, 0, 0)) -> None:
        check_name(name, "load")
        self._freeze(
            name=name,
            port=_port_name(port, name),
            force=vector(force, f"load {name}: force"),
            torque=vector(torque, f"load {name}: torque"),
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, port={self.port!r}, force={tuple(self.force)}, torque={tuple(self.torque)})"

    @property
    def wrench(self) -> sp.ImmutableMatrix:
        """[torque; force] in the load's own axes, 6 x 1."""
        return sp.ImmutableMatrix(sp.Matrix.vstack(self.torque, self.force))

    @property
    def expressions(self) -> tuple[sp.Basic, ...]:
        """Everything that may hold parameters."""
        return self.force, self.torque

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Parameters that occur, by name."""
        return tuple(parameters_of(self.expressions))


class DeadLoad(Load):
    """A force and torque constant in reference axes: buoyancy, the weight of a payload, a side force.

    Parameters
    ----------
    name : str
    port : str
        ``"B_P"``: port P of body B.
    force, torque : 3 quantities
        In reference axes, N and N m.

    As the port turns by ``dphi`` the load changes by ``-[dphi x torque; dphi x force]`` in the port's axes; a dead couple
    therefore makes an unsymmetric stiffness.  Signals: inputs ``L_force_x..z``, ``L_torque_x..z``, changes of the load;
    outputs ``L_applied_force_x..z``, ``L_applied_torque_x..z``, what that changes at the port, in its axes.

    Examples
    --------
    >>> import lftgen as lg
    >>> lg.DeadLoad("buoyancy", port="envelope_com", force=(0, 0, 900)).kind
    'dead'
    """

    kind = "dead"


class FollowerLoad(Load):
    """A force and torque constant in the axes of the port: thrust, a jet, a propeller.

    Parameters
    ----------
    name : str
    port : str
        ``"B_P"``: port P of body B.
    force, torque : 3 quantities
        In the port's axes, N and N m.

    Signals: inputs ``L_force_x..z``, ``L_torque_x..z``, changes of the load; outputs ``L_applied_force_x..z``,
    ``L_applied_torque_x..z``, the same at the port.

    Examples
    --------
    >>> import lftgen as lg
    >>> thrust = lg.uncertain("T", 1e5, percent=5, unit="N")
    >>> lg.FollowerLoad("engine", port="stage_nozzle", force=(0, 0, thrust)).parameters
    (T,)
    """

    kind = "follower"


class SpringDamper(Frozen):
    """A spring and damper between two ports, or between a port and a point of the ground.

    With r from the port to the other end the pull on the port is ``(force_density) r`` at the equilibrium, and changes
    with the length: ``d(pull) = (force_density I + (stiffness - force_density) u u^T) dr + damping u u^T dr'``,
    ``u u^T = r r^T / (r.r)``, which is rational in everything.

    Parameters
    ----------
    name : str
    port : str
        ``"B_P"``: port P of body B.
    other : str
        Another port, or ``"ground"``.
    anchor : 3 quantities
        The point of the ground, reference axes, m (only with ``other="ground"``).
    stiffness, damping : quantity
        Along the line between the ends, N/m and N s/m.
    force_density : quantity
        Tension at the equilibrium by length, N/m (negative: a strut under compression); 0 where the spring is slack.
        With a rest length L0 and a length L it is ``stiffness (1 - L0 / L)``.

    Signals: outputs ``S_pull_x..z``, the change of the pull on the port in reference axes.

    Examples
    --------
    >>> import lftgen as lg
    >>> lg.SpringDamper("cable", port="mast_top", anchor=(3, 0, 0), stiffness=2e4, force_density=100).kind
    'spring'
    """

    kind: ClassVar[str] = "spring"
    name: str
    port: str
    other: str
    anchor: sp.ImmutableMatrix
    stiffness: sp.Expr
    damping: sp.Expr
    force_density: sp.Expr

    def __init__(
        self,
        name: str,
        *,
        port: str,
        other: str = GROUND,
        anchor: Any = (0, 0, 0),
        stiffness: Any = 0.0,
        damping: Any = 0.0,
        force_density: Any = 0.0,
    ) -> None:
        check_name(name, "load")
        what = f"spring {name}"
        at = vector(anchor, f"{what}: anchor")
        if other != GROUND and at != sp.zeros(3, 1):
            raise ModelError(
                f"{what}: an anchor is a point of the ground, but the other end is {other}; leave one out"
            )
        if port == other:
            raise ModelError(f"{what}: both ends are {port}; a spring connects two ports")
        self._freeze(
            name=name,
            port=_port_name(port, name),
            other=_port_name(other, name),
            anchor=at,
            stiffness=scalar(stiffness, f"{what}: stiffness"),
            damping=not_negative(damping, f"{what}: damping"),
            force_density=scalar(force_density, f"{what}: force_density"),
        )

    def __repr__(self) -> str:
        return f"SpringDamper({self.name!r}, port={self.port!r}, other={self.other!r}, stiffness={self.stiffness})"

    @property
    def expressions(self) -> tuple[sp.Basic, ...]:
        """Everything that may hold parameters."""
        return self.anchor, self.stiffness, self.damping, self.force_density

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Parameters that occur, by name."""
        return tuple(parameters_of(self.expressions))


def _port_name(port: Any, load: str) -> str:
    if not isinstance(port, str):
        raise ModelError(f'load {load}: port must be a name such as "B1_tip", got {port!r}')
    return port


def find_port(name: str, bodies: Mapping[str, RigidBody], what: str) -> tuple[str, str]:
    """Body and port that a name ``"B_P"`` stands for.

    Raises
    ------
    ModelError
        Unknown (close names are listed), or the name of two ports.
    """
    known: dict[str, list[tuple[str, str]]] = {}
    for body in bodies.values():
        for port in body.ports:
            known.setdefault(f"{body.name}_{port}", []).append((body.name, port))
    if name not in known:
        raise unknown(name, known, f"port (of {what})")
    if len(known[name]) > 1:
        raise ModelError(
            f"{what}: {name} is a port of {' and of '.join(b for b, _ in known[name])}; rename one"
        )
    return known[name][0]


@dataclass(frozen=True)
class Action:
    """What one end of a load does to a body: a load has one, a spring one at each port."""

    load: Load | SpringDamper
    body: str
    port: str
    sign: int = 1

    @property
    def key(self) -> str:
        """The load's name; for the far end of a spring with ``_other`` added."""
        return self.load.name if self.sign > 0 else f"{self.load.name}_other"

    @property
    def turns(self) -> bool:
        """Whether the load turns with its port; otherwise it keeps its components in reference axes."""
        return self.load.kind == "follower"


def actions_of(loads: Sequence[Any], bodies: Mapping[str, RigidBody]) -> tuple[Action, ...]:
    """All actions, in the order of the loads."""
    out = []
    for load in loads:
        out.append(Action(load, *find_port(load.port, bodies, f"load {load.name}")))
        if isinstance(load, SpringDamper) and load.other != GROUND:
            out.append(Action(load, *find_port(load.other, bodies, f"spring {load.name}"), -1))
    return tuple(out)


def check_loads(loads: Sequence[Any], bodies: Mapping[str, RigidBody], taken: Sequence[str]) -> None:
    """Names unique and not those of bodies or joints, ports known."""
    names = [load.name for load in loads]
    for name in names:
        if names.count(name) > 1 or name in taken:
            raise ModelError(f"load {name}: the name occurs twice among loads, bodies and joints; rename one")
    for load in loads:
        find_port(load.port, bodies, f"load {load.name}")
        if isinstance(load, SpringDamper) and load.other != GROUND:
            find_port(load.other, bodies, f"spring {load.name}")
