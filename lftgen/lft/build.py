"""Making LFTs: from matrices, from A, B, C, D, from blocks, from raw M; stacking and connecting them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lftgen.arguments import items, whole_number
from lftgen.errors import ModelError
from lftgen.lft import algebra
from lftgen.lft import connect as connections
from lftgen.lft.data import LFTData, default_names
from lftgen.lft.field import FLOAT, ExactField
from lftgen.lft.loops import looked_at
from lftgen.lft.model import LFT, as_data
from lftgen.lft.realize import DEFAULT_BUDGET
from lftgen.lft.structure import DeltaBlock, Structure, merge


def realize(
    matrix: Any,
    *,
    exact: bool = False,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
    budget: float = DEFAULT_BUDGET,
    progress: Callable[[int, float], None] | None = None,
) -> LFT:
    """A parameter-dependent matrix as an LFT with few repetitions.

    Parameters
    ----------
    matrix : sympy matrix, array or nested list
        Entries: numbers, expressions rational in Parameters (or in sines and cosines of scheduled angles), free
        symbols, LFTs.
    exact : bool
        Exact entries even without free symbols.
    budget : float
        Seconds to go on searching for fewer repetitions where the bound is not met yet.
    progress : callable, optional
        Called with (repetitions so far, seconds) while searching.

    Raises
    ------
    NotRationalError, ParameterError, IllPosedError

    Examples
    --------
    >>> import lftgen as lg, sympy as sp
    >>> theta = lg.scheduled_angle("theta", (-1, 1))
    >>> R = lg.realize(sp.Matrix([[sp.cos(theta), -sp.sin(theta)], [sp.sin(theta), sp.cos(theta)]]))
    >>> R.repetitions
    {'theta': 2}
    """
    data = as_data(matrix, exact=exact, budget=budget, progress=progress)
    return LFT(
        connections.renamed(data, inputs=_named(inputs, data.inputs), outputs=_named(outputs, data.outputs))
    )


def _named(names: Sequence[str] | None, old: tuple[str, ...]) -> tuple[str, ...]:
    return old if names is None else algebra.names_or_default(names, "", len(old))


def ss(A: Any, B: Any, C: Any, D: Any, *, states: Sequence[str] | None = None, inputs: Sequence[str] | None = None,
       outputs: Sequence[str] | None = None, exact: bool = False) -> LFT:  # fmt: skip
    """A state-space model whose matrices may depend on parameters (numbers, expressions, LFTs); a gain with A, B, C empty.

    Examples
    --------
    >>> import lftgen as lg
    >>> k = lg.uncertain("k", 2.0, percent=50)
    >>> oscillator = lg.ss([[0, 1], [-k, 0]], [[0], [1]], [[1, 0]], [[0]], states=["x", "v"], inputs=["f"], outputs=["y"])
    >>> oscillator.at(k=1.0).nstates, oscillator.order
    (2, 1)
    """
    a, b, c, d = (LFT(as_data(x, exact=exact)) for x in (A, B, C, D))
    n = a.shape[0]
    if not any(0 not in x.shape for x in (a, b, c)):  # no states: A, B and C are empty in whatever shape
        static = d.data if exact or isinstance(D, LFT) else as_data(D, budget=DEFAULT_BUDGET)
        names = [
            algebra.names_or_default(v, p, k)
            for v, p, k in zip((inputs, outputs), "uy", d.shape[::-1], strict=True)
        ]
        return LFT(connections.renamed(static, inputs=names[0], outputs=names[1]))
    if a.shape != (n, n) or b.shape[0] != n or c.shape[1] != n or d.shape != (c.shape[0], b.shape[1]):
        raise ModelError(f"ss: shapes do not fit: A {a.shape}, B {b.shape}, C {c.shape}, D {d.shape}")
    rows = [[A, B], [C, D]]
    whole = _one_matrix(rows, exact) if not any(isinstance(x, LFT) for r in rows for x in r) else None
    if whole is None:
        whole = algebra.vstack([algebra.hstack([a.data, b.data]), algebra.hstack([c.data, d.data])])
    names = [
        algebra.names_or_default(v, p, k)
        for v, p, k in ((states, "x", n), (inputs, "u", b.shape[1]), (outputs, "y", c.shape[0]))
    ]
    return LFT(with_integrators(whole, names[0], names[1], names[2]))


def _one_matrix(rows: list[list[Any]], exact: bool) -> LFTData | None:
    """A, B, C, D realised together (shared factors are found), where they are all plain."""
    import sympy as sp

    try:
        return as_data(
            sp.Matrix(sp.BlockMatrix([[sp.Matrix(x) for x in r] for r in rows])),
            exact=exact,
            budget=DEFAULT_BUDGET,
        )
    except (TypeError, ValueError):
        return None


def with_integrators(
    static: LFTData, states: Sequence[str], inputs: Sequence[str], outputs: Sequence[str]
) -> LFTData:
    """``[A B; C D]`` without states -> the system: its first outputs become derivatives of its first inputs."""
    n, s = len(states), static.structure
    if s.n_states:
        raise ModelError("the matrices of a state-space model must be without states themselves")
    rows = [*range(s.n_rows, s.n_rows + n), *range(s.n_rows), *range(s.n_rows + n, static.M.shape[0])]
    columns = [
        *range(s.n_columns, s.n_columns + n),
        *range(s.n_columns),
        *range(s.n_columns + n, static.M.shape[1]),
    ]
    return LFTData(
        static.M[np.ix_(rows, columns)],
        Structure(tuple(states), s.blocks),
        tuple(inputs),
        tuple(outputs),
        static.field,
    )


def upper_lft(M: Any, delta: Sequence[DeltaBlock], *, states: Sequence[str] = (), inputs: Sequence[str] | None = None,
              outputs: Sequence[str] | None = None, exact: bool = False) -> LFT:  # fmt: skip
    """An LFT from its matrix M and its blocks, in the order [states; Delta; outputs] x [states; Delta; inputs].

    The *upper* loop is closed: Delta connects the first rows of M back to its first columns, and the result has the
    size of M22 whatever the sizes of the blocks.

    Examples
    --------
    >>> import lftgen as lg
    >>> G = lg.upper_lft([[0.5, 1], [0.2, -1], [2, 3]], [lg.full_block("D", (1, 2), complex=False)])
    >>> float(G.at(D=[[0.4, 1.0]], extrapolate=True)[0, 0])
    1.0
    """
    blocks = items(delta, "upper_lft: delta", DeltaBlock)
    structure, rows, columns = merge([Structure(items(states, "upper_lft: states", str), blocks)])
    field = ExactField() if exact else FLOAT
    matrix = field.array(M)
    n_y, n_u = matrix.shape[0] - structure.n_rows, matrix.shape[1] - structure.n_columns
    if min(n_y, n_u) < 0:
        raise ModelError(
            f"upper_lft: M is {matrix.shape[0]}x{matrix.shape[1]}, but states and Delta alone need {structure.n_rows}x{structure.n_columns}"
        )
    order = (
        [*rows, *range(structure.n_rows, matrix.shape[0])],
        [*columns, *range(structure.n_columns, matrix.shape[1])],
    )
    names = algebra.names_or_default(inputs, "u", n_u), algebra.names_or_default(outputs, "y", n_y)
    return LFT(LFTData(matrix[np.ix_(*order)], structure, *names, field))


def full_block(name: str, shape: tuple[int, int], *, bound: float = 1.0, complex: bool = True) -> DeltaBlock:
    """A full Delta block of ``shape`` (rows, columns) with largest singular value up to ``bound``."""
    what = f"Delta block {name}: shape"
    given: tuple[Any, ...] = items(shape, what)
    if len(given) != 2:
        raise ModelError(f"{what} must be (rows, columns), got {shape!r}")
    sizes = whole_number(given[0], what, minimum=1), whole_number(given[1], what, minimum=1)
    return DeltaBlock(name, "full complex" if complex else "full real", 1, shape=sizes, bound=bound)


def complex_scalar(name: str, repetitions: int = 1, *, bound: float = 1.0) -> DeltaBlock:
    """A repeated complex scalar Delta block with modulus up to ``bound``."""
    repetitions = whole_number(repetitions, f"Delta block {name}: repetitions", minimum=1)
    return DeltaBlock(name, "complex", repetitions, bound=bound)


def uncertain_dynamics(name: str, shape: tuple[int, int], bound: float = 1.0) -> LFT:
    """Unknown stable dynamics with gain up to ``bound``, as a system with ``shape[1]`` inputs and ``shape[0]`` outputs.

    Examples
    --------
    >>> import lftgen as lg
    >>> lg.uncertain_dynamics("unmodelled", (2, 1)).delta[0].kind
    'full complex'
    """
    block = full_block(name, shape, bound=bound)
    p, m = block.shape
    M = np.block([[np.zeros((m, p)), np.eye(m)], [np.eye(p), np.zeros((p, m))]])
    return LFT(LFTData(M, Structure((), (block,)), default_names("u", m), default_names("y", p), FLOAT))


def hstack(systems: Sequence[Any]) -> LFT:
    """LFTs (or what can be one) side by side: the inputs of all, one set of outputs."""
    return LFT(algebra.hstack([as_data(s) for s in _systems(systems, "hstack")]))


def vstack(systems: Sequence[Any]) -> LFT:
    """LFTs (or what can be one) one above the other: the outputs of all, one set of inputs."""
    return LFT(algebra.vstack([as_data(s) for s in _systems(systems, "vstack")]))


def block_diag(systems: Sequence[Any]) -> LFT:
    """LFTs (or what can be one) on the diagonal: inputs and outputs of all."""
    return LFT(algebra.block_diag([as_data(s) for s in _systems(systems, "block_diag")]))


def _systems(systems: Any, what: str) -> Sequence[Any]:
    if not isinstance(systems, (list, tuple)):
        raise ModelError(f"{what} takes a list of systems, got {type(systems).__name__}; write [{'...'}]")
    if not systems:
        raise ModelError(f"{what} needs at least one system, got an empty list")
    return systems


def connect(
    systems: Sequence[Any],
    connections_: Sequence[tuple[str, str]] | None = None,
    *,
    inputs: Sequence[str],
    outputs: Sequence[str],
) -> LFT:
    """Connect LFTs and control.StateSpace systems by signal name.

    ``connections_`` is a list of ``(to_input, "from_output")`` or ``(to_input, "-from_output")``; None: an input is
    driven by the output of the same name.  See :func:`lftgen.lft.connect.connect`.

    Raises
    ------
    ModelError
        Unknown names (close ones are listed), an output name in two systems.
    IllPosedError
        A singular algebraic loop.
    """
    parts = [as_data(s) for s in _systems(systems, "connect")]
    return LFT(
        looked_at(connections.connect(parts, connections_, inputs, outputs), parts[:1] + parts, "connect")
    )
