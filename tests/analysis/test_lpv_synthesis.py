"""Gain-scheduled synthesis: against full-order optima, a published level, and time-varying simulation."""

import control
import numpy as np
import pytest

import lftgen as lg

pytest.importorskip("cvxpy")
pytest.importorskip("clarabel")


def scalar_plant(p):
    """x' = p x + d + u, z = (x, u), y = x + n."""
    return lg.ss(
        [[p]], [[1, 0, 1]], [[1], [0], [1]], [[0, 0, 0], [0, 0, 1], [0, 1, 0]],
        inputs=["d", "n", "u"], outputs=["z", "zu", "y"],
    )  # fmt: skip


def gain_in_time(closed, trajectory, excitation, end, n_w, steps=4000):
    """Ratio of the energies of output and input along a trajectory of the parameters (implicit midpoint rule)."""
    h = end / steps
    t = (np.arange(steps) + 0.5) * h
    at = closed.evaluate({k: np.broadcast_to(v, t.shape) for k, v in trajectory(t).items()})
    w = excitation(t)[:, None] * np.ones(n_w)
    x, energy, unit = np.zeros(len(closed.states)), 0.0, np.eye(len(closed.states))
    for A, B, C, D, v in zip(at.A, at.B, at.C, at.D, w, strict=True):
        new = np.linalg.solve(unit - h / 2 * A, (unit + h / 2 * A) @ x + h * B @ v)
        z = C @ (x + new) / 2 + D @ v
        x, energy = new, energy + z @ z
    return np.sqrt(energy / np.sum(w**2))


@pytest.mark.parametrize("p", [-1.0, 0.5, 2.0])
def test_without_parameters_it_is_the_h_infinity_optimum(p):
    """The level of the constant plant agrees with SLICOT's optimum."""
    pytest.importorskip("slycot")
    plant = scalar_plant(p)
    found = lg.lpv_synthesis(plant, 1, 1)
    _, _, optimum, _ = control.hinfsyn(plant.at(), 1, 1)
    assert found.status == "found"
    assert optimum * (1 - 1e-3) <= found.gamma <= optimum * 1.01
    assert found.frozen_gain <= found.gamma


def test_scheduled_controller_beats_what_the_box_allows_a_fixed_one():
    """For an unstable parameter, the level lies between the worst frozen optimum and the fixed controller's gain."""
    p = lg.scheduled("p", (-3, 3))
    plant = scalar_plant(p)
    found = lg.lpv_synthesis(plant, 1, 1)
    worst = max(lg.lpv_synthesis(scalar_plant(v), 1, 1).gamma for v in (-3.0, 3.0))
    assert found.status == "found"
    assert worst * 0.99 <= found.gamma
    assert found.controller.inputs == ("y",)
    assert found.controller.outputs == ("u",)
    assert found.closed_loop.inputs == ("d", "n")
    for rate in (0.5, 5.0, 50.0):
        ratio = gain_in_time(
            found.closed_loop, lambda t, w=rate: {"p": 3 * np.sin(w * t)}, lambda t: np.exp(-0.1 * t) * np.cos(t), 40, 2
        )  # fmt: skip
        assert ratio <= found.gamma


def test_direct_term_of_the_plant_is_taken_back():
    """A plant with a direct term from control to measurement: the same level, another controller."""
    p = lg.scheduled("p", (-1, 1))
    plain = scalar_plant(p)
    through = lg.ss([[p]], [[1, 0, 1]], [[1], [0], [1]], [[0, 0, 0], [0, 0, 1], [0, 1, 0.5]])
    first, second = lg.lpv_synthesis(plain, 1, 1), lg.lpv_synthesis(through, 1, 1)
    assert second.gamma == pytest.approx(first.gamma, rel=1e-3)
    assert second.frozen_gain <= second.gamma


def test_named_results_without_a_controller():
    """Not stabilisable, no time: a status and a reason, never a controller."""
    p = lg.scheduled("p", (1, 2))
    stuck = lg.ss([[p]], [[1, 0]], [[1], [1]], [[0, 0], [0, 0]])
    found = lg.lpv_synthesis(stuck, 1, 1, time_limit=3)
    assert (found.status in ("infeasible", "time-out"), found.controller) == (True, None)
    assert found.gamma == np.inf
    hasty = lg.lpv_synthesis(scalar_plant(p), 1, 1, time_limit=0.0)
    assert hasty.controller is None or hasty.status == "found"
    assert found.reason
    assert found.status in str(found)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: lg.lpv_synthesis(3, 1, 1), "plant must be a LFT"),
        (lambda: lg.lpv_synthesis(scalar_plant(1.0), 3, 1), "leave no performance channel"),
        (lambda: lg.lpv_synthesis(scalar_plant(1.0), 0, 1), "nmeas must be"),
        (lambda: lg.lpv_synthesis(lg.realize([[1, 2], [3, 4]]), 1, 1), "has no states"),
        (
            lambda: lg.lpv_synthesis(scalar_plant(lg.uncertain("m", 1, percent=5)), 1, 1),
            "m is not a scheduling",
        ),
        (lambda: lg.lpv_synthesis(scalar_plant(1.0), 1, 1, time_limit=-1), "time_limit must be"),
        (lambda: lg.lpv_synthesis(scalar_plant(1.0), 1, 1, progress=3), "progress must be a function"),
    ],
)
def test_wrong_calls_are_named(call, message):
    """Plants, counts, parameters, limits."""
    with pytest.raises(lg.ModelError, match=message):
        call()


def missile():
    """Missile autopilot: P. Gahinet et al., LMI Control Toolbox user's guide (1995), chapter 7; level 0.205 there."""
    z, m = lg.scheduled("Z", (0.5, 4)), lg.scheduled("M", (0, 106))
    body = lg.ss(
        [[-z, 1], [-m, 0]], [[0], [1]], [[-1, 0], [0, 1]], [[0], [0]], inputs=["u"], outputs=["azv", "q"]
    )  # fmt: skip
    parts = [
        (control.tf([2.0101], [1, 0.20101]), "e", "ze"),
        (control.tf([9.6785, 0.029035, 0, 0], [1, 1.2064e4, 1.1360e7, 1.0661e10]), "u", "zu"),
    ]
    weights = [control.ss(control.ss(w), inputs=[i], outputs=[o]) for w, i, o in parts]
    error = control.ss([], [], [], [[1, -1]], inputs=["r", "azv"], outputs=["e"])
    return lg.connect([body, *weights, error], inputs=["r", "u"], outputs=["ze", "zu", "e", "q"])


def test_ctrl_c_keeps_the_controller_so_far():
    """Interrupted at the first controller: that one, with its certificate; before any: a named result."""
    plant = scalar_plant(lg.scheduled("p", (-1, 1)))

    def stop_at(word):
        def stop(what, level):
            if what == word:
                raise KeyboardInterrupt

        return stop

    found = lg.lpv_synthesis(plant, 1, 1, progress=stop_at("level"))
    assert found.status == "found"
    assert found.frozen_gain <= found.gamma < 1.05 * lg.lpv_synthesis(plant, 1, 1).gamma + 10
    assert "Ctrl-C" in found.reason
    none = lg.lpv_synthesis(plant, 1, 1, progress=stop_at("step"))
    assert (none.status, none.controller, none.gamma) == ("interrupted", None, np.inf)
    assert "nothing is known about the plant" in none.reason


def test_a_generalized_plant_knows_its_channels():
    """The same level as with counts, and counts that contradict are an error."""
    p = lg.scheduled("p", (-1, 1))
    body = lg.ss([[p]], [[1, 1]], [[1]], [[0, 0]], inputs=["d", "u"], outputs=["y"])
    P = lg.generalized_plant(
        body, controls=["u"], measurements=["y"], inputs=["d"], outputs=["y", "u"], noise={"n": "y"}
    )
    assert lg.lpv_synthesis(P).gamma == pytest.approx(lg.lpv_synthesis(scalar_plant(p), 1, 1).gamma, rel=1e-6)
    with pytest.raises(lg.ModelError, match="has nmeas = 1, got 2"):
        lg.lpv_synthesis(P, 2, 1)


@pytest.mark.heavy
def test_missile_autopilot_of_the_literature():
    """A certified level within two per cent of the published 0.205, or below."""
    found = lg.lpv_synthesis(missile(), 2, 1)
    assert found.status == "found"
    assert found.gamma <= 0.205 * 1.02
    assert found.frozen_gain <= found.gamma

    def spiral(t):
        shrink = np.exp(-4 * t)
        return {"Z": 2.25 + 1.7 * shrink * np.cos(100 * t), "M": 53 + 49 * shrink * np.sin(100 * t)}

    assert gain_in_time(found.closed_loop, spiral, lambda t: np.exp(-t), 0.5, 1) <= found.gamma


def arm():
    """The two-link arm with weights on error and torque, both angles scheduled."""
    t1 = lg.scheduled_angle("theta1", (45, 90), unit="deg")
    t2 = lg.scheduled_angle("theta2", (45, 135), unit="deg")
    bodies = [
        lg.RigidBody("B1", mass=5, com=(0, 0, 0.5), inertia=(0.4, 0.4, 0.01)),
        lg.RigidBody("B2", mass=3, com=(0, 0, 0.4), inertia=(0.2, 0.2, 0.01)),
        lg.RigidBody("B3", mass=2),
    ]
    joints = [
        lg.RevoluteJoint("J1", parent="ground", child="B1", axis=(1, 0, 0), angle=t1, damping=0.1),
        lg.RevoluteJoint(
            "J2", parent="B1", child="B2", origin=(0, 0, 1), axis=(1, 0, 0), angle=t2, damping=0.1
        ),
        lg.FixedJoint("tip", parent="B2", child="B3", origin=(0, 0, 0.8)),
    ]
    model = lg.Mechanism("arm", bodies=bodies, joints=joints).linearize()
    one = control.ss(control.tf([1, 1], [2, 0.02]))
    error = control.ss(control.append(one, one), inputs=["e1", "e2"], outputs=["z1", "z2"])
    torque = control.ss(
        [], [], [], np.eye(2) / 500, inputs=["J1_torque", "J2_torque"], outputs=["zu1", "zu2"]
    )
    sums = np.hstack([np.eye(2), -np.eye(2)])
    difference = control.ss(
        [], [], [], sums, inputs=["r1", "r2", "J1_angle", "J2_angle"], outputs=["e1", "e2"]
    )
    return lg.connect(
        [model, error, torque, difference],
        inputs=["r1", "r2", "J1_torque", "J2_torque"],
        outputs=["z1", "z2", "zu1", "zu2", "e1", "e2"],
    )


@pytest.mark.heavy
def test_two_link_arm():
    """Skew scalings lower the level of the arm; the certificate holds along a fast trajectory of both angles."""
    plant = arm()
    found, symmetric = lg.lpv_synthesis(plant, 2, 2), lg.lpv_synthesis(plant, 2, 2, skew_scalings=False)
    assert (found.scaling, symmetric.scaling) == ("DG", "D")
    assert found.gamma < 0.92 * symmetric.gamma
    assert found.controller.order <= plant.order
    for w in (0.3, 3.0, 30.0):

        def moving(t, w=w):
            return {"theta1": 67.5 + 22 * np.sin(w * t), "theta2": 90 + 44 * np.cos(1.3 * w * t)}

        assert gain_in_time(found.closed_loop, moving, lambda t: np.exp(-0.2 * t), 20, 2) <= found.gamma


def analysis_level_holds(closed, gamma):
    """Whether a bounded-real inequality with scalings D, G holds for a closed loop: written apart from the synthesis."""
    import cvxpy as cp

    model = closed.normalized(recenter=True)
    M, n, k = np.array(model.M, float), len(model.states), model.order
    rate, inner, outer = M[:n], M[n : n + k], M[n + k :]
    x, w, d = np.split(np.eye(M.shape[1]), [n, n + k])
    X, D, G = (cp.Variable((m, m), symmetric=s) for m, s in ((n, True), (k, True), (k, False)))
    linear = x.T @ X @ rate + inner.T @ (G - G.T) @ w
    level = linear + linear.T + inner.T @ D @ inner - w.T @ D @ w + outer.T @ outer / gamma - gamma * d.T @ d
    top = cp.Variable()
    limits = [level << top * np.eye(M.shape[1]), X >> 0, D >> 0, cp.trace(X) <= 1e6, top >= -1]
    cp.Problem(cp.Minimize(top), limits).solve(solver="CLARABEL")
    return top.value < 0


def test_certificate_of_the_controller_as_it_is_returned():
    """The closed loop with the returned controller has the level by an analysis of its own, and not one well below."""
    found = lg.lpv_synthesis(scalar_plant(lg.scheduled("p", (-3, 3))), 1, 1)
    assert analysis_level_holds(found.closed_loop, found.gamma * 1.001)
    assert not analysis_level_holds(found.closed_loop, found.gamma * 0.9)
