"""Piecewise affine systems: the shipped problems, their sets and spectra against plain stepping."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from verifier.exact import float_report, parse_problem, read_problem, refute
from verifier.exact.systems import systems
from verifier.model.answers import ExactAnswer
from verifier.model.errors import BadInput

Document = dict[str, Any]
Vector = list[Fraction]

PROBLEMS = Path(__file__).parents[2] / "problems"

SHIPPED = {
    "heavy-ball": ("invariant", "ellipsoid"),
    "powell": ("invariant", "ray"),
    "descent-ascent-alternating-1": ("invariant", "points"),
    "descent-ascent-alternating-half": ("invariant", "level"),
    "descent-ascent-simultaneous": ("spectral", None),
    "three-block-admm": ("spectral", None),
    "clipped-descent": ("invariant", "ray"),
}


def load(name: str) -> Document:
    return json.loads((PROBLEMS / f"{name}.json").read_text(encoding="utf-8"))


def step(document: Document, t: int, z: Vector) -> tuple[int, Vector]:
    """One step of the long form, in plain Fractions."""
    phases = document["parameters"]["map"]
    found = []
    for index, branch in enumerate(phases[t % len(phases)]):
        values = [(dotted(g["a"], z) + Fraction(g["b"]), g["relation"]) for g in branch["guards"]]
        if all(v > 0 or (v == 0 and relation == ">=") for v, relation in values):
            found.append(index)
    (index,) = found
    branch = phases[t % len(phases)][index]
    return index, [dotted(row, z) + Fraction(c) for row, c in zip(branch["M"], branch["c"], strict=True)]


def dotted(a: Sequence[str], z: Vector) -> Fraction:
    return sum((Fraction(x) * y for x, y in zip(a, z, strict=True)), Fraction(0))


def form(P: Sequence[Sequence[str]], x: Vector) -> Fraction:
    return sum(dotted(row, x) * y for row, y in zip(P, x, strict=True))


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_problem(name: str) -> None:
    found = refute(read_problem(PROBLEMS / f"{name}.json"))
    assert found.answer is ExactAnswer.VIOLATED_FOR_ALL
    kind, shape = SHIPPED[name]
    assert found.certificate["kind"] == kind
    assert found.certificate.get("shape", {}).get("type") == shape
    again = parse_problem(found.certificate["problem"])  # the long form is a problem itself
    assert refute(again).certificate == found.certificate


@pytest.mark.parametrize("name", [name for name, (kind, _) in SHIPPED.items() if kind == "invariant"])
def test_the_orbit_stays_in_the_set(name: str) -> None:
    certificate = refute(read_problem(PROBLEMS / f"{name}.json")).certificate
    problem, shape, start = certificate["problem"], certificate["shape"], certificate["start"]
    z = [Fraction(x) for x in problem["state"]["z"]]
    cycle = certificate.get("cycle", [0])
    levels, ray = set(), None
    for t in range(start + 4 * len(cycle)):
        k = (t - start) % len(cycle)
        if t >= start and shape["type"] == "points":
            assert z == [Fraction(x) for x in shape["points"][k]]
        if t >= start and shape["type"] == "ellipsoid":
            off = [x - Fraction(e) for x, e in zip(z, shape["centres"][k], strict=True)]
            assert form(shape["P"], off) <= Fraction(shape["R"])
        if t >= start and shape["type"] == "level":
            levels.add(form(shape["Q"], [x - Fraction(w) for x, w in zip(z, shape["centre"], strict=True)]))
        if t >= start and shape["type"] == "ray" and k == 0:
            off = [x - Fraction(c) for x, c in zip(z, shape["c"], strict=True)]
            scale = next(x / Fraction(u) for x, u in zip(off, shape["u"], strict=True) if u != "0")
            assert off == [scale * Fraction(u) for u in shape["u"]]
            assert ray is None or scale == ray * Fraction(shape["lambda"])
            ray = scale
        taken, z = step(problem, t, z)
        if t >= start and "cycle" in certificate:
            assert taken == cycle[k]
    assert len(levels) <= 1


def test_powell_has_the_published_first_values() -> None:
    problem = parse_problem(load("powell")).document
    z, firsts = [Fraction(x) for x in problem["state"]["z"]], []
    for t in range(4):
        _, z = step(problem, t, z)
        firsts.append(z[t % 3])
    assert firsts == [Fraction(801, 800), Fraction(-1601, 1600), Fraction(3201, 3200), Fraction(-6401, 6400)]


def test_powell_breaks_float64_in_both_forms() -> None:
    given = read_problem(PROBLEMS / "powell.json")
    direct, total = float_report(given, refute(given))["forms"]
    assert direct["first_branch"]["t"] == 43  # the others' sum is exactly 0
    assert direct["first_branch"]["float"] is None
    assert total["first_branch"]["t"] == 41  # the wrong sign
    assert {direct["class"], total["class"]} == {"different answer"}


def test_heavy_ball_centres_are_the_published_cycle() -> None:
    certificate = refute(read_problem(PROBLEMS / "heavy-ball.json")).certificate
    cycle = {"792/1225", "-2208/1225", "2592/1225"}
    assert {centre[0] for centre in certificate["shape"]["centres"]} == cycle


def test_three_block_polynomial_is_the_written_one() -> None:
    certificate = refute(read_problem(PROBLEMS / "three-block-admm.json")).certificate
    assert certificate["polynomial"] == ["0", "140", "-560", "861", "-602", "162"]
    assert (certificate["squarings"], certificate["relation"]) == (6, ">")


def squared_moduli(certificate: Document) -> Any:
    """The moduli of the polynomial's roots, by numpy."""
    import numpy as np

    return np.abs(np.roots([float(x) for x in reversed(certificate["polynomial"])]))


@pytest.mark.parametrize("name", ["three-block-admm", "descent-ascent-simultaneous"])
def test_a_root_is_outside_the_unit_circle(name: str) -> None:
    assert squared_moduli(refute(read_problem(PROBLEMS / f"{name}.json")).certificate).max() > 1.0001


def linear(M: list[list[str]], z: list[str], claim: Document, c: list[str] | None = None) -> Document:
    return {
        "schema": "verifier/problem/1",
        "system": "linear-iteration",
        "parameters": {"M": M, "c": c or ["0"] * len(z)},
        "state": {"z": z},
        "claim": claim,
    }


def test_a_contraction_holds_for_all() -> None:
    document = linear([["1/2", "1"], ["0", "1/3"]], ["1", "1"], {"name": "converges-to", "point": ["0", "0"]})
    assert refute(parse_problem(document)).answer is ExactAnswer.HOLDS_FOR_ALL


def test_only_the_modes_that_the_start_excites_count() -> None:
    M = [["2", "0"], ["0", "1/2"]]
    claim = {"name": "converges-to", "point": ["0", "0"]}
    assert refute(parse_problem(linear(M, ["0", "1"], claim))).answer is not ExactAnswer.VIOLATED_FOR_ALL
    found = refute(parse_problem(linear(M, ["1", "0"], claim)))
    assert found.certificate["polynomial"] == ["-2", "1"]


def test_convergence_to_another_point_is_found() -> None:
    document = linear([["1/2"]], ["0"], {"name": "converges-to", "point": ["1"]}, c=["1"])
    found = refute(parse_problem(document))
    assert found.answer is ExactAnswer.VIOLATED_FOR_ALL
    assert found.certificate["excluded"]["phase"] == 0


def test_stays_below_is_broken_first_at_the_step_named() -> None:
    document = linear([["2"]], ["1"], {"name": "stays-below", "h": ["1"], "g": "10"})
    found = refute(parse_problem(document))
    assert found.answer is ExactAnswer.VIOLATED
    assert (found.certificate["t"], found.certificate["lhs"], found.certificate["rhs"]) == (4, "16", "10")
    document["claim"]["g"] = "16"
    assert refute(parse_problem(document)).first_violation.t == 5


def test_a_slope_outside_its_bounds_is_an_unsupported_hypothesis() -> None:
    document = load("heavy-ball")
    document["parameters"]["L"] = "16"
    found = refute(parse_problem(document))
    assert found.answer is ExactAnswer.UNSUPPORTED_HYPOTHESIS
    assert found.certificate is None


def test_a_point_that_solves_nothing_is_an_unsupported_hypothesis() -> None:
    document = load("heavy-ball")
    document["claim"]["point"] = ["1", "1"]
    assert refute(parse_problem(document)).answer is ExactAnswer.UNSUPPORTED_HYPOTHESIS


def test_a_map_that_differs_from_its_parameters_is_an_unsupported_hypothesis() -> None:
    document = parse_problem(load("powell")).document
    document["parameters"]["map"][0][0]["c"][0] = "2"
    found = refute(parse_problem(document))
    assert [h.name for h in found.hypotheses if not h.holds] == ["the map is that of coordinate-minimisation"]


def test_an_orbit_without_a_branch_is_an_unsupported_hypothesis() -> None:
    document = load("powell")
    document["state"]["z"] = ["0", "1", "-1"]
    found = refute(parse_problem(document))
    assert found.answer is ExactAnswer.UNSUPPORTED_HYPOTHESIS
    assert found.hypotheses[-1].witness["t"] == 0


def test_overlapping_branches_are_an_unsupported_hypothesis() -> None:
    branch = {"guards": [{"a": ["1"], "b": "0", "relation": ">="}], "M": [["1"]], "c": ["0"]}
    other = {"guards": [{"a": ["-1"], "b": "0", "relation": ">="}], "M": [["1"]], "c": ["1"]}
    document = {
        "schema": "verifier/problem/1",
        "system": "piecewise-affine",
        "parameters": {"map": [[branch, other]], "hypotheses": []},
        "state": {"z": ["1"]},
        "claim": {"name": "converges"},
    }
    assert refute(parse_problem(document)).answer is ExactAnswer.UNSUPPORTED_HYPOTHESIS
    other["guards"][0]["relation"] = ">"
    assert refute(parse_problem(document)).answer is ExactAnswer.HOLDS_FOR_ALL


def test_every_system_is_found_by_its_file() -> None:
    assert set(systems()) == {
        "heavy-ball",
        "coordinate-minimisation",
        "gradient-descent-ascent",
        "three-block-admm",
        "linear-iteration",
        "clipped-descent",
    }


def test_clipped_descent_is_the_clipped_sum() -> None:
    document = load("clipped-descent")
    problem = parse_problem(document)
    parameters = document["parameters"]
    for tenths in range(-50, 150):
        x = Fraction(tenths, 10)
        pairs = zip(parameters["curvatures"], parameters["centres"], strict=True)
        pulls = [Fraction(s) * (x - Fraction(m)) for s, m in pairs]
        clip = Fraction(parameters["clip"])
        expected = x - Fraction(parameters["eta"]) / 3 * sum(max(-clip, min(clip, pull)) for pull in pulls)
        (branch,) = [b for b in problem.map[0] if all(g.holds((x,)) for g in b.guards)]
        assert branch((x,)) == (expected,)


def test_a_certificate_of_a_users_system_carries_the_map() -> None:
    certificate = refute(read_problem(PROBLEMS / "clipped-descent.json")).certificate
    assert certificate["problem"]["system"] == "piecewise-affine"
    kinds = {h["kind"] for h in certificate["problem"]["parameters"]["hypotheses"]}
    assert kinds == {"inequality"}


@pytest.mark.parametrize("order", ["simultaneous", "alternating"])
def test_descent_ascent_is_its_two_lines(order: str) -> None:
    A = [["1", "2"], ["0", "3"], ["-1", "1/2"]]
    document = {
        "schema": "verifier/problem/1",
        "system": "gradient-descent-ascent",
        "parameters": {"A": A, "eta": "1/3", "order": order},
        "state": {"z": ["1", "-2", "1/2", "3", "5"]},
        "claim": {"name": "converges-to", "point": ["0"] * 5},
    }
    problem = parse_problem(document)
    z = [Fraction(x) for x in document["state"]["z"]]
    x, y, eta = z[:3], z[3:], Fraction(1, 3)
    matrix = [[Fraction(a) for a in row] for row in A]
    new_x = [a - eta * sum(m * b for m, b in zip(row, y, strict=True)) for a, row in zip(x, matrix, strict=True)]
    used = x if order == "simultaneous" else new_x
    new_y = [b + eta * sum(matrix[i][j] * used[i] for i in range(3)) for j, b in enumerate(y)]
    assert list(problem.map[0][0](tuple(z))) == new_x + new_y


def test_wrong_shapes_are_complaints_with_a_path() -> None:
    wrong = [
        (("parameters", "A"), [["0", "1"]], "parameters.A"),
        (("parameters", "A"), [["0", 1], ["1", "0"]], "parameters.A[0][1]"),
        (("state", "z"), ["1"], "state"),
        (("claim",), {"name": "converges-too"}, "claim.name"),
        (("claim",), {"name": "converges-to"}, "claim"),
        (("system",), "powel", "system"),
        (("parameters",), {"A": [["0"]], "B": "1"}, "parameters"),
    ]
    for path, value, where in wrong:
        document = load("powell")
        at = document
        for key in path[:-1]:
            at = at[key]
        at[path[-1]] = value
        with pytest.raises(BadInput) as caught:
            parse_problem(document)
        assert caught.value.where == f"problem: {where}"
        assert caught.value.mend


def test_no_two_systems_share_a_kind() -> None:
    kinds = [system.kind for system in systems().values() if system.kind]
    assert not any(a == b for a, b in combinations(kinds, 2))


def slow_map(claim: Document) -> Document:
    """x ← 2x mod 1 in two branches, from a start whose period is long: no set of the format, few bits."""
    half = {"a": ["-1"], "b": "1/2", "relation": ">"}
    other = {"a": ["1"], "b": "-1/2", "relation": ">="}
    phase = [
        {"guards": [half], "M": [["2"]], "c": ["0"]},
        {"guards": [other], "M": [["2"]], "c": ["-1"]},
    ]
    return {
        "schema": "verifier/problem/1",
        "system": "piecewise-affine",
        "parameters": {"map": [phase], "hypotheses": []},
        "state": {"z": ["1/1000003"]},
        "claim": claim,
    }


def test_a_horizon_says_how_far_and_how_near() -> None:
    document = slow_map({"name": "stays-below", "h": ["1"], "g": "1"})
    found = refute(parse_problem(document), horizon=3_000)
    assert found.answer is ExactAnswer.VERIFIED_TO_HORIZON
    assert found.horizon is not None
    z, largest = Fraction(1, 1_000_003), (Fraction(0), 0)
    for t in range(3_001):
        largest = max(largest, (z, -t))
        z = 2 * z % 1
    assert found.horizon.t == 3_000
    assert found.horizon.margin == float(1 - largest[0])
    assert found.horizon.margin_at == -largest[1]
    assert found.horizon.stopped_by == "horizon"


def test_a_forecast_for_steady_growth_is_the_crossing() -> None:
    document = linear(
        [["1", "0"], ["0", "1/2"]], ["0", "1"], {"name": "stays-below", "h": ["1", "0"], "g": "1000"}, ["3", "0"]
    )
    found = refute(parse_problem(document), horizon=200)
    assert found.horizon is not None
    assert (found.horizon.t, found.horizon.margin) == (200, 400.0)
    assert found.horizon.predicted_crossing == 334
    longer = refute(parse_problem(document))
    assert longer.first_violation is not None
    assert longer.first_violation.t == 334


def test_a_cycle_longer_than_the_format_is_said_without_a_certificate() -> None:
    document = slow_map({"name": "converges"})
    document["state"]["z"] = ["1/107"]  # 2 has the order 106 modulo 107
    found = refute(parse_problem(document))
    assert found.answer is ExactAnswer.VIOLATED_FOR_ALL
    assert found.certificate is None
    assert "longer" in found.no_certificate


def test_a_late_failure_is_found_and_too_long_for_a_certificate() -> None:
    document = linear([["1"]], ["0"], {"name": "stays-below", "h": ["1"], "g": "2500"}, ["1"])
    found = refute(parse_problem(document))
    assert found.answer is ExactAnswer.VIOLATED
    assert found.first_violation is not None
    assert (found.first_violation.t, found.first_violation.lhs) == (2_501, 2_501)
    assert found.certificate is None
    document["claim"]["g"] = "1999"
    assert refute(parse_problem(document)).certificate is not None


def test_a_time_limit_ends_every_search() -> None:
    document = slow_map({"name": "stays-below", "h": ["1"], "g": "1"})
    found = refute(parse_problem(document), horizon=1_000_000, time_limit=0.2)
    assert found.answer is ExactAnswer.VERIFIED_TO_HORIZON
    assert found.horizon is not None
    assert found.horizon.stopped_by == "time limit"
    assert 0 < found.horizon.t < 1_000_000
    for name in ("heavy-ball", "powell", "three-block-admm"):
        nothing = refute(read_problem(PROBLEMS / f"{name}.json"), time_limit=0.0)
        assert nothing.answer is ExactAnswer.VERIFIED_TO_HORIZON
        assert nothing.horizon is not None
        assert nothing.horizon.stopped_by == "time limit"


def test_long_runs_say_where_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("verifier.exact.clock.REMARK_AFTER", 0.0)
    heard: list[int] = []
    document = slow_map({"name": "stays-below", "h": ["1"], "g": "1"})
    refute(parse_problem(document), horizon=50, progress=lambda t, _: heard.append(t))
    assert heard[0] == 0
    assert max(heard) >= 49


@pytest.mark.parametrize("seed", range(6))
def test_root_counts_agree_with_numpy(seed: int) -> None:
    import random

    import numpy as np

    from verifier.exact.piecewise.roots import at_most_one, inside

    rng = random.Random(seed)  # noqa: S311  # draws test polynomials
    for _ in range(200):
        c = (*(rng.randint(-9, 9) for _ in range(rng.randint(1, 6))), rng.randint(1, 12))
        moduli = np.abs(np.roots(list(reversed(c))))
        largest = moduli.max(initial=0.0)
        if abs(largest - 1) > 1e-6:
            assert inside(c) == (largest < 1)
            assert at_most_one(c) == (largest < 1)


def test_roots_on_the_circle_count_once() -> None:
    from verifier.exact.piecewise.roots import at_most_one, inside

    def times(*factors: tuple[int, ...]) -> tuple[int, ...]:
        whole = (1,)
        for f in factors:
            whole = tuple(
                sum(whole[i] * f[k - i] for i in range(len(whole)) if 0 <= k - i < len(f))
                for k in range(len(whole) + len(f) - 1)
            )
        return whole

    one, minus_one, turn, third, decay, growth = (-1, 1), (1, 1), (5, -6, 5), (1, 1, 1), (-1, 2), (-2, 1)
    for simple in ((one,), (minus_one, decay), (turn, third, one), (turn, decay, decay), ((0, 1), one)):
        assert at_most_one(times(*simple))
        assert not inside(times(*simple))
    for bad in ((one, one), (turn, turn, decay), (third, growth), (growth, decay), (minus_one, one, minus_one)):
        assert not at_most_one(times(*bad))
