"""`verifier refute` where no proof ends it: what the horizon says, progress, the clock, an interrupt."""

from __future__ import annotations

import functools
import json
import os
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import REPOSITORY, Verifier, files_in, start

PROBLEMS = REPOSITORY / "problems"


@pytest.fixture
def never(tmp_path: Path) -> Path:
    return Path(shutil.copy(PROBLEMS / "frank-wolfe-never-freezes.json", tmp_path))


def horizon_of(verifier: Verifier, file: Path, *options: str) -> dict[str, Any]:
    said = verifier("refute", file.name, "--json", *options)
    assert said.code == 0, said.err
    assert said.document["answer"] == "VERIFIED_TO_HORIZON"
    assert said.document["certificate"] is None
    horizon: dict[str, Any] = said.document["horizon"]
    return horizon


def test_what_a_run_reaches_depends_on_its_horizon(verifier: Verifier, never: Path) -> None:
    short, long = (horizon_of(verifier, never, "--horizon", steps) for steps in ("200", "600"))
    assert [(entry["step"], entry["reached"]) for entry in short["would_catch"]] == [
        (224, False), (3_800, False), (6_416, False),
    ]  # fmt: skip
    assert [entry["reached"] for entry in long["would_catch"]] == [True, False, False]
    assert (short["t"], long["t"], short["stopped_by"]) == (199, 599, "horizon")
    assert 0 < long["margin"] <= short["margin"] < 1
    assert short["margin_at"] <= short["t"] < short["predicted_crossing"]


def test_people_read_it_in_words(verifier: Verifier, never: Path) -> None:
    said = verifier("refute", never.name, "--horizon", "300")
    assert "smallest margin 0.9169 at t = 0" in said.out
    assert "if the energy stayed as it is the bound would be crossed at t = " in said.out
    assert "a run to t = 299 reaches t = 224 (the tokens (4, -1)) and does not reach t = 3,800" in said.out
    assert "t = 6,416" in said.out


@pytest.mark.parametrize(
    ("name", "answer", "exit_step"),
    [("frank-wolfe-corrected", "UNSUPPORTED_HYPOTHESIS", 2), ("frank-wolfe-symmetric", "HOLDS_FOR_ALL", None)],
)
def test_the_shipped_files_of_the_repaired_claim(
    verifier: Verifier, tmp_path: Path, name: str, answer: str, exit_step: int | None
) -> None:
    shutil.copy(PROBLEMS / f"{name}.json", tmp_path)
    said = verifier("refute", f"{name}.json", "--json")
    assert said.code == 0
    assert (said.document["answer"], said.document["exit_step"]) == (answer, exit_step)
    assert set(files_in(tmp_path)) == {f"{name}.json"}
    if exit_step is not None:
        hull = said.document["hypotheses"][-1]
        assert not hull["holds"]
        assert hull["witness"]["u"] == ["1"]


def test_a_time_limit_is_a_partial_answer(verifier: Verifier, never: Path) -> None:
    document = json.loads(never.read_text())
    document["claim"] = "energy-bound-while-inside"
    never.write_text(json.dumps(document))
    said = verifier("refute", never.name, "--json", "--horizon", "1000000", "--time-limit", "2s")
    assert said.code == 3, said.err
    assert said.document["state"] == "partial"
    assert said.document["horizon"]["stopped_by"] == "time limit"
    assert said.document["horizon"]["t"] > 100


def test_progress_goes_to_stderr_and_ctrl_c_says_what_is_kept(never: Path, tmp_path: Path) -> None:
    document = json.loads(never.read_text())
    document["claim"] = "energy-bound-while-inside"
    never.write_text(json.dumps(document))
    # a shell that starts the tests in the background lets them ignore interrupts, and their children with them
    heed = functools.partial(signal.signal, signal.SIGINT, signal.default_int_handler)
    process = start("refute", never.name, "--horizon", "1000000", cwd=tmp_path, start_new_session=True, preexec_fn=heed)
    assert process.stderr is not None
    line = process.stderr.readline()
    assert line.startswith("t = ")
    assert "inside up to t = " in line or "testing a hull" in line
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert out == ""
    assert "interrupted at t = " in err
    assert "no file was written" in err
    assert "Traceback" not in err
    assert set(files_in(tmp_path)) == {never.name}


@pytest.mark.slow
def test_enclosures_report_progress_too(never: Path, tmp_path: Path) -> None:
    process = start("refute", never.name, "--horizon", "1000000", "--time-limit", "6s", cwd=tmp_path)
    out, err = process.communicate(timeout=200)
    assert process.returncode == 3, out + err
    assert "enclosures of " in err
