"""Evaluators that round their values or refuse some calls, and faults that show only in large losses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from verifier.audits.fingerprint import fingerprint, recheck
from verifier.model.answers import AuditAnswer


def mean(losses: Any, mask: Any, _batch_size: int = 1) -> float:
    return float(losses[mask].mean())


def bfloat16(value: float) -> float:
    bits = np.float32(value).view(np.uint32) & np.uint32(0xFFFF0000)
    return float(bits.view(np.float32))


@pytest.mark.parametrize(
    ("rounded", "returns", "words"),
    [
        (lambda x, m, _: round(math.exp(mean(x, m)), 2), "perplexity", "2 decimals"),
        (lambda x, m, _: round(mean(x, m), 3), "loss", "3 decimals"),
        (lambda x, m, _: math.exp(round(mean(x, m), 3)), "perplexity", "mean losses rounded to 3 decimals"),
        (lambda x, m, _: float(np.float16(mean(x, m))), "loss", "half precision"),
        (lambda x, m, _: np.float16(math.exp(mean(x, m))), "perplexity", "half precision"),
        (lambda x, m, _: bfloat16(mean(x, m)), "loss", "bfloat16"),
        (lambda x, m, _: bfloat16(math.exp(mean(x, m))), "perplexity", "bfloat16"),
    ],
)
def test_a_correct_evaluator_that_rounds_is_not_accused(rounded: Any, returns: Any, words: str) -> None:
    found = fingerprint(rounded, returns=returns)
    assert found.violated == frozenset()
    assert found.diagnosis == "correct"
    assert words in found.sentence


@pytest.mark.parametrize(
    "faulty",
    [
        lambda x, _m, _b: round(math.exp(float(x.mean())), 2),
        lambda x, m, _: round(math.exp(float(np.mean([r[k].mean() for r, k in zip(x, m, strict=True) if k.any()]))), 2),
        lambda x, m, _: round(math.exp(1.1 * mean(x, m)), 2),
    ],
)
def test_a_faulty_evaluator_that_rounds_is_still_caught(faulty: Any) -> None:
    found = fingerprint(faulty)
    assert found.finding is AuditAnswer.MISMATCH_PROVEN
    assert found.witness is not None
    assert recheck(faulty, found.witness)


def test_values_that_are_short_by_nature_widen_nothing() -> None:
    """A fault of 0.2 % on a corpus whose means are short decimals themselves."""
    corpus = [[1.0, 2.0], [3.0, 4.0]]

    def biased(losses: Any, mask: Any, _: int) -> float:
        return mean(losses, mask) + 0.002

    assert fingerprint(biased, returns="loss", corpus=corpus).violated


@pytest.mark.parametrize(
    ("guarded", "relation"),
    [
        (lambda x, m, _: math.exp(mean(x, m)) if m.sum() >= 5 else 1 / 0, "split"),
        (lambda x, m, _: math.exp(mean(x, m)) if (np.diff(m.astype(int)) <= 0).all() else 1 / 0, "leftpad"),
    ],
)
def test_a_refusal_is_called_one(guarded: Any, relation: str) -> None:
    found = fingerprint(guarded)
    assert found.violated == {relation}
    assert found.diagnosis == "unknown fault"
    assert "it refuses the calls" in found.sentence
    assert "a fault" not in found.sentence


def test_a_refusal_beside_a_fault_is_a_fault() -> None:
    found = fingerprint(lambda x, m, _: math.exp(float(x.mean())) if m.sum() >= 5 else 1 / 0)
    assert "refuses" not in found.sentence


@pytest.mark.parametrize(
    ("clamped", "returns", "relation"),
    [
        (lambda x, m, _: math.exp(min(20.0, mean(x, m))), "perplexity", "constant"),
        (lambda x, m, _: mean(np.minimum(x, 400), m), "loss", "bump"),
        (lambda x, m, _: mean(np.where(x > 350, 350 + np.log1p(np.maximum(x - 350, 0)), x), m), "loss", "bump"),
    ],
)
def test_clamps_of_large_losses_show(clamped: Any, returns: Any, relation: str) -> None:
    assert relation in fingerprint(clamped, returns=returns).violated


def test_the_sentence_says_what_was_tried() -> None:
    assert fingerprint(mean, returns="loss").sentence.startswith("None of 15 relations is broken")
    assert fingerprint(lambda x, m, _: math.exp(min(700.0, float(x[m].sum())))).violated
