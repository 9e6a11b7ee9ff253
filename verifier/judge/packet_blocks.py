"""The blocks of a packet: what every claim says first, and its numbers, controls and entries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from verifier.judge.claims import ClaimJudgement, DisputeJudgement, ProbeEvidence
from verifier.judge.findings import table_at, table_rows, text_at
from verifier.judge.quoting import harmless, quotation, raw_fence, table
from verifier.judge.sentences import because_words, first_line, not_checked, ruling_words_of, verdict_word

_MAX_PARTS = 30
_MAX_ROWS = 40
_MAX_DISPUTES = 8
_MAX_PREMISES = 10


def essentials(claim: ClaimJudgement, name: str) -> list[str]:
    """Heading, first line, the claim quoted, what was not checked, and the table of parts."""
    lines = [f"## Claim {name}", first_line(claim), "", quotation("claim", claim.text, limit=1_200), ""]
    shown = claim.disputes[:_MAX_DISPUTES]
    for number, dispute in enumerate(shown, start=1):
        private = " PRIVATE." if dispute.private else ""
        judged = harmless(dispute.version, 40) or "not named"
        standing = f"Entry {dispute.ruling.n} of {dispute.ruling.time}.{private}"
        lines.append(f"Dispute {number}: {ruling_words_of(dispute)}. Version judged: {judged}. {standing}")
        lines.append(quotation("what it says", text_at(dispute.case, "dispute", "text")))
        if dispute.status.facts.quote:
            lines.append(quotation("the paper's words", dispute.status.facts.quote))
    if len(claim.disputes) > len(shown):
        lines.append(f"{len(claim.disputes) - len(shown)} further disputes of this claim left out.")
    lines += ["", "Not checked:"]
    for number, dispute in enumerate(shown, start=1):
        lines += [f"- dispute {number}: {what}" for what in not_checked(dispute)]
    lines += ["- that the text quoted above is the paper's claim: compare it with the paper", ""]
    rows = [[part.id, verdict_word(part.finding), because_words(part.finding), part.text] for part in claim.parts]
    lines += table(["part", "verdict", "because", "its text, quoted"], rows[:_MAX_PARTS])
    if len(rows) > _MAX_PARTS:
        lines.append(f"{len(rows) - _MAX_PARTS} further parts left out.")
    return lines


def further(claim: ClaimJudgement) -> list[list[str]]:
    """The blocks that stand where there is room, the most decisive first: numbers, premises, controls, machine data."""
    disputes = claim.disputes[:_MAX_DISPUTES]
    numbered = [(number, one) for number, dispute in enumerate(disputes, start=1) for one in dispute.evidence]
    decisive = sorted(numbered, key=lambda pair: (not pair[1].decided, not pair[1].decisive))
    blocks = [_numbers(number, one) for number, one in decisive]
    blocks += [block for number, dispute in enumerate(disputes, start=1) if (block := _premises(number, dispute))]
    blocks += [block for number, one in decisive if (block := _controls(number, one))]
    blocks += [block for number, dispute in enumerate(disputes, start=1) if (block := _exploratory(number, dispute))]
    return [*blocks, _machine(claim)]


def _numbers(number: int, one: ProbeEvidence) -> list[str]:
    content = one.content
    kind, name = harmless(text_at(content, "kind"), 40), harmless(one.probe, 80)
    answer, outcome = harmless(text_at(content, "answer"), 60), harmless(text_at(content, "outcome"), 40)
    lines = [f"Dispute {number}, probe {name} ({kind}): {answer}, which is {outcome} (entry {one.n})."]
    if points := table_rows(content, "points"):
        axes = list(table_at(points[0], "at"))[:4]
        rows = [
            [*(table_at(point, "at").get(axis) for axis in axes), *(point.get(key) for key in _POINT_KEYS)]
            for point in points[:_MAX_ROWS]
        ]
        lines += ["", *table([*(harmless(axis, 40) for axis in axes), *_POINT_KEYS], rows, limit=40)]
    facts = [*flat(table_at(content, "statistics")), *flat(_exact_facts(content))][:_MAX_ROWS]
    if facts:
        lines += ["", *table(["what", "value"], [[key, value] for key, value in facts], limit=120)]
    return lines


_POINT_KEYS = ("estimate", "stderr", "n", "exact")
_EXACT_KEYS = ("fails_from", "fails_from_by_component", "first_violation", "horizon", "exit_step")


def _exact_facts(content: Mapping[str, Any]) -> dict[str, Any]:
    exact = table_at(content, "exact")
    return {key: exact[key] for key in _EXACT_KEYS if exact.get(key) is not None}


def flat(value: Mapping[str, Any], path: str = "", depth: int = 4) -> list[tuple[str, str]]:
    """The scalars in nested objects as (dotted path, text), down to 4 levels; short lists as one text."""
    found = []
    for key, item in value.items():
        name = f"{path}.{key}" if path else str(key)
        if isinstance(item, Mapping):
            found += flat(item, name, depth - 1) if depth > 1 else []
        elif isinstance(item, list):
            if 0 < len(item) <= 12 and not any(isinstance(one, list | Mapping) for one in item):
                found.append((name, ", ".join(map(str, item))))
        elif item is not None:
            found.append((name, "yes" if item is True else "no" if item is False else str(item)))
    return found


def _premises(number: int, dispute: DisputeJudgement) -> list[str]:
    premises = dispute.premises[:_MAX_PREMISES]
    if not premises:
        return []
    rows = [[i, checked, text] for i, (text, checked) in enumerate(premises, start=1)]
    return [f"Dispute {number} is judged given that:", "", *table(["premise", "checked", "its text, quoted"], rows)]


def _controls(number: int, one: ProbeEvidence) -> list[str]:
    controls = table_rows(one.content, "controls")[:_MAX_ROWS]
    if not controls:
        return []
    rows = [[row.get(key) for key in ("target", "expect", "answer", "passed")] for row in controls]
    head = [f"Dispute {number}, probe {harmless(one.probe, 80)}: runs with a known answer.", ""]
    return [*head, *table(["target", "expected", "answered", "passed"], rows, limit=80)]


def _exploratory(number: int, dispute: DisputeJudgement) -> list[str]:
    if not dispute.exploratory:
        return []
    rows = [[run.n, run.ruling, ", ".join(run.varied)] for run in dispute.exploratory[:_MAX_ROWS]]
    head = f"Dispute {number}: exploratory runs, which replace no ruling and count for nothing above."
    return [head, "", *table(["entry", "ruling", "varied"], rows, limit=80)]


def _machine(claim: ClaimJudgement) -> list[str]:
    """The same for programs: verdicts, rulings and where they stand."""
    document = {
        "claim_sha256": claim.claim_sha256,
        "verdict": verdict_word(claim.finding),
        "because": None if claim.finding is None else str(claim.finding.because)[:200],
        "disputes": [
            {
                "dispute": dispute.status.dispute,
                "ruling": dispute.status.ruling.ruling.value if dispute.status.ruling else None,
                "leaf": dispute.ruling.leaf,
                "registration": dispute.registration.leaf,
                "evidence": [one.leaf for one in dispute.evidence if one.decisive][:8],
            }
            for dispute in claim.disputes[:_MAX_DISPUTES]
        ],
    }
    return raw_fence(document, shrink="disputes")
