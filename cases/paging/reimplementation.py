# ruff: noqa: PLR0917  # numba has no keyword-only arguments
"""RPB-OM against its adversary, with the full state: layers, cache, priorities, predictions, B, Y and U.

There are k+1 pages, 0 … k. A phase is k requests: the page outside the support (OPT pays 1), then k−1 of the other
k in a fresh random order; the page left out leaves the support and opens the next phase. `serve` below is the
algorithm, one request at a time; the targets of case.toml are at the end; the exact values are in paging_exact.py and
the plain-Python reference that checks every invariant in paging_reference.py.

No phase has to be thrown away as a warm-up. At the end of a phase every request of it has raised a page to a layer of
its own, so the support is k singleton layers and the cache is the support, as at the start; i = 0 then sets B and Y
anew. Priorities are renewed only for pages that enter, but which pages stay never depends on them, so the k priorities
are i.i.d. and V never holds a page requested earlier in the phase. Hence phases cost the same in law, from the first
on, and with a fresh order per phase they are independent.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from paging_exact import (
    READINGS,
    check_choice,
    check_integer,
    exact_additive_term,
    exact_no_gate,
    exact_online_min,
    exact_perfect_predictions,
    exact_random_predictions,
    exact_refresh_only_on_pass,
    gate_thresholds,
    harmonic,
)

from verifier.sweeps.streams.compiled import compiled, new_state, next_word, shuffle

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "VARIANTS",
    "additive_term",
    "enumerate_additive_term",
    "exact_additive_term",
    "exact_no_gate",
    "exact_online_min",
    "exact_perfect_predictions",
    "exact_random_predictions",
    "exact_refresh_only_on_pass",
    "harmonic",
    "no_gate",
    "online_min",
    "perfect_predictions",
    "random_predictions",
    "refresh_every_request",
    "refresh_only_on_pass",
]

AT_FAULTS, AT_REQUESTS, AT_PASSES = 0, 1, 2  # when Y := U; AT_PASSES: at i = 0 and where the gate passes
ANTI_BELADY, PERFECT, RANDOM = 0, 1, 2  # what is predicted
BIG = 1 << 62  # above every arrival time


class Rules(NamedTuple):
    """What distinguishes the variants."""

    follows: bool = True  # spends its budget on predictions; OnlineMin does not
    gate: bool = True
    refresh: int = AT_FAULTS
    predictor: int = ANTI_BELADY


VARIANTS = {
    "rpb_om": Rules(),
    "online_min": Rules(follows=False),
    "no_gate": Rules(gate=False),
    "refresh_every_request": Rules(refresh=AT_REQUESTS),
    "refresh_only_on_pass": Rules(refresh=AT_PASSES),
    "perfect_predictions": Rules(predictor=PERFECT),
    "random_predictions": Rules(predictor=RANDOM),
}

# Compiled code takes arrays: `rules` and `memory` are int64 with these places.
TAU, POST, FOLLOWS, GATE, REFRESH, PREDICTOR = range(6)
BUDGET, LAST_U, U = range(3)  # B, Y, U


@compiled
def serve(
    page: int,
    prediction: int | np.int64,
    rules: NDArray[np.int64],
    thresholds: NDArray[np.int64],
    memory: NDArray[np.int64],
    layer: NDArray[np.int32],
    cached: NDArray[np.bool_],
    priority: NDArray[np.uint64],
    predicted: NDArray[np.int64],
) -> int:
    """One request of RPB-OM. Returns the page evicted, −1 at a hit; everything after `thresholds` is updated.

    The last four arrays have one element a page; `thresholds[Y]` is the largest U that passes the gate.
    """
    k = len(layer) - 1
    i = layer[page]
    before = memory[U]
    after = k - 1 if i == 0 else before - 1 if i <= before else before  # U, by how requests change it
    evicted = -1
    refresh = rules[REFRESH] == AT_REQUESTS
    if not cached[page]:
        refresh = refresh or rules[REFRESH] == AT_FAULTS or i == 0
        if i == 0:
            memory[BUDGET] = rules[TAU]
            follow = True
        else:
            tested = after if rules[POST] else before
            if rules[GATE] and tested <= thresholds[memory[LAST_U]]:
                memory[BUDGET] += 1
                refresh = True
            follow = memory[BUDGET] >= 1
            if follow:
                memory[BUDGET] -= 1
        evicted = choose_victim(i, follow and rules[FOLLOWS] == 1, layer, cached, priority, predicted)
        cached[evicted] = False
        cached[page] = True
    # Layers: from i on (i = 0: layer k alone) all others move down by one, the page goes to the top.
    lowest = np.int32(k) if i == 0 else i
    for other in range(len(layer)):
        layer[other] -= np.int32(layer[other] >= lowest)
    layer[page] = k
    memory[U] = after
    predicted[page] = prediction
    if refresh:
        memory[LAST_U] = after
    return evicted


@compiled
def choose_victim(
    i: int,
    follow: bool,  # noqa: FBT001  # numba has no keyword-only arguments
    layer: NDArray[np.int32],
    cached: NDArray[np.bool_],
    priority: NDArray[np.uint64],
    predicted: NDArray[np.int64],
) -> int:
    """The page of V with the largest prediction (`follow`) or the smallest priority, layers as before the update."""
    top = highest_layer(i, layer, cached)
    victim = -1
    for page in range(len(layer)):
        if cached[page] and layer[page] <= top:
            better = predicted[page] > predicted[victim] if follow else priority[page] < priority[victim]
            if victim < 0 or better:
                victim = page
    return victim


@compiled
def highest_layer(i: int, layer: NDArray[np.int32], cached: NDArray[np.bool_]) -> int:
    """The z with V = C ∩ (L_1..L_z): k at i = 0 (V = C), else the least j ≥ i for which |C ∩ (L_1..L_j)| = j."""
    k = len(layer) - 1
    if i == 0:
        return k
    count = np.zeros(k + 1, dtype=np.int64)
    for page in range(k + 1):
        if cached[page]:
            count[layer[page]] += 1
    inside = 0
    for j in range(1, k):
        inside += count[j]
        if j >= i and inside == j:
            return j
    return k  # |C| = k


@compiled
def play(
    k: int,
    costs: NDArray[np.int64],
    evictions: NDArray[np.int32],
    rules: NDArray[np.int64],
    thresholds: NDArray[np.int64],
    random: NDArray[np.uint64],
) -> None:
    """Plays len(costs) phases in random orders and fills `costs` (faults per phase).

    `evictions` gets the page evicted at each request, −1 at hits; its shape is (phases, k), or (0, k) to save memory.
    Draws, in this order: k priorities, an order, under RANDOM k predictions; then each phase an order for the phase
    after it and, request by request, the priority of an entering page and, under RANDOM, a prediction.
    """
    layer = np.arange(1, k + 2).astype(np.int32)  # k singleton layers …
    layer[k] = 0  # … and page k outside the support
    cached = layer > 0
    priority, predicted = np.zeros(k + 1, dtype=np.uint64), np.zeros(k + 1, dtype=np.int64)
    memory = np.zeros(3, dtype=np.int64)
    order, upcoming, arrival = np.arange(-1, k), np.empty(k + 1, dtype=np.int64), np.empty(k + 1, dtype=np.int64)
    for page in range(k):
        priority[page] = next_word(random)
    order[0] = k
    shuffle(random, order, 1)
    for position in range(1, k + 1):
        predicted[order[position]] = predict(position, rules, random)
    for phase in range(len(costs)):
        upcoming[0] = order[k]
        upcoming[1:] = order[:k]
        shuffle(random, upcoming, 1)
        for position in range(k + 1):  # the one left out arrives as the opener of the phase after: position k fits
            arrival[upcoming[position]] = (phase + 1) * k + position
        for position in range(k):
            page = order[position]
            if layer[page] == 0:
                priority[page] = next_word(random)
            prediction = predict(arrival[page], rules, random)
            evicted = serve(page, prediction, rules, thresholds, memory, layer, cached, priority, predicted)
            costs[phase] += evicted >= 0
            if len(evictions) > 0:
                evictions[phase, position] = evicted
        order[:] = upcoming


@compiled
def predict(arrival: int, rules: NDArray[np.int64], random: NDArray[np.uint64]) -> np.int64:
    """The predicted next arrival of a page that arrives at `arrival`."""
    if rules[PREDICTOR] == RANDOM:
        return np.int64(next_word(random) >> np.uint64(2))
    return np.int64(arrival) if rules[PREDICTOR] == PERFECT else np.int64(BIG - arrival)


@compiled
def total_over_priorities(k: int, rules: NDArray[np.int64], thresholds: NDArray[np.int64]) -> int:
    """The sum of a phase's cost over all k! orders of the priorities, requests in the order r_t = t mod (k+1).

    The entering page gets the least priority of all: if V ever held it, it would be evicted.
    """
    layer, cached = np.empty(k + 1, dtype=np.int32), np.empty(k + 1, dtype=np.bool_)
    priority, predicted = np.arange(1, k + 2).astype(np.uint64), np.empty(k + 1, dtype=np.int64)
    memory = np.zeros(3, dtype=np.int64)
    priority[k] = 0
    turns = np.zeros(k, dtype=np.int64)
    total, depth = 0, 0
    while True:
        for page in range(k + 1):
            layer[page] = (page + 1) % (k + 1)
            cached[page] = page < k
            predicted[page] = BIG - (page + 1)
        memory[:] = 0
        for time in range(k):
            page = (k + time) % (k + 1)
            prediction = BIG - (time + k + 1)
            total += serve(page, prediction, rules, thresholds, memory, layer, cached, priority, predicted) >= 0
        # Heap's algorithm (1963), without recursion: one swap leads to the next order.
        while depth < k and turns[depth] >= depth:
            turns[depth] = 0
            depth += 1
        if depth >= k:
            return total
        other = turns[depth] if depth % 2 else 0
        priority[depth], priority[other] = priority[other], priority[depth]
        turns[depth] += 1
        depth = 0


def compiled_rules(k: int, *, tau: int, reading: str, variant: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """`rules` and `thresholds` as the compiled functions take them. Raises BadInput for what is out of range."""
    check_integer("k", k, 1)
    check_integer("tau", tau, 0)
    check_choice("reading", reading, READINGS)
    check_choice("variant", variant, tuple(VARIANTS))
    return np.array([tau, reading == "post", *VARIANTS[variant]], dtype=np.int64), np.array(gate_thresholds(k))


def simulate(
    k: int, *, stream: int, phases: int, tau: int, reading: str, variant: str, record: bool = False
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Costs per phase, shape (phases,), and with `record` the page evicted at each request, shape (phases, k)."""
    rules, thresholds = compiled_rules(k, tau=tau, reading=reading, variant=variant)
    check_integer("phases", phases, 1)
    costs = np.zeros(phases, dtype=np.int64)
    evictions = np.empty((phases if record else 0, k), dtype=np.int32)
    play(k, costs, evictions, rules, thresholds, new_state(stream))
    return costs, evictions


def enumerate_additive_term(k: int, *, tau: int = 0, reading: str = "pre") -> Fraction:
    """c(k) as the mean over all k! priority orders of what the algorithm itself pays, minus H_k.

    Nothing of the recursion enters. Time grows like k!·k²: use k ≤ 10. Raises BadInput for k < 1 or tau < 0.
    """
    rules, thresholds = compiled_rules(k, tau=tau, reading=reading, variant="rpb_om")
    return Fraction(int(total_over_priorities(k, rules, thresholds)), math.factorial(k)) - harmonic(k)


def additive_term(
    k: int, *, stream: int, phases: int, tau: int = 0, reading: str = "pre", variant: str = "rpb_om"
) -> NDArray[np.int64]:
    """Cost of each phase, int64 of shape (phases,); H_k is not subtracted. Its mean estimates c(k) + H_k.

    `stream` is a 128-bit key. Raises BadInput for what is out of range.
    """
    return simulate(k, stream=stream, phases=phases, tau=tau, reading=reading, variant=variant)[0]


def online_min(k: int, *, stream: int, phases: int, tau: int = 0, reading: str = "pre") -> NDArray[np.int64]:
    """Costs per phase of OnlineMin, which uses no prediction: c(k) = 0."""
    return additive_term(k, stream=stream, phases=phases, tau=tau, reading=reading, variant="online_min")


def no_gate(k: int, *, stream: int, phases: int, tau: int = 0, reading: str = "pre") -> NDArray[np.int64]:
    """Costs per phase where the budget is never raised: c(k) = 1 − 1/k at tau = 0."""
    return additive_term(k, stream=stream, phases=phases, tau=tau, reading=reading, variant="no_gate")


def refresh_every_request(k: int, *, stream: int, phases: int, tau: int = 0, reading: str = "pre") -> NDArray[np.int64]:
    """Costs per phase where Y is refreshed at every request: the gate never passes."""
    return additive_term(k, stream=stream, phases=phases, tau=tau, reading=reading, variant="refresh_every_request")


def refresh_only_on_pass(k: int, *, stream: int, phases: int, tau: int = 0, reading: str = "pre") -> NDArray[np.int64]:
    """Costs per phase where Y is refreshed only at i = 0 and at passes: c(k) grows faster than RPB-OM's."""
    return additive_term(k, stream=stream, phases=phases, tau=tau, reading=reading, variant="refresh_only_on_pass")


def perfect_predictions(k: int, *, stream: int, phases: int, tau: int = 0, reading: str = "pre") -> NDArray[np.int64]:
    """Costs per phase of RPB-OM under perfect predictions: OPT's, 1 a phase."""
    return additive_term(k, stream=stream, phases=phases, tau=tau, reading=reading, variant="perfect_predictions")


def random_predictions(k: int, *, stream: int, phases: int, tau: int = 0, reading: str = "pre") -> NDArray[np.int64]:
    """Costs per phase of RPB-OM under random predictions: c(k) = 0, although the gate passes."""
    return additive_term(k, stream=stream, phases=phases, tau=tau, reading=reading, variant="random_predictions")
