"""Granularity: which percentages are k out of n, by brute force beside the closed forms."""

from __future__ import annotations

import dataclasses
import json
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from verifier.audits.granularity import granularity, recheck, sizes
from verifier.audits.grim import everything_passes, passing_share, percentage
from verifier.model.answers import AuditAnswer
from verifier.model.errors import BadInput

FIXTURES = {
    case["id"]: case for case in json.loads((Path(__file__).parents[1] / "fixtures" / "audits.json").read_text("utf-8"))
}
ROUNDINGS = {"half-up": ROUND_HALF_UP, "half-even": ROUND_HALF_EVEN, "truncation": ROUND_DOWN}


def rounded(k: int, n: int, full: int, rule: str) -> int:
    """100 k/n in units of the last digit by decimal arithmetic; exact, since a quotient is a half only when it ends."""
    share = Fraction(full * k, n)
    exact = Decimal(share.numerator) / Decimal(share.denominator)
    return int(exact.quantize(Decimal(1), rounding=ROUNDINGS[rule]))


def printable(n: int, full: int, rule: str) -> set[int]:
    return {rounded(k, n, full, rule) for k in range(n + 1)}


def test_n27() -> None:
    case = FIXTURES["N27"]
    texts = [str(value) for value in case["input"]["values_pct"]]
    audit = granularity(texts, n=case["input"]["n"])
    assert [value["possible"] for value in audit.details["values"]] == case["expected"]["consistent"]
    assert audit.finding is AuditAnswer.JOINTLY_INCONSISTENT
    assert granularity(["63.2", "70.6"], n=68).finding is AuditAnswer.SAME_BASIS


@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 16, 64, 67, 68, 80, 99, 100])
@pytest.mark.parametrize("decimals", [0, 1])
def test_every_percentage_against_brute_force(n: int, decimals: int) -> None:
    full = 100 * 10**decimals
    by_rule = {rule: printable(n, full, rule) for rule in ROUNDINGS}
    for units in range(full + 1):
        value = percentage(f"{Decimal(units) / 10**decimals:.{decimals}f}")
        assert value.rules(n) == tuple(rule for rule, found in by_rule.items() if units in found), (value, n)
        assert value.possible(n) == any(units in found for found in by_rule.values())


@pytest.mark.parametrize("n", [1, 3, 5, 40, 65, 66, 67, 100])
def test_the_passing_share_against_brute_force(n: int) -> None:
    passing = set().union(*(printable(n, 100, rule) for rule in ROUNDINGS))
    assert passing_share(100, n) == pytest.approx(len(passing) / 101)
    assert everything_passes(100, n) == (len(passing) == 101)


def test_the_chance_that_a_random_percentage_passes() -> None:
    assert round(passing_share(1000, 68), 3) == 0.101
    assert round(len(printable(68, 1000, "half-up")) / 1001, 3) == 0.069
    assert round(passing_share(1000, 500), 2) == 0.50
    assert passing_share(1000, 666) < 1 == passing_share(1000, 667)
    assert granularity("63.2", n=68).coincidence == pytest.approx(passing_share(1000, 68))
    assert granularity(["63.2", "70.6"], n=68).coincidence == pytest.approx(passing_share(1000, 68) ** 2)


@pytest.mark.parametrize(("text", "n"), [("42.9", 667), ("42.9", 1000), ("43", 67), ("0.0", 10**9), ("42.91", 6667)])
def test_where_every_percentage_passes_nothing_is_told(text: str, n: int) -> None:
    audit = granularity(text, n=n)
    assert audit.finding is AuditAnswer.INSUFFICIENT
    assert audit.missing
    assert audit.coincidence is None


def test_two_scores_force_the_number_of_items() -> None:
    audit = granularity(["68.05", "69.63"], below=600)
    assert audit.finding is AuditAnswer.SAME_BASIS
    assert audit.details["sizes"] == [507]
    assert audit.details["counts"] == {"68.05": [345], "69.63": [353]}
    assert sizes(["68.05", "69.63"], below=600) == (507,)
    assert len(sizes(["68.05", "69.63"], below=2000)) > 1
    assert granularity(["68.05", "69.63"], below=507).finding is AuditAnswer.JOINTLY_INCONSISTENT
    assert granularity(["68.1"], below=600).finding is AuditAnswer.INSUFFICIENT


def test_the_witness_shows_the_two_counts_beside_it() -> None:
    audit = granularity(["63.2", "42.9"], n=68)
    assert audit.witness == {
        "n": 68,
        "printed": "42.9",
        "below": {"k": 29, "percent": "42.647"},
        "above": {"k": 30, "percent": "44.118"},
    }
    assert recheck(audit)
    assert not recheck(dataclasses.replace(audit, witness={**audit.witness, "n": 70}))
    assert recheck(granularity("63.2", n=68))
    assert not recheck(dataclasses.replace(audit, witness={"n": 68, "printed": "42.9", "k": 30}))


@pytest.mark.parametrize(
    ("printed", "keys", "says"),
    [
        ("42.9", {"n": 0}, "not a number of items"),
        ("42.9", {"n": 10**10}, "not a number of items"),
        ("42.9", {}, "needs the number of items"),
        ("42.9", {"below": 1}, "out of range"),
        ("42.9", {"below": 10**8}, "out of range"),
        ("101.0", {"n": 5}, "not between 0 and 100"),
        ("-1.0", {"n": 5}, "not between 0 and 100"),
        ("3/7", {"n": 5}, "is not a percentage"),
        ("42.9000000", {"n": 5}, "is not a percentage"),
        ("4e1", {"n": 5}, "is not a percentage"),
        ("many", {"n": 5}, "is not a number"),
        ([], {"n": 5}, "no printed percentage"),
    ],
)
def test_bad_input_gets_one_sentence(printed: str | list[str], keys: dict[str, int], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        granularity(printed, **keys)
