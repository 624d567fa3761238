"""A satellite with two rotating solar arrays and reaction wheels: one LFT for every angle of the full turn.

A quarter chart covers the arrays' angle from -180 to 180 degrees. The wheels carry a momentum that is scheduled;
the total momentum is conserved for all parameters, which the model shows to rounding.
Usage: ``python examples/08_satellite.py FOLDER`` (default ``out``).
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import lftgen as lg


def satellite() -> lg.Mechanism:
    """Return the hub with three wheels and two arrays on one shared drive angle."""
    theta = lg.scheduled_angle("theta", (-180, 180), chart="quarter", unit="deg")
    m_hub = lg.uncertain("m_hub", 900.0, percent=10, unit="kg")
    m_array = lg.uncertain("m_array", 45.0, percent=15, unit="kg")
    h = lg.scheduled("h", (-20.0, 20.0), unit="N m s")
    wheels = [
        lg.Rotor("wheel_x", axis=(1, 0, 0)), lg.Rotor("wheel_y", axis=(0, 1, 0), momentum=h), lg.Rotor("wheel_z", axis=(0, 0, 1))
    ]  # fmt: skip
    inertia = ((420, 8, -5), (8, 500, 12), (-5, 12, 380))
    bodies = [lg.RigidBody("hub", mass=m_hub, com=(0.02, 0, 0.1), inertia=inertia, rotors=wheels)]
    joints: list = [lg.FreeJoint("base", child="hub")]
    for side, sign in (("north", 1), ("south", -1)):
        plate = (m_array * 6.0**2 / 12, m_array * 2.0**2 / 12, m_array * (6.0**2 + 2.0**2) / 12)
        bodies.append(lg.RigidBody(side, mass=m_array, com=(0.1, sign * 3.5, 0), inertia=plate))
        joints.append(
            lg.RevoluteJoint(
                f"{side}_drive", parent="hub", child=side, axis=(0, 1, 0), origin=(0, sign * 0.9, 0.3), angle=theta,
                stiffness=60, damping=0.4,
            )
        )  # fmt: skip
    return lg.Mechanism("satellite", bodies=bodies, joints=joints, gravity=(0, 0, 0))


def model(mechanism: lg.Mechanism) -> tuple[lg.LFT, lg.Mechanism]:
    """Return the linear model from the wheels to attitude and rate, and the mechanism."""
    inputs = ["hub_wheel_x_torque", "hub_wheel_y_torque", "hub_wheel_z_torque"]
    outputs = ["base_attitude", "base_rate", "north_drive_angle"]
    return mechanism.linearize(inputs=inputs, outputs=outputs), mechanism


def momentum_rows(mechanism: lg.Mechanism, **values: float) -> np.ndarray:
    """Return the rows that give total linear and angular momentum from the states, at one point, hub axes.

    The rates' part is the wrench that unit accelerations of the coordinates take; the wheels turn with the hub.
    """
    forces = [n for j in mechanism.joints for n in j.names(j.forces)]
    full = mechanism.linearize(inputs=forces, outputs=[]).at(**values)
    n = full.nstates // 2
    mass_matrix = np.linalg.inv(full.B[n:])
    rows = np.hstack([np.zeros((6, n)), mass_matrix[:6]])
    h = values.get("h", 0.0)
    rows[:3, :3] -= np.array([[0, 0, h], [0, 0, 0], [-h, 0, 0]])
    return rows


def main(folder: Path = Path("out")) -> None:
    """Linearise, check over the whole turn, show that momentum is conserved, and draw the singular values."""
    folder.mkdir(exist_ok=True)
    plant, mechanism = model(satellite())
    print(plant.order_report())
    report = lg.check(mechanism, plant, samples=200)
    print(f"agrees with the numeric model: {report.max_relative_error < 1e-9}")
    largest = 0.0
    for theta in (-180.0, -77.0, 0.0, 123.0, 180.0):
        rows = momentum_rows(mechanism, theta=theta, h=15.0, m_array=40.0)
        A = plant.at(theta=theta, h=15.0, m_array=40.0).A
        largest = max(largest, float(np.abs(rows @ A).max() / np.abs(rows).max()))
    print(f"momentum is conserved: {largest < 1e-12}")
    frequency = np.logspace(-1, 1, 300)
    figure, axes = plt.subplots(figsize=(6, 4))
    for theta in np.linspace(-180, 180, 13):
        ss = plant.at(theta=theta)
        G = ss.C[:3] @ np.linalg.solve(
            1j * frequency[:, None, None] * np.eye(ss.nstates) - ss.A, ss.B.astype(complex)
        )
        axes.loglog(frequency, np.linalg.svd(G, compute_uv=False)[:, 0], linewidth=0.8)
    axes.set(
        xlabel="frequency (rad/s)",
        ylabel="attitude by wheel torque (rad/(N m))",
        title="Satellite, full turn of the arrays",
    )
    figure.savefig(folder / "satellite.png", dpi=150)
    plt.close(figure)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
