"""The constant between a function and the formula that a text names: nothing, another unit, or the other direction."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from verifier.audits.fingerprint import fingerprint
from verifier.audits.identify import identify
from verifier.model.answers import AuditAnswer
from verifier.model.basis import BasisClass


def kl(p: Any, q: Any) -> float:
    return float(np.sum(p * np.log(p / q)))


def hardware(parameters: float, _layers: float, _width: float, _context: float, *rest: float) -> float:
    rate, gpus, peak = rest
    return 8 * parameters * rate / (gpus * peak)


def half_width(x: Any) -> float:
    return float(1.96 * np.std(x, ddof=1) / len(x) ** 0.5)


def nats_per_byte(losses: Any, _words: Any, _characters: Any, size: Any) -> float:
    return float(np.concatenate(losses).sum() / size)


@pytest.mark.parametrize(
    ("function", "catalogue", "expected", "says"),
    [
        (hardware, "utilisation", "6N", "6N, with recomputation"),
        (nats_per_byte, "perplexity", "bits per byte", "ln 2"),
        (half_width, "std", "standard error (ddof 1)", "1.96"),
        (lambda y, p: float((y == p).mean()) / 2, "classification", "accuracy", "0.5 times"),
        (lambda items, s, _g: 8 * float(items.sum() / s.sum()), "throughput", "items per second", "8 times"),
        (lambda x: 2 * np.searchsorted(np.unique(x), x) + 2.0, "rank-ties", "dense", "2 times"),
    ],
)
def test_a_measure_times_a_constant_is_another_unit(function: Any, catalogue: str, expected: str, says: str) -> None:
    audit = identify(function, catalogue=catalogue).audit(expected=expected, materiality=0.05)
    assert (audit.finding, audit.basis_class) == (AuditAnswer.MISMATCH_PROVEN, BasisClass.UNIT)
    assert says in audit.sentence
    assert audit.material is True
    assert audit.witness is not None
    assert audit.witness["left"] != pytest.approx(audit.witness["right"], rel=1e-3)


def test_a_small_constant_is_not_material_under_a_larger_threshold() -> None:
    audit = identify(lambda x: 1.01 * float(np.std(x)), catalogue="std").audit(
        expected="std (ddof 0)", materiality=0.05
    )
    assert (audit.finding, audit.material) == (AuditAnswer.MISMATCH_PROVEN, False)


@pytest.mark.parametrize(
    ("function", "catalogue", "expected"),
    [
        (lambda p, q: -kl(p, q), "divergences", "KL(p||q)"),
        (lambda y, p: -float((y == p).mean()), "classification", "accuracy"),
    ],
)
def test_a_negative_constant_turns_the_direction_round(function: Any, catalogue: str, expected: str) -> None:
    audit = identify(function, catalogue=catalogue).audit(expected=expected, materiality=0.5)
    assert (audit.finding, audit.basis_class) == (AuditAnswer.MISMATCH_PROVEN, BasisClass.DIR)
    assert audit.material is True


def test_an_objective_up_to_a_positive_constant_is_the_same_and_the_constant_is_named() -> None:
    mean = identify(lambda p, q: kl(p, q) / p.size, catalogue="divergences").audit(expected="KL(p||q)")
    assert mean.finding is AuditAnswer.SAME_BASIS
    assert "mean" in mean.sentence
    bits = identify(lambda p, q: kl(p, q) / math.log(2), catalogue="divergences").audit(expected="KL(p||q)")
    assert bits.finding is AuditAnswer.SAME_BASIS
    assert "1/ln 2" in bits.sentence
    percent = identify(lambda y, p: 100 * float((y == p).mean()), catalogue="classification")
    assert percent.audit(expected="accuracy").finding is AuditAnswer.SAME_BASIS


@pytest.mark.parametrize("share", [1e-4, 2e-4, 1e-3])
def test_a_trace_of_the_other_direction_is_no_member_of_a_family(share: float) -> None:
    found = identify(lambda p, q: (1 - share) * kl(p, q) + share * kl(q, p), catalogue="divergences")
    assert (found.name, found.nearest, found.parameter) == ("NONE", "KL(p||q)", None)


def test_a_complex_value_and_an_exit_are_no_value() -> None:
    def leaves(*_: Any) -> float:
        raise SystemExit(0)

    for function in (lambda p, q: np.complex128(kl(p, q) + 1j), leaves):
        assert identify(function, catalogue="divergences").finding is AuditAnswer.INSUFFICIENT
    assert fingerprint(leaves).finding is AuditAnswer.INSUFFICIENT


@pytest.mark.parametrize("factor", [2.0, 4.0, 1.1, math.log(4)])
def test_a_constant_factor_is_called_that(factor: float) -> None:
    found = fingerprint(lambda x, m, _: factor * float(x[m].mean()), returns="loss")
    assert found.diagnosis == "unknown fault"
    assert "a constant factor on ln perplexity" in found.sentence
