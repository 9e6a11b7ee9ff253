"""Starts that mean no good: merged and tied tokens, extreme steps and numbers; every answer and certificate stands."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from typing import Any

import pytest

from tests.oracles.agreement import agrees
from tests.oracles.configurations import problem, tokens
from tests.oracles.stepping import walk
from verifier.exact import checker, parse_problem, refutation_document, refute

TWO = [["4"], ["-1"]]
STEPS = ("1", "1/1000000", "999999/1000000", "1/2", "1/1" + "0" * 99)


def decided(document: dict[str, Any]) -> Any:
    """The answer, after the checker has accepted its certificate; its JSON can be written."""
    found = refute(parse_problem(document), horizon=400)
    json.dumps(refutation_document(found, certificate=None, floats=None))
    if found.certificate is None:
        # where it fails, only a bound of the format may keep the proof from being written
        bounds = ("work units", "10^15")
        assert not found.answer.startswith("VIOLATED") or any(bound in found.no_certificate for bound in bounds)
    else:
        assert checker.check(json.dumps(found.certificate).encode()).word == "ACCEPTED"
    return found


def cloud(n: int, d: int, seed: int = 9) -> list[list[Fraction]]:
    return tokens(random.Random(seed), n, d)  # noqa: S311  # reproducible, not secret


STARTS: dict[str, list[list[Any]]] = {
    "merged": [[4, 0], [4, 0], [-1, 0], [-1, 0], [-1, 0]],
    "twice": [*cloud(4, 2), *cloud(4, 2)],
    "sixteen dimensions": cloud(17, 16),
    "64 tokens": cloud(64, 16),
    "one token": [[0]],
    "all at the origin": [[0, 0], [0, 0]],
    "one at the origin": [[0, 0], [3, 1], [-1, 2]],
    "apart in scale": [[Fraction(10**50 + 1), 0], [Fraction(-1, 10**50), 0]],
    "nearly a tie": [[Fraction(2 * 10**20 + 1, 10**20)], [-1]],
    "nearly symmetric": [[Fraction(10**98 + 1, 10**98)], [-1]],
    "grid": [[a, b] for a in (-1, 0, 1) for b in (-1, 0, 1)],
    "cube": [[a, b, c] for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)],
    "cross": [[s * int(i == j) for j in range(16)] for i in range(16) for s in (1, -1)],
    "long numerators": [[10**99 + 7, 3 - 10**98], [-(10**99) - 7, 10**98 - 3], [10**97, 10**99 - 1]],
}


MARKED = [pytest.param(name, marks=pytest.mark.slow) if name == "64 tokens" else name for name in STARTS]


@pytest.mark.parametrize("ties", ["lowest-index", "highest-index"])
@pytest.mark.parametrize("name", MARKED)
def test_every_start_is_decided_as_brute_force_sees_it(name: str, ties: str) -> None:
    document = problem(STARTS[name], ties=ties)
    agrees(decided(document), list(walk(document, 40)))


@pytest.mark.parametrize("name", MARKED)
def test_every_selection_gets_an_answer(name: str) -> None:
    assert decided(problem(STARTS[name])).answer


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("start", [TWO, cloud(4, 2, 3)], ids=["pair", "four"])
def test_extreme_steps(step: str, start: list[list[Any]]) -> None:
    document = problem(start, step=step, claim="energy-bound-any-step", ties="lowest-index")
    agrees(decided(document), list(walk(document, 40)))


def test_without_energy_the_bound_holds() -> None:
    assert decided(problem([["4", "0"], ["-1", "0"]], B=[["0", "0"], ["0", "0"]])).answer == "HOLDS_FOR_ALL"
