"""Loads, springs and rotors: closed forms, signs, pinocchio, conserved momentum, and bad input."""

import numpy as np
import pytest

import lftgen as lg
from lftgen import rigidbody as rb
from lftgen.oracle import numeric_model

G = 9.81


def bar(**own):
    """A hinged bar, 2 kg at 1 m, with a port at its end."""
    return lg.RigidBody("bar", mass=2, com=(0, 0, -1), ports={"end": (0, 0, -2)}, **own)


def hinge(**own):
    return lg.RevoluteJoint("hinge", parent="ground", child="bar", axis=(1, 0, 0), **own)


def model(loads, **own):
    return lg.Mechanism("m", bodies=[bar(**own)], joints=[hinge()], loads=loads)


def stiffness(mechanism):
    return -mechanism.linearize().at().A[1, 0] * 2


def test_weight_as_a_dead_load_is_weight():
    """A dead load that pulls down at the end of the bar stiffens it as a weight there does: k = m g l + F 2 l."""
    assert stiffness(model([lg.DeadLoad("w", port="bar_end", force=(0, 0, -7))])) == pytest.approx(
        2 * G + 7 * 2, rel=1e-13
    )


def test_follower_force_makes_no_stiffness():
    """The same force turning with the bar leaves the weight's stiffness alone, and the trim torque is the same."""
    dead, follower = (
        model([kind("w", port="bar_end", force=(0, 3, -7))]) for kind in (lg.DeadLoad, lg.FollowerLoad)
    )
    assert stiffness(follower) == pytest.approx(2 * G, rel=1e-13)
    assert dead.trim().torque["hinge"].at()[0, 0] == pytest.approx(-6, rel=1e-13)
    assert follower.trim().torque["hinge"].at()[0, 0] == pytest.approx(-6, rel=1e-13)


def test_dead_couple_is_unsymmetric():
    """A couple constant in reference axes on a ball joint: dT = -dphi x T, an unsymmetric stiffness."""
    ball = lg.SphericalJoint("ball", parent="ground", child="b")
    body = lg.RigidBody("b", mass=1, inertia=(1, 1, 1))
    couple = lg.DeadLoad("c", port="b_origin", torque=(0, 0, 5))
    A = lg.Mechanism("m", bodies=[body], joints=[ball], loads=[couple]).linearize().at().A
    assert A[3:, :3] == pytest.approx(np.array([[0, -5, 0], [5, 0, 0], [0, 0, 0]]), abs=1e-13)


def test_spring_to_the_ground():
    """A spring across the end of the bar: k l^2; with tension the string term of the pull adds."""
    spring = {"port": "bar_end", "anchor": (0, 3, -2), "stiffness": 50}
    assert stiffness(model([lg.SpringDamper("s", **spring)])) == pytest.approx(2 * G + 50 * 4, rel=1e-12)
    taut = lg.SpringDamper("s", **spring, force_density=4)

    def moment(t):
        end = np.array([2 * np.sin(t), -2 * np.cos(t)])
        r = np.array([3.0, -2.0]) - end
        length = np.sqrt(r @ r)
        pull = (4 * 3 + 50 * (length - 3)) * r / length
        return end[0] * pull[1] - end[1] * pull[0]

    slope = np.imag(moment(1e-30j)) / 1e-30
    assert stiffness(model([taut])) == pytest.approx(2 * G - slope, rel=1e-12)


def test_damper_between_two_bodies():
    """Opposite forces: momentum of two free masses is conserved, the relative motion is damped."""
    bodies = [lg.RigidBody(n, mass=m, inertia=(1, 1, 1)) for n, m in (("a", 2.0), ("b", 3.0))]
    joints = [lg.FreeJoint("A", child="a"), lg.FreeJoint("B", child="b", origin=(1, 0, 0))]
    link = lg.SpringDamper("l", port="a_com", other="b_com", stiffness=8, damping=0.5)
    m = lg.Mechanism("pair", bodies=bodies, joints=joints, gravity=(0, 0, 0), loads=[link])
    A = m.linearize().at().A
    i, j = m.linearize().states.index("A_velocity_x"), m.linearize().states.index("B_velocity_x")
    assert 2 * A[i] + 3 * A[j] == pytest.approx(np.zeros(24), abs=1e-13)
    assert A[i, 3] == pytest.approx(-4)
    assert A[i, i] == pytest.approx(-0.25)


def test_input_of_a_load():
    """A load's input in its own axes: reference axes for a dead load, the port's for a follower."""
    for kind, direction in ((lg.DeadLoad, np.cos(0.4)), (lg.FollowerLoad, 1.0)):
        joint = hinge(angle=0.4)
        mechanism = lg.Mechanism("m", bodies=[bar()], joints=[joint], loads=[kind("w", port="bar_end")])
        plant = mechanism.linearize(inputs=["w_force_y"])
        assert plant.at().B[1, 0] == pytest.approx(2 * direction / 2, rel=1e-13)
        assert lg.check(mechanism, plant, tolerance=1e-12).passed


def gyro(h):
    wheel = lg.Rotor("wheel", axis=(0, 0, 1), momentum=h)
    body = lg.RigidBody("b", mass=1, inertia=(2.0, 3.0, 4.0), rotors=[wheel])
    return lg.Mechanism("gyro", bodies=[body], joints=[lg.FreeJoint("F", child="b")], gravity=(0, 0, 0))


def test_nutation():
    """A spinning top in space nutates at h / sqrt(Ix Iy), whatever h in the range, and precesses the right way."""
    h = lg.scheduled("h", (-5.0, 10.0))
    plant = gyro(h).linearize(inputs=["b_wheel_torque"])
    assert plant.repetitions == {"h": 2}
    for value in (-5.0, 3.0, 10.0):
        A = plant.at(h=value).A
        assert max(np.linalg.eigvals(A).imag) == pytest.approx(abs(value) / np.sqrt(6), rel=1e-12)
        assert A[6, 7] == pytest.approx(-value / 2, rel=1e-13)  # I w' = -w x h: wx' = -wy h / Ix
        assert A[7, 6] == pytest.approx(value / 3, rel=1e-13)
    assert plant.at().B[8, 0] == pytest.approx(-1 / 4)


def test_rotor_against_pinocchio():
    """A momentum is the limit of a real spinning rotor: pinocchio's derivative of inverse dynamics at that speed."""
    pin = pytest.importorskip("pinocchio")
    robot = pin.Model()
    base = robot.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
    robot.appendBodyToJoint(
        base, pin.Inertia(3.0, np.array([0.1, 0.2, -0.1]), np.diag([2.0, 3.0, 4.0])), pin.SE3.Identity()
    )
    axis = np.array([0.0, 0.6, 0.8])
    spin = robot.addJoint(base, pin.JointModelRevoluteUnaligned(axis), pin.SE3.Identity(), "rotor")
    J = 0.05
    robot.appendBodyToJoint(
        spin, pin.Inertia(1e-12, np.zeros(3), J * np.outer(axis, axis)), pin.SE3.Identity()
    )
    robot.gravity.linear = np.zeros(3)
    speed, data = 40.0, robot.createData()
    v = np.zeros(7)
    v[6] = speed
    _, by_rate, _ = pin.computeRNEADerivatives(robot, data, pin.neutral(robot), v, np.zeros(7))
    wheel = lg.Rotor("wheel", axis=axis, momentum=J * speed)
    body = lg.RigidBody("b", mass=3.0, com=(0.1, 0.2, -0.1), inertia=(2.0, 3.0, 4.0), rotors=[wheel])
    m = lg.Mechanism("g", bodies=[body], joints=[lg.FreeJoint("F", child="b")], gravity=(0, 0, 0))
    ss = m.linearize(inputs=["F_torque", "F_force"]).at()
    gyroscopic = -np.linalg.solve(ss.B[6:], ss.A[6:, 6:])
    assert gyroscopic[:3, :3] == pytest.approx(by_rate[3:6, 3:6], abs=1e-12)


def test_free_flying_tree_against_pinocchio():
    """A free base with three hinges and a slide in space: accelerations by forces, 1e-9."""
    pin = pytest.importorskip("pinocchio")
    rng = np.random.default_rng(3)
    angle = lg.scheduled_angle("q", (-70, 70), unit="deg")
    masses, coms = rng.uniform(1, 3, 4), rng.normal(size=(4, 3)) / 3
    names = ["base", "a", "b", "c"]
    bodies = [
        lg.RigidBody(n, mass=m, com=c, inertia=(0.4, 0.5, 0.6))
        for n, m, c in zip(names, masses, coms, strict=True)
    ]
    joints = [
        lg.FreeJoint("F", child="base"),
        lg.RevoluteJoint("A", parent="base", child="a", axis=(0, 0, 1), origin=(0.2, 0.1, 0.3), angle=angle),
        lg.PrismaticJoint("B", parent="a", child="b", axis=(1, 0, 0), origin=(0, 0.4, 0), position=0.35),
        lg.RevoluteJoint("C", parent="base", child="c", axis=(0, 1, 0), origin=(-0.3, 0, 0.1), angle=-angle),
    ]
    m = lg.Mechanism("tree", bodies=bodies, joints=joints, gravity=(0, 0, 0))
    inputs = [n for j in joints for n in j.names(j.forces)]
    plant = m.linearize(inputs=inputs)
    robot = pin.Model()
    where = {"ground": 0}
    kinds = {
        "F": pin.JointModelFreeFlyer(),
        "A": pin.JointModelRZ(),
        "B": pin.JointModelPX(),
        "C": pin.JointModelRY(),
    }
    for body, joint in zip(bodies, joints, strict=True):
        place = pin.SE3(np.eye(3), np.array([float(x) for x in joint.origin]))
        k = robot.addJoint(where[joint.parent], kinds[joint.name], place, joint.name)
        where[body.name] = k
        inertia = pin.Inertia(
            float(body.mass), np.array([float(x) for x in body.com]), np.diag([0.4, 0.5, 0.6])
        )
        robot.appendBodyToJoint(k, inertia, pin.SE3.Identity())
    data = robot.createData()
    swap = [3, 4, 5, 0, 1, 2, 6, 7, 8]
    for value in (-70.0, 20.0, 55.0):
        q = pin.neutral(robot)
        q[7:] = [np.deg2rad(value), 0.35, -np.deg2rad(value)]
        H = pin.crba(robot, data, q)
        H = np.triu(H) + np.triu(H, 1).T
        B = plant.at(q=value).B
        expected = np.linalg.inv(H)[np.ix_(swap, swap)]
        assert B[9:] == pytest.approx(expected, rel=1e-9, abs=1e-10)


def test_total_momentum_of_a_random_free_tree():
    """No load, no gravity: the rows of total momentum are in the left null space of A, springs and wheels included."""
    theta = lg.scheduled_angle("theta", (-180, 180), chart="quarter", unit="deg")
    h = lg.scheduled("h", (-5, 5))
    hub = lg.RigidBody(
        "hub", mass=5, com=(0.1, 0.2, -0.1), inertia=(2, 3, 4), ports={"p": (1, 0, 0)},
        rotors=[lg.Rotor("w", axis=(1, 2, 2), momentum=h)],
    )  # fmt: skip
    arm = lg.RigidBody(
        "arm",
        mass=lg.uncertain("m", 1.0, percent=30),
        com=(0.4, 0, 0.1),
        inertia=(0.1, 0.2, 0.25),
        ports={"p": (1, 1, 0)},
    )
    joints = [
        lg.FreeJoint("F", child="hub"),
        lg.RevoluteJoint(
            "J",
            parent="hub",
            child="arm",
            axis=(0, 0.6, 0.8),
            origin=(0.3, 0, 0),
            angle=theta,
            stiffness=4,
            damping=0.1,
        ),
    ]
    spring = lg.SpringDamper("s", port="hub_p", other="arm_p", stiffness=30, damping=0.4)
    m = lg.Mechanism("sat", bodies=[hub, arm], joints=joints, gravity=(0, 0, 0), loads=[spring])
    plant = m.linearize()
    for t, value, mass in ((-180, 3, 0.8), (0, -5, 1.2), (77, 5, 1.0), (180, 1, 0.7)):
        point = {"theta": np.array([t]), "h": np.array([value]), "m": np.array([mass])}
        numeric = numeric_model(m, point)
        H = rb.mass_matrix(numeric.model, numeric.q)[0]
        momentum = value * np.array([1, 2, 2]) / 3
        turning = np.array([np.cross(e, momentum) for e in np.eye(3)]).T
        rows = np.hstack([np.zeros((6, 7)), H[:6]])
        rows[:3, :3] = turning
        A = plant.at(theta=t, h=value, m=mass).A
        assert np.abs(rows @ A).max() <= 1e-12 * np.abs(A).max() * np.abs(rows).max()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: model([lg.DeadLoad("w", port="bar_ent", force=(0, 0, 1))]), "did you mean bar_end"),
        (lambda: model([lg.DeadLoad("bar", port="bar_end")]), "load bar: the name occurs twice"),
        (lambda: model([lg.DeadLoad("w", port="bar_end"), lg.DeadLoad("w", port="bar_com")]), "occurs twice"),
        (lambda: model([lg.DeadLoad("w", port=3)]), "port must be a name"),
        (lambda: model([lg.DeadLoad("w", port="bar_end", force=(1, 2))]), "load w: force must be 3 values"),
        (lambda: model([lg.DeadLoad("w", port="bar_end", force=(1, 2, float("nan")))]), "finite real number"),
        (lambda: model(["push"]), "loads must be DeadLoad, FollowerLoad or SpringDamper objects"),
        (lambda: lg.SpringDamper("s", port="a_b", other="a_b"), "both ends are a_b"),
        (lambda: lg.SpringDamper("s", port="a_b", other="c_d", anchor=(1, 0, 0)), "an anchor is a point of the ground"),
        (lambda: lg.SpringDamper("s", port="a_b", damping=-1), "damping must not be negative"),
        (lambda: model([lg.SpringDamper("s", port="bar_end", other="bar_tip")]), "unknown port"),
        (lambda: lg.Rotor("w", momentum=3), "rotor w: a momentum needs an axis"),
        (lambda: lg.Rotor("w", axis=(0, 0, 0), momentum=3), "length is 0"),
        (lambda: bar(rotors=["w"]), "rotors must be a list of Rotor objects"),
        (lambda: bar(rotors=[lg.Rotor("end", axis=(1, 0, 0))]), "name end occurs twice"),
        (lambda: model([]).linearize(inputs=["w_force_x"]), "unknown input 'w_force_x'"),
        (lambda: lg.CylindricalJoint("J", parent="ground", child="b", axis=(1, 0, 0), stiffness=(1, 2, 3)), "must be 2 values"),
        (lambda: lg.PrismaticJoint("J", parent="ground", child="b", axis=(0, 0, 0)), "must be a direction"),
    ],
)  # fmt: skip
def test_bad_input(make, message):
    """Errors name the element and what was expected."""
    with pytest.raises(lg.ModelError, match=message):
        make()


def test_spring_without_length():
    """Both ends in one place have no line of action: an error, not a NaN."""
    with pytest.raises(lg.IllPosedError):
        model([lg.SpringDamper("s", port="bar_end", anchor=(0, 0, -2), stiffness=3)]).linearize()


def test_joint_that_is_not_rational():
    """An angle that is no scheduled angle."""
    with pytest.raises(lg.NotRationalError, match="joint J: the angle must be a number, a scheduled angle"):
        lg.PlanarJoint("J", parent="ground", child="b", axis=(0, 0, 1), angle=lg.uncertain("u", 1, percent=5))


def test_thrusting_tree_against_pinocchio():
    """A free base under gravity, held by a follower wrench that the trim finds, arms turned: A from pinocchio, 1e-9."""
    pin = pytest.importorskip("pinocchio")
    angle = lg.scheduled_angle("q", (-70, 70), unit="deg")
    mass = lg.uncertain("m", 1.5, percent=30)
    bodies = [
        lg.RigidBody("base", mass=4, com=(0.1, 0.2, -0.1), inertia=(0.4, 0.5, 0.6)),
        lg.RigidBody("a", mass=mass, com=(0.3, 0.1, -0.2), inertia=(0.4, 0.5, 0.6)),
        lg.RigidBody("b", mass=0.7, com=(-0.1, 0.2, 0.3), inertia=(0.4, 0.5, 0.6)),
    ]
    joints = [
        lg.FreeJoint("F", child="base"),
        lg.RevoluteJoint("A", parent="base", child="a", axis=(1, 0, 0), origin=(0.2, 0.1, 0.3), angle=angle),
        lg.RevoluteJoint("B", parent="a", child="b", axis=(0, 1, 0), origin=(0, 0.4, 0), angle=-angle),
    ]
    jet = lg.FollowerLoad("jet", port="base_origin")
    m = lg.Mechanism("tree", bodies=bodies, joints=joints, gravity=(0.5, -0.3, -9.81), loads=[jet])
    trim = m.trim(solve=["jet_force", "jet_torque"])
    plant = m.linearize(trim, inputs=["A_torque", "B_torque"])
    robot, where = pin.Model(), {"ground": 0}
    robot.gravity.linear = np.array([0.5, -0.3, -9.81])
    kinds = {"F": pin.JointModelFreeFlyer(), "A": pin.JointModelRX(), "B": pin.JointModelRY()}
    for value, kilograms in ((-65.0, 1.2), (30.0, 1.5), (70.0, 1.9)):
        robot, where = pin.Model(), {"ground": 0}
        robot.gravity.linear = np.array([0.5, -0.3, -9.81])
        for body, joint in zip(bodies, joints, strict=True):
            place = pin.SE3(np.eye(3), np.array([float(x) for x in joint.origin]))
            where[body.name] = robot.addJoint(where[joint.parent], kinds[joint.name], place, joint.name)
            weight = kilograms if body.name == "a" else float(body.mass)
            inertia = pin.Inertia(weight, np.array([float(x) for x in body.com]), np.diag([0.4, 0.5, 0.6]))
            robot.appendBodyToJoint(where[body.name], inertia, pin.SE3.Identity())
        data, q = robot.createData(), pin.neutral(robot)
        q[7:] = [np.deg2rad(value), -np.deg2rad(value)]
        point = {"q": value, "m": kilograms}
        solved = [
            trim.solution[f"jet_{k}_{c}"].at(**point).item() for k in ("force", "torque") for c in "xyz"
        ]
        outside = pin.StdVec_Force()
        for k in range(robot.njoints):
            wrench = np.array(solved) if k == where["base"] else np.zeros(6)
            outside.append(pin.Force(wrench[:3], wrench[3:]))
        tau = np.concatenate([np.zeros(6), [trim.torque[j].at(**point).item() for j in ("A", "B")]])
        assert np.abs(pin.aba(robot, data, q, np.zeros(8), tau, outside)).max() < 1e-12
        by_position, by_rate, _ = pin.computeABADerivatives(robot, data, q, np.zeros(8), tau, outside)
        swap = [3, 4, 5, 0, 1, 2, 6, 7]
        A = plant.at(**point).A
        assert A[8:, :8] == pytest.approx(by_position[np.ix_(swap, swap)], rel=1e-9, abs=1e-9)
        assert A[8:, 8:] == pytest.approx(by_rate[np.ix_(swap, swap)], rel=1e-9, abs=1e-9)
