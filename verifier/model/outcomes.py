"""What a probe's answer says about the dispute, and the reasons that go with it."""

from __future__ import annotations

from verifier.model.words import SentenceEnum


class Outcome(SentenceEnum):
    """What an answer says about the dispute. `sentence` is what a person reads."""

    FOR_DISPUTE = "FOR_DISPUTE", "the disputed statement is shown not to hold under the registered rule"
    AGAINST_DISPUTE = "AGAINST_DISPUTE", "what the dispute asserts is shown not to hold under the registered rule"
    UNDECIDED = "UNDECIDED", "an adequate design reached neither side"
    UNDERPOWERED = "UNDERPOWERED", "this scale, horizon or sample could not have shown it"
    INVALID = "INVALID", "this evidence does not bear on the claim"
    NO_ANSWER = "NO_ANSWER", "no answer was obtained"

    @property
    def decided(self) -> bool:
        """Whether this outcome takes a side."""
        return self in (Outcome.FOR_DISPUTE, Outcome.AGAINST_DISPUTE)


class Reason(SentenceEnum):
    """Why an outcome is not a decision. Every UNDECIDED, UNDERPOWERED and INVALID names one."""

    CONFLICT = "conflict", "some evidence points one way and some the other"
    UNDERPOWERED = "underpowered", "too little was run to decide"
    HORIZON = "horizon", "the scale or horizon is too small for the effect to show"
    HYPOTHESIS_UNMET = "hypothesis-unmet", "the instance lies outside the statement's hypotheses"
    NOT_THE_PAPERS_CLAIM = "not-the-papers-claim", "what was tested is not what the paper states"
    CONTROL_FAILED = "control-failed", "a run with a known answer did not give that answer"
    BASIS = "basis", "the compared numbers do not stand on the same basis"
    MALFORMED = "malformed", "the data cannot be what they are said to be"
    NEEDS_READER = "needs-reader", "a person has to read this"
    MISFIT = "misfit", "no registered law describes the data"
    SLOPE_BETWEEN = "slope-between", "the slope lies between zero and the smallest slope of interest, or may"
    BETWEEN = "between", "the effect lies between what is claimed and what is alleged"
    NOT_DECIDED = "not-decided", "an adequate design ended without reaching either threshold"
    AMBIGUOUS = "ambiguous", "the answer depends on a choice the statement leaves open"
    SIZE_UNEXPLAINED = "size-unexplained", "explained in direction, not in size"
    HETEROGENEOUS = "heterogeneous", "independent teams disagree by more than chance"
    CODE_PROVENANCE = "code-provenance", "it is not established which code made the reported result"
    PREMISE_UNCHECKED = "premise-unchecked", "the ruling rests on a premise nobody checked"
    PARTS_UNTESTED = "parts-untested", "some parts of the claim were not tested or not decided"
    DISPUTE_DISMISSED = "dispute-dismissed", "the dispute fails, which does not verify the claim"
    WITHDRAWN = "withdrawn", "the ruling was retracted"
