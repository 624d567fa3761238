"""Equations of motion of an articulated body at its handles (RBDA 7.1): two forms, sum, change of form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lftgen.errors import IllPosedError, ModelError
from lftgen.rigidbody.spatial import Array, apply, transpose

RANK_TOLERANCE = 1e-9
"""An eigenvalue below this fraction of the largest counts as zero (after balancing, see `balanced`)."""
FLOOR = 1e-6
"""A diagonal entry is balanced up to this fraction of the largest: units are evened out, rounding is not."""


@dataclass(frozen=True, eq=False)
class ArticulatedInertia:
    """f = I^A a + p^A at a handle with six degrees of freedom (7.2), or at several handles, stacked.

    Attributes
    ----------
    inertia : array (..., 6 h, 6 h)
        I^A, symmetric and positive definite for a body with full mobility.
    bias : array (..., 6 h)
        p^A: the force that leaves the handles without acceleration.

    Examples
    --------
    >>> body = ArticulatedInertia(np.eye(6), np.zeros(6))
    >>> (body + body).inertia[0, 0]
    np.float64(2.0)
    """

    inertia: Array
    bias: Array

    def __add__(self, other: ArticulatedInertia) -> ArticulatedInertia:
        """Weld the handles of two articulated bodies together (RBDA figure 7.2)."""
        if self.inertia.shape[-1] != other.inertia.shape[-1]:
            raise ModelError(
                f"weld: expected as many handles on both sides, got {self.inertia.shape[-1] // 6} and "
                f"{other.inertia.shape[-1] // 6}."
            )
        return ArticulatedInertia(self.inertia + other.inertia, self.bias + other.bias)

    def force(self, acceleration: Array) -> Array:
        """Force at the handles (..., 6 h) for given accelerations (7.2)."""
        return apply(self.inertia, acceleration) + self.bias

    def mobility(self, tolerance: float = RANK_TOLERANCE) -> ArticulatedMobility:
        """The inverse form a = Φ^A f + b^A, Φ^A = (I^A)⁻¹, b^A = −Φ^A p^A.

        Raises
        ------
        IllPosedError
            I^A is singular (a massless handle, a point mass): the message gives its rank.
        """
        phi = checked_inverse(self.inertia, "articulated-body inertia I^A", tolerance)
        return ArticulatedMobility(phi, -apply(phi, self.bias))

    def seen_from(self, X: Array) -> ArticulatedInertia:
        """The same handle seen from a frame P, where X takes motions from P to the handle's frame."""
        XT = transpose(X)
        return ArticulatedInertia(np.matmul(np.matmul(XT, self.inertia), X), apply(XT, self.bias))


@dataclass(frozen=True, eq=False)
class ArticulatedMobility:
    """a = Φ^A f + b^A at one handle (7.3) or at several, stacked (7.4). This form always exists.

    Attributes
    ----------
    mobility : array (..., 6 h, 6 h)
        Φ^A, symmetric and positive semi-definite; its rank is the handles' degrees of freedom.
    bias : array (..., 6 h)
        b^A: the acceleration of the handles without force.

    Examples
    --------
    >>> ArticulatedMobility(np.diag([0, 0, 1.0, 0, 0, 0]), np.zeros(6)).rank()
    array(1)
    """

    mobility: Array
    bias: Array

    def acceleration(self, force: Array) -> Array:
        """Accelerations of the handles (..., 6 h) under given forces (7.4)."""
        return apply(self.mobility, force) + self.bias

    def rank(self, tolerance: float = RANK_TOLERANCE) -> Array:
        """Degrees of freedom of the handles together (7.14)."""
        return np.asarray(symmetric_rank(self.mobility, tolerance))

    def inertia(self, tolerance: float = RANK_TOLERANCE) -> ArticulatedInertia:
        """The form f = I^A a + p^A (7.11)-(7.13), where it exists.

        Raises
        ------
        IllPosedError
            The handles lack degrees of freedom; the message gives the rank.
        """
        inertia = checked_inverse(self.mobility, "inverse inertia Φ^A", tolerance)
        return ArticulatedInertia(inertia, -apply(inertia, self.bias))

    def seen_by(self, X: Array) -> ArticulatedMobility:
        """One handle, seen in a frame C, where X takes motions from the handle's frame to C."""
        return ArticulatedMobility(np.matmul(np.matmul(X, self.mobility), transpose(X)), apply(X, self.bias))

    def handle(self, *numbers: int) -> ArticulatedMobility:
        """The equation of some handles only; no force acts on the others."""
        keep = np.concatenate([np.arange(6 * k, 6 * k + 6) for k in numbers])
        return ArticulatedMobility(self.mobility[..., keep[:, None], keep], self.bias[..., keep])


def balanced(matrix: Array) -> tuple[Array, Array]:
    """Scale a symmetric matrix towards a unit diagonal (units must not decide its rank); and the scale."""
    diagonal = np.abs(np.einsum("...ii->...i", matrix.real))
    largest = diagonal.max(axis=-1, keepdims=True, initial=0)
    floor = np.where(largest > 0, FLOOR * largest, 1)
    scale = 1 / np.sqrt(np.maximum(diagonal, floor))
    return scale[..., :, None] * matrix * scale[..., None, :], scale


def symmetric_rank(matrix: Array, tolerance: float) -> Array:
    """Rank of symmetric semi-definite matrices (...), relative to the largest balanced eigenvalue."""
    values = np.abs(np.linalg.eigvalsh(balanced(matrix)[0].real))
    rank: Array = (values > tolerance * values.max(axis=-1, keepdims=True)).sum(axis=-1)
    return rank


def checked_inverse(matrix: Array, what: str, tolerance: float) -> Array:
    """Inverse of symmetric matrices, or an `IllPosedError` with the rank."""
    scaled, scale = balanced(matrix)
    rank = symmetric_rank(matrix, tolerance)
    if (rank < matrix.shape[-1]).any():
        raise IllPosedError(
            f"{what} is singular: rank {int(rank.min())} of {matrix.shape[-1]}, it has no inverse. "
            "Use the other form of the equations of motion."
        )
    return scale[..., :, None] * np.linalg.inv(scaled) * scale[..., None, :]
