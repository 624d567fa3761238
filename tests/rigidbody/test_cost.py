"""Operations of the articulated-body algorithm grow with the number of bodies, not faster."""

import numpy as np

from lftgen.rigidbody import divide_and_conquer, forward_dynamics


class Counter:
    """Counts multiplications in every matrix product."""

    def __init__(self, monkeypatch):
        self.total, product = 0, np.matmul

        def counting(a, b, *args, **more):
            result = product(a, b, *args, **more)
            self.total += result.size * np.shape(a)[-1]
            return result

        monkeypatch.setattr(np, "matmul", counting)

    def run(self, function):
        """Multiplications of one call."""
        self.total = 0
        function()
        return self.total


def test_articulated_body_is_linear(tree, monkeypatch):
    """A straight line through 10 to 1000 bodies."""
    rng, sizes = np.random.default_rng(0), [10, 30, 100, 300, 1000]
    models = [tree(rng, n, kinds=("revolute",), serial=True) for n in sizes]
    counter = Counter(monkeypatch)
    counts = [counter.run(lambda m=m: forward_dynamics(m, np.zeros(m.nq))) for m in models]
    slope, offset = np.polyfit(sizes, counts, 1)
    np.testing.assert_allclose(np.polyval([slope, offset], sizes), counts, rtol=1e-9)
    assert 0 < slope < 2000


def test_divide_and_conquer_works_in_proportion(tree, monkeypatch):
    """The assembly's total work stays in proportion to the bodies: work per body hardly grows."""
    rng, sizes = np.random.default_rng(0), [16, 64, 256]
    plans = [divide_and_conquer(tree(rng, n, kinds=("revolute",), serial=True)) for n in sizes]
    counter = Counter(monkeypatch)
    each = [
        counter.run(lambda p=p: p.forward_dynamics(np.zeros(p.closed.tree.nq))) / n
        for p, n in zip(plans, sizes, strict=True)
    ]
    assert each[2] / each[1] < 1.25
