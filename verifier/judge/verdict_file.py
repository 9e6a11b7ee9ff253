"""Our verdicts in the challenge's own schema: what of them is public, decided or not, and has an OpenReview id."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import version

from verifier.challenge import ClaimVerdict, VerdictRecord
from verifier.challenge.records import is_paper_id, is_revision, is_space_id
from verifier.judge.claims import ClaimJudgement, DisputeJudgement, PaperJudgement
from verifier.judge.findings import text_at
from verifier.judge.sentences import because_words, later_versions_words, verdict_word
from verifier.model.canonical import text_sha256
from verifier.model.verdicts import Verdict

_OVERALL = 880  # characters, as in the challenge's own records
_SLUG = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")


@dataclass(frozen=True, slots=True)
class VerdictFile:
    """The records, whose Space ids differ, and the papers that have none for want of an OpenReview id.

    `withheld` holds (paper, claim hash) of the claims whose text is withheld, which no record can state.
    """

    records: tuple[VerdictRecord, ...]
    skipped: tuple[str, ...]
    withheld: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class _Judged:
    paper: PaperJudgement
    claim: ClaimJudgement
    dispute: DisputeJudgement


def verdict_file(papers: Iterable[PaperJudgement]) -> VerdictFile:
    """One record per (Space, paper), from papers judged for the public.

    The Space is the dispute's, or `verifier/<case>` where it has none or has two papers. A claim stands once in a
    record, with the verdict of all its disputes; one without an answer or without its text is left out.
    """
    skipped: list[str] = []
    withheld: list[tuple[str, str]] = []
    judged: list[_Judged] = []
    for paper in papers:
        assert paper.audience == "public", "what is written for others holds nothing private"
        written = [claim for claim in paper.claims if claim.finding is not None and claim.finding.verdict is not None]
        if not written:
            continue
        if not is_paper_id(_orid(paper)) or not paper.paper.startswith("openreview:"):
            skipped.append(paper.paper)
            continue
        absent = [claim for claim in written if text_sha256(claim.text) != claim.claim_sha256]
        withheld += [(paper.paper, claim.claim_sha256) for claim in absent]
        written = [claim for claim in written if claim not in absent]
        judged += [_Judged(paper, claim, dispute) for claim in written for dispute in claim.disputes]
    groups: dict[tuple[str, str], list[_Judged]] = {}
    for one, space in zip(judged, _spaces(judged), strict=True):
        groups.setdefault((space, one.paper.paper), []).append(one)
    records = tuple(_record(space, group) for (space, _), group in groups.items())
    return VerdictFile(records, tuple(skipped), tuple(withheld))


def _orid(paper: PaperJudgement) -> str:
    return paper.paper.removeprefix("openreview:")


def _spaces(judged: Sequence[_Judged]) -> list[str]:
    """The Space id of each: none is given to two papers, not even in another case of letters."""
    papers_of_space = _papers_by(judged, lambda one: one.dispute.space)
    papers_of_slug = _papers_by(judged, _slug)
    made = []
    for one in judged:
        space, slug = one.dispute.space, _slug(one)
        ours = space.lower().startswith("verifier/")
        if is_space_id(space) and not ours and len(papers_of_space[space.casefold()]) == 1:
            made.append(space)
        elif len(papers_of_slug[slug.casefold()]) == 1:
            made.append(f"verifier/{slug}")
        else:  # cases of one name on several papers: the paper's id tells them apart
            made.append(f"verifier/{slug[:80]}-{_orid(one.paper)}")
    return made


def _papers_by(judged: Sequence[_Judged], name: Callable[[_Judged], str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for one in judged:
        found.setdefault(name(one).casefold(), set()).add(one.paper.paper)
    return found


def _slug(one: _Judged) -> str:
    return "".join(c if c in _SLUG else "-" for c in one.dispute.name)[:90] or "case"


def _record(space: str, group: Sequence[_Judged]) -> VerdictRecord:
    paper = group[0].paper
    claims = list({one.claim.claim_sha256: one.claim for one in group}.values())
    last = max((one.dispute for one in group), key=lambda dispute: dispute.ruling.n)
    revisions = {text_at(one.dispute.case, "dispute", "source", "revision").lower() for one in group}
    revision = revisions.pop() if len(revisions) == 1 else ""
    own = not space.startswith("verifier/") and is_revision(revision)
    return VerdictRecord(
        space_id=space,
        orid=_orid(paper),
        paper_title=paper.title,
        sha=revision if own else last.ruling.leaf[:40],
        judged_at=last.ruling.time,
        model=f"verifier {version('dispute-verifier')}",
        claims=tuple(ClaimVerdict(claim.text, _verdict(claim), evidence_words(claim)) for claim in claims),
        overall=_overall(claims),
        quality=quality(claims),
    )


def _verdict(claim: ClaimJudgement) -> Verdict:
    assert claim.finding is not None
    assert claim.finding.verdict is not None
    return claim.finding.verdict


def evidence_words(claim: ClaimJudgement) -> str:
    """The parts of a claim with their verdicts, what the probes answered, and the entries to look at."""
    parts = [f"part {part.id}: {verdict_word(part.finding)} ({because_words(part.finding)})" for part in claim.parts]
    said = [f"{'; '.join(parts)}."]
    for dispute in claim.disputes:
        probes = [
            f"{one.probe} {one.content.get('answer')} ({one.content.get('outcome')})"
            for one in dispute.evidence
            if one.decisive
        ]
        said.append(f"Entry {dispute.ruling.n}, leaf {dispute.ruling.leaf}: {', '.join(probes) or 'no evidence'}.")
        said += [f"Warning: {words}." for words in later_versions_words(dispute)]
    return " ".join(said)


def _overall(claims: Sequence[ClaimJudgement]) -> str:
    counts = Counter(_verdict(claim) for claim in claims)
    words = ", ".join(f"{counts[verdict]} {verdict.value}" for verdict in Verdict if counts[verdict])
    text = (
        f"{'1 claim of this paper was' if len(claims) == 1 else f'{len(claims)} claims of this paper were'} put on "
        f"trial: {words}. Each ruling was made under a rule fixed before"
        " the data and stands in a ledger under the leaf hash given with it. Claims nobody put on trial are absent."
    )
    return text[:_OVERALL]


def quality(claims: Sequence[ClaimJudgement]) -> str:
    """`low` with a toy, `high` where every part is decided and every premise checked, else `medium`."""
    if any(_verdict(claim) is Verdict.TOY for claim in claims):
        return "low"
    decided = all(
        part.finding is not None and part.finding.verdict in (Verdict.VERIFIED, Verdict.FALSIFIED)
        for claim in claims
        for part in claim.parts
    )
    checked = not any(dispute.status.facts.unchecked for claim in claims for dispute in claim.disputes)
    return "high" if decided and checked else "medium"
