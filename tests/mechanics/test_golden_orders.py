"""Repetitions of each parameter in every example and reference chain: a larger count fails, a smaller one asks to be written down.

The numbers prove nothing about the models (other tests compare those with the numeric room); they guard against growth.
"""

import importlib.util
from pathlib import Path

import pytest

import lftgen as lg

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"

GOLDEN = {
    "01_pendulum.py": {"m": 1},
    "06_balloon.py": {"m_gondola": 11, "L": 10, "m_envelope": 5, "m_upper": 7, "m_lower": 9},
    "07_launcher.py": {"l_slosh": 8, "m_slosh1": 8, "m_fuel": 10, "m_dry": 10, "T": 6, "m_slosh2": 8},
    "08_satellite.py": {"m_array": 7, "theta": 16, "h": 2, "m_hub": 3},
    "09_walking_robot.py": {"m_payload": 11, "hip": 30},
    "branched_tree.yaml": {"reach": 9, "m_left": 4, "left": 8, "m_right": 4, "right": 6},
    "pendulum.yaml": {"m": 1},
    "six_joint_arm.yaml": {
        "m6": 8,
        "theta6": 16,
        "m5": 7,
        "theta5": 20,
        "m4": 6,
        "theta4": 20,
        "m3": 5,
        "theta3": 16,
        "m2": 4,
        "theta2": 14,
        "m1": 1,
        "theta1": 0,
    },
    "two_link_arm.yaml": {"m3": 2, "m2": 2, "theta2": 4, "m1": 1, "theta1": 4},
    "planar 2": {"m1": 2, "theta1": 4, "m0": 1, "theta0": 4},
    "planar 3": {"m2": 3, "theta2": 4, "m1": 2, "theta1": 8, "m0": 1, "theta0": 6},
    "planar 4": {"m3": 4, "theta3": 4, "m2": 3, "theta2": 8, "m1": 2, "theta1": 12, "m0": 1, "theta0": 8},
    "planar 5": {
        "m4": 5,
        "theta4": 4,
        "m3": 4,
        "theta3": 8,
        "m2": 3,
        "theta2": 12,
        "m1": 2,
        "theta1": 16,
        "m0": 1,
        "theta0": 10,
    },
    "planar 7": {
        "m6": 9,
        "theta6": 6,
        "m5": 8,
        "theta5": 8,
        "m4": 7,
        "theta4": 10,
        "m3": 6,
        "theta3": 12,
        "m2": 5,
        "theta2": 14,
        "m1": 4,
        "theta1": 16,
        "m0": 1,
        "theta0": 14,
    },
    "planar 10": {
        "m9": 12,
        "theta9": 6,
        "m8": 11,
        "theta8": 8,
        "m7": 10,
        "theta7": 10,
        "m6": 9,
        "theta6": 12,
        "m5": 8,
        "theta5": 14,
        "m4": 7,
        "theta4": 16,
        "m3": 6,
        "theta3": 18,
        "m2": 5,
        "theta2": 20,
        "m1": 4,
        "theta1": 22,
        "m0": 1,
        "theta0": 20,
    },
    "alternating 2": {"m1": 3, "theta1": 6, "theta0": 0, "m0": 1},
    "alternating 3": {"m2": 4, "theta2": 8, "m1": 3, "theta1": 8, "m0": 1, "theta0": 0},
    "alternating 4": {
        "m3": 6,
        "theta3": 14,
        "m2": 4,
        "theta2": 12,
        "m1": 3,
        "theta1": 10,
        "m0": 1,
        "theta0": 0,
    },
    "alternating 5": {
        "m4": 7,
        "theta4": 16,
        "m3": 6,
        "theta3": 20,
        "m2": 4,
        "theta2": 16,
        "m1": 3,
        "theta1": 12,
        "m0": 1,
        "theta0": 0,
    },
    "alternating 7": {
        "m6": 11,
        "theta6": 24,
        "m5": 10,
        "theta5": 26,
        "m4": 8,
        "theta4": 22,
        "m3": 6,
        "theta3": 22,
        "m2": 4,
        "theta2": 22,
        "m1": 3,
        "theta1": 22,
        "m0": 1,
        "theta0": 0,
    },
}


def _module(path):
    spec = importlib.util.spec_from_file_location(f"golden_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _example(name):
    """The plant of an example, as the example builds it."""
    path = EXAMPLES / name
    if path.suffix == ".yaml":
        return lg.read_model(path).linearize()
    module = _module(path)
    if name.startswith("01"):
        return module.pendulum().linearize()
    mechanism = next(
        getattr(module, n) for n in ("balloon", "launcher", "satellite", "robot") if hasattr(module, n)
    )
    return module.model(mechanism())[0]


def _chain(name):
    kind, links = name.split()
    return _module(BENCHMARKS / "bench_orders.py").chain(kind, int(links)).linearize()


def counts(name):
    """Repetitions of each parameter of an example or a chain."""
    return (_example(name) if "." in name else _chain(name)).repetitions


CASES = [pytest.param(n, marks=[pytest.mark.heavy] if n == "planar 10" else []) for n in GOLDEN]


@pytest.mark.parametrize("name", CASES)
def test_orders_do_not_grow(name, capsys):
    """In total not more than the table, and hints where less."""
    found, table = counts(name), GOLDEN[name]
    assert sum(found.values()) <= sum(table.values()), f"{name}: {found} is more than the table's {table}"
    assert found.keys() == table.keys()
    if sum(found.values()) < sum(table.values()):
        with capsys.disabled():
            print(f"\n{name} is smaller than the table: write {found}")


def test_every_example_is_in_the_table():
    """Every example with a model of its own, and every model file."""
    of_its_own = {p.name for p in EXAMPLES.glob("*.py") if "def model" in p.read_text(encoding="utf-8")}
    of_its_own |= {p.name for p in EXAMPLES.glob("*.yaml")} | {"01_pendulum.py"}
    assert of_its_own <= GOLDEN.keys(), f"add {sorted(of_its_own - GOLDEN.keys())}, with counts(name)"
