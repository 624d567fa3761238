"""Every joint type with scheduled coordinates, springs, dampers and loads, all signals against the numeric model."""

import pickle

import numpy as np
import pytest

import lftgen as lg

M = lg.uncertain("m", 2.0, percent=20, unit="kg")
L = lg.scheduled("L", (0.5, 1.5), unit="m")
Z = lg.scheduled("z", (-0.5, 1.0), unit="m")
A = lg.scheduled_angle("a", (-60, 50), unit="deg")
B = lg.scheduled_angle("b", (100, 200), unit="deg")
AXIS = (1, 2, 2)


def make(kind, **where):
    """The joint J between two bodies, with springs and dampers."""
    return {
        "prismatic": lambda: lg.PrismaticJoint(
            "J", axis=AXIS, position=Z, stiffness=3, damping=0.2, armature=0.3, gear_ratio=7, **where
        ),
        "resting": lambda: lg.PrismaticJoint(
            "J", axis=AXIS, position=Z, stiffness=M, rest_position=L, **where
        ),
        "universal": lambda: lg.UniversalJoint(
            "J", axis_2=(0, 0.6, 0.8), angle_1=A, angle_2=B, stiffness=(3, 4), damping=(0.1, 0.2), **where
        ),
        "cylindrical": lambda: lg.CylindricalJoint(
            "J", axis=AXIS, angle=A, position=Z, stiffness=(3, M), damping=0.1, **where
        ),
        "spherical": lambda: lg.SphericalJoint(
            "J", attitude=(A, 0.2, 0), stiffness=(3, 4, 5), damping=(0.1, 0, 0.2), **where
        ),
        "planar": lambda: lg.PlanarJoint(
            "J", axis=AXIS, angle=A, x=Z, y=0.3, stiffness=(3, 4, 5), damping=0.1, **where
        ),
        "free": lambda: lg.FreeJoint(
            "J", **{k: v for k, v in where.items() if k != "rpy"}, rpy=(A, 0.3, 0.2)
        ),
    }[kind]()


KINDS = ("prismatic", "resting", "universal", "cylindrical", "spherical", "planar", "free")


def mechanism(kind, *, loads=True):
    """A revolute joint, a body, the joint J, a body with a load and springs; J may be free, held by a load then."""
    tensor = ((2, 0.1, 0.2), (0.1, 3, 0.3), (0.2, 0.3, 2.5))
    first = lg.RigidBody("first", mass=1.5, com=(0.1, 0.05, -0.2), inertia=tensor, ports={"top": (0, 0.1, 1)})
    second = lg.RigidBody(
        "second", mass=M, com=(0.2, 0.1, -L), inertia=(0.1, 0.2, 0.25), ports={"tip": ((0, 0.3, -2), (0.1, 0.2, 0.3))},
        rotors=[lg.Rotor("gyro", axis=(0, 1, 1), momentum=3)],
    )  # fmt: skip
    joints = [
        lg.RevoluteJoint("R", parent="ground", child="first", axis=(0, 1, 0), angle=0.4, rpy=(0.1, 0.2, 0.3)),
        make(kind, parent="first", child="second", origin=(0.1, 0.2, 0.3), rpy=(0.4, -0.2, 0.3)),
    ]
    on_tip = [
        lg.DeadLoad("side", port="second_tip", force=(1, 2, 3), torque=(0.1, 0.2, 0.3)),
        lg.FollowerLoad("jet", port="second_tip", force=(1, 0, 1), torque=(0, 0.1, 0)),
        lg.SpringDamper(
            "cable", port="first_top", other="second_tip", stiffness=20, damping=0.3, force_density=2
        ),
        lg.SpringDamper(
            "stay", port="second_tip", anchor=(3, 0, -4), stiffness=15, damping=0.2, force_density=M
        ),
    ]
    if kind == "free":
        on_tip.append(lg.DeadLoad("hold", port="second_com"))
    return lg.Mechanism(
        "m", bodies=[first, second], joints=joints, loads=on_tip if loads or kind == "free" else []
    )


def inputs_of(m):
    return [n for n in m.input_channels if n.startswith(("J_", "side", "jet", "second_gyro"))] + [
        "base_acceleration_x"
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_against_the_numeric_model(kind):
    """All signals of the joint, of the port beyond it and of the springs; 1e-9."""
    m = mechanism(kind)
    trim = m.trim(solve=["hold_force", "hold_torque"]) if kind == "free" else m.trim()
    outputs = [n for n in m.output_channels if n.startswith("J_") or "pull" in n or "_applied_" in n]
    outputs += ["second_tip_position_ref", "second_tip_acceleration", "second_tip_specific_force_ref"]
    plant = m.linearize(trim, inputs=inputs_of(m), outputs=outputs)
    report = lg.check(trim.mechanism, plant, samples=30, tolerance=1e-9)
    assert report.passed, str(report)


@pytest.mark.parametrize("kind", [k for k in KINDS if k != "free"])
def test_names_of_states(kind):
    """All positions, then all rates, in the order of the joints; kinematic rows are ones and zeros."""
    m = mechanism(kind, loads=False)
    plant = m.linearize()
    joint = m.joints[1]
    n = 1 + joint.dof
    assert plant.states == ("R_angle", *joint.names(joint.positions), "R_rate", *joint.names(joint.rates))
    A = plant.at().A
    assert np.array_equal(A[:n], np.hstack([np.zeros((n, n)), np.eye(n)]))


@pytest.mark.parametrize("kind", KINDS)
def test_elements_are_values(kind):
    """Joints, loads and bodies compare by what they hold and survive pickling."""
    m, again = mechanism(kind), mechanism(kind)
    assert m.joints == again.joints
    assert m.bodies == again.bodies
    assert m.loads == again.loads
    assert pickle.loads(pickle.dumps(m.joints)) == m.joints
    assert pickle.loads(pickle.dumps(m.bodies)) == m.bodies
    assert pickle.loads(pickle.dumps(m.loads)) == m.loads
    assert len({*m.joints, *again.joints}) == 2


def test_universal_joint_is_two_hinges():
    """A universal joint equals two revolute joints with a massless cross between; 1e-12."""
    body = lg.RigidBody("b", mass=M, com=(0.3, 0.1, -1), inertia=(0.1, 0.2, 0.25))
    cross = lg.RigidBody("cross", mass=0)
    one = lg.Mechanism(
        "one",
        bodies=[body],
        joints=[lg.UniversalJoint("J", parent="ground", child="b", angle_1=A, angle_2=B)],
    ).linearize()
    two = lg.Mechanism(
        "two",
        bodies=[body, cross],
        joints=[
            lg.RevoluteJoint("J1", parent="ground", child="cross", axis=(1, 0, 0), angle=A),
            lg.RevoluteJoint("J2", parent="cross", child="b", axis=(0, 1, 0), angle=B),
        ],
    ).linearize()
    for a, b in ((-50, 120), (10, 190), (45, 100)):
        x, y = one.at(a=a, b=b, m=2.3), two.at(a=a, b=b, m=2.3)
        for k in "ABCD":
            assert np.asarray(getattr(x, k)) == pytest.approx(np.asarray(getattr(y, k)), rel=1e-12, abs=1e-12)


def test_cylindrical_joint_is_a_hinge_on_a_slide():
    """Rotation about and translation along one axis commute; 1e-12."""
    body = lg.RigidBody("b", mass=M, com=(0.3, 0.1, -1), inertia=(0.1, 0.2, 0.25))
    slide = lg.RigidBody("slide", mass=0)
    one = lg.Mechanism(
        "one",
        bodies=[body],
        joints=[lg.CylindricalJoint("J", parent="ground", child="b", axis=AXIS, angle=A, position=Z)],
    ).linearize()
    two = lg.Mechanism(
        "two",
        bodies=[body, slide],
        joints=[
            lg.RevoluteJoint("R", parent="slide", child="b", axis=AXIS, angle=A),
            lg.PrismaticJoint("P", parent="ground", child="slide", axis=AXIS, position=Z),
        ],
    ).linearize()
    x, y = one.at(a=33, z=0.7), two.at(a=33, z=0.7)
    assert pytest.approx(y.A, rel=1e-12, abs=1e-12) == x.A
    assert pytest.approx(y.B, rel=1e-12, abs=1e-12) == x.B


def test_scheduled_lift():
    """A mass on a lift above a pendulum's hinge: closed form m g, and the length of the pendulum in its frequency."""
    arm = lg.RigidBody("arm", mass=0)
    bob = lg.RigidBody("bob", mass=M)
    r = lg.scheduled("r", (0.5, 2.0), unit="m")
    joints = [
        lg.RevoluteJoint("hinge", parent="ground", child="arm", axis=(1, 0, 0)),
        lg.PrismaticJoint("slide", parent="arm", child="bob", axis=(0, 0, -1), position=r),
    ]
    m = lg.Mechanism("lift", bodies=[arm, bob], joints=joints)
    assert m.trim().torque["slide"].at(m=2.3)[0, 0] == pytest.approx(-2.3 * 9.81, rel=1e-14)
    for length in (0.5, 1.3, 2.0):
        ss = m.linearize().at(r=length)
        assert ss.A[2, 0] == pytest.approx(-9.81 / length, rel=1e-12)
        assert ss.B[2, 0] == pytest.approx(1 / (2 * length**2), rel=1e-12)
        assert ss.B[3, 1] == pytest.approx(1 / 2, rel=1e-12)


def test_euler_angles_and_their_limit():
    """Euler angles of a free base by their kinematic factor; a pitch of 90 degrees is refused by name."""
    body = lg.RigidBody("b", mass=1, inertia=(1, 2, 2.5))

    def free(pitch):
        joints = [lg.FreeJoint("F", child="b", rpy=(0.3, pitch, A))]
        return lg.Mechanism("m", bodies=[body], joints=joints, gravity=(0, 0, 0))

    plant = free(0.5).linearize(outputs=["F_roll", "F_pitch", "F_yaw"])
    s, c, t = np.sin(0.3), np.cos(0.3), np.tan(0.5)
    factor = [[1, s * t, c * t], [0, c, -s], [0, s / np.cos(0.5), c / np.cos(0.5)]]
    assert plant.at().C[:, :3] == pytest.approx(np.array(factor), rel=1e-12)
    with pytest.raises(lg.ModelError, match=r"F: Euler angles do not exist at a pitch of 90"):
        free(np.pi / 2).linearize(outputs=["F_roll"])
    assert free(np.pi / 2).linearize(outputs=["F_attitude"]).shape == (3, 6)
