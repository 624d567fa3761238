"""Joint-space equations of motion H q̈ + C = τ: composite-rigid-body algorithm and bias force."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from lftgen.rigidbody.inverse import Prescribed, inverse_dynamics
from lftgen.rigidbody.kinematics import coordinates, placements, transforms
from lftgen.rigidbody.loads import Wrenches
from lftgen.rigidbody.model import Model
from lftgen.rigidbody.spatial import Array, transpose


def mass_matrix(model: Model, q: ArrayLike) -> Array:
    """Joint-space inertia H (..., nq, nq) by the composite-rigid-body algorithm (RBDA table 6.2).

    Parameters
    ----------
    model : Model
        Armatures are on the diagonal.
    q : array (..., nq)

    Returns
    -------
    array (..., nq, nq)

    Examples
    --------
    >>> from lftgen.rigidbody import Body, Joint, Model
    >>> rod = Body("rod", 3.0, (0, 0, -1), np.eye(3))
    >>> mass_matrix(Model([rod], [Joint("J", "revolute", "ground", "rod", axis=(1, 0, 0))]), [0.2]).round(6)
    array([[4.]])
    """
    return composite_body(model, transforms(placements(model, coordinates(model, q, "q"))))


def composite_body(model: Model, X: list[Array]) -> Array:
    """Joint-space inertia from the transforms of the tree."""
    links = model.links
    IC: list[Array] = [link.inertia for link in links]
    shape = np.broadcast_shapes(model.batch_shape, *(Xi.shape[:-2] for Xi in X))
    H = np.zeros((*shape, model.nq, model.nq), np.result_type(float, *X, *IC))
    for i in range(len(links) - 1, -1, -1):
        parent, S, rows = links[i].parent, links[i].subspace, links[i].dofs
        if parent >= 0:
            IC[parent] = IC[parent] + np.matmul(np.matmul(transpose(X[i]), IC[i]), X[i])
        F = np.matmul(IC[i], S)
        H[..., rows, rows] = np.matmul(transpose(S), F) + links[i].joint.armature[..., None] * np.eye(
            S.shape[-1]
        )
        j = i
        while links[j].parent >= 0:
            F = np.matmul(transpose(X[j]), F)
            j = links[j].parent
            columns = links[j].dofs
            H[..., rows, columns] = np.matmul(transpose(F), links[j].subspace)
            H[..., columns, rows] = transpose(H[..., rows, columns])
    return H


def bias_force(
    model: Model,
    q: ArrayLike,
    qd: ArrayLike | None = None,
    *,
    wrenches: Wrenches | None = None,
    base_acceleration: ArrayLike | None = None,
    prescribed: Prescribed | None = None,
    reference: ArrayLike | None = None,
) -> Array:
    """Bias C (..., nq) of H q̈ + C = τ (7.5): inverse dynamics at zero acceleration.

    Parameters are those of `inverse_dynamics`.

    Examples
    --------
    >>> from lftgen.rigidbody import Body, Joint, Model
    >>> rod = Body("rod", 3.0, (0, 0, -1), np.eye(3))
    >>> model = Model([rod], [Joint("J", "revolute", "ground", "rod", axis=(1, 0, 0))])
    >>> bias_force(model, [np.pi / 2]).round(6)
    array([29.43])
    """
    return inverse_dynamics(
        model,
        q,
        qd,
        None,
        wrenches=wrenches,
        base_acceleration=base_acceleration,
        prescribed=prescribed,
        reference=reference,
    )
