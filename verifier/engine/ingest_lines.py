"""Which unit and line of a table of runs hold the value that a rule cannot judge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from verifier.engine.ingest_rows import Measured, Reported
from verifier.model.results import ProbeResult
from verifier.stats.margin_answers import MarginAnswer
from verifier.stats.margin_data import may_be
from verifier.stats.margin_design import DifferenceRule, RatioRule
from verifier.stats.rate_rule import RateRule
from verifier.sweeps.jobs import ARMS, Sums, arms_of
from verifier.sweeps.probe import SweepProbe


def with_line(result: ProbeResult, reported: Reported, *, used: int, name: str) -> ProbeResult:
    """The result, its summary ending with the line of the first value that made it MALFORMED, where one did."""
    found = _outside(reported, used) if result.answer == MarginAnswer.MALFORMED else None
    return result if found is None else replace(result, summary=f"{result.summary} ({name}, line {found[1]})")


def malformed_unit(reported: Reported, run: Any) -> Measured | None:
    """The first unit that makes the rule's answer MALFORMED by itself; None where none does.

    run: what the rule found, as `ingest` has it. Under a rate it is a y without a resolved logarithm.
    """
    if not isinstance(run, tuple) or run[0].finding.answer != MarginAnswer.MALFORMED:
        return None
    probe, used = reported.layout.probe, run[0].units.count
    if isinstance(probe, SweepProbe) and isinstance(rule := probe.rule, RateRule):
        low = np.asarray((run[0].values <= 0) | (run[0].values < float(rule.resolution)))
        wrong = {(probe.scales[i], int(replicate)) for i, replicate in zip(*np.nonzero(low), strict=True)}
        return next((one for one in reported.used(used) if (one.unit.scale[0][1], one.unit.replicate) in wrong), None)
    found = _outside(reported, used)
    return None if found is None else found[0]


def _outside(reported: Reported, used: int) -> tuple[Measured, int] | None:
    """The first of the `used` units with a value that a margin rule cannot judge, and its line."""
    rule = reported.layout.probe.rule
    if not isinstance(rule, DifferenceRule | RatioRule):
        return None
    arms = ARMS if rule.better == "higher" else ARMS[::-1]  # the arm that favours the claim is judged first
    values = [(one, *value) for one in reported.used(used) for value in _values(one, reported.layout.arm(one.unit))]
    for wanted in arms:
        for one, line, arm, value in values:
            if arm in ("", wanted) and not may_be(rule, value, both=bool(arm)):
                return one, line
    return None


def _values(one: Measured, called: str) -> Iterator[tuple[int, str, float]]:
    """The line, arm and value of everything that the rule sees of a unit."""
    found: list[tuple[str, float]] = []
    for arm, sums in arms_of(one.row).items():
        found += [(arm or called, value) for value in _seen(sums)]
    for line, (arm, value) in zip(one.lines, found, strict=True):
        yield line, arm, value


def _seen(sums: Sums) -> Sequence[float]:
    return sums.items if sums.items is not None else [float(sums.mean)]
