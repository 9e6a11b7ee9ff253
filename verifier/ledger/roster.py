"""Whose key is whose: administrators, pseudonyms that they recorded, keys that replace others."""

from __future__ import annotations

from verifier.ledger.entry import Entry
from verifier.ledger.keys import KEY_BYTES, PublicKey, fingerprint
from verifier.ledger.people_schema import KeyTable
from verifier.ledger.signed import holds, read_key, unsigned_because
from verifier.model.disputes import NotAllowed
from verifier.model.errors import BadInput
from verifier.model.tables import validate


def rotation_bytes(new: PublicKey, old: PublicKey) -> bytes:
    """What a new key signs to say that it replaces the old one: its 32 bytes, then those of the old one."""
    assert len(new.raw) == len(old.raw) == KEY_BYTES
    return new.raw + old.raw


class Roster:
    """The keys of a ledger after the entries read so far.

    A person is known by the fingerprint of the first of their keys, so that a new key does not make a second person.
    """

    def __init__(self) -> None:
        self._administrators: set[str] = set()
        self._names: dict[str, set[str]] = {}
        self._first: dict[str, str] = {}
        self._replaced: set[str] = set()
        self._logs: set[str] = set()

    def person(self, by: str) -> str:
        """The person whose key has this fingerprint. Raises NotAllowed for a key that another has replaced."""
        if by in self._replaced:
            raise NotAllowed(f"the key {by[:16]} was replaced by another", mend="sign with the key that replaced it")
        return self._first.get(by, by)

    def is_administrator(self, person: str) -> bool:
        """Whether a person is an administrator of this ledger."""
        return person in self._administrators

    def names(self, person: str) -> frozenset[str]:
        """The pseudonyms that administrators recorded for a person."""
        return frozenset(self._names.get(person, ()))

    @property
    def administrators(self) -> tuple[str, ...]:
        """The administrators, by the fingerprint of their first key."""
        return tuple(sorted(self._administrators))

    def add(self, key: KeyTable, *, by: str) -> None:
        """Takes in an entry of kind `key` signed by the key with fingerprint `by`.

        The first administrator of a ledger admits itself; every other key is admitted by one. Raises NotAllowed.
        """
        public = read_key(key.public)
        if public is None:
            raise NotAllowed("the key that it admits is not 32 bytes in base64, or is of small order")
        if key.role == "log":
            self._replace_log(key, public, by)
            return
        person, new = self.person(by), fingerprint(public)
        if key.replaces:
            self._replace(key, public, by)
            return
        alone = not self._administrators and key.role == "administrator" and new == by
        if not alone and not self.is_administrator(person):
            raise NotAllowed(
                "only an administrator admits a key"
                if self._administrators
                else "this ledger has no administrator yet",
                mend="an administrator signs it" if self._administrators else "the first one admits its own key",
            )
        owner = self.person(new)
        if key.role == "administrator":
            self._administrators.add(owner)
        if key.pseudonym:
            self._names.setdefault(owner, set()).add(key.pseudonym)

    def _replace_log(self, key: KeyTable, public: PublicKey, by: str) -> None:
        """A log's key makes nobody a person or an administrator; that it is this log's own is for readers to know."""
        new = _check_replaced(key, public, by)
        if by in self._first or by in self._administrators or by in self._replaced:
            raise NotAllowed(f"the key {by[:16]} is a person's, not a log's")
        if by in self._logs or new == by:
            raise NotAllowed(f"the key {by[:16]} was replaced by another", mend="sign with the key that replaced it")
        if new in self._logs or new in self._first or new in self._replaced or new in self._administrators:
            raise NotAllowed(f"the key {new[:16]} is in use already")
        self._logs.add(by)

    def _replace(self, key: KeyTable, public: PublicKey, by: str) -> None:
        new = _check_replaced(key, public, by)
        if new == by or new in self._first or new in self._replaced or new in self._administrators:
            raise NotAllowed(f"the key {new[:16]} is in use already")
        self._first[new] = self._first.get(by, by)
        self._replaced.add(by)


def _check_replaced(key: KeyTable, public: PublicKey, by: str) -> str:
    """The new key's fingerprint. Raises NotAllowed where not both keys signed that it replaces the old one."""
    old = read_key(key.key)
    if key.replaces != by or old is None:
        raise NotAllowed("a key is replaced by an entry that it signs itself")
    if not holds(public, key.proof, rotation_bytes(public, old)):
        raise NotAllowed("the new key has not signed that it replaces the old one")
    return fingerprint(public)


def log_rotation(entry: Entry) -> tuple[bytes, bytes] | None:
    """(old key, new key), 32 bytes each, where the entry is a log's rotation that both signed; else None."""
    try:
        table = validate(KeyTable, entry.content, path=("key",))
        old, new = read_key(table.key), read_key(table.public)
        if unsigned_because(entry) or table.role != "log" or old is None or new is None:
            return None
        _check_replaced(table, new, entry.by)
    except BadInput:
        return None
    return old.raw, new.raw
