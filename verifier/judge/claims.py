"""What stands about the claims of one paper: each dispute's ruling, and per part and claim the combined verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from verifier.judge.findings import part_findings, table_at, table_rows, text_at
from verifier.judge.index import JudgeIndex, Trial
from verifier.ledger import Entry
from verifier.ledger.audience import Audience
from verifier.ledger.witness import registrations_witnessed
from verifier.model.combined import combine_claim, combine_part
from verifier.model.dispute_status import DisputeStatus, Visibility
from verifier.model.outcomes import Outcome
from verifier.model.verdicts import VerdictFinding


@dataclass(frozen=True, slots=True)
class ProbeEvidence:
    """One evidence entry: its number and leaf hash, whether the ruling rests on it, and its content."""

    n: int
    leaf: str
    decisive: bool
    content: Mapping[str, Any]

    @property
    def probe(self) -> str:
        """The probe's name."""
        return text_at(self.content, "probe")

    @property
    def decided(self) -> bool:
        """Whether it takes a side."""
        return self.content.get("outcome") in (Outcome.FOR_DISPUTE.value, Outcome.AGAINST_DISPUTE.value)


@dataclass(frozen=True, slots=True)
class Exploratory:
    """An exploratory run: its ruling's number and leaf hash, what it says, and what was varied. It replaces nothing."""

    n: int
    leaf: str
    ruling: str
    varied: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DisputeJudgement:
    """One dispute with a standing ruling. `registration` and `ruling` are its entries, `case` the case file as parsed.

    `findings` maps part ids to verdicts, all of them, also those of which none is written. `witnessed`: somebody else
    cosigned the registration before the first evidence under it.
    """

    status: DisputeStatus
    registration: Entry
    ruling: Entry
    findings: Mapping[str, VerdictFinding]
    evidence: tuple[ProbeEvidence, ...]
    exploratory: tuple[Exploratory, ...]
    witnessed: bool = False

    @property
    def case(self) -> Mapping[str, Any]:
        """The case file as registered, its texts put back."""
        return table_at(self.registration.content, "case")

    @property
    def name(self) -> str:
        """The case's name, or where an older ledger has none the first digits of the dispute's id."""
        return text_at(self.registration.content, "name") or self.status.dispute[:12]

    @property
    def private(self) -> bool:
        """Whether the public may not see it."""
        return self.status.visibility is not Visibility.PUBLIC

    @property
    def version(self) -> str:
        """The version of the paper that was judged, "" where the case names none."""
        return text_at(self.ruling.content, "version")

    @property
    def space(self) -> str:
        """The Space in which the dispute stands, "" where it has none."""
        return text_at(self.case, "dispute", "source", "space")

    @property
    def premises(self) -> list[tuple[str, str]]:
        """(text, who checked it) of each premise, as amended since."""
        texts = [text_at(row, "text") for row in table_rows(self.case, "premise")]
        return [(text, checked) for text, (_, checked, _) in zip(texts, self.status.facts.premises, strict=False)]

    @property
    def entries(self) -> list[tuple[str, Entry | ProbeEvidence]]:
        """(kind, entry) of all that the ruling rests on, and the ruling."""
        return [
            ("registration", self.registration),
            *(("evidence", one) for one in self.evidence),
            ("ruling", self.ruling),
        ]


@dataclass(frozen=True, slots=True)
class PartJudgement:
    """One part of a claim: its text and what is established; `finding` is None where nobody ruled on it."""

    id: str
    text: str
    finding: VerdictFinding | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimJudgement:
    """One claim that was put on trial. `finding` is None where every ruling on it is without an answer."""

    claim_sha256: str
    text: str
    parts: tuple[PartJudgement, ...]
    finding: VerdictFinding | None
    disputes: tuple[DisputeJudgement, ...]

    @property
    def points(self) -> int:
        """What the challenge's board gives for the verdict."""
        return 0 if self.finding is None or self.finding.verdict is None else self.finding.verdict.points

    @property
    def private(self) -> bool:
        """Whether the public may not see some dispute this rests on."""
        return any(dispute.private for dispute in self.disputes)


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperJudgement:
    """What stands about a paper, as one audience sees it, when the ledger had `size` entries and this root."""

    paper: str
    title: str
    audience: Audience
    claims: tuple[ClaimJudgement, ...]
    size: int
    root: str


def judge_paper(
    index: JudgeIndex, paper: str, *, audience: Audience, cosigned: Sequence[tuple[int, int]] = ()
) -> PaperJudgement:
    """Per claim and part what is established about a paper. A claim nobody put on trial, or ruled on, is absent.

    `cosigned` holds (size, second) of checkpoints of this ledger that witnesses cosigned whom the reader trusts.
    Raises BadInput for a name that is none, TamperingDetected for an entry that is not what its hash says.
    """
    identity = index.paper(paper, audience)
    claims = []
    seen = index.claims(identity, audience)
    trials = {status.dispute: index.trials[status.dispute] for statuses in seen.values() for status in statuses}
    entries = index.read(n for trial in trials.values() for n in trial.numbers)
    for claim, statuses in seen.items():
        disputes = [
            made
            for status in statuses
            if (made := _dispute(entries, trials[status.dispute], status, cosigned)) is not None
        ]
        if disputes:
            claims.append(_claim(claim, disputes))
    titles = [dispute.status.facts.title for claim in claims for dispute in claim.disputes]
    return PaperJudgement(
        paper=identity,
        title=next((title for title in reversed(titles) if title), ""),
        audience=audience,
        claims=tuple(claims),
        size=index.size,
        root=index.root,
    )


def _dispute(
    entries: Mapping[int, Entry], trial: Trial, status: DisputeStatus, cosigned: Sequence[tuple[int, int]]
) -> DisputeJudgement | None:
    standing = status.ruling
    if standing is None or standing.leaf not in trial.rulings or standing.registration not in trial.registrations:
        return None
    ruling = entries[trial.rulings[standing.leaf]]
    evidence = [entries[n] for n in trial.evidence.get(standing.registration, ())]
    registration = entries[trial.registrations[standing.registration]]
    witnessed = registrations_witnessed([registration, *evidence], cosigned)
    return DisputeJudgement(
        status=status,
        registration=registration,
        ruling=ruling,
        findings=part_findings(ruling.content, facts=status.facts, withdrawn=status.withdrawn),
        evidence=tuple(ProbeEvidence(one.n, one.leaf, one.leaf in ruling.refs, one.content) for one in evidence),
        exploratory=tuple(_exploratory(entries, trial, n) for n in trial.exploratory),
        witnessed=witnessed.get(standing.registration, False),
    )


def _exploratory(entries: Mapping[int, Entry], trial: Trial, n: int) -> Exploratory:
    entry = entries[n]
    registration = entries[trial.registrations[entry.content["registration"]]]
    overrides = table_at(registration.content, "overrides")
    varied = [f"{option} {key}" for option in ("scale", "set") for key in table_at(overrides, option)]
    return Exploratory(n, entry.leaf, str(entry.content.get("ruling")), tuple(varied))


def _claim(claim_sha256: str, disputes: Sequence[DisputeJudgement]) -> ClaimJudgement:
    """The disputes combined. Its parts are those that any case names; texts are those of the case ruled on last."""
    in_order = sorted(disputes, key=lambda dispute: dispute.ruling.n)
    last = in_order[-1]
    texts: dict[str, str] = {}
    for dispute in reversed(in_order):
        for row in table_rows(table_at(dispute.case, "claim"), "parts"):
            if part := text_at(row, "id"):
                texts.setdefault(part, text_at(row, "text"))
        for part in dispute.findings:
            texts.setdefault(part, "")
    findings = {part: combine_part([d.findings[part] for d in in_order if part in d.findings]) for part in texts}
    return ClaimJudgement(
        claim_sha256=claim_sha256,
        text=text_at(last.case, "claim", "text"),
        parts=tuple(PartJudgement(part, texts[part], finding) for part, finding in findings.items()),
        finding=combine_claim(findings),
        disputes=tuple(disputes),
    )
