"""Mechanisms with loops for the tests of this folder."""

from types import SimpleNamespace

import numpy as np
import pytest

from lftgen.rigidbody import Body, ClosedModel, Joint, LoopJoint, Model, bias_force, mass_matrix
from lftgen.rigidbody.posture import residual_and_jacobian
from lftgen.rigidbody.spatial import rotation_exponential

TILT = rotation_exponential(np.array([0.3, -0.5, 0.8]))
GRAVITY = TILT @ np.array([0, -9.81, 0])


def bar(name, mass, length):
    """Bar along its x with a little thickness."""
    return Body(name, mass, (length / 2, 0, 0), np.diag([0.01, 1, 1]) * mass * length**2 / 12)


def four_bar(loop="revolute", size=1.0, **hinge):
    """Planar four-bar in a tilted plane: ground 2 m, crank 0.7, coupler 1.8, rocker 1.3; closed at C."""
    joints = [
        Joint("A", "revolute", "ground", "crank", rotation=TILT, **hinge),
        Joint("B", "revolute", "crank", "coupler", position=(0.7 * size, 0, 0)),
        Joint("D", "revolute", "ground", "rocker", rotation=TILT, position=TILT @ [2.0 * size, 0, 0]),
    ]
    bars = [("crank", 1.0, 0.7), ("coupler", 1.5, 1.8), ("rocker", 2.0, 1.3)]
    bodies = [bar(name, mass * size**3, length * size) for name, mass, length in bars]
    ends = {"position_predecessor": (1.8 * size, 0, 0), "position_successor": (1.3 * size, 0, 0)}
    closing = LoopJoint("C", loop, "coupler", "rocker", **ends)
    return ClosedModel(Model(bodies, joints, gravity=GRAVITY), [closing])


OPEN = np.array([1.0, -0.6, 2.0])
"""Near the upper branch of the four-bar."""


def slider_crank():
    """Crank 0.4, rod 1.1, slider along the plane's x; closed by the slider's prismatic guide."""
    joints = [
        Joint("A", "revolute", "ground", "crank", rotation=TILT),
        Joint("B", "revolute", "crank", "rod", position=(0.4, 0, 0)),
        Joint("C", "revolute", "rod", "slider", position=(1.1, 0, 0)),
    ]
    bodies = [bar("crank", 1.0, 0.4), bar("rod", 1.5, 1.1), Body("slider", 2.0, (0, 0, 0), np.eye(3) * 0.1)]
    guide = LoopJoint("guide", "prismatic", "ground", "slider", rotation_predecessor=TILT, axis=(1, 0, 0))
    return ClosedModel(Model(bodies, joints, gravity=GRAVITY), [guide])


def platform():
    """Six legs (two hinges, a slide, a ball) under a platform; the ball of leg 0 is in the tree."""
    bodies = [Body("top", 10.0, (0, 0, 0.1), np.diag([1.0, 1.2, 2.0]))]
    joints, loops = [], []
    for k in range(6):
        foot = 1.2 * np.array([np.cos(k * np.pi / 3), np.sin(k * np.pi / 3), 0])
        spread = np.pi / 3 * (k + (0.35 if k % 2 else -0.35))
        head = 0.7 * np.array([np.cos(spread), np.sin(spread), 0])
        bodies += [
            Body(f"cross{k}", 0.2, (0, 0, 0), np.eye(3) * 0.01),
            Body(f"lower{k}", 1.0, (0, 0, 0.3), np.diag([0.1, 0.1, 0.01])),
            Body(f"upper{k}", 0.6, (0, 0, -0.2), np.diag([0.08, 0.08, 0.01])),
        ]
        joints += [
            Joint(f"x{k}", "revolute", "ground", f"cross{k}", axis=(1, 0, 0), position=foot),
            Joint(f"y{k}", "revolute", f"cross{k}", f"lower{k}", axis=(0, 1, 0)),
            Joint(f"s{k}", "prismatic", f"lower{k}", f"upper{k}", axis=(0, 0, 1)),
        ]
        if k == 0:
            # the platform's frame is in its middle
            bodies.append(Body("ball", 0.1, (0, 0, 0), np.eye(3) * 0.01))
            joints += [
                Joint("ball", "spherical", "upper0", "ball"),
                Joint("mount", "fixed", "ball", "top", position=-head),
            ]
        else:
            loops.append(LoopJoint(f"ball{k}", "spherical", f"upper{k}", "top", position_successor=head))
    return ClosedModel(Model(bodies, joints), loops)


def platform_start(closed):
    """Legs that point straight up, 1.4 m long."""
    q = np.zeros(closed.tree.nq)
    for k in range(6):
        q[closed.tree.links[closed.tree.joint_index(f"s{k}")].dofs] = 1.4
    return q


def lengths(value=1.4):
    """Targets of all six legs."""
    return {f"s{k}": value + 0.03 * k for k in range(6)}


def augmented(closed, q, v, tau):
    """Reference: H q̈ − Kᵀ λ = τ − C, K q̈ = −K̇ q̇ as one least-squares system; K̇ by complex step."""
    tree = closed.tree
    _, K = residual_and_jacobian(closed, q)
    _, moved = residual_and_jacobian(closed, q + 1e-30j * v)  # right for joints with one axis
    H, C = mass_matrix(tree, q), bias_force(tree, q, v)
    m = len(K)
    big = np.block([[H, -K.T], [K, np.zeros((m, m))]])
    rhs = np.concatenate([tau - C, -(moved.imag / 1e-30) @ v])
    return np.linalg.lstsq(big, rhs, rcond=1e-11)[0][: tree.nq]


def skewed():
    """Parallel hinges and a welded loop: rates that differ contradict it."""
    joints = [
        Joint("A", "revolute", "ground", "crank"),
        Joint("B", "revolute", "crank", "coupler", position=(0.7, 0, 0)),
        Joint("D", "revolute", "ground", "rocker", position=(0.4, 0, 0)),
    ]
    bodies = [bar("crank", 1.0, 0.7), bar("coupler", 1.5, 1.8), bar("rocker", 2.0, 1.3)]
    ends = {"position_predecessor": (0.3, 0, 0), "position_successor": (0.6, 0, 0)}
    weld = LoopJoint("C", "fixed", "coupler", "rocker", **ends)
    return ClosedModel(Model(bodies, joints), [weld])


@pytest.fixture
def mechanisms():
    """The builders of this file."""
    return SimpleNamespace(
        OPEN=OPEN,
        four_bar=four_bar,
        ball_bar=lambda: four_bar("spherical"),
        slider_crank=slider_crank,
        platform=platform,
        platform_start=platform_start,
        lengths=lengths,
        augmented=augmented,
        skewed=skewed,
    )
