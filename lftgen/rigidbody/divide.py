"""Divide-and-conquer forward dynamics of trees and closed loops (RBDA 7.5; 7.57-7.63)."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lftgen.errors import IllPosedError, ModelError
from lftgen.rigidbody.assembly_tree import AssemblyPlan, Edge, plan_assembly
from lftgen.rigidbody.forward import total_joint_forces
from lftgen.rigidbody.group_assembly import Assembled, EdgeRows, Undetermined, assemble_group, release_group
from lftgen.rigidbody.handles import RANK_TOLERANCE, symmetric_rank
from lftgen.rigidbody.joints import active_subspace, constraint_subspace
from lftgen.rigidbody.kinematics import base_motion, coordinates
from lftgen.rigidbody.loads import Wrenches, external_wrenches
from lftgen.rigidbody.loops import ClosedModel, loop_residual, loop_rows
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
    classes: dict[int, tuple[Array, Array, Array, Array]]
    """Tree joints by number of rows: bodies, Tᵀ (n, *batch, rows, 6), E and the armatures' part of γ."""
    rank: Array
    """Row of each edge among those of its size."""
    edges: tuple[Edge, ...]
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
        stabilization: tuple[float, float] = (0.0, 0.0),
        tolerance: float = RANK_TOLERANCE,
    ) -> DivideResult:
        """Joint accelerations, all assemblies of a level at once.

        Parameters
        ----------
        q, qd, tau, wrenches, base_acceleration
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
        model = self.closed.tree
        angles, rates = coordinates(model, q, "q"), coordinates(model, qd, "qd")
        force = total_joint_forces(model, angles, rates, coordinates(model, tau, "tau"), None)
        motion = move(self.stacked, angles, rates)
        ndim = motion.X.ndim - 3
        base = base_motion(model, base_acceleration)
        push = self._pushes(motion, force, wrenches, ndim)
        phi = widen(self.mobility, ndim, 2)
        rows = self._scaled(self._rows(motion, force, base, stabilization, ndim), phi)
        pools = self._leaves(phi, apply(phi, push))
        done: list[Assembled] = []
        for group in self.plan.groups:
            done.append(
                assemble_group(group, pools, self._edge_data(group.edges, rows), self._loose, tolerance)
            )
            pools.append((done[-1].mobility, done[-1].bias))
        f = self._release(pools, done)
        a = apply(phi, push + f)
        above = np.broadcast_to(base, a.shape[1:])[None]
        parents = np.concatenate([a, above])[self.stacked.parent]  # −1 picks the ground
        miss = a - apply(motion.X, parents) - motion.c
        step = apply(transpose(widen(self.active, ndim, 2)), miss)  # q̈ = T_aᵀ(a2 − a1 − c)
        qdd = self._gather(step)
        open_forces = tuple(u for k, d in enumerate(done) for u in d.undetermined(self._names(k)))
        return DivideResult(qdd, a, open_forces, 2 * self.plan.levels, motion.steps)

    @property
    def _loose(self) -> bool:
        """True where constraints may be redundant: a tree on the ground never has such."""
        return bool(self.closed.loops)

    def _names(self, k: int) -> list[list[str]]:
        names = [k.joint.name for k in self.closed.tree.links] + [loop.name for loop in self.closed.loops]
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

    def _rows(
        self, motion: StackedMotion, force: Array, base: Array, stabilization: tuple[float, float], ndim: int
    ) -> dict[int, tuple[Array, Array, Array, Array]]:
        """P_after, P_before, γ, E of all edges, by their number of rows (7.60)."""
        rows = {}
        drive = spread_wide(self.stacked, force, ndim)
        for size, (bodies, TT, E, gain) in self.classes.items():
            TT, gain = widen(TT, ndim, 2), widen(gain, ndim, 2)
            before = -np.matmul(TT, motion.X[bodies])
            gamma = apply(TT, motion.c[bodies]) + apply(gain, drive[bodies])
            rooted = self.stacked.parent[bodies] < 0
            gamma = gamma - np.where(
                rooted.reshape(-1, *(1,) * (gamma.ndim - 1)), apply(before, base), 0
            )  # the ground's acceleration is known
            rows[size] = (np.broadcast_to(TT, before.shape), before, gamma, widen(E, ndim, 1))
        if self.closed.loops:
            self._add_loops(rows, motion, base, stabilization)
        return rows

    def _add_loops(
        self,
        rows: dict[int, tuple[Array, Array, Array, Array]],
        motion: StackedMotion,
        base: Array,
        stabilization: tuple[float, float],
    ) -> None:
        world, (alpha, beta) = world_placements(motion.X_ground), stabilization
        found = defaultdict(list)
        batch = motion.v.shape[1:-1]
        for loop in self.closed.loops:
            P1, P2, gamma, rate = loop_rows(self.closed, loop, world, list(motion.v))
            residual = loop_residual(self.closed, loop, world)
            gamma = gamma - 2 * alpha * rate - beta**2 * residual
            if self.closed.ends(loop)[0] < 0:
                gamma = gamma - apply(P1, base)
            found[gamma.shape[-1]].append((P2, P1, gamma, np.zeros(gamma.shape[-1])))
        for size, blocks in found.items():
            new = [stack([b[k] for b in blocks], batch, 2 if k < 2 else 1) for k in range(4)]
            if size in rows:
                old = [
                    np.broadcast_to(r, (len(r), *n.shape[1:])) for r, n in zip(rows[size], new, strict=True)
                ]
                new = [np.concatenate(pair) for pair in zip(old, new, strict=True)]
            rows[size] = (new[0], new[1], new[2], new[3])

    def _scaled(self, rows: dict[int, tuple[Array, Array, Array, Array]], phi: Array) -> dict[int, EdgeRows]:
        """Add the scale of each row: 1/√ of its mobility if both bodies were free.

        Against that a constrained mobility shows its rank: what rounding leaves of a cancelled one is small.
        """
        scaled: dict[int, EdgeRows] = {}
        for size, (P2, P1, gamma, E) in rows.items():
            free = np.ones_like(gamma.real)
            if self._loose:
                ends = [(e.after, e.before) for e in self.edges if e.size == size]
                after, before = np.array(ends).T
                ground = (before < 0).reshape(-1, *(1,) * (phi.ndim - 1))
                free = _diagonal(P2, phi[after]) + _diagonal(P1, np.where(ground, 0, phi[before])) + E
            scaled[size] = (P2, P1, gamma, E, 1 / np.sqrt(np.maximum(free.real, 1e-300)))
        return scaled

    def _edge_data(self, edges: Array, rows: dict[int, EdgeRows]) -> list[EdgeRows]:
        """For each edge slot of a group, its rows stacked over the group."""
        data = []
        for column in edges.T:
            P2, P1, gamma, E, scale = rows[self.edges[column[0]].size]
            pick = self.rank[column]
            data.append((P2[pick], P1[pick], gamma[pick], E[pick], scale[pick]))
        return data

    def _leaves(self, phi: Array, bias: Array) -> list[tuple[Array, Array]]:
        pools = []
        for bodies, h in zip(self.plan.leaves, self.plan.handles, strict=True):
            ones = (1,) * (phi.ndim - 2)
            pools.append(
                (np.tile(phi[bodies], (*ones, h, h)), np.tile(bias[bodies], (*(1,) * (bias.ndim - 1), h)))
            )
        return pools

    def _release(self, pools: list[tuple[Array, Array]], done: list[Assembled]) -> Array:
        """Constraint forces from the top of the assembly tree down; sum of the handles' forces per body."""
        forces = [np.zeros_like(bias) for _, bias in pools]
        first = len(self.plan.leaves)
        for k in range(len(done) - 1, -1, -1):
            release_group(self.plan.groups[k], done[k], forces, forces[first + k])
        total = np.zeros((len(self.stacked.parent), *pools[0][1].shape[1:-1], 6), forces[0].dtype)
        for bodies, h, f in zip(self.plan.leaves, self.plan.handles, forces, strict=False):
            total[bodies] = f.reshape(*f.shape[:-1], h, 6).sum(axis=-2)
        return total

    def _gather(self, step: Array) -> Array:
        used = self.stacked.columns < self.closed.tree.nq
        flat = np.moveaxis(step, 0, -2)[..., used]
        qdd = np.empty_like(flat)
        qdd[..., self.stacked.columns[used]] = flat
        return qdd


def _diagonal(P: Array, phi: Array) -> Array:
    """Diagonal of P Φ Pᵀ."""
    diagonal: Array = (np.matmul(P, phi) * P).sum(axis=-1)
    return diagonal


def divide_and_conquer(system: Model | ClosedModel) -> DivideAndConquer:
    """Plan the divide-and-conquer algorithm for a tree or a mechanism with loops.

    Assembly takes O(log N) sequential levels on chains and on trees of bounded degree; each level is one
    vectorised operation for each shape of assembly.

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
    classes, sizes, rank_of = _joint_classes(tree)
    edges = [Edge(link.parent, i, sizes[i]) for i, link in enumerate(tree.links)]
    counts = {size: len(entry[0]) for size, entry in classes.items()}
    for loop, size in zip(closed.loops, closed.sizes, strict=True):
        before, after = closed.ends(loop)
        edges.append(Edge(before, after, size))
        rank_of.append(counts.get(size, 0))
        counts[size] = counts.get(size, 0) + 1
    active = [active_subspace(link.subspace) for link in tree.links]
    padded = [np.concatenate([T, np.zeros((*T.shape[:-1], 6 - T.shape[-1]))], axis=-1) for T in active]
    return DivideAndConquer(
        closed=closed,
        plan=plan_assembly([link.parent for link in tree.links], edges),
        stacked=stacked,
        mobility=np.linalg.inv(stacked.inertia),
        classes=classes,
        rank=np.array(rank_of),
        edges=tuple(edges),
        soft=np.flatnonzero([k.joint.dof > 0 and bool(k.joint.armature.any()) for k in tree.links]),
        active=stack(padded, tree.batch_shape, 2),
    )


def _joint_classes(
    tree: Model,
) -> tuple[dict[int, tuple[Array, Array, Array, Array]], list[int], list[int]]:
    """Constraint rows of the tree joints, by size; an armature adds its degrees of freedom as rows.

    A joint with armature J obeys J q̈ = τ − σ, σ = Sᵀ f. With f = T λ + T_a σ this is the row
    T_aᵀ(a2 − a1 − c) + σ / J = τ / J: a compliance E = 1/J beside Tᵀ(a2 − a1 − c) = 0, E = 0.
    """
    found: dict[int, list[tuple[int, Array, Array, Array]]] = defaultdict(list)
    sizes, rank_of = [], []
    for i, link in enumerate(tree.links):
        T, J, dof = constraint_subspace(link.subspace), link.joint.armature, link.joint.dof
        E, gain = np.zeros(T.shape[-1]), np.zeros((T.shape[-1], 6))
        if dof and J.any():
            if not J.all():
                raise ModelError(
                    f"armature of joint {link.joint.name!r}: divide-and-conquer takes it non-zero at "
                    "all points and degrees of freedom, or zero at all."
                )
            soft = np.broadcast_to(1 / J, (*J.shape[:-1], dof))
            both = np.broadcast_shapes(T.shape[:-2], soft.shape[:-1])
            Ta = np.broadcast_to(active_subspace(link.subspace), (*both, 6, dof))
            T = np.concatenate([np.broadcast_to(T, (*both, *T.shape[-2:])), Ta], axis=-1)
            E = np.concatenate([np.zeros((*soft.shape[:-1], 6 - dof)), soft], axis=-1)
            gain = np.zeros((*soft.shape[:-1], 6, 6))
            gain[..., 6 - dof :, :dof] = soft[..., None] * np.eye(dof)
        sizes.append(T.shape[-1])
        rank_of.append(len(found[sizes[-1]]))
        found[sizes[-1]].append((i, transpose(T), E, gain))
    batch = tree.batch_shape
    classes = {}
    for size, entries in found.items():
        numbers, rows, E_all, gains = zip(*entries, strict=True)
        classes[size] = (
            np.array(numbers),
            stack(rows, batch, 2),
            stack(E_all, batch, 1),
            stack(gains, batch, 2),
        )
    return classes, sizes, rank_of
