"""A sweep under a bound from start to result, as a procedure; its controls are procedures of their own."""

from __future__ import annotations

import dataclasses
from collections.abc import Generator, Sequence
from fractions import Fraction
from typing import Any

from verifier.casefile import Case
from verifier.engine.bound import Judged, Search, ask_bounds, ask_costs, judge_bound, most_jobs, statistics_record
from verifier.engine.sweep import Asking, NoAnswer, Results, as_double
from verifier.engine.targets import Targets
from verifier.engine.tasks import Limits, Task, concluded, unanswered
from verifier.model.answers import NO_ANSWER, Finding
from verifier.model.case import Control
from verifier.model.controls import CHECK_FAILED, CHECK_PASSED, ControlResult
from verifier.model.outcomes import Outcome
from verifier.model.results import Adequacy, ControlRun, Evidence, ProbeResult, UnitsRecord
from verifier.stats import bound
from verifier.stats.bound import BoundFinding
from verifier.stats.bound_rule import BoundAnswer, BoundRule
from verifier.sweeps.bound import BoundProbe
from verifier.sweeps.jobs import Failure, Job, Sums

WITHIN_STANDARD_ERRORS = 4

VIOLATIONS = {BoundAnswer.VIOLATED, BoundAnswer.VIOLATED_FLOAT, BoundAnswer.VIOLATED_IN_MEAN}

BoundRun = tuple[Judged, ...] | Failure
"""What the rule found at each end of the run, or why there is no answer."""

ControlProcedure = Generator[Sequence[Job], Results, ControlRun]


def bound_tasks(case: Case, probe: BoundProbe, targets: Targets, limits: Limits) -> list[Task]:
    """The probe by its rule, ending in a BoundRun, then its controls, each ending in a ControlRun.

    The first raises OutOfBudget where the budget's replicates are spent. Controls run at the registered scales, on
    default parameters and to their own end, whatever the run's options.
    """
    own = Search(case.registration, probe, probe.target, probe.target, probe.scales, case.settings, targets)
    tasks = [Task(probe.name, most_jobs(probe), _judged(own, limits))]
    for control in probe.controls:
        stream_target = control.expect.value if control.expect.kind == "equals" else control.target

        def of(target: str, stream_target: str = stream_target) -> Search:
            return Search(
                case.registration, probe, target, stream_target, probe.registered_scales, case.defaults, targets
            )

        partner = of(control.expect.value) if control.expect.kind == "equals" else None
        procedure = _control(control, of(control.target), partner, limits.discount)
        tasks.append(Task(f"control {control.target.partition(':')[2]}", 2 * most_jobs(probe), procedure))
    return tasks


def _judged(search: Search, limits: Limits) -> Asking:
    try:
        return (
            yield from judge_bound(search, discount=limits.discount, to_maximum=limits.to_maximum, budget=limits.budget)
        )
    except NoAnswer as error:
        return error.failure


def _control(control: Control, search: Search, partner: Search | None, discount: float) -> ControlProcedure:
    """A control without answer has the outcome NO_ANSWER; it never raises."""
    try:
        match control.expect.kind:
            case "named":
                (judged,) = yield from judge_bound(search, discount=discount)
                finding = judged.finding
                result = ControlResult(control, finding.answer, finding.outcome, finding.summary)
                return ControlRun(result, (), judged.units)
            case "equals":
                assert partner is not None
                return (yield from _equal(control, search, partner))
            case "values":
                return (yield from _valued(control, search))
    except NoAnswer as error:
        return unanswered(control, error.failure)


def _equal(control: Control, own: Search, partner: Search) -> ControlProcedure:
    """Draw for draw on the partner's streams, to the maximum n."""
    drawn = yield from ask_costs(own, own.cells, 0, own.probe.maximum)
    others = yield from ask_costs(partner, partner.cells, 0, own.probe.maximum)
    differing = [
        (cell, replicate)
        for cell in own.cells
        for replicate, (a, b) in enumerate(zip(drawn.costs[cell], others.costs[cell], strict=True))
        if a.values_sha256 != b.values_sha256
    ]
    total = len(drawn.rows)
    summary = f"draw for draw in {total} units"
    if differing:
        cell, replicate = differing[0]
        summary = f"in {len(differing)} of {total} units, first at {own.probe.label(*cell)}, replicate {replicate}"
    return _checked(control, drawn.record, passed=not differing, summary=summary)


def _valued(control: Control, search: Search) -> ControlProcedure:
    """Exactly the given costs, or within four standard errors of them, to the maximum n."""
    values = yield from ask_bounds(search, control.expect.value)
    drawn = yield from ask_costs(search, search.cells, 0, search.probe.maximum)
    wrong = [search.probe.label(*cell) for cell, known in values.items() if not _agrees(drawn.costs[cell], known)]
    summary = f"at {len(search.cells)} instances"
    if wrong:
        summary = f"at {len(wrong)} of {len(search.cells)} instances, first at {wrong[0]}"
    return _checked(control, drawn.record, passed=not wrong, summary=summary)


def _agrees(costs: Sequence[Sums], known: Fraction) -> bool:
    n = len(costs)
    means = [cost.mean for cost in costs]
    mean = sum(means, Fraction(0)) / n
    if mean == known or n == 1:
        return mean == known
    variance = sum(((m - mean) ** 2 for m in means), Fraction(0)) / (n - 1)
    return as_double((mean - known) ** 2) <= WITHIN_STANDARD_ERRORS**2 * as_double(variance / n)


def _checked(control: Control, units: UnitsRecord, *, passed: bool, summary: str) -> ControlRun:
    answer = CHECK_PASSED if passed else CHECK_FAILED
    return ControlRun(ControlResult(control, answer, None if passed else Outcome.INVALID, summary), (), units)


def found_by_controls(controls: Sequence[ControlRun]) -> bool | None:
    """Whether this search finds the violations that controls plant; None where none plants one."""
    planted = [
        run
        for run in controls
        if run.control.expect.kind == "named" and run.control.expect.value in {*VIOLATIONS, Outcome.FOR_DISPUTE}
    ]
    return all(run.result.answer in VIOLATIONS for run in planted) if planted else None


def bound_result(probe: BoundProbe, run: BoundRun, controls: Sequence[ControlRun]) -> ProbeResult:
    """What the probe says once its controls are known: with them, whether its search finds a planted violation."""
    rule = probe.searched(probe.scales)
    more: dict[str, Any] = {"evidence": (), "failure": ""}
    if isinstance(run, Failure):
        answer, own, summary = "NO_ANSWER", NO_ANSWER, run.what
        more["failure"] = run.traceback or run.what
    else:
        found = found_by_controls(controls)
        ends = [_again_with(rule, end, control_found=found) for end in run]
        first = ends[0].finding
        answer, own, summary = first.answer, Finding(first.outcome, first.reason), first.summary
        more = {
            "evidence": tuple(Evidence(end.stage, statistics_record(end), end.points, end.units) for end in ends),
            "flags": first.flags,
            "so_far": None if first.outcome.decided else _so_far(first, probe),
            "adequacy": _adequacy(rule, ends[0]),
        }
    below = max(probe.scales) < probe.claim_scale
    return concluded(
        probe,
        answer,
        own,
        summary,
        controls,
        rule=_rule_record(probe),
        axis=probe.axis,
        scale_reached=max(probe.scales),
        claim_scale=probe.claim_scale,
        below_scale=below or probe.data == "synthetic",
        reproduces_claim=probe.reproduces_claim and not below,
        **more,
    )


def _again_with(rule: BoundRule, end: Judged, *, control_found: bool | None) -> Judged:
    """The same end, its sentence with what the controls showed of the search."""
    finding = bound.evaluate(
        rule,
        end.instances,
        discount=end.finding.statistics.discount,
        last=end.last,
        rerun=end.rerun,
        control_found=control_found,
    )
    return dataclasses.replace(end, finding=finding)


def _rule_record(probe: BoundProbe) -> dict[str, Any]:
    """The rule as registered: the number of instances of a scale, and under `quoted` the case's names for them."""
    rule = probe.rule
    return {
        "kind": rule.kind,
        "instances": len(rule.instances),
        "whole_class": rule.whole_class,
        "alleges_in_class": rule.alleges_in_class,
        "looks": list(rule.looks),
        "threshold": rule.threshold,
        "minimum_n": rule.minimum_n,
        "replicate": dict(probe.replicate),
        "quoted": {"members": list(rule.instances) if rule.whole_class else [], "alleged": rule.alleged},
    }


def _so_far(finding: BoundFinding, probe: BoundProbe) -> dict[str, Any]:
    statistics = finding.statistics
    sups = [e.sup for e in (statistics.e_mean, statistics.e_rerun) if e is not None]
    return {
        "estimate": statistics.worst_ratio,
        "interval": None,
        "sup_e": max(sups) if sups else None,
        "share_of_budget": statistics.n / probe.maximum if probe.rule.looks else 1.0,
        "note": "not a ruling",
    }


def _adequacy(rule: BoundRule, end: Judged) -> Adequacy | None:
    """What would show the largest excess seen; None where no mean lies above its bound.

    A search cannot say how many instances would be enough.
    """
    if end.finding.answer is not BoundAnswer.NO_VIOLATION_FOUND:
        return None
    would = bound.needed_as_seen(rule, end.instances)
    return Adequacy(adequate=False, needed=would) if would else None
