"""An industrial arm of six joints: six uncertain masses and six scheduled angles in one LFT.

Shows the size of the model, its agreement with the numeric model, and how much each mass moves the poles.
"""

import time
from pathlib import Path

import numpy as np

import lftgen as lg

MODEL = Path(__file__).with_name("six_joint_arm.yaml")
POSE = {"theta1": 10, "theta2": -20, "theta3": 80, "theta4": 15, "theta5": 40, "theta6": 0}


def main() -> None:
    """Build and check the LFT and print the effect of each mass in one pose."""
    model = lg.read_model(MODEL)
    start = time.perf_counter()
    plant = model.linearize().reduce()
    print(f"built and reduced in {time.perf_counter() - start:.1f} s")
    print(f"repetitions {plant.repetitions}, {plant.order} in all")
    report = lg.check(model.mechanism, plant, samples=200)
    close = report.max_relative_error < 1e-8
    print(f"agrees with the numeric model: {report.passed}, error below 1e-8: {close}")

    nominal = np.linalg.norm(plant.at(**POSE).A)
    for name in ("m1", "m2", "m3", "m4", "m5", "m6"):
        upper = model.parameters[name].upper
        change = np.linalg.norm(plant.at(**POSE, **{name: upper}).A - plant.at(**POSE).A) / nominal
        print(f"{name} at {upper:.4g} kg: A changes by {100 * change:.2f} %")
    assert report.passed


if __name__ == "__main__":
    main()
