"""Tunable blocks: controllers of a fixed structure whose free entries a design chooses.

A block stands for ``u = K y`` with ``K(s, t) = F_u(S(t), I/s)`` and ``S = [A_K B_K; C_K D_K]``; it says how S depends on
a vector of free variables, and carries sensitivities to S back to those variables.  Scheduling parameters enter by
their coordinates (``t = tan((theta - centre)/2)`` for an angle), scaled to [-1, 1] while the variables are tuned.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lftgen.errors import ModelError, ParameterError
from lftgen.parameters import Parameter

LARGEST_BLOCK = 60
"""States of a tunable block at most."""


@dataclass(frozen=True, eq=False)
class TunableBlock(ABC):
    """What every tunable block has: a name, and the signals it connects by name."""

    name: str
    inputs: Sequence[str]
    outputs: Sequence[str]

    def __post_init__(self) -> None:
        object.__setattr__(self, "inputs", _names(self.name, "inputs", self.inputs))
        object.__setattr__(self, "outputs", _names(self.name, "outputs", self.outputs))

    @property
    def n_states(self) -> int:
        """States of the controller."""
        return 0

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Scheduling parameters of the controller."""
        return ()

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of S."""
        return self.n_states + len(self.outputs), self.n_states + len(self.inputs)

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of free variables."""

    @abstractmethod
    def matrix(self, x: np.ndarray, t: np.ndarray) -> np.ndarray:
        """S at N points: ``t`` (N, parameters) in [-1, 1] -> (N, rows, columns)."""

    @abstractmethod
    def pullback(self, x: np.ndarray, t: np.ndarray, gamma: np.ndarray) -> np.ndarray:
        """Gradients by the free variables (N, size) of functions whose sensitivity to S is ``gamma`` (N, rows, columns)."""

    @abstractmethod
    def start(self, rng: np.random.Generator, rate: float, scale: float) -> np.ndarray:
        """A random starting point: ``rate`` a typical frequency of the loop in rad/s, ``scale`` a typical gain."""

    def surface(self, x: np.ndarray) -> list[np.ndarray]:
        """``[M0, M1, ...]`` with ``S(t) = M0 + sum M_i t_i`` in the coordinates of the parameters."""
        return [self.matrix(x, np.zeros((1, 0)))[0]]


@dataclass(frozen=True, eq=False)
class TunableGain(TunableBlock):
    """A constant gain matrix.

    Parameters
    ----------
    name : str
    inputs, outputs : str or sequence of str
        Signals of the plant: the gain reads outputs of the plant and drives inputs of the plant.
    free : array of bool (outputs, inputs), optional
        Entries to tune; the others are zero.  Default: all.

    Examples
    --------
    >>> import lftgen as lg
    >>> lg.TunableGain("K", inputs=["y"], outputs=["u1", "u2"]).size
    2
    """

    free: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        shape = (len(self.outputs), len(self.inputs))
        mask = np.ones(shape, dtype=bool) if self.free is None else np.asarray(self.free)
        if mask.shape != shape or mask.dtype != bool or not mask.any():
            raise ModelError(
                f"tunable gain {self.name}: free must be a {shape[0]}x{shape[1]} array of True and False with some True, "
                f"got {self.free!r}"
            )
        object.__setattr__(self, "free", mask)

    @property
    def size(self) -> int:
        """Number of free variables."""
        return int(np.sum(self.free))

    def matrix(self, x: np.ndarray, t: np.ndarray) -> np.ndarray:
        """S at N points."""
        out = np.zeros((len(t), *self.shape))
        out[:, self.free] = x
        return out

    def pullback(self, x: np.ndarray, t: np.ndarray, gamma: np.ndarray) -> np.ndarray:
        """Gradients by the free variables."""
        return gamma[:, self.free]

    def start(self, rng: np.random.Generator, rate: float, scale: float) -> np.ndarray:
        """A random starting point."""
        return scale * rng.standard_normal(self.size)


@dataclass(frozen=True, eq=False)
class TunablePID(TunableBlock):
    """``k_p + k_i/s + k_d s/(T s + 1)`` from one signal to one signal; T > 0 is tuned too unless ``filter_time`` fixes it.

    Parameters
    ----------
    name : str
    inputs, outputs : str
        One signal of the plant each.
    terms : str
        Which terms there are: "PID", "PI", "PD", "P" or "I".
    filter_time : float, optional
        T in s.

    Examples
    --------
    >>> import lftgen as lg
    >>> pid = lg.TunablePID("axis", inputs="error", outputs="torque")
    >>> pid.n_states, pid.size
    (2, 4)
    """

    terms: str = "PID"
    filter_time: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.terms not in ("PID", "PI", "PD", "P", "I"):
            raise ModelError(
                f"tunable PID {self.name}: terms must be PID, PI, PD, P or I, got {self.terms!r}"
            )
        if len(self.inputs) != 1 or len(self.outputs) != 1:
            raise ModelError(
                f"tunable PID {self.name}: expected one input and one output, got {len(self.inputs)} and "
                f"{len(self.outputs)}; use one block for each loop"
            )
        time = self.filter_time
        if time is not None and not (isinstance(time, (int, float)) and 0 < time < np.inf):
            raise ModelError(f"tunable PID {self.name}: filter_time must be positive, in s, got {time!r}")

    @property
    def n_states(self) -> int:
        """States of the controller."""
        return ("I" in self.terms) + ("D" in self.terms)

    @property
    def _tuned_time(self) -> bool:
        return "D" in self.terms and self.filter_time is None

    @property
    def size(self) -> int:
        """Number of free variables: the gains, and the logarithm of T."""
        return len(self.terms) + self._tuned_time

    def _split(self, x: np.ndarray) -> tuple[dict[str, float], float]:
        gains = {"P": 0.0, "I": 0.0, "D": 0.0} | dict(zip(self.terms, x, strict=False))
        return gains, float(np.exp(np.clip(x[-1], -30, 30))) if self._tuned_time else float(
            self.filter_time or 1.0
        )

    def matrix(self, x: np.ndarray, t: np.ndarray) -> np.ndarray:
        """S at N points; ``k_d s/(T s + 1) = (k_d/T) (1 - 1/(T s + 1))``."""
        k, T = self._split(x)
        n = self.n_states
        S = np.zeros(self.shape)
        S[-1, -1] = k["P"] + (k["D"] / T if "D" in self.terms else 0.0)
        if "I" in self.terms:
            S[0, -1], S[-1, 0] = k["I"], 1.0
        if "D" in self.terms:
            S[n - 1, n - 1], S[n - 1, -1], S[-1, n - 1] = -1 / T, 1 / T, -k["D"] / T
        return np.broadcast_to(S, (len(t), *S.shape))

    def pullback(self, x: np.ndarray, t: np.ndarray, gamma: np.ndarray) -> np.ndarray:
        """Gradients by the free variables."""
        k, T = self._split(x)
        n = self.n_states
        by = {"P": gamma[:, -1, -1], "I": gamma[:, 0, -1]}
        columns = []
        if "D" in self.terms:
            by["D"] = (gamma[:, -1, -1] - gamma[:, -1, n - 1]) / T
            by_inverse = (  # by 1/T
                k["D"] * (gamma[:, -1, -1] - gamma[:, -1, n - 1])
                - gamma[:, n - 1, n - 1]
                + gamma[:, n - 1, -1]
            )
            columns = [-by_inverse / T] if self._tuned_time else []
        return np.stack([by[term] for term in self.terms] + columns, axis=1)

    def start(self, rng: np.random.Generator, rate: float, scale: float) -> np.ndarray:
        """A random starting point."""
        size = {"P": scale, "I": scale * rate, "D": scale / rate}
        gains = [size[term] * rng.standard_normal() for term in self.terms]
        return np.array(
            gains + ([np.log(0.1 / rate) + 0.5 * rng.standard_normal()] if self._tuned_time else [])
        )


@dataclass(frozen=True, eq=False)
class TunableStateSpace(TunableBlock):
    """A state-space controller of a given order.

    Parameters
    ----------
    name : str
    inputs, outputs : str or sequence of str
        Signals of the plant.
    order : int
        States of the controller.
    strictly_proper : bool
        Without feedthrough D_K.

    Examples
    --------
    >>> import lftgen as lg
    >>> lg.TunableStateSpace("K", inputs=["y"], outputs=["u"], order=2).size
    9
    """

    order: int = 1
    strictly_proper: bool = False
    free: np.ndarray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if (
            isinstance(self.order, bool)
            or not isinstance(self.order, int)
            or not 0 <= self.order <= LARGEST_BLOCK
        ):
            raise ModelError(
                f"tunable block {self.name}: order must be a whole number from 0 to {LARGEST_BLOCK}, got {self.order!r}"
            )
        free = np.ones(self.shape, dtype=bool)
        if self.strictly_proper:
            free[self.order :, self.order :] = False
        if not free.any():
            raise ModelError(f"tunable block {self.name}: order 0 and strictly proper leave nothing to tune")
        object.__setattr__(self, "free", free)

    @property
    def n_states(self) -> int:
        """States of the controller."""
        return self.order

    @property
    def _terms(self) -> int:
        """Matrices of the surface: one, and one more for each scheduling parameter."""
        return 1 + len(self.parameters)

    @property
    def size(self) -> int:
        """Number of free variables."""
        return self._terms * int(np.sum(self.free))

    def matrix(self, x: np.ndarray, t: np.ndarray) -> np.ndarray:
        """S at N points."""
        basis = np.concatenate([np.ones((len(t), 1)), t], axis=1)
        out = np.zeros((len(t), *self.shape))
        out[:, self.free] = basis @ x.reshape(self._terms, -1)
        return out

    def pullback(self, x: np.ndarray, t: np.ndarray, gamma: np.ndarray) -> np.ndarray:
        """Gradients by the free variables."""
        basis = np.concatenate([np.ones((len(t), 1)), t], axis=1)
        return (basis[:, :, None] * gamma[:, self.free][:, None, :]).reshape(len(t), self.size)

    def embedded(self, S: np.ndarray) -> np.ndarray:
        """The variables that give S (its free entries) at all points."""
        out = np.zeros((self._terms, int(np.sum(self.free))))
        out[0] = S[self.free]
        return out.ravel()

    def start(self, rng: np.random.Generator, rate: float, scale: float) -> np.ndarray:
        """A random starting point: a stable controller with poles around ``rate``, the same at all points."""
        n = self.order
        S = np.zeros(self.shape)
        A = rng.standard_normal((n, n)) / np.sqrt(max(n, 1))
        decay = rate * np.exp(rng.uniform(-1, 1, n))
        S[:n, :n] = rate * (A - A.T) / 2 - np.diag(decay)
        S[:n, n:] = rate * np.sqrt(scale) * rng.standard_normal(S[:n, n:].shape)
        S[n:, :n] = np.sqrt(scale) * rng.standard_normal(S[n:, :n].shape)
        S[n:, n:] = scale * rng.standard_normal(S[n:, n:].shape)
        return self.embedded(S)


@dataclass(frozen=True, eq=False)
class TunableSurface(TunableStateSpace):
    """A parameter-varying controller: ``K(s, t) = F_u(S(t), I/s)`` with the scheduling surface ``S(t) = M0 + sum M_i t_i``.

    The scheduling surface of [K], section VI.

    Parameters
    ----------
    name : str
    inputs, outputs : str or sequence of str
        Signals of the plant.
    order : int
        States of the controller.
    scheduling : sequence of Parameter
        Scheduling parameters, measured in operation; t_i is the coordinate of each (``tan((theta - centre)/2)``).

    Examples
    --------
    >>> import lftgen as lg
    >>> theta = lg.scheduled_angle("theta", (45, 90), unit="deg", center=0)
    >>> lg.TunableSurface("K", inputs=["e"], outputs=["u"], order=1, scheduling=[theta]).size
    8
    """

    scheduling: Sequence[Parameter] = ()

    def __post_init__(self) -> None:
        given = (self.scheduling,) if isinstance(self.scheduling, Parameter) else tuple(self.scheduling)
        if not given or not all(isinstance(p, Parameter) and p.role == "scheduling" for p in given):
            raise ParameterError(
                f"tunable surface {self.name}: scheduling must be one or more scheduling parameters "
                f"(lg.scheduled, lg.scheduled_angle), got {self.scheduling!r}"
            )
        if len({p.name for p in given}) < len(given) or any(p.is_constant for p in given):
            raise ParameterError(
                f"tunable surface {self.name}: each scheduling parameter once, with a range of some width"
            )
        object.__setattr__(self, "scheduling", given)
        super().__post_init__()

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Scheduling parameters of the controller."""
        return tuple(self.scheduling)

    def surface(self, x: np.ndarray) -> list[np.ndarray]:
        """``[M0, M1, ...]`` with ``S(t) = M0 + sum M_i t_i`` in the coordinates of the parameters."""
        scaled = np.zeros((self._terms, *self.shape))
        scaled[:, self.free] = x.reshape(self._terms, -1)
        slopes = [m * 2 / (h - low) for m, (low, h) in zip(scaled[1:], self._bounds, strict=True)]
        middles = [(low + high) / 2 for low, high in self._bounds]
        return [scaled[0] - sum(s * c for s, c in zip(slopes, middles, strict=True)), *slopes]

    @property
    def _bounds(self) -> list[tuple[float, float]]:
        return [p.coordinate_bounds for p in self.parameters]


def _names(block: str, what: str, names: Any) -> tuple[str, ...]:
    out = (names,) if isinstance(names, str) else tuple(names)
    if not out or not all(isinstance(n, str) and n for n in out) or len(set(out)) < len(out):
        raise ModelError(f"tunable block {block}: {what} must be different signal names, got {names!r}")
    return out


def scaled_coordinates(parameters: Sequence[Parameter], values: dict[str, np.ndarray], n: int) -> np.ndarray:
    """Coordinates of N points scaled to [-1, 1] over each range: (N, parameters)."""
    out = np.zeros((n, len(parameters)))
    for k, p in enumerate(parameters):
        low, high = p.coordinate_bounds
        x = p.to_coordinate(values[p.name]) if p.name in values else p.coordinate_nominal
        out[:, k] = (2 * np.asarray(x) - low - high) / (high - low)
    return out
