"""A two-link arm with a payload: three uncertain masses and two scheduled angles in one LFT.

The mechanism is read from ``two_link_arm.yaml``; the example shows the holding torques, the reduction, the
check against the numeric model, and a grid of models evaluated in one call.
"""

from pathlib import Path

import numpy as np

import lftgen as lg

MODEL = Path(__file__).with_name("two_link_arm.yaml")


def main() -> None:
    """Build the LFT, check it and evaluate it over a grid of configurations."""
    model = lg.read_model(MODEL)
    trim = model.mechanism.trim()
    torque = [trim.torque[joint].at(theta1=30, theta2=-45, m3=2.4)[0, 0] for joint in ("J1", "J2")]
    print(f"holding torques at 30 and -45 degrees, payload 2.4 kg: {torque[0]:.4f}, {torque[1]:.4f} N m")

    plant = model.linearize(trim)
    reduced = plant.reduce()
    print(f"repetitions as built {plant.repetitions}, {plant.order} in all")
    print(f"repetitions reduced  {reduced.repetitions}, {reduced.order} in all")
    report = lg.check(model.mechanism, reduced, samples=200)
    close = report.max_relative_error < 1e-10
    print(f"agrees with the numeric model: {report.passed}, error below 1e-10: {close}")

    angles = np.linspace(-90, 90, 61)
    theta1, theta2 = (values.ravel() for values in np.meshgrid(angles, angles))
    grid = reduced.evaluate({"theta1": theta1, "theta2": theta2})
    unstable = (np.linalg.eigvals(grid.A).real > 0).any(axis=1)
    print(f"{unstable.sum()} of {len(unstable)} configurations have an unstable pole")
    assert report.passed


if __name__ == "__main__":
    main()
