"""What "faster" means: four readings of two times, and which of them a printed claim is."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from verifier.audits.shown_numbers import percent
from verifier.audits.speed import recheck, speed
from verifier.model.answers import AuditAnswer
from verifier.model.basis import BasisClass
from verifier.model.errors import BadInput

FIXTURES = {
    case["id"]: case for case in json.loads((Path(__file__).parents[1] / "fixtures" / "audits.json").read_text("utf-8"))
}
N13 = FIXTURES["N13"]


@pytest.mark.parametrize(
    ("times", "expected"), list(zip(N13["input"]["pairs"], N13["expected"]["factor_fasterpct_lesspct"], strict=True))
)
def test_n13_the_readings(times: list[float], expected: list[float]) -> None:
    found = speed(str(times[0]), str(times[1])).details
    readings = [found[name] for name in ("factor", "percent-faster", "percent-less-time")]
    assert readings == pytest.approx(expected, rel=1e-9)
    assert found["points"] == pytest.approx(times[0] - times[1])


@pytest.mark.parametrize(
    ("claimed", "said_as", "finding"),
    [
        (None, None, AuditAnswer.SAME_BASIS),
        ("78.7", "percent-faster", AuditAnswer.SAME_BASIS),
        ("44.1", "percent-less-time", AuditAnswer.SAME_BASIS),
        ("1.79", "factor", AuditAnswer.SAME_BASIS),
        ("78.7", None, AuditAnswer.SAME_BASIS),
        ("78.7", "percent-less-time", AuditAnswer.MISMATCH_PROVEN),
        ("44.1", "percent-faster", AuditAnswer.MISMATCH_PROVEN),
        ("55.0", "factor", AuditAnswer.JOINTLY_INCONSISTENT),
        ("55.0", None, AuditAnswer.JOINTLY_INCONSISTENT),
        ("4", "percent-faster", AuditAnswer.JOINTLY_INCONSISTENT),  # one digit does not name the other reading
    ],
)
def test_which_reading_a_claim_is(claimed: str | None, said_as: str | None, finding: AuditAnswer) -> None:
    audit = speed("9.42", "5.27", claimed=claimed, said_as=said_as)
    assert audit.finding is finding
    assert audit.basis_class is (BasisClass.CLOSE if finding is AuditAnswer.JOINTLY_INCONSISTENT else BasisClass.DIR)
    assert audit.residual is None or audit.residual.excludes_one == (finding is not AuditAnswer.SAME_BASIS)


def test_open_words_that_fit_two_readings_ask_for_the_meaning() -> None:
    audit = speed("100", "50", claimed="50")  # 50 % less time, or 50 less
    assert audit.finding is AuditAnswer.INSUFFICIENT
    assert audit.details["claimed_fits"] == ["percent-less-time", "points"]
    assert audit.missing == ("what 50 is meant as",)


def test_the_witness_is_the_smallest_and_rechecks() -> None:
    audit = speed("9.42", "5.27", claimed="78.7", said_as="percent-less-time")
    assert audit.witness == {"before": 2, "after": 1, "percent-less-time": "50", "percent-faster": "100"}
    assert recheck(audit)
    assert not recheck(dataclasses.replace(audit, witness={**audit.witness, "percent-faster": "99"}))


@pytest.mark.parametrize(
    ("before", "after", "said_as", "says"),
    [
        ("0", "1", None, "is not above zero"),
        ("1", "-1", None, "is not above zero"),
        ("0.4e0", "0", None, "is not above zero"),
        ("fast", "1", None, "is not a number"),
        ("2", "1", "percent-fastr", "the nearest valid one is percent-faster"),
    ],
)
def test_bad_input_gets_one_sentence(before: str, after: str, said_as: str | None, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        speed(before, after, claimed="1", said_as=said_as)


def test_a_claim_that_only_the_rounding_allows_is_called_that() -> None:
    """3 and 2 may be 3.5 and 1.5, which is 57 % less time."""
    words = "only within the rounding of 3 and 2"
    assert words in speed("3", "2", claimed="50", said_as="percent-less-time").sentence
    assert words not in speed("3", "2", claimed="33", said_as="percent-less-time").sentence


def test_a_percentage_that_rounds_to_zero_has_no_sign() -> None:
    assert (percent(-0.0001), percent(-0.001), percent(0.0)) == ("0.0 %", "-0.1 %", "0.0 %")
