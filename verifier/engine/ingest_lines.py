"""Which line of a table of runs holds the value that a rule cannot judge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from verifier.engine.ingest_rows import Measured, Reported
from verifier.model.results import ProbeResult
from verifier.stats.margin_answers import MarginAnswer
from verifier.stats.margin_data import may_be
from verifier.stats.margin_design import DifferenceRule, RatioRule
from verifier.sweeps.jobs import ARMS, Sums, arms_of


def with_line(result: ProbeResult, reported: Reported, *, used: int, name: str) -> ProbeResult:
    """The result, its summary ending with the line of the first value that made it MALFORMED, where one did."""
    rule = reported.layout.probe.rule
    if result.answer != MarginAnswer.MALFORMED or not isinstance(rule, DifferenceRule | RatioRule):
        return result
    arms = ARMS if rule.better == "higher" else ARMS[::-1]  # the arm that favours the claim is judged first
    values = [value for one in reported.used(used) for value in _values(one, reported.layout.arm(one.unit))]
    for wanted in arms:
        for line, arm, value in values:
            if arm in ("", wanted) and not may_be(rule, value, both=bool(arm)):
                return replace(result, summary=f"{result.summary} ({name}, line {line})")
    return result


def _values(one: Measured, called: str) -> Iterator[tuple[int, str, float]]:
    """The line, arm and value of everything that the rule sees of a unit."""
    found: list[tuple[str, float]] = []
    for arm, sums in arms_of(one.row).items():
        found += [(arm or called, value) for value in _seen(sums)]
    for line, (arm, value) in zip(one.lines, found, strict=True):
        yield line, arm, value


def _seen(sums: Sums) -> Sequence[float]:
    return sums.items if sums.items is not None else [float(sums.mean)]
