"""Random trees about random axes: never above the n-D reduction alone, and the model as built, block by block."""

import numpy as np
import pytest

import lftgen as lg


def tree(n, seed, *, branching=0.2, sliding=0.15, masses=True):
    """Links at random places; every coordinate a scheduling parameter, every mass uncertain by 20 % or a number."""
    rng = np.random.default_rng(seed)
    bodies, joints = [], []
    for i in range(n):
        before = "ground" if i == 0 else f"B{i - 1 if rng.uniform() > branching else rng.integers(0, i)}"
        axis = tuple(float(x) for x in rng.standard_normal(3))
        mass = lg.uncertain(f"m{i}", 1 + float(rng.uniform()), percent=20) if masses else 1.3
        bodies.append(
            lg.RigidBody(f"B{i}", mass=mass, com=tuple(rng.uniform(-0.2, 0.2, 3)), inertia=(0.1, 0.12, 0.08))
        )
        place = {"parent": before, "child": f"B{i}", "axis": axis, "origin": tuple(rng.uniform(-0.3, 0.3, 3))}
        if rng.uniform() < sliding:
            joints.append(lg.PrismaticJoint(f"J{i}", position=lg.scheduled(f"q{i}", (-0.3, 0.5)), **place))
        else:
            joints.append(lg.RevoluteJoint(f"J{i}", angle=lg.scheduled_angle(f"q{i}", (-1, 1.2)), **place))
    return lg.Mechanism("tree", bodies=bodies, joints=joints)


LARGE = [(11, 1, True), (12, 6, True), (14, 5, True), (14, 7, False)]
TREES = [(5, 0, True), (6, 2, True), (6, 3, False)]
TREES += [pytest.param(*t, marks=pytest.mark.heavy) for t in LARGE]


@pytest.mark.parametrize(("n", "seed", "masses"), TREES)
def test_never_above_the_recursion(n, seed, masses):
    """Small trees by comparing forms, large ones by the form that wins; reduced once, nothing is lost or kept."""
    mechanism, rng = tree(n, seed, masses=masses), np.random.default_rng(seed)
    plant, recursion = mechanism.linearize(), mechanism.linearize(method="recursive")
    assert plant.order <= recursion.order
    if masses:
        assert plant.order < recursion.order
    values = {p.name: rng.uniform(p.lower, p.upper, 20) for p in mechanism.parameters}
    got, want = plant.evaluate(values), mechanism.linearize(reduce=False).evaluate(values)
    for block in "AB":
        truth = getattr(want, block)
        assert np.abs(getattr(got, block) - truth).max() <= 1e-10 * np.abs(truth).max()
