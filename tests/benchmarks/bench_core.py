"""Speed ratios of the core, measured in one run: ``python tests/benchmarks/bench_core.py``.

1. ``evaluate`` on 1e5 points of the two-link arm against ``at`` in a loop.
2. From a mechanism to a model that can be evaluated: this library against sympy's Kane method and ``linearize``, on the
   same spatial chain of four links (axes z, x, z, x), numbers for masses, symbols (parameters) for the four angles.
3. Build, trim, linearise and reduce the two-link arm.
"""

import time

import numpy as np
import sympy as sp
from sympy.physics import mechanics as me

import lftgen as lg

COM, OFFSET, MASS, INERTIA = (0.02, 0.01, 0.15), 0.3, 2.0, (0.05, 0.06, 0.02)
AXES = [(0, 0, 1), (1, 0, 0), (0, 0, 1), (1, 0, 0)]


def arm():
    """Two links and a tip mass, three masses and two angles."""
    mass = [lg.uncertain(f"m{i}", m, percent=20) for i, m in enumerate((5.0, 3.0, 2.0), 1)]
    angle = [lg.scheduled_angle(f"theta{i}", (-1.5, 1.5)) for i in (1, 2)]
    bodies = [
        lg.RigidBody("B1", mass=mass[0], com=(0, 0, 0.5), inertia=(0.4, 0.4, 0.01)),
        lg.RigidBody("B2", mass=mass[1], com=(0, 0, 0.4), inertia=(0.2, 0.2, 0.01)),
        lg.RigidBody("B3", mass=mass[2]),
    ]
    spring = {"axis": (1, 0, 0), "damping": 0.1, "stiffness": 0.1}
    joints = [
        lg.RevoluteJoint("J1", parent="ground", child="B1", angle=angle[0], **spring),
        lg.RevoluteJoint("J2", parent="B1", child="B2", origin=(0, 0, 1), angle=angle[1], **spring),
        lg.FixedJoint("tip", parent="B2", child="B3", origin=(0, 0, 0.8)),
    ]
    return lg.Mechanism("arm", bodies=bodies, joints=joints).linearize()


def chain():
    """The spatial chain in lftgen."""
    bodies, joints = [], []
    for i, axis in enumerate(AXES):
        bodies.append(lg.RigidBody(f"B{i}", mass=MASS, com=COM, inertia=INERTIA))
        parent = {"parent": f"B{i - 1}", "origin": (0, 0, OFFSET)} if i else {"parent": "ground"}
        angle = lg.scheduled_angle(f"q{i}", (-1.2, 1.2))
        joints.append(lg.RevoluteJoint(f"J{i}", **parent, child=f"B{i}", axis=axis, angle=angle))
    return lg.Mechanism("chain", bodies=bodies, joints=joints).linearize()


def kane():
    """The same chain with sympy: (A, B) as a numeric function of the four angles."""
    n = len(AXES)
    q, u, tau = me.dynamicsymbols(f"q:{n}"), me.dynamicsymbols(f"u:{n}"), me.dynamicsymbols(f"tau:{n}")
    ground, point = me.ReferenceFrame("N"), me.Point("O")
    point.set_vel(ground, 0)
    frame, bodies, loads = ground, [], []
    for i, axis in enumerate(AXES):
        child = me.ReferenceFrame(f"F{i}")
        direction = frame.z if axis[2] else frame.x
        child.orient_axis(frame, direction, q[i])
        child.set_ang_vel(frame, u[i] * direction)
        if i:
            hinge = point.locatenew(f"P{i}", OFFSET * frame.z)
            hinge.v2pt_theory(point, ground, frame)
            point = hinge
        centre = point.locatenew(f"C{i}", COM[0] * child.x + COM[1] * child.y + COM[2] * child.z)
        centre.v2pt_theory(point, ground, child)
        bodies.append(me.RigidBody(f"B{i}", centre, child, MASS, (me.inertia(child, *INERTIA), centre)))
        loads += [
            (centre, -MASS * 9.81 * ground.z),
            (child, tau[i] * direction),
            (frame, -tau[i] * direction),
        ]
        frame = child
    loads = [entry for entry in loads if entry[0] is not ground]
    method = me.KanesMethod(ground, q, u, kd_eqs=[q[i].diff() - u[i] for i in range(n)])
    method.kanes_equations(bodies, loads)
    linear = method.to_linearizer()
    M, A, B = linear.linearize(op_point=dict.fromkeys(u, 0))
    rates = {s.diff(): 0 for s in u}
    return (
        sp.lambdify([*q, *tau], [M.subs(rates), A.subs(rates), B.subs(rates)], "numpy", cse=True),
        method,
        q,
        u,
        tau,
    )


def sympy_model(function, method, q, u, tau):
    """A and B at a point, with the torques that hold it."""
    forcing = sp.lambdify([*q, *u, *tau], method.forcing, "numpy", cse=True)

    def at(*angles):
        hold = -np.asarray(forcing(*angles, *np.zeros(8)), dtype=float).ravel()
        M, A, B = (np.asarray(m, dtype=float) for m in function(*angles, *hold))
        return np.linalg.solve(M, A), np.linalg.solve(M, B)

    return at


def timed(function, repeat=1):
    """Result and best time of some runs, seconds."""
    best, out = float("inf"), None
    for _ in range(repeat):
        start = time.perf_counter()
        out = function()
        best = min(best, time.perf_counter() - start)
    return out, best


def main():
    """Print the figures."""
    plant, first = timed(arm)
    print(
        f"two-link arm, build + trim + linearise + reduce: {first:.2f} s (first), {timed(arm)[1]:.2f} s (again)"
    )
    rng = np.random.default_rng(0)
    points = {p.name: rng.uniform(p.lower, p.upper, size=100_000) for p in plant.parameters}
    many, vectorised = timed(lambda: plant.evaluate(points), 3)
    some = 200
    plant.at()  # python-control is loaded here, not in the loop
    single, loop = timed(
        lambda: [plant.at(**{k: float(v[i]) for k, v in points.items()}) for i in range(some)]
    )
    worst = max(np.max(np.abs(many.A[i] - single[i].A)) for i in range(some))
    ratio = loop / some * 100_000 / vectorised
    print(
        f"evaluate 1e5 points: {vectorised:.2f} s; at() in a loop: {loop / some * 1e5:.0f} s; ratio {ratio:.0f} (difference {worst:.0e})"
    )
    mine, ours = timed(chain)
    parts, theirs = timed(kane)
    print(f"4-link spatial chain: {ours:.2f} s against sympy's {theirs:.1f} s; ratio {theirs / ours:.0f}")
    angles = (0.3, -0.4, 0.5, 0.2)
    A, _ = sympy_model(*parts)(*angles)
    got = np.asarray(mine.at(**{f"q{i}": a for i, a in enumerate(angles)}).A)
    print(f"largest difference between the two models at a point: {np.max(np.abs(A - got)):.1e}")


if __name__ == "__main__":
    main()
