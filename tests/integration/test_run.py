"""`verifier run` from a dispute to a ruling, as a user types it."""

from __future__ import annotations

import functools
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.integration.conftest import Said, Verifier, edit, files_in, home, start
from verifier.report import run_schema

GROWING = "def growing(k: int, *, stream: int, draws: int, percent: int = 38) -> Counts:\n"  # as toy/quantity.py has it


def ran(said: Said, code: int = 0) -> dict:
    assert said.code == code, said.err or said.out
    document = said.document
    jsonschema.validate(document, run_schema())
    return document


def test_a_dispute_goes_in_and_a_ruling_comes_out(verifier: Verifier, toy: Path, tmp_path: Path) -> None:
    before = files_in(toy)
    document = ran(verifier("run", "toy", "--trust", "--json"))
    assert (document["ruling"], document["verdict"]) == ("UPHELD", "falsified")
    assert document["sentence"].startswith("the dispute stands (UPHELD)")
    assert document["registrations_of_this_claim"]["n"] == document["registrations_of_this_claim"]["of"] == 1
    (probe,) = document["probes"]
    assert probe["answer"] == "GROWS"
    full = probe["statistics"]["slope_full"]
    assert abs(full["estimate"] - 0.38) <= 4 * full["stderr"]
    assert probe["statistics"]["e_grow"]["sup"] * probe["statistics"]["discount"] >= 1e4
    assert [control["passed"] for control in document["controls"]] == [True, True, True]
    exact = [{point["exact"] for point in control["points"]} for control in document["controls"]]
    assert exact[0] == {None}, "the probe's exact curve is not a control's"
    assert None not in exact[1]
    assert Path(tmp_path / document["report"]).read_text().startswith("<!")
    assert files_in(toy) == before, "the engine writes nothing into a case folder"

    kinds = [line for line in verifier("ledger", "log").out.splitlines() if "Z" in line]
    assert [next(k for k in ("registration", "evidence", "ruling") if f" {k} " in line) for line in kinds] == [
        "registration",
        "evidence",
        "ruling",
    ]

    again = ran(verifier("run", "toy", "--json", "--executor", "local=1"))
    assert again["ledger"] == document["ledger"], "a repeated run finds what it would append"
    assert again["probes"] == document["probes"]


def test_the_number_of_workers_changes_no_number(verifier: Verifier, after_a_run: dict[str, Any]) -> None:
    two = after_a_run
    one = ran(verifier("run", "toy", "--json", "--ledger", "one.db", "--executor", "local=1"))
    assert one["probes"] == two["probes"]
    assert one["controls"] == two["controls"]


@pytest.mark.slow
@pytest.mark.usefixtures("toy")
def test_ray_gives_the_numbers_of_the_pool(process: Verifier) -> None:
    local = ran(process("run", "toy", "--trust", "--json", "--ledger", "one.db", "--executor", "local"))
    ray = ran(process("run", "toy", "--json", "--ledger", "two.db", "--executor", "ray"))
    assert local["probes"] == ray["probes"]
    assert local["controls"] == ray["controls"]


CLUSTER = """
from ray.cluster_utils import Cluster
cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False})
print("joined at", cluster.address, flush=True)
input()
cluster.shutdown()
"""


@pytest.mark.slow
def test_a_running_cluster_is_joined_where_it_is_named(process: Verifier, toy: Path, tmp_path: Path) -> None:
    edit(toy / "case.toml", "looks = [10, 20, 30]", "looks = [10, 20]")
    settings = {
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
        "RAY_AUTH_MODE": "disabled",
        "RAY_USAGE_STATS_ENABLED": "0",
        **home(tmp_path),
    }
    with subprocess.Popen(
        [sys.executable, "-c", CLUSTER],
        env={**os.environ, **settings},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as cluster:
        assert cluster.stdout is not None
        assert cluster.stdin is not None
        address = next(line.split()[-1] for line in cluster.stdout if line.startswith("joined at"))
        try:
            joined = process("run", "toy", "--trust", "--json", "--executor", f"ray={address}", env=settings)
        finally:
            cluster.stdin.write("\n")
            cluster.stdin.close()
    local = ran(process("run", "toy", "--json", "--ledger", "local.db", "--executor", "local"))
    assert ran(joined)["probes"] == local["probes"]


def test_a_wrong_control_makes_the_probe_invalid(verifier: Verifier, toy: Path) -> None:
    edit(toy / "case.toml", 'expect = "AGAINST_DISPUTE"', 'expect = "FOR_DISPUTE"')
    document = ran(verifier("run", "toy", "--trust", "--json"))
    assert document["ruling"] == "INVALID"
    assert (document["verdict"], document["because"]) == ("inconclusive", "control-failed")
    assert document["probes"][0]["reason"] == "control-failed"
    assert [control["passed"] for control in document["controls"]] == [False, True, True]


@pytest.mark.usefixtures("toy")
def test_too_small_a_scale_is_said_with_what_would_decide(verifier: Verifier) -> None:
    document = ran(verifier("run", "toy", "--trust", "--json", "--scale", "k=4,5,6,7"))
    assert document["ruling"] == "UNDERPOWERED"
    assert document["exploratory"] is True
    assert document["probes"][0]["reason"] == "horizon"
    assert document["adequacy"]["needed"]["k"] == 1024
    assert document["adequacy"]["needed"]["draws"] > 0
    assert "k = 1024" in document["sentence"]


@pytest.mark.usefixtures("toy")
def test_a_changed_parameter_is_not_the_papers_claim(verifier: Verifier) -> None:
    document = ran(verifier("run", "toy", "--trust", "--json", "--set", "percent=0"))
    assert document["ruling"] == "DISMISSED"
    assert (document["verdict"], document["because"]) == ("inconclusive", "not-the-papers-claim")


def test_an_edit_registers_again_with_fresh_streams_and_a_discount(
    verifier: Verifier, tmp_path: Path, after_a_run: dict[str, Any]
) -> None:
    first, toy = after_a_run, tmp_path / "toy"
    edit(toy / "case.toml", 'delta = "0.19"', 'delta = "0.18"')
    second = ran(verifier("run", "toy", "--json"))
    assert second["registrations_of_this_claim"]["n"] == second["registrations_of_this_claim"]["of"] == 2
    assert second["probes"][0]["statistics"]["discount"] == pytest.approx(0.6079271018540267 / 4)
    assert first["probes"][0]["points"] != second["probes"][0]["points"]
    changed = second["registrations_of_this_claim"]["registrations"][1]["changed"]
    assert changed == ["probe[0].rule.delta"]

    edit(toy / "quantity.py", "Poisson counts", "Counts")
    assert verifier("run", "toy", "--json").code == 2, "code that never ran here asks"
    third = ran(verifier("run", "toy", "--json", "--trust"))
    assert third["registrations_of_this_claim"]["n"] == 3
    assert third["registrations_of_this_claim"]["registrations"][2]["changed"] == ["quantity.py"]


@pytest.mark.slow
def test_a_change_is_told_against_the_last_run_that_was_not_exploratory(verifier: Verifier, toy: Path) -> None:
    edit(toy / "case.toml", "looks = [10, 20, 30]", "looks = [10, 20]")
    ran(verifier("run", "toy", "--trust", "--json"))
    ran(verifier("run", "toy", "--json", "--set", "percent=0"))
    edit(toy / "case.toml", 'delta = "0.19"', 'delta = "0.18"')
    assert verifier("register", "toy").code == 0
    changed = [record["changed"] for record in verifier("status", "toy", "--json").document["registrations"]]
    assert changed == [[], ["--set"], ["probe[0].rule.delta"]]


def test_reading_more_of_the_paper_is_no_new_registration(
    verifier: Verifier, tmp_path: Path, after_a_run: dict[str, Any]
) -> None:
    first = after_a_run
    edit(tmp_path / "toy/case.toml", 'locator = "theorem 1"', 'locator = "theorem 1, page 4"')
    second = ran(verifier("run", "toy", "--json"))
    assert second["registrations_of_this_claim"]["of"] == 1
    assert second["ledger"]["root"] == first["ledger"]["root"]


def test_to_maximum_adds_evidence_and_leaves_the_ruling(verifier: Verifier, toy: Path) -> None:
    edit(toy / "case.toml", "looks = [10, 20, 30]", "looks = [20, 40, 60]")
    first = ran(verifier("run", "toy", "--trust", "--json"))
    full = ran(verifier("run", "toy", "--json", "--to-maximum"))
    assert full["probes"][0]["statistics"]["n"] == 60 > first["probes"][0]["statistics"]["n"]
    assert full["ledger"]["ruling"] == first["ledger"]["ruling"]
    assert full["ledger"]["evidence"][0] == first["ledger"]["evidence"][0]
    assert len(full["ledger"]["evidence"]) == 2
    at_once = ran(verifier("run", "toy", "--json", "--to-maximum", "--ledger", "other.db"))
    assert at_once["probes"] == full["probes"]


def test_a_unit_that_raises_is_no_answer_and_heals(verifier: Verifier, toy: Path, tmp_path: Path) -> None:
    flag = tmp_path / "broken"
    edit(
        toy / "quantity.py",
        GROWING,
        f"{GROWING}    import os\n    if k == 64 and os.path.exists({str(flag)!r}):\n"
        "        raise OSError('no scratch space')\n",
    )
    flag.touch()
    broken = ran(verifier("run", "toy", "--trust", "--json"), code=3)
    assert broken["ruling"] == "NO_ANSWER"
    assert broken["verdict"] is None
    assert "no scratch space" in broken["probes"][0]["summary"]
    connection = sqlite3.connect(tmp_path / "verifier-units.db")
    ((traceback,),) = connection.execute("SELECT DISTINCT traceback FROM failures").fetchall()
    assert "OSError: no scratch space" in traceback

    flag.unlink()
    healed = ran(verifier("run", "toy", "--json"))
    assert healed["ruling"] == "UPHELD"
    ruling = verifier("ledger", "show", healed["ledger"]["ruling"], "--json").document
    assert ruling["supersedes"] == broken["ledger"]["ruling"]


@pytest.mark.usefixtures("after_a_run")
def test_an_expected_ruling_that_does_not_come_is_exit_10(verifier: Verifier) -> None:
    assert verifier("run", "toy", "--expect", "UPHELD").code == 0
    unmet = verifier("run", "toy", "--expect", "DISMISSED", "--json")
    assert unmet.code == 10
    jsonschema.validate(unmet.document, run_schema())
    assert unmet.document["expected"] == {"ruling": "DISMISSED", "met": False}


def test_several_cases_are_several_lines(verifier: Verifier, toy: Path) -> None:
    edit(toy / "case.toml", "looks = [10, 20, 30]", "looks = [10, 20]")
    other = toy.with_name("other")
    other.mkdir()
    for path in toy.iterdir():
        (other / path.name).write_bytes(path.read_bytes())
    edit(other / "case.toml", "letter-1", "letter-2")
    said = verifier("run", "toy", "other", "--trust", "--json")
    assert said.code == 0
    assert len(said.out.splitlines()) == 2


@pytest.mark.usefixtures("after_a_run")
def test_people_read_the_ruling_last(verifier: Verifier) -> None:
    said = verifier("run", "toy")
    assert said.code == 0
    last = said.out[said.out.rindex("the dispute stands (UPHELD)") :]
    for words in ("slope per ln k", "fixed n", "any stopping time", "residual class", "report:"):
        assert words in last


class TestInterruptions:
    """Nothing finished is lost, and nothing unfinished is written as an answer."""

    slow_unit = (
        GROWING,
        f"{GROWING}    import time; time.sleep(0.03)\n",
    )

    def test_ctrl_c_says_what_is_kept(self, toy: Path, tmp_path: Path) -> None:
        edit(toy / "quantity.py", *self.slow_unit)
        # a shell that starts the tests in the background lets them ignore interrupts, and their children with them
        heed = functools.partial(signal.signal, signal.SIGINT, signal.default_int_handler)
        process = start("run", "toy", "--trust", cwd=tmp_path, start_new_session=True, preexec_fn=heed)
        wait_for_units(tmp_path / "verifier-units.db", 5)
        os.killpg(process.pid, signal.SIGINT)  # a terminal sends it to the whole group
        out, err = process.communicate(timeout=60)
        assert process.returncode == 130, err
        assert "Kept: registration" in out
        assert "Traceback" not in err

    @pytest.mark.slow
    def test_ctrl_c_ends_the_command_and_not_one_case_of_it(
        self, verifier: Verifier, toy: Path, tmp_path: Path
    ) -> None:
        edit(toy / "quantity.py", *self.slow_unit)
        shutil.copytree(toy, tmp_path / "other")
        edit(tmp_path / "other/case.toml", "letter-1", "letter-2")
        heed = functools.partial(signal.signal, signal.SIGINT, signal.default_int_handler)
        process = start("run", "toy", "other", "--trust", cwd=tmp_path, start_new_session=True, preexec_fn=heed)
        wait_for_units(tmp_path / "verifier-units.db", 5)
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=60)
        assert process.returncode == 130, err
        assert len(verifier("ledger", "log", "--json").out.splitlines()) == 1

    def test_kill_9_then_the_same_root(self, verifier: Verifier, toy: Path, tmp_path: Path) -> None:
        slow = tmp_path / "slow"  # while it is there; the code, and with it the registration, stays the same
        slow.touch()
        sleeps = f"    import os, time\n    time.sleep(0.03 * os.path.exists({str(slow)!r}))\n"
        edit(toy / "quantity.py", GROWING, GROWING + sleeps)
        epoch = {"SOURCE_DATE_EPOCH": "1767225600"}
        running = start("run", "toy", "--trust", "--ledger", "killed.db", cwd=tmp_path, env=epoch)
        units = tmp_path / "killed-units.db"
        wait_for_units(units, 20)
        running.kill()
        running.communicate()
        kept = count_units(units)
        assert kept >= 20
        slow.unlink()
        resumed = ran(verifier("run", "toy", "--json", "--ledger", "killed.db", env=epoch))
        whole = ran(verifier("run", "toy", "--json", "--ledger", "whole.db", env=epoch))
        assert kept < count_units(tmp_path / "whole-units.db"), "it was killed too late to show anything"
        assert resumed["ledger"]["root"] == whole["ledger"]["root"]
        assert count_units(units) == count_units(tmp_path / "whole-units.db")

    def test_a_time_limit_stops_cleanly_and_continues(self, verifier: Verifier, toy: Path) -> None:
        edit(toy / "quantity.py", *self.slow_unit)
        partial = verifier("run", "toy", "--trust", "--json", "--time-limit", "1.5s")
        assert partial.code == 3
        assert partial.document["state"] == "partial"
        assert partial.document["next"] == ["verifier run toy"]
        log = verifier("ledger", "log", "--json").out
        assert "evidence" not in log
        assert ran(verifier("run", "toy", "--json"))["registrations_of_this_claim"]["of"] == 1

    def test_a_budget_leaves_the_case_open(self, verifier: Verifier, toy: Path) -> None:
        edit(toy / "case.toml", "looks = [10, 20, 30]", "looks = [6, 30]")
        partial = verifier("run", "toy", "--trust", "--json", "--budget", "10")
        assert (partial.code, partial.document["because"]) == (3, "budget")


def count_units(store: Path) -> int:
    if not store.exists():
        return 0
    connection = sqlite3.connect(store)
    try:
        return int(connection.execute("SELECT count(*) FROM rows WHERE json_extract(row, '$.n') > 0").fetchone()[0])
    except sqlite3.OperationalError:
        return 0
    finally:
        connection.close()


def wait_for_units(store: Path, number: int) -> None:
    give_up = time.monotonic() + 120
    while count_units(store) < number:
        assert time.monotonic() < give_up, "no unit was stored"
        time.sleep(0.05)
