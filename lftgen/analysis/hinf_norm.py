"""The H-infinity norm where the analyses look for it; it lives beside the LFT, whose grids ask for it as well."""

from lftgen.lft.hinf_norm import gains, hinf_norm, linf_norm

__all__ = ["gains", "hinf_norm", "linf_norm"]
