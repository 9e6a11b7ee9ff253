"""Who sees what: organizers everything, the public the entries of public disputes and of the others a leaf hash."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from verifier.ledger.entry import Entry
from verifier.ledger.standing import Replay
from verifier.model.disputes import Visibility

Audience = Literal["organizer", "public"]


@dataclass(frozen=True, slots=True)
class Hidden:
    """All that the public sees of an entry that is private or withheld: its number and leaf hash."""

    n: int
    leaf: str


def public_leaves(read: Replay) -> frozenset[str]:
    """The leaf hashes of the entries that everybody may see: those of disputes that are public now.

    Entries of no dispute (imports, readings, keys) are not among them.
    """
    return frozenset(
        leaf for leaf, dispute in read.belonging() if read.statuses[dispute].visibility == Visibility.PUBLIC
    )


def visible(entries: Iterable[Entry], audience: Audience = "organizer") -> list[Entry | Hidden]:
    """`entries`, all of a ledger's in order, as the audience may see them.

    For the public, an entry of a dispute that is not public and one whose content is withheld look the same.
    """
    read = Replay()
    seen = []
    for entry in entries:
        read.add(entry)
        seen.append(entry)
    if audience == "organizer":
        return list(seen)
    public = public_leaves(read)
    return [entry if entry.leaf in public and entry.content else Hidden(entry.n, entry.leaf) for entry in seen]
