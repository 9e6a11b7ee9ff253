"""The stand-alone checker: the page's examples are accepted, and no change of meaning survives."""

from __future__ import annotations

import ast
import copy
import json
import random
import re
import resource
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from verifier.exact import checker

ROOT = Path(__file__).resolve().parents[2]
CHECKER = ROOT / "verifier" / "exact" / "checker.py"
PAGE = (ROOT / "docs" / "certificates.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
TAIL = ". Not checked here: that this is the paper's theorem; compare the quoted text."
START = "the claim above fails for this start"
CONCLUSION = "the hypotheses above hold and the conclusion fails at this assignment"
NAMES = {
    "violation": (0, "the inequality above fails at t = 224"),
    "freeze": (1, "the inequality above fails at every t >= 224"),
    "separation": (2, "the inequality above fails at every t >= 225"),
    "stays-below": (3, "the inequality above fails at t = 4"),
    "ellipsoid": (4, START),
    "ray": (5, START),
    "points": (6, START),
    "level": (7, START),
    "box": (8, START),
    "admm": (9, START),
    "descent": (10, START),
    "witness": (11, CONCLUSION),
    "ball": (12, CONCLUSION),
}
DROP = object()


def example(name: str) -> Any:
    return json.loads(BLOCKS[NAMES[name][0]])


def change(value: Any, path: str, new: Any) -> Any:
    """A copy with the entry at a dotted path replaced, or dropped."""
    out = copy.deepcopy(value)
    *way, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    place = out
    for step in way:
        place = place[step]
    if new is DROP:
        del place[last]
    else:
        place[last] = new
    return out


def check(value: Any) -> checker.Result:
    return checker.check(json.dumps(value).encode())


def word(value: Any) -> str:
    result = check(value)
    return f"{result.word} {result.code}".strip()


def test_the_page_has_these_examples() -> None:
    assert len(BLOCKS) == len(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_examples_are_accepted(name: str) -> None:
    index, words = NAMES[name]
    result = checker.check(BLOCKS[index].encode())
    assert result.last_line == f"ACCEPTED: {words}{TAIL}"
    assert result.exit_code == 0
    assert all(" " <= char <= "~" for line in result.lines for char in line)
    heads = [line.split(":")[0] for line in result.lines if not line.startswith(" ")]
    assert heads == [part for part in checker.SECTIONS if part in heads]


P = "problem.parameters."
MUTATIONS: list[tuple[str, str, Any, str]] = [
    # violation
    ("violation", "weights", ["1/4", "3/4"], "REJECTED hypothesis"),
    ("violation", "weights", ["-1/5", "6/5"], "REJECTED hypothesis"),
    ("violation", "weights", ["1/5"], "MALFORMED shape"),
    ("violation", "weights", DROP, "MALFORMED schema"),
    ("violation", "lambda_bound", "9/10", "REJECTED side"),
    ("violation", "lambda_bound", "2", "REJECTED side"),
    ("violation", "branches.0.lhs", "11498881/51714451", "REJECTED side"),
    ("violation", "branches.0.rhs", "2/10", "MALFORMED number"),
    ("violation", "branches.0.rhs", "1/5", "REJECTED side"),
    ("violation", "branches.0.component", 1, "REJECTED first"),
    ("violation", "branches.0.component", 2, "MALFORMED shape"),
    ("violation", "branches.0.t", 223, "REJECTED selection"),
    ("violation", "branches.0.t", "224", "MALFORMED schema"),
    ("violation", "branches.0.t", True, "MALFORMED schema"),
    ("violation", "branches.0.t", 224.0, "MALFORMED number"),
    ("violation", "branches.0.selections.0.targets", [0, 1], "REJECTED selection"),
    ("violation", "branches.0.selections.1.targets", [1, 0], "MALFORMED shape"),
    ("violation", "branches.0.selections.1.targets", [0, 0], "REJECTED selection"),
    ("violation", "branches.0.selections.1.targets", [1], "MALFORMED shape"),
    ("violation", "branches.0.selections.1.steps", 0, "MALFORMED shape"),
    ("violation", "branches.0.selections.1.steps", 10**15, "MALFORMED too-large"),
    ("violation", "branches.0.selections.1.steps", 10**15 + 1, "MALFORMED too-large"),
    ("violation", "branches", [], "MALFORMED shape"),
    ("violation", P + "step", "1/(t+2)", "REJECTED hypothesis"),
    ("violation", P + "step", "1/2", "REJECTED hypothesis"),
    ("violation", P + "step", "2/(t+3)", "MALFORMED number"),
    ("violation", P + "B", [["-1"]], "REJECTED hypothesis"),
    ("violation", P + "B", [[["1"]], [["2"]]], "REJECTED hypothesis"),
    ("violation", P + "B", [["1", "0"]], "MALFORMED shape"),
    ("violation", P + "B", [["1" * 101]], "MALFORMED too-large"),
    ("violation", "problem.state.tokens", [["4"], ["-2"]], "REJECTED hypothesis"),
    ("violation", "problem.state", {"find": {"numerator": 3, "denominator": 2}}, "MALFORMED schema"),
    ("violation", "problem.ties", DROP, "MALFORMED schema"),
    ("violation", "problem.claim", "energy", "MALFORMED schema"),
    ("violation", "problem.schema", "verifier/problem/2", "MALFORMED schema"),
    ("violation", "kind", "invariant", "MALFORMED schema"),
    ("violation", "kind", "for-all", "MALFORMED schema"),
    ("violation", "extra", 1, "MALFORMED schema"),
    # freeze
    ("freeze", "branches.0.fails_from", 223, "REJECTED fails-from"),
    ("freeze", "branches.0.fails_from", 225, "REJECTED fails-from"),
    ("freeze", "fails_from", 225, "REJECTED fails-from"),
    ("freeze", "branches.0.fails_from_by_component", [223, 225], "REJECTED fails-from"),
    ("freeze", "branches.0.fails_from_by_component", [224, 224], "REJECTED fails-from"),
    ("freeze", "branches.0.fails_from_by_component", [224, 226], "REJECTED fails-from"),
    ("freeze", "branches.0.fails_from_by_component", [10**15, 225], "REJECTED fails-from"),
    ("freeze", "fails_from_by_component", [224, 226], "REJECTED fails-from"),
    ("freeze", "fails_from_by_component", [224, None], "MALFORMED schema"),
    ("freeze", "branches.0.freeze.target", 0, "REJECTED freeze"),
    ("freeze", "branches.0.freeze.target", 2, "MALFORMED shape"),
    ("freeze", "branches.0.freeze.step", 3, "REJECTED freeze"),
    ("freeze", "branches.0.first", DROP, "MALFORMED schema"),
    ("freeze", "branches.0.first.t", 225, "REJECTED first"),
    ("freeze", "branches.0.first.t", 223, "REJECTED inequality"),
    ("freeze", "branches.0.first.component", 1, "REJECTED first"),
    ("freeze", "branches.0.first.rhs", "3/9", "MALFORMED number"),
    ("freeze", "branches.0.selections.0.steps", 1, "REJECTED freeze"),
    ("freeze", P + "B", [[["1"]], [["1"]], [["1"]], [["1/2"]]], "REJECTED freeze"),
    # separation
    ("separation", "branches.0.separation.delta", "1/2", "REJECTED fails-from"),
    ("separation", "branches.0.separation.delta", "7/10", "REJECTED separation"),
    ("separation", "branches.0.separation.delta", "0", "REJECTED separation"),
    ("separation", "branches.0.separation.u", ["-1"], "REJECTED separation"),
    ("separation", "branches.0.separation.u", ["1", "0"], "MALFORMED shape"),
    ("separation", "branches.0.separation.step", 1, "REJECTED separation"),
    ("separation", "branches.0.fails_from", 224, "REJECTED fails-from"),
    ("separation", "branches.0.fails_from_by_component", [224, 225], "REJECTED fails-from"),
    ("separation", "branches.0.freeze", {"step": 2, "target": 1}, "MALFORMED schema"),
    # stays-below
    ("stays-below", "t", 5, "REJECTED first"),
    ("stays-below", "t", 3, "REJECTED side"),
    ("stays-below", "t", 2002, "MALFORMED too-large"),
    ("stays-below", "lhs", "15", "REJECTED side"),
    ("stays-below", "rhs", "9", "REJECTED side"),
    ("stays-below", "problem.claim.g", "16", "REJECTED side"),
    ("stays-below", "problem.claim", {"name": "bounded"}, "REJECTED claim"),
    ("stays-below", P + "map.0.0.guards", [{"a": ["1"], "b": "-2", "relation": "<"}], "MALFORMED schema"),
    ("stays-below", P + "map.0.0.guards", [{"a": ["-1"], "b": "2", "relation": ">"}], "REJECTED map"),
    ("stays-below", P + "map.0.0.c", ["1"], "REJECTED first"),
    (
        "stays-below",
        P + "hypotheses",
        [{"kind": "inequality", "name": "n", "left": "1", "relation": "<", "right": "1"}],
        "REJECTED hypothesis",
    ),
    (
        "stays-below",
        P + "hypotheses",
        [{"kind": "psd", "name": "n", "matrix": [["1", "2"], ["2", "4"]], "strict": True}],
        "REJECTED hypothesis",
    ),
    ("stays-below", P + "map.0.0.M", [["2", "0"]], "MALFORMED shape"),
    # ellipsoid, heavy ball
    ("ellipsoid", "start", 4, "REJECTED entry"),
    ("ellipsoid", "start", 0, "REJECTED entry"),
    ("ellipsoid", "cycle", [0, 2, 0], "REJECTED invariance"),
    ("ellipsoid", "cycle", [2, 0], "MALFORMED shape"),
    ("ellipsoid", "cycle", [2, 0, 3], "MALFORMED shape"),
    ("ellipsoid", "shape.R", "1/1000", "REJECTED entry"),
    ("ellipsoid", "shape.R", "1000", "REJECTED invariance"),
    ("ellipsoid", "shape.R", "-1", "REJECTED invariance"),
    ("ellipsoid", "shape.P", [["2106", "864"], ["863", "541"]], "REJECTED invariance"),
    ("ellipsoid", "shape.P", [["1", "0"], ["0", "1"]], "REJECTED invariance"),
    ("ellipsoid", "shape.centres.1.0", "793/1225", "REJECTED invariance"),
    ("ellipsoid", "shape.centres", [["0", "0"]], "MALFORMED shape"),
    ("ellipsoid", "excluded.g", "0", "REJECTED excluded"),
    ("ellipsoid", "excluded.g", "21/10", "REJECTED excluded"),
    ("ellipsoid", "excluded.h", ["-1", "0"], "REJECTED excluded"),
    ("ellipsoid", "excluded.phase", 1, "REJECTED excluded"),
    ("ellipsoid", "excluded.phase", 3, "MALFORMED shape"),
    ("ellipsoid", "excluded.other_phase", 1, "MALFORMED shape"),
    ("ellipsoid", "problem.claim.point", ["1", "1"], "REJECTED hypothesis"),
    ("ellipsoid", "problem.claim", {"name": "limit-points-stationary"}, "REJECTED claim"),
    ("ellipsoid", P + "hypotheses.0.alpha", "1/8", "REJECTED hypothesis"),
    ("ellipsoid", P + "hypotheses.0.mu", "2", "REJECTED hypothesis"),
    ("ellipsoid", P + "hypotheses.0.L", "24", "REJECTED hypothesis"),
    ("ellipsoid", P + "hypotheses.0.value", "24", "REJECTED hypothesis"),
    ("ellipsoid", P + "hypotheses.0.slopes", ["25", "1"], "MALFORMED shape"),
    ("ellipsoid", P + "map.0.0.guards.0.relation", ">=", "REJECTED hypothesis"),
    ("ellipsoid", P + "map.0.0.M.0.0", "4/3", "REJECTED hypothesis"),
    # ray, coordinate minimisation
    ("ray", "shape.lambda", "1/32", "REJECTED invariance"),
    ("ray", "shape.lambda", "0", "REJECTED invariance"),
    ("ray", "shape.epsilon", "1/99", "REJECTED entry"),
    ("ray", "shape.epsilon", "0", "REJECTED entry"),
    ("ray", "shape.u", ["0", "0", "0"], "REJECTED invariance"),
    ("ray", "shape.c", ["1", "1", "-1"], "REJECTED invariance"),
    ("ray", "cycle", [1, 0, 1, 0, 1, 0], "REJECTED invariance"),
    ("ray", "cycle", [0, 1, 0], "REJECTED invariance"),
    ("ray", P + "hypotheses", [], "REJECTED claim"),
    ("ray", P + "hypotheses.0.A.0.0", "1", "REJECTED hypothesis"),
    ("ray", P + "map.0.0.guards.0.relation", ">=", "REJECTED hypothesis"),
    ("ray", "problem.state.z", ["-1", "1", "-1"], "REJECTED entry"),
    ("ray", "problem.claim", {"name": "converges"}, "MALFORMED schema"),
    # points
    ("points", "shape.points.3", ["-1", "1"], "REJECTED invariance"),
    ("points", "start", 1, "REJECTED entry"),
    ("points", "start", 6, "ACCEPTED"),
    ("points", "excluded", DROP, "MALFORMED schema"),
    ("points", "cycle", [0] * 65, "MALFORMED too-large"),
    ("points", P + "hypotheses.0.eta", "1/2", "REJECTED hypothesis"),
    ("points", P + "hypotheses.0.order", "simultaneous", "REJECTED hypothesis"),
    ("points", "problem.claim.point", ["1", "1"], "REJECTED hypothesis"),
    ("points", "problem.claim", {"name": "bounded"}, "REJECTED claim"),
    # level
    ("level", "shape.Q", [["1", "1/4"], ["1/4", "1"]], "REJECTED invariance"),
    ("level", "shape.Q", [["1", "-1/2"], ["0", "1"]], "REJECTED invariance"),
    ("level", "shape.Q", [["0", "0"], ["0", "0"]], "REJECTED excluded"),
    ("level", "shape.centre", ["1", "0"], "REJECTED invariance"),
    ("level", "problem.state.z", ["0", "0"], "REJECTED excluded"),
    ("level", "cycle", [0], "MALFORMED schema"),
    ("level", "problem.claim", {"name": "converges"}, "REJECTED claim"),
    # box
    ("box", "shape.low", [["7/4"]], "REJECTED entry"),
    ("box", "shape.low", [["4"]], "REJECTED invariance"),
    ("box", "shape.high", [["3/2"]], "REJECTED invariance"),
    ("box", "excluded.g", "3/2", "REJECTED excluded"),
    ("box", "problem.claim.point", ["1"], "REJECTED excluded"),
    ("box", "excluded.h", [1], "MALFORMED schema"),
    # spectral
    ("admm", "squarings", 5, "REJECTED roots"),
    ("admm", "squarings", 10**15, "MALFORMED too-large"),
    ("admm", "polynomial.0", "1", "REJECTED polynomial"),
    ("admm", "polynomial", ["0", "280", "-1120", "1722", "-1204", "324"], "MALFORMED shape"),
    ("admm", "polynomial", ["0", "-140", "560", "-861", "602", "-162"], "MALFORMED shape"),
    ("admm", "polynomial", ["162"], "MALFORMED shape"),
    ("admm", "j", 6, "MALFORMED shape"),
    ("admm", "j", 0, "MALFORMED shape"),
    ("admm", "of", "difference", "ACCEPTED"),  # 1 is no root, so M - I keeps the Krylov space
    ("admm", "problem.claim", {"name": "converges"}, "REJECTED claim"),
    ("admm", "problem.claim.point", ["1", "0", "0", "0", "0"], "REJECTED claim"),
    ("admm", P + "hypotheses.0.beta", "2", "REJECTED hypothesis"),
    ("admm", P + "map.0.0.c.0", "1", "REJECTED claim"),
    ("admm", P + "map.0.0.M.4.4", "45/81", "MALFORMED number"),
    ("admm", P + "map.0.0.M.4.4", "43/81", "REJECTED hypothesis"),
    ("descent", "j", 1, "REJECTED roots"),
    ("descent", "relation", ">=", "REJECTED claim"),
    ("descent", "polynomial.0", "3", "REJECTED polynomial"),
    ("descent", "problem.state.z", ["0", "0"], "REJECTED polynomial"),
    ("descent", P + "map.0.0.M.0.1", "1", "REJECTED hypothesis"),
    # witness
    ("witness", "problem.state.assignment.x", ["1", "1"], "REJECTED inequality"),
    ("witness", "problem.state.assignment.x", ["-1", "0"], "REJECTED hypothesis"),
    ("witness", "problem.state.assignment.x", ["1"], "MALFORMED shape"),
    ("witness", "problem.state.assignment.A.0.1", "-2", "REJECTED hypothesis"),
    ("witness", "problem.state.assignment.y", DROP, "MALFORMED schema"),
    ("witness", "problem.state.assignment.z", "1", "MALFORMED schema"),
    ("witness", P + "conclusion", "0 <= sum(i in 0..2, j in 0..1: A[i,j]*x[j])", "REJECTED domain"),
    ("witness", P + "conclusion", "0 <= x[1/2]", "REJECTED domain"),
    ("witness", P + "conclusion", "0 <= 1/(x[0] - 1)", "REJECTED domain"),
    ("witness", P + "conclusion", "0 <= sqrt(x[0])", "MALFORMED expression"),
    ("witness", P + "conclusion", "0 <= x", "MALFORMED expression"),
    ("witness", P + "conclusion", "0 <= 2^3^2", "MALFORMED expression"),
    ("witness", P + "conclusion", "0 <= 2^65", "MALFORMED expression"),
    ("witness", P + "conclusion", "0 <= 007", "MALFORMED expression"),
    ("witness", P + "conclusion", "0 <= sum(x in 0..1: 1)", "MALFORMED expression"),
    ("witness", P + "conclusion", "0 <= " + "(" * 33 + "1" + ")" * 33, "MALFORMED too-large"),
    ("witness", P + "conclusion", "0 <= sum(i in 0..10^9: 1)", "MALFORMED too-large"),
    ("witness", P + "conclusion", "0 <= " + "+".join(["1"] * 1001), "MALFORMED too-large"),
    ("witness", P + "conclusion", "psd(i, j in 0..1: 0 - (i + j)^2)", "ACCEPTED"),
    ("witness", P + "conclusion", "psd(i, j in 0..32: 1)", "MALFORMED too-large"),
    ("witness", P + "conclusion", "psd(i, j in 1..0: 1)", "REJECTED domain"),
    ("witness", P + "conclusion", "forall(i in 0..1, j in i..1: A[i,j]^2 != 1)", "ACCEPTED"),
    ("witness", P + "conclusion", "forall(i in 1..0: 1 < 0)", "REJECTED inequality"),
    ("witness", P + "conclusion", "if(x[0] < 2, -2^2, 1/0) = 4", "ACCEPTED"),
    ("witness", P + "conclusion", "exec(1) < 0", "MALFORMED expression"),
    ("witness", P + "conclusion", "0 <= 1\n", "MALFORMED expression"),
    ("witness", "precision", 64, "MALFORMED schema"),
    # ball
    ("ball", "precision", 31, "MALFORMED shape"),
    ("ball", "precision", 1001, "MALFORMED shape"),
    ("ball", "precision", DROP, "MALFORMED schema"),
    ("ball", "problem.state.assignment.x", "0", "REJECTED hypothesis"),
    ("ball", "problem.state.assignment.x", "3/2", "REJECTED hypothesis"),
    ("ball", "problem.state.assignment.x", "1/1000", "REJECTED inequality"),
    ("ball", P + "conclusion", "exp(x) = 2", "MALFORMED expression"),
    ("ball", P + "conclusion", "exp(1001*x) < 2", "MALFORMED too-large"),
    ("ball", P + "conclusion", "log(x - 1) < 2", "REJECTED domain"),
    ("ball", P + "conclusion", "sqrt(0 - x) < 2", "REJECTED domain"),
    ("ball", P + "conclusion", "1/(sqrt(2)^2 - 2) < 2", "REJECTED not-separated"),
    ("ball", P + "conclusion", "sqrt(2)^2 <= 2", "REJECTED not-separated"),
    ("ball", P + "conclusion", "sqrt(4) < 2", "ACCEPTED"),
    ("ball", P + "conclusion", "log(exp(x)) < 1 - 1/2^50", "ACCEPTED"),
    ("ball", P + "conclusion", "exp(-20*x) <= 0", "ACCEPTED"),
    ("ball", P + "conclusion", "abs(log(1/2)) + log(2) < 1386294361119890/10^15", "ACCEPTED"),
]


@pytest.mark.parametrize(("name", "path", "new", "expected"), MUTATIONS)
def test_a_changed_meaning_changes_the_word(name: str, path: str, new: Any, expected: str) -> None:
    assert word(change(example(name), path, new)) == expected


def test_number_forms() -> None:
    for text in ("+1", "01", "-0", "1/1", "2/4", "1/0", "1.0", " 1", "1\n", "\u0661", "1/-2", "", "1e3", "0/2", "0x1"):
        assert word(change(example("stays-below"), "lhs", text)) == "MALFORMED number", text
    assert word(change(example("stays-below"), "lhs", "9" * 4001)) == "MALFORMED too-large"
    assert word(change(example("stays-below"), "lhs", "9" * 4000)) == "REJECTED side"


RAW = BLOCKS[3].encode()


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "json"),
        (RAW[:-10], "json"),
        (RAW + b"{}", "json"),
        (b"\xef\xbb\xbf" + RAW, "encoding"),
        (RAW.replace(b"stays", b"st\xffys"), "encoding"),
        (RAW.replace(b'"t": 4,', b'"t": 4, "t": 4,'), "json"),
        (RAW.replace(b'"t": 4,', b'"t": 4, "\\u0074": 5,'), "json"),
        (RAW.replace(b'"t": 4,', b'"t": 4.0,'), "number"),
        (RAW.replace(b'"t": 4,', b'"t": 4e0,'), "number"),
        (RAW.replace(b'"t": 4,', b'"t": -0,'), "number"),
        (RAW.replace(b'"t": 4,', b'"t": NaN,'), "json"),
        (RAW.replace(b'"t": 4,', b'"t": -Infinity,'), "json"),
        (RAW.replace(b'"t": 4,', b'"t": ' + b"9" * 100_000 + b","), "too-large"),
        (RAW.replace(b'"t": 4,', b'"t": 04,'), "json"),
        (RAW.replace(b'"16"', b'"' + b"9" * 900_000 + b'"'), "too-large"),
        (b"[" * 33 + b"]" * 33, "too-large"),
        (b"[" * 1_000_000, "too-large"),
        (b'{"a":' * 200_000, "too-large"),
        (b" " * (1 << 20) + b"1", "too-large"),
        (b"[]", "schema"),
        (b"[" + b"[],[]," * 170_000 + b"[]]", "schema"),
        (b"null", "schema"),
        (b"{}", "schema"),
        (b'"' + b"\\" * 99 + b'"', "json"),
    ],
)
def test_bytes_that_are_no_certificate(data: bytes, code: str) -> None:
    result = checker.check(data)
    assert (result.word, result.code, result.lines) == ("MALFORMED", code, [])
    assert result.exit_code == 2
    assert result.last_line.isprintable()
    assert len(result.last_line) < 200


def test_brackets_in_strings_are_not_nesting() -> None:
    quoted = change(example("stays-below"), "problem.quote", '\\"[[' * 40)
    result = check(quoted)
    assert result.word == "ACCEPTED"
    assert result.lines[0] == "Quoted: " + '\\"[[' * 40


def test_a_strangers_text_is_shown_in_ascii() -> None:
    source = {"title": "\u001b[2J é\u202e", "arxiv": "1\n2", "openreview": "\U0001f600"}
    value = change(example("stays-below"), "problem.paper", source)
    value["problem"]["symbols"] = {"λ\r": "ACCEPTED:\nACCEPTED: x"}
    result = check(value)
    assert result.lines[0] == r"Paper: title: \u001b[2J \u00e9\u202e, openreview: \ud83d\ude00, arxiv: 1\u000a2"
    assert r'Symbols: "\u03bb\u000d": ACCEPTED:\u000aACCEPTED: x' in result.lines
    assert result.text.isascii()
    assert word(change(value, "problem.paper", {})) == "MALFORMED schema"


WORDS = ("ACCEPTED", "REJECTED", "MALFORMED")


def with_words(name: str) -> Any:
    """An example in which every text that a stranger chooses begins with a word of the last line."""
    value = example(name)
    value["problem"].update(
        symbols={word: word for word in (*WORDS, 'ACCEPTED"', "ACCEPTED: x")}, locator=WORDS[0], quote=WORDS[0]
    )
    parameters = value["problem"]["parameters"]
    if "hypotheses" in parameters and name != "witness":
        parameters["hypotheses"] += [
            {"kind": "psd", "name": "ACCEPTED", "matrix": [["1"]], "strict": True},
            {"kind": "inequality", "name": "REJECTED: x", "left": "1", "relation": "<", "right": "2"},
        ]
    if name == "witness":
        parameters["variables"].update(ACCEPTED="rational", REJECTED={"vector": 1})
        value["problem"]["state"]["assignment"].update(ACCEPTED="1", REJECTED=["1"])
        parameters["hypotheses"] += ["ACCEPTED = 1", "REJECTED[0] = 1"]
    return value


@pytest.mark.parametrize("name", ["violation", "stays-below", "ellipsoid", "witness"])
def test_only_the_last_line_begins_with_its_word(name: str) -> None:
    result = check(with_words(name))
    assert result.word == "ACCEPTED"
    assert any("ACCEPTED" in line for line in result.lines)
    assert not [line for line in result.lines if line.lstrip().startswith(WORDS)]


HYPOTHESIS_CHANGES: list[tuple[str, dict[str, Any], list[str]]] = [
    ("ellipsoid", {"mu": "1/2", "L": "30", "tuning": "none"}, ["mu = 1/2, L = 30", "alpha = 1/9", "no tuning"]),
    ("ellipsoid", {}, ["slopes (25, 1, 25)", "breaks (1, 2)", "f'(1) = 25", "beta = 4/9", "tuned optimally"]),
    ("points", {}, ["A = [("]),
    ("admm", {}, ["A = [(1, 1, 1); (1, 1, 2); (1, 2, 2)], beta = 1"]),
    ("descent", {}, ["A = [(1)], eta = 1, simultaneous"]),
]


@pytest.mark.parametrize(("name", "new", "shown"), HYPOTHESIS_CHANGES)
def test_the_data_of_a_deriving_hypothesis_are_shown(name: str, new: dict[str, Any], shown: list[str]) -> None:
    value = example(name)
    value["problem"]["parameters"]["hypotheses"][0].update(new)
    result = check(value)
    assert result.word == "ACCEPTED"
    kind = value["problem"]["parameters"]["hypotheses"][0]["kind"]
    (line,) = [line for line in result.lines if line.lstrip().startswith(f"{kind}: ")]
    assert [part for part in shown if part not in line] == []


def test_two_problems_that_differ_in_a_hypothesis_alone_print_differently() -> None:
    value = example("stays-below")
    inequality = {"kind": "inequality", "name": "n", "left": "1/3", "relation": "<", "right": "2/3"}
    value["problem"]["parameters"]["hypotheses"] = [inequality]
    result = check(value)
    assert '  "n": the comparison left < right holds: left 1/3 = 0.333333333333..., right 2/3 = 0.666666666666...' in (
        result.lines
    )


def test_a_missing_quote_is_said() -> None:
    assert "Quoted: none given" in check(example("violation")).lines
    assert "Quoted: x" in check(change(example("violation"), "problem.quote", "x")).lines


@pytest.mark.parametrize(("name", "words"), [("admm", "the powers 2^6 of its roots"), ("descent", "of its roots")])
def test_root_squaring_is_explained(name: str, words: str) -> None:
    text = check(example(name)).text
    assert words in text
    assert "if no root had a modulus above 1" in text
    assert "polynomial of the start z_0 under M" in text


def loses_only_a_hypothesis(path: str, new: Any) -> bool:
    """A problem with fewer hypotheses is another problem, refuted as well."""
    *_, parent, last = ["", *path.split(".")]
    return (new is DROP and parent == "hypotheses") or (new == [] and last == "hypotheses")


@pytest.mark.slow
def test_every_dropped_or_retyped_field_is_noticed() -> None:
    """Any field left out, and any leaf of another type, is never accepted."""

    def paths(value: Any, here: str = "") -> list[str]:
        keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else []
        out = []
        for key in keys:
            out += [f"{here}{key}", *paths(value[key], f"{here}{key}.")]
        return out

    for name in NAMES:
        value = example(name)
        for path in paths(value):
            for new in (DROP, None, {}, [], 0.5, "x"):
                changed = change(value, path, new)
                if changed != value and not loses_only_a_hypothesis(path, new):
                    assert check(changed).word != "ACCEPTED", (name, path, new)


def hardmax(kind: str, step: str, tokens: list[str], ties: str) -> Any:
    return {
        "schema": "verifier/certificate/1",
        "kind": kind,
        "problem": {
            "schema": "verifier/problem/1",
            "system": "hardmax-frank-wolfe",
            "parameters": {"B": [["1"]], "step": step},
            "state": {"tokens": [[token] for token in tokens]},
            "claim": "energy-bound-any-step",
            "ties": ties,
        },
        "lambda_bound": "1",
    }


def gamma(step: str, t: int) -> Fraction:
    """The step size, written down a second time."""
    named = {"2/(t+2)": Fraction(2, t + 2), "2/(t+1)": Fraction(2, t + 1), "1/(t+2)": Fraction(1, t + 2)}
    return named[step] if step in named else Fraction(step)


def one_step(x: list[Fraction], targets: list[int], size: Fraction) -> list[Fraction]:
    return [(1 - size) * own + size * x[target] for own, target in zip(x, targets, strict=True)]


def classes(x: list[Fraction]) -> list[list[int]]:
    """Admitted classes for B = 1, by the lowest index of the tokens at each minimising place."""
    out = []
    for own in x:
        low = min(own * other for other in x)
        out.append(sorted({x.index(other) for other in x if own * other == low}))
    return out


def runs_of(sequence: list[list[int]]) -> list[dict[str, Any]]:
    runs: list[dict[str, Any]] = []
    for targets in sequence:
        if runs and runs[-1]["targets"] == targets:
            runs[-1]["steps"] += 1
        else:
            runs.append({"steps": 1, "targets": targets})
    return runs


def tied_violation() -> Any:
    """Tokens 1, -1, 0 and gamma = 1: the first two swap, e = 1/2 > 8/(t+1) first at t = 16.

    The third waits at 0 or joins one of them, at a step of its choice: 35 branches.
    """
    sequences = []

    def grow(x: list[Fraction], done: list[list[int]]) -> None:
        if len(done) == 17:
            sequences.append(done)
            return
        first, second, third = classes(x)
        for target in third:
            targets = [first[0], second[0], target]
            grow(one_step(x, targets, Fraction(1)), [*done, targets])

    grow([Fraction(1), Fraction(-1), Fraction(0)], [])
    value = hardmax("violation", "1", ["1", "-1", "0"], "any-selection")
    value["weights"] = ["1/2", "1/2", "0"]
    value["branches"] = [
        {"selections": runs_of(sequence), "t": 16, "component": 0, "lhs": "1/2", "rhs": "8/17"}
        for sequence in sorted(sequences)
    ]
    return value


def test_ties_must_be_covered_by_branches() -> None:
    value = tied_violation()
    branches = value["branches"]
    assert len(branches) == 35
    result = check(value)
    times = ", ".join(["16"] * 35)
    assert result.last_line == f"ACCEPTED: the inequality above fails for every selection, at t = {times}{TAIL}"
    for wrong in (branches[1:], branches[:-1], branches[::-1], [branches[0], *branches], branches[:20] + branches[21:]):
        assert word({**value, "branches": wrong}) == "REJECTED branches"
    for ties in ("lowest-index", "highest-index"):
        assert word(change(value, "problem.ties", ties)) == "REJECTED selection"
    rule = {"lowest-index": 0, "highest-index": -1}
    for ties, at in rule.items():
        only = change(value, "problem.ties", ties)
        sequence, x = [], [Fraction(1), Fraction(-1), Fraction(0)]
        for _ in range(17):
            sequence.append([names[at] for names in classes(x)])
            x = one_step(x, sequence[-1], Fraction(1))
        only["branches"] = [{**branches[0], "selections": runs_of(sequence)}]
        assert word(only) == "ACCEPTED"
        assert word({**only, "branches": only["branches"] * 2}) == "REJECTED branches"
        longer = [{**only["branches"][0], "selections": runs_of([*sequence, sequence[-1]])}]
        assert word({**only, "branches": longer}) == "REJECTED selection"


def frozen(step: str, tokens: list[str], weights: list[str], times: int) -> Any:
    """A `for-all` certificate found by stepping for a while: B = 1, no ties."""
    start = 1 if step == "2/(t+1)" else 0
    x = [Fraction(token) for token in tokens]
    diameter = (max(x) - min(x)) ** 2
    sequence, energies, failing = [], [], []
    for t in range(start, start + times):
        names = classes(x)
        assert all(len(name) == 1 for name in names)
        sequence.append([name[0] for name in names])
        x = one_step(x, sequence[-1], gamma(step, t))
        energies.append([value * value / 2 for value in x])
        failing.append([e > 2 * diameter / (t + 1) for e in energies[-1]])
    last = sequence[-1]
    freeze = max((k + 1 for k, targets in enumerate(sequence) if targets != last), default=0)
    s = max(start + freeze, start + (0 if step in ("1/(t+2)", gamma_text(step)) else 1))

    def from_on(flags: list[bool]) -> int:
        return start + max((k + 1 for k, flag in enumerate(flags) if not flag), default=0)

    by_component = [from_on([flags[i] for flags in failing]) for i in range(len(x))]
    fails_from = from_on([any(flags) for flags in failing])
    first = next(k for k, flags in enumerate(failing) if any(flags))
    component = failing[first].index(True)
    value = hardmax("for-all", step, tokens, "any-selection")
    value["weights"] = weights
    value["branches"] = [
        {
            "selections": runs_of(sequence[: s - start]),
            "first": {
                "t": start + first,
                "component": component,
                "lhs": str(energies[first][component]),
                "rhs": str(2 * diameter / (start + first + 1)),
            },
            "freeze": {"step": s, "target": last[0]},
            "fails_from": fails_from,
            "fails_from_by_component": by_component,
        }
    ]
    return {**value, "fails_from": fails_from, "fails_from_by_component": by_component}


def gamma_text(step: str) -> str:
    return "" if step in ("2/(t+2)", "2/(t+1)", "1/(t+2)") else step


@pytest.mark.parametrize(
    ("step", "tokens", "weights", "times"),
    [
        ("2/(t+2)", ["4", "-1"], ["1/5", "4/5"], 300),
        ("2/(t+1)", ["4", "-1"], ["1/5", "4/5"], 300),
        ("2/(t+1)", ["3", "-1", "-2"], ["2/5", "0", "3/5"], 600),
        ("2/(t+1)", ["4", "-1", "-1/2"], ["1/5", "4/5", "0"], 300),
        ("1/(t+2)", ["4", "-1"], ["1/5", "4/5"], 600),
        ("1/(t+2)", ["6", "-1", "-1/2"], ["1/7", "6/7", "0"], 600),
        ("1/3", ["4", "-1"], ["1/5", "4/5"], 600),
        ("1/2", ["4", "-1"], ["1/5", "4/5"], 200),
        ("3/5", ["4", "-1"], ["1/5", "4/5"], 200),
        ("2/5", ["7", "-2"], ["2/9", "7/9"], 200),
    ],
)
def test_for_all_agrees_with_stepping(step: str, tokens: list[str], weights: list[str], times: int) -> None:
    value = frozen(step, tokens, weights, times)
    assert word(value) == "ACCEPTED", check(value)
    branch = value["branches"][0]
    for i, entry in enumerate(branch["fails_from_by_component"]):
        for off in (-1, 1):
            wrong = change(value, f"branches.0.fails_from_by_component.{i}", entry + off)
            assert word(change(wrong, f"fails_from_by_component.{i}", entry + off)) == "REJECTED fails-from"
    for off in (-1, 1):
        wrong = change(value, "branches.0.fails_from", branch["fails_from"] + off)
        assert word(change(wrong, "fails_from", branch["fails_from"] + off)) == "REJECTED fails-from"
        assert word(change(value, "branches.0.first.t", branch["first"]["t"] + off)).startswith("REJECTED")


def run(
    *arguments: str, folder: Path, python: str = sys.executable, seconds: int = 10
) -> subprocess.CompletedProcess[str]:
    def limits() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (200 << 20, 200 << 20))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))

    return subprocess.run(
        [python, "-I", str(CHECKER), *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=limits,
        timeout=60,
    )


def test_the_command(tmp_path: Path) -> None:
    good, bad, deep = tmp_path / "good.json", tmp_path / "bad.json", tmp_path / "deep.json"
    good.write_text(BLOCKS[4])
    bad.write_text(BLOCKS[4].replace('"start": 5', '"start": 4'))
    deep.write_text("[" * 1_000_000)
    folder = tmp_path / "empty"
    folder.mkdir()
    for arguments, code, start in (
        ([str(good)], 0, "ACCEPTED: the claim above fails for this start"),
        ([str(bad)], 10, "REJECTED: entry: "),
        ([str(deep)], 2, "MALFORMED: too-large: "),
        ([str(tmp_path / "none")], 2, "MALFORMED: unreadable: "),
        ([str(tmp_path)], 2, "MALFORMED: unreadable: "),
        ([], 2, "MALFORMED: usage: "),
        ([str(good), str(bad)], 2, "MALFORMED: usage: "),
    ):
        done = run(*arguments, folder=folder)
        assert (done.returncode, done.stderr) == (code, "")
        assert done.stdout.splitlines()[-1].startswith(start)
        assert done.stdout.isascii()
        if code == 2:
            assert done.stdout.count("\n") == 1
    assert not list(folder.iterdir())


@pytest.mark.parametrize("name", ["violation", "freeze", "ellipsoid", "ball"])
def test_the_command_keeps_to_its_limits(name: str, tmp_path: Path) -> None:
    path = tmp_path / "certificate.json"
    path.write_text(BLOCKS[NAMES[name][0]])
    assert run(str(path), folder=tmp_path).returncode == 0


def test_long_numbers_survive_a_small_digit_limit() -> None:
    number = "7" * 3_999
    code = (
        "import sys; sys.set_int_max_str_digits(640); from verifier.exact import checker as c; "
        f"n = c.parse_digits('-{number}'); assert c.integer_text(n) == '-{number}'; "
        "assert c.parse_digits('0' * 0 + '12') == 12; assert c.integer_text(10**1000) == '1' + '0' * 1000"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("0", "0"),
        ("16", "16"),
        ("-1/4", "-0.25"),
        ("2/9", "0.222222222222..."),
        ("-2/3", "-0.666666666666..."),
        ("1/1000", "0.001"),
        ("999999999999", "999999999999"),
        ("9999999999999", "9.99999999999e12..."),
        ("1000000000000", "1e12"),
        ("1/10000000", "1e-7"),
        ("1/30000000", "3.33333333333e-8..."),
        ("100000000001/100000000000", "1.00000000001"),
        ("1000000000001/1000000000000", "1.00000000000..."),
        ("99999999999999/100000000000000", "0.999999999999..."),
    ],
)
def test_decimals_are_truncated(value: str, text: str) -> None:
    assert checker.decimal_text(Fraction(value)) == text


def test_enclosures_contain_and_are_narrow() -> None:
    """Against a Taylor sum with far more digits, and log against exp."""
    meter = checker.Meter()
    for p in (32, 64, 200):
        for top in (0, 1, -1, 3, -7, 40, -40):
            x = top << (p - 1)  # top/2
            ball = checker.exp_bounds(x, p, meter)
            exact, term = Fraction(0), Fraction(1)
            for i in range(1, 200):
                exact += term
                term = term * Fraction(top, 2) / i
            assert ball.lo <= exact * 2**p <= ball.hi
            assert ball.hi - ball.lo <= 16 * max(1, exact)
            if ball.lo > 0:
                low, high = (checker.log_bounds(end, p, meter) for end in ball)
                assert low.lo <= x <= high.hi
                assert low.hi - low.lo <= 16


def test_definiteness_agrees_with_minors() -> None:
    """All symmetric 3x3 matrices with entries -1, 0, 1: every principal minor >= 0, or every leading one > 0."""

    def det(rows: list[list[int]]) -> int:
        if not rows:
            return 1
        return sum((-1) ** j * rows[0][j] * det([row[:j] + row[j + 1 :] for row in rows[1:]]) for j in range(len(rows)))

    meter = checker.Meter()
    for code in range(3**6):
        a, b, c, d, e, f = (code // 3**k % 3 - 1 for k in range(6))
        rows = [[a, b, c], [b, d, e], [c, e, f]]
        kept = [[i for i in range(3) if mask >> i & 1] for mask in range(8)]
        minors = {tuple(k): det([[rows[i][j] for j in k] for i in k]) for k in kept}
        exact = [[Fraction(entry, 2) for entry in row] for row in rows]
        assert checker.definite(exact, meter, strict=False) == all(value >= 0 for value in minors.values())
        leading = [minors[0,], minors[0, 1], minors[0, 1, 2]]
        assert checker.definite(exact, meter, strict=True) == all(value > 0 for value in leading)


def det(rows: list[list[Fraction]]) -> Fraction:
    """By the first row."""
    if not rows:
        return Fraction(1)
    return sum(
        ((-1) ** j * rows[0][j] * det([row[:j] + row[j + 1 :] for row in rows[1:]]) for j in range(len(rows))),
        Fraction(0),
    )


def sparse_symmetric(draw: random.Random, size: int) -> list[list[Fraction]]:
    """Entries with many zeros, many denominators, and now and then a repeated row."""
    rows = [[Fraction(0)] * size for _ in range(size)]
    for i in range(size):
        for j in range(i + 1):
            if i == j or draw.random() < 0.6:
                rows[i][j] = rows[j][i] = Fraction(draw.randint(-3 if i != j else 0, 6), draw.randint(1, 9))
    if draw.random() < 0.4:
        for k in range(size):
            rows[size - 1][k] = rows[0][k]
        for k in range(size):
            rows[k][size - 1] = rows[k][0]
    return rows


def test_elimination_with_denominators_and_blocks() -> None:
    """Definiteness, rank and inverse of rational matrices against minors and products."""
    draw, meter, seen = random.Random(7), checker.Meter(), set()  # noqa: S311 -- reproducible, not secret
    for _ in range(120):
        size = draw.randint(1, 4)
        rows = sparse_symmetric(draw, size)
        kept = [[i for i in range(size) if mask >> i & 1] for mask in range(1, 2**size)]
        minors = [det([[rows[i][j] for j in k] for i in k]) for k in kept]
        weak, strong = min(minors) >= 0, all(det([row[:k] for row in rows[:k]]) > 0 for k in range(1, size + 1))
        assert checker.definite(rows, meter, strict=False) == weak
        assert checker.definite(rows, meter, strict=True) == strong
        square = [det([[rows[i][j] for j in b] for i in a]) for a in kept for b in kept if len(a) == len(b)]
        sizes = [len(a) for a in kept for b in kept if len(a) == len(b)]
        rank = max((n for n, value in zip(sizes, square, strict=True) if value), default=0)
        assert checker.rank_of(rows, meter) == rank
        seen.add((weak, strong, rank == size))
        if strong:
            found = checker.unscaled(checker.inverse(rows, meter))
            assert checker.product(rows, found) == [checker.unit(size, k) for k in range(size)]
    assert len(seen) == 4


def test_enclosures_of_long_numbers_are_narrow() -> None:
    """A far argument at the highest precision: exp contains by its functional equation, log undoes it."""
    meter = checker.Meter()
    p = 1_000
    for x in (999, -999, 20):
        ball = checker.exp_bounds(x << p, p, meter)
        half = checker.exp_bounds(x << (p - 1), p, meter)
        assert 0 <= ball.hi - ball.lo <= 16 * max(1, (ball.hi >> p) + 1)
        assert half.lo**2 <= ball.hi << p
        assert half.hi**2 >= ball.lo << p
    low, high = (checker.log_bounds(end, p, meter) for end in checker.exp_bounds(20 << p, p, meter))
    assert low.lo <= 20 << p <= high.hi
    assert high.hi - low.lo <= 64


def formulas(variables: dict[str, Any], values: dict[str, Any], hypotheses: list[str], **more: Any) -> Any:
    """A certificate of expressions whose conclusion is plainly false."""
    parameters = {"variables": variables, "hypotheses": hypotheses, "conclusion": "0 < 0"}
    problem = {
        **example("witness")["problem"],
        "parameters": parameters,
        "state": {"assignment": values},
    }
    return {"schema": "verifier/certificate/1", "kind": "witness", "problem": problem, **more}


def many_denominators() -> Any:
    """A list of 10 decreasing 16x16 matrices; every entry has another denominator of eight digits."""
    draw = random.Random(3)  # noqa: S311 -- reproducible, not secret

    def entry(i: int, j: int, k: int) -> str:
        if i == j:
            return str(2 * (10 - k))
        return str(Fraction(1, draw.randint(10**7, 10**8)))

    matrices = []
    for k in range(10):
        rows = [["0"] * 16 for _ in range(16)]
        for i in range(16):
            for j in range(i + 1):
                rows[i][j] = rows[j][i] = entry(i, j, k)
        matrices.append(rows)
    value = change(example("violation"), P + "B", matrices)
    value["problem"]["state"]["tokens"] = [["4", *["0"] * 15], ["-1", *["0"] * 15]]
    return value


def hilbert() -> Any:
    """psd of a 32x32 matrix of fractions with long common denominators, positive definite."""
    return formulas({}, {}, ["psd(i, j in 1..32: 1/(i + j + 1000) + if(i = j, 1, 0))"])


def enclosed_sum(body: str, precision: int) -> Any:
    """Thousands of values of a function that is a series."""
    texts = [f"0 < sum(i in 1..100000: {body})"]
    return formulas({"x": "rational"}, {"x": "1/3"}, texts, kind="ball", precision=precision)


def dense_ellipsoid() -> Any:
    """Sixteen dense guards on each of 24 equal ellipsoids of dimension 16."""
    draw, size = random.Random(5), 16  # noqa: S311 -- reproducible, not secret
    rows = [[0] * size for _ in range(size)]
    for i in range(size):
        for j in range(i):
            rows[i][j] = rows[j][i] = draw.getrandbits(300)
        rows[i][i] = 1 << 306
    guard = {"a": ["9" * 99] * size, "b": "9" * 99, "relation": ">"}
    branch = {
        "guards": [guard] * 16,
        "M": [[str(int(i == j)) for j in range(size)] for i in range(size)],
        "c": ["0"] * size,
    }
    value = example("ellipsoid")
    value["problem"]["parameters"] = {"map": [[branch]], "hypotheses": []}
    value["problem"]["state"]["z"] = ["0"] * size
    value["problem"]["claim"]["point"] = ["1"] * size
    shape = {
        "type": "ellipsoid",
        "P": [[str(x) for x in row] for row in rows],
        "R": "0",
        "centres": [["0"] * size] * 24,
    }
    return {
        **value,
        "start": 0,
        "cycle": [0] * 24,
        "shape": shape,
        "excluded": {"phase": 0, "h": ["-1"] * size, "g": "0"},
    }


def long_sum() -> Any:
    """Sums of fractions as long as the bound on computed numbers allows."""
    long = "7" * 99 + "/1" + "0" * 98 + "3"
    return formulas({"x": "rational"}, {"x": long}, ["0 < sum(i in 1..100000: x^39)"])


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (many_denominators(), "REJECTED side"),
        (hilbert(), "ACCEPTED"),
        (enclosed_sum("exp(1000 - x)", 200), "MALFORMED too-large"),
        (enclosed_sum("log(i + x)", 1_000), "MALFORMED too-large"),
        (dense_ellipsoid(), "ACCEPTED"),
        (long_sum(), "MALFORMED too-large"),
    ],
    ids=["many-denominators", "hilbert", "exp", "log", "dense-ellipsoid", "long-sum"],
)
def test_files_made_to_be_slow_end_soon(value: Any, expected: str, tmp_path: Path) -> None:
    """Two seconds of processor time, which the system measures: beyond them there would be no last line."""
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(value))
    done = run(str(path), folder=tmp_path, seconds=2)
    last = done.stdout.splitlines()[-1].split(": ")
    assert (last[0] if last[0] == "ACCEPTED" else " ".join(last[:2])) == expected
    assert done.stderr == ""


def test_the_checker_stands_alone() -> None:
    tree = ast.parse(CHECKER.read_text(encoding="utf-8"))
    modules = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            modules.add((node.module or "").split(".")[0])
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in {"eval", "exec", "compile", "__import__", "float"}
        elif isinstance(node, ast.Constant):
            assert not isinstance(node.value, float)
    assert modules <= set(sys.stdlib_module_names)
    assert not modules & {"pickle", "importlib", "ctypes", "subprocess"}
