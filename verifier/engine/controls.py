"""Controls of a sweep: runs whose answer is known."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from verifier.engine.sweep import Drawn, Grid, NoAnswer, Results, as_double, ask_units, ask_values, cell, judge
from verifier.engine.targets import Targets
from verifier.engine.tasks import unanswered
from verifier.model.case import Control, Value
from verifier.model.controls import CHECK_FAILED, CHECK_PASSED, ControlResult
from verifier.model.outcomes import Outcome
from verifier.model.results import ControlRun
from verifier.sweeps.jobs import Job
from verifier.sweeps.probe import SweepProbe

WITHIN_STANDARD_ERRORS = 4


ControlProcedure = Generator[Sequence[Job], Results, ControlRun]


def control_procedure(
    control: Control,
    *,
    probe: SweepProbe,
    registration: str,
    defaults: Mapping[str, Value],
    targets: Targets,
    discount: float,
) -> ControlProcedure:
    """A procedure that runs `control` at the registered scales and default parameters, whatever the run's options.

    A control without answer has the outcome NO_ANSWER; it never raises.
    """
    stream_target = control.expect.value if control.expect.kind == "equals" else control.target

    def grid(target: str) -> Grid:
        return Grid(registration, probe, target, stream_target, probe.registered_scales, defaults, targets)

    try:
        match control.expect.kind:
            case "named":
                return (yield from _ruled(control, grid(control.target), discount))
            case "equals":
                return (yield from _equal(control, grid(control.target), grid(control.expect.value)))
            case "values":
                return (yield from _valued(control, grid(control.target)))
    except NoAnswer as error:
        return unanswered(control, error.failure)


def most_control_units(control: Control, probe: SweepProbe) -> int:
    """The most units that a control draws; under `equals` its partner draws as many."""
    drawing = 2 if control.expect.kind == "equals" else 1
    return drawing * probe.rule.maximum * len(probe.registered_scales)


def most_control_jobs(control: Control, probe: SweepProbe) -> int:
    """The same with the exact values it asks for."""
    named = {"named": [probe.baseline, probe.exact], "equals": [probe.baseline]}
    values = named.get(control.expect.kind, [probe.baseline, control.expect.value])
    return most_control_units(control, probe) + len(probe.registered_scales) * len([name for name in values if name])


def _ruled(control: Control, grid: Grid, discount: float) -> ControlProcedure:
    """An outcome or answer control: judged by the probe's rule, with its looks and its stopping."""
    (judged,) = yield from judge(grid, discount=discount)
    finding = judged.finding
    result = ControlResult(control, finding.answer, finding.outcome, finding.summary)
    # the probe's exact curve is not this target's
    points = tuple(replace(point, exact=None) for point in judged.points)
    return ControlRun(result, points, judged.units)


def _equal(control: Control, own: Grid, partner: Grid) -> ControlProcedure:
    """Draw for draw on the partner's streams, to the maximum n."""
    (baseline,) = yield from ask_values(own, [own.probe.baseline])
    drawn = yield from ask_units(own, own.probe.rule.maximum)
    others = yield from ask_units(partner, own.probe.rule.maximum)
    differing = [
        (scale, replicate)
        for scale in own.scales
        for replicate, (a, b) in enumerate(zip(drawn.sums[scale], others.sums[scale], strict=True))
        if a.values_sha256 != b.values_sha256
    ]
    if not differing:
        summary = f"draw for draw in {len(drawn.rows)} units"
    else:
        scale, replicate = differing[0]
        where = f"{own.probe.axis} = {scale}, replicate {replicate}"
        summary = f"in {len(differing)} of {len(drawn.rows)} units, first at {where}"
    return _checked(control, drawn, baseline, passed=not differing, summary=summary)


def _valued(control: Control, grid: Grid) -> ControlProcedure:
    """Exactly the given values, or within four standard errors of them, to the maximum n."""
    baseline, values = yield from ask_values(grid, [grid.probe.baseline, control.expect.value])
    drawn = yield from ask_units(grid, grid.probe.rule.maximum)
    worst, exact, wrong, first = 0.0, 0, [], ""
    for scale in grid.scales:
        mean, stderr, _ = cell(drawn.sums[scale])
        gap = mean - baseline.get(scale, Fraction(0)) - values[scale]
        if gap == 0:
            exact += 1
        elif not stderr or abs(as_double(gap)) > WITHIN_STANDARD_ERRORS * stderr:
            wrong.append(scale)
            measured = as_double(mean - baseline.get(scale, Fraction(0)))
            first = first or f"{measured:.4g} measured, {as_double(values[scale]):.4g} expected at {scale}"
        if gap and stderr:
            worst = max(worst, abs(as_double(gap)) / stderr)
    if wrong:
        summary = f"at {grid.probe.axis} = {', '.join(map(str, wrong))} ({first})"
    else:
        near = len(grid.scales) - exact
        parts = [f"exactly at {exact} scales"] if exact else []
        parts += [f"within {worst:.1f} standard errors at {near} scales"] if near else []
        summary = ", ".join(parts)
    return _checked(control, drawn, baseline, passed=not wrong, summary=summary, exact=values)


def _checked(
    control: Control,
    drawn: Drawn,
    baseline: Mapping[int, Fraction],
    *,
    passed: bool,
    summary: str,
    exact: Mapping[int, Fraction] | None = None,
) -> ControlRun:
    answer = CHECK_PASSED if passed else CHECK_FAILED
    result = ControlResult(control, answer, None if passed else Outcome.INVALID, summary)
    filled = {scale: baseline.get(scale, Fraction(0)) for scale in drawn.grid.scales}
    return ControlRun(result, drawn.points(filled, exact or {}), drawn.record)
