"""BLEU with three tokenisations (Papineni 2002; the tokenisation of NIST's mteval-v13a, language-independent part)."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

ORDERS = 4

Tokenise = Callable[[str], list[str]]

_ENTITIES = {"&quot;": '"', "&amp;": "&", "&lt;": "<", "&gt;": ">"}
_ALONE = re.compile(r"([!-&(-+:-@\[-`{-~/])")  # ASCII marks other than ' , - . stand alone
_AFTER_NON_DIGIT = re.compile(r"([^0-9])([.,])")
_BEFORE_NON_DIGIT = re.compile(r"([.,])([^0-9])")
_DASH_AFTER_DIGIT = re.compile(r"([0-9])(-)")


def split_words(text: str) -> list[str]:
    """What stands between white space."""
    return text.split()


def split_13a(text: str) -> list[str]:
    """Words and punctuation apart, points and commas inside numbers kept: mteval-v13a, as far as it is one line."""
    line = text.replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    for entity, character in _ENTITIES.items():
        line = line.replace(entity, character)
    line = _ALONE.sub(r" \1 ", f" {line} ")
    line = _AFTER_NON_DIGIT.sub(r"\1 \2 ", line)
    line = _BEFORE_NON_DIGIT.sub(r" \1 \2", line)
    line = _DASH_AFTER_DIGIT.sub(r"\1 \2 ", line)
    return line.split()


def split_characters(text: str) -> list[str]:
    """Every character but white space."""
    return [character for character in text if not character.isspace()]


class Overlap(NamedTuple):
    """Matching and possible n-grams of the orders 1 to 4, and the lengths of hypothesis and reference in tokens."""

    matches: tuple[int, ...]
    possible: tuple[int, ...]
    length: int
    reference_length: int


def overlap(hypothesis: list[str], reference: list[str]) -> Overlap:
    """The clipped n-gram counts of one sentence against one reference."""
    matches, possible = [], []
    for order in range(1, ORDERS + 1):
        grams, theirs = _grams(hypothesis, order), _grams(reference, order)
        matches.append((grams & theirs).total())
        possible.append(grams.total())
    return Overlap(tuple(matches), tuple(possible), len(hypothesis), len(reference))


def score(found: Sequence[Overlap]) -> float:
    """BLEU in [0, 1] of pooled counts: brevity penalty times the geometric mean of the four precisions, unsmoothed."""
    matches = [sum(each.matches[i] for each in found) for i in range(ORDERS)]
    possible = [sum(each.possible[i] for each in found) for i in range(ORDERS)]
    if min(matches) == 0:
        return 0.0
    length, reference = sum(each.length for each in found), sum(each.reference_length for each in found)
    penalty = min(0.0, 1 - reference / length)
    return math.exp(penalty + sum(math.log(m / n) for m, n in zip(matches, possible, strict=True)) / ORDERS)


def corpus_bleu(hypotheses: Sequence[str], references: Sequence[str], *, tokenise: Tokenise) -> float:
    """BLEU of a corpus with one reference a sentence, in [0, 1]."""
    return score(_overlaps(hypotheses, references, tokenise))


def mean_sentence_bleu(hypotheses: Sequence[str], references: Sequence[str], *, tokenise: Tokenise) -> float:
    """The mean over sentences of each one's own BLEU, 0 where an order has no match."""
    found = _overlaps(hypotheses, references, tokenise)
    return sum(score([each]) for each in found) / len(found)


def _overlaps(hypotheses: Sequence[str], references: Sequence[str], tokenise: Tokenise) -> list[Overlap]:
    pairs = zip(hypotheses, references, strict=True)
    return [overlap(tokenise(hypothesis), tokenise(reference)) for hypothesis, reference in pairs]


def _grams(tokens: list[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(tokens[i : i + order]) for i in range(len(tokens) - order + 1))
