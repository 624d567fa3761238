"""Linear against non-linear: the error falls with the square of the amplitude; the LPV model along a trajectory."""

import control
import numpy as np
import pytest
from scipy.linalg import expm

import lftgen as lg

THETA = lg.scheduled_angle("theta", (-50, 60), unit="deg")
M = lg.uncertain("m", 2.0, percent=20)
INERTIA = ((2, 0.1, 0.2), (0.1, 3, 0.3), (0.2, 0.3, 2.5))


def arm():
    """Two links and a slide, springs and dampers."""
    bodies = [
        lg.RigidBody("upper", mass=M, com=(0, 0, -0.5), inertia=(0.2, 0.2, 0.01)),
        lg.RigidBody(
            "fore", mass=1.0, com=(0, 0.1, -0.4), inertia=(0.1, 0.1, 0.01), ports={"tip": (0, 0, -0.8)}
        ),
        lg.RigidBody("bead", mass=0.4),
    ]
    joints = [
        lg.RevoluteJoint("J1", parent="ground", child="upper", axis=(1, 0, 0), angle=THETA, damping=0.1),
        lg.UniversalJoint(
            "J2", parent="upper", child="fore", origin=(0, 0, -1), angle_1=0.5, angle_2=0.3, stiffness=3
        ),
        lg.PrismaticJoint(
            "J3", parent="fore", child="bead", axis=(0, 0, 1), position=-0.3, stiffness=20, damping=0.2
        ),
    ]
    mechanism = lg.Mechanism("arm", bodies=bodies, joints=joints)
    return (
        mechanism,
        mechanism.trim(),
        ["J1_torque", "fore_tip_force_y"],
        ["fore_tip_position_ref_z", "bead_com_specific_force_y"],
    )


def craft():
    """A free base with a wheel, a ball joint, a cable under tension, held by a load that the trim finds."""
    base = lg.RigidBody(
        "base", mass=1.5, com=(0.1, 0.05, -0.2), inertia=INERTIA, ports={"top": (0, 0.1, 1)},
        rotors=[lg.Rotor("wheel", axis=(0, 0, 1), momentum=4)],
    )  # fmt: skip
    bob = lg.RigidBody(
        "bob", mass=M, com=(0.2, 0.1, -1), inertia=(0.1, 0.2, 0.25), ports={"tip": (0, 0.3, -2)}
    )
    joints = [
        lg.FreeJoint("F", child="base", rpy=(0.1, 0.2, 0.3)),
        lg.SphericalJoint("J", parent="base", child="bob", origin=(0.1, 0.2, 0.3), attitude=(THETA, 0.2, 0)),
    ]
    loads = [
        lg.DeadLoad("lift", port="base_top"),
        lg.SpringDamper(
            "cable", port="base_top", other="bob_tip", stiffness=20, damping=0.3, force_density=2
        ),
        lg.DeadLoad("side", port="bob_tip", force=(1, 2, 3)),
    ]
    mechanism = lg.Mechanism("craft", bodies=[base, bob], joints=joints, loads=loads)
    trim = mechanism.trim(solve=["lift_force", "lift_torque"])
    return (
        mechanism,
        trim,
        ["base_wheel_torque", "side_force_x", "J_torque_y"],
        ["bob_tip_position_x", "J_attitude_x"],
    )


@pytest.mark.parametrize("make", [arm, craft])
def test_error_falls_with_the_square(make):
    """Three amplitudes, a factor of ten each: the deviation of the linear model falls by a hundred."""
    mechanism, trim, inputs, outputs = make()
    values = {"theta": 20.0, "m": 2.2}
    ss = mechanism.linearize(trim, inputs=inputs, outputs=outputs).at(**values)
    rng = np.random.default_rng(0)
    x0, u = rng.normal(size=ss.nstates), rng.normal(size=len(inputs))
    time = np.linspace(0, 0.5, 6)
    big = np.block([[ss.A, (ss.B @ u)[:, None]], [np.zeros((1, ss.nstates + 1))]])
    x = np.array([expm(big * t) @ [*x0, 1] for t in time])[:, :-1]
    y = x @ ss.C.T + ss.D @ u
    errors = []
    for amplitude in (1e-2, 1e-3, 1e-4):
        run = lg.simulate(
            trim.mechanism,
            time,
            values=values,
            initial={n: amplitude * v for n, v in zip(ss.state_labels, x0, strict=True)},
            inputs={n: (lambda t, v=v, a=amplitude: a * v) for n, v in zip(inputs, u, strict=True)},
            outputs=outputs,
        )
        states = np.array([run[n] for n in ss.state_labels]).T
        read = np.array([run.outputs[n] for n in outputs]).T
        errors.append([np.abs(states - amplitude * x).max(), np.abs(read - amplitude * y).max()])
    falls = np.array(errors[:-1]) / np.array(errors[1:])
    assert np.all((falls > 85) & (falls < 115)), falls


def test_energy_of_a_large_swing():
    """A pendulum from 2.5 rad: its energy stays, and its period is that of the elliptic integral."""
    from scipy.special import ellipk

    bob = lg.RigidBody("bob", mass=1, com=(0, 0, -1))
    hinge = lg.RevoluteJoint("h", parent="ground", child="bob", axis=(1, 0, 0))
    pendulum = lg.Mechanism("p", bodies=[bob], joints=[hinge])
    period = 4 * ellipk(np.sin(1.25) ** 2) / np.sqrt(9.81)
    run = lg.simulate(pendulum, np.linspace(0, period, 41), initial={"h_angle": 2.5})
    assert run["h_angle"][-1] == pytest.approx(2.5, rel=1e-6)
    energy = run["h_rate"] ** 2 / 2 - 9.81 * np.cos(run["h_angle"])
    assert np.ptp(energy) <= 1e-7


def test_tumbling_body_keeps_its_momentum():
    """A free body far from its equilibrium: attitude, rate and wheel together conserve the angular momentum."""
    from scipy.spatial.transform import Rotation

    wheel = lg.Rotor("w", axis=(0, 0, 1), momentum=2)
    body = lg.RigidBody("b", mass=1, inertia=(1, 2, 2.5), rotors=[wheel])
    mechanism = lg.Mechanism("t", bodies=[body], joints=[lg.FreeJoint("F", child="b")], gravity=(0, 0, 0))
    start = {"F_rate_x": 1.0, "F_rate_y": 0.5, "F_velocity_z": 1.0}
    run = lg.simulate(mechanism, np.linspace(0, 1.5, 16), initial=start)
    phi, w, v, p = (
        np.array([run[f"F_{k}_{c}"] for c in "xyz"]).T for k in ("attitude", "rate", "velocity", "position")
    )
    R = Rotation.from_rotvec(phi)
    h = R.apply(w * [1, 2, 2.5] + [0, 0, 2])
    assert h == pytest.approx(np.tile(h[0], (16, 1)), abs=1e-7)
    assert R.apply(v) == pytest.approx(np.tile([0, 0, 1], (16, 1)), abs=1e-7)
    assert p == pytest.approx(np.outer(run.time, [0, 0, 1]), abs=1e-7)
    assert np.abs(phi).max() > 1


def test_lpv_along_a_trajectory():
    """Frozen scheduling gives the model at that point; a moving one follows the trajectory."""
    mechanism, trim, inputs, _ = arm()
    plant = mechanism.linearize(trim, inputs=inputs)
    lpv = lg.lpv_system(plant)
    assert lpv.input_labels == [*inputs, "theta"]
    assert lpv.state_labels == list(plant.states)
    time = np.linspace(0, 0.5, 26)
    x0 = np.zeros(len(plant.states))
    x0[0] = 0.1
    u = np.vstack([np.zeros((2, time.size)), np.full(time.size, 35.0)])
    frozen = control.input_output_response(lpv, time, u, x0, solve_ivp_kwargs={"rtol": 1e-9, "atol": 1e-11})
    ss = plant.at(theta=35.0)
    expected = np.array([expm(ss.A * t) @ x0 for t in time]) @ ss.C.T
    assert pytest.approx(expected, abs=1e-7) == frozen.outputs.T
    x = np.arange(8.0)
    step = lpv.dynamics(0.0, x, np.array([1.0, 2.0, -20.0]))
    there = plant.at(theta=-20.0)
    assert step == pytest.approx(there.A @ x + there.B @ [1, 2], rel=1e-10)


@pytest.mark.parametrize(
    ("own", "message"),
    [
        ({"time": [0.0]}, "at least two increasing instants"),
        ({"time": [0.0, 1.0, 0.5]}, "at least two increasing instants"),
        ({"initial": {"J1_angel": 1}}, "did you mean J1_angle"),
        ({"values": {"tetha": 1}}, "did you mean theta"),
        ({"inputs": {"J1_force": 1}}, "unknown input"),
        ({"outputs": ["J1_torque"]}, "unknown output"),
    ],
)
def test_bad_input(own, message):
    """Names that do not exist, instants that do not increase."""
    mechanism = arm()[0]
    with pytest.raises(lg.ModelError, match=message):
        lg.simulate(mechanism, own.pop("time", [0, 1]), **own)
    with pytest.raises(lg.ModelError, match="at least one scheduling parameter"):
        lg.lpv_system(mechanism.linearize().subs(theta=0))
