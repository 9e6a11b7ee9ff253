"""The growth rule over many simulated data sets at once, with early stopping: the same table, facts by the array."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from verifier.stats.adequacy import is_adequate
from verifier.stats.critical import log_threshold
from verifier.stats.growth_evidence import Estimates, LogEvidence, contrast_estimates, log_evidence
from verifier.stats.growth_gates import extrapolation_gate, misfit_gate, no_variance
from verifier.stats.growth_rule import HALF_BAR, LEAST_SCALES, GrowthAnswer, GrowthRule, decide
from verifier.stats.law_names import is_fast
from verifier.stats.laws import Floats

Flags = npt.NDArray[np.bool_]


class Batch(NamedTuple):
    """Per run: its answer and the replicates it used."""

    answers: list[GrowthAnswer]
    n: npt.NDArray[np.int64]


class _Facts(NamedTuple):
    """The facts that E-values decide, each (runs, looks)."""

    grows: Flags
    flat: Flags
    half: Flags
    flat_now: Flags
    grow_now: Flags

    def at(self, run: int, look: int) -> dict[str, bool]:
        return {name: bool(facts[run, look]) for name, facts in zip(self._fields, self, strict=True)}


def run_batch(
    rule: GrowthRule, *, scales: Sequence[int], values: Floats, claim_scale: int, discount: float = 1.0
) -> Batch:
    """The answers of complete runs: stopped at the first look that decides, else judged at the maximum n.

    values: (runs, m, rule.maximum), fresh streams per scale. The gates that look at cell means are computed only where
    a decision hangs on them, which changes no answer.
    """
    runs = values.shape[0]
    if len(scales) < LEAST_SCALES:
        return Batch([GrowthAnswer.TOO_FEW_SCALES] * runs, np.zeros(runs, np.int64))
    looks = np.array(rule.looks)
    estimates = contrast_estimates(rule, scales, values, rule.looks)
    facts = _facts(rule, log_evidence(rule, estimates), discount)
    reaches = scales[-1] >= claim_scale
    candidates = (facts.grows & ~facts.flat & ~facts.flat_now) | (
        ~facts.grows & facts.flat & facts.half & ~facts.grow_now & reaches
    )
    answers: list[GrowthAnswer] = []
    used = np.full(runs, looks[-1], np.int64)
    for run in range(runs):
        answer = None
        for look in np.flatnonzero(candidates[run, :-1]):
            seen = _judge(
                rule, scales, values[run, :, : looks[look]], facts.at(run, int(look)), reaches=reaches, adequate=True
            )
            if seen.outcome.decided:
                answer, used[run] = seen, looks[look]
                break
        if answer is None:
            adequate = reaches and _adequate(rule, len(scales), estimates, run, discount)
            answer = _judge(rule, scales, values[run], facts.at(run, -1), reaches=reaches, adequate=adequate)
        answers.append(answer)
    return Batch(answers, used)


def _facts(rule: GrowthRule, evidence: LogEvidence, discount: float) -> _Facts:
    sup = evidence.suprema()
    counts = np.array([rule.may_decide(n) for n in rule.looks])
    bar, one = log_threshold(float(rule.threshold), discount), log_threshold(1.0, discount)
    return _Facts(
        grows=(sup.grow >= bar) & counts,
        flat=(sup.flat >= bar) & counts,
        half=(sup.half >= log_threshold(HALF_BAR, discount)) & counts,
        flat_now=evidence.flat >= one,
        grow_now=evidence.grow >= one,
    )


def _judge(
    rule: GrowthRule,
    scales: Sequence[int],
    values: Floats,
    facts: dict[str, bool],
    *,
    reaches: bool,
    adequate: bool,
) -> GrowthAnswer:
    fit = misfit_gate(rule, scales, values, shared_seeds=False)
    return decide(
        too_few_scales=False,
        no_variance=bool(no_variance(rule, scales, values)),
        misfit=fit is not None and fit.found,
        extrapolates=extrapolation_gate(rule, scales, values).holds,
        reaches_claim=reaches,
        fast_law=is_fast(rule.law),
        adequate=adequate,
        **facts,
    )


def _adequate(rule: GrowthRule, m: int, estimates: Estimates, run: int, discount: float) -> bool:
    paths = (estimates.cone, estimates.up, estimates.full)
    spread = [float(path.stderr[run, -1]) * math.sqrt(float(path.n[-1])) for path in paths]
    return is_adequate(rule, m=m, sd=spread, df=float(estimates.cone.df[-1]), discount=discount)
