"""Pendulum, rod and two-link arm: values worked out by hand or published beside a report of trouble."""

import numpy as np
import pytest

from lftgen.errors import TrimError
from lftgen.rigidbody import (
    BaseAcceleration,
    Body,
    Joint,
    JointForce,
    JointPosition,
    JointWrench,
    Model,
    PortForce,
    equilibrium,
    forward_dynamics,
    linearize,
)

Z = (0, 0, 1)


def link(name, m, l):
    """Uniform bar along its own x."""
    return Body(name, m, (l / 2, 0, 0), np.diag([0, 1, 1]) * m * l**2 / 12)


def arm(gravity=(0, -9.81, 0), **hinge):
    """Two-link arm, m1 = 2, l1 = 1, m2 = 1, l2 = 0.5, hinges +z."""
    joints = [
        Joint("J2", "revolute", "B1", "B2", position=(1, 0, 0), axis=Z, **hinge),
        Joint("J1", "revolute", "ground", "B1", axis=Z, **hinge),
    ]
    return Model([link("B1", 2, 1), link("B2", 1, 0.5)], joints[::-1], gravity=gravity)


def rod(**hinge):
    """Uniform rod m = 3, l = 2, hanging along -y from a hinge +z."""
    body = Body("rod", 3.0, (0, -1, 0), np.diag([1, 0, 1]))
    return Model([body], [Joint("J", "revolute", "ground", "rod", axis=Z, **hinge)], gravity=(0, -9.81, 0))


ANGLES = np.deg2rad([30, 45])


def test_holding_torque_carries_the_outer_link():
    """A1: torques and joint forces of the arm, also with gravity reversed and zero."""
    hold = equilibrium(arm(), ANGLES)
    np.testing.assert_allclose(hold.torque, [17.626172, 0.634754], rtol=1e-6)
    R = hold.rotation
    np.testing.assert_allclose(R["B2"] @ hold.wrench["J2"][3:], [0, 9.81, 0], atol=1e-12)
    np.testing.assert_allclose(R["B1"] @ hold.wrench["J1"][3:], [0, 29.43, 0], atol=1e-12)
    np.testing.assert_allclose(hold.wrench_parent["J1"][3:], [0, 29.43, 0], atol=1e-12)
    np.testing.assert_allclose(R["B1"] @ hold.wrench_parent["J2"][3:], [0, 9.81, 0], atol=1e-12)
    np.testing.assert_allclose(equilibrium(arm((0, 9.81, 0)), ANGLES).torque, -hold.torque, rtol=1e-12)
    free = equilibrium(arm((0, 0, 0)), ANGLES)
    assert not free.torque.any()
    assert not free.wrench["J1"].any()


def test_two_link_arm_linear_model():
    """B1: A21, B2 and poles of the arm about (30, 45) deg."""
    plant = linearize(arm(), ANGLES, [JointForce("J1"), JointForce("J2")])
    np.testing.assert_allclose(plant.A[2:, :2], [[3.704310, -3.890528], [16.864858, 40.570783]], atol=1e-6)
    np.testing.assert_allclose(plant.B[2:], [[0.774194, -2.416506], [-2.416506, 19.542690]], atol=1e-6)
    poles = np.sort(np.linalg.eigvals(plant.A).real)
    np.testing.assert_allclose(poles, [-6.220583, -2.362083, 2.362083, 6.220583], atol=1e-6)


def test_base_motion_reaches_angle_and_reaction():
    """B3: hanging rod under horizontal base acceleration, force of the rod on the base."""
    outputs = [JointPosition("J"), JointWrench("J", 3, frame="parent"), JointWrench("J", 4, frame="parent")]
    plant = linearize(rod(), [0.0], [BaseAcceleration(0)], outputs)
    np.testing.assert_allclose(plant.A[1], [-7.3575, 0], atol=1e-12)
    np.testing.assert_allclose(plant.B[1], [-0.75], atol=1e-12)
    # the output is the force of the base on the rod; the rod's on the base is its opposite
    np.testing.assert_allclose(-plant.C[1], [22.0725, 0], atol=1e-12)
    np.testing.assert_allclose(-plant.D[1], [-0.75], atol=1e-12)
    np.testing.assert_allclose(plant.C[2], 0, atol=1e-12)
    np.testing.assert_allclose(-equilibrium(rod(), [0.0]).wrench_parent["J"][4], -29.43)


def test_rotor_gear_and_damping():
    """B5: link 0.75, rotor 1e-4 behind a gear of 50, damping 0.4; torque at the joint and at the motor."""
    body = Body("B", 1.0, (0, 0, 0), np.diag([1, 1, 0.75]))
    joint = Joint("J", "revolute", "ground", "B", axis=Z, armature=50**2 * 1e-4, damping=0.4)
    model = Model([body], [joint], gravity=(0, 0, 0))
    plant = linearize(model, [0.3], [JointForce("J"), JointForce("J", gain=50.0)])
    np.testing.assert_allclose(plant.A, [[0, 1], [0, -0.4]], atol=1e-14)
    np.testing.assert_allclose(plant.B[1], [1, 50], rtol=1e-14)


def test_inertia_about_the_centre_of_mass():
    """C1: the hanging rod swings at 2.712471 rad/s."""
    plant = linearize(rod(), [0.0])
    np.testing.assert_allclose(np.sqrt(-plant.A[1, 0]), 2.712471, rtol=1e-6)


def test_rotated_principal_axes():
    """C2: inertia diag(0.4, 0.9, 1.1) turned by 30 deg about z, hinge about x."""
    c, s = np.cos(np.pi / 6), np.sin(np.pi / 6)
    R = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    body = Body("B", 1.0, (0, 0, 0), R @ np.diag([0.4, 0.9, 1.1]) @ R.T)
    model = Model([body], [Joint("J", "revolute", "ground", "B", axis=(1, 0, 0))])
    np.testing.assert_allclose(linearize(model, [0.0], [JointForce("J")]).B[1, 0], 1.904762, rtol=1e-6)


def test_products_of_inertia_are_tensor_entries():
    """C3: torque (1, 0, 0) on a free body; also as four welded point masses."""
    tensor = np.array([[1.5, -1, 0], [-1, 1.5, 0], [0, 0, 2]])
    one = Model([Body("B", 1.5, (0, 0, 0), tensor)], [Joint("F", "free", "ground", "B")], gravity=(0, 0, 0))
    torque = [PortForce("B", kind="torque", component=0)]
    np.testing.assert_allclose(linearize(one, np.zeros(6), torque).B[6:9, 0], [1.2, 0.8, 0], atol=1e-12)
    points = [(0.5, (1, 1, 0)), (0.5, (-1, -1, 0)), (0.25, (0, 0, 1)), (0.25, (0, 0, -1))]
    bodies = [Body("B", 0.0, (0, 0, 0), np.zeros((3, 3)))]
    joints = [Joint("F", "free", "ground", "B")]
    for k, (m, p) in enumerate(points):
        bodies.append(Body(f"P{k}", m, (0, 0, 0), np.zeros((3, 3))))
        joints.append(Joint(f"W{k}", "fixed", "B", f"P{k}", position=p))
    four = Model(bodies, joints, gravity=(0, 0, 0))
    np.testing.assert_allclose(linearize(four, np.zeros(6), torque).B[6:9, 0], [1.2, 0.8, 0], atol=1e-12)


def test_spring_with_rest_angle_loads_the_equilibrium():
    """A preloaded spring: the actuator holds weight and preload; the stiffness acts alike."""
    loose, preloaded = rod(stiffness=5.0), rod(stiffness=5.0, rest=0.2)
    q = [0.7]
    weight = 3 * 9.81 * np.sin(0.7)
    np.testing.assert_allclose(equilibrium(loose, q).torque, [weight])
    np.testing.assert_allclose(equilibrium(preloaded, q).torque, [weight + 5 * 0.5])
    want = -(5 + 29.43 * np.cos(0.7)) / 4
    np.testing.assert_allclose(linearize(loose, q).A[1, 0], want)
    np.testing.assert_allclose(linearize(preloaded, q).A[1, 0], want)
    np.testing.assert_allclose(forward_dynamics(preloaded, [0.2]), -29.43 * np.sin(0.2) / 4)


def test_hub_inertia_turns_with_the_child_armature_with_the_joint():
    """Two-link H⁻¹(2,2): a hub inertia feels the absolute rotation, an armature the relative one."""
    q = np.zeros(2)

    def entry(**hinge):
        plant = linearize(arm((0, 0, 0), **hinge), q, [JointForce("J1"), JointForce("J2")])
        return np.linalg.inv(plant.B[2:])

    plain, hub, armature = entry(), entry(hub_inertia=0.3), entry(armature=0.3)
    np.testing.assert_allclose(armature - plain, 0.3 * np.eye(2), atol=1e-12)
    np.testing.assert_allclose(hub - plain, 0.3 * np.array([[2, 1], [1, 1]]), atol=1e-12)


def test_unactuated_joint_must_balance():
    """A3: without an actuator the tilted pendulum is no equilibrium; hanging it is."""
    with pytest.raises(TrimError, match=r"'J' is not actuated.*14\.715"):
        linearize(rod(actuated=False), [np.pi / 6])
    np.testing.assert_allclose(linearize(rod(actuated=False), [0.0]).A[1, 0], -7.3575)


def test_spinning_body_with_a_rotor():
    """A free body with on-board momentum h: I ω̇ = −ω × h."""
    h, I = np.array([0.3, -0.2, 0.9]), np.diag([1.0, 2.0, 2.5])
    model = Model([Body("B", 2.0, (0, 0, 0), I, h)], [Joint("F", "free", "ground", "B")], gravity=(0, 0, 0))
    A = linearize(model, np.zeros(6)).A
    cross_h = np.array([[0, -h[2], h[1]], [h[2], 0, -h[0]], [-h[1], h[0], 0]])
    np.testing.assert_allclose(A[6:9, 6:9], np.linalg.solve(I, cross_h), atol=1e-14)
