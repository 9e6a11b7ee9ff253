"""Identification: every entry from independent formulas, any constant, either order; what is refused."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.oracles.formulas import CE, DIVERGENCES, FAMILIES, FORMULAS, KL, js, trainer
from verifier.audits.catalogues import CATALOGUES
from verifier.audits.identify import Identification, identify
from verifier.model.answers import AuditAnswer
from verifier.model.basis import BasisClass
from verifier.model.errors import BadInput

CONSTANTS = (1.0, -1.0, 1 / 17, -3e-7, 2.5e6)
ENTRIES = [(catalogue, name) for catalogue, formulas in FORMULAS.items() for name in formulas]

Function = Callable[..., Any]


def divergence(function: Function, **options: Any) -> Identification:
    return identify(function, catalogue="divergences", **options)


def scaled(function: Function, constant: float) -> Function:
    return lambda *arguments: constant * function(*arguments)


@pytest.mark.parametrize(("catalogue", "name"), ENTRIES)
def test_every_entry_up_to_a_constant_of_either_sign(catalogue: str, name: str) -> None:
    constant = CONSTANTS[len(name) % len(CONSTANTS)]
    found = identify(scaled(FORMULAS[catalogue][name], constant), catalogue=catalogue)
    assert (found.name, found.finding) == (name, None)
    assert found.constant == pytest.approx(constant, rel=1e-9)
    assert found.nearest == name
    assert found.residual is not None
    assert found.residual < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize(("catalogue", "name"), ENTRIES)
def test_every_entry_under_every_constant(catalogue: str, name: str) -> None:
    for constant in CONSTANTS:
        found = identify(scaled(FORMULAS[catalogue][name], constant), catalogue=catalogue)
        assert found.name == name
        assert found.constant == pytest.approx(constant, rel=1e-9)


@pytest.mark.parametrize("name", DIVERGENCES)
def test_log_probabilities_float32_and_the_other_order(name: str) -> None:
    function = DIVERGENCES[name]
    logs = divergence(lambda u, v: function(np.exp(u), np.exp(v)), inputs="log-probabilities")
    assert logs.name == name
    single = divergence(lambda p, q: np.float32(function(p.astype(np.float32), q.astype(np.float32))))
    assert single.name == name
    other = divergence(lambda p, q: function(q, p))
    exchanged = name.replace("p", "x").replace("q", "p").replace("x", "q")
    known = {entry.name.format(p="p", q="q") for entry in CATALOGUES["divergences"].entries}
    if name == "H(p)-H(q)":
        assert (other.name, round(other.constant or 0, 9)) == (name, -1)
    else:
        assert other.name == (exchanged if exchanged in known else name)


@pytest.mark.parametrize("name", FORMULAS["classification"])
def test_averages_over_classes_in_the_other_order(name: str) -> None:
    function = FORMULAS["classification"][name]
    found = identify(lambda y, z: function(z, y), catalogue="classification")
    twins = {
        "weighted F1": "weighted F1 (by y_pred)",
        "macro precision": "balanced accuracy",
        "adjusted balanced accuracy": "adjusted macro precision",
        "weighted precision": "recall weighted by calls",
        "precision of class 1": "recall of class 1",
        "precision of class 0": "recall of class 0",
        "macro F2": "macro F0.5",
        "geometric mean of recalls": "geometric mean of precisions",
    }
    twins |= {right: left for left, right in twins.items()}
    assert found.name == twins.get(name, name)


@pytest.mark.parametrize("template", FAMILIES)
@pytest.mark.parametrize("alpha", [0.85, pytest.param(0.62, marks=pytest.mark.slow)])
def test_families_with_one_parameter(template: str, alpha: float) -> None:
    function = FAMILIES[template](alpha)
    found = divergence(scaled(function, -2))
    assert found.name == template.format(alpha)
    assert found.parameter == pytest.approx(alpha, abs=1e-6)
    assert found.constant == pytest.approx(-2, rel=1e-6)
    swapped = divergence(lambda p, q: function(q, p))
    assert swapped.name == template.format(alpha).replace("p", "x").replace("q", "p").replace("x", "q")


@pytest.mark.parametrize(("order", "name"), [(2, "Renyi-2(p||q)"), (5, "Renyi-5(p||q)"), (0.3, "Renyi-0.7(q||p)")])
def test_orders_above_one_and_below_one_half(order: float, name: str) -> None:
    found = divergence(FAMILIES["Renyi-{}(p||q)"](order))
    assert found.name == name
    assert order > 1 or f"Renyi-{order}(p||q)" in found.aliases


@pytest.mark.parametrize("alpha", [0.0, 0.01, 0.3, 0.5, 0.9, 1.0])
def test_the_trainers_loss_at_every_alpha(alpha: float) -> None:
    found = divergence(trainer(alpha), letters=("T", "S"))
    assert found.name == {0.0: "KL(T||S)", 0.5: "JS", 1.0: "KL(S||T)"}.get(alpha, f"GJS-{alpha}(T,S)")
    assert found.constant == pytest.approx(1, rel=1e-6)


@pytest.mark.parametrize(
    ("function", "nearest", "remark"),
    [
        (lambda p, q: KL(p, q) + 1, "KL(p||q)", "it is a multiple of KL(p||q) plus 1"),
        (lambda p, q: math.sqrt(js(p, q)), "JS", "its square is a multiple of JS"),
        (lambda p, q: 0.999 * KL(p, q) + 0.001 * KL(q, p), "KL(p||q)", None),
        (lambda p, q: 0.999 * KL(q, p) + 0.001 * KL(p, q), "KL(q||p)", None),
    ],
)
def test_what_is_no_entry_names_the_nearest(function: Function, nearest: str, remark: str | None) -> None:
    found = divergence(function)
    assert (found.name, found.finding, found.constant) == ("NONE", None, None)
    assert (found.nearest, found.remark) == (nearest, remark)
    assert found.residual is not None
    assert found.residual > 1e-5
    assert nearest in found.sentence


def test_cross_entropy_is_not_kl_but_the_same_objective() -> None:
    found = divergence(CE, letters=("T", "S"))
    assert (found.name, found.same_objective_in, found.same_objective_as) == ("CE(T,S)", "S", "KL(T||S)")
    other = divergence(lambda p, q: CE(q, p))
    assert (other.name, other.same_objective_in, other.same_objective_as) == ("CE(q,p)", "p", "KL(q||p)")
    assert divergence(KL).same_objective_in is None
    assert found.audit(expected="KL(T||S)").finding is AuditAnswer.MISMATCH_PROVEN


def test_the_constant_is_telling() -> None:
    assert divergence(lambda p, q: KL(p, q) / math.log(2)).remark == "the constant is that of KL(p||q) in bits"
    assert divergence(scaled(KL, 0.2)).remark == "the constant is that of mean over classes of KL(p||q)"
    assert divergence(scaled(DIVERGENCES["TV"], -2)).remark == "the constant is that of L1, negated"
    length = identify(lambda rows: sum(float(row.sum()) for row in rows) / (40 * len(rows)), catalogue="reductions")
    assert length.name == "batchmean"
    assert length.remark == "the constant is 1/L of a constant length L = 40"
    assert "constant length" in length.aliases


def simplex(rng: np.random.Generator, classes: int) -> np.ndarray:
    weights = 0.05 + rng.random(classes)
    return np.asarray(weights / weights.sum())


def generic_pairs(classes: int, count: int = 8) -> list[tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(classes)
    pairs = ((simplex(rng, classes), simplex(rng, classes)) for _ in itertools.count())
    return [*itertools.islice((pair for pair in pairs if CATALOGUES["divergences"].complaint(pair) is None), count)]


def test_three_and_two_classes_leave_norms_ambiguous() -> None:
    for name in ("TV", "Linf"):
        found = divergence(DIVERGENCES[name], pairs=generic_pairs(3))
        assert (found.name, found.finding) == ("NONE", AuditAnswer.INSUFFICIENT)
        assert set(found.candidates) == {"TV", "Linf"}
        assert "more classes" in (found.reason or "")
    assert divergence(DIVERGENCES["L2"], pairs=generic_pairs(3)).name == "L2"
    assert set(divergence(DIVERGENCES["L2"], pairs=generic_pairs(2)).candidates) == {"TV", "L2", "Linf"}
    assert divergence(KL, pairs=generic_pairs(2)).name == "KL(p||q)"
    assert divergence(DIVERGENCES["TV"], pairs=generic_pairs(4)).name == "TV"


def test_fewer_than_four_inputs_identify_nothing() -> None:
    one = divergence(KL, pairs=generic_pairs(5, 1))
    assert one.finding is AuditAnswer.INSUFFICIENT
    assert len(one.candidates) == len(CATALOGUES["divergences"].entries)
    assert divergence(KL, pairs=generic_pairs(5, 3)).finding is AuditAnswer.INSUFFICIENT
    assert divergence(KL, pairs=generic_pairs(5, 4)).name == "KL(p||q)"


GOOD = ([0.7, 0.2, 0.1], [0.2, 0.3, 0.5])


@pytest.mark.parametrize(
    ("pair", "says"),
    [
        (([0.9, 0.1], [0.1, 0.9]), "symmetric"),
        (([0.6, 0.3, 0.1], [0.1, 0.3, 0.6]), "symmetric"),
        (([0.5, 0.3, 0.2], [0.3, 0.2, 0.5]), "symmetric"),
        (([0.5, 0.3, 0.2], [0.51, 0.28, 0.21]), "near-equal"),
        (([1.0, 0.0], [0.3, 0.7]), "not above 0.0001"),
        (([0.5, 0.6], [0.3, 0.7]), "does not sum to 1"),
        (([-0.5, -1.2], [-0.1, -2.5]), "not above 0.0001"),
        (([0.5, 0.5], [0.3, 0.3, 0.4]), "one length"),
        (([0.5, math.nan], [0.3, 0.7]), "not finite"),
        (([[0.5, 0.5]], [0.3, 0.7]), "one length"),
        ((["a", "b"], [0.3, 0.7]), "finite decimals"),
        ((None, [0.3, 0.7]), "one length"),
        (([[1, 2], [3]], [0.3, 0.7]), "takes"),
        (([0.5, 0.5],), "two"),
        (7, "takes"),
    ],
)
def test_pairs_that_cannot_tell_formulas_apart_are_refused(pair: Any, says: str) -> None:
    with pytest.raises(BadInput, match=f"pairs, number 2.*{says}"):
        divergence(KL, pairs=[GOOD, pair, GOOD])


def test_both_arguments_must_vary() -> None:
    pairs = [(np.array(GOOD[0]), simplex(np.random.default_rng(i), 3)) for i in range(6)]
    with pytest.raises(BadInput, match="first argument never varies"):
        divergence(KL, pairs=pairs)
    with pytest.raises(BadInput, match="no inputs"):
        divergence(KL, pairs=[])


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"catalogue": "divergence"}, "nearest valid one is divergences"),
        ({"catalogue": "divergences", "inputs": "logits"}, "declare probabilities"),
        ({"catalogue": "reductions", "inputs": "log-probabilities"}, "takes no probabilities"),
        ({"catalogue": "divergences", "letters": ("s", "S")}, "one name"),
        ({"catalogue": "divergences", "letters": ("p||q", "r")}, "two names"),
        ({"catalogue": "classification", "pairs": [([0, 1, 1], [0, 1, 1])]}, "every item is right"),
        ({"catalogue": "classification", "pairs": [([0, 1], [1, 0])]}, "symmetric"),
        ({"catalogue": "rank-ties", "pairs": [([1.0, 2.0],)]}, "every rule agrees"),
        ({"catalogue": "reductions", "pairs": [([],)]}, "not"),
        ({"catalogue": "reductions", "pairs": [(3,)]}, "takes|not"),
        ({"catalogue": "pass-at-k", "pairs": [(3, [4], 2)]}, "counts do not satisfy"),
    ],
)
def test_usage_that_is_refused(options: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        identify(KL, **options)


class Dropout:
    """Noise on every call, or on every third."""

    def __init__(self, every: int) -> None:
        self.every, self.calls = every, 0

    def __call__(self, p: Any, q: Any) -> float:
        self.calls += 1
        return KL(p, q) * (1 + (0.01 * math.sin(self.calls) if self.calls % self.every == 0 else 0))


def alternating() -> Function:
    state = itertools.cycle([1.0, 2.0])
    return lambda p, q: next(state) * KL(p, q)


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (lambda _p, _q: 1 / 0, "raised ZeroDivisionError on input 1 of 8"),
        (lambda p, _q: math.nan if p[0] < 0.2 else 1.0, "returned NaN on input"),
        (lambda _p, _q: math.inf, "returned an infinite value on input 1"),
        (lambda _p, _q: 0.0, "zero on all 8 inputs"),
        (lambda p, q: float(p.sum() - q.sum()), "zero on all 8 inputs"),
        (lambda _p, _q: None, "returned NoneType"),
        (lambda p, _q: p, "returned ndarray"),
        (lambda _p, _q: "1.5", "returned str"),
        (lambda _p, _q: True, "returned bool"),
        (lambda _p: 1.0, "raised TypeError"),
        (Dropout(1), "not deterministic"),
        (Dropout(3), "not deterministic"),
        (alternating(), "not deterministic"),
    ],
)
def test_functions_that_say_nothing_are_insufficient(function: Function, says: str) -> None:
    found = divergence(function)
    assert (found.name, found.finding) == ("NONE", AuditAnswer.INSUFFICIENT)
    assert says in (found.reason or "")
    audit = found.audit(expected="KL(p||q)")
    assert (audit.finding, len(audit.missing)) == (AuditAnswer.INSUFFICIENT, 1)


def test_ranks_of_the_wrong_shape_are_insufficient() -> None:
    assert "of shape (1,)" in (identify(lambda _x: [1.0], catalogue="rank-ties").reason or "")
    assert "returned str" in (identify(lambda _x: "ranks", catalogue="rank-ties").reason or "")


def test_a_function_that_writes_into_its_arguments_is_still_identified() -> None:
    def careless(p: Any, q: Any) -> float:
        value = KL(p, q)
        p[:] = 1
        q[:] = 2
        return value

    assert divergence(careless).name == "KL(p||q)"


def test_audit_names_directions_with_the_callers_letters() -> None:
    found = divergence(lambda p, q: -0.5 * KL(q, p), letters=("T", "S"))
    assert (found.name, found.order) == ("KL(S||T)", ("S", "T"))
    audit = found.audit(expected="KL(T‖S)", materiality=0.05)
    assert (audit.finding, audit.basis_class) == (AuditAnswer.MISMATCH_PROVEN, BasisClass.FORM)
    assert audit.material is True
    assert audit.code_against_text
    assert audit.witness is not None
    given = audit.witness["input"]
    t, s = ([eval_fraction(text) for text in given[letter]] for letter in ("T", "S"))
    assert audit.witness["left"] == pytest.approx(KL(s, t), rel=1e-9)
    assert audit.witness["right"] == pytest.approx(KL(t, s), rel=1e-9)
    assert abs(KL(s, t) - KL(t, s)) > 0.05 * KL(t, s)
    assert found.audit(expected="KL(T||S)", materiality=0.9).material is False
    assert found.audit(expected="KL(T||S)").material is None


def eval_fraction(text: str) -> float:
    top, bottom = text.split("/")
    return int(top) / int(bottom)


def test_audit_of_the_expected_formula_and_of_other_names() -> None:
    same = divergence(KL).audit(expected="kl(p || q)")
    assert (same.finding, same.basis_class, same.factor) == (AuditAnswer.SAME_BASIS, BasisClass.FORM, "1")
    named = divergence(DIVERGENCES["TV"]).audit(expected="L1")
    assert (named.finding, named.basis_class, named.factor) == (AuditAnswer.SAME_BASIS, BasisClass.NAME, "1/2")
    assert "TV" in named.sentence
    member = divergence(trainer(0.3)).audit(expected="generalised JSD-0.3(p,q)")
    assert (member.finding, member.basis_class) == (AuditAnswer.SAME_BASIS, BasisClass.NAME)
    limit = divergence(trainer(0.5)).audit(expected="GJS-0.5(p,q)")
    assert (limit.finding, limit.basis_class) == (AuditAnswer.SAME_BASIS, BasisClass.NAME)
    other = divergence(trainer(0.3)).audit(expected="GJS-0.4(p,q)")
    assert other.finding is AuditAnswer.MISMATCH_PROVEN


@pytest.mark.parametrize(
    "expected", ["forward KL", "reverse KL", "KL", "Kullback", "Renyi-99999(p||q)", "", "x" * 9999]
)
def test_names_that_say_no_direction_or_nothing(expected: str) -> None:
    with pytest.raises(BadInput, match="expected"):
        divergence(KL).audit(expected=expected)


WITNESSED = {
    "reductions": ("token mean", "sequence mean"),
    "classification": ("macro F1 (mean of F1)", "macro F1 (harmonic mean of means)"),
    "perplexity": ("2 to the nats", "token perplexity"),
    "std": ("std (ddof 0)", "std (ddof 1)"),
    "pass-at-k": ("pass@k (with replacement)", "pass@k (unbiased)"),
    "word-error-rate": ("mean of utterance WERs", "corpus WER"),
    "dice": ("mean Dice (empty = 1)", "pooled Dice"),
    "rank-ties": ("dense", "average"),
    "throughput": ("mean of step rates", "items per second"),
    "utilisation": ("6N", "6N + attention"),
    "bleu": ("BLEU (none)", "BLEU (13a)"),
}


def test_a_witness_shows_both_formulas_where_the_constant_hangs_on_the_number_of_classes() -> None:
    audit = divergence(lambda p, q: KL(p, q) / p.size, letters=("T", "S")).audit(expected="KL(S||T)", materiality=0.01)
    assert audit.witness is not None
    t, s = (np.array([float(Fraction(x)) for x in audit.witness["input"][name]]) for name in ("T", "S"))
    assert t.size != 5  # the size of the inputs that gave the constant
    assert audit.witness["left"] == pytest.approx(KL(t, s), rel=1e-9)
    assert audit.witness["right"] == pytest.approx(KL(s, t), rel=1e-9)


@pytest.mark.parametrize(
    "catalogue", [pytest.param(c, marks=[] if c in ("reductions", "std") else pytest.mark.slow) for c in WITNESSED]
)
def test_mismatches_in_other_catalogues_have_witnesses(catalogue: str) -> None:
    computed, expected = WITNESSED[catalogue]
    found = identify(FORMULAS[catalogue][computed], catalogue=catalogue)
    audit = found.audit(expected=expected)
    assert audit.finding is AuditAnswer.MISMATCH_PROVEN
    assert audit.witness is not None
    left, right = audit.witness["left"], audit.witness["right"]
    assert abs(left - right) > 0.01 * abs(right)
    assert identify(FORMULAS[catalogue][expected], catalogue=catalogue).audit(expected=expected).witness is None


def test_a_function_without_a_name_against_the_expected_one() -> None:
    audit = divergence(lambda p, q: 0.9 * KL(p, q) + 0.1 * KL(q, p)).audit(expected="KL(p||q)")
    assert audit.finding is AuditAnswer.MISMATCH_PROVEN
    assert audit.details["residual_to_expected"] == pytest.approx(0.0182, abs=0.02)
    assert "no formula of the catalogue" in audit.sentence


def test_inputs_on_which_no_formula_is_defined() -> None:
    steps = (np.array([1.0, math.nan]), np.array([1.0, 2.0]), 2)
    found = identify(lambda *_: 1.0, catalogue="throughput", pairs=[steps] * 4)
    assert found.finding is AuditAnswer.INSUFFICIENT
    assert found.reason is not None


@pytest.mark.slow
def test_sums_of_two_entries_are_no_entry() -> None:
    rng = np.random.default_rng(11)
    names = list(DIVERGENCES)
    unnamed = 0
    for _ in range(30):
        left, right = (DIVERGENCES[names[i]] for i in rng.choice(len(names), size=2, replace=False))
        a, b = rng.uniform(0.1, 1, size=2) * rng.choice([-1, 1], size=2)
        found = divergence(lambda p, q, left=left, right=right, a=a, b=b: a * left(p, q) + b * right(p, q))
        unnamed += found.name == "NONE"
        assert found.finding is None
        assert found.nearest is not None
    assert unnamed == 30
