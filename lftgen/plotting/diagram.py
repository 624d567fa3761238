"""The assembly of a mechanism as a block diagram: bodies, joints, loads and the parameters in each."""

from __future__ import annotations

from typing import Any

import numpy as np

from lftgen.arguments import instance
from lftgen.mechanics.mechanism import Mechanism
from lftgen.mechanics.names import GROUND
from lftgen.parameters import Parameter
from lftgen.plotting._axes import axes_of

STEP = 3.0


def block_diagram(mechanism: Any, *, ax: Any = None) -> Any:
    """Bodies as boxes, joints as lines from parent to child, loads as arrows; each with the parameters it holds.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import lftgen as lg
    >>> bob = lg.RigidBody("bob", mass=lg.uncertain("m", 3.0, percent=20), com=(0, 0, -2))
    >>> hinge = lg.RevoluteJoint("hinge", parent="ground", child="bob", axis=(1, 0, 0))
    >>> ax = lg.plotting.block_diagram(lg.Mechanism("pendulum", bodies=[bob], joints=[hinge]))
    >>> [t.get_text() for t in ax.texts]
    ['ground', 'bob\\nm', 'hinge']
    """
    tree = instance(mechanism, Mechanism, "block_diagram: mechanism").tree
    places = _places(tree)
    height = 1 + max(y for _, y in places.values()) - min(y for _, y in places.values())
    depth = 1 + max(x for x, _ in places.values()) / STEP
    ax = axes_of(ax, figsize=(max(4.0, 2.9 * depth), max(2.0, 1.1 * height)))
    for name, (x, y) in places.items():
        body = tree.bodies.get(name)
        text = name if body is None else _lines(name, body.expressions)
        colour = "0.85" if body is None else "aliceblue"
        ax.text(x, y, text, ha="center", va="center", zorder=3,
                bbox={"boxstyle": "round,pad=0.4", "facecolor": colour, "edgecolor": "black"})  # fmt: skip
    for joint in tree.joints:
        start, end = np.array(places[joint.parent]), np.array(places[joint.child])
        style = "-" if joint.dof else ":"
        ax.plot(*zip(start, end, strict=True), color="black", linestyle=style, linewidth=1.2, zorder=1)
        middle = start + (0.5 if len(tree.joints_on(joint.parent)) == 1 else 0.62) * (end - start)
        ax.text(*middle, _lines(joint.name, joint.expressions), ha="center", va="center", fontsize="small", zorder=2,
                bbox={"boxstyle": "round4,pad=0.3" if joint.dof else "square,pad=0.2", "facecolor": "white"})  # fmt: skip
    for k, action in enumerate(tree.actions):
        x, y = places[action.body]
        ax.annotate(action.load.name, (x, y + 0.2), (x + 0.25 * (k % 3 - 1), y + 0.75), ha="center", fontsize="small",
                    arrowprops={"arrowstyle": "->", "color": "tab:red"}, color="tab:red")  # fmt: skip
    ax.margins(0.12, 0.3)
    ax.set_axis_off()
    ax.set_title(mechanism.name)
    return ax


def _lines(name: str, expressions: Any) -> str:
    found = sorted(
        {s.name for e in expressions for s in getattr(e, "free_symbols", ()) if isinstance(s, Parameter)}
    )
    return f"{name}\n{', '.join(found)}" if found else name


def _places(tree: Any) -> dict[str, tuple[float, float]]:
    """Depth to the right; leaves at consecutive heights, a body at the middle of those it carries."""
    places: dict[str, tuple[float, float]] = {}
    next_leaf = 0.0
    depth = {GROUND: 0}
    for joint in tree.outward:
        depth[joint.child] = depth[joint.parent] + 1
    for name in (*reversed([j.child for j in _depth_first(tree, GROUND)]), GROUND):
        below = [places[j.child][1] for j in tree.joints_on(name)]
        if below:
            y = (min(below) + max(below)) / 2
        else:
            y, next_leaf = next_leaf, next_leaf + 1.0
        places[name] = (STEP * depth[name], y)
    return {name: places[name] for name in (GROUND, *(j.child for j in tree.outward))}


def _depth_first(tree: Any, name: str) -> list[Any]:
    out: list[Any] = []
    stack = list(reversed(tree.joints_on(name)))
    while stack:
        joint = stack.pop()
        out.append(joint)
        stack += reversed(tree.joints_on(joint.child))
    return out
