"""Two figures of the two-link arm: the LFT against the numeric model over all angles, and over frequency.

The numeric model is made from raw numbers and linearised by complex step; it shares no code with the LFT.
Usage: ``python examples/05_figures_of_the_arm.py FOLDER`` (default ``out``).
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import lftgen as lg
from lftgen import rigidbody

MODEL = Path(__file__).with_name("two_link_arm.yaml")
POSE = np.deg2rad([40.0, -70.0])
POINTS = 41


def numeric_arm(angles: np.ndarray) -> rigidbody.StateSpaceArrays:
    """Return the arm linearised at nominal masses for angles (..., 2) in radians, from raw numbers."""
    x = (1, 0, 0)
    bodies = [
        rigidbody.Body("B1", 5.0, (0, 0, 0.5), np.diag([0.4, 0.4, 0.01])),
        rigidbody.Body("B2", 3.0, (0, 0, 0.4), np.diag([0.2, 0.2, 0.01])),
        rigidbody.Body("B3", 2.0, (0, 0, 0), np.zeros((3, 3))),
    ]
    joints = [
        rigidbody.Joint("J1", "revolute", "ground", "B1", axis=x, damping=0.1, stiffness=0.1),
        rigidbody.Joint("J2", "revolute", "B1", "B2", position=(0, 0, 1), axis=x, damping=0.1, stiffness=0.1),
        rigidbody.Joint("tip", "fixed", "B2", "B3", position=(0, 0, 0.8)),
    ]
    torques = [rigidbody.JointForce(name) for name in ("J1", "J2")]
    positions = [rigidbody.JointPosition(name) for name in ("J1", "J2")]
    return rigidbody.linearize(rigidbody.Model(bodies, joints), angles, torques, positions)


def error_map(plant: lg.LFT, folder: Path) -> float:
    """Draw the relative error of [A B] over both angles; return the largest."""
    degrees = np.linspace(-90, 90, POINTS)
    grid = np.stack(np.meshgrid(degrees, degrees, indexing="ij"), axis=-1).reshape(-1, 2)
    ours = plant.evaluate({"theta1": grid[:, 0], "theta2": grid[:, 1]})
    true = numeric_arm(np.deg2rad(grid))
    difference = np.concatenate([ours.A - true.A, ours.B - true.B], axis=2)
    size = np.concatenate([true.A, true.B], axis=2)
    error = np.linalg.norm(difference, axis=(1, 2)) / np.linalg.norm(size, axis=(1, 2))
    figure, axes = plt.subplots(figsize=(6, 5))
    levels = np.log10(error.reshape(POINTS, POINTS).T + 1e-18)
    image = axes.pcolormesh(degrees, degrees, levels, shading="nearest")
    figure.colorbar(image, label="log10 of the relative error")
    axes.set(xlabel="theta1 (deg)", ylabel="theta2 (deg)", title="LFT against the numeric model")
    figure.savefig(folder / "relative_error.png", dpi=150)
    plt.close(figure)
    return float(error.max())


def singular_values(A: np.ndarray, B: np.ndarray, C: np.ndarray, frequencies: np.ndarray) -> np.ndarray:
    """Return the singular values of C (jw - A)^-1 B, one row for each frequency."""
    resolvent = np.linalg.solve(1j * frequencies[:, None, None] * np.eye(len(A)) - A, B.astype(complex))
    return np.linalg.svd(C @ resolvent, compute_uv=False)


def singular_value_plot(plant: lg.LFT, folder: Path) -> float:
    """Draw the singular values torque -> angle of both models in one pose; return their difference."""
    frequencies = np.logspace(-1, 2, 300)
    theta1, theta2 = np.rad2deg(POSE)
    system, true = plant.at(theta1=theta1, theta2=theta2), numeric_arm(POSE)
    ours = singular_values(np.asarray(system.A), np.asarray(system.B), np.asarray(system.C), frequencies)
    numeric = singular_values(true.A, true.B, true.C, frequencies)
    figure, axes = plt.subplots(figsize=(6, 4))
    axes.loglog(frequencies, ours, "C0", label="LFT")
    axes.loglog(frequencies, numeric, "C1--", label="numeric model")
    handles, labels = axes.get_legend_handles_labels()
    axes.legend(handles[::2], labels[::2])
    axes.set(xlabel="frequency (rad/s)", ylabel="singular values (rad/(N m))", title="Torque to angle")
    axes.grid(which="both", alpha=0.3)
    figure.tight_layout()
    figure.savefig(folder / "singular_values.png", dpi=150)
    plt.close(figure)
    return float((abs(ours - numeric) / numeric).max())


def main(folder: str | Path = "out") -> None:
    """Draw both figures into a folder."""
    plt.switch_backend("Agg")
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    plant = lg.read_model(MODEL).linearize().reduce()
    error = error_map(plant, folder)
    difference = singular_value_plot(plant, folder)
    print(f"relative error over all angles below 1e-10: {error < 1e-10}")
    print(f"singular values differ by less than 1e-9: {difference < 1e-9}")
    print(f"figures in {folder}: relative_error.png, singular_values.png")
    assert error < 1e-10, error
    assert difference < 1e-9, difference


if __name__ == "__main__":
    main(*sys.argv[1:2])
