"""Divide-and-conquer forward dynamics of trees and closed loops (RBDA 7.5; 7.57-7.63)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lftgen.errors import IllPosedError
from lftgen.rigidbody.assembly_tree import AssemblyPlan, Fold, Group, plan_assembly
from lftgen.rigidbody.edge_rows import EdgeTable, edge_table
from lftgen.rigidbody.fold import Folded, fold_group, release_fold
from lftgen.rigidbody.forward import total_joint_forces
from lftgen.rigidbody.group_assembly import (
    Assembled,
    EdgeRows,
    Pool,
    Undetermined,
    assemble_group,
    release_group,
)
from lftgen.rigidbody.handles import RANK_TOLERANCE, symmetric_rank
from lftgen.rigidbody.inverse import Prescribed
from lftgen.rigidbody.joints import active_subspace
from lftgen.rigidbody.kinematics import base_motion, coordinates
from lftgen.rigidbody.loads import Wrenches, external_wrenches
from lftgen.rigidbody.loops import ClosedModel
from lftgen.rigidbody.model import Model
from lftgen.rigidbody.spatial import Array, apply, transpose
from lftgen.rigidbody.stacked import (
    StackedModel,
    StackedMotion,
    move,
    spread_wide,
    stack,
    stack_model,
    widen,
    world_placements,
)


@dataclass(frozen=True, eq=False)
class DivideResult:
    """Result of a divide-and-conquer pass.

    Attributes
    ----------
    qdd : array (..., nq)
        Joint accelerations of the tree.
    acceleration : array (N, ..., 6)
        Spatial acceleration of each body of ``model.links``, body axes, the base's included.
    undetermined : tuple of Undetermined
        Constraint forces that redundant constraints leave open; they were chosen smallest.
    levels : int
        Sequential assembly steps, up and down; the scan of the velocities takes `scan_steps` more.
    scan_steps : int
    """

    qdd: Array
    acceleration: Array
    undetermined: tuple[Undetermined, ...]
    levels: int
    scan_steps: int


@dataclass(frozen=True, eq=False)
class DivideAndConquer:
    """Plan for the divide-and-conquer algorithm on one mechanism; make it with `divide_and_conquer`.

    Attributes
    ----------
    closed : ClosedModel
    plan : AssemblyPlan
    """

    closed: ClosedModel
    plan: AssemblyPlan
    stacked: StackedModel
    mobility: Array
    """Inverse inertia of every body (N, *batch, 6, 6)."""
    table: EdgeTable
    """Constraint rows of all joints."""
    soft: Array
    """Tree joints with an armature."""
    active: Array
    """T_a of every tree joint, padded (N, *batch, 6, 6)."""

    def forward_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike | None = None,
        tau: ArrayLike | None = None,
        *,
        wrenches: Wrenches | None = None,
        base_acceleration: ArrayLike | None = None,
        prescribed: Prescribed | None = None,
        stabilization: tuple[float, float] = (0.0, 0.0),
        tolerance: float = RANK_TOLERANCE,
    ) -> DivideResult:
        """Joint accelerations, all assemblies of a level at once.

        Parameters
        ----------
        q, qd, tau, wrenches, base_acceleration, prescribed
            As in `lftgen.rigidbody.forward_dynamics`; q and qd must satisfy the loops.
        stabilization : (alpha, beta), 1/s
            Pulls a drifted loop back: Tᵀ a = … − 2 α (rate) − β² (residual) (RBDA 8.3).
        tolerance : float
            Rank decision on Y = Tᵀ(Φ2 + Φ3)T, balanced, relative to its largest eigenvalue.

        Raises
        ------
        IllPosedError
            Y is singular and the motion contradicts the constraints (an inconsistent loop).
        """
        model, base = self.closed.tree, base_motion(self.closed.tree, base_acceleration)
        vectors = [coordinates(model, x, name) for x, name in ((q, "q"), (qd, "qd"), (tau, "tau"))]
        shapes = [np.shape(x)[:-1] for x in (*vectors, base, *(wrenches or {}).values())]
        batch = np.broadcast_shapes(model.batch_shape, *shapes)
        angles, rates, drive = (np.broadcast_to(x, (*batch, model.nq)) for x in vectors)
        force = total_joint_forces(model, angles, rates, drive, None)
        motion, ndim = move(self.stacked, angles, rates, prescribed), len(batch)
        push = self._pushes(motion, force, wrenches, ndim)
        phi = widen(self.mobility, ndim, 2)
        rows = self.table.rows(self.stacked, motion, force, base, stabilization, phi)
        pools, done = self._assemble(self._leaves(phi, push), rows, tolerance)
        a = apply(phi, push + self._release(pools, done))
        qdd = self._joint_accelerations(motion, a, base)
        named = [(d, self._names(k)) for k, d in enumerate(done) if isinstance(d, Assembled)]
        open_forces = tuple(report for d, names in named for report in d.undetermined(names))
        return DivideResult(qdd, a, open_forces, 2 * self.plan.levels, motion.steps)

    def _assemble(
        self, pools: list[Pool], rows: dict[int, EdgeRows], tolerance: float
    ) -> tuple[list[Pool], list[Assembled | Folded]]:
        """All groups of assemblies in order; the pools hold the leaves, then the result of each group."""
        done: list[Assembled | Folded] = []
        for group in self.plan.groups:
            if isinstance(group, Fold):
                arms = [self.table.pick(arm.edges[:, None], rows)[0] for arm in group.arms]
                done.append(fold_group(group, pools, arms))
            else:
                edges = self.table.pick(group.edges, rows)
                done.append(assemble_group(group, pools, edges, bool(self.closed.loops), tolerance))
            pools.append((done[-1].mobility, done[-1].bias))
        return pools, done

    def _joint_accelerations(self, motion: StackedMotion, a: Array, base: Array) -> Array:
        """q̈ = T_aᵀ(a2 − a1 − c) of every joint (..., nq)."""
        ground = np.broadcast_to(base, a.shape[1:])[None]
        above = np.concatenate([a, ground])[self.stacked.parent]  # −1 picks the ground
        miss = a - apply(motion.X, above) - motion.c
        step = apply(transpose(widen(self.active, motion.X.ndim - 3, 2)), miss)
        used = self.stacked.columns < self.closed.tree.nq
        flat = np.moveaxis(step, 0, -2)[..., used]
        qdd = np.empty_like(flat)
        qdd[..., self.stacked.columns[used]] = flat
        return qdd

    def _names(self, k: int) -> list[list[str]]:
        names = [link.joint.name for link in self.closed.tree.links] + [
            loop.name for loop in self.closed.loops
        ]
        return [[names[e] for e in row] for row in self.plan.groups[k].edges]

    def _pushes(self, motion: StackedMotion, force: Array, wrenches: Wrenches | None, ndim: int) -> Array:
        """Known wrench on each body: −p, loads, and joint forces as equal and opposite pairs (7.61)."""
        model, parent = self.closed.tree, self.stacked.parent
        drive = apply(widen(self.active, ndim, 2), spread_wide(self.stacked, force, ndim))
        drive[self.soft] = 0  # with an armature the drive is part of λ
        total = drive - motion.p
        back = apply(transpose(motion.X), drive)
        shape = np.broadcast_shapes(total.shape, back.shape)
        total = np.array(np.broadcast_to(total, shape), np.result_type(total, back))
        inner = parent >= 0
        np.subtract.at(total, parent[inner], np.broadcast_to(back, shape)[inner])
        if model.loads or wrenches:
            world = world_placements(motion.X_ground)
            external = external_wrenches(model, world, wrenches)
            extra = [np.zeros(6) if fx is None else fx for fx in external]
            total = total + np.stack(np.broadcast_arrays(*extra, np.zeros(total.shape[1:]))[:-1])
        return total

    def _leaves(self, phi: Array, push: Array) -> list[Pool]:
        """Φ and b of each body at each of its handles; inertia and known force of hubs."""
        pools, inertia, bias = [], widen(self.stacked.inertia, push.ndim - 2, 2), apply(phi, push)
        for bodies, h in zip(self.plan.leaves, self.plan.handles, strict=True):
            if h:
                tiled = np.tile(phi[bodies], (*(1,) * (phi.ndim - 2), h, h))
                pools.append((tiled, np.tile(bias[bodies], (*(1,) * (bias.ndim - 1), h))))
            else:
                pools.append((inertia[bodies], push[bodies]))
        return pools

    def _release(self, pools: list[Pool], done: list[Assembled | Folded]) -> Array:
        """Constraint forces from the top of the assembly tree down; sum of the handles' forces per body."""
        forces = [np.zeros_like(bias) for _, bias in pools]
        first = len(self.plan.leaves)
        for k in range(len(done) - 1, -1, -1):
            group, result = self.plan.groups[k], done[k]
            if isinstance(group, Fold) and isinstance(result, Folded):
                release_fold(group, result, forces, forces[first + k])
            elif isinstance(group, Group) and isinstance(result, Assembled):
                release_group(group, result, forces, forces[first + k])
        total = np.zeros((len(self.stacked.parent), *pools[0][1].shape[1:-1], 6), forces[0].dtype)
        for bodies, f in zip(self.plan.leaves, forces, strict=False):
            total[bodies] = f.reshape(*f.shape[:-1], f.shape[-1] // 6, 6).sum(axis=-2)
        return total


def divide_and_conquer(system: Model | ClosedModel) -> DivideAndConquer:
    """Plan the divide-and-conquer algorithm for a tree or a mechanism with loops.

    On any tree of N bodies the assembly takes at most 2 log2 N + 2 sequential levels, up and down; each level
    is one vectorised operation for each shape of assembly.

    Parameters
    ----------
    system : Model or ClosedModel

    Returns
    -------
    DivideAndConquer

    Raises
    ------
    IllPosedError
        A body's inertia cannot be inverted (a point mass, no mass); the message names the body.
    ModelError
        A joint with an armature at some points or degrees of freedom only.

    Examples
    --------
    >>> from lftgen.rigidbody import Body, Joint, Model
    >>> arm = Body("arm", 3.0, (0, 0, -1), np.eye(3))
    >>> model = Model([arm], [Joint("J", "revolute", "ground", "arm", axis=(1, 0, 0))])
    >>> divide_and_conquer(model).forward_dynamics([np.pi / 2]).qdd.round(6)
    array([-7.3575])
    """
    closed = ClosedModel(system, ()) if isinstance(system, Model) else system
    tree, stacked = closed.tree, stack_model(closed.tree)
    full = symmetric_rank(stacked.inertia, RANK_TOLERANCE).reshape(len(tree.links), -1).min(axis=1)
    for link, rank in zip(tree.links, full, strict=True):
        if rank < 6:
            raise IllPosedError(
                f"body {link.body.name!r}: its inertia has rank {rank} of 6, so Φ = I⁻¹ does not exist. "
                "Give it mass and rotational inertia about three axes, or use forward_dynamics."
            )
    table = edge_table(closed)
    active = [active_subspace(link.subspace) for link in tree.links]
    padded = [np.concatenate([T, np.zeros((*T.shape[:-1], 6 - T.shape[-1]))], axis=-1) for T in active]
    return DivideAndConquer(
        closed=closed,
        plan=plan_assembly([link.parent for link in tree.links], table.edges),
        stacked=stacked,
        mobility=np.linalg.inv(stacked.inertia),
        table=table,
        soft=np.flatnonzero([k.joint.dof > 0 and bool(k.joint.armature.any()) for k in tree.links]),
        active=stack(padded, tree.batch_shape, 2),
    )
