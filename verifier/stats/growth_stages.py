"""Growth in stages: cells of unequal size, a grid that goes on, and E as the product of what each stage gives.

A stage is a grid with fresh streams at every scale, the small ones that an extension starts from included. How many
replicates each of its scales gets is fixed when it starts, from earlier stages alone; its E uses its own data alone, at
its end. Given the past each E has mean at most 1 under its null, so the product over the stages that one registration
lists is an e-process (Grünwald, de Heide and Koolen 2024, optional continuation); so is that over those of them whose
grid reaches the claim's own scale, which alone can say "bounded up to there". Estimates use all data at once: under
pooled noise that of all stages, under block noise that of the last grid, since a shorter sweep has no contrast of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

import numpy as np
from scipy import special

from verifier.model.e_values import e_text
from verifier.model.errors import BadInput
from verifier.model.results import Adequacy
from verifier.stats import growth
from verifier.stats.adequacy import is_adequate, needed
from verifier.stats.contrasts import contrasts, l1_norm
from verifier.stats.extrapolation import LEAST_REPLICATES, Extrapolation, not_applied, predictable, prediction_chi2
from verifier.stats.growth_evidence import Estimates, LogEvidence, log_evidence
from verifier.stats.growth_gates import ROUNDING
from verifier.stats.growth_rule import JUDGED_FROM, LEAST_SCALES, GrowthRule, decide
from verifier.stats.growth_statistics import (
    ExtrapolationStatistic,
    GrowthFinding,
    GrowthStatistics,
    LogLawStatistic,
    MisfitStatistic,
    e_from_log,
    e_value,
    slope,
)
from verifier.stats.law_names import is_fast
from verifier.stats.laws import Floats, law_values, scale_array
from verifier.stats.misfit import FREE_PARAMETERS, Misfit, least_chi2
from verifier.stats.noise import Estimate, block_estimate, pooled_from_cells
from verifier.stats.significance import anytime_sigma


@dataclass(frozen=True, kw_only=True)
class Stage:
    """One stage's data. scales: k_1 < … < k_m. cells: for each, its replicate means, float64 of shape (n_j,).

    Block noise needs n_j all equal, for the j-th entries of all cells are one replicate.
    """

    scales: tuple[int, ...]
    cells: tuple[Floats, ...]

    @property
    def counts(self) -> tuple[int, ...]:
        """The n_j."""
        return tuple(len(cell) for cell in self.cells)


def cell_estimates(rule: GrowthRule, stage: Stage) -> Estimates:
    """The three contrasts estimated from all of a stage's data, as paths of one look.

    Pooled: θ = Σ w_j ȳ_j with the common variance on Σ(n_j − 1) degrees of freedom; the effective n is
    ‖w‖²/Σ(w_j²/n_j). Block: one replicate is a whole sweep.
    """
    weights = contrasts(stage.scales, gamma0=float(rule.gamma0), law=rule.law)
    if rule.noise == "block":
        values = np.stack(stage.cells)
        cone, up, full = (block_estimate(w, values, (values.shape[1],)) for w in weights)
    else:
        cone, up, full = (_pooled(rule, stage, w) for w in weights)
    b = float(rule.floor)
    return Estimates(cone=cone, up=up, full=full, floors=tuple(b * l1_norm(w) for w in weights))  # type: ignore[arg-type]  # three


def _pooled(rule: GrowthRule, stage: Stage, weights: Floats) -> Estimate:
    relative = np.array([float(rule.variance[k]) for k in stage.scales]) if rule.variance else np.ones(len(weights))
    means = np.array([cell.mean() for cell in stage.cells]) / relative
    within = sum(float(np.sum(np.square(c - c.mean()))) / r**2 for c, r in zip(stage.cells, relative, strict=True))
    counts = np.array(stage.counts, float)[:, None]
    return pooled_from_cells(weights * relative, means[:, None], np.array([within]), counts)


def product_log_e(rule: GrowthRule, stages: Sequence[Stage], *, reaching: int = 0) -> LogEvidence:
    """Logarithms of E_grow, E_flat and E_half after each stage: products of the stages' own, shape (stages,).

    reaching: stages whose largest scale is below it count as 1.
    """
    own = [
        log_evidence(rule, cell_estimates(rule, stage)) if stage.scales[-1] >= reaching else _NOTHING
        for stage in stages
    ]
    return LogEvidence(
        **{name: np.cumsum([float(getattr(one, name)[0]) for one in own]) for name in ("grow", "flat", "half")}
    )


_NOTHING = LogEvidence(grow=np.zeros(1), flat=np.zeros(1), half=np.zeros(1))


def covered_scale(rule: GrowthRule, stages: Sequence[Stage], *, claim_scale: int, discount: float) -> int | None:
    """The largest K ≥ K_claim up to which the stages show that nothing grows by δ; None where they show it up to none.

    Shown up to K: F ≥ T, H ≥ 100 and E_grow now < 1 in the product of those stages alone whose grid reaches K. A sweep
    that ends at a smaller scale says nothing of growth that begins there, however many replicates it has.
    """
    for reaching in sorted({stage.scales[-1] for stage in stages}, reverse=True):
        if reaching < claim_scale:
            break
        facts = growth.evidence_facts(
            rule,
            product_log_e(rule, stages, reaching=reaching),
            look=-1,
            n=sum(min(stage.counts) for stage in stages if stage.scales[-1] >= reaching),
            discount=discount,
        )
        if facts["flat"] and facts["half"] and not facts["grow_now"]:
            return reaching
    return None


def all_data(rule: GrowthRule, stages: Sequence[Stage]) -> Stage:
    """What estimates use: every replicate of every scale (pooled); of block noise every sweep of the last grid."""
    last = stages[-1].scales
    used = [stage for stage in stages if rule.noise == "pooled" or stage.scales == last]
    scales = tuple(sorted({k for stage in used for k in stage.scales}))
    cells = {
        k: [cell for stage in used for j, cell in zip(stage.scales, stage.cells, strict=True) if j == k] for k in scales
    }
    return Stage(scales=scales, cells=tuple(np.concatenate(cells[k]) for k in scales))


def evaluate_stages(
    rule: GrowthRule,
    stages: Sequence[Stage],
    *,
    listed: Sequence[Sequence[int]],
    claim_scale: int,
    discount: float,
    axis: str = "k",
    stopped_at: int | None = None,
) -> GrowthFinding:
    """The rule's finding after the stages run so far.

    listed: the grids of all stages that the registration lists, in order. G, F and H are suprema over the ends of
    stages of the products; "bounded" needs F, H and E_grow now of the stages alone that reach K_claim, as in
    `covered_scale`, and short of it counts as below the horizon or, where those stages were adequate, as a slope below
    δ. Misfit, prediction, slopes and intervals are those of all data. n counts the least replicates of a scale, summed
    over stages. Adequate: the largest stage run of those that reach K_claim could alone have reached T nine times in
    ten. stopped_at: after how many stages a decision was made, where the run went on; E at the stop is E there.

    Raises BadInput for stages that the registration does not list, cells that do not fit their scales, fewer than two
    replicates of a scale, unequal cells under block noise.
    """
    _check(rule, stages, listed)
    last = len(stages) == len(listed)
    if min(len(stage.scales) for stage in stages) < LEAST_SCALES:
        raise BadInput(f"a stage has fewer than {LEAST_SCALES} scales", mend="list at least five in each stage")
    evidence, data = product_log_e(rule, stages), all_data(rule, stages)
    estimates = cell_estimates(rule, data)
    sizes = tuple(accumulate(min(stage.counts) for stage in stages))
    stuck = _no_variance(stages)
    fit, prediction = misfit_of_cells(rule, data), extrapolation_of_cells(rule, data)
    design = growth.Design(
        rule=rule,
        scales=stages[-1].scales,
        claim_scale=claim_scale,
        registered=tuple(listed[-1]),
        discount=discount,
        planned_sd={},
        axis=axis,
    )
    adequate = _adequate(rule, stages, estimates, discount=discount, claim_scale=claim_scale)
    covers = covered_scale(rule, stages, claim_scale=claim_scale, discount=discount)
    facts = growth.evidence_facts(rule, evidence, look=-1, n=sizes[-1], discount=discount)
    # stages that could have shown it at K_claim, and did not, leave more open than the horizon
    facts["half"] = facts["half"] and (covers is not None or not adequate)
    answer = decide(
        too_few_scales=False,
        no_variance=bool(stuck),
        misfit=fit is not None and fit.found,
        extrapolates=prediction.holds,
        reaches_claim=covers is not None,
        fast_law=is_fast(rule.law),
        adequate=adequate,
        **facts,
    )
    early = answer.outcome.decided and not last
    stop = len(stages) - 1 if early or last else None
    if stopped_at is not None:
        stop = stopped_at - 1
    inflation = 1.0 if fit is None else fit.inflation
    cone, up, full = (
        slope(path, floor=floor, inflation=inflation)
        for path, floor in zip((estimates.cone, estimates.up, estimates.full), estimates.floors, strict=True)
    )
    top = float(evidence.grow.max())
    statistics = GrowthStatistics(
        n=sizes[-1],
        looks_made=sizes,
        stopped_by="decision" if early else "maximum-n" if last else None,
        discount=discount,
        slope_cone=cone,
        slope_up=up,
        slope_full=full,
        e_grow=e_value(evidence.grow, at_stop=stop),
        e_flat=e_value(evidence.flat, at_stop=stop),
        e_half=e_value(evidence.half, at_stop=stop),
        sigma_anytime=anytime_sigma(top),
        sigma_discounted=anytime_sigma(top + math.log(discount)),
        misfit=None if fit is None else MisfitStatistic(chi2=fit.chi2, df=fit.df, p=fit.p),
        inflation=inflation,
        extrapolation=ExtrapolationStatistic(applied=prediction.applied, p=prediction.p, why_not=prediction.why_not),
        contrast_l1=l1_norm(contrasts(data.scales, gamma0=float(rule.gamma0), law=rule.law).cone),
        log_law=_log_law(rule, stages, claim_scale=claim_scale, discount=discount, stop=stop),
    )
    observed = {k: float(cell.std(ddof=1)) for k, cell in zip(data.scales, data.cells, strict=True) if np.ptp(cell) > 0}
    would = needed(
        rule,
        axis=axis,
        claim_scale=max(claim_scale, stages[-1].scales[-1]),
        registered=listed[-1],
        sd=observed,
        inflate_df=float(estimates.cone.df[-1]),
        discount=discount,
    )
    needs = Adequacy(adequate=adequate, needed=would)
    if covers is not None:
        design = replace(design, scales=next(stage.scales for stage in stages if stage.scales[-1] == covers))
    found = growth.finding(design, answer, statistics, needs, stops=early or last, stuck=stuck)
    scale = claim_scale if covers is None else covers
    notes = _notes(rule, stages, scale=scale, flat=facts["flat"], discount=discount, axis=axis)
    return replace(found, summary="; ".join([found.summary, *notes]), covers=covers)


def _notes(
    rule: GrowthRule, stages: Sequence[Stage], *, scale: int, flat: bool, discount: float, axis: str
) -> list[str]:
    """What a reader of the products has to know: which stages "bounded" rests on, and which sweeps the slope is of.

    scale: up to which "bounded" is or was to be shown. flat: F ≥ T in the product over all stages.
    """
    notes = []
    reaching = [stage for stage in stages if stage.scales[-1] >= scale]
    if flat and 0 < len(reaching) < len(stages):
        own = float(product_log_e(rule, stages, reaching=scale).flat.max())
        notes.append(
            f"up to {axis} = {scale} only the stages that reach it count, {_sweeps(reaching)}: for a slope below "
            f"{float(rule.delta):g} {e_text(e_from_log(own + math.log(discount)))}"
        )
    last = [stage for stage in stages if stage.scales == stages[-1].scales]
    if rule.noise == "block" and len(last) < len(stages):
        notes.append(f"slope from the {_sweeps(last)} of the last grid")
    return notes


def _sweeps(stages: Sequence[Stage]) -> str:
    return f"{sum(min(stage.counts) for stage in stages):,} sweeps"


def misfit_of_cells(rule: GrowthRule, data: Stage) -> Misfit | None:
    """The misfit of cells of unequal size, fresh streams per scale; None where one is too small to judge it.

    Weights (n_j/s_j²)(n_j − 3)/(n_j − 1): each takes out the mean of 1/s_j² being too large, which for equal n_j is the
    common factor of `misfit.misfit`.
    """
    df = len(data.scales) - FREE_PARAMETERS
    variances = _judged_variances(data, least=JUDGED_FROM)
    if df < 1 or variances is None:
        return None
    means = np.array([cell.mean() for cell in data.cells])
    whiten = np.diag(variances**-0.5)
    chi2 = least_chi2(data.scales, means, whiten, gamma0=float(rule.gamma0), law=rule.law)
    return Misfit(chi2=chi2, df=df, p=float(special.chdtrc(df, chi2)))


def extrapolation_of_cells(rule: GrowthRule, data: Stage) -> Extrapolation:
    """The prediction test on cells of unequal size, with the same factor for each."""
    if not rule.extrapolate:
        return not_applied("the rule does not register it")
    cells = predictable(data.scales)
    if isinstance(cells, str):
        return not_applied(cells)
    variances = _judged_variances(data, least=LEAST_REPLICATES)
    if variances is None:
        return not_applied(f"a scale has fewer than {LEAST_REPLICATES} replicates, or no variance")
    fitted, targets = cells
    means = np.array([cell.mean() for cell in data.cells])
    chi2 = prediction_chi2(law_values(data.scales, rule.law), means, variances, fitted=fitted, targets=targets)
    return Extrapolation(applied=True, p=float(special.chdtrc(2, chi2)))


def _judged_variances(data: Stage, *, least: int) -> Floats | None:
    """(s_j²/n_j)(n_j − 1)/(n_j − 3) of every cell, or None where one is smaller than `least` or does not vary."""
    if min(data.counts) < least:
        return None
    n = np.array(data.counts, float)
    variances = np.array([cell.var(ddof=1) for cell in data.cells]) / n * (n - 1) / (n - 3)
    return variances if np.all(variances > 0) else None


def _log_law(
    rule: GrowthRule, stages: Sequence[Stage], *, claim_scale: int, discount: float, stop: int | None
) -> LogLawStatistic | None:
    if rule.log_delta is None or not is_fast(rule.law):
        return None
    beside = replace(rule, law="log", delta=rule.log_delta)
    evidence = product_log_e(beside, stages)
    return LogLawStatistic(
        delta=float(rule.log_delta),
        e_flat=e_value(evidence.flat, at_stop=stop),
        e_half=e_value(evidence.half, at_stop=stop),
        reached=covered_scale(beside, stages, claim_scale=claim_scale, discount=discount) is not None,
    )


def _adequate(
    rule: GrowthRule, stages: Sequence[Stage], estimates: Estimates, *, discount: float, claim_scale: int
) -> bool:
    reaching = [stage for stage in stages if stage.scales[-1] >= claim_scale]
    if not reaching:
        return False
    paths = (estimates.cone, estimates.up, estimates.full)
    spread = [float(path.stderr[-1] * math.sqrt(path.n[-1])) for path in paths]
    largest = max(reaching, key=lambda stage: min(stage.counts))
    alone = replace(rule, looks=(min(largest.counts),))
    df = float(estimates.cone.df[-1])
    return is_adequate(alone, m=len(largest.scales), sd=spread, df=df, discount=discount)


def _no_variance(stages: Sequence[Stage]) -> str:
    for number, stage in enumerate(stages, 1):
        for k, cell in zip(stage.scales, stage.cells, strict=True):
            if np.ptp(cell) <= ROUNDING * float(np.abs(cell).max()):
                return f"at scale {k} of stage {number} all {len(cell)} replicates are equal"
    return ""


def _check(rule: GrowthRule, stages: Sequence[Stage], listed: Sequence[Sequence[int]]) -> None:
    if not stages or len(stages) > len(listed):
        raise BadInput(f"{len(stages)} stages were run and {len(listed)} are listed", mend="run the listed stages")
    for number, (stage, grid) in enumerate(zip(stages, listed, strict=False), 1):
        scale_array(stage.scales)
        if tuple(stage.scales) != tuple(grid):
            raise BadInput(
                f"stage {number} has the scales {list(stage.scales)}",
                mend=f"the registration lists {list(grid)}",
            )
        if len(stage.cells) != len(stage.scales) or any(cell.ndim != 1 for cell in stage.cells):
            raise BadInput(f"stage {number} does not have one row of replicates for each scale")
        if min(stage.counts) < 2:
            raise BadInput(f"a scale of stage {number} has fewer than two replicates", mend="run two or more")
        if rule.noise == "block" and len(set(stage.counts)) > 1:
            raise BadInput(
                f"the scales of stage {number} have different numbers of replicates, and a block is a whole sweep",
                mend='run them all equally often, or register noise = "pooled"',
            )
        if not all(np.isfinite(cell).all() for cell in stage.cells):
            raise BadInput("a replicate's value is not a finite number", mend="such a run has no answer")
        missing = [k for k in stage.scales if rule.variance and k not in rule.variance]
        if missing:
            raise BadInput(f"the rule's variance does not name the scales {missing}", mend="give a sd for each")
