"""Constraint rows of all joints of a mechanism, stacked by their number (7.60), for divide-and-conquer."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from lftgen.errors import ModelError
from lftgen.rigidbody.assembly_tree import Edge
from lftgen.rigidbody.elements import Joint
from lftgen.rigidbody.group_assembly import EdgeRows
from lftgen.rigidbody.joints import active_subspace, constraint_subspace
from lftgen.rigidbody.loops import ClosedModel, loop_residual, loop_rows
from lftgen.rigidbody.spatial import Array, apply, transpose
from lftgen.rigidbody.stacked import (
    StackedModel,
    StackedMotion,
    spread_wide,
    stack,
    widen,
    world_placements,
)

Rows = tuple[Array, Array, Array, Array]
"""P_after, P_before, γ and E of n edges."""


@dataclass(frozen=True, eq=False)
class EdgeTable:
    """Joints and loop joints as edges, with what is constant of their rows.

    Attributes
    ----------
    closed : ClosedModel
    edges : tuple of Edge
        Tree joints in the order of the links, then loop joints.
    rank : array
        Number of each edge among those with as many rows.
    tree_rows : dict of (bodies, Tᵀ, E, gain)
        Tree joints by number of rows; E is the compliance, gain · τ its part of γ.
    """

    closed: ClosedModel
    edges: tuple[Edge, ...]
    rank: Array
    tree_rows: dict[int, tuple[Array, Array, Array, Array]]

    def rows(
        self,
        stacked: StackedModel,
        motion: StackedMotion,
        force: Array,
        base: Array,
        stabilization: tuple[float, float],
        phi: Array,
    ) -> dict[int, EdgeRows]:
        """Rows of all edges at a state of motion, by their number.

        Parameters
        ----------
        force : array (*batch, nq)
            Joint forces; they enter the rows of joints with an armature.
        base : array (..., 6)
            The ground's acceleration, which is known.
        stabilization : (alpha, beta)
        phi : array (N, *batch, 6, 6)
            Inverse inertia of every body, for the scales.
        """
        ndim, rows = motion.X.ndim - 3, {}
        drive = spread_wide(stacked, force, ndim)
        for size, (bodies, TT, E, gain) in self.tree_rows.items():
            TT, gain = widen(TT, ndim, 2), widen(gain, ndim, 2)
            before = -np.matmul(TT, motion.X[bodies])
            gamma = apply(TT, motion.c[bodies]) + apply(gain, drive[bodies])
            rooted = _column(stacked.parent[bodies] < 0, gamma.ndim)
            gamma = gamma - np.where(rooted, apply(before, base), 0)
            rows[size] = (np.broadcast_to(TT, before.shape), before, gamma, widen(E, ndim, 1))
        if self.closed.loops:
            self._add_loops(rows, motion, base, stabilization)
        return {size: (*entry, self._scale(size, entry, phi)) for size, entry in rows.items()}

    def pick(self, numbers: Array, rows: dict[int, EdgeRows]) -> list[EdgeRows]:
        """For each slot (column) of a group's edges, their rows stacked over the group."""
        data = []
        for column in numbers.T:
            chosen = self.rank[column]
            P2, P1, gamma, E, scale = rows[self.edges[column[0]].size]
            data.append((P2[chosen], P1[chosen], gamma[chosen], E[chosen], scale[chosen]))
        return data

    def _add_loops(
        self,
        rows: dict[int, Rows],
        motion: StackedMotion,
        base: Array,
        stabilization: tuple[float, float],
    ) -> None:
        world, (alpha, beta) = world_placements(motion.X_ground), stabilization
        found: dict[int, list[Rows]] = defaultdict(list)
        batch = motion.v.shape[1:-1]
        for loop in self.closed.loops:
            P1, P2, gamma, rate = loop_rows(self.closed, loop, world, list(motion.v))
            if alpha or beta:
                gamma = gamma - 2 * alpha * rate - beta**2 * loop_residual(self.closed, loop, world)
            if self.closed.ends(loop)[0] < 0:
                gamma = gamma - apply(P1, base)
            found[gamma.shape[-1]].append((P2, P1, gamma, np.zeros(gamma.shape[-1])))
        for size, blocks in found.items():
            new = [stack([b[k] for b in blocks], batch, 2 if k < 2 else 1) for k in range(4)]
            if size in rows:
                pairs = zip(rows[size], new, strict=True)
                new = [np.concatenate([np.broadcast_to(r, (len(r), *n.shape[1:])), n]) for r, n in pairs]
            rows[size] = (new[0], new[1], new[2], new[3])

    def _scale(self, size: int, entry: Rows, phi: Array) -> Array:
        """1/√ of each row's mobility if both bodies were free (ones without loops: ranks are then full).

        Against that a constrained mobility shows its rank: what rounding leaves of a cancelled one is small.
        """
        P2, P1, gamma, E = entry
        if not self.closed.loops:
            return np.ones_like(gamma.real)
        after, before = np.array([(e.after, e.before) for e in self.edges if e.size == size]).T
        below = np.where(_column(before < 0, phi.ndim), 0, phi[before])
        free = _diagonal(P2, phi[after]) + _diagonal(P1, below) + E
        scale: Array = 1 / np.sqrt(np.maximum(free.real, 1e-300))
        return scale


def _column(mask: Array, ndim: int) -> Array:
    return mask.reshape(-1, *(1,) * (ndim - 1))


def _diagonal(P: Array, phi: Array) -> Array:
    """Diagonal of P Φ Pᵀ."""
    diagonal: Array = (np.matmul(P, phi) * P).sum(axis=-1)
    return diagonal


def edge_table(closed: ClosedModel) -> EdgeTable:
    """Edges of a mechanism and the constants of their rows.

    Raises
    ------
    ModelError
        A joint with an armature at some points or degrees of freedom only.

    Examples
    --------
    >>> from lftgen.rigidbody import Body, Model
    >>> arm = Body("arm", 1.0, (1, 0, 0), np.eye(3))
    >>> edge_table(ClosedModel(Model([arm], [Joint("J", "revolute", "ground", "arm")]), ())).edges
    (Edge(before=-1, after=0, size=5),)
    """
    tree = closed.tree
    found: dict[int, list[tuple[int, Array, Array, Array]]] = defaultdict(list)
    edges = []
    for i, link in enumerate(tree.links):
        constants = _joint_rows(link.joint)
        edges.append(Edge(link.parent, i, constants[0].shape[-2]))
        found[edges[-1].size].append((i, *constants))
    for loop, size in zip(closed.loops, closed.sizes, strict=True):
        edges.append(Edge(*closed.ends(loop), size))
    seen: dict[int, int] = defaultdict(int)
    rank = []
    for edge in edges:
        rank.append(seen[edge.size])
        seen[edge.size] += 1
    tree_rows, batch = {}, tree.batch_shape
    for size, entries in found.items():
        bodies, TT, E, gain = zip(*entries, strict=True)
        tree_rows[size] = (np.array(bodies), stack(TT, batch, 2), stack(E, batch, 1), stack(gain, batch, 2))
    return EdgeTable(closed, tuple(edges), np.array(rank), tree_rows)


def _joint_rows(joint: Joint) -> tuple[Array, Array, Array]:
    """Tᵀ, E and gain of a tree joint; an armature adds its degrees of freedom as rows.

    A joint with armature J obeys J q̈ = τ − σ, σ = Sᵀ f. With f = T λ + T_a σ this is the row
    T_aᵀ(a2 − a1 − c) + σ / J = τ / J: a compliance E = 1/J beside Tᵀ(a2 − a1 − c) = 0, E = 0.
    """
    T, J, dof = constraint_subspace(joint.subspace), joint.armature, joint.dof
    if not (dof and J.any()):
        return transpose(T), np.zeros(T.shape[-1]), np.zeros((T.shape[-1], 6))
    if not J.all():
        raise ModelError(
            f"armature of joint {joint.name!r}: divide-and-conquer takes it non-zero at all points and "
            "degrees of freedom, or zero at all."
        )
    soft = np.broadcast_to(1 / J, (*J.shape[:-1], dof))
    both = np.broadcast_shapes(T.shape[:-2], soft.shape[:-1])
    Ta = np.broadcast_to(active_subspace(joint.subspace), (*both, 6, dof))
    T = np.concatenate([np.broadcast_to(T, (*both, *T.shape[-2:])), Ta], axis=-1)
    E = np.concatenate([np.zeros((*soft.shape[:-1], 6 - dof)), soft], axis=-1)
    gain = np.zeros((*soft.shape[:-1], 6, 6))
    gain[..., 6 - dof :, :dof] = soft[..., None] * np.eye(dof)
    return transpose(T), E, gain
