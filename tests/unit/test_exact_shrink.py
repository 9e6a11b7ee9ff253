"""A smaller start keeps the answer and the checker's word."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.oracles.configurations import problem, tokens
from tests.unit.test_exact_certificates import verdict
from tests.unit.test_exact_hardmax import agrees_with_brute_force, seeded
from verifier.exact import Shrunk, parse_problem, read_problem, shrink
from verifier.model.answers import ExactAnswer
from verifier.model.errors import BadInput


@pytest.mark.parametrize("seed", range(2))
def test_six_tokens_in_three_dimensions_become_three_at_most_on_a_line(seed: int, tmp_path: Path) -> None:
    small = shrink(parse_problem(problem(tokens(seeded(seed), 6, 3))))
    some = [[Fraction(x) for x in token] for token in small.document["state"]["tokens"]]
    assert len(some) <= 3
    assert {len(token) for token in some} == {1}
    assert all(x.denominator == 1 for token in some for x in token)
    assert some == sorted(some, reverse=True)
    assert small.found.answer is ExactAnswer.VIOLATED_FOR_ALL
    assert small.found.certificate is not None
    assert small.found.certificate["problem"] == small.document
    assert verdict(small.found.certificate, tmp_path).startswith("ACCEPTED")
    assert small.found.fails_from is not None
    assert agrees_with_brute_force(small.document, small.found, small.found.fails_from + 5)


def test_what_cannot_be_made_smaller_is_a_complaint() -> None:
    with pytest.raises(BadInput, match="HOLDS_FOR_ALL"):
        shrink(parse_problem(problem([["1"], ["-1"]])))
    document = problem([["1"], ["-1"]])
    document["state"] = {"find": {"numerator": 9, "denominator": 1, "tokens": 3, "dimension": 1}}
    with pytest.raises(BadInput, match="to be found"):
        shrink(parse_problem(document))


PROBLEMS = Path(__file__).parents[2] / "problems"


@cache
def shrunk(name: str) -> Shrunk:
    return shrink(read_problem(PROBLEMS / f"{name}.json"))


def size_of(state: object) -> int:
    """The digits of all numbers."""
    return sum(map(str.isdigit, json.dumps(state)))


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("heavy-ball", marks=pytest.mark.slow),
        pytest.param("powell", marks=pytest.mark.slow),
        "descent-ascent-simultaneous",
        "clipped-descent",
    ],
)
def test_a_map_gets_smaller_numbers_and_keeps_its_answer(name: str, tmp_path: Path) -> None:
    given, small = read_problem(PROBLEMS / f"{name}.json"), shrunk(name)
    certificate = small.found.certificate
    assert certificate is not None
    assert certificate["problem"] == small.document
    assert small.document["system"] == "piecewise-affine"  # the long form
    assert verdict(certificate, tmp_path).startswith("ACCEPTED")
    assert size_of(small.document["state"]) <= size_of(given.document["state"])
    if name in ("heavy-ball", "powell"):
        assert size_of(small.document["state"]) < size_of(given.document["state"])
    if name != "heavy-ball":  # seconds
        assert shrink(parse_problem(small.document)).document == small.document


def test_hypotheses_hold_while_parameters_shrink() -> None:
    small = shrunk("heavy-ball")
    (hypothesis,) = small.document["parameters"]["hypotheses"]
    slopes = [Fraction(x) for x in hypothesis["slopes"]]
    assert Fraction(hypothesis["mu"]) <= min(slopes) <= max(slopes) <= Fraction(hypothesis["L"])
    assert hypothesis["tuning"] == "optimal-for-quadratics"
    assert all(h.holds for h in small.found.hypotheses)


def test_no_term_of_a_method_vanishes() -> None:
    small = shrink(read_problem(PROBLEMS / "descent-ascent-alternating-half.json"))
    assert small.document["parameters"]["hypotheses"][0]["A"] == [["1"]]


def test_a_homogeneous_map_has_a_coprime_start() -> None:
    document = {
        "schema": "verifier/problem/1",
        "system": "linear-iteration",
        "parameters": {"M": [["2", "7"], ["0", "3"]], "c": ["0", "0"]},
        "state": {"z": ["100/7", "-33/5"]},
        "claim": {"name": "bounded"},
    }
    small = shrink(parse_problem(document))
    assert small.document["parameters"]["map"][0][0]["M"] == [["2", "7"], ["0", "3"]]
    assert small.document["state"] == {"z": ["0", "1"]}


def test_an_assignment_gets_zeros_and_smaller_numbers(tmp_path: Path) -> None:
    document = {
        "schema": "verifier/problem/1",
        "system": "expressions",
        "parameters": {
            "variables": {"A": {"matrix": [2, 2]}, "x": {"vector": 3}, "y": "rational"},
            "hypotheses": ["0 < y", "psd(A)"],
            "conclusion": "sum(i in 0..2: x[i]) <= y",
        },
        "state": {"assignment": {"A": [["7", "1/3"], ["1/3", "5"]], "x": ["17/3", "-2", "40"], "y": "22/7"}},
        "claim": "conclusion",
    }
    small = shrink(parse_problem(document))
    found = small.document["state"]["assignment"]
    assert found["A"] == [["0", "0"], ["0", "0"]]
    assert found["y"] == "1"
    assert sum(Fraction(x) for x in found["x"]) == 2
    assert found["x"].count("0") == 2
    assert small.found.certificate is not None
    assert verdict(small.found.certificate, tmp_path).startswith("ACCEPTED")


def test_a_time_limit_keeps_what_was_found() -> None:
    given = parse_problem(problem(tokens(seeded(0), 6, 3)))
    small = shrink(given, time_limit=0.3)
    assert small.found.certificate is not None


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 22))
def test_twenty_random_clouds_become_three_tokens_at_most_on_a_line(seed: int, tmp_path: Path) -> None:
    small = shrink(parse_problem(problem(tokens(seeded(seed), 6, 3))))
    some = small.document["state"]["tokens"]
    assert len(some) <= 3
    assert {len(token) for token in some} == {1}
    assert small.found.certificate is not None
    assert verdict(small.found.certificate, tmp_path).startswith("ACCEPTED")


def test_the_command_shrinks_a_map(tmp_path: Path) -> None:
    found = shrink(read_problem(PROBLEMS / "descent-ascent-simultaneous.json")).found
    path = tmp_path / "given.json"
    path.write_text(json.dumps(found.certificate))
    command = [sys.executable, "-m", "verifier", "shrink", str(path), "--json", "--out", str(tmp_path / "small.json")]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert run.returncode == 0, run.stderr
    said = json.loads(run.stdout)
    assert said["start"] == {"z": ["1", "0"]}
    assert said["tokens"] is None


def two_sided(start: str, kink: str = "1") -> dict[str, Any]:
    """x ← x/2 + 4 from the kink on and x/2 below it: from 8 on it goes up to 8, below the kink down to 0."""
    branches = [
        {"guards": [{"a": ["1"], "b": str(-Fraction(kink)), "relation": ">="}], "M": [["1/2"]], "c": ["4"]},
        {"guards": [{"a": ["-1"], "b": kink, "relation": ">"}], "M": [["1/2"]], "c": ["0"]},
    ]
    return {
        "schema": "verifier/problem/1",
        "system": "piecewise-affine",
        "parameters": {"map": [branches], "hypotheses": []},
        "state": {"z": [start]},
        "claim": {"name": "converges-to", "point": ["5"]},
    }


def touches(document: dict[str, Any], steps: int = 400) -> bool:
    """By plain stepping: whether some state lies on the kink."""
    x, kink = Fraction(document["state"]["z"][0]), Fraction(document["parameters"]["map"][0][1]["guards"][0]["b"])
    for _ in range(steps):
        if x == kink:
            return True
        x = x / 2 + (4 if x >= kink else 0)
    return False


@pytest.mark.parametrize(
    ("document", "meets"),
    [
        (two_sided("37/5"), False),
        (two_sided("11/9", kink="1"), False),
        (two_sided("-17/3"), False),
        (two_sided("1"), True),
        (two_sided("50/3", kink="9"), False),
    ],
)
def test_no_orbit_is_moved_onto_a_boundary(document: dict[str, Any], *, meets: bool) -> None:
    assert touches(document) == meets
    small = shrink(parse_problem(document))
    assert meets or not touches(small.document)
    assert Fraction(small.document["state"]["z"][0]) != 5


def test_a_kink_that_the_smallest_start_would_hit_is_avoided() -> None:
    """0 is the smallest of all numbers, and here the kink."""
    small = shrink(parse_problem(two_sided("7/3", kink="0")))
    assert small.document["state"]["z"] != ["0"]
    assert small.document["state"]["z"] == ["1"]


def test_the_claimed_point_is_no_start() -> None:
    document = {
        "schema": "verifier/problem/1",
        "system": "linear-iteration",
        "parameters": {"M": [["1/2"]], "c": ["3"]},
        "state": {"z": ["9/2"]},
        "claim": {"name": "converges-to", "point": ["0"]},
    }
    assert shrink(parse_problem(document)).document["state"] == {"z": ["1"]}


def changed(B: Any, some: list[list[str]], *, keep: bool = False) -> Shrunk:
    document = problem(some)
    document["parameters"]["B"] = B
    return shrink(parse_problem(document), keep_parameters=keep)


def test_what_became_of_the_matrix_is_said() -> None:
    B = [["3", "0", "0"], ["0", "2", "1"], ["0", "1", "2"]]
    some = [["0", "4", "0"], ["1", "-1", "0"], ["-1", "-1", "0"]]
    small = changed(B, some)
    assert small.changes == (
        "tokens and B were restricted to coordinate 1 of 0 to 2",
        "B was replaced by the identity",
        "1 of 3 tokens was left out",
    )
    assert small.document["parameters"]["B"] == [["1"]]
    kept = changed(B, some, keep=True)
    assert kept.document["parameters"]["B"] == B
    assert not any("B " in change for change in kept.changes)
    only = changed([["1", "0"], ["0", "1"]], [["4", "0"], ["-1", "0"]])
    assert only.changes == ("tokens and B were restricted to coordinate 0 of 0 to 1",)


def test_parameters_that_changed_are_said_or_kept() -> None:
    small = shrunk("heavy-ball")
    (change,) = small.changes
    slopes = small.document["parameters"]["hypotheses"][0]["slopes"]
    assert change == f"the method's parameters were changed: slopes from [25, 1, 25] to [{', '.join(slopes)}]"
    given = read_problem(PROBLEMS / "descent-ascent-alternating-half.json")
    kept = shrink(given, keep_parameters=True)
    assert kept.changes == ()
    assert kept.document["parameters"] == given.document["parameters"]
