"""All four tables of DESIGN.md, row for row, over every combination.

The expected values are transcribed from the design as data; none of them is computed by the functions under test. Where
the design names no reason, `ANY` stands: some reason of its list.
"""

from __future__ import annotations

import enum
import importlib
import itertools
import pkgutil
import re
from collections.abc import Iterator
from typing import Any

import pytest

import verifier.model
from verifier.model.answers import (
    AuditAnswer,
    AuditContext,
    Corrected,
    ExactAnswer,
    Finding,
    audit_outcome,
    exact_outcome,
    record_outcome,
)
from verifier.model.case import Control, Expectation
from verifier.model.controls import ControlResult, after_controls
from verifier.model.outcomes import Outcome, Reason
from verifier.model.rulings import PartRuling, ProbeFinding, Ruling, rule_case, rule_part
from verifier.model.verdicts import Circumstances, Verdict, verdict_of
from verifier.model.words import SentenceEnum
from verifier.stats.growth_rule import GrowthAnswer

ANY = "any reason of the list"

# fmt: off
DESIGN_REASONS = [
    "conflict", "underpowered", "horizon", "hypothesis-unmet", "not-the-papers-claim", "control-failed", "basis",
    "malformed", "needs-reader", "misfit", "slope-between", "between", "not-decided", "ambiguous", "size-unexplained",
    "heterogeneous", "code-provenance", "premise-unchecked", "parts-untested", "dispute-dismissed", "withdrawn",
]
# fmt: on

OUTCOMES = ["FOR_DISPUTE", "AGAINST_DISPUTE", "UNDECIDED", "UNDERPOWERED", "INVALID", "NO_ANSWER"]
NEEDS_REASON = ["UNDECIDED", "UNDERPOWERED", "INVALID"]


def agrees(found: Finding, expected: tuple[str, str | None]) -> bool:
    outcome, reason = expected
    if found.outcome != outcome:
        return False
    return found.reason in DESIGN_REASONS if reason == ANY else found.reason == reason


def some_finding(outcome: str) -> Finding:
    """A finding of that outcome, with a reason that no row of the controls or rulings produces itself."""
    return Finding(Outcome(outcome), Reason.MISFIT if outcome in NEEDS_REASON else None)


# words


def _model_enums() -> Iterator[type[enum.Enum]]:
    for module in pkgutil.iter_modules(verifier.model.__path__, "verifier.model."):
        for thing in vars(importlib.import_module(module.name)).values():
            if isinstance(thing, type) and issubclass(thing, enum.Enum) and thing.__module__ == module.name:
                yield thing


WORDS = [cls for cls in _model_enums() if cls is not SentenceEnum and not issubclass(cls, enum.IntEnum)] + [
    GrowthAnswer
]
SHUNNED = re.compile(r"falsif|fraud|fabricat|manipulat|misconduct|refut", re.IGNORECASE)


def test_the_words_of_the_model_are_found() -> None:
    assert {"Outcome", "Reason", "Ruling", "Verdict", "ExactAnswer", "AuditAnswer"} <= {cls.__name__ for cls in WORDS}


@pytest.mark.parametrize("cls", WORDS, ids=lambda cls: str(cls.__name__))
def test_every_word_carries_its_own_sentence(cls: Any) -> None:
    sentences = [member.sentence for member in cls]
    assert all(isinstance(sentence, str) and len(sentence.split()) >= 3 for sentence in sentences), sentences
    assert len(set(sentences)) == len(sentences)
    assert not [sentence for sentence in sentences if SHUNNED.search(sentence) or sentence.endswith(".")]


def test_outcomes_rulings_and_verdicts_are_the_designs() -> None:
    assert list(Outcome) == OUTCOMES
    assert sorted(Ruling) == sorted(["UPHELD", "DISMISSED", "UNDECIDED", "UNDERPOWERED", "INVALID", "NO_ANSWER"])
    assert {verdict.value: verdict.points for verdict in Verdict} == {
        "verified": 2,
        "falsified": 2,
        "toy": 1,
        "inconclusive": 0,
    }


def test_reasons_are_exactly_the_designs_list() -> None:
    assert [reason.value for reason in Reason] == DESIGN_REASONS


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_a_reason_is_named_exactly_where_the_outcome_is_no_decision(outcome: str) -> None:
    with_reason, without = (Outcome(outcome), Reason.BASIS), (Outcome(outcome), None)
    good, bad = (with_reason, without) if outcome in NEEDS_REASON else (without, with_reason)
    assert Finding(*good).outcome == outcome
    with pytest.raises(AssertionError, match="with reason"):
        Finding(*bad)


@pytest.mark.parametrize("answer", GrowthAnswer)
def test_the_growth_rules_answers_name_reasons(answer: GrowthAnswer) -> None:
    assert Finding(answer.outcome, answer.reason).outcome == answer.outcome


# answers -> outcomes

EXACT = {
    ("VIOLATED", "instance"): ("FOR_DISPUTE", None),
    ("VIOLATED", "general"): ("FOR_DISPUTE", None),
    ("VIOLATED_FOR_ALL", "instance"): ("FOR_DISPUTE", None),
    ("VIOLATED_FOR_ALL", "general"): ("FOR_DISPUTE", None),
    ("HOLDS_FOR_ALL", "instance"): ("AGAINST_DISPUTE", None),
    ("HOLDS_FOR_ALL", "general"): ("UNDECIDED", ANY),
    ("VERIFIED_TO_HORIZON", "instance"): ("UNDERPOWERED", "horizon"),
    ("VERIFIED_TO_HORIZON", "general"): ("UNDERPOWERED", "horizon"),
    ("AMBIGUOUS", "instance"): ("UNDECIDED", "ambiguous"),
    ("AMBIGUOUS", "general"): ("UNDECIDED", "ambiguous"),
    ("UNSUPPORTED_HYPOTHESIS", "instance"): ("INVALID", "hypothesis-unmet"),
    ("UNSUPPORTED_HYPOTHESIS", "general"): ("INVALID", "hypothesis-unmet"),
}


def test_exact_answers() -> None:
    assert {answer for answer, _ in EXACT} == set(ExactAnswer)
    for (answer, alleges), expected in EXACT.items():
        found = exact_outcome(ExactAnswer(answer), alleges=alleges)  # type: ignore[arg-type]  # two literals
        assert agrees(found, expected), (answer, alleges, found)


MISMATCH = "MISMATCH_PROVEN RECONCILED"
WEAK = "RECONCILED_WEAK JOINTLY_INCONSISTENT"
CLEAN = "SAME_BASIS NOT_MATERIAL"
NO_CERTAIN = "CONTAINS_ONE BELOW_THRESHOLD"
OWN = "private unknown"
# One line a row of the design, in its order; None: whatever it is. The three rows on a corrected interval speak of
# answers that correct something. Columns: answer, residual excludes 1, code against text, produced by, about, material
# over its whole range, corrected interval, the dispute alleges a mismatch.
# fmt: off
AUDIT: list[tuple[Any, ...]] = [
    (WEAK,           None, None, None, None,      None,  None,         None,  ("UNDECIDED", "size-unexplained")),
    (None,           True, None, None, None,      None,  None,         None,  ("UNDECIDED", "size-unexplained")),
    (None,           None, True, OWN,  None,      None,  None,         None,  ("UNDECIDED", "code-provenance")),
    (MISMATCH,       None, None, None, "claim",   True,  None,         None,  ("FOR_DISPUTE", None)),
    (MISMATCH,       None, None, None, "dispute", None,  "OTHER_SIDE", None,  ("AGAINST_DISPUTE", None)),
    (MISMATCH,       None, None, None, "dispute", None,  NO_CERTAIN,   None,  ("INVALID", "basis")),
    (MISMATCH,       None, None, None, "dispute", None,  "KEPT",       None,  ("UNDECIDED", ANY)),
    (CLEAN,          None, None, None, None,      None,  None,         True,  ("AGAINST_DISPUTE", None)),
    (CLEAN,          None, None, None, None,      None,  None,         False, ("UNDECIDED", ANY)),
    ("INSUFFICIENT", None, None, None, None,      None,  None,         None,  ("UNDERPOWERED", ANY)),
    # the design has no row for a proven mismatch that is not material over its whole range; it must take no side
    (MISMATCH,       None, None, None, "claim",   False, None,         None,  ("UNDECIDED", ANY)),
]
# fmt: on


def _covers(cell: Any, value: Any) -> bool:
    return cell is None or (value in cell.split() if isinstance(cell, str) else cell == value)


def test_audit_answers_in_every_context() -> None:
    used = set()
    for combination in itertools.product(
        list(AuditAnswer),
        (False, True),
        (False, True),
        ("released", "private", "unknown"),
        ("claim", "dispute"),
        (False, True),
        list(Corrected),
        (False, True),
    ):
        row = next(index for index, cells in enumerate(AUDIT) if all(map(_covers, cells[:-1], combination)))
        used.add(row)
        answer, residual, code, produced_by, about, material, corrected, alleges = combination
        context = AuditContext(
            about=about,  # type: ignore[arg-type]  # literals
            alleges_mismatch=alleges,
            residual_excludes_one=residual,
            code_against_text=code,
            produced_by=produced_by,  # type: ignore[arg-type]  # literals
            material=material,
            corrected=corrected,
        )
        found = audit_outcome(answer, context)
        assert agrees(found, AUDIT[row][-1]), (combination, found)
    assert used == set(range(len(AUDIT)))


RECORD = {
    (True, "FOR_DISPUTE"): ("FOR_DISPUTE", None),
    (True, "AGAINST_DISPUTE"): ("AGAINST_DISPUTE", None),
    (False, "FOR_DISPUTE"): ("AGAINST_DISPUTE", None),
    (False, "AGAINST_DISPUTE"): ("FOR_DISPUTE", None),
    (None, "FOR_DISPUTE"): ("UNDECIDED", "needs-reader"),
    (None, "AGAINST_DISPUTE"): ("UNDECIDED", "needs-reader"),
}


def test_record_relations() -> None:
    for (holds, if_true), expected in RECORD.items():
        assert agrees(record_outcome(holds=holds, if_true=Outcome(if_true)), expected), (holds, if_true)


@pytest.mark.parametrize("if_true", [o for o in OUTCOMES if not o.endswith("DISPUTE")])
def test_a_record_relation_is_registered_with_a_side(if_true: str) -> None:
    with pytest.raises(AssertionError):
        record_outcome(holds=True, if_true=Outcome(if_true))


# controls

ANSWERS = {
    "FOR_DISPUTE": "GROWS",
    "AGAINST_DISPUTE": "BOUNDED",
    "UNDECIDED": "NEITHER",
    "UNDERPOWERED": "TOO_FEW",
    "INVALID": "MALFORMED",
    "NO_ANSWER": "NO_ANSWER",
}
"""An answer of some rule for each outcome; controls compare words and know no rule."""

Kind = tuple[str, ControlResult]
"""What the design calls it, and the result as code has it."""


def _kinds() -> Iterator[Kind]:
    def result(expect: Expectation, answer: str, outcome: str | None) -> ControlResult:
        return ControlResult(Control("m:f", expect), answer, Outcome(outcome) if outcome else None, "")

    for index, outcome in enumerate(OUTCOMES):
        other = OUTCOMES[(index + 1) % len(OUTCOMES)]
        yield "passed", result(Expectation("named", outcome), ANSWERS[outcome], outcome)
        yield "passed", result(Expectation("named", ANSWERS[outcome]), ANSWERS[outcome], outcome)
        yield outcome, result(Expectation("named", other), ANSWERS[outcome], outcome)
        yield outcome, result(Expectation("named", ANSWERS[other]), ANSWERS[outcome], outcome)
    for kind in ("equals", "values"):
        check = Expectation(kind, "m:g")  # type: ignore[arg-type]  # two literals
        yield "passed", result(check, "AGREES", None)
        yield "INVALID", result(check, "DIFFERS", "INVALID")
        yield "NO_ANSWER", result(check, "NO_ANSWER", "NO_ANSWER")


STRONGEST_FIRST = [
    ("no answer", {"NO_ANSWER"}),
    ("failed", {"FOR_DISPUTE", "AGAINST_DISPUTE", "INVALID"}),
    ("weak", {"UNDECIDED", "UNDERPOWERED"}),
    ("clean", {"passed"}),
]
KEPT = "as it was"
# By the probe's own outcome, in the order of OUTCOMES. NO_ANSWER stays: it is never counted as anything else.
AFTER: dict[str, list[Any]] = {
    "no answer": [("NO_ANSWER", None)] * 6,
    "failed": [("INVALID", "control-failed")] * 5 + [KEPT],
    "weak": [("UNDERPOWERED", ANY)] * 3 + [KEPT] * 3,
    "clean": [KEPT] * 6,
}


@pytest.mark.parametrize("own", OUTCOMES)
def test_controls_over_every_multiset_of_up_to_three(own: str) -> None:
    kinds = list(_kinds())
    assert len(kinds) == 30
    finding = some_finding(own)
    for size in range(4):
        for chosen in itertools.combinations_with_replacement(kinds, size):
            words = {word for word, _ in chosen} or {"passed"}
            effect = next(name for name, members in STRONGEST_FIRST if words & members)
            expected = AFTER[effect][OUTCOMES.index(own)]
            found = after_controls(finding, [result for _, result in chosen])
            if expected == KEPT:
                assert found == finding, (chosen, found)
            else:
                assert agrees(found, expected), (chosen, found)


def test_whether_a_control_passed() -> None:
    for word, result in _kinds():
        assert result.passed == (word == "passed"), result


# rulings

# What must be present for the row to apply, and the ruling: N! is a required probe without answer.
LETTER = dict(zip(OUTCOMES, "FAUPIN", strict=True))
PART_ROWS: list[tuple[str, str]] = [
    ("!", "NO_ANSWER"),
    ("FA", "UNDECIDED"),
    ("F", "UPHELD"),
    ("A", "DISMISSED"),
    ("U", "UNDECIDED"),
    ("P", "UNDERPOWERED"),
    ("N", "NO_ANSWER"),
    ("", "INVALID"),
]


def _ruled(kinds: tuple[tuple[str, bool], ...]) -> PartRuling:
    findings = [
        ProbeFinding(f"probe-{index}", some_finding(outcome), required)
        for index, (outcome, required) in enumerate(kinds)
    ]
    return rule_part(findings)


def test_rulings_over_every_multiset_of_up_to_four_outcomes() -> None:
    kinds = list(itertools.product(OUTCOMES, (True, False)))
    used = set()
    for size in range(1, 5):
        for chosen in itertools.combinations_with_replacement(kinds, size):
            present = {LETTER[outcome] for outcome, _ in chosen} | ({"!"} if ("NO_ANSWER", True) in chosen else set())
            letters, ruling = next(row for row in PART_ROWS if set(row[0]) <= present)
            used.add(letters)
            found = _ruled(chosen)
            assert found.ruling == ruling, chosen
            wanted = {"!": "N", "": "I"}.get(letters, letters)
            fixed_by = {
                f"probe-{index}"
                for index, (outcome, required) in enumerate(chosen)
                if LETTER[outcome] in wanted and (required or letters != "!")
            }
            assert set(found.fixed_by) == fixed_by, chosen
            assert found.reason == ("conflict" if letters == "FA" else "misfit" if ruling in NEEDS_REASON else None), (
                chosen
            )
    assert used == {letters for letters, _ in PART_ROWS}


def test_a_ruling_does_not_depend_on_the_order_of_probes() -> None:
    for chosen in itertools.combinations_with_replacement(list(itertools.product(OUTCOMES, (True, False))), 3):
        assert len({_ruled(order).ruling for order in itertools.permutations(chosen)}) == 1, chosen


CASE_LADDER = ["NO_ANSWER", "UNDECIDED", "UNDERPOWERED", "INVALID"]


def test_rulings_over_parts() -> None:
    rulings = [str(ruling) for ruling in Ruling]
    for size in range(1, 5):
        for chosen in itertools.product(rulings, repeat=size):
            parts = {
                f"part-{index}": PartRuling(
                    Ruling(ruling), ("probe",), list(Reason)[index] if ruling in NEEDS_REASON else None
                )
                for index, ruling in enumerate(chosen)
            }
            if "UPHELD" in chosen:
                expected = "UPHELD"
            elif set(chosen) == {"DISMISSED"}:
                expected = "DISMISSED"
            else:
                expected = min(set(chosen) - {"DISMISSED"}, key=CASE_LADDER.index)
            found = rule_case(parts)
            assert found.ruling == expected, chosen
            assert found.parts == tuple(part for part, ruling in zip(parts, chosen, strict=True) if ruling == expected)
            assert found.reason == (DESIGN_REASONS[chosen.index(expected)] if expected in NEEDS_REASON else None)


def test_nothing_to_rule_on_is_a_mistake() -> None:
    with pytest.raises(AssertionError):
        rule_part([])
    with pytest.raises(AssertionError):
        rule_case({})


# verdicts

DECIDED = "UPHELD DISMISSED"
NAMED_PARTS, OWN_REASON, TOY_WORDS = "the parts", "the reason of the probe", "why it is toy"
#    ruling   retracted  differs  below  unchecked  reproduces   verdict, because
VERDICTS: list[tuple[Any, ...]] = [
    (None, True, None, None, None, None, "inconclusive", "withdrawn"),
    ("NO_ANSWER", None, None, None, None, None, None, "no answer"),
    (None, None, True, None, None, None, "inconclusive", "not-the-papers-claim"),
    (DECIDED, None, None, True, None, None, "toy", TOY_WORDS),
    (DECIDED, None, None, None, True, None, "inconclusive", "premise-unchecked"),
    ("UPHELD", None, None, None, None, None, "falsified", NAMED_PARTS),
    ("DISMISSED", None, None, None, None, True, "verified", NAMED_PARTS),
    ("DISMISSED", None, None, None, None, None, "inconclusive", "dispute-dismissed"),
    (None, None, None, None, None, None, "inconclusive", OWN_REASON),
]


@pytest.mark.parametrize("parts", [("a",), ("a", "b-2")])
def test_verdicts_in_all_circumstances(parts: tuple[str, ...]) -> None:
    used = set()
    for ruling, *flags in itertools.product([str(r) for r in Ruling], *[(False, True)] * 5):
        for reason in DESIGN_REASONS if ruling in NEEDS_REASON else [None]:
            retracted, differs, below, unchecked, reproduces = flags
            found = verdict_of(
                Circumstances(
                    ruling=Ruling(ruling),
                    retracted=retracted,
                    parameters_differ=differs,
                    below_scale=below,
                    premise_unchecked=unchecked,
                    reproduces_claim=reproduces,
                    reason=Reason(reason) if reason else None,
                    parts=parts,
                )
            )
            index = next(i for i, row in enumerate(VERDICTS) if all(map(_covers, row[:6], (ruling, *flags))))
            used.add(index)
            verdict, because = VERDICTS[index][6:]
            assert found.verdict == verdict, (ruling, flags, found)
            if because == NAMED_PARTS:
                assert re.findall(r"[\w-]+", found.because)[1:] == list(parts)
            elif because == TOY_WORDS:
                assert "registered scale" in found.because
                assert "synthetic" in found.because
            else:
                assert found.because == (reason if because == OWN_REASON else because), (ruling, flags, found)
    assert used == set(range(len(VERDICTS)))
