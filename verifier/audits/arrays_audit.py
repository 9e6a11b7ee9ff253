"""What a number that came from arrays of losses was computed over: padding, order of averaging, unit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from verifier.audits.aggregate import Aggregation, aggregate
from verifier.audits.audit import Audit, Side
from verifier.audits.dilution_arrays import Returns, split_audit, split_of
from verifier.audits.matching import may_print_as, rounds_to
from verifier.audits.printed import Printed
from verifier.audits.shown_numbers import figures
from verifier.audits.token_arrays import Ints, TokenArrays
from verifier.model.answers import AuditAnswer
from verifier.model.basis import BasisClass

LN2 = math.log(2)
DECLARED = "token mean"
MOST_SINGLE = 300_000
"""Real tokens up to which every one is averaged by itself; of more, sequences (or batches) are, weighted by length."""


def arrays_audit(
    arrays: TokenArrays, *, printed: Printed | None = None, returns: Returns = "perplexity"
) -> list[Audit]:
    """MASK, AGG and UNIT audits of the arrays: which of their numbers is the `printed` one.

    `returns`: what the printed number is, a perplexity or a mean loss. The reference is the token mean over real tokens
    in nats. Where the printed number is that, every audit says so; where it is another, those that show which are
    returned, and all that could not say where none could.

    Raises BadInput where no position is a real token.
    """
    audits = [unit_audit(arrays, printed=printed, returns=returns)]
    if arrays.sequence is not None or arrays.batch is not None:
        audits.insert(0, aggregation_audit(arrays, printed=printed, returns=returns))
    if arrays.mask is not None:
        audits.insert(0, split_audit(arrays, printed=printed, returns=returns))
    shown = [audit for audit in audits if audit.finding is AuditAnswer.MISMATCH_PROVEN]
    return shown or audits


def unit_audit(arrays: TokenArrays, *, printed: Printed | None, returns: Returns) -> Audit:
    """Whether the printed number took nats for bits or bits for nats, on real tokens or with padding.

    Mean loss m in nats: the twin of m is m/ln 2 bits, that of exp(m) is 2^m.
    """
    split = split_of(arrays)
    values = _numbers(split["mean_real"], returns)
    padded = _numbers(split["mean_all"], returns)
    twin = "2 to the mean loss in nats" if returns == "perplexity" else "the mean loss in bits"
    names = {"nats": "the natural one" if returns == "perplexity" else "the mean loss in nats", "twin": twin}
    finding, said = AuditAnswer.INSUFFICIENT, "which of them was printed is not given"
    if printed is not None:
        said = f"{printed.text} is neither"
        if values["nats"] is not None and may_print_as(values["nats"], printed):
            finding, said = AuditAnswer.SAME_BASIS, f"{printed.text} is {names['nats']}"
        elif _is(values["twin"], printed):
            finding, said = AuditAnswer.MISMATCH_PROVEN, f"{printed.text} is {twin}"
        elif arrays.mask is not None and _is(padded["twin"], printed) and not _is(padded["nats"], printed):
            finding, said = AuditAnswer.MISMATCH_PROVEN, f"{printed.text} is {twin}, with padding scored too"
    mean = split["mean_real"]
    return Audit(
        mechanism="arrays",
        basis_class=BasisClass.UNIT,
        finding=finding,
        sentence=f"In nats the {returns} is {_text(values['nats'])}, and {twin} is {_text(values['twin'])}; {said}.",
        left=Side("nats", _text(values["nats"]), returns),
        right=Side("bits", _text(values["twin"]), twin),
        missing=() if finding is not AuditAnswer.INSUFFICIENT else (_ask(printed),),
        witness=None
        if finding is not AuditAnswer.MISMATCH_PROVEN
        else {"losses": [mean], "nats": _numbers(mean, returns)["nats"], "twin": _numbers(mean, returns)["twin"]},
        details={"returns": returns, "nats": values["nats"], "twin": values["twin"]},
    )


def aggregation_audit(arrays: TokenArrays, *, printed: Printed | None, returns: Returns) -> Audit:
    """Every order of averaging the losses of real tokens by batches and sequences, and which one was printed.

    For a perplexity each order is exponentiated, and means of sequence and batch perplexities are added.
    """
    values, weights, groups = _items(arrays)
    found = aggregate(values, groups, weights=weights, declared=DECLARED)
    if returns == "loss":
        if printed is None:
            return found.audit()
        return aggregate(values, groups, weights=weights, printed_number=printed.text, declared=DECLARED).audit()
    declared = f"exp of the {DECLARED}"
    orders = {f"exp of the {name}": math.exp(value) for name, value in found.orders.items() if value < 700}
    orders |= _means_of_perplexities(arrays)
    matches = () if printed is None else tuple(name for name, value in orders.items() if rounds_to(value, printed))
    known = declared in orders
    if known and printed is not None and declared not in matches and may_print_as(orders[declared], printed):
        matches = (declared, *matches)
    missing = ["the printed number"] if printed is None else [] if matches else ["the order that was used"]
    both = Aggregation(
        orders=orders,
        printed=printed,
        declared=declared if known else None,
        matches=matches,
        missing=tuple(missing),
        witness=_witness(declared, matches) if known and matches and declared not in matches else None,
    )
    return replace(both.audit(), details={**both.audit().details, "returns": returns})


def _items(arrays: TokenArrays) -> tuple[list[float], list[float] | None, Mapping[str, list[int]]]:
    """What is averaged: single tokens, or, of many, the means of the finest groups with their numbers of tokens."""
    real = arrays.real
    loss = arrays.loss[real]
    codes = {
        name: labels[real]
        for name, labels in (("batch", arrays.batch), ("sequence", arrays.sequence))
        if labels is not None
    }
    if len(loss) <= MOST_SINGLE or not codes:
        return loss.tolist(), None, {name: labels.tolist() for name, labels in codes.items()}
    key = np.zeros(len(loss), np.int64)  # codes lie below 5e7: two of them fit
    for labels in codes.values():
        key = key * (int(labels.max()) + 1) + labels
    _, first, index = np.unique(key, return_index=True, return_inverse=True)
    count = np.bincount(index.reshape(-1))
    means = np.bincount(index.reshape(-1), loss) / count
    levels = {name: labels[first].tolist() for name, labels in codes.items()}
    return means.tolist(), count.astype(float).tolist(), levels


def _means_of_perplexities(arrays: TokenArrays) -> dict[str, float]:
    real = arrays.real
    found = {}
    for name, labels in (("sequence", arrays.sequence), ("batch", arrays.batch)):
        if labels is not None and (means := _group_means(arrays, labels[real])).max() < 700:
            found[f"mean of {name} perplexities"] = math.fsum(np.exp(means)) / len(means)
    return found


def _group_means(arrays: TokenArrays, labels: Ints) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    index = np.unique(labels, return_inverse=True)[1].reshape(-1)
    means: np.ndarray[tuple[int], np.dtype[np.float64]] = np.bincount(index, arrays.loss[arrays.real]) / np.bincount(
        index
    )
    return means


def _witness(declared: str, matches: tuple[str, ...]) -> Mapping[str, object] | None:
    """Two sequences, each its own batch, on which the orders differ; None where they do not differ there."""
    small = TokenArrays(np.array([1.0, 2.0, 4.0]), None, np.array([0, 1, 1]), np.array([0, 1, 1]))
    values, weights, groups = _items(small)
    orders = {
        f"exp of the {name}": math.exp(value)
        for name, value in aggregate(values, groups, weights=weights).orders.items()
    } | _means_of_perplexities(small)
    for match in matches:
        if match in orders and abs(orders[match] - orders[declared]) > 1e-9 * orders[declared]:
            return {
                "losses": [[1.0], [2.0, 4.0]],
                "declared": [declared, orders[declared]],
                "printed": [match, orders[match]],
            }
    return None


def _numbers(mean: float, returns: Returns) -> dict[str, float | None]:
    if returns == "loss":
        return {"nats": mean, "twin": mean / LN2}
    return {"nats": math.exp(mean) if mean < 700 else None, "twin": 2.0**mean if mean < 1000 else None}


def _is(value: float | None, printed: Printed) -> bool:
    return value is not None and rounds_to(value, printed)


def _text(value: float | None) -> str:
    return "beyond all bounds" if value is None else figures(value, 6)


def _ask(printed: Printed | None) -> str:
    return "the printed number" if printed is None else f"the unit of {printed.text}, or what it was computed over"
