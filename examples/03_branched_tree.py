"""A tree with branches: two arms on a column, base motion as input, a hand's position, an accelerometer.

The reach of the arms is uncertain too, so that masses, lengths and angles all act on one model.
"""

from pathlib import Path

import numpy as np

import lftgen as lg

MODEL = Path(__file__).with_name("branched_tree.yaml")


def main() -> None:
    """Build the LFT and print how the accelerometer answers to base motion."""
    model = lg.read_model(MODEL)
    plant = model.linearize().reduce()
    print(f"repetitions {plant.repetitions}, {plant.order} in all")
    report = lg.check(model.mechanism, plant, samples=200)
    print(f"agrees with the numeric model: {report.passed}")

    for left in (-60, 0, 60):
        system = plant["left_arm_hand_position_z", "left_shoulder_torque"].at(left=left)
        gain = abs(complex(system(10j)))
        print(f"left = {left:3d} deg: hand height per torque at 10 rad/s {gain:.3e} m/(N m)")
    accelerometer = plant["mast_camera_specific_force_z", "base_acceleration_z"].at()
    print(f"accelerometer per base acceleration at high frequency {np.asarray(accelerometer.D).item():.6f}")
    assert report.passed


if __name__ == "__main__":
    main()
