"""Random trees with random loop joints of every kind, redundant ones among them."""

import numpy as np
import pytest

from lftgen.rigidbody import (
    Body,
    ClosedModel,
    Joint,
    JointForce,
    LoopJoint,
    Model,
    bias_force,
    choose_independent,
    closed_equilibrium,
    closed_forward_dynamics,
    closed_linearize,
    divide_and_conquer,
    kinematics,
    mass_matrix,
    rate_map,
    solve_posture,
)
from lftgen.rigidbody.joints import displacement
from lftgen.rigidbody.posture import residual_and_jacobian

KINDS = ("fixed", "revolute", "prismatic", "helical", "cylindrical", "planar", "spherical")


def close(rng, model, q, kind, before, after):
    """A loop joint whose frames meet at q, with a random displacement between them."""
    state = kinematics(model, q)
    R1, p1 = np.eye(3), np.zeros(3)
    if before != "ground":
        R1, p1 = state.rotation[before], state.position[before]
    R2, p2 = state.rotation[after], state.position[after]
    F2, o2 = np.linalg.qr(rng.normal(size=(3, 3)))[0], rng.normal(size=3)
    F2 = F2 * np.linalg.det(F2)
    more = {"axis": rng.normal(size=3), "pitch": 0.2, "rotation_successor": F2, "position_successor": o2}
    S = LoopJoint("L", kind, before, after, **more).subspace
    turn, shift = displacement(S, rng.normal(size=S.shape[1]))
    F1 = R2 @ F2 @ turn.T  # the successor's frame, moved back, in reference axes
    o1 = p2 + R2 @ o2 - F1 @ shift
    return {**more, "rotation_predecessor": R1.T @ F1, "position_predecessor": R1.T @ (o1 - p1)}


def mechanism(rng, tree, kinds, n=6):
    """A tree of one-DoF joints, and loop joints between random bodies, closed at a random posture."""
    model = tree(rng, n, kinds=("revolute", "prismatic", "helical"), loads=2, momentum=True, dampers=True)
    q = rng.normal(size=model.nq)
    loops = []
    for k, kind in enumerate(kinds):
        before, after = rng.choice(["ground", *(f"b{i}" for i in range(n))], 2, replace=False)
        if after == "ground":
            before, after = after, before
        loops.append(LoopJoint(f"L{k}", kind, before, after, **close(rng, model, q, kind, before, after)))
    return ClosedModel(model, loops), q


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_one_loop_of_each_kind(seed, kind, tree, error, mechanisms):
    """Residual zero where it closes; dynamics against the augmented system."""
    rng = np.random.default_rng(seed)
    closed, q = mechanism(rng, tree, [kind])
    r, K = residual_and_jacobian(closed, q)
    assert np.abs(r).max(initial=0) < 1e-13
    step, _ = residual_and_jacobian(closed, q + 1e-30j * np.eye(len(q)))
    assert error(step.imag.T / 1e-30, K) < 1e-9  # dr = K δ
    check(closed, q, rng, error, mechanisms)


@pytest.mark.parametrize("seed", range(8))
def test_many_loops(seed, tree, error, mechanisms):
    """Two or three loops, often with nothing left to move or with redundant constraints."""
    rng = np.random.default_rng(100 + seed)
    closed, q = mechanism(rng, tree, rng.choice(KINDS, 2 + seed % 2), n=9)
    check(closed, q, rng, error, mechanisms)


def check(closed, q, rng, error, mechanisms):
    """Accelerations by loop forces and by handles against one augmented least-squares system."""
    _, K = residual_and_jacobian(closed, q)
    v = rng.normal(size=len(q))
    v = v - np.linalg.pinv(K, rcond=1e-10) @ (K @ v)
    tau = rng.normal(size=len(q))
    result = closed_forward_dynamics(closed, q, v, tau)
    want = mechanisms.augmented(closed, q, v, tau)
    size = np.abs(np.linalg.solve(mass_matrix(closed.tree, q), tau - bias_force(closed.tree, q, v))).max()
    assert np.abs(result.qdd - want).max() < 1e-8 * size
    divided = divide_and_conquer(closed).forward_dynamics(q, v, tau)
    assert np.abs(divided.qdd - want).max() < 1e-8 * size


def test_linear_model_of_a_random_loop(tree, error):
    """Complex step through a spatial loop against central differences on closed postures."""
    rng = np.random.default_rng(5)
    closed, q = mechanism(rng, tree, ["spherical"], n=6)
    names = choose_independent(closed, q)
    columns = [closed.tree.links[closed.tree.joint_index(name)].dofs.start for name in names]
    k = len(names)
    everything = [joint.name for joint in closed.tree.joints]
    plant = closed_linearize(closed, q, names, [JointForce(names[0])], actuated=everything)
    held = closed_forward_dynamics(closed, q).qdd  # what the held torques must cancel
    assert np.abs(held).max() > 1e-3
    tau, h = closed_equilibrium(closed, q, everything), 1e-4
    # a spring without rest is slack at the equilibrium
    stiffness = np.diag([float(j.stiffness[0]) for j in closed.tree.joints])
    for j in range(k):
        values = []
        for sign in (1, -1):
            moved = solve_posture(
                closed, q, dict(zip(names, q[columns] + sign * h * np.eye(k)[j], strict=True))
            )
            drive = tau - stiffness @ (moved - q)
            values.append(closed_forward_dynamics(closed, moved, None, drive).qdd[columns])
        assert error((values[0] - values[1]) / (2 * h), plant.A[k:, j]) < 1e-5
    G = rate_map(closed, q, names)
    damping = np.diag([float(j.damping[0]) for j in closed.tree.joints])
    inertia = np.linalg.inv(G.T @ mass_matrix(closed.tree, q) @ G)
    spinning = any(body.momentum.any() for body in closed.tree.bodies)
    assert spinning or error(plant.A[k:, k:], -inertia @ G.T @ damping @ G) < 1e-9


def test_screw_beyond_a_turn():
    """A nut on a screw, doubled by a helical loop joint: closed after any number of turns."""
    nut = Body("nut", 1.0, (0, 0, 0), np.eye(3))
    tree = Model([nut], [Joint("J", "helical", "ground", "nut", axis=(0, 0, 1), pitch=0.2)])
    closed = ClosedModel(tree, [LoopJoint("L", "helical", "ground", "nut", axis=(0, 0, 1), pitch=0.2)])
    for q in (0.0, 1.0, 3.5, 20.0, -50.0):
        assert np.abs(residual_and_jacobian(closed, np.array([q]))[0]).max() < 1e-12
    coarse = LoopJoint("L", "helical", "ground", "nut", axis=(0, 0, 1), pitch=0.3)
    r, _ = residual_and_jacobian(ClosedModel(tree, [coarse]), np.array([1.0]))
    assert np.abs(r).max() > 0.05
