"""The door to python-control: M with named channels and back, models at points, loops in either order."""

import json
import pickle

import control
import numpy as np
import pytest

import lftgen as lg
from lftgen.lft.transfer_functions import realize_transfer_function
from tests.strategies import ANGLE, COMPLEX, FULL, LENGTH, MASS, error, gain, ports, random_lft, random_point

RNG = np.random.default_rng(7)
FULL_OF_BLOCKS = random_lft(RNG, (2, 3), states=3, parameters=[(MASS, 2), (ANGLE, 1)], others=[FULL, COMPLEX])
MODELS = {
    "states, parameters, full and complex blocks": FULL_OF_BLOCKS,
    "1x1": random_lft(RNG, (1, 1), states=1, parameters=[(MASS, 1)]),
    "no parameters": random_lft(RNG, (2, 2), states=2),
    "no inputs": random_lft(RNG, (2, 0), states=2, parameters=[(MASS, 2)]),
    "no inputs and no parameters": random_lft(RNG, (2, 0), states=2),
    "no outputs": random_lft(RNG, (0, 2), states=2, parameters=[(MASS, 1)]),
    "no states": random_lft(RNG, (2, 3), parameters=[(MASS, 2), (LENGTH, 1)]),
    "declared only": random_lft(RNG, (2, 2), states=1, parameters=[(MASS, 0), (ANGLE, 2)]),
    "normalised": FULL_OF_BLOCKS.normalized(),
    "nothing": random_lft(RNG, (0, 0)),
    "awkward names": random_lft(RNG, (1, 2), states=2, parameters=[(lg.uncertain("_m.2", 2.0, percent=10), 2)])
    .rename(inputs=["w__m_2_0", "a.b"], outputs=["a.b"], states=["1_arm.angle", "left_solar_panel_angle_about_hinge_axis"]),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_round_trip(name):
    """M, blocks, maps and every name come back to the bit; the structure is frozen and goes to JSON."""
    plant = MODELS[name]
    system, structure = plant.to_control()
    again = lg.from_control(system, structure)
    assert np.array_equal(again.M, plant.M)
    assert (again.delta, again.states, again.inputs, again.outputs) == (
        plant.delta,
        plant.states,
        plant.inputs,
        plant.outputs,
    )
    assert [b["name"] for b in json.loads(structure.to_json())["blocks"]] == [b.name for b in plant.delta]
    assert pickle.loads(pickle.dumps(structure)) == structure
    with pytest.raises((AttributeError, TypeError)):
        structure.blocks = ()


@pytest.mark.parametrize("name", [n for n in MODELS if n not in ("nothing", "no outputs")])
def test_channels_close_to_the_model(name):
    """Delta of the structure around the exported system is the model at that point."""
    plant = MODELS[name]
    system, structure = plant.to_control()
    n, (n_w, n_z) = len(plant.states), structure.size
    assert list(system.input_labels[:n_w]) == list(structure.w)
    assert list(system.output_labels[:n_z]) == list(structure.z)
    for _ in range(5):
        point = random_point(RNG, plant)
        A, B, C, D = (np.asarray(x) for x in (system.A, system.B, system.C, system.D))
        M = np.block([[A, B], [C, D]])
        inner = [*range(n), *range(n + n_z, M.shape[0])], [*range(n), *range(n + n_w, M.shape[1])]
        delta = structure.delta(**point)
        right = np.linalg.solve(np.eye(n_z) - D[:n_z, :n_w] @ delta, M[n : n + n_z][:, inner[1]])
        value = M[np.ix_(*inner)] + M[inner[0]][:, n : n + n_w] @ delta @ right
        assert error(value, ports(plant, point)) < 1e-12


def test_names_of_channels():
    """w_<name>_<i> and z_<name>_<i>, in the order of the blocks."""
    m, t = lg.uncertain("m", 2.0, percent=10), lg.scheduled("t", (0, 1))
    plant = lg.realize([[m, t], [t, m]], inputs=["a", "b"], outputs=["c", "d"])
    system, structure = plant.to_control()
    counts = plant.repetitions
    assert list(structure.w) == [f"w_{k}_{i}" for k, n in counts.items() for i in range(n)]
    assert list(structure.z) == [f"z_{k}_{i}" for k, n in counts.items() for i in range(n)]
    assert list(system.input_labels[-2:]) == ["a", "b"]


def test_a_changed_system_comes_back():
    """Channels are found by name in any order; without names by place; a missing one is an error."""
    plant = MODELS["1x1"]
    system, structure = plant.to_control()
    swapped = control.ss(
        system.A, system.B[:, ::-1], system.C[::-1], system.D[::-1, ::-1],
        inputs=system.input_labels[::-1], outputs=system.output_labels[::-1], states=system.state_labels,
    )  # fmt: skip
    assert np.array_equal(lg.from_control(swapped, structure).M, plant.M)
    anonymous = control.ss(system.A, system.B, system.C, system.D)
    assert np.array_equal(lg.from_control(anonymous, structure).M, plant.M)
    renamed = control.ss(system, inputs=["p", "q"], outputs=["r", "s"])
    with pytest.raises(lg.ModelError, match="w_m_0 of the Delta structure are missing"):
        lg.from_control(renamed, structure)
    with pytest.raises(lg.ModelError, match="DeltaStructure"):
        lg.from_control(system, list(structure.blocks))
    with pytest.raises(lg.ModelError, match="python-control system"):
        lg.from_control(np.eye(2))
    with pytest.raises(lg.ModelError, match="continuous-time"):
        lg.from_control(control.ss(system.A, system.B, system.C, system.D, 0.1), structure)


def test_models_at_points():
    """A list of named models, one for each point, equal to at()."""
    plant = random_lft(RNG, (2, 2), states=3, parameters=[(MASS, 2)]).rename(
        inputs=["a", "b"], outputs=["c", "d"]
    )
    values = plant.sample(6, seed=3)
    systems = plant.systems(values)
    assert len(systems) == 6
    for system, m in zip(systems, values["m"], strict=True):
        one = plant.at(m=m)
        assert system.input_labels == one.input_labels == ["a", "b"]
        assert np.allclose(system.A, one.A, rtol=1e-13, atol=1e-13)
        assert system.isctime(strict=True)
    assert [s.nstates for s in lg.realize([[MASS]]).systems({"m": [1.1, 1.2]})] == [0, 0]


def test_names_with_dots():
    """python-control refuses dots: at() says so, to_control() maps them."""
    plant = lg.ss([[-1.0]], [[1.0]], [[1.0]], [[0.0]], inputs=["a.b"])
    with pytest.raises(lg.ModelError, match=r"dot \(a.b\)"):
        plant.at()
    assert dict(plant.to_control()[1].renamed) == {"a_b": "a.b"}


PLANT = random_lft(np.random.default_rng(2), (2, 2), states=2, parameters=[(MASS, 2), (ANGLE, 1)]).rename(
    inputs=["a", "b"], outputs=["c", "d"], states=["p", "v"]
)
CONTROLLERS = {
    "state space": control.ss([[-2.0]], [[1.0, 0.3]], [[0.2], [0.1]], 0.1 * np.eye(2), name="K", inputs=["c", "d"], outputs=["a", "b"]),
    "transfer functions": control.tf([[[0.1], [0.1, 0.2]], [[0], [0.3]]], [[[1, 4], [1, 4]], [[1], [2, 1]]], name="K", inputs=["c", "d"], outputs=["a", "b"]),
    "gain": np.array([[0.1, 0.2], [0.0, -0.1]]),
    "list": [[0.1, 0], [0, 0.2]],
}  # fmt: skip


def _value(controller, s):
    return controller(s) if hasattr(controller, "input_labels") else np.array(controller)


@pytest.mark.parametrize("name", CONTROLLERS)
def test_loops_in_either_order(name):
    """Every loop and product has the value of its parts; no parameter or name is lost and no repetition is made up."""
    K, s = CONTROLLERS[name], 0.7j
    k = _value(K, s)
    eye = np.eye(2)
    cases = {
        "plant.feedback(K)": (PLANT.feedback(K), lambda p: np.linalg.solve(eye + p @ k, p), ("a", "b"), ("c", "d")),
        "positive": (PLANT.feedback(K, sign=1), lambda p: np.linalg.solve(eye - p @ k, p), ("a", "b"), ("c", "d")),
        "lg.feedback(K, plant)": (lg.feedback(K, PLANT), lambda p: np.linalg.solve(eye + k @ p, k), None, None),
        "lg.feedback(plant, K)": (lg.feedback(PLANT, K), lambda p: np.linalg.solve(eye + p @ k, p), ("a", "b"), ("c", "d")),
        "plant @ K": (PLANT @ K, lambda p: p @ k, None, ("c", "d")),
        "K @ plant": (K @ PLANT, lambda p: k @ p, ("a", "b"), None),
        "plant * K": (PLANT * K, lambda p: p @ k, None, ("c", "d")),
        "K * plant": (K * PLANT, lambda p: k @ p, ("a", "b"), None),
        "plant + K": (PLANT + K, lambda p: p + k, ("a", "b"), ("c", "d")),
        "K - plant": (K - PLANT, lambda p: k - p, None, None),
        "control.feedback(plant, K)": (control.feedback(PLANT, K if name != "list" else np.array(K)), lambda p: np.linalg.solve(eye + p @ k, p), ("a", "b"), ("c", "d")),
    }  # fmt: skip
    named = hasattr(K, "input_labels")
    for what, (loop, expected, inputs, outputs) in cases.items():
        assert isinstance(loop, lg.LFT), what
        assert loop.repetitions == PLANT.repetitions, what
        assert set(PLANT.states) <= set(loop.states), what
        if inputs is not None:
            assert loop.inputs == inputs, what
        if outputs is not None:
            assert loop.outputs == outputs, what
        if named and what in ("plant @ K", "lg.feedback(K, plant)"):
            assert loop.inputs == ("c", "d"), what
        for _ in range(3):
            point = random_point(RNG, PLANT)
            assert error(gain(loop, point, s=s), expected(gain(PLANT, point, s=s))) < 1e-11, what
    after = (2.0 * PLANT.feedback(K))["c", ["b", "a"]] @ np.array([[1.0], [2.0]])
    assert (after.repetitions, after.outputs) == (PLANT.repetitions, ("c",))


def test_connecting_by_name():
    """connect() takes python-control systems beside LFTs, and the loop equals feedback()."""
    K = CONTROLLERS["state space"]
    minus = control.ss(K.A, K.B, -K.C, -K.D, name="K", inputs=["c", "d"], outputs=["ka", "kb"])
    loop = lg.connect(
        [PLANT, minus],
        [("a", "ka"), ("b", "kb"), ("c", "c"), ("d", "d")],
        inputs=["a", "b"],
        outputs=["c", "d", "ka"],
    )
    assert loop.repetitions == PLANT.repetitions
    point = random_point(RNG, PLANT)
    same = gain(PLANT.feedback(K), point, s=1j)
    assert error(gain(loop[["c", "d"]], point, s=1j), same) < 1e-12


REFUSED = {
    "improper": (lambda: control.tf([1, 0], [1], name="D"), "D: the entry .* is improper .*add a fast pole"),
    "discrete": (lambda: control.ss([[0.5]], [[1]], [[1]], [[0]], 0.1, name="Kd"), "Kd: expected a continuous-time system"),
    "discrete transfer function": (lambda: control.tf([1], [1, 0.5], 0.1, name="Kd"), "Kd: expected a continuous-time system"),
    "frequency data": (lambda: control.frd([1, 2], [1, 2]), "FrequencyResponseData"),
    "non-linear": (lambda: control.nlsys(None, lambda t, x, u, p: u, inputs=1, outputs=1), "NonlinearIOSystem"),
    "wrong size": (lambda: control.ss([[1.0]], [[1.0, 2.0]], [[1.0]], [[0.0, 0.0]]), "needs a 1x1 controller"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_refused_controllers(what):
    """What cannot close a loop is refused by name, whichever way the loop is written."""
    make, message = REFUSED[what]
    plant = lg.ss([[-1.0]], [[1.0]], [[1.0]], [[0.0]])
    with pytest.raises(lg.ModelError, match=message):
        plant.feedback(make())
    if what != "wrong size":
        for call in (
            lambda K: plant @ K,
            lambda K: lg.feedback(K, plant),
            lambda K: lg.block_diag([plant, K]),
        ):
            with pytest.raises(lg.ModelError, match=message):
                call(make())


@pytest.mark.parametrize(
    "system",
    [
        control.tf([2, 3], [1, 5]),
        control.tf([3], [1]),
        control.tf([1], [1, 0.1, 0.01, 0, 0]),
        control.tf([0, 0, 4, 1], [0, 2, 3, 1]),
        control.tf([[[1], [1, 2]], [[0], [3]]], [[[1, 4], [1, 4]], [[1], [2, 1]]]),
        control.tf([[[1, 1], [0]], [[0], [1, 1]]], [[[2, 0.02], [1]], [[1], [2, 0.02]]]),
        control.tf([[[1]], [[1, 1]], [[2]]], [[[1, 2, 1e6]], [[1, 2, 1e6]], [[1, 2, 1e6]]]),
    ],
    ids=str,
)
def test_realising_transfer_functions(system):
    """The state space has the response of the transfer functions, without an optional package."""
    A, B, C, D = realize_transfer_function(system)
    for s in (0.3j, 20j, 1 + 1j):
        response = C @ np.linalg.solve(s * np.eye(len(A)) - A, B) + D
        assert np.allclose(response, np.atleast_2d(system(s, squeeze=False)), rtol=1e-11)
    assert len(A) <= sum(len(d) - 1 for row in system.den for d in row)


def test_states_of_a_shared_denominator():
    """One denominator in a row or in a column is realised once."""
    row = control.tf([[[1], [1, 2]]], [[[1, 4, 1], [1, 4, 1]]])
    column = control.tf([[[1]], [[1, 2]]], [[[1, 4, 1]], [[1, 4, 1]]])
    assert len(realize_transfer_function(row)[0]) == len(realize_transfer_function(column)[0]) == 2


def test_an_algebraic_loop_that_is_singular_in_the_box():
    """A loop closed over a direct term that depends on a parameter says where it is singular; a proven one is silent."""
    k = lg.uncertain("k", 2.0, bounds=(0.5, 4.0))
    direct = lg.realize([[k]], inputs=["u"], outputs=["y"])
    with pytest.warns(lg.ModelWarning, match="singular at k = 1"):
        loop = direct.feedback([[-1.0]])
    assert loop.at(k=2.0)[0, 0] == pytest.approx(2 / (1 - 2))
    with pytest.raises(lg.IllPosedError):
        loop.at(k=1.0)
    with pytest.warns(lg.ModelWarning, match="singular at k = 1"):
        lg.connect([direct, lg.realize([[1.0]], inputs=["v"], outputs=["w"])], [("v", "y"), ("u", "w")], inputs=["u"], outputs=["y"])  # fmt: skip
    assert direct.feedback([[1.0]]).at(k=3.0)[0, 0] == pytest.approx(3 / 4)
    with pytest.raises(lg.IllPosedError, match="algebraic loop"):
        direct.feedback([[-0.5]])
