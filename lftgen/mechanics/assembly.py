"""Blocks and topology -> one LFT, from the leaves to the base, reduced on the way.

The inverse dynamics of each subtree is connected first: from the coordinates and the motion of its parent to the
forces that drive its joints and its reaction on the parent.  At the base the joint forces change places with the joint
accelerations (the repetitions do not change), and integrators close the model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import sympy as sp

from lftgen.errors import ModelError
from lftgen.lft.algebra import add, constant, exchange, multiply
from lftgen.lft.build import with_integrators
from lftgen.lft.connect import connect, renamed
from lftgen.lft.data import LFTData
from lftgen.lft.field import ExactField
from lftgen.lft.reduction.kalman import reduce as reduce_order
from lftgen.mechanics.body import RigidBody
from lftgen.mechanics.channels import Channel
from lftgen.mechanics.coefficients import realize_coefficient
from lftgen.mechanics.commuting import dynamics as commuting
from lftgen.mechanics.commuting.search import Clock, Progress, by_transposes, by_words
from lftgen.mechanics.commuting.transposes import order
from lftgen.mechanics.joints import Joint
from lftgen.mechanics.linearization import body_block, ground_block, joint_block
from lftgen.mechanics.load_blocks import BodyInputs, load_sensor_block, spring_block
from lftgen.mechanics.loads import Action, SpringDamper
from lftgen.mechanics.mass_matrix import check_mass_matrix
from lftgen.mechanics.names import GROUND
from lftgen.mechanics.relations import Signal
from lftgen.mechanics.sensors import PORT_QUANTITIES, sensor_block
from lftgen.mechanics.signals import JointSignals, port_signal
from lftgen.mechanics.tree import Tree
from lftgen.mechanics.trim import Trim, solve_trim


@dataclass(frozen=True)
class Request:
    """What the model shall have as inputs and outputs."""

    inputs: tuple[Channel, ...]
    outputs: tuple[Channel, ...]

    @property
    def base_moves(self) -> bool:
        """Whether the acceleration of the reference frame is an input."""
        return any(c.kind == "base acceleration" for c in self.inputs)

    def on_body(self, body: RigidBody, actions: Sequence[Action]) -> BodyInputs:
        """Inputs that act on a body."""
        ports = [
            (c.port, c.kind.removeprefix("port "))
            for c in self.inputs
            if c.kind.startswith("port ") and c.owner == body.name
        ]
        own = {a.load.name for a in actions}
        loads = [
            (c.owner, c.kind.removeprefix("load "))
            for c in self.inputs
            if c.kind.startswith("load ") and c.owner in own
        ]
        rotors = [c.port for c in self.inputs if c.kind == "rotor torque" and c.owner == body.name]
        return BodyInputs(tuple(dict.fromkeys(ports)), tuple(dict.fromkeys(loads)), tuple(rotors))

    def sensors(
        self, body: str, spring_ends: Sequence[tuple[str, str]] = ()
    ) -> dict[str, list[tuple[str, bool]]]:
        """(quantity, reference axes) outputs of each port of a body, with what springs need to know."""
        out: dict[str, list[tuple[str, bool]]] = {}
        for c in self.outputs:
            if c.kind == "port" and c.owner == body:
                wanted = out.setdefault(c.port, [])
                if (c.quantity, c.reference) not in wanted:
                    wanted.append((c.quantity, c.reference))
        for port, quantity in spring_ends:
            wanted = out.setdefault(port, [])
            if (quantity, True) not in wanted:
                wanted.append((quantity, True))
        return out


class Assembler:
    """Connects the blocks of a mechanism for one request."""

    def __init__(self, tree: Tree, trim: Trim, request: Request, *, exact: bool, reduce: bool = True) -> None:
        self.tree, self.trim, self.request, self.exact = tree, trim, request, exact
        self._reduce: Callable[[LFTData], LFTData] = reduce_order if reduce else (lambda a: a)
        self._large = not exact and sum(j.dof for j in tree.joints) > LARGE
        self._equilibrium, self._levels = True, True
        self._settled: dict[str, int] = {}

    @property
    def base(self) -> sp.MatrixBase:
        """Specific acceleration of the base, reference axes."""
        return self.trim.mechanism.acceleration - self.trim.mechanism.gravity

    def inverse_dynamics(
        self, method: str = "recursive", *, search: float = 0.0, progress: Progress | None = None
    ) -> LFTData:
        """From coordinates, rates, accelerations and external inputs to drives and sensors, in the fewest repetitions.

        ``method`` is one of :data:`METHODS`; ``search`` is a number of seconds to go on looking for fewer.
        """
        if method not in METHODS:
            raise ModelError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
        if search and method != "auto":
            raise ModelError(
                f"search goes on from the smallest form: use it with method 'auto', not {method!r}"
            )
        clock = Clock(search, progress) if search else None
        single = commuting.applies(self.tree) and not self.trim.solution
        if method == "recursive" or (method == "auto" and not single):
            best = self._recursion()
        elif not single:
            raise ModelError(
                f"method {method!r} needs joints with at most one coordinate each, and nothing that the trim solved for; "
                "use 'auto' or 'recursive'"
            )
        else:
            found = self._commuting(method)
            best = found[0] if len(found) == 1 else min(found, key=lambda a: order(self._reduce(a)))
        return self._searched(best, single, clock) if method == "auto" else best

    def _searched(self, best: LFTData, single: bool, clock: Clock | None) -> LFTData:
        """What searching makes of the smallest form, compared with it."""
        if self._large:
            if clock is None and order(best) > LARGE_ORDER:
                return best
            best = self._reduce(best)
        reference = best
        if clock is not None and single and not commuting.is_planar(self.tree):
            part = Clock(0.6 * clock.seconds, clock.progress)
            K = by_transposes(self.tree, self.base, self._inertial.field, part, order(best))
            if K is not None:
                bent = self._bent
                full = self._recursion() if bent else None
                spatial = commuting.spatial_dynamics(self.tree, self._inertial, full, bent, K)
                best = min(best, spatial, key=order)
        words = by_words(self.tree, best, clock)
        if words is not None and order(words) < order(best):
            best = words
        if best is not reference:
            commuting.require_agreement(best, reference, "searched")
        return best

    def inertial_dynamics(self) -> LFTData:
        """The recursion without the terms of the equilibrium: what depends on accelerations and external inputs."""
        return self._recursion(equilibrium=False)

    @cached_property
    def _inertial(self) -> LFTData:
        """The recursion without gravity's equilibrium terms, in the field of the whole model (its symbols are not in it).

        Equilibrium terms are linear in gravity and loads: with loads they are those of the loads alone (which must not
        depend on gravity, as those do that a trim solved for).
        """
        symbols = self.trim.mechanism.symbols
        if self.tree.actions:
            weightless = solve_trim(
                self.tree,
                sp.zeros(3, 1),
                self.trim.mechanism.parameters,
                exact=self.exact,
                mechanism=self.trim.mechanism,
            )
            own = Assembler(self.tree, weightless, self.request, exact=self.exact)
            inertial = own._recursion()
        else:
            inertial = self._recursion(equilibrium=False)
        return inertial.with_field(ExactField(symbols)) if symbols else inertial

    @property
    def _bent(self) -> list[str]:
        return [c.name for c in self.request.outputs if _is_bent(c)]

    def _commuting(self, method: str) -> list[LFTData]:
        """Candidates for one method, or all of them, each equal to the recursion."""
        if method == "recursive":
            return [self._recursion()]
        bent, full = self._bent, None if self._large and not self._bent else self._recursion()
        candidates = [full] if method == "auto" and full is not None else []
        if method in ("auto", "spatial"):
            candidates.append(self._spatial(full))
        if method == "planar" or (method == "auto" and not self._large):
            planar = commuting.planar_dynamics(self.tree, self.base, self._inertial, full, bent)
            if planar is None and method == "planar":
                raise ModelError(
                    "method 'planar' needs revolute joints with parallel axes and no loads; use 'auto'"
                )
            candidates += [planar] if planar is not None else []
        reference = full if full is not None else self._recursion(reduce=False)
        for candidate in candidates:
            commuting.require_agreement(candidate, reference, method)
        if method == "auto" and full is None:
            small, close = order(reference) <= COMPARED_ORDER, order(candidates[0]) > order(reference)
            candidates += [reference] if small or close else []
        return candidates

    def _spatial(self, full: LFTData | None) -> LFTData:
        """Inertia by the recursion, gravity stiffness apart from it; that of a large planar mechanism row by row."""
        inertial, K = self._inertial, None
        if self._large:
            K = commuting.planar_stiffness(self.tree, self.base, inertial.field)
        if K is None:
            K = commuting.gravity_stiffness(self.tree, self.base, inertial.field, reduce=not self._large)
        return commuting.spatial_dynamics(self.tree, inertial, full, self._bent, K, reduce=not self._large)

    def _recursion(self, *, equilibrium: bool = True, reduce: bool = True) -> LFTData:
        """The blocks connected from the leaves to the base, with or without the terms of the equilibrium.

        Reduced on the way; what is large not at all, :meth:`linear_model` reduces it once.
        """
        self._equilibrium, self._levels, self._settled = equilibrium, reduce and not self._large, {}
        roots = self.tree.joints_on(GROUND)
        systems = [ground_block(base_moves=self.request.base_moves), *(self._subtree(j) for j in roots)]
        for spring in self.tree.springs:
            block = spring_block(spring, self.tree.bodies, self.trim, exact=self.exact)
            systems.append(block.realize(block.outputs))
        whole = _connected(systems, keep=self._kept(systems))
        return self._reduce(whole) if self._levels else whole

    def _subtree(self, joint: Joint) -> LFTData:
        body = self.tree.bodies[joint.child]
        children = self.tree.joints_on(body.name)
        below = [self._subtree(c) for c in children]
        actions = self.tree.actions_on(body.name)
        acting = self.request.on_body(body, actions)
        own = body_block(body, joint, children, acting, self.trim, actions, exact=self.exact)
        sensors = [
            sensor_block(body, port, wanted, self.trim, base_moves=self.request.base_moves, exact=self.exact)
            for port, wanted in self.request.sensors(body.name, self._spring_ends(body.name)).items()
        ]
        for a in actions:
            read = [c for c in self.request.outputs if c.kind.startswith("load ") and c.owner == a.load.name]
            if read:
                sensors.append(load_sensor_block(body, a, acting.loads, self.trim, exact=self.exact))
        systems = [*below, own.realize(own.outputs), *(s.realize(s.outputs) for s in sensors)]
        j = JointSignals(joint)
        euler = any(c.kind == "joint euler" and c.owner == joint.name for c in self.request.outputs)
        block = joint_block(joint, self.trim, exact=self.exact, euler=euler, equilibrium=self._equilibrium)
        asked = {n for s in systems for n in s.inputs}
        needed = [s for s in block.outputs if set(s.names) & asked]
        needed += [j.reaction, *([j.drive] if joint.dof else [])]
        if any(c.kind == "joint wrench parent" and c.owner == joint.name for c in self.request.outputs):
            needed.append(j.wrench_parent)
        if euler:
            needed.append(j.euler)
        systems.append(block.realize(needed))
        keep = [*j.reaction.names, *self._kept(systems)]
        return self._settle(joint, _connected(systems, keep=keep))

    def _settle(self, joint: Joint, subtree: LFTData) -> LFTData:
        """A subtree, reduced once it has grown by a factor since the subtrees in it were.

        A joint adds few repetitions that can be taken away again; reducing at each would cost as much as the last does,
        many times over.
        """
        before = sum(self._settled.get(c.name, 0) for c in self.tree.joints_on(joint.child))
        if not self._levels or SMALL_ORDER < order(subtree) <= GROWTH * before:
            self._settled[joint.name] = before
            return subtree
        small = self._reduce(subtree)
        self._settled[joint.name] = order(small)
        return small

    def _kept(self, systems: Sequence[LFTData]) -> list[str]:
        """Outputs that the whole model still needs: drives and requested sensors."""
        names = {n for joint in self.tree.joints for n in JointSignals(joint).drive.names}
        names |= {c.name for c in self.request.outputs}
        for body in self.tree.bodies:
            names |= {
                n for port, q in self._spring_ends(body) for n in port_signal(body, port, q, True).names
            }
        return [n for s in systems for n in s.outputs if n in names]

    def _spring_ends(self, body: str) -> list[tuple[str, str]]:
        """(port, quantity in reference axes) that springs at a body's ports depend on."""
        out = []
        for a in self.tree.actions_on(body):
            if isinstance(a.load, SpringDamper):
                out += [(a.port, "position"), *([(a.port, "velocity")] if a.load.damping != 0 else [])]
        return out

    def linear_model(
        self, method: str = "auto", *, search: float = 0.0, progress: Progress | None = None
    ) -> LFTData:
        """The state-space LFT."""
        names = _CoordinateNames(self.tree)
        dynamics = self.inverse_dynamics(method, search=search, progress=progress)
        rows = [dynamics.outputs.index(n) for n in names.drives]
        columns = [dynamics.inputs.index(n) for n in names.accelerations]
        check_mass_matrix(self._with_inertia(dynamics), names.drives, names.accelerations)
        forward = exchange(dynamics, rows, columns, "the mass matrix at the nominal values")
        static = self._with_channels(forward, names)
        inputs, outputs = [c.name for c in self.request.inputs], [c.name for c in self.request.outputs]
        return self._reduce(with_integrators(static, [*names.positions, *names.rates], inputs, outputs))

    def _with_inertia(self, dynamics: LFTData) -> LFTData:
        """What tells the mass matrix in the fewest repetitions: the whole, or its part without the equilibrium."""
        if order(dynamics) <= LARGE_ORDER:
            return dynamics
        return self.inertial_dynamics() if self.trim.solution else self._inertial

    def _with_channels(self, forward: LFTData, names: _CoordinateNames) -> LFTData:
        """[positions; rates; inputs] -> [rates; accelerations; outputs], without states yet."""
        sources = [*names.positions, *names.rates, *(c.name for c in self.request.inputs)]
        feed = sp.zeros(len(forward.inputs), len(sources))
        for i, name in enumerate(forward.inputs):
            if name in sources:
                feed[i, sources.index(name)] = 1
        for k, c in enumerate(self.request.inputs):
            for drive, gain in zip(names.drives_of(c.owner), c.gains, strict=False):
                feed[forward.inputs.index(drive), len(names.positions) + len(names.rates) + k] = gain
        targets = [*names.rates, *names.accelerations, *(c.name for c in self.request.outputs)]
        read, direct = np.zeros((len(targets), len(forward.outputs))), np.zeros((len(targets), len(sources)))
        for i, name in enumerate(targets):
            if name in forward.outputs:
                read[i, forward.outputs.index(name)] = 1
            else:
                direct[i, sources.index(name)] = 1
        feed_lft = realize_coefficient(feed, exact=self.exact)
        f = forward.field
        out = multiply(
            constant(f.array(read) if len(targets) else f.zeros(0, read.shape[1]), f),
            multiply(forward, feed_lft),
        )
        plain = renamed(
            out,
            inputs=sources,
            outputs=[f"d_{n}" if i < len(names.rates) * 2 else n for i, n in enumerate(targets)],
        )
        return add(plain, constant(f.array(direct), f))


LARGE = 10
"""With more degrees of freedom than this only the form that is the smallest for long chains is built by default, inertia and
gravity stiffness apart; and nothing is reduced before accelerations have changed places with forces: one reduction of the
whole takes a third of the time of reductions on the way, and keeps two more digits in a chain of 20 links."""
LARGE_ORDER = 300
"""Beyond this the mass matrix is taken from the inertial part alone, which has far fewer repetitions."""
COMPARED_ORDER = 800
"""In large mechanisms the recursion up to this order (unreduced) is reduced too, to see which is smaller; a larger one where
inertia and stiffness apart do not start below it (as without uncertain masses).  In every long chain and random tree with
uncertain masses that was tried the recursion takes 10 to 40 % more."""
SMALL_ORDER, GROWTH = 150, 3.0
"""A subtree up to this order is reduced in any case (it costs little and keeps rounding errors small), a larger one once its
order has grown by this factor."""
METHODS = ("auto", "recursive", "spatial", "planar")
"""How the inverse dynamics is written: the recursion over blocks, gravity stiffness in one pass, absolute angles of a
planar mechanism, or the smallest of those that apply."""


def _is_bent(c: Channel) -> bool:
    """Whether equilibrium accelerations or wrenches enter an output's dependence on the coordinates."""
    return c.kind.startswith("joint wrench") or c.quantity in ("acceleration", "specific_force")


class _CoordinateNames:
    """Names of all joint coordinates, in the order of the joints."""

    def __init__(self, tree: Tree) -> None:
        signals = [JointSignals(j) for j in tree.joints]
        self.positions = [n for s in signals for n in s.position.names]
        self.rates = [n for s in signals for n in s.rate.names]
        self.accelerations = [n for s in signals for n in s.acceleration.names]
        self.drives = [n for s in signals for n in s.drive.names]
        self._drives = {s.joint.name: s.drive.names for s in signals}

    def drives_of(self, joint: str) -> tuple[str, ...]:
        """Drive names of one joint (none for what is no joint)."""
        return self._drives.get(joint, ())


def _connected(systems: Sequence[LFTData], keep: Sequence[str]) -> LFTData:
    """Signals of one name meet; what nothing drives stays an input."""
    made = {n for s in systems for n in s.outputs}
    inputs = list(dict.fromkeys(n for s in systems for n in s.inputs if n not in made))
    return connect(systems, None, inputs, list(keep))


__all__ = ["PORT_QUANTITIES", "Assembler", "Request", "Signal"]
