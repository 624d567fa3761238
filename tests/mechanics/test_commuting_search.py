"""Searching for fewer repetitions: the polynomial that is read, the words, the transposes, and that nothing else changes."""

import numpy as np
import pytest
import sympy as sp

import lftgen as lg
from lftgen.lft.algebra import add, transpose
from lftgen.lft.connect import unnamed
from lftgen.lft.evaluation import evaluate_ports
from lftgen.lft.field import FLOAT
from lftgen.mechanics.commuting.letters import read_polynomial
from lftgen.mechanics.commuting.stiffness import StiffnessPass, all_pairs
from lftgen.mechanics.commuting.turn_realization import realize_turn_words
from lftgen.mechanics.commuting.turn_words import TurnSearch

m = lg.uncertain("m", 2.0, percent=20)
L = lg.uncertain("L", 0.5, percent=20)
half = lg.scheduled_angle("half", (-1.2, 1.2))
quarter = lg.scheduled_angle("quarter", (-170, 190), unit="deg", chart="quarter")
MATRIX = sp.Matrix(
    [
        [m * L**2 * sp.cos(half) + 3, L * sp.sin(half) * sp.cos(quarter)],
        [m * sp.sin(quarter), sp.cos(half) ** 2 - L],
    ]
)


def values_at(points=7):
    rng = np.random.default_rng(3)
    return {p.name: rng.uniform(p.lower, p.upper, points) for p in (m, L, half, quarter)}


def closed_form(values):
    """The matrix itself, angles in radians."""
    given = [values["m"], values["L"], values["half"], np.radians(values["quarter"])]
    return np.stack(
        [
            np.array(sp.lambdify([m, L, half, quarter], MATRIX)(*row), dtype=float)
            for row in zip(*given, strict=True)
        ]
    )


def links(kind, n):
    """Equal links with every angle and mass a parameter: planar, or axes z, x, z, x, ..."""
    bodies, joints = [], []
    for i in range(n):
        axis = (1, 0, 0) if kind == "planar" else ((0, 0, 1), (1, 0, 0))[i % 2]
        com = (0, 0, 0.15) if kind == "planar" else (0.02, 0.01, 0.15)
        mass, angle = lg.uncertain(f"m{i}", 2.0, percent=20), lg.scheduled_angle(f"theta{i}", (-1.2, 1.2))
        bodies.append(lg.RigidBody(f"B{i}", mass=mass, com=com, inertia=(0.05, 0.06, 0.02)))
        parent, origin = (f"B{i - 1}", (0, 0, 0.3)) if i else ("ground", (0, 0, 0))
        joints.append(
            lg.RevoluteJoint(f"J{i}", parent=parent, child=f"B{i}", axis=axis, origin=origin, angle=angle)
        )
    return lg.Mechanism(kind, bodies=bodies, joints=joints)


def test_polynomial_is_the_matrix():
    """Coefficients of a matrix in two lengths-like parameters and two angles, charts and units apart."""
    polynomial = read_polynomial(lg.realize(MATRIX).data)
    values = values_at()
    assert np.allclose(polynomial.evaluate(values), closed_form(values), rtol=1e-11, atol=1e-12)
    assert {x.parameter.name: x.degree for x in polynomial.letters} == {
        "m": 1,
        "L": 2,
        "half": 2,
        "quarter": 1,
    }


@pytest.mark.parametrize("matrix", [[[1 / m]], [[m / (1 + L)]], [[1 / (2 + sp.cos(half))]]])
def test_rational_matrices_are_no_polynomials(matrix):
    """Nothing is read where there are denominators."""
    assert read_polynomial(lg.realize(sp.Matrix(matrix)).data) is None


@pytest.mark.parametrize("seed", range(3))
def test_any_words_give_the_matrix(seed):
    """Whatever the words, the realisation is the same function, with as many repetitions as the search counts."""
    search = TurnSearch(read_polynomial(lg.realize(MATRIX).data), seed=seed)
    search.best = search.best[0], 10**6
    search.run(moves=20)
    found = realize_turn_words(search.words, search.letters)
    values = values_at()
    assert np.allclose(evaluate_ports(found, values), closed_form(values), rtol=1e-10, atol=1e-11)
    assert sum(b.repetitions for b in found.structure.blocks) <= search.best_cost


def test_transposes_are_the_same_stiffness():
    """A box above the diagonal read as a transpose: one separate V for each set of columns."""
    mechanism = links("alternating", 4)
    base, everything = mechanism.acceleration - mechanism.gravity, all_pairs(mechanism.tree)
    taken = frozenset({("J0", "J2"), ("J1", "J3"), ("J0", "J3")})
    turned = frozenset((b, a) for a, b in taken)
    whole, most, rest = (
        StiffnessPass(mechanism.tree, base, FLOAT, pairs=p).matrix()
        for p in (None, everything - taken, turned)
    )
    values = {p.name: p.lower + 0.3 * (p.upper - p.lower) for p in mechanism.parameters}

    def at(a):
        known = {b.name for b in a.structure.blocks}
        return evaluate_ports(a, {k: v for k, v in values.items() if k in known})[0]

    assert np.allclose(at(unnamed(add(most, transpose(rest)))), at(whole), rtol=1e-11, atol=1e-11)
    assert at(rest)[3, 1] != 0
    assert at(rest)[1, 3] == 0


def test_uncertain_length_and_mass_at_the_bound():
    """A rod with a tip mass, its length and mass uncertain: the default finds the minimum, the recursion does not."""
    rod = lg.RigidBody("rod", mass=m, com=(0, 0, -L / 2), inertia=(m * L**2 / 12, m * L**2 / 12, 0))
    hinge = lg.RevoluteJoint("hinge", parent="ground", child="rod", axis=(1, 0, 0), angle=half)
    weld = lg.FixedJoint("weld", parent="rod", child="bob", origin=(0, 0, -L))
    mechanism = lg.Mechanism("rod_and_bob", bodies=[rod, lg.RigidBody("bob", mass=2.0)], joints=[hinge, weld])
    plant = mechanism.linearize()
    assert plant.repetitions == plant.order_bound() == {"m": 1, "L": 2, "half": 2}
    assert mechanism.linearize(method="recursive").order > plant.order
    assert lg.check(mechanism, plant, samples=20, tolerance=1e-10).passed


def test_progress_and_bad_arguments():
    """Reports come in, and what makes no sense is refused by name."""
    mechanism, told = links("alternating", 3), []
    plant = mechanism.linearize(search=0.5, progress=lambda best, seconds: told.append((best, seconds)))
    assert told
    assert all(a >= plant.order for a, _ in told)
    assert plant.order <= 24
    with pytest.raises(lg.ModelError, match="search"):
        mechanism.linearize(search=-1)
    with pytest.raises(lg.ModelError, match="auto"):
        mechanism.linearize(search=1, method="planar")


@pytest.mark.heavy
@pytest.mark.parametrize(("kind", "n", "order"), [("planar", 4, 41), ("alternating", 7, 185)])
def test_searched_chains(kind, n, order):
    """The search goes below what the forms reach, and the model stays right."""
    mechanism = links(kind, n)
    plant = mechanism.linearize(search=60)
    assert plant.order <= order
    assert lg.check(mechanism, plant, samples=20, tolerance=1e-10).passed
