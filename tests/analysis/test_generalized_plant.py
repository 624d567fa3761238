"""Generalised plants: the channels are what they say, the report names what stands against a synthesis."""

import control
import numpy as np
import pytest

import lftgen as lg

M = lg.uncertain("m", 1.0, percent=20)
BODY = lg.ss(
    [[0, 1], [0, 0]], [[0], [1 / M]], [[1, 0]], [[0]], states=["x", "v"], inputs=["f"], outputs=["x"]
)  # fmt: skip
WEIGHT = control.tf([1, 1], [2, 0.02])


def tracking(**changes):
    """A mass that follows a reference."""
    options = {
        "controls": ["f"], "measurements": ["x_error"], "inputs": ["r"], "outputs": ["x_error", "f"],
        "references": {"r": "x"}, "weights": {"x_error": WEIGHT, "f": 0.1},
    }  # fmt: skip
    return lg.generalized_plant(BODY, **(options | changes))


def test_channels_are_the_transfers():
    """From (r, f) to (W (r - x), 0.1 f, r - x), at several masses and frequencies, all parameters kept."""
    P = tracking()
    assert (P.w, P.u, P.z, P.y) == (("r",), ("f",), ("x_error_performance", "f"), ("x_error",))
    assert (P.lft.outputs, P.lft.inputs) == (P.z + P.y, P.w + P.u)
    assert P.lft.repetitions == {"m": 1}
    for mass in (0.8, 1.1):
        for s in (0.3j, 2j):
            g, w = 1 / (mass * s * s), complex(WEIGHT(s))
            want = np.array([[w, -w * g], [0, 0.1], [1, -g]])
            assert np.allclose(P.at(m=mass)(s), want, rtol=1e-10)


def test_report_names_rigid_modes_and_ranks():
    """The mass's double pole at zero by its states; a control without weight; a measurement without noise."""
    report = tracking(inputs=["r"], outputs=["x_error"], weights={}).report(samples=4)
    assert len(report.rows) == 5
    assert report.rows[0].rank_D12 == (0, 1)
    assert any("D12 has rank 0 of 1: weigh every control" in p for p in report.rows[0].problems)
    assert report.rows[0].rigid[0][1] == ("x", "v")
    assert tracking().report(samples=0).rows[0].rigid[0][1] == ("x", "v")
    assert not report.ready
    assert "of 5" in str(report)
    assert "<table" in report._repr_html_()
    assert report.to_dict()["points"][0]["point"] == {}
    quiet = lg.generalized_plant(BODY, controls=["f"], measurements=["x"], inputs=["f"], outputs=["x", "f"])
    assert quiet.report().rows[0].rank_D21 == (0, 1)


ROTOR = lg.ss(
    [[0, 1], [0, 0]], [[0], [1 / 2.0]], [[1, 0]], [[0]], states=["angle", "rate"], inputs=["torque"], outputs=["angle"]
)  # fmt: skip


def test_rotor_without_weight_and_noise_and_with_them():
    """A rotor of 2 kg m2: D12 and D21 of rank 0; with 0.1 u in z and noise of 0.01 on the angle ranks 1, two poles at zero."""
    options = {"controls": ["torque"], "measurements": ["angle"]}
    bare = lg.generalized_plant(ROTOR, inputs=["torque"], outputs=["angle"], **options).report()
    assert (bare.rows[0].rank_D12, bare.rows[0].rank_D21) == ((0, 1), (0, 1))
    P = lg.generalized_plant(
        ROTOR, inputs=["torque", "n"], outputs=["angle", "torque"], noise={"n": "angle"},
        weights={"n": 0.01, "torque": 0.1}, input_weights={"torque": 1.0}, **options,
    )  # fmt: skip
    row = P.report().rows[0]
    assert (row.rank_D12, row.rank_D21) == ((1, 1), (1, 1))
    assert (row.not_stabilisable, row.not_detectable, row.problems) == ((), (), [])
    assert (row.rigid, row.rigid_counts) == (((0j, ("angle", "rate")),), (2,))
    system = P.at()
    assert (system.nstates, system.dt) == (2, 0)
    s = 0.7j
    g = 1 / (2 * s * s)
    want = np.array([[g, 0, g], [0, 0, 0.1], [g, 0.01, g]])
    assert np.allclose(system(s), want, rtol=1e-12)
    pytest.importorskip("slycot")
    assert lg.hinfsyn(P).status == "found"


def test_slow_modes_beside_a_fast_one():
    """A pole at 1e6 hides neither a weight's at 0.01 nor the rigid mode, and makes neither look stuck."""
    fast = lg.ss(
        [[0, 1, 0], [0, 0, 1], [0, 0, -1e6]], [[0], [0], [1e6]], [[1, 0, 0]], [[0]],
        states=["angle", "rate", "lag"], inputs=["torque"], outputs=["angle"],
    )  # fmt: skip
    row = lg.generalized_plant(
        fast, controls=["torque"], measurements=["angle_error"], inputs=["r", "torque"],
        outputs=["angle_error", "torque"], references={"r": "angle"}, weights={"angle_error": WEIGHT},
    ).report().rows[0]  # fmt: skip
    assert (row.problems, row.rigid, row.rigid_counts) == ([], ((0j, ("angle", "rate")),), (2,))


@pytest.mark.parametrize("seed", range(6))
def test_hidden_integrators_of_a_mixed_model(seed):
    """Two double integrators in coordinates that hide them, one not driven: found, and counted, all the same."""
    rng = np.random.default_rng(seed)
    T = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    A = np.zeros((6, 6))
    A[0, 1] = A[2, 3] = 1
    A[4, 4], A[5, 5] = -3, -1e3
    B, C = rng.normal(size=(6, 2)), rng.normal(size=(2, 6))
    B[[0, 2]] = 0
    driven = {"controls": ["a"], "measurements": ["y"], "inputs": ["b"], "outputs": ["y", "z"]}
    for stuck in (False, True):
        B[3] = 0 if stuck else 1.0
        C[:, 2] = 0 if not stuck else C[:, 2]
        plant = lg.ss(T @ A @ T.T, T @ B, C @ T.T, np.zeros((2, 2)), inputs=["a", "b"], outputs=["y", "z"])
        row = lg.generalized_plant(plant, **driven).report().rows[0]
        assert row.rigid_counts == (4,)
        assert bool(row.not_stabilisable)  # two blocks of one eigenvalue take two controls
    simple = lg.ss(
        A[:2, :2], B[:2, :1] + [[0], [1]], np.eye(2), np.zeros((2, 1)), inputs=["a"], outputs=["y", "z"]
    )
    row = (
        lg.generalized_plant(simple, controls=["a"], measurements=["y"], inputs=["a"], outputs=["y"])
        .report()
        .rows[0]
    )
    assert not row.not_stabilisable


def test_a_lightly_damped_mode_is_not_rigid():
    """3.3 rad/s with a damping ratio of 1e-4 is stable; without damping it is on the axis, with its frequency."""
    for zeta in (1e-4, 0.0):
        beam = lg.ss([[0, 1], [-(3.3**2), -2 * zeta * 3.3]], [[0], [1]], [[1, 0]], [[0]], states=["q", "v"],
                     inputs=["u"], outputs=["y"])  # fmt: skip
        row = lg.generalized_plant(beam, controls=["u"], measurements=["y"], inputs=["u"], outputs=["y", "u"])
        rigid = row.report().rows[0].rigid
        assert [p for p, _ in rigid] == ([] if zeta else [pytest.approx(3.3j)])


def test_hidden_unstable_modes_are_named():
    """An integrator in the weight is driven by nothing the controller does: it cannot be stabilised."""
    stuck = lg.ss(
        [[1.0, 0], [0, -1]],
        [[1, 0], [0, 1]],
        [[1, 1]],
        [[0, 0]],
        states=["a", "b"],
        inputs=["d", "u"],
        outputs=["y"],
    )
    row = (
        lg.generalized_plant(stuck, controls=["u"], measurements=["y"], inputs=["d"], outputs=["y", "u"])
        .report(samples=0)
        .rows[0]
    )
    assert [names for _, names in row.not_stabilisable] == [("a",)]
    assert any("mode 1 rad/s (a) cannot be stabilised by u" in p for p in row.problems)
    blind = lg.ss(
        [[1.0, 0], [0, -1]], [[1], [1]], [[0, 1]], [[0]], states=["a", "b"], inputs=["u"], outputs=["y"]
    )
    row = (
        lg.generalized_plant(blind, controls=["u"], measurements=["y"], inputs=["u"], outputs=["y", "u"])
        .report(samples=0)
        .rows[0]
    )
    assert [names for _, names in row.not_detectable] == [("a",)]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"controls": ["g"], "outputs": ["x_error"], "weights": {}}, "unknown input 'g'"),
        ({"measurements": []}, "measurements is empty"),
        ({"controls": "f"}, "controls must be a list"),
        ({"weights": {"y": 1.0}}, "weights for y"),
        ({"weights": {"f": np.eye(2)}}, "the weight of f must have one input"),
        ({"references": {"f": "x"}}, "references f are inputs"),
        ({"noise": {"n": "x"}}, "which is no measurement"),
        ({"noise": {"f": "x_error"}}, "the noise f is an input already"),
        ({"inputs": ["r", "f"]}, "f is an input and an output"),
        ({"inputs": ["r", "r"]}, "inputs has a name twice"),
        ({"input_weights": {"f": 1.0}}, "weights for f, which are no inputs of"),
        ({"input_weights": {"r": 1.0}, "weights": {"r": 2.0}}, "the input r has two weights"),
        ({"references": {"r": "q"}}, "unknown output 'q'"),
        (
            {"references": {"r": "x"}, "outputs": ["x", "f"], "measurements": ["x"], "weights": {}},
            "in neither outputs nor",
        ),
        ({"references": {"r": "x", "s": "x"}}, "another reference makes"),
        ({"references": [1]}, "references must be a dict"),
        ({"references": {"r": 3}}, "must be a list of names"),
        ({"noise": {1: "x_error"}}, "must be a list of names"),
        ({"weights": 3}, "weights must be a dict"),
        ({"weights": {"f": "heavy"}}, "the weight of f must be a number"),
        ({"weights": {"f": np.nan}}, "the weight of f must be a finite number"),
    ],
)
def test_wrong_calls_are_named(changes, message):
    """Signals, weights, references."""
    with pytest.raises(lg.ModelError, match=message):
        tracking(**changes)


def test_noise_and_references_that_inputs_do_not_name_are_there():
    """Noise n on the measurement: an input of gain 1 onto it; the reference likewise."""
    P = tracking(inputs=["f"], weights={}, input_weights={"f": 0.5}, noise={"n": "x_error"})
    assert P.w == ("f_disturbance", "r", "n")
    D = P.lft[["x_error", "x_error_performance"], ["r", "n"]].at().D
    assert D.tolist() == [[1, 1], [1, 0]]
    assert "y: x_error" in repr(P)


def test_close_checks_sizes_and_goes_by_names():
    """A controller of other sizes is an error; one with the names in another order is the same controller."""
    body = lg.ss(
        -np.diag([1.0, 2]), [[1, 1, 0], [1, 0, 3]], np.eye(2), np.zeros((2, 3)), inputs=["d", "u", "v"], outputs=["a", "b"]
    )  # fmt: skip
    P = lg.generalized_plant(body, controls=["u", "v"], measurements=["a", "b"], inputs=["d"], outputs=["a"])
    K = np.array([[0.1, 0.2], [0.3, 0.4]])
    named = control.ss([], [], [], K[::-1, ::-1], inputs=["b", "a"], outputs=["v", "u"])
    truth = -np.diag([1.0, 2]) + np.diag([1.0, 3]) @ K
    np.testing.assert_allclose(P.close(K).at().A, truth)
    np.testing.assert_allclose(P.close(named).at().A, truth)
    with pytest.raises(lg.ModelError, match="must have 2 inputs"):
        P.close(np.eye(3))
    with pytest.raises(lg.ModelError, match="must have 2 inputs"):
        P.close(2.0)


def test_a_plant_without_states_has_a_report():
    """Nothing to stabilise; the ranks are told."""
    P = lg.generalized_plant(
        lg.realize([[M, 1]]).rename(inputs=["d", "u"], outputs=["y"]),
        controls=["u"], measurements=["y"], inputs=["d"], outputs=["y"],
    )  # fmt: skip
    row = P.report(samples=2).rows[0]
    assert (row.rank_D12, row.rank_D21, row.rigid) == ((1, 1), (1, 1), ())


SCALAR = lg.ss(
    [[1]], [[1, 0, 1]], [[1], [0], [1]], [[0, 0, 0], [0, 0, 1], [0, 1, 0]],
    inputs=["d", "n", "u"], outputs=["z", "zu", "y"],
)  # fmt: skip


def test_hinfsyn_is_verified():
    """x' = x + d + u: the optimum 1 + sqrt(3), names kept, the loop's own norm beside the solver's level."""
    pytest.importorskip("slycot")
    found = lg.hinfsyn(SCALAR, 1, 1)
    assert found.status == "found"
    assert found.norm == pytest.approx(1 + np.sqrt(3), rel=1e-3)
    assert (found.controller.input_labels, found.controller.output_labels) == (["y"], ["u"])
    assert np.max(found.poles.real) < 0
    loop = SCALAR.star(found.controller)
    at = loop.at()
    assert control.linfnorm(at)[0] == pytest.approx(found.norm, rel=1e-6)


def test_mixsyn_of_the_literature():
    """S/KS for 200/((10 s + 1)(0.05 s + 1)^2): 1.37 in Skogestad and Postlethwaite, example 2.17."""
    pytest.importorskip("slycot")
    G = control.tf([200], np.polymul([10, 1], np.polymul([0.05, 1], [0.05, 1])))
    found = lg.mixsyn(G, control.tf([1 / 1.5, 10], [1, 1e-3]), 1.0)
    assert found.status == "found"
    assert found.norm == pytest.approx(1.37, abs=0.01)


def test_hinfsyn_says_why_not():
    """No solution, and no time: named results, never a controller."""
    pytest.importorskip("slycot")
    stuck = lg.ss([[1.0]], [[1, 0]], [[1], [1]], [[0, 0], [0, 0]])
    found = lg.hinfsyn(stuck, 1, 1)
    assert found.controller is None
    assert "cannot be stabilised" in found.reason
    hasty = lg.hinfsyn(SCALAR, 1, 1, time_limit=0.0)
    assert (hasty.status, hasty.controller) == ("time-out", None)
    assert "time-out" in str(hasty)
    rng = np.random.default_rng(1)
    A = rng.normal(size=(8, 8)) + 3 * np.eye(8)
    wild = control.ss(A, rng.normal(size=(8, 4)), rng.normal(size=(4, 8)), np.eye(4)[::-1])
    answer = lg.hinfsyn(wild, 2, 2, time_limit=2)
    if answer.status == "found":
        assert np.max(answer.poles.real) < 0
        assert np.isfinite(answer.norm)
    else:
        assert answer.controller is None
        assert answer.reason
    with pytest.raises(lg.ModelError, match="leave no performance channel"):
        lg.hinfsyn(SCALAR, 3, 1)
    with pytest.raises(lg.ModelError, match="has nmeas = 1, got 3"):
        lg.hinfsyn(tracking(), 3, 1)
    with pytest.raises(lg.ModelError, match="has no states"):
        lg.hinfsyn(control.ss([], [], [], np.eye(2)), 1, 1)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ((), "at least one of the weights"),
        ((float("nan"),), "w1 must be a finite number"),
        (("heavy",), "w1 must be a number"),
        ((None, control.tf([1, 1], [1])), "w2: .*improper"),
        ((control.ss([[-1]], [[1, 1]], [[1], [1]], np.zeros((2, 2))),), "w1 must have 1 inputs, got 2"),
        ((control.ss([[0.5]], [[1]], [[1]], [[0]], dt=0.1),), "w1: .*continuous-time"),
    ],
)
def test_wrong_weights_are_named(weights, message):
    """Numbers, sizes, time, degrees."""
    pytest.importorskip("slycot")
    with pytest.raises(lg.ModelError, match=message):
        lg.mixsyn(control.tf([1], [1, 1]), *weights)


def test_weights_of_every_kind_are_the_same():
    """A matrix, an LFT and a python-control system of one weight give one norm."""
    pytest.importorskip("slycot")
    G, w = control.tf([1], [1, 1]), control.ss([[-0.01]], [[1]], [[1]], [[0]])
    first = lg.mixsyn(G, w, 0.1).norm
    assert lg.mixsyn(G, lg.from_control(w), np.array([[0.1]])).norm == pytest.approx(first, rel=1e-6)


def _arm():
    """The two-link arm with a payload of the examples, angles of the published design problem."""
    angles = [
        lg.scheduled_angle("theta1", (45, 90), unit="deg"),
        lg.scheduled_angle("theta2", (45, 135), unit="deg"),
    ]
    m1, m2, m3 = (
        lg.uncertain(f"m{i}", value, percent=20, unit="kg") for i, value in ((1, 0.5), (2, 0.3), (3, 0.2))
    )
    bodies = [
        lg.RigidBody("B1", mass=m1, com=(0, 0, 0.5), inertia=(0.04, 0.04, 0.001)),
        lg.RigidBody("B2", mass=m2, com=(0, 0, 0.4), inertia=(0.02, 0.02, 0.001)),
        lg.RigidBody("B3", mass=m3),
    ]
    x, options = (1, 0, 0), {"damping": 0.1, "stiffness": 0.1}
    joints = [
        lg.RevoluteJoint("J1", parent="ground", child="B1", axis=x, angle=angles[0], **options),
        lg.RevoluteJoint("J2", parent="B1", child="B2", origin=(0, 0, 1), axis=x, angle=angles[1], **options),
        lg.FixedJoint("tip", parent="B2", child="B3", origin=(0, 0, 0.8)),
    ]
    return lg.Mechanism("arm", bodies=bodies, joints=joints)


def test_design_problem_of_the_paper():
    """Kassarian et al., section VI: 1/1500 on the torques, (s + 1)/(2 s + 0.02) on the errors, over angles and masses."""
    plant, torques = _arm().linearize().reduce(), ["J1_torque", "J2_torque"]
    errors = ["J1_angle_error", "J2_angle_error"]
    P = lg.generalized_plant(
        plant, controls=torques, measurements=errors, inputs=["r1", "r2"], outputs=[*errors, *torques],
        references={"r1": "J1_angle", "r2": "J2_angle"},
        weights=dict.fromkeys(errors, WEIGHT) | dict.fromkeys(torques, 1 / 1500),
    )  # fmt: skip
    assert P.lft.repetitions == plant.repetitions
    assert (P.nmeas, P.ncon, len(P.lft.states)) == (2, 2, 6)
    for point in ({}, {"theta1": 50.0, "theta2": 120.0, "m3": 0.23}):
        s, eye = 0.4 + 0.3j, np.eye(2)
        g, w = plant.at(**point)(s), complex(WEIGHT(s))
        want = np.block([[w * eye, -w * g], [0 * eye, eye / 1500], [eye, -g]])
        assert np.allclose(P.at(**point)(s), want, rtol=1e-10, atol=1e-14)
    report = P.report(samples=16)
    assert all((r.rank_D12, r.rank_D21) == ((2, 2), (2, 2)) for r in report.rows)
    assert report.ready, str(report)
    pytest.importorskip("slycot")
    found = lg.hinfsyn(P)
    assert found.status == "found", found.reason
    closed = P.close(found.controller)
    assert closed.repetitions == plant.repetitions
    assert np.max(closed.at().poles().real) < 0
