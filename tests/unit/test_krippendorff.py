"""Krippendorff's alpha against a published example and against a direct count of pairs."""

import random
from fractions import Fraction

from verifier.stats.krippendorff import nominal_alpha

# Krippendorff (2011), section C: four observers, twelve units, missing data; alpha of nominal data is .743
OBSERVERS = (
    (1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None),
    (1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3),
    (None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None),
    (1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None),
)


def test_the_published_example() -> None:
    alpha = nominal_alpha(list(zip(*OBSERVERS, strict=True)))
    assert alpha is not None
    assert round(float(alpha), 3) == 0.743


def test_it_is_one_minus_observed_over_expected_disagreement() -> None:
    drawn = random.Random(5)  # noqa: S311  # readings, not secrets
    for _ in range(50):
        units = [[drawn.choice("xyz") for _ in range(drawn.randint(0, 4))] for _ in range(6)]
        pairable = [unit for unit in units if len(unit) > 1]
        values = [value for unit in pairable for value in unit]
        n = len(values)
        expected = sum(a != b for a in values for b in values)
        observed = sum(Fraction(sum(a != b for a in unit for b in unit), len(unit) - 1) for unit in pairable)
        found = nominal_alpha(units)
        assert found == (None if not expected else 1 - (n - 1) * observed / expected)


def test_where_it_is_not_defined() -> None:
    assert nominal_alpha([]) is None
    assert nominal_alpha([["x"], [None, "y"]]) is None
    assert nominal_alpha([["x", "x"], ["x", "x"]]) is None
    assert nominal_alpha([["x", "x"], ["y", "y"]]) == 1
