"""Search for a start: the same starts in any order, exact weights, bounds kept, power measured and never tabled."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.unit.test_exact_certificates import schemas
from verifier.exact import SearchProblem, parse_problem, read_problem, refute
from verifier.exact.search.drawn import search_drawn
from verifier.exact.search.power import measured
from verifier.exact.search.problem import statement
from verifier.exact.search.samplers import documents, example, start
from verifier.model.answers import ExactAnswer
from verifier.model.errors import BadInput

SHAPES = [[3, 2], [4, 2], [6, 2], [5, 3], [8, 3], [12, 4]]


def document(*, claim: str = "energy-bound", ties: str = "any-selection", B: Any = "identity", **find: Any) -> Any:
    return {
        "schema": "verifier/problem/1",
        "system": "hardmax-frank-wolfe",
        "parameters": {"B": B, "step": "2/(t+2)"},
        "state": {"find": {"numerator": 9, "denominator": 12, **find}},
        "claim": claim,
        "ties": ties,
    }


def opened(given: Any) -> SearchProblem:
    problem = parse_problem(given)
    assert isinstance(problem, SearchProblem)
    return problem


def map_document(system: str = "heavy-ball", **find: Any) -> Any:
    parameters = {
        "heavy-ball": {
            "breaks": ["1", "2"], "slopes": ["25", "1", "25"], "value": "25", "alpha": "1/9", "beta": "4/9",
            "mu": "1", "L": "25", "tuning": "optimal-for-quadratics",
        },
        "linear-iteration": {"M": [["1/2", "0"], ["0", "1/3"]], "c": ["0", "0"]},
    }  # fmt: skip
    return {
        "schema": "verifier/problem/1",
        "system": system,
        "parameters": parameters[system],
        "state": {"find": {"numerator": 50, "denominator": 20, **find}},
        "claim": {"name": "converges-to", "point": ["0", "0"]},
    }


def numbers(state: Any) -> list[Fraction]:
    if isinstance(state, str):
        return [Fraction(state)]
    return [x for value in (state.values() if isinstance(state, dict) else state) for x in numbers(value)]


@pytest.mark.parametrize("shape", [[1, 1], [2, 1], [2, 3], *SHAPES], ids=str)
@pytest.mark.parametrize("sampler", ["structured", "balanced", "origin-symmetric"])
def test_every_start_has_the_origin_in_its_hull_with_exact_weights(sampler: str, shape: list[int]) -> None:
    if sampler == "origin-symmetric" and shape[0] % 2:
        with pytest.raises(BadInput, match="even"):
            opened(document(sampler=sampler, shapes=[shape]))
        return
    problem = opened(document(sampler=sampler, shapes=[shape], starts=40))
    kinds = set()
    for index in range(40):
        some = start(problem, index)
        tokens = [[Fraction(x) for x in token] for token in some.state["tokens"]]
        assert [len(tokens), *{len(token) for token in tokens}] == shape
        assert some.weights is not None
        assert len(some.weights) == len(tokens)
        assert min(some.weights) >= 0
        assert sum(some.weights) == 1
        for column in zip(*tokens, strict=True):
            assert sum(w * x for w, x in zip(some.weights, column, strict=True)) == 0
        assert all(abs(x) <= 9 and x.denominator <= 12 for token in tokens for x in token)
        if sampler != "balanced":
            assert all(abs(x.numerator) <= 9 for token in tokens for x in token)
        kinds.add(some.structure)
    assert len(kinds) == (7 if sampler == "structured" else 1)


def test_a_symmetric_start_mirrors_itself_and_holds() -> None:
    problem = opened(document(sampler="origin-symmetric", shapes=[[4, 2], [6, 3]], starts=12))
    for index in range(12):
        concrete = example(problem, index)
        tokens = sorted([Fraction(x) for x in token] for token in concrete["state"]["tokens"])
        assert tokens == sorted([-x for x in token] for token in tokens)
        assert refute(parse_problem(concrete)).answer is ExactAnswer.HOLDS_FOR_ALL


@pytest.mark.parametrize("given", [document(shapes=SHAPES, starts=30), map_document(starts=30)], ids=["clouds", "map"])
def test_a_start_does_not_depend_on_what_came_before(given: Any) -> None:
    problem = opened(given)
    forward = list(documents(problem))
    assert [example(problem, index) for index in reversed(range(30))] == forward[::-1]
    more = opened({**given, "state": {"find": {**given["state"]["find"], "starts": 60}}})
    assert list(documents(more))[:30] == forward
    texts = opened({**given, "locator": "elsewhere"})
    assert [found["state"] for found in documents(texts)] == [found["state"] for found in forward]


def test_seed_and_sampler_and_statement_change_the_starts() -> None:
    states = [
        [found["state"] for found in documents(opened(given))]
        for given in (
            document(shapes=[[5, 3]], starts=20),
            document(shapes=[[5, 3]], starts=20, seed=1),
            document(shapes=[[5, 3]], starts=20, sampler="balanced"),
            document(shapes=[[5, 3]], starts=20, ties="lowest-index"),
        )
    ]
    for k, some in enumerate(states):
        for other in states[:k]:
            assert sum(x == y for x, y in zip(some, other, strict=True)) <= 2


def test_shapes_take_turns() -> None:
    found = [d["state"]["tokens"] for d in documents(opened(document(shapes=SHAPES, starts=12, sampler="balanced")))]
    assert [[len(tokens), len(tokens[0])] for tokens in found] == SHAPES * 2


def test_states_of_a_map_keep_their_bounds() -> None:
    for found in documents(opened(map_document(starts=100))):
        assert all(abs(x.numerator) <= 50 and x.denominator <= 20 for x in numbers(found["state"]))
        assert len(found["state"]["z"]) == 2


def test_an_identity_is_the_same_statement_by_name_and_by_numbers() -> None:
    by_numbers = document(B=[["1", "0"], ["0", "1"]], shapes=[[4, 2]], starts=5)
    by_name = document(shapes=[[4, 2]], starts=5)
    assert statement(by_numbers) == statement(by_name)
    assert list(documents(opened(by_numbers))) == list(documents(opened(by_name)))
    other = document(B=[["1", "0"], ["0", "2"]], shapes=[[4, 2]], starts=5)
    assert statement(other) != statement(by_name)


def test_the_first_start_that_fails_wins_and_is_concrete() -> None:
    given = document(tokens=4, dimension=2, sampler="balanced", starts=50)
    found = refute(opened(given))
    assert found.answer is ExactAnswer.VIOLATED_FOR_ALL
    assert found.certificate is not None
    assert found.search is not None
    assert found.search.starts == 1
    assert found.certificate["problem"]["state"] == found.search.found_start
    assert found.certificate["problem"]["parameters"]["B"] == [["1", "0"], ["0", "1"]]
    assert "find" not in found.certificate["problem"]["state"]
    assert found.notes[0] == "found by balanced starts after 1 start (seed 0)"
    first, last = numbers(example(opened(given), 0)["state"]), numbers(found.search.found_start)
    assert sum(map(abs, last)) < sum(map(abs, first))
    assert refute(opened(given)) == found


def test_nothing_found_counts_and_measures_its_power() -> None:
    given = document(claim="energy-bound-while-inside", shapes=SHAPES[:2], sampler="balanced", starts=20)
    found = refute(opened(given))
    assert found.answer is ExactAnswer.VERIFIED_TO_HORIZON
    report = found.search
    assert report is not None
    assert report.starts == report.planned == sum(report.by_answer.values()) == 20
    assert report.drawn == sum(report.drawn_by_answer.values()) > 0
    assert report.by_answer["HOLDS_FOR_ALL"] == sum(report.exit_steps.values())
    (power,) = report.power
    known_false = opened({**given, "claim": "energy-bound"})
    answers = [refute(parse_problem(d), horizon=400).answer for d in documents(known_false)]
    assert (power.by, power.of) == ("sampler", 20)
    assert power.caught == sum(answer is ExactAnswer.VIOLATED_FOR_ALL for answer in answers) >= 15
    said = (
        f"measured on another statement, known to fail (the tokens (4, -1)): this sampler catches {power.caught} of 20"
    )
    assert any(note.startswith(said) for note in found.notes)
    assert refute(opened(given)) == found


def test_a_symmetric_search_has_no_power_by_its_own_count() -> None:
    found = refute(opened(document(shapes=[[4, 2]], sampler="origin-symmetric", denominator=1, starts=25)))
    assert found.answer is ExactAnswer.VERIFIED_TO_HORIZON
    assert found.search is not None
    (power,) = found.search.power
    assert (power.caught, power.of, power.by) == (0, 25, "search")
    assert any("has no power: of 25 such starts for this very statement" in note for note in found.notes)


def test_power_is_counted_and_not_looked_up() -> None:
    problem = opened(document(claim="energy-bound-while-inside", tokens=2, dimension=1, sampler="balanced", starts=12))
    refuted = refute(parse_problem(document_of([["4"], ["-1"]])))
    held = refute(parse_problem(document_of([["1"], ["-1"]])))
    for answer, caught in ((refuted, 12), (held, 0)):
        (power,) = measured(problem, lambda _, answer=answer: answer, own=(0, 12))
        assert (power.caught, power.of) == (caught, 12)
    # two balanced tokens are x and -x: by counting, without power, whatever the sampler's name
    (power,) = measured(problem, lambda d: refute(parse_problem(d), horizon=400), own=(0, 12))
    assert (power.caught, power.of, power.by) == (0, 12, "sampler")


def document_of(tokens: list[list[str]]) -> Any:
    return {**document(B=[["1"]]), "state": {"tokens": tokens}}


@pytest.mark.slow
def test_hypothesis_finds_and_simplifies_and_repeats_itself() -> None:
    problem = opened(document(tokens=3, dimension=1, starts=10, ties="lowest-index"))

    def decide(given: Any) -> Any:
        return refute(parse_problem(given), horizon=200)

    one = search_drawn(problem, decide, examples=60)
    assert one is not None
    assert one[1].answer is ExactAnswer.VIOLATED_FOR_ALL
    assert search_drawn(problem, decide, examples=60) == one
    assert search_drawn(problem, lambda _: None, examples=5) is None
    assert sum(map(abs, numbers(one[0]["state"]))) <= 20


@pytest.mark.slow
def test_a_start_that_only_hypothesis_reaches_is_said_to_be_its() -> None:
    from verifier.exact.search.driver import search

    problem = opened(document(tokens=3, dimension=2, starts=50))
    random_ones = [found["state"] for found in documents(problem)]
    held = refute(parse_problem(document_of([["1"], ["-1"]])))

    def decide(given: Any, horizon: int, _limit: float | None) -> Any:
        # the random starts are made to hold, so that hypothesis alone can reach a failing one
        return held if given["state"] in random_ones else refute(parse_problem(given), horizon=horizon)

    found = search(problem, decide=decide, horizon=400)
    assert found.search is not None
    assert found.search.found_by == "hypothesis"
    assert found.answer is ExactAnswer.VIOLATED_FOR_ALL
    assert found.search.starts == found.search.by_answer["HOLDS_FOR_ALL"] == 50
    assert found.search.drawn >= 1
    assert found.notes[0].startswith("found by hypothesis after 50 starts and")


def test_only_starts_outside_the_hypotheses_say_nothing() -> None:
    indefinite = document(B=[["1", "0"], ["0", "-1"]], tokens=4, dimension=2, starts=6)
    found = refute(opened(indefinite))
    assert found.answer is ExactAnswer.UNSUPPORTED_HYPOTHESIS
    assert found.sentence.startswith("Nothing can be said: 6 starts: 6 lie outside the hypotheses")


def test_a_time_limit_says_how_many_starts_were_decided() -> None:
    found = refute(opened(document(shapes=[[3, 2]], starts=500, claim="energy-bound-while-inside")), time_limit=0.0)
    assert found.search is not None
    assert (found.search.stopped_by, found.search.starts) == ("time limit", 0)
    assert any("after 0 of 500 starts" in note for note in found.notes)


def test_maps_and_expressions_are_searched_too() -> None:
    heavy = refute(opened(map_document(starts=40)))
    assert heavy.answer is ExactAnswer.VIOLATED_FOR_ALL
    calm = refute(opened(map_document("linear-iteration", starts=10)))
    assert calm.answer is ExactAnswer.VERIFIED_TO_HORIZON
    assert any("is not measured" in note for note in calm.notes)
    squares = {
        "schema": "verifier/problem/1",
        "system": "expressions",
        "parameters": {"variables": {"x": "rational"}, "hypotheses": ["0 < x"], "conclusion": "x <= x*x"},
        "state": {"find": {"numerator": 5, "denominator": 5, "starts": 50}},
        "claim": "conclusion",
    }
    found = refute(opened(squares))
    assert found.answer is ExactAnswer.VIOLATED
    assert found.search is not None
    (x,) = numbers(found.search.found_start)
    assert 0 < x < 1


@pytest.mark.parametrize(
    ("find", "what"),
    [
        ({"tokens": 3}, "shape"),
        ({"tokens": 3, "dimension": 2, "shapes": [[3, 2]]}, "shape"),
        ({"shapes": []}, "entries"),
        ({"shapes": [[65, 2]]}, "counter"),
        ({"shapes": [[3, 2, 1]]}, "entries"),
        ({"shapes": [[3, 2]], "starts": 0}, "counter"),
        ({"shapes": [[3, 2]], "starts": 100_001}, "counter"),
        ({"shapes": [[3, 2]], "seed": -1}, "counter"),
        ({"shapes": [[3, 2]], "sampler": "lucky"}, "unknown word"),
        ({"shapes": [[14, 2]], "sampler": "balanced"}, "denominators up to 13"),
        ({"shapes": [[3, 2]], "luck": 1}, "unknown field"),
        ({"shapes": [[2, 1], [3, 1]], "sampler": "origin-symmetric"}, "even"),
    ],
)
def test_what_cannot_be_searched_is_one_sentence(find: dict[str, Any], what: str) -> None:
    with pytest.raises(BadInput, match=what) as caught:
        parse_problem(document(**find))
    assert "state.find" in caught.value.where


def schema() -> jsonschema.Draft202012Validator:
    certificates = schemas()
    return certificates.evolve(schema={"$ref": "urn:verifier:schema:problem-1"})


def test_the_schema_says_what_the_reader_says() -> None:
    valid = schema()
    right = [
        document(tokens=3, dimension=2), document(shapes=SHAPES, sampler="balanced", seed=4, starts=7),
        document(B=[["1"]], shapes=[[3, 1]]), map_document(starts=3, sampler="structured"),
    ]  # fmt: skip
    for given in right:
        valid.validate(given)
        opened(given)
    wrong = [
        document(tokens=3), document(tokens=3, dimension=2, shapes=[[3, 2]]), document(shapes=[[3]]),
        document(shapes=[[3, 2]], sampler="lucky"), map_document(sampler="balanced"), map_document(tokens=3),
        {**document(), "state": {"tokens": [["4"], ["-1"]]}},
    ]  # fmt: skip
    for given in wrong:
        assert not valid.is_valid(given)
        with pytest.raises(BadInput):
            parse_problem(given)


def test_hypothesis_is_not_imported_before_a_search_draws() -> None:
    code = "import sys, verifier.exact; assert 'hypothesis' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_shipped_searches_read() -> None:
    for name in ("frank-wolfe-search", "frank-wolfe-symmetric-search"):
        assert isinstance(read_problem(Path(__file__).parents[2] / "problems" / f"{name}.json"), SearchProblem)
