"""Assembly method: two articulated bodies joined at their handles, by three formulae (RBDA 7.2.2 and 7.4).

All quantities are in one frame. Handle 2 hangs on handle 1 by a joint with a2 − a1 = S q̈ + c and Sᵀ f2 = τ;
equivalently, with the constraint-force subspace T and T_a = S (SᵀS)⁻¹, Tᵀ(a2 − a1 − c) = 0 and
f2 = T_a τ + T λ.
"""

from __future__ import annotations

import numpy as np

from lftgen.errors import IllPosedError
from lftgen.rigidbody.handles import RANK_TOLERANCE, ArticulatedInertia, ArticulatedMobility, symmetric_rank
from lftgen.rigidbody.joints import active_subspace, constraint_subspace
from lftgen.rigidbody.spatial import Array, apply, transpose


def _inverse(matrix: Array, what: str, advice: str) -> Array:
    if matrix.shape[-1] == 0:
        return matrix
    if (symmetric_rank(matrix, RANK_TOLERANCE) < matrix.shape[-1]).any():
        raise IllPosedError(f"{what} is singular. {advice}")
    return np.linalg.inv(matrix)


def _moved_inertia(second: ArticulatedInertia, S: Array) -> Array:
    D = np.matmul(np.matmul(transpose(S), second.inertia), S)
    advice = "The joint moves no inertia, or its subspace S lacks full column rank."
    return _inverse(D, "assembly: Sᵀ I2 S", advice)


def propagate(second: ArticulatedInertia, S: Array, c: Array, tau: Array) -> ArticulatedInertia:
    """Carry an articulated body across its joint: I^a and p^a, with I^a S = 0 (7.23), (7.24).

    Parameters
    ----------
    second : ArticulatedInertia
        At handle 2, beyond the joint.
    S : array (..., 6, DoF)
    c : array (..., 6)
        Velocity-product acceleration of the joint.
    tau : array (..., DoF)

    Returns
    -------
    ArticulatedInertia
        The force through the joint as a function of the parent's acceleration (7.25).

    Raises
    ------
    IllPosedError
        Sᵀ I2 S is singular.

    Examples
    --------
    >>> S = np.eye(6)[:, 2:3]
    >>> across = propagate(ArticulatedInertia(np.eye(6), np.zeros(6)), S, np.zeros(6), np.ones(1))
    >>> across.inertia.diagonal(), across.bias
    (array([1., 1., 0., 1., 1., 1.]), array([0., 0., 1., 0., 0., 0.]))
    """
    U = np.matmul(second.inertia, S)
    gain = np.matmul(U, _moved_inertia(second, S))
    Ia = second.inertia - np.matmul(gain, transpose(U))  # (7.23)
    pa = second.bias + apply(Ia, c) + apply(gain, tau - apply(transpose(S), second.bias))  # (7.24)
    return ArticulatedInertia(Ia, pa)


def assemble(
    first: ArticulatedInertia, second: ArticulatedInertia, S: Array, c: Array, tau: Array
) -> ArticulatedInertia:
    """Standard formula: I^A and p^A at handle 1 of the joined body (7.19), (7.20).

    Needs six degrees of freedom at both handles.

    Parameters
    ----------
    first, second : ArticulatedInertia
    S, c, tau
        As in `propagate`.

    Examples
    --------
    >>> one = ArticulatedInertia(np.eye(6), np.zeros(6))
    >>> assemble(one, one, np.eye(6)[:, 2:3], np.zeros(6), np.zeros(1)).inertia.diagonal()
    array([2., 2., 1., 2., 2., 2.])
    """
    return first + propagate(second, S, c, tau)


def joint_acceleration(second: ArticulatedInertia, S: Array, c: Array, tau: Array, a1: Array) -> Array:
    """q̈ of the joint from the acceleration of handle 1 (7.18).

    Examples
    --------
    >>> one = ArticulatedInertia(2 * np.eye(6), np.zeros(6))
    >>> joint_acceleration(one, np.eye(6)[:, 2:3], np.zeros(6), np.ones(1), np.zeros(6))
    array([0.5])
    """
    force = apply(second.inertia, a1 + c) + second.bias
    return apply(_moved_inertia(second, S), tau - apply(transpose(S), force))


def assemble_mobilities(
    first: ArticulatedMobility, second: ArticulatedMobility, S: Array, c: Array, tau: Array
) -> ArticulatedMobility:
    """Variant 1: inverse inertias and the implicit joint constraint (RBDA table 7.2).

    With Y = Tᵀ(Φ1 + Φ2)T, W = T Y⁻¹ Tᵀ and β = c + b1 − b2 − (Φ1 + Φ2) T_a τ::

        Φ^A = Φ1 − Φ1 W Φ1        b^A = b1 − Φ1 (T_a τ + W β)

    Exists whenever the joint does not repeat a constraint that is already there; it is enough that one of
    the two handles has six degrees of freedom.

    Raises
    ------
    IllPosedError
        Y is singular: redundant constraints.

    Examples
    --------
    >>> one = ArticulatedMobility(np.eye(6), np.zeros(6))
    >>> assemble_mobilities(one, one, np.eye(6)[:, 2:3], np.zeros(6), np.zeros(1)).mobility.diagonal()
    array([0.5, 0.5, 1. , 0.5, 0.5, 0.5])
    """
    T, drive = constraint_subspace(S), apply(active_subspace(S), tau)
    total = first.mobility + second.mobility
    Y = np.matmul(np.matmul(transpose(T), total), T)
    advice = "The joint repeats constraints that are there already; use divide-and-conquer, which allows it."
    W = np.matmul(np.matmul(T, _inverse(Y, "assembly: Y = Tᵀ(Φ1 + Φ2)T", advice)), transpose(T))
    beta = c + first.bias - second.bias - apply(total, drive)
    phi = first.mobility - np.matmul(np.matmul(first.mobility, W), first.mobility)
    return ArticulatedMobility(phi, first.bias - apply(first.mobility, drive + apply(W, beta)))


def assemble_implicit(
    first: ArticulatedInertia, second: ArticulatedInertia, S: Array, c: Array, tau: Array
) -> ArticulatedInertia:
    """Variant 2: inertias and the implicit joint constraint (RBDA table 7.2).

    With W = T (Tᵀ I2⁻¹ T)⁻¹ Tᵀ::

        I^A = I1 + W        p^A = p1 + T_a τ + W (c + I2⁻¹ (p2 − T_a τ))

    Needs six degrees of freedom at both handles, and an I2 that can be inverted.

    Raises
    ------
    IllPosedError
        I2 is singular (a point mass, a massless handle).

    Examples
    --------
    >>> one = ArticulatedInertia(np.eye(6), np.zeros(6))
    >>> assemble_implicit(one, one, np.eye(6)[:, 2:3], np.zeros(6), np.zeros(1)).inertia.diagonal()
    array([2., 2., 1., 2., 2., 2.])
    """
    T, drive = constraint_subspace(S), apply(active_subspace(S), tau)
    phi = second.mobility().mobility
    Y = np.matmul(np.matmul(transpose(T), phi), T)
    inverse = _inverse(Y, "assembly: Tᵀ I2⁻¹ T", "Use the standard formula.")
    W = np.matmul(np.matmul(T, inverse), transpose(T))
    bias = first.bias + drive + apply(W, c + apply(phi, second.bias - drive))
    return ArticulatedInertia(first.inertia + W, bias)


def implicit_child_acceleration(
    second: ArticulatedMobility, S: Array, c: Array, tau: Array, a1: Array
) -> tuple[Array, Array]:
    """a2 and q̈ from a1 without S in the solution: q̈ = T_aᵀ(a2 − a1 − c) (RBDA 7.4, footnote).

    Examples
    --------
    >>> one = ArticulatedMobility(np.eye(6) / 2, np.zeros(6))
    >>> implicit_child_acceleration(one, np.eye(6)[:, 2:3], np.zeros(6), np.ones(1), np.zeros(6))[1]
    array([0.5])
    """
    T, Ta = constraint_subspace(S), active_subspace(S)
    drive = apply(Ta, tau)
    Y = np.matmul(np.matmul(transpose(T), second.mobility), T)
    inverse = _inverse(Y, "assembly: Tᵀ Φ2 T", "The child's handle lacks degrees of freedom.")
    miss = a1 + c - second.acceleration(drive)
    a2 = second.acceleration(drive + apply(T, apply(inverse, apply(transpose(T), miss))))
    return a2, apply(transpose(Ta), a2 - a1 - c)
