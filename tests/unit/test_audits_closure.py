"""Identities between printed numbers: true sets are never accused, wrong ones are, and mended."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verifier.audits.audit import Audit
from verifier.audits.closure import closure, nearest_printed
from verifier.audits.identities import weighted_mean
from verifier.audits.interval import Interval
from verifier.audits.printed import printed
from verifier.model.answers import AuditAnswer
from verifier.model.errors import BadInput

FIXTURES = Path(__file__).parents[1] / "fixtures" / "audits.json"
HOLDS, CLASH = AuditAnswer.SAME_BASIS, AuditAnswer.JOINTLY_INCONSISTENT


def asked(identity: Any, terms: str, total: str | None = None, weights: str | None = None) -> Audit:
    return closure(
        identity=identity,
        terms=[printed(text) for text in terms.split()],
        printed=None if total is None else printed(total),
        weights=None if weights is None else [printed(text) for text in weights.split()],
    )


@pytest.mark.parametrize(
    ("identity", "terms", "total", "weights", "finding"),
    [
        ("mean", "62.0 47.9", "55.0", None, HOLDS),  # 54.95 ± .05 meets 55.0 ± .05
        ("mean", "62.0 47.9", "54.8", None, CLASH),
        ("mean", "62.0 47.9", "60.6", "90 10", HOLDS),
        ("mean", "62.0 47.9", "54.95", "90 10", CLASH),
        ("mean", "62.0 47.9", "55.2", "0.5 0.5", HOLDS),
        ("mean", "62.0 47.9", "55.2", "1/2 1/2", CLASH),
        ("product", "3.0 4.0", "12.1", None, HOLDS),
        ("product", "3.0 4.0", "13.0", None, CLASH),
        ("product", "-3.0 4.0", "-12", None, HOLDS),
        ("little", "10.0 0.50", "5.0", None, HOLDS),
        ("little", "10.0 0.50", "7.0", None, CLASH),
        ("dilution", "5.11 0.66 0 0.05", "3", None, CLASH),
        ("dilution", "5.11 0.66 0 0.05", "23", None, HOLDS),
        ("dilution", "5.11 0.66 0 1.0", "3", None, HOLDS),
        ("dilution", "5.11 0.40 0 0.05", "3", None, HOLDS),
    ],
)
def test_findings(identity: str, terms: str, total: str, weights: str | None, finding: AuditAnswer) -> None:
    found = asked(identity, terms, total, weights)
    assert found.finding is finding
    assert (found.witness is None) == (finding is HOLDS)
    json.dumps(found.details, allow_nan=False)


def test_the_broken_run_of_bytes_per_word() -> None:
    fixture = next(row for row in json.loads(FIXTURES.read_text("utf-8")) if row["id"] == "N02")
    for (word, byte), expected in zip(fixture["input"]["runs"], fixture["expected"]["bytes_per_word"], strict=True):
        found = asked("bytes-per-word", f"{word} {byte}", "5.3475")
        assert found.details["at_printed_values"] == pytest.approx([expected], abs=1e-9)
        # of the four only the first two are of the corpus with 5.3475 bytes a word, the first to sixteen digits
        assert (found.finding is HOLDS) == (abs(expected - 5.3475) < 1e-4)
    runs = [f"{word} {byte}" for word, byte in fixture["input"]["runs"]]
    assert asked("bytes-per-word", " ".join(runs[:2])).finding is HOLDS
    third = asked("bytes-per-word", " ".join(runs[:3]))
    assert third.finding is CLASH
    assert third.details["restoring"][0]["number"] == "byte perplexity of run 3"
    assert asked("bytes-per-word", " ".join(runs)).details["restoring"] == []  # no single change mends two outliers


@settings(max_examples=80, deadline=None)
@given(st.sampled_from(["mean", "product", "little", "bytes-per-word"]), st.data())
def test_numbers_of_one_truth_are_never_accused(identity: str, data: st.DataObject) -> None:
    n = 2 if identity in {"little", "bytes-per-word"} else data.draw(st.integers(1, 6))
    low = 1.2 if identity == "bytes-per-word" else 0.6
    values = data.draw(st.lists(st.floats(low, 90), min_size=n, max_size=n))
    digits = data.draw(st.integers(1, 4))
    if identity == "bytes-per-word":
        total = math.log(values[0]) / math.log(values[1])
    else:
        total = sum(values) / n if identity == "mean" else math.prod(values)
    found = asked(identity, " ".join(f"{x:.{digits}f}" for x in values), f"{total:.{digits}f}")
    assert found.finding is HOLDS


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["mean", "product"]), st.lists(st.integers(100, 900), min_size=2, max_size=5), st.integers(1, 9_999)
)
def test_every_mended_set_holds_and_no_smaller_change_mends_it(identity: str, cells: list[int], total: int) -> None:
    terms = [f"{cell / 100:.2f}" for cell in cells]
    found = asked(identity, " ".join(terms), f"{total / 10:.1f}")
    for change in found.details["restoring"]:
        for back, finding in ((0, HOLDS), (1, CLASH)):
            changed, last = list(terms), f"{total / 10:.1f}"
            decimals = len(change["to"].partition(".")[2])
            towards = 1 if float(change["to"]) < float(change["printed"]) else -1
            to = f"{float(change['to']) + back * towards * 10**-decimals:.{decimals}f}"
            if change["number"] == identity:
                last = to
            else:
                changed[int(change["number"].split()[1]) - 1] = to
            again = asked(identity, " ".join(changed), last)
            assert again.finding is finding or (finding is CLASH and again.details["only_if_cut_off"])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(1, 9), st.integers(0, 5)), min_size=1, max_size=5))
def test_weighted_means_against_every_corner(rows: list[tuple[int, int, int]]) -> None:
    terms = [Interval(Fraction(x), Fraction(x)) for x, _, _ in rows]
    weights = [Interval(Fraction(w), Fraction(w + more)) for _, w, more in rows]
    every = [
        sum(w * t.low for w, t in zip(corner, terms, strict=True)) / sum(corner)
        for corner in product(*((w.low, w.high) for w in weights))
    ]
    assert weighted_mean(terms, weights) == Interval(min(every), max(every))


def test_weighted_means_of_many_cells() -> None:
    random = np.random.default_rng(1)
    cells, heavy = random.integers(0, 1000, 3_000), random.integers(1, 90, 3_000)
    mean = float((cells / 10 * heavy).sum() / heavy.sum())
    terms, weights = " ".join(f"{x / 10:.1f}" for x in cells), " ".join(map(str, heavy))
    assert asked("mean", terms, f"{mean:.2f}", weights).finding is HOLDS
    found = asked("mean", terms, f"{mean + 0.2:.2f}", weights)
    assert found.finding is CLASH
    assert len(found.sentence) < 400


def test_the_nearest_printed_number() -> None:
    number = printed("0.66")
    assert nearest_printed(number, Interval(Fraction("0.3595"), Fraction("0.4422"))) == Fraction("0.44")
    assert nearest_printed(number, Interval(Fraction("0.7"), Fraction(1))) == Fraction("0.7")
    assert nearest_printed(number, Interval(Fraction("0.7051"), Fraction(1))) == Fraction("0.71")
    assert nearest_printed(printed("2/3"), Interval(Fraction(1), Fraction(2))) == 1


def test_the_dilution_names_the_largest_pad_loss_that_mends_it() -> None:
    found = asked("dilution", "5.11 0.66 0 0.05", "3")
    changes = {change["number"]: change["to"] for change in found.details["restoring"]}
    assert changes["largest pad loss in nats"] == "0.97"
    assert changes["padded share"] == "0.44"
    assert found.details["dilution"]["smallest_consistent_pad_loss_max"] == pytest.approx(0.970, abs=5e-4)
    assert "cannot all hold" in found.sentence


def test_granularity_is_an_identity_too() -> None:
    clash = asked("granularity", "42.9 63.2 64.2", "68")
    assert (clash.mechanism, clash.finding) == ("closure", CLASH)
    assert "42.9" in clash.sentence
    assert asked("granularity", "63.2 70.6", "68").finding is HOLDS
    assert asked("granularity", "63.2", "1000").finding is AuditAnswer.INSUFFICIENT
    assert asked("granularity", "63.2").missing == ("the number of items",)
    with pytest.raises(BadInput, match="is no number of items"):
        asked("granularity", "63.2", "68.5")


def test_what_is_missing_is_named() -> None:
    found = asked("mean", "1 2")
    assert (found.finding, found.missing) == (AuditAnswer.INSUFFICIENT, ("the printed mean",))
    assert asked("dilution", "5.11 0.66 0").missing == ("the printed deflation",)
    assert asked("bytes-per-word", "9 1.5").finding is AuditAnswer.INSUFFICIENT


@pytest.mark.parametrize(
    ("identity", "terms", "weights", "words"),
    [
        ("little", "1 2 3", None, "closure.terms: 3 terms for the identity little; write exactly two"),
        ("bytes-per-word", "3 2 1", None, "pairs"),
        ("bytes-per-word", "3.0 1.0", None, "1.0 as byte perplexity may be 1 or less"),
        ("dilution", "5.11 0.66", None, "pad loss"),
        ("mean", "1 2", "1", "2 terms and 1 weights"),
        ("mean", "1 2", "1 0", "the weight 0 is not above 0"),
        ("product", "1 2", "1 1", "has no weights"),
    ],
)
def test_numbers_outside_an_identity(identity: str, terms: str, weights: str | None, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        asked(identity, terms, "1", weights)


@pytest.mark.parametrize(
    ("identity", "terms", "total", "finding", "cut"),
    [
        ("mean", "62.09 48.09", "55.0", HOLDS, True),  # 55.09
        ("mean", "62.09 48.09", "55.1", HOLDS, False),
        ("mean", "62.09 48.09", "54.9", CLASH, False),
        ("mean", "62.09 48.09", "55.2", CLASH, False),
        ("mean", "-62.09 -48.09", "-55.0", HOLDS, True),  # towards 0
        ("mean", "-62.09 -48.09", "-55.2", CLASH, False),
        ("mean", "-0.06 -0.04", "0.0", HOLDS, False),
        ("little", "2.9 3.9", "11.9", HOLDS, True),  # 2.99 times 3.99
        ("bytes-per-word", "20.08 1.76", "5.2", HOLDS, True),
    ],
)
def test_digits_that_are_cut_off_accuse_nobody(
    identity: Any, terms: str, total: str, finding: AuditAnswer, *, cut: bool
) -> None:
    found = asked(identity, terms, total)
    assert (found.finding, found.details["only_if_cut_off"]) == (finding, cut)
    assert ("if digits are cut off and not rounded" in found.sentence) is cut


@pytest.mark.parametrize(
    ("terms", "total", "finding"),
    [
        ("8 2048", "16384", HOLDS),
        ("8 2048", "17000", CLASH),
        ("8 2048", "16383", CLASH),
        ("8 2048", "1.6e4", HOLDS),
        ("8.0 2048", "16400", HOLDS),  # decimals say that it is rounded
        ("8 2.0", "16", HOLDS),
        ("8 2.0", "18", CLASH),
    ],
)
def test_whole_factors_are_exact(terms: str, total: str, finding: AuditAnswer) -> None:
    found = asked("product", terms, total)
    assert found.finding is finding
    for change in found.details["restoring"]:
        assert change["to"] != change["printed"]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.fractions(-100, 100), min_size=1, max_size=6), st.integers(0, 3), st.integers(0, 3))
def test_a_true_mean_is_never_accused_whichever_way_each_number_is_cut(
    values: list[Fraction], digits: int, of_total: int
) -> None:
    def cut(value: Fraction, places: int) -> str:
        whole = int(abs(value) * 10**places)
        sign = "-" if value < 0 else ""
        return f"{sign}{whole // 10**places}" + (f".{whole % 10**places:0{places}d}" if places else "")

    terms = " ".join(cut(value, digits) for value in values)
    mean = sum(values, Fraction(0)) / len(values)
    assert asked("mean", terms, cut(mean, of_total)).finding is HOLDS
    rounded = " ".join(f"{float(value):.{digits}f}" for value in values)
    assert asked("mean", rounded, cut(mean, of_total)).finding is HOLDS
