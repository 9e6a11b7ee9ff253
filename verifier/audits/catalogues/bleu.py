"""BLEU under several tokenisations: the callable takes hypotheses and references, lists of text of one length."""

from __future__ import annotations

import random
from functools import partial

from verifier.audits.catalogues.bleu_score import (
    Tokenise,
    corpus_bleu,
    mean_sentence_bleu,
    split_13a,
    split_characters,
    split_words,
)
from verifier.audits.catalogues.entry import INPUTS, Arguments, Catalogue, Entry, generator, whole
from verifier.audits.space import Draw, Raw, Space


def _lower(tokenise: Tokenise) -> Tokenise:
    return lambda text: tokenise(text.lower())


TOKENISATIONS: tuple[tuple[str, str, Tokenise], ...] = (
    ("13a", "mteval-v13a", split_13a),
    ("none", "white space", split_words),
    ("char", "characters", split_characters),
)

_PERCENT = 100.0

ENTRIES = tuple(
    Entry(
        f"{title} ({name}{', lower case' if lower else ''})",
        formula,
        f"Papineni 2002; tokens: {tokens}",
        partial(score, tokenise=_lower(tokenise) if lower else tokenise),
        {f"{title} ({name}{', lower case' if lower else ''}) in percent": _PERCENT},
    )
    for title, formula, score in (
        ("BLEU", "BP·(Π p_n)^¼ of pooled counts", corpus_bleu),
        ("mean sentence BLEU", "(1/n) Σ BP_s·(Π p_n,s)^¼", mean_sentence_bleu),
    )
    for name, tokens, tokenise in TOKENISATIONS
    for lower in (False, True)
)

_WORDS = (
    *("The", "model", "was", "trained", "on", "1,000", "books", "and", "tested", "with", "3.5", "times", "as", "many"),
    *("pages", "of", "older", "text", "from", "Berlin", "in", "May", "2019", "by", "two", "teams"),
)
_CHANGES = {"model": "system", "tested": "evaluated", "older": "old", "many": "much", "Berlin": "berlin", "The": "the"}
_ENDS = (".", "!", "?", " .", ",")


def _generic() -> tuple[Arguments, ...]:
    rng = generator("bleu")
    return tuple(_corpus(rng, 4 + index % 3) for index in range(INPUTS))


def _corpus(rng: random.Random, count: int) -> Arguments:
    references, hypotheses = [], []
    for _ in range(count):
        start = whole(rng, 0, 7)
        words = list(_WORDS[start : start + whole(rng, 10, 18)])
        said = [_CHANGES.get(word, word) if rng.random() < 0.6 else word for word in words]
        if rng.random() < 0.6:
            said.pop(whole(rng, 0, 2))
        cut = whole(rng, 6, 8)
        words[cut] += "," if rng.random() < 0.5 else ";"
        references.append(" ".join(words) + _ENDS[whole(rng, 0, 1)])
        hypotheses.append(" ".join(said) + _ENDS[whole(rng, 0, 4)])
    return hypotheses, references


_TOKENS = ("a", "b", "A", "c.", "c", "d,")


def _raw(draw: Draw, *, count: int) -> Raw:
    return tuple((" ".join(_TOKENS[draw(len(_TOKENS))] for _ in range(count)),) for _ in range(2))


def complaint(arguments: Arguments) -> str | None:
    """What makes an input no hypotheses and references; None where nothing does."""
    if len(arguments) != 2 or len(arguments[0]) != len(arguments[1]) or not len(arguments[0]):
        return "it is not two lists of text of one length"
    if not all(isinstance(text, str) for side in arguments for text in side):
        return "a sentence is not text"
    return "every hypothesis is its reference" if list(arguments[0]) == list(arguments[1]) else None


BLEU = Catalogue(
    name="bleu",
    share=True,
    takes="hypotheses and references, lists of text of one length, one reference a hypothesis",
    entries=ENTRIES,
    generic=_generic,
    space=Space(
        ("hypotheses", "references"),
        tuple(partial(_raw, count=count) for count in (4, 5, 6)),
        lambda raw: tuple(list(side) for side in raw),
    ),
    complaint=complaint,
    ambiguous={"BLEU": "say the tokenisation: BLEU (13a), BLEU (none) or BLEU (char)"},
)
