"""Robots that others wrote, against pinocchio: mass matrix, gravity torques, linearisation at random postures."""

import importlib.metadata
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lftgen as lg
from lftgen import rigidbody as rb
from lftgen.oracle import numeric_model

pytestmark = pytest.mark.heavy
POSTURES = 20
TOLERANCE = 1e-8
BASE_POSE = (0.1, -0.2, 0.3, 0.3, -0.4, 0.5)
"""x, y, z, roll, pitch, yaw of a free base."""


@dataclass(frozen=True)
class Robot:
    """A file of the package, and how it is read."""

    file: str
    free: bool = False
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return Path(self.file).stem


TURN = (-1.4, 1.4)
ROBOTS = [
    Robot("panda_description/urdf/panda.urdf", options={"locked": ["panda_finger_joint1"]}),
    Robot("ur_description/urdf/ur5_robot.urdf"),
    Robot("ur_description/urdf/ur10_robot.urdf"),
    Robot("xarm_description/urdf/xarm7.urdf"),
    Robot("z1_description/urdf/z1.urdf"),
    Robot("so_arm_description/urdf/so101.urdf"),
    Robot(
        "kinova_description/robots/kinova.urdf",
        options={"ranges": {f"j2s6s200_joint_{i}": TURN for i in (1, 4, 5, 6)}},
    ),
    Robot(
        "double_pendulum_description/urdf/double_pendulum_continuous.urdf",
        options={"ranges": {"joint1": TURN, "joint2": (2.0, 4.0)}},
    ),
    Robot("finger_edu_description/robots/finger_edu.urdf"),
    Robot("talos_data/robots/talos_left_arm.urdf", options={"mimic": "independent"}),
    Robot("solo_description/robots/solo12.urdf", free=True),
    Robot("anymal_b_simple_description/robots/anymal.urdf", free=True),
    Robot("anymal_b_simple_description/robots/anymal-kinova.urdf", free=True),
    Robot("a1_description/urdf/a1.urdf", free=True),
    Robot("hextilt_description/urdf/hextilt_flying_arm_5.urdf", free=True),
    Robot("bolt_description/robots/bolt.urdf", free=True),
    Robot("simple_humanoid_description/urdf/simple_humanoid.urdf", free=True),
    Robot("talos_data/robots/talos_reduced.urdf", free=True, options={"mimic": "independent"}),
    Robot("icub_description/robots/icub_reduced.urdf", free=True),
    Robot("g1_description/urdf/g1_29dof_rev_1_0.urdf", free=True),
    Robot("tiago_description/robots/tiago_no_hand.urdf", options={"ranges": {
        "wheel_left_joint": TURN, "wheel_right_joint": TURN}}),
]  # fmt: skip


def robot_files() -> dict[str, Path]:
    """URDF files of the package by their path below its robots."""
    files = importlib.metadata.files("example-robot-data") or []
    return {str(f).split("robots/", 1)[1]: Path(str(f.locate())) for f in files if f.suffix == ".urdf"}


@pytest.fixture(scope="module")
def files() -> dict[str, Path]:
    try:
        return robot_files()
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("example-robot-data is not installed")


def read(robot: Robot, files: dict[str, Path], **more: Any) -> lg.Mechanism:
    """The mechanism with every joint scheduled."""
    options = {"scheduled": "all", "base": "free" if robot.free else "fixed", **robot.options, **more}
    if robot.free:
        options["positions"] = {"floating_base": BASE_POSE}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lg.LftgenWarning)  # dry friction, wide ranges: the report has them
        return lg.read_urdf(files[robot.file], **options)


class Peer:
    """The same robot in pinocchio, coordinates in our order."""

    def __init__(self, path: Path, mech: lg.Mechanism, free: bool) -> None:
        pin = self.pin = pytest.importorskip("pinocchio")
        model = pin.buildModelFromUrdf(str(path), *([pin.JointModelFreeFlyer()] if free else []))
        names = {v: k.removeprefix("joint ") for k, v in mech.report.names.items() if k.startswith("joint")}
        moving = [j for j in mech.joints if j.dof == 1]
        ours = [names.get(j.name, j.name) for j in moving]
        locked = [i for i in range(1, model.njoints) if model.names[i] not in (*ours, "root_joint")]
        self.model = pin.buildReducedModel(model, locked, pin.neutral(model)) if locked else model
        self.data = self.model.createData()
        self.ids = [self.model.getJointId(n) for n in ours]
        self.parameters = [j.coordinate.name for j in moving]
        base = [3, 4, 5, 0, 1, 2] if free else []
        self.order = np.array([*base, *(self.model.joints[i].idx_v for i in self.ids)])

    def q(self, point: dict[str, float]) -> np.ndarray:
        q = self.pin.neutral(self.model)
        if self.model.names[1] == "root_joint":
            q[:3] = BASE_POSE[:3]
            q[3:7] = self.pin.Quaternion(self.pin.rpy.rpyToMatrix(*BASE_POSE[3:])).coeffs()
        for name, i in zip(self.parameters, self.ids, strict=True):
            joint = self.model.joints[i]
            value = point[name]
            q[joint.idx_q : joint.idx_q + joint.nq] = (
                value if joint.nq == 1 else (np.cos(value), np.sin(value))
            )
        return q

    def dynamics(self, q: np.ndarray) -> tuple[np.ndarray, ...]:
        """Mass matrix, gravity torques, and A21, A22, B2 about the equilibrium that these torques hold."""
        pin, zero = self.pin, np.zeros(self.model.nv)
        H = np.triu(pin.crba(self.model, self.data, q))
        H = H + np.triu(H, 1).T
        gravity = pin.rnea(self.model, self.data, q, zero, zero)
        pin.computeABADerivatives(self.model, self.data, q, zero, gravity)
        B = np.linalg.inv(H)
        A21, A22 = self.data.ddq_dq.copy(), -B @ np.diag(self.model.damping)
        pick = np.ix_(self.order, self.order)
        return H[pick], gravity[self.order], A21[pick], A22[pick], B[pick]


def postures(mech: lg.Mechanism) -> list[dict[str, float]]:
    rng = np.random.default_rng(1)
    return [{p.name: rng.uniform(*p.bounds) for p in mech.parameters} for _ in range(POSTURES)]


def error(got: np.ndarray, want: np.ndarray) -> float:
    return float(np.abs(got - want).max() / np.abs(want).max())


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda r: r.id)
def test_mass_matrix_and_gravity(robot: Robot, files: dict[str, Path]) -> None:
    """The numeric model that is built from the mechanism has pinocchio's mass matrix and gravity torques."""
    mech = read(robot, files)
    peer, points = Peer(files[robot.file], mech, robot.free), postures(mech)
    assert len(peer.order) == sum(j.dof for j in mech.joints) == peer.model.nv
    values = {name: np.array([p[name] for p in points]) for name in points[0]}
    ours = numeric_model(mech, values)
    H, torque = rb.mass_matrix(ours.model, ours.q), rb.inverse_dynamics(ours.model, ours.q)
    for k, point in enumerate(points):
        H_pin, gravity = peer.dynamics(peer.q(point))[:2]
        assert error(H[k], H_pin) < TOLERANCE
        assert error(torque[k], gravity) < TOLERANCE


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda r: r.id)
def test_linearization(robot: Robot, files: dict[str, Path]) -> None:
    """The LFT has pinocchio's derivatives of the acceleration, A and B, at every posture.

    Nothing holds a free base, so a wrench at its origin that follows it is solved for: the generalised force of the
    free flyer, constant in the base's axes, as pinocchio keeps it while it takes derivatives.
    """
    mech = read(robot, files)
    inputs = None
    if robot.free:
        base = mech.joints[0]
        support = lg.FollowerLoad("support", port=f"{base.child}_origin")
        mech = read(robot, files, loads=[support])
        inputs = [n for j in mech.joints for n in j.names(j.forces)]
    trim = mech.trim(solve=["support_force", "support_torque"]) if robot.free else mech.trim()
    plant = mech.linearize(trim, inputs=inputs, reduce=False)
    peer, points = Peer(files[robot.file], mech, robot.free), postures(mech)
    ours = plant.evaluate({name: np.array([p[name] for p in points]) for name in points[0]})
    n = len(plant.states) // 2
    for k, point in enumerate(points):
        _, gravity, A21, A22, B = peer.dynamics(peer.q(point))
        assert error(ours.A[k, n:, :n], A21) < TOLERANCE
        assert np.abs(ours.A[k, n:, n:] - A22).max() < TOLERANCE * max(1.0, np.abs(A22).max())
        assert error(ours.B[k, n:], B) < TOLERANCE
        held = [trim.torque[j.name].at(**point)[0, 0] for j in mech.joints if j.dof == 1] if k < 3 else []
        if held:
            assert error(np.array(held), gravity[-len(held) :]) < TOLERANCE
