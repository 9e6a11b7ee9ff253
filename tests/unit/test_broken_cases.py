"""A corpus of broken case files, each with the one sentence that a person gets.

`python tests/unit/test_broken_cases.py` writes tests/corpus/cases anew from BASE and BREAKS; the tests hold the
folder to both. A changed sentence shows in the diff of `sentences.txt`, where it is to be read as its reader would.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from verifier.casefile import load
from verifier.model.errors import BadInput, Exit

CORPUS = Path(__file__).parent.parent / "corpus" / "cases"
SENTENCES = CORPUS / "sentences.txt"

BASE = """\
[case]
written_by = "corpus"

[paper]
openreview = "ESa07RwpVr"
arxiv = "2606.01342v1"
title = "A paper"
source_sha256 = ""
later_versions = [{ arxiv = "2606.01342v3", claim = "not-read" }]

[claim]
quote = "the cost is H_k + O(1)"
text = "The cost is H_k + O(1)."
locator = "abstract"
kind = "theorem"
parts = [
  { id = "a", text = "the additive term is O(1)" },
  { id = "b", text = "the leading term is H_k" },
]

[dispute]
part = "a"
text = "The additive term grows."
source = { kind = "logbook", space = "owner/name", revision = "1", page = "2" }
reported_by = "somebody"
alleged = { slope_per_ln_k = "0.38" }

[[premise]]
text = "The simulated algorithm is the paper's."
checked = "by-us"
source = "the authors' code"

[[implementation]]
target = "model:term"
saw = ["release"]

[parameters]
tau = { type = "integer", default = 0 }
rate = { type = "rational", default = "1/2" }
variant = { type = "choice", of = ["plain", "gated"], default = "plain" }

[[probe]]
name = "term"
kind = "sweep"
part = "a"
target = "model:term"
scale = { k = [8, 16, 32, 64, 128] }
registered_scale = { k = 128 }
controls = [
  { target = "model:flat", expect = "AGAINST_DISPUTE" },
  { target = "model:other", expect = { equals = "model:term" } },
  { target = "model:term", expect = { values = "model:exact" } },
]

[probe.planned]
sd = { "8" = "0.1" }

[probe.rule]
kind = "growth"
delta = "0.19"
alternative = "0.38"
replicate = { phases = 100 }
looks = [10, 20, 30]

[[prior]]
url = "https://example.org/report"
text = "An earlier report."
"""


@dataclass(frozen=True)
class Break:
    """`old` in BASE becomes `new`.

    The sentence must name the line that contains `at`, else the first line that changed; where a table is missing
    there is no line, and `nowhere` is the key. `keyless`: the text is broken before there are keys.
    """

    old: str
    new: str
    at: str = ""
    keyless: bool = False
    nowhere: str = ""

    @property
    def content(self) -> bytes:
        assert BASE.count(self.old) == 1, self.old
        return BASE.replace(self.old, self.new).encode("utf-8", "surrogateescape")


ALLEGED = 'alleged = { slope_per_ln_k = "0.38" }'
TAU = 'tau = { type = "integer", default = 0 }'
RATE = 'rate = { type = "rational", default = "1/2" }'
VARIANT = 'variant = { type = "choice", of = ["plain", "gated"], default = "plain" }'
SCALE = "scale = { k = [8, 16, 32, 64, 128] }\n"
FLAT = '{ target = "model:flat", expect = "AGAINST_DISPUTE" }'
EQUALS = '{ equals = "model:term" }'
LOOKS = "looks = [10, 20, 30]"
DELTA = 'delta = "0.19"'
REPLICATE = "replicate = { phases = 100 }"
PART_B = '{ id = "b", text = "the leading term is H_k" }'
WHOLE_PROBE = BASE[BASE.index("[[probe]]") : BASE.index("[[prior]]")]

BREAKS: dict[str, Break] = {
    # the file
    "not-utf8": Break('"A paper"', '"A p\udce4per"', keyless=True),
    "not-toml": Break('kind = "theorem"', "kind = theorem", keyless=True),
    "no-equals-sign": Break('title = "A paper"', 'title "A paper"', keyless=True),
    "same-key-twice": Break('title = "A paper"', 'title = "A paper"\ntitle = "Another"', at="Another", keyless=True),
    "text-not-closed": Break('text = "An earlier report."', 'text = "An earlier report.', keyless=True),
    "git-conflict": Break(DELTA, f"<<<<<<< ours\n{DELTA}\n=======", keyless=True),
    "nested-too-deeply": Break(ALLEGED, f"alleged = {'[' * 40}{']' * 40}"),
    "keys-nested-too-deeply": Break(ALLEGED, f"alleged.{'a.' * 60}a = 1", keyless=True),
    # unknown keys, at every level
    "unknown-table": Break("[dispute]", "[disputes]"),
    "unknown-key-case": Break("written_by", "writen_by"),
    "unknown-key-paper": Break("openreview =", "open_review ="),
    "unknown-key-later-version": Break('claim = "not-read"', 'claims = "not-read"'),
    "unknown-key-claim": Break("locator =", "locater ="),
    "unknown-key-part": Break('{ id = "b", text', '{ id = "b", name'),
    "unknown-key-dispute": Break('reported_by = "somebody"', 'reporter = "somebody"'),
    "unknown-key-source": Break('space = "owner/name"', 'spaces = "owner/name"'),
    "unknown-key-premise": Break('checked = "by-us"', 'check = "by-us"'),
    "unknown-key-implementation": Break('saw = ["release"]', 'seen = ["release"]'),
    "unknown-key-parameter": Break("tau = { type", "tau = { kind"),
    "unknown-key-probe": Break("registered_scale", "registred_scale"),
    "unknown-key-planned": Break('sd = { "8" = "0.1" }', 'std = { "8" = "0.1" }'),
    "unknown-key-control": Break(FLAT, '{ target = "model:flat", expects = "AGAINST_DISPUTE" }'),
    "unknown-key-rule": Break('alternative = "0.38"', 'alternativ = "0.38"'),
    "unknown-key-prior": Break('url = "https', 'link = "https'),
    "unknown-key-far-from-any": Break('title = "A paper"', 'title = "A paper"\nxyzzy = "?"'),
    "unknown-key-quoted": Break('title = "A paper"', 'title = "A paper"\n"ti.tle" = "?"'),
    "unknown-key-dotted": Break('locator = "abstract"', 'locator = "abstract"\nsource.page = "3"'),
    "unknown-key-multiline-inline": Break(
        PART_B, '{ id = "b", text = """the\nleading term""", note = "?" }', at="note"
    ),
    # missing fields
    "missing-table-claim": Break(BASE[BASE.index("[claim]") : BASE.index("[dispute]")], "", nowhere="claim"),
    "missing-table-probe": Break(WHOLE_PROBE, "", nowhere="probe"),
    "missing-title": Break('title = "A paper"\n', "", at="[paper]"),
    "missing-part-id": Break(PART_B, '{ text = "the leading term is H_k" }'),
    "missing-probe-kind": Break('kind = "sweep"\n', "", at="[[probe]]"),
    "missing-probe-target": Break('target = "model:term"\nscale', "scale", at="[[probe]]"),
    "missing-scale": Break(SCALE, "", at="[[probe]]"),
    "missing-rule-kind": Break('kind = "growth"\n', "", at="[probe.rule]"),
    "missing-delta": Break(f"{DELTA}\n", "", at="[probe.rule]"),
    "missing-looks": Break(f"{LOOKS}\n", "", at="[probe.rule]"),
    "missing-expect": Break(FLAT, '{ target = "model:flat" }'),
    "paper-without-identity": Break('openreview = "ESa07RwpVr"\narxiv = "2606.01342v1"\n', "", at="[paper]"),
    # words of the wrong kind
    "unknown-probe-kind": Break('kind = "sweep"', 'kind = "sweeps"'),
    "probe-kind-is-a-list": Break('kind = "sweep"', 'kind = ["sweep"]'),
    "probe-kind-is-a-number": Break('kind = "sweep"', "kind = 1"),
    "unknown-rule-kind": Break('kind = "growth"', 'kind = "difference"'),
    "rule-is-a-text": Break(BASE[BASE.index("[probe.rule]") : BASE.index("[[prior]]")], "\n", at="rule = "),
    "claim-kind": Break('kind = "theorem"', 'kind = "lemma"'),
    "premise-checked": Break('checked = "by-us"', "checked = true"),
    "later-version-word": Break('claim = "not-read"', 'claim = "unread"'),
    "saw-word": Break('saw = ["release"]', 'saw = ["release", "papers"]'),
    "about-word": Break('part = "a"\ntarget', 'part = "a"\nabout = "paper"\ntarget'),
    "law-word": Break(DELTA, f'law = "cubic"\n{DELTA}'),
    "noise-word": Break(DELTA, f'noise = "blocks"\n{DELTA}'),
    "required-is-a-word": Break('part = "a"\ntarget', 'part = "a"\nrequired = "yes"\ntarget'),
    "expectation-word": Break('expect = "AGAINST_DISPUTE"', 'expect = "AGAINST"'),
    "expectation-unknown-check": Break(EQUALS, '{ equal = "model:term" }'),
    "expectation-two-checks": Break(EQUALS, '{ equals = "model:term", values = "model:exact" }'),
    "expectation-empty": Break(EQUALS, "{ }"),
    "expectation-number": Break(EQUALS, "3"),
    "expectation-bad-target": Break(EQUALS, '{ equals = "model.term" }'),
    # names and ids
    "arxiv-without-version": Break('arxiv = "2606.01342v1"', 'arxiv = "2606.01342"'),
    "arxiv-url": Break('arxiv = "2606.01342v1"', 'arxiv = "https://arxiv.org/abs/2606.01342v1"'),
    "openreview-id": Break('openreview = "ESa07RwpVr"', 'openreview = "ESa07"'),
    "source-sha256": Break('source_sha256 = ""', 'source_sha256 = "ABCD"'),
    "target-without-module": Break('target = "model:term"\nsaw', 'target = "term"\nsaw'),
    "target-is-a-path": Break('target = "model:term"\nscale', 'target = "../model.py:term"\nscale'),
    "probe-name-with-space": Break('name = "term"', 'name = "the term"'),
    "parameter-name": Break("tau = {", '"Tau-1" = {'),
    "parameter-named-stream": Break("tau = {", "stream = {"),
    "parameter-named-as-the-axis": Break("tau = {", "k = {"),
    "parameter-named-as-a-replicate": Break("tau = {", "phases = {"),
    "replicate-named-stream": Break(REPLICATE, "replicate = { stream = 100 }"),
    "empty-claim": Break('text = "The cost is H_k + O(1)."', 'text = ""'),
    "claim-text-too-long": Break('text = "The cost is H_k + O(1)."', f'text = "{"long " * 500}"'),
    # parts and probes
    "no-parts": Break(BASE[BASE.index("parts = [") : BASE.index("[dispute]")], "parts = []\n\n"),
    "part-twice": Break('{ id = "b"', '{ id = "a"'),
    "dispute-of-unknown-part": Break('[dispute]\npart = "a"', '[dispute]\npart = "c"'),
    "dispute-of-no-part": Break('[dispute]\npart = "a"', "[dispute]\npart = []"),
    "dispute-part-is-a-number": Break('[dispute]\npart = "a"', "[dispute]\npart = 1"),
    "disputed-part-without-probe": Break('[dispute]\npart = "a"', '[dispute]\npart = ["a", "b"]'),
    "probe-of-unknown-part": Break('part = "a"\ntarget', 'part = ["a", "aa"]\ntarget'),
    "probe-name-twice": Break("[[prior]]", f"{WHOLE_PROBE}[[prior]]", at="second"),
    "claim-is-an-array": Break("[claim]", "[[claim]]"),
    "probe-is-one-table": Break("[[probe]]", "[probe]"),
    "comparison": Break(ALLEGED, f'{ALLEGED}\ncomparison = "basis.toml"'),
    # parameters
    "parameter-default-type": Break(TAU, 'tau = { type = "integer", default = "0" }'),
    "parameter-default-true": Break(TAU, 'tau = { type = "integer", default = true }'),
    "parameter-type": Break(TAU, 'tau = { type = "float", default = 0 }'),
    "rational-default": Break(RATE, 'rate = { type = "rational", default = "half" }'),
    "rational-default-integer": Break(RATE, 'rate = { type = "rational", default = 1 }'),
    "choice-not-in-list": Break(VARIANT, 'variant = { type = "choice", of = ["plain", "gated"], default = "gate" }'),
    "choice-without-list": Break(VARIANT, 'variant = { type = "choice", default = "plain" }'),
    "choice-word-twice": Break(VARIANT, 'variant = { type = "choice", of = ["plain", "plain"], default = "plain" }'),
    "list-without-choice": Break(TAU, 'tau = { type = "integer", of = ["0"], default = 0 }'),
    # scales
    "scale-is-a-number": Break(SCALE, "scale = 8\n"),
    "scale-is-a-list": Break(SCALE, "scale = [8, 16, 32, 64, 128]\n"),
    "scale-value-is-text": Break(SCALE, 'scale = { k = [8, "sixteen", 32, 64, 128] }\n'),
    "scale-value-is-float": Break(SCALE, "scale = { k = [8, 16.0, 32, 64, 128] }\n"),
    "scale-value-is-true": Break(SCALE, "scale = { k = [8, true, 32, 64, 128] }\n"),
    "scale-is-empty": Break(SCALE, "scale = { k = [] }\n"),
    "scale-without-axis": Break(SCALE, "scale = { }\n"),
    "scale-with-two-axes": Break(SCALE, "scale = { k = [8, 16, 32, 64, 128], m = [1] }\n"),
    "scale-is-unsorted": Break(SCALE, "scale = { k = [16, 8, 32, 64, 128] }\n"),
    "scale-is-repeated": Break(SCALE, "scale = { k = [8, 16, 16, 64, 128] }\n"),
    "scale-is-one": Break(SCALE, "scale = { k = [1, 16, 32, 64, 128] }\n"),
    "scale-is-negative": Break(SCALE, "scale = { k = [-8, 16, 32, 64, 128] }\n"),
    "scale-is-huge": Break(SCALE, f"scale = {{ k = [8, 16, 32, 64, {10**20}] }}\n"),
    "scale-over-many-lines": Break(SCALE, "scale = { k = [\n  8,\n  16,\n  '32', # quoted\n  64 ] }\n", at="'32'"),
    "axis-name": Break(SCALE, 'scale = { "k 1" = [8, 16, 32, 64, 128] }\n'),
    "registered-scale-axis": Break("registered_scale = { k = 128 }", "registered_scale = { K = 128 }"),
    "planned-scale": Break('sd = { "8" = "0.1" }', 'sd = { eight = "0.1" }'),
    # numbers
    "float-not-quoted": Break(DELTA, "delta = 0.19"),
    "integer-not-quoted": Break('alternative = "0.38"', "alternative = 1"),
    "float-nan": Break(DELTA, "delta = nan"),
    "date": Break('title = "A paper"', "title = 2026-06-01"),
    "huge-integer": Break("phases = 100", f"phases = {2**53}"),
    "alleged-number": Break(ALLEGED, 'alleged = { slope_per_ln_k = "about 0.38" }'),
    "alleged-not-quoted": Break(ALLEGED, "alleged = { slope_per_ln_k = 1 }"),
    "alleged-too-long": Break(ALLEGED, f'alleged = {{ slope_per_ln_k = "0.{"3" * 60}" }}'),
    "planned-sd-negative": Break('sd = { "8" = "0.1" }', 'sd = { "8" = "-0.1" }'),
    "planned-sd": Break('sd = { "8" = "0.1" }', 'sd = { "8" = "1/0" }'),
    # the rule
    "delta-is-a-word": Break(DELTA, 'delta = "small"'),
    "delta-is-zero": Break(DELTA, 'delta = "0"'),
    "delta-divides-by-zero": Break(DELTA, 'delta = "1/0"'),
    "delta-exceeds-alternative": Break(DELTA, 'delta = "0.5"'),
    "delta-has-too-large-an-exponent": Break(DELTA, 'delta = "1e99"'),
    "floor-is-negative": Break(DELTA, f'floor = "-1"\n{DELTA}'),
    "threshold-is-low": Break(DELTA, f'threshold = "20"\n{DELTA}'),
    "gamma0-is-large": Break(DELTA, f'gamma0 = "3"\n{DELTA}'),
    "looks-are-empty": Break(LOOKS, "looks = []"),
    "looks-do-not-increase": Break(LOOKS, "looks = [10, 30, 20]"),
    "looks-is-a-number": Break(LOOKS, "looks = 30"),
    "look-of-one": Break(LOOKS, "looks = [1, 20, 30]"),
    "replicate-of-none": Break(REPLICATE, "replicate = { phases = 0 }"),
    "replicate-is-a-word": Break(REPLICATE, "replicate = { phases = '100' }"),
    "replicate-name": Break(REPLICATE, 'replicate = { "Phases" = 100 }'),
    "minimum-never-reached": Break(DELTA, f"minimum_n = 1000000\n{DELTA}", at="looks"),
    "variance-with-block": Break(DELTA, f'variance = {{ "8" = "1" }}\n{DELTA}'),
    "variance-scale": Break(DELTA, f'noise = "pooled"\nvariance = {{ k8 = "1" }}\n{DELTA}', at="variance"),
    "extrapolate-word": Break(DELTA, f'extrapolate = "no"\n{DELTA}'),
}


def case_bytes(name: str) -> bytes:
    content = BREAKS[name].content
    if name == "rule-is-a-text":
        content = content.replace(b"[probe.planned]", b'rule = "growth"\n\n[probe.planned]')
    if name == "probe-name-twice":
        head, _, tail = content.rpartition(b'name = "term"')
        content = head + b'name = "term" # second' + tail
    return content


def complaint_of(name: str, folder: Path) -> BadInput:
    """What loading the broken case says, its folder written as the corpus names it."""
    case = folder / name
    case.mkdir()
    (case / "case.toml").write_bytes((CORPUS / f"{name}.toml").read_bytes())
    try:
        load(case)
    except BadInput as error:
        return BadInput(error.what, where=error.where.replace(f"{folder}/", ""), mend=error.mend)
    pytest.fail(f"{name} loads")


def written_sentences() -> dict[str, str]:
    lines = SENTENCES.read_text(encoding="utf-8").splitlines()
    return {line.partition("/")[0]: line for line in lines}


def test_the_case_that_is_broken_loads(tmp_path: Path) -> None:
    (tmp_path / "case.toml").write_text(BASE, encoding="utf-8")
    case = load(tmp_path)
    assert case.probes[0].scales == (8, 16, 32, 64, 128)
    assert [str(control.expect) for control in case.probes[0].controls] == [
        "AGAINST_DISPUTE",
        "equals model:term",
        "values model:exact",
    ]


def test_the_corpus_is_what_the_script_writes() -> None:
    assert {path.stem for path in CORPUS.glob("*.toml")} == set(BREAKS)
    differing = [name for name in BREAKS if (CORPUS / f"{name}.toml").read_bytes() != case_bytes(name)]
    assert not differing
    assert list(written_sentences()) == list(BREAKS)


@pytest.mark.parametrize("name", BREAKS)
def test_a_broken_case_gets_its_sentence(name: str, tmp_path: Path) -> None:
    error = complaint_of(name, tmp_path)
    assert error.sentence == written_sentences()[name]
    assert error.exit_code is Exit.BAD_INPUT
    broken = BREAKS[name]
    place, _, key = error.where.partition(", ")
    assert place == f"{name}/case.toml"
    if broken.nowhere:
        assert key == broken.nowhere
    else:
        line, _, key = key.partition(", ")
        assert line == f"line {line_of_break(name)}"
        assert broken.keyless or key
    assert error.what
    assert error.mend
    said = error.what + error.mend
    assert not [word for word in JARGON if word in said], said
    assert not said.endswith((".", "?", ";"))


JARGON = [
    "valid dictionary",
    "instance",
    "pydantic",
    "Table",
    "Input",
    "Value error",
    "after validation",
    "None",
    "Traceback",
]


def line_of_break(name: str) -> int:
    broken = BREAKS[name]
    lines = case_bytes(name).decode("utf-8", "surrogateescape").splitlines()
    if broken.at:
        (found,) = [number for number, line in enumerate(lines, 1) if broken.at in line]
        return found
    return next(n for n, pair in enumerate(zip(lines, BASE.splitlines(), strict=False), 1) if len(set(pair)) > 1)


def test_a_file_beyond_one_mebibyte_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "case.toml").write_text(BASE + "#" * 2**20, encoding="utf-8")
    with pytest.raises(BadInput, match=r"case\.toml: it is larger than 1 MiB; a case file is a few kilobytes\."):
        load(tmp_path)


def test_a_folder_without_a_case_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r": there is no case\.toml; name a case folder"):
        load(tmp_path / "nothing")


def test_a_strangers_key_cannot_write_to_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "case.toml").write_text(
        BASE.replace("[claim]", '"\\u001b[2J\\u202e" = 1\n[claim]', 1), encoding="utf-8"
    )
    with pytest.raises(BadInput) as caught:
        load(tmp_path)
    assert caught.value.sentence.isprintable()
    assert "\\u001b[2J\\u202e" in caught.value.sentence


def write_corpus() -> None:
    """Writes every broken case and its sentence anew."""
    CORPUS.mkdir(parents=True, exist_ok=True)
    for path in CORPUS.iterdir():
        path.unlink()
    for name in BREAKS:
        (CORPUS / f"{name}.toml").write_bytes(case_bytes(name))
    with tempfile.TemporaryDirectory() as folder:
        sentences = [complaint_of(name, Path(folder)).sentence for name in BREAKS]
    SENTENCES.write_text("".join(f"{sentence}\n" for sentence in sentences), encoding="utf-8")


if __name__ == "__main__":
    write_corpus()
