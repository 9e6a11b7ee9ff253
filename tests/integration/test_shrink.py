"""`verifier shrink` as typed."""

from __future__ import annotations

import json
from pathlib import Path

from tests.integration.conftest import Verifier
from tests.oracles.configurations import problem
from verifier.exact import parse_problem, refute


def test_the_command_says_what_changed(verifier: Verifier, tmp_path: Path) -> None:
    document = problem([["4", "0"], ["-1", "0"]])
    document["parameters"]["B"] = [["2", "0"], ["0", "1"]]
    (tmp_path / "c.json").write_text(json.dumps(refute(parse_problem(document)).certificate))
    said = verifier("shrink", "c.json")
    assert said.code == 0
    assert "restricted to coordinate 0 of 0 to 1" in said.out
    assert "B was replaced by the identity" in said.out
    assert "The smallest start found: 2 tokens of dimension 1: (3), (-1)." in said.out
    kept = verifier("shrink", "c.json", "--keep-parameters", "--json").document
    assert kept["changes"] == []
    assert [len(token) for token in kept["tokens"]] == [2, 2]
