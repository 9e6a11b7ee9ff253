"""The growth rule applied: from replicate means at the registered looks to an answer.

The table itself is `growth_rule.decide`; the sentences are in `growth_sentences`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from verifier.model.errors import BadInput
from verifier.model.results import Adequacy
from verifier.stats import adequacy as horizon
from verifier.stats import growth_sentences as sentences
from verifier.stats.contrasts import contrasts, l1_norm
from verifier.stats.critical import log_threshold, sd_upper_bound
from verifier.stats.extrapolation import not_applied
from verifier.stats.growth_evidence import Estimates, LogEvidence, contrast_estimates, log_evidence, log_law_evidence
from verifier.stats.growth_gates import extrapolation_gate, misfit_gate, no_variance
from verifier.stats.growth_rule import HALF_BAR, LEAST_SCALES, GrowthAnswer, GrowthRule, decide
from verifier.stats.growth_statistics import (
    ExtrapolationStatistic,
    GrowthFinding,
    GrowthStatistics,
    LogLawStatistic,
    MisfitStatistic,
    SoFar,
    e_value,
    slope,
)
from verifier.stats.law_names import is_fast
from verifier.stats.laws import Floats, scale_array
from verifier.stats.power import needed_replicates as needed
from verifier.stats.power import power
from verifier.stats.significance import anytime_sigma

__all__ = ["Design", "evaluate", "evidence_facts", "finding", "needed", "power", "precheck", "reproduces", "so_far"]


@dataclass(frozen=True, kw_only=True)
class Design:
    """What surrounds the data of one evaluation: the scales run, the claim's scale and what is known besides."""

    rule: GrowthRule
    scales: tuple[int, ...]
    claim_scale: int
    registered: tuple[int, ...]
    discount: float
    planned_sd: Mapping[int, float]
    axis: str

    @property
    def reaches_claim(self) -> bool:
        """Whether K ≥ K_claim."""
        return self.scales[-1] >= self.claim_scale


def evaluate(
    rule: GrowthRule,
    *,
    scales: Sequence[int],
    values: Floats,
    claim_scale: int,
    discount: float,
    last: bool,
    planned_sd: Mapping[int, float] | None = None,
    registered_scales: Sequence[int] | None = None,
    stopped_at: int | None = None,
    shared_seeds: bool = False,
    axis: str = "k",
) -> GrowthFinding:
    """The rule's finding at the look n = values.shape[1], recomputed from the prefix of every earlier look.

    scales: the m scales run, increasing. values: (m, n) replicate means, baseline subtracted. claim_scale: K_claim.
    discount: 6/(π² l²) of the l-th registration. last: no further look follows. planned_sd: per scale, of one
    replicate, for scales that were not run. registered_scales: the grid that `needed` speaks of (default: scales).
    stopped_at: the look of the registered stop where data go on beyond it. shared_seeds: one stream drives all scales
    of a replicate. axis: the name of the scale in `needed`.

    `answer` is the first row of the table that applies at this look. `stops` says whether it ends the run: only the
    two decided answers do before the last look, and too few scales, which no data can mend.

    Raises BadInput for scales that do not increase, a shape that does not fit, values that are not finite, an n that
    is no registered look.
    """
    design = Design(
        rule=rule,
        scales=tuple(scales),
        claim_scale=claim_scale,
        registered=tuple(scales if registered_scales is None else registered_scales),
        discount=discount,
        planned_sd=planned_sd or {},
        axis=axis,
    )
    values = np.asarray(values, dtype=float)
    if len(scales) < LEAST_SCALES:
        return _too_few_scales(design, values)
    looks = _check(design, values)
    estimates = contrast_estimates(rule, scales, values, looks)
    evidence = log_evidence(rule, estimates)
    stuck = no_variance(rule, scales, values)
    # without variance there is nothing to weigh means by
    fit = None if stuck else misfit_gate(rule, scales, values, shared_seeds=shared_seeds)
    prediction = not_applied("replicates do not vary") if stuck else extrapolation_gate(rule, scales, values)
    adequate = _adequacy(design, values, estimates)
    answer = decide(
        too_few_scales=False,
        no_variance=bool(stuck),
        misfit=fit is not None and fit.found,
        extrapolates=prediction.holds,
        reaches_claim=design.reaches_claim,
        fast_law=is_fast(rule.law),
        adequate=adequate.adequate,
        **evidence_facts(rule, evidence, look=-1, n=looks[-1], discount=discount),
    )
    early = answer.outcome.decided and not last
    inflation = 1.0 if fit is None else fit.inflation
    stop = looks.index(stopped_at) if stopped_at is not None else len(looks) - 1 if early or last else None
    cone, up, full = (
        slope(path, floor=floor, inflation=inflation)
        for path, floor in zip((estimates.cone, estimates.up, estimates.full), estimates.floors, strict=True)
    )
    statistics = GrowthStatistics(
        n=looks[-1],
        looks_made=looks,
        stopped_by="decision" if early or stopped_at is not None else "maximum-n" if last else None,
        discount=discount,
        slope_cone=cone,
        slope_up=up,
        slope_full=full,
        e_grow=e_value(evidence.grow, at_stop=stop),
        e_flat=e_value(evidence.flat, at_stop=stop),
        e_half=e_value(evidence.half, at_stop=stop),
        sigma_anytime=anytime_sigma(float(evidence.grow.max())),
        sigma_discounted=anytime_sigma(float(evidence.grow.max()) + math.log(discount)),
        misfit=None if fit is None else MisfitStatistic(chi2=fit.chi2, df=fit.df, p=fit.p),
        inflation=inflation,
        extrapolation=ExtrapolationStatistic(applied=prediction.applied, p=prediction.p, why_not=prediction.why_not),
        log_law=_log_law(design, values, looks, stop=stop),
        contrast_l1=l1_norm(contrasts(scales, gamma0=float(rule.gamma0), law=rule.law).cone),
    )
    return finding(design, answer, statistics, adequate, stops=early or last, stuck=stuck)


def precheck(
    rule: GrowthRule,
    *,
    scales: Sequence[int],
    claim_scale: int,
    discount: float,
    planned_sd: Mapping[int, float] | None = None,
    registered_scales: Sequence[int] | None = None,
    axis: str = "k",
) -> GrowthFinding | None:
    """The finding that holds before any data, TOO_FEW_SCALES, or None where data can decide."""
    if len(scales) >= LEAST_SCALES:
        contrasts(scales, gamma0=float(rule.gamma0), law=rule.law)  # what cannot be judged is refused before any data
        return None
    return evaluate(
        rule,
        scales=scales,
        values=np.empty((len(scales), 0)),
        claim_scale=claim_scale,
        discount=discount,
        last=True,
        planned_sd=planned_sd,
        registered_scales=registered_scales,
        axis=axis,
    )


def evidence_facts(rule: GrowthRule, evidence: LogEvidence, *, look: int, n: int, discount: float) -> dict[str, bool]:
    """The facts of the table that E-values decide, at the look with that index and n replicates.

    G, F, H are suprema up to that look; the discount multiplies every E. Below the registered minimum of inner
    repetitions no threshold counts as reached.
    """
    end = None if look == -1 else look + 1
    counts = rule.may_decide(n)
    bar = log_threshold(float(rule.threshold), discount)
    one = log_threshold(1.0, discount)
    return {
        "grows": counts and float(evidence.grow[:end].max()) >= bar,
        "flat": counts and float(evidence.flat[:end].max()) >= bar,
        "half": counts and float(evidence.half[:end].max()) >= log_threshold(HALF_BAR, discount),
        "flat_now": float(evidence.flat[look]) >= one,
        "grow_now": float(evidence.grow[look]) >= one,
    }


def _check(design: Design, values: Floats) -> tuple[int, ...]:
    """The looks made. Raises BadInput for data that do not fit the design."""
    scale_array(design.scales)
    m = len(design.scales)
    if values.ndim != 2 or values.shape[0] != m:
        raise BadInput(f"the values have shape {values.shape}, not ({m} scales, replicates)")
    n = values.shape[1]
    if n not in design.rule.looks:
        raise BadInput(f"{n} replicates are not at a registered look", mend=f"registered are {list(design.rule.looks)}")
    if not np.isfinite(values).all():
        raise BadInput("a replicate's value is not a finite number", mend="such a run has no answer")
    missing = [k for k in design.scales if design.rule.variance and k not in design.rule.variance]
    if missing:
        raise BadInput(f"the rule's variance does not name the scales {missing}", mend="give a relative sd for each")
    return tuple(look for look in design.rule.looks if look <= n)


def _log_law(design: Design, values: Floats, looks: tuple[int, ...], *, stop: int | None) -> LogLawStatistic | None:
    rule = design.rule
    evidence = log_law_evidence(rule, design.scales, values, looks)
    if evidence is None or rule.log_delta is None:
        return None
    facts = evidence_facts(rule, evidence, look=-1, n=looks[-1], discount=design.discount)
    return LogLawStatistic(
        delta=float(rule.log_delta),
        e_flat=e_value(evidence.flat, at_stop=stop),
        e_half=e_value(evidence.half, at_stop=stop),
        reached=facts["flat"] and facts["half"],
    )


def _too_few_scales(design: Design, values: Floats) -> GrowthFinding:
    n = values.shape[1]
    deviations = values.std(axis=1, ddof=1) if n > 1 else np.array([])
    observed = {k: float(s) for k, s in zip(design.scales, deviations, strict=False) if s > 0}
    needs = horizon.needed(
        design.rule,
        axis=design.axis,
        claim_scale=design.claim_scale,
        registered=design.registered,
        sd={**design.planned_sd, **observed},
        inflate_df=float(n - 1) if observed else None,
        discount=design.discount,
    )
    statistics = GrowthStatistics(
        n=n,
        looks_made=tuple(look for look in design.rule.looks if look <= n),
        stopped_by="too-few-scales",
        discount=design.discount,
    )
    adequate = Adequacy(adequate=False, needed=needs)
    return finding(design, GrowthAnswer.TOO_FEW_SCALES, statistics, adequate, stops=True, stuck="")


def _adequacy(design: Design, values: Floats, estimates: Estimates) -> Adequacy:
    """Adequate or not, and what is needed: from this grid if it reaches K_claim, else from the registered one."""
    rule, m = design.rule, len(design.scales)
    paths = (estimates.cone, estimates.up, estimates.full)
    df = float(estimates.cone.df[-1])
    spread = [float(path.stderr[-1] * math.sqrt(path.n[-1])) for path in paths]
    if design.reaches_claim:
        adequate = horizon.is_adequate(rule, m=m, sd=spread, df=df, discount=design.discount)
        upper = [sd_upper_bound(s, df) for s in spread]
        n = horizon.needed_for_contrasts(rule, m=m, sd=upper, discount=design.discount)
        needs = {design.axis: max(design.claim_scale, design.scales[-1])}
        return Adequacy(adequate=adequate, needed=needs if n is None else needs | {"replicates": n} | rule.inner(n))
    deviations = values.std(axis=1, ddof=1)
    observed = {k: float(s) for k, s in zip(design.scales, deviations, strict=True) if s > 0}
    needs = horizon.needed(
        rule,
        axis=design.axis,
        claim_scale=design.claim_scale,
        registered=design.registered,
        sd={**design.planned_sd, **observed},
        inflate_df=df,
        discount=design.discount,
    )
    return Adequacy(adequate=False, needed=needs)


def finding(
    design: Design,
    answer: GrowthAnswer,
    statistics: GrowthStatistics,
    adequate: Adequacy,
    *,
    stops: bool,
    stuck: str,
) -> GrowthFinding:
    """The record of an answer, with its sentence. stuck: what does not vary, "" where all varies."""
    open_ = answer.reason is not None and not stuck
    return GrowthFinding(
        answer=answer,
        outcome=answer.outcome,
        reason=answer.reason,
        summary=sentences.summary(design.rule, answer, statistics, adequate, stuck=stuck, axis=design.axis),
        stops=stops,
        statistics=statistics,
        adequacy=adequate,
        residual_class=sentences.residual_class(design.rule, design.scales, axis=design.axis),
        reproduces=reproduces(answer, statistics),
        so_far=so_far(design.rule, statistics) if open_ else None,
        flags=sentences.flags(design.rule, statistics.n),
    )


def reproduces(answer: GrowthAnswer, statistics: GrowthStatistics) -> bool:
    """Whether a claim of O(1) counts as reproduced: BOUNDED, or BELOW_LAW with F ≥ T and H ≥ 100 for ln k as well."""
    if answer is GrowthAnswer.BELOW_LAW:
        return statistics.log_law is not None and statistics.log_law.reached
    return answer is GrowthAnswer.BOUNDED


def so_far(rule: GrowthRule, statistics: GrowthStatistics) -> SoFar:
    """What an undecided or underpowered run has seen up to this look."""
    full, grow, flat = statistics.slope_full, statistics.e_grow, statistics.e_flat
    return SoFar(
        estimate=None if full is None else full.estimate,
        interval=None if full is None else full.interval,
        sup_e_grow=None if grow is None else grow.sup,
        sup_e_flat=None if flat is None else flat.sup,
        share_of_budget=min(1.0, statistics.n / rule.maximum),
    )
