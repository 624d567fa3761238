"""Many points of every kind of model and in batches of every size: what ``at`` gives one by one."""

import numpy as np
import pytest

import lftgen as lg
from lftgen.lft.evaluation.many import MANY
from lftgen.lft.evaluation.plan import plan_of
from tests.strategies import ANGLE, COMPLEX, FULL, FULL_REAL, MASS, planar_arm, random_lft, random_point


def free_arm(actuated):
    """A floating base under no gravity with two links; the joints listed have motors."""
    bodies = [
        lg.RigidBody(
            "hub", mass=lg.uncertain("mb", 8.0, percent=20), com=(0.1, 0, 0.05), inertia=(1, 2, 1.5),
            ports={"P": (0.3, 0, 0)},
        )
    ]  # fmt: skip
    joints: list = [lg.FreeJoint("base", child="hub")]
    for i in range(2):
        mass = lg.uncertain(f"m{i}", 1.5, percent=30)
        bodies.append(lg.RigidBody(f"B{i}", mass=mass, com=(0.3, 0, 0), inertia=(0.02, 0.1, 0.1)))
        angle = lg.scheduled_angle(f"q{i}", (-1.2, 1.2))
        joints.append(
            lg.RevoluteJoint(
                f"J{i}", parent=f"B{i - 1}" if i else "hub", child=f"B{i}", axis=(0, i, 1 - i), angle=angle,
                origin=(0.5, 0, 0), damping=0.2, stiffness=3.0 * i, actuated=i in actuated,
            )
        )  # fmt: skip
    return lg.Mechanism("free_arm", bodies=bodies, joints=joints, gravity=(0, 0, 0))


def compare(model, points, which, tolerance=1e-12):
    """Some of the points against ``at``, entry by entry of A, B, C, D, relative to the largest of each."""
    many = model.evaluate(points)
    for i in which:
        one = model.at(**{k: float(v[i]) for k, v in points.items()})
        for name in "ABCD":
            got, want = getattr(many, name)[i], np.asarray(getattr(one, name))
            assert np.abs(got - want).max(initial=0.0) <= tolerance * max(
                1e-12, np.abs(want).max(initial=0.0)
            )


@pytest.fixture(scope="module")
def satellite():
    """Underactuated: the base is free, the outer joint has a spring and no motor; forces at a port and what it feels."""
    return free_arm(actuated=(0,)).linearize(
        inputs=["J0_torque", "hub_P_force"], outputs=["J0_angle", "hub_P_attitude", "hub_P_specific_force"]
    )


def test_underactuated_free_base(satellite):
    """A free base and a joint without a motor: ports cannot all change sides for torques; the values hold all the same."""
    points = random_point(np.random.default_rng(0), satellite, n=2 * MANY)
    compare(satellite, points, range(0, 2 * MANY, 41))


def test_free_base_without_inputs_or_on_a_grid(satellite):
    """Nothing to exchange with, and a grid of the same model."""
    blind = free_arm(actuated=()).linearize(inputs=[], outputs=["base_attitude_x"])
    points = random_point(np.random.default_rng(1), blind, n=MANY)
    compare(blind, points, range(0, MANY, 97))
    axes = {"q0": np.linspace(-1.2, 1.2, 15), "mb": [7.0, 8.5], "q1": np.linspace(-1, 1.2, 21)}
    grid = satellite.evaluate_grid(axes)
    for i, j, k in ((0, 0, 0), (14, 1, 20), (7, 1, 3)):
        one = satellite.at(q0=axes["q0"][i], mb=axes["mb"][j], q1=axes["q1"][k])
        for name in "ABCD":
            want = np.asarray(getattr(one, name))
            assert np.abs(getattr(grid, name)[i, j, k] - want).max() <= 1e-12 * np.abs(want).max()


@pytest.mark.parametrize("others", [[FULL], [COMPLEX], [FULL_REAL], [FULL, COMPLEX, FULL_REAL]])
@pytest.mark.parametrize("n", [1, MANY - 1, 3 * MANY])
def test_full_and_complex_blocks(others, n):
    """More points than a program is looked for: blocks that are no real scalars are solved directly, all of them."""
    model = random_lft(np.random.default_rng(2), states=2, parameters=[(MASS, 2), (ANGLE, 2)], others=others)
    points = random_point(np.random.default_rng(3), model, n=n)
    value = model.evaluate(points)
    assert value.A.shape == (n, 2, 2)
    for i in {0, n // 2, n - 1}:
        one = model.evaluate({k: v[i] for k, v in points.items()})
        for name in "ABCD":
            assert np.abs(getattr(value, name)[i] - getattr(one, name)[0]).max() < 1e-13


def test_dynamics_left_at_nominal():
    """Full blocks that get no value stand at zero, at every point."""
    model = random_lft(np.random.default_rng(4), states=1, parameters=[(MASS, 3)], others=[FULL, COMPLEX])
    masses = np.linspace(1, 4, MANY)
    value = model.evaluate({"m": masses})
    assert np.isrealobj(value.A)
    compare(model, {"m": masses}, (0, 250, MANY - 1))


@pytest.mark.parametrize("n", [0, 1, 2, MANY - 1, MANY, 8001, 16_000])
def test_batches_of_every_size(n):
    """None, one, just below and above what decides how points are treated, one more than is worked on at once."""
    m1, m2 = lg.uncertain("m1", 2.0, percent=20), lg.uncertain("m2", 1.0, percent=20)
    q1, q2 = lg.scheduled_angle("q1", (-1.5, 1.5)), lg.scheduled_angle("q2", (-1.5, 1.5))
    arm = planar_arm(m1, m2, q1=q1, q2=q2, damping=0.1).linearize()
    points = random_point(np.random.default_rng(n), arm, n=n)
    assert arm.evaluate(points).A.shape == (n, 4, 4)
    compare(arm, points, {k for k in (0, 1, n // 2, 7999, 8000, n - 1) if 0 <= k < n})


def test_without_parameters():
    """No Delta at all, no repetitions, no states, a parameter that does not occur: as many points as were asked for."""
    constant = lg.ss([[-1.0]], [[2.0]], [[3.0]], [[4.0]])
    assert constant.evaluate({}).B.tolist() == [[[2.0]]]
    assert constant.evaluate_grid({}).A.tolist() == [[-1.0]]
    declared = constant.declare(MASS)
    for n in (0, 1, 3 * MANY):
        value = declared.evaluate({"m": np.linspace(1, 4, n)})
        assert value.C.shape == (n, 1, 1)
        assert np.all(value.C == 3.0)
    grid = declared.evaluate_grid({"m": np.linspace(1, 4, 2 * MANY)})
    assert grid.D.shape == (2 * MANY, 1, 1)
    assert np.all(grid.D == 4.0)
    assert lg.realize([[2, 3]]).declare(MASS).evaluate({"m": [1.0, 2.0]}).tolist() == [[[2, 3]], [[2, 3]]]


@pytest.mark.parametrize("place", [0, 1, 3999, 7999, 8000, 11_999])
@pytest.mark.parametrize("coupled", [False, True])
def test_singular_point_in_a_batch(place, coupled):
    """The only bad one of 12 000 is named, wherever it stands, alone or through two parameters; without it all is well."""
    p, r = lg.uncertain("p", 1.0, bounds=(-1, 2)), lg.uncertain("r", 0.5, bounds=(-1, 1))
    total = p + r if coupled else p
    model = lg.ss([[0, 1], [-MASS / total, -1]], [[0], [1 / total]], [[1, 0]], [[0]], states=["x", "v"])
    rng = np.random.default_rng(5)
    points = {"p": rng.uniform(0.5, 2, 12_000), "m": rng.uniform(1, 4, 12_000)}
    if coupled:
        points["r"] = rng.uniform(0, 1, 12_000)
    compare(model, points, (0, place))
    points["p"][place], points["m"][place] = -0.25 if coupled else 0.0, 3.0
    if coupled:
        points["r"][place] = 0.25
    with pytest.raises(lg.IllPosedError) as caught:
        model.evaluate(points)
    assert "m = 3.0 " in str(caught.value)
    assert f"p = {points['p'][place]} " in str(caught.value)


def test_first_of_several_singular_points_is_named():
    """In the order given, not the order of the work."""
    p = lg.uncertain("p", 1.0, bounds=(-1, 2))
    model = lg.ss([[-MASS / p]], [[1]], [[1]], [[0]])
    points = {"p": np.full(2 * MANY, 1.5), "m": np.linspace(1, 4, 2 * MANY)}
    points["p"][[300, 700, 999]] = 0.0
    points["m"][[300, 700, 999]] = 2.25, 1.25, 3.75
    with pytest.raises(lg.IllPosedError, match=r"m = 2.25 "):
        model.evaluate(points)


@pytest.mark.heavy
def test_a_million_points():
    """Memory and indices of a batch far beyond what is worked on at once."""
    model = lg.ss([[0, 1], [-1 / MASS, -MASS]], [[0], [1 / MASS]], [[1, 0]], [[0]], states=["x", "v"])
    assert plan_of(model.data) is not None
    masses = np.linspace(1, 4, 1_000_001)
    value = model.evaluate({"m": masses})
    assert np.abs(value.A[:, 1, 0] * masses + 1).max() < 1e-14
    assert np.abs(value.A[:, 1, 1] + masses).max() < 1e-14
