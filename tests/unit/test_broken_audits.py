"""A corpus of broken audit files, each with the one sentence that a person gets.

`python tests/unit/test_broken_audits.py` writes tests/corpus/audits anew from BASES and BREAKS; the tests hold the
folder to both. A changed sentence shows in the diff of `sentences.txt`, where it is to be read as its reader would.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from verifier.audits import audit_file
from verifier.model.errors import BadInput, Exit

CORPUS = Path(__file__).parent.parent / "corpus" / "audits"
SENTENCES = CORPUS / "sentences.txt"

BASES = {
    "records": """\
[left]
label = "method"
value = "3.2"
unit = "s"
per = { thing = "batch", holds = { trajectory = 50 } }

[right]
label = "baseline"
value = "0.512"
unit = "s"
per = { thing = "trajectory" }

[comparison]
kind = "factor"
better = "lower"
claimed = "6.25"
measures = "throughput"
""",
    "declared": """\
[left]
label = "method"
value = "2"
unit = "GFLOP"

[right]
label = "baseline"
value = "1"
unit = "GMAC"

[comparison]
kind = "factor"

[declared]
factors = [{ name = "FLOP per MAC", value = "2", source = "the appendix" }]
""",
    "reconcile": """\
[reconcile]
claimed = "2"
against = "1/8"
declared = [{ name = "trajectory per batch", value = "50", side = "left" }]
tolerance = "0.02"
""",
    "dilution": """\
[dilution]
measured = { baseline = "5.11", variant = "5.27" }
p = "0.66"
pad_loss = { value = "0", max = "0.05" }
pad_loss_difference = "0"
printed_deflation = { of = "perplexity", factor = "3" }
threshold = "1.25"
""",
    "closure": """\
[closure]
identity = "mean"
terms = ["62.0", "47.9"]
printed = "55.0"
weights = ["1", "1"]
""",
    "granularity": """\
[granularity]
printed = ["42.9"]
n = 68
""",
    "speed": """\
[speed]
before = "9.42"
after = "5.27"
claimed = "78.7"
as = "percent-faster"
""",
    "selection": """\
[selection]
left = { label = "ours", trials = 3, best = "0.9" }
right = { label = "theirs", trials = 30, best = "0.8" }
sd = "0.1"
""",
    "inline": """\
[arrays]
loss = [["3", "2"], ["4"]]
mask = [[1, 1], [1]]
batch = [0, 0]
""",
    "file": """\
[arrays]
path = "losses.csv"
columns = { loss = "nll", mask = "real" }
""",
}

ARRAYS: dict[str, bytes] = {
    "losses.csv": b"nll,real\n3,1\n2,1\n0,0\n",
    "nan.csv": b"nll,real\n3,1\nnan,1\n",
    "infinite.csv": b"nll,real\n3,1\n1e999,1\n",
    "ragged.csv": b"nll,real\n3,1\n3\n",
    "mask-of-two.csv": b"nll,real\n3,1\n2,2\n",
    "all-padding.csv": b"nll,real\n3,0\n",
    "header-only.csv": b"nll,real\n",
    "empty.csv": b"",
    "binary.csv": bytes(range(256)),
    "latin.csv": b"nll,real\n3,1\n\xe9,1\n",
    "long-line.csv": b"nll,real\n" + b"1" * 200_000,
    "wide.csv": b"nll,nll,real\n1,1,1\n",
    "broken.npz": b"PK\3\4" + bytes(60),
    "broken.parquet": b"PAR1" + bytes(60),
    "pickled.pkl": b"\x80\4.",
}
"""Files that stand beside the audit files."""

FOREIGN = {"broken.parquet": "pyarrow"}
"""What only another package can read."""


@dataclass(frozen=True)
class Break:
    """`old` in a base becomes `new`.

    The sentence must name the line that contains `at`, else the first line that changed, and `key`, if there is one.
    `lineless`: it is about the file as a whole.
    """

    base: str
    old: str
    new: str
    key: str = ""
    at: str = ""
    lineless: bool = False

    @property
    def content(self) -> bytes:
        text = BASES[self.base]
        assert text.count(self.old) == 1, self.old
        return text.replace(self.old, self.new).encode("utf-8", "surrogateescape")


WHOLE = BASES["granularity"]
BATCH = 'per = { thing = "batch", holds = { trajectory = 50 } }'


def beside(name: str, key: str = "arrays", *, columns: str = '{ loss = "nll", mask = "real" }') -> Break:
    """The arrays of another file."""
    old = 'path = "losses.csv"\ncolumns = { loss = "nll", mask = "real" }'
    return Break("file", old, f'path = "{name}"\ncolumns = {columns}', key, at="[arrays]" if key == "arrays" else "")


BREAKS: dict[str, Break] = {
    # the file
    "empty": Break("granularity", WHOLE, "", lineless=True),
    "only-a-comment": Break("granularity", WHOLE, "# nothing\n", lineless=True),
    "not-utf8": Break("records", '"baseline"', '"b\udce4seline"'),
    "byte-order-mark": Break("granularity", "[granularity]", "\ufeff[granularity]", lineless=True),
    "null-bytes": Break("granularity", WHOLE, "\0" * 100, at="\0"),
    "binary": Break("granularity", WHOLE, "\x7fELF\2\1\1\0\udcff\udcfe", at="ELF"),
    "an-archive": Break("granularity", WHOLE, "PK\3\4\n\0", at="PK"),
    "not-toml": Break("granularity", "n = 68", "n = sixty"),
    "json": Break("granularity", WHOLE, '{"granularity": {"n": 68}}\n', at="granularity"),
    "same-key-twice": Break("granularity", "n = 68", "n = 68\nn = 69", at="69"),
    "same-table-twice": Break("granularity", "n = 68", "n = 68\n[granularity]", at="n = 68\n[granularity]"[7:]),
    "nested-too-deeply": Break("granularity", "n = 68", f"n = {'[' * 40}{']' * 40}"),
    "nested-beyond-the-parser": Break("granularity", "n = 68", f"n = {'[' * 5000}{']' * 5000}", lineless=True),
    "keys-nested-too-deeply": Break("granularity", "n = 68", f"{'a.' * 60}a = 1"),
    "a-long-word": Break("granularity", "n = 68", f'n = "{"9" * 20_000}"', "granularity.n"),
    # tables and keys
    "unknown-table": Break("records", "[comparison]", "[comparision]", "comparision"),
    "unknown-key": Break("records", "measures", "measure", "comparison.measure"),
    "unknown-key-record": Break("records", 'label = "baseline"', 'lable = "baseline"', "right.lable"),
    "unknown-key-per": Break("records", "holds", "hold", "left.per.hold"),
    "unknown-key-dilution": Break("dilution", "pad_loss_difference", "pad_loss_diff", "dilution.pad_loss_diff"),
    "unknown-key-pad-loss": Break("dilution", "max = ", "most = ", "dilution.pad_loss.most"),
    "unknown-key-columns": Break("file", "loss =", "losses =", "arrays.columns.losses"),
    "unknown-key-selection": Break("selection", "sd =", "std =", "selection.std"),
    "a-table-is-a-value": Break("granularity", WHOLE, "speed = 3\n", "speed", at="speed"),
    "a-table-is-a-list": Break("granularity", "[granularity]", "[[granularity]]", "granularity"),
    "missing-value": Break("records", 'value = "0.512"\n', "", "right.value", at="[right]"),
    "missing-n": Break("granularity", "n = 68\n", "", "granularity", at="[granularity]"),
    "left-alone": Break("granularity", WHOLE, '[left]\nlabel = "a"\nvalue = "1"\n', "left", at="[left]"),
    "declared-alone": Break("granularity", "n = 68", "n = 68\n\n[declared]\nfactors = []", "declared", at="[declared]"),
    "asks-nothing": Break("granularity", WHOLE, "[declared]\nfactors = []\n", "declared", at="[declared]"),
    # numbers
    "number-is-a-word": Break("records", '"0.512"', '"half"', "right.value"),
    "number-with-a-unit": Break("records", '"0.512"', '"0.512 s"', "right.value"),
    "number-with-a-comma": Break("records", '"0.512"', '"0,512"', "right.value"),
    "number-is-nan": Break("records", '"0.512"', '"nan"', "right.value"),
    "number-is-infinite": Break("records", '"0.512"', '"inf"', "right.value"),
    "number-without-quotes": Break("records", '"0.512"', "0.512", "right.value"),
    "number-is-a-bare-nan": Break("records", '"0.512"', "nan", "right.value"),
    "number-is-whole": Break("records", '"0.512"', "1", "right.value"),
    "number-is-true": Break("records", '"0.512"', "true", "right.value"),
    "number-is-code": Break("records", '"0.512"', "\"__import__('os')\"", "right.value"),
    "number-divides-by-zero": Break("records", '"0.512"', '"1/0"', "right.value"),
    "number-with-many-digits": Break("records", '"0.512"', f'"{"9" * 50}"', "right.value"),
    "number-with-very-many-digits": Break("records", '"0.512"', f'"{"9" * 5_000}"', "right.value"),
    "number-with-a-large-exponent": Break("records", '"0.512"', '"1e400"', "right.value"),
    "number-with-a-huge-exponent": Break("records", '"0.512"', '"1e999999999"', "right.value"),
    "whole-number-beyond-a-double": Break("granularity", "68", "9" * 30, "granularity.n"),
    "value-is-zero": Break("records", '"0.512"', '"0"', "left", at="[left]"),
    "value-is-negative": Break("records", '"0.512"', '"-1"', "left", at="[left]"),
    "a-date": Break("granularity", "68", "1979-05-27", "granularity.n"),
    # units
    "unit-unknown": Break("records", 'value = "3.2"\nunit = "s"', 'value = "3.2"\nunit = "zorkmid"', "left.unit"),
    "unit-misspelt": Break("records", 'value = "3.2"\nunit = "s"', 'value = "3.2"\nunit = "secnd"', "left.unit"),
    "unit-is-code": Break("records", 'value = "3.2"\nunit = "s"', 'value = "3.2"\nunit = "s.real"', "left.unit"),
    "unit-to-a-large-power": Break(
        "records", 'value = "3.2"\nunit = "s"', 'value = "3.2"\nunit = "s^999"', "left.unit"
    ),
    "unit-read-two-ways": Break(
        "records", 'value = "3.2"\nunit = "s"', 'value = "3.2"\nunit = "J/token*s"', "left.unit"
    ),
    "thing-unknown": Break("records", "batch", "bacth", "left.per.thing"),
    "thing-is-a-quotient": Break("records", '"batch"', '"tokens/s"', "left.per.thing"),
    "held-unknown": Break("records", "trajectory = 50", "trajectorx = 50", "left.per.holds.trajectorx"),
    "held-none": Break("records", "trajectory = 50", "trajectory = 0", "left.per.holds.trajectory"),
    "held-fewer-than-none": Break("records", "trajectory = 50", 'trajectory = "-3"', "left.per.holds.trajectory"),
    "held-is-a-list": Break("records", BATCH, 'per = { thing = "batch", holds = [50] }', "left.per.holds"),
    # words
    "kind-unknown": Break("records", '"factor"', '"ratio"', "comparison.kind"),
    "better-against-the-comparison": Break(
        "records", 'label = "baseline"', 'label = "baseline"\nbetter = "higher"', "left", at="[left]"
    ),
    "better-unknown": Break("records", '"lower"', '"smaller"', "comparison.better"),
    "measures-unknown": Break("records", '"throughput"', '"speed"', "comparison.measures"),
    # declared factors
    "factor-is-zero": Break("declared", 'value = "2", source', 'value = "0", source', "declared.factors[0].value"),
    "factor-is-negative": Break("declared", 'value = "2", source', 'value = "-2", source', "declared.factors[0].value"),
    "factor-without-a-name": Break("declared", 'name = "FLOP per MAC", ', "", "declared.factors[0].name"),
    "factor-side-unknown": Break("reconcile", 'side = "left"', 'side = "top"', "reconcile.declared[0].side"),
    "ratio-is-zero": Break("reconcile", 'claimed = "2"', 'claimed = "0"', "reconcile", at="[reconcile]"),
    "ratio-is-negative": Break("reconcile", '"1/8"', '"-1/8"', "reconcile", at="[reconcile]"),
    "tolerance-is-negative": Break("reconcile", '"0.02"', '"-0.02"', "reconcile", at="[reconcile]"),
    # dilution
    "share-is-one": Break("dilution", '"0.66"', '"1"', "dilution.p"),
    "share-in-percent": Break("dilution", '"0.66"', '"66"', "dilution.p"),
    "share-is-negative": Break("dilution", '"0.66"', '"-0.1"', "dilution.p"),
    "perplexity-is-a-loss": Break("dilution", '"5.11"', '"0.51"', "dilution.measured.baseline"),
    "perplexity-is-zero": Break("dilution", '"5.27"', '"0"', "dilution.measured.variant"),
    "pad-loss-is-negative": Break("dilution", 'value = "0"', 'value = "-1"', "dilution.pad_loss.value"),
    "pad-loss-above-its-largest": Break("dilution", 'value = "0"', 'value = "1"', "dilution.pad_loss.max"),
    "deflation-is-zero": Break("dilution", 'factor = "3"', 'factor = "0"', "dilution.printed_deflation.factor"),
    "deflation-of-what": Break("dilution", '"perplexity"', '"accuracy"', "dilution.printed_deflation.of"),
    "threshold-is-zero": Break("dilution", '"1.25"', '"0"', "dilution.threshold"),
    # identities between printed numbers
    "identity-unknown": Break("closure", '"mean"', '"median"', "closure.identity"),
    "identity-with-other-terms": Break(
        "closure", 'identity = "mean"', 'identity = "dilution"', "closure.terms", at="terms"
    ),
    "terms-are-none": Break("closure", '["62.0", "47.9"]', "[]", "closure.terms"),
    "terms-are-one-number": Break("closure", '["62.0", "47.9"]', '"62.0"', "closure.terms"),
    "weights-are-too-few": Break("closure", '["1", "1"]', '["1"]', "closure.weights"),
    "weights-are-zero": Break("closure", '["1", "1"]', '["0", "1"]', "closure.weights"),
    "percentage-above-100": Break("granularity", '"42.9"', '"429"', "granularity", at="[granularity]"),
    "percentage-is-a-fraction": Break("granularity", '"42.9"', '"3/7"', "granularity", at="[granularity]"),
    "percentage-is-no-number": Break("granularity", '"42.9"', '"42.9%"', "granularity.printed[0]"),
    "items-are-none": Break("granularity", "68", "0", "granularity.n"),
    "items-are-too-many": Break("granularity", "68", "10000000000", "granularity.n"),
    "time-is-zero": Break("speed", '"9.42"', '"0"', "speed", at="[speed]"),
    "said-as-unknown": Break("speed", '"percent-faster"', '"percent"', "speed.as"),
    "trials-are-none": Break("selection", "trials = 3,", "trials = 0,", "selection.left.trials"),
    "trials-without-bound": Break(
        "selection", "trials = 3,", "trials = 1000000000000,", "selection.ours", at="[selection]"
    ),
    "scores-do-not-count": Break(
        "selection", 'trials = 3, best = "0.9"', 'trials = 3, scores = ["0.9"]', "selection.ours", at="[selection]"
    ),
    "best-is-not-of-its-scores": Break(
        "selection",
        'trials = 3, best = "0.9"',
        'trials = 3, best = "0.9", scores = ["0.7", "0.6", "0.5"]',
        "selection.ours",
        at="[selection]",
    ),
    "spread-is-zero": Break("selection", '"0.1"', '"0"', "selection.sd"),
    # arrays in the file
    "mask-row-of-another-length": Break("inline", "[1, 1], [1]", "[1, 1], [1, 1]", "arrays.mask"),
    "mask-of-other-rows": Break("inline", "[[1, 1], [1]]", "[[1, 1]]", "arrays.mask"),
    "mask-is-flat": Break("inline", "[[1, 1], [1]]", "[1, 1, 1]", "arrays.mask[0]"),
    "mask-entry-is-two": Break("inline", "[1, 1]", "[1, 2]", "arrays.mask[0][1]"),
    "mask-is-all-padding": Break("inline", "[[1, 1], [1]]", "[[0, 0], [0]]", "arrays", at="[arrays]"),
    "batch-of-another-length": Break("inline", "batch = [0, 0]", "batch = [0]", "arrays.batch"),
    "loss-is-nan": Break("inline", '"3"', '"nan"', "arrays.loss[0][0]"),
    "loss-is-a-bare-nan": Break("inline", '"3"', "nan", "arrays.loss[0][0]"),
    "losses-are-none": Break("inline", '[["3", "2"], ["4"]]', "[]", "arrays.loss"),
    "losses-are-flat": Break("inline", '[["3", "2"], ["4"]]', '["3", "2"]', "arrays.loss[0]"),
    "losses-nowhere": Break("inline", 'loss = [["3", "2"], ["4"]]\n', "", "arrays", at="[arrays]"),
    # arrays beside the file
    "path-and-values": Break("file", "columns =", 'loss = [["1"]]\ncolumns =', "arrays.loss"),
    "path-without-columns": Break("file", 'columns = { loss = "nll", mask = "real" }\n', "", "arrays", at="[arrays]"),
    "path-to-nothing": beside("absent.csv", "arrays.path"),
    "path-out-of-the-folder": beside("../losses.csv", "arrays.path"),
    "path-from-the-root": beside("/etc/passwd", "arrays.path"),
    "path-with-a-null": beside("a\\u0000.csv", "arrays.path"),
    "path-of-another-kind": beside("pickled.pkl", "arrays.path"),
    "column-missing": beside("losses.csv", columns='{ loss = "loss" }'),
    "column-named-twice": beside("losses.csv", columns='{ loss = "nll", mask = "nll" }'),
    "column-stands-twice": beside("wide.csv"),
    **{
        f"arrays-{Path(name).stem}-{Path(name).suffix[1:]}": beside(name)
        for name in ARRAYS
        if name not in ("losses.csv", "pickled.pkl", "wide.csv")
    },
}


def complaint_of(name: str, folder: Path) -> BadInput:
    """What the file `name` is refused with."""
    here = folder / "audits"
    here.mkdir(exist_ok=True)
    content = BREAKS[name].content
    for other in [other for other in ARRAYS if other.encode() in content]:
        (here / other).write_bytes(ARRAYS[other])
    (here / f"{name}.toml").write_bytes(content)
    with contextlib.chdir(folder), pytest.raises(BadInput) as caught:
        audit_file(Path("audits") / f"{name}.toml")
    return caught.value


def readable(name: str) -> bool:
    """Whether the packages that the broken file's kind needs are there."""
    packages = [package for file, package in FOREIGN.items() if file.encode() in BREAKS[name].content]
    for package in packages:
        pytest.importorskip(package)
    return True


@pytest.mark.parametrize("base", BASES)
def test_the_bases_are_in_order(tmp_path: Path, base: str) -> None:
    (tmp_path / "losses.csv").write_bytes(ARRAYS["losses.csv"])
    (tmp_path / "base.toml").write_text(BASES[base])
    assert audit_file(tmp_path / "base.toml")


@pytest.mark.parametrize("name", BREAKS)
def test_each_is_one_sentence_with_file_line_and_key(tmp_path: Path, name: str) -> None:
    assert readable(name)
    error, broken = complaint_of(name, tmp_path), BREAKS[name]
    assert error.exit_code is Exit.BAD_INPUT
    file, *place = error.where.split(", ")
    assert file == f"audits/{name}.toml"
    if broken.lineless:
        assert not place
    else:
        assert place[0].removeprefix("line ") in lines_of_break(broken), error.where
    if broken.key:
        assert place[1] == broken.key
    assert error.sentence.isprintable()
    assert len(error.sentence) < 400
    assert error.what
    assert error.mend
    said = error.what + error.mend
    assert not [word for word in JARGON if word in said], said
    assert not said.endswith((".", "?", ";"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["audits"]


JARGON = ["valid dictionary", "instance", "pydantic", "Table", "Value error", "None", "Traceback", "constrained"]


def lines_of_break(broken: Break) -> list[str]:
    """The number of the line that the sentence must name; of the column too, where the text is no TOML."""
    lines = broken.content.decode("utf-8", "surrogateescape").splitlines()
    base = BASES[broken.base].splitlines()
    if broken.at:
        found = [number for number, line in enumerate(lines, 1) if broken.at in line][-1]
    else:
        found = next(n for n, pair in enumerate(zip(lines, base, strict=False), 1) if len(set(pair)) > 1)
    return [str(found)]


@pytest.mark.parametrize("name", BREAKS)
def test_the_corpus_is_what_the_breaks_say(name: str) -> None:
    assert (CORPUS / f"{name}.toml").read_bytes() == BREAKS[name].content


def test_the_corpus_holds_nothing_else(tmp_path: Path) -> None:
    assert {path.stem for path in CORPUS.glob("*.toml")} == set(BREAKS)
    said = SENTENCES.read_text(encoding="utf-8").splitlines()
    foreign = ("arrays-broken-parquet",)  # another package's words
    again = [complaint_of(name, tmp_path).sentence for name in BREAKS if name not in foreign]
    assert again == [line for line in said if not any(f"{name}.toml" in line for name in foreign)]


def test_a_file_of_two_mebibytes_is_not_read_whole(tmp_path: Path) -> None:
    (tmp_path / "large.toml").write_text(WHOLE + "#" * 2**21)
    with pytest.raises(BadInput, match=r"large\.toml: the file has more than 1 MiB; put long arrays into a CSV"):
        audit_file(tmp_path / "large.toml")


def test_what_is_no_file_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "folder.toml").mkdir()
    os.mkfifo(tmp_path / "pipe.toml")
    (tmp_path / "loop.toml").symlink_to("loop.toml")
    for name, words in [
        ("folder.toml", "directory"),
        ("pipe.toml", "it is no file"),
        ("loop.toml", "cannot be read"),
        ("absent.toml", "no such file"),
        ("null\0.toml", "it is no path"),
    ]:
        with pytest.raises(BadInput, match=words) as caught:
            audit_file(tmp_path / name)
        assert caught.value.exit_code is Exit.BAD_INPUT


def test_arrays_that_are_no_plain_file_are_refused(tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    (tmp_path / "outside.csv").write_bytes(ARRAYS["losses.csv"])
    (here / "folder.csv").mkdir()
    os.mkfifo(here / "pipe.csv")
    (here / "link.csv").symlink_to(tmp_path / "outside.csv")
    with (here / "large.csv").open("wb") as file:
        file.truncate(10 << 30)
    for name, words in [
        ("folder.csv", "is no file"),
        ("pipe.csv", "is no file"),
        ("link.csv", "leads out of the file's folder"),
        ("large.csv", "holds 10.0 GiB"),
    ]:
        (here / "audit.toml").write_text(BASES["file"].replace("losses.csv", name))
        with pytest.raises(BadInput, match=rf"audit\.toml, line 2, arrays\.path: \"{name}\" {words}"):
            audit_file(here / "audit.toml")


def test_a_strangers_key_cannot_write_to_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "audit.toml").write_text(f'{WHOLE}"\\u001b[2J\\u202e" = 1\n', encoding="utf-8")
    with pytest.raises(BadInput) as caught:
        audit_file(tmp_path / "audit.toml")
    assert caught.value.sentence.isprintable()
    assert "\\u001b[2J\\u202e" in caught.value.sentence


def write_corpus() -> None:
    """Writes every broken file and its sentence anew."""
    CORPUS.mkdir(parents=True, exist_ok=True)
    for path in CORPUS.iterdir():
        path.unlink()
    for name, broken in BREAKS.items():
        (CORPUS / f"{name}.toml").write_bytes(broken.content)
    with tempfile.TemporaryDirectory() as folder:
        sentences = [complaint_of(name, Path(folder)).sentence for name in BREAKS]
    SENTENCES.write_text("".join(f"{sentence}\n" for sentence in sentences), encoding="utf-8")


if __name__ == "__main__":
    write_corpus()
