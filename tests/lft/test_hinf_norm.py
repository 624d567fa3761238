"""The H-infinity norm: closed forms, lightly damped peaks, SLICOT's own norm, and what it says of unstable systems."""

import numpy as np
import pytest

import lftgen as lg
from lftgen.lft.hinf_norm import gains, hinf_norm, linf_norm


def _resonance(w, zeta):
    return (
        np.array([[0, 1], [-w * w, -2 * zeta * w]]),
        np.array([[0], [w * w]]),
        np.eye(1, 2),
        np.zeros((1, 1)),
    )


def _random(seed, n, m, p, direct=True):
    """A random stable system with modes over four decades, some of them lightly damped."""
    rng = np.random.default_rng(seed)
    blocks = [
        np.array([[-z * w, w], [-w, -z * w]])
        for w, z in zip(10 ** rng.uniform(-2, 2, n // 2), 10 ** rng.uniform(-4, 0, n // 2), strict=True)
    ]
    A = np.zeros((n, n))
    for i, b in enumerate(blocks):
        A[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = b
    T = np.linalg.qr(rng.standard_normal((n, n)))[0]
    D = rng.standard_normal((p, m)) if direct else np.zeros((p, m))
    return T @ A @ T.T, T @ rng.standard_normal((n, m)), rng.standard_normal((p, n)) @ T.T, D


@pytest.mark.parametrize("w", [1e-3, 3.3, 1e5])
@pytest.mark.parametrize("zeta", [1e-6, 1e-4, 0.01, 0.3, 0.7])
def test_resonance(w, zeta):
    """A mode of damping ratio z peaks at 1/(2 z sqrt(1 - z^2)), at w sqrt(1 - 2 z^2)."""
    norm, frequency = hinf_norm(*_resonance(w, zeta))
    assert norm == pytest.approx(1 / (2 * zeta * np.sqrt(1 - zeta**2)), rel=1e-9)
    assert frequency == pytest.approx(w * np.sqrt(1 - 2 * zeta**2), rel=1e-4)


def test_closed_forms():
    """A gain, a low pass, a high pass, an all pass, two modes of almost the same height, a zero system."""
    one = np.ones((1, 1))
    assert hinf_norm(np.zeros((0, 0)), np.zeros((0, 2)), np.zeros((1, 0)), [[3.0, 4.0]]) == (5.0, 0.0)
    assert hinf_norm(-2 * one, one, 6 * one, 0 * one) == (3.0, 0.0)
    assert hinf_norm(-one, one, -one, one) == (1.0, np.inf)
    assert hinf_norm(-one, one, -2 * one, one)[0] == pytest.approx(1.0, rel=1e-12)
    assert hinf_norm(-one, one, 0 * one, 0 * one) == (0.0, 0.0)
    assert hinf_norm(-one, np.zeros((1, 0)), one, np.zeros((1, 0))) == (0.0, 0.0)
    low, high = _resonance(1.0, 1e-3), _resonance(50.0, 1e-3 * (1 - 1e-6))
    A = np.block([[low[0], np.zeros((2, 2))], [np.zeros((2, 2)), high[0]]])
    B = np.block([[low[1], np.zeros((2, 1))], [np.zeros((2, 1)), high[1]]])
    C = np.block([[low[2], np.zeros((1, 2))], [np.zeros((1, 2)), high[2]]])
    norm, frequency = hinf_norm(A, B, C, np.zeros((2, 2)))
    assert norm == pytest.approx(1 / (2e-3 * (1 - 1e-6)), rel=1e-6)
    assert frequency == pytest.approx(50.0, rel=1e-3)


def test_notch_that_hides_the_peak_from_the_resonances():
    """The loop of gain 2 around a delay-like chain peaks away from every pole; a fine grid is the truth."""
    n = 12
    A = -np.eye(n) + np.diag(np.ones(n - 1), -1)
    A[0, -1] = -1.02
    B, C = np.eye(n, 1), np.eye(1, n, n - 1)
    norm, frequency = hinf_norm(A, B, C, np.zeros((1, 1)))
    grid = gains(A, B, C, np.zeros((1, 1)), np.linspace(0, 3, 40001))
    assert grid.max() <= norm * (1 + 1e-12)
    assert norm == pytest.approx(grid.max(), rel=1e-5)
    assert gains(A, B, C, np.zeros((1, 1)), frequency)[0] == pytest.approx(norm, rel=1e-12)


@pytest.mark.parametrize("seed", range(12))
def test_against_slicot(seed):
    """AB13DD of SLICOT through python-control gives the same norm; the gain at the frequency is the norm."""
    pytest.importorskip("slycot")
    control = pytest.importorskip("control")
    n, m, p = [(4, 1, 1), (12, 3, 2), (30, 2, 4), (8, 2, 2)][seed % 4]
    system = _random(seed, n, m, p, direct=seed % 2 == 0)
    norm, frequency = hinf_norm(*system)
    theirs, _ = control.linfnorm(control.ss(*system))
    assert norm == pytest.approx(theirs, rel=1e-8)
    assert gains(*system, frequency)[0] == pytest.approx(norm, rel=1e-9)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_badly_scaled(scale):
    """The norm does not depend on the units of the states, and follows those of inputs and outputs."""
    A, B, C, D = _random(3, 8, 2, 2)
    norm, _ = hinf_norm(A, B, C, D)
    T = np.diag(np.geomspace(1, 1e8, 8))
    again, _ = hinf_norm(T @ A @ np.linalg.inv(T), T @ B * scale, C @ np.linalg.inv(T), D * scale)
    assert again == pytest.approx(norm * scale, rel=1e-7)


def test_unstable():
    """Not stable: infinite, at the rightmost pole's frequency; the axis has a gain all the same unless a pole is on it."""
    A = np.array([[0.5, 3.0], [-3.0, 0.5]])
    system = A, np.eye(2), np.eye(2), np.zeros((2, 2))
    assert hinf_norm(*system) == (np.inf, pytest.approx(3.0))
    assert linf_norm(*system)[0] == pytest.approx(2.0)
    integrator = np.zeros((1, 1)), np.eye(1), np.eye(1), np.zeros((1, 1))
    assert hinf_norm(*integrator) == (np.inf, 0.0)
    assert linf_norm(*integrator) == (np.inf, 0.0)


def test_bad_input():
    """Shapes and NaN are named."""
    with pytest.raises(lg.ModelError, match="do not fit"):
        hinf_norm(np.eye(2), np.ones((1, 1)), np.ones((1, 2)), [[0]])
    with pytest.raises(lg.ModelError, match="NaN"):
        hinf_norm([[np.nan]], [[1]], [[1]], [[0]])
    with pytest.raises(lg.ModelError, match="matrices"):
        hinf_norm(1.0, 1.0, 1.0, 0.0)


def test_peak_beside_a_large_feedthrough():
    """A peak 5 % above the gain at infinity, where no resonance points to it (the Hamiltonian is singular at that level).

    Missile autopilot AC4 of COMPleib (F. Leibfritz, 2004) under a static gain; the gains of a fine grid know better.
    """
    gain = np.array([[-0.29406349, -0.07395263]])
    A = np.array([[-0.876, 1, -0.1209, 0], [8.9117, 0, -130.75, 0], [0, 0, -150, 0], [-1, 0, 0, -0.05]])
    B, C2, D21 = np.array([[0], [0], [150.0], [0]]), np.eye(2, 4) * -1, np.array([[0, 1], [0.01, 0]])
    B1 = np.array([[0, 0], [0, 0], [0, 0], [0, 1.0]])
    C1, D11 = np.array([[-0.25, 0, 0, 3.487], [0, 0, -3, 0]]), np.array([[0, 0.25], [0, 0]])
    D12 = np.array([[0], [3.0]])
    loop = (A + B @ gain @ C2, B1 + B @ gain @ D21, C1 + D12 @ gain @ C2, D11 + D12 @ gain @ D21)
    norm, frequency = hinf_norm(*loop)
    grid = gains(*loop, np.geomspace(0.3, 1.0, 4001))
    assert norm == pytest.approx(grid.max(), rel=1e-6)
    assert norm == pytest.approx(0.963153, rel=1e-6)
    assert frequency == pytest.approx(0.58, rel=1e-2)


@pytest.mark.parametrize("rise", [0.03, 1e-3, 1e-5, 1e-8])
def test_peaks_just_above_the_feedthrough(rise):
    """1 + rise s w / (s^2 + 2 w s + w^2) x 2: the peak is 1 + rise at w, however little that is."""
    w = 3.0
    A, B, C = [[0, 1], [-w * w, -2 * w]], [[0], [1]], [[0, 2 * rise * w]]
    norm, frequency = hinf_norm(A, B, C, [[1.0]])
    assert norm == pytest.approx(1 + rise, rel=1e-10)
    assert frequency == pytest.approx(w, rel=1e-3)


def test_gains_beside_a_pole_on_the_axis():
    """1/(s^2 + 1): infinite at 1 rad/s and there alone."""
    found = gains([[0, 1], [-1, 0]], [[0], [1]], [[1, 0]], [[0]], [1.0, 2.0, 0.0])
    assert found == pytest.approx([np.inf, 1 / 3, 1.0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: hinf_norm("a", [[1]], [[1]], [[0]]), "A must hold real numbers"),
        (lambda: hinf_norm([[-1]], [[1j]], [[1]], [[0]]), "B must hold real numbers"),
        (lambda: hinf_norm([[-1]], [[1]], [[1]], [[0]], rtol=-1), "rtol must be at least 0"),
        (lambda: gains([[-1]], [[1]], [[1]], [[0]], ["a"]), "frequencies must hold real"),
        (lambda: gains([[-1]], [[1]], [[1]], [[0]], [np.nan]), "frequencies must be a list"),
    ],
)
def test_no_numbers_are_named(call, message):
    """Texts, complex entries, NaN."""
    with pytest.raises(lg.ModelError, match=message):
        call()
