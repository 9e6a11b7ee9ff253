"""One probe of a case from start to result, as a procedure; its controls are procedures of their own."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from verifier.casefile import Case
from verifier.engine.controls import ControlProcedure, control_procedure
from verifier.engine.sweep import Asking, Grid, Judged, NoAnswer, judge
from verifier.engine.targets import Targets
from verifier.model.answers import NO_ANSWER, Finding
from verifier.model.controls import after_controls
from verifier.model.errors import BadInput
from verifier.model.results import ControlRun, Evidence, ProbeResult
from verifier.stats.classical import classical_fits
from verifier.sweeps.jobs import Failure
from verifier.sweeps.probe import SweepProbe

ProbeRun = tuple[Judged, ...] | Failure
"""What the rule found at each end of the run, or why there is no answer."""


def probe_procedure(
    case: Case, probe: SweepProbe, targets: Targets, *, discount: float, to_maximum: bool, budget: int | None
) -> Asking:
    """Runs the probe by its rule. Returns a ProbeRun; raises OutOfBudget where `budget` replicates are spent."""
    grid = Grid(case.registration, probe, probe.target, probe.target, probe.scales, case.settings, targets)
    try:
        return (yield from judge(grid, discount=discount, to_maximum=to_maximum, budget=budget))
    except NoAnswer as error:
        return error.failure


def control_procedures(case: Case, probe: SweepProbe, targets: Targets, *, discount: float) -> list[ControlProcedure]:
    """One procedure for each control of the probe, in case order."""
    return [
        control_procedure(
            control,
            probe=probe,
            registration=case.registration,
            defaults=case.defaults,
            targets=targets,
            discount=discount,
        )
        for control in probe.controls
    ]


def probe_result(probe: SweepProbe, run: ProbeRun, controls: Sequence[ControlRun]) -> ProbeResult:
    """What the probe says once its controls are known."""
    answer, own, summary, more = _own_finding(run, probe.scales)
    finding = after_controls(own, [control.result for control in controls])
    failed = [control.result for control in controls if not control.result.passed]
    if finding != own:
        summary = "; ".join(
            f"the control {control.control.target} should give {control.control.expect} and gave {control.answer}"
            f" ({control.summary})"
            for control in failed
        )
    below = max(probe.scales) < probe.claim_scale
    return ProbeResult(
        name=probe.name,
        kind=probe.kind,
        parts=probe.parts,
        about=probe.about,
        required=probe.required,
        answer=answer,
        own=own,
        finding=finding,
        summary=summary,
        rule={"kind": probe.rule.kind, **dataclasses.asdict(probe.rule)},
        axis=probe.axis,
        scale_reached=max(probe.scales),
        claim_scale=probe.claim_scale,
        below_scale=below or probe.data == "synthetic",
        reproduces_claim=probe.reproduces_claim and not below,
        controls=tuple(controls),
        **more,
    )


def _statistics(end: Judged, scales: Sequence[int]) -> dict[str, Any]:
    """The rule's statistics, with the classical fits beside them where statsmodels is there and they exist."""
    statistics = dataclasses.asdict(end.finding.statistics)
    try:
        statistics["classical"] = classical_fits(scales, end.values)
    except (ImportError, BadInput):
        statistics["classical"] = None
    return statistics


def _own_finding(run: ProbeRun, scales: Sequence[int]) -> tuple[str, Finding, str, dict[str, Any]]:
    if isinstance(run, Failure):
        return "NO_ANSWER", NO_ANSWER, run.what, {"evidence": (), "failure": run.traceback or run.what}
    first = run[0].finding
    own = Finding(first.outcome, first.reason)
    more = {
        "evidence": tuple(Evidence(end.stage, _statistics(end, scales), end.points, end.units) for end in run),
        "adequacy": first.adequacy,
        "residual_class": first.residual_class,
        "flags": first.flags,
        "so_far": dataclasses.asdict(first.so_far) if first.so_far else None,
    }
    return first.answer, own, first.summary, more
