"""Time of a point: evaluate and tensor grids against the direct solution and a loop over pinocchio, in one run.

Two-link planar arm and seven-joint alternating arm, every angle and mass a parameter, one core.  The peer sets the
masses, computes the torques that hold the arm (``computeGeneralizedGravity``) and the derivatives
(``computeABADerivatives``) for the same points, in a Python loop.
"""

import math
import time

import numpy as np

from lftgen.lft.evaluation.points import deltas, numeric, solve_points
from tests.benchmarks.bench_orders import AXES, COM, chain

CASES = {"two links": ("planar", 2, 100_000), "seven joints": ("alternating", 7, 10_000)}
GRIDS = {
    "two links": [
        {"theta0": 300, "theta1": 300, "m1": 5},
        {"theta1": 300, "theta0": 300, "m1": 5},
        {"m1": 5, "theta0": 300, "theta1": 300},
    ],
    "seven joints": [{"theta1": 100, "theta2": 100, "m1": 5}, {"theta0": 100, "theta2": 100, "m1": 5}],
}
COLUMNS = (
    "arm",
    "order",
    "what",
    "points",
    "microseconds a point",
    "against pinocchio",
    "random / this",
    "difference",
)
REPEATS = 9


def best_of(functions, repeats):
    """Shortest time of each, s; in turn, so that what else the machine does meets all of them."""
    shortest = [float("inf")] * len(functions)
    for _ in range(repeats):
        for i, function in enumerate(functions):
            start = time.perf_counter()
            function()
            shortest[i] = min(shortest[i], time.perf_counter() - start)
    return shortest


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


def measured(name, repeats=REPEATS):
    """Rows of one arm."""
    kind, n, count = CASES[name]
    plant = chain(kind, n).linearize().reduce()
    rng = np.random.default_rng(0)
    points = {p.name: rng.uniform(p.lower, p.upper, count) for p in plant.parameters}
    ranges = {p.name: (p.lower, p.upper) for p in plant.parameters}
    grids = [{k: np.linspace(*ranges[k], size) for k, size in grid.items()} for grid in GRIDS[name]]
    value = plant.evaluate(points)  # the program is found once for each model
    tasks = [lambda: plant.evaluate(points), *(lambda g=g: plant.evaluate_grid(g) for g in grids)]
    random, *gridded = best_of(tasks, repeats)
    a, few = numeric(plant.data), 500
    some = deltas(a, {k: v[:few] for k, v in points.items()})[1]
    (direct,) = best_of([lambda: solve_points(a, some, few)], 3)
    loop, peer, difference = pinocchio_loop(kind, n, points), None, ""
    if loop is not None:
        truth = loop()
        (peer,) = best_of([loop], 3)
        minv = np.triu(truth[:, 1]) + np.swapaxes(np.triu(truth[:, 1], 1), 1, 2)
        difference = f"{np.abs(value.B[:, n:] - minv).max() / np.abs(minv).max():.0e}"
    rows = [("random points", count, random / count, difference), ("direct solution", few, direct / few, "")]
    rows += [] if peer is None else [("pinocchio, loop", count, peer / count, "")]
    for grid, seconds in zip(grids, gridded, strict=True):
        size = math.prod(len(v) for v in grid.values())
        title = " x ".join(f"{len(v)} {k}" for k, v in grid.items())
        rows.append((title, size, seconds / size, f"{grid_difference(plant, grid):.0e}"))
    for what, number, seconds, error in rows:
        against = "" if peer is None else f"{seconds * count / peer:.3g}"
        ratio = f"{random / count / seconds:.3g}"
        yield (name, str(plant.order), what, str(number), f"{1e6 * seconds:.3g}", against, ratio, error)


def grid_difference(plant, grid, n=2000):
    """Largest difference between a grid and ``evaluate`` at some of its points, relative to the largest entry."""
    rng = np.random.default_rng(1)
    index = {k: rng.integers(len(v), size=n) for k, v in grid.items()}
    value, want = plant.evaluate_grid(grid), plant.evaluate({k: v[index[k]] for k, v in grid.items()})
    place = tuple(index.values())
    return max(
        np.abs(getattr(value, name)[place] - getattr(want, name)).max() / np.abs(getattr(want, name)).max()
        for name in "AB"
    )


def tables(large=False):
    """Title, columns and rows, measured as they are asked for."""
    yield "evaluation, one core", COLUMNS, (row for name in CASES for row in measured(name))
