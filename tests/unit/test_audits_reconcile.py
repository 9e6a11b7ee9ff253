"""Ratios explained by declared factors, one at a time, and the chance that a random ratio would be."""

from __future__ import annotations

import dataclasses
import json
import math
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from verifier.audits.coincidence import coincidence_rate
from verifier.audits.declared import Declared, declarations
from verifier.audits.reconcile import candidates, explaining, recheck, reconcile, stated
from verifier.model.answers import AuditAnswer, AuditContext, Corrected, audit_outcome
from verifier.model.errors import BadInput
from verifier.model.outcomes import Outcome, Reason

FIXTURES = {
    case["id"]: case for case in json.loads((Path(__file__).parents[1] / "fixtures" / "audits.json").read_text("utf-8"))
}
SAME, OPEN = AuditAnswer.SAME_BASIS, AuditAnswer.INSUFFICIENT
RECONCILED, WEAK = AuditAnswer.RECONCILED, AuditAnswer.RECONCILED_WEAK
FIFTY = Declared("trajectory per batch", "50", "left")
SOURCED = dataclasses.replace(FIFTY, source="methods, page 6")
EXPLAINED = (RECONCILED, WEAK)

STOCK = [math.log(2), math.log2(10), math.pi, 3, 4, 7, 12, 100, 256, 1e6]
"""Ten constants of the kind people try; one lies outside the range of ratios."""

SETS = [
    [50, 8, 2048], [2], [math.log(2)], [1000, 1024], [60, 3600], [8, 1000, 1024], [1.0033, 1.0505],
    [2, 4, 8, 16, 32, 64], [10, 100, 1000], STOCK,
]  # fmt: skip
TOLERANCES = ["0.001", "0.02", "0.1", "0.5"]


def test_c2_the_published_words_alone() -> None:
    case = FIXTURES["C2"]
    audit = reconcile("2", against="1/8", declared=[FIFTY])
    assert audit.finding is RECONCILED
    assert "in direction for every rounding, not in size" in audit.sentence
    assert audit.residual is not None
    assert audit.residual.value == case["expected"]["unexplained_factor"] == 3.125
    assert round(audit.residual.low, 2) == 2.35
    assert round(audit.residual.high, 2) == 4.44
    assert audit.corrected is Corrected.OTHER_SIDE
    (reading,) = audit.details["readings"]
    assert 1 / Fraction(reading["reading"]) == case["expected"]["implied_speedup"]
    assert float(Fraction(reading["needs"])) == case["expected"]["naive_slowdown_needed_for_8x"]
    for about in ("claim", "dispute"):
        context = AuditContext(
            about=about,
            residual_excludes_one=audit.residual.excludes_one,
            material=bool(audit.material),
            corrected=audit.corrected,
        )
        found = audit_outcome(audit.finding, context)
        assert (found.outcome, found.reason) == (Outcome.UNDECIDED, Reason.SIZE_UNEXPLAINED)


@pytest.mark.parametrize(
    ("ratio", "against", "factors", "finding", "corrected"),
    [
        ("6.25", "1/8", [SOURCED], RECONCILED, Corrected.OTHER_SIDE),
        ("6.25", "0.125", [FIFTY], WEAK, Corrected.OTHER_SIDE),
        ("2", "1/25", [SOURCED], RECONCILED, Corrected.OTHER_SIDE),  # one digit, but the side is declared
        ("2", None, [SOURCED], OPEN, Corrected.OTHER_SIDE),
        ("2", "1/8", [dataclasses.replace(FIFTY, side="right")], OPEN, Corrected.KEPT),  # the other way: 100
        ("2", "1/8", [dataclasses.replace(FIFTY, side=None)], OPEN, None),  # nothing is searched on one digit
        ("2", "1/25", ["50"], OPEN, None),
        ("50", None, [50, 8], WEAK, Corrected.CONTAINS_ONE),
        ("49.8", None, [50, 8, 2048], WEAK, Corrected.CONTAINS_ONE),
        ("0.0201", None, [50, 8], WEAK, Corrected.CONTAINS_ONE),
        ("47.0", None, [50, 8], OPEN, None),
        ("400.0", None, [50, 8], OPEN, None),  # a product of two is not tried
        ("1.0", None, [50, 8], SAME, None),
        ("0.50", "1/2", [50, 8], SAME, None),
        (1.0, None, [50], SAME, None),
        (49.8, None, [50], WEAK, None),
        (Fraction(1, 8), None, [8], WEAK, None),
        ("7.3", None, [], OPEN, None),
    ],
)
def test_what_a_declared_factor_explains(
    ratio: Any, against: Any, factors: list[Any], finding: AuditAnswer, corrected: Corrected | None
) -> None:
    audit = reconcile(ratio, declared=factors, against=against)
    assert audit.finding is finding, audit.sentence
    if corrected is not None:
        assert audit.corrected is corrected
    if finding in EXPLAINED:
        assert audit.residual is not None
        assert not audit.residual.excludes_one
        assert recheck(audit)
        assert (audit.declared_in is None) == (finding is WEAK)
    if finding is OPEN:
        assert audit.missing


def test_the_wider_of_tolerance_and_rounding_counts() -> None:
    assert reconcile("45", declared=[45.4], tolerance="0.001").finding in EXPLAINED  # 45 is anything up to 45.5
    assert reconcile("45.0", declared=[45.4], tolerance="0.001").finding is OPEN
    assert reconcile("45.0", declared=[45.4], tolerance="0.01").finding in EXPLAINED
    rough, fine = (reconcile(text, declared=[50], tolerance="0.001").coincidence for text in ("45", "45.00"))
    assert rough is not None
    assert fine is not None
    assert fine == pytest.approx(4 * math.log(1.001) / math.log(1e8))
    assert rough == pytest.approx(2 * math.log(45.5 / 44.5) / math.log(1e8))


def test_the_rate_is_the_length_of_the_union() -> None:
    two_percent = math.log(1.02)
    assert round(100 * coincidence_rate([50, 8, 2048], half_width=two_percent), 1) == 1.3
    assert round(100 * coincidence_rate([50, 8, 2048], half_width=two_percent, depth=2), 1) == 3.9
    # 7.4 was measured over random ratios; the union is 7.31
    assert 100 * coincidence_rate([50, 8, 2048], half_width=two_percent, depth=3) == pytest.approx(7.4, abs=0.15)
    by_depth = [100 * coincidence_rate(STOCK, half_width=two_percent, depth=depth) for depth in (1, 2, 3)]
    assert by_depth == pytest.approx([3.9, 31.9, 87], abs=0.4)
    assert coincidence_rate([], half_width=two_percent) == 0
    assert coincidence_rate([1e6], half_width=two_percent) == 0
    assert coincidence_rate([1e4], half_width=two_percent) == pytest.approx(2 * two_percent / math.log(1e8))
    assert coincidence_rate([1.001], half_width=1) < 2.1 / math.log(1e8)  # windows that overlap count once
    assert coincidence_rate([2], half_width=100) == 1


def test_the_rate_against_a_fine_grid() -> None:
    grid = np.linspace(math.log(1e-4), math.log(1e4), 40_001)
    for factors, tolerance in product(SETS, TOLERANCES):
        width = math.log1p(float(tolerance))
        centres = np.log([*factors, *(1 / np.array(factors))])
        covered = np.zeros(len(grid), dtype=bool)
        for centre in centres:
            covered |= np.abs(grid - centre) <= width
        assert coincidence_rate(factors, half_width=width) == pytest.approx(covered.mean(), abs=1.5e-3)


def test_too_deep_a_search_is_refused() -> None:
    with pytest.raises(ValueError, match="products"):
        coincidence_rate(range(2, 300), half_width=0.01, depth=3)


def random_ratios(n: int) -> list[float]:
    generator = np.random.default_rng(20260)
    return [float(each) for each in np.exp(generator.uniform(math.log(1e-4), math.log(1e4), n))]


def allowance(n: int, rate: float) -> float:
    return n * rate + 4 * math.sqrt(n * rate * (1 - rate))


def test_random_ratios_are_explained_at_the_stated_rate() -> None:
    ratios = random_ratios(600)
    for factors, tolerance in (([50, 8, 2048], "0.02"), (STOCK, "0.1")):
        audits = [reconcile(ratio, declared=factors, tolerance=tolerance) for ratio in ratios]
        rate = audits[0].coincidence
        assert rate is not None
        explained = sum(audit.finding in EXPLAINED for audit in audits)
        assert explained <= allowance(len(ratios), rate)
        assert explained >= len(ratios) * rate - 4 * math.sqrt(len(ratios) * rate)


@pytest.mark.slow
def test_ten_thousand_random_ratios_for_forty_sets() -> None:
    ratios = [stated(ratio) for ratio in random_ratios(10_000)]
    for factors, tolerance in product(SETS, TOLERANCES):
        allowed = candidates(declarations(factors), search=True)
        within = Fraction(tolerance)
        explained = sum(explaining(ratio, allowed, tolerance=within) is not None for ratio in ratios)
        rate = coincidence_rate(factors, half_width=math.log1p(float(tolerance)))
        assert explained <= allowance(len(ratios), rate), (factors, tolerance)
        assert explained >= len(ratios) * rate - 4 * math.sqrt(len(ratios) * rate), (factors, tolerance)


def test_the_witness_rechecks() -> None:
    audit = reconcile("49.8", declared=[50])
    assert audit.witness == {"left": 2, "right": 1, "as_printed": "2", "on_one_basis": "1/25"}
    assert recheck(audit)
    assert not recheck(dataclasses.replace(audit, witness={**audit.witness, "left": 1}))
    assert not recheck(reconcile("7.3", declared=[50]))


@pytest.mark.parametrize(
    ("ratio", "keys", "says"),
    [
        ("0", {}, "not above zero"),
        ("-2.0", {}, "not above zero"),
        ("0e0", {}, "not above zero"),
        (0.0, {}, "not above zero"),
        (math.nan, {}, "the ratio is nan"),
        (math.inf, {}, "the ratio is inf"),
        ("twice", {}, "is not a number"),
        ("2.0", {"against": "1/0"}, "divides by zero|not above zero"),
        ("2.0", {"tolerance": "0"}, "tolerance"),
        ("2.0", {"tolerance": 2}, "tolerance"),
        ("2.0", {"tolerance": "wide"}, "is not a number"),
        ("2.0", {"declared": [0]}, "not above zero"),
        ("2.0", {"declared": [-5]}, "not above zero"),
        ("2.0", {"declared": ["many"]}, "is not a number"),
        ("2.0", {"declared": [math.nan]}, "is not a number"),
        ("2.0", {"declared": [2] * 1001}, "at most 1000"),
    ],
)
def test_bad_input_gets_one_sentence(ratio: Any, keys: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        reconcile(ratio, **{"declared": [50], **keys})
