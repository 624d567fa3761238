"""Errors and warnings of lftgen: what was expected, what came, which object, what to do."""

from __future__ import annotations


class LftgenError(Exception):
    """Base class of every error that lftgen raises on a user's input."""


class ParameterError(LftgenError):
    """A parameter's name, range, unit or value is wrong."""


class ModelError(LftgenError):
    """A mechanism, block, signal name or file does not describe a valid model."""


class TrimError(LftgenError):
    """The requested configuration is not an equilibrium."""


class IllPosedError(LftgenError):
    """I - M11 Delta is singular at a point, or a matrix to be inverted is."""


class NotRationalError(LftgenError):
    """An expression is not rational in the parameters (or in the chart coordinate of an angle)."""


class ReductionError(LftgenError):
    """An order reduction could not be verified."""


class MissingDependencyError(LftgenError):
    """An optional package is needed; the message carries the pip line that installs it."""


class LftgenWarning(UserWarning):
    """Base class of lftgen's warnings: the result is right, but the user may not mean it."""


class ParameterWarning(LftgenWarning):
    """A parameter's range, chart or nominal is legal but unusual."""


class ModelWarning(LftgenWarning):
    """A mechanism is legal but probably not what was meant."""
