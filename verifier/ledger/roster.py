"""Whose key is whose: administrators, pseudonyms that they recorded, keys that replace others."""

from __future__ import annotations

from verifier.ledger.entry import Entry
from verifier.ledger.keys import KEY_BYTES, PublicKey, fingerprint
from verifier.ledger.people_schema import KeyTable
from verifier.ledger.signed import holds, read_key, unsigned_because
from verifier.model.disputes import NotAllowed
from verifier.model.errors import BadInput
from verifier.model.names import same_name
from verifier.model.tables import validate


def rotation_bytes(new: PublicKey, old: PublicKey) -> bytes:
    """What a new key signs to say that it replaces the old one: its 32 bytes, then those of the old one."""
    assert len(new.raw) == len(old.raw) == KEY_BYTES
    return new.raw + old.raw


class Roster:
    """The keys of a ledger after the entries read so far.

    A person is known by the fingerprint of the first of their keys, so that a new key does not make a second person.
    Only a key of which nothing is known can take another's place: one that has signed, was admitted, or stands in a
    case or a notice is somebody already, and would lose what is known of it.
    """

    def __init__(self) -> None:
        self._administrators: set[str] = set()
        self._names: dict[str, set[str]] = {}
        self._first: dict[str, str] = {}
        self._replaced: set[str] = set()
        self._logs: set[str] = set()
        self._keys: dict[str, set[str]] = {}
        self._somebody: set[str] = set()
        self._mentioned: set[str] = set()

    def heard(self, by: str) -> None:
        """Takes note that the key with this fingerprint has signed an entry, whether or not that was allowed."""
        self._somebody.add(by)

    def mentioned(self, name: str) -> None:
        """Takes note of how a case or a notice calls somebody: a fingerprint, whole or its first 16 digits."""
        if name:
            self._mentioned.add(same_name(name))

    def keys(self, person: str) -> frozenset[str]:
        """The fingerprints of all keys that a person has had."""
        return frozenset({person, *self._keys.get(person, ())})

    def person(self, by: str) -> str:
        """The person whose key has this fingerprint. Raises NotAllowed for a key that another has replaced."""
        if by in self._replaced:
            raise NotAllowed(f"the key {by[:16]} was replaced by another", mend="sign with the key that replaced it")
        return self._first.get(by, by)

    def is_administrator(self, person: str) -> bool:
        """Whether a person is an administrator of this ledger."""
        return person in self._administrators

    def names(self, person: str) -> frozenset[str]:
        """The pseudonyms that administrators recorded for any key of a person."""
        return frozenset(name for key in self.keys(person) for name in self._names.get(key, ()))

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
        self._somebody.add(new)
        if key.role == "administrator":
            self._administrators.add(owner)
        if key.pseudonym:
            self._names.setdefault(new, set()).add(key.pseudonym)

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
        taken = self._somebody | self._administrators | self._replaced | self._logs | self._first.keys()
        if new == by or new in taken or not self._mentioned.isdisjoint({new, new[:16]}):
            raise NotAllowed(
                f"the key {new[:16]} is somebody's already: it signed, was admitted, or stands in a case or a notice",
                mend="replace yours by a key that was never used here",
            )
        first = self._first.get(by, by)
        self._first[new] = first
        self._keys.setdefault(first, set()).add(new)
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
