"""mu, robust stability and worst-case gain: closed forms, eigenvalues, samples, and named results."""

import control
import numpy as np
import pytest

import lftgen as lg
from lftgen.lft.hinf_norm import hinf_norm

K = 0.3882914410
"""Root of k^3 + 5 k = 2."""


def cubic_system():
    """A = [[-1 + 5a, -10(1 + b)], [10(1 + c^2), -1 - abc]]: mu = 1/K (destabilised at (K, -K, K))."""
    a, b, c = (lg.uncertain(n, 0.0, plus_minus=1) for n in "abc")
    return lg.ss(
        [[-1 + 5 * a, -10 * (1 + b)], [10 * (1 + c**2), -1 - a * b * c]], [[1], [0]], [[1, 0]], [[0]]
    )


def test_cubic_system_in_closed_form():
    """mu = 2.575385: the lower bound exactly, the upper within half a per cent, the point and its frequency."""
    found = lg.robust_stability(cubic_system())
    low, high = found.mu
    assert low == pytest.approx(2.575385, rel=1e-5)
    assert 2.575385 <= high * (1 + 1e-9) <= 2.575385 * 1.005
    sizes = [abs(found.parameters[n]) for n in "abc"]
    assert sizes == pytest.approx([K] * 3, rel=1e-4)
    assert found.frequency == pytest.approx(8.337, abs=1e-3) or found.frequency == pytest.approx(
        12.605, abs=1e-3
    )
    at = cubic_system().at(**found.parameters, extrapolate=True)
    poles = at.poles()
    assert np.min(np.abs(poles.real)) < 1e-6
    assert not found.robust


@pytest.mark.parametrize("n", [4, 12])
@pytest.mark.parametrize("seed", range(4))
def test_one_repeated_real_scalar_is_an_eigenvalue(n, seed):
    """mu of one repeated real scalar is the largest modulus of a real eigenvalue."""
    M = np.random.default_rng(seed).normal(size=(n, n))
    values = np.linalg.eigvals(M)
    truth = np.max(np.abs(values[np.abs(values.imag) < 1e-9].real), initial=0.0)
    found = lg.mu(M, [("real", n)])
    assert found.lower == pytest.approx(truth, rel=1e-6)
    assert truth * (1 - 1e-9) <= found.upper <= truth * 1.01 + 1e-5


def test_rotation_has_no_real_eigenvalue():
    """mu = 0, found in finite time."""
    found = lg.mu([[0, 1], [-1, 0]], [("real", 2)])
    assert (found.lower, found.upper) == (0.0, pytest.approx(0.0, abs=1e-5))


@pytest.mark.parametrize("seed", range(3))
def test_known_structures(seed):
    """One full complex block: the largest singular value; one repeated complex scalar: the spectral radius."""
    rng = np.random.default_rng(seed)
    M = rng.normal(size=(5, 5)) + 1j * rng.normal(size=(5, 5))
    full = lg.mu(M, [("full complex", (5, 5))])
    assert [full.lower, full.upper] == pytest.approx([np.linalg.norm(M, 2)] * 2, rel=5e-3)
    scalar = lg.mu(M, [("complex", 5)])
    radius = np.max(np.abs(np.linalg.eigvals(M)))
    assert scalar.lower <= radius * (1 + 1e-6)
    assert radius * (1 - 1e-6) <= scalar.upper <= radius * 1.01
    wide = rng.normal(size=(2, 3))
    assert lg.mu(wide, [("full complex", (3, 2))]).upper == pytest.approx(np.linalg.norm(wide, 2), rel=5e-3)


def test_mixed_bounds_enclose_a_search():
    """Two real scalars and a full block: no sampled Delta contradicts the upper bound, the lower bound's point is singular."""
    rng = np.random.default_rng(2)
    M = rng.normal(size=(5, 5)) + 1j * rng.normal(size=(5, 5))
    found = lg.mu(M, [("real", 2), ("real", 1), ("full complex", (2, 2))])
    assert 0 < found.lower <= found.upper
    assert found.upper <= found.lower * 1.25
    plain = lg.mu(M, [("full complex", (1, 1))] * 3 + [("full complex", (2, 2))])
    assert found.lower <= plain.upper * (1 + 1e-6) or found.upper <= np.linalg.norm(M, 2) * (1 + 1e-6)


def closed_arm():
    """The two-link arm under a state feedback designed at the nominal point."""
    model = lg.read_model("examples/two_link_arm.yaml").mechanism
    plant = model.linearize(outputs=["J1_angle", "J2_angle", "J1_rate", "J2_rate"])
    at = plant.at()
    gain, *_ = control.lqr(at.A, at.B, np.diag([100, 100, 1, 1]), 0.001 * np.eye(2))
    return plant.feedback(gain[:, [0, 1, 2, 3]])[["J1_angle", "J2_angle"], :]


@pytest.mark.heavy
def test_worst_case_gain_of_the_arm():
    """Bounds within 3 %, and at least as bad as the worst of 1e5 samples."""
    loop = closed_arm()
    found = lg.worst_case_gain(loop, time_limit=240)
    assert found.status == "done"
    assert found.lower <= found.upper <= 1.03 * found.lower
    at = loop.at(**found.parameters)
    assert hinf_norm(at.A, at.B, at.C, at.D)[0] == pytest.approx(found.lower, rel=1e-6)
    many = loop.evaluate(loop.sample(100_000, seed=5))
    coarse = np.max(
        np.stack([many.singular_values([w])[:, 0, 0] for w in (0.0, 1.0, 3.0, 10.0, found.frequency)]), axis=0
    )
    for i in np.argsort(coarse)[-200:]:
        assert hinf_norm(many.A[i], many.B[i], many.C[i], many.D[i])[0] <= found.lower * (1 + 1e-6)


def test_margin_of_a_spring_in_closed_form():
    """Stable for k > 0: a box about 2 of half-width 1 may double; bounds agree."""
    k = lg.uncertain("k", 2.0, plus_minus=1)
    found = lg.robust_stability(lg.ss([[0, 1], [-k, -1]], [[0], [1]], [[1, 0]], [[0]]))
    assert found.upper == pytest.approx(2.0, rel=1e-6)
    assert 1.98 < found.lower <= 2.0
    assert found.robust


def test_uncertain_dynamics_in_closed_form():
    """G = 1/(s + 1) with multiplicative uncertainty of gain up to 0.5 under gain 3: margin (1 + L)/(0.5 L) at low frequency."""
    w = lg.uncertain_dynamics("D", (1, 1), bound=0.5)
    plant = lg.ss([[-1]], [[1]], [[1]], [[0]], inputs=["u"], outputs=["y"])
    loop = (plant @ (np.eye(1) + w)).feedback(3.0)
    found = lg.robust_stability(loop)
    # |0.5 k T(j w)| = 1 with T = 3/(s + 4): largest at w = 0
    assert found.upper == pytest.approx(1 / (0.5 * 0.75), rel=2e-2)
    assert found.lower == pytest.approx(1 / (0.5 * 0.75), rel=2e-2)


def test_named_results():
    """Unstable, ill-posed, out of time: each says so; nothing hangs."""
    k = lg.uncertain("k", 1.0, plus_minus=0.5)
    unstable = lg.ss([[k]], [[1]], [[1]], [[0]])
    assert lg.robust_stability(unstable).status == "unstable nominal"
    assert lg.worst_case_gain(unstable).status == "unstable nominal"
    sometimes = lg.ss([[k - 1.3]], [[1]], [[1]], [[0]])
    found = lg.worst_case_gain(sometimes)
    assert (found.status, found.lower) == ("unstable", np.inf)
    assert found.parameters["k"] >= 1.3
    hasty = lg.worst_case_gain(closed_arm(), time_limit=0.5)
    assert hasty.status in ("time limit", "done")
    assert 0 < hasty.lower <= hasty.upper
    plain = lg.worst_case_gain(lg.ss([[-2]], [[1]], [[3]], [[0]]))
    assert plain.lower == pytest.approx(1.5)
    assert lg.worst_case_gain(lg.realize([[k, 1]])).upper >= np.hypot(1.5, 1) * (1 - 1e-9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: lg.robust_stability(3), "must be a LFT"),
        (lambda: lg.robust_stability(lg.realize([[lg.uncertain("k", 1, percent=5)]])), "has no states"),
        (lambda: lg.worst_case_gain(cubic_system(), inputs=["q"]), "unknown input 'q'"),
        (lambda: lg.worst_case_gain(cubic_system(), time_limit=-1), "time_limit must be"),
        (lambda: lg.mu([[1, 2], [3, 4]]), "needs blocks"),
        (lambda: lg.mu([[1, 2], [3, 4]], [("real", 3)]), "2"),
        (lambda: lg.mu([[1, 2], [3, 4]], [("imaginary", 2)]), "imaginary"),
        (lambda: lg.mu(cubic_system(), [("real", 2)]), "has its own blocks"),
        (lambda: lg.mu([[1.0]], [("real", 1)], seed=-1), "seed must be"),
        (lambda: lg.mu([[1.0]], [("real", 1)], tolerance=2), "tolerance must be below 1"),
        (lambda: lg.mu([[1.0]], [("full complex", (1.5, 1))]), "shape"),
        (lambda: lg.robust_stability(cubic_system(), tolerance=1.5), "tolerance must be below 1"),
        (lambda: lg.robust_stability(cubic_system(), max_margin=0), "max_margin must be positive"),
        (lambda: lg.robust_stability(cubic_system(), seed="a"), "seed must be"),
        (lambda: lg.robust_stability(cubic_system(), progress=3), "progress must be a function"),
        (lambda: lg.worst_case_gain(cubic_system(), progress="loud"), "progress must be a function"),
        (lambda: lg.worst_case_gain(cubic_system(), tolerance=-1), "tolerance must be at least 0"),
        (lambda: lg.worst_case_gain(cubic_system(), outputs=[]), "expected inputs and outputs"),
    ],
)
def test_wrong_calls_are_named(call, message):
    """Types, shapes, kinds, names, limits."""
    with pytest.raises(lg.LftgenError, match=message):
        call()


def test_a_real_block_gets_real_values():
    """1 - j delta has no real zero: no lower bound above 0; for real M the inverse of the block's M is real."""
    assert lg.mu([[1j]], [("full real", (1, 1))]).lower == 0
    M = np.random.default_rng(3).normal(size=(2, 2)) + 1j * np.random.default_rng(4).normal(size=(2, 2))
    found = lg.mu(M, [("full real", (2, 2))])
    assert all(np.isrealobj(d) or not np.any(np.imag(d)) for d in found.deltas.values())
    M = np.random.default_rng(5).normal(size=(2, 2))
    found = lg.mu(M, [("full real", (2, 2))])
    assert found.lower == pytest.approx(np.linalg.norm(M, 2), rel=1e-6)


@pytest.mark.parametrize("n", [2, 3])
def test_defective_eigenvalue(n):
    """A Jordan block at 1 in turned coordinates: mu = 1, although rounding splits its eigenvalues into complex pairs."""
    T = np.random.default_rng(0).normal(size=(n, n))
    found = lg.mu(T @ (np.eye(n) + np.eye(n, k=1)) @ np.linalg.inv(T), [("real", n)])
    assert found.lower == pytest.approx(1.0, rel=1e-4)
    assert found.status == "done"


def test_nearly_real_eigenvalues_are_not_real():
    """[[1, e], [-e, 1]] has the eigenvalues 1 +- ej: its mu is 0, however small e."""
    assert lg.mu([[1, 1e-6], [-1e-6, 1]], [("real", 2)]).lower == 0


@pytest.mark.parametrize("kind", ["real", "complex"])
@pytest.mark.parametrize("gain", [1e-7, 1.0, 1e6])
def test_mu_of_a_system_scales(kind, gain):
    """gain/(s + 1): mu is the gain at zero frequency, in any unit."""
    found = lg.mu(control.ss([[-1]], [[gain]], [[1]], [[0]]), [(kind, 1)])
    assert [found.lower, found.upper] == pytest.approx([gain] * 2, rel=5e-3)
    assert abs(found.deltas["block 0"] * gain) == pytest.approx(1, rel=1e-6)


def dynamic_spring(bound):
    """1/(s^2 + s + k), k in [1, 3], with feedback by unknown dynamics of gain up to ``bound``."""
    k, d = lg.uncertain("k", 2.0, plus_minus=1), lg.uncertain_dynamics("d", (1, 1), bound=bound)
    body = lg.ss(
        [[0, 1], [-k, -1]], [[0, 0], [1, 1]], [[1, 0], [1, 0]], np.zeros((2, 2)), inputs=["w", "u"], outputs=["z", "y"]
    )  # fmt: skip
    return lg.connect([body, d.rename(inputs=["z"], outputs=["w"])], inputs=["u"], outputs=["y"])


def test_uncertain_dynamics_make_the_gain_worse():
    """The peak g = 2/sqrt(3) at k = 1 becomes g/(1 - b g) by dynamics of gain b with the worst phase."""
    loop, peak = dynamic_spring(0.3), 2 / np.sqrt(3)
    found = lg.worst_case_gain(loop)
    truth = peak / (1 - 0.3 * peak)
    assert found.status == "done"
    assert found.lower == pytest.approx(truth, rel=1e-6)
    assert truth <= found.upper <= 1.03 * truth
    assert found.parameters["k"] == pytest.approx(1.0)
    assert np.linalg.norm(found.uncertainties["d"], 2) == pytest.approx(0.3)
    s = 1j * found.frequency
    response = 1 / (s * s + s + found.parameters["k"])
    assert abs(response / (1 - response * found.uncertainties["d"][0, 0])) == pytest.approx(found.lower)
    assert "|d| = 0.3" in str(found)


def test_dynamics_that_destabilise_are_given_in_their_own_size():
    """Margin sqrt(3)/2/b; d has the norm sqrt(3)/2 whatever its bound b; a gain that has none is told."""
    found = lg.robust_stability(
        lg.ss([[-4]], [[1]], [[1]], [[0]]).feedback(lg.uncertain_dynamics("d", (1, 1), 0.5))
    )
    assert found.upper == pytest.approx(8.0)
    assert abs(found.uncertainties["d"]) == pytest.approx(4.0)
    worst = lg.worst_case_gain(dynamic_spring(0.95))
    assert (worst.status, worst.lower, worst.upper) == ("unstable", np.inf, np.inf)
    d, s, k = worst.uncertainties["d"][0, 0], 1j * worst.frequency, worst.parameters["k"]
    assert abs(d) <= 0.95 * (1 + 1e-9)
    assert abs(s * s + s + k - d) < 1e-6


def test_models_without_parameters_or_gain():
    """Nothing to vary: the largest margin asked for; no way from input to output: no gain."""
    plain = lg.robust_stability(lg.ss([[-1]], [[1]], [[1]], [[0]]), max_margin=7)
    assert (plain.lower, plain.upper, plain.status) == (7, np.inf, "done")
    k = lg.uncertain("k", 2.0, plus_minus=1)
    silent = lg.worst_case_gain(lg.ss([[-k]], [[0]], [[1]], [[0]]))
    assert silent.lower == 0
    assert silent.upper < 1e-8
    assert silent.status == "done"


def test_results_do_not_depend_on_the_clock(monkeypatch):
    """A machine a hundred times slower gives the same bounds: searches count what they do."""
    from lftgen.analysis.mu import frequencies

    quick = lg.robust_stability(cubic_system(), tolerance=1e-4)
    real = frequencies.time.monotonic
    monkeypatch.setattr(frequencies.time, "monotonic", lambda: 100 * real())
    slow = lg.robust_stability(cubic_system(), tolerance=1e-4)
    assert (slow.lower, slow.upper, slow.status) == (quick.lower, quick.upper, quick.status)
    assert "margin of stability between" in str(quick)


@pytest.mark.parametrize("analysis", [lg.robust_stability, lg.worst_case_gain])
def test_ctrl_c_keeps_what_is_proven(analysis):
    """An interruption at the first report: bounds in order and a status."""

    def stop(lower, upper, seconds):
        raise KeyboardInterrupt

    found = analysis(lg.ss([[-lg.uncertain("k", 2.0, plus_minus=1)]], [[1]], [[1]], [[0]]), progress=stop)
    assert found.status == "interrupted"
    assert 0 <= found.lower <= found.upper


def random_loop(seed):
    """Three states, k in [1.2, 2.8] three times, dynamics of one or two blocks; the loop and its nominal dynamics-free part."""
    rng = np.random.default_rng(seed)
    k = lg.uncertain("k", 2.0, plus_minus=0.8)
    shapes = [(1, 1), (2, 2)] if seed % 2 else [(2, 1)]
    blocks = [
        lg.uncertain_dynamics(f"d{i}", s, bound=float(rng.uniform(0.2, 0.6))) for i, s in enumerate(shapes)
    ]
    n_w, n_z = (sum(s[i] for s in shapes) for i in (0, 1))
    A = rng.normal(size=(3, 3))
    A = (A - (np.linalg.eigvals(A).real.max() + 0.8) * np.eye(3)).astype(object)
    A[0, 1], A[2, 2] = A[0, 1] - 0.2 * k, A[2, 2] - 0.3 * k * k
    B, C = rng.normal(size=(3, n_w + 2)), rng.normal(size=(n_z + 2, 3))
    part = lg.ss(
        A.tolist(), B, C, np.zeros((n_z + 2, n_w + 2)),
        inputs=[*(f"w{i}" for i in range(n_w)), "u0", "u1"], outputs=[*(f"z{i}" for i in range(n_z)), "y0", "y1"],
    )  # fmt: skip
    z, w, closing = 0, 0, []
    for (rows, columns), block in zip(shapes, blocks, strict=True):
        names = {
            "inputs": [f"z{z + i}" for i in range(columns)],
            "outputs": [f"w{w + i}" for i in range(rows)],
        }
        closing.append(block.rename(**names))
        z, w = z + columns, w + rows
    return lg.connect([part, *closing], inputs=["u0", "u1"], outputs=["y0", "y1"]), part, (n_z, n_w)


@pytest.mark.parametrize("seed", [1, 4, 16])
def test_worst_dynamics_and_parameters_together(seed):
    """Bounds within 3 % (seed 1 is nearly unstable); the lower one is the gain with the values that are told."""
    from scipy.linalg import block_diag

    loop, part, (n_z, n_w) = random_loop(seed)
    found = lg.worst_case_gain(loop)
    assert found.status == "done"
    assert found.lower <= found.upper <= 1.03 * found.lower
    at = part.at(**found.parameters)
    G = at.C @ np.linalg.solve(1j * found.frequency * np.eye(3) - at.A, at.B)
    d = block_diag(*(found.uncertainties[name] for name in sorted(found.uncertainties)))
    assert all(
        np.linalg.norm(found.uncertainties[b.name], 2) <= b.bound + 1e-9
        for b in loop.delta
        if not b.parameter
    )
    inner = np.linalg.solve(np.eye(n_z) - G[:n_z, :n_w] @ d, G[:n_z, n_w:])
    assert np.linalg.norm(G[n_z:, n_w:] + G[n_z:, :n_w] @ d @ inner, 2) == pytest.approx(
        found.lower, rel=1e-6
    )


@pytest.mark.parametrize("analysis", [lg.robust_stability, lg.worst_case_gain])
def test_progress_comes_at_every_look_at_the_clock(analysis, monkeypatch):
    """Bounds in order, narrowing, many times on the way (at most two a second outside of this test)."""
    from lftgen.analysis.mu import frequencies

    monkeypatch.setattr(frequencies, "BETWEEN", 0.0)
    seen = []
    found = analysis(random_loop(4)[0], progress=lambda *bounds: seen.append(bounds))
    assert len(seen) > 20
    assert all(low <= high for low, high, _ in seen)
    assert seen[-1][:2] == pytest.approx((found.lower, found.upper))
