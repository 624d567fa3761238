"""Time of a point: evaluate and tensor grids against the direct solution and a loop over pinocchio, in one run.

Two-link planar arm and seven-joint alternating arm, every angle and mass a parameter, one core.  The peer sets the
masses, computes the torques that hold the arm (``computeGeneralizedGravity``) and the derivatives
(``computeABADerivatives``) for the same points, in a Python loop.
"""

import time

import numpy as np

from lftgen.lft.evaluation.points import deltas, numeric, solve_points
from tests.benchmarks.bench_orders import AXES, COM, chain

CASES = {"two links": ("planar", 2, 100_000), "seven joints": ("alternating", 7, 10_000)}
GRIDS = {"two links": (300, 300, 5), "seven joints": (100, 100, 5)}
COLUMNS = ("arm", "order", "what", "points", "microseconds a point", "against pinocchio", "difference")


def best(function, repeats):
    """Result and shortest time, s."""
    shortest, out = float("inf"), None
    for _ in range(repeats):
        start = time.perf_counter()
        out = function()
        shortest = min(shortest, time.perf_counter() - start)
    return out, shortest


def pinocchio_loop(kind, n, points):
    """The peer, or None where pinocchio is not installed; returns [ddq_dq, ddq_dv, Minv] at each point."""
    try:
        import pinocchio as pin
    except ImportError:
        return None
    model, parent = pin.Model(), 0
    for i in range(n):
        axis = np.array(AXES[kind][i % len(AXES[kind])], dtype=float)
        place = pin.SE3(np.eye(3), np.array([0, 0, 0.3 * bool(i)]))
        parent = model.addJoint(parent, pin.JointModelRevoluteUnaligned(axis), place, f"J{i}")
        inertia = pin.Inertia(2.0, np.array(COM[kind]), np.diag([0.05, 0.06, 0.02]))
        model.appendBodyToJoint(parent, inertia, pin.SE3.Identity())
    data, rest = model.createData(), np.zeros(n)
    masses = np.stack([points[f"m{i}"] for i in range(n)], axis=1)
    angles = np.stack([points[f"theta{i}"] for i in range(n)], axis=1)
    inertias = [model.inertias[i + 1] for i in range(n)]

    def loop():
        out = np.empty((len(masses), 2, n, n))
        for k, (m, q) in enumerate(zip(masses, angles, strict=True)):
            for inertia, value in zip(inertias, m, strict=True):
                inertia.mass = value
            torque = pin.computeGeneralizedGravity(model, data, q)
            pin.computeABADerivatives(model, data, q, rest, torque)
            out[k, 0], out[k, 1] = data.ddq_dq, data.Minv
        return out

    return loop


def measured(name, repeats=5):
    """Rows of one arm."""
    kind, n, count = CASES[name]
    plant = chain(kind, n).linearize().reduce()
    rng = np.random.default_rng(0)
    points = {p.name: rng.uniform(p.lower, p.upper, count) for p in plant.parameters}
    plant.evaluate({k: v[:1000] for k, v in points.items()})  # the program is found once for each model
    value, ours = best(lambda: plant.evaluate(points), repeats)
    loop, peer, difference = pinocchio_loop(kind, n, points), None, ""
    if loop is not None:
        truth, peer = best(loop, 3)
        minv = np.triu(truth[:, 1]) + np.swapaxes(np.triu(truth[:, 1], 1), 1, 2)
        difference = f"{np.abs(value.B[:, n:] - minv).max() / np.abs(minv).max():.0e}"
    a, few = numeric(plant.data), 500
    some = deltas(a, {k: v[:few] for k, v in points.items()})[1]
    _, direct = best(lambda: solve_points(a, some, few), 3)
    axes = dict(zip(("theta1", "theta0" if n == 2 else "theta2", "m1"), GRIDS[name], strict=True))
    ranges = {p.name: np.linspace(p.lower, p.upper, axes[p.name]) for p in plant.parameters if p.name in axes}
    size = int(np.prod(GRIDS[name]))
    _, grid = best(lambda: plant.evaluate_grid({k: ranges[k] for k in axes}), repeats)
    per = 1e6 / count
    base = None if peer is None else peer * per
    rows = [
        ("random points", count, ours * per, difference),
        ("direct solution", few, direct * 1e6 / few, ""),
    ]
    rows += [] if peer is None else [("pinocchio, loop", count, base, "")]
    rows += [(f"grid {'x'.join(map(str, GRIDS[name]))}", size, grid * 1e6 / size, "")]
    for what, number, micro, error in rows:
        ratio = "" if base is None else f"{micro / base:.3g}"
        yield (name, str(plant.order), what, str(number), f"{micro:.3g}", ratio, error)


def tables(large=False):
    """Title, columns and rows, measured as they are asked for."""
    yield "evaluation, one core", COLUMNS, (row for name in CASES for row in measured(name))
