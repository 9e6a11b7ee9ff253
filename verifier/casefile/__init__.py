"""case.toml -> Case."""

from verifier.casefile.case import Case, Probe
from verifier.casefile.load import load
from verifier.casefile.overrides import override

__all__ = ["Case", "Probe", "load", "override"]
