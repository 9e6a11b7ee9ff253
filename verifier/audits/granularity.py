"""Whether printed percentages can be counts out of n, or which n they leave."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import prod
from typing import Any

from verifier.audits.audit import Audit
from verifier.audits.grim import RULES, Percentage, everything_passes, passing_share, percentage
from verifier.model.answers import AuditAnswer
from verifier.model.basis import BasisClass
from verifier.model.complaints import listed, shown
from verifier.model.errors import BadInput

MECHANISM = "granularity"
LARGEST_N = 10**9
MOST_CHECKS = 10**7
SHOWN_SIZES = 100


def granularity(printed: str | Sequence[str], *, n: int | None = None, below: int | None = None) -> Audit:
    """Whether each printed percentage is some k out of `n`, under any of three rounding rules.

    printed: percentages as they stand, "42.9". n: the number of items. below: without n, every number of items less
    than this is tried, and the audit says which are left.

    JOINTLY_INCONSISTENT where some percentage is no k/n (or no n is left), INSUFFICIENT where every percentage of that
    precision would pass (or several n are left), else SAME_BASIS with the chance that random ones pass.

    Raises BadInput for a text that is no percentage, for an n out of range, and where neither n nor below is given.
    """
    texts = [printed] if isinstance(printed, str) else list(printed)
    if not texts:
        raise BadInput("there is no printed percentage", mend='write one like "42.9"')
    values = tuple(percentage(text) for text in texts)
    if n is not None:
        if not 1 <= n <= LARGEST_N:
            raise BadInput(f"n = {n} is not a number of items", mend=f"write one from 1 to {LARGEST_N}")
        return _of_n(values, n)
    if below is None:
        raise BadInput("granularity needs the number of items", mend="give n, or below to try every smaller number")
    return _of_sizes(values, below)


def sizes(printed: Sequence[str], *, below: int) -> tuple[int, ...]:
    """Every n < `below` of which all printed percentages can be counts. Raises BadInput as `granularity` does."""
    return _sizes(tuple(percentage(text) for text in printed), below)


def recheck(audit: Audit) -> bool:
    """Whether the audit's witness, worked out again in fractions, shows what it says."""
    witness = audit.witness
    if witness is None:
        return False
    n, value = witness["n"], percentage(witness["printed"])
    if "k" in witness:
        share = Fraction(100 * witness["k"], n)
        return abs(share - Fraction(witness["printed"])) < Fraction(100, value.full)
    below, above = (Fraction(value.full * witness[end]["k"], n) for end in ("below", "above"))
    adjacent = witness["above"]["k"] == witness["below"]["k"] + 1
    return adjacent and below < value.units - Fraction(1, 2) and above >= value.units + 1


def _of_n(values: Sequence[Percentage], n: int) -> Audit:
    impossible = [value for value in values if not value.possible(n)]
    telling = [value for value in values if not everything_passes(value.full, n)]
    chance = prod(passing_share(value.full, n) for value in values)
    details = {
        "n": n,
        "values": [
            {
                "printed": value.text,
                "possible": value.possible(n),
                "rules": list(value.rules(n)),
                "counts": _counts(value, n),
                "passing_share": passing_share(value.full, n),
            }
            for value in values
        ],
        "rules": [rule for rule in RULES if all(value.counts(n, rule) for value in values)],
    }
    coincidence: float | None = None
    missing: tuple[str, ...] = ()
    witness: dict[str, Any]
    if impossible:
        finding = AuditAnswer.JOINTLY_INCONSISTENT
        worst = impossible[0]
        witness = _between(worst, n)
        sentence = (
            f"{_named(impossible)} no k/{n}: {witness['below']['k']}/{n} is {witness['below']['percent']} % and "
            f"{witness['above']['k']}/{n} is {witness['above']['percent']} %."
        )
    else:
        witness = {"n": n, "printed": values[0].text, "k": _counts(values[0], n)[0]}
        if telling:
            finding, coincidence = AuditAnswer.SAME_BASIS, chance
            sentence = f"{_named(values)} k/{n}; random ones of that precision pass with probability {chance:.3g}."
        else:
            finding, missing = AuditAnswer.INSUFFICIENT, ("the percentages to more decimals, or the counts",)
            sentence = f"Any percentage of that precision is some k/{n}, so nothing can be told from these."
    return Audit(
        mechanism=MECHANISM,
        basis_class=BasisClass.CLOSE,
        finding=finding,
        sentence=sentence,
        coincidence=coincidence,
        missing=missing,
        witness=witness,
        details=details,
    )


def _of_sizes(values: Sequence[Percentage], below: int) -> Audit:
    found = _sizes(values, below)
    missing: tuple[str, ...] = ()
    witness: dict[str, Any] | None = None
    said = listed([value.text for value in values[:5]]) + (" and others" if len(values) > 5 else "")
    match found:
        case ():
            finding, sentence = AuditAnswer.JOINTLY_INCONSISTENT, f"No n below {below} has {said} as counts."
        case (only,):
            witness = {"n": only, "printed": values[0].text, "k": _counts(values[0], only)[0]}
            finding, sentence = AuditAnswer.SAME_BASIS, f"Of all n below {below} only {only} has {said} as counts."
        case _:
            finding, missing = AuditAnswer.INSUFFICIENT, ("the number of items",)
            sentence = f"{len(found)} of the n below {below} have {said} as counts, the smallest {found[0]}."
    return Audit(
        mechanism=MECHANISM,
        basis_class=BasisClass.CLOSE,
        finding=finding,
        sentence=sentence,
        missing=missing,
        witness=witness,
        details={
            "below": below,
            "sizes": list(found[:SHOWN_SIZES]),
            "sizes_in_all": len(found),
            "counts": {value.text: _counts(value, found[0]) for value in values} if len(found) == 1 else {},
        },
    )


def _sizes(values: Sequence[Percentage], below: int) -> tuple[int, ...]:
    distinct = set(values)
    if not 2 <= below <= MOST_CHECKS // len(distinct):
        raise BadInput(
            f"below = {below} with {len(distinct)} percentages is out of range",
            mend=f"let their product be at most {MOST_CHECKS}",
        )
    return tuple(n for n in range(1, below) if all(value.possible(n) for value in distinct))


def _counts(value: Percentage, n: int) -> list[int]:
    """The k that give the percentage under some rule, the three nearest to it at most."""
    near = {k for rule in RULES for k in value.counts(n, rule)[:3]}
    return sorted(near, key=lambda k: (abs(k * value.full - value.units * n), k))[:3]


def _between(value: Percentage, n: int) -> dict[str, Any]:
    """The two neighbouring counts that leave the percentage out."""
    last, first = value.neighbours(n)
    ends = {"below": last, "above": first}
    return {
        "n": n,
        "printed": value.text,
        **{end: {"k": k, "percent": f"{100 * k / n:.{len(str(value.full)) - 1}f}"} for end, k in ends.items()},
    }


def _named(values: Sequence[Percentage]) -> str:
    some = listed([shown(value.text).strip('"') for value in values[:5]])
    more = f" and {len(values) - 5} others" if len(values) > 5 else ""
    return f"{some}{more} {'is' if len(values) == 1 else 'are'}"
