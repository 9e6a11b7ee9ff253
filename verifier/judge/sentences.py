"""The judge's sentences: the first line on a claim, why something is not decided, and what was not checked."""

from __future__ import annotations

from verifier.judge.claims import ClaimJudgement, DisputeJudgement, PaperJudgement
from verifier.judge.findings import reason_of, table_rows
from verifier.model.dispute_status import DisputeState
from verifier.model.printable import printable
from verifier.model.rulings import Ruling
from verifier.model.verdicts import Verdict, VerdictFinding

_NOT_ADJUDICATED = (DisputeState.RULED, DisputeState.OPEN)


def first_line(claim: ClaimJudgement) -> str:
    """`The paper's claim: holds | does not hold as stated | not decided, because …`, with no stranger's word in it."""
    finding = claim.finding
    if finding is None or finding.verdict is None:
        said = "not decided, because no answer was obtained"
    elif finding.verdict is Verdict.FALSIFIED:
        said = "does not hold as stated"
    elif finding.verdict is Verdict.VERIFIED:
        said = "holds"
    elif finding.verdict is Verdict.TOY:
        said = "not decided, because the evidence decides it only below the registered scale or on synthetic data"
    else:
        said = f"not decided, because {because_words(finding)}"
    return f"The paper's claim: {said}."


def because_words(finding: VerdictFinding | None) -> str:
    """What a finding is because of, in words on one line; the ids of parts, a stranger's, made printable."""
    if finding is None:
        return "nobody ruled on it"
    reason = reason_of(finding.because)
    if reason is not None:
        return reason.sentence
    several = finding.because.startswith("parts ")
    said: dict[Verdict | None, str] = {
        Verdict.FALSIFIED: " do not hold as stated" if several else " does not hold as stated",
        Verdict.VERIFIED: f" {'were' if several else 'was'} reproduced at the registered scale",
    }
    return printable(finding.because) + said.get(finding.verdict, "")


def verdict_word(finding: VerdictFinding | None) -> str:
    """The verdict's word; "no answer" where none is written, "not tested" where nobody ruled."""
    if finding is None:
        return "not tested"
    return "no answer" if finding.verdict is None else finding.verdict.value


def ruling_words_of(dispute: DisputeJudgement) -> str:
    """What the standing ruling says about the dispute, never bare."""
    assert dispute.status.ruling is not None
    words = dispute.status.ruling.ruling.words
    return f"{words}, and this ruling was withdrawn" if dispute.status.withdrawn else words


def later_versions_words(dispute: DisputeJudgement) -> list[str]:
    """A warning for each later version of the paper that is known, and what became of the claim in it."""
    became = {
        "not-read": "in which nobody has looked for the claim",
        "unchanged": "in which the claim is unchanged",
        "changed": "in which the claim is changed",
        "withdrawn": "in which the claim is withdrawn",
    }
    return [
        f"a later version is known, {arxiv}, {became.get(claim, became['not-read'])}"
        for arxiv, claim in dispute.status.facts.later_versions
    ]


def not_checked(dispute: DisputeJudgement) -> list[str]:
    """What the ruling on a dispute takes on trust or leaves open, the gravest first; no stranger's words."""
    return [*_withdrawn(dispute), *_unread(dispute), *_unsettled(dispute), *_weak_evidence(dispute)]


def _withdrawn(dispute: DisputeJudgement) -> list[str]:
    if dispute.status.withdrawn:
        return ["the ruling was withdrawn: nothing made from it should be used"]
    return ["an earlier ruling on this dispute was withdrawn"] if dispute.status.retractions else []


def _unread(dispute: DisputeJudgement) -> list[str]:
    facts = dispute.status.facts
    said = [] if facts.quote else ["the claim is a paraphrase: the paper's own words are not quoted"]
    said += later_versions_words(dispute)
    if facts.unchecked:
        numbers = ", ".join(map(str, facts.unchecked))
        said.append(f"nobody checked premise {numbers} of {len(facts.premises)}")
    if not facts.source_sha256:
        said.append("nobody on this case recorded the paper's full text as read")
    return said


def _unsettled(dispute: DisputeJudgement) -> list[str]:
    said = ["a challenge to the ruling is open"] if dispute.status.challenge_open else []
    if dispute.status.state in _NOT_ADJUDICATED:
        said.append("two independent people have not yet agreed with the ruling")
    return said


def _weak_evidence(dispute: DisputeJudgement) -> list[str]:
    said = []
    if not dispute.witnessed:
        said.append("not witnessed: that the rule was registered before its evidence is the word of this ledger alone")
    if "ingested" in dispute.ruling.content:
        said.append("numbers were measured elsewhere and not drawn again here")
    controls = [row for one in dispute.evidence for row in table_rows(one.content, "controls")]
    if failed := [row for row in controls if not row.get("passed")]:
        said.append(f"{len(failed)} of {len(controls)} runs with a known answer did not give that answer")
    if silent := [one for one in dispute.evidence if one.content.get("outcome") == Ruling.NO_ANSWER.value]:
        said.append(f"{len(silent)} of {len(dispute.evidence)} pieces of evidence are without an answer")
    return said


def private_words(paper: PaperJudgement) -> str:
    """`PRIVATE: …` where something in the judgement is not public, else ""."""
    private = sum(claim.private for claim in paper.claims)
    if not private:
        return ""
    return (
        f"PRIVATE: {private} of {len(paper.claims)} {'claim' if len(paper.claims) == 1 else 'claims'} "
        f"{'rests' if private == 1 else 'rest'} on disputes that are not public; do not pass this on."
    )
