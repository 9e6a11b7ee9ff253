"""Sweeps over instances under a bound, through the command line."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.integration.conftest import Said, Verifier, edit
from tests.integration.test_cli_errors import one_sentence
from verifier.report import run_schema

MEANS = 'rule = { kind = "bound", members = ["path", "cycle", "star"], alleged = "star", looks = [30, 60] }'
WEIGHTS = '["1/2", "4999999999/10000000000", "1/10000000000"]'
EXACT = 'rule = { kind = "bound", members = ["path", "cycle", "star"], alleged = "star" }'


@pytest.fixture
def searched(tmp_path: Path) -> Path:
    """A case whose third instance may exceed its bound."""
    return Path(shutil.copytree(Path(__file__).parent / "bound_toy", tmp_path / "toy"))


def without_chance(folder: Path, *controls: str) -> None:
    edit(folder / "case.toml", MEANS, EXACT)
    edit(folder / "case.toml", 'target = "costs:cost"\nbound', 'target = "costs:steps"\nbound')
    text = (folder / "case.toml").read_text().partition("controls = [")[0]
    (folder / "case.toml").write_text(f"{text}controls = [{', '.join(controls)}]\n")


def ran(said: Said) -> dict[str, Any]:
    assert said.code == 0, said.err or said.out
    document = said.document
    jsonschema.validate(document, run_schema())
    return document


@pytest.mark.slow
def test_a_finite_class_computed_exactly_speaks_against_the_dispute(verifier: Verifier, searched: Path) -> None:
    without_chance(searched)
    document = ran(verifier("run", "toy", "--trust", "--json"))
    assert (document["ruling"], document["verdict"]) == ("DISMISSED", "verified")
    (probe,) = document["probes"]
    assert (probe["answer"], probe["outcome"]) == ("HOLDS_ON_CLASS", "AGAINST_DISPUTE")
    excess = {(p["at"]["n"], p["at"]["instance"]): p["estimate"] for p in probe["points"]}
    assert excess == {(n, i): min(i, 2) - 2 - 1 / n for n in (8, 16) for i in (1, 2, 3)}
    assert probe["statistics"]["worst_ratio"] == pytest.approx(2 / (2 + 1 / 16))
    assert probe["statistics"]["bounds"] == ["17/8"] * 3 + ["33/16"] * 3
    assert probe["rule"]["quoted"] == {"members": ["path", "cycle", "star"], "alleged": "star"}
    said = verifier("run", "toy").out
    assert "An instance that exceeds the bound outside the class" in said
    assert "registrations" not in said, "costs without chance have no E"
    (row,) = (line.split() for line in said.splitlines() if "n = 16, instance 3: star" in line)
    assert row[-3:] == ["2.0000", "2.0625", "-0.0625"]


@pytest.mark.slow
def test_a_class_that_the_dispute_does_not_name_is_not_decided(verifier: Verifier, searched: Path) -> None:
    without_chance(searched)
    edit(searched / "case.toml", ', alleged = "star"', "")
    (probe,) = ran(verifier("run", "toy", "--trust", "--json"))["probes"]
    assert (probe["answer"], probe["reason"]) == ("HOLDS_ON_CLASS", "not-decided")


@pytest.mark.slow
def test_a_computed_excess_without_a_certificate_decides_nothing(verifier: Verifier, searched: Path) -> None:
    without_chance(searched)
    edit(searched / "case.toml", 'default = "-1/10"', 'default = "1"')
    document = ran(verifier("run", "toy", "--trust", "--json"))
    (probe,) = document["probes"]
    assert (document["ruling"], probe["answer"], probe["reason"]) == ("UNDECIDED", "VIOLATED_FLOAT", "ambiguous")
    assert "A certificate, accepted by the checker" in verifier("run", "toy").out


def test_one_instance_whose_mean_exceeds_the_bound_upholds_the_dispute(verifier: Verifier, searched: Path) -> None:
    edit(searched / "case.toml", 'default = "-1/10"', 'default = "1"')
    document = ran(verifier("run", "toy", "--trust", "--json"))
    assert (document["ruling"], document["verdict"]) == ("UPHELD", "falsified")
    (probe,) = document["probes"]
    assert probe["answer"] == "VIOLATED_IN_MEAN"
    assert probe["statistics"]["stopped_by"] == "decision"
    assert probe["statistics"]["e_mean"]["at_stop"] * probe["statistics"]["discount"] >= 1e4
    assert {p["n"] for p in probe["points"]} == {30}
    for point in probe["points"]:
        known = (
            1.0 if point["at"]["instance"] == 3 else (1.0, 1.5)[point["at"]["instance"] - 1] - 2 - 1 / point["at"]["n"]
        )
        assert abs(point["estimate"] - known) <= 5 * point["stderr"]
    to_end = ran(verifier("run", "toy", "--to-maximum", "--json"))
    assert [e["stage"] for e in to_end["probes"][0]["evidence"]] == ["decision", "maximum"]
    assert {p["n"] for p in to_end["probes"][0]["points"]} == {60}


@pytest.mark.slow
def test_passes_decide_nothing_and_the_report_says_what_the_search_can_find(
    verifier: Verifier, searched: Path, tmp_path: Path
) -> None:
    document = ran(verifier("run", "toy", "--trust", "--json"))
    (probe,) = document["probes"]
    assert (document["ruling"], probe["answer"], probe["reason"]) == ("UNDERPOWERED", "NO_VIOLATION_FOUND", "horizon")
    assert all(control["passed"] for control in document["controls"])
    assert probe["statistics"]["control_found"] is True
    assert probe["so_far"]["note"] == "not a ruling"
    assert len(probe["points"]) == 6
    page = (tmp_path / document["report"]).read_text()
    assert "mean cost less bound" in page
    assert "n = 16, instance 3: star" in page
    assert "weighted over the instances as registered, of somebody who bets" in page
    assert "gap (standard errors)" not in page
    assert page.count("after the discount of 0.61 for registrations") >= 1
    assert "the same search does find the control" in page
    assert "<svg" not in page, "instances are no curve"
    again = ran(verifier("run", "toy", "--json"))
    assert again["ledger"]["root"] == document["ledger"]["root"], "the same evidence is found, not appended twice"
    del searched


@pytest.mark.slow
def test_the_instance_found_is_run_again_on_fresh_streams(verifier: Verifier, searched: Path) -> None:
    # its weight is too small for the mean over instances to show what the instance alone shows
    edit(searched / "case.toml", 'default = "-1/10"', 'default = "3/5"')
    edit(searched / "case.toml", "looks = [30, 60]", f"looks = [30, 60], weights = {WEIGHTS}")
    edit(searched / "case.toml", 'expect = "FOR_DISPUTE"', 'expect = "VIOLATED_IN_MEAN"')
    document = ran(verifier("run", "toy", "--trust", "--json"))
    (probe,) = document["probes"]
    statistics = probe["statistics"]
    assert statistics["e_mean"]["sup"] * statistics["discount"] < 1e4
    assert statistics["e_rerun"]["sup"] * statistics["discount"] >= 1e4
    assert (document["ruling"], probe["answer"]) == ("UPHELD", "VIOLATED_IN_MEAN")
    again = probe["evidence"][0]["units"]["count"] - 6 * 60
    assert again in {30, 60}, "one instance, until its own look decides"


@pytest.mark.slow
def test_another_scale_is_exploratory_and_a_plan_says_what_would_be_found(verifier: Verifier, searched: Path) -> None:
    document = ran(verifier("run", "toy", "--scale", "n=4", "--trust", "--json"))
    assert document["exploratory"]
    assert {p["at"]["n"] for p in document["probes"][0]["points"]} == {4}
    plan = verifier("plan", "toy", "--json").document
    (entry,) = plan["probes"]
    assert (entry["instances"], entry["units"]) == (6, 6 * 60 + 60)
    found = [chance["found"] for chance in entry["chances"]]
    assert found == sorted(found)
    assert found[-1] > 0.99
    assert "passes are never evidence against the dispute" in plan["sentence"]
    del searched


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("scale = { n = [8, 16] }", "scale = { instance = [8, 16] }", "already an argument of the target"),
        ('bound = "costs:most"\n', "", "bound"),
        ('alleged = "star"', 'alleged = "sta"', "alleged"),
        ("looks = [30, 60]", "looks = [10, 20]", "looks"),
        (MEANS, 'rule = { kind = "bound", instances = 9000 }', "more than 10,000"),
        ('kind = "bound"', 'kind = "bond"', "bound"),
    ],
)
def test_a_bound_that_makes_no_sense_is_one_sentence(
    verifier: Verifier, searched: Path, old: str, new: str, words: str
) -> None:
    edit(searched / "case.toml", old, new)
    assert words in one_sentence(verifier("run", "toy", "--trust", "--json"), 2)
