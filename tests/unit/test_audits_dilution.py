"""Scored padding: the public figures, every formula against the others, and cases with other numbers."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from verifier.audits.audit import Audit
from verifier.audits.dilution import dilution
from verifier.audits.dilution_box import Measured, PadLoss, PrintedDeflation, box
from verifier.audits.dilution_witness import simplest_fraction
from verifier.audits.interval import Interval
from verifier.audits.logarithms import exp, ln
from verifier.audits.printed import printed
from verifier.model.answers import AuditAnswer, Corrected
from verifier.model.errors import BadInput

ABOUT_ZERO = PadLoss(printed("0"), printed("0.05"))
THREEFOLD = PrintedDeflation("perplexity", printed("3"))
BOTH = Measured(printed("5.11"), printed("5.27"))
FIXTURES = Path(__file__).parents[1] / "fixtures" / "audits.json"
ONE = Measured(printed("5.11"))


def published(**changed: Any) -> Audit:
    given: dict[str, Any] = {
        "measured": BOTH,
        "p": printed("0.66"),
        "pad_loss": ABOUT_ZERO,
        "printed_deflation": THREEFOLD,
        "threshold": printed("1.25"),
    }
    return dilution(**(given | changed))


def test_the_published_set() -> None:
    found = published()
    details = found.details
    assert (found.finding, found.material, found.corrected) == (AuditAnswer.RECONCILED, True, Corrected.KEPT)
    assert found.factor == "50/17"
    assert details["consistent"] is False
    follows = details["follows"]["perplexity"]
    assert (round(follows["low"], 1), round(follows["high"], 1)) == (20.1, 25.5)
    assert round(follows["at_least_pad_loss"]["low"], 1) == 22.1
    assert details["smallest_consistent_pad_loss_max"] == pytest.approx(0.970, abs=5e-4)
    assert details["follows"]["loss"]["holds"]
    assert [round(100 * g, 1) for g in details["gap_at_printed_values"]] == [5.3, 9.5]
    assert [round(100 * g, 1) for g in details["gap_admissible"]] == [4.6, 10.3]
    assert details["gap_printed"]["high"] == pytest.approx(0.0333, abs=5e-5)
    assert details["threshold"]["gap"] == pytest.approx(1.25 * (5.275 / 5.105 - 1), rel=1e-12)
    removes = details["pad_loss_difference"]["removes_dilution"]
    assert [(round(x["share"], 3), round(x["nats"], 3)) for x in removes] == [(0.402, 0.028), (0.66, 0.030)]
    for words in ("9.5 %", "4.6 % and 10.3 %", "4.17 %", "20.1 to 25.5", "0.970", "0.028", "0.030", "cannot all hold"):
        assert words in found.sentence


def test_where_the_finding_dies_it_dies() -> None:
    ends = published().details["pad_loss_difference"]["ends_finding"]
    assert published(pad_loss_difference=printed(f"{ends - 1e-6:.9f}")).finding is AuditAnswer.RECONCILED
    assert published(pad_loss_difference=printed(f"{ends + 1e-6:.9f}")).finding is AuditAnswer.INSUFFICIENT


def test_the_smallest_pad_loss_that_restores_the_set_restores_it() -> None:
    least = published().details["smallest_consistent_pad_loss_max"]
    assert published(pad_loss=PadLoss(printed("0"), printed(f"{least + 1e-6:.9f}"))).details["consistent"]
    assert published(pad_loss=PadLoss(printed("0"), printed(f"{least - 1e-6:.9f}"))).details["consistent"] is False


def test_b2_and_b3() -> None:
    fixture = _fixtures()
    at = published().details
    assert at["gap_printed"]["value"] == pytest.approx(fixture["B2"]["expected"]["gap_measured"], abs=1e-9)
    assert at["readings"][-1]["gap"] == pytest.approx(fixture["B2"]["expected"]["gap_true"], abs=1e-9)
    assert at["follows"]["loss"]["value"] == pytest.approx(fixture["B2"]["expected"]["loss_deflation"], abs=1e-9)
    assert at["follows"]["perplexity"]["value"] == pytest.approx(fixture["B2"]["expected"]["ppl_deflation"], abs=1e-9)
    assert at["share"]["solved"]["value"] == pytest.approx(fixture["B3"]["expected"]["p_if_pad_nll_zero"], abs=1e-9)
    assert at["readings"][0]["gap"] == pytest.approx(fixture["B3"]["expected"]["gap_then"], abs=1e-9)
    assert at["pad_loss"]["solved"]["value"] == pytest.approx(fixture["B3"]["expected"]["pad_nll_if_p_066"], abs=1e-9)
    left = published().left
    assert left is not None
    assert str(left.restated).startswith("121.2 ")
    thousand = dilution(measured=Measured(printed("1000"), printed("1031")), p=printed("0.66"))  # 3.1 % exactly
    true = thousand.details["readings"][0]["gap"]
    assert true == pytest.approx(fixture["B2"]["expected"]["gap_true_from_3_1pct"], abs=1e-9)


def test_b4() -> None:
    fixture = _fixtures()["B4"]
    for difference, true in zip(fixture["input"]["pad_nll_difference"], fixture["expected"]["gap_true"], strict=True):
        found = published(pad_loss_difference=printed(str(difference)))
        assert found.details["readings"][-1]["gap"] == pytest.approx(true, abs=1e-9)


def test_findings_by_difference() -> None:
    def finding(difference: str) -> tuple[AuditAnswer, bool | None, Corrected | None]:
        found = published(pad_loss_difference=printed(difference))
        return found.finding, found.material, found.corrected

    assert finding("0.005") == (AuditAnswer.RECONCILED, True, Corrected.KEPT)
    assert finding("0.01") == (AuditAnswer.INSUFFICIENT, None, Corrected.BELOW_THRESHOLD)
    assert finding("0.03") == (AuditAnswer.NOT_MATERIAL, False, Corrected.BELOW_THRESHOLD)
    assert finding("0.031") == (AuditAnswer.NOT_MATERIAL, False, Corrected.BELOW_THRESHOLD)
    assert finding("0.05") == (AuditAnswer.NOT_MATERIAL, False, Corrected.CONTAINS_ONE)
    assert finding("0.2") == (AuditAnswer.RECONCILED, True, Corrected.OTHER_SIDE)


def test_a_statement_that_is_missing_is_solved_for() -> None:
    def solved(**given: Any) -> Audit:
        return dilution(measured=ONE, **given)

    share = solved(pad_loss=ABOUT_ZERO, printed_deflation=THREEFOLD)
    assert share.details["share"]["solved"]["value"] == pytest.approx(0.402449843530, abs=1e-9)
    pad = solved(p=printed("0.66"), printed_deflation=THREEFOLD)
    assert pad.details["pad_loss"]["solved"]["value"] == pytest.approx(1.065247619144, abs=1e-9)
    factor = solved(p=printed("0.66"), pad_loss=ABOUT_ZERO)
    assert factor.details["follows"]["perplexity"]["value"] == pytest.approx(23.723020416513, abs=1e-9)
    assert {each.finding for each in (share, pad, factor)} == {AuditAnswer.RECONCILED}
    assert {each.material for each in (share, pad, factor)} == {None}
    assert solved().finding is AuditAnswer.INSUFFICIENT
    assert "the mean pad loss" in solved(p=printed("0.66")).missing
    every = solved(p=printed("0.66"), pad_loss=ABOUT_ZERO, printed_deflation=THREEFOLD)
    assert every.finding is AuditAnswer.JOINTLY_INCONSISTENT
    loss = solved(p=printed("0.66"), pad_loss=ABOUT_ZERO, printed_deflation=PrintedDeflation("loss", printed("3")))
    assert loss.finding is AuditAnswer.RECONCILED


def test_without_a_share_the_gap_is_not_settled() -> None:
    found = dilution(measured=BOTH)
    assert found.finding is AuditAnswer.INSUFFICIENT
    assert "padded share" in found.missing[0]
    assert dilution(measured=BOTH, p=printed("0.66")).details["gap_admissible"][0] > 0.08
    from_deflation = dilution(measured=BOTH, pad_loss=ABOUT_ZERO, printed_deflation=THREEFOLD)
    assert [round(100 * g, 1) for g in from_deflation.details["gap_admissible"]] == [4.6, 6.0]


def test_no_padding() -> None:
    assert dilution(measured=BOTH, p=printed("0/1")).finding is AuditAnswer.SAME_BASIS
    assert dilution(measured=BOTH, p=printed("0.000")).finding is AuditAnswer.NOT_MATERIAL
    assert dilution(measured=ONE, p=printed("0/1"), pad_loss=ABOUT_ZERO).finding is AuditAnswer.SAME_BASIS


def test_a_better_variant_is_the_mirror_image() -> None:
    found = dilution(measured=Measured(printed("5.27"), printed("5.11")), p=printed("0.66"),
                     pad_loss_difference=printed("-0.005"))  # fmt: skip
    mirror = dilution(measured=BOTH, p=printed("0.66"), pad_loss_difference=printed("0.005"))
    assert found.details["gap_of"] == "baseline over variant"
    assert found.details["gap_admissible"] == mirror.details["gap_admissible"]
    assert found.finding is mirror.finding


@pytest.mark.parametrize("p", ["0.9999", "0.99999999999"])
def test_nearly_all_padding_still_answers(p: str) -> None:
    found = published(p=printed(p))
    assert found.finding is AuditAnswer.RECONCILED
    json.dumps(found.details, allow_nan=False)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(105, 9_999), st.integers(100, 9_999), st.integers(1, 98), st.integers(0, 300), st.integers(-20, 20),
    st.integers(2, 60),
)  # fmt: skip
def test_every_admissible_value_lies_in_the_range(a: int, b: int, p: int, pad: int, d: int, factor: int) -> None:
    """Draws within the rounding boxes never leave the intervals, and statements made from one corpus are consistent."""
    measured = Measured(printed(f"{a / 100:.2f}"), printed(f"{b / 100:.2f}"))
    found = dilution(
        measured=measured, p=printed(f"0.{p:02d}"), pad_loss=PadLoss(printed(f"{pad / 100:.2f}")),
        pad_loss_difference=printed(f"{d / 1000:.3f}"),
        printed_deflation=PrintedDeflation("loss", printed(f"{factor / 10:.1f}")),
    )  # fmt: skip
    if found.finding is AuditAnswer.JOINTLY_INCONSISTENT:  # padding alone has more loss than either model can have
        least = max(0.0, pad / 100 - 0.005)
        weights = [(p - 0.5) / 100 * max(0.0, least + more) for more in (0, d / 1000)]
        logs = [math.log((each + 0.5) / 100) for each in (a, b)]
        assert (
            any(weight > log - 1e-9 for weight, log in zip(weights, logs, strict=True)) or pad / 100 + 0.05 < -d / 1000
        )
        return
    low, high = found.details["gap_admissible"]
    if None in (low, high):  # a gap that no float holds
        assert "beyond all bounds" in found.sentence
        return
    draws = np.random.default_rng(a * b).uniform(-0.5, 0.5, (40, 3)) / 100
    sign = 1 if b >= a else -1
    for one, other, share in draws:
        x, y, s = a / 100 + one, b / 100 + other, p / 100 + share
        if s * max(0.0, pad / 100 - 0.005) > math.log((a + 0.5) / 100):  # no losses have this share
            continue
        gap = math.expm1(sign * (math.log(max(1, y) / max(1, x)) - s * d / 1000) / (1 - s))
        # a consistent set may leave fewer shares than are printed
        inside = low - 1e-9 * (1 + abs(low)) <= gap <= high + 1e-9 * (1 + abs(high))
        assert inside or found.details["consistent"]


@settings(max_examples=60, deadline=None)
@given(st.floats(0.02, 0.95), st.floats(0.0, 2.0), st.floats(1.0, 6.0), st.sampled_from(["perplexity", "loss"]))
def test_statements_about_one_corpus_are_consistent(p: float, pad: float, true: float, of: Any) -> None:
    log = p * pad + (1 - p) * true
    assume(log > 0.3)
    factor = math.exp(true - log) if of == "perplexity" else true / log
    assume(0.1 < factor < 1000)
    said = box(
        printed(f"{math.exp(log):.3f}"), p=printed(f"{p:.3f}"), pad_loss=PadLoss(printed(f"{pad:.3f}")),
        deflation=PrintedDeflation(of, printed(f"{factor:.3f}")),
    )  # fmt: skip
    assert said.consistent()


def test_the_witness_rechecks() -> None:
    found = published().witness
    assert found is not None
    assert (found["real_tokens"], found["pads"]) == (10, 19)
    for name in ("baseline", "variant"):
        model = found[name]
        losses = np.array([model["real_loss"]] * found["real_tokens"] + [model["pad_loss"]] * found["pads"])
        assert math.exp(losses.mean()) == pytest.approx(model["all"], rel=1e-12)
        assert math.exp(losses[: found["real_tokens"]].mean()) == pytest.approx(model["real"], rel=1e-12)
    assert found["gap"]["all"] == pytest.approx(5.27 / 5.11 - 1, rel=1e-12)
    assert found["gap"]["real"] > 0.0417


@given(st.fractions(0, 1, max_denominator=10**6), st.fractions(0, 1, max_denominator=10**4))
def test_the_simplest_fraction_is_the_simplest(low: Fraction, width: Fraction) -> None:
    found = simplest_fraction(Interval(low, low + width))
    assert low <= found <= low + width
    for smaller in range(1, min(found.denominator, 200)):
        assert math.ceil(low * smaller) > (low + width) * smaller


@given(st.fractions(Fraction(1, 10**6), 10**6), st.fractions(0, 5))
def test_logarithms_are_enclosed(low: Fraction, width: Fraction) -> None:
    x = Interval(low, low + width)
    found = ln(x)
    back = exp(found)
    assert back.low <= x.low <= x.high <= back.high
    assert float(back.high - x.high) <= 1e-25 * float(x.high)
    assert float(found.low) == pytest.approx(math.log(low), abs=1e-9)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"p": printed("66")}, "dilution.p: 66 is no share of padded positions; write one from 0 to below 1"),
        ({"p": printed("1")}, "is no share"),
        ({"p": printed("-0.1")}, "is no share"),
        ({"threshold": printed("0")}, "dilution.threshold"),
    ],
)
def test_numbers_that_mean_nothing(given: dict[str, Any], words: str) -> None:
    with pytest.raises(BadInput, match=words):
        published(**given)


def test_statements_that_mean_nothing() -> None:
    with pytest.raises(BadInput, match=r"dilution.measured.variant: 0.9 is no perplexity"):
        Measured(printed("5.11"), printed("0.9"))
    with pytest.raises(BadInput, match="below 0"):
        PadLoss(printed("-1"))
    with pytest.raises(BadInput, match="below the value"):
        PadLoss(printed("0.2"), printed("0.1"))
    with pytest.raises(BadInput, match="is no factor"):
        PrintedDeflation("loss", printed("0"))


def _fixtures() -> dict[str, Any]:
    rows = json.loads(FIXTURES.read_text("utf-8"))
    return {row["id"]: row for row in rows}


@pytest.mark.parametrize(
    ("variant", "share", "pad", "difference", "words"),
    [
        (
            None,
            "0.66",
            "3.0",
            "0",
            "padding alone would add 1.93 nats a position for the baseline, and ln 5.11 is 1.63",
        ),
        ("5.27", "0.66", "3.0", "0", "for the baseline"),
        ("5.27", "0.66", "0", "3.0", "for the variant"),
        ("5.27", "0.66", None, "-3.0", "for the baseline"),  # the variant's is at least 0, so the baseline's 3
        ("5.27", "0.66", "0.1", "-0.5", "would have a pad loss below 0"),
        ("5.27", "0.99", "1.8", "0", "for the baseline"),
    ],
)
def test_padding_cannot_have_more_loss_than_was_measured(
    variant: str | None, share: str, pad: str | None, difference: str, words: str
) -> None:
    audit = dilution(
        measured=Measured(printed("5.11"), None if variant is None else printed(variant)),
        p=printed(share),
        pad_loss=None if pad is None else PadLoss(printed(pad), printed(pad)),
        pad_loss_difference=printed(difference),
    )
    assert (audit.finding, audit.material) == (AuditAnswer.JOINTLY_INCONSISTENT, None)
    assert words in audit.sentence
    assert audit.corrected is None
    assert audit.details["consistent"] is False
    assert audit.witness is not None


@pytest.mark.parametrize(("share", "pad"), [("0.66", "2.4"), ("0.66", "2.48"), ("0.5", "3.26")])
def test_what_lies_at_the_edge_of_possible_is_kept_and_cut(share: str, pad: str) -> None:
    """At p = 0.66 a pad loss up to ln 5.115/0.655 = 2.492 leaves real tokens a loss of at least 0."""
    audit = dilution(measured=Measured(printed("5.11")), p=printed(share), pad_loss=PadLoss(printed(pad)))
    assert audit.finding is AuditAnswer.RECONCILED
    largest = min(
        float(pad) + float(printed(pad).step) / 2, math.log(5.115) / (float(share) - float(printed(share).step) / 2)
    )
    assert audit.details["pad_loss"]["printed"]["high"] == pytest.approx(largest, rel=1e-12)


def test_a_gap_that_turns_over_is_material() -> None:
    audit = dilution(
        measured=Measured(printed("5.11"), printed("5.27")),
        p=printed("0.66"),
        pad_loss=PadLoss(printed("0"), printed("0")),
        pad_loss_difference=printed("0.1"),
    )
    assert (audit.finding, audit.material, audit.corrected) == (AuditAnswer.RECONCILED, True, Corrected.OTHER_SIDE)
    assert "every value turns it over: on real tokens the baseline has the larger perplexity" in audit.sentence
    assert audit.details["pad_loss_difference"]["ends_finding"] is None


def test_a_printed_gap_of_zero_takes_no_side_that_could_be_turned() -> None:
    audit = dilution(
        measured=Measured(printed("5.11"), printed("5.11")),
        p=printed("0.66"),
        pad_loss=PadLoss(printed("0"), printed("0")),
        pad_loss_difference=printed("0.1"),
    )
    assert (audit.finding, audit.material, audit.corrected) == (AuditAnswer.RECONCILED, True, None)
