"""A pendulum with an uncertain mass: the equilibrium force depends on it, and so does the linear model.

The smallest system with a parameter-dependent equilibrium. The holding force and the stiffness are LFTs in
the mass, and the mass occurs once.
"""

import numpy as np

import lftgen as lg


def pendulum() -> lg.Mechanism:
    """Return a point mass on a massless link of 2 m, hanging."""
    m = lg.uncertain("m", 3.0, percent=20, unit="kg")
    bob = lg.RigidBody("bob", mass=m, com=(0, 0, -2.0))
    hinge = lg.RevoluteJoint(
        "hinge", parent="ground", child="bob", axis=(1, 0, 0), stiffness=5.0, damping=0.7
    )
    return lg.Mechanism("pendulum", bodies=[bob], joints=[hinge])


def main() -> None:
    """Print the equilibrium force and the natural frequency for three masses, beside the closed form."""
    mechanism = pendulum()
    trim = mechanism.trim()
    plant = mechanism.linearize(trim, inputs=["hinge_torque"], outputs=["hinge_angle"]).reduce()
    print(f"repetitions {plant.repetitions}, states {plant.states}")
    for m in (2.4, 3.0, 3.6):
        force = trim.wrench["hinge"].at(m=m)[5, 0]
        stiffness = -plant.at(m=m).A[1, 0]
        closed_form = (m * 9.81 * 2.0 + 5.0) / (m * 2.0**2)
        print(f"m = {m:.1f} kg: force {force:.3f} N, frequency {np.sqrt(stiffness):.6f} rad/s", end="")
        print(f" (closed form {np.sqrt(closed_form):.6f})")
        assert np.isclose(stiffness, closed_form, rtol=1e-12)


if __name__ == "__main__":
    main()
