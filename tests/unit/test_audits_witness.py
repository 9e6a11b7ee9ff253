"""Witnesses: small, asymmetric, materially apart, the same at every call, rechecked; public cases of divergences."""

from __future__ import annotations

import dataclasses
import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.oracles.formulas import CLASSIFICATION, DIVERGENCES, KL, REDUCTIONS, js, trainer
from verifier.audits.catalogues.divergences import CLASSES, entropy, kl, mixture_divergence
from verifier.audits.identify import identify
from verifier.audits.space import PROBABILITIES
from verifier.audits.witness import SPACES, Witness, witness
from verifier.model.errors import BadInput

FIXTURES = {case["id"]: case for case in json.loads(Path("tests/fixtures/audits.json").read_text(encoding="utf-8"))}


def backwards(p: Any, q: Any) -> float:
    return KL(q, p)


@pytest.mark.parametrize(("materiality", "relative"), [(0.05, False), (0.01, False), (0.04, True)])
def test_the_two_directions_of_kl(materiality: float, relative: bool) -> None:  # noqa: FBT001  # a parameter of the test
    found = witness(KL, backwards, materiality=materiality, relative=relative)
    assert found is not None
    p, q = found.raw
    assert len(p) == len(q) == 2  # no smaller one exists
    assert {entry.denominator for entry in (*p, *q)} <= {1, 2, 5, 10}
    assert sum(p) == sum(q) == 1
    assert sorted(p) != sorted(q)
    assert abs(found.left - found.right) > materiality * (abs(found.right) if relative else 1)
    assert (found.left, found.right) == (pytest.approx(KL(p, q)), pytest.approx(KL(q, p)))
    assert found.recheck(KL, backwards)
    assert not found.recheck(backwards, KL)
    assert not found.recheck(KL, KL)


def test_a_witness_is_the_same_at_every_call() -> None:
    first, second = (witness(KL, backwards, materiality=0.05) for _ in range(2))
    assert first is not None
    assert first == second
    document = json.loads(json.dumps(first.document))
    assert [Fraction(text) for text in document["input"]["p"]] == list(first.raw[0])


def test_norms_that_agree_on_three_classes_need_four() -> None:
    found = witness(DIVERGENCES["TV"], DIVERGENCES["Linf"], materiality=0.05)
    assert found is not None
    assert len(found.raw[0]) == 4


def test_rearranged_vectors_are_no_witness() -> None:
    case = FIXTURES["A2"]
    t, s = (np.array(case["input"][name]) for name in ("teacher", "student"))
    assert kl(t, s) == pytest.approx(case["expected"]["fwd"], abs=1e-9)
    assert kl(s, t) == pytest.approx(case["expected"]["rev"], abs=1e-9)
    for pair in (([7, 3], [3, 7]), ([6, 3, 1], [1, 3, 6]), ([5, 3, 2], [3, 2, 5])):
        raw = tuple(tuple(Fraction(entry, 10) for entry in vector) for vector in pair)
        assert not PROBABILITIES.admits(raw)
    # a difference of exactly the kind that only rearranged vectors would show finds nothing
    assert witness(lambda p, q: float(sorted(p) == sorted(q)), lambda _p, _q: 0.0, materiality=0.5) is None
    found = witness(KL, backwards, materiality=0.05)
    assert found is not None
    forged = dataclasses.replace(found, raw=(found.raw[0], found.raw[0][::-1]))
    assert not forged.recheck(KL, backwards)


def test_equal_functions_have_no_witness_and_the_search_ends() -> None:
    assert witness(KL, KL, materiality=0.0, seconds=0.3) is None
    assert witness(KL, lambda p, q: KL(p, q) + 0.009, materiality=0.01, seconds=0.3) is None


def test_functions_that_fail_somewhere_are_passed_over() -> None:
    def touchy(p: Any, q: Any) -> float:
        if len(p) < 3:
            raise ValueError
        return math.nan if p[0] > 0.5 else KL(q, p)

    found = witness(KL, touchy, materiality=0.05)
    assert found is not None
    assert len(found.raw[0]) == 3
    assert found.raw[0][0] <= Fraction(1, 2)


def test_a_function_that_changes_its_mind_gives_no_witness() -> None:
    calls = iter(range(10**6))
    assert witness(KL, lambda p, q: KL(p, q) + next(calls), materiality=0.5, seconds=0.5) is None


def test_arrays_and_labels() -> None:
    padded = witness(
        lambda losses, _mask: losses.mean(),
        lambda losses, mask: losses[mask].mean(),
        materiality=0.05,
        space="masked losses",
    )
    assert padded is not None
    losses, mask = padded.raw
    assert (len(losses), len(losses[0])) == (1, 2)
    assert sum(map(sum, mask)) == 1
    reduction = witness(REDUCTIONS["sequence mean"], REDUCTIONS["token mean"], materiality=0.05, space="sequences")
    assert reduction is not None
    assert sorted(map(len, reduction.raw[0])) == [1, 2]
    f1 = witness(
        CLASSIFICATION["macro F1 (mean of F1)"],
        CLASSIFICATION["macro F1 (harmonic mean of means)"],
        materiality=0.05,
        space="labels",
    )
    assert f1 is not None
    assert len(f1.raw[0]) <= 4


@pytest.mark.parametrize(
    "options",
    [
        {"materiality": -1},
        {"materiality": math.nan},
        {"materiality": 1, "space": "words"},
        {"materiality": 1, "seconds": 0},
    ],
)
def test_usage_that_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match="witness"):
        witness(KL, KL, **options)


def test_every_space_draws_what_it_admits() -> None:
    for name, space in SPACES.items():
        assert len(space.names) in (1, 2)
        found = witness(lambda *_: 1.0, lambda *_: 0.0, materiality=0.5, space=space)
        assert isinstance(found, Witness), name
        assert space.admits(found.raw)


def test_the_direction_of_self_distillation() -> None:
    case = FIXTURES["A1"]
    t, s = (np.array(case["input"][name]) for name in ("teacher", "student"))
    expected = case["expected"]
    assert kl(t, s) == pytest.approx(expected["KL_teacher_student"], abs=1e-9)
    assert kl(s, t) == pytest.approx(expected["KL_student_teacher"], abs=1e-9)
    for key, alpha in (
        ("code_alpha_0", 0.0),
        ("code_alpha_0_01", 0.01),
        ("code_alpha_0_5", 0.5),
        ("code_alpha_1", 1.0),
    ):
        assert trainer(alpha)(t, s) == pytest.approx(expected[key], abs=1e-9)
        if 0 < alpha < 1:
            assert mixture_divergence(t, s, alpha=alpha) == pytest.approx(expected[key], abs=1e-9)
    assert js(t, s) == pytest.approx(expected["code_alpha_0_5"], abs=1e-9)
    logged = sum(s * (np.log(s) - np.log(t)))  # the expectation, over the student's samples, of the logged log ratio
    assert logged == pytest.approx(expected["logged_kl_approx_expectation"], abs=1e-9)
    assert mixture_divergence(t, s, alpha=0.01) / kl(t, s) == pytest.approx(0.00987, abs=1e-5)
    assert kl(t, s) / 3 == pytest.approx(0.211632, abs=1e-6)


def test_close_distributions_differ_little() -> None:
    case = FIXTURES["A3_0.01"]
    t, s = (np.array(case["input"][name]) for name in ("teacher", "student"))
    there, back = kl(t, s), kl(s, t)
    assert there == pytest.approx(case["expected"]["fwd"], abs=1e-9)
    assert back == pytest.approx(case["expected"]["rev"], abs=1e-9)
    assert (there - back) / back == pytest.approx(case["expected"]["rel_diff"], abs=1e-9)


def test_mean_against_batchmean() -> None:
    bins = FIXTURES["N04"]["input"]["bins"]
    rng = np.random.default_rng(4)
    weights = 0.05 + rng.random((8, 2, bins)) ** 2
    pairs = [tuple(pair) for pair in weights / weights.sum(axis=2, keepdims=True)]
    mean = identify(lambda p, q: float(np.mean(p * np.log(p / q))), catalogue="divergences", pairs=pairs)
    assert mean.name == "KL(p||q)"
    assert mean.constant == pytest.approx(FIXTURES["N04"]["expected"]["ratio"], abs=1e-9)
    assert mean.remark == "the constant is 1/17"
    assert bins != CLASSES  # so that the alias with the factor of five classes does not explain it
    assert entropy(np.full(bins, 1 / bins)) == pytest.approx(math.log(bins))


def test_macro_f1_both_ways() -> None:
    case = FIXTURES["N07"]
    y, z = (np.array(case["input"][name]) for name in ("y_true", "y_pred"))
    functions = {entry.name: entry.function for entry in _classification()}
    names = {
        "mean_of_F1": "macro F1 (mean of F1)",
        "HM_of_means": "macro F1 (harmonic mean of means)",
        "micro": "accuracy",
        "weighted": "weighted F1",
        "binary": "F1 of class 1",
    }
    assert set(names) == set(case["expected"])
    for key, name in names.items():
        assert functions[name](y, z) == pytest.approx(case["expected"][key], abs=1e-9)
    assert case["expected"]["mean_of_F1"] == pytest.approx(11 / 15)
    assert case["expected"]["HM_of_means"] == pytest.approx(15 / 19)


def _classification() -> Any:
    from verifier.audits.catalogues import CATALOGUES

    return CATALOGUES["classification"].entries
