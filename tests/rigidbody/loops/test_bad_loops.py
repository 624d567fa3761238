"""Loops that cannot be: each is refused with the name of what is wrong."""

import numpy as np
import pytest

from lftgen.errors import IllPosedError, ModelError, TrimError
from lftgen.rigidbody import (
    Body,
    ClosedModel,
    Joint,
    LoopJoint,
    Model,
    closed_equilibrium,
    closed_forward_dynamics,
    divide_and_conquer,
    rate_map,
    solve_posture,
)
from lftgen.rigidbody.posture import residual_and_jacobian


def test_bad_loops(mechanisms):
    """Postures that cannot close, wrong independent joints, contradicting motion, missing actuators."""
    closed = mechanisms.four_bar()
    q = solve_posture(closed, mechanisms.OPEN, {"A": 0.9})
    short = LoopJoint("C", "revolute", "coupler", "rocker", position_predecessor=(0.1, 0, 0))
    with pytest.raises(ModelError, match="cannot be closed at the start; loop joint 'C'"):
        solve_posture(ClosedModel(closed.tree, [short]), mechanisms.OPEN, {"A": 0.9})
    with pytest.raises(ModelError, match=r"cannot be closed after \d"):
        solve_posture(closed, q, {"D": 6.0})  # beyond the rocker's reach
    with pytest.raises(IllPosedError, match="fewer motions"):
        rate_map(closed, q, ("A", "B"))
    with pytest.raises(IllPosedError, match="more joints must be independent"):
        rate_map(closed, q, ())
    with pytest.raises(IllPosedError, match="inconsistent loop"):
        closed_forward_dynamics(mechanisms.skewed(), np.zeros(3), np.array([1.0, 2.0, -1.0]))
    with pytest.raises(IllPosedError, match="inconsistent loop"):
        divide_and_conquer(mechanisms.skewed()).forward_dynamics(np.zeros(3), np.array([1.0, 2.0, -1.0]))
    with pytest.raises(TrimError, match="unbalanced"):
        closed_equilibrium(closed, q, [])
    with pytest.raises(ModelError, match="open by"):
        closed_equilibrium(closed, mechanisms.OPEN, ["A"])
    with pytest.raises(ModelError, match="itself"):
        LoopJoint("C", "revolute", "rocker", "rocker")
    with pytest.raises(ModelError, match="non-zero pitch"):
        LoopJoint("C", "helical", "ground", "rocker")
    with pytest.raises(ModelError, match="used twice"):
        ClosedModel(closed.tree, [LoopJoint("A", "revolute", "crank", "rocker")])
    with pytest.raises(ModelError, match="'x' is not in the model"):
        ClosedModel(closed.tree, [LoopJoint("C", "revolute", "crank", "x")])


@pytest.mark.parametrize("kind", ["fixed", "revolute", "cylindrical", "prismatic", "planar"])
def test_half_a_turn_is_not_closed(kind):
    """Frames that differ by half a turn about a forbidden axis are as open as can be."""
    tree = Model(
        [Body("b", 1.0, (0, 0, 0), np.eye(3))], [Joint("J", "revolute", "ground", "b", axis=(1, 0, 0))]
    )
    closed = ClosedModel(tree, [LoopJoint("L", kind, "ground", "b")])
    for angle in (np.pi, np.pi - 1e-9, 2.0):
        r, _ = residual_and_jacobian(closed, np.array([angle]))
        np.testing.assert_allclose(np.abs(r).max(), angle, rtol=1e-6)
    np.testing.assert_allclose(solve_posture(closed, [3.0], {}), [0.0], atol=1e-12)
