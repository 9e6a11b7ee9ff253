"""Statistics for disputes about numbers: one module a rule, and what is done with several findings.

    growth, rate                          does it grow? does it decay as claimed?
    difference, ratio, proportion, count  is it as large as claimed, or as small as alleged?
    bound                                 does it hold for every instance?

Each has `evaluate` (data → a frozen finding), `power` (effect → the probability of each outcome) and `needed` (effect →
the least design that decides). `RULES` reads a registered table into a rule. `teams`, `portfolio` and `heterogeneity`
take findings together; `betting`, `plan` and `flags` stand alone. Names load when they are used, and importing this
package loads nothing heavy.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from verifier.stats import (
        betting,
        bound,
        bounded,
        count,
        difference,
        flags,
        growth,
        heterogeneity,
        plan,
        portfolio,
        power,
        proportion,
        rate,
        ratio,
        teams,
    )
    from verifier.stats.betting import confidence_sequence
    from verifier.stats.bound import BoundFinding, Instance
    from verifier.stats.bound_rule import BoundAnswer, BoundRule
    from verifier.stats.bounded_design import BoundedRule, CountRule, ProportionRule
    from verifier.stats.classical import classical_fits
    from verifier.stats.critical import critical_t
    from verifier.stats.eprocess import log_mixture_e, log_t_e
    from verifier.stats.flags import Flag
    from verifier.stats.growth_rule import GrowthAnswer, GrowthRule
    from verifier.stats.growth_statistics import EValue, GrowthFinding, GrowthStatistics
    from verifier.stats.heterogeneity import Heterogeneity, separating_covariates
    from verifier.stats.heterogeneity import heterogeneity as random_effects
    from verifier.stats.margin_answers import MarginAnswer
    from verifier.stats.margin_design import DifferenceRule, RatioRule
    from verifier.stats.margin_statistics import Effect, MarginFinding, MarginPower, MarginStatistics
    from verifier.stats.mcnemar import exact_mcnemar
    from verifier.stats.normal_mixture import log_normal_mixture_e, normal_mixture_bound, normal_mixture_interval
    from verifier.stats.plan import GrowthPlan, growth_plan
    from verifier.stats.portfolio import Entry, Evidence, Portfolio, e_bh, e_bh_rates, holm
    from verifier.stats.power import Power, slope_test_misses
    from verifier.stats.proportion import clopper_pearson, proportion_interval
    from verifier.stats.rate_rule import RateRule
    from verifier.stats.rules import RULES
    from verifier.stats.run_csv import parse_runs, read_runs
    from verifier.stats.run_table import RunTable
    from verifier.stats.significance import anytime_sigma, p_to_e, sigma_from_t
    from verifier.stats.team_duplicates import without_duplicates
    from verifier.stats.teams import (
        Team,
        TeamAnswer,
        TeamFinding,
        log_average_e,
        log_partial_conjunction_e,
        log_product_e,
    )

_MODULES = frozenset(
    (
        "betting",
        "bound",
        "bounded",
        "count",
        "difference",
        "flags",
        "growth",
        "heterogeneity",
        "plan",
        "portfolio",
        "power",
        "proportion",
        "rate",
        "ratio",
        "teams",
    )
)

# no name here is a module's of this package: importing that module would put it in the name's place
_HOME = {
    "RULES": "rules",
    "BoundAnswer": "bound_rule",
    "BoundFinding": "bound",
    "BoundRule": "bound_rule",
    "BoundedRule": "bounded_design",
    "CountRule": "bounded_design",
    "DifferenceRule": "margin_design",
    "EValue": "growth_statistics",
    "Effect": "margin_statistics",
    "Entry": "portfolio",
    "Evidence": "portfolio",
    "Flag": "flags",
    "GrowthAnswer": "growth_rule",
    "GrowthFinding": "growth_statistics",
    "GrowthPlan": "plan",
    "GrowthRule": "growth_rule",
    "GrowthStatistics": "growth_statistics",
    "Heterogeneity": "heterogeneity",
    "Instance": "bound",
    "MarginAnswer": "margin_answers",
    "MarginFinding": "margin_statistics",
    "MarginPower": "margin_statistics",
    "MarginStatistics": "margin_statistics",
    "Portfolio": "portfolio",
    "Power": "power",
    "ProportionRule": "bounded_design",
    "RateRule": "rate_rule",
    "RatioRule": "margin_design",
    "RunTable": "run_table",
    "Team": "teams",
    "TeamAnswer": "teams",
    "TeamFinding": "teams",
    "anytime_sigma": "significance",
    "classical_fits": "classical",
    "clopper_pearson": "proportion",
    "confidence_sequence": "betting",
    "critical_t": "critical",
    "e_bh": "portfolio",
    "e_bh_rates": "portfolio",
    "exact_mcnemar": "mcnemar",
    "growth_plan": "plan",
    "holm": "portfolio",
    "log_average_e": "teams",
    "log_mixture_e": "eprocess",
    "log_normal_mixture_e": "normal_mixture",
    "log_partial_conjunction_e": "teams",
    "log_product_e": "teams",
    "log_t_e": "eprocess",
    "normal_mixture_bound": "normal_mixture",
    "normal_mixture_interval": "normal_mixture",
    "p_to_e": "significance",
    "parse_runs": "run_csv",
    "proportion_interval": "proportion",
    "random_effects": "heterogeneity",
    "read_runs": "run_csv",
    "separating_covariates": "heterogeneity",
    "sigma_from_t": "significance",
    "slope_test_misses": "power",
    "without_duplicates": "team_duplicates",
}
_CALLED = {"random_effects": "heterogeneity"}  # functions that are called otherwise where they live

__all__ = [
    "RULES",
    "BoundAnswer",
    "BoundFinding",
    "BoundRule",
    "BoundedRule",
    "CountRule",
    "DifferenceRule",
    "EValue",
    "Effect",
    "Entry",
    "Evidence",
    "Flag",
    "GrowthAnswer",
    "GrowthFinding",
    "GrowthPlan",
    "GrowthRule",
    "GrowthStatistics",
    "Heterogeneity",
    "Instance",
    "MarginAnswer",
    "MarginFinding",
    "MarginPower",
    "MarginStatistics",
    "Portfolio",
    "Power",
    "ProportionRule",
    "RateRule",
    "RatioRule",
    "RunTable",
    "Team",
    "TeamAnswer",
    "TeamFinding",
    "anytime_sigma",
    "betting",
    "bound",
    "bounded",
    "classical_fits",
    "clopper_pearson",
    "confidence_sequence",
    "count",
    "critical_t",
    "difference",
    "e_bh",
    "e_bh_rates",
    "exact_mcnemar",
    "flags",
    "growth",
    "growth_plan",
    "heterogeneity",
    "holm",
    "log_average_e",
    "log_mixture_e",
    "log_normal_mixture_e",
    "log_partial_conjunction_e",
    "log_product_e",
    "log_t_e",
    "normal_mixture_bound",
    "normal_mixture_interval",
    "p_to_e",
    "parse_runs",
    "plan",
    "portfolio",
    "power",
    "proportion",
    "proportion_interval",
    "random_effects",
    "rate",
    "ratio",
    "read_runs",
    "separating_covariates",
    "sigma_from_t",
    "slope_test_misses",
    "teams",
    "without_duplicates",
]


def __getattr__(name: str) -> Any:
    """Imports a public name from the module it lives in."""
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), _CALLED.get(name, name))
