"""Every order in which numbers can be averaged, and which of them a printed number is.

A mean over all items and a mean of means differ as soon as groups differ in size; so do a ratio of sums and a mean of
ratios (Cochran 1977, Sampling Techniques, chapter 6).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, product
from statistics import median
from types import MappingProxyType

from verifier.audits.audit import Audit
from verifier.audits.interval import Interval
from verifier.audits.matching import may_print_as
from verifier.audits.printed import Printed, printed
from verifier.model.answers import AuditAnswer
from verifier.model.basis import BasisClass
from verifier.model.complaints import shown
from verifier.model.errors import BadInput

ITEM_MEAN = "token mean"
MOST_VALUES = 10_000_000
MOST_LEVELS = 4
LARGEST = 1e100  # sums of as many, times as large a weight, do not overflow
# Doubles that are summed to the last digit still round once or twice on the way to a mean.
SLACK = Fraction(1, 10**12)

Labels = Sequence[Hashable]


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregation:
    """Every order by its name, and those that the printed number is.

    `orders`: name -> value. `matches`: the names whose value rounds to `printed`, in the order of `orders`.
    `declared`: the order that the number is said to have been averaged in. `witness`: the smallest grouped values on
    which the declared order and the matching one differ.
    """

    orders: Mapping[str, float]
    printed: Printed | None = None
    declared: str | None = None
    matches: tuple[str, ...] = ()
    witness: Mapping[str, object] | None = None
    missing: tuple[str, ...] = field(default=())

    @property
    def finding(self) -> AuditAnswer:
        """A mismatch is proven where the printed number is another order's and not the declared one's."""
        if not self.matches or self.declared is None:
            return AuditAnswer.INSUFFICIENT
        return AuditAnswer.SAME_BASIS if self.declared in self.matches else AuditAnswer.MISMATCH_PROVEN

    @property
    def sentence(self) -> str:
        """One sentence for a person."""
        if not self.orders:
            return "No order of averaging gives a number that floating point holds."
        if self.printed is None:
            return f"{len(self.orders)} orders of averaging give {_span(self.orders)}; no printed number was given."
        number = self.printed.text
        if not self.matches:
            return f"No order of averaging gives {number}; they give {_span(self.orders)}."
        which = " or the ".join(self.matches)
        if self.declared is None or self.declared in self.matches:
            return f"{number} is the {which}."
        return f"{number} is the {which}, not the {self.declared}, which is {self.orders[self.declared]:.10g}."

    def audit(self) -> Audit:
        """The aggregation as an audit."""
        return Audit(
            mechanism="aggregate",
            basis_class=BasisClass.AGG,
            finding=self.finding,
            sentence=self.sentence,
            missing=self.missing,
            witness=self.witness,
            details={
                "orders": dict(self.orders),
                "printed": None if self.printed is None else self.printed.text,
                "declared": self.declared,
                "matches": list(self.matches),
            },
        )


def aggregate(
    values: Sequence[float],
    groups: Labels | Mapping[str, Labels] | None = None,
    *,
    weights: Sequence[float] | None = None,
    constant_length: float | None = None,
    printed_number: str | None = None,
    declared: str | None = None,
) -> Aggregation:
    """Every order of averaging `values`, and the ones that `printed_number` is, at its rounding interval.

    values: one number an item (a token's loss, an utterance's error rate). weights: how many things each of them
    already averages over (tokens of a micro-batch, words of an utterance); default 1. groups: a label for every
    value, or level -> labels, outermost level first (`{"batch": …, "sequence": …}`); labels of an inner level count
    within the outer one. constant_length: the fixed number that every group's sum is divided by.

    Orders: `token mean` (weighted over all items), `mean of items` (where weights are given), `mean of batch means`
    and so on for every choice of levels, sums, means of group sums, constant length, medians, harmonic and geometric
    means, and the token mean multiplied by the number of groups (a correction made twice).

    Raises BadInput for lengths that differ, values that are no finite numbers up to 1e100, weights that are not
    positive, and an order that is not there.
    """
    items = _items(values, weights)
    levels = _levels(groups, len(items))
    if constant_length is not None and not (math.isfinite(constant_length) and constant_length > 0):
        raise BadInput("the constant length is not a positive number", mend="pass the number the sum is divided by")
    orders = {
        name: value
        for name, value in _orders(items, levels, weighted=weights is not None, length=constant_length)
        if math.isfinite(value)
    }
    if declared is not None and declared not in orders:
        raise BadInput(f"no order of averaging is named {shown(declared)}", mend=f"one of {', '.join(orders)}")
    number = None if printed_number is None else printed(printed_number)
    matches = () if number is None else tuple(name for name, value in orders.items() if _rounds_to(value, number))
    if (
        declared is not None
        and number is not None
        and declared not in matches
        and may_print_as(orders[declared], number)
    ):
        matches = (declared, *matches)
    witness = None
    if declared is not None and matches and declared not in matches:
        witness = _witness(declared, matches[0], list(levels), weighted=weights is not None, length=constant_length)
    missing = [] if number is not None else ["the printed number"]
    missing += ["the order in which it is said to be averaged"] if declared is None else []
    missing += (
        ["the order that was used, or the values behind the number"] if number is not None and not matches else []
    )
    return Aggregation(
        orders=MappingProxyType(orders),
        printed=number,
        declared=declared,
        matches=matches,
        missing=tuple(missing),
        witness=witness,
    )


@dataclass(frozen=True, slots=True)
class _Item:
    value: float
    weight: float


_Levels = Mapping[str, Sequence[Hashable]]


def _items(values: Sequence[float], weights: Sequence[float] | None) -> list[_Item]:
    try:
        numbers = [float(value) for value in values]
        heavy = [1.0] * len(numbers) if weights is None else [float(weight) for weight in weights]
    except (TypeError, ValueError, OverflowError) as error:
        raise BadInput("a value or weight is not a number", mend="pass numbers") from error
    if not 0 < len(numbers) <= MOST_VALUES:
        raise BadInput(f"{len(numbers)} values", mend=f"pass 1 to {MOST_VALUES}")
    if len(heavy) != len(numbers):
        raise BadInput(f"{len(numbers)} values and {len(heavy)} weights", mend="pass one weight a value")
    if not all(abs(number) <= LARGEST for number in (*numbers, *heavy)) or min(heavy) <= 0:
        raise BadInput("a value is not finite or beyond 1e100, or a weight not positive", mend="leave that item out")
    return [_Item(value, weight) for value, weight in zip(numbers, heavy, strict=True)]


def _levels(groups: Labels | Mapping[str, Labels] | None, n: int) -> _Levels:
    named = {} if groups is None else dict(groups) if isinstance(groups, Mapping) else {"group": groups}
    if len(named) > MOST_LEVELS:
        raise BadInput(f"{len(named)} levels of groups", mend=f"pass at most {MOST_LEVELS}")
    for name, labels in named.items():
        if len(labels) != n:
            raise BadInput(f"{n} values and {len(labels)} labels of {shown(name)}", mend="pass one label a value")
    return named


def _grouped(items: Sequence[_Item], labels: Sequence[Hashable]) -> list[list[_Item]]:
    parts: dict[Hashable, list[_Item]] = {}
    for item, label in zip(items, labels, strict=True):
        parts.setdefault(label, []).append(item)
    return list(parts.values())


def _sum(items: Sequence[_Item]) -> float:
    return math.fsum(item.value * item.weight for item in items)


def _mean(items: Sequence[_Item]) -> float:
    return _sum(items) / math.fsum(item.weight for item in items)


def _nested_mean(items: Sequence[_Item], chain: Sequence[Sequence[Hashable]]) -> float:
    """Mean over the groups of the first level of the means over those of the second, ... of the token means."""
    if not chain:
        return _mean(items)
    parts: dict[Hashable, list[int]] = {}
    for i, label in enumerate(chain[0]):
        parts.setdefault(label, []).append(i)
    means = [
        _nested_mean([items[i] for i in part], [[c[i] for i in part] for c in chain[1:]]) for part in parts.values()
    ]
    return math.fsum(means) / len(means)


def _harmonic(values: Sequence[float]) -> float:
    return len(values) / math.fsum(1 / value for value in values) if min(values) > 0 else math.nan


def _geometric(values: Sequence[float]) -> float:
    return math.exp(math.fsum(map(math.log, values)) / len(values)) if min(values) > 0 else math.nan


def _orders(
    items: list[_Item], levels: _Levels, *, weighted: bool, length: float | None
) -> Iterator[tuple[str, float]]:
    values = [item.value for item in items]
    token_mean = _mean(items)
    yield ITEM_MEAN, token_mean
    yield "sum", _sum(items)
    if weighted:
        yield "mean of items", math.fsum(values) / len(values)
        yield "sum of item means", math.fsum(values)
        yield "token mean times the item count", token_mean * len(values)
    names = list(levels)
    keys = {name: _within(levels, names[: i + 1]) for i, name in enumerate(names)}
    for size in range(1, len(names) + 1):
        for chain in combinations(names, size):
            yield f"mean of {' means of '.join(chain)} means", _nested_mean(items, [keys[name] for name in chain])
    for name in names:
        yield from _of_level(name, _grouped(items, keys[name]), token_mean, length=length)
    yield "median", median(values)
    yield "harmonic mean", _harmonic(values)
    yield "geometric mean", _geometric(values)


def _of_level(
    name: str, parts: list[list[_Item]], token_mean: float, *, length: float | None
) -> Iterator[tuple[str, float]]:
    n = len(parts)
    means, sums = [_mean(part) for part in parts], [_sum(part) for part in parts]
    yield f"mean of {name} sums", math.fsum(sums) / n
    yield f"sum of {name} means", math.fsum(means)
    if length is not None:
        yield f"mean of {name} sums over a constant length", math.fsum(sums) / (n * length)
    yield f"token mean times the {name} count", token_mean * n
    yield f"median of {name} means", median(means)
    yield f"mean of {name} medians", math.fsum(median(item.value for item in part) for part in parts) / n
    yield f"harmonic mean of {name} means", _harmonic(means)
    yield f"geometric mean of {name} means", _geometric(means)


def _within(levels: _Levels, names: Sequence[str]) -> list[Hashable]:
    return list(zip(*(levels[name] for name in names), strict=True))


def _rounds_to(value: float, number: Printed) -> bool:
    slack = SLACK * max(Fraction(1), abs(Fraction(value)))
    return Interval(number.interval.low - slack, number.interval.high + slack).meets(Interval(*[Fraction(value)] * 2))


def _span(orders: Mapping[str, float]) -> str:
    return f"{min(orders.values()):.6g} to {max(orders.values()):.6g}"


# Smallest first; no two values are equal, so that no order can hide behind a symmetry.
_WITNESSES: tuple[tuple[tuple[float, ...], ...], ...] = (
    ((1,),),
    ((2,),),
    ((1, 2),),
    ((1,), (3,)),
    ((1,), (2, 4)),
    ((1, 2), (4,)),
    ((1,), (2, 4, 9)),
    ((1,), (2,), (4, 9)),
)


def _witness(
    declared: str, match: str, names: Sequence[str], *, weighted: bool, length: float | None
) -> Mapping[str, object] | None:
    """The smallest values on which two orders differ, as `input` for `aggregate`, and what both give there."""
    for parts, split in product(_WITNESSES, (True, False)):
        values = [value for part in parts for value in part]
        outer = [i for i, part in enumerate(parts) for _ in part]
        # An inner level splits every group into single values, or not at all.
        inner = list(range(len(values))) if split else outer
        groups: dict[str, Labels] = {name: inner if i else outer for i, name in enumerate(names)}
        weights = [float(i + 1) for i in range(len(values))] if weighted else None
        levels = _levels(groups, len(values))
        orders = dict(_orders(_items(values, weights), levels, weighted=weighted, length=length))
        if abs(orders[declared] - orders[match]) > 1e-9:
            given = {"values": values, "groups": groups, "weights": weights, "constant_length": length}
            return {"input": given, "declared": [declared, orders[declared]], "printed": [match, orders[match]]}
    return None
