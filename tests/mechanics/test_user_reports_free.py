"""What users of other tools ran into, on bases that nothing holds; values computed apart from this project."""

import numpy as np
import pytest
import sympy as sp

import lftgen as lg

G = 9.81


def welded():
    """Four point masses on a massless frame."""
    points = {"a": (0.5, (1, 1, 0)), "b": (0.5, (-1, -1, 0)), "c": (0.25, (0, 0, 1)), "d": (0.25, (0, 0, -1))}
    bodies = [lg.RigidBody("hub", mass=0), *(lg.RigidBody(k, mass=m) for k, (m, _) in points.items())]
    joints = [lg.FreeJoint("F", child="hub")]
    joints += [lg.FixedJoint(f"weld_{k}", parent="hub", child=k, origin=p) for k, (_, p) in points.items()]
    return lg.Mechanism("welded", bodies=bodies, joints=joints, gravity=(0, 0, 0))


def tensor():
    """The same as one body with its tensor."""
    hub = lg.RigidBody("hub", mass=1.5, inertia=((1.5, -1, 0), (-1, 1.5, 0), (0, 0, 2)))
    return lg.Mechanism("tensor", bodies=[hub], joints=[lg.FreeJoint("F", child="hub")], gravity=(0, 0, 0))


@pytest.mark.parametrize("make", [welded, tensor])
def test_sign_of_products_of_inertia(make):
    """Torque (1, 0, 0) on the free body gives (1.2, 0.8, 0), built either way."""
    plant = make().linearize(inputs=["F_torque"], outputs=["F_angular_acceleration"])
    assert pytest.approx([1.2, 0.8, 0], abs=1e-14) == plant.at().D @ [1, 0, 0]


def free_arm(q1, q2, gravity=G):
    """The planar arm on a free base whose shoulder a load holds where the ground held it."""
    links = {"B1": (2.0, 1.0), "B2": (1.0, 0.5)}
    bodies = [lg.RigidBody("base", mass=4, inertia=(1, 1, 1), ports={"foot": (0, 0, 0)})]
    bodies += [
        lg.RigidBody(k, mass=m, com=(L / 2, 0, 0), inertia=(0, m * L**2 / 12, m * L**2 / 12))
        for k, (m, L) in links.items()
    ]
    joints = [
        lg.FreeJoint("F", child="base"),
        lg.RevoluteJoint("J1", parent="base", child="B1", axis=(0, 0, 1), angle=q1),
        lg.RevoluteJoint("J2", parent="B1", child="B2", axis=(0, 0, 1), origin=(1, 0, 0), angle=q2),
    ]
    foot = lg.DeadLoad("foot", port="base_foot")
    return lg.Mechanism("arm", bodies=bodies, joints=joints, gravity=(0, -gravity, 0), loads=[foot])


@pytest.mark.parametrize(("gravity", "sign"), [(G, 1), (-G, -1), (0, 0)])
def test_holding_torques_on_a_free_base(gravity, sign):
    """The load carries all the weight and the moment; the joint torques are those of the grounded arm."""
    trim = free_arm(sp.pi / 6, sp.pi / 4, gravity).trim(solve=["foot_force", "foot_torque"])
    torques = [trim.torque[j].at().item() for j in ("J1", "J2")]
    assert torques == pytest.approx([sign * 17.626172, sign * 0.634754], rel=1e-6)
    assert trim.solution["foot_force_y"].at().item() == pytest.approx(sign * 7 * G, rel=1e-13)
    assert trim.solution["foot_torque_z"].at().item() == pytest.approx(sign * 17.626172, rel=1e-6)


def test_heavy_base_moves_like_the_ground():
    """With an immense base the arm's linear model tends to the grounded one."""
    mechanism = free_arm(sp.pi / 6, sp.pi / 4)
    heavy = [
        lg.RigidBody("base", mass=1e9, inertia=(1e9, 1e9, 1e9), ports={"foot": (0, 0, 0)}),
        *mechanism.bodies[1:],
    ]
    m = lg.Mechanism(
        "heavy", bodies=heavy, joints=mechanism.joints, gravity=(0, -G, 0), loads=mechanism.loads
    )
    ss = m.linearize(m.trim(solve=["foot_force", "foot_torque"])).at()
    A21 = ss.A[14:16, 6:8]
    assert pytest.approx(np.array([[3.704310, -3.890528], [16.864858, 40.570783]]), rel=1e-5) == A21
    assert ss.B[14:16] == pytest.approx(np.array([[0.774194, -2.416506], [-2.416506, 19.542690]]), rel=1e-5)


def test_float_and_exact_angles_agree():
    """pi/6 and pi/4 as symbols or as their floats: the same model to 1e-12."""
    exact, floats = (
        _model(free_arm(*q)) for q in ((sp.pi / 6, sp.pi / 4), (0.5235987755982988, 0.7853981633974483))
    )
    assert pytest.approx(floats.at().A, abs=1e-12) == exact.at().A


def _model(mechanism):
    return mechanism.linearize(mechanism.trim(solve=["foot_force", "foot_torque"]))


def test_a_falling_base_is_no_equilibrium():
    """A free body under gravity: refused, with the weight and the acceleration of the fall."""
    body = lg.RigidBody("b", mass=3, inertia=(1, 1, 1))
    falling = lg.Mechanism("m", bodies=[body], joints=[lg.FreeJoint("F", child="b")])
    with pytest.raises(
        lg.TrimError, match=r"body b \(free joint F\).*F_force_z = 29.43.*F_acceleration_z = -9.81"
    ):
        falling.trim()
    with pytest.raises(lg.TrimError, match="not in equilibrium"):
        falling.linearize()
    at_rest = lg.Mechanism(
        "m", bodies=[body], joints=[lg.FreeJoint("F", child="b")], acceleration=(0, 0, -G)
    )  # the frame falls along
    assert np.array_equal(at_rest.linearize().at().A[6:], np.zeros((6, 12)))


def test_load_that_balances_at_the_nominal_only():
    """A fixed lift under an uncertain mass: in equilibrium at the nominal, and yet refused, with such a point."""
    m = lg.uncertain("m", 3.0, percent=10)
    body = lg.RigidBody("b", mass=m, inertia=(1, 1, 1))
    lift = lg.DeadLoad("lift", port="b_com", force=(0, 0, 3 * G))
    held = lg.Mechanism("m", bodies=[body], joints=[lg.FreeJoint("F", child="b")], loads=[lift])
    with pytest.raises(lg.TrimError, match=r"not in equilibrium at m = (?!3:).*holding it takes .*F_force_z"):
        held.trim()
    follows = lg.DeadLoad("lift", port="b_com", force=(0, 0, m * G))
    good = lg.Mechanism("m", bodies=[body], joints=[lg.FreeJoint("F", child="b")], loads=[follows])
    assert good.trim().wrench["F"].order == 0


def test_base_motion_and_reaction_on_a_free_base():
    """A rod hung under a heavy free body: pushing the body is a base acceleration for the rod."""
    base = lg.RigidBody("base", mass=1e8, inertia=(1e8, 1e8, 1e8))
    rod = lg.RigidBody("rod", mass=3, com=(0, 0, -1), inertia=(1, 1, 0))
    joints = [
        lg.FreeJoint("F", child="base"),
        lg.RevoluteJoint("J", parent="base", child="rod", axis=(0, -1, 0)),
    ]
    lift = lg.DeadLoad("lift", port="base_origin")
    m = lg.Mechanism("m", bodies=[base, rod], joints=joints, loads=[lift])
    plant = m.linearize(
        m.trim(solve=["lift_force_z"]), inputs=["F_force_x"], outputs=["J_acceleration", "J_wrench_parent_fx"]
    )
    ss = plant.at()
    angle = plant.states.index("J_angle")
    assert ss.C[0, angle] == pytest.approx(-7.3575, rel=1e-6)
    assert ss.D[0, 0] * 1e8 == pytest.approx(-0.75, rel=1e-6)
    assert -ss.D[1, 0] * 1e8 == pytest.approx(-0.75, rel=1e-6)
    assert -ss.C[1, angle] == pytest.approx(22.0725, rel=1e-6)


def test_exact_entries_with_a_free_length():
    """A balloon with a length that is a plain symbol: exact entries, frequency by hand."""
    L = sp.Symbol("L", positive=True)
    m = lg.uncertain("m", 2.0, bounds=(1, 3))
    top, bob = lg.RigidBody("top", mass=4, inertia=(1, 1, 1)), lg.RigidBody("bob", mass=m, com=(0, 0, -L))
    joints = [
        lg.FreeJoint("F", child="top"),
        lg.RevoluteJoint("J", parent="top", child="bob", axis=(1, 0, 0), actuated=False),
    ]
    balloon = lg.Mechanism("b", bodies=[top, bob], joints=joints, loads=[lg.DeadLoad("lift", port="top_com")])
    trim = balloon.trim(solve=["lift_force_z"])
    plant = balloon.linearize(trim, inputs=["lift_force"])
    assert plant.is_exact
    assert [s.name for s in plant.symbols] == ["L"]
    A = plant.subs(L=2.0).at(m=3.0).A
    # the bob against the top, the top free to swing sideways but not to turn: w^2 = g / L (1 + m / M) and its turn
    assert A[13, 6] == pytest.approx(-9.81 / 2 * (1 + 3 / 4), rel=1e-12)


@pytest.mark.parametrize(("channel", "gain"), [("J_torque", 1.0), ("J_motor_torque", 50.0)])
def test_rotor_gear_and_damping_on_a_free_base(channel, gain):
    """Link 0.75, rotor 1e-4 behind a gear of 50, damping 0.4, on a free base too heavy to move."""
    base = lg.RigidBody("base", mass=1e9, inertia=(1e9, 1e9, 1e9))
    link = lg.RigidBody("link", mass=0, inertia=(0.75, 0.75, 0.75))
    joints = [
        lg.FreeJoint("F", child="base"),
        lg.RevoluteJoint(
            "J", parent="base", child="link", axis=(0, 0, 1), rotor_inertia=1e-4, gear_ratio=50, damping=0.4
        ),
    ]
    ss = (
        lg.Mechanism("m", bodies=[base, link], joints=joints, gravity=(0, 0, 0))
        .linearize(inputs=[channel])
        .at()
    )
    assert ss.A[13, 13] == pytest.approx(-0.4, rel=1e-8)
    assert ss.B[13, 0] == pytest.approx(gain, rel=1e-8)
