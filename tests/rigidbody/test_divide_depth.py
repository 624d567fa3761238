"""Depth of divide-and-conquer on trees with hubs: stars, brooms, caterpillars, random trees, forests."""

import numpy as np
import pytest

from lftgen.rigidbody import (
    Body,
    ClosedModel,
    Joint,
    LoopJoint,
    Model,
    closed_forward_dynamics,
    divide_and_conquer,
    forward_dynamics,
)
from lftgen.rigidbody.assembly_tree import Edge, plan_assembly

KINDS = ("revolute", "spherical", "fixed", "prismatic", "free", "planar", "cylindrical", "helical")


def chain_with_leaves(n, length, at):
    """Parents: a chain of some length, the other bodies at places `at(k)` of it."""
    return [i - 1 if i < length else at(i - length) for i in range(n)]


def star(n):
    """All bodies on the first one."""
    return chain_with_leaves(n, 1, lambda k: 0)


def broom(n):
    """Half of the bodies on the end of a chain of the others."""
    return chain_with_leaves(n, n // 2, lambda k: n // 2 - 1)


def hub_on_a_chain(n):
    """A hub in the middle of a chain of half of the bodies."""
    return chain_with_leaves(n, n // 2, lambda k: n // 4)


def caterpillar(n):
    """A leaf on each body of a chain."""
    return chain_with_leaves(n, n // 2, lambda k: k)


def hubs_on_a_chain(n):
    """Several hubs in a row."""
    length = max(n // 30, 1)
    return chain_with_leaves(n, length, lambda k: k % length)


def random_tree(n):
    """Each body on any of those before."""
    rng = np.random.default_rng(n)
    return [-1] + [int(rng.integers(i)) for i in range(1, n)]


SHAPES = (star, broom, hub_on_a_chain, caterpillar, hubs_on_a_chain, random_tree)


def build(parent, rng, kinds=("revolute",), armature=False):
    """A model with random joints and compact bodies on given parents."""
    bodies, joints = [], []
    for i, above in enumerate(parent):
        bodies.append(Body(f"b{i}", rng.uniform(0.5, 2), rng.normal(size=3) / 4, np.eye(3) * 0.2))
        axis, position = rng.normal(size=3), rng.normal(size=3) / 2
        more = {"pitch": 0.3, "armature": rng.uniform(0.1, 1) if armature else 0.0, "actuated": True}
        name = f"b{above}" if above >= 0 else "ground"
        kind = str(rng.choice(kinds))
        joints.append(Joint(f"j{i}", kind, name, f"b{i}", axis=axis, position=position, **more))
    return Model(bodies, joints, gravity=(0.5, 0, -9.81))


@pytest.mark.parametrize("n", [10, 100, 1000])
@pytest.mark.parametrize("shape", SHAPES)
def test_levels_and_accelerations(shape, n, error):
    """At most 2 log2 N + 2 levels, and the accelerations of the articulated-body algorithm."""
    rng = np.random.default_rng(n)
    model = build(shape(n), rng)
    q, v, tau = rng.normal(size=(3, n)) / 3
    result = divide_and_conquer(model).forward_dynamics(q, v, tau)
    assert result.levels <= 2 * np.log2(n) + 2
    assert error(result.qdd, forward_dynamics(model, q, v, tau)) < 1e-9
    assert result.undetermined == ()


@pytest.mark.parametrize("armature", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_all_joint_kinds(shape, armature, error):
    """Hubs with joints of every kind, welds and free joints among them; batches and complex steps."""
    rng = np.random.default_rng(5)
    model = build(shape(40), rng, KINDS, armature)
    q, v, tau = rng.normal(size=(3, 4, model.nq)) / 3
    plan = divide_and_conquer(model)
    more = {"wrenches": {"b0": rng.normal(size=6)}, "base_acceleration": rng.normal(size=(4, 3))}
    assert (
        error(plan.forward_dynamics(q, v, tau, **more).qdd, forward_dynamics(model, q, v, tau, **more)) < 1e-9
    )
    step = q + 1e-30j * rng.normal(size=model.nq)
    got, want = (x.imag / 1e-30 for x in (plan.forward_dynamics(step).qdd, forward_dynamics(model, step)))
    assert error(got, want) < 1e-9


@pytest.mark.parametrize("seed", range(20))
def test_depth_of_any_tree(seed):
    """Random trees and forests of 1 to 1000 bodies, stringy to bushy; every joint is closed once."""
    rng = np.random.default_rng(seed)
    n, along, reach = int(rng.integers(1, 1001)), rng.uniform(), int(rng.integers(1, 9))
    near = [-1] + [int(rng.integers(max(0, i - reach), i)) for i in range(1, n)]
    far = [-1] + [int(rng.integers(min(i, reach))) for i in range(1, n)]
    mixed = [-1] + [i - 1 if rng.uniform() < along else int(rng.integers(i)) for i in range(1, n)]
    forest = [-1] + [-1 if rng.uniform() < along else int(rng.integers(i)) for i in range(1, n)]
    for parent in (near, far, mixed, forest):
        plan = plan_assembly(parent, [Edge(p, i, 5) for i, p in enumerate(parent)])
        assert 2 * plan.levels <= 2 * np.log2(n) + 2
        closed = np.concatenate([group.edges.reshape(-1) for group in plan.groups])
        assert sorted(closed) == list(range(n))


@pytest.mark.parametrize("loop", ["fixed", "revolute", "spherical"])
def test_hub_with_a_loop(loop, error):
    """A hub with forty arms; its second arm is tied to the ground, redundantly unless by a ball."""
    rng = np.random.default_rng(0)
    parent = [-1, 0, 1, *[0] * 37, 3, 40, 40]
    tree = build(parent, rng)
    q = np.zeros(tree.nq)
    offset = np.array([0.3, 0.1, 0.2])
    ends = {"position_predecessor": sum(tree.links[i].joint.position for i in (0, 1, 2)) + offset}
    ends["position_successor"] = offset
    tie = LoopJoint("L", loop, "ground", "b2", **ends, axis=rng.normal(size=3))
    closed, tau = ClosedModel(tree, [tie]), rng.normal(size=tree.nq)
    result = divide_and_conquer(closed).forward_dynamics(q, None, tau)
    want = closed_forward_dynamics(closed, q, None, tau)
    assert error(result.qdd, want.qdd) < 1e-9
    assert result.levels <= 2 * np.log2(len(parent)) + 2
    assert bool(result.undetermined) == (loop != "spherical") == bool(want.undetermined)
