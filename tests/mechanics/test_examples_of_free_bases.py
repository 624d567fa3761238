"""The four examples on free bases: against the numeric model, their order counts, balance, conserved momentum."""

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest

import lftgen as lg
from lftgen import rigidbody as rb
from lftgen.check import check_points
from lftgen.oracle import numeric_model

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
GOLDEN = {
    "06_balloon": {"L": 10, "m_envelope": 5, "m_gondola": 11, "m_lower": 9, "m_upper": 7},
    "07_launcher": {"T": 6, "l_slosh": 8, "m_dry": 10, "m_fuel": 10, "m_slosh1": 8, "m_slosh2": 8},
    "08_satellite": {"h": 2, "m_array": 7, "m_hub": 3, "theta": 16},
    "09_walking_robot": {"hip": 34, "m_payload": 12},
}
"""Repetitions of each parameter; fewer are welcome (lower the number), more are a step back."""


def load(name):
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def mechanism_of(module):
    return next(
        getattr(module, n) for n in ("balloon", "launcher", "satellite", "robot") if hasattr(module, n)
    )()


@pytest.fixture(scope="module", params=GOLDEN)
def example(request):
    module = load(request.param)
    plant, trimmed = module.model(mechanism_of(module))
    return request.param, module, plant, trimmed


def test_agrees_with_the_numeric_model(example):
    """200 random points, the corners and the nominal; 1e-9."""
    _, _, plant, trimmed = example
    report = lg.check(trimmed, plant, samples=200, tolerance=1e-9)
    assert report.passed, str(report)


def test_order_counts(example):
    """No parameter is repeated more often than when the table was written, nor less than its bound."""
    name, _, plant, _ = example
    assert set(plant.repetitions) == set(GOLDEN[name])
    assert all(n <= GOLDEN[name][k] for k, n in plant.repetitions.items()), plant.repetitions
    assert all(plant.repetitions[k] >= b for k, b in plant.order_bound().items())


def test_page_shows_the_counts(example):
    """The page of the examples has the repetitions and bounds that the models have."""
    name, _, plant, _ = example
    page = (EXAMPLES.parent / "docs" / "free_bases.md").read_text(encoding="utf-8")
    section = page.split(f"[{name}.py]")[1].split("###")[0]
    rows = re.findall(r"^\| `(\w+)` \| (\d+) \| (\d+) \|$", section, re.MULTILINE)
    assert {k: (int(n), int(b)) for k, n, b in rows} == {
        k: (plant.repetitions[k], b) for k, b in plant.order_bound().items()
    }


def test_trim_balances(example):
    """What the trim solved for leaves no force at the free base, by recursive Newton-Euler on numbers; 1e-12."""
    _, _, _, trimmed = example
    trim = trimmed.trim()
    points = check_points(trimmed.parameters, 40, 7)
    numeric = numeric_model(trimmed, points)
    solved = {k: v.evaluate(points)[:, 0, 0] for k, v in trim.solution.items()}
    model = with_loads(numeric.model, trimmed, trim, points)
    force = rb.inverse_dynamics(model, numeric.q)
    free = model.links[model.joint_index("base")].dofs
    weight = max((np.abs(v).max() for v in solved.values()), default=1.0)
    mass = sum(np.max(link.body.mass) for link in model.links)
    assert np.abs(force[..., free]).max() <= 1e-12 * max(weight, 1.0) * max(1.0, mass)


def with_loads(model, mechanism, trim, points):
    """The numeric model with each load as the LFT trim has it (body axes) instead of its own solution."""
    from dataclasses import replace

    loads = []
    for load in model.loads:
        wrench = trim.load[load.name].evaluate(points)[:, :, 0]
        loads.append(
            replace(load, kind="follower", rotation=np.eye(3), torque=wrench[:, :3], force=wrench[:, 3:])
        )
    acceleration = model.acceleration
    if "acceleration_z" in trim.solution:
        acceleration = np.stack(
            [trim.solution[f"acceleration_{c}"].evaluate(points)[:, 0, 0] for c in "xyz"], axis=-1
        )
    return replace(model, loads=tuple(loads), acceleration=acceleration)


@pytest.mark.parametrize("theta", [-180.0, -91.0, 0.0, 33.0, 179.0])
@pytest.mark.parametrize("h", [-20.0, 0.0, 13.0])
def test_satellite_conserves_momentum(theta, h):
    """The rows of total momentum are in the left null space of A for any angle of the full turn; 1e-12."""
    module = load("08_satellite")
    plant, mechanism = module.model(mechanism_of(module))
    values = {"theta": theta, "h": h, "m_array": 50.0, "m_hub": 820.0}
    rows = module.momentum_rows(mechanism, **values)
    A = plant.at(**values).A
    assert np.abs(rows @ A).max() <= 1e-12 * np.abs(rows).max() * max(np.abs(A).max(), 1)
    assert np.abs(A).max() > 0.1


def test_momentum_rows_are_the_momentum():
    """The rows of the example are derivatives of the total momentum of the numeric model about the hub's origin."""
    module = load("08_satellite")
    mechanism = mechanism_of(module)
    values = {"theta": 70.0, "h": 13.0}
    rows = module.momentum_rows(mechanism, **values)
    numeric = numeric_model(mechanism, {k: np.array([v]) for k, v in values.items()})
    H = rb.mass_matrix(numeric.model, numeric.q)[0]
    assert rows[:, 8:] == pytest.approx(H[:6], rel=1e-10, abs=1e-9)
    # a momentum h of the body's axes, seen from where it was, changes by dphi x h
    h = np.array([0, 13.0, 0])
    phi = np.eye(3)
    assert rows[:3, :3] == pytest.approx(np.array([np.cross(p, h) for p in phi]).T)
