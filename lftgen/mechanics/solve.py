"""Trims that solve: the equilibrium equations as rational functions, solved for what they are linear in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp
from sympy.polys.solvers import solve_lin_sys

from lftgen.errors import NotRationalError, TrimError
from lftgen.lft.field import exact_number
from lftgen.lft.rational_matrix import rational_matrix
from lftgen.lft.trigonometry import exact_angle
from lftgen.mechanics.loads import SpringDamper, find_port
from lftgen.mechanics.model import MechanismModel
from lftgen.mechanics.names import GROUND
from lftgen.mechanics.spatial import moved_force, turned
from lftgen.mechanics.substitution import replacing
from lftgen.mechanics.unknowns import Unknowns, find_unknowns, with_unknowns
from lftgen.parameters import Parameter


@dataclass(frozen=True)
class Equation:
    """One equilibrium equation, ``residual = 0``; named by the joint force that would be missing."""

    name: str
    residual: sp.Expr


def solved_mechanism(mechanism: MechanismModel, names: Sequence[str]) -> tuple[Any, dict[str, sp.Expr]]:
    """The mechanism with what was asked for in its place, and its values.

    Loads and accelerations stay symbols: every equilibrium is affine in them, and the trim finds them as LFTs.  With
    masses, lengths or rest positions among the unknowns all are found as expressions.

    Raises
    ------
    TrimError
        Too many unknowns, too few, or one that does not enter; with the equations.
    NotRationalError
        An unknown that the equilibrium is not rational in.
    """
    unknowns = find_unknowns(mechanism, names)
    open_mechanism = with_unknowns(mechanism, unknowns)
    if unknowns.are_forces:
        return open_mechanism, {}
    equations = equilibrium_equations(open_mechanism)
    _check_angles(mechanism, unknowns, equations)
    values = _solve(equations, unknowns)
    change = replacing({unknowns.symbols[n]: v for n, v in values.items()})
    return open_mechanism.changed(change), values


def equilibrium_equations(mechanism: MechanismModel) -> list[Equation]:
    """``S^T f + preload`` of every joint without actuator, in sympy.

    The recursion of :mod:`lftgen.mechanics.trim` in expressions; those that vanish identically are left out.
    """
    wrench = static_wrenches(mechanism)
    out = []
    for joint in mechanism.joints:
        if joint.dof and not joint.actuated:
            force = joint.subspace().T * wrench[joint.name] + joint.preload()
            out += [Equation(n, e) for n, e in zip(joint.names(joint.forces), force, strict=True) if e != 0]
    return out


def static_wrenches(mechanism: MechanismModel) -> dict[str, sp.MatrixBase]:
    """[torque; force] on each joint's child at the equilibrium, child's axes, in sympy."""
    tree = mechanism.tree
    rotation: dict[str, Any] = {GROUND: sp.eye(3)}
    position: dict[str, Any] = {GROUND: sp.zeros(3, 1)}
    for joint in tree.outward:
        rotation[joint.child] = rotation[joint.parent] * joint.child_rotation
        position[joint.child] = position[joint.parent] + rotation[joint.parent] * joint.child_position
    base = mechanism.acceleration - mechanism.gravity
    wrench: dict[str, sp.MatrixBase] = {}
    for joint in reversed(tree.outward):
        body = tree.bodies[joint.child]
        force = body.mass * rotation[body.name].T * base
        total = sp.Matrix.vstack(body.com.cross(force), force)
        for a in tree.actions_on(body.name):
            place = body.ports[a.port]
            if isinstance(a.load, SpringDamper):
                pull = a.sign * a.load.force_density * _span(mechanism, a.load, rotation, position)
                load = turned(rotation[body.name].T) * sp.Matrix.vstack(sp.zeros(3, 1), pull)
            else:
                load = turned(place.rotation if a.turns else rotation[body.name].T) * a.load.wrench
            total -= moved_force(place.point) * load
        for child in tree.joints_on(body.name):
            total += moved_force(child.child_position) * turned(child.child_rotation) * wrench[child.name]
        wrench[joint.name] = total
    return wrench


def _span(
    mechanism: MechanismModel, spring: Any, rotation: dict[str, Any], position: dict[str, Any]
) -> sp.MatrixBase:
    def at(end: str) -> sp.MatrixBase:
        if end == GROUND:
            return spring.anchor
        body, port = find_port(end, mechanism.tree.bodies, f"spring {spring.name}")
        return position[body] + rotation[body] * mechanism.tree.bodies[body].ports[port].point

    return at(spring.other) - at(spring.port)


def _check_angles(mechanism: MechanismModel, unknowns: Unknowns, equations: Sequence[Equation]) -> None:
    for parameter, symbol in unknowns.replaced.items():
        if isinstance(parameter, Parameter) and parameter.is_angle:
            entering = [e for e in equations if symbol in e.residual.free_symbols]
            text = (
                f"{entering[0].name}: {_short(entering[0].residual.xreplace({symbol: parameter}))} = 0"
                if entering
                else "none"
            )
            raise NotRationalError(
                f"solve: the equilibrium is not rational in the angle {parameter.name} (equation {text}); keep it as a scheduled "
                f"angle and solve for what makes it the equilibrium{_choices(mechanism)}"
            )


def _choices(mechanism: MechanismModel) -> str:
    names = [f"{load.name}_force" for load in mechanism.loads if load.kind != "spring"]
    return f", for example a component of {' or '.join(names)}" if names else ", for example a load's force"


def _solve(equations: Sequence[Equation], unknowns: Unknowns) -> dict[str, sp.Expr]:
    symbols = list(unknowns.symbols.values())
    if not equations:
        raise TrimError(
            f"solve: {', '.join(unknowns.symbols)} does not enter the equilibrium: every joint has its actuator, or its force "
            "vanishes anyway; leave solve out"
        )
    r = rational_matrix(sp.Matrix([e.residual for e in equations]))
    others = [p.coordinate for p in r.parameters] + [s for s in r.field.symbols if s not in symbols]
    domain = sp.QQ.frac_field(*others) if others else sp.QQ
    ring = sp.ring(list(symbols), domain)[0]
    rows = [ring.from_expr(row[0].as_expr()) if row[0] else ring.zero for row in r.numerators]
    named = [(e, p) for e, p in zip(equations, rows, strict=True) if p]
    for name, symbol in unknowns.symbols.items():
        degrees = [p.degree(ring(symbol)) for _, p in named]
        if not any(d > 0 for d in degrees):
            balance = f" ({', '.join(e.name for e, _ in named)})" if named else ""
            raise TrimError(
                f"solve: {name} does not enter the equilibrium equations{balance}; solve for something that does"
            )
    for e, p in named:
        if any(sum(m) > 1 for m in p.itermonoms()):
            raise NotRationalError(
                f"solve: equation {e.name} is not linear in {', '.join(unknowns.symbols)}: {_short(e.residual)} = 0, so its "
                "solution need not be rational; solve for a load or an acceleration, or for fewer unknowns"
            )
    return _values(named, unknowns, ring, r.parameters)


def _values(
    named: list[tuple[Equation, Any]], unknowns: Unknowns, ring: Any, parameters: Sequence[Parameter]
) -> dict[str, sp.Expr]:
    found = solve_lin_sys([p for _, p in named], ring, _raw=False)
    if found is None:
        raise TrimError(_contradiction(named, unknowns, ring))
    found = {k.as_expr() if hasattr(k, "as_expr") else k: v for k, v in found.items()}
    missing = [
        n
        for n, s in unknowns.symbols.items()
        if s not in found or set(found[s].as_expr().free_symbols) & set(unknowns.symbols.values())
    ]
    if missing:
        raise TrimError(
            f"solve: under-determined: {len(named)} equations ({', '.join(e.name for e, _ in named)}) do not decide "
            f"{', '.join(missing)}; leave some of the unknowns out"
        )
    angles = {p.coordinate: chart_tangent(p) for p in parameters if p.is_angle}
    return {n: sp.factor(found[s].as_expr()).xreplace(angles) for n, s in unknowns.symbols.items()}


def chart_tangent(p: Parameter) -> sp.Expr:
    """The chart coordinate of a scheduled angle, written with the angle."""
    center = exact_number(p.center) * sp.pi / 180 if p.unit == "deg" else exact_angle(p.center)
    return sp.tan((p - (center if p.center else 0)) / p.chart_divisor)


def _contradiction(named: list[tuple[Equation, Any]], unknowns: Unknowns, ring: Any) -> str:
    for k in range(1, len(named) + 1):
        if solve_lin_sys([p for _, p in named[:k]], ring, _raw=False) is None:
            e, p = named[k - 1]
            none = p.is_ground
            why = "holds none of the unknowns" if none else "contradicts those before it"
            return (
                f"solve: over-determined: {len(named)} equations, {len(unknowns.symbols)} unknowns "
                f"({', '.join(unknowns.symbols)}); equation {e.name}: {_short(e.residual)} = 0 {why}. Add an unknown that "
                "enters it, or change the loads"
            )
    raise AssertionError("the whole system had no solution")


def _short(expression: sp.Expr) -> str:
    text = str(
        sp.nsimplify(sp.simplify(expression), rational=False) if expression.count_ops() < 60 else expression
    )
    return text if len(text) < 160 else text[:157] + "..."
