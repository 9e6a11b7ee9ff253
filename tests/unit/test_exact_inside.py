"""The claims with the origin in the hull: every weight, vector and exit step against plain stepping."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests.oracles.configurations import configurations, problem, semidefinite, tokens
from tests.oracles.hardmax import Brute, dot
from verifier.exact import Refutation, parse_problem, read_problem, refute
from verifier.exact.hardmax.bound import Bound
from verifier.exact.hardmax.inside import InsideFollower, shortened
from verifier.exact.hardmax.pathwise import refute_pathwise
from verifier.exact.hardmax.problem import HardmaxProblem
from verifier.exact.hardmax.walk import Follower, Limits
from verifier.exact.hull import origin_in_hull
from verifier.model.answers import ExactAnswer

ROOT = Path(__file__).parents[2]
INSIDE, WHILE_INSIDE = "energy-bound-inside", "energy-bound-while-inside"
NEVER_FREEZES = [["-3", "9"], ["6", "-7"], ["9", "0"], ["-12", "-2"]]
Document = dict[str, Any]
Points = list[list[Fraction]]


def answer(document: Document, **options: Any) -> Refutation:
    return refute(parse_problem(document), **options)


def orbit(document: Document, last: int) -> list[Points]:
    """x^t0, x^{t0+1}, … along the selection of an index rule, in plain Fractions."""
    brute, states = Brute(document), [Brute(document).start]
    for t in range(brute.t0, last):
        (targets,) = brute.admitted(t, states[-1])
        states.append(brute.move(t, states[-1], targets))
    return states


def proves_inside(weights: Sequence[str], points: Points) -> bool:
    w = [Fraction(x) for x in weights]
    sums = [sum(a * x[j] for a, x in zip(w, points, strict=True)) for j in range(len(points[0]))]
    return min(w) >= 0 and sum(w) == 1 and not any(sums)


def proves_outside(u: Sequence[str], points: Points) -> bool:
    return all(dot([Fraction(x) for x in u], point) > 0 for point in points)


def holds_while_inside(document: Document, found: Refutation) -> int:
    """Checks every witness of a path that leaves, and every inequality before. Returns the exit step."""
    assert found.answer is ExactAnswer.HOLDS_FOR_ALL
    witness, exit_step = found.hypotheses[-1].witness, found.exit_step
    states = orbit(document, exit_step)
    shown = {entry["t"]: entry["weights"] for entry in witness["inside"]}
    assert set(shown) == set(range(exit_step))
    assert all(proves_inside(w, states[t]) for t, w in shown.items())
    assert witness["t"] == exit_step
    assert proves_outside(witness["u"], states[exit_step])
    brute = Brute(document)
    assert not any(brute.failing(t, states[t + 1]) for t in range(exit_step))
    return exit_step


@pytest.mark.slow
def test_no_configuration_breaks_the_bound_while_the_origin_is_inside() -> None:
    exits: Counter[int] = Counter()
    for some in configurations(60):
        document = problem(some, claim=WHILE_INSIDE, ties="lowest-index")
        found = answer(document)
        assert found.answer is ExactAnswer.HOLDS_FOR_ALL
        assert found.certificate is None
        if found.exit_step is not None:
            exits[found.exit_step] += 1
    assert sum(exits.values()) >= 355
    assert sum(exits[t] for t in (1, 2, 3)) >= 345
    assert max(exits) < 10


@pytest.mark.parametrize("shape", range(6))
def test_weights_and_vectors_prove_what_they_say(shape: int) -> None:
    for some in configurations(60)[60 * shape : 60 * shape + 5]:
        document = problem(some, claim=WHILE_INSIDE, ties="lowest-index")
        found = answer(document)
        if found.exit_step is not None:
            holds_while_inside(document, found)
        document["claim"] = INSIDE
        inside = answer(document)
        assert inside.exit_step == found.exit_step
        if found.exit_step is not None:
            assert inside.answer is ExactAnswer.UNSUPPORTED_HYPOTHESIS
            assert inside.hypotheses[-1].witness == found.hypotheses[-1].witness
            assert not inside.hypotheses[-1].holds


@pytest.mark.slow
def test_weights_and_vectors_of_all_configurations() -> None:
    checked = 0
    for some in configurations(60):
        document = problem(some, claim=WHILE_INSIDE, ties="lowest-index")
        found = answer(document)
        if found.exit_step is not None:
            holds_while_inside(document, found)
            checked += 1
    assert checked >= 355


def test_four_and_minus_one_leave_at_two() -> None:
    found = refute(read_problem(ROOT / "problems" / "frank-wolfe-corrected.json"))
    assert found.answer is ExactAnswer.UNSUPPORTED_HYPOTHESIS
    assert found.exit_step == 2
    assert "0 is not in K^2" in found.sentence
    document = problem([["4"], ["-1"]], claim=WHILE_INSIDE)
    states = orbit({**document, "ties": "lowest-index"}, 2)
    assert proves_outside(found.hypotheses[-1].witness["u"], states[2])
    assert holds_while_inside({**document, "ties": "lowest-index"}, answer(document)) == 2


@pytest.mark.parametrize("claim", ["energy-bound", INSIDE, WHILE_INSIDE])
def test_the_shipped_symmetric_cloud_collapses(claim: str) -> None:
    document = json.loads((ROOT / "problems" / "frank-wolfe-symmetric.json").read_text(encoding="utf-8"))
    document["claim"] = claim
    cloud = document["state"]["tokens"]
    assert sorted(cloud) == sorted([str(-int(x)) for x in token] for token in cloud)
    found = answer(document)
    assert found.answer is ExactAnswer.HOLDS_FOR_ALL
    assert found.ties is None
    assert not any(any(point) for point in orbit({**document, "ties": "lowest-index"}, 3)[3])


@pytest.mark.parametrize("claim", [INSIDE, WHILE_INSIDE])
@pytest.mark.slow
def test_an_orbit_that_never_freezes_is_inside_at_three_thousand(claim: str) -> None:
    document = problem(NEVER_FREEZES, claim=claim)
    found = answer(document, horizon=3_000)
    assert found.answer is ExactAnswer.VERIFIED_TO_HORIZON
    assert found.hypotheses[-1].witness["inside_up_to"] == 3_000
    assert found.horizon.t == 2_999
    assert found.horizon.would_catch == ()
    shown = {entry["t"]: entry["weights"] for entry in found.hypotheses[-1].witness["inside"]}
    states = orbit({**document, "ties": "lowest-index"}, 7)
    assert all(proves_inside(shown[t], states[t]) for t in range(8))


def with_a_slow_step(gamma: Fraction, horizon: int, claim: str, start: list[list[str]]) -> Refutation:
    """The pathwise answer under a step that the claim itself does not admit: the bound fails with the origin inside."""
    given = parse_problem(problem(start, claim=claim, ties="lowest-index"))
    assert isinstance(given, HardmaxProblem)
    slow = replace(given, step=str(gamma), gamma=gamma)
    return refute_pathwise(Follower(slow, Bound(slow), Limits(horizon)), ())


def test_a_failure_with_the_origin_inside_is_violated() -> None:
    start = [["4"], ["-4"]]
    document = problem(start, claim=WHILE_INSIDE, ties="lowest-index", step="1/1000")
    # 2J falls from 16 like 16·(1 − 2/1000)^t; the bound is 256/(t + 1)
    first = next(t for t, failing in Brute(document).orbit(60)[0] if failing)
    found = with_a_slow_step(Fraction(1, 1000), 200, WHILE_INSIDE, start)
    assert (found.answer, found.first_violation.t) == (ExactAnswer.VIOLATED, first)
    assert found.exit_step is None
    assert found.certificate is None
    assert "no certificate" in found.no_certificate
    whole = with_a_slow_step(Fraction(1, 1000), 200, INSIDE, start)
    assert (whole.answer, whole.first_violation.t) == (ExactAnswer.VIOLATED, first)
    assert "t = 200" in whole.notes[0]


@pytest.mark.parametrize("gamma", [Fraction(1, 300), Fraction(1, 350), Fraction(1, 500)])
def test_a_failure_before_a_late_exit_is_no_counterexample_of_the_claim_for_every_step(gamma: Fraction) -> None:
    start = [["5"], ["-4"]]
    document = problem(start, claim=WHILE_INSIDE, ties="lowest-index", step=str(gamma))
    states = orbit(document, 600)
    leaves = next(t for t, x in enumerate(states) if origin_in_hull(x).separator is not None)
    first = next(t for t, failing in Brute(document).orbit(60)[0] if failing)
    assert leaves > 64
    assert first < leaves
    found = with_a_slow_step(gamma, 600, INSIDE, start)
    assert (found.answer, found.exit_step) == (ExactAnswer.UNSUPPORTED_HYPOTHESIS, leaves)  # found by halving a block
    assert proves_outside(found.hypotheses[-1].witness["u"], states[leaves])
    assert with_a_slow_step(gamma, 600, WHILE_INSIDE, start).first_violation.t == first


@pytest.mark.parametrize(
    ("start", "tie", "why"),
    [
        ([["2"], ["-1"]], (2, 1), "under the lowest and the highest index differ"),
        ([["-1"], ["-2"], ["1"]], (2, 2), "under the lowest and the highest index differ"),
    ],
)
def test_a_tie_that_decides_where_the_origin_goes_is_ambiguous(
    start: list[list[str]], tie: tuple[int, int], why: str
) -> None:
    document = problem(start, claim=INSIDE)
    found = answer(document, horizon=200)
    assert found.answer is ExactAnswer.AMBIGUOUS
    assert why in found.sentence
    assert (found.ties.t, found.ties.token) == tie
    assert found.ties.answers["lowest-index"][0] is ExactAnswer.UNSUPPORTED_HYPOTHESIS
    assert found.ties.answers["highest-index"][0] is ExactAnswer.HOLDS_FOR_ALL
    for rule, (said, _) in found.ties.answers.items():
        assert answer({**document, "ties": rule}, horizon=200).answer is said


@pytest.mark.slow
def test_branches_that_agree_give_one_answer_and_every_exit() -> None:
    agreeing = []
    rng = random.Random(5)  # noqa: S311  # reproducible, not secret
    for _ in range(200):
        some = [[str(rng.randint(-2, 2)) for _ in range(2)] for _ in range(4)]
        found = answer(problem(some, claim=WHILE_INSIDE), horizon=40)
        if found.ties is not None and found.exit_step is not None:
            agreeing.append((some, found))
    assert agreeing
    for some, found in agreeing[:10]:
        assert found.answer is ExactAnswer.HOLDS_FOR_ALL
        exits = [answer(problem(some, claim=WHILE_INSIDE, ties=r)).exit_step for r in ("lowest-index", "highest-index")]
        listed = {h.witness["t"] for h in found.hypotheses if "u" in h.witness}
        assert set(exits) <= listed
        assert found.exit_step == max(listed)


def test_index_rules_that_agree_do_not_answer_for_every_selection() -> None:
    # token 1 sits on the origin: a selection may leave it there
    found = answer(problem([["-3", "-2"], ["0", "0"], ["1", "-1"]], claim=INSIDE), horizon=30)
    assert found.answer is ExactAnswer.VERIFIED_TO_HORIZON
    assert {said for said, _ in found.ties.answers.values()} == {ExactAnswer.UNSUPPORTED_HYPOTHESIS}
    assert "60 leave the hypotheses, 1 is open from t = 30 on" in found.sentence
    assert found.horizon.partly
    undecided = answer(problem([["2"], ["-1"]], claim=WHILE_INSIDE), horizon=200)
    assert undecided.answer is ExactAnswer.VERIFIED_TO_HORIZON
    assert {said for said, _ in undecided.ties.answers.values()} == {ExactAnswer.HOLDS_FOR_ALL}
    assert undecided.sentence.startswith("More than 64 selections would have to be followed.")
    assert undecided.horizon.stopped_by == "number of selections"


@pytest.mark.parametrize(
    ("start", "rule"),
    [
        ([["0", "3"], ["1", "-5"], ["-1", "-5"]], "lowest-index"),
        ([["3", "1"], ["-3", "1"], ["0", "-2"]], "highest-index"),
        ([["0", "1"], ["2", "-1"], ["-2", "-1"]], "lowest-index"),
        ([["0", "1"], ["2", "-100"], ["-2", "-100"]], "lowest-index"),
    ],
)
def test_a_hull_that_shrinks_to_a_point_of_the_kernel_is_left(start: list[list[str]], rule: str) -> None:
    # B sees the first coordinate only: the tokens freeze on a point that B sends to 0
    document = problem(start, B=[["1", "0"], ["0", "0"]], claim=INSIDE, ties=rule)
    found = answer(document, horizon=10)
    states = orbit(document, 40)
    leaves = next(t for t, x in enumerate(states) if origin_in_hull(x).separator is not None)
    assert leaves > 4
    assert (found.answer, found.exit_step) == (ExactAnswer.UNSUPPORTED_HYPOTHESIS, leaves)
    assert proves_outside(found.hypotheses[-1].witness["u"], states[leaves])
    shown = found.hypotheses[-1].witness["inside"]
    assert all(proves_inside(entry["weights"], states[entry["t"]]) for entry in shown)
    document["claim"] = WHILE_INSIDE
    assert answer(document, horizon=10).answer is ExactAnswer.HOLDS_FOR_ALL


@pytest.mark.parametrize("seed", range(8))
def test_singular_and_irrational_matrices(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311  # reproducible, not secret
    d = 2 + seed % 2
    document = problem(
        tokens(rng, 4, d), B=semidefinite(rng, d, 1 + seed // 4), claim=WHILE_INSIDE, ties="lowest-index"
    )
    found = answer(document, horizon=60)
    states, brute = orbit(document, 40), Brute(document)
    leaves = next((t for t, x in enumerate(states) if origin_in_hull(x).separator is not None), None)
    assert not any(brute.failing(t, states[t + 1]) for t in range(40 if leaves is None else leaves))
    assert found.answer in (ExactAnswer.HOLDS_FOR_ALL, ExactAnswer.VERIFIED_TO_HORIZON)
    if found.exit_step is not None and found.exit_step <= 40:
        assert found.exit_step == leaves
    elif found.exit_step is None:
        assert leaves is None or found.hypotheses[-1].witness["inside_up_to"] < leaves


@pytest.mark.parametrize(
    ("start", "options"),
    [
        ([["4"], ["1"]], {}),
        ([["4"], ["-1"]], {"step": "1/2"}),
        ([["4"], ["-1"]], {"B": [["-1"]]}),
    ],
)
@pytest.mark.parametrize("claim", [INSIDE, WHILE_INSIDE])
def test_the_other_hypotheses_stay(claim: str, start: list[list[str]], options: Document) -> None:
    found = answer(problem(start, claim=claim, **options))
    assert found.answer is ExactAnswer.UNSUPPORTED_HYPOTHESIS
    assert found.exit_step is None


def test_a_time_limit_ends_with_what_is_known() -> None:
    found = answer(problem(NEVER_FREEZES, claim=WHILE_INSIDE), horizon=100_000, time_limit=0.2)
    assert found.answer is ExactAnswer.VERIFIED_TO_HORIZON
    assert found.horizon.stopped_by == "time limit"
    assert found.hypotheses[-1].witness["inside_up_to"] == found.horizon.t + 1


def test_short_vectors_still_separate() -> None:
    rng = random.Random(3)  # noqa: S311  # reproducible, not secret
    seen = 0
    while seen < 20:
        points = [tuple(Fraction(rng.randint(-(9**9), 9**9), rng.randint(1, 9**9)) for _ in range(3)) for _ in range(4)]
        u = origin_in_hull(points).separator
        if u is None:
            continue
        short = shortened(u, points)
        assert all(dot(list(short), list(point)) > 0 for point in points)
        assert all(x.denominator == 1 for x in short)
        assert len("".join(map(str, short))) <= len("".join(map(str, u)))
        seen += 1


@pytest.mark.parametrize("claim", [INSIDE, WHILE_INSIDE])
def test_no_certificate_carries_these_claims(claim: str, tmp_path: Path) -> None:
    certificate = answer(problem([["4"], ["-1"]])).certificate
    certificate["problem"]["claim"] = claim
    file = tmp_path / "certificate.json"
    file.write_text(json.dumps(certificate), encoding="utf-8")
    checker = ROOT / "verifier" / "exact" / "checker.py"
    run = subprocess.run([sys.executable, "-I", str(checker), str(file)], capture_output=True, text=True, check=False)
    assert run.returncode == 2
    assert run.stdout.startswith("MALFORMED")


def test_the_schemas_take_these_claims_in_problems_only() -> None:
    import jsonschema
    from referencing import Registry, Resource

    folder = ROOT / "verifier" / "exact" / "schemas"
    schemas = [json.loads((folder / f"{name}-1.schema.json").read_text()) for name in ("problem", "certificate")]
    registry: Registry[Any] = Registry().with_resources([(s["$id"], Resource.from_contents(s)) for s in schemas])
    problems, certificates = (jsonschema.Draft202012Validator(s, registry=registry) for s in schemas)
    certificate = answer(problem([["4"], ["-1"]])).certificate
    assert certificates.is_valid(certificate)
    for claim in (INSIDE, WHILE_INSIDE):
        assert problems.is_valid(problem([["4"], ["-1"]], claim=claim))
        assert not certificates.is_valid({**certificate, "problem": problem([["4"], ["-1"]], claim=claim)})


def test_explored_branches_are_at_most_sixty_four() -> None:
    given = parse_problem(problem([["2"], ["-1"]], claim=INSIDE))
    assert isinstance(given, HardmaxProblem)
    found = InsideFollower(Follower(given, Bound(given), Limits(500)), whole=True).explore()
    assert not found.complete
    assert len(found.paths) <= 64


def test_long_hull_tests_can_be_watched() -> None:
    rng = random.Random(1)  # noqa: S311  # reproducible, not secret
    points = [tuple(Fraction(rng.randint(-9, 9)) for _ in range(4)) for _ in range(9)]
    heard: list[int] = []
    assert origin_in_hull(points, tick=lambda: heard.append(1)) == origin_in_hull(points)
    assert len(heard) > 1


def test_progress_hears_of_steps_and_hulls(monkeypatch: pytest.MonkeyPatch) -> None:
    from verifier.exact.hardmax import walk

    clock = iter(range(10**6))
    monkeypatch.setattr(walk.time, "monotonic", lambda: 2.0 * next(clock))  # every look at the clock is 2 s later
    heard: list[tuple[int, str]] = []
    refute(
        parse_problem(problem(NEVER_FREEZES, claim=WHILE_INSIDE)),
        horizon=100,
        progress=lambda t, remark: heard.append((t, remark)),
    )
    assert {t for t, _ in heard} == set(range(101))
    assert any("testing a hull" in remark for _, remark in heard)
    assert any("inside up to t = 64 at least" in remark for _, remark in heard)


def test_the_clock_is_heeded_inside_a_hull_test(monkeypatch: pytest.MonkeyPatch) -> None:
    from verifier.exact.hardmax import inside

    monkeypatch.setattr(inside, "GRACE", -1e9)  # late from the first pivot on
    found = answer(problem(NEVER_FREEZES, claim=WHILE_INSIDE), horizon=100, time_limit=1e3)
    assert found.answer is ExactAnswer.VERIFIED_TO_HORIZON
    assert found.horizon.stopped_by == "time limit"
    assert found.hypotheses[-1].witness["inside_up_to"] == 0  # K^0 is known from the hypotheses
    assert found.horizon.t == 0
