"""The tests and fits that a reader would expect, by scipy and statsmodels, beside a rule's answer; never decisive."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from verifier.cli.stats_flags import replicate_values
from verifier.cli.stats_samples import Sample
from verifier.model.errors import BadInput, MissingExtra
from verifier.stats.bounded_design import CountRule, ProportionRule
from verifier.stats.classical import classical_fits
from verifier.stats.growth_rule import GrowthRule
from verifier.stats.rate_rule import RateRule


def classical(rule: Any, data: Sample) -> Mapping[str, Any]:
    """Name of a test → its numbers; under "none" the reason why there is none. Imports scipy.stats, statsmodels.

    growth, rate: least squares on the law, weighted and with HC3 errors. difference, ratio: the t test of c and of a on
    one number a replicate (Welch's where the arms are not paired). proportion: exact binomial tests and Clopper and
    Pearson's interval. count: hypergeometric tails at c and at a.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a warning about few values is no answer to anybody
            return _fits(rule, data)
    except BadInput as error:
        return {"none": error.sentence}
    except ModuleNotFoundError as error:
        raise MissingExtra("statsmodels") from error


def _fits(rule: Any, data: Sample) -> Mapping[str, Any]:
    if isinstance(rule, GrowthRule):
        return classical_fits(data.scales, data.left, law=rule.law)
    if isinstance(rule, RateRule):
        if not (data.left > 0).all():
            raise BadInput("a value is not above zero, so it has no logarithm")
        from verifier.stats.rate import log_residue

        return classical_fits(data.scales, log_residue(rule, data.scales, data.left))
    if not data.n:
        raise BadInput("no replicate is complete")
    if isinstance(rule, ProportionRule):
        return _binomial(rule, successes=int(data.left.sum()), n=data.n)
    if isinstance(rule, CountRule):
        return _hypergeometric(rule, found=int(data.left.sum()), n=data.n)
    return _t_tests(rule, data)


def _t_tests(rule: Any, data: Sample) -> Mapping[str, Any]:
    from scipy import stats

    values = replicate_values(rule, data)
    if values is None or not np.ptp(values) > 0:
        raise BadInput("there are fewer than two replicates, or they do not vary")
    sign = 1.0 if rule.better == "higher" else -1.0
    a, _, c = rule.nulls
    if rule.noise == "paired" or data.right is None:
        below, above = (
            stats.ttest_1samp(sign * values, null, alternative=side) for null, side in ((c, "less"), (a, "greater"))
        )
        name = "t_test"
    else:
        first, second = (_one_each(x, log=rule.kind == "ratio") for x in (data.left, data.right))
        pooled = rule.noise == "pooled"
        below, above = (
            stats.ttest_ind(sign * first - null, sign * second, equal_var=pooled, alternative=side)
            for null, side in ((c, "less"), (a, "greater"))
        )
        name = "student_t_test" if pooled else "welch_t_test"
    interval = (
        stats.ttest_1samp(sign * values, 0.0).confidence_interval(0.95)
        if name == "t_test"
        else stats.ttest_ind(sign * first, sign * second, equal_var=name == "student_t_test").confidence_interval(0.95)
    )
    return {
        name: {
            "p_less_than_claimed": float(below.pvalue),
            "p_more_than_alleged": float(above.pvalue),
            "df": float(below.df),
            "interval_fixed_n": [float(interval.low), float(interval.high)],
        }
    }


def _one_each(values: Any, *, log: bool) -> Any:
    x = values if values.ndim == 1 else values.mean(axis=1)
    return np.log(x) if log else x


def _binomial(rule: ProportionRule, *, successes: int, n: int) -> Mapping[str, Any]:
    from scipy import stats
    from statsmodels.stats.proportion import proportion_confint

    a, _, c = rule.nulls
    low, high = proportion_confint(successes, n, method="beta")
    return {
        "binomial_test": {
            "p_less_than_claimed": float(stats.binomtest(successes, n, c, alternative="less").pvalue),
            "p_more_than_alleged": float(stats.binomtest(successes, n, a, alternative="greater").pvalue),
        },
        "clopper_pearson": {"low": float(low), "high": float(high)},
    }


def _hypergeometric(rule: CountRule, *, found: int, n: int) -> Mapping[str, Any]:
    from math import ceil, floor

    from scipy import stats

    have_claimed, have_alleged = ceil(rule.claimed * rule.size), floor(rule.alleged * rule.size)
    return {
        "hypergeometric_test": {
            "p_less_than_claimed": float(stats.hypergeom.cdf(found, rule.size, have_claimed, n)),
            "p_more_than_alleged": float(stats.hypergeom.sf(found - 1, rule.size, have_alleged, n)),
        }
    }
