"""What may stand beside an LFT, what happens to names, empty systems, and that nothing changes under its user."""

import copy
import pickle

import control
import numpy as np
import pytest
import sympy as sp

import lftgen as lg
from tests.strategies import ANGLE, COMPLEX, FULL, LENGTH, MASS, error, gain, ports, random_lft, random_point

RNG = np.random.default_rng(11)
SYMBOLIC = sp.Matrix([[MASS, 1], [0, 1 / LENGTH]])
SYSTEM = control.ss([[-2.0]], [[1.0, 0.0]], [[1.0], [2.0]], np.eye(2), name="K", inputs=2, outputs=2)
POINT = {"m": 1.3, "L": 0.8, "theta": 40.0}
MATRIX = np.array([[1.0, 2.0], [0.5, -1.0]])
OTHERS = {
    "array": (MATRIX, MATRIX),
    "list": ([[1, 2], [3, 5]], np.array([[1, 2], [3, 5]])),
    "sympy": (SYMBOLIC, np.array([[1.3, 1], [0, 1 / 0.8]])),
    "immutable sympy": (sp.ImmutableMatrix(SYMBOLIC), np.array([[1.3, 1], [0, 1 / 0.8]])),
    "control": (SYSTEM, np.eye(2) + np.array([[1.0, 0.0], [2.0, 0.0]]) / (0.7j + 2)),
}
OPERATORS = {
    "sum": (lambda a, b: a + b, lambda x, y: x + y),
    "difference": (lambda a, b: a - b, lambda x, y: x - y),
    "product": (lambda a, b: a @ b, lambda x, y: x @ y),
    "star product": (lambda a, b: a * b, lambda x, y: x @ y),
}


def _plant(exact=False):
    blocks = [(MASS, 2), (ANGLE, 1)]
    return random_lft(
        np.random.default_rng(5), (2, 2), parameters=blocks, exact=exact, square_safe=True
    ).rename(inputs=["a", "b"], outputs=["c", "d"])


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("other", OTHERS)
def test_other_operands_on_both_sides(other, operator, side):
    """Arrays, lists, sympy matrices and python-control systems work on either side of every operator."""
    (value, want), (combine, expected) = OTHERS[other], OPERATORS[operator]
    if other == "list" and operator == "star product" and side == "left":
        value = np.array(value)  # a list times something is repetition in Python
    plant = _plant()
    got = combine(value, plant) if side == "left" else combine(plant, value)
    x = gain(plant, POINT)
    assert isinstance(got, lg.LFT)
    assert error(gain(got, POINT), expected(want, x) if side == "left" else expected(x, want)) < 1e-13


@pytest.mark.parametrize("scale", [2, 2.0, np.float64(2), np.int64(2), sp.Integer(2)])
def test_numbers_scale_and_keep_names(scale):
    """A number from either side scales, and no signal loses its name."""
    plant = _plant()
    for scaled in (scale * plant, plant * scale, plant @ scale, plant / (1 / scale)):
        assert error(gain(scaled, POINT), 2 * gain(plant, POINT)) < 1e-14
        assert (scaled.inputs, scaled.outputs) == (plant.inputs, plant.outputs)


def test_parameters_scale():
    """A parameter or an expression multiplies like a number, and occurs."""
    plant = _plant()
    got = LENGTH**2 * plant
    assert error(gain(got, POINT), 0.64 * gain(plant, POINT)) < 1e-13
    assert "L" in got.repetitions
    assert error(gain(plant / LENGTH, POINT), gain(plant, POINT) / 0.8) < 1e-13


@pytest.mark.parametrize(
    "combine", [lambda a: 2 * a, lambda a: a / 3, lambda a: a + sp.eye(2), lambda a: a @ a]
)
def test_exact_entries_stay_exact(combine):
    """Integers and rational matrices leave exact entries exact; a float makes floats."""
    assert combine(_plant(exact=True)).is_exact
    assert not (_plant(exact=True) * 0.5).is_exact
    assert not (_plant(exact=True) + np.eye(2)).is_exact


def test_a_number_is_added_to_a_single_channel_only():
    """1x1 systems take numbers in sums; for others a bare number is an error, not a broadcast."""
    one = _plant()["c", "a"]
    assert error(gain(1 - one, POINT), 1 - gain(one, POINT)) < 1e-15
    assert error(gain(one + MASS, POINT), gain(one, POINT) + 1.3) < 1e-14
    with pytest.raises(lg.ModelError, match="single number beside a 2x2"):
        _plant() + 1
    with pytest.raises(lg.IllPosedError, match="by zero"):
        _plant() / 0


def test_names_in_sums_products_and_stacks():
    """Where one operand has no names, those of the other stay; a product reads from right to left."""
    plant, gains = _plant(), lg.realize(MATRIX)
    assert (gains + plant).outputs == ("c", "d")
    assert (plant + gains).inputs == ("a", "b")
    assert (plant @ gains).outputs == ("c", "d")
    assert (gains @ plant).inputs == ("a", "b")
    assert (plant.inverse().inputs, plant.inverse().outputs) == (plant.outputs, plant.inputs)
    assert (plant.T.inputs, plant.T.outputs) == (plant.outputs, plant.inputs)
    assert lg.vstack([plant, gains]).outputs == ("c", "d", "y[2]", "y[3]")
    assert lg.hstack([gains, plant]).inputs == ("u[0]", "u[1]", "a", "b")
    assert plant.feedback(gains).inputs == ("a", "b")


def test_indexing():
    """Rows and columns by name, number, slice, list and group name, in the order asked for."""
    plant = lg.realize(np.arange(8.0).reshape(4, 2), inputs=["u", "v"], outputs=["p_x", "p_y", "p_z", "q"])
    assert plant["q", "v"].at().item() == 7
    assert plant["p"].outputs == ("p_x", "p_y", "p_z")
    assert plant["p", "u"].at()[:, 0].tolist() == [0, 2, 4]
    assert plant[["q", "p_x"], ["v", "u"]].at().tolist() == [[7, 6], [1, 0]]
    assert plant[-1].outputs == ("q",)
    assert plant[1:3, 0].at()[:, 0].tolist() == [2, 4]
    assert plant[:, []].shape == (4, 0)


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("pp_x", "did you mean p_x"),
        (7, "out of range"),
        (1.5, "picked by name"),
        (["p_x", "p_x"], "occurs twice"),
    ],
)
def test_wrong_keys(key, message):
    """A wrong key names what there is."""
    plant = lg.realize(np.ones((2, 1)), outputs=["p_x", "q"])
    with pytest.raises(lg.ModelError, match=message):
        plant[key]


EMPTY = {
    "no inputs": lambda: random_lft(RNG, (2, 0), states=1, parameters=[(MASS, 2)]),
    "no inputs, one output": lambda: random_lft(RNG, (1, 0), states=1, parameters=[(MASS, 2)]),
    "no outputs": lambda: random_lft(RNG, (0, 2), states=2, parameters=[(MASS, 2)]),
    "states only": lambda: random_lft(RNG, (0, 0), states=2, parameters=[(MASS, 1)]),
    "nothing": lambda: random_lft(RNG, (0, 0)),
    "static without inputs": lambda: random_lft(RNG, (2, 0), parameters=[(MASS, 2)]),
    "declared only": lambda: random_lft(RNG, (2, 2), states=1, parameters=[(MASS, 0), (ANGLE, 0)]),
    "no parameters": lambda: random_lft(RNG, (2, 2), states=2),
}


@pytest.mark.parametrize("name", EMPTY)
def test_empty_systems(name):
    """Systems without inputs, outputs, states or parameters pass through every method."""
    a = EMPTY[name]()
    p, m = a.shape
    point = random_point(np.random.default_rng(1), a)
    for same in (a.reduce(), a.normalized(), a.T.T, -1 * (-a), a.to_float(), 1 * a, a.rename()):
        assert error(ports(same, point), ports(a, point)) < 1e-13
        assert set(same.repetitions) == set(a.repetitions)
    assert (a + np.zeros((p, m))).shape == (p, m)
    assert lg.hstack([a, np.zeros((p, 2))]).shape == (p, m + 2)
    assert lg.vstack([a, np.zeros((0, m))]).shape == (p, m)
    assert (a @ np.zeros((m, 3))).shape == (p, 3)
    assert a.subs(**{k: POINT[k] for k in a.repetitions}).repetitions == {}
    assert set(a.order_bound()) == set(a.repetitions)
    assert a.well_posed().answer == "proven"
    assert "LFT" in repr(a)
    assert a._repr_html_()
    assert a._repr_latex_()
    model = a.at(**point)
    if a.states:
        assert model.B.shape == (len(a.states), m)
        assert model.C.shape == (p, len(a.states))
        assert model.D.shape == (p, m)
        assert list(model.input_labels) == list(a.inputs)
    sympy_form = a.to_sympy("t")
    assert (sympy_form[3] if a.states else sympy_form).shape == (p, m)
    assert a.sensitivity(**point).D.keys() == a.repetitions.keys()


def test_immutability():
    """Nothing of an LFT can be changed, and operators leave their operands alone."""
    plant = _plant()
    before = plant.M.copy()
    with pytest.raises(ValueError, match="read-only"):
        plant.M[0, 0] = 1.0
    with pytest.raises(AttributeError, match="immutable"):
        plant.inputs = ("x", "y")
    with pytest.raises(AttributeError, match="immutable"):
        plant.data = None
    source = MATRIX.copy()
    made = lg.realize(source)
    source[0, 0] = 99.0
    assert made.at()[0, 0] == 1.0
    plant + made
    plant.feedback(made)
    plant.normalized().reduce()
    assert np.array_equal(plant.M, before)


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("make", [copy.copy, copy.deepcopy, lambda a: pickle.loads(pickle.dumps(a))])
def test_copies(make, exact):
    """A copied or pickled LFT is the same model down to the last bit, and still works with the original."""
    a = random_lft(
        np.random.default_rng(3),
        (2, 2),
        states=2,
        parameters=[(MASS, 2), (ANGLE, 1)],
        others=[FULL, COMPLEX],
        exact=exact,
    )
    b = make(a)
    assert np.array_equal(a.M, b.M)
    assert (b.delta, b.states, b.inputs, b.outputs, b.is_exact) == (
        a.delta,
        a.states,
        a.inputs,
        a.outputs,
        exact,
    )
    assert (a[0, 0].subs(m=1.0) + b.rename(states=["o", "p"])[0, 0].subs(m=1.0)).order == 2


@pytest.mark.parametrize("empty", [[], [[]], np.zeros((0, 0))])
def test_gains_without_states(empty):
    """Empty A, B, C in whatever shape, as python-control takes them."""
    k = lg.uncertain("k", 2.0, percent=50)
    gain = lg.ss(empty, empty, empty, [[k, 1, 0]], inputs=["a", "b", "c"], outputs=["y"])
    assert (gain.inputs, gain.outputs, gain.states) == (("a", "b", "c"), ("y",), ())
    assert np.array_equal(gain.at(k=1.5), [[1.5, 1, 0]])
    with pytest.raises(lg.ModelError, match="shapes do not fit"):
        lg.ss(empty, [[1]], [[1]], [[1]])


def test_state_names_must_differ():
    """Two states of one name are an error, wherever they come from."""
    plant = lg.ss([[-1.0]], [[1.0]], [[1.0]], [[0.0]], states=["x"])
    with pytest.raises(lg.ModelError, match="state names occur twice: x"):
        plant + plant
    with pytest.raises(lg.ModelError, match="state names occur twice: v"):
        lg.ss(np.zeros((2, 2)), np.zeros((2, 1)), np.zeros((1, 2)), [[0]], states=["v", "v"])
    with pytest.raises(lg.ModelError, match="state names occur twice: v"):
        lg.ss(np.zeros((2, 2)), np.zeros((2, 1)), np.zeros((1, 2)), [[0]]).rename(states=["v", "v"])


NOT_OPERANDS = [
    "m",
    None,
    [["m + 1"]],
    [["__import__('os').getcwd()"]],
    {"m": 1},
    [[None]],
    1j * np.eye(2),
    np.ones((2, 2, 2)),
]


@pytest.mark.parametrize("value", NOT_OPERANDS, ids=str)
def test_what_is_no_operand(value):
    """Text is never read as an expression; anything that is no matrix is an error of the library."""
    with pytest.raises(lg.ModelError, match=r"expected|entry|entries"):
        lg.realize(value)
    with pytest.raises(lg.ModelError, match=r"expected|entry|entries"):
        _plant() + value


def test_shapes_that_do_not_fit():
    """Each operator says which shapes came."""
    a, b = lg.realize(np.ones((2, 3))), lg.realize(np.ones((2, 2)))
    cases = [
        (lambda: a + b, "sum of a 2x3 and a 2x2"),
        (lambda: a @ b, "product of a 2x3 and a 2x2"),
        (lambda: a.inverse(), "inverse of a 2x3"),
        (lambda: a**2, "square"),
        (lambda: b**0, "positive integer"),
        (lambda: lg.hstack([a, np.ones((1, 1))]), "equal numbers of outputs"),
        (lambda: lg.vstack([a, b]), "equal numbers of inputs"),
        (lambda: a.feedback(b), "2x3 plant needs a 3x2 controller"),
        (lambda: b.feedback(b, sign=2), "sign must be -1 or"),
        (lambda: b.star(b, n_y=3), "cannot share 3"),
        (lambda: lg.realize([[1, 2], [3]]), "different lengths"),
        (lambda: a.rename(inputs=["x"]), "expected 3 input names"),
        (lambda: lg.ss(np.eye(2), np.ones((1, 1)), np.ones((1, 2)), [[0]]), "shapes do not fit"),
        (
            lambda: lg.upper_lft(np.ones((1, 1)), [lg.full_block("D", (1, 2))]),
            "states and Delta alone need 2x1",
        ),
    ]
    for call, message in cases:
        with pytest.raises(lg.ModelError, match=message):
            call()


def test_singular_inverses_and_loops():
    """A singular nominal and a singular algebraic loop are errors that name the signals."""
    with pytest.raises(lg.IllPosedError, match="nominal value of the LFT"):
        lg.realize([[MASS, MASS], [2, 2]]).inverse()
    with pytest.raises(lg.IllPosedError, match="algebraic loop"):
        lg.realize([[1.0]]).feedback([[-1.0]])
    with pytest.raises(lg.IllPosedError, match="algebraic loop"):
        lg.realize([[1]], exact=True).feedback(lg.realize([[-1]], exact=True))


def test_control_systems_and_back():
    """A python-control system keeps its names; discrete-time ones are refused; transfer functions are realised."""
    again = (lg.realize(np.eye(2)) @ SYSTEM).at()
    assert np.allclose(again(0.7j), SYSTEM(0.7j), atol=1e-14)
    assert again.dt == 0
    low_pass = lg.block_diag([control.tf([1], [1, 2], name="low", inputs="r", outputs="y")])
    assert (low_pass.inputs, low_pass.outputs) == (("r",), ("y",))
    assert gain(low_pass, {}, s=1j).item() == pytest.approx(1 / (1j + 2))
    with pytest.raises(lg.ModelError, match="continuous-time"):
        lg.realize(np.eye(1)) + control.ss([[0.5]], [[1]], [[1]], [[0]], 0.1)


def test_declaring():
    """A declared parameter has no repetitions, may be given everywhere and clashes with others of its name."""
    plant = _plant().declare(LENGTH)
    assert plant.repetitions == {"m": 2, "theta": 1, "L": 0}
    assert np.array_equal(plant.at(L=0.6), plant.at())
    assert plant.reduce().parameters == plant.parameters
    with pytest.raises(lg.ParameterError, match="two different parameters are named m"):
        plant.declare(lg.uncertain("m", 3.0, percent=1))
    with pytest.raises(lg.ModelError, match="D names an uncertainty"):
        lg.uncertain_dynamics("D", (1, 1)).declare(lg.uncertain("D", 3.0, percent=1))
