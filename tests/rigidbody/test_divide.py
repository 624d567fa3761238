"""Divide-and-conquer on trees: against the recursion, its depth, batches, and what it refuses."""

import numpy as np
import pytest

from lftgen.errors import IllPosedError, ModelError
from lftgen.rigidbody import Body, Joint, Model, divide_and_conquer, forward_dynamics
from lftgen.rigidbody.assembly_tree import Edge, plan_assembly
from lftgen.rigidbody.stacked import scan


@pytest.mark.parametrize("armature", [False, True])
@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 13, 21, 30])
def test_trees_of_all_joint_kinds(n, armature, tree, error):
    """q̈ agrees with the articulated-body algorithm, body accelerations satisfy the joints."""
    rng = np.random.default_rng(n)
    model = tree(rng, n, loads=3, momentum=True, dampers=True, armature=armature)
    q, v, tau = rng.normal(size=(3, model.nq))
    more = {"wrenches": {"b0": rng.normal(size=6)}, "base_acceleration": rng.normal(size=3)}
    more["prescribed"] = {f"j{n // 2}": (rng.normal(size=6), rng.normal(size=6))}
    result = divide_and_conquer(model).forward_dynamics(q, v, tau, **more)
    assert error(result.qdd, forward_dynamics(model, q, v, tau, **more)) < 1e-9
    assert result.undetermined == ()


def test_forest(tree, error):
    """Several trees on one ground."""
    rng = np.random.default_rng(0)
    bodies = [Body(f"b{i}", 1.0 + i, rng.normal(size=3), np.eye(3)) for i in range(4)]
    parents = ["ground", "ground", "b1", "ground"]
    joints = [
        Joint(f"j{i}", "revolute", parents[i], f"b{i}", axis=rng.normal(size=3), position=rng.normal(size=3))
        for i in range(4)
    ]
    model = Model(bodies, joints)
    q, v, tau = rng.normal(size=(3, 4))
    result = divide_and_conquer(model).forward_dynamics(q, v, tau)
    assert error(result.qdd, forward_dynamics(model, q, v, tau)) < 1e-10


def test_batches_and_complex_steps(tree, error):
    """Batch axes of model and state, and derivatives by complex step."""
    rng = np.random.default_rng(1)
    model = tree(rng, 6, batch=(3,), loads=2)
    q, v, tau = rng.normal(size=(3, 5, 3, model.nq))
    plan = divide_and_conquer(model)
    assert error(plan.forward_dynamics(q, v, tau).qdd, forward_dynamics(model, q, v, tau)) < 1e-10
    wide = plan.forward_dynamics(q[0, 0], None, tau, wrenches={"b2": np.ones((3, 6))}).qdd
    assert error(wide, forward_dynamics(model, q[0, 0], None, tau, wrenches={"b2": np.ones(6)})) < 1e-10
    step = q + 1e-30j * rng.normal(size=model.nq)
    want = forward_dynamics(model, step, v, tau)
    got = plan.forward_dynamics(step, v, tau).qdd
    assert error(got.imag / 1e-30, want.imag / 1e-30) < 1e-9


@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 9, 31, 64, 100, 255, 256, 1000, 1024])
def test_depth_of_a_chain(n):
    """Sequential levels, up and down, are at most 2 log2 N + 2."""
    plan = plan_assembly(range(-1, n - 1), [Edge(i - 1, i, 5) for i in range(n)])
    assert 2 * plan.levels <= 2 * np.log2(n) + 2
    done = sum(len(group.edges) for group in plan.groups)
    assert done == n  # the ground's joint, then n - 1 merges


def test_depth_of_a_binary_tree():
    """Parts of three joints cannot be halved at one joint; the depth is that of a chain all the same."""
    n = 1023
    parent = [-1] + [(i - 1) // 2 for i in range(1, n)]
    plan = plan_assembly(parent, [Edge(p, i, 5) for i, p in enumerate(parent)])
    assert 2 * plan.levels <= 2 * np.log2(n) + 2


@pytest.mark.parametrize(("shape", "levels"), [("star", 2), ("comb", 7), ("random", 7)])
def test_depth_of_other_trees(shape, levels):
    """A hub with many children, a chain with a leaf on each body, and a random tree of 120 bodies."""
    n, rng = 120, np.random.default_rng(0)
    parent = {
        "star": [-1] + [0] * (n - 1),
        "comb": [i - 1 if i <= n // 2 else i - n // 2 - 1 for i in range(n)],
        "random": [-1] + [int(rng.integers(i)) for i in range(1, n)],
    }[shape]
    plan = plan_assembly(parent, [Edge(p, i, 5) for i, p in enumerate(parent)])
    assert plan.levels <= levels
    assert sum(group.edges.size for group in plan.groups) == n


def test_hub_with_many_children(error):
    """Several children are joined to their parent in one assembly."""
    rng = np.random.default_rng(0)
    bodies = [Body(f"b{i}", 1.0, rng.normal(size=3), np.eye(3)) for i in range(20)]
    joints = [
        Joint(
            f"j{i}",
            "revolute",
            "b0" if i else "ground",
            f"b{i}",
            axis=rng.normal(size=3),
            position=rng.normal(size=3),
        )
        for i in range(20)
    ]
    model = Model(bodies, joints)
    q, v, tau = rng.normal(size=(3, 20))
    result = divide_and_conquer(model).forward_dynamics(q, v, tau)
    assert error(result.qdd, forward_dynamics(model, q, v, tau)) < 1e-10
    assert result.levels <= 4


def test_scan_composes_in_log_steps():
    """Pointer jumping equals the serial product."""
    rng = np.random.default_rng(2)
    n = 37
    parent = np.array([-1] + [rng.integers(i) for i in range(1, n)])
    X, w = rng.normal(size=(n, 6, 6)) / 2, rng.normal(size=(n, 6))
    product, v, _ = scan(parent, X, w)
    for i in range(n):
        above = parent[i]
        want = X[i] @ v[above] + w[i] if above >= 0 else w[i]
        np.testing.assert_allclose(v[i], want, atol=1e-9)
        np.testing.assert_allclose(product[i], X[i] @ product[above] if above >= 0 else X[i], atol=1e-9)
    chain = np.arange(-1, 63)
    assert scan(chain, np.broadcast_to(np.eye(6), (64, 6, 6)), np.zeros((64, 6)))[2] == 6


def test_long_chain(tree, error):
    """A chain of 200 bodies."""
    rng = np.random.default_rng(3)
    model = tree(rng, 200, kinds=("revolute",), serial=True)
    q, v, tau = rng.normal(size=(3, 200)) / 3
    result = divide_and_conquer(model).forward_dynamics(q, v, tau)
    assert error(result.qdd, forward_dynamics(model, q, v, tau)) < 1e-9
    assert result.levels <= 2 * np.log2(200) + 2
    assert result.scan_steps == 8


def test_what_it_refuses():
    """Point masses and partial armatures are named."""
    point = Body("p", 1.0, (0, 0, 1), np.zeros((3, 3)))
    with pytest.raises(IllPosedError, match=r"body 'p'.*rank 3 of 6"):
        divide_and_conquer(Model([point], [Joint("J", "revolute", "ground", "p", axis=(1, 0, 0))]))
    solid = Body("s", 1.0, (0, 0, 1), np.eye(3))
    partial = Joint("J", "spherical", "ground", "s", armature=(1.0, 0.0, 0.0))
    with pytest.raises(ModelError, match="armature of joint 'J'"):
        divide_and_conquer(Model([solid], [partial]))
