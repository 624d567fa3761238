"""Options of a robot file as texts, for the command line: ``scheduled=all``, ``payload.hand=0:3``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from lftgen.errors import ParameterError
from lftgen.interop.expressions import parse_expression, suggestion
from lftgen.interop.urdf_options import ImportOptions

_MAPPINGS = {
    "uncertain": "uncertain",
    "payload": "payloads",
    "range": "ranges",
    "position": "positions",
    "locked": "locked",
}
_WORDS = {"scheduled": "scheduled", "locked": "locked", "passive": "passive", "base": "base", "mimic": "mimic",
          "gravity": "gravity", "unit": "angle_unit", "snap": "snap", "unphysical": "unphysical"}  # fmt: skip


def read_settings(texts: Sequence[str]) -> ImportOptions:
    """Options from texts ``KEY=VALUE``.

    Parameters
    ----------
    texts : sequence of str
        ``scheduled=all`` or ``scheduled=J1,J2``, ``uncertain.LINK.mass=20%`` or ``=2:3``, ``payload.LINK=0:3``,
        ``range.JOINT=-90deg:90deg``, ``position.JOINT=0.5``, ``locked=J1,J2`` or ``locked.J1=0.02``, ``passive=J1``,
        ``base=free``, ``gravity=0,0,-9.81``, ``mimic=lock``, ``unit=deg``, ``snap=1e-5``.

    Raises
    ------
    ParameterError
        An unknown key, or a value that is none.

    Examples
    --------
    >>> read_settings(["scheduled=all", "uncertain.hand.mass=20%", "range.wrist=-90deg:90deg"]).uncertain
    {'hand.mass': '20%'}
    """
    given: dict[str, Any] = {}
    for text in texts:
        key, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not value:
            raise ParameterError(f"{text!r}: expected KEY=VALUE, such as scheduled=all or payload.hand=0:3")
        group, dot, name = key.partition(".")
        if dot and group in _MAPPINGS:
            _add(given.setdefault(_MAPPINGS[group], {}), name, _value(value, group, text), text)
        elif not dot and key in _WORDS:
            _add_word(given, key, value, text)
        else:
            known = [*_WORDS, *(f"{k}.NAME" for k in _MAPPINGS)]
            raise ParameterError(
                f"{text!r}: unknown setting {key!r}{suggestion(key, known)}; expected one of {', '.join(known)}"
            )
    return ImportOptions(**given)


def _add(target: dict[str, Any], name: str, value: Any, text: str) -> None:
    if name in target:
        raise ParameterError(f"{text!r}: {name} is given twice")
    target[name] = value


def _add_word(given: dict[str, Any], key: str, value: str, text: str) -> None:
    names = [part.strip() for part in value.split(",") if part.strip()]
    if key == "locked":
        for name in names:
            _add(given.setdefault("locked", {}), name, None, text)
        return
    special: dict[str, Any] = {
        "scheduled": lambda: "all" if value == "all" else names,
        "passive": lambda: tuple(names),
        "gravity": lambda: tuple(_number(n, text) for n in names),
        "snap": lambda: _number(value, text),
    }
    _add(given, _WORDS[key], special[key]() if key in special else value, text)


def _value(value: str, group: str, text: str) -> Any:
    """A percentage as it is, ``low:high`` as a pair, commas as a list, else a number."""
    if value.endswith("%"):
        return value
    if ":" in value:
        low, _, high = value.partition(":")
        return _number(low, text), _number(high, text)
    if "," in value:
        return tuple(_number(part, text) for part in value.split(","))
    if group == "range":
        raise ParameterError(f"{text!r}: expected a range LOWER:UPPER, such as -1.5:1.5 or -90deg:90deg")
    return _number(value, text)


def _number(text: str, whole: str) -> float:
    text = text.strip()
    factor = math.pi / 180 if text.endswith("deg") else 1.0
    try:
        return float(parse_expression(text.removesuffix("deg").removesuffix("rad"), {})) * factor
    except Exception as error:
        raise ParameterError(f"{whole!r}: {text!r} is not a number ({error})") from error
