"""Certificates of kinds `violation` and `for-all` for hardmax problems (docs/certificates.md, section 4)."""

from __future__ import annotations

from typing import Any

from verifier.exact.answer import Failure, Hypothesis
from verifier.exact.hardmax.branches import Branch
from verifier.exact.hardmax.orbit import Targets
from verifier.exact.hardmax.problem import HardmaxProblem, texts
from verifier.exact.hardmax.walk import Follower, Separation, Walk
from verifier.exact.reading import MOST_COUNTER

MOST_STEPS = 2_001
MOST_TAIL_TIMES = 2_000
MOST_UNITS = 2_000_000
MOST_BITS = 13_300
MOST_DIGITS = 4_000
TOO_MANY_DIGITS = 10**MOST_DIGITS


class TooLarge(Exception):
    """The certificate would pass a bound of the format; the text says which. Never leaves this package's callers."""


def _head(follower: Follower, kind: str, hypotheses: tuple[Hypothesis, ...]) -> dict[str, Any]:
    weights = next(h.witness["weights"] for h in hypotheses if "weights" in h.witness)
    return {
        "schema": "verifier/certificate/1",
        "kind": kind,
        "problem": follower.problem.document,
        "weights": weights,
        "lambda_bound": str(follower.bound.ell),
    }


def _runs(runs: list[tuple[int, Targets]]) -> list[dict[str, Any]]:
    return [{"steps": count, "targets": list(targets)} for count, targets in runs]


def _sides(failure: Failure) -> dict[str, Any]:
    sides = (failure.lhs, failure.rhs)
    _check_counter(failure.t)
    if any(x is None or max(abs(x.numerator), x.denominator) >= TOO_MANY_DIGITS for x in sides):
        raise TooLarge(f"a side has more than {MOST_DIGITS} digits")
    assert failure.lhs is not None
    if failure.lhs <= failure.rhs:
        raise TooLarge("no rational bound on the eigenvalue was found below the left side")
    return {"t": failure.t, "component": failure.component, "lhs": str(failure.lhs), "rhs": str(failure.rhs)}


def violation_certificate(
    follower: Follower, hypotheses: tuple[Hypothesis, ...], branches: tuple[Branch, ...]
) -> tuple[dict[str, Any] | None, str]:
    """The certificate that every branch fails, first at its own step; or None and why not."""
    try:
        entries: list[dict[str, Any]] = []
        steps = 0
        for branch in branches:
            assert branch.first is not None
            length = branch.first.t - follower.orbit.t0 + 1
            entry = {"selections": _runs(_prefix(branch.walk, length)), **_sides(branch.first)}
            if entry not in entries:
                entries.append(entry)
                steps += length
        bits = max(b.walk.first_bits or b.walk.state.bottom.bit_length() for b in branches)
        _check_size(follower, bits, steps=steps, tail_times=0)
    except TooLarge as error:
        return None, str(error)
    return {**_head(follower, "violation", hypotheses), "branches": entries}, ""


def _prefix(walk: Walk, length: int) -> list[tuple[int, Targets]]:
    """The first `length` steps; a frozen walk goes on with its target."""
    runs: list[tuple[int, Targets]] = []
    for count, targets in walk.runs:
        if length > 0:
            runs.append((min(count, length), targets))
            length -= count
    if length > 0:
        assert walk.tail is not None
        targets = (walk.tail.v,) * len(walk.state.points)
        if runs and runs[-1][1] == targets:
            runs[-1] = (runs[-1][0] + length, targets)
        else:
            runs.append((length, targets))
    return runs


def for_all_certificate(
    follower: Follower, hypotheses: tuple[Hypothesis, ...], branches: tuple[Branch, ...]
) -> tuple[dict[str, Any] | None, str, int, tuple[int, ...]]:
    """The certificate that every branch fails for good, or None and why not; then T and the T_i over all branches."""
    count = len(follower.problem.tokens)
    entries, steps, tail_times = [], 0, 0
    by_branch: list[tuple[int, tuple[int, ...]]] = []
    for branch in branches:
        settled, separation = branch.settled, branch.walk.separation
        if settled is not None:
            by_branch.append((settled.fails_from, settled.by_component))
        else:
            assert separation is not None
            by_branch.append((separation.since, (separation.since,) * count))
    fails_from = max(T for T, _ in by_branch)
    by_component = _largest(by_branch)
    proved: list[tuple[int, tuple[int, ...]]] = []
    try:
        for branch, exact in zip(branches, by_branch, strict=True):
            entry, length, times, (T, parts) = _entry(follower, branch, exact)
            entries.append({**entry, "fails_from": T, "fails_from_by_component": list(parts)})
            proved.append((T, parts))
            steps += length
            tail_times += times
        _check_counter(max(max(parts) for _, parts in proved))
        _check_size(
            follower, max(b.walk.state.bottom.bit_length() for b in branches), steps=steps, tail_times=tail_times
        )
    except TooLarge as error:
        return None, str(error), fails_from, by_component
    document = {
        **_head(follower, "for-all", hypotheses),
        "branches": entries,
        "fails_from": max(T for T, _ in proved),
        "fails_from_by_component": list(_largest(proved)),
    }
    return document, "", fails_from, by_component


def _largest(by_branch: list[tuple[int, tuple[int, ...]]]) -> tuple[int, ...]:
    return tuple(max(parts) for parts in zip(*(parts for _, parts in by_branch), strict=True))


def _entry(
    follower: Follower, branch: Branch, exact: tuple[int, tuple[int, ...]]
) -> tuple[dict[str, Any], int, int, tuple[int, tuple[int, ...]]]:
    """A branch's fields, its explicit steps, its tail times, and from where they prove the failure.

    A freeze whose steps the format cannot hold becomes a separation by the point it freezes on.
    """
    walk, settled = branch.walk, branch.settled
    if settled is not None and settled.tail_times <= MOST_TAIL_TIMES:
        try:
            return (*_frozen(branch), exact)
        except TooLarge:
            pass
    if walk.tail is not None and walk.separation is None:
        walk.separation = follower.separation_by_target(walk)
    assert walk.separation is not None
    since = walk.separation.since
    return (*_separated(follower, branch), (since, (since,) * len(exact[1])))


def _frozen(branch: Branch) -> tuple[dict[str, Any], int, int]:
    walk, settled = branch.walk, branch.settled
    assert walk.tail is not None
    assert settled is not None
    assert branch.first is not None
    entry = {
        "selections": _runs(walk.runs),
        "first": _sides(branch.first),
        "freeze": {"step": walk.tail.s, "target": walk.tail.v},
    }
    return entry, len(walk.masks), settled.tail_times


def _separated(follower: Follower, branch: Branch) -> tuple[dict[str, Any], int, int]:
    separation: Separation | None = branch.walk.separation
    assert separation is not None
    length = separation.step - follower.orbit.t0
    if max(len(str(x)) for x in (*separation.u, separation.delta)) > MOST_DIGITS:
        raise TooLarge(f"the separating vector has more than {MOST_DIGITS} digits")
    entry = {
        "selections": _runs(_prefix(branch.walk, length)),
        "separation": {"step": separation.step, "u": texts(separation.u), "delta": str(separation.delta)},
    }
    return entry, length, 0


def _check_counter(t: int) -> None:
    if t > MOST_COUNTER:
        raise TooLarge("it names a step beyond 10^15, the format's largest counter")


def _check_size(follower: Follower, largest: int, *, steps: int, tail_times: int) -> None:
    """Raises TooLarge where the certificate would pass a bound of the format, or half of its work units."""
    problem: HardmaxProblem = follower.problem
    n, d = len(problem.tokens), len(problem.tokens[0])
    if steps > MOST_STEPS:
        raise TooLarge(f"it would take {steps} explicit steps, the format allows {MOST_STEPS}")
    if tail_times > MOST_TAIL_TIMES:
        raise TooLarge(f"it would take {tail_times} single tail times, the format allows {MOST_TAIL_TIMES}")
    bits = largest + 40
    # the exact test at each step works on squares of the tokens
    if 2 * bits > MOST_BITS:
        raise TooLarge(f"its numbers have more than {MOST_BITS} bits")
    definite = d**3 * (1 + d * 2 * bits // 500)
    units = steps * (n * (n + d) * d * (1 + bits // 500) + definite) + tail_times * (d**3 + 10)
    if units > MOST_UNITS:
        raise TooLarge(f"it would take {units} work units, the finder stays below {MOST_UNITS}")
