"""Figures: what is drawn is what the model says; wrong calls are named."""

import numpy as np
import pytest

import lftgen as lg
from lftgen.analysis.frequencies import frequencies
from lftgen.lft.responses import zeros

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

K = lg.uncertain("k", 9.0, bounds=(4, 16), unit="N/m")
M = lg.uncertain("m", 2.0, bounds=(1, 4))
PLANT = lg.ss(
    [[0, 1], [-K / M, -0.2 / M]], [[0], [1 / M]], [[1, 0]], [[0]], states=["x", "v"], inputs=["f"], outputs=["y"]
)  # fmt: skip
plots = lg.plotting


@pytest.fixture(autouse=True)
def _close():
    yield
    matplotlib.pyplot.close("all")


def lightly_damped(uncertain: bool):
    """Unit gain at zero frequency, damping ratio 1e-4 at 3.3 rad/s (within 10 %)."""
    w = lg.uncertain("w", 3.3, percent=10) if uncertain else 3.3
    return lg.ss([[0, w], [-w, -2e-4 * w]], [[0], [w]], [[1, 0]], [[0]])


def test_lightly_damped_peak_is_drawn_in_full():
    """The line of the nominal model reaches 5000 at 3.3 rad/s."""
    ax = plots.singular_values(lightly_damped(False))
    line = ax.get_lines()[0]
    assert max(line.get_ydata()) == pytest.approx(5000, rel=1e-4)
    assert line.get_xdata()[np.argmax(line.get_ydata())] == pytest.approx(3.3, rel=1e-6)


def test_envelope_reaches_the_peaks_of_all_points():
    """The uncertain frequency moves the peak over 2.97 to 3.63 rad/s; each drawn model has its full height."""
    points = {"w": np.linspace(2.97, 3.63, 12)}
    ax = plots.singular_values(lightly_damped(True), points)
    edge = ax.collections[0].get_paths()[0].vertices
    for w in points["w"]:
        near = edge[np.abs(edge[:, 0] - w) < 1e-6 * w]
        assert near[:, 1].max() == pytest.approx(5000, rel=1e-2)
    assert edge[:, 1].max() <= 5000.1


def test_frequencies_are_even_with_resonances():
    """Increasing, a decade beyond the poles, with each light pole's peak; heavy poles add none."""
    w = frequencies([-0.01 + 2j, -0.01 - 2j, -50.0])
    assert np.all(np.diff(w) > 0)
    assert w[0] == pytest.approx(0.2, rel=1e-4)
    assert w[-1] == pytest.approx(500)
    assert np.min(np.abs(w - np.sqrt(4 + 1e-4) * np.sqrt(1 - 2e-4 / (4 + 1e-4)))) < 1e-9
    assert len(frequencies([-1.0], per_decade=10)) == 21
    assert len(frequencies([])) > 10
    assert frequencies([0.0, 0.0, -1.0])[0] == pytest.approx(0.1)
    with pytest.raises(lg.ModelError, match="must go from a positive"):
        frequencies([-1.0], lower=5, upper=2)


def test_poles_drawn_are_the_poles():
    """All points and the nominal; colours are the parameter's values."""
    points = PLANT.sample(20, seed=1)
    ax = plots.pole_map(PLANT, points, color_by="k")
    drawn = ax.collections[0].get_offsets()
    want = PLANT.evaluate(points).poles().ravel()
    assert np.allclose(drawn[:, 0] + 1j * drawn[:, 1], want)
    assert np.allclose(ax.collections[0].get_array(), np.repeat(points["k"], 2))
    assert ax.figure.axes[1].get_ylabel() == "k (N/m)"


def test_zeros_in_closed_form():
    """(s + 3)/(s + 1)^2 and a square system with one zero at 2; more inputs than outputs are refused."""
    A, B = np.array([[[0.0, 1.0], [-1.0, -2.0]]]), np.array([[[0.0], [1.0]]])
    assert zeros(A, B, np.array([[[3.0, 1.0]]]), np.zeros((1, 1, 1)))[0] == pytest.approx([-3])
    assert zeros(A, B, np.array([[[3.0, 0.0]]]), np.zeros((1, 1, 1)))[0].size == 0
    assert sorted(zeros(A, B, np.array([[[3.0, 1.0]]]), np.ones((1, 1, 1)))[0].real) == pytest.approx(
        [-1.5, -1.5]
    )
    diagonal = np.diag([-1.0, -2.0])[None]
    rate = zeros(diagonal, np.eye(2)[None], np.eye(2)[None], np.array([[[0.0, 1.0], [0.25, 0.0]]]))[0]
    assert sorted(rate.real) == pytest.approx(
        sorted(np.roots([1, 3, 2 - 4])), rel=1e-9
    )  # det D^-1-like: (s+1)(s+2) = 4
    with pytest.raises(lg.ModelError, match="as many inputs as outputs"):
        zeros(A, np.zeros((1, 2, 2)), np.zeros((1, 1, 2)), np.zeros((1, 1, 2)))
    with pytest.raises(lg.ModelError, match="singular at every frequency"):
        zeros(A, 0 * B, np.array([[[3.0, 1.0]]]), np.zeros((1, 1, 1)))
    ax = plots.pole_map(lg.ss([[-K]], [[1]], [[K + 1]], [[1]]), {"k": [4.0, 10.0]}, zeros=True)
    assert np.allclose(sorted(ax.collections[1].get_offsets()[:, 0]), [-21, -9])


def test_map_over_two_parameters():
    """Entries, growth, damping and a function of one's own against their formulas."""
    ax = plots.parameter_map(PLANT, "k", "m", ("A", "v", "x"), points=5)
    k, m = np.linspace(4, 16, 5), np.linspace(1, 4, 5)
    assert np.allclose(ax.collections[0].get_array().reshape(5, 5), -k[None, :] / m[:, None])
    ax = plots.parameter_map(PLANT, "m", "k", "damping", points=5)
    assert np.allclose(ax.collections[0].get_array().reshape(5, 5), 0.1 / np.sqrt(k[:, None] * m[None, :]))
    ax = plots.parameter_map(PLANT, "m", "k", lambda s: s.B[:, 1, 0], points=4)
    assert ax.get_xlabel() == "m"
    one = plots.parameter_map(lg.ss([[-K]], [[1]], [[M]], [[0]]), "k", "m", "peak_gain", points=5)
    assert np.allclose(one.collections[0].get_array().reshape(5, 5), m[:, None] / k[None, :])


def test_structure_and_diagram():
    """Labels carry repetitions; every body, joint and parameter has its place."""
    ax = plots.delta_structure(PLANT)
    labels = [t.get_text() for t in ax.get_xticklabels()]
    assert labels[0] == "states (2)"
    assert labels[-1] == "inputs (1)"
    assert f"m ({PLANT.repetitions['m']})" in labels
    mechanism = lg.read_model("examples/branched_tree.yaml").mechanism
    texts = [t.get_text().split("\n")[0] for t in plots.block_diagram(mechanism).texts]
    assert {"ground", *(b.name for b in mechanism.bodies), *(j.name for j in mechanism.joints)} <= set(texts)
    bars = plots.influence_bars(lg.influence(PLANT, samples=4), "poles")
    assert [t.get_text() for t in bars.get_yticklabels()] in (["k", "m"], ["m", "k"])


def test_axes_may_be_given():
    """Every figure draws into the axes it is given and returns them."""
    _, axes = matplotlib.pyplot.subplots(3, 2)
    found = lg.influence(PLANT, samples=4)
    body = lg.RigidBody("b", mass=1, com=(0, 0, -1))
    single = lg.Mechanism(
        "s", bodies=[body], joints=[lg.RevoluteJoint("j", parent="ground", child="b", axis=(1, 0, 0))]
    )
    calls = [
        lambda ax: plots.pole_map(PLANT, 5, ax=ax),
        lambda ax: plots.singular_values(PLANT, 5, ax=ax, decibels=True),
        lambda ax: plots.parameter_map(PLANT, "k", "m", points=3, ax=ax),
        lambda ax: plots.delta_structure(PLANT, ax=ax),
        lambda ax: plots.influence_bars(found, ax=ax),
        lambda ax: plots.block_diagram(single, ax=ax),
    ]
    for call, ax in zip(calls, axes.ravel(), strict=True):
        assert call(ax) is ax


WRONG = {
    "no states": (lambda: plots.pole_map(lg.realize([[K]])), "has no states"),
    "no plant": (lambda: plots.singular_values(3), "plant must be a LFT"),
    "unknown colour": (lambda: plots.pole_map(PLANT, 5, color_by="q"), "unknown parameter 'q'"),
    "axes": (lambda: plots.pole_map(PLANT, 5, ax=3), "ax must be matplotlib axes"),
    "points": (lambda: plots.pole_map(PLANT, 0), "points must be"),
    "one parameter twice": (lambda: plots.parameter_map(PLANT, "k", "k"), "choose two parameters"),
    "quantity": (lambda: plots.parameter_map(PLANT, "k", "m", "size"), "unknown quantity 'size'"),
    "entry": (lambda: plots.parameter_map(PLANT, "k", "m", ("A", "v", "y")), "A has no 'y'"),
    "function": (lambda: plots.parameter_map(PLANT, "k", "m", lambda s: s.A), "must return"),
    "measure": (lambda: plots.influence_bars(lg.influence(PLANT, samples=2), "size"), "measure must be"),
    "mechanism": (lambda: plots.block_diagram(PLANT), "must be a Mechanism"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_calls_are_named(case):
    """Each says what was expected."""
    call, message = WRONG[case]
    with pytest.raises(lg.LftgenError, match=message):
        call()
