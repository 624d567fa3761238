"""Loops that cannot be: each is refused with the name of what is wrong."""

import numpy as np
import pytest

from lftgen.errors import IllPosedError, ModelError, TrimError
from lftgen.rigidbody import (
    ClosedModel,
    LoopJoint,
    closed_equilibrium,
    closed_forward_dynamics,
    divide_and_conquer,
    rate_map,
    solve_posture,
)


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
    with pytest.raises(ModelError, match="used twice"):
        ClosedModel(closed.tree, [LoopJoint("A", "revolute", "crank", "rocker")])
    with pytest.raises(ModelError, match="'x' is not in the model"):
        ClosedModel(closed.tree, [LoopJoint("C", "revolute", "crank", "x")])
