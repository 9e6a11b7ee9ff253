"""Mutated certificates: generated and compared; none that brute force finds false is accepted."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from referencing import Registry, Resource

from tests.corpus.certificates import generate
from tests.corpus.certificates.mutate import compact
from tests.corpus.certificates.seeds import seeds as built
from tests.oracles import certificate_form, certificate_schema
from tests.oracles.certificates import judge

SEEDS, LINES = generate.stored()
EVERY = [line for kind in generate.KINDS for line in LINES[kind]]
SAMPLE = EVERY[:: len(EVERY) // 200]
CHECK = generate.checker().check
CODES = {"ACCEPTED": 0, "REJECTED": 10, "MALFORMED": 2}
MEMORY = 200 << 20


def data(line: dict[str, Any]) -> bytes:
    return generate.unpacked(SEEDS[line["seed"]], line)


def relabelled(line: dict[str, Any], found: str) -> str:
    return generate.labelled(SEEDS[line["seed"]], data(line), found)


def label(line: dict[str, Any]) -> str:
    return f"{line['seed']}: {line['where']}: {line['how']}"


def unsound(lines: list[dict[str, Any]]) -> Iterator[str]:
    """Mutants that the checker accepts now and that the corpus does not call true."""
    for line in lines:
        if CHECK(data(line)).word == "ACCEPTED" and line["is"] not in {"true", "same"}:
            yield label(line)


@pytest.mark.slow
def test_the_seeds_are_what_brute_force_builds_and_are_true() -> None:
    assert {name: compact(document) for name, document in built().items()} == SEEDS
    for name, text in SEEDS.items():
        assert (CHECK(text.encode()).word, judge(text.encode()).true) == ("ACCEPTED", True), name


@pytest.mark.slow
def test_the_corpus_has_every_kind_and_every_operation_still_gives_the_same_mutants() -> None:
    order = list(SEEDS)
    drawn = iter(sorted(EVERY, key=lambda line: order.index(line["seed"])))
    for kind, seed, where, how, mutant in generate.drawn(SEEDS):
        line = next(drawn)
        assert (line["seed"], line["where"], line["how"]) == (seed, where, how)
        assert json.loads(SEEDS[seed])["kind"] == kind
        assert data(line) == mutant, label(line)
    assert next(drawn, None) is None
    assert {json.loads(text)["kind"] for text in SEEDS.values()} == set(generate.KINDS)


def test_the_table_of_the_readme_and_its_shares() -> None:
    text = (generate.HERE / "README.md").read_text(encoding="utf-8")
    assert generate.readme(LINES) == text
    semantic = [line for line in EVERY if line["is"] in {"false", "true"}]
    assert 100 * sum(line["is"] == "false" for line in semantic) >= 80 * len(semantic)
    assert len(EVERY) > 3000
    size = sum(path.stat().st_size for path in (generate.HERE / "mutants").iterdir())
    assert size < 3 << 20


def test_a_sample_keeps_its_words_and_the_oracle_its_own() -> None:
    for line in SAMPLE:
        found = judge(data(line))
        word = CHECK(data(line)).word
        assert (relabelled(line, found.label), word) == (line["is"], line["word"]), label(line)
    assert not list(unsound(SAMPLE))


def test_every_accepted_mutant_is_a_certificate_and_true() -> None:
    accepted = [line for line in EVERY if line["word"] == "ACCEPTED"]
    assert len(accepted) > 50
    for line in accepted:
        assert line["is"] in {"true", "same"}, label(line)


@pytest.mark.slow
def test_no_mutant_of_the_whole_corpus_is_accepted_and_false() -> None:
    assert not list(unsound(EVERY))
    for line in EVERY:
        result = CHECK(data(line))
        assert result.word == line["word"], label(line)
        if line["is"] == "syntactic":
            assert result.word == "MALFORMED", label(line)
        if line["is"] != "syntactic":  # a bound on computing may be passed late; nothing else makes it malformed
            assert result.word != "MALFORMED" or result.code == "too-large", label(line)


@pytest.mark.slow
@pytest.mark.parametrize("kind", generate.KINDS)
def test_the_oracle_says_of_the_whole_corpus_what_is_stored(kind: str) -> None:
    for line in LINES[kind]:
        found = judge(data(line))
        assert relabelled(line, found.label) == line["is"], (label(line), found)


def test_every_true_mutant_that_is_not_accepted_is_too_large_or_undecided() -> None:
    for line in EVERY:
        if line["is"] in {"true", "same"} and line["word"] != "ACCEPTED":
            assert CHECK(data(line)).code in {"too-large", "not-separated"}, label(line)


def limits() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (2, 2))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


@pytest.mark.parametrize("each", [3, pytest.param(17, marks=pytest.mark.slow)])
def test_mutants_in_processes_of_their_own(tmp_path: Path, each: int) -> None:
    """Six kinds, a hundred in all; two seconds of CPU and 200 MB of address space, the interpreter's own included."""
    chosen = [line for kind in generate.KINDS for line in spread(LINES[kind], each)]
    for number, line in enumerate(chosen):
        path = tmp_path / f"{number}.json"
        path.write_bytes(data(line))
        command = [sys.executable, "-I", str(generate.CHECKER), str(path)]
        done = subprocess.run(command, capture_output=True, preexec_fn=limits, check=False)
        last = done.stdout.decode("ascii").splitlines()[-1]
        assert (last.split(":")[0], done.returncode) == (line["word"], CODES[line["word"]]), (label(line), done.stderr)
        assert not done.stderr
        if line["word"] == "MALFORMED":
            assert len(done.stdout.splitlines()) == 1


def spread(lines: list[dict[str, Any]], count: int) -> list[dict[str, Any]]:
    return [lines[k * len(lines) // count] for k in range(count)]


@pytest.mark.slow
def test_the_quick_schema_agrees_with_jsonschema() -> None:
    documents = [
        json.loads((certificate_schema.SCHEMAS / f"{n}-1.schema.json").read_text()) for n in ("problem", "certificate")
    ]
    registry: Registry[Any] = Registry().with_resources([(d["$id"], Resource.from_contents(d)) for d in documents])
    slow = jsonschema.Draft202012Validator(documents[1], registry=registry)
    seen = set()
    for line in SAMPLE[::2]:
        try:
            document = certificate_form.parse(data(line).decode())
        except (certificate_form.NotACertificate, UnicodeDecodeError, RecursionError):
            continue
        answer = certificate_schema.certificate(document)
        assert slow.is_valid(document) == answer, label(line)
        seen.add(answer)
    assert seen == {True, False}
