"""A basis of the Delta channels in which M11 is block triangular, with one parameter and one pole in each diagonal block.

Channels of one repeated scalar may be mixed by any invertible matrix: Delta commutes with it.  A *layer* is a set of
mixed channels that M11 maps into themselves, as a multiple ``lambda`` of the identity, and into no channel of another
parameter.  Layers are taken away until none is left; what is beyond them in the order does not feed them.  In such a
basis (I - M11 Delta) is solved by substitution, all of whose matrices are constant.  Where parameters enter as a
polynomial, or as one of their sines and cosines (one pair of poles, t = +-i), the layers take up everything.

The order of a layer's channels is that of its eigenvectors' real parts and then their imaginary parts, where lambda is
complex: with lambda = a + ib the diagonal block is ``[[a, b], [-b, a]]``, entries standing for multiples of the identity.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lftgen.lft.structure import DeltaBlock

RANK = 1e-9
"""Singular values below this, relative to the largest of M11, are zero: those that should be are near 1e-12, the others
near 1e-3; a wrong decision is seen when the layers are compared with M11 itself."""
CLUSTER = 1e-5
"""Eigenvalues nearer than this belong to one multiple eigenvalue, whose value is their mean."""


@dataclass(frozen=True)
class Layer:
    """Channels ``part`` (in the new order) of one Delta block, with M11 = lambda on them; core: no such structure."""

    block: int
    eigenvalue: complex
    part: slice

    @property
    def is_pair(self) -> bool:
        """Whether the layer holds a pair of complex eigenvalues."""
        return self.eigenvalue.imag != 0


@dataclass(frozen=True)
class Layered:
    """Result: ``basis^-1 M11 basis`` is block upper triangular.

    Attributes
    ----------
    basis : ndarray (k, k)
        New channels in its columns.
    stages : tuple of tuple of Layer
        Layers that do not feed each other, in order; ``core`` stands after the first ``before_core`` stages.
    core : slice
        Channels without structure (empty where everything is in layers).
    owner : ndarray of int (k,)
        Delta block of each new channel.
    """

    basis: np.ndarray
    stages: tuple[tuple[Layer, ...], ...]
    before_core: int
    core: slice
    owner: np.ndarray


def known_eigenvalues(block: DeltaBlock, scale: float) -> tuple[complex, ...]:
    """1/delta at the poles that functions of a parameter usually have: t = +-i for an angle, zero and infinity else.

    ``scale``: what delta is divided by.
    """
    p, m = block.parameter, block.map
    if p is None:
        return (0j,)
    infinite = complex(-m.skew * scale)
    if p.is_angle:
        at = complex(m.delta(1j)) / scale
        return (1 / complex(at.real, abs(at.imag)),)
    zero = float(m.delta(0.0))
    return (infinite, complex(scale / zero)) if np.isfinite(zero) and zero else (infinite,)


def layered(dd: np.ndarray, owner: np.ndarray, eigenvalues: list[tuple[complex, ...]]) -> Layered:
    """Layers from the bottom; where those stop, from the top of what is left.

    Parameters
    ----------
    dd : ndarray (k, k)
        M11, balanced.
    owner : ndarray of int (k,)
        Delta block of each channel.
    eigenvalues : list
        For each Delta block those to try first.
    """
    size = float(np.linalg.norm(dd, 2)) if dd.size else 0.0
    bottom = _Peeling(dd, owner, eigenvalues, RANK * size)
    top = _Peeling(bottom.rest.T, bottom.owner, eigenvalues, RANK * size)
    n, k = len(dd), len(top.owner)
    first, total = n - len(bottom.owner), len(bottom.owner)
    basis = bottom.basis.copy()
    dual = np.linalg.inv(top.basis).T  # layers of the transpose come last, in reverse
    basis[:, first:] = basis[:, first:] @ dual[:, ::-1]
    stages = list(bottom.stages)
    for stage in reversed(top.stages):
        layers = [_reversed(layer, first + total) for layer in stage]
        stages.append(tuple(sorted(layers, key=lambda layer: layer.part.start)))
    order = np.concatenate([bottom.done, np.concatenate([top.done, top.owner])[::-1]]).astype(int)
    return Layered(basis, tuple(stages), len(bottom.stages), slice(first, first + k), order)


def _reversed(layer: Layer, end: int) -> Layer:
    """A layer of the transposed problem whose channels are counted from the end.

    Reversal swaps real and imaginary parts, transposition the sign of b: together the block stays as it is.
    """
    return Layer(layer.block, layer.eigenvalue, slice(end - layer.part.stop, end - layer.part.start))


class _Peeling:
    """Takes layers away while there are any.

    ``basis``: columns of layers, then of the rest; ``done`` and ``owner``: the Delta blocks of those and these;
    ``rest``: M11 on the rest.
    """

    def __init__(
        self, dd: np.ndarray, owner: np.ndarray, eigenvalues: list[tuple[complex, ...]], tolerance: float
    ) -> None:
        self.basis, self.rest, self.owner = np.eye(len(dd)), dd, np.asarray(owner, dtype=int)
        self.done = np.zeros(0, dtype=int)
        self.stages: list[tuple[Layer, ...]] = []
        self.tolerance = tolerance
        while len(self.owner):
            spaces = self._spaces(eigenvalues)
            if not spaces:
                spaces = self._spaces([self._clusters(i) for i in range(len(eigenvalues))])
            if not spaces:
                break
            self._take(spaces)

    def _clusters(self, block: int) -> tuple[complex, ...]:
        """Eigenvalues of one block's own part of M11, upper half plane, multiple ones at their mean."""
        index = np.flatnonzero(self.owner == block)
        values = list(np.linalg.eigvals(self.rest[np.ix_(index, index)])) if index.size else []
        out = []
        while values:
            near = [v for v in values if abs(v - values[0]) <= CLUSTER * max(1.0, abs(values[0]))]
            values = [v for v in values if abs(v - values[0]) > CLUSTER * max(1.0, abs(values[0]))]
            mean = complex(np.mean(near))
            if abs(mean.imag) <= CLUSTER * max(1.0, abs(mean)):
                out.append(complex(mean.real))
            elif mean.imag > 0:
                out.append(mean)
        return tuple(out)

    def _spaces(self, eigenvalues: list[tuple[complex, ...]]) -> list[tuple[int, complex, np.ndarray]]:
        """Delta block, eigenvalue and eigenvectors (over the block's channels) of each layer that can be taken now."""
        out = []
        for block, values in enumerate(eigenvalues):
            index = np.flatnonzero(self.owner == block)
            if not index.size:
                continue
            others = np.flatnonzero(self.owner != block)
            outside = _compressed(self.rest[np.ix_(others, index)])
            inside = self.rest[np.ix_(index, index)]
            for value in values:
                number = value if value.imag else value.real
                system = np.vstack([outside, inside - number * np.eye(len(index))])
                _, singular, vectors = np.linalg.svd(system)
                null = int(np.sum(singular < self.tolerance)) + len(index) - len(singular)
                if null:
                    out.append((block, value, vectors[len(index) - null :].conj().T))
        return out

    def _take(self, spaces: list[tuple[int, complex, np.ndarray]]) -> None:
        q, start = len(self.owner), len(self.done)
        change = np.zeros((q, q))
        position, layers, owners = 0, [], []
        columns: dict[int, list[np.ndarray]] = {}
        for block, value, vectors in spaces:
            real = np.hstack([vectors.real, vectors.imag]) if value.imag else vectors.real
            width = real.shape[1]
            change[self.owner == block, position : position + width] = real
            columns.setdefault(block, []).append(real)
            layers.append(Layer(block, value, slice(start + position, start + position + width)))
            owners += [block] * width
            position += width
        rest: list[int] = []
        for block in dict.fromkeys(self.owner.tolist()):
            index = self.owner == block
            taken = np.hstack(columns[block]) if block in columns else np.zeros((int(index.sum()), 0))
            complement = np.linalg.svd(taken)[0][:, taken.shape[1] :] if taken.size else np.eye(len(taken))
            width = complement.shape[1]
            change[index, position + len(rest) : position + len(rest) + width] = complement
            rest += [block] * width
        new = np.linalg.solve(change, self.rest @ change)
        self.basis[:, start:] = self.basis[:, start:] @ change
        self.rest = new[position:, position:]
        self.owner, self.done = np.array(rest, dtype=int), np.concatenate([self.done, owners]).astype(int)
        self.stages.append(tuple(layers))


def _compressed(a: np.ndarray) -> np.ndarray:
    """As many rows as columns with the same null space."""
    return np.asarray(np.linalg.qr(a, mode="r")) if a.shape[0] > a.shape[1] else a
