"""Many closed loops at once: plants of several parameter points under one controller.

A requirement's weighted plant at N points is a stack of state-space models from (w, u) to (z, y).  A controller
``u = K y`` with ``K = F_u([A_K B_K; C_K D_K], I/s)`` is a static feedback around the plant with the controller's
integrators added, so the loop depends on the matrix ``S = [A_K B_K; C_K D_K]`` alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lftgen.lft.evaluation import StateSpaceArrays


@dataclass(frozen=True, eq=False)
class PlantStack:
    """Plants with the controller's integrators: arrays with a leading axis of N points.

    ``A (n, n); B1 (n, n_w); B2 (n, r); C1 (n_z, n); C2 (c, n); D11, D12, D21, D22``, with S of shape (r, c).
    """

    A: np.ndarray
    B1: np.ndarray
    B2: np.ndarray
    C1: np.ndarray
    C2: np.ndarray
    D11: np.ndarray
    D12: np.ndarray
    D21: np.ndarray
    D22: np.ndarray

    def __len__(self) -> int:
        return len(self.A)

    def append(self, other: PlantStack) -> PlantStack:
        """The plants of both."""
        return PlantStack(*(np.concatenate([getattr(self, k), getattr(other, k)]) for k in _FIELDS))


_FIELDS = ("A", "B1", "B2", "C1", "C2", "D11", "D12", "D21", "D22")


def plant_stack(model: StateSpaceArrays, n_w: int, n_z: int, n_k: int) -> PlantStack:
    """Split stacked models into performance and control channels and add ``n_k`` integrators of the controller."""
    N, n = model.A.shape[:2]

    def grown(matrix: np.ndarray, rows: int, columns: int) -> np.ndarray:
        out = np.zeros((N, matrix.shape[1] + rows, matrix.shape[2] + columns))
        out[:, : matrix.shape[1], : matrix.shape[2]] = matrix
        return out

    B2, C2, D22 = model.B[:, :, n_w:], model.C[:, n_z:], model.D[:, n_z:, n_w:]
    B2k = np.zeros((N, n + n_k, n_k + B2.shape[2]))
    B2k[:, :n, n_k:], B2k[:, n:, :n_k] = B2, np.eye(n_k)
    C2k = np.zeros((N, n_k + C2.shape[1], n + n_k))
    C2k[:, n_k:, :n], C2k[:, :n_k, n:] = C2, np.eye(n_k)
    D22k = np.zeros((N, C2k.shape[1], B2k.shape[2]))
    D22k[:, n_k:, n_k:] = D22
    D12 = np.concatenate([np.zeros((N, n_z, n_k)), model.D[:, :n_z, n_w:]], axis=2)
    D21 = np.concatenate([np.zeros((N, n_k, n_w)), model.D[:, n_z:, :n_w]], axis=1)
    return PlantStack(
        grown(model.A, n_k, n_k),
        grown(model.B[:, :, :n_w], n_k, 0),
        B2k,
        grown(model.C[:, :n_z], 0, n_k),
        C2k,
        model.D[:, :n_z, :n_w],
        D12,
        D21,
        D22k,
    )


@dataclass(frozen=True, eq=False)
class LoopStack:
    """Closed loops from (w, controller's output) to (z, controller's input); names as in :class:`PlantStack`.

    A change dS of the controller changes the transfer from w to z by ``G12 dS G21`` to first order, with G12 and G21
    from ``(B2, C1, D12)`` and ``(B1, C2, D21)`` of this closed loop.
    """

    A: np.ndarray
    B1: np.ndarray
    B2: np.ndarray
    C1: np.ndarray
    C2: np.ndarray
    D11: np.ndarray
    D12: np.ndarray
    D21: np.ndarray


def close(p: PlantStack, S: np.ndarray) -> LoopStack | None:
    """The loops under ``u = S y`` (S of shape (N, r, c)); None where an algebraic loop is singular."""
    well = np.eye(S.shape[1]) - S @ p.D22
    if np.any(p.D22) and np.min(np.linalg.svd(well, compute_uv=False)[:, -1]) < 1e-9:
        return None
    MS = np.linalg.solve(well, S) if np.any(p.D22) else S
    B2, D12 = p.B2, p.D12
    C2, D21 = p.C2, p.D21
    loop = LoopStack(
        p.A + B2 @ MS @ C2,
        p.B1 + B2 @ MS @ D21,
        B2,
        p.C1 + D12 @ MS @ C2,
        C2,
        p.D11 + D12 @ MS @ D21,
        D12,
        D21,
    )
    if not np.any(p.D22):
        return loop
    left = np.linalg.inv(well)  # (I - S D22)^-1, and (I - D22 S)^-1 = I + D22 (I - S D22)^-1 S
    right = np.eye(S.shape[2]) + p.D22 @ MS
    return LoopStack(loop.A, loop.B1, B2 @ left, loop.C1, right @ C2, loop.D11, D12 @ left, right @ D21)


def gains_at(loop: LoopStack, model: np.ndarray, omega: np.ndarray) -> np.ndarray:
    """Transfer matrices from w to z of the models with numbers ``model`` at ``omega`` (rad/s, inf allowed): (P, n_z, n_w)."""
    out = loop.D11[model].astype(complex)
    finite = np.isfinite(omega)
    if np.any(finite):
        i, w = model[finite], omega[finite]
        out[finite] += loop.C1[i] @ np.linalg.solve(_resolvent(loop.A[i], w), loop.B1[i].astype(complex))
    return out


def transfers(
    loop: LoopStack, model: np.ndarray, omega: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """T (w to z), G12 (controller's output to z) and G21 (w to controller's input) at P pairs (model, omega)."""
    T, G12, G21 = (x[model].astype(complex) for x in (loop.D11, loop.D12, loop.D21))
    finite = np.isfinite(omega)
    if np.any(finite):
        i = model[finite]
        n_w = loop.B1.shape[2]
        right = np.concatenate([loop.B1[i], loop.B2[i]], axis=2).astype(complex)
        X = np.linalg.solve(_resolvent(loop.A[i], omega[finite]), right)
        T[finite] += loop.C1[i] @ X[:, :, :n_w]
        G12[finite] += loop.C1[i] @ X[:, :, n_w:]
        G21[finite] += loop.C2[i] @ X[:, :, :n_w]
    return T, G12, G21


def _resolvent(A: np.ndarray, omega: np.ndarray) -> np.ndarray:
    out = -A.astype(complex)
    n = A.shape[1]
    out[:, range(n), range(n)] += 1j * omega[:, None]
    return out
