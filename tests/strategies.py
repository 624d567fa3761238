"""Random LFTs, random points and random mechanisms, and how two models are compared."""

import itertools

import hypothesis.strategies as st
import numpy as np
import sympy as sp

import lftgen as lg
from lftgen.lft.structure import real_block

MASS = lg.uncertain("m", 2.0, bounds=(1.0, 4.0), unit="kg")
LENGTH = lg.scheduled("L", (0.5, 1.5), unit="m", rate=0.1)
ANGLE = lg.scheduled_angle("theta", (-50, 70), unit="deg", nominal=20)
QUARTER = lg.scheduled_angle("phi", (-2.0, 3.0), chart="quarter")
PARAMETERS = (MASS, LENGTH, ANGLE, QUARTER)
COMPLEX = lg.complex_scalar("gamma", 2, bound=0.5)
FULL = lg.full_block("Full", (1, 2), bound=0.5)
FULL_REAL = lg.full_block("Real", (2, 1), bound=0.5, complex=False)
OTHERS = (COMPLEX, FULL, FULL_REAL)

_tags = itertools.count()


def random_lft(
    rng, shape=(2, 2), *, states=0, parameters=(), others=(), exact=False, prefix="x", square_safe=False
):
    """An LFT with random M, small enough to be well posed on the whole box; ``parameters`` are (parameter, repetitions)."""
    delta = [*(real_block(p, r) for p, r in parameters), *others]
    p, m = shape
    rows, columns = states + sum(b.n_z for b in delta) + p, states + sum(b.n_w for b in delta) + m
    M = rng.integers(-8, 9, size=(rows, columns)) / 8
    M[states : rows - p, states : columns - m] /= 4 * max(rows - p - states, 1)
    if square_safe:
        M[rows - p :, columns - m :] += 4 * np.eye(p)
    M = [[sp.Rational(v) for v in row] for row in M] if exact else M
    names = [f"{prefix}{i}" for i in range(states)]
    return lg.upper_lft(M, delta, states=names, exact=exact)


def random_point(rng, model, n=None):
    """Values of every block of a model: single ones, or arrays of ``n``."""
    lead = () if n is None else (n,)
    out = {}
    for b in model.delta:
        if b.parameter is not None:
            out[b.name] = rng.uniform(b.parameter.lower, b.parameter.upper, size=lead)
            if n is None:
                out[b.name] = float(out[b.name])
            continue
        core = () if b.is_scalar else b.shape
        value = rng.normal(size=lead + core) + (
            0 if b.kind == "full real" else 1j * rng.normal(size=lead + core)
        )
        out[b.name] = value * b.bound / 10
    return out


def ports(model, point):
    """``[A B; C D]`` at one point as a plain array, whatever the blocks are."""
    value = model.evaluate({k: v for k, v in point.items() if k in {b.name for b in model.delta}})
    if not model.states:
        return value[0]
    return np.block([[value.A[0], value.B[0]], [value.C[0], value.D[0]]])


def gain(model, point, s=0.7j):
    """The transfer matrix at one point and frequency."""
    value = model.evaluate({k: v for k, v in point.items() if k in {b.name for b in model.delta}})
    if not model.states:
        return value[0]
    n = len(model.states)
    return value.D[0] + value.C[0] @ np.linalg.solve(s * np.eye(n) - value.A[0], value.B[0])


def error(got, want):
    """Largest deviation relative to the largest entry wanted (at least 1)."""
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape, f"{got.shape} against {want.shape}"
    return float(np.max(np.abs(got - want), initial=0.0) / max(1.0, np.max(np.abs(want), initial=0.0)))


@st.composite
def lfts(draw, shape=None, *, exact=None, states=None, square_safe=False, others=True, prefix=None):
    """Random LFTs of every kind: float or exact, with or without states, any blocks."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    shape = shape or (draw(st.integers(1, 3)), draw(st.integers(1, 3)))
    chosen = draw(st.lists(st.sampled_from(PARAMETERS), unique=True, max_size=3))
    return random_lft(
        rng,
        shape,
        states=draw(st.integers(0, 2)) if states is None else states,
        parameters=[(p, draw(st.integers(0, 3))) for p in chosen],
        others=draw(st.lists(st.sampled_from(OTHERS), unique=True, max_size=2)) if others else (),
        exact=draw(st.booleans()) if exact is None else exact,
        prefix=f"x{next(_tags)}_" if prefix is None else prefix,
        square_safe=square_safe,
    )


def random_rotation_rpy(rng):
    """A random attitude as roll, pitch, yaw."""
    return tuple(rng.uniform(-1.2, 1.2, size=3).round(3))


def random_mechanism(rng, n=3, *, angles=(), masses=False, fixed=0.25, acceleration=True, quarter=True):
    """A random tree of revolute and fixed joints with everything a joint and a body can have.

    ``angles`` are the angle expressions to use in turn (random numbers afterwards).
    """
    angles, bodies, joints = list(angles), [], []
    for i in range(n):
        principal = rng.uniform(0.1, 0.3, size=3)
        moments = principal.sum() - principal
        mass = (
            lg.uncertain(f"m{i}", 1.5, percent=30, unit="kg")
            if masses
            else round(float(rng.uniform(0.5, 2)), 3)
        )
        bodies.append(
            lg.RigidBody(
                f"B{i}",
                mass=mass,
                com=rng.uniform(-0.3, 0.3, size=3).round(3),
                inertia=moments.round(4),
                inertia_rpy=random_rotation_rpy(rng),
                ports={"P": (rng.uniform(-0.5, 0.5, size=3).round(3), random_rotation_rpy(rng))},
            )
        )
        place = {
            "parent": "ground" if i == 0 else f"B{rng.integers(i)}",
            "child": f"B{i}",
            "origin": rng.uniform(-0.5, 0.5, size=3).round(3),
            "rpy": random_rotation_rpy(rng),
        }
        if i and rng.uniform() < fixed:
            joints.append(lg.FixedJoint(f"J{i}", **place))
            continue
        joints.append(
            lg.RevoluteJoint(
                f"J{i}",
                **place,
                axis=rng.normal(size=3).round(3),
                angle=angles.pop(0) if angles else round(float(rng.uniform(-3, 3)), 3),
                damping=round(float(rng.uniform(0, 1)), 3),
                stiffness=round(float(rng.uniform(0, 5)), 3),
                hub_inertia=round(float(rng.uniform(0, 0.1)), 3),
                armature=round(float(rng.uniform(0, 0.1)), 3),
                rotor_inertia=0.001,
                gear_ratio=round(float(rng.uniform(2, 20)), 2),
            )
        )
    order = rng.permutation(n)
    return lg.Mechanism(
        "random",
        bodies=bodies,
        joints=[joints[k] for k in order],
        gravity=rng.normal(size=3).round(3) * 5,
        acceleration=rng.normal(size=3).round(3) if acceleration else (0, 0, 0),
    )


HALF = sp.Rational(1, 2)


def planar_arm(m1=2, m2=1, l1=1, l2=HALF, *, q1, q2, gravity=9.81, com=HALF, **joint):
    """Two links in the x-y plane, hinges about z, each along its own x axis; I_cm = m l^2 / 12; q1 from +x."""
    bodies = [
        lg.RigidBody(
            f"B{i}", mass=m, com=(com * length, 0, 0), inertia=(0, m * length**2 / 12, m * length**2 / 12)
        )
        for i, (m, length) in enumerate(((m1, l1), (m2, l2)), 1)
    ]
    joints = [
        lg.RevoluteJoint("J1", parent="ground", child="B1", axis=(0, 0, 1), angle=q1, **joint),
        lg.RevoluteJoint("J2", parent="B1", child="B2", axis=(0, 0, 1), origin=(l1, 0, 0), angle=q2, **joint),
    ]
    return lg.Mechanism("arm", bodies=bodies, joints=joints, gravity=(0, -gravity, 0))


def pendulum(angle, *, mass=1, length=1, inertia=0, **joint):
    """One link about the x axis; at angle 0 it hangs along -z."""
    bob = lg.RigidBody("bob", mass=mass, com=(0, 0, -length), inertia=(inertia, inertia, 0))
    hinge = lg.RevoluteJoint("hinge", parent="ground", child="bob", axis=(1, 0, 0), angle=angle, **joint)
    return lg.Mechanism("pendulum", bodies=[bob], joints=[hinge])


def state_rows(system, joints):
    """A21, A22, B2 of a named control.StateSpace (torques as inputs)."""
    names, inputs = list(system.state_labels), list(system.input_labels)
    q, v = [names.index(f"{j}_angle") for j in joints], [names.index(f"{j}_rate") for j in joints]
    u = [inputs.index(f"{j}_torque") for j in joints if f"{j}_torque" in inputs]
    A, B = np.asarray(system.A), np.asarray(system.B)
    return A[np.ix_(v, q)], A[np.ix_(v, v)], B[np.ix_(v, u)]
