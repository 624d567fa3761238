"""Tensor grids: whatever axes come first or last, every point is what the direct solution gives there."""

import itertools

import numpy as np
import pytest
import sympy as sp

import lftgen as lg
from lftgen.lft.evaluation.many import MANY
from lftgen.lft.evaluation.nodes import Nodes
from lftgen.lft.evaluation.points import deltas, numeric, solve_points
from lftgen.lft.evaluation.tensor import grid_of
from tests.strategies import planar_arm

M1, M2 = lg.uncertain("m1", 2.0, percent=20), lg.uncertain("m2", 1.0, percent=20)
Q1, Q2 = lg.scheduled_angle("q1", (-1.5, 1.5)), lg.scheduled_angle("q2", (-1.5, 1.5))
ARM = planar_arm(M1, M2, q1=Q1, q2=Q2, damping=0.1).linearize()
P, R = lg.uncertain("p", 1.0, bounds=(-1, 2)), lg.uncertain("r", 0.5, bounds=(-1, 1))
T = lg.scheduled_angle("t", (-1.2, 1.2))
COUPLED = lg.ss(
    [[0, 1], [-sp.cos(T) ** 2 / (P + R), -1 / (P + R)]], [[0], [1 / (P + R)]], [[1, 0]], [[0]],
    states=["x", "v"], inputs=["u"], outputs=["y"],
)  # fmt: skip


def whole(value):
    """``[A B; C D]`` at all points."""
    return value if isinstance(value, np.ndarray) else np.block([[value.A, value.B], [value.C, value.D]])


def direct(model, axes):
    """The direct solution at all points of a grid."""
    shape = tuple(len(v) for v in axes.values())
    points = dict(zip(axes, (x.ravel() for x in np.meshgrid(*axes.values(), indexing="ij")), strict=True))
    a = numeric(model.data)
    value, bad = solve_points(a, deltas(a, points)[1], int(np.prod(shape)))
    assert bad is None
    return value.reshape(*shape, *value.shape[1:])


def difference(got, want):
    """Largest difference relative to the largest entry."""
    return np.abs(whole(got) - want).max() / np.abs(want).max()


AXES = {"q1": np.linspace(-1.5, 1.4, 40), "q2": np.linspace(-1.1, 1.5, 30), "m2": np.linspace(0.8, 1.2, 3)}


@pytest.mark.parametrize("order", list(itertools.permutations(AXES)))
def test_any_order_of_the_axes(order):
    """The mass matrix does not know the first angle: that axis comes last in the work, wherever it stands."""
    axes = {k: AXES[k] for k in order}
    nodes = Nodes.of(ARM.data, grid_of(ARM.data, axes))
    assert [k for k, last in zip(order, nodes.last, strict=True) if last] == ["q1"]
    assert difference(ARM.evaluate_grid(axes), direct(ARM, axes)) < 1e-13


@pytest.mark.parametrize(("names", "last"), [(("q2", "m1"), []), (("q1",), ["q1"]), (("m2", "q1"), ["q1"])])
def test_long_and_thin_grids(names, last):
    """One long axis, with others beside it; longer than what is worked on at once."""
    sizes = {"q1": 21_000, "q2": 9_001, "m1": 3, "m2": 2}
    axes = {
        k: np.linspace(*next((p.lower, p.upper) for p in ARM.parameters if p.name == k), sizes[k])
        for k in names
    }
    nodes = Nodes.of(ARM.data, grid_of(ARM.data, axes))
    assert [k for k, is_last in zip(names, nodes.last, strict=True) if is_last] == last
    assert difference(ARM.evaluate_grid(axes), direct(ARM, axes)) < 1e-13


def test_constant_entries_of_a_grid():
    """Kinematic ones and zeros are exact, C and D stored once; the arrays of one port follow the grid's order."""
    value = ARM.evaluate_grid(AXES)
    assert np.all(value.A[..., :2, :] == [[0, 0, 1, 0], [0, 0, 0, 1]])
    assert np.all(value.B[..., :2, :] == 0)
    assert value.C.strides[:3] == (0, 0, 0)
    assert value.A[..., 3, 0].flags.c_contiguous


def test_a_corner_that_is_singular_on_a_whole_line():
    """p + r = 0 at every angle: the first such point is named; beside it the values are the formula's."""
    angles, p = np.linspace(-1.2, 1.2, 60), np.linspace(-1, 2, 31)
    axes = {"t": angles, "p": p, "r": [-0.3, 0.4]}
    grid = grid_of(COUPLED.data, axes)
    nodes = Nodes.of(COUPLED.data, grid)
    assert nodes.plan.exchange is not None
    assert nodes.last.tolist() == [True, False, False]
    with pytest.raises(lg.IllPosedError, match=r"p = -0.4 .*r = 0.4 .*t = -1.2 "):
        COUPLED.evaluate_grid(axes)
    axes["r"] = [-0.3 + 1e-9, 0.4 - 1e-9]
    got = COUPLED.evaluate_grid(axes).A[..., 1, 0]
    total = p[:, None] + np.array(axes["r"])
    want = -(np.cos(angles)[:, None, None] ** 2) / total
    assert np.abs(got / want - 1).max() < 1e-6  # p + r = 1e-9 has lost its digits
    far = np.abs(total) > 0.01
    assert np.abs(got / want - 1)[:, far].max() < 1e-13


@pytest.mark.parametrize("points", [1, 7, 1000])
def test_chunks_of_any_size(points):
    """Single points, thin slices, big pieces: with the axis that comes last cut as well."""
    axes = {"q1": AXES["q1"][:23], "q2": AXES["q2"][:13], "m2": AXES["m2"]}
    assert np.prod([len(v) for v in axes.values()]) > MANY
    want, got = direct(ARM, axes), None
    got = np.full_like(want, np.nan)
    for part, value in ARM.grid_chunks(axes, points=points):
        got[part] = whole(value)
    assert np.abs(got - want).max() < 1e-13 * np.abs(want).max()
