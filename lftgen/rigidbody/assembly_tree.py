"""Order of assembly for divide-and-conquer: a balanced tree over the bodies, cut into levels.

An *edge* is a joint or loop joint; each of its ends is a handle on a body. Articulated bodies are joined by
all the edges between them at once (RBDA 7.5); edges to the ground are closed on their body first.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from lftgen.rigidbody.spatial import Array

GROUND = -1
MOST_CUTS = 32
"""Children of one body that are joined to it in one assembly, at most."""


@dataclass(frozen=True)
class Edge:
    """Joint between two bodies (numbers; −1 is the ground); `size` is its number of constraint rows."""

    before: int
    after: int
    size: int


@dataclass(frozen=True, eq=False)
class Side:
    """One articulated body of each assembly in a group.

    Attributes
    ----------
    pool : int
        Where its equations are kept: leaf pools first, then one per group.
    rows : array (G,)
        Row of each in its pool.
    rest, joined : array
        Positions of the handles that stay, and of those that are joined.
    """

    pool: int
    rows: Array
    rest: Array
    joined: Array
    order: Array = field(init=False)
    """Rows of the equations in that order, six a handle."""
    in_order: bool = field(init=False)

    def __post_init__(self) -> None:
        handles = np.concatenate([self.rest, self.joined]).astype(int)
        order = (6 * handles[:, None] + np.arange(6)).reshape(-1)
        object.__setattr__(self, "order", order)
        object.__setattr__(self, "in_order", bool((order == np.arange(len(order))).all()))


@dataclass(frozen=True, eq=False)
class Group:
    """Assemblies of one level and one shape, done as one vectorised operation.

    Attributes
    ----------
    sides : tuple of Side
        Two, one where edges to the ground are closed, or a body with several of its children.
    edges : array (G, m)
        Edges closed by each assembly.
    slots : tuple of (successor's, predecessor's)
        For each edge, (side, place among the joined handles) of both ends; (−1, 0): the ground.
    level : int
    """

    sides: tuple[Side, ...]
    edges: Array
    slots: tuple[tuple[tuple[int, int], tuple[int, int]], ...]
    level: int


@dataclass(frozen=True, eq=False)
class AssemblyPlan:
    """Leaf pools and groups of assemblies in order.

    Attributes
    ----------
    leaves : tuple of array
        For each leaf pool, the bodies in it; all have `handles[pool]` handles.
    handles : tuple of int
    leaf_edges : tuple of array (bodies, handles)
        The edge at each handle.
    groups : tuple of Group
    levels : int
        Sequential steps of assembly; the way back takes as many again.
    """

    leaves: tuple[Array, ...]
    handles: tuple[int, ...]
    leaf_edges: tuple[Array, ...]
    groups: tuple[Group, ...]
    levels: int


@dataclass
class _Node:
    """Articulated body while the plan is drawn up."""

    handles: list[int]
    level: int
    bodies: frozenset[int]
    pool: int = -1
    row: int = -1
    parts: tuple[_Node, ...] = ()
    closed: tuple[int, ...] = ()


def plan_assembly(parent: Sequence[int], edges: Sequence[Edge]) -> AssemblyPlan:
    """Plan the assembly of a tree with loops.

    Parameters
    ----------
    parent : sequence of int
        Parent of each body, −1 for the ground; parents come first.
    edges : sequence of Edge
        Tree joints (in the bodies' order), then loop joints.

    Examples
    --------
    >>> chain = [Edge(i - 1, i, 5) for i in range(8)]
    >>> plan_assembly(range(-1, 7), chain).levels
    4
    """
    at = defaultdict(list)
    for k, edge in enumerate(edges):
        for body in (edge.before, edge.after):
            if body != GROUND:
                at[body].append(k)
    leaves = [_Node(list(at[body]), 0, frozenset([body])) for body in range(len(parent))]
    nodes = [_grounded(leaf, edges) for leaf in leaves]
    roots = [_divide(part, parent, nodes) for part in _components(parent)]
    while len(roots) > 1:  # trees that meet at the ground only, or by loops
        roots.sort(key=lambda node: node.level)
        roots = [*roots[2:], _join(roots[:2])]
    return _schedule(leaves, roots[0], edges)


def _grounded(leaf: _Node, edges: Sequence[Edge]) -> _Node:
    """The body with its joints to the ground closed, if it has any."""
    closed = tuple(k for k in leaf.handles if edges[k].before == GROUND)
    if not closed:
        return leaf
    rest = [k for k in leaf.handles if k not in closed]
    return _Node(rest, 1, leaf.bodies, parts=(leaf,), closed=closed)


def _components(parent: Sequence[int]) -> list[list[int]]:
    """Bodies of each tree that stands on the ground, parents first."""
    root: list[int] = []
    parts = defaultdict(list)
    for body, above in enumerate(parent):
        root.append(body if above == GROUND else root[above])
        parts[root[body]].append(body)
    return list(parts.values())


def _divide(bodies: list[int], parent: Sequence[int], nodes: Sequence[_Node]) -> _Node:
    """Cut a connected part of the tree at its most balanced joint, again and again.

    Where one cut leaves a small part (a body with many children), several children are cut off at once.
    """
    if len(bodies) == 1:
        return nodes[bodies[0]]
    size = dict.fromkeys(bodies, 1)
    for body in reversed(bodies[1:]):
        size[parent[body]] += size[body]
    parents = [parent[body] for body in bodies[1:]]
    path = len(set(parents)) == len(parents)
    cuts = [min(bodies[1:], key=lambda body: _cost(size[body], len(bodies), path))]
    if 4 * min(size[cuts[0]], len(bodies) - size[cuts[0]]) < len(bodies):
        cuts = _several_cuts(bodies, parent, size)
    owner: dict[int, int] = {}
    parts: dict[int, list[int]] = {root: [] for root in (bodies[0], *cuts)}
    for body in bodies:
        owner[body] = body if body in parts else owner[parent[body]]
        parts[owner[body]].append(body)
    return _join([_divide(part, parent, nodes) for part in parts.values()])


def _several_cuts(bodies: list[int], parent: Sequence[int], size: dict[int, int]) -> list[int]:
    """Children of the body in the middle, the largest first."""
    children = defaultdict(list)
    for body in bodies[1:]:
        children[parent[body]].append(body)
    middle = bodies[0]
    while heavy := [body for body in children[middle] if 2 * size[body] > len(bodies)]:
        middle = heavy[0]
    return sorted(children[middle], key=lambda body: -size[body])[:MOST_CUTS]


def _cost(part: int, whole: int, path: bool) -> tuple[int, bool, int]:
    """Depth first; on a chain, parts of 2^k bodies (many assemblies of one shape); then balance."""
    depth = max((part - 1).bit_length(), (whole - part - 1).bit_length())
    return depth, path and part & (part - 1) != 0, abs(whole - 2 * part)


def _join(parts: Sequence[_Node]) -> _Node:
    """Close every edge between articulated bodies."""
    ends = Counter(k for part in parts for k in part.handles)
    closed = tuple(k for k, times in ends.items() if times == 2)
    rest = [k for k, times in ends.items() if times == 1]
    level = 1 + max(part.level for part in parts)
    return _Node(
        rest, level, frozenset().union(*(part.bodies for part in parts)), parts=tuple(parts), closed=closed
    )


def _schedule(leaves: Sequence[_Node], root: _Node, edges: Sequence[Edge]) -> AssemblyPlan:
    """Give every articulated body a pool and a row, and gather assemblies of one shape."""
    count = _leaf_pools(leaves)
    by_level: dict[int, list[_Node]] = defaultdict(list)
    todo = [root]
    while todo:
        node = todo.pop()
        if node.parts:
            by_level[node.level].append(node)
            todo += node.parts
    groups: list[Group] = []
    for level in sorted(by_level):
        alike: dict[object, list[_Node]] = defaultdict(list)
        for node in by_level[level]:
            alike[_shape(node, edges)].append(node)
        for same in alike.values():
            for row, node in enumerate(same):
                node.pool, node.row = len(count) + len(groups), row
            groups.append(_group(same, edges))
    return AssemblyPlan(
        leaves=tuple(np.array(members) for members in count.values()),
        handles=tuple(count),
        leaf_edges=tuple(
            np.array([leaves[b].handles for b in members]).reshape(len(members), h)
            for h, members in count.items()
        ),
        groups=tuple(groups),
        levels=root.level,
    )


def _leaf_pools(leaves: Sequence[_Node]) -> dict[int, list[int]]:
    """Bodies by their number of handles; each leaf is told its pool and row."""
    count: dict[int, list[int]] = defaultdict(list)
    for body, node in enumerate(leaves):
        count[len(node.handles)].append(body)
    for pool, members in enumerate(count.values()):
        for row, body in enumerate(members):
            leaves[body].pool, leaves[body].row = pool, row
    return count


def _slots(node: _Node, edges: Sequence[Edge]) -> tuple[tuple[tuple[int, int], tuple[int, int]], ...]:
    """For each closed edge, (part, place among its joined handles) of the successor and the predecessor."""
    joined = [[k for k in node.closed if k in set(part.handles)] for part in node.parts]

    def end(body: int, k: int) -> tuple[int, int]:
        for side, part in enumerate(node.parts):
            if body in part.bodies:
                return side, joined[side].index(k)
        return GROUND, 0

    return tuple((end(edges[k].after, k), end(edges[k].before, k)) for k in node.closed)


def _orders(node: _Node) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]:
    """For each part, the places of handles that stay and of those joined (in the order of the edges)."""
    orders, closed = [], set(node.closed)
    for part in node.parts:
        place = {k: i for i, k in enumerate(part.handles)}
        rest = tuple(i for k, i in place.items() if k not in closed)
        orders.append((rest, tuple(place[k] for k in node.closed if k in place)))
    return tuple(orders)


def _shape(node: _Node, edges: Sequence[Edge]) -> object:
    pools = tuple(part.pool for part in node.parts)
    sizes = tuple(edges[k].size for k in node.closed)
    return pools, _orders(node), sizes, _slots(node, edges)


def _group(nodes: Sequence[_Node], edges: Sequence[Edge]) -> Group:
    first = nodes[0]
    sides = tuple(
        Side(
            pool=first.parts[s].pool,
            rows=np.array([node.parts[s].row for node in nodes]),
            rest=np.array(rest, dtype=int),
            joined=np.array(joined, dtype=int),
        )
        for s, (rest, joined) in enumerate(_orders(first))
    )
    closed = np.array([node.closed for node in nodes], dtype=int).reshape(len(nodes), len(first.closed))
    return Group(sides, closed, _slots(first, edges), first.level)
