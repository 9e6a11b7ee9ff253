"""What is said of a result: the ruling never bare, the reason first, the gate and what would change it."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from rich.console import Console

from tests.unit import report_factory as made
from verifier.model.answers import invalid, underpowered
from verifier.model.case import Expectation, Implementation, LaterVersion, Premise
from verifier.model.outcomes import Outcome, Reason
from verifier.model.results import CaseResult, Evidence, UnitsRecord
from verifier.model.rulings import CaseRuling, Ruling
from verifier.report import render_report, ruling_headline, ruling_sentence, run_document, sentences, summary
from verifier.report.changes import would_change
from verifier.report.growth import evidence_line, explained, growth, sigma_line, slope_line
from verifier.report.text import capitalised, decimal, e_value, listed, plain, plain_lines, scientific

NO_ANSWER_WORDS = "no answer was obtained about the dispute"


@pytest.mark.parametrize(
    ("make", "headline"),
    [
        (made.upheld, "the dispute stands (UPHELD): part a of the claim does not hold as stated"),
        (made.dismissed, "the dispute fails (DISMISSED): what it asserts is shown not to hold for part a of the claim"),
        (
            lambda: made.dismissed(reproduces=False),
            (
                "the dispute fails (DISMISSED): what it asserts is shown not to hold for part a of the claim, "
                "which does not verify the claim"
            ),
        ),
        (
            made.toy,
            (
                "the dispute stands (UPHELD): part a of the claim does not hold as stated; decided only up to k = 128, "
                "below the claim's own scale k = 1,024; an exploratory run (scale k = 8, 16, 128), "
                "which replaces no ruling"
            ),
        ),
        (
            made.control_failed,
            (
                "a run with a known answer did not give that answer (online_min), so the evidence does not bear on the "
                "dispute (INVALID) for part a of the claim"
            ),
        ),
        (
            made.conflict,
            (
                "some evidence points one way and some the other (probes additive-term and second), so the dispute is "
                "not decided (UNDECIDED) for part a of the claim"
            ),
        ),
        (
            made.silent,
            f"probe additive-term failed, so {NO_ANSWER_WORDS} (NO_ANSWER) for part a of the claim",
        ),
    ],
)
def test_headlines(make: Callable[[], CaseResult], headline: str) -> None:
    assert ruling_headline(make()) == headline


@pytest.mark.parametrize("name", made.ALL)
def test_a_ruling_is_never_bare_and_a_reason_leads(name: str) -> None:
    result = made.ALL[name]()
    ruling, sentence = result.ruling.ruling, ruling_sentence(result)
    words = f"{ruling.sentence} ({ruling.value})"
    assert sentence.count(ruling.value) == sentence.count(words) == 1
    assert sentence.startswith(words) == ruling.decided
    assert result.probes[0].summary in sentence


def test_two_upheld_parts_are_both_named() -> None:
    claim = replace(made.CLAIM, parts=(*made.CLAIM.parts, made.Part("b", "another")))
    result = made.result(made.probe(parts=("a", "b")), claim=claim)
    assert ruling_headline(result) == "the dispute stands (UPHELD): parts a and b of the claim do not hold as stated"


def test_a_control_without_answer_is_not_blamed_on_the_probe() -> None:
    failed = made.control("online_min", made.named(Outcome.AGAINST_DISPUTE), "NO_ANSWER", Outcome.NO_ANSWER, ())
    result = made.result(made.probe(finding=made.NO_ANSWER, controls=(failed,)))
    assert ruling_headline(result).startswith("a control of probe additive-term failed, so no answer")


def test_claim_line_quotes_or_says_that_it_paraphrases() -> None:
    assert sentences.claim_line(made.upheld()) == f"“{made.CLAIM.quote}” (abstract)"
    bare = made.upheld(claim=replace(made.CLAIM, quote=""))
    assert sentences.claim_line(bare) == f"{made.CLAIM.text} [paraphrase; the paper was not read] (abstract)"
    read = replace(bare, paper=replace(made.PAPER, source_sha256="a" * 64))
    assert "paraphrase; no quote is given" in sentences.claim_line(read)


def test_it_is_said_plainly_whether_the_paper_was_read() -> None:
    unread = made.upheld()
    assert sentences.reading_line(unread).startswith("nobody on this case read the full paper")
    read = replace(unread, paper=replace(made.PAPER, source_sha256="a" * 64))
    assert "nobody" not in sentences.reading_line(read)
    assert "a" * 64 in sentences.reading_line(read)


def test_an_interval_that_no_slope_satisfies_is_said_to_be_none() -> None:
    found = growth(made.upheld().probes[0])
    assert found is not None
    assert "between 1.000 and 2.000" in slope_line(replace(found, low=1.0, high=2.0))
    assert "no slope goes with the residual class" in slope_line(replace(found, low=2.0, high=1.0))


@pytest.mark.parametrize(
    ("changes", "needle"),
    [
        ({"claim": replace(made.CLAIM, quote="")}, "paraphrase"),
        ({"paper": made.PAPER}, "2606.01342v3 was not read"),
        ({"premises": (Premise("It is the paper's.", "no", ""),)}, "“It is the paper's.” was checked by nobody"),
        ({"exploratory": True}, "exploratory"),
        ({"ruling": CaseRuling(Ruling.DISMISSED, ("a",))}, "the dispute fails"),
        ({"probes": tuple(replace(probe, controls=()) for probe in made.upheld().probes)}, "no control"),
    ],
)
def test_each_ground_closes_the_gate(changes: dict[str, object], needle: str) -> None:
    versions = (LaterVersion("2606.01342v2", "unchanged"),)
    settled = {"paper": replace(made.PAPER, later_versions=versions)}
    assert sentences.gate_reasons(made.upheld(**settled)) == []
    assert sentences.gate_line(made.upheld(**settled)).startswith("contact gate open")
    closed = made.upheld(**{**settled, **changes})
    (reason,) = sentences.gate_reasons(closed)
    assert needle in reason
    assert sentences.gate_line(closed).startswith("contact gate closed")
    assert reason in sentences.gate_line(closed)


def two_parts() -> CaseResult:
    """Part b is UPHELD by a probe with controls; part a is disputed too, and its probe could not decide."""
    claim = replace(made.CLAIM, parts=(*made.CLAIM.parts, made.Part("b", "another")))
    weak = made.short().probes[0]
    strong = made.probe(name="accuracy", parts=("b",), controls=made.controls()[:2])
    return made.result(
        weak,
        strong,
        claim=claim,
        dispute=replace(made.DISPUTE, parts=("a", "b")),
        paper=replace(made.PAPER, later_versions=()),
    )


def test_a_disputed_part_that_is_not_upheld_is_named_everywhere() -> None:
    both = two_parts()
    weak = both.probes[0]
    line = next(line for line in sentences.part_lines(both) if line.startswith("part a"))
    assert Ruling.UNDERPOWERED.words in line
    assert "the design was too small to decide; needed: k up to" in line
    assert weak.summary in line
    assert line in ruling_sentence(both)
    assert line in run_document(both)["sentence"]
    assert weak.summary in render_report(both).split("What was measured")[0]
    gate = sentences.gate_line(both)
    assert gate.startswith("contact gate open for part b:")
    assert f"; but nothing may be written about part a, for which {Ruling.UNDERPOWERED.words}; and nobody" in gate
    assert run_document(both)["contact_gate"]["cautions"] == sentences.gate_cautions(both)
    assert any("one of the 2 controls of probe accuracy" in change for change in would_change(both))


def test_each_upheld_part_needs_a_control_of_its_own() -> None:
    both = two_parts()
    bare = replace(both, probes=(both.probes[0], replace(both.probes[1], controls=())))
    assert [reason for reason in sentences.gate_reasons(bare) if "no control" in reason and "part b" in reason]


def test_an_open_gate_says_that_the_paper_was_not_read() -> None:
    versions = {"paper": replace(made.PAPER, later_versions=())}
    assert "but nobody on this case read the full paper" in sentences.gate_line(made.upheld(**versions))
    saw = (Implementation("m:f", ("paper",)),)
    seen = made.upheld(**versions, implementations=saw)
    assert "but nobody on this case is recorded to have read the full paper" in sentences.gate_line(seen)
    assert "though the writer of m:f had seen the paper" in sentences.reading_line(seen)
    read = {"paper": replace(made.PAPER, later_versions=(), source_sha256="a" * 64)}
    assert "but" not in sentences.gate_line(made.upheld(**read))


def test_registration_line_counts_and_names_the_discount() -> None:
    assert sentences.registration_line(made.upheld()) == "registration 1 of 1 of this claim and dispute"
    assert sentences.registration_line(made.short()).startswith("registration 2 of 2 of this claim and dispute")
    assert "after its discount of 0.15" in sentences.registration_line(made.short())


def test_what_would_change_an_upheld_ruling() -> None:
    lines = "\n".join(would_change(made.upheld()))
    assert made.PREMISE.text in lines
    assert "5 controls" in lines
    assert "outside the residual class" in lines
    assert "2606.01342v3" in lines
    assert "reading of the full paper" in lines


def test_an_underpowered_ruling_says_what_would_decide() -> None:
    (first, *_) = would_change(made.short())
    assert first == "A design that can decide: k up to 1,024, 57 replicates, 5,700 phases."
    assert "57 replicates, 5,700 phases" in sentences.adequacy_line(made.short().probes[0])


def test_controls_that_could_not_decide_are_named() -> None:
    weak = made.control("online_min", made.named(Outcome.AGAINST_DISPUTE), "NEITHER", Outcome.UNDECIDED, ())
    found = underpowered(Reason.UNDERPOWERED)
    (first, *_) = would_change(made.result(made.probe(finding=found, controls=(weak,))))
    assert "online_min" in first


@pytest.mark.parametrize("reason", list(Reason))
def test_every_reason_says_what_would_change_it(reason: Reason) -> None:
    for finding in (made.undecided(reason), underpowered(reason), invalid(reason)):
        lines = would_change(made.open_for(reason, finding))
        assert lines
        assert all(line[0].isupper() and line.endswith(".") for line in lines)
        assert len(lines) == len(set(lines))


def test_the_interval_runs_from_the_cone_s_lower_to_the_whole_range_s_upper_end() -> None:
    probe = made.probe(
        evidence=(
            Evidence(
                "decision",
                made.statistics(
                    slope_cone={"estimate": 0.34, "stderr": 0.02, "interval": (0.25, 0.43), "sigma_fixed_n": 6.1},
                    slope_up={"estimate": 0.4, "stderr": 0.02, "interval": (0.3, 0.9), "sigma_fixed_n": 8.0},
                    slope_full={"estimate": 0.37, "stderr": 0.01, "interval": (0.33, 0.41), "sigma_fixed_n": 9.4},
                ),
                made.growing_points(),
                UnitsRecord(1, "d" * 64),
            ),
        )
    )
    found = growth(probe)
    assert found is not None
    assert (found.low, found.high) == (0.25, 0.41)
    assert "between 0.250 and 0.410" in slope_line(found)
    assert "9.4 for the whole-range slope" in sigma_line(found)
    assert "any stopping time, all registrations counted: 4.8" in sigma_line(found)


def test_without_enough_replicates_there_is_no_interval() -> None:
    found = growth(made.short().probes[0])
    assert found is not None
    assert slope_line(found).endswith("too few replicates for an interval")
    assert "any stopping time, all registrations counted: not available" in sigma_line(found)


def test_every_statistic_has_a_line_of_meaning() -> None:
    rows = explained(made.upheld().probes[0])
    assert len({row.name for row in rows}) == len(rows) >= 12
    assert all(row.value and row.meaning for row in rows)
    assert explained(made.silent().probes[0]) == []


def test_control_words_are_words() -> None:
    by_name = {sentences.control_name(run): run for run in made.controls()}
    assert sentences.expected(by_name["online_min"]) == "against the dispute"
    assert sentences.expected(by_name["refresh_every_request"]) == "the same draws as no_gate"
    assert sentences.obtained(by_name["refresh_every_request"]) == "agrees as known"
    differs = made.control("x", Expectation("values", "reimplementation:f"), "DIFFERS", Outcome.INVALID, ())
    assert (sentences.expected(differs), sentences.obtained(differs)) == ("the values of f", "differs as known")


# built in halves, so that the sources can be searched for these stems as well
FORBIDDEN = re.compile(
    "|".join(("falsi" + "f", "frau" + "d", "fabri" + "cat", "manip" + "ulat", "miscon" + "duct", "refu" + "te")),
    re.IGNORECASE,
)


@pytest.mark.parametrize("name", made.ALL)
def test_nothing_speaks_of_conduct(name: str) -> None:
    result = made.ALL[name]()
    printed = io.StringIO()
    Console(file=printed, width=120).print(*summary(result, "r.html"), markup=False)
    document = {**run_document(result), "verdict": None}
    for text in (render_report(result), printed.getvalue(), str(document)):
        assert result.claim.text in text
        found = FORBIDDEN.findall(text)
        words = [] if result.verdict.verdict is None else FORBIDDEN.findall(result.verdict.verdict.value)
        assert found in (words, []), found


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\tb\r\n  c ", "a b c"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("left\u202eright", "left\\u202eright"),
        ("a\u200bb", "a\\u200bb"),
        ("x\x9by", "x\\x9by"),
        ("\U000e0041", "\\U000e0041"),
        ("Erdős–Rényi ≤ Σ", "Erdős–Rényi ≤ Σ"),
    ],
)
def test_control_characters_are_shown_not_obeyed(text: str, shown: str) -> None:
    assert plain(text) == shown


def test_lines_of_a_traceback_stay_lines() -> None:
    assert plain_lines("a\n\tb\x07\r\nc\n") == "a\n    b\\x07\nc"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, "0"),
        (0.5, "0.5"),
        (123.4, "123"),
        (15371.1, "15,371"),
        (2.4e6, "2.4e6"),
        (1e305, "more than 1e300"),
        (1.2e-5, "1.2e-5"),
    ],
)
def test_e_values(value: float, shown: str) -> None:
    assert e_value(value) == shown


def test_small_helpers() -> None:
    assert (listed([]), listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])) == (
        "",
        "a",
        "a and b",
        "a, b and c",
    )
    assert (decimal(0.00001), decimal(0.0), decimal(-1.23456)) == ("1.0e-5", "0.000", "-1.235")
    assert scientific(123456.0) == "1.2e5"


def test_a_capital_leaves_the_blank_after_it() -> None:
    assert capitalised("a mean over 60 lists") == "A mean over 60 lists"
    assert capitalised("") == ""
    flagged = made.upheld(probes=(made.probe(flags=("a mean over 60 lists is blind",)),))
    assert "A mean over 60 lists" in render_report(flagged)


def test_e_is_shown_after_the_discount_wherever_it_stands() -> None:
    result = made.upheld()  # 2.4e6 at a discount of 0.608
    found = growth(result.probes[0])
    assert found is not None
    line = evidence_line(found)
    assert "evidence for growth: E = 1.5e6" in line
    assert line.count("after the discount of 0.61 for registrations") == 1
    (row,) = (row for row in explained(result.probes[0]) if row.name == "E for growth")
    assert row.value == "1.5e6 at most, 1.5e6 now"
