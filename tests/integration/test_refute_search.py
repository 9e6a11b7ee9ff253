"""`verifier refute` where the start is open: found and checked, or what the silence is worth; limits and interrupts."""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import verifier.exact
from tests.integration.conftest import REPOSITORY, Verifier, start

CHECKER = Path(verifier.exact.__file__).parent / "checker.py"
PROBLEMS = REPOSITORY / "problems"


def copied(folder: Path, name: str, **find: Any) -> str:
    """A shipped search in `folder`, with some fields of `find` changed."""
    shutil.copy(PROBLEMS / name, folder / name)
    if find:
        document = json.loads((folder / name).read_text())
        document["state"]["find"] |= find
        (folder / name).write_text(json.dumps(document))
    return name


def checked(folder: Path, name: str) -> str:
    """The last line of the checker, run alone."""
    run = subprocess.run(
        [sys.executable, "-I", str(CHECKER), name], cwd=folder, capture_output=True, text=True, check=False
    )
    return run.stdout.splitlines()[-1]


@pytest.mark.parametrize(
    ("sampler", "seed", "shape"),
    [
        ("structured", 0, [3, 2]),
        ("balanced", 2, [5, 3]),
        pytest.param("structured", 2, [5, 3], marks=pytest.mark.slow),
        pytest.param("balanced", 1, [4, 2], marks=pytest.mark.slow),
        pytest.param("structured", 3, [2, 1], marks=pytest.mark.slow),
        pytest.param("balanced", 3, [8, 3], marks=pytest.mark.slow),
    ],
)
@pytest.mark.slow
def test_what_is_found_is_accepted(
    verifier: Verifier, tmp_path: Path, sampler: str, seed: int, shape: list[int]
) -> None:
    find = {"sampler": sampler, "seed": seed, "tokens": shape[0], "dimension": shape[1], "denominator": 7}
    name = copied(tmp_path, "frank-wolfe-search.json", **find)
    said = verifier("refute", name, "--json")
    assert said.code == 0, said.err
    document = said.document
    assert document["answer"] == "VIOLATED_FOR_ALL"
    search = document["search"]
    assert (search["sampler"], search["seed"], search["stopped_by"]) == (sampler, seed, "found")
    assert search["by_answer"]["VIOLATED_FOR_ALL"] == 1
    assert document["first_violation"] is not None
    certificate = json.loads((tmp_path / document["certificate"]).read_text())
    assert certificate["problem"]["state"] == search["found_start"]
    assert [len(certificate["problem"]["state"]["tokens"]), len(certificate["problem"]["parameters"]["B"])] == shape
    assert document["float"]["forms"]
    assert checked(tmp_path, document["certificate"]).startswith("ACCEPTED")


def test_the_same_search_finds_the_same_start(verifier: Verifier, tmp_path: Path) -> None:
    name = copied(tmp_path, "frank-wolfe-search.json", seed=5)
    first = verifier("refute", name, "--json").document
    assert verifier("refute", name, "--json", "--time-limit", "600s").document == first
    other = verifier("refute", copied(tmp_path, "frank-wolfe-search.json", seed=6), "--json").document
    assert other["search"] != first["search"]


def test_the_symmetric_search_says_that_it_has_no_power(verifier: Verifier, tmp_path: Path) -> None:
    name = copied(tmp_path, "frank-wolfe-symmetric-search.json", starts=40)
    document = verifier("refute", name, "--json").document
    assert document["answer"] == "VERIFIED_TO_HORIZON"
    assert document["state"] == "done"
    assert document["certificate"] is None
    search = document["search"]
    assert search["by_answer"] == {"HOLDS_FOR_ALL": 40}
    assert search["power"] == [{"known": "the tokens (4, -1)", "caught": 0, "of": 40, "by": "search"}]
    assert search["stopped_by"] == "starts"
    assert search["smallest_margin_start"]["tokens"]
    said = verifier("refute", name)
    assert said.code == 0
    assert "this sampler has no power" in said.out
    assert "40 starts: 40 hold for all t" in said.out


def test_the_same_search_with_other_ties_is_measured_on_its_own(verifier: Verifier, tmp_path: Path) -> None:
    """Under an index rule the statement differs from the known-false one; the sampler is then run on that one."""
    name = copied(tmp_path, "frank-wolfe-symmetric-search.json", starts=20, tokens=4)
    document = json.loads((tmp_path / name).read_text())
    document["ties"] = "lowest-index"
    (tmp_path / name).write_text(json.dumps(document))
    search = verifier("refute", name, "--json").document["search"]
    assert search["power"] == [{"known": "the tokens (4, -1)", "caught": 0, "of": 20, "by": "sampler"}]


def endless(folder: Path) -> str:
    """A true statement, so that a search goes on to its last start."""
    name = copied(folder, "frank-wolfe-search.json", tokens=12, dimension=4, denominator=12, sampler="balanced")
    document = json.loads((folder / name).read_text())
    document["claim"] = "energy-bound-while-inside"
    document["state"]["find"]["starts"] = 100_000
    (folder / name).write_text(json.dumps(document))
    return name


def test_a_time_limit_ends_it_with_what_was_done(verifier: Verifier, tmp_path: Path) -> None:
    said = verifier("refute", endless(tmp_path), "--time-limit", "3s", "--json")
    assert said.code == 3, said.err
    document = said.document
    assert document["state"] == "partial"
    search = document["search"]
    assert search["stopped_by"] == "time limit"
    assert 0 < search["starts"] == sum(search["by_answer"].values()) < 100_000
    assert any(f"after {search['starts']} of 100000 starts" in note for note in document["notes"])
    assert search["power"] == []
    assert "drawn" not in document["sentence"]


def test_an_interrupt_ends_it_cleanly_after_progress_on_stderr(tmp_path: Path) -> None:
    name = endless(tmp_path)
    before = sorted(path.name for path in tmp_path.iterdir())
    # a shell that starts the tests in the background lets them ignore interrupts, and their children with them
    heed = functools.partial(signal.signal, signal.SIGINT, signal.default_int_handler)
    running = start("refute", name, "--json", cwd=tmp_path, start_new_session=True, preexec_fn=heed)
    assert running.stderr is not None
    line = running.stderr.readline()
    assert re.match(r"\d+ starts: of at most 100000: \d+ hold for all t", line), line
    os.killpg(running.pid, signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert running.returncode == 130, err
    assert "Traceback" not in err
    assert json.loads(out)["ok"] is False
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "home") == before


def test_a_shape_that_does_not_fit_the_matrix_is_one_sentence(verifier: Verifier, tmp_path: Path) -> None:
    name = copied(tmp_path, "frank-wolfe-search.json")
    document = json.loads((tmp_path / name).read_text())
    document["parameters"]["B"] = [["1"]]
    (tmp_path / name).write_text(json.dumps(document))
    said = verifier("refute", name, "--json")
    assert said.code == 2
    assert "parameters.B" in said.document["sentence"]


@pytest.mark.slow
def test_360_configurations_while_the_origin_is_inside(verifier: Verifier, tmp_path: Path) -> None:
    """The repaired claim on the six shapes: none breaks it, and the sampler would have shown it if one did."""
    shapes = [[3, 2], [4, 2], [6, 2], [5, 3], [8, 3], [12, 4]]
    name = copied(tmp_path, "frank-wolfe-search.json")
    document = json.loads((tmp_path / name).read_text())
    document |= {"claim": "energy-bound-while-inside", "ties": "lowest-index"}
    document["state"]["find"] = {
        "numerator": 9, "denominator": 11, "shapes": shapes, "sampler": "balanced", "starts": 360,
    }  # fmt: skip
    (tmp_path / name).write_text(json.dumps(document))
    search = verifier("refute", name, "--json").document["search"]
    assert search["starts"] == 360
    assert set(search["by_answer"]) <= {"HOLDS_FOR_ALL", "VERIFIED_TO_HORIZON"}
    assert search["by_answer"]["HOLDS_FOR_ALL"] >= 355
    assert sum(search["exit_steps"].values()) >= 355
    (power,) = search["power"]
    assert power["of"] == 200
    assert power["caught"] >= 190
