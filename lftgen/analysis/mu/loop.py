"""A loop as arrays: states, normalised uncertainties, inputs and outputs; its values, poles, gains and pieces of its box."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lftgen.analysis.mu.frequencies import Channels
from lftgen.analysis.mu.structure import MuBlock, MuStructure, parse_blocks
from lftgen.lft.data import LFTData


@dataclass(frozen=True)
class Loop:
    """``x' = A x + Bw w + Bu u;  z = Cz x + ...;  y = ...;  w = Delta z`` in one matrix M.

    M's rows are [states; z; y], its columns [states; w; u]; real scalars have delta in [-1, 1].
    """

    M: np.ndarray
    n: int
    structure: MuStructure

    @classmethod
    def of(cls, data: LFTData) -> Loop:
        """From a normalised LFT with float entries."""
        blocks = parse_blocks(data.structure.blocks)
        M, s = np.array(data.M, dtype=float), data.structure
        keep = [b.repetitions > 0 for b in blocks]
        loop = cls(M, data.n_states, MuStructure(tuple(b for b, k in zip(blocks, keep, strict=True) if k)))
        if loop.structure.n_z != s.n_rows - s.n_states:
            raise AssertionError("blocks and channels disagree")
        return loop.balanced()

    def balanced(self) -> Loop:
        """The same loop with states scaled to rows and columns of like size."""
        from scipy.linalg import matrix_balance

        if not self.n:
            return self
        _, (scale, _) = matrix_balance(self.M[: self.n, : self.n], permute=False, separate=True)
        M = self.M.copy()
        M[: self.n] /= scale[:, None]
        M[:, : self.n] *= scale
        return replace(self, M=M)

    # --- where things are ----------------------------------------------------------------------------------------

    @property
    def z(self) -> slice:
        """Rows of the signals into Delta."""
        return slice(self.n, self.n + self.structure.n_z)

    @property
    def w(self) -> slice:
        """Columns of the signals out of Delta."""
        return slice(self.n, self.n + self.structure.n_w)

    @property
    def outer(self) -> tuple[int, int]:
        """Numbers of outputs and inputs."""
        return self.M.shape[0] - self.z.stop, self.M.shape[1] - self.w.stop

    @property
    def real_blocks(self) -> list[int]:
        """Numbers of the real scalars."""
        return [i for i, b in enumerate(self.structure.blocks) if b.kind == "real"]

    def channels_of(self, block: int) -> tuple[slice, slice]:
        """z and w channels (counted from the first of them) of a block."""
        b = self.structure.blocks
        z = sum(x.repetitions * x.shape[1] for x in b[:block])
        w = sum(x.repetitions * x.shape[0] for x in b[:block])
        return (
            slice(z, z + b[block].repetitions * b[block].shape[1]),
            slice(w, w + b[block].repetitions * b[block].shape[0]),
        )

    # --- values --------------------------------------------------------------------------------------------------

    def delta(self, reals: np.ndarray) -> np.ndarray:
        """Delta (w x z) with real scalars given, (..., n_real), and all others at zero."""
        reals = np.asarray(reals, dtype=float)
        out = np.zeros((*reals.shape[:-1], self.structure.n_w, self.structure.n_z))
        for k, i in enumerate(self.real_blocks):
            z, w = self.channels_of(i)
            out[..., range(w.start, w.stop), range(z.start, z.stop)] = reals[..., k, None]
        return out

    def ports(self, reals: np.ndarray) -> np.ndarray:
        """``[A B; C D]`` at real values (..., n_real); inf where the loop is ill-posed."""
        delta = self.delta(reals)
        rest_r = [*range(self.n), *range(self.z.stop, self.M.shape[0])]
        rest_c = [*range(self.n), *range(self.w.stop, self.M.shape[1])]
        pp, pw = self.M[np.ix_(rest_r, rest_c)], self.M[rest_r, self.w]
        zp, zw = self.M[self.z][:, rest_c], self.M[self.z, self.w]
        system = np.eye(self.structure.n_z) - zw @ delta
        try:
            x = np.linalg.solve(system, np.broadcast_to(zp, (*delta.shape[:-2], *zp.shape)))
        except np.linalg.LinAlgError:
            return np.stack([self.ports(r) for r in reals]) if delta.ndim > 2 else np.full(pp.shape, np.inf)
        return pp + pw @ (delta @ x)

    def poles(self, reals: np.ndarray) -> np.ndarray:
        """Poles (..., n) at real values; an unstable 1e300 where the loop is ill-posed."""
        A = self.ports(reals)[..., : self.n, : self.n]
        good = np.all(np.isfinite(A), axis=(-1, -2))
        values = np.linalg.eigvals(np.where(good[..., None, None], A, 0.0))
        return np.where(good[..., None], values, 1e300)

    def piece(self, low: np.ndarray, high: np.ndarray, size: float = 1.0) -> Loop:
        """The loop over a piece of the box of real scalars, its deltas again in [-1, 1]; other blocks times ``size``.

        Raises
        ------
        numpy.linalg.LinAlgError
            The loop is ill-posed at the middle of the piece.
        """
        centre = self.delta((low + high) / 2)
        gain = np.full(self.structure.n_w, size)
        for k, i in enumerate(self.real_blocks):
            gain[self.channels_of(i)[1]] = (high[k] - low[k]) / 2
        M, z, w = self.M, self.z, self.w
        columns = np.hstack([M[z, : self.n], M[z, w] * gain, M[z, w.stop :]])
        system = np.eye(self.structure.n_z) - M[z, w] @ centre
        if not np.linalg.cond(system) < 1e14:
            raise np.linalg.LinAlgError("ill-posed at the middle of the piece")
        new_z = np.linalg.solve(system, columns)
        out = np.hstack([M[:, : self.n], M[:, w] * gain, M[:, w.stop :]]) + M[:, w] @ (centre @ new_z)
        out[z] = new_z
        return replace(self, M=out)

    # --- as M(s) -------------------------------------------------------------------------------------------------

    def channels(self, gain: bool = False) -> tuple[Channels, MuStructure]:
        """M(s) from w to z, padded; with ``gain`` also from inputs to outputs, closed by a full complex block."""
        structure = self.structure
        if gain:
            ny, nu = self.outer
            structure = MuStructure((*structure.blocks, MuBlock("full complex", 1, (nu, ny), "gain")))
        n, stop_r, stop_c = self.n, self.z.stop, self.w.stop
        rows = slice(n, None if gain else stop_r)
        columns = slice(n, None if gain else stop_c)
        B, C, D = self.M[:n, columns], self.M[rows, :n], self.M[rows, columns]
        padded_b = np.zeros((n, structure.size))
        padded_c = np.zeros((structure.size, n))
        padded_b[:, structure.columns] = B
        padded_c[structure.rows] = C
        return Channels(self.M[:n, :n], padded_b, padded_c, structure.pad(D)), structure
