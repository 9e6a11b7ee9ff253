"""Whose key is whose: administrators, pseudonyms that they recorded, keys that replace others."""

from __future__ import annotations

from verifier.ledger.keys import KEY_BYTES, PublicKey, fingerprint
from verifier.ledger.people_schema import KeyTable
from verifier.ledger.signed import holds, read_key
from verifier.model.disputes import NotAllowed


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

    def _replace(self, key: KeyTable, public: PublicKey, by: str) -> None:
        new = fingerprint(public)
        old = read_key(key.key)
        if key.replaces != by or old is None:
            raise NotAllowed("a key is replaced by an entry that it signs itself")
        if not holds(public, key.proof, rotation_bytes(public, old)):
            raise NotAllowed("the new key has not signed that it replaces the old one")
        if new == by or new in self._first or new in self._replaced or new in self._administrators:
            raise NotAllowed(f"the key {new[:16]} is in use already")
        self._first[new] = self._first.get(by, by)
        self._replaced.add(by)
