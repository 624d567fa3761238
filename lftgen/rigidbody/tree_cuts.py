"""Where divide-and-conquer cuts a tree of bodies: which articulated bodies are joined, and in what order.

A part of a tree is cut at one joint where that halves it well. Elsewhere all joints of its middle body, the
*hub*, are cut at once, which leaves parts of at most half the bodies: their articulated inertias as seen
from the hub are added up (`fold_group`). So N bodies take at most log2 N + 1 levels, whatever the tree.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

GROUND = -1
MOST_CUTS = 32
"""Children of one body, loops among them, that are joined to it in one assembly, at most."""


@dataclass(frozen=True)
class Edge:
    """Joint between two bodies (numbers; −1 is the ground); `size` is its number of constraint rows."""

    before: int
    after: int
    size: int


@dataclass
class Node:
    """Articulated body while the plan is drawn up.

    Attributes
    ----------
    handles : list of int
        Edges that are open.
    level : int
    bodies : frozenset of int
    pool, row : int
        Where its equations are kept.
    parts : tuple of Node
    closed : tuple of int
        Edges between the parts.
    hub : bool
        The first part is a single body that the other parts are folded into.
    """

    handles: list[int]
    level: int
    bodies: frozenset[int]
    pool: int = -1
    row: int = -1
    parts: tuple[Node, ...] = ()
    closed: tuple[int, ...] = ()
    hub: bool = False


def leaf_nodes(count: int, edges: Sequence[Edge]) -> list[Node]:
    """One node for each body, with a handle for each end of an edge on it."""
    at = defaultdict(list)
    for k, edge in enumerate(edges):
        for body in (edge.before, edge.after):
            if body != GROUND:
                at[body].append(k)
    return [Node(list(at[body]), 0, frozenset([body])) for body in range(count)]


def join(parts: Sequence[Node], hub: bool = False) -> Node:
    """Close every edge between articulated bodies."""
    ends = Counter(k for part in parts for k in part.handles)
    return Node(
        handles=[k for k, times in ends.items() if times == 1],
        level=1 + max(part.level for part in parts),
        bodies=frozenset().union(*(part.bodies for part in parts)),
        parts=tuple(parts),
        closed=tuple(k for k, times in ends.items() if times == 2),
        hub=hub,
    )


def close_ground(node: Node, edges: Sequence[Edge]) -> Node:
    """The articulated body with its joints to the ground closed, if it has any."""
    closed = tuple(k for k in node.handles if edges[k].before == GROUND)
    if not closed:
        return node
    rest = [k for k in node.handles if k not in closed]
    return Node(rest, node.level + 1, node.bodies, parts=(node,), closed=closed)


def divide(parent: Sequence[int], edges: Sequence[Edge], leaves: Sequence[Node]) -> list[Node]:
    """Assembly of all bodies: an articulated body for each tree without loops, one for all other trees.

    Parameters
    ----------
    parent : sequence of int
        Parent of each body, −1 for the ground; parents come first.
    edges : sequence of Edge
        Tree joints (in the bodies' order), then loop joints.
    leaves : sequence of Node

    Examples
    --------
    >>> star = [Edge(0 if i else -1, i, 5) for i in range(8)]
    >>> [node.level for node in divide([-1] + 7 * [0], star, leaf_nodes(8, star))]
    [2]
    """
    core = _on_loops(parent, edges)
    roots: list[Node] = []
    tied: list[Node] = []
    tops = [body for body, above in enumerate(parent) if above == GROUND]
    for top, part in _split(range(len(parent)), parent, tops).items():
        if top in core:
            tied.append(_divide_core(part, core, parent, edges, leaves))
        else:
            roots.append(_divide_tree(part, parent, edges, leaves, len(part).bit_length()))
    while len(tied) > 1:  # trees that meet at the ground only, or by loops
        tied.sort(key=lambda node: node.level)
        tied = [*tied[2:], join(tied[:2])]
    return roots + tied


def _on_loops(parent: Sequence[int], edges: Sequence[Edge]) -> set[int]:
    """Bodies between the ground and the ends of loop joints."""
    core: set[int] = set()
    for edge in edges[len(parent) :]:
        for end in (edge.before, edge.after):
            body = end
            while body != GROUND and body not in core:
                core.add(body)
                body = parent[body]
    return core


def _split(bodies: Sequence[int], parent: Sequence[int], tops: Sequence[int]) -> dict[int, list[int]]:
    """Bodies (parents first) of the part below each top; the joint above each top is cut."""
    owner: dict[int, int] = {}
    parts: dict[int, list[int]] = {top: [] for top in tops}
    for body in bodies:
        owner[body] = body if body in parts else owner[parent[body]]
        parts[owner[body]].append(body)
    return parts


def _sizes(bodies: Sequence[int], parent: Sequence[int]) -> dict[int, int]:
    """Number of bodies from each body outwards."""
    size = dict.fromkeys(bodies, 1)
    for body in reversed(bodies[1:]):
        size[parent[body]] += size[body]
    return size


def _is_path(bodies: Sequence[int], parent: Sequence[int]) -> bool:
    return len({parent[body] for body in bodies[1:]}) == len(bodies) - 1


def _divide_tree(
    bodies: list[int], parent: Sequence[int], edges: Sequence[Edge], leaves: Sequence[Node], depth: int
) -> Node:
    """Assembly of a connected part in at most `depth` levels.

    There are always enough: a part of fewer than 2^(depth + 1) bodies, or 2^depth where it stands on the ground.
    """
    top, n = bodies[0], len(bodies)
    if n == 1:
        return close_ground(leaves[top], edges)
    size, grounded = _sizes(bodies, parent), parent[top] == GROUND
    cut = _cut(bodies, size, depth, grounded, _is_path(bodies, parent))
    if cut is not None:
        halves = _split(bodies, parent, [top, cut]).values()
        return join([_divide_tree(half, parent, edges, leaves, depth - 1) for half in halves])
    hub, depth = (top, depth - 2) if grounded else (_middle(bodies, parent, size), depth - 1)
    tops = [hub, *(body for body in bodies[1:] if parent[body] == hub)]
    parts = _split(bodies, parent, tops if hub == top else [top, *tops])
    arms = [_divide_tree(part, parent, edges, leaves, depth) for key, part in parts.items() if key != hub]
    return close_ground(join([leaves[hub], *arms], hub=True), edges)


def _cut(bodies: list[int], size: dict[int, int], depth: int, grounded: bool, path: bool) -> int | None:
    """Body below the joint that cuts the part in two; None: all joints of a hub are cut, its middle body.

    A part on the ground has its first body for a hub.
    """
    n, whole = len(bodies), 1 << depth
    if path and n + grounded <= whole:  # halves do to the end
        below, above = whole // 2, whole // 2 - grounded
    else:
        below, above = whole - 1, (whole // 2 if grounded else whole) - 1
    fitting = [body for body in bodies[1:] if size[body] <= below and n - size[body] <= above]
    if not fitting:
        return None
    cut = min(fitting, key=lambda body: _cost(size[body], n, path))
    if path or 4 * min(size[cut], n - size[cut]) >= n:
        return cut
    arms = max(size[body] for body in bodies[1:])
    return cut if grounded and arms >= whole // 2 else None


def _cost(part: int, whole: int, path: bool) -> tuple[int, bool, int]:
    """Depth first; on a chain, parts of 2^k bodies (many assemblies of one shape); then balance."""
    depth = max((part - 1).bit_length(), (whole - part - 1).bit_length())
    return depth, path and part & (part - 1) != 0, abs(whole - 2 * part)


def _middle(bodies: Sequence[int], parent: Sequence[int], size: dict[int, int]) -> int:
    """The body whose removal leaves parts of at most half the bodies."""
    return min((body for body in bodies if 2 * size[body] > len(bodies)), key=lambda body: size[body])


def _divide_core(
    bodies: Sequence[int],
    core: set[int],
    parent: Sequence[int],
    edges: Sequence[Edge],
    leaves: Sequence[Node],
) -> Node:
    """Assembly of a tree with loops: what hangs on the bodies between loops is folded into them first."""
    tops = [body for body in bodies if body not in core and parent[body] in core]
    hanging = defaultdict(list)
    for top, part in _split([b for b in bodies if b not in core], parent, tops).items():
        arm = _divide_tree(part, parent, edges, leaves, len(part).bit_length() - 1)
        hanging[parent[top]].append(arm)
    nodes = {}
    for body in (body for body in bodies if body in core):
        arms = hanging.get(body)
        node = join([leaves[body], *arms], hub=True) if arms else leaves[body]
        nodes[body] = close_ground(node, edges)
    return _divide_loops([body for body in bodies if body in core], parent, nodes)


def _divide_loops(bodies: list[int], parent: Sequence[int], nodes: dict[int, Node]) -> Node:
    """Cut a connected part at its most balanced joint, again and again.

    Where one cut leaves a small part (a body with many children), several children are cut off at once.
    """
    if len(bodies) == 1:
        return nodes[bodies[0]]
    size, n, path = _sizes(bodies, parent), len(bodies), _is_path(bodies, parent)
    cuts = [min(bodies[1:], key=lambda body: _cost(size[body], n, path))]
    if 4 * min(size[cuts[0]], n - size[cuts[0]]) < n:
        middle = _middle(bodies, parent, size)
        children = [body for body in bodies[1:] if parent[body] == middle]
        cuts = sorted(children, key=lambda body: -size[body])[:MOST_CUTS]
    parts = _split(bodies, parent, [bodies[0], *cuts]).values()
    return join([_divide_loops(part, parent, nodes) for part in parts])
