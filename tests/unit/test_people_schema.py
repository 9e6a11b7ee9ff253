"""What people's entries must be: what is wrong with one is called by its name."""

from __future__ import annotations

from typing import Any

import pytest

from verifier.ledger.people_schema import KeyTable, NoticeTable
from verifier.model.tables import TableError, validate

SIGNED: dict[str, Any] = {
    "dispute": "ab" * 32,
    "group": "north",
    "request": "01234567-89ab-cdef-0123-456789abcdef",
    "key": "AA==",
    "signature": "AA==",
}
NOTICE = {**SIGNED, "kind": "author-notice", "target": "cd" * 32, "window_days": 14, "author_keys": [], "text": ""}
KEY = {**SIGNED, "kind": "key", "role": "person", "public": "AA==", "pseudonym": "", "replaces": "", "proof": ""}


def test_a_key_is_named_by_its_fingerprint() -> None:
    assert validate(NoticeTable, {**NOTICE, "author_keys": ["ef" * 32]}).author_keys == ["ef" * 32]
    with pytest.raises(TableError, match="is not a fingerprint") as error:
        validate(NoticeTable, {**NOTICE, "author_keys": ["zz"]})
    assert "leaf" not in error.value.sentence
    with pytest.raises(TableError, match="is not a leaf hash"):
        validate(NoticeTable, {**NOTICE, "target": "zz"})
    with pytest.raises(TableError) as error:
        validate(KeyTable, {**KEY, "replaces": "zz"})
    assert "leaf" not in error.value.sentence
