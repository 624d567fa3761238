"""The plant of a gain-scheduling problem: matrices by channel, parameters normalised to [-1, 1]."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg

from lftgen.arguments import instance, whole_number
from lftgen.errors import ModelError
from lftgen.lft.hinf_norm import balanced
from lftgen.lft.model import LFT
from lftgen.lft.structure import DeltaBlock


@dataclass(frozen=True)
class Problem:
    """``[x'; z_theta; z; y] = M [x; w_theta; w; u]`` with ``w_theta = Theta z_theta``, ``|Theta| <= 1``.

    Attributes
    ----------
    plant : LFT
        With normalised parameters.
    blocks : tuple of DeltaBlock
        Scheduling parameters that occur, in the order of the channels.
    M : array
    sizes : (states, channels of Theta, w, u, z, y)
    """

    plant: LFT
    blocks: tuple[DeltaBlock, ...]
    M: np.ndarray
    n: int
    k: int
    n_w: int
    n_u: int
    n_z: int
    n_y: int

    def part(self, rows: str, columns: str) -> np.ndarray:
        """A block of M by names: rows of ``"x t z y"``, columns of ``"x t w u"`` (several letters side by side)."""
        row_at = dict(zip("xtzy", np.cumsum([0, self.n, self.k, self.n_z]), strict=True))
        row_size = dict(zip("xtzy", (self.n, self.k, self.n_z, self.n_y), strict=True))
        column_at = dict(zip("xtwu", np.cumsum([0, self.n, self.k, self.n_w]), strict=True))
        column_size = dict(zip("xtwu", (self.n, self.k, self.n_w, self.n_u), strict=True))
        r = np.concatenate([np.arange(row_at[c], row_at[c] + row_size[c]) for c in rows]).astype(int)
        c = np.concatenate([np.arange(column_at[c], column_at[c] + column_size[c]) for c in columns]).astype(
            int
        )
        return self.M[np.ix_(r, c)]

    @property
    def D_yu(self) -> np.ndarray:
        """Direct term from controls to measurements; taken out for the synthesis and put back afterwards."""
        return self.part("y", "u")


def problem_of(plant: Any, n_measured: Any, n_controls: Any) -> Problem:
    """Check the plant and sort its channels.

    Raises
    ------
    ModelError
        Not an LFT with states, more measurements or controls than channels, blocks that are not scheduling parameters.
    """
    instance(plant, LFT, "lpv_synthesis: plant")
    n_y = whole_number(n_measured, "lpv_synthesis: nmeas", minimum=1)
    n_u = whole_number(n_controls, "lpv_synthesis: ncon", minimum=1)
    if not plant.states:
        raise ModelError("lpv_synthesis: the plant has no states")
    if plant.shape[0] <= n_y or plant.shape[1] <= n_u:
        raise ModelError(
            f"lpv_synthesis: {n_y} measurements and {n_u} controls leave no performance channel of a plant with "
            f"{plant.shape[0]} outputs and {plant.shape[1]} inputs"
        )
    for b in plant.delta:
        if b.repetitions and (b.parameter is None or b.parameter.role != "scheduling"):
            raise ModelError(
                f"lpv_synthesis: {b.name} is not a scheduling parameter, so a controller cannot follow it; fix it with "
                f"plant.subs({b.name}=...), design, and look at worst_case_gain of the closed loop with it"
            )
    normal = plant.to_float().normalized(recenter=True)
    s = normal.data.structure
    n, k = len(normal.states), sum(b.repetitions for b in s.blocks)
    M = np.array(normal.M, dtype=float)
    p, m = plant.shape
    return Problem(normal, tuple(b for b in s.blocks if b.repetitions), M, n, k, m - n_u, n_u, p - n_y, n_y)


def with_even_states(p: Problem) -> Problem:
    """The problem in states scaled by powers of two: rows and columns of like size."""
    A = p.part("x", "x")
    B, C = p.part("x", "twu"), p.part("tzy", "x")
    a, b, c, d = balanced((A, B, C, p.part("tzy", "twu")))
    return replace(p, M=np.block([[a, b], [c, d]]))


def transformed(p: Problem, T: np.ndarray, T_theta: np.ndarray) -> Problem:
    """The problem in states ``T x`` and channels ``T_theta z_theta`` (which commutes with Theta)."""
    forth = scipy.linalg.block_diag(T, T_theta) if p.k else T
    back, m, M = np.linalg.inv(forth), p.n + p.k, p.M.copy()
    M[:m] = forth @ M[:m]
    M[:, :m] = M[:, :m] @ back
    return replace(p, M=M)


def regularised(p: Problem, noise: float, effort: float) -> Problem:
    """The problem with a little noise on every measurement and a little weight on every control.

    More inputs and outputs can only raise the gain, so a controller for this problem is one for the given problem.  It is
    needed where a measurement has no noise or a control no weight: the best controller is then infinitely fast.
    """
    M = p.M
    if effort:
        at = p.n + p.k + p.n_z
        M = np.insert(M, [at] * p.n_u, 0.0, axis=0)
        M[at : at + p.n_u, M.shape[1] - p.n_u :] = effort * np.eye(p.n_u)
    if noise:
        at = p.n + p.k + p.n_w
        M = np.insert(M, [at] * p.n_y, 0.0, axis=1)
        M[M.shape[0] - p.n_y :, at : at + p.n_y] = noise * np.eye(p.n_y)
    return replace(p, M=M, n_w=p.n_w + (p.n_y if noise else 0), n_z=p.n_z + (p.n_u if effort else 0))


def needs(p: Problem) -> tuple[bool, bool]:
    """Whether some measurement has no noise of its own, and some control no weight."""
    noise, effort = (np.linalg.svd(m, compute_uv=False) for m in (p.part("y", "w"), p.part("z", "u")))

    def short(values: np.ndarray, wanted: int) -> bool:
        return len(values) < wanted or values[-1] <= 1e-6 * max(values[0], 1e-300)

    return short(noise, p.n_y), short(effort, p.n_u)
