"""The faults that can be named: what an evaluator with each of them gives, as ln perplexity, and its basis class."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from verifier.audits.fingerprint.calls import Call
from verifier.audits.fingerprint.corpus import Floats
from verifier.model.basis import BasisClass

Simulated = Callable[[Call], float]
"""ln perplexity of a call under the fault; NaN where the fault leaves nothing to average."""

# Positions after which an evaluator may stop reading a sequence.
CUTS = (*range(1, 13), 16, 20, 24, 32, 48, 50, 64, 100, 128, 200, 250, 256, 500, 512, 768, 1000, 1024, 2000, 2048, 4096)


@dataclass(frozen=True, slots=True)
class Fault:
    """A row of the table. `variants`: the ways in which people write it; the values of one must all be equal.

    `proportional`: equal up to one constant factor on ln perplexity.
    """

    name: str
    basis_class: BasisClass
    words: str
    variants: tuple[Simulated, ...]
    proportional: bool = False


def _sums(call: Call) -> tuple[Floats, Floats]:
    """Sum of real losses and number of real tokens of each sequence."""
    corpus = call.corpus
    return np.where(corpus.mask, corpus.losses, 0.0).sum(axis=1), corpus.mask.sum(axis=1).astype(float)


def _batches(call: Call) -> Iterator[slice]:
    for start in range(0, len(call.corpus.losses), call.batch_size):
        yield slice(start, start + call.batch_size)


def _ratio(top: float, bottom: float) -> float:
    return float(top) / float(bottom) if bottom else math.nan


def _mean(values: list[float] | Floats) -> float:
    return float(np.mean(values)) if len(values) else math.nan


def token_mean(call: Call) -> float:
    """What a correct evaluator gives: the mean over real tokens."""
    return call.corpus.mean


def _pads_scored(call: Call) -> float:
    return float(call.corpus.losses.mean())


def _pads_counted(call: Call) -> float:
    return _ratio(_sums(call)[0].sum(), call.corpus.losses.size)


def _batch_means(call: Call) -> float:
    totals, counts = _sums(call)
    return _mean([totals[b].sum() / counts[b].sum() for b in _batches(call) if counts[b].sum()])


def _sequence_means(call: Call) -> float:
    totals, counts = _sums(call)
    filled = counts > 0
    return _mean(totals[filled] / counts[filled])


def _sequence_perplexities(call: Call) -> float:
    totals, counts = _sums(call)
    means = totals[counts > 0] / counts[counts > 0]
    shift = means.max() if len(means) else math.nan
    return float(shift + math.log(np.exp(means - shift).mean())) if len(means) else math.nan


def _drop_last(call: Call) -> float:
    totals, counts = _sums(call)
    whole = len(totals) // call.batch_size * call.batch_size
    return _ratio(totals[:whole].sum(), counts[:whole].sum())


def _per_batch(call: Call) -> float:
    return _ratio(_sums(call)[0].sum(), math.ceil(len(call.corpus.losses) / call.batch_size))


def _root(call: Call) -> float:
    return math.sqrt(token_mean(call))


def _cut(positions: int) -> Simulated:
    def simulated(call: Call) -> float:
        corpus = call.corpus
        kept = np.where(corpus.mask, corpus.losses, 0.0)[:, :positions]
        return _ratio(kept.sum(), corpus.tokens)

    return simulated


FAULTS: tuple[Fault, ...] = (
    Fault("pads scored", BasisClass.MASK, "padding is scored like text", (_pads_scored,)),
    Fault(
        "pads in the denominator only",
        BasisClass.MASK,
        "padding is counted but not scored",
        (_pads_counted,),
    ),
    Fault("mean of batch means", BasisClass.AGG, "batches count alike, whatever their length", (_batch_means,)),
    Fault("mean of sequence means", BasisClass.AGG, "sequences count alike, whatever their length", (_sequence_means,)),
    Fault(
        "mean of sequence perplexities",
        BasisClass.AGG,
        "perplexities of sequences are averaged, not losses of tokens",
        (_sequence_perplexities,),
    ),
    Fault("drop_last", BasisClass.MASK, "the last batch is left out unless it is full", (_drop_last,)),
    Fault(
        "sum / n_batches",
        BasisClass.DENOM,
        "the sum of losses is divided by the number of batches",
        (_per_batch,),
        proportional=True,
    ),
    Fault("sqrt(loss)", BasisClass.FORM, "the square root of the mean loss is taken", (_root,)),
    Fault(
        "cut numerator, full denominator",
        BasisClass.MASK,
        "late positions are counted but not scored",
        tuple(_cut(positions) for positions in CUTS),
    ),
)
"""The faults with values of their own. Those that only multiply ln perplexity are told apart by the factor."""

BASE_TWO = Fault("2**nats", BasisClass.UNIT, "2 is raised to a mean in nats", (token_mean,), proportional=True)
PER_WORD = Fault(
    "per-word denominator", BasisClass.DENOM, "the sum is divided by fewer things than tokens", (token_mean,), True
)

# Tokens a word, as subword tokenizers give them for text. Any other factor has as many causes as there are reasons to
# multiply a loss: devices summed over, a penalty, a weight.
FEWEST_A_WORD, MOST_A_WORD = 1.15, 1.75
# ln perplexity times one of these is a change of logarithm, not of what is counted.
OTHER_BASES = (1 / math.log(2), *(math.log(base) for base in range(3, 11)))


def proportional_fault(factor: float) -> Fault | None:
    """The fault that multiplies ln perplexity by `factor` on every call; None where the factor does not tell."""

    def near(value: float) -> bool:
        return abs(factor - value) <= 1e-4 * value

    if near(math.log(2)):
        return BASE_TWO
    if any(map(near, OTHER_BASES)) or not FEWEST_A_WORD <= factor <= MOST_A_WORD:
        return None
    return PER_WORD
