"""Joint types, one file each with the same verbs (see :class:`lftgen.mechanics.joints.base.Joint`)."""

from lftgen.mechanics.joints.base import Joint
from lftgen.mechanics.joints.fixed import FixedJoint
from lftgen.mechanics.joints.revolute import RevoluteJoint

__all__ = ["FixedJoint", "Joint", "RevoluteJoint"]
