"""What `refute` and `shrink` write: whole files, nowhere over what they were given; and texts at the door."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import REPOSITORY, Verifier, files_in

NAME = "frank-wolfe-4-1.json"


@pytest.fixture
def given(tmp_path: Path) -> Path:
    return Path(shutil.copy(REPOSITORY / "problems" / NAME, tmp_path / "p.json"))


@pytest.mark.usefixtures("given")
@pytest.mark.parametrize("out", ["p.json", "./p.json", "link.json", "hard.json"])
def test_a_problem_is_not_overwritten_by_its_certificate(verifier: Verifier, tmp_path: Path, out: str) -> None:
    (tmp_path / "link.json").symlink_to("p.json")
    os.link(tmp_path / "p.json", tmp_path / "hard.json")
    before = files_in(tmp_path)
    said = verifier("refute", "p.json", "--out", out)
    assert said.code == 2
    assert said.err.splitlines() == [
        f"Error: --out {Path(out)}: the certificate would overwrite the file it is made from; choose another name."
    ]
    assert files_in(tmp_path) == before


@pytest.mark.usefixtures("given")
def test_a_certificate_goes_to_no_folder_and_no_device(verifier: Verifier, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for place in ("folder", os.devnull):
        said = verifier("refute", "p.json", "--out", place)
        assert said.code == 2
        assert "there is something that is no file" in said.err
    assert Path(os.devnull).is_char_device()


@pytest.mark.usefixtures("given")
def test_a_certificate_is_written_whole_and_shrinking_leaves_it(verifier: Verifier, tmp_path: Path) -> None:
    said = verifier("refute", "p.json", "--out", "new/c.json", "--json")
    assert (said.code, said.document["certificate"]) == (0, "new/c.json")
    assert {path.name for path in (tmp_path / "new").iterdir()} == {"c.json"}, "nothing half written is left"
    text = (tmp_path / "new/c.json").read_bytes()
    assert verifier("shrink", "new/c.json", "--out", "new/c.json").code == 2
    assert (tmp_path / "new/c.json").read_bytes() == text


def test_a_place_that_cannot_be_written_is_one_sentence(verifier: Verifier, given: Path) -> None:
    said = verifier("refute", "p.json", "--out", f"{given.name}/c.json")  # a file is no folder
    assert said.code == 3
    assert len(said.err.splitlines()) == 1
    assert "the certificate cannot be written" in said.err


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"quote": "x\ud800y"}, 'quote: "x\\ud800y" is no text: half a character is missing'),
        ({"symbols": {"K": ""}}, "symbols.K: the text is empty"),
        ({"paper": {"title": ""}}, "paper.title: the text is empty"),
    ],
)
def test_a_text_that_no_certificate_may_hold_is_refused_at_the_door(
    verifier: Verifier, given: Path, fields: dict[str, Any], words: str
) -> None:
    given.write_text(json.dumps({**json.loads(given.read_text()), **fields}))
    said = verifier("refute", "p.json")
    assert said.code == 2
    assert words in said.err
    assert len(said.err.splitlines()) == 1


def test_a_first_violation_has_four_fields_and_says_beside_them_what_its_right_side_is(
    verifier: Verifier, given: Path
) -> None:
    found = verifier("refute", given.name, "--json").document
    assert set(found["first_violation"]) == {"t", "component", "lhs", "rhs"}
    assert found["rhs_is"] == "exact"
