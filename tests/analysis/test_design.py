"""Fixed-structure design: against full-order optima, closed forms, and the guaranteed worst case."""

import signal

import control
import numpy as np
import pytest

import lftgen as lg
from lftgen.analysis.design import work
from lftgen.lft.hinf_norm import hinf_norm


def norm_of(loop, **values):
    """H-infinity norm at a point."""
    at = loop.evaluate({k: np.array([v]) for k, v in values.items()})
    return hinf_norm(at.A[0], at.B[0], at.C[0], at.D[0])[0]


def first_order(pole):
    """x' = pole x + d + u, z = (x, u), y = x + n."""
    return lg.ss(
        [[pole]], [[1, 0, 1]], [[1], [0], [1]], [[0, 0, 0], [0, 0, 1], [0, 1, 0]],
        inputs=["d", "n", "u"], outputs=["z", "zu", "y"],
    )  # fmt: skip


def best_gain(pole, outputs=slice(None)):
    """The least norm over a fine grid of gains u = -k y, and that gain."""
    gains = np.linspace(max(pole, 0) + 1e-2, max(pole, 0) + 12, 4000)

    def norm(k):
        C, D = np.array([[1.0], [-k]]), np.array([[0.0, 0.0], [0.0, -k]])
        return hinf_norm([[pole - k]], [[1.0, -k]], C[outputs], D[outputs])[0]

    values = [norm(k) for k in gains]
    return min(values), gains[int(np.argmin(values))]


EVERY = lg.Requirement("all", ["d", "n"], ["z", "zu"])


@pytest.mark.parametrize("pole", [-1.0, *(pytest.param(p, marks=pytest.mark.heavy) for p in (1.0, 3.0))])
def test_static_gain_is_the_best_of_a_grid(pole):
    """One gain: the design finds what a search over four thousand gains finds."""
    found = lg.design(first_order(pole), lg.TunableGain("K", inputs="y", outputs="u"), EVERY, starts=3)
    best, k = best_gain(pole)
    assert best * (1 - 2e-3) <= found.value <= best * (1 + 1e-6)
    assert found.controllers["K"][0, 0] == pytest.approx(-k, rel=0.05)
    assert found.requirements[0].upper == pytest.approx(best, rel=0.02)


def test_uncertain_pole_is_met_at_its_worst():
    """The pole in [0, 2]: the gain is tuned for 2, the worst point, which the search adds by itself."""
    pole = lg.uncertain("pole", 1.0, plus_minus=1.0)
    goal = lg.Requirement("all", ["d", "n"], ["z", "zu"], goal=8.0)
    found = lg.design(first_order(pole), lg.TunableGain("K", inputs="y", outputs="u"), goal, starts=2)
    assert found.value * 8.0 == pytest.approx(best_gain(2.0)[0], rel=1e-3)
    assert (
        np.min(np.abs(found.points["pole"] - 2.0)) < 1e-3
    )  # feedthrough ties with the peak at 2: either is the worst
    assert found.status == "met"
    assert norm_of(found.closed_loop, pole=2.0) == pytest.approx(found.requirements[0].lower, rel=1e-4)


def test_hard_requirement_holds_and_soft_one_is_minimised():
    """x' = x + d + u, u = -k (x + n): noise reaches the control with gain k, held at 5, so the output's gain is 1/4."""
    plant, K = first_order(1.0), lg.TunableGain("K", inputs="y", outputs="u")
    wanted = [lg.Requirement("output", "d", "z"), lg.Requirement("effort", "n", "zu", goal=5.0, hard=True)]
    found = lg.design(plant, K, wanted, starts=2)
    output, effort = found.requirements
    assert effort.upper <= 5.0 * (1 + 1e-5)
    assert output.active == pytest.approx(0.25, rel=1e-3)


def test_gain_that_would_grow_without_end():
    """Where more gain is always better the design stops at a large one instead of failing."""
    plant = first_order(1.0)
    found = lg.design(
        plant, lg.TunableGain("K", inputs="y", outputs="u"), lg.Requirement("output", "d", "z"), starts=2
    )
    assert found.value < 1e-3
    assert np.all(np.abs(found.controllers["K"]) < 1e9 + 1)


def test_pid_follows_a_weight():
    """Integral action is found where the weight asks for it: the error's steady gain vanishes."""
    plant = lg.ss(
        [[-1.0]], [[0, 1]], [[-1], [0]], [[1, 0], [0, 1]], inputs=["r", "u"], outputs=["e", "effort"]
    )
    weight = control.tf([1, 1], [2, 0.002])
    pid = lg.TunablePID("pid", inputs="e", outputs="u", terms="PI")
    wanted = [
        lg.Requirement("error", "r", "e", output_weight=weight),
        lg.Requirement("effort", "r", "effort", goal=4.0),
    ]
    found = lg.design(plant, pid, wanted, starts=3)
    assert found.status == "met"
    K = found.controllers["pid"]
    assert isinstance(K, control.StateSpace)
    assert (K.input_labels, K.output_labels) == (["e"], ["u"])
    loop = control.feedback(control.tf([1], [1, 1]) * control.ss(K.A, K.B, K.C, K.D))
    assert abs(loop.dcgain() - 1) < 1e-2
    assert found.closed_loop.inputs == ("r",)


def test_surface_follows_its_parameter():
    """A gain affine in a parameter does better than a fixed one, and the controller is an LFT in it."""
    p = lg.scheduled("p", (-2, 2))
    plant = lg.ss(
        [[p]], [[1, 1]], [[1], [0], [1]], [[0, 0], [0, 1], [0, 0]], inputs=["d", "u"], outputs=["z", "zu", "y"]
    )  # fmt: skip
    one = [lg.Requirement("all", "d", ["z", "zu"])]
    fixed = lg.design(plant, lg.TunableGain("K", inputs="y", outputs="u"), one, starts=2)
    moving = lg.design(
        plant, lg.TunableSurface("K", inputs="y", outputs="u", order=0, scheduling=[p]), one, starts=2
    )
    assert moving.value <= fixed.value * 1.001
    K = moving.controllers["K"]
    assert isinstance(K, lg.LFT)
    assert K.repetitions == {"p": 1}
    direct = plant.star(K)
    for value in (-2.0, 0.3, 2.0):
        assert norm_of(direct, p=value) <= moving.value * 1.001


def test_surfaces_begin_at_the_corners_of_their_box():
    """One point says nothing about slopes; points of one's own come instead, and other blocks begin at the nominal."""
    p, q = lg.scheduled("p", (-2, 2)), lg.uncertain("q", 1.0, percent=10)
    plant = lg.ss(
        [[p * q]], [[1, 1]], [[1], [0], [1]], [[0, 0], [0, 1], [0, 0]], inputs=["d", "u"], outputs=["z", "zu", "y"]
    )  # fmt: skip
    one = lg.Requirement("all", "d", ["z", "zu"])
    surface = lg.TunableSurface("K", inputs="y", outputs="u", order=0, scheduling=[p])
    gain = lg.TunableGain("K", inputs="y", outputs="u")
    quick = {"starts": 1, "refinements": 0, "certify": False}
    assert list(lg.design(plant, surface, one, **quick).points["p"][:3]) == [0, -2, 2]
    assert list(lg.design(plant, surface, one, points={"p": [1.0]}, **quick).points["p"][:2]) == [0, 1]
    assert lg.design(plant, gain, one, **quick).points["q"][0] == 1.0


def test_named_results_without_a_controller():
    """What no gain stabilises is told; time that is over as well."""
    stuck = lg.ss([[1.0]], [[1, 0]], [[1], [1]], [[0, 0], [0, 0]], inputs=["d", "u"], outputs=["z", "y"])
    found = lg.design(
        stuck, lg.TunableGain("K", inputs="y", outputs="u"), lg.Requirement("all", "d", "z"), starts=2
    )
    assert found.status == "unstable"
    assert found.controllers == {}
    assert "unstable" in str(found)


def test_no_controller_that_fails_somewhere_in_the_box():
    """x' = x + b u with b of either sign: every gain is unstable somewhere, so none is handed over."""
    b = lg.uncertain("b", 0.6, bounds=(-1, 1))
    plant = lg.ss(
        [[1.0]], [[1, b]], [[1], [0], [1]], [[0, 0], [0, 1], [0, 0]], inputs=["d", "u"], outputs=["z", "zu", "y"]
    )  # fmt: skip
    found = lg.design(plant, GAIN, lg.Requirement("all", "d", ["z", "zu"], goal=50.0), starts=2)
    assert found.status == "unstable"
    assert found.controllers == {}
    assert found.closed_loop is None
    assert len(found.points["b"]) > 1
    assert found.points["b"].min() <= 0


def test_no_controller_without_a_bound(monkeypatch):
    """Where no worst case is guaranteed the controller stays with the design; who asks for none to be guaranteed gets it."""
    pole = lg.uncertain("pole", 1.0, plus_minus=1.0)
    search = work.worst_case_gain

    def without_certificate(loop, **options):
        return search(loop, **{**options, "certify": False})

    monkeypatch.setattr(work, "worst_case_gain", without_certificate)
    found = lg.design(first_order(pole), GAIN, EVERY, starts=1)
    assert found.controllers == {}
    assert found.status in ("not certified", "not met")
    assert found.requirements[0].upper == np.inf
    free = lg.design(first_order(pole), GAIN, EVERY, start=found.x, certify=False)
    assert list(free.controllers) == ["K"]


GAIN = lg.TunableGain("K", inputs="y", outputs="u")
ALL = lg.Requirement("all", "d", "z")
POLE, OTHER = lg.uncertain("p", 1.0, percent=20), lg.uncertain("q", 1.0, percent=20)
IMPROPER = control.tf([1, 0, 0], [1, 1])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: lg.design(3, GAIN, ALL), "plant must be a LFT"),
        (lambda: lg.design(first_order(1.0), [], ALL), "at least one tunable block"),
        (lambda: lg.design(first_order(1.0), [GAIN, GAIN], ALL), "of two"),
        (lambda: lg.design(first_order(1.0), 3, ALL), "blocks must be a list of TunableBlock"),
        (lambda: lg.design(first_order(1.0), GAIN, lg.Requirement("all", "d", "q")), "unknown output 'q'"),
        (
            lambda: lg.design(first_order(1.0), lg.TunableGain("K", inputs="y", outputs="v"), ALL),
            "unknown input 'v'",
        ),
        (lambda: lg.design(first_order(1.0), GAIN, ALL, starts=0), "starts must be"),
        (lambda: lg.design(first_order(1.0), GAIN, ALL, progress=3), "progress must be a function"),
        (lambda: lg.design(first_order(1.0), GAIN, ALL, refinements=-1), "refinements must be"),
        (lambda: lg.design(first_order(1.0), GAIN, ALL, points={"m": [1.0]}), "unknown parameter 'm'"),
        (lambda: lg.design(first_order(POLE), GAIN, ALL, points={"p": ["a"]}), "p: expected"),
        (lambda: lg.design(first_order(POLE), GAIN, ALL, points={"p": [3.0]}), "p = 3 is outside its range"),
        (lambda: lg.design(first_order(POLE), GAIN, ALL, points=[1.0]), "points must be arrays by"),
        (
            lambda: lg.design(first_order(POLE), GAIN, ALL, points={"p": [[1.0, 1.1]]}),
            "one-dimensional arrays",
        ),
        (
            lambda: lg.design(first_order(POLE * OTHER), GAIN, ALL, points={"p": [1, 1.1], "q": [1, 1, 1]}),
            "one length",
        ),
        (
            lambda: lg.design(first_order(1.0), GAIN, lg.Requirement("a", "d", "z", output_weight=IMPROPER)),
            "requirement a: output_weight: .*improper",
        ),
        (
            lambda: lg.design(first_order(1.0), GAIN, ALL, start=[1.0, 2.0]),
            "start must have 1 finite numbers",
        ),
        (lambda: lg.design(first_order(1.0), GAIN, ALL, start=[np.nan]), "start must have 1 finite numbers"),
        (lambda: lg.Requirement("a", "d", "z", goal=0), "goal must be positive"),
        (lambda: lg.Requirement("a", [], "z"), "inputs is empty"),
        (lambda: lg.Requirement("a", "d", "z", hard="yes"), "hard must be True or False"),
        (
            lambda: lg.design(first_order(1.0), GAIN, lg.Requirement("a", "d", "z", output_weight=np.eye(2))),
            "output_weight must be 1x1",
        ),
    ],
)
def test_wrong_calls_are_named(call, message):
    """Plants, blocks, requirements, signals, options."""
    with pytest.raises(lg.LftgenError, match=message):
        call()


def mixed_sensitivity():
    """G = 200/((10 s + 1)(0.05 s + 1)^2), S/KS: S. Skogestad, I. Postlethwaite, Multivariable Feedback Control, example 2.17."""
    G = control.ss(control.tf([200], np.polymul([10, 1], np.polymul([0.05, 1], [0.05, 1]))))
    W = control.ss(control.tf([1 / 1.5, 10], [1, 1e-3]))
    return lg.from_control(control.augw(G, W, control.ss([], [], [], [[1.0]])))


def two_masses():
    """Two masses and a spring: B. Wie, D. Bernstein, J. Guidance, Control, and Dynamics 15 (1992) 1057-1059."""
    A = np.array([[0, 0, 1, 0], [0, 0, 0, 1], [-1, 1, 0, 0], [1, -1, 0, 0]])
    B = np.array(
        [[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 0, 0]]
    )  # force on the second mass, noise; control on the first
    C = np.array([[0, 1, 0, 0], [0, 0, 0, 0], [0, 1, 0, 0]])
    D = np.array([[0, 0, 0], [0, 0, 1], [0, 1, 0]])
    return lg.ss(A, B, C, D)


def distillation():
    """The ill-conditioned column: S. Skogestad, M. Morari, J. Doyle, IEEE Trans. Automatic Control 33 (1988) 1092-1105."""
    gain = np.array([[0.878, -0.864], [1.082, -1.096]])
    G = control.ss(-np.eye(2) / 75, np.eye(2) / 75, gain, np.zeros((2, 2)))
    W = control.ss(control.tf([10, 1], [20, 1e-3]))
    return lg.from_control(control.augw(G, control.append(W, W), control.ss([], [], [], 0.01 * np.eye(2))))


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("make", "n_y", "n_u"), [(mixed_sensitivity, 1, 1), (two_masses, 1, 1), (distillation, 2, 2)]
)
def test_full_order_reaches_the_optimum(make, n_y, n_u):
    """A tunable controller of full order comes within 3 % of the optimum of SLICOT; its norm is the reported one."""
    pytest.importorskip("slycot")
    plant = make()
    p, m = plant.shape
    names = {
        "inputs": [*(f"w{i}" for i in range(m - n_u)), *(f"u{i}" for i in range(n_u))],
        "outputs": [*(f"z{i}" for i in range(p - n_y)), *(f"y{i}" for i in range(n_y))],
    }
    plant = plant.rename(**names)
    _, _, optimum, _ = control.hinfsyn(plant.at(), n_y, n_u)
    K = lg.TunableStateSpace(
        "K", inputs=names["outputs"][p - n_y :], outputs=names["inputs"][m - n_u :], order=len(plant.states)
    )
    one = lg.Requirement("all", names["inputs"][: m - n_u], names["outputs"][: p - n_y])
    found = lg.design(plant, K, one, starts=20, refinements=20, time_limit=600)
    system = found.controllers["K"]
    closed = plant.at().lft(control.ss(system.A, system.B, system.C, system.D))
    norm = hinf_norm(closed.A, closed.B, closed.C, closed.D)[0]
    assert norm == pytest.approx(found.value, rel=1e-6)
    assert optimum * (1 - 1e-3) <= found.value <= 1.03 * optimum


def helicopter():
    """VTOL helicopter HE1 of COMPleib 1.1 (F. Leibfritz 2005); from S. N. Singh, A. A. R. Coelho, J. Dyn. Sys., Meas., Control 106 (1984) 203-210."""
    A = [
        [-0.0366, 0.0271, 0.0188, -0.4555],
        [0.0482, -1.01, 0.0024, -4.0208],
        [0.1002, 0.3681, -0.707, 1.42],
        [0, 0, 1, 0],
    ]
    B = np.array(
        [
            [0.04678, 0, 0.4422, 0.1761],
            [0.04572, 0.00988, 3.5446, -7.5922],
            [0.04369, 0.00111, -5.52, 4.49],
            [-0.02179, 0, 0, 0],
        ]
    )
    C = np.array([[np.sqrt(2), 0, 0, 0], [0, np.sqrt(0.5), 0, 0], [0, 1, 0, 0]])
    D = np.zeros((3, 4))
    D[:2, 2:] = np.sqrt(0.5) * np.eye(2)
    return lg.ss(A, B, C, D, inputs=["w1", "w2", "u1", "u2"], outputs=["z1", "z2", "y"])


@pytest.mark.heavy
def test_reduced_orders_of_the_helicopter():
    """Static feedback no worse than 0.154, the level of HIFOO (S. Gumussoy, M. Overton, ACC 2008); each order helps."""
    levels = []
    for order in (0, 1, 2):
        K = lg.TunableStateSpace("K", inputs="y", outputs=["u1", "u2"], order=order)
        found = lg.design(
            helicopter(),
            K,
            lg.Requirement("all", ["w1", "w2"], ["z1", "z2"]),
            starts=10,
            time_limit=600,
            certify=False,
        )
        levels.append(found.value)
    assert levels[0] <= 0.154
    assert levels[1] < 0.9 * levels[0]
    assert levels[2] < 0.9 * levels[1]


def test_interruption_keeps_the_best_so_far():
    """Ctrl-C in the middle of a design: its status says so, and x begins another design."""
    calls = []

    def stop(text, value):
        calls.append(value)
        if len(calls) == 2:
            signal.raise_signal(signal.SIGINT)

    wanted = lg.Requirement("all", ["d", "n"], ["z", "zu"])
    found = lg.design(first_order(1.0), GAIN, wanted, starts=6, progress=stop)
    assert found.status == "interrupted"
    assert found.controllers == {}
    assert found.value == pytest.approx(calls[-1], rel=1e-6)
    again = lg.design(first_order(1.0), GAIN, wanted, start=found.x)
    assert list(again.controllers) == ["K"]


def test_what_no_controller_can_stabilise_is_named():
    """A mode out of reach of the control; a weight that integrates the error outside of the loop."""
    stuck = lg.ss(
        [[1.0, 0], [0, -1]], [[1, 0], [0, 1]], [[1, 0], [0, 1]], np.zeros((2, 2)), states=["free", "held"],
        inputs=["d", "u"], outputs=["z", "y"],
    )  # fmt: skip
    found = lg.design(stuck, GAIN, ALL, starts=1)
    assert found.status == "unstable"
    assert "free" in found.reason
    assert "cannot be stabilised by u" in str(found)
    growing = lg.Requirement("all", "d", "z", output_weight=control.tf([1], [1, -1]))
    found = lg.design(first_order(-1.0), GAIN, growing, starts=1)
    assert "make the weight stable" in found.reason
