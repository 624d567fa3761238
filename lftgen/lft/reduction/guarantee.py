"""A proven bound, over the whole box, on the error of leaving channels of Delta out.

The box is cut until norms prove what is asked.  In a part with centre c and half widths h, ``delta = c + h e``, |e| <= 1,

    N = [N11 N12; N21 N22]:  N11 = R A h, N12 = R B, N21 = C (I + c R A) h, N22 = D + C c R B,  R = (I - A c)^-1

and, e being real scalars times identities, for any diagonal T > 0,

    |F| <= |N22| + sum_k |N21_k N12_k| + |N21 T^-1| q |T N12| / (1 - q),   q = |T N11 T^-1| < 1.
"""

from __future__ import annotations

import heapq
import itertools
import time

import numpy as np

from lftgen.lft.reduction.balancing import ScalarLFT
from lftgen.lft.reduction.truncation import Truncation

_SWEEPS = 6
MOST_PARTS = 200_000


class Proof:
    """A bound of ``|F - F_r|`` (largest singular value) over the box, which falls as parts of the box are cut.

    Attributes
    ----------
    error : float
        The error is nowhere above this; infinite where nothing is proven yet.
    parts : int
    """

    def __init__(self, t: Truncation) -> None:
        self._g, self._d, self._ticket = t.opened(), len(t.dropped), itertools.count()
        n = len(self._g.groups)
        self._heap = [self._entry(np.zeros(n), np.ones(n))]

    @property
    def error(self) -> float:
        """The bound of the worst part."""
        return float(-self._heap[0][0])

    @property
    def parts(self) -> int:
        """Number of parts of the box."""
        return len(self._heap)

    @property
    def seconds_per_part(self) -> float:
        """About what a part takes on one core of 2026, for budgets in seconds."""
        return 2e-3 + 6e-7 * self._g.order**2

    def run(self, target: float, parts: float, until: float) -> bool:
        """Cut the worst part in two, until the bound is at ``target`` or there are as many ``parts``.

        The clock (`time.perf_counter`) at ``until`` is a net below that: the number of parts decides.
        """
        while self.error > target and self.parts < min(parts, MOST_PARTS) and time.perf_counter() < until:
            _, _, center, half, k = heapq.heappop(self._heap)
            half = half.copy()
            half[k] /= 2
            for sign in (-1.0, 1.0):
                moved = center.copy()
                moved[k] += sign * half[k]
                heapq.heappush(self._heap, self._entry(moved, half))
        return self.error <= target

    def _entry(self, center: np.ndarray, half: np.ndarray) -> Entry:
        bound, axis = _bound(self._g, self._d, center, half)
        return -bound, next(self._ticket), center, half, axis


Entry = tuple[float, int, np.ndarray, np.ndarray, int]


def _bound(g: ScalarLFT, d: int, center: np.ndarray, half: np.ndarray) -> tuple[float, int]:
    """Bound of the error on one part of the box (d dropped channels), and the axis to cut next."""
    sizes = [s.stop - s.start for s in g.groups]
    c, h = np.repeat(center, sizes), np.repeat(half, sizes)
    widest = int(np.argmax(half * (np.array(sizes) > 0)))
    try:
        R = np.linalg.solve(np.eye(g.order) - g.dd * c, np.hstack([g.dd * h, g.dp]))
    except np.linalg.LinAlgError:
        return float("inf"), widest
    N11, N12 = R[:, : g.order], R[:, g.order :]
    N21, N22 = g.pd * h + (g.pd * c) @ N11, g.pp + (g.pd * c) @ N12
    scale = _scaling(N11, N12, N21)
    N11, N12, N21 = scale[:, None] * N11 / scale, scale[:, None] * N12, N21 / scale
    q = _norm(N11)
    shares = np.array([_norm(N21[:, s]) * _norm(N12[s]) + _norm(N11[:, s]) for s in g.groups])
    axis = int(np.argmax(shares)) if np.any(shares > 0) else widest
    if q >= 1:
        return float("inf"), axis

    def largest(rows: slice, columns: slice) -> float:
        linear = sum(_norm(N21[rows, s] @ N12[s, columns]) for s in g.groups)
        rest = _norm(N21[rows]) * q * _norm(N12[:, columns]) / (1 - q)
        return _norm(N22[rows, columns]) + linear + rest

    light, ports = slice(0, d), slice(d, None)
    loop = largest(light, light)
    if loop >= 1:
        return float("inf"), axis
    return largest(ports, light) * largest(light, ports) / (1 - loop), axis


def _norm(a: np.ndarray) -> float:
    return float(np.linalg.norm(a, 2)) if a.size else 0.0


def _scaling(N11: np.ndarray, N12: np.ndarray, N21: np.ndarray) -> np.ndarray:
    """Osborne's scaling of the channels, inputs and outputs included at the size of the loop."""
    n = len(N11)
    scale = np.ones(n)
    if not n:
        return scale
    loop = np.abs(N11)
    feed = np.linalg.norm(N12, axis=1), np.linalg.norm(N21, axis=0)
    size = max(_norm(N11), 1e-300)
    feed = tuple(1e-3 * size * f / max(float(f.max()), 1e-300) for f in feed)
    for _ in range(_SWEEPS):
        inner = scale[:, None] * loop / scale
        rows = np.sqrt(np.sum(inner**2, axis=1) + (scale * feed[0]) ** 2)
        columns = np.sqrt(np.sum(inner**2, axis=0) + (feed[1] / scale) ** 2)
        scale *= np.sqrt(np.maximum(columns, 1e-300) / np.maximum(rows, 1e-300))
    return np.clip(scale, 1e-100, 1e100)
