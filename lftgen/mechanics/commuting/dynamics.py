"""Inverse dynamics with fewer repetitions than the recursion over blocks gives, where the structure allows it.

All candidates are the same functions of the parameters; they differ in the order in which commuting factors stand, which
no reduction can change afterwards.  Each is compared with the recursion at random points before it is offered.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import sympy as sp

from lftgen.errors import IllPosedError, ReductionError
from lftgen.lft.algebra import add, constant, multiply
from lftgen.lft.connect import renamed
from lftgen.lft.data import LFTData
from lftgen.lft.evaluation import evaluate_ports
from lftgen.lft.field import Field
from lftgen.lft.reduction.kalman import reduce as reduce_order
from lftgen.mechanics.coefficients import realize_coefficient
from lftgen.mechanics.commuting.planar import PlanarDynamics, find_planar
from lftgen.mechanics.commuting.transposes import likely_readings, smallest, stiffness
from lftgen.mechanics.joints import Joint
from lftgen.mechanics.tree import Tree

AGREEMENT = 1e-8
"""Largest difference between a candidate and the recursion, relative to each output's largest value."""


def applies(tree: Tree) -> bool:
    """Whether every joint has at most one coordinate, and at least one moves."""
    return all(j.dof <= 1 for j in tree.joints) and any(j.dof for j in tree.joints)


def is_planar(tree: Tree) -> bool:
    """Whether all joints are fixed or revolute about parallel axes."""
    return find_planar(tree) is not None


def gravity_stiffness(tree: Tree, base: sp.MatrixBase, field: Field, *, reduce: bool = True) -> LFTData:
    """The gravity stiffness (joints x joints) in the reading that takes the fewest repetitions.

    Not reduced, the reading is chosen by count alone.
    """
    if reduce:
        return smallest(tree, base, field)[1]
    return stiffness(tree, base, field, likely_readings(tree, base)[0], reduce=False)


def spatial_dynamics(
    tree: Tree,
    inertial: LFTData,
    full: LFTData | None,
    bent: Sequence[str],
    K: LFTData,
    *,
    reduce: bool = True,
) -> LFTData:
    """Inertia by the recursion without equilibrium terms, gravity stiffness apart from it.

    Parameters
    ----------
    inertial : LFTData
        The recursion without equilibrium terms, or with those of loads alone.
    full, bent
        The whole recursion, from which the outputs ``bent`` (those in which equilibrium terms count) are taken.
    K : LFTData
        The gravity stiffness (joints x joints).
    reduce : bool
        Reduce the sum.
    """
    joints = [j for j in tree.joints if j.dof]
    K = renamed(K, inputs=[_position(j) for j in joints], outputs=[_drive(j) for j in joints])
    whole = _sum([(inertial, None, bent), (K, None, ()), *_bent_part(full, bent)], inertial, full)
    return reduce_order(whole) if reduce else whole


def planar_dynamics(
    tree: Tree, base: sp.MatrixBase, inertial: LFTData, full: LFTData | None, bent: Sequence[str]
) -> LFTData | None:
    """Mass matrix and gravity stiffness in absolute angles, the rest by the recursion; None where nothing is planar."""
    planar = None if tree.actions else find_planar(tree)
    if planar is None:
        return None
    joints = [j for j in tree.joints if j.dof]
    positions, accelerations = [_position(j) for j in joints], [j.names(j.accelerations)[0] for j in joints]
    drives = [_drive(j) for j in joints]
    field = inertial.field
    bodies = PlanarDynamics(tree, planar, base, field).matrix()
    own = sp.Matrix.hstack(
        sp.diag(*(j.stiffness_matrix()[0] for j in joints)),
        sp.diag(*(j.armature_matrix()[0] for j in joints)),
    )
    joint_terms = realize_coefficient(own, exact=field.exact).with_field(field)
    both = add(bodies, renamed(joint_terms, inputs=bodies.inputs, outputs=bodies.outputs))
    HK = renamed(both, inputs=[*positions, *accelerations], outputs=drives)
    sensors = [n for n in inertial.outputs if n not in drives]
    others = [n for n in inertial.inputs if n not in {*positions, *accelerations}]
    parts: list[_Part] = [(inertial, others, sensors), (HK, None, ()), *_bent_part(full, bent)]
    if set(sensors) - set(bent):
        parts.append((inertial, None, [*drives, *bent]))
    return reduce_order(_sum(parts, inertial, full))


def planar_stiffness(tree: Tree, base: sp.MatrixBase, field: Field) -> LFTData | None:
    """The gravity stiffness of a planar mechanism, which takes no reduction of the whole; None where nothing is planar."""
    planar = find_planar(tree)
    return None if planar is None else PlanarDynamics(tree, planar, base, field).stiffness()


def agrees(candidate: LFTData, reference: LFTData, points: int = 4) -> bool:
    """Whether two LFTs of the same signals have the same values at random points."""
    if candidate.field.symbols:
        return True  # exact arithmetic on the same formulas; checked with numbers in the tests
    rng = np.random.default_rng(9)
    parameters = [b.parameter for b in reference.structure.blocks if b.parameter is not None]
    known = {b.name for b in candidate.structure.blocks}
    values = {p.name: rng.uniform(p.lower, p.upper, points) for p in parameters}
    try:
        want = evaluate_ports(reference, values) if values else evaluate_ports(reference, {})
        got = evaluate_ports(candidate, {k: v for k, v in values.items() if k in known})
    except IllPosedError:
        return False
    rows = [candidate.outputs.index(n) for n in reference.outputs]
    columns = [candidate.inputs.index(n) for n in reference.inputs]
    difference = np.abs(got[:, rows][:, :, columns] - want).max(axis=(0, 2), initial=0.0)
    size = np.maximum(np.abs(want).max(axis=(0, 2), initial=0.0), 1e-6 * np.abs(want).max(initial=1e-6))
    return bool(np.all(difference <= AGREEMENT * size))


def require_agreement(candidate: LFTData, reference: LFTData, method: str) -> None:
    """A ReductionError where a candidate is not the same model."""
    if not agrees(candidate, reference):
        raise ReductionError(
            f"the {method} form differs from the recursion; use method='recursive' and report this mechanism"
        )


_Part = tuple[LFTData, Sequence[str] | None, Sequence[str]]
"""An LFT, the inputs to take (None: all), the outputs to leave out."""


def _bent_part(full: LFTData | None, bent: Sequence[str]) -> list[_Part]:
    if full is None or not bent:
        return []
    return [(full, None, [n for n in full.outputs if n not in set(bent)])]


def _sum(parts: Sequence[_Part], inertial: LFTData, full: LFTData | None) -> LFTData:
    """All parts on common inputs and outputs, added up."""
    inputs = list(dict.fromkeys(n for a, _, _ in parts for n in a.inputs))
    outputs = list(full.outputs if full is not None else inertial.outputs)
    total: LFTData | None = None
    for a, wanted, left_out in parts:
        piece = _aligned(a, wanted, left_out, inputs, outputs)
        total = piece if total is None else add(total, piece)
    assert total is not None
    return total


def _aligned(
    a: LFTData, wanted: Sequence[str] | None, left_out: Sequence[str], inputs: list[str], outputs: list[str]
) -> LFTData:
    f: Field = a.field
    left, right = f.zeros(len(outputs), a.shape[0]), f.zeros(a.shape[1], len(inputs))
    for i, name in enumerate(a.outputs):
        if name not in left_out and name in outputs:
            left[outputs.index(name), i] = f.element(1)
    for j, name in enumerate(a.inputs):
        if wanted is None or name in wanted:
            right[j, inputs.index(name)] = f.element(1)
    return renamed(
        multiply(multiply(constant(left, f), a), constant(right, f)), inputs=inputs, outputs=outputs
    )


def _position(joint: Joint) -> str:
    return joint.names(joint.positions)[0]


def _drive(joint: Joint) -> str:
    return f"{joint.name}_drive_{joint.forces[0]}"
