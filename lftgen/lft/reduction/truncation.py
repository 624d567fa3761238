"""Channels of Delta in the order of their weight, and what is left without the lightest ones.

Per parameter two Gramians are averaged over the box, of the signals z that the inputs excite and of the outputs that
the signals w reach; a block-diagonal change of basis makes both equal and diagonal.  Its diagonal says how much each
channel carries.  Nothing here is a guarantee: that is the business of :mod:`lftgen.lft.reduction.guarantee`.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import numpy as np

from lftgen.lft.reduction.balancing import ScalarLFT
from lftgen.lft.structure import slices_of

POINTS = 200
_SMALLEST = 1e-12  # relative: lighter directions are not scaled up any further


@dataclass(frozen=True)
class Weighed:
    """A scalar LFT in balanced channels, and the weight of each."""

    lft: ScalarLFT
    weights: np.ndarray

    def split(self, dropped: int) -> Truncation:
        """The LFT without its ``dropped`` lightest channels."""
        order = np.argsort(self.weights, kind="stable")
        light = np.sort(order[:dropped])
        return Truncation(self.lft, np.setdiff1d(np.arange(self.lft.order), light), light)


@dataclass(frozen=True)
class Truncation:
    """Kept and dropped channels of a scalar LFT whose deltas are in [-1, 1].

    With Delta_1 closed alone, ``G = [G_zw G_zu; G_yw F_r]`` from (w of the dropped channels, u) to (their z, y), and

        F - F_r = G_yw Delta_2 (I - G_zw Delta_2)^-1 G_zu:

    the error is a product of two small factors, not a difference of two large numbers.
    """

    lft: ScalarLFT
    kept: np.ndarray
    dropped: np.ndarray

    def reduced(self) -> ScalarLFT:
        """The kept channels against the ports."""
        a = self.lft
        sizes = [int(np.sum((self.kept >= g.start) & (self.kept < g.stop))) for g in a.groups]
        k = self.kept
        return replace(a, dd=a.dd[np.ix_(k, k)], dp=a.dp[k], pd=a.pd[:, k], groups=tuple(slices_of(sizes)))

    def opened(self) -> ScalarLFT:
        """The kept channels against ports (dropped channels, then the ports): the G of the class's description."""
        a, k, d = self.lft, self.kept, self.dropped
        small = self.reduced()
        return replace(
            small,
            dp=np.hstack([a.dd[np.ix_(k, d)], a.dp[k]]),
            pd=np.vstack([a.dd[np.ix_(d, k)], a.pd[:, k]]),
            pp=np.block([[a.dd[np.ix_(d, d)], a.dp[d]], [a.pd[:, d], a.pp]]),
        )


def sample_points(n: int, seed: int = 1) -> np.ndarray:
    """Points of the box [-1, 1]^n: corners (up to 64 of them), the rest at random."""
    rng = np.random.default_rng(seed)
    corners = np.array(list(itertools.islice(itertools.product((-1.0, 1.0), repeat=n), 64))).reshape(-1, n)
    if 2**n > 64:
        corners = rng.choice([-1.0, 1.0], (64, n))
    return np.vstack([corners, rng.uniform(-1, 1, (POINTS, n))])


def weighed(a: ScalarLFT) -> Weighed:
    """Balance the channels of each parameter over the box (singular sample points are left out)."""
    P, Q = np.zeros((a.order, a.order)), np.zeros((a.order, a.order))
    sizes = [g.stop - g.start for g in a.groups]
    for delta in np.repeat(sample_points(len(a.groups)), sizes, axis=1):
        try:
            z = np.linalg.solve(np.eye(a.order) - a.dd * delta, a.dp)
            y = np.linalg.solve((np.eye(a.order) - delta[:, None] * a.dd).T, a.pd.T)
        except np.linalg.LinAlgError:
            continue
        P, Q = P + z @ z.T, Q + y @ y.T
    left, right, weights = [], [], []
    for g in a.groups:
        t, back, sigma = _balancing(P[g, g], Q[g, g])
        left.append(back)
        right.append(t)
        weights.append(sigma)
    return Weighed(a.projected(left, right), np.concatenate(weights) if weights else np.zeros(0))


def _balancing(P: np.ndarray, Q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """T, its inverse, and sigma with ``T^-1 P T^-T = T^T Q T = diag(sigma)``."""
    if not len(P):
        return P, P, np.zeros(0)
    R, L = _root(P), _root(Q)
    u, s, vt = np.linalg.svd(L.T @ R)
    s = np.maximum(s, _SMALLEST * max(float(s[0]), 1e-300))
    return R @ vt.T / np.sqrt(s), (u / np.sqrt(s)).T @ L.T, s


def _root(P: np.ndarray) -> np.ndarray:
    """A square root, regular even where P is not quite."""
    values, vectors = np.linalg.eigh(P)
    floor = _SMALLEST * max(float(values[-1]), 1e-300)
    root: np.ndarray = vectors * np.sqrt(np.maximum(values, floor))
    return root
