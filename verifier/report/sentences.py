"""The sentences that terminal, JSON and HTML share, each from the result alone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from verifier.model.case import Implementation, Premise, Prior
from verifier.model.controls import CHECK_FAILED, CHECK_PASSED
from verifier.model.identity import discount
from verifier.model.outcomes import Outcome, Reason
from verifier.model.results import CaseResult, ControlRun, ProbeResult
from verifier.model.rulings import Ruling
from verifier.report.replication import is_replication, is_retrospective, retrospective_words
from verifier.report.text import counted, expectation_words, listed, obtained_words, plain, quoted

SEEN = {"paper": "the paper", "release": "the authors' released code", "logbook": "a logbook"}
CHECKED = {"by-us": "checked by us", "by-author": "confirmed by an author", "no": "checked by nobody"}


def deciding_probes(result: CaseResult) -> tuple[ProbeResult, ...]:
    """The probes that fixed the ruling, in case order; all of them where the ruling names none."""
    names = {name for part in result.ruling.parts if part in result.parts for name in result.parts[part].fixed_by}
    return tuple(probe for probe in result.probes if probe.name in names) or result.probes


def ruling_headline(result: CaseResult) -> str:
    """What the case says about the dispute in one clause; where it is no decision, the reason comes first.

    Holds no words from the case file but the names of parts, probes and controls.
    """
    ruling, parts = result.ruling.ruling, parts_words(result)
    match ruling:
        case Ruling.UPHELD:
            verb = "does" if len(result.ruling.parts) == 1 else "do"
            text = f"{result.ruling.ruling.words}: {parts} of the claim {verb} not hold as stated"
        case Ruling.DISMISSED:
            text = f"{result.ruling.ruling.words}: what it asserts is shown not to hold for {parts} of the claim"
            if result.verdict.because == Reason.DISPUTE_DISMISSED:
                text += ", which does not verify the claim"
        case _:
            text = f"{reason_words(result)}, so {result.ruling.ruling.words} for {parts} of the claim"
    return _retrospective(result) + text + _below_scale(result) + _exploratory(result)


def banner_lines(result: CaseResult) -> list[str]:
    """What stands before everything else where evidence was not drawn here: why it decides nothing, or who ran it."""
    read = [f"retrospective: {retrospective_words(probe)}" for probe in result.probes if is_retrospective(probe)]
    return [*map(plain, result.elsewhere), *read]


def _retrospective(result: CaseResult) -> str:
    """What comes first where the ruling rests on runs that were made elsewhere."""
    return "retrospective: " if any(map(is_retrospective, deciding_probes(result))) else ""


def _exploratory(result: CaseResult) -> str:
    if not result.exploratory:
        return ""
    return f"; an exploratory run ({overrides_words(result.overrides)}), which replaces no ruling"


def ruling_sentence(result: CaseResult) -> str:
    """The headline, then what the probes that fixed the ruling found, with their numbers."""
    found = [
        f"{plain(probe.name)}: {plain(probe.summary)}" if len(result.probes) > 1 else plain(probe.summary)
        for probe in deciding_probes(result)
        if probe.summary
    ]
    return "; ".join([ruling_headline(result), *part_lines(result), *found])


def part_lines(result: CaseResult) -> list[str]:
    """What was found about each part, where several were tested: its ruling, why, and what would decide.

    Of a part that did not fix the ruling in all, the summaries of the probes that fixed its own come with it: no
    number of theirs stands under the headline.
    """
    if len(result.parts) < 2:
        return []
    lines = []
    for part, found in result.parts.items():
        disputed = "" if part in result.dispute.parts else " (not disputed)"
        why = f": {found.reason.sentence}" if found.reason is not None else ""
        fixing = [probe for probe in result.probes if probe.name in found.fixed_by]
        needed = [line for line in map(adequacy_line, fixing) if line and found.ruling is Ruling.UNDERPOWERED]
        other = [] if part in result.ruling.parts else [probe for probe in fixing if probe.summary]
        numbers = [f"{plain(probe.name)}: {plain(probe.summary)}" for probe in other]
        lines.append("; ".join([f"part {plain(part)}{disputed}, {found.ruling.words}{why}", *needed, *numbers]))
    return lines


def parts_words(result: CaseResult) -> str:
    """The parts that fixed the ruling: `part a`, `parts a and b`."""
    parts = [plain(part) for part in result.ruling.parts]
    return f"part{'s' if len(parts) > 1 else ''} {listed(parts)}"


def reason_words(result: CaseResult) -> str:
    """Why the ruling is not a decision, with what it concerns."""
    reason, probes = result.ruling.reason, deciding_probes(result)
    if result.ruling.ruling is Ruling.NO_ANSWER:
        silent = [probe for probe in probes if probe.outcome is Outcome.NO_ANSWER]
        return listed([_silence(probe) for probe in silent or probes[:1]])
    if reason is Reason.CONFLICT:
        return f"{reason.sentence} (probes {listed([plain(probe.name) for probe in probes])})"
    if reason is Reason.CONTROL_FAILED:
        failed = [control_name(run) for probe in probes for run in failed_controls(probe)]
        return f"{reason.sentence} ({listed(failed)})" if failed else reason.sentence
    read = [probe for probe in probes if is_retrospective(probe)]
    if reason is Reason.NOT_DECIDED and read:
        return listed([retrospective_words(probe) for probe in read])
    return "no side was reached" if reason is None else reason.sentence


def _silence(probe: ProbeResult) -> str:
    own = probe.own.outcome is Outcome.NO_ANSWER
    return f"{'probe' if own else 'a control of probe'} {plain(probe.name)} failed"


def failed_controls(probe: ProbeResult) -> list[ControlRun]:
    """The controls that did not give what was expected."""
    return [run for run in probe.controls if not run.result.passed]


def control_name(run: ControlRun) -> str:
    """A control's function without its module, or its problem file without folder and ending."""
    target = run.control.target
    return plain(target.rpartition(":")[2] if ":" in target else PurePosixPath(target).stem)


def expected(run: ControlRun) -> str:
    """What a control must give, in words."""
    return expectation_words(run.control.expect.kind, run.control.expect.value)


def obtained(run: ControlRun) -> str:
    """What a control gave, in words; a check with how closely."""
    words = obtained_words(
        run.control.expect.kind, value=run.control.expect.value, answer=run.result.answer, outcome=run.result.outcome
    )
    checked = run.control.expect.kind != "named" and run.result.answer in {CHECK_PASSED, CHECK_FAILED}
    return f"{words} {plain(run.result.summary)}" if checked and run.result.summary else words


def _below_scale(result: CaseResult) -> str:
    below = [probe for probe in deciding_probes(result) if probe.below_scale]
    if not result.ruling.ruling.decided or not below:
        return ""
    probe = below[0]
    if probe.axis and probe.scale_reached < probe.claim_scale:
        return (
            f"; decided only up to {probe.axis} = {probe.scale_reached:,}, below the claim's own scale "
            f"{probe.axis} = {probe.claim_scale:,}"
        )
    return "; decided only below the claim's own scale or on stand-in data"


def claim_line(result: CaseResult) -> str:
    """The claim as the paper words it, or as a paraphrase that says so, and where it stands in the paper."""
    claim = result.claim
    where = f" ({plain(claim.locator)})" if claim.locator else ""
    if claim.paraphrase:
        return f"{plain(claim.text)} [{paraphrase_words(result)}]{where}"
    return f"{quoted(claim.quote)}{where}"


def paraphrase_words(result: CaseResult) -> str:
    """What is said of a claim without the paper's own words."""
    return "paraphrase; the paper was not read" if not result.paper.source_sha256 else "paraphrase; no quote is given"


def reading_line(result: CaseResult) -> str:
    """Whether the full paper was read, and in which version."""
    version = f"arXiv {plain(result.paper.arxiv)}" if result.paper.arxiv else "the version named"
    if unread := unread_words(result):
        seen = _seen(result)
        but = f" (source_sha256 is empty), though the writer of {listed(seen)} had seen the paper" if seen else ""
        return f"{unread}{but}; the ruling concerns {version}"
    return f"the ruling concerns {version}, whose source was read (SHA-256 {plain(result.paper.source_sha256)})"


def unread_words(result: CaseResult) -> str:
    """That no full paper is recorded as read; "" where one is."""
    if result.paper.source_sha256:
        return ""
    if _seen(result):
        return "nobody on this case is recorded to have read the full paper"
    return "nobody on this case read the full paper"


def _seen(result: CaseResult) -> list[str]:
    """The re-implementations whose writer had seen the paper, or some of it."""
    return list(dict.fromkeys(plain(one.target) for one in result.implementations if "paper" in one.saw))


def paper_line(result: CaseResult) -> str:
    """Title and identifiers of the paper."""
    paper = result.paper
    ids = [f"OpenReview {plain(paper.openreview)}"] if paper.openreview else []
    ids += [f"arXiv {plain(paper.arxiv)}"] if paper.arxiv else []
    ids += [f"DOI {plain(paper.doi)}"] if paper.doi else []
    return quoted(paper.title) + (f" ({', '.join(ids)})" if ids else "")


def dispute_line(result: CaseResult) -> str:
    """The dispute in its own words, and where they stand."""
    dispute = result.dispute
    place = source_words(dispute.source)
    by = f"reported by {plain(dispute.reported_by)}" if dispute.reported_by else ""
    origin = ", ".join(words for words in (place, by) if words)
    return f"{quoted(dispute.text)}{f' ({origin})' if origin else ''}"


def source_words(source: Mapping[str, str]) -> str:
    """Where a dispute stands: kind, then each given field."""
    kind = plain(source.get("kind", ""))
    rest = [f"{key} {plain(value)}" for key, value in source.items() if key != "kind" and value]
    return " ".join([kind, ", ".join(rest)]).strip()


def implementation_line(implementation: Implementation) -> str:
    """A re-implementation, and what its writer had seen."""
    saw = ", ".join(SEEN[source] for source in implementation.saw) or "none of the sources"
    return f"re-implementation {plain(implementation.target)}: its writer had seen {saw}"


def prior_line(prior: Prior) -> str:
    """An earlier public report about the claim."""
    return f"earlier report: {plain(prior.url)} {quoted(prior.text)}"


def premise_line(premise: Premise) -> str:
    """A premise: "given that …", who checked it and on what ground."""
    source = f": {plain(premise.source)}" if premise.source else ""
    return f"given that: {plain(premise.text)} [{CHECKED[premise.checked]}{source}]"


def gate_reasons(result: CaseResult) -> list[str]:
    """Why the contact gate is closed; empty where it is open: only a ruling that stands gives reason to write."""
    reasons = []
    if result.ruling.ruling is not Ruling.UPHELD:
        reasons.append(f"{result.ruling.ruling.sentence}, so there is nothing to write about")
    if result.exploratory:
        reasons.append("this run is exploratory")
    reasons += _uncontrolled(result)
    reasons += ["the claim is a paraphrase, the paper's own words are missing"] if result.claim.paraphrase else []
    reasons += [
        f"the later version {plain(version.arxiv)} was not read"
        for version in result.paper.later_versions
        if version.claim == "not-read"
    ]
    unchecked = [premise for premise in result.premises if premise.checked == "no"]
    reasons += [f"the premise {quoted(premise.text)} was checked by nobody" for premise in unchecked]
    return reasons


def _uncontrolled(result: CaseResult) -> list[str]:
    """The deciding parts none of whose fixing probes has a control; of several parts each is named."""
    bare = [
        part
        for part in result.ruling.parts
        if part in result.parts
        and not any(probe.controls for probe in result.probes if probe.name in result.parts[part].fixed_by)
    ]
    if not bare and any(probe.controls for probe in deciding_probes(result)):
        return []
    named = f" (part {listed([plain(part) for part in bare])})" if bare and len(result.parts) > 1 else ""
    return [f"no control shows that the set-up would have found the opposite{named}"]


def gate_cautions(result: CaseResult) -> list[str]:
    """What does not close the contact gate and must be known to whoever goes through it."""
    open_parts = [
        f"nothing may be written about part {plain(part)}, for which {found.ruling.words}"
        for part, found in result.parts.items()
        if part in result.dispute.parts and found.ruling is not Ruling.UPHELD
    ]
    return [*open_parts, *filter(None, [unread_words(result)])]


def gate_line(result: CaseResult) -> str:
    """Whether anybody may write to the authors on this ground, and what stands in the way or must be known."""
    reasons = gate_reasons(result)
    if not reasons:
        several = f" for {parts_words(result)}" if len(result.parts) > 1 else ""
        text = f"contact gate open{several}: ruling, controls, quote, later versions and premises are as declared"
        cautions = gate_cautions(result)
        return f"{text}; but {'; and '.join(cautions)}" if cautions else text
    return f"contact gate closed, do not write to the authors on this ground: {'; '.join(reasons)}"


def later_version_lines(result: CaseResult) -> list[str]:
    """What became of the claim in each later version."""
    words = {
        "unchanged": "states the claim unchanged",
        "changed": "states the claim differently",
        "withdrawn": "no longer states the claim",
        "not-read": "was not read",
    }
    return [f"the later version {plain(later.arxiv)} {words[later.claim]}" for later in result.paper.later_versions]


def registration_line(result: CaseResult) -> str:
    """Which registration of this claim and dispute the run belongs to: "registration 2 of 3"."""
    total = len(result.registrations)
    text = f"registration {result.ordinal} of {total} of this claim and dispute"
    if result.ordinal == 1:
        return text
    return f"{text}; every E-value is shown after its discount of {discount(result.ordinal):.2g}"


def witness_line(result: CaseResult) -> str:
    """Whether somebody outside saw the registration before there was evidence under it."""
    if result.ledger.witness:
        return f"witnessed: {plain(result.ledger.witness)} cosigned the registration before its first evidence"
    return "not witnessed: that the rule was registered before its evidence is the word of this ledger alone"


def overrides_words(overrides: Mapping[str, Any]) -> str:
    """What the command line changed: `scale k = 8, 16; set variant = no_gate`."""
    changes = []
    for kind, values in overrides.items():
        for name, value in values.items() if isinstance(values, Mapping) else [("", values)]:
            shown = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
            changes.append(plain(f"{kind} {name} = {shown}"))
    return "; ".join(changes)


def verdict_line(result: CaseResult) -> str:
    """The judge's word about the claim and what it is because of."""
    because = str(result.verdict.because)
    words = next((reason.sentence for reason in Reason if reason == because), plain(because))
    word = "none is written" if result.verdict.verdict is None else result.verdict.verdict.value
    return f"judge's word about the claim: {word} ({words})"


def adequacy_line(probe: ProbeResult) -> str:
    """Whether the design could have decided, and what would."""
    if probe.adequacy is None:
        return ""
    if probe.adequacy.adequate and is_replication(probe):
        return "the registered design was large enough to decide"
    if probe.adequacy.adequate:
        return "the registered design was large enough to decide at the claim's own scale"
    needed = needed_words(probe)
    return "the design was too small to decide" + (f"; needed: {needed}" if needed else "")


def shortfall_line(result: CaseResult, probe: ProbeResult) -> str:
    """What the design lacked, where that is why nothing was decided; else nothing."""
    short = probe.adequacy is not None and not probe.adequacy.adequate
    return adequacy_line(probe) if short and result.ruling.ruling is Ruling.UNDERPOWERED else ""


def so_far_words(result: CaseResult) -> str:
    """What stands before the numbers of a run that decided nothing."""
    return "" if result.ruling.ruling.decided else "so far, not a ruling: "


def needed_words(probe: ProbeResult) -> str:
    """What would decide: `k up to 1,024, 57 replicates, 5,700 phases`."""
    if probe.adequacy is None:
        return ""
    words = []
    for name, value in probe.adequacy.needed.items():
        if name == probe.axis:
            words.append(f"{name} up to {value:,}")
        elif name == "replicates":
            words.append(counted(value, "replicate"))
        else:
            words.append(f"{value:,} {plain(name)}")
    return ", ".join(words)


def settings_line(result: CaseResult) -> str:
    """The parameters' values in this run."""
    if not result.settings:
        return ""
    return "parameters: " + ", ".join(f"{plain(name)} = {plain(str(value))}" for name, value in result.settings.items())


def repeat_line(result: CaseResult) -> str:
    """What it takes to obtain the same numbers."""
    return (
        "in a ledger that holds no other registration of this dispute, the same case folder (registration "
        f"{result.registration[:16]}, files {result.code_sha256[:16]}) gives these very numbers"
    )


def ledger_line(result: CaseResult) -> str:
    """Where the run stands in the ledger."""
    ledger = result.ledger
    evidence = listed([leaf[:16] for leaf in ledger.evidence]) or "none"
    return (
        f"ledger: {counted(ledger.size, 'entry', 'entries')}, root {ledger.root}; registration "
        f"{ledger.registration[:16]}, evidence {evidence}, ruling {ledger.ruling[:16] or 'none'}"
    )
