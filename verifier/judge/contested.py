"""Contested claims: every independent team's position, and what separates them. Nothing is folded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from verifier.judge.claims import DisputeJudgement, PaperJudgement
from verifier.judge.findings import reason_of, table_at, table_rows, text_at
from verifier.judge.positions import ImportedVerdict
from verifier.judge.sentences import because_words, verdict_word
from verifier.model.canonical import canonical_sha256
from verifier.model.combined import combine_claim, combine_part
from verifier.model.outcomes import Reason
from verifier.model.verdicts import Verdict, VerdictFinding

NOT_EXAMINED = "not examined here"
_TOO_SMALL = (Reason.HORIZON, Reason.UNDERPOWERED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """What one team says of one claim, and on what.

    `parts` are (part, word) as far as they were tested. `adequacy` says whether its horizon could have shown it;
    `evidence` is equal for positions on the same evidence, and `copies` counts the further names under which the same
    evidence was given. `leaf` is its entry.
    """

    team: str
    verdict: str
    because: str
    adequacy: str
    version: str
    parts: tuple[tuple[str, str], ...]
    evidence: str
    n: int
    leaf: str
    examined: bool
    private: bool = False
    copies: int = 0


@dataclass(frozen=True, slots=True)
class ContestedClaim:
    """A claim on which independent teams hold opposite positions; `text` is a stranger's, "" where it is not known."""

    paper: str
    claim_sha256: str
    text: str
    positions: tuple[Position, ...]
    separates: tuple[str, ...]


def contested(papers: Iterable[PaperJudgement], imports: Iterable[ImportedVerdict]) -> list[ContestedClaim]:
    """The claims that one independent team finds verified and another falsified, in the order of the papers.

    Positions are those of the standing rulings in `papers` and of `imports`, whose word alone is known. Evidence given
    under several names counts once.
    """
    found: dict[tuple[str, str], list[Position]] = {}
    texts: dict[tuple[str, str], str] = {}
    for paper in papers:
        for claim in paper.claims:
            key = (paper.paper, claim.claim_sha256)
            texts[key] = claim.text
            found.setdefault(key, []).extend(ruled_position(dispute) for dispute in claim.disputes)
    for one in imports:
        for claim_sha256, verdict in one.claims.items():
            found.setdefault((one.paper, claim_sha256), []).append(imported_position(one, verdict))
    made = []
    for (identity, claim_sha256), positions in found.items():
        teams = independent(positions)
        if opposite(teams):
            text = texts.get((identity, claim_sha256), "")
            made.append(ContestedClaim(identity, claim_sha256, text, tuple(teams), tuple(what_separates(teams))))
    return made


def opposite(positions: Sequence[Position]) -> bool:
    """Whether one finds verified and another falsified: the claim as a whole, or one part of it."""
    both = {Verdict.VERIFIED.value, Verdict.FALSIFIED.value}
    by_part: dict[str, set[str]] = {"": {position.verdict for position in positions}}
    for position in positions:
        for part, word in position.parts:
            by_part.setdefault(f"part {part}", set()).add(word)
    return any(both <= words for words in by_part.values())


def independent(positions: Sequence[Position]) -> list[Position]:
    """Of positions on the same evidence the first, which counts its copies; of a team's imported words the last.

    Rulings made here all stay, each on evidence of its own: a conflict among them is not folded either.
    """
    by_evidence: dict[str, list[Position]] = {}
    for position in positions:
        by_evidence.setdefault(position.evidence, []).append(position)
    by_team: dict[str, Position] = {}
    for same in by_evidence.values():
        copies = len({position.team for position in same}) - 1
        first = same[0]
        by_team[first.leaf if first.examined else first.team] = _copied(first, copies)
    return sorted(by_team.values(), key=lambda position: position.n)


def _copied(position: Position, copies: int) -> Position:
    return replace(position, copies=copies) if copies else position


def ruled_position(dispute: DisputeJudgement) -> Position:
    """The position of the team that put a dispute on trial here."""
    parts = [text_at(row, "id") for row in table_rows(table_at(dispute.case, "claim"), "parts")]
    finding = combine_claim({part: combine_part(_listed(dispute, part)) for part in parts or dispute.findings})
    return Position(
        team=dispute.registration.group or dispute.registration.by,
        verdict=verdict_word(finding),
        because=because_words(finding),
        adequacy=adequacy_words(dispute),
        version=dispute.version,
        parts=tuple((part, verdict_word(one)) for part, one in dispute.findings.items()),
        # where the same units lie under two disputes, it is one piece of evidence
        evidence=canonical_sha256(sorted(_evidence_key(one.content, one.leaf) for one in dispute.evidence)),
        n=dispute.ruling.n,
        leaf=dispute.ruling.leaf,
        examined=True,
        private=dispute.private,
    )


def _listed(dispute: DisputeJudgement, part: str) -> list[VerdictFinding]:
    return [dispute.findings[part]] if part in dispute.findings else []


def _evidence_key(content: object, leaf: str) -> str:
    root = text_at(content, "units", "root") if isinstance(content, dict) else ""
    return root or leaf


def imported_position(one: ImportedVerdict, verdict: Verdict) -> Position:
    """The position of a team whose verdict was imported: a word, with nothing known of what it stands on."""
    return Position(
        team=one.owner,
        verdict=verdict.value,
        because=NOT_EXAMINED,
        adequacy=NOT_EXAMINED,
        version="",
        parts=(),
        evidence=one.evidence_sha256 or one.leaf,
        n=one.n,
        leaf=one.leaf,
        examined=False,
    )


def adequacy_words(dispute: DisputeJudgement) -> str:
    """Whether the horizon of a dispute's evidence could have shown it, with the scales reached."""
    small = [one.probe for one in dispute.evidence if reason_of(one.content.get("reason")) in _TOO_SMALL]
    reached = scales_reached(dispute)
    scales = "; ".join(f"{axis} up to {value}" for axis, value in reached.items())
    if small:
        return f"too small in {len(small)} of {len(dispute.evidence)} probes" + (f" ({scales})" if scales else "")
    return f"adequate ({scales})" if scales else "no scale: exact, audit or record evidence"


def scales_reached(dispute: DisputeJudgement) -> dict[str, int]:
    """Axis -> the largest value at which the evidence has a point."""
    reached: dict[str, int] = {}
    for one in dispute.evidence:
        for point in table_rows(one.content, "points"):
            for axis, value in table_at(point, "at").items():
                if isinstance(value, int):
                    reached[axis] = max(value, reached.get(axis, value))
    return reached


def what_separates(positions: Sequence[Position]) -> list[str]:
    """In what the positions differ besides their words, as far as it is known here."""
    examined = [position for position in positions if position.examined]
    said = []
    if len(examined) < len(positions):
        count = len(positions) - len(examined)
        said.append(f"{count} of {len(positions)} positions are words alone: what they stand on was not examined here")
    versions = {position.version for position in examined if position.version}
    if len(versions) > 1:
        said.append(f"they judge different versions of the paper: {', '.join(sorted(versions))}")
    if len({position.adequacy for position in examined}) > 1:
        said.append("their horizons differ: " + "; ".join(f"{one.team}: {one.adequacy}" for one in examined))
    tested = {position.n: ", ".join(part for part, _ in position.parts) for position in examined}
    if len(set(tested.values())) > 1:
        said.append("they test different parts: " + "; ".join(f"{one.team}: {tested[one.n]}" for one in examined))
    if copied := sum(position.copies for position in positions):
        said.append(f"{copied} further names give evidence that is already counted")
    return said or ["nothing that is recorded here separates them"]
