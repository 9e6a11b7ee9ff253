"""A run as a person reads it in a terminal, and can paste into a letter."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from os import PathLike, fspath

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from verifier.model.results import CaseResult, ProbeResult
from verifier.model.rulings import Ruling
from verifier.report import sentences
from verifier.report.audit import audit_line, audit_rows, audits, comparison_lines, finding_line, is_audit
from verifier.report.bound import bound_design_line, bound_size_line, bound_table, is_bound
from verifier.report.changes import would_change
from verifier.report.exact import (
    answer_line,
    exact_evidence,
    exact_lines,
    float_lines,
    hypothesis_rows,
    problem_line,
    problem_rows,
)
from verifier.report.growth import Growth, design_line, evidence_line, growth, sigma_line, size_line, slope_line
from verifier.report.numbers import number_table
from verifier.report.replication import is_replication, look_rows, margin_design_line, margin_lines, margin_size_line
from verifier.report.text import plain, plain_lines

MOST_FAILURE_LINES = 12
SIDES = ("E for less than claimed", "E for more than alleged")


def summary(
    result: CaseResult, report_path: str | PathLike[str] | None, certificates: Mapping[str, str] | None = None
) -> list[RenderableType]:
    """What to print, in order: the claim, the numbers, and last the conclusion with the report's path.

    Nothing in it is interpreted as markup, and no control character of the case file's words is passed on.
    """
    shown: list[RenderableType] = []
    if banner := sentences.banner_lines(result):
        shown.append(_lines(banner, style="bold"))
    shown.append(_lines(_opening(result)))
    for probe in result.probes:
        shown.extend(_probe(probe))
    shown.append(_lines([sentences.ledger_line(result)]))
    shown.append(_conclusion(result, report_path, certificates or {}))
    return shown


def _lines(lines: Sequence[str], style: str = "") -> Group:
    # a group, because rich joins bare texts of one print with blanks
    return Group(*(Text(line, style=style) for line in lines if line), Text())


def _opening(result: CaseResult) -> list[str]:
    run = f"exploratory run ({sentences.overrides_words(result.overrides)})" if result.exploratory else ""
    return [
        f"claim: {sentences.claim_line(result)}",
        "" if result.claim.paraphrase else f"tested as: {plain(result.claim.text)}",
        f"paper: {sentences.paper_line(result)}",
        f"dispute: {sentences.dispute_line(result)}",
        *comparison_lines(result.probes),
        sentences.reading_line(result),
        sentences.gate_line(result),
        *(sentences.premise_line(premise) for premise in result.premises),
        *(sentences.implementation_line(one) for one in result.implementations),
        *(sentences.prior_line(prior) for prior in result.priors),
        sentences.registration_line(result),
        sentences.witness_line(result),
        run,
        sentences.settings_line(result),
    ]


def _probe(probe: ProbeResult) -> list[RenderableType]:
    shown: list[RenderableType] = []
    if probe.evidence and probe.latest.points:
        shown.append(_points(probe))
    if probe.controls:
        shown.append(_controls(probe))
    if lines := _exact(probe) + _audits(probe):
        shown.append(_lines(lines))
    if looks := look_rows(probe):
        table = _table(f"probe {plain(probe.name)}", [(name, True) for name in ("looked at", *SIDES)])
        for row in looks:
            table.add_row(*map(Text, (row.n, row.below_claim, row.above_alleged)))
        shown.append(table)
    if lines := [line for line in _design_lines(probe) if line]:
        shown.append(_lines([f"probe {plain(probe.name)}: {'; '.join(lines)}"]))
    for failure in [probe.failure, *(run.traceback for run in probe.controls)]:
        if failure:
            last = plain_lines(failure).split("\n")[-MOST_FAILURE_LINES:]
            shown.append(_lines([f"probe {plain(probe.name)}: what went wrong", *last], "dim"))
    return shown


def _design_lines(probe: ProbeResult) -> list[str]:
    """What was registered and how much was run, "" where there is nothing to say."""
    if is_replication(probe):
        return [margin_design_line(probe), margin_size_line(probe)]
    if is_bound(probe):
        return [bound_design_line(probe), bound_size_line(probe)]
    found = growth(probe)
    return [design_line(probe), size_line(probe), *([evidence_line(found)] if found else [])]


def _exact(probe: ProbeResult) -> list[str]:
    found = exact_evidence(probe)
    if found is None:
        return []
    return [
        f"probe {plain(probe.name)}: {problem_line(probe)}; {answer_line(found)}",
        *(f"  {name}: {value}" for name, value in problem_rows(found)),
        *(
            f"  {'holds' if row.holds else 'FAILS'}: {row.name} ({row.sentence}{row.witness and '; '}{row.witness})"
            for row in hypothesis_rows(found)
        ),
        *(f"  {line}" for line in float_lines(found)),
    ]


def _audits(probe: ProbeResult) -> list[str]:
    lines = [f"probe {plain(probe.name)}: {audit_line(probe)}"] if audits(probe) else []
    for audit in audits(probe):
        lines += [f"  {finding_line(audit)}", *(f"    {name}: {value}" for name, value in audit_rows(audit))]
    return lines


def _table(title: str, columns: Sequence[tuple[str, bool]]) -> Table:
    table = Table(box=box.SIMPLE, title=Text(title), title_justify="left", title_style="", pad_edge=False)
    for name, is_number in columns:
        table.add_column(Text(name), justify="right" if is_number else "left", overflow="fold")
    return table


def _points(probe: ProbeResult) -> Table:
    found = bound_table(probe) if is_bound(probe) else number_table(probe.latest.points, probe.axis)
    table = _table(f"probe {plain(probe.name)}", [(plain(name), True) for name in found.columns])
    for row in found.rows:
        table.add_row(*map(Text, row))
    return table


def _controls(probe: ProbeResult) -> Table:
    columns = ["control", "expected", "got", "passed"]
    table = _table(f"controls of probe {plain(probe.name)}", [(name, False) for name in columns])
    for run in probe.controls:
        passed = Text("yes") if run.result.passed else Text("NO", style="bold red")
        table.add_row(
            Text(sentences.control_name(run)), Text(sentences.expected(run)), Text(sentences.obtained(run)), passed
        )
    return table


def _conclusion(result: CaseResult, report_path: str | PathLike[str] | None, certificates: Mapping[str, str]) -> Group:
    """The ruling about the dispute, what it rests on, what would change it, and where the report is."""
    numbers: list[str] = []
    for probe in sentences.deciding_probes(result):
        numbers += _growth_lines(result, growth(probe))
        numbers += _margin_lines(result, probe)
        exact = exact_evidence(probe)
        numbers += [plain(probe.summary), *exact_lines(exact)] if exact is not None else []
        numbers += [plain(probe.summary)] if is_audit(probe) or is_bound(probe) else []
        numbers += [f"residual class: {plain(probe.residual_class)}"] if probe.residual_class else []
        numbers += [f"by its design: {plain(flag)}" for flag in probe.flags]
        numbers += [sentences.shortfall_line(result, probe)]
    lines = [
        *(f"would change it: {line}" for line in would_change(result)),
        sentences.verdict_line(result),
        "",
        sentences.ruling_headline(result),
        *sentences.part_lines(result),
        sentences.gate_line(result),
        *(line for line in dict.fromkeys(numbers) if line),
        *(f"check it: verifier check {shlex.quote(path)}" for path in certificates.values()),
        *([] if report_path is None else [f"report: {fspath(report_path)}"]),
    ]
    headline = sentences.ruling_headline(result)
    return Group(*(Text(line, style="bold" if line == headline else "") for line in lines))


def _margin_lines(result: CaseResult, probe: ProbeResult) -> list[str]:
    if result.ruling.ruling is Ruling.INVALID:
        return []
    return [sentences.so_far_words(result) + line for line in margin_lines(probe, named=len(result.probes) > 1)]


def _growth_lines(result: CaseResult, found: Growth | None) -> list[str]:
    if found is None or result.ruling.ruling is Ruling.INVALID:  # numbers that bear on nothing are no conclusion
        return []
    lead = sentences.so_far_words(result)
    lines = [slope_line(found), sigma_line(found)]
    if result.ruling.ruling is Ruling.DISMISSED:  # what was shown is the other side's E, of which no sigma speaks
        lines.append(evidence_line(found))
    return [lead + line for line in lines]
