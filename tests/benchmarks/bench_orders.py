"""Sizes and times of chains, printed as measured: ``python tests/benchmarks/bench_orders.py [--large] [--search]``.

``--large`` adds chains of 20 links (a minute), ``--search`` the counts that a minute of searching finds in some chains.

For each chain the recursion over blocks (what an n-D reduction alone reaches), the form chosen by default, the sum of
the order bounds, the time from the mechanism to the reduced model, and the error against the numeric model; then the
growth of order and time with the number of links, fitted on the logarithms.
"""

import sys
import time

import numpy as np
from rich.console import Console
from rich.table import Table

import lftgen as lg

AXES = {"planar": [(1, 0, 0)], "alternating": [(0, 0, 1), (1, 0, 0)]}
COM = {"planar": (0, 0, 0.15), "alternating": (0.02, 0.01, 0.15)}
SIZES = {"planar": (2, 3, 4, 5, 7, 10), "alternating": (2, 3, 4, 5, 7, 10)}
LARGE = 20
GROWTH = (5, 10, 20)
SEARCHED = (("planar", 4), ("planar", 5), ("alternating", 7))
SEARCH_SECONDS = 60


def chain(kind, n):
    """Equal links; every angle scheduled over (-1.2, 1.2) rad, every mass uncertain by 20 %."""
    bodies, joints = [], []
    for i in range(n):
        mass = lg.uncertain(f"m{i}", 2.0, percent=20)
        angle = lg.scheduled_angle(f"theta{i}", (-1.2, 1.2))
        bodies.append(lg.RigidBody(f"B{i}", mass=mass, com=COM[kind], inertia=(0.05, 0.06, 0.02)))
        joint = {"axis": AXES[kind][i % len(AXES[kind])], "angle": angle, "damping": 0.1, "stiffness": 0.1}
        parent = f"B{i - 1}" if i else "ground"
        joints.append(
            lg.RevoluteJoint(f"J{i}", parent=parent, child=f"B{i}", origin=(0, 0, 0.3 * bool(i)), **joint)
        )
    return lg.Mechanism("chain", bodies=bodies, joints=joints)


def measured(kind, n):
    """Recursion's order, default order, bound, seconds and error of one chain."""
    mechanism = chain(kind, n)
    start = time.perf_counter()
    plant = mechanism.linearize().reduce()
    seconds = time.perf_counter() - start
    recursion = mechanism.linearize(method="recursive").order if n <= 10 else None
    bound = sum(plant.order_bound().values()) if n <= 10 else None
    error = lg.check(mechanism, plant, samples=20 if n <= 10 else 3).max_relative_error if n <= 10 else None
    return recursion, plant.order, bound, seconds, error


def exponent(sizes, values):
    """Slope of log(value) over log(size), sizes of GROWTH."""
    n, v = (np.log([x for s, x in zip(sizes, xs, strict=True) if s in GROWTH]) for xs in (sizes, values))
    return float(np.polyfit(n, v, 1)[0])


def searched():
    """Order and error of some chains after searching."""
    for kind, n in SEARCHED:
        mechanism = chain(kind, n)
        plant = mechanism.linearize(search=SEARCH_SECONDS)
        error = lg.check(mechanism, plant, samples=20).max_relative_error
        yield f"{kind} {n}, searched for {SEARCH_SECONDS} s: order {plant.order}, error {error:.0e}"


def main():
    """Print the table and the exponents."""
    console = Console()
    table = Table(
        "chain",
        "links",
        "recursion",
        "order",
        "bound",
        "seconds",
        "error",
        title="every angle and mass a parameter",
    )
    fits = []
    for kind, sizes in SIZES.items():
        sizes = (*sizes, LARGE) if "--large" in sys.argv else sizes
        rows = [measured(kind, n) for n in sizes]
        for n, (recursion, order, bound, seconds, error) in zip(sizes, rows, strict=True):
            cells = (recursion, order, bound, f"{seconds:.2f}", None if error is None else f"{error:.0e}")
            table.add_row(kind, str(n), *("" if c is None else str(c) for c in cells))
        fits.append(
            f"{kind}: order ~ n^{exponent(sizes, [r[1] for r in rows]):.2f}, time ~ n^{exponent(sizes, [r[3] for r in rows]):.2f}"
        )
    console.print(table)
    console.print("\n".join(fits))
    if "--search" in sys.argv:
        for line in searched():
            console.print(line)


if __name__ == "__main__":
    main()
