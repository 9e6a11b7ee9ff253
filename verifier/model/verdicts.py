"""Ruling -> verdict: the judge's word about the claim."""

from __future__ import annotations

from dataclasses import dataclass

from verifier.model.outcomes import Reason
from verifier.model.rulings import Ruling
from verifier.model.words import SentenceEnum


class Verdict(SentenceEnum):
    """The judge's four words about a claim."""

    VERIFIED = "verified", "the claim was reproduced at the registered scale"
    FALSIFIED = "falsified", "the claim does not hold as stated"
    TOY = "toy", "decided, but only below the registered scale or on synthetic data"
    INCONCLUSIVE = "inconclusive", "nothing is established about the claim"

    @property
    def points(self) -> int:
        """What the challenge's board gives for the word."""
        return {Verdict.VERIFIED: 2, Verdict.FALSIFIED: 2, Verdict.TOY: 1, Verdict.INCONCLUSIVE: 0}[self]


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What a ruling stands on, as far as the verdict asks.

    `below_scale`: decided only below the registered scale or on synthetic stand-ins. `reproduces_claim`: dismissed by
    a probe that reproduces the claim at the registered scale. `reason`: of the probe that fixed the ruling. `parts`:
    the parts that fixed it, named in the verdict.
    """

    ruling: Ruling
    retracted: bool = False
    parameters_differ: bool = False
    below_scale: bool = False
    premise_unchecked: bool = False
    reproduces_claim: bool = False
    reason: Reason | None = None
    parts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class VerdictFinding:
    """The verdict (None: none is written) and what it is because of."""

    verdict: Verdict | None
    because: str


def verdict_of(about: Circumstances) -> VerdictFinding:
    """The verdict on the claim: first row that applies."""
    inconclusive = Verdict.INCONCLUSIVE
    decided = about.ruling.decided
    parts = "part " + ", ".join(about.parts) if len(about.parts) == 1 else "parts " + ", ".join(about.parts)
    if about.retracted:
        return VerdictFinding(inconclusive, Reason.WITHDRAWN)
    if about.ruling is Ruling.NO_ANSWER:
        return VerdictFinding(None, "no answer")
    if about.parameters_differ:
        return VerdictFinding(inconclusive, Reason.NOT_THE_PAPERS_CLAIM)
    if decided and about.below_scale:
        return VerdictFinding(Verdict.TOY, "below the registered scale or on synthetic data")
    if decided and about.premise_unchecked:
        return VerdictFinding(inconclusive, Reason.PREMISE_UNCHECKED)
    if about.ruling is Ruling.UPHELD:
        return VerdictFinding(Verdict.FALSIFIED, parts)
    if about.ruling is Ruling.DISMISSED and about.reproduces_claim:
        return VerdictFinding(Verdict.VERIFIED, parts)
    if about.ruling is Ruling.DISMISSED:
        return VerdictFinding(inconclusive, Reason.DISPUTE_DISMISSED)
    assert about.reason is not None, about
    return VerdictFinding(inconclusive, about.reason)
