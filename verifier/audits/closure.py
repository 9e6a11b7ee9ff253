"""Identities between printed numbers: whether all can hold for some rounding, and what change would let them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from typing import Any, Literal

from verifier.audits.audit import Audit
from verifier.audits.dilution import dilution
from verifier.audits.dilution_box import Box, Measured, PadLoss, PrintedDeflation, box
from verifier.audits.granularity import granularity
from verifier.audits.identities import (
    Demand,
    bytes_per_word,
    common,
    mean_demands,
    product_demands,
    ratio_demands,
    weighted_mean,
)
from verifier.audits.interval import Interval, exactly
from verifier.audits.logarithms import exp, middle
from verifier.audits.printed import Printed
from verifier.audits.shown_numbers import figures, sentence
from verifier.model.answers import AuditAnswer
from verifier.model.basis import BasisClass
from verifier.model.complaints import listed
from verifier.model.errors import BadInput

Identity = Literal["mean", "product", "little", "bytes-per-word", "dilution", "granularity"]
MOST_TERMS = 10_000
NAMED = 8
"""Numbers of a set that a sentence names; all of them stand in the details."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """The printed numbers of an identity: their names, as printed, and every value that each may mean.

    The total stands last where there is one.
    """

    names: tuple[str, ...]
    printed: tuple[Printed, ...]
    intervals: tuple[Interval, ...]


def closure(
    *,
    identity: Identity,
    terms: Sequence[Printed],
    printed: Printed | None = None,
    weights: Sequence[Printed] | None = None,
    source: str | None = None,
) -> Audit:
    """Whether printed numbers that must satisfy an identity can, for some rounding of each.

    `identity`, with `terms` and the `printed` number that they give:
    `mean`: cells, and their mean; with `weights` (whole numbers are counts, exact as p/q is; others are rounded)
    weighted.
    `product`: factors (whole numbers are exact), and their product. `little`: arrival rate and mean time, and the mean
    number (L = λW).
    `bytes-per-word`: word perplexity, byte perplexity, the same of further runs over one corpus, and the bytes per
    word; the last may be missing with two runs or more.
    `dilution`: perplexity, padded share, pad loss in nats and, if registered, its largest value; and the deflation of
    the perplexity.
    `granularity`: percentages, and the number of items that they are of; see `granularity`, whose finding this is.

    `SAME_BASIS` where the numbers can hold together, `JOINTLY_INCONSISTENT` where neither rounding nor cutting digits
    off lets them (in a dilution, where no rounding does), with the smallest change of one printed number that would,
    rounded; `INSUFFICIENT` where the printed number is missing. Intervals are exact, logarithms are rounded outward.
    `source`: where the numbers are printed.

    Raises BadInput for a wrong number of terms and for numbers outside the identity's domain.
    """
    _check_counts(identity, terms, weights)
    if identity == "dilution":
        return _dilution(terms, printed, source)
    if identity == "granularity":
        return _granularity(terms, printed, source)
    if printed is None and not (identity == "bytes-per-word" and len(terms) > 2):
        return Audit(
            mechanism="closure",
            basis_class=BasisClass.CLOSE,
            finding=AuditAnswer.INSUFFICIENT,
            sentence=f"What the {_total_name(identity)} is said to be is not given.",
            declared_in=source,
            missing=(f"the printed {_total_name(identity)}",),
        )
    numbers = _numbers(identity, terms, printed)
    demands, given, holds = _follows(identity, numbers, weights, total=printed is not None)
    cut = False
    if not holds:
        loose = replace(numbers, intervals=tuple(map(_loose, numbers.printed, numbers.intervals)))
        cut = holds = _follows(identity, loose, weights, total=printed is not None)[2]
    exact = replace(numbers, intervals=tuple(exactly(each.value) for each in numbers.printed))
    points = _points(identity, exact.intervals[: len(terms)], [exactly(each.value) for each in weights or []])
    at = {"at_printed_values": [middle(point) for point in points], "only_if_cut_off": cut}
    return _answer(identity, numbers, demands, given=given, holds=holds, cut=cut, source=source, more=at)


def _loose(number: Printed, interval: Interval) -> Interval:
    """Every value that the number may mean, rounded or cut off; one that is exact stays so."""
    return interval if interval.low == interval.high else number.loose


def _follows(
    identity: Identity, numbers: Numbers, weights: Sequence[Printed] | None, *, total: bool
) -> tuple[list[Demand], Interval | None, bool]:
    """What each number must be, what the terms give, and whether all can hold."""
    inside = numbers.intervals[:-1] if total else numbers.intervals
    whole = numbers.intervals[-1] if total else None
    given: Interval | None
    if identity == "mean":
        heavy = [_weight(each) for each in weights] if weights else [exactly(1)] * len(inside)
        given = weighted_mean(inside, heavy)
        demands = mean_demands(inside, heavy, whole or exactly(0))
    elif identity == "bytes-per-word":
        pairs = list(zip(inside[::2], inside[1::2], strict=True))
        if any(x.low <= 1 for x in inside):  # cut off, a perplexity may be 1, whose logarithm divides nothing
            return [], None, False
        given = common([bytes_per_word(*pair) for pair in pairs])
        demands = ratio_demands(pairs, whole)
    else:
        demands = product_demands(inside, whole or exactly(0))
        given = demands[-1].allowed
    return demands, given, given is not None and (whole is None or given.meets(whole))


def _points(identity: Identity, exact: Sequence[Interval], weights: Sequence[Interval]) -> list[Interval]:
    """What the terms give at their printed values."""
    if identity == "mean":
        return [weighted_mean(exact, weights or [exactly(1)] * len(exact))]
    if identity == "bytes-per-word":
        return [bytes_per_word(*pair) for pair in zip(exact[::2], exact[1::2], strict=True)]
    return [product_demands(exact, exactly(0))[-1].allowed or exactly(0)]


def _answer(
    identity: str,
    numbers: Numbers,
    demands: Sequence[Demand],
    *,
    given: Interval | None,
    holds: bool,
    cut: bool = False,
    source: str | None,
    more: Mapping[str, Any] | None = None,
) -> Audit:
    changes = [] if holds else restoring(numbers, demands)
    names = [f"{name} {each.text}" for name, each in zip(numbers.names, numbers.printed, strict=True)]
    named = listed(names if len(names) <= NAMED else [*names[: NAMED - 2], "…", names[-1]])
    if holds:
        how = ", if digits are cut off and not rounded" if cut else ""
        said = sentence(f"{named} can hold together by the identity {identity}{how}")
    else:
        follows = "" if given is None else f"the others give {_span(given)}"
        mended = ""
        if changes:
            best = changes[0]
            mended = f"{best['number']} {best['to']} in place of {best['printed']}"
            mended = f"the smallest change that would let them, rounded, is {mended}"
        how = "whatever their rounding" if identity == "dilution" else "whether rounded or cut off"
        said = sentence(f"{named} cannot all hold by the identity {identity}, {how}", follows, mended)
    return Audit(
        mechanism="closure",
        basis_class=BasisClass.CLOSE,
        finding=AuditAnswer.SAME_BASIS if holds else AuditAnswer.JOINTLY_INCONSISTENT,
        sentence=said,
        declared_in=source,
        # the printed numbers are the whole input: no smaller one shows it
        witness=None
        if holds
        else {"identity": identity, "numbers": named, "given": None if given is None else _span(given)},
        details={
            "identity": identity,
            "set": [
                {"name": name, "printed": each.text, "interval": _ends(interval)}
                for name, each, interval in zip(numbers.names, numbers.printed, numbers.intervals, strict=True)
            ],
            "given": None if given is None else _ends(given),
            "holds": holds,
            "restoring": changes,
            **(more or {}),
        },
    )


def restoring(numbers: Numbers, demands: Sequence[Demand]) -> list[dict[str, Any]]:
    """Each change of one printed number that lets all hold, the relatively smallest first: to which printed number."""
    found = []
    for demand in demands:
        number, interval = numbers.printed[demand.index], numbers.intervals[demand.index]
        if demand.allowed is None or demand.allowed.meets(interval):
            continue
        to = nearest_printed(number, demand.allowed)
        if number.step and interval.low == interval.high and to not in demand.allowed:
            continue  # a whole number of things that is exact, and no such number is allowed
        size = abs(to - number.value)
        relative = float(size / abs(number.value)) if number.value else None
        name = numbers.names[demand.index]
        found.append({"number": name, "printed": number.text, "to": _decimal(to, number), "relative": relative})
    return sorted(found, key=lambda change: (change["relative"] is None, change["relative"] or 0.0))


def nearest_printed(number: Printed, allowed: Interval) -> Fraction:
    """The number nearest to `number`, printed to as many digits, some rounding of which is allowed."""
    up = allowed.low > number.value
    distance = allowed.low - number.value if up else number.value - allowed.high
    if number.step:
        distance = number.step * ceil(distance / number.step - Fraction(1, 2))
    return number.value + distance if up else number.value - distance


def _dilution(terms: Sequence[Printed], printed: Printed | None, source: str | None) -> Audit:
    largest = terms[3] if len(terms) > 3 else None
    pad = PadLoss(terms[2], largest)
    deflation = None if printed is None else PrintedDeflation("perplexity", printed)
    found = dilution(measured=Measured(terms[0]), p=terms[1], pad_loss=pad, printed_deflation=deflation)
    if printed is None or deflation is None:
        return Audit(
            mechanism="closure",
            basis_class=BasisClass.CLOSE,
            finding=AuditAnswer.INSUFFICIENT,
            sentence="By how much padding is said to deflate the perplexity is not given.",
            declared_in=source,
            missing=("the printed deflation",),
        )
    within = box(terms[0], p=terms[1], pad_loss=pad, deflation=deflation)
    assert within.share is not None
    assert within.pad is not None
    assert within.factor is not None
    numbers = Numbers(
        (
            "perplexity",
            "padded share",
            "largest pad loss in nats" if largest else "pad loss in nats",
            "deflation of the perplexity",
        ),
        (terms[0], terms[1], largest or terms[2], printed),
        (terms[0].interval, within.share, within.pad, within.factor),
    )
    return _answer(
        "dilution",
        numbers,
        _dilution_demands(within),
        given=within.deflation(),
        holds=within.consistent() is not False,
        source=source,
        more={"dilution": dict(found.details), "said": found.sentence},
    )


def _granularity(terms: Sequence[Printed], items: Printed | None, source: str | None) -> Audit:
    if items is None:
        return Audit(
            mechanism="closure",
            basis_class=BasisClass.CLOSE,
            finding=AuditAnswer.INSUFFICIENT,
            sentence="Of how many items the percentages are is not given.",
            declared_in=source,
            missing=("the number of items",),
        )
    if items.value.denominator != 1:
        raise BadInput(
            f"{items.text} is no number of items", where="closure.printed", mend="write a whole number from 1"
        )
    found = granularity([term.text for term in terms], n=int(items.value))
    return replace(found, mechanism="closure", declared_in=source)


def _dilution_demands(within: Box) -> list[Demand]:
    log = within.solved_log()
    return [
        Demand(0, None if log is None or log.high > 700 or log.high < 0 else exp(log)),
        Demand(1, within.solved_share()),
        Demand(2, within.solved_pad()),
        Demand(3, within.deflation()),
    ]


def _numbers(identity: Identity, terms: Sequence[Printed], printed: Printed | None) -> Numbers:
    if identity == "bytes-per-word":
        kinds = [f"{kind} perplexity" for kind in ("word", "byte")]
        several = len(terms) > 2
        names = [f"{kinds[i % 2]} of run {i // 2 + 1}" if several else kinds[i] for i in range(len(terms))]
    elif identity == "little":
        names = ["rate", "mean time"]
    else:
        names = [f"{'cell' if identity == 'mean' else 'factor'} {i + 1}" for i in range(len(terms))]
    every = list(terms)
    if printed is not None:
        names.append(_total_name(identity))
        every.append(printed)
    intervals = [each.interval for each in every]
    if identity == "product":  # "8" of something is 8; a product that is written whole may be rounded all the same
        for index, term in enumerate(terms):
            if term.whole:
                intervals[index] = exactly(term.value)
    if identity == "bytes-per-word":
        for name, each, interval in zip(names[: len(terms)], terms, intervals, strict=False):
            if interval.low <= 1:
                raise BadInput(
                    f"{each.text} as {name} may be 1 or less",
                    where="closure.terms",
                    mend="write perplexities above 1, to more digits",
                )
    return Numbers(tuple(names), tuple(every), tuple(intervals))


def _total_name(identity: Identity) -> str:
    return {"mean": "mean", "product": "product", "little": "mean number", "bytes-per-word": "bytes per word"}.get(
        identity, "deflation"
    )


def _check_counts(identity: Identity, terms: Sequence[Printed], weights: Sequence[Printed] | None) -> None:
    n = len(terms)
    needs = {
        "little": (n == 2, "exactly two: the rate and the mean time"),
        "bytes-per-word": (n >= 2 and n % 2 == 0, "pairs: word perplexity, byte perplexity"),
        "dilution": (n in {3, 4}, "perplexity, padded share, pad loss, and its largest value if registered"),
    }.get(identity, (n >= 1, "at least one"))
    if not needs[0] or n > MOST_TERMS:
        raise BadInput(f"{n} terms for the identity {identity}", where="closure.terms", mend=f"write {needs[1]}")
    if weights is None:
        return
    if identity != "mean":
        raise BadInput(f"the identity {identity} has no weights", where="closure.weights", mend="leave them out")
    if len(weights) != n:
        raise BadInput(f"{n} terms and {len(weights)} weights", where="closure.weights", mend="write one a term")
    for weight in weights:
        if _weight(weight).low <= 0:
            raise BadInput(f"the weight {weight.text} is not above 0", where="closure.weights", mend="leave it out")


def _weight(weight: Printed) -> Interval:
    """A whole number is a count, and exact."""
    return exactly(weight.value) if weight.value.denominator == 1 and weight.step <= 1 else weight.interval


def _decimal(value: Fraction, like: Printed) -> str:
    """The value to the digits of `like`; p/q where that is exact."""
    if like.step == 0:
        return str(value)
    decimals = max(0, len(str(like.step.denominator)) - 1)
    return f"{float(value):.{decimals}f}"


def _ends(x: Interval) -> list[float]:
    return [float(x.low), float(x.high)]


def _span(x: Interval) -> str:
    low, high = figures(x.low, 4), figures(x.high, 4)
    return low if low == high else f"{low} to {high}"
