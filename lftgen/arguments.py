"""Checks of arguments: one error for one kind of mistake, which says what was expected and what came."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable
from typing import Any, TypeVar

from lftgen.errors import LftgenError, ModelError, ParameterError

T = TypeVar("T")


def number(
    value: Any, what: str, *, minimum: float | None = None, error: type[LftgenError] = ModelError
) -> float:
    """A finite real number; a truth value, a text or an array is none.

    Raises
    ------
    LftgenError
        Of the class ``error``: not a number, not finite, or below ``minimum``.

    Examples
    --------
    >>> number(3, "tolerance", minimum=0)
    3.0
    """
    # exact types first: sympy's and numpy's scalars are numbers too, by __float__ alone
    if isinstance(value, (bool, str, bytes)) or type(value).__name__ in ("bool_", "bool"):
        raise error(f"{what} must be a number, got {value!r}")
    try:
        result = float(value)
    except (TypeError, ValueError, OverflowError) as problem:
        raise error(f"{what} must be a number, got {value!r}") from problem
    if getattr(value, "ndim", 0):
        raise error(f"{what} must be one number, got {value!r}")
    if not math.isfinite(result):
        raise error(f"{what} must be a finite number, got {value!r}")
    if minimum is not None and result < minimum:
        raise error(f"{what} must be at least {minimum:g}, got {value!r}")
    return result


def fraction(value: Any, what: str) -> float:
    """A number from 0 up to, but not including, 1 (a relative tolerance), or a ModelError."""
    result = number(value, what, minimum=0.0)
    if result >= 1:
        raise ModelError(f"{what} must be below 1 (it is relative: 0.01 is one per cent), got {value!r}")
    return result


def callback(value: Any, what: str) -> Any:
    """None or something that can be called, or a ModelError."""
    if value is not None and not callable(value):
        raise ModelError(f"{what} must be a function or None, got {_short(value)}")
    return value


def whole_number(value: Any, what: str, *, minimum: int = 0) -> int:
    """An integer of at least ``minimum``, or a ModelError."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < minimum:
        raise ModelError(f"{what} must be a whole number of at least {minimum}, got {value!r}")
    return int(value)


def truth(value: Any, what: str) -> bool:
    """True or False, or a ModelError: a text such as "no" would count as true."""
    if not isinstance(value, bool):
        raise ModelError(f"{what} must be True or False, got {value!r}")
    return value


def instance(value: Any, kind: type[T], what: str) -> T:
    """The value if it is a ``kind``, or a ModelError."""
    if not isinstance(value, kind):
        raise ModelError(f"{what} must be a {kind.__name__}, got {_short(value)}")
    return value


def items(value: Any, what: str, kind: type[T] | None = None) -> tuple[T, ...]:
    """The members of a list or another collection as a tuple, each a ``kind``, or a ModelError."""
    wanted = "a list" + (f" of {kind.__name__} objects" if kind and kind is not str else "")
    wanted = "a list of names" if kind is str else wanted
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise ModelError(f"{what} must be {wanted}, got {_short(value)}")
    members = tuple(value)
    for member in members:
        if kind is not None and not isinstance(member, kind):
            raise ModelError(f"{what} must be {wanted}, got {_short(member)} in it")
    return members


def pair(value: Any, what: str) -> tuple[float, float]:
    """Two finite numbers, lower and upper, or a ParameterError."""
    try:
        if isinstance(value, (str, bytes)):
            raise TypeError
        low, high = value
    except (TypeError, ValueError) as problem:
        raise ParameterError(f"{what} must be a pair (lower, upper), got {value!r}") from problem
    return number(low, what, error=ParameterError), number(high, what, error=ParameterError)


def deviation(value: Any, what: str) -> tuple[float, float]:
    """A size x as (-x, x), or a pair (negative, positive), or a ParameterError."""
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        low, high = pair(value, what)
        if low > 0 or high < 0:
            raise ParameterError(
                f"{what} must be a pair (negative, positive) around the nominal, got {value!r}"
            )
        return low, high
    size = number(value, what, error=ParameterError)
    if size < 0:
        raise ParameterError(f"{what} must not be negative, got {value!r}")
    return -size, size


def _short(value: Any) -> str:
    text = repr(value)
    return f"{text if len(text) <= 60 else text[:57] + '...'} ({type(value).__name__})"
