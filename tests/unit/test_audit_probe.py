"""What an audit probe says of the dispute: the table of the design over every finding, and what controls do to it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest

from verifier.audits.probe import AuditProbe
from verifier.engine.audit_probe import RULED_BY, audit_record, audit_result
from verifier.model.answers import AuditAnswer, Corrected, Finding
from verifier.model.case import Control, Expectation
from verifier.model.controls import ControlResult
from verifier.model.outcomes import Outcome, Reason
from verifier.model.results import ControlRun, Evidence, ProbeResult, UnitsRecord
from verifier.sweeps.jobs import AuditCall, Failure


@dataclass(frozen=True)
class Said:
    """One row's inputs: the audit's fields and the probe's keys."""

    finding: str
    about: str = "claim"
    alleges: str = "mismatch"
    produced_by: str = "unknown"
    code_against_text: bool = False
    material: bool | None = None
    residual: bool | None = None
    corrected: str | None = None

    @property
    def audit(self) -> dict[str, Any]:
        """The fields of `audits[]` that the table reads."""
        residual = None if self.residual is None else {"value": 3.0, "excludes_one": self.residual}
        return {
            "finding": self.finding,
            "sentence": f"This is {self.finding}.",
            "material": self.material,
            "residual": residual,
            "code_against_text": self.code_against_text,
            "corrected": self.corrected,
        }


def probe(said: Said, **change: Any) -> AuditProbe:
    fields: dict[str, Any] = {
        "name": "basis", "parts": ("a",), "about": said.about, "required": True, "data": "paper", "file": "a.toml",
        "target": "", "question": None, "alleges": said.alleges, "threshold": Fraction(0),
        "produced_by": said.produced_by, "controls": (),
    }  # fmt: skip
    return AuditProbe(**{**fields, **change})


def evidence(*audits: dict[str, Any]) -> Evidence:
    return Evidence("decision", None, (), UnitsRecord(1, "00"), audits=audits, mechanisms="00")


def result(said: Said, **change: Any) -> ProbeResult:
    return audit_result(probe(said, **change), evidence(said.audit), [])


def mismatch(said: Said) -> bool:
    return said.finding in ("MISMATCH_PROVEN", "RECONCILED")


def clear(said: Said) -> bool:
    return said.finding in ("SAME_BASIS", "NOT_MATERIAL")


# the rows of DESIGN.md, "Answers to outcomes", in their order
ROWS: list[tuple[Callable[[Said], bool], str, str | None]] = [
    (lambda s: s.finding in ("RECONCILED_WEAK", "JOINTLY_INCONSISTENT"), "UNDECIDED", "size-unexplained"),
    (lambda s: s.residual is True, "UNDECIDED", "size-unexplained"),
    (lambda s: s.code_against_text and s.produced_by != "released", "UNDECIDED", "code-provenance"),
    (lambda s: s.about == "claim" and mismatch(s) and s.material is True, "FOR_DISPUTE", None),
    (lambda s: s.about == "claim" and mismatch(s), "UNDECIDED", "size-unexplained"),
    (lambda s: mismatch(s) and s.corrected == "OTHER_SIDE", "AGAINST_DISPUTE", None),
    (lambda s: mismatch(s) and s.corrected in ("CONTAINS_ONE", "BELOW_THRESHOLD"), "INVALID", "basis"),
    (mismatch, "UNDECIDED", "not-decided"),
    (lambda s: clear(s) and s.alleges == "mismatch", "AGAINST_DISPUTE", None),
    (clear, "UNDECIDED", "not-decided"),
    (lambda s: s.finding == "INSUFFICIENT", "UNDERPOWERED", "underpowered"),
]


def every() -> Iterator[Said]:
    return itertools.starmap(
        Said,
        itertools.product(
            [answer.value for answer in AuditAnswer],
            ["claim", "dispute"],
            ["mismatch", "size"],
            ["released", "private", "unknown"],
            [False, True],
            [None, False, True],
            [None, False, True],
            [None, *(corrected.value for corrected in Corrected)],
        ),
    )


def test_every_finding_has_the_outcome_of_the_first_row_that_applies() -> None:
    used = set()
    for said in every():
        row = next(index for index, (applies, _, _) in enumerate(ROWS) if applies(said))
        found = result(said)
        assert (found.answer, found.outcome, found.reason) == (said.finding, *ROWS[row][1:]), said
        assert found.summary.partition("; ")[0] == f"This is {said.finding}"
        used.add(row)
    assert used == set(range(len(ROWS)))


def control(expect: str, answer: str, outcome: Outcome) -> ControlRun:
    registered = Control("control.toml", Expectation("named", expect), "")
    return ControlRun(ControlResult(registered, answer, outcome, f"gave {answer}"), ())


DECIDED = Said("MISMATCH_PROVEN", material=True)


@pytest.mark.parametrize(
    ("run", "outcome", "reason"),
    [
        (control("SAME_BASIS", "SAME_BASIS", Outcome.UNDECIDED), "FOR_DISPUTE", None),
        (control("UNDECIDED", "SAME_BASIS", Outcome.UNDECIDED), "FOR_DISPUTE", None),
        (control("SAME_BASIS", "MISMATCH_PROVEN", Outcome.FOR_DISPUTE), "INVALID", "control-failed"),
        (control("MISMATCH_PROVEN", "SAME_BASIS", Outcome.AGAINST_DISPUTE), "INVALID", "control-failed"),
        (control("SAME_BASIS", "RECONCILED", Outcome.INVALID), "INVALID", "control-failed"),
        (control("SAME_BASIS", "INSUFFICIENT", Outcome.UNDERPOWERED), "UNDERPOWERED", "underpowered"),
        (control("SAME_BASIS", "RECONCILED_WEAK", Outcome.UNDECIDED), "UNDERPOWERED", "underpowered"),
        (control("SAME_BASIS", "NO_ANSWER", Outcome.NO_ANSWER), "NO_ANSWER", None),
    ],
)
def test_controls_decide_whether_the_finding_counts(run: ControlRun, outcome: str, reason: str | None) -> None:
    found = audit_result(probe(DECIDED), evidence(DECIDED.audit), [run])
    assert (found.outcome, found.reason) == (outcome, reason)
    assert found.own.outcome is Outcome.FOR_DISPUTE
    if outcome in ("INVALID", "UNDERPOWERED"):
        assert "the control control.toml should give SAME_BASIS" in found.summary.replace(
            "MISMATCH_PROVEN", "SAME_BASIS"
        )


def test_no_answer_is_counted_as_nothing_else() -> None:
    found = audit_result(probe(DECIDED), Failure("3 workers died"), [])
    assert (found.answer, found.outcome, found.summary, found.evidence) == (
        "NO_ANSWER", Outcome.NO_ANSWER, "3 workers died", (),
    )  # fmt: skip


def leading(*said: Said) -> tuple[str, Finding, str]:
    found = audit_result(probe(said[0]), evidence(*(one.audit for one in said)), [])
    return found.answer, found.own, found.summary


def test_of_several_audits_the_one_that_fixes_the_ruling_leads() -> None:
    clean, open_ = Said("SAME_BASIS", alleges="mismatch"), Said("INSUFFICIENT")
    for order in itertools.permutations([open_, DECIDED]):
        answer, finding, summary = leading(*order)
        assert (answer, finding.outcome) == ("MISMATCH_PROVEN", Outcome.FOR_DISPUTE)
        assert summary == "This is MISMATCH_PROVEN; This is INSUFFICIENT"
    assert leading(open_, clean)[0] == "SAME_BASIS"
    for order in itertools.permutations([clean, DECIDED]):
        assert leading(*order)[1] == Finding(Outcome.UNDECIDED, Reason.CONFLICT)


@pytest.mark.parametrize(
    ("finding", "weighs"),
    [(answer.value, answer not in (AuditAnswer.SAME_BASIS, AuditAnswer.NOT_MATERIAL)) for answer in AuditAnswer],
)
def test_a_comparison_that_finds_nothing_leaves_the_ruling_to_others(finding: str, weighs: bool) -> None:  # noqa: FBT001  # pytest passes it
    said = Said(finding, about="dispute", alleges="size")
    assert result(said, comparison=True).weighs is weighs
    assert result(said).weighs


@pytest.mark.parametrize("data", ["paper", "released", "synthetic"])
def test_only_made_up_input_is_below_the_claims_own_scale(data: str) -> None:
    assert result(DECIDED, data=data).below_scale is (data == "synthetic")


def test_a_mismatch_whose_size_was_not_asked_says_so() -> None:
    words = "how material that is was not asked"
    unasked = result(Said("MISMATCH_PROVEN", material=None))
    assert unasked.reason is Reason.SIZE_UNEXPLAINED
    assert words in unasked.summary
    assert words not in result(Said("MISMATCH_PROVEN", material=False)).summary
    assert words not in result(Said("RECONCILED_WEAK", material=None)).summary


@pytest.mark.parametrize(
    ("changed", "same"),
    [
        ({"witness": {"left": 9}}, True),
        ({"sentence": "In other words."}, True),
        ({"details": {"residual": 1.0000000000000002}}, True),
        ({"finding": "NOT_MATERIAL"}, False),
        ({"material": True}, False),
        ({"factor": "1/51"}, False),
    ],
)
def test_the_leaf_of_an_audit_holds_what_a_ruling_rests_on(changed: dict[str, Any], same: bool) -> None:  # noqa: FBT001  # pytest passes it
    audit = dict.fromkeys(RULED_BY) | {"finding": "SAME_BASIS", "witness": None, "sentence": "So.", "details": {}}
    call = AuditCall("0" * 64, "a.toml", None, (), Fraction(0), "1" * 64)
    assert (audit_record(call, [audit]) == audit_record(call, [audit | changed])) is same
