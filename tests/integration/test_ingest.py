"""Runs measured elsewhere: the manifest of `register`, `ingest`, and the table of `ledger export --runs`."""

from __future__ import annotations

import csv
import datetime as dt
import importlib.util
import io
import json
import shutil
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.integration.conftest import Said, Verifier, edit, files_in
from verifier.report import run_schema
from verifier.sweeps.store import UnitStore

HERE, THERE = "here.db", "there.db"
ONE = ("--executor", "local=1")  # workers that import everything for a few units cost more than the units
AGES_AGO, AHEAD = "1999-12-31T23:59:59Z", "2926-01-01T00:00:00Z"

Rows = list[dict[str, Any]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """What the tests of this module fill once and copy: see `runs`."""
    return {"folder": tmp_path_factory.mktemp("made")}


@pytest.fixture
def runs(verifier: Verifier, toy: Path, tmp_path: Path, made: dict[str, Path]) -> Path:
    """runs.csv, run.json and the manifest of a run there, and beside them a ledger where it is only registered.

    The registration here is the older one, as it must be for runs that are to decide.
    """
    kept = made["folder"] / "kept"
    if not kept.exists():
        said = verifier("register", "toy", "--trust", "--ledger", HERE, "--manifest", "manifest.json", "--json")
        assert said.code == 0, said.out
        ran = verifier("run", "toy", "--json", "--ledger", THERE)
        assert ran.code == 0, ran.out
        Path("run.json").write_text(ran.out)
        assert verifier("ledger", "export", "toy", "--runs", "--out", "runs.csv", "--ledger", THERE).code == 0
        shutil.copytree(tmp_path, kept)
    else:
        shutil.copytree(kept, tmp_path, dirs_exist_ok=True)
    assert (toy / "case.toml").exists()
    return tmp_path / "runs.csv"


def read(path: Path) -> Rows:
    return list(csv.DictReader(io.StringIO(path.read_text())))


def write(path: Path, rows: Rows, columns: list[str] | None = None) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns or list(rows[0]), lineterminator="\n", extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)


def ingested(said: Said, code: int = 0) -> dict[str, Any]:
    assert said.code == code, said.err or said.out
    document = said.document
    jsonschema.validate(document, run_schema())
    return document


def kinds(verifier: Verifier) -> list[str]:
    lines = verifier("ledger", "log", "--json", "--ledger", HERE).out.splitlines()
    return [json.loads(line)["kind"] for line in lines]


@pytest.mark.slow
class TestTheSameToTheBit:
    def test_ingest_of_the_engines_own_run(self, verifier: Verifier, runs: Path) -> None:
        ran = json.loads(Path("run.json").read_text())
        document = ingested(
            verifier("ingest", "toy", str(runs), *ONE, "--ledger", HERE, "--manifest", "manifest.json", "--json")
        )
        for key in ("ruling", "reason", "parts", "verdict", "because", "premises", "controls", "contact_gate"):
            assert document[key] == ran[key], key
        (probe,), (before,) = document["probes"], ran["probes"]
        differ = {key for key in probe if probe[key] != before[key]}
        assert differ == {"evidence"}, "only the root over the units' rows: a table has other columns"
        found, known = probe["evidence"][0], before["evidence"][0]
        assert (found["statistics"], found["units"]["count"]) == (known["statistics"], known["units"]["count"])

        about = document["ingested"]
        assert (about["rows"], about["used"], about["prefix"]) == (120, 120, 20)
        assert (about["retrospective"], about["reproduced"], about["missing"]) == (False, True, [])
        assert len({unit["unit"] for unit in about["checked"]}) == 3
        assert kinds(verifier) == ["registration", "evidence", "ruling"]
        evidence = verifier("ledger", "show", "2", "--json", "--ledger", HERE).document["quoted"]["content"]
        assert evidence["ingested"]["root"] == evidence["units"]["root"] == about["root"]

    @pytest.mark.slow
    def test_again_it_is_found_and_a_run_here_agrees(self, verifier: Verifier, runs: Path) -> None:
        first = ingested(verifier("ingest", "toy", str(runs), *ONE, "--ledger", HERE, "--json"))
        again = ingested(verifier("ingest", "toy", str(runs), *ONE, "--ledger", HERE, "--json"))
        assert again["ledger"] == first["ledger"]
        ran = ingested(verifier("run", "toy", "--ledger", HERE, "--json"))
        assert ran["probes"][0]["statistics"] == first["probes"][0]["statistics"]
        assert ran["ledger"]["size"] == 5, "evidence of units drawn here stands beside that of units from elsewhere"
        assert verifier("ledger", "verify", "--ledger", HERE).code == 0

    @pytest.mark.slow
    def test_any_order_of_rows_and_equal_rows_twice(self, verifier: Verifier, runs: Path) -> None:
        first = ingested(verifier("ingest", "toy", str(runs), *ONE, "--ledger", HERE, "--json"))
        rows = read(runs)
        write(runs, [*rows[::-1], *rows[:7]], columns=list(rows[0])[::-1])
        again = ingested(verifier("ingest", "toy", str(runs), *ONE, "--ledger", HERE, "--json"))
        assert again["ledger"] == first["ledger"]
        assert again["ingested"] == first["ingested"]

    @pytest.mark.slow
    def test_what_was_ingested_is_exported_again(self, verifier: Verifier, runs: Path) -> None:
        rows = read(runs)
        write(runs, [{**row, "job": f"job {n}", "hardware": "elsewhere"} for n, row in enumerate(rows)])
        ingested(verifier("ingest", "toy", str(runs), *ONE, "--ledger", HERE, "--json"))
        said = verifier("ledger", "export", "toy", "--runs", "--out", "again.csv", "--ledger", HERE, "--json")
        assert (said.code, said.document["rows"]) == (0, 120)
        assert read(Path("again.csv")) == read(runs)

    @pytest.mark.slow
    def test_means_alone_serve_too(self, verifier: Verifier, runs: Path) -> None:
        ran = json.loads(Path("run.json").read_text())
        means = [{**row, "seed": row["replicate"], "value": str(int(row["sum"]) / 1000)} for row in read(runs)]
        write(runs, means, columns=["k", "seed", "value", "unit", "stream", "started"])
        document = ingested(verifier("ingest", "toy", str(runs), *ONE, "--ledger", HERE, "--json"))
        assert document["ingested"]["reproduced"] is True
        found, known = (one["probes"][0]["statistics"] for one in (document, ran))
        assert found["e_grow"]["sup"] == pytest.approx(known["e_grow"]["sup"], rel=1e-9)


@pytest.mark.slow
class TestWhatIsMissing:
    def test_the_longest_prefix_counts_and_nothing_is_imputed(self, verifier: Verifier, runs: Path) -> None:
        """Leaving out a replicate cuts off what comes after it: choosing which runs to send gains nothing."""
        rows = [row for row in read(runs) if (row["k"], row["replicate"]) != ("64", "12")]
        for row in rows:
            if (row["k"], row["replicate"]) == ("32", "13"):
                row.update(n="", sum="", sum_sq="")
        write(runs, rows)
        document = ingested(verifier("ingest", "toy", str(runs), *ONE, "--ledger", HERE, "--json"))
        about, (probe,) = document["ingested"], document["probes"]
        assert (about["rows"], about["used"], about["prefix"]) == (118, 60, 12)
        line = next(n for n, row in enumerate(rows, 2) if (row["k"], row["replicate"]) == ("32", "13"))
        reasons = {(cell["at"]["k"], cell["replicate"]): cell["reason"] for cell in about["missing"]}
        assert reasons[64, 12] == "there is no row"
        assert reasons[32, 13] == f"it is empty in line {line}"
        assert reasons[32, 29] == "there is no row"
        assert about["missing_cells"] == len(reasons) == 2 + 10 * 6
        assert (probe["answer"], probe["outcome"], probe["reason"]) == ("INCOMPLETE", "UNDERPOWERED", "underpowered")
        assert probe["statistics"]["n"] == 10
        assert probe["statistics"]["stopped_by"] is None
        assert len(about["later"]) == 6 * 8 - 2
        assert document["ruling"] == "UNDERPOWERED"

    def test_too_little_for_a_look(self, verifier: Verifier, runs: Path) -> None:
        write(runs, [row for row in read(runs) if row["replicate"] == "0"])
        document = ingested(verifier("ingest", "toy", str(runs), *ONE, "--ledger", HERE, "--json"))
        assert (document["ruling"], document["probes"][0]["statistics"]) == ("UNDERPOWERED", None)
        assert document["ingested"]["used"] == 0

    def test_more_runs_come_later(self, verifier: Verifier, runs: Path) -> None:
        whole = runs.read_text()
        write(runs, [row for row in read(runs) if int(row["replicate"]) < 12])
        few = ingested(verifier("ingest", "toy", str(runs), *ONE, "--ledger", HERE, "--json"))
        runs.write_text(whole)
        all_of_them = ingested(verifier("ingest", "toy", str(runs), *ONE, "--ledger", HERE, "--json"))
        assert (few["ruling"], all_of_them["ruling"]) == ("UNDERPOWERED", "UPHELD")
        standing = verifier("status", "toy", "--ledger", HERE, "--json").document["standing"]
        assert standing["leaf"] == all_of_them["ledger"]["ruling"]

    def test_fewer_runs_replace_no_ruling_on_units_drawn_here(self, verifier: Verifier, runs: Path) -> None:
        write(runs, [row for row in read(runs) if int(row["replicate"]) < 12])
        said = verifier("ingest", "toy", str(runs), *ONE, "--ledger", THERE, "--json")
        assert (said.code, "drawn here and gave UPHELD" in said.document["sentence"]) == (2, True)

    def test_fewer_runs_replace_no_ruling_on_more_of_them(self, verifier: Verifier, runs: Path) -> None:
        ingested(verifier("ingest", "toy", str(runs), *ONE, "--ledger", HERE, "--json"))
        refused(verifier, runs, "these 120 give UPHELD, verdict inconclusive", "--no-rerun")
        write(runs, [row for row in read(runs) if int(row["replicate"]) < 12])
        refused(verifier, runs, "the standing ruling UPHELD rests on 120 rows")


@pytest.mark.slow
class TestWhenTheyBegan:
    @pytest.mark.parametrize("started", ["", AGES_AGO])
    def test_runs_before_their_registration_decide_nothing(self, verifier: Verifier, runs: Path, started: str) -> None:
        rows = read(runs)
        rows[70]["started"] = started
        write(runs, rows)
        document = ingested(verifier("ingest", "toy", str(runs), *ONE, "--ledger", HERE, "--json"))
        assert document["sentence"].startswith("retrospective: ")
        assert document["ingested"]["retrospective"] is True
        (probe,) = document["probes"]
        assert (probe["answer"], probe["own_outcome"]) == ("GROWS", "FOR_DISPUTE"), "shown"
        assert (probe["outcome"], probe["reason"]) == ("UNDECIDED", "premise-unchecked"), "and not decisive"
        assert kinds(verifier) == ["registration", "evidence"], "no ruling that could replace another"
        assert verifier("status", "toy", "--ledger", HERE, "--json").document["standing"] is None
        said = verifier("ingest", "toy", str(runs), *ONE, "--ledger", HERE)
        assert said.out.startswith("retrospective: ")

    def test_without_the_column_they_are_retrospective(self, verifier: Verifier, runs: Path) -> None:
        rows = read(runs)
        write(runs, rows, columns=[column for column in rows[0] if column != "started"])
        document = ingested(verifier("ingest", "toy", str(runs), *ONE, "--ledger", HERE, "--json"))
        assert document["ingested"]["retrospective"] is True

    def test_a_fixed_clock_compares_no_times(self, verifier: Verifier, runs: Path) -> None:
        epoch = {"SOURCE_DATE_EPOCH": "1767225600"}
        rows = read(runs)
        rows[3]["started"], rows[4]["started"] = AGES_AGO, AHEAD
        write(runs, rows)
        assert verifier("register", "toy", "--ledger", "fixed.db", env=epoch).code == 0
        said = verifier("ingest", "toy", str(runs), "--ledger", "fixed.db", "--json", env=epoch)
        assert ingested(said)["ingested"]["retrospective"] is False
        copy = verifier("register", "toy", "--ledger", "copy.db", env=epoch)
        again = verifier("ingest", "toy", str(runs), "--ledger", "copy.db", "--json", env=epoch)
        assert copy.code == 0
        assert ingested(again)["ledger"]["root"] == ingested(said)["ledger"]["root"]


@pytest.mark.slow
class TestAsReported:
    def test_rows_that_nobody_repeated_are_a_premise(self, verifier: Verifier, runs: Path) -> None:
        said = verifier("ingest", "toy", str(runs), *ONE, "--ledger", HERE, "--no-rerun", "--json")
        document = ingested(said)
        assert document["ingested"]["reproduced"] is False
        premise = document["premises"][-1]
        assert (premise["text"], premise["checked"]) == ("These runs are as reported.", "no")
        assert (document["ruling"], document["verdict"], document["because"]) == (
            "UPHELD",
            "inconclusive",
            "premise-unchecked",
        )
        assert document["contact_gate"]["open"] is False

    def test_a_unit_that_gives_another_number_here(self, verifier: Verifier, runs: Path) -> None:
        write(runs, [{**row, "sum": str(int(row["sum"]) + 1)} for row in read(runs)])
        refused(verifier, runs, "does not give what this line reports")

    def test_one_changed_unit_of_many_may_pass_and_changes_the_root(self, verifier: Verifier, runs: Path) -> None:
        honest = ingested(verifier("ingest", "toy", str(runs), *ONE, "--ledger", HERE, "--no-rerun", "--json"))
        rows = read(runs)
        rows[5]["hardware"] = "another"
        write(runs, rows)
        other = ingested(verifier("ingest", "toy", str(runs), *ONE, "--ledger", HERE, "--no-rerun", "--json"))
        assert other["ingested"]["root"] != honest["ingested"]["root"], "every column is content"


def one_more(runs: Path, index: int) -> Rows:
    """The table with one row changed, which is written; as it was before."""
    rows = read(runs)
    write(runs, [{**row, "sum": str(int(row["sum"]) + (n == index))} for n, row in enumerate(rows)])
    return rows


class TestAgainstWhatIsHere:
    def test_a_unit_drawn_here_with_another_number(self, verifier: Verifier, runs: Path) -> None:
        row = one_more(runs, 70)[70]
        words = (
            f"runs.csv, line 72: the unit {row['unit'][:12]} (k = {row['k']}, replicate {row['replicate']}) was drawn"
        )
        refused(verifier, runs, words, "--no-rerun", "--ledger", THERE)

    @pytest.mark.slow
    def test_a_unit_reported_earlier_with_another_number(self, verifier: Verifier, runs: Path) -> None:
        ingest = ("ingest", "toy", str(runs), *ONE, "--no-rerun", "--ledger", HERE, "--json")
        first = ingested(verifier(*ingest))
        rows = one_more(runs, 70)
        refused(verifier, runs, "in the table of entry 2, and this line reports", "--no-rerun")
        for path in runs.parent.glob("here-units.db*"):
            path.unlink()
        refused(verifier, runs, "no longer kept beside this ledger", "--no-rerun")
        write(runs, rows)
        assert ingested(verifier(*ingest))["ledger"] == first["ledger"], "the root of the same rows is the same"

    @pytest.mark.slow
    def test_units_drawn_here_put_an_earlier_table_right(self, verifier: Verifier, runs: Path) -> None:
        rows = one_more(runs, 70)
        ingested(verifier("ingest", "toy", str(runs), *ONE, "--no-rerun", "--ledger", HERE, "--json"))
        write(runs, rows)
        refused(verifier, runs, "in the table of entry 2")
        ingested(verifier("run", "toy", "--ledger", HERE, "--json"))
        ingested(verifier("ingest", "toy", str(runs), *ONE, "--ledger", HERE, "--json"))


def refused(verifier: Verifier, runs: Path, words: str, *more: str) -> None:
    """`ingest` says this in one sentence, with exit 2, and changes no file."""
    before = files_in(Path.cwd())
    said = verifier("ingest", "toy", str(runs), *ONE, "--ledger", HERE, "--json", *more)
    assert said.code == 2, said.out
    assert words in said.document["sentence"], said.document["sentence"]
    assert "\n" not in said.document["sentence"]
    after = {name: data for name, data in files_in(Path.cwd()).items() if "units.db" not in name}
    assert after == {name: data for name, data in before.items() if "units.db" not in name}


@pytest.fixture
def forged(runs: Path) -> Path:
    """A manifest with one stream that the registration does not give."""
    manifest = json.loads(runs.with_name("manifest.json").read_text())
    manifest["units"][7]["stream"] = "0" * 32
    path = runs.with_name("forged.json")
    path.write_text(json.dumps(manifest))
    return path


@pytest.mark.slow
def test_somebody_else_runs_the_units_of_the_manifest(verifier: Verifier, toy: Path, runs: Path) -> None:
    """From the manifest and the case folder alone, as the page says it; the same numbers come back."""
    spec = importlib.util.spec_from_file_location("quantity_of_somebody_else", toy / "quantity.py")
    assert spec is not None
    assert spec.loader is not None
    quantity = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(quantity)
    rows = []
    for unit in json.loads(runs.with_name("manifest.json").read_text())["units"][:120]:
        values = quantity.growing(unit["scale"]["k"], stream=int(unit["stream"], 16), draws=1000).tolist()
        sums = {"n": len(values), "sum": sum(values), "sum_sq": sum(value * value for value in values)}
        started = dt.datetime.now(dt.UTC).isoformat()
        same = {key: unit[key] for key in ("replicate", "unit", "stream")}
        rows.append({"k": unit["scale"]["k"], **same, **sums, "started": started, "job": "mine"})
    write(runs, rows)
    document = ingested(verifier("ingest", "toy", str(runs), *ONE, "--ledger", HERE, "--json"))
    ran = json.loads(runs.with_name("run.json").read_text())
    assert (document["ingested"]["retrospective"], document["ingested"]["reproduced"]) == (False, True)
    assert document["probes"][0]["statistics"] == ran["probes"][0]["statistics"]
    assert document["ruling"] == ran["ruling"] == "UPHELD"


class TestRefused:
    def test_a_forged_manifest(self, verifier: Verifier, runs: Path, forged: Path) -> None:
        refused(verifier, runs, "first in unit 8", "--manifest", forged.name)

    @pytest.mark.slow
    def test_a_changed_registration_hash(self, verifier: Verifier, toy: Path, runs: Path) -> None:
        edit(toy / "case.toml", 'delta = "0.19"', 'delta = "0.18"')
        refused(verifier, runs, "is not registered in this ledger")
        assert verifier("register", "toy", "--ledger", HERE).code == 0
        refused(verifier, runs, "is not the unit that this registration gives")
        refused(verifier, runs, "belongs to the registration", "--manifest", "manifest.json")

    def test_a_unit_twice_with_different_values(self, verifier: Verifier, runs: Path) -> None:
        rows = read(runs)
        write(runs, [*rows, {**rows[4], "sum": str(int(rows[4]["sum"]) + 1)}])
        refused(verifier, runs, "another value than in line 6")

    def test_a_ledger_without_the_registration(self, verifier: Verifier, runs: Path) -> None:
        said = verifier("ingest", "toy", str(runs), "--ledger", "none.db")
        assert (said.code, Path("none.db").exists()) == (2, False)
        assert "there is no ledger here" in said.err

    def test_a_start_in_the_future(self, verifier: Verifier, runs: Path) -> None:
        rows = read(runs)
        rows[8]["started"] = AHEAD
        write(runs, rows)
        refused(verifier, runs, "lies in the future")

    def test_a_missing_file(self, verifier: Verifier, runs: Path) -> None:
        refused(verifier, runs.with_name("absent.csv"), "cannot be read")

    @pytest.mark.usefixtures("runs")
    def test_a_case_without_a_sweep(self, verifier: Verifier) -> None:
        cases = Path(__file__).parents[2] / "cases"
        said = verifier("ingest", str(cases / "powell"), "runs.csv", "--ledger", HERE)
        assert (said.code, "this case has no sweep" in said.err) == (2, True)
        said = verifier("register", str(cases / "powell"), "--manifest", "powell.json", "--ledger", "new.db")
        assert (said.code, "so it has no manifest" in said.err) == (2, True)
        said = verifier("plan", str(cases / "powell"), "--pilot", "--ledger", "new.db")
        assert (said.code, "and this case draws nothing" in said.err) == (2, True)
        assert not Path("new.db").exists()


class TestExport:
    def test_a_file_of_something_else_is_left_as_it_is(self, verifier: Verifier, runs: Path) -> None:
        """Its own earlier output is replaced, and said to be: nothing is lost by that."""
        export = ("ledger", "export", "toy", "--runs", "--ledger", THERE, "--out")
        Path("notes.csv").write_text("what I noted\n")
        said = verifier(*export, "notes.csv")
        assert (said.code, "a file with other lines" in said.err) == (2, True)
        assert Path("notes.csv").read_text() == "what I noted\n"
        content = runs.read_bytes()
        runs.write_bytes(b"".join(content.splitlines(keepends=True)[:-2]))
        said = verifier(*export, "runs.csv")
        assert (said.code, "in place of an earlier export" in said.out) == (0, True)
        assert runs.read_bytes() == content

    @pytest.mark.slow
    def test_units_that_no_evidence_rests_on(self, verifier: Verifier, runs: Path) -> None:
        """As a control of the probe's own target leaves them."""
        shutil.copy("there-units.db", "here-units.db")
        export = ("ledger", "export", "toy", "--runs", "--out", "again.csv", "--ledger", HERE, "--json")
        said = verifier(*export).document
        assert (said["rows"], said["vouched"], said["ingested"]) == (120, 0, False)
        assert "no evidence in the ledger rests on them" in said["sentence"]
        write(runs, [{**row, "job": "mine"} for row in read(runs)])
        ingested(verifier("ingest", "toy", str(runs), *ONE, "--ledger", HERE, "--json"))
        said = verifier(*export)
        assert (said.code, "a file with other lines" in said.document["sentence"]) == (2, True)
        Path("again.csv").unlink()
        said = verifier(*export).document
        assert (said["vouched"], said["ingested"], said["replaced"]) == (120, True, False)
        assert verifier(*export).document["replaced"] is True
        elsewhere = "the dispute stands (UPHELD) (measured elsewhere)"
        assert elsewhere in verifier("status", "toy", "--ledger", HERE).out
        told = [line for line in verifier("ledger", "log", "--ledger", HERE).out.splitlines() if "  ruling  " in line]
        assert elsewhere in told[-1]
        assert "measured elsewhere" not in verifier("status", "toy", "--ledger", THERE).out
        assert read(Path("again.csv")) == read(runs)

    def test_units_that_the_store_lost(self, verifier: Verifier, runs: Path) -> None:
        for path in runs.parent.glob("there-units.db*"):
            path.unlink()
        said = verifier("ledger", "export", "toy", "--runs", "--ledger", THERE)
        assert (said.code, "no unit of this registration is kept" in said.err) == (2, True)

    def test_units_that_are_not_those_recorded(self, verifier: Verifier, runs: Path) -> None:
        store = UnitStore(runs.parent / "there-units.db")
        unit = read(runs)[0]["unit"]
        (row,) = store.get([unit]).values()
        store.put(unit, {**row, "sum": str(int(row["sum"]) + 1)})
        store.close()
        said = verifier("ledger", "export", "toy", "--runs", "--ledger", THERE, "--out", "other.csv")
        assert (said.code, Path("other.csv").exists()) == (4, False)
        assert "not those that entry 2 recorded" in said.err

    @pytest.mark.usefixtures("runs")
    def test_it_asks_what_to_export_and_keeps_out_of_the_case(self, verifier: Verifier) -> None:
        assert verifier("ledger", "export", "toy", "--ledger", THERE).code == 2
        said = verifier("ledger", "export", "toy", "--runs", "--out", "toy/runs.csv", "--ledger", THERE)
        assert (said.code, "inside the case folder" in said.err) == (2, True)
        said = verifier("register", "toy", "--manifest", "toy/manifest.json", "--ledger", "new.db")
        assert (said.code, Path("new.db").exists()) == (2, False)


@pytest.mark.slow
def test_floats_survive_the_table_to_the_bit(verifier: Verifier, toy: Path) -> None:
    edit(toy / "quantity.py", "poisson(mean, draws)", "normal(mean, 1.0, draws)")
    edit(toy / "case.toml", "looks = [10, 20, 30]", "looks = [12]")
    assert verifier("register", "toy", "--trust", "--ledger", HERE).code == 0
    ran = ingested(verifier("run", "toy", "--json", "--ledger", THERE))
    assert verifier("ledger", "export", "toy", "--runs", "--out", "runs.csv", "--ledger", THERE).code == 0
    document = ingested(verifier("ingest", "toy", "runs.csv", "--json", "--ledger", HERE))
    assert document["ingested"]["reproduced"] is True
    for key in ("answer", "outcome", "statistics", "points"):
        assert document["probes"][0][key] == ran["probes"][0][key], key


@pytest.mark.slow
def test_a_sweep_in_stages_and_its_first_stage_alone(verifier: Verifier, toy: Path) -> None:
    """Replicates of a later stage have more scales; the stages that are complete are what counts."""
    scales = "scale = { k = [32, 64, 128, 256, 512, 1024] }"
    stages = (
        "stages = [{ scale = [32, 64, 128, 256, 512], replicates = 12 }, "
        "{ scale = [32, 64, 128, 256, 512, 1024], replicates = 30 }]"
    )
    edit(toy / "case.toml", "looks = [10, 20, 30] }", "looks = [12, 42] }")
    edit(toy / "case.toml", scales, f"{scales}\n{stages}")
    edit(toy / "case.toml", "default = 38", "default = 0")
    text = (toy / "case.toml").read_text()
    (toy / "case.toml").write_text(text.partition("controls = [")[0])
    assert verifier("register", "toy", "--trust", *ONE, "--ledger", HERE).code == 0
    ran = ingested(verifier("run", "toy", "--json", *ONE, "--ledger", THERE))
    assert verifier("ledger", "export", "toy", "--runs", "--out", "runs.csv", "--ledger", THERE).code == 0
    runs = Path("runs.csv")
    rows = read(runs)
    assert len(rows) == 12 * 5 + 30 * 6
    write(runs, [row for row in rows if int(row["replicate"]) < 20])
    few = ingested(verifier("ingest", "toy", "runs.csv", *ONE, "--json", "--ledger", HERE))
    about, (probe,) = few["ingested"], few["probes"]
    assert (about["rows"], about["prefix"], about["used"], len(about["later"])) == (108, 20, 60, 0)
    assert (probe["answer"], probe["outcome"]) == ("INCOMPLETE", "UNDERPOWERED")
    assert "at 12 replicates" in probe["summary"]
    write(runs, rows)
    document = ingested(verifier("ingest", "toy", "runs.csv", *ONE, "--json", "--ledger", HERE))
    for key in ("answer", "outcome", "statistics", "points"):
        assert document["probes"][0][key] == ran["probes"][0][key], key
    assert (document["ruling"], document["ingested"]["used"]) == ("DISMISSED", 240)
