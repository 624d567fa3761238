"""Designs against ten starts of a published method: BFGS for non-smooth functions, written here independently.

A. S. Lewis, M. L. Overton, "Nonsmooth optimization via quasi-Newton methods", Mathematical Programming 141 (2013)
135-163: BFGS with a weak Wolfe bisection line search (their algorithms 2.1 and 2.6), the core of HIFOO.  Loops are closed
block by block, slopes are difference quotients: nothing of the design is used but the norm.
"""

import control
import numpy as np
import pytest

import lftgen as lg
from lftgen.lft.hinf_norm import hinf_norm

pytestmark = pytest.mark.heavy


def weak_wolfe(f, x, fx, g, p):
    """A step along p that satisfies the weak Wolfe conditions, by doubling and bisection; None where it fails."""
    low, high, t = 0.0, np.inf, 1.0
    slope = g @ p
    for _ in range(40):
        ft = f(x + t * p)
        if not ft < fx + 1e-4 * t * slope:
            high = t
        else:
            gt = gradient(f, x + t * p)
            if np.all(np.isfinite(gt)) and gt @ p >= 0.9 * slope:
                return x + t * p, ft, gt
            low = t
        t = 2 * low if np.isinf(high) else (low + high) / 2
    return None


def gradient(f, x):
    """Central differences."""
    h = 1e-7 * np.maximum(np.abs(x), 1e-2)
    return np.array(
        [(f(x + hk * e) - f(x - hk * e)) / (2 * hk) for hk, e in zip(h, np.eye(len(x)), strict=True)]
    )


def bfgs(f, x, steps=150):
    """The value where BFGS ends."""
    fx, g = f(x), gradient(f, x)
    H = np.eye(len(x)) / max(np.linalg.norm(g), 1e-12)
    for _ in range(steps):
        p = -H @ g
        found = weak_wolfe(f, x, fx, g, p) if g @ p < 0 else None
        if found is None:
            break
        s, y = found[0] - x, found[2] - g
        x, fx, g = found
        V = np.eye(len(x)) - np.outer(s, y) / (s @ y)
        H = V @ H @ V.T + np.outer(s, s) / (s @ y)
    return fx


def ten_starts(plant, n_w, n_z, controller, sizes, seed=0):
    """Best norm of ten random starting points that stabilise; ``controller(x)`` gives A, B, C, D."""
    P = plant.at()
    rng = np.random.default_rng(seed)
    B1, B2, C1, C2 = P.B[:, :n_w], P.B[:, n_w:], P.C[:n_z], P.C[n_z:]
    D11, D12, D21 = P.D[:n_z, :n_w], P.D[:n_z, n_w:], P.D[n_z:, :n_w]
    assert not np.any(P.D[n_z:, n_w:])

    def loop(x):
        """The loop of a plant without feedthrough from control to measurement."""
        AK, BK, CK, DK = controller(x)
        A = np.block([[P.A + B2 @ DK @ C2, B2 @ CK], [BK @ C2, AK]])
        B = np.vstack([B1 + B2 @ DK @ D21, BK @ D21])
        return A, B, np.hstack([C1 + D12 @ DK @ C2, D12 @ CK]), D11 + D12 @ DK @ D21

    def norm(x):
        if not np.all(np.isfinite(x)) or np.max(np.abs(x)) > 1e8:
            return np.inf
        return hinf_norm(*loop(x))[0]

    values = []
    for _ in range(4000):
        x = sizes * rng.standard_normal(len(sizes)) * 10.0 ** rng.uniform(-1, 1)
        if np.isfinite(norm(x)):
            values.append(bfgs(norm, x))
        if len(values) == 10:
            break
    assert len(values) == 10
    return min(values)


def process():
    """G = 200/((10 s + 1)(0.05 s + 1)^2), S/KS: S. Skogestad, I. Postlethwaite, Multivariable Feedback Control, example 2.17."""
    G = control.ss(control.tf([200], np.polymul([10, 1], np.polymul([0.05, 1], [0.05, 1]))))
    W = control.ss(control.tf([1 / 1.5, 10], [1, 1e-3]))
    return lg.from_control(control.augw(G, W, control.ss([], [], [], [[1.0]])))


def test_pid_of_a_process():
    """PID with a tuned filter: no worse than the best of ten starts of BFGS."""

    def pid(x):
        kp, ki, kd, T = x[0], x[1], x[2], np.exp(np.clip(x[3], -20, 20))
        return (
            np.diag([0, -1 / T]),
            np.array([[ki], [1 / T]]),
            np.array([[1, -kd / T]]),
            np.array([[kp + kd / T]]),
        )

    plant = process().rename(inputs=["w", "u"], outputs=["z1", "z2", "y"])
    peer = ten_starts(plant, 1, 2, pid, np.array([0.3, 0.3, 0.03, 2.0]))
    block = lg.TunablePID("K", inputs="y", outputs="u")
    found = lg.design(plant, block, lg.Requirement("all", "w", ["z1", "z2"]), starts=10, time_limit=600)
    print(f"PID: design {found.value:.6f}, ten starts of BFGS {peer:.6f}")
    assert found.value <= peer * (1 + 1e-4)
    K = found.controllers["K"]
    closed = plant.at().lft(control.ss(K.A, K.B, K.C, K.D))
    assert hinf_norm(closed.A, closed.B, closed.C, closed.D)[0] == pytest.approx(found.value, rel=1e-6)


def autopilot():
    """Missile autopilot AC4: F. Leibfritz, COMPleib, Tech. Rep., University of Trier, 2004 (B. Fares, P. Apkarian, D. Noll)."""
    A = np.array([[-0.876, 1, -0.1209, 0], [8.9117, 0, -130.75, 0], [0, 0, -150, 0], [-1, 0, 0, -0.05]])
    B = np.array([[0, 0, 0], [0, 0, 0], [0, 0, 150], [0, 1, 0]])
    C = np.array([[-0.25, 0, 0, 3.487], [0, 0, -3, 0], [-1, 0, 0, 0], [0, -1, 0, 0]])
    D = np.array([[0, 0.25, 0], [0, 0, 3], [0, 1, 0], [0.01, 0, 0]])
    return lg.ss(A, B, C, D, inputs=["w1", "w2", "u"], outputs=["z1", "z2", "y1", "y2"])


def transport():
    """Supersonic transport AC15: F. Leibfritz, COMPleib, Tech. Rep., University of Trier, 2004."""
    A = np.array(
        [[-0.037, 0.0123, 0.00055, -1], [0, 0, 1, 0], [-6.37, 0, -0.23, 0.0618], [1.25, 0, 0.016, -0.0457]]
    )
    B = np.hstack([np.eye(4), [[0.00084, 0.000236], [0, 0], [0.08, 0.804], [-0.0862, -0.0665]]])
    C = np.vstack([np.eye(4), np.zeros((2, 4)), np.eye(4)[1:]])
    D = np.zeros((9, 6))
    D[4:6, 4:] = np.eye(2)
    names = [f"w{i}" for i in range(4)], [f"z{i}" for i in range(6)]
    return lg.ss(A, B, C, D, inputs=[*names[0], "u0", "u1"], outputs=[*names[1], "y0", "y1", "y2"])


@pytest.mark.parametrize(
    ("make", "n_w", "n_z", "order", "size"),
    [(autopilot, 2, 2, 0, 1.0), (autopilot, 2, 2, 1, 1.0), (transport, 4, 6, 0, 1.0)],
)
def test_reduced_orders(make, n_w, n_z, order, size):
    """Static and first-order feedback: no worse than the best of ten starts of BFGS."""
    plant = make()
    y, u = plant.outputs[n_z:], plant.inputs[n_w:]

    def controller(x):
        S = x.reshape(order + len(u), order + len(y))
        return S[:order, :order], S[:order, order:], S[order:, :order], S[order:, order:]

    peer = ten_starts(plant, n_w, n_z, controller, size * np.ones((order + len(u)) * (order + len(y))))
    block = lg.TunableStateSpace("K", inputs=list(y), outputs=list(u), order=order)
    one = lg.Requirement("all", list(plant.inputs[:n_w]), list(plant.outputs[:n_z]))
    found = lg.design(plant, block, one, starts=10, time_limit=600)
    print(f"{make.__name__} order {order}: design {found.value:.6f}, ten starts of BFGS {peer:.6f}")
    assert found.value <= peer * (1 + 1e-4)
    assert found.requirements[0].upper == pytest.approx(found.value, rel=1e-6)
