"""Two articulated bodies with two handles each, joined at handles 2 and 3: (7.57) to (7.63)."""

import numpy as np
import pytest

from lftgen.errors import IllPosedError
from lftgen.rigidbody import joints
from lftgen.rigidbody.assembly_tree import Group, Side
from lftgen.rigidbody.group_assembly import assemble_group, release_group

S = joints.motion_subspace("revolute", np.array([0.6, 0.0, 0.8]), np.array(0.0))
T = joints.constraint_subspace(S)
GROUP = Group(
    sides=(
        Side(0, np.array([0]), rest=np.array([0]), joined=np.array([1])),
        Side(1, np.array([0]), rest=np.array([1]), joined=np.array([0])),
    ),
    edges=np.array([[0]]),
    slots=(((1, 0), (0, 0)),),
    level=1,
)


def bodies(rng):
    """Φ and b of both bodies."""
    roots = rng.normal(size=(2, 12, 15))
    return roots @ np.swapaxes(roots, 1, 2), rng.normal(size=(2, 12))


def test_coefficients_of_the_joined_body():
    """(7.63) with b4 + Φ43 W β; the minus of the printed line is wrong. Forces by (7.62), motion by (7.60)."""
    rng = np.random.default_rng(0)
    (phi12, phi34), (b12, b34) = bodies(rng)
    c = rng.normal(size=6)
    pools = [(phi12[None], b12[None]), (phi34[None], b34[None])]
    rows = (T.T[None], -T.T[None], (T.T @ c)[None], np.zeros((1, 5)), np.ones((1, 5)))
    done = assemble_group(GROUP, pools, [rows], False, 1e-9)
    (p1, p12), (p21, p2) = phi12.reshape(2, 6, 2, 6).swapaxes(1, 2)
    (p3, p34), (p43, p4) = phi34.reshape(2, 6, 2, 6).swapaxes(1, 2)
    W = T @ np.linalg.inv(T.T @ (p2 + p3) @ T) @ T.T
    beta = c - b34[:6] + b12[6:]
    want = np.block([[p1 - p12 @ W @ p21, p12 @ W @ p34], [p43 @ W @ p21, p4 - p43 @ W @ p34]])
    np.testing.assert_allclose(done.mobility[0], want, atol=1e-10)
    np.testing.assert_allclose(done.bias[0, :6], b12[:6] - p12 @ W @ beta, atol=1e-10)
    np.testing.assert_allclose(done.bias[0, 6:], b34[6:] + p43 @ W @ beta, atol=1e-10)
    assert np.abs(done.bias[0, 6:] - (b34[6:] - p43 @ W @ beta)).max() > 0.1

    own = rng.normal(size=(1, 12))
    forces = [np.zeros((1, 12)), np.zeros((1, 12))]
    release_group(GROUP, done, forces, own)
    a12, a34 = phi12 @ forces[0][0] + b12, phi34 @ forces[1][0] + b34
    np.testing.assert_allclose(T.T @ (a34[:6] - a12[6:]), T.T @ c, atol=1e-9)  # (7.60)
    np.testing.assert_allclose(forces[1][0, :6], -forces[0][0, 6:], atol=1e-12)  # (7.61)
    np.testing.assert_allclose(S.T @ forces[1][0, :6], 0, atol=1e-12)
    joined = done.mobility[0] @ own[0] + done.bias[0]
    np.testing.assert_allclose(joined, np.concatenate([a12[:6], a34[6:]]), atol=1e-9)  # (7.59)


def test_immovable_handles_leave_the_joint_force_open():
    """A weld between two handles that can only turn about z and move along y: the other wrenches stay open."""
    phi = np.zeros((12, 12))
    free = np.diag([0, 0, 2.0, 0, 3.0, 0])
    phi[6:, 6:] = free
    second = np.zeros((12, 12))
    second[:6, :6] = free
    pools = [(phi[None], np.zeros((1, 12))), (second[None], np.ones((1, 12)))]
    b = pools[1][1]
    b[0, [0, 1, 3, 5]] = 0  # consistent: no acceleration where nothing can move
    weld = np.eye(6)[None]
    rows = (weld, -weld, np.zeros((1, 6)), np.zeros((1, 6)), np.ones((1, 6)))
    done = assemble_group(GROUP, pools, [rows], True, 1e-9)
    (report,) = done.undetermined([["J"]])
    assert report.components == ("J_tx", "J_ty", "J_fx", "J_fz")
    forces = [np.zeros((1, 12)), np.zeros((1, 12))]
    release_group(GROUP, done, forces, np.zeros((1, 12)))
    np.testing.assert_allclose(forces[1][0, :6], [0, 0, -1 / 4, 0, -1 / 6, 0], atol=1e-12)
    b[0, 0] = 1.0  # now the fixed handles ask for different motions
    with pytest.raises(IllPosedError, match="inconsistent loop"):
        assemble_group(GROUP, pools, [rows], True, 1e-9)
