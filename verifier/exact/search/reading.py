"""`state: {"find": …}` at the door: bounds, sampler, seed, number and shapes of the starts."""

from __future__ import annotations

from verifier.exact.reading import MOST_DIMENSION, Reader
from verifier.exact.search.problem import HARDMAX, Find, SearchProblem, Shape
from verifier.exact.systems import systems

CLOUDS = ("structured", "balanced", "origin-symmetric")
OTHERS = ("structured",)
"""Samplers of hardmax, and of every other system; the first is the default."""

MOST_BOUND = 1_000_000
MOST_STARTS = 100_000
DEFAULT_STARTS = 1_000
MOST_SHAPES = 64
MOST_TOKENS = 64
MOST_PARTS = 16


def read_search(reader: Reader) -> SearchProblem:
    """The problem of a document whose state is `{"find": …}`.

    Of the rest only the dimension of a map is looked at: whoever calls this parses the concrete problem of a start of
    every shape. Raises BadInput.
    """
    system = reader.value["system"]
    find = reader.child("state").fields(("find",))["find"]
    shape = ("tokens", "dimension", "shapes") if system == HARDMAX else ()
    fields = find.fields(("numerator", "denominator"), ("sampler", "seed", "starts", *shape))
    samplers = CLOUDS if system == HARDMAX else OTHERS
    sampler = fields["sampler"].word(samplers) if "sampler" in fields else samplers[0]
    shapes = _shapes(find, fields) if system == HARDMAX else _map_shape(reader)
    denominator = fields["denominator"].counter(1, MOST_BOUND)
    _fit(find, sampler, shapes, denominator)
    return SearchProblem(
        reader.value,
        Find(
            numerator=fields["numerator"].counter(1, MOST_BOUND),
            denominator=denominator,
            sampler=sampler,
            seed=fields["seed"].counter() if "seed" in fields else 0,
            starts=fields["starts"].counter(1, MOST_STARTS) if "starts" in fields else DEFAULT_STARTS,
            shapes=shapes,
        ),
    )


def _map_shape(reader: Reader) -> tuple[Shape, ...]:
    """One state of the map's dimension; none where the system is no map."""
    system, parameters = reader.value["system"], reader.child("parameters")
    if system == "piecewise-affine":
        first = parameters.fields(("map", "hypotheses"))["map"].items(1, MOST_PARTS)[0].items(1, MOST_PARTS)[0]
        return ((1, len(first.fields(("guards", "M", "c"))["c"].items(1, MOST_DIMENSION))),)
    known = systems().get(system)
    if known is None:
        return ()
    return ((1, len(known.derive(known.read(parameters))[0][0].c)),)


def _shapes(find: Reader, fields: dict[str, Reader]) -> tuple[Shape, ...]:
    one, many = {"tokens", "dimension"} & set(fields), "shapes" in fields
    if many == bool(one) or len(one) == 1:
        raise find.error("the shape of a start is not said once", mend="give tokens and dimension, or shapes")
    if one:
        return ((fields["tokens"].counter(1, MOST_TOKENS), fields["dimension"].counter(1, MOST_DIMENSION)),)
    found = []
    for entry in fields["shapes"].items(1, MOST_SHAPES):
        tokens, dimension = entry.items(2, 2)
        found.append((tokens.counter(1, MOST_TOKENS), dimension.counter(1, MOST_DIMENSION)))
    return tuple(found)


def _fit(find: Reader, sampler: str, shapes: tuple[Shape, ...], denominator: int) -> None:
    """Whether a sampler can make such shapes at all."""
    for tokens, _ in shapes if sampler != "structured" else ():
        if sampler == "origin-symmetric" and tokens % 2:
            raise find.error(f"origin-symmetric starts cannot have {tokens} tokens", mend="give an even number")
        if sampler == "balanced" and denominator < tokens - 1:
            raise find.error(
                f"the last of {tokens} balanced tokens has denominators up to {tokens - 1}",
                mend=f"give a denominator of at least {tokens - 1}",
            )
