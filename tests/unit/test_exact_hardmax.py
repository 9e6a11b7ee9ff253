"""The hardmax finder against brute force, closed forms and exact witnesses."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest

from tests.oracles.configurations import SHAPES, configurations, problem, semidefinite, tokens
from tests.oracles.hardmax import Brute, dot, times
from verifier.exact import Refutation, float_report, parse_problem, refute
from verifier.model.answers import ExactAnswer

Document = dict[str, Any]
Matrix = list[list[Fraction]]

ONE_AFTER_FIRST = 12


def seeded(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311  # reproducible, not secret


def answer(document: Document, **options: Any) -> Refutation:
    return refute(parse_problem(document), **options)


def agrees_with_brute_force(document: Document, found: Refutation, last: int) -> bool:
    """The answer's every word about t ≤ last, against a walk without shortcuts. Returns whether a failure was seen."""
    brute = Brute(document)
    orbit, _ = brute.orbit(last)
    failing = dict(orbit)
    first = next((t for t in failing if failing[t]), None)
    said = found.first_violation
    if said is None:
        assert first is None or found.answer is ExactAnswer.VIOLATED_FOR_ALL
    elif said.t <= last:
        assert (said.t, said.component) == (first, min(failing[first]))
    else:
        assert first is None
    if found.answer is ExactAnswer.VIOLATED_FOR_ALL and found.fails_from <= last:
        assert all(failing[t] for t in range(found.fails_from, last + 1))
        if not found.notes and found.fails_from > brute.t0:
            assert not failing[found.fails_from - 1]
        for i, start in enumerate(found.fails_from_by_component):
            assert all(i in failing[t] for t in range(start, last + 1))
            if not found.notes and brute.t0 < start <= last:
                assert i not in failing[start - 1]
    if found.answer in (ExactAnswer.HOLDS_FOR_ALL, ExactAnswer.VERIFIED_TO_HORIZON):
        assert first is None
    return first is not None


def test_four_and_minus_one() -> None:
    found = answer(problem([["4"], ["-1"]]))
    assert found.answer is ExactAnswer.VIOLATED_FOR_ALL
    first = found.first_violation
    assert (first.t, first.component) == (224, 0)
    assert first.lhs == Fraction(2, 9) + Fraction(6781, 51714450)
    assert first.rhs == Fraction(2, 9)
    assert (found.fails_from, found.fails_from_by_component) == (224, (224, 225))
    branch = found.certificate["branches"][0]
    assert branch["selections"] == [{"steps": 2, "targets": [1, 0]}]
    assert branch["freeze"] == {"step": 2, "target": 1}


def test_float64_names_both_tokens_where_one_fails() -> None:
    document = problem([["4"], ["-1"]])
    report = float_report(parse_problem(document), answer(document))
    for form in report["forms"]:
        assert form["first_violation"] == {"t": 224, "components": [0, 1]}
        assert form["class"] == "same answer, details differ"
        assert form["first_predicate"]["component"] == 1
        assert form["first_predicate"]["gap"] == 0


@pytest.mark.parametrize("pair", [(4, 1), (9, 2), (7, 4), (11, 2)])
def test_pairs_against_brute_force(pair: tuple[int, int]) -> None:
    p, q = pair
    document = problem([[str(p)], [str(-q)]])
    found = answer(document)
    assert agrees_with_brute_force(document, found, found.fails_from + ONE_AFTER_FIRST)


def test_equal_pairs_hold_for_all() -> None:
    assert answer(problem([["3"], ["-3"]])).answer is ExactAnswer.HOLDS_FOR_ALL


def test_the_order_of_a_tied_pair_decides_under_index_rules() -> None:
    expected = {("4", "-2"): ("VIOLATED_FOR_ALL", "HOLDS_FOR_ALL"), ("-2", "4"): ("HOLDS_FOR_ALL", "VIOLATED_FOR_ALL")}
    for (a, b), answers in expected.items():
        for rule, word in zip(("lowest-index", "highest-index"), answers, strict=True):
            found = answer(problem([[a], [b]], ties=rule))
            assert found.answer == word
            assert found.first_violation is None or found.first_violation.t == 144


@pytest.mark.parametrize("shape", range(len(SHAPES)))
@pytest.mark.slow
def test_random_configurations_against_brute_force(shape: int) -> None:
    n, d = SHAPES[shape]
    rng = seeded(100 + shape)
    for _ in range(2):
        document = problem(tokens(rng, n, d), ties="lowest-index")
        found = answer(document, horizon=400)
        agrees_with_brute_force(document, found, 60 if n > 6 else 250)


def test_every_configuration_of_the_six_shapes_gets_an_answer() -> None:
    count = dict.fromkeys(ExactAnswer, 0)
    for some in configurations(10):
        found = answer(problem(some, ties="lowest-index"), horizon=1_000)
        count[found.answer] += 1
        assert (found.certificate is not None) == (found.answer is ExactAnswer.VIOLATED_FOR_ALL)
    assert count[ExactAnswer.VIOLATED_FOR_ALL] >= 55
    assert count[ExactAnswer.AMBIGUOUS] == count[ExactAnswer.UNSUPPORTED_HYPOTHESIS] == 0


STEPS = ["2/(t+1)", "1/(t+2)", "1/3", "4/5"]


@pytest.mark.parametrize(("step", "soon"), list(zip(STEPS, (200, 200, 380, 200), strict=True)))
@pytest.mark.slow
def test_other_steps_against_brute_force(step: str, soon: int) -> None:
    rng = seeded(1)
    some = [
        problem(tokens(rng, 5, 2), step=step, claim="energy-bound-any-step", ties="lowest-index") for _ in range(36)
    ]
    answers = [(document, answer(document, horizon=100)) for document in some]
    early = [
        (document, found) for document, found in answers if found.fails_from is not None and found.fails_from < soon
    ]
    assert early
    for document, found in early[:2]:
        assert agrees_with_brute_force(document, found, found.fails_from + ONE_AFTER_FIRST)


def test_the_full_step_reaches_one_token_or_two() -> None:
    document = problem([["4"], ["-1"]], step="1", claim="energy-bound-any-step")  # the tokens swap for ever
    found = answer(document, horizon=200)
    assert found.answer is ExactAnswer.VIOLATED_FOR_ALL or found.first_violation is not None
    agrees_with_brute_force(document, found, 120)


@pytest.mark.parametrize("seed", range(6))
def test_singular_and_irrational_matrices_against_brute_force(seed: int) -> None:
    rng = seeded(seed)
    d = 2 + seed % 2
    document = problem(tokens(rng, 4, d), B=semidefinite(rng, d, 1 + seed // 2), ties="lowest-index")
    found = answer(document, horizon=400)
    agrees_with_brute_force(document, found, 200)
    if found.first_violation is not None:
        assert found.first_violation.lhs > found.first_violation.rhs


@pytest.mark.slow
def test_a_list_of_matrices_against_brute_force() -> None:
    B = [[["3", "1"], ["1", "3"]], [["2", "1"], ["1", "2"]], [["1", "0"], ["0", "1"]]]
    rng = seeded(5)
    for _ in range(4):
        document = problem(tokens(rng, 4, 2), B=B, ties="lowest-index")
        agrees_with_brute_force(document, answer(document, horizon=500), 250)


def test_every_selection_is_followed_at_a_tie() -> None:
    # a symmetric cloud on two axes: all tokens are tied at once
    document = problem([["2", "0"], ["0", "2"], ["-1", "0"], ["0", "-1"]])
    found = answer(document, horizon=50)
    assert found.ties is not None
    brute = Brute(document)
    choices = brute.choices(found.ties.t, start_at(brute, found.ties.t))
    assert tuple(choices[found.ties.token]) == found.ties.classes


def start_at(brute: Brute, t: int) -> Matrix:
    x = brute.start
    for s in range(brute.t0, t):
        (targets,) = brute.admitted(s, x)
        x = brute.move(s, x, targets)
    return x


def branch_sets_are_complete(document: Document, branches: list[Document]) -> None:
    """Completeness of docs/certificates.md, section 4, by walking the prefixes."""
    brute = Brute(document)
    sequences = [[tuple(run["targets"]) for run in b["selections"] for _ in range(run["steps"])] for b in branches]
    assert sequences == sorted(sequences)
    pending = [(brute.t0, brute.start, sequences)]
    while pending:
        t, x, group = pending.pop()
        depth = t - brute.t0
        if any(len(sequence) == depth for sequence in group):
            assert len(group) == 1
            continue
        following = {sequence[depth] for sequence in group}
        assert following == set(brute.admitted(t, x))
        for targets in following:
            rest = [sequence for sequence in group if sequence[depth] == targets]
            pending.append((t + 1, brute.move(t, x, targets), rest))


def test_branches_of_certificates_are_complete() -> None:
    rng = seeded(3)
    many = 0
    for _ in range(60):
        some = [[Fraction(rng.randint(-3, 3)) for _ in range(2)] for _ in range(3)]
        some.append([-sum(column) / Fraction(3) for column in zip(*some, strict=True)])
        document = problem(some)
        found = answer(document, horizon=200)
        if found.certificate is not None:
            branch_sets_are_complete(document, found.certificate["branches"])
            many += len(found.certificate["branches"]) > 1
    assert many >= 2


def test_outside_the_hypotheses_with_a_witness() -> None:
    found = answer(problem([["4"], ["1"]]))
    assert found.answer is ExactAnswer.UNSUPPORTED_HYPOTHESIS
    (failed,) = [h for h in found.hypotheses if not h.holds]
    u = Fraction(failed.witness["u"][0])
    assert u * 4 > 0
    assert u * 1 > 0

    B = [["1", "2"], ["2", "1"]]
    found = answer(problem([["1", "0"], ["-1", "0"]], B=B))
    (failed,) = [h for h in found.hypotheses if not h.holds]
    x = [Fraction(a) for a in failed.witness["x"]]
    assert dot(x, times([[Fraction(a) for a in row] for row in B], x)) == Fraction(failed.witness["value"]) < 0

    for step in ("3/2", "0", "-1"):
        document = problem([["4"], ["-1"]], step=step, claim="energy-bound-any-step")
        assert answer(document).answer is ExactAnswer.UNSUPPORTED_HYPOTHESIS
    assert answer(problem([["4"], ["-1"]], step="1/(t+2)")).answer is ExactAnswer.UNSUPPORTED_HYPOTHESIS
    growing = [[["1"]], [["2"]]]
    assert answer(problem([["4"], ["-1"]], B=growing)).answer is ExactAnswer.UNSUPPORTED_HYPOTHESIS


def test_weights_prove_that_the_origin_is_inside() -> None:
    for some in configurations(4):
        found = answer(problem(some, ties="lowest-index"), horizon=5)
        (weights,) = [h.witness["weights"] for h in found.hypotheses if "weights" in h.witness]
        w = [Fraction(x) for x in weights]
        assert min(w) >= 0
        assert sum(w) == 1
        assert all(sum(a * x[k] for a, x in zip(w, some, strict=True)) == 0 for k in range(len(some[0])))


def test_never_freezing_instance_is_verified_to_the_horizon() -> None:
    document = problem([["-3", "9"], ["6", "-7"], ["9", "0"], ["-12", "-2"]])
    found = answer(document, horizon=300)
    assert found.answer is ExactAnswer.VERIFIED_TO_HORIZON
    assert found.horizon.t == 299
    assert found.horizon.margin > 0
    assert found.horizon.would_catch[0] == ("the tokens (4, -1)", 224, True)
    assert not answer(document, horizon=224).horizon.would_catch[0][2]  # its last step is t = 223
    assert not agrees_with_brute_force(document, found, 150)


def test_symmetric_clouds_without_ties_collapse() -> None:
    rng = seeded(1)
    held = 0
    for _ in range(20):
        half = [[rng.randint(-9, 9) for _ in range(2)] for _ in range(3)]
        cloud = [*half, *[[-a for a in x] for x in half]]
        found = answer(problem([[str(a) for a in x] for x in cloud]), horizon=100)
        if found.ties is None:
            assert found.answer is ExactAnswer.HOLDS_FOR_ALL
            held += 1
    assert held >= 10


def test_enclosures_confirm_what_exact_steps_say(monkeypatch: pytest.MonkeyPatch) -> None:
    from verifier.exact.hardmax import walk

    document = problem([["-3", "9"], ["6", "-7"], ["9", "0"], ["-12", "-2"]])
    enclosed = answer(document, horizon=900).horizon
    monkeypatch.setattr(walk, "ENCLOSED_AFTER", ())
    exact = answer(document, horizon=900).horizon
    assert enclosed is not None
    assert exact is not None
    assert (enclosed.t, enclosed.margin, enclosed.margin_at) == (exact.t, exact.margin, exact.margin_at)
    assert enclosed.predicted_crossing == pytest.approx(exact.predicted_crossing, rel=1e-9)


def test_enclosures_never_speak_where_exact_steps_find_a_failure() -> None:
    from verifier.exact.hardmax.bound import Bound
    from verifier.exact.hardmax.enclosure import enclose
    from verifier.exact.hardmax.orbit import Orbit
    from verifier.exact.hardmax.problem import HardmaxProblem

    for start in ([["4"], ["-1"]], [["4"], ["-2"]]):  # a freeze, and an exact tie
        given = parse_problem(problem(start))
        assert isinstance(given, HardmaxProblem)
        orbit = Orbit(given)
        assert enclose(orbit, Bound(given), orbit.start, last=400, tick=lambda _t, _bits: True) is None
