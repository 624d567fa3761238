"""Topology of a mechanism: who hangs on whom, in which order to walk, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lftgen.errors import ModelError
from lftgen.mechanics.body import RigidBody
from lftgen.mechanics.joints import Joint
from lftgen.mechanics.loads import Action, Load, SpringDamper, actions_of, check_loads
from lftgen.mechanics.names import GROUND, unknown


@dataclass(frozen=True)
class Tree:
    """A rooted tree: every body hangs on one joint, the roots on the ground.

    Attributes
    ----------
    joints : tuple of Joint
        As the user gave them: the order of states.
    outward : tuple of Joint
        Parents before children.
    actions : tuple of Action
        Loads on ports.
    """

    bodies: dict[str, RigidBody]
    joints: tuple[Joint, ...]
    outward: tuple[Joint, ...]
    actions: tuple[Action, ...] = ()

    @property
    def springs(self) -> tuple[SpringDamper, ...]:
        """Springs and dampers between ports."""
        return tuple(a.load for a in self.actions if a.sign > 0 and isinstance(a.load, SpringDamper))

    def actions_on(self, body: str) -> tuple[Action, ...]:
        """Loads that act on a body."""
        return tuple(a for a in self.actions if a.body == body)

    def joint_to(self, body: str) -> Joint:
        """The joint that carries a body."""
        return next(j for j in self.joints if j.child == body)

    def joints_on(self, body: str) -> tuple[Joint, ...]:
        """Joints whose parent is the body (or the ground)."""
        return tuple(j for j in self.joints if j.parent == body)

    def beyond(self, joint: Joint) -> tuple[str, ...]:
        """Bodies that move with a joint."""
        out = [joint.child]
        for body in out:
            out += [j.child for j in self.joints_on(body)]
        return tuple(out)


def build_tree(
    bodies: Sequence[RigidBody], joints: Sequence[Joint], loads: Sequence[Load | SpringDamper] = ()
) -> Tree:
    """Check the topology and find the order.

    Raises
    ------
    ModelError
        Duplicate or unknown names, two parents, a body without joint, no joint on the ground, a loop, or a massless
        subtree beyond a moving joint; always by name.
    """
    _unique([b.name for b in bodies], "body")
    _unique([j.name for j in joints], "joint")
    both = sorted({b.name for b in bodies} & {j.name for j in joints})
    if both:
        raise ModelError(
            f"{', '.join(both)} names a body and a joint; their signals would be confused, rename one of them"
        )
    known = {b.name: b for b in bodies}
    carried: dict[str, Joint] = {}
    for j in joints:
        for end in (j.parent, j.child):
            if end != GROUND and end not in known:
                raise unknown(end, [*known, *([GROUND] * (end == j.parent))], f"body (in joint {j.name})")
        if j.child in carried:
            raise ModelError(
                f"body {j.child} has two parents, through joints {carried[j.child].name} and {j.name}; a mechanism must be a tree "
                "(closed loops are not supported here)"
            )
        carried[j.child] = j
    if joints and not any(j.parent == GROUND for j in joints):
        loop = _loop(joints)
        raise ModelError(
            f'no joint has parent "{GROUND}": one must connect the mechanism to the base (a FreeJoint where nothing holds it)'
            + (f"; joints {', '.join(loop)} form a loop" if loop else "")
        )
    loose = [b for b in known if b not in carried]
    if loose:
        raise ModelError(
            f"body {', '.join(loose)} hangs on no joint; add one whose child it is (a FixedJoint to weld it)"
        )
    check_loads(loads, known, [*known, *(j.name for j in joints)])
    tree = Tree(known, tuple(joints), tuple(_outward(joints)), actions_of(loads, known))
    if len(tree.outward) < len(joints):
        stuck = [j.name for j in joints if j not in tree.outward]
        raise ModelError(f"joints {', '.join(stuck)} form a loop that never reaches the ground")
    _check_masses(tree)
    return tree


def _outward(joints: Sequence[Joint]) -> list[Joint]:
    order = [j for j in joints if j.parent == GROUND]
    for joint in order:
        order += [j for j in joints if j.parent == joint.child]
    return order


def _loop(joints: Sequence[Joint]) -> list[str]:
    """Names of joints that form a closed loop, if the first bodies lead to one."""
    by_child = {j.child: j for j in joints}
    path: list[Joint] = [joints[0]]
    while path[-1].parent in by_child:
        above = by_child[path[-1].parent]
        if above in path:
            return [j.name for j in path[path.index(above) :]]
        path.append(above)
    return []


def _check_masses(tree: Tree) -> None:
    for joint in tree.joints:
        inertia_of_its_own = not (
            joint.armature_matrix().is_zero_matrix and joint.carried_inertia().is_zero_matrix
        )
        beyond = tree.beyond(joint)
        if joint.dof and not inertia_of_its_own and all(tree.bodies[b].is_massless for b in beyond):
            raise ModelError(
                f"beyond the moving joint {joint.name} there is no mass at all (bodies {', '.join(beyond)}): its "
                "acceleration is undefined; give one of them a mass, or fix the joint"
            )


def _unique(names: Sequence[str], what: str) -> None:
    twice = sorted({n for n in names if names.count(n) > 1})
    if twice:
        raise ModelError(f"{what} name {', '.join(twice)} occurs twice; names must be unique")
