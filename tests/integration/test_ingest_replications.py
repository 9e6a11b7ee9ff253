"""Replications measured elsewhere, alone and in one table with a sweep: to the bit, or refused with the line."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import Verifier, edit
from tests.integration.mixed_case import PROBES, write_mixed_case
from tests.integration.test_ingest import HERE, ONE, THERE, ingested, kinds, read, write
from verifier.sweeps.store import UnitStore

SAME = ("answer", "own_outcome", "outcome", "reason", "summary", "statistics", "points", "adequacy", "flags", "so_far")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {"folder": tmp_path_factory.mktemp("made")}


def prepared(verifier: Verifier, here: Path, made: dict[str, Path], *, only: tuple[str, ...]) -> Path:
    """runs.csv, run.json and manifest.json of a run of the case there, and a ledger here where it is registered."""
    kept = made["folder"] / "-".join(only)
    if not kept.exists():
        write_mixed_case(here / "mixed", only=only)
        said = verifier("register", "mixed", "--trust", *ONE, "--ledger", HERE, "--manifest", "manifest.json", "--json")
        assert said.code == 0, said.out
        ran = verifier("run", "mixed", "--json", *ONE, "--ledger", THERE)
        assert ran.code == 0, ran.out
        Path("run.json").write_text(ran.out)
        assert verifier("ledger", "export", "mixed", "--runs", "--out", "runs.csv", "--ledger", THERE).code == 0
        shutil.copytree(here, kept)
    else:
        shutil.copytree(kept, here, dirs_exist_ok=True)
    return here / "runs.csv"


@pytest.fixture
def mixed(verifier: Verifier, tmp_path: Path, made: dict[str, Path]) -> Path:
    """The table of a sweep and of replications of every form."""
    return prepared(verifier, tmp_path, made, only=PROBES)


@pytest.fixture
def pairs(verifier: Verifier, tmp_path: Path, made: dict[str, Path]) -> Path:
    """The table of one replication, both arms from one call."""
    return prepared(verifier, tmp_path, made, only=("pairs",))


def ingest(verifier: Verifier, runs: Path, *more: str) -> Any:
    return verifier("ingest", "mixed", str(runs), *ONE, "--ledger", HERE, "--json", *more)


def refused(verifier: Verifier, runs: Path, words: str, *more: str) -> None:
    """One sentence with these words, exit 2, and nothing recorded."""
    before = kinds(verifier)
    said = ingest(verifier, runs, *more)
    assert said.code == 2, said.out
    assert words in said.document["sentence"], said.document["sentence"]
    assert "\n" not in said.document["sentence"]
    assert kinds(verifier) == before


@pytest.mark.slow
class TestOneTableOfManyKinds:
    def test_what_export_writes_gives_the_same_outcome_to_the_bit(self, verifier: Verifier, mixed: Path) -> None:
        ran = json.loads(Path("run.json").read_text())
        document = ingested(ingest(verifier, mixed, "--manifest", "manifest.json"))
        for key in ("ruling", "reason", "parts", "verdict", "because", "premises"):
            assert document[key] == ran[key], key
        assert [about["probe"] for about in document["ingested"]] == list(PROBES)
        for probe, before, about in zip(document["probes"], ran["probes"], document["ingested"], strict=True):
            for key in SAME:
                assert probe[key] == before[key], (probe["name"], key)
            assert probe["evidence"][0]["units"]["count"] == before["evidence"][0]["units"]["count"] == about["used"]
            assert probe["evidence"][0]["units"]["root"] == about["root"]
            assert (about["reproduced"], about["retrospective"], about["missing"]) == (True, False, [])
            assert len({unit["unit"] for unit in about["checked"]}) == 3
        assert kinds(verifier) == ["registration", *["evidence"] * len(PROBES), "ruling"]

        again = ingested(ingest(verifier, mixed))
        assert again["ledger"] == document["ledger"], "found, not appended twice"
        said = verifier(
            "ledger", "export", "mixed", "--runs", "--out", "again.csv", "--ledger", HERE, "--json"
        ).document
        assert all(one["ingested"] for one in said["probes"])
        assert read(Path("again.csv")) == read(mixed), "what was ingested is exported as it came"
        rows = read(mixed)
        write(mixed, rows[::-1], columns=list(rows[0])[::-1])
        assert ingested(ingest(verifier, mixed))["ledger"] == document["ledger"], "the order changes nothing"

        stored = UnitStore(Path("there-units.db"))
        gain = next(row for row in rows if row["replicate"] == "0" and row["unit"] in unit_keys("gains"))
        (kept,) = stored.get([gain["unit"]]).values()
        stored.close()
        assert float(gain["sum"]) == eval_rational(kept["sum"]), "the shortest text that gives the double back"
        assert gain["sum"] == repr(float(gain["sum"]))
        assert {row["value"] for row in rows if row["item"]} == {"0", "1"}, "integers as integers"

        ingested(verifier("run", "mixed", *ONE, "--ledger", HERE, "--json"))
        assert verifier("ledger", "verify", "--ledger", HERE).code == 0

    def test_one_probe_of_it_and_the_others_are_run_here(self, verifier: Verifier, mixed: Path) -> None:
        ran = json.loads(Path("run.json").read_text())
        keys = unit_keys("speed")
        write(mixed, [row for row in read(mixed) if row["unit"] in keys])
        document = ingested(ingest(verifier, mixed))
        assert document["ingested"]["probe"] == "speed"
        assert document["ruling"] == ran["ruling"]
        for probe, before in zip(document["probes"], ran["probes"], strict=True):
            assert probe["statistics"] == before["statistics"], probe["name"]

    def test_a_part_of_the_runs_of_one_and_then_all(self, verifier: Verifier, mixed: Path) -> None:
        """More rows of one probe may change the ruling; fewer of another may not."""
        rows, ran = read(mixed), json.loads(Path("run.json").read_text())
        short, called = unit_keys("gains"), unit_keys("called")
        few = [row for row in rows if row["unit"] not in short or int(row["replicate"]) < 7]
        write(mixed, few)
        document = ingested(ingest(verifier, mixed))
        gains = next(probe for probe in document["probes"] if probe["name"] == "gains")
        about = next(one for one in document["ingested"] if one["probe"] == "gains")
        assert (gains["answer"], about["prefix"], about["used"]) == ("INCOMPLETE", 7, 6)
        assert gains["statistics"]["stopped_by"] is None
        write(mixed, [row for row in rows if row["unit"] not in called or int(row["replicate"]) < 7])
        if ran["ruling"] != document["ruling"]:
            refused(verifier, mixed, "the standing ruling")
        write(mixed, rows)
        assert ingested(ingest(verifier, mixed))["ruling"] == ran["ruling"]


def unit_keys(probe: str) -> set[str]:
    """The units of a probe by the manifest."""
    manifests = [json.loads(line) for line in Path("manifest.json").read_text().splitlines()]
    return {unit["unit"] for one in manifests if one["probe"] == probe for unit in one["units"]}


def eval_rational(text: str) -> float:
    numerator, _, denominator = text.partition("/")
    return int(numerator) / int(denominator or 1)


@pytest.mark.slow
class TestOneReplication:
    def test_missing_cells_stay_missing_and_the_banner_stands_first(self, verifier: Verifier, pairs: Path) -> None:
        rows = read(pairs)
        for row in rows:
            if (row["arm"], row["replicate"]) == ("right", "7"):
                row.update(n="", sum="", sum_sq="")
        write(pairs, rows)
        document = ingested(ingest(verifier, pairs))
        about, (probe,) = document["ingested"], document["probes"]
        line = next(n for n, row in enumerate(rows, 2) if not row["n"])
        assert (about["prefix"], about["used"], about["rows"]) == (7, 6, 11)
        assert about["missing"] == [{"at": {}, "replicate": 7, "reason": f"the right arm is empty in line {line}"}]
        assert [one["replicate"] for one in about["later"]] == [8, 9, 10, 11]
        assert (probe["answer"], probe["outcome"], probe["statistics"]["n"]) == ("INCOMPLETE", "UNDERPOWERED", 6)
        said = verifier("ingest", "mixed", str(pairs), *ONE, "--ledger", HERE)
        first = "measured elsewhere: 6 of 11 units used; 3 of them repeated here, and equal"
        assert said.out.splitlines()[0] == first
        page = Path(document["report"]).read_text()
        body = page.partition("<main>")[2].lstrip()
        assert body.startswith(f'<p class="gate closed">{first[0].upper()}{first[1:]}.</p>')

    def test_a_run_before_the_registration_is_shown_and_rules_nothing(self, verifier: Verifier, pairs: Path) -> None:
        rows = read(pairs)
        rows[3]["started"] = "1999-12-31T23:59:59Z"
        write(pairs, rows)
        document = ingested(ingest(verifier, pairs))
        assert document["ingested"]["retrospective"] is True
        assert document["probes"][0]["outcome"] != "FOR_DISPUTE"
        assert document["probes"][0]["outcome"] != "AGAINST_DISPUTE"
        assert kinds(verifier) == ["registration", "evidence"]
        said = verifier("ingest", "mixed", str(pairs), *ONE, "--ledger", HERE)
        assert said.out.startswith("retrospective: ")
        body = Path(document["report"]).read_text().partition("<main>")[2].lstrip()
        assert body.startswith('<p class="gate closed">Retrospective: ')

    def test_a_changed_unit_is_found_where_it_is_repeated(self, verifier: Verifier, pairs: Path) -> None:
        write(pairs, [{**row, "sum": repr(float(row["sum"]) + 1e-9)} for row in read(pairs)])
        refused(verifier, pairs, "does not give what this line reports (here left n 20")

    def test_a_unit_drawn_here_with_another_number(self, verifier: Verifier, pairs: Path) -> None:
        rows = read(pairs)
        rows[5]["sum"] = repr(float(rows[5]["sum"]) + 1e-9)
        write(pairs, rows)
        refused(verifier, pairs, "was drawn here and gave left n 20", "--no-rerun", "--ledger", THERE)

    def test_a_unit_reported_earlier_with_another_number(self, verifier: Verifier, pairs: Path) -> None:
        first = ingested(ingest(verifier, pairs, "--no-rerun"))
        assert first["premises"][-1]["text"] == "These runs are as reported."
        rows = read(pairs)
        rows[5]["sum"] = repr(float(rows[5]["sum"]) + 1e-9)
        write(pairs, rows)
        refused(verifier, pairs, "in the table of entry 2, and this line reports", "--no-rerun")

    def test_a_value_outside_the_bounds_is_malformed_and_named_by_its_line(
        self, verifier: Verifier, pairs: Path
    ) -> None:
        rows = read(pairs)
        at = next(n for n, row in enumerate(rows) if (row["arm"], row["replicate"]) == ("right", "3"))
        rows[at].update(sum="2020.0", sum_sq="204020.0")
        write(pairs, rows)
        (probe,) = ingested(ingest(verifier, pairs, "--no-rerun"))["probes"]
        assert (probe["answer"], probe["outcome"]) == ("MALFORMED", "INVALID")
        assert probe["summary"].endswith(f"0 to 100 ({pairs}, line {at + 2})")

    @pytest.mark.parametrize("replicate", range(6))
    def test_the_unit_that_makes_a_rule_malformed_is_always_repeated(
        self, verifier: Verifier, pairs: Path, replicate: int
    ) -> None:
        """Whichever three are drawn by lot, one false value cannot pass as an invalid design."""
        rows = read(pairs)
        at = next(n for n, row in enumerate(rows) if (row["arm"], row["replicate"]) == ("right", str(replicate)))
        rows[at].update(sum="2020.0", sum_sq="204020.0")
        write(pairs, rows)
        refused(verifier, pairs, f"line {at + 1 if rows[at - 1]['replicate'] == str(replicate) else at + 2}: the unit")

    def test_an_unfinished_run_is_exported_with_its_gaps_named(self, verifier: Verifier, pairs: Path) -> None:
        store = UnitStore(Path("here-units.db"))
        there = UnitStore(Path("there-units.db"))
        keys = [row["unit"] for row in read(pairs)]
        inspection = inspection_of(Path("mixed"))
        rows = there.get([*keys, inspection])
        for key in [keys[0], keys[2], keys[8], inspection]:  # replicates 0, 1 and 4
            store.put(key, rows[key])
        store.close()
        there.close()
        said = verifier("ledger", "export", "mixed", "--runs", "--out", "part.csv", "--ledger", HERE, "--json")
        assert (said.code, said.document["rows"], said.document["vouched"]) == (0, 6, 0)
        part = read(Path("part.csv"))
        assert [row["replicate"] for row in part if not row["n"]] == ["2", "3"]
        about = ingested(ingest(verifier, Path("part.csv")))["ingested"]
        assert (about["rows"], about["prefix"]) == (3, 2)
        assert about["missing"][0]["reason"].startswith("the left arm is empty in line")

    def test_forged_changed_or_twice_is_refused(self, verifier: Verifier, pairs: Path) -> None:
        manifest = json.loads(Path("manifest.json").read_text())
        manifest["units"][3]["stream"] = "0" * 32
        Path("forged.json").write_text(json.dumps(manifest))
        refused(verifier, pairs, "first in unit 4", "--manifest", "forged.json")
        rows = read(pairs)
        write(pairs, [*rows, {**rows[4], "sum": repr(float(rows[4]["sum"]) + 1)}])
        refused(verifier, pairs, f"line {len(rows) + 2}: another value than in line 6")
        write(pairs, [row for row in rows if row["replicate"] not in ("3", "5")])
        refused(verifier, pairs, "line 8: replicates 3, 5 have no row, and this line is of a later one")
        write(pairs, rows)
        edit(Path("mixed/case.toml"), 'delta = "4"', 'delta = "5"')
        refused(verifier, pairs, "is not registered in this ledger")
        assert verifier("register", "mixed", "--trust", *ONE, "--ledger", HERE).code == 0
        refused(verifier, pairs, "is not the unit that this registration gives replicate 0")
        refused(verifier, pairs, "belongs to the registration", "--manifest", "manifest.json")


def inspection_of(folder: Path) -> str:
    """The key of the inspection of the probe's target."""
    from verifier.casefile import load  # only here
    from verifier.sweeps.jobs import Inspection

    case = load(folder)
    return Inspection(case.code_sha256, case.replications[0].target).key


@pytest.mark.slow
def test_a_time_limit_and_then_the_same_root(verifier: Verifier, tmp_path: Path) -> None:
    """The same command goes on and ends with the evidence of a run that was never stopped."""
    folder = write_mixed_case(tmp_path / "mixed", only=("called", "rate"))
    edit(folder / "measured.py", "    return _rng(stream).poisson(", "    slowly()\n    return _rng(stream).poisson(")
    edit(folder / "measured.py", "def _rng(", "def slowly():\n    __import__('time').sleep(0.2)\n\n\ndef _rng(")
    epoch = {"SOURCE_DATE_EPOCH": "1767225600"}
    command: Callable[..., Any] = lambda ledger, *more: verifier(  # noqa: E731  # the same command, thrice
        "run", "mixed", "--trust", "--json", *ONE, "--ledger", ledger, *more, env=epoch
    )
    partial = command("stopped.db", "--time-limit", "1.5s")  # the first look alone takes longer
    assert (partial.code, partial.document["state"]) == (3, "partial")
    assert '"evidence"' not in verifier("ledger", "log", "--json", "--ledger", "stopped.db").out
    resumed, whole = ingested(command("stopped.db")), ingested(command("whole.db"))
    assert resumed["ledger"]["root"] == whole["ledger"]["root"]
    assert resumed["probes"] == whole["probes"]
