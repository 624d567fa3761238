"""A stratospheric balloon: buoyancy trims it, all masses are uncertain, the length of the flight chain is scheduled.

The base is free: nothing holds the envelope but the buoyancy, which the equilibrium decides (the weight of
everything that hangs on it). Below hangs a chain of two pendulums with universal joints, and the gondola.
Usage: ``python examples/06_balloon.py FOLDER`` (default ``out``).
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import lftgen as lg


def balloon() -> lg.Mechanism:
    """Return the envelope, the flight chain and the gondola."""
    masses = {"envelope": 900.0, "upper": 40.0, "lower": 40.0, "gondola": 700.0}
    m = {k: lg.uncertain(f"m_{k}", v, percent=20, unit="kg") for k, v in masses.items()}
    L = lg.scheduled("L", (40.0, 120.0), unit="m")
    bodies = [
        lg.RigidBody(
            "envelope",
            mass=m["envelope"],
            com=(0, 0, 20),
            inertia=(3e5, 3e5, 3.2e5),
            ports={"centre": (0, 0, 30)},
        ),
        *(lg.RigidBody(k, mass=m[k], com=(0, 0, -L / 4)) for k in ("upper", "lower")),
        lg.RigidBody(
            "gondola",
            mass=m["gondola"],
            com=(0, 0, -3),
            inertia=(900, 800, 700),
            ports={"telescope": (0.5, 0, -4)},
        ),
    ]
    joints = [
        lg.FreeJoint("base", child="envelope"),
        lg.UniversalJoint("top", parent="envelope", child="upper", damping=5, actuated=False),
        lg.UniversalJoint(
            "middle", parent="upper", child="lower", origin=(0, 0, -L / 2), damping=5, actuated=False
        ),
        lg.UniversalJoint(
            "hook", parent="lower", child="gondola", origin=(0, 0, -L / 2), damping=5, actuated=False
        ),
    ]
    buoyancy = lg.DeadLoad("buoyancy", port="envelope_centre")
    return lg.Mechanism("balloon", bodies=bodies, joints=joints, loads=[buoyancy])


def model(mechanism: lg.Mechanism) -> tuple[lg.LFT, lg.Mechanism]:
    """Return the linear model from wind on the envelope and torque on the gondola, and the trimmed mechanism."""
    trim = mechanism.trim(solve=["buoyancy_force"])
    inputs = ["envelope_centre_force", "gondola_com_torque"]
    outputs = ["gondola_telescope_attitude", "gondola_telescope_position", "base_attitude"]
    return mechanism.linearize(trim, inputs=inputs, outputs=outputs), trim.mechanism


def main(folder: Path = Path("out")) -> None:
    """Trim, linearise, check, and draw the pendulum frequencies over the length of the chain."""
    folder.mkdir(exist_ok=True)
    mechanism = balloon()
    trim = mechanism.trim(solve=["buoyancy_force"])
    force = trim.solution["buoyancy_force_z"]
    print(
        f"buoyancy: order {force.order}, {float(force.at(m_gondola=840)[0, 0]):.2f} N with the heaviest gondola"
    )
    plant, trimmed = model(mechanism)
    print(plant.order_report())
    report = lg.check(trimmed, plant, samples=200)
    print(f"agrees with the numeric model: {report.max_relative_error < 1e-9}")
    lengths = np.linspace(40, 120, 81)
    poles = np.linalg.eigvals(plant.evaluate({"L": lengths}).A)
    figure, axes = plt.subplots(figsize=(6, 4))
    frequency = np.sort(np.abs(poles.imag), axis=1)
    axes.plot(lengths, frequency[:, 12:] / (2 * np.pi), "k.", markersize=2)
    axes.set(
        xlabel="length of the flight chain (m)",
        ylabel="frequency (Hz)",
        title="Pendulum modes of the balloon",
    )
    figure.savefig(folder / "balloon.png", dpi=150)
    plt.close(figure)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
