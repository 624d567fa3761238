"""Articulated-body LFTs: accelerations of some ports from wrenches on them (Featherstone, chapter 7, 7.1 and 7.5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sympy as sp

from lftgen.errors import ModelError
from lftgen.lft.algebra import (
    add,
    block_diag,
    exchange,
    hstack,
    multiply,
    negate,
    select,
    transpose,
    vstack,
)
from lftgen.lft.connect import renamed
from lftgen.lft.data import LFTData, declare
from lftgen.lft.model import LFT
from lftgen.lft.reduction.kalman import reduce
from lftgen.lft.structure import real_block
from lftgen.mechanics.assembly import Assembler, Request
from lftgen.mechanics.channels import input_channels, output_channels
from lftgen.mechanics.coefficients import realize_coefficient
from lftgen.mechanics.joints import Joint
from lftgen.mechanics.loads import find_port
from lftgen.mechanics.model import MechanismModel
from lftgen.mechanics.names import unknown
from lftgen.mechanics.signals import JointSignals
from lftgen.mechanics.spatial import XYZ, moved_motion, turned
from lftgen.mechanics.trim import Trim

_WRENCH = tuple(f"{k}_{c}" for k in ("torque", "force") for c in XYZ)
_MOTION = tuple(f"{k}_{c}" for k in ("angular_acceleration", "acceleration") for c in XYZ)


@dataclass(frozen=True, eq=False)
class Articulated:
    """What a mechanism is to those who hold it at some ports: ``a = Phi f + b`` (7.11), and its joints.

    Attributes
    ----------
    ports : tuple of str
        The handles, ``"B_P"``.
    affine : LFT
        From [1; wrenches on the handles; joint forces] to [accelerations of the handles; joint accelerations], at rest:
        inputs ``1``, ``B_P_torque_x..z, B_P_force_x..z``, ``J_torque`` ...; outputs ``B_P_angular_acceleration_x..z``,
        ``B_P_acceleration_x..z``, ``J_acceleration`` ...; port axes, accelerations specific (gravity as -g).
    """

    ports: tuple[str, ...]
    affine: LFT

    @property
    def channels(self) -> LFT:
        """The part that is linear in wrenches and joint forces: direct dynamics, port by port invertible."""
        return self.affine[:, 1:]

    @property
    def inverse_inertia(self) -> LFT:
        """The inverse articulated-body inertia Phi, symmetric and positive semi-definite, 6 rows and columns per handle."""
        return self.affine[self._rows(self.ports), self._columns(self.ports)].reduce()

    @property
    def bias(self) -> LFT:
        """Acceleration of the handles when nothing holds them: loads act, actuators give nothing; 6 rows per handle."""
        return self.affine[self._rows(self.ports), ["1"]].reduce()

    @staticmethod
    def _rows(ports: Sequence[str]) -> list[str]:
        return [f"{p}_{m}" for p in ports for m in _MOTION]

    @staticmethod
    def _columns(ports: Sequence[str]) -> list[str]:
        return [f"{p}_{w}" for p in ports for w in _WRENCH]

    def _places(self, port: str) -> tuple[list[int], list[int]]:
        """Where a handle's accelerations and wrench stand among outputs and inputs."""
        if port not in self.ports:
            raise unknown(port, self.ports, "handle")
        data = self.affine.data
        return [data.outputs.index(n) for n in self._rows([port])], [
            data.inputs.index(n) for n in self._columns([port])
        ]

    def inverted(self, port: str) -> LFT:
        """``affine`` with one handle driven: its acceleration an input, the wrench that this takes an output.

        Inputs and outputs of the handle change places, at no repetition more.

        Raises
        ------
        ModelError
            An unknown port.
        IllPosedError
            The handle has fewer than six degrees of freedom, so that not every acceleration is possible.
        """
        return LFT(
            exchange(
                self.affine.data, *self._places(port), f"the inverse inertia at {port} at the nominal values"
            )
        )

    def join(self, port: str, other: Articulated, other_port: str, joint: Joint) -> Articulated:
        """Both mechanisms with a handle of one connected to a handle of the other by a joint (7.63).

        Parameters
        ----------
        port, other_port : str
            The joint stands in the frame of ``port`` and carries the frame of ``other_port``.
        joint : joint
            With its placement, equilibrium position and degrees of freedom; its parent and child are not looked at.

        Returns
        -------
        Articulated
            With all handles of both, those that were joined included, and the joint's forces and accelerations.

        Raises
        ------
        IllPosedError
            The joint leaves a wrench undetermined (both handles are held).
        """
        (o_a, i_a), (o_b, i_b) = self._places(port), other._places(other_port)
        n_a, m_a = self.affine.shape
        full = _with_joint(self, other, joint, o_a, i_a, [n_a + i for i in o_b], [m_a - 1 + i for i in i_b])
        dof, n_y, n_u = joint.dof, n_a + other.affine.shape[0], m_a + other.affine.shape[1] - 1
        equations, unknowns = [*range(6 + dof)], [*range(6), *range(6 + n_u, 6 + n_u + dof)]
        solved = exchange(
            full, equations, unknowns, "the inverse inertia that the joint sees at the nominal values"
        )
        rows = [*range(6 + dof, 6 + dof + n_y), *range(6, 6 + dof)]
        data = reduce(select(solved, rows, [*range(6, 6 + n_u), *range(6 + n_u, 6 + n_u + dof)]))
        inputs = [*self.affine.inputs, *other.affine.inputs[1:], *joint.names(joint.forces)]
        outputs = [*self.affine.outputs, *other.affine.outputs, *joint.names(joint.accelerations)]
        return Articulated((*self.ports, *other.ports), LFT(renamed(data, inputs=inputs, outputs=outputs)))

    def __repr__(self) -> str:
        return f"Articulated body with handles {', '.join(self.ports)}: order {self.affine.order}"


def _with_joint(
    a: Articulated,
    b: Articulated,
    joint: Joint,
    o_a: Sequence[int],
    i_a: Sequence[int],
    o_b: Sequence[int],
    i_b: Sequence[int],
) -> LFTData:
    """[f; 1 and inputs; q''] -> [a_b - X a_a - S q''; S^T f; outputs], with f on b and -X^T f on a."""
    exact = a.affine.is_exact and b.affine.is_exact
    X = realize_coefficient(moved_motion(joint.child_position), exact=exact)
    for factor in joint.rotation_factors():
        X = multiply(realize_coefficient(turned(factor.T), exact=exact), X)
    S = joint.subspace()
    both = block_diag([_plain(a.affine.data, "a"), _plain(b.affine.data, "b")])
    n_y, n_u, m_a, dof = both.shape[0], both.shape[1] - 1, a.affine.shape[1], joint.dof
    ones = sp.zeros(n_u + 1, n_u)
    for k in range(m_a):
        ones[k, k] = 1
    ones[m_a, 0] = 1
    for k in range(m_a, n_u):
        ones[k + 1, k] = 1
    spread = [i + 1 for i in i_b]
    put = add(_ones(spread, n_u + 1, exact), multiply(_ones(i_a, n_u + 1, exact), negate(transpose(X))))
    zero = realize_coefficient(sp.zeros(n_u + 1, dof), exact=exact)
    right = hstack([_plain(put, "f"), _plain(realize_coefficient(ones, exact=exact), "u"), _plain(zero, "q")])
    read = add(transpose(_ones(o_b, n_y, exact)), negate(multiply(X, transpose(_ones(o_a, n_y, exact)))))
    zero = realize_coefficient(sp.zeros(dof, n_y), exact=exact)
    left = vstack(
        [_plain(read, "e"), _plain(zero, "t"), _plain(realize_coefficient(sp.eye(n_y), exact=exact), "y")]
    )
    direct = sp.zeros(6 + dof + n_y, 6 + n_u + dof)
    direct[:6, 6 + n_u :] = -S
    own = realize_coefficient(sp.Matrix(direct), exact=exact)
    reaction = _placed(realize_coefficient(S.T, exact=exact), 6 + dof + n_y, 6, 6 + n_u + dof, 0)
    total = add(multiply(left, multiply(both, right)), add(_plain(own, ""), _plain(reaction, "")))
    return _plain(total, "x")


def _plain(a: LFTData, tag: str) -> LFTData:
    """Names that clash with no other."""
    return renamed(
        a, inputs=[f"{tag}u{k}" for k in range(a.shape[1])], outputs=[f"{tag}y{k}" for k in range(a.shape[0])]
    )


def _ones(rows: Sequence[int], n: int, exact: bool) -> LFTData:
    """n x 6: ones that put the components of a vector into rows."""
    matrix = sp.zeros(n, len(rows))
    for k, i in enumerate(rows):
        matrix[i, k] = 1
    return realize_coefficient(matrix, exact=exact)


def _placed(block: LFTData, n: int, row: int, m: int, column: int) -> LFTData:
    """A block inside an n x m matrix of zeros."""
    exact = block.field.exact
    rows, columns = sp.zeros(n, block.shape[0]), sp.zeros(block.shape[1], m)
    for k in range(block.shape[0]):
        rows[row + k, k] = 1
    for k in range(block.shape[1]):
        columns[k, column + k] = 1
    return multiply(
        multiply(realize_coefficient(rows, exact=exact), block), realize_coefficient(columns, exact=exact)
    )


def articulated(mechanism: MechanismModel, ports: Sequence[str], trim: Trim) -> Articulated:
    """Articulated-body LFTs of a mechanism in the configuration of a trim (which need not balance)."""
    if isinstance(ports, str) or not ports or len(set(ports)) < len(ports):
        raise ModelError(f'ports must be a list of different port names such as ["B1_tip"], got {ports!r}')
    for port in ports:
        find_port(port, mechanism.tree.bodies, "the articulated body")
    inputs, outputs = input_channels(mechanism.tree), output_channels(mechanism.tree)
    read = [f"{p}_{k}_{c}" for p in ports for k in ("angular_acceleration", "specific_force") for c in XYZ]
    push = [f"{p}_{w}" for p in ports for w in _WRENCH]
    request = Request(tuple(inputs[n] for n in push), tuple(outputs[n] for n in read))
    joints = [j for j in mechanism.joints if j.dof]
    drives = [n for j in joints for n in JointSignals(j).drive.names]
    accelerations = [n for j in joints for n in j.names(j.accelerations)]
    dynamics = Assembler(mechanism.tree, trim, request, exact=trim.exact).inertial_dynamics()
    rows = [dynamics.outputs.index(n) for n in (*drives, *read)]
    whole = reduce(select(dynamics, rows, [dynamics.inputs.index(n) for n in (*accelerations, *push)]))
    k = range(len(drives))
    forward = exchange(whole, k, k, "the mass matrix at the nominal values")
    handles, wrenches = range(len(k), len(k) + len(read)), range(len(k), len(k) + len(push))
    ordered = reduce(select(forward, [*handles, *k], [*wrenches, *k]))
    bias = _bias(mechanism, ports, ordered, trim)
    names = [n for j in joints for n in j.names(j.forces)]
    data = hstack([renamed(bias, inputs=["1"]), renamed(ordered, inputs=[*push, *names])])
    data = renamed(reduce(data), outputs=[*(f"{p}_{m}" for p in ports for m in _MOTION), *accelerations])
    return Articulated(tuple(ports), LFT(declare(data, [real_block(p, 0) for p in mechanism.parameters])))


def _bias(mechanism: MechanismModel, ports: Sequence[str], channels: LFTData, trim: Trim) -> LFTData:
    """Specific acceleration of the configuration at the handles, and what the missing joint forces leave."""
    rows = []
    for i, port in enumerate(ports):
        body, name = find_port(port, mechanism.tree.bodies, "the articulated body")
        place = mechanism.tree.bodies[body].ports[name]
        moved = realize_coefficient(turned(place.rotation.T) * moved_motion(place.point), exact=trim.exact)
        rows.append(_plain(multiply(moved, trim.acceleration[body].data), f"{i}."))
    torques = [renamed(trim.torque[j.name].data, inputs=["1"]) for j in mechanism.joints if j.dof]
    dof = sum(t.shape[0] for t in torques)
    still = vstack(
        [
            *(renamed(r, inputs=["1"]) for r in rows),
            _plain(realize_coefficient(sp.zeros(dof, 1), exact=trim.exact), "q"),
        ]
    )
    if not torques:
        return still
    effect = select(channels, range(channels.shape[0]), range(channels.shape[1] - dof, channels.shape[1]))
    left = multiply(effect, vstack(torques))
    return reduce(add(renamed(still, inputs=["1"]), negate(renamed(left, inputs=["1"]))))
