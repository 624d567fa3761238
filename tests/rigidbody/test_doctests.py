"""The examples in the docstrings of the room."""

import doctest
import importlib
import pkgutil

import pytest

import lftgen.rigidbody

MODULES = [f"lftgen.rigidbody.{m.name}" for m in pkgutil.iter_modules(lftgen.rigidbody.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    """They run and print what they say."""
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0
