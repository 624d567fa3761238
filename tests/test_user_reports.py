"""Small inputs for kinds of trouble that people met in other tools, with values computed apart from this project.

Parameters, LFT algebra, realisation and interconnection have theirs in ``test_parameters.py`` and ``lft/``; here are
trims, linear models, frames and inertias, and the long chain.
"""

import mpmath
import numpy as np
import pytest
import sympy as sp

import lftgen as lg
from tests.strategies import pendulum, planar_arm, state_rows

CLOSE = {"rel": 1e-6}  # as many digits as the values below have


# --- holding torques -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("gravity", "sign"), [(9.81, 1), (-9.81, -1), (0, 0)])
def test_holding_torque_carries_the_outer_links(gravity, sign):
    """The arm at 30 and 45 degrees; with gravity reversed both torques flip, without it they are exactly zero."""
    trim = planar_arm(q1=sp.pi / 6, q2=sp.pi / 4, gravity=gravity).trim()
    torques = [trim.torque[j].at().item() for j in ("J1", "J2")]
    assert torques == pytest.approx([sign * 17.626172, sign * 0.634754], rel=1e-6, abs=0)
    if not sign:
        assert all(np.array_equal(trim.wrench[j].at(), np.zeros((6, 1))) for j in trim.wrench)


def test_forces_through_the_joints():
    """Force on link 2 from link 1 is (0, 9.81, 0) and on link 1 from the base (0, 29.43, 0), in ground axes."""
    trim = planar_arm(q1=sp.pi / 6, q2=sp.pi / 4).trim()
    for joint, body, force in (("J2", "B2", 9.81), ("J1", "B1", 29.43)):
        in_ground = trim.rotation[body].at() @ trim.wrench[joint].at()[3:]
        assert in_ground.ravel() == pytest.approx([0, force, 0], abs=1e-13)
    assert trim.wrench_parent["J1"].at()[3:].ravel() == pytest.approx([0, 29.43, 0], abs=1e-13)
    in_link = trim.rotation["B1"].at() @ trim.wrench_parent["J2"].at()[3:]
    assert in_link.ravel() == pytest.approx([0, 9.81, 0], abs=1e-13)


def test_holding_torque_in_symbols():
    """tau2 = 2.4525 (c1 c2 - s1 s2) as an exact expression in the half-angle tangents, and in the angles."""
    q1, q2 = lg.scheduled_angle("q1", (-1.2, 1.2)), lg.scheduled_angle("q2", (-1.2, 1.2))
    torque = planar_arm(q1=q1, q2=q2).trim(exact=True).torque["J2"]
    t1, t2 = q1.coordinate, q2.coordinate
    c1, c2, s1, s2 = (
        f(t) for f in (lambda t: (1 - t**2) / (1 + t**2), lambda t: 2 * t / (1 + t**2)) for t in (t1, t2)
    )
    assert sp.cancel(torque.to_sympy("t")[0] - sp.Rational("2.4525") * (c1 * c2 - s1 * s2)) == 0
    assert sp.simplify(torque.to_sympy()[0] - sp.Rational("2.4525") * sp.cos(q1 + q2)) == 0
    assert torque.at(q1=np.pi / 6, q2=np.pi / 4).item() == pytest.approx(0.634754, **CLOSE)


def test_no_equilibrium_is_an_error():
    """A pendulum at 30 degrees that nothing holds: the error gives the missing torque and -4.905 rad/s2."""
    with pytest.raises(lg.TrimError, match=r"hinge .*4\.905 N m.*hinge_acceleration = -4\.905"):
        pendulum(sp.pi / 6, actuated=False).linearize()
    held = pendulum(sp.pi / 6)
    assert held.trim().torque["hinge"].at().item() == pytest.approx(4.905, rel=1e-14)
    A21, _, _ = state_rows(held.linearize().at(), ["hinge"])
    assert A21.item() == pytest.approx(-8.495709, **CLOSE)


# --- linear models ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("angles", [(sp.pi / 6, sp.pi / 4), (0.5235987755982988, 0.7853981633974483)])
def test_linear_model_away_from_zero(angles):
    """Plain numbers that exact and float input agree on to 1e-12."""
    model = planar_arm(q1=angles[0], q2=angles[1]).linearize().at()
    A21, A22, B2 = state_rows(model, ["J1", "J2"])
    assert np.allclose(A21, [[3.704310, -3.890528], [16.864858, 40.570783]], rtol=1e-6, atol=0)
    assert np.allclose(B2, [[0.774194, -2.416506], [-2.416506, 19.542690]], rtol=1e-6, atol=0)
    assert np.array_equal(A22, np.zeros((2, 2)))
    assert np.sort(model.poles().real) == pytest.approx([-6.220583, -2.362083, 2.362083, 6.220583], **CLOSE)
    reference = planar_arm(q1=sp.pi / 6, q2=sp.pi / 4).linearize().at()
    assert np.max(np.abs(model.A - reference.A)) < 1e-12


def test_base_motion_and_its_reaction():
    """A hanging rod: theta'' = -7.3575 theta - 0.75 a; horizontal force on the base 22.0725 theta - 0.75 a."""
    rod = pendulum(0, mass=3, length=1, inertia=1)
    model = rod.linearize(
        inputs=["base_acceleration_y"], outputs=["hinge_acceleration", "hinge_wrench_parent_fy"]
    ).at()
    C, D = np.asarray(model.C), np.asarray(model.D)
    # the hinge turns about +x: +theta swings the rod towards +y
    assert C[0] == pytest.approx([-7.3575, 0], rel=1e-12)
    assert D[0, 0] == pytest.approx(-0.75, rel=1e-12)
    assert -C[1] == pytest.approx([22.0725, 0], rel=1e-12)  # on the base: less the force on the rod
    assert -D[1, 0] == pytest.approx(-0.75, rel=1e-12)
    assert -rod.trim().wrench_parent["hinge"].at()[5, 0] == pytest.approx(-29.43, rel=1e-14)


@pytest.mark.parametrize(("channel", "gain"), [("hinge_torque", 1.0), ("hinge_motor_torque", 50.0)])
def test_rotor_gear_and_damping(channel, gain):
    """Link 0.75 and rotor 1e-4 through a gear of 50: inertia 1.0, A22 = -0.4, and 50 times the gain before the gear."""
    link = lg.RigidBody("link", mass=1, inertia=(0.75, 0.75, 0.75))
    gear = {"rotor_inertia": 1e-4, "gear_ratio": 50, "damping": 0.4}
    hinge = lg.RevoluteJoint("hinge", parent="ground", child="link", axis=(0, 0, 1), **gear)
    mechanism = lg.Mechanism("geared", bodies=[link], joints=[hinge], gravity=(0, 0, 0))
    model = mechanism.linearize(inputs=[channel]).at()
    assert model.A[1] == pytest.approx([0, -0.4], abs=1e-15)
    assert model.B[1, 0] == pytest.approx(gain, rel=1e-14)


def test_the_two_kinds_of_rotor_inertia():
    """Armature feels the joint's rotation only, hub inertia the child's absolute one."""
    a = lg.RigidBody("a", mass=1, com=(0.5, 0, 0), inertia=(0, 0.1, 0.1))
    b = lg.RigidBody("b", mass=1, com=(0.5, 0, 0), inertia=(0, 0.1, 0.1))

    def mass_matrix(**second):
        joints = [
            lg.RevoluteJoint("p", parent="ground", child="a", axis=(0, 0, 1)),
            lg.RevoluteJoint("q", parent="a", child="b", axis=(0, 0, 1), origin=(1, 0, 0), **second),
        ]
        model = lg.Mechanism("m", bodies=[a, b], joints=joints, gravity=(0, 0, 0)).linearize().at()
        return np.linalg.inv(model.B[2:])

    plain = mass_matrix()
    assert mass_matrix(armature=0.3) - plain == pytest.approx(np.array([[0, 0], [0, 0.3]]), abs=1e-13)
    assert mass_matrix(hub_inertia=0.3) - plain == pytest.approx(np.full((2, 2), 0.3), abs=1e-13)


# --- frames and inertias ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("moment", "about"), [(1, "com"), (4, "origin")])
def test_inertia_about_centre_or_origin(moment, about):
    """The rod entered about its centre and about its hinge swings at 2.712471 rad/s."""
    rod = lg.RigidBody("rod", mass=3, com=(0, 0, -1), inertia=(moment, moment, 0), inertia_about=about)
    hinge = lg.RevoluteJoint("hinge", parent="ground", child="rod", axis=(1, 0, 0))
    model = lg.Mechanism("rod_mechanism", bodies=[rod], joints=[hinge]).linearize().at()
    assert abs(model.poles()[0]) == pytest.approx(2.712471, **CLOSE)


def test_turned_inertia():
    """R I R^T with R = Rz Ry Rx: off-diagonal entries with their signs, and the gain 1.904762 about the link's x."""
    link = lg.RigidBody("link", mass=1, inertia=(0.4, 0.9, 1.1), inertia_rpy=(0, 0, sp.pi / 6))
    tensor = np.array(link.inertia.evalf().tolist(), dtype=float)
    assert tensor == pytest.approx(
        np.array([[0.525, -0.216506, 0], [-0.216506, 0.775, 0], [0, 0, 1.1]]), rel=1e-5, abs=1e-15
    )
    hinge = lg.RevoluteJoint("hinge", parent="ground", child="link", axis=(1, 0, 0))
    model = lg.Mechanism("turned", bodies=[link], joints=[hinge], gravity=(0, 0, 0)).linearize().at()
    assert model.B[1, 0] == pytest.approx(1.904762, **CLOSE)
    second = lg.RigidBody("link", mass=1, inertia=(0.4, 0.9, 1.1), inertia_rpy=(0.2, -0.4, 0.7))
    want = [
        [0.657238, -0.195960, -0.166760],
        [-0.195960, 0.755612, -0.187356],
        [-0.166760, -0.187356, 0.987151],
    ]
    assert np.array(second.inertia.evalf().tolist(), dtype=float) == pytest.approx(np.array(want), rel=5e-6)


def test_sign_of_products_of_inertia():
    """Four welded point masses and one body with the tensor turn alike: torque x gives (1.2, 0.8, 0)."""
    points = {"a": (0.5, (1, 1, 0)), "b": (0.5, (-1, -1, 0)), "c": (0.25, (0, 0, 1)), "d": (0.25, (0, 0, -1))}
    whole = lg.RigidBody("hub", mass=1.5, inertia=((1.5, -1, 0), (-1, 1.5, 0), (0, 0, 2)))
    bare = lg.RigidBody("hub", mass=0)
    welded = [lg.RigidBody(k, mass=m) for k, (m, _) in points.items()]
    welds = [lg.FixedJoint(f"w{k}", parent="hub", child=k, origin=p) for k, (_, p) in points.items()]
    for bodies, joints in (([whole], []), ([bare, *welded], welds)):
        rates = []
        for axis in ((1, 0, 0), (0, 1, 0)):
            hinge = lg.RevoluteJoint("hinge", parent="ground", child="hub", axis=axis)
            mechanism = lg.Mechanism("m", bodies=bodies, joints=[hinge, *joints], gravity=(0, 0, 0))
            model = mechanism.linearize(outputs=["hinge_wrench_tx", "hinge_wrench_ty"]).at()
            rates.append(np.asarray(model.D)[:, 0] / np.asarray(model.B)[1, 0])  # torque per acceleration
        tensor = np.array(rates).T
        assert tensor == pytest.approx(np.array([[1.5, -1], [-1, 1.5]]), abs=1e-13)
        assert np.linalg.solve(tensor, [1, 0]) == pytest.approx([1.2, 0.8], rel=1e-12)


# --- angles through 180 degrees --------------------------------------------------------------------------------------


def test_pendulum_about_the_upright():
    """150 to 210 degrees: at 180 the model is the upright one, exactly; a fixed 180 is the same."""
    theta = lg.scheduled_angle("theta", (150, 210), unit="deg")
    plant = pendulum(theta).linearize()
    A21, _, _ = state_rows(plant.at(theta=180), ["hinge"])
    assert A21.item() == 9.81
    for value in (150.0, 171.0, 210.0):
        A21, _, _ = state_rows(plant.at(theta=value), ["hinge"])
        assert A21.item() == pytest.approx(-9.81 * np.cos(np.radians(value)), rel=1e-13)
    assert lg.check(pendulum(theta), plant, samples=10).max_relative_error < 1e-12
    for angle in (sp.pi, np.pi):
        A21, _, _ = state_rows(pendulum(angle, actuated=False).linearize().at(), ["hinge"])
        assert A21.item() == 9.81


# --- numbers ---------------------------------------------------------------------------------------------------------


def test_nearly_straight_arm():
    """Entries of the arm at q2 = 1e-6 within 1e-9 of 50-digit arithmetic."""
    q1, q2 = lg.scheduled_angle("q1", (-1, 1)), lg.scheduled_angle("q2", (-1, 1))
    A21, _, B2 = state_rows(planar_arm(q1=q1, q2=q2).linearize().at(q1=0.5, q2=1e-6), ["J1", "J2"])
    mpmath.mp.dps = 50
    a, b = mpmath.mpf(0.5), mpmath.mpf(1e-6)
    i1, i2, half, g = mpmath.mpf(2) / 3, mpmath.mpf(1) / 12, mpmath.mpf("0.25"), mpmath.mpf("9.81")
    h12 = i2 + half * mpmath.cos(b)
    H = mpmath.matrix([[i1 + 1 + i2 + 2 * half * mpmath.cos(b), h12], [h12, i2]])
    first, second = 2 * g * mpmath.sin(a), g * half * mpmath.sin(a + b)
    G = -mpmath.matrix([[first + second, second], [second, second]])
    want, gain = -mpmath.inverse(H) * G, mpmath.inverse(H)
    for i in range(2):
        for j in range(2):
            assert A21[i, j] == pytest.approx(float(want[i, j]), rel=1e-12)
            assert B2[i, j] == pytest.approx(float(gain[i, j]), rel=1e-12)


# --- the long chain --------------------------------------------------------------------------------------------------


def _chain(n, *, angles):
    """n equal rods (1 kg, 1 m) hanging from each other, every mass uncertain, the first ``angles`` angles scheduled."""
    bodies, joints = [], []
    for i in range(n):
        mass = lg.uncertain(f"m{i}", 1.0, percent=20, unit="kg")
        angle = lg.scheduled_angle(f"q{i}", (-20, 20), unit="deg") if i < angles else 0
        bodies.append(
            lg.RigidBody(f"B{i}", mass=mass, com=(0, 0, -0.5), inertia=(sp.Rational(1, 12),) * 2 + (0,))
        )
        parent = {"parent": f"B{i - 1}", "origin": (0, 0, -1)} if i else {"parent": "ground"}
        joints.append(lg.RevoluteJoint(f"J{i}", **parent, child=f"B{i}", axis=(1, 0, 0), angle=angle))
    return lg.Mechanism(f"chain{n}", bodies=bodies, joints=joints)


HANGING = (
    1.191296,
    2.760138,
    4.441540,
    6.302158,
    8.401018,
    10.822172,
    13.670083,
    17.067849,
    21.217447,
    26.637702,
)


@pytest.mark.heavy
def test_ten_links():
    """Ten links, masses and angles all parameters: frequencies at hanging, torques and eigenvalues at 5 degrees a joint."""
    mechanism = _chain(10, angles=10)
    trim = mechanism.trim()
    plant = mechanism.linearize(trim)
    names = [f"J{i}" for i in range(10)]
    A21, _, _ = state_rows(plant.at(), names)
    assert np.sqrt(np.sort(np.linalg.eigvals(-A21).real)) == pytest.approx(HANGING, **CLOSE)
    bent = {f"q{i}": 5.0 for i in range(10)}
    assert trim.torque["J0"].at(**bent).item() == pytest.approx(157.949164, **CLOSE)
    assert trim.torque["J9"].at(**bent).item() == pytest.approx(3.757448, **CLOSE)
    eigenvalues = np.sort(np.linalg.eigvals(state_rows(plant.at(**bent), names)[0]).real)
    assert eigenvalues[-1] == pytest.approx(-1.294339, **CLOSE)
    assert eigenvalues[0] == pytest.approx(-676.780762, **CLOSE)
    half = _chain(5, angles=5).linearize()
    assert plant.order <= 4.5 * half.order, f"{plant.order} against {half.order}"
