"""Ledgers with rulings in the engine's form, made without running anything."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from verifier.ledger import FreeText, Ledger
from verifier.ledger.transaction import Transaction
from verifier.model.canonical import canonical_sha256, text_sha256

PREMISE = "The simulated quantity is the paper's."


def hashed(*words: str) -> str:
    return hashlib.sha256("/".join(words).encode()).hexdigest()


def tried(
    transaction: Transaction,
    *,
    name: str = "case",
    paper: str = "openreview:ESa07RwpVr",
    version: str = "2606.01342v1",
    title: str = "A paper",
    claim: str = "The excess is O(1).",
    quote: str = "its excess is bounded",
    says: str = "The excess grows.",
    space: str = "",
    revision: str = "",
    claim_parts: Sequence[tuple[str, str]] = (("a", "the excess is O(1)"),),
    parts: Mapping[str, Mapping[str, Any]] | None = None,
    ruling: str = "UPHELD",
    checked: str = "by-us",
    later: Sequence[Mapping[str, str]] = (),
    exploratory: bool = False,
    target: str = "reimplementation:growing",
    probe_kind: str = "sweep",
    group: str = "",
) -> str:
    """Registers, gives evidence and rules; returns the dispute's id. `parts`: id -> what the ruling says of it."""
    dispute = canonical_sha256({"paper": paper, "claim": claim, "name": name, "space": space})
    registration = hashed(dispute, ruling, str(exploratory), str(parts))
    case = {
        "case": {"written_by": FreeText("writer")},
        "paper": {"title": FreeText(title), "arxiv": version, "later_versions": list(later)},
        "claim": {
            "text": FreeText(claim),
            "quote": FreeText(quote),
            "parts": [{"id": one, "text": FreeText(text)} for one, text in claim_parts],
        },
        "dispute": {
            "text": FreeText(says),
            "source": {"kind": "logbook", "space": space, "revision": revision},
            "reported_by": FreeText("rep"),
        },
        "premise": [{"text": FreeText(PREMISE), "checked": checked, "source": "here"}],
        "probe": [{"name": "excess", "kind": probe_kind}],
    }
    registered = transaction.append(
        kind="registration",
        content={
            "registration": registration,
            "name": name,
            "paper": paper,
            "version": version,
            "claim_sha256": text_sha256(claim),
            "dispute": dispute,
            "exploratory": exploratory,
            "case": case,
            "overrides": {"scale": {"k": [8]}} if exploratory else {},
            "files": {},
        },
        by="engine",
        group=group,
    ).entry
    evidence = transaction.append(
        kind="evidence",
        content={
            "registration": registration,
            "probe": "excess",
            "kind": probe_kind,
            "answer": "GROWS",
            "outcome": "FOR_DISPUTE" if ruling == "UPHELD" else ruling.replace("DISMISSED", "AGAINST_DISPUTE"),
            "reason": None,
            "controls": [{"target": target, "expect": "FOR_DISPUTE", "answer": "GROWS", "passed": True}],
            "statistics": {"e_grow": {"sup": "12345.5"}},
            "points": [
                {"at": {"k": k}, "n": 80, "estimate": "1.25", "stderr": "0.01", "exact": None} for k in (32, 1024)
            ],
        },
        refs=[registered.leaf],
        by="engine",
    ).entry
    rows = parts or {"a": {}}
    transaction.append(
        kind="ruling",
        content={
            "registration": registration,
            "ordinal": 1,
            "exploratory": exploratory,
            "version": version,
            "ruling": ruling,
            "reason": None if ruling in {"UPHELD", "DISMISSED", "NO_ANSWER"} else "underpowered",
            "parts": [
                {
                    "id": one,
                    "ruling": ruling,
                    "reason": None if ruling in {"UPHELD", "DISMISSED", "NO_ANSWER"} else "underpowered",
                    "fixed_by": ["excess"],
                    "below_scale": False,
                    "reproduces_claim": True,
                    **said,
                }
                for one, said in rows.items()
            ],
            "verdict": None,
            "because": "",
            "premises": [],
        },
        refs=[registered.leaf, evidence.leaf],
        by="engine",
    )
    return dispute


def ledger_of(path: Path, *cases: Mapping[str, Any]) -> list[str]:
    """A ledger, or more of one, with these cases; returns the disputes' ids."""
    with Ledger.open(path, create=True) as book, book.transaction() as transaction:
        return [tried(transaction, **dict(case)) for case in cases]
