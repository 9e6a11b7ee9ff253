"""What can be read: a function for each question, from the ledger to a JSON document."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from verifier.judge.claims import PaperJudgement, judge_paper
from verifier.judge.documents import claim_document, claim_quoted
from verifier.judge.index import JudgeIndex
from verifier.ledger.audience import Audience
from verifier.ledger.checkpoints import Checkpoint, parse_checkpoint
from verifier.ledger.kept import kept_checkpoints, read_note_file
from verifier.ledger.notes import parse_note
from verifier.ledger.proofs import states_root
from verifier.ledger.times import system_now, time_text
from verifier.model.dispute_document import status_fields
from verifier.model.dispute_status import DisputeStatus
from verifier.model.docket import turn
from verifier.model.errors import BadInput
from verifier.web.answers import not_found
from verifier.web.book import Book, quoted, seen, shown

BASE = "/api/v1"
PAGE_BYTES = 4 * 2**20  # of entries in one page, unless the first alone has more
_LEAF = re.compile(r"[0-9a-f]{64}")
_DISPUTE = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Asked:
    """A request to read: of which ledger, for whom, with which parameters. `checkpoints` is their folder."""

    book: Book
    checkpoints: Path
    audience: Audience
    given: dict[str, Any]


Answer = Callable[[Asked], "dict[str, Any] | str"]


def _result(schema: str, sentence: str, *next_: str, **fields: Any) -> dict[str, Any]:
    return {"schema": f"verifier/{schema}/1", "ok": True, "sentence": sentence, "next": list(next_), **fields}


def about(asked: Asked) -> dict[str, Any]:
    """Where the ledger stands, and where to go from here."""
    with asked.book.index() as index:
        size, root = index.size, index.root
    return _result(
        "api",
        f"A ledger of {size} entries, as the {asked.audience} sees it.",
        *(f"{BASE}/{name}" for name in ("openapi.json", "entries", "checkpoints", "disputes", "papers")),
        size=size,
        root=root,
        audience=asked.audience,
    )


def entries(asked: Asked) -> dict[str, Any]:
    """A page of entries, in order."""
    first, limit = asked.given["from"], asked.given["limit"]
    with asked.book.index() as index:
        numbers = range(min(first, index.size + 1), min(first + limit, index.size + 1))
        found = seen(index, numbers, asked.audience, most_bytes=PAGE_BYTES)
        size, root = index.size, index.root
    after = first + len(found)
    more = [f"{BASE}/entries?from={after}&limit={limit}"] if found and after <= size else []
    return _result(
        "api-entries",
        f"Entries {first} to {after - 1} of {size}." if found else f"There is no entry {first} among {size}.",
        *more,
        size=size,
        root=root,
        audience=asked.audience,
        entries=[shown(one) for one in found],
        quoted={"entries": [said for one in found if (said := quoted(one)) is not None]},
    )


def entry(asked: Asked) -> dict[str, Any]:
    """One entry, by its number or its whole leaf hash."""
    with asked.book.index() as index:
        n = _number(index, asked.given["which"])
        (one,) = seen(index, range(n, n + 1), asked.audience, most_bytes=PAGE_BYTES)
        size, root = index.size, index.root
    return _result(
        "api-entry",
        f"Entry {one.n} of {size}.",
        f"{BASE}/proofs/inclusion?entry={one.n}",
        size=size,
        root=root,
        audience=asked.audience,
        entry=shown(one),
        quoted={"entry": quoted(one)},
    )


def _number(index: JudgeIndex, which: str) -> int:
    """The number of an entry named by number or leaf hash. Raises Refused (404) where there is none."""
    if _LEAF.fullmatch(which):
        n = index.number(which)
        if n:
            return n
    elif which.isascii() and which.isdecimal() and len(which) <= 16 and 1 <= int(which) <= index.size:
        return int(which)
    raise not_found("there is no such entry", mend=f"see {BASE}/entries")


def inclusion(asked: Asked) -> dict[str, Any]:
    """The proof that an entry stands in the tree of `size` leaves (RFC 6962, 2.1.1)."""
    with asked.book.index() as index:
        n = _number(index, asked.given["entry"])
        size = index.size if asked.given["size"] is None else asked.given["size"]
        if not n <= size <= index.size:
            raise BadInput(f"entry {n} is in no tree of {size} among {index.size} entries", where="size")
        proof = index.tree.inclusion_proof(n - 1, size)
        leaf, root = index.tree.leaf(n - 1), index.tree.root(size)
    return _result(
        "api-inclusion",
        f"Entry {n} stands in the tree of {size} entries; what its root is worth, a checkpoint says.",
        f"{BASE}/checkpoints",
        n=n,
        leaf=leaf.hex(),
        size=size,
        root=root.hex(),
        proof=[one.hex() for one in proof],
    )


def consistency(asked: Asked) -> dict[str, Any]:
    """The proof that the tree of `old` leaves begins the one of `size` (RFC 6962, 2.1.2)."""
    with asked.book.index() as index:
        old = asked.given["old"]
        size = index.size if asked.given["size"] is None else asked.given["size"]
        if not old <= size <= index.size:
            raise BadInput(f"no tree of {old} begins one of {size} among {index.size} entries", where="old, size")
        proof = index.tree.consistency_proof(old, size)
        old_root, root = index.tree.root(old), index.tree.root(size)
    return _result(
        "api-consistency",
        f"The tree of {old} entries begins the one of {size}.",
        f"{BASE}/checkpoints",
        old=old,
        old_root=old_root.hex(),
        size=size,
        root=root.hex(),
        proof=[one.hex() for one in proof],
    )


def checkpoints(asked: Asked) -> dict[str, Any]:
    """The signed checkpoints that are kept beside the ledger, the largest first."""
    first, limit = asked.given["from"], asked.given["limit"]
    paths = kept_checkpoints(asked.checkpoints)
    found = [one for path in paths[first - 1 : first - 1 + limit] if (one := _checkpoint(path)) is not None]
    with asked.book.index() as index:
        rows = [
            {
                "size": stated.size,
                "root": stated.root.hex(),
                "note": f"{BASE}/checkpoints/{stated.size}",
                "fits": states_root(index.tree, stated),
            }
            for stated, _ in found
        ]
    more = [f"{BASE}/checkpoints?from={first + limit}&limit={limit}"] if first - 1 + limit < len(paths) else []
    return _result(
        "api-checkpoints",
        f"{len(rows)} checkpoints of {len(paths)}; whether to trust their keys is not for the server to say.",
        *more,
        checkpoints=rows,
        quoted={"origins": [stated.origin for stated, _ in found]},
    )


def checkpoint(asked: Asked) -> str:
    """One checkpoint as the signed note it is."""
    found = _checkpoint(asked.checkpoints / f"{asked.given['size']}.txt")
    if found is None:
        raise not_found("there is no checkpoint of this size", mend=f"see {BASE}/checkpoints")
    return found[1]


def _checkpoint(path: Path) -> tuple[Checkpoint, str] | None:
    """The checkpoint in a file of its size's name, and its note; None where there is none."""
    try:
        note = parse_note(read_note_file(path), where=path.name)
        stated = parse_checkpoint(note.text, where=path.name)
    except BadInput:
        return None
    return (stated, str(note)) if path.stem == str(stated.size) else None


def disputes(asked: Asked) -> dict[str, Any]:
    """A page of the disputes that the audience may see, oldest first."""
    first, limit = asked.given["from"], asked.given["limit"]
    with asked.book.index() as index:
        every = [one for one in index.statuses.values() if index.is_visible(one.dispute, asked.audience)]
    page = every[first - 1 : first - 1 + limit]
    more = [f"{BASE}/disputes?from={first + limit}&limit={limit}"] if first - 1 + limit < len(every) else []
    return _result(
        "api-disputes",
        f"{len(page)} disputes of {len(every)} that the {asked.audience} sees.",
        *more,
        audience=asked.audience,
        total=len(every),
        disputes=[_dispute(one) for one in page],
        quoted={"titles": [one.facts.title for one in page]},
    )


def dispute(asked: Asked) -> dict[str, Any]:
    """One dispute: where it stands, whose turn it is, and its registrations, evidence and rulings."""
    id_ = asked.given["dispute"]
    with asked.book.index() as index:
        status = index.statuses.get(id_) if _DISPUTE.fullmatch(id_) else None
        if status is None or not index.is_visible(id_, asked.audience):
            raise not_found("there is no such dispute", mend=f"see {BASE}/disputes")
        trial = index.trials.get(id_)
        numbers = sorted(trial.numbers) if trial else []
    return _result(
        "api-dispute",
        f"The dispute {id_[:12]} is {status.state}: {status.state.sentence}.",
        *(f"{BASE}/entries/{n}" for n in numbers[:100]),
        audience=asked.audience,
        **_dispute(status),
        entries=numbers,
        quoted={"title": status.facts.title, "quote": status.facts.quote, "locator": status.facts.locator},
    )


def _dispute(status: DisputeStatus) -> dict[str, Any]:
    whose = turn(status, time_text(system_now()))
    return {
        **status_fields(status),
        "owner": whose.owner or None,
        "step": whose.step,
        "missing": [{"what": one.what, "who": one.who} for one in whose.missing],
    }


def papers(asked: Asked) -> dict[str, Any]:
    """A page of the papers with a dispute that the audience may see."""
    first, limit = asked.given["from"], asked.given["limit"]
    with asked.book.index() as index:
        every = [(one, claims) for one in index.papers() if (claims := index.claims(one, asked.audience))]
    page = every[first - 1 : first - 1 + limit]
    more = [f"{BASE}/papers?from={first + limit}&limit={limit}"] if first - 1 + limit < len(every) else []
    return _result(
        "api-papers",
        f"{len(page)} papers of {len(every)} with a dispute that the {asked.audience} sees.",
        *more,
        audience=asked.audience,
        total=len(every),
        claims=[len(claims) for _, claims in page],
        quoted={"papers": [paper for paper, _ in page]},
    )


def verdicts(asked: Asked) -> dict[str, Any]:
    """Per claim and part of a paper what is established, with the entries it rests on and their proofs."""
    with asked.book.index() as index:
        judged = judge_paper(index, asked.given["paper"], audience=asked.audience)
        if not judged.claims or not _may_be_named(asked.given["paper"], judged):
            raise not_found("no claim of this paper was ruled on here", mend=f"see {BASE}/papers")
        claims = [claim_document(claim, index) for claim in judged.claims]
    return _result(
        "api-verdicts",
        f"{len(claims)} {'claims' if len(claims) > 1 else 'claim'} of this paper: what is established about each.",
        audience=judged.audience,
        size=judged.size,
        root=judged.root,
        claims=claims,
        quoted={
            "paper": judged.paper,
            "title": judged.title,
            "claims": [claim_quoted(claim) for claim in judged.claims],
        },
    )


def _may_be_named(name: str, judged: PaperJudgement) -> bool:
    """Whether what this audience sees shows that `name` is the paper: what is private lends no name to it."""
    if judged.audience == "organizer":
        return True
    known = {judged.paper, judged.paper.partition(":")[2]}
    for claim in judged.claims:
        for one in claim.disputes:
            known |= {one.version, re.sub(r"v\d{1,3}$", "", one.version)}
    bare = name.strip()
    tried = {bare, bare.lower(), bare.removeprefix("arxiv:"), re.sub(r"v\d{1,3}$", "", bare.removeprefix("arxiv:"))}
    return bool(tried & known)
