"""lftgen: exact LFT/LPV models of multibody mechanisms around parameter-dependent equilibria.

Models are imported at once; analyses, exports, figures and reports when they are first used.
"""

from typing import TYPE_CHECKING

from lftgen.check import CheckReport, check
from lftgen.errors import (
    IllPosedError,
    LftgenError,
    LftgenWarning,
    MissingDependencyError,
    ModelError,
    ModelWarning,
    NotRationalError,
    ParameterError,
    ParameterWarning,
    ReductionError,
    TrimError,
)
from lftgen.interop.lft_file import load, save
from lftgen.interop.readers import read_mjcf, read_model, read_urdf
from lftgen.lft.build import (
    block_diag,
    complex_scalar,
    connect,
    full_block,
    hstack,
    realize,
    ss,
    uncertain_dynamics,
    upper_lft,
    vstack,
)
from lftgen.lft.control_door import feedback, from_control
from lftgen.lft.delta_structure import DeltaStructure
from lftgen.lft.model import LFT
from lftgen.mechanics.articulated import Articulated
from lftgen.mechanics.body import RigidBody
from lftgen.mechanics.joints import (
    CylindricalJoint,
    FixedJoint,
    FreeJoint,
    PlanarJoint,
    PrismaticJoint,
    RevoluteJoint,
    SphericalJoint,
    UniversalJoint,
)
from lftgen.mechanics.loads import DeadLoad, FollowerLoad, SpringDamper
from lftgen.mechanics.mechanism import Mechanism
from lftgen.mechanics.rotor import Rotor
from lftgen.parameters import Parameter, scheduled, scheduled_angle, uncertain
from lftgen.simulation import Simulation, lpv_system, simulate

if TYPE_CHECKING:
    from lftgen import plotting
    from lftgen.analysis.design.design import design
    from lftgen.analysis.design.requirements import Requirement
    from lftgen.analysis.design.results import DesignResult
    from lftgen.analysis.design.tunable import TunableGain, TunablePID, TunableStateSpace, TunableSurface
    from lftgen.analysis.generalized_plant import GeneralizedPlant, generalized_plant
    from lftgen.analysis.influence import Influence, gain_sensitivity, influence
    from lftgen.analysis.lpv.synthesis import LPVController, lpv_synthesis
    from lftgen.analysis.mu.bounds import MuBounds, mu
    from lftgen.analysis.robustness import RobustStability, WorstCaseGain, robust_stability, worst_case_gain
    from lftgen.analysis.synthesis.hinf import HinfController, hinfsyn
    from lftgen.analysis.synthesis.mixsyn import mixsyn
    from lftgen.interop.export import export
    from lftgen.interop.grid_files import read_grid, write_grid
    from lftgen.interop.julia import to_julia
    from lftgen.interop.lpvss import to_lpvss
    from lftgen.interop.matlab import to_matlab
    from lftgen.report.page import write_report

_LATER = {
    "DesignResult": "lftgen.analysis.design.results",
    "GeneralizedPlant": "lftgen.analysis.generalized_plant",
    "HinfController": "lftgen.analysis.synthesis.hinf",
    "Influence": "lftgen.analysis.influence",
    "LPVController": "lftgen.analysis.lpv.synthesis",
    "MuBounds": "lftgen.analysis.mu.bounds",
    "Requirement": "lftgen.analysis.design.requirements",
    "RobustStability": "lftgen.analysis.robustness",
    "TunableGain": "lftgen.analysis.design.tunable",
    "TunablePID": "lftgen.analysis.design.tunable",
    "TunableStateSpace": "lftgen.analysis.design.tunable",
    "TunableSurface": "lftgen.analysis.design.tunable",
    "WorstCaseGain": "lftgen.analysis.robustness",
    "design": "lftgen.analysis.design.design",
    "export": "lftgen.interop.export",
    "gain_sensitivity": "lftgen.analysis.influence",
    "generalized_plant": "lftgen.analysis.generalized_plant",
    "hinfsyn": "lftgen.analysis.synthesis.hinf",
    "influence": "lftgen.analysis.influence",
    "lpv_synthesis": "lftgen.analysis.lpv.synthesis",
    "mixsyn": "lftgen.analysis.synthesis.mixsyn",
    "mu": "lftgen.analysis.mu.bounds",
    "plotting": "lftgen.plotting",
    "read_grid": "lftgen.interop.grid_files",
    "robust_stability": "lftgen.analysis.robustness",
    "to_julia": "lftgen.interop.julia",
    "to_lpvss": "lftgen.interop.lpvss",
    "to_matlab": "lftgen.interop.matlab",
    "worst_case_gain": "lftgen.analysis.robustness",
    "write_grid": "lftgen.interop.grid_files",
    "write_report": "lftgen.report.page",
}
"""Where the names live that are imported when they are first used."""

__all__ = [
    "LFT",
    "Articulated",
    "CheckReport",
    "CylindricalJoint",
    "DeadLoad",
    "DeltaStructure",
    "DesignResult",
    "FixedJoint",
    "FollowerLoad",
    "FreeJoint",
    "GeneralizedPlant",
    "HinfController",
    "IllPosedError",
    "Influence",
    "LPVController",
    "LftgenError",
    "LftgenWarning",
    "Mechanism",
    "MissingDependencyError",
    "ModelError",
    "ModelWarning",
    "MuBounds",
    "NotRationalError",
    "Parameter",
    "ParameterError",
    "ParameterWarning",
    "PlanarJoint",
    "PrismaticJoint",
    "ReductionError",
    "Requirement",
    "RevoluteJoint",
    "RigidBody",
    "RobustStability",
    "Rotor",
    "Simulation",
    "SphericalJoint",
    "SpringDamper",
    "TrimError",
    "TunableGain",
    "TunablePID",
    "TunableStateSpace",
    "TunableSurface",
    "UniversalJoint",
    "WorstCaseGain",
    "block_diag",
    "check",
    "complex_scalar",
    "connect",
    "design",
    "export",
    "feedback",
    "from_control",
    "full_block",
    "gain_sensitivity",
    "generalized_plant",
    "hinfsyn",
    "hstack",
    "influence",
    "load",
    "lpv_synthesis",
    "lpv_system",
    "mixsyn",
    "mu",
    "plotting",
    "read_grid",
    "read_mjcf",
    "read_model",
    "read_urdf",
    "realize",
    "robust_stability",
    "save",
    "scheduled",
    "scheduled_angle",
    "simulate",
    "ss",
    "to_julia",
    "to_lpvss",
    "to_matlab",
    "uncertain",
    "uncertain_dynamics",
    "upper_lft",
    "vstack",
    "worst_case_gain",
    "write_grid",
    "write_report",
]


def __getattr__(name: str) -> object:
    """A name of ``_LATER``, imported now."""
    if name not in _LATER:
        raise AttributeError(f"module 'lftgen' has no attribute {name!r}")
    import importlib

    module = importlib.import_module(_LATER[name])
    value = module if name == "plotting" else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """All public names."""
    return sorted({*globals(), *_LATER})
