"""A base for immutable elements of a mechanism that compare by what they hold."""

from __future__ import annotations

from typing import Any


class Frozen:
    """Attributes are set once by ``_freeze``; equality, hash and pickling go by them."""

    def _freeze(self, **values: Any) -> None:
        for key, value in values.items():
            object.__setattr__(self, key, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a {type(self).__name__} is immutable; make a new one")

    def _key(self) -> tuple[Any, ...]:
        return type(self), *(v for _, v in sorted(vars(self).items()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Frozen) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __getstate__(self) -> dict[str, Any]:
        return dict(vars(self))

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._freeze(**state)
