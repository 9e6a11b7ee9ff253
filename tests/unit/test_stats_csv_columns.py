"""The quick way through a CSV says the same as the row-by-row one, to the cell and to the sentence."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from verifier.model.errors import BadInput
from verifier.model.numbers import parse_rational
from verifier.stats import csv_columns
from verifier.stats.csv_columns import plain_numbers, text_columns, whole_numbers

CELLS = st.sampled_from(["1", "-0.5", "", "left", "é", "a" * 200, "a" * 201, "7 ", '"q"', "\t1", "\0", "\x1c", "nan"])
ENDS = st.sampled_from(["\n", "\n", "\n", "\r\n", "\r", "\n\n"])
FILES = st.lists(st.tuples(st.lists(CELLS, min_size=1, max_size=4), ENDS), max_size=6)


def said(content: bytes) -> object:
    try:
        found = text_columns(content, name="x.csv")
    except BadInput as error:
        return error.sentence
    return found.header, [list(column) for column in found.columns], found.lines.tolist(), found.first


@given(rows=FILES, mark=st.sampled_from(["", "\ufeff"]), cut=st.booleans())
@example(rows=[(["replicate", "value"], "\n"), (["1", "0.5"], "\n")], mark="", cut=True)
@example(rows=[(["a", "b"], "\n"), (["1"], "\n"), (["1", "2", "3"], "\n")], mark="", cut=False)
@example(rows=[(["a"] * 41, "\n")], mark="", cut=False)
def test_both_ways_through_a_file_say_the_same(*, rows: list[tuple[list[str], str]], mark: str, cut: bool) -> None:
    content = (mark + "".join(",".join(cells) + end for cells, end in rows)).encode()
    content = content.removesuffix(b"\n") if cut else content
    quick = said(content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_columns, "_plain", lambda _content: None)
        assert said(content) == quick


def test_an_ordinary_file_goes_the_quick_way(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(_content: bytes, _name: str) -> csv_columns.TextColumns:
        raise AssertionError

    monkeypatch.setattr(csv_columns, "_any", never)
    found = text_columns("k,replicate,item,value\r\n8,1,é,0.5\r\n8,2,b,\r\n".encode(), name="x.csv")
    assert found.header == ["k", "replicate", "item", "value"]
    assert [list(column) for column in found.columns] == [["8", "8"], ["1", "2"], ["é", "b"], ["0.5", ""]]
    assert found.lines.tolist() == [2, 3]


def test_bytes_that_are_no_text_are_refused_at_their_line() -> None:
    with pytest.raises(BadInput, match=r"x\.csv, line 2: not UTF-8 text"):
        text_columns(b"a,b\n1,\xff\n", name="x.csv")


NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False, min_value=-1e30, max_value=1e30).map(repr),
    st.sampled_from(
        ["", "+1", "-0", "1/3", "1.", ".5", "1_0", "nan", "inf", "1e31", "1e30", "2E-07", "٣", "0x1", "1e", "1" * 19]
    ),
)


@given(texts=st.lists(NUMBERS, max_size=8))
def test_a_column_of_numbers_is_what_its_exact_numbers_round_to(texts: list[str]) -> None:
    found = plain_numbers(texts)
    if found is None:
        return
    for text, value in zip(texts, found.tolist(), strict=True):
        assert math.isnan(value) if not text else value == float(parse_rational(text))


@pytest.mark.parametrize(
    "text", ["1/3", "1.", ".5", "1_0", "nan", "inf", "1e31", "٣", "0x1", "1e", " 1", "1\n2", "1" * 19]
)
def test_what_is_no_plain_decimal_is_left_to_the_exact_reader(text: str) -> None:
    assert plain_numbers(["1", text]) is None


@pytest.mark.parametrize("text", ["1e-05", "2E+7", "1e30", "+1.50", "-0", "", "1" * 18, "0." + "3" * 20])
def test_plain_decimals_are_read_at_once(text: str) -> None:
    assert plain_numbers(["1", text]) is not None


def test_whole_numbers_are_digits_alone() -> None:
    found = whole_numbers(["0", "007", "9" * 18])
    assert found is not None
    assert found.dtype == np.int64
    assert found.tolist() == [0, 7, 10**18 - 1]
    for text in ("", "-1", "+1", "1.0", "٣", "9" * 19, "1\n2", " 1"):
        assert whole_numbers(["1", text]) is None
