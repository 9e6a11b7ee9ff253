"""What makes two claims, disputes, registrations or streams the same: hashes over canonical bytes."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from typing import Any

from verifier.model.canonical import canonical_sha256, text_sha256
from verifier.model.case import Claim, Dispute, Paper


def claim_sha256(claim: Claim) -> str:
    """The identity of a claim: the hash of its normalised text."""
    return text_sha256(claim.text)


def quote_sha256(claim: Claim) -> str:
    """The identity of the paper's own words."""
    return text_sha256(claim.quote)


def dispute_id(paper: Paper, claim: Claim, dispute: Dispute) -> str:
    """The identity of a dispute: paper, claim, disputed part and where the assertion stands."""
    source = dispute.source
    place = "space" if source.get("space") else "url"
    return canonical_sha256(
        {
            "paper": paper.identity,
            "claim_sha256": claim_sha256(claim),
            "part": dispute.parts[0] if len(dispute.parts) == 1 else list(dispute.parts),
            "source.kind": source["kind"],
            f"source.{place}": source.get(place, ""),
        }
    )


def registration_sha256(table: Mapping[str, Any], *, overrides: Mapping[str, Any], files: Mapping[str, str]) -> str:
    """The identity of a registration: the parsed case, the overrides merged into it, and the folder's other files.

    `table` is case.toml as parsed, `overrides` what the command line changed (empty in a plain run), `files`
    maps POSIX paths to SHA-256. What reading more of the paper may amend later is left out.
    """
    return canonical_sha256(
        {"case": _without_amendable(table), "overrides": overrides, "files": dict(sorted(files.items()))}
    )


def discount(ordinal: int) -> float:
    """6/(π² l²), by which the l-th registration of one claim and dispute multiplies its E-values.

    Over all l these sum to 1 (Euler), so registering again buys no error rate (a union bound over registrations).
    """
    return 6 / (math.pi * ordinal) ** 2


def _without_amendable(table: Mapping[str, Any]) -> dict[str, Any]:
    kept: dict[str, Any] = copy.deepcopy(dict(table))
    for key in ("title", "source_sha256", "later_versions"):
        kept["paper"].pop(key, None)
    for key in ("quote", "locator"):
        kept["claim"].pop(key, None)
    for premise in kept.get("premise", []):
        premise.pop("checked", None)
        premise.pop("source", None)
    return kept
