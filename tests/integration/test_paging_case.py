"""The paging case from end to end, as its fact sheet says it must come out."""

from __future__ import annotations

import math
import shutil
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.integration.conftest import REPOSITORY, Verifier, edit
from verifier.report import run_schema

pytestmark = pytest.mark.slow


@pytest.fixture
def paging(tmp_path: Path) -> Path:
    """A copy of the case: its code is the shipped one, so nothing asks whether to trust it."""
    return Path(shutil.copytree(REPOSITORY / "cases/paging", tmp_path / "paging"))


def ran(verifier: Verifier, *arguments: str) -> dict[str, Any]:
    said = verifier("run", "paging", "--json", *arguments)
    assert said.code == 0, said.err or said.out
    jsonschema.validate(said.document, run_schema())
    return said.document


@pytest.mark.usefixtures("paging")
def test_to_the_maximum(verifier: Verifier) -> None:
    document = ran(verifier, "--to-maximum")
    assert (document["ruling"], document["verdict"], document["because"]) == ("UPHELD", "falsified", "part a")
    (probe,) = document["probes"]
    full = probe["statistics"]["slope_full"]
    assert probe["statistics"]["n"] == 80
    assert abs(full["estimate"] - 1 / math.e) <= 4 * full["stderr"]
    assert full["sigma_fixed_n"] >= 9
    assert probe["statistics"]["e_grow"]["sup"] >= 1e4
    for point in probe["points"]:
        top, bottom = map(int, point["exact"].split("/"))
        assert abs(point["estimate"] - top / bottom) <= 4 * point["stderr"]

    assert all(control["passed"] for control in document["controls"])
    got = {control["target"].partition(":")[2]: control for control in document["controls"]}
    assert got["online_min"]["outcome"] == "AGAINST_DISPUTE"
    assert got["refresh_only_on_pass"]["outcome"] == "FOR_DISPUTE"
    assert got["refresh_every_request"]["expect"] == "equals reimplementation:no_gate"
    for name in ("no_gate", "perfect_predictions", "random_predictions"):
        assert got[name]["expect"].startswith("values ")
        assert got[name]["answer"] == "AGREES"


@pytest.mark.usefixtures("paging")
def test_a_scale_at_which_the_gate_cannot_matter(verifier: Verifier) -> None:
    document = ran(verifier, "--scale", "k=4,5,6,7,8,9,10")
    assert document["ruling"] == "UNDERPOWERED"
    needed = document["adequacy"]["needed"]
    assert needed["k"] == 1024
    assert needed["phases"] == 100 * needed["replicates"]
    assert f"k = 1024 with {needed['replicates']} replicates, {needed['phases']:,} phases" in document["sentence"]


@pytest.mark.usefixtures("paging")
def test_growth_seen_below_the_registered_scale_is_a_toy(verifier: Verifier) -> None:
    document = ran(verifier, "--scale", "k=8,16,32,64,128")
    assert (document["ruling"], document["verdict"]) == ("UPHELD", "toy")


@pytest.mark.usefixtures("paging")
def test_without_the_gate_the_dispute_fails(verifier: Verifier) -> None:
    document = ran(verifier, "--set", "variant=no_gate")
    assert document["ruling"] == "DISMISSED"
    assert (document["verdict"], document["because"]) == ("inconclusive", "not-the-papers-claim")


def test_a_planted_wrong_control(verifier: Verifier, paging: Path) -> None:
    edit(paging / "case.toml", 'expect = "AGAINST_DISPUTE"', 'expect = "FOR_DISPUTE"')
    document = ran(verifier)
    assert (document["ruling"], document["because"]) == ("INVALID", "control-failed")


@pytest.mark.usefixtures("paging")
def test_ray_draws_the_same_integers(process: Verifier) -> None:
    local = ran(process, "--executor", "local=1", "--ledger", "local.db")
    two = ran(process, "--executor", "local=2", "--ledger", "two.db")
    ray = ran(process, "--executor", "ray", "--ledger", "ray.db")
    for document in (two, ray):
        assert document["probes"] == local["probes"]
        assert document["controls"] == local["controls"]
