"""Two tokens (p, −q), 1 ≤ p, q ≤ 40, in both orders: closed forms, the finder and brute force tell the same.

With P ≥ Q the larger and the smaller of p and q, W = P + Q: after two steps, up to the sign, the token that began
larger is at (2P − Q)/3 and the other at (P − 2Q)/3, and

* P > 2Q: both move to v = (P − 2Q)/3, the first along v + 2W/((t+1)(t+2)), the other stays there and breaks the bound
  iff t + 1 > 36W²/(P − 2Q)²;
* Q < P < 2Q: both are at (P − Q)/2 from t = 3 on and break it iff t + 1 > 16W²/(P − Q)²;
* P = 2Q: the other token is at 0 with all its scores tied: staying there it never breaks the bound, else it merges as
  above;
* P = Q: both are at 0 from t = 3 on.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import gcd
from typing import Any

import pytest

from tests.oracles.configurations import problem
from verifier.exact import parse_problem, refute
from verifier.model.answers import ExactAnswer

MOST = 40
RULES = ("any-selection", "lowest-index", "highest-index")
ORDERS = ("larger first", "smaller first")


@dataclass(frozen=True, slots=True)
class Told:
    """The first failing step with its lowest component, and from where each component fails; None: never."""

    first: tuple[int, int] | None
    by_component: tuple[int | None, int | None]


HOLDS = Told(None, (None, None))


def start(p: int, q: int, order: str) -> tuple[int, int]:
    return (p, -q) if (order == "larger first") == (p >= q) else (-q, p)


def smallest_above(bound: Fraction) -> int:
    """The smallest t with t + 1 > bound."""
    return bound.numerator // bound.denominator


def closed_form(a: int, b: int, rule: str) -> Told:
    """What the closed forms say of the tokens (a, b) of opposite signs under an index rule."""
    P, Q, W = max(abs(a), abs(b)), min(abs(a), abs(b)), abs(a) + abs(b)
    larger = 0 if abs(a) >= abs(b) else 1
    if P == Q:
        return HOLDS
    if P > 2 * Q:
        v = Fraction(P - 2 * Q, 3)
        other = smallest_above(4 * W**2 / v**2)
        t = other  # (t+1)J is convex in t and safe at t = 2: the failures of the first token are one final interval
        low, high = 1, other
        while high - low > 1:
            t = (low + high) // 2
            low, high = (low, t) if (t + 1) * (v + Fraction(2 * W, (t + 1) * (t + 2))) ** 2 > 4 * W**2 else (t, high)
        parts = (high, other) if larger == 0 else (other, high)
        return Told((min(parts), parts.index(min(parts))), parts)
    if P == 2 * Q and (larger == 0) == (rule == "highest-index"):
        return HOLDS
    both = smallest_above(Fraction(16 * W**2, (P - Q) ** 2))
    return Told((both, 0), (both, both))


def brute_force(a: int, b: int, rule: str, last: int) -> tuple[Told, bool]:
    """Every step to `last`, in integers over one reduced denominator: what is seen, and whether a tie occurred."""
    x, y, over = a, b, 1
    level = 4 * (a - b) ** 2  # J = x²/2 breaks the bound iff (t+1) x² > 4 D²
    first: tuple[int, int] | None = None
    fails_since: list[int | None] = [None, None]
    tied = False
    for t in range(last + 1):
        xx, xy, yy = x * x, x * y, y * y
        if x != y:
            tied = tied or xy in (xx, yy)
        if rule == "highest-index":
            to_x, to_y = (y if xy <= xx else x), (y if yy <= xy else x)
        else:
            to_x, to_y = (y if xy < xx else x), (y if yy < xy else x)
        x, y, over = t * x + 2 * to_x, t * y + 2 * to_y, over * (t + 2)
        content = gcd(x, y, over)
        if content > 1:
            x, y, over = x // content, y // content, over // content
        limit = level * over * over
        if (t + 1) * x * x > limit:
            if fails_since[0] is None:
                fails_since[0] = t
        else:
            fails_since[0] = None
        if (t + 1) * y * y > limit:
            if fails_since[1] is None:
                fails_since[1] = t
        else:
            fails_since[1] = None
        if first is None and fails_since != [None, None]:
            first = (t, 0 if fails_since[0] is not None else 1)
    return Told(first, (fails_since[0], fails_since[1])), tied


@pytest.mark.slow
@pytest.mark.parametrize("order", ORDERS)
def test_closed_forms_and_the_finder_tell_the_same(order: str) -> None:
    for p in range(1, MOST + 1):
        for q in range(1, MOST + 1):
            a, b = start(p, q, order)
            for rule in RULES:
                found = refute(parse_problem(problem([[a], [b]], ties=rule)))
                if rule == "any-selection" and max(p, q) == 2 * min(p, q):
                    ambiguous(found, a, b)
                    continue
                same(found, closed_form(a, b, rule))


def same(found: Any, told: Told) -> None:
    if told == HOLDS:
        assert found.answer is ExactAnswer.HOLDS_FOR_ALL
        return
    assert found.answer is ExactAnswer.VIOLATED_FOR_ALL
    assert (found.first_violation.t, found.first_violation.component) == told.first
    assert found.fails_from == told.first[0]
    assert found.fails_from_by_component == told.by_component
    assert found.certificate is not None


def ambiguous(found: Any, a: int, b: int) -> None:
    assert found.answer is ExactAnswer.AMBIGUOUS
    assert (found.ties.t, found.ties.token) == (2, 0 if abs(a) < abs(b) else 1)
    assert found.ties.classes == (0, 1)
    assert found.certificate is None
    for rule in RULES[1:]:
        told = closed_form(a, b, rule)
        answer = ExactAnswer.HOLDS_FOR_ALL if told == HOLDS else ExactAnswer.VIOLATED_FOR_ALL
        assert found.ties.answers[rule] == (answer, told.first and told.first[0])


@pytest.mark.slow
@pytest.mark.parametrize("order", ORDERS)
def test_closed_forms_and_brute_force_tell_the_same(order: str) -> None:
    """Each pair in full, to just beyond the last predicted step: about 15 million steps over both orders."""
    for p in range(1, MOST + 1):
        for q in range(1, MOST + 1):
            a, b = start(p, q, order)
            told = closed_form(a, b, "lowest-index")
            last = max((part for part in told.by_component if part is not None), default=300) + 3
            seen, tied = brute_force(a, b, "lowest-index", last)
            assert seen == told, (a, b)
            # without a tie every rule takes the same steps
            assert tied == (max(p, q) == 2 * min(p, q))
            if tied:
                assert brute_force(a, b, "highest-index", 300)[0] == closed_form(a, b, "highest-index")
