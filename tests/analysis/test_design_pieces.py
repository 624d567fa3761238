"""The parts of a design: peaks, subgradients, tunable blocks, the quadratic program."""

import control
import numpy as np
import pytest
from scipy.optimize import minimize

import lftgen as lg
from lftgen.analysis.design.loops import close, gains_at, plant_stack
from lftgen.analysis.design.peaks import largest, peaks
from lftgen.analysis.design.problem import GainTarget, PoleTarget, Problem
from lftgen.analysis.design.quadratic import solve_qp
from lftgen.analysis.design.subgradients import gain_pieces
from lftgen.lft.evaluation import StateSpaceArrays
from lftgen.lft.hinf_norm import hinf_norm

THETA = lg.scheduled("theta", (1.0, 4.0))
BLOCKS = {
    "gain": lg.TunableGain("K", inputs=["y1", "y2"], outputs=["u1", "u2"], free=np.eye(2, dtype=bool)),
    "state space": lg.TunableStateSpace("K", inputs=["y1", "y2"], outputs=["u1", "u2"], order=2),
    "proper": lg.TunableStateSpace(
        "K", inputs=["y1", "y2"], outputs=["u1", "u2"], order=1, strictly_proper=True
    ),
    "surface": lg.TunableSurface("K", inputs=["y1", "y2"], outputs=["u1", "u2"], order=1, scheduling=[THETA]),
}
PIDS = tuple(
    lg.TunablePID(f"K{i}", inputs=f"y{i}", outputs=f"u{i}", terms=t) for i, t in ((1, "PID"), (2, "PD"))
)
CASES = {name: (block,) for name, block in BLOCKS.items()} | {"two PIDs": PIDS}


def problem(blocks, seed, through=0.1):
    """Three random plants near each other with two control loops each, a soft and a hard requirement."""
    rng = np.random.default_rng(seed)
    n_k = sum(b.n_states for b in blocks)

    A = np.kron(np.diag([2.0, 5.0]), [[-0.1, 1.0], [-1.0, -0.1]]) + 0.2 * rng.standard_normal((4, 4))
    A -= (np.max(np.linalg.eigvals(A).real) + 0.3) * np.eye(4)  # resonances: peaks between zero and infinity
    B, C, D = (rng.standard_normal(shape) for shape in ((4, 4), (5, 4), (5, 4)))
    D *= 0.3
    D[3:, 2:] *= through

    def stack():
        near = [m + 0.03 * rng.standard_normal((3, *m.shape)) for m in (A, B, C)]
        return plant_stack(StateSpaceArrays(*near, np.broadcast_to(D, (3, *D.shape))), 2, 3, n_k)

    t = tuple(rng.uniform(-1, 1, (3, len(b.parameters))) for b in blocks)
    return Problem(tuple(blocks), (stack(), stack()), t, (1.0, 2.0), (False, True)), rng


def stable_point(p, rng):
    """A random point where all loops are stable."""
    for _ in range(200):
        x = np.concatenate([0.1 * b.start(rng, 2.0, 0.2) for b in p.blocks])
        trial = GainTarget(p).evaluate(x + 0.02 * rng.standard_normal(p.size))  # no ties between the plants
        if np.isfinite(trial.soft):
            return trial
    raise RuntimeError("no stable point")


def slope_along(function, x, d, h=2e-5):
    """Derivative along d, by the five-point formula."""
    f = [function(x + k * h * d) for k in (-2, -1, 1, 2)]
    return (f[0] - 8 * f[1] + 8 * f[2] - f[3]) / (12 * h)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("seed", [0, 2])
def test_subgradients_are_the_slopes_of_the_norm(case, seed):
    """The steepest piece is the derivative of the largest norm, by all variables, soft and hard, with feedthrough."""
    p, rng = problem(CASES[case], seed)
    trial = stable_point(p, rng)
    target = GainTarget(p)
    cuts = target.cuts(trial, [])
    assert np.max(cuts.soft) == pytest.approx(trial.soft, abs=1e-6)
    assert np.max(cuts.hard) == pytest.approx(trial.hard, abs=1e-6)
    d = rng.standard_normal(p.size)
    for kind, values, slopes in (("soft", cuts.soft, cuts.soft_slope), ("hard", cuts.hard, cuts.hard_slope)):
        true = slope_along(lambda x, kind=kind: getattr(target.evaluate(x), kind), trial.x, d)
        assert slopes[np.argmax(values)] @ d == pytest.approx(true, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("case", CASES)
def test_every_piece_is_a_slope(case):
    """At any model and frequency: the derivative of the largest singular value by every variable."""
    p, rng = problem(CASES[case], 7)
    x = stable_point(p, rng).x
    model, omega = np.array([0, 1, 2, 1]), np.array([0.3, 2.1, 5.0, np.inf])
    loop = close(p.plants[1], p.controller(x))
    pieces = gain_pieces(loop, model, omega, mixed=False)
    slopes = p.gradient(x, pieces)

    def values(x):
        return largest(gains_at(close(p.plants[1], p.controller(x)), model, omega))

    assert np.allclose(pieces.value, values(x))
    for k, d in enumerate(np.eye(p.size)):
        true = slope_along(values, x, d)
        assert np.allclose(slopes[:, k], true, rtol=1e-6, atol=1e-7 * np.max(pieces.value))


@pytest.mark.parametrize("case", ["state space", "two PIDs", "surface"])
def test_slope_of_the_rightmost_pole(case):
    """The derivative of the spectral abscissa."""
    p, rng = problem(CASES[case], 3)
    target = PoleTarget(p, rate=2.0)
    trial = target.evaluate(stable_point(p, rng).x)
    cuts = target.cuts(trial, [])
    d = rng.standard_normal(p.size)
    true = slope_along(lambda x: target.evaluate(x).soft, trial.x, d)
    assert cuts.soft_slope[np.argmax(cuts.soft)] @ d == pytest.approx(true, rel=1e-4, abs=1e-7)


def test_peaks_of_many_loops():
    """Norm and frequency of each loop of a stack are those of the single analysis."""
    p, rng = problem(CASES["state space"], 5)
    x = stable_point(p, rng).x
    loop = close(p.plants[0], p.controller(x))
    found = peaks(loop, np.linalg.eigvals(loop.A))
    for i in range(3):
        norm, frequency = hinf_norm(loop.A[i], loop.B1[i], loop.C1[i], loop.D11[i])
        assert found.norm[i] == pytest.approx(norm, rel=1e-6)
        if np.isfinite(frequency) and frequency > 0:
            assert found.frequency[i] == pytest.approx(frequency, rel=1e-2)


def test_pid_is_what_its_name_says():
    """S of a PID block against the transfer function of the textbook."""
    pid = lg.TunablePID("K", inputs="y", outputs="u")
    S = pid.matrix(np.array([2.0, 3.0, 0.5, np.log(0.1)]), np.zeros((1, 0)))[0]
    system = control.ss(S[:2, :2], S[:2, 2:], S[2:, :2], S[2:, 2:])
    for w in (0.1, 1.0, 30.0):
        s = 1j * w
        assert system(s) == pytest.approx(2 + 3 / s + 0.5 * s / (0.1 * s + 1))


def test_surface_in_the_coordinates_of_its_parameters():
    """M0 + M1 t at a value is the matrix that was tuned there."""
    block = BLOCKS["surface"]
    x = np.random.default_rng(1).standard_normal(block.size)
    M0, M1 = block.surface(x)
    assert np.allclose(M0 + 4.0 * M1, block.matrix(x, np.array([[1.0]]))[0])
    assert np.allclose(M0 + 1.0 * M1, block.matrix(x, np.array([[-1.0]]))[0])


@pytest.mark.parametrize("seed", range(5))
def test_quadratic_program(seed):
    """Against scipy's SLSQP; the multipliers satisfy the optimality conditions."""
    rng = np.random.default_rng(seed)
    n, m = 6, 25
    root = rng.standard_normal((n, n))
    H, c = root @ root.T, rng.standard_normal(n)
    G, b = rng.standard_normal((m, n)), rng.uniform(0.1, 1, m)
    z, y = solve_qp(H, c, G, b)
    rule = {"type": "ineq", "fun": lambda v: b - G @ v, "jac": lambda v: -G}
    peer = minimize(
        lambda v: 0.5 * v @ H @ v + c @ v, np.zeros(n), jac=lambda v: H @ v + c, constraints=[rule],
        method="SLSQP", options={"ftol": 1e-12, "maxiter": 300},
    )  # fmt: skip
    assert 0.5 * z @ H @ z + c @ z == pytest.approx(peer.fun, rel=1e-5, abs=1e-7)
    assert np.max(G @ z - b) < 1e-7
    assert np.min(y) >= 0
    assert np.allclose(H @ z + c + G.T @ y, 0, atol=1e-6)
    assert np.all(y * (b - G @ z) < 1e-6)
