"""Arrays of losses: read within bounds from any file, and told apart by what a printed number was computed over."""

from __future__ import annotations

import json
import math
import os
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verifier.audits.arrays import read_arrays
from verifier.audits.arrays_audit import arrays_audit
from verifier.audits.audit import Audit
from verifier.audits.dilution_arrays import dilution_of_arrays
from verifier.audits.printed import printed
from verifier.audits.token_arrays import MOST_ROWS, Columns, TokenArrays, inline_arrays
from verifier.model.answers import AuditAnswer
from verifier.model.basis import BasisClass
from verifier.model.errors import BadInput, Exit, MissingExtra

FIXTURES = Path(__file__).parents[1] / "fixtures" / "audits.json"
ALL = Columns("nll", "real", "doc", "batch")
CSV = "doc,batch,nll,real\na,0,3.0,1\na,0,2,true\na,0,0.01,0\nb,1,4e0,1\nb,1,.5,False\n"


def csv_file(folder: Path, text: str) -> Path:
    path = folder / "losses.csv"
    path.write_text(text, "utf-8")
    return path


def refused(folder: Path, path: str, columns: Columns = ALL) -> str:
    with pytest.raises(BadInput) as caught:
        read_arrays(folder, path, columns)
    assert caught.value.exit_code is Exit.BAD_INPUT
    assert str(folder) not in caught.value.sentence
    return caught.value.sentence


def same(one: TokenArrays, other: TokenArrays) -> None:
    for name in ("loss", "mask", "sequence", "batch"):
        a, b = getattr(one, name), getattr(other, name)
        assert (a is None) == (b is None), name
        if a is not None:
            np.testing.assert_array_equal(a, b)


def expected() -> TokenArrays:
    return TokenArrays(
        loss=np.array([3.0, 2.0, 0.01, 4.0, 0.5]),
        mask=np.array([True, True, False, True, False]),
        sequence=np.array([0, 0, 0, 1, 1]),
        batch=np.array([0, 0, 0, 1, 1]),
    )


def test_every_kind_of_file_holds_the_same(tmp_path: Path) -> None:
    csv_file(tmp_path, CSV)
    same(read_arrays(tmp_path, "losses.csv", ALL), expected())
    arrays = expected()
    np.savez_compressed(
        tmp_path / "losses.npz", nll=arrays.loss, real=arrays.mask, doc=np.array(list("aaabb")), batch=arrays.batch
    )
    same(read_arrays(tmp_path, "losses.npz", ALL), expected())
    nested = inline_arrays([["3.0", 2, 0.01], [4, "0.5"]], [[1, 1, 0], [1, 0]], [7, 9])
    same(nested, expected())


def test_parquet(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = {"nll": [3.0, 2.0, 0.01, 4.0, 0.5], "real": [True, True, False, True, False], "doc": list("aaabb"),
             "batch": [0, 0, 0, 1, 1]}  # fmt: skip
    parquet.write_table(pyarrow.table(table), tmp_path / "losses.parquet")
    same(read_arrays(tmp_path, "losses.parquet", ALL), expected())
    parquet.write_table(pyarrow.table(table | {"nll": [3.0, 2.0, None, 4.0, 0.5]}), tmp_path / "null.parquet")
    assert "row 2: the loss is nan" in refused(tmp_path, "null.parquet")
    assert "no column" in refused(tmp_path, "losses.parquet", Columns("nil"))
    (tmp_path / "broken.parquet").write_bytes(b"PAR1" + bytes(40))
    assert "no whole parquet file" in refused(tmp_path, "broken.parquet")


def test_parquet_without_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "losses.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra) as caught:
        read_arrays(tmp_path, "losses.parquet", ALL)
    assert caught.value.exit_code is Exit.NO_ANSWER
    assert "dispute-verifier[parquet]" in caught.value.sentence


def test_two_dimensions_in_npz(tmp_path: Path) -> None:
    loss = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.savez(tmp_path / "a.npz", nll=np.asfortranarray(loss), real=loss > 0, batch=np.array([5, 6]))
    found = read_arrays(tmp_path, "a.npz", Columns("nll", "real", batch="batch"))
    assert found.loss.tolist() == [0, 1, 2, 3, 4, 5]
    assert found.sequence is not None
    assert found.batch is not None
    assert found.sequence.tolist() == found.batch.tolist() == [0, 0, 0, 1, 1, 1]
    assert found.position.tolist() == [0, 1, 2, 0, 1, 2]


def test_a_file_of_ten_gigabytes_is_refused_unread(tmp_path: Path) -> None:
    for kind in ("csv", "npz", "parquet"):
        with (tmp_path / f"large.{kind}").open("wb") as file:
            file.truncate(10 << 30)  # a hole: reading it would give zero bytes, refused for another reason
        assert "10.0 GiB" in refused(tmp_path, f"large.{kind}")


def test_no_path_leads_out_of_the_folder(tmp_path: Path) -> None:
    inside = tmp_path / "case"
    inside.mkdir()
    outside = csv_file(tmp_path, CSV)
    (inside / "link.csv").symlink_to(outside)
    (inside / "up").symlink_to(tmp_path)
    (inside / "loop.csv").symlink_to("loop.csv")
    for path in ("../losses.csv", str(outside), "link.csv", "up/losses.csv", "a\0b.csv", "../case/../losses.csv"):
        assert "leads out of the file's folder" in refused(inside, path)
    for path in ("loop.csv", "."):
        refused(inside, path)
    csv_file(inside, CSV)
    (inside / "other.csv").symlink_to("losses.csv")
    same(read_arrays(inside, "other.csv", ALL), expected())


def test_what_is_no_file_of_arrays(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "a.pickle").write_bytes(b"")
    assert "is no file" in refused(tmp_path, "folder.csv")
    assert "is no file" in refused(tmp_path, "pipe.csv")
    assert "of no kind that holds arrays" in refused(tmp_path, "a.pickle")
    assert "cannot be read: no such file" in refused(tmp_path, "absent.csv")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("nll,real,doc\n1,1,a\n", 'line 1: there is no column "batch" for the batch'),
        (CSV + "b,1,nan,1\n", 'losses.csv, line 7: the loss is "nan"'),
        (CSV + "b,1,1e999,1\n", 'line 7: the loss is "1e999"'),
        (CSV + "b,1,1e308,1\n", 'line 7: the loss is "1e308"; give the loss of one position in nats, at most 1e6'),
        (CSV + 'b,1,"3,5",1\n', 'write the decimal point as a point: "3.5"'),
        (CSV + "b,1,1_0,1\n", 'line 7: the loss is "1_0"'),
        (CSV + "b,1,,1\n", "line 7: the loss is empty"),
        (CSV + "\nb,1,2,2\n", 'line 8: the mask is "2"'),
        (CSV + "b,1,2\n", "line 7: it has 3 cells, and the header names 4 columns"),
        (CSV + ",1,2,1\n", "line 7: the sequence is empty"),
        (CSV + '"b\nc",1,2,1\n', "line 7: a cell goes on over the end of the line"),
        (CSV + '"b,1,2,1\n', "line 7: the quotation marks do not match"),
        (CSV + "b,1," + "2" * 100_001 + ",1\n", "line 7: the line is longer than"),
        ("doc,batch,nll,nll,real\n", 'line 1: the column "nll" stands twice'),
        ("doc,batch,nll,real\n", "it holds no row"),
        ("", "there is no column"),
    ],
)  # fmt: skip
def test_csv_that_is_not_as_it_must_be(tmp_path: Path, text: str, words: str) -> None:
    csv_file(tmp_path, text)
    assert words in refused(tmp_path, "losses.csv")


def test_csv_in_another_encoding(tmp_path: Path) -> None:
    (tmp_path / "losses.csv").write_bytes(CSV.encode() + b"\xff,1,2,1\n")
    assert "line 7: not UTF-8 text" in refused(tmp_path, "losses.csv")
    (tmp_path / "losses.csv").write_bytes(b"\xef\xbb\xbf" + CSV.encode())
    same(read_arrays(tmp_path, "losses.csv", ALL), expected())


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"nll": np.array([1.0, np.nan, 1, 1, 1])}, "flat index 1: the loss is nan"),
        ({"nll": np.array([1.0, 1e308, 1e308, 1, 1])}, "flat index 1: the loss is 1e+308"),
        ({"nll": np.array([1.0, None, 1, 1, 1], object)}, "its entries are object"),
        ({"nll": np.array(["1"] * 5)}, "its entries are <U1"),
        ({"real": np.array([True, False])}, "its shape is (2,), and that of the losses (5,)"),
        ({"real": np.array([0, 1, 2, 0, 1])}, "an entry is neither 0 nor 1"),
        ({"doc": np.array([0.5] * 5)}, "its entries are float64"),
    ],
)
def test_npz_that_is_not_as_it_must_be(tmp_path: Path, changed: dict[str, Any], words: str) -> None:
    arrays = expected()
    given = {"nll": arrays.loss, "real": arrays.mask, "doc": arrays.sequence, "batch": arrays.batch}
    np.savez(tmp_path / "a.npz", **(given | changed))
    assert words in refused(tmp_path, "a.npz")


def test_npz_archives_that_lie(tmp_path: Path) -> None:
    def written(header: bytes, data: bytes, name: str = "bad.npz") -> str:
        with zipfile.ZipFile(tmp_path / name, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("nll.npy", header + data)
        return refused(tmp_path, name, Columns("nll"))

    def header(text: str) -> bytes:
        body = text.encode() + b"\n"
        return b"\x93NUMPY\x01\x00" + len(body).to_bytes(2, "little") + body

    whole = "{'descr': '<f8', 'fortran_order': False, 'shape': (%s,), }"
    assert f"more than {MOST_ROWS} entries" in written(header(whole % 10**12), b"")
    assert "its length is not what its header says" in written(header(whole % 9), bytes(64))
    assert "its length is not what its header says" in written(header(whole % 1), bytes(30 << 20))  # unpacks to more
    assert "it is no plain array" in written(header(whole % -1), bytes(8))
    assert "it is no plain array" in written(header("__import__('os').getcwd()"), bytes(8))
    assert "it is no plain array" in written(b"\x80\x04", b"pickle")
    assert "it is no plain array" in written(header("{'descr': '<f8', " + "(" * 200), b"")
    (tmp_path / "text.npz").write_bytes(b"no archive")
    assert "it is no NPZ file" in refused(tmp_path, "text.npz", Columns("nll"))
    np.savez(tmp_path / "cut.npz", nll=np.zeros(1000))
    data = bytearray((tmp_path / "cut.npz").read_bytes())
    data[310] ^= 0xFF
    (tmp_path / "cut.npz").write_bytes(data)
    assert "cut.npz" in refused(tmp_path, "cut.npz", Columns("nll"))
    with zipfile.ZipFile(tmp_path / "many.npz", "w") as archive:
        for i in range(25_000):
            archive.writestr(f"{i}.npy", b"")
    assert "too many members" in refused(tmp_path, "many.npz", Columns("nll"))


def test_inline_arrays_that_are_not_as_they_must_be() -> None:
    def sentence(*given: Any) -> str:
        with pytest.raises(BadInput) as caught:
            inline_arrays(*given)
        return caught.value.sentence

    assert "arrays.mask, row 2: it has 1 entries, and the losses 2" in sentence([[1, 2], [3, 4]], [[1, 1], [1]])
    assert "arrays.mask: it has 1 rows" in sentence([[1, 2], [3, 4]], [[1, 1]])
    assert "arrays.batch" in sentence([[1, 2], [3, 4]], None, [1])
    assert "entry 2: the loss is nan" in sentence([[1, math.nan]])
    assert "there is no loss" in sentence([[]])
    assert "entry 1: the loss is 1e+308" in sentence([[1e308, 1.0]])
    with pytest.raises(BadInput, match="1e6"):
        dilution_of_arrays([1e308, 1e308, 1.0], [True, True, False])


def test_losses_whose_perplexity_no_float_holds_settle_nothing() -> None:
    found = arrays_audit(inline_arrays([["900", "800"]]), printed=printed("2.0"), returns="perplexity")
    assert {one.finding for one in found} == {AuditAnswer.INSUFFICIENT}
    assert any("No order of averaging" in one.sentence for one in found)


def test_b1() -> None:
    fixture = next(row for row in json.loads(FIXTURES.read_text("utf-8")) if row["id"] == "B1")
    given = fixture["input"]
    losses = given["nll"] + [given["pad_nll"]] * given["pad_positions"]
    found = dilution_of_arrays(losses, [True] * 3 + [False] * given["pad_positions"])
    for name, value in fixture["expected"].items():
        assert found.details[name] == pytest.approx(value, abs=1e-9), name
    assert found.witness is not None
    pair = dilution_of_arrays(found.witness["losses"], found.witness["mask"])
    assert pair.details["ppl_all"] == pytest.approx(found.witness["ppl_all"], rel=1e-12)
    assert pair.details["ppl_real"] == pytest.approx(found.witness["ppl_real"], rel=1e-12)
    assert pair.details["ppl_all"] != pair.details["ppl_real"]


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 9), st.integers(1, 12), st.integers(0, 2**32))
def test_the_split_puts_the_mean_together_again(rows: int, width: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    losses, mask = random.exponential(3, (rows, width)), random.random((rows, width)) < 0.6
    mask[0, 0] = True
    found = dilution_of_arrays(losses, mask).details
    p = found["p"]
    assert p * found["pad_loss"] + (1 - p) * found["mean_real"] == pytest.approx(losses.mean(), rel=1e-12)
    curves = found["by_position"]
    if curves is not None:
        np.testing.assert_allclose(curves["scored"], losses.mean(axis=0), rtol=1e-12)
        np.testing.assert_allclose(curves["share"], 1 - mask.mean(axis=0), rtol=1e-12)


def test_long_sequences_are_drawn_in_stretches() -> None:
    losses = np.tile(np.linspace(4, 2, 1_000), (3, 1))
    curves = dilution_of_arrays(losses, losses > 2.5).details["by_position"]
    assert len(curves["from"]) <= 120
    assert curves["from"][1] == 9.0


RAGGED = inline_arrays(
    [[3, 2, 4, 0.0], [1, 2, 0, 0], [5, 0, 0, 0]], [[1, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 0]], [0, 0, 1]
)


@pytest.mark.parametrize(
    ("number", "returns", "basis"),
    [
        (17 / 6, "loss", None),
        (math.exp(17 / 6), "perplexity", None),
        (17 / 12, "loss", "MASK"),
        (math.exp(17 / 12), "perplexity", "MASK"),
        (17 / 6 / math.log(2), "loss", "UNIT"),
        (2 ** (17 / 6), "perplexity", "UNIT"),
        (2 ** (17 / 12), "perplexity", "UNIT"),  # and with padding
        (9.5 / 3, "loss", "AGG"),
        (3.7, "loss", "AGG"),  # of batches: 12/5 and 5
        (math.exp(9.5 / 3), "perplexity", "AGG"),
        ((math.exp(3) + math.exp(1.5) + math.exp(5)) / 3, "perplexity", "AGG"),
    ],
)
def test_which_number_was_printed(number: float, returns: Any, basis: str | None) -> None:
    found = arrays_audit(RAGGED, printed=printed(f"{number:.6f}"), returns=returns)
    if basis is None:
        assert [(x.basis_class, x.finding) for x in found] == [
            (each, AuditAnswer.SAME_BASIS) for each in (BasisClass.MASK, BasisClass.AGG, BasisClass.UNIT)
        ]
    else:
        assert [(x.basis_class, x.finding) for x in found] == [(basis, AuditAnswer.MISMATCH_PROVEN)]
        assert found[0].witness is not None
    for each in found:
        json.dumps(dict(each.details), allow_nan=False)


def test_a_number_that_is_none_of_them() -> None:
    def findings(**given: Any) -> set[AuditAnswer]:
        return {audit.finding for audit in arrays_audit(RAGGED, **given)}

    assert findings(printed=printed("77.77")) == {AuditAnswer.INSUFFICIENT}
    assert findings() == {AuditAnswer.INSUFFICIENT}
    assert all(audit.missing for audit in arrays_audit(RAGGED))


def test_without_padding_there_is_nothing_to_say_of_it() -> None:
    full = inline_arrays([[1, 2], [3, 4]], [[1, 1], [1, 1]])
    found = arrays_audit(full, printed=printed("2.50"), returns="loss")
    assert {audit.finding for audit in found} == {AuditAnswer.SAME_BASIS}
    alike = dilution_of_arrays([2.0, 2.0, 2.0], [1, 1, 0])
    assert alike.finding is AuditAnswer.NOT_MATERIAL
    with pytest.raises(BadInput, match="no position is a real token"):
        dilution_of_arrays([1.0], [0])
    with pytest.raises(BadInput, match=r"the mask has shape \(2,\)"):
        dilution_of_arrays([1.0], [0, 1])
    with pytest.raises(BadInput, match=r"the loss at \(1,\) is no finite number"):
        dilution_of_arrays([1.0, math.inf], [1, 1])


def _orders(found: list[Audit]) -> dict[str, float]:
    return next(dict(x.details["orders"]) for x in found if x.basis_class is BasisClass.AGG)


def test_many_tokens_are_averaged_by_sequence(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = _orders(arrays_audit(RAGGED, returns="loss"))
    monkeypatch.setattr("verifier.audits.arrays_audit.MOST_SINGLE", 2)
    short = _orders(arrays_audit(RAGGED, returns="loss"))
    for name in (
        "token mean",
        "mean of sequence means",
        "mean of batch means",
        "mean of batch means of sequence means",
    ):
        assert short[name] == pytest.approx(whole[name], rel=1e-12)


@pytest.mark.parametrize(
    ("loss", "mask", "number", "returns"),
    [
        ([["3"]], None, "20.08", "perplexity"),  # 20.0855
        ([["3", "3"]], [[1, 0]], "20.08", "perplexity"),
        ([["3", "0"]], [[1, 0]], "20.08", "perplexity"),
        ([["3", "2", "3"], ["2"]], None, "2.50", "loss"),
        ([["3", "2", "3"]], None, "2.66", "loss"),  # 2.6667, which is no other order's either
    ],
)
def test_a_number_that_is_cut_off_is_the_one_it_was_cut_from(
    loss: list[list[Any]], mask: Any, number: str, returns: Any
) -> None:
    found = arrays_audit(inline_arrays(loss, mask), printed=printed(number), returns=returns)
    good = {AuditAnswer.SAME_BASIS, AuditAnswer.NOT_MATERIAL}
    assert {audit.finding for audit in found} <= good, [audit.sentence for audit in found]


def test_what_was_printed_with_padding_is_shown_by_rounding_alone() -> None:
    """With padding the perplexity is exp(1.5) = 4.4817: 4.48 shows it, while 4.4 could be cut off from much else."""
    arrays = inline_arrays([["3", "0"]], [[1, 0]])
    shown = arrays_audit(arrays, printed=printed("4.48"))
    assert {audit.finding for audit in shown} == {AuditAnswer.MISMATCH_PROVEN}
    assert {audit.finding for audit in arrays_audit(arrays, printed=printed("4.4"))} == {AuditAnswer.INSUFFICIENT}
