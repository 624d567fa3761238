"""Influence and gain sensitivities against closed forms and complex step."""

import numpy as np
import pytest

import lftgen as lg
from lftgen.analysis.frequencies import frequencies

K = lg.uncertain("k", 9.0, bounds=(4, 16))
M = lg.uncertain("m", 2.0, bounds=(1, 4))
PLANT = lg.ss([[0, 1], [-K / M, -0.2 / M]], [[0], [1 / M]], [[1, 0]], [[0]])


@pytest.mark.parametrize("omega", [0.0, 1.0, 2.1, 30.0])
def test_gain_sensitivity_in_closed_form(omega):
    """The response of a mass on a spring is 1/(k + 0.2 jw - m w^2): derivatives of its modulus."""
    got = lg.gain_sensitivity(PLANT, omega, k=9.0, m=2.0)
    stiffness = 9.0 - 2.0 * omega**2
    size = abs(stiffness + 0.2j * omega)
    assert got["k"] == pytest.approx(-stiffness / size**3, rel=1e-12)
    assert got["m"] == pytest.approx(stiffness * omega**2 / size**3, rel=1e-12, abs=1e-300)


def test_gain_sensitivity_of_several_inputs_by_cauchy():
    """A random system with two inputs and outputs: the derivative of the largest singular value, squared, is analytic."""
    rng = np.random.default_rng(3)
    p = lg.uncertain("p", 0.5, bounds=(-1, 1))
    A0, A1 = rng.normal(size=(2, 3, 3))
    B, C, D = rng.normal(size=(3, 2)), rng.normal(size=(2, 3)), rng.normal(size=(2, 2))
    to_matrix = [[A0[i, j] + p * A1[i, j] for j in range(3)] for i in range(3)]
    plant = lg.ss(to_matrix, B, C, D)
    w = 0.7

    def square(value):
        right = np.linalg.solve(1j * w * np.eye(3) - A0 - value * A1, B)
        left = np.linalg.solve(-1j * w * np.eye(3) - A0 - value * A1, B)
        G, H = C @ right + D, (C @ left + D).T  # H is the conjugate transpose, continued analytically
        product = H @ G
        trace, det = (
            product[0, 0] + product[1, 1],
            product[0, 0] * product[1, 1] - product[0, 1] * product[1, 0],
        )
        return (trace + np.sqrt(trace**2 / 4 - det) * 2) / 2

    base = square(0.5)
    # Cauchy's integral on a small circle: exact for analytic functions
    circle = 1e-2 * np.exp(2j * np.pi * np.arange(16) / 16)
    slope = np.mean([square(0.5 + z) / z for z in circle])
    want = slope.real / (2 * np.sqrt(base.real))
    assert lg.gain_sensitivity(plant, w, p=0.5)["p"] == pytest.approx(want, rel=1e-9)


def test_influence_scales_by_half_the_range():
    """Poles of -k x: half of the range of k moves the pole by half the range; the order is by importance."""
    k, weak = lg.uncertain("k", 3.0, bounds=(2, 6)), lg.uncertain("weak", 1.0, percent=0.1)
    found = lg.influence(lg.ss([[-k]], [[weak]], [[1]], [[0]]), {"k": [2.0, 5.0]})
    assert [row["parameter"] for row in found.rows()] == ["k", "weak"]
    assert found.poles[:, 0] == pytest.approx([2.0, 2.0])
    assert found.poles[:, 1] == pytest.approx([0.0, 0.0])
    assert found.gain[:, 0] == pytest.approx([2 / 2, 2 / 5])  # peak 1/k at zero frequency
    assert found.worst_point("k", "gain") == {"k": 2.0}
    assert "k" in str(found)
    assert "<table" in found._repr_html_()
    assert found.to_dict()["points"] == 2


def test_influence_without_gain_and_with_defective_poles():
    """An unstable model has no peak gain; a double pole moves infinitely fast."""
    k = lg.uncertain("k", 0.0, bounds=(-1, 1))
    found = lg.influence(lg.ss([[0, 1], [k, 0]], [[0], [1]], [[1, 0]], [[0]]), {"k": [0.0]})
    assert found.gain is None
    assert np.isinf(found.poles[0, 0])
    with pytest.raises(lg.ModelError, match="measure must be one of matrices, poles"):
        found.worst_point("k", "gain")


def test_wrong_calls_are_named():
    """No parameter, no LFT, unknown names."""
    with pytest.raises(lg.ModelError, match="has no parameter"):
        lg.influence(lg.ss([[-1]], [[1]], [[1]], [[0]]))
    with pytest.raises(lg.ModelError, match="plant must be a LFT"):
        lg.influence(3)
    with pytest.raises(lg.ModelError, match="unknown parameter 'x'"):
        lg.influence(PLANT, samples=2).worst_point("x")
    with pytest.raises(lg.ModelError, match="omega must be at least 0"):
        lg.influence(PLANT, omega=-1)


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ({"k": "a"}, "the values of k must hold real numbers"),
        (3, "points must be a dict"),
        ({"k": []}, "of one length N > 0"),
        ({"k": [[1.0, 2.0]]}, "of one length N > 0"),
    ],
)
def test_wrong_points_are_named(points, message):
    """Texts, no dict, nothing, tables."""
    with pytest.raises(lg.ModelError, match=message):
        lg.influence(PLANT, points)


@pytest.mark.parametrize("poles", [[np.nan], [-1, np.inf], ["a"], None])
def test_frequencies_of_no_numbers(poles):
    """An axis for poles that are none would be an invention."""
    with pytest.raises(lg.ModelError, match="frequencies: poles must be"):
        frequencies(poles)
