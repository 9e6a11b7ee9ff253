"""Identities between printed numbers, each as what its terms give and what one of them must be for it to hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import mul

from verifier.audits.interval import Interval, exactly
from verifier.audits.logarithms import exp, ln

LARGEST_LOG = 700
ONE = Fraction(1)


@dataclass(frozen=True, slots=True)
class Demand:
    """What the others leave for number `index` of the set: the terms in order, then the total.

    `allowed`: every value with which the identity can hold. None where no value of this number alone restores it, or
    where every value does.
    """

    index: int
    allowed: Interval | None


def weighted_mean(terms: Sequence[Interval], weights: Sequence[Interval]) -> Interval:
    """Every Σ w x / Σ w over boxes of x and of w > 0, exactly.

    It increases in each x. At fixed x its derivative by a weight has the sign of x minus the mean: at the maximum
    the weights of all x above some cut are at their upper end, the others at their lower one; at the minimum the
    reverse.
    """
    return Interval(
        -_largest_mean([-x.low for x in terms], weights),
        _largest_mean([x.high for x in terms], weights),
    )


def mean_demands(terms: Sequence[Interval], weights: Sequence[Interval], total: Interval) -> list[Demand]:
    """For each term what the mean leaves for it, then the mean itself.

    Exact where weights are: x = (total Σw − Σ others)/w. Where weights are rounded only the mean is solved for.
    """
    found = []
    if all(weight.low == weight.high for weight in weights):
        whole = sum((weight.low for weight in weights), Fraction(0))
        lows = [weight.low * term.low for weight, term in zip(weights, terms, strict=True)]
        highs = [weight.low * term.high for weight, term in zip(weights, terms, strict=True)]
        least, most = total.low * whole - sum(highs), total.high * whole - sum(lows)
        for index, (weight, low, high) in enumerate(zip(weights, lows, highs, strict=True)):
            found.append(Demand(index, Interval((least + high) / weight.low, (most + low) / weight.low)))
    return [*found, Demand(len(terms), weighted_mean(terms, weights))]


def product_demands(terms: Sequence[Interval], total: Interval) -> list[Demand]:
    """For each factor total ÷ the product of the others, then the product; Little's law L = λW is one (Little 1961)."""
    before, after = [exactly(ONE)], [exactly(ONE)]
    for term in terms[:-1]:
        before.append(before[-1] * term)
    for term in reversed(terms[1:]):
        after.append(after[-1] * term)
    found = []
    for index, (left, right) in enumerate(zip(before, reversed(after), strict=True)):
        others = left * right
        found.append(Demand(index, None if 0 in others else total / others))
    return [*found, Demand(len(terms), before[-1] * terms[-1])]


def bytes_per_word(word: Interval, byte: Interval) -> Interval:
    """The ln of the word perplexity over ln of the byte perplexity, both above 1: bytes a word on average.

    The same total loss is spread over words and over bytes. Increasing in the first, decreasing in the second.
    """
    return ln(word) / ln(byte)


def ratio_demands(pairs: Sequence[tuple[Interval, Interval]], total: Interval | None) -> list[Demand]:
    """For each word and byte perplexity what all other numbers leave for it, then the printed bytes per word.

    Several runs over one corpus share one number of bytes per word.
    """
    ratios = [bytes_per_word(*pair) for pair in pairs]
    found = []
    for index, (word, byte) in enumerate(pairs):
        rest = common([*ratios[:index], *ratios[index + 1 :], *([] if total is None else [total])])
        solvable = rest is not None and rest.low > 0
        found.append(Demand(2 * index, _exp(ln(byte) * rest) if rest is not None and solvable else None))
        found.append(Demand(2 * index + 1, _exp(ln(word) / rest) if rest is not None and solvable else None))
    if total is not None:
        found.append(Demand(2 * len(pairs), common(ratios)))
    return found


def common(intervals: Sequence[Interval]) -> Interval | None:
    """What lies in all of them; None where nothing does."""
    low, high = max(x.low for x in intervals), min(x.high for x in intervals)
    return Interval(low, high) if low <= high else None


def _exp(log: Interval) -> Interval | None:
    return exp(log) if log.high <= LARGEST_LOG else None


def _largest_mean(values: Sequence[Fraction], weights: Sequence[Interval]) -> Fraction:
    if all(weight.low == weight.high for weight in weights):
        heavy = [weight.low for weight in weights]
        return sum(map(mul, values, heavy), Fraction(0)) / sum(heavy)
    ordered = sorted(zip(values, weights, strict=True), key=lambda pair: pair[0])
    total = sum((weight.high for _, weight in ordered), Fraction(0))
    weighted = sum((value * weight.high for value, weight in ordered), Fraction(0))
    for value, weight in ordered:  # the cut moves up while a lighter weight of a value below the mean raises the mean
        if value * total >= weighted:
            break
        total += weight.low - weight.high
        weighted += value * (weight.low - weight.high)
    return weighted / total
