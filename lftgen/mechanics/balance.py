"""Whether an equilibrium holds: what no actuator supplies must vanish for all parameter values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import sympy as sp

from lftgen.errors import IllPosedError, TrimError
from lftgen.lft.algebra import constant
from lftgen.lft.connect import renamed
from lftgen.lft.data import LFTData, declare
from lftgen.lft.evaluation import evaluate_ports
from lftgen.lft.model import LFT
from lftgen.lft.realize import realize_matrix
from lftgen.lft.structure import real_block
from lftgen.mechanics.assembly import Assembler, Request
from lftgen.mechanics.joints import Joint
from lftgen.mechanics.model import MechanismModel
from lftgen.mechanics.signals import JointSignals
from lftgen.mechanics.trim import Trim
from lftgen.parameters import Parameter

TRIM_TOLERANCE = 1e-10
"""A joint without actuator is in equilibrium where its force is below this, relative to what adds up to it."""
_POINTS = 24


def check_balance(mechanism: MechanismModel, trim: Trim) -> None:
    """Each joint without actuator must need no force, at every point of the box.

    Exact entries are decided exactly, float ones at the nominal, at corners and at random points: a rational function
    that vanishes at random points vanishes.

    Raises
    ------
    TrimError
        With the joint or body, the missing force, and the acceleration that it leaves, at the nominal values (or where
        they balance but others do not, at such a point).
    """
    points = _points(mechanism.parameters)
    for joint in mechanism.joints:
        if joint.dof and not joint.actuated:
            torque = trim.torque[joint.name].data
            if torque.field.exact:
                if torque.structure.n_rows or np.any(torque.split()[3] != 0):
                    raise _unbalanced(mechanism, joint, trim, {})
                continue
            missing = np.abs(evaluate_ports(torque, points)).max(axis=(1, 2))
            wrong = missing > TRIM_TOLERANCE * _scale(trim.terms[joint.name], points)
            if wrong.any():
                k = int(np.argmax(wrong))
                raise _unbalanced(mechanism, joint, trim, {n: float(v[k]) for n, v in points.items()})


def _points(parameters: tuple[Parameter, ...]) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(4)
    out = {}
    for p in parameters:
        ends = np.array(p.bounds)[rng.integers(2, size=8)]
        out[p.name] = np.concatenate([[p.nominal], rng.uniform(p.lower, p.upper, _POINTS), ends])
    return out


def _scale(terms: tuple[LFTData, ...], points: dict[str, np.ndarray]) -> np.ndarray:
    """Size of what adds up to a wrench at each point; at least 1e-6 N, so that nothing is measured against nothing."""
    total = np.full(1, 1e-6)
    for term in terms:
        known = {b.name for b in term.structure.blocks}
        value = evaluate_ports(term, {k: v for k, v in points.items() if k in known})
        total = total + np.abs(value).max(axis=(1, 2))
    return total


def balanced(mechanism: MechanismModel, trim: Trim) -> Trim:
    """The trim with exact zeros where :func:`check_balance` found that nothing is missing."""
    idle = [j for j in mechanism.joints if j.dof and not j.actuated]
    free = [j.name for j in idle if j.kind == "free"]
    torque = {**trim.torque, **{j.name: _zero_like(trim.torque[j.name]) for j in idle}}
    wrench = {**trim.wrench, **{n: _zero_like(trim.wrench[n]) for n in free}}
    parent = {**trim.wrench_parent, **{n: _zero_like(trim.wrench_parent[n]) for n in free}}
    proxy = MappingProxyType
    return replace(trim, torque=proxy(torque), wrench=proxy(wrench), wrench_parent=proxy(parent))


def _zero_like(value: LFT) -> LFT:
    data = value.data
    zero = constant(data.field.zeros(*data.shape), data.field, data.inputs, data.outputs)
    return LFT(declare(zero, data.structure.blocks))


def solution_trim(mechanism: MechanismModel, values: Mapping[str, sp.Expr], trim: Trim) -> Trim:
    """The trim with the LFTs of what was solved for."""
    blocks = [real_block(p, 0) for p in mechanism.parameters]
    solution = {}
    for name, value in values.items():
        data = renamed(realize_matrix(sp.Matrix([[value]]), exact=trim.exact), outputs=[name])
        solution[name] = LFT(declare(data, blocks))
    return replace(trim, solution=MappingProxyType({**trim.solution, **solution}))


def _unbalanced(mechanism: MechanismModel, joint: Joint, trim: Trim, point: dict[str, float]) -> TrimError:
    free = joint.kind == "free"
    who = (
        f"body {joint.child} (free joint {joint.name})" if free else f"joint {joint.name} has no actuator and"
    )
    advice = (
        "change the loads, the acceleration or the masses, or let trim(solve=[...]) find one of them"
        if free
        else "give it an actuator (actuated=True), choose an equilibrium where it vanishes for all parameter values, or let "
        "trim(solve=[...]) find a load or a spring's rest angle"
    )
    torque = trim.torque[joint.name]
    if torque.symbols:
        need = ", ".join(str(e) for e in torque.to_sympy())
        return TrimError(f"{who} is not in equilibrium: holding it takes {need} {joint.force_unit}; {advice}")
    point = {k: v for k, v in point.items() if k in {p.name for p in mechanism.parameters}}
    values = ", ".join(
        f"{n} = {v:.6g}"
        for n, v in zip(joint.names(joint.forces), evaluate_ports(torque.data, point)[0][:, 0], strict=True)
    )
    where = f" at {', '.join(f'{k} = {v:.6g}' for k, v in point.items())}" if point else ""
    left = left_accelerations(mechanism, trim, point)
    own = ", ".join(f"{k} = {v:.6g}" for k, v in left.items() if k.startswith(f"{joint.name}_"))
    moves = f"left alone it accelerates with {own}. " if own else ""
    return TrimError(
        f"{who} is not in equilibrium{where}: holding it takes {values} {joint.force_unit}; {moves}{advice[0].upper()}{advice[1:]}"
    )


def left_accelerations(mechanism: MechanismModel, trim: Trim, point: dict[str, float]) -> dict[str, float]:
    """Joint accelerations where the forces that no actuator supplies are missing."""
    joints = [j for j in mechanism.joints if j.dof]
    dynamics = Assembler(mechanism.tree, trim, Request((), ()), exact=trim.exact).inverse_dynamics()
    signals = [JointSignals(j) for j in joints]
    names = [n for s in signals for n in s.acceleration.names]
    rows = [dynamics.outputs.index(n) for s in signals for n in s.drive.names]
    columns = [dynamics.inputs.index(n) for n in names]
    known = {b.name for b in dynamics.structure.blocks}
    try:
        H = evaluate_ports(dynamics, {k: v for k, v in point.items() if k in known})[0][np.ix_(rows, columns)]
        missing = [
            -evaluate_ports(trim.torque[j.name].data, point)[0][:, 0] * (not j.actuated) for j in joints
        ]
        return dict(zip(names, np.linalg.solve(H, np.concatenate(missing)), strict=True))
    except (IllPosedError, np.linalg.LinAlgError):
        return {}
