"""Systems of many kinds whose answer theory knows: each answer, each certificate, and plain stepping beside them."""

from __future__ import annotations

import importlib.util
import json
import sys
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.unit.test_exact_certificates import CHECKER, schemas, verdict
from tests.unit.test_exact_maps import dotted, step
from verifier.exact import parse_problem, refute

Document = dict[str, Any]
F = Fraction

HOLDS, FAILS, BROKEN, OPEN = "HOLDS_FOR_ALL", "VIOLATED_FOR_ALL", "VIOLATED", "VERIFIED_TO_HORIZON"
CONVERGES, BOUNDED, STATIONARY = {"name": "converges"}, {"name": "bounded"}, {"name": "limit-points-stationary"}
HALF = F(1, 2)
ROTATION = [[F(3, 5), F(-4, 5)], [F(4, 5), F(3, 5)]]
POWELL = [[0, -1, -1], [-1, 0, -1], [-1, -1, 0]]


def text(value: Any) -> Any:
    return [text(x) for x in value] if isinstance(value, list) else str(value)


def to(*point: F | int) -> Document:
    return {"name": "converges-to", "point": text(list(point))}


def below(h: list[F | int], g: F | int) -> Document:
    return {"name": "stays-below", "h": text(h), "g": str(g)}


def document(system: str, parameters: Document, z: list[Any], claim: Document) -> Document:
    head = {"schema": "verifier/problem/1", "system": system, "parameters": parameters}
    return {**head, "state": {"z": text(z)}, "claim": claim}


def linear(M: list[list[Any]], c: list[Any], z: list[Any], claim: Document) -> Document:
    return document("linear-iteration", {"M": text(M), "c": text(c)}, z, claim)


def game(A: list[list[Any]], eta: F | int, order: str, z: list[Any], claim: Document) -> Document:
    return document("gradient-descent-ascent", {"A": text(A), "eta": str(eta), "order": order}, z, claim)


def coordinates(A: list[list[Any]], z: list[Any]) -> Document:
    return document("coordinate-minimisation", {"A": text(A)}, z, STATIONARY)


def ball(slopes: list[int], z: list[Any], claim: Document, **changed: Any) -> Document:
    given: Document = {
        "breaks": ["1", "2"], "slopes": text(slopes), "value": str(slopes[0]), "alpha": "1/9", "beta": "4/9",
        "mu": "1", "L": "25", "tuning": "optimal-for-quadratics",
    }  # fmt: skip
    return document("heavy-ball", {**given, **changed}, z, claim)


def branch(guards: list[tuple[list[Any], Any, str]], M: list[list[Any]], c: list[Any]) -> Document:
    written = [{"a": text(a), "b": str(b), "relation": relation} for a, b, relation in guards]
    return {"guards": written, "M": text(M), "c": text(c)}


def piecewise(phases: list[list[Document]], z: list[Any], claim: Document) -> Document:
    return document("piecewise-affine", {"map": phases, "hypotheses": []}, z, claim)


def overrelaxed(w: F) -> list[list[F]]:
    """Successive over-relaxation on [[2, −1], [−1, 2]]: converges iff 0 < w < 2 (Kahan; Ostrowski)."""
    return [[1 - w, w / 2], [w / 2 * (1 - w), w * w / 4 + 1 - w]]


REFLECTIONS = [[F(-7, 25), F(-24, 25)], [F(24, 25), F(-7, 25)]]  # of two lines that meet with the cosine 3/5
DOUGLAS = [[(int(i == j) + x) / 2 for j, x in enumerate(row)] for i, row in enumerate(REFLECTIONS)]
TENT = [[branch([([-1], HALF, ">=")], [[2]], [0]), branch([([1], -HALF, ">")], [[-2]], [2])]]
KINK = [[branch([([1], -1, ">=")], [[HALF]], [HALF]), branch([([-1], 1, ">")], [[-HALF]], [F(3, 2)])]]
FOLD = [
    [
        branch([([1, 0], 0, ">=")], [[HALF, 0], [0, F(1, 3)]], [0, 0]),
        branch([([-1, 0], 0, ">")], [[-HALF, 0], [1, F(1, 3)]], [0, 0]),
    ]
]
SWITCH = [  # shears in turn, too strong for one quadratic norm that the finder knows: a long cycle of boxes
    [
        branch([([1, 0], 0, ">")], [[F(1, 10), F(9, 5)], [0, F(1, 10)]], [-3, 0]),
        branch([([-1, 0], 0, ">=")], [[F(1, 10), 0], [HALF, F(1, 10)]], [3, 0]),
    ]
]
AWAY = [[branch([([1], 0, ">=")], [[2]], [1]), branch([([-1], 0, ">")], [[2]], [-1])]]
ROUND = [  # a rotation while x > -2, else a jump back: the orbit on the unit circle never jumps
    [branch([([1, 0], 2, ">")], ROTATION, [0, 0]), branch([([-1, 0], -2, ">=")], [[0, 0], [0, 0]], [1, 0])]
]
PHASES = [[branch([], [[HALF, 1], [0, HALF]], [1, 0])], [branch([], [[HALF, 0], [F(1, 4), HALF]], [0, -1])]]

ZOO: list[tuple[str, str, str | None, Document]] = [
    # heavy ball: starts in the basin of 0, others in that of the 3-cycle, other slopes and tunings
    ("ball cycle", FAILS, "ellipsoid", ball([25, 1, 25], [1, 1], to(0, 0))),
    ("ball cycle has no limit", FAILS, "ellipsoid", ball([25, 1, 25], [10, -3], CONVERGES)),
    ("ball cycle is bounded", HOLDS, None, ball([25, 1, 25], [10, -3], BOUNDED)),
    ("ball stays below", HOLDS, None, ball([25, 1, 25], [F(33, 10)] * 2, below([1, 0], 20))),
    ("ball exceeds", BROKEN, "violation", ball([25, 1, 25], [F(33, 10)] * 2, below([-1, 0], 2))),
    ("ball converges", HOLDS, None, ball([25, 1, 25], [HALF, HALF], to(0, 0))),
    ("ball converges from afar", HOLDS, None, ball([25, 1, 25], [5, 5], CONVERGES)),
    ("ball on a quadratic", HOLDS, None, ball([25, 25, 25], [7, -2], to(0, 0))),
    ("ball with one soft side", HOLDS, None,
     ball([25, 1, 4], [7, -2], to(0, 0), alpha="1/20", beta="1/4", tuning="none")),
    ("descent on the same", HOLDS, None, ball([25, 1, 25], [3, 3], to(0, 0), alpha="1/25", beta="0", tuning="none")),
    ("ball with too long a step", OPEN, None,
     ball([25, 1, 25], [7, -2], to(0, 0), alpha="7/50", beta="2/3", tuning="none")),
    # cyclic minimisation by coordinates
    ("powell", FAILS, "ray", coordinates(POWELL, [F(-4, 3), F(7, 6), F(-13, 12)])),
    ("powell near the cube", FAILS, "ray", coordinates(POWELL, [F(-1001, 1000), F(2001, 2000), F(-4001, 4000)])),
    ("powell runs away", OPEN, None, coordinates(POWELL, [1, 2, 3])),
    ("weak coupling", HOLDS, None, coordinates([[0, -HALF, -HALF], [-HALF, 0, -HALF], [-HALF, -HALF, 0]], [-3, 2, 1])),
    ("repelling coupling", HOLDS, None, coordinates([[0, 1, 1], [1, 0, 1], [1, 1, 0]], [1, 2, 3])),
    ("weak coupling of four", HOLDS, None,
     coordinates([[0 if i == j else -HALF for j in range(4)] for i in range(4)], [1, -2, 3, -4])),
    # bilinear games: alternating is bounded below eta |A| = 2 and never converges; simultaneous grows
    ("alternating 1/2", FAILS, "level", game([[1]], HALF, "alternating", [1, 1], to(0, 0))),
    ("alternating 1/2 is bounded", HOLDS, None, game([[1]], HALF, "alternating", [1, 1], BOUNDED)),
    ("alternating 1/2 has no limit", FAILS, "spectral", game([[1]], HALF, "alternating", [1, 1], CONVERGES)),
    ("alternating 1", FAILS, "points", game([[1]], 1, "alternating", [1, 1], CONVERGES)),
    ("alternating 2 is a Jordan block", OPEN, None, game([[1]], 2, "alternating", [1, 2], BOUNDED)),
    ("alternating 3", FAILS, "spectral", game([[1]], 3, "alternating", [1, 1], BOUNDED)),
    ("simultaneous", FAILS, "spectral", game([[1]], F(1, 10), "simultaneous", [1, 1], BOUNDED)),
    ("rectangular alternating", FAILS, "level",
     game([[1, 2], [0, 1], [1, 0]], F(1, 3), "alternating", [1, -1, 2, 1, 3], to(0, 0, 0, 0, 0))),
    ("rectangular alternating is bounded", HOLDS, None,
     game([[1, 2], [0, 1], [1, 0]], F(1, 3), "alternating", [1, -1, 2, 1, 3], BOUNDED)),
    ("rectangular alternating 1", FAILS, "spectral",
     game([[1, 2], [0, 1], [1, 0]], 1, "alternating", [1, -1, 2, 1, 3], BOUNDED)),
    ("rectangular simultaneous", FAILS, "spectral",
     game([[1, 2], [0, 1], [1, 0]], HALF, "simultaneous", [1, -1, 2, 1, 3], CONVERGES)),
    # rotations by a rational point of the circle: never periodic, never convergent
    ("rotation", FAILS, "level", linear(ROTATION, [0, 0], [1, 0], to(0, 0))),
    ("rotation about another point", FAILS, "level", linear(ROTATION, [1, 2], [1, 0], to(0, 0))),
    ("rotation has no limit", FAILS, "spectral", linear(ROTATION, [1, 2], [1, 0], CONVERGES)),
    ("rotation is bounded", HOLDS, None, linear(ROTATION, [1, 2], [1, 0], BOUNDED)),
    ("rotation stays below", HOLDS, None, linear(ROTATION, [0, 0], [1, 0], below([1, 0], 2))),
    ("rotation exceeds", BROKEN, "violation", linear(ROTATION, [0, 0], [1, 0], below([0, 1], F(9, 10)))),
    ("rotation in a region", HOLDS, None, piecewise(ROUND, [1, 0], BOUNDED)),
    ("rotation in a region stays below", HOLDS, None, piecewise(ROUND, [1, 0], below([1, 1], 2))),
    ("rotation and decay", FAILS, "level",
     linear([[F(3, 5), F(-4, 5), 0], [F(4, 5), F(3, 5), 0], [0, 0, HALF]], [0, 0, 0], [0, 1, 5], to(0, 0, 0))),
    ("rotation and decay has no limit", OPEN, None,
     linear([[F(3, 5), F(-4, 5), 0], [F(4, 5), F(3, 5), 0], [0, 0, HALF]], [0, 0, 0], [0, 1, 5], CONVERGES)),
    # modes of modulus 1
    ("Jordan block", OPEN, None, linear([[1, 1], [0, 1]], [0, 0], [1, 1], BOUNDED)),
    ("Jordan block has no limit", FAILS, "spectral", linear([[1, 1], [0, 1]], [0, 0], [1, 1], CONVERGES)),
    ("Jordan block, chain not excited", HOLDS, None, linear([[1, 1], [0, 1]], [0, 0], [1, 0], BOUNDED)),
    ("Jordan block of -1", OPEN, None, linear([[-1, 1], [0, -1]], [0, 0], [1, 1], BOUNDED)),
    ("stable Jordan block", HOLDS, None, linear([[HALF, 1], [0, HALF]], [0, 0], [1, 1], to(0, 0))),
    ("alternation beside decay", FAILS, "ray", linear([[-1, 3], [0, HALF]], [1, 2], [1, 1], CONVERGES)),
    ("alternation beside two decays", FAILS, "ellipsoid",
     linear([[-1, 3, 1], [0, HALF, 0], [0, 0, F(1, 3)]], [1, 2, 1], [1, 1, 1], CONVERGES)),
    ("drift beside decay", OPEN, None, linear([[1, 0], [0, HALF]], [1, 0], [1, 1], BOUNDED)),
    ("drift passes a bound", BROKEN, "violation", linear([[1, 0], [0, HALF]], [1, 0], [1, 1], below([1, 0], 100))),
    ("one direction kept", HOLDS, None, linear([[1, 0], [0, HALF]], [0, 1], [1, 1], to(1, 2))),
    ("one direction kept, another point", FAILS, "ray", linear([[1, 0], [0, HALF]], [0, 1], [1, 1], to(0, 0))),
    ("two decays to another point", FAILS, "ellipsoid",
     linear([[1, 0, 0], [0, HALF, 1], [0, 0, F(1, 3)]], [0, 1, 1], [1, 1, 1], to(0, 0, 0))),
    ("growth not excited", HOLDS, None, linear([[2, 0], [0, HALF]], [0, 1], [0, 1], to(0, 2))),
    # splitting methods and relaxation as linear iterations
    ("Gauss-Seidel", HOLDS, None, linear(overrelaxed(F(1)), [0, 0], [1, 3], to(0, 0))),
    ("Gauss-Seidel with a right side", HOLDS, None, linear(overrelaxed(F(1)), [HALF, F(3, 4)], [0, 0], to(1, 1))),
    ("relaxed 19/10", HOLDS, None, linear(overrelaxed(F(19, 10)), [0, 0], [1, 3], CONVERGES)),
    ("relaxed 2", FAILS, "points", linear(overrelaxed(F(2)), [0, 0], [1, 3], to(0, 0))),
    ("relaxed 21/10", FAILS, "spectral", linear(overrelaxed(F(21, 10)), [0, 0], [1, 3], BOUNDED)),
    ("Douglas-Rachford", HOLDS, None, linear(DOUGLAS, [0, 0], [3, 1], to(0, 0))),
    ("Douglas-Rachford elsewhere", FAILS, "ellipsoid", linear(DOUGLAS, [0, 0], [3, 1], to(1, 0))),
    ("Peaceman-Rachford", FAILS, "level", linear(REFLECTIONS, [0, 0], [3, 1], to(0, 0))),
    ("Douglas-Rachford on parallel lines", OPEN, None, linear([[1, 0], [0, 1]], [0, 1], [3, 1], BOUNDED)),
    # branches, kinks, phases
    ("tent 1/3", FAILS, "points", piecewise(TENT, [F(1, 97)], CONVERGES)),
    ("tent falls on its kink", HOLDS, None, piecewise(TENT, [F(3, 8)], to(0))),
    ("tent below 1", HOLDS, None, piecewise(TENT, [F(1, 7)], below([1], F(9, 10)))),
    ("tent above 9/10", BROKEN, "violation", piecewise(TENT, [F(1, 97)], below([1], F(9, 10)))),
    ("limit on a kink, from above", HOLDS, None, piecewise(KINK, [4], to(1))),
    ("limit on a kink, from below", HOLDS, None, piecewise(KINK, [-4], to(1))),
    ("start on a kink", HOLDS, None, piecewise(KINK, [1], to(1))),
    ("limit on a kink is not 0", FAILS, "ray", piecewise(KINK, [4], to(0))),
    ("fold", HOLDS, None, piecewise(FOLD, [-4, 2], to(0, 0))),
    ("fold elsewhere", FAILS, "box", piecewise(FOLD, [-4, 2], to(1, 1))),
    ("switch", FAILS, "box", piecewise(SWITCH, [3, F(1, 10)], CONVERGES)),
    ("switch is bounded", HOLDS, None, piecewise(SWITCH, [3, F(1, 10)], BOUNDED)),
    ("running away", OPEN, None, piecewise(AWAY, [1], BOUNDED)),
    ("running past a bound", BROKEN, "violation", piecewise(AWAY, [1], below([1], 10))),
    ("two phases", FAILS, None, piecewise(PHASES, [1, 1], CONVERGES)),
    ("two phases are bounded", HOLDS, None, piecewise(PHASES, [1, 1], BOUNDED)),
]  # fmt: skip


def orbit(given: Document, steps: int) -> list[list[F]]:
    long = parse_problem(given).document
    z = [F(x) for x in long["state"]["z"]]
    states = [z]
    for t in range(steps):
        _, z = step(long, t, z)
        states.append(z)
    return states


def distance(x: list[F], y: list[F]) -> F:
    return max(abs(a - b) for a, b in zip(x, y, strict=True))


def contradicted(given: Document, answer: str) -> bool:
    """Whether 240 plain steps speak against the answer; certain for stays-below, a comparison of sizes otherwise."""
    claim, states = given["claim"], orbit(given, 240)
    late = states[-64:]
    match claim["name"]:
        case "stays-below":
            return any(dotted(claim["h"], z) > F(claim["g"]) for z in states) != (answer == BROKEN)
        case "converges-to":
            far = max(distance(z, [F(x) for x in claim["point"]]) for z in late)
            return far > F(1, 1_000) if answer == HOLDS else far < F(1, 1_000)
        case "converges":
            moved = max(distance(x, y) for x, y in pairwise(late))
            return moved > F(1, 1_000) if answer == HOLDS else moved < F(1, 1_000)
        case "bounded":
            large = [max(abs(x) for x in z) for z in states]
            grows = max(large[120:]) > F(11, 10) * max(large[:120])
            return grows != (answer == FAILS)
        case _:  # cyclic minimisation converges to where it stands still
            moved = distance(states[-1], states[-1 - len(states[0])])
            return answer == HOLDS and moved > F(1, 1_000)


@pytest.mark.parametrize(("answer", "shape", "given"), [row[1:] for row in ZOO], ids=[row[0] for row in ZOO])
def test_the_answer_is_right(answer: str, shape: str | None, given: Document) -> None:
    found = refute(parse_problem(given), horizon=500)
    assert found.answer == answer
    assert (found.certificate is not None) == (answer in (FAILS, BROKEN))
    if shape is not None:
        assert found.certificate is not None
        assert found.certificate.get("shape", {}).get("type", found.certificate["kind"]) == shape
    if answer == OPEN:
        assert found.horizon is not None
        assert found.horizon.stopped_by in ("horizon", "size of the numbers")
    else:
        assert not contradicted(given, answer)


@pytest.fixture(scope="module")
def check_file() -> Any:
    """The checker, loaded from its file as any other program would."""
    spec = importlib.util.spec_from_file_location("standing_alone", CHECKER)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module.check_file
    del sys.modules[spec.name]


@pytest.mark.slow
def test_every_certificate_is_accepted(check_file: Any, tmp_path: Path) -> None:
    schema, shapes = schemas(), set()
    for name, answer, _, given in ZOO:
        if answer not in (FAILS, BROKEN):
            continue
        certificate = refute(parse_problem(given), horizon=500).certificate
        assert certificate is not None
        schema.validate(certificate)
        path = tmp_path / "certificate.json"
        path.write_text(json.dumps(certificate))
        assert check_file(str(path)).word == "ACCEPTED", name
        shape = certificate.get("shape", {}).get("type", certificate["kind"])
        if shape not in shapes:  # each kind once more as the documents say
            assert verdict(certificate, tmp_path).startswith("ACCEPTED")
        shapes.add(shape)
    assert shapes == {"points", "ray", "ellipsoid", "box", "level", "spectral", "violation"}
