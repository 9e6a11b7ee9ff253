"""A ledger being served: one index of it, shared by requests, and what an audience may see of its entries."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from verifier.judge.index import JudgeIndex
from verifier.ledger import Entry, Ledger
from verifier.ledger.audience import Audience, Hidden
from verifier.model.errors import TamperingDetected

_TOGETHER = 16  # entries read in one statement; each may hold 16 MiB


class Book:
    """An open ledger and its index. Requests take turns at the index; the ledger itself takes several readers."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self._turn = threading.Lock()
        self._writing = threading.Lock()
        self._index = JudgeIndex(ledger)

    @contextmanager
    def index(self) -> Iterator[JudgeIndex]:
        """The index as of now, for one request at a time. Raises as `JudgeIndex.refresh`."""
        with self._turn:
            self._index.refresh()
            yield self._index

    @contextmanager
    def writing(self) -> Iterator[Ledger]:
        """The ledger, for one writer of this process at a time; other processes are kept away by the store."""
        with self._writing:
            yield self.ledger


def seen(index: JudgeIndex, numbers: range, audience: Audience, *, most_bytes: int) -> list[Entry | Hidden]:
    """The entries of these numbers as the audience may see them: at least the first, and as many as `most_bytes` holds.

    For the public a private entry and a withheld one look the same. Raises TamperingDetected for an entry that is not
    the one in the tree.
    """
    found: list[Entry | Hidden] = []
    size = 0
    for start in range(numbers.start, numbers.stop, _TOGETHER):
        some = range(start, min(start + _TOGETHER, numbers.stop))
        leaves = {n: index.tree.leaf(n - 1).hex() for n in some}
        entries = index.read(n for n in some if index.shows(leaves[n], audience))
        for n in some:
            one: Entry | Hidden = Hidden(n, leaves[n])
            if n in entries:
                entry = entries[n]
                if entry.leaf != leaves[n]:
                    raise TamperingDetected("it is not the one that stood here before", where=f"ledger entry {n}")
                one = entry if audience == "organizer" or entry.content else one
                size += bytes_of(one)
            if found and size > most_bytes:
                return found
            found.append(one)
    return found


def bytes_of(one: Entry | Hidden) -> int:
    """How many bytes of envelope, content and texts an entry has."""
    if isinstance(one, Hidden):
        return 0
    return len(one.envelope_bytes) + len(one.content_bytes) + sum(len(text.text.encode()) for text in one.texts)


def shown(one: Entry | Hidden) -> dict[str, Any]:
    """An entry as JSON, without anything that people wrote."""
    if isinstance(one, Hidden):
        return {"n": one.n, "leaf": one.leaf}
    return {
        "n": one.n,
        "leaf": one.leaf,
        "kind": one.kind,
        "time": one.time,
        "refs": list(one.refs),
        "supersedes": one.supersedes,
        "salt": one.salt.hex(),
        "withheld": one.withheld,
    }


def quoted(one: Entry | Hidden) -> dict[str, Any] | None:
    """The bytes of an entry, as the text they are, and who wrote it; None for one that is not to be seen."""
    if isinstance(one, Hidden):
        return None
    return {
        "n": one.n,
        "by": one.by,
        "group": one.group,
        "envelope": one.envelope_bytes.decode(),
        "content": one.content_bytes.decode(),
        "texts": [{"commitment": text.commitment, "salt": text.salt.hex(), "text": text.text} for text in one.texts],
    }
