"""The challenge's board, rebuilt from imported verdicts: points per user."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from verifier.judge.positions import ImportedVerdict
from verifier.model.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class Standing:
    """A user's place: points, papers that count, and how often each word was given on them."""

    user: str
    points: int
    papers: int
    words: dict[Verdict, int]


def board(verdicts: Iterable[ImportedVerdict]) -> list[Standing]:
    """Users by points, most first, then by name.

    One Space per user and paper counts, the first judged; verified and falsified give 2 points, toy 1, inconclusive 0.
    Users whose names differ only in case are one.
    """
    first: dict[tuple[str, str], ImportedVerdict] = {}
    for one in verdicts:
        key = (one.owner.casefold(), one.paper)
        known = first.get(key)
        if known is None or (one.judged_at, one.n) < (known.judged_at, known.n):
            first[key] = one
    names: dict[str, str] = {}
    papers: Counter[str] = Counter()
    words: dict[str, Counter[Verdict]] = {}
    for (user, _), one in first.items():
        names.setdefault(user, one.owner)
        papers[user] += 1
        words.setdefault(user, Counter()).update(one.claims.values())
    standings = [
        Standing(
            names[user],
            sum(verdict.points * count for verdict, count in words[user].items()),
            papers[user],
            {verdict: words[user][verdict] for verdict in Verdict},
        )
        for user in papers
    ]
    return sorted(standings, key=lambda one: (-one.points, one.user.casefold()))
