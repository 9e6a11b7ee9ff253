"""The terminal summary: the claim first, the conclusion last, strangers' words harmless."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from tests.unit import report_factory as made
from verifier.model.results import CaseResult
from verifier.report import ruling_headline, sentences, summary


def printed(result: CaseResult, *, width: int = 100, colours: bool = False) -> str:
    stream = io.StringIO()
    # as `Output.console` is made, and printed to as `Output.show` does
    console = Console(file=stream, width=width, highlight=False, soft_wrap=True, force_terminal=colours)
    console.print(*summary(result, "demo/reports/paging.html"), markup=False)
    return stream.getvalue()


def test_it_begins_with_the_claim_and_ends_with_the_conclusion() -> None:
    lines = printed(made.upheld()).rstrip("\n").split("\n")
    assert lines[0] == f"claim: “{made.CLAIM.quote}” (abstract)"
    headline, gate, slope, sigma, residual, report = lines[-6:]
    assert headline == "the dispute stands (UPHELD): part a of the claim does not hold as stated"
    assert gate == sentences.gate_line(made.upheld())
    assert slope.startswith("slope per ln k: 0.368 over the whole range (standard error 0.009); between 0.236 and 0.41")
    assert sigma.startswith("sigma of growth at fixed n: 9.4 ")
    assert sigma.endswith("at any stopping time, all registrations counted: 4.8")
    assert residual == f"residual class: {made.RESIDUAL_CLASS}"
    assert report == "report: demo/reports/paging.html"


@pytest.mark.parametrize("name", made.ALL)
def test_every_ruling_prints_its_headline_once_and_the_report_last(name: str) -> None:
    result = made.ALL[name]()
    text = printed(result)
    assert text.count(f"\n{ruling_headline(result)}\n") == 1
    assert text.rstrip().endswith("report: demo/reports/paging.html")
    assert result.ledger.root in text
    assert "\x1b" not in text


def test_the_first_screen_says_what_closes_the_gate() -> None:
    first = printed(made.upheld(claim=replace(made.CLAIM, quote=""))).split("\n")[:8]
    assert any("paraphrase; the paper was not read" in line for line in first)
    assert any(line.startswith("contact gate closed") for line in first)
    assert any(line.startswith("nobody on this case read the full paper") for line in first)
    assert any(line.startswith(f"given that: {made.PREMISE.text}") for line in first)


@pytest.mark.parametrize("width", [80, 100, 200])
def test_no_number_and_no_name_is_cut(width: int) -> None:
    text = printed(made.upheld(), width=width)
    assert "…" not in text
    for point in made.upheld().probes[0].latest.points:
        assert f"{point.estimate:.4f}" in text
    if width >= 100:
        for run in made.controls():
            assert run.control.target.partition(":")[2] in text


def test_a_failed_control_stands_out() -> None:
    table = printed(made.control_failed()).split("controls of probe")[1]
    row = next(line for line in table.split("\n") if line.strip().startswith("online_min"))
    assert row.split()[-1] == "NO"
    assert "for the dispute" in row
    assert "against the dispute" in row


def test_numbers_of_an_invalid_run_are_no_conclusion() -> None:
    assert "slope per ln k" not in printed(made.control_failed()).split("judge's word")[1]
    assert "so far, not a ruling: slope per ln k" in printed(made.short())


def test_a_dismissal_shows_the_evidence_it_rests_on() -> None:
    conclusion = printed(made.dismissed()).split("judge's word")[1]
    evidence = "evidence for a slope below the smallest one of interest: E = 4.9e7, after the discount of 0.61"
    assert evidence in conclusion


def test_a_failure_shows_what_went_wrong() -> None:
    assert "ZeroDivisionError: 1/0" in printed(made.silent())


@pytest.mark.parametrize("colours", [False, True])
def test_hostile_words_are_shown_not_obeyed(*, colours: bool) -> None:
    text = printed(made.hostile(), colours=colours)
    for character in ("\x07", "\u202e", "\x1b[31m", "\x9b"):
        assert character not in text
    assert "[red]x[/red]" in text
    assert "\\x1b[31m\\x07" in text
    assert "\\u202evil".replace("v", "ev", 1) in text


def test_without_a_report_none_is_named() -> None:
    console = Console(file=io.StringIO(), width=100)
    console.print(*summary(made.upheld(), None), markup=False)
    assert "report:" not in console.file.getvalue()  # type: ignore[attr-defined]  # it is the StringIO above
