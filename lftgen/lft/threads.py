"""One thread for the linear algebra of an LFT: thousands of small factorisations, hardly a large one.

Threads that wait for each other cost more than they bring here, many times more beside other busy processes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import ParamSpec, TypeVar

from threadpoolctl import ThreadpoolController

_P = ParamSpec("_P")
_R = TypeVar("_R")


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def single_threaded(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Decorator: linear algebra inside the function uses one thread."""

    @wraps(function)
    def inside(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        with _controller().limit(limits=1):
            return function(*args, **kwargs)

    return inside
