"""The certificates that the corpus mutates: the format page's own examples, and more built by brute force.

Nothing here asks the finder: a hardmax proof is found by stepping every selection until all tokens select the same one.
"""

from __future__ import annotations

import json
import re
from fractions import Fraction
from itertools import groupby
from pathlib import Path
from typing import Any

from tests.oracles.certificate_hardmax import Place
from tests.oracles.configurations import problem
from tests.oracles.hardmax import Brute, dot, times

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "certificates.md"
SCHEMA = "verifier/certificate/1"
EXAMPLES = ("4-1", "4-1-freeze", "4-1-separation", "stays-below", "heavy-ball-ellipsoid", "powell-ray")
EXAMPLES += ("alternating-points", "alternating-level", "box", "admm", "simultaneous", "quadratic-form", "exponential")
SOURCE: dict[str, Any] = {
    "paper": {"openreview": "zrn7rRuvhW", "arxiv": "2508.09628v1", "title": 'A title with "quotes" and λ'},
    "locator": "Theorem 3.1",
    "quote": "for all i and t",
    "symbols": {"J": "half of <Bx, x>"},
}


def page() -> dict[str, dict[str, Any]]:
    """The examples of the format page, by name."""
    blocks = re.findall(r"```json\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return dict(zip(EXAMPLES, map(json.loads, blocks), strict=True))


def runs(targets: list[tuple[int, ...]]) -> list[dict[str, Any]]:
    return [{"steps": len(list(group)), "targets": list(key)} for key, group in groupby(targets)]


def frozen(place: Place) -> bool:
    """No tie, one target for all, of positive norm, and the matrices and steps no longer in the way."""
    brute = place.brute
    if len(place.admitted) > 1 or len(set(place.admitted[0])) > 1 or place.t < brute.t0 + len(brute.matrices) - 1:
        return False
    x = place.x[place.admitted[0][0]]
    return not place.tied and place.t > brute.t0 and dot(times(brute.matrix(place.t), x), x) > 0


def hardmax(kind: str, document: dict[str, Any], *, weights: list[str], bound: str) -> dict[str, Any]:
    """A certificate of kind `violation` or `for-all` (every branch frozen) for a hardmax problem."""
    brute, ell = Brute(document), Fraction(bound)
    branches: list[dict[str, Any]] = []
    open_: list[tuple[Place, list[tuple[int, ...]], list[Place]]] = [(Place(brute, brute.t0, brute.start), [], [])]

    def first(way: list[Place]) -> dict[str, Any]:
        place = next(p for p in way if p.failed)
        i = min(place.failed)
        t = place.t - 1
        return {"t": t, "component": i, "lhs": str(place.energy(i)), "rhs": str(2 * ell * brute.D2 / (t + 1))}

    while open_:
        place, targets, way = open_.pop()
        if kind == "violation" and way and way[-1].failed:
            branches.append({"selections": runs(targets), **first(way)})
        elif kind == "for-all" and frozen(place):
            s, v = place.t, place.admitted[0][0]
            c0 = dot(times(brute.matrix(s), place.x[v]), place.x[v])
            while way[-1].t <= max(s, 4 * ell * brute.D2 // c0) + 5:
                way.append(way[-1].step(place.admitted[0]))
            failed = [p.failed for p in way]
            n = range(len(brute.start))
            by = [brute.t0 + 1 + max((k for k, f in enumerate(failed) if i not in f), default=-1) for i in n]
            some = brute.t0 + 1 + max((k for k, f in enumerate(failed) if not f), default=-1)
            branch = {"selections": runs(targets), "first": first(way), "freeze": {"step": s, "target": v}}
            branches.append({**branch, "fails_from": some, "fails_from_by_component": by})
        else:
            for choice in reversed(place.admitted):
                after = place.step(choice)
                open_.append((after, [*targets, choice], [*way, after]))
    found = {"schema": SCHEMA, "kind": kind, "problem": document, "weights": weights, "lambda_bound": bound}
    found["branches"] = branches
    if kind == "for-all":
        found["fails_from"] = max(b["fails_from"] for b in branches)
        found["fails_from_by_component"] = [
            max(x) for x in zip(*(b["fails_from_by_component"] for b in branches), strict=True)
        ]
    return found


def attention() -> dict[str, dict[str, Any]]:
    """Hardmax seeds: ties with several branches, lists of matrices, irrational λ_max, every step rule, index rules."""
    any_step: dict[str, Any] = {"claim": "energy-bound-any-step"}
    fork = [["0", "4"], ["1", "-1"], ["-1", "-1"]]
    fork_weights = ["1/5", "2/5", "2/5"]
    pair, pair_weights = [["4"], ["-1"]], ["1/5", "4/5"]
    merge, merge_weights = [["5"], ["-3"]], ["3/8", "5/8"]
    golden = [["2", "1"], ["1", "1"]]
    plane = [["4", "1"], ["-1", "0"], ["0", "-1"]]
    plane_weights = ["1/6", "2/3", "1/6"]
    shrinking = [[["2", "0"], ["0", "2"]], [["2", "0"], ["0", "1"]], [["1", "0"], ["0", "1"]]]
    tied = [["2"], ["-1"]]
    return {
        "violation-fork": hardmax("violation", {**problem(fork), **SOURCE}, weights=fork_weights, bound="1"),
        "violation-list": hardmax(
            "violation", problem(plane, B=shrinking, ties="lowest-index"), weights=plane_weights, bound="2"
        ),
        "violation-golden": hardmax(
            "violation", problem(plane, B=golden), weights=plane_weights, bound="1309017/500000"
        ),
        "for-all-fork": hardmax("for-all", problem(fork), weights=fork_weights, bound="1"),
        "for-all-fork-highest": hardmax(
            "for-all", problem(fork, ties="highest-index"), weights=fork_weights, bound="1"
        ),
        "for-all-list": hardmax("for-all", problem(plane, B=shrinking), weights=plane_weights, bound="2"),
        "for-all-golden": hardmax("for-all", problem(plane, B=golden), weights=plane_weights, bound="1309017/500000"),
        "for-all-merge": hardmax("for-all", {**problem(merge), **SOURCE}, weights=merge_weights, bound="1"),
        "for-all-2-1": hardmax("for-all", problem(pair, step="2/(t+1)", **any_step), weights=pair_weights, bound="1"),
        "for-all-1-2": hardmax("for-all", problem(pair, step="1/(t+2)", **any_step), weights=pair_weights, bound="1"),
        "for-all-constant": hardmax("for-all", problem(pair, step="2/3", **any_step), weights=pair_weights, bound="1"),
        "for-all-lowest": hardmax("for-all", problem(tied, ties="lowest-index"), weights=["1/3", "2/3"], bound="1"),
    }


def affine(
    phases: list[Any], z: list[str], claim: dict[str, Any], hypotheses: list[dict[str, Any]] | None = None
) -> dict[str, Any]:
    return {
        "schema": "verifier/problem/1",
        "system": "piecewise-affine",
        "parameters": {"map": phases, "hypotheses": hypotheses or []},
        "state": {"z": z},
        "claim": claim,
    }


def guard(a: list[str], b: str, relation: str) -> dict[str, Any]:
    return {"a": a, "b": b, "relation": relation}


def piece(M: list[list[str]], c: list[str], *guards: dict[str, Any]) -> dict[str, Any]:
    return {"guards": list(guards), "M": M, "c": c}


def certificate(kind: str, problem: dict[str, Any], **rest: Any) -> dict[str, Any]:
    return {"schema": SCHEMA, "kind": kind, "problem": problem, **rest}


def maps() -> dict[str, dict[str, Any]]:
    """Seeds on piecewise affine maps that the page does not show."""
    tent = [
        [
            piece([["2"]], ["0"], guard(["1"], "0", ">="), guard(["-1"], "1/2", ">")),
            piece([["-2"]], ["2"], guard(["1"], "-1/2", ">=")),
        ]
    ]
    both = [
        {"kind": "psd", "name": "a form", "matrix": [["2", "-1"], ["-1", "1/2"]], "strict": False},
        {"kind": "inequality", "name": "a bound", "left": "1/3", "relation": "<", "right": "1/2"},
    ]
    flip = [[piece([["-1/2"]], ["-3"], guard(["1"], "0", ">")), piece([["-1/2"]], ["3"], guard(["-1"], "0", ">="))]]
    turn = [[piece([["3/5", "-4/5"], ["4/5", "3/5"]], ["0", "0"])]]
    return {
        "stays-below-tent": certificate(
            "violation",
            affine(tent, ["1/5"], {"name": "stays-below", "h": ["1"], "g": "3/5"}, both),
            t=2,
            lhs="4/5",
            rhs="3/5",
        ),
        "points-tent": certificate(
            "invariant",
            affine(tent, ["1/5"], {"name": "converges"}, both),
            start=1,
            cycle=[0, 1],
            shape={"type": "points", "points": [["2/5"], ["4/5"]]},
            excluded={"phase": 0, "other_phase": 1},
        ),
        "ray-converges": certificate(
            "invariant",
            affine(flip, ["13/2"], {"name": "converges"}),
            start=0,
            cycle=[0, 1],
            shape={"type": "ray", "c": ["6"], "u": ["1"], "lambda": "1/4", "epsilon": "1/2"},
            excluded={"phase": 0, "other_phase": 1},
        ),
        "ellipsoid-converges": certificate(
            "invariant",
            affine(flip, ["4"], {"name": "converges"}),
            start=1,
            cycle=[1, 0],
            shape={"type": "ellipsoid", "P": [["1"]], "R": "7/2", "centres": [["-6"], ["6"]]},
            excluded={"phase": 1, "h": ["1"], "g": "2", "other_phase": 0, "other_g": "1"},
        ),
        "box-converges": certificate(
            "invariant",
            affine(flip, ["4"], {"name": "converges"}),
            start=1,
            cycle=[1, 0],
            shape={"type": "box", "low": [["-7"], ["5"]], "high": [["-5"], ["7"]]},
            excluded={"phase": 1, "h": ["1"], "g": "5", "other_phase": 0, "other_g": "-5"},
        ),
        "difference": certificate(
            "spectral",
            affine([[piece([["1", "1"], ["0", "2"]], ["0", "1"])]], ["0", "0"], {"name": "converges"}),
            of="difference",
            polynomial=["2", "-3", "1"],
            squarings=0,
            j=1,
            relation=">",
        ),
        "rotation": certificate(
            "spectral",
            affine(turn, ["1", "2"], {"name": "converges-to", "point": ["0", "0"]}),
            of="start",
            polynomial=["5", "-6", "5"],
            squarings=2,
            j=2,
            relation=">=",
        ),
    }


def expressions(
    kind: str,
    variables: dict[str, Any],
    assignment: dict[str, Any],
    hypotheses: list[str],
    conclusion: str,
    **rest: Any,
) -> dict[str, Any]:
    parameters = {"variables": variables, "hypotheses": hypotheses, "conclusion": conclusion}
    problem = {"schema": "verifier/problem/1", "system": "expressions", "parameters": parameters}
    return certificate(kind, {**problem, "state": {"assignment": assignment}, "claim": "conclusion"}, **rest)


def formulas() -> dict[str, dict[str, Any]]:
    """Expressions that use every production of the grammar."""
    return {
        "grammar": expressions(
            "witness",
            {"v": {"vector": 3}, "M": {"matrix": [2, 3]}, "r": "rational"},
            {"v": ["1", "-2/3", "4"], "M": [["1", "2", "3"], ["0", "-1", "1/2"]], "r": "7/2"},
            [
                "forall(i in 0..1, j in i..2: if(i < j, M[i,j], 1) + v[j]^2 != 5/7)",
                "psd(i, j in 0..2: sum(k in 0..1: M[k,i] * M[k,j]))",
                "max(abs(v[1]), -r, min(v[0], 1/2)) = 2/3",
            ],
            "sum(i in 0..2: v[i]) - r^3 / 2 <= -(r - 20)^2 / 15",
        ),
        "rearrangement": expressions(
            "witness",
            {"a": {"vector": 2}, "b": {"vector": 2}},
            {"a": ["2", "1"], "b": ["3", "5"]},
            ["forall(i in 0..1: 0 < a[i])", "a[0] + a[1] < b[0] + b[1]"],
            "(a[0] + a[1]) * (b[0] + b[1]) <= 2 * sum(i in 0..1: a[i] * b[i])",
        ),
        "logarithm": expressions(
            "ball",
            {"x": {"vector": 2}},
            {"x": ["1/2", "3"]},
            ["forall(i in 0..1: log(x[i]) < sqrt(x[i]))", "abs(log(x[0])) < 7/10"],
            "exp(sum(i in 0..1: log(x[i])) / 2) <= max(sqrt(3/2), exp(-x[1])) - exp(-12)",
            precision=100,
        ),
    }


def seeds() -> dict[str, dict[str, Any]]:
    """Every seed by name."""
    examples = page()
    return {**examples, **attention(), **maps(), **formulas()}
