"""Constraint forces of loop joints from the joint-space equations: K H⁻¹ Kᵀ λ = what the loops ask for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lftgen.rigidbody.composite import composite_body
from lftgen.rigidbody.forward import ArticulatedPass
from lftgen.rigidbody.group_assembly import Undetermined, range_inverse, report_open_forces
from lftgen.rigidbody.handles import RANK_TOLERANCE, balanced
from lftgen.rigidbody.kinematics import Placement, body_jacobian
from lftgen.rigidbody.loops import ClosedModel, loop_residual, loop_rows
from lftgen.rigidbody.projection import stack_rows
from lftgen.rigidbody.spatial import Array, apply, transpose


@dataclass(frozen=True, eq=False)
class LoopForces:
    """Forces of all loop joints.

    Attributes
    ----------
    wrench : dict of array (..., 6)
        By loop joint: wrench T λ on the successor, in its joint frame.
    on_bodies : list of array (..., 6) or None
        Their sum on each link, body axes at the body's origin.
    undetermined : tuple of Undetermined
        Forces that redundant constraints leave open (chosen smallest), in the loop joints' frames.
    """

    wrench: dict[str, Array]
    on_bodies: list[Array | None]
    undetermined: tuple[Undetermined, ...]


def loop_jacobian(
    closed: ClosedModel, X: list[Array], world: Sequence[Placement], v: Sequence[Array]
) -> tuple[Array, list[tuple[Array, Array, Array, Array]]]:
    """K (..., constraints, nq) with Tᵀ v_J = K q̇ for all loop joints, and each joint's `loop_rows`."""
    blocks, rows = [], []
    for loop in closed.loops:
        before, after = closed.ends(loop)
        row = loop_rows(closed, loop, world, v)
        block = np.matmul(row[1], body_jacobian(closed.tree, X, after))
        if before >= 0:
            block = block + np.matmul(row[0], body_jacobian(closed.tree, X, before))
        blocks.append(block)
        rows.append(row)
    return (stack_rows(blocks) if blocks else np.zeros((0, closed.tree.nq))), rows


def loop_forces(
    closed: ClosedModel,
    X: list[Array],
    world: Sequence[Placement],
    v: Sequence[Array],
    free: ArticulatedPass,
    base: Array,
    *,
    stabilization: tuple[float, float] = (0.0, 0.0),
    tolerance: float = RANK_TOLERANCE,
) -> LoopForces:
    """Forces that close the loops, given the motion of the tree without them.

    With a° the accelerations of the free tree, K (q̈ − q̈°) = γ − P a° and H (q̈ − q̈°) = Kᵀ λ.

    Parameters
    ----------
    free : ArticulatedPass
        The articulated-body pass of the tree alone.
    stabilization : (alpha, beta), 1/s
        As in `DivideAndConquer.forward_dynamics`.

    Raises
    ------
    IllPosedError
        Redundant constraints contradict each other.
    """
    K, rows = loop_jacobian(closed, X, world, v)
    alpha, beta = stabilization
    asked, sizes = [], []
    for loop, (P1, P2, gamma, rate) in zip(closed.loops, rows, strict=True):
        before, after = closed.ends(loop)
        terms = [gamma, -apply(P2, free.acceleration[after])]
        terms.append(-apply(P1, base if before < 0 else free.acceleration[before]))
        if alpha or beta:
            terms.append(-2 * alpha * rate - beta**2 * loop_residual(closed, loop, world))
        total: Array = sum(terms[1:], start=terms[0])
        size: Array = sum((np.abs(term) for term in terms[1:]), start=np.abs(terms[0]))
        asked.append(total[..., None])
        sizes.append(size[..., None])
    want, weight = stack_rows(asked)[..., 0], stack_rows(sizes)[..., 0]
    H = composite_body(closed.tree, X)
    Y = np.matmul(K, np.linalg.solve(H, transpose(K)))
    shape = np.broadcast_shapes(Y.shape[:-2], want.shape[:-1])
    Y = np.broadcast_to(Y, (*shape, *Y.shape[-2:]))
    want, weight = (np.broadcast_to(x, (*shape, x.shape[-1])) for x in (want, weight))
    inverse, null = range_inverse(Y[None], balanced(Y)[1][None], want[None], weight[None], tolerance)
    return _distribute(closed, rows, apply(inverse[0], want), None if null is None else null[0])


def _distribute(
    closed: ClosedModel, rows: list[tuple[Array, Array, Array, Array]], lam: Array, null: Array | None
) -> LoopForces:
    on_bodies: list[Array | None] = [None] * len(closed.tree.links)
    wrench, spans, start = {}, [], 0
    for loop, (P1, P2, _, _) in zip(closed.loops, rows, strict=True):
        T = loop.constraint
        block = slice(start, start + T.shape[-1])
        start = block.stop
        wrench[loop.name] = apply(T, lam[..., block])
        if null is not None:
            spans.append(T[(0,) * (T.ndim - 2)] @ null[block])
        for i, P in zip(closed.ends(loop), (P1, P2), strict=True):
            if i >= 0:
                push, known = apply(transpose(P), lam[..., block]), on_bodies[i]
                on_bodies[i] = push if known is None else known + push
    reports = report_open_forces(spans, list(wrench)) if spans else []
    return LoopForces(wrench, on_bodies, tuple(reports))


def add_wrenches(one: Sequence[Array | None], other: Sequence[Array | None]) -> list[Array | None]:
    """Sum of two lists of wrenches per link."""
    return [b if a is None else a if b is None else a + b for a, b in zip(one, other, strict=True)]
