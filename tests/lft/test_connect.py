"""Connection by signal name: two rotors on a torsion spring, with right and wrong wiring."""

import control
import numpy as np
import pytest

import lftgen as lg

K = 8.0


def _rotor(name, inertia):
    return lg.ss(
        [[0, 1], [0, 0]],
        [[0], [1 / inertia]],
        [[1, 0], [0, 0]],
        [[0], [1 / inertia]],
        states=[f"{name}_angle", f"{name}_rate"],
        inputs=[f"{name}_torque"],
        outputs=[f"{name}_position", f"{name}_acceleration"],
    )


J1, J2 = lg.uncertain("J1", 2.0, percent=20), 1.0
SPRING = lg.realize([[K, -K]], inputs=["left", "right"], outputs=["reaction"])
WIRING = [
    ("left", "r1_position"),
    ("right", "r2_position"),
    ("r1_torque", "-reaction"),
    ("r2_torque", "reaction"),
]


def _pair(wiring, inputs=("r1_torque",)):
    return lg.connect(
        [_rotor("r1", J1), _rotor("r2", J2), SPRING],
        wiring,
        inputs=list(inputs),
        outputs=["r1_acceleration", "r2_acceleration"],
    )


def test_two_rotors():
    """A rigid mode and 3.464102 rad/s; the inertias times their accelerations are the applied torque."""
    whole = _pair(WIRING)
    model = whole.at()
    frequencies = np.sort(np.abs(model.poles()))
    assert frequencies == pytest.approx([0, 0, 3.4641016151377544, 3.4641016151377544], abs=1e-6)
    response = model(1j * 5)
    assert 2 * response[0] + 1 * response[1] == pytest.approx(1.0, abs=1e-13)
    heavy = whole.at(J1=2.4)
    assert np.max(np.abs(heavy.poles())) == pytest.approx(np.sqrt(K / 2.4 + K), rel=1e-12)
    assert list(model.state_labels) == ["r1_angle", "r1_rate", "r2_angle", "r2_rate"]


def test_flipped_and_missing_reactions():
    """A flipped sign is another model (2.0 rad/s); an input that nothing drives is a warning that names it."""
    flipped = [(target, source.lstrip("-")) for target, source in WIRING]
    assert np.max(np.abs(_pair(flipped).at().poles())) == pytest.approx(2.0)
    with pytest.warns(lg.ModelWarning, match="nothing drives the input r1_torque"):
        loose = _pair(WIRING[:2] + WIRING[3:], inputs=["r2_torque"])
    assert np.max(np.abs(loose.at().poles())) == pytest.approx(2.8284271247461903)


@pytest.mark.parametrize(
    ("wiring", "message"),
    [
        ([("left", "r1_positon"), *WIRING[1:]], "unknown output 'r1_positon': did you mean r1_position"),
        ([("leftt", "r1_position"), *WIRING[1:]], "unknown input 'leftt': did you mean left"),
        ([("left", "nonsense_xyz"), *WIRING[1:]], "unknown output 'nonsense_xyz'"),
    ],
)
def test_misspelt_ports(wiring, message):
    """A name that does not exist is an error that lists close ones."""
    with pytest.raises(lg.ModelError, match=message):
        _pair(wiring)


def test_misspelt_ends():
    """Inputs and outputs of the whole are looked up in the same way."""
    with pytest.raises(lg.ModelError, match="unknown input 'r1_torqe': did you mean r1_torque"):
        _pair(WIRING, inputs=["r1_torqe"])
    with pytest.raises(lg.ModelError, match="unknown output 'reactions': did you mean reaction"):
        lg.connect([SPRING], [], inputs=["left", "right"], outputs=["reactions"])


def test_equal_names_meet():
    """Without a list of connections each input is driven by the output of its name; a shared input feeds all."""
    low_pass = control.ss([[-2.0]], [[1.0]], [[1.0]], [[0.0]], inputs=["r"], outputs=["v"], states=["z"])
    gains = lg.realize([[J1, 1]], inputs=["v", "r"], outputs=["y"])
    whole = lg.connect([low_pass, gains], inputs=["r"], outputs=["y", "v"])
    assert whole.states == ("z",)
    assert whole.at(J1=1.8)(1j)[:, 0] == pytest.approx([1.8 / (1j + 2) + 1, 1 / (1j + 2)])


def test_clashing_names():
    """An output name in two systems is an error; so is a string where a list of names is due."""
    with pytest.raises(lg.ModelError, match="output reaction occurs in several systems"):
        lg.connect([SPRING, SPRING], [], inputs=["left"], outputs=["reaction"])
    with pytest.raises(lg.ModelError):
        lg.connect([SPRING], [], inputs="left", outputs=["reaction"])


def test_feedback_in_another_order():
    """A controller whose named signals are the plant's in another order is refused, not wired wrongly."""
    plant = lg.realize(np.eye(2), inputs=["a", "b"], outputs=["c", "d"])
    with pytest.raises(lg.ModelError, match="in another order"):
        plant.feedback(lg.realize(np.eye(2), inputs=["d", "c"], outputs=["a", "b"]))
    swapped = lg.realize([[0, 1], [2, 0]], inputs=["c", "d"], outputs=["a", "b"])
    assert np.allclose(plant.feedback(swapped).at(), np.linalg.inv([[1, 1], [2, 1]]))
