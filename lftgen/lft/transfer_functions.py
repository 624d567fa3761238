"""State space of a matrix of transfer functions, without an optional package.

Controllable canonical forms (T. Kailath, *Linear Systems*, section 6.4.1), one for all the entries of a column that share
a denominator, or the dual form for the rows, whichever has fewer states.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import block_diag, matrix_balance

from lftgen.errors import ModelError

Entry = tuple[np.ndarray, np.ndarray]
Matrices = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def realize_transfer_function(system: Any) -> Matrices:
    """A, B, C, D of a proper control.TransferFunction.

    Raises
    ------
    ModelError
        An improper entry, with the filter that would make it proper; coefficients that are not finite and real.
    """
    p, m = system.noutputs, system.ninputs
    entries = [[_entry(system, i, j) for j in range(m)] for i in range(p)]
    columns = _by_columns(entries, p, m)
    A, B, C, D = _by_columns([[entries[i][j] for i in range(p)] for j in range(m)], m, p)
    A, B, C, D = columns if len(columns[0]) <= len(A) else (A.T, C.T, B.T, D.T)
    return _balanced(A, B, C, D)


def _entry(system: Any, i: int, j: int) -> Entry:
    """Numerator and monic denominator, numerator padded to the denominator's length."""
    num, den = (np.asarray(x[i][j]) for x in (system.num, system.den))
    where = f"{system.name}: the entry from {system.input_labels[j]} to {system.output_labels[i]}"
    if np.iscomplexobj(num) or np.iscomplexobj(den) or not np.all(np.isfinite([*num, *den])):
        raise ModelError(f"{where} must have finite real coefficients")
    num, den = np.trim_zeros(num.astype(float), "f"), np.trim_zeros(den.astype(float), "f")
    if len(num) > len(den):
        raise ModelError(
            f"{where} is improper (degree {len(num) - 1} over {len(den) - 1}) and has no state space; add a fast pole, "
            "such as s / (tau s + 1)"
        )
    return np.pad(num, (len(den) - len(num), 0)) / den[0], den / den[0]


def _by_columns(entries: list[list[Entry]], p: int, m: int) -> Matrices:
    """One canonical form for the entries of a column with one denominator."""
    A: list[np.ndarray] = []
    B: list[np.ndarray] = []
    C: list[np.ndarray] = []
    D = np.zeros((p, m))
    for j in range(m):
        groups: dict[tuple[float, ...], list[int]] = {}
        for i in range(p):
            num, den = entries[i][j]
            D[i, j] = num[0]
            if np.any(num[1:] - num[0] * den[1:]):
                groups.setdefault(tuple(den), []).append(i)
        for key, rows in groups.items():
            den = np.array(key)
            n = len(den) - 1
            companion = np.eye(n, k=-1)
            companion[0] = -den[1:]
            output = np.zeros((p, n))
            for i in rows:
                num = entries[i][j][0]
                output[i] = num[1:] - num[0] * den[1:]
            A.append(companion)
            B.append(np.outer(np.eye(n)[0], np.eye(m)[j]))
            C.append(output)
    if not A:
        return np.zeros((0, 0)), np.zeros((0, m)), np.zeros((p, 0)), D
    return block_diag(*A), np.vstack(B), np.hstack(C), D


def _balanced(A: np.ndarray, B: np.ndarray, C: np.ndarray, D: np.ndarray) -> Matrices:
    """Powers of two on the states, so that coefficients of very different size do not meet in one matrix."""
    if not len(A):
        return A, B, C, D
    _, (scale, _) = matrix_balance(A, permute=False, separate=True)
    return A / scale[:, None] * scale, B / scale[:, None], C * scale, D
