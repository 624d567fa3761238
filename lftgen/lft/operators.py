"""What an LFT holds and how it combines with others: the base of class LFT, and reading an operand as an LFT."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
import sympy as sp

from lftgen.errors import IllPosedError, ModelError, NotRationalError
from lftgen.lft import algebra
from lftgen.lft import connect as connections
from lftgen.lft.control_systems import from_control, is_control_system
from lftgen.lft.data import LFTData, declare
from lftgen.lft.field import FLOAT, ExactField, to_sympy
from lftgen.lft.loops import looked_at
from lftgen.lft.realize import Progress, realize_matrix
from lftgen.lft.structure import real_block
from lftgen.parameters import Parameter, check_same_names


class LFTOperators:
    """Frozen data, names and operators; ``LFT`` adds values, orders and printing."""

    __array_ufunc__ = None
    _op_priority = 1000.0  # sympy leaves mixed products and sums to this class
    is_Matrix = is_MatrixLike = False  # ... and does not take it for a matrix of its own
    data: LFTData

    def __init__(self, data: LFTData) -> None:
        object.__setattr__(self, "data", data)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("an LFT is immutable; its methods return changed copies")

    def __reduce__(self) -> Any:
        return type(self), (self.data,)

    # --- what it holds -------------------------------------------------------------------------------------------

    @property
    def M(self) -> np.ndarray:
        """[states; Delta; outputs] x [states; Delta; inputs]: floats (read-only), or sympy numbers and expressions."""
        return to_sympy(self.data.M, self.data.field) if self.is_exact else self.data.M

    delta = property(
        lambda self: self.data.structure.blocks, doc="The Delta blocks in order (states not among them)."
    )
    states = property(lambda self: self.data.structure.states, doc="Names of the states.")
    inputs = property(lambda self: self.data.inputs, doc="Names of the inputs.")
    outputs = property(lambda self: self.data.outputs, doc="Names of the outputs.")
    shape = property(lambda self: self.data.shape, doc="Numbers of outputs and inputs.")
    is_exact = property(lambda self: self.data.field.exact, doc="Whether the entries are exact.")
    symbols = property(lambda self: self.data.field.symbols, doc="Free symbols that have no value yet.")

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The declared parameters, those without repetitions included."""
        return tuple(b.parameter for b in self.delta if b.parameter is not None)

    @property
    def repetitions(self) -> dict[str, int]:
        """Repetitions of each declared parameter."""
        return {b.name: b.repetitions for b in self.delta if b.parameter is not None}

    @property
    def order(self) -> int:
        """Sum of the repetitions of all parameters."""
        return sum(self.repetitions.values())

    # --- algebra -------------------------------------------------------------------------------------------------

    def __add__(self, other: Any) -> Self:
        return type(self)(algebra.add(self.data, self._operand(other)))

    def __radd__(self, other: Any) -> Self:
        return type(self)(algebra.add(self._operand(other), self.data))

    def __neg__(self) -> Self:
        return type(self)(algebra.negate(self.data))

    def __sub__(self, other: Any) -> Self:
        return type(self)(algebra.add(self.data, algebra.negate(self._operand(other))))

    def __rsub__(self, other: Any) -> Self:
        return type(self)(algebra.add(self._operand(other), algebra.negate(self.data)))

    def __matmul__(self, other: Any) -> Self:
        product = algebra.multiply(self.data, self._factor(other, self.shape[1]))
        return type(self)(connections.renamed(product, inputs=self.inputs) if _is_scalar(other) else product)

    def __rmatmul__(self, other: Any) -> Self:
        product = algebra.multiply(self._factor(other, self.shape[0]), self.data)
        return type(self)(
            connections.renamed(product, outputs=self.outputs) if _is_scalar(other) else product
        )

    __mul__ = __matmul__
    __rmul__ = __rmatmul__

    def __truediv__(self, other: Any) -> Self:
        if not _is_scalar(other):
            return self @ type(self)(as_data(other)).inverse()
        if other == 0:
            raise IllPosedError(f"division of the LFT {list(self.outputs)} <- {list(self.inputs)} by zero")
        return self @ (sp.Rational(1, int(other)) if isinstance(other, (int, np.integer)) else 1 / other)

    def __rtruediv__(self, other: Any) -> Self:
        return (
            other @ self.inverse() if isinstance(other, LFTOperators) else self.inverse().__rmatmul__(other)
        )

    def __pow__(self, power: int) -> Self:
        if power == -1:
            return self.inverse()
        if not isinstance(power, int) or power < 1 or self.shape[0] != self.shape[1]:
            raise ModelError(
                f"powers of an LFT: a square one to a positive integer or -1, got shape {self.shape} to {power!r}"
            )
        out = self
        for _ in range(power - 1):
            out = out @ self
        return out

    def inverse(self) -> Self:
        """The inverse system; inputs and outputs change places."""
        return type(self)(algebra.inverse(self.data))

    @property
    def T(self) -> Self:
        """The transpose (the dual system where there are states)."""
        return type(self)(algebra.transpose(self.data))

    def __getitem__(self, key: Any) -> Self:
        """Rows and columns by name, group name, number, slice, or lists of those: ``plant["J1_angle", "J1_torque"]``."""
        rows, columns = key if isinstance(key, tuple) and len(key) == 2 else (key, slice(None))
        i = connections.indices(rows, self.outputs, "output")
        return type(self)(algebra.select(self.data, i, connections.indices(columns, self.inputs, "input")))

    def feedback(self, controller: Any, sign: int = -1) -> Self:
        """The loop ``u = r + sign K y`` around this plant."""
        other = self._operand(controller, shape=self.shape[::-1])
        return type(self)(
            looked_at(connections.feedback(self.data, other, sign), [self.data, other], "feedback")
        )

    def star(self, lower: Any, n_y: int | None = None, n_u: int | None = None) -> Self:
        """Redheffer star product with a lower system (a controller below a plant: the lower LFT)."""
        other = as_data(lower)
        return type(self)(
            looked_at(connections.star(self.data, other, n_y, n_u), [self.data, other, other], "star")
        )

    def rename(self, *, inputs: Names = None, outputs: Names = None, states: Names = None) -> Self:
        """Other names: a list of all, or a mapping from old to new."""
        structure = replace(self.data.structure, states=_renamed(self.states, states, "state"))
        new_inputs, new_outputs = (
            _renamed(self.inputs, inputs, "input"),
            _renamed(self.outputs, outputs, "output"),
        )
        return type(self)(replace(self.data, structure=structure, inputs=new_inputs, outputs=new_outputs))

    def declare(self, *parameters: Parameter) -> Self:
        """The same LFT that also declares parameters that do not occur in it."""
        check_same_names([*self.parameters, *parameters])
        taken = {b.name for b in self.delta if b.parameter is None} & {p.name for p in parameters}
        if taken:
            raise ModelError(
                f"declare: {', '.join(sorted(taken))} names an uncertainty that is no parameter; rename one"
            )
        return type(self)(declare(self.data, [real_block(p, 0) for p in parameters]))

    # --- helpers -------------------------------------------------------------------------------------------------

    def _operand(self, other: Any, shape: tuple[int, int] | None = None) -> LFTData:
        """Another term of a sum: a number stands for itself only where this LFT is 1x1."""
        shape = shape or self.shape
        if not _is_scalar(other):
            return self._data(other)
        if shape != (1, 1):
            raise ModelError(
                f"a single number beside a {shape[0]}x{shape[1]} LFT: write it as a matrix of that shape"
            )
        return self._factor(other, 1)

    def _factor(self, other: Any, n: int) -> LFTData:
        if not _is_scalar(other):
            return self._data(other)
        exact_kind = isinstance(other, (int, np.integer, sp.Expr))
        return self._data(sp.eye(n) * other if exact_kind else np.eye(n) * other)

    def _data(self, other: Any) -> LFTData:
        """Another system; integers and rational expressions beside exact entries stay exact."""
        if self.is_exact and isinstance(other, sp.MatrixBase) and not other.has(sp.Float):
            try:
                return as_data(other, exact=True)
            except NotRationalError:
                return as_data(other)
        return as_data(other)


Names = Sequence[str] | Mapping[str, str] | None


def _is_scalar(value: object) -> bool:
    if isinstance(value, (np.ndarray, sp.MatrixBase)):  # an immutable sympy matrix is an Expr as well
        return isinstance(value, np.ndarray) and value.ndim == 0
    return isinstance(value, (int, float, np.number, sp.Expr))


def _renamed(names: tuple[str, ...], change: Names, kind: str) -> tuple[str, ...]:
    if change is None:
        return names
    if isinstance(change, Mapping):
        for old in change:
            connections.indices(old, names, kind)
        return tuple(change.get(n, n) for n in names)
    if isinstance(change, str) or len(change) != len(names):
        raise ModelError(f"expected {len(names)} {kind} names, got {change!r}")
    return tuple(change)


def as_data(
    value: Any, *, exact: bool = False, budget: float = 0.0, progress: Progress | None = None
) -> LFTData:
    """Whatever can be an LFT: an LFT, a python-control system, numbers, expressions, nested lists with LFTs in them.

    Operands of operators are realised without a search over words (``budget`` 0).
    """
    if isinstance(value, LFTOperators):
        return value.data.with_field(ExactField()) if exact and not value.is_exact else value.data
    if is_control_system(value):
        return from_control(value)
    if isinstance(value, sp.MatrixBase):
        return realize_matrix(value, exact=exact, budget=budget, progress=progress)
    if _is_scalar(value):
        value = [[value]]
    if isinstance(value, np.ndarray) and value.dtype != object:
        return algebra.constant(
            (ExactField() if exact else FLOAT).array(_two_dimensional(value)),
            ExactField() if exact else FLOAT,
        )
    if not isinstance(value, (list, tuple, np.ndarray)):
        raise ModelError(
            f"expected an LFT, a system, a number or a matrix, got {value!r} ({type(value).__name__})"
        )
    rows = [list(r) if isinstance(r, (list, tuple, np.ndarray)) else [r] for r in value]
    _check_entries(rows)
    if any(isinstance(e, LFTOperators) or is_control_system(e) for r in rows for e in r):
        return algebra.vstack([algebra.hstack([as_data(e, exact=exact) for e in r]) for r in rows])
    if len({len(r) for r in rows}) > 1:
        raise ModelError(f"rows of different lengths: {[len(r) for r in rows]}")
    return realize_matrix(sp.Matrix(rows), exact=exact, budget=budget, progress=progress)


def _check_entries(rows: list[list[Any]]) -> None:
    """Text is never read as an expression, and nothing else slips through."""
    for e in (e for row in rows for e in row):
        if not (_is_scalar(e) or isinstance(e, (LFTOperators, sp.MatrixBase)) or is_control_system(e)):
            raise ModelError(
                f"an entry must be a number, an expression or an LFT, got {e!r} ({type(e).__name__})"
            )


def _two_dimensional(value: np.ndarray) -> np.ndarray:
    if np.iscomplexobj(value):
        raise ModelError("an LFT's entries are real, got complex numbers")
    if value.ndim > 2:
        raise ModelError(f"expected a matrix, got an array of shape {value.shape}")
    return value.reshape(-1, 1) if value.ndim < 2 else value
