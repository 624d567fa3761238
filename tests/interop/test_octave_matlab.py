"""The MATLAB door in Octave: the exported functions run on stand-ins and give the model back at every point."""

import warnings

import numpy as np
import pytest
import scipy.io
import sympy as sp

import lftgen as lg
from tests.interop.octave_runner import run
from tests.strategies import (
    ANGLE,
    COMPLEX,
    FULL,
    FULL_REAL,
    LENGTH,
    MASS,
    QUARTER,
    error,
    ports,
    random_lft,
    random_point,
)

pytestmark = pytest.mark.heavy
POINTS = 20
TOLERANCE = 1e-10
CONSTANT = lg.uncertain("fixed", 3.0, bounds=(3.0, 3.0))
EDGE = lg.uncertain("edge", 1.0, bounds=(1.0, 2.0))
NEGATIVE = lg.scheduled("v", (-3.0, -1.0), nominal=-1.5)
ODD = [
    lg.uncertain(n, 1.0, percent=20) for n in ("end", "_x", "a-b", "a.b", "a_b", "n" * 70, "n" * 71, "t_rue")
]
ODD += [lg.scheduled_angle("θ", (-1, 2)), lg.uncertain("theta_t", 1.0, percent=5)]


def _random(seed, shape, **options):
    return random_lft(np.random.default_rng(seed), shape, **options)


def _arm():
    from lftgen import read_model

    return read_model("examples/two_link_arm.yaml").linearize()


ALL = [(MASS, 2), (LENGTH, 1), (ANGLE, 1), (QUARTER, 2)]
MODELS = {
    "two_link_arm": _arm,
    "everything": lambda: _random(1, (2, 3), states=3, parameters=[*ALL, (CONSTANT, 1), (EDGE, 2), (NEGATIVE, 1)]),
    "skewed": lambda: _random(2, (2, 2), states=2, parameters=ALL).normalized(),
    "recentred": lambda: _random(2, (2, 2), states=2, parameters=ALL).normalized(recenter=True),
    "blocks": lambda: _random(3, (2, 2), states=2, parameters=[(MASS, 1)], others=[FULL, COMPLEX]),
    "blocks_matrix": lambda: _random(4, (2, 2), parameters=[(MASS, 1)], others=[FULL, COMPLEX, FULL_REAL]),
    "odd_names": lambda: _random(5, (2, 1), states=1, parameters=[(p, 1) for p in (*ODD, ANGLE)]).rename(
        inputs=["it's"], outputs=["a%b", "two\nlines"], states=["x[0]"]
    ),
    "no_repetitions": lambda: _random(6, (2, 2), states=2, parameters=[(MASS, 0), (ANGLE, 0)]),
    "no_parameters": lambda: _random(7, (2, 2), states=2),
    "number": lambda: lg.realize([[2.5]]),
    "one_by_one": lambda: lg.realize([[1 / MASS]]),
    "no_outputs": lambda: _random(8, (0, 3), parameters=[(MASS, 2)]),
    "no_inputs": lambda: _random(9, (3, 0), parameters=[(MASS, 2)]),
    "autonomous": lambda: _random(10, (0, 0), states=3, parameters=[(MASS, 2), (ANGLE, 1)]),
    "no_outputs_states": lambda: _random(11, (0, 2), states=2, parameters=[(MASS, 2)]),
    "exact": lambda: _random(12, (2, 2), states=2, parameters=ALL, exact=True),
    "awkward_numbers": lambda: lg.realize(np.array([[1e-310, 1.7e308, 0.1 + 0.2, np.nextafter(1, 2), -1 / 3]])),
}  # fmt: skip


@pytest.fixture(scope="module")
def octave(tmp_path_factory):
    """All models written, run in one Octave, and what came back."""
    folder = tmp_path_factory.mktemp("matlab")
    models, points = {name: make() for name, make in MODELS.items()}, {}
    for name, model in models.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", lg.ModelWarning)
            lg.to_matlab(model, folder / name)
        beside = scipy.io.loadmat(folder / f"{name}.mat", simplify_cells=True)
        renamed = {b["name"]: b["matlab_name"] for b in np.atleast_1d(beside["blocks"])}
        rng = np.random.default_rng(99)
        points[name] = [random_point(rng, model) for _ in range(POINTS)]
        cells = np.empty((1, POINTS), dtype=object)
        for k, point in enumerate(points[name]):
            cells[0, k] = {renamed[n]: v for n, v in point.items()} or {"none": 0.0}
        scipy.io.savemat(folder / f"{name}_points.mat", {"points": cells}, long_field_names=True)
    printed = run("\n".join(f"lftgen_evaluate('{folder}', '{name}');" for name in models), folder)
    assert printed.count("DONE") == len(models) + 1
    results = {n: scipy.io.loadmat(folder / f"{n}_result.mat", simplify_cells=False) for n in models}
    return models, points, results


@pytest.mark.parametrize("name", MODELS)
def test_values_at_points(name, octave):
    """The uncertain object at twenty points is the model there, states, inputs and outputs in order."""
    models, points, results = octave
    for k, point in enumerate(points[name]):
        got = results[name]["results"][0, k]
        want = ports(models[name], point)
        assert got.shape == want.shape
        assert error(got, want) < TOLERANCE


@pytest.mark.parametrize("name", MODELS)
def test_matrix_and_structure_beside(name, octave):
    """Octave reads the MAT-file: M to the last bit, the blocks with their maps and names."""
    model, beside = octave[0][name], octave[2][name]["beside"][0, 0]
    M = np.array(model.to_float().M)
    assert np.array_equal(beside["M"].reshape(M.shape), M)
    blocks = [b[0, 0] for b in beside["blocks"].ravel()]
    for got, block in zip(blocks, model.delta, strict=True):  # Octave 7 reads one byte a letter from UTF-8
        assert got["name"].item() == block.name or not block.name.isascii()
    assert [int(b["repetitions"].item()) for b in blocks] == [b.repetitions for b in model.delta]
    for got, block in zip(blocks, model.delta, strict=True):
        if block.parameter is not None:
            maps = [float(got[k].item()) for k in ("origin", "scale", "skew")]
            assert maps == [block.map.origin, block.map.scale, block.map.skew]
            assert tuple(got["coordinate_range"].ravel()) == block.parameter.coordinate_bounds


@pytest.mark.parametrize("name", MODELS)
def test_names(name, octave):
    """Names of states, inputs, outputs and of every element go over; the map from lftgen's names is one to one."""
    model, result = octave[0][name], octave[2][name]
    for what in ("states", "inputs", "outputs"):
        assert [str(v.item()) for v in result[what].ravel()] == list(getattr(model, what))
        key = f"system_{what}"
        if key in result and getattr(model, what):
            assert [str(v.item()) for v in result[key].ravel()] == list(getattr(model, what))
    names = result["names"]
    assert [str(v.item()) for v in names[:, 0]] == [b.name for b in model.delta]
    assert len({str(v.item()) for v in names[:, 1]}) == len(model.delta)
    assert all(abs(np.max(np.abs(v))) < 1e-13 for v in result["back"].ravel())


def test_ranges_of_elements(octave):
    """A skewed nominal stays the ureal's nominal; an angle's element has the range of t; an edge is moved inside."""
    ranges = octave[2]["everything"]["ranges"][0, 0]
    nominals = octave[2]["everything"]["nominals"][0, 0]
    assert tuple(ranges["m"].ravel()) == (1.0, 4.0)
    assert nominals["m"].item() == 2.0
    assert tuple(ranges["theta_t"].ravel()) == ANGLE.coordinate_bounds
    assert nominals["theta_t"].item() == ANGLE.coordinate_nominal
    assert nominals["edge"].item() == 1.5
    assert "fixed" not in ranges.dtype.names


def test_normalisation_of_matlab_is_that_of_lftgen():
    """The fraction with -1, 0, 1 at lower end, nominal and upper end is unique, so lftdata's is normalized()'s."""
    low, high, nominal, x = sp.symbols("low high nominal x")
    a, b, d = sp.symbols("a b d")  # F = (a + b x) / (1 + d x)
    F = (a + b * x) / (1 + d * x)
    conditions = [sp.numer(sp.together(F.subs(x, v) - w)) for v, w in ((low, -1), (nominal, 0), (high, 1))]
    solution = sp.solve(conditions, [a, b, d], dict=True)
    assert len(solution) == 1
    block = lg.realize([[MASS]]).normalized().delta[0]
    f = sp.lambdify(x, F.subs(solution[0]).subs({low: 1, high: 4, nominal: 2}))
    for value in np.linspace(1, 4, 7):
        assert abs(f(value) - block.map.delta(value)) < 1e-14
