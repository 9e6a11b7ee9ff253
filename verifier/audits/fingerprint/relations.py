"""The relations: each changes the corpus in a way whose effect on ln perplexity is known for the mean over tokens.

Every relation but `twice` is data: calls, and checks that are linear in the calls' ln perplexities. Nothing here
knows the corpus's true loss, so a constant factor on ln perplexity breaks only `constant` and `bump`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from verifier.audits.fingerprint.calls import TOLERANCE, Call, Returns, agree
from verifier.audits.fingerprint.corpus import Corpus, padded_corpus

BASE = "base"
EXACT: Mapping[str, float] = MappingProxyType({})
CONSTANT = math.log(7)
# A mean that is clamped, as at 20, shows only where every loss is large.
LARGE_CONSTANT = 25.0
BUMPS = (30.0, 300.0, 600.0)
CHUNK = 6
MORE_PADDING = 10
OTHER_PAD_LOSS = 3.0
BATCH_SIZES = (1, 2, 3, 4, 7)
SHUFFLE_OF_SEVEN = (3, 0, 6, 1, 5, 2, 4)
MANY = 60
LONG = 40
# Of the shipped corpus, whose 9,120 tokens are known to round well (to 5e-5 in any order).
SHIPPED_COPIES = 240
REPLICAS = 3
# A running sum of n equal losses in single precision is off by up to n·2^-25 of itself (each partial sum rounds by half
# a unit in the last place). With so few tokens in the copies, and the tolerance below, two such sums still agree.
MOST_COPIED_TOKENS = 2_400
TOKENS_AT_TOLERANCE = 1_000
# exp overflows single precision at 88.
LARGEST_LOG = 80.0


@dataclass(frozen=True, slots=True)
class Check:
    """ln E(`of`) must be `constant` + Σ weight · ln E(call) over `terms`."""

    of: str
    terms: tuple[tuple[str, float], ...]
    constant: float = 0.0

    def expected(self, logs: Mapping[str, float | None]) -> float | None:
        """The value it must have; None where a call it is made of has none."""
        total = self.constant
        for name, weight in self.terms:
            log = logs[name]
            if log is None:
                return None
            total += weight * log
        return total

    def holds(self, logs: Mapping[str, float | None], *, tolerance: float, rounding: Mapping[str, float]) -> bool:
        """Whether it does, to the tolerance and what `rounding` may have moved each ln perplexity by.

        A call without a value holds nothing, unless its rounding is infinite.
        """
        slack = rounding.get(self.of, 0.0) + sum(abs(weight) * rounding.get(name, 0.0) for name, weight in self.terms)
        if math.isinf(slack):
            return True
        measured, expected = logs[self.of], self.expected(logs)
        if measured is None or expected is None:
            return False
        return agree(measured, expected, tolerance=tolerance) or abs(measured - expected) <= slack + tolerance


@dataclass(frozen=True, slots=True)
class Relation:
    """The calls beside the base call, and what must hold between them."""

    name: str
    calls: tuple[Call, ...]
    checks: tuple[Check, ...]
    tolerance: float = TOLERANCE

    def failed(self, logs: Mapping[str, float | None], rounding: Mapping[str, float] = EXACT) -> Check | None:
        """The first check that does not hold; `rounding`: call name -> how far its ln perplexity may be rounded."""
        return next(
            (each for each in self.checks if not each.holds(logs, tolerance=self.tolerance, rounding=rounding)), None
        )


@dataclass(frozen=True, slots=True)
class NotRun:
    """Why a relation cannot be run on this corpus."""

    reason: str


Builder = Callable[[Corpus, int, Returns], Relation | NotRun]


def _same(name: str, *calls: Call) -> Relation:
    """Every call must give what the base call gives."""
    return Relation(name, calls, tuple(Check(call.name, ((BASE, 1.0),)) for call in calls))


def _pad(corpus: Corpus, batch_size: int, _: Returns) -> Relation | NotRun:
    return _same("pad", Call("pad", corpus.padded(MORE_PADDING), batch_size))


def _batch(corpus: Corpus, batch_size: int, _: Returns) -> Relation | NotRun:
    sizes = sorted({*BATCH_SIZES, len(corpus.losses)} - {batch_size})
    return _same("batch", *(Call(f"batch={size}", corpus, size) for size in sizes))


def _permute(corpus: Corpus, batch_size: int, _: Returns) -> Relation | NotRun:
    n = len(corpus.losses)
    if n < 2:
        return NotRun("there is one sequence")
    shuffle = np.array(SHUFFLE_OF_SEVEN) if n == 7 else np.random.default_rng(n).permutation(n)
    return _same(
        "permute",
        Call("permute reversed", corpus.rows(np.arange(n)[::-1]), batch_size),
        Call("permute shuffled", corpus.rows(shuffle), batch_size),
    )


def _duplicate(corpus: Corpus, batch_size: int, _: Returns) -> Relation | NotRun:
    return _same("duplicate", Call("duplicate", corpus.rows(np.tile(np.arange(len(corpus.losses)), 2)), batch_size))


def _rechunk(corpus: Corpus, batch_size: int, _: Returns) -> Relation | NotRun:
    tokens = corpus.losses[corpus.mask]
    chunks = [tokens[start : start + CHUNK] for start in range(0, len(tokens), CHUNK)]
    again = padded_corpus(chunks, width=corpus.losses.shape[1], pad_loss=corpus.pad_loss)
    return _same("rechunk", Call("rechunk", again, batch_size))


def _scale(corpus: Corpus, batch_size: int, returns: Returns) -> Relation | NotRun:
    if returns == "perplexity" and 2 * corpus.mean > LARGEST_LOG:
        return NotRun("the perplexity of twice the loss would overflow")
    call = Call("scale", corpus.with_real(2 * corpus.losses), batch_size)
    return Relation("scale", (call,), (Check("scale", ((BASE, 2.0),)),))


def _constant(corpus: Corpus, batch_size: int, _: Returns) -> Relation | NotRun:
    levels = {"constant": CONSTANT, "constant large": LARGE_CONSTANT}
    calls = [
        Call(name, corpus.with_real(np.full_like(corpus.losses, loss)), batch_size) for name, loss in levels.items()
    ]
    return Relation("constant", tuple(calls), tuple(Check(name, (), loss) for name, loss in levels.items()))


def _split(corpus: Corpus, batch_size: int, returns: Returns) -> Relation | NotRun:
    filled = np.flatnonzero(corpus.lengths)
    if len(filled) < 2:
        return NotRun("only one sequence has tokens")
    calls, checks = [], []
    # After the first sequence with tokens, in the middle, and before the last: medians agree at one cut by chance.
    for last in sorted({0, (len(filled) - 1) // 2, len(filled) - 2}):
        cut = int(filled[last]) + 1
        parts = [corpus.rows(np.arange(cut)), corpus.rows(np.arange(cut, len(corpus.losses)))]
        if returns == "perplexity" and max(part.mean for part in parts) > LARGEST_LOG:
            return NotRun("the perplexity of a part would overflow")
        names = (f"split before {cut}", f"split from {cut}")
        calls += [Call(name, part, batch_size) for name, part in zip(names, parts, strict=True)]
        checks.append(
            Check(BASE, tuple((name, part.tokens / corpus.tokens) for name, part in zip(names, parts, strict=True)))
        )
    return Relation("split", tuple(calls), tuple(checks))


def _bump(corpus: Corpus, batch_size: int, returns: Returns) -> Relation | NotRun:
    n = corpus.tokens
    bumps = [nats for nats in BUMPS if returns == "loss" or corpus.mean + nats / n <= LARGEST_LOG]
    if not bumps:
        return NotRun("the perplexity with 30 nats more would overflow")
    row = int(np.argmax(corpus.lengths))
    middle = np.flatnonzero(corpus.mask[row])[corpus.lengths[row] // 2]
    calls, checks = [], []
    for nats in bumps:
        up = corpus.losses.copy()
        up[row, middle] += nats
        calls.append(Call(f"bump +{nats:g}", corpus.with_real(up), batch_size))
        checks.append(Check(calls[-1].name, ((BASE, 1.0),), nats / n))
    # The other way: a token of no loss at all is a token still.
    largest = np.unravel_index(np.argmax(np.where(corpus.mask, corpus.losses, -1.0)), corpus.losses.shape)
    none = corpus.losses.copy()
    none[largest] = 0.0
    calls.append(Call("bump to zero", corpus.with_real(none), batch_size))
    checks.append(Check("bump to zero", ((BASE, 1.0),), -float(corpus.losses[largest]) / n))
    return Relation("bump", tuple(calls), tuple(checks))


def _with_padding(corpus: Corpus) -> Corpus:
    return corpus.padded(MORE_PADDING) if corpus.mask.all() else corpus


def _padvalue(corpus: Corpus, batch_size: int, _: Returns) -> Relation | NotRun:
    wide = _with_padding(corpus)
    other = Corpus(np.where(wide.mask, wide.losses, OTHER_PAD_LOSS), wide.mask, OTHER_PAD_LOSS)
    return _same("padvalue", Call("padvalue", other, batch_size))


def _leftpad(corpus: Corpus, batch_size: int, _: Returns) -> Relation | NotRun:
    wide = _with_padding(corpus)
    width = wide.losses.shape[1]
    left = padded_corpus(corpus.sequences, width=width, pad_loss=corpus.pad_loss, left=True)
    return _same("leftpad", Call("leftpad", left, batch_size))


def _many(corpus: Corpus, batch_size: int, _: Returns) -> Relation | NotRun:
    n = len(corpus.losses)
    # All copies of a sequence stand together: what reads only a part then misses whole sequences.
    copies = [min(MANY, max(2, MOST_COPIED_TOKENS // corpus.tokens))]
    if copies[0] * corpus.losses.size > 1_000_000:
        return NotRun("the copies would have more than a million cells")
    if corpus.shipped:
        copies.append(SHIPPED_COPIES)
    return _same("many", *(Call(f"many {c}", corpus.rows(np.repeat(np.arange(n), c)), batch_size) for c in copies))


def _long(corpus: Corpus, batch_size: int, _: Returns) -> Relation | NotRun:
    tokens = corpus.losses[corpus.mask]
    copies = [min(LONG, max(1, MOST_COPIED_TOKENS // len(tokens)))]
    if corpus.shipped:
        copies.append(SHIPPED_COPIES)
    rows = [padded_corpus([np.repeat(tokens, c)], pad_loss=corpus.pad_loss) for c in copies]
    # The other end: every token a sequence of its own, which a shift would lose.
    single = padded_corpus(tokens[:, None], pad_loss=corpus.pad_loss)
    return _same(
        "long",
        *(Call(f"long {row.tokens}", row, batch_size) for row in rows),
        Call("long single tokens", single, batch_size),
    )


def _replicate_one(corpus: Corpus, batch_size: int, returns: Returns) -> Relation | NotRun:
    filled = np.flatnonzero(corpus.lengths)
    if len(filled) < 2:
        return NotRun("only one sequence has tokens")
    # The sequence that is furthest from the mean: its copies move the mean most.
    which = max(filled, key=lambda i: abs(corpus.losses[i][corpus.mask[i]].mean() - corpus.mean) * corpus.lengths[i])
    alone = corpus.rows([int(which)])
    if returns == "perplexity" and alone.mean > LARGEST_LOG:
        return NotRun("the perplexity of one sequence would overflow")
    room = max(MOST_COPIED_TOKENS, 2 * corpus.tokens) - corpus.tokens
    replicas = min(REPLICAS, room // alone.tokens)
    rows = np.concatenate([np.arange(len(corpus.losses)), np.repeat(which, replicas)])
    calls = (Call("replicate_one alone", alone, batch_size), Call("replicate_one", corpus.rows(rows), batch_size))
    more = replicas * alone.tokens
    total = corpus.tokens + more
    terms = ((BASE, corpus.tokens / total), ("replicate_one alone", more / total))
    return Relation("replicate_one", calls, (Check("replicate_one", terms),))


BUILDERS: Mapping[str, Builder] = {
    "pad": _pad,
    "batch": _batch,
    "permute": _permute,
    "duplicate": _duplicate,
    "rechunk": _rechunk,
    "scale": _scale,
    "constant": _constant,
    "split": _split,
    "bump": _bump,
    "padvalue": _padvalue,
    "leftpad": _leftpad,
    "many": _many,
    "long": _long,
    "replicate_one": _replicate_one,
}
"""Every relation but `twice`, in the order in which they are run."""


def relation(name: str, corpus: Corpus, batch_size: int, returns: Returns) -> Relation | NotRun:
    """The relation of this name on this corpus, with the tolerance that its size needs.

    That is 1e-4 up to 1,000 tokens, and grows with them beyond: 1e-3 at 10,000.
    """
    built = BUILDERS[name](corpus, batch_size, returns)
    if isinstance(built, NotRun):
        return built
    return replace(built, tolerance=TOLERANCE * max(1.0, corpus.tokens / TOKENS_AT_TOLERANCE))


def base_call(corpus: Corpus, batch_size: int) -> Call:
    """The call that the others are compared with."""
    return Call(BASE, corpus, batch_size)
