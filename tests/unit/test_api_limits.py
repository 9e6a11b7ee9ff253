"""Tokens by the clock, and how often an address may ask."""

from __future__ import annotations

from pathlib import Path

import pytest

from verifier.model.errors import BadInput
from verifier.web.limits import RateLimit, client_of
from verifier.web.tokens import Scope, TokenStore


class Clock:
    def __init__(self) -> None:
        self.now = 1_700_000_000

    def __call__(self) -> int:
        return self.now


def test_a_token_holds_until_it_ends_or_is_revoked(tmp_path: Path) -> None:
    clock = Clock()
    store = TokenStore(tmp_path / "tokens", now=clock)
    text, made = store.new(name="ann", group="north", scopes=[Scope.ADJUDICATE, Scope.APPEND], days=2)
    assert made.scopes == (Scope.APPEND, Scope.ADJUDICATE)
    assert store.holder(text) == made
    forever, other = store.new(name="bob", group="", scopes=[Scope.APPEND], days=None)
    assert not other.sees_all
    clock.now += 2 * 86_400 - 1
    assert store.holder(text) == made
    clock.now += 1
    assert store.holder(text) is None
    assert store.holder(forever) == other
    store.revoke(other.id)
    assert store.holder(forever) is None
    assert {one.id for one in store.all()} == {made.id, other.id}
    for wrong in ("", "vt_", f"vt_{other.id}_{'A' * 43}", f"vt_../..{other.id[:9]}_{'A' * 43}", forever[:-1]):
        assert store.holder(wrong) is None


@pytest.mark.parametrize("name", ["", "a\nb", "x" * 201, "ab" * 32, "\ud800"])
def test_a_name_that_no_entry_could_carry_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInput):
        TokenStore(tmp_path).new(name=name, group="", scopes=[Scope.APPEND], days=None)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "change", [("ok", "{"), ('"append"', '"everything"'), ("2023-", "20x3-"), ('"ann"', "7"), ("verifier/token", "x")]
)
def test_a_damaged_token_file_lets_nobody_in(tmp_path: Path, change: tuple[str, str]) -> None:
    store = TokenStore(tmp_path, now=Clock())
    text, _ = store.new(name="ann", group="", scopes=[Scope.APPEND], days=1)
    (file,) = tmp_path.glob("*.json")
    before = file.read_text()
    file.write_text(before.replace(*change) if change[0] in before else before[:-3])
    with pytest.raises(BadInput):
        store.holder(text)


def test_a_minute_allows_what_it_says() -> None:
    clock = Clock()
    limit = RateLimit(60, now=clock)
    allowed = sum(limit.wait("192.0.2.1") == 0 for _ in range(100))
    assert allowed == 60
    assert limit.wait("192.0.2.1") == pytest.approx(1)
    assert limit.wait("192.0.2.2") == 0
    for _ in range(120):
        clock.now += 1
        allowed += sum(limit.wait("192.0.2.1") == 0 for _ in range(3))
    assert allowed == 60 + 120


def test_memory_is_bounded_and_a_network_is_one_client() -> None:
    limit = RateLimit(1, now=Clock())
    for n in range(20_000):
        limit.wait(f"10.{n >> 16}.{n >> 8 & 255}.{n & 255}")
    assert len(limit._buckets) == 10_000
    assert client_of("2001:db8::1") == client_of("2001:db8::ffff:2%eth0") != client_of("2001:db8:0:1::1")
    assert client_of("::ffff:192.0.2.1") == client_of("192.0.2.1")
    assert client_of("nowhere") == "nowhere"
