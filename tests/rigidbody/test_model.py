"""Bad models: each is refused with the name of what is wrong."""

import numpy as np
import pytest

from lftgen.errors import IllPosedError, LftgenError, ModelError
from lftgen.rigidbody import Body, Joint, Load, Model, forward_dynamics, inverse_dynamics, kinematics

BAR = Body("bar", 1.0, (0.5, 0, 0), np.eye(3))


def hinge(name="J", parent="ground", child="bar", **more):
    """Revolute joint."""
    return Joint(name, "revolute", parent, child, **more)


BAD = {
    "negative mass": (lambda: Body("b", -1.0, (0, 0, 0), np.eye(3)), "mass of body 'b'"),
    "nan": (lambda: Body("b", np.nan, (0, 0, 0), np.eye(3)), "mass of body 'b'.*NaN"),
    "not numbers": (lambda: Body("b", "heavy", (0, 0, 0), np.eye(3)), "mass of body 'b'"),
    "com shape": (lambda: Body("b", 1.0, (0, 0), np.eye(3)), r"com of body 'b'.*\(2,\)"),
    "unsymmetric": (lambda: Body("b", 1.0, (0, 0, 0), np.triu(np.ones((3, 3)))), "symmetric"),
    "kind": (lambda: Joint("J", "hinge", "ground", "bar"), "expected one of fixed.*'hinge'"),
    "axis": (lambda: hinge(axis=(0, 0, 1e-16)), "axis of joint 'J'"),
    "rotation": (lambda: hinge(rotation=2 * np.eye(3)), "rotation of joint 'J'"),
    "reflection": (lambda: hinge(rotation=np.diag([1, 1, -1])), "rotation of joint 'J'"),
    "rest": (lambda: Joint("J", "free", "ground", "bar", rest=np.zeros(6)), "rest of joint 'J'"),
    "load kind": (lambda: Load("l", "bar", kind="live"), "'dead' or 'follower'"),
    "two bodies": (lambda: Model([BAR, BAR], [hinge()]), "body name 'bar' is used 2 times"),
    "reserved": (lambda: Model([Body("ground", 1.0, (0, 0, 0), np.eye(3))], []), "reserved"),
    "unknown parent": (lambda: Model([BAR], [hinge(parent="x")]), "parent of joint 'J'.*'x'"),
    "unknown child": (lambda: Model([BAR], [hinge(child="x")]), "child of joint 'J'.*'x'"),
    "two parents": (lambda: Model([BAR], [hinge(), hinge("K")]), "two parents, by joints 'J' and 'K'"),
    "no joint": (lambda: Model([BAR], []), "'bar' is carried by no joint"),
    "itself": (lambda: Model([BAR], [hinge(parent="bar")]), "joints 'J' form a loop"),
    "load": (lambda: Model([BAR], [hinge()], loads=[Load("l", "x")]), "unknown body 'x'"),
    "batches": (
        lambda: Model([Body("bar", np.ones(2), (0, 0, 0), np.eye(3))], [hinge(damping=np.ones(3))]),
        "does not broadcast",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_named(case):
    """The error is a ModelError that names the object."""
    build, message = BAD[case]
    with pytest.raises(ModelError, match=message):
        build()


def test_loop_without_ground():
    """Two bodies that carry each other."""
    other = Body("other", 1.0, (0, 0, 0), np.eye(3))
    with pytest.raises(ModelError, match="joints 'J', 'K' form a loop"):
        Model([BAR, other], [hinge(parent="other"), hinge("K", "bar", "other")])


def test_bad_calls():
    """Wrong shapes, unknown bodies and batches at a call."""
    model = Model([BAR], [hinge()])
    for call, message in [
        (lambda: kinematics(model, 0.3), r"expected shape \(\.\.\., 1\)"),
        (lambda: forward_dynamics(model, [0.0], [0.0, 0.0]), "qd: expected"),
        (lambda: forward_dynamics(model, [np.nan]), "q: every entry must be finite"),
        (lambda: forward_dynamics(model, [0.0], wrenches={"bar": [np.inf] * 6}), "'bar': every entry"),
        (lambda: inverse_dynamics(model, [0.0], wrenches={"x": np.zeros(6)}), "'x' is not in the model"),
        (
            lambda: inverse_dynamics(model, [0.0], wrenches={"bar": np.zeros(3)}),
            r"expected shape \(\.\.\., 6\)",
        ),
    ]:
        with pytest.raises(ModelError, match=message):
            call()
    many = Model([Body("bar", np.ones(2), (0, 0, 0), np.eye(3))], [hinge()])
    with pytest.raises(ModelError, match="do not broadcast"):
        kinematics(many, np.zeros((3, 1)))


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "spherical", "free"])
def test_joint_that_moves_no_inertia(kind):
    """A massless leaf on a moving joint is an error that names the joint; with an armature it moves."""
    leaf = Body("leaf", 0.0, (0, 0, 0), np.zeros((3, 3)))
    with pytest.raises(IllPosedError, match=r"'J'.*'leaf'"):
        forward_dynamics(Model([leaf], [Joint("J", kind, "ground", "leaf")]), np.zeros(6)[: dof(kind)])
    model = Model([leaf], [Joint("J", kind, "ground", "leaf", armature=2.0)])
    tau = np.ones(model.nq)
    np.testing.assert_allclose(forward_dynamics(model, 0 * tau, None, tau), tau / 2)


def dof(kind):
    """Degrees of freedom."""
    return {"revolute": 1, "prismatic": 1, "spherical": 3, "free": 6}[kind]


def test_point_mass_on_its_own_hinge_axis():
    """A point mass on the axis resists nothing."""
    point = Body("p", 1.0, (0, 0, 0.3), np.zeros((3, 3)))
    with pytest.raises(IllPosedError, match="'J'"):
        forward_dynamics(Model([point], [Joint("J", "revolute", "ground", "p")]), [0.0])


def test_elements_are_read_only():
    """Arrays cannot be written, attributes cannot be set."""
    with pytest.raises(ValueError, match="read-only"):
        BAR.com[0] = 1.0
    with pytest.raises(AttributeError):
        BAR.mass = 2.0
    assert issubclass(ModelError, LftgenError)


def test_joint_order_does_not_matter():
    """Coordinates follow the order given; the physics does not depend on it."""
    tip = Body("tip", 0.5, (0.2, 0.1, 0), np.eye(3))
    inner, outer = hinge(), hinge("K", "bar", "tip", position=(1, 0, 0))
    a = forward_dynamics(Model([BAR, tip], [inner, outer]), [0.3, 0.4], [1, 2], [5, 6])
    b = forward_dynamics(Model([tip, BAR], [outer, inner]), [0.4, 0.3], [2, 1], [6, 5])
    np.testing.assert_allclose(a, b[::-1])
