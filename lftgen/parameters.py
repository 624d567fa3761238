"""Parameters: sympy symbols that carry range, nominal value, unit, role and, for angles, a chart.

A :class:`Parameter` is made by :func:`uncertain`, :func:`scheduled` or :func:`scheduled_angle` and then used like
any sympy symbol.  Inside a model each parameter acts through its *coordinate* x: the value itself, or for a
scheduled angle ``t = tan((theta - c) / 2)`` (chart ``"half"``) or ``t = tan((theta - c) / 4)`` (chart ``"quarter"``).
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

from lftgen.arguments import deviation, items, number, pair
from lftgen.errors import ParameterError, ParameterWarning

RANGE_SLACK = 1e-9
"""How far outside its range a value may lie, as a fraction of the range's width."""

_CHART_DIVISOR = {"half": 2, "quarter": 4}
_RADIANS_PER = {"rad": 1.0, "deg": math.pi / 180}
_NAME = re.compile(r"\w[\w.\-]*")
_LARGE_COORDINATE = 10.0
_RESERVED = ("extrapolate", "self")


@dataclass(frozen=True)
class ParameterSpec:
    """Everything about a parameter but its name; part of the parameter's identity."""

    role: str
    nominal: float
    lower: float
    upper: float
    unit: str = ""
    rate: tuple[float, float] | None = None
    chart: str | None = None
    center: float = 0.0


class Parameter(sp.Symbol):
    """A real sympy symbol with a range; equal only to a parameter of the same name and the same data.

    Attributes
    ----------
    role : {"uncertain", "scheduling"}
    nominal, lower, upper : float
        In the parameter's own unit; so is ``center`` (angles only) and ``rate`` (per second).
    unit : str
        A label, except for angles, where ``"deg"`` and ``"rad"`` are converted.
    chart : {None, "half", "quarter"}
        How an angle becomes rational; None for a quantity that enters rationally as it is.

    Notes
    -----
    A scheduled angle stands for the angle itself: ``sin(theta)`` means the sine of the angle whatever its unit.
    """

    __slots__ = ("spec",)
    spec: ParameterSpec

    def __new__(cls, name: str, spec: ParameterSpec) -> Parameter:
        obj = sp.Symbol.__xnew__(cls, name, real=True)  # not cached: two parameters may share a name
        object.__setattr__(obj, "spec", spec)
        return obj

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "spec" or (name == "name" and hasattr(self, "spec")):
            raise AttributeError(f"parameter {self.name} is immutable; make a new one")
        super().__setattr__(name, value)

    def _hashable_content(self) -> tuple[Any, ...]:
        return (*super()._hashable_content(), repr(self.spec))  # text: sympy orders by it

    def sort_key(self, order: Any = None) -> Any:
        return self.class_key(), (2, (self.name, repr(self.spec))), sp.S.One.sort_key(), sp.S.One

    def __reduce_ex__(self, protocol: Any) -> Any:
        return Parameter, (self.name, self.spec)

    def __getnewargs_ex__(self) -> Any:
        return (self.name, self.spec), {}

    role = property(lambda self: self.spec.role)
    nominal = property(lambda self: self.spec.nominal)
    lower = property(lambda self: self.spec.lower)
    upper = property(lambda self: self.spec.upper)
    bounds = property(lambda self: (self.spec.lower, self.spec.upper))
    unit = property(lambda self: self.spec.unit)
    rate = property(lambda self: self.spec.rate)
    chart = property(lambda self: self.spec.chart)
    center = property(lambda self: self.spec.center)
    is_angle = property(lambda self: self.spec.chart is not None)
    is_constant = property(lambda self: self.spec.lower == self.spec.upper)

    @property
    def coordinate(self) -> sp.Symbol:
        """The symbol in which the parameter is rational: itself, or the ``t`` of an angle."""
        return sp.Symbol(f"t_{self.name}", real=True) if self.is_angle else self

    @property
    def center_radians(self) -> float:
        """The centre of an angle's chart in radians."""
        return self.spec.center * _RADIANS_PER[self.spec.unit]

    @property
    def chart_divisor(self) -> int:
        """2 for a half chart, 4 for a quarter chart."""
        return _CHART_DIVISOR[self.spec.chart or "half"]

    def to_radians(self, value: Any) -> Any:
        """An angle's value in radians; other parameters unchanged (array in, array out)."""
        return np.asarray(value) * _RADIANS_PER[self.spec.unit] if self.is_angle else np.asarray(value)

    def to_coordinate(self, value: Any) -> Any:
        """Coordinate x of a value in the parameter's own unit (array in, array out)."""
        if not self.is_angle:
            return np.asarray(value)
        phi = (np.asarray(value) - self.spec.center) * _RADIANS_PER[self.spec.unit]
        return np.tan(phi / self.chart_divisor)

    def from_coordinate(self, x: Any) -> Any:
        """Value in the parameter's own unit of a coordinate x (array in, array out)."""
        if not self.is_angle:
            return np.asarray(x)
        return self.spec.center + self.chart_divisor * np.arctan(x) / _RADIANS_PER[self.spec.unit]

    @property
    def coordinate_nominal(self) -> float:
        """Coordinate of the nominal value."""
        return float(self.to_coordinate(self.spec.nominal))

    @property
    def coordinate_bounds(self) -> tuple[float, float]:
        """Coordinates of the range's ends."""
        return float(self.to_coordinate(self.spec.lower)), float(self.to_coordinate(self.spec.upper))

    def check_values(self, values: Any, *, extrapolate: bool = False) -> np.ndarray:
        """Values as a float array, or a ParameterError that names the parameter and the offending value."""
        try:
            if np.any(np.iscomplex(values)):  # numpy would drop the imaginary part with a mere warning
                raise ValueError("complex")
            if np.asarray(values).dtype.kind in "bSU":
                raise ValueError("truth values or texts")
            array = np.asarray(np.real(values), dtype=float)
        except (TypeError, ValueError) as error:
            raise ParameterError(f"{self.name}: expected real numbers, got {values!r}") from error
        if not np.all(np.isfinite(array)):
            raise ParameterError(f"{self.name}: expected finite numbers, got {values!r}")
        slack = RANGE_SLACK * (self.upper - self.lower)
        outside = (array < self.lower - slack) | (array > self.upper + slack)
        if not extrapolate and np.any(outside):
            bad = float(array[outside].flat[0]) if array.ndim else float(array)
            raise ParameterError(
                f"{self.name} = {bad:.9g}{self._unit_suffix} is outside its range {self.range_text()}; "
                "widen the range where the parameter is declared, or pass extrapolate=True"
            )
        return array

    @property
    def _unit_suffix(self) -> str:
        return f" {self.unit}" if self.unit else ""

    def range_text(self) -> str:
        """The range as people read it, ``[-90, 90] deg``."""
        return f"[{self.lower:.6g}, {self.upper:.6g}]{self._unit_suffix}"

    def describe(self) -> str:
        """One line: name, role, nominal, range, and for an angle its coordinate."""
        text = f"{self.name}: {self.role}, nominal {self.nominal:.6g}{self._unit_suffix}, range {self.range_text()}"
        if self.is_angle:
            low, high = self.coordinate_bounds
            shift = f" - {self.center:.6g}" if self.center else ""
            text += f", t = tan(({self.name}{shift})/{self.chart_divisor}) in [{low:.6g}, {high:.6g}]"
        return text


def uncertain(
    name: str,
    nominal: float,
    *,
    bounds: Sequence[float] | None = None,
    percent: float | Sequence[float] | None = None,
    plus_minus: float | Sequence[float] | None = None,
    unit: str = "",
) -> Parameter:
    """An uncertain real parameter, constant but not known exactly.

    Parameters
    ----------
    nominal : float
        Best guess, inside the range.
    bounds, percent, plus_minus
        Exactly one of the three: ``(lower, upper)``, a percentage of the nominal, or an absolute deviation
        (the last two a number, or a pair such as ``(-10, 30)``).

    Raises
    ------
    ParameterError
        Reversed or infinite bounds, a nominal outside, none or several of the three.

    Examples
    --------
    >>> uncertain("m", 3.0, percent=20, unit="kg").bounds
    (2.4, 3.6)
    """
    nominal = _finite(name, "nominal", nominal)
    given = [
        k for k, v in (("bounds", bounds), ("percent", percent), ("plus_minus", plus_minus)) if v is not None
    ]
    if len(given) != 1:
        raise ParameterError(
            f"{name}: give exactly one of bounds, percent, plus_minus; got {given or 'none'}"
        )
    if bounds is not None:
        low, high = pair(bounds, f"{name}: bounds")
    elif percent is not None:
        if nominal == 0:
            raise ParameterError(
                f"{name}: percent of a nominal 0 is an empty range; use plus_minus or bounds"
            )
        low, high = sorted(nominal + nominal * p / 100 for p in deviation(percent, f"{name}: percent"))
    else:
        low, high = (nominal + d for d in deviation(plus_minus, f"{name}: plus_minus"))
    _check_range(name, low, high, nominal, unit)
    return Parameter(_name(name), ParameterSpec("uncertain", nominal, low, high, unit))


def scheduled(
    name: str,
    bounds: Sequence[float],
    *,
    nominal: float | None = None,
    unit: str = "",
    rate: float | Sequence[float] | None = None,
) -> Parameter:
    """A scheduling parameter that enters rationally as it is (a length, a position, a speed); measured in operation.

    ``rate`` bounds its derivative, a number for (-rate, rate) or a pair, in the unit per second.

    Examples
    --------
    >>> scheduled("L", (0.5, 1.5), unit="m").nominal
    1.0
    """
    low, high = pair(bounds, f"{name}: bounds")
    middle = _finite(name, "nominal", nominal) if nominal is not None else (low + high) / 2
    _check_range(name, low, high, middle, unit)
    return Parameter(_name(name), ParameterSpec("scheduling", middle, low, high, unit, _rate(name, rate)))


def scheduled_angle(
    name: str,
    bounds: Sequence[float],
    *,
    nominal: float | None = None,
    center: float | None = None,
    chart: str = "half",
    unit: str = "rad",
    rate: float | Sequence[float] | None = None,
) -> Parameter:
    """A scheduling angle, rational in ``t = tan((theta - center)/2)`` (half chart) or ``/4`` (quarter chart).

    Parameters
    ----------
    bounds : (float, float)
        Range of the angle in ``unit`` (``"rad"`` or ``"deg"``).  A half chart covers less than one turn, a quarter
        chart less than two.
    center : float, optional
        Angle at which t = 0; by default the middle of the range.

    Raises
    ------
    ParameterError
        Unknown chart or unit, or a range that reaches the chart's singular angle.

    Examples
    --------
    >>> scheduled_angle("theta", (0, 90), unit="deg", center=0).coordinate_bounds[1]  # tan(45 deg)
    0.9999999999999999
    """
    if not isinstance(chart, str) or chart not in _CHART_DIVISOR:
        raise ParameterError(f'{name}: chart must be "half" or "quarter", got {chart!r}')
    if not isinstance(unit, str) or unit not in _RADIANS_PER:
        raise ParameterError(f'{name}: the unit of an angle must be "rad" or "deg", got {unit!r}')
    low, high = pair(bounds, f"{name}: bounds")
    middle = _finite(name, "nominal", nominal) if nominal is not None else (low + high) / 2
    origin = _finite(name, "center", center) if center is not None else (low + high) / 2
    _check_range(name, low, high, middle, unit)
    spec = ParameterSpec("scheduling", middle, low, high, unit, _rate(name, rate), chart, origin)
    parameter = Parameter(_name(name), spec)
    _check_chart(parameter)
    return parameter


def _check_chart(p: Parameter) -> None:
    reach = math.pi * p.chart_divisor / 2
    per = _RADIANS_PER[p.unit]
    if any(abs(end - p.center) * per >= reach * (1 - 1e-12) for end in p.bounds):
        limit = reach / per
        advice = (
            ' use chart="quarter", or a narrower range or another center'
            if p.chart == "half"
            else " narrow the range"
        )
        if p.unit == "rad" and p.upper - p.lower > 2 * math.pi + 1e-9:
            advice += (
                f'; the range spans {(p.upper - p.lower) / (2 * math.pi):.3g} turns: was unit="deg" meant?'
            )
        raise ParameterError(
            f"{p.name}: a {p.chart} chart centred at {p.center:.6g} {p.unit} covers angles less than {limit:.6g} {p.unit} "
            f"away from its centre, the range is {p.range_text()};{advice}"
        )
    largest = max(abs(x) for x in p.coordinate_bounds)
    if largest > _LARGE_COORDINATE:
        warnings.warn(
            f"{p.name}: the range {p.range_text()} makes t as large as {largest:.8g}; "
            'a quarter chart (chart="quarter") would keep it near 1 at twice the repetitions',
            ParameterWarning,
            stacklevel=3,
        )


def check_same_names(parameters: Iterable[Parameter]) -> tuple[Parameter, ...]:
    """The distinct parameters in order of appearance; two that share a name but differ are a ParameterError."""
    seen: dict[str, Parameter] = {}
    for p in items(parameters, "parameters", Parameter):
        if seen.setdefault(p.name, p) != p:
            raise ParameterError(
                f"two different parameters are named {p.name} in one model: ({seen[p.name].describe()}) and "
                f"({p.describe()}); give one of them another name, or use the same object"
            )
    return tuple(seen.values())


def _name(name: str) -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ParameterError(f"a parameter's name must be letters, digits and underscores, got {name!r}")
    if name in _RESERVED:
        raise ParameterError(
            f"{name!r} cannot name a parameter: it is an option of at(), subs() and sensitivity()"
        )
    return name


def _finite(name: str, what: str, value: Any) -> float:
    return number(value, f"{name}: {what}", error=ParameterError)


def _rate(name: str, rate: Any) -> tuple[float, float] | None:
    if rate is None:
        return None
    low, high = deviation(rate, f"{name}: rate")
    return low, high


def _check_range(name: str, low: float, high: float, nominal: float, unit: str) -> None:
    if not isinstance(unit, str):
        raise ParameterError(f'{name}: the unit must be a text such as "kg", got {unit!r}')
    suffix = f" {unit}" if unit else ""
    if not (math.isfinite(low) and math.isfinite(high) and math.isfinite(high - low)):
        raise ParameterError(f"{name}: the range [{low:.6g}, {high:.6g}]{suffix} is beyond what numbers hold")
    if low > high:
        raise ParameterError(
            f"{name}: bounds are reversed, expected lower <= upper, got ({low:.6g}, {high:.6g}){suffix}"
        )
    slack = RANGE_SLACK * (high - low)
    if not low - slack <= nominal <= high + slack:
        raise ParameterError(
            f"{name}: the nominal {nominal:.6g}{suffix} is outside the range [{low:.6g}, {high:.6g}]{suffix}"
        )
