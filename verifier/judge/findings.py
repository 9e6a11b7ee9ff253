"""The verdict table applied again to a recorded ruling: with what a correction amended and what was withdrawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from verifier.model.dispute_status import Facts
from verifier.model.outcomes import Reason
from verifier.model.rulings import Ruling
from verifier.model.verdicts import Circumstances, Verdict, VerdictFinding, verdict_of


def part_findings(ruling: Mapping[str, Any], *, facts: Facts, withdrawn: bool) -> dict[str, VerdictFinding]:
    """Part id -> what the content of a ruling entry says about that part, in the ruling's order.

    `facts` are the case's as amended since: a premise checked later counts, one found unchecked too. `withdrawn` says
    whether the ruling was retracted. A row that is not what the engine writes is left out.
    """
    found = {}
    for row in table_rows(ruling, "parts"):
        part, word = row.get("id"), row.get("ruling")
        if not isinstance(part, str) or not isinstance(word, str) or word not in Ruling.__members__:
            continue
        about = circumstances(ruling, row, part=part, facts=facts, withdrawn=withdrawn)
        if about.ruling.decided or about.ruling is Ruling.NO_ANSWER or about.reason is not None:
            found[part] = verdict_of(about)
    return found


def circumstances(
    ruling: Mapping[str, Any], row: Mapping[str, Any], *, part: str, facts: Facts, withdrawn: bool
) -> Circumstances:
    """What the verdict on one part asks. `row` is that part's in the content `ruling`."""
    recorded = str(ruling.get("verdict"))
    return Circumstances(
        ruling=Ruling[str(row["ruling"])],
        retracted=withdrawn,
        parameters_differ=ruling.get("exploratory") is True,
        # rulings of the first version do not say it per part, but their verdict does
        below_scale=_flag(row, "below_scale", recorded == Verdict.TOY),
        premise_unchecked=bool(facts.unchecked),
        reproduces_claim=_flag(row, "reproduces_claim", recorded == Verdict.VERIFIED),
        reason=reason_of(row.get("reason")),
        parts=(part,),
    )


def reason_of(word: object) -> Reason | None:
    """The reason of this name, or None where it is none."""
    return next((reason for reason in Reason if reason.value == word), None)


def _flag(row: Mapping[str, Any], key: str, otherwise: bool) -> bool:  # noqa: FBT001  # one of two values
    value = row.get(key)
    return value if isinstance(value, bool) else otherwise


def table_rows(content: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    """The objects in the list under `key`; () where there is no list. A ledger may hold what others appended."""
    rows = content.get(key)
    return [row for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []


def table_at(content: Mapping[str, Any], *keys: str) -> Mapping[str, Any]:
    """The object under a path of keys; an empty one where there is none."""
    found: Any = content
    for key in keys:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def text_at(content: Mapping[str, Any], *keys: str) -> str:
    """The text under a path of keys; "" where there is none, or where it is withheld."""
    *path, last = keys
    value = table_at(content, *path).get(last)
    return value if isinstance(value, str) else ""
