"""Catalogues: entries apart on their own inputs, names that resolve to one entry, public fixtures, BLEU's oracle."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.oracles.formulas import FORMULAS
from verifier.audits.catalogues import CATALOGUES
from verifier.audits.catalogues.bleu_score import corpus_bleu, split_13a, split_characters, split_words
from verifier.audits.catalogues.divergences import CLASSES, LEAST_DISTANCE, LEAST_PROBABILITY
from verifier.audits.identify.fit import MATCH, fit
from verifier.audits.identify.observe import formula_values
from verifier.audits.identify.resolve import resolve

FIXTURES = {case["id"]: case for case in json.loads(Path("tests/fixtures/audits.json").read_text(encoding="utf-8"))}
LETTERS = ("p", "q")


def function(catalogue: str, name: str) -> Any:
    return next(entry.function for entry in CATALOGUES[catalogue].entries if entry.name == name)


@pytest.mark.parametrize("name", CATALOGUES)
def test_entries_are_far_apart_on_eight_inputs_and_on_any_four_of_them(name: str) -> None:
    catalogue = CATALOGUES[name]
    given = catalogue.generic()
    assert len(given) == 8
    assert [each for each in given if catalogue.complaint(each) is not None] == []
    values = {entry.name: formula_values(entry.function, given) for entry in catalogue.entries}
    assert [entry for entry, found in values.items() if found is None] == []
    for (_, left), (_, right) in itertools.permutations(values.items(), 2):
        assert fit(np.asarray(left), np.asarray(right)).residual > 100 * MATCH
    for first in range(5):
        part = given[first : first + 4]
        four = [formula_values(entry.function, part) for entry in catalogue.entries]
        assert all(fit(np.asarray(a), np.asarray(b)).residual > MATCH for a, b in itertools.permutations(four, 2))


@pytest.mark.parametrize("name", CATALOGUES)
def test_inputs_are_the_same_at_every_call(name: str) -> None:
    first, second = (repr(CATALOGUES[name].generic()) for _ in range(2))
    assert first == second


def test_the_inputs_of_divergences_are_generic() -> None:
    given = CATALOGUES["divergences"].generic()
    assert {vector.shape for pair in given for vector in pair} == {(CLASSES,)}
    assert min(vector.min() for pair in given for vector in pair) > LEAST_PROBABILITY
    assert min(np.abs(p - q).max() for p, q in given) > LEAST_DISTANCE
    assert len({tuple(p) for p, _ in given} | {tuple(q) for _, q in given}) == 16


@pytest.mark.parametrize("name", CATALOGUES)
def test_names_and_aliases_resolve_to_their_entry_with_their_factor(name: str) -> None:
    catalogue = CATALOGUES[name]
    given = catalogue.generic()
    seen: set[str] = set()
    for entry in catalogue.entries:
        for text, factor in {entry.name: 1, **entry.aliases}.items():
            written = text.format(p="p", q="q")
            assert written.casefold() not in seen
            seen.add(written.casefold())
            named = resolve(written.upper(), catalogue, letters=LETTERS)
            assert named.name == entry.name.format(p="p", q="q")
            found = fit(
                np.asarray(formula_values(named.function, given)), np.asarray(formula_values(entry.function, given))
            )
            assert (found.constant, found.residual) == (pytest.approx(factor), pytest.approx(0, abs=1e-12))
        assert entry.formula
        assert entry.source
    assert not seen & {alias.format(p="p", q="q").casefold() for alias in catalogue.ambiguous}


@pytest.mark.parametrize("name", CATALOGUES)
def test_formulas_written_twice_cover_the_catalogue(name: str) -> None:
    assert {entry.name.format(p="p", q="q") for entry in CATALOGUES[name].entries} == set(FORMULAS[name])


@pytest.mark.parametrize("name", CATALOGUES)
def test_formulas_leave_their_inputs_alone(name: str) -> None:
    given = CATALOGUES[name].generic()
    before = repr(given)
    for entry in CATALOGUES[name].entries:
        formula_values(entry.function, given)
    assert repr(given) == before


def test_reductions_of_the_public_case() -> None:
    case = FIXTURES["N06"]
    rows = [np.array(row) for row in case["input"]["losses"]]
    expected, longest = case["expected"], case["input"]["max_len"]
    assert function("reductions", "sequence mean")(rows) == pytest.approx(expected["sequence_mean"], abs=1e-9)
    assert function("reductions", "token mean")(rows) == pytest.approx(expected["token_mean"], abs=1e-9)
    assert function("reductions", "batchmean")(rows) == pytest.approx(expected["sequence_sum"], abs=1e-9)
    assert function("reductions", "batchmean")(rows) / longest == pytest.approx(expected["constant_length"], abs=1e-9)


def test_word_error_rates_of_the_public_case() -> None:
    case = FIXTURES["N10"]
    errors, words = np.array(case["input"]["errors"]), np.array(case["input"]["words"])
    expected = case["expected"]
    found = {
        name: function("word-error-rate", name)(errors, words) for name in ("corpus WER", "mean of utterance WERs")
    }
    assert found["mean of utterance WERs"] == pytest.approx(expected["mean_of_utterances"], abs=1e-9)
    assert found["corpus WER"] == pytest.approx(expected["corpus"], abs=1e-9)


SENTENCES = [
    "The U.S. paid $1,000.50 for 3.5 tons, didn't it?",
    "A well-known 10-year-old (test) [case] {of} marks: a/b; c|d ~ e ^ f _ g ` h \\ i",
    'He said "yes" & left at 5.30, or 6,5 - maybe. "Why?"',
    "trailing dash- and 7- digits -8 * + = < > @ # %",
    "&quot;quoted&quot; &amp; &lt;tagged&gt; text.",
    "",
    "...",
    "1.",
    "a.b,c",
]


def test_bleu_agrees_with_sacrebleu() -> None:
    sacrebleu = pytest.importorskip("sacrebleu")
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    peer = Tokenizer13a()
    for text in SENTENCES:
        assert split_13a(text) == peer(text).split()
    for name, split in (("13a", split_13a), ("none", split_words), ("char", split_characters)):
        for hypotheses, references in CATALOGUES["bleu"].generic():
            theirs = sacrebleu.corpus_bleu(hypotheses, [references], tokenize=name, smooth_method="none").score
            assert 100 * corpus_bleu(hypotheses, references, tokenise=split) == pytest.approx(theirs, rel=1e-9)


def test_bleu_without_a_match_is_nought_and_of_itself_one() -> None:
    assert corpus_bleu(["a b c d e"], ["v w x y z"], tokenise=split_words) == 0
    assert corpus_bleu(["a b c d e"], ["a b c d e"], tokenise=split_words) == 1


def test_no_catalogue_speaks_of_anything_but_formulas() -> None:
    for catalogue in CATALOGUES.values():
        text = catalogue.takes + " ".join(entry.name + entry.formula + entry.source for entry in catalogue.entries)
        assert re.search(r"falsif|fraud|fabricat|manipulat|refute", text) is None
