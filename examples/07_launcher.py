"""A launcher under thrust: the acceleration of the reference frame follows from it, with sloshing propellant.

The thrust turns with the body, the acceleration of the equilibrium is thrust by mass minus gravity. Propellant
sloshes as two pendulums whose stiffness is that acceleration.
Usage: ``python examples/07_launcher.py FOLDER`` (default ``out``).
"""

import sys
from pathlib import Path

import control
import matplotlib.pyplot as plt
import numpy as np

import lftgen as lg


def launcher() -> lg.Mechanism:
    """Return the rigid launcher with a gimballed engine and two sloshing masses."""
    dry = lg.uncertain("m_dry", 12e3, percent=5, unit="kg")
    fuel = lg.scheduled("m_fuel", (10e3, 60e3), unit="kg")
    slosh = [lg.uncertain(f"m_slosh{k}", v, percent=30, unit="kg") for k, v in ((1, 1500.0), (2, 2500.0))]
    thrust = lg.uncertain("T", 1.2e6, percent=5, unit="N")
    length = lg.uncertain("l_slosh", 0.9, percent=20, unit="m")
    ports = {"imu": (0, 0, 20), "nozzle": (0, 0, -2)}
    rigid = lg.RigidBody(
        "stage",
        mass=dry + fuel,
        com=(0, 0, 9),
        ports=ports,
        inertia=(40 * (dry + fuel), 40 * (dry + fuel), 2 * (dry + fuel)),
    )
    bodies, joints = [rigid], [lg.FreeJoint("base", child="stage")]
    for k, (mass, height) in enumerate(zip(slosh, (14.0, 6.0), strict=True), 1):
        bodies.append(lg.RigidBody(f"slosh{k}", mass=mass, com=(0, 0, -length)))
        joints.append(
            lg.UniversalJoint(
                f"tank{k}",
                parent="stage",
                child=f"slosh{k}",
                origin=(0, 0, height),
                damping=20,
                actuated=False,
            )
        )
    engine = lg.FollowerLoad("engine", port="stage_nozzle", force=(0, 0, thrust))
    return lg.Mechanism("launcher", bodies=bodies, joints=joints, loads=[engine])


def model(mechanism: lg.Mechanism) -> tuple[lg.LFT, lg.Mechanism]:
    """Return the linear model from the lateral thrust to attitude, rate and acceleration, and the trimmed mechanism."""
    trim = mechanism.trim(solve=["acceleration"])
    inputs = ["engine_force_x", "engine_force_y"]
    outputs = ["stage_imu_attitude", "stage_imu_rate", "stage_imu_specific_force"]
    return mechanism.linearize(trim, inputs=inputs, outputs=outputs), trim.mechanism


def main(folder: Path = Path("out")) -> None:
    """Trim, linearise, check, and draw the response from gimbal force to pitch for several loads of propellant."""
    folder.mkdir(exist_ok=True)
    mechanism = launcher()
    trim = mechanism.trim(solve=["acceleration"])
    upward = trim.solution["acceleration_z"]
    print(f"acceleration: {float(upward.at()[0, 0]):.4f} m/s2 at the nominal, order {upward.order}")
    plant, trimmed = model(mechanism)
    print(plant.order_report())
    report = lg.check(trimmed, plant, samples=200)
    print(f"agrees with the numeric model: {report.max_relative_error < 1e-9}")
    frequency = np.logspace(-0.5, 1.5, 400)
    figure, axes = plt.subplots(figsize=(6, 4))
    for fuel in (10e3, 35e3, 60e3):
        channel = plant["stage_imu_attitude_x", "engine_force_y"].at(m_fuel=fuel)
        gain = np.abs(control.frequency_response(channel, frequency).frdata.reshape(-1))
        axes.loglog(frequency, gain, label=f"{fuel / 1e3:.0f} t of propellant")
    axes.set(
        xlabel="frequency (rad/s)", ylabel="pitch by lateral thrust (rad/N)", title="Launcher with sloshing"
    )
    axes.legend()
    figure.savefig(folder / "launcher.png", dpi=150)
    plt.close(figure)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
