"""A walking robot on three feet: a free trunk held by the forces on its feet, which the equilibrium decides.

The fourth leg swings. The forces are rational in the payload and in the angle of the hips; the torques of all
joints follow from them.
Usage: ``python examples/09_walking_robot.py FOLDER`` (default ``out``).
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import lftgen as lg

FEET = ("left_front", "right_front", "left_hind")


def robot() -> lg.Mechanism:
    """Return the trunk with a payload and four legs of two links."""
    payload = lg.uncertain("m_payload", 8.0, percent=50, unit="kg")
    hip = lg.scheduled_angle("hip", (35, 55), unit="deg")
    bodies = [
        lg.RigidBody("trunk", mass=25.0, inertia=(0.4, 1.4, 1.6), ports={"camera": (0.4, 0, 0.1)}),
        lg.RigidBody("payload", mass=payload),
    ]
    joints: list = [
        lg.FreeJoint("base", child="trunk"), lg.FixedJoint("strap", parent="trunk", child="payload", origin=(0.02, 0.05, 0.12))
    ]  # fmt: skip
    for x, end in ((0.3, "front"), (-0.3, "hind")):
        for y, side in ((0.15, "left"), (-0.15, "right")):
            leg, swings = f"{side}_{end}", (side, end) == ("right", "hind")
            bodies += [
                lg.RigidBody(f"{leg}_thigh", mass=1.2, com=(0, 0, -0.12), inertia=(0.01, 0.01, 0.002)),
                lg.RigidBody(
                    f"{leg}_shank",
                    mass=0.5,
                    com=(0, 0, -0.13),
                    inertia=(0.006, 0.006, 0.001),
                    ports={"foot": (0, 0, -0.3)},
                ),
            ]
            joints += [
                lg.RevoluteJoint(
                    f"{leg}_hip", parent="trunk", child=f"{leg}_thigh", axis=(0, 1, 0), origin=(x, y, 0),
                    angle=0.9 if swings else hip, damping=0.1,
                ),
                lg.RevoluteJoint(
                    f"{leg}_knee", parent=f"{leg}_thigh", child=f"{leg}_shank", axis=(0, 1, 0), origin=(0, 0, -0.3),
                    angle=-1.6 if swings else -1.1, damping=0.1,
                ),
            ]  # fmt: skip
    loads = [lg.DeadLoad(f"ground_{leg}", port=f"{leg}_shank_foot") for leg in FEET]
    return lg.Mechanism("robot", bodies=bodies, joints=joints, loads=loads)


def model(mechanism: lg.Mechanism) -> tuple[lg.LFT, lg.Mechanism]:
    """Return the linear model from the forces on the feet and the hip motors, and the trimmed mechanism."""
    trim = mechanism.trim(solve=[f"ground_{leg}_force_z" for leg in FEET])
    inputs = [*(f"ground_{leg}_force_z" for leg in FEET), "left_front_hip_torque"]
    return mechanism.linearize(
        trim, inputs=inputs, outputs=["base_attitude", "trunk_camera_position"]
    ), trim.mechanism


def main(folder: Path = Path("out")) -> None:
    """Trim, linearise, check, and draw the forces on the feet over the angle of the hips."""
    folder.mkdir(exist_ok=True)
    mechanism = robot()
    trim = mechanism.trim(solve=[f"ground_{leg}_force_z" for leg in FEET])
    plant, trimmed = model(mechanism)
    print(plant.order_report())
    report = lg.check(trimmed, plant, samples=200)
    print(f"agrees with the numeric model: {report.max_relative_error < 1e-9}")
    angles = np.linspace(35, 55, 61)
    figure, axes = plt.subplots(figsize=(6, 4))
    for leg in FEET:
        force = trim.solution[f"ground_{leg}_force_z"]
        axes.plot(angles, force.evaluate({"hip": angles})[:, 0, 0], label=leg.replace("_", " "))
    total = sum(float(trim.solution[f"ground_{leg}_force_z"].at(m_payload=10)[0, 0]) for leg in FEET)
    print(f"forces on the feet add up to {total:.4f} N, the weight is {(25 + 10 + 4 * 1.7) * 9.81:.4f} N")
    axes.set(xlabel="angle of the hips (deg)", ylabel="force on the foot (N)", title="Robot on three feet")
    axes.legend()
    figure.savefig(folder / "walking_robot.png", dpi=150)
    plt.close(figure)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
