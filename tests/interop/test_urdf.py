"""Small robot files of our own: axes, limits, broken and hostile files, payloads, names."""

import time

import numpy as np
import pytest

import lftgen as lg

ARM = """<link name="arm"><inertial><origin xyz="0 0 0"/><mass value="2"/>
<inertia ixx="0.5" iyy="0.5" izz="0.5" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
LIMIT = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'


def joint(
    axis='<axis xyz="0 0 1"/>', kind="revolute", limit=LIMIT, name="j", parent="base", child="arm", more=""
):
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{axis}{limit}{more}</joint>'


def robot(*joints, links=""):
    return f'<robot name="r"><link name="base"/>{ARM}{links}{"".join(joints)}</robot>'


@pytest.fixture
def read(tmp_path):
    """Read a robot file from text, with options."""

    def reader(text, **options):
        path = tmp_path / "r.urdf"
        path.write_text(text)
        return lg.read_urdf(path, **{"gravity": (0, 0, 0)} | options)

    return reader


@pytest.mark.parametrize(
    ("axis", "direction"),
    [
        ('<axis xyz="0 0 2"/>', (0, 0, 1)),
        ('<axis xyz="0.6 0 0.8000001"/>', (0.6, 0, 0.8)),
        ("", (1, 0, 0)),  # the default of the format
    ],
)
def test_axes_are_normalised(read, axis, direction):
    """An inertia of 0.5 answers a unit torque with 2.0, whatever the axis' length."""
    mechanism = read(robot(joint(axis)))
    assert np.allclose(np.array(mechanism.joints[0].axis, dtype=float).ravel(), direction, atol=1e-6)
    assert mechanism.linearize().at().B[1, 0] == pytest.approx(2.0, rel=1e-6)


def test_zero_axis_of_a_fixed_joint_is_accepted(read):
    """It does not move, so its axis means nothing."""
    text = robot(
        joint(), joint('<axis xyz="0 0 0"/>', "fixed", "", "weld", "arm", "tip"), links='<link name="tip"/>'
    )
    assert [j.name for j in read(text).joints if j.dof] == ["j"]


def test_continuous_joints_have_no_range_of_their_own(read):
    """Unscheduled it is a number; scheduled it demands a range; limits on it are not taken in silence."""
    bare = robot(joint(kind="continuous", limit=""))
    assert read(bare).parameters == ()
    with pytest.raises(lg.ParameterError, match=r"'j' is continuous.*pass ranges"):
        read(bare, scheduled="all")
    with pytest.raises(lg.ParameterError, match="'j' is continuous"):
        read(robot(joint(kind="continuous", limit='<limit effort="1" velocity="1"/>')), scheduled=["j"])
    found = read(bare, scheduled="all", ranges={"j": (-0.5, 1.0)})
    assert found.parameters[0].bounds == (-0.5, 1.0)
    with pytest.warns(lg.LftgenWarning, match="j"):
        read(robot(joint(kind="continuous")))


def test_limits_become_ranges_and_payloads_parameters(read):
    """Limits are the scheduling range; a payload is one more body of uncertain mass at the link."""
    mechanism = read(robot(joint()), scheduled="all", payloads={"arm": (0.0, 2.0)}, gravity=(0, -9.81, 0))
    assert {p.name: p.bounds for p in mechanism.parameters} == {"payload": (0.0, 2.0), "j": (-1.0, 1.0)}
    assert lg.check(mechanism, mechanism.linearize(), samples=20).passed


BROKEN = {
    "tiny axis": (robot(joint('<axis xyz="0 0 1e-16"/>')), "joint 'j': the axis must be a direction"),
    "zero axis": (robot(joint('<axis xyz="0 0 0"/>')), "joint 'j': the axis must be a direction"),
    "no limit": (robot(joint(limit="")), "joint 'j': a revolute joint needs a <limit>"),
    "reversed limits": (
        robot(joint(limit='<limit lower="1" upper="-1"/>')),
        "joint 'j': the limits are reversed",
    ),
    "cut off": (robot(joint())[:-30], "not well-formed.*'j'.*cut off"),
    "empty": ("", "no element found"),
    "text": ("hello", "not well-formed"),
    "bomb": (
        '<!DOCTYPE l [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><robot name="&b;"/>',
        "entities are refused",
    ),
    "external entity": (
        '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot name="&x;"/>',
        "entities are refused",
    ),
    "loop": (
        robot(joint(), joint(name="k", parent="arm", child="base")),
        "loop through j <- k|loop through k <- j",
    ),
    "parent is child": (robot(joint(parent="arm")), "arm"),
    "two roots": (
        robot(joint(), links='<link name="gripper"/>'),
        "expected one root link.*'base', 'gripper'",
    ),
    "two parents": (
        robot(
            joint(), joint(name="k", parent="mid"), joint(name="m", child="mid"), links='<link name="mid"/>'
        ),
        "'arm'",
    ),
    "unknown parent": (robot(joint(parent="bse")), "'bse' does not exist; did you mean 'base'"),
    "duplicate joint": (robot(joint(), joint()), "joint 'j' is defined twice"),
    "duplicate link": (robot(joint(), links=ARM), "link 'arm' is defined twice"),
    "NaN": (robot(joint()).replace('"2"', '"nan"', 1), "link 'arm': <mass value>: expected a finite number"),
    "word": (robot(joint()).replace('"2"', '"two"', 1), "link 'arm': <mass value>: expected a finite number"),
    "negative mass": (robot(joint()).replace('"2"', '"-2"', 1), "link 'arm': the mass must not be negative"),
    "massless leaf": (
        robot(joint(), joint(name="k", parent="arm", child="tip"), links='<link name="tip"/>'),
        "'tip'.*no mass",
    ),
    "unknown type": (robot(joint(kind="screw")), "joint 'j': expected a type"),
    "impossible inertia": (robot(joint()).replace('izz="0.5"', 'izz="2.5"'), "arm"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_files_are_named_in_time(read, case):
    """File, element, what was expected, in under a second, and no model."""
    text, message = BROKEN[case]
    begin = time.perf_counter()
    with pytest.raises(lg.LftgenError, match=message) as caught:
        read(text)
    assert "r.urdf" in str(caught.value)
    assert time.perf_counter() - begin < 1


def test_flat_plate_is_accepted(read):
    """diag(0.1, 0.15, 0.25): the largest moment is the sum of the others, the edge of what can be."""
    text = robot(joint()).replace('ixx="0.5" iyy="0.5" izz="0.5"', 'ixx="0.1" iyy="0.15" izz="0.25"')
    assert read(text).linearize().at().B[1, 0] == pytest.approx(4.0, rel=1e-9)
