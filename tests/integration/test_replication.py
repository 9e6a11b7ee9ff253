"""Replications from a dispute to a ruling, as a user types it: drawn anew, or read from a file of runs."""

from __future__ import annotations

import csv
import shutil
import sqlite3
import time
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from tests.integration.conftest import Said, Verifier, edit, files_in, start
from tests.integration.test_cli_errors import one_sentence
from verifier.ledger import Ledger
from verifier.report import run_schema

TOY = Path(__file__).parent / "replication_toy"
SPEED = '[[probe]]\nname = "speed"'
LOOKS = "looks = [10, 20, 30, 40, 50, 60]"


def ran(said: Said, code: int = 0) -> dict[str, Any]:
    assert said.code == code, said.err or said.out
    document = said.document
    jsonschema.validate(document, run_schema())
    return document


@pytest.fixture
def case(tmp_path: Path) -> Path:
    """A copy of the replication case that a test may change."""
    return Path(shutil.copytree(TOY, tmp_path / "case"))


@pytest.fixture
def score(case: Path) -> Path:
    """The same with the probe of the score alone."""
    text = (case / "case.toml").read_text().partition(SPEED)[0]
    (case / "case.toml").write_text(text.replace('part = ["score", "speed"]', 'part = "score"'))
    return case


def test_both_disputes_are_upheld_where_they_are_right(verifier: Verifier, case: Path, tmp_path: Path) -> None:
    before = files_in(case)
    document = ran(verifier("run", "case", "--trust", "--json"))
    assert (document["ruling"], document["verdict"]) == ("UPHELD", "falsified")
    score, speed = document["probes"]
    assert [probe["answer"] for probe in (score, speed)] == ["BELOW_CLAIM", "BELOW_CLAIM"]
    assert all(control["passed"] for control in document["controls"])
    assert files_in(case) == before, "the engine writes nothing into a case folder"

    effect = score["statistics"]["effect"]
    assert abs(effect["estimate"]) <= 4 * effect["stderr"], "the truth is 0"
    assert np.log(0.5) == pytest.approx(speed["statistics"]["effect"]["estimate"], abs=0.2)
    assert score["statistics"]["e_below_claim"]["sup"] * score["statistics"]["discount"] >= 1e4
    looks = score["statistics"]["looks"]
    assert [look["n"] for look in looks] == score["statistics"]["looks_made"]
    assert max(look["below_claim"] for look in looks) == score["statistics"]["e_below_claim"]["sup"]
    arms = score["statistics"]["reported"]["arms"]
    assert arms["left"]["mean"] - arms["right"]["mean"] == pytest.approx(effect["estimate"])
    assert score["points"] == []
    # paired arms share what varies: the error of the difference is below that of independent arms
    assert effect["stderr"] < (arms["left"]["stderr"] ** 2 + arms["right"]["stderr"] ** 2) ** 0.5
    # a call an arm under unpaired noise, one call under paired
    assert score["evidence"][0]["units"]["count"] == score["statistics"]["n"]
    assert speed["evidence"][0]["units"]["count"] == 2 * speed["statistics"]["n"]

    page = (tmp_path / document["report"]).read_text()
    assert "the paper&#39;s 4 lies outside this interval" in page
    assert "E for less than claimed" in page

    with Ledger.open(document["ledger"]["url"], create=False) as ledger:
        first = next(iter(ledger.entries("evidence")))
    assert first.content["answer"] == "BELOW_CLAIM"
    assert float(first.content["statistics"]["effect"]["estimate"]) == effect["estimate"]
    assert first.content["units"]["count"] == score["statistics"]["n"]

    again = ran(verifier("run", "case", "--json", "--executor", "local=1"))
    assert again["ledger"] == document["ledger"], "a repeated run finds what it would append"
    assert again["probes"] == document["probes"]


@pytest.mark.slow
def test_the_dispute_fails_where_the_claim_is_right(verifier: Verifier, case: Path) -> None:
    edit(case / "case.toml", 'target = "measured:scores"\n', 'target = "measured:scores_of_four"\n')
    edit(case / "case.toml", 'equals = "measured:scores"', 'equals = "measured:scores_of_four"')
    edit(case / "case.toml", '"measured:scores_again"', '"measured:scores_of_four"')
    edit(case / "case.toml", '[parameters]\ngain = { type = "rational", default = "0" }\n', "")
    edit(
        case / "case.toml",
        'target = "measured:seconds"\n',
        'target = "measured:seconds_of_eight"\nreproduces_claim = true\n',
    )
    document = ran(verifier("run", "case", "--trust", "--json"))
    assert (document["ruling"], document["verdict"]) == ("DISMISSED", "verified")
    assert [probe["answer"] for probe in document["probes"]] == ["ABOVE_ALLEGED", "ABOVE_ALLEGED"]
    said = verifier("run", "case")
    assert "speed: ratio, left to right: " in said.out
    assert "the paper's 8 lies inside this interval" in said.out


@pytest.mark.slow
def test_five_replicates_could_not_have_shown_it_and_say_what_could(verifier: Verifier, score: Path) -> None:
    edit(score / "case.toml", f"{LOOKS}, minimum_n = 15", "looks = [5, 8], minimum_n = 6")
    text = (score / "case.toml").read_text()
    (score / "case.toml").write_text(text.partition("controls = [")[0])
    document = ran(verifier("run", "case", "--trust", "--json"))
    assert (document["ruling"], document["reason"]) == ("UNDERPOWERED", "underpowered")
    needed = document["adequacy"]["needed"]["replicates"]
    assert needed > 8
    assert document["sentence"].endswith(f"{needed} replicates would decide")
    assert f"needed: {needed} replicates" in verifier("run", "case").out
    assert "few: it may decide from 6 replicates" in document["probes"][0]["flags"][0]
    assert document["probes"][0]["so_far"]["note"] == "not a ruling"


@pytest.mark.slow
def test_a_control_that_fails_leaves_nothing_ruled(verifier: Verifier, score: Path) -> None:
    edit(score / "case.toml", 'expect = "AGAINST_DISPUTE"', 'expect = "FOR_DISPUTE"')
    document = ran(verifier("run", "case", "--trust", "--json"))
    assert (document["ruling"], document["reason"]) == ("INVALID", "control-failed")
    assert "measured:scores_of_four should give FOR_DISPUTE and gave ABOVE_ALLEGED" in document["sentence"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "summary"),
    [
        ("return 4\n", "return 9\n", " measured, 9 expected"),
        ("gain=gain)[arm]", 'gain=gain + 1)["left"]', "in 60 of 60 replicates, first in replicate 0"),
    ],
)
def test_a_check_that_fails_says_by_how_much(verifier: Verifier, score: Path, old: str, new: str, summary: str) -> None:
    edit(score / "measured.py", old, new)
    document = ran(verifier("run", "case", "--trust", "--json"))
    assert document["probes"][0]["reason"] == "control-failed"
    (failed,) = [control for control in document["controls"] if not control["passed"]]
    assert (failed["answer"], failed["outcome"]) == ("DIFFERS", "INVALID")
    assert summary in failed["summary"]


@pytest.mark.slow
@pytest.mark.usefixtures("case")
def test_the_number_of_workers_changes_no_number(verifier: Verifier) -> None:
    one = ran(verifier("run", "case", "--trust", "--json", "--ledger", "one.db", "--executor", "local=1"))
    two = ran(verifier("run", "case", "--json", "--ledger", "two.db", "--executor", "local=2"))
    assert one["probes"] == two["probes"]
    assert one["controls"] == two["controls"]


@pytest.mark.slow
def test_to_maximum_adds_evidence_and_a_budget_leaves_the_case_open(verifier: Verifier, score: Path) -> None:
    del score
    partial = verifier("run", "case", "--trust", "--json", "--budget", "15")
    assert (partial.code, partial.document["because"]) == (3, "budget")
    first = ran(verifier("run", "case", "--json"))
    full = ran(verifier("run", "case", "--json", "--to-maximum"))
    assert full["registrations_of_this_claim"]["of"] == 1
    assert full["probes"][0]["statistics"]["n"] == 60 > first["probes"][0]["statistics"]["n"]
    assert full["ledger"]["ruling"] == first["ledger"]["ruling"]
    assert len(full["ledger"]["evidence"]) == 2
    at_stop = first["probes"][0]["statistics"]["e_below_claim"]["current"]
    assert full["probes"][0]["statistics"]["e_below_claim"]["at_stop"] == at_stop


@pytest.mark.slow
def test_a_changed_parameter_reaches_the_target_and_no_control(verifier: Verifier, score: Path) -> None:
    del score
    document = ran(verifier("run", "case", "--trust", "--json", "--set", "gain=4"))
    assert document["probes"][0]["answer"] == "ABOVE_ALLEGED"
    assert (document["ruling"], document["because"]) == ("DISMISSED", "not-the-papers-claim")
    assert all(control["passed"] for control in document["controls"])


@pytest.mark.slow
def test_kill_9_then_the_same_root(process: Verifier, score: Path, tmp_path: Path) -> None:
    drawn = "    noise = _normal("
    edit(score / "measured.py", drawn, f"    import time; time.sleep(0.03)\n{drawn}")
    text = (score / "case.toml").read_text()
    (score / "case.toml").write_text(text.partition("controls = [")[0])
    epoch = {"SOURCE_DATE_EPOCH": "1767225600"}
    running = start("run", "case", "--trust", "--ledger", "killed.db", cwd=tmp_path, env=epoch)
    give_up = time.monotonic() + 120
    while units(tmp_path / "killed-units.db") < 5:
        assert time.monotonic() < give_up, "no unit was stored"
        time.sleep(0.05)
    running.kill()
    running.communicate()
    kept = units(tmp_path / "killed-units.db")
    resumed = ran(process("run", "case", "--json", "--ledger", "killed.db", env=epoch))
    whole = ran(process("run", "case", "--json", "--ledger", "whole.db", env=epoch))
    assert resumed["ledger"]["root"] == whole["ledger"]["root"]
    assert units(tmp_path / "killed-units.db") == units(tmp_path / "whole-units.db") > kept


def units(store: Path) -> int:
    if not store.exists():
        return 0
    connection = sqlite3.connect(store)
    try:
        rows = "SELECT count(*) FROM rows WHERE json_extract(row, '$.arms.left.n') > 0"
        return int(connection.execute(rows).fetchone()[0])
    except sqlite3.OperationalError:
        return 0
    finally:
        connection.close()


def write_runs(path: Path, gain: float, n: int = 60, *, seed: int = 1) -> None:
    rng = np.random.default_rng(seed)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["replicate", "arm", "value"])
        for replicate in range(1, n + 1):
            right = rng.normal(50, 2)
            writer.writerow([replicate, "right", f"{right:.6f}"])
            writer.writerow([replicate, "left", f"{right + rng.normal(gain, 3):.6f}"])


@pytest.fixture
def retrospective(score: Path) -> Path:
    """The score read from a file whose truth is 0, with a control whose truth is 4."""
    (score / "measured.py").unlink()
    write_runs(score / "runs.csv", 0.0)
    write_runs(score / "four.csv", 4.0, seed=2)
    text = (score / "case.toml").read_text()
    head, _, _ = text.partition("[parameters]")
    rule = next(line for line in text.splitlines() if line.startswith("rule = "))
    (score / "case.toml").write_text(
        f'{head}[[probe]]\nname = "score"\nkind = "replication"\npart = "score"\nfile = "runs.csv"\nreported = "4"\n'
        f'{rule}\ncontrols = [{{ file = "four.csv", expect = "AGAINST_DISPUTE" }}]\n'
    )
    return score


@pytest.mark.slow
def test_runs_from_a_file_are_shown_and_decide_nothing(verifier: Verifier, retrospective: Path) -> None:
    document = ran(verifier("run", "case", "--json"))  # no code of the case runs, so nothing asks for --trust
    assert document["sentence"].startswith("retrospective: ")
    assert (document["ruling"], document["reason"]) == ("UNDECIDED", "not-decided")
    (probe,) = document["probes"]
    assert (probe["answer"], probe["own_outcome"]) == ("BELOW_CLAIM", "UNDECIDED")
    assert (probe["question"], probe["summary"][:13]) == ("runs.csv", "retrospective")
    assert probe["statistics"]["n"] == 60
    assert probe["statistics"]["reported"]["file"] == {"rows": 120, "missing": 0, "unused": 0}
    assert document["controls"][0]["passed"] is True
    assert document["verdict"] == "inconclusive"

    lines = verifier("run", "case").out.splitlines()
    assert any(line.startswith("retrospective: ") and "UNDECIDED" in line for line in lines)
    assert any("made anew under a registration" in line for line in lines)
    assert "reads runs.csv" in verifier("plan", "case", "--json").document["sentence"]

    rows = (retrospective / "runs.csv").read_text().splitlines()
    (retrospective / "runs.csv").write_text("\n".join([rows[0], *reversed(rows[1:])]) + "\n")
    shuffled = ran(verifier("run", "case", "--json"))
    assert shuffled["registrations_of_this_claim"]["n"] == 2, "the bytes changed"
    for name in ("effect", "e_below_claim", "e_above_alleged", "looks"):
        assert shuffled["probes"][0]["statistics"][name] == probe["statistics"][name], "row order changes nothing"


def test_a_value_that_the_bounds_do_not_allow_is_named_by_its_line(verifier: Verifier, retrospective: Path) -> None:
    text = (retrospective / "runs.csv").read_text().splitlines()
    text[8] = f"{text[8].rpartition(',')[0]},101"
    (retrospective / "runs.csv").write_text("\n".join(text) + "\n")
    (probe,) = ran(verifier("run", "case", "--json"))["probes"]
    assert probe["answer"] == "MALFORMED"
    assert probe["summary"].endswith("outside the registered bounds, 0 to 100 (runs.csv, line 9)")
    assert verifier("run", "case").out.startswith("retrospective: the runs in “runs.csv” were not made under this")


def test_a_missing_cell_ends_what_counts(verifier: Verifier, retrospective: Path) -> None:
    text = (retrospective / "runs.csv").read_text().splitlines()
    text[1 + 2 * 24] = "25,right,"
    (retrospective / "runs.csv").write_text("\n".join(text) + "\n")
    (probe,) = ran(verifier("run", "case", "--json"))["probes"]
    assert probe["statistics"]["n"] == 20, "the last look before the gap"
    assert probe["statistics"]["reported"]["file"] == {"rows": 120, "missing": 1, "unused": 80}


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('target = "measured:scores"\n', "", ["neither target nor file is given", "line"]),
        ('target = "measured:scores"\n', 'target = "measured:scores"\nfile = "runs.csv"\n', ["target and file"]),
        ('kind = "difference"', 'kind = "growth"', ["growth", "difference"]),
        ('kind = "difference"', 'kind = "diference"', ["diference", "difference"]),
        ('alleged = "0", looks', 'alleged = "5", looks', ["alleged is not below delta"]),
        ('reported = "4"', 'reported = "four"', ["four", "not a number"]),
        ("tasks = 20 }", "arm = 20 }", ["arm is already an argument"]),
        ("gain = {", "arm = {", ["arm is already an argument"]),
        ('values = "measured:four"', 'valued = "measured:four"', ["valued", "values"]),
        ('expect = "AGAINST_DISPUTE"', 'expect = "BOUNDED"', ["BOUNDED"]),
        ('{ target = "measured:scores_again"', '{ file = "runs.csv"', ["has a target"]),
        ('target = "measured:scores"\n', 'target = "measured:score"\n', ["no function score"]),
        ("replicate = { tasks = 20 }", "", ["wants tasks"]),
        (f"{LOOKS}, min", f'noise = "unpaired", {LOOKS}, min', ["does not take arm"]),
        ('reported = "4"', "scale = { k = [2, 4] }", ["unknown key scale"]),
    ],
)
def test_a_bad_table_is_one_sentence(
    verifier: Verifier, score: Path, tmp_path: Path, old: str, new: str, words: list[str]
) -> None:
    edit(score / "case.toml", old, new)
    before = files_in(tmp_path)
    sentence = one_sentence(verifier("run", "case", "--trust", "--json"), 2)
    for word in words:
        assert word in sentence, sentence
    assert files_in(tmp_path) == before


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("replicate,value\n1,0.5\n1,0.5\n", ["line 3", "line 2"]),
        ("replicate,value\n1,x\n", ["line 2", "value"]),
        ("replicate,scale,value\n1,8,0.5\n", ["scale"]),
        ("replicate,arm,value\n1,left,0.5\n", ["only the arm left"]),
        ("replicate,item,value\n1,a,0.5\n2,a,0.4\n", ["items", "population"]),
        ("replicate,team,value\n1,a,0.5\n1,b,0.4\n", ["2 teams"]),
        ("replicate,value\n", ["no row"]),
    ],
)
def test_a_bad_file_of_runs_is_one_sentence(
    verifier: Verifier, retrospective: Path, table: str, words: list[str]
) -> None:
    (retrospective / "runs.csv").write_text(table)
    sentence = one_sentence(verifier("run", "case", "--json"), 2)
    for word in ("runs.csv", *words):
        assert word in sentence, sentence


def test_a_file_that_is_not_there_is_named(verifier: Verifier, retrospective: Path) -> None:
    edit(retrospective / "case.toml", 'file = "runs.csv"', 'file = "run.csv"')
    assert "the nearest valid file is runs.csv" in one_sentence(verifier("run", "case", "--json"), 2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("return {'left': [1.0], 'middle': [2.0]}", "a mapping of left, middle"),
        ("return {'left': [1.0], 'right': [float('nan')]}", "returned nan at position 0 (right)"),
        ("return {'left': [1.0] * 20, 'right': [2.0]}", "returned 1 values, where tasks = 20 is registered"),
        ("return None", "returned nothing"),
        ("raise OSError('no scratch space')", "no scratch space"),
    ],
)
def test_a_target_that_misbehaves_has_no_answer(verifier: Verifier, score: Path, body: str, words: str) -> None:
    edit(score / "measured.py", "def scores(", f"def scores(*, stream, tasks, gain=0):\n    {body}\n\n\ndef unused(")
    document = ran(verifier("run", "case", "--trust", "--json", "--executor", "local=1"), code=3)
    assert document["ruling"] == "NO_ANSWER"
    assert words in document["probes"][0]["summary"], document["probes"][0]["summary"]
