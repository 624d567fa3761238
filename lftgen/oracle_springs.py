"""Springs between ports and Euler angles for the numeric model, from their non-linear laws by complex step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lftgen import rigidbody as rb
from lftgen.rigidbody.spatial import rotation_exponential

STEP = 1e-30


@dataclass(frozen=True, eq=False)
class NumericSpring:
    """A spring and damper at N points.

    ``ends`` are (body, point in body axes, rotation and position of the body at the equilibrium), the port first and the
    other end, where it is no point of the ground, second.  The pull on the port is ``T r / |r|`` with the tension
    ``T = force_density L0 + stiffness (|r| - L0) + damping d|r|/dt``, L0 the length at the equilibrium.
    """

    name: str
    ends: tuple[tuple[str, np.ndarray, np.ndarray, np.ndarray], ...]
    anchor: np.ndarray
    stiffness: np.ndarray
    damping: np.ndarray
    force_density: np.ndarray

    @property
    def span(self) -> np.ndarray:
        """Vector from the port to the other end at the equilibrium (N, 3)."""
        places = [p + np.matmul(R, r[..., None])[..., 0] for _, r, R, p in self.ends]
        return (places[1] if len(places) > 1 else self.anchor) - places[0]

    def force(self, r: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Pull on the port for a span (N, 3) and its rate."""
        rest = np.sqrt((self.span**2).sum(axis=-1))
        length = np.sqrt((r * r).sum(axis=-1))
        rate = (r * v).sum(axis=-1) / length
        tension = self.force_density * rest + self.stiffness * (length - rest) + self.damping * rate
        return (tension / length)[..., None] * r

    def pull(self) -> np.ndarray:
        """Pull on the port at the equilibrium (N, 3)."""
        return self.force(self.span, np.zeros_like(self.span))

    def law(self) -> np.ndarray:
        """Forces on the ends by [position; velocity] of each end, reference axes, (N, 3 ends, 6 ends)."""
        r, zero = self.span, np.zeros_like(self.span)
        gain = np.zeros((len(r), 3, 6))
        for k in range(3):
            small = 1j * STEP * np.eye(3)[k]
            gain[:, :, k] = self.force(r + small, zero).imag / STEP
            gain[:, :, 3 + k] = self.force(r, zero + small).imag / STEP
        signs = np.array([1.0, -1.0])[: len(self.ends)]
        return np.concatenate([np.concatenate([-a * b * gain for b in signs], axis=2) for a in signs], axis=1)

    @property
    def inputs(self) -> list[Any]:
        """Forces on the ends in reference axes, as inputs of the numeric model."""
        return [
            rb.PortForce(b, r, np.swapaxes(R, -1, -2), "force", k)
            for b, r, R, _ in self.ends
            for k in range(3)
        ]

    @property
    def outputs(self) -> list[Any]:
        """Positions and velocities of the ends in reference axes, as outputs of the numeric model."""
        one = np.eye(3)
        return [
            rb.PortOutput(b, r, one, q, k, frame="reference")
            for b, r, _, _ in self.ends
            for q in ("position", "velocity")
            for k in range(3)
        ]


def turning_gain(rotation: np.ndarray, value: np.ndarray) -> np.ndarray:
    """Change of a constant reference vector (N, 3) seen in axes that turn, per small rotation, (N, 3, 3), by complex step."""
    out = np.zeros((len(value), 3, 3))
    for k in range(3):
        R = np.matmul(rotation, rotation_exponential(1j * STEP * np.eye(3)[k]))
        out[:, :, k] = np.matmul(np.swapaxes(R, -1, -2), value[..., None])[..., 0].imag / STEP
    return out


def euler_gain(rpy: np.ndarray) -> np.ndarray:
    """Change of (roll, pitch, yaw) per small rotation in body axes, (N, 3, 3), by complex step."""
    out = np.zeros((len(rpy), 3, 3))
    base = _matrix(rpy)
    for k in range(3):
        R = np.matmul(base, rotation_exponential(1j * STEP * np.eye(3)[k]))
        # derivatives of the two-argument arctangents and the arcsine, in complex arithmetic
        out[:, 0, k] = _angle(R[:, 2, 1], R[:, 2, 2])
        out[:, 1, k] = _angle(
            -R[:, 2, 0], np.sqrt(R[:, 0, 0] ** 2 + R[:, 1, 0] ** 2) * np.sign(np.cos(rpy[:, 1]))
        )
        out[:, 2, k] = _angle(R[:, 1, 0], R[:, 0, 0])
    return out


def _angle(y: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Derivative of atan2(y, x) along the complex step."""
    return (x.real * y.imag - y.real * x.imag) / (x.real**2 + y.real**2) / STEP


def _matrix(rpy: np.ndarray) -> np.ndarray:
    x, y, z = (rotation_exponential(rpy[:, k : k + 1] * np.eye(3)[k]) for k in range(3))
    return np.matmul(z, np.matmul(y, x))
