"""The finder against far-reaching brute force: 360 random configurations, other matrices, other steps."""

from __future__ import annotations

import json
import multiprocessing
import random
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest

from tests.oracles.agreement import agrees
from tests.oracles.configurations import SEED, SHAPES, configurations, problem, semidefinite, tokens
from tests.oracles.hardmax import Brute
from tests.oracles.stepping import walk
from verifier.exact import checker, parse_problem, refute

Document = dict[str, Any]
FAR = 3_000
EACH = 60
VIOLATED = ("VIOLATED", "VIOLATED_FOR_ALL")


def seeded(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311  # reproducible, not secret


def lists(rng: random.Random, d: int, count: int) -> list[list[list[str]]]:
    """B^0 ⪰ B^1 ⪰ …: sums of ever fewer semidefinite matrices."""
    parts = [semidefinite(rng, d, 1) for _ in range(count)]
    return [
        [[str(sum(int(part[i][j]) for part in parts[k:])) for j in range(d)] for i in range(d)] for k in range(count)
    ]


def documents(seed: int) -> list[Document]:
    """Small starts with every kind of matrix and step."""
    rng = seeded(seed)
    found = []
    for d, rank in ((2, 1), (2, 2), (3, 1), (3, 2), (3, 3)):
        found.append(problem(tokens(rng, 4, d), B=semidefinite(rng, d, rank), ties="lowest-index"))
        found.append(problem(tokens(rng, 5, d), B=lists(rng, d, 3), ties="highest-index"))
    for step in ("2/(t+1)", "1/(t+2)", "1/3", "4/5", "1/50", "1"):
        B = semidefinite(rng, 2, rng.randint(1, 2))
        some = tokens(rng, 5, 2)
        for matrix in (None, B):
            claim = "energy-bound-any-step"
            found.append(problem(some, B=matrix, step=step, claim=claim, ties="lowest-index"))
    return found


@pytest.mark.parametrize("document", documents(1))
def test_both_oracles_tell_the_same(document: Document) -> None:
    brute = Brute(document)
    last = 30
    orbit, tied = brute.orbit(last)
    seen = list(walk(document, last))
    assert [(step.t, set(step.failing)) for step in seen] == orbit
    assert any(step.tied for step in seen) == tied


def verdict(found: Any) -> str:
    return checker.check(json.dumps(found.certificate).encode()).word


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 6))
def test_other_matrices_and_steps_against_brute_force(seed: int) -> None:
    answers: Counter[str] = Counter()
    for document in documents(seed):
        found = refute(parse_problem(document), horizon=700)
        answers[found.answer] += 1
        agrees(found, list(walk(document, 600)))
        if found.certificate is not None:
            assert verdict(found) == "ACCEPTED", document
        else:
            assert found.answer not in VIOLATED, (found.no_certificate, document)
    assert answers["VIOLATED_FOR_ALL"] >= len(documents(seed)) // 2


def decided(start: list[list[Fraction]]) -> tuple[str, bool, str]:
    """One configuration: the answer, whether brute force to `FAR` saw a failure, the checker's word."""
    document = problem(start, ties="lowest-index")
    found = refute(parse_problem(document), horizon=FAR + 1)
    seen = agrees(found, list(walk(document, FAR)))
    return found.answer, seen, verdict(found) if found.certificate is not None else ""


def test_the_configurations_are_the_six_shapes_with_the_origin_inside() -> None:
    some = configurations(EACH)
    assert Counter((len(x), len(x[0])) for x in some) == dict.fromkeys(SHAPES, EACH)
    assert SEED == 20260808
    for start in some:
        *others, last = start
        assert all(abs(a) <= 9 and a.denominator == 1 for x in others for a in x)
        assert [sum(column) for column in zip(*others, strict=True)] == [-(len(others)) * a for a in last]


@pytest.mark.slow
def test_360_configurations_are_decided_as_brute_force_sees_them() -> None:
    starts = configurations(EACH)
    order = seeded(0).sample(range(len(starts)), len(starts))  # even work for both processes
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        told = pool.map(decided, [starts[k] for k in order], chunksize=12)
    answers = Counter(answer for answer, _, _ in told)
    assert sum(answers.values()) == 360
    assert answers["VIOLATED_FOR_ALL"] >= 345
    assert set(answers) <= {"VIOLATED_FOR_ALL", "HOLDS_FOR_ALL", "VERIFIED_TO_HORIZON"}
    for answer, _, word in told:
        assert word == ("ACCEPTED" if answer == "VIOLATED_FOR_ALL" else "")
    # brute force to this horizon sees most of these failures itself, and none elsewhere
    assert sum(seen for _, seen, _ in told) >= 300
    assert not any(seen for answer, seen, _ in told if answer != "VIOLATED_FOR_ALL")
