"""Fewer repetitions than exact ones need, with a proof: the two-link arm of two_link_arm.yaml within five percent.

Usage: ``python examples/11_fewer_repetitions.py``.
"""

from pathlib import Path

import numpy as np

import lftgen as lg

MODEL = Path(__file__).with_name("two_link_arm.yaml")


def matrices(plant: lg.LFT, points: dict[str, np.ndarray]) -> np.ndarray:
    """Return [A B; C D] at each point."""
    e = plant.evaluate(points)
    return np.block([[e.A, e.B], [e.C, e.D]])


def main() -> None:
    """Approximate, compare with the exact model at random points, and show what the extra block is."""
    plant = lg.read_model(MODEL).linearize().reduce()
    print(plant.order_report())
    small = plant.approximate(0.05, error="block")
    print(small)
    for name, n in plant.repetitions.items():
        print(f"  {name}: {n} -> {small.lft.repetitions[name]}")
    rng = np.random.default_rng(0)
    points = {p.name: rng.uniform(*p.bounds, 2000) for p in plant.parameters}
    gap = np.linalg.norm(matrices(plant, points) - matrices(small.lft, points), 2, axis=(1, 2))
    print(f"largest difference at 2000 random points {gap.max():.3g}, proven bound {small.error:.3g}")
    block = small.lft.delta[-1]
    print(f"the model holds a {block.kind} block {block.name} {block.shape} of gain up to {block.bound:.3g}")


if __name__ == "__main__":
    main()
