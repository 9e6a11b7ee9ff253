"""An entry of the ledger on one line, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verifier.model.rulings import ruling_words

if TYPE_CHECKING:
    from verifier.ledger import Entry

_SAYS_LENGTH = 100
_TELLING = (
    *("paper", "version", "probe", "stage", "answer", "outcome", "ruling", "verdict", "because", "reason"),
    *("about", "how", "reply", "ground", "role"),
)


def what_it_says(entry: Entry, *, elsewhere: frozenset[str] = frozenset()) -> str:
    """One line about an entry's content: its `sentence`, or the short values that tell most about it.

    elsewhere: leaves of the evidence on runs that were measured elsewhere.
    """
    sentence = entry.content.get("sentence")
    if isinstance(sentence, str) and sentence:
        return _short(sentence)
    values = {key: entry.content.get(key) for key in _TELLING}
    outside = entry.leaf in elsewhere or not elsewhere.isdisjoint(entry.refs)
    told = [
        ruling_words(value) + (" (measured elsewhere)" if outside else "") if key == "ruling" else f"{key} {value}"
        for key, value in values.items()
        if isinstance(value, str) and value
    ]
    if outside and entry.kind == "evidence":
        told.append("measured elsewhere")
    if entry.content.get("exploratory") is True:
        told.append("exploratory")
    return _short("; ".join([*told, *_said_by_a_person(entry)]))


def _said_by_a_person(entry: Entry) -> list[str]:
    """Of a person's entry: whether it agrees, what binds them, on which dispute, and their group."""
    from verifier.ledger.entry import KINDS

    if not KINDS[entry.kind].signed:
        return []
    agrees, tie, dispute = (entry.content.get(name) for name in ("agrees", "tie", "dispute"))
    told = [("agrees" if agrees else "disagrees")] if isinstance(agrees, bool) else []
    told += [f"tie {tie}"] if isinstance(tie, str) and tie else []
    told += [f"dispute {dispute[:12]}"] if isinstance(dispute, str) and dispute else []
    return told + ([f"group {entry.group}"] if entry.group else ["no group"] if entry.kind == "adjudication" else [])


def _short(text: str) -> str:
    return text if len(text) <= _SAYS_LENGTH else text[: _SAYS_LENGTH - 1] + "…"
