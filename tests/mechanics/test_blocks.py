"""Blocks: what the equations say is what their LFT computes, and what Newton and Euler say."""

import copy
import pickle

import numpy as np
import pytest
import sympy as sp

import lftgen as lg
from tests.strategies import error, random_mechanism

THETA = lg.scheduled_angle("theta", (-60, 90), unit="deg")


@pytest.fixture(scope="module")
def case():
    """A random tree with its trim and blocks, and a point."""
    mech = random_mechanism(np.random.default_rng(12), 4, angles=[THETA, -THETA + 1], masses=True, fixed=0.4)
    trim = mech.trim()
    rng = np.random.default_rng(0)
    point = {p.name: float(rng.uniform(p.lower, p.upper)) for p in mech.parameters}
    return mech, trim, mech.blocks(trim), point


def _equilibrium_numbers(mech, trim, point):
    """Values of the symbols that stand for equilibrium values in the equations."""
    out = {}
    for kind, suffix, names in (
        ("acceleration", "abar", ("rx", "ry", "rz", "x", "y", "z")),
        ("wrench", "fbar", ("tx", "ty", "tz", "fx", "fy", "fz")),
    ):
        for owner, lft in getattr(trim, kind).items():
            for name, value in zip(names, lft.at(**point)[:, 0], strict=True):
                out[f"{owner}_{suffix}_{name}"] = float(value)
    return out


def test_equations_are_the_lft(case):
    """Solving the equations one after the other with random inputs gives the LFT's outputs at the point; 1e-12."""
    mech, trim, blocks, point = case
    numbers = _equilibrium_numbers(mech, trim, point)
    values = {p: sp.Float(float(p.to_radians(point[p.name])), 20) for p in mech.parameters}
    rng = np.random.default_rng(1)
    assert set(blocks) == {b.name for b in mech.bodies} | {j.name for j in mech.joints}
    for block in blocks.values():
        lft = block.lft
        signal = dict(zip(lft.inputs, rng.normal(size=len(lft.inputs)), strict=True))
        known = {**numbers, **signal}
        for equation in block.equations().values():
            assert isinstance(equation, sp.Eq)
            for left, right in zip(equation.lhs, equation.rhs, strict=True):
                right = sp.sympify(right).xreplace(values)
                plain = right.xreplace({s: sp.Float(known.get(s.name, 0.0), 20) for s in right.free_symbols})
                known[left.name] = float(plain)
        got = lft.at(**{k: v for k, v in point.items() if k in lft.repetitions}) @ np.array(
            list(signal.values())
        )
        assert error(got, [known[n] for n in lft.outputs]) < 1e-12


def test_body_block_is_newton_and_euler():
    """The wrench that accelerates a body: m (a + alpha x c) and I_c alpha about the centre, moved to the origin."""
    m = lg.uncertain("m", 2.0, percent=30)
    link = lg.RigidBody(
        "link", mass=m, com=(0.1, -0.2, 0.3), inertia=(0.2, 0.3, 0.4), ports={"P": (0.5, 0, 0.1)}
    )
    hinge = lg.RevoluteJoint("hinge", parent="ground", child="link", axis=(1, 0, 0))
    lft = lg.Mechanism("m", bodies=[link], joints=[hinge]).blocks()["link"].lft
    alpha, a, F = np.array([0.3, -1.0, 0.7]), np.array([2.0, 0.1, -0.5]), np.array([1.0, 2.0, 3.0])
    names = ("rx", "ry", "rz", "x", "y", "z")
    inputs = dict.fromkeys(lft.inputs, 0.0)
    inputs |= {f"link_specific_acceleration_{n}": v for n, v in zip(names, [*alpha, *a], strict=True)}
    inputs |= {f"link_P_force_{n}": v for n, v in zip("xyz", F, strict=True)}
    c, point = np.array([0.1, -0.2, 0.3]), np.array([0.5, 0, 0.1])
    force = 2.4 * (a + np.cross(alpha, c))
    torque = np.diag([0.2, 0.3, 0.4]) @ alpha + np.cross(c, force)
    want = np.concatenate([torque - np.cross(point, F), force - F])
    got = lft.at(m=2.4) @ np.array(list(inputs.values()))
    assert dict(zip(lft.outputs, got, strict=True)) == pytest.approx(
        {f"hinge_wrench_{n}": v for n, v in zip(("tx", "ty", "tz", "fx", "fy", "fz"), want, strict=True)},
        abs=1e-13,
    )


def test_channel_of_a_joint_and_its_inverse():
    """Torque to acceleration and acceleration to torque are each other's inverse, at no cost in repetitions."""
    m = lg.uncertain("m", 2.0, percent=30)
    link = lg.RigidBody("link", mass=m, com=(0, 0, 1), inertia=(m / 12, m / 12, 0))
    hinge = lg.RevoluteJoint("hinge", parent="ground", child="link", axis=(1, 0, 0))
    mech = lg.Mechanism("m", bodies=[link], joints=[hinge])
    channel = mech.linearize(outputs=["hinge_acceleration"])
    inverse = channel.inverse()
    assert inverse.repetitions == channel.repetitions
    assert inverse.inputs == ("hinge_acceleration",)
    assert np.asarray(inverse.at(m=1.5).D).item() == pytest.approx(1.5 * (1 + 1 / 12), rel=1e-13)


COPIES = {"deepcopy": copy.deepcopy, "pickle": lambda x: pickle.loads(pickle.dumps(x))}


@pytest.mark.parametrize("how", COPIES)
def test_copies_of_joints_and_mechanisms(how):
    """Joints and mechanisms can be copied and pickled."""
    mech = random_mechanism(np.random.default_rng(4), 2, angles=[THETA], masses=True, fixed=0)
    other = COPIES[how](mech)
    assert COPIES[how](mech.joints[0]) == mech.joints[0]
    assert other.parameters == mech.parameters
    assert np.array_equal(other.linearize().M, mech.linearize().M)


@pytest.mark.parametrize("how", COPIES)
def test_copies_of_bodies(how):
    """A copied body equals the original."""
    body = lg.RigidBody("b", mass=1, com=(0, 0, 1), ports={"tip": (0, 0, 2)})
    assert COPIES[how](body) == body


@pytest.mark.parametrize("how", COPIES)
def test_copies_after_a_trim(how):
    """A mechanism can be copied after it was used as well."""
    again = COPIES[how]
    mech = random_mechanism(np.random.default_rng(4), 2, angles=[THETA], masses=True, fixed=0)
    plant = mech.linearize()
    other = again(mech)
    assert lg.check(other, plant, samples=2).passed
    assert np.array_equal(other.linearize().M, plant.M)


def test_inertia_as_a_sympy_matrix():
    """The tensor may be a sympy matrix, mutable or not."""
    rows = ((1, 0.1, 0), (0.1, 1.2, 0), (0, 0, 1.3))
    bodies = [
        lg.RigidBody("b", mass=1, inertia=make(rows))
        for make in (tuple, sp.Matrix, sp.ImmutableMatrix, np.array)
    ]
    tensors = [np.array(b.inertia.tolist(), dtype=float) for b in bodies]
    assert all(np.array_equal(t, rows) for t in tensors)
