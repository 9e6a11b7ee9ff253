"""A sweep that goes on in registered stages, through the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from tests.integration.conftest import Said, Verifier, edit
from tests.integration.test_cli_errors import one_sentence
from verifier.report import run_schema

LOOKS = "looks = [10, 20, 30] }"
SCALE = "scale = { k = [32, 64, 128, 256, 512, 1024] }"
STAGES = (
    "stages = [{ scale = [32, 64, 128, 256, 512], replicates = 12 }, "
    "{ scale = [32, 64, 128, 256, 512, 1024], replicates = 30 }]"
)


@pytest.fixture
def staged(toy: Path) -> Path:
    """The toy in two stages: to 512, then, small scales included, to 1024."""
    edit(toy / "case.toml", LOOKS, "looks = [12, 42] }")
    edit(toy / "case.toml", SCALE, f"{SCALE}\n{STAGES}")
    return toy


def ran(said: Said) -> dict[str, Any]:
    assert said.code == 0, said.err or said.out
    document = said.document
    jsonschema.validate(document, run_schema())
    return document


def counts(probe: dict[str, Any]) -> dict[int, int]:
    return {point["at"]["k"]: point["n"] for point in probe["points"]}


@pytest.mark.slow
def test_a_bounded_quantity_is_dismissed_only_by_the_stage_that_reaches_the_claim(
    verifier: Verifier, staged: Path
) -> None:
    edit(staged / "case.toml", "default = 38", "default = 0")
    document = ran(verifier("run", "toy", "--trust", "--json"))
    (probe,) = document["probes"]
    assert (probe["answer"], document["ruling"], document["verdict"]) == ("BOUNDED", "DISMISSED", "verified")
    assert counts(probe) == {32: 42, 64: 42, 128: 42, 256: 42, 512: 42, 1024: 30}
    assert probe["statistics"]["stages"] == {"run": 2, "listed": 2}
    assert probe["statistics"]["looks_made"] == [12, 42]
    assert all(control["passed"] for control in document["controls"])
    assert "2 of the 2 registered stages, 42 replicates" in verifier("run", "toy").out


@pytest.mark.slow
def test_growth_beyond_a_well_measured_first_stage_is_not_dismissed(verifier: Verifier, staged: Path) -> None:
    edit(staged / "quantity.py", "percent / 100 * math.log(k)", "percent / 100 * max(0.0, math.log(k / 512))")
    edit(staged / "case.toml", "replicates = 12", "replicates = 60")
    edit(staged / "case.toml", "replicates = 30", "replicates = 8")
    edit(staged / "case.toml", "looks = [12, 42]", "looks = [60, 68]")
    document = ran(verifier("run", "toy", "--trust", "--json"))
    (probe,) = document["probes"]
    assert probe["statistics"]["e_flat"]["sup"] > 1e5, "the first stage alone is over the threshold"
    assert document["ruling"] not in {"DISMISSED", "UPHELD"}
    assert document["verdict"] != "verified"


@pytest.mark.slow
def test_growth_may_be_shown_by_the_first_stage_and_is_then_no_more_than_a_toy(
    verifier: Verifier, staged: Path
) -> None:
    edit(staged / "case.toml", "draws = 1000", "draws = 20000")
    document = ran(verifier("run", "toy", "--trust", "--json"))
    (probe,) = document["probes"]
    assert probe["answer"] == "GROWS"
    assert counts(probe) == dict.fromkeys([32, 64, 128, 256, 512], 12)
    assert (probe["scale_reached"], document["verdict"]) == (512, "toy")
    both = ran(verifier("run", "toy", "--to-maximum", "--json"))["probes"][0]
    first, second = both["evidence"]
    assert (first["stage"], second["stage"]) == ("decision", "maximum")
    decided = first["statistics"]["e_grow"]["at_stop"]
    assert second["statistics"]["e_grow"]["at_stop"] == pytest.approx(decided)
    assert second["statistics"]["e_grow"]["current"] > decided, "the second stage multiplies"
    assert np.isclose(both["statistics"]["slope_full"]["estimate"], 0.38, atol=0.02)


@pytest.mark.slow
def test_a_plan_of_stages_speaks_of_the_last_one(verifier: Verifier, staged: Path) -> None:
    plan = verifier("plan", "toy", "--json").document
    (entry,) = plan["probes"]
    assert entry["units"] == 5 * 12 + 6 * 30
    assert "Of its 2 stages, the last alone:" in plan["sentence"]
    del staged


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("replicates = 12", "replicates = 13", ["looks", "[13, 43]"]),
        ("scale = [32, 64, 128, 256, 512], rep", "scale = [32, 64, 128, 256, 500], rep", ["stages", "other scales"]),
        ("scale = [32, 64, 128, 256, 512], rep", "scale = [32, 64, 128, 512], rep", ["stages", "scale"]),
        ("scale = [32, 64, 128, 256, 512], rep", "scale = [32, 64, 128, 512, 256], rep", ["256 follows 512"]),
        ("replicates = 30", "replicates = 7", ["stages[1].replicates", "7 replicates are too few", "k = 1024", "8"]),
        (
            'kind = "growth", delta = "0.19", alternative = "0.38"',
            'kind = "rate", claimed = "1", alleged = "1/2"',
            ["stages belong to the growth rule"],
        ),
    ],
)
def test_stages_that_make_no_sense_are_one_sentence(
    verifier: Verifier, staged: Path, old: str, new: str, words: list[str]
) -> None:
    edit(staged / "case.toml", old, new)
    if "rate" in new:
        edit(staged / "case.toml", 'exact = "quantity:exact_growing"\n', "")
    sentence = one_sentence(verifier("run", "toy", "--trust", "--json"), 2)
    assert all(word in sentence for word in words), sentence


def test_stages_are_not_changed_from_the_command_line(verifier: Verifier, staged: Path) -> None:
    said = verifier("run", "toy", "--scale", "k=32,64,128,256,512", "--trust", "--json")
    assert "in stages has its scales listed" in one_sentence(said, 2)
    del staged
