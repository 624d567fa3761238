"""The class Mechanism: a frozen tree of bodies and joints with methods that delegate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import sympy as sp

from lftgen.arguments import items, number, truth
from lftgen.errors import ModelError
from lftgen.lft.data import declare
from lftgen.lft.model import LFT
from lftgen.lft.structure import real_block
from lftgen.lft.threads import single_threaded
from lftgen.mechanics.articulated import Articulated, articulated
from lftgen.mechanics.assembly import Assembler, Request
from lftgen.mechanics.balance import balanced, check_balance, solution_trim
from lftgen.mechanics.body import RigidBody
from lftgen.mechanics.channels import Channel, input_channels, output_channels, resolve
from lftgen.mechanics.commuting.search import Progress
from lftgen.mechanics.joints import Joint
from lftgen.mechanics.linearization import all_blocks
from lftgen.mechanics.loads import Load, SpringDamper
from lftgen.mechanics.names import check_name
from lftgen.mechanics.quantities import parameters_of, vector
from lftgen.mechanics.relations import Block
from lftgen.mechanics.signals import rotor_input
from lftgen.mechanics.solve import solved_mechanism
from lftgen.mechanics.substitution import Change, changed_body, changed_element
from lftgen.mechanics.tree import Tree, build_tree
from lftgen.mechanics.trim import Trim, solve_trim
from lftgen.mechanics.unknowns import UnknownSymbol
from lftgen.parameters import Parameter, check_same_names


class Mechanism:
    """Rigid bodies joined in a tree that stands on the ground, or floats on free joints.

    Parameters
    ----------
    name : str
    bodies : sequence of RigidBody
    joints : sequence of joints
        In any order; their order is the order of the states.  One at least has parent ``"ground"``.
    gravity : 3 quantities
        In reference axes, m/s2.
    acceleration : 3 quantities
        Uniform acceleration of the reference frame, reference axes, m/s2.
    loads : sequence of DeadLoad, FollowerLoad, SpringDamper
        On ports of the bodies.

    Raises
    ------
    ModelError, ParameterError
        Whatever is wrong with topology, names or parameters, by name.

    Examples
    --------
    >>> import lftgen as lg
    >>> m = lg.uncertain("m", 3.0, percent=20, unit="kg")
    >>> bob = lg.RigidBody("bob", mass=m, com=(0, 0, -2))
    >>> hinge = lg.RevoluteJoint("hinge", parent="ground", child="bob", axis=(1, 0, 0))
    >>> pendulum = lg.Mechanism("pendulum", bodies=[bob], joints=[hinge])
    >>> plant = pendulum.linearize()
    >>> plant.states, plant.inputs, plant.outputs, plant.repetitions
    (('hinge_angle', 'hinge_rate'), ('hinge_torque',), ('hinge_angle',), {'m': 1})
    """

    name: str
    bodies: tuple[RigidBody, ...]
    joints: tuple[Joint, ...]
    gravity: sp.ImmutableMatrix
    acceleration: sp.ImmutableMatrix

    def __init__(
        self,
        name: str,
        *,
        bodies: Sequence[RigidBody],
        joints: Sequence[Joint],
        gravity: Any = (0, 0, -9.81),
        acceleration: Any = (0, 0, 0),
        loads: Sequence[Load | SpringDamper] = (),
    ) -> None:
        check_name(name, "mechanism")
        bodies = items(bodies, f"mechanism {name}: bodies", RigidBody)
        joints = items(joints, f"mechanism {name}: joints", Joint)
        loads = items(loads, f"mechanism {name}: loads")
        _check_loads(loads)
        if not bodies:
            raise ModelError(f"mechanism {name}: bodies is empty; a mechanism needs at least one RigidBody")
        values = {
            "name": name,
            "bodies": tuple(bodies),
            "joints": tuple(joints),
            "gravity": vector(gravity, f"mechanism {name}: gravity"),
            "acceleration": vector(acceleration, f"mechanism {name}: acceleration"),
            "loads": tuple(loads),
            "tree": build_tree(tuple(bodies), tuple(joints), tuple(loads)),
        }
        self.__dict__.update(values)
        self.__dict__["parameters"] = self._find_parameters()
        self.__dict__["_trims"] = {}
        self.__dict__["_solved"] = {}

    tree: Tree
    parameters: tuple[Parameter, ...]
    loads: tuple[Load | SpringDamper, ...]
    _trims: dict[bool, Trim]
    _solved: dict[tuple[tuple[str, ...], bool], Trim]

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a Mechanism is immutable; make a new one")

    def __getstate__(self) -> dict[str, Any]:
        """Everything but what is computed on demand."""
        return {k: v for k, v in self.__dict__.items() if k not in _ON_DEMAND} | {"_trims": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def __repr__(self) -> str:
        lines = [
            f"Mechanism {self.name}: {len(self.bodies)} bodies, {sum(j.dof for j in self.joints)} degrees of freedom"
        ]
        lines += [f"  {j.kind:9} {j.name}: {j.parent} -> {j.child}" for j in self.joints]
        lines += [f"  {load!r}" for load in self.loads]
        lines += [f"  {p.describe()}" for p in self.parameters]
        return "\n".join(lines)

    @property
    def symbols(self) -> tuple[sp.Symbol, ...]:
        """Free symbols: constants not chosen yet.  With any, all models have exact entries."""
        found = {s for e in self._expressions for s in e.free_symbols}
        return tuple(sorted((s for s in found if not isinstance(s, (Parameter, UnknownSymbol))), key=str))

    @property
    def unknowns(self) -> tuple[sp.Symbol, ...]:
        """Loads and accelerations that the equilibrium decides (in the mechanism of a trim that solved for them)."""
        found = {s for e in self._expressions for s in e.free_symbols if isinstance(s, UnknownSymbol)}
        return tuple(sorted(found, key=str))

    @property
    def _expressions(self) -> list[Any]:
        parts = [e for b in self.bodies for e in b.expressions] + [
            e for j in self.joints for e in j.expressions
        ]
        return [
            *parts,
            self.gravity,
            self.acceleration,
            *(e for load in self.loads for e in load.expressions),
        ]

    def _find_parameters(self) -> tuple[Parameter, ...]:
        """In order of appearance: bodies, joints, gravity, loads."""
        found = [p for b in self.bodies for p in b.parameters] + [
            p for j in self.joints for p in j.parameters
        ]
        found += parameters_of([self.gravity, self.acceleration])
        distinct = check_same_names([*found, *(p for load in self.loads for p in load.parameters)])
        clash = {p.name for p in distinct} & {s.name for s in self.symbols}
        if clash:
            raise ModelError(
                f"mechanism {self.name}: {', '.join(sorted(clash))} is a parameter and a plain symbol; use the parameter everywhere"
            )
        return distinct

    # --- equilibrium ---------------------------------------------------------------------------------------------

    @single_threaded
    def trim(self, *, solve: Sequence[str] = (), exact: bool = False) -> Trim:
        """The equilibrium: wrenches, holding torques, positions, rotations, accelerations as LFTs.

        Parameters
        ----------
        solve : sequence of str
            What is unknown beside the forces of actuated joints: components of a load (``"L_force_z"``, or ``"L_force"``
            for three), the acceleration of the reference frame (``"acceleration_x"``), a mass or a length (the name of
            its parameter or symbol), a spring's rest position (``"J_rest_angle"``), the force of a joint without actuator
            (``"J_torque"``).  The answer is rational in the remaining parameters; it takes its place in
            ``trim.mechanism``, and ``trim.solution`` holds its LFT.
        exact : bool
            Exact entries; implied by free symbols.

        Raises
        ------
        TrimError
            A joint without actuator whose force does not vanish for all parameter values (the message gives what is
            missing and the acceleration that it leaves), or unknowns that are too many, too few or do not enter.
        NotRationalError
            An unknown in which the equilibrium is not rational; the message names the equation.
        """
        if solve:
            return self._solved_trim(tuple([solve] if isinstance(solve, str) else solve), exact=exact)
        exact = exact or bool(self.symbols)
        if exact not in self._trims:
            base = self.acceleration - self.gravity
            trim = solve_trim(
                self.tree, base, self.parameters, exact=exact, mechanism=self, unknowns=self.unknowns
            )
            check_balance(self, trim)
            self._trims[exact] = balanced(self, trim)
        return self._trims[exact]

    def _solved_trim(self, names: tuple[str, ...], *, exact: bool) -> Trim:
        if (names, exact) not in self._solved:
            mechanism, values = solved_mechanism(self, names)
            self._solved[names, exact] = solution_trim(mechanism, values, mechanism.trim(exact=exact))
        return self._solved[names, exact]

    def changed(
        self,
        change: Change,
        *,
        joints: Callable[[Joint], dict[str, Any]] = lambda joint: {},
        loads: Callable[[Any], dict[str, Any]] = lambda load: {},
        acceleration: Any = None,
    ) -> Mechanism:
        """The mechanism with all quantities changed by a function, and some attributes of joints and loads set."""
        return Mechanism(
            self.name,
            bodies=[changed_body(b, change) for b in self.bodies],
            joints=[changed_element(j, change, **joints(j)) for j in self.joints],
            gravity=change(self.gravity),
            acceleration=change(self.acceleration) if acceleration is None else acceleration,
            loads=[changed_element(load, change, **loads(load)) for load in self.loads],
        )

    # --- linear model --------------------------------------------------------------------------------------------

    @cached_property
    def input_channels(self) -> Mapping[str, Channel]:
        """All inputs that :meth:`linearize` offers, by name."""
        return input_channels(self.tree)

    @cached_property
    def output_channels(self) -> Mapping[str, Channel]:
        """All outputs that :meth:`linearize` offers, by name."""
        return output_channels(self.tree)

    @single_threaded
    def linearize(
        self,
        trim: Trim | None = None,
        *,
        inputs: Sequence[str] | None = None,
        outputs: Sequence[str] | None = None,
        exact: bool = False,
        reduce: bool = True,
        method: str = "auto",
        search: float = 0.0,
        progress: Progress | None = None,
    ) -> LFT:
        """The linear model around the equilibrium, one LFT in all parameters.

        Parameters
        ----------
        trim : Trim, optional
            From :meth:`trim` of this mechanism (computed where left out).
        inputs, outputs : sequence of str, optional
            Signal names, or group names for vectors; by default the forces of all actuated joints and all joint
            coordinates.  What is no input keeps its equilibrium value.
        exact : bool
            Exact entries (rational numbers); implied by free symbols.
        reduce : bool
            Reduce while assembling.  False keeps every block as built.
        method : {"auto", "recursive", "spatial", "planar"}
            In which order commuting factors are written, which decides the repetitions: the recursion over blocks, the
            gravity stiffness in one pass from the base, or absolute angles of a planar mechanism; the smallest of those
            that apply by default.
        search : float
            Seconds to go on looking for fewer repetitions: other orders of the factors, other halves of the stiffness.  It
            ends earlier where all parameters are at their bounds.
        progress : callable, optional
            Called with (fewest repetitions so far, seconds) during that search.

        Returns
        -------
        LFT
            States: all joint coordinates, then all rates.

        Raises
        ------
        ModelError
            Unknown signal names, or a trim of another mechanism.
        TrimError
            No equilibrium.
        IllPosedError
            A mass matrix that is singular somewhere in the box.
        """
        truth(exact, "linearize: exact")
        truth(reduce, "linearize: reduce")
        search = number(search, "linearize: search (seconds)", minimum=0)
        if trim is not None and not isinstance(trim, Trim):
            raise ModelError(
                f"linearize: trim must be what trim() returns, got {trim!r:.60}; inputs and outputs are given by keyword"
            )
        if trim is not None and trim.mechanism is not self:
            return self._from_solved(trim).linearize(
                trim, inputs=inputs, outputs=outputs, exact=exact, reduce=reduce, method=method,
                search=search, progress=progress,
            )  # fmt: skip
        exact = exact or bool(self.symbols)
        if trim is None or (exact and not trim.exact):
            trim = self.trim(exact=exact)
        request = Request(
            tuple(
                resolve(self._default_inputs() if inputs is None else inputs, self.input_channels, "input")
            ),
            tuple(
                resolve(
                    self._default_outputs() if outputs is None else outputs, self.output_channels, "output"
                )
            ),
        )
        model = Assembler(self.tree, trim, request, exact=exact, reduce=reduce).linear_model(
            method if reduce else "recursive", search=search if reduce else 0.0, progress=progress
        )
        return LFT(declare(model, [real_block(p, 0) for p in self.parameters]))

    def _from_solved(self, trim: Trim) -> Mechanism:
        """The mechanism of a trim that was solved from this one."""
        solved = next((t.mechanism for t in self._solved.values() if t is trim), None)
        if isinstance(solved, Mechanism):
            return solved
        raise ModelError(
            f"the trim belongs to another mechanism ({trim.mechanism.name}), not to {self.name}; call {self.name}.trim()"
        )

    def _default_inputs(self) -> list[str]:
        driven = [n for j in self.joints if j.actuated for n in j.names(j.forces)]
        driven += [n for b in self.bodies for r in b.rotors for n in rotor_input(b.name, r.name).names]
        return driven or [n for j in self.joints if j.kind == "free" for n in j.names(j.forces)]

    def _default_outputs(self) -> list[str]:
        return [n for j in self.joints for n in j.names(j.positions)]

    def articulated(self, ports: Sequence[str], *, exact: bool = False) -> Articulated:
        """The mechanism as an articulated body held at some ports: inverse inertia, bias and invertible channels.

        The configuration need not be an equilibrium.

        Parameters
        ----------
        ports : sequence of str
            Handles, ``"B_P"``.

        Raises
        ------
        ModelError
            Unknown ports.
        IllPosedError
            A mass matrix that is singular at the nominal values.
        """
        exact = exact or bool(self.symbols)
        base = self.acceleration - self.gravity
        trim = solve_trim(self.tree, base, self.parameters, exact=exact, mechanism=self)
        return articulated(self, ports, trim)

    def blocks(self, trim: Trim | None = None) -> dict[str, Block]:
        """The linearised block of each body, joint and spring: ``.equations()`` in sympy and the ``.lft`` realised from them."""
        trim = self.trim() if trim is None else trim
        if trim.mechanism is not self:
            return self._from_solved(trim).blocks(trim)
        return all_blocks(self, trim)


_ON_DEMAND = ("_trims", "input_channels", "output_channels")


def _check_loads(loads: Sequence[Any]) -> None:
    for load in loads:
        if not isinstance(load, (Load, SpringDamper)):
            raise ModelError(f"loads must be DeadLoad, FollowerLoad or SpringDamper objects, got {load!r}")
