"""What would change the ruling: derived from the ruling, its reasons and what it rests on."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from verifier.model.outcomes import Reason
from verifier.model.results import CaseResult, ProbeResult
from verifier.model.rulings import Ruling
from verifier.report.audit import audits, is_audit
from verifier.report.bound import is_bound
from verifier.report.growth import is_growth
from verifier.report.replication import is_replication, is_retrospective
from verifier.report.sentences import CHECKED, control_name, deciding_probes, expected, failed_controls, needed_words
from verifier.report.text import listed, plain, quoted

_TESTED = {
    "exact": "the problem file, which says what was tested",
    "audit": "the audit file, or in the function that was audited",
}
"""Kind of probe -> where an error would be found, other than in a re-implementation."""


def would_change(result: CaseResult) -> list[str]:
    """Each a full sentence, the most telling first."""
    ruling = result.ruling.ruling
    if ruling.decided:
        return [*_ground(result), *_decided(result), *_standing(result)]
    lines = [line for probe in deciding_probes(result) for line in _open(result, probe)]
    return list(dict.fromkeys([*lines, *_standing(result)]))


def _ground(result: CaseResult) -> list[str]:
    """Premises and reading: what a decision takes on trust."""
    lines = [
        f"A finding that this premise is wrong: {quoted(premise.text)} ({CHECKED[premise.checked]})."
        for premise in result.premises
    ]
    if not result.paper.source_sha256:
        lines.append("A reading of the full paper under which the statement says something else than what was tested.")
    elif result.claim.paraphrase:
        lines.append("The paper's own words, if they say something else than the paraphrase.")
    deciding = deciding_probes(result)
    controls = sum(len(probe.controls) for probe in deciding)
    if controls:
        what = _TESTED.get(deciding[0].kind, "the re-implementation")
        shown = sum(len(probe.controls) for probe in result.probes)
        names = listed([plain(probe.name) for probe in deciding if probe.controls])
        of = f" of probe {names}" if shown > controls else ""
        lines.append(f"An error found in {what}, or in one of the {controls} controls{of}.")
    else:
        lines.append("A control: none was registered, so nothing shows that the set-up would have found the opposite.")
    return lines


def _decided(result: CaseResult) -> list[str]:
    lines: list[str] = []
    upheld = result.ruling.ruling is Ruling.UPHELD
    for probe in deciding_probes(result):
        if is_growth(probe) and upheld:
            lines.append(
                "A bounded function outside the residual class that describes the points as well: one that saturates "
                "more slowly than any registered one."
            )
        elif is_growth(probe):
            lines.append(
                f"Growth that begins only beyond {probe.axis} = {probe.scale_reached:,}, or with a slope well below "
                "the registered smallest slope of interest; neither was excluded."
            )
        if is_bound(probe) and not upheld:
            lines.append("An instance that exceeds the bound outside the class that was searched whole.")
        if probe.below_scale and probe.scale_reached < probe.claim_scale:
            lines.append(f"The same sweep at the claim's own scale, {probe.axis} = {probe.claim_scale:,}.")
    return lines


def _standing(result: CaseResult) -> list[str]:
    """Versions of the paper after the one judged."""
    return [
        f"The later version {plain(later.arxiv)}, which was not read: the ruling does not extend to it."
        if later.claim == "not-read"
        else f"Nothing for the later version {plain(later.arxiv)}: its claim is another one, and needs its own case."
        for later in result.paper.later_versions
        if later.claim != "unchanged"
    ]


def _open(result: CaseResult, probe: ProbeResult) -> list[str]:
    if result.ruling.ruling is Ruling.NO_ANSWER:
        return [f"A run of probe {plain(probe.name)} that finishes; what went wrong is shown with it."]
    reason = Reason.CONFLICT if result.ruling.reason is Reason.CONFLICT else probe.reason
    if reason is None:
        return [f"An answer of probe {plain(probe.name)} that takes a side."]
    return [_BY_REASON.get(reason, _other)(result, probe)]


def _needed(_: CaseResult, probe: ProbeResult) -> str:
    failed = failed_controls(probe)
    if failed and probe.own != probe.finding:
        names = listed([control_name(run) for run in failed])
        return f"A design in which the controls ({names}) reach their known answers too; here they could not decide."
    if is_audit(probe):
        return _asked(probe)
    needed = needed_words(probe)
    if is_bound(probe):
        more = f"; {needed} of each instance would show the largest excess seen" if needed else ""
        return f"An instance whose cost exceeds the bound, or a whole finite class computed exactly{more}."
    return f"A design that can decide: {needed}." if needed else "A design large enough to decide; this one was not."


def _conflict(result: CaseResult, _: ProbeResult) -> str:
    names = listed([plain(each.name) for each in deciding_probes(result)])
    return f"Finding out which of the probes {names} is wrong, for they contradict each other."


def _control(_: CaseResult, probe: ProbeResult) -> str:
    failed = [f"{control_name(run)} ({expected(run)})" for run in failed_controls(probe)]
    return (
        f"A set-up in which the controls give their known answers, above all {listed(failed)}; mending it makes a new "
        "registration with fresh data."
    )


def _between(_: CaseResult, probe: ProbeResult) -> str:
    del probe
    return (
        "A new registration with a smaller slope of interest, if a slope below the present one would still matter for "
        "the claim, and more replicates to show it."
    )


def _misfit(_: CaseResult, probe: ProbeResult) -> str:
    return f"A registered law that describes what {plain(probe.name)} measured, or a range of scales that follows one."


def _margin_between(_: CaseResult, probe: ProbeResult) -> str:
    return (
        f"A new registration for probe {plain(probe.name)} with more runs, or with other sides, if an effect between "
        "the present ones would still matter for the claim."
    )


def _asked(probe: ProbeResult) -> str:
    missing = [plain(each) for audit in audits(probe) for each in audit["missing"]]
    what = listed(list(dict.fromkeys(missing))) or "what settles the basis of the two numbers"
    return f"What the audit {plain(probe.name)} asks for: {what}."


def _provenance(_: CaseResult, probe: ProbeResult) -> str:
    return (
        "The authors' answer to the question “Which code made the reported result: the released one, of which "
        f"{plain(probe.question)} was audited, or another?”."
    )


def _not_decided(_: CaseResult, probe: ProbeResult) -> str:
    if is_audit(probe):
        return f"Evidence beside the audit {plain(probe.name)}, which bears on the basis alone."
    if is_retrospective(probe):
        return f"The same runs for probe {plain(probe.name)}, made anew under a registration that stands before them."
    if is_replication(probe):
        return f"More runs for probe {plain(probe.name)} under a new registration."
    return f"More replicates for probe {plain(probe.name)} under a new registration, or larger scales."


def _malformed(_: CaseResult, probe: ProbeResult) -> str:
    return f"Data for probe {plain(probe.name)} that can be what they are said to be: {plain(probe.summary)}."


def _ambiguous(result: CaseResult, probe: ProbeResult) -> str:
    if is_bound(probe):
        return "A certificate, accepted by the checker, for the instance that was computed to exceed the bound."
    return _other(result, probe)


def _other(_: CaseResult, probe: ProbeResult) -> str:
    assert probe.reason is not None
    return f"Evidence of which this no longer holds: {probe.reason.sentence}."


_BY_REASON: Mapping[Reason, Callable[[CaseResult, ProbeResult], str]] = {
    Reason.UNDERPOWERED: _needed,
    Reason.HORIZON: _needed,
    Reason.CONFLICT: _conflict,
    Reason.CONTROL_FAILED: _control,
    Reason.SLOPE_BETWEEN: _between,
    Reason.BETWEEN: _margin_between,
    Reason.MISFIT: _misfit,
    Reason.NOT_DECIDED: _not_decided,
    Reason.MALFORMED: _malformed,
    Reason.AMBIGUOUS: _ambiguous,
    Reason.CODE_PROVENANCE: _provenance,
}
