"""Readers of models, loaded where they are used so that ``import lftgen`` stays quick."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lftgen.interop.model_file import ModelFile
    from lftgen.interop.urdf_mechanism import ImportedMechanism


def read_model(path: str | Path) -> ModelFile:
    """Read a YAML model file: see :func:`lftgen.interop.model_file.read_model` and ``docs/model_file.md``.

    Raises
    ------
    ModelError, ParameterError
        With file, line and field.
    """
    from lftgen.interop.model_file import read_model as read

    return read(path)


def read_urdf(
    path: str | Path,
    *,
    uncertain: Mapping[str, Any] | None = None,
    scheduled: Any = None,
    ranges: Mapping[str, Any] | None = None,
    positions: Mapping[str, Any] | None = None,
    locked: Any = (),
    mimic: str = "refuse",
    base: str = "fixed",
    payloads: Mapping[str, Any] | None = None,
    passive: Sequence[str] = (),
    gravity: Any = None,
    acceleration: Any = (0, 0, 0),
    loads: Sequence[Any] = (),
    angle_unit: str = "rad",
    snap: float = 5e-10,
    unphysical: str = "refuse",
    name: str | None = None,
) -> ImportedMechanism:
    """Read a URDF robot file as a mechanism, see ``docs/urdf.md``.

    Parameters
    ----------
    path : str or Path
        Names below are those of the file.
    uncertain : mapping
        ``"LINK.mass"``, ``"LINK.com_x"`` (link axes, m), ``"LINK.ixx"`` ... ``"LINK.iyz"`` (axes of the inertial frame,
        kg m2), ``"JOINT.damping"``, ``"JOINT.armature"`` to ``"20%"``, ``(lower, upper)``, a Parameter or an expression; a
        number replaces the file's.
    scheduled : "all", list of joints, mapping, or None
        Joints whose coordinate is a scheduling parameter, over the joint's limits unless ``ranges`` or the mapping says
        otherwise: ``{"J3": (-1, 1)}``, ``{"J3": {"bounds": (-60, 60), "unit": "deg", "chart": "quarter"}}``, or a Parameter.
    ranges : mapping of joint to (lower, upper)
        In rad or m, instead of the limits; a continuous joint has none.
    positions : mapping of joint to value
        Where joints stand, rad or m: the nominal of scheduled ones.  Without it zero, or the middle of limits that exclude
        zero.  ``(angle, x, y)`` for planar, ``(x, y, z, roll, pitch, yaw)`` for floating joints and ``"floating_base"``.
    locked : list of joints, or mapping to a position
        Joints that are held: their links become one body.
    mimic : {"refuse", "lock", "independent"}
        What becomes of a joint that follows another.
    base : {"fixed", "free"}
        Whether the root link is the ground or floats on a :class:`FreeJoint` named ``floating_base``.
    payloads : mapping of link to a mass, (lower, upper), (mass, point) or RigidBody
        Welded to the frame of the link; a range makes the uncertain parameter ``payload``.
    passive : list of joints
        Without motor.
    gravity, acceleration, loads
        As for :class:`Mechanism`; gravity is (0, 0, -9.81) unless given.
    angle_unit : {"rad", "deg"}
        In which scheduled angles are spoken.
    snap : float
        Angles that miss a multiple of 90 degrees by less are read as that multiple, rad.
    unphysical : {"refuse", "repair"}
        What becomes of an inertia that no body has; repaired ones are warned of.
    name : str, optional
        Instead of the robot's.

    Returns
    -------
    ImportedMechanism
        A :class:`Mechanism` with ``report``: merged links, changed names, ranges, and what was left aside.

    Raises
    ------
    ModelError
        What is wrong in the file: file, line, element, what was expected and what came.
    ParameterError
        A name that is not in the file, or a range that is missing or wrong.

    Warns
    -----
    ModelWarning
        Dry friction, limits of a continuous joint, an inertia that no body has (welded or repaired).

    Examples
    --------
    >>> import lftgen as lg, tempfile, pathlib
    >>> text = '''<robot name="pendulum"><link name="base"/><link name="bob"><inertial><origin xyz="0 0 -1"/>
    ... <mass value="2"/></inertial></link><joint name="hinge" type="revolute"><parent link="base"/><child link="bob"/>
    ... <axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="9" velocity="9"/></joint></robot>'''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "pendulum.urdf"
    ...     _ = path.write_text(text)
    ...     pendulum = lg.read_urdf(path, scheduled="all", uncertain={"bob.mass": "10%"})
    >>> [p.name for p in pendulum.parameters]
    ['bob_mass', 'hinge']
    """
    from lftgen.interop.urdf import read_urdf as read
    from lftgen.interop.urdf_options import ImportOptions

    options = ImportOptions(
        uncertain=uncertain or {}, scheduled=scheduled, ranges=ranges or {}, positions=positions or {}, locked=locked,
        mimic=mimic, base=base, payloads=payloads or {}, passive=tuple([passive] if isinstance(passive, str) else passive),
        gravity=gravity, acceleration=acceleration, loads=loads, angle_unit=angle_unit, snap=snap,
        unphysical=unphysical, name=name,
    )  # fmt: skip
    return read(path, options)


def read_mjcf(
    path: str | Path,
    *,
    uncertain: Mapping[str, Any] | None = None,
    scheduled: Any = None,
    ranges: Mapping[str, Any] | None = None,
    positions: Mapping[str, Any] | None = None,
    locked: Any = (),
    mimic: str = "refuse",
    payloads: Mapping[str, Any] | None = None,
    passive: Sequence[str] = (),
    gravity: Any = None,
    acceleration: Any = (0, 0, 0),
    loads: Sequence[Any] = (),
    angle_unit: str = "rad",
    snap: float = 5e-10,
    unphysical: str = "refuse",
    name: str | None = None,
) -> ImportedMechanism:
    """Read an MJCF robot file as a mechanism, through the model that the ``mujoco`` package compiles.

    Parameters
    ----------
    path : str or Path
        Names of links, joints and sites are those of the file; what has no name there is ``body_3``, ``joint_0``.
    uncertain, scheduled, ranges, positions, locked, payloads, passive, acceleration, loads, angle_unit, snap, unphysical, name
        As for :func:`read_urdf`.  Positions are MuJoCo's: a joint's ``ref`` is where it stands by default.  Inertia entries
        are along the principal axes that the compiler finds (``ixx``, ``iyy``, ``izz``).
    mimic : {"refuse", "lock", "independent"}
        What becomes of a joint that a linear equality couples to another.
    gravity : 3 quantities
        Instead of the file's.

    Returns
    -------
    ImportedMechanism
        With ``report``.  The frame of a link stands at the anchor of its last joint; several joints of one body become a chain
        of massless links; sites become ports.

    Raises
    ------
    ModelError
        A file that MuJoCo does not compile, and what a tree of rigid bodies cannot hold, by name: loops (connect, weld),
        springs of tendons, flexible bodies, gravity compensation.
    MissingDependencyError
        Without the package ``mujoco``.

    Warns
    -----
    ModelWarning
        Dry friction.

    Examples
    --------
    >>> import lftgen as lg, tempfile, pathlib
    >>> text = '''<mujoco model="pendulum"><worldbody><body name="bob"><joint name="hinge" axis="0 1 0" range="-60 60"/>
    ... <geom type="sphere" size="0.1" pos="0 0 -1"/></body></worldbody></mujoco>'''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "pendulum.xml"
    ...     _ = path.write_text(text)
    ...     pendulum = lg.read_mjcf(path, scheduled="all", angle_unit="deg")
    >>> pendulum.parameters[0].bounds
    (-60.0, 60.0)
    """
    from lftgen.interop.mjcf import read_mjcf as read
    from lftgen.interop.urdf_options import ImportOptions

    options = ImportOptions(
        uncertain=uncertain or {}, scheduled=scheduled, ranges=ranges or {}, positions=positions or {}, locked=locked,
        mimic=mimic, payloads=payloads or {}, passive=tuple([passive] if isinstance(passive, str) else passive),
        gravity=gravity, acceleration=acceleration, loads=loads, angle_unit=angle_unit, snap=snap,
        unphysical=unphysical, name=name,
    )  # fmt: skip
    return read(path, options)
