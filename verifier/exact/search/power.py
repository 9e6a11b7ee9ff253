"""Whether a sampler could have found anything: the same one, turned on statements that are known to fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from verifier.exact.answer import Power, Refutation
from verifier.exact.known import Known, known_counterexamples
from verifier.exact.search.answers import violated
from verifier.exact.search.problem import HARDMAX, Document, SearchProblem, statement
from verifier.exact.search.samplers import documents

MOST_STARTS = 200

Decide = Callable[[Document], Refutation | None]
"""The answer for one concrete problem; None where there is none, as once the time is over."""


def measured(problem: SearchProblem, decide: Decide, *, own: tuple[int, int]) -> Iterator[Power]:
    """The power for each known counterexample of the system, each by counting.

    `own` are the starts of the search itself that broke its claim, and all its starts: where the searched statement
    is the known-false one, they are the measurement. Starts without an answer do not count.
    """
    for known in known_counterexamples(problem.system):
        if statement(_posed(problem, known)) == statement(problem.document):
            yield Power(known.name, own[0], own[1], by="search")
            continue
        caught = asked = 0
        for document in documents(_of(problem, known)):
            found = decide(document)
            asked += found is not None
            caught += found is not None and violated(found)
        if not asked:
            return
        yield Power(known.name, caught, asked, by="sampler")


def _posed(problem: SearchProblem, known: Known) -> Document:
    """The known-false statement, its start left open as in the search; for hardmax in any dimension."""
    document = {**known.document, "state": problem.document["state"]}
    if problem.system == HARDMAX:
        document["parameters"] = {**document["parameters"], "B": "identity"}
    return document


def _of(problem: SearchProblem, known: Known) -> SearchProblem:
    """The search for the known-false statement: same sampler, seed, bounds and shapes, at most 200 starts."""
    find = problem.find
    shapes = find.shapes
    if "z" in known.document["state"]:
        shapes = ((1, len(known.document["state"]["z"])),)
    changed = type(find)(
        numerator=find.numerator,
        denominator=find.denominator,
        sampler=find.sampler,
        seed=find.seed,
        starts=min(find.starts, MOST_STARTS),
        shapes=shapes,
    )
    return SearchProblem(_posed(problem, known), changed)


def power_note(power: Power) -> str:
    """What the count means, in a sentence."""
    which = "this very statement" if power.by == "search" else "another statement"
    if power.caught:
        return (
            f"measured on {which}, known to fail ({power.known}): this sampler catches {power.caught} of {power.of} "
            "starts"
        )
    return (
        f"this sampler has no power: of {power.of} such starts for {which}, known to fail ({power.known}) it catches "
        "none"
    )
