"""A tuned block as a controller: python-control system where it is fixed, LFT where it follows parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from lftgen.analysis.design.tunable import TunableBlock
from lftgen.lft.build import block_diag, with_integrators
from lftgen.lft.data import LFTData, default_names
from lftgen.lft.field import FLOAT
from lftgen.lft.model import LFT
from lftgen.lft.structure import Structure, real_block

RANK = 1e-10


def controller_of(block: TunableBlock, x: np.ndarray) -> LFT:
    """``F_u(M0 + sum M_i t_i, I/s)`` as an LFT: each parameter as often as its M_i has rank."""
    surface = block.surface(x)
    total = np.array(surface[0], dtype=float)
    left, right, blocks = [], [], []
    for parameter, slope in zip(block.parameters, surface[1:], strict=True):
        u, s, vt = np.linalg.svd(slope)
        rank = int(np.sum(s > RANK * max(float(np.max(np.abs(total))), float(s[0]), 1e-300)))
        total = total + parameter.coordinate_nominal * slope
        left.append(u[:, :rank] * s[:rank])
        right.append(vt[:rank])
        blocks.append(real_block(parameter, rank))
    k = sum(b.repetitions for b in blocks)
    rows, columns = total.shape
    M = np.zeros((k + rows, k + columns))
    M[k:, k:] = total
    if k:
        M[k:, :k], M[:k, k:] = np.hstack(left), np.vstack(right)
    static = LFTData(
        M, Structure((), tuple(blocks)), default_names("u", columns), default_names("y", rows), FLOAT
    )
    states = tuple(f"{block.name}_x{i + 1}" for i in range(block.n_states))
    return LFT(with_integrators(static, states, tuple(block.inputs), tuple(block.outputs)))


def for_user(controller: LFT) -> Any:
    """A named control.StateSpace where the controller is fixed."""
    return (
        controller
        if controller.parameters
        else controller.declare().at()
        if controller.states
        else controller.at()
    )


def side_by_side(controllers: list[LFT]) -> LFT:
    """All controllers as one."""
    return block_diag(controllers) if len(controllers) > 1 else controllers[0]
