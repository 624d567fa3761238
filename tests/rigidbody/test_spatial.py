"""Spatial algebra: identities, and complex steps through rotations at zero and elsewhere."""

import numpy as np
import pytest

from lftgen.rigidbody import joints, spatial

H = 1e-30


@pytest.mark.parametrize("size", [0.0, 1e-9, 1e-4, 0.0999, 0.1001, 1.0, 3.0, 6.5])
def test_rotation_exponential(size):
    """Orthogonal, and equal to Rodrigues' formula; its complex step is the derivative."""
    rng = np.random.default_rng(0)
    axis = rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    R = spatial.rotation_exponential(size * axis)
    K = spatial.skew(axis)
    np.testing.assert_allclose(R, np.eye(3) + np.sin(size) * K + (1 - np.cos(size)) * K @ K, atol=1e-15)
    step = spatial.rotation_exponential((size + 1j * H) * axis).imag / H
    np.testing.assert_allclose(step, R @ K, atol=1e-14)


@pytest.mark.parametrize("size", [0.0, 1e-6, 0.0099, 0.0101, 0.5, 1.5])
def test_rotation_logarithm_inverts(size):
    """log(exp φ) = φ, also in the complex step at zero."""
    phi = size * np.array([2, -1, 2]) / 3
    np.testing.assert_allclose(spatial.rotation_logarithm(spatial.rotation_exponential(phi)), phi, atol=1e-14)
    step = spatial.rotation_logarithm(spatial.rotation_exponential(phi + 1j * H * np.eye(3)))
    np.testing.assert_allclose(step.imag / H, np.eye(3), atol=1e-13)


def test_cross_products_are_dual():
    """(v ×* f)·m = −f·(v × m), and power does not depend on the frame."""
    rng = np.random.default_rng(1)
    v, m, f = rng.normal(size=(3, 4, 6))
    left = (spatial.cross_force(v, f) * m).sum(-1)
    np.testing.assert_allclose(left, -(f * spatial.cross_motion(v, m)).sum(-1))
    X = spatial.motion_transform(spatial.rotation_exponential(m[:, :3]), m[:, 3:])
    moved = spatial.cross_motion(spatial.apply(X, v), spatial.apply(X, m))
    np.testing.assert_allclose(moved, spatial.apply(X, spatial.cross_motion(v, m)))


def test_inertia_is_that_of_a_cloud_of_points():
    """Kinetic energy of the spatial inertia = energy of its point masses."""
    rng = np.random.default_rng(2)
    m, x, twist = rng.uniform(0.1, 1, 6), rng.normal(size=(6, 3)), rng.normal(size=6)
    com = m @ x / m.sum()
    r = x - com
    tensor = sum(mk * (rk @ rk * np.eye(3) - np.outer(rk, rk)) for mk, rk in zip(m, r, strict=True))
    speed = twist[3:] + np.cross(twist[:3], x)
    got = twist @ spatial.rigid_inertia(m.sum(), com, tensor) @ twist
    np.testing.assert_allclose(got, m @ (speed**2).sum(axis=1))


@pytest.mark.parametrize("kind", list(joints.DOFS))
def test_subspaces_of_each_joint(kind):
    """S has full rank, T completes it (Tᵀ S = 0), T_aᵀ S = 1."""
    axis = np.array([[2, -1, 2], [1, 0, 0], [0, 0, 3]]) / np.array([[3], [1], [3]])
    S = joints.motion_subspace(kind, axis, np.array(0.2))
    T = joints.constraint_subspace(S)
    assert S.shape[-1] == joints.DOFS[kind]
    assert T.shape[-1] == 6 - joints.DOFS[kind]
    np.testing.assert_allclose(spatial.transpose(T) @ S, 0, atol=1e-14)
    if S.shape[-1]:
        ones = np.broadcast_to(np.eye(S.shape[-1]), (*S.shape[:-2], S.shape[-1], S.shape[-1]))
        np.testing.assert_allclose(spatial.transpose(joints.active_subspace(S)) @ S, ones, atol=1e-14)
        assert (np.linalg.svd(S)[1] > 0.1).all()
