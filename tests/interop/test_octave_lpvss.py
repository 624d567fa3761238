"""The lpvss data function in Octave: matrices against the plant, offsets against closed forms and the trim."""

import numpy as np
import pytest
import scipy.io

import lftgen as lg
from tests.interop.octave_runner import run
from tests.strategies import error

pytestmark = pytest.mark.heavy
POINTS = 20
G = 9.81


def _pendulum():
    m = lg.uncertain("m", 3.0, percent=20, unit="kg")
    theta = lg.scheduled_angle("theta", (-60, 60), unit="deg", rate=30)
    bob = lg.RigidBody("bob", mass=m, com=(0, 0, -2), ports={"tip": ((0, 0, -2.5), (0, 0, 0))})
    hinge = lg.RevoluteJoint(
        "hinge", parent="ground", child="bob", axis=(1, 0, 0), angle=theta, gear_ratio=50, damping=0.1
    )
    mech = lg.Mechanism("pendulum", bodies=[bob], joints=[hinge])
    outputs = [
        "hinge_angle", "hinge_rate", "bob_tip_position_ref", "bob_tip_position", "bob_tip_specific_force",
        "bob_tip_specific_force_ref", "hinge_wrench", "bob_tip_velocity",
    ]  # fmt: skip
    return mech, {"inputs": ["hinge_motor_torque", "base_acceleration_z"], "outputs": outputs}


def _crane():
    """A trolley on a rail at a scheduled place, a rope that hangs (its angle minus an angle plus a constant), a load."""
    s = lg.scheduled("s", (0.5, 2.0), unit="m")
    a = lg.scheduled_angle("a", (-1.0, 0.5), nominal=0.1)
    m = lg.uncertain("m", 2.0, bounds=(1, 4), unit="kg")
    F = lg.uncertain("F", 5.0, percent=50, unit="N")
    bodies = [
        lg.RigidBody("trolley", mass=4.0),
        lg.RigidBody("arm", mass=m, com=(0.3, 0, 0), inertia=(0.1, 0.1, 0.1), ports={"end": (1, 0, 0)}),
    ]
    joints = [
        lg.PrismaticJoint("rail", parent="ground", child="trolley", axis=(1, 0, 0), position=2 * s + 1),
        lg.RevoluteJoint("pin", parent="trolley", child="arm", axis=(0, 1, 0), angle=-a + 0.25),
    ]
    loads = [lg.DeadLoad("wind", port="arm_end", force=(F, 0, 0))]
    mech = lg.Mechanism("crane", bodies=bodies, joints=joints, loads=loads, acceleration=(0.5, 0, 0))
    return mech, {
        "inputs": ["rail_force", "pin_torque", "wind_force_x", "base_acceleration_x", "arm_end_force_x"],
        "outputs": [
            "rail_position",
            "pin_angle",
            "arm_end_position_ref",
            "wind_applied_force",
            "pin_wrench_parent",
        ],
    }


def _arm():
    model = lg.read_model("examples/two_link_arm.yaml")
    return model.mechanism, {"inputs": model.inputs, "outputs": model.outputs}


def _fixed():
    """Nothing is a parameter."""
    bob = lg.RigidBody("bob", mass=1.0, com=(0, 0, -1))
    hinge = lg.RevoluteJoint("hinge", parent="ground", child="bob", axis=(1, 0, 0), angle=0.3)
    return lg.Mechanism("fixed", bodies=[bob], joints=[hinge]), {}


MECHANISMS = {"pendulum": _pendulum, "crane": _crane, "arm_lpv": _arm, "constant": _fixed}


@pytest.fixture(scope="module")
def octave(tmp_path_factory):
    """All data functions written and called in one Octave."""
    folder = tmp_path_factory.mktemp("lpv")
    out = {}
    for name, make in MECHANISMS.items():
        mech, options = make()
        plant = mech.linearize(**options)
        if name == "arm_lpv":
            plant = plant.normalized()
        lg.to_lpvss(mech, folder / name, plant=plant)
        order = sorted(mech.parameters, key=lambda p: p.role != "scheduling")
        rng = np.random.default_rng(4)
        points = np.array([rng.uniform(p.lower, p.upper, size=POINTS) for p in order]).reshape(
            len(order), POINTS
        )
        scipy.io.savemat(folder / f"{name}_points.mat", {"points": points})
        out[name] = (mech, plant, order, points)
    printed = run("\n".join(f"lftgen_lpv('{folder}', '{name}');" for name in out), folder)
    assert printed.count("DONE") == len(out) + 1
    results = {n: scipy.io.loadmat(folder / f"{n}_result.mat", simplify_cells=True) for n in out}
    return {n: (*out[n], results[n]) for n in out}


def _cases(octave, name):
    mech, _, order, points, result = octave[name]
    for k in range(POINTS):
        yield mech, {p.name: float(v) for p, v in zip(order, points[:, k], strict=True)}, result["results"][k]


@pytest.mark.parametrize("name", MECHANISMS)
def test_matrices(name, octave):
    """A, B, C, D are the plant's at twenty points; E and the delays are empty, dx0 zero; names and ranges are told."""
    _, plant, order, _, result = octave[name]
    for _, point, got in _cases(octave, name):
        want = plant.at(**point)
        for key, value in (("A", want.A), ("B", want.B), ("C", want.C), ("D", want.D)):
            assert error(np.asarray(got[key]).reshape(value.shape), value) < 1e-10
        assert got["E"].size == got["Delays"].size == 0
        assert not np.any(got["dx0"])
    names = result["names"]
    assert list(np.atleast_1d(names["states"])) == list(plant.states)
    assert list(np.atleast_1d(names["parameters"])) == [p.name for p in order if p.role == "scheduling"]
    assert list(np.atleast_1d(names["uncertain"])) == [p.name for p in order if p.role != "scheduling"]


@pytest.mark.parametrize("name", MECHANISMS)
def test_holding_forces(name, octave):
    """u0 of the joints' own forces is the trim's; x0 of rates is zero."""
    for mech, point, got in _cases(octave, name):
        u0, plant = np.atleast_1d(got["u0"]), octave[name][1]
        trim = mech.trim()
        for j in mech.joints:
            for k, n in enumerate(j.names(j.forces)):
                if n in plant.inputs:
                    assert abs(u0[plant.inputs.index(n)] - trim.torque[j.name].at(**point)[k, 0]) < 1e-10
        assert not np.any(got["x0"][len(plant.states) // 2 :])


def test_uncertain_parameters_are_nominal_where_left_out(octave):
    """Two arguments mean nominal masses."""
    _, plant, order, points, result = octave["arm_lpv"]
    angles = {p.name: points[k, 0] for k, p in enumerate(order) if p.role == "scheduling"}
    assert error(result["A_nominal_q"], plant.at(**angles).A) < 1e-10


def test_pendulum_by_hand(octave):
    """A pendulum's equilibrium: angle in radians, m g l sin(theta) before the gear, the tip's place, the specific force."""
    for _, point, got in _cases(octave, "pendulum"):
        th, m = np.deg2rad(point["theta"]), point["m"]
        assert error(got["x0"], [th, 0]) < 1e-12
        assert error(got["u0"], [m * G * 2 * np.sin(th) / 50, 0]) < 1e-12
        y = got["y0"]
        assert error(y[:2], [th, 0]) < 1e-12
        assert error(y[2:5], [0, 2.5 * np.sin(th), -2.5 * np.cos(th)]) < 1e-12
        assert not np.any(y[5:8])  # in the port's own axes: a deviation
        assert error(y[8:11], [0, G * np.sin(th), G * np.cos(th)]) < 1e-12
        assert error(y[11:14], [0, 0, G]) < 1e-12
        assert (
            error(y[14:20], [m * G * 2 * np.sin(th), 0, 0, 0, m * G * np.sin(th), m * G * np.cos(th)]) < 1e-11
        )
        assert not np.any(y[20:])
    names = octave["pendulum"][4]["names"]
    assert list(names["deviations"]) == [f"bob_tip_position_{k}" for k in "xyz"]
    assert list(names["rate"]["theta"]) == [-30, 30]


def test_crane_by_hand(octave):
    """Affine angles and positions, loads and accelerations of the frame in u0, force balance along the rail."""
    for _, point, got in _cases(octave, "crane"):
        angle, place = 0.25 - point["a"], 2 * point["s"] + 1
        assert error(got["x0"], [place, angle, 0, 0]) < 1e-12
        m, F = point["m"], point["F"]
        along = (4 + m) * 0.5 - F
        torque = -0.3 * m * G * np.cos(angle) - 0.15 * m * np.sin(angle) + F * np.sin(angle)
        assert error(got["u0"], [along, torque, F, 0.5, 0]) < 1e-11
        y = got["y0"]
        assert error(y[:2], [place, angle]) < 1e-12
        assert error(y[2:5], [place + np.cos(angle), 0, -np.sin(angle)]) < 1e-12
        assert error(y[5:8], [F * np.cos(angle), 0, F * np.sin(angle)]) < 1e-12
        assert error(y[11:14], [m * 0.5 - F, 0, m * G]) < 1e-11


def test_what_a_trim_solved_for(tmp_path):
    """A lift that balances a weight: u0 of the load and y0 of what it applies are m g; a free base has deviations only."""
    m = lg.uncertain("m", 3.0, percent=20)
    body = lg.RigidBody("b", mass=m, inertia=(1, 1, 1), ports={"top": (0, 0, 1)})
    mech = lg.Mechanism(
        "balloon",
        bodies=[body],
        joints=[lg.FreeJoint("base", child="b", origin=(0, 0, 0), rpy=(0, 0, 0))],
        loads=[lg.DeadLoad("lift", port="b_top", force=(0, 0, 1.0))],
    )
    trim = mech.trim(solve=["lift_force_z"])
    signals = {"inputs": ["lift_force_z"], "outputs": ["base_position_z", "lift_applied_force"]}
    lg.to_lpvss(mech, tmp_path / "balloon", trim=trim, **signals)
    code = "[A, B, C, D, E, dx0, x0, u0, y0] = balloon(0, [], 2.5);\nprintf('%.15g ', u0, y0, any(x0));"
    printed = run(f"{code}\ni = balloon(); printf('%d\\n', numel(i.deviations));", tmp_path)
    assert error([float(v) for v in printed.split()[:7]], [2.5 * G, 0, 0, 0, 2.5 * G, 0, 6]) < 1e-12
