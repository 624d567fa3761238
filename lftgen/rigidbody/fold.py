"""Articulated bodies folded into a hub: their inertias as seen from it are added up, many hubs at once.

With the rows P, H of an edge at an arm and at the hub, P a_j + H a_h + E λ = γ, the arm's a_j = Φ_jj Pᵀλ +
Φ_jr f_r + b_j gives D λ = β − Uᵀ f_r − H a_h with D = P Φ_jj Pᵀ + E, U = Φ_rj Pᵀ, β = γ − P b_j. So an arm
looks to the hub like the inertia Hᵀ D⁻¹ H, and Y of all edges (7.62) is never formed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lftgen.rigidbody.assembly_tree import Arm, Fold
from lftgen.rigidbody.group_assembly import EdgeRows, Pool, regular_inverse
from lftgen.rigidbody.spatial import Array, apply, transpose


@dataclass(frozen=True, eq=False)
class FoldedArm:
    """What an arm gives to its hub, and what the way back needs: arrays over K arms.

    Attributes
    ----------
    inverse : array (K, ..., n, n)
        D⁻¹.
    rhs : array (K, ..., n)
        β.
    coupling : array (K, ..., 6 h, n)
        U of the handles that stay.
    own, hub : arrays (K, ..., n, 6)
        P and H.
    mobility, bias : arrays (K, ..., 6 h, 6 h), (K, ..., 6 h)
        Of the handles that stay while the hub stands still.
    """

    inverse: Array
    rhs: Array
    coupling: Array
    own: Array
    hub: Array
    mobility: Array
    bias: Array


@dataclass(frozen=True, eq=False)
class Folded:
    """Equations of hubs with their arms.

    Attributes
    ----------
    mobility, bias : arrays (G, ..., 6 h, 6 h), (G, ..., 6 h)
        Φ^A and b^A of the hub's open handles, then the arms'.
    hub_mobility, hub_bias : arrays (G, ..., 6, 6), (G, ..., 6)
        a_h = M (f_h − Cᵀ f_r) + a_0.
    coupling : array (G, ..., 6 h, 6)
        C = U D⁻¹ H of the arms' handles that stay.
    arms : tuple of FoldedArm
    """

    mobility: Array
    bias: Array
    hub_mobility: Array
    hub_bias: Array
    coupling: Array
    arms: tuple[FoldedArm, ...]


def fold_group(fold: Fold, pools: Sequence[Pool], edges: Sequence[EdgeRows]) -> Folded:
    """Fold the arms of a group into their hubs; with M = (I + Σ Hᵀ D⁻¹ H)⁻¹ the hub moves by M.

    Parameters
    ----------
    fold : Fold
    pools : sequence of (Φ, b)
        The hubs' pool keeps inertia and known force instead.
    edges : for each arm, the rows of its edges
    """
    inertia, push = pools[fold.pool][0][fold.rows], pools[fold.pool][1][fold.rows]
    arms = [_fold_arm(arm, pools[arm.pool], rows) for arm, rows in zip(fold.arms, edges, strict=True)]
    couplings = [np.zeros((*push.shape[:-1], 0, 6))]
    for arm, part in zip(fold.arms, arms, strict=True):
        gain = np.matmul(part.inverse, part.hub)  # D⁻¹ H
        inertia = inertia + _gather(arm, np.matmul(transpose(part.hub), gain), len(push))
        push = push + _gather(arm, apply(transpose(gain), part.rhs), len(push))
        if len(arm.rest):
            couplings.append(np.matmul(part.coupling, gain))
    M, C = regular_inverse(inertia), np.concatenate(couplings, axis=-2)
    a0 = apply(M, push)
    reach = np.concatenate([np.tile(np.eye(6), (*push.shape[:-1], fold.open, 1)), -C], axis=-2)
    phi = np.matmul(np.matmul(reach, M), transpose(reach))
    bias, start = apply(reach, a0), 6 * fold.open
    for arm, part in zip(fold.arms, arms, strict=True):
        block = slice(start, start + 6 * len(arm.rest))
        if len(arm.rest):
            phi[..., block, block] += part.mobility
            bias[..., block] += part.bias
        start = block.stop
    return Folded(phi, bias, M, a0, C, tuple(arms))


def release_fold(fold: Fold, done: Folded, forces: list[Array], own: Array) -> None:
    """Constraint forces of a fold from the forces on its open handles, written to the arms and hubs."""
    start = 6 * fold.open
    total = own[..., :start].reshape(*own.shape[:-1], fold.open, 6).sum(axis=-2)
    drive = total - apply(transpose(done.coupling), own[..., start:])
    a = apply(done.hub_mobility, drive) + done.hub_bias
    for arm, part in zip(fold.arms, done.arms, strict=True):
        rhs = part.rhs - apply(part.hub, a[arm.owner])
        size = 6 * len(arm.rest)
        kept = own[..., start : start + size] if size else own[arm.owner, ..., :0]
        lam = apply(part.inverse, rhs - apply(transpose(part.coupling), kept))
        start += size
        total = total + _gather(arm, apply(transpose(part.hub), lam), len(total))
        values = np.empty((*lam.shape[:-1], size + 6), np.result_type(lam, kept))
        rest, joined = _places(arm)
        values[..., rest], values[..., joined] = kept, apply(transpose(part.own), lam)
        _write(forces, arm.pool, arm.rows, values)
    _write(forces, fold.pool, fold.rows, total)


def _fold_arm(arm: Arm, pool: Pool, rows: EdgeRows) -> FoldedArm:
    """Equations of the arms with the constraint force of their edge eliminated."""
    phi, b = pool[0][arm.rows], pool[1][arm.rows]
    P, H = (rows[1], rows[0]) if arm.hub_after else (rows[0], rows[1])
    rest, joined = _places(arm)
    all_ = np.matmul(phi[..., joined], transpose(P))
    D = np.matmul(P, all_[..., joined, :]) + rows[3][..., None] * np.eye(P.shape[-2])
    inverse, U = regular_inverse(D), all_[..., rest, :]
    beta = rows[2] - apply(P, b[..., joined])
    gain = np.matmul(U, inverse)
    mobility = phi[..., rest[:, None], rest] - np.matmul(gain, transpose(U))
    return FoldedArm(inverse, beta, U, P, H, mobility, b[..., rest] + apply(gain, beta))


def _places(arm: Arm) -> tuple[Array, slice]:
    """Rows of the handles that stay, and of the joined one."""
    rest = (6 * arm.rest[:, None] + np.arange(6)).reshape(-1)
    return rest, slice(6 * arm.joined, 6 * arm.joined + 6)


def _gather(arm: Arm, values: Array, count: int) -> Array:
    """Sum over the arms of each hub."""
    if len(arm.owner) == count and len(arm.rest):
        return values
    total = np.zeros((count, *values.shape[1:]), values.dtype)
    first = np.flatnonzero(np.diff(arm.owner, prepend=-1))
    total[arm.owner[first]] = np.add.reduceat(values, first, axis=0)
    return total


def _write(forces: list[Array], pool: int, rows: Array, values: Array) -> None:
    target = forces[pool]
    if target.dtype != values.dtype:
        target = forces[pool] = target.astype(np.result_type(target, values))
    target[rows] = values
