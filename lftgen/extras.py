"""Optional packages: imported where they are used, with the line that installs a missing one."""

from __future__ import annotations

import importlib
from types import ModuleType

from lftgen.errors import MissingDependencyError


def require(module: str, extra: str, purpose: str) -> ModuleType:
    """Import an optional module.

    Parameters
    ----------
    module : str
        Its full name, such as ``"matplotlib.pyplot"``.
    extra : str
        The extra of lftgen that installs it.
    purpose : str
        What it is needed for, as the message begins.

    Raises
    ------
    MissingDependencyError
        The package is not installed (or one that it needs is not).

    Examples
    --------
    >>> require("json", "plot", "an example").__name__
    'json'
    """
    try:
        return importlib.import_module(module)
    except ImportError as problem:
        raise MissingDependencyError(
            f"{purpose} needs {module.partition('.')[0]}, which cannot be imported ({problem}); "
            f'install it with: pip install "lftgen[{extra}]"'
        ) from problem
