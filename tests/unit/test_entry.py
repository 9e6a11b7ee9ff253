"""Envelopes, commitments, free texts, salts and times, each against its definition in the standard library."""

import hashlib
import json

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from verifier.ledger.content import (
    MAX_CONTENT,
    MAX_DEPTH,
    Damaged,
    FreeText,
    parse_canonical,
    plain,
    restore,
    seal,
)
from verifier.ledger.entry import Prepared, check_fields, decode, derived_salt, derived_text_salt, prepare
from verifier.ledger.times import fixed_epoch, is_time_text, next_time, time_text
from verifier.model.errors import BadInput, InfrastructureFailed, TamperingDetected

REGISTRATION = "ab" * 32
SALT = bytes(range(32))


def fixed(pointer: str) -> bytes:
    return hashlib.sha256(pointer.encode()).digest()


def made(content: dict, **changes: object) -> Prepared:
    fields = {
        "kind": "evidence",
        "refs": ["cd" * 32],
        "supersedes": None,
        "by": "engine",
        "group": "",
        "time": "2026-01-02T03:04:05Z",
    }
    return prepare(content=content, salt=SALT, text_salt=fixed, **(fields | changes))


def test_the_bytes_hashed_are_those_that_the_format_names() -> None:
    prepared = made({"registration": REGISTRATION, "n": 3, "said": FreeText("größer")})
    commitment = hashlib.sha256(fixed("/said") + "größer".encode()).hexdigest()
    content = f'{{"n":3,"registration":"{REGISTRATION}","said":{{"text_commitment":"{commitment}"}}}}'.encode()
    assert prepared.content == content
    envelope = json.loads(prepared.envelope)
    assert envelope == {
        "schema": "verifier/entry/1",
        "kind": "evidence",
        "time": "2026-01-02T03:04:05Z",
        "refs": ["cd" * 32],
        "supersedes": None,
        "by": "engine",
        "group": "",
        "content_commitment": hashlib.sha256(SALT + content).hexdigest(),
    }
    assert prepared.envelope == rfc8785.dumps(envelope)
    assert prepared.leaf == hashlib.sha256(b"\x00" + prepared.envelope).digest()


def test_an_entry_read_back_has_its_texts_as_strings_at_their_pointers() -> None:
    content = {
        "registration": REGISTRATION,
        "claim": {"quote": FreeText("a"), "parts": [{"text": FreeText("b")}, {"text": "c"}]},
        "a/b~c": FreeText("d"),
    }
    prepared = made(content)
    raw = prepared.raw(n=1, kind="evidence", registration=REGISTRATION, root=bytes(32))
    entry = decode(raw)
    assert entry.content == {
        "registration": REGISTRATION,
        "claim": {"quote": "a", "parts": [{"text": "b"}, {"text": "c"}]},
        "a/b~c": "d",
    }
    assert {text.pointer: text.text for text in entry.texts} == {
        "/claim/quote": "a",
        "/claim/parts/0/text": "b",
        "/a~1b~0c": "d",
    }
    assert {text.pointer: text.salt for text in entry.texts} == {text.pointer: text.salt for text in prepared.texts}
    assert json.loads(prepared.content)["claim"]["quote"].keys() == {"text_commitment"}
    assert entry.registration == REGISTRATION


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(JSON_VALUES)
def test_canonical_bytes_read_back_and_only_they(value: object) -> None:
    data = rfc8785.dumps(value)
    assert parse_canonical(data) == value
    with pytest.raises(Damaged):
        parse_canonical(data + b" ")
    if isinstance(value, dict | list) and value:
        loose = json.dumps(value, ensure_ascii=False).encode()
        if loose != data:
            with pytest.raises(Damaged):
                parse_canonical(loose)


def test_keys_are_in_the_order_of_utf_16() -> None:
    keys = ["\ufb33", "\U0001f600", "é", "1"]
    data = rfc8785.dumps(dict.fromkeys(keys, 0))
    assert list(parse_canonical(data)) == ["1", "é", "\U0001f600", "\ufb33"]
    by_code_point = json.dumps(dict.fromkeys(keys, 0), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    with pytest.raises(Damaged):
        parse_canonical(by_code_point.encode())


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"\xff",
        b'{"a":1.5}',
        b'{"a":NaN}',
        b'{"a":1e3}',
        b"9007199254740992",
        b"1" * 5000,
        b'{"a":1,"a":1}',
        b'{"b":1,"a":1}',
        b'"\\ud800"',
        b'"\\u0041"',
        b"[" * 100_000,
        b"-0",
    ],
)
def test_what_is_not_canonical_is_damage_and_nothing_else(data: bytes) -> None:
    with pytest.raises(Damaged):
        parse_canonical(data)


def nested(levels: int) -> dict:
    value: object = 1
    for _ in range(levels):
        value = {"a": value}
    return value


def test_content_has_bounds() -> None:
    seal(nested(MAX_DEPTH), fixed)
    for content in (
        nested(MAX_DEPTH + 1),
        nested(5000),
        {"a": 0.5},
        {"a": float("nan")},
        {"a": [2**53]},
        {"a": b"bytes"},
        {"a": {1, 2}},
        {"a": "\ud800"},
        {"\ud800": 1},
        {1: 1},
        {"text_commitment": "x"},
        {"a": [{"text_commitment": "x", "b": 1}]},
        {"a": FreeText("\udfff")},
        {"a": "x" * MAX_CONTENT},
        {"a": FreeText("x" * MAX_CONTENT)},
        [1],
    ):
        with pytest.raises(BadInput):
            seal(content, fixed)


def test_plain_content_is_what_is_read_back() -> None:
    content = {"a": [FreeText("x"), {"b": FreeText("y")}], "c": (1, 2)}
    data, texts = seal(content, fixed)
    restored, found = restore(parse_canonical(data), [(text.commitment, text.salt, text.text) for text in texts])
    assert restored == plain(content) == {"a": ["x", {"b": "y"}], "c": [1, 2]}
    assert list(found) == texts


def test_texts_missing_left_over_or_named_twice_are_damage() -> None:
    data, texts = seal({"a": FreeText("x"), "b": FreeText("x")}, fixed)
    stored = [(text.commitment, text.salt, text.text) for text in texts]
    sealed = parse_canonical(data)
    assert stored[0][0] != stored[1][0]
    for wrong_content, wrong_texts in (
        (sealed, stored[:1]),
        (sealed, [*stored, ("00" * 32, SALT, "z")]),
        ({"a": sealed["a"], "b": sealed["a"]}, stored[:1]),
        ({"a": sealed["a"] | {"more": 1}, "b": sealed["b"]}, stored),
        ({"a": {"text_commitment": 7}, "b": sealed["b"]}, stored),
        (sealed["a"], stored[:1]),
        ([sealed], stored),
        (nested(MAX_DEPTH + 1), []),
    ):
        with pytest.raises(Damaged):
            restore(wrong_content, wrong_texts)


def test_derived_salts_follow_the_written_bytes() -> None:
    salt = derived_salt(registration=REGISTRATION, kind="evidence", number=12)
    assert salt == hashlib.sha256(b"\xab" * 32 + b"evidence12").digest()
    assert derived_text_salt(salt, "/é") == hashlib.sha256(salt + "/é".encode()).digest()


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "opinion"},
        {"content": {}},
        {"content": {"registration": "AB" * 32}},
        {"content": {"registration": 5}},
        {"refs": ["ab"]},
        {"refs": ["ab" * 32, "ab" * 32]},
        {"refs": [f"{i:064x}" for i in range(5000)]},
        {"supersedes": "x"},
        {"by": ""},
        {"by": "two\nlines"},
        {"by": "x" * 201},
        {"group": "\u202egroup"},
    ],
)
def test_fields_that_cannot_be_recorded_are_refused(change: dict) -> None:
    good = {
        "kind": "ruling",
        "content": {"registration": REGISTRATION},
        "refs": ["00" * 32],
        "supersedes": None,
        "by": "engine",
        "group": "",
    }
    check_fields(**good)
    with pytest.raises(BadInput):
        check_fields(**(good | change))


def rehashed(**changes: object) -> Prepared:
    """An entry whose envelope somebody rewrote, and hashed again."""
    prepared = made({"registration": REGISTRATION})
    envelope = json.loads(prepared.envelope) | changes
    data = rfc8785.dumps({key: value for key, value in envelope.items() if value != "absent"})
    return prepared._replace(envelope=data, leaf=hashlib.sha256(b"\x00" + data).digest())


@pytest.mark.parametrize(
    "change",
    [
        {"schema": "verifier/entry/2"},
        {"kind": "opinion"},
        {"kind": ["evidence"]},
        {"kind": "ruling"},
        {"time": "2026-02-30T00:00:00Z"},
        {"time": "2026-01-02 03:04:05Z"},
        {"time": 5},
        {"refs": "x"},
        {"refs": [5]},
        {"refs": [["ab"]]},
        {"refs": ["ab" * 32, "ab" * 32]},
        {"supersedes": {}},
        {"by": ""},
        {"by": None},
        {"group": 5},
        {"content_commitment": "ab" * 32},
        {"content_commitment": "absent"},
        {"more": 1},
    ],
)
def test_a_rewritten_envelope_is_tampering_even_with_its_hash_recomputed(change: dict) -> None:
    raw = rehashed(**change).raw(n=9, kind="evidence", registration=REGISTRATION, root=bytes(32))
    with pytest.raises(TamperingDetected, match="ledger entry 9"):
        decode(raw)


def test_every_column_of_every_wrong_type_is_tampering() -> None:
    prepared = made({"registration": REGISTRATION, "said": FreeText("x")})
    raw = prepared.raw(n=4, kind="evidence", registration=REGISTRATION, root=bytes(32))
    decode(raw)
    junk = (None, 5, 0.5, "text", b"", b"\x00", "\udcff")
    for column in ("leaf", "kind", "registration", "envelope", "content", "salt", "root"):
        for value in junk if column != "root" else junk[:-1]:
            with pytest.raises(TamperingDetected, match="ledger entry 4"):
                decode(raw._replace(**{column: value}))
    (text,) = raw.texts
    for place in range(3):
        for value in junk:
            changed = [*text]
            changed[place] = value
            with pytest.raises(TamperingDetected, match="ledger entry 4"):
                decode(raw._replace(texts=[tuple(changed)]))


def test_times_never_run_backwards_and_a_late_clock_is_refused() -> None:
    assert time_text(1_700_000_000) == "2023-11-14T22:13:20Z"
    assert next_time(1_700_000_000, None) == "2023-11-14T22:13:20Z"
    assert next_time(1_700_000_000, "2023-11-14T22:13:19Z") == "2023-11-14T22:13:20Z"
    assert next_time(1_700_000_000, "2023-11-14T22:18:20Z") == "2023-11-14T22:18:20Z"
    with pytest.raises(InfrastructureFailed, match="5 minutes"):
        next_time(1_700_000_000, "2023-11-14T22:18:21Z")


@given(st.integers(0, 253_402_300_799), st.integers(0, 253_402_300_799))
def test_time_texts_sort_as_the_moments_do(a: int, b: int) -> None:
    assert (time_text(a) < time_text(b)) == (a < b)
    assert is_time_text(time_text(a))


@pytest.mark.parametrize("text", ["x", "-1", "1.5", "9" * 12, "٣", " 5"])
def test_an_epoch_that_is_no_second_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", text)
    with pytest.raises(BadInput, match="SOURCE_DATE_EPOCH"):
        fixed_epoch()


def test_the_epoch_is_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    assert fixed_epoch() == 1_700_000_000
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    assert fixed_epoch() is None
