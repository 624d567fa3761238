"""Samples, responses and labelled grids against point-by-point evaluation and closed forms."""

import control
import numpy as np
import pytest

import lftgen as lg

M = lg.uncertain("m", 2.0, bounds=(1, 4), unit="kg")
K = lg.uncertain("k", 9.0, bounds=(4, 16))
PLANT = lg.ss(
    [[0, 1], [-K / M, -0.2 / M]], [[0], [1 / M]], [[1, 0]], [[0]], states=["x", "v"], inputs=["f"], outputs=["y"]
)  # fmt: skip


@pytest.mark.parametrize("method", ["uniform", "sobol", "latin"])
def test_samples_fill_the_box_and_repeat(method):
    """In the range, the same for a seed, other for another; each half of each range gets its share."""
    points = PLANT.sample(200, method=method, seed=4)
    for name, p in (("m", M), ("k", K)):
        assert points[name].shape == (200,)
        assert np.all((points[name] >= p.lower) & (points[name] <= p.upper))
        assert 0.35 < np.mean(points[name] < (p.lower + p.upper) / 2) < 0.65
        assert np.array_equal(points[name], PLANT.sample(200, method=method, seed=4)[name])
        assert not np.array_equal(points[name], PLANT.sample(200, method=method, seed=5)[name])


def test_corners_are_all_or_as_many_as_asked():
    """Four corners of two parameters, exactly at the bounds; of many parameters distinct ones."""
    corners = PLANT.sample(100, method="corners")
    assert sorted(zip(corners["m"], corners["k"], strict=True)) == [(1, 4), (1, 16), (4, 4), (4, 16)]
    many = lg.realize([[sum(lg.uncertain(f"p{i}", 1.0, percent=1 + i) for i in range(12))]])
    table = np.array(list(many.sample(500, method="corners", seed=1).values())).T
    assert table.shape == (500, 12)
    assert len(np.unique(table, axis=0)) == 500


def test_monte_carlo_poles_and_responses():
    """Poles and response of a mass on a spring from their formulas."""
    points = PLANT.sample(50, seed=2)
    models = PLANT.evaluate(points)
    m, k = points["m"], points["k"]
    root = np.sqrt(0.04 - 4 * m * k + 0j)
    want = np.stack([(-0.2 - root) / (2 * m), (-0.2 + root) / (2 * m)], axis=1)
    assert np.allclose(models.poles(), np.sort(want, axis=1), rtol=1e-12)
    w = np.array([0.0, 1.5, 40.0])
    exact = 1 / (k[:, None] + 0.2j * w - m[:, None] * w**2)
    response = models.frequency_response(w)
    assert response.shape == (50, 1, 1, 3)
    assert np.allclose(response[:, 0, 0], exact, rtol=1e-12)
    assert np.allclose(models.singular_values(w)[:, 0], abs(exact), rtol=1e-12)


def test_response_of_several_inputs_is_python_controls():
    """The same axes and values as control.StateSpace.frequency_response."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(1, 3, 3)) - 3 * np.eye(3)
    B, C, D = rng.normal(size=(1, 3, 2)), rng.normal(size=(1, 4, 3)), rng.normal(size=(1, 4, 2))
    w = [0.1, 1.0, 7.0]
    want = control.ss(A[0], B[0], C[0], D[0]).frequency_response(w).complex
    got = lg.lft.evaluation.StateSpaceArrays(A, B, C, D).frequency_response(w)
    assert np.allclose(got[0], want, rtol=1e-12)


def test_pole_on_the_axis_is_named():
    """An undamped oscillator has no response at its own frequency."""
    free = lg.ss([[0, 1], [-K, 0]], [[0], [1]], [[1, 0]], [[0]]).evaluate({"k": [4.0, 9.0]})
    with pytest.raises(lg.IllPosedError, match="point 1 has a pole on the imaginary axis at 3 rad/s"):
        free.frequency_response([1.0, 3.0])
    assert np.allclose(free.frequency_response([1.0])[:, 0, 0, 0], [1 / 3, 1 / 8])
    for wrong in (["a"], [np.nan], [-1.0]):
        with pytest.raises(lg.ModelError, match="frequencies must be"):
            free.frequency_response(wrong)


def test_grid_is_every_point():
    """Each point of a grid is what at() gives there, with names, units and fixed parameters."""
    grid = PLANT.grid(k=[4.0, 9.0, 16.0], m=[1.0, 3.5])
    assert grid.A.dims == ("k", "m", "state", "state_from")
    assert grid.m.units == "kg"
    for k in (4.0, 16.0):
        here = grid.sel(k=k, m=3.5)
        system = PLANT.at(k=k, m=3.5)
        for name in "ABCD":
            assert np.allclose(here[name], getattr(system, name), rtol=1e-14)
        assert np.allclose(np.sort(system.poles()), here.poles, rtol=1e-12)
    assert grid.A.sel(k=4, m=1, state="v", state_from="x").item() == pytest.approx(-4)
    fixed = PLANT.grid({"m": 4.0}, k=[4, 5])
    assert fixed.m.item() == 4.0
    assert PLANT.grid(k=[4, 5]).m.item() == M.nominal


def test_peak_gain_of_a_grid_is_the_true_peak():
    """A lightly damped peak in closed form: between the frequencies of any grid."""
    grid = PLANT.grid(k=[4.0, 9.0], m=[1.0, 2.0], quantities=["peak_gain"])
    zeta = 0.2 / (2 * np.sqrt(grid.k * grid.m))
    assert np.allclose(grid.peak_gain, 1 / (grid.k * 2 * zeta * np.sqrt(1 - zeta**2)), rtol=1e-6)
    assert np.allclose(grid.peak_frequency, np.sqrt(grid.k / grid.m * (1 - 2 * zeta**2)), rtol=1e-4)
    assert set(grid.data_vars) == {"peak_gain", "peak_frequency"}


@pytest.mark.parametrize("chunks", [2, {"k": 3, "m": 1}, {"m": 2}])
def test_chunks_change_nothing(chunks):
    """Dask-backed variables have the same values."""
    xarray = pytest.importorskip("xarray")
    axes = {"k": np.linspace(4, 16, 7), "m": [1.0, 2.0, 4.0]}
    lazy = PLANT.grid(axes, chunks=chunks)
    assert lazy.A.chunks is not None
    xarray.testing.assert_identical(PLANT.grid(axes), lazy.compute())


def test_grids_of_small_models():
    """Without states, without parameters, without inputs; a parameter that is named like a variable."""
    A = lg.uncertain("A", 1.0, percent=50)
    value = lg.realize([[A, 2]], outputs=["y"], inputs=["a", "b"]).grid(A=[0.5, 1.0])
    assert value.value.sel(A_parameter=0.5, input="a").item() == 0.5
    constant = lg.ss([[-1]], [[1]], [[1]], [[0]]).grid()
    assert constant.A.shape == (1, 1)
    assert constant.poles.item() == -1
    blind = lg.ss([[-M]], np.zeros((1, 0)), [[1]], np.zeros((1, 0))).grid(m=[1, 2])
    assert blind.B.shape == (2, 1, 0)


@pytest.mark.parametrize(
    ("axes", "options", "message"),
    [
        ({"mass": [1, 2]}, {}, "unknown parameter 'mass'"),
        ({"m": [1, 9]}, {}, "m = 9 kg is outside its range"),
        ({"m": [2, 1, 3]}, {}, "m: an axis of a grid is a list of increasing or decreasing"),
        ({"m": []}, {}, "m: an axis"),
        ({"m": [[1, 2]]}, {}, "m: an axis"),
        ({"m": "12"}, {}, "m: expected real numbers"),
        ({"m": [1, 2]}, {"quantities": ["E"]}, "unknown quantity 'E'"),
        ({"m": [1, 2]}, {"quantities": "A"}, "quantities must be a list"),
        ({"m": [1, 2]}, {"quantities": []}, "quantities is empty"),
        ({"m": [1, 2]}, {"chunks": 0}, "chunks of m must be"),
        ({"m": [1, 2]}, {"chunks": {"k": 2}}, "unknown parameter 'k'"),
    ],
)
def test_wrong_grids_are_named(axes, options, message):
    """Names, ranges, orders, quantities and chunks."""
    with pytest.raises(lg.LftgenError, match=message):
        PLANT.grid(axes, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 0}, "n must be"),
        ({"n": 2.5}, "n must be"),
        ({"n": 3, "seed": -1}, "seed must be"),
        ({"n": 3, "method": "grid"}, "method must be one of"),
    ],
)
def test_wrong_samples_are_named(options, message):
    """Counts, seeds and methods."""
    with pytest.raises(lg.ModelError, match=message):
        PLANT.sample(**options)


@pytest.mark.heavy
def test_grid_on_a_cluster():
    """A local dask.distributed cluster of two processes computes the same bits."""
    distributed = pytest.importorskip("distributed")
    axes = {"k": np.linspace(4, 16, 40), "m": np.linspace(1, 4, 30)}
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster),
    ):
        far = PLANT.grid(axes, chunks=10).compute()
    near = PLANT.grid(axes, chunks=10).compute()
    for name in near.data_vars:
        assert np.array_equal(near[name].values, far[name].values)
