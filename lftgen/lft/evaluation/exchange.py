"""Ports that change sides: what was an input becomes an output.

The inverse of a mass matrix couples every Delta channel with every other one.  With torques and accelerations exchanged
the model is ``[H, K]``, a polynomial in masses, sines and cosines: its M11 has far more structure.  For an LFT with
``[y_r; y_s] = F [u_c; u_d]`` and an invertible corner F_rc, exchanging r and c gives

    F' = [ F_rc^-1         -F_rc^-1 F_rd            ]      of [y_r; u_d], with [u_c; y_s] as outputs,
         [ F_sc F_rc^-1    F_sd - F_sc F_rc^-1 F_rd ]

and the same formula leads back, at each point by itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

CORNER_CONDITION = 1e8
"""Ports are not exchanged across a worse conditioned corner: that would cost half of the digits."""
PIVOT = 1e-5
"""Elimination without row exchanges goes on while each pivot is at least this, relative to its row."""


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
        out[np.ix_(s, d)] = M[np.ix_(s, d)] - M[np.ix_(s, c)] @ corner @ M[np.ix_(r, d)]
        return out

    def of_values(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Values (port rows, port columns, N) of the exchanged LFT as those of the LFT, in place; and suspicious points.

        A point is suspicious where the corner is close to singular: there the value may not exist.
        """
        r, c = list(self.rows), list(self.columns)
        s = [i for i in range(values.shape[0]) if i not in set(r)]
        d = [j for j in range(values.shape[1]) if j not in set(c)]
        m, n = len(r), values.shape[2]
        tableau = np.zeros((m, m + len(d) + m, n))
        tableau[:, :m] = values[np.ix_(r, c)]
        np.negative(values[np.ix_(r, d)], out=tableau[:, m : m + len(d)])
        tableau[range(m), range(m + len(d), m + len(d) + m)] = 1.0
        size = np.abs(tableau[:, :m]).max(axis=(0, 1), initial=0.0)
        solution = eliminated(tableau)
        from_d, corner = solution[:, : len(d)], solution[:, len(d) :]
        growth = size * np.abs(corner).max(axis=(0, 1), initial=0.0)
        values[np.ix_(r, c)] = corner
        values[np.ix_(r, d)] = from_d
        for i in s:
            if values[i, c].any():
                gain = values[i, c].copy()
                values[i, c] = np.einsum("kn,kjn->jn", gain, corner)
                values[i, d] += np.einsum("kn,kjn->jn", gain, from_d)
        with np.errstate(invalid="ignore"):
            return values, ~(growth < CORNER_CONDITION)


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
    picked = sorted(rows[i] for i in order[: len(chosen)])
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
    return tuple(np.asarray(columns)[np.argmax(permutation, axis=0)])
