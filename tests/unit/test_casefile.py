"""What a case is: its identity, its overrides, and the files it covers."""

from __future__ import annotations

import dataclasses
import errno
import hashlib
import json
import os
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifier.casefile import Case, folder, load, override
from verifier.model.canonical import text_sha256
from verifier.model.errors import BadInput

CASE = """\
[case]
written_by = "tests"

[paper]
openreview = "ESa07RwpVr"
arxiv = "2606.01342v1"
title = "A paper"
source_sha256 = ""
later_versions = [{ arxiv = "2606.01342v3", claim = "not-read" }]

[claim]
quote = "it costs H_k"
text = "It costs H_k."
locator = "abstract"
kind = "theorem"
parts = [{ id = "a", text = "the additive term is O(1)" }, { id = "b", text = "the leading term" }]

[dispute]
part = "a"
text = "It grows."
source = { kind = "logbook", space = "owner/name", page = "2" }
alleged = { slope = "0.38" }

[[premise]]
text = "The algorithm is the paper's."
checked = "no"
source = ""

[parameters]
tau = { type = "integer", default = 0 }
rate = { type = "rational", default = "1/2" }
variant = { type = "choice", of = ["plain", "gated"], default = "plain" }

[[probe]]
name = "term"
kind = "sweep"
part = "a"
target = "model:term"
scale = { k = [8, 16, 32] }
registered_scale = { k = 64 }
controls = [{ target = "model:flat", expect = "AGAINST_DISPUTE" }]

[probe.rule]
kind = "growth"
delta = "0.19"
alternative = "0.38"
replicate = { phases = 100 }
looks = [10, 20]
"""


@pytest.fixture
def written(tmp_path: Path) -> Path:
    case = tmp_path / "case"
    (case / "data").mkdir(parents=True)
    (case / "case.toml").write_text(CASE, encoding="utf-8")
    (case / "model.py").write_text("def term(k, *, stream, phases):\n    return [k]\n", encoding="utf-8")
    (case / "data" / "table.csv").write_bytes(b"1,2\r\n\xff")
    return case


def edited(case: Path, old: str, new: str) -> Case:
    text = (case / "case.toml").read_text(encoding="utf-8")
    assert text.count(old) == 1, old
    (case / "case.toml").write_text(text.replace(old, new), encoding="utf-8")
    return load(case)


# registration


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('delta = "0.19"', 'delta = "0.18"'),
        ('delta = "0.19"', 'delta = "0.190"'),
        ("looks = [10, 20]", "looks = [10, 30]"),
        ('delta = "0.19"', 'delta = "0.19"\nthreshold = "1e4"'),
        ("scale = { k = [8, 16, 32] }\n", "scale = { k = [8, 16, 64] }\n"),
        ("registered_scale = { k = 64 }", "registered_scale = { k = 128 }"),
        ("phases = 100", "phases = 101"),
        ("default = 0", "default = 1"),
        ('default = "1/2"', 'default = "1/3"'),
        ('name = "term"', 'name = "terms"'),
        ('target = "model:term"', 'target = "model:other"'),
        ('expect = "AGAINST_DISPUTE"', 'expect = "FOR_DISPUTE"'),
        ('text = "It costs H_k."', 'text = "It costs H_k"'),
        ('text = "It grows."', 'text = "It grows!"'),
        ('alleged = { slope = "0.38" }', 'alleged = { slope = "0.39" }'),
        ('text = "The algorithm is the paper\'s."', 'text = "The algorithm is theirs."'),
        ('written_by = "tests"', 'written_by = "others"'),
        ('arxiv = "2606.01342v1"', 'arxiv = "2606.01342v2"'),
        ('part = "a"\ntarget', 'part = "a"\nrequired = false\ntarget'),
    ],
)
def test_what_could_be_argued_about_is_registered(written: Path, old: str, new: str) -> None:
    before = load(written).registration
    assert edited(written, old, new).registration != before


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('title = "A paper"', 'title = "Another title"'),
        ('source_sha256 = ""', f'source_sha256 = "{"0" * 64}"'),
        ('source_sha256 = ""\n', ""),
        ('claim = "not-read" }', 'claim = "changed" }'),
        ('later_versions = [{ arxiv = "2606.01342v3", claim = "not-read" }]\n', ""),
        ('quote = "it costs H_k"', 'quote = ""'),
        ('locator = "abstract"', 'locator = "Theorem 3"'),
        ('checked = "no"', 'checked = "by-author"'),
        ('checked = "no"\nsource = ""', 'checked = "no"\nsource = "a letter"'),
        ("[case]\n", "# a comment\n\n[case]\n"),
        ("[case]\n", "\ufeff[case]\n"),
        ("[probe.rule]", "[ 'probe' . \"rule\" ] # the same"),
        ("scale = { k = [8, 16, 32] }\n", "scale.k = [\n  8,\n  16, 32 ]\n"),
    ],
)
def test_reading_more_of_the_paper_later_keeps_the_registration(written: Path, old: str, new: str) -> None:
    before = load(written).registration
    assert edited(written, old, new).registration == before


def write(name: str, content: bytes) -> Callable[[Path], None]:
    def change(case: Path) -> None:
        path = case / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

    return change


def link(name: str, target: str) -> Callable[[Path], None]:
    return lambda case: (case / name).symlink_to(target)


@pytest.mark.parametrize(
    "change",
    [
        write("model.py", b"def term(k, *, stream, phases):\n    return [k] \n"),
        write("model.py", b"def term(k, *, stream, phases):\r\n    return [k]\r\n"),
        write("data/table.csv", b"1,2\n\xff"),
        write("helper.py", b""),
        write("data/more.bin", b"\x00"),
        write("readme.md", b"small letters are not README"),
        write("data/case.toml", b"not the case's own"),
        lambda case: (case / "data" / "table.csv").rename(case / "data" / "table2.csv"),
        lambda case: (case / "data" / "table.csv").unlink(),
    ],
)
def test_every_other_file_is_registered(written: Path, change: Callable[[Path], None]) -> None:
    before = load(written)
    change(written)
    after = load(written)
    assert after.registration != before.registration
    assert after.code_sha256 != before.code_sha256


@pytest.mark.parametrize(
    "change",
    [
        write("README.md", b"words"),
        write("README", b"words"),
        write("data/README.txt", b"words"),
        write(".hidden", b"x"),
        write(".git/config", b"x"),
        write("data/.DS_Store", b"x"),
        write("__pycache__/model.cpython-311.pyc", b"x"),
        write("__pycache__/note.txt", b"x"),
        write("data/__pycache__/x", b"x"),
        write("model.pyc", b"x"),
        write("model.term-3.py311.nbi", b"x"),
        write("model.term-3.py311.1.nbc", b"x"),
        link("linked.py", "model.py"),
        link("elsewhere", "/etc"),
        link("dangling", "nowhere"),
        lambda case: (case / "empty").mkdir(),
        lambda case: os.mkfifo(case / "pipe"),
        lambda case: (case / "model.py").chmod(0o755),
        lambda case: os.utime(case / "model.py", (1, 1)),
    ],
)
def test_what_is_no_part_of_the_case_is_not_registered(written: Path, change: Callable[[Path], None]) -> None:
    before = load(written)
    change(written)
    after = load(written)
    assert after.registration == before.registration
    assert after.files == before.files


def test_the_registration_does_not_depend_on_where_the_case_stands(
    written: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = load(written)
    moved = written.rename(written.parent / "moved")
    monkeypatch.chdir(moved)
    for name in (moved, ".", "case.toml", moved / "case.toml"):
        after = load(name)
        assert after.registration == before.registration
        assert after.name == "moved"


def test_the_registration_is_the_hash_that_the_design_describes(written: Path) -> None:
    import tomllib

    table = tomllib.loads(CASE)
    for key in ("title", "source_sha256", "later_versions"):
        del table["paper"][key]
    for key in ("quote", "locator"):
        del table["claim"][key]
    for key in ("checked", "source"):
        del table["premise"][0][key]
    files = {name: hashlib.sha256((written / name).read_bytes()).hexdigest() for name in ("data/table.csv", "model.py")}
    # these tables hold ASCII keys, texts and small integers only, for which sorted compact JSON is RFC 8785
    text = json.dumps({"case": table, "files": files, "overrides": {}}, sort_keys=True, separators=(",", ":"))
    assert load(written).registration == hashlib.sha256(text.encode()).hexdigest()


def test_loading_writes_nothing(written: Path) -> None:
    before = sorted(written.rglob("*"))
    load(written)
    assert sorted(written.rglob("*")) == before


# overrides


def test_an_override_makes_another_registration_and_is_exploratory(written: Path) -> None:
    case = load(written)
    assert not case.exploratory
    seen = {case.registration}
    for options in (
        {"scale": ["k=8,16"]},
        {"scale": ["k=8,16,64"]},
        {"set_": ["tau=1"]},
        {"set_": ["tau=-1"]},
        {"set_": ["rate=1/3"]},
        {"set_": ["variant=gated"]},
        {"set_": ["tau=1", "variant=gated"]},
        {"scale": ["k=8,16"], "set_": ["tau=1"]},
    ):
        varied = override(case, **options)
        assert varied.exploratory
        assert varied.parameters_differ == ("set_" in options)
        assert varied.registration not in seen
        seen.add(varied.registration)
    assert case.registration in seen
    assert not case.exploratory


def test_an_override_reaches_the_scales_and_settings_alone(written: Path) -> None:
    case = load(written)
    varied = override(case, scale=["k=4,8"], set_=["tau=3", "rate=0.25"])
    (probe,) = varied.probes
    assert probe.scales == (4, 8)
    assert probe.registered_scales == (8, 16, 32)
    assert probe.claim_scale == 64
    assert varied.settings == {"tau": 3, "rate": Fraction(1, 4), "variant": "plain"}
    assert varied.defaults == {"tau": 0, "rate": Fraction(1, 2), "variant": "plain"}
    assert varied.overrides == {"scale": {"k": [4, 8]}, "set": {"tau": "3", "rate": "1/4"}}
    assert varied.code_sha256 == case.code_sha256


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"scale": ["k=8,16,32"]},
        {"set_": ["tau=0"]},
        {"set_": ["rate=0.5"]},
        {"set_": ["rate=2/4"]},
        {"set_": ["variant=plain"]},
        {"scale": ["k=8,16,32"], "set_": ["tau=00", "rate=5e-1"]},
    ],
)
def test_what_equals_the_registered_case_is_no_override(written: Path, options: dict[str, list[str]]) -> None:
    case = load(written)
    same = override(case, **options)
    assert same.registration == case.registration
    assert not same.exploratory
    assert not same.parameters_differ
    assert same.settings == case.settings


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"scale": ["8,16"]}, '--scale: "8,16" is not of the form AXIS=8,16,32; write --scale AXIS=8,16,32.'),
        ({"scale": ["k="]}, '--scale: "k=" is not of the form'),
        ({"scale": ["n=8,16"]}, '--scale: no probe sweeps over "n"; the only valid axis is k.'),
        ({"scale": ["k=8,x"]}, '--scale: "x" is not a scale; write whole numbers, like k=8,16,32.'),
        ({"scale": ["k=8,16.0"]}, '--scale: "16.0" is not a scale'),
        ({"scale": ["k=8,-16"]}, '--scale: "-16" is not a scale'),
        ({"scale": ["k=8,,16"]}, '--scale: "" is not a scale'),
        ({"scale": ["k=8,٣"]}, "is not a scale"),
        ({"scale": [f"k=8,{10**16}"]}, "is not a scale"),
        ({"scale": ["k=16,8"]}, "--scale: 8 follows 16; list each scale once, in order."),
        ({"scale": ["k=8,8"]}, "--scale: 8 follows 8"),
        ({"scale": ["k=1,8"]}, "--scale: a growth sweep has no scale below 2"),
        ({"scale": ["k=0"]}, "--scale: a growth sweep has no scale below 2"),
        ({"scale": ["k=8,16", "k=8,32"]}, "--scale: k is given twice; give each axis once."),
        ({"set_": ["tau"]}, '--set: "tau" is not of the form NAME=VALUE; write --set NAME=VALUE.'),
        ({"set_": ["tua=1"]}, '--set: the case has no parameter "tua"; the nearest valid one is tau.'),
        ({"set_": ["tau=1.5"]}, '--set tau: "1.5" is not a whole number; write digits without quotes.'),
        ({"set_": ["tau=one"]}, '--set tau: "one" is not a whole number'),
        ({"set_": [f"tau={2**53}"]}, "--set tau: "),
        ({"set_": [f"tau={'9' * 5000}"]}, "--set tau: "),
        ({"set_": ["rate=half"]}, '--set rate: "half" is not a number; write one like "0.38", "1e4" or "-7/3".'),
        ({"set_": ["rate=1/0"]}, '--set rate: "1/0" divides by zero'),
        (
            {"set_": ["variant=gate"]},
            '--set variant: "gate" is not a choice of variant; the nearest valid one is gated.',
        ),
        ({"set_": ["tau=1", "tau=2"]}, "--set: tau is given twice; give each parameter once."),
    ],
)
def test_a_wrong_option_gets_one_sentence(written: Path, options: dict[str, list[str]], says: str) -> None:
    case = load(written)
    with pytest.raises(BadInput) as caught:
        override(case, **options)
    assert caught.value.sentence.startswith(says) or says in caught.value.sentence
    assert caught.value.where.startswith("--scale" if "scale" in options else "--set")
    assert caught.value.mend


# claims and disputes


@pytest.mark.parametrize(
    "same",
    ["It costs  H_k.", " It costs H_k.\t", "It\ncosts\r\n H_k.", "It\u00a0costs\u2003H_k."],
)
def test_white_space_does_not_make_another_claim(same: str) -> None:
    assert text_sha256(same) == text_sha256("It costs H_k.") == hashlib.sha256(b"It costs H_k.").hexdigest()


@pytest.mark.parametrize("other", ["It costs H_k", "it costs H_k.", "Itcosts H_k.", "It costs H\u2096."])
def test_other_words_make_another_claim(other: str) -> None:
    assert text_sha256(other) != text_sha256("It costs H_k.")


def test_composed_and_decomposed_letters_are_the_same_claim() -> None:
    assert text_sha256("Erd\u0151s") == text_sha256("Erdo\u030bs") == hashlib.sha256("Erd\u0151s".encode()).hexdigest()


@given(st.text())
def test_a_claims_hash_is_that_of_its_normalised_text(text: str) -> None:
    import unicodedata

    try:
        expected = re.sub(r"\s+", " ", unicodedata.normalize("NFC", text)).strip().encode()
    except UnicodeEncodeError:
        return  # a lone surrogate is no text
    assert text_sha256(text) == hashlib.sha256(expected).hexdigest()


def test_a_claim_is_its_text_and_a_quote_its_quote(written: Path) -> None:
    case = load(written)
    assert case.claim_sha256 == text_sha256("It costs H_k.")
    assert case.quote_sha256 == text_sha256("it costs H_k")
    assert not case.claim.paraphrase
    assert edited(written, 'quote = "it costs H_k"\n', "").claim.paraphrase


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ('text = "It grows."', 'text = "It grows fast."', True),
        ('page = "2"', 'page = "3"', True),
        ('title = "A paper"', 'title = "B"', True),
        ('arxiv = "2606.01342v1"', 'arxiv = "2606.01342v2"', True),
        ('delta = "0.19"', 'delta = "0.1"', True),
        ('openreview = "ESa07RwpVr"', 'openreview = "ESa07RwpVs"', False),
        ('text = "It costs H_k."', 'text = "It costs less."', False),
        ('text = "It costs H_k."', 'text = "It  costs H_k. "', True),
        ('space = "owner/name"', 'space = "owner/other"', False),
        ('kind = "logbook"', 'kind = "issue"', False),
        ('[dispute]\npart = "a"', '[dispute]\npart = ["a"]', True),
        ('source = { kind = "logbook", space = "owner/name"', 'source = { kind = "logbook", url = "owner/name"', False),
    ],
)
def test_what_makes_a_dispute_the_same(written: Path, old: str, new: str, *, same: bool) -> None:
    before = load(written).dispute_id
    assert (edited(written, old, new).dispute_id == before) == same


def test_a_dispute_without_openreview_goes_by_arxiv_without_version(written: Path) -> None:
    case = edited(written, 'openreview = "ESa07RwpVr"\n', "")
    assert case.paper.identity == "arxiv:2606.01342"
    assert edited(written, 'arxiv = "2606.01342v1"', 'arxiv = "2606.01342v2"').dispute_id == case.dispute_id
    assert edited(written, 'arxiv = "2606.01342v2"', 'arxiv = "cond-mat/0601342v2"').paper.identity == (
        "arxiv:cond-mat/0601342"
    )


# the folder


def test_a_folder_is_bounded_in_files_and_bytes(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, "MAX_FILES", 2)
    load(written)
    (written / "third.py").write_bytes(b"")
    with pytest.raises(BadInput, match="the folder holds more than 2 files or 64 MiB; keep only what the case needs"):
        load(written)
    (written / "third.py").unlink()
    monkeypatch.setattr(folder, "MAX_BYTES", 100)
    (written / "model.py").write_bytes(b"#" * 101)
    with pytest.raises(BadInput, match="the folder holds more than"):
        load(written)


def test_nothing_behind_a_link_is_read(written: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_bytes(b"secret")
    (written / "folder").symlink_to(outside)
    (written / "file.txt").symlink_to(outside / "secret.txt")
    assert set(load(written).files) == {"model.py", "data/table.csv"}


def test_a_file_that_cannot_be_read_is_named(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = Path.read_bytes

    def refuse(path: Path) -> bytes:  # rights would not stop root
        if path.name == "model.py":
            raise PermissionError(errno.EACCES, "Permission denied")
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(BadInput, match=r"model\.py: it cannot be read \(Permission denied\); check its rights"):
        load(written)


def test_a_case_says_what_it_is(written: Path) -> None:
    case = load(written)
    assert case.name == "case"
    assert case.dispute.parts == ("a",)
    assert case.dispute.source == {"kind": "logbook", "space": "owner/name", "page": "2"}
    assert [premise.checked for premise in case.premises] == ["no"]
    (probe,) = case.probes
    assert sorted(probe.targets) == ["model:flat", "model:term"]
    assert (probe.axis, probe.scales, probe.claim_scale) == ("k", (8, 16, 32), 64)
    assert dataclasses.asdict(probe.rule)["delta"] == Fraction(19, 100)
