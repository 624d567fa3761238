"""The class LFT: frozen data with methods that delegate to the functions of this room."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from lftgen.errors import ModelError
from lftgen.lft import display, evaluation, maps, symbolic, wellposed
from lftgen.lft.approximate import Approximation
from lftgen.lft.control_systems import evaluated_systems, to_state_space
from lftgen.lft.delta_structure import DeltaStructure, to_control
from lftgen.lft.dependence import dependence
from lftgen.lft.grids import plan_grid, to_dataset
from lftgen.lft.operators import LFTOperators, as_data
from lftgen.lft.reduction.approximation import approximation
from lftgen.lft.reduction.bound import order_bound
from lftgen.lft.reduction.kalman import reduce
from lftgen.lft.report import OrderReport, report_of
from lftgen.lft.sampling import sample_points
from lftgen.lft.sensitivity import Sensitivity, sensitivity
from lftgen.lft.structure import DeltaBlock, Structure
from lftgen.lft.wellposed import WellPosedness


class LFT(LFTOperators):
    """An upper LFT ``F_u(M, Delta) = M22 + M21 Delta (I - M11 Delta)^-1 M12``.

    Delta = blkdiag(I_n/s, blocks): states are a block of Delta, so a parameter-dependent matrix is an LFT without
    states and an uncertain state-space model one with states.  Frozen: every method returns a new object.

    Operators ``+ - @ *`` (``*`` is the product of systems, as in python-control; numbers scale), ``**-1`` and ``.T``
    accept LFTs, numbers, arrays, sympy matrices and control.StateSpace.

    Examples
    --------
    >>> import lftgen as lg
    >>> m = lg.uncertain("m", 2.0, bounds=(1, 4))
    >>> inverse = lg.realize([[1 / m]])
    >>> float(inverse.at(m=4)[0, 0]), inverse.repetitions
    (0.25, {'m': 1})
    """

    __slots__ = ()

    # --- values --------------------------------------------------------------------------------------------------

    def at(self, *, extrapolate: bool = False, **values: float) -> Any:
        """The model at one point: a named control.StateSpace, or an array where there are no states.

        A parameter left out takes its nominal value.

        Raises
        ------
        ParameterError
            Unknown names, values out of range (``extrapolate=True`` lifts that), free symbols left.
        IllPosedError
            A singular point.
        """
        value = evaluation.evaluate_ports(self.data, values, extrapolate=extrapolate)
        if value.shape[0] != 1 or any(
            np.ndim(values[b.name]) for b in self.delta if b.name in values and b.is_scalar
        ):
            raise ModelError("at() takes one number for each parameter; use evaluate() for many points")
        return to_state_space(self.data, value[0]) if self.states else value[0]

    def evaluate(self, values: Mapping[str, Any], *, extrapolate: bool = False) -> Any:
        """The model at many points at once, without a Python loop over them.

        Parameters
        ----------
        values : mapping of name to array (N,) or number

        Returns
        -------
        StateSpaceArrays
            With A, B, C, D of shape (N, rows, columns); one such array where there are no states.
        """
        value = evaluation.evaluate_ports(self.data, values, extrapolate=extrapolate)
        return evaluation.arrays_of(self.data, value)

    def evaluate_grid(self, values: Mapping[str, Any], *, extrapolate: bool = False) -> Any:
        """The model on a tensor grid, one parameter after the other: far cheaper than its points one by one.

        Parameters
        ----------
        values : mapping of name to array (n_k,) or number
            Each array is an axis, in the mapping's order; a number fixes a parameter; those left out are nominal.

        Returns
        -------
        StateSpaceArrays
            With A, B, C, D of shape (n_1, n_2, ..., rows, columns), read-only where they do not depend on the
            parameters; one such array where there are no states.

        Raises
        ------
        ParameterError
            Unknown names, values out of range, an axis that is not one-dimensional.
        IllPosedError
            A singular point, by name.

        Examples
        --------
        >>> import lftgen as lg
        >>> k, d = lg.uncertain("k", 4.0, percent=50), lg.uncertain("d", 1.0, percent=50)
        >>> plant = lg.ss([[0, 1], [-k, -d]], [[0], [1]], [[1, 0]], [[0]])
        >>> plant.evaluate_grid({"k": [3, 4, 5], "d": [0.5, 1.5]}).A[2, 1].tolist()
        [[0.0, 1.0], [-5.0, -1.5]]
        """
        return evaluation.evaluate_grid(self.data, values, extrapolate=extrapolate)

    def grid_chunks(
        self, values: Mapping[str, Any], *, points: int = evaluation.CHUNK_POINTS, extrapolate: bool = False
    ) -> Iterator[tuple[tuple[slice, ...], Any]]:
        """The grid of :meth:`evaluate_grid` in pieces of at most ``points`` points, so that memory stays bounded.

        Yields
        ------
        tuple of slice
            Where the piece stands on the axes.
        StateSpaceArrays or ndarray
            Its values, as :meth:`evaluate_grid` gives them.
        """
        return evaluation.grid_chunks(self.data, values, points=points, extrapolate=extrapolate)

    def systems(self, values: Mapping[str, Any], *, extrapolate: bool = False) -> list[Any]:
        """The model at many points as a list of named control.StateSpace (``values`` as in :meth:`evaluate`)."""
        return evaluated_systems(self.data, self.evaluate(values, extrapolate=extrapolate))

    def to_control(self) -> tuple[Any, DeltaStructure]:
        """``M`` as one control.StateSpace from [w; inputs] to [z; outputs], and the structure of the Delta that closes it.

        The channels are ``w_<name>_<i>`` and ``z_<name>_<i>``; :func:`lftgen.from_control` undoes it, exactly.

        Raises
        ------
        ParameterError
            Free symbols that have no value yet.
        """
        return to_control(self.data)

    def sample(self, n: int, *, method: str = "uniform", seed: int = 0) -> dict[str, np.ndarray]:
        """``n`` points in the box of the parameters, ready for :meth:`evaluate`: by name, each (n,).

        ``method`` is ``"uniform"``, ``"sobol"``, ``"latin"`` or ``"corners"`` (no more points than there are corners).

        Examples
        --------
        >>> import lftgen as lg
        >>> m = lg.uncertain("m", 2.0, bounds=(1, 4))
        >>> plant = lg.ss([[-1 / m]], [[1]], [[1]], [[0]])
        >>> plant.evaluate(plant.sample(100, method="sobol", seed=1)).poles().shape
        (100, 1)
        """
        return sample_points(self.parameters, n, method=method, seed=seed)

    def grid(
        self,
        axes: Mapping[str, Any] | None = None,
        /,
        *,
        quantities: Sequence[str] | None = None,
        chunks: Mapping[str, int] | int | None = None,
        extrapolate: bool = False,
        **more: Any,
    ) -> Any:
        """The model over a grid of its parameters as a labelled ``xarray.Dataset`` (extra ``grid``).

        Parameters
        ----------
        axes, **more : parameter name to list of values, or to one number
            ``plant.grid(theta1=np.linspace(0, 90, 91), m1=2.5)``; a parameter left out is nominal.  One whose name is an
            option of this method goes into the mapping ``axes``.
        quantities : sequence of str, optional
            Any of ``"A", "B", "C", "D", "poles", "peak_gain"`` (the last also gives ``peak_frequency``); by default the first
            five.  A model without states has one variable, ``value``.
        chunks : mapping of axis to size, or int, optional
            Largest chunk along each axis: the variables are then Dask arrays, computed when asked, also on a cluster.

        Raises
        ------
        ParameterError
            Unknown names, values out of range or not in order.
        MissingDependencyError
            xarray (or Dask, with chunks) is not installed.

        Examples
        --------
        >>> import lftgen as lg
        >>> m = lg.uncertain("m", 2.0, bounds=(1, 4), unit="kg")
        >>> plant = lg.ss([[-1 / m]], [[1]], [[1]], [[0]], states=["x"], inputs=["u"], outputs=["y"])
        >>> grid = plant.grid(m=[1, 2, 4])
        >>> grid.A.sel(m=4, state="x", state_from="x").item(), grid.m.units
        (-0.25, 'kg')
        """
        twice = sorted(set(axes or {}) & set(more))
        if twice:
            raise ModelError(f"grid: {', '.join(twice)} is given twice")
        plan = plan_grid(self.data, {**(axes or {}), **more}, quantities, extrapolate=extrapolate)
        return to_dataset(plan, chunks)

    def sensitivity(self, *, extrapolate: bool = False, **values: float) -> Sensitivity:
        """Exact derivatives of A, B, C, D and of the poles by each parameter at one point."""
        return sensitivity(self.data, values, extrapolate=extrapolate)

    def dependence(self) -> dict[str, list[tuple[str, str]]]:
        """For each parameter the entries (row, column) of ``[A B; C D]`` that it changes."""
        return dependence(self.data)

    def subs(self, *, extrapolate: bool = False, **values: float) -> LFT:
        """The LFT with some parameters (or free symbols) fixed; it no longer declares them."""
        names = {s.name for s in self.symbols}
        frees = {k: v for k, v in values.items() if k in names}
        fixed = {k: v for k, v in values.items() if k not in names}
        data = symbolic.substitute_symbols(self.data, frees) if frees else self.data
        return LFT(maps.fix(data, fixed, extrapolate=extrapolate) if fixed else data)

    def normalized(self, *, recenter: bool = False) -> LFT:
        """The same LFT with every parameter's delta in [-1, 1] over its range.

        delta = 0 stays the nominal value (a fractional map where that is not the middle); with ``recenter`` the map is
        affine and delta = 0 the middle of the range (of t, for an angle).
        """
        return LFT(maps.normalized(self.data, recenter=recenter))

    def to_float(self) -> LFT:
        """The same LFT with float entries."""
        return LFT(evaluation.numeric(self.data))

    def to_sympy(self, angles: str = "trig") -> Any:
        """The model as sympy: (A, B, C, D) matrices, or one matrix where there are no states.

        ``angles="trig"`` writes sines and cosines of the angles, ``"t"`` their chart coordinates.
        """
        matrix = symbolic.to_expressions(self.data, angles)
        n = len(self.states)
        return (matrix[:n, :n], matrix[:n, n:], matrix[n:, :n], matrix[n:, n:]) if n else matrix

    # --- order ---------------------------------------------------------------------------------------------------

    def reduce(self, tolerance: float | None = None) -> LFT:
        """The same model with fewer repetitions (n-D reduction; states are not touched); itself where there are none less."""
        small = reduce(self.data, tolerance)
        return self if small is self.data else LFT(small)

    def approximate(
        self,
        tolerance: float,
        *,
        error: str = "report",
        measure: str = "relative",
        budget: float = 10.0,
        progress: Callable[[int, float], None] | None = None,
    ) -> Approximation:
        """A model of fewer repetitions, with an error that is proven to stay within a tolerance over the whole box.

        The lightest balanced channels of the parameters are dropped, as many as a proof of the error allows; states stay.
        Dropping nothing is a result, too: then the error is 0.

        Parameters
        ----------
        tolerance : float
            Largest singular value of the change of ``[A B; C D]``, in the model's own units.
        error : {"report", "block"}
            The error as a number, or as one more block of Delta so that the exact model is contained.
        measure : {"relative", "absolute"}
            Relative to the largest singular value of ``[A B; C D]`` at the nominal values, or absolute.
        budget : float
            Seconds for the proof, counted in parts of the box (what a part takes on one core of 2026).
        progress : callable, optional
            Called with (channels dropped, proven error) after each attempt.

        Raises
        ------
        ReductionError
            Random points say that fewer repetitions would do, but the budget does not prove it; tells what was reached.
        ModelError
            Blocks that are no real parameters.

        Examples
        --------
        >>> import lftgen as lg
        >>> m = lg.uncertain("m", 2.0, bounds=(1.8, 2.2))
        >>> cubic = lg.realize([[m + 0.01 * m**3]])
        >>> small = cubic.approximate(0.01)
        >>> cubic.order, small.order, small.relative_error <= 0.01
        (3, 1, True)
        """
        found = approximation(
            self.data, tolerance, error=error, measure=measure, budget=budget, progress=progress
        )
        return Approximation(
            LFT(found.lft), found.error, found.scale, found.sampled_error, self.order, found.parts
        )

    def order_bound(self) -> dict[str, int]:
        """Per parameter the least number of repetitions that any realisation can have."""
        return order_bound(self.data)

    def order_report(self) -> OrderReport:
        """Repetitions against bounds: how clear the ranks are, and whether all bounds can be met at once."""
        return report_of(self.data)

    def well_posed(self, *, budget: float = 30.0) -> WellPosedness:
        """Whether the model exists at every point of the box: proven, a counterexample, or undecided."""
        return wellposed.well_posed(self.data, budget=budget)

    # --- for people ----------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return display.text(self.data)

    def _repr_html_(self) -> str:
        return display.html(self.data)

    def _repr_latex_(self) -> str:
        return display.latex(self.data)


__all__ = ["LFT", "DeltaBlock", "Structure", "as_data"]
