"""The same algorithm in plain Python, written for reading: sets and definitions, with every invariant asserted.

It shares no code with the compiled simulation but the random stream, which it draws in the same order, and takes
U, the gate and OPT from their definitions: U by counting singleton layers, the gate in floating point as printed,
OPT by Belady's rule on the finished sequence of requests.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import accumulate

from verifier.sweeps.streams import Stream

BIG = 1 << 62


@dataclass
class Run:
    """What happened: faults per phase, the page evicted at each request (−1 at a hit), requests, and gate passes."""

    costs: list[int] = field(default_factory=list)
    evictions: list[list[int]] = field(default_factory=list)
    requests: list[int] = field(default_factory=list)
    passes: int = 0


class Layers:
    """The layers of the work function (Koutsoupias and Papadimitriou 2000): `of[p]` in 0 … k, 0 outside the support."""

    def __init__(self, k: int) -> None:
        self.k = k
        self.of = {page: page + 1 for page in range(k)} | {k: 0}

    def request(self, page: int) -> set[int]:
        """Updates the layers; returns the pages that left the support."""
        i = self.of[page]
        moved = [q for q in self.of if q != page and (self.of[q] == self.k if i == 0 else self.of[q] >= i)]
        for q in moved:
            self.of[q] -= 1
        self.of[page] = self.k
        return {q for q in moved if self.of[q] == 0}

    def up_to(self, j: int) -> set[int]:
        """L_1 ∪ … ∪ L_j."""
        return {page for page, layer in self.of.items() if 1 <= layer <= j}

    def unrevealed(self) -> int:
        """U = k − |R|, R the longest run of singleton layers from the top."""
        sizes = [0] * (self.k + 1)
        for layer in self.of.values():
            sizes[layer] += 1
        revealed = 0
        while revealed < self.k and sizes[self.k - revealed] == 1:
            revealed += 1
        return self.k - revealed


class Paging:
    """One variant of RPB-OM and its state, served request by request; `checked` asserts the invariants."""

    def __init__(self, k: int, *, tau: int, reading: str, variant: str, checked: bool = True) -> None:
        self.k, self.tau, self.reading, self.variant, self.checked = k, tau, reading, variant, checked
        self.layers = Layers(k)
        self.cache = set(range(k))
        self.priority: dict[int, int] = {}
        self.predicted: dict[int, int] = {}
        self.budget, self.last_u, self.u = 0, 0, 0
        self.optimum, self.passes = 0, 0

    def serve(self, page: int, prediction: int) -> int:
        """Serves a request, checks the state it leaves, and returns the page evicted, −1 at a hit."""
        i = self.layers.of[page]
        fault = page not in self.cache
        passed, evicted = False, -1
        if fault:
            allowed = self._allowed(i)
            passed = self._gate(i, page)
            follow = self._follow(i, passed=passed)
            if follow:
                evicted = max(sorted(allowed), key=lambda q: self.predicted[q])
            else:
                evicted = min(sorted(allowed), key=lambda q: self.priority[q])
            assert evicted in allowed
            assert evicted in self.cache
            assert evicted != page
            self.cache = (self.cache - {evicted}) | {page}
        left = self.layers.request(page)
        for q in left:
            del self.priority[q]
        self.optimum += i == 0
        self.passes += passed
        u_before, self.u = self.u, self.layers.unrevealed()
        self.predicted[page] = prediction
        if self._refreshes(i, fault=fault, passed=passed):
            self.last_u = self.u
        if self.checked:
            self._check_u(i, u_before)
            self._check_cache()
        return evicted

    def _allowed(self, i: int) -> set[int]:
        """V: the pages whose eviction leaves a valid cache."""
        if i == 0:
            return set(self.cache)
        inside = self._counts()
        z = next(j for j in range(i, self.k + 1) if inside[j] == j)
        return self.cache & self.layers.up_to(z)

    def _counts(self) -> list[int]:
        """|C ∩ (L_1..L_j)| for j = 0 … k."""
        sizes = [0] * (self.k + 1)
        for page in self.cache:
            sizes[self.layers.of[page]] += 1
        return list(accumulate([0, *sizes[1:]]))

    def _gate(self, i: int, page: int) -> bool:
        if i == 0 or self.variant in ("no_gate", "online_min"):
            return False
        tested = self.u
        if self.reading == "post":
            later = Layers(self.k)
            later.of = dict(self.layers.of)
            later.request(page)
            tested = later.unrevealed()
        return tested <= (self.last_u + 2) / math.e - 2

    def _follow(self, i: int, *, passed: bool) -> bool:
        """Whether a prediction is followed, and the budget's account."""
        if self.variant == "online_min":
            return False
        if i == 0:
            self.budget = self.tau
            return True
        self.budget += passed
        if self.budget < 1:
            return False
        self.budget -= 1
        return True

    def _refreshes(self, i: int, *, fault: bool, passed: bool) -> bool:
        if self.variant == "refresh_every_request":
            return True
        if self.variant == "refresh_only_on_pass":
            return fault and (i == 0 or passed)
        return fault

    def _check_u(self, i: int, before: int) -> None:
        """U, counted from the layers, changes by the rule that the compiled simulation uses."""
        assert self.u == (self.k - 1 if i == 0 else before - 1 if i <= before else before)

    def _check_cache(self) -> None:
        """The cache is valid: k pages of the support, at most j of them in the lowest j layers."""
        support = self.layers.up_to(self.k)
        assert len(self.cache) == self.k
        assert self.cache <= support
        assert set(self.priority) == support
        assert all(count <= j for j, count in enumerate(self._counts()))


def belady(k: int, requests: list[int]) -> list[int]:
    """OPT after each request: evict the page requested furthest in the future (Belady 1966), from the cache 0 … k−1.

    The choices need the future, but no page's next arrival beyond a prefix matters within it: the count is optimal
    for every prefix.
    """
    times: dict[int, list[int]] = {}
    for time, page in enumerate(requests):
        times.setdefault(page, []).append(time)

    def next_arrival(page: int, now: int) -> float:
        arrivals = times.get(page, [])
        place = bisect_right(arrivals, now)
        return arrivals[place] if place < len(arrivals) else math.inf

    cache, faults, counts = set(range(k)), 0, []
    for now, page in enumerate(requests):
        if page not in cache:
            faults += 1
            cache.remove(max(sorted(cache), key=lambda q: next_arrival(q, now)))
            cache.add(page)
        counts.append(faults)
    return counts


def reference_run(
    k: int,
    *,
    stream: int,
    phases: int,
    tau: int = 0,
    reading: str = "pre",
    variant: str = "rpb_om",
    checked: bool = True,
) -> Run:
    """Plays `phases` phases as `reimplementation.simulate` does and checks every step; slow, for k up to some hundred.

    Raises AssertionError where an invariant fails; `checked=False` leaves the checks out, to be timed.
    """
    draw = Stream(stream)
    paging = Paging(k, tau=tau, reading=reading, variant=variant, checked=checked)
    for page in range(k):
        paging.priority[page] = draw.next_word()
    order = [k, *range(k)]
    draw.shuffle(order, first=1)
    for position in range(1, k + 1):
        paging.predicted[order[position]] = _predict(position, draw, variant)
    run, optimum = Run(), []
    for phase in range(phases):
        upcoming = [order[k], *order[:k]]
        draw.shuffle(upcoming, first=1)
        # A page left out by the coming phase opens the one after it: its position k counts on.
        arrival = {page: (phase + 1) * k + position for position, page in enumerate(upcoming)}
        evictions = []
        for page in order[:k]:
            if paging.layers.of[page] == 0:
                paging.priority[page] = draw.next_word()
            evictions.append(paging.serve(page, _predict(arrival[page], draw, variant)))
            run.requests.append(page)
            optimum.append(paging.optimum)
        run.evictions.append(evictions)
        run.costs.append(sum(evicted >= 0 for evicted in evictions))
        order = upcoming
    if checked:
        assert optimum == belady(k, run.requests)
    run.passes = paging.passes
    return run


def _predict(arrival: int, draw: Stream, variant: str) -> int:
    if variant == "random_predictions":
        return draw.next_word() >> 2
    return arrival if variant == "perfect_predictions" else BIG - arrival
