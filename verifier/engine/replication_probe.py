"""A replication from start to result, as a procedure; its controls are procedures of their own."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Generator, Sequence
from typing import Any, NamedTuple

import numpy as np

from verifier.casefile import Case
from verifier.engine.replication import (
    Drawn,
    Judged,
    Runs,
    ask_replicates,
    ask_value,
    judge_file,
    judge_runs,
    most_jobs,
)
from verifier.engine.sweep import Asking, NoAnswer, Results, as_double
from verifier.engine.targets import Targets
from verifier.engine.tasks import Limits, Task, concluded, unanswered
from verifier.model.answers import NO_ANSWER, Finding, undecided
from verifier.model.case import Control
from verifier.model.controls import CHECK_FAILED, CHECK_PASSED, ControlResult
from verifier.model.errors import BadInput
from verifier.model.outcomes import Outcome, Reason
from verifier.model.results import ControlRun, Evidence, ProbeResult, UnitsRecord
from verifier.stats.laws import Floats
from verifier.stats.margin_design import DifferenceRule, RatioRule
from verifier.sweeps.jobs import Failure, Job
from verifier.sweeps.replication import ReplicationProbe

WITHIN_STANDARD_ERRORS = 4

RETROSPECTIVE = "retrospective: these runs were not made under this registration, so they are shown and decide nothing"

ReplicationRun = tuple[Judged, ...] | Failure
"""What the rule found at each end of the run, or why there is no answer."""

ControlProcedure = Generator[Sequence[Job], Results, ControlRun]


def replication_tasks(case: Case, probe: ReplicationProbe, targets: Targets, limits: Limits) -> list[Task]:
    """The probe by its rule, ending in a ReplicationRun, then its controls, each ending in a ControlRun.

    The first raises OutOfBudget where the budget's replicates are spent. Controls run to their own end, on default
    parameters, whatever the run's options.
    """
    if probe.file:
        own = Task(probe.name, 1, _judged_file(case, probe, probe.file, limits.discount))
        controls = [
            Task(f"control {control.target}", 1, _file_control(case, probe, control, limits.discount))
            for control in probe.controls
        ]
        return [own, *controls]
    runs = Runs(case.registration, probe, probe.target, probe.target, case.settings, targets)
    tasks = [Task(probe.name, most_jobs(probe), _judged(runs, limits))]
    for control in probe.controls:
        stream_target = control.expect.value if control.expect.kind == "equals" else control.target

        def of(target: str, stream_target: str = stream_target) -> Runs:
            return Runs(case.registration, probe, target, stream_target, case.defaults, targets)

        partner = of(control.expect.value) if control.expect.kind == "equals" else None
        procedure = _control(control, of(control.target), partner, limits.discount)
        jobs = most_jobs(probe) * (2 if partner else 1) + (control.expect.kind == "values")
        tasks.append(Task(f"control {control.target.partition(':')[2]}", jobs, procedure))
    return tasks


def _judged(runs: Runs, limits: Limits) -> Asking:
    try:
        return (
            yield from judge_runs(runs, discount=limits.discount, to_maximum=limits.to_maximum, budget=limits.budget)
        )
    except NoAnswer as error:
        return error.failure


def _judged_file(case: Case, probe: ReplicationProbe, file: str, discount: float) -> Asking:
    yield from ()  # it asks for nothing
    try:
        return (judge_file(probe, case.files[file], name=file, discount=discount),)
    except BadInput as error:
        return Failure(error.sentence)


def _file_control(case: Case, probe: ReplicationProbe, control: Control, discount: float) -> ControlProcedure:
    run = yield from _judged_file(case, probe, control.target, discount)
    if isinstance(run, Failure):
        return unanswered(control, run)
    return _ruled(control, run[0])


def _ruled(control: Control, judged: Judged) -> ControlRun:
    finding = judged.finding
    return ControlRun(ControlResult(control, finding.answer, finding.outcome, finding.summary), (), judged.units)


def _control(control: Control, runs: Runs, partner: Runs | None, discount: float) -> ControlProcedure:
    """A control without answer has the outcome NO_ANSWER; it never raises."""
    try:
        match control.expect.kind:
            case "named":
                (judged,) = yield from judge_runs(runs, discount=discount)
                return _ruled(control, judged)
            case "equals":
                assert partner is not None
                return (yield from _equal(control, runs, partner))
            case "values":
                return (yield from _valued(control, runs))
    except NoAnswer as error:
        return unanswered(control, error.failure)


def _equal(control: Control, own: Runs, partner: Runs) -> ControlProcedure:
    """Draw for draw on the partner's streams, to the maximum n."""
    maximum = own.probe.rule.maximum
    drawn = yield from ask_replicates(own, maximum)
    others = yield from ask_replicates(partner, maximum)

    def hashes(of: Drawn) -> list[dict[str, str]]:
        return [{arm: cell.values_sha256 for arm, cell in replicate.items()} for replicate in of.replicates]

    differing = [n for n, (a, b) in enumerate(zip(hashes(drawn), hashes(others), strict=True)) if a != b]
    total = len(drawn.replicates)
    summary = f"draw for draw in {total} replicates"
    if differing:
        summary = f"in {len(differing)} of {total} replicates, first in replicate {differing[0]}"
    return _checked(control, drawn.record, passed=not differing, summary=summary)


def _valued(control: Control, runs: Runs) -> ControlProcedure:
    """Exactly the given value, or within four standard errors of it, to the maximum n.

    It is the value of what is disputed, as the rule and its estimate have it: a difference, a ratio, a proportion; of
    left and right, turned round where lower is better.
    """
    exact = yield from ask_value(runs, control.expect.value)
    drawn = yield from ask_replicates(runs, runs.probe.rule.maximum)
    known = as_double(exact)
    left, right = drawn.arrays()
    try:
        found = _compared(runs.probe, left, right, known)
    except BadInput as error:
        raise NoAnswer(Failure(f"{runs.target}: {error.what}")) from error
    gap, stderr = found.gap, found.stderr
    passed = gap == 0 or (stderr > 0 and abs(gap) <= WITHIN_STANDARD_ERRORS * stderr)
    if gap == 0:
        summary = "exactly"
    elif stderr > 0:
        errors = f"{abs(gap) / stderr:.1f} standard errors"
        summary = f"within {errors}" if passed else f"{errors} away"
    else:
        summary = "without noise"
    summary += f": {found.measured:.4g} measured, {known:.4g} expected"
    return _checked(control, drawn.record, passed=passed, summary=summary)


class _Compared(NamedTuple):
    """A measured value against the known one: their distance on the rule's scale, and its fixed-n standard error."""

    measured: float
    gap: float
    stderr: float


def _compared(probe: ReplicationProbe, left: Floats, right: Floats | None, known: float) -> _Compared:
    """How far the runs lie from the known value.

    Raises BadInput where a ratio has no value. For a ratio of means by L − ρR, as its rule has it.
    """
    left, right = _turned(probe, _over_items(left), None if right is None else _over_items(right))
    if not isinstance(probe.rule, RatioRule):
        each = left if right is None else left - right
        measured, each = float(each.mean()), each - known
    elif right is None:
        raise BadInput("a ratio needs both arms")
    elif probe.rule.estimand == "ratio-of-means":
        if not right.mean() > 0:
            raise BadInput("an arm's mean is not above zero, so there is no ratio of means")
        measured, each = float(left.mean() / right.mean()), left - known * right
    elif (left <= 0).any() or (right <= 0).any() or known <= 0:
        raise BadInput("a value is not above zero, which has no ratio")
    else:
        logs = np.log(left) - np.log(right)
        measured, each = float(np.exp(logs.mean())), logs - math.log(known)
    stderr = float(each.std(ddof=1)) / math.sqrt(len(each)) if len(each) > 1 else 0.0
    return _Compared(measured, float(each.mean()), stderr)


def _turned(probe: ReplicationProbe, left: Floats, right: Floats | None) -> tuple[Floats, Floats | None]:
    """The arms, the one that the claim favours first; a difference without arms changes its sign."""
    if not isinstance(probe.rule, RatioRule | DifferenceRule) or probe.rule.better == "higher":
        return left, right
    return (-left, None) if right is None else (right, left)


def _over_items(values: Floats) -> Floats:
    return values if values.ndim == 1 else np.asarray(values.mean(axis=1))


def _checked(control: Control, units: UnitsRecord, *, passed: bool, summary: str) -> ControlRun:
    answer = CHECK_PASSED if passed else CHECK_FAILED
    return ControlRun(ControlResult(control, answer, None if passed else Outcome.INVALID, summary), (), units)


def replication_result(probe: ReplicationProbe, run: ReplicationRun, controls: Sequence[ControlRun]) -> ProbeResult:
    """What the probe says once its controls are known. A decision from a file of runs is none."""
    more: dict[str, Any] = {}
    if isinstance(run, Failure):
        answer, own, summary = "NO_ANSWER", NO_ANSWER, run.what
        more = {"evidence": (), "failure": run.traceback or run.what}
    else:
        first = run[0].finding
        answer, own, summary = first.answer, Finding(first.outcome, first.reason), first.summary
        if probe.file:
            own = undecided(Reason.NOT_DECIDED) if own.outcome.decided else own
            summary = f"{RETROSPECTIVE}: {summary}"
        more = {
            "evidence": tuple(Evidence(end.stage, end.statistics, (), end.units) for end in run),
            "adequacy": first.adequacy,
            "flags": first.flags,
            "so_far": dataclasses.asdict(first.so_far) if first.so_far else None,
        }
    return concluded(
        probe,
        answer,
        own,
        summary,
        controls,
        rule={"kind": probe.rule.kind, "unit": probe.rule.unit, **dataclasses.asdict(probe.rule)},
        below_scale=probe.data == "synthetic",
        reproduces_claim=probe.reproduces_claim,
        question=probe.file,
        **more,
    )
