"""Speed of the rigid-body room as ratios against a peer in the same run.

Run with ``OPENBLAS_NUM_THREADS=1 python tests/benchmarks/bench_rigidbody.py``; the best of several repeats
counts. The articulated-body algorithm in a Python loop over pinocchio's ``aba`` is the peer where pinocchio
is installed.
"""

import time

import numpy as np

from lftgen.rigidbody import (
    Body,
    Joint,
    JointForce,
    Model,
    divide_and_conquer,
    forward_dynamics,
    forward_dynamics_derivatives,
    linearize,
)


def chain(n, seed=0):
    """Serial chain of n revolute joints, axes and masses at random."""
    rng = np.random.default_rng(seed)
    bodies = [Body(f"b{i}", rng.uniform(0.5, 2), rng.normal(size=3) / 4, np.eye(3) * 0.2) for i in range(n)]
    joints = [
        Joint(
            f"j{i}", "revolute", f"b{i - 1}" if i else "ground", f"b{i}",
            axis=rng.normal(size=3), position=rng.normal(size=3) / 2,
        )
        for i in range(n)
    ]  # fmt: skip
    return Model(bodies, joints)


def best(function, repeats=7):
    """Shortest time of a call, s."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def pinocchio_loop(model, q, v, tau):
    """Python loop over ``pinocchio.aba``, or None without pinocchio."""
    try:
        import pinocchio as pin
    except ImportError:
        return None
    peer = pin.Model()
    parent = 0
    for link in model.links:
        place = pin.SE3(link.joint.rotation, link.joint.position)
        parent = peer.addJoint(
            parent, pin.JointModelRevoluteUnaligned(link.joint.axis), place, link.joint.name
        )
        inertia = pin.Inertia(float(link.body.mass), link.body.com, link.body.inertia_com)
        peer.appendBodyToJoint(parent, inertia, pin.SE3.Identity())
    data = peer.createData()
    return lambda: [pin.aba(peer, data, *point) for point in zip(q, v, tau, strict=True)]


def main():
    """Print one line per comparison."""
    rng = np.random.default_rng(1)
    arm = chain(7)
    q, v, tau = rng.normal(size=(3, 10_000, 7))
    ours = best(lambda: forward_dynamics(arm, q, v, tau))
    loop = pinocchio_loop(arm, q, v, tau)
    print(f"articulated-body, 7 joints, 10 000 configurations in one call: {1e3 * ours:.1f} ms")
    if loop is not None:
        peer = best(loop, 3)
        print(f"  {ours / peer:.2f} times a loop over pinocchio's aba ({1e3 * peer:.1f} ms)")
    long = chain(1000)
    q, v, tau = rng.normal(size=(3, 1000)) / 3
    plan = divide_and_conquer(long)
    scalar, divided = (
        best(lambda: forward_dynamics(long, q, v, tau)),
        best(lambda: plan.forward_dynamics(q, v, tau)),
    )
    print(f"chain of 1000: articulated-body {1e3 * scalar:.1f} ms, divide-and-conquer {1e3 * divided:.1f} ms")
    print(f"  {scalar / divided:.1f} times faster, {2 * plan.plan.levels} sequential levels")
    q = rng.normal(size=(1000, 7))
    points = best(lambda: linearize(arm, q, [JointForce(f"j{i}") for i in range(7)]), 3)
    one = best(lambda: linearize(arm, q[0], [JointForce(f"j{i}") for i in range(7)]))
    print(
        f"linearize, 7 joints: {1e3 * one:.2f} ms a point, {1e3 * points:.0f} ms for 1000 points in one call"
    )
    zero = np.zeros_like(q)
    fast = best(lambda: forward_dynamics_derivatives(arm, q, zero, zero), 3)
    print(
        f"analytical derivatives at the same 1000 points: {1e3 * fast:.0f} ms, {points / fast:.1f} times faster"
    )


if __name__ == "__main__":
    main()
