"""Is the whole statement of a `violation` or `for-all` certificate of the hardmax system true? By plain stepping.

How far is far enough: once every token selects v, 2e_i(t) ≥ |v|²_B =: c0 for ever (docs/certificates.md, section 4: c1
and c2 are ≥ 0), so every component fails from the first N with (N + 1) c0 > 4ℓD² on, for any ℓ ≥ λ_max. Stepping to N
and a hundred steps more therefore sees every change from failing to not failing; that the freeze lasts is observed.
"""

from __future__ import annotations

import functools
import json
from fractions import Fraction
from itertools import pairwise
from typing import Any

from tests.oracles.certificate_form import fractions
from tests.oracles.certificate_formulas import semidefinite
from tests.oracles.hardmax import Brute, Matrix, dot, times

FARTHEST = 4000
EXTRA = 100


class FalseStatement(Exception):
    """The statement is false; the text says where."""


def need(condition: object, why: str) -> None:
    if not condition:
        raise FalseStatement(why)


class Place:
    """The tokens before step t, what may be selected there, and what follows."""

    def __init__(self, brute: Brute, t: int, x: Matrix) -> None:
        self.brute, self.t, self.x = brute, t, x
        self.after: dict[tuple[int, ...], Place] = {}

    @functools.cached_property
    def admitted(self) -> list[tuple[int, ...]]:
        choices = self.brute.choices(self.t, self.x)
        count = 1
        for choice in choices:
            count *= len(choice)
        need(count <= 64 or self.brute.ties != "any-selection", "more than 64 selections")
        return self.brute.admitted(self.t, self.x)

    @functools.cached_property
    def tied(self) -> bool:
        return any(len(choice) > 1 for choice in self.brute.choices(self.t, self.x))

    def step(self, targets: tuple[int, ...]) -> Place:
        if targets not in self.after:
            self.after[targets] = Place(self.brute, self.t + 1, self.brute.move(self.t, self.x, targets))
        return self.after[targets]

    @functools.cached_property
    def failed(self) -> set[int]:
        """The components that failed at the step that led here."""
        return self.brute.failing(self.t - 1, self.x)

    def energy(self, i: int) -> Fraction:
        """e_i at the step that led here."""
        return dot(times(self.brute.matrix(self.t - 1), self.x[i]), self.x[i]) / 2


@functools.lru_cache(maxsize=64)
def root(problem: str) -> Place:
    brute = Brute(json.loads(problem))
    return Place(brute, brute.t0, brute.start)


def plus_identity(r: Fraction, B: Matrix) -> Matrix:
    """rI − B."""
    return [[(r if i == j else Fraction(0)) - b for j, b in enumerate(row)] for i, row in enumerate(B)]


def hypotheses(document: dict[str, Any], brute: Brute) -> Fraction:
    """H1 to H4 and ℓ ≥ λ_max; returns ℓ."""
    problem = document["problem"]
    step = problem["parameters"]["step"]
    if problem["claim"] == "energy-bound":
        need(step == "2/(t+2)", "H4")
    elif "t" not in step:
        need(0 < Fraction(step) <= 1, "H4")
    weights = fractions(document["weights"])
    need(min(weights) >= 0 and sum(weights) == 1, "H3: weights")
    for column in zip(*brute.start, strict=True):
        need(dot(weights, list(column)) == 0, "H3: origin")
    for B, C in zip(brute.matrices, brute.matrices[1:] + brute.matrices[-1:], strict=True):
        need(semidefinite(B), "H1")
        need(semidefinite([[b - c for b, c in zip(p, q, strict=True)] for p, q in zip(B, C, strict=True)]), "H2")
    bound = Fraction(document["lambda_bound"])
    need(semidefinite(plus_identity(bound, brute.matrices[0])), "lambda_bound")
    return bound


def paths(document: dict[str, Any], start: Place) -> list[list[Place]]:
    """For each branch the places before its first step, after it, …; false unless every selection is covered."""
    listed = []
    for branch in document["branches"]:
        runs = branch["selections"]
        listed.append([tuple(run["targets"]) for run in runs for _ in range(run["steps"])])
    need(all(a < b for a, b in pairwise(listed)), "order of branches")
    ways: list[list[Place]] = [[start] for _ in listed]
    groups = [list(range(len(listed)))]
    while groups:
        group = groups.pop()
        place = ways[group[0]][-1]
        depth = len(ways[group[0]]) - 1
        if any(len(listed[b]) == depth for b in group):
            need(len(group) == 1, "a branch is a prefix of another")
            continue
        parts: dict[tuple[int, ...], list[int]] = {}
        for b in group:
            parts.setdefault(listed[b][depth], []).append(b)
        need(set(parts) == set(place.admitted), f"selections at step {place.t}")
        for targets, part in parts.items():
            for b in part:
                ways[b].append(place.step(targets))
            groups.append(part)
    return ways


def sides(claimed: dict[str, Any], places: list[Place], bound: Fraction, first: int) -> None:
    """t, component, lhs and rhs of the first violation; `places` start at t0."""
    brute = places[0].brute
    need(claimed["t"] == first, "first violation")
    place = places[first - brute.t0 + 1]
    i = min(place.failed)
    need(claimed["component"] == i, "component")
    lhs, rhs = place.energy(i), 2 * bound * brute.D2 / (first + 1)
    need(Fraction(claimed["lhs"]) == lhs and Fraction(claimed["rhs"]) == rhs and lhs > rhs, "sides")


def whole(document: dict[str, Any]) -> None:
    """Raises FalseStatement unless everything the certificate says is true."""
    problem = document["problem"]
    start = root(json.dumps({name: problem[name] for name in ("parameters", "state", "ties")}))
    brute = start.brute
    bound = hypotheses(document, brute)
    ways = paths(document, start)
    for branch, way in zip(document["branches"], ways, strict=True):
        if document["kind"] == "violation":
            need(len(way) - 1 == branch["t"] - brute.t0 + 1, "number of steps")
            need(not any(place.failed for place in way[1:-1]), "an earlier violation")
            need(way[-1].failed, "no violation")
            sides(branch, way, bound, branch["t"])
        else:
            need(way[-1].t >= brute.t0 + len(brute.matrices) - 1, "matrices still change")
            (frozen if "freeze" in branch else separated)(branch, way, bound)
    if document["kind"] == "for-all":
        branches = document["branches"]
        need(document["fails_from"] == max(b["fails_from"] for b in branches), "fails_from")
        columns = zip(*(b["fails_from_by_component"] for b in branches), strict=True)
        need(document["fails_from_by_component"] == [max(column) for column in columns], "fails_from_by_component")


def frozen(branch: dict[str, Any], way: list[Place], bound: Fraction) -> None:
    brute, s, v = way[0].brute, branch["freeze"]["step"], branch["freeze"]["target"]
    need(s == way[-1].t, "freeze step")
    need("t" not in brute.step or brute.step == "1/(t+2)" or s >= brute.t0 + 1, "freeze step")
    every = (v,) * len(brute.start)
    need(way[-1].admitted == [every], "freeze target")
    need(not (brute.ties == "any-selection" and way[-1].tied), "tie at the freeze")
    c0 = dot(times(brute.matrix(s), way[-1].x[v]), way[-1].x[v])
    need(c0 > 0, "target in the kernel")
    last = max(s, 4 * bound * brute.D2 // c0) + EXTRA
    assert last <= FARTHEST, "too far for stepping"
    places = [*way]
    while places[-1].t <= last:
        assert places[-1].admitted == [every], "a freeze that thaws"
        places.append(places[-1].step(every))
    failed = [place.failed for place in places[1:]]  # at t0, t0 + 1, …
    assert all(len(entry) == len(every) for entry in failed[-EXTRA:])
    since = [brute.t0 + 1 + max((k for k, f in enumerate(failed) if i not in f), default=-1) for i in range(len(every))]
    need(branch["fails_from_by_component"] == since, "fails_from_by_component")
    some = brute.t0 + 1 + max((k for k, f in enumerate(failed) if not f), default=-1)
    need(branch["fails_from"] == some, "fails_from")
    sides(branch["first"], places, bound, brute.t0 + next(k for k, f in enumerate(failed) if f))


def separated(branch: dict[str, Any], way: list[Place], bound: Fraction) -> None:
    brute, place = way[0].brute, way[-1]
    u, delta = fractions(branch["separation"]["u"]), Fraction(branch["separation"]["delta"])
    need(branch["separation"]["step"] == place.t and delta > 0, "separation step, delta")
    Bu = times(brute.matrices[-1], u)
    need(all(dot(Bu, x) >= delta for x in place.x), "separation")
    limit = 4 * bound * brute.D2 * dot(Bu, u) / delta**2
    T = max(place.t, int(limit // 1))  # the smallest t ≥ s with t + 1 > limit
    need(branch["fails_from"] == T, "fails_from")
    need(branch["fails_from_by_component"] == [T] * len(brute.start), "fails_from_by_component")
    assert T + EXTRA <= FARTHEST, "too far for stepping"
    while place.t <= T + EXTRA:
        place = place.step(place.admitted[-1])
        assert place.t <= T or len(place.failed) == len(brute.start), "separated, and yet it holds"
