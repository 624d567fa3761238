"""Ports that change sides: what was an input becomes an output.

The inverse of a mass matrix couples every Delta channel with every other one.  With torques and accelerations exchanged
the model is ``[H, K]``, a polynomial in masses, sines and cosines: its M11 has far more structure.  For an LFT with
``[y_r; y_s] = F [u_c; u_d]`` and an invertible corner F_rc, exchanging r and c gives

    F' = [ F_rc^-1         -F_rc^-1 F_rd            ]      of [y_r; u_d], with [u_c; y_s] as outputs,
         [ F_sc F_rc^-1    F_sd - F_sc F_rc^-1 F_rd ]

and the same formula leads back, at each point by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import scipy.linalg

CORNER_CONDITION = 1e8
"""Ports are not exchanged across a worse conditioned corner: that would cost half of the digits."""
ROUNDING = 1e-14
"""What is left of a difference of numbers that are larger by the inverse of this is rounding, and counts as zero."""
PIVOT = 1e-5
"""Elimination without row exchanges goes on while each pivot is at least this, relative to its row."""

Entry = Callable[[int, int], np.ndarray | float]
"""Row and column to the value of a port: an array (N,), or a number where it does not depend on Delta."""
Target = Mapping[tuple[int, int], np.ndarray]
"""Row and column to the place of a port that depends on Delta."""


@dataclass(frozen=True)
class Exchange:
    """Port rows and port columns that change sides, in matching order."""

    rows: tuple[int, ...]
    columns: tuple[int, ...]

    def of_matrix(self, M: np.ndarray, first_row: int, first_column: int) -> np.ndarray:
        """M of the exchanged LFT; ports start at the given row and column of M."""
        r = [first_row + i for i in self.rows]
        c = [first_column + j for j in self.columns]
        s = [i for i in range(M.shape[0]) if i not in set(r)]
        d = [j for j in range(M.shape[1]) if j not in set(c)]
        corner = np.linalg.inv(M[np.ix_(r, c)])
        out = np.empty_like(M)
        out[np.ix_(r, c)] = corner
        out[np.ix_(r, d)] = -corner @ M[np.ix_(r, d)]
        out[np.ix_(s, c)] = M[np.ix_(s, c)] @ corner
        left, right, start = M[np.ix_(s, c)], corner @ M[np.ix_(r, d)], M[np.ix_(s, d)]
        rest = start - left @ right
        rest[np.abs(rest) < ROUNDING * (np.abs(start) + np.abs(left) @ np.abs(right))] = 0.0
        out[np.ix_(s, d)] = rest
        return out

    def dependent(self, inner: np.ndarray, ports: np.ndarray) -> np.ndarray:
        """Which ports of the LFT may depend on Delta, from those of the exchanged one (bool, and nominal values)."""
        present = inner | (ports != 0)
        r, c = list(self.rows), list(self.columns)
        out = inner.copy()
        from_d = present[r].any(axis=0)
        from_d[c] = True
        out[r] = from_d
        for i in range(len(out)):
            if i not in r and present[i, c].any():
                out[i] |= from_d
        return out

    def of_values(self, entry: Entry, target: Target, n: int, *, nominal: float = 0.0) -> np.ndarray:
        """Ports of the LFT from those of the exchanged one, at n points; returns which points are suspicious.

        A point is suspicious where the corner is close to singular, beside its entries there or its largest entry at the
        nominal: there the value may not exist.

        Parameters
        ----------
        entry : callable
            The exchanged LFT's ports.
        target : mapping of (row, column) to ndarray (n,)
            Overwritten; has all ports that depend on Delta.
        """
        r, c = self.rows, self.columns
        d = [j for i, j in target if i == r[0] and j not in c]
        corner, right = ([[entry(i, j) for j in js] for i in r] for js in (c, d))
        with np.errstate(all="ignore"):
            out = [[target[i, j] for j in (*c, *d)] for i in r]
            if len(r) == 2:
                bad = _solved_two(corner, right, out, nominal)
            else:
                bad = _solved(corner, right, out, n, nominal)
            for i in dict.fromkeys(i for i, _ in target if i not in r):
                gains = [(entry(i, j), row) for j, row in zip(c, out, strict=True) if _present(entry(i, j))]
                for q, j in enumerate((*c, *d)):
                    if (i, j) in target:
                        start = entry(i, j) if j in d else 0.0
                        target[i, j][:] = sum((gain * row[q] for gain, row in gains), start=start)
                for j in (j for k, j in target if k == i and j not in c and j not in d):
                    target[i, j][:] = entry(i, j)
        return bad


def _present(value: np.ndarray | float) -> bool:
    return isinstance(value, np.ndarray) or value != 0


_Table = list[list[np.ndarray | float]]


def _solved(corner: _Table, right: _Table, out: list[list[np.ndarray]], n: int, nominal: float) -> np.ndarray:
    """``corner^-1 [I, -right]`` at n points into ``out``; suspicious points."""
    m, k = len(corner), len(right[0])
    tableau = np.zeros((m, 2 * m + k, n))
    for i in range(m):
        tableau[i, m + i] = 1.0
        for j in range(m):
            tableau[i, j] = corner[i][j]
        for j in range(k):
            np.negative(right[i][j], out=tableau[i, 2 * m + j])
    size = np.abs(tableau[:, :m]).max(axis=(0, 1), initial=nominal)
    solution = eliminated(tableau)
    for row, values in zip(out, solution, strict=True):
        for place, value in zip(row, values, strict=True):
            place[:] = value
    return np.asarray(~(size * np.abs(solution[:, :m]).max(axis=(0, 1), initial=0.0) < CORNER_CONDITION))


def _solved_two(corner: _Table, right: _Table, out: list[list[np.ndarray]], nominal: float) -> np.ndarray:
    """The same for a 2 x 2 corner, by Cramer's rule."""
    (a, b), (c, d) = corner
    determinant = np.asarray(a * d - b * c)
    positive = 1 / determinant
    negative = -positive
    for place, minor, factor in (
        (out[0][0], d, positive),
        (out[0][1], b, negative),
        (out[1][0], c, negative),
        (out[1][1], a, positive),
    ):
        np.multiply(minor, factor, out=place)
    for j, (first, second) in enumerate(zip(*right, strict=True), 2):
        for row, minors in zip(out, ((d, b), (a, c)), strict=True):
            if not (_present(first) and _present(second)):
                np.multiply(row[_present(second)], -(first + second), out=row[j])
                continue
            np.multiply(minors[0], first if row is out[0] else second, out=row[j])
            row[j] -= minors[1] * (second if row is out[0] else first)
            row[j] *= negative
    size = max(nominal, *(float(max(np.max(v), -np.min(v))) for v in (a, b, c, d))) ** 2
    if size * float(max(np.max(positive), -np.min(positive))) < CORNER_CONDITION:
        return np.zeros(out[0][0].shape, dtype=bool)
    return np.broadcast_to(~(size < CORNER_CONDITION * np.abs(determinant)), out[0][0].shape)


def eliminated(tableau: np.ndarray) -> np.ndarray:
    """``A^-1 B`` at N points from ``[A, B]`` (m, m + k, N), overwritten.

    Gauss-Jordan with all points side by side; where a pivot gets small, with row exchanges point by point.
    """
    m = tableau.shape[0]
    original = tableau.copy()
    with np.errstate(all="ignore"):
        floor = PIVOT * np.abs(tableau[:, :m]).max(axis=1)
        for k in range(m):
            pivot = tableau[k, k]
            if np.any(~(np.abs(pivot) > floor[k])):
                return _solved_with_exchanges(original)
            row = tableau[k, k + 1 :] / pivot
            for i in range(m):
                if i != k:
                    tableau[i, k + 1 :] -= tableau[i, k] * row
            tableau[k, k + 1 :] = row
    return tableau[:, m:]


def _solved_with_exchanges(tableau: np.ndarray) -> np.ndarray:
    m = tableau.shape[0]
    points = np.moveaxis(tableau, 2, 0)
    try:
        solution = np.linalg.solve(points[:, :, :m], points[:, :, m:])
    except np.linalg.LinAlgError:
        solution = np.full((len(points), m, tableau.shape[1] - m), np.inf)
        for i, point in enumerate(points):
            try:
                solution[i] = np.linalg.solve(point[:, :m], point[:, m:])
            except np.linalg.LinAlgError:
                continue
    return np.moveaxis(solution, 0, 2)


def candidates(pp: np.ndarray, dependent_rows: np.ndarray, n_states: int) -> list[Exchange]:
    """Exchanges worth a try: the dependent rows against inputs first, against states (last ones first) where those fall short.

    Parameters
    ----------
    pp : ndarray
        Ports at the nominal: rows [states; outputs], columns [states; inputs].
    dependent_rows : ndarray of int
        Port rows that depend on Delta.
    """
    columns = [*range(n_states, pp.shape[1]), *range(n_states - 1, -1, -1)]
    out: list[Exchange] = []
    for group in ([i for i in dependent_rows if i < n_states], list(dependent_rows)):
        found = _corner(pp, group, columns)
        if found is not None and found not in out:
            out.append(found)
    return out


def _corner(pp: np.ndarray, rows: list[int], columns: list[int]) -> Exchange | None:
    """The first columns, in order, that are independent on the given rows, and as many rows that keep them so."""
    if not rows:
        return None
    scale = np.abs(pp[rows]).max(axis=1, initial=0.0)
    scale[scale == 0] = 1.0
    chosen: list[int] = []
    basis = np.zeros((len(rows), 0))
    for j in columns:
        column = pp[rows, j] / scale
        size = np.linalg.norm(column)
        rest = column - basis @ (basis.T @ column)
        rest -= basis @ (basis.T @ rest)
        if size and np.linalg.norm(rest) > 1e-6 * size:
            chosen.append(j)
            basis = np.hstack([basis, (rest / np.linalg.norm(rest))[:, None]])
    if not chosen:
        return None
    *_, order = scipy.linalg.qr(basis.T, pivoting=True, mode="economic")
    picked = sorted(int(rows[i]) for i in order[: len(chosen)])
    corner = pp[np.ix_(picked, chosen)]
    if not np.linalg.cond(corner) < CORNER_CONDITION:
        return None
    return Exchange(tuple(picked), _matching(corner, chosen))


def _matching(corner: np.ndarray, columns: list[int]) -> tuple[int, ...]:
    """Columns in the order in which elimination along the diagonal has good pivots at the nominal."""
    inverse = np.linalg.inv(corner)
    if np.allclose(inverse, inverse.T, rtol=1e-9, atol=1e-9 * np.abs(inverse).max()):
        return tuple(columns)
    permutation, _, _ = scipy.linalg.lu(inverse)
    return tuple(columns[i] for i in np.argmax(permutation, axis=0))
