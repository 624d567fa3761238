"""Forms of the dynamics with fewer repetitions: the same model, and sizes that must not grow."""

import numpy as np
import pytest
import sympy as sp

import lftgen as lg
from lftgen.lft.evaluation import evaluate_ports
from lftgen.lft.field import FLOAT
from lftgen.mechanics.commuting import dynamics
from lftgen.mechanics.commuting.planar import PlanarDynamics, find_planar
from lftgen.mechanics.commuting.stiffness import StiffnessPass
from lftgen.mechanics.commuting.transposes import PassCount, Reading, likely_readings, order, stiffness


def chain(axes, com, *, gravity=(0, 0, -9.81)):
    """Equal links, every angle scheduled, every mass uncertain."""
    bodies, joints = [], []
    for i, axis in enumerate(axes):
        mass = lg.uncertain(f"m{i}", 2.0, percent=20)
        angle = lg.scheduled_angle(f"theta{i}", (-1.2, 1.2))
        bodies.append(lg.RigidBody(f"B{i}", mass=mass, com=com, inertia=(0.05, 0.06, 0.02)))
        joints.append(
            lg.RevoluteJoint(
                f"J{i}",
                parent=f"B{i - 1}" if i else "ground",
                child=f"B{i}",
                axis=axis,
                origin=(0, 0, 0.3) if i else (0, 0, 0),
                angle=angle,
                damping=0.1,
                stiffness=0.1,
            )
        )
    return lg.Mechanism("chain", bodies=bodies, joints=joints, gravity=gravity)


def planar(n):
    """All axes x."""
    return chain([(1, 0, 0)] * n, (0, 0, 0.15))


def alternating(n):
    """Axes z, x, z, x, ..."""
    return chain([((0, 0, 1), (1, 0, 0))[i % 2] for i in range(n)], (0.02, 0.01, 0.15))


def branched():
    """A planar trunk with two planar branches, one of them turned over, and a welded load."""
    m = [lg.uncertain(f"m{i}", 1.0 + i, percent=20) for i in range(4)]
    t = [lg.scheduled_angle(f"t{i}", (-1, 1.5)) for i in range(3)]
    bodies = [
        lg.RigidBody(f"B{i}", mass=m[i], com=(0.1, 0.2, 0.1 * i), inertia=(0.2, 0.3, 0.25)) for i in range(4)
    ]
    joints = [
        lg.RevoluteJoint("J0", parent="ground", child="B0", axis=(0, 1, 0), rpy=(0, 0.4, 0), angle=t[0]),
        lg.RevoluteJoint(
            "J1", parent="B0", child="B1", axis=(0, 1, 0), origin=(0.4, 0, 0.1), angle=t[1], damping=0.2
        ),
        lg.RevoluteJoint(
            "J2", parent="B0", child="B2", axis=(0, -1, 0), origin=(-0.3, 0.2, 0), angle=t[2], stiffness=2
        ),
        lg.FixedJoint("load", parent="B2", child="B3", origin=(0.1, 0.3, 0.5), rpy=(0.3, 0.2, 0.1)),
    ]
    return lg.Mechanism("branched", bodies=bodies, joints=joints, gravity=(1, 2, -9))


def slider():
    """A revolute, a prismatic and a revolute joint about general axes; a length and a position are parameters."""
    length, reach = lg.uncertain("L", 0.5, percent=20), lg.scheduled("z", (-0.2, 0.6))
    theta = lg.scheduled_angle("theta", (-2, 2))
    bodies = [
        lg.RigidBody("A", mass=2, com=(0, 0.1, length), inertia=(0.2, 0.3, 0.25)),
        lg.RigidBody(
            "B", mass=lg.uncertain("m", 1.5, percent=20), com=(0.1, 0, 0.2), inertia=(0.1, 0.1, 0.1)
        ),
        lg.RigidBody("C", mass=1, com=(0.3, 0, length), inertia=(0.1, 0.1, 0.1)),
    ]
    joints = [
        lg.RevoluteJoint("R", parent="ground", child="A", axis=(1, 2, 2), angle=theta, armature=0.3),
        lg.PrismaticJoint("P", parent="A", child="B", axis=(0.6, 0, 0.8), position=reach, origin=(0, 0, length), stiffness=3),
        lg.RevoluteJoint("Q", parent="B", child="C", axis=(0, 0, 1), rpy=(0.4, 0.1, 0), angle=-0.7, damping=0.1, hub_inertia=0.2),
    ]  # fmt: skip
    return lg.Mechanism("slider", bodies=bodies, joints=joints, gravity=(0.5, -1, -9.6))


CHAINS = [(planar, 2), (planar, 4), (planar, 5), (alternating, 3), (alternating, 5)]
CHAINS += [pytest.param(kind, 12, marks=pytest.mark.heavy) for kind in (planar, alternating)]


@pytest.mark.parametrize(("kind", "n"), CHAINS, ids=lambda v: getattr(v, "__name__", str(v)))
def test_chains_are_right(kind, n):
    """The smallest form of a chain is the model of the numeric room (its size: test_golden_orders)."""
    mechanism = kind(n)
    plant = mechanism.linearize()
    assert lg.check(mechanism, plant, samples=10, tolerance=1e-10).passed


LONG_CHAINS = [pytest.param(n, order, marks=pytest.mark.heavy) for n, order in ((12, 552), (20, 1580))]


@pytest.mark.parametrize(("n", "order"), LONG_CHAINS)
def test_long_chains(n, order):
    """Reduced once, as a whole: as many repetitions as the count promises, and nine digits at random points of the box."""
    mechanism = alternating(n)
    plant, unreduced = mechanism.linearize(), mechanism.linearize(reduce=False)
    assert plant.order <= order < unreduced.order
    rng = np.random.default_rng(5)
    values = {p.name: rng.uniform(p.lower, p.upper, 20) for p in mechanism.parameters}
    got, want = plant.evaluate(values), unreduced.evaluate(values)
    for block in "ABCD":
        truth = getattr(want, block)
        assert np.abs(getattr(got, block) - truth).max() <= 1e-10 * np.abs(truth).max(initial=1)


def test_readings_are_counted():
    """The count orders the readings as realisations do: far pairs save, transposes of all pairs do not."""
    mechanism = alternating(8)
    base = mechanism.acceleration - mechanism.gravity
    likely = likely_readings(mechanism.tree, base)
    assert likely[0].splits or likely[0].taken
    first, alone, last = (
        order(stiffness(mechanism.tree, base, FLOAT, reading))
        for reading in (likely[0], Reading(), likely[-1])
    )
    assert first < alone < last
    counted = PassCount(mechanism.tree, base)
    assert alone <= counted.of(Reading())
    assert first <= counted.of(likely[0])


@pytest.mark.parametrize("build", [branched, slider, lambda: alternating(5)])
@pytest.mark.parametrize("splits", [(1,), (2,), (1, 2)])
def test_far_pairs_are_the_same_stiffness(build, splits):
    """Whatever the segments, the entries between them are those of the numeric model."""
    mechanism = build()
    base = mechanism.acceleration - mechanism.gravity
    K = stiffness(mechanism.tree, base, FLOAT, Reading(splits=splits))
    values = {p.name: p.lower + 0.3 * (p.upper - p.lower) for p in mechanism.parameters}
    known = {b.name for b in K.structure.blocks}
    got = evaluate_ports(K, {k: v for k, v in values.items() if k in known})[0]
    assert np.allclose(got, potential_hessian(mechanism, values), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("build", [branched, slider, lambda: planar(3), lambda: alternating(3)])
@pytest.mark.parametrize("method", ["recursive", "spatial", "planar", "auto"])
def test_every_form_is_the_same_model(build, method):
    """Each form against the numeric model, with sensors that feel the equilibrium and port inputs."""
    mechanism = build()
    body, joint = mechanism.bodies[-1].name, mechanism.joints[0].name
    if method == "planar" and find_planar(mechanism.tree) is None:
        with pytest.raises(lg.ModelError, match="parallel axes"):
            mechanism.linearize(method=method)
        return
    plant = mechanism.linearize(
        inputs=[f"{joint}_torque", f"{body}_com_force", "base_acceleration"],
        outputs=[
            f"{joint}_angle",
            f"{body}_com_acceleration",
            f"{body}_origin_specific_force",
            f"{joint}_wrench",
            f"{body}_com_position",
        ],
        method=method,
    )
    report = lg.check(mechanism, plant, samples=20, tolerance=1e-10)
    assert report.passed, str(report)


@pytest.mark.parametrize("build", [branched, slider, lambda: planar(4), lambda: alternating(4)])
def test_auto_is_never_above_the_recursion(build):
    """The smallest form wins."""
    mechanism = build()
    assert mechanism.linearize().order <= mechanism.linearize(method="recursive").order


def potential_hessian(mechanism, values):
    """K from the inverse dynamics of the numeric room, by complex step."""
    from lftgen import rigidbody as rb
    from lftgen.oracle import numeric_model

    numbers = numeric_model(mechanism, {k: np.array([v]) for k, v in values.items()})
    n, step = numbers.q.shape[1], 1e-30
    columns = []
    for j in range(n):
        q = numbers.q.astype(complex)
        q[:, j] += 1j * step
        zero = np.zeros_like(q)
        columns.append(rb.inverse_dynamics(numbers.model, q, zero, zero)[0].imag / step)
    return np.column_stack(columns)


@pytest.mark.parametrize("build", [branched, slider, lambda: alternating(3)])
def test_stiffness_pass(build):
    """The gravity stiffness in one pass is the derivative of the holding forces."""
    mechanism = build()
    K = StiffnessPass(mechanism.tree, mechanism.acceleration - mechanism.gravity, FLOAT).matrix()
    values = {p.name: p.lower + 0.3 * (p.upper - p.lower) for p in mechanism.parameters}
    known = {b.name for b in K.structure.blocks}
    got = evaluate_ports(K, {k: v for k, v in values.items() if k in known})[0]
    assert np.allclose(got, potential_hessian(mechanism, values), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("build", [branched, lambda: planar(4)])
def test_planar_stiffness_row_by_row(build):
    """The gravity stiffness of a planar tree from its diagonal in absolute angles."""
    mechanism = build()
    K = dynamics.planar_stiffness(mechanism.tree, mechanism.acceleration - mechanism.gravity, FLOAT)
    values = {p.name: p.lower + 0.3 * (p.upper - p.lower) for p in mechanism.parameters}
    known = {b.name for b in K.structure.blocks}
    got = evaluate_ports(K, {k: v for k, v in values.items() if k in known})[0]
    assert np.allclose(got, potential_hessian(mechanism, values), rtol=1e-11, atol=1e-11)


def loaded(load):
    """Four links about axes z, x, z, x that hold a load at the tip."""
    plain = alternating(4)
    bodies = [
        lg.RigidBody(b.name, mass=b.mass, com=b.com, inertia=b.inertia, ports={"tip": (0, 0.05, 0.3)})
        for b in plain.bodies
    ]
    return lg.Mechanism("loaded", bodies=bodies, joints=plain.joints, loads=[load])


LOADS = [
    lg.DeadLoad("L", port="B3_tip", force=(lg.uncertain("F", 10.0, percent=20), 2, -5), torque=(0, 1, 0.5)),
    lg.FollowerLoad("L", port="B3_tip", force=(0, 3, lg.uncertain("F", 10.0, percent=20))),
    lg.SpringDamper("L", port="B3_tip", anchor=(0.3, 0.2, 1.5), stiffness=40, force_density=10),
]


@pytest.mark.parametrize("load", LOADS, ids=lambda load: load.kind)
@pytest.mark.parametrize("method", ["spatial", "auto"])
def test_loads_beside_the_stiffness_of_gravity(load, method):
    """Loads stay in the recursion, gravity leaves it: the same model, in fewer repetitions, felt wrenches included."""
    mechanism = loaded(load)
    outputs = None if method == "auto" else ["J1_angle", "B3_tip_acceleration_x", "J0_wrench"]
    plant = mechanism.linearize(method=method, outputs=outputs)
    assert lg.check(mechanism, plant, samples=10, tolerance=1e-9).passed
    if method == "auto":
        assert plant.order < mechanism.linearize(method="recursive").order


def test_planar_links_are_found():
    """Turned-over axes count as parallel, welded bodies belong to their link, crossed axes are not planar."""
    found = find_planar(branched().tree)
    assert found is not None
    assert [link.sign for link in found.links.values()] == [1, 1, -1]
    assert found.bodies["B3"][0] == "J2"
    assert find_planar(alternating(2).tree) is None


def test_planar_form_is_exact_in_exact_mode():
    """Free symbols go through the planar form too."""
    mechanism = planar(2)
    dynamic = PlanarDynamics(
        mechanism.tree, find_planar(mechanism.tree), mechanism.acceleration - mechanism.gravity, FLOAT
    )
    assert sum(b.repetitions for b in dynamic.matrix().structure.blocks) == 11
    assert mechanism.linearize(exact=True).order == 11


def test_a_wrong_form_is_refused(monkeypatch):
    """A form that is another model never gets through."""
    right = dynamics.gravity_stiffness
    monkeypatch.setattr(
        dynamics, "gravity_stiffness", lambda tree, base, *rest, **more: right(tree, 2 * base, *rest, **more)
    )
    with pytest.raises(lg.ReductionError, match="recursive"):
        alternating(3).linearize()


def test_unknown_method():
    """The methods are named."""
    with pytest.raises(lg.ModelError, match="auto, recursive, spatial, planar"):
        planar(2).linearize(method="fast")


@pytest.mark.parametrize("method", ["auto", "recursive", "spatial", "planar"])
def test_gravity_may_be_a_free_symbol(method):
    """A symbol that only gravity holds goes through every form."""
    g, theta = sp.Symbol("g"), lg.scheduled_angle("theta", (-1, 1))
    rod = lg.RigidBody("rod", mass=2, com=(0, 0, -0.5), inertia=(0.125, 0.125, 0))
    hinge = lg.RevoluteJoint("hinge", parent="ground", child="rod", axis=(1, 0, 0), angle=theta)
    A = (
        lg.Mechanism("rod_only", bodies=[rod], joints=[hinge], gravity=(0, 0, -g))
        .linearize(method=method)
        .to_sympy()[0]
    )
    assert sp.simplify(A[1, 0] / (g * sp.cos(theta))) == -sp.Rational(8, 5)
