"""Order of assembly for divide-and-conquer: articulated bodies by levels, those of one shape together.

An *edge* is a joint or loop joint; each of its ends is a handle. Articulated bodies are joined by all the
edges between them at once (RBDA 7.5); edges to the ground are closed on their body.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from lftgen.rigidbody.spatial import Array
from lftgen.rigidbody.tree_cuts import GROUND, Edge, Node, divide, leaf_nodes


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
        Two; one where edges to the ground are closed; more where loops pass through several children.
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
class Arm:
    """Articulated bodies of one shape that are folded into hubs, each by one joint.

    Attributes
    ----------
    pool : int
    rows, owner, edges : array (K,)
        Row of each in its pool, number of its hub in the fold (ascending), edge to the hub.
    rest : array
        Positions of the handles that stay; with any there is one body for each hub.
    joined : int
        Position of the handle on the edge.
    hub_after : bool
        The hub is the edge's successor.
    """

    pool: int
    rows: Array
    owner: Array
    edges: Array
    rest: Array
    joined: int
    hub_after: bool


@dataclass(frozen=True, eq=False)
class Fold:
    """Hubs of one level, each a single body, and all that is folded into them, as one vectorised operation.

    Attributes
    ----------
    pool : int
        Where inertia and known force of the hubs are kept.
    rows : array (G,)
    open : int
        Handles of each hub that stay; they come first, then those of the arms.
    arms : tuple of Arm
    level : int
    """

    pool: int
    rows: Array
    open: int
    arms: tuple[Arm, ...]
    level: int

    @property
    def edges(self) -> Array:
        """All edges that are closed."""
        return np.concatenate([arm.edges for arm in self.arms])


@dataclass(frozen=True, eq=False)
class AssemblyPlan:
    """Leaf pools and groups of assemblies in order.

    Attributes
    ----------
    leaves : tuple of array
        For each leaf pool, the bodies in it; all have `handles[pool]` handles, 0 for hubs (kept by inertia).
    handles : tuple of int
    groups : tuple of Group or Fold
    levels : int
        Sequential steps of assembly; the way back takes as many again.
    """

    leaves: tuple[Array, ...]
    handles: tuple[int, ...]
    groups: tuple[Group | Fold, ...]
    levels: int


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
    leaves = leaf_nodes(len(parent), edges)
    by_level = _levels(divide(parent, edges, leaves))
    count = _leaf_pools(leaves, [node.parts[0] for nodes in by_level for node in nodes if node.hub])
    groups: list[Group | Fold] = []
    for nodes in by_level:
        alike: dict[object, list[Node]] = defaultdict(list)
        for node in nodes:
            alike[_settle(node, edges)].append(node)
        for same in alike.values():
            for row, node in enumerate(same):
                node.pool, node.row = len(count) + len(groups), row
            groups.append(_fold(same, edges) if same[0].hub else _group(same, edges))
    return AssemblyPlan(
        leaves=tuple(np.array(members) for members in count.values()),
        handles=tuple(count),
        groups=tuple(groups),
        levels=len(by_level),
    )


def _levels(roots: Sequence[Node]) -> list[list[Node]]:
    """Assemblies of each level, from the first."""
    levels: list[list[Node]] = [[] for _ in range(max(root.level for root in roots))]
    todo = list(roots)
    while todo:
        node = todo.pop()
        if node.parts:
            levels[node.level - 1].append(node)
            todo += node.parts
    return levels


def _leaf_pools(leaves: Sequence[Node], hubs: Sequence[Node]) -> dict[int, list[int]]:
    """Bodies by their number of handles, 0 for hubs; each leaf is told its pool and row."""
    count: dict[int, list[int]] = defaultdict(list)
    single = {id(node) for node in hubs}
    for body, node in enumerate(leaves):
        count[0 if id(node) in single else len(node.handles)].append(body)
    for pool, members in enumerate(count.values()):
        for row, body in enumerate(members):
            leaves[body].pool, leaves[body].row = pool, row
    return count


def _settle(node: Node, edges: Sequence[Edge]) -> object:
    """Put the handles of an assembly in order, now that those of its parts are; its shape."""
    if node.hub:
        arms = sorted(node.parts[1:], key=lambda part: _arm_shape(part, node, edges))
        node.parts = (node.parts[0], *arms)
    node.handles = [k for part in node.parts for k in part.handles if k not in set(node.closed)]
    if not node.hub:
        return _shape(node, edges)
    staying = [_arm_shape(part, node, edges) for part in node.parts[1:] if len(part.handles) > 1]
    return len(node.handles), tuple(staying)


def _to_hub(part: Node, node: Node) -> int:
    """The edge between an arm and its hub."""
    (edge,) = (k for k in part.handles if k in node.parts[0].handles)
    return edge


def _arm_shape(part: Node, node: Node, edges: Sequence[Edge]) -> tuple[int, int, int, bool]:
    """Pool, place of the joined handle, rows of its edge, and whether the hub is that edge's successor."""
    k = _to_hub(part, node)
    return part.pool, part.handles.index(k), edges[k].size, edges[k].after in node.parts[0].bodies


def _slots(node: Node, edges: Sequence[Edge]) -> tuple[tuple[tuple[int, int], tuple[int, int]], ...]:
    """For each closed edge, (part, place among its joined handles) of the successor and the predecessor."""
    joined = [[k for k in node.closed if k in set(part.handles)] for part in node.parts]

    def end(body: int, k: int) -> tuple[int, int]:
        for side, part in enumerate(node.parts):
            if body in part.bodies:
                return side, joined[side].index(k)
        return GROUND, 0

    return tuple((end(edges[k].after, k), end(edges[k].before, k)) for k in node.closed)


def _orders(node: Node) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]:
    """For each part, the places of handles that stay and of those joined (in the order of the edges)."""
    orders, closed = [], set(node.closed)
    for part in node.parts:
        place = {k: i for i, k in enumerate(part.handles)}
        rest = tuple(i for k, i in place.items() if k not in closed)
        orders.append((rest, tuple(place[k] for k in node.closed if k in place)))
    return tuple(orders)


def _shape(node: Node, edges: Sequence[Edge]) -> object:
    pools = tuple(part.pool for part in node.parts)
    sizes = tuple(edges[k].size for k in node.closed)
    return pools, _orders(node), sizes, _slots(node, edges)


def _group(nodes: Sequence[Node], edges: Sequence[Edge]) -> Group:
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


def _fold(nodes: Sequence[Node], edges: Sequence[Edge]) -> Fold:
    """Arms by shape; those with handles that stay one for each hub, in the order of the handles."""
    alike: dict[object, list[tuple[int, Node]]] = defaultdict(list)
    for number, node in enumerate(nodes):
        kept = 0
        for part in node.parts[1:]:
            stays = len(part.handles) > 1
            alike[kept if stays else _arm_shape(part, node, edges)].append((number, part))
            kept += stays
    hub = nodes[0].parts[0]
    return Fold(
        pool=hub.pool,
        rows=np.array([node.parts[0].row for node in nodes]),
        open=len(set(hub.handles) - set(nodes[0].closed)),
        arms=tuple(_arm(members, nodes, edges) for members in alike.values()),
        level=nodes[0].level,
    )


def _arm(members: Sequence[tuple[int, Node]], nodes: Sequence[Node], edges: Sequence[Edge]) -> Arm:
    number, part = members[0]
    _, joined, _, hub_after = _arm_shape(part, nodes[number], edges)
    return Arm(
        pool=part.pool,
        rows=np.array([member.row for _, member in members]),
        owner=np.array([owner for owner, _ in members]),
        edges=np.array([_to_hub(member, nodes[owner]) for owner, member in members]),
        rest=np.array([k for k in range(len(part.handles)) if k != joined], dtype=int),
        joined=joined,
        hub_after=hub_after,
    )
