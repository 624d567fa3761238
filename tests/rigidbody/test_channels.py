"""Output channels in closed form, away from rest, and channels that do not exist."""

import numpy as np
import pytest

from lftgen.errors import ModelError
from lftgen.rigidbody import (
    BaseAcceleration,
    Body,
    Joint,
    JointAcceleration,
    JointForce,
    JointPosition,
    JointRate,
    JointWrench,
    Load,
    Model,
    PortForce,
    PortOutput,
    linearize,
)
from lftgen.rigidbody.channels import QUANTITIES
from lftgen.rigidbody.response import operating_point, response


def test_joint_outputs_are_states_and_accelerations(tree):
    """Positions and rates are rows of ones, accelerations rows of A and B."""
    rng = np.random.default_rng(0)
    model = tree(rng, 3, kinds=("revolute", "spherical"))
    n = model.nq
    pairs = [(j.name, k) for j in model.joints for k in range(j.dof)]
    outputs = [kind(*pair) for kind in (JointPosition, JointRate, JointAcceleration) for pair in pairs]
    plant = linearize(model, rng.normal(size=n), [JointForce(*pair) for pair in pairs], outputs)
    np.testing.assert_array_equal(plant.C[: 2 * n], np.eye(2 * n))
    np.testing.assert_array_equal(plant.C[2 * n :], plant.A[n:])
    np.testing.assert_array_equal(plant.D[2 * n :], plant.B[n:])


def test_floating_body_under_gravity_and_a_thrust():
    """Thrust balances weight: specific force sees the attitude, kinematic acceleration turns with it."""
    g, m = 9.81, 2.0
    body = Body("hull", m, (0, 0, 0), np.diag([1.0, 2.0, 2.5]))
    free = Joint("F", "free", "ground", "hull")
    thrust = Load("thrust", "hull", force=(0, 0, m * g), kind="follower")
    outputs = [
        PortOutput("hull", quantity=x, component=c)
        for x in ("acceleration", "specific_force")
        for c in range(3)
    ]
    plant = linearize(Model([body], [free], loads=[thrust]), np.zeros(6), (), outputs)
    want = np.zeros((3, 12))
    want[0, 1], want[1, 0] = g, -g  # tilting the thrust accelerates the hull sideways
    np.testing.assert_allclose(plant.C[:3], want, atol=1e-14)
    np.testing.assert_allclose(plant.C[3:], 0, atol=1e-14)  # a body-fixed thrust is all that it feels
    hung = Model([body], [free], loads=[Load("rope", "hull", force=(0, 0, m * g), kind="dead")])
    plant = linearize(hung, np.zeros(6), (), outputs)
    np.testing.assert_allclose(plant.C[:3], 0, atol=1e-14)
    np.testing.assert_allclose(plant.C[3:], -want, atol=1e-14)


def test_bad_channels(tree):
    """Unknown names, components out of range, complex data: errors that name them."""
    rng = np.random.default_rng(0)
    model = tree(rng, 2, kinds=("revolute",))
    q = np.zeros(2)
    with pytest.raises(ModelError, match="'j9' is not in the model"):
        linearize(model, q, [JointForce("j9")])
    with pytest.raises(ModelError, match="'b9' is not in the model"):
        linearize(model, q, (), [PortOutput("b9")])
    with pytest.raises(ModelError, match="expected 0 to 0"):
        linearize(model, q, [JointForce("j0", 1)])
    with pytest.raises(ModelError, match="expected 0 to 2, got 3"):
        PortForce("b0", component=3)
    with pytest.raises(ModelError, match="expected one of position"):
        PortOutput("b0", quantity="speed")
    with pytest.raises(ModelError, match="expected 0 to 5"):
        JointWrench("j0", 6)
    with pytest.raises(ModelError, match="complex steps do not nest"):
        linearize(model, q + 1e-30j)
    with pytest.raises(ModelError, match=r"expected shape \(\.\.\., 2\)"):
        linearize(model, np.zeros(3))


def test_outputs_away_from_rest():
    """The non-linear output maps on a spinning arm: centripetal acceleration, weight felt."""
    arm = Body("arm", 2.0, (0, 0, 0), np.eye(3))
    model = Model([arm], [Joint("J", "revolute", "ground", "arm", axis=(0, 0, 1))], gravity=(0, 0, -9.81))
    outputs = [PortOutput("arm", (0.5, 0, 0), quantity=x, component=c) for x in QUANTITIES for c in range(3)]
    outputs += [
        PortOutput("arm", (0.5, 0, 0), quantity="acceleration", component=c, frame="reference")
        for c in (0, 1)
    ]
    small, rates = np.array([0.4]), np.array([3.0])
    qdd, y = response(operating_point(model, [0.2]), (), outputs, small, rates, np.zeros(0))
    c, s = np.cos(0.6), np.sin(0.6)
    turn, shift = [np.cos(0.4) - 1, np.sin(0.4), 0], [0, 0, 0.4]
    want = [0.5 * np.array(turn), shift, [0, 1.5, 0], [0, 0, 3], [-4.5, 0, 0], [0, 0, 0], [-4.5, 0, 9.81]]
    np.testing.assert_allclose(qdd, 0, atol=1e-14)
    np.testing.assert_allclose(y[:-2], np.concatenate(want), atol=1e-14)
    np.testing.assert_allclose(y[-2:], [-4.5 * c, -4.5 * s], atol=1e-14)


def test_structure_without_joints():
    """A welded body has no states; base acceleration reaches the wrench through the weld and the ports."""
    body = Body("b", 2.0, (0.5, 0, 0), np.eye(3))
    model = Model([body], [Joint("W", "fixed", "ground", "b", position=(0, 0, 1))])
    outputs = [JointWrench("W", c) for c in range(6)] + [
        PortOutput("b", quantity="specific_force", component=1)
    ]
    plant = linearize(model, np.zeros(0), [BaseAcceleration(1)], outputs)
    assert plant.A.shape == (0, 0)
    np.testing.assert_allclose(plant.D[:, 0], [0, 0, 1, 0, 2, 0, 1], atol=1e-14)
