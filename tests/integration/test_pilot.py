"""`verifier plan --pilot`: every probe that draws is measured, on streams that never become evidence."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.integration.conftest import Verifier, files_in
from tests.integration.mixed_case import write_mixed_case

PILOT = "of a pilot of 5 replicates"


@pytest.mark.slow
def test_sweeps_and_replications_of_one_case_are_measured(verifier: Verifier, tmp_path: Path) -> None:
    case = write_mixed_case(tmp_path / "case")
    before = files_in(tmp_path)
    first, second = (verifier("plan", str(case), "--pilot", "--trust", "--json") for _ in range(2))
    assert first.code == 0, first.err or first.out
    assert files_in(tmp_path) == before
    probes = {probe["name"]: probe for probe in first.document["probes"]}
    assert all(probe["sd_source"] == PILOT for probe in probes.values())
    assert all(probe["cpu_seconds"] > 0 for probe in probes.values())
    again = {probe["name"]: probe["sd"] for probe in second.document["probes"]}
    assert again == {name: probe["sd"] for name, probe in probes.items()}, "a pilot draws the same streams each time"
    measured = {name for name, probe in probes.items() if probe["sd"]}
    assert set(probes) - measured == {"rate"}  # outcomes need none
    assert {name for name, probe in probes.items() if len(probe["power"]) != 2} == {
        "drawn-items"
    }  # needs the items' sd
    (sweep,) = (probe for probe in probes.values() if "scale" in probe)
    assert len(sweep["sd"]) == len(next(iter(sweep["scale"].values())))


def test_a_replication_without_an_sd_asks_for_a_pilot_and_gets_one(verifier: Verifier, tmp_path: Path) -> None:
    case = Path(shutil.copytree(Path(__file__).parent / "replication_toy", tmp_path / "case"))
    text = (case / "case.toml").read_text()
    (case / "case.toml").write_text(text.replace('planned = { sd = "1.9", seconds = "0.0001" }\n', ""))
    said = verifier("plan", "case", "--json").document
    assert said["next"] == ["verifier plan case --pilot"]
    assert [probe["power"] for probe in said["probes"]] == [[], []]
    found = verifier("plan", "case", "--pilot", "--trust", "--json").document
    score, speed = found["probes"]
    assert score["sd"] == pytest.approx(1.9, rel=0.7)  # as stated, from five replicates
    assert [len(probe["power"]) for probe in (score, speed)] == [2, 2]
    assert found["next"] == ["verifier run case"]
    assert f"sd {score['sd']:.3g} {PILOT}" in found["sentence"]
    shown = verifier("plan", str(Path(__file__).parent / "replication_toy"), "--json").document
    assert (shown["probes"][0]["sd"], shown["probes"][0]["sd_source"]) == (1.9, "stated in case.toml")
