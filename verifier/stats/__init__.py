"""Statistics: contrasts, e-processes and the growth rule. Names load when they are used."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from verifier.stats.bound import BoundFinding
    from verifier.stats.bound_rule import BoundAnswer, BoundRule
    from verifier.stats.classical import classical_fits
    from verifier.stats.contrasts import contrasts
    from verifier.stats.growth import evaluate, precheck
    from verifier.stats.growth_rule import GrowthAnswer, GrowthRule, decide
    from verifier.stats.growth_stages import evaluate_stages
    from verifier.stats.growth_statistics import GrowthFinding, GrowthStatistics
    from verifier.stats.plan import GrowthPlan, growth_plan
    from verifier.stats.power import Power, needed_replicates, power, slope_test_misses
    from verifier.stats.rate_rule import RateRule
    from verifier.stats.rules import RULES

_HOME = {
    "BoundAnswer": "bound_rule",
    "BoundFinding": "bound",
    "BoundRule": "bound_rule",
    "GrowthAnswer": "growth_rule",
    "GrowthFinding": "growth_statistics",
    "GrowthPlan": "plan",
    "GrowthRule": "growth_rule",
    "GrowthStatistics": "growth_statistics",
    "Power": "power",
    "RULES": "rules",
    "RateRule": "rate_rule",
    "classical_fits": "classical",
    "contrasts": "contrasts",
    "decide": "growth_rule",
    "evaluate": "growth",
    "evaluate_stages": "growth_stages",
    "growth_plan": "plan",
    "needed_replicates": "power",
    "power": "power",
    "precheck": "growth",
    "slope_test_misses": "power",
}

__all__ = [
    "RULES",
    "BoundAnswer",
    "BoundFinding",
    "BoundRule",
    "GrowthAnswer",
    "GrowthFinding",
    "GrowthPlan",
    "GrowthRule",
    "GrowthStatistics",
    "Power",
    "RateRule",
    "classical_fits",
    "contrasts",
    "decide",
    "evaluate",
    "evaluate_stages",
    "growth_plan",
    "needed_replicates",
    "power",
    "precheck",
    "slope_test_misses",
]


def __getattr__(name: str) -> Any:
    """Imports a public name from the module it lives in."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
