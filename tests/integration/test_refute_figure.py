"""`refute --figure`: the picture and its numbers, whole or not at all, and nothing of it unless asked."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.integration.conftest import Verifier
from tests.oracles.configurations import problem

PROBLEMS = Path(__file__).parents[2] / "problems"


@pytest.mark.slow
def test_it_writes_the_picture_and_its_numbers(verifier: Verifier, tmp_path: Path) -> None:
    said = verifier("refute", str(PROBLEMS / "frank-wolfe-4-1.json"), "--figure", "m.svg", "--json")
    assert said.code == 0
    assert said.document["figure"] == {"svg": "m.svg", "csv": "m.csv"}
    assert said.document["no_figure"] is None
    root = ET.fromstring((tmp_path / "m.svg").read_text())  # noqa: S314  # our own output
    assert root.tag.endswith("svg")
    with (tmp_path / "m.csv").open(newline="") as file:
        rows = {int(row["t"]): row for row in csv.DictReader(file)}
    exact = "exact left side / right side - 1"
    assert float(rows[223][exact]) < 0 < float(rows[224][exact])
    made = {path.name for path in tmp_path.iterdir()} - {"home"}  # matplotlib's settings, on its first import
    assert made == {"m.svg", "m.csv", "frank-wolfe-4-1.certificate.json"}

    first = (tmp_path / "m.svg").read_bytes()
    shown = verifier("refute", str(PROBLEMS / "frank-wolfe-4-1.json"), "--figure", "m.svg")
    assert shown.code == 0
    assert "picture: m.svg, numbers: m.csv" in shown.out
    assert "float64 cannot tell" in shown.out
    assert (tmp_path / "m.svg").read_bytes() == first


@pytest.mark.parametrize(
    ("target", "code", "words"),
    [
        ("missing/m.svg", 3, "the folder is missing or not writable"),
        ("m.png", 2, "the picture is an SVG file"),
        ("folder.svg", 3, "missing or not writable"),
    ],
)
def test_a_target_it_cannot_use_is_one_sentence(
    verifier: Verifier, tmp_path: Path, target: str, code: int, words: str
) -> None:
    (tmp_path / "folder.svg").mkdir()
    said = verifier("refute", str(PROBLEMS / "frank-wolfe-4-1.json"), "--figure", target)
    assert said.code == code
    assert said.out == ""
    assert words in said.err
    assert len(said.err.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["folder.svg"]  # refused before the work


@pytest.mark.slow
def test_a_write_that_fails_leaves_the_old_picture(verifier: Verifier, tmp_path: Path) -> None:
    (tmp_path / "m.svg").write_text("old")
    (tmp_path / "m.csv").mkdir()  # the numbers cannot take their name
    said = verifier("refute", str(PROBLEMS / "frank-wolfe-4-1.json"), "--figure", "m.svg")
    assert said.code == 3
    assert "the picture cannot be written" in said.err
    assert (tmp_path / "m.svg").read_text() == "old"
    assert not list(tmp_path.glob(".*.part"))


def test_where_there_is_nothing_to_draw_it_says_so(verifier: Verifier, tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text(json.dumps(problem([["4"], ["1"]])))
    said = verifier("refute", "p.json", "--figure", "m.svg", "--json")
    assert said.code == 0
    assert said.document["answer"] == "UNSUPPORTED_HYPOTHESIS"
    assert (said.document["figure"], said.document["no_figure"]) == (None, "the start is outside the hypotheses")
    assert not (tmp_path / "m.svg").exists()

    expressions = str(PROBLEMS / "squares-of-ordered-matrices.json")
    said = verifier("refute", expressions, "--figure", "m.svg")
    assert said.code == 0
    assert "no picture: the problem has no steps" in said.out
    said = verifier("refute", expressions, "--figure", "m.svg", "--json")
    assert (said.document["answer"], said.document["certificate"]) == (
        "VIOLATED",
        f"{Path(expressions).stem}.certificate.json",
    )
    assert (said.document["figure"], said.document["no_figure"]) == (None, "the problem has no steps")
    assert not (tmp_path / "m.svg").exists()


@pytest.mark.slow
def test_matplotlib_is_imported_for_a_picture_only(tmp_path: Path) -> None:
    script = (
        "import sys; from verifier.cli.main import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "sys.stderr.write(str('matplotlib' in sys.modules))"
    )
    command = [sys.executable, "-c", script, "refute", str(PROBLEMS / "frank-wolfe-4-1.json"), "--json"]
    without = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert without.stderr.endswith("False")
    with_one = subprocess.run([*command, "--figure", "m.svg"], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert with_one.stderr.endswith("True")
