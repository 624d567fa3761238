"""Spatial (6-D) vectors in sympy, [angular; linear], after Featherstone, *Rigid Body Dynamics Algorithms*, chapter 2."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import sympy as sp

ANGULAR_LINEAR = ("rx", "ry", "rz", "x", "y", "z")
"""Suffixes of a motion vector's components."""
TORQUE_FORCE = ("tx", "ty", "tz", "fx", "fy", "fz")
"""Suffixes of a wrench's components."""
XYZ = ("x", "y", "z")
_ONE, _ZERO = sp.ImmutableMatrix(sp.eye(3)), sp.ImmutableMatrix(sp.zeros(3))


def skew(v: sp.MatrixBase) -> sp.ImmutableMatrix:
    """The matrix of ``v x``."""
    x, y, z = v
    return sp.ImmutableMatrix([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def blocks(rows: Sequence[Sequence[sp.MatrixBase]]) -> sp.ImmutableMatrix:
    """A matrix from its blocks (sympy's BlockMatrix is far slower)."""
    lists = [[b.tolist() for b in row] for row in rows]
    return sp.ImmutableMatrix(
        [list(itertools.chain(*(b[i] for b in row))) for row in lists for i in range(len(row[0]))]
    )


def motion_cross(m: sp.MatrixBase) -> sp.ImmutableMatrix:
    """``crm(m)``: the derivative of a motion vector carried along by m (2.31)."""
    w, v = skew(m[:3, :]), skew(m[3:, :])
    return blocks([[w, _ZERO], [v, w]])


def force_cross(m: sp.MatrixBase) -> sp.ImmutableMatrix:
    """``crf(m) = -crm(m)^T``: the derivative of a force vector carried along by m (2.32)."""
    return sp.ImmutableMatrix(-motion_cross(m).T)


def moved_motion(r: sp.MatrixBase) -> sp.ImmutableMatrix:
    """A motion vector at a point r from where it was, in the same axes: v + w x r."""
    return blocks([[_ONE, _ZERO], [-skew(r), _ONE]])


def moved_force(r: sp.MatrixBase) -> sp.ImmutableMatrix:
    """A wrench acting at r, as seen from where r is measured, in the same axes: t + r x f."""
    return blocks([[_ONE, skew(r)], [_ZERO, _ONE]])


def turned(rotation: sp.MatrixBase) -> sp.ImmutableMatrix:
    """``blkdiag(R, R)``."""
    return blocks([[rotation, _ZERO], [_ZERO, rotation]])


def axis_rotation(axis: sp.MatrixBase, angle: sp.Expr) -> sp.ImmutableMatrix:
    """Rotation by an angle about a unit axis (Rodrigues): ``I + sin(q) [r]x + (1 - cos(q)) [r]x^2``."""
    K = skew(axis)
    return sp.ImmutableMatrix(sp.eye(3) + sp.sin(angle) * K + (1 - sp.cos(angle)) * K * K)


def plane_directions(axis: sp.MatrixBase) -> tuple[sp.ImmutableMatrix, sp.ImmutableMatrix]:
    """Two unit vectors that complete a unit axis to a right-handed frame (x, y, axis); +x and +y for +z."""
    seed = sp.Matrix([0, 1, 0]) if abs(float(axis[0])) > 0.8 else sp.Matrix([1, 0, 0])
    x = seed - axis * axis.dot(seed)
    length = sp.sqrt(x.dot(x))
    x = sp.ImmutableMatrix(x / (length if length.is_Rational else sp.Rational(str(float(length)))))
    return x, sp.ImmutableMatrix(axis.cross(x))
