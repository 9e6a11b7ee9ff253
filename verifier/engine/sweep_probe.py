"""A sweep probe from start to result, as a procedure; its controls are procedures of their own."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from verifier.casefile import Case
from verifier.engine.controls import control_procedure, most_control_jobs
from verifier.engine.sweep import Asking, Grid, Judged, NoAnswer, judge, most_jobs
from verifier.engine.sweep_rules import judged_values, rule_record
from verifier.engine.targets import Targets
from verifier.engine.tasks import Limits, Task, concluded
from verifier.model.answers import NO_ANSWER, Finding
from verifier.model.errors import BadInput
from verifier.model.outcomes import Outcome
from verifier.model.results import ControlRun, Evidence, ProbeResult
from verifier.stats.classical import classical_fits
from verifier.stats.growth_path import growth_path
from verifier.sweeps.jobs import Failure
from verifier.sweeps.probe import SweepProbe

SweepRun = tuple[Judged, ...] | Failure
"""What the rule found at each end of the run, or why there is no answer."""


def sweep_tasks(case: Case, probe: SweepProbe, targets: Targets, limits: Limits) -> list[Task]:
    """The probe by its rule, ending in a SweepRun, then its controls, each ending in a ControlRun.

    The first raises OutOfBudget where the budget's replicates are spent.
    """
    tasks = [Task(probe.name, most_jobs(probe), _judged(case, probe, targets, limits))]
    for control in probe.controls:
        procedure = control_procedure(
            control,
            probe=probe,
            registration=case.registration,
            defaults=case.defaults,
            targets=targets,
            discount=limits.discount,
        )
        name = f"control {control.target.partition(':')[2]}"
        tasks.append(Task(name, most_control_jobs(control, probe), procedure))
    return tasks


def _judged(case: Case, probe: SweepProbe, targets: Targets, limits: Limits) -> Asking:
    grid = Grid(case.registration, probe, probe.target, probe.target, probe.scales, case.settings, targets)
    try:
        return (yield from judge(grid, discount=limits.discount, to_maximum=limits.to_maximum, budget=limits.budget))
    except NoAnswer as error:
        return error.failure


def sweep_result(probe: SweepProbe, run: SweepRun, controls: Sequence[ControlRun]) -> ProbeResult:
    """What the probe says once its controls are known."""
    answer, own, summary, more = _own_finding(run, probe)
    reached = _reached(run, probe)
    below = reached < probe.claim_scale
    return concluded(
        probe,
        answer,
        own,
        summary,
        controls,
        rule={"kind": probe.rule.kind, **dataclasses.asdict(probe.rule), **rule_record(probe)},
        axis=probe.axis,
        scale_reached=reached,
        claim_scale=probe.claim_scale,
        below_scale=below or probe.data == "synthetic",
        reproduces_claim=probe.reproduces_claim and not below and not _leaves_slower_growth_open(run),
        **more,
    )


def _reached(run: SweepRun, probe: SweepProbe) -> int:
    """The largest scale that the first finding rests on.

    Where there are stages it is the one that an answer against the dispute covers, else that of the last stage seen.
    """
    if not probe.stages or isinstance(run, Failure):
        return max(probe.scales)
    if run[0].finding.outcome is Outcome.AGAINST_DISPUTE and run[0].finding.covers is not None:
        return run[0].finding.covers
    n = run[0].finding.statistics.n
    return max(probe.stages[probe.rule.looks.index(n)].scales)


def _statistics(end: Judged, probe: SweepProbe) -> dict[str, Any]:
    """The rule's statistics, with the classical fits beside them where statsmodels is there and they exist."""
    statistics = dataclasses.asdict(end.finding.statistics)
    if probe.stages:  # cells of unequal size have neither these fits nor looks
        run = probe.rule.looks.index(end.finding.statistics.n) + 1
        return {**statistics, "stages": {"run": run, "listed": len(probe.stages)}, "classical": None, "looks": []}
    try:
        judged = judged_values(probe, probe.scales, end.values)
        fits = None if judged is None else classical_fits(probe.scales, judged, law=probe.growth.law)
        statistics["classical"] = fits
    except (ImportError, BadInput):
        statistics["classical"] = None
    statistics["looks"] = _looks(end, probe)
    return statistics


def _looks(end: Judged, probe: SweepProbe) -> list[dict[str, Any]]:
    """What the rule had seen at each of its looks, for the pictures; empty where it had none."""
    judged = judged_values(probe, probe.scales, end.values)
    stuck = end.finding.outcome is Outcome.INVALID
    if stuck or judged is None or judged.shape[1] < probe.rule.looks[0]:
        return []
    return [dataclasses.asdict(look) for look in growth_path(probe.growth, scales=probe.scales, values=judged)]


def _leaves_slower_growth_open(run: SweepRun) -> bool:
    """Whether the answer is against the dispute, but excludes the alleged law only."""
    if isinstance(run, Failure):
        return False
    first = run[0].finding
    return first.outcome is Outcome.AGAINST_DISPUTE and not first.reproduces


def _own_finding(run: SweepRun, probe: SweepProbe) -> tuple[str, Finding, str, dict[str, Any]]:
    if isinstance(run, Failure):
        return "NO_ANSWER", NO_ANSWER, run.what, {"evidence": (), "failure": run.traceback or run.what}
    first = run[0].finding
    own = Finding(first.outcome, first.reason)
    more = {
        "evidence": tuple(Evidence(end.stage, _statistics(end, probe), end.points, end.units) for end in run),
        "adequacy": first.adequacy,
        "residual_class": first.residual_class,
        "flags": first.flags,
        "so_far": dataclasses.asdict(first.so_far) if first.so_far else None,
    }
    return first.answer, own, first.summary, more
