"""One robust LPV controller for an arm over all its angles and masses, designed, certified, and tried on the full equations.

The problem of section VI of Kassarian, Sanfedino, Alazard, Montel, Chevrier, "LFT modeling of multibody dynamics around
parameter-dependent equilibrium": theta1 in [45, 90] deg, theta2 in [45, 135] deg, masses within 20 %; a controller with three
states whose matrices are affine in t1 and t2; 1/1500 as weight of the torque, (s + 1)/(2s + 0.02) of the tracking error.
The paper's masses are not published; ours are those of the other examples over ten, so that 1500 N m/rad can do the task.
Usage: ``python examples/10_lpv_controller.py FOLDER`` (default ``out``).
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path

import control
import matplotlib.pyplot as plt
import numpy as np
from scipy.integrate import solve_ivp

import lftgen as lg
from lftgen import rigidbody

MASSES = {"m1": 0.5, "m2": 0.3, "m3": 0.2}
TIME_LIMIT = 240.0


def arm() -> lg.Mechanism:
    """Return the two-link arm with its payload; gravity holds it upside down."""
    theta1 = lg.scheduled_angle("theta1", (45, 90), unit="deg")
    theta2 = lg.scheduled_angle("theta2", (45, 135), unit="deg")
    m1, m2, m3 = (lg.uncertain(name, value, percent=20, unit="kg") for name, value in MASSES.items())
    bodies = [
        lg.RigidBody("B1", mass=m1, com=(0, 0, 0.5), inertia=(0.04, 0.04, 0.001)),
        lg.RigidBody("B2", mass=m2, com=(0, 0, 0.4), inertia=(0.02, 0.02, 0.001)),
        lg.RigidBody("B3", mass=m3),
    ]
    x = (1, 0, 0)
    joints = [
        lg.RevoluteJoint("J1", parent="ground", child="B1", axis=x, angle=theta1, damping=0.01),
        lg.RevoluteJoint("J2", parent="B1", child="B2", origin=(0, 0, 1), axis=x, angle=theta2, damping=0.01),
        lg.FixedJoint("tip", parent="B2", child="B3", origin=(0, 0, 0.8)),
    ]
    return lg.Mechanism("arm", bodies=bodies, joints=joints)


def design(mechanism: lg.Mechanism, time_limit: float = TIME_LIMIT) -> tuple[lg.LFT, lg.DesignResult]:
    """Return the open loop, from references and torques to errors and torques, and the design."""
    model = mechanism.linearize()
    minus = control.ss(
        [], [], [], np.hstack([np.eye(2), -np.eye(2)]),
        inputs=["r1", "r2", "J1_angle", "J2_angle"], outputs=["e1", "e2"],
    )  # fmt: skip
    errors = lg.connect([model, minus], inputs=["r1", "r2", "J1_torque", "J2_torque"], outputs=["e1", "e2"])
    plant = lg.vstack([errors, np.hstack([np.zeros((2, 2)), np.eye(2)])]).rename(
        inputs=["r1", "r2", "J1_torque", "J2_torque"], outputs=["e1", "e2", "T1", "T2"]
    )
    scheduling = [p for p in mechanism.parameters if p.role == "scheduling"]
    K = lg.TunableSurface(
        "K", inputs=["e1", "e2"], outputs=["J1_torque", "J2_torque"], order=3, scheduling=scheduling
    )
    wanted = [
        lg.Requirement("torque", inputs=["r1", "r2"], outputs=["T1", "T2"], output_weight=1 / 1500),
        lg.Requirement(
            "error", inputs=["r1", "r2"], outputs=["e1", "e2"], output_weight=control.tf([1, 1], [2, 0.02])
        ),
    ]
    return plant, lg.design(plant, K, wanted, starts=4, refinements=0, time_limit=time_limit)


def controller_figure(K: lg.LFT, folder: Path) -> None:
    """Draw the gain of the controller over both angles, at a low and at a high frequency."""
    figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    theta1, theta2 = np.linspace(45, 90, 31), np.linspace(45, 135, 31)
    for ax, w in zip(axes, (0.1, 100.0), strict=True):
        grid = np.meshgrid(theta1, theta2, indexing="ij")
        at = K.evaluate({"theta1": grid[0].ravel(), "theta2": grid[1].ravel()})
        gain = at.singular_values([w])[:, 0, 0].reshape(grid[0].shape)
        image = ax.pcolormesh(theta1, theta2, 20 * np.log10(gain).T, shading="gouraud")
        figure.colorbar(image, ax=ax, label="largest singular value (dB)")
        ax.set(xlabel="theta1 (deg)", ylabel="theta2 (deg)", title=f"K at {w:g} rad/s")
    figure.savefig(folder / "lpv_controller.png", dpi=120)
    plt.close(figure)


def step_figure(closed: lg.LFT, folder: Path) -> float:
    """Draw steps of the first reference at points of the box; return the largest overshoot of the error."""
    figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
    t = np.linspace(0, 3, 400)
    worst = 0.0
    for system in closed[["e1"], ["r1"]].systems(closed.sample(12, method="sobol", seed=3)):
        response = 1 - np.squeeze(control.step_response(system, t).outputs)
        ax.plot(t, response, linewidth=0.8)
        worst = max(worst, float(np.max(response)) - 1)
    ax.set(xlabel="time (s)", ylabel="theta1 per step of its reference", title="Steps over the box")
    figure.savefig(folder / "lpv_steps.png", dpi=120)
    plt.close(figure)
    return worst


def slow_reference(t: float) -> np.ndarray:
    """Return both angles (rad) on their way through the range, there and back in 20 s."""
    s = 0.5 - 0.5 * np.cos(2 * np.pi * t / 20)
    return np.deg2rad([50 + 35 * s, 125 - 70 * s])


def numeric_arm(scale: tuple[float, float, float]) -> rigidbody.Model:
    """Return the arm from raw numbers, its masses scaled."""
    m1, m2, m3 = (m * s for m, s in zip(MASSES.values(), scale, strict=True))
    x = (1, 0, 0)
    bodies = [
        rigidbody.Body("B1", m1, (0, 0, 0.5), np.diag([0.04, 0.04, 0.001])),
        rigidbody.Body("B2", m2, (0, 0, 0.4), np.diag([0.02, 0.02, 0.001])),
        rigidbody.Body("B3", m3, (0, 0, 0), np.zeros((3, 3))),
    ]
    joints = [
        rigidbody.Joint("J1", "revolute", "ground", "B1", axis=x, damping=0.01),
        rigidbody.Joint("J2", "revolute", "B1", "B2", position=(0, 0, 1), axis=x, damping=0.01),
        rigidbody.Joint("tip", "fixed", "B2", "B3", position=(0, 0, 0.8)),
    ]
    return rigidbody.Model(bodies, joints)


def controller_surface(K: lg.LFT) -> Callable[[np.ndarray], np.ndarray]:
    """Return ``S(q) = [A B; C D]`` of the controller, affine in t1 and t2, from its values at three points."""
    corners = K.evaluate({"theta1": np.array([67.5, 90, 67.5]), "theta2": np.array([90, 90, 135.0])})
    S = np.concatenate(
        [np.concatenate([corners.A, corners.B], axis=2), np.concatenate([corners.C, corners.D], axis=2)],
        axis=1,
    )
    t1, t2 = np.tan(np.deg2rad([22.5, 45]) / 2)
    slopes = (S[1] - S[0]) / t1, (S[2] - S[0]) / t2

    def surface(q: np.ndarray) -> np.ndarray:
        t = np.tan((q - np.deg2rad([67.5, 90])) / 2)
        return S[0] + slopes[0] * t[0] + slopes[1] * t[1]

    return surface


def follow(K: lg.LFT, folder: Path) -> float:
    """Simulate the full equations of motion under the controller; return the largest error in degrees.

    The torque that holds the nominal arm is fed forward; the true masses are 15 % off, so the controller carries the rest.
    """
    known, true = numeric_arm((1, 1, 1)), numeric_arm((1.15, 0.85, 1.15))
    surface = controller_surface(K)
    n = len(K.states)

    def rate(t: float, state: np.ndarray) -> np.ndarray:
        q, qd, xk = state[:2], state[2:4], state[4:]
        wanted = slow_reference(t)
        out = surface(wanted) @ np.concatenate([xk, wanted - q])  # [rates of the controller; torques]
        torque = rigidbody.inverse_dynamics(known, wanted) + out[n:]
        return np.concatenate([qd, rigidbody.forward_dynamics(true, q, qd, torque), out[:n]])

    start = np.concatenate([slow_reference(0), np.zeros(2 + n)])
    t = np.linspace(0, 20, 400)
    run = solve_ivp(
        rate, (0, 20), start, t_eval=t, method="Radau", rtol=1e-6, atol=1e-8
    )  # the controller is stiff
    if not run.success:
        raise RuntimeError(run.message)
    wanted = np.rad2deg([slow_reference(ti) for ti in run.t]).T
    figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
    for i, name in enumerate(("theta1", "theta2")):
        ax.plot(run.t, np.rad2deg(run.y[i]), label=name)
        ax.plot(run.t, wanted[i], "k--", linewidth=0.8)
    ax.set(xlabel="time (s)", ylabel="angle (deg)", title="Non-linear arm, masses 15 % off")
    ax.legend()
    figure.savefig(folder / "lpv_trajectory.png", dpi=120)
    plt.close(figure)
    return float(np.max(np.abs(np.rad2deg(run.y[:2]) - wanted)))


def main(folder: str = "out", time_limit: float = TIME_LIMIT) -> dict[str, float]:
    """Design, certify and try the controller; return its figures."""
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    begin = time.perf_counter()
    _, result = design(arm(), time_limit)
    print(result)
    if not result.controllers:
        raise RuntimeError("no controller was found in the time given")
    K = result.controllers["K"]
    print(K)
    controller_figure(K, target)
    overshoot = step_figure(result.closed_loop, target)
    error = follow(K, target)
    seconds = time.perf_counter() - begin
    print(
        f"largest overshoot of a step {100 * overshoot:.0f} %; along the trajectory at most {error:.2f} deg off; {seconds:.0f} s"
    )
    levels = {v.name: v.upper for v in result.requirements}
    return {**levels, "overshoot": overshoot, "degrees off": error, "seconds": seconds}


if __name__ == "__main__":
    main(*sys.argv[1:2])
