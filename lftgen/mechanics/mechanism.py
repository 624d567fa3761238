"""The class Mechanism: a frozen tree of bodies and joints with methods that delegate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

from lftgen.errors import ModelError, TrimError
from lftgen.lft.data import declare
from lftgen.lft.evaluation import evaluate_ports
from lftgen.lft.model import LFT
from lftgen.lft.structure import real_block
from lftgen.mechanics.assembly import Assembler, Request
from lftgen.mechanics.body import RigidBody
from lftgen.mechanics.channels import Channel, input_channels, output_channels, resolve
from lftgen.mechanics.joints import Joint
from lftgen.mechanics.linearization import JointSignals, body_block, joint_block
from lftgen.mechanics.names import check_name
from lftgen.mechanics.quantities import parameters_of, vector
from lftgen.mechanics.relations import Block
from lftgen.mechanics.tree import Tree, build_tree
from lftgen.mechanics.trim import Trim, solve_trim
from lftgen.parameters import Parameter, check_same_names

TRIM_TOLERANCE = 1e-9
"""An unactuated joint is in equilibrium where its torque is below this, relative to the wrench through it."""


class Mechanism:
    """Rigid bodies joined in a tree that stands on the ground.

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
    ) -> None:
        check_name(name, "mechanism")
        _check_types(bodies, RigidBody, "bodies")
        _check_types(joints, Joint, "joints")
        values = {
            "name": name,
            "bodies": tuple(bodies),
            "joints": tuple(joints),
            "gravity": vector(gravity, f"mechanism {name}: gravity"),
            "acceleration": vector(acceleration, f"mechanism {name}: acceleration"),
            "tree": build_tree(tuple(bodies), tuple(joints)),
        }
        self.__dict__.update(values)
        self.__dict__["parameters"] = self._find_parameters()
        self.__dict__["_trims"] = {}

    tree: Tree
    parameters: tuple[Parameter, ...]
    _trims: dict[bool, Trim]

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a Mechanism is immutable; make a new one")

    def __repr__(self) -> str:
        lines = [
            f"Mechanism {self.name}: {len(self.bodies)} bodies, {sum(j.dof for j in self.joints)} degrees of freedom"
        ]
        lines += [f"  {j.kind:9} {j.name}: {j.parent} -> {j.child}" for j in self.joints]
        lines += [f"  {p.describe()}" for p in self.parameters]
        return "\n".join(lines)

    @property
    def symbols(self) -> tuple[sp.Symbol, ...]:
        """Free symbols: constants not chosen yet.  With any, all models have exact entries."""
        found = {s for e in self._expressions for s in e.free_symbols if not isinstance(s, Parameter)}
        return tuple(sorted(found, key=str))

    @property
    def _expressions(self) -> list[Any]:
        parts = [e for b in self.bodies for e in b.expressions] + [
            e for j in self.joints for e in j.expressions
        ]
        return [*parts, self.gravity, self.acceleration]

    def _find_parameters(self) -> tuple[Parameter, ...]:
        """In order of appearance: bodies, joints, gravity."""
        found = [p for b in self.bodies for p in b.parameters] + [p for j in self.joints for p in j.parameters]
        distinct = check_same_names([*found, *parameters_of([self.gravity, self.acceleration])])
        clash = {p.name for p in distinct} & {s.name for s in self.symbols}
        if clash:
            raise ModelError(
                f"mechanism {self.name}: {', '.join(sorted(clash))} is a parameter and a plain symbol; use the parameter everywhere"
            )
        return distinct

    # --- equilibrium ---------------------------------------------------------------------------------------------

    def trim(self, *, exact: bool = False) -> Trim:
        """The equilibrium: wrenches, holding torques, positions, rotations, accelerations as LFTs.

        Raises
        ------
        TrimError
            A joint without actuator whose torque does not vanish for all parameter values; the message gives the
            missing torque and the acceleration that it leaves, at the nominal.
        """
        exact = exact or bool(self.symbols)
        if exact not in self._trims:
            trim = solve_trim(
                self.tree, self.acceleration - self.gravity, self.parameters, exact=exact, mechanism=self
            )
            self._check_balance(trim)
            self._trims[exact] = trim
        return self._trims[exact]

    def _check_balance(self, trim: Trim) -> None:
        for joint in self.joints:
            if joint.dof and not joint.actuated:
                torque, wrench = trim.torque[joint.name].data, trim.wrench[joint.name].data
                constant = np.abs(np.array(torque.split()[3].tolist(), dtype=object))
                if torque.field.exact:
                    vanishes = not torque.structure.n_rows and not np.any(torque.split()[3] != 0)
                else:
                    scale = max(1.0, float(np.max(np.abs(wrench.split()[3]))))
                    vanishes = (
                        not torque.structure.n_rows and float(np.max(constant)) <= TRIM_TOLERANCE * scale
                    )
                if not vanishes:
                    raise self._unbalanced(joint, trim)

    def _unbalanced(self, joint: Joint, trim: Trim) -> TrimError:
        advice = "give it an actuator (actuated=True), or choose an equilibrium where it vanishes for all parameter values"
        if trim.torque[joint.name].symbols:
            return TrimError(
                f"joint {joint.name} has no actuator, but holding it takes {trim.torque[joint.name].to_sympy()[0]} {joint.force_unit}; {advice}"
            )
        missing = {
            j.name: evaluate_ports(trim.torque[j.name].data, {})[0][:, 0] for j in self.joints if j.dof
        }
        inverse = Assembler(self.tree, trim, Request((), ()), exact=trim.exact).inverse_dynamics()
        signals = [JointSignals(j) for j in self.joints]
        drives = [n for s in signals for n in s.drive.names]
        H = evaluate_ports(inverse, {})[0]
        rows = [inverse.outputs.index(n) for n in drives]
        columns = [inverse.inputs.index(n) for s in signals for n in s.acceleration.names]
        lost = np.concatenate([-missing[j.name] * (not j.actuated) for j in self.joints if j.dof])
        left = dict(
            zip(
                [n for s in signals for n in s.acceleration.names],
                np.linalg.solve(H[np.ix_(rows, columns)], lost),
                strict=True,
            )
        )
        accelerations = ", ".join(f"{k} = {v:.6g}" for k, v in left.items() if k.startswith(f"{joint.name}_"))
        nominal = " at the nominal values" if self.parameters else ""
        values = ", ".join(f"{v:.6g}" for v in missing[joint.name])
        return TrimError(
            f"joint {joint.name} has no actuator and is not in equilibrium: holding it takes {values} {joint.force_unit}{nominal}; "
            f"left alone it accelerates with {accelerations}. {advice[0].upper()}{advice[1:]}"
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

    def linearize(
        self,
        trim: Trim | None = None,
        *,
        inputs: Sequence[str] | None = None,
        outputs: Sequence[str] | None = None,
        exact: bool = False,
        reduce: bool = True,
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
        exact = exact or bool(self.symbols)
        if trim is None:
            trim = self.trim(exact=exact)
        elif trim.mechanism is not self:
            raise ModelError(
                f"the trim belongs to another mechanism ({getattr(trim.mechanism, 'name', '?')}), not to {self.name}; call {self.name}.trim()"
            )
        elif exact and not trim.exact:
            trim = self.trim(exact=True)
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
        model = Assembler(self.tree, trim, request, exact=exact, reduce=reduce).linear_model()
        return LFT(declare(model, [real_block(p, 0) for p in self.parameters]))

    def _default_inputs(self) -> list[str]:
        return [n for j in self.joints if j.actuated for n in j.names(j.forces)]

    def _default_outputs(self) -> list[str]:
        return [n for j in self.joints for n in j.names(j.positions)]

    def blocks(self, trim: Trim | None = None) -> dict[str, Block]:
        """The linearised block of each body and joint: ``.equations()`` in sympy and the ``.lft`` realised from them."""
        trim = self.trim() if trim is None else trim
        out: dict[str, Block] = {}
        for body in self.bodies:
            loads = [(p, k) for p in body.ports for k in ("force", "torque")]
            joint = self.tree.joint_to(body.name)
            out[body.name] = body_block(body, joint, self.tree.joints_on(body.name), loads, exact=trim.exact)
        for joint in self.joints:
            out[joint.name] = joint_block(joint, trim, exact=trim.exact)
        return out


def _check_types(values: Sequence[Any], kind: type, what: str) -> None:
    for v in values:
        if not isinstance(v, kind):
            raise ModelError(f"{what} must be {kind.__name__} objects, got {v!r}")
