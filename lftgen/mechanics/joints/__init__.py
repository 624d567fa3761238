"""Joint types, one file each with the same verbs (see :class:`lftgen.mechanics.joints.base.Joint`)."""

from lftgen.mechanics.joints.base import Joint
from lftgen.mechanics.joints.cylindrical import CylindricalJoint
from lftgen.mechanics.joints.fixed import FixedJoint
from lftgen.mechanics.joints.free import FreeJoint
from lftgen.mechanics.joints.planar import PlanarJoint
from lftgen.mechanics.joints.prismatic import PrismaticJoint
from lftgen.mechanics.joints.revolute import RevoluteJoint
from lftgen.mechanics.joints.spherical import SphericalJoint
from lftgen.mechanics.joints.universal import UniversalJoint

__all__ = [
    "CylindricalJoint",
    "FixedJoint",
    "FreeJoint",
    "Joint",
    "PlanarJoint",
    "PrismaticJoint",
    "RevoluteJoint",
    "SphericalJoint",
    "UniversalJoint",
]
