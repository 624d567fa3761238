"""H-infinity synthesis: what is found was verified, near the optimum, also where the solver's own search fails."""

import sys

import control
import numpy as np
import pytest

import lftgen as lg
from lftgen.analysis.synthesis import hinf

slycot = pytest.importorskip("slycot")


def _random(seed, n, shift=0.0):
    rng = np.random.default_rng(seed)
    D = rng.normal(size=(4, 4))
    D[2:, 2:] = 0
    A = rng.normal(size=(n, n)) + shift * np.eye(n)
    return control.ss(A, rng.normal(size=(n, 4)), rng.normal(size=(4, n)), D)


def _loop(plant, controller):
    """The lower LFT by python-control, apart from what the library computes."""
    return plant.lft(controller)


@pytest.mark.parametrize(("seed", "n", "shift"), [(0, 3, 0.0), (1, 5, 0.0), (2, 8, 0.0), (3, 11, 0.5)])
def test_unstable_plants(seed, n, shift):
    """Found, stable and of the norm told, by python-control's own closed loop and SLICOT's norm."""
    plant = _random(seed, n, shift)
    found = lg.hinfsyn(plant, 2, 2, time_limit=20)
    assert found.status == "found", found.reason
    loop = _loop(plant, found.controller)
    assert np.max(loop.poles().real) < 0
    assert np.max(loop.poles().real) == pytest.approx(np.max(found.poles.real), rel=1e-3)
    assert control.linfnorm(loop)[0] == pytest.approx(found.norm, rel=1e-4)
    assert found.norm <= found.gamma * (1 + 1e-5)
    if n <= 5:  # SB10AD narrows the level by itself
        level = control.hinfsyn(plant, 2, 2)[2]
        assert level * 0.999 < found.norm < level * 1.001


@pytest.mark.parametrize("seed", [4, 5])
def test_twenty_four_strongly_unstable_states(seed):
    """In time either a controller whose loop is stable, or a reason."""
    found = lg.hinfsyn(_random(seed, 24, 3.0), 2, 2, time_limit=20)
    if found.status == "found":
        assert np.max(found.poles.real) < 0
    else:
        assert (found.status, found.controller) == ("failed", None)
        assert "leaves the loop" in found.reason


@pytest.mark.heavy
def test_the_solver_alone_leaves_a_loop_unstable():
    """SB10AD, which python-control calls, reports a level for a controller that does not stabilise this plant."""
    plant = _random(2, 8)
    K, _, _, _ = control.hinfsyn(plant, 2, 2)
    assert np.max(_loop(plant, K).poles().real) > 0
    assert np.max(_loop(plant, lg.hinfsyn(plant, 2, 2).controller).poles().real) < 0


def test_closed_form_and_scaling():
    """x' = x + d + u has the optimum 1 + sqrt(3); units of states and of time change nothing."""
    A, B, C = np.array([[1.0]]), np.array([[1.0, 0, 1]]), np.array([[1.0], [0], [1]])
    D = np.array([[0, 0, 0], [0, 0, 1], [0, 1, 0]])
    for t, s in ((1, 1), (1e-6, 1e4), (1e5, 1e-5)):
        found = lg.hinfsyn(control.ss(A * s, B * t * s, C / t, D), 1, 1)
        assert found.norm == pytest.approx(1 + np.sqrt(3), rel=1e-3)


def test_time_that_ends_early_keeps_what_was_verified(monkeypatch):
    """A solver that hangs after its first success: the first controller is the result, and the reason says so."""
    real = hinf._at_level

    def slow(system, n_y, n_u, level):
        import time

        if level != 1.0:
            time.sleep(60)
        return real(system, n_y, n_u, 100.0)

    monkeypatch.setattr(hinf, "_at_level", slow)
    if sys.platform != "linux":
        pytest.skip("needs a forked process to see the change")
    found = lg.hinfsyn(_random(0, 3), 2, 2, time_limit=1.5)
    assert found.status == "found"
    assert "before the level was narrowed" in found.reason
    assert np.max(found.poles.real) < 0


def test_ctrl_c_keeps_what_was_verified():
    """An interruption at the first controller: that one; the reason says so."""

    def stop(level, seconds):
        raise KeyboardInterrupt

    found = lg.hinfsyn(_random(0, 3), 2, 2, progress=stop)
    assert found.status == "found"
    assert "Ctrl-C" in str(found)
    assert np.max(found.poles.real) < 0
    with pytest.raises(lg.ModelError, match="progress must be a function"):
        lg.hinfsyn(_random(0, 3), 2, 2, progress=1)


def test_a_lie_of_the_solver_does_not_pass(monkeypatch):
    """A controller of the wrong sign is not returned, whatever the solver says."""
    real = slycot.sb10fd

    def wrong(*args):
        A, B, C, D, rcond = real(*args)
        return A, B, -C, -D, rcond

    monkeypatch.setattr(slycot, "sb10fd", wrong)
    if sys.platform != "linux":
        pytest.skip("needs a forked process to see the change")
    found = lg.hinfsyn(_random(0, 3, 1.0), 2, 2)
    assert (found.status, found.controller) == ("failed", None)
    assert "leaves the loop" in found.reason


def test_without_slycot(monkeypatch):
    """The pip line is in the message."""
    monkeypatch.setitem(sys.modules, "slycot", None)
    with pytest.raises(lg.MissingDependencyError, match=r"lftgen\[slycot\]"):
        lg.hinfsyn(_random(0, 3), 2, 2)
    with pytest.raises(lg.MissingDependencyError, match=r"lftgen\[slycot\]"):
        lg.mixsyn(control.tf([1], [1, 1]), 1.0)
