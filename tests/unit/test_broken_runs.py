"""A corpus of broken CSV files of runs, each with the one sentence that a person gets.

`python tests/unit/test_broken_runs.py` writes tests/corpus/runs anew from BASE and BREAKS; the tests hold the folder to
both. A changed sentence shows in the diff of `sentences.txt`, where it is to be read as its reader would.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from verifier.model.errors import BadInput, Exit
from verifier.stats.run_csv import read_runs

CORPUS = Path(__file__).parent.parent / "corpus" / "runs"
SENTENCES = CORPUS / "sentences.txt"

BASE = """\
k,seed,arm,item,team,value
8,1,left,easy,red,0.5
8,1,right,easy,red,0.75
8,2,left,easy,red,1/3
8,2,right,easy,red,
16,1,left,"hard, long",blue,-2
16,1,right,"hard, long",blue,1e-3
"""

SUMS = """\
k,seed,n,sum,sum_sq
8,1,4,10,30
8,2,4,12,40
16,1,4,5/2,7
16,2,,,
"""

INGESTED = """\
k,replicate,value,unit,stream,job,hardware,started,log_sha256
8,1,0.5,u1,3,j1,h100,2026-06-01T10:00:00Z,ab
8,2,0.6,u2,4,j1,h100,2026-06-01T10:00:00Z,cd
"""


@dataclass(frozen=True)
class Break:
    """`old` in `base` becomes `new`; the sentence must name `line`. needs, ingest: as the reader is called."""

    line: int
    old: str
    new: str
    base: str = BASE
    needs: tuple[str, ...] = ()
    ingest: bool = False

    @property
    def content(self) -> bytes:
        assert self.base.count(self.old) == 1, self.old
        return self.base.replace(self.old, self.new).encode("utf-8", "surrogateescape")


HEADER = "k,seed,arm,item,team,value"
FIRST = "8,1,left,easy,red,0.5\n"

BREAKS: dict[str, Break] = {
    # the file
    "empty": Break(0, BASE, ""),
    "blank-lines-only": Break(0, BASE, "\n\n\n"),
    "not-utf8": Break(2, FIRST, "8,1,left,easy,r\udce4d,0.5\n"),
    "semicolons": Break(1, BASE, BASE.replace(",", ";")),
    "tabs": Break(1, BASE, BASE.replace(",", "\t")),
    "mark-not-closed": Break(6, '16,1,left,"hard, long"', '16,1,left,"hard, long'),
    "mark-inside": Break(2, FIRST, '8,1,left,"ea"sy",red,0.5\n'),
    "cell-over-two-lines": Break(2, FIRST, '8,1,left,"ea\nsy",red,0.5\n'),
    "cell-too-long": Break(2, FIRST, f"8,1,left,{'easy' * 60},red,0.5\n"),
    "cell-too-few": Break(2, FIRST, "8,1,left,easy,red\n"),
    "cell-too-many": Break(2, FIRST, "8,1,left,easy,red,0,5\n"),
    "columns-too-many": Break(1, BASE, f"{','.join('abcdefgh' * 6)}\n"),
    # the header
    "no-header": Break(1, f"{HEADER}\n", "8,0,1,1,1,0.5\n"),
    "no-value": Break(1, BASE, "k,seed\n8,1\n"),
    "no-replicate": Break(1, BASE, "k,value\n8,0.5\n"),
    "no-scale": Break(1, BASE, "seed,value\n1,0.5\n", needs=("k",)),
    "no-arm": Break(1, BASE, "k,seed,value\n8,1,0.5\n", needs=("arm",)),
    "unknown-column": Break(1, HEADER, "k,seed,arm,item,team,values"),
    "unknown-column-far-from-any": Break(1, HEADER, "k,seed,arm,item,team,accuracy"),
    "column-without-name": Break(1, HEADER, ",seed,arm,item,team,value"),
    "column-in-capitals": Break(1, HEADER, "k,Seed,arm,item,team,value"),
    "column-twice": Break(1, HEADER, "k,seed,arm,arm,team,value"),
    "seed-and-replicate": Break(1, HEADER, "k,seed,arm,replicate,team,value"),
    "value-and-sums": Break(1, HEADER, "k,seed,n,sum,sum_sq,value"),
    "sums-without-squares": Break(1, "k,seed,n,sum,sum_sq", "k,seed,n,sum,item", base=SUMS),
    "column-of-ingest": Break(1, HEADER, "k,seed,arm,item,started,value"),
    # keys
    "scale-is-text": Break(3, "8,1,right", "small,1,right"),
    "scale-is-zero": Break(3, "8,1,right", "0,1,right"),
    "scale-is-decimal": Break(3, "8,1,right", "8.0,1,right"),
    "scale-is-empty": Break(3, "8,1,right", ",1,right"),
    "scale-is-huge": Break(3, "8,1,right", f"{10**20},1,right"),
    "seed-is-text": Break(3, "8,1,right", "8,one,right"),
    "seed-is-negative": Break(3, "8,1,right", "8,-1,right"),
    "seed-is-empty": Break(3, "8,1,right", "8,,right"),
    "seed-is-huge": Break(3, "8,1,right", f"8,{2**128},right"),
    "arm-word": Break(3, "8,1,right", "8,1,treatment"),
    "arm-is-empty": Break(3, "8,1,right", "8,1,"),
    "item-is-empty": Break(2, FIRST, "8,1,left,,red,0.5\n"),
    "team-is-empty": Break(2, FIRST, "8,1,left,easy,,0.5\n"),
    "team-writes-to-the-terminal": Break(2, FIRST, "8,1,left,easy,\x1b[2J,0.5\n"),
    # values
    "value-is-text": Break(4, "1/3", "a third"),
    "value-is-nan": Break(4, "1/3", "NaN"),
    "value-is-infinite": Break(4, "1/3", "-inf"),
    "value-is-not-available": Break(4, "1/3", "n/a"),
    "value-with-percent": Break(4, "1/3", "33%"),
    "value-without-leading-zero": Break(4, "1/3", ".33"),
    "value-divides-by-zero": Break(4, "1/3", "1/0"),
    "value-has-too-many-digits": Break(4, "1/3", f"0.{'3' * 45}"),
    "value-has-too-large-an-exponent": Break(4, "1/3", "1e400"),
    "value-in-other-digits": Break(4, "1/3", "٣"),
    "first-of-two-errors": Break(2, FIRST, "8,1,left,easy,red,x\nnine,1,left,easy,red,1\n"),
    "count-is-zero": Break(2, "8,1,4,10,30", "8,1,0,10,30", base=SUMS),
    "count-is-decimal": Break(2, "8,1,4,10,30", "8,1,4.0,10,30", base=SUMS),
    "sums-in-part": Break(2, "8,1,4,10,30", "8,1,4,,30", base=SUMS),
    "sums-of-no-numbers": Break(2, "8,1,4,10,30", "8,1,4,10,24.9", base=SUMS),
    # rows
    "row-twice": Break(3, FIRST, FIRST + FIRST),
    "row-twice-written-otherwise": Break(3, FIRST, FIRST + "8,01,left,easy,red,1/2\n"),
    "row-twice-far-apart": Break(8, "1e-3\n", f"1e-3\n{FIRST}"),
    "row-with-another-value": Break(3, FIRST, FIRST + FIRST.replace("0.5", "0.6")),
    "row-with-another-value-missing": Break(3, FIRST, FIRST + FIRST.replace("0.5", "")),
    "sums-twice-with-other-squares": Break(3, "8,1,4,10,30\n", "8,1,4,10,30\n8,1,4,10,31\n", base=SUMS),
    "unit-with-another-value": Break(
        4, "cd\n", "cd\n8,1,0.7,u1,3,j1,h100,2026-06-01T10:00:00Z,ab\n", base=INGESTED, ingest=True
    ),
    "unit-with-another-stream": Break(
        4, "cd\n", "cd\n8,1,0.5,u1,5,j1,h100,2026-06-01T10:00:00Z,ab\n", base=INGESTED, ingest=True
    ),
}


def complaint_of(name: str) -> BadInput:
    """What reading the broken file says, the file written as the corpus names it."""
    broken = BREAKS[name]
    path = CORPUS / f"{name}.csv"
    try:
        read_runs(path, axes=("k",), needs=broken.needs, ingest=broken.ingest)
    except BadInput as error:
        return BadInput(error.what, where=error.where.replace(str(path), path.name), mend=error.mend)
    pytest.fail(f"{name} is read")


def written_sentences() -> dict[str, str]:
    lines = SENTENCES.read_text(encoding="utf-8").splitlines()
    return {line.partition(".csv")[0]: line for line in lines}


@pytest.mark.parametrize(("content", "ingest"), [(BASE, False), (SUMS, False), (INGESTED, True)])
def test_what_is_broken_can_be_read(content: str, ingest: bool, tmp_path: Path) -> None:  # noqa: FBT001  # a parameter
    path = tmp_path / "runs.csv"
    path.write_text(content, encoding="utf-8")
    assert len(read_runs(path, axes=("k",), ingest=ingest)) == content.count("\n") - 1


def test_the_corpus_is_what_the_script_writes() -> None:
    assert {path.stem for path in CORPUS.glob("*.csv")} == set(BREAKS)
    differing = [name for name in BREAKS if (CORPUS / f"{name}.csv").read_bytes() != BREAKS[name].content]
    assert not differing
    assert list(written_sentences()) == list(BREAKS)


@pytest.mark.parametrize("name", BREAKS)
def test_a_broken_file_gets_its_sentence(name: str) -> None:
    error = complaint_of(name)
    assert error.sentence == written_sentences()[name]
    assert error.exit_code is Exit.BAD_INPUT
    place = error.where.split(", ")
    assert place[0] == f"{name}.csv"
    assert place[1:2] == ([f"line {BREAKS[name].line}"] if BREAKS[name].line else [])
    assert error.mend
    assert error.sentence.isprintable()
    assert not error.sentence.endswith(("..", "?."))


def write_corpus() -> None:
    """Writes every broken file and its sentence anew."""
    CORPUS.mkdir(parents=True, exist_ok=True)
    for path in CORPUS.iterdir():
        path.unlink()
    for name, broken in BREAKS.items():
        (CORPUS / f"{name}.csv").write_bytes(broken.content)
    sentences = [complaint_of(name).sentence for name in BREAKS]
    SENTENCES.write_text("".join(f"{sentence}\n" for sentence in sentences), encoding="utf-8")


if __name__ == "__main__":
    write_corpus()
