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
from lftgen.rigidbody.composite import bias_force, mass_matrix
from lftgen.rigidbody.elements import Body, Joint, Load
from lftgen.rigidbody.forward import forward_dynamics
from lftgen.rigidbody.handles import ArticulatedInertia, ArticulatedMobility
from lftgen.rigidbody.inverse import Equilibrium, equilibrium, inverse_dynamics
from lftgen.rigidbody.kinematics import Kinematics, jacobian, kinematics
from lftgen.rigidbody.linearization import StateSpaceArrays, linearize
from lftgen.rigidbody.model import Model
from lftgen.rigidbody.projection import project
from lftgen.rigidbody.variants import forward_dynamics_by

__all__ = [
    "ArticulatedInertia",
    "ArticulatedMobility",
    "BaseAcceleration",
    "Body",
    "Equilibrium",
    "Joint",
    "JointAcceleration",
    "JointForce",
    "JointPosition",
    "JointRate",
    "JointWrench",
    "Kinematics",
    "Load",
    "Model",
    "PortForce",
    "PortOutput",
    "StateSpaceArrays",
    "bias_force",
    "equilibrium",
    "forward_dynamics",
    "forward_dynamics_by",
    "inverse_dynamics",
    "jacobian",
    "kinematics",
    "linearize",
    "mass_matrix",
    "project",
]
