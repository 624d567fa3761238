"""Numeric rigid-body dynamics, an independent oracle built from raw numbers (RBDA, chapter 7)."""

from lftgen.rigidbody.channels import (
    BaseAcceleration,
    JointAcceleration,
    JointForce,
    JointPosition,
    JointRate,
    JointWrench,
    PortForce,
    PortOutput,
)
from lftgen.rigidbody.closed import (
    ClosedResult,
    closed_equilibrium,
    closed_forward_dynamics,
    closed_linearize,
)
from lftgen.rigidbody.complex_step import DynamicsDerivatives, complex_step_derivatives
from lftgen.rigidbody.composite import bias_force, mass_matrix
from lftgen.rigidbody.compositions import chain_of_joints
from lftgen.rigidbody.derivatives import (
    forward_dynamics_derivatives,
    inverse_dynamics_derivatives,
)
from lftgen.rigidbody.divide import DivideAndConquer, DivideResult, divide_and_conquer
from lftgen.rigidbody.elements import Body, Joint, Load
from lftgen.rigidbody.forward import forward_dynamics
from lftgen.rigidbody.group_assembly import Undetermined
from lftgen.rigidbody.handles import ArticulatedInertia, ArticulatedMobility
from lftgen.rigidbody.inverse import Equilibrium, equilibrium, inverse_dynamics
from lftgen.rigidbody.kinematics import Kinematics, jacobian, kinematics
from lftgen.rigidbody.linearization import StateSpaceArrays, linearize
from lftgen.rigidbody.loops import ClosedModel, LoopJoint
from lftgen.rigidbody.model import Model
from lftgen.rigidbody.posture import choose_independent, rate_map, solve_posture
from lftgen.rigidbody.projection import project
from lftgen.rigidbody.variants import forward_dynamics_by

__all__ = [
    "ArticulatedInertia",
    "ArticulatedMobility",
    "BaseAcceleration",
    "Body",
    "ClosedModel",
    "ClosedResult",
    "DivideAndConquer",
    "DivideResult",
    "DynamicsDerivatives",
    "Equilibrium",
    "Joint",
    "JointAcceleration",
    "JointForce",
    "JointPosition",
    "JointRate",
    "JointWrench",
    "Kinematics",
    "Load",
    "LoopJoint",
    "Model",
    "PortForce",
    "PortOutput",
    "StateSpaceArrays",
    "Undetermined",
    "bias_force",
    "chain_of_joints",
    "choose_independent",
    "closed_equilibrium",
    "closed_forward_dynamics",
    "closed_linearize",
    "complex_step_derivatives",
    "divide_and_conquer",
    "equilibrium",
    "forward_dynamics",
    "forward_dynamics_by",
    "forward_dynamics_derivatives",
    "inverse_dynamics",
    "inverse_dynamics_derivatives",
    "jacobian",
    "kinematics",
    "linearize",
    "mass_matrix",
    "project",
    "rate_map",
    "solve_posture",
]
