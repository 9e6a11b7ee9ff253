"""Float64 beside the exact run: plain float loops say the same, and no error exceeds its bound."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles.configurations import SHAPES, problem, semidefinite, tokens
from verifier.exact import float_report, parse_problem, read_problem, refute
from verifier.exact.divergence import CLASSES, Comparison, Divergence, classified
from verifier.exact.hardmax.floats import compare_hardmax
from verifier.exact.margin import compare
from verifier.exact.piecewise.floats import compare_map
from verifier.exact.piecewise.forms import forms_of
from verifier.exact.rounding import UNIT, Carried, Rounded, finite, nearest_double, rounded

PROBLEMS = Path(__file__).parents[2] / "problems"
MAPS = ["clipped-descent", "descent-ascent-alternating-1", "descent-ascent-alternating-half",
        "descent-ascent-simultaneous", "heavy-ball", "powell", "three-block-admm"]  # fmt: skip

rationals = st.fractions(min_value=-50, max_value=50, max_denominator=40)


def seeded(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311  # reproducible, not secret


def compared(document: dict[str, Any], horizon: int = 400) -> Comparison:
    given_ = parse_problem(document)
    return compare(given_, refute(given_), horizon=horizon)  # type: ignore[arg-type]  # none is of expressions


def by_form(found: Comparison) -> dict[str, Divergence]:
    return {each.form: each for each in found.divergences}


# ---- the arithmetic


@given(st.lists(rationals, min_size=3, max_size=6), st.lists(st.sampled_from("+-*/"), min_size=2, max_size=5))
def test_a_chain_of_operations_stays_within_its_bound(numbers: list[Fraction], operations: list[str]) -> None:
    exact, value = numbers[0], rounded(numbers[0])
    plain = float(numbers[0])
    for x, operation in zip(numbers[1:], operations, strict=False):
        if operation == "/" and abs(x) < Fraction(1, 100):
            continue
        act: Callable[[Any, Any], Any] = {
            "+": lambda a, b: a + b,
            "-": lambda a, b: a - b,
            "*": lambda a, b: a * b,
            "/": lambda a, b: a / b,
        }[operation]
        exact, value, plain = act(exact, x), act(value, rounded(x)), act(plain, float(x))
    assert value.value == plain
    assert abs(Fraction(value.value) - exact) <= Fraction(value.bound)


def test_conversion_bounds_are_the_conversion_errors() -> None:
    assert (rounded(Fraction(3, 4)).value, rounded(Fraction(3, 4)).bound) == (0.75, 0.0)
    tenth = rounded(Fraction(1, 10))
    error = abs(Fraction(1, 10) - Fraction(0.1))
    assert error <= Fraction(tenth.bound) <= error * Fraction(1_001, 1_000)
    assert error < UNIT / 10


def test_nothing_rounds_where_a_sum_or_product_is_exact() -> None:
    x = Rounded(0.1)
    assert (x + Rounded(0.0)).bound == 0.0
    assert (x * Rounded(0.0)).bound == 0.0
    assert (x + x).bound > 0.0  # the model's bound, though doubling happens to be exact


def test_numbers_beyond_the_doubles_stay_numbers() -> None:
    assert nearest_double(Fraction(10**400)) == finite(float("inf")) == np.finfo(float).max
    assert nearest_double(Fraction(-(10**400))) == -np.finfo(float).max
    assert finite(float("nan")) == np.finfo(float).max


@settings(max_examples=40)
@given(st.integers(0, 10_000))
def test_carried_errors_bound_an_affine_float_run(seed: int) -> None:
    rng = seeded(seed)
    size = rng.randint(1, 4)
    matrices = [[[Fraction(rng.randint(-9, 9), 7) for _ in range(size)] for _ in range(size)] for _ in range(2)]
    exact = [Fraction(rng.randint(-9, 9), 3) for _ in range(size)]
    z = [rounded(x) for x in exact]
    carried = Carried([x.bound for x in z])
    for t in range(30):
        M = matrices[t % 2]
        exact = [sum((a * x for a, x in zip(row, exact, strict=True)), Fraction(0)) for row in M]
        products = [[rounded(a) * x.fresh() for a, x in zip(row, z, strict=True)] for row in M]
        z = []
        for row in products:
            total = row[0]
            for term in row[1:]:
                total += term
            z.append(total)
        carried.advance(tuple(tuple(row) for row in M), [x.bound for x in z])
        for x, value, bound in zip(exact, z, carried.bounds(), strict=True):
            assert abs(Fraction(value.value) - x) <= Fraction(bound)


def test_a_rotations_errors_add_and_do_not_multiply() -> None:
    M = ((Fraction(3, 5), Fraction(-4, 5)), (Fraction(4, 5), Fraction(3, 5)))
    carried = Carried([0.0, 0.0])
    for _ in range(1_500):  # passes the number of generators that are kept
        carried.advance(M, [1e-16, 1e-16])
    assert max(carried.bounds()) < 1e-10  # |M| to the 1,500th is 1.4**1,500


# ---- hardmax

UPDATES: dict[str, Callable[[int, int, float, float], float]] = {
    "(1-g)x + gy": lambda a, b, x, y: (1.0 - a / b) * x + (a / b) * y,
    "x + g(y-x)": lambda a, b, x, y: x + (a / b) * (y - x),
    "((b-a)x + ay)/b": lambda a, b, x, y: (float(b - a) * x + float(a) * y) / float(b),
}


def plain_floats(points: list[list[Fraction]], form: str, steps: int, *, last: bool) -> list[list[int]]:
    """The components that float64 calls violations at each step, B = I and step 2/(t+2): a loop without numpy."""
    gaps = [[a - b for a, b in zip(x, y, strict=True)] for x in points for y in points]
    level = 2.0 * float(max(sum(g * g for g in gap) for gap in gaps))
    x = [[float(c) for c in point] for point in points]
    found = []
    for t in range(steps + 1):
        picked = []
        for one in x:
            scores = []
            for other in x:
                total = 0.0
                for a, b in zip(one, other, strict=True):
                    total += a * b
                scores.append(total)
            least = [k for k, score in enumerate(scores) if score == min(scores)]
            picked.append(least[-1 if last else 0])
        x = [
            [UPDATES[form](2, t + 2, a, b) for a, b in zip(one, x[k], strict=True)]
            for one, k in zip(x, picked, strict=True)
        ]
        fails = []
        for i, one in enumerate(x):
            total = 0.0
            for a in one:
                total += a * a
            if 0.5 * total > level / (t + 1):
                fails.append(i)
        found.append(fails)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("ties", ["lowest-index", "highest-index"])
def test_first_violations_are_those_of_a_plain_float_loop(ties: str) -> None:
    rng = seeded(5)
    starts = [[[Fraction(4)], [Fraction(-1)]], [[Fraction(2)], [Fraction(-1)]], [[Fraction(1, 5)], [Fraction(-1, 10)]]]
    starts += [[[x / 7 for x in point] for point in tokens(rng, n, d)] for n, d in ((3, 2), (5, 3))]
    seen = 0
    for points in starts:
        found = compared(problem(points, ties=ties), horizon=200)
        for form, each in by_form(found).items():
            fails = plain_floats(points, form, found.steps, last=ties == "highest-index")
            first = next(((t, tuple(which)) for t, which in enumerate(fails) if which), None)
            assert each.first_violation == first
            seen += first is not None
    assert seen >= 9


def test_4_minus_1_names_both_tokens_within_the_error_bound() -> None:
    for each in compared(problem([["4"], ["-1"]])).divergences:
        assert (each.cls, each.first_violation) == ("same answer, details differ", (224, (0, 1)))
        predicate = each.first_predicate
        assert predicate is not None
        assert (predicate.t, predicate.component, predicate.holds, predicate.gap) == (224, 1, True, 0.0)
        assert predicate.error_bound is not None
        assert 0 < predicate.excess <= predicate.error_bound < 1e-12
        assert "float64 cannot tell" in each.sentence
    assert by_form(compared(problem([["4"], ["-1"]])))["x + g(y-x)"].first_predicate.excess == 2.0**-52  # type: ignore[union-attr]  # asserted above


def test_a_tie_is_decided_by_the_form_of_the_update() -> None:
    points = [["1/5"], ["-1/10"]]
    low = compared(problem(points, ties="lowest-index"))
    assert low.first == (144, 0)
    assert {name: (each.cls, (each.first_violation or (None,))[0]) for name, each in by_form(low).items()} == {
        "(1-g)x + gy": ("different answer", None),
        "x + g(y-x)": ("different answer", None),
        "((b-a)x + ay)/b": ("different step", 143),
    }
    selection = by_form(low)["x + g(y-x)"].first_selection
    assert selection is not None
    assert (selection.t, selection.token, selection.taken, selection.exact[0], selection.gap) == (2, 1, 1, 0, 0.0)
    high = compared(problem(points, ties="highest-index"))
    assert high.first is None
    assert {each.cls for each in high.divergences} == {"agree"}


@pytest.mark.slow
def test_no_hardmax_run_leaves_its_bound_before_it_parts() -> None:
    rng = seeded(11)
    steps, parted = ("2/(t+2)", "2/(t+1)", "1/(t+2)", "1/3"), 0
    for number in range(16):
        n, d = SHAPES[number % 5]
        B = semidefinite(rng, d, rng.randint(1, d)) if number % 2 else None
        points = [[x / rng.choice((1, 3, 7)) for x in point] for point in tokens(rng, n, d)]
        if number == 0:
            points, B = [[Fraction(1, 5)], [Fraction(-1, 10)]], None
        document = problem(points, B=B, step=steps[number % 4], claim="energy-bound-any-step", ties="lowest-index")
        found = compare_hardmax(parse_problem(document), None, horizon=80, bounds=True)  # type: ignore[arg-type]  # it is hardmax
        for series, each in zip(found.floats, found.divergences, strict=True):
            pairs = [(a, b) for a, b in zip(series.apart, series.bounds, strict=True) if b is not None]
            assert all(a is not None and a <= b for a, b in pairs)
            assert len(pairs) == len(found.t) or each.first_selection is not None
            if each.first_selection is not None:
                parted += 1
                assert 0 <= each.first_selection.gap <= each.first_selection.error_bound
            predicate = each.first_predicate
            if predicate is not None and not predicate.parted:
                assert predicate.error_bound is not None
                assert abs(predicate.gap) <= predicate.error_bound
                assert abs(predicate.excess - predicate.gap) <= predicate.error_bound
    assert parted > 0


def test_the_claim_while_the_origin_is_inside_is_compared_up_to_the_exit() -> None:
    document = problem([["4"], ["-1"]], claim="energy-bound-while-inside")
    found = compared(document)
    assert (found.steps, found.first) == (1, None)
    assert {each.cls for each in found.divergences} == {"agree"}


def test_a_first_violation_out_of_reach_is_said() -> None:
    found = compared(problem([[str(10**99)], [str(7 - 10**99)]]))
    assert (found.first, found.steps) == (None, 1_000)
    for each in found.divergences:
        assert each.sentence.endswith("compared up to t = 1000, the first violation comes later")
        assert each.document()["short_of_first_violation"] is True
    reached = compared(problem([["4"], ["-1"]])).divergences[0]
    assert reached.document()["short_of_first_violation"] is False


# ---- maps


def powell(*, total: bool, steps: int) -> tuple[int, str]:
    """Powell's start in plain floats: the step of the first wrong or missing sign, and which of the two."""
    x, t = [-1.01, 1.005, -1.0025], 0
    for t in range(steps):
        i = t % 3
        s = (x[0] + x[1] + x[2]) - x[i] if total else x[(i + 1) % 3] + x[(i + 2) % 3]
        if s == 0:
            return t, "none"
        if (s > 0) != (t % 2 == 0):
            return t, "wrong"
        x[i] = (1.0 if s > 0 else -1.0) + s / 2
    return steps, "right"


def test_powell_parts_where_a_plain_loop_does() -> None:
    given_ = read_problem(PROBLEMS / "powell.json")
    others, own = compare(given_, refute(given_), horizon=10_000).divergences  # type: ignore[arg-type]  # it is a map
    assert powell(total=False, steps=100) == (43, "none")  # the 44th step
    assert powell(total=True, steps=100) == (41, "wrong")  # the 42nd
    assert others.first_selection is not None
    assert own.first_selection is not None
    assert (others.first_selection.t, others.first_selection.taken) == (43, None)
    assert "finds no branch at t = 43" in others.stopped
    assert (own.first_selection.t, own.first_selection.taken, own.first_selection.exact) == (41, 0, (1,))
    assert {others.cls, own.cls} == {"different answer"}
    for each in (others, own):
        assert each.first_selection is not None
        assert each.first_selection.gap <= each.first_selection.error_bound < 1e-12
    assert Fraction(others.first_selection.gap) == Fraction(0.01 / 2**45)  # twice |x| - 1 = e/2^(k+2) at k = 44


@pytest.mark.parametrize("name", MAPS)
def test_every_form_is_the_map_up_to_its_rounding(name: str) -> None:
    given_ = read_problem(PROBLEMS / f"{name}.json")
    rng = seeded(3)
    for form in forms_of(given_):  # type: ignore[arg-type]  # it is a map
        for t in range(6):
            for index, branch in enumerate(given_.map[t % len(given_.map)]):  # type: ignore[union-attr]
                floats = [rng.uniform(-3, 3) for _ in given_.z]  # type: ignore[union-attr]
                exact = branch(tuple(Fraction(x) for x in floats))
                for one, x in zip(form.step(t, index, [Rounded(x) for x in floats]), exact, strict=True):
                    assert abs(Fraction(one.value) - x) <= Fraction(one.bound)
                    assert one.bound < 1e-13


@pytest.mark.parametrize("name", MAPS)
def test_no_map_run_leaves_its_bound_before_it_parts(name: str) -> None:
    given_ = read_problem(PROBLEMS / f"{name}.json")
    found = compare_map(given_, None, horizon=150)  # type: ignore[arg-type]  # it is a map
    for series in found.floats:
        pairs = [(a, b) for a, b in zip(series.apart, series.bounds, strict=True) if b is not None]
        assert pairs
        assert all(a is not None and a <= b for a, b in pairs)


def test_heavy_ball_forms_are_the_plain_expressions() -> None:
    given_ = read_problem(PROBLEMS / "heavy-ball.json")
    first, second, _ = forms_of(given_)  # type: ignore[arg-type]  # it is a map
    x, p, alpha, beta = 2.7, -0.3, 1 / 9, 4 / 9
    gradient = 25.0 * x + -24.0
    z = [Rounded(x), Rounded(p)]
    assert first.step(0, 2, z)[0].value == (x - alpha * gradient) + beta * (x - p)
    assert second.step(0, 2, z)[0].value == (x + beta * (x - p)) - alpha * gradient


@pytest.mark.slow
def test_classes_of_the_shipped_maps() -> None:
    classes = {}
    for name in MAPS:
        given_ = read_problem(PROBLEMS / f"{name}.json")
        classes[name] = {form["class"] for form in (float_report(given_, refute(given_)) or {})["forms"]}
    assert classes == {
        **{name: {"agree"} for name in MAPS},
        "clipped-descent": {"same answer, details differ"},  # the start of the third step lies on a kink
        "powell": {"different answer"},
    }


def affine(z: list[str], M: list[list[str]], c: list[str], claim: dict[str, Any]) -> dict[str, Any]:
    return {
        "schema": "verifier/problem/1",
        "system": "linear-iteration",
        "parameters": {"M": M, "c": c},
        "state": {"z": z},
        "claim": claim,
    }


def test_stays_below_is_classified_by_first_violations() -> None:
    adding = affine(["0"], [["1"]], ["1/10"], {"name": "stays-below", "h": ["1"], "g": "3/10"})
    found = compared(adding)
    assert found.first == (4, 0)
    each = found.divergences[0]  # 0.1 + 0.1 + 0.1 > 0.3 in float64
    assert (each.cls, each.first_violation) == ("different step", (3, (0,)))
    assert each.first_predicate is not None
    assert (each.first_predicate.t, each.first_predicate.gap) == (3, 0.0)
    assert each.first_predicate.error_bound is not None
    assert 0 < each.first_predicate.excess <= each.first_predicate.error_bound

    still = affine(
        ["1/10", "1/5"], [["1", "0"], ["0", "1"]], ["0", "0"], {"name": "stays-below", "h": ["1", "1"], "g": "3/10"}
    )
    found = compared(still)
    assert found.first is None
    assert found.divergences[0].cls == "different answer"


def test_an_overflow_ends_a_float_run() -> None:
    found = compared(affine(["1"], [[f"1{'0' * 90}"]], ["0"], {"name": "bounded"}), horizon=10)
    for each, series in zip(found.divergences, found.floats, strict=True):
        assert each.cls == "different answer"
        assert each.stopped == "its numbers overflow at t = 4"
        assert series.values[4:] == (None,) * (len(found.t) - 4)


# ---- the four classes


@pytest.mark.parametrize(
    ("seen", "first", "cls"),
    [
        (None, None, 0),
        ((9, (0,)), (9, 0), 0),
        ((9, (0,)), (12, 0), 2),
        (None, (9, 0), 3),
        ((9, (0,)), None, 3),
    ],
)
def test_classes_follow_first_violations(
    seen: tuple[int, tuple[int, ...]] | None, first: tuple[int, int] | None, cls: int
) -> None:
    found = classified(Divergence("f", "", "token", first_violation=seen), first)
    assert found.cls == CLASSES[cls]
    assert found.document()["class"] == found.cls
