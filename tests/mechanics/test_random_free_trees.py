"""Random trees on free or fixed bases: every joint type, loads, springs, rotors, accelerated frames, solved trims; 1e-9."""

import numpy as np
import pytest

import lftgen as lg


class Draw:
    """Random elements from one generator; about half of the quantities are parameters."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def quantity(self, name, low, high):
        if self.rng.random() < 0.5:
            return float(self.rng.uniform(low, high))
        return lg.uncertain(name, (low + high) / 2, bounds=(low, high))

    def angle(self, name):
        kind = self.rng.random()
        if kind < 0.5:
            return float(self.rng.uniform(-2, 2))
        middle, half = self.rng.uniform(-3, 3), self.rng.uniform(0.3, 1.2)
        return lg.scheduled_angle(
            name, (middle - half, middle + half), chart="quarter" if kind > 0.85 else "half"
        )

    def body(self, i):
        R = np.linalg.qr(self.rng.normal(size=(3, 3)))[0]
        second = self.rng.uniform(0.1, 1, 3)
        tensor = R @ np.diag(second.sum() - second) @ R.T
        spins = self.rng.random() < 0.4
        rotors = (
            [lg.Rotor("w", axis=self.rng.normal(size=3), momentum=self.quantity(f"h{i}", -3, 4))]
            if spins
            else []
        )
        ports = {"p": (self.rng.normal(size=3), self.rng.normal(size=3))}
        com, mass = self.rng.normal(size=3) / 3, self.quantity(f"m{i}", 1, 3)
        return lg.RigidBody(
            f"b{i}", mass=mass, com=com, inertia=(tensor + tensor.T) / 2, ports=ports, rotors=rotors
        )

    def joint(self, i, free):
        rng, name = self.rng, f"j{i}"
        where = {
            "parent": f"b{rng.integers(i)}" if i else "ground",
            "child": f"b{i}",
            "origin": rng.normal(size=3) / 2,
            "rpy": rng.normal(size=3),
        }
        if free:
            return lg.FreeJoint(name, child="b0", rpy=(self.angle("roll"), 0.2, self.angle("yaw")))
        axis, a = rng.normal(size=3), self.angle(f"a{i}")
        kinds = [
            lambda: lg.RevoluteJoint(
                name, axis=axis, angle=a, damping=0.1, stiffness=1, armature=0.1, **where
            ),
            lambda: lg.PrismaticJoint(name, axis=axis, position=self.quantity(f"z{i}", -1, 1), **where),
            lambda: lg.UniversalJoint(name, axis_2=axis, angle_1=a, angle_2=self.angle(f"c{i}"), **where),
            lambda: lg.CylindricalJoint(name, axis=axis, angle=a, position=0.3, damping=(0.1, 0.2), **where),
            lambda: lg.SphericalJoint(name, attitude=(a, 0.1, 0.2), stiffness=2, **where),
            lambda: lg.PlanarJoint(name, axis=axis, angle=a, x=0.3, y=self.quantity(f"y{i}", -1, 1), **where),
            lambda: lg.FixedJoint(name, **where),
        ]
        return kinds[rng.integers(len(kinds))]()

    def loads(self, n, free):
        rng = self.rng
        kind = lg.DeadLoad if rng.random() < 0.5 else lg.FollowerLoad
        out = [
            lg.DeadLoad(
                "d", port=f"b{rng.integers(n)}_p", force=rng.normal(size=3), torque=rng.normal(size=3)
            ),
            lg.FollowerLoad("f", port=f"b{rng.integers(n)}_p", force=(self.quantity("F", 1, 2), 0, 1)),
            lg.SpringDamper("s", port="b0_p", other=f"b{n - 1}_p", stiffness=5, damping=0.2, force_density=1),
        ]
        chosen = [load for load in out if rng.random() < 0.7]
        return [*chosen, kind("hold", port=f"b{rng.integers(n)}_com")] if free else chosen


SEEDS = [pytest.param(s, marks=[pytest.mark.heavy] if s > 3 else []) for s in range(16)]


@pytest.mark.parametrize("seed", SEEDS)
def test_random_tree(seed):
    """The linear model, equilibrium included, equals the numeric one."""
    draw = Draw(seed)
    n, free = int(draw.rng.integers(2, 5)), seed % 3 != 0
    bodies = [draw.body(i) for i in range(n)]
    joints = [draw.joint(i, free and i == 0) for i in range(n)]
    mechanism = lg.Mechanism(
        "random", bodies=bodies, joints=joints, loads=draw.loads(n, free),
        gravity=draw.rng.normal(size=3) * 5, acceleration=draw.rng.normal(size=3),
    )  # fmt: skip
    trim = mechanism.trim(solve=["hold_force", "hold_torque"] if free else [])
    names = [
        k for k in mechanism.input_channels if k.startswith(("j", "hold", "d_", "f_")) and "motor" not in k
    ]
    outputs = [f"b{n - 1}_p_{k}" for k in ("acceleration", "specific_force", "position_ref", "attitude")]
    outputs += joints[0].names(joints[0].positions)
    plant = mechanism.linearize(
        trim, inputs=[*names[:12], "base_acceleration_y", "b0_p_torque_x"], outputs=outputs
    )
    report = lg.check(trim.mechanism, plant, samples=10, tolerance=1e-9)
    assert report.passed, str(report)
