"""Assembly of articulated bodies with groups of handles, many at once, redundant constraints included.

With the edges' rows P (Tᵀ or −Tᵀ in the axes of each handle) the constraints are
P_2 a_2 + P_3 a_3 + E λ = γ, and the forces on the handles f_2 = P_2ᵀ λ, f_3 = P_3ᵀ λ: for one joint in one
frame P_2 = −Tᵀ, P_3 = Tᵀ, which gives (7.60) and (7.61). E is a compliance (an armature), usually zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lftgen.errors import IllPosedError
from lftgen.rigidbody.assembly_tree import Group, Side
from lftgen.rigidbody.spatial import Array, apply, transpose

Pool = tuple[Array, Array]
"""Φ (n, ..., 6 h, 6 h) and b (n, ..., 6 h) of n articulated bodies with h handles each."""

EdgeRows = tuple[Array, Array, Array, Array, Array]
"""Of n edges: P_after, P_before (n, ..., rows, 6); γ, E, and the scale of each row (n, ..., rows)."""

COMPONENTS = ("tx", "ty", "tz", "fx", "fy", "fz")
CONSISTENCY = 1e-6
"""Largest part of a right-hand side, relative to its terms, that redundant constraints may contradict."""


@dataclass(frozen=True, eq=False)
class Undetermined:
    """Constraint forces that redundant constraints leave open where an assembly closes joints.

    Attributes
    ----------
    joints : tuple of str
        Joints closed together.
    basis : array (6 m, k)
        Wrenches [torque; force] on the successors of the m joints, in their axes: any multiples of the k
        columns may be added without changing the motion.
    components : tuple of str
        k components, "joint_tx" to "joint_fz", that would settle them if they were known.

    Examples
    --------
    >>> Undetermined(("L",), np.eye(6)[:, 5:], ("L_fz",)).components
    ('L_fz',)
    """

    joints: tuple[str, ...]
    basis: Array
    components: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Assembled:
    """Equations of joined bodies, and what the way back needs.

    Attributes
    ----------
    mobility, bias : arrays (G, ..., 6 h, 6 h), (G, ..., 6 h)
        Φ^A and b^A (7.63).
    inverse : array (G, ..., n, n)
        Y⁻¹; on redundant constraints a symmetric inverse on the range of Y.
    coupling : array (G, ..., 6 h, n)
        Φ_rest,joined Pᵀ.
    rhs : array (G, ..., n)
        β = γ − P b.
    rows : tuple of array
        P of each side, (G, ..., n, 6 m).
    null : array (G, n, n) or None
        Null directions of Y, as columns; zero columns elsewhere.
    after : tuple of (array, slice)
        For each edge its P_after and its rows.
    """

    mobility: Array
    bias: Array
    inverse: Array
    coupling: Array
    rhs: Array
    rows: tuple[Array, ...]
    null: Array | None
    after: tuple[tuple[Array, slice], ...]

    def undetermined(self, names: Sequence[Sequence[str]]) -> list[Undetermined]:
        """Report the open constraint forces of each assembly of the group (first point of a batch)."""
        if self.null is None:
            return []
        reports = []
        for g, null in enumerate(self.null):
            first = [P[(g, *(0,) * (P.ndim - 3))].real for P, _ in self.after]
            spans = [P.T @ null[rows] for P, (_, rows) in zip(first, self.after, strict=True)]
            reports += report_open_forces(spans, names[g])
        return reports


def report_open_forces(spans: Sequence[Array], names: Sequence[str]) -> list[Undetermined]:
    """At most one `Undetermined` from the open wrenches (6, k) on each joint; zero columns are left out."""
    basis = np.concatenate(spans)
    basis = basis[:, np.abs(basis).max(axis=0) > 0]
    if not basis.shape[1]:
        return []
    basis, pivots = _reduced_columns(basis)
    return [Undetermined(tuple(names), basis, tuple(f"{names[k // 6]}_{COMPONENTS[k % 6]}" for k in pivots))]


def _reduced_columns(basis: Array) -> tuple[Array, list[int]]:
    """Column-reduced basis and its pivot rows, largest pivots first."""
    basis = basis.copy()
    pivots: list[int] = []
    for k in range(basis.shape[1]):
        open_rows = np.abs(basis[:, k:])
        row, column = divmod(int(open_rows.argmax()), open_rows.shape[1])
        column += k
        basis[:, [k, column]] = basis[:, [column, k]]
        basis[:, k] /= basis[row, k]
        others = [j for j in range(basis.shape[1]) if j != k]
        basis[:, others] -= np.outer(basis[:, k], basis[row, others])
        pivots.append(row)
    order = np.argsort(pivots)
    basis[np.abs(basis) < 1e-12] = 0
    return basis[:, order], [pivots[k] for k in order]


def assemble_group(
    group: Group,
    pools: Sequence[Pool],
    edges: Sequence[EdgeRows],
    redundant: bool,
    tolerance: float,
) -> Assembled:
    """Join the articulated bodies of a group by their edges (7.62), (7.63).

    Parameters
    ----------
    group : Group
    pools : sequence of (Φ, b)
    edges : for each edge slot, the rows of the edges that the group closes
    redundant : bool
        Look for redundant constraints.
    tolerance : float

    Raises
    ------
    IllPosedError
        Redundant constraints that contradict each other.
    """
    sides = [_take(pools[side.pool], side) for side in group.sides]
    batch = sides[0][1].shape[:-1]
    rows, after = _side_rows(group, edges, batch)
    n = rows[0].shape[-2]
    gamma = _concatenate([e[2] for e in edges], batch)
    Y = _concatenate([e[3] for e in edges], batch)[..., None] * np.eye(n)
    couplings, biases, sizes = [], [], []
    beta, magnitude = gamma, np.abs(gamma)
    for (phi, b, kept), P in zip(sides, rows, strict=True):
        U = np.matmul(phi[..., :, kept:], transpose(P))  # Φ Pᵀ, all handles
        Y = Y + np.matmul(P, U[..., kept:, :])  # Y = Tᵀ(Φ2 + Φ3)T
        Pb = apply(P, b[..., kept:])
        beta, magnitude = beta - Pb, magnitude + np.abs(Pb)  # β = c − b3 + b2
        couplings.append(U[..., :kept, :])
        biases.append(b[..., :kept])
        sizes.append(kept)
    U = np.concatenate(couplings, axis=-2)
    if redundant:
        scale = _concatenate([e[4] for e in edges], batch)
        inverse, null = range_inverse(Y, scale, beta, magnitude, tolerance)
    else:
        inverse, null = regular_inverse(Y), None
    gain = np.matmul(U, inverse)
    phi_new = -np.matmul(gain, transpose(U))  # Φ14 = Φ12 W Φ34, with the signs of P
    start = 0
    for (phi, _, kept), size in zip(sides, sizes, strict=True):
        block = slice(start, start + size)
        phi_new[..., block, block] += phi[..., :kept, :kept]  # Φ1 − Φ12 W Φ21, Φ4 − Φ43 W Φ34
        start += size
    bias = np.concatenate(biases, axis=-1) + apply(gain, beta)  # b1 − Φ12 W β, b4 + Φ43 W β
    return Assembled(phi_new, bias, inverse, U, beta, tuple(rows), null, tuple(after))


def release_group(group: Group, done: Assembled, forces: list[Array], own: Array) -> None:
    """Constraint forces of a group from the forces on its open handles (7.62), written to the parts."""
    lam = apply(done.inverse, done.rhs - apply(transpose(done.coupling), own))
    start = 0
    for side, P in zip(group.sides, done.rows, strict=True):
        kept = 6 * len(side.rest)
        values = np.concatenate([own[..., start : start + kept], apply(transpose(P), lam)], axis=-1)
        target = forces[side.pool]
        if target.dtype != values.dtype:
            target = forces[side.pool] = target.astype(values.dtype)
        part = np.empty_like(values)
        part[..., side.order] = values
        target[side.rows] = part
        start += kept


def _take(pool: Pool, side: Side) -> tuple[Array, Array, int]:
    """Equations with the handles that stay first, and how many rows those are."""
    phi, b, order = pool[0][side.rows], pool[1][side.rows], side.order
    if not side.in_order:
        phi, b = phi[..., order[:, None], order], b[..., order]
    return phi, b, 6 * len(side.rest)


def _concatenate(parts: Sequence[Array], batch: tuple[int, ...]) -> Array:
    whole = [np.broadcast_to(p, (*batch, p.shape[-1])) for p in parts]
    return np.concatenate(whole, axis=-1) if whole else np.zeros((*batch, 0))


def _side_rows(
    group: Group, edges: Sequence[EdgeRows], batch: tuple[int, ...]
) -> tuple[list[Array], list[tuple[Array, slice]]]:
    """P of each side over its joined handles, and P_after with its rows for each edge."""
    n = sum(e[0].shape[-2] for e in edges)
    dtype = np.result_type(float, *(e[1] for e in edges))
    rows = [np.zeros((*batch, n, 6 * len(side.joined)), dtype) for side in group.sides]
    after, start = [], 0
    for (P2, P1, *_), ends in zip(edges, group.slots, strict=True):
        block = slice(start, start + P2.shape[-2])
        for P, (side, place) in zip((P2, P1), ends, strict=True):
            if side >= 0:
                rows[side][..., block, 6 * place : 6 * place + 6] = P
        after.append((P2, block))
        start = block.stop
    return rows, after


def range_inverse(
    Y: Array, scale: Array, beta: Array, magnitude: Array, tolerance: float
) -> tuple[Array, Array | None]:
    """Inverse of Y (G, ..., n, n); where constraints are redundant, one on its range, and null directions.

    Ranks are those of scale · Y · scale.

    Raises
    ------
    IllPosedError
        The right-hand side beta, whose terms have the given magnitude, is not in the range.
    """
    scaled = scale[..., :, None] * Y * scale[..., None, :]
    null = None
    if Y.shape[-1]:
        values, vectors = np.linalg.eigh(scaled.real)
        open_ = np.abs(values) <= tolerance * np.abs(values).max(axis=-1, keepdims=True)
        if open_.any():
            miss = np.abs(apply(transpose(vectors), scale * beta)) * open_
            if (miss.max(axis=-1) > CONSISTENCY * np.maximum((scale * magnitude).max(axis=-1), 1e-9)).any():
                raise IllPosedError(
                    "inconsistent loop: redundant constraints contradict each other at this motion. "
                    "Make q and qd satisfy the loops (solve_posture), or remove the constraint that differs."
                )
            masked = vectors * open_[..., None, :]
            # with the open directions added Y is regular, and they get no force
            scaled = scaled + np.matmul(masked, transpose(masked))
            null = (scale[..., :, None] * masked).reshape(len(Y), -1, *Y.shape[-2:])[:, 0]
    return scale[..., :, None] * regular_inverse(scaled) * scale[..., None, :], null


def regular_inverse(Y: Array) -> Array:
    try:
        return np.linalg.inv(Y)
    except np.linalg.LinAlgError:
        raise IllPosedError("assembly: Y = Tᵀ(Φ2 + Φ3)T is singular; constraints are redundant.") from None
