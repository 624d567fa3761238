"""Handles, projection and assembly: independent ways to the same equations of motion."""

import numpy as np
import pytest

from lftgen.errors import IllPosedError, ModelError
from lftgen.rigidbody import (
    ArticulatedInertia,
    ArticulatedMobility,
    Body,
    Joint,
    Model,
    assembly,
    forward_dynamics,
    forward_dynamics_by,
    joints,
    project,
)
from lftgen.rigidbody.forward import articulated_body
from lftgen.rigidbody.kinematics import base_motion, placements, transforms


def passes(model, q, v, tau):
    """The three passes on a tree without loads."""
    X = transforms(placements(model, q))
    return articulated_body(model, X, v, tau, [None] * len(model.links), base_motion(model))


def floating(rng, n, tree):
    """Random tree whose root floats: its handle has six degrees of freedom."""
    model = tree(rng, n, momentum=True)
    root = model.links[0].joint
    free = Joint(root.name, "free", "ground", root.child, root.rotation, root.position)
    return Model(model.bodies, [free if j is root else j for j in model.joints], gravity=model.gravity)


@pytest.mark.parametrize("seed", range(6))
def test_projection_and_assembly_agree(seed, tree, error):
    """(7.12), (7.13) on H and C give the I^A and p^A of the recursion (7.37)-(7.40)."""
    rng = np.random.default_rng(seed)
    model = floating(rng, 1 + 2 * seed, tree)
    q, v, tau = rng.normal(size=(3, model.nq))
    tau[model.links[0].dofs] = 0
    result = passes(model, q, v, tau)
    handle = project(model, ["b0"], q, v, tau).inertia()
    assert error(result.inertia[0], handle.inertia) < 1e-9
    assert error(result.bias[0], handle.bias) < 1e-9
    for inertia in result.inertia:
        assert error(inertia, inertia.T) < 1e-12
        assert np.linalg.eigvalsh((inertia + inertia.T) / 2).min() > 0


@pytest.mark.parametrize("seed", range(4))
def test_several_handles(seed, tree, error):
    """(7.4): forces at two handles act as external wrenches; Φ is symmetric, its rank that of J (7.14)."""
    rng = np.random.default_rng(seed)
    model = tree(rng, 5, kinds=("revolute", "prismatic", "fixed"))
    q, v, tau = rng.normal(size=(3, model.nq))
    names = ["b2", "b4"]
    both = project(model, names, q, v, tau)
    f = rng.normal(size=12)
    wrenches = {names[0]: f[:6], names[1]: f[6:]}
    qdd = forward_dynamics(model, q, v, tau, wrenches=wrenches)
    X = transforms(placements(model, q))
    external = [wrenches.get(link.body.name) for link in model.links]
    result = articulated_body(model, X, v, tau, external, base_motion(model))
    np.testing.assert_allclose(result.qdd, qdd)
    a = np.concatenate([result.acceleration[model.index(name)] for name in names])
    assert error(both.acceleration(f), a) < 1e-9
    assert error(both.mobility, both.mobility.T) < 1e-12
    assert np.linalg.eigvalsh(both.mobility).min() > -1e-12 * np.abs(both.mobility).max()
    assert both.rank() == model.nq - dead_dofs(model, names)
    assert both.handle(1).bias.shape == (6,)


def dead_dofs(model, names):
    """Degrees of freedom that no handle feels."""
    felt = set()
    for name in names:
        i = model.index(name)
        while i >= 0:
            felt.add(i)
            i = model.links[i].parent
    return sum(link.joint.dof for i, link in enumerate(model.links) if i not in felt)


def random_pair(rng):
    """Two random articulated bodies, a joint's c and τ."""
    a, b = rng.normal(size=(2, 6, 8))
    return ArticulatedInertia(a @ a.T, rng.normal(size=6)), ArticulatedInertia(b @ b.T, rng.normal(size=6))


@pytest.mark.parametrize("kind", list(joints.DOFS))
def test_assembly_formulae_agree(kind, error):
    """Standard formula, variant 1 and variant 2, and the five equations (7.51)-(7.55) that they solve."""
    rng = np.random.default_rng(7)
    axis = rng.normal(size=3)
    S = joints.motion_subspace(kind, axis / np.linalg.norm(axis), np.array(0.3))
    first, second = random_pair(rng)
    c, tau, a1 = rng.normal(size=6), rng.normal(size=S.shape[1]), rng.normal(size=6)
    joined = assembly.assemble(first, second, S, c, tau)
    implicit = assembly.assemble_implicit(first, second, S, c, tau)
    mobile = assembly.assemble_mobilities(first.mobility(), second.mobility(), S, c, tau).inertia()
    for other in (implicit, mobile):
        assert error(other.inertia, joined.inertia) < 1e-9
        assert error(other.bias, joined.bias) < 1e-9
    qdd = assembly.joint_acceleration(second, S, c, tau, a1)
    a2, step = assembly.implicit_child_acceleration(second.mobility(), S, c, tau, a1)
    assert error(step, qdd) < 1e-9
    np.testing.assert_allclose(a2, a1 + c + S @ qdd, atol=1e-9)  # (7.54)
    f2 = second.force(a2)
    np.testing.assert_allclose(S.T @ f2, tau, atol=1e-8)  # (7.55)
    np.testing.assert_allclose(first.force(a1) + f2, joined.force(a1), atol=1e-7)  # (7.53), (7.56)
    across = assembly.propagate(second, S, c, tau)
    np.testing.assert_allclose(across.inertia @ S, 0, atol=1e-10)
    np.testing.assert_allclose(across.force(a1), f2, atol=1e-8)  # (7.25)


@pytest.mark.parametrize("formula", ["standard", "mobility", "implicit"])
@pytest.mark.parametrize("n", [1, 2, 5, 12, 30])
def test_algorithm_with_each_formula(formula, n, tree, error):
    """Each formula serves as the assembly step of the algorithm, on trees of all joint kinds."""
    rng = np.random.default_rng(n)
    model = tree(rng, n, loads=3, momentum=True, dampers=True)
    q, v, tau = rng.normal(size=(3, model.nq))
    more = {"prescribed": {"j0": (rng.normal(size=6), rng.normal(size=6))}}
    got = forward_dynamics_by(formula, model, q, v, tau, **more)
    assert error(got, forward_dynamics(model, q, v, tau, **more)) < 1e-9


def test_vectorised_formulae(tree, error):
    """Batch axes pass through projection and every formula."""
    rng = np.random.default_rng(0)
    model = tree(rng, 4, batch=(3,), loads=2)
    q, v, tau = rng.normal(size=(3, 3, model.nq))
    want = forward_dynamics(model, q, v, tau)
    for formula in ("standard", "mobility", "implicit"):
        assert error(forward_dynamics_by(formula, model, q, v, tau), want) < 1e-10
    assert project(model, ["b3"], q, v, tau).mobility.shape == (3, 6, 6)


def test_welded_bodies_add_up(error):
    """Two rigid bodies welded: inertias and biases are sums (RBDA figure 7.2)."""
    one = Body("one", 1.0, (0.1, 0, 0.3), np.diag([1, 1.5, 2]))
    two = Body("two", 2.0, (0, 0.4, 0), np.diag([0.5, 0.5, 0.4]))
    joints_ = [Joint("F", "free", "ground", "one"), Joint("W", "fixed", "one", "two")]
    model = Model([one, two], joints_)
    whole = project(model, ["one"], np.zeros(6)).inertia()
    rest = ArticulatedInertia(one.inertia, np.zeros(6)) + ArticulatedInertia(two.inertia, np.zeros(6))
    assert error(whole.inertia, rest.inertia) < 1e-12
    with pytest.raises(ModelError, match="as many handles"):
        rest + ArticulatedInertia(np.eye(12), np.zeros(12))


def test_forms_that_do_not_exist():
    """Singular inertias and mobilities are named with their rank."""
    hinge = ArticulatedMobility(np.diag([0, 0, 1e-6, 0, 0, 0]), np.zeros(6))
    assert hinge.rank() == 1
    with pytest.raises(IllPosedError, match="rank 1 of 6"):
        hinge.inertia()
    point = Body("p", 1.0, (0, 0, 1), np.zeros((3, 3)))
    with pytest.raises(IllPosedError, match="rank 3 of 6"):
        ArticulatedInertia(point.inertia, np.zeros(6)).mobility()
    model = Model([point], [Joint("J", "revolute", "ground", "p", axis=(1, 0, 0))])
    np.testing.assert_allclose(forward_dynamics_by("standard", model, [0.3]), forward_dynamics(model, [0.3]))
    for formula in ("mobility", "implicit"):
        with pytest.raises(IllPosedError, match="'p' on joint 'J'" if formula == "mobility" else "I\\^A"):
            forward_dynamics_by(formula, model, [0.3])
    still = ArticulatedMobility(np.zeros((6, 6)), np.zeros(6))
    with pytest.raises(IllPosedError, match="repeats constraints"):
        assembly.assemble_mobilities(hinge, still, np.eye(6)[:, 2:3], np.zeros(6), np.zeros(1))
    with pytest.raises(ModelError, match="full column rank"):
        joints.constraint_subspace(np.ones((6, 2)))
    with pytest.raises(ModelError, match="expected one of standard"):
        forward_dynamics_by("best", model, [0.0])
    heavy = Model([point], [Joint("J", "revolute", "ground", "p", axis=(1, 0, 0), armature=1.0)])
    with pytest.raises(ModelError, match="'J' has an armature"):
        forward_dynamics_by("standard", heavy, [0.0])
    with pytest.raises(ModelError, match="at least one handle"):
        project(model, [], [0.0])
