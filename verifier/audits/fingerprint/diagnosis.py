"""From the values of all calls to a name: only a fault whose values are equal on every call is named."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from verifier.audits.fingerprint.calls import Call, Returns, agree
from verifier.audits.fingerprint.faults import FAULTS, Simulated, proportional_fault, token_mean
from verifier.audits.fingerprint.relations import BASE, LARGEST_LOG
from verifier.model.basis import BasisClass

Logs = Mapping[str, float | None]

CORRECT = "correct"
UNKNOWN = "unknown fault"
NOT_DETERMINISTIC = "not deterministic"
NO_ANSWER = "no answer"
REFUSES = "it refuses the calls "
LOOKS_LIKE = {"loss": "this looks like a loss", "perplexity": "this looks like a perplexity"}


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A table row's name, `unknown fault`, or that the declaration is wrong; with its class and a clause of words."""

    name: str
    basis_class: BasisClass
    words: str


def named(calls: Sequence[Call], logs: Logs) -> Diagnosis | None:
    """The one fault whose values on all calls are the measured ones; None where no fault, or more than one, fits."""
    found = [
        Diagnosis(fault.name, fault.basis_class, fault.words)
        for fault in FAULTS
        if any(_fits(calls, logs, s, proportional=fault.proportional) for s in fault.variants)
    ]
    factor = _factor(calls, logs, token_mean)
    fault = proportional_fault(factor)
    if fault is not None and _fits(calls, logs, token_mean, proportional=True):
        found.append(Diagnosis(fault.name, fault.basis_class, f"{fault.words}: ln perplexity is {factor:.4g} times"))
    return found[0] if len(found) == 1 else None


def unknown(violated: frozenset[str], calls: Sequence[Call], logs: Logs) -> Diagnosis:
    """An unnamed fault, with a constant factor where that is all of it; its class is that of what it violates."""
    if violated & {"pad", "padvalue", "leftpad", "many", "long"}:
        basis_class = BasisClass.MASK
    elif violated & {"batch", "permute", "duplicate", "rechunk", "split", "replicate_one"}:
        basis_class = BasisClass.AGG
    else:
        basis_class = BasisClass.FORM
    factor = _factor(calls, logs, token_mean)
    words = "no fault of the table gives these values"
    if math.isfinite(factor) and _fits(calls, logs, token_mean, proportional=True):
        words = f"a constant factor on ln perplexity: it is {factor:.4g} times that of the real tokens on every call"
    return Diagnosis(UNKNOWN, basis_class, words)


def other(returns: Returns) -> Returns:
    """The declaration that was not made."""
    return "loss" if returns == "perplexity" else "perplexity"


def _factor(calls: Sequence[Call], logs: Logs, simulated: Simulated) -> float:
    base = next(call for call in calls if call.name == BASE)
    measured, expected = logs[BASE], simulated(base)
    return measured / expected if measured is not None and expected else math.nan


def _fits(calls: Sequence[Call], logs: Logs, simulated: Simulated, *, proportional: bool) -> bool:
    factor = _factor(calls, logs, simulated) if proportional else 1.0
    if not math.isfinite(factor):
        return False
    for call in calls:
        expected = factor * simulated(call)
        measured = logs[call.name]
        if math.isnan(expected):
            continue  # the fault leaves nothing to average there: evaluators differ in what they make of that
        if measured is None and expected > LARGEST_LOG:
            continue  # its perplexity overflows
        if not agree(measured, expected):
            return False
    return True
