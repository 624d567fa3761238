"""Forward dynamics against MuJoCo's mj_forward, from raw numbers."""

import numpy as np
import pytest

from lftgen.rigidbody import forward_dynamics
from lftgen.rigidbody.tangent import rotation_vector

KIND = {"revolute": "hinge", "prismatic": "slide", "spherical": "ball"}


def quaternion(R):
    """w, x, y, z of a rotation."""
    phi = rotation_vector(R)
    return exponential(phi)


def exponential(phi):
    """w, x, y, z of a rotation vector."""
    angle = np.linalg.norm(phi)
    return np.r_[np.cos(angle / 2), np.sinc(angle / (2 * np.pi)) / 2 * phi]


def text(values):
    """Numbers without loss."""
    return " ".join(repr(float(x)) for x in values)


def to_xml(model):
    """MJCF of a tree of hinges, slides, balls and welds; and the links in its depth-first order."""
    children = {i: [] for i in range(-1, len(model.links))}
    for i, link in enumerate(model.links):
        children[link.parent].append(i)
    order = []

    def write(i):
        link = model.links[i]
        joint, body, I = link.joint, link.body, link.body.inertia_com
        order.append(i)
        entries = [I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]
        out = f'<body pos="{text(joint.position)}" quat="{text(quaternion(joint.rotation))}">'
        out += f'<inertial pos="{text(body.com)}" mass="{text([body.mass])}" fullinertia="{text(entries)}"/>'
        if joint.dof:
            armature = text([joint.armature[0]])
            out += f'<joint type="{KIND[joint.kind]}" axis="{text(joint.axis)}" armature="{armature}"/>'
        return out + "".join(write(k) for k in children[i]) + "</body>"

    tree = "".join(write(k) for k in children[-1])
    return (
        '<mujoco><compiler angle="radian" inertiafromgeom="false" boundmass="0" boundinertia="0"/>'
        f'<option gravity="{text(model.gravity)}"><flag contact="disable"/></option>'
        f"<worldbody>{tree}</worldbody></mujoco>"
    ), order


@pytest.mark.parametrize("seed", range(6))
def test_forward_dynamics(seed, tree, error):
    """Accelerations of random trees with armatures."""
    mujoco = pytest.importorskip("mujoco")
    rng = np.random.default_rng(seed)
    model = tree(rng, 2 + 3 * seed, kinds=(*KIND, "fixed"), armature=True)
    q, v, tau = rng.normal(size=(3, model.nq))
    xml, order = to_xml(model)
    peer = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(peer)
    moving = [model.links[i] for i in order if model.links[i].joint.dof]
    columns = np.concatenate([np.arange(k.dofs.start, k.dofs.stop) for k in moving])
    position = [exponential(q[k.dofs]) if k.joint.kind == "spherical" else q[k.dofs] for k in moving]
    data.qpos[:] = np.concatenate(position)
    data.qvel[:], data.qfrc_applied[:] = v[columns], tau[columns]
    mujoco.mj_forward(peer, data)
    assert error(forward_dynamics(model, q, v, tau)[columns], data.qacc) < 1e-8
