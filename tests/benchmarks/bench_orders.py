"""Sizes and times of chains, printed as measured: ``python -m tests.benchmarks orders [--large] [--search]``.

``--large`` adds chains of 20 links (two minutes), ``--search`` the counts that a minute of searching finds in some chains.

For each chain the recursion over blocks (what an n-D reduction alone reaches), the form chosen by default, the sum of
the order bounds, the time from the mechanism to the reduced model, the memory in use at most so far, and the error
against the numeric model; then the growth of order and time with the number of links, fitted on the logarithms.
"""

import resource
import time

import numpy as np

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


COLUMNS = ("chain", "links", "n-D reduction", "order", "sum of bounds", "seconds", "memory, MB", "error")
COMPARED = 10
"""Longer chains are not built a second time, by the recursion."""


def measured(kind, n):
    """Recursion's order, default order, bound, seconds, megabytes and error of one chain."""
    mechanism = chain(kind, n)
    start = time.perf_counter()
    plant = mechanism.linearize().reduce()
    seconds = time.perf_counter() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    recursion = mechanism.linearize(method="recursive").order if n <= COMPARED else None
    bound = sum(plant.order_bound().values()) if n <= COMPARED else None
    error = lg.check(mechanism, plant, samples=20 if n <= COMPARED else 3).max_relative_error
    return recursion, plant.order, bound, seconds, memory, error


def exponent(sizes, values):
    """Slope of log(value) over log(size)."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def rows_of(sizes, fits):
    """Rows of all chains; what the fits need is kept in ``fits``."""
    for kind in AXES:
        for n in sizes[kind]:
            recursion, order, bound, seconds, memory, error = measured(kind, n)
            fits.setdefault(kind, {})[n] = (order, seconds)
            cells = (recursion, order, bound, f"{seconds:.2f}", f"{memory:.0f}", f"{error:.0e}")
            yield (kind, str(n), *("" if c is None else str(c) for c in cells))


def fitted(fits):
    """Exponents over the chains of :data:`GROWTH` that were measured."""
    for kind, found in fits.items():
        sizes = [n for n in GROWTH if n in found]
        order, seconds = (exponent(sizes, [found[n][k] for n in sizes]) for k in (0, 1))
        yield (kind, ", ".join(map(str, sizes)), f"n^{order:.2f}", f"n^{seconds:.2f}")


def searched():
    """Order and error of some chains after searching."""
    for kind, n in SEARCHED:
        mechanism = chain(kind, n)
        start = time.perf_counter()
        plant = mechanism.linearize(search=SEARCH_SECONDS)
        seconds = time.perf_counter() - start
        error = lg.check(mechanism, plant, samples=20).max_relative_error
        yield (kind, str(n), str(plant.order), f"{seconds:.0f}", f"{error:.0e}")


def tables(large=False, search=False):
    """Title, columns and rows, measured as they are asked for."""
    fits = {}
    sizes = {kind: (*found, LARGE) if large else found for kind, found in SIZES.items()}
    yield "every angle and mass a parameter", COLUMNS, rows_of(sizes, fits)
    yield "growth", ("chain", "links", "order", "seconds"), fitted(fits)
    if search:
        columns = ("chain", "links", "order", "seconds", "error")
        yield f"after search={SEARCH_SECONDS}", columns, searched()
