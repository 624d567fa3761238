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
    assert (P.w, P.u, P.z, P.y) == (("r",), ("f",), ("x_error", "f"), ("x_error",))
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
        ({"references": {"r": "q"}}, "unknown output 'q'"),
    ],
)
def test_wrong_calls_are_named(changes, message):
    """Signals, weights, references."""
    with pytest.raises(lg.ModelError, match=message):
        tracking(**changes)


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
    with pytest.raises(lg.ModelError, match="at least one of the weights"):
        lg.mixsyn(SCALAR)
