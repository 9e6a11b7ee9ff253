"""A smaller start keeps the answer and the checker's word."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from tests.oracles.configurations import problem, tokens
from tests.unit.test_exact_certificates import verdict
from tests.unit.test_exact_hardmax import agrees_with_brute_force, seeded
from verifier.exact import parse_problem, read_problem, shrink
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
    powell = Path(__file__).parents[2] / "problems" / "powell.json"
    with pytest.raises(BadInput, match="hardmax"):
        shrink(read_problem(powell))
