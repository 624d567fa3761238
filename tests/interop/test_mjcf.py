"""MJCF files against MuJoCo itself: mass matrix, bias forces, inverse dynamics around postures; refusals by name."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lftgen as lg
from lftgen import rigidbody as rb
from lftgen.oracle import numeric_model

pytestmark = pytest.mark.heavy
mujoco = pytest.importorskip("mujoco")

ARM = """
<mujoco model="odd arm">
  <compiler angle="degree"/>
  <option gravity="0.3 -0.2 -9.7"/>
  <default><joint damping="0.2" armature="0.01"/></default>
  <worldbody>
    <site name="spot"/>
    <body name="base_plate" pos="0 0 0.1">
      <body name="shoulder" pos="0.1 0 0.2" euler="10 20 30">
        <joint name="yaw" axis="0 0 1" pos="0.02 0 0.01" range="-90 90" ref="15"/>
        <joint name="pitch" axis="0 2 0" pos="0 0.05 0" range="-100 80" stiffness="3" springref="20"/>
        <joint name="reach" type="slide" axis="1 0 1" range="0 0.3" ref="0.05" frictionloss="0"/>
        <inertial pos="0.1 0.02 -0.03" quat="0.9 0.1 -0.3 0.2" mass="2" diaginertia="0.02 0.03 0.04"/>
        <body name="upper-arm" pos="0.4 0.1 0" euler="0 45 0">
          <joint name="elbow" axis="1 1 0" pos="0.03 0.01 0.02"/>
          <geom type="capsule" size="0.03" fromto="0 0 0 0.4 0 0.1"/>
          <site name="tip" pos="0.4 0 0.1" euler="0 0 90"/>
          <body name="hand" pos="0.4 0 0.1"><geom type="sphere" size="0.05" pos="0.05 0 0"/></body>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="elbow" gear="10"/></actuator>
</mujoco>
"""
BALL = """
<mujoco model="ball">
  <worldbody>
    <body name="ship"><freejoint name="float"/>
      <geom type="box" size="0.5 0.3 0.1" pos="0.1 0 0.05" euler="10 0 0"/>
      <body name="bob" pos="0 0 -0.1" euler="0 30 0"><joint name="ball" type="ball" pos="0 0 0.1" damping="0.3"/>
        <geom type="capsule" size="0.04" fromto="0 0 0 0.1 0 -0.5"/></body>
    </body>
  </worldbody>
</mujoco>
"""


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def writer(text: str) -> Path:
        path = tmp_path / "robot.xml"
        path.write_text(text)
        return path

    return writer


def inverse(model: Any, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Generalised forces that make an acceleration: MuJoCo's inverse dynamics, springs and dampers counted in."""
    data = mujoco.MjData(model)
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_LIMIT
    data.qpos[:], data.qvel[:], data.qacc[:] = q, v, a
    mujoco.mj_inverse(model, data)
    return data.qfrc_inverse.copy()


def mass_matrix(model: Any, q: np.ndarray) -> np.ndarray:
    zero, eye = np.zeros(model.nv), np.eye(model.nv)
    rest = inverse(model, q, zero, zero)
    return np.stack([inverse(model, q, zero, e) - rest for e in eye], axis=1)


def test_arm_of_several_joints_a_body(write: Any) -> None:
    """Anchors, references, slides, springs, armature: mass matrix, holding torques and A about random postures."""
    path = write(ARM)
    rng, joints = np.random.default_rng(0), ("yaw", "pitch", "reach", "elbow")
    model = mujoco.MjModel.from_xml_path(str(path))
    for _ in range(5):
        q = np.array([rng.uniform(*r) for r in [(-1.5, 1.5), (-1.7, 1.3), (0, 0.3), (-3, 3)]])
        mech = lg.read_mjcf(path, positions=dict(zip(joints, q, strict=True)))
        assert tuple(j.name for j in mech.joints if j.dof) == joints
        plant, trim = mech.linearize(), mech.trim()
        H = mass_matrix(model, q)
        zero = np.zeros(4)
        np.testing.assert_allclose(plant.at().B[4:] @ H, np.eye(4), atol=1e-9)
        held = [trim.torque[j].at()[0, 0] for j in joints]
        np.testing.assert_allclose(held, inverse(model, q, zero, zero), rtol=1e-9, atol=1e-9)
        h = 1e-5
        slope = np.stack([(inverse(model, q + h * e, zero, zero) - inverse(model, q - h * e, zero, zero)) / (2 * h)
                          for e in np.eye(4)], axis=1)  # fmt: skip
        A21 = -np.linalg.solve(H, slope)
        np.testing.assert_allclose(plant.at().A[4:, :4], A21, rtol=1e-6, atol=1e-6 * np.abs(A21).max())
        np.testing.assert_allclose(plant.at().A[4:, 4:], -np.linalg.inv(H) * 0.2, atol=1e-9)


def test_default_position_is_the_reference(write: Any) -> None:
    """Without positions a joint stands where the file draws it: at its ref."""
    path = write(ARM)
    model = mujoco.MjModel.from_xml_path(str(path))
    mech = lg.read_mjcf(path)
    held = [mech.trim().torque[j].at()[0, 0] for j in ("yaw", "pitch", "reach", "elbow")]
    np.testing.assert_allclose(
        held, inverse(model, model.qpos0, np.zeros(4), np.zeros(4)), rtol=1e-9, atol=1e-9
    )
    assert mech.report.names == {"link upper-arm": "upper_arm", "robot": "odd_arm"} or (
        mech.report.names["link upper-arm"] == "upper_arm"
    )
    assert {n.element for n in mech.report.of("ignored")} >= {"<geom>", "<actuator>"}
    assert "tip" in {b.name: b for b in mech.bodies}["upper_arm"].ports


def test_scheduled_arm_passes_its_check(write: Any) -> None:
    """Joints with ranges scheduled, a payload at a site; the springless copy, for springs with a rest are not rational."""
    path = write(ARM.replace('stiffness="3" springref="20"', ""))
    mech = lg.read_mjcf(
        path, scheduled="all", ranges={"elbow": (-1, 1)}, payloads={"tip": (0, 2)}, angle_unit="deg"
    )
    assert [p.name for p in mech.parameters] == ["payload", "yaw", "pitch", "reach", "elbow"]
    assert lg.check(mech, mech.linearize(), samples=40).passed


def test_ball_and_free_joint(write: Any) -> None:
    """A free base with a ball joint: mass matrix of the free flyer, MuJoCo's order and axes translated."""
    path = write(BALL)
    model = mujoco.MjModel.from_xml_path(str(path))
    mech = lg.read_mjcf(path, gravity=(0, 0, 0))
    H = mass_matrix(model, model.qpos0)
    order = [
        3,
        4,
        5,
        0,
        1,
        2,
        6,
        7,
        8,
    ]  # MuJoCo: linear first; the base is not turned, so world axes are its own
    numeric = numeric_model(mech, {})
    ours = rb.mass_matrix(numeric.model, numeric.q)
    np.testing.assert_allclose(np.reshape(ours, (9, 9)), H[np.ix_(order, order)], rtol=1e-9, atol=1e-9)
    inputs = [n for j in mech.joints for n in j.names(j.forces)]
    plant = mech.linearize(inputs=inputs).at()
    np.testing.assert_allclose(plant.B[9:] @ H[np.ix_(order, order)], np.eye(9), atol=1e-9)
    np.testing.assert_allclose(plant.A[9:, 15:], -plant.B[9:, 6:] * 0.3, atol=1e-9)


def test_couplings(write: Any) -> None:
    """A linear equality between joints is a mimic joint: refused, locked or independent."""
    text = ARM.replace(
        "<actuator>",
        '<equality><joint joint1="elbow" joint2="yaw" polycoef="0.1 2 0 0 0"/></equality><actuator>',
    )
    path = write(text)
    with pytest.raises(lg.ModelError, match=r"robot\.xml:\d+: joint 'elbow': follows joint 'yaw'"):
        lg.read_mjcf(path)
    ref = np.deg2rad(15)
    mech = lg.read_mjcf(path, mimic="lock", positions={"yaw": ref + 0.2})
    assert mech.report.of("locked")[0].text == f"held at {0.1 + 2 * 0.2:.6g}"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("<actuator>", '<equality><weld body1="hand"/></equality><actuator>', "weld constraint closes a loop"),
        ('name="hand"', 'name="hand" gravcomp="1"', "body 'hand': gravity compensation"),
        ('name="elbow"', 'name="yaw"', "does not compile.*yaw"),
        ("<mujoco", '<!DOCTYPE a [<!ENTITY b "c">]><mujoco', "document types and entities are refused"),
        ("</worldbody>", "", "not well-formed"),
        ("<geom type=\"sphere\"", '<geom type="mesh" mesh="gone"', "does not compile"),
    ],
)  # fmt: skip
def test_refusals(write: Any, old: str, new: str, message: str) -> None:
    """What a tree cannot hold, or no file can be, is named with the file."""
    with pytest.raises(lg.ModelError, match=rf"robot\.xml.*{message}"):
        lg.read_mjcf(write(ARM.replace(old, new, 1)))


def test_base_is_the_files_business(write: Any) -> None:
    """A free base is a freejoint in the file."""
    from lftgen.interop.mjcf import read_mjcf
    from lftgen.interop.urdf_options import ImportOptions

    with pytest.raises(lg.ParameterError, match="freejoint"):
        read_mjcf(write(ARM), ImportOptions(base="free"))
